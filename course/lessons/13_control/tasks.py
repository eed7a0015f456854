"""Checks of what lies beyond the exercises: `./jaxprentice check control.open` and `.repair`."""

import numpy as np
import pytest
from checking import exercise, yours
from numpy.testing import assert_allclose
from random_programs import for_programs, numbers, results_of, slope

import minijax.numpy as jnp
from minijax import grad, jit, jvp, lax, make_jaxpr, vmap

OPERATIONS = ("neg", "sin", "cos", "exp", "add", "sub", "mul", "reduce_sum")


def contraction(f):
    """A function of `p` and `x` that brings all `x` closer together; `f` says how `p` counts."""

    def step(p, x):
        total = sum(jnp.sum(y) for y in results_of(f(*p)))
        return 0.4 * jnp.sin(total + x * jnp.sin(total))

    return step


def by_python(f, p, x):
    """What a Python loop converges to."""
    for _ in range(60):
        x = f(p, x)
    return x


def kepler(p, x):
    """Where a planet is, at a time, on an orbit that is more or less round."""
    return p["time"] + p["shape"] * lax.sin(x)


exercise("control.open")

fixed_point = yours("open_control.fixed_point")


@for_programs(seed="control.open", number=6, operations=OPERATIONS, dtypes=["float64"])
def test_fixed_points_of_random_programs(f, xs, ts):
    """The value and the derivative are those of a Python loop that takes many steps."""
    step = contraction(f)
    (want_dot,) = slope(lambda *p: by_python(step, p, 0.5), xs, ts)
    value, moved = jvp(lambda *p: fixed_point(step, p, 0.5), xs, ts)
    assert numbers([value, moved]) == numbers([by_python(step, xs, 0.5), want_dot])


def test_gradients_of_an_orbit():
    """The gradient is a container like `p`, for many planets at once as well."""
    times, shapes = np.array([0.5, 1.0, 3.0]), np.array([0.0, 0.3, 0.8])
    orbits = {"time": times, "shape": shapes}

    def position(p):
        return fixed_point(kepler, p, 1.0)

    x, slopes = vmap(position)(orbits), jit(vmap(grad(position)))(orbits)
    assert_allclose(x, times + shapes * np.sin(x), atol=1e-9)
    assert_allclose(slopes["time"], 1 / (1 - shapes * np.cos(x)), atol=1e-9)
    assert_allclose(slopes["shape"], np.sin(x) / (1 - shapes * np.cos(x)), atol=1e-9)


def test_second_derivatives():
    """The gradient of the gradient is the slope of the gradient."""
    first = grad(lambda p: fixed_point(lambda p, x: lax.cos(p * x), p, 0.5))
    for p in (0.3, 0.9, 1.2):
        assert numbers([grad(first)(p)]) == numbers(slope(first, [p], [1.0]))


def test_one_loop():
    """Thousands of steps are one loop, and none is kept: there is no scan, and no second loop."""

    def slow(p):
        return fixed_point(lambda p, x: x + 0.01 * (p * p - x), p, 0.0)

    assert_allclose(grad(slow)(3.0), 6.0, rtol=1e-6)
    text = str(make_jaxpr(grad(slow))(3.0))
    assert (text.count("while["), text.count("scan[")) == (1, 0)


exercise("control.repair")

drain = yours("repair_control.drain")


def test_no_water_is_lost():
    """What is in the tank and what has left it are what there was at first."""
    for k in (0.1, 0.5):
        height, left = drain(k, 2.0, 10)
        assert_allclose(height + left, 2.0)


@pytest.mark.parametrize("k", [0.1, 0.5])
def test_no_water_is_lost_in_derivatives(k):
    """If `k` grows, what leaves the tank is missing in it; water that is added is somewhere."""
    by_k, by_height = grad(lambda k, h: sum(drain(k, h, 10)), argnums=(0, 1))(k, 2.0)
    assert_allclose([by_k, by_height], [0.0, 1.0], atol=1e-12)


@pytest.mark.parametrize("k", [0.1, 0.5])
def test_slopes(k):
    """Each derivative is the slope of the values, whether the tank is empty at the end or not."""

    def both(k, height):
        return drain(k, height, 10)

    _, moved = jvp(both, (k, 2.0), (1.0, 0.5))
    assert numbers(list(moved)) == numbers(slope(both, [k, 2.0], [1.0, 0.5]))


def test_many_tanks():
    """The gradients of many tanks at once are each their own: three are empty in the end."""
    slopes = vmap(grad(lambda height: drain(0.5, height, 4)[1]))(np.array([0.1, 0.3, 0.6, 40.0]))
    assert_allclose(slopes[:3], [1.0, 1.0, 1.0])
    assert 0.0 < slopes[3] < 1.0
