"""Custom ops in Python, and tensors over arrays of other libraries."""

from __future__ import annotations

import copyreg
from typing import Any

import numpy as np

from . import _inkling
from ._inkling import Tensor
from .torch_arrays import Array

for _kind in {type(_inkling.tanh), type(_inkling.matmul)}:  # ops are pickled and copied by name, like Python functions
    copyreg.pickle(_kind, lambda function: function.__qualname__)


class Context:
    """Holds what forward saves for backward, in attributes of any name."""

    saved_tensors: tuple[np.ndarray, ...] = ()

    def save_for_backward(self, *arrays: np.ndarray) -> None:
        self.saved_tensors = arrays


class Function:
    """A custom op over NumPy arrays, like torch.autograd.Function: forward gets the value of each tensor, and the other
    arguments of apply() unchanged; backward gets dy and returns a gradient, or None, for each argument of forward.

        class Square(inkling.Function):
            def forward(ctx, x):
                ctx.x = x
                return x * x

            def backward(ctx, dy):
                return 2 * ctx.x * dy

        y = Square.apply(x)
    """

    @staticmethod
    def forward(ctx: Context, *arguments: Any) -> Any:
        raise NotImplementedError("forward(ctx, ...) is required")

    @staticmethod
    def backward(ctx: Context, dy: np.ndarray) -> Any:
        raise NotImplementedError("backward(ctx, dy) is required")

    _value, _gradient = staticmethod(Tensor.numpy), staticmethod(np.asarray)

    @classmethod
    def apply(cls, *arguments: Any) -> Tensor:
        ctx = Context()
        is_tensor = [isinstance(x, Tensor) for x in arguments]
        ctx.needs_input_grad = tuple(tensor and x.requires_grad for x, tensor in zip(arguments, is_tensor))
        y = cls.forward(ctx, *(cls._value(x) if tensor else x for x, tensor in zip(arguments, is_tensor)))

        def backward(dy: np.ndarray) -> list[Any]:
            given = cls.backward(ctx, cls._gradient(dy))
            grads = given if isinstance(given, (tuple, list)) else (given,)
            if len(grads) != len(is_tensor):
                raise TypeError(
                    f"{cls.__name__}: backward must return a gradient, or None, for each of forward's {len(is_tensor)} "
                    f"arguments, got {len(grads)}"
                )
            return [grad for grad, tensor in zip(grads, is_tensor) if tensor]

        return _inkling._record(cls.__name__, y, [x for x in arguments if isinstance(x, Tensor)], backward)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares the array's memory. Ids and masks stay arrays, which ops take."""
    if isinstance(array, np.ndarray) and array.dtype.kind in "iub":
        return array.view(Array)
    if isinstance(array, np.ndarray) and array.dtype in (np.float32, np.float64):
        x = Tensor(array)
        if x.numpy().__array_interface__["data"][0] == array.__array_interface__["data"][0]:
            return x
    raise TypeError(
        "from_numpy: a writable array of float32 or float64 that can share its memory is required, or ids and masks, "
        "which stay arrays: Tensor() copies others"
    )


def from_dlpack(x: Any) -> Tensor:
    """A tensor that shares the memory of another library's tensor, such as PyTorch's."""
    return from_numpy(np.asarray(x) if hasattr(x, "__array__") else np.from_dlpack(x))
