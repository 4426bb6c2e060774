"""Writes engine.json: values and gradients of every op of engine/ops, computed by PyTorch in double precision.

    python make_engine_reference.py

Each case has a name, its inputs, the cotangent, the output and the gradients of the inputs. The name is that of a row in
the table of op cases (engine/gradcheck/op_cases.h); what follows a colon tells of the inputs. test_reference.cpp computes
the same; neither the build nor the tests need PyTorch.
"""

import json
import math
import pathlib
import re
import zlib

import torch
import torch.nn.functional as F

torch.manual_seed(1234)
cases = []


def array(x):
    return {"shape": list(x.shape), "data": x.detach().reshape(-1).tolist()}


def normal(*shape):
    # float holds these numbers exactly, so the float kernels start from the same inputs
    return torch.randn(shape, dtype=torch.float32).double()


def positive(*shape):
    return (normal(*shape).abs() + 0.5).float().double()


def ids(shape, below):
    """some_ids of op_cases.h"""
    i = torch.arange(math.prod(shape))
    return ((i * i + 3 * i) % below).reshape(shape)


def targets(rows, classes):
    return torch.cat([ids((rows,), classes)[:1], torch.tensor([-100]), ids((rows,), classes)[2:]])


def case(name, function, *inputs):
    inputs = [x.clone().requires_grad_() for x in inputs]
    y = function(*inputs)
    dy = normal(*y.shape)
    grads = torch.autograd.grad(y, inputs, dy)
    cases.append(
        {"name": name, "inputs": [array(x) for x in inputs], "dy": array(dy), "y": array(y), "grads": [array(g) for g in grads]}
    )


# Elementwise
case("add", torch.add, normal(2, 1, 4), normal(3, 1))
case("sub", torch.sub, normal(5), normal(3, 5))
case("mul", torch.mul, normal(2, 3, 4), normal(3, 4))
case("div", torch.div, normal(3, 4), positive(4))
case("pow 2.5", lambda x: x**2.5, positive(17))
case("pow 3", lambda x: x**3, normal(17))
case("affine", lambda x: -1.5 * x + 0.25, normal(9))

# Activations
case("gelu", lambda x: F.gelu(x, approximate="tanh"), 2 * normal(33))
case("gelu_erf", F.gelu, 2 * normal(33))

# Reductions; amax shares the gradient among equal maxima
tied = torch.tensor([[1.0, 3.0, 3.0, -1.0], [2.0, 2.0, 2.0, 2.0], [0.0, -1.0, -2.0, 5.0]], dtype=torch.float64)
case("sum", torch.sum, normal(3, 4))
case("sum 0 2", lambda x: x.sum((0, 2)), normal(2, 3, 4))
case("mean", torch.mean, normal(3, 4))
case("mean 1 keep", lambda x: x.mean(1, keepdim=True), normal(2, 3, 4))
case("max 1", lambda x: x.amax(1), tied)
case("max", torch.amax, normal(3, 4))

# Shapes
case("reshape", lambda x: x.reshape(4, 6), normal(2, 3, 4))
case("reshape transposed", lambda x: x.transpose(0, 2).reshape(6, 4), normal(2, 3, 4))
case("permute 2 0 1", lambda x: x.permute(2, 0, 1), normal(2, 3, 4))
case("slice", lambda x: x[:, 1:6:2], normal(3, 7))
case("split", lambda x: x.split(2, dim=1)[0] * x.split(2, dim=1)[2], normal(3, 6))
case("concatenate", lambda a, b: torch.cat([a, b, a], 1), normal(2, 3), normal(2, 1))
case("stack -1", lambda a, b: torch.stack([a, b], -1), normal(2, 3), normal(2, 3))

# Masks
pattern = torch.arange(12).reshape(3, 4) % 3 == 1
case("where", lambda a, b: torch.where(pattern, a, b), normal(3, 4), normal(4))
case("masked_fill", lambda x: x.masked_fill(pattern, -2.0), normal(2, 3, 4))
case("tril -1", lambda x: x.tril(-1), normal(4, 5))
case("triu 1", lambda x: x.triu(1), normal(2, 4, 5))

# Products
case("matmul", torch.matmul, normal(5, 7), normal(7, 3))
case("matmul: batches", torch.matmul, normal(2, 1, 4, 3), normal(3, 3, 5))
case("matmul: many rows", torch.matmul, normal(2, 4, 3), normal(3, 5))
case("matmul transposed", lambda a, b: a @ b.transpose(-2, -1), normal(2, 4, 3), normal(2, 5, 3))
case("linear", F.linear, normal(2, 3, 9), normal(7, 9), normal(7))
case("linear without bias", F.linear, normal(17, 8), normal(3, 8))
case("embedding", lambda w: F.embedding(ids((2, 3), 5), w), normal(5, 4))

# Softmax, norms, loss
case("softmax", lambda x: torch.softmax(x, -1), 3 * normal(3, 17))
case("softmax 0", lambda x: torch.softmax(x, 0), normal(5, 2, 3))
case("log_softmax", lambda x: torch.log_softmax(x, -1), 3 * normal(3, 17))
case("layer_norm", lambda x, g, b: F.layer_norm(x, (9,), g, b), normal(4, 9), normal(9), normal(9))
case("layer_norm bare, eps 0.1", lambda x: F.layer_norm(x, (9,), eps=0.1), normal(2, 3, 9))
case("rms_norm", lambda x, g: F.rms_norm(x, (9,), g, eps=1e-5), normal(4, 9), normal(9))
case("cross_entropy", lambda x: F.cross_entropy(x, targets(5, 11)), 2 * normal(5, 11))


def attention(x, w):
    """Causal self-attention with 2 heads: split, reshape, transpose, two products, masked softmax."""
    q, k, v = (t.reshape(2, 5, 2, 3).transpose(1, 2) for t in (x @ w.T).split(6, dim=-1))
    hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
    weights = torch.softmax((q @ k.transpose(-2, -1) / 3**0.5).masked_fill(hidden, -torch.inf), -1)
    return (weights @ v).transpose(1, 2).reshape(2, 5, 6)


case("linear, split and softmax", attention, normal(2, 5, 6), normal(18, 6))

# More functions of numbers
case("leaky_relu", lambda x: F.leaky_relu(x, 0.2), normal(33))
case("elu", lambda x: F.elu(x, 0.7), 2 * normal(33))
kinks = torch.tensor([-2.0, -1.0, -0.5, 0.0, 0.5, 2.0, 3.0], dtype=torch.float64)
case("abs", torch.abs, kinks)
case("log1p", torch.log1p, 1e-4 * normal(17))
case("expm1", torch.expm1, 1e-4 * normal(17))
case("clamp", lambda x: x.clamp(-1, 2), kinks)
case("clamp below", lambda x: x.clamp(min=0.25), kinks)
case("maximum", torch.maximum, tied, torch.tensor([2.0, 3.0, -1.0, -1.0], dtype=torch.float64))
case("minimum", torch.minimum, normal(2, 1, 4), normal(3, 1))
case("pow of tensors", torch.pow, positive(3, 5), normal(5))
case(
    "pow of tensors: at 0",
    torch.pow,
    torch.tensor([0.0, 0.0, 3.0, 0.5], dtype=torch.float64),
    torch.tensor([2.0, 0.0, 0.0, -1.0], dtype=torch.float64),
)

# More reductions
case("min 1", lambda x: x.amin(1), tied)
case("min 0 keep", lambda x: x.amin(0, keepdim=True), tied)
case("prod", torch.prod, normal(3, 4))
case("prod 1: with zeros", lambda x: x.prod(1), torch.tensor([[2.0, 0.0, 3.0], [0.0, 4.0, 0.0], [1.0, 2.0, 3.0]], dtype=torch.float64))
case("logsumexp 0 2", lambda x: x.logsumexp((0, 2)), 3 * normal(2, 3, 4))
case("logsumexp -1 keep: large", lambda x: x.logsumexp(-1, keepdim=True), (1000 + normal(3, 17)).float().double())
case("var", torch.var, normal(3, 4))
case("var 0 2 keep correction 0", lambda x: x.var((0, 2), correction=0, keepdim=True), normal(2, 3, 4))
case("std 1", lambda x: x.std(1), normal(3, 5))
case("std 1 correction 2: equal numbers", lambda x: x.std(1, correction=2), torch.tensor([[2.0, 2.0, 2.0], [1.0, 2.0, 4.0]], dtype=torch.float64))
case("cumsum 0", lambda x: x.cumsum(0), normal(4, 3))
case("cumsum 1", lambda x: x.cumsum(1), normal(2, 5, 3))

# More shapes, and elements by number
case("reshape open", lambda x: x.reshape(2, -1), normal(3, 4))
case("flatten 1 2", lambda x: x.flatten(1, 2), normal(2, 3, 2, 2))
case("squeeze", torch.squeeze, normal(1, 3, 1, 2))
case("unsqueeze -2", lambda x: x.unsqueeze(-2), normal(3, 2))
case("expand", lambda x: x.expand(2, -1, 4), normal(3, 1))
case("split sizes", lambda x: x.split([1, 3, 2], dim=1)[1] * x.split([3, 0, 3], dim=1)[2], normal(3, 6))
case("gather 1 of 2x4", lambda x: x.gather(1, ids((2, 3), 4)), normal(2, 4))
case("gather 0 of 3x2", lambda x: x.gather(0, ids((4, 2), 3)), normal(3, 2))
case("index_select 1", lambda x: x.index_select(1, ids((5,), 3)), normal(2, 3, 2))
case("scatter_add 0 of 3x2", lambda x, s: x.scatter_add(0, ids((4, 2), 3), s), normal(3, 2), normal(4, 2))
case("scatter_add 1 of 2x4", lambda x, s: x.scatter_add(1, ids((2, 3), 4), s), normal(2, 4), normal(2, 3))
case("sort 0", lambda x: x.sort(0).values, normal(5, 3))
case("sort descending", lambda x: x.sort(descending=True).values, normal(3, 5))
case("topk 2", lambda x: x.topk(2).values, normal(3, 5))
case("topk 3 0", lambda x: x.topk(3, 0).values, normal(5, 2))

# einsum
for equation, shapes in [
    ("ij,jk->ik", [(3, 4), (4, 2)]),
    ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
    ("abc,cdb,e->eda", [(2, 3, 4), (4, 5, 3), (2,)]),
    ("ij,ij->i", [(3, 4), (3, 4)]),
    ("i,j", [(3,), (2,)]),
    ("ba,ab", [(3, 2), (2, 3)]),
    ("iji->j", [(3, 2, 3)]),
    ("ii", [(4, 4)]),
]:
    case("einsum " + equation, lambda *x, e=equation: torch.einsum(e, *x), *[normal(*shape) for shape in shapes])

# Losses
weight = torch.tensor([0.5, 2.0, 0.0, 1.0, 3.0], dtype=torch.float64)
classes = targets(6, 5)
case("cross_entropy weight", lambda x: F.cross_entropy(x, classes, weight), 2 * normal(6, 5))
case("cross_entropy smooth", lambda x: F.cross_entropy(x, classes, label_smoothing=0.1), 2 * normal(6, 5))
case(
    "cross_entropy weight, smooth, none",
    lambda x: F.cross_entropy(x, classes, weight, reduction="none", label_smoothing=0.3),
    2 * normal(6, 5),
)
case(
    "cross_entropy weight, smooth, mean",
    lambda x: F.cross_entropy(x, classes, weight, label_smoothing=0.3),
    2 * normal(6, 5),
)
case("cross_entropy sum", lambda x: F.cross_entropy(x, classes, reduction="sum"), 2 * normal(6, 5))
case("mse_loss", F.mse_loss, normal(3, 5), normal(3, 5))
case("mse_loss sum", lambda x, t: F.mse_loss(x, t, reduction="sum"), normal(7), normal(7))
bce = F.binary_cross_entropy_with_logits
case("binary_cross_entropy_with_logits", bce, 3 * normal(3, 5), torch.sigmoid(normal(3, 5)).float().double())
case(
    "binary_cross_entropy_with_logits none",
    lambda x, t: bce(x, t, reduction="none"),
    torch.tensor([40.0, -40.0, 700.0, -700.0], dtype=torch.float64),
    torch.tensor([1.0, 0.0, 0.0, 1.0], dtype=torch.float64),
)

# What only this engine has
case("squared_relu", lambda x: F.relu(x) ** 2, normal(33))
case("softcap", lambda x: 1.5 * torch.tanh(x / 1.5), 2 * normal(33))
case("repeat 3 1", lambda x: x.repeat_interleave(3, 1), normal(2, 3, 4))
case("masked_fill and softmax", lambda x: torch.softmax(x.masked_fill(torch.ones(4, 4).triu(1) > 0, -1e30), -1), normal(2, 4, 4))
case("transpose", lambda x: x.transpose(0, 1), normal(3, 4))
case("add_low_rank", lambda y, x, a, b: y + 1.5 * (x @ a.T) @ b.T, normal(3, 17), normal(3, 4), normal(2, 4), normal(17, 2))
case(
    "linear_cross_entropy 7 classes by 3, cap 1.5",
    lambda x, w: F.cross_entropy(1.5 * torch.tanh(x @ w.T / 1.5), targets(5, 7)),
    normal(5, 4),
    normal(7, 4),
)
case("attention", F.scaled_dot_product_attention, normal(2, 2, 3, 4), normal(2, 2, 5, 4), normal(2, 2, 5, 3))
case(
    "attention scale",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.5),
    normal(2, 2, 3, 4),
    normal(2, 2, 5, 4),
    normal(2, 2, 5, 3),
)

# Vectors as operands, scalars with an axis, and what is made of other ops
case("matmul of vectors", torch.matmul, normal(4), normal(4))
case("matmul of a vector", torch.matmul, normal(2, 3, 4), normal(4))
case("matmul of a vector first", torch.matmul, normal(4), normal(2, 4, 3))
case("einsum ...ij,...jk->...ik", lambda a, b: torch.einsum("...ij,...jk->...ik", a, b), normal(2, 3, 4), normal(4, 2))
case("sum -1: a scalar", lambda x: x.sum(-1), normal())
case("softmax 0: a scalar", lambda x: x.softmax(0), normal())
case("asin of a sine", lambda x: torch.asin(torch.sin(x) / 2), normal(33))
case("acos of a sine", lambda x: torch.acos(torch.sin(x) / 2), normal(33))
case("remainder", torch.remainder, 5 * normal(4, 9), normal(9))
case("maximum of a number", lambda x: x.clamp(min=0.5), normal(17))
case("minimum of a number", lambda x: x.clamp(max=0.25), normal(17))
case("pow of a number", lambda x: 2**x, normal(17))
case("pad", lambda x: F.pad(x, (1, 2), value=0.5), normal(2, 3))
case("pad and cut", lambda x: F.pad(x, (1, -2, -1, 3)), normal(2, 4, 5))
case("flip", lambda x: x.flip((0, 1)), normal(3, 4))
case("roll 2 1", lambda x: x.roll(2, 1), normal(3, 5))
case("roll -1 0", lambda x: x.roll(-1, 0), normal(3, 2))
case("tile", lambda x: x.tile((2, 3)), normal(2, 1, 3))
case("one_hot", lambda x: F.one_hot(ids((2, 3), 5), 5) * x, normal(2, 3, 5))
case("norm", torch.linalg.vector_norm, normal(3, 4))
case("norm 1 keep: zeros", lambda x: torch.linalg.vector_norm(x, dim=1, keepdim=True), torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=torch.float64))
case("norm of p = 1", lambda x: torch.linalg.vector_norm(x, 1, -1), normal(3, 4))
case("norm of p = 3", lambda x: torch.linalg.vector_norm(x, 3), normal(3, 4))
case("norm of infinite p", lambda x: torch.linalg.vector_norm(x, math.inf, 0), normal(3, 4))
case("cummax 1: ties", lambda x: x.cummax(1).values, tied)
case("cummax 0", lambda x: x.cummax(0).values, normal(5, 3))
case("cumprod -1: with zeros", lambda x: x.cumprod(-1), torch.tensor([[2.0, 0.0, 3.0, 2.0], [1.5, 4.0, 0.5, 1.0]], dtype=torch.float64))
case("cumprod 0", lambda x: x.cumprod(0), normal(4, 3))
places = torch.tensor([[2, 0, 3], [1, 3, 0]])
case("scatter 1 of 2x4", lambda x, s: x.scatter(1, places, s), normal(2, 4), normal(2, 3))
case("scatter 0", lambda x, s: x.scatter(0, places, s), normal(4, 3), normal(2, 3))
case("unfold -1 by 2", lambda x: x.unfold(-1, 3, 2), normal(2, 3, 8))
case("conv1d", F.conv1d, normal(2, 3, 7), normal(4, 3, 3), normal(4))
case("conv1d stride 2, padding 3, dilation 2", lambda x, w: F.conv1d(x, w, None, 2, 3, 2), normal(2, 3, 7), normal(4, 3, 3))
case("conv2d", F.conv2d, normal(2, 2, 5, 4), normal(3, 2, 3, 2), normal(3))
case("conv2d stride 2, padding 1", lambda x, w: F.conv2d(x, w, None, 2, 1), normal(2, 2, 5, 4), normal(3, 2, 3, 3))
case("max_pool2d 2", lambda x: F.max_pool2d(x, 2), normal(2, 3, 5, 6))
case("avg_pool2d 3 1", lambda x: F.avg_pool2d(x, 3, 1), normal(2, 4, 6))
# The gradients of PyTorch's own have 0.7 and 1/6 in float.
case("celu", lambda x: torch.where(x > 0, x, 0.7 * torch.expm1(x / 0.7)), 2 * normal(33))
case("hardsigmoid", lambda x: (x / 6 + 0.5).clamp(0, 1), 2 * normal(33))
case("copysign", lambda x: torch.copysign(x, torch.tensor(-1.0)), normal(17))
case("logaddexp", torch.logaddexp, normal(2, 1, 4), 30 * normal(3, 1))
case("fmod", torch.fmod, 5 * normal(4, 9), normal(9))
case("tan of a sine", lambda x: torch.tan(torch.sin(x)), normal(17))
case("acosh of a sum", lambda x: torch.acosh(x + 1), positive(17))
case("atanh of a sine", lambda x: torch.atanh(torch.sin(x) / 2), normal(17))
for mode, widths in [("reflect", (1, -2, 2, 1)), ("replicate", (1, 9, 2, -1)), ("circular", (3, 2))]:
    case("pad " + mode, lambda x, m=mode, w=widths: F.pad(x, w, mode=m), normal(1, 3, 4))
case("diagonal", torch.diagonal, normal(3, 4, 2))
case("diagonal 1 -1 0", lambda x: x.diagonal(1, -1, 0), normal(3, 2, 5))
case("normalize", F.normalize, normal(3, 4))
case("normalize 3 0", lambda x: F.normalize(x, 3, 0), normal(3, 4))
case("cummin 1: ties", lambda x: x.cummin(1).values, tied)
case("logcumsumexp 1", lambda x: x.logcumsumexp(1), 3 * normal(3, 5))
case("logcumsumexp 0: large", lambda x: x.logcumsumexp(0), (100 + normal(5, 2)).float().double())
two_in_one = torch.tensor([[2, 0, 3], [1, 0, 1]])
for name, how in [("prod", "prod"), ("mean", "mean"), ("sum", "sum"), ("max", "amax")]:
    case("scatter " + name, lambda x, s, h=how: x.scatter_reduce(1, two_in_one, s, h), normal(2, 4), normal(2, 3))
for name, how in [("prod", "prod"), ("mean", "mean"), ("sum", "sum"), ("min", "amin")]:
    case(
        f"scatter {name} alone",
        lambda x, s, h=how: x.scatter_reduce(1, two_in_one, s, h, include_self=False),
        normal(2, 4),
        normal(2, 3),
    )
case(
    "scatter of a smaller index",
    lambda x, s: x.scatter_reduce(0, torch.tensor([[2, 0, 2]]), s[:1, :3], "sum"),
    normal(4, 3),
    normal(2, 4),
)
case("gather of a smaller index", lambda x: x.gather(0, torch.tensor([[2, 0, 2]])), normal(4, 4))
case(
    "conv2d of 2 groups",
    lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 0), groups=2),
    normal(2, 4, 5, 4),
    normal(6, 2, 3, 2),
    normal(6),
)
case("conv_transpose2d", F.conv_transpose2d, normal(2, 3, 3, 4), normal(3, 2, 3, 2), normal(2))
case(
    "conv_transpose2d of 2 groups",
    lambda x, w: F.conv_transpose2d(x, w, None, (2, 3), 1, (1, 0), 2, (1, 2)),
    normal(2, 4, 3, 4),
    normal(4, 3, 3, 2),
)
case("max_pool2d ceil", lambda x: F.max_pool2d(x, (3, 2), 2, 1, (1, 2), True), normal(2, 5, 6))
case("avg_pool2d ceil", lambda x: F.avg_pool2d(x, (3, 2), 2, 1, True), normal(2, 5, 6))
case("avg_pool2d without padding", lambda x: F.avg_pool2d(x, 3, 3, 1, count_include_pad=False), normal(2, 5, 6))
four = (lambda f: lambda x: f(x[None])[0])  # interpolate wants a batch and channels
case("interpolate", four(lambda x: F.interpolate(x, (5, 2))), normal(2, 3, 4))
case("interpolate exact", four(lambda x: F.interpolate(x, (5, 2), mode="nearest-exact")), normal(2, 3, 4))
case("interpolate linear", four(lambda x: F.interpolate(x, (5, 2), mode="bilinear")), normal(2, 3, 4))
case(
    "interpolate linear, align_corners",
    four(lambda x: F.interpolate(x, (5, 2), mode="bilinear", align_corners=True)),
    normal(2, 3, 4),
)
case("cross_entropy of probabilities", lambda x, t: F.cross_entropy(x, t), normal(4, 5), torch.softmax(normal(4, 5), -1))
case(
    "cross_entropy of probabilities, weight, smooth, sum",
    lambda x, t: F.cross_entropy(x, t, weight, reduction="sum", label_smoothing=0.3),
    normal(4, 5),
    torch.softmax(normal(4, 5), -1),
)
case("nll_loss", lambda x: F.nll_loss(x, classes), normal(6, 5))
case("nll_loss weight", lambda x: F.nll_loss(x, classes, weight), normal(6, 5))
case("nll_loss weight, none", lambda x: F.nll_loss(x, classes, weight, reduction="none"), normal(6, 5))

# Token shift, with the rows' positions in their documents
starts = torch.tensor([[0, 1, 0, 0, 1], [0, 1, 2, 3, 4]])


def token_shift(x, w, positions):
    return x + w * torch.roll(x, 1, -2) * (positions > 0)[..., None]


case("token_shift", lambda x, w: token_shift(x, w, torch.arange(5)), normal(2, 5, 3), normal(3))
case("token_shift at positions", lambda x, w: token_shift(x, w, starts), normal(2, 5, 3), normal(3))

# Functions of one number that PyTorch has under the same name: each has random numbers of its own
table = pathlib.Path(__file__).parents[2] / "engine/gradcheck/elementwise_cases.cpp"
known = {c["name"] for c in cases}
for name, one in re.findall(r'all\.add\("(\w+)", (one|\{one, positive\}),', table.read_text()):
    function = getattr(torch, name, None) or getattr(F, name, None)
    if function and name not in known:
        torch.manual_seed(zlib.crc32(name.encode()))
        case(name, function, 2 * normal(33) if one == "one" else positive(33))

text = ",\n".join(json.dumps(c) for c in cases)
path = pathlib.Path(__file__).with_name("engine.json")
path.write_text('{"torch": "%s", "cases": [\n%s\n]}\n' % (torch.__version__, text))
print(f"{path}: {len(cases)} cases, {path.stat().st_size} bytes")
