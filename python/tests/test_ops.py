"""Every op: PyTorch's values and gradients where it takes tensors alone; else NumPy's values and finite differences."""

import json
import re

import inkling
import numpy as np
import pytest
from conftest import ROOT, array, softmax
from inkling import Tensor

rng = np.random.default_rng(3)
X, Y = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
P = np.abs(X) + 0.5
W = rng.normal(size=(5, 4))
IDS = np.array([2, 0, 1])
MASK = rng.random((3, 4)) < 0.5
Q, K, V = (rng.normal(size=(2, 2, 3, 4)) for _ in range(3))


def nll(x, ids):
    return -np.log(softmax(x))[np.arange(len(ids)), ids]


def rotate(x, base=10000.0):
    d = x.shape[-1]
    angle = np.arange(x.shape[-2])[:, None] * base ** (-2 * np.arange(d // 2) / d)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)


CAUSAL = np.tril(np.ones((3, 3), bool))
i = inkling
ROWS = [  # name, inputs, op, NumPy's
    ("leaky_relu", [X], lambda x: i.leaky_relu(x, 0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    ("elu", [X], lambda x: i.elu(x, alpha=2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(x))),
    ("softcap", [X], lambda x: i.softcap(x, 2), lambda x: 2 * np.tanh(x / 2)),
    ("clamp", [X], lambda x: i.clamp(x, -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)),
    ("affine", [X], lambda x: i.affine(x, 2, 1), lambda x: 2 * x + 1),
    ("scale", [X], lambda x: i.scale(x, 3), lambda x: 3 * x),
    ("pow", [P], lambda x: i.pow(x, 1.5), lambda x: x**1.5),
    ("pow", [P, Y], i.pow, np.power),
    ("sum", [X], lambda x: x.sum(0), lambda x: x.sum(0)),
    ("mean", [X], lambda x: x.mean((0, 1)), np.mean),
    ("max", [X], lambda x: x.max(-1, keep_axes=True), lambda x: x.max(-1, keepdims=True)),
    ("min", [X], lambda x: x.min(), np.min),
    ("prod", [X], lambda x: x.prod(1), lambda x: x.prod(1)),
    ("logsumexp", [X], lambda x: x.logsumexp(1), lambda x: np.log(np.exp(x).sum(1))),
    ("var", [X], lambda x: x.var(0), lambda x: x.var(0, ddof=1)),
    ("std", [X], lambda x: x.std(1, correction=0), lambda x: x.std(1)),
    ("argmax", [X], lambda x: x.argmax(1), lambda x: x.argmax(1)),
    ("cumsum", [X], lambda x: x.cumsum(1), lambda x: x.cumsum(1)),
    ("softmax", [X], lambda x: x.softmax(0), lambda x: softmax(x, 0)),
    (
        "softmax", [X], lambda x: x.softmax(allowed=MASK | (np.arange(4) == 0)),
        lambda x: softmax(np.where(MASK | (np.arange(4) == 0), x, -np.inf)),
    ),
    ("rms_norm", [X], i.rms_norm, lambda x: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)),
    (
        "add_low_rank", [rng.normal(size=(3, 5)), X, W[:2], rng.normal(size=(5, 2))],
        lambda y, x, a, b: i.add_low_rank(y, x, a, b, 0.5), lambda y, x, a, b: y + 0.5 * x @ a.T @ b.T,
    ),
    ("embedding", [W], lambda w: i.embedding(IDS, w), lambda w: w[IDS]),
    ("einsum", [Q, K], lambda q, k: i.einsum("bhqd,bhkd->bhqk", q, k), lambda q, k: np.einsum("bhqd,bhkd->bhqk", q, k)),
    ("cross_entropy", [X], lambda x: i.cross_entropy(x, IDS), lambda x: nll(x, IDS).mean()),
    (
        "cross_entropy", [X], lambda x: x.cross_entropy([2, -100, 1], reduction="none"),
        lambda x: nll(x, IDS) * [1, 0, 1],
    ),
    (
        "linear_cross_entropy", [X, W], lambda x, w: i.linear_cross_entropy(x, w, IDS),
        lambda x, w: nll(x @ w.T, IDS).mean(),
    ),
    ("mse_loss", [X, Y], lambda x, y: i.mse_loss(x, y, "sum"), lambda x, y: ((x - y) ** 2).sum()),
    (
        "attention", [Q, K, V], lambda q, k, v: i.attention(q, k, v, scale=0.5, causal=True),
        lambda q, k, v: softmax(np.where(CAUSAL, 0.5 * q @ k.swapaxes(-1, -2), -np.inf)) @ v,
    ),
    (
        "attention", [Q, K, V], lambda q, k, v: i.attention(q, k, v, scale=0.5, causal=True, window=2),
        lambda q, k, v: softmax(np.where(CAUSAL & ~np.tril(CAUSAL, -2), 0.5 * q @ k.swapaxes(-1, -2), -np.inf)) @ v,
    ),
    ("rotary", [Q], i.rotary, rotate),
    ("reshape", [X], lambda x: x.reshape((2, -1)), lambda x: x.reshape(2, -1)),
    ("flatten", [Q], lambda x: x.flatten(1), lambda x: x.reshape(2, -1)),
    ("squeeze", [X[None]], lambda x: x.squeeze(0), lambda x: x[0]),
    ("unsqueeze", [X], lambda x: x.unsqueeze(1), lambda x: x[:, None]),
    ("expand", [X[:, :1]], lambda x: x.expand((-1, 5)), lambda x: np.broadcast_to(x, (3, 5))),
    ("permute", [Q], lambda x: x.permute((-1, 0, 2, -3)), lambda x: x.transpose(3, 0, 2, 1)),
    ("transpose", [Q], lambda x: x.transpose(1, -1), lambda x: x.swapaxes(1, -1)),
    ("slice", [X], lambda x: x.slice(1, 1, 4, 2), lambda x: x[:, 1:4:2]),
    ("split", [X], lambda x: x.split(2, 1)[1], lambda x: x[:, 2:]),
    ("split", [X], lambda x: x.split([1, 3], 1)[1], lambda x: x[:, 1:]),
    ("repeat", [X], lambda x: x.repeat(2, axis=1), lambda x: x.repeat(2, 1)),
    ("tril", [X], i.tril, np.tril),
    ("triu", [X], lambda x: x.triu(1), lambda x: np.triu(x, 1)),
    ("concatenate", [X, Y], lambda x, y: i.concatenate([x, y], 1), lambda x, y: np.concatenate([x, y], 1)),
    ("stack", [X, Y], lambda x, y: i.stack([x, y], 1), lambda x, y: np.stack([x, y], 1)),
    ("where", [X, Y], lambda x, y: i.where(MASK, x, y), lambda x, y: np.where(MASK, x, y)),
    ("where", [X], lambda x: i.where(MASK, x, 2.0), lambda x: np.where(MASK, x, 2)),
    ("where", [X], lambda x: i.where(MASK, 2.0, x), lambda x: np.where(MASK, 2, x)),
    ("masked_fill", [X], lambda x: x.masked_fill(MASK, -1), lambda x: np.where(MASK, -1, x)),
    ("gather", [X], lambda x: x.gather(1, IDS[:, None]), lambda x: np.take_along_axis(x, IDS[:, None], 1)),
    ("index_select", [X], lambda x: x.index_select(0, [2, 2]), lambda x: x[[2, 2]]),
    (
        "scatter_add", [X, Y[:1]], lambda x, s: x.scatter_add(0, np.ones((1, 4), int), s),
        lambda x, s: x + np.vstack([0 * s, s, 0 * s]),
    ),
    ("sort", [X], lambda x: x.sort(1)[0], lambda x: np.sort(x, 1)),
    ("topk", [X], lambda x: x.topk(2)[0], lambda x: -np.sort(-x, 1)[:, :2]),
    ("asin", [0.9 * np.tanh(X)], i.asin, np.arcsin),
    ("acos", [0.9 * np.tanh(X)], i.acos, np.arccos),
    ("tan", [X], i.tan, np.tan),
    ("acosh", [P + 1], i.acosh, np.arccosh),
    ("atanh", [0.9 * np.tanh(X)], i.atanh, np.arctanh),
    ("pad", [X], lambda x: x.pad((1, 2, -1, 0), 5), lambda x: np.pad(x[1:], ((0, 0), (1, 2)), constant_values=5)),
    ("flip", [X], lambda x: x.flip(0), lambda x: x[::-1]),
    ("flip", [X], lambda x: x.flip(()), lambda x: x),
    ("pad", [X], lambda x: x.pad((-1, 2), mode="circular"), lambda x: np.pad(x[:, 1:], ((0, 0), (0, 2)), mode="wrap")),
    ("roll", [X], lambda x: x.roll(-1, dim=1), lambda x: np.roll(x, -1, 1)),
    ("tile", [X], lambda x: x.tile((2, 1, 3)), lambda x: np.tile(x, (2, 1, 3))),
    ("one_hot", [X], lambda x: i.one_hot(IDS, 3, dtype=x.dtype) @ x, lambda x: x[IDS]),
    ("norm", [X], lambda x: x.norm(axis=1), lambda x: np.linalg.norm(x, axis=1)),
    ("norm", [X], lambda x: x.norm(np.inf, 0), lambda x: abs(x).max(0)),
    ("argmin", [X], lambda x: x.argmin(0), lambda x: x.argmin(0)),
    ("argsort", [X], lambda x: x.argsort(0, descending=True), lambda x: np.argsort(-x, 0)),
    ("cummax", [X], lambda x: x.cummax(1)[0], lambda x: np.maximum.accumulate(x, 1)),
    ("cumprod", [X], lambda x: x.cumprod(0), lambda x: np.cumprod(x, 0)),
    (
        "scatter", [X, Y[:1]], lambda x, s: x.scatter(0, np.ones((1, 4), int), s),
        lambda x, s: np.vstack([x[:1], s, x[2:]]),
    ),
    (
        "scatter", [X, Y[:2]], lambda x, s: x.scatter(0, np.ones((2, 4), int), s, "max", include_self=False),
        lambda x, s: np.vstack([x[:1], s.max(0, keepdims=True), x[2:]]),
    ),
    ("pad", [X], lambda x: x.pad((1, 1), mode="reflect"), lambda x: np.pad(x, ((0, 0), (1, 1)), "reflect")),
    ("cummin", [X], lambda x: x.cummin(1)[0], lambda x: np.minimum.accumulate(x, 1)),
    ("logcumsumexp", [X], lambda x: x.logcumsumexp(1), lambda x: np.logaddexp.accumulate(x, 1)),
    ("interpolate", [X], lambda x: x.interpolate((6, 2), "nearest"), lambda x: x[[0, 0, 1, 1, 2, 2]][:, ::2]),
    ("nll_loss", [X], lambda x: x.log_softmax().nll_loss(IDS), lambda x: nll(x, IDS).mean()),
    (
        "cross_entropy", [X, softmax(Y)], lambda x, t: x.cross_entropy(t, reduction="sum"),
        lambda x, t: -(np.log(softmax(x)) * t).sum(),
    ),
    ("celu", [X], lambda x: i.celu(x, 2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2))),
    ("copysign", [X, Y], i.copysign, np.copysign),
    ("unfold", [X], lambda x: x.unfold(1, 3), lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, 1)),
    (
        "conv1d", [X[None], Y[None], Y[0, :1]], lambda x, w, b: i.conv1d(x, w, b, padding=1),
        lambda x, w, b: np.array([[[(np.pad(x[0], ((0, 0), (1, 1)))[:, t : t + 4] * w).sum() + b[0] for t in range(3)]]]),
    ),
    (
        "conv2d", [Q, K[:, :, :2, :3]], lambda x, w: i.conv2d(x, w, stride=(2, 2)),
        lambda x, w: np.einsum("bchw,ochw->bo", x[:, :, :2, :3], w)[..., None, None],
    ),
    ("max_pool2d", [Q], lambda x: x.max_pool2d(2), lambda x: x[..., :2, :].reshape(2, 2, 1, 2, 2, 2).max((3, 5))),
    ("max_pool2d", [X], lambda x: x.max_pool2d((1, 3), ceil_mode=True), lambda x: np.c_[x[:, :3].max(1), x[:, 3]]),
    ("avg_pool2d", [X], lambda x: x.avg_pool2d(3, 1), lambda x: np.array([[x[:, :3].mean(), x[:, 1:].mean()]])),
    ("dropout", [X], lambda x: x.dropout(0.0, inkling.RandomKey(1)), lambda x: x),
]


@pytest.mark.parametrize("name, inputs, op, expected", ROWS, ids=[row[0] for row in ROWS])
def test_op(name, inputs, op, expected):
    want = expected(*inputs)
    double = op(*(Tensor(x.copy()) for x in inputs))
    assert np.shape(np.asarray(double)) == np.shape(want)
    np.testing.assert_allclose(np.asarray(double), want, rtol=1e-10, atol=1e-12)
    single = op(*(Tensor(x, dtype="float32") for x in inputs))
    np.testing.assert_allclose(np.asarray(single), want, rtol=2e-4, atol=2e-5)
    if isinstance(double, Tensor):
        assert single.dtype == "float32"
        assert inkling.gradcheck(op, [Tensor(x) for x in inputs]) < 1e-6


# The cases of tests/reference/engine.json that need only tensors, for ops without a row above.
CASES = [
    case
    for case in json.loads((ROOT / "tests/reference/engine.json").read_text())["cases"]
    if hasattr(inkling, case["name"]) and case["name"] not in {row[0] for row in ROWS}
]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_op_is_as_pytorchs(case):
    for dtype, tolerance in (("float64", 1e-10), ("float32", 1e-5)):
        inputs = [Tensor(array(x), dtype=dtype, requires_grad=True) for x in case["inputs"]]
        y = getattr(inkling, case["name"])(*inputs)
        y.backward(Tensor(array(case["dy"]), dtype=dtype))
        for ours, theirs in zip([y.numpy(), *(x.grad for x in inputs)], [case["y"], *case["grads"]]):
            np.testing.assert_allclose(ours, array(theirs), rtol=tolerance, atol=tolerance)


def declared(pattern, leave_out=()):
    found = set()
    for path in sorted(path for room in ("ops", "fused", "more") for path in (ROOT / "engine" / room).rglob("*.h")):
        if path.name not in ("attention_heads.h", "attention_operands.h", "attention_block.h", "formula.h"):  # parts of ops
            found |= set(re.findall(pattern, path.read_text(), re.M))
    return found - set(leave_out)


def test_every_op_is_there_and_tested():
    ops = declared(r"^(?:Tensor<T>|IdArray|Ordered<T>|MaskArray|std::vector<Tensor<T>>) (\w+)\(", ["operator"])
    ops -= {"as_tensor", "rotate", "sum_to", "unary_op", "unary_op_of_rows"}  # parts of other ops and of models
    ops -= {"look_ahead_mask", "window_mask", "document_mask"}  # in inkling.nn; test_nn.py tests them
    assert len(ops) > 120 and not [op for op in ops if not hasattr(inkling, op)]
    tested = {row[0] for row in ROWS} | {case["name"] for case in CASES} | {"causal_mask"}
    tested |= {"jacobian", "hessian", "jvp", "hvp"}  # tested by test_derivatives.py
    assert ops <= tested
    for name in ops:
        assert getattr(inkling, name).__doc__


def test_causal_mask_and_order():
    assert np.array_equal(inkling.causal_mask(2, 3), [[False, False, True], [False, False, False]])
    values, ids = Tensor(X).sort(1, descending=True)
    assert np.array_equal(ids, np.argsort(-X, 1)) and ids.dtype == np.int32


def test_ids_are_checked():
    table = Tensor(W)
    with pytest.raises(inkling.Error, match="embedding"):
        inkling.embedding([7], table)
    for wrong in ([0.5], [2**40], "a"):
        with pytest.raises(TypeError):
            inkling.embedding(wrong, table)
    assert inkling.embedding(np.uint8([1]), table).shape == (1, 4)


def test_dropout_is_a_function_of_its_key():
    x = Tensor(np.ones((1000,), np.float32))
    a, b = (x.dropout(0.25, inkling.RandomKey(3, stream)) for stream in (0, 1))
    assert np.array_equal(a, x.dropout(0.25, inkling.RandomKey(3, 0))) and not np.array_equal(a, b)
    assert set(np.unique(a)) == {np.float32(0), np.float32(1 / 0.75)} and abs(np.mean(np.asarray(a) == 0) - 0.25) < 0.05
