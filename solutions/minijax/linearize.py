"""Partial evaluation: compute what is known now, and write the rest down as a program.

Of a function's inputs some are known, and of the others only the type. Whatever depends on known
values alone is computed at once. Every other operation leaves a recipe, and the recipes that the
results need add up to a program; the known values that it uses are its constants, the *residuals*.

`linearize` is `jvp` under partial evaluation: primals are known, tangents are not. What is left is
the derivative as a program, linear in the tangents. In that form it can run backwards, which
the `grad` lesson does.

This file reads from top to bottom: partial values, recipes and their boxes, the interpreter, from
recipes to a program, `linearize`, and last what happens to a program that is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from minijax import dtypes
from minijax.arguments import disclosed, enclosing
from minijax.core import (
    Primitive,
    ShapedArray,
    Tangent,
    Trace,
    Tracer,
    Value,
    Values,
    full_raise,
    get_aval,
    new_main,
    partial_eval_rules,
)
from minijax.jaxpr import (
    Atom,
    ClosedJaxpr,
    JaxprEqn,
    Var,
    abstract_eval,
    checks,
    eval_jaxpr,
    jaxpr_as_fun,
    kept,
    raise_to_shaped,
)
from minijax.jit import call, jit_p, without_consts
from minijax.jvp import jvp_flat, zeros_like_aval
from minijax.partial_eval_types import typecheck_partial_eval_jaxpr
from minijax.tracing import JaxprBuilder, trace_to_jaxpr
from minijax.tree import (
    NodeType,
    Partial,
    PyTreeDef,
    flatten_fun,
    node_types,
    tree_flatten,
    tree_unflatten,
)


@dataclass(eq=False)
class PartialVal:
    """A value that is known, `const`, or one of which only the type is known: `const` is None."""

    aval: ShapedArray
    const: Any = None

    @property
    def is_known(self) -> bool:
        return self.const is not None


def known(val: Value) -> PartialVal:
    """The partial value of something that exists: a number, an array, or a different tracer."""
    return PartialVal(get_aval(val), val)


def unknown(aval: ShapedArray) -> PartialVal:
    """The partial value of something of which only the type is known.

    >>> unknown(get_aval(3.0))
    PartialVal(aval=ShapedArray(float64[], weak_type=True), const=None)
    """
    return PartialVal(raise_to_shaped(aval))


# Recipes: how an unknown value will be made -------------------------------------------------------


@dataclass(eq=False)
class EqnRecipe:
    """An equation of the program to be: `outvars = primitive[params] tracers_in`.

    It is the only kind of recipe. A known value is its own constant, and an input has a variable
    and no recipe; other kinds would be a case in each function that walks through them.
    """

    primitive: Primitive
    tracers_in: Sequence[PartialEvalTracer]
    params: dict[str, Any]
    outvars: list[Var]


class PartialEvalTracer(Tracer):
    """A partial value. If it is unknown, it has a variable, and the recipe that makes it.

    An input of the program has no recipe, and a known value needs neither: it is a constant.
    """

    def __init__(
        self,
        trace: Trace,
        pval: PartialVal,
        var: Var | None = None,
        recipe: EqnRecipe | None = None,
    ) -> None:
        self._trace = trace
        self.pval = pval
        self.aval = pval.aval
        self.var = var
        self.recipe = recipe

    def full_lower(self) -> Any:
        """A known value needs no box: operations on it do not come here again."""
        return self.pval.const if self.pval.is_known else self


class PartialEvalTrace(Trace):
    """Evaluates what is known, and makes recipes for the rest."""

    def new_arg(self, pval: PartialVal) -> PartialEvalTracer:
        """The box of an input; an unknown one gets its variable here, and needs no recipe."""
        return PartialEvalTracer(self, pval, None if pval.is_known else Var(pval.aval))

    def pure(self, val: Value) -> PartialEvalTracer:
        return PartialEvalTracer(self, known(val))

    lift = pure

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[PartialEvalTracer], params: dict[str, Any]
    ) -> Any:
        """An operation's value if all operands are known, else what is left for later.

        With an unknown operand, the primitive's partial evaluation rule decides. If it has none,
        the whole operation is left for later.

        >>> from minijax.core import neg_p
        >>> with new_main(PartialEvalTrace) as main:
        ...     trace = PartialEvalTrace(main)
        ...     trace.process_primitive(neg_p, [trace.pure(3.0)], {})
        Array(-3., dtype=float64, weak_type=True)
        """
        if all(t.pval.is_known for t in tracers):
            return primitive.bind(*(t.pval.const for t in tracers), **params)
        if primitive in partial_eval_rules:
            return partial_eval_rules[primitive](self, tracers, **params)
        outs = self.stage_out(primitive, tracers, params)
        return outs if primitive.multiple_results else outs[0]

    def stage_out(
        self, primitive: Primitive, tracers: Sequence[PartialEvalTracer], params: dict[str, Any]
    ) -> list[PartialEvalTracer]:
        """The results of an operation left for later: a list of unknown tracers.

        Nothing is computed: only the results' types are known. One recipe makes all of them, from
        all of `tracers`.

        >>> from minijax.core import mul_p
        >>> with new_main(PartialEvalTrace) as main:
        ...     trace = PartialEvalTrace(main)
        ...     x, two = trace.new_arg(unknown(get_aval(1.0))), trace.pure(2.0)
        ...     (y,) = trace.stage_out(mul_p, [x, two], {})
        ...     print(y.pval.is_known, y.aval, list(y.recipe.tracers_in) == [x, two])
        ...     print(list(y.recipe.outvars) == [y.var])
        False ~float64[] True
        True
        """
        avals = abstract_eval(primitive, [t.aval for t in tracers], params)
        pvals = [unknown(aval) for aval in avals]
        recipe = EqnRecipe(primitive, tracers, params, [Var(pval.aval) for pval in pvals])
        pairs = zip(pvals, recipe.outvars, strict=True)
        return [PartialEvalTracer(self, pval, var, recipe) for pval, var in pairs]


# From recipes to a program ------------------------------------------------------------------------


def toposort(outs: Sequence[EqnRecipe]) -> list[EqnRecipe]:
    """The recipes `outs` and what they need: each once, after those that made its operands.

    `outs` may be empty or hold a recipe twice, and is not changed. Chains may be longer than
    Python's recursion limit, which is not raised. The work does not double with each recipe that is
    used twice.

    >>> with new_main(PartialEvalTrace) as main:
    ...     x = PartialEvalTrace(main).new_arg(unknown(get_aval(1.0)))
    ...     y = x + 1.0
    ...     z = y * y
    ...     print([recipe.primitive for recipe in toposort([z.recipe, y.recipe])])
    [add, mul]
    """
    done: set[int] = set()
    order: list[EqnRecipe] = []
    stack = list(outs)[::-1]
    while stack:
        recipe = stack[-1]
        parents = [t.recipe for t in recipe.tracers_in if t.recipe]
        waiting = [parent for parent in parents if id(parent) not in done]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        stack.pop()
        if id(recipe) not in done:
            done.add(id(recipe))
            order.append(recipe)
    return order


def tracers_to_jaxpr(
    tracers_in: Sequence[PartialEvalTracer], tracers_out: Sequence[PartialEvalTracer]
) -> ClosedJaxpr:
    """The program that computes `tracers_out` from `tracers_in`.

    All `tracers_in` are unknown, and are its inputs, used or not; an output may be known. It has
    only equations that the outputs need. A known array is one constant of the program, and a known
    number is a literal, as in the `tracing` lesson.

    >>> with new_main(PartialEvalTrace) as main:
    ...     x = PartialEvalTrace(main).new_arg(unknown(get_aval(1.0)))
    ...     tracers_to_jaxpr([x], [x * 3.0, x])
    { lambda ; a:f64[]. let b:f64[] = mul a 3.0:f64[] in (b, a) }
    """
    builder = JaxprBuilder()

    def atom(tracer: PartialEvalTracer) -> Atom:
        return tracer.var or builder.constant(tracer.pval.const)

    for recipe in toposort([t.recipe for t in tracers_out if t.recipe]):
        invars = [atom(t) for t in recipe.tracers_in]
        builder.eqns.append(JaxprEqn(invars, recipe.outvars, recipe.primitive, recipe.params))
    return builder.build([t.var for t in tracers_in if t.var], [atom(t) for t in tracers_out])


def partial_eval_flat(
    f: Callable[..., list[Any]],
    pvals: Sequence[PartialVal],
    instantiate: Callable[[int], bool] = lambda i: False,
) -> tuple[list[PartialVal], ClosedJaxpr]:
    """The partial values of the results of `f`, and the program for those that are unknown.

    `f` runs once, under a new `PartialEvalTrace`, with all inputs in its boxes. Result `i` is
    unknown if it is an unknown box, or if `instantiate(i)`, which depends on `i` alone, is true. A
    box of an earlier use, even at the same level, raises `UnexpectedTracerError`. The list that `f`
    returns is not changed. The program goes from the unknown inputs to the unknown results, in
    order.

    >>> pvals_out, program = partial_eval_flat(
    ...     lambda x, y: [x * x, x * y], [known(3.0), unknown(get_aval(1.0))]
    ... )
    >>> [pval.const for pval in pvals_out]
    [Array(9., dtype=float64, weak_type=True), None]
    >>> program
    { lambda ; a:f64[]. let b:f64[] = mul 3.0:f64[] a in (b,) }
    """
    with new_main(PartialEvalTrace) as main:
        trace = PartialEvalTrace(main)
        tracers_in = [trace.new_arg(pval) for pval in pvals]
        outs = [full_raise(trace, out) for out in f(*tracers_in)]
        pvals_out = [unknown(t.aval) if instantiate(i) else t.pval for i, t in enumerate(outs)]
        unknown_in = [t for t in tracers_in if not t.pval.is_known]
        unknown_out = [t for t, p in zip(outs, pvals_out, strict=True) if not p.is_known]
        return pvals_out, tracers_to_jaxpr(unknown_in, unknown_out)


# linearize --------------------------------------------------------------------------------------


def only_floats(args: Values, avals: Sequence[ShapedArray]) -> list[Value]:
    return [x for x, aval in zip(args, avals, strict=True) if dtypes.is_float(aval.dtype)]


def with_float0(moving: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    """Tangents for values of types `avals`: `moving` for the floats, `float0` for the others."""
    rest = iter(moving)
    return [next(rest) if dtypes.is_float(aval.dtype) else zeros_like_aval(aval) for aval in avals]


def linearize_flat(
    f: Callable[..., list[Any]], primals: Values, count: Callable[[], int]
) -> tuple[list[Any], ClosedJaxpr]:
    """The values of `f` at `primals`, and its derivative as a program.

    `f` runs once, and what depends on primals alone is computed now. The program takes tangents of
    float inputs. It returns one for each float, even constant, among the first `count()` results;
    others are only values. `count` can be called once `f` has run.

    >>> values, program = linearize_flat(lambda x, n: [x * x * n, n], [3.0, 2], lambda: 2)
    >>> values
    [Array(18., dtype=float64, weak_type=True), 2]
    >>> eval_jaxpr(program.jaxpr, program.consts, 1.0)
    [Array(12., dtype=float64, weak_type=True)]
    """
    avals = [get_aval(x) for x in primals]
    values: list[Any] = []

    def tangents_out(*moving: Any) -> list[Any]:
        primals_out, tangents = jvp_flat(f, primals, with_float0(moving, avals))
        values.extend(primals_out)
        return [t for t in tangents[: count()] if dtypes.is_float(get_aval(t).dtype)]

    unknowns = [unknown(aval) for aval in only_floats(avals, avals)]
    _, program = partial_eval_flat(tangents_out, unknowns, lambda i: True)
    return values, program


class Linearized(NamedTuple):
    """The value of a function, and the program of its derivative with its inputs and results."""

    value: Any
    aux: Any
    program: ClosedJaxpr
    in_tree: PyTreeDef
    in_avals: list[ShapedArray]
    out_tree: PyTreeDef
    out_avals: list[ShapedArray]


def to_residuals(lin: Linearized) -> tuple[list[Any], Any]:
    """The residuals as children of a container, without value and `aux`."""
    types = lin.in_tree, tuple(lin.in_avals), lin.out_tree, tuple(lin.out_avals)
    return lin.program.consts, (lin.program.jaxpr, *types)


def from_residuals(data: Any, residuals: Values) -> Linearized:
    jaxpr, in_tree, in_avals, out_tree, out_avals = data
    program = ClosedJaxpr(jaxpr, list(residuals))
    return Linearized(None, None, program, in_tree, list(in_avals), out_tree, list(out_avals))


# Not by register_pytree_node: that is an exercise, and the import must not wait for it.
node_types[Linearized] = NodeType(to_residuals, from_residuals)


def linearize(fun: Callable[..., Any], *primals: Value, has_aux: bool = False) -> tuple[Value, ...]:
    """The value of `fun` at `primals`, and its derivative there as a function of tangents.

    `fun` runs once, and everything that does not depend on the tangents is computed now. The second
    result takes a tangent for each of `primals` and returns one of the value; call it as often as
    you like. With `has_aux`, `fun` returns a pair, and its second part comes as a third result.
    Counterpart: `jax.linearize`.

    >>> y, f_lin = linearize(lambda x: x * x * x, 2.0)
    >>> print(y, f_lin(1.0), f_lin(0.5))
    8.0 12.0 6.0
    """
    lin = linearize_tree(fun, primals, has_aux)

    f_lin = Partial(push_forward, lin)
    return (lin.value, f_lin, lin.aux) if has_aux else (lin.value, f_lin)


def push_forward(lin: Linearized, *tangents: Tangent) -> Value:
    """The tangent of the result of a function, for tangents of its inputs."""
    flat, tree = tree_flatten(tangents)
    if tree != lin.in_tree:
        raise TypeError(f"The linearized function takes {lin.in_tree}, but was given {tree}.")
    check_types("linearized function", flat, lin.in_avals)
    moving = only_floats(flat, lin.in_avals)
    out = eval_jaxpr(lin.program.jaxpr, lin.program.consts, *moving)
    return tree_unflatten(lin.out_tree, with_float0(out, lin.out_avals))


def linearize_tree(f: Callable[..., Any], primals: Values, has_aux: bool) -> Linearized:
    """Like `linearize_flat`, for functions of containers, or with `has_aux` of (result, more)."""
    leaves, in_tree = tree_flatten(primals)
    flat_f, out_tree = flatten_fun(
        enclosing(lambda *args: checked_pair(f(*args)) if has_aux else (f(*args), None)), in_tree
    )
    values, program = linearize_flat(
        flat_f, leaves, lambda: out_tree().child_treedefs[0].num_leaves
    )
    y, aux = tree_unflatten(out_tree(), values)
    y_leaves, y_tree = tree_flatten(y)
    in_avals, out_avals = [get_aval(x) for x in leaves], [get_aval(x) for x in y_leaves]
    return Linearized(y, disclosed(aux), program, in_tree, in_avals, y_tree, out_avals)


def checked_pair(out: Any) -> Any:
    """What a function returned that has an `aux`; `TypeError` unless it is a pair."""
    if not isinstance(out, tuple | list) or len(out) != 2:
        raise TypeError(f"With has_aux, a function returns a pair, and this one returned {out}.")
    return out


def check_types(what: str, args: Values, avals: Sequence[ShapedArray]) -> None:
    """`args` must be tangents (or cotangents) of values of these types; `ValueError` otherwise."""
    for x, aval in zip(args, avals, strict=True):
        got, want = get_aval(x), ShapedArray(aval.shape, dtypes.tangent_dtype(aval.dtype))
        if (got.shape, got.dtype) != (want.shape, want.dtype):
            raise ValueError(f"The {what} was given {got} where {want} belongs.")


# The call primitive: one program becomes two ------------------------------------------------------


def jit_partial_eval(
    trace: PartialEvalTrace, tracers: Sequence[PartialEvalTracer], *, name: str, jaxpr: ClosedJaxpr
) -> list[Any]:
    """The results of calling `jaxpr`, in order: plain values if known, else tracers.

    Everything that can be computed now is computed, by one call, or none if there is nothing to
    compute. The rest is one call for later. Both have the name `name`. `jaxpr` is split once for
    each choice of known operands.

    >>> f = trace_to_jaxpr(lambda x, y: [x * y, x + 1.0], [raise_to_shaped(get_aval(1.0))] * 2)
    >>> with new_main(PartialEvalTrace) as main:
    ...     trace = PartialEvalTrace(main)
    ...     x, y = trace.pure(3.0), trace.new_arg(unknown(get_aval(1.0)))
    ...     later, now = jit_partial_eval(trace, [x, y], name="f", jaxpr=f)
    >>> print(later.aval, float(now))
    ~float64[] 4.0
    """
    is_known = tuple(t.pval.is_known for t in tracers)
    known_part, rest, out_known = partial_eval_jaxpr(jaxpr, is_known)
    outs = call(known_part, [t.pval.const for t in tracers if t.pval.is_known], name)
    residuals = outs[sum(out_known) :]
    inputs = [trace.pure(r) for r in residuals] + [t for t in tracers if not t.pval.is_known]
    later = iter(trace.stage_out(jit_p, inputs, {"name": name, "jaxpr": rest}))
    now = iter(outs)
    return [next(now) if is_out_known else next(later) for is_out_known in out_known]


partial_eval_rules[jit_p] = jit_partial_eval


def partial_eval_jaxpr(
    jaxpr: ClosedJaxpr, is_known: tuple[bool, ...], instantiate: frozenset[int] = frozenset()
) -> tuple[ClosedJaxpr, ClosedJaxpr, list[bool]]:
    """Like `split_jaxpr`, cached on the program: one split for each choice of known inputs."""

    def split() -> tuple[ClosedJaxpr, ClosedJaxpr, list[bool]]:
        first, second, out_known = split_jaxpr(jaxpr, is_known, instantiate)
        if checks.enabled:
            typecheck_partial_eval_jaxpr(jaxpr, is_known, out_known, first, second)
        return first, second, out_known

    return kept(jaxpr, ("partial_eval", is_known, instantiate), split)


def partial_values(
    vals: Sequence[Any], is_known: Sequence[bool], avals: Sequence[ShapedArray]
) -> list[PartialVal]:
    """A partial value for each of `avals`; those that are known take their values from `vals`."""
    rest = iter(vals)
    pairs = zip(is_known, avals, strict=True)
    return [known(next(rest)) if is_val_known else unknown(aval) for is_val_known, aval in pairs]


def split_jaxpr(
    jaxpr: ClosedJaxpr, is_known: tuple[bool, ...], instantiate: frozenset[int]
) -> tuple[ClosedJaxpr, ClosedJaxpr, list[bool]]:
    """Unzip a program by which inputs are known: two programs, and which outputs are known.

        known inputs               ->  known outputs, residuals
        residuals, unknown inputs  ->  unknown outputs

    An output is known if it needs no unknown input and its number is not in `instantiate`. All work
    that needs no unknown input is in the first program; the second has no constants, and gets what
    it needs as residuals. The result of an operation, or an input, is one residual, however often
    it is used. Residuals come in any order, everything else in the order of `jaxpr`.

    >>> closed = trace_to_jaxpr(lambda x, y: [x * x * y], [raise_to_shaped(get_aval(1.0))] * 2)
    >>> first, second, out_known = split_jaxpr(closed, (True, False), frozenset())
    >>> first
    { lambda ; a:f64[]. let b:f64[] = mul a a in (b,) }
    >>> second
    { lambda ; a:f64[] b:f64[]. let c:f64[] = mul a b in (c,) }
    >>> out_known
    [False]
    """
    found: list[Any] = []

    def known_part(*vals: Any) -> list[Any]:
        pvals = partial_values(vals, is_known, jaxpr.in_avals)
        pvals_out, rest = partial_eval_flat(jaxpr_as_fun(jaxpr), pvals, instantiate.__contains__)
        found[:] = rest.jaxpr, [pval.is_known for pval in pvals_out]
        return [pval.const for pval in pvals_out if pval.is_known] + rest.consts

    known_avals = [aval for aval, k in zip(jaxpr.in_avals, is_known, strict=True) if k]
    first = trace_to_jaxpr(known_part, known_avals)
    rest, out_known = found
    return first, ClosedJaxpr(without_consts(rest), []), out_known
