"""One program on many devices: `pmap`, and the operations by which its copies speak together.

`pmap(f)(xs)` maps `f` over an axis as `vmap` does, but by other means. `vmap` rewrites `f` so that
one device computes all examples at once. `pmap` leaves `f` as it is: every device gets one example
and the same program ("single program, multiple data"). The copies of the program, its *replicas*,
run at the same time, and meet in *collectives*: operations such as `psum`, by which each of them
learns the sum over all.

A collective names the axis along which it works, and does not care which transformation maps it.
Under `pmap` it becomes communication between devices; under `vmap` the whole axis is one array on
one device, and `psum` is an ordinary sum.

This file reads from top to bottom: the collectives with their rules, the call primitive of `pmap`
with its rules, arrays in pieces, and `pmap`.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minijax import xla
from minijax.arguments import check_callable, split_static, without_static
from minijax.array import ArrayImpl
from minijax.axis_env import (
    AxisPrimitive,
    AxisSize,
    axis_env,
    axis_frame,
    axis_sizes,
    mapped_axis,
    name_of,
)
from minijax.core import (
    NotMapped,
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
    partial_eval_rules,
    trace_state,
    transpose_rules,
    vmap_rules,
)
from minijax.dtypes import is_float
from minijax.jaxpr import ClosedJaxpr, eval_jaxpr, kept_beside, printed_params, raise_to_shaped
from minijax.jit import (
    CallPrimitive,
    Compiled,
    Lowered,
    batched_jaxpr,
    call_jvp,
    derived,
    lower,
    lower_body,
    without_consts,
)
from minijax.jvp import instantiate, linear_jvp
from minijax.lax.basic import add, convert_element_type, div, mul, reduce_sum
from minijax.lax.defining import emit_operation, emit_region
from minijax.lax.dynamic import dynamic_index_in_dim, dynamic_slice_in_dim
from minijax.lax.shapes import broadcasted_iota, expand_dims, reshape, squeeze
from minijax.linearize import PartialEvalTrace, PartialEvalTracer, partial_eval_jaxpr
from minijax.lowering import Emitter
from minijax.marks import chosen, filled, groups, opposite
from minijax.numpy.basic import true_divide
from minijax.placement import Kind, array_of, to_buffer
from minijax.tracing import trace_to_jaxpr
from minijax.transpose import call_transpose
from minijax.tree import PyTreeDef, flatten_fun, tree_flatten, tree_map, tree_unflatten
from minijax.vmap import flat_axes, move_batch_axis, remove_axis

# Collectives --------------------------------------------------------------------------------------


class Collective(AxisPrimitive):
    """An operation along a named axis: what it returns in one example depends on all of them."""

    def names(self, params: dict[str, Any]) -> Sequence[Hashable]:
        return params["axes"] if "axes" in params else [params["axis_name"]]


psum_p = Collective("psum")
all_gather_p = Collective("all_gather")
axis_index_p = Collective("axis_index")


def psum(x: Value, axis_name: Any) -> Value:
    """The sum of `x` over all examples along a named axis, the same for each of them.

    `axis_name` may be a tuple of names; `x` may be a container. A value that is not a tracer is the
    same for all examples, and its sum a product: `psum(1, "i")` is the length of the axis, a Python
    number. `NameError` if no transformation maps such an axis. Counterpart: `jax.lax.psum`.

    >>> from minijax.vmap import vmap
    >>> vmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float64)
    """
    axes = tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)
    size = int(np.prod([axis_frame(name).size for name in axes], dtype=int))
    leaves, tree = tree_flatten(x)
    leaves = [convert_element_type(x, np.int32) if is_bool(x) else x for x in leaves]
    if not any(isinstance(leaf, Tracer) for leaf in leaves):
        return tree_unflatten(tree, [leaf * size for leaf in leaves])
    return tree_unflatten(tree, [psum_p.bind(leaf, axes=axes) for leaf in leaves])


def is_bool(x: Value) -> bool:
    return get_aval(x).dtype == bool


def pmean(x: Value, axis_name: Any) -> Value:
    """The mean of `x` over all examples along a named axis. Counterpart: `jax.lax.pmean`.

    >>> from minijax.vmap import vmap
    >>> vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([-1.,  1.], dtype=float64)
    """
    size = psum(1, axis_name)
    return tree_map(lambda total: true_divide(total, size), psum(x, axis_name))


def all_gather(x: Value, axis_name: Any, *, axis: int = 0, tiled: bool = False) -> Value:
    """The values that `x` has in all examples, as one array: the same for each of them.

    They are stacked along a new axis `axis`; or, with `tiled`, one after the other along the axis
    of that number that `x` has already. `x` may be a container. Counterpart: `jax.lax.all_gather`.

    >>> from minijax.vmap import vmap
    >>> vmap(lambda x: all_gather(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([[1., 3.],
           [1., 3.]], dtype=float64)
    """
    size = axis_frame(axis_name).size

    def gather(leaf: Value) -> Value:
        dimension = axis_within(axis, len(get_aval(leaf).shape) + (not tiled))
        return all_gather_p.bind(
            leaf, all_gather_dimension=dimension, axis_name=axis_name, axis_size=size, tiled=tiled
        )

    return tree_map(gather, x)


def axis_within(axis: int, rank: int) -> int:
    """The number of an axis, counted from the front."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


def axis_index(axis_name: Any) -> Any:
    """The place of this example along a named axis, an int32. Counterpart: `jax.lax.axis_index`.

    >>> from minijax.vmap import vmap
    >>> vmap(lambda x: x * axis_index("i"), axis_name="i")(np.array([5.0, 5.0, 5.0]))
    Array([ 0.,  5., 10.], dtype=float64)
    """
    return axis_index_p.bind(axis_name=axis_name)


# Collectives: types and derivatives ---------------------------------------------------------------


def psum_type(x: ShapedArray, *, axes: Sequence[Any]) -> ShapedArray:
    return raise_to_shaped(x)


def all_gather_type(
    x: ShapedArray, *, all_gather_dimension: int, axis_name: Any, axis_size: int, tiled: bool
) -> ShapedArray:
    """The type of what `all_gather` returns, from the type `x` of one example's value.

    The values of `axis_size` examples are stacked along a new axis, number `all_gather_dimension`
    of the result; or, `tiled`, they follow each other along the axis of that number. The dtype and
    `weak_type` stay.

    >>> x = ShapedArray((2, 5), np.dtype("float32"))
    >>> params = {"axis_name": "i", "axis_size": 3}
    >>> print(all_gather_type(x, all_gather_dimension=1, tiled=False, **params))
    float32[2,3,5]
    >>> print(all_gather_type(x, all_gather_dimension=1, tiled=True, **params))
    float32[2,15]
    """
    before, after = x.shape[:all_gather_dimension], x.shape[all_gather_dimension:]
    if tiled:
        return ShapedArray((*before, axis_size * after[0], *after[1:]), x.dtype, x.weak_type)
    return ShapedArray((*before, axis_size, *after), x.dtype, x.weak_type)


def axis_index_type(*, axis_name: Any) -> ShapedArray:
    return ShapedArray((), np.dtype(np.int32))


def psum_transpose(ct: Tangent, x: Value, *, axes: Any) -> list[Value]:
    """Every replica's `x` goes into every replica's sum: its cotangent is the sum of all of them.

    That is the derivative of the sum of what all replicas return.
    """
    return [psum_p.bind(ct, axes=axes)]


def all_gather_transpose(
    ct: Tangent, x: Value, *, all_gather_dimension: int, axis_name: Any, axis_size: int, tiled: bool
) -> list[Value]:
    """The cotangent of the value that an example gave to `all_gather`, in a list of length 1.

    `ct` is this example's cotangent of the gathered array; `x`, an `UndefPrimal`, has the type of
    the value. The result says how the sum of what all examples return moves with it.

    >>> from minijax.vmap import vmap
    >>> x = UndefPrimal(ShapedArray((), np.dtype("float64")))
    >>> params = {"all_gather_dimension": 0, "axis_name": "i", "axis_size": 2, "tiled": False}
    >>> cts = np.array([[1.0, 2.0], [30.0, 40.0]])  # a row for each example
    >>> vmap(lambda ct: all_gather_transpose(ct, x, **params)[0], axis_name="i")(cts)
    Array([31., 42.], dtype=float64)
    """
    total, place = psum_p.bind(ct, axes=(axis_name,)), axis_index(axis_name)
    if not tiled:
        return [dynamic_index_in_dim(total, place, all_gather_dimension, keepdims=False)]
    length = x.aval.shape[all_gather_dimension]
    start = mul(place, np.int32(length))
    return [dynamic_slice_in_dim(total, start, length, all_gather_dimension)]


abstract_eval_rules[psum_p] = psum_type
abstract_eval_rules[all_gather_p] = all_gather_type
abstract_eval_rules[axis_index_p] = axis_index_type
jvp_rules[psum_p] = functools.partial(linear_jvp, psum_p)
jvp_rules[all_gather_p] = functools.partial(linear_jvp, all_gather_p)
transpose_rules[psum_p] = psum_transpose
transpose_rules[all_gather_p] = all_gather_transpose
printed_params["psum"] = lambda params: {**params, "axis_index_groups": None}
printed_params["all_gather"] = lambda params: {
    **params,
    "axis_index_groups": None,
    "axis_name": (params["axis_name"],),
}


# Collectives under vmap: if it maps the axis that they name, all examples are at hand -------------


def psum_batch(
    batch_size: int, vals: Sequence[Any], dims: Sequence[Any], *, axes: tuple[Any, ...]
) -> tuple[Any, Any]:
    """The sum over named axes, for all examples of a `vmap` at once, and its batch axis.

    `vals` and `dims` hold the operand and its batch axis. If `axes` name the axis of this `vmap`,
    the result has no batch axis, and an operand without one counts once per example. The other
    names, if any, are those of one `psum`, in order. The dtype stays.

    >>> batch = np.array([[1.0, 2.0], [5.0, 9.0]])
    >>> out, dim = psum_batch(AxisSize(2, "i"), [batch], [0], axes=("i",))
    >>> out, dim is not_mapped
    (Array([ 6., 11.], dtype=float64), True)
    """
    (x,), (dim,) = vals, dims
    name = name_of(batch_size)
    if name in axes:
        axes = tuple(other for other in axes if other != name)
        x = mul_by(x, batch_size) if isinstance(dim, NotMapped) else reduce_sum(x, (dim,))
        dim = not_mapped
    return (psum_p.bind(x, axes=axes) if axes else x), dim


def mul_by(x: Value, n: int) -> Value:
    return mul(x, np.asarray(n, get_aval(x).dtype))


def all_gather_batch(
    batch_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    all_gather_dimension: int,
    tiled: bool,
    **params: Any,
) -> tuple[Any, Any]:
    """Over the axis of this `vmap` everything is there, and only moves to its place."""
    x = move_batch_axis(batch_size, dims[0], 0, vals[0])
    if name_of(batch_size) != params["axis_name"]:
        dimension = all_gather_dimension + 1
        return all_gather_p.bind(x, all_gather_dimension=dimension, tiled=tiled, **params), 0
    x = move_batch_axis(batch_size, 0, all_gather_dimension, x)
    if tiled:
        shape = list(get_aval(x).shape)
        length = shape.pop(all_gather_dimension)
        shape[all_gather_dimension] *= length
        x = reshape(x, shape)
    return x, not_mapped


def axis_index_batch(
    batch_size: int, vals: Sequence[Any], dims: Sequence[Any], *, axis_name: Any
) -> tuple[Any, int]:
    """0, 1, 2, ...: the examples are in this order. (Another axis's index never comes here.)"""
    return broadcasted_iota(np.int32, (batch_size,), 0), 0


vmap_rules[psum_p] = psum_batch
vmap_rules[all_gather_p] = all_gather_batch
vmap_rules[axis_index_p] = axis_index_batch


# Collectives under pmap: communication ------------------------------------------------------------

ALL_REPLICAS = "replica_groups = dense<> : tensor<0x0xi64>"  # no groups: all of them together


def check_devices_map(names: Sequence[Hashable]) -> None:
    """Between devices, there is communication along the axis of a `pmap` only."""
    for name in names:
        if axis_frame(name).main is not None:
            raise NotImplementedError(
                f"An operation that does not depend on the examples of vmap's axis {name!r} uses a "
                "collective over it. Let one of its operands depend on them."
            )


def psum_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Sequence[str], *, axes: Any
) -> list[str]:
    check_devices_map(axes)
    region = emit_region(emitter, add, [avals[0].dtype] * 2)
    text = emit_operation("all_reduce", args, ALL_REPLICAS, region, avals, out_avals)
    return [emitter.emit(text)]


def all_gather_hlo(
    emitter: Emitter,
    avals: Any,
    out_avals: Any,
    args: Sequence[str],
    *,
    all_gather_dimension: int,
    tiled: bool,
    **params: Any,
) -> list[str]:
    """StableHLO's operation is the tiled one; to stack is to make room for an axis first."""
    check_devices_map([params["axis_name"]])
    if not tiled:
        pieces = [with_axis(avals[0], all_gather_dimension, 1)]
        args, avals = [emitter.emit(emit_operation("reshape", args, "", "", avals, pieces))], pieces
    attributes = f"all_gather_dim = {all_gather_dimension} : i64, {ALL_REPLICAS}"
    return [emitter.emit(emit_operation("all_gather", args, attributes, "", avals, out_avals))]


def axis_index_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, axis_name: Any
) -> list[str]:
    check_devices_map([axis_name])
    number = emitter.emit("stablehlo.replica_id : tensor<ui32>")
    return [emitter.emit(f"stablehlo.convert {number} : (tensor<ui32>) -> tensor<i32>")]


hlo_lowerings[psum_p] = psum_hlo
hlo_lowerings[all_gather_p] = all_gather_hlo
hlo_lowerings[axis_index_p] = axis_index_hlo


# The call primitive -------------------------------------------------------------------------------
#
# Its parameter `jaxpr` is the program of one example; the operands are whole arrays. `in_axes` and
# `out_axes` say, for each operand and result, which axis counts the examples; None if there is
# none. `axis_name` and `axis_size` describe that axis, and `devices` are those that run.

pmap_p = CallPrimitive("pmap", multiple_results=True)

Axes = Sequence[int | None]


def pmap_call(
    jaxpr: ClosedJaxpr, args: Values, *, in_axes: Axes, out_axes: Axes, **params: Any
) -> list[Value]:
    """Bind `pmap_p`. If a constant is a tracer, all become arguments that the examples share."""
    if any(isinstance(const, Tracer) for const in jaxpr.consts):
        in_axes = [*(None for _ in jaxpr.consts), *in_axes]
        args = [*jaxpr.consts, *args]
        jaxpr = ClosedJaxpr(without_consts(jaxpr.jaxpr), [])
    axes = {"in_axes": tuple(in_axes), "out_axes": tuple(out_axes)}
    return pmap_p.bind(*args, jaxpr=jaxpr, **axes, **params)


def inside(axis_name: Any, axis_size: int, **params: Any) -> Any:
    """A `with` block in which programs of one example can be traced."""
    return mapped_axis(AxisSize(axis_size, axis_name), None)


def with_axis(aval: ShapedArray, axis: int | None, axis_size: int) -> ShapedArray:
    """The type of a whole array, from that of one example."""
    if axis is None:
        return raise_to_shaped(aval)
    shape = (*aval.shape[:axis], axis_size, *aval.shape[axis:])
    return ShapedArray(shape, aval.dtype, aval.weak_type)


def whole_avals(avals: Sequence[ShapedArray], axes: Axes, axis_size: int) -> list[ShapedArray]:
    return [with_axis(aval, axis, axis_size) for aval, axis in zip(avals, axes, strict=True)]


def pmap_type(
    *avals: ShapedArray,
    jaxpr: ClosedJaxpr,
    in_axes: Axes,
    out_axes: Axes,
    axis_size: int,
    **params: Any,
) -> list[ShapedArray]:
    """Results of one example, with the mapped axis; and operands of which it takes one example."""
    wanted = whole_avals(jaxpr.in_avals, in_axes, axis_size)
    if [(a.shape, a.dtype) for a in avals] != [(a.shape, a.dtype) for a in wanted]:
        takes, gets = (", ".join(map(str, types)) for types in (wanted, avals))
        raise TypeError(f"pmap takes ({takes}) and is called with ({gets})")
    return whole_avals(jaxpr.out_avals, out_axes, axis_size)


abstract_eval_rules[pmap_p] = pmap_type


# The call primitive: evaluation -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cut(Kind):
    """The kind of an array that is cut along `axis`: each device has a piece, of length 1 there.

    It stays on its devices until the whole of it is wanted; the next `pmap` takes the pieces.
    """

    axis: int

    def device(self) -> Any:
        return self.on[0] if len(self.on) == 1 else xla.sharding(self.on, self.axis, self.rank)

    @property
    def rank(self) -> int:
        return len(self.aval.shape)

    def copied_to_host(self, buffer: Value) -> np.ndarray:
        return xla.to_host(buffer, self.on, self.axis)

    def buffer_on(self, x: ArrayImpl, devices: xla.Devices) -> Any:
        """The whole array; on the same devices, these tell each other their pieces."""
        if devices == self.on:
            return joined(x, self).buffer
        return super().buffer_on(x, devices)


def cut_of(x: Value) -> Cut | None:
    """How `x` is cut; None if it is not."""
    return x.kind if type(x) is ArrayImpl and type(x.kind) is Cut else None


@functools.cache
def kind_of_pieces(aval: ShapedArray, on: xla.Devices, axis: int) -> Cut:
    return Cut(aval, on, True, axis)


def joined(x: ArrayImpl, cut: Cut) -> ArrayImpl:
    """The array, whole on each of its devices: `all_gather`, whose result all share."""
    size = len(cut.on)
    jaxpr = gathering(remove_axis(cut.aval, cut.axis), cut.axis, size)
    params = {"axis_name": UNNAMED, "axis_size": size, "devices": cut.on}
    (whole,) = pmap_impl(x, jaxpr=jaxpr, in_axes=(cut.axis,), out_axes=(None,), **params)
    return whole


@functools.cache
def gathering(aval: ShapedArray, axis: int, size: int) -> ClosedJaxpr:
    with inside(UNNAMED, size):
        return trace_to_jaxpr(lambda x: [all_gather(x, UNNAMED, axis=axis)], [aval])


def pmap_impl(
    *args: Value, jaxpr: ClosedJaxpr, in_axes: Axes, out_axes: Axes, **params: Any
) -> list[Value]:
    """Give each device its piece, and run the same program on all of them."""
    program = compiled_replicas(jaxpr, in_axes, out_axes, **params)
    size, on = params["axis_size"], program.executable.devices
    in_avals, out_avals = (
        whole_avals(avals, axes, size)
        for avals, axes in ((jaxpr.in_avals, in_axes), (jaxpr.out_avals, out_axes))
    )
    inputs = [to_pieces(*x, on) for x in zip(in_avals, args, in_axes, strict=True)]
    outs = xla.run(program.executable, [*program.captured, *inputs])
    return [
        array_of(aval, out, on, program.committed)
        if axis is None
        else kind_of_pieces(aval, on, axis).result_maker()(out)
        for aval, out, axis in zip(out_avals, outs, out_axes, strict=True)
    ]


def to_pieces(aval: ShapedArray, x: Value, axis: int | None, devices: xla.Devices) -> Value:
    """A buffer with a piece of `x` for each device. If it is cut in that way already, `x`'s own."""
    if axis is None:
        return to_buffer(aval, x, devices)
    cut = cut_of(x)
    if cut and (cut.on, cut.axis) == (devices, axis):
        return x.buffer
    return xla.to_device(aval, x, devices, axis)


@kept_beside
def compiled_replicas(
    jaxpr: ClosedJaxpr, in_axes: Axes, out_axes: Axes, *, devices: xla.Devices, **params: Any
) -> Compiled:
    """The program of a replica, compiled for these devices; kept beside that of one example."""
    with inside(**params):
        text, emitter = lower(replica_program(jaxpr, in_axes, out_axes, **params))
    captured = [to_buffer(raise_to_shaped(get_aval(x)), x, devices) for x in emitter.captured]
    avals = whole_avals(jaxpr.out_avals, out_axes, len(devices))
    executable = xla.compile_text(text, devices, avals, out_axes)
    return Compiled(executable, captured, committed=True)


def replica_program(
    jaxpr: ClosedJaxpr, in_axes: Axes, out_axes: Axes, **params: Any
) -> ClosedJaxpr:
    """The program that each device runs: that of one example, from pieces to pieces.

    A piece still has the mapped axis, with length 1; it is in `in_axes` or `out_axes`, None if all
    devices have the whole. Weak types stay weak. `params` name the axis of the collectives in
    `jaxpr`.

    >>> f64 = ShapedArray((), np.dtype("float64"))
    >>> double = trace_to_jaxpr(lambda x: [x * 2.0], [f64])
    >>> program = replica_program(double, (0,), (0,), axis_name="i", axis_size=4)
    >>> print(program.in_avals[0], program.out_avals[0])
    float64[1] float64[1]
    """

    def replica(*pieces: Any) -> list[Any]:
        pairs = zip(pieces, in_axes, strict=True)
        examples = [x if axis is None else squeeze(x, (axis,)) for x, axis in pairs]
        outs = zip(eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *examples), out_axes, strict=True)
        return [x if axis is None else expand_dims(x, (axis,)) for x, axis in outs]

    with inside(**params):
        return trace_to_jaxpr(replica, whole_avals(jaxpr.in_avals, in_axes, axis_size=1))


impl_rules[pmap_p] = pmap_impl


# The call primitive: inside a compiled program ----------------------------------------------------


def pmap_hlo(
    emitter: Emitter,
    avals: Sequence[ShapedArray],
    out_avals: Any,
    args: Sequence[str],
    *,
    jaxpr: ClosedJaxpr,
    in_axes: Axes,
    out_axes: Axes,
    devices: xla.Devices,
    **params: Any,
) -> list[str]:
    """All devices run the whole program; in this part of it, each looks after its own example.

    Outside it they compute the same. The results of the part are gathered, so that all devices have
    all of them.
    """

    def own_part(*arrays: Value) -> list[Value]:
        name, pairs = params["axis_name"], zip(arrays, in_axes, strict=True)
        place = axis_index(name)
        examples = [
            x if axis is None else dynamic_index_in_dim(x, place, axis, keepdims=False)
            for x, axis in pairs
        ]
        outs = zip(eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *examples), out_axes, strict=True)
        return [x if axis is None else all_gather(x, name, axis=axis) for x, axis in outs]

    emitter.places[devices] = "pmap"
    with inside(**params):
        closed = trace_to_jaxpr(own_part, [raise_to_shaped(aval) for aval in avals])
        return lower_body(emitter, closed.jaxpr, args, closed.consts)


hlo_lowerings[pmap_p] = pmap_hlo


# The call primitive: transform the program of one example, and call the new one -------------------


def pmap_jvp(
    primals: Values,
    tangents: Sequence[Tangent],
    *,
    jaxpr: ClosedJaxpr,
    in_axes: Axes,
    out_axes: Axes,
    **params: Any,
) -> tuple[list[Any], list[Any]]:
    """Values and tangents of a call of `pmap_p`: two lists, with an item for each result.

    One call computes both: it takes the primals, then the tangents that are not None, each with the
    mapped axis of its primal. A floating-point result always has a tangent, even if nothing moves;
    any other result has None.

    >>> with inside("i", 1):
    ...     jaxpr = trace_to_jaxpr(lambda x: [x * x], [ShapedArray((), np.dtype("float64"))])
    >>> params = {"axis_name": "i", "axis_size": 1, "devices": devices_for(1, None)}
    >>> xs, ts = [np.array([3.0])], [np.array([10.0])]
    >>> pmap_jvp(xs, ts, jaxpr=jaxpr, in_axes=(0,), out_axes=(0,), **params)
    ([Array([9.], dtype=float64)], [Array([60.], dtype=float64)])
    """
    moving = [axis for axis, t in zip(in_axes, tangents, strict=True) if t is not None]
    pairs = zip(out_axes, jaxpr.out_avals, strict=True)
    floats = [axis for axis, aval in pairs if is_float(aval.dtype)]
    rebind = functools.partial(
        pmap_call, in_axes=[*in_axes, *moving], out_axes=[*out_axes, *floats], **params
    )
    with inside(**params):
        return call_jvp(rebind, primals, tangents, jaxpr)


def pmap_batch(
    batch_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    jaxpr: ClosedJaxpr,
    in_axes: Axes,
    out_axes: Axes,
    **params: Any,
) -> tuple[list[Any], list[Any]]:
    """An operand has two mapped axes now: one that is cut, and a batch axis in each piece."""
    places = [mapped_and_batch(*axes) for axes in zip(in_axes, dims, strict=True)]
    avals = [
        get_aval(x) if axis is None else remove_axis(get_aval(x), axis)
        for x, (axis, _) in zip(vals, places, strict=True)
    ]
    with inside(**params):
        program, piece_dims = batched_jaxpr(jaxpr, batch_size, [dim for _, dim in places], avals)
    places_out = [with_mapped(*axes) for axes in zip(out_axes, piece_dims, strict=True)]
    axes = {"in_axes": [a for a, _ in places], "out_axes": [a for a, _ in places_out]}
    return pmap_call(program, vals, **axes, **params), [dim for _, dim in places_out]


def mapped_and_batch(axis: int | None, dim: Any) -> tuple[int | None, Any]:
    """The mapped axis of a batch of arrays, and the batch axis of a piece of that.

    `axis` is the mapped axis of one array, and `dim` the batch axis of the batch of arrays.

    >>> mapped_and_batch(0, 0), mapped_and_batch(0, 1)
    ((1, 0), (0, 0))
    """
    if axis is None or isinstance(dim, NotMapped):
        return axis, dim
    axis += dim <= axis
    return axis, dim - (axis < dim)


def with_mapped(axis: int | None, dim: Any) -> tuple[int | None, Any]:
    """The mapped axis and the batch axis of the whole, from those of one array and of a piece.

    >>> with_mapped(0, 0), with_mapped(1, 0)
    ((0, 1), (2, 0))
    """
    if axis is None or isinstance(dim, NotMapped):
        return axis, dim
    axis += dim < axis
    return axis, dim + (axis <= dim)


def pmap_partial_eval(
    trace: PartialEvalTrace,
    tracers: Sequence[PartialEvalTracer],
    *,
    jaxpr: ClosedJaxpr,
    in_axes: Axes,
    out_axes: Axes,
    **params: Any,
) -> list[Any]:
    """Call the known part now. Its residuals stay on the devices, stacked along a new axis 0."""
    is_known = tuple(t.pval.is_known for t in tracers)
    with inside(**params):
        known_part, rest, out_known = partial_eval_jaxpr(jaxpr, is_known)
    known_in, unknown_in = chosen(in_axes, is_known), chosen(in_axes, opposite(is_known))
    known_out, unknown_out = chosen(out_axes, out_known), chosen(out_axes, opposite(out_known))
    stacked = [0] * (len(known_part.out_avals) - len(known_out))
    args = [t.pval.const for t in tracers if t.pval.is_known]
    outs = pmap_call(known_part, args, in_axes=known_in, out_axes=[*known_out, *stacked], **params)
    values, residuals = groups(outs, len(known_out))
    axes = {"in_axes": (*stacked, *unknown_in), "out_axes": tuple(unknown_out)}
    inputs = [*map(trace.pure, residuals), *(t for t in tracers if not t.pval.is_known)]
    later = trace.stage_out(pmap_p, inputs, {"jaxpr": rest, **axes, **params})
    return filled(out_known, values, later)


def pmap_transpose(
    cts: Values,
    *args: Value,
    jaxpr: ClosedJaxpr,
    in_axes: Axes,
    out_axes: Axes,
    **params: Any,
) -> list[Value]:
    """Run the program of one example backwards, on each device for its own example.

    An operand that all share has the sum of their cotangents. A result that all share was counted
    once, and not once for each: of its cotangent, each device gets its share.
    """
    size = params["axis_size"]
    avals = whole_avals(jaxpr.out_avals, out_axes, size)
    full = [instantiate(ct, aval) for ct, aval in zip(cts, avals, strict=True)]
    pairs = zip(full, out_axes, strict=True)
    full = [div(ct, np.asarray(size, ct.dtype)) if axis is None else ct for ct, axis in pairs]
    is_linear = [isinstance(x, UndefPrimal) for x in args]
    linear, known = chosen(in_axes, is_linear), chosen(in_axes, opposite(is_linear))

    def backwards(program: ClosedJaxpr, inputs: Sequence[Any]) -> list[Any]:
        summed = shared_summed(program, linear, params["axis_name"])
        axes = {"in_axes": [*known, *out_axes], "out_axes": linear}
        return pmap_call(summed, inputs, **axes, **params)

    with inside(**params):
        return call_transpose(backwards, full, args, jaxpr)


def shared_summed(program: ClosedJaxpr, out_axes: Axes, axis_name: Any) -> ClosedJaxpr:
    """A program that returns the sum over all examples of what they share."""

    def with_sums(*args: Value) -> list[Value]:
        outs = zip(eval_jaxpr(program.jaxpr, program.consts, *args), out_axes, strict=True)
        return [psum(x, axis_name) if axis is None else x for x, axis in outs]

    return derived(program, ("shared", tuple(out_axes)), with_sums, program.in_avals)


jvp_rules[pmap_p] = pmap_jvp
vmap_rules[pmap_p] = pmap_batch
partial_eval_rules[pmap_p] = pmap_partial_eval
transpose_rules[pmap_p] = pmap_transpose


# pmap ---------------------------------------------------------------------------------------------

UNNAMED = "_pmap_axis"  # the name of an axis that has none


def pmap(
    fun: Callable[..., Any],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[xla.Device] | None = None,
    axis_size: int | None = None,
) -> Pmapped:
    """`fun` on many devices, an example on each. Counterpart: `jax.pmap`.

    `in_axes` and `out_axes` are those of `vmap`, but for axes that are counted from the end. There
    must be a device for each example: the first ones of `devices`, or of `minijax.devices()`. The
    CPU is one device, unless the environment variable `XLA_FLAGS`, before Python starts, says
    `--xla_force_host_platform_device_count=8`.

    A result whose `out_axes` is None must be the same in all examples; it comes once, without a
    mapped axis. The arguments of `static_broadcasted_argnums` are not mapped: `fun` sees their
    values. By `axis_name`, it can use collectives. Results stay on the devices, in pieces.

    >>> pmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([5.0]))
    Array([1.], dtype=float64)
    """
    check_callable(fun)
    if devices is not None and not devices:
        raise ValueError("'devices' argument to pmap must be non-empty, or None.")
    for what, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        if not all(type(axis) is int for axis in tree_flatten(axes)[0]):
            raise TypeError(f"pmap {what} must be an int, None, or containers of them; got {axes}.")
    argnums = static_broadcasted_argnums
    static = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    return Pmapped(fun, axis_name, in_axes, out_axes, static, devices, axis_size)


class Pmapped:
    """A function that is traced once for each type of its arguments, and runs on many devices."""

    def __init__(
        self,
        fun: Callable[..., Any],
        axis_name: Any,
        in_axes: Any,
        out_axes: Any,
        static: tuple[int, ...],
        devices: Sequence[xla.Device] | None,
        axis_size: int | None,
    ) -> None:
        functools.update_wrapper(self, fun)
        self.fun, self.axis_name = fun, UNNAMED if axis_name is None else axis_name
        self.in_axes, self.out_axes, self.static = in_axes, out_axes, static
        self.devices, self.axis_size = devices, axis_size
        self.programs: dict[Any, tuple[ClosedJaxpr, PyTreeDef, list[int | None]]] = {}

    def __call__(self, *args: Value, **kwargs: Any) -> Value:
        leaves, out_tree, params = self.program(args, kwargs)
        check_layout(leaves, params["in_axes"], params["devices"])
        return tree_unflatten(out_tree, pmap_call(args=leaves, **params))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a method of a class, called with the instance first."""
        return self if instance is None else types.MethodType(self, instance)

    def lower(self, *args: Value, **kwargs: Any) -> Lowered:
        """The StableHLO module that each replica runs."""
        _, _, params = self.program(args, kwargs)
        del params["devices"]
        with mapped_axis(AxisSize(params["axis_size"], params["axis_name"]), None):
            return Lowered(lower(replica_program(**params))[0])

    def program(
        self, args: tuple[Value, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], PyTreeDef, dict[str, Any]]:
        """The operands and the parameters of `pmap_p`, and the structure of its results."""
        static, dynamic, in_axes = self.dynamic_args(args, kwargs)
        leaves, in_tree = tree_flatten(dynamic)
        avals = [raise_to_shaped(get_aval(x)) for x in leaves]
        size = mapped_size(avals, in_axes, self.axis_size)
        key = (in_tree, static, tuple(avals), tuple(in_axes), axis_sizes())
        if key not in self.programs:
            pairs = zip(avals, in_axes, strict=True)
            examples = [aval if axis is None else remove_axis(aval, axis) for aval, axis in pairs]
            self.programs[key] = self.trace(
                without_static(self.fun, static), in_tree, examples, size
            )
        jaxpr, out_tree, out_axes = self.programs[key]
        params = {
            "jaxpr": jaxpr,
            "in_axes": tuple(in_axes),
            "out_axes": tuple(out_axes),
            "axis_name": self.axis_name,
            "axis_size": size,
            "devices": devices_for(size, self.devices),
        }
        return leaves, out_tree, params

    def dynamic_args(
        self, args: tuple[Value, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, tuple[list[Any], dict[str, Any]], list[int | None]]:
        """The static arguments, the others, and the mapped axis of each leaf of these."""
        if any(place >= len(args) for place in self.static):
            raise ValueError(
                f"pmapped function has static_broadcasted_argnums={self.static} but was called "
                f"with only {len(args)} positional argument(s)."
            )
        static, (positional, named) = split_static(self.static, (), args, kwargs)
        in_axes = self.in_axes
        if isinstance(in_axes, list):
            raise ValueError(f"pmap in_axes of several arguments must be a tuple; got {in_axes}.")
        if isinstance(in_axes, tuple):
            in_axes = tuple(axis for i, axis in enumerate(in_axes) if i not in self.static)
        axes = flat_axes("in_axes", in_axes, tuple(positional)) + flat_axes("in_axes", 0, named)
        return static, (positional, named), axes

    def trace(
        self, fun: Callable[..., Any], in_tree: PyTreeDef, avals: Sequence[ShapedArray], size: int
    ) -> tuple[ClosedJaxpr, PyTreeDef, list[int | None]]:
        """The program of one example, the structure of its results, and their mapped axes."""
        if any(frame.main is None for frame in axis_env.frames):
            raise ValueError("pmap inside pmap is not supported. Use vmap for the inner one.")
        flat_fun, out_tree = flatten_fun(fun, in_tree)
        with inside(self.axis_name, size):
            closed = trace_to_jaxpr(flat_fun, avals)
        results = tree_unflatten(out_tree(), closed.out_avals)
        out_axes = flat_axes("out_axes", self.out_axes, results)
        for axis, aval in zip(out_axes, closed.out_avals, strict=True):
            check_axis("out_axes", axis, len(aval.shape) + 1)
        return closed, out_tree(), out_axes


def check_axis(what: str, axis: int | None, rank: int) -> None:
    if axis is not None and not 0 <= axis < rank:
        raise ValueError(f"pmap {what} must count an axis from the front; got {axis} of {rank}.")


def mapped_size(avals: Sequence[ShapedArray], in_axes: Axes, given: int | None) -> int:
    """The number of examples: the length of the mapped axes.

    `in_axes` has the mapped axis of each operand, or None. `ValueError` if nothing is mapped, if an
    operand lacks its axis (counted from the front), if lengths differ from each other or from
    `given`, unless that is None, and if there are no examples.

    >>> matrix, vector = (ShapedArray(shape, np.dtype("float64")) for shape in [(3, 8), (8,)])
    >>> mapped_size([matrix, vector, matrix], [1, 0, None], None)
    8
    """
    mapped = [(aval, axis) for aval, axis in zip(avals, in_axes, strict=True) if axis is not None]
    for aval, axis in mapped:
        check_axis("in_axes", axis, len(aval.shape))
    sizes = {aval.shape[axis] for aval, axis in mapped}
    if not mapped:
        raise ValueError("pmap requires at least one argument with a mapped axis.")
    if len(sizes | ({given} - {None})) > 1 or 0 in sizes:
        expected = "" if given is None else f" that is axis_size={given}"
        raise ValueError(f"pmap needs mapped axes of one size{expected}; got {sorted(sizes)}.")
    return sizes.pop()


def devices_for(size: int, given: Sequence[xla.Device] | None) -> xla.Devices:
    """As many devices as examples."""
    found = tuple(xla.devices() if given is None else given)
    if size > len(found):
        raise ValueError(
            f"compiling computation that requires {size} logical devices, but only {len(found)} "
            "XLA devices are available. For more of them, set the environment variable "
            f"XLA_FLAGS=--xla_force_host_platform_device_count={size} before Python starts."
        )
    return found[:size]


def check_layout(leaves: Values, in_axes: Axes, devices: xla.Devices) -> None:
    """What lies in pieces on these devices must be cut as the call wants it; as in JAX 0.10."""
    if trace_state.dynamic_trace is not None:
        return
    for x, axis in zip(leaves, in_axes, strict=True):
        cut = cut_of(x)
        if cut and cut.on == devices and cut.axis != axis:
            raise ValueError(
                f"pmap was given an array that is cut along axis {cut.axis}, but in_axes={axis}. "
                "Give the two axes the same number, or pass a copy: numpy.asarray(x)."
            )
