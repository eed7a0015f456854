"""One program on many devices: `pmap`, and the operations by which its copies communicate.

`pmap(f)(xs)` maps `f` over an axis as `vmap` does, but in a different way. `vmap` rewrites `f` so
that one device computes all examples at once. `pmap` leaves `f` unchanged: every device gets one
example and the same program ("single program, multiple data"). The copies of the program, its
*replicas*, run at the same time, and meet in *collectives*: operations such as `psum`, by which
each of them learns the sum over all.

A collective names the axis along which it works, and does not care which transformation maps it.
Under `pmap` it becomes communication between devices; under `vmap` the whole axis is one array on
one device, and `psum` is an ordinary sum.

The collectives are in `minijax/collectives.py`, the call primitive and arrays in pieces in
`minijax/pieces.py`, and what `pmap` does with a user's arguments in `minijax/pmapped.py`. This file
reads from top to bottom: the rules of the collectives, how a call is evaluated, and its rules.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax import xla
from minijax.axis_env import AxisSize, axis_frame, mapped_axis, name_of  # noqa: F401 (answers)
from minijax.collectives import (
    all_gather,
    all_gather_p,
    axis_index,
    axis_index_p,  # noqa: F401 (answers may ask for it)
    mul_by,
    psum,
    psum_p,
    with_axis,  # noqa: F401 (answers may ask for it)
)
from minijax.core import (
    NotMapped,
    ShapedArray,
    Tangent,
    UndefPrimal,
    Value,
    Values,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    not_mapped,
    partial_eval_rules,
    transpose_rules,
    vmap_rules,
)
from minijax.dtypes import is_float
from minijax.jaxpr import ClosedJaxpr, eval_jaxpr, kept_beside, raise_to_shaped
from minijax.jit import Compiled, batched_jaxpr, call_jvp, derived, lower, lower_body
from minijax.jvp import instantiate
from minijax.lax.basic import convert_element_type, div, mul, reduce_sum  # noqa: F401 (answers)
from minijax.lax.dynamic import dynamic_index_in_dim, dynamic_slice_in_dim
from minijax.lax.shapes import expand_dims, reshape, squeeze
from minijax.linearize import PartialEvalTrace, PartialEvalTracer, partial_eval_jaxpr
from minijax.lowering import Emitter
from minijax.marks import chosen, filled, groups, opposite
from minijax.pieces import (
    Axes,
    inside,
    kind_of_pieces,
    pmap_call,
    pmap_p,
    to_pieces,
    whole_avals,
    with_mapped,
)
from minijax.placement import array_of, to_buffer
from minijax.tracing import trace_to_jaxpr
from minijax.transpose import call_transpose
from minijax.vmap import move_batch_axis, remove_axis

# Collectives under vmap: if it maps the axis that they name, all examples are at hand -------------


def psum_batch(
    batch_size: int, vals: Sequence[Any], dims: Sequence[Any], *, axes: tuple[Any, ...]
) -> tuple[Any, Any]:
    """The sum over named axes, for all examples of a `vmap` at once, and its batch axis.

    `vals` and `dims` hold the operand and its batch axis. If it has none, all examples have the
    same value. A sum that all share is `not_mapped`; any other keeps its batch axis in place. At
    most one `psum` is bound, over names in the order of `axes`, which names no axis twice. The
    dtype does not change, but a weak type may be lost.

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


def all_gather_batch(
    batch_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    all_gather_dimension: int,
    tiled: bool,
    **params: Any,
) -> tuple[Any, Any]:
    """The values of all examples as one array, for a whole `vmap` at once, and its batch axis.

    `vals` and `dims` hold the operand and its batch axis. Over the axis of this `vmap`, whose name
    is `axis_name`, the examples are stacked along axis `all_gather_dimension` of the result, or
    joined along it with `tiled`, and the result is `not_mapped`. Over any other axis, one
    `all_gather` of whole batches is bound.

    >>> batch = np.array([[1.0, 2.0], [5.0, 9.0]])
    >>> params = {"axis_name": "i", "axis_size": 2, "all_gather_dimension": 0}
    >>> all_gather_batch(AxisSize(2, "i"), [batch], [1], tiled=True, **params)[0]
    Array([1., 5., 2., 9.], dtype=float64)
    """
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


vmap_rules[psum_p] = psum_batch
vmap_rules[all_gather_p] = all_gather_batch


# Collectives backwards ----------------------------------------------------------------------------


def all_gather_transpose(
    ct: Tangent, x: Value, *, all_gather_dimension: int, axis_name: Any, axis_size: int, tiled: bool
) -> list[Value]:
    """The cotangent of the value that one example passed to `all_gather`, in a list of length 1.

    `ct` is this example's cotangent of the gathered array. `x`, an `UndefPrimal`, has the type of
    the value. The result says how the sum of what all examples return moves with the value.

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


transpose_rules[all_gather_p] = all_gather_transpose


# The call: evaluation -----------------------------------------------------------------------------


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


@kept_beside
def compiled_replicas(
    jaxpr: ClosedJaxpr, in_axes: Axes, out_axes: Axes, *, devices: xla.Devices, **params: Any
) -> Compiled:
    """The program of a replica, compiled for these devices; kept with that of one example."""
    text, emitter = lowered_replica(jaxpr, in_axes, out_axes, **params)
    captured = [to_buffer(raise_to_shaped(get_aval(x)), x, devices) for x in emitter.captured]
    avals = whole_avals(jaxpr.out_avals, out_axes, len(devices))
    executable = xla.compile_text(text, devices, avals, out_axes)
    return Compiled(executable, captured, committed=True)


def replica_program(
    jaxpr: ClosedJaxpr, in_axes: Axes, out_axes: Axes, **params: Any
) -> ClosedJaxpr:
    """The program that each device runs, from pieces to pieces; `jaxpr` is for one example.

    An array is cut along its axis in `in_axes` or `out_axes`, into one piece for each device; for
    None, each device has the whole array. Collectives in `jaxpr` work along the axis that `params`
    describe. Weak types stay weak.

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


def lowered_replica(
    jaxpr: ClosedJaxpr, in_axes: Axes, out_axes: Axes, **params: Any
) -> tuple[str, Emitter]:
    """The StableHLO module that each device runs, and the emitter that has written it."""
    with inside(**params):
        return lower(replica_program(jaxpr, in_axes, out_axes, **params))


impl_rules[pmap_p] = pmap_impl


# The call: inside a compiled program --------------------------------------------------------------


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


# The call: transform the program of one example, and call the new one -----------------------------


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

    One call computes both: it takes primals, then the tangents that are not None. Whenever the same
    operands move, the same program is called. A floating-point result always has a tangent, even if
    nothing moves; any other result has None.

    >>> from minijax import devices
    >>> with inside("i", 1):
    ...     jaxpr = trace_to_jaxpr(lambda x: [x * x], [ShapedArray((), np.dtype("float64"))])
    >>> params = {"axis_name": "i", "axis_size": 1, "devices": tuple(devices()[:1])}
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
    """Where a batch of arrays has its mapped axis, and where a piece of it has its batch axis.

    `axis` is the mapped axis of one array, and `dim` the batch axis of the batch. A piece
    is the batch without its mapped axis. If `axis` is None or `dim` is `not_mapped`, both are
    returned unchanged.

    >>> mapped_and_batch(0, 0), mapped_and_batch(0, 1)
    ((1, 0), (0, 0))
    """
    if axis is None or isinstance(dim, NotMapped):
        return axis, dim
    axis += dim <= axis
    return axis, dim - (axis < dim)


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
    cts: Values, *args: Value, jaxpr: ClosedJaxpr, in_axes: Axes, out_axes: Axes, **params: Any
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
