"""Checks of the `custom` lesson, for you to read and to run: `./jaxprentice check custom`.

Each exercise has a few, which need no other exercise: if your function calls one that you have not
written yet, a small function replaces that. So do the exercises in any order.
"""

from unittest.mock import patch

import numpy as np
import pytest
from random_programs import for_programs, numbers

from minijax import custom_interpreters as custom
from minijax import jit, lax, make_jaxpr
from minijax.custom_interpreters import (
    dce_jaxpr,
    dot_general_cost,
    eval_equation,
    evaluate_if_known,
    inverse_chain,
    inverse_equation,
    inverse_jaxpr,
    invert,
    read,
    write,
)
from minijax.jaxpr import eval_jaxpr

ROW = np.array([1.0, 2.0, 4.0])


def first_equation(f, *args):
    """The first line of the program of a function."""
    return make_jaxpr(f)(*args).eqns[0]


# eval_equation ------------------------------------------------------------------------------------


@pytest.mark.exercise("custom.eval_equation")
def test_an_operation_is_bound():
    """An operation is bound, with its operands in order and its params; one result is in a list."""
    (out,) = eval_equation(first_equation(lax.sub, 1.0, 1.0), [5.0, 2.0])
    assert float(out) == 3.0
    eqn = first_equation(lambda x: lax.transpose(x, (1, 0)), np.ones((1, 3)))
    (out,) = eval_equation(eqn, [ROW[None]])
    assert out.tolist() == [[1.0], [2.0], [4.0]]


@pytest.mark.exercise("custom.eval_equation")
def test_a_list_of_one():
    """What `bind` returns is a list already if the primitive has multiple_results, even of one."""
    choice = make_jaxpr(lambda x: lax.cond(x > 0.0, lax.neg, lambda x: x + 1.0, x))(1.0).eqns[-1]
    (out,) = eval_equation(choice, [np.array(1, np.int32), 5.0])
    assert float(out) == -5.0


@pytest.mark.exercise("custom.eval_equation")
def test_a_call_is_opened():
    """The program inside is evaluated, with its constants."""
    eqn = first_equation(jit(lambda x, y: (x - y, x * ROW)), ROW, ROW)
    difference, product = eval_equation(eqn, [np.array([3.0, 3.0, 3.0]), np.ones(3)])
    assert difference.tolist() == [2.0, 2.0, 2.0]
    assert product.tolist() == [3.0, 6.0, 12.0]


@pytest.mark.exercise("custom.eval_equation")
def test_a_call_leaves_no_trace():
    """Traced once more, the operations are there and the calls are not."""
    eqn = first_equation(jit(lambda x: jit(lax.exp)(x) * 2.0), 1.0)
    inlined = make_jaxpr(lambda x: list(eval_equation(eqn, [x])))(1.0)
    assert [e.primitive.name for e in inlined.eqns] == ["exp", "mul"]


# inverse_chain ------------------------------------------------------------------------------------


@pytest.mark.exercise("custom.inverse_chain")
def test_a_chain_is_undone():
    """The chain is undone from its last operation to its first."""
    assert float(inverse_chain(lambda x: -lax.exp(x))(-1.0)) == 0.0
    back = inverse_chain(lambda x: lax.exp(lax.tanh(x)))
    assert back(np.array([1.0, 2.0])) == pytest.approx([0.0, 0.853988], abs=1e-6)


@pytest.mark.exercise("custom.inverse_chain")
def test_a_chain_is_traced_for_what_it_is_given():
    """What a function does may depend on the shape of its argument."""
    back = inverse_chain(lambda x: lax.exp(x) if x.shape else lax.neg(x))
    assert back(np.ones(2)).tolist() == [0.0, 0.0]
    assert float(back(1.0)) == -1.0


@pytest.mark.exercise("custom.inverse_chain")
def test_the_inverse_of_a_chain_is_a_program():
    """The inverse is made of the functions of lax, and so it can be traced."""
    closed = make_jaxpr(inverse_chain(lambda x: lax.log(lax.neg(lax.exp(x)))))(1.0)
    assert [e.primitive.name for e in closed.eqns] == ["exp", "neg", "log"]


@pytest.mark.exercise("custom.inverse_chain")
def test_rules_get_params():
    """A rule gets the params of the equation by keyword."""
    with patch.dict(custom.inverse_rules, {"integer_pow": [lambda z, *, y: z / y]}):
        assert float(inverse_chain(lambda x: lax.integer_pow(x, 3))(6.0)) == 2.0


@pytest.mark.exercise("custom.inverse_chain")
def test_chains_that_stop():
    """The equation is named, by its number counted from the top."""
    with pytest.raises(NotImplementedError, match="stops at equation 2"):
        inverse_chain(lambda x: lax.exp(lax.sin(lax.neg(x))))(1.0)
    with pytest.raises(ValueError, match="stops at equation 1"):
        inverse_chain(lambda x: lax.exp(x * 2.0))(1.0)


# invert -------------------------------------------------------------------------------------------


@pytest.mark.exercise("custom.invert")
def test_either_operand_is_found():
    """5 - 3 = 2, and 8 / 2 = 4; what is known stays in its place."""
    minus, by = (first_equation(f, 1.0, 1.0) for f in (lax.sub, lax.div))
    assert [float(x) for x in invert(minus, 1, [None, 3.0], [2.0])] == [5.0, 3.0]
    assert [float(x) for x in invert(minus, 1, [5.0, None], [2.0])] == [5.0, 3.0]
    assert [float(x) for x in invert(by, 1, [None, 2.0], [4.0])] == [8.0, 2.0]
    assert [float(x) for x in invert(by, 1, [8.0, None], [4.0])] == [8.0, 2.0]


@pytest.mark.exercise("custom.invert")
def test_the_operands_of_a_rule():
    """A rule gets the result, then the known operands in their order, and params by keyword."""
    eqn = first_equation(lax.clamp, 1.0, 1.0, 1.0)
    rules = [None, lambda z, x, y: [z, x, y], None]
    with patch.dict(custom.inverse_rules, {"clamp": rules}):
        assert invert(eqn, 1, [1.0, None, 3.0], [2.0]) == [1.0, [2.0, 1.0, 3.0], 3.0]
    eqn = first_equation(lambda x: lax.integer_pow(x, 3), 1.0)
    with patch.dict(custom.inverse_rules, {"integer_pow": [lambda z, *, y: [z, y]]}):
        assert invert(eqn, 1, [None], [2.0]) == [[2.0, 3]]


@pytest.mark.exercise("custom.invert")
def test_operands_that_are_arrays():
    """An array is known, whatever its elements are."""
    first, second = invert(first_equation(lax.sub, ROW, ROW), 1, [ROW, None], [np.ones(3)])
    assert first is ROW
    assert second.tolist() == [0.0, 1.0, 3.0]


@pytest.mark.exercise("custom.invert")
def test_equations_that_stop():
    """The walk stops if there is no rule, which is asked first, or if two operands are unknown."""
    with pytest.raises(NotImplementedError, match="stops at equation 3"):
        invert(first_equation(lax.sin, 1.0), 3, [None], [0.5])
    with pytest.raises(NotImplementedError, match="stops at equation 4"):
        invert(first_equation(lax.max, 1.0, 1.0), 4, [None, None], [0.5])
    with pytest.raises(ValueError, match="stops at equation 2"):
        invert(first_equation(lax.add, 1.0, 1.0), 2, [None, None], [0.5])


# evaluate_if_known --------------------------------------------------------------------------------


def plain_evaluation(eqn, args):
    """A right `eval_equation` for equations with one result."""
    return [eqn.primitive.bind(*args, **eqn.params)]


def after(eqn, ins, outs=()):
    """What is known of the results, after evaluate_if_known."""
    env = {}
    write(env, eqn.invars, ins)
    write(env, eqn.outvars, outs or [None] * len(eqn.outvars))
    with patch.object(custom, "eval_equation", plain_evaluation):
        evaluate_if_known(env, eqn)
    return [read(env, x) for x in eqn.outvars]


@pytest.mark.exercise("custom.evaluate_if_known")
def test_what_is_known_is_computed():
    """What is known is computed, from literals as well; zero is a value like others."""
    assert after(first_equation(lax.sub, 1.0, 1.0), [5.0, 2.0]) == [3.0]
    assert after(first_equation(lambda x: 3.0 - x, 1.0), [None, 0.0]) == [3.0]


@pytest.mark.exercise("custom.evaluate_if_known")
def test_what_is_not_known_is_not_computed():
    """One operand that is not known is enough, and nothing is computed."""
    assert after(first_equation(lax.sub, 1.0, 1.0), [5.0, None]) == [None]
    assert after(first_equation(lax.sub, 1.0, 1.0), [None, 5.0]) == [None]


@pytest.mark.exercise("custom.evaluate_if_known")
def test_known_results_stay():
    """Results that are known are not computed again."""
    assert after(first_equation(lax.sub, 1.0, 1.0), [5.0, 2.0], [7.0]) == [7.0]


@pytest.mark.exercise("custom.evaluate_if_known")
def test_a_call_with_one_known_result():
    """One result that is not known is enough: `eval_equation` computes all of them, arrays too."""
    eqn = first_equation(jit(lambda x: (-x, x + ROW)), ROW)
    env = {}
    write(env, [*eqn.invars, *eqn.outvars], [ROW, ROW, None])
    with patch.object(custom, "eval_equation", lambda eqn, args: [args[0] * 2.0, args[0] * 3.0]):
        evaluate_if_known(env, eqn)
    assert [read(env, x).tolist() for x in eqn.outvars] == [[2.0, 4.0, 8.0], [3.0, 6.0, 12.0]]


# inverse_jaxpr ------------------------------------------------------------------------------------


def swept(f, ins, outs):
    """The inputs of the program of f, by inverse_jaxpr with steps that are easy to follow.

    What is computed is 100, whatever the equation. An operand that is found is the sum of the
    result, the operands that are known, and the number of the equation.
    """

    def compute(env, eqn):
        if None not in [read(env, x) for x in eqn.invars]:
            write(env, eqn.outvars, [100.0])

    def undo(env, eqn, number):
        values = [read(env, x) for x in [*eqn.outvars, *eqn.invars]]
        if None in values and values[0] is not None:
            total = number + sum(x for x in values if x is not None)
            write(env, eqn.invars, [total if x is None else None for x in values[1:]])

    closed = make_jaxpr(f)(*[1.0 for _ in ins])
    with patch.multiple(custom, evaluate_if_known=compute, invert_if_needed=undo):
        return inverse_jaxpr(closed.jaxpr, closed.consts, ins, outs)


@pytest.mark.exercise("custom.inverse_jaxpr")
def test_from_the_result_to_the_input():
    """With stand-ins that add its number, equations 3, 2 and 1 are undone: 50 + 3 + 2 + 1."""
    assert swept(lambda x: lax.exp(lax.neg(lax.sin(x))), [None], [50.0]) == [56.0]


@pytest.mark.exercise("custom.inverse_jaxpr")
def test_first_compute_then_invert():
    """With stand-ins, equation 1 is computed, 100; 2 is undone: result 7 + known 100 + number 2.

    These are stand-ins: what is computed is 100; what is undone is the sum of the result, the known
    operands and the equation's number.
    """
    assert swept(lambda x: x * lax.exp(3.0), [None], [7.0]) == [109.0]


@pytest.mark.exercise("custom.inverse_jaxpr")
def test_known_and_unknown_inputs():
    """What is known helps and is returned; what leaves no trace stays unknown."""
    assert swept(lambda x, y: x - y, [None, 20.0], [7.0]) == [28.0, 20.0]
    assert swept(lambda x, y: lax.exp(y), [None, None], [7.0]) == [None, 8.0]


@pytest.mark.exercise("custom.inverse_jaxpr")
def test_all_that_is_known_at_the_start():
    """Constants are known before the first sweep; so is an input that is a result as well."""
    seen = []
    closed = make_jaxpr(lambda x, y: (x * ROW, y))(ROW, ROW)

    def compute(env, eqn):
        seen.append([read(env, x) is not None for x in [*eqn.invars, *closed.jaxpr.invars]])

    with patch.multiple(custom, evaluate_if_known=compute, invert_if_needed=lambda *args: None):
        ins = inverse_jaxpr(closed.jaxpr, closed.consts, [None, None], [ROW, 2.0 * ROW])
    assert seen == [[False, True, False, True]]  # x, the constant; and the inputs x, y
    assert ins[0] is None
    assert ins[1].tolist() == [2.0, 4.0, 8.0]


# inverse_equation ---------------------------------------------------------------------------------


@pytest.mark.exercise("custom.inverse_equation")
def test_an_operation_goes_to_invert():
    """An operation goes to `invert`, with all that is known."""
    eqn = first_equation(lax.sub, 1.0, 1.0)
    with patch.object(custom, "invert", lambda *args: [args]):
        assert inverse_equation(eqn, 3, [None, 2.0], [5.0]) == [(eqn, 3, [None, 2.0], [5.0])]


@pytest.mark.exercise("custom.inverse_equation")
def test_a_call_goes_to_inverse_jaxpr():
    """A call goes to `inverse_jaxpr`: the program, its constants, and all that is known."""
    eqn = first_equation(jit(lambda x, y: x * y + ROW), ROW, ROW)
    with patch.object(custom, "inverse_jaxpr", lambda *args: list(args)):
        jaxpr, consts, ins, outs = inverse_equation(eqn, 3, [None, 2.0], [5.0])
    assert [e.primitive.name for e in jaxpr.eqns] == ["mul", "add"]
    assert (consts[0].tolist(), ins, outs) == ([1.0, 2.0, 4.0], [None, 2.0], [5.0])


# dce_jaxpr ----------------------------------------------------------------------------------------


def thin(f, used, *args):
    """The names of the operations that are left over, and which inputs."""
    whole = make_jaxpr(f)(*args).jaxpr
    before = str(whole)
    jaxpr, used_inputs = dce_jaxpr(whole, used)
    assert str(whole) == before  # the program that was given is not changed
    assert len(jaxpr.outvars) == sum(used)
    assert len(jaxpr.invars) == sum(used_inputs)
    return [eqn.primitive.name for eqn in jaxpr.eqns], used_inputs


@pytest.mark.exercise("custom.dce_jaxpr")
def test_what_is_needed_stays():
    """What is needed stays, in its order, with the inputs that it needs."""

    def f(x, y):
        return lax.sin(x) * 2.0, lax.cos(lax.exp(y))

    assert thin(f, [True, False], 1.0, 2.0) == (["sin", "mul"], [True, False])
    assert thin(f, [False, True], 1.0, 2.0) == (["exp", "cos"], [False, True])
    assert thin(f, [True, True], 1.0, 2.0)[1] == [True, True]


@pytest.mark.exercise("custom.dce_jaxpr")
def test_what_only_dead_code_reads_is_dead():
    """What only dead code reads is dead, over several steps; an output may be input or number."""
    dead = lambda x, y: (lax.exp(lax.sin(lax.neg(x))), y, 2.0)  # noqa: E731
    assert thin(dead, [False, True, True], 1.0, 2.0) == ([], [False, True])


@pytest.mark.exercise("custom.dce_jaxpr")
def test_calls_are_thinned_out():
    """The program inside has fewer equations, and what only those needed is dead outside."""
    both = jit(lambda a, b: (lax.exp(a), lax.cos(b)))
    closed = make_jaxpr(lambda x, y: both(lax.sin(x), lax.neg(y)))(1.0, 2.0)
    jaxpr, used_inputs = dce_jaxpr(closed.jaxpr, [False, True])
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["neg", "jit"]
    assert [eqn.primitive.name for eqn in jaxpr.eqns[1].params["jaxpr"].eqns] == ["cos"]
    assert used_inputs == [False, True]


@pytest.mark.exercise("custom.dce_jaxpr")
def test_effects_stay():
    """An equation with an effect stays, though nothing reads its result, and so does its operand."""
    with patch.object(custom, "has_effects", lambda eqn: eqn.primitive.name == "sin"):
        left = thin(lambda x, y: (lax.exp(lax.sin(lax.neg(x))), y), [False, True], 1.0, 2.0)
    assert left == (["neg", "sin"], [True, True])


# dot_general_cost ---------------------------------------------------------------------------------


def cost_of(x, y, contracted, batch=((), ())):
    """The cost of a product of arrays of ones with these shapes."""
    eqn = first_equation(
        lambda x, y: lax.dot_general(x, y, (contracted, batch)), np.ones(x), np.ones(y)
    )
    return dot_general_cost(eqn)


@pytest.mark.exercise("custom.dot_general_cost")
def test_a_product_of_matrices():
    """15 elements in the result, 4 terms each; 12, 20 and 15 numbers of 8 bytes."""
    assert cost_of((3, 4), (4, 5), ((1,), (0,))) == custom.Cost(flops=120, bytes=376)


@pytest.mark.exercise("custom.dot_general_cost")
def test_several_axes():
    """Contracted axes multiply; batch axes are axes of the result."""
    assert cost_of((2, 3, 4), (3, 4), ((1, 2), (0, 1))).flops == 48
    assert cost_of((7, 2, 3), (7, 3, 5), ((2,), (1,)), ((0,), (0,))).flops == 420


# Random programs ----------------------------------------------------------------------------------


@pytest.mark.exercise("custom.inverse_chain")
@for_programs(seed="custom", operations=["neg", "exp", "log"], dtypes=["float64"], results=1)
def test_random_chains_are_undone(f, xs):
    """The inverse takes the result back to the argument."""
    assert numbers(inverse_chain(f)(f(*xs))) == numbers(xs)


@pytest.mark.exercise("custom.dce_jaxpr")
@for_programs(seed="custom", steps=8)
def test_random_programs_lose_dead_code(f, xs, want):
    """The first result of a random program is what it was, and all that is left is read."""
    closed = make_jaxpr(f)(*xs)
    used = [i == 0 for i in range(len(want))]
    jaxpr, kept = dce_jaxpr(closed.jaxpr, used)
    left = [x for x, is_kept in zip(xs, kept, strict=True) if is_kept]
    assert numbers(eval_jaxpr(jaxpr, closed.consts, *left)) == numbers(want[:1])
    reads = [x for eqn in jaxpr.eqns for x in eqn.invars] + jaxpr.outvars
    made = [x for eqn in jaxpr.eqns for x in eqn.outvars] + jaxpr.invars
    assert [x for x in made if x not in reads] == []
