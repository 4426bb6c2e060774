"""The optimizers and learning rate schedules of `inkling train`, for parameters of any module.

    optimizer = optim.AdamW(net, lr=3e-3, weight_decay=0.1)
    schedule = optim.Schedule("cosine", steps=1000, warmup=100)
    for step in range(1000):
        optimizer.zero_grad()
        loss(net).backward()
        optim.clip_grad_norm(net, 1.0)
        optimizer.step(schedule(step))
"""

from __future__ import annotations

from typing import Any, Callable, Iterable

from ._inkling import Tensor, _optim
from ._inkling._optim import Schedule

__all__ = ["SGD", "Adam", "AdamW", "Muon", "Optimizer", "Schedule", "clip_grad_norm"]


def _tensors(parameters: Any) -> list[Tensor]:
    """The tensors of a module, a dict or a list that require a gradient."""
    if hasattr(parameters, "parameters"):
        parameters = parameters.parameters()
    if isinstance(parameters, dict):
        parameters = parameters.values()
    return [p for p in ([parameters] if isinstance(parameters, Tensor) else parameters) if p.requires_grad]


class Optimizer:
    """`parameters` is a module, a dict or list of tensors, or a list of groups: dicts of "params", "lr" and the
    group's own options, [{"params": a, "weight_decay": 0}, {"params": b, "lr": 1e-4}]. Callers may change
    param_groups[i]["lr"]."""

    def __init__(self, make: Callable[..., _optim.Group], parameters: Any, lr: float, **options: Any) -> None:
        groups = list(parameters) if isinstance(parameters, (list, tuple)) else []
        if not groups or not all(isinstance(group, dict) and "params" in group for group in groups):
            groups = [{"params": parameters}]
        self.param_groups: list[dict[str, Any]] = []
        self._groups: list[_optim.Group] = []
        for given in groups:
            group = {"lr": lr, **options, **given}
            params, rate = _tensors(group.pop("params")), group.pop("lr")
            self.param_groups.append({"params": params, "lr": rate})
            self._groups.append(make(params, **group))

    def step(self, factor: float = 1.0) -> None:
        """Updates the parameters at `factor` times each group's lr."""
        for group, own in zip(self.param_groups, self._groups):
            own.step(factor * group["lr"])

    def zero_grad(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                p.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """The optimizer's state between steps: arrays and numbers."""
        state: dict[str, Any] = {}
        for i, (group, own) in enumerate(zip(self.param_groups, self._groups)):
            state |= {f"{i}.lr": group["lr"], f"{i}.updates": own.updates}
            state |= {f"{i}.{name}": values for name, values in own.state().items()}
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for i, (group, own) in enumerate(zip(self.param_groups, self._groups)):
            own.set_state({name.removeprefix(f"{i}."): values for name, values in state.items() if name.startswith(f"{i}.")})
            group["lr"], own.updates = state[f"{i}.lr"], state[f"{i}.updates"]


class SGD(Optimizer):
    """As torch.optim.SGD: g += weight_decay p;  b = momentum b + g;  p -= lr b, or lr (g + momentum b) with nesterov."""

    def __init__(
        self, parameters: Any, lr: float = 1e-3, momentum: float = 0.0, nesterov: bool = False, weight_decay: float = 0.0
    ) -> None:
        super().__init__(_optim.sgd, parameters, lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay)


class AdamW(Optimizer):
    """As torch.optim.AdamW: weight decay applies to all parameters; a separate group can set it to 0."""

    def __init__(
        self,
        parameters: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(_optim.adamw, parameters, lr, betas=betas, eps=eps, weight_decay=weight_decay)


class Adam(Optimizer):
    """As torch.optim.Adam without weight decay; use AdamW for weight decay."""

    def __init__(
        self, parameters: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8
    ) -> None:
        super().__init__(_optim.adamw, parameters, lr, betas=betas, eps=eps, weight_decay=0.0)


class Muon(Optimizer):
    """Muon (Jordan et al. 2024) for matrices, and AdamW at `adamw_rate` times lr for all else. Embeddings and heads
    belong in a separate AdamW. scale: 'original', 'adamw' (as torch's match_rms_adamw) or 'rows'."""

    def __init__(
        self,
        parameters: Any,
        lr: float = 0.02,
        momentum: float = 0.95,
        nesterov: bool = True,
        weight_decay: float = 0.1,
        ns_steps: int = 5,
        scale: str = "original",
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        adamw_rate: float = 0.1,
    ) -> None:
        super().__init__(
            _optim.muon,
            parameters,
            lr,
            momentum=momentum,
            nesterov=nesterov,
            weight_decay=weight_decay,
            ns_steps=ns_steps,
            scale=scale,
            betas=betas,
            eps=eps,
            adamw_rate=adamw_rate,
        )


def clip_grad_norm(parameters: Any | Iterable[Tensor], max_norm: float) -> float:
    """Scales all gradients so that their norm is at most max_norm; returns the norm before scaling."""
    return _optim.clip_grad_norm(_tensors(parameters), max_norm)
