"""Makes gpt2_tiny/: a model folder written by transformers and tokenizers, and the numbers that they compute from it.

    python tests/reference/make_gpt2_tiny.py        (torch, transformers, tokenizers)

expected.json holds the logits of two rows of tokens, the loss of one text, and its token ids.
"""
import json
import pathlib

import tokenizers
import torch
import transformers

folder = pathlib.Path(__file__).with_name("gpt2_tiny")
torch.manual_seed(5)
characters = "\n !,.abdehilnorstuwy\u00e9"
config = transformers.GPT2Config(vocab_size=len(characters), n_positions=12, n_embd=24, n_layer=2, n_head=3,
                                 resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=None, eos_token_id=None)
model = transformers.GPT2LMHeadModel(config).eval()
with torch.no_grad():
    for name, p in model.named_parameters():  # far from the initial values, so that every weight counts
        p += torch.randn_like(p) * (0.3 if p.dim() == 2 else 0.2)
model.save_pretrained(folder)

tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={c: i for i, c in enumerate(characters)}, merges=[]))
tokenizer.decoder = tokenizers.decoders.Fuse()
transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)

ids = torch.randint(len(characters), (2, 12))
text = "hello, world\u00e9!\n"[:12]
encoded = tokenizer.encode(text).ids
with torch.no_grad():
    logits = model(ids).logits
    batch = torch.tensor([encoded])
    loss = model(batch, labels=batch).loss
greedy = model.generate(batch[:, :3], attention_mask=torch.ones(1, 3), max_new_tokens=9, do_sample=False, pad_token_id=0)
expected = {"transformers": transformers.__version__, "torch": torch.__version__, "ids": ids.tolist(),
            "logits": [float(f"{x:.8g}") for x in logits.flatten().tolist()], "text": text, "encoded": encoded,
            "loss": float(loss), "greedy": greedy[0].tolist()}
(folder / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")
for path in sorted(folder.iterdir()):
    print(path.name, path.stat().st_size, "bytes")
