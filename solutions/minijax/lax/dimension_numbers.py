"""Which axes mean what in `gather` and `scatter`, and what becomes of windows outside."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minijax.core import ShapedArray, Value

__all__ = ["GatherDimensionNumbers", "GatherScatterMode", "ScatterDimensionNumbers"]


@dataclass(frozen=True)
class GatherDimensionNumbers:
    """The part that each axis plays in `gather`.

    The last axis of the indices holds one start: its component k is along the operand's axis
    `start_index_map[k]`. The other axes of the indices count the windows. In the result, a window's
    own axes are `offset_dims`; it has lost the axes `collapsed_slice_dims`, of length 1, and
    `operand_batching_dims`, along which each index of `start_indices_batching_dims` has its own
    part of the operand.
    """

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


@dataclass(frozen=True)
class ScatterDimensionNumbers:
    """The same for `scatter`, whose updates are what `gather` has as its result."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


def fields(numbers: Any) -> list[tuple[int, ...]]:
    """The five tuples of either class, in order."""
    return [tuple(axes) for axes in vars(numbers).values()]


class GatherScatterMode(enum.Enum):
    """What becomes of a window that does not lie inside the operand."""

    CLIP = 1  # it is moved inside
    FILL_OR_DROP = 2  # gather fills in a value, scatter leaves it out
    PROMISE_IN_BOUNDS = 3  # the program has promised that there is none

    def __str__(self) -> str:
        return f"GatherScatterMode.{self.name}"

    __repr__ = __str__


MODES = {
    None: GatherScatterMode.FILL_OR_DROP,
    "clip": GatherScatterMode.CLIP,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "drop": GatherScatterMode.FILL_OR_DROP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
}


def known_mode(mode: str | GatherScatterMode | None) -> GatherScatterMode:
    """A mode by its name."""
    if not isinstance(mode, GatherScatterMode) and mode not in MODES:
        raise ValueError(f"Unknown mode {mode!r}; there are {[*MODES][1:]}.")
    return mode if isinstance(mode, GatherScatterMode) else MODES[mode]


def check_windows(
    name: str, x: ShapedArray, indices: ShapedArray, numbers: Any, sizes: Sequence[int]
) -> None:
    """`TypeError` where the dimension numbers do not fit each other, the operand or the indices."""
    offset, collapsed, start_map, x_batch, i_batch = fields(numbers)
    rank, counts = len(x.shape), len(indices.shape) - 1
    lost = [*collapsed, *x_batch]
    in_order = all(list(axes) == sorted(set(axes)) for axes in (offset, collapsed, x_batch))
    if indices.dtype.kind not in "iu":
        raise ValueError(f"{name} takes integers as indices, not {indices.dtype.name}.")
    fits = (
        counts >= 0
        and in_order
        and inside(offset, counts + len(offset))
        and all(inside(axes, rank) for axes in (lost, start_map))
        and inside(i_batch, counts)
        and len({*lost}) == len(lost)
        and len(offset) + len(lost) == rank == len(sizes)
        and len({*start_map, *x_batch}) == len(start_map) + len(x_batch)
        and len(start_map) == indices.shape[-1]
        and [x.shape[i] for i in x_batch] == [indices.shape[i] for i in i_batch]
    )
    if not fits:
        raise TypeError(f"{name} cannot use {numbers} with operand {x} and indices {indices}.")
    if any(not 0 <= size <= n for size, n in zip(sizes, x.shape, strict=True)):
        raise TypeError(f"{name} cannot take windows of size {tuple(sizes)} out of {x}.")
    if any(sizes[i] > 1 for i in lost):
        raise TypeError(
            f"{name} can leave out axes of length 1 only, not {lost} of {tuple(sizes)}."
        )


def inside(axes: Sequence[int], rank: int) -> bool:
    return all(0 <= axis < rank for axis in axes)


def places(
    shape: Sequence[int], indices: Value, numbers: GatherDimensionNumbers, sizes: Sequence[int]
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Where each element of all windows is in an operand of `shape`, and which are inside.

    The first is an array of indices for each axis of the operand; windows have been moved inside.
    The second says which elements belong to windows that had been inside before.
    """
    indices = np.asarray(indices).astype(np.int64)
    counts, offsets = indices.shape[:-1], numbers.offset_dims
    starts = {axis: indices[..., k] for k, axis in enumerate(numbers.start_index_map)}
    both = zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
    starts.update({axis: np.indices(counts, sparse=True)[i] for axis, i in both})
    windows, found, inside = iter(offsets), [], np.ones(counts, bool)
    rank = len(counts) + len(offsets)
    for axis, (n, size) in enumerate(zip(shape, sizes, strict=True)):
        start = np.broadcast_to(starts.get(axis, 0), counts)
        inside &= (start >= 0) & (start <= n - size)
        place = np.expand_dims(np.clip(start, 0, n - size), offsets)
        if axis not in numbers.collapsed_slice_dims + numbers.operand_batching_dims:
            window_axis = next(windows)
            place = place + np.arange(size).reshape(
                [-1 if i == window_axis else 1 for i in range(rank)]
            )
        found.append(place)
    out_shape = np.broadcast_shapes(
        np.expand_dims(inside, offsets).shape, *(p.shape for p in found)
    )
    inside = np.broadcast_to(np.expand_dims(inside, offsets), out_shape)
    return tuple(np.broadcast_to(place, out_shape) for place in found), inside
