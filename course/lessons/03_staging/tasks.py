"""Checks of what lies beyond the exercises: `./jaxprentice check staging.open` and `.repair`."""

import pytest
from checking import exercise, random_program, yours

from microjax.duals import derivative, jvp, nth_order_derivative
from microjax.interpreters import Op, add, count_ops, mul
from microjax.staging import Var, build_jaxpr, dce_jaxpr, eval_jaxpr


SIMPLE = (0.0, 1.0, -0.5)  # what can be simplified, and what cannot


def slope_of(f, order=1):
    """The derivative of `f` along its first input."""
    return lambda x, *rest: nth_order_derivative(order, lambda z: f(z, *rest), x)


def fourth(x):
    return mul(mul(x, x), mul(x, x))


def close(want):
    return pytest.approx(want, rel=1e-9, abs=1e-9)


exercise("staging.open")

simplify = yours("open_staging.simplify")


def programs():
    """Random programs, and the programs of their derivatives."""
    for seed in range(40):
        f = random_program(seed, 2, 10, SIMPLE)
        yield build_jaxpr(f, 2)
        yield build_jaxpr(slope_of(f), 2)


def test_same_numbers():
    """A simplified program returns the same numbers, to the last digit, and changes no other."""
    for jaxpr in programs():
        text, short = str(jaxpr), simplify(jaxpr)
        assert str(jaxpr) == text
        assert short.parameters == jaxpr.parameters
        for point in [(2.0, -3.0), (0.0, 1.0), (0.1, 0.7)]:
            assert eval_jaxpr(short, point) == eval_jaxpr(jaxpr, point)


def test_no_equation_too_many():
    """No equation adds 0.0, multiplies by 0.0 or 1.0, has two numbers, repeats, or is not needed."""
    for jaxpr in programs():
        short, seen = simplify(jaxpr), set()
        for equation in short.equations:
            numbers = [arg for arg in equation.args if isinstance(arg, float)]
            assert len(numbers) < 2
            assert 0.0 not in numbers
            assert equation.op is Op.add or 1.0 not in numbers
            seen.add((equation.op, frozenset(equation.args)))
        assert len(seen) == len(short.equations)
        assert len(dce_jaxpr(short).equations) == len(short.equations)


def test_programs_of_derivatives():
    """Programs of derivatives shrink to what the task says, and further down than you may expect."""
    lengths = []
    for order in range(5):
        jaxpr = build_jaxpr(lambda x, n=order: nth_order_derivative(n, fourth, x), 1)
        lengths.append((len(jaxpr.equations), len(simplify(jaxpr).equations)))
    assert [before for before, _ in lengths] == [3, 12, 42, 138, 438]
    assert [after <= most for (_, after), most in zip(lengths, [2, 4, 6, 5, 0], strict=True)] == [
        True
    ] * 5


def test_constants_of_other_interpreters():
    """Constants that are not floats stay, whatever their names, and can be differentiated."""

    def f(x):
        short = simplify(build_jaxpr(lambda y: mul(add(x, 0.0), mul(add(y, x), add(x, y))), 1))
        return eval_jaxpr(short, (mul(x, 2.0),))

    assert jvp(f, 2.0, 1.0) == (72.0, 108.0)
    assert eval_jaxpr(build_jaxpr(f, 1), (2.0,)) == 72.0
    outside = Var("v_1")
    short = simplify(build_jaxpr(lambda y: mul(mul(outside, y), mul(y, outside)), 1))
    assert len(short.equations) == 2
    assert sum(arg is outside for equation in short.equations for arg in equation.args) == 1


exercise("staging.repair")

gradient = yours("repair_staging.gradient")


def partials(f, *xs):
    """The derivatives with respect to all inputs, one after the other."""
    return [derivative(lambda x, i=i: f(*xs[:i], x, *xs[i + 1 :]), xs[i]) for i in range(len(xs))]


def test_random_programs():
    """The gradient has all partial derivatives."""
    for seed in range(40):
        f = random_program(seed, 3, 10, SIMPLE)
        assert gradient(f, 0.5, -1.5, 0.25) == close(partials(f, 0.5, -1.5, 0.25))
    assert gradient(lambda x, y: y, 2.0, 3.0) == [0.0, 1.0]
    assert gradient(lambda x: 5.0, 2.0) == [0.0]


def test_price():
    """The price does not grow with the number of inputs."""
    for inputs in (1, 3, 30):
        f = random_program(1, inputs, 30, SIMPLE)
        _, count = count_ops(gradient, f, *[0.5] * inputs)
        assert count <= 6 * 32, f"It takes {count} operations for {inputs} inputs."


def test_gradients_of_gradients():
    """The gradient of a function that takes a gradient is right."""
    for seed in range(20):
        f = random_program(seed, 2, 10, SIMPLE)
        slope = lambda x, y, f=f: gradient(f, x, y)[0]  # noqa: E731
        assert gradient(slope, 0.5, -1.5) == close(partials(slope_of(f), 0.5, -1.5))


def test_inputs_of_functions_outside():
    """A value that a function takes from outside is a constant for it, and moves for the outer one."""
    for seed in range(20):
        f = random_program(seed, 2, 10, SIMPLE)

        def outer(x, y, slopes, f=f):
            return add(mul(x, slopes(lambda z: mul(f(x, z), y), y)), y)

        want = partials(lambda x, y: outer(x, y, derivative), 0.5, -1.5)
        assert gradient(
            lambda x, y: outer(x, y, lambda g, z: gradient(g, z)[0]), 0.5, -1.5
        ) == close(want)


def test_gradients_that_are_staged():
    """The program of a function that takes a gradient computes what the function computes."""

    def f(x, y):
        return gradient(lambda z: mul(mul(x, z), add(z, y)), y)[0]

    assert f(2.0, 3.0) == 18.0
    assert eval_jaxpr(build_jaxpr(f, 2), (2.0, 3.0)) == 18.0
