"""torch.optim.lr_scheduler: each step() of a scheduler sets lr in the optimizer's groups."""

from __future__ import annotations

import bisect
import math
from typing import Any, Callable

from . import Optimizer


class LambdaLR:
    """lr = initial lr * lr_lambda(epoch); the other schedulers are functions of the epoch, too."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float], last_epoch: int = -1) -> None:
        self.optimizer, self.factor, self.last_epoch = optimizer, lr_lambda, last_epoch
        self.base_lrs = [group["lr"] for group in optimizer.param_groups]
        self.step()

    def lr(self, base: float, epoch: int) -> float:
        return base * self.factor(epoch)

    def step(self) -> None:
        self.last_epoch += 1
        for group, base in zip(self.optimizer.param_groups, self.base_lrs):
            group["lr"] = self.lr(base, self.last_epoch)

    def get_last_lr(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        return {"last_epoch": self.last_epoch, "base_lrs": self.base_lrs}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.last_epoch, self.base_lrs = state["last_epoch"] - 1, state["base_lrs"]
        self.step()


class MultiStepLR(LambdaLR):
    def __init__(self, optimizer: Optimizer, milestones: list[int], gamma: float = 0.1) -> None:
        super().__init__(optimizer, lambda epoch: gamma ** bisect.bisect_right(sorted(milestones), epoch))


class StepLR(LambdaLR):
    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        super().__init__(optimizer, lambda epoch: gamma ** (epoch // step_size))


class ExponentialLR(LambdaLR):
    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        super().__init__(optimizer, lambda epoch: gamma**epoch)


class LinearLR(LambdaLR):
    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5
    ) -> None:
        super().__init__(
            optimizer, lambda epoch: start_factor + (end_factor - start_factor) * min(epoch, total_iters) / total_iters
        )


class CosineAnnealingLR(LambdaLR):
    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:
        self.eta_min = eta_min
        super().__init__(optimizer, lambda epoch: (1 + math.cos(math.pi * epoch / T_max)) / 2)

    def lr(self, base: float, epoch: int) -> float:
        return self.eta_min + (base - self.eta_min) * self.factor(epoch)
