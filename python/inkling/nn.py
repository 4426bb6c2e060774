"""Layers, and what is made of them."""

from __future__ import annotations

from typing import Any, Callable, Iterator

from ._inkling import Generator, Tensor
from ._inkling._nn import *  # noqa: F403
from ._inkling._nn import Layer


def _named(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The tensors, layers and modules in nested lists, tuples and dicts."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _named(f"{name}{key}.", item)
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from _named(f"{name}{place}.", item)
    elif isinstance(value, (Tensor, Layer, Module)):
        yield name.removesuffix("."), value


class Module:
    """A user-defined model. Its parameters are the tensors that require a gradient, the layers and the modules among its
    attributes, also inside lists, tuples and dicts: "up.weight", "blocks.0.weight".

        class Net(nn.Module):
            def __init__(self, random):
                self.up = nn.Linear(random, 2, 16)
                self.down = nn.Linear(random, 16, 1)

            def forward(self, x):
                return self.down(self.up(x).relu())
    """

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def _children(self) -> Iterator[tuple[str, Any]]:
        yield from _named("", vars(self))

    def parameters(self) -> dict[str, Tensor]:
        """{name: tensor}"""
        found: dict[str, Tensor] = {}
        for name, child in self._children():
            if isinstance(child, Tensor):
                if child.requires_grad:
                    found[name] = child
            elif isinstance(child, (Layer, Module)):
                found.update({f"{name}.{below}": p for below, p in child.parameters().items()})
        return found

    def parameter_count(self) -> int:
        return sum(p.size for p in self.parameters().values())

    def zero_grad(self) -> None:
        for parameter in self.parameters().values():
            parameter.zero_grad()

    def train(self, on: bool = True) -> None:
        """Dropout drops in training mode alone."""
        for _, child in self._children():
            if isinstance(child, (Layer, Module)):
                child.train(on)

    def eval(self) -> None:
        self.train(False)


class Sequential(Module):
    """Layers one after the other; between them any functions of a tensor, such as the ops. Parameters are named by
    place: "0.weight", "2.weight"."""

    def __init__(self, *steps: Callable[[Tensor], Tensor]) -> None:
        self.steps = list(steps)

    def _children(self) -> Iterator[tuple[str, Any]]:
        yield from _named("", self.steps)

    def forward(self, x: Tensor, random: Generator | None = None) -> Tensor:
        for step in self.steps:
            drops = isinstance(step, (Dropout, MLP, Sequential))  # noqa: F405
            x = step(x, random) if drops and random is not None else step(x)
        return x
