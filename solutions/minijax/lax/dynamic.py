"""One window, at a place that is known when the program runs, each primitive with all its rules."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax.core import (
    Primitive,
    ShapedArray,
    Tangent,
    Tracer,
    UndefPrimal,
    Value,
    Values,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    not_mapped,
    transpose_rules,
    vmap_rules,
    weak_operands,
)
from minijax.jaxpr import raise_to_shaped
from minijax.lax.basic import add, convert_element_type, lt
from minijax.lax.choosing import select
from minijax.lax.defining import all_in_front, hlo_operation, i64s, scalar, together_jvp, zeros_like
from minijax.lax.dimension_numbers import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from minijax.lax.gathers import gather_batch, gather_p, scatter_add_p, scatter_batch, scatter_p
from minijax.lax.shapes import concatenate, expand_dims, normal_axis, squeeze
from minijax.vmap import move_batch_axis

__all__ = [
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_slice_p",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "dynamic_update_slice_p",
]


dynamic_slice_p = Primitive("dynamic_slice")
dynamic_update_slice_p = Primitive("dynamic_update_slice")


def start_of(name: str, x: Value, indices: Value) -> list[Value]:
    """One 0-d start for each axis; a negative one counts from the end."""
    shape = get_aval(x).shape
    if not isinstance(indices, (tuple, list)):
        rows = range(get_aval(indices).shape[0])
        indices = [squeeze(take_row(indices, i), [0]) for i in rows]
    if len(indices) != len(shape):
        raise ValueError(f"{name} needs a start for each axis of {shape}, got {len(indices)}.")
    found = {get_aval(i).dtype for i in indices}
    if len(found) > 1 or any(d.kind not in "iu" for d in found):
        kinds = ", ".join(str(get_aval(i)) for i in indices)
        raise TypeError(
            f"{name} needs an integer for each axis of {shape}, all with the same dtype: {kinds}."
        )
    return [from_end(i, n) for i, n in zip(indices, shape, strict=True)]


def take_row(x: Value, i: int) -> Value:
    return dynamic_slice_p.bind(x, np.int32(i), slice_sizes=(1,))


def from_end(index: Value, n: int) -> Value:
    """`index`, or `index + n` where that is negative; Python's integers are done with at once."""
    if isinstance(index, int):
        return np.asarray(index + n if index < 0 else index)
    dtype = get_aval(index).dtype
    if dtype.kind == "u":
        return index
    negative = lt(index, scalar(0, index))
    return select(negative, add(convert_element_type(index, dtype), np.asarray(n, dtype)), index)


def dynamic_slice(operand: Value, start_indices: Value, slice_sizes: Sequence[int]) -> Value:
    """The window of size `slice_sizes` that begins at `start_indices`, moved inside if need be."""
    if any(isinstance(n, Tracer) for n in slice_sizes):
        raise TypeError(f"The sizes of a window must be known, got {tuple(slice_sizes)}.")
    shape, sizes = get_aval(operand).shape, tuple(map(int, slice_sizes))
    if len(sizes) != len(shape) or any(not 0 <= k <= n for k, n in zip(sizes, shape, strict=True)):
        raise TypeError(f"dynamic_slice cannot take a window {sizes} out of shape {shape}.")
    starts = start_of("dynamic_slice", operand, start_indices)
    return dynamic_slice_p.bind(operand, *starts, slice_sizes=sizes)


def dynamic_update_slice(operand: Value, update: Value, start_indices: Value) -> Value:
    """`operand` with `update` instead of the window at `start_indices`."""
    x, new = get_aval(operand), get_aval(update)
    fits = len(x.shape) == len(new.shape) and all(
        k <= n for k, n in zip(new.shape, x.shape, strict=True)
    )
    if not fits or x.dtype != new.dtype:
        raise TypeError(f"dynamic_update_slice cannot put {new} into {x}.")
    starts = start_of("dynamic_update_slice", operand, start_indices)
    return dynamic_update_slice_p.bind(operand, update, *starts)


def window(x: np.ndarray, starts: Values, sizes: Sequence[int]) -> tuple[Value, ...]:
    """The window as Python's slices, moved inside as XLA does."""
    moved = [
        min(max(int(start), 0), n - size)
        for start, n, size in zip(starts, x.shape, sizes, strict=True)
    ]
    return tuple(slice(start, start + size) for start, size in zip(moved, sizes, strict=True))


def dynamic_slice_impl(x: Value, *starts: Value, slice_sizes: tuple[int, ...]) -> Value:
    x = np.asarray(x)
    return x[window(x, starts, slice_sizes)]


def dynamic_slice_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, slice_sizes: tuple[int, ...]
) -> tuple[Any, int]:
    """Windows at different places are what `gather` is for."""
    (x, *starts), (dim, *start_dims) = vals, dims
    if all(d is not_mapped for d in start_dims):
        x, zero = move_batch_axis(axis_size, dim, 0, x), first_start(starts)
        return dynamic_slice_p.bind(x, zero, *starts, slice_sizes=(axis_size, *slice_sizes)), 0
    axes = tuple(range(len(slice_sizes)))
    return gather_batch(
        axis_size,
        [x, stacked_starts(axis_size, starts, start_dims)],
        [dim, 0],
        dimension_numbers=GatherDimensionNumbers(axes, (), axes),
        slice_sizes=slice_sizes,
        indices_are_sorted=True,
        unique_indices=True,
        mode=GatherScatterMode.CLIP,
        fill_value=None,
    )


def first_start(starts: Values) -> np.ndarray:
    """The start along the batch axis, in the dtype of the others."""
    return scalar(0, starts[0]) if starts else np.asarray(0)


def stacked_starts(axis_size: int, starts: Values, dims: Sequence[Any]) -> Value:
    """All starts of a batch as one array, with a row for each example."""
    columns = all_in_front(axis_size, starts, dims)
    return concatenate([expand_dims(column, [1]) for column in columns], 1)


def dynamic_slice_transpose(
    ct: Tangent, x: Value, *starts: Value, slice_sizes: tuple[int, ...]
) -> list[Value]:
    """Zeros, with the cotangent in the window."""
    from_x = dynamic_update_slice_p.bind(zeros_like(x), ct, *starts)
    return [from_x, *(None for _ in starts)]


impl_rules[dynamic_slice_p] = dynamic_slice_impl
jvp_rules[dynamic_slice_p] = functools.partial(together_jvp, dynamic_slice_p, slice(1))
vmap_rules[dynamic_slice_p] = dynamic_slice_batch
abstract_eval_rules[dynamic_slice_p] = lambda x, *starts, slice_sizes: ShapedArray(
    slice_sizes, x.dtype, x.weak_type
)
transpose_rules[dynamic_slice_p] = dynamic_slice_transpose
hlo_lowerings[dynamic_slice_p] = hlo_operation(
    "dynamic_slice", lambda *avals, slice_sizes: f"slice_sizes = {i64s(slice_sizes)}"
)


def dynamic_update_slice_impl(x: Value, update: Value, *starts: Value) -> Value:
    out = np.array(x)
    out[window(out, starts, np.shape(update))] = update
    return out


def dynamic_update_slice_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any]
) -> tuple[Any, int]:
    """Windows at different places are what `scatter` is for."""
    (x, update, *starts), (dim, update_dim, *start_dims) = vals, dims
    if all(d is not_mapped for d in start_dims):
        moved = all_in_front(axis_size, [x, update], [dim, update_dim])
        return dynamic_update_slice_p.bind(*moved, first_start(starts), *starts), 0
    axes = tuple(range(len(starts)))
    return scatter_batch(
        scatter_p,
        axis_size,
        [x, stacked_starts(axis_size, starts, start_dims), update],
        [dim, 0, update_dim],
        dimension_numbers=ScatterDimensionNumbers(axes, (), axes),
        indices_are_sorted=True,
        unique_indices=True,
        mode=GatherScatterMode.CLIP,
        update_consts=(),
        update_jaxpr=None,
    )


def dynamic_update_slice_transpose(
    ct: Tangent, x: Value, update: Value, *starts: Value
) -> list[Value]:
    """The update gets its window of the cotangent; the operand gets the rest."""
    from_x, from_update = None, None
    if isinstance(x, UndefPrimal):
        from_x = dynamic_update_slice_p.bind(ct, zeros_like(update), *starts)
    if isinstance(update, UndefPrimal):
        from_update = dynamic_slice_p.bind(ct, *starts, slice_sizes=get_aval(update).shape)
    return [from_x, from_update, *(None for _ in starts)]


impl_rules[dynamic_update_slice_p] = dynamic_update_slice_impl
jvp_rules[dynamic_update_slice_p] = functools.partial(
    together_jvp, dynamic_update_slice_p, slice(2)
)
vmap_rules[dynamic_update_slice_p] = dynamic_update_slice_batch
abstract_eval_rules[dynamic_update_slice_p] = lambda x, update, *starts: raise_to_shaped(x)
transpose_rules[dynamic_update_slice_p] = dynamic_update_slice_transpose
hlo_lowerings[dynamic_update_slice_p] = hlo_operation("dynamic_update_slice")


def starts_along(operand: Value, index: Value, axis: int) -> list[Value]:
    """`index` along one axis, and 0 along all others."""
    rank = len(get_aval(operand).shape)
    return [index if i == axis else scalar(0, index) for i in range(rank)]


def dynamic_slice_in_dim(operand: Value, start_index: Any, slice_size: int, axis: int = 0) -> Value:
    """`dynamic_slice` along one axis, and all of the others."""
    sizes = list(get_aval(operand).shape)
    axis = normal_axis(axis, len(sizes))
    start = from_end(start_index, sizes[axis])
    sizes[axis] = slice_size
    starts = starts_along(operand, start, axis)
    return dynamic_slice_p.bind(operand, *starts, slice_sizes=tuple(sizes))


def dynamic_index_in_dim(
    operand: Value, index: Value, axis: int = 0, keepdims: bool = True
) -> Value:
    """The part of `operand` at `index` along one axis."""
    axis = normal_axis(axis, len(get_aval(operand).shape))
    part = dynamic_slice_in_dim(operand, index, 1, axis)
    return part if keepdims else squeeze(part, [axis])


def dynamic_update_slice_in_dim(
    operand: Value, update: Value, start_index: Any, axis: int
) -> Value:
    """`dynamic_update_slice` along one axis."""
    shape = get_aval(operand).shape
    axis = normal_axis(axis, len(shape))
    starts = starts_along(operand, from_end(start_index, shape[axis]), axis)
    return dynamic_update_slice_p.bind(operand, update, *starts)


def dynamic_update_index_in_dim(operand: Value, update: Value, index: Value, axis: int) -> Value:
    """`operand` with `update` at `index` along one axis."""
    rank = len(get_aval(operand).shape)
    axis = normal_axis(axis, rank)
    if len(get_aval(update).shape) != rank:
        update = expand_dims(update, [axis])
    return dynamic_update_slice_in_dim(operand, update, index, axis)


for _p in (gather_p, scatter_p, scatter_add_p, dynamic_slice_p, dynamic_update_slice_p):
    weak_operands[_p] = slice(0, 1)
