"""`minijax.numpy`, continued: further elementwise functions."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import array_methods
from minijax.core import Value, get_aval
from minijax.custom_rules import custom_jvp
from minijax.lax import basic, bits, choosing, defining, elementwise, special
from minijax.loops import while_loop
from minijax.numpy.basic import (
    binary,
    multiply,
    name_functions,
    positive,
    refuse_out,
    subtract,
    swapped,
    unary_float,
)
from minijax.numpy.elementwise import (
    clip,
    floor_divide,
    isinf,
    isnan,
    logical_or,
    maximum,
    minimum,
    remainder,
    unless_whole,
    where,
)
from minijax.numpy.making import asarray, convert, promote_dtypes, promote_float, promote_shapes
from minijax.numpy.shapes import broadcast_arrays

__all__ = [
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "bitwise_count",
    "cbrt",
    "conj",
    "conjugate",
    "copysign",
    "cosh",
    "deg2rad",
    "degrees",
    "gcd",
    "hypot",
    "imag",
    "lcm",
    "ldexp",
    "left_shift",
    "logaddexp",
    "logaddexp2",
    "modf",
    "nan_to_num",
    "rad2deg",
    "radians",
    "real",
    "right_shift",
    "rint",
    "sinc",
    "sinh",
    "spacing",
    "tan",
    "trunc",
]

arcsin, arccos = unary_float(special.asin), unary_float(special.acos)
arctan, tan = unary_float(special.atan), unary_float(special.tan)
sinh, cosh = unary_float(special.sinh), unary_float(special.cosh)
arcsinh, arccosh = unary_float(special.asinh), unary_float(special.acosh)
cbrt = unary_float(special.cbrt)
arctan2 = binary(special.atan2, promote_float)


def itself(x: Value, /) -> Value:
    """`x` as an array; complex numbers are not supported, so it is real."""
    return positive(x)


def scaled_by(factor: float, doc: str) -> Callable[[Any], Any]:
    """The function that multiplies by a number."""

    def scaled(x: Value) -> Value:
        own = get_aval(x)
        return basic.mul(x, convert(factor, own.dtype, own.weak_type and not own.shape))

    scaled.__doc__ = doc
    return unary_float(scaled)


real = conj = conjugate = itself
deg2rad = radians = scaled_by(math.pi / 180, "Degrees in radians.")
rad2deg = degrees = scaled_by(180 / math.pi, "Radians in degrees.")


def imag(val: Value, /) -> Value:
    """The imaginary part of real numbers: zeros."""
    return defining.full_like(positive(val), 0)


def rint(x: Value, /) -> Value:
    """The nearest integer; halfway between two, the even one."""
    if not dtypes.is_float(get_aval(x).dtype):
        return basic.convert_element_type(x, float)
    return elementwise.round(x, elementwise.RoundingMethod.TO_NEAREST_EVEN)


def trunc(x: Value) -> Value:
    """`x` without the digits after the point: rounded towards zero."""
    towards_zero = unless_whole(
        lambda x: choosing.select(
            basic.lt(x, defining.scalar(0, x)), elementwise.ceil(x), elementwise.floor(x)
        ),
        asarray,
    )
    return towards_zero(x)


def copysign(x1: Value, x2: Value, /) -> Value:
    """`x1` with the sign of `x2`, which zeros have as well."""
    x, y = promote_shapes(*promote_float(x1, x2))
    dtype = get_aval(y).dtype
    words = np.dtype(f"uint{8 * dtype.itemsize}")
    top = np.asarray(8 * dtype.itemsize - 1, words)
    is_negative = bits.shift_right_logical(bits.bitcast_convert_type(y, words), top)
    size = elementwise.abs(x)
    return where(is_negative.astype(bool), basic.neg(size), size)


def hypot(x1: Value, x2: Value, /) -> Value:
    """`sqrt(x**2 + y**2)`, even if the squares are too large for a float."""
    x, y = map(elementwise.abs, promote_shapes(*promote_float(x1, x2)))
    high, low = maximum(x, y), minimum(x, y)
    is_zero = elementwise.eq(high, defining.full_like(high, 0))
    ratio = basic.div(low, where(is_zero, defining.full_like(high, 1), high))
    length = multiply(high, elementwise.sqrt(1 + elementwise.square(ratio)))
    infinite = logical_or(isinf(x), isinf(y))  # whatever the other is
    return where(infinite, constant_like(high, np.inf), where(is_zero, high, length))


def constant_like(x: Value, value: float) -> Value:
    """A constant beside `x`: weakly typed where `x` is a single number only, as in JAX."""
    return as_type(value, x) if get_aval(x).shape else value


def log_of_sum(power: Callable[[Any], Any], unit: float) -> Callable[[Any, Any], Any]:
    """The logarithm of the sum of two powers, for floats of the same type.

    `power` is the exponential function of a base, whose natural logarithm is `unit`.
    """

    @custom_jvp
    def function(x1: Value, x2: Value) -> Value:
        x, y = promote_shapes(x1, x2)
        high, distance = maximum(x, y), subtract(x, y)
        above = elementwise.log1p(power(-abs(distance)))
        return where(isnan(distance), x + y, high + (above if unit == 1 else above / unit))

    @function.defjvp
    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        """Each operand moves the result by its share in the sum."""
        (x, y), (x_dot, y_dot) = primals, tangents
        out = function(x, y)

        def share(part: Value) -> Value:
            return power(subtract(bounded(part), bounded(out)))

        return out, x_dot * share(x) + y_dot * share(y)

    return function


log_of_sum_e, log_of_sum_2 = log_of_sum(basic.exp, 1), log_of_sum(elementwise.exp2, math.log(2))


def logaddexp(x1: Value, x2: Value, /) -> Value:
    """`log(exp(x1) + exp(x2))`, even if the powers are too large for a float."""
    return log_of_sum_e(*promote_float(x1, x2))


def logaddexp2(x1: Value, x2: Value, /) -> Value:
    """`log2(2**x1 + 2**x2)`, even if the powers are too large for a float."""
    return log_of_sum_2(*promote_float(x1, x2))


def bounded(x: Value) -> Value:
    """`x`, with zero instead of infinity, of which no other can be subtracted."""
    return where(elementwise.eq(x, defining.full_like(x, np.inf)), 0.0, x)


def nan_to_num(
    x: Value, copy: bool = True, nan: Value = 0.0, posinf: Value = None, neginf: Value = None
) -> Value:
    """`x` with numbers instead of NaN and infinities: 0, and the largest ones there are."""
    x = positive(x)
    if not dtypes.is_float(x.dtype):
        return x
    largest = np.finfo(x.dtype).max
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    x = where(isnan(x), as_type(nan, x), x)
    x = where(elementwise.eq(x, defining.full_like(x, np.inf)), as_type(high, x), x)
    return where(elementwise.eq(x, defining.full_like(x, -np.inf)), as_type(low, x), x)


def as_type(value: Value, x: Value) -> Value:
    """A value in the dtype of `x`, and not weak."""
    return asarray(value, get_aval(x).dtype)


def sinc(x: Value, /) -> Value:
    """`sin(pi * x) / (pi * x)`, which is 1 at 0."""
    (x,) = promote_float(x)
    is_zero = elementwise.eq(x, defining.full_like(x, 0))
    safe = multiply(math.pi, where(is_zero, defining.full_like(x, 1), x))
    return where(is_zero, sinc_at_zero(0, x), basic.sin(safe) / safe)


@functools.partial(custom_jvp, nondiff_argnums=(0,))
def sinc_at_zero(order: int, x: Value) -> Value:
    """The derivative of `sinc` of this order at 0, for each element of `x`."""
    size = 0.0 if order % 2 else (-1) ** (order // 2) * math.pi**order / (order + 1)
    return defining.full_like(x, size)


@sinc_at_zero.defjvp
def sinc_at_zero_jvp(order: int, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The derivative of the next order."""
    (x,), (t,) = primals, tangents
    return sinc_at_zero(order, x), multiply(sinc_at_zero(order + 1, x), t)


def shifted_right(x: Value, y: Value) -> Value:
    """The bits of `x`, moved `y` places to the right; the sign stays."""
    unsigned = get_aval(x).dtype.kind == "u"
    return (bits.shift_right_logical if unsigned else bits.shift_right_arithmetic)(x, y)


def bitwise_count(x: Value, /) -> Value:
    """How many bits of the size of each integer are ones, as uint8."""
    x = positive(x)
    ones = x if x.dtype == bool else bits.population_count(abs(x))
    return basic.convert_element_type(ones, np.uint8)


left_shift, right_shift = binary(bits.shift_left), binary(shifted_right)

# Parts of a float ---------------------------------------------------------------------------------


def modf(x: Value, /, out: None = None) -> tuple[Value, Value]:
    """The part of each number behind the point, and the whole part; both have its sign."""
    refuse_out("modf", out)
    (x,) = promote_float(x)
    whole = trunc(x)
    return subtract(x, whole), whole


def ldexp(x1: Value, x2: Value, /) -> Value:
    """`x1 * 2**x2`, for integers `x2`, even if the power alone is too large for a float."""
    if get_aval(x2).dtype.kind not in "biu":
        raise ValueError(f"ldexp takes an integer for x2, not {get_aval(x2).dtype.name}.")
    x, exponent = promote_float(x1)[0], basic.convert_element_type(x2, np.int32)
    x = basic.convert_element_type(x, get_aval(x).dtype)  # never weakly typed
    part = floor_divide(exponent, 3)  # so that each power is a float where the result is one
    scaled = x
    for step in (part, part, exponent - 2 * part):
        scaled = multiply(scaled, power_of_two(step, x.dtype))
    return where(logical_or(isinf(x), elementwise.eq(x, defining.full_like(x, 0))), x, scaled)


def power_of_two(exponent: Value, dtype: np.dtype) -> Value:
    """`2**exponent`, exactly, written as the bits of a float; 0 or infinity beyond its range."""
    words, about = np.dtype(f"int{8 * dtype.itemsize}"), np.finfo(dtype)
    biased = clip(exponent + (about.maxexp - 1), 0, 2 * about.maxexp - 1)
    word = left_shift(basic.convert_element_type(biased, words), np.asarray(about.nmant, words))
    return bits.bitcast_convert_type(word, dtype)


def spacing(x: Value, /) -> Value:
    """How far each float is from the next one away from zero, with its sign."""
    (x,) = promote_float(x)
    x = basic.convert_element_type(x, get_aval(x).dtype)  # never weakly typed
    return subtract(bits.nextafter(*promote_shapes(x, copysign(np.inf, x))), x)


# Whole numbers ------------------------------------------------------------------------------------


def gcd(x1: Value, x2: Value) -> Value:
    """The greatest number that divides both, by Euclid's algorithm; 0 of two zeros."""
    x, y = map(abs, two_integers("gcd", x1, x2))

    def step(pair: Any) -> tuple[Value, Value]:
        a, b = pair
        rest = remainder(a, where(b == 0, 1, b))
        return where(b == 0, a, b), where(b == 0, b, rest)

    return while_loop(lambda pair: (pair[1] != 0).any(), step, (x, y))[0]


def lcm(x1: Value, x2: Value) -> Value:
    """The least number that both divide; 0 if one is 0."""
    x, y = map(abs, two_integers("lcm", x1, x2))
    divisor = gcd(x, y)
    return multiply(floor_divide(x, where(divisor == 0, 1, divisor)), y)


def two_integers(name: str, x1: Value, x2: Value) -> list[Value]:
    """The operands as integers with the same type and shape; `ValueError` if they are others."""
    x, y = promote_dtypes(x1, x2)
    if get_aval(x).dtype.kind not in "iu":
        raise ValueError(f"{name} takes integers, not {get_aval(x).dtype.name}.")
    return broadcast_arrays(x, y)


for _name, _function in {"lshift": left_shift, "rshift": right_shift}.items():
    array_methods[f"__{_name}__"] = _function
    array_methods[f"__r{_name}__"] = swapped(_function)
array_methods.update({"conj": conj, "conjugate": conjugate})

name_functions(globals())
