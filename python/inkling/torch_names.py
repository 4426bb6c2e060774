"""PyTorch's ops under PyTorch's names, with PyTorch's arguments. axis= and keepdims= ask for NumPy's meaning."""

from __future__ import annotations

import collections
import functools
import math
import operator
from typing import Any, Callable

import numpy as np

from . import _inkling
from ._inkling import AxisError, Error, Tensor
from .torch_arrays import Array, as_arrays

Pair = collections.namedtuple("Pair", ("values", "indices"))


def renamed(f: Callable, starred: bool = False, **names: str) -> Callable:
    """f under PyTorch's names of its arguments, too; starred: permute(1, 0) is permute((1, 0))."""

    @functools.wraps(f)
    def call(x: Any, *arguments: Any, **named: Any) -> Any:
        return f(
            x, *([arguments] if starred and len(arguments) > 1 else arguments),
            **{names.get(name, name): value for name, value in named.items()},
        )

    return call


def _arrays(f: Callable) -> Callable:
    return functools.wraps(f)(lambda *arguments, **named: as_arrays(f(*arguments, **named)))


def _pair(f: Callable) -> Callable:
    return functools.wraps(f)(lambda *arguments, **named: Pair(*as_arrays(f(*arguments, **named))))


def _numpys(name: str) -> Callable:
    """NumPy's function, whose result is an Array, under PyTorch's names of its arguments."""
    own = renamed(getattr(np, name), dim="axis", keepdim="keepdims")
    return lambda x, *rest, **named: np.asarray(own(x.numpy(), *(getattr(y, "numpy", lambda: y)() for y in rest), **named)).view(Array)


def _axis(name: str, x: Any, dim: int) -> int:
    axes = max(1, x.ndim)  # a scalar counts as a vector
    if not -axes <= dim < axes:
        raise AxisError(f"{name}: axis {dim} must be between {-axes} and {axes - 1}")
    return dim % axes


def _of_rank(name: str, rank: int, *tensors: Any) -> None:
    if any(x.ndim > rank for x in tensors):
        raise Error(f"{name}: expected at most {rank} axes, got shapes {[x.shape for x in tensors]}")


def _extreme(own: Callable, ids: Callable, pairwise: Callable) -> Callable:
    """max(x), max(x, y), (values, indices) = max(x, dim), and the library's own max over axes, which is amax."""

    @functools.wraps(own)
    def extreme(x: Tensor, dim: Any = None, keepdim: bool = False, **numpys: Any) -> Any:
        if isinstance(dim, (Tensor, np.ndarray)):
            return pairwise(x, dim)
        if numpys or not isinstance(dim, int):
            return own(x, *([] if dim is None else [dim]), **({"keepdim": True} if keepdim else {}), **numpys)
        if x.ndim == 0:
            return Pair(x, np.array(0).view(Array))
        at = ids(x, dim, True).view(Array)
        values = x.gather(dim, at)
        return Pair(values, at) if keepdim else Pair(values.squeeze(dim), at.squeeze(dim))

    return extreme


def _spread(own: Callable) -> Callable:
    @functools.wraps(own)
    def spread(x: Tensor, *dim: Any, **named: Any) -> Tensor:
        """var(dim, unbiased=True, keepdim=False)"""
        if dim and isinstance(dim[0], bool):
            dim = (None, *dim)
        named |= dict(zip(("dim", "unbiased", "keepdim"), dim))
        if "unbiased" in named:
            named["correction"] = float(named.pop("unbiased"))
        if named.get("correction", 0) is None:
            named["correction"] = 1.0
        return own(x, **named)

    return spread


def clamp(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    if min is None and max is None:
        raise Error("clamp: min or max is required")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        x = x if min is None else _inkling.maximum(x, min)
        return x if max is None else _inkling.minimum(x, max)
    return _inkling.clamp(x, -math.inf if min is None else min, math.inf if max is None else max)


def div(x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode not in (None, "floor", "trunc"):
        raise Error(f"div: expected rounding_mode floor or trunc, got '{rounding_mode}'")
    if rounding_mode == "floor":  # its gradient is 0, that of // is an error
        return _inkling.where(True, x // y, (x / y).floor())
    return (x / y).trunc() if rounding_mode == "trunc" else x / y


def masked_fill(x: Tensor, mask: Any, value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        return _inkling.masked_fill(x, mask, value)
    _of_rank("masked_fill", 0, value)
    return _inkling.where(mask, value, x)


def narrow(x: Any, dim: int, start: int, length: int) -> Any:
    if not 0 <= length <= x.shape[_axis("narrow", x, dim)] - start:
        raise IndexError(f"narrow: {length} elements from {start} are not in axis {dim} of shape {x.shape}")
    return x.slice(dim, start, start + length)


def norm(x: Tensor, p: Any = 2.0, dim: Any = None, keepdim: bool = False, **numpys: Any) -> Tensor:
    over = numpys or {"dim": dim, "keepdim": keepdim}
    return _inkling.norm(x, 2.0 if p is None or p == "fro" else p, **over)


def outer(x: Tensor, y: Tensor) -> Tensor:
    _of_rank("outer", 1, x, y)
    return x.unsqueeze(1) * y


def repeat(x: Tensor, *sizes: Any, axis: int | None = None, **named: Any) -> Tensor:
    """repeat(1, 2) is a b a b, as tile(); with axis=, NumPy's a a b b."""
    if axis is not None:
        return _inkling.repeat(x, *sizes, axis=axis, **named)
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if named or len(sizes) < x.ndim:
        raise TypeError(f"repeat: expected a number for each of {x.ndim} axes, got {sizes}: NumPy's is repeat(2, axis=0)")
    return _inkling.tile(x, sizes)


def repeat_interleave(x: Any, repeats: Any, dim: int | None = None, output_size: int | None = None) -> Any:
    x = x.flatten() if dim is None else x
    return x.index_select(dim or 0, np.repeat(np.arange(x.shape[dim or 0]), repeats))


def round(x: Tensor, decimals: int = 0) -> Tensor:
    if decimals == 0:
        return _inkling.round(x)
    factor = 10.0 ** abs(decimals)
    return _inkling.round(x * factor) / factor if decimals > 0 else _inkling.round(x / factor) * factor


def roll(x: Tensor, shifts: Any, dims: Any = None, **own: Any) -> Tensor:
    """Without dims, all elements as one row."""
    if own:
        return _inkling.roll(x, shifts, **own)
    shifts, axes = np.atleast_1d(shifts).tolist(), [0] if dims is None else np.atleast_1d(dims).tolist()
    if len(shifts) != len(axes):
        raise Error(f"roll: expected a shift for each axis, got {shifts} for {axes}")
    y = functools.reduce(lambda y, pair: _inkling.roll(y, *pair), zip(shifts, axes), x.flatten() if dims is None else x)
    return y.reshape(x.shape)


def scatter(x, dim=None, index=None, src=None, reduce="replace", include_self=True, *, value=None, **own) -> Tensor:
    """src is a tensor of index's shape, or a number."""
    axis, index = own.pop("axis", dim), own.pop("index", index)
    source = own.pop("source", src if value is None else value)
    if not isinstance(source, Tensor):
        source = Tensor(np.broadcast_to(source, np.shape(index)), dtype=x.dtype)
    how = own.pop("how", {"add": "sum", "multiply": "prod"}.get(reduce, reduce))
    return _inkling.scatter(x, axis, index, source, how, include_self, **own)


def index_add(x: Tensor, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Tensor:
    axes = [1] * x.ndim
    axes[dim] = -1
    return x.scatter_add(dim, np.broadcast_to(np.reshape(index, axes), source.shape), alpha * source)


def movedim(x: Any, source: int, destination: int) -> Any:
    axes = [i for i in range(x.ndim) if i != source % x.ndim]
    axes.insert(destination % x.ndim, source % x.ndim)
    return x.permute(axes)


def unflatten(x: Any, dim: int, sizes: Any) -> Any:
    dim = _axis("unflatten", x, dim)
    return x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :])


def select(x: Any, dim: int, index: int) -> Any:
    return x[(slice(None),) * _axis("select", x, dim) + (index,)]


def sort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = True, **numpys: Any) -> Pair:
    return Pair(*as_arrays(_inkling.sort(x, **(numpys or {"dim": dim}), descending=descending)))


def squeeze(x: Tensor, dim: Any = None, **numpys: Any) -> Tensor:
    """Axes of dim= whose size is not 1 stay; with axis= they are an error, as in NumPy."""
    if numpys or dim is None:
        return _inkling.squeeze(x, **numpys)
    axes = [_axis("squeeze", x, a) for a in ([dim] if isinstance(dim, int) else dim)]
    return _inkling.squeeze(x, tuple(a for a in axes if x.shape[a : a + 1] == (1,)))


def take_along_dim(x: Tensor, index: Any, dim: int | None = None) -> Tensor:
    if dim is None:
        return x.flatten().gather(0, np.ravel(index))
    shape = [1 if i == _axis("take_along_dim", x, dim) else n for i, n in enumerate(x.shape)]
    return x.gather(dim, np.broadcast_to(index, np.broadcast_shapes(np.shape(index), shape)))


def t(x: Any) -> Any:
    _of_rank("t", 2, x)
    return x.T


def topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, **numpys: Any) -> Pair:
    over = numpys or {"dim": dim}
    if largest:
        return Pair(*as_arrays(_inkling.topk(x, k, **over)))
    (axis,) = over.values()
    values, ids = sort(x, axis)
    return Pair(narrow(values, axis, 0, k), np.take(ids, np.arange(k), axis))


def where(condition: Any, *values: Any) -> Any:
    """where(condition) are the indices of true elements, a tuple."""
    if any(isinstance(x, Tensor) for x in values):
        return _inkling.where(condition, *values)
    y = as_arrays(np.where(condition, *values))
    return y.float() if values and all(isinstance(x, (int, float)) for x in values) and y.dtype == "float64" else y


NUMPYS = """isnan isinf isfinite isclose any all count_nonzero logical_and logical_or logical_not logical_xor""".split()
OPS: dict[str, Callable] = {
    **{f.__name__: f for f in (clamp, div, masked_fill, narrow, norm, outer, repeat, repeat_interleave, roll, round)},
    **{f.__name__: f for f in (scatter, select, sort, squeeze, t, take_along_dim, topk, index_add, movedim, unflatten)},
    **{name: _arrays(getattr(_inkling, name)) for name in ("argmax", "argmin")},
    **{name: _pair(getattr(_inkling, name)) for name in ("cummax", "cummin")},
    "argsort": lambda x, *dim, stable=True, **named: as_arrays(_inkling.argsort(x, *dim, **named)),
    "max": _extreme(_inkling.max, _inkling.argmax, lambda x, y: _inkling.maximum(x, y)),
    "min": _extreme(_inkling.min, _inkling.argmin, lambda x, y: _inkling.minimum(x, y)),
    **{name: _spread(getattr(_inkling, name)) for name in ("var", "std")},
    "expand": renamed(_inkling.expand, starred=True),
    "permute": renamed(_inkling.permute, starred=True, dims="axes"),
    "tile": renamed(_inkling.tile, starred=True, dims="times"),
    "flip": renamed(_inkling.flip, starred=True, dims="dim"),
    "flatten": renamed(_inkling.flatten, start_dim="first", end_dim="last"),
    "transpose": renamed(_inkling.transpose, dim0="a", dim1="b"),
    "tril": renamed(_inkling.tril, diagonal="k"),
    "triu": renamed(_inkling.triu, diagonal="k"),
    "diagonal": renamed(_inkling.diagonal, offset="k", dim1="a", dim2="b"),
    "scatter_add": renamed(_inkling.scatter_add, src="source"),
    "add": lambda x, y, alpha=1: x + y if alpha == 1 else x + alpha * y,
    "sub": lambda x, y, alpha=1: x - y if alpha == 1 else x - alpha * y,
    "mul": lambda x, y: x * y,
    "maximum": lambda x, y: _inkling.maximum(x, y),
    "minimum": lambda x, y: _inkling.minimum(x, y),
    **{name: lambda x, y: x @ y for name in ("matmul", "mm", "bmm", "mv", "dot")},
    **{name: lambda x, y, _f=getattr(operator, name): _f(x, y) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "amax": _inkling.max,
    "amin": _inkling.min,
    "swapaxes": renamed(_inkling.transpose, axis0="a", axis1="b"),
    "clip": clamp,
    "clamp_min": lambda x, min: clamp(x, min),
    "clamp_max": lambda x, max: clamp(x, None, max),
    "ravel": lambda x: x.flatten(),
    "addmm": lambda x, a, b, *, beta=1, alpha=1: beta * x + alpha * (a @ b),
    "addcmul": lambda x, a, b, *, value=1: x + value * a * b,
    "addcdiv": lambda x, a, b, *, value=1: x + value * a / b,
    "lerp": lambda x, end, weight: x + weight * (end - x),
    "trace": lambda x: x.diagonal().sum(),
    "diff": lambda x, n=1, dim=-1: x if n == 0 else OPS["diff"](
        x.narrow(dim, 1, x.shape[dim] - 1) - x.narrow(dim, 0, x.shape[dim] - 1), n - 1, dim
    ),
    "broadcast_to": lambda x, size: x.expand(size),
    "hypot": lambda x, y: (x * x + y * y).sqrt(),
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "chunk": lambda x, chunks, dim=0: x.split(max(1, -(-x.shape[_axis("chunk", x, dim)] // chunks)), dim),
    "unbind": lambda x, dim=0: tuple(select(x, dim, i) for i in range(x.shape[_axis("unbind", x, dim)])),
    "clone": lambda x: x * 1 if x.requires_grad else Tensor(x.numpy().copy()),
    **{name: lambda x: int(x.size) for name in ("numel", "nelement")},
    "equal": lambda x, y: np.array_equal(x.numpy(), y.numpy()),
    "allclose": lambda x, y, rtol=1e-5, atol=1e-8, equal_nan=False: np.allclose(
        x.numpy(), y.numpy(), rtol, atol, equal_nan
    ),
    **{name: _numpys(name) for name in NUMPYS},
    "nonzero": lambda x, as_tuple=False: (x != 0).nonzero(as_tuple=as_tuple),
    "bincount": lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength).view(Array),
}
for _name, _f in OPS.items():
    if _f.__doc__ is None and hasattr(_inkling, _name):
        _f.__doc__ = getattr(_inkling, _name).__doc__


def _joined(own: Callable, numpys: Callable) -> Callable:
    @functools.wraps(own)
    def join(tensors: Any, dim: int = 0) -> Any:
        if any(isinstance(x, Tensor) for x in tensors):
            return own(list(tensors), dim)
        return numpys(tensors, dim).view(Array)

    return join


def function(name: str, f: Callable) -> Callable:
    """The op as a function: of an Array it is the Array's method."""

    @functools.wraps(f)
    def call(x: Any, *arguments: Any, **named: Any) -> Any:
        return getattr(x, name)(*arguments, **named) if isinstance(x, Array) else f(x, *arguments, **named)

    call.__module__, call.__qualname__ = "inkling", name
    return call


FUNCTIONS: dict[str, Callable] = {
    "cat": _joined(_inkling.concatenate, np.concatenate),
    "stack": _joined(_inkling.stack, np.stack),
    "vstack": lambda tensors: FUNCTIONS["cat"]([x.reshape(1, -1) if x.ndim < 2 else x for x in tensors], 0),
    "hstack": lambda tensors: FUNCTIONS["cat"](tensors, min(1, tensors[0].ndim - 1)),
    "meshgrid": lambda *tensors, indexing="ij": [
        x.reshape(*[-1 if i == place else 1 for i in range(len(tensors))]).expand([y.shape[0] for y in tensors])
        for place, x in enumerate(tensors)
    ],
    "where": where,
    "finfo": np.finfo,
    "get_default_dtype": lambda: "float32",
}
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}
