"""Methods that layers and modules share."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator

from .. import _inkling
from .._inkling import Tensor
from ..torch_arrays import Array


class Stateful:
    """Methods that modules and layers share."""

    def state_dict(self) -> dict[str, Tensor]:
        """{name: tensor} of all parameters, frozen or not, and of a Module's other tensors. They share the memory."""
        return dict(self.named_parameters())

    def load_state_dict(self, state: dict[str, Any], strict: bool = True) -> tuple[list[str], list[str]]:
        """Copies the values of tensors or arrays; returns (missing, unexpected) names, which are an error if strict."""
        own, ignored = self.state_dict(), self._ignored()
        values = {name: value.numpy() if isinstance(value, Tensor) else value for name, value in state.items()}
        missing = [name for name in own if name not in values]
        unexpected = [name for name in values if name not in own and name not in ignored]
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
                p.data[...] = values[name]
        return missing, unexpected

    def named_buffers(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and tensor of the state that are not parameters."""
        parameters = {name for name, _ in self.named_parameters()}
        return ((name, x) for name, x in self.state_dict().items() if name not in parameters)

    def buffers(self) -> Iterator[Any]:
        return (x for _, x in self.named_buffers())

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
        state = self.state_dict()
        for name, x in state.items():
            if isinstance(x, Array):
                raise _inkling.DTypeError(f"save: {name} is of {x.dtype}: use inkling.save(net.state_dict(), path)")
        _inkling.save_tensors(path, state)

    def load(self, path: str | os.PathLike, strict: bool = True) -> tuple[list[str], list[str]]:
        """Calls load_state_dict() with a safetensors file."""
        return self.load_state_dict(_inkling.load_tensors(path), strict)
