"""Partial evaluation: compute what is known now, and write the rest down as a program.

A first cut: `PartialVal`, recipes, `toposort`, the rule of the call primitive, and `linearize`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

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
    Jaxpr,
    JaxprEqn,
    Var,
    abstract_eval,
    eval_jaxpr,
    jaxpr_as_fun,
    raise_to_shaped,
)
from minijax.jit import call, jit_p
from minijax.jvp import jvp_flat
from minijax.tracing import trace_to_jaxpr
from minijax.tree import flatten_fun, tree_flatten, tree_unflatten


@dataclass(frozen=True, eq=False)
class PartialVal:
    """A value that is known (`const`), or one of which the type is known only (`const` is None)."""

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


@dataclass(frozen=True, eq=False)
class InputRecipe:
    """It is an input of the program."""


@dataclass(frozen=True, eq=False)
class ConstRecipe:
    """It is known already: a residual."""

    val: Any


@dataclass(frozen=True, eq=False)
class EqnRecipe:
    """It is result number `index`, of those in `outs`, of an equation."""

    primitive: Primitive
    tracers_in: list[PartialEvalTracer]
    params: dict[str, Any]
    avals_out: list[ShapedArray]


class PartialEvalTracer(Tracer):
    """A partial value, and the recipe for it where it is unknown."""

    def __init__(self, trace: Trace, pval: PartialVal, recipe: Any, index: int = 0) -> None:
        self._trace = trace
        self.pval = pval
        self.recipe = recipe
        self.index = index

    @property
    def aval(self) -> ShapedArray:
        return self.pval.aval

    def full_lower(self) -> Any:
        return self.pval.const if self.pval.is_known else self


class PartialEvalTrace(Trace):
    """Evaluates what is known; makes recipes for what is not."""

    def new_arg(self, pval: PartialVal) -> PartialEvalTracer:
        return PartialEvalTracer(self, pval, InputRecipe())

    def pure(self, val: Any) -> PartialEvalTracer:
        return PartialEvalTracer(self, known(val), None)

    lift = pure

    def instantiate_const(self, tracer: PartialEvalTracer) -> PartialEvalTracer:
        """A tracer that the program can mention: a known value becomes a constant of it."""
        if not tracer.pval.is_known:
            return tracer
        recipe = ConstRecipe(tracer.pval.const)
        return PartialEvalTracer(self, unknown(tracer.pval.aval), recipe)

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
        inputs = [self.instantiate_const(t) for t in tracers]
        avals = abstract_eval(primitive, [t.aval for t in inputs], params)
        recipe = EqnRecipe(primitive, inputs, params, avals)
        return [PartialEvalTracer(self, unknown(aval), recipe, i) for i, aval in enumerate(avals)]


def partial_eval_flat(
    f: Callable[..., list[Any]], pvals: Sequence[PartialVal]
) -> tuple[list[PartialVal], ClosedJaxpr]:
    """Run `f` on partial values: the partial values of its results, and a program for the unknown.

    The program goes from the unknown inputs to the unknown results; its constants are the
    residuals.
    """
    with new_main(PartialEvalTrace) as main:
        trace = PartialEvalTrace(main)
        tracers_in = [trace.new_arg(pval) for pval in pvals]
        outs = [full_raise(trace, out) for out in f(*tracers_in)]
        unknown_in = [t for t in tracers_in if not t.pval.is_known]
        program = tracers_to_jaxpr(unknown_in, [t for t in outs if not t.pval.is_known])
        return [t.pval for t in outs], program


def tracers_to_jaxpr(
    tracers_in: Sequence[PartialEvalTracer], tracers_out: Sequence[PartialEvalTracer]
) -> ClosedJaxpr:
    """The program that the recipes of `tracers_out` add up to."""
    env: dict[Any, Var] = {id(t): Var(t.aval) for t in tracers_in}
    invars = [env[id(t)] for t in tracers_in]
    consts: dict[Var, Any] = {}
    eqns: list[JaxprEqn] = []
    made: dict[int, list[Var]] = {}  # the variables of each equation's results
    for tracer in toposort(tracers_out):
        recipe = tracer.recipe
        if isinstance(recipe, ConstRecipe):
            env[id(tracer)] = Var(tracer.aval)
            consts[env[id(tracer)]] = recipe.val
        elif isinstance(recipe, EqnRecipe):
            if id(recipe) not in made:
                made[id(recipe)] = [Var(aval) for aval in recipe.avals_out]
                operands: list[Atom] = [env[id(t)] for t in recipe.tracers_in]
                outvars = made[id(recipe)]
                eqns.append(JaxprEqn(operands, outvars, recipe.primitive, recipe.params))
            env[id(tracer)] = made[id(recipe)][tracer.index]
    outvars_all: list[Atom] = [env[id(t)] for t in tracers_out]
    return ClosedJaxpr(Jaxpr(list(consts), invars, outvars_all, eqns), list(consts.values()))


def parents(tracer: PartialEvalTracer) -> list[PartialEvalTracer]:
    return tracer.recipe.tracers_in if isinstance(tracer.recipe, EqnRecipe) else []


def toposort(outs: Sequence[PartialEvalTracer]) -> list[PartialEvalTracer]:
    """All tracers that `outs` need, each after those that it needs itself; without recursion."""
    done: set[int] = set()
    order: list[PartialEvalTracer] = []
    stack = list(outs)[::-1]
    while stack:
        tracer = stack[-1]
        waiting = [t for t in parents(tracer) if id(t) not in done]
        if id(tracer) in done or not waiting:
            stack.pop()
            if id(tracer) not in done:
                done.add(id(tracer))
                order.append(tracer)
        else:
            stack.extend(waiting)
    return order


# The call primitive: one program becomes two ------------------------------------------------------


def jit_partial_eval(
    trace: PartialEvalTrace, tracers: Sequence[PartialEvalTracer], *, name: str, jaxpr: Jaxpr
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
    jaxpr: Jaxpr, is_known: tuple[bool, ...]
) -> tuple[ClosedJaxpr, Jaxpr, list[bool]]:
    """Split a program by which inputs are known; kept beside it.

    Gives the program of the known part (known inputs -> known outputs, residuals), the program of
    the rest (residuals, unknown inputs -> unknown outputs), and which outputs are known.
    """
    key = ("partial_eval", is_known)
    if key not in jaxpr.cache:
        jaxpr.cache[key] = split_jaxpr(jaxpr, is_known)
    return jaxpr.cache[key]


def split_jaxpr(jaxpr: Jaxpr, is_known: tuple[bool, ...]) -> tuple[ClosedJaxpr, Jaxpr, list[bool]]:
    f = jaxpr_as_fun(ClosedJaxpr(jaxpr, []))
    avals = [v.aval for v in jaxpr.invars]
    result: dict[str, Any] = {}

    def known_part(*known_args: Any) -> list[Any]:
        args = iter(known_args)
        pvals = [
            known(next(args)) if k else unknown(aval)
            for k, aval in zip(is_known, avals, strict=True)
        ]
        pvals_out, rest = partial_eval_flat(f, pvals)
        result["rest"], result["out"] = rest.jaxpr, [p.is_known for p in pvals_out]
        return [p.const for p in pvals_out if p.is_known] + list(rest.consts)

    known_avals = [aval for aval, k in zip(avals, is_known, strict=True) if k]
    program = trace_to_jaxpr(known_part, known_avals)
    rest = result["rest"]
    inputs = [*rest.constvars, *rest.invars]
    return program, Jaxpr([], inputs, rest.outvars, rest.eqns), result["out"]


# linearize --------------------------------------------------------------------------------------


def linearize_flat(
    f: Callable[..., list[Any]], primals: Sequence[Any]
) -> tuple[list[Any], ClosedJaxpr]:
    """The values of `f` at `primals`, and a program for its derivative there."""

    def values_and_tangents(*args: Any) -> list[Any]:
        half = len(args) // 2
        primals_out, tangents_out = jvp_flat(f, args[:half], args[half:])
        return [*primals_out, *tangents_out]

    tangent_avals = [
        ShapedArray(get_aval(x).shape, dtypes.tangent_dtype(get_aval(x).dtype)) for x in primals
    ]
    pvals = [*map(known, primals), *map(unknown, tangent_avals)]
    pvals_out, program = partial_eval_flat(lambda *a: instantiated(values_and_tangents(*a)), pvals)
    return [p.const for p in pvals_out if p.is_known], program


def instantiated(outs: list[Any]) -> list[Any]:
    """Values and tangents, with every tangent a tracer of the trace that is on top."""
    from minijax.core import trace_state

    trace = PartialEvalTrace(trace_state.stack[-1])
    half = len(outs) // 2
    return outs[:half] + [trace.instantiate_const(full_raise(trace, t)) for t in outs[half:]]


def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of `f`, and its derivative at this point as a function, computed once."""
    leaves, in_tree = tree_flatten(primals)
    flat_f, out_tree = flatten_fun(f, in_tree)
    outs, program = linearize_flat(flat_f, leaves)

    def f_lin(*tangents: Any) -> Any:
        tangents_flat = tree_flatten(tangents)[0]
        out = eval_jaxpr(program.jaxpr, program.consts, *tangents_flat)
        return tree_unflatten(out_tree(), out)

    return tree_unflatten(out_tree(), outs), f_lin
