"""The optimizers and learning rate schedules of `inkling train`, for parameters of any module.

    optimizer = optim.AdamW(net, lr=3e-3, weight_decay=0.1)
    schedule = optim.Schedule("cosine", steps=1000, warmup=100)
    for step in range(1000):
        optimizer.zero_grad()
        loss(net).backward()
        optim.clip_grad_norm(net, 1.0)
        optimizer.step(schedule(step))
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Iterable

from .._inkling import Error, Tensor, _optim
from .._inkling._optim import Schedule

__all__ = ["SGD", "Adam", "AdamW", "Muon", "Optimizer", "Schedule", "clip_grad_norm", "lr_scheduler"]


def _tensors(parameters: Any) -> list[Tensor]:
    """The tensors of a module, a dict or an iterable that require a gradient; tied tensors once."""
    if hasattr(parameters, "parameters"):
        parameters = parameters.parameters()
    if isinstance(parameters, dict):
        parameters = parameters.values()
    found = [p for p in ([parameters] if isinstance(parameters, Tensor) else parameters) if p.requires_grad]
    return list({_optim.identity(p): p for p in found}.values())


def _options(group: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in group.items() if name not in ("params", "lr", "initial_lr")}


class Optimizer:
    """`parameters` is a module, a dict or list of tensors, or a list of groups: dicts of "params", "lr" and the
    group's own options, [{"params": a, "weight_decay": 0}, {"params": b, "lr": 1e-4}]. Callers may change lr and
    options in param_groups. As in PyTorch, step() leaves a parameter without a gradient as it is."""

    def __init__(self, make: Callable[..., _optim.Group], parameters: Any, lr: float, **options: Any) -> None:
        groups = list(parameters) if isinstance(parameters, (list, tuple)) else []
        if not groups or not all(isinstance(group, dict) and "params" in group for group in groups):
            groups = [{"params": parameters}]
        self._make, self._defaults = make, {"lr": lr, **options}
        self.param_groups: list[dict[str, Any]] = []
        self._groups: list[tuple[_optim.Group, dict[str, Any]]] = []  # each with the options that it was made with
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, group: dict[str, Any]) -> None:
        group = {**self._defaults, **group, "params": _tensors(group["params"])}
        taken = {_optim.identity(p) for other in self.param_groups for p in other["params"]}
        for p in group["params"]:
            if _optim.identity(p) in taken:
                raise Error(f"optimizer: a parameter of shape {p.shape} is in two groups: keep it in one")
        self._groups.append(self._made(group))
        self.param_groups.append(group)

    def _made(self, group: dict[str, Any]) -> tuple[_optim.Group, dict[str, Any]]:
        if not group["lr"] >= 0:
            raise Error(f"optimizer: lr must be at least 0, got {group['lr']}")
        return self._make(group["params"], **_options(group)), _options(group)

    def step(self, factor: float = 1.0) -> None:
        """Updates the parameters that have a gradient, at `factor` times each group's lr."""
        if len(self.param_groups) != len(self._groups):
            raise Error(f"step: expected {len(self._groups)} groups, got {len(self.param_groups)}: use add_param_group()")
        for i, group in enumerate(self.param_groups):
            own, options = self._groups[i]
            if options != _options(group):
                old, self._groups[i] = own, self._made(group)
                own = self._groups[i][0]
                own.set_state(old.state())
            own.step(group["params"], factor * group["lr"])

    def zero_grad(self, set_to_none: bool = True) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                p.zero_grad()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_groups": [own.state() for own, _ in self._groups]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._groups = [self._made(group) for group in self.param_groups]
        for (own, _), its_state in zip(self._groups, state["_groups"]):
            own.set_state(its_state)

    def state_dict(self) -> dict[str, Any]:
        """The optimizer's state between steps: arrays, numbers and options."""
        state: dict[str, Any] = {}
        for i, (group, (own, _)) in enumerate(zip(self.param_groups, self._groups)):
            state |= {f"{i}.{name}": value for name, value in {"lr": group["lr"], **_options(group), **own.state()}.items()}
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes the state of an optimizer of the same groups."""
        own = self.state_dict()
        for name in own:
            if name not in state:
                raise Error(f"load_state_dict: {name} is missing: the state is of another optimizer or other groups")
        for name in state:
            if name not in own:
                raise Error(f"load_state_dict: {name} is not of this optimizer: it has fewer groups or parameters")
        loaded = []
        for i, group in enumerate(self.param_groups):
            part = {name.removeprefix(f"{i}."): value for name, value in state.items() if name.startswith(f"{i}.")}
            group = {name: part.get(name, value) for name, value in group.items()}
            made, options = self._made(group)
            made.set_state(part)
            loaded.append((group, (made, options)))
        for i, (group, made) in enumerate(loaded):
            self.param_groups[i].update(group)
            self._groups[i] = made


def _kind(name: str, make: Callable[..., _optim.Group], doc: str, base: type = Optimizer, **defaults: Any) -> type:
    """An optimizer with these options behind `parameters`, under their names or by position."""

    def __init__(self: Optimizer, parameters: Any, *arguments: Any, **named: Any) -> None:
        if len(arguments) > len(defaults):
            raise TypeError(f"{name}: at most {len(defaults)} options are possible, got {len(arguments)}")
        named = {option: value for option, value in named.items() if option not in ("foreach", "fused", "capturable")}
        for option in named:
            if option not in defaults:
                raise TypeError(f"{name}: there is no option {option}: it has {', '.join(defaults)}")
        given = {**defaults, **dict(zip(defaults, arguments)), **named}
        if given.pop("dampening", 0.0) != 0:
            raise Error(f"{name}: dampening 0 is required")
        Optimizer.__init__(self, make, parameters, **given)

    __init__.__signature__ = inspect.Signature(
        [inspect.Parameter(option, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=defaults.get(option, inspect._empty))
         for option in ("self", "parameters", *defaults)]
    )
    return type(name, (base,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


class _Decaying(Optimizer):
    """g += weight_decay p, where AdamW shrinks p itself."""

    def _made(self, group: dict[str, Any]) -> tuple[_optim.Group, dict[str, Any]]:
        if not group["weight_decay"] >= 0:
            raise Error(f"optimizer: weight_decay must be at least 0, got {group['weight_decay']}")
        return super()._made({**group, "weight_decay": 0.0})[0], _options(group)

    def step(self, factor: float = 1.0) -> None:
        kept = []
        for group in self.param_groups:
            for p in group["params"] if group["weight_decay"] != 0 else ():
                if p.grad is not None:
                    kept.append((p.grad, p.grad.copy()))
                    kept[-1][0][...] += group["weight_decay"] * p.numpy()
        try:
            super().step(factor)
        finally:
            for grad, before in kept:
                grad[...] = before


_ADAM = dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8)
SGD = _kind(
    "SGD",
    _optim.sgd,
    "As torch.optim.SGD: g += weight_decay p;  b = momentum b + g;  p -= lr b, or lr (g + momentum b) with nesterov.",
    **dict(lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False),
)
AdamW = _kind(
    "AdamW", _optim.adamw,
    "As torch.optim.AdamW: weight decay applies to all parameters; a separate group can set it to 0.", **_ADAM,
    weight_decay=0.01,
)
Adam = _kind("Adam", _optim.adamw, "As torch.optim.Adam: weight_decay p is added to g.", _Decaying, **_ADAM, weight_decay=0.0)
Muon = _kind(
    "Muon",
    _optim.muon,
    """Muon (Jordan et al. 2024) for matrices, and AdamW at `adamw_rate` times lr for all else. Embeddings and heads
    belong in a separate AdamW. scale: 'original', 'adamw' (as torch's match_rms_adamw) or 'rows'.""",
    **dict(lr=1e-3, momentum=0.95, nesterov=True, weight_decay=0.1, ns_steps=5, scale="original"),
    **dict(betas=(0.9, 0.999), eps=1e-8, adamw_rate=0.1),
)


from ..torch_methods import absent_module as __getattr__  # noqa: E402, F401


def clip_grad_norm(parameters: Any | Iterable[Tensor], max_norm: float) -> float:
    """Scales all gradients so that their norm is at most max_norm; returns the norm before scaling."""
    return _optim.clip_grad_norm(_tensors(parameters), max_norm)


from . import lr_scheduler  # noqa: E402, F401
