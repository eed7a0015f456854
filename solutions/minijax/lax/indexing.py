"""Reading and writing at places that the data itself names, each primitive with all its rules.

`gather` takes windows of one size out of an operand, at starts that an array of indices holds.
Running backwards it becomes `scatter-add`, which adds windows at those places, and the other way
round. `dynamic_slice` takes a single window. `sort` is here because its tangents are gathered.
"""

import enum
import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    add_p,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    not_mapped,
    transpose_rules,
    vmap_rules,
    weak_operands,
)
from minijax.jaxpr import Jaxpr, raise_to_shaped
from minijax.jvp import apply_linear
from minijax.lax.basic import add, broadcast_in_dim, convert_element_type, lt, named, sub
from minijax.lax.elementwise import (
    bitwise_and,
    bitwise_not,
    bitwise_or,
    clamp,
    emit_operation,
    emit_region,
    eq,
    full,
    full_like,
    ge,
    hlo_of,
    hlo_of_all,
    hlo_operation,
    i64s,
    le,
    ne,
    scalar,
    select,
    zeros_like,
)
from minijax.lax.reductions import highest, lowest, reduce_and
from minijax.lax.shapes import (
    broadcasted_iota,
    concatenate,
    expand_dims,
    iota,
    normal_axis,
    reshape,
    rev,
    slice_in_dim,
    squeeze,
    without,
)
from minijax.lowering import Emitter
from minijax.tracing import trace_to_jaxpr
from minijax.vmap import move_batch_axis

__all__ = [
    "GatherDimensionNumbers",
    "GatherScatterMode",
    "ScatterDimensionNumbers",
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_slice_p",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "dynamic_update_slice_p",
    "gather",
    "gather_p",
    "scatter",
    "scatter_add",
    "scatter_add_p",
    "scatter_p",
    "sort",
    "sort_key_val",
    "sort_p",
    "top_k",
    "top_k_p",
]


# Which axes mean what, and what happens outside ---------------------------------------------------


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


# gather -------------------------------------------------------------------------------------------

gather_p = Primitive("gather")


def gather(
    operand: Value,
    start_indices: Value,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: Value = None,
) -> Value:
    """Windows of size `slice_sizes` out of `operand`; see `GatherDimensionNumbers`."""
    mode = known_mode(mode)
    check_windows(
        "gather", get_aval(operand), get_aval(start_indices), dimension_numbers, slice_sizes
    )
    if isinstance(fill_value, Array) or np.ndim(fill_value):
        raise TypeError(f"fill_value is one number, not a {type(fill_value).__name__}.")
    if mode is GatherScatterMode.FILL_OR_DROP and fill_value is None:
        fill_value = default_fill(get_aval(operand).dtype)
    return gather_p.bind(
        operand,
        start_indices,
        dimension_numbers=GatherDimensionNumbers(*fields(dimension_numbers)),
        slice_sizes=tuple(slice_sizes),
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
        fill_value=fill_value,
    )


def default_fill(dtype: np.dtype) -> Any:
    """What stands where there is nothing: NaN, and for integers one that is easy to notice."""
    if dtype.kind == "f":
        return np.nan
    return lowest(dtype) if dtype.kind == "i" else highest(dtype)


def gather_impl(
    x: Value,
    indices: Value,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    mode: Any,
    fill_value: Value,
    **flags: Any,
) -> Value:
    x = np.asarray(x)
    where, inside = places(x.shape, indices, dimension_numbers, slice_sizes)
    if not inside.size:
        return np.zeros(inside.shape, x.dtype)
    out = x[where]
    if mode is GatherScatterMode.FILL_OR_DROP:
        out = np.where(inside, out, np.asarray(fill_value, x.dtype))
    return out


def gather_jvp(
    primals: Values, tangents: Sequence[Tangent], *, fill_value: Value, **params: Any
) -> tuple[Any, Any]:
    """Linear in the operand; what was filled in does not move."""
    y = gather_p.bind(*primals, fill_value=fill_value, **params)
    return y, apply_linear(
        lambda t: gather_p.bind(t, primals[1], fill_value=0, **params), tangents[0]
    )


def gather_batch(
    axis_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    **rest: Any,
) -> tuple[Any, int]:
    """More windows out of one operand; or, if the operand is batched, one more batching axis."""
    x, indices = vals[0], move_batch_axis(axis_size, dims[1], 0, vals[1])
    offset, collapsed, start_map, x_batch, i_batch = fields(dimension_numbers)
    offset, i_batch = shifted(offset), shifted(i_batch)
    if dims[0] is not not_mapped:
        x = move_batch_axis(axis_size, dims[0], 0, x)
        collapsed, start_map = shifted(collapsed), shifted(start_map)
        x_batch, i_batch, slice_sizes = (0, *shifted(x_batch)), (0, *i_batch), (1, *slice_sizes)
    numbers = GatherDimensionNumbers(offset, collapsed, start_map, x_batch, i_batch)
    out = gather_p.bind(x, indices, dimension_numbers=numbers, slice_sizes=slice_sizes, **rest)
    return out, 0


def shifted(axes: Sequence[int]) -> tuple[int, ...]:
    """Axes that have got one more in front of them."""
    return tuple(axis + 1 for axis in axes)


def gather_type(
    x: ShapedArray, indices: ShapedArray, *, dimension_numbers: Any, slice_sizes: Any, **flags: Any
) -> ShapedArray:
    """The windows' axes at `offset_dims`, and those that count the windows between them."""
    lost = dimension_numbers.collapsed_slice_dims + dimension_numbers.operand_batching_dims
    window, counts = iter(without(slice_sizes, lost)), iter(indices.shape[:-1])
    rank = len(indices.shape) - 1 + len(dimension_numbers.offset_dims)
    shape = [next(window if i in dimension_numbers.offset_dims else counts) for i in range(rank)]
    return ShapedArray(tuple(shape), x.dtype, x.weak_type)


def gather_transpose(
    ct: Tangent,
    x: Value,
    indices: Value,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    mode: Any,
    fill_value: Value,
    **flags: Any,
) -> list[Value]:
    """Each window's cotangent is added where the window was taken."""
    numbers = ScatterDimensionNumbers(*fields(dimension_numbers))
    return [scatter_add(zeros_like(x), indices, ct, numbers, mode=mode, **flags), None]


def gather_attributes(
    x: ShapedArray, indices: ShapedArray, *, dimension_numbers: Any, slice_sizes: Any, **flags: Any
) -> str:
    numbers = dimension_text(dimension_numbers, len(indices.shape) - 1)
    return (
        f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = {i64s(slice_sizes)}, "
        f"indices_are_sorted = {str(flags['indices_are_sorted']).lower()}"
    )


def dimension_text(numbers: Any, last: int) -> str:
    """The dimension numbers as StableHLO has them; it leaves out what is empty."""
    order = [0, 1, 3, 4, 2]
    names, axes = list(vars(numbers)), fields(numbers)
    if isinstance(numbers, ScatterDimensionNumbers):
        names[3] = "input_batching_dims"
    parts = [f"{names[i]} = [{', '.join(map(str, axes[i]))}]" for i in order if axes[i]]
    return ", ".join([*parts, f"index_vector_dim = {last}"])


def filled_gather(
    x: Value,
    indices: Value,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    fill_value: Value,
    **flags: Any,
) -> Value:
    """Gather by clipping, then put the value in for windows that had not been inside."""
    flags["mode"] = GatherScatterMode.CLIP
    y = gather(x, indices, dimension_numbers, slice_sizes, **flags)
    ends = last_starts(x, indices, dimension_numbers.start_index_map, slice_sizes)
    inside = reduce_and(
        bitwise_and(ge(indices, zeros_like(indices)), le(indices, ends)),
        [len(get_aval(indices).shape) - 1],
    )
    shape = get_aval(y).shape
    counts = [i for i in range(len(shape)) if i not in dimension_numbers.offset_dims]
    return select(broadcast_in_dim(inside, shape, counts), y, full_like(y, fill_value))


def last_starts(x: Value, indices: Value, axes: Sequence[int], sizes: Sequence[int]) -> Value:
    """The largest start of a window that lies inside, in the shape of the indices."""
    shape, aval = get_aval(x).shape, get_aval(indices)
    columns = [full((1,), scalar(shape[axis] - sizes[axis], indices)) for axis in axes]
    row = concatenate(columns, 0) if columns else full((0,), scalar(0, indices))
    return broadcast_in_dim(row, aval.shape, [len(aval.shape) - 1])


def gather_hlo(emitter: Emitter, avals: Any, out_avals: Any, args: Any, **params: Any) -> list[str]:
    """StableHLO's gather clips, and cannot look at an operand without elements."""
    if 0 in out_avals[0].shape:
        (out,) = out_avals
        empty = hlo_of(lambda *operands: full(out.shape, np.zeros((), out.dtype)))
        return empty(emitter, avals, out_avals, args)
    if params["mode"] is GatherScatterMode.FILL_OR_DROP:
        return hlo_of(filled_gather)(emitter, avals, out_avals, args, **params)
    return hlo_operation("gather", gather_attributes)(emitter, avals, out_avals, args, **params)


impl_rules[gather_p] = gather_impl
jvp_rules[gather_p] = gather_jvp
vmap_rules[gather_p] = gather_batch
abstract_eval_rules[gather_p] = gather_type
transpose_rules[gather_p] = gather_transpose
hlo_lowerings[gather_p] = gather_hlo


# scatter and scatter-add --------------------------------------------------------------------------

scatter_p = Primitive("scatter")
scatter_add_p = Primitive("scatter-add")


@functools.cache
def addition(dtype: np.dtype) -> Jaxpr:
    """The program that adds two numbers: what JAX says of a scatter-add, and no rule needs here."""
    number = ShapedArray((), dtype)
    return trace_to_jaxpr(lambda x, y: [add_p.bind(x, y)], [number, number]).jaxpr


def scatter_function(primitive: Primitive, doc: str) -> Callable[..., Any]:
    def function(
        operand: Value,
        scatter_indices: Any,
        updates: Value,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
    ) -> Value:
        avals = get_aval(operand), get_aval(scatter_indices), get_aval(updates)
        check_updates(primitive.name, *avals, dimension_numbers)
        return primitive.bind(
            operand,
            scatter_indices,
            updates,
            dimension_numbers=ScatterDimensionNumbers(*fields(dimension_numbers)),
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            mode=known_mode(mode),
            update_consts=(),
            update_jaxpr=addition(get_aval(operand).dtype) if primitive is scatter_add_p else None,
        )

    return named(function, primitive.name.replace("-", "_"), doc)


scatter = scatter_function(scatter_p, "`operand` with `updates` at the `scatter_indices`.")
scatter_add = scatter_function(
    scatter_add_p, "`operand` with `updates` added at the `scatter_indices`."
)


def window_sizes(x_rank: int, updates: Sequence[int], numbers: Any) -> tuple[int, ...]:
    """The size of a window, in all axes of the operand."""
    gone = numbers.inserted_window_dims + numbers.operand_batching_dims
    own = iter([updates[i] for i in numbers.update_window_dims])
    return tuple(1 if axis in gone else next(own) for axis in range(x_rank))


def check_updates(
    name: str, x: ShapedArray, indices: ShapedArray, updates: ShapedArray, numbers: Any
) -> None:
    """`TypeError` where the updates are no windows of the operand, one for each index."""
    own = numbers.update_window_dims
    lost = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    counts = [n for i, n in enumerate(updates.shape) if i not in own]
    if x.dtype != updates.dtype:
        raise TypeError(f"{name} takes updates of dtype {x.dtype.name}, not {updates.dtype.name}.")
    fits = inside([*own], len(updates.shape)) and inside([*lost], len(x.shape))
    fits = fits and len(own) + len(lost) == len(x.shape)
    if not fits or counts != list(indices.shape[:-1]):
        raise TypeError(f"{name} cannot put {updates} into {x} at {indices} by {numbers}.")
    sizes = window_sizes(len(x.shape), updates.shape, numbers)
    check_windows(name, x, indices, numbers, sizes)


def scatter_impl(combine: Callable[..., None]) -> Callable[..., Any]:
    def evaluate(
        x: Value, indices: Value, updates: Value, *, dimension_numbers: Any, mode: Any, **flags: Any
    ) -> Value:
        out, updates = np.array(x), np.asarray(updates)
        sizes = window_sizes(out.ndim, updates.shape, dimension_numbers)
        numbers = GatherDimensionNumbers(*fields(dimension_numbers))
        where, inside = places(out.shape, indices, numbers, sizes)
        if mode is GatherScatterMode.CLIP:
            inside = np.ones_like(inside)
        combine(out, tuple(place[inside] for place in where), updates[inside])
        return out

    return evaluate


def scatter_add_jvp(primals: Values, tangents: Sequence[Tangent], **params: Any) -> tuple[Any, Any]:
    """Linear in operand and updates together."""
    x, indices, updates = primals
    x_dot, _, updates_dot = tangents
    y = scatter_add_p.bind(x, indices, updates, **params)
    if updates_dot is None:
        return y, x_dot
    x_dot = zeros_like(x) if x_dot is None else x_dot
    return y, scatter_add_p.bind(x_dot, indices, updates_dot, **params)


def scatter_jvp(primals: Values, tangents: Sequence[Tangent], **params: Any) -> tuple[Any, Any]:
    """Of several updates at one place one has won: its tangent counts, and no other's.

    To see which one, their numbers are scattered instead of the updates, and gathered again. That
    is not needed if no place has several, which `unique_indices` promises.
    """
    x, indices, updates = primals
    y = scatter_p.bind(x, indices, updates, **params)
    x_dot, updates_dot = (
        zeros_like(p) if t is None else t for p, t in [(x, tangents[0]), (updates, tangents[2])]
    )
    if params["unique_indices"]:
        return y, scatter_p.bind(x_dot, indices, updates_dot, **params)
    shape, x_shape = get_aval(updates).shape, get_aval(x).shape
    numbers = reshape(iota(np.int64, int(np.prod(shape))), shape)
    winners = scatter_p.bind(full(x_shape, np.int64(-1)), indices, numbers, **params)
    back = gather_like(winners, indices, updates, fill_value=-1, **params)
    updates_dot = select(eq(back, numbers), updates_dot, zeros_like(updates_dot))
    x_dot = select(lt(winners, zeros_like(winners)), x_dot, zeros_like(x_dot))
    params["update_jaxpr"] = addition(get_aval(x_dot).dtype)
    return y, scatter_add_p.bind(x_dot, indices, updates_dot, **params)


def gather_like(
    x: Value,
    indices: Value,
    updates: Value,
    *,
    dimension_numbers: Any,
    fill_value: Value,
    **params: Any,
) -> Value:
    """What stands now where the updates of a scatter go, or went."""
    shape = (updates.aval if isinstance(updates, UndefPrimal) else get_aval(updates)).shape
    sizes = window_sizes(len(get_aval(x).shape), shape, dimension_numbers)
    numbers = GatherDimensionNumbers(*fields(dimension_numbers))
    if params["mode"] is GatherScatterMode.PROMISE_IN_BOUNDS:  # a scatter drops even then
        params["mode"] = GatherScatterMode.FILL_OR_DROP
    del params["update_consts"], params["update_jaxpr"]
    return gather(x, indices, numbers, sizes, fill_value=fill_value, **params)


def scatter_batch(
    primitive: Primitive,
    axis_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    dimension_numbers: Any,
    **flags: Any,
) -> tuple[Any, int]:
    """One more batching axis, in front of all three operands."""
    moved = [move_batch_axis(axis_size, d, 0, x) for x, d in zip(vals, dims, strict=True)]
    window, inserted, to_operand, x_batch, i_batch = map(shifted, fields(dimension_numbers))
    numbers = ScatterDimensionNumbers(window, inserted, to_operand, (0, *x_batch), (0, *i_batch))
    return primitive.bind(*moved, dimension_numbers=numbers, **flags), 0


def scatter_add_transpose(
    ct: Tangent, x: Value, indices: Value, updates: Value, **params: Any
) -> list[Value]:
    """The operand gets all of the cotangent, and each update the window where it was added."""
    from_updates = None
    if isinstance(updates, UndefPrimal):
        from_updates = gather_like(ct, indices, updates, fill_value=0, **params)
    return [ct if isinstance(x, UndefPrimal) else None, None, from_updates]


def scatter_transpose(
    ct: Tangent, x: Value, indices: Value, updates: Value, **params: Any
) -> list[Value]:
    """As for scatter-add, but the operand gets nothing where updates have taken its place."""
    if not params["unique_indices"]:
        raise NotImplementedError("scatter transpose is only implemented where unique_indices=True")
    from_x = None
    if isinstance(x, UndefPrimal):
        aval = updates.aval if isinstance(updates, UndefPrimal) else get_aval(updates)
        nothing = full(aval.shape, np.zeros((), aval.dtype))
        from_x = scatter_p.bind(ct, indices, nothing, **params)
    return [from_x, *scatter_add_transpose(ct, x, indices, updates, **params)[1:]]


def scatter_hlo(combine: Callable[..., Any]) -> Callable[..., list[str]]:
    """StableHLO's scatter drops; to clip, the indices are moved inside before."""

    def lowering(
        emitter: Emitter, avals: Any, out_avals: Any, args: Any, **params: Any
    ) -> list[str]:
        numbers = params["dimension_numbers"]
        if 0 in avals[2].shape:
            return [args[0]]
        if params["mode"] is GatherScatterMode.CLIP:
            sizes = window_sizes(len(avals[0].shape), avals[2].shape, numbers)

            def clipped(x: Value, indices: Value) -> Value:
                ends = last_starts(x, indices, numbers.scatter_dims_to_operand_dims, sizes)
                return clamp(zeros_like(indices), indices, ends)

            (indices,) = hlo_of(clipped)(emitter, avals[:2], [avals[1]], args[:2])
            args = [args[0], indices, args[2]]
        region = emit_region(emitter, combine, [avals[0].dtype] * 2)
        text = f"#stablehlo.scatter<{dimension_text(numbers, len(avals[1].shape) - 1)}>"
        flags = [
            f"{name} = {str(params[name]).lower()}"
            for name in ("indices_are_sorted", "unique_indices")
        ]
        attributes = ", ".join([f"scatter_dimension_numbers = {text}", *flags])
        line = emit_operation("scatter", args, attributes, region, avals, out_avals)
        return [emitter.emit(line)]

    return lowering


impl_rules[scatter_p] = scatter_impl(lambda out, where, new: out.__setitem__(where, new))
impl_rules[scatter_add_p] = scatter_impl(np.add.at)
jvp_rules[scatter_p], jvp_rules[scatter_add_p] = scatter_jvp, scatter_add_jvp
transpose_rules[scatter_p] = scatter_transpose
transpose_rules[scatter_add_p] = scatter_add_transpose
hlo_lowerings[scatter_p] = scatter_hlo(lambda old, new: new)
hlo_lowerings[scatter_add_p] = scatter_hlo(add)
for _p in (scatter_p, scatter_add_p):
    vmap_rules[_p] = lambda *args, _p=_p, **params: scatter_batch(_p, *args, **params)
    abstract_eval_rules[_p] = lambda x, indices, updates, **params: raise_to_shaped(x)


# dynamic_slice and dynamic_update_slice -----------------------------------------------------------

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


def dynamic_slice_jvp(
    primals: Values, tangents: Sequence[Tangent], *, slice_sizes: tuple[int, ...]
) -> tuple[Any, Any]:
    x, *starts = primals
    y = dynamic_slice_p.bind(x, *starts, slice_sizes=slice_sizes)
    return y, apply_linear(
        lambda t: dynamic_slice_p.bind(t, *starts, slice_sizes=slice_sizes), tangents[0]
    )


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
    columns = [move_batch_axis(axis_size, d, 0, x) for x, d in zip(starts, dims, strict=True)]
    return concatenate([expand_dims(column, [1]) for column in columns], 1)


def dynamic_slice_transpose(
    ct: Tangent, x: Value, *starts: Value, slice_sizes: tuple[int, ...]
) -> list[Value]:
    """Zeros, with the cotangent in the window."""
    from_x = dynamic_update_slice_p.bind(zeros_like(x), ct, *starts)
    return [from_x, *(None for _ in starts)]


impl_rules[dynamic_slice_p] = dynamic_slice_impl
jvp_rules[dynamic_slice_p] = dynamic_slice_jvp
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


def dynamic_update_slice_jvp(primals: Values, tangents: Sequence[Tangent]) -> tuple[Any, Any]:
    """Linear in operand and update together."""
    x, update, *starts = primals
    y = dynamic_update_slice_p.bind(x, update, *starts)
    if tangents[0] is None and tangents[1] is None:
        return y, None
    moving = [
        zeros_like(p) if t is None else t for p, t in zip((x, update), tangents[:2], strict=True)
    ]
    return y, dynamic_update_slice_p.bind(*moving, *starts)


def dynamic_update_slice_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any]
) -> tuple[Any, int]:
    """Windows at different places are what `scatter` is for."""
    (x, update, *starts), (dim, update_dim, *start_dims) = vals, dims
    if all(d is not_mapped for d in start_dims):
        moved = [move_batch_axis(axis_size, d, 0, v) for v, d in [(x, dim), (update, update_dim)]]
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
    aval = update.aval if isinstance(update, UndefPrimal) else get_aval(update)
    from_x, from_update = None, None
    if isinstance(x, UndefPrimal):
        nothing = full(aval.shape, np.zeros((), aval.dtype))
        from_x = dynamic_update_slice_p.bind(ct, nothing, *starts)
    if isinstance(update, UndefPrimal):
        from_update = dynamic_slice_p.bind(ct, *starts, slice_sizes=aval.shape)
    return [from_x, from_update, *(None for _ in starts)]


impl_rules[dynamic_update_slice_p] = dynamic_update_slice_impl
jvp_rules[dynamic_update_slice_p] = dynamic_update_slice_jvp
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


# sort ---------------------------------------------------------------------------------------------

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


def along_axis(
    x: Value, indices: Value, axis: int, mode: Any = None, fill_value: Value = None
) -> Value:
    """The elements at `indices` along one axis, with the other axes side by side."""
    shape = get_aval(indices).shape
    if 0 in shape:
        return full(shape, np.zeros((), get_aval(x).dtype))
    rank = len(shape)
    others = tuple(i for i in range(rank) if i != axis)
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    mode = GatherScatterMode.PROMISE_IN_BOUNDS if mode is None else mode
    indices = expand_dims(indices, [rank])
    return gather(x, indices, numbers, (1,) * rank, mode=mode, fill_value=fill_value)


def sort_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, dimension: int, **params: Any
) -> tuple[list[Any], list[int]]:
    moved = [move_batch_axis(axis_size, d, 0, x) for x, d in zip(vals, dims, strict=True)]
    outs = sort_p.bind(*moved, dimension=dimension + 1, **params)
    return outs, [0] * len(outs)


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
    text = emit_operation("sort", args, attributes, region, avals, out_avals)
    name = emitter.emit(text, len(args))
    return [f"{name}#{i}" for i in range(len(args))] if len(args) > 1 else [name]


impl_rules[sort_p] = sort_impl
jvp_rules[sort_p] = sort_jvp
vmap_rules[sort_p] = sort_batch
abstract_eval_rules[sort_p] = lambda *avals, **params: [raise_to_shaped(aval) for aval in avals]
hlo_lowerings[sort_p] = sort_hlo


# top_k --------------------------------------------------------------------------------------------

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


def top_k_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, k: int, axis: int
) -> tuple[list[Any], list[int]]:
    x = move_batch_axis(axis_size, dims[0], 0, vals[0])
    return top_k_p.bind(x, k=k, axis=axis + 1), [0, 0]


def top_k_type(x: ShapedArray, *, k: int, axis: int) -> list[ShapedArray]:
    shape = tuple(k if i == axis else n for i, n in enumerate(x.shape))
    return [ShapedArray(shape, x.dtype), ShapedArray(shape, np.dtype(np.int32))]


impl_rules[top_k_p] = lambda x, **params: list(map(np.asarray, top_k_by_sort(x, **params)))
jvp_rules[top_k_p] = top_k_jvp
vmap_rules[top_k_p] = top_k_batch
abstract_eval_rules[top_k_p] = top_k_type
hlo_lowerings[top_k_p] = hlo_of_all(top_k_by_sort)
