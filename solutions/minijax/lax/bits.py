"""Operations on the bits of numbers: shifts, the same bits as another type, the next float.

Random numbers are made of them: `minijax/random.py` mixes the bits of unsigned integers, and turns
them into floats.
"""

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from minijax import dtypes
from minijax.core import (
    Primitive,
    ShapedArray,
    Value,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    vmap_rules,
)
from minijax.lax.basic import binary, unary
from minijax.lax.defining import define, define_binary, hlo_operation, still_jvp
from minijax.lax.special import chlo
from minijax.vmap import unary_batch

__all__ = [
    "bitcast_convert_type",
    "bitcast_convert_type_p",
    "nextafter",
    "nextafter_p",
    "population_count",
    "population_count_p",
    "shift_left",
    "shift_left_p",
    "shift_right_arithmetic",
    "shift_right_arithmetic_p",
    "shift_right_logical",
    "shift_right_logical_p",
]

# Shifts -------------------------------------------------------------------------------------------


def shift_bits(shift: np.ufunc) -> Callable[[Value, Value], Value]:
    """The shift of the bits of `x` by `y` places: zeros come in, and bits that leave are lost."""

    def evaluate(x: Value, y: Value) -> Value:
        x, y = np.asarray(x), np.asarray(y)
        bits = np.dtype(f"u{x.dtype.itemsize}")
        return shift(x.astype(bits), y.astype(bits)).astype(x.dtype)

    return evaluate


def shift_right_arithmetic_impl(x: Value, y: Value) -> Value:
    """The bits of `x` moved to the right, with copies of its sign coming in."""
    x, y = np.asarray(x), np.asarray(y)
    last = 8 * x.dtype.itemsize - 1
    signed = x.astype(f"i{x.dtype.itemsize}")
    places = np.minimum(y.astype(f"u{x.dtype.itemsize}"), last).astype(signed.dtype)
    return np.right_shift(signed, places).astype(x.dtype)


shift_right_logical_p = define_binary(
    "shift_right_logical", shift_bits(np.right_shift), "shift_right_logical"
)
shift_right_logical = binary(
    shift_right_logical_p, "iu", "The bits of `x`, moved `y` places to the right; zeros follow."
)
shift_left_p = define_binary("shift_left", shift_bits(np.left_shift), "shift_left")
shift_right_arithmetic_p = define_binary(
    "shift_right_arithmetic", shift_right_arithmetic_impl, "shift_right_arithmetic"
)
shift_left = binary(
    shift_left_p, "iu", "The bits of `x`, moved `y` places to the left; zeros follow."
)
shift_right_arithmetic = binary(
    shift_right_arithmetic_p, "iu", "The bits of `x`, moved `y` places to the right, sign kept."
)


# Counting bits ------------------------------------------------------------------------------------


def population_count_impl(x: Value) -> Value:
    """How many of the bits of each element are ones."""
    x = np.asarray(x)
    return np.bitwise_count(x.astype(f"u{x.dtype.itemsize}")).astype(x.dtype)


population_count_p = define("population_count", population_count_impl, "popcnt")
population_count = unary(
    population_count_p, "iu", "How many of the bits of each integer are ones, in the dtype of `x`."
)


# The next float -----------------------------------------------------------------------------------

nextafter_p = define_binary("nextafter", np.nextafter, chlo("next_after"))
next_float = binary(nextafter_p, "f", "The float next to `x` in the direction of `y`.")


def refuse_derivative(*args: Any) -> NoReturn:
    """As in JAX; how far the next float is does not depend on small steps in any useful way."""
    raise NotImplementedError("nextafter has no derivative. Use lax.stop_gradient on its operands.")


jvp_rules[nextafter_p] = refuse_derivative


def nextafter(x1: Value, x2: Value) -> Value:
    """The float next to `x1` in the direction of `x2`."""
    return next_float(x1, x2)


# The same bits as another type --------------------------------------------------------------------

bitcast_convert_type_p = Primitive("bitcast_convert_type")


def bitcast_convert_type(operand: Value, new_dtype: Any) -> Value:
    """The bits of each element read as a number of `new_dtype`, which has as many bits.

    >>> print(hex(bitcast_convert_type(np.float32(1.0), np.uint32)))
    0x3f800000
    """
    own, dtype = get_aval(operand).dtype, dtypes.canonical(new_dtype)
    if own == dtype:
        return operand
    if "b" in (own.kind, dtype.kind):
        raise TypeError(f"bitcast_convert_type takes numbers, not {own.name} as {dtype.name}.")
    if own.itemsize != dtype.itemsize:
        raise NotImplementedError(
            f"bitcast_convert_type takes types with equally many bits, not {own.name} and "
            f"{dtype.name}."
        )
    return bitcast_convert_type_p.bind(operand, new_dtype=dtype)


def bitcast_impl(x: Value, *, new_dtype: np.dtype) -> Value:
    x = np.asarray(x)
    return np.ascontiguousarray(x).reshape(x.shape).view(new_dtype)


impl_rules[bitcast_convert_type_p] = bitcast_impl
jvp_rules[bitcast_convert_type_p] = functools.partial(still_jvp, bitcast_convert_type_p)
vmap_rules[bitcast_convert_type_p] = functools.partial(unary_batch, bitcast_convert_type_p)
abstract_eval_rules[bitcast_convert_type_p] = lambda x, *, new_dtype: ShapedArray(
    x.shape, new_dtype
)
hlo_lowerings[bitcast_convert_type_p] = hlo_operation("bitcast_convert")
