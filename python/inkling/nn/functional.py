"""torch.nn.functional: ops under PyTorch's names, with PyTorch's arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _inkling, torch_arrays, torch_creation
from .._inkling import Error, Tensor, default_generator
from .._inkling import linear, logsigmoid, mse_loss, sigmoid, softsign, tanh  # noqa: F401
from ..torch_methods import absent_module as __getattr__  # noqa: F401
from .losses import *  # noqa: F403


def _activation(f: Any) -> Any:
    return lambda x, inplace=False: f(x)


for _name in "relu silu selu hardswish hardsigmoid mish".split():
    globals()[_name] = _activation(getattr(_inkling, _name))


def leaky_relu(x: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    return _inkling.leaky_relu(x, negative_slope)


def elu(x: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return _inkling.elu(x, alpha)


def celu(x: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return _inkling.celu(x, alpha)


def relu6(x: Tensor, inplace: bool = False) -> Tensor:
    return x.clamp(0, 6)


def hardtanh(x: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    return x.clamp(min_val, max_val)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    if approximate not in ("none", "tanh"):
        raise Error(f"gelu: approximate none or tanh is required, got '{approximate}'")
    return _inkling.gelu(x) if approximate == "tanh" else _inkling.gelu_erf(x)


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """ln(1 + e^(beta x)) / beta, and x where beta x is above the threshold."""
    return _inkling.where((x.detach() * beta).numpy() > threshold, x, (x * beta).softplus() / beta)


def _over(x: Tensor, dim: int | None) -> int:
    """PyTorch's axis where none is given: 1, or 0 with 0, 1 or 3 axes."""
    return (0 if x.ndim in (0, 1, 3) else 1) if dim is None else dim


def softmax(x: Tensor, dim: int | None = None) -> Tensor:
    return _inkling.softmax(x, _over(x, dim))


def log_softmax(x: Tensor, dim: int | None = None) -> Tensor:
    return _inkling.log_softmax(x, _over(x, dim))


def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """With default_generator's keys."""
    return _inkling.dropout(x, p, default_generator.next()) if training and p > 0 else x


def embedding(input: Any, weight: Tensor) -> Tensor:
    return _inkling.embedding(input, weight)


def one_hot(ids: Any, num_classes: int = -1) -> torch_arrays.Array:
    ids = np.asarray(ids)
    if ids.size and ids.min() < 0:
        raise IndexError(f"one_hot: ids of at least 0 are required, got {ids.min()}")
    return torch_creation.eye(int(ids.max()) + 1 if num_classes < 0 else num_classes, dtype="int64")[ids]


# Normalization.


def _last(name: str, shape: Any) -> None:
    if len(np.atleast_1d(shape)) != 1:
        raise Error(f"{name}: normalized_shape is the size of the last axis, got {shape}: flatten the axes into one")


def layer_norm(x: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    _last("layer_norm", normalized_shape)
    return _inkling.layer_norm(x, weight, bias, eps)


def rms_norm(x: Tensor, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Tensor:
    _last("rms_norm", normalized_shape)
    return _inkling.rms_norm(x, weight, float(np.finfo(x.dtype).eps) if eps is None else eps)


def normalize(x: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    return _inkling.normalize(x, p, dim, eps)


# Windows. Without an axis of examples, x (C, ...) is one example.


def _padding(x: Tensor, weight: Tensor, padding: Any, dilation: Any) -> tuple[Tensor, Any]:
    """x and the padding that is left to do, of 'same' and 'valid'."""
    if not isinstance(padding, str):
        return x, padding
    axes = weight.ndim - 2
    around = [
        d * (k - 1) if padding == "same" else 0 for d, k in zip(np.broadcast_to(dilation, axes), weight.shape[2:])
    ]
    if padding not in ("same", "valid"):
        raise Error(f"conv: padding is a number, 'same' or 'valid', got '{padding}'")
    return x.pad([n for total in reversed(around) for n in (int(total) // 2, int(total) - int(total) // 2)]), 0


def _convolution(own: Any) -> Any:
    def convolve(
        x: Tensor,
        weight: Tensor,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        if padding == "same" and np.any(np.asarray(stride) != 1):
            raise Error(f"conv: padding='same' requires stride 1, got {stride}")
        many = x.ndim == weight.ndim
        x, padding = _padding(x if many else x.unsqueeze(0), weight, padding, dilation)
        y = own(x, weight, bias, stride, padding, dilation, groups)
        return y if many else y.squeeze(0)

    return convolve


conv1d, conv2d = _convolution(_inkling.conv1d), _convolution(_inkling.conv2d)


def conv_transpose2d(x: Tensor, weight: Tensor, bias: Any = None, *options: Any, **named: Any) -> Tensor:
    """options: stride=1, padding=0, output_padding=0, groups=1, dilation=1"""
    many = x.ndim == weight.ndim
    y = _inkling.conv_transpose2d(x if many else x.unsqueeze(0), weight, bias, *options, **named)
    return y if many else y.squeeze(0)


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """With return_indices also the index of each maximum in its plane (H, W)."""
    stride = kernel_size if stride is None else stride
    y = _inkling.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode)
    if not return_indices:
        return y
    sizes = (kernel_size, stride, padding, dilation)
    k, s, p, d = (np.broadcast_to(size, 2) for size in sizes)
    span = (k - 1) * d + 1

    def windows(a: np.ndarray, outside: float) -> np.ndarray:  # (..., H', W', elements)
        edges = [(0, 0)] * (a.ndim - 2) + [(n, n + m) for n, m in zip(p, span)]
        all_windows = np.lib.stride_tricks.sliding_window_view(
            np.pad(a, edges, constant_values=outside), tuple(span), (-2, -1)
        )
        strided = all_windows[..., :: s[0], :: s[1], :: d[0], :: d[1]][..., : y.shape[-2], : y.shape[-1], :, :]
        return strided.reshape(*strided.shape[:-2], -1)

    values = windows(x.detach().numpy(), -np.inf)
    places = windows(np.arange(x.shape[-2] * x.shape[-1]).reshape(x.shape[-2:]), 0)
    found = np.take_along_axis(np.broadcast_to(places, values.shape), values.argmax(-1)[..., None], -1)
    return y, found[..., 0].view(torch_arrays.Array)


def avg_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    return _inkling.avg_pool2d(x, kernel_size, () if stride is None else stride, padding, ceil_mode, count_include_pad)


def adaptive_avg_pool2d(x: Tensor, output_size: Any) -> Tensor:
    sizes = np.broadcast_to(output_size, 2).tolist()
    if any(n % m for n, m in zip(x.shape[-2:], sizes)):
        raise Error(f"adaptive_avg_pool2d: sizes that divide {x.shape[-2:]} are required, got {sizes}: use avg_pool2d")
    return _inkling.avg_pool2d(x, tuple(n // m for n, m in zip(x.shape[-2:], sizes)))


def interpolate(
    x: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    axes = x.ndim - 2
    if size is None:
        exact = [n * s for n, s in zip(x.shape[2:], np.broadcast_to(scale_factor, axes).tolist())]
        size = [math.floor(n) for n in exact]
        if size != exact:
            raise Error(
                f"interpolate: a scale_factor that gives whole sizes is required, got sizes {exact}: write size={size}"
            )
    if mode == ("linear", "bilinear", "trilinear")[axes - 1]:
        mode = "linear"
    elif mode not in ("nearest", "nearest-exact"):
        raise Error(
            f"interpolate: nearest, nearest-exact, or linear, bilinear, trilinear for 1, 2, 3 axes is required, got '{mode}'"
        )
    return _inkling.interpolate(x, tuple(np.broadcast_to(size, axes).tolist()), mode, bool(align_corners))


def pad(x: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    return _inkling.pad(x, list(pad), value or 0.0) if mode == "constant" else _inkling.pad(x, list(pad), mode=mode)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """is_causal: the first query is at the first key."""
    if attn_mask is not None and (isinstance(attn_mask, Tensor) or attn_mask.dtype != "bool"):
        raise TypeError("scaled_dot_product_attention: a mask of bools is required, got numbers: mask == 0 is one")
    if is_causal and attn_mask is not None:
        raise Error("scaled_dot_product_attention: is_causal or attn_mask is required, and not both")
    if not enable_gqa and query.ndim > 2 and query.shape[-3] != key.shape[-3]:
        raise Error(
            f"scaled_dot_product_attention: {query.shape[-3]} heads of keys are required, got {key.shape[-3]}: "
            "enable_gqa=True shares them"
        )
    if is_causal:
        attn_mask = np.tril(np.ones((query.shape[-2], key.shape[-2]), bool))
    own = {"scale": scale, "mask": attn_mask}
    if dropout_p > 0:
        own |= {"dropout": dropout_p, "dropout_key": default_generator.next()}
    heads = query.shape[:-2]  # (B, H)
    q, k, v = (x if len(heads) == 2 else x.reshape(-1, 1, *x.shape[-2:]) for x in (query, key, value))
    y = _inkling.attention(q, k, v, **own)
    return y.reshape(*heads, *y.shape[-2:])
