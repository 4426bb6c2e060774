"""Arrays, dtypes and sizes with PyTorch's spellings; torch_methods.py gives them more methods."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from ._inkling import Error, Tensor

DTYPES = {name: name for name in ("float32", "float64", "int64", "int32", "uint8", "bool")}
DTYPES |= {"float": "float32", "double": "float64", "long": "int64", "int": "int32"}
FLOATS = ("float32", "float64")


class device(str):
    """Always 'cpu'."""

    def __new__(cls, name: Any = "cpu") -> device:
        if str(name).split(":")[0] != "cpu":
            raise Error(f"device: expected cpu, got {name}: Inkling computes on the CPU alone")
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
    """A NumPy array for ids, masks, x.grad and x.data. Its methods are PyTorch's; NumPy's functions take it as NumPy's
    arrays: x.nonzero() is a matrix, np.nonzero(x) a tuple."""

    data = property(lambda self: self)

    def __array_function__(self, function: Callable, types: Any, arguments: Any, named: Any) -> Any:
        return as_arrays(function(*_plain(arguments), **_plain(named)))

    def float(self) -> Tensor:
        return Tensor(self, dtype="float32")

    def double(self) -> Tensor:
        return Tensor(self, dtype="float64")

    def view(self, *shape: Any) -> Any:
        return self.reshape(*shape) if isinstance(shape[0], (int, tuple, list)) else super().view(*shape)

    def nonzero(self, as_tuple: bool = False) -> Any:
        return np.nonzero(self) if as_tuple else np.argwhere(self)


def _plain(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return type(x)(map(_plain, x))
    if isinstance(x, dict):
        return {name: _plain(value) for name, value in x.items()}
    return x.view(np.ndarray) if isinstance(x, Array) else x


def as_arrays(y: Any) -> Any:
    """y, whose NumPy arrays become Arrays."""
    if isinstance(y, tuple):
        return tuple(map(as_arrays, y))
    return y.view(Array) if isinstance(y, np.ndarray) else y
