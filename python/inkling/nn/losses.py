"""The losses of torch.nn.functional, in which classes are axis 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _inkling
from .._inkling import Error, Tensor


def _classes_last(x: Tensor) -> Tensor:
    return x if x.ndim <= 2 else x.permute((0, *range(2, x.ndim), 1))


def _weights(weight: Any) -> list[float]:
    return [] if weight is None else weight.tolist()


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0) -> Tensor:
    """input (N, C, ...) or (C), target: ids (N, ...), or probabilities of input's shape."""
    how = {"weight": _weights(weight), "reduction": reduction, "label_smoothing": label_smoothing}
    if isinstance(target, Tensor):
        return _inkling.cross_entropy(_classes_last(input), _classes_last(target), **how)
    return _inkling.cross_entropy(_classes_last(input), target, ignore=ignore_index, **how)


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean") -> Tensor:
    return _inkling.nll_loss(_classes_last(input), target, _weights(weight), ignore_index, reduction)


def _reduced(loss: Tensor, reduction: str, weight: Any = None) -> Tensor:
    if reduction not in ("mean", "sum", "none"):
        raise Error(f"reduction: expected mean, sum or none, got '{reduction}'")
    loss = loss if weight is None else loss * weight
    return loss if reduction == "none" else getattr(loss, reduction)()


def _difference(name: str, input: Tensor, target: Any) -> Tensor:
    if input.shape != target.shape:
        raise Error(f"{name}: expected equal shapes, got {input.shape} and {target.shape}")
    return input - target


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return _inkling.mse_loss(input, target, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return _reduced(_difference("l1_loss", input, target).abs(), reduction)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """d^2 / 2 for a difference |d| <= delta, delta (|d| - delta / 2) beyond."""
    if not delta > 0:
        raise Error(f"huber_loss: expected a delta above 0, got {delta}")
    d = _difference("huber_loss", input, target).abs()
    return _reduced(_inkling.where(d.numpy() <= delta, d * d / 2, delta * (d - delta / 2)), reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    return l1_loss(input, target, reduction) if beta == 0 else huber_loss(input, target, reduction, beta) / beta


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target (ln target - input), input and, with log_target, target being logarithms."""
    if log_target:
        loss = target.exp() * -_difference("kl_div", input, target)
    else:
        some = target.numpy() != 0
        logs = _inkling.where(some, target, 1.0).log()
        loss = _inkling.where(some, target * -_difference("kl_div", input, logs), 0.0)
    return _reduced(loss, "sum") / (input.shape or (1,))[0] if reduction == "batchmean" else _reduced(loss, reduction)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean") -> Tensor:
    """-t ln p - (1 - t) ln(1 - p) for probabilities p, with logarithms of at least -100, and the gradient
    (p - t) / 1e-12 where p (1 - p) is below 1e-12."""
    slope = _difference("binary_cross_entropy", input, target).detach() / 1e-12
    p = input.numpy()
    if not ((p >= 0) & (p <= 1)).all():
        raise Error(f"binary_cross_entropy: expected probabilities, got {p[~((p >= 0) & (p <= 1))][0]}")
    inside = p * (1 - p) >= 1e-12
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(p), -100), np.maximum(np.log1p(-p), -100)
    at_edge = slope * (input - input.detach()) - target * logs[0] - (1 - target) * logs[1]
    safe = _inkling.where(inside, input, 0.5)
    loss = _inkling.where(inside, -(target * safe.log() + (1 - target) * (-safe).log1p()), at_edge)
    return _reduced(loss, reduction, weight)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    if pos_weight is None:
        loss = _inkling.binary_cross_entropy_with_logits(input, target, reduction if weight is None else "none")
        return loss if weight is None else _reduced(loss, reduction, weight)
    _difference("binary_cross_entropy_with_logits", input, target)
    loss = -(pos_weight * target * input.logsigmoid() + (1 - target) * (-input).logsigmoid())
    return _reduced(loss, reduction, weight)


__all__ = [name for name, f in globals().items() if getattr(f, "__module__", "") == __name__ and name[0] != "_"]
