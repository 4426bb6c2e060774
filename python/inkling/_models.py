"""Reads and replaces values inside a model while it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._inkling import Tensor, concatenate


def _change(x: Tensor, change: Any) -> Tensor:
    """x (B, T, ...) as a value of Model.run's `patch` changes it: a function of it, an array in its place, or either for
    some positions alone, as (positions, change)."""
    if isinstance(change, tuple):
        positions, change = change
        old = x[:, positions]
        new = _change(old, change)
        n = x.shape[1]
        rows = np.arange(n)
        count = rows[positions].size
        rows[positions] = n + np.arange(count).reshape(rows[positions].shape)
        return concatenate([x, new.reshape(x.shape[0], count, *x.shape[2:])], 1)[:, rows]
    y = change(x) if callable(change) else change
    return (y if isinstance(y, Tensor) else Tensor(np.array(y, np.float32))).expand(x.shape)
