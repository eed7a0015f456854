"""Derivative rules of your own, and functions without captured values."""

from collections.abc import Callable
from typing import Any

from minijax import lax  # noqa: F401 (its modules and jaxpr import each other: lax goes first)
from minijax.core import Tracer, Value
from minijax.custom_rules import custom_jvp, custom_vjp
from minijax.dtypes import is_float
from minijax.jaxpr import eval_jaxpr
from minijax.marks import filled, groups
from minijax.tracing import trace_tree
from minijax.tree import tree_flatten, tree_unflatten

__all__ = ["closure_convert", "custom_jvp", "custom_vjp"]


def closure_convert(
    fun: Callable[..., Any], *example_args: Value
) -> tuple[Callable[..., Any], list[Any]]:
    """A function that takes what `fun` captures as further arguments, and the list of these.

    They are the floats that an outer transformation follows; so a function with a `custom_vjp` can
    return their cotangents, too. The arguments must be like `example_args`. Counterpart:
    `jax.closure_convert`.

    >>> import minijax
    >>> def g(a):
    ...     f, captured = closure_convert(lambda x: x * a, 2.0)
    ...     return f(5.0, *captured)
    >>> print(minijax.grad(g)(3.0))
    5.0
    """
    closed, out_tree = trace_tree(fun, example_args)
    in_tree = tree_flatten(example_args)[1]
    is_moving = [isinstance(x, Tracer) and is_float(x.dtype) for x in closed.consts]
    captured = [x for x, moves in zip(closed.consts, is_moving, strict=True) if moves]
    still = [x for x, moves in zip(closed.consts, is_moving, strict=True) if not moves]

    def converted(*args: Value) -> Value:
        own, values = groups(args, len(args) - len(captured))
        leaves, tree = tree_flatten(tuple(own))
        if tree != in_tree:
            raise TypeError(f"The converted function takes {in_tree}, and was called with {tree}.")
        consts = filled(is_moving, values, still)
        return tree_unflatten(out_tree, eval_jaxpr(closed.jaxpr, consts, *leaves))

    return converted, captured
