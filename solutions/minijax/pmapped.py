"""The function `pmap`: what it does with a user's arguments, as given code.

It traces the function for one example, once for each type of its arguments, and calls the program
on as many devices as there are examples. The call and its rules are in `minijax/pmap.py`.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from minijax import xla
from minijax.arguments import check_callable, split_static, without_static
from minijax.axis_env import axis_env, axis_sizes
from minijax.core import ShapedArray, Value, Values, get_aval, trace_state
from minijax.jaxpr import ClosedJaxpr, raise_to_shaped
from minijax.jit import Lowered
from minijax.pieces import UNNAMED, Axes, cut_of, inside, pmap_call
from minijax.pmap import lowered_replica
from minijax.tracing import trace_to_jaxpr
from minijax.tree import PyTreeDef, flatten_fun, tree_flatten, tree_unflatten
from minijax.vmap import flat_axes, remove_axis


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

    `in_axes` and `out_axes` are those of `vmap`, except for axes that are counted from the end.
    There must be a device for each example: the first ones of `devices`, or of `minijax.devices()`.
    The CPU is one device, unless the environment variable `XLA_FLAGS`, before Python starts, says
    `--xla_force_host_platform_device_count=8`.

    A result whose `out_axes` is None must be the same in all examples; it comes once, without a
    mapped axis. The arguments of `static_broadcasted_argnums` are not mapped: `fun` sees their
    values. By `axis_name`, it can use collectives. Results stay on the devices, in pieces.

    >>> import numpy as np
    >>> from minijax.lax import psum
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
        return Lowered(lowered_replica(**params)[0])

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

    All must have the same length, which is `given`, unless that is None.

    >>> import numpy as np
    >>> matrix, vector = (get_aval(np.zeros(shape)) for shape in [(3, 8), (8,)])
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
