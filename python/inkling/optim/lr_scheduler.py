"""torch.optim.lr_scheduler: each step() of a scheduler sets lr in the optimizer's groups. All but LambdaLR
multiply the lr that is there, so that several schedulers act together."""

from __future__ import annotations

import math
from typing import Any, Callable

from .._inkling import Error
from ..torch_methods import absent_module as __getattr__  # noqa: F401
from . import Optimizer


class LambdaLR:
    """lr = initial lr * lr_lambda(epoch)"""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float], last_epoch: int = -1) -> None:
        self.optimizer, self.factor, self.last_epoch = optimizer, lr_lambda, last_epoch
        self.base_lrs = [group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups]
        self.step()

    def lr(self, lr: float, base: float) -> float:
        return base * self.factor(self.last_epoch)

    def step(self) -> None:
        self.last_epoch += 1
        for group, base in zip(self.optimizer.param_groups, self.base_lrs):
            group["lr"] = self.lr(group["lr"], base)

    def get_last_lr(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        return {"last_epoch": self.last_epoch, "base_lrs": self.base_lrs}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The optimizer's own state has its lr."""
        self.last_epoch, self.base_lrs = state["last_epoch"], state["base_lrs"]


class MultiplicativeLR(LambdaLR):
    """lr *= lr_lambda(epoch), from epoch 1 on"""

    def lr(self, lr: float, base: float) -> float:
        return lr * self.factor(self.last_epoch) if self.last_epoch > 0 else lr


def _multiplying(name: str, factor: Callable[..., Callable[[int], float]]) -> type:
    def __init__(self: LambdaLR, optimizer: Optimizer, *options: Any, **named: Any) -> None:
        MultiplicativeLR.__init__(self, optimizer, factor(*options, **named))

    return type(name, (MultiplicativeLR,), {"__init__": __init__, "__module__": __name__})


MultiStepLR = _multiplying("MultiStepLR", lambda milestones, gamma=0.1: lambda epoch: gamma ** list(milestones).count(epoch))
StepLR = _multiplying("StepLR", lambda step_size, gamma=0.1: lambda epoch: 1.0 if epoch % step_size else gamma)
ExponentialLR = _multiplying("ExponentialLR", lambda gamma: lambda epoch: gamma)


class LinearLR(MultiplicativeLR):
    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5
    ) -> None:
        if not 0 < start_factor <= 1:
            raise Error(f"LinearLR: expected a start_factor above 0 and at most 1, got {start_factor}")

        def factor(epoch: int) -> float:
            return start_factor + (end_factor - start_factor) * min(epoch, total_iters) / total_iters

        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
            group["lr"] *= start_factor
        super().__init__(optimizer, lambda epoch: factor(epoch) / factor(epoch - 1))


class CosineAnnealingLR(LambdaLR):
    """eta_min + (initial lr - eta_min) (1 + cos(pi epoch / T_max)) / 2"""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:
        self.eta_min = eta_min
        super().__init__(optimizer, lambda epoch: (1 + math.cos(math.pi * epoch / T_max)) / 2)

    def lr(self, lr: float, base: float) -> float:
        if self.last_epoch == 0:
            return lr
        before, now = self.factor(self.last_epoch - 1), self.factor(self.last_epoch)
        if before < 1e-12:  # at the lowest point
            return lr + (base - self.eta_min) * now
        return self.eta_min + (lr - self.eta_min) * now / before
