"""Modules made of layers, and lists, chains and dicts of them."""

from __future__ import annotations

import fnmatch
from collections.abc import MutableMapping
from typing import Any, Callable, Iterable, Iterator

from .. import _inkling
from .._inkling import Generator, Tensor, _optim
from .._inkling._nn import MLP, Dropout, Layer
from ..torch_arrays import Array
from ..torch_methods import absent
from .stateful import Stateful


def _named(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The tensors, layers and modules in nested lists, tuples and dicts."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _named(f"{name}{key}.", item)
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from _named(f"{name}{place}.", item)
    elif isinstance(value, (Layer, Module)) or isinstance(value, Tensor) and value.is_leaf:
        yield name.removesuffix("."), value


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

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(absent(name, f"'{type(self).__name__}' object has no attribute '{name}'"))

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Pairs of name and tensor; a tensor with several names has the first. One that is frozen later stays."""
        trained = vars(self).setdefault("_trained", set())

        def take(name: str, tensor: Tensor) -> bool:
            if tensor.requires_grad:
                trained.add(name)
            return name in trained

        found = self._below(lambda child: dict(child.named_parameters()), take)
        first = {_optim.identity(p) or name: (name, p) for name, p in reversed(found.items())}
        return reversed(first.values())

    def parameters(self) -> Iterator[Tensor]:
        return (p for _, p in self.named_parameters())

    def state_dict(self) -> dict[str, Any]:
        found = self._below(lambda child: child.state_dict(), lambda name, tensor: True)
        saved = vars(self).get("_saved", {})
        arrays = {name: vars(self)[name] for name, on in saved.items() if on and isinstance(vars(self)[name], Array)}
        return {name: tensor for name, tensor in {**found, **arrays}.items() if saved.get(name, True)}

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """self.name = tensor, or an array, which is part of the state if persistent."""
        setattr(self, name, tensor)
        vars(self).setdefault("_saved", {})[name] = persistent

    def register_parameter(self, name: str, tensor: Tensor | None) -> None:
        setattr(self, name, tensor)

    def add_module(self, name: str, module: Any) -> None:
        setattr(self, name, module)

    def _below(self, of: Callable[[Any], dict[str, Tensor]], take: Callable[[str, Tensor], bool]) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for name, child in self._children():
            if not isinstance(child, Tensor):
                found.update({f"{name}.{below}": p for below, p in of(child).items()})
            elif take(name, child):
                found[name] = child
        return found

    def named_children(self) -> Iterator[tuple[str, Any]]:
        return ((name, child) for name, child in self._children() if not isinstance(child, Tensor))

    def _ignored(self) -> list[str]:
        """Names that PyTorch's module also has in its state dict."""
        return [f"{name}.{below}" for name, child in self.named_children() for below in child._ignored()]

    def parameter_count(self) -> int:
        return sum(p.size for p in self.parameters())

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self.parameters():
            parameter.zero_grad()

    def train(self, on: bool = True) -> Module:
        """Dropout is active only in training mode."""
        self.training = on
        for _, child in self.named_children():
            child.train(on)
        return self

    def eval(self) -> Module:
        return self.train(False)

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
        parameters = dict(self.named_parameters())
        for pattern, (kind, _) in rules:
            if not fnmatch.filter(parameters, pattern):
                raise _inkling.Error(f"initialize: '{pattern}' fits the name of no parameter")
            if kind not in ("constant", "normal", "uniform"):
                raise _inkling.Error(f"initialize: expected constant, normal or uniform, got '{kind}'")
        for name, p in parameters.items():
            kind, size = next((how for pattern, how in rules if fnmatch.fnmatchcase(name, pattern)), ("", 0.0))
            if kind == "constant":
                p.data[...] = size
            elif kind == "normal":
                p.data[...] = size * Tensor.randn(p.shape, random.next(), dtype="float64").numpy()
            elif kind == "uniform":
                p.data[...] = size * (2 * Tensor.rand(p.shape, random.next(), dtype="float64").numpy() - 1)

    def __repr__(self) -> str:
        if not any(self._children()):
            return f"{type(self).__name__}()"
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

    def append(self, module: Any) -> Any:
        self.steps.append(module)
        return self

    def extend(self, modules: Iterable[Any]) -> Any:
        self.steps.extend(modules)
        return self

    def insert(self, place: int, module: Any) -> None:
        self.steps.insert(place, module)

    def add_module(self, name: str, module: Any) -> None:
        if name != str(len(self)):
            raise _inkling.Error(f"add_module: modules are named by index, got '{name}': use append()")
        self.append(module)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: Any) -> Any:
        found = self.steps[place]
        if not isinstance(place, slice):
            return found
        return Sequential(*found) if isinstance(self, Sequential) else ModuleList(found)

    def __setitem__(self, place: int, module: Any) -> None:
        self.steps[place] = module


class Sequential(ModuleList):
    """A chain of layers and functions of a tensor, such as the ops. Parameters are named by index: "0.weight",
    "2.weight"."""

    def __init__(self, *steps: Callable[[Tensor], Tensor]) -> None:
        if len(steps) == 1 and isinstance(steps[0], dict):
            raise _inkling.Error("Sequential: modules are named by index: write Sequential(*modules.values())")
        super().__init__(steps)

    def forward(self, x: Tensor, random: Generator | None = None) -> Tensor:
        for step in self.steps:
            drops = isinstance(step, (Dropout, MLP, Sequential))
            x = step(x, random) if drops and random is not None else step(x)
        return x


class ModuleDict(Module, MutableMapping):
    """Modules by name: "a.weight"."""

    def __init__(self, modules: dict[str, Any] | None = None) -> None:
        vars(self).update(modules or {})

    __hash__ = object.__hash__

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]

    def __setitem__(self, name: str, module: Any) -> None:
        vars(self)[name] = module

    def __delitem__(self, name: str) -> None:
        del vars(self)[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.named_children())

    def __len__(self) -> int:
        return len([*self])
