"""Training as `inkling train` does it."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Callable, Iterable

from . import _inkling

_SWITCHES = {"dry_run", "json", "quiet", "force"}  # flags that have no --no-...


@dataclass
class TrainResult:
    """What became of a run. Its files are in `out`."""

    out: Path
    stop_reason: str  # 'max_iters', 'max_time', 'patience', 'interrupted'; 'none': nothing was trained

    @cached_property
    def metrics(self) -> dict[str, list[float]]:
        """What metrics.jsonl holds: a list for each key, NaN where a line has none (val_loss between evaluations)."""
        with open(self.out / "metrics.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        keys = {key: None for line in lines for key in line}  # in their order
        return {key: [line.get(key, math.nan) for line in lines] for key in keys}

    @property
    def best_val_loss(self) -> float:
        """The lowest validation loss, in nats per token; NaN when there was no evaluation."""
        losses = [loss for loss in self.metrics.get("val_loss", []) if not math.isnan(loss)]
        return min(losses, default=math.nan)

    @cached_property
    def model(self) -> _inkling.Model:
        """The best model of the run, else the last."""
        return _inkling.Model.from_pretrained(self.out)


def _flags(name: str, value: Any) -> list[str]:
    flag = "--" + name.replace("_", "-")
    if value is None or (value is False and name in _SWITCHES):
        return []
    if isinstance(value, bool):
        return [flag if value else "--no-" + flag[2:]]
    if isinstance(value, (list, tuple)):
        return [part for one in value for part in _flags(name, one)]
    return [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]


def train(
    data: str | os.PathLike | Iterable[str | os.PathLike] | None = None,
    *,
    callback: Callable[[dict[str, Any]], bool | None] | None = None,
    **flags: Any,
) -> TrainResult:
    """Trains a model on texts, or on the built-in stories.

    `flags` are those of `inkling train`, with underscores: max_iters=100, n_layer=2, out="runs/mine". What they are is
    shown by `python -m inkling train --help-all`.

    `callback(metrics)` is called after each step with step, loss, val_loss (None where it was not evaluated), lr,
    grad_norm, tok_s, train_s, elapsed_s. When it returns True, or raises, the run is saved and stops; Ctrl-C does the
    same. `resume="auto"` goes on.
    """
    if data is not None and not isinstance(data, (str, os.PathLike)):
        data = list(data)
    arguments = _flags("data", data)
    for name, value in flags.items():
        arguments += _flags(name, value)
    out, reason = _inkling._train(arguments, callback)
    return TrainResult(Path(out), reason)
