"""Makes llama_tiny/ and llama_tiny_tied/: model folders written by transformers and tokenizers, and the numbers that they
compute from them.

    python tests/reference/make_llama_tiny.py        (torch, transformers, tokenizers)

Both have 4 heads over 2 of keys and values, and a base of rotary angles of their own. llama_tiny has a head of its own;
llama_tiny_tied has the token table for a head, heads wider than the width over their number, and biases in attention.
expected.json holds the logits of two rows of tokens, the loss of one text and its token ids, a greedy text, and the
gradient of that loss (the norm of each parameter's).
"""
import pathlib

import torch
import transformers

from tiny_models import characters, expected_of, move_weights, save_tokenizer, write_expected


def make(name, seed, **changes):
    folder = pathlib.Path(__file__).with_name(name)
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(vocab_size=len(characters), max_position_embeddings=12, hidden_size=24,
                                      intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, bos_token_id=None, eos_token_id=None, pad_token_id=None,
                                      rope_parameters={"rope_type": "default", "rope_theta": 500.0}, **changes)
    model = transformers.LlamaForCausalLM(config).eval()
    move_weights(model)
    model.save_pretrained(folder)
    write_expected(folder, expected_of(folder, save_tokenizer(folder)))


make("llama_tiny", 7)
make("llama_tiny_tied", 8, tie_word_embeddings=True, head_dim=8, attention_bias=True)
