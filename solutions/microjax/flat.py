"""Flat lists of arrays and of their types: plumbing of the `stackless` lesson."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from minijax import dtypes
from minijax.core import ShapedArray, get_aval
from minijax.jaxpr import ClosedJaxpr, raise_to_shaped
from minijax.jvp import check_tangent, drop_float0, zeros_like_aval
from minijax.tree import PyTreeDef, tree_flatten


def types_of(args: Iterable[Any]) -> tuple[ShapedArray, ...]:
    """What is known about values when a program is staged: shape, dtype, weakness."""
    return tuple(raise_to_shaped(get_aval(x)) for x in args)


def are_floats(avals: Sequence[ShapedArray]) -> tuple[bool, ...]:
    """Which types have derivatives."""
    return tuple(dtypes.is_float(aval.dtype) for aval in avals)


def instantiate(tangents: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    """Tangents as arrays: `None` becomes zeros, of dtype `float0` for what is not a float."""
    pairs = zip(tangents, avals, strict=True)
    return [zeros_like_aval(aval) if t is None else t for t, aval in pairs]


def merge(flags: Sequence[bool], chosen: Iterable[Any], others: Iterable[Any] = ()) -> list[Any]:
    """An element of `chosen` for each flag that is set, one of `others` (or None) for each other.

    >>> merge([True, False, True], "ab", "x"), merge([False, True], "a")
    (['a', 'x', 'b'], [None, 'a'])
    """
    yes, no = iter(chosen), iter(others)
    return [next(yes) if flag else next(no, None) for flag in flags]


def flat_tangents(
    primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any], PyTreeDef]:
    """The leaves of primals and of tangents that fit them, `None` for `float0`; their structure."""
    xs, in_tree = tree_flatten(tuple(primals))
    ts, tree = tree_flatten(tuple(tangents))
    if in_tree != tree:
        raise TypeError(f"jvp of {in_tree} needs tangents of that structure, not {tree}.")
    for x, t in zip(xs, ts, strict=True):
        check_tangent(x, t)
    return xs, list(map(drop_float0, ts)), in_tree


def once(make: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what `make(program, ...)` returns with the program, so that it is made only once."""

    def made(program: ClosedJaxpr, *key: Any) -> Any:
        cache = program.jaxpr.cache
        if (make, key) not in cache:
            cache[make, key] = make(program, *key)
        return cache[make, key]

    return made
