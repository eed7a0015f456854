"""Derivatives of your own: `custom_jvp` and `custom_vjp`.

Differentiating a program line by line is right, and not always what you want: the derivative of
log(1 + exp(x)) is 1 / (1 + exp(-x)), but line by line it becomes inf / inf for large x. Here a
whole function gets a rule, as `sin` has one in `jvp_rules`.

The decorators make one operation of the function, and take containers apart; what this operation
does under each interpreter is in `minijax/custom_calls.py`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.core import ShapedArray, Tangent, Tracer, Value, Values, get_aval
from minijax.custom_calls import custom_jvp_p, custom_vjp_p, halves
from minijax.errors import UnexpectedTracerError
from minijax.jaxpr import raise_to_shaped
from minijax.jvp import zeros_like_aval
from minijax.tree import (
    PyTreeDef,
    node_type,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)


class CustomFunction:
    """What the two decorators share: arguments and results as flat lists.

    Arguments in `nondiff_argnums` are not differentiated and can be anything, such as a function;
    the rules get their values first.
    """

    __call__: Callable[..., Any]

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        functools.update_wrapper(self, fun)
        self.fun, self.name = fun, getattr(fun, "__name__", "f")
        self.nondiff_argnums = tuple(nondiff_argnums)

    def split(self, args: Values) -> tuple[list[Any], list[Any]]:
        """The arguments that are not differentiated, and those that are."""
        fixed = [args[i] for i in self.nondiff_argnums]
        places = {i % len(args) for i in self.nondiff_argnums}
        return fixed, [x for i, x in enumerate(args) if i not in places]

    def joined(self, fixed: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        """All arguments in their places again."""
        number = len(fixed) + len(others)
        by_place = dict(zip([i % number for i in self.nondiff_argnums], fixed, strict=True))
        rest = iter(others)
        return [by_place[i] if i in by_place else next(rest) for i in range(number)]


class custom_jvp(CustomFunction):  # a decorator; JAX's name
    """A function with its own rule for forward mode, and so for reverse mode: a decorator.

    The function's method `defjvp` takes the rule, which takes `(primals, tangents)` and returns
    `(result, tangent of the result)`. The tangent must be linear in `tangents`, and fit the result
    (else `TypeError`). Arguments at `nondiff_argnums` are not differentiated, and come first when
    the rule is called. Counterpart: `jax.custom_jvp`.

    >>> import minijax
    >>> @custom_jvp
    ... def f(x):
    ...     return x * x
    >>> @f.defjvp
    ... def f_jvp(primals, tangents):
    ...     return f(*primals), 100.0 * tangents[0]
    >>> print(f(3.0), minijax.grad(f)(3.0))
    9.0 100.0
    """

    rule: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Take the rule: `jvp(*nondiff_args, primals, tangents)` returns a pair of results."""
        self.rule = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Take one rule per argument: `rule(tangent, result, *args)` returns a tangent.

        The tangent of the result is their sum; None stands for an argument without influence.
        """
        if self.nondiff_argnums:
            raise TypeError("defjvps cannot be used with nondiff_argnums. Use defjvp.")

        def jvp(primals: Values, tangents: Sequence[Tangent]) -> tuple[Any, Any]:
            result = self(*primals)
            pairs = zip(jvps, tangents, strict=True)
            parts = [rule(t, result, *primals) for rule, t in pairs if rule is not None]
            add = functools.partial(tree_map, lambda x, y: x + y)
            return result, functools.reduce(add, parts) if parts else None

        self.defjvp(jvp)

    def __call__(self, *args: Value, **kwargs: Any) -> Value:
        if self.rule is None:
            raise AttributeError(f"No JVP defined for custom_jvp function {self.name}.")
        rule = self.rule
        fixed, others = self.split(positional(self.fun, args, kwargs))
        fixed = tree_map(lambda x: not_moving(x) if isinstance(x, Tracer) else x, fixed)
        leaves, in_tree = tree_flatten(others)
        trees: list[PyTreeDef] = []

        def call(*xs: Value) -> list[Value]:
            out = self.fun(*self.joined(fixed, tree_unflatten(in_tree, xs)))
            return flat_result(trees, out)

        def jvp(*xs: Value) -> list[Value]:
            primals, tangents = halves(xs)
            trees_in = (tuple(tree_unflatten(in_tree, half)) for half in (primals, tangents))
            out, out_dot = pair_of("JVP rule", rule(*fixed, *trees_in))
            return flat_result(trees, out) + flat_tangents(out, out_dot)

        outs = custom_jvp_p.bind(*leaves, call=call, jvp=jvp, num_consts=0)
        return tree_unflatten(trees[0], outs)


def not_moving(x: Value) -> Value:
    """`x`, whose tangent counts as zero."""
    zero = np.zeros(get_aval(x).shape, dtypes.float0)
    (out,) = custom_jvp_p.bind(x, call=lambda x: [x], jvp=lambda x, _: [x, zero], num_consts=0)
    return out


class custom_vjp(CustomFunction):  # a decorator; JAX's name
    """A function with its own rule for reverse mode, and none for forward mode: a decorator.

    The function's method `defvjp` takes two functions. `fwd` takes the arguments of the function
    and returns `(result, residuals)`. `bwd(residuals, cotangent)` returns a tuple with a cotangent
    for each argument, None for zero. Arguments at `nondiff_argnums` are not differentiated, and
    come first when `bwd` is called. Counterpart: `jax.custom_vjp`.

    >>> import minijax
    >>> @custom_vjp
    ... def f(x, y):
    ...     return x * y
    >>> f.defvjp(lambda x, y: (x * y, (x, y)), lambda res, ct: (ct * 100.0, ct * res[0]))
    >>> print(*minijax.grad(f, (0, 1))(3.0, 4.0))
    100.0 3.0
    """

    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Take the two rules, as the class describes them."""
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args: Value, **kwargs: Any) -> Value:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"No VJP defined for custom_vjp function {self.name}.")
        user_fwd, user_bwd = self.fwd, self.bwd
        fixed, others = self.split(positional(self.fun, args, kwargs))
        if any(isinstance(x, Tracer) for x in tree_leaves(fixed)):
            raise UnexpectedTracerError(
                "nondiff_argnums of a custom_vjp function names an argument that is a tracer. Such "
                "arguments are for what is not an array: pass it as an ordinary one, and let the "
                "bwd rule return None for it."
            )
        leaves, in_tree = tree_flatten(others)
        avals = [raise_to_shaped(get_aval(x)) for x in leaves]
        trees: list[PyTreeDef] = []
        res_trees: list[PyTreeDef] = []

        def call(*xs: Value) -> list[Value]:
            out = self.fun(*self.joined(fixed, tree_unflatten(in_tree, xs)))
            return flat_result(trees, out)

        def fwd(*xs: Value) -> tuple[list[Any], list[Any]]:
            pair = user_fwd(*self.joined(fixed, tree_unflatten(in_tree, xs)))
            out, res = pair_of("fwd rule", pair)
            return flat_result(trees, out), flat_result(res_trees, res)

        def bwd(*xs: Value) -> list[Value]:
            number = res_trees[0].num_leaves
            res = tree_unflatten(res_trees[0], xs[:number])
            ct = tree_unflatten(trees[0], xs[number:])
            return flat_cts(in_tree, avals, user_bwd(*fixed, res, ct))

        outs = custom_vjp_p.bind(*leaves, call=call, fwd=fwd, bwd=bwd, num_consts=0)
        return tree_unflatten(trees[0], outs)


def positional(f: Callable[..., Any], args: Values, kwargs: dict[str, Any]) -> Values:
    """The arguments of a call by position, with defaults filled in."""
    if isinstance(f, functools.partial):  # what it has given away is its own affair
        if kwargs:
            raise TypeError(f"A partial with custom rules takes no arguments by name: {[*kwargs]}.")
        return args
    try:
        bound = inspect.signature(f).bind(*args, **kwargs)
    except ValueError:  # a builtin, for which Python knows no signature
        return args
    bound.apply_defaults()
    if names := ", ".join(name for name in bound.kwargs if name in kwargs):
        raise TypeError(f"A function with custom rules takes no keyword-only arguments: {names}.")
    return bound.args


def flat_result(trees: list[PyTreeDef], out: Value) -> list[Value]:
    """The leaves of a result; its structure is noted in `trees`, and is the same every time."""
    leaves, tree = tree_flatten(out)
    if trees and trees[0] != tree:
        raise TypeError(f"A custom rule returns {tree}, but the function returns {trees[0]}.")
    trees[:] = [tree]
    return leaves


def pair_of(what: str, out: Value) -> tuple[Any, Any]:
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError(f"A custom {what} must return a pair, and returned {type(out).__name__}.")
    return out[0], out[1]


def flat_tangents(out: Value, out_dot: Any) -> list[Value]:
    """The leaves of the tangent that a rule returned, which must fit the result's."""
    leaves, tangents = tree_flatten(out)[0], tree_flatten(out_dot)[0]
    if tree_structure(out) != tree_structure(out_dot):
        raise TypeError(
            "A custom JVP rule must return primal and tangent of the same structure, and returned "
            f"{tree_structure(out)} and {tree_structure(out_dot)}."
        )
    for x, t in zip(map(get_aval, leaves), tangents, strict=True):
        got = (getattr(t, "shape", ()), getattr(t, "dtype", None) or get_aval(t).dtype)
        if got != (x.shape, dtypes.tangent_dtype(x.dtype)):
            raise TypeError(
                f"A custom JVP rule returned a tangent of shape {got[0]} and dtype "
                f"{dtypes.short_name(got[1])} for a result of type {x}."
            )
    return tangents


def flat_cts(in_tree: PyTreeDef, avals: Sequence[ShapedArray], cts: Value) -> list[Value]:
    """The leaves of what a `bwd` rule returned: one for each input, zeros instead of None."""
    number = len(in_tree.child_treedefs)
    if not isinstance(cts, (tuple, list)) or len(cts) != number:
        raise TypeError(f"A custom bwd rule must return a tuple of {number} cotangents, not {cts}.")
    flat: list[Any] = []
    for tree, ct in zip(in_tree.child_treedefs, cts, strict=True):
        flat += leaves_or_none(tree, ct)
    return [fitting_ct(ct, aval) for ct, aval in zip(flat, avals, strict=True)]


def leaves_or_none(tree: PyTreeDef, ct: Tangent) -> list[Value]:
    """The leaves of a cotangent for an argument of this structure; one may stand for a part."""
    kind, children = node_type(type(ct)), tree.children()
    if ct is None or kind is None:
        return [ct] * tree.num_leaves
    parts, data = kind.take_apart(ct)
    parts = list(parts)
    if (type(ct), data, len(parts)) != (tree.node_class, tree.data, len(children)):
        raise TypeError(f"A custom bwd rule returned {tree_structure(ct)} for an argument {tree}.")
    pairs = zip(children, parts, strict=True)
    return [x for child, part in pairs for x in leaves_or_none(child, part)]


def fitting_ct(ct: Tangent, aval: ShapedArray) -> Value:
    """A cotangent for an input of type `aval`; None stands for zero, and integers have none.

    Its dtype may differ, as in JAX: rules compute in the precision that they want.
    """
    if ct is None or not dtypes.is_float(aval.dtype):
        return zeros_like_aval(aval)
    got = get_aval(ct)
    if got.shape != aval.shape:
        raise ValueError(f"A custom bwd rule returned a cotangent {got} for an input {aval}.")
    return ct
