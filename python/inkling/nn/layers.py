"""torch.nn's layers that the library itself does not have, with PyTorch's arguments and initial values."""

from __future__ import annotations

import inspect
import math
import types
from typing import Any, Callable

import numpy as np

from .. import _inkling, torch_creation
from .._inkling import Error, Tensor
from . import Module, functional, init


def Parameter(data: Tensor, requires_grad: bool = True) -> Tensor:
    """A leaf over data's memory. A Module's parameters are its tensors that require a gradient."""
    return Tensor(data.detach(), requires_grad=requires_grad)


# Layers that are functions: the arguments of a class are those of its function behind the inputs.


def _identity(x: Any) -> Any:
    return x


def _flatten(x: Tensor, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    return x.flatten(start_dim, end_dim)


def _layer(name: str, function: Callable, inputs: int) -> type:
    plain = isinstance(function, types.FunctionType)  # ops of C++ have no arguments behind x
    signature = inspect.signature(function if plain else _identity)
    options = list(signature.parameters)[inputs:]

    def __init__(self: Module, *arguments: Any, **named: Any) -> None:
        vars(self).update(list(signature.bind(*[None] * inputs, *arguments, **named).arguments.items())[inputs:])

    def forward(self: Module, *x: Any) -> Any:
        return function(*x, **{option: vars(self)[option] for option in options if option in vars(self)})

    return type(name, (Module,), {"__init__": __init__, "forward": forward, "__module__": __name__})


_F = functional
for _name, _function in {
    "Identity": _identity,
    "Flatten": _flatten,
    "ReLU": _F.relu,
    "ReLU6": _F.relu6,
    "LeakyReLU": _F.leaky_relu,
    "ELU": _F.elu,
    "CELU": _F.celu,
    "SELU": _F.selu,
    "GELU": _F.gelu,
    "SiLU": _F.silu,
    "Mish": _F.mish,
    "Hardswish": _F.hardswish,
    "Hardtanh": _F.hardtanh,
    "Tanh": _F.tanh,
    "Sigmoid": _F.sigmoid,
    "Softplus": _F.softplus,
    "Softmax": _F.softmax,
    "LogSoftmax": _F.log_softmax,
    "MaxPool2d": _F.max_pool2d,
    "AvgPool2d": _F.avg_pool2d,
    "AdaptiveAvgPool2d": _F.adaptive_avg_pool2d,
    "Upsample": _F.interpolate,
}.items():
    globals()[_name] = _layer(_name, _function, inputs=1)
for _name, _function in {
    "CrossEntropyLoss": _F.cross_entropy,
    "NLLLoss": _F.nll_loss,
    "MSELoss": lambda input, target, reduction="mean": _F.mse_loss(input, target, reduction),
    "L1Loss": _F.l1_loss,
    "SmoothL1Loss": _F.smooth_l1_loss,
    "HuberLoss": _F.huber_loss,
    "KLDivLoss": _F.kl_div,
    "BCELoss": _F.binary_cross_entropy,
    "BCEWithLogitsLoss": _F.binary_cross_entropy_with_logits,
}.items():
    globals()[_name] = _layer(_name, _function, inputs=2)


# Layers with parameters.


def _uniform(bound: float, *shape: int) -> Tensor:
    return init.uniform_(Tensor.zeros(shape, requires_grad=True), -bound, bound)


class _Convolution(Module):
    axes = 2
    function = staticmethod(functional.conv2d)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        window = np.broadcast_to(kernel_size, self.axes).tolist()
        bound = 1 / math.sqrt(in_channels // groups * math.prod(window))
        self.weight = _uniform(bound, out_channels, in_channels // groups, *window)
        self.bias = _uniform(bound, out_channels) if bias else None
        self.options = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)

    def forward(self, x: Tensor) -> Tensor:
        return type(self).function(x, self.weight, self.bias, **self.options)


class Conv2d(_Convolution):
    """weight (O, C / groups, Kh, Kw), bias (O)"""


class Conv1d(_Convolution):
    """weight (O, C / groups, K), bias (O)"""

    axes = 1
    function = staticmethod(functional.conv1d)


class ConvTranspose2d(Module):
    """weight (C, O / groups, Kh, Kw), bias (O)"""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
    ) -> None:
        window = np.broadcast_to(kernel_size, 2).tolist()
        bound = 1 / math.sqrt(out_channels // groups * math.prod(window))
        self.weight = _uniform(bound, in_channels, out_channels // groups, *window)
        self.bias = _uniform(bound, out_channels) if bias else None
        self.options = dict(
            stride=stride, padding=padding, output_padding=output_padding, groups=groups, dilation=dilation
        )

    def forward(self, x: Tensor) -> Tensor:
        return functional.conv_transpose2d(x, self.weight, self.bias, **self.options)


class BatchNorm1d(Module):
    """(x - mean) / sqrt(variance + eps) weight + bias for each channel of x (N, C, ...): over the batch in training,
    where running_mean and running_var follow it, and by these in eval()."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True) -> None:
        self.eps, self.momentum = eps, momentum
        self.weight = Tensor.ones(num_features, requires_grad=True) if affine else None
        self.bias = Tensor.zeros(num_features, requires_grad=True) if affine else None
        self.running_mean, self.running_var = Tensor.zeros(num_features), Tensor.ones(num_features)

    ranks = (2, 3)

    def _ignored(self) -> list[str]:
        return ["num_batches_tracked"]

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim not in self.ranks or x.shape[1] != self.running_mean.size:
            raise Error(
                f"BatchNorm: x (N, {int(self.running_mean.size)}, ...) of {self.ranks} axes is required, got {x.shape}"
            )
        of_channels = (1, -1, *[1] * (x.ndim - 2))
        mean, variance = self.running_mean.reshape(of_channels), self.running_var.reshape(of_channels)
        if self.training:
            axes = (0, *range(2, x.ndim))
            count = x.size // x.shape[1]
            if count < 2:
                raise Error(f"BatchNorm: more than one value of a channel is required in training, got shape {x.shape}")
            mean = x.mean(dim=axes, keepdim=True)
            variance = ((x - mean) ** 2).mean(dim=axes, keepdim=True)
            for running, new in ((self.running_mean, mean), (self.running_var, variance * (count / (count - 1)))):
                running.data = (1 - self.momentum) * running + self.momentum * new.detach().flatten()
        y = (x - mean) / (variance + self.eps).sqrt()
        return y if self.weight is None else y * self.weight.reshape(of_channels) + self.bias.reshape(of_channels)


class BatchNorm2d(BatchNorm1d):
    ranks = (4,)


class LSTM(Module):
    """x (L, N, input_size), or (N, L, input_size) if batch_first, and (h, c), each (layers, N, hidden_size), zeros by
    default -> the last layer's h (..., hidden_size) for each step, and the last (h, c)."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False
    ) -> None:
        self.hidden_size, self.num_layers, self.batch_first = hidden_size, num_layers, batch_first
        bound = 1 / math.sqrt(hidden_size)
        for layer in range(num_layers):
            width = hidden_size if layer else input_size
            for name, shape in {
                "weight_ih": (4 * hidden_size, width),
                "weight_hh": (4 * hidden_size, hidden_size),
            }.items():
                setattr(self, f"{name}_l{layer}", _uniform(bound, *shape))
            for name in ("bias_ih", "bias_hh"):
                setattr(self, f"{name}_l{layer}", _uniform(bound, 4 * hidden_size) if bias else None)

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        if x.ndim == 2:
            if state is not None:
                state = tuple(s.unsqueeze(1) for s in state)
            axis = 0 if self.batch_first else 1
            y, state = self.forward(x.unsqueeze(axis), state)
            return y.squeeze(axis), tuple(s.squeeze(1) for s in state)
        time = 1 if self.batch_first else 0
        if state is None:
            state = (torch_creation.zeros(self.num_layers, x.shape[1 - time], self.hidden_size, dtype=x.dtype),) * 2
        last = []
        for layer in range(self.num_layers):
            w_x, w_h, b_x, b_h = (
                getattr(self, f"{p}_l{layer}") for p in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            h, c = state[0][layer], state[1][layer]
            outputs = []
            for of_x in functional.linear(x, w_x, b_x).unbind(time):
                i, f, g, o = (of_x + functional.linear(h, w_h, b_h)).chunk(4, -1)
                c = f.sigmoid() * c + i.sigmoid() * g.tanh()
                h = o.sigmoid() * c.tanh()
                outputs.append(h)
            x = _inkling.stack(outputs, time)
            last.append((h, c))
        return x, tuple(_inkling.stack(part) for part in zip(*last))


__all__ = [name for name, value in globals().items() if getattr(value, "__module__", "") == __name__ and name[0] != "_"]
