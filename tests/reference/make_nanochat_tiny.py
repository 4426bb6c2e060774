"""Makes nanochat_tiny/: a model folder written by transformers and tokenizers, and the numbers that they compute from it.

    python tests/reference/make_nanochat_tiny.py        (torch, transformers, tokenizers)

The weights are three shards in three precisions, listed in model.safetensors.index.json: float32, float16, bfloat16.
expected.json holds the logits of two rows of tokens, the loss of one text and its token ids, a greedy text, the gradient
of that loss (the norm of each parameter's) and its logits without a cap.
"""
import json
import pathlib

import safetensors.torch
import torch
import transformers

from tiny_models import characters, digits, expected_of, move_weights, save_tokenizer, write_expected

folder = pathlib.Path(__file__).with_name("nanochat_tiny")
torch.manual_seed(6)
config = transformers.NanoChatConfig(vocab_size=len(characters), max_position_embeddings=12, hidden_size=24,
                                     intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
                                     num_key_value_heads=2, bos_token_id=None, eos_token_id=None, pad_token_id=None)
model = transformers.NanoChatForCausalLM(config).eval()
move_weights(model)
with torch.no_grad():
    for name, p in model.named_parameters():
        kept = torch.float32 if "embed" in name or "lm_head" in name else torch.float16 if "layers.0" in name else torch.bfloat16
        p.copy_(p.to(kept).float())
model.save_pretrained(folder)
(folder / "model.safetensors").unlink()
shards = [("embed", "lm_head"), ("layers.0",), ("layers.1",)]
index = {"metadata": {"total_size": 0}, "weight_map": {}}
for i, (part, kind) in enumerate(zip(shards, (torch.float32, torch.float16, torch.bfloat16)), 1):
    file = f"model-{i:05}-of-00003.safetensors"
    tensors = {n: p.detach().to(kind).contiguous() for n, p in model.named_parameters() if any(t in n for t in part)}
    safetensors.torch.save_file(tensors, folder / file, metadata={"format": "pt"})
    index["weight_map"].update({name: file for name in tensors})
    index["metadata"]["total_size"] += sum(t.numel() * t.element_size() for t in tensors.values())
(folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2, sort_keys=True) + "\n")

tokenizer = save_tokenizer(folder)

again = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)  # the shards are what they were
for (name, p), (_, q) in zip(model.named_parameters(), again.named_parameters()):
    assert torch.equal(p, q), name


def uncapped(model, ids, batch):
    with torch.no_grad():
        model.config.final_logit_softcapping = None
        return {"uncapped": digits(model(ids).logits)}


expected = expected_of(folder, tokenizer, uncapped)
first = ("transformers", "torch", "ids", "logits", "uncapped")
write_expected(folder, {key: expected[key] for key in first} | expected)
