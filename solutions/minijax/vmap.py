"""Vectorization: `vmap`, by an interpreter that carries a batch axis through every primitive.

`vmap(f)` is what a loop over examples would compute, without the loop: every operation of `f` is
applied once, to the whole batch. A box holds a stack of values and says which axis counts them; to
the function inside, it looks like a single one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.arguments import (
    Argnums,
    check_floats,
    check_not_empty,
    check_numbers,
    check_real,
    chosen_args,
    function_of,
    in_place_of,
)
from minijax.array import ArrayImpl
from minijax.axis_env import AxisSize, mapped_axis
from minijax.batch_axes import (
    BatchAxis,
    axes_behind,
    axis_in_product,
    check_axes,
    check_places,
    common_size,
    flat_axes,
    normal_axis,
    remove_axis,
)
from minijax.core import (
    MainTrace,
    NotMapped,
    Primitive,
    ShapedArray,
    Tangent,
    Trace,
    Tracer,
    Value,
    Values,
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
from minijax.lax.basic import broadcast_in_dim, dot_general, reduce_sum, transpose
from minijax.tree import flatten_fun, tree_flatten, tree_unflatten


def move_batch_axis(axis_size: int, src: BatchAxis, dst: int, x: Value) -> Value:
    """`x` with its batch axis at `dst` instead of `src`; the other axes keep their order.

    A `not_mapped` value is repeated `axis_size` times along a new axis at `dst`. A weak type stays.
    Axes count from 0, and `x` may be a tracer. At most one operation is bound, and none if nothing
    moves.

    >>> batch = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])  # three examples of shape (2,)
    >>> move_batch_axis(3, 1, 0, batch)
    Array([[1., 4.],
           [2., 5.],
           [3., 6.]], dtype=float64)
    >>> move_batch_axis(2, not_mapped, 0, np.array([7.0, 8.0, 9.0]))
    Array([[7., 8., 9.],
           [7., 8., 9.]], dtype=float64)
    """
    shape = get_aval(x).shape
    if isinstance(src, NotMapped):
        batched = (*shape[:dst], axis_size, *shape[dst:])
        return broadcast_in_dim(x, batched, [i for i in range(len(batched)) if i != dst])
    order = [i for i in range(len(shape)) if i != src]
    order.insert(dst, src)
    return transpose(x, order)


class BatchTracer(Tracer):
    """A batch of values, `val`, stacked along `batch_dim`; what users see is one of them."""

    def __init__(self, trace: Trace, val: Value, batch_dim: BatchAxis) -> None:
        self._trace = trace
        self.val = val
        self.batch_dim = batch_dim
        self.aval = remove_axis(get_aval(val), batch_dim)

    def full_lower(self) -> Any:
        return full_lower(self.val) if self.batch_dim is not_mapped else self


class BatchTrace(Trace):
    """Applies each primitive to whole batches, by its rule in `vmap_rules`.

    Its `main.global_data` is the number of examples, the same for all batches of one `vmap`.
    """

    def pure(self, val: Value) -> BatchTracer:
        return BatchTracer(self, val, not_mapped)

    def lift(self, val: Value) -> BatchTracer:
        """A box of this interpreter; of the same `vmap`, if a rule has put it on the stack again.

        Then `val` holds a batch of the same examples (its `main` has the same `AxisSize` object).
        """
        size = self.main.global_data
        if isinstance(size, AxisSize) and val._trace.main.global_data is size:
            return BatchTracer(self, val.val, val.batch_dim)
        return self.pure(val)

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[BatchTracer], params: dict[str, Any]
    ) -> Any:
        """The result of an operation on tracers of this trace, as a tracer with its batch axis.

        Value and batch axis are those of the primitive's batching rule. With `multiple_results`,
        returns a list.

        >>> with new_main(BatchTrace, 3) as main:
        ...     trace = BatchTrace(main)
        ...     batch = BatchTracer(trace, np.array([1.0, 2.0, 3.0]), 0)
        ...     out = trace.process_primitive(neg_p, [batch], {})
        ...     print(out, out.val, out.batch_dim)
        BatchTracer<float64[]> [-1. -2. -3.] 0
        """
        vals, dims = [t.val for t in tracers], [t.batch_dim for t in tracers]
        rule = get_rule(vmap_rules, primitive, "Batching rule")
        vals_out, dims_out = rule(self.main.global_data, vals, dims, **params)
        if not primitive.multiple_results:
            return BatchTracer(self, vals_out, dims_out)
        return [BatchTracer(self, x, d) for x, d in zip(vals_out, dims_out, strict=True)]


# The rules: (axis size, values, batch axes) -> (value out, batch axis out) ----------------------
# `params` are those of the operation on one example, with axes counted in one example. At least one
# operand is mapped. Values may be tracers of lower levels, so a rule computes with the functions of
# `lax`.


def unary_batch(
    primitive: Primitive, axis_size: int, vals: Sequence[Any], dims: Sequence[Any], **params: Any
) -> tuple[Any, int]:
    """An elementwise operation on a whole batch: the batch axis stays where it is."""
    (x,), (dim,) = vals, dims
    return primitive.bind(x, **params), dim


def binary_batch(
    primitive: Primitive, axis_size: int, vals: Sequence[Any], dims: Sequence[BatchAxis]
) -> tuple[Any, int]:
    """Operands with a leading batch axis, and the same rank; 0-d constants stay unchanged."""
    rank = max(len(remove_axis(get_aval(x), d).shape) for x, d in zip(vals, dims, strict=True))
    x, y = (align_operand(axis_size, dim, val, rank) for val, dim in zip(vals, dims, strict=True))
    return primitive.bind(x, y), 0


def align_operand(axis_size: int, dim: BatchAxis, x: Value, rank: int) -> Value:
    """An operand of an elementwise operation, with a leading batch axis and `rank` others.

    A `not_mapped` number (0-d) stays unchanged; a `not_mapped` array is repeated. An operation on
    two such operands pairs their examples, and NumPy's rules align the axes within each example. If
    no axis is missing, at most one operation is bound, and none if nothing changes.

    >>> numbers, rows = np.array([1.0, 10.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> align_operand(2, 0, numbers, 1) * align_operand(2, 0, rows, 1)
    Array([[ 1.,  2.],
           [30., 40.]], dtype=float64)
    >>> align_operand(3, not_mapped, 2.0, 2)
    2.0
    """
    if dim is not_mapped and not get_aval(x).shape:
        return x
    x = move_batch_axis(axis_size, dim, 0, x)
    shape = get_aval(x).shape
    missing = 1 + rank - len(shape)
    if not missing:
        return x
    axes = [0, *range(1 + missing, 1 + rank)]
    return broadcast_in_dim(x, (axis_size, *(1,) * missing, *shape[1:]), axes)


def reduce_sum_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, axes: tuple[int, ...]
) -> tuple[Any, int]:
    """The sums of all examples along `axes`, and where the batch axis is in the result.

    The one operand is mapped. `axes` are axes of one example, in any order. One sum is bound, on
    the unchanged batch: nothing moves or is repeated. The dtype stays, and so does a weak type.

    >>> batch = np.arange(6.0).reshape(2, 3)  # three examples of shape (2,), along axis 1
    >>> reduce_sum_batch(3, [batch], [1], axes=(0,))
    (Array([3., 5., 7.], dtype=float64), 0)
    """
    (x,), (dim,) = vals, dims
    axes_out = axes_behind(dim, axes)
    return reduce_sum(x, axes_out), dim - sum(axis < dim for axis in axes_out)


def transpose_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, permutation: tuple[int, ...]
) -> tuple[Any, int]:
    """The batch axis comes first, the others follow in their new order."""
    (x,), (dim,) = vals, dims
    return transpose(x, (dim, *axes_behind(dim, permutation))), 0


def broadcast_in_dim_batch(
    axis_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    shape: tuple[int, ...],
    broadcast_dimensions: tuple[int, ...],
) -> tuple[Any, int]:
    """The leading axis of the operand, its batch axis, is the leading axis of the result."""
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
    """The products of all examples, and where the batch axis is in the result.

    `dimension_numbers` are ((contracted axes of x, of y), (batch axes of x, of y)), all counted in
    one example. One product is bound, on the operands unchanged, with tuples nested like these
    and the same `preferred_element_type`. If both operands are mapped, the batch axis of the result
    is 0.

    >>> matrix_times_vector = (((1,), (0,)), ((), ()))
    >>> matrix, vectors = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[1.0, 1.0], [3.0, 0.0]])
    >>> out, dim = dot_general_batch(
    ...     2, [matrix, vectors], [not_mapped, 0],
    ...     dimension_numbers=matrix_times_vector, preferred_element_type=None)
    >>> print(dim)  # so each column is a result
    1
    >>> print(out)
    [[3. 3.]
     [1. 0.]]
    """
    contract, batch = (
        tuple(axes_behind(dim, axes) for dim, axes in zip(dims, pair, strict=True))
        for pair in dimension_numbers
    )
    if not_mapped in dims:
        side = 1 if dims[0] is not_mapped else 0
        out_dim = axis_in_product(vals, (contract, batch), side, dims[side])
    else:
        batch = tuple((dim, *axes) for dim, axes in zip(dims, batch, strict=True))
        out_dim = 0
    (x, y), numbers = vals, (contract, batch)
    return dot_general(x, y, numbers, preferred_element_type=preferred_element_type), out_dim


for _p in (neg_p, sin_p, cos_p, exp_p, log_p, convert_element_type_p):
    vmap_rules[_p] = functools.partial(unary_batch, _p)
for _p in (add_p, sub_p, mul_p, div_p, gt_p, lt_p):
    vmap_rules[_p] = functools.partial(binary_batch, _p)
vmap_rules[reduce_sum_p] = reduce_sum_batch
vmap_rules[transpose_p] = transpose_batch
vmap_rules[broadcast_in_dim_p] = broadcast_in_dim_batch
vmap_rules[dot_general_p] = dot_general_batch


# The transformation -----------------------------------------------------------------------------


@contextmanager
def batching(axis_size: int) -> Iterator[MainTrace]:
    """A `BatchTrace` for batches of `axis_size` examples, on the stack for a `with` block.

    If the axis has a name (`vmap(..., axis_name="i")`), it can be used inside (the `pmap` lesson).
    """
    with new_main(BatchTrace, axis_size) as main, mapped_axis(axis_size, main):
        yield main


def vmap_flat(
    f: Callable[..., list[Any]], axis_size: int, in_dims: Sequence[BatchAxis], args: Values
) -> tuple[list[Any], list[BatchAxis]]:
    """Run a function from arrays to a list of arrays on a whole batch. Returns two lists.

    The first has the values of the results of `f`, which is called once, and the second their batch
    axes: `not_mapped` for a constant or a tracer from outside. `in_dims` are the batch axes of
    `args`, with `axis_size` examples each; a `not_mapped` one reaches `f` unchanged. The
    interpreter is on the stack while `f` runs, by `batching`, which also makes the axis name known.

    >>> outs, dims = vmap_flat(lambda x, y: [-x, y, 7.0], 3, [1, not_mapped],
    ...                        [np.array([[1.0, 2.0, 3.0]]), 4.0])
    >>> print(outs, dims)
    [Array([[-1., -2., -3.]], dtype=float64), 4.0, 7.0] [1, not_mapped, not_mapped]
    """
    with batching(axis_size) as main:
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

    `in_axes` says for each argument which axis holds the examples: an integer, or None for an
    argument that is the same for all; one such entry may stand for a whole container; arguments
    by name are mapped along axis 0. `out_axes` likewise says where the axis goes in the results.
    All mapped axes must have the same size (`ValueError`), which is `axis_size` if you pass it.
    Without mapped arguments, you must. `axis_name` is a name by which `fun` can refer to the axis
    (the `pmap` lesson).

    >>> import numpy as np
    >>> vmap(lambda x, y: x * y, in_axes=(0, None))(np.arange(3.0), 2.0)
    Array([0., 2., 4.], dtype=float64)
    """

    check_axes("in_axes", in_axes)
    check_axes("out_axes", out_axes)
    entries = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    if not isinstance(entries, int | tuple | None):
        raise TypeError(f"vmap in_axes must be an int, None, or one for each argument: {in_axes}.")

    @in_place_of(fun)
    def batched_f(*args: Value, **kwargs: Any) -> Value:
        flat, in_tree = tree_flatten((args, kwargs))
        axes = flat_axes("in_axes", entries, args) + flat_axes("in_axes", 0, kwargs)
        in_dims = [normal_axis(axis, x) for axis, x in zip(axes, flat, strict=True)]
        flat_f, out_tree = flatten_fun(lambda xs, named: fun(*xs, **named), in_tree)
        size = AxisSize(common_size(flat, in_dims, axis_size), axis_name)
        outs, out_dims = vmap_flat(flat_f, size, in_dims, flat)
        axes = flat_axes("out_axes", out_axes, tree_unflatten(out_tree(), outs))
        check_places(outs, out_dims, axes)
        moved = [
            place_axis(size, dim, axis, out)
            for out, dim, axis in zip(outs, out_dims, axes, strict=True)
        ]
        return tree_unflatten(out_tree(), moved)

    return batched_f


def place_axis(axis_size: int, dim: BatchAxis, axis: int | None, out: Value) -> Value:
    """A result with its batch axis where `out_axes` wants it.

    It is at `dim` now, and goes to `axis`, counted from the end if negative. A `not_mapped` result
    is repeated along it. With None, it stays `not_mapped`, and any other raises `ValueError`.

    >>> place_axis(2, 0, -1, np.ones((2, 3))).shape
    (3, 2)
    >>> place_axis(2, not_mapped, -1, np.ones(3)).shape
    (3, 2)
    >>> place_axis(2, not_mapped, None, 7.0)
    7.0
    """
    if axis is not None:
        rank = len(get_aval(out).shape) + isinstance(dim, NotMapped)
        return move_batch_axis(axis_size, dim, axis % rank, out)
    if dim is not not_mapped:
        raise ValueError("vmap has mapped a result whose out_axes is None.")
    return out


# Jacobians --------------------------------------------------------------------------------------


def basis(aval: ShapedArray) -> ArrayImpl:
    """All arrays of this type with a single 1 among zeros: `basis(aval)[i, j]` has it at i, j."""
    size = math.prod(aval.shape)
    matrix = np.eye(size, dtype=aval.dtype).reshape(aval.shape + aval.shape)
    return ArrayImpl(matrix, aval.weak_type)


def jacfwd(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """The Jacobian by forward mode: how each entry of the result moves with each of the input.

    A function from shape (3,) to shape (2,) has a Jacobian of shape (2, 3): the axes of the result
    come first. With containers, each leaf of the result becomes a container like the argument (with
    a tuple as `argnums`, a tuple of such). With `has_aux`, `fun` returns (result, anything), and
    the function returns (Jacobian, anything). Counterpart: `jax.jacfwd`.

    >>> jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float64)
    """
    check_real(holomorphic)

    @in_place_of(fun)
    def jac_f(*args: Value, **kwargs: Any) -> Value:
        chosen = chosen_args(argnums, args)
        check_floats("inputs of jacfwd", chosen)
        check_not_empty(chosen)
        f_of_chosen = function_of(fun, argnums, args, kwargs)
        leaves, in_tree = tree_flatten(chosen)
        flat_f, out_tree = flatten_fun(
            f_of_chosen if has_aux else lambda *xs: (f_of_chosen(*xs), None), in_tree
        )
        columns, values = jacobian_columns(flat_f, leaves)
        y_tree, aux_tree = out_tree().child_treedefs
        y, aux = values[: y_tree.num_leaves], values[y_tree.num_leaves :]
        check_numbers("outputs of jacfwd", y)
        rows = [tree_unflatten(in_tree, [column[j] for column in columns]) for j in range(len(y))]
        jacobian = tree_unflatten(y_tree, [r[0] if isinstance(argnums, int) else r for r in rows])
        return (jacobian, tree_unflatten(aux_tree, aux)) if has_aux else jacobian

    return jac_f


def jacobian_columns(f: Callable[..., list[Any]], xs: Values) -> tuple[list[list[Any]], list[Any]]:
    """For each of `xs` how the results of `f` move with it, and the results."""
    values: list[Any] = []
    columns = []
    for i in range(len(xs)):
        values, column = jacobian_of_input(f, xs, i)
        columns.append([own_zeros(ct, y) for ct, y in zip(column, values, strict=True)])
    return columns, values


def jacobian_of_input(
    f: Callable[..., list[Any]], xs: Values, i: int
) -> tuple[list[Any], list[Any]]:
    """The results of `f(*xs)`, and how they move with each entry of `xs[i]`.

    `f` returns a list of arrays, and runs once, however large `xs[i]` is. For a result of shape `r`
    and `xs[i]` of shape `s`, the Jacobian has shape `r + s`. Only `xs[i]` moves, by tangents
    of its type, weak or not. Any input may be a tracer.

    >>> values, jacobians = jacobian_of_input(
    ...     lambda x, y: [x * y], [np.array([1.0, 2.0]), 5.0], 0)
    >>> print(values[0])
    [ 5. 10.]
    >>> print(jacobians[0])
    [[5. 0.]
     [0. 5.]]
    """

    def push_forward(tangent: Tangent) -> tuple[list[Any], list[Any]]:
        tangents = [tangent if j == i else None for j in range(len(xs))]
        return jvp_flat(f, xs, tangents)

    for axis in range(len(get_aval(xs[i]).shape)):
        push_forward = vmap(push_forward, in_axes=axis, out_axes=(None, -1))
    return push_forward(basis(get_aval(xs[i])))


def own_zeros(tangent: Tangent, y: Value) -> Value:
    """`tangent`; but if `y` is an integer, zeros of its type instead of float0, as in JAX."""
    aval = get_aval(y)
    if dtypes.is_float(aval.dtype):
        return tangent
    zero = 0 if aval.weak_type else np.zeros((), aval.dtype)
    return broadcast_in_dim(zero, tangent.shape, ())
