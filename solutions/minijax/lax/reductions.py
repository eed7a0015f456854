"""Reductions, the running sum and scans by halves, each with all its rules.

`reduce_max` and its relatives take an array and the axes that disappear. What differs between them
is the operation that joins two elements, and what an empty axis gives.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax.core import (
    Primitive,
    ShapedArray,
    Tangent,
    Value,
    Values,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    transpose_rules,
    vmap_rules,
    weak_operands,
)
from minijax.jaxpr import Literal, reduce_sum_type, unary_type
from minijax.jvp import jvp_flat, linear_jvp
from minijax.lax.basic import (
    add,
    check_kind,
    convert_element_type,
    div,
    keep_axes,
    mul,
    named,
    reduce_sum,
)
from minijax.lax.choosing import select
from minijax.lax.defining import emit_operation, emit_region, full_like, hlo_of, i64s, still_jvp
from minijax.lax.elementwise import bitwise_or, eq, ne
from minijax.lax.shapes import (
    axes_behind,
    broadcasted_iota,
    concatenate,
    normal_axis,
    pad,
    rev,
    slice_in_dim,
    squeeze,
    without,
)
from minijax.lowering import Emitter, emit_literal, tensor_type
from minijax.tree import tree_flatten, tree_leaves, tree_unflatten

__all__ = [
    "argmax",
    "argmin",
    "associative_scan",
    "cumsum",
    "cumsum_p",
    "reduce_and",
    "reduce_and_p",
    "reduce_max",
    "reduce_max_p",
    "reduce_min",
    "reduce_min_p",
    "reduce_or",
    "reduce_or_p",
    "reduce_prod",
    "reduce_prod_p",
]


def highest(dtype: np.dtype) -> Any:
    """The largest value of a dtype."""
    return np.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max


def lowest(dtype: np.dtype) -> Any:
    """The smallest value of a dtype."""
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


# reduce_max and its relatives ---------------------------------------------------------------------


def reduction_batch(
    primitive: Primitive,
    axis_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    axes: tuple[int, ...],
    **params: Any,
) -> tuple[Any, int]:
    """The axes behind the batch axis have moved by one."""
    (x,), (dim,) = vals, dims
    axes_out = axes_behind(dim, len(get_aval(x).shape), axes)
    moved = dim - sum(axis < dim for axis in axes_out)
    return primitive.bind(x, axes=axes_out, **params), moved


def reduction_hlo(operation: str, identity: Callable[[np.dtype], Any]) -> Callable[..., list[str]]:
    def lowering(
        emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, axes: tuple[int, ...]
    ) -> list[str]:
        start = ShapedArray((), avals[0].dtype)
        init = emit_literal(emitter, Literal(identity(avals[0].dtype), start))
        types = f"({tensor_type(avals[0])}, {tensor_type(start)}) -> {tensor_type(out_avals[0])}"
        dims = f"dimensions = [{', '.join(map(str, axes))}]"
        applied = f"({args[0]} init: {init}) applies stablehlo.{operation} across {dims}"
        return [emitter.emit(f"stablehlo.reduce{applied} : {types}")]

    return lowering


def define_reduction(
    name: str, combine: np.ufunc, operation: str, identity: Callable[[np.dtype], Any]
) -> Primitive:
    """A reduction by a NumPy ufunc, which StableHLO calls `operation`."""
    primitive = Primitive(name)

    def evaluate(x: Value, *, axes: tuple[int, ...]) -> Value:
        x = np.asarray(x)
        start = np.asarray(identity(x.dtype), x.dtype)
        return combine.reduce(x, axis=axes, dtype=x.dtype, initial=start)

    impl_rules[primitive] = evaluate
    vmap_rules[primitive] = functools.partial(reduction_batch, primitive)
    abstract_eval_rules[primitive] = reduce_sum_type
    hlo_lowerings[primitive] = reduction_hlo(operation, identity)
    return primitive


def chosen_jvp(
    primitive: Primitive, primals: Values, tangents: Sequence[Tangent], *, axes: tuple[int, ...]
) -> tuple[Any, Any]:
    """The largest element's tangent; of several that are equally large, the mean of theirs."""
    (x,), (x_dot,) = primals, tangents
    y = primitive.bind(x, axes=axes)
    chosen = eq(x, keep_axes(y, get_aval(x).shape, axes))
    weights = convert_element_type(chosen, get_aval(x).dtype)
    return y, div(reduce_sum(mul(x_dot, weights), axes), reduce_sum(weights, axes))


def product_by_halves(x: Value, axis: int) -> Value:
    """The product along an axis: its halves are multiplied until one element is left."""
    while (size := get_aval(x).shape[axis]) > 1:
        half = size // 2
        parts = [slice_in_dim(x, i * half, (i + 1) * half, axis=axis) for i in range(2)]
        rest = [slice_in_dim(x, 2 * half, size, axis=axis)] if size % 2 else []
        x = concatenate([mul(*parts), *rest], axis)
    return squeeze(x, (axis,)) if size else full_like(reduce_sum(x, (axis,)), 1)


def reduce_prod_jvp(
    primals: Values, tangents: Sequence[Tangent], *, axes: tuple[int, ...]
) -> tuple[Any, Any]:
    """That of a series of products, which needs no division and so may meet zeros."""

    def product(x: Value) -> list[Value]:
        for axis in sorted(axes, reverse=True):
            x = product_by_halves(x, axis)
        return [x]

    _, (y_dot,) = jvp_flat(product, primals, tangents)
    return reduce_prod(primals[0], axes), y_dot


reduce_max_p = define_reduction("reduce_max", np.maximum, "maximum", lowest)
reduce_min_p = define_reduction("reduce_min", np.minimum, "minimum", highest)
reduce_prod_p = define_reduction("reduce_prod", np.multiply, "multiply", lambda dtype: 1)
reduce_and_p = define_reduction(
    "reduce_and", np.bitwise_and, "and", lambda dtype: ~np.zeros((), dtype)
)
reduce_or_p = define_reduction("reduce_or", np.bitwise_or, "or", lambda dtype: 0)

jvp_rules[reduce_max_p] = functools.partial(chosen_jvp, reduce_max_p)
jvp_rules[reduce_min_p] = functools.partial(chosen_jvp, reduce_min_p)
jvp_rules[reduce_prod_p] = reduce_prod_jvp
jvp_rules[reduce_and_p] = functools.partial(still_jvp, reduce_and_p)
jvp_rules[reduce_or_p] = functools.partial(still_jvp, reduce_or_p)


def reduction(primitive: Primitive, kinds: str, doc: str) -> Callable[[Any, Sequence[int]], Any]:
    """The function that binds a reduction, for operands of these kinds of dtypes."""

    def function(operand: Value, axes: Sequence[int]) -> Value:
        check_kind(primitive.name, get_aval(operand).dtype, kinds)
        rank = len(get_aval(operand).shape)
        return primitive.bind(operand, axes=tuple(normal_axis(axis, rank) for axis in axes))

    return named(function, primitive.name, doc)


reduce_max = reduction(
    reduce_max_p, "iufb", "The greatest element along `axes`, which are not kept."
)
reduce_min = reduction(reduce_min_p, "iufb", "The least element along `axes`, which are not kept.")
reduce_prod = reduction(reduce_prod_p, "iufb", "The product along `axes`, which are not kept.")
reduce_and = reduction(reduce_and_p, "iub", "`bitwise_and` of all elements along `axes`.")
reduce_or = reduction(reduce_or_p, "iub", "`bitwise_or` of all elements along `axes`.")


# argmax and argmin --------------------------------------------------------------------------------


def arg_of(
    reduce: Callable[..., Any], x: Value, *, axes: tuple[int, ...], index_dtype: Any
) -> Value:
    """The first index at which the extreme value stands; NaN counts as the most extreme."""
    shape = get_aval(x).shape
    extreme = eq(x, keep_axes(reduce(x, axes), shape, axes))
    indices = broadcasted_iota(index_dtype, shape, axes[0])
    found = select(bitwise_or(extreme, ne(x, x)), indices, full_like(indices, shape[axes[0]]))
    return reduce_min(found, axes)


def define_arg(
    name: str, evaluate: Callable[..., Any], reduce: Callable[..., Any]
) -> tuple[Primitive, Callable[..., Any]]:
    """The primitive and its function."""
    primitive = Primitive(name)

    def function(operand: Value, axis: int, index_dtype: Any) -> Value:
        aval = get_aval(operand)
        axis = normal_axis(axis, len(aval.shape))
        if not aval.shape[axis]:
            raise ValueError(f"{name} needs a non-empty axis; axis {axis} of {aval} is empty.")
        return primitive.bind(operand, axes=(axis,), index_dtype=np.dtype(index_dtype))

    impl_rules[primitive] = lambda x, *, axes, index_dtype: evaluate(
        np.asarray(x), axis=axes[0]
    ).astype(index_dtype)
    jvp_rules[primitive] = functools.partial(still_jvp, primitive)
    vmap_rules[primitive] = functools.partial(reduction_batch, primitive)
    weak_operands[primitive] = slice(0, 0)
    abstract_eval_rules[primitive] = lambda x, *, axes, index_dtype: ShapedArray(
        without(x.shape, axes), index_dtype
    )
    hlo_lowerings[primitive] = hlo_of(functools.partial(arg_of, reduce))
    doc = f"The first index along `axis` of the element that `reduce_{name[3:]}` returns; NaN wins."
    return primitive, named(function, name, doc)


argmax_p, argmax = define_arg("argmax", np.argmax, reduce_max)
argmin_p, argmin = define_arg("argmin", np.argmin, reduce_min)


# cumsum -------------------------------------------------------------------------------------------

cumsum_p = Primitive("cumsum")


def cumsum(operand: Value, axis: int = 0, reverse: bool = False) -> Value:
    """The running sum along an axis, from its start or (`reverse`) from its end."""
    aval = get_aval(operand)
    check_kind("cumsum", aval.dtype, "iuf")
    axis = normal_axis(axis, len(aval.shape))
    return cumsum_p.bind(operand, axis=axis, reverse=reverse)


def cumsum_impl(x: Value, *, axis: int, reverse: bool) -> Value:
    x = np.asarray(x)
    if reverse:
        return np.flip(np.cumsum(np.flip(x, axis), axis, x.dtype), axis)
    return np.cumsum(x, axis, x.dtype)


def cumsum_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, axis: int, reverse: bool
) -> tuple[Any, int]:
    (x,), (dim,) = vals, dims
    return cumsum(x, axis + (dim <= axis), reverse), dim


def cumsum_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, axis: int, reverse: bool
) -> list[str]:
    """The sum over a window that reaches to the end of the axis, and over its edge."""
    if not np.prod(avals[0].shape):
        return list(args)
    start, rank, size = ShapedArray((), avals[0].dtype), len(avals[0].shape), avals[0].shape[axis]
    zero = emit_literal(emitter, Literal(0, start))
    window = [size if i == axis else 1 for i in range(rank)]
    before, after = (0, size - 1) if reverse else (size - 1, 0)
    padding = [[before, after] if i == axis else [0, 0] for i in range(rank)]
    attributes = (
        f"window_dimensions = {i64s(window)}, window_strides = {i64s([1] * rank)}, "
        f"padding = dense<{padding}> : tensor<{rank}x2xi64>"
    )
    region = emit_region(emitter, add, [start.dtype] * 2)
    ins = [avals[0], start]
    return emit_operation(
        emitter, "reduce_window", [args[0], zero], ins, out_avals, attributes, region
    )


impl_rules[cumsum_p] = cumsum_impl
jvp_rules[cumsum_p] = functools.partial(linear_jvp, cumsum_p)
vmap_rules[cumsum_p] = cumsum_batch
abstract_eval_rules[cumsum_p] = lambda x, **params: unary_type(x)
transpose_rules[cumsum_p] = lambda ct, x, *, axis, reverse: [cumsum(ct, axis, not reverse)]
hlo_lowerings[cumsum_p] = cumsum_hlo


# Scans by halves ----------------------------------------------------------------------------------


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Value, reverse: bool = False, axis: int = 0
) -> Value:
    """All that `fn` makes of the first elements along `axis`: of one, of two, and so on.

    `fn` is associative, and joins many pairs in one call: its operands are like `elems`, with other
    lengths of `axis`. `elems` may be a container. The number of calls, one after the other, grows
    with the logarithm of the length. Counterpart: `jax.lax.associative_scan`.

    >>> associative_scan(lambda x, y: x * y, np.array([1.0, 2.0, 3.0, 4.0]))
    Array([ 1.,  2.,  6., 24.], dtype=float64)
    """
    if not callable(fn):
        raise TypeError("lax.associative_scan: fn argument should be callable.")
    leaves, tree = tree_flatten(elems)
    axis = normal_axis(axis, len(get_aval(leaves[0]).shape))
    if len({get_aval(leaf).shape[axis] for leaf in leaves}) > 1:
        shapes = [get_aval(leaf).shape for leaf in leaves]
        raise ValueError(
            f"Array inputs to associative_scan must have the same first dimension. (saw: {shapes})"
        )

    def join(xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
        return tree_leaves(fn(tree_unflatten(tree, xs), tree_unflatten(tree, ys)))

    leaves = [rev(leaf, [axis]) for leaf in leaves] if reverse else leaves
    found = scan_by_halves(join, leaves, axis)
    return tree_unflatten(tree, [rev(x, [axis]) for x in found] if reverse else found)


def scan_by_halves(join: Callable[..., list[Any]], leaves: list[Any], axis: int) -> list[Any]:
    """The pairs, scanned, are every second result; each of the others is one step further."""
    size = get_aval(leaves[0]).shape[axis]
    if size < 2:
        return leaves

    def cut(xs: Sequence[Any], start: int, end: int | None, stride: int = 1) -> list[Any]:
        return [slice_in_dim(x, start, end, stride, axis) for x in xs]

    pairs = join(cut(leaves, 0, -1, 2), cut(leaves, 1, None, 2))
    odd = scan_by_halves(join, pairs, axis)
    even = join(cut(odd, 0, -1) if size % 2 == 0 else odd, cut(leaves, 2, None, 2))
    first = cut(leaves, 0, 1)
    even = [concatenate(pair, axis) for pair in zip(first, even, strict=True)]
    return [interleaved(x, y, axis) for x, y in zip(even, odd, strict=True)]


def interleaved(even: Value, odd: Value, axis: int) -> Value:
    """Both, by turns: each is padded with zeros where the other has its elements."""
    aval = get_aval(even)
    more = aval.shape[axis] - get_aval(odd).shape[axis]

    def spread(x: Value, before: int, after: int) -> Value:
        config = [(before, after, 1) if i == axis else (0, 0, 0) for i in range(len(aval.shape))]
        return pad(x, np.zeros((), aval.dtype), config)

    join = bitwise_or if aval.dtype == bool else add
    return join(spread(even, 0, 1 - more), spread(odd, 1, more))
