"""Makes elementary.json: functions of one number, and their derivatives, at all magnitudes, computed with 400 digits.

    python tests/reference/make_elementary_reference.py        (mpmath 1.3 or later)

The numbers are the nearest doubles, and null where a function has none. Every x has 11 bits, so that it is a float, too,
if it is in float's range; around 1, it has as many as that takes.
"""
import json
import math
import pathlib

import mpmath as mp

mp.mp.dps = 400
LN2, LN10 = mp.log(2), mp.log(10)
ONE = mp.mpf(1)


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def softplus(x):
    return mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x))


def d_mish(x):
    t = mp.tanh(softplus(x))
    return t + x * (1 - t * t) * sigmoid(x)


def hard(x):
    return min(max(x + 3, ONE * 0), ONE * 6) / 6


def d_hard(x):
    return ONE / 6 if abs(x) < 3 else ONE * 0


ALPHA, SCALE = mp.mpf("1.6732632423543772"), mp.mpf("1.0507009873554805")  # selu's
ANY, INSIDE, POSITIVE, ABOVE_ONE = (lambda x: True), (lambda x: abs(x) < 1), (lambda x: x > 0), (lambda x: x > 1)
FUNCTIONS = {  # f, f', where
    "exp": (mp.exp, mp.exp, ANY),
    "exp2": (lambda x: mp.mpf(2) ** x, lambda x: mp.mpf(2) ** x * LN2, ANY),
    "expm1": (mp.expm1, mp.exp, ANY),
    "log": (mp.log, lambda x: 1 / x, POSITIVE),
    "log2": (lambda x: mp.log(x) / LN2, lambda x: 1 / x / LN2, POSITIVE),
    "log10": (lambda x: mp.log(x) / LN10, lambda x: 1 / x / LN10, POSITIVE),
    "log1p": (mp.log1p, lambda x: 1 / (1 + x), lambda x: x > -1),
    "sqrt": (mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x)), POSITIVE),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), lambda x: -1 / (2 * x * mp.sqrt(x)), POSITIVE),
    "sin": (mp.sin, mp.cos, ANY),
    "cos": (mp.cos, lambda x: -mp.sin(x), ANY),
    "tan": (mp.tan, lambda x: 1 / mp.cos(x) ** 2, ANY),
    "asin": (mp.asin, lambda x: 1 / mp.sqrt(1 - x * x), INSIDE),
    "acos": (mp.acos, lambda x: -1 / mp.sqrt(1 - x * x), INSIDE),
    "atan": (mp.atan, lambda x: 1 / (1 + x * x), ANY),
    "sinh": (mp.sinh, mp.cosh, ANY),
    "cosh": (mp.cosh, mp.sinh, ANY),
    "tanh": (mp.tanh, lambda x: 1 / mp.cosh(x) ** 2, ANY),
    "asinh": (mp.asinh, lambda x: 1 / mp.sqrt(1 + x * x), ANY),
    "acosh": (mp.acosh, lambda x: 1 / mp.sqrt(x * x - 1), ABOVE_ONE),
    "atanh": (mp.atanh, lambda x: 1 / (1 - x * x), INSIDE),
    "erf": (mp.erf, lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x), ANY),
    "sigmoid": (sigmoid, lambda x: sigmoid(x) * sigmoid(-x), ANY),
    "softplus": (softplus, sigmoid, ANY),
    "logsigmoid": (lambda x: -softplus(-x), lambda x: sigmoid(-x), ANY),
    "softsign": (lambda x: x / (1 + abs(x)), lambda x: 1 / (1 + abs(x)) ** 2, ANY),
    "silu": (lambda x: x * sigmoid(x), lambda x: sigmoid(x) + x * sigmoid(x) * sigmoid(-x), ANY),
    "mish": (lambda x: x * mp.tanh(softplus(x)), d_mish, ANY),
    "elu": (lambda x: x if x > 0 else mp.expm1(x), lambda x: ONE if x > 0 else mp.exp(x), ANY),
    "selu": (
        lambda x: SCALE * (x if x > 0 else ALPHA * mp.expm1(x)),
        lambda x: SCALE * (ONE if x > 0 else ALPHA * mp.exp(x)),
        ANY,
    ),
    "hardsigmoid": (hard, d_hard, ANY),
    "hardswish": (lambda x: x * hard(x), lambda x: hard(x) + x * d_hard(x), ANY),
    "squared_relu": (lambda x: max(x, 0) ** 2, lambda x: 2 * max(x, ONE * 0), ANY),
}

GROWING = ("exp", "exp2", "expm1", "sinh", "cosh", "tanh")  # too much for mpmath's e^x


def short(x):
    mantissa, exponent = math.frexp(x)
    return math.ldexp(round(mantissa * 2048) / 2048, exponent)


magnitudes = [10.0 ** (k / 2) for k in range(-90, 78, 3)] + [10.0**k for k in range(-300, 308, 38)]  # float's, double's
magnitudes += [10.0 ** (k / 8) for k in range(-24, 25)]
magnitudes += [30, 60, 88.5, 89.25, 100, 103, 127.5, 128.5, 149, 709.5, 710.25, 745]  # where e^x and 2^x end
numbers = sorted({s * short(m) for m in magnitudes for s in (1, -1)})
numbers += [s * (1 + t * 2.0**-k) for k in (3, 9, 15, 22, 30, 45) for t in (1, -1) for s in (1, -1)]


def stored(f, x):
    """The nearest double; None where there is none."""
    y = float(f(mp.mpf(x)))
    return None if math.isinf(y) else y


if __name__ == "__main__":
    lines = [f'"x": {json.dumps(numbers)}']
    for name, (f, df, where) in FUNCTIONS.items():
        inside = [x if where(x) and (abs(x) < 1e6 or name not in GROWING) else None for x in numbers]
        both = {part: [None if x is None else stored(g, x) for x in inside] for part, g in (("y", f), ("dy", df))}
        lines.append(f'"{name}": {json.dumps(both)}')
    (pathlib.Path(__file__).parent / "elementary.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
