"""torch.nn.utils."""

from __future__ import annotations

from typing import Any

from .._inkling import Tensor
from ..optim import clip_grad_norm


def clip_grad_norm_(parameters: Any, max_norm: float) -> Tensor:
    return Tensor(clip_grad_norm(parameters, max_norm))
