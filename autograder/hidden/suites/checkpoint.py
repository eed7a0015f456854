"""Hidden tests of the `checkpoint` lesson: what is kept, what is computed again, and what XLA gets.

Every exercise is tested alone. Where its target calls what a sibling exercise defines, the probe
puts a right one in its place meanwhile. Functions to be traced travel as text. Variables are told
by the equation that makes them. Nothing here is compiled.
"""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place, one_program
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    from unittest.mock import Mock, patch

    from minijax import core, lax
    from minijax import numpy as jnp
    from minijax.checkpoint import in_segments, kept_values, program_for_later, without_dead_code
    from minijax.core import Tracer, get_aval, impl_rules, new_main, trace_state
    from minijax.jaxpr import eval_jaxpr, raise_to_shaped
    from minijax.jit import jit
    from minijax.linearize import PartialEvalTrace, linearize_tree, tracers_to_jaxpr, unknown
    from minijax.tracing import trace_to_jaxpr

ROW = np.array([0.5, -2.0, 3.0])
STEP = np.array([1.0, 10.0, 100.0])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])
F32 = np.float32


# What several probes use --------------------------------------------------------------------------


def function_of(text):
    """A function from its text, which may use `pair`: an operation with two results."""
    pair_p = core.Primitive("pair", multiple_results=True)
    core.abstract_eval_rules[pair_p] = lambda x, y, **params: [x, y]
    core.impl_rules[pair_p] = lambda x, y, **params: [np.add(x, y), np.subtract(x, y)]

    def pair(x, y, **params):
        return pair_p.bind(x, y, **params)

    return eval(text, {"np": np, "jnp": jnp, "jit": jit, "lax": lax, "pair": pair})


def traced(text, values):
    """A function as a program, for arguments like these: one for all questions about it."""

    def make():
        avals = [raise_to_shaped(get_aval(x)) for x in values]
        return trace_to_jaxpr(function_of(text), avals)

    return one_program(core, text, values, make)


def keeping(*names, yes=True, no=False):
    """A policy that keeps the results of these primitives, and a list of what it is asked.

    Without primitives it is an object that counts as false, like an empty list.
    """
    asked = []

    class Policy:
        __len__ = lambda self: len(names)  # noqa: E731

        def __call__(self, primitive, *avals, **params):
            known = primitive in core.abstract_eval_rules
            asked.append((primitive.name, known, [*map(repr, avals)], params_of(params)))
            return yes if primitive.name in names else no

    return Policy(), asked


def params_of(params):
    """Parameters, sorted; the class of those that are not plain data."""
    kinds = (bool, int, float, str, tuple, type(None))
    pairs = sorted(params.items())
    return [(k, v if isinstance(v, kinds) else type(v).__name__) for k, v in pairs]


def for_results(program, number):
    """The program for its results from this number on; the very same one for all of them."""
    if not number:
        return program
    return program.replace(jaxpr=program.jaxpr.replace(outvars=program.jaxpr.outvars[number:]))


def made(program):
    """Which result of which equation each variable is."""
    return {v: (i, j) for i, e in enumerate(program.eqns) for j, v in enumerate(e.outvars)}


def weak_types(avals):
    """Whether each of these types is weak."""
    return [aval.weak_type for aval in avals]


def names_in(program):
    """The primitives of a program, sorted: their order is not always fixed."""
    return sorted(eqn.primitive.name for eqn in program.eqns)


def work_in(program):
    """The same without conversions of a literal, which the contract leaves free."""
    return sorted(
        eqn.primitive.name
        for eqn in program.eqns
        if not (eqn.primitive.name == "convert_element_type" and hasattr(eqn.invars[0], "val"))
    )


def staged_calls(boxed, tracers, policy):
    """What was left for later; an operand is a value, or which unknown one it is."""
    recipes = [*{id(t.recipe): t.recipe for t in boxed}.values()]
    programs = [recipe.params["jaxpr"] for recipe in recipes]
    places = {id(t): i for i, t in enumerate(tracers)}
    return {
        "the primitives of the calls for later": [recipe.primitive.name for recipe in recipes],
        "an operand of the call for later is weakly typed": [
            weak_types(t.aval for t in recipe.tracers_in) for recipe in recipes
        ],
        "the operands of the call for later": [
            np.asarray(t.pval.const) if t.pval.is_known else places[id(t)]
            for recipe in recipes
            for t in recipe.tracers_in
        ],
        "the parameters of the call for later": [params_of(recipe.params) for recipe in recipes],
        "the call for later has the policy": [r.params["policy"] is policy for r in recipes],
        "the operations of the program for later": [*map(names_in, programs)],
        "the types that the program for later takes": [
            [aval.str_short() for aval in program.in_avals] for program in programs
        ],
    }


def arrays(values):
    """NumPy's arrays."""
    return [np.asarray(x) for x in values]


SPLIT = siblings("checkpoint.kept_values", "checkpoint.later")
WHOLE = siblings("checkpoint.kept_values", "checkpoint.later", "checkpoint.partial_eval")

exercise("checkpoint.kept_values")


@probe(uses=[for_results, keeping, made, traced])
def kept(mj, text, args, number, policy_names, answers=(True, False)):
    """Which results are kept, and what the policy was asked, if there is one."""
    program = traced(text, args)
    residuals = for_results(program, number).jaxpr
    policy, asked = None, []
    if policy_names is not None:
        policy, asked = keeping(*policy_names, yes=answers[0], no=answers[1])
    found = kept_values(residuals, policy)
    return {
        "which results are kept": [made(program).get(var) for var in found],
        "calls of the policy": sorted(asked, key=str),
    }


MIXED = """lambda x, y: (lambda a, b: [jnp.sin(y), jnp.cos(a) * b, jnp.cos(b) - y])(
    jnp.sin(x), jnp.sin(x * y))"""
NESTED = "lambda x: [jnp.sin(jnp.cos(jnp.sin(jnp.exp(x)))), jnp.exp(jnp.exp(x))]"
FORKED = "lambda x: (lambda a: [jnp.cos(jnp.sin(a)) + jnp.exp(a)])(jnp.sin(x) * x)"
PAIRS = "lambda x, y: (lambda a, b: [jnp.sin(x), b * a, pair(b, x)[0]])(*pair(x, y, k=3))"


@pytest.mark.meets("order")
@pytest.mark.keeps("in the order of its equations", "can be computed again by")
def test_kept_in_order(student):
    """Needed values that the policy wants are kept, in the order of the program."""
    student.agrees(kept, MIXED, [2.0, 3.0], 1, ["sin"])
    student.agrees(kept, MIXED, [ROW, STEP], 1, ["cos", "mul"])
    student.agrees(kept, FORKED, [ROW], 0, ["exp", "sin"])
    text = "lambda x, n: [n * n + 2, jnp.sin(x) * lax.iota(x.dtype, 3)]"
    student.agrees(kept, text, [ROW.astype(F32), np.arange(3)], 0, ["add", "mul"])
    student.agrees(kept, text, [ROW.astype(F32), np.arange(3)], 0, ["iota"])
    text = "lambda x: [jit(lambda b: b * 2.0)(jnp.sin(x) > 0.0)]"
    student.agrees(kept, text, [ROW], 0, ["jit"])
    student.agrees(kept, text, [ROW], 0, ["gt"])
    text = "lambda x: [jit(lambda *xs: xs[3])(x, 2.0, x * x, jnp.cos(x), jnp.sin(x))]"
    student.agrees(kept, text, [ROW], 0, ["sin", "mul"])
    student.agrees(kept, "lambda x: [jnp.exp(jnp.sin(x))]", [ROW[:0]], 0, ["sin"])


@pytest.mark.meets("sizes", "some_results")
@pytest.mark.keeps("could be left out")
def test_kept_residuals_alone(student):
    """What no residual needs is not kept."""
    student.agrees(kept, MIXED, [2.0, 3.0], 2, ["sin"])
    student.agrees(kept, MIXED, [2.0, 3.0], 3, ["sin", "cos"])
    student.agrees(kept, "lambda x: [jnp.sin(x), jnp.cos(x)]", [ROW], 1, ["sin", "cos"])
    student.agrees(kept, "lambda x: (lambda a: [a, a * x, a])(jnp.sin(x))", [ROW], 0, ["sin"])


@pytest.mark.meets("more_than_two")
def test_kept_residuals_after_outputs(student):
    """The right values are kept if an output and a residual are computed from one value."""
    text = "lambda x: (lambda a: [jnp.exp(jnp.sin(a)), jnp.exp(a), a * x])(jnp.sin(x))"
    student.agrees(kept, text, [ROW], 2, ["exp", "sin"])
    student.agrees(kept, text, [ROW], 1, ["exp"])


@pytest.mark.meets("again")
@pytest.mark.keeps("could be left out")
def test_kept_stops(student):
    """The operands of a kept value are not needed for it, but perhaps for something else."""
    student.agrees(kept, NESTED, [ROW], 0, ["sin"])
    student.agrees(kept, NESTED, [ROW], 0, ["exp", "cos"])
    student.agrees(kept, FORKED, [2.0], 0, ["sin"])
    student.agrees(kept, "lambda x: (lambda a: [a * a])(jnp.sin(x))", [2.0], 0, ["sin"])


@pytest.mark.meets("moment")
@pytest.mark.keeps("and for no other")
def test_kept_stops_at_once(student):
    """If the residuals themselves are kept, the policy is not asked about other equations."""
    student.agrees(kept, NESTED, [2.0], 1, ["exp"])
    student.agrees(kept, "lambda x: [jnp.sin(jnp.sin(jnp.sin(x)))]", [ROW], 0, ["sin"])


@pytest.mark.meets("float32", "keys", "moment", "weak_type")
@pytest.mark.keeps("asked once for each equation")
def test_kept_asks(student):
    """The policy is told primitive, types of the operands and parameters, once per equation."""
    student.agrees(kept, "lambda x, y: [2.0 * jnp.sum(x, axis=0) - y]", [GRID, STEP], 0, [])
    student.agrees(kept, MIXED, [2.0, ROW.astype(F32)], 1, [])
    text = "lambda x: [pair(x, 2.0, jaxpr=lax, dtype=np.dtype(int), k=None)[1]]"
    student.agrees(kept, text, [2.0], 0, [])
    twice = "lambda x: (lambda a: [jnp.exp(a), a * a, jnp.cos(a)])(jnp.sin(x))"
    student.agrees(kept, twice, [ROW], 0, ["sin"])


@pytest.mark.meets("order", "more_than_two", "some_results")
@pytest.mark.keeps("in the order of its equations", "can be computed again by")
def test_kept_of_several_results(student):
    """If an equation has several results, the needed ones are kept, in their order."""
    student.agrees(kept, PAIRS, [2.0, 3.0], 1, ["pair"])
    student.agrees(kept, PAIRS, [ROW, STEP], 2, ["pair"])
    student.agrees(kept, "lambda x, y: [*pair(x, y), x]", [ROW, STEP], 0, ["pair"])
    student.agrees(kept, "lambda x, y: pair(*pair(y, x))[1:]", [2.0, 3.0], 0, ["mul"])


@pytest.mark.keeps("From the inputs and these results")
def test_kept_no_inputs(student):
    """Inputs, constants and literals are never kept, not even as residuals."""
    text = "lambda x, y: (lambda c: [x, jnp.sin(y) * c, 3.0, y, c])(np.array([1.0, 2.0, 4.0]))"
    student.agrees(kept, text, [ROW, STEP], 0, ["sin", "mul"])
    student.agrees(kept, text, [ROW, STEP], 2, ["sin"])
    student.agrees(kept, text, [ROW, STEP], 0, ["sin"])
    student.agrees(kept, "lambda x: [x, 3.0]", [ROW], 0, ["sin"])


@probe
def kept_of_a_long_program(mj, length):
    """How often the policy is asked about a long program in which each value is used twice."""
    asked = []

    def f(x):
        for _ in range(length):
            x = x * mj.numpy.sin(x)
        return x

    def policy(primitive, *avals, **params):
        asked.append(1)
        return primitive.name == "sin"

    found = kept_values(mj.make_jaxpr(f)(1.0).jaxpr, policy)
    return {"the number of results that are kept": len(found), "calls of the policy": len(asked)}


@probe(uses=[for_results, traced])
def kept_by_a_broken_policy(mj, text, args):
    """Whether errors of the policy come out as they are."""
    found = []
    for kind in (TypeError, KeyError, NotImplementedError, AttributeError):
        error = kind("mine")
        try:
            kept_values(traced(text, args).jaxpr, Mock(side_effect=error))
            found.append("nothing")
        except Exception as caught:
            found.append("its own" if caught is error else "another")
    rest = kept_values(for_results(traced(text, args), 1).jaxpr, Mock(return_value=True))
    return {
        "the error that comes out of a policy that raises one": found,
        "the number of results that are kept afterwards": len(rest),
    }


@pytest.mark.meets("exception")
@pytest.mark.keeps("its errors pass through")
def test_kept_error_of_the_policy(student):
    """An error that the policy raises comes out."""
    student.agrees(kept_by_a_broken_policy, NESTED, [ROW])


@pytest.mark.meets("none", "zeros")
@pytest.mark.keeps("is false")
def test_kept_by_any_answer(student):
    """The policy may return anything that Python counts as true or false."""
    for answers in ([np.bool_(True), np.bool_(False)], [1, None], ["yes", ""]):
        student.agrees(kept, NESTED, [ROW], 0, ["sin"], answers)


@pytest.mark.meets("twice", "length")
@pytest.mark.keeps("asked once for each equation")
def test_kept_of_a_long_program(student):
    """A program may have thousands of equations, and use each value several times."""
    student.agrees(kept_of_a_long_program, 1250)


@pytest.mark.meets("none")
@pytest.mark.keeps("Nothing is kept if")
def test_kept_without_policy(student):
    """Without a policy nothing is kept; with one, something is."""
    for names in (["cos", "exp"], None):
        student.agrees(kept, MIXED, [2.0, 3.0], 1, names)
        student.agrees(kept, NESTED, [ROW], 0, names)


exercise("checkpoint.later")


@probe(uses=[arrays, for_results, names_in, traced, weak_types, work_in])
def later(mj, first, args, number, which, second, unknowns):
    """The program for later: types, operations without dead code, results; no operation is dead.

    `args` and `unknowns` are the known and the unknown inputs. The kept values come from a run of
    the known part, each a hundred more, to see where they go. The operations of the known part
    stay, because it is the caller's.
    """
    known_part = for_results(traced(first, args), number)
    jaxpr, inputs = known_part.jaxpr, len(known_part.in_avals)
    variables = [jaxpr.eqns[i].outvars[j] for i, j in which]
    before = list(variables)
    run = jaxpr.replace(outvars=[*variables, *jaxpr.outvars])
    values = eval_jaxpr(run, known_part.consts, *args)
    kept, residuals = values[: len(which)], values[len(which) :]
    rest = traced(second, [*residuals, *unknowns])
    program = program_for_later(known_part, variables, rest)
    operands = [*args, *(x + 100.0 for x in kept), *unknowns]
    outs = eval_jaxpr(program.jaxpr, program.consts, *operands)
    smaller, takes = without_dead_code(program)
    sides = program.in_avals, program.out_avals
    return {
        "the types of the program's inputs and results": [
            [aval.str_short() for aval in side] for side in sides
        ],
        "an input or a result is weakly typed": [weak_types(side) for side in sides],
        "the operations without dead code": work_in(smaller),
        "the residuals that the program takes": takes,
        "the results": arrays(outs),
        "the operations of the known part afterwards": names_in(known_part),
        "the known part has as many inputs as before": len(known_part.in_avals) == inputs,
        "the list of kept variables is as it was": variables == before,
    }


# Known outputs: x y. Residuals: sin(x), exp(sin(x)) - y, y.
KNOWN = "lambda x, y: (lambda a: [x * y, a, jnp.exp(a) - y, y])(jnp.sin(x))"
REST = "lambda a, b, y, t: [a * t - b, y * t]"


@pytest.mark.meets("weak_type")
@pytest.mark.keeps("computes the residuals again")
def test_later_computes_again(student):
    """Without kept values all residuals are computed again, from the known inputs."""
    student.agrees(later, KNOWN, [2.0, 3.0], 1, [], REST, [10.0])
    student.agrees(later, KNOWN, [ROW, STEP], 1, [], REST, [STEP])
    text = "lambda x, n: [jnp.sum(x, axis=1), jnp.sum(x, axis=0), n + 1]"
    shared = "lambda a, n, t: (lambda b: [b * a, t - b, n])(t * a)"
    student.agrees(later, text, [GRID.astype(F32), np.arange(2)], 1, [], shared, [ROW.astype(F32)])
    text = "lambda x: [[x := jnp.sin(x) for _ in range(1200)][-1]]"
    student.agrees(later, text, [2.0], 0, [], "lambda a, t: [a * t]", [5.0])


@pytest.mark.keeps("is left out")
def test_later_takes_kept_values(student):
    """A kept value is an input after the known ones, and is not computed."""
    student.agrees(later, KNOWN, [2.0, 3.0], 1, [(0, 0)], REST, [10.0])
    student.agrees(later, KNOWN, [ROW, STEP], 1, [(2, 0)], REST, [ROW])
    student.agrees(later, KNOWN, [ROW, STEP], 1, [(3, 0)], REST, [STEP])
    text = "lambda x: [jnp.sin(x) * x, jnp.sin(x)]"  # equal equations, and one is kept
    rest = "lambda a, b, t: [a * t - b]"
    student.agrees(later, text, [2.0], 0, [(0, 0)], rest, [10.0])
    student.agrees(later, text, [2.0], 0, [(2, 0)], rest, [10.0])


@pytest.mark.meets("order")
@pytest.mark.keeps("a value for each of its variables")
def test_later_takes_several(student):
    """Several kept values come in the order in which they are listed, even one that is not read."""
    student.agrees(later, KNOWN, [2.0, 3.0], 1, [(1, 0), (0, 0)], REST, [10.0])
    student.agrees(later, KNOWN, [2.0, 3.0], 1, [(0, 0), (2, 0)], REST, [10.0])
    student.agrees(later, KNOWN, [ROW, STEP], 1, [(3, 0), (0, 0)], REST, [STEP])


@pytest.mark.meets("order", "more_than_two")
@pytest.mark.keeps("It takes the inputs of")
def test_later_several_unknowns(student):
    """Unknown inputs come last, in their order, even one that is not read."""
    rest = "lambda a, b, y, s, t: [s - t * a, b, b, y * t]"
    student.agrees(later, KNOWN, [2.0, 3.0], 1, [], rest, [10.0, 7.0])
    student.agrees(later, KNOWN, [ROW, STEP], 1, [(2, 0)], rest, [GRID[0], GRID[1]])
    student.agrees(later, KNOWN, [2.0, 3.0], 1, [], "lambda a, b, y, s, t: [a * t]", [1.0, 2.0])
    student.agrees(later, KNOWN, [2.0, 3.0], 1, [(0, 0)], "lambda a, b, y: [a - y]", [])


@pytest.mark.meets("sizes", "some_results")
@pytest.mark.keeps("takes the residuals")
def test_later_without_outputs(student):
    """There may be no residuals at all, or no known results besides them."""
    rest = "lambda p, a, b, y, t: [p * t, a - b * y]"
    student.agrees(later, KNOWN, [2.0, 3.0], 0, [], rest, [10.0])
    student.agrees(later, KNOWN, [2.0, 3.0], 0, [], "lambda p, a, b, y, t: [p - t, a * b]", [10.0])
    student.agrees(later, KNOWN, [ROW, STEP], 0, [(1, 0)], rest, [ROW])
    student.agrees(later, KNOWN, [ROW, STEP], 4, [], "lambda t: [t * t, t]", [ROW])
    rest = "lambda p, a, b, y, t: [t, 7.0, b]"
    student.agrees(later, KNOWN, [2.0, 3.0], 0, [], rest, [10.0])
    student.agrees(later, "lambda: [jnp.sin(5.0)]", [], 0, [], "lambda a, t: [a * t]", [10.0])


@pytest.mark.meets("twice")
@pytest.mark.keeps("takes the residuals")
def test_later_one_residual_twice(student):
    """One value may be a residual twice, or a known output too, and inputs may be residuals."""
    twice = "lambda x, y: (lambda a: [a, a, y, a, x])(jnp.sin(x))"
    rest = "lambda a, y, b, x, t: [a * t - b, y - x]"
    student.agrees(later, twice, [2.0, 3.0], 1, [], rest, [10.0])
    student.agrees(later, twice, [ROW, STEP], 1, [(0, 0)], rest, [STEP])
    student.agrees(later, twice, [ROW, STEP], 3, [(0, 0)], "lambda a, x: [a - x]", [])


@pytest.mark.meets("closure", "some_results")
@pytest.mark.keeps("is left out")
def test_later_constants(student):
    """The known part may have constants, even as residuals, and equations with several results."""
    text = "lambda x: [x, np.array([1.0, 2.0, 4.0]) * x, 3.0, np.array([7.0, 8.0, 9.0])]"
    student.agrees(later, text, [ROW], 1, [], "lambda a, b, c, t: [a * t - b, c]", [STEP])
    text = "lambda x, y: (lambda a, b: [a, jnp.sin(b), b])(*pair(x, y))"
    student.agrees(later, text, [2.0, 3.0], 1, [(0, 1)], "lambda a, b, t: [a * t, b]", [5.0])
    student.agrees(later, text, [2.0, 3.0], 1, [(1, 0)], "lambda a, b, t: [a * t, b]", [5.0])
    text = "lambda x: [lax.cond(x > 0.0, jnp.sin, jnp.cos, x)]"  # a list of one result
    student.agrees(later, text, [2.0], 0, [], "lambda a, t: [a * t]", [5.0])


exercise("checkpoint.partial_eval")


@probe(uses=[arrays, in_place, keeping, names_in, params_of, staged_calls, traced, weak_types])
def split_call(mj, siblings, text, values, is_known, policy_names, flags, tangents):
    """What the rule makes of a call: results, the call for now, the call for later, its results."""
    program = traced(text, values)
    policy = keeping(*policy_names)[0] if policy_names else None
    params = dict(zip(["prevent_cse", "differentiated"], flags, strict=True))
    calls = []
    with in_place("minijax.checkpoint", siblings) as module, new_main(PartialEvalTrace) as main:

        def watched(*args, jaxpr, **params):
            same = params.get("policy") is policy
            if args or jaxpr.eqns:  # a call that computes nothing may be made or not
                weak = weak_types(map(get_aval, args))
                calls.append((names_in(jaxpr), arrays(args), params_of(params), same, weak))
            return module.remat_impl(*args, jaxpr=jaxpr, **params)

        trace = PartialEvalTrace(main)
        avals = program.in_avals
        tracers = [
            trace.pure(x) if flag else trace.new_arg(unknown(aval))
            for x, aval, flag in zip(values, avals, is_known, strict=True)
        ]
        with patch.dict(impl_rules, {module.remat_p: watched}):
            outs = module.remat_partial_eval(trace, tracers, jaxpr=program, policy=policy, **params)
        boxed = [out for out in outs if isinstance(out, Tracer)]
        told = [None if isinstance(x, Tracer) else np.asarray(x) for x in outs]
        staged = staged_calls(boxed, tracers, policy)
        unknowns = [t for t in tracers if not t.pval.is_known]
        rest = tracers_to_jaxpr(unknowns, boxed)
        results = eval_jaxpr(rest.jaxpr, rest.consts, *tangents)
        return {
            "the known results": told,
            "a known result is weakly typed": [
                get_aval(x).weak_type for x in outs if not isinstance(x, Tracer)
            ],
            "the number of calls for now": len(calls),
            "the operands of the call for now": [args for _, args, *_ in calls],
            "an operand of the call for now is weakly typed": [weak for *_, weak in calls],
            "the parameters of the call for now": [params for _, _, params, *_ in calls],
            "the call for now has the policy": [same for *_, same, _ in calls],
            "the operations of the program for now": [names for names, *_ in calls],
            **staged,
            "the results of later": arrays(results),
            "the class of what is returned": type(outs).__name__,
        }


@probe(uses=[function_of, in_place, keeping, names_in])
def derivative(mj, siblings, text, args, policy_names, how):
    """A derivative of a checkpointed function; the operations of its linear program, or calls."""
    policy = keeping(*policy_names)[0] if policy_names else None
    with in_place("minijax.checkpoint", siblings):
        f = mj.checkpoint(function_of(text), policy=policy)
        value, f_lin = mj.linearize(f, *args)
        if how == "grad":
            names = [e.primitive.name for e in mj.make_jaxpr(f_lin)(*args).eqns]
            return {
                "the gradient": mj.grad(f)(*args),
                "the number of remat2 equations": names.count("remat2"),
            }
        (call,) = [e for e in mj.make_jaxpr(f_lin)(*args).eqns if e.primitive.name == "remat2"]
        return {
            "the value": value,
            "the tangent": f_lin(*args),
            "the operations of the linear program": names_in(call.params["jaxpr"]),
        }


LINE = "lambda x, y: [jnp.sin(jnp.sin(x)) * y, jnp.exp(x)]"
SEVERAL = """lambda x, t, y, s: [jnp.sum(y), jnp.cos(jnp.exp(y)) * t - s, x - y,
    jnp.cos(jnp.sin(x)) * s]"""
FIRST = (True, False)


@pytest.mark.meets("moment")
@pytest.mark.keeps("which computes residuals again")
def test_split_forgets(student):
    """The known inputs cross the line, and the residuals are computed again later."""
    student.agrees(split_call, SPLIT, LINE, [2.0, 3.0], [True, False], [], FIRST, [10.0])
    student.agrees(split_call, SPLIT, LINE, [ROW, STEP], [True, False], [], FIRST, [STEP])


@pytest.mark.meets("order", "more_than_two")
@pytest.mark.keeps("in order: plain values if known")
def test_split_order(student):
    """Known and unknown operands may be mixed; known results are values, others wait."""
    values, flags = [ROW, 2.0, STEP, 3.0], [True, False, True, False]
    student.agrees(split_call, SPLIT, SEVERAL, values, flags, [], FIRST, [5.0, 7.0])
    flags = [False, False, True, False]
    student.agrees(split_call, SPLIT, SEVERAL, values, flags, [], FIRST, [GRID[0], 5.0, 7.0])
    student.agrees(split_call, SPLIT, SEVERAL, values, [True, True, True, False], [], FIRST, [7.0])


@pytest.mark.meets("keys", "none")
@pytest.mark.keeps("Both parts have")
def test_split_policy(student):
    """What the policy keeps crosses the line too, and is not computed again."""
    values, flags = [ROW, 2.0, STEP / 100, 3.0], [True, False, True, False]
    student.agrees(split_call, SPLIT, SEVERAL, values, flags, ["exp"], FIRST, [5.0, 7.0])
    student.agrees(split_call, SPLIT, SEVERAL, values, flags, ["cos"], FIRST, [5.0, 7.0])
    student.agrees(split_call, SPLIT, LINE, [2.0, 3.0], [True, False], ["sin"], FIRST, [10.0])
    text = "lambda x, t: (lambda a: [a * t, a, a, t * a])(jnp.sin(x))"
    student.agrees(split_call, SPLIT, text, [2.0, 3.0], [True, False], ["sin"], FIRST, [10.0])
    text = "lambda x, t: [jnp.sin(x) * t]"
    student.agrees(split_call, SPLIT, text, [ROW, 3.0], [True, False], ["sin"], FIRST, [10.0])


@pytest.mark.meets("keys")
@pytest.mark.keeps("Both parts have", "with `differentiated` true")
def test_split_marks(student):
    """The call for later is marked; the other parameters are passed on to both calls."""
    student.agrees(split_call, SPLIT, LINE, [2.0, 3.0], [True, False], [], (False, False), [10.0])
    flags = (True, True)
    student.agrees(split_call, SPLIT, LINE, [ROW, STEP], [True, False], ["log"], flags, [STEP])
    flags = (False, True)
    student.agrees(split_call, SPLIT, LINE, [2.0, 3.0], [True, False], ["sin"], flags, [10.0])


@pytest.mark.meets("sizes", "some_results")
@pytest.mark.keeps("depend on no unknown", "left to one `remat_p` operation")
def test_split_one_side(student):
    """All operands may be unknown, and all results may be known."""
    student.agrees(split_call, SPLIT, LINE, [2.0, 3.0], [False, False], [], FIRST, [0.5, 7.0])
    student.agrees(split_call, SPLIT, LINE, [ROW, STEP], [False, True], [], FIRST, [STEP / 100])
    text = "lambda n, e, b, t: [n * 2, jnp.sin(e), b, t * t]"
    values = [np.arange(3), ROW[:0], np.array([True]), ROW]
    student.agrees(split_call, SPLIT, text, values, [True, True, True, False], [], FIRST, [STEP])
    flags = [False, True, True, False]
    student.agrees(split_call, SPLIT, text, values, flags, [], FIRST, [np.arange(3), STEP])
    text = "lambda x, t: [jnp.sin(x), x * 2.0]"
    student.agrees(split_call, SPLIT, text, [ROW, 3.0], [True, False], [], FIRST, [5.0])
    text = "lambda y, z: [jnp.sin(5.0), y * 2.0, 3.0, y * z, z * jnp.cos(5.0)]"
    student.agrees(split_call, SPLIT, text, [ROW, 3.0], [False, False], ["cos"], FIRST, [STEP, 7.0])


@probe(uses=[in_place, names_in])
def under_other_transformations(mj, siblings, x):
    """Derivatives of a checkpointed function inside other transformations, and their programs."""
    jnp = mj.numpy
    with in_place("minijax.checkpoint", siblings):
        f = mj.checkpoint(lambda x: jnp.sin(jnp.sin(x)) * x)

        g = mj.checkpoint(lambda x, y: jnp.sin(x * x * y))

        def outer(x, w):
            return mj.grad(mj.checkpoint(lambda y: jnp.sin(y * w) * x * y))(x)

        try:
            error = mj.grad(mj.checkpoint(jnp.sin, policy=Mock(side_effect=KeyError("mine"))))(x)
        except KeyError as caught:
            error = caught.args
        program = mj.make_jaxpr(mj.grad(f))(x)
        values = mj.make_jaxpr(lambda x: mj.linearize(f, x)[0])(x)
        return {
            "the operations of the gradient's program": names_in(program),
            "the operations of the value's program": names_in(values),
            "the values and tangents of the gradient": mj.jvp(mj.grad(f), (x,), (2.0,)),
            "the gradients of a batch": mj.vmap(mj.grad(f))(np.array([x, 0.0, -1.5])),
            "the value and tangent of a function around": mj.jvp(outer, (x, 3.0), (0.5, 2.0)),
            "the gradient by an operand given twice": mj.grad(lambda x: g(x, x))(x),
            "the error that comes out of a policy that raises one": error,
            "the value of linearize": mj.linearize(f, 0.0)[0],
            "the tangent of linearize": mj.linearize(f, 0.0)[1](1.0),
        }


@pytest.mark.meets("another_box", "nested", "zeros", "extremes")
@pytest.mark.keeps("depend on no unknown")
def test_split_under_other_transformations(student):
    """What is known may be a tracer of an outer transformation, and a known result may be 0."""
    student.agrees(under_other_transformations, SPLIT, 0.5)


def test_split_linearized(student):
    """A function can be linearized, and its slopes are computed in the linear program."""
    text = "lambda x: jnp.sin(jnp.cos(x) * x)"
    student.agrees(derivative, SPLIT, text, [ROW], [], "linearize")
    student.agrees(derivative, SPLIT, text, [2.0], ["mul"], "linearize")


def test_split_differentiated(student):
    """The gradient of a checkpointed function is right, with a policy and without."""
    text = "lambda x: jnp.sum(jnp.sin(jnp.exp(x) * x))"
    student.agrees(derivative, SPLIT, text, [ROW], [], "grad")
    student.agrees(derivative, SPLIT, text, [GRID], ["exp"], "grad")
    student.agrees(derivative, SPLIT, text, [2.0], [], "grad")


exercise("checkpoint.segments")

CHAIN = ["jnp.sin", "lambda x: x * x + 1.0", "jnp.cos", "jnp.exp", "lambda x: x - 2.0"]


@probe(uses=[in_place])
def composed(mj, siblings, texts, x):
    """The value of a composition, and its derivatives."""
    with in_place("minijax.checkpoint", siblings):
        f = in_segments([eval(text, {"jnp": jnp}) for text in texts])
        total = mj.grad(lambda x: jnp.sum(f(x)))
        return {
            "the value": f(x),
            "the gradient": total(x),
            "how the gradient moves": mj.jvp(total, (x,), (x,))[1],
        }


@probe
def segments(mj, numbers):
    """Whether chains are in as few and short segments as possible, all of them, in their order."""
    found = {}
    for number in numbers:
        # Each function multiplies by its number, which tells it from the others.
        functions = [lambda x, k=k: x * (1.0 + k) for k in range(number)]
        eqns = mj.make_jaxpr(in_segments(functions))(np.ones(2)).eqns
        inside = [eqn.params["jaxpr"].eqns for eqn in eqns]
        operands = [x for part in inside for eqn in part for x in eqn.invars]
        longest, of = max(map(len, inside), default=0), f"of {number} functions"
        found |= {
            f"each operation is a checkpoint, {of}": {x.primitive.name for x in eqns} <= {"remat2"},
            f"a compiler may undo a checkpoint {of}": not all(
                x.params["prevent_cse"] for x in eqns
            ),
            f"which {of} are applied": [float(x.val) for x in operands if hasattr(x, "val")],
            f"segments and the longest, added, {of}": len(inside) + longest,
        }
    return found


@probe(uses=[in_place])
def kept_of_a_chain(mj, siblings, number):
    """How many values stay between the forward and the backward pass."""
    with in_place("minijax.checkpoint", siblings):
        f = in_segments([lambda x: jnp.sin(x @ x * x)] * number)
        residuals = linearize_tree(f, (np.arange(3.0),), has_aux=False).program.consts
    return {"the number of values that are kept": len({id(x): x for x in residuals})}


@probe
def chain_of_closures(mj, x, w):
    """A chain whose functions use values from outside, or fail."""

    def f(w):
        return in_segments([lambda x: x * w, jnp.sin, lambda x: x + w])(x)

    errors = [KeyError("mine"), TypeError("mine"), ValueError("mine"), StopIteration("mine")]
    found = []
    for error in errors:
        try:
            found.append(in_segments([jnp.sin, Mock(side_effect=error)])(x))
        except Exception as caught:
            found.append(caught is error)

    class Line(tuple):
        __hash__ = None
        __call__ = lambda self, x: self[0] * x + self[1]  # noqa: E731
        __bool__ = lambda self: False  # noqa: E731
        __eq__ = lambda self, other: True  # noqa: E731

    lines = [Line((2.0, w)), Line((3.0, 1.0))]
    functions = [jnp.sin, jnp.cos, jnp.sin]
    g, none = in_segments(functions), in_segments(())
    return {
        "value and tangent by a value from outside": mj.jvp(f, (w,), (w,)),
        "the error that comes out of a function is its own": found,
        "the values of two calls": [g(x), g(x * 2.0)],
        "the value for a number, times a float32": g(0.5) * np.ones(1, np.float32),
        "the result if it is of another type": in_segments([jnp.sin, lambda x: x > 0.0])(x),
        "the value for functions that are tuples": in_segments(lines)(x),
        "the values for functions in a tuple": in_segments(tuple(functions))(x),
        "no functions return the array itself": none(x) is x,
        "the list of functions is as it was": functions == [jnp.sin, jnp.cos, jnp.sin],
    }


@pytest.mark.meets("order", "twice", "float32")
@pytest.mark.keeps("one after the other")
def test_segments_values(student):
    """Values and derivatives are the same as of the functions, one after the other."""
    student.agrees(composed, WHOLE, CHAIN, ROW)
    student.agrees(composed, WHOLE, CHAIN[::-1], ROW.astype(F32))
    student.agrees(composed, WHOLE, CHAIN[:2] * 5, np.array(0.5))


@pytest.mark.meets("more_than_two")
@pytest.mark.keeps("They are in segments")
def test_segments_of_squares(student):
    """For a square number of functions, there are as many segments as functions in each."""
    student.agrees(segments, [4, 9, 16, 25])


@pytest.mark.meets("length")
@pytest.mark.keeps("is minimal")
def test_segments_of_other_numbers(student):
    """For any number, segments and the longest of them add up to the least possible."""
    student.agrees(segments, [*range(41), 110])


@pytest.mark.meets("sizes")
@pytest.mark.keeps("Without functions")
def test_few_functions(student):
    """There may be one function, or none."""
    student.agrees(segments, [1, 0])
    student.agrees(composed, WHOLE, [], ROW)
    student.agrees(composed, WHOLE, CHAIN[:1], ROW)


@pytest.mark.keeps("each checkpointed as a whole", "holds an array for each segment")
def test_segments_forget(student):
    """Between the forward and the backward pass, only the inputs of segments stay."""
    for number in (9, 25):  # squares: there is one way to cut them
        student.agrees(kept_of_a_chain, WHOLE, number)


@pytest.mark.meets("closure", "another_box", "nested", "exception", "again", "mutation")
@pytest.mark.keeps("one after the other", "Without functions")
def test_segments_of_closures(student):
    """Functions may use what is outside, may fail, may be none; the list of them stays as it is."""
    student.agrees(chain_of_closures, ROW, STEP)


exercise("checkpoint.partial_eval")


@probe
def pulled_back(mj, f, xs, cts):
    """What reverse mode makes of a checkpointed program, which is a call.

    >>> mj.vjp(mj.checkpoint(f), *xs)[1](cts)
    """
    names = [e.primitive.name for e in mj.make_jaxpr(mj.checkpoint(f))(*xs).eqns]
    return {
        "the cotangents": mj.vjp(mj.checkpoint(f), *xs)[1](cts),
        "the operations of the program": names,
    }


@probe
def pulled_back_with_policy(mj, f, xs, cts):
    """The same, if everything may be kept."""
    policy = mj.checkpoint_policies.everything_saveable
    return mj.vjp(mj.checkpoint(f, policy=policy), *xs)[1](cts)


@pytest.mark.meets("length")
def test_random_programs_backwards(student):
    """A random program with a checkpoint has the right derivatives in reverse mode."""
    student.agrees_on_programs(pulled_back)


exercise("checkpoint.later")


@pytest.mark.meets("again", "length", "mutation")
def test_random_programs_later(student):
    """A random program of which much is kept has the right derivatives in reverse mode."""
    student.agrees_on_programs(pulled_back_with_policy)


exercise("checkpoint.whole")


@probe(uses=[function_of, keeping])
def residuals(mj, text, args, policy_names):
    """What crosses the line in reverse mode, with and without a checkpoint: sizes, operations."""

    def inside(program):
        found = []
        for eqn in program.eqns:
            inner = eqn.params.get("jaxpr")
            found += [(eqn.primitive.name, inside(inner))] if inner else [eqn.primitive.name]
        return sorted(map(str, found))

    policy = keeping(*policy_names)[0] if policy_names else None
    f = function_of(text)
    found = []
    for g in (mj.checkpoint(f, policy=policy), f):
        value, f_lin = mj.linearize(g, *args)
        program = mj.make_jaxpr(f_lin)(*args)
        found.append((value, f_lin(*args), sum(np.size(x) for x in program.consts)))
    checkpointed = mj.make_jaxpr(mj.linearize(mj.checkpoint(f, policy=policy), *args)[1])(*args)
    return {
        "the sizes of the residuals": found,
        "the operations inside the checkpoint": inside(checkpointed),
    }


@probe(uses=[keeping, made, traced, function_of])
def kept_in_turn(mj, texts, args):
    """What one policy keeps of programs, each of which is gone before the next one is made."""
    programs, (policy, _), found = [traced(text, args).jaxpr for text in texts], keeping("sin"), []
    for jaxpr in programs * 2:
        kept = kept_values(jaxpr.replace(), policy)
        found.append([made(jaxpr).get(var) for var in kept])
    return {"what is kept of each program": found}


@probe
def through_everything(mj, x, t):
    """A checkpointed function under each transformation, alone and in a second one."""
    jnp = mj.numpy

    def f(x):
        return jnp.sum(jnp.sin(jnp.exp(x) * x) * np.array([1.0, 2.0, 4.0]))

    g = mj.checkpoint(f)
    found: list = [[eqn.primitive.name for eqn in mj.make_jaxpr(g)(x).eqns]]
    for h in (g, mj.checkpoint(g), mj.checkpoint(g, policy=lambda *avals, **params: True)):
        found.append([h(x), mj.jvp(h, (x,), (t,)), mj.grad(h)(x), mj.vmap(h)(np.stack([x, t]))])
        found.append([mj.jvp(mj.grad(h), (x,), (t,)), mj.vmap(mj.grad(h))(np.stack([x, t]))])
    return {"the results of each pair of transformations": found}


@probe
def closed_over(mj, x, w):
    """A checkpointed function of a value that is transformed, and a constant one."""
    jnp = mj.numpy

    def f(w):
        g = mj.checkpoint(lambda x: (jnp.sin(x * w), w, 2.5))
        out, same, number = g(x)
        return jnp.sum(out * same) * number

    names = [eqn.primitive.name for eqn in mj.make_jaxpr(f)(w).eqns]

    def h(w):
        return mj.grad(lambda y: jnp.sum(mj.checkpoint(lambda z: z * w * w)(y)))(x)

    return {
        "the operations of the program": names,
        "the values": f(w),
        "the gradient": mj.grad(f)(w),
        "the results of a batch": mj.vmap(h)(np.stack([w, -w])),
        "the value and the tangent": mj.jvp(h, (w,), (x,)),
    }


@probe
def kinds_of_arguments(mj, x):
    """Containers, integers, static arguments and constants; gradients, dtypes and weak types."""
    jnp = mj.numpy

    def f(d, power, *, scale):
        y = d["x"]
        for _ in range(power):
            y = jnp.sin(y) * scale
        return {"y": y, "n": d["n"] * 2, "none": None}

    g = mj.checkpoint(f, static_argnums=1)
    out = g({"x": x, "n": 3}, 2, scale=2.0)
    again = g({"x": x, "n": 3}, 3, scale=0.5)
    slope = mj.grad(lambda x: jnp.sum(g({"x": x, "n": 3}, 3, scale=2.0)["y"]))(x)
    weak = mj.grad(mj.checkpoint(lambda x: x * x * x))(2.0)
    program = mj.make_jaxpr(lambda x: g({"x": x, "n": 3}, 2, scale=2.0))(x)
    names = [eqn.primitive.name for eqn in program.eqns]
    return {
        "the results": out,
        "the results of a second call": again,
        "the gradient": slope,
        "the dtype of a weakly typed result times a float32": str(
            (weak * np.ones(2, np.float32)).dtype
        ),
        "the operations of the program": names,
    }


@probe
def after_an_error(mj, x):
    """A policy and a function that fail, and what comes afterwards."""

    def stop(*args, **params):
        raise KeyError("out")

    found = []
    f = lambda x: mj.numpy.sin(mj.numpy.sin(x))  # noqa: E731
    for g in (mj.checkpoint(f, policy=stop), mj.checkpoint(lambda x: stop(f(x)))):
        for use in (mj.grad(g), lambda x, g=g: mj.jvp(mj.grad(g), (x,), (x,))):
            try:
                found.append(use(x))
            except KeyError:
                found.append(len(trace_state.stack))
    fails = [True]
    parts = in_segments([f, lambda x: stop() if fails else x + 1.0, f, mj.numpy.exp])
    try:
        parts(x)
    except KeyError:
        fails.clear()
    return {
        "the errors that come out": found,
        "the result of segments afterwards": parts(x),
        "the gradient afterwards": mj.grad(mj.checkpoint(f))(x),
        "the value and the tangent afterwards": mj.jvp(mj.checkpoint(f), (x,), (x,)),
    }


@probe
def pulled_back_twice(mj, f, xs, cts):
    """What reverse mode makes of a program with a checkpoint in a checkpoint."""

    def inner(*ys):
        return mj.tree.map(lambda y: 2.0 * y, mj.checkpoint(f)(*ys))

    value, pull = mj.vjp(mj.checkpoint(inner), *xs)
    program = mj.make_jaxpr(mj.checkpoint(inner))(*xs)
    return {
        "the values": value,
        "the cotangents": pull(cts),
        "the operations of the program": [eqn.primitive.name for eqn in program.eqns],
    }


def test_whole_residuals(student):
    """Reverse mode keeps the inputs and what the policy keeps, and no other results."""
    text = "lambda x: jnp.sin(jnp.exp(jnp.sin(x) * x))"
    student.agrees(residuals, text, [ROW], [])
    student.agrees(residuals, text, [ROW], ["exp"])
    student.agrees(kept_in_turn, [text, "lambda x: jnp.exp(jnp.exp(jnp.sin(x)) + x)"], [ROW])


@pytest.mark.meets(
    caching="partial_eval", nested="kept_values later partial_eval", mutation="later"
)
def test_whole_transformations(student):
    """With a checkpoint, all transformations compute what they compute without."""
    student.agrees(through_everything, ROW / 2.0, STEP / 100.0)


@pytest.mark.meets(another_box="partial_eval", twice="partial_eval", closure="partial_eval")
def test_whole_closures(student):
    """Values from outside the function are differentiated and batched."""
    student.agrees(closed_over, ROW, STEP / 100.0)


@pytest.mark.meets(weak_type="partial_eval", float32="later partial_eval", again="partial_eval")
def test_whole_arguments(student):
    """Arguments and results may be in containers, and do not have to be floats."""
    student.agrees(kinds_of_arguments, ROW)
    student.agrees(kinds_of_arguments, GRID.astype(F32))


@pytest.mark.meets(exception="kept_values partial_eval")
def test_whole_after_an_error(student):
    """An error comes out as it is, and leaves all as before."""
    student.agrees(after_an_error, 0.5)


@pytest.mark.meets(axes="partial_eval")
def test_whole_programs(student):
    """A random program with a checkpoint in a checkpoint has the right derivatives."""
    student.agrees_on_programs(pulled_back_twice)
