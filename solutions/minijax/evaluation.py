"""Evaluation: what NumPy computes for a primitive, in the shapes and dtypes of XLA."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import ArrayImpl, array_methods
from minijax.typing import ArrayLike


def div_impl(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """The quotients of `x` and `y`, as XLA computes them.

    Integers keep their dtype and round towards zero, exactly. Divided by zero they become -1, or an
    unsigned dtype's largest number.

    >>> [int(div_impl(a, b)) for a, b in [(7, 2), (-7, 2), (7, 0)]]
    [3, -3, -1]
    >>> div_impl(np.array([9, 9], np.uint8), np.array([2, 0], np.uint8))
    array([  4, 255], dtype=uint8)
    """
    x, y = np.asarray(x), np.asarray(y)
    if dtypes.is_float(x.dtype):
        return np.divide(x, y)
    quotient = np.floor_divide(x, np.where(y == 0, np.ones_like(y), y))
    rounded_down = (quotient < 0) & (quotient * y != x)
    minus_one = np.array(-1).astype(quotient.dtype)
    return np.where(y == 0, minus_one, quotient + rounded_down)


def reduce_sum_impl(x: ArrayLike, *, axes: tuple[int, ...]) -> np.ndarray:
    """Add up along `axes`, which disappear; the dtype stays (NumPy would widen small integers)."""
    x = np.asarray(x)
    return np.sum(x, axis=axes, dtype=x.dtype)


def broadcast_in_dim_impl(
    x: ArrayLike, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]
) -> np.ndarray:
    """`x` repeated into `shape`; axis `i` of `x` becomes axis `broadcast_dimensions[i]`.

    The other axes are new. An axis of size 1 is repeated to the size that `shape` asks for.

    >>> broadcast_in_dim_impl(np.array([1.0, 2.0]), shape=(2, 3), broadcast_dimensions=(0,))
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    sizes = dict(zip(broadcast_dimensions, np.shape(x), strict=True))
    aligned = np.reshape(x, [sizes.get(axis, 1) for axis in range(len(shape))])
    return np.broadcast_to(aligned, shape)


def convert_element_type_impl(x: ArrayLike, *, new_dtype: Any, weak_type: bool) -> np.ndarray:
    """Convert to `new_dtype`; as integers, NaN is 0, and too large a number is the largest one."""
    x, new_dtype = np.asarray(x), np.dtype(new_dtype)
    if dtypes.is_float(x.dtype) and new_dtype.kind in "iu":
        limits = np.iinfo(new_dtype)
        inside = np.where(np.isnan(x) | (x <= limits.min) | (x >= limits.max), 0, x)
        ends = np.where(x >= limits.max, limits.max, np.where(x <= limits.min, limits.min, 0))
        return inside.astype(new_dtype) + ends.astype(new_dtype)
    return x.astype(new_dtype)


def dot_general_impl(
    x: ArrayLike, y: ArrayLike, *, dimension_numbers: Any, preferred_element_type: Any
) -> np.ndarray:
    """Multiply and add up along the contracted axes; batch axes come first in the result.

    `dimension_numbers` is ((contracted axes of x, of y), (batch axes of x, of y)). If there is a
    `preferred_element_type`, everything is computed in it.

    >>> numbers = (((1,), (0,)), ((), ()))
    >>> dot_general_impl(np.eye(2), np.array([3.0, 4.0]), dimension_numbers=numbers,
    ...                  preferred_element_type=None)
    array([3., 4.])
    """
    (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
    x, y = (np.asarray(v, preferred_element_type) for v in (x, y))
    x_kept = [i for i in range(x.ndim) if i not in (*x_contract, *x_batch)]
    y_kept = [i for i in range(y.ndim) if i not in (*y_contract, *y_batch)]
    batch, rows, inner = ([x.shape[i] for i in axes] for axes in (x_batch, x_kept, x_contract))
    columns = [y.shape[i] for i in y_kept]
    # As stacks of matrices, which NumPy multiplies: several axes become one, and several again.
    m, k, n = math.prod(rows), math.prod(inner), math.prod(columns)
    x = x.transpose([*x_batch, *x_kept, *x_contract]).reshape([*batch, m, k])
    y = y.transpose([*y_batch, *y_contract, *y_kept]).reshape([*batch, k, n])
    return np.matmul(x, y).reshape([*batch, *rows, *columns])


# Results ----------------------------------------------------------------------------------------


def as_result(out: Any, weak_type: bool = False) -> Any:
    """A result of evaluation: NumPy's arrays and scalars become arrays of our own."""
    if isinstance(out, np.ndarray | np.generic):
        return ArrayImpl(np.asarray(out), weak_type)
    return out


def placed_with(operands: Sequence[Any], result: Any) -> Any:
    """A result of evaluation, on the devices where the user put operands, if any are (`jit`)."""
    for x in operands:
        if type(x) is ArrayImpl and x.kind is not None and x.kind.committed:
            return array_methods["_placed_with"](operands, result)
    return result
