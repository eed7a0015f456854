"""Checks of what lies beyond the exercises: `check tracing.open` and `check tracing.repair`."""

from unittest.mock import patch

import numpy as np
import pytest
from checking import exercise, yours
from numpy.testing import assert_allclose
from random_programs import LAX, for_programs, numbers, results_of

import minijax.numpy as jnp
from minijax import lax, make_jaxpr
from minijax.core import impl_rules, trace_state

# Operations that are equations whatever their operands are.
PLAIN = [name for name in LAX if name not in ("broadcast_in_dim", "convert_element_type")]


exercise("tracing.open")

spreadsheet = yours("open_tracing.spreadsheet")


def counting(f):
    """`f`, so that it returns a pair: its result, and how many operations were evaluated."""
    runs = []

    def watched(rule):
        return lambda *args, **params: runs.append(rule) or rule(*args, **params)

    def counted(*args):
        runs.clear()
        with patch.dict(impl_rules, {p: watched(rule) for p, rule in impl_rules.items()}):
            return f(*args), len(runs)

    return counted


def equations_from(jaxpr, var):
    """How many equations depend on a variable."""
    moved = {var}
    for eqn in jaxpr.eqns:
        moved.update([] if moved.isdisjoint(eqn.invars) else eqn.outvars)
    return sum(not moved.isdisjoint(eqn.outvars) for eqn in jaxpr.eqns)


@for_programs(seed="tracing.open", operations=LAX, dtypes=["float64"])
def test_random_programs(f, xs):
    """One argument after the other changes: the results are right, and little is computed."""
    update = counting(spreadsheet(f, *xs))
    jaxpr = make_jaxpr(f)(*xs).jaxpr
    for i, var in enumerate(jaxpr.invars):
        xs = [x + 0.001 if k == i else x for k, x in enumerate(xs)]
        out, runs = update(*xs)
        assert numbers(out) == numbers(f(*xs))
        most = equations_from(jaxpr, var)
        assert runs <= most, f"{runs} operations were evaluated, and {most} depend on the change."
    runs = update(*xs)[1]
    assert runs == 0, f"{runs} operations were evaluated, although nothing had changed."


def sheet(x, y):
    """Two results: the first depends on `x`, and the second on `y` and the sign of `x`."""
    sign = lax.convert_element_type(lax.gt(x, 0.0), np.dtype("float64"))
    return {"first": jnp.sin(x), "second": jnp.exp(jnp.cos(lax.mul(sign, y)))}


def test_what_runs():
    """Only what depends on a change runs, and nothing after a result that is the same as before."""
    update = counting(spreadsheet(sheet, 1.0, 2.0))
    steps = [((1.0, 3.0), 3), ((2.0, 3.0), 2), ((-2.0, 3.0), 6), ((-2.0, 3.0), 0)]
    for args, wanted in steps:
        out, runs = update(*args)
        assert_allclose(out["first"], np.sin(args[0]))
        assert_allclose(out["second"], np.exp(np.cos((args[0] > 0) * args[1])))
        assert runs == wanted, f"{runs} operations were evaluated, not {wanted}."


def test_arrays_that_change():
    """A spreadsheet notices that the user has written into an array since the last time."""
    x = np.array([1.0, 2.0])
    update = counting(spreadsheet(jnp.sin, x))
    x[0] = 5.0
    out, runs = update(x)
    assert_allclose(out, np.sin([5.0, 2.0]))
    assert runs == 1


def test_calls():
    """The function runs once, and what does not depend on its arguments is evaluated once."""
    calls = []

    def f(x):
        calls.append(x)
        return lax.mul(jnp.exp(2.0), x)

    update = counting(spreadsheet(f, 1.0))
    update(2.0)
    out, runs = update(3.0)
    assert_allclose(out, np.exp(2.0) * 3.0)
    assert runs == 1
    assert len(calls) == 1


exercise("tracing.repair")

logged = yours("repair_tracing.logged")


def same_log(f, *args):
    """Whether the log names the equations of the program, and the result is right."""
    out, log = logged(f, *args)
    assert log == [eqn.primitive.name for eqn in make_jaxpr(f)(*args).eqns]
    assert numbers(out) == numbers(f(*args))


@for_programs(seed="tracing.repair", operations=PLAIN)
def test_random_programs_are_logged(f, xs):
    """The operations of a random program are logged, in their order."""
    same_log(lambda *ys: results_of(f(*ys))[0], *xs)


@for_programs(seed="tracing.repair", operations=PLAIN)
def test_random_programs_of_constants(f, xs):
    """Operations on constants are logged in their order as well, even if the argument is not in them."""
    same_log(lambda y: (results_of(f(*xs)), lax.sin(y))[1], 0.5)


def test_tables_and_masks():
    """What is computed without the argument is logged as well."""
    table = np.array([0.0, -1.0, -2.0])
    same_log(lambda x: jnp.sum(jnp.exp(table) * x), np.ones(3))
    same_log(lambda x: lax.exp(2.0), 1.0)


def test_logs_within_logs():
    """A function that is logged inside another has a log of its own; then the outer one goes on."""
    inner = []

    def f(x):
        inner.extend(logged(jnp.cos, 1.0)[1])
        return lax.exp(2.0) * x

    assert logged(f, 3.0)[1] == ["exp", "mul"]
    assert inner == ["cos"]


def test_nothing_is_left():
    """After a function that fails, operations are evaluated as before."""
    with pytest.raises(ZeroDivisionError):
        logged(lambda x: x * (1 / 0), 1.0)
    assert trace_state.dynamic_trace is None
    assert float(lax.exp(0.0)) == 1.0
