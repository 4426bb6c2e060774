"""Makes nn.json: layers, attention and AdamW in PyTorch, in float64, with the gradients of all inputs and parameters.

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


def case(inputs, y, **more):
    dy = torch.tensor(np.round(random.normal(size=y.shape), 3))
    y.backward(dy)
    arrays = {"y": stored(y), "dy": stored(dy)}
    arrays |= {name: stored(x) for name, x in inputs.items()}
    arrays |= {"d_" + name: stored(x.grad) for name, x in inputs.items()}
    return arrays | {name: stored(x) for name, x in more.items()}


def self_attention(width, heads, length):
    """torch.nn.MultiheadAttention, causal: GPT-2's packed form."""
    attention = torch.nn.MultiheadAttention(width, heads, batch_first=True)
    p = {"x": numbers(2, length, width), "c_attn.weight": numbers(3 * width, width, scale=0.5),
         "c_attn.bias": numbers(3 * width, scale=0.5), "c_proj.weight": numbers(width, width, scale=0.5),
         "c_proj.bias": numbers(width, scale=0.5)}
    attention.in_proj_weight = torch.nn.Parameter(p["c_attn.weight"].detach().clone())
    attention.in_proj_bias = torch.nn.Parameter(p["c_attn.bias"].detach().clone())
    attention.out_proj.weight = torch.nn.Parameter(p["c_proj.weight"].detach().clone())
    attention.out_proj.bias = torch.nn.Parameter(p["c_proj.bias"].detach().clone())
    mask = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
    x = p["x"]
    y, weights = attention(x, x, x, attn_mask=mask, need_weights=True, average_attn_weights=False)
    dy = torch.tensor(np.round(random.normal(size=y.shape), 3))
    y.backward(dy)
    grads = {"x": x.grad, "c_attn.weight": attention.in_proj_weight.grad, "c_attn.bias": attention.in_proj_bias.grad,
             "c_proj.weight": attention.out_proj.weight.grad, "c_proj.bias": attention.out_proj.bias.grad}
    arrays = {"y": stored(y), "dy": stored(dy), "weights": stored(weights)}
    arrays |= {name: stored(t) for name, t in p.items()}
    return arrays | {"d_" + name: stored(t) for name, t in grads.items()}


def separate(d_in, d_out, heads, length_q, length_k, cross):
    """Separate projections through F.scaled_dot_product_attention: causal, or cross attention with padded keys."""
    p = {"W_query.weight": numbers(d_out, d_in, scale=0.5), "W_key.weight": numbers(d_out, d_in, scale=0.5),
         "W_value.weight": numbers(d_out, d_in, scale=0.5), "out_proj.weight": numbers(d_out, d_out, scale=0.5),
         "out_proj.bias": numbers(d_out, scale=0.5)}
    inputs = {"query": numbers(2, length_q, d_in)}
    if cross:
        inputs |= {"key": numbers(2, length_k, d_in), "value": numbers(2, length_k, d_in)}
    q, k, v = (inputs["query"], inputs["key"], inputs["value"]) if cross else (inputs["query"],) * 3

    def split(x):
        return x.view(2, x.shape[1], heads, d_out // heads).transpose(1, 2)

    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]], dtype=torch.bool)[:, None, None, :] if cross else None
    y = F.scaled_dot_product_attention(split(q @ p["W_query.weight"].T), split(k @ p["W_key.weight"].T),
                                       split(v @ p["W_value.weight"].T), attn_mask=mask, is_causal=not cross)
    y = F.linear(y.transpose(1, 2).reshape(2, length_q, d_out), p["out_proj.weight"], p["out_proj.bias"])
    more = {"mask": mask.double()} if cross else {}
    return case(inputs | p, y, **more)


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


reference = {"torch": torch.__version__, **layers(), "packed attention": self_attention(8, 2, 5),
             "causal attention": separate(5, 6, 3, 4, 4, False), "cross attention": separate(4, 6, 2, 3, 5, True),
             "AdamW": adamw()}
path = pathlib.Path(__file__).with_name("nn.json")
lines = [json.dumps(k) + ": " + json.dumps(v, separators=(",", ":")) for k, v in reference.items()]
path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(path, path.stat().st_size, "bytes")
