"""`minijax.numpy`, continued: `x[...]` and `x.at[...]`.

An index that is known while the program is traced becomes a slice; a single traced integer becomes
a dynamic slice; arrays of integers become a gather.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minijax.array import Array, array_methods
from minijax.core import Tracer, Value, Values, get_aval
from minijax.errors import NonConcreteBooleanIndexError
from minijax.lax import basic, choosing, defining, dynamic, gathers, shapes
from minijax.lax.dimension_numbers import GatherDimensionNumbers, GatherScatterMode, known_mode
from minijax.numpy.making import (
    asarray,
    broadcast_to,
    convert,
    in_dtype,
    ndim,
    same_shape,
    shape,
    size,
)

# What an index says -------------------------------------------------------------------------------


def expand_index(index: Value, sizes: Sequence[int]) -> list[Value]:
    """One entry for each axis of an array of these sizes, not counting None and single booleans.

    There is no Ellipsis in it any more, and no array of booleans.
    """
    if isinstance(index, list):
        raise TypeError(
            "Using a non-tuple sequence for multidimensional indexing is not allowed; use "
            "x[jnp.array(index)]."
        )
    parts = [entry(part) for part in (index if isinstance(index, tuple) else [index])]
    missing = len(sizes) - sum(map(axes_taken, parts))
    if missing < 0:
        raise IndexError(f"Too many indices: {len(sizes) - missing} for {len(sizes)} axes.")
    dots = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("An index can have one ellipsis ('...') only.")
    place = dots[0] if dots else len(parts)
    parts = [*parts[:place], *[slice(None)] * missing, *parts[place + len(dots) :]]
    return checked(parts, sizes)


def axes_taken(part: Any) -> int:
    """How many axes of the array an entry is for."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return ndim(part) if is_array(part) and get_aval(part).dtype.kind == "b" else 1


def checked(parts: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """The entries, with the places where they hold for arrays of booleans; `IndexError` if too far.

    An integer may be too large or too small: it is moved inside, if there is anything inside.
    """
    found: list[Any] = []
    axis = 0
    for part in parts:
        taken = axes_taken(part)
        own, axis = tuple(sizes[axis : axis + taken]), axis + taken
        if taken and is_array(part) and get_aval(part).dtype.kind == "b":
            if any(n not in (0, m) for n, m in zip(shape(part), own, strict=True)):
                raise IndexError(
                    f"boolean index did not match shape of indexed array in index {axis - taken}: "
                    f"got {shape(part)}, expected {own}."
                )
            found += np.nonzero(np.asarray(part))
            continue
        if own == (0,) and (isinstance(part, int) or (is_array(part) and not ndim(part))):
            raise IndexError(f"index is out of bounds for axis {axis - 1} with size 0.")
        found.append(part)
    return found


def entry(part: Any) -> Any:
    """An entry in the form that is used: None, Ellipsis, a slice, a Python number, or an array."""
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        return known_slice(part)
    if isinstance(part, list | tuple):
        part = asarray(part, None if part else np.int64)
    if isinstance(part, bool | np.bool_):
        return bool(part)
    if isinstance(part, int | np.integer):
        return int(np.int64(part))  # refuses what has more than 64 bits
    if not isinstance(part, Array | np.ndarray | float | str):
        raise IndexError(
            "Only integers, slices (`:`), ellipsis (`...`), None, and arrays of integers or "
            f"booleans are valid indices, not {part!r}."
        )
    dtype = get_aval(part).dtype
    if dtype.kind == "b" and isinstance(part, Tracer):
        raise NonConcreteBooleanIndexError(
            "Array boolean indices must be concrete: the shape of the result depends on them. "
            "Use where(condition, x, y) instead."
        )
    if dtype.kind not in "biu":
        raise TypeError(f"Indexer must have integer or boolean type, got {dtype.name}.")
    return bool(part) if dtype.kind == "b" and not ndim(part) else part


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
    return part is not None and part is not Ellipsis and not isinstance(part, int | slice)


# x[...] -------------------------------------------------------------------------------------------


def getitem(x: Value, index: Value) -> Value:
    """What NumPy returns for `x[index]`; an index that is too large or small is moved inside."""
    x, parts = with_new_axes(x, expand_index(index, shape(x)))
    axes = [part for part in parts if part is not None]
    windows = all(is_window(part) for part in axes)
    if windows and (any(map(is_array, parts)) or is_outside(axes, shape(x))):
        return new_axes_in(dynamic_item(x, axes), parts)
    return static_item(x, parts) if not any(map(is_array, parts)) else gathered_item(x, parts)


def with_new_axes(x: Value, parts: Sequence[Any]) -> tuple[Value, list[Any]]:
    """For a single boolean a new axis, as NumPy has it: its one place is taken, or none."""
    before = [i for i, part in enumerate(parts) if isinstance(part, bool)]
    if not before:
        return x, list(parts)
    counted = [i for i, part in enumerate(parts) if part is not None]
    x = shapes.expand_dims(x, [counted.index(i) for i in before])
    chosen = {True: np.zeros(1, np.int64), False: np.zeros(0, np.int64)}
    return x, [chosen[part] if isinstance(part, bool) else part for part in parts]


def is_window(part: Any) -> bool:
    """Whether this entry takes one place, or places in a row."""
    if isinstance(part, slice):
        return part.step in (None, 1)
    return isinstance(part, int) or not ndim(part)


def is_outside(parts: Sequence[Any], sizes: Sequence[int]) -> bool:
    """Whether a number is too large or too small for its axis."""
    pairs = zip(parts, sizes, strict=True)
    return any(isinstance(part, int) and not -n <= part < n for part, n in pairs)


def new_axes_in(x: Value, parts: Sequence[Any]) -> Value:
    """`x`, which has an axis for each slice, with an axis for each None."""
    kept = [part for part in parts if part is None or isinstance(part, slice)]
    return shapes.expand_dims(x, [i for i, part in enumerate(kept) if part is None])


def static_item(x: Value, parts: Sequence[Any]) -> Value:
    """By `slice`, `rev`, `squeeze` and `broadcast_in_dim`, as far as each is needed."""
    axes = [part for part in parts if part is not None]
    ranges = [axis_range(part, n) for part, n in zip(axes, shape(x), strict=True)]
    x = sliced(x, ranges)
    x = shapes.squeeze(x, [i for i, part in enumerate(axes) if isinstance(part, int)])
    return new_axes_in(x, parts)


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
    """One place along some axes, and places in a row along the others, by `dynamic_slice`."""
    pairs = [*zip(parts, shape(x), strict=True)]
    rows = [range(n)[part] if isinstance(part, slice) else None for part, n in pairs]
    starts = [part if row is None else row.start for part, row in zip(parts, rows, strict=True)]
    dtype = get_aval(starts[0]).dtype if len(starts) == 1 else np.dtype(np.int32)
    starts = [dtype.type(s) if isinstance(s, int) else in_dtype(s, dtype) for s in starts]
    single = [i for i, row in enumerate(rows) if row is None]
    sizes = [1 if row is None else len(row) for row in rows]
    return shapes.squeeze(dynamic.dynamic_slice(x, starts, sizes), single)


def gathered_item(
    x: Value,
    parts: Sequence[Any],
    mode: GatherScatterMode = GatherScatterMode.PROMISE_IN_BOUNDS,
    fill_value: int | None = None,
) -> Value:
    """By `gather`, after the slices have been taken."""
    indexer = make_indexer(shape(x), parts)
    x = sliced(x, indexer.ranges) if indexer.cuts else x
    where = indexer.indices, indexer.numbers, indexer.sizes
    y = gathers.gather(x, *where, mode=mode, fill_value=fill_value)
    return shapes.expand_dims(y, indexer.new_axes)


@dataclass
class Indexer:
    """An index with arrays in it: first slices, then a gather, then new axes."""

    ranges: list[range]
    cuts: bool
    indices: Any
    numbers: GatherDimensionNumbers
    sizes: list[int]
    new_axes: list[int]


def make_indexer(sizes: Sequence[int], parts: Sequence[Any]) -> Indexer:
    """NumPy's rules: arrays broadcast; their axes stand where they stood, or first if apart."""
    axes = [part for part in parts if part is not None]
    chosen = [i for i, part in enumerate(axes) if not isinstance(part, slice)]
    ranges = [range(n) if i in chosen else axis_range(axes[i], n) for i, n in enumerate(sizes)]
    arrays = [(np.asarray if isinstance(axes[i], int) else asarray)(axes[i]) for i in chosen]
    indices = stacked(arrays, [sizes[i] for i in chosen])
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
    numbers = GatherDimensionNumbers(offset, tuple(chosen), tuple(chosen))
    windows = [1 if i in chosen else len(r) for i, r in enumerate(ranges)]
    cuts = any(r != range(n) for r, n in zip(ranges, sizes, strict=True))
    new_axes = [i for i, kind in enumerate(order) if kind == "new"]
    return Indexer(ranges, cuts, indices, numbers, windows, new_axes)


def stacked(indices: Values, sizes: Sequence[int]) -> Value:
    """Arrays of indices as the one that `gather` takes: counted from the front, side by side."""
    positive = [from_front(i, n) for i, n in zip(indices, sizes, strict=True)]
    columns = [basic.convert_element_type(i, np.int32) for i in same_shape(*positive)]
    rank = ndim(columns[0])
    return shapes.concatenate([shapes.expand_dims(c, [rank]) for c in columns], rank)


def is_positive(index: Value) -> bool:
    """Whether none of the numbers is negative, as far as that is known."""
    return not isinstance(index, Tracer) and bool(np.all(np.asarray(index) >= 0))


def from_front(index: Value, n: int) -> Value:
    """Negative indices count from the end."""
    if get_aval(index).dtype.kind == "u" or is_positive(index):
        return index
    dtype = get_aval(index).dtype
    negative = basic.lt(index, np.asarray(0, dtype))
    return choosing.select(negative, basic.add(index, np.asarray(n, dtype)), index)


# x.at[...] ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class IndexUpdate:
    """`x.at`: what `x[index] = value` would do, as functions that return a new array."""

    array: Any

    def __getitem__(self, index: Value) -> IndexUpdateRef:
        return IndexUpdateRef(self.array, index)


@dataclass(frozen=True)
class IndexUpdateRef:
    """`x.at[index]`."""

    array: Any
    index: Any

    def get(self, *, mode: Any = None, fill_value: Value = None, **flags: bool) -> Any:
        """`x[index]`; with mode "fill" it is `fill_value` (or NaN) outside the array."""
        refuse_flags(flags)
        mode = None if mode is None else known_mode(mode)
        if mode in (None, GatherScatterMode.PROMISE_IN_BOUNDS):
            return getitem(self.array, self.index)
        flat, places = shapes.reshape(self.array, (size(self.array),)), self.places(mode)
        numbers = GatherDimensionNumbers((), (0,), (0,))
        indices = shapes.expand_dims(places, [ndim(places)])
        return gathers.gather(flat, indices, numbers, (1,), mode=mode, fill_value=fill_value)

    def set(self, values: Value, *, mode: Any = None, **flags: bool) -> Value:
        """`x` with `values` at `index`; values outside are dropped."""
        return self.scattered(gathers.scatter, values, mode, flags)

    def add(self, values: Value, *, mode: Any = None, **flags: bool) -> Value:
        """`x` with `values` added at `index`, once for each time that a place is named."""
        return self.scattered(gathers.scatter_add, values, mode, flags)

    def scattered(
        self, scatter: Callable[..., Any], values: Value, mode: Any, flags: dict[str, bool]
    ) -> Value:
        """By a scatter of single elements: the places of `x[index]` are found by indexing.

        Numbers and slices name each place once; only arrays of indices can name it again.
        """
        refuse_flags(flags)
        places = self.places(known_mode(mode))
        own = get_aval(self.array)
        updates = broadcast_to(convert(asarray(values), own.dtype, own.weak_type), shape(places))
        numbers = gathers.ScatterDimensionNumbers((), (0,), (0,))
        flat = shapes.reshape(self.array, (size(self.array),))
        indices = shapes.expand_dims(places, [ndim(places)])
        parts = expand_index(self.index, shape(self.array))
        once = not any(is_array(part) and ndim(part) for part in parts)
        out = scatter(flat, indices, updates, numbers, unique_indices=once)
        return shapes.reshape(out, shape(self.array))

    def places(self, mode: GatherScatterMode) -> Value:
        """Where in the flat array each element of `x[index]` is; -1 for those outside."""
        own = shape(self.array)
        numbers = np.arange(math.prod(own), dtype=np.int64).reshape(own)
        clips = mode is GatherScatterMode.CLIP
        x, parts = with_new_axes(asarray(numbers), expand_index(self.index, own))
        if not any(map(is_array, parts)):
            found = static_item(x, parts)
            outside = not clips and is_outside([p for p in parts if p is not None], shape(x))
            return defining.full_like(found, -1) if outside else found
        return gathered_item(x, parts, mode if clips else GatherScatterMode.FILL_OR_DROP, -1)


def refuse_flags(flags: dict[str, bool]) -> None:
    """The promises that JAX takes about indices change nothing here; there are no others."""
    if not flags.pop("wrap_negative_indices", True):
        raise NotImplementedError("x.at[...] counts negative indices from the end, always.")
    unknown = set(flags) - {"indices_are_sorted", "unique_indices"}
    if unknown:
        raise TypeError(f"x.at[...] takes no {sorted(unknown)[0]!r}.")


def iterate(x: Value) -> Value:
    """`for row in x`."""
    if not ndim(x):
        raise TypeError("iteration over a 0-d array")
    sizes, ones = shape(x), [1] * ndim(x)
    rows = (
        shapes.slice_p.bind(
            x,
            start_indices=(i, *[0] * len(sizes[1:])),
            limit_indices=(i + 1, *sizes[1:]),
            strides=tuple(ones),
        )
        for i in range(sizes[0])
    )
    return (shapes.squeeze(row, [0]) for row in rows)


array_methods.update({"__getitem__": getitem, "__iter__": iterate, "at": IndexUpdate})
