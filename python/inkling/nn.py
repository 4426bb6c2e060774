"""Layers, and modules made of them."""

from __future__ import annotations

import fnmatch
import os
from typing import Any, Callable, Iterable, Iterator

from . import _inkling
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


class Stateful:
    """Methods that modules and layers share."""

    def state_dict(self) -> dict[str, Tensor]:
        """{name: tensor} of all parameters, frozen or not, and of a Module's other tensors. They share the memory."""
        return self.parameters()

    def load_state_dict(self, state: dict[str, Any], strict: bool = True) -> tuple[list[str], list[str]]:
        """Copies the values of tensors or arrays; returns (missing, unexpected) names, which are an error if strict."""
        own = self.state_dict()
        values = {name: value.numpy() if isinstance(value, Tensor) else value for name, value in state.items()}
        missing = [name for name in own if name not in values]
        unexpected = [name for name in values if name not in own and name not in self.buffers()]
        problems = [
            f"{name} has shape {tuple(values[name].shape)}, the module's is {p.shape}"
            for name, p in own.items()
            if name in values and tuple(values[name].shape) != p.shape
        ]
        if strict:
            problems += [f"{name} is missing" for name in missing] + [f"{name} is not known" for name in unexpected]
        if problems:
            raise _inkling.BadInput("the state does not fit the module; " + "; ".join(problems))
        for name, p in own.items():
            if name in values:
                p.data = values[name]
        return missing, unexpected

    def save(self, path: str | os.PathLike) -> None:
        """Writes the state to a safetensors file, which a PyTorch module with the same names reads, too."""
        _inkling.save_tensors(path, self.state_dict())

    def load(self, path: str | os.PathLike, strict: bool = True) -> tuple[list[str], list[str]]:
        """Calls load_state_dict() with a safetensors file."""
        return self.load_state_dict(_inkling.load_tensors(path), strict)


def _remade(made: tuple, state: dict[str, Tensor], training: bool) -> Layer:
    layer = made[0](*made[1:])
    layer.load_state_dict(state)
    layer.freeze(lambda name: not state[name].requires_grad)
    layer.train(training)
    return layer


def _reduced(layer: Layer) -> tuple:
    return _remade, (layer._made, layer.state_dict(), layer.training)


class Module(Stateful):
    """A user-defined model. Its parameters are the tensors that require a gradient, the layers and the modules among
    its attributes, also inside lists, tuples and dicts: "up.weight", "blocks.0.weight".

        class Net(nn.Module):
            def __init__(self, random):
                self.up = nn.Linear(random, 2, 16)
                self.down = nn.Linear(random, 16, 1)

            def forward(self, x):
                return self.down(self.up(x).relu())
    """

    training = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def _children(self) -> Iterator[tuple[str, Any]]:
        yield from _named("", vars(self))

    def parameters(self) -> dict[str, Tensor]:
        """{name: tensor}"""
        return self._below(lambda child: child.parameters(), lambda tensor: tensor.requires_grad)

    def state_dict(self) -> dict[str, Tensor]:
        return self._below(lambda child: child.state_dict(), lambda tensor: True)

    def _below(self, of: Callable[[Any], dict[str, Tensor]], take: Callable[[Tensor], bool]) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for name, child in self._children():
            if not isinstance(child, Tensor):
                found.update({f"{name}.{below}": p for below, p in of(child).items()})
            elif take(child):
                found[name] = child
        return found

    def _modules(self) -> Iterator[tuple[str, Any]]:
        return ((name, child) for name, child in self._children() if not isinstance(child, Tensor))

    def buffers(self) -> list[str]:
        """Names that PyTorch's module also has in its state dict."""
        return [f"{name}.{below}" for name, child in self._modules() for below in child.buffers()]

    def parameter_count(self) -> int:
        return sum(p.size for p in self.parameters().values())

    def zero_grad(self) -> None:
        for parameter in self.parameters().values():
            parameter.zero_grad()

    def train(self, on: bool = True) -> None:
        """Dropout is active only in training mode."""
        self.training = on
        for _, child in self._modules():
            child.train(on)

    def eval(self) -> None:
        self.train(False)

    def freeze(self, which: Callable[[str], bool] | None = None) -> None:
        """Freezes the parameters for which which(name) is true, or all: they get no gradients."""
        for name, child in self._children():
            if not isinstance(child, Tensor):
                child.freeze(lambda below, above=name: which is None or which(f"{above}.{below}"))
            elif which is None or which(name):
                child.requires_grad = False

    def initialize(self, random: Generator, rules: list[tuple[str, tuple[str, float]]]) -> None:
        """Overwrites each parameter by the first rule that matches its name: [('*bias', ('constant', 0)), ('*',
        ('normal', 0.02))]."""
        parameters = self.parameters()
        for pattern, (kind, _) in rules:
            if not fnmatch.filter(parameters, pattern):
                raise _inkling.Error(f"initialize: '{pattern}' fits the name of no parameter")
            if kind not in ("constant", "normal", "uniform"):
                raise _inkling.Error(f"initialize: constant, normal or uniform is required, got '{kind}'")
        for name, p in parameters.items():
            kind, size = next((how for pattern, how in rules if fnmatch.fnmatchcase(name, pattern)), ("", 0.0))
            if kind == "constant":
                p.data[...] = size
            elif kind == "normal":
                p.data[...] = size * Tensor.randn(p.shape, random.next(), dtype="float64").numpy()
            elif kind == "uniform":
                p.data[...] = size * (2 * Tensor.rand(p.shape, random.next(), dtype="float64").numpy() - 1)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}(  # {self.parameter_count()} parameters"]
        for name, child in self._children():
            text = f"{child.shape}" if isinstance(child, Tensor) else repr(child).replace("\n", "\n  ")
            lines.append(f"  ({name}): {text}")
        return "\n".join([*lines, ")"])


class ModuleList(Module):
    """A list of layers and modules, named by index: "0.weight". A plain list works, too."""

    def __init__(self, modules: Iterable[Any] = ()) -> None:
        self.steps = list(modules)

    def _children(self) -> Iterator[tuple[str, Any]]:
        yield from _named("", self.steps)

    def append(self, module: Any) -> None:
        self.steps.append(module)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: Any) -> Any:
        return self.steps[place]


class Sequential(ModuleList):
    """A chain of layers and functions of a tensor, such as the ops. Parameters are named by index: "0.weight",
    "2.weight"."""

    def __init__(self, *steps: Callable[[Tensor], Tensor]) -> None:
        super().__init__(steps)

    def forward(self, x: Tensor, random: Generator | None = None) -> Tensor:
        for step in self.steps:
            drops = isinstance(step, (Dropout, MLP, Sequential))  # noqa: F405
            x = step(x, random) if drops and random is not None else step(x)
        return x
