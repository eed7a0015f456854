"""Further collectives, each with all its rules; `psum` is in `minijax/collectives.py`.

`pmax` and `pmin` join the values of all examples, `ppermute` sends each to another example,
`all_to_all` cuts every value and gives each example one part of all of them, and `psum_scatter`
adds up and leaves each example one part of the sum. The last three are linear, and the transpose of
each is a collective: the way back, the same with its axes exchanged, and `all_gather`.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax.axis_env import axis_frame, name_of
from minijax.collectives import (
    Collective,
    all_gather,
    all_reduce_hlo,
    as_printed,
    check_devices_map,
    mul_by,
)
from minijax.core import (
    NotMapped,
    Primitive,
    ShapedArray,
    Tangent,
    Value,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    not_mapped,
    transpose_rules,
    vmap_rules,
)
from minijax.jaxpr import printed_params, raise_to_shaped
from minijax.jvp import linear_jvp
from minijax.lax.basic import add, check_kind, reduce_sum, transpose
from minijax.lax.defining import emit_operation, emit_region
from minijax.lax.dimension_numbers import GatherDimensionNumbers
from minijax.lax.elementwise import max as larger
from minijax.lax.elementwise import min as smaller
from minijax.lax.gathers import gather
from minijax.lax.reductions import reduce_max, reduce_min
from minijax.lax.shapes import expand_dims, reshape, squeeze
from minijax.lowering import Emitter
from minijax.tree import tree_map
from minijax.vmap import move_batch_axis

__all__ = ["all_to_all", "pmax", "pmin", "ppermute", "psum_scatter"]

Pairs = tuple[tuple[int, int], ...]


def resized(x: ShapedArray, sizes: dict[int, int]) -> ShapedArray:
    """The type with other sizes for some axes."""
    shape = tuple(sizes.get(axis, n) for axis, n in enumerate(x.shape))
    return ShapedArray(shape, x.dtype, x.weak_type)


def parts_first(x: Value, axis: int, parts: int) -> Value:
    """`x` cut along `axis`: a new first axis counts the parts."""
    shape = get_aval(x).shape
    x = reshape(x, (*shape[:axis], parts, shape[axis] // parts, *shape[axis + 1 :]))
    rest = [i for i in range(len(shape) + 1) if i != axis]
    return transpose(x, (axis, *rest))


# The largest and the smallest ---------------------------------------------------------------------

pmax_p = Collective("pmax")
pmin_p = Collective("pmin")


def pmax(x: Value, axis_name: Any) -> Value:
    """The largest of the values that `x` has in all examples; `x` may be a container.

    As in JAX, it has no derivative. Counterpart: `jax.lax.pmax`.

    >>> from minijax.vmap import vmap
    >>> vmap(lambda x: pmax(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([3., 3.], dtype=float64)
    """
    return extreme(pmax_p, x, axis_name)


def pmin(x: Value, axis_name: Any) -> Value:
    """The smallest of the values that `x` has in all examples, see `pmax`."""
    return extreme(pmin_p, x, axis_name)


def extreme(primitive: Primitive, x: Value, axis_name: Any) -> Value:
    axes = tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)
    return tree_map(lambda leaf: primitive.bind(leaf, axes=axes), x)


def extreme_batch(
    primitive: Primitive,
    reduce: Callable[..., Any],
    batch_size: int,
    vals: Any,
    dims: Any,
    *,
    axes: Any,
) -> tuple[Any, Any]:
    """Along the axis of this `vmap` it is a reduction; the other names are left to others.

    If there are none, it is bound all the same: what it returns has no derivative.
    """
    (x,), (dim,) = vals, dims
    name = name_of(batch_size)
    if name in axes:
        axes = tuple(other for other in axes if other != name)
        x = x if isinstance(dim, NotMapped) else reduce(x, (dim,))
        dim = not_mapped
    return primitive.bind(x, axes=axes), dim


for extreme_p, join, reduce in ((pmax_p, larger, reduce_max), (pmin_p, smaller, reduce_min)):
    abstract_eval_rules[extreme_p] = lambda x, **params: raise_to_shaped(x)
    impl_rules[extreme_p] = lambda x, *, axes: x  # without axes: evaluation knows no others
    vmap_rules[extreme_p] = functools.partial(extreme_batch, extreme_p, reduce)
    hlo_lowerings[extreme_p] = functools.partial(all_reduce_hlo, join)
    printed_params[extreme_p.name] = as_printed


# From one example to another ----------------------------------------------------------------------

ppermute_p = Collective("ppermute")


def ppermute(x: Value, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Value:
    """The value of another example, for each `(source, destination)` in `perm`; else zeros.

    Under `vmap`, all examples must be in `perm`, once as a source and once as a destination. `x`
    may be a container. Counterpart: `jax.lax.ppermute`.

    >>> from minijax.vmap import vmap
    >>> shift = [(0, 1), (1, 2), (2, 0)]
    >>> vmap(lambda x: ppermute(x, "i", shift), axis_name="i")(np.array([5.0, 6.0, 7.0]))
    Array([7., 5., 6.], dtype=float64)
    """
    pairs = tuple((int(source), int(target)) for source, target in perm)
    return tree_map(lambda leaf: ppermute_p.bind(leaf, axis_name=axis_name, perm=pairs), x)


def ppermute_transpose(ct: Tangent, x: Value, *, axis_name: Any, perm: Pairs) -> list[Value]:
    """The cotangents go back where the values came from."""
    back = tuple((target, source) for source, target in perm)
    return [ppermute_p.bind(ct, axis_name=axis_name, perm=back)]


def ppermute_batch(
    batch_size: int, vals: Any, dims: Any, *, axis_name: Any, perm: Pairs
) -> tuple[Any, int]:
    """The rows of the batch in their new order."""
    x = move_batch_axis(batch_size, dims[0], 0, vals[0])
    if name_of(batch_size) != axis_name:
        return ppermute_p.bind(x, axis_name=axis_name, perm=perm), 0
    sources = {target: source for source, target in perm}
    everyone = [*range(batch_size)]
    if [sorted(column) for column in zip(*perm, strict=True)] != [everyone, everyone]:
        raise AssertionError(
            f"Under vmap, ppermute takes a permutation of all {int(batch_size)} examples; got "
            f"{perm}."
        )
    rows = np.array([[sources[target]] for target in range(batch_size)])
    shape = get_aval(x).shape
    numbers = GatherDimensionNumbers(tuple(range(1, len(shape))), (0,), (0,))
    return gather(x, rows, numbers, (1, *shape[1:]), mode="clip"), 0


def ppermute_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, axis_name: Any, perm: Pairs
) -> list[str]:
    check_devices_map([axis_name])
    pairs = f"dense<{[list(pair) for pair in perm]}>" if perm else "dense<>"
    attributes = f"source_target_pairs = {pairs} : tensor<{len(perm)}x2xi64>"
    return emit_operation(emitter, "collective_permute", args, avals, out_avals, attributes)


abstract_eval_rules[ppermute_p] = lambda x, **params: raise_to_shaped(x)
jvp_rules[ppermute_p] = functools.partial(linear_jvp, ppermute_p)
vmap_rules[ppermute_p] = ppermute_batch
transpose_rules[ppermute_p] = ppermute_transpose
hlo_lowerings[ppermute_p] = ppermute_hlo
printed_params["ppermute"] = lambda params: {**params, "axis_name": (params["axis_name"],)}


# Every example a part of all values ---------------------------------------------------------------

all_to_all_p = Collective("all_to_all")


def all_to_all(
    x: Value, axis_name: Any, split_axis: int, concat_axis: int, *, tiled: bool = False
) -> Value:
    """Every value is cut along `split_axis`, and example `i` has the parts `i` of all of them.

    These are stacked along a new axis `concat_axis`, and `split_axis`, which must be as long as
    there are examples, is gone; or, with `tiled`, they follow each other along that axis. `x` may
    be a container, and `axis_name` a tuple: then the examples are those of all these axes, the last
    one first. Axes are counted from the front. Counterpart: `jax.lax.all_to_all`.

    >>> from minijax.vmap import vmap
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> vmap(lambda x: all_to_all(x, "i", 0, 0), axis_name="i")(x)
    Array([[1., 3.],
           [2., 4.]], dtype=float64)
    """
    if split_axis < 0 or concat_axis < 0:
        raise NotImplementedError("all_to_all counts its axes from the front.")
    if isinstance(axis_name, tuple | list):
        axes = (tuple(axis_name), split_axis, concat_axis, tiled)
        return tree_map(lambda leaf: all_to_all_over(leaf, *axes), x)
    size = axis_frame(axis_name).size

    def exchange(leaf: Value) -> Value:
        check_parts("all_to_all", "split_axis", get_aval(leaf).shape[split_axis], size, tiled)
        axes = {"split_axis": split_axis, "concat_axis": concat_axis}
        params = {"axis_name": axis_name, "axis_size": size, "tiled": tiled}
        if tiled or split_axis == concat_axis:
            return all_to_all_p.bind(leaf, **axes, **params)
        new, old = concat_axis, split_axis  # the new axis is there, of length 1, and takes all
        new, old = (new + 1, old) if old < new else (new, old + 1)
        axes = {"split_axis": old, "concat_axis": new}
        return squeeze(all_to_all_p.bind(expand_dims(leaf, [new]), **axes, **params), [old])

    return tree_map(exchange, x)


def all_to_all_over(
    x: Value, names: tuple[Any, ...], split_axis: int, concat_axis: int, tiled: bool
) -> Value:
    """`all_to_all` over several named axes: over one after the other.

    The axis that is cut becomes one axis for each name and one for what is left of it. Each
    exchange turns the axis of where parts go into the axis of where they are from.
    """
    sizes, shape = [axis_frame(name).size for name in names], get_aval(x).shape
    count = math.prod(sizes)
    check_parts("all_to_all", "split_axis", shape[split_axis], count, tiled)
    before, left, after = shape[:split_axis], shape[split_axis] // count, shape[split_axis + 1 :]
    x = reshape(x, (*before, *sizes, left, *after))
    origins = [*range(split_axis, split_axis + len(names))]
    for axis, name in zip(origins, names, strict=True):
        x = all_to_all(x, name, axis, axis)
    if not tiled:  # what is left has length 1
        x = squeeze(x, [split_axis + len(names)])
    kept = [i for i in range(len(get_aval(x).shape)) if i not in origins]
    out = [get_aval(x).shape[i] for i in kept]
    out[concat_axis : concat_axis + tiled] = [count * (out[concat_axis] if tiled else 1)]
    return reshape(transpose(x, (*kept[:concat_axis], *origins, *kept[concat_axis:])), out)


def check_parts(what: str, axis: str, length: int, size: int, tiled: bool) -> None:
    """Refuse an axis that cannot be dealt out to all examples."""
    if tiled and length % size:
        raise ValueError(
            f"{what} cuts {axis} into {size} equal parts, one for each example, and it is {length} "
            "long."
        )
    if not tiled and length != size:
        raise ValueError(
            f"Without tiled, {what} gives each of the {size} examples one element of {axis}, and "
            f"it is {length} long."
        )


def all_to_all_type(
    x: ShapedArray, *, split_axis: int, concat_axis: int, axis_size: int, **params: Any
) -> ShapedArray:
    if split_axis == concat_axis:
        return raise_to_shaped(x)
    cut, joined = x.shape[split_axis] // axis_size, x.shape[concat_axis] * axis_size
    return resized(x, {split_axis: cut, concat_axis: joined})


def all_to_all_transpose(
    ct: Tangent, x: Value, *, split_axis: int, concat_axis: int, **params: Any
) -> list[Value]:
    """What was joined is cut, and what was cut is joined."""
    return [all_to_all_p.bind(ct, split_axis=concat_axis, concat_axis=split_axis, **params)]


def all_to_all_batch(
    batch_size: int, vals: Any, dims: Any, *, split_axis: int, concat_axis: int, **params: Any
) -> tuple[Any, int]:
    """All values are there: the axis of the parts becomes the batch axis, which is joined."""
    x = move_batch_axis(batch_size, dims[0], 0, vals[0])
    if name_of(batch_size) != params["axis_name"]:
        axes = {"split_axis": split_axis + 1, "concat_axis": concat_axis + 1}
        return all_to_all_p.bind(x, **axes, **params), 0
    x = parts_first(x, split_axis + 1, batch_size)  # parts, examples, and the axes of a part
    order = [*range(2, len(get_aval(x).shape))]
    order.insert(concat_axis, 1)
    x = transpose(x, (0, *order))
    parts, *shape = get_aval(x).shape
    shape[concat_axis : concat_axis + 2] = [shape[concat_axis] * shape[concat_axis + 1]]
    return reshape(x, (parts, *shape)), 0


def all_to_all_hlo(
    emitter: Emitter,
    avals: Any,
    out_avals: Any,
    args: Any,
    *,
    split_axis: int,
    concat_axis: int,
    axis_size: int,
    **params: Any,
) -> list[str]:
    check_devices_map([params["axis_name"]])
    attributes = (
        f"split_dimension = {split_axis} : i64, concat_dimension = {concat_axis} : i64, "
        f"split_count = {axis_size} : i64, {all_replicas(axis_size)}"
    )
    return emit_operation(emitter, "all_to_all", args, avals, out_avals, attributes)


def all_replicas(size: int) -> str:
    """All devices as one group, for the operations that must be told their groups."""
    return f"replica_groups = dense<{[[*range(size)]]}> : tensor<1x{size}xi64>"


abstract_eval_rules[all_to_all_p] = all_to_all_type
jvp_rules[all_to_all_p] = functools.partial(linear_jvp, all_to_all_p)
vmap_rules[all_to_all_p] = all_to_all_batch
transpose_rules[all_to_all_p] = all_to_all_transpose
hlo_lowerings[all_to_all_p] = all_to_all_hlo
printed_params["all_to_all"] = lambda params: {
    **{name: param for name, param in params.items() if name != "axis_size"},
    "axis_index_groups": None,
}


# Every example a part of the sum ------------------------------------------------------------------

reduce_scatter_p = Collective("reduce_scatter")


def psum_scatter(
    x: Value, axis_name: Any, *, scatter_dimension: int = 0, tiled: bool = False
) -> Value:
    """One part of the sum over all examples: the first has the first part, and so on.

    The sum is cut along `scatter_dimension`, which must be as long as there are examples, and is
    gone; or, with `tiled`, a multiple of that long, and is shorter. It is counted from the front.
    `x` may be a container. Counterpart: `jax.lax.psum_scatter`.

    >>> from minijax.vmap import vmap
    >>> x = np.array([[1.0, 2.0], [30.0, 40.0]])
    >>> vmap(lambda x: psum_scatter(x, "i"), axis_name="i")(x)
    Array([31., 42.], dtype=float64)
    """
    if scatter_dimension < 0:
        raise NotImplementedError("psum_scatter counts its scatter_dimension from the front.")
    size = axis_frame(axis_name).size

    def scatter(leaf: Value) -> Value:
        aval = get_aval(leaf)
        check_kind("psum_scatter", aval.dtype, "iuf")
        length = aval.shape[scatter_dimension]
        check_parts("psum_scatter", "scatter_dimension", length, size, tiled)
        params = {"axis_name": axis_name, "axis_size": size, "tiled": tiled}
        return reduce_scatter_p.bind(leaf, scatter_dimension=scatter_dimension, **params)

    return tree_map(scatter, x)


def reduce_scatter_type(
    x: ShapedArray, *, scatter_dimension: int, axis_size: int, tiled: bool, **params: Any
) -> ShapedArray:
    before, after = x.shape[:scatter_dimension], x.shape[scatter_dimension:]
    rest = (after[0] // axis_size, *after[1:]) if tiled else after[1:]
    return ShapedArray((*before, *rest), x.dtype, x.weak_type)


def reduce_scatter_transpose(
    ct: Tangent, x: Value, *, scatter_dimension: int, axis_name: Any, tiled: bool, **params: Any
) -> list[Value]:
    """Every example's value is in all parts: its cotangent is that of all parts together."""
    return [all_gather(ct, axis_name, axis=scatter_dimension, tiled=tiled)]


def reduce_scatter_batch(
    batch_size: int, vals: Any, dims: Any, *, scatter_dimension: int, tiled: bool, **params: Any
) -> tuple[Any, int]:
    """The sum is one array here, and the axis of its parts the batch axis."""
    (x,), (dim,) = vals, dims
    if name_of(batch_size) != params["axis_name"]:
        x = move_batch_axis(batch_size, dim, 0, x)
        params |= {"scatter_dimension": scatter_dimension + 1, "tiled": tiled}
        return reduce_scatter_p.bind(x, **params), 0
    total = mul_by(x, batch_size) if isinstance(dim, NotMapped) else reduce_sum(x, (dim,))
    if not tiled:
        return total, scatter_dimension
    return parts_first(total, scatter_dimension, batch_size), 0


def reduce_scatter_hlo(
    emitter: Emitter,
    avals: Any,
    out_avals: Any,
    args: Any,
    *,
    scatter_dimension: int,
    axis_size: int,
    tiled: bool,
    **params: Any,
) -> list[str]:
    """StableHLO's operation is the tiled one; else the axis, of length 1 then, is taken away."""
    check_devices_map([params["axis_name"]])
    region = emit_region(emitter, add, [avals[0].dtype] * 2)
    attributes = f"scatter_dimension = {scatter_dimension} : i64, {all_replicas(axis_size)}"
    parts = [resized(avals[0], {scatter_dimension: avals[0].shape[scatter_dimension] // axis_size})]
    names = emit_operation(emitter, "reduce_scatter", args, avals, parts, attributes, region)
    return names if tiled else emit_operation(emitter, "reshape", names, parts, out_avals)


abstract_eval_rules[reduce_scatter_p] = reduce_scatter_type
jvp_rules[reduce_scatter_p] = functools.partial(linear_jvp, reduce_scatter_p)
vmap_rules[reduce_scatter_p] = reduce_scatter_batch
transpose_rules[reduce_scatter_p] = reduce_scatter_transpose
hlo_lowerings[reduce_scatter_p] = reduce_scatter_hlo
printed_params["reduce_scatter"] = as_printed
