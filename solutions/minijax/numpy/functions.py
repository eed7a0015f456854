"""`minijax.numpy`, continued: further elementwise functions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import array_methods
from minijax.core import Value, get_aval
from minijax.custom_rules import custom_jvp
from minijax.lax import basic, bits, choosing, defining, elementwise, special
from minijax.numpy.basic import (
    binary,
    multiply,
    name_functions,
    positive,
    subtract,
    swapped,
    unary_float,
)
from minijax.numpy.elementwise import isinf, isnan, maximum, unless_whole, where
from minijax.numpy.making import asarray, convert, promote_float, promote_shapes

__all__ = [
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "cbrt",
    "conj",
    "conjugate",
    "copysign",
    "cosh",
    "deg2rad",
    "degrees",
    "hypot",
    "imag",
    "left_shift",
    "logaddexp",
    "nan_to_num",
    "rad2deg",
    "radians",
    "real",
    "right_shift",
    "rint",
    "sinc",
    "sinh",
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


real = conj = itself
conjugate = itself
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
    high, low = maximum(x, y), elementwise.min(*broadcast(x, y))
    is_zero = elementwise.eq(high, defining.full_like(high, 0))
    ratio = basic.div(low, where(is_zero, defining.full_like(high, 1), high))
    length = multiply(high, elementwise.sqrt(1 + elementwise.square(ratio)))
    return where(is_zero, high, length)


def broadcast(x: Value, y: Value) -> tuple[Value, Value]:
    """Two operands as a primitive takes them."""
    x, y = promote_shapes(x, y)
    return x, y


def logaddexp(x1: Value, x2: Value, /) -> Value:
    """`log(exp(x1) + exp(x2))`, even if the powers are too large for a float."""
    return log_of_sum(*promote_float(x1, x2))


@custom_jvp
def log_of_sum(x1: Value, x2: Value) -> Value:
    """`logaddexp` of two floats with the same type."""
    x, y = promote_shapes(x1, x2)
    high, distance = maximum(x, y), subtract(x, y)
    return where(isnan(distance), x + y, high + elementwise.log1p(basic.exp(-abs(distance))))


@log_of_sum.defjvp
def log_of_sum_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Each operand moves the result by its share in the sum."""
    (x, y), (x_dot, y_dot) = primals, tangents
    out = log_of_sum(x, y)

    def share(part: Value) -> Value:
        return basic.exp(subtract(finite(part), finite(out)))

    return out, x_dot * share(x) + y_dot * share(y)


def finite(x: Value) -> Value:
    """`x`, with zero instead of an infinity."""
    return where(isinf(x), 0.0, x)


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
    near = 1 - elementwise.square(multiply(math.pi, x)) / 6  # has sinc's first two derivatives
    return where(is_zero, near, basic.sin(safe) / safe)


def shifted_right(x: Value, y: Value) -> Value:
    """The bits of `x`, moved `y` places to the right; the sign stays."""
    unsigned = get_aval(x).dtype.kind == "u"
    return (bits.shift_right_logical if unsigned else bits.shift_right_arithmetic)(x, y)


left_shift, right_shift = binary(bits.shift_left), binary(shifted_right)

for _name, _function in {"lshift": left_shift, "rshift": right_shift}.items():
    array_methods[f"__{_name}__"] = _function
    array_methods[f"__r{_name}__"] = swapped(_function)
array_methods.update({"conj": conj, "conjugate": conjugate})

name_functions(globals())
