"""`minijax.numpy`, continued: `x[...]`, `x.at[...]`, look-ups by arrays of indices, sorting.

An index that is known while the program is traced becomes a slice; a single traced integer becomes
a dynamic slice; arrays of integers become a gather.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minijax.array import array_methods
from minijax.core import Tracer, Value, Values, get_aval
from minijax.errors import NonConcreteBooleanIndexError
from minijax.lax import basic, elementwise, indexing, shapes
from minijax.numpy.basic import asarray, broadcast_to, ndim, refuse_out, shape, size
from minijax.numpy.shapes import one_axis

__all__ = ["argsort", "sort", "take", "take_along_axis"]


# What an index says -------------------------------------------------------------------------------


def expand_index(index: Value, rank: int) -> list[Value]:
    """One entry for each axis, and None for each new one: no Ellipsis, no booleans."""
    if isinstance(index, list):
        raise TypeError(
            "Using a non-tuple sequence for multidimensional indexing is not allowed; use "
            "x[jnp.array(index)]."
        )
    parts = list(index) if isinstance(index, tuple) else [index]
    parts = [entry for part in parts for entry in entries(part)]
    missing = rank - sum(part is not None and part is not Ellipsis for part in parts)
    if missing < 0:
        raise IndexError(f"Too many indices: {rank - missing} for an array with {rank} axes.")
    dots = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("An index can have one ellipsis ('...') only.")
    place = dots[0] if dots else len(parts)
    return [*parts[:place], *[slice(None)] * missing, *parts[place + len(dots) :]]


def entries(part: Any) -> list[Any]:
    """An entry as it is to be used; an array of booleans means the places where it holds."""
    if part is None or part is Ellipsis:
        return [part]
    if isinstance(part, slice):
        return [known_slice(part)]
    if isinstance(part, list):
        part = np.asarray(part, None if part else np.int64)
    if isinstance(part, (int, np.integer)) and not isinstance(part, bool):
        return [int(part)]
    dtype = get_aval(part).dtype
    if dtype.kind == "b":
        if not ndim(part):
            raise NotImplementedError("Indexing by a single boolean is not supported; use where.")
        if isinstance(part, Tracer):
            raise NonConcreteBooleanIndexError(
                "Array boolean indices must be concrete: the shape of the result depends on them. "
                "Use where(condition, x, y) instead."
            )
        return list(np.nonzero(np.asarray(part)))
    if dtype.kind not in "iu":
        raise TypeError(f"Indexer must have integer or boolean type, got {dtype.name}.")
    return [part]


def known_slice(part: slice) -> slice:
    """A slice with Python's integers in it."""
    try:
        bounds = (part.start, part.stop, part.step)
        return slice(*(None if x is None else operator.index(x) for x in bounds))
    except TypeError:
        raise IndexError(
            "Slice entries must be static integers: the shape of the result depends on them. "
            "Use lax.dynamic_slice_in_dim instead."
        ) from None


def is_array(part: Any) -> bool:
    return part is not None and not isinstance(part, (int, slice))


# x[...] -------------------------------------------------------------------------------------------


def getitem(x: Value, index: Value) -> Value:
    """What NumPy gives for `x[index]`; an index that is too large or small is moved inside."""
    parts = expand_index(index, ndim(x))
    if not any(map(is_array, parts)):
        return static_item(x, parts)
    axes = [part for part in parts if part is not None]
    scalars = all(is_full(p) or isinstance(p, int) or (is_array(p) and not ndim(p)) for p in axes)
    if scalars and len(axes) == len(parts):
        return dynamic_item(x, axes)
    return gathered_item(x, parts)


def is_full(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def static_item(x: Value, parts: Sequence[Any]) -> Value:
    """By `slice`, `rev`, `squeeze` and `broadcast_in_dim`, as far as each is needed."""
    axes = [part for part in parts if part is not None]
    ranges = [axis_range(part, n) for part, n in zip(axes, shape(x), strict=True)]
    x = sliced(x, ranges)
    x = shapes.squeeze(x, [i for i, part in enumerate(axes) if isinstance(part, int)])
    kept = [part for part in parts if not isinstance(part, int)]
    return shapes.expand_dims(x, [i for i, part in enumerate(kept) if part is None])


def axis_range(part: Any, n: int) -> range:
    """The places along an axis of length `n` that an integer or a slice names."""
    if isinstance(part, slice):
        return range(n)[part]
    place = min(max(part + n if part < 0 else part, 0), n - 1)
    return range(place, place + 1)


def sliced(x: Value, ranges: Sequence[range]) -> Value:
    """The part of `x` at these places; a range that counts down is turned round at the end."""
    upwards = [r if r.step > 0 else r[::-1] for r in ranges]
    starts = [max(r.start, 0) for r in upwards]
    stops = [min(r.stop, n) for r, n in zip(upwards, shape(x), strict=True)]
    stops = [max(start, stop) for start, stop in zip(starts, stops, strict=True)]
    steps = [r.step for r in upwards]
    same = all(step == 1 for step in steps)
    x = shapes.slice(x, starts, stops, None if same else steps)
    turned = [i for i, r in enumerate(ranges) if r.step < 0]
    return shapes.rev(x, turned) if turned else x


def dynamic_item(x: Value, parts: Sequence[Any]) -> Value:
    """One place along some axes, and all of the others, by `dynamic_slice`."""
    starts = [0 if isinstance(part, slice) else part for part in parts]
    starts = [np.int32(s) if isinstance(s, int) else to_int32(s) for s in starts]
    single = [i for i, part in enumerate(parts) if not isinstance(part, slice)]
    sizes = [1 if i in single else n for i, n in enumerate(shape(x))]
    return shapes.squeeze(indexing.dynamic_slice(x, starts, sizes), single)


def to_int32(index: Value) -> Value:
    return basic.convert_element_type(index, np.int32)


def gathered_item(x: Value, parts: Sequence[Any]) -> Value:
    """By `gather`, after the slices have been taken."""
    indexer = make_indexer(shape(x), parts)
    x = sliced(x, indexer.ranges) if indexer.cuts else x
    mode = indexing.GatherScatterMode.PROMISE_IN_BOUNDS
    y = indexing.gather(x, indexer.indices, indexer.numbers, indexer.sizes, mode=mode)
    return shapes.expand_dims(y, indexer.new_axes)


@dataclass
class Indexer:
    """An index with arrays in it: first slices, then a gather, then new axes."""

    ranges: list[range]
    cuts: bool
    indices: Any
    numbers: indexing.GatherDimensionNumbers
    sizes: list[int]
    new_axes: list[int]


def make_indexer(sizes: Sequence[int], parts: Sequence[Any]) -> Indexer:
    """NumPy's rules: arrays broadcast; their axes stand where they stood, or first if apart."""
    axes = [part for part in parts if part is not None]
    chosen = [i for i, part in enumerate(axes) if not isinstance(part, slice)]
    ranges = [range(n) if i in chosen else axis_range(axes[i], n) for i, n in enumerate(sizes)]
    indices = stacked([as_index(axes[i]) for i in chosen], [sizes[i] for i in chosen])
    count = ndim(indices) - 1
    in_parts = [i for i, p in enumerate(parts) if p is not None and not isinstance(p, slice)]
    together = in_parts[-1] - in_parts[0] == len(in_parts) - 1
    # The result's axes in order: windows' own (kept), those that count windows, and new ones.
    order: list[str] = []
    for i, part in enumerate(parts):
        if i == in_parts[0] and together:
            order += ["count"] * count
        if i not in in_parts:
            order.append("new" if part is None else "kept")
    if not together:
        order = ["count"] * count + order
    without_new = [kind for kind in order if kind != "new"]
    offset = tuple(i for i, kind in enumerate(without_new) if kind == "kept")
    numbers = indexing.GatherDimensionNumbers(offset, tuple(chosen), tuple(chosen))
    windows = [1 if i in chosen else len(r) for i, r in enumerate(ranges)]
    cuts = any(r != range(n) for r, n in zip(ranges, sizes, strict=True))
    new_axes = [i for i, kind in enumerate(order) if kind == "new"]
    return Indexer(ranges, cuts, indices, numbers, windows, new_axes)


def as_index(part: Any) -> Any:
    return np.asarray(part) if isinstance(part, int) else asarray(part)


def stacked(indices: Values, sizes: Sequence[int]) -> Value:
    """Arrays of indices as the one that `gather` takes: counted from the front, side by side."""
    positive = [from_front(i, n) for i, n in zip(indices, sizes, strict=True)]
    common = np.broadcast_shapes(*map(shape, positive))
    full = [i if shape(i) == common else broadcast_to(i, common) for i in positive]
    columns = [to_int32(i) for i in full]
    return shapes.concatenate([shapes.expand_dims(c, [len(common)]) for c in columns], len(common))


def from_front(index: Value, n: int) -> Value:
    """Negative indices count from the end."""
    if get_aval(index).dtype.kind == "u" or (not isinstance(index, Tracer) and np.all(index >= 0)):
        return index
    dtype = get_aval(index).dtype
    negative = basic.lt(index, np.asarray(0, dtype))
    return elementwise.select(negative, basic.add(index, np.asarray(n, dtype)), index)


# x.at[...] ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class IndexUpdate:
    """`x.at`: what `x[index] = value` would do, as functions that give a new array."""

    array: Any

    def __getitem__(self, index: Value) -> IndexUpdateRef:
        return IndexUpdateRef(self.array, index)


@dataclass(frozen=True)
class IndexUpdateRef:
    """`x.at[index]`."""

    array: Any
    index: Any

    def get(self) -> Any:
        """`x[index]`."""
        return getitem(self.array, self.index)

    def set(self, values: Value) -> Value:
        """`x` with `values` at `index`; values outside are dropped."""
        return self.scattered(indexing.scatter, values)

    def add(self, values: Value) -> Value:
        """`x` with `values` added at `index`, once for each time that a place is named."""
        return self.scattered(indexing.scatter_add, values)

    def scattered(self, scatter: Callable[..., Any], values: Value) -> Value:
        """By a scatter of single elements: the places of `x[index]` are found by indexing."""
        places = getitem_of_places(self.array, self.index)
        dtype = get_aval(self.array).dtype
        updates = broadcast_to(asarray(values, dtype), shape(places))
        numbers = indexing.ScatterDimensionNumbers((), (0,), (0,))
        flat = shapes.reshape(self.array, (size(self.array),))
        indices = shapes.expand_dims(places, [ndim(places)])
        return shapes.reshape(scatter(flat, indices, updates, numbers), shape(self.array))


def getitem_of_places(x: Value, index: Value) -> Value:
    """Where in the flat array each element of `x[index]` stands; -1 for those outside."""
    parts = expand_index(index, ndim(x))
    numbers = np.arange(size(x), dtype=np.int64).reshape(shape(x))
    if not any(map(is_array, parts)):
        axes = zip([p for p in parts if p is not None], shape(x), strict=True)
        outside = any(isinstance(p, int) and not -n <= p < n for p, n in axes)
        found = static_item(asarray(numbers), parts)
        return elementwise.full_like(found, -1) if outside else found
    indexer = make_indexer(shape(x), parts)
    numbers = sliced(asarray(numbers), indexer.ranges) if indexer.cuts else asarray(numbers)
    places = indexing.gather(
        numbers, indexer.indices, indexer.numbers, indexer.sizes, mode="fill", fill_value=-1
    )
    return shapes.expand_dims(places, indexer.new_axes)


# Look-ups and sorting -----------------------------------------------------------------------------


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

    What lies outside gives NaN (for integers the smallest one), or with mode "clip" the last part.
    """
    refuse_out("take", out)
    if mode == "raise":
        raise NotImplementedError("The 'raise' mode to jnp.take is not supported.")
    if axis is None:
        a, axis = shapes.reshape(a, (size(a),)), 0
    axis, indices = one_axis(axis, ndim(a)), asarray(indices)
    if mode != "clip":
        indices = from_front(indices, shape(a)[axis])
    count = ndim(indices)
    offset = tuple(i for i in range(ndim(a) - 1 + count) if not axis <= i < axis + count)
    numbers = indexing.GatherDimensionNumbers(offset, (axis,), (axis,))
    sizes = [1 if i == axis else n for i, n in enumerate(shape(a))]
    starts = shapes.expand_dims(indices, [count])
    return indexing.gather(a, starts, numbers, sizes, mode=mode or "fill", fill_value=fill_value)


def take_along_axis(arr: Value, indices: Value, axis: int | None = -1) -> Value:
    """For each element of `indices` the element of `arr` at that place along the axis."""
    if axis is None:
        arr, axis = shapes.reshape(arr, (size(arr),)), 0
    axis = one_axis(axis, ndim(arr))
    indices = from_front(indices, shape(arr)[axis])
    pairs = [
        np.broadcast_shapes((n,), (m,))[0] for n, m in zip(shape(arr), shape(indices), strict=True)
    ]
    x = broadcast_to(arr, [n if i != axis else shape(arr)[i] for i, n in enumerate(pairs)])
    i = broadcast_to(indices, [n if i != axis else shape(indices)[i] for i, n in enumerate(pairs)])
    return indexing.along_axis(x, i, axis, "fill")


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
    outs = indexing.sort(operands, axis, is_stable=stable)
    return tuple(shapes.rev(x, (axis,)) for x in outs) if descending else outs


def iterate(x: Value) -> Value:
    """`for row in x`."""
    if not ndim(x):
        raise TypeError("iteration over a 0-d array")
    return iter([getitem(x, i) for i in range(shape(x)[0])])


array_methods.update({"__getitem__": getitem, "__iter__": iterate, "at": IndexUpdate})
array_methods.update({"take": take, "argsort": argsort, "sort": sort})
