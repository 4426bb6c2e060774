"""torch.nn's layers that the library itself does not have, with PyTorch's arguments and initial values."""

from __future__ import annotations

import inspect
import math
import re
import types
from typing import Any, Callable

import numpy as np

from .. import _inkling, torch_creation
from .._inkling import Error, Tensor
from . import Module, init
from . import functional as F


class _ParameterType(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.is_leaf and x.requires_grad


class Parameter(metaclass=_ParameterType):
    """A leaf over data's memory. A Module's parameters are its tensors that require a gradient."""

    def __new__(cls, data: Tensor, requires_grad: bool = True) -> Tensor:
        return Tensor(data.detach(), requires_grad=requires_grad)


# Layers that are functions: the arguments of a class are those of its function behind the inputs.


def _layer(name: str, function: Callable, inputs: int = 1) -> type:
    plain = isinstance(function, types.FunctionType)  # ops of C++ have no arguments behind x
    signature = inspect.signature(function if plain else lambda x: x)
    options = [*signature.parameters][inputs:]

    def __init__(self, *arguments, **named):
        vars(self).update([*signature.bind(*[None] * inputs, *arguments, **named).arguments.items()][inputs:])

    def forward(self, *x):
        return function(*x, **{option: vars(self)[option] for option in options if option in vars(self)})

    return type(name, (Module,), {"__init__": __init__, "forward": forward, "__module__": __name__})


for _names, _ending, _inputs in (
    ("MaxPool2d AvgPool2d AdaptiveAvgPool2d LogSoftmax LeakyReLU ReLU ReLU6 ELU CELU SELU GELU GLU SiLU Mish", "", 1),
    ("LogSigmoid Hardswish Hardsigmoid Hardtanh Tanh Sigmoid Softplus Softsign Softmax Softmin", "", 1),
    ("MSELoss NLLLoss L1Loss SmoothL1Loss HuberLoss", "_loss", 2),
):
    for _name in _names.split():
        _own = re.sub("(Max|Avg|Adaptive|Log|Leaky|Smooth)(?=[A-Z])(?!Sig)", r"\1_", _name.removesuffix("Loss")).lower()
        globals()[_name] = _layer(_name, getattr(F, _own + _ending), _inputs)
CrossEntropyLoss, KLDivLoss = _layer("CrossEntropyLoss", F.cross_entropy, 2), _layer("KLDivLoss", F.kl_div, 2)
BCELoss = _layer("BCELoss", F.binary_cross_entropy, 2)
BCEWithLogitsLoss = _layer("BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, 2)
CosineSimilarity, Upsample = _layer("CosineSimilarity", F.cosine_similarity, 2), _layer("Upsample", F.interpolate)
Flatten = _layer("Flatten", lambda x, start_dim=1, end_dim=-1: x.flatten(start_dim, end_dim))
Unflatten = _layer("Unflatten", lambda x, dim, unflattened_size: x.unflatten(dim, unflattened_size))


class Identity(Module):
    """x, whatever the arguments are."""

    __init__ = lambda self, *arguments, **named: None  # noqa: E731

    def forward(self, x):
        return x


# Layers with parameters.


def _uniform(bound: float, *shape: int, dtype: str = "float32") -> Tensor:
    return init.uniform_(torch_creation.zeros(shape, dtype=dtype, requires_grad=True), -bound, bound)


def _ones_and_zeros(shape: Any, affine: bool, bias: bool = True, dtype: str = "float32") -> tuple:
    """weight and bias of a normalization"""
    options = dict(dtype=dtype, requires_grad=True)
    return (
        torch_creation.ones(shape, **options) if affine else None,
        torch_creation.zeros(shape, **options) if affine and bias else None,
    )


class LayerNorm(Module):
    """LayerNorm over the last axes, of these sizes."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype="float32"):
        self.normalized_shape = tuple(np.atleast_1d(normalized_shape).tolist())
        self.eps, (self.weight, self.bias) = eps, _ones_and_zeros(self.normalized_shape, elementwise_affine, bias, dtype)

    def forward(self, x):
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(LayerNorm):
    """RMSNorm over the last axes; eps is that of x's dtype if it is None."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype="float32"):
        super().__init__(normalized_shape, eps, elementwise_affine, bias=False, dtype=dtype)

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Module):
    """LayerNorm over each of the groups of channels of x (N, C, ...)"""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True):
        self.num_groups, self.eps, (self.weight, self.bias) = num_groups, eps, _ones_and_zeros(num_channels, affine)

    def forward(self, x):
        return F.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)


class BatchNorm1d(Module):
    """(x - mean) / sqrt(variance + eps) weight + bias for each channel of x (N, C, ...): over the batch in training,
    where running_mean and running_var follow it, and by these in eval(). With momentum None they are means of all."""

    ranks = (2, 3)

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True):
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight, self.bias = _ones_and_zeros(num_features, affine)
        self.running_mean = torch_creation.zeros(num_features) if track_running_stats else None
        self.running_var = torch_creation.ones(num_features) if track_running_stats else None
        self.register_buffer("num_batches_tracked", torch_creation.tensor(0), persistent=momentum is None)

    def _ignored(self) -> list[str]:
        return ["num_batches_tracked"]

    def forward(self, x):
        if x.ndim not in self.ranks or x.shape[1] != self.num_features:
            raise Error(f"BatchNorm: expected x (N, {self.num_features}, ...) of {self.ranks} axes, got {x.shape}")
        momentum, training = self.momentum, self.training or self.running_mean is None
        if self.training:
            self.num_batches_tracked += 1
            momentum = 1 / int(self.num_batches_tracked) if momentum is None else momentum
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, training, momentum, self.eps)


class BatchNorm2d(BatchNorm1d):
    ranks = (4,)


class _Convolution(Module):
    axes, transposed = 2, False
    function = staticmethod(F.conv2d)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, **more
    ):
        if padding_mode != "zeros":
            raise Error(f"padding_mode: expected zeros, got '{padding_mode}': write F.pad(x, ..., mode=) before it")
        window = np.broadcast_to(kernel_size, self.axes).tolist()
        channels = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        bound = 1 / math.sqrt(channels[1] // groups * math.prod(window))
        self.weight = _uniform(bound, channels[0], channels[1] // groups, *window)
        self.bias = _uniform(bound, out_channels) if bias else None
        self.options = dict(stride=stride, padding=padding, dilation=dilation, groups=groups, **more)

    def forward(self, x):
        return self.function(x, self.weight, self.bias, **self.options)


class Conv2d(_Convolution):
    """weight (O, C / groups, Kh, Kw), bias (O)"""


class Conv1d(_Convolution):
    """weight (O, C / groups, K), bias (O)"""

    axes = 1
    function = staticmethod(F.conv1d)


class ConvTranspose2d(_Convolution):
    """weight (C, O / groups, Kh, Kw), bias (O)"""

    transposed = True
    function = staticmethod(F.conv_transpose2d)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1
    ):
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, output_padding=output_padding
        )


class LSTM(Module):
    """x (L, N, input_size), or (N, L, input_size) if batch_first, or of one example (L, input_size), and (h, c), each
    (layers * directions, N, hidden_size), zeros by default -> the last layer's h (..., hidden_size * directions) for
    each step, and the last (h, c)."""

    gates, states = 4, 2

    def __init__(
        self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False
    ):
        self.hidden_size, self.num_layers, self.batch_first = hidden_size, num_layers, batch_first
        self.dropout, self.directions = dropout, ("", "_reverse")[: 1 + bidirectional]
        for layer in range(num_layers):
            width = hidden_size * len(self.directions) if layer else input_size
            for direction in self.directions:
                self._add_cell(f"_l{layer}{direction}", width, hidden_size, bias)

    def _add_cell(self, suffix, input_size, hidden_size, bias):
        rows, bound = self.gates * hidden_size, 1 / math.sqrt(hidden_size)
        for name, shape in {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size)}.items():
            setattr(self, name + suffix, _uniform(bound, *shape))
        for name in ("bias_ih", "bias_hh"):
            setattr(self, name + suffix, _uniform(bound, rows) if bias else None)

    def _of(self, what, suffix):
        return getattr(self, f"weight_{what}{suffix}"), getattr(self, f"bias_{what}{suffix}")

    def _step(self, of_x, of_h, h, c):
        i, f, g, o = (of_x + of_h).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c

    def _last(self, state):
        return state

    def _zeros(self, *shape, dtype):
        return (torch_creation.zeros(shape, dtype=dtype),) * self.states

    def forward(self, x, state=None):
        state = (state,) if isinstance(state, Tensor) else state
        if x.ndim == 2:
            axis = 0 if self.batch_first else 1
            y, last = LSTM.forward(self, x.unsqueeze(axis), state and tuple(s.unsqueeze(1) for s in state))
            return y.squeeze(axis), last.squeeze(1) if isinstance(last, Tensor) else tuple(s.squeeze(1) for s in last)
        time, cells, last = int(self.batch_first), self.num_layers * len(self.directions), []
        state = state or self._zeros(cells, x.shape[1 - time], self.hidden_size, dtype=x.dtype)
        for layer in range(self.num_layers):
            both = []
            for back, direction in enumerate(self.directions):
                suffix, now, outputs = f"_l{layer}{direction}", tuple(s[len(last)] for s in state), []
                steps = F.linear(x, *self._of("ih", suffix)).unbind(time)
                for of_x in reversed(steps) if back else steps:
                    now = self._step(of_x, F.linear(now[0], *self._of("hh", suffix)), *now)
                    outputs.append(now[0])
                both.append(_inkling.stack(outputs[::-1] if back else outputs, time))
                last.append(now)
            x = _inkling.concatenate(both, -1)
            if layer + 1 < self.num_layers:
                x = F.dropout(x, self.dropout, self.training)
        return x, self._last(tuple(_inkling.stack(part) for part in zip(*last)))


class GRU(LSTM):
    """As LSTM, with h in place of (h, c)."""

    gates, states = 3, 1

    def _step(self, of_x, of_h, h):
        (r, z, n), (h_r, h_z, h_n) = of_x.chunk(3, -1), of_h.chunk(3, -1)
        z = (z + h_z).sigmoid()
        return ((1 - z) * (n + (r + h_r).sigmoid() * h_n).tanh() + z * h,)

    def _last(self, state):
        return state[0]


class RNN(GRU):
    """As GRU, h = tanh(...) or relu(...)"""

    gates = 1

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", *arguments, **named):
        self.nonlinearity = nonlinearity
        super().__init__(input_size, hidden_size, num_layers, *arguments, **named)

    def _step(self, of_x, of_h, h):
        return (getattr(of_x + of_h, self.nonlinearity)(),)


class LSTMCell(LSTM):
    """One step: x (N, input_size) and (h, c), each (N, hidden_size) -> (h, c)"""

    def __init__(self, input_size, hidden_size, bias=True):
        self.hidden_size = hidden_size
        self._add_cell("", input_size, hidden_size, bias)

    def forward(self, x, state=None):
        state = (state,) if isinstance(state, Tensor) else state or self._zeros(*x.shape[:-1], self.hidden_size, dtype=x.dtype)
        return self._last(self._step(F.linear(x, *self._of("ih", "")), F.linear(state[0], *self._of("hh", "")), *state))


class GRUCell(LSTMCell, GRU):
    """One step: x (N, input_size) and h (N, hidden_size) -> h"""


class PReLU(Module):
    """x, or weight x where x <= 0, weight (num_parameters), of channels if more than 1."""

    def __init__(self, num_parameters=1, init=0.25):
        self.weight = torch_creation.full((num_parameters,), init, requires_grad=True)

    def forward(self, x):
        return F.prelu(x, self.weight)


__all__ = [name for name, value in globals().items() if getattr(value, "__module__", "") == __name__ and name[0] != "_"]
