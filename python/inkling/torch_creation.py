"""PyTorch's functions that make tensors. Integers and bools are arrays. Random numbers without a generator are
default_generator's."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ._inkling import Error, Generator, Tensor, default_generator
from .torch_arrays import FLOATS, Array


def tensor(data: Any, dtype: str | None = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A copy of numbers."""
    array = np.array(data.detach() if isinstance(data, Tensor) else data)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"tensor: numbers are required, got dtype {array.dtype}")
    if dtype is None:
        dtype = str(array.dtype) if array.dtype.kind != "f" or hasattr(data, "dtype") else "float32"
    if dtype in FLOATS:
        return Tensor(array.astype(dtype), requires_grad=requires_grad)
    return array.astype(dtype).view(Array)


def _sizes(size: tuple) -> Any:
    return size[0] if len(size) == 1 else size


def full(size: Any, fill_value: Any, dtype: str = "float32", device: Any = None, requires_grad: bool = False) -> Any:
    if dtype in FLOATS:
        return Tensor.full(size, fill_value, requires_grad, dtype=dtype)
    return np.full(size, fill_value, dtype).view(Array)


def zeros(*size: Any, **options: Any) -> Any:
    return full(_sizes(size), 0, **options)


def ones(*size: Any, **options: Any) -> Any:
    return full(_sizes(size), 1, **options)


def _random(make: Callable) -> Callable:
    def random(*size: Any, generator: Generator | None = None, device: Any = None, **options: Any) -> Tensor:
        return make(_sizes(size), (generator or default_generator).next(), **options)

    return random


rand, randn, empty = _random(Tensor.rand), _random(Tensor.randn), zeros


def _like(make: Callable) -> Callable:
    return lambda x, *value, **options: make(x.shape, *value, **{"dtype": str(x.dtype), **options})


zeros_like, ones_like, full_like, empty_like = _like(zeros), _like(ones), _like(full), _like(zeros)
rand_like, randn_like = _like(rand), _like(randn)


def arange(
    start: float, end: float | None = None, step: float = 1, dtype: str | None = None, device: Any = None
) -> Any:
    values = np.arange(start, step=step) if end is None else np.arange(start, end, step)
    return tensor(values, dtype or ("float32" if values.dtype.kind == "f" else "int64"))


def linspace(start: float, end: float, steps: int, dtype: str = "float32") -> Tensor:
    return tensor(np.linspace(start, end, steps), dtype)


def eye(n: int, m: int | None = None, dtype: str = "float32") -> Any:
    return tensor(np.eye(n, m), dtype)


def manual_seed(seed: int) -> Generator:
    return default_generator.manual_seed(seed)


def randint(low: int, high: Any, size: Any = None, generator: Generator | None = None) -> Array:
    low, high, size = (0, low, high) if size is None else (low, high, size)
    return (rand(size, generator=generator, dtype="float64").numpy() * (high - low) + low).astype(np.int64).view(Array)


def randperm(n: int, generator: Generator | None = None) -> Array:
    return np.argsort(rand(n, generator=generator, dtype="float64").numpy(), kind="stable").view(Array)


def normal(mean: float, std: float, size: Any, generator: Generator | None = None) -> Tensor:
    return mean + std * randn(size, generator=generator)


def bernoulli(p: Tensor, generator: Generator | None = None) -> Tensor:
    return Tensor(rand(p.shape, generator=generator, dtype=p.dtype) < p, dtype=p.dtype)


def multinomial(p: Tensor, num_samples: int, replacement: bool = False, generator: Generator | None = None) -> Array:
    """Ids (..., num_samples), drawn with probabilities in proportion to p (..., V)."""
    rates = p.detach().double().numpy()
    if not replacement and (rates > 0).sum(-1).min() < num_samples:
        raise Error(f"multinomial: {num_samples} positive probabilities are required, or replacement=True")
    shape = (*rates.shape[:-1], num_samples if replacement else 1, rates.shape[-1])
    with np.errstate(divide="ignore", invalid="ignore"):  # of exponential clocks, the first is i with probability p_i
        times = -np.log1p(-rand(shape, generator=generator, dtype="float64").numpy()) / rates[..., None, :]
    times[np.isnan(times)] = np.inf
    return (times.argmin(-1) if replacement else times[..., 0, :].argsort(-1)[..., :num_samples]).view(Array)


Tensor.bernoulli, Tensor.multinomial = bernoulli, multinomial

__all__ = [name for name, f in globals().items() if getattr(f, "__module__", "") == __name__ and name[0] != "_"]
