"""torch.nn.functional: ops under PyTorch's names, with PyTorch's arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _inkling, torch_arrays, torch_creation
from .._inkling import Error, Tensor, default_generator
from .._inkling import linear, logsigmoid, sigmoid, softsign, tanh  # noqa: F401
from ..torch_methods import absent_module as __getattr__  # noqa: F401
from .losses import *  # noqa: F403


def _activation(f: Any) -> Any:
    return lambda x, inplace=False: f(x)


for _name in "relu silu selu hardswish hardsigmoid mish".split():
    globals()[_name] = _activation(getattr(_inkling, _name))
leaky_relu = lambda x, negative_slope=0.01, inplace=False: _inkling.leaky_relu(x, negative_slope)  # noqa: E731
elu = lambda x, alpha=1.0, inplace=False: _inkling.elu(x, alpha)  # noqa: E731
celu = lambda x, alpha=1.0, inplace=False: _inkling.celu(x, alpha)  # noqa: E731
relu6 = lambda x, inplace=False: x.clamp(0, 6)  # noqa: E731
hardtanh = lambda x, min_val=-1.0, max_val=1.0, inplace=False: x.clamp(min_val, max_val)  # noqa: E731


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    if approximate not in ("none", "tanh"):
        raise Error(f"gelu: expected approximate none or tanh, got '{approximate}'")
    return _inkling.gelu(x) if approximate == "tanh" else _inkling.gelu_erf(x)


def glu(x: Tensor, dim: int = -1) -> Tensor:
    value, gate = x.chunk(2, dim)
    return value * gate.sigmoid()


def prelu(x: Tensor, weight: Tensor) -> Tensor:
    return x.relu() - _per_channel(x, weight) * (-x).relu()


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """ln(1 + e^(beta x)) / beta, and x where beta x is above the threshold."""
    return _inkling.where((x.detach() * beta).numpy() > threshold, x, (x * beta).softplus() / beta)


def _over(f: Any) -> Any:
    """A function along PyTorch's axis where none is given: 1, or 0 with 0, 1 or 3 axes."""
    return lambda x, dim=None: f(x, (0 if x.ndim in (0, 1, 3) else 1) if dim is None else dim)


softmax, log_softmax = _over(_inkling.softmax), _over(_inkling.log_softmax)
softmin = _over(lambda x, dim: _inkling.softmax(-x, dim))


def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """With default_generator's keys."""
    return _inkling.dropout(x, p, default_generator.next()) if training and p > 0 else x


def embedding(input: Any, weight: Tensor) -> Tensor:
    return _inkling.embedding(input, weight)


def one_hot(ids: Any, num_classes: int = -1) -> torch_arrays.Array:
    ids = np.asarray(ids)
    if ids.size and ids.min() < 0:
        raise IndexError(f"one_hot: expected ids of at least 0, got {ids.min()}")
    return torch_creation.eye(int(ids.max()) + 1 if num_classes < 0 else num_classes, dtype="int64")[ids]


def cosine_similarity(x: Tensor, y: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    x, y = (t.expand(np.broadcast_shapes(x.shape, y.shape)) for t in (x, y))
    return (normalize(x, dim=dim, eps=eps) * normalize(y, dim=dim, eps=eps)).sum(dim)


# Normalization.


def _per_channel(x: Tensor, weight: Any) -> Any:
    """weight (C), or one number, for the channels of x (N, C, ...)"""
    return weight if weight is None else weight.reshape([-1, *[1] * (x.ndim - 2)] if weight.numel() > 1 else [1] * x.ndim)


def _over_last(own: Any, name: str, x: Tensor, shape: Any, *weights: Any) -> Tensor:
    """A normalization over the last axes, of these sizes."""
    shape = tuple(np.atleast_1d(shape).tolist())
    if x.shape[x.ndim - len(shape) :] != shape:
        raise Error(f"{name}: normalized_shape is the last sizes of x, got {shape} for shape {x.shape}")
    *weights, eps = [w.flatten() if isinstance(w, Tensor) else w for w in weights]
    return own(x.flatten(-len(shape), -1), *weights, eps).reshape(x.shape)


def layer_norm(x: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    return _over_last(_inkling.layer_norm, "layer_norm", x, normalized_shape, weight, bias, eps)


def rms_norm(x: Tensor, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Tensor:
    eps = float(np.finfo(x.dtype).eps) if eps is None else eps
    return _over_last(_inkling.rms_norm, "rms_norm", x, normalized_shape, weight, eps)


def group_norm(x: Tensor, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    y = _inkling.layer_norm(x.reshape(x.shape[0], num_groups, -1), eps=eps).reshape(x.shape)
    y = y if weight is None else y * _per_channel(x, weight)
    return y if bias is None else y + _per_channel(x, bias)


def batch_norm(
    x, running_mean=None, running_var=None, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
) -> Tensor:
    if training:
        axes, count = (0, *range(2, x.ndim)), x.numel() // x.shape[1]
        if count < 2:
            raise Error(f"batch_norm: more than one value of a channel is required in training, got shape {x.shape}")
        mean = x.mean(dim=axes, keepdim=True)
        variance = ((x - mean) ** 2).mean(dim=axes, keepdim=True)
        for running, new in ((running_mean, mean), (running_var, variance * (count / (count - 1)))):
            if running is not None:
                running.data = (1 - momentum) * running + momentum * new.detach().flatten()
    else:
        mean, variance = _per_channel(x, running_mean), _per_channel(x, running_var)
    y = (x - mean) / (variance + eps).sqrt()
    y = y if weight is None else y * _per_channel(x, weight)
    return y if bias is None else y + _per_channel(x, bias)


def normalize(x: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    return _inkling.normalize(x, p, dim, eps)


# Windows. Without an axis of examples, x (C, ...) is one example.


def _padding(x: Tensor, weight: Tensor, padding: Any, dilation: Any) -> tuple[Tensor, Any]:
    """x and the padding that is left to do, of 'same' and 'valid'."""
    if not isinstance(padding, str):
        return x, padding
    sizes = zip(np.broadcast_to(dilation, weight.ndim - 2).tolist(), weight.shape[2:])
    around = [d * (k - 1) if padding == "same" else 0 for d, k in sizes]
    if padding not in ("same", "valid"):
        raise Error(f"conv: padding is a number, 'same' or 'valid', got '{padding}'")
    return x.pad([n for total in reversed(around) for n in (total // 2, total - total // 2)]), 0


def _one_or_many(own: Any) -> Any:
    def call(x: Tensor, weight: Tensor, *options: Any, **named: Any) -> Tensor:
        one = x.ndim < weight.ndim
        y = own(x.unsqueeze(0) if one else x, weight, *options, **named)
        return y.squeeze(0) if one else y

    return call


def _convolution(own: Any) -> Any:
    def convolve(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) -> Tensor:
        if padding == "same" and np.any(np.asarray(stride) != 1):
            raise Error(f"conv: padding='same' requires stride 1, got {stride}")
        x, padding = _padding(x, weight, padding, dilation)
        return own(x, weight, bias, stride, padding, dilation, groups)

    return _one_or_many(convolve)


conv1d, conv2d = _convolution(_inkling.conv1d), _convolution(_inkling.conv2d)
conv_transpose2d = _one_or_many(_inkling.conv_transpose2d)


def max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) -> Any:
    """With return_indices also the index of each maximum in its plane (H, W)."""
    stride = kernel_size if stride is None else stride
    y = _inkling.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode)
    if not return_indices:
        return y
    k, s, p, d = (np.broadcast_to(size, 2) for size in (kernel_size, stride, padding, dilation))
    span = (k - 1) * d + 1

    def windows(a: np.ndarray, outside: float) -> np.ndarray:  # (..., H', W', elements)
        edges = [(0, 0)] * (a.ndim - 2) + [(n, n + m) for n, m in zip(p, span)]
        padded = np.pad(a, edges, constant_values=outside)
        all_windows = np.lib.stride_tricks.sliding_window_view(padded, tuple(span), (-2, -1))
        strided = all_windows[..., :: s[0], :: s[1], :: d[0], :: d[1]][..., : y.shape[-2], : y.shape[-1], :, :]
        return strided.reshape(*strided.shape[:-2], -1)

    values = windows(x.detach().numpy(), -np.inf)
    places = windows(np.arange(x.shape[-2] * x.shape[-1]).reshape(x.shape[-2:]), 0)
    found = np.take_along_axis(np.broadcast_to(places, values.shape), values.argmax(-1)[..., None], -1)
    return y, found[..., 0].view(torch_arrays.Array)


def avg_pool2d(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True) -> Tensor:
    return _inkling.avg_pool2d(x, kernel_size, () if stride is None else stride, padding, ceil_mode, count_include_pad)


def adaptive_avg_pool2d(x: Tensor, output_size: Any) -> Tensor:
    """The mean of rows floor(i n / m) to ceil((i + 1) n / m) of n, for each of m, and of such columns."""
    for axis, m in zip((-2, -1), np.broadcast_to(output_size, 2).tolist()):
        n = x.shape[axis]
        ends = [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]
        x = _inkling.concatenate([x.narrow(axis, a, b - a).mean(dim=axis, keepdim=True) for a, b in ends], axis)
    return x


def interpolate(
    x: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    axes = x.ndim - 2
    if size is None:
        exact = [n * s for n, s in zip(x.shape[2:], np.broadcast_to(scale_factor, axes).tolist())]
        size = [math.floor(n) for n in exact]
        if size != exact:
            raise Error(f"interpolate: whole sizes are required, scale_factor gives {exact}: write size={size}")
    if mode == ("linear", "bilinear", "trilinear")[axes - 1]:
        mode = "linear"
    elif mode not in ("nearest", "nearest-exact"):
        modes = "nearest, nearest-exact, or linear, bilinear, trilinear for 1, 2, 3 axes"
        raise Error(f"interpolate: expected {modes}, got '{mode}'")
    return _inkling.interpolate(x, tuple(np.broadcast_to(size, axes).tolist()), mode, bool(align_corners))


def pad(x: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    return _inkling.pad(x, list(pad), value or 0.0) if mode == "constant" else _inkling.pad(x, list(pad), mode=mode)


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
) -> Tensor:
    """is_causal: the first query is at the first key."""
    name = "scaled_dot_product_attention"
    if attn_mask is not None and (isinstance(attn_mask, Tensor) or attn_mask.dtype != "bool"):
        raise TypeError(f"{name}: expected a mask of bools, got numbers: mask == 0 is one")
    if is_causal and attn_mask is not None:
        raise Error(f"{name}: is_causal or attn_mask is required, and not both")
    if not enable_gqa and query.ndim > 2 and query.shape[-3] != key.shape[-3]:
        heads = f"expected {query.shape[-3]} heads of keys, got {key.shape[-3]}"
        raise Error(f"{name}: {heads}: enable_gqa=True shares them")
    if is_causal:
        attn_mask = np.tril(np.ones((query.shape[-2], key.shape[-2]), bool))
    own = {"scale": scale, "mask": attn_mask}
    if dropout_p > 0:
        own |= {"dropout": dropout_p, "dropout_key": default_generator.next()}
    heads = query.shape[:-2]  # (B, H)
    q, k, v = (x if len(heads) == 2 else x.reshape(-1, 1, *x.shape[-2:]) for x in (query, key, value))
    y = _inkling.attention(q, k, v, **own)
    return y.reshape(*heads, *y.shape[-2:])
