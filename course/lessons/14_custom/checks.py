"""Checks of the `custom` lesson, for you to read and to run: `./jaxprentice check custom`.

Each exercise has a few, which need no other exercise: if your function calls one that you have not
written yet, a small function replaces that. So do the exercises in any order.
"""

from unittest.mock import Mock, patch

import numpy as np
import pytest
from checking import exercise, names
from random_programs import for_programs, numbers

from minijax import custom_interpreters as custom
from minijax import jit, lax, make_jaxpr
from minijax.custom_interpreters import dce_call, dce_jaxpr, inverse_chain, inverse_jaxpr
from minijax.jaxpr import eval_jaxpr

ROW = np.array([1.0, 2.0, 4.0])


exercise("custom.inverse_chain")


def test_a_chain_is_undone():
    """The chain is undone from its last operation to its first."""
    assert float(inverse_chain(lambda x: -lax.exp(x))(-1.0)) == 0.0
    back = inverse_chain(lambda x: lax.exp(lax.tanh(x)))
    assert back(np.array([1.0, 2.0])) == pytest.approx([0.0, 0.853988], abs=1e-6)


def test_a_chain_is_traced_for_what_it_is_given():
    """What a function does may depend on the shape of its argument; it runs once for each call."""
    shapes = []

    def f(x):
        shapes.append(x.shape)
        return lax.exp(x) if x.shape else lax.neg(x)

    back = inverse_chain(f)
    assert back(np.ones(2)).tolist() == [0.0, 0.0]
    assert [float(back(1.0)), float(back(2.0))] == [-1.0, -2.0]
    assert shapes == [(2,), (), ()]


def test_the_inverse_of_a_chain_is_a_program():
    """The inverse is made of the functions of lax, and so it can be traced."""
    closed = make_jaxpr(inverse_chain(lambda x: lax.log(lax.neg(lax.exp(x)))))(1.0)
    assert names(closed) == ["exp", "neg", "log"]


def test_rules_get_params():
    """A rule gets the params of the equation by keyword; an error that it raises is not caught."""
    with patch.dict(custom.inverse_rules, {"integer_pow": [lambda z, *, y: z / y]}):
        assert float(inverse_chain(lambda x: lax.integer_pow(x, 3))(6.0)) == 2.0
    for error in (KeyError, TypeError):
        rules = {"exp": [Mock(side_effect=error("of the rule"))]}
        with patch.dict(custom.inverse_rules, rules), pytest.raises(error, match="of the rule"):
            inverse_chain(lax.exp)(1.0)


def test_chains_that_stop():
    """The last equation that cannot be undone is named, by its number counted from the top."""
    with pytest.raises(NotImplementedError, match="stops at equation 2"):
        inverse_chain(lambda x: lax.exp(lax.sin(x * 2.0)))(1.0)
    with pytest.raises(ValueError, match="stops at equation 1"):
        inverse_chain(lambda x: lax.exp(x * 2.0))(1.0)


exercise("custom.inverse_jaxpr")


def found(f, ins, outs):
    """The inputs of the program of f, as Python's numbers and lists."""
    closed = make_jaxpr(f)(*[outs[0] if x is None else x for x in ins])
    inputs = inverse_jaxpr(closed.jaxpr, closed.consts, ins, outs)
    return [None if x is None else np.asarray(x).tolist() for x in inputs]


def test_from_the_result_to_the_input():
    """Operations are undone from the last one to the first."""
    assert found(lambda x: 3.0 - (x + 1.0) * 2.0, [None], [-7.0]) == [4.0]
    assert found(lambda x: lax.neg(x) * ROW, [None], [np.array([2.0, 4.0, 8.0])]) == [[-2.0] * 3]


def test_first_compute_then_invert():
    """The operand of a product that depends on constants alone is computed, then the other found."""
    assert found(lambda x: x * lax.neg(3.0), [None], [6.0]) == [-2.0]


def test_known_and_unknown_inputs():
    """Known inputs help and are returned; an input that leaves no trace stays unknown."""
    assert found(lambda x, y: x - lax.neg(y), [None, 20.0], [7.0]) == [-13.0, 20.0]
    assert found(lambda x, y: lax.neg(y), [None, None], [7.0]) == [None, -7.0]
    assert found(lambda x, y: (lax.neg(x), y), [None, None], [7.0, None]) == [-7.0, None]


def test_an_input_that_is_a_result():
    """An input that is a result as well is known from the start, and constants of calls are known."""
    call = jit(lambda x, y: (x * ROW - y, y))
    outs = [np.array([0.0, 1.0, 6.0]), np.array([1.0, 1.0, 2.0])]
    assert found(call, [None, None], outs) == [[1.0, 1.0, 2.0], [1.0, 1.0, 2.0]]


def test_what_cannot_be_undone_yet():
    """An input may be found with the help of an input that is found later."""
    f = lambda x, y: (x + 1.0, lax.neg(x) * y)  # noqa: E731
    assert found(f, [None, None], [4.0, 12.0]) == [3.0, -4.0]
    assert found(lambda x: (x + 1.0, lax.sin(x)), [None], [4.0, 0.5]) == [3.0]


def test_one_input_after_another():
    """Inputs are found with the help of those before, or of a value between that is found alone."""
    f = lambda a, b, c, d: (a + 1.0, lax.neg(a) * b, lax.neg(b) * c, lax.neg(c) * d)  # noqa: E731
    assert found(f, [None] * 4, [2.0, -2.0, -6.0, -12.0]) == [1.0, 2.0, 3.0, 4.0]

    def g(x, y, z):
        between = x + y
        return between * 2.0, between * z, z * x

    assert found(g, [None] * 3, [6.0, 12.0, 8.0]) == [2.0, 1.0, 4.0]


def test_what_is_to_blame():
    """An equation that cannot be undone to the end is named, by its number counted from the top."""
    with pytest.raises(ValueError, match="stops at equation 2"):
        found(lambda x, y: (x + 1.0, x * (y * y)), [None, None], [4.0, 12.0])
    with pytest.raises(NotImplementedError, match="stops at equation 1"):
        found(lambda x: lax.sin(x) * 2.0, [None], [0.5])
    with pytest.raises(NotImplementedError, match="stops at equation 1"):
        found(lambda x, y: (lax.sin(x), y), [None, None], [0.5, None])


exercise("custom.dce_jaxpr")


def thin(f, used, *args):
    """The names of the operations that are left over, and which inputs."""
    whole = make_jaxpr(f)(*args).jaxpr
    before = str(whole)
    jaxpr, used_inputs = dce_jaxpr(whole, used)
    assert str(whole) == before  # the program that was given is not changed
    assert len(jaxpr.outvars) == sum(used)
    assert len(jaxpr.invars) == sum(used_inputs)
    return names(jaxpr), used_inputs


def test_what_is_needed_stays():
    """Everything that is needed stays, in its order, with the inputs that it needs."""

    def f(x, y):
        return lax.sin(x) * 2.0, lax.cos(lax.exp(y))

    assert thin(f, [True, False], 1.0, 2.0) == (["sin", "mul"], [True, False])
    assert thin(f, [False, True], 1.0, 2.0) == (["exp", "cos"], [False, True])
    assert thin(f, [True, True], 1.0, 2.0)[1] == [True, True]


def test_what_only_dead_code_reads_is_dead():
    """A value that only dead code reads is dead; an output may be an input or a number."""
    dead = lambda x, y: (lax.exp(lax.sin(lax.neg(x))), y, 2.0)  # noqa: E731
    assert thin(dead, [False, True, True], 1.0, 2.0) == ([], [False, True])


def test_what_is_cached_stays_behind():
    """What is cached on the old program, such as compiled code, is not on the new one."""
    whole = make_jaxpr(lambda x, y: (lax.sin(x), lax.cos(y)))(1.0, 2.0).jaxpr
    whole.cache["compiled"] = "for both results"
    cached = dce_jaxpr(whole, [False, True])[0].cache
    assert cached == {}


def test_a_result_that_is_there_twice():
    """A variable may be several results, of which some are used."""

    def f(x):
        y = lax.sin(x)
        return y, y, x

    assert thin(f, [True, False, False], 1.0) == (["sin"], [True])
    assert thin(f, [False, True, True], 1.0) == (["sin"], [True])


def test_equations_are_thinned_out():
    """When a call stays, only what `thinned` leaves counts: here a rule drops an operand."""
    asked = []

    def drops_the_first(eqn, used):
        asked.append(used)
        return eqn.replace(invars=eqn.invars[1:])

    has_effects = patch.object(custom, "has_effects", lambda eqn: eqn.primitive.name == "jit")
    with patch.dict(custom.dce_rules, {"jit": drops_the_first}), has_effects:
        call = jit(lambda a, b: (lax.exp(a), lax.cos(b)))
        for used in ([False, True], [True, True], [False, False]):
            left = thin(lambda x, y: call(lax.sin(x), lax.neg(y)), used, 1.0, 2.0)
            assert left == (["neg", "jit"], [False, True])
    assert list(map(list, asked)) == [[False, True], [True, True], [False, False]]


def test_effects_stay():
    """An equation with an effect stays, though nothing reads its result, and so does its operand."""
    with patch.object(custom, "has_effects", lambda eqn: eqn.primitive.name == "sin"):
        left = thin(lambda x, y: (lax.exp(lax.sin(lax.neg(x))), y), [False, True], 1.0, 2.0)
    assert left == (["neg", "sin"], [True, True])


exercise("custom.dce_call")


def cosine_alone(jaxpr, used_outputs):
    """What `dce_jaxpr` does to the program below, if the second result is used alone."""
    assert list(used_outputs) == [False, True]
    parts = {"invars": jaxpr.invars[2:], "outvars": jaxpr.outvars[1:], "eqns": jaxpr.eqns[1:]}
    return jaxpr.replace(**parts), [False, False, True]


def cosine_of_a_call(**params):
    """A call of two results, and what is left over of it for the second one."""
    (eqn,) = make_jaxpr(jit(lambda a, b, c: (a + b, lax.cos(c))))(1.0, 2.0, 3.0).eqns
    eqn = eqn.replace(params={**eqn.params, **params})
    before = dict(eqn.params), list(eqn.invars), list(eqn.outvars)
    with patch.object(custom, "dce_jaxpr", cosine_alone):
        left = dce_call(eqn, [False, True])
    stays = (eqn.params, list(eqn.invars), list(eqn.outvars)) == before
    assert stays, "The equation that was given has changed."
    return eqn, left


def test_operands_and_results_go():
    """The call has the result that is used, and the operand that its program still takes."""
    eqn, left = cosine_of_a_call()
    assert (left.invars, left.outvars) == (eqn.invars[2:], eqn.outvars[1:])
    assert names(left.params["jaxpr"]) == ["cos"]


def test_closed_or_open():
    """The program of the call is closed if it was, with its constants, and open if it was."""
    eqn, left = cosine_of_a_call()
    closed = eqn.params["jaxpr"]
    assert type(left.params["jaxpr"]).__name__ == "ClosedJaxpr"
    _, left = cosine_of_a_call(jaxpr=closed.replace(consts=[7.0]))
    assert left.params["jaxpr"].consts == [7.0]
    _, left = cosine_of_a_call(jaxpr=closed.jaxpr)
    assert type(left.params["jaxpr"]).__name__ == "Jaxpr"


def test_parameters_go_with_them():
    """Parameters with an entry for each operand or result lose the same; all others stay."""
    _, left = cosine_of_a_call(in_axes=(0, 1, 2), out_axes=(3, 4), inline=True, backend=None)
    found = [left.params.get(key, "gone") for key in ("in_axes", "out_axes", "inline", "backend")]
    assert found == [(2,), (4,), True, None]
    _, left = cosine_of_a_call(donated_invars=(True, True, False), out_layouts=("left", "right"))
    assert [left.params[key] for key in ("donated_invars", "out_layouts")] == [(False,), ("right",)]


exercise("custom.inverse_chain")


@for_programs(seed="custom", operations=["neg", "exp", "log"], dtypes=["float64"], results=1)
def test_random_chains_are_undone(f, xs):
    """The inverse takes the result back to the argument."""
    assert numbers(inverse_chain(f)(f(*xs))) == numbers(xs)


exercise("custom.dce_jaxpr")


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
