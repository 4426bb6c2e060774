"""torch.nn.init: fills parameters, with default_generator's numbers unless another is given."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from .._inkling import Error, Generator, Tensor
from ..torch_methods import absent_module as __getattr__  # noqa: F401


def constant_(tensor: Tensor, val: float) -> Tensor:
    tensor.data[...] = val
    return tensor


def zeros_(tensor: Tensor) -> Tensor:
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    return constant_(tensor, 1)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    tensor.data.uniform_(a, b, generator=generator)
    return tensor


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    tensor.data.normal_(mean, std, generator=generator)
    return tensor


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers between a and b: others are drawn again."""
    normal_(tensor, mean, std, generator)
    while (outside := (tensor.data < a) | (tensor.data > b)).any():
        tensor.data[outside] = normal_(Tensor(tensor.numpy().copy()), mean, std, generator).numpy()[outside]
    return tensor


def eye_(tensor: Tensor) -> Tensor:
    tensor.data[...] = np.eye(*tensor.shape)
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Orthonormal rows or columns, of the tensor as a matrix (size of axis 0, all else)."""
    matrix = normal_(Tensor(np.zeros((tensor.shape[0], math.prod(tensor.shape[1:])))), generator=generator).numpy()
    q, r = np.linalg.qr(matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T)
    q = q * np.sign(np.diag(r))
    tensor.data[...] = gain * (q if matrix.shape[0] >= matrix.shape[1] else q.T).reshape(tensor.shape)
    return tensor


def _fans(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise Error(f"init: expected a tensor of at least 2 axes, got shape {tensor.shape}")
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    slope = 0.01 if param is None else param
    gains = {"relu": math.sqrt(2), "leaky_relu": math.sqrt(2 / (1 + slope**2)), "tanh": 5 / 3, "selu": 0.75}
    gains |= {name: 1.0 for name in ("linear", "conv1d", "conv2d", "conv3d", "sigmoid")}
    if nonlinearity not in gains:
        raise Error(f"init: {', '.join(gains)} is required as nonlinearity, got '{nonlinearity}'")
    return gains[nonlinearity]


def _scaled(uniform: bool, std: Callable[..., float]) -> Callable[..., Tensor]:
    """Fills with numbers of the standard deviation that `std` computes."""

    def fill(tensor: Tensor, *options: Any, generator: Generator | None = None, **named: Any) -> Tensor:
        size = std(tensor, *options, **named)
        bound = math.sqrt(3) * size
        return uniform_(tensor, -bound, bound, generator) if uniform else normal_(tensor, 0, size, generator)

    return fill


def _xavier(tensor: Tensor, gain: float = 1.0) -> float:
    return gain * math.sqrt(2 / sum(_fans(tensor)))


def _kaiming(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> float:
    if mode not in ("fan_in", "fan_out"):
        raise Error(f"init: expected mode fan_in or fan_out, got '{mode}'")
    return calculate_gain(nonlinearity, a) / math.sqrt(_fans(tensor)[mode == "fan_out"])


xavier_uniform_, xavier_normal_ = _scaled(True, _xavier), _scaled(False, _xavier)
kaiming_uniform_, kaiming_normal_ = _scaled(True, _kaiming), _scaled(False, _kaiming)
