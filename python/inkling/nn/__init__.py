"""Layers, and modules made of them."""

from __future__ import annotations

from .._inkling import Tensor
from .._inkling._nn import *  # noqa: F403
from .._inkling._nn import Layer
from ..torch_methods import absent_module as __getattr__  # noqa: F401
from .modules import Module, ModuleDict, ModuleList, Sequential  # noqa: F401
from .stateful import Stateful


def _remade(made: tuple, state: dict[str, Tensor], training: bool) -> Layer:
    layer = made[0](*made[1:])
    layer.load_state_dict(state)
    layer.freeze(lambda name: not state[name].requires_grad)
    layer.train(training)
    return layer


def _reduced(layer: Layer) -> tuple:
    return _remade, (layer._made, layer.state_dict(), layer.training)


for _name in """named_children children named_modules modules named_buffers buffers apply requires_grad_ to cpu float
    double""".split():
    setattr(Layer, _name, vars(Stateful)[_name])


# Sizes under PyTorch's names; a Linear is (out, in).
for _kind, _names in ((Linear, ("out_features", "in_features")), (Embedding, ("num_embeddings", "embedding_dim"))):  # noqa: F405
    for _axis, _name in enumerate(_names):
        setattr(_kind, _name, property(lambda layer, _axis=_axis: layer.weight.shape[_axis]))


def _calls_forward(cls: type) -> None:
    """A class made of a layer is called by its own forward()."""
    if "forward" in vars(cls):
        cls.__call__ = lambda self, *arguments, **named: self.forward(*arguments, **named)


Layer.__init_subclass__ = classmethod(_calls_forward)

from . import functional, init, utils  # noqa: E402
from .layers import *  # noqa: E402, F403
