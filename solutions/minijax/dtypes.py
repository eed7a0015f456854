"""Data types: which ones exist, and which type two operands share.

The rules are JAX's in 64-bit mode (https://docs.jax.dev/en/latest/type_promotion.html): types are
ordered bool < integers < floats, and a Python scalar is *weak*, that is, it takes the type of the
array that it meets unless it is of a later kind (an `int32` and `2.5` make a `float64`). Unlike
NumPy, an integer array never widens a float: `int64` with `float32` is `float32`.
"""

import functools
from typing import Any

import numpy as np

# The tangent type of integers and booleans: it has no bits, since they have no derivative.
float0 = np.dtype([("float0", np.void, 0)])

KINDS = "biuf"  # NumPy's letters for bool, signed and unsigned integer, float

SHORT_NAMES = {"float": "f", "int": "i", "uint": "u"}


@functools.lru_cache(maxsize=None, typed=True)  # a NumPy number has a dtype; True has none
def canonical(dtype: Any) -> np.dtype:
    """`dtype` as a NumPy dtype in this machine's byte order; `TypeError` for the unsupported."""
    result = np.dtype(dtype)
    if (result.kind not in KINDS or result.itemsize > 8) and result != float0:
        raise TypeError(f"dtype {result} is not supported; use booleans, integers or floats.")
    if not result.isnative:
        raise TypeError(
            f"dtype {result.str} has another byte order; use x.astype('{result.name}')."
        )
    return result


@functools.cache  # NumPy makes the name again each time
def name(dtype: np.dtype) -> str:
    """The name of a dtype: `float64`."""
    return "float0" if dtype == float0 else dtype.name


@functools.cache
def short_name(dtype: np.dtype) -> str:
    """The name that jaxprs print: `f64` for float64, `bool` for bool."""
    if dtype == float0:
        return "float0"
    letters = dtype.name.rstrip("0123456789")
    return SHORT_NAMES.get(letters, letters) + dtype.name[len(letters) :]


def is_float(dtype: np.dtype) -> bool:
    """Whether values of `dtype` can be differentiated."""
    return dtype.kind == "f"


def tangent_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of tangents of `dtype`: itself for floats, `float0` for everything else."""
    return dtype if is_float(dtype) else float0


def on_device(dtype: np.dtype) -> np.dtype:
    """The dtype that XLA computes with: `dtype`, but `bool` (always false) for `float0`, as JAX."""
    return np.dtype(bool) if dtype == float0 else dtype


def kind_order(dtype: np.dtype) -> int:
    """0 for booleans, 1 for integers, 2 for floats."""
    if dtype == float0:
        raise TypeError("float0s do not support any operations by design: they have no values.")
    return {"b": 0, "i": 1, "u": 1, "f": 2}[dtype.kind]


def join(a: np.dtype, b: np.dtype) -> np.dtype:
    """The smallest dtype that JAX lets stand for both `a` and `b`."""
    if kind_order(a) != kind_order(b):
        return max(a, b, key=kind_order)
    if {a.kind, b.kind} != {"i", "u"}:
        return max(a, b, key=lambda dtype: dtype.itemsize)
    return np.promote_types(a, b)  # signed with unsigned: the next wider signed type


@functools.cache  # operators ask again and again, for the same few dtypes
def result_type(*operands: tuple[np.dtype, bool]) -> tuple[np.dtype, bool]:
    """The common type of operands given as (dtype, weak_type), and whether it is weak itself."""
    strong = [dtype for dtype, weak in operands if not weak]
    weak = [dtype for dtype, weak in operands if weak]
    result = strong[0] if strong else weak[0]
    for dtype in strong or weak:
        result = join(result, dtype)
    if is_float(result) and not any(map(is_float, strong or weak)):
        return result, True  # no integer holds all of int64 and uint64: a float, but a weak one
    later_kinds = [dtype for dtype in weak if kind_order(dtype) > kind_order(result)]
    for dtype in later_kinds:
        result = join(result, dtype)
    return result, result.kind != "b" and (not strong or bool(later_kinds))


@functools.cache
def float_result_type(*operands: tuple[np.dtype, bool]) -> tuple[np.dtype, bool]:
    """Like `result_type`, but a float that holds it: float64 for 64 bits, float32 for fewer."""
    dtype, weak_type = result_type(*operands)
    if kind_order(dtype) == 2:
        return dtype, weak_type
    return np.dtype(np.float64 if dtype.itemsize == 8 else np.float32), weak_type
