"""Makes nn.json: layers and AdamW in PyTorch, in float64, with the gradients of all inputs and parameters.

    python tests/reference/make_nn_reference.py        (torch, numpy)

Every case is a dictionary of arrays, {"shape": [...], "data": [...]}. "dy" is the cotangent that is sent back, and
"d_NAME" the gradient of NAME. Inputs are rounded, so that the file stays small and exact.
"""
import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
random = np.random.default_rng(7)


def numbers(*shape, scale=1.0):
    return torch.tensor(np.round(random.normal(size=shape) * scale, 3), requires_grad=True)


def stored(t):
    t = t.detach()
    return {"shape": list(t.shape), "data": [float(f"{x:.15g}") for x in t.flatten().tolist()]}


def case(inputs, y):
    dy = torch.tensor(np.round(random.normal(size=y.shape), 3))
    y.backward(dy)
    arrays = {"y": stored(y), "dy": stored(dy)}
    arrays |= {name: stored(x) for name, x in inputs.items()}
    return arrays | {"d_" + name: stored(x.grad) for name, x in inputs.items()}


def layers():
    x, w, b = numbers(2, 3, 5), numbers(4, 5), numbers(4)
    cases = {"Linear": case({"x": x, "weight": w, "bias": b}, F.linear(x, w, b))}
    x, w, b = numbers(3, 6), numbers(6), numbers(6)
    cases["LayerNorm"] = case({"x": x, "weight": w, "bias": b}, F.layer_norm(x, (6,), w, b))
    x, w = numbers(3, 6), numbers(6)
    cases["RMSNorm"] = case({"x": x, "weight": w}, F.rms_norm(x, (6,), w, 1e-5))
    x, fc, fc_b, proj, proj_b = numbers(2, 3, 4), numbers(7, 4), numbers(7), numbers(4, 7), numbers(4)
    cases["MLP"] = case({"x": x, "c_fc.weight": fc, "c_fc.bias": fc_b, "c_proj.weight": proj, "c_proj.bias": proj_b},
                        F.linear(F.gelu(F.linear(x, fc, fc_b), approximate="tanh"), proj, proj_b))
    return cases


def adamw(steps=20):
    """torch.optim.AdamW with decay of the matrix alone, clip_grad_norm_, and a learning rate for each step."""
    matrix, vector = torch.nn.Parameter(numbers(3, 4).detach()), torch.nn.Parameter(numbers(5).detach())
    out = {"matrix": stored(matrix), "vector": stored(vector), "clip": 1.0, "steps": []}
    optimizer = torch.optim.AdamW([{"params": [matrix], "weight_decay": 0.1}, {"params": [vector], "weight_decay": 0.0}],
                                  betas=(0.9, 0.99), eps=1e-8)
    for i in range(steps):
        rate = round(0.01 + 0.02 * (i % 5), 4)
        scale = 2.0 if i % 3 == 0 else 0.1  # longer and shorter than the clip
        matrix.grad, vector.grad = numbers(3, 4, scale=scale).detach(), numbers(5, scale=scale).detach()
        step = {"rate": rate, "d_matrix": stored(matrix.grad), "d_vector": stored(vector.grad)}
        step["norm"] = float(torch.nn.utils.clip_grad_norm_([matrix, vector], 1.0))
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        out["steps"].append(step | {"matrix": stored(matrix), "vector": stored(vector)})
    return out


reference = {"torch": torch.__version__, **layers(), "AdamW": adamw()}
path = pathlib.Path(__file__).with_name("nn.json")
lines = [json.dumps(k) + ": " + json.dumps(v, separators=(",", ":")) for k, v in reference.items()]
path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(path, path.stat().st_size, "bytes")
