"""`minijax.numpy`, continued: functions that change shapes, join arrays and take them apart."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax.array import array_methods
from minijax.core import Value, get_aval
from minijax.lax import basic, elementwise, shapes
from minijax.numpy.basic import (
    broadcast_to,
    convert,
    ndim,
    normal_axes,
    promote_dtypes,
    shape,
    size,
    transpose,
)
from minijax.numpy.elementwise import where

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


def one_axis(axis: int, rank: int) -> int:
    """The axis counted from the front."""
    return normal_axes(axis, rank)[0]


def reshape(a: Value, shape: int | Sequence[int]) -> Value:
    """The same elements in another shape, of which one length may be -1: what is left for it."""
    sizes = [shape] if isinstance(shape, int) else list(shape)
    if -1 in sizes:
        others = math.prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = size(a) // others if others else 0
    return shapes.reshape(a, sizes)


def reshape_method(a: Value, *shape: Any, order: str = "C") -> Value:
    """`a.reshape(2, 3)` as well as `a.reshape((2, 3))`."""
    if order != "C":
        raise NotImplementedError(f"reshape knows the order 'C' only, not {order!r}.")
    return reshape(a, shape[0] if len(shape) == 1 else shape)


def transpose_method(a: Value, *axes: Any) -> Value:
    """`a.transpose(1, 0)` as well as `a.transpose((1, 0))`."""
    return transpose(a, axes[0] if len(axes) == 1 else axes or None)


def ravel(a: Value) -> Value:
    """All elements along one axis."""
    return shapes.reshape(a, (size(a),))


def squeeze(a: Value, axis: int | Sequence[int] | None = None) -> Value:
    """Without the axes of length 1, or without those in `axis`."""
    ones = [i for i, n in enumerate(shape(a)) if n == 1]
    return shapes.squeeze(a, ones if axis is None else normal_axes(axis, ndim(a)))


def expand_dims(a: Value, axis: int | Sequence[int]) -> Value:
    """With new axes of length 1."""
    return shapes.expand_dims(a, [axis] if isinstance(axis, int) else axis)


def concatenate(arrays: Value, axis: int | None = 0) -> Value:
    """One array after the other along an axis."""
    arrays = promote_dtypes(*arrays)
    if axis is None:
        arrays, axis = [ravel(x) for x in arrays], 0
    return shapes.concatenate(arrays, one_axis(axis, ndim(arrays[0])))


def stack(arrays: Value, axis: int = 0) -> Value:
    """Arrays of one shape beside each other along a new axis."""
    axis = one_axis(axis, ndim(arrays[0]) + 1)
    return concatenate([expand_dims(x, axis) for x in arrays], axis)


def vstack(tup: Any) -> Any:
    """Rows below each other."""
    rows = [x if ndim(x) > 1 else shapes.reshape(x, (1, size(x))) for x in tup]
    return concatenate(rows, 0)


def hstack(tup: Any) -> Any:
    """Columns beside each other; arrays with one axis follow each other."""
    parts = [x if ndim(x) else ravel(x) for x in tup]
    return concatenate(parts, 0 if ndim(parts[0]) == 1 else 1)


def split(ary: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    """Parts along an axis: so many of one size, or cut at these indices."""
    length = shape(ary)[one_axis(axis, ndim(ary))]
    if isinstance(indices_or_sections, int):
        if length % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        step = length // indices_or_sections
        cuts = [i * step for i in range(1, indices_or_sections)]
    else:
        cuts = [int(i) for i in indices_or_sections]
    ends = zip([0, *cuts], [*cuts, length], strict=True)
    return [shapes.slice_in_dim(ary, start, end, axis=axis) for start, end in ends]


def moveaxis(a: Value, source: int | Sequence[int], destination: int | Sequence[int]) -> Value:
    """The axes `source` at the places `destination`; the others keep their order."""
    pair = ([x] if isinstance(x, int) else list(x) for x in (source, destination))
    sources, places = ([one_axis(i, ndim(a)) for i in axes] for axes in pair)
    order = [i for i in range(ndim(a)) if i not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return basic.transpose(a, order)


def swapaxes(a: Value, axis1: int, axis2: int) -> Value:
    """Two axes in each other's place."""
    order = list(range(ndim(a)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return basic.transpose(a, order)


def flip(m: Value, axis: int | Sequence[int] | None = None) -> Value:
    """The elements in the opposite order."""
    return shapes.rev(m, normal_axes(axis, ndim(m)))


def roll(a: Value, shift: int, axis: int | None = None) -> Value:
    """The elements moved along an axis; those that leave at one end come in at the other.

    Without an axis, all elements move in their order.
    """
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), shape(a))
    length = shape(a)[one_axis(axis, ndim(a))]
    cut = -shift % length if length else 0
    parts = [
        shapes.slice_in_dim(a, cut, None, axis=axis),
        shapes.slice_in_dim(a, 0, cut, axis=axis),
    ]
    return concatenate(parts, axis)


def pad(array: Value, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Value:
    """More elements at the ends: `pad_width` is (before, after) for each axis, or for all."""
    if mode != "constant":
        raise NotImplementedError(f"pad knows the mode 'constant' only, not {mode!r}.")
    widths = np.broadcast_to(np.asarray(pad_width), (ndim(array), 2)).tolist()
    aval = get_aval(array)
    value = convert(constant_values, aval.dtype, aval.weak_type)
    return shapes.pad(array, value, [(before, after, 0) for before, after in widths])


def tile(A: Any, reps: int | Sequence[int]) -> Any:
    """Copies of the array beside each other, `reps` of them along each axis."""
    counts = [reps] if isinstance(reps, int) else list(reps)
    rank = max(len(counts), ndim(A))
    counts = [1] * (rank - len(counts)) + counts
    sizes = [1] * (rank - ndim(A)) + list(shape(A))
    pairs = [n for pair in zip(counts, sizes, strict=True) for n in pair]
    kept = [2 * i + 1 for i in range(rank - ndim(A), rank)]
    copies = basic.broadcast_in_dim(A, pairs, kept)
    return shapes.reshape(copies, [c * n for c, n in zip(counts, sizes, strict=True)])


def repeat(a: Value, repeats: int, axis: int | None = None) -> Value:
    """Each element `repeats` times."""
    if axis is None:
        a, axis = ravel(a), 0
    axis, sizes = one_axis(axis, ndim(a)), list(shape(a))
    wide = [*sizes[: axis + 1], repeats, *sizes[axis + 1 :]]
    copies = basic.broadcast_in_dim(a, wide, [i for i in range(len(wide)) if i != axis + 1])
    sizes[axis] *= repeats
    return shapes.reshape(copies, sizes)


def broadcast_arrays(*args: Value) -> list[Value]:
    """All arrays in their common shape."""
    common = np.broadcast_shapes(*map(shape, args))
    return [broadcast_to(x, common) for x in args]


def triangle(m: Value, k: int) -> Value:
    """Which elements stand on or below diagonal number `k`."""
    rows, columns = (shapes.broadcasted_iota(np.int64, shape(m)[-2:], i) for i in (0, 1))
    below = elementwise.ge(basic.add(rows, np.int64(k)), columns)
    return broadcast_to(below, shape(m))


def tril(m: Value, k: int = 0) -> Value:
    """Zeros above diagonal number `k`."""
    return where(triangle(m, k), m, elementwise.full_like(m, 0))


def triu(m: Value, k: int = 0) -> Value:
    """Zeros below diagonal number `k`."""
    return where(triangle(m, k - 1), elementwise.full_like(m, 0), m)


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
