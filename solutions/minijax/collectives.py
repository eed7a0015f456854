"""Collectives, the operations along a named axis: `psum` and its like, as given code.

What a collective returns in one example depends on all of them. Here are the functions, and for
each primitive its type, its derivative, and its StableHLO for several devices. What `vmap` makes of
them, and the transpose of `all_gather`, are in `minijax/pmap.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from minijax.axis_env import AxisPrimitive, axis_frame
from minijax.core import (
    ShapedArray,
    Tangent,
    Tracer,
    Value,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    jvp_rules,
    transpose_rules,
    vmap_rules,
)
from minijax.jaxpr import printed_params, raise_to_shaped
from minijax.jvp import linear_jvp
from minijax.lax.basic import add, convert_element_type, mul
from minijax.lax.defining import emit_operation, emit_region
from minijax.lax.shapes import broadcasted_iota, normal_axis
from minijax.lowering import Emitter
from minijax.numpy.basic import true_divide
from minijax.tree import tree_flatten, tree_map, tree_unflatten

# The operations -----------------------------------------------------------------------------------


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
    same for all examples, and its sum a product: `psum(1, "i")` is the size of the axis, a Python
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
        dimension = normal_axis(axis, len(get_aval(leaf).shape) + (not tiled))
        return all_gather_p.bind(
            leaf, all_gather_dimension=dimension, axis_name=axis_name, axis_size=size, tiled=tiled
        )

    return tree_map(gather, x)


def axis_index(axis_name: Any) -> Any:
    """The position of this example along a named axis, an int32. Counterpart: `jax.lax.axis_index`.

    >>> from minijax.vmap import vmap
    >>> vmap(lambda x: x * axis_index("i"), axis_name="i")(np.array([5.0, 5.0, 5.0]))
    Array([ 0.,  5., 10.], dtype=float64)
    """
    return axis_index_p.bind(axis_name=axis_name)


# Types and derivatives ----------------------------------------------------------------------------


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


def mul_by(x: Value, n: int) -> Value:
    """`x` times a number, in the dtype of `x`."""
    return mul(x, np.asarray(n, get_aval(x).dtype))


def axis_index_batch(
    batch_size: int, vals: Sequence[Any], dims: Sequence[Any], *, axis_name: Any
) -> tuple[Any, int]:
    """0, 1, 2, ...: the examples are in this order. (Another axis's index never comes here.)"""
    return broadcasted_iota(np.int32, (batch_size,), 0), 0


abstract_eval_rules[psum_p] = psum_type
abstract_eval_rules[all_gather_p] = all_gather_type
abstract_eval_rules[axis_index_p] = axis_index_type
jvp_rules[psum_p] = functools.partial(linear_jvp, psum_p)
jvp_rules[all_gather_p] = functools.partial(linear_jvp, all_gather_p)
transpose_rules[psum_p] = psum_transpose
vmap_rules[axis_index_p] = axis_index_batch


def as_printed(params: dict[str, Any]) -> dict[str, Any]:
    """JAX also says that the examples are in no groups, and writes a single name as a tuple."""
    single = {"axis_name": (params["axis_name"],)} if "axis_name" in params else {}
    return {**params, "axis_index_groups": None, **single}


printed_params["psum"] = printed_params["all_gather"] = as_printed


# Communication between devices --------------------------------------------------------------------

ALL_REPLICAS = "replica_groups = dense<> : tensor<0x0xi64>"  # no groups: all of them together


def check_devices_map(names: Sequence[Hashable]) -> None:
    """Between devices, there is communication only along the axis of a `pmap`."""
    for name in names:
        if axis_frame(name).main is not None:
            raise NotImplementedError(
                f"An operation that does not depend on the examples of vmap's axis {name!r} uses a "
                "collective over it. Let one of its operands depend on them."
            )


def all_reduce_hlo(
    join: Callable[..., Any], emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, axes: Any
) -> list[str]:
    """The values of all devices, joined in pairs; without axes, the value itself."""
    if not axes:
        return list(args)
    check_devices_map(axes)
    region = emit_region(emitter, join, [avals[0].dtype] * 2)
    return emit_operation(emitter, "all_reduce", args, avals, out_avals, ALL_REPLICAS, region)


def with_axis(aval: ShapedArray, axis: int | None, axis_size: int) -> ShapedArray:
    """The type of a whole array, from the type of one example."""
    if axis is None:
        return raise_to_shaped(aval)
    shape = (*aval.shape[:axis], axis_size, *aval.shape[axis:])
    return ShapedArray(shape, aval.dtype, aval.weak_type)


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
        args, avals = emit_operation(emitter, "reshape", args, avals, pieces), pieces
    attributes = f"all_gather_dim = {all_gather_dimension} : i64, {ALL_REPLICAS}"
    return emit_operation(emitter, "all_gather", args, avals, out_avals, attributes)


def axis_index_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, axis_name: Any
) -> list[str]:
    check_devices_map([axis_name])
    number = emitter.emit("stablehlo.replica_id : tensor<ui32>")
    return [emitter.emit(f"stablehlo.convert {number} : (tensor<ui32>) -> tensor<i32>")]


hlo_lowerings[psum_p] = functools.partial(all_reduce_hlo, add)
hlo_lowerings[all_gather_p] = all_gather_hlo
hlo_lowerings[axis_index_p] = axis_index_hlo
