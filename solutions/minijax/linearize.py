"""Partial evaluation: compute what is known now, and write the rest down as a program.

Of a function's inputs some are known, and of the others only the type. What depends on known values
alone is computed at once. Every other operation leaves a recipe, and the recipes that the results
need add up to a program; the known values that it uses are its constants, the *residuals*.

`linearize` is `jvp` under partial evaluation: primals are known, tangents are not. What is left is
the derivative as a program, linear in the tangents. In that form it can run backwards (lesson
grad).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from minijax import dtypes
from minijax.core import (
    Primitive,
    ShapedArray,
    Trace,
    Tracer,
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
    eval_jaxpr,
    jaxpr_as_fun,
    raise_to_shaped,
)
from minijax.jit import call, jit_p, without_consts
from minijax.jvp import jvp_flat, zeros_like_aval
from minijax.tracing import JaxprBuilder, trace_to_jaxpr
from minijax.tree import PyTreeDef, flatten_fun, tree_flatten, tree_unflatten


@dataclass(eq=False)
class PartialVal:
    """A value that is known, `const`, or one of which only the type is known: `const` is None."""

    aval: ShapedArray
    const: Any = None

    @property
    def is_known(self) -> bool:
        return self.const is not None


def known(val: Any) -> PartialVal:
    return PartialVal(get_aval(val), val)


def unknown(aval: ShapedArray) -> PartialVal:
    return PartialVal(raise_to_shaped(aval))


# Recipes: how an unknown value will be made -------------------------------------------------------


@dataclass(eq=False)
class EqnRecipe:
    """An equation of the program to be: `outvars = primitive[params] tracers_in`."""

    primitive: Primitive
    tracers_in: Sequence[PartialEvalTracer]
    params: dict[str, Any]
    outvars: list[Var]


class PartialEvalTracer(Tracer):
    """A partial value. Where it is unknown it has a variable, and the recipe that makes it.

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
        return self.pval.const if self.pval.is_known else self


class PartialEvalTrace(Trace):
    """Evaluates what is known; makes recipes for what is not."""

    def new_arg(self, pval: PartialVal) -> PartialEvalTracer:
        return PartialEvalTracer(self, pval, None if pval.is_known else Var(pval.aval))

    def pure(self, val: Any) -> PartialEvalTracer:
        return PartialEvalTracer(self, known(val))

    lift = pure

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[PartialEvalTracer], params: dict[str, Any]
    ) -> Any:
        if all(t.pval.is_known for t in tracers):
            return primitive.bind(*(t.pval.const for t in tracers), **params)
        if primitive in partial_eval_rules:
            return partial_eval_rules[primitive](self, tracers, **params)
        outs = self.stage_out(primitive, tracers, params)
        return outs if primitive.multiple_results else outs[0]

    def stage_out(
        self, primitive: Primitive, tracers: Sequence[PartialEvalTracer], params: dict[str, Any]
    ) -> list[PartialEvalTracer]:
        """Results of a primitive that will be applied later."""
        avals = abstract_eval(primitive, [t.aval for t in tracers], params)
        pvals = [unknown(aval) for aval in avals]
        recipe = EqnRecipe(primitive, tracers, params, [Var(pval.aval) for pval in pvals])
        pairs = zip(pvals, recipe.outvars, strict=True)
        return [PartialEvalTracer(self, pval, var, recipe) for pval, var in pairs]


def partial_eval_flat(
    f: Callable[..., list[Any]],
    pvals: Sequence[PartialVal],
    instantiate: Callable[[int], bool] = lambda i: False,
) -> tuple[list[PartialVal], ClosedJaxpr]:
    """Run `f` on partial values: the partial values of its results, and a program for the unknown.

    The program goes from the unknown inputs to the unknown results; its constants are the
    residuals. Result number `i` counts as unknown in any case where `instantiate(i)` is true.
    """
    with new_main(PartialEvalTrace) as main:
        trace = PartialEvalTrace(main)
        tracers_in = [trace.new_arg(pval) for pval in pvals]
        outs = [full_raise(trace, out) for out in f(*tracers_in)]
        unknown_in = [t for t in tracers_in if not t.pval.is_known]
        pvals_out = [unknown(t.aval) if instantiate(i) else t.pval for i, t in enumerate(outs)]
        unknown_out = [t for t, p in zip(outs, pvals_out, strict=True) if not p.is_known]
        return pvals_out, tracers_to_jaxpr(unknown_in, unknown_out)


def tracers_to_jaxpr(
    tracers_in: Sequence[PartialEvalTracer], tracers_out: Sequence[PartialEvalTracer]
) -> ClosedJaxpr:
    """The program that the recipes of `tracers_out` add up to."""
    builder = JaxprBuilder()

    def atom(tracer: PartialEvalTracer) -> Atom:
        return tracer.var or builder.constant(tracer.pval.const)

    for recipe in toposort([t.recipe for t in tracers_out if t.recipe]):
        invars = [atom(t) for t in recipe.tracers_in]
        builder.eqns.append(JaxprEqn(invars, recipe.outvars, recipe.primitive, recipe.params))
    return builder.build([t.var for t in tracers_in if t.var], [atom(t) for t in tracers_out])


def toposort(outs: Sequence[EqnRecipe]) -> list[EqnRecipe]:
    """All recipes that `outs` need, each after those that it needs itself; without recursion."""
    done: set[int] = set()
    order: list[EqnRecipe] = []
    stack = list(outs)[::-1]
    while stack:
        recipe = stack[-1]
        parents = [t.recipe for t in recipe.tracers_in if t.recipe]
        waiting = [parent for parent in parents if id(parent) not in done]
        if id(recipe) in done or not waiting:
            stack.pop()
            if id(recipe) not in done:
                done.add(id(recipe))
                order.append(recipe)
        else:
            stack.extend(waiting)
    return order


# The call primitive: one program becomes two ------------------------------------------------------


def jit_partial_eval(
    trace: PartialEvalTrace, tracers: Sequence[PartialEvalTracer], *, name: str, jaxpr: ClosedJaxpr
) -> list[Any]:
    """Call the known part now; the rest is called later, with the residuals as arguments."""
    is_known = tuple(t.pval.is_known for t in tracers)
    known_part, rest, out_known = partial_eval_jaxpr(jaxpr, is_known)
    known_args = [t.pval.const for t in tracers if t.pval.is_known]
    outs = call(known_part, known_args, name)
    number = sum(out_known)
    known_outs, residuals = iter(outs[:number]), outs[number:]
    inputs = [trace.pure(r) for r in residuals] + [t for t in tracers if not t.pval.is_known]
    staged = iter(trace.stage_out(jit_p, inputs, {"name": name, "jaxpr": rest}))
    return [next(known_outs) if is_out_known else next(staged) for is_out_known in out_known]


partial_eval_rules[jit_p] = jit_partial_eval


def partial_eval_jaxpr(
    jaxpr: ClosedJaxpr, is_known: tuple[bool, ...], instantiate: frozenset[int] = frozenset()
) -> tuple[ClosedJaxpr, ClosedJaxpr, list[bool]]:
    """Split a program by which inputs are known; kept beside it.

    Gives the program of the known part (known inputs -> known outputs, residuals), the program of
    the rest (residuals, unknown inputs -> unknown outputs), and which outputs are known. Those
    whose numbers are in `instantiate` count as unknown in any case.
    """
    cache, key = jaxpr.jaxpr.cache, ("partial_eval", is_known, instantiate)
    if key not in cache:
        cache[key] = split_jaxpr(jaxpr, is_known, instantiate)
    return cache[key]


def split_jaxpr(
    jaxpr: ClosedJaxpr, is_known: tuple[bool, ...], instantiate: frozenset[int]
) -> tuple[ClosedJaxpr, ClosedJaxpr, list[bool]]:
    """As `partial_eval_jaxpr`, anew: partial evaluation, while the known part is traced."""
    avals, f = jaxpr.in_avals, jaxpr_as_fun(jaxpr)
    result: dict[str, Any] = {}

    def known_part(*known_args: Any) -> list[Any]:
        args = iter(known_args)
        pvals = [
            known(next(args)) if k else unknown(aval)
            for k, aval in zip(is_known, avals, strict=True)
        ]
        pvals_out, rest = partial_eval_flat(f, pvals, instantiate.__contains__)
        result["rest"], result["out"] = rest.jaxpr, [p.is_known for p in pvals_out]
        return [p.const for p in pvals_out if p.is_known] + list(rest.consts)

    known_avals = [aval for aval, k in zip(avals, is_known, strict=True) if k]
    program = trace_to_jaxpr(known_part, known_avals)
    return program, ClosedJaxpr(without_consts(result["rest"]), []), result["out"]


# linearize --------------------------------------------------------------------------------------


def linearize_flat(
    f: Callable[..., list[Any]], primals: Sequence[Any], count: Callable[[], int]
) -> tuple[list[Any], ClosedJaxpr]:
    """The values of `f` at `primals`, and a program for the derivative of the first `count()`.

    The program goes from the tangents of the float inputs to those of the float results: what is
    not a float does not move, and has no place in it. `count` is asked when `f` has run.
    """
    avals = [get_aval(x) for x in primals]
    moves = [dtypes.is_float(aval.dtype) for aval in avals]

    def values_and_tangents(*moving: Any) -> list[Any]:
        rest = iter(moving)
        tangents = [next(rest) if move else None for move in moves]
        primals_out, tangents_out = jvp_flat(f, primals, tangents)
        values.extend(primals_out)
        return [t for t in tangents_out[: count()] if dtypes.is_float(get_aval(t).dtype)]

    values: list[Any] = []
    unknowns = [unknown(aval) for aval, move in zip(avals, moves, strict=True) if move]
    _, program = partial_eval_flat(values_and_tangents, unknowns, lambda i: True)
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


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of `fun` at `primals`, and its derivative there as a function of tangents.

    Everything that does not depend on the tangents is computed now, and once. With `has_aux`,
    `fun` gives a pair, of which the second part is handed through as a third result.
    Counterpart: `jax.linearize`.

    >>> y, f_lin = linearize(lambda x: x * x * x, 2.0)
    >>> print(y, f_lin(1.0), f_lin(0.5))
    8.0 12.0 6.0
    """
    lin = linearize_tree(fun, primals, has_aux)

    def f_lin(*tangents: Any) -> Any:
        flat, tree = tree_flatten(tangents)
        if tree != lin.in_tree:
            raise TypeError(f"The linearized function takes {lin.in_tree}, and was given {tree}.")
        check_types("linearized function", flat, lin.in_avals)
        moving = only_floats(flat, lin.in_avals)
        out = eval_jaxpr(lin.program.jaxpr, lin.program.consts, *moving)
        return tree_unflatten(lin.out_tree, with_float0(out, lin.out_avals))

    return (lin.value, f_lin, lin.aux) if has_aux else (lin.value, f_lin)


def linearize_tree(f: Callable[..., Any], primals: Sequence[Any], has_aux: bool) -> Linearized:
    """As `linearize_flat`, for functions of containers; with `has_aux` of a pair (result, more)."""
    leaves, in_tree = tree_flatten(primals)
    flat_f, out_tree = flatten_fun(f if has_aux else lambda *args: (f(*args), None), in_tree)
    values, program = linearize_flat(flat_f, leaves, lambda: out_tree().children[0].num_leaves)
    y, aux = tree_unflatten(out_tree(), values)
    y_leaves, y_tree = tree_flatten(y)
    in_avals, out_avals = [get_aval(x) for x in leaves], [get_aval(x) for x in y_leaves]
    return Linearized(y, aux, program, in_tree, in_avals, y_tree, out_avals)


def check_types(what: str, args: Sequence[Any], avals: Sequence[ShapedArray]) -> None:
    """`args` must be tangents (or cotangents) of values of these types; `ValueError` otherwise."""
    for x, aval in zip(args, avals, strict=True):
        got, want = get_aval(x), ShapedArray(aval.shape, dtypes.tangent_dtype(aval.dtype))
        if (got.shape, got.dtype) != (want.shape, want.dtype):
            raise ValueError(f"The {what} was given {got} where {want} belongs.")


def only_floats(args: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    return [x for x, aval in zip(args, avals, strict=True) if dtypes.is_float(aval.dtype)]


def with_float0(moving: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    """Tangents for values of types `avals`: the given ones for floats, `float0` for the others."""
    rest = iter(moving)
    return [next(rest) if dtypes.is_float(aval.dtype) else zeros_like_aval(aval) for aval in avals]
