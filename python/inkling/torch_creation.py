"""PyTorch's functions that make tensors. Integers and bools are arrays. Random numbers without a generator are
default_generator's."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import torch_arrays
from ._inkling import Error, Generator, Tensor, default_generator
from .torch_arrays import FLOATS, Array


def _kind(dtype: str, device: Any, requires_grad: bool) -> bool:
    """Whether a tensor is to be made, not an array of integers or bools."""
    if device is not None:
        torch_arrays.device(device)
    if requires_grad and dtype not in FLOATS:
        raise Error(f"requires_grad: expected float32 or float64, got {dtype}")
    return dtype in FLOATS


def tensor(data: Any, dtype: str | None = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A copy of numbers."""
    array = np.array(data.detach() if isinstance(data, Tensor) else data)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"tensor: expected numbers, got dtype {array.dtype}")
    if dtype is None:
        dtype = str(array.dtype) if array.dtype.kind != "f" or hasattr(data, "dtype") else "float32"
    if _kind(dtype, device, requires_grad):
        return Tensor(array.astype(dtype), requires_grad=requires_grad)
    return array.astype(dtype).view(Array)


def as_tensor(data: Any, dtype: str | None = None, device: Any = None) -> Any:
    return data if isinstance(data, (Tensor, Array)) and dtype in (None, data.dtype) else tensor(data, dtype, device)


def full(size: Any, fill_value: Any, dtype: str | None = None, device: Any = None, requires_grad: bool = False) -> Any:
    if dtype is None:
        dtype = "bool" if isinstance(fill_value, bool) else "int64" if isinstance(fill_value, int) else "float32"
    if _kind(dtype, device, requires_grad):
        return Tensor.full(size, fill_value, requires_grad, dtype=dtype)
    return np.full(size, fill_value, dtype).view(Array)


def _sized(make: Callable) -> Callable:
    """zeros(2, 3), zeros((2, 3)), zeros(size=(2, 3))"""

    def sized(*sizes: Any, size: Any = None, dtype: str | None = None, **options: Any) -> Any:
        size = size if size is not None else sizes[0] if len(sizes) == 1 else sizes
        return make(size, dtype=dtype or "float32", **options)

    return sized


def _random(make: Callable) -> Callable:
    def random(
        size: Any, dtype: str, generator: Generator | None = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        _kind(dtype, device, requires_grad)
        return make(size, (generator or default_generator).next(), requires_grad, dtype=dtype)

    return _sized(random)


zeros = empty = _sized(lambda size, **options: full(size, 0, **options))
ones = _sized(lambda size, **options: full(size, 1, **options))
rand, randn = _random(Tensor.rand), _random(Tensor.randn)


def _like(make: Callable) -> Callable:
    return lambda x, *value, **options: make(x.shape, *value, **{"dtype": str(x.dtype), **options})


zeros_like, ones_like, full_like, empty_like = _like(zeros), _like(ones), _like(full), _like(zeros)
rand_like, randn_like = _like(rand), _like(randn)


def arange(start: float, end: float | None = None, step: float = 1, dtype: str | None = None, **options: Any) -> Any:
    values = np.arange(start, step=step) if end is None else np.arange(start, end, step)
    return tensor(values, dtype or ("float32" if values.dtype.kind == "f" else "int64"), **options)


def linspace(start: float, end: float, steps: int, dtype: str = "float32", **options: Any) -> Any:
    return tensor(np.linspace(start, end, steps), dtype, **options)


def eye(n: int, m: int | None = None, dtype: str = "float32", **options: Any) -> Any:
    return tensor(np.eye(n, m), dtype, **options)


def initial_seed() -> int:
    return default_generator.seed


def manual_seed(seed: int) -> Generator:
    return default_generator.manual_seed(seed)


def randint(
    low: int = 0, high: Any = None, size: Any = None, generator: Generator | None = None, dtype: str = "int64",
    device: Any = None,
) -> Any:
    """Integers of at least low and below high: randint(high, size) or randint(low, high, size)."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if not low < high:
        raise Error(f"randint: low must be below high, got {low} and {high}")
    below = rand(size=size, generator=generator, dtype="float64").numpy() * (high - low)
    return tensor(below.astype(np.int64) + low, dtype, device)


def randperm(n: int, generator: Generator | None = None, device: Any = None) -> Array:
    return tensor(np.argsort(rand(n, generator=generator, dtype="float64").numpy(), kind="stable"), "int64", device)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Generator | None = None) -> Tensor:
    """mean and std are numbers, or tensors, which give the size."""
    mean, std = (x.detach() if isinstance(x, Tensor) else x for x in (mean, std))
    if size is not None:
        return mean + std * randn(size=size, generator=generator)
    return mean + std * randn_like(mean + std, generator=generator)


def _probabilities(name: str, p: Tensor, most: float) -> np.ndarray:
    p = p.detach().double().numpy()
    if not ((p >= 0) & (p <= most)).all():
        raise Error(f"{name}: expected probabilities, got {p[~((p >= 0) & (p <= most))][0]}")
    return p


def bernoulli(p: Tensor, *, generator: Generator | None = None) -> Tensor:
    probabilities = _probabilities("bernoulli", p, 1.0)
    return Tensor(rand(size=p.shape, generator=generator, dtype="float64").numpy() < probabilities, dtype=p.dtype)


def multinomial(p: Tensor, num_samples: int, replacement: bool = False, generator: Generator | None = None) -> Array:
    """Ids (..., num_samples), drawn with probabilities in proportion to p (..., V)."""
    rates = _probabilities("multinomial", p, np.finfo(float).max)
    if (rates > 0).sum(-1).min() < (1 if replacement else num_samples):
        raise Error(f"multinomial: {num_samples} positive probabilities are required, or replacement=True")
    shape = (*rates.shape[:-1], num_samples if replacement else 1, rates.shape[-1])
    with np.errstate(divide="ignore", invalid="ignore"):  # of exponential clocks, the first is i with probability p_i
        times = -np.log1p(-rand(shape, generator=generator, dtype="float64").numpy()) / rates[..., None, :]
    times[np.isnan(times)] = np.inf
    return (times.argmin(-1) if replacement else times[..., 0, :].argsort(-1)[..., :num_samples]).view(Array)


__all__ = """arange as_tensor bernoulli empty empty_like eye full full_like initial_seed linspace manual_seed multinomial normal ones ones_like
rand rand_like randint randn randn_like randperm tensor zeros zeros_like""".split()
