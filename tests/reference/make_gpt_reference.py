"""Writes gpt.json: the losses of examples/gpt.py and gpt.cpp in their first steps on the text of LICENSE, computed by PyTorch.

    PYTHONPATH=FOLDER_OF_THE_MODULE python make_gpt_reference.py

Initial values and parts of the text come from the library's generator, which tests/engine/base/test_random.cpp compares
with known numbers; model, gradients, clipping, AdamW and schedule are PyTorch's.
"""

import json
import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))
import gpt  # noqa: E402
import inkling  # noqa: E402

STEPS = 8
text = (ROOT / "LICENSE").read_text()
characters = sorted(set(text))
ids = np.array([characters.index(c) for c in text])
config, training = gpt.Config(len(characters)), gpt.Training(steps=STEPS)
random = inkling.Generator(1337)
p = {
    name: torch.nn.Parameter(torch.tensor(np.array(value.numpy())))
    for name, value in gpt.GPT(random, config).parameters().items()
}


def norm(x, name):
    return F.layer_norm(x, (config.width,), p[name + ".weight"], p[name + ".bias"])


def linear(x, name):
    return F.linear(x, p[name + ".weight"], p[name + ".bias"])


def loss_of(batch):
    at, targets = (torch.tensor(part, dtype=torch.int64) for part in batch)
    x = p["wte.weight"][at] + p["wpe.weight"][: at.shape[1]]
    for i in range(config.layers):
        name = f"h.{i}."
        heads = linear(norm(x, name + "ln_1"), name + "attn.c_attn").split(config.width, -1)
        q, k, v = (t.unflatten(-1, (config.heads, -1)).transpose(1, 2) for t in heads)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + linear(y, name + "attn.c_proj")
        x = x + linear(F.gelu(linear(norm(x, name + "ln_2"), name + "mlp.c_fc"), approximate="tanh"), name + "mlp.c_proj")
    return F.cross_entropy((norm(x, "ln_f") @ p["wte.weight"].T).flatten(0, 1), targets.flatten())


def rate(step):
    warmup = training.warmup()
    if step < warmup:
        return (step + 1) / (warmup + 1)
    part = (step - warmup) / (training.steps - warmup)
    return 0.1 + 0.9 * (1 + math.cos(math.pi * part)) / 2


middle = len(ids) * 9 // 10
groups = [
    {"params": [x for x in p.values() if x.ndim >= 2], "weight_decay": training.weight_decay},
    {"params": [x for x in p.values() if x.ndim < 2], "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=training.lr, betas=training.betas)
losses, validation = [], []
for step in range(STEPS):
    loss = loss_of(gpt.get_batch(ids[:middle], training.batch, config.context, random))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(p.values(), training.clip)
    for group in optimizer.param_groups:
        group["lr"] = training.lr * rate(step)
    optimizer.step()
    losses.append(loss.item())
    held_out = inkling.Generator(7)
    with torch.no_grad():
        batches = [
            gpt.get_batch(ids[middle:], training.batch, config.context, held_out) for _ in range(training.eval_batches)
        ]
        validation.append(float(np.mean([loss_of(batch).item() for batch in batches])))

path = pathlib.Path(__file__).with_name("gpt.json")
path.write_text(json.dumps({"torch": torch.__version__, "losses": losses, "validation": validation}, indent=1) + "\n")
print(path.read_text())
