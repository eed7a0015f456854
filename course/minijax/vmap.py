"""Vectorisation: `vmap`, by an interpreter that carries a batch axis through every primitive.

`vmap(f)` is what a loop over examples would compute, without the loop: every operation of `f` is
applied once, to the whole batch. A box holds a stack of values and says which axis counts them; to
the function inside, it looks like a single one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.arguments import Argnums, chosen_args, function_of
from minijax.axis_env import AxisSize, mapped_axis
from minijax.core import (
    NotMapped,
    Primitive,
    ShapedArray,
    Trace,
    Tracer,
    add_p,
    broadcast_in_dim_p,
    convert_element_type_p,
    cos_p,
    div_p,
    dot_general_p,
    exp_p,
    full_lower,
    full_raise,
    get_aval,
    get_rule,
    gt_p,
    log_p,
    lt_p,
    mul_p,
    neg_p,
    new_main,
    not_mapped,
    reduce_sum_p,
    sin_p,
    sub_p,
    transpose_p,
    vmap_rules,
)
from minijax.jvp import jvp_flat
from minijax.lax.basic import broadcast_in_dim, transpose
from minijax.tree import flatten_fun, node_type, tree_flatten, tree_unflatten

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
        self.aval = remove_axis(get_aval(val), batch_dim)

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


# The rules: (axis size, values, batch axes) -> (value out, batch axis out) ----------------------


def unary_batch(
    primitive: Primitive, axis_size: int, vals: Sequence[Any], dims: Sequence[Any], **params: Any
) -> tuple[Any, int]:
    """An element-wise operation on a whole batch: the batch axis stays where it is."""
    (x,), (dim,) = vals, dims
    return primitive.bind(x, **params), dim


def binary_batch(
    primitive: Primitive, axis_size: int, vals: Sequence[Any], dims: Sequence[BatchAxis]
) -> tuple[Any, int]:
    """Operands with the batch axis in front, and of one rank; 0-d constants stay as they are."""
    rank = max(len(remove_axis(get_aval(x), d).shape) for x, d in zip(vals, dims, strict=True))
    x, y = (align_operand(axis_size, dim, val, rank) for val, dim in zip(vals, dims, strict=True))
    return primitive.bind(x, y), 0


def align_operand(axis_size: int, dim: BatchAxis, x: Any, rank: int) -> Any:
    """`x` with its batch axis in front, and axes of length 1 behind it to make `rank` more."""
    if dim is not_mapped and not get_aval(x).shape:
        return x
    x = move_batch_axis(axis_size, dim, 0, x)
    shape = get_aval(x).shape
    missing = 1 + rank - len(shape)
    if not missing:
        return x
    axes = [0, *range(1 + missing, 1 + rank)]
    return broadcast_in_dim(x, (shape[0], *(1,) * missing, *shape[1:]), axes)


def reduce_sum_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, axes: tuple[int, ...]
) -> tuple[Any, int]:
    """The axes behind the batch axis have moved by one, and so have those that are summed."""
    (x,), (dim,) = vals, dims
    kept = [i for i in range(len(get_aval(x).shape)) if i != dim]
    axes_out = tuple(sorted(kept[axis] for axis in axes))
    return reduce_sum_p.bind(x, axes=axes_out), dim - sum(axis < dim for axis in axes_out)


def transpose_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, permutation: tuple[int, ...]
) -> tuple[Any, int]:
    """The batch axis goes to the front, the others follow in their new order."""
    (x,), (dim,) = vals, dims
    kept = [i for i in range(len(permutation) + 1) if i != dim]
    return transpose(x, (dim, *(kept[i] for i in permutation))), 0


def broadcast_in_dim_batch(
    axis_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    shape: tuple[int, ...],
    broadcast_dimensions: tuple[int, ...],
) -> tuple[Any, int]:
    """The batch axis in front of the operand is the batch axis in front of the result."""
    (x,), (dim,) = vals, dims
    x = move_batch_axis(axis_size, dim, 0, x)
    axes = (0, *(axis + 1 for axis in broadcast_dimensions))
    return broadcast_in_dim(x, (axis_size, *shape), axes), 0


def dot_general_batch(
    axis_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    dimension_numbers: Any,
    preferred_element_type: Any,
) -> tuple[Any, int]:
    """Two batches have one batch axis more; a single one, an axis more that stays in the result."""
    contract, batch = (
        tuple(axes_behind(dim, axes) for dim, axes in zip(dims, pair, strict=True))
        for pair in dimension_numbers
    )
    mapped = [(side, dim) for side, dim in enumerate(dims) if not isinstance(dim, NotMapped)]
    if len(mapped) == 2:
        batch, out_dim = tuple((dim, *batch[side]) for side, dim in mapped), 0
    else:
        axes = [(side, i) for side, x in enumerate(vals) for i in range(len(get_aval(x).shape))]
        stay = [(side, i) for side, i in axes if i not in (*contract[side], *batch[side])]
        out_dim = len(batch[0]) + stay.index(mapped[0])
    out = dot_general_p.bind(
        *vals,
        dimension_numbers=(contract, batch),
        preferred_element_type=preferred_element_type,
    )
    return out, out_dim


def axes_behind(dim: Any, axes: Sequence[int]) -> tuple[int, ...]:
    """Axes of one example as axes of the batch, whose batch axis `dim` moves later ones on.

    >>> axes_behind(1, (0, 1, 2)), axes_behind(not_mapped, (0, 1, 2))
    ((0, 2, 3), (0, 1, 2))
    """
    return tuple(axes if isinstance(dim, NotMapped) else (i + (i >= dim) for i in axes))


for _p in (neg_p, sin_p, cos_p, exp_p, log_p, convert_element_type_p):
    vmap_rules[_p] = functools.partial(unary_batch, _p)
for _p in (add_p, sub_p, mul_p, div_p, gt_p, lt_p):
    vmap_rules[_p] = functools.partial(binary_batch, _p)
vmap_rules[reduce_sum_p] = reduce_sum_batch
vmap_rules[transpose_p] = transpose_batch
vmap_rules[broadcast_in_dim_p] = broadcast_in_dim_batch
vmap_rules[dot_general_p] = dot_general_batch


# The transformation -----------------------------------------------------------------------------


def vmap_flat(
    f: Callable[..., list[Any]],
    axis_size: int,
    in_dims: Sequence[BatchAxis],
    args: Sequence[Any],
) -> tuple[list[Any], list[BatchAxis]]:
    """`f` over a batch: its results, and the batch axis of each."""
    with new_main(BatchTrace, axis_size) as main, mapped_axis(axis_size, main):
        trace = BatchTrace(main)
        tracers = [
            x if dim is not_mapped else BatchTracer(trace, x, dim)
            for x, dim in zip(args, in_dims, strict=True)
        ]
        outs = [full_raise(trace, out) for out in f(*tracers)]
        return [t.val for t in outs], [t.batch_dim for t in outs]


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """`fun` for a whole batch at once. Counterpart: `jax.vmap`.

    `in_axes` says for each argument which axis counts the examples: an integer, or None for an
    argument that is the same for all; one such entry may stand for a whole container; arguments
    by name are mapped along axis 0. `out_axes` likewise says where the axis goes in the results.
    Mapped axes must have one size (`ValueError`), which is `axis_size` where that is given; without
    mapped arguments it has to be. By `axis_name`, `fun` can speak of the axis (lesson pmap).

    >>> import numpy as np
    >>> vmap(lambda x, y: x * y, in_axes=(0, None))(np.arange(3.0), 2.0)
    array([0., 2., 4.])
    """

    def batched_f(*args: Any, **kwargs: Any) -> Any:
        flat, in_tree = tree_flatten((args, kwargs))
        axes = flat_axes("in_axes", in_axes, args) + flat_axes("in_axes", 0, kwargs)
        in_dims = [normal_axis(axis, get_aval(x)) for axis, x in zip(axes, flat, strict=True)]
        flat_f, out_tree = flatten_fun(lambda xs, named: fun(*xs, **named), in_tree)
        size = AxisSize(common_size(flat, in_dims, axis_size), axis_name)
        outs, out_dims = vmap_flat(flat_f, size, in_dims, flat)
        axes = flat_axes("out_axes", out_axes, tree_unflatten(out_tree(), outs))
        moved = [
            place_axis(size, dim, axis, out)
            for out, dim, axis in zip(outs, out_dims, axes, strict=True)
        ]
        return tree_unflatten(out_tree(), moved)

    return batched_f


def flat_axes(name: str, axes: Any, tree: Any) -> list[int | None]:
    """The axis of each leaf of `tree`; one entry of `axes` may stand for a whole subtree."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(tree_flatten(tree)[0])
    children, axes_of_children = node_children(tree), node_children(axes)
    if children is None or axes_of_children is None or len(children) != len(axes_of_children):
        raise ValueError(f"vmap {name} must be an int, None, or fit the values; got {axes}.")
    pairs = zip(axes_of_children, children, strict=True)
    return [axis for part, child in pairs for axis in flat_axes(name, part, child)]


def node_children(tree: Any) -> list[Any] | None:
    """The children of a container; None if `tree` is a leaf."""
    kind = node_type(tree)
    return None if kind is None else list(kind.to_children(tree)[0])


def normal_axis(axis: int | None, aval: ShapedArray) -> BatchAxis:
    """The axis counted from the front; `not_mapped` for None."""
    if axis is None:
        return not_mapped
    if not -len(aval.shape) <= axis < len(aval.shape):
        raise ValueError(f"vmap was asked to map axis {axis} of an array of type {aval}.")
    return axis % len(aval.shape)


def common_size(args: Sequence[Any], dims: Sequence[BatchAxis], given: int | None) -> int:
    """The one size of all mapped axes, and the given one."""
    pairs = zip(args, dims, strict=True)
    sizes = {get_aval(x).shape[dim] for x, dim in pairs if not isinstance(dim, NotMapped)}
    sizes |= set() if given is None else {given}
    if len(sizes) != 1:
        found = f"sizes {sorted(sizes)}" if sizes else "no mapped argument"
        raise ValueError(f"vmap needs mapped axes of one size, and got {found}.")
    return sizes.pop()


def place_axis(axis_size: int, dim: BatchAxis, axis: int | None, out: Any) -> Any:
    """A result with its batch axis where `out_axes` wants it."""
    if axis is not None:
        rank = len(get_aval(out).shape) + isinstance(dim, NotMapped)
        return move_batch_axis(axis_size, dim, axis % rank, out)
    if dim is not not_mapped:
        raise ValueError("vmap has mapped a result whose out_axes is None.")
    return out


# Jacobians --------------------------------------------------------------------------------------


def check_floats(what: str, tree: Any) -> None:
    """Only floats have derivatives; `what` names the transformation and the part of the call."""
    for leaf in tree_flatten(tree)[0]:
        dtype = get_aval(leaf).dtype
        if not dtypes.is_float(dtype):
            raise TypeError(
                f"{what} must be real-valued, but got {dtypes.short_name(dtype)}. Use floats, as "
                "in 3.0; what is an integer by nature can be an argument outside of argnums."
            )


def check_numbers(what: str, leaves: Sequence[Any]) -> None:
    """Integers may be results of forward mode, as they do not move; booleans may not, as in JAX."""
    check_floats(what, [x for x in leaves if get_aval(x).dtype.kind == "b"])


def check_not_empty(tree: Any) -> None:
    """A Jacobian is taken with respect to something."""
    if not tree_flatten(tree)[0]:
        raise ValueError("A Jacobian needs an argument that holds at least one array.")


def basis(aval: ShapedArray) -> np.ndarray:
    """All arrays of this type with a single one among zeros: `basis(aval)[i, j]` has it at i, j."""
    size = math.prod(aval.shape)
    return np.eye(size, dtype=aval.dtype).reshape(aval.shape + aval.shape)


def jacfwd(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The Jacobian by forward mode: how each entry of the result moves with each of the input.

    A function from shape (3,) to shape (2,) has a Jacobian of shape (2, 3): the axes of the result
    come first. With containers, each leaf of the result becomes a container like the argument (with
    a tuple as `argnums`, a tuple of such). With `has_aux`, `fun` gives (result, anything), and the
    function gives (Jacobian, anything). Counterpart: `jax.jacfwd`.

    >>> jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    def jac_f(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_args(argnums, args)
        check_floats("inputs of jacfwd", chosen)
        check_not_empty(chosen)
        f_of_chosen = function_of(fun, argnums, args, kwargs)
        leaves, in_tree = tree_flatten(chosen)
        flat_f, out_tree = flatten_fun(
            f_of_chosen if has_aux else lambda *xs: (f_of_chosen(*xs), None), in_tree
        )
        columns, values = jacobian_columns(flat_f, leaves)
        y_tree, aux_tree = out_tree().children
        y, aux = values[: y_tree.num_leaves], values[y_tree.num_leaves :]
        check_numbers("outputs of jacfwd", y)
        rows = [tree_unflatten(in_tree, [column[j] for column in columns]) for j in range(len(y))]
        jacobian = tree_unflatten(y_tree, [r[0] if isinstance(argnums, int) else r for r in rows])
        return (jacobian, tree_unflatten(aux_tree, aux)) if has_aux else jacobian

    return jac_f


def jacobian_columns(
    f: Callable[..., list[Any]], xs: Sequence[Any]
) -> tuple[list[list[Any]], list[Any]]:
    """For each of `xs` how the results of `f` move with it, and the results.

    One input at a time, and all its entries at once: `jvp` under one `vmap` for each of its axes.
    The axes of a result come first, and those of the input, in their order, behind them.
    """
    values: list[Any] = []
    columns = []
    for i, x in enumerate(xs):

        def push_forward(tangent: Any, i: int = i) -> tuple[list[Any], list[Any]]:
            tangents = [tangent if j == i else None for j in range(len(xs))]
            return jvp_flat(f, xs, tangents)

        for axis in range(len(get_aval(x).shape)):
            push_forward = vmap(push_forward, in_axes=axis, out_axes=(None, -1))
        values, column = push_forward(basis(get_aval(x)))
        columns.append([own_zeros(ct, y) for ct, y in zip(column, values, strict=True)])
    return columns, values


def own_zeros(tangent: Any, y: Any) -> Any:
    """`tangent`; but where `y` is an integer, zeros of its type instead of float0, as in JAX."""
    dtype = get_aval(y).dtype
    return tangent if dtypes.is_float(dtype) else np.zeros(tangent.shape, dtype)
