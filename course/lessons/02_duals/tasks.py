"""Checks of what lies beyond the exercises: `./jaxprentice check duals.open` and `duals.repair`."""

import math

import pytest
from checking import exercise, random_program, yours

from microjax.duals import derivative, jvp, nth_order_derivative
from microjax.interpreters import (
    EvalInterpreter,
    add,
    count_ops,
    current_interpreter,
    mul,
    set_interpreter,
)


def power(x, n):
    return mul(x, power(x, n - 1)) if n > 1 else x


def close(want):
    return pytest.approx(want, rel=1e-9, abs=1e-9)


exercise("duals.open")

taylor = yours("open_duals.taylor")


def test_random_programs():
    """The coefficients are the derivatives, each divided by a factorial."""
    for seed in range(40):
        f = random_program(seed, 1)
        slopes = [nth_order_derivative(k, f, 0.75) / math.factorial(k) for k in range(4)]
        assert taylor(f, 0.75, 3) == close(slopes)
        assert taylor(f, 0.75, 0) == close(slopes[:1])


def test_high_orders():
    """The coefficients of (x + 1) to the power of 30 at 0 are binomial coefficients."""
    found = taylor(lambda x: power(add(x, 1.0), 30), 0.0, 20)
    assert found == close([math.comb(30, k) for k in range(21)])


def test_cost():
    """The function runs once, and each of its operations costs what the task allows."""
    for order in (0, 1, 5, 12):
        runs = []
        f = lambda x, runs=runs: runs.append(x) or power(add(x, 1.0), 9)  # noqa: E731
        _, count = count_ops(taylor, f, 2.0, order)
        assert len(runs) == 1
        assert count <= 9 * 2 * (order + 1) ** 2, f"Order {order} takes {count} operations."


def test_constants():
    """A function that returns a constant has one coefficient that is not zero."""
    assert taylor(lambda x: 5.0, 2.0, 2) == [5.0, 0.0, 0.0]
    assert taylor(lambda x: mul(2.0, 3.0), 2.0, 2) == [6.0, 0.0, 0.0]
    assert taylor(lambda x: x, 2.0, 2) == [2.0, 1.0, 0.0]


def test_series_that_are_differentiated():
    """The derivative of a coefficient is the next one, times its order."""
    for seed in range(20):
        f = random_program(seed, 1)
        for k in range(3):
            slope = derivative(lambda x, f=f, k=k: taylor(f, x, 2)[k], 0.75)
            assert slope == close((k + 1) * taylor(f, 0.75, 3)[k + 1])


def test_series_of_derivatives():
    """A derivative can be expanded: its coefficients are those of the function, moved by one."""
    for seed in range(20):
        f = random_program(seed, 1)
        found = taylor(lambda x, f=f: derivative(f, x), 0.75, 2)
        assert found == close([(k + 1) * c for k, c in enumerate(taylor(f, 0.75, 3)[1:])])


def test_series_inside_series():
    """Each series sees its own input move, and no other."""

    def f(x):
        return mul(x, taylor(lambda y: mul(add(x, y), mul(x, y)), 1.0, 1)[1])  # x * (x * x + 2 x)

    assert taylor(f, 3.0, 3) == [45.0, 39.0, 11.0, 1.0]
    assert taylor(lambda x: mul(x, taylor(lambda y: x, 1.0, 1)[1]), 3.0, 1) == [0.0, 0.0]


def test_all_is_as_before():
    """Afterwards the interpreter that was current is current again, even if the function fails."""
    mine = EvalInterpreter()
    with set_interpreter(mine):
        taylor(lambda x: mul(x, x), 2.0, 2)
        assert current_interpreter() is mine
        with pytest.raises(ZeroDivisionError):
            taylor(lambda x: 1 // 0, 2.0, 2)
        assert current_interpreter() is mine


exercise("duals.repair")

cos = yours("repair_duals.cos")
sin = yours("repair_duals.sin")


def test_values():
    """The values are those of Python's functions."""
    assert (sin(1.0), cos(1.0)) == (math.sin(1.0), math.cos(1.0))


def test_derivatives():
    """Derivatives of every order are right, and so is the chain rule."""
    orders = [nth_order_derivative(n, sin, 1.0) for n in range(5)]
    slopes = [math.sin(1.0), math.cos(1.0), -math.sin(1.0), -math.cos(1.0), math.sin(1.0)]
    assert orders == close(slopes)
    assert jvp(lambda x: sin(mul(x, x)), 2.0, 0.5) == close((math.sin(4.0), 2 * math.cos(4.0)))
    assert jvp(lambda x: sin(3.0), 2.0, 1.0) == close((math.sin(3.0), 0.0))


def test_what_does_not_move():
    """Where `x` does not move, its sine does not move either."""
    for f in (sin, cos):
        assert derivative(lambda x, f=f: mul(x, derivative(lambda y: f(x), 0.0)), 1.0) == 0.0
        assert derivative(lambda x, f=f: derivative(lambda y: add(y, f(x)), x), 1.0) == 0.0


def test_partial_derivatives_of_random_programs():
    """Partial derivatives of random programs are the same in either order."""
    for seed in range(30):
        f = random_program(seed, inputs=4, length=5)

        def g(x, y, f=f):
            return f(sin(x), cos(y), sin(mul(x, y)), x)

        def mixed(x, y, g=g):
            return derivative(lambda x: derivative(lambda y: g(x, y), y), x)

        swapped = derivative(lambda y, g=g: derivative(lambda x: g(x, y), 0.3), 0.4)
        assert mixed(0.3, 0.4) == close(swapped)
