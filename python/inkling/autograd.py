"""torch.autograd."""

from __future__ import annotations

from . import _tensors
from ._derivatives import grad
from ._inkling import Tensor
from .torch_methods import set_grad_enabled

__all__ = ["Function", "grad", "set_grad_enabled"]


class Function(_tensors.Function):
    """An inkling.Function over tensors without a graph, in place of NumPy arrays."""

    _value, _gradient = staticmethod(Tensor.detach), staticmethod(Tensor)
