"""
Arrays with gradients, layers, language models and their training, in C++.
"""

from collections.abc import Callable, Mapping, Sequence
import os
from typing import overload

import numpy
import numpy.typing


class Error(ValueError):
    pass

class BadInput(Error):
    pass

class Usage(Error):
    pass

class Diverged(Error):
    pass

class Anomaly(Error):
    pass

class AxisError(Error, IndexError):
    pass

class RandomKey:
    """Selects a sequence of random numbers."""

    def __init__(self, seed: int = 0, stream: int = 0) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def stream(self) -> int: ...

    @stream.setter
    def stream(self, arg: int, /) -> None: ...

    def __reduce__(self) -> tuple: ...

class Generator:
    """Hands out keys, one per use: the streams of one seed in order."""

    def __init__(self, seed: int = 1337, next_stream: int = 0) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def next_stream(self) -> int: ...

    @next_stream.setter
    def next_stream(self, arg: int, /) -> None: ...

    def next(self) -> RandomKey:
        """The next key."""

    def __reduce__(self) -> tuple: ...

class Tensor:
    """
    A value of float32 or float64 and, if it requires a gradient, the node of the graph that computed it. It shares the memory of a NumPy array of its dtype.
    """

    def __init__(self, data: numpy.typing.ArrayLike, requires_grad: bool = False, dtype: str | None = None) -> None:
        """
        A leaf over an array. A writable array of float32 or float64 is not copied; lists, numbers and other dtypes become float32.
        """

    @staticmethod
    def full(shape: int | Sequence[int], value: float, requires_grad: bool = False, dtype: str = 'float32') -> Tensor: ...

    @staticmethod
    def zeros(shape: int | Sequence[int], requires_grad: bool = False, dtype: str = 'float32') -> Tensor: ...

    @staticmethod
    def ones(shape: int | Sequence[int], requires_grad: bool = False, dtype: str = 'float32') -> Tensor: ...

    @staticmethod
    def arange(begin: float, end: float | None = None, step: float = 1, dtype: str = 'float32') -> Tensor:
        """begin, begin + step, ... before end; arange(n) begins at 0."""

    @staticmethod
    def randn(shape: int | Sequence[int], key: RandomKey, requires_grad: bool = False, dtype: str = 'float32') -> Tensor:
        """Standard normal numbers of one key."""

    @staticmethod
    def rand(shape: int | Sequence[int], key: RandomKey, requires_grad: bool = False, dtype: str = 'float32') -> Tensor:
        """Uniform in [0, 1), of one key."""

    @property
    def shape(self) -> int | Sequence[int]: ...

    @property
    def dtype(self) -> str:
        """'float32' or 'float64'"""

    @property
    def ndim(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def requires_grad(self) -> bool:
        """
        Whether backward() computes a gradient for it or for a tensor that it depends on. It can be set for a leaf.
        """

    @requires_grad.setter
    def requires_grad(self, arg: bool, /) -> None: ...

    def __reduce__(self) -> tuple: ...

    def __dlpack_device__(self) -> tuple: ...

    def __dlpack__(self, **kwargs) -> object:
        """Shares the memory: torch.from_dlpack(x)."""

    def __len__(self) -> int: ...

    def item(self) -> float:
        """The only element; more elements are an error."""

    def __float__(self) -> float: ...

    def __int__(self) -> int: ...

    def numpy(self) -> numpy.ndarray:
        """The value as a read-only NumPy array that shares its memory."""

    def __array__(self, dtype: object | None = None, copy: object | None = None) -> numpy.ndarray: ...

    __array_priority__: int = 1000

    @property
    def data(self) -> numpy.ndarray:
        """
        The value as a NumPy array to write to: w.data -= 0.1 * w.grad. A graph that needs the old value then refuses to run backward.
        """

    @data.setter
    def data(self, arg: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def grad(self) -> numpy.ndarray | None:
        """
        The gradient, summed over every backward() since zero_grad(), as a NumPy array; None if no backward() reached the tensor. Leaves and tensors with retain_grad() have it.
        """

    def zero_grad(self) -> None: ...

    def backward(self, dy: Tensor | None = None, keep_graph: bool = False) -> None:
        """Adds d self / d leaf, times dy of self's shape, to every leaf's grad."""

    def retain_grad(self) -> None:
        """Keeps the gradient of an intermediate tensor in grad."""

    def on_grad(self, f: Callable) -> None:
        """
        Calls f(dy) once in each backward, with the whole gradient as a NumPy array. f may write to dy or return another gradient, which backward then uses.
        """

    def detach(self) -> Tensor:
        """The same value, cut from the graph."""

    def astype(self, dtype: str) -> Tensor:
        """
        The value in another dtype; the tensor itself if it has that dtype. A tensor that requires a gradient cannot be converted.
        """

    def __getitem__(self, key: object | None) -> Tensor: ...

    def __setitem__(self, key: object | None, values: object) -> None: ...

    def __eq__(self, arg: object, /) -> object: ...

    def __ne__(self, arg: object, /) -> object: ...

    def __lt__(self, arg: object, /) -> object: ...

    def __le__(self, arg: object, /) -> object: ...

    def __gt__(self, arg: object, /) -> object: ...

    def __ge__(self, arg: object, /) -> object: ...

    def __bool__(self) -> bool: ...

    @property
    def T(self) -> Tensor:
        """The axes in reverse order."""

    def __repr__(self) -> str: ...

    @overload
    def __add__(self, arg: Tensor, /) -> Tensor: ...

    @overload
    def __add__(self, arg: float, /) -> Tensor: ...

    @overload
    def __add__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __radd__(self, arg: float, /) -> Tensor: ...

    @overload
    def __radd__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __sub__(self, arg: Tensor, /) -> Tensor: ...

    @overload
    def __sub__(self, arg: float, /) -> Tensor: ...

    @overload
    def __sub__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __rsub__(self, arg: float, /) -> Tensor: ...

    @overload
    def __rsub__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __mul__(self, arg: Tensor, /) -> Tensor: ...

    @overload
    def __mul__(self, arg: float, /) -> Tensor: ...

    @overload
    def __mul__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __rmul__(self, arg: float, /) -> Tensor: ...

    @overload
    def __rmul__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __truediv__(self, arg: Tensor, /) -> Tensor: ...

    @overload
    def __truediv__(self, arg: float, /) -> Tensor: ...

    @overload
    def __truediv__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __rtruediv__(self, arg: float, /) -> Tensor: ...

    @overload
    def __rtruediv__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __pow__(self, arg: Tensor, /) -> Tensor: ...

    @overload
    def __pow__(self, arg: float, /) -> Tensor: ...

    @overload
    def __pow__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __rpow__(self, arg: float, /) -> Tensor: ...

    @overload
    def __rpow__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __mod__(self, arg: Tensor, /) -> Tensor: ...

    @overload
    def __mod__(self, arg: float, /) -> Tensor: ...

    @overload
    def __mod__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __rmod__(self, arg: float, /) -> Tensor: ...

    @overload
    def __rmod__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __floordiv__(self, arg: Tensor, /) -> Tensor: ...

    @overload
    def __floordiv__(self, arg: float, /) -> Tensor: ...

    @overload
    def __floordiv__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __rfloordiv__(self, arg: float, /) -> Tensor: ...

    @overload
    def __rfloordiv__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    def __neg__(self) -> Tensor: ...

    @overload
    def __matmul__(self, arg: Tensor, /) -> Tensor: ...

    @overload
    def __matmul__(self, arg: float, /) -> Tensor: ...

    @overload
    def __matmul__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    @overload
    def __rmatmul__(self, arg: float, /) -> Tensor: ...

    @overload
    def __rmatmul__(self, arg: numpy.typing.ArrayLike, /) -> Tensor: ...

    def __iadd__(self, arg: object, /) -> object: ...

    def __isub__(self, arg: object, /) -> object: ...

    def __imul__(self, arg: object, /) -> object: ...

    def __itruediv__(self, arg: object, /) -> object: ...

    def neg(self) -> Tensor:
        """-x"""

    def exp(self) -> Tensor:
        """e^x"""

    def log(self) -> Tensor:
        """The natural logarithm; log(0) is -inf."""

    def sqrt(self) -> Tensor:
        """The square root."""

    def abs(self) -> Tensor:
        """|x|; the gradient at 0 is 0."""

    __abs__ = abs

    def sin(self) -> Tensor:
        """sin x"""

    def cos(self) -> Tensor:
        """cos x"""

    def asin(self) -> Tensor:
        """The arc sine."""

    def acos(self) -> Tensor:
        """The arc cosine."""

    def atan(self) -> Tensor:
        """The arc tangent."""

    def log1p(self) -> Tensor:
        """ln(1 + x), exact for small x."""

    def expm1(self) -> Tensor:
        """e^x - 1, exact for small x."""

    def erf(self) -> Tensor:
        """The error function."""

    def tanh(self) -> Tensor:
        """tanh x"""

    def sigmoid(self) -> Tensor:
        """1 / (1 + e^-x)"""

    def relu(self) -> Tensor:
        """max(x, 0); the gradient at 0 is 0."""

    def silu(self) -> Tensor:
        """x sigmoid(x)"""

    def gelu(self) -> Tensor:
        """GPT-2's: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))"""

    def gelu_erf(self) -> Tensor:
        """x Phi(x), Phi the normal distribution."""

    def squared_relu(self) -> Tensor:
        """max(x, 0)^2"""

    def softplus(self) -> Tensor:
        """ln(1 + e^x)"""

    def leaky_relu(self, negative_slope: float = 0.01) -> Tensor:
        """x, or negative_slope x where x <= 0."""

    def elu(self, alpha: float = 1.0) -> Tensor:
        """x, or alpha (e^x - 1) where x <= 0."""

    def softcap(self, cap: float) -> Tensor:
        """cap tanh(x / cap), cap > 0."""

    def floor(self) -> Tensor:
        """x rounded down; the gradient is 0."""

    def ceil(self) -> Tensor:
        """x rounded up; the gradient is 0."""

    def trunc(self) -> Tensor:
        """x rounded toward 0; the gradient is 0."""

    def round(self) -> Tensor:
        """x rounded, halves to the even number; the gradient is 0."""

    def sign(self) -> Tensor:
        """-1, 0 or 1; the gradient is 0."""

    def clamp(self, lowest: float, highest: float = float('inf')) -> Tensor:
        """x, but at least lowest and at most highest."""

    def affine(self, factor: float, offset: float) -> Tensor:
        """factor x + offset"""

    def scale(self, factor: float) -> Tensor:
        """factor x"""

    @overload
    def pow(self, exponent: float) -> Tensor:
        """x^exponent"""

    @overload
    def pow(self, exponent: Tensor) -> Tensor:
        """x^exponent of two tensors; shapes broadcast."""

    @overload
    def sum(self, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
        """
        The sum over axes, by default all. The axes are removed, or kept with size 1 if keep_axes.
        """

    @overload
    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

    @overload
    def sum(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def sum(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def mean(self, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
        """The mean over axes."""

    @overload
    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

    @overload
    def mean(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def mean(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def max(self, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
        """The maximum over axes; elements that share it share its gradient."""

    @overload
    def max(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

    @overload
    def max(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def max(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def min(self, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
        """The minimum over axes; elements that share it share its gradient."""

    @overload
    def min(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

    @overload
    def min(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def min(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def prod(self, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
        """The product over axes."""

    @overload
    def prod(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

    @overload
    def prod(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def prod(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def logsumexp(self, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
        """ln sum e^x over axes, without overflow."""

    @overload
    def logsumexp(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

    @overload
    def logsumexp(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def logsumexp(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def var(self, axes: int | Sequence[int] | None = None, keep_axes: bool = False, correction: float = 1.0) -> Tensor:
        """sum (x - mean)^2 / (n - correction) over axes."""

    @overload
    def var(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, correction: float = 1.0) -> Tensor: ...

    @overload
    def var(self, dim: int | Sequence[int] | None = None, keepdim: bool = False, correction: float = 1.0) -> Tensor: ...

    @overload
    def var(self, axis: int | Sequence[int] | None = None, keepdim: bool = False, correction: float = 1.0) -> Tensor: ...

    @overload
    def std(self, axes: int | Sequence[int] | None = None, keep_axes: bool = False, correction: float = 1.0) -> Tensor:
        """The square root of var."""

    @overload
    def std(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, correction: float = 1.0) -> Tensor: ...

    @overload
    def std(self, dim: int | Sequence[int] | None = None, keepdim: bool = False, correction: float = 1.0) -> Tensor: ...

    @overload
    def std(self, axis: int | Sequence[int] | None = None, keepdim: bool = False, correction: float = 1.0) -> Tensor: ...

    @overload
    def argmax(self, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> numpy.typing.ArrayLike:
        """
        The index of the first maximum along one axis, or the row-major index over several, as an array of int32.
        """

    @overload
    def argmax(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> numpy.typing.ArrayLike: ...

    @overload
    def argmax(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> numpy.typing.ArrayLike: ...

    @overload
    def argmax(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> numpy.typing.ArrayLike: ...

    @overload
    def cumsum(self, axis: int) -> Tensor:
        """y_i = x_0 + ... + x_i along an axis."""

    @overload
    def cumsum(self, dim: int) -> Tensor: ...

    @overload
    def softmax(self, axis: int = -1) -> Tensor:
        """e^x_i / sum_j e^x_j along an axis; -inf gets 0."""

    @overload
    def softmax(self, dim: int = -1) -> Tensor: ...

    @overload
    def softmax(self, allowed: numpy.typing.ArrayLike, none: str = 'error') -> Tensor:
        """
        softmax along the last axis of x (B, ..., Lq, Lk), over the elements where allowed, which broadcasts to x, is true. none: the result for a row without allowed elements, 'error', 'uniform' or 'zero'.
        """

    @overload
    def log_softmax(self, axis: int = -1) -> Tensor:
        """x_i - ln sum_j e^x_j along an axis."""

    @overload
    def log_softmax(self, dim: int = -1) -> Tensor: ...

    def layer_norm(self, gain: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
        """
        (x - mean) / sqrt(variance + eps) gain + bias over the last axis; gain and bias (C) or None.
        """

    def rms_norm(self, gain: Tensor | None = None, eps: float = 1e-05) -> Tensor:
        """x / sqrt(mean(x^2) + eps) gain over the last axis; gain (C) or None."""

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """
        x W^T + b: x (..., in), weight (out, in), bias (out) or None -> (..., out).
        """

    @overload
    def cross_entropy(self, targets: numpy.typing.ArrayLike, weight: Sequence[float] = [], ignore: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
        """
        -ln softmax(x)[target] in nats, for logits x (..., V) and targets (...). reduction: 'mean' over the targets that are not `ignore`, 'sum', or 'none' for one loss per row. weight: one per class.
        """

    @overload
    def cross_entropy(self, targets: Tensor, weight: Sequence[float] = [], reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
        """cross_entropy with a tensor of probabilities (..., V) as targets."""

    def nll_loss(self, targets: numpy.typing.ArrayLike, weight: Sequence[float] = [], ignore: int = -100, reduction: str = 'mean') -> Tensor:
        """cross_entropy for log-probabilities x (..., V)."""

    def linear_cross_entropy(self, weight: Tensor, targets: numpy.typing.ArrayLike, ignore: int = -100, block: int = 0, cap: float = 0.0) -> Tensor:
        """
        cross_entropy(softcap(linear(x, weight), cap), targets), x (..., C), weight (V, C), targets (...), with at most `block` columns of logits in memory; block 0 chooses a size. cap 0: no softcap.
        """

    def mse_loss(self, target: Tensor, reduction: str = 'mean') -> Tensor:
        """(x - target)^2 for equal shapes; reduction: 'mean', 'sum' or 'none'."""

    def binary_cross_entropy_with_logits(self, target: Tensor, reduction: str = 'mean') -> Tensor:
        """-t ln p - (1 - t) ln(1 - p), p = sigmoid(x), for equal shapes."""

    def dropout(self, p: float, key: RandomKey) -> Tensor:
        """
        Keeps an element with probability 1 - p, and multiplies it by 1 / (1 - p).
        """

    def token_shift(self, w: Tensor, positions: numpy.typing.ArrayLike | None = None) -> Tensor:
        """
        x_t + w x_(t-1) of x (..., L, C) with w (C); nothing is before the first row, nor before position 0 of positions (..., L).
        """

    def rotary(self, base: float = 10000.0, pairs: str = 'halves', clockwise: bool = False, start: int = 0, positions: numpy.typing.ArrayLike | None = None) -> Tensor:
        """
        x (..., L, d): pair i of the row at position p is rotated by p base^(-2i/d).
        """

    @overload
    def reshape(self, *args) -> Tensor:
        """x.reshape(2, -1)"""

    @overload
    def reshape(self, shape: int | Sequence[int]) -> Tensor:
        """
        The same elements in another shape; -1 is inferred from the other sizes.
        """

    def flatten(self, first: int = 0, last: int = -1) -> Tensor:
        """Joins axes first to last into one."""

    @overload
    def squeeze(self, axes: int | Sequence[int] | None = None) -> Tensor:
        """Removes these axes of size 1; by default all axes of size 1."""

    @overload
    def squeeze(self, axis: int | Sequence[int] | None = None) -> Tensor: ...

    @overload
    def squeeze(self, dim: int | Sequence[int] | None = None) -> Tensor: ...

    @overload
    def unsqueeze(self, axis: int) -> Tensor:
        """Inserts an axis of size 1 before `axis`."""

    @overload
    def unsqueeze(self, dim: int) -> Tensor: ...

    def expand(self, shape: int | Sequence[int]) -> Tensor:
        """x broadcast to a shape, as a view; -1 keeps x's size."""

    @overload
    def permute(self, axes: int | Sequence[int]) -> Tensor:
        """Axis i of the result is axis axes[i] of x."""

    @overload
    def permute(self, axis: int | Sequence[int]) -> Tensor: ...

    @overload
    def permute(self, dim: int | Sequence[int]) -> Tensor: ...

    def transpose(self, a: int, b: int) -> Tensor:
        """Swaps axes a and b."""

    @overload
    def slice(self, axis: int, begin: int, end: int, step: int = 1) -> Tensor:
        """Elements [begin, end) of an axis, every step-th; x[...] does the same."""

    @overload
    def slice(self, dim: int, begin: int, end: int, step: int = 1) -> Tensor: ...

    @overload
    def split(self, parts: int, axis: int = 0) -> list[Tensor]:
        """Splits an axis into `parts` pieces of equal size."""

    @overload
    def split(self, parts: int, dim: int = 0) -> list[Tensor]: ...

    @overload
    def split(self, sizes: Sequence[int], axis: int = 0) -> list[Tensor]:
        """Splits an axis into pieces of these sizes."""

    @overload
    def split(self, sizes: Sequence[int], dim: int = 0) -> list[Tensor]: ...

    @overload
    def repeat(self, times: int, axis: int) -> Tensor:
        """a b -> a a b b along an axis."""

    @overload
    def repeat(self, times: int, dim: int) -> Tensor: ...

    def tril(self, k: int = 0) -> Tensor:
        """x (..., M, N) with zeros above the k-th diagonal."""

    def triu(self, k: int = 0) -> Tensor:
        """x (..., M, N) with zeros below the k-th diagonal."""

    def masked_fill(self, mask: numpy.typing.ArrayLike, value: float) -> Tensor:
        """`value` where the mask, which broadcasts to x, is true; x elsewhere."""

    @overload
    def gather(self, axis: int, index: numpy.typing.ArrayLike) -> Tensor:
        """y[..., j, ...] = x[..., index[..., j, ...], ...], of index's shape."""

    @overload
    def gather(self, dim: int, index: numpy.typing.ArrayLike) -> Tensor: ...

    @overload
    def index_select(self, axis: int, index: numpy.typing.ArrayLike) -> Tensor:
        """The elements at the positions index (n) of an axis."""

    @overload
    def index_select(self, dim: int, index: numpy.typing.ArrayLike) -> Tensor: ...

    @overload
    def scatter_add(self, axis: int, index: numpy.typing.ArrayLike, source: Tensor) -> Tensor:
        """x with source[..., j, ...] added to [..., index[..., j, ...], ...]."""

    @overload
    def scatter_add(self, dim: int, index: numpy.typing.ArrayLike, source: Tensor) -> Tensor: ...

    @overload
    def sort(self, axis: int = -1, descending: bool = False) -> tuple[Tensor, numpy.typing.ArrayLike]:
        """
        (values, ids): the elements along an axis in order, and their indices in x.
        """

    @overload
    def sort(self, dim: int = -1, descending: bool = False) -> tuple[Tensor, numpy.typing.ArrayLike]: ...

    @overload
    def topk(self, k: int, axis: int = -1) -> tuple[Tensor, numpy.typing.ArrayLike]:
        """(values, ids): the k largest along an axis, in order."""

    @overload
    def topk(self, k: int, dim: int = -1) -> tuple[Tensor, numpy.typing.ArrayLike]: ...

    @overload
    def pad(self, widths: Sequence[int], value: float = 0.0) -> Tensor:
        """
        Adds `value` before and after the last axis, then the axis before it, and so on; a negative width removes elements.
        """

    @overload
    def pad(self, widths: Sequence[int], mode: str) -> Tensor:
        """Pads with elements of x; mode: 'reflect', 'replicate' or 'circular'."""

    @overload
    def flip(self, axes: int | Sequence[int] | None = None) -> Tensor:
        """Reverses the order along axes, by default along all."""

    @overload
    def flip(self, axis: int | Sequence[int] | None = None) -> Tensor: ...

    @overload
    def flip(self, dim: int | Sequence[int] | None = None) -> Tensor: ...

    @overload
    def roll(self, shift: int, axis: int) -> Tensor:
        """Moves element i to i + shift along an axis, modulo its size."""

    @overload
    def roll(self, shift: int, dim: int) -> Tensor: ...

    def tile(self, times: int | Sequence[int]) -> Tensor:
        """Repeats x times[i] times along axis i."""

    @overload
    def norm(self, p: float = 2.0, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
        """(sum |x|^p)^(1/p) over axes; p = inf: the largest |x|."""

    @overload
    def norm(self, p: float = 2.0, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

    @overload
    def norm(self, p: float = 2.0, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def norm(self, p: float = 2.0, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

    @overload
    def argmin(self, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> numpy.typing.ArrayLike:
        """The index of the first minimum, as argmax counts it."""

    @overload
    def argmin(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> numpy.typing.ArrayLike: ...

    @overload
    def argmin(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> numpy.typing.ArrayLike: ...

    @overload
    def argmin(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> numpy.typing.ArrayLike: ...

    @overload
    def argsort(self, axis: int = -1, descending: bool = False) -> numpy.typing.ArrayLike:
        """The ids that sort() returns."""

    @overload
    def argsort(self, dim: int = -1, descending: bool = False) -> numpy.typing.ArrayLike: ...

    @overload
    def cummax(self, axis: int) -> tuple[Tensor, numpy.typing.ArrayLike]:
        """
        (values, ids): the largest element so far along an axis, and its index.
        """

    @overload
    def cummax(self, dim: int) -> tuple[Tensor, numpy.typing.ArrayLike]: ...

    @overload
    def cumprod(self, axis: int) -> Tensor:
        """y_i = x_0 x_1 ... x_i along an axis."""

    @overload
    def cumprod(self, dim: int) -> Tensor: ...

    @overload
    def cummin(self, axis: int) -> tuple[Tensor, numpy.typing.ArrayLike]:
        """
        (values, ids): the smallest element so far along an axis, and its index.
        """

    @overload
    def cummin(self, dim: int) -> tuple[Tensor, numpy.typing.ArrayLike]: ...

    @overload
    def logcumsumexp(self, axis: int) -> Tensor:
        """y_i = ln(e^x_0 + ... + e^x_i) along an axis."""

    @overload
    def logcumsumexp(self, dim: int) -> Tensor: ...

    def diagonal(self, k: int = 0, a: int = 0, b: int = 1) -> Tensor:
        """
        The elements [..., i, ..., i + k, ...] of axes a and b, as a new last axis.
        """

    @overload
    def normalize(self, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
        """x / max(norm, eps), with the norm along an axis."""

    @overload
    def normalize(self, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor: ...

    @overload
    def scatter(self, axis: int, index: numpy.typing.ArrayLike, source: Tensor, how: str = 'replace', include_self: bool = True) -> Tensor:
        """
        x with source[..., j, ...] written to [..., index[..., j, ...], ...]; the last of several writes wins. how 'sum', 'prod', 'mean', 'max' or 'min' combines all values written to an element, and its own if include_self.
        """

    @overload
    def scatter(self, dim: int, index: numpy.typing.ArrayLike, source: Tensor, how: str = 'replace', include_self: bool = True) -> Tensor: ...

    @overload
    def unfold(self, axis: int, size: int, step: int = 1, dilation: int = 1) -> Tensor:
        """
        Windows of `size` elements of an axis, `step` apart: (..., n, ...) -> (..., windows, ..., size).
        """

    @overload
    def unfold(self, dim: int, size: int, step: int = 1, dilation: int = 1) -> Tensor: ...

    def conv1d(self, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = (1), padding: int | Sequence[int] = (0), dilation: int | Sequence[int] = (1), groups: int = 1) -> Tensor:
        """x (B, C, L), weight (O, C / groups, K), bias (O) or None -> (B, O, L')"""

    def conv2d(self, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = (1), padding: int | Sequence[int] = (0), dilation: int | Sequence[int] = (1), groups: int = 1) -> Tensor:
        """
        x (B, C, H, W), weight (O, C / groups, Kh, Kw), bias (O) or None -> (B, O, H', W')
        """

    def conv_transpose2d(self, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = (1), padding: int | Sequence[int] = (0), output_padding: int | Sequence[int] = (0), groups: int = 1, dilation: int | Sequence[int] = (1)) -> Tensor:
        """
        x (B, C, H, W), weight (C, O / groups, Kh, Kw), bias (O) or None -> (B, O, H', W')
        """

    def max_pool2d(self, size: int | Sequence[int], stride: int | Sequence[int] = (), padding: int | Sequence[int] = (0), dilation: int | Sequence[int] = (1), ceil_mode: bool = False) -> Tensor:
        """
        The maximum of windows of the last two axes; stride () means the window size.
        """

    def avg_pool2d(self, size: int | Sequence[int], stride: int | Sequence[int] = (), padding: int | Sequence[int] = (0), ceil_mode: bool = False, count_padding: bool = True) -> Tensor:
        """
        The mean of windows of the last two axes; stride () means the window size.
        """

    def interpolate(self, sizes: int | Sequence[int], mode: str = 'nearest', align_corners: bool = False) -> Tensor:
        """
        Resizes the last axes, as torch.nn.functional.interpolate; mode: 'nearest', 'nearest-exact' or 'linear'.
        """

    def exp2(self) -> Tensor:
        """2^x"""

    def log2(self) -> Tensor:
        """The logarithm to base 2."""

    def log10(self) -> Tensor:
        """The logarithm to base 10."""

    def rsqrt(self) -> Tensor:
        """x^(-1/2)"""

    def tan(self) -> Tensor:
        """tan x"""

    def sinh(self) -> Tensor:
        """sinh x"""

    def cosh(self) -> Tensor:
        """cosh x"""

    def asinh(self) -> Tensor:
        """The inverse of sinh."""

    def acosh(self) -> Tensor:
        """The inverse of cosh."""

    def atanh(self) -> Tensor:
        """The inverse of tanh."""

    def logsigmoid(self) -> Tensor:
        """ln sigmoid(x)"""

    def softsign(self) -> Tensor:
        """x / (1 + |x|)"""

    def mish(self) -> Tensor:
        """x tanh(softplus(x))"""

    def celu(self, alpha: float = 1.0) -> Tensor:
        """x, or alpha (e^(x / alpha) - 1) where x <= 0."""

    def selu(self) -> Tensor:
        """
        1.0507 elu(x, 1.67326), which keeps mean 0 and variance 1 of normal inputs.
        """

    def hardsigmoid(self) -> Tensor:
        """x / 6 + 1/2, between 0 and 1."""

    def hardswish(self) -> Tensor:
        """x hardsigmoid(x)"""

class no_grad:
    """with no_grad(): ops of this thread record no graph."""

    def __init__(self) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *args) -> None: ...

class enable_grad:
    """with enable_grad(): ops record a graph again, inside no_grad()."""

    def __init__(self) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *args) -> None: ...

class detect_anomaly:
    """
    with detect_anomaly(): the first value that is not finite raises Anomaly, which names its op.
    """

    def __init__(self) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *args) -> None: ...

class precision:
    """
    with precision('bf16'): matrix products round their operands to bfloat16.
    """

    def __init__(self, precision: str) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *args) -> None: ...

def gradcheck(f: Callable, inputs: Sequence[Tensor], seed: int = 1) -> float:
    """
    The largest relative error of backward through f(*inputs) against central differences, over all elements of the inputs, which are float64.
    """

def to_dot(x: Tensor, named: Sequence[tuple[str, Tensor]] = []) -> str:
    """The graph behind a tensor in Graphviz's language."""

def set_threads(threads: int = 0) -> None:
    """
    Sets the number of compute threads; 0: the number of physical cores. Results do not depend on it.
    """

def neg(x: Tensor, /) -> Tensor:
    """-x"""

def exp(x: Tensor, /) -> Tensor:
    """e^x"""

def log(x: Tensor, /) -> Tensor:
    """The natural logarithm; log(0) is -inf."""

def sqrt(x: Tensor, /) -> Tensor:
    """The square root."""

def abs(x: Tensor, /) -> Tensor:
    """|x|; the gradient at 0 is 0."""

def sin(x: Tensor, /) -> Tensor:
    """sin x"""

def cos(x: Tensor, /) -> Tensor:
    """cos x"""

def asin(x: Tensor, /) -> Tensor:
    """The arc sine."""

def acos(x: Tensor, /) -> Tensor:
    """The arc cosine."""

def atan(x: Tensor, /) -> Tensor:
    """The arc tangent."""

def log1p(x: Tensor, /) -> Tensor:
    """ln(1 + x), exact for small x."""

def expm1(x: Tensor, /) -> Tensor:
    """e^x - 1, exact for small x."""

def erf(x: Tensor, /) -> Tensor:
    """The error function."""

def tanh(x: Tensor, /) -> Tensor:
    """tanh x"""

def sigmoid(x: Tensor, /) -> Tensor:
    """1 / (1 + e^-x)"""

def relu(x: Tensor, /) -> Tensor:
    """max(x, 0); the gradient at 0 is 0."""

def silu(x: Tensor, /) -> Tensor:
    """x sigmoid(x)"""

def gelu(x: Tensor, /) -> Tensor:
    """GPT-2's: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))"""

def gelu_erf(x: Tensor, /) -> Tensor:
    """x Phi(x), Phi the normal distribution."""

def squared_relu(x: Tensor, /) -> Tensor:
    """max(x, 0)^2"""

def softplus(x: Tensor, /) -> Tensor:
    """ln(1 + e^x)"""

def leaky_relu(x: Tensor, /, negative_slope: float = 0.01) -> Tensor:
    """x, or negative_slope x where x <= 0."""

def elu(x: Tensor, /, alpha: float = 1.0) -> Tensor:
    """x, or alpha (e^x - 1) where x <= 0."""

def softcap(x: Tensor, /, cap: float) -> Tensor:
    """cap tanh(x / cap), cap > 0."""

def floor(x: Tensor, /) -> Tensor:
    """x rounded down; the gradient is 0."""

def ceil(x: Tensor, /) -> Tensor:
    """x rounded up; the gradient is 0."""

def trunc(x: Tensor, /) -> Tensor:
    """x rounded toward 0; the gradient is 0."""

def round(x: Tensor, /) -> Tensor:
    """x rounded, halves to the even number; the gradient is 0."""

def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1; the gradient is 0."""

def clamp(x: Tensor, /, lowest: float, highest: float = float('inf')) -> Tensor:
    """x, but at least lowest and at most highest."""

def affine(x: Tensor, /, factor: float, offset: float) -> Tensor:
    """factor x + offset"""

def scale(x: Tensor, /, factor: float) -> Tensor:
    """factor x"""

def add(a: Tensor, b: Tensor) -> Tensor:
    """a + b; shapes broadcast as NumPy's."""

def sub(a: Tensor, b: Tensor) -> Tensor:
    """a - b; shapes broadcast."""

def mul(a: Tensor, b: Tensor) -> Tensor:
    """a b, element by element; shapes broadcast."""

def div(a: Tensor, b: Tensor) -> Tensor:
    """a / b; shapes broadcast."""

@overload
def maximum(a: Tensor, b: Tensor) -> Tensor:
    """
    The larger of two numbers; shapes broadcast. Equal ones share the gradient.
    """

@overload
def maximum(a: Tensor, b: float) -> Tensor: ...

@overload
def maximum(a: float, b: Tensor) -> Tensor: ...

@overload
def minimum(a: Tensor, b: Tensor) -> Tensor:
    """
    The smaller of two numbers; shapes broadcast. Equal ones share the gradient.
    """

@overload
def minimum(a: Tensor, b: float) -> Tensor: ...

@overload
def minimum(a: float, b: Tensor) -> Tensor: ...

@overload
def remainder(a: Tensor, b: Tensor) -> Tensor:
    """a - b floor(a / b), Python's %; shapes broadcast."""

@overload
def remainder(a: Tensor, b: float) -> Tensor: ...

@overload
def remainder(a: float, b: Tensor) -> Tensor: ...

@overload
def fmod(a: Tensor, b: Tensor) -> Tensor:
    """a - b trunc(a / b), C's fmod; shapes broadcast."""

@overload
def fmod(a: Tensor, b: float) -> Tensor: ...

@overload
def fmod(a: float, b: Tensor) -> Tensor: ...

def matmul(a: Tensor, b: Tensor) -> Tensor:
    """
    a (..., M, K), b (..., K, N) -> (..., M, N); the axes in front broadcast. A vector (K) is a row as a, a column as b.
    """

@overload
def pow(x: Tensor, /, exponent: float) -> Tensor:
    """x^exponent"""

@overload
def pow(x: Tensor, /, exponent: Tensor) -> Tensor:
    """x^exponent of two tensors; shapes broadcast."""

@overload
def sum(x: Tensor, /, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
    """
    The sum over axes, by default all. The axes are removed, or kept with size 1 if keep_axes.
    """

@overload
def sum(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

@overload
def sum(x: Tensor, /, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def sum(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def mean(x: Tensor, /, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
    """The mean over axes."""

@overload
def mean(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

@overload
def mean(x: Tensor, /, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def mean(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def max(x: Tensor, /, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
    """The maximum over axes; elements that share it share its gradient."""

@overload
def max(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

@overload
def max(x: Tensor, /, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def max(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def min(x: Tensor, /, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
    """The minimum over axes; elements that share it share its gradient."""

@overload
def min(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

@overload
def min(x: Tensor, /, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def min(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def prod(x: Tensor, /, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
    """The product over axes."""

@overload
def prod(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

@overload
def prod(x: Tensor, /, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def prod(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def logsumexp(x: Tensor, /, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
    """ln sum e^x over axes, without overflow."""

@overload
def logsumexp(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

@overload
def logsumexp(x: Tensor, /, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def logsumexp(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def var(x: Tensor, /, axes: int | Sequence[int] | None = None, keep_axes: bool = False, correction: float = 1.0) -> Tensor:
    """sum (x - mean)^2 / (n - correction) over axes."""

@overload
def var(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdims: bool = False, correction: float = 1.0) -> Tensor: ...

@overload
def var(x: Tensor, /, dim: int | Sequence[int] | None = None, keepdim: bool = False, correction: float = 1.0) -> Tensor: ...

@overload
def var(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdim: bool = False, correction: float = 1.0) -> Tensor: ...

@overload
def std(x: Tensor, /, axes: int | Sequence[int] | None = None, keep_axes: bool = False, correction: float = 1.0) -> Tensor:
    """The square root of var."""

@overload
def std(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdims: bool = False, correction: float = 1.0) -> Tensor: ...

@overload
def std(x: Tensor, /, dim: int | Sequence[int] | None = None, keepdim: bool = False, correction: float = 1.0) -> Tensor: ...

@overload
def std(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdim: bool = False, correction: float = 1.0) -> Tensor: ...

@overload
def argmax(x: Tensor, /, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> numpy.typing.ArrayLike:
    """
    The index of the first maximum along one axis, or the row-major index over several, as an array of int32.
    """

@overload
def argmax(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> numpy.typing.ArrayLike: ...

@overload
def argmax(x: Tensor, /, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> numpy.typing.ArrayLike: ...

@overload
def argmax(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> numpy.typing.ArrayLike: ...

@overload
def cumsum(x: Tensor, /, axis: int) -> Tensor:
    """y_i = x_0 + ... + x_i along an axis."""

@overload
def cumsum(x: Tensor, /, dim: int) -> Tensor: ...

@overload
def softmax(x: Tensor, /, axis: int = -1) -> Tensor:
    """e^x_i / sum_j e^x_j along an axis; -inf gets 0."""

@overload
def softmax(x: Tensor, /, dim: int = -1) -> Tensor: ...

@overload
def softmax(x: Tensor, /, allowed: numpy.typing.ArrayLike, none: str = 'error') -> Tensor:
    """
    softmax along the last axis of x (B, ..., Lq, Lk), over the elements where allowed, which broadcasts to x, is true. none: the result for a row without allowed elements, 'error', 'uniform' or 'zero'.
    """

@overload
def log_softmax(x: Tensor, /, axis: int = -1) -> Tensor:
    """x_i - ln sum_j e^x_j along an axis."""

@overload
def log_softmax(x: Tensor, /, dim: int = -1) -> Tensor: ...

def layer_norm(x: Tensor, /, gain: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """
    (x - mean) / sqrt(variance + eps) gain + bias over the last axis; gain and bias (C) or None.
    """

def rms_norm(x: Tensor, /, gain: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """x / sqrt(mean(x^2) + eps) gain over the last axis; gain (C) or None."""

def linear(x: Tensor, /, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """
    x W^T + b: x (..., in), weight (out, in), bias (out) or None -> (..., out).
    """

def add_low_rank(y: Tensor, x: Tensor, a: Tensor, b: Tensor, scale: float) -> Tensor:
    """y + scale x A^T B^T: y (..., out), x (..., in), a (r, in), b (out, r)."""

def embedding(ids: numpy.typing.ArrayLike, weight: Tensor) -> Tensor:
    """ids (...), weight (V, C) -> (..., C): row ids[i] of the table."""

def einsum(equation: str, *operands) -> Tensor:
    """Sums of products over named axes: einsum('bqd,bkd->bqk', q, k)."""

@overload
def cross_entropy(x: Tensor, /, targets: numpy.typing.ArrayLike, weight: Sequence[float] = [], ignore: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """
    -ln softmax(x)[target] in nats, for logits x (..., V) and targets (...). reduction: 'mean' over the targets that are not `ignore`, 'sum', or 'none' for one loss per row. weight: one per class.
    """

@overload
def cross_entropy(x: Tensor, /, targets: Tensor, weight: Sequence[float] = [], reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """cross_entropy with a tensor of probabilities (..., V) as targets."""

def nll_loss(x: Tensor, /, targets: numpy.typing.ArrayLike, weight: Sequence[float] = [], ignore: int = -100, reduction: str = 'mean') -> Tensor:
    """cross_entropy for log-probabilities x (..., V)."""

def linear_cross_entropy(x: Tensor, /, weight: Tensor, targets: numpy.typing.ArrayLike, ignore: int = -100, block: int = 0, cap: float = 0.0) -> Tensor:
    """
    cross_entropy(softcap(linear(x, weight), cap), targets), x (..., C), weight (V, C), targets (...), with at most `block` columns of logits in memory; block 0 chooses a size. cap 0: no softcap.
    """

def mse_loss(x: Tensor, /, target: Tensor, reduction: str = 'mean') -> Tensor:
    """(x - target)^2 for equal shapes; reduction: 'mean', 'sum' or 'none'."""

def binary_cross_entropy_with_logits(x: Tensor, /, target: Tensor, reduction: str = 'mean') -> Tensor:
    """-t ln p - (1 - t) ln(1 - p), p = sigmoid(x), for equal shapes."""

def dropout(x: Tensor, /, p: float, key: RandomKey) -> Tensor:
    """
    Keeps an element with probability 1 - p, and multiplies it by 1 / (1 - p).
    """

def attention(q: Tensor, k: Tensor, v: Tensor, scale: float = 1.0, causal: bool = False, mask: numpy.typing.ArrayLike | None = None, dropout: float = 0.0, dropout_key: RandomKey = ..., alibi: Sequence[float] = [], masked: str = 'error', begins: numpy.typing.ArrayLike | None = None, window: int = 0) -> Tensor:
    """
    softmax(scale q k^T) v in one pass: q (B, H, Lq, d), k (B, K, Lk, d), v (B, K, Lk, dv) -> (B, H, Lq, dv); H / K query heads share a key head. mask broadcasts to (B, H, Lq, Lk), 0 is blocked; alibi: a slope per head; begins (B, L): where each position's document begins; window: the number of keys that a causal query sees, its own included. nn.scaled_dot_product_attention also returns the weights.
    """

def token_shift(x: Tensor, /, w: Tensor, positions: numpy.typing.ArrayLike | None = None) -> Tensor:
    """
    x_t + w x_(t-1) of x (..., L, C) with w (C); nothing is before the first row, nor before position 0 of positions (..., L).
    """

def rotary(x: Tensor, /, base: float = 10000.0, pairs: str = 'halves', clockwise: bool = False, start: int = 0, positions: numpy.typing.ArrayLike | None = None) -> Tensor:
    """
    x (..., L, d): pair i of the row at position p is rotated by p base^(-2i/d).
    """

@overload
def reshape(x: Tensor, /, *args) -> Tensor:
    """x.reshape(2, -1)"""

@overload
def reshape(x: Tensor, /, shape: int | Sequence[int]) -> Tensor:
    """
    The same elements in another shape; -1 is inferred from the other sizes.
    """

def flatten(x: Tensor, /, first: int = 0, last: int = -1) -> Tensor:
    """Joins axes first to last into one."""

@overload
def squeeze(x: Tensor, /, axes: int | Sequence[int] | None = None) -> Tensor:
    """Removes these axes of size 1; by default all axes of size 1."""

@overload
def squeeze(x: Tensor, /, axis: int | Sequence[int] | None = None) -> Tensor: ...

@overload
def squeeze(x: Tensor, /, dim: int | Sequence[int] | None = None) -> Tensor: ...

@overload
def unsqueeze(x: Tensor, /, axis: int) -> Tensor:
    """Inserts an axis of size 1 before `axis`."""

@overload
def unsqueeze(x: Tensor, /, dim: int) -> Tensor: ...

def expand(x: Tensor, /, shape: int | Sequence[int]) -> Tensor:
    """x broadcast to a shape, as a view; -1 keeps x's size."""

@overload
def permute(x: Tensor, /, axes: int | Sequence[int]) -> Tensor:
    """Axis i of the result is axis axes[i] of x."""

@overload
def permute(x: Tensor, /, axis: int | Sequence[int]) -> Tensor: ...

@overload
def permute(x: Tensor, /, dim: int | Sequence[int]) -> Tensor: ...

def transpose(x: Tensor, /, a: int, b: int) -> Tensor:
    """Swaps axes a and b."""

@overload
def slice(x: Tensor, /, axis: int, begin: int, end: int, step: int = 1) -> Tensor:
    """Elements [begin, end) of an axis, every step-th; x[...] does the same."""

@overload
def slice(x: Tensor, /, dim: int, begin: int, end: int, step: int = 1) -> Tensor: ...

@overload
def split(x: Tensor, /, parts: int, axis: int = 0) -> list[Tensor]:
    """Splits an axis into `parts` pieces of equal size."""

@overload
def split(x: Tensor, /, parts: int, dim: int = 0) -> list[Tensor]: ...

@overload
def split(x: Tensor, /, sizes: Sequence[int], axis: int = 0) -> list[Tensor]:
    """Splits an axis into pieces of these sizes."""

@overload
def split(x: Tensor, /, sizes: Sequence[int], dim: int = 0) -> list[Tensor]: ...

@overload
def repeat(x: Tensor, /, times: int, axis: int) -> Tensor:
    """a b -> a a b b along an axis."""

@overload
def repeat(x: Tensor, /, times: int, dim: int) -> Tensor: ...

def tril(x: Tensor, /, k: int = 0) -> Tensor:
    """x (..., M, N) with zeros above the k-th diagonal."""

def triu(x: Tensor, /, k: int = 0) -> Tensor:
    """x (..., M, N) with zeros below the k-th diagonal."""

@overload
def concatenate(parts: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Concatenates tensors along an axis."""

@overload
def concatenate(parts: Sequence[Tensor], dim: int = 0) -> Tensor: ...

@overload
def stack(parts: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Stacks tensors of one shape along a new axis."""

@overload
def stack(parts: Sequence[Tensor], dim: int = 0) -> Tensor: ...

@overload
def where(mask: numpy.typing.ArrayLike, a: Tensor, b: Tensor) -> Tensor:
    """a where the mask is true, b elsewhere; all broadcast."""

@overload
def where(mask: numpy.typing.ArrayLike, a: Tensor, b: float) -> Tensor: ...

@overload
def where(mask: numpy.typing.ArrayLike, a: float, b: Tensor) -> Tensor: ...

def masked_fill(x: Tensor, /, mask: numpy.typing.ArrayLike, value: float) -> Tensor:
    """`value` where the mask, which broadcasts to x, is true; x elsewhere."""

def causal_mask(rows: int, columns: int) -> numpy.typing.ArrayLike:
    """
    (rows, columns) of bool: true where a causal query must not see the key.
    """

@overload
def gather(x: Tensor, /, axis: int, index: numpy.typing.ArrayLike) -> Tensor:
    """y[..., j, ...] = x[..., index[..., j, ...], ...], of index's shape."""

@overload
def gather(x: Tensor, /, dim: int, index: numpy.typing.ArrayLike) -> Tensor: ...

@overload
def index_select(x: Tensor, /, axis: int, index: numpy.typing.ArrayLike) -> Tensor:
    """The elements at the positions index (n) of an axis."""

@overload
def index_select(x: Tensor, /, dim: int, index: numpy.typing.ArrayLike) -> Tensor: ...

@overload
def scatter_add(x: Tensor, /, axis: int, index: numpy.typing.ArrayLike, source: Tensor) -> Tensor:
    """x with source[..., j, ...] added to [..., index[..., j, ...], ...]."""

@overload
def scatter_add(x: Tensor, /, dim: int, index: numpy.typing.ArrayLike, source: Tensor) -> Tensor: ...

@overload
def sort(x: Tensor, /, axis: int = -1, descending: bool = False) -> tuple[Tensor, numpy.typing.ArrayLike]:
    """
    (values, ids): the elements along an axis in order, and their indices in x.
    """

@overload
def sort(x: Tensor, /, dim: int = -1, descending: bool = False) -> tuple[Tensor, numpy.typing.ArrayLike]: ...

@overload
def topk(x: Tensor, /, k: int, axis: int = -1) -> tuple[Tensor, numpy.typing.ArrayLike]:
    """(values, ids): the k largest along an axis, in order."""

@overload
def topk(x: Tensor, /, k: int, dim: int = -1) -> tuple[Tensor, numpy.typing.ArrayLike]: ...

@overload
def pad(x: Tensor, /, widths: Sequence[int], value: float = 0.0) -> Tensor:
    """
    Adds `value` before and after the last axis, then the axis before it, and so on; a negative width removes elements.
    """

@overload
def pad(x: Tensor, /, widths: Sequence[int], mode: str) -> Tensor:
    """Pads with elements of x; mode: 'reflect', 'replicate' or 'circular'."""

@overload
def flip(x: Tensor, /, axes: int | Sequence[int] | None = None) -> Tensor:
    """Reverses the order along axes, by default along all."""

@overload
def flip(x: Tensor, /, axis: int | Sequence[int] | None = None) -> Tensor: ...

@overload
def flip(x: Tensor, /, dim: int | Sequence[int] | None = None) -> Tensor: ...

@overload
def roll(x: Tensor, /, shift: int, axis: int) -> Tensor:
    """Moves element i to i + shift along an axis, modulo its size."""

@overload
def roll(x: Tensor, /, shift: int, dim: int) -> Tensor: ...

def tile(x: Tensor, /, times: int | Sequence[int]) -> Tensor:
    """Repeats x times[i] times along axis i."""

def one_hot(ids: numpy.typing.ArrayLike, classes: int, dtype: str = 'float32') -> Tensor:
    """(...) -> (..., classes): 1 at the id, 0 elsewhere."""

@overload
def norm(x: Tensor, /, p: float = 2.0, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> Tensor:
    """(sum |x|^p)^(1/p) over axes; p = inf: the largest |x|."""

@overload
def norm(x: Tensor, /, p: float = 2.0, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor: ...

@overload
def norm(x: Tensor, /, p: float = 2.0, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def norm(x: Tensor, /, p: float = 2.0, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor: ...

@overload
def argmin(x: Tensor, /, axes: int | Sequence[int] | None = None, keep_axes: bool = False) -> numpy.typing.ArrayLike:
    """The index of the first minimum, as argmax counts it."""

@overload
def argmin(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> numpy.typing.ArrayLike: ...

@overload
def argmin(x: Tensor, /, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> numpy.typing.ArrayLike: ...

@overload
def argmin(x: Tensor, /, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> numpy.typing.ArrayLike: ...

@overload
def argsort(x: Tensor, /, axis: int = -1, descending: bool = False) -> numpy.typing.ArrayLike:
    """The ids that sort() returns."""

@overload
def argsort(x: Tensor, /, dim: int = -1, descending: bool = False) -> numpy.typing.ArrayLike: ...

@overload
def cummax(x: Tensor, /, axis: int) -> tuple[Tensor, numpy.typing.ArrayLike]:
    """
    (values, ids): the largest element so far along an axis, and its index.
    """

@overload
def cummax(x: Tensor, /, dim: int) -> tuple[Tensor, numpy.typing.ArrayLike]: ...

@overload
def cumprod(x: Tensor, /, axis: int) -> Tensor:
    """y_i = x_0 x_1 ... x_i along an axis."""

@overload
def cumprod(x: Tensor, /, dim: int) -> Tensor: ...

@overload
def cummin(x: Tensor, /, axis: int) -> tuple[Tensor, numpy.typing.ArrayLike]:
    """
    (values, ids): the smallest element so far along an axis, and its index.
    """

@overload
def cummin(x: Tensor, /, dim: int) -> tuple[Tensor, numpy.typing.ArrayLike]: ...

@overload
def logcumsumexp(x: Tensor, /, axis: int) -> Tensor:
    """y_i = ln(e^x_0 + ... + e^x_i) along an axis."""

@overload
def logcumsumexp(x: Tensor, /, dim: int) -> Tensor: ...

def diagonal(x: Tensor, /, k: int = 0, a: int = 0, b: int = 1) -> Tensor:
    """
    The elements [..., i, ..., i + k, ...] of axes a and b, as a new last axis.
    """

@overload
def normalize(x: Tensor, /, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
    """x / max(norm, eps), with the norm along an axis."""

@overload
def normalize(x: Tensor, /, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor: ...

@overload
def scatter(x: Tensor, /, axis: int, index: numpy.typing.ArrayLike, source: Tensor, how: str = 'replace', include_self: bool = True) -> Tensor:
    """
    x with source[..., j, ...] written to [..., index[..., j, ...], ...]; the last of several writes wins. how 'sum', 'prod', 'mean', 'max' or 'min' combines all values written to an element, and its own if include_self.
    """

@overload
def scatter(x: Tensor, /, dim: int, index: numpy.typing.ArrayLike, source: Tensor, how: str = 'replace', include_self: bool = True) -> Tensor: ...

@overload
def unfold(x: Tensor, /, axis: int, size: int, step: int = 1, dilation: int = 1) -> Tensor:
    """
    Windows of `size` elements of an axis, `step` apart: (..., n, ...) -> (..., windows, ..., size).
    """

@overload
def unfold(x: Tensor, /, dim: int, size: int, step: int = 1, dilation: int = 1) -> Tensor: ...

def conv1d(x: Tensor, /, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = (1), padding: int | Sequence[int] = (0), dilation: int | Sequence[int] = (1), groups: int = 1) -> Tensor:
    """x (B, C, L), weight (O, C / groups, K), bias (O) or None -> (B, O, L')"""

def conv2d(x: Tensor, /, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = (1), padding: int | Sequence[int] = (0), dilation: int | Sequence[int] = (1), groups: int = 1) -> Tensor:
    """
    x (B, C, H, W), weight (O, C / groups, Kh, Kw), bias (O) or None -> (B, O, H', W')
    """

def conv_transpose2d(x: Tensor, /, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = (1), padding: int | Sequence[int] = (0), output_padding: int | Sequence[int] = (0), groups: int = 1, dilation: int | Sequence[int] = (1)) -> Tensor:
    """
    x (B, C, H, W), weight (C, O / groups, Kh, Kw), bias (O) or None -> (B, O, H', W')
    """

def max_pool2d(x: Tensor, /, size: int | Sequence[int], stride: int | Sequence[int] = (), padding: int | Sequence[int] = (0), dilation: int | Sequence[int] = (1), ceil_mode: bool = False) -> Tensor:
    """
    The maximum of windows of the last two axes; stride () means the window size.
    """

def avg_pool2d(x: Tensor, /, size: int | Sequence[int], stride: int | Sequence[int] = (), padding: int | Sequence[int] = (0), ceil_mode: bool = False, count_padding: bool = True) -> Tensor:
    """
    The mean of windows of the last two axes; stride () means the window size.
    """

def interpolate(x: Tensor, /, sizes: int | Sequence[int], mode: str = 'nearest', align_corners: bool = False) -> Tensor:
    """
    Resizes the last axes, as torch.nn.functional.interpolate; mode: 'nearest', 'nearest-exact' or 'linear'.
    """

def exp2(x: Tensor, /) -> Tensor:
    """2^x"""

def log2(x: Tensor, /) -> Tensor:
    """The logarithm to base 2."""

def log10(x: Tensor, /) -> Tensor:
    """The logarithm to base 10."""

def rsqrt(x: Tensor, /) -> Tensor:
    """x^(-1/2)"""

def tan(x: Tensor, /) -> Tensor:
    """tan x"""

def sinh(x: Tensor, /) -> Tensor:
    """sinh x"""

def cosh(x: Tensor, /) -> Tensor:
    """cosh x"""

def asinh(x: Tensor, /) -> Tensor:
    """The inverse of sinh."""

def acosh(x: Tensor, /) -> Tensor:
    """The inverse of cosh."""

def atanh(x: Tensor, /) -> Tensor:
    """The inverse of tanh."""

def logsigmoid(x: Tensor, /) -> Tensor:
    """ln sigmoid(x)"""

def softsign(x: Tensor, /) -> Tensor:
    """x / (1 + |x|)"""

def mish(x: Tensor, /) -> Tensor:
    """x tanh(softplus(x))"""

def celu(x: Tensor, /, alpha: float = 1.0) -> Tensor:
    """x, or alpha (e^(x / alpha) - 1) where x <= 0."""

def selu(x: Tensor, /) -> Tensor:
    """
    1.0507 elu(x, 1.67326), which keeps mean 0 and variance 1 of normal inputs.
    """

def hardsigmoid(x: Tensor, /) -> Tensor:
    """x / 6 + 1/2, between 0 and 1."""

def hardswish(x: Tensor, /) -> Tensor:
    """x hardsigmoid(x)"""

def copysign(x: Tensor, sign: Tensor) -> Tensor:
    """|x| with the sign of `sign`, which counts as a constant."""

def logaddexp(a: Tensor, b: Tensor) -> Tensor:
    """ln(e^a + e^b), without overflow; shapes broadcast."""

def save_tensors(path: str | os.PathLike, tensors: Mapping[str, Tensor]) -> None:
    """Writes {name: tensor} to a safetensors file."""

def load_tensors(path: str | os.PathLike) -> dict[str, Tensor]:
    """
    Reads the floating-point tensors of a safetensors file as {name: tensor}: F64 as float64, others as float32.
    """

def jacobian(f: Callable, x: Tensor) -> Tensor:
    """df/dx, with f's shape followed by x's."""

def hessian(f: Callable, x: Tensor) -> Tensor:
    """The second derivatives of a scalar f, with x's shape twice."""

def jvp(f: Callable, x: Tensor, v: Tensor) -> Tensor:
    """The Jacobian times v: the change of f as x moves along v."""

def hvp(f: Callable, x: Tensor, v: Tensor) -> Tensor:
    """The Hessian of a scalar f times v, without building the Hessian."""

class Tokenizer:
    """Text to ids in [0, vocab_size) and back."""

    @staticmethod
    def from_pretrained(path: str | os.PathLike, strict_vocabulary: bool = False) -> Tokenizer:
        """
        Opens a tokenizer.json, a folder with one, or a run. With strict_vocabulary, characters outside the vocabulary are an error; otherwise they are replaced with a warning.
        """

    @staticmethod
    def train(texts: Sequence[str], kind: str = 'bpe', vocab_size: int = 4096, pre_tokenizer: str = 'gpt2', strict_vocabulary: bool = False) -> Tokenizer:
        """Trains a tokenizer on texts; kind: 'bpe' (byte pairs) or 'char'."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""

    def decode(self, ids: numpy.typing.ArrayLike) -> str:
        """The text of ids; an incomplete character becomes U+FFFD."""

    def to_json(self) -> str:
        """The text of tokenizer.json."""

    def save(self, path: str | os.PathLike) -> None:
        """Writes tokenizer.json."""

    @property
    def vocab_size(self) -> int: ...

    @property
    def kind(self) -> str: ...

    @property
    def end_of_text(self) -> int | None:
        """The id that ends a text, or None."""

    def __len__(self) -> int: ...

class Writing:
    """A text in progress: an iterator over its pieces."""

    def __iter__(self) -> object: ...

    def __next__(self) -> str: ...

    @property
    def tokens(self) -> list[int]:
        """The ids generated so far."""

    @property
    def seed(self) -> int: ...

    @property
    def finish_reason(self) -> str:
        """'length', 'stop', 'end_of_text'; 'none' before the end."""

class Transformer(_nn.Layer):
    pass

class Model(Transformer):
    """A language model with its tokenizer."""

    @staticmethod
    def from_pretrained(path: str | os.PathLike, strict_vocabulary: bool = False) -> Model:
        """
        Opens a Hugging Face model folder, a GGUF file, a PEFT adapter, or a run of `inkling train`.
        """

    def save_pretrained(self, folder: str | os.PathLike, dtype: str = 'F32') -> None:
        """
        Writes a model folder that transformers opens, with weights as F32, F16 or BF16.
        """

    @property
    def tokenizer(self) -> Tokenizer: ...

    @property
    def config(self) -> dict:
        """Sizes of the model."""

    def logits(self, ids: numpy.typing.ArrayLike) -> Tensor:
        """
        ids (B, T), or (T) for one text -> (B, T, V): logits of the token after each.
        """

    def loss(self, ids: numpy.typing.ArrayLike, targets: numpy.typing.ArrayLike | None = None, random: Generator | None = None) -> Tensor:
        """
        Mean nats per token of targets (B, T), which are by default the next token of ids.
        """

    def attention(self, ids: numpy.typing.ArrayLike) -> list[Tensor]:
        """The attention weights (B, H, T, T) of each layer."""

    def generate(self, prompt: str | Sequence[int] = '', max_tokens: int = 200, temperature: float = 0.8, top_k: int = 0, top_p: float = 1.0, min_p: float = 0.0, repeat_penalty: float = 1.0, presence_penalty: float = 0.0, frequency_penalty: float = 0.0, stop: Sequence[str] = [], seed: int | None = None, sample: int = 0, context_shift: int = 0, special_tokens: bool = False, precision: str = 'fp32') -> Writing:
        """
        Continues a prompt, a text or ids, piece by piece: print(*model.generate('The '), sep=''). It takes the flags of `inkling generate`; without a seed, each call gives another text. precision: fp32, bf16 or q8_0.
        """
