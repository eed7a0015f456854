"""`sort` and `top_k`, each primitive with all its rules; their tangents are gathered."""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax.core import (
    Primitive,
    ShapedArray,
    Tangent,
    Value,
    Values,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    vmap_rules,
)
from minijax.jaxpr import raise_to_shaped
from minijax.jvp import apply_linear
from minijax.lax.basic import lt, sub
from minijax.lax.defining import emit_operation, emit_region, front_batch, full, hlo_of_all
from minijax.lax.dimension_numbers import GatherDimensionNumbers, GatherScatterMode
from minijax.lax.elementwise import bitwise_and, bitwise_not, bitwise_or, eq, ne
from minijax.lax.gathers import gather
from minijax.lax.shapes import broadcasted_iota, expand_dims, normal_axis, rev, slice_in_dim
from minijax.lowering import Emitter

__all__ = ["sort", "sort_key_val", "sort_p", "top_k", "top_k_p"]


sort_p = Primitive("sort", multiple_results=True)


def sort(operand: Value, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Value:
    """The array, sorted along an axis, NaN last; of several, the first `num_keys` are keys."""
    operands = operand if isinstance(operand, (tuple, list)) else [operand]
    axis = normal_axis(dimension, len(get_aval(operands[0]).shape))
    outs = sort_p.bind(*operands, dimension=axis, is_stable=is_stable, num_keys=num_keys)
    return tuple(outs) if isinstance(operand, (tuple, list)) else outs[0]


def sort_key_val(
    keys: Value, values: Value, dimension: int = -1, is_stable: bool = True
) -> tuple[Any, Any]:
    """The keys sorted along an axis, and the values in the order of their keys."""
    return tuple(sort((keys, values), dimension, is_stable, num_keys=1))


def sort_impl(*operands: Value, dimension: int, is_stable: bool, num_keys: int) -> list[Value]:
    arrays = [np.asarray(x) for x in operands]
    order = np.lexsort(arrays[:num_keys][::-1], dimension)
    return [np.take_along_axis(x, order, dimension) for x in arrays]


def sort_jvp(
    primals: Values, tangents: Sequence[Tangent], *, dimension: int, **params: Any
) -> tuple[list[Any], list[Any]]:
    """Sort the places along with the values, and take the tangents from those places."""
    shape = get_aval(primals[0]).shape
    numbers = broadcasted_iota(np.int64, shape, dimension)
    *outs, order = sort_p.bind(*primals, numbers, dimension=dimension, **params)
    return outs, [apply_linear(lambda t: along_axis(t, order, dimension), t) for t in tangents]


def along_axis(x: Value, indices: Value, axis: int, mode: Any = None) -> Value:
    """The elements at `indices` along one axis, with the other axes side by side."""
    shape = get_aval(indices).shape
    if 0 in shape:
        return full(shape, np.zeros((), get_aval(x).dtype))
    rank = len(shape)
    others = tuple(i for i in range(rank) if i != axis)
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    mode = GatherScatterMode.PROMISE_IN_BOUNDS if mode is None else mode
    indices = expand_dims(indices, [rank])
    return gather(x, indices, numbers, (1,) * rank, mode=mode)


def comes_before(x: Value, y: Value) -> Value:
    """The order of `sort`, in which NaN is the last, and no NaN comes before another."""
    return bitwise_or(lt(x, y), bitwise_and(ne(y, y), eq(x, x)))


def lexicographic(num_keys: int) -> Callable[..., Any]:
    """The comparison of two rows, given as x0, y0, x1, y1, ..."""

    def before(*values: Value) -> Value:
        result = None
        for x, y in list(zip(values[::2], values[1::2], strict=True))[:num_keys][::-1]:
            smaller, larger = comes_before(x, y), comes_before(y, x)
            rest = smaller if result is None else bitwise_and(bitwise_not(larger), result)
            result = bitwise_or(smaller, rest)
        return result

    return before


def sort_hlo(
    emitter: Emitter,
    avals: Any,
    out_avals: Any,
    args: Any,
    *,
    dimension: int,
    is_stable: bool,
    num_keys: int,
) -> list[str]:
    pairs = [aval.dtype for aval in avals for _ in range(2)]
    region = emit_region(emitter, lexicographic(num_keys), pairs)
    attributes = f"dimension = {dimension} : i64, is_stable = {str(is_stable).lower()}"
    return emit_operation(emitter, "sort", args, avals, out_avals, attributes, region)


impl_rules[sort_p] = sort_impl
jvp_rules[sort_p] = sort_jvp
vmap_rules[sort_p] = functools.partial(
    front_batch, sort_p, lambda n, dimension, **params: {"dimension": dimension + 1, **params}
)
abstract_eval_rules[sort_p] = lambda *avals, **params: [raise_to_shaped(aval) for aval in avals]
hlo_lowerings[sort_p] = sort_hlo


top_k_p = Primitive("top_k", multiple_results=True)


def top_k(operand: Value, k: int, *, axis: int = -1) -> list[Any]:
    """The `k` largest elements along an axis, the largest first, and their indices, int32.

    Of equal elements the first comes first; NaN counts as the largest.
    """
    shape = get_aval(operand).shape
    axis = normal_axis(axis, len(shape))
    if not 0 <= k <= shape[axis]:
        raise ValueError(f"top_k cannot take {k} of the {shape[axis]} elements along axis {axis}.")
    return top_k_p.bind(operand, k=operator.index(k), axis=axis)


def top_k_by_sort(operand: Value, *, k: int, axis: int) -> list[Any]:
    """Sorted with the last index first among equal ones, and read from the end."""
    shape = get_aval(operand).shape
    backwards = rev(broadcasted_iota(np.int32, shape, axis), [axis])
    ordered = sort((operand, backwards), axis, num_keys=2)
    found, places = (slice_in_dim(rev(x, [axis]), 0, k, axis=axis) for x in ordered)
    return [found, sub(np.int32(shape[axis] - 1), places)]


def top_k_jvp(
    primals: Values, tangents: Sequence[Tangent], *, k: int, axis: int
) -> tuple[list[Any], list[Any]]:
    """The tangents at the places that were found."""
    found, places = top_k_p.bind(*primals, k=k, axis=axis)
    return [found, places], [apply_linear(lambda t: along_axis(t, places, axis), tangents[0]), None]


def top_k_type(x: ShapedArray, *, k: int, axis: int) -> list[ShapedArray]:
    shape = tuple(k if i == axis else n for i, n in enumerate(x.shape))
    return [ShapedArray(shape, x.dtype), ShapedArray(shape, np.dtype(np.int32))]


impl_rules[top_k_p] = lambda x, **params: list(map(np.asarray, top_k_by_sort(x, **params)))
jvp_rules[top_k_p] = top_k_jvp
vmap_rules[top_k_p] = functools.partial(
    front_batch, top_k_p, lambda n, k, axis: {"k": k, "axis": axis + 1}
)
abstract_eval_rules[top_k_p] = top_k_type
hlo_lowerings[top_k_p] = hlo_of_all(top_k_by_sort)
