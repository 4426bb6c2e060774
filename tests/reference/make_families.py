"""Makes families/: a model folder for each class and variant below, written by transformers and tokenizers, and the numbers
that they compute from it.

    python tests/reference/make_families.py [NAME...]        (torch, transformers, tokenizers)

Weights are kept as float32, float16 or bfloat16, in one file or in shards. expected.json holds the logits of two rows of
tokens, the loss of one text and its token ids, a greedy text, the gradient of that loss (the norm of each parameter's), and
the losses of 12 steps of AdamW on that text, one of them after each step's update.
"""
import pathlib
import sys

import torch
import transformers
from transformers import (Gemma3TextConfig, GPT2Config, GPTNeoXConfig, LlamaConfig, MistralConfig, Qwen2Config, Qwen3Config)

from tiny_models import characters, expected_of, losses_of, move_weights, save_tokenizer, write_expected

none = dict(bos_token_id=None, eos_token_id=None, pad_token_id=None)
line = dict(vocab_size=len(characters), max_position_embeddings=12, hidden_size=24, intermediate_size=40,
            num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, **none)
neox = dict(vocab_size=len(characters), max_position_embeddings=12, hidden_size=32, intermediate_size=48,
            num_hidden_layers=2, num_attention_heads=2, **none)
gpt2 = dict(vocab_size=len(characters), n_positions=12, n_embd=24, n_layer=2, n_head=4, **none)
rope = lambda kind="default", theta=500.0, **more: {"rope_parameters": {"rope_type": kind, "rope_theta": theta, **more}}
llama3 = rope("llama3", 20.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16)
window = dict(use_sliding_window=True, sliding_window=12)
angles = lambda **full: {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 500.0, **full},
                                             "sliding_attention": {"rope_type": "default", "rope_theta": 30.0}}}
# name: config, dtype of the files, size of a shard
cases = {
    "llama_linear": (LlamaConfig(**line, **rope("linear", factor=2.5), attention_bias=True, mlp_bias=True), "float32", None),
    "llama_llama3": (LlamaConfig(**line, **llama3, head_dim=8, tie_word_embeddings=True), "bfloat16", "4KB"),
    "mistral": (MistralConfig(**line, **rope(), head_dim=10, sliding_window=12), "float16", None),
    "mistral_window": (MistralConfig(**line, **rope(), sliding_window=5), "float32", None),
    "gemma3": (Gemma3TextConfig(**line | dict(num_hidden_layers=3), **angles(rope_type="linear", factor=2.0), head_dim=8,
                                sliding_window=5, layer_types=["sliding_attention", "full_attention", "sliding_attention"],
                                query_pre_attn_scalar=11), "bfloat16", None),
    "gemma3_window": (Gemma3TextConfig(**line, **angles(), head_dim=10, query_pre_attn_scalar=10, sliding_window=4,
                                       tie_word_embeddings=False), "float32", "20KB"),
    "qwen2": (Qwen2Config(**line, **rope(), **window), "float32", "20KB"),
    "qwen2_tied": (Qwen2Config(**line, **rope("linear", factor=2.0), tie_word_embeddings=True), "float16", None),
    "qwen3": (Qwen3Config(**line, **rope(), head_dim=8), "float32", None),
    "qwen3_tied": (Qwen3Config(**line, **rope(), head_dim=10, attention_bias=True, tie_word_embeddings=True), "bfloat16", None),
    "gpt2_gelu": (GPT2Config(**gpt2, activation_function="gelu", n_inner=40, tie_word_embeddings=False,
                             scale_attn_by_inverse_layer_idx=True), "float32", None),
    "gpt2_relu": (GPT2Config(**gpt2, activation_function="relu"), "float16", None),
    "gpt2_silu": (GPT2Config(**gpt2, activation_function="silu", n_inner=30), "bfloat16", None),
    "gpt_neox": (GPTNeoXConfig(**neox, **rope(partial_rotary_factor=0.25)), "float32", None),
    "gpt_neox_serial": (GPTNeoXConfig(**neox, **rope("linear", factor=2.0, partial_rotary_factor=0.5), use_parallel_residual=False,
                                      hidden_act="gelu_new", tie_word_embeddings=True), "float16", None),
}


def stepped(folder, batch):
    """Losses of 12 steps, in float64: one row of one text, AdamW that decays matrices alone."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()  # without dropout
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1},
                                   {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.99), eps=1e-8)
    return losses_of(model, optimizer, batch, 12)


def make(name, config, dtype, shard):
    folder = pathlib.Path(__file__).parent / "families" / name
    torch.manual_seed(sum(map(ord, name)))
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    move_weights(model)
    model.to(getattr(torch, dtype)).save_pretrained(folder, **({"max_shard_size": shard} if shard else {}))
    training = lambda model, ids, batch: {"training": stepped(folder, batch)}
    rename = lambda n: n.replace("lm_head", "embed_out") if "neox" in name else n
    write_expected(folder, expected_of(folder, save_tokenizer(folder), training, rename))


for name in sys.argv[1:] or cases:
    make(name, *cases[name])
