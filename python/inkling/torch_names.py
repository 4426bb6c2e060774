"""PyTorch's spellings of ops and of the methods of tensors and arrays, with PyTorch's meaning."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, Callable

import numpy as np

from . import _inkling
from ._inkling import Error, Tensor, default_generator
from .torch_arrays import DTYPES, FLOATS, Array, Size, device


def _array(y: Any) -> Any:
    return y.view(Array) if isinstance(y, np.ndarray) else tuple(map(_array, y)) if isinstance(y, tuple) else y


def _arrays(f: Callable) -> Callable:
    """f, whose arrays become Arrays."""
    return functools.wraps(f)(lambda *arguments, **named: _array(f(*arguments, **named)))


def _renamed(f: Callable, starred: bool = False, **names: str) -> Callable:
    """f under PyTorch's names of its arguments, too; starred: permute(1, 0) is permute((1, 0))."""

    @functools.wraps(f)
    def call(x: Any, *arguments: Any, **named: Any) -> Any:
        return f(
            x,
            *([arguments] if starred and len(arguments) > 1 else arguments),
            **{names.get(name, name): value for name, value in named.items()},
        )

    return call


for _name in "sum mean prod max min any all argmax argmin cumsum var std squeeze".split():
    setattr(Array, _name, _renamed(getattr(np.ndarray, _name), dim="axis", keepdim="keepdims"))


# Ops: functions, and methods of tensors.


def clamp(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        x = x if min is None else _inkling.maximum(x, min)
        return x if max is None else _inkling.minimum(x, max)
    return _inkling.clamp(x, -math.inf if min is None else min, math.inf if max is None else max)


def narrow(x: Any, dim: int, start: int, length: int) -> Any:
    return x.slice(dim, start, start + length)


def select(x: Any, dim: int, index: int) -> Any:
    return x[(slice(None),) * (dim % x.ndim) + (index,)]


OPS: dict[str, Callable] = {
    **{f.__name__: f for f in (clamp, narrow, select)},
    **{name: _arrays(getattr(_inkling, name)) for name in "argmax argmin argsort sort topk cummax cummin".split()},
    "expand": _renamed(_inkling.expand, starred=True),
    "permute": _renamed(_inkling.permute, starred=True, dims="axes"),
    "tile": _renamed(_inkling.tile, starred=True, dims="times"),
    "flip": _renamed(_inkling.flip, starred=True, dims="dim"),
    "flatten": _renamed(_inkling.flatten, start_dim="first", end_dim="last"),
    "transpose": _renamed(_inkling.transpose, dim0="a", dim1="b"),
    "roll": _renamed(_inkling.roll, shifts="shift", dims="axis"),
    "tril": _renamed(_inkling.tril, diagonal="k"),
    "triu": _renamed(_inkling.triu, diagonal="k"),
    "diagonal": _renamed(_inkling.diagonal, offset="k", dim1="a", dim2="b"),
    "scatter": _renamed(_inkling.scatter, src="source", reduce="how"),
    "scatter_add": _renamed(_inkling.scatter_add, src="source"),
    "add": lambda x, y, alpha=1: x + y if alpha == 1 else x + alpha * y,
    "sub": lambda x, y, alpha=1: x - y if alpha == 1 else x - alpha * y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "maximum": lambda x, y: _inkling.maximum(x, y),
    "minimum": lambda x, y: _inkling.minimum(x, y),
    **{name: lambda x, y: x @ y for name in ("matmul", "mm", "bmm", "mv", "dot")},
    **{name: lambda x, y, _f=getattr(operator, name): _f(x, y) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "amax": _inkling.max,
    "amin": _inkling.min,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "outer": lambda x, y: x.unsqueeze(1) * y,
    "t": lambda x: x.T,
    "chunk": lambda x, chunks, dim=0: x.split(max(1, -(-x.shape[dim] // chunks)), dim),
    "unbind": lambda x, dim=0: [select(x, dim, i) for i in range(x.shape[dim])],
    "repeat_interleave": lambda x, repeats, dim=None: (x.flatten() if dim is None else x).repeat(
        repeats, axis=dim or 0
    ),
    "clone": lambda x: x + 0 if x.requires_grad else Tensor(x.numpy().copy()),
    "numel": lambda x: int(x.size),
    "equal": lambda x, y: np.array_equal(x.numpy(), y.numpy()),
    "allclose": lambda x, y, rtol=1e-5, atol=1e-8: np.allclose(x.numpy(), y.numpy(), rtol, atol),
    **{name: lambda x, _f=getattr(np, name): _f(x.numpy()).view(Array) for name in ("isnan", "isinf", "isfinite")},
}


def _joined(own: Callable, numpys: Callable) -> Callable:
    @functools.wraps(own)
    def join(tensors: Any, dim: int = 0) -> Any:
        if any(isinstance(x, Tensor) for x in tensors):
            return own(list(tensors), dim)
        return numpys(tensors, dim).view(Array)

    return join


cat, stack = _joined(_inkling.concatenate, np.concatenate), _joined(_inkling.stack, np.stack)


# Methods alone.


def _to(x: Any, *where: Any, **named: Any) -> Any:
    """x in another dtype, if one is among the arguments; the device is the CPU."""
    dtype = None
    for one in (*where, *named.values()):
        if isinstance(one, (Tensor, np.ndarray)) or one in DTYPES.values():
            dtype = str(getattr(one, "dtype", one))
        elif one is not None and not isinstance(one, bool):
            device(one)
    if dtype is None or dtype == x.dtype:
        return x
    if isinstance(x, Tensor):
        return x.astype(dtype) if dtype in FLOATS else x.detach().numpy().astype(dtype).view(Array)
    return Tensor(x, dtype=dtype) if dtype in FLOATS else x.astype(dtype)


def _requires_grad_(x: Tensor, requires_grad: bool = True) -> Tensor:
    x.requires_grad = requires_grad
    return x


METHODS: dict[str, Callable] = {  # of arrays, too
    "to": _to,
    "type": _to,
    "cpu": lambda x: x,
    "contiguous": lambda x: x,
    "long": lambda x: _to(x, "int64"),
    "int": lambda x: _to(x, "int32"),
    "bool": lambda x: _to(x, "bool"),
    "dim": lambda x: x.ndim,
    "expand_as": lambda x, y: x.expand(y.shape),
    "view_as": lambda x, y: x.reshape(y.shape),
    "size": property(Size),
    "device": property(lambda x: device()),
}
TENSOR_METHODS: dict[str, Callable] = {
    "float": lambda x: _to(x, "float32"),
    "double": lambda x: _to(x, "float64"),
    "view": lambda x, *shape: x.reshape(*shape),
    "tolist": lambda x: x.numpy().tolist(),
    "requires_grad_": _requires_grad_,
    "register_hook": lambda x, hook: x.on_grad(lambda dy: hook(dy.view(Array))),
    "backward": _renamed(Tensor.backward, gradient="dy", retain_graph="keep_graph"),
    **{f"__{op}__": _arrays(getattr(Tensor, f"__{op}__")) for op in ("eq", "ne", "lt", "le", "gt", "ge")},
}
ARRAY_METHODS: dict[str, Callable] = {
    "clone": lambda x: x.copy(),
    "numpy": lambda x: x.view(np.ndarray),
    "detach": lambda x: x,
}
IN_PLACE: dict[str, Callable] = {  # beside every op's: x.add_(y)
    "zero_": lambda x: np.zeros(x.shape),
    "fill_": lambda x, value: np.full(x.shape, value),
    "copy_": lambda x, y: y,
    "normal_": lambda x, mean=0, std=1: mean + std * Tensor.randn(x.shape, default_generator.next(), dtype=x.dtype),
    "uniform_": lambda x, low=0, high=1: low
    + (high - low) * Tensor.rand(x.shape, default_generator.next(), dtype=x.dtype),
}


def _method(name: str) -> Callable | None:
    """What computes the result of x.name()."""
    return IN_PLACE.get(name) or (None if name.startswith("_") else getattr(Tensor, name.removesuffix("_"), None))


def _array_method(x: Array, name: str) -> Callable:
    """A method of tensors for an array; those that end in _ write to it."""
    f = _method(name)
    if f is None:
        raise AttributeError(f"an array of {x.dtype} has no '{name}'; x.float() is a tensor")

    def call(*arguments: Any, **named: Any) -> Any:
        y = f(Tensor(x, dtype="float64"), *arguments, **named)
        if name.endswith("_"):
            x[...] = y
            return x
        return back(y)

    def back(y: Any) -> Any:
        if isinstance(y, (list, tuple)):
            return [back(one) for one in y]
        return y.numpy().astype(x.dtype).view(Array) if isinstance(y, Tensor) else y

    return call


def is_grad_enabled() -> bool:
    return (_probe * 1).requires_grad


_probe = Tensor(1.0, requires_grad=True)


def _write(x: Tensor, name: str, f: Callable, *arguments: Any, **named: Any) -> Tensor:
    if x.requires_grad and is_grad_enabled():
        raise Error(
            f"{name}: it would change a tensor in its graph: use it in no_grad(), or write x = x.{name.rstrip('_')}(...)"
        )
    x.data = f(x.detach(), *arguments, **named)
    return x


def _in_place(x: Tensor, name: str) -> Any:
    f = _method(name)
    if not name.endswith("_") or f is None:
        raise AttributeError(INSTEAD.get(name, f"a tensor has no '{name}': docs/python.md tells what it has"))
    return functools.partial(_write, x, name, f)


INSTEAD = {
    "cuda": "cuda: Inkling computes on the CPU alone: leave it out",
    "half": "half: write `with inkling.precision('bf16'):` around the computation",
    "bfloat16": "bfloat16: write `with inkling.precision('bf16'):` around the computation",
}


def _augmented(name: str) -> Callable:
    own, op = getattr(Tensor, f"__i{name}__"), getattr(operator, name)
    return lambda x, y: own(x, y) if not x.requires_grad or is_grad_enabled() else _write(x, name, op, y)


def _set_grad(x: Tensor, grad: Any) -> None:
    x.zero_grad()
    if grad is not None:
        x.backward(Tensor(grad, dtype=x.dtype))


for _name, _f in OPS.items():
    if _f.__doc__ is None and hasattr(_inkling, _name):
        _f.__doc__ = getattr(_inkling, _name).__doc__
for _name, _f in {**OPS, **METHODS, **TENSOR_METHODS}.items():
    setattr(Tensor, _name, _f)
for _name, _f in {**METHODS, **ARRAY_METHODS}.items():
    setattr(Array, _name, _f)
for _name in ("add", "sub", "mul", "truediv"):
    setattr(Tensor, f"__i{_name}__", _augmented(_name))
Tensor.grad = property(lambda x, _own=Tensor.grad.fget: _array(_own(x)), _set_grad, doc=Tensor.grad.__doc__)
Tensor.data = property(lambda x, _own=Tensor.data.fget: _array(_own(x)), Tensor.data.fset, doc=Tensor.data.__doc__)
Tensor.__getattr__, Array.__getattr__ = _in_place, _array_method


def _decorating(scope: Any, f: Callable) -> Callable:
    """@no_grad()"""

    @functools.wraps(f)
    def call(*arguments: Any, **named: Any) -> Any:
        with scope:
            return f(*arguments, **named)

    return call


no_grad = inference_mode = _inkling.no_grad
no_grad.__call__ = _inkling.enable_grad.__call__ = _decorating


def set_grad_enabled(mode: bool) -> Any:
    """A scope: with set_grad_enabled(False)."""
    return _inkling.enable_grad() if mode else no_grad()


class cuda:
    """There is none."""

    is_available = staticmethod(lambda: False)


def is_tensor(x: Any) -> bool:
    return isinstance(x, (Tensor, Array))


__all__ = [name for name, f in globals().items() if getattr(f, "__module__", "") == __name__ and name[0] != "_"]
__all__ += ["cat", "inference_mode", "stack"]
