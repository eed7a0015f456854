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
    dce_call,
    dce_jaxpr,
    eval_equation,
    inverse_chain,
    inverse_jaxpr,
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
def test_effects_stay():
    """An equation with an effect stays, though nothing reads its result, and so does its operand."""
    with patch.object(custom, "has_effects", lambda eqn: eqn.primitive.name == "sin"):
        left = thin(lambda x, y: (lax.exp(lax.sin(lax.neg(x))), y), [False, True], 1.0, 2.0)
    assert left == (["neg", "sin"], [True, True])


# dce_call -----------------------------------------------------------------------------------------


def cosine_alone(jaxpr, used_outputs):
    """What `dce_jaxpr` does to the program below, if the second result is used alone."""
    assert list(used_outputs) == [False, True]
    parts = {"invars": jaxpr.invars[1:], "outvars": jaxpr.outvars[1:], "eqns": jaxpr.eqns[1:]}
    return jaxpr.replace(**parts), [False, True]


def cosine_of_a_call(**params):
    """A call of two results, and what is left over of it for the second one."""
    eqn = first_equation(jit(lambda a, b: (lax.exp(a), lax.cos(b))), 1.0, 2.0)
    eqn = eqn.replace(params={**eqn.params, **params})
    with patch.object(custom, "dce_jaxpr", cosine_alone):
        return eqn, dce_call(eqn, [False, True])


@pytest.mark.exercise("custom.dce_call")
def test_operands_and_results_go():
    """The call has the result that is used, and the operand that its program still takes."""
    eqn, left = cosine_of_a_call()
    assert (left.invars, left.outvars) == (eqn.invars[1:], eqn.outvars[1:])
    assert [e.primitive.name for e in left.params["jaxpr"].eqns] == ["cos"]
    assert len(eqn.invars) == 2  # the old one stays


@pytest.mark.exercise("custom.dce_call")
def test_parameters_go_with_them():
    """Parameters with an entry for each operand or result lose the same; all others stay."""
    _, left = cosine_of_a_call(in_axes=(0, 1), out_axes=(2, 3), inline=True)
    found = [left.params[key] for key in ("in_axes", "out_axes", "inline", "name")]
    assert found == [(1,), (3,), True, "<lambda>"]


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
