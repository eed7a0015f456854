"""The primitives as functions (`minijax.lax`), for the dozen primitives of lessons 4 to 12.

They are strict, as in JAX: no promotion, and no broadcasting except that 0-d operands, and axes of
size 1 between operands of the same rank, stretch. `minijax.numpy` is the convenient layer above.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import Array
from minijax.core import (
    Primitive,
    Value,
    add_p,
    broadcast_in_dim_p,
    convert_element_type_p,
    cos_p,
    div_p,
    dot_general_p,
    exp_p,
    get_aval,
    gt_p,
    log_p,
    lt_p,
    mul_p,
    neg_p,
    reduce_sum_p,
    sin_p,
    sub_p,
    transpose_p,
)

__all__ = [
    "Precision",
    "add",
    "add_p",
    "broadcast_in_dim",
    "broadcast_in_dim_p",
    "convert_element_type",
    "convert_element_type_p",
    "cos",
    "cos_p",
    "div",
    "div_p",
    "dot_general",
    "dot_general_p",
    "exp",
    "exp_p",
    "gt",
    "gt_p",
    "log",
    "log_p",
    "lt",
    "lt_p",
    "mul",
    "mul_p",
    "neg",
    "neg_p",
    "reduce_sum",
    "reduce_sum_p",
    "sin",
    "sin_p",
    "sub",
    "sub_p",
    "transpose",
    "transpose_p",
]


def check_kind(name: str, dtype: np.dtype, kinds: str) -> None:
    if dtype.kind not in kinds:
        raise TypeError(f"{name} does not accept dtype {dtype.name}.")


def broadcast_shapes(name: str, x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an operation on two operands; `TypeError` if they do not fit."""
    if x == y or not x or not y:
        return x or y
    if len(x) != len(y):
        ranks = f"got {len(x)} and {len(y)}"
        raise TypeError(f"{name}: arrays must have the same number of dimensions, {ranks}.")
    if any(a != b and 1 not in (a, b) for a, b in zip(x, y, strict=True)):
        raise TypeError(f"{name} got incompatible shapes for broadcasting: {x}, {y}.")
    return tuple(b if a == 1 else a for a, b in zip(x, y, strict=True))


def typed(x: Value) -> Any:
    """What knows shape and dtype of `x`: an array or a tracer does itself, else it is the type."""
    return x if isinstance(x, Array) else get_aval(x)


def unary(primitive: Primitive, kinds: str, doc: str, name: str = "") -> Callable[[Any], Any]:
    """The function of an elementwise primitive of one operand, with its docstring."""

    def function(x: Value) -> Value:
        check_kind(primitive.name, typed(x).dtype, kinds)
        return primitive.bind(x)

    return named(function, name or primitive.name, doc)


def binary(primitive: Primitive, kinds: str, doc: str, name: str = "") -> Callable[[Any, Any], Any]:
    """The function of an elementwise primitive of two operands of the same dtype."""

    def function(x: Value, y: Value) -> Value:
        a, b = typed(x), typed(y)
        if a.dtype != b.dtype:
            raise TypeError(
                f"lax.{primitive} requires arguments to have the same dtypes, got "
                f"{a.dtype}, {b.dtype}. Operators and minijax.numpy convert for you."
            )
        check_kind(primitive.name, a.dtype, kinds)
        broadcast_shapes(primitive.name, a.shape, b.shape)
        return primitive.bind(x, y)

    return named(function, name or primitive.name, doc)


def named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


add = binary(add_p, "iuf", "`x + y`, element by element.")
sub = binary(sub_p, "iuf", "`x - y`, element by element.")
mul = binary(mul_p, "iuf", "`x * y`, element by element.")
div = binary(div_p, "iuf", "`x / y`, element by element; of integers, rounded towards zero.")
gt = binary(gt_p, "biuf", "Whether `x > y`, element by element.")
lt = binary(lt_p, "biuf", "Whether `x < y`, element by element.")
neg = unary(neg_p, "iuf", "Each element with its sign changed.")
sin = unary(sin_p, "f", "The sine of each element.")
cos = unary(cos_p, "f", "The cosine of each element.")
exp = unary(exp_p, "f", "The exponential of each element.")
log = unary(log_p, "f", "The natural logarithm of each element.")


def reduce_sum(operand: Value, axes: Sequence[int]) -> Value:
    """The sum along `axes`, which disappear from the shape."""
    return reduce_sum_p.bind(operand, axes=tuple(axes))


def keep_axes(reduced: Value, shape: Sequence[int], axes: Sequence[int]) -> Any:
    """What was reduced over `axes`, with these axes back, of length 1."""
    if not axes:
        return reduced
    kept = [i for i in range(len(shape)) if i not in axes]
    return broadcast_in_dim(reduced, [1 if i in axes else n for i, n in enumerate(shape)], kept)


def transpose(operand: Value, permutation: Sequence[int]) -> Value:
    """The axes reordered: axis `i` of the result is axis `permutation[i]` of the operand."""
    permutation, shape = tuple(permutation), typed(operand).shape
    if permutation == tuple(range(len(shape))):
        return operand
    if sorted(permutation) != list(range(len(shape))):
        raise TypeError(f"{permutation} is not a permutation of the axes of an array of {shape}.")
    return transpose_p.bind(operand, permutation=permutation)


def broadcast_in_dim(
    operand: Value, shape: Sequence[int], broadcast_dimensions: Sequence[int]
) -> Value:
    """Repeat into `shape`; axis `i` of the operand becomes axis `broadcast_dimensions[i]`."""
    shape, axes = tuple(shape), tuple(broadcast_dimensions)
    operand_shape = typed(operand).shape
    if min(shape, default=0) < 0:
        raise TypeError(f"A shape has no negative sizes, got {shape}.")
    if any(n not in (1, shape[axis]) for n, axis in zip(operand_shape, axes, strict=True)):
        raise TypeError(
            f"broadcast_in_dim cannot repeat {operand_shape} into {shape} along {axes}."
        )
    return broadcast_in_dim_p.bind(operand, shape=shape, broadcast_dimensions=axes)


def convert_element_type(operand: Value, new_dtype: Any) -> Value:
    """The array, converted to `new_dtype`."""
    if new_dtype is None:
        raise ValueError("dtype must be specified.")
    dtype = dtypes.canonical(new_dtype)
    if type(operand) is int:  # one that may be too large for int64, and not for this dtype
        operand = np.asarray(operand).astype(dtype)
    elif typed(operand).dtype == dtype and not typed(operand).weak_type:
        return operand
    return convert_element_type_p.bind(operand, new_dtype=dtype, weak_type=False)


@functools.cache  # a product, its tangents and its cotangents ask again, for the same few shapes
def check_dot(lhs: tuple[int, ...], rhs: tuple[int, ...], contract: Any, batch: Any) -> None:
    """`TypeError` if axes are missing, are named twice, or differ in size."""
    for shape, axes in zip((lhs, rhs), zip(contract, batch, strict=True), strict=True):
        named = [*axes[0], *axes[1]]
        if len(set(named)) != len(named) or any(not 0 <= i < len(shape) for i in named):
            raise TypeError(f"dot_general cannot use axes {named} of an operand of shape {shape}.")
    for kind, (left, right) in {"contracted": contract, "batch": batch}.items():
        if [lhs[i] for i in left] != [rhs[i] for i in right]:
            raise TypeError(
                f"dot_general needs {kind} axes of the same lengths, got {left} of {lhs} and "
                f"{right} of {rhs}."
            )


def check_preferred(lhs: np.dtype, rhs: np.dtype, preferred: np.dtype | None) -> None:
    """An error if a product of operands of these dtypes cannot be computed in the preferred one."""
    if preferred is None or lhs == rhs == preferred:
        return
    if "f" not in (lhs.kind, rhs.kind):
        if preferred.itemsize < max(lhs.itemsize, rhs.itemsize) or preferred.kind == "b":
            raise TypeError(f"preferred_element_type must not be narrower than {lhs} and {rhs}.")
    elif preferred.kind != "f":
        raise NotImplementedError("A product of floats has no integer preferred_element_type here.")


class Precision(enum.Enum):
    """How exactly an accelerator should multiply; a CPU does so as exactly as the dtype allows."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value: object) -> Precision | None:
        return PRECISIONS.get(value)

    def __repr__(self) -> str:
        return f"Precision.{self.name}"

    def __str__(self) -> str:
        return self.name


PRECISIONS: dict[object, Precision] = {
    **dict.fromkeys((None, "default", "fastest", "bfloat16"), Precision.DEFAULT),
    **dict.fromkeys(("high", "bfloat16_3x", "tensorfloat32"), Precision.HIGH),
    **dict.fromkeys(("highest", "float32"), Precision.HIGHEST),
}


def check_precision(precision: Any) -> None:
    """`ValueError` unless it is a precision or its name, a pair of these, or None.

    It changes nothing: minijax computes on the CPU, which has one way to multiply. So it is in no
    program, either.
    """
    if precision is None:
        return
    pair = precision if isinstance(precision, tuple) else (precision, precision)
    known = [isinstance(x, Precision) or (isinstance(x, str) and x in PRECISIONS) for x in pair]
    if len(pair) != 2 or not all(known):
        names = [name for name in PRECISIONS if name is not None]
        raise ValueError(
            f"A precision is None, a lax.Precision, one of {names}, or a pair of these; got "
            f"{precision}."
        )


def dot_general(
    lhs: Value,
    rhs: Value,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Value:
    """Sums of products, such as the matrix product.

    See `dot_general_impl` for `dimension_numbers`.

    `precision` is for accelerators: on the CPU it changes nothing.
    """
    check_precision(precision)
    contract, batch = (tuple(map(tuple, pair)) for pair in dimension_numbers)
    check_dot(typed(lhs).shape, typed(rhs).shape, contract, batch)
    dtype = None if preferred_element_type is None else dtypes.canonical(preferred_element_type)
    check_preferred(typed(lhs).dtype, typed(rhs).dtype, dtype)
    return dot_general_p.bind(
        lhs, rhs, dimension_numbers=(contract, batch), preferred_element_type=dtype
    )
