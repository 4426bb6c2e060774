"""torch.utils.data: examples by number, and batches of them."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable, Iterator

import numpy as np

from .. import _inkling, torch_creation
from .._inkling import Error, Generator, Tensor


class Dataset:
    """Subclasses have __getitem__(i) and __len__()."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__()")


class TensorDataset(Dataset):
    """Rows of tensors or arrays of one length: (x[i], y[i])."""

    def __init__(self, *tensors: Any) -> None:
        if len({len(x) for x in tensors}) != 1:
            raise Error(f"TensorDataset: expected tensors of one length, got lengths {[len(x) for x in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple:
        return tuple(x[index] for x in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class Subset(Dataset):
    def __init__(self, dataset: Any, indices: Any) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Iterable[float], generator: Generator | None = None) -> list[Subset]:
    """Parts of these lengths, or of these fractions."""
    lengths = list(lengths)
    if math.isclose(sum(lengths), 1) and len(dataset) > 1:
        lengths = [int(len(dataset) * share) for share in lengths]
        for i in range(len(dataset) - sum(lengths)):
            lengths[i % len(lengths)] += 1
    if sum(lengths) != len(dataset):
        raise Error(f"random_split: expected lengths that add up to {len(dataset)}, got {lengths}")
    order, ends = torch_creation.randperm(len(dataset), generator).tolist(), np.cumsum(lengths).tolist()
    return [Subset(dataset, order[end - n : end]) for n, end in zip(lengths, ends)]


def default_collate(examples: list) -> Any:
    """Examples as a batch: tensors and arrays are stacked; in tuples and dicts, place by place."""
    first = examples[0]
    if isinstance(first, (tuple, list)):
        return [default_collate(list(part)) for part in zip(*examples)]
    if isinstance(first, dict):
        return {name: default_collate([example[name] for example in examples]) for name in first}
    if isinstance(first, Tensor):
        return _inkling.stack(examples)
    return examples if isinstance(first, str) else torch_creation.tensor(np.stack(examples))


class DataLoader:
    """Batches of a dataset, in order, or shuffled by `generator` or default_generator. They are made when they are
    asked for, in this process."""

    def __init__(
        self, dataset: Any, batch_size: int = 1, shuffle: bool = False, sampler: Iterable[int] | None = None, *,
        num_workers: int = 0, collate_fn: Callable[[list], Any] | None = None, pin_memory: bool = False,
        drop_last: bool = False, generator: Generator | None = None, persistent_workers: bool = False,
    ) -> None:
        if batch_size < 1:
            raise Error(f"DataLoader: expected a batch_size of at least 1, got {batch_size}")
        if shuffle and sampler is not None:
            raise Error("DataLoader: shuffle or a sampler is required, and not both")
        self.dataset, self.batch_size, self.shuffle, self.sampler = dataset, batch_size, shuffle, sampler
        self.collate_fn, self.drop_last, self.generator = collate_fn or default_collate, drop_last, generator

    def __len__(self) -> int:
        n = len(self.dataset if self.sampler is None else self.sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        order = range(len(self.dataset)) if self.sampler is None else list(self.sampler)
        if self.shuffle:
            order = torch_creation.randperm(len(order), self.generator).tolist()
        for i in range(len(self)):
            yield self.collate_fn([self.dataset[j] for j in order[i * self.batch_size : (i + 1) * self.batch_size]])
