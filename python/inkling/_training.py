"""Training, the same as `inkling train`."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Callable, Iterable

from . import _inkling

@dataclass
class TrainResult:
    """The result of a run. Its files are in `out`."""

    out: Path
    stop_reason: str  # 'max_iters', 'max_time', 'patience', 'interrupted'; 'none': nothing was trained

    @cached_property
    def metrics(self) -> dict[str, list[float]]:
        """metrics.jsonl: a list for each key, NaN where a line has none (val_loss between evaluations)."""
        with open(self.out / "metrics.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        keys = {key: None for line in lines for key in line}  # in their order
        return {key: [line.get(key, math.nan) for line in lines] for key in keys}

    @property
    def best_val_loss(self) -> float:
        """The lowest validation loss, in nats per token; NaN without an evaluation."""
        losses = [loss for loss in self.metrics.get("val_loss", []) if not math.isnan(loss)]
        return min(losses, default=math.nan)

    @cached_property
    def model(self) -> _inkling.Model:
        """The best model of the run, else the last."""
        return _inkling.Model.from_pretrained(self.out)


def _texts(value: Any) -> list[str]:
    """The values of a flag as texts of a command line."""
    if value is None:
        return []
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (list, tuple)):
        return [text for one in value for text in _texts(one)]
    return [os.fspath(value) if isinstance(value, os.PathLike) else str(value)]


def train(
    data: str | os.PathLike | Iterable[str | os.PathLike] | None = None, *,
    callback: Callable[[dict[str, Any]], bool | None] | None = None, **flags: Any,
) -> TrainResult:
    """Trains a model on texts, or on the built-in stories.

    `flags` are those of `inkling train`, with underscores: max_iters=100, n_layer=2, out="runs/mine".
    `python -m inkling train --help-all` lists them.

    `callback(metrics)` is called after each step with step, loss, val_loss (None if it was not evaluated), lr,
    grad_norm, tok_s, train_s, elapsed_s. If it returns True or raises, the run is saved and stops; Ctrl-C does the same.
    `resume="auto"` continues the run in `out`.
    """
    if data is not None and not isinstance(data, (str, os.PathLike)):
        data = list(data)
    given = {name.replace("_", "-"): _texts(value) for name, value in {"data": data, **flags}.items()}
    out, reason = _inkling._train({name: texts for name, texts in given.items() if texts}, callback)
    return TrainResult(Path(out), reason)
