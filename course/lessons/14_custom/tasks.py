"""Checks of what lies beyond the exercises: `./jaxprentice check custom.open` and `.repair`."""

from unittest.mock import patch

import numpy as np
import pytest
from checking import exercise, yours
from numpy.testing import assert_allclose
from random_programs import for_programs, numbers, results_of

import minijax.numpy as jnp
from minijax import custom_interpreters as custom
from minijax import jit, lax, vmap

OPERATIONS = ("neg", "exp", "add", "sub", "mul", "reduce_sum", "transpose", "broadcast_in_dim")
WEIGHTS = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])


def boxes(xs, radius):
    """Pairs around arrays."""
    return [(x - radius, x + radius) for x in xs]


def pairs_of(out):
    """The pairs of all results, whether there are several or one."""
    return [out] if not isinstance(out[0], tuple) else list(out)


def some_between(pairs, number=30):
    """Arguments between the ends of pairs: some anywhere, the others at the ends."""
    rng = np.random.default_rng(14)
    for i in range(number):
        where = [rng.uniform(size=np.shape(low)) for low, _ in pairs]
        parts = [np.round(w) if i % 2 else w for w in where]
        yield [low + w * (high - low) for w, (low, high) in zip(parts, pairs, strict=True)]


def assert_between(values, pairs):
    """All values are between the ends, except for rounding."""
    for value, (low, high) in zip(values, pairs, strict=True):
        slack = 1e-9 * (1.0 + np.abs(value))
        assert np.all(np.asarray(low) <= value + slack), "a value is below its bound"
        assert np.all(np.asarray(high) >= value - slack), "a value is above its bound"


exercise("custom.open")

bounds = yours("open_custom.bounds")


@for_programs(seed="custom.open", operations=OPERATIONS, using=["dot_general"], dtypes=["float64"])
def test_bounds_of_random_programs(f, xs):
    """Whatever the arguments are between their ends, the results are between theirs."""
    pairs = boxes(xs, 0.25)
    found = pairs_of(bounds(jit(f))(*pairs))
    for args in some_between(pairs):
        assert_between(results_of(f(*args)), found)


@for_programs(seed="custom.open", operations=OPERATIONS, dtypes=["float64"])
def test_points(f, xs, want):
    """If both ends of every pair are the same, so are both ends of the results: they are the values."""
    found = pairs_of(bounds(f)(*boxes(xs, 0.0)))
    assert numbers([low for low, _ in found]) == numbers(want)
    assert numbers([high for _, high in found]) == numbers(want)


def test_narrowest():
    """A program that reads each value once has the narrowest bounds that are right."""
    x, y = (np.array([-2.0, -1.0, 1.0]), np.array([-1.0, 3.0, 2.0])), (-3.0, 0.5)
    assert_allclose(bounds(lax.mul)(x, y), [[-1.0, -9.0, -6.0], [6.0, 3.0, 1.0]])
    assert_allclose(bounds(lax.sub)(x, y), [[-2.5, -1.5, 0.5], [2.0, 6.0, 5.0]])
    assert_allclose(
        bounds(lambda x: 3.0 - lax.exp(-2.0 * x))(y), [3.0 - np.exp(6.0), 3.0 - np.exp(-1.0)]
    )
    assert_allclose(bounds(lambda x: jnp.maximum(jnp.sum(x), 0.0))(x), [0.0, 4.0])


def test_a_network_is_never_surprised():
    """The proof that a small network answers the same for all inputs near an image."""

    def score(x):
        hidden = jnp.maximum(jnp.dot(WEIGHTS, jnp.tanh(x)), 0.0)
        return jnp.dot(hidden, np.array([1.0, -0.5]))

    pair = np.array([0.9, -0.4, 0.2]), np.array([1.1, -0.2, 0.4])
    low, high = bounds(score)(pair)
    assert 0.0 < low < high
    assert_between([score(x) for (x,) in some_between([pair])], [(low, high)] * 30)


def test_bounds_are_transformed():
    """Bounds are compiled and mapped like any function, and know what they do not know."""
    lows = np.array([-2.0, 0.0, 1.0])
    square = bounds(lambda x: x * jit(lax.neg)(x))
    low, high = jit(vmap(square))((lows, lows + 1.0))
    assert_allclose(low, [-4.0, -1.0, -4.0])
    assert_allclose(high, [-1.0, 0.0, -1.0])
    with pytest.raises(NotImplementedError, match="sin"):
        bounds(lambda x: lax.exp(lax.sin(x)))((0.0, 1.0))


exercise("custom.repair")

lazily = yours("repair_custom.lazily")


@for_programs(seed="custom.repair", dtypes=["float64"], number=6)
def test_random_programs(f, xs, want):
    """The results of a random program are what they were, and within a call as well."""
    assert numbers(lazily(f)(*xs)) == numbers(want)
    assert numbers(lazily(jit(f))(*xs)) == numbers(want)


@for_programs(seed="custom.repair", dtypes=["float64"], number=6)
def test_random_programs_twice(f, xs):
    """A program may be called twice, with other arguments the second time."""
    call, others = jit(f), [x + 0.125 for x in xs]

    def both(*ys):
        return tuple(x for args in (ys, [y + 0.125 for y in ys]) for x in results_of(call(*args)))

    assert numbers(lazily(both)(*xs)) == numbers(results_of(f(*xs)) + results_of(f(*others)))


def test_only_what_is_needed():
    """What no result needs is not computed, and everything else once."""

    @jit
    def pair(x):
        return lax.sin(x), lax.cos(x)

    def f(x):
        y = lax.exp(x)
        lax.log(y)
        return y * pair(y + y)[0]

    names = []

    def noted(eqn, args):
        names.append(eqn.primitive.name)
        return evaluate(eqn, args)

    evaluate = custom.eval_equation
    with patch("repair_custom.eval_equation", noted):
        assert lazily(f)(1.0) == f(1.0)
    assert names.count("exp") == 1
    assert "log" not in names
