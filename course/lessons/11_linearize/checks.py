"""Checks of the `linearize` lesson, for you to read and to run: `./jaxprentice check linearize`.

Each exercise has a few checks. If the exercise allows it, recipes and programs are made by hand, so
that most checks need no other exercise than their own; some need those that the page names before.
"""

import importlib

import numpy as np
import pytest
from checking import exercise, names, operation, run, typed
from random_programs import SMOOTH, for_programs, numbers, results_of, slope

import minijax.numpy as jnp
from minijax import make_jaxpr
from minijax.core import impl_rules, new_main, sin_p
from minijax.errors import UnexpectedTracerError
from minijax.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var, eval_jaxpr, typecheck_jaxpr
from minijax.jit import jit_p
from minijax.linearize import (
    EqnRecipe,
    PartialEvalTrace,
    PartialEvalTracer,
    jit_partial_eval,
    known,
    linearize_flat,
    partial_eval_flat,
    split_jaxpr,
    toposort,
    tracers_to_jaxpr,
    unknown,
)

FLOAT, VECTOR = typed(), typed((3,))

MODULE = importlib.import_module("minijax.linearize")  # `minijax.linearize` is the function


@pytest.fixture
def trace():
    """A partial evaluation at work."""
    with new_main(PartialEvalTrace) as main:
        yield PartialEvalTrace(main)


exercise("linearize.stage_out")


def test_a_result_is_a_type_and_a_variable(trace):
    """One result is a list with one box, unknown, whose type follows from the operands' types."""
    vector, number = trace.new_arg(unknown(VECTOR)), trace.pure(2.0)
    outs = trace.stage_out(operation(abstract_eval=lambda x, y: x), [vector, number], {})
    assert type(outs) is list
    (out,) = outs
    assert type(out) is PartialEvalTracer
    assert out.pval.is_known is False
    assert (out.aval, out.var.aval) == (VECTOR, VECTOR)


def test_a_recipe_has_all_of_an_equation(trace):
    """A recipe has the primitive, all operands, the params and the variables of the results."""
    x, y = trace.new_arg(unknown(VECTOR)), trace.pure(2.0)
    primitive = operation(abstract_eval=lambda x, y, *, by: x)
    (out,) = trace.stage_out(primitive, [y, x], {"by": 3.0})
    recipe = out.recipe
    assert [t is x for t, x in zip(recipe.tracers_in, [y, x], strict=True)] == [True, True]
    assert (recipe.primitive, recipe.params) == (primitive, {"by": 3.0})
    assert [var is out.var for var in recipe.outvars] == [True]


def test_several_results_have_one_recipe(trace):
    """Several results have one recipe, and a variable each."""
    primitive = operation(several=True, abstract_eval=lambda x: [x, VECTOR, x])
    outs = trace.stage_out(primitive, [trace.new_arg(unknown(FLOAT))], {})
    assert [out.aval for out in outs] == [FLOAT, VECTOR, FLOAT]
    assert len({id(out.recipe) for out in outs}) == 1
    made = outs[0].recipe.outvars
    assert [var is out.var for var, out in zip(made, outs, strict=True)] == [True] * 3
    assert len({out.var for out in outs}) == 3


exercise("linearize.toposort")


def recipes(trace, needs):
    """A recipe for each entry, which needs those of these numbers; -1 is an input."""
    made = {-1: trace.new_arg(unknown(FLOAT))}
    for number, operands in enumerate(needs):
        recipe = EqnRecipe(sin_p, [made[i] for i in operands], {}, [Var(FLOAT)])
        made[number] = PartialEvalTracer(trace, unknown(FLOAT), recipe.outvars[0], recipe)
    return [made[number].recipe for number in range(len(needs))]


def places(order, all_recipes):
    """The numbers of these recipes."""
    return [[recipe is other for other in all_recipes].index(True) for recipe in order]


def test_what_is_needed_comes_first(trace):
    """A recipe comes after everything that it needs, whatever else needs the same."""
    made = recipes(trace, [[-1], [0], [0, 1], [1, 2, 0]])
    assert places(toposort([made[3]]), made) == [0, 1, 2, 3]


def test_each_recipe_once_and_none_that_is_not_needed(trace):
    """Each recipe that is needed is listed once, and no other is; `outs` is not changed."""
    made = recipes(trace, [[-1], [0], [1, 1], [0]])
    outs = [made[2], made[1], made[2]]
    assert places(toposort(outs), made) == [0, 1, 2]
    assert places(outs, made) == [2, 1, 2]
    assert toposort([]) == []


def test_long_programs(trace):
    """A chain may have 3000 operations, each of which uses the one before twice."""
    made = recipes(trace, [[-1]] + [[i, i] for i in range(2999)])
    assert toposort([made[-1]]) == made


exercise("linearize.tracers_to_jaxpr")


def applied(trace, name, *tracers, aval=FLOAT, **params):
    """The result of an operation, of this type, left for later by hand."""
    primitive = getattr(importlib.import_module("minijax.core"), f"{name}_p")
    recipe = EqnRecipe(primitive, list(tracers), params, [Var(aval)])
    return PartialEvalTracer(trace, unknown(aval), recipe.outvars[0], recipe)


@pytest.fixture
def in_order(monkeypatch):
    """A stand-in for `toposort`: recipes in the order of this list."""
    order = []

    def toposort(outs):
        assert [type(recipe).__name__ for recipe in outs] == ["EqnRecipe"] * len(outs)
        return order

    monkeypatch.setattr(MODULE, "toposort", toposort)
    return order


def test_recipes_become_equations(trace, in_order):
    """Each recipe becomes an equation, after those it needs, between the inputs and the outputs."""
    x, y = (trace.new_arg(unknown(FLOAT)) for _ in range(2))
    first = applied(trace, "sub", x, y)
    second = applied(trace, "sin", first)
    in_order += [first.recipe, second.recipe]
    program = tracers_to_jaxpr([x, y], [second, first])
    assert names(program) == ["sub", "sin"]
    assert run(program, 5.0, 5.0) == [0.0, 0.0]
    assert run(program, 5.0, 3.0)[1] == 2.0


def test_params_of_equations(trace, in_order):
    """An equation has the parameters of its recipe."""
    x = trace.new_arg(unknown(VECTOR))
    total = applied(trace, "reduce_sum", x, axes=(0,))
    in_order += [total.recipe]
    assert [eqn.params for eqn in tracers_to_jaxpr([x], [total]).eqns] == [{"axes": (0,)}]


def test_known_operands_become_constants(trace, in_order):
    """A known number is a literal; a known array is a constant, the same for each use."""
    x, row = trace.new_arg(unknown(FLOAT)), trace.pure(np.array([1.0, 2.0]))
    first = applied(trace, "mul", trace.pure(10.0), x)
    product = applied(trace, "mul", first, row, aval=row.aval)
    second = applied(trace, "sub", product, row, aval=row.aval)
    in_order += [first.recipe, product.recipe, second.recipe]
    program = tracers_to_jaxpr([x], [second])
    assert len(program.consts) == 1
    assert run(program, 3.0) == [[29.0, 58.0]]


def test_inputs_and_outputs_as_asked(trace, in_order):
    """An input may be unused; an output may be an input, or known."""
    x, y = (trace.new_arg(unknown(FLOAT)) for _ in range(2))
    program = tracers_to_jaxpr([x, y], [y, trace.pure(7.0), y])
    assert run(program, 1.0, 2.0) == [2.0, 7.0, 2.0]


exercise("linearize.partial_eval_flat")


def test_results_are_known_or_not():
    """A known result has a value; for the others there is a program."""
    pvals, program = partial_eval_flat(
        lambda x, y: [x - y, x * x, y * 2.0], [known(3.0), unknown(FLOAT)]
    )
    assert [pval.is_known for pval in pvals] == [False, True, False]
    assert float(pvals[1].const) == 9.0
    assert sorted(names(program)) == ["mul", "sub"]
    assert run(program, 1.0) == [2.0, 2.0]


def test_results_without_a_box():
    """A plain number is known."""
    pvals, program = partial_eval_flat(lambda x: [7.0, x], [unknown(FLOAT)])
    assert [pval.const for pval in pvals] == [7.0, None]
    assert run(program, 5.0) == [5.0]


def test_results_that_escaped():
    """A tracer of a trace that has ended cannot be a result, even if it is known."""
    kept = []
    for pval in (unknown(FLOAT), known(3.0)):
        partial_eval_flat(lambda x: kept.append(x) or [x], [pval])
        with pytest.raises(UnexpectedTracerError):
            partial_eval_flat(lambda x: kept[-1:], [unknown(FLOAT)])


def test_instantiated_results():
    """Results that are instantiated count as unknown, and the program returns them."""
    pvals, program = partial_eval_flat(
        lambda x: [x * 2.0, 7.0, x], [known(3.0)], lambda i: i in (0, 1)
    )
    assert [pval.is_known for pval in pvals] == [False, False, True]
    assert run(program) == [6.0, 7.0]


exercise("linearize.flat")


def test_values_and_derivative():
    """The function runs once; its derivative is the program, for any tangents."""
    calls = []

    def f(x, y):
        calls.append("f")
        return [x * y * y, jnp.sin(x)]

    values, program = linearize_flat(f, [2.0, 3.0], lambda: 2)
    assert [float(value) for value in values] == [18.0, float(np.sin(2.0))]
    assert run(program, 1.0, 0.0) == [9.0, float(np.cos(2.0))]
    assert run(program, 0.0, 1.0) == [12.0, 0.0]
    assert calls == ["f"]


def test_no_work_on_primals_is_left():
    """No operation on primals is in the program, only products and sums with tangents."""
    _, program = linearize_flat(lambda x: [jnp.exp(jnp.sin(x)) * x], [2.0], lambda: 1)
    assert sorted(set(names(program)) & {"sin", "cos", "exp"}) == []


def test_integers_do_not_move():
    """Integers have no tangent among the program's inputs and outputs."""
    values, program = linearize_flat(lambda n, x: [n, x * n, 4.0], [3, 2.0], lambda: 3)
    assert [float(value) for value in values] == [3.0, 6.0, 4.0]
    assert run(program, 10.0) == [30.0, 0.0]


def test_only_the_first_results_count():
    """All values are returned, but only the first `count()` results have a tangent."""
    ran = []
    values, program = linearize_flat(
        lambda x: ran.append(1) or [x * x, x * 5.0], [3.0], lambda: len(ran)
    )
    assert [float(value) for value in values] == [9.0, 15.0]
    assert run(program, 1.0) == [6.0]


exercise("linearize.split_jaxpr")


def split(f, args, is_known, instantiate=()):
    """The two programs of a function, and which outputs are known."""
    return split_jaxpr(make_jaxpr(f)(*args), is_known, frozenset(instantiate))


def test_two_programs():
    """Work on known inputs alone is in the first program, all other work in the second."""
    first, second, out_known = split(
        lambda x, y: [y - jnp.sin(x), x * 2.0, -y], (0.0, 0.0), (True, False)
    )
    assert out_known == [False, True, False]
    assert sorted(names(first)) == ["mul", "sin"]
    assert sorted(names(second)) == ["neg", "sub"]
    known_out, residual = run(first, 3.0)
    assert (known_out, residual) == (6.0, float(np.sin(3.0)))
    assert run(second, residual, 5.0) == [5.0 - residual, -5.0]


def test_types_of_the_two_programs():
    """Residuals come last in the first one, and first in the second."""
    vector = np.ones(3)
    first, second, _ = split(lambda x, y: [x * 2.0, jnp.sin(x) * y], (vector, 1.0), (True, False))
    assert str(typecheck_jaxpr(first.jaxpr)) == "(float64[3]) -> (float64[3], float64[3])"
    assert str(typecheck_jaxpr(second.jaxpr)) == "(float64[3], float64[]) -> (float64[3])"
    assert second.consts == []


def test_instantiated_outputs():
    """Instantiated outputs come from the second program, which gets them as residuals."""
    first, second, out_known = split(lambda x: [x * 2.0, -x], (1.0,), (True,), [1])
    assert out_known == [True, False]
    known_out, *residuals = run(first, 3.0)
    assert known_out == 6.0
    assert run(second, *residuals) == [-3.0]


exercise("linearize.jit_rule")


def equation(name, operands, out):
    """One line of a program."""
    primitive = getattr(importlib.import_module("minijax.core"), f"{name}_p")
    return JaxprEqn(operands, [out], primitive, {})


@pytest.fixture
def split_by_hand(monkeypatch):
    """A call to `(x, y) -> (y - 2x, x)`, split by hand for a known x; calls are not compiled."""
    x, twice, r, y, out = (Var(FLOAT) for _ in range(5))
    first = ClosedJaxpr(Jaxpr([], [x], [x, twice], [equation("add", [x, x], twice)]), [])
    second = ClosedJaxpr(Jaxpr([], [r, y], [out], [equation("sub", [y, r], out)]), [])
    asked = []

    def partial_eval_jaxpr(jaxpr, is_known, *instantiate):
        asked.append((jaxpr, is_known))
        return first, second, [False, True]

    def run_call(*args, name, jaxpr):
        asked.append((jaxpr, name))
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)

    def split_jaxpr(*args):
        raise AssertionError("Ask partial_eval_jaxpr: it splits a program once, and remembers.")

    monkeypatch.setattr(MODULE, "partial_eval_jaxpr", partial_eval_jaxpr)
    monkeypatch.setattr(MODULE, "split_jaxpr", split_jaxpr)
    monkeypatch.setitem(impl_rules, jit_p, run_call)
    return asked, first, second


@pytest.fixture
def staged_by_hand(monkeypatch):
    """A stand-in for `stage_out`, with one result, and its arguments."""
    calls = []

    def stage_out(self, primitive, tracers, params):
        calls.append((primitive, [t.pval.const for t in tracers], params))
        return ["later"]

    monkeypatch.setattr(PartialEvalTrace, "stage_out", stage_out)
    return calls


def test_one_part_now_one_later(trace, split_by_hand, staged_by_hand):
    """The program is split, and its first part is called; results come in their order."""
    asked, first, _ = split_by_hand
    boxes = [trace.pure(3.0), trace.new_arg(unknown(FLOAT))]
    out = jit_partial_eval(trace, boxes, name="f", jaxpr="the program")
    assert asked == [("the program", (True, False)), (first, "f")]
    assert out[0] == "later"
    assert float(out[1]) == 3.0
    assert len(out) == 2


def test_the_call_for_later(trace, split_by_hand, staged_by_hand):
    """The rest is a call of the second program, on residuals and then on unknown operands."""
    _, _, second = split_by_hand
    boxes = [trace.pure(3.0), trace.new_arg(unknown(FLOAT))]
    jit_partial_eval(trace, boxes, name="f", jaxpr="the program")
    assert staged_by_hand == [(jit_p, [6.0, None], {"name": "f", "jaxpr": second})]


exercise("linearize.flat")


@for_programs(seed="linearize", operations=SMOOTH, dtypes=["float64"])
def test_slopes_of_random_programs(f, xs, ts):
    """It returns the values of a random program, and a program for its slope in a direction."""
    outs = results_of(f(*xs))
    values, linear = linearize_flat(lambda *xs: results_of(f(*xs)), list(xs), lambda: len(outs))
    assert numbers(values) == numbers(outs)
    slopes = eval_jaxpr(linear.jaxpr, linear.consts, *ts)
    assert numbers(slopes) == numbers(slope(f, xs, ts))
