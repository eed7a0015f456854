"""The call of a program on many devices, and arrays that are cut into pieces for them.

What the call computes, and its rules, are in `minijax/pmap.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minijax import xla
from minijax.array import ArrayImpl
from minijax.axis_env import AxisSize, mapped_axis
from minijax.collectives import all_gather, with_axis
from minijax.core import (
    NotMapped,
    ShapedArray,
    Tracer,
    Value,
    Values,
    abstract_eval_rules,
    impl_rules,
)
from minijax.jaxpr import ClosedJaxpr
from minijax.jit import CallPrimitive, without_consts
from minijax.placement import Kind, to_buffer
from minijax.tracing import trace_to_jaxpr
from minijax.vmap import remove_axis

# The call primitive -------------------------------------------------------------------------------
#
# Its parameter `jaxpr` is the program of one example; the operands are whole arrays. `in_axes` and
# `out_axes` say, for each operand and result, which axis holds the examples; None if there is
# none. `axis_name` and `axis_size` describe that axis, and `devices` are those that run.

pmap_p = CallPrimitive("pmap", multiple_results=True)
UNNAMED = "_pmap_axis"  # the name of an axis that has none

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


def whole_avals(avals: Sequence[ShapedArray], axes: Axes, axis_size: int) -> list[ShapedArray]:
    return [with_axis(aval, axis, axis_size) for aval, axis in zip(avals, axes, strict=True)]


def with_mapped(axis: int | None, dim: Any) -> tuple[int | None, Any]:
    """Both axes of a whole batch, from the mapped axis of one array and the batch axis of a piece.

    >>> with_mapped(0, 0), with_mapped(1, 0)
    ((0, 1), (2, 0))
    """
    if axis is None or isinstance(dim, NotMapped):
        return axis, dim
    axis += dim < axis
    return axis, dim + (axis <= dim)


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


# Arrays in pieces ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cut(Kind):
    """The kind of an array that is cut along `axis`: each device has a piece, of size 1 there.

    It stays on its devices until all of it is needed; the next `pmap` takes the pieces.
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
        """The whole array; on the same devices, these exchange their pieces."""
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
    (whole,) = impl_rules[pmap_p](x, jaxpr=jaxpr, in_axes=(cut.axis,), out_axes=(None,), **params)
    return whole


@functools.cache
def gathering(aval: ShapedArray, axis: int, size: int) -> ClosedJaxpr:
    with inside(UNNAMED, size):
        return trace_to_jaxpr(lambda x: [all_gather(x, UNNAMED, axis=axis)], [aval])


def to_pieces(aval: ShapedArray, x: Value, axis: int | None, devices: xla.Devices) -> Value:
    """A buffer with a piece of `x` for each device. If it is cut in that way already, `x`'s own."""
    if axis is None:
        return to_buffer(aval, x, devices)
    cut = cut_of(x)
    if cut and (cut.on, cut.axis) == (devices, axis):
        return x.buffer
    return xla.to_device(aval, x, devices, axis)
