"""Makes training.json: 30 steps of a small GPT-2 in PyTorch, from initial weights that a formula gives.

    python tests/reference/make_training_reference.py        (torch)

nanoGPT's model and training loop written out: tied head, gelu by tanh, biases, AdamW with decay of matrices alone,
cosine learning rate after a warm-up, clipping. Windows lie side by side: step s, row b takes window (s B + b) mod
floor((N - 1) / T). Losses are computed in float64; those in float32 are printed against them.
"""
import json
import math
import pathlib

import torch
import torch.nn.functional as F

V, L, H, C, T, B, STEPS = 11, 2, 2, 32, 16, 4, 30
RATE, FLOOR, WARMUP, CLIP, DECAY = 3e-3, 3e-4, 5, 0.8, 0.1


def shapes():
    """Names and shapes (out, in), in the order in which the model lists its parameters."""
    yield "transformer.wte.weight", (V, C)
    yield "transformer.wpe.weight", (T, C)
    for i in range(L):
        h = f"transformer.h.{i}."
        yield h + "ln_1.weight", (C,)
        yield h + "ln_1.bias", (C,)
        yield h + "attn.c_attn.weight", (3 * C, C)
        yield h + "attn.c_attn.bias", (3 * C,)
        yield h + "attn.c_proj.weight", (C, C)
        yield h + "attn.c_proj.bias", (C,)
        yield h + "ln_2.weight", (C,)
        yield h + "ln_2.bias", (C,)
        yield h + "mlp.c_fc.weight", (4 * C, C)
        yield h + "mlp.c_fc.bias", (4 * C,)
        yield h + "mlp.c_proj.weight", (C, 4 * C)
        yield h + "mlp.c_proj.bias", (C,)
    yield "transformer.ln_f.weight", (C,)
    yield "transformer.ln_f.bias", (C,)


def initial(dtype):
    """Element i of parameter k: 0.05 sin(12.9898 (i + 1) + 78.233 k), and 1 more for the gains of norms."""
    weights = {}
    for k, (name, shape) in enumerate(shapes()):
        i = torch.arange(math.prod(shape), dtype=torch.float64)
        values = 0.05 * torch.sin(12.9898 * (i + 1) + 78.233 * k)
        if ".ln_" in name and name.endswith("weight"):
            values += 1
        weights[name] = values.float().to(dtype).view(shape).requires_grad_()
    return weights


def forward(w, ids):
    x = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"][: ids.shape[1]]
    for i in range(L):
        p = {k.removeprefix(f"transformer.h.{i}."): v for k, v in w.items()}
        h = F.layer_norm(x, (C,), p["ln_1.weight"], p["ln_1.bias"])
        q, k, v = F.linear(h, p["attn.c_attn.weight"], p["attn.c_attn.bias"]).split(C, dim=2)
        q, k, v = (t.view(*t.shape[:2], H, C // H).transpose(1, 2) for t in (q, k, v))
        h = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape)
        x = x + F.linear(h, p["attn.c_proj.weight"], p["attn.c_proj.bias"])
        h = F.layer_norm(x, (C,), p["ln_2.weight"], p["ln_2.bias"])
        h = F.gelu(F.linear(h, p["mlp.c_fc.weight"], p["mlp.c_fc.bias"]), approximate="tanh")
        x = x + F.linear(h, p["mlp.c_proj.weight"], p["mlp.c_proj.bias"])
    x = F.layer_norm(x, (C,), w["transformer.ln_f.weight"], w["transformer.ln_f.bias"])
    return F.linear(x, w["transformer.wte.weight"])


def rate(step):
    if step < WARMUP:
        return RATE * (step + 1) / (WARMUP + 1)
    return FLOOR + 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP))) * (RATE - FLOOR)


def train(tokens, dtype):
    w = initial(dtype)
    optimizer = torch.optim.AdamW([{"params": [p for p in w.values() if p.dim() >= 2], "weight_decay": DECAY},
                                   {"params": [p for p in w.values() if p.dim() < 2], "weight_decay": 0.0}],
                                  betas=(0.9, 0.99), eps=1e-8)
    windows, losses, norms = (len(tokens) - 1) // T, [], []
    for step in range(STEPS):
        rows = [(step * B + b) % windows * T for b in range(B)]
        x = torch.stack([tokens[r : r + T] for r in rows])
        y = torch.stack([tokens[r + 1 : r + 1 + T] for r in rows])
        loss = F.cross_entropy(forward(w, x).view(-1, V), y.view(-1))
        optimizer.zero_grad()
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(list(w.values()), CLIP)))
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.step()
        losses.append(float(loss.detach()))
    final = {name: float(p.detach().double().norm()) for name, p in w.items()}
    return losses, norms, final


# A text with something to learn: each token is a function of the two before it, now and then disturbed.
text = [1, 2]
for i in range(510):
    text.append((3 * text[-1] + text[-2] + (1 if i % 7 == 0 else 0)) % V)
tokens = torch.tensor(text)
losses, norms, final = train(tokens, torch.float64)
single = train(tokens, torch.float32)
print("float32 differs in losses by", max(abs(a - b) for a, b in zip(losses, single[0])),
      "and in gradient norms by", max(abs(a - b) for a, b in zip(norms, single[1])))
print("losses", [round(x, 4) for x in losses])
print("norms", [round(x, 3) for x in norms])
result = {"torch": torch.__version__, "vocab_size": V, "n_layer": L, "n_head": H, "n_embd": C, "block_size": T,
          "batch_size": B, "learning_rate": RATE, "min_lr": FLOOR, "warmup_iters": WARMUP, "grad_clip": CLIP,
          "weight_decay": DECAY, "tokens": text, "losses": losses, "grad_norms": norms, "final_norms": final}
path = pathlib.Path(__file__).with_name("training.json")
path.write_text("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(v) for k, v in result.items()) + "\n}\n")
print(path, path.stat().st_size, "bytes")
