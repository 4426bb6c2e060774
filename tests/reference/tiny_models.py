"""What the scripts that make small model folders share: random weights, a tokenizer of characters, and the numbers that
transformers computes from a folder."""
import json

import tokenizers
import torch
import transformers

characters = "\n !,.abdehilnorstuwy\u00e9"
text = "hello, world\u00e9!\n"[:12]
digits = lambda t: [float(f"{x:.8g}") for x in t.flatten().tolist()]


def move_weights(model, tables=("embed", "lm_head", "wte")):
    """Far from the initial values, so that every weight counts."""
    with torch.no_grad():
        for n, p in model.named_parameters():
            p += torch.randn_like(p) * (1.0 if any(t in n for t in tables) else 0.3)


def save_tokenizer(folder):
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={c: i for i, c in enumerate(characters)}, merges=[]))
    tokenizer.decoder = tokenizers.decoders.Fuse()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    return tokenizer


def expected_of(folder, tokenizer, more=lambda model, ids, batch: {}, rename=lambda name: name):
    """The model in float32, and its numbers; `more` are those of this script alone, behind the greedy text."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ids = torch.randint(len(characters), (2, 12))
    encoded = tokenizer.encode(text).ids
    batch = torch.tensor([encoded])
    loss = model(batch, labels=batch).loss
    loss.backward()
    with torch.no_grad():
        logits = model(ids).logits
        greedy = model.generate(batch[:, :3], attention_mask=torch.ones(1, 3), max_new_tokens=9, do_sample=False, pad_token_id=0)
    return {"transformers": transformers.__version__, "torch": torch.__version__, "ids": ids.tolist(),
            "logits": digits(logits), "text": text, "encoded": encoded, "loss": loss.item(),
            "greedy": greedy[0].tolist(), **more(model, ids, batch),
            "gradient_norms": {rename(n): float(f"{p.grad.norm():.8g}") for n, p in model.named_parameters()}}


def losses_of(model, optimizer, batch, steps):
    losses = []
    for _ in range(steps):
        loss = model(batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    return losses


def write_expected(folder, expected):
    (folder / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")
    for path in sorted(folder.iterdir()):
        print(folder.name, path.name, path.stat().st_size, "bytes")
