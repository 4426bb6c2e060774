"""PyTorch's methods of tensors and arrays, writing in place, and whether ops record a graph."""

from __future__ import annotations

import atexit
import functools
import math
import operator
from typing import Any, Callable

import numpy as np

from . import _inkling
from ._inkling import Error, Tensor
from .torch_arrays import DTYPES, FLOATS, Array, Size, as_arrays, device
from .torch_creation import bernoulli, full, multinomial, ones, rand_like, randn_like, tensor, zeros
from .torch_names import NUMPYS, OPS, renamed


def _to(x: Any, *where: Any, copy: bool = False, **named: Any) -> Any:
    """x in another dtype, if one is among the arguments; the device is the CPU."""
    dtype = None
    for one in (*where, *named.values()):
        if isinstance(one, (Tensor, np.ndarray)) or one in DTYPES.values():
            dtype = str(getattr(one, "dtype", one))
        elif one is not None and not isinstance(one, bool):
            device(one)
    if dtype is None or dtype == x.dtype:
        return x.clone() if copy else x
    if isinstance(x, Tensor):
        return x.astype(dtype) if dtype in FLOATS else x.detach().numpy().astype(dtype).view(Array)
    return Tensor(x, dtype=dtype) if dtype in FLOATS else x.astype(dtype)


def _requires_grad_(x: Tensor, requires_grad: bool = True) -> Tensor:
    x.requires_grad = requires_grad
    return x


METHODS: dict[str, Callable] = {  # of arrays, too
    "to": _to,
    "type": lambda x, dtype: _to(x, dtype),
    "cpu": lambda x: x,
    "contiguous": lambda x: x,
    "long": lambda x: _to(x, "int64"),
    "int": lambda x: _to(x, "int32"),
    "bool": lambda x: _to(x, "bool"),
    **{name: lambda x: x.ndim for name in ("dim", "ndimension")},
    "mT": property(lambda x: x.transpose(-1, -2)),
    **{
        f"new_{name}": lambda x, *what, _make=make, **options: _make(*what, **{"dtype": str(x.dtype), **options})
        for name, make in {"zeros": zeros, "empty": zeros, "ones": ones, "full": full, "tensor": tensor}.items()
    },
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
    "bernoulli": bernoulli,
    "multinomial": multinomial,
    "requires_grad_": _requires_grad_,
    "register_hook": lambda x, hook: x.on_grad(lambda dy: hook(dy.view(Array))),
    "backward": renamed(Tensor.backward, gradient="dy", retain_graph="keep_graph"),
    **{
        f"__{op}__": lambda x, y, _own=getattr(Tensor, f"__{op}__"): as_arrays(_own(x, y))
        for op in ("eq", "ne", "lt", "le", "gt", "ge")
    },
}
IN_PLACE: dict[str, Callable] = {  # beside every op's: x.add_(y)
    "zero_": lambda x: np.zeros(x.shape),
    "fill_": lambda x, value: np.full(x.shape, value),
    "copy_": lambda x, y: np.array(np.broadcast_to(y.detach(), x.shape)),
    "normal_": lambda x, mean=0, std=1, *, generator=None: mean + std * randn_like(x, generator=generator),
    "uniform_": lambda x, low=0, high=1, *, generator=None: low + (high - low) * rand_like(x, generator=generator),
}
ARRAY_METHODS: dict[str, Callable] = {
    **{
        name: renamed(getattr(np.ndarray, name), dim="axis", keepdim="keepdims")
        for name in "sum mean prod any all argmax argmin cumsum cumprod".split()
    },
    **{name: OPS[name] for name in ("bincount", *NUMPYS) if name not in ("any", "all")},
    "clone": lambda x: x.copy(),
    "numpy": lambda x: x.view(np.ndarray),
    "detach": lambda x: x,
}
# Methods of arrays of integers and bools whose results are integers and bools, too.
INTEGERS = set(
    """abs add allclose amax amin argsort chunk clamp copy_ cummax cummin diagonal eq equal expand fill_ flatten flip
    gather ge gt index_select le lt masked_fill max maximum min minimum mul narrow ne neg numel outer pad permute
    repeat repeat_interleave roll scatter scatter_add select sign slice sort split squeeze sub t tile topk
    transpose tril triu unbind unfold unsqueeze zero_""".split()
)


def _method(name: str) -> Callable | None:
    """What computes the result of x.name()."""
    return IN_PLACE.get(name) or (None if name.startswith("_") else getattr(Tensor, name.removesuffix("_"), None))


def _array_method(x: Array, name: str) -> Callable:
    """A method of tensors for an array; those that end in _ write to it."""
    f, whole = _method(name), x.dtype.kind != "f"
    if not callable(f):
        raise AttributeError(absent(name, f"an array of {x.dtype} has no '{name}'; x.float() is a tensor"))

    def call(*arguments: Any, **named: Any) -> Any:
        if whole and name not in INTEGERS and name.removesuffix("_") not in INTEGERS:
            raise TypeError(f"{name}: expected numbers, got an array of {x.dtype}: write x.float().{name}(...)")
        if whole and any(isinstance(y, (float, Tensor)) for y in (*arguments, *named.values())):
            raise TypeError(f"{name}: integers are required beside an array of {x.dtype}: write x.float().{name}(...)")
        if x.dtype == "int64" and x.size and max(-int(np.min(x)), int(np.max(x))) > 2**53:
            raise Error(f"{name}: expected integers of at most 2^53, got {max(-int(np.min(x)), int(np.max(x)))}")
        y = f(Tensor(x, dtype="float64" if whole else None), *arguments, **named)
        if name.endswith("_"):
            x[...] = _to_write(x, name, y)
            return x
        return back(y)

    def back(y: Any) -> Any:
        if isinstance(y, (list, tuple)):
            parts = map(back, y)
            return type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
        return y.numpy().astype(x.dtype if whole else y.dtype, copy=False).view(Array) if isinstance(y, Tensor) else y

    return call


def is_grad_enabled() -> bool:
    return (Tensor(1.0, requires_grad=True) * 1).requires_grad


_kept: list[Any] = []
atexit.register(_kept.clear)


class set_grad_enabled:
    """Whether ops record a graph, from now on, or in a block: with set_grad_enabled(False)."""

    def __init__(self, mode: bool) -> None:
        self.scope = _inkling.enable_grad() if mode else _inkling.no_grad()
        self.scope.__enter__()
        _kept.append(self.scope)

    def __enter__(self) -> None:
        _kept.remove(self.scope)

    def __exit__(self, *error: Any) -> None:
        self.scope.__exit__(*error)


def _to_write(x: Any, name: str, y: Any) -> Any:
    """y, which is to be written to x."""
    if getattr(y, "requires_grad", False) and is_grad_enabled():
        raise Error(f"{name}: it would lose the graph of its argument: write x = x.{name.rstrip('_')}(...)")
    y = y.detach().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if y.shape != x.shape or np.may_share_memory(y, x.detach().numpy()):
        raise Error(f"{name}: it does not change numbers in place: write x = x.{name.rstrip('_')}(...)")
    return y


def _write(x: Tensor, name: str, f: Callable, *arguments: Any, **named: Any) -> Tensor:
    if x.requires_grad and is_grad_enabled():
        instead = f"x = x.{name.rstrip('_')}(...)"
        raise Error(f"{name}: it would change a tensor in its graph: use it in no_grad(), or write {instead}")
    x.data = _to_write(x, name, f(x.detach(), *arguments, **named))
    return x


def _in_place(x: Tensor, name: str) -> Any:
    f = _method(name)
    if not name.endswith("_") or not callable(f):
        raise AttributeError(absent(name, f"a tensor has no '{name}': dir(inkling.Tensor) lists what it has"))
    return functools.partial(_write, x, name, f)


INSTEAD = {
    **dict.fromkeys(
        ("half", "bfloat16", "float16", "autocast", "amp"),
        "write `with inkling.precision('bf16'):` around the computation, and leave scalers out",
    ),
    **dict.fromkeys(("compile", "jit"), "leave it out: ops run as they are"),
    **dict.fromkeys(
        ("RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "LBFGS"), "optim has SGD, Adam, AdamW and Muon"
    ),
    **dict.fromkeys(
        "OneCycleLR CosineAnnealingWarmRestarts SequentialLR PolynomialLR ReduceLROnPlateau ConstantLR".split(),
        "write LambdaLR(optimizer, lambda epoch: factor), or set group['lr'] in optimizer.param_groups",
    ),
    **dict.fromkeys(("ParameterList", "ParameterDict"), "a plain list or dict of tensors is part of a module"),
    "cuda": "Inkling computes on the CPU alone: leave it out",
    "FloatTensor": "write tensor(data, dtype='float32'), or zeros(2, 3) for a shape",
    "LongTensor": "write tensor(data, dtype='int64'), or zeros(2, 3, dtype='int64') for a shape",
    "grad_fn": "x.is_leaf tells whether an op made x, inkling.to_dot(x) shows the graph",
    "MultiheadAttention": "write F.scaled_dot_product_attention between layers, or nn.MultiHeadAttention",
    "TransformerEncoderLayer": "examples/gpt.py makes its own of nn.Linear and attention",
    "Dropout2d": "write x * F.dropout(torch.ones(*x.shape[:2], 1, 1), p, self.training)",
    "InstanceNorm2d": "write nn.GroupNorm(channels, channels, affine=False)",
    "ZeroPad2d": "write F.pad(x, (left, right, top, bottom))",
    "Conv3d": "Inkling has conv1d and conv2d",
    "adaptive_max_pool2d": "write max_pool2d with a kernel_size that gives the size",
    "register_forward_hook": "call what it does in forward(); Model.run() captures values",
}


def absent(name: str, text: str) -> str:
    return f"{name}: {INSTEAD[name]}" if name in INSTEAD else text


def absent_module(name: str) -> Any:
    """__getattr__ of modules."""
    raise AttributeError(absent(name, f"Inkling has no '{name}': dir(inkling) and dir(inkling.nn) list what it has"))


def _augmented(name: str) -> Callable:
    own, op = getattr(Tensor, f"__i{name}__"), getattr(operator, name)
    return lambda x, y: own(x, y) if not x.requires_grad or is_grad_enabled() else _write(x, name, op, y)


def _set_grad(x: Tensor, grad: Any) -> None:
    x.zero_grad()
    if grad is None:
        return
    if grad.shape != x.shape:
        raise Error(f"grad: expected the tensor's shape {x.shape}, got {grad.shape}")
    x.backward(Tensor(np.zeros(x.shape), dtype=x.dtype))
    x.grad[...] = grad


def _promoting(name: str) -> Callable:
    """Integers and a fraction, and quotients of integers, are a Tensor of float32."""
    own = getattr(np.ndarray, name)

    def call(x: Array, y: Any) -> Any:
        if name == "__pow__" and x.dtype.kind in "iub" and isinstance(y, int) and y < 0:
            raise Error(f"pow: an exponent of at least 0 is required for integers, got {y}: write x.float() ** {y}")
        whole = x.dtype.kind in "iub" and (isinstance(y, float) or "truediv" in name and not isinstance(y, Tensor))
        return getattr(x.float(), name)(y) if whole else own(x, y)

    return call


for _name in "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow".split():
    ARRAY_METHODS[f"__{_name}__"] = _promoting(f"__{_name}__")
for _name, _f in {**OPS, **METHODS, **TENSOR_METHODS}.items():
    setattr(Tensor, _name, _f)
for _name, _f in {**METHODS, **ARRAY_METHODS}.items():
    setattr(Array, _name, _f)
for _name in "argsort diagonal flatten max min repeat sort squeeze std transpose var".split():  # NumPy's differ
    setattr(Array, _name, functools.partialmethod(lambda x, _n, *a, **k: _array_method(x, _n)(*a, **k), _name))
for _name in ("add", "sub", "mul", "truediv"):
    setattr(Tensor, f"__i{_name}__", _augmented(_name))
Tensor.grad = property(lambda x, _own=Tensor.grad.fget: as_arrays(_own(x)), _set_grad, doc=Tensor.grad.__doc__)
Tensor.data = property(lambda x, _own=Tensor.data.fget: as_arrays(_own(x)), Tensor.data.fset, doc=Tensor.data.__doc__)
Tensor.__getattr__, Array.__getattr__ = _in_place, _array_method


def _scope(self: Any, f: Callable) -> Callable:
    """@no_grad()"""

    @functools.wraps(f)
    def call(*arguments: Any, **named: Any) -> Any:
        with self:
            return f(*arguments, **named)

    return call


no_grad = inference_mode = _inkling.no_grad
no_grad.__call__ = _inkling.enable_grad.__call__ = _scope


class cuda:
    """There is none."""

    is_available = staticmethod(lambda: False)
    manual_seed = manual_seed_all = staticmethod(lambda seed: None)


def is_tensor(x: Any) -> bool:
    return isinstance(x, (Tensor, Array))


__all__ = ["cuda", "inference_mode", "is_grad_enabled", "is_tensor", "no_grad", "set_grad_enabled"]
