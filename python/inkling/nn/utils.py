"""torch.nn.utils."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import optim
from .._inkling import Tensor
from ..torch_methods import absent_module as __getattr__  # noqa: F401
from ..torch_names import FUNCTIONS


def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scales all gradients so that their norm is at most max_norm; returns the norm before scaling."""
    if norm_type == 2:
        return Tensor(optim.clip_grad_norm(parameters, max_norm))
    grads = [p.grad for p in optim._tensors(parameters) if p.grad is not None]
    norm = float(np.linalg.norm(np.concatenate([np.ravel(g) for g in grads] or [[0.0]]), norm_type))
    for g in grads:
        g *= min(1.0, max_norm / (norm + 1e-6))
    return Tensor(norm)


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Limits each element of the gradients to -clip_value to clip_value."""
    for p in optim._tensors(parameters):
        if p.grad is not None:
            np.clip(p.grad, -clip_value, clip_value, out=np.asarray(p.grad))


def parameters_to_vector(parameters: Any) -> Tensor:
    return FUNCTIONS["cat"]([p.flatten() for p in parameters])
