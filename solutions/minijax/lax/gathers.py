"""Reading and writing at places that the data itself names, each primitive with all its rules.

`gather` takes windows of one size out of an operand, at starts that an array of indices holds.
Running backwards it becomes `scatter-add`, which adds windows at those places, and the other way
round.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax.array import Array
from minijax.core import (
    Primitive,
    ShapedArray,
    Tangent,
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
)
from minijax.jaxpr import Jaxpr, raise_to_shaped
from minijax.jvp import apply_linear
from minijax.lax.basic import add, broadcast_in_dim, lt, named
from minijax.lax.choosing import select
from minijax.lax.defining import (
    all_in_front,
    emit_operation,
    emit_region,
    full,
    full_like,
    hlo_of,
    hlo_operation,
    i64s,
    scalar,
    with_zeros,
    zeros_like,
)
from minijax.lax.dimension_numbers import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    check_windows,
    fields,
    inside,
    known_mode,
    places,
)
from minijax.lax.elementwise import bitwise_and, clamp, eq, ge, le
from minijax.lax.reductions import highest, lowest, reduce_and
from minijax.lax.shapes import concatenate, iota, reshape, without
from minijax.lowering import Emitter
from minijax.tracing import trace_to_jaxpr
from minijax.vmap import move_batch_axis

__all__ = ["gather", "gather_p", "scatter", "scatter_add", "scatter_add_p", "scatter_p"]


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
    x_dot, updates_dot = with_zeros([x, updates], tangents[::2])
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
    sizes = window_sizes(len(get_aval(x).shape), get_aval(updates).shape, dimension_numbers)
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
    moved = all_in_front(axis_size, vals, dims)
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
        from_x = scatter_p.bind(ct, indices, zeros_like(updates), **params)
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
        return emit_operation(emitter, "scatter", args, avals, out_avals, attributes, region)

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
