"""Operations on the bits of numbers: shifts, the same bits as another type, the next float.

Random numbers are made of them: `minijax/random.py` mixes the bits of unsigned integers, and turns
them into floats.
"""

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
from minijax.lax.basic import binary
from minijax.lax.defining import define
from minijax.lax.special import chlo
from minijax.lowering import Emitter, tensor_type
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


def shift_left_impl(x: Value, y: Value) -> Value:
    """The bits of `x` moved to the left by `y` places; those that leave are lost."""
    x, y = np.asarray(x), np.asarray(y)
    bits = np.dtype(f"u{x.dtype.itemsize}")
    return np.left_shift(x.astype(bits), y.astype(bits)).astype(x.dtype)


def shift_right_arithmetic_impl(x: Value, y: Value) -> Value:
    """The bits of `x` moved to the right, with copies of its sign coming in."""
    x, y = np.asarray(x), np.asarray(y)
    last = 8 * x.dtype.itemsize - 1
    signed = x.astype(f"i{x.dtype.itemsize}")
    places = np.minimum(y.astype(f"u{x.dtype.itemsize}"), last).astype(signed.dtype)
    return np.right_shift(signed, places).astype(x.dtype)


def shift_right_impl(x: Value, y: Value) -> Value:
    """The bits of `x` moved to the right by `y` places, with zeros coming in."""
    x, y = np.asarray(x), np.asarray(y)
    bits = np.dtype(f"u{x.dtype.itemsize}")
    return np.right_shift(x.astype(bits), y.astype(bits)).astype(x.dtype)


shift_right_logical_p = define(
    "shift_right_logical", shift_right_impl, "shift_right_logical", operands=2
)
shift_right_logical = binary(
    shift_right_logical_p, "iu", "The bits of `x`, moved `y` places to the right; zeros follow."
)
shift_left_p = define("shift_left", shift_left_impl, "shift_left", operands=2)
shift_right_arithmetic_p = define(
    "shift_right_arithmetic", shift_right_arithmetic_impl, "shift_right_arithmetic", operands=2
)
shift_left = binary(
    shift_left_p, "iu", "The bits of `x`, moved `y` places to the left; zeros follow."
)
shift_right_arithmetic = binary(
    shift_right_arithmetic_p,
    "iu",
    "The bits of `x`, moved `y` places to the right, sign kept.",
)


# Counting bits ------------------------------------------------------------------------------------


def population_count_impl(x: Value) -> Value:
    """How many of the bits of each element are ones."""
    x = np.asarray(x)
    return np.bitwise_count(x.astype(f"u{x.dtype.itemsize}")).astype(x.dtype)


population_count_p = define("population_count", population_count_impl, "popcnt")


def population_count(x: Value) -> Value:
    """How many of the bits of each integer are ones, in the dtype of `x`."""
    if get_aval(x).dtype.kind not in "iu":
        raise TypeError(f"population_count takes integers, not {get_aval(x).dtype.name}.")
    return population_count_p.bind(x)


# The next float -----------------------------------------------------------------------------------

nextafter_p = define("nextafter", np.nextafter, chlo("next_after"), operands=2)
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


def bitcast_type(x: ShapedArray, *, new_dtype: np.dtype) -> ShapedArray:
    return ShapedArray(x.shape, new_dtype)


def bitcast_hlo(emitter: Emitter, avals: Any, out_avals: Any, args: Any, **params: Any) -> Any:
    types = f"({tensor_type(avals[0])}) -> {tensor_type(out_avals[0])}"
    return [emitter.emit(f"stablehlo.bitcast_convert {args[0]} : {types}")]


impl_rules[bitcast_convert_type_p] = bitcast_impl
jvp_rules[bitcast_convert_type_p] = lambda primals, tangents, *, new_dtype: (
    bitcast_convert_type_p.bind(*primals, new_dtype=new_dtype),
    None,  # bits do not move in small steps
)
vmap_rules[bitcast_convert_type_p] = lambda *args, **params: unary_batch(
    bitcast_convert_type_p, *args, **params
)
abstract_eval_rules[bitcast_convert_type_p] = bitcast_type
hlo_lowerings[bitcast_convert_type_p] = bitcast_hlo
