"""What partial evaluation keeps for later: copies of what may change, and no more than needed."""

import minijax
import numpy as np
import pytest

jnp = minijax.numpy


@pytest.mark.parametrize("transform", [minijax.linearize, minijax.vjp])
def test_later_writes_to_an_argument_change_no_derivative(transform):
    x = np.array([1.0, 2.0])
    _, derivative = transform(lambda x: x * x * x, x)
    x[:] = 7.0
    assert np.array_equal(np.ravel(derivative(np.ones(2))), [3.0, 12.0])


def square(x):
    return x * x


def residuals(f, x):
    """How many values the first call of a jitted function hands to the second, linear one."""
    forward, backward = minijax.make_jaxpr(minijax.grad(minijax.jit(f)))(x).eqns[:2]
    return [v for v in backward.invars if v in forward.outvars]


@pytest.mark.parametrize(
    ("f", "count"),
    [
        (lambda x: x * 2.0 * 3.0, 0),
        (lambda x: jnp.sin(x) * 2.0, 1),
        (lambda x: jnp.exp(x) * jnp.exp(x), 2),
        (lambda x: square(jnp.exp(x)), 1),
    ],
    ids=["constants", "cos(x)", "exp twice", "exp once, used three times"],
)
def test_residuals_are_values_that_are_used_each_once(f, count):
    assert len(residuals(f, 1.0)) == count
