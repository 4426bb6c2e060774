"""Makes optimizers.json: steps of torch.optim.Muon, SGD, Adam and AdamW, in float64.

    python tests/reference/make_optimizer_reference.py        (torch 2.9 or later)

torch's Muon rounds what it makes orthogonal to bfloat16; here it is told that bfloat16 is float64, so that its own code
computes without rounding.
"""
import json
import pathlib

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
torch.bfloat16 = torch.float64
random = np.random.default_rng(11)
RATES = [0.02, 0.015, 0.03, 0.01, 0.005, 0.02]


def numbers(*shape):
    return torch.tensor(np.round(random.normal(size=shape), 2))


def stored(t):
    t = t.detach()
    return {"shape": list(t.shape), "data": [float(f"{x:.15g}") for x in t.flatten().tolist()]}


def steps(make, *shape, **options):
    p = torch.nn.Parameter(numbers(*shape))
    optimizer = make([p], lr=1.0, **options)
    out = {**options, "start": stored(p), "steps": []}
    for rate in RATES:
        p.grad = numbers(*shape)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
        out["steps"].append({"rate": rate, "gradient": stored(p.grad), "after": stored(p)})
    return out


cases = {"torch": torch.__version__, "muon": [], "sgd": []}
for shape in ((3, 5), (6, 4), (4, 4)):
    for scale, nesterov, ns_steps in (("original", True, 5), ("match_rms_adamw", True, 5), ("original", False, 3)):
        cases["muon"].append(steps(torch.optim.Muon, *shape, momentum=0.95, nesterov=nesterov, weight_decay=0.1,
                                   eps=1e-7, ns_coefficients=(3.4445, -4.7750, 2.0315), ns_steps=ns_steps,
                                   adjust_lr_fn=scale))
for momentum, nesterov in ((0.9, False), (0.9, True), (0.0, False)):
    cases["sgd"].append(steps(torch.optim.SGD, 3, 4, momentum=momentum, nesterov=nesterov, weight_decay=0.1))
cases["adam"] = [steps(torch.optim.Adam, 5), steps(torch.optim.Adam, 3, 4, betas=(0.8, 0.99), eps=1e-4)]
cases["adamw"] = [steps(torch.optim.AdamW, *shape, weight_decay=0.1) for shape in ((5,), (3, 4), (2, 3, 2))]
path = pathlib.Path(__file__).with_name("optimizers.json")
lines = [json.dumps(k) + ": " + json.dumps(v, separators=(",", ":")) for k, v in cases.items()]
path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(path, path.stat().st_size, "bytes")
