"""Arrays, dtypes and sizes with PyTorch's spellings; torch_names.py gives them more methods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._inkling import Error, Tensor

DTYPES = {name: name for name in ("float32", "float64", "int64", "int32", "uint8", "bool")}
DTYPES |= {"float": "float32", "double": "float64", "long": "int64", "int": "int32"}
FLOATS = ("float32", "float64")


class device(str):
    """Always 'cpu'."""

    def __new__(cls, name: Any = "cpu") -> device:
        if str(name).split(":")[0] != "cpu":
            raise Error(f"device: cpu is required, got {name}: Inkling computes on the CPU alone")
        return super().__new__(cls, "cpu")

    type = property(str)


class Size(int):
    """The number of elements, x.size, which is also PyTorch's x.size() and x.size(0)."""

    def __new__(cls, x: Any) -> Size:
        size = super().__new__(cls, math.prod(x.shape))
        size.shape = x.shape
        return size

    def __call__(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]


class Array(np.ndarray):
    """A NumPy array with PyTorch's methods, too: ids, masks, x.grad and x.data."""

    data = property(lambda self: self)

    def float(self) -> Tensor:
        return Tensor(self, dtype="float32")

    def double(self) -> Tensor:
        return Tensor(self, dtype="float64")

    def view(self, *shape: Any) -> Any:
        return self.reshape(*shape) if isinstance(shape[0], (int, tuple, list)) else super().view(*shape)

    def repeat(self, repeats: Any, *more: Any, axis: int | None = None) -> Any:
        return Tensor.repeat(Tensor(0.0), repeats, *more) if more else super().repeat(repeats, axis)  # which refuses it
