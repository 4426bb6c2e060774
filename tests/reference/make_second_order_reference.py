"""Makes second_order.json: a gradient penalty trained for some steps, and the Hessian of a small network, in float64.

    python tests/reference/make_second_order_reference.py
"""
import json
import pathlib

import torch
from torch.nn.functional import cross_entropy, softplus

torch.set_default_dtype(torch.float64)


def numbers(shape, seed):
    n = torch.arange(torch.Size(shape).numel()) + 1.0
    return torch.sin(seed * n).reshape(shape)


def stored(t):
    t = t.detach()
    return {"shape": list(t.shape), "data": [float(f"{x:.15g}") for x in t.flatten().tolist()]}


def penalty():
    """A critic whose slope is kept near 1, as in WGAN-GP: five steps of gradient descent."""
    w1, b1, w2 = (numbers(s, k).requires_grad_() for s, k in (((5, 3), 0.7), ((5,), 1.3), ((1, 5), 2.1)))
    x = numbers((8, 3), 0.3).requires_grad_()
    losses = []
    for _ in range(5):
        y = torch.tanh(x @ w1.T + b1) @ w2.T
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        loss = y.mean() + 10 * ((slope.pow(2).sum(1).sqrt() - 1) ** 2).mean()
        losses.append(loss.item())
        grads = torch.autograd.grad(loss, (w1, b1, w2))
        with torch.no_grad():
            for p, g in zip((w1, b1, w2), grads):
                p -= 0.05 * g
    return {"losses": losses, "w1": stored(w1), "b1": stored(b1), "w2": stored(w2)}


def hessian():
    """Of a loss with respect to the first weights: softplus, layer norm, softmax."""
    x, w2 = numbers((4, 3), 0.9), numbers((3, 2), 1.7)

    def loss(w):
        h = torch.nn.functional.layer_norm(softplus(x @ w.T), (2,), eps=1e-5)
        return cross_entropy(h @ w2.T, torch.tensor([0, 2, 1, 2]))

    w = numbers((2, 3), 0.4)
    return {"hessian": stored(torch.autograd.functional.hessian(loss, w))}


path = pathlib.Path(__file__).parent / "second_order.json"
path.write_text(json.dumps({"penalty": penalty(), "loss": hessian()}) + "\n")
