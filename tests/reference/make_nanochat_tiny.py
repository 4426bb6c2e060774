"""Makes nanochat_tiny/: a model folder written by transformers and tokenizers, and the numbers that they compute from it.

    python tests/reference/make_nanochat_tiny.py        (torch, transformers, tokenizers)

The weights are three shards in three precisions, listed in model.safetensors.index.json: float32, float16, bfloat16.
expected.json holds the logits of two rows of tokens, the loss of one text and its token ids, a greedy text, the gradient
of that loss (the norm of each parameter's) and its logits without a cap.
"""
import json
import pathlib

import safetensors.torch
import tokenizers
import torch
import transformers

folder = pathlib.Path(__file__).with_name("nanochat_tiny")
torch.manual_seed(6)
characters = "\n !,.abdehilnorstuwy\u00e9"
config = transformers.NanoChatConfig(vocab_size=len(characters), max_position_embeddings=12, hidden_size=24,
                                     intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
                                     num_key_value_heads=2, bos_token_id=None, eos_token_id=None, pad_token_id=None)
model = transformers.NanoChatForCausalLM(config).eval()
with torch.no_grad():
    for name, p in model.named_parameters():  # far from the initial values, so that every weight counts
        p += torch.randn_like(p) * (1.0 if "embed" in name or "lm_head" in name else 0.3)
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

tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={c: i for i, c in enumerate(characters)}, merges=[]))
tokenizer.decoder = tokenizers.decoders.Fuse()
transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)

again = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)  # the shards are what they were
for (name, p), (_, q) in zip(model.named_parameters(), again.named_parameters()):
    assert torch.equal(p, q), name

ids = torch.randint(len(characters), (2, 12))
text = "hello, world\u00e9!\n"[:12]
encoded = tokenizer.encode(text).ids
batch = torch.tensor([encoded])
loss = model(batch, labels=batch).loss
loss.backward()
with torch.no_grad():
    logits = model(ids).logits
    greedy = model.generate(batch[:, :3], attention_mask=torch.ones(1, 3), max_new_tokens=9, do_sample=False, pad_token_id=0)
    model.config.final_logit_softcapping = None
    uncapped = model(ids).logits
digits = lambda t: [float(f"{x:.8g}") for x in t.flatten().tolist()]
expected = {"transformers": transformers.__version__, "torch": torch.__version__, "ids": ids.tolist(),
            "logits": digits(logits), "uncapped": digits(uncapped), "text": text, "encoded": encoded,
            "loss": float(loss), "greedy": greedy[0].tolist(),
            "gradient_norms": {name: float(f"{p.grad.norm():.8g}") for name, p in model.named_parameters()}}
(folder / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")
for path in sorted(folder.iterdir()):
    print(path.name, path.stat().st_size, "bytes")
