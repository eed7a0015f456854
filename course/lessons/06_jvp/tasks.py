"""Checks of what lies beyond the exercises: `./jaxprentice check jvp.open` and `jvp.repair`."""

import numpy as np
from checking import exercise, yours
from numpy.testing import assert_allclose
from random_programs import for_programs, numbers, results_of, slope

import minijax.numpy as jnp
from minijax import jvp

OPERATIONS = ("neg", "sin", "cos", "exp", "add", "sub", "mul", "div", "reduce_sum")


def around(f, xs, ts):
    """A function from three numbers to one: how `f` moves when `xs` go along `ts`, each by its own."""

    def moved(steps):
        axes = np.eye(3)
        pairs = zip(xs, ts, axes, strict=False)
        return sum(
            jnp.sum(y) for y in results_of(f(*[x + jnp.sum(steps * a) * t for x, t, a in pairs]))
        )

    return moved


def total_cube(x):
    """The sum of the cubes of some numbers, or the cube of one."""
    return jnp.sum(x * x * x)


def counting(f):
    """`f`, and a list that grows with each call."""
    calls = []
    return lambda x: calls.append(x) or f(x), calls


exercise("jvp.open")

hessian = yours("open_jvp.hessian")
hvp = yours("open_jvp.hvp")


@for_programs(seed="jvp.open", operations=OPERATIONS, dtypes=["float64"])
def test_hessian_of_random_programs(f, xs, ts):
    """A row of the Hessian is the slope of the first derivative along that axis."""
    g, zero = around(f, xs, ts), np.zeros(3)

    def first(x):
        return [jvp(g, (x,), (axis,))[1] for axis in np.eye(3)]

    rows = hessian(g, zero)
    for axis, row in zip(np.eye(3), rows, strict=True):
        assert numbers(list(row)) == numbers(slope(first, [zero], [axis]))


@for_programs(seed="jvp.open", operations=OPERATIONS, dtypes=["float64"])
def test_product_of_random_programs(f, xs, ts):
    """The product with a vector is the one that the whole Hessian has."""
    g, zero, v = around(f, xs, ts), np.zeros(3), np.array([0.5, -1.0, 2.0])
    assert numbers([hvp(g, zero, v)]) == numbers([np.asarray(hessian(g, zero)) @ v])


def test_calls():
    """The function is called no more often than the task allows."""
    x = jnp.array([1.0, 2.0, 3.0, 4.0])
    f, calls = counting(total_cube)
    assert_allclose(hessian(f, x), np.diag([6.0, 12.0, 18.0, 24.0]))
    assert 1 <= len(calls) <= 10, f"`hessian` calls the function {len(calls)} times."
    calls.clear()
    assert_allclose(hvp(f, x, jnp.ones(4)), [6.0, 12.0, 18.0, 24.0])
    assert 1 <= len(calls) <= 4, f"`hvp` calls the function {len(calls)} times."


def test_dtype():
    """The second derivatives of float32 numbers are float32."""
    x = jnp.array([1.0, 2.0], "float32")
    assert hessian(total_cube, x).dtype == np.float32
    assert hvp(total_cube, x, x).dtype == np.float32


exercise("jvp.repair")

remember = yours("repair_jvp.remember")


def test_same_derivatives():
    """With the memory and without it, a function has the same derivative along every tangent."""
    f = remember(total_cube)
    for x, x_dot in [(2.0, 1.0), (2.0, 10.0), (3.0, 1.0), (2.0, -1.0)]:
        assert jvp(f, (x,), (x_dot,)) == jvp(total_cube, (x,), (x_dot,))


def test_values_after_derivatives():
    """A derivative leaves nothing behind: later values are plain numbers, not tracers."""
    f = remember(lambda x: jnp.sin(x) * x)
    jvp(f, (2.0,), (1.0,))
    assert_allclose(np.asarray(f(2.0)), np.sin(2.0) * 2.0)


def test_second_derivatives():
    """Derivatives of derivatives go through the memory, too."""

    def deriv(f):
        return lambda x: jvp(f, (x,), (1.0,))[1]

    f = remember(lambda x: x * x * x)
    assert deriv(f)(2.0) == 12.0
    assert deriv(deriv(f))(2.0) == 12.0
    assert deriv(deriv(lambda x: x * f(2.0) + f(x)))(2.0) == 12.0


def test_memory_still_works():
    """The function runs once for each number."""
    g, calls = counting(lambda x: x * 2.0)
    f = remember(g)
    assert [f(2.0), f(3.0), f(2.0), f(2.0)] == [4.0, 6.0, 4.0, 4.0]
    assert len(calls) == 2
