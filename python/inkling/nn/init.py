"""torch.nn.init: fills parameters, with default_generator's numbers unless another is given."""

from __future__ import annotations

import math
from typing import Any

from .._inkling import Error, Generator, Tensor


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


def _fans(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise Error(f"init: a tensor of at least 2 axes is required, got shape {tensor.shape}")
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    slope = 0.01 if param is None else param
    gains = {"relu": math.sqrt(2), "leaky_relu": math.sqrt(2 / (1 + slope**2)), "tanh": 5 / 3, "selu": 0.75}
    gains |= {name: 1.0 for name in ("linear", "conv1d", "conv2d", "conv3d", "sigmoid")}
    if nonlinearity not in gains:
        raise Error(f"init: {', '.join(gains)} is required as nonlinearity, got '{nonlinearity}'")
    return gains[nonlinearity]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    bound = gain * math.sqrt(6 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    return normal_(tensor, 0, gain * math.sqrt(2 / sum(_fans(tensor))), generator)


def _kaiming(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise Error(f"init: mode fan_in or fan_out is required, got '{mode}'")
    return calculate_gain(nonlinearity, a) / math.sqrt(_fans(tensor)[mode == "fan_out"])


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    bound = math.sqrt(3) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    return normal_(tensor, 0, _kaiming(tensor, a, mode, nonlinearity), generator)
