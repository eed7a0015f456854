"""Vectorisation: `vmap`, by an interpreter that carries a batch axis through every primitive.

A first cut, with the rules of the few primitives that the whole chain up to `grad` is tried on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minijax.core import (
    NotMapped,
    Primitive,
    ShapedArray,
    Trace,
    Tracer,
    add_p,
    broadcast_in_dim_p,
    full_lower,
    full_raise,
    get_aval,
    get_rule,
    mul_p,
    new_main,
    not_mapped,
    reduce_sum_p,
    vmap_rules,
)
from minijax.lax.basic import broadcast_in_dim, transpose
from minijax.tree import flatten_fun, tree_flatten, tree_unflatten

BatchAxis = int | NotMapped


def remove_axis(aval: ShapedArray, axis: BatchAxis) -> ShapedArray:
    """The type of one example of a batch."""
    if isinstance(axis, NotMapped):
        return aval
    shape = (*aval.shape[:axis], *aval.shape[axis + 1 :])
    return ShapedArray(shape, aval.dtype, aval.weak_type)


def move_batch_axis(axis_size: int, src: BatchAxis, dst: int, x: Any) -> Any:
    """`x` with its batch axis at `dst`; a value without one is repeated `axis_size` times."""
    shape = get_aval(x).shape
    if isinstance(src, NotMapped):
        batched = (*shape[:dst], axis_size, *shape[dst:])
        return broadcast_in_dim(x, batched, [i for i in range(len(batched)) if i != dst])
    order = [i for i in range(len(shape)) if i != src]
    order.insert(dst, src)
    return transpose(x, order)


class BatchTracer(Tracer):
    """A batch of values, `val`, stacked along `batch_dim`; what users see is one of them."""

    def __init__(self, trace: Trace, val: Any, batch_dim: BatchAxis) -> None:
        self._trace = trace
        self.val = val
        self.batch_dim = batch_dim

    @property
    def aval(self) -> ShapedArray:
        aval = get_aval(self.val)
        return remove_axis(aval, self.batch_dim)

    def full_lower(self) -> Any:
        return full_lower(self.val) if self.batch_dim is not_mapped else self


class BatchTrace(Trace):
    """Applies each primitive to whole batches, by its rule in `vmap_rules`."""

    def pure(self, val: Any) -> BatchTracer:
        return BatchTracer(self, val, not_mapped)

    lift = pure

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[BatchTracer], params: dict[str, Any]
    ) -> Any:
        vals, dims = [t.val for t in tracers], [t.batch_dim for t in tracers]
        rule = get_rule(vmap_rules, primitive, "Batching rule")
        vals_out, dims_out = rule(self.main.global_data, vals, dims, **params)
        if not primitive.multiple_results:
            return BatchTracer(self, vals_out, dims_out)
        return [BatchTracer(self, x, d) for x, d in zip(vals_out, dims_out, strict=True)]


def binary_batch(
    primitive: Primitive, axis_size: int, vals: Sequence[Any], dims: Sequence[BatchAxis]
) -> tuple[Any, int]:
    """Both operands with the batch axis in front, and of the same rank behind it."""
    x, y = (move_batch_axis(axis_size, dim, 0, val) for val, dim in zip(vals, dims, strict=True))
    rank = max(get_aval(x).shape, get_aval(y).shape, key=len)
    return primitive.bind(pad_rank(x, len(rank)), pad_rank(y, len(rank))), 0


def pad_rank(x: Any, rank: int) -> Any:
    """`x` with axes of length 1 put in behind its batch axis."""
    shape = get_aval(x).shape
    missing = rank - len(shape)
    if not missing:
        return x
    axes = [0, *range(1 + missing, rank)]
    return broadcast_in_dim(x, (shape[0], *(1,) * missing, *shape[1:]), axes)


def reduce_sum_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, axes: tuple[int, ...]
) -> tuple[Any, int]:
    (x,), (dim,) = vals, dims
    x = move_batch_axis(axis_size, dim, 0, x)
    return reduce_sum_p.bind(x, axes=tuple(axis + 1 for axis in axes)), 0


def broadcast_in_dim_batch(
    axis_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    shape: tuple[int, ...],
    broadcast_dimensions: tuple[int, ...],
) -> tuple[Any, int]:
    (x,), (dim,) = vals, dims
    x = move_batch_axis(axis_size, dim, 0, x)
    axes = (0, *(axis + 1 for axis in broadcast_dimensions))
    return broadcast_in_dim(x, (axis_size, *shape), axes), 0


def rule_with(primitive: Primitive, rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda axis_size, vals, dims, **params: rule(primitive, axis_size, vals, dims, **params)


for _p in (add_p, mul_p):
    vmap_rules[_p] = rule_with(_p, binary_batch)
vmap_rules[reduce_sum_p] = reduce_sum_batch
vmap_rules[broadcast_in_dim_p] = broadcast_in_dim_batch


def vmap_flat(
    f: Callable[..., list[Any]], axis_size: int, in_dims: Sequence[BatchAxis], args: Sequence[Any]
) -> list[Any]:
    """`f` over a batch; every result has its batch axis in front."""
    with new_main(BatchTrace, axis_size) as main:
        trace = BatchTrace(main)
        tracers = [
            x if dim is not_mapped else BatchTracer(trace, x, dim)
            for x, dim in zip(args, in_dims, strict=True)
        ]
        outs = [full_raise(trace, out) for out in f(*tracers)]
        return [move_batch_axis(axis_size, t.batch_dim, 0, t.val) for t in outs]


def vmap(f: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """`f` for a whole batch at once. For now one axis per argument, and `out_axes=0`."""
    if out_axes != 0:
        raise NotImplementedError("vmap takes out_axes=0 only, so far.")

    def batched_f(*args: Any) -> Any:
        axes = (in_axes,) * len(args) if isinstance(in_axes, int) else tuple(in_axes)
        flat, dims = [], []
        for arg, axis in zip(args, axes, strict=True):
            leaves = tree_flatten(arg)[0]
            flat += leaves
            dims += [not_mapped if axis is None else axis] * len(leaves)
        sizes = {
            get_aval(x).shape[dim]
            for x, dim in zip(flat, dims, strict=True)
            if not isinstance(dim, NotMapped)
        }
        if len(sizes) != 1:
            raise ValueError(f"vmap needs one size for all mapped axes, and got {sorted(sizes)}.")
        flat_f, out_tree = flatten_fun(f, tree_flatten(args)[1])
        outs = vmap_flat(flat_f, sizes.pop(), dims, flat)
        return tree_unflatten(out_tree(), outs)

    return batched_f
