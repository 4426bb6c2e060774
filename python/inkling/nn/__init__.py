"""Layers, and modules made of them."""

from __future__ import annotations

import fnmatch
import os
from typing import Any, Callable, Iterable, Iterator

from .. import _inkling
from .._inkling import Generator, Tensor, _optim
from .._inkling._nn import *  # noqa: F403
from .._inkling._nn import Layer


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
        return dict(self.named_parameters())

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

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and layer or module."""
        return iter(())

    def children(self) -> Iterator[Any]:
        return (child for _, child in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """The module itself, and all below it."""
        yield prefix, self
        for name, child in self.named_children():
            yield from child.named_modules(f"{prefix}.{name}".removeprefix("."))

    def modules(self) -> Iterator[Any]:
        return (module for _, module in self.named_modules())

    def apply(self, f: Callable[[Any], None]) -> Any:
        """Calls f with each module, the outer ones last."""
        for child in self.children():
            child.apply(f)
        f(self)
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        for p in self.parameters():
            p.requires_grad = requires_grad
        return self

    def to(self, *where: Any, **named: Any) -> Any:
        """The module: it computes on the CPU, in the dtype that it was made with."""
        for p in self.parameters():
            if p.detach().to(*where, **named).dtype != p.dtype:
                raise _inkling.DTypeError(f"to: the module is {p.dtype}: make its layers with dtype='float64'")
        return self

    def cpu(self) -> Any:
        return self

    def float(self) -> Any:
        return self.to("float32")

    def double(self) -> Any:
        return self.to("float64")

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

    def state_dict(self) -> dict[str, Tensor]:
        found = self._below(lambda child: child.state_dict(), lambda name, tensor: True)
        return {name: tensor for name, tensor in found.items() if name not in vars(self).get("_unsaved", ())}

    def register_buffer(self, name: str, tensor: Tensor, persistent: bool = True) -> None:
        """self.name = tensor, which is part of the state if persistent."""
        setattr(self, name, tensor)
        if not persistent:
            vars(self).setdefault("_unsaved", set()).add(name)

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

    def buffers(self) -> list[str]:
        """Names that PyTorch's module also has in its state dict."""
        return [f"{name}.{below}" for name, child in self.named_children() for below in child.buffers()]

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


for _name in "named_children children named_modules modules apply requires_grad_ to cpu float double".split():
    setattr(Layer, _name, vars(Stateful)[_name])

from . import functional, init, utils  # noqa: E402
from .layers import *  # noqa: E402, F403
