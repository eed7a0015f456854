"""Checks of your pocket JAX, for you to read and run: `./jaxprentice check nothing/pocket.py`.

They use the names that the page lists, and no others.
"""

import math
import random

import pytest
from checking import exercise

from nothing.pocket import cos, eval_jaxpr, exp, grad, jvp, linearize, log, make_jaxpr, sin, vjp


def close(x):
    return pytest.approx(x, rel=1e-9, abs=1e-12)


def slope(f, x):
    """The derivative by differences, to about nine digits."""
    h = 1e-3
    coarse, fine = ((f(x + d) - f(x - d)) / (2 * d) for d in (h, h / 2))
    return (4 * fine - coarse) / 3


ELEMENTARY = [  # a function, how Python computes it, and its derivative
    (sin, math.sin, math.cos),
    (cos, math.cos, lambda x: -math.sin(x)),
    (exp, math.exp, math.exp),
    (log, math.log, lambda x: 1 / x),
    (lambda x: x * x + 3.0 * x - 1, lambda x: x * x + 3 * x - 1, lambda x: 2 * x + 3),
    (lambda x: 2 - x, lambda x: 2 - x, lambda x: -1.0),
    (lambda x: x / 3 - 1 / x, lambda x: x / 3 - 1 / x, lambda x: 1 / 3 + 1 / x**2),
    (lambda x: -(x - 5) / x, lambda x: -(x - 5) / x, lambda x: -5 / x**2),
]
elementary = pytest.mark.parametrize(
    ("f", "expected", "moved"), ELEMENTARY, ids=[str(i) for i in range(len(ELEMENTARY))]
)


STEPS = [
    lambda a, b: a + b,
    lambda a, b: sin(a) * b,
    lambda a, b: a - cos(b),
    lambda a, b: a / (2 + sin(b)),
    lambda a, b: -exp(-a * a),
    lambda a, b: log(1 + b * b),
]


def program(seed):
    """A function of two numbers, of ten random steps, some of which are for nothing."""
    choose = random.Random(seed)
    steps = [(choose.choice(STEPS), choose.random(), choose.random()) for _ in range(10)]

    def f(x, y):
        known = [x, y, 0.5]
        for step, i, j in steps:
            known.append(step(known[int(i * len(known))], known[int(j * len(known))]))
        return known[-1] + known[-2]

    return f


PROGRAMS = [program(seed) for seed in range(30)]
POINT = (0.7, -0.4)

exercise("pocket.core")


@elementary
def test_values(f, expected, moved):
    """Without a transformation, functions and operators compute numbers."""
    assert f(0.6) == close(expected(0.6))
    assert isinstance(f(0.6), float)


exercise("pocket.jvp")


@elementary
def test_derivatives_forwards(f, expected, moved):
    """jvp returns the value, and the derivative times the tangent."""
    value, tangent = jvp(f, (0.6,), (2.0,))
    assert (value, tangent) == (close(expected(0.6)), close(2 * moved(0.6)))
    assert isinstance(tangent, float)


@pytest.mark.parametrize("f", PROGRAMS)
def test_two_inputs_forwards(f):
    """The tangent of the result is the sum of what both inputs contribute."""
    x, y = POINT
    ends = slope(lambda x: f(x, y), x), slope(lambda y: f(x, y), y)
    assert jvp(f, POINT, (3.0, -2.0))[1] == pytest.approx(3 * ends[0] - 2 * ends[1], rel=1e-7)


def test_what_does_not_move():
    """A constant has tangent 0, and so has a value from outside."""
    assert jvp(lambda x: 5.0, (1.0,), (1.0,)) == (5.0, 0.0)
    assert jvp(lambda x: jvp(lambda y: x, (2.0,), (1.0,))[1], (3.0,), (1.0,)) == (0.0, 0.0)


def test_derivatives_inside():
    """Each jvp has tangents of its own, which the one around it does not take for its own."""

    def inner(x):
        return x * jvp(lambda y: x + y, (1.0,), (1.0,))[1]

    assert jvp(inner, (1.0,), (1.0,)) == (1.0, 1.0)

    def second(f, x):
        return jvp(lambda x: jvp(f, (x,), (1.0,))[1], (x,), (1.0,))[1]

    assert second(sin, 0.6) == close(-math.sin(0.6))
    assert second(lambda x: 1 / x, 0.5) == close(16.0)
    assert second(lambda x: jvp(lambda y: x * y * y, (x,), (1.0,))[1], 3.0) == close(4.0)


def test_choices():
    """While the value is known, a function may choose by comparing."""

    def f(x):
        return x * x if x > 0 else -x

    assert [jvp(f, (x,), (1.0,))[1] for x in (3.0, -3.0)] == [6.0, -1.0]
    assert [grad(f)(x) for x in (3.0, -3.0)] == [6.0, -1.0]
    assert grad(grad(f))(3.0) == 2.0


exercise("pocket.jaxprs")


@pytest.mark.parametrize("f", PROGRAMS)
def test_there_and_back(f):
    """A program gives the values of the function that it was made from."""
    jaxpr = make_jaxpr(f)(0.1, 0.2)
    assert eval_jaxpr(jaxpr, POINT) == close(f(*POINT))
    assert eval_jaxpr(jaxpr, (2.0, 3.0)) == close(f(2.0, 3.0))


def test_equations():
    """A program has an equation for each operation on its variables, and is a text."""
    jaxpr = make_jaxpr(lambda x, y: sin(x * y) + 2.0)(1.0, 1.0)
    assert len(jaxpr.eqns) == 3
    assert len(str(jaxpr).split("\n")) >= 3
    assert len(make_jaxpr(lambda x: x)(1.0).eqns) == 0


def test_programs_of_derivatives():
    """Programs are differentiated, and derivatives are programs."""
    jaxpr = make_jaxpr(lambda x: sin(x) * x)(1.0)
    expected = math.sin(0.6) + 0.6 * math.cos(0.6)
    assert grad(lambda x: eval_jaxpr(jaxpr, (x,)))(0.6) == close(expected)
    for f in (grad(lambda x: sin(x) * x), lambda x: jvp(lambda x: sin(x) * x, (x,), (1.0,))[1]):
        assert eval_jaxpr(make_jaxpr(f)(1.0), (0.6,)) == close(expected)


def test_wrong_number_of_values():
    """A program takes as many values as the function took, no more and no fewer."""
    jaxpr = make_jaxpr(lambda x, y: x + y)(1.0, 2.0)
    for args in [(1.0,), (1.0, 2.0, 3.0)]:
        with pytest.raises((TypeError, ValueError)):
            eval_jaxpr(jaxpr, args)


def test_no_choices():
    """While a program is written no value is known: a comparison raises an error."""
    assert len(make_jaxpr(lambda x: -x)(1.0).eqns) == 1
    with pytest.raises(Exception) as error:
        make_jaxpr(lambda x: x if x > 0 else -x)(1.0)
    assert not isinstance(error.value, RecursionError)


def test_a_program_inside_another():
    """A variable of the outer program is a constant of the inner one."""

    def outer(x):
        return eval_jaxpr(make_jaxpr(lambda y: x * y)(1.0), (5.0,))

    jaxpr = make_jaxpr(outer)(1.0)
    assert eval_jaxpr(jaxpr, (3.0,)) == 15.0
    assert len(jaxpr.eqns) == 1


exercise("pocket.linearize")


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_linear_function(f):
    """linearize returns the value, and a function that does what jvp does with tangents."""
    value, f_lin = linearize(f, *POINT)
    assert value == close(f(*POINT))
    for tangents in [(1.0, 0.0), (0.0, 1.0), (3.0, -2.0)]:
        assert f_lin(*tangents) == close(jvp(f, POINT, tangents)[1])


def test_one_run():
    """The function itself runs once, however often its derivative is asked for."""
    runs = []
    _, f_lin = linearize(lambda x: runs.append(x) or sin(x), 0.6)
    assert [f_lin(t) for t in (1.0, 2.0)] == [close(math.cos(0.6)), close(2 * math.cos(0.6))]
    assert len(runs) == 1


def test_what_is_left():
    """What depends on no tangent was computed: it is not in the linear program any more."""
    _, f_lin = linearize(lambda x: sin(exp(cos(sin(exp(x))))), 0.6)
    left = make_jaxpr(f_lin)(1.0)
    assert 0 < len(left.eqns) <= 7


exercise("pocket.grad")


@elementary
def test_derivatives_backwards(f, expected, moved):
    """The gradient of a function of one number is its derivative."""
    assert grad(f)(0.6) == close(moved(0.6))


@pytest.mark.parametrize("f", PROGRAMS)
def test_two_inputs_backwards(f):
    """vjp returns the value, and a function from the sensitivity of the result to the inputs'."""
    value, f_vjp = vjp(f, *POINT)
    assert value == close(f(*POINT))
    ends = [jvp(f, POINT, tangents)[1] for tangents in [(1.0, 0.0), (0.0, 1.0)]]
    assert f_vjp(2.0) == (close(2 * ends[0]), close(2 * ends[1]))
    assert grad(f)(*POINT) == close(ends[0])


def test_an_input_that_does_not_count():
    """An input on which the result does not depend has gradient 0."""
    assert vjp(lambda x, y: 2 * y, 1.0, 2.0)[1](1.0) == (0.0, 2.0)
    assert grad(lambda x: 5.0)(1.0) == 0.0
    assert grad(lambda x: x)(1.0) == 1.0


def test_gradients_of_gradients():
    """Gradients are differentiated, backwards and forwards, and from inside each other."""
    third = grad(grad(grad(sin)))
    assert third(0.6) == close(-math.cos(0.6))
    assert jvp(grad(exp), (0.6,), (1.0,))[1] == close(math.exp(0.6))
    assert grad(lambda x: jvp(log, (x,), (1.0,))[1])(0.5) == close(-4.0)
    assert grad(lambda x: x * grad(lambda y: x * y * y)(2.0))(3.0) == close(24.0)


def test_one_pass():
    """A gradient runs the function once, and each of its operations once more on the way back."""
    runs = []

    def doubled(x):
        runs.append(x)
        for _ in range(60):
            x = x + x
        return x

    assert grad(doubled)(1.0) == 2.0**60
    assert len(runs) == 1


def test_long_programs():
    """A program may have thousands of operations."""

    def f(x):
        for _ in range(3000):
            x = x * 1.0 + 0.001
        return x

    assert grad(f)(1.0) == close(1.0)


def test_many_inputs():
    """The gradients of many inputs come from one run."""
    runs = []

    def f(*xs):
        runs.append(0)
        total = 0.0
        for x in xs:
            total = total + sin(x)
        return total

    xs = [i / 100 for i in range(200)]
    assert vjp(f, *xs)[1](1.0) == tuple(close(math.cos(x)) for x in xs)
    assert len(runs) == 1
