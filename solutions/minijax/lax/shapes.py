"""The primitives that move elements about without computing with them, each with all its rules.

All but `iota` are linear: the tangent moves as the value does, and the transpose moves it back.
"""

import builtins
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import Array
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
)
from minijax.jvp import linear_jvp
from minijax.lax.basic import broadcast_in_dim, check_kind, reduce_sum, sub
from minijax.lax.choosing import select
from minijax.lax.defining import front_batch, full_like, hlo_operation, i64s, together_jvp
from minijax.vmap import move_batch_axis

__all__ = [
    "broadcast",
    "broadcasted_iota",
    "concatenate",
    "concatenate_p",
    "expand_dims",
    "iota",
    "iota_p",
    "pad",
    "pad_p",
    "reshape",
    "reshape_p",
    "rev",
    "rev_p",
    "slice",
    "slice_in_dim",
    "slice_p",
    "squeeze",
    "squeeze_p",
]


def without(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """`shape` without some of its axes."""
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def axes_behind(dim: int, rank: int, axes: Sequence[int]) -> tuple[int, ...]:
    """Axes of one example as axes of the batch, which has `rank` of them, `dim` for the batch."""
    kept = [i for i in range(rank) if i != dim]
    return tuple(kept[i] for i in axes)


def normal_axis(axis: int, rank: int) -> int:
    """The axis counted from the front; `ValueError` where there is none."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


# reshape, squeeze, expand_dims, broadcast ---------------------------------------------------------

reshape_p = Primitive("reshape")


def reshape(operand: Value, new_sizes: Sequence[int]) -> Value:
    """The same elements, in row-major order, in another shape of the same size."""
    shape, new_sizes = get_aval(operand).shape, tuple(map(int, new_sizes))
    if math.prod(shape) != math.prod(new_sizes) or any(n < 0 for n in new_sizes):
        raise ValueError(f"cannot reshape array of shape {shape} into shape {new_sizes}.")
    return operand if shape == new_sizes else reshape_p.bind(operand, new_sizes=new_sizes)


impl_rules[reshape_p] = lambda x, *, new_sizes: np.reshape(np.asarray(x), new_sizes)
jvp_rules[reshape_p] = functools.partial(linear_jvp, reshape_p)
vmap_rules[reshape_p] = functools.partial(
    front_batch, reshape_p, lambda n, new_sizes: {"new_sizes": (n, *new_sizes)}
)
abstract_eval_rules[reshape_p] = lambda x, *, new_sizes: ShapedArray(
    new_sizes, x.dtype, x.weak_type
)
transpose_rules[reshape_p] = lambda ct, x, *, new_sizes: [reshape(ct, x.aval.shape)]
hlo_lowerings[reshape_p] = hlo_operation("reshape")

squeeze_p = Primitive("squeeze")


def squeeze(array: Value, dimensions: Sequence[int]) -> Value:
    """The array without the axes `dimensions`, which have length 1."""
    shape = get_aval(array).shape
    axes = tuple(sorted(normal_axis(axis, len(shape)) for axis in dimensions))
    if any(shape[axis] != 1 for axis in axes):
        raise ValueError(f"cannot squeeze axes {axes} of shape {shape}: not all have length 1.")
    return squeeze_p.bind(array, dimensions=axes) if axes else array


def squeeze_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, dimensions: tuple[int, ...]
) -> tuple[Any, int]:
    (x,), (dim,) = vals, dims
    axes = axes_behind(dim, len(get_aval(x).shape), dimensions)
    return squeeze(x, axes), dim - sum(axis < dim for axis in axes)


impl_rules[squeeze_p] = lambda x, *, dimensions: np.squeeze(x, dimensions)
jvp_rules[squeeze_p] = functools.partial(linear_jvp, squeeze_p)
vmap_rules[squeeze_p] = squeeze_batch
abstract_eval_rules[squeeze_p] = lambda x, *, dimensions: ShapedArray(
    without(x.shape, dimensions), x.dtype, x.weak_type
)
transpose_rules[squeeze_p] = lambda ct, x, *, dimensions: [reshape(ct, x.aval.shape)]
hlo_lowerings[squeeze_p] = hlo_operation("reshape")


def expand_dims(array: Value, dimensions: Sequence[int]) -> Value:
    """The array with new axes of length 1, which have the numbers `dimensions` in the result."""
    shape = get_aval(array).shape
    rank = len(shape) + len(dimensions)
    new = {normal_axis(axis, rank) for axis in dimensions}
    kept = [i for i in range(rank) if i not in new]
    sizes = dict(zip(kept, shape, strict=True))
    return broadcast_in_dim(array, [sizes.get(i, 1) for i in range(rank)], kept) if new else array


def broadcast(operand: Value, sizes: Sequence[int]) -> Value:
    """Repeated along new axes in front, of these lengths."""
    if isinstance(sizes, Array):
        raise TypeError("broadcast takes lengths that can be hashed, not an array of them.")
    shape, new = get_aval(operand).shape, len(sizes)
    return broadcast_in_dim(operand, (*sizes, *shape), range(new, new + len(shape)))


# rev ----------------------------------------------------------------------------------------------

rev_p = Primitive("rev")


def rev(operand: Value, dimensions: Sequence[int]) -> Value:
    """The elements in the opposite order along `dimensions`."""
    if len(set(dimensions)) != len(dimensions):
        raise TypeError(f"rev takes each axis once, got {tuple(dimensions)}.")
    return rev_p.bind(operand, dimensions=tuple(dimensions))


def rev_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, dimensions: tuple[int, ...]
) -> tuple[Any, int]:
    (x,), (dim,) = vals, dims
    return rev(x, axes_behind(dim, len(get_aval(x).shape), dimensions)), dim


impl_rules[rev_p] = lambda x, *, dimensions: np.flip(x, dimensions)
jvp_rules[rev_p] = functools.partial(linear_jvp, rev_p)
vmap_rules[rev_p] = rev_batch
abstract_eval_rules[rev_p] = lambda x, *, dimensions: ShapedArray(x.shape, x.dtype, x.weak_type)
transpose_rules[rev_p] = lambda ct, x, *, dimensions: [rev(ct, dimensions)]
hlo_lowerings[rev_p] = hlo_operation(
    "reverse", lambda x, *, dimensions: f"dimensions = {i64s(dimensions)}"
)


# slice --------------------------------------------------------------------------------------------

slice_p = Primitive("slice")


def slice(
    operand: Value,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Value:
    """The elements from `start` up to, but not including, `limit` in each axis, by `strides`."""
    shape = get_aval(operand).shape
    starts, limits = tuple(map(int, start_indices)), tuple(map(int, limit_indices))
    steps = None if strides is None else tuple(map(int, strides))
    bounds = zip(starts, limits, shape, strict=True)
    if any(not 0 <= start <= limit <= n for start, limit, n in bounds):
        raise TypeError(f"slice from {starts} to {limits} does not lie inside shape {shape}.")
    if steps is not None and any(step < 1 for step in steps):
        raise TypeError(f"slice strides must be positive, got {steps}.")
    if steps in (None, (1,) * len(shape)) and limits == shape and not any(starts):
        return operand
    return slice_p.bind(operand, start_indices=starts, limit_indices=limits, strides=steps)


def slice_in_dim(
    operand: Value, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Value:
    """A slice along one axis, with Python's rules for negative and missing indices."""
    shape = get_aval(operand).shape
    axis = normal_axis(axis, len(shape))
    start, limit, _ = builtins.slice(start_index, limit_index).indices(shape[axis])
    starts, limits, strides = [0] * len(shape), [*shape], [1] * len(shape)
    starts[axis], limits[axis], strides[axis] = start, max(start, limit), stride
    return slice(operand, starts, limits, strides)


def slice_impl(x: Value, *, start_indices: Value, limit_indices: Any, strides: Any) -> Value:
    steps = strides or (1,) * len(start_indices)
    return np.asarray(x)[tuple(map(builtins.slice, start_indices, limit_indices, steps))]


def slice_of_batch(
    axis_size: int, start_indices: Any, limit_indices: Any, strides: Any
) -> dict[str, Any]:
    return {
        "start_indices": (0, *start_indices),
        "limit_indices": (axis_size, *limit_indices),
        "strides": None if strides is None else (1, *strides),
    }


def slice_type(
    x: ShapedArray, *, start_indices: Value, limit_indices: Any, strides: Any
) -> ShapedArray:
    steps = strides or (1,) * len(x.shape)
    shape = tuple(
        len(range(*part)) for part in zip(start_indices, limit_indices, steps, strict=True)
    )
    return ShapedArray(shape, x.dtype, x.weak_type)


def slice_transpose(
    ct: Tangent, x: Value, *, start_indices: Value, limit_indices: Any, strides: Any
) -> list[Value]:
    """Zeros around what was taken, and between."""
    steps = strides or (1,) * len(start_indices)
    ends = [
        start + (1 + step * (n - 1) if n else 0)
        for start, step, n in zip(start_indices, steps, get_aval(ct).shape, strict=True)
    ]
    sides = zip(start_indices, x.aval.shape, ends, steps, strict=True)
    return [pad(ct, zero_of(ct), [(start, n - end, step - 1) for start, n, end, step in sides])]


def zero_of(x: Value) -> np.ndarray:
    """A 0-d zero of the dtype of `x`."""
    return np.zeros((), get_aval(x).dtype)


def slice_attributes(
    x: ShapedArray, *, start_indices: Value, limit_indices: Any, strides: Any
) -> str:
    steps = strides or (1,) * len(x.shape)
    starts = f"start_indices = {i64s(start_indices)}"
    return f"{starts}, limit_indices = {i64s(limit_indices)}, strides = {i64s(steps)}"


impl_rules[slice_p] = slice_impl
jvp_rules[slice_p] = functools.partial(linear_jvp, slice_p)
vmap_rules[slice_p] = functools.partial(front_batch, slice_p, slice_of_batch)
abstract_eval_rules[slice_p] = slice_type
transpose_rules[slice_p] = slice_transpose
hlo_lowerings[slice_p] = hlo_operation("slice", slice_attributes)


# pad ----------------------------------------------------------------------------------------------

pad_p = Primitive("pad")

PaddingConfig = Sequence[tuple[int, int, int]]


def pad(operand: Value, padding_value: Value, padding_config: PaddingConfig) -> Value:
    """The array with `(low, high, interior)` further elements in each axis, all `padding_value`.

    That is in front, behind, and between each two elements. Negative `low` and `high` take away.
    """
    config = tuple((int(low), int(high), int(inner)) for low, high, inner in padding_config)
    aval, value = get_aval(operand), get_aval(padding_value)
    if aval.dtype != value.dtype or value.shape:
        raise TypeError(f"pad takes a 0-d padding value of dtype {aval.dtype.name}, not {value}.")
    if len(config) != len(aval.shape) or any(inner < 0 for _, _, inner in config):
        raise TypeError(f"pad with {config} does not fit an array of type {aval}.")
    return pad_p.bind(operand, padding_value, padding_config=config)


def padded_shape(shape: Sequence[int], config: PaddingConfig) -> tuple[int, ...]:
    sizes = zip(shape, config, strict=True)
    return tuple(low + high + n + max(n - 1, 0) * inner for n, (low, high, inner) in sizes)


def pad_impl(x: Value, value: Value, *, padding_config: PaddingConfig) -> Value:
    """Each element's place in the result is known; those that fall outside are dropped."""
    x = np.asarray(x)
    out = np.full(padded_shape(x.shape, padding_config), value, x.dtype)
    places, kept = [], []
    for n, size, (low, _, inner) in zip(x.shape, out.shape, padding_config, strict=True):
        place = low + np.arange(n) * (inner + 1)
        inside = (0 <= place) & (place < size)
        places.append(place[inside])
        kept.append(np.flatnonzero(inside))
    out[np.ix_(*places)] = x[np.ix_(*kept)]
    return out


def pad_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, padding_config: PaddingConfig
) -> tuple[Any, int]:
    """A padding value for each example is put in by a choice, where zeros were."""
    (x, value), (x_dim, value_dim) = vals, dims
    x = move_batch_axis(axis_size, x_dim, 0, x)
    config = [(0, 0, 0), *padding_config]
    if value_dim is not_mapped:
        return pad(x, value, config), 0
    original = pad(full_like(x, True, bool), np.asarray(False), config)
    padded = pad(x, zero_of(x), config)
    values = broadcast_in_dim(value, get_aval(padded).shape, (0,))
    return select(original, padded, values), 0


def pad_type(x: ShapedArray, value: ShapedArray, *, padding_config: PaddingConfig) -> ShapedArray:
    shape = padded_shape(x.shape, padding_config)
    return ShapedArray(shape, x.dtype, x.weak_type and value.weak_type)


def pad_transpose(
    ct: Tangent, x: Value, value: Value, *, padding_config: PaddingConfig
) -> list[Value]:
    """The operand gets what is at its places, and the padding value the sum of the rest."""
    cut = pad(ct, zero_of(ct), [(-low, -high, 0) for low, high, _ in padding_config])
    shape = get_aval(cut).shape
    from_x = slice(cut, [0] * len(shape), shape, [inner + 1 for _, _, inner in padding_config])
    if not isinstance(value, UndefPrimal):
        return [from_x, None]
    everywhere, there = (reduce_sum(y, range(len(shape))) for y in (ct, from_x))
    return [from_x if isinstance(x, UndefPrimal) else None, sub(everywhere, there)]


def pad_attributes(x: ShapedArray, value: ShapedArray, *, padding_config: PaddingConfig) -> str:
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    columns = [[part[i] for part in padding_config] for i in range(3)]
    return ", ".join(f"{name} = {i64s(c)}" for name, c in zip(names, columns, strict=True))


impl_rules[pad_p] = pad_impl
jvp_rules[pad_p] = functools.partial(together_jvp, pad_p, builtins.slice(None))
vmap_rules[pad_p] = pad_batch
abstract_eval_rules[pad_p] = pad_type
transpose_rules[pad_p] = pad_transpose
hlo_lowerings[pad_p] = hlo_operation("pad", pad_attributes)


# concatenate --------------------------------------------------------------------------------------

concatenate_p = Primitive("concatenate")


def concatenate(operands: Values, dimension: int) -> Value:
    """One array after the other along an axis; dtype and all other axes are the same."""
    avals = [get_aval(x) for x in operands]
    if not avals:
        raise TypeError("concatenate expects at least one operand, got 0.")
    if len({(without(aval.shape, [dimension]), aval.dtype) for aval in avals}) != 1:
        found = ", ".join(map(str, avals))
        raise TypeError(f"concatenate along axis {dimension} got operands that differ: {found}.")
    if len(avals) == 1:
        return operands[0]
    return concatenate_p.bind(*operands, dimension=dimension)


def concatenate_type(*avals: ShapedArray, dimension: int) -> ShapedArray:
    shape = list(avals[0].shape)
    shape[dimension] = sum(aval.shape[dimension] for aval in avals)
    return ShapedArray(tuple(shape), avals[0].dtype, all(aval.weak_type for aval in avals))


def concatenate_transpose(ct: Tangent, *operands: Value, dimension: int) -> list[Value]:
    """Each operand gets its part back."""
    sizes = [get_aval(x).shape[dimension] for x in operands]
    return [
        slice_in_dim(ct, end - size, end, axis=dimension) if isinstance(x, UndefPrimal) else None
        for x, size, end in zip(operands, sizes, itertools.accumulate(sizes), strict=True)
    ]


impl_rules[concatenate_p] = lambda *xs, dimension: np.concatenate(
    [np.asarray(x) for x in xs], dimension
)
jvp_rules[concatenate_p] = functools.partial(together_jvp, concatenate_p, builtins.slice(None))
vmap_rules[concatenate_p] = functools.partial(
    front_batch, concatenate_p, lambda n, dimension: {"dimension": dimension + 1}
)
abstract_eval_rules[concatenate_p] = concatenate_type
transpose_rules[concatenate_p] = concatenate_transpose
hlo_lowerings[concatenate_p] = hlo_operation(
    "concatenate", lambda *avals, dimension: f"dimension = {dimension} : i64"
)


# iota: it has no operands, so nothing differentiates or batches it --------------------------------

iota_p = Primitive("iota")


def iota(dtype: Any, size: int) -> Any:
    """The numbers 0, 1, 2, ... up to `size`."""
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> Any:
    """An array whose elements are their own indices along one axis."""
    dtype = dtypes.canonical(dtype)
    check_kind("iota", dtype, "iuf")
    if any(isinstance(n, Tracer) for n in shape):
        raise TypeError(f"Shapes must be known while a program is traced, got {tuple(shape)}.")
    return iota_p.bind(dtype=dtype, shape=tuple(shape), dimension=dimension)


def iota_impl(*, dtype: np.dtype, shape: tuple[int, ...], dimension: int) -> Any:
    column = [-1 if axis == dimension else 1 for axis in range(len(shape))]
    return np.broadcast_to(np.arange(shape[dimension], dtype=dtype).reshape(column), shape)


impl_rules[iota_p] = iota_impl
abstract_eval_rules[iota_p] = lambda *, dtype, shape, dimension: ShapedArray(shape, dtype)
hlo_lowerings[iota_p] = hlo_operation(
    "iota", lambda *, dtype, shape, dimension: f"iota_dimension = {dimension} : i64"
)
