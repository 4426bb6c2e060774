"""torch.distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import torch_arrays, torch_creation
from ._inkling import Error, Tensor


class Categorical:
    """Ids with these probabilities (..., V), or with softmax(logits)."""

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None) -> None:
        if (probs is None) == (logits is None):
            raise Error("Categorical: probs or logits are required, and not both")
        if logits is None:
            self.probs = probs / probs.sum(dim=-1, keepdim=True)
            eps = float(np.finfo(probs.dtype).eps)
            self.logits = self.probs.clamp(eps, 1 - eps).log()  # finite, as PyTorch's
        else:
            self.logits = logits.log_softmax(-1)
            self.probs = self.logits.exp()

    def sample(self, sample_shape: tuple = ()) -> torch_arrays.Array:
        n = math.prod(sample_shape)
        ids = torch_creation.multinomial(self.probs, n, replacement=True)  # (..., n)
        return np.moveaxis(ids, -1, 0).reshape((*sample_shape, *ids.shape[:-1]))

    def log_prob(self, value: Any) -> Tensor:
        ids = torch_creation.tensor(value)
        return self.logits.expand((*ids.shape, self.logits.shape[-1])).gather(-1, ids[..., None]).squeeze(-1)

    def entropy(self) -> Tensor:
        return -(self.probs * self.logits.clamp(min=float(np.finfo(self.logits.dtype).min))).sum(dim=-1)


class Normal:
    """Numbers with this mean and standard deviation."""

    def __init__(self, loc: Any, scale: Any) -> None:
        like = loc if isinstance(loc, Tensor) else scale
        self.loc, self.scale = (
            x if isinstance(x, Tensor) else torch_creation.tensor(float(x), getattr(like, "dtype", "float32"))
            for x in (loc, scale)
        )

    def rsample(self, sample_shape: tuple = ()) -> Tensor:
        shape = (self.loc.detach() + self.scale.detach()).shape
        return self.loc + self.scale * torch_creation.randn((*sample_shape, *shape), dtype=self.loc.dtype)

    def sample(self, sample_shape: tuple = ()) -> Tensor:
        return self.rsample(sample_shape).detach()

    def log_prob(self, value: Any) -> Tensor:
        return -(((value - self.loc) / self.scale) ** 2) / 2 - self.scale.log() - math.log(2 * math.pi) / 2

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + math.log(2 * math.pi)) / 2 + 0 * self.loc
