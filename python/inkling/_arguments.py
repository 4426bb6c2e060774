"""Names the argument of a call that the C++ library does not take, by the signatures of the function's overloads."""

from __future__ import annotations

import ast
import difflib
import re
from typing import Any, Iterator, NoReturn

import numpy as np

from ._inkling import Error, Tensor


def _numbers(x: Any) -> bool:
    """Whether x is an array, or nested lists, of integers or booleans."""
    if isinstance(x, (list, tuple)):
        return all(map(_numbers, x))
    return not isinstance(x, Tensor) and np.asarray(x).dtype.kind in "iub"


# What the name of a type means, and whether a value fits.
KINDS = {
    "int": ("an integer", lambda x: hasattr(x, "__index__") and not getattr(x, "ndim", 0)),
    "float": ("a number", lambda x: hasattr(x, "__float__") and not (getattr(x, "ndim", 0) or _needs_gradient(x))),
    "bool": ("True or False", lambda x: isinstance(x, (bool, np.bool_))),
    "str": ("a text", lambda x: isinstance(x, str)),
    "None": ("None", lambda x: x is None),
    "ArrayLike": ("an array of integers or booleans", _numbers),
    "Callable": ("a function", callable),
    "object": ("an object", lambda x: True),
}
CHOICES = {"dtype": ["float32", "float64"]}
INSTEAD = {
    "device": "leave it out: Inkling computes on the CPU alone", "dtype": "convert x by x.to(dtype)",
    "out": "write y = ...", "padding_idx": "multiply by (ids != padding_idx).float().unsqueeze(-1)",
    "inplace": "leave it out",
}


def _needs_gradient(x: Any) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


def _name(kind: ast.expr) -> str:
    return re.sub(r"\[.*|[\w.]*\.", "", ast.unparse(kind))


def _fits(x: Any, kind: ast.expr) -> bool:
    if isinstance(kind, ast.BinOp):  # int | None
        return _fits(x, kind.left) or _fits(x, kind.right)
    if _name(kind) == "Sequence":
        return (isinstance(x, (list, tuple)) or getattr(x, "ndim", 0) > 0) and all(_fits(item, kind.slice) for item in x)
    name = _name(kind)
    return KINDS[name][1](x) if name in KINDS else name in [base.__name__ for base in type(x).__mro__]


def _meaning(kind: ast.expr) -> str:
    if isinstance(kind, ast.BinOp):
        return f"{_meaning(kind.left)} or {_meaning(kind.right)}".removesuffix(" or None")
    if _name(kind) == "Sequence":
        return f"a list of {_meaning(kind.slice).partition(' ')[2]}s"
    return KINDS.get(_name(kind), (f"a {_name(kind)}",))[0]


def _got(x: Any) -> str:
    if isinstance(x, Tensor):
        return "a Tensor that requires a gradient: pass x.detach()" if x.requires_grad else "a Tensor"
    if isinstance(x, np.ndarray):
        return f"an array of {x.dtype}"
    return repr(x) if isinstance(x, (str, bool, int, float, type(None))) else f"a {type(x).__name__}"


def _problems(signature: str, doc: str, given: list[Any], named: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """What is wrong with the arguments, with a weight: wrong names weigh more than wrong values."""
    a = ast.parse(re.sub(r"\\\d+", "0", signature) + ": ...").body[0].args
    places, optional = [*a.posonlyargs, *a.args], {p.arg for p, default in zip(a.kwonlyargs, a.kw_defaults) if default}
    optional |= {p.arg for p in places[len(places) - len(a.defaults) :]}
    if len(given) > len(places) and not a.vararg:
        yield 3, f"at most {len(places)} argument{'s' * (len(places) > 1)} can be given by position, got {len(given)}"
    values = {**dict(zip((p.arg for p in places), given)), **named}
    for p in [*places, *a.kwonlyargs]:
        if p.arg not in values:
            if p.arg not in optional:
                yield 2, f"{p.arg} is missing"
            continue
        x = values.pop(p.arg)
        if p.annotation and not _fits(x, p.annotation):
            yield 1, f"expected {_meaning(p.annotation)} as {p.arg}, got {_got(x)}"
        elif isinstance(x, str):
            choices = CHOICES.get(p.arg) or re.findall(r"'([\w-]+)'", doc)
            yield 0, f"expected {' or '.join(choices) or 'another text'} as {p.arg}, got '{x}'"
    for name in values:
        near = difflib.get_close_matches(name, [p.arg for p in [*places, *a.kwonlyargs]], 1)
        instead = INSTEAD.get(name, f"did you mean {near[0]}?" if near else "")
        yield 3, f"there is no argument {name}" + (instead and f": {instead}")


def refuse(place: Any, function: Any, given: tuple, named: dict[str, Any]) -> NoReturn:
    """Raises TypeError for a call that fits no overload, by the overload that is nearest."""
    name, signatures = function.__name__, [s for s in function.__nb_signature__ if "*args, _:" not in s[0]]
    if isinstance(place, type) and place is not Tensor:
        name = place.__name__ if name in ("__init__", "forward") else f"{place.__name__}.{name}"
    of_object = isinstance(place, type) and "(self" in signatures[0][0]
    found = []
    for text, doc, _ in signatures:
        if of_object and (place is not Tensor or "__init__" in text):
            text, arguments = re.sub(r"\(self(, )?", "(", text, count=1), given[1:]
        else:
            text, arguments = text.replace("(self", "(x: Tensor", 1), given
        problems = list(_problems(text, doc or signatures[0][1] or "", list(arguments), named))
        found.append((sum(weight for weight, _ in problems), "dim: " not in text, [text for _, text in problems]))
    problems, numbers = min(found)[2], [x for x in (*given, *named.values()) if isinstance(x, int) and x < 0]
    if not problems and numbers:
        raise Error(f"{name}: expected a number of at least 0, got {numbers[0]}")
    raise TypeError(f"{name}: {problems[0] if problems else 'its arguments do not fit: help() shows its signatures'}")
