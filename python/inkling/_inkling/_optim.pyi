"""Optimizers."""

from collections.abc import Sequence

import inkling._inkling


class Group:
    """An optimizer of one group of parameters."""

    def step(self, params: Sequence[inkling._inkling.Tensor], learning_rate: float) -> None: ...

    @property
    def updates(self) -> int: ...

    @updates.setter
    def updates(self, arg: int, /) -> None: ...

    @property
    def missed(self) -> list[int]: ...

    @missed.setter
    def missed(self, arg: Sequence[int], /) -> None: ...

    def state(self) -> dict: ...

    def set_state(self, state: dict) -> None: ...

def adamw(params: Sequence[inkling._inkling.Tensor], betas: tuple[float, float], eps: float, weight_decay: float) -> Group: ...

def sgd(params: Sequence[inkling._inkling.Tensor], momentum: float, nesterov: bool, weight_decay: float) -> Group: ...

def muon(params: Sequence[inkling._inkling.Tensor], momentum: float, nesterov: bool, ns_steps: int, scale: str, weight_decay: float, betas: tuple[float, float], eps: float, adamw_rate: float) -> Group: ...

def identity(x: inkling._inkling.Tensor) -> int:
    """The same number for two tensors that are one parameter."""

def clip_grad_norm(params: Sequence[inkling._inkling.Tensor], max_norm: float) -> float: ...

class Schedule:
    """
    The learning rate of each step: from 0 to peak in `warmup` steps, then to floor at `steps`. kind: 'cosine', 'linear', 'wsd' (stable, then down) or 'constant'.
    """

    def __init__(self, kind: str, steps: int, warmup: int = 0, peak: float = 1.0, floor: float = 0.0, decay_fraction: float = 0.2) -> None: ...

    def __call__(self, step: int) -> float:
        """
        The learning rate of step 0, 1, ...; without a warm-up, step 0 has the peak.
        """
