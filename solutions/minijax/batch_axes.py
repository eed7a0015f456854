"""Where the examples of a batch are: axes in batches, and what `in_axes` and `out_axes` say.

Users may count an axis from the end, write None for a value that is the same for all examples, and
write one entry for a whole container. Inside, each leaf has a `BatchAxis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minijax.core import NotMapped, ShapedArray, Value, Values, get_aval, not_mapped
from minijax.tree import node_type, tree_flatten

BatchAxis = int | NotMapped  # an axis counted from the front, or `not_mapped`


def remove_axis(aval: ShapedArray, axis: BatchAxis) -> ShapedArray:
    """The type of one example of a batch of type `aval`, whose examples are along `axis`.

    It is a plain `ShapedArray`, without the values of the batch.

    >>> import numpy as np
    >>> batch = ShapedArray((2, 3), np.dtype("float64"))
    >>> print(remove_axis(batch, 0), remove_axis(batch, 1), remove_axis(batch, not_mapped))
    float64[3] float64[2] float64[2,3]
    """
    if isinstance(axis, NotMapped):
        return aval
    shape = (*aval.shape[:axis], *aval.shape[axis + 1 :])
    return ShapedArray(shape, aval.dtype, aval.weak_type)


def axes_behind(dim: BatchAxis, axes: Sequence[int]) -> tuple[int, ...]:
    """Axes of one example, by their numbers in the batch, whose batch axis is `dim`.

    >>> axes_behind(1, (0, 1, 2)), axes_behind(not_mapped, (0, 1, 2))
    ((0, 2, 3), (0, 1, 2))
    """
    return tuple(axes if isinstance(dim, NotMapped) else (i + (i >= dim) for i in axes))


def axis_in_product(vals: Sequence[Any], dimension_numbers: Any, side: int, axis: int) -> int:
    """Where axis `axis` of operand `side` (0 or 1) of a `dot_general` is found in the result.

    The axis must be kept, which means neither contracted nor a batch axis of the `dot_general`. The
    result has the batch axes first, then what is left of the first operand, then of the second.

    >>> import numpy as np
    >>> matrix_product = (((1,), (0,)), ((), ()))
    >>> axis_in_product([np.ones((2, 3)), np.ones((3, 4))], matrix_product, 1, 1)
    1
    """
    contract, batch = dimension_numbers
    axes = [(i, j) for i, x in enumerate(vals) for j in range(len(get_aval(x).shape))]
    stay = [(i, j) for i, j in axes if j not in (*contract[i], *batch[i])]
    return len(batch[0]) + stay.index((side, axis))


# What `in_axes` and `out_axes` say ---------------------------------------------------------------


def check_axes(name: str, axes: Any) -> None:
    """`TypeError` if anything but integers and None is in the containers."""
    if not all(type(axis) is int for axis in tree_flatten(axes)[0]):
        raise TypeError(f"vmap {name} must be an int, None, or containers of them; got {axes}.")


def flat_axes(name: str, axes: Any, tree: Any) -> list[int | None]:
    """The axis of each leaf of `tree`; one entry of `axes` may stand for a whole subtree."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(tree_flatten(tree)[0])
    parts, axes_of_parts = top_level(tree), top_level(axes)
    if parts[1:] != axes_of_parts[1:] or len(parts[0]) != len(axes_of_parts[0]):
        raise ValueError(f"vmap {name} must be an int, None, or fit the values; got {axes}.")
    pairs = zip(axes_of_parts[0], parts[0], strict=True)
    return [axis for part, child in pairs for axis in flat_axes(name, part, child)]


def top_level(tree: Any) -> tuple[list[Any], type, Any]:
    """The children of a container, its class, and what else it keeps; no children for a leaf."""
    kind = node_type(type(tree))
    children, data = ((), None) if kind is None else kind.take_apart(tree)
    return list(children), type(tree), data


def normal_axis(axis: int | None, x: Value) -> BatchAxis:
    """The axis of `x`, counted from 0; `not_mapped` for None, and then `x` may be anything."""
    if axis is None:
        return not_mapped
    aval = get_aval(x)
    if not -len(aval.shape) <= axis < len(aval.shape):
        raise ValueError(f"vmap was asked to map axis {axis} of an array of type {aval}.")
    return axis % len(aval.shape)


def common_size(args: Values, dims: Sequence[BatchAxis], given: int | None) -> int:
    """The one size of all mapped axes, and the given one."""
    pairs = zip(args, dims, strict=True)
    sizes = {get_aval(x).shape[dim] for x, dim in pairs if not isinstance(dim, NotMapped)}
    sizes |= set() if given is None else {given}
    if len(sizes) != 1:
        found = f"sizes {sorted(sizes, key=str)}" if sizes else "no mapped argument"
        raise ValueError(f"vmap needs mapped axes of one size, and got {found}.")
    return sizes.pop()


def check_places(outs: Values, dims: Sequence[BatchAxis], axes: Sequence[int | None]) -> None:
    """`ValueError` if a result with its batch axis does not have the axis that `out_axes` names."""
    for out, dim, axis in zip(outs, dims, axes, strict=True):
        rank = len(get_aval(out).shape) + isinstance(dim, NotMapped)
        if axis is not None and not -rank <= axis < rank:
            raise ValueError(f"vmap out_axes names axis {axis} of a result with {rank} axes.")
