"""`minijax.numpy`, continued: look-ups along an axis, and sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from minijax.array import array_methods
from minijax.core import Tracer, Value, Values, get_aval
from minijax.errors import ConcretizationTypeError
from minijax.lax import basic, gathers, shapes, sorting
from minijax.lax.dimension_numbers import GatherDimensionNumbers
from minijax.numpy.basic import positive, refuse_out
from minijax.numpy.elementwise import remainder
from minijax.numpy.indexing import from_front
from minijax.numpy.making import broadcast_to, ndim, shape, size
from minijax.numpy.shapes import any_axis, one_axis

__all__ = ["argsort", "delete", "sort", "take", "take_along_axis"]


def take(
    a: Value,
    indices: Value,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    *,
    fill_value: Value = None,
) -> Value:
    """The parts of `a` at `indices` along an axis (without `axis`, of all elements in order).

    What lies outside gives NaN (for integers the smallest one), with mode "clip" the first or last
    part, and with mode "wrap" what it is if all parts are repeated.
    """
    refuse_out("take", out)
    if mode == "raise":
        raise NotImplementedError("The 'raise' mode to jnp.take is not supported.")
    mode = "fill" if mode is None else mode
    if axis is None:
        a, axis = shapes.reshape(a, (size(a),)), 0
    axis, indices = any_axis(axis, ndim(a)), positive(indices)
    if get_aval(indices).dtype.kind == "b":
        indices = basic.convert_element_type(indices, np.int64)
    if mode == "wrap":
        indices, mode = remainder(indices, max(shape(a)[axis], 1)), "clip"
    elif mode != "clip":
        indices = from_front(indices, shape(a)[axis])
    count = ndim(indices)
    offset = tuple(i for i in range(ndim(a) - 1 + count) if not axis <= i < axis + count)
    numbers = GatherDimensionNumbers(offset, (axis,), (axis,))
    sizes = [1 if i == axis else n for i, n in enumerate(shape(a))]
    starts = shapes.expand_dims(indices, [count])
    return gathers.gather(a, starts, numbers, sizes, mode=mode, fill_value=fill_value)


def take_along_axis(arr: Value, indices: Value, axis: int | None = -1) -> Value:
    """For each element of `indices` the element of `arr` at that place along the axis."""
    if axis is None:
        arr, axis = shapes.reshape(arr, (size(arr),)), 0
    axis = one_axis(axis, ndim(arr))
    if get_aval(indices).dtype.kind not in "iu":
        raise TypeError(f"take_along_axis needs integers, not {get_aval(indices).dtype.name}.")
    if ndim(indices) != ndim(arr):
        raise ValueError(f"take_along_axis needs indices with {ndim(arr)} axes: {shape(indices)}.")
    indices = from_front(indices, shape(arr)[axis])
    own, theirs = ((*shape(x)[:axis], 1, *shape(x)[axis + 1 :]) for x in (arr, indices))
    common = np.broadcast_shapes(own, theirs)
    x, i = (
        broadcast_to(v, (*common[:axis], shape(v)[axis], *common[axis + 1 :]))
        for v in (arr, indices)
    )
    return sorting.along_axis(x, i, axis, "fill")


def delete(
    arr: Value, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False
) -> Value:
    """`arr` without the parts at `obj` along an axis (without `axis`, of all elements in order).

    `obj` is a number, a slice, or an array of places or of booleans. It must be known while the
    program is traced, unless its places are said to be unique.
    """
    if axis is None:
        arr, axis = shapes.reshape(arr, (size(arr),)), 0
    axis = one_axis(axis, ndim(arr))
    length = shape(arr)[axis]
    if isinstance(obj, Tracer) and assume_unique_indices:
        return take(arr, kept_places(obj, length), axis)
    places = np.arange(length)
    if not isinstance(obj, slice):
        obj = known_places(obj, length)
    return take(arr, np.delete(places, obj), axis)


def known_places(obj: Value, length: int) -> np.ndarray:
    """What `delete` is asked to leave out, as NumPy takes it."""
    if isinstance(obj, list | tuple):
        raise TypeError(f"delete takes an array or a number, not a {type(obj).__name__}.")
    if isinstance(obj, Tracer):
        raise ConcretizationTypeError(
            f"What delete leaves out must be known while the function is traced, and {obj} is not. "
            "If no place occurs twice, say assume_unique_indices=True."
        )
    places = np.asarray(obj)
    if places.dtype.kind not in "biu":
        raise ValueError(f"delete takes integers or booleans, not {places.dtype}.")
    if not places.shape and not -length <= places < length:
        raise ValueError(f"axis {places} is out of bounds for array of dimension {length}")
    return places


def kept_places(places: Value, length: int) -> Value:
    """The places that are left of `length`, without these, each of which occurs once."""
    places = sort(from_front(shapes.reshape(places, (size(places),)), length))
    kept = np.arange(length - size(places))
    # A place that is left out moves all that follows it by one.
    left_out_before = kept[:, None] >= places - np.arange(size(places))
    return kept + left_out_before.sum(1)


def sort(
    a: Value, axis: int | None = -1, *, stable: bool = True, descending: bool = False
) -> Value:
    """The elements in order along an axis (None: all of them); NaN comes last."""
    return sorted_with(a, axis, stable, descending)[0]


def argsort(
    a: Value, axis: int | None = -1, *, stable: bool = True, descending: bool = False
) -> Value:
    """The indices that sort the array."""
    if axis is None:
        a, axis = shapes.reshape(a, (size(a),)), 0
    numbers = shapes.broadcasted_iota(np.int64, shape(a), one_axis(axis, ndim(a)))
    return sorted_with(a, axis, stable, descending, numbers)[1]


def sorted_with(a: Value, axis: int | None, stable: bool, descending: bool, *others: Any) -> Values:
    """The array, and others beside it, in its order."""
    if axis is None:
        a, axis = shapes.reshape(a, (size(a),)), 0
    axis = one_axis(axis, ndim(a))
    operands = (a, *others)
    if descending:  # turned round before and after, so that equal elements keep their order
        operands = tuple(shapes.rev(x, (axis,)) for x in operands)
    outs = sorting.sort(operands, axis, is_stable=stable)
    return tuple(shapes.rev(x, (axis,)) for x in outs) if descending else outs


array_methods.update({"take": take, "argsort": argsort, "sort": sort})
