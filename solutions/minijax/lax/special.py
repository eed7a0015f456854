"""Further elementwise primitives: trigonometric, hyperbolic, and those of the error function."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minijax.core import Tangent, Value
from minijax.lax.basic import add, binary, div, exp, mul, neg, sub, unary
from minijax.lax.defining import scalar, transcendental
from minijax.lax.elementwise import integer_pow, one_minus, one_plus, rsqrt, scaled, square
from minijax.lowering import Emitter, stretched, tensor_type

__all__ = [
    "acos",
    "acos_p",
    "acosh",
    "acosh_p",
    "asin",
    "asin_p",
    "asinh",
    "asinh_p",
    "atan",
    "atan2",
    "atan2_p",
    "atan_p",
    "cbrt",
    "cbrt_p",
    "cosh",
    "cosh_p",
    "erf",
    "erf_inv",
    "erf_inv_p",
    "erf_p",
    "erfc",
    "erfc_p",
    "sinh",
    "sinh_p",
    "tan",
    "tan_p",
]


def chlo(operation: str) -> Callable[..., list[str]]:
    """The lowering to an operation of CHLO, which XLA takes apart into those of StableHLO."""

    def lowering(emitter: Emitter, avals: Any, out_avals: Any, args: Any) -> list[str]:
        operands = stretched(emitter, avals, out_avals[0], args)
        out = tensor_type(out_avals[0])
        types = f"({', '.join([out] * len(operands))}) -> {out}"
        return [emitter.emit(f'"chlo.{operation}"({", ".join(operands)}) : {types}')]

    return lowering


# Trigonometric and hyperbolic ---------------------------------------------------------------------


def sinh_derivative(t: Tangent, z: Value, x: Value) -> Value:
    return mul(t, cosh_p.bind(x))


tan_p = transcendental("tan", np.tan, "tan", lambda t, z, x: mul(t, one_plus(square(z))))
asin_p = transcendental(
    "asin", np.arcsin, chlo("asin"), lambda t, z, x: mul(t, rsqrt(one_minus(square(x))))
)
acos_p = transcendental(
    "acos", np.arccos, chlo("acos"), lambda t, z, x: neg(mul(t, rsqrt(one_minus(square(x)))))
)
atan_p = transcendental(
    "atan", np.arctan, chlo("atan"), lambda t, z, x: div(t, one_plus(square(x)))
)
sinh_p = transcendental("sinh", np.sinh, chlo("sinh"), sinh_derivative)
cosh_p = transcendental("cosh", np.cosh, chlo("cosh"), lambda t, z, x: mul(t, sinh_p.bind(x)))
asinh_p = transcendental(
    "asinh", np.arcsinh, chlo("asinh"), lambda t, z, x: mul(t, rsqrt(one_plus(square(x))))
)
acosh_p = transcendental(
    "acosh",
    np.arccosh,
    chlo("acosh"),
    lambda t, z, x: mul(t, rsqrt(mul(sub(x, scalar(1, x)), one_plus(x)))),
)
atan2_p = transcendental(
    "atan2",
    np.arctan2,
    "atan2",
    lambda t, z, x, y: mul(t, div(y, add(square(x), square(y)))),
    lambda t, z, x, y: mul(t, div(neg(x), add(square(x), square(y)))),
    operands=2,
)
cbrt_p = transcendental(
    "cbrt",
    np.cbrt,
    "cbrt",
    lambda t, z, x: mul(t, scaled(1 / 3, integer_pow(z, -2))),  # infinite at 0
)

tan = unary(tan_p, "f", "The tangent of each element.")
asin = unary(asin_p, "f", "The inverse of `sin`, between -pi/2 and pi/2.")
acos = unary(acos_p, "f", "The inverse of `cos`, between 0 and pi.")
atan = unary(atan_p, "f", "The inverse of `tan`, between -pi/2 and pi/2.")
sinh = unary(sinh_p, "f", "The hyperbolic sine of each element.")
cosh = unary(cosh_p, "f", "The hyperbolic cosine of each element.")
asinh = unary(asinh_p, "f", "The inverse of `sinh`.")
acosh = unary(acosh_p, "f", "The inverse of `cosh`, which is not negative.")
cbrt = unary(cbrt_p, "f", "The cube root of each element.")
atan2 = binary(atan2_p, "f", "The angle whose tangent is `x / y`, in the quadrant of both signs.")


# The error function -------------------------------------------------------------------------------


def by_number(f: Callable[[float], float]) -> Callable[[Value], Value]:
    """NumPy's way to apply a function of Python's numbers to each element, in its dtype."""
    each = np.vectorize(f, otypes=[np.float64])
    return lambda x: np.asarray(each(x)).astype(np.asarray(x).dtype)


def erf_inverse(x: float) -> float:
    """The number whose error function is `x`: a guess by Winitzki, and three steps of Halley's.

    Near 1 the error is measured by `erfc`, whose digits do not cancel.
    """
    if not -1 < x < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    size, log = abs(x), math.log1p(-x * x)
    middle = 2 / (math.pi * 0.147) + log / 2
    y = math.sqrt(max(math.sqrt(middle * middle - log / 0.147) - middle, 0.0))
    for _ in range(3):
        error = math.erf(y) - size if size < 0.5 else (1 - size) - math.erfc(y)
        step = error * math.sqrt(math.pi) / 2 * math.exp(y * y)
        y -= step / (1 + y * step)
    return math.copysign(y, x)


def bell(x: Value) -> Value:
    """The derivative of the error function."""
    return scaled(2 / math.sqrt(math.pi), exp(neg(square(x))))


erf_p = transcendental("erf", by_number(math.erf), chlo("erf"), lambda t, z, x: mul(t, bell(x)))
erfc_p = transcendental(
    "erfc", by_number(math.erfc), chlo("erfc"), lambda t, z, x: neg(mul(t, bell(x)))
)
erf_inv_p = transcendental(
    "erf_inv",
    by_number(erf_inverse),
    chlo("erf_inv"),
    lambda t, z, x: mul(t, scaled(math.sqrt(math.pi) / 2, exp(square(z)))),
)
erf = unary(erf_p, "f", "The error function of each element.")
erfc = unary(erfc_p, "f", "`1 - erf(x)`, exact for large `x` as well.")
erf_inv = unary(erf_inv_p, "f", "The inverse of `erf`.")
