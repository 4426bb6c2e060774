"""torch.autograd: gradients as values, which may have gradients themselves, and ops of one's own. jacobian, hessian, jvp
and hvp are in C++."""

from __future__ import annotations

from collections.abc import Sequence

from . import _inkling, _tensors
from ._inkling import Tensor
from .torch_methods import set_grad_enabled

__all__ = ["Function", "grad", "set_grad_enabled"]


class Function(_tensors.Function):
    """An inkling.Function over tensors without a graph, in place of NumPy arrays."""

    _value, _gradient = staticmethod(Tensor.detach), staticmethod(Tensor)


def grad(
    outputs: Tensor | Sequence[Tensor], inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None, create_graph: bool = False,
    retain_graph: bool | None = None,
) -> tuple[Tensor, ...]:
    """Like torch.autograd.grad: returns the gradient of the sum of outputs * grad_outputs for each input, zeros for an
    input that it does not depend on. Leaves x.grad alone. With create_graph the gradients have a graph of their own."""
    outputs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    weights = [grad_outputs] if grad_outputs is None or isinstance(grad_outputs, Tensor) else list(grad_outputs)
    if grad_outputs is None:
        weights *= len(outputs)
    if not outputs or len(weights) != len(outputs):
        raise ValueError(f"grad: expected as many grad_outputs as outputs, got {len(weights)} and {len(outputs)}")
    y, dy = outputs[0], weights[0]
    if len(outputs) > 1:
        y, dy = sum((o if w is None else (o * w).sum() for o, w in zip(outputs, weights)), 0), None
    keep = create_graph if retain_graph is None else retain_graph
    return tuple(_inkling._gradients(y, inputs, dy, create_graph, keep))
