"""Checks of what lies beyond the exercises: `./jaxprentice check core.open` and `core.repair`."""

import numpy as np
import pytest
from checking import exercise, operation, yours
from numpy.testing import assert_allclose
from random_programs import for_programs, numbers

import minijax.numpy as jnp
from minijax import lax
from minijax.core import counted, trace_state

SMOOTH = ("add", "sub", "mul", "neg", "sin", "cos", "exp", "transpose", "reduce_sum", "dot_general")
OPERATIONS = (*SMOOTH, "div", "log", "gt", "lt", "convert_element_type")


def born(find_nans, f, *xs):
    """The message about the NaN that `f` makes."""
    with pytest.raises(FloatingPointError) as caught:
        find_nans(f)(*xs)
    return str(caught.value)


exercise("core.open")

find_nans = yours("open_core.find_nans")


@for_programs(seed="core.open", operations=OPERATIONS, results=1)
def test_programs_without_a_nan(f, xs, want):
    """A program that makes no NaN returns what it always returns, without a box."""
    assert numbers(find_nans(f)(*xs)) == numbers(want)


@for_programs(seed="core.open", operations=OPERATIONS, results=1)
def test_birth_in_a_program(f, xs):
    """The operation that makes a NaN of a program's result is named, and no later one."""

    def negative_log(*xs):
        return lax.sin(lax.log(lax.neg(lax.exp(lax.convert_element_type(f(*xs), "float64")))))

    assert "log" in born(find_nans, negative_log, *xs)


@for_programs(seed="core.open", operations=SMOOTH, dtypes=["float64"], results=1)
def test_nans_from_outside(f, xs):
    """A NaN that was there before is passed on, whatever is computed with it."""
    nans = [np.full_like(x, np.nan) for x in xs]
    assert_allclose(np.asarray(find_nans(f)(*nans)), np.asarray(f(*nans)))


def test_name_of_the_operation():
    """Infinite values and zeros make a NaN in their own ways."""
    inf = np.inf
    assert "sub" in born(find_nans, lambda x, y: jnp.exp(x - y), inf, inf)
    assert "mul" in born(find_nans, lambda x: x * 0.0 + 1.0, np.array([1.0, inf]))
    assert "div" in born(find_nans, lambda x, y: jnp.sin(x / y), np.zeros(2), np.zeros(2))
    assert "sum" in born(find_nans, jnp.sum, np.array([inf, -inf]))


def test_several_results():
    """A primitive with several results is watched like any other."""
    roots = operation("roots", several=True, impl=lambda x: [np.sqrt(x), -np.sqrt(x)])
    assert_allclose(np.asarray(find_nans(lambda x: roots.bind(x)[1] * 2.0)(9.0)), -6.0)
    assert "roots" in born(find_nans, lambda x: roots.bind(x)[0], -9.0)


def test_with_other_interpreters():
    """`find_nans` works in `counted`, around it, and inside itself; Python's `if` works, too."""

    def f(x):
        return jnp.log(x * 2.0) if x > -1.0 else x

    assert counted(find_nans(f))(0.5)[0] == 0.0
    assert find_nans(lambda x: counted(f)(x)[0])(0.5) == 0.0
    assert find_nans(f)(-2.0) == -2.0
    assert "log" in born(find_nans, lambda x: counted(f)(x)[0], -0.5)
    assert "log" in born(find_nans, find_nans(f), -0.5)
    assert "log" in born(find_nans, lambda x: find_nans(lambda y: x + f(y))(-0.5), 1.0)
    with pytest.raises(FloatingPointError, match="log"):
        counted(find_nans(f))(-0.5)
    assert len(trace_state.stack) == 1


def test_constants():
    """A function may return a constant, and a NaN among its constants comes from outside."""
    assert find_nans(lambda x: 2.5)(1.0) == 2.5
    assert np.isnan(np.asarray(find_nans(lambda x: x * np.nan)(1.0)))


exercise("core.repair")

origins = yours("repair_core.origins")


@for_programs(seed="core.repair", operations=OPERATIONS, results=1)
def test_programs_use_their_arguments(f, xs, want):
    """A program's result comes from all arguments that it uses."""
    value, found = origins(lambda unused, *xs: f(*xs))(7.0, *xs)
    assert numbers(value) == numbers(want)
    assert found == set(range(1, 1 + len(xs)))


@for_programs(seed="core.repair", operations=OPERATIONS, results=1)
def test_a_program_in_another(f, xs, want):
    """In `origins(lambda *xs: origins(lambda unused: f(*xs))(7.0)[0])(*xs)`, the outer call owns `xs`."""
    inner = []

    def outer(*xs):
        value, found = origins(lambda unused: f(*xs))(7.0)
        inner.append(found)
        return value

    value, found = origins(outer)(*xs)
    assert numbers(value) == numbers(want)
    assert found == set(range(len(xs)))
    assert inner == [set()]


def test_both_levels():
    """Each call reports its own arguments."""
    inner = []

    def outer(x, y, z):
        value, found = origins(lambda a, b: jnp.sin(b) * x)(z, y)
        inner.append(found)
        return value - z

    value, found = origins(outer)(2.0, 0.0, 3.0)
    assert value == -3.0
    assert found == {0, 1, 2}
    assert inner == [{1}]


def test_results_without_origin():
    """A constant comes from nowhere, and an argument from itself."""
    assert origins(lambda x: 2.5)(1.0) == (2.5, set())
    assert origins(lambda x, y: y)(1.0, 4.0) == (4.0, {1})
