"""`minijax.numpy`, continued: functions that change shapes, join arrays and take them apart."""

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import Array, array_methods
from minijax.core import Tracer, Value, get_aval
from minijax.errors import ConcretizationTypeError
from minijax.lax import basic, defining, dynamic, elementwise, shapes
from minijax.numpy.basic import positive, static, subtract, transpose
from minijax.numpy.elementwise import as_call, remainder, where
from minijax.numpy.making import (
    as_indices,
    asarray,
    broadcast_to,
    convert,
    integers,
    ndim,
    normal_axes,
    promote_dtypes,
    shape,
    size,
    sizes_of,
    staged,
)

__all__ = [
    "broadcast_arrays",
    "concatenate",
    "expand_dims",
    "flip",
    "hstack",
    "moveaxis",
    "pad",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "tril",
    "triu",
    "vstack",
]


def known(name: str, x: Value) -> Any:
    """`x`, which must be known while a program is traced."""
    if isinstance(x, Tracer):
        raise ConcretizationTypeError(
            f"jnp.{name} needs this argument while the function is traced, and {x} is not known "
            "then. Pass it as a static argument instead."
        )
    return x


def one_axis(axis: int, rank: int) -> int:
    """The axis counted from the front."""
    return any_axis(static(axis), rank)


def any_axis(axis: Any, rank: int) -> int:
    """The same, where JAX takes an array of one integer as well."""
    return normal_axes(operator.index(axis), rank)[0]


def in_line(a: Value, axis: int | None) -> tuple[Value, int]:
    """With an axis for all of `a` in one line: without one, and for a single number, as in JAX.

    NumPy's numbers are left unchanged: JAX means only its own and Python's.
    """
    if axis is None or not (ndim(a) or isinstance(a, np.ndarray | np.generic)):
        return ravel(a), 0 if axis is None else axis
    return a, axis


def reshape(a: Value, shape: int | Sequence[int]) -> Value:
    """The same elements in another shape, of which one length may be -1: what is left for it."""
    sizes = list(integers(shape))
    if -1 in sizes:
        others = math.prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = size(a) // others if others else 0
    if math.prod(sizes) != size(a):
        raise TypeError(f"An array with {size(a)} elements does not fit into shape {shape}.")
    return shapes.reshape(positive(a), sizes)


def reshape_method(a: Value, *shape: Any, order: str = "C") -> Value:
    """`a.reshape(2, 3)` as well as `a.reshape((2, 3))`."""
    if order != "C":
        raise NotImplementedError(f"reshape supports only the order 'C', not {order!r}.")
    return reshape(a, shape[0] if len(shape) == 1 else shape)


def transpose_method(a: Value, *axes: Any) -> Value:
    """`a.transpose(1, 0)` as well as `a.transpose((1, 0))`."""
    return transpose(a, axes[0] if len(axes) == 1 else axes or None)


def ravel(a: Value) -> Value:
    """All elements along one axis."""
    return shapes.reshape(positive(a), (size(a),))


def squeeze(a: Value, axis: int | Sequence[int] | None = None) -> Value:
    """The array without its axes of length 1, or without those in `axis`."""
    a = positive(a)
    ones = [i for i, n in enumerate(shape(a)) if n == 1]
    return shapes.squeeze(a, ones if axis is None else normal_axes(axis, ndim(a)))


def expand_dims(a: Value, axis: int | Sequence[int]) -> Value:
    """The array with new axes of length 1."""
    return shapes.expand_dims(a, as_indices(known("expand_dims", axis)))


def several(arrays: Any) -> Any:
    """Arrays to be joined, at least one; an array stands for its rows."""
    if (isinstance(arrays, Array | np.ndarray) and not arrays.ndim) or not len(arrays):
        raise ValueError("Arrays are joined one after the other, and here is none.")
    return arrays


def concatenate(arrays: Value, axis: int | None = 0) -> Value:
    """One array after the other along an axis."""
    arrays = [positive(x) for x in promote_dtypes(*several(arrays))]
    if axis is None:
        arrays, axis = [ravel(x) for x in arrays], 0
    if len(ranks := {*map(ndim, arrays)}) > 1:
        raise TypeError(f"Arrays with different numbers of axes follow each other: {ranks}.")
    return shapes.concatenate(arrays, any_axis(axis, ndim(arrays[0])))


def stack(arrays: Value, axis: int = 0) -> Value:
    """Arrays of the same shape next to each other along a new axis."""
    if len({shape(x) for x in arrays}) != 1:
        raise ValueError("stack needs arrays, at least one, and all of the same shape.")
    axis = any_axis(axis, ndim(arrays[0]) + 1)
    return concatenate([expand_dims(x, axis) for x in arrays], axis)


def vstack(tup: Any) -> Any:
    """Arrays below each other: joined along the first axis."""
    rows = [x if ndim(x) > 1 else shapes.reshape(x, (1, size(x))) for x in several(tup)]
    return concatenate(rows, 0)


def hstack(tup: Any) -> Any:
    """Arrays side by side: joined along the second axis, or along the only one."""
    parts = [x if ndim(x) else ravel(x) for x in several(tup)]
    return concatenate(parts, 0 if ndim(parts[0]) == 1 else 1)


def split(ary: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    """Parts along an axis: as many as asked for, of equal size, or cut at the given indices."""
    axis = any_axis(axis, ndim(ary))
    length, parts = shape(ary)[axis], known("split", indices_or_sections)
    if isinstance(parts, int):
        if length % parts or parts < 0:
            raise ValueError("array split does not result in an equal division")
        cuts = [i * (length // parts) for i in range(1, parts)]
    else:
        cuts = [operator.index(i) for i in parts]
    if any(start > end for start, end in zip([0, *cuts], [*cuts, length], strict=True)):
        raise ValueError(f"An array of length {length} cannot be cut at {cuts}.")
    ends = zip([0, *cuts], [*cuts, length], strict=True)
    return [shapes.slice_in_dim(ary, start, end, axis=axis) for start, end in ends]


def moveaxis(a: Value, source: int | Sequence[int], destination: int | Sequence[int]) -> Value:
    """The axes `source` moved to the places `destination`; the others keep their order."""
    pair = (as_indices(known("moveaxis", x)) for x in (source, destination))
    sources, places = ([one_axis(i, ndim(a)) for i in axes] for axes in pair)
    order = [i for i in range(ndim(a)) if i not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return basic.transpose(a, order)


def swapaxes(a: Value, axis1: int, axis2: int) -> Value:
    """The array with two axes exchanged."""
    axis1, axis2 = static(axis1), static(axis2)
    order = list(range(ndim(a)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return basic.transpose(a, order)


def flip(m: Value, axis: int | Sequence[int] | None = None) -> Value:
    """The elements in the opposite order along `axis`."""
    axes = (
        range(ndim(m))
        if axis is None
        else [one_axis(i, ndim(m)) for i in as_indices(known("flip", axis))]
    )
    return shapes.rev(m, axes)


def roll(a: Value, shift: Any, axis: int | Sequence[int] | None = None) -> Value:
    """The elements moved along an axis; those that leave at one end come in at the other.

    Without an axis, all elements move in their order. There may be several axes, each with a shift
    of its own or all with the same one.
    """
    a = positive(a)
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), shape(a))
    axes = tuple(one_axis(i, ndim(a)) for i in as_indices(axis))
    try:
        known = as_indices(shift)
    except TypeError:
        return roll_by_array(a, asarray(shift), axes)
    for i, by in zip(*map(np.ravel, np.broadcast_arrays(axes, known)), strict=True):
        a = rolled(a, int(by), int(i))
    return a


def rolled(a: Value, shift: int, axis: int) -> Value:
    """`roll` along one axis: two slices in the other order."""
    length = shape(a)[axis]
    if not length:
        return a
    cut = -shift % length
    parts = (cut, length), (0, cut)
    return concatenate([shapes.slice_in_dim(a, *part, axis=axis) for part in parts], axis)


def roll_by_array(a: Value, shift: Value, axes: Sequence[int]) -> Value:
    """`roll` by shifts that are not known: a window of two copies, one after the other."""
    (count,) = np.broadcast_shapes(shape(shift), (len(axes),))
    shifts = broadcast_to(shift, (count,))
    for k, i in enumerate(np.broadcast_to(axes, count).tolist()):
        length = np.int32(shape(a)[i])
        by = shapes.squeeze(shapes.slice_in_dim(shifts, k, k + 1), [0])
        start = subtract(
            length, remainder(basic.convert_element_type(by, np.int32), max(length, 1))
        )
        a = dynamic.dynamic_slice_in_dim(concatenate([a, a], i), start, int(length), i)
    return a


def pad(array: Value, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Value:
    """The array with `pad_width`, (before, after) for each axis or for all, further elements."""
    if mode != "constant":
        raise NotImplementedError(f"pad supports only the mode 'constant', not {mode!r}.")
    given = np.asarray(known("pad", pad_width))
    if given.dtype.kind not in "iu":
        raise TypeError(f"pad takes integers as widths, not {pad_width}.")
    if np.any(given < 0):
        raise ValueError(f"pad takes no negative widths, got {pad_width}.")
    if np.ndim(constant_values):
        raise NotImplementedError("pad takes one constant value for all ends.")
    widths = np.broadcast_to(given, (ndim(array), 2)).tolist()
    aval = get_aval(array)
    value = convert(constant_values, aval.dtype, aval.weak_type)
    return shapes.pad(array, value, [(before, after, 0) for before, after in widths])


def tile(A: Any, reps: int | Sequence[int]) -> Any:
    """Copies of the array next to each other, `reps` of them along each axis."""
    counts = [*integers(reps)]
    rank = max(len(counts), ndim(A))
    counts = [1] * (rank - len(counts)) + counts
    sizes = [1] * (rank - ndim(A)) + list(shape(A))
    pairs = [n for pair in zip(counts, sizes, strict=True) for n in pair]
    kept = [2 * i + 1 for i in range(rank - ndim(A), rank)]
    copies = basic.broadcast_in_dim(A, pairs, kept)
    return shapes.reshape(copies, [c * n for c, n in zip(counts, sizes, strict=True)])


def repeat(a: Value, repeats: Any, axis: int | None = None) -> Value:
    """Each element `repeats` times, which may be another number for each."""
    repeats = known("repeat", repeats)
    if axis is None or not ndim(a):
        a, axis = ravel(a), 0 if axis is None else axis
    axis, sizes = any_axis(axis, ndim(a)), list(shape(a))
    if get_aval(repeats).shape:
        places = np.repeat(np.arange(sizes[axis]), np.asarray(repeats))
        parts = [shapes.slice_in_dim(a, int(i), int(i) + 1, axis=axis) for i in places]
        return concatenate(parts, axis) if parts else shapes.slice_in_dim(a, 0, 0, axis=axis)
    wide = [*sizes[: axis + 1], repeats, *sizes[axis + 1 :]]
    copies = basic.broadcast_in_dim(a, wide, [i for i in range(len(wide)) if i != axis + 1])
    sizes[axis] *= repeats
    return shapes.reshape(copies, sizes)


def broadcast_arrays(*args: Value) -> list[Value]:
    """The arrays, broadcast to their common shape."""
    common = np.broadcast_shapes(*map(shape, args))
    return [broadcast_to(x, common) for x in args]


def triangle(m: Value, k: int) -> Value:
    """Which elements stand on or below diagonal number `k`."""
    if ndim(m) < 2:
        raise ValueError(f"tril and triu need arrays with at least two axes, not {ndim(m)}.")
    k = operator.index(static(k))
    rows, columns = (shapes.broadcasted_iota(np.int64, shape(m)[-2:], i) for i in (0, 1))
    below = elementwise.ge(basic.add(rows, np.int64(k)), columns)
    return broadcast_to(below, shape(m))


def tril(m: Value, k: int = 0) -> Value:
    """Zeros above diagonal number `k`."""
    return where(triangle(m, k), m, defining.full_like(m, 0))


def triu(m: Value, k: int = 0) -> Value:
    """Zeros below diagonal number `k`."""
    return where(triangle(m, k - 1), defining.full_like(m, 0), m)


# Making arrays by primitives, so that a program has few operations and no large constants ---------


def as_number(x: Value) -> Any:
    """An array without axes as a NumPy number; anything else unchanged."""
    return x if x is None or isinstance(x, int | float) else np.asarray(x)[()]


def numbers(start: Value, stop: Value, step: Value, dtype: Any) -> Value:
    """`arange`: the numbers 0, 1, 2, ... times the step, and the start."""
    given = [as_number(known("arange", x)) for x in (start, stop, step)]
    avals = [get_aval(x) for i, x in enumerate(given) if i == 0 or x is not None]
    if any(aval.shape for aval in avals):
        raise ValueError(f"jnp.arange takes numbers, not arrays: {given}.")
    common, _ = dtypes.result_type(*((aval.dtype, aval.weak_type) for aval in avals))
    dtype = common if dtype is None else dtypes.canonical(dtype)
    start, stop, step = given if stop is not None else (0, *given[::2])
    count = max(0, math.ceil((stop - start) / (1 if step is None else step)))
    wide = np.dtype(np.float32) if dtype == np.float16 and step is not None else dtype
    out = shapes.iota(wide, count)
    if step is not None:
        out = basic.mul(np.asarray(step).astype(wide), out)
    if step is not None or start != 0:
        out = basic.add(np.asarray(start).astype(wide), out)
    return basic.convert_element_type(out, dtype)


def diagonal(rows: Value, columns: Value, k: Value, dtype: np.dtype) -> Value:
    """`eye`: where the column's number is the row's, plus `k`."""
    if shape(k) or get_aval(k).dtype.kind not in "iu":
        raise ValueError(f"k must be an integer, not {k}.")
    if any(isinstance(n, int) and n < 0 for n in (rows, columns)):
        raise ValueError(
            f"The numbers of rows and columns must not be negative: {rows}, {columns}."
        )
    sizes = sizes_of((rows, columns))
    row, column = (shapes.broadcasted_iota(np.int64, sizes, axis) for axis in (0, 1))
    offset = k if isinstance(k, Tracer) else np.asarray(k, np.int64)
    return basic.convert_element_type(elementwise.eq(basic.add(row, offset), column), dtype)


def steps(start: Value, stop: Value, num: Value, endpoint: bool = True, dtype: Any = None) -> Value:
    """`linspace`: the two ends mixed, in `num` proportions."""
    count = operator.index(known("linspace", num))
    if count < 0:
        raise ValueError(f"The number of samples must not be negative, got {count}.")
    types = [(aval.dtype, aval.weak_type) for aval in map(get_aval, (start, stop))]
    dtype = dtypes.float_result_type(*types)[0] if dtype is None else dtypes.canonical(dtype)
    return _linspace(start, stop, count, bool(endpoint), dtype)


@functools.partial(as_call, static_argnums=(2, 3, 4))
def _linspace(start: Value, stop: Value, num: int, endpoint: bool, dtype: np.dtype) -> Value:
    mixed, _ = dtypes.float_result_type((dtype, False))
    ends = (basic.convert_element_type(x, mixed) for x in (start, stop))
    first, last = broadcast_arrays(*ends)
    sizes, parts = (1, *shape(first)), num - 1 if endpoint else num
    if num < 2:
        out = reshape(first, sizes) if num else defining.full((0, *sizes[1:]), 0, mixed)
    else:
        basic.div(
            basic.sub(last, first), np.asarray(parts, mixed)
        )  # a step, which JAX computes too
        place = reshape(shapes.iota(mixed, parts), (parts, *[1] * len(sizes[1:])))
        place = basic.div(place, np.asarray(parts, mixed))
        start = reshape(first, sizes)
        part_of_start = basic.mul(start, basic.sub(np.ones((), mixed), place))
        out = basic.add(part_of_start, basic.mul(reshape(last, sizes), place))
    if endpoint and num > 1:
        out = concatenate([out, expand_dims(last, 0)])
    return basic.convert_element_type(elementwise.floor(out) if dtype.kind in "iu" else out, dtype)


staged.update({"arange": numbers, "eye": diagonal, "linspace": steps})

array_methods.update(
    {
        "reshape": reshape_method,
        "transpose": transpose_method,
        "ravel": ravel,
        "flatten": ravel,
        "squeeze": squeeze,
        "swapaxes": swapaxes,
        "repeat": repeat,
    }
)
