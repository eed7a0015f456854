"""What partial evaluation keeps for later: copies of what may change, and no more than needed."""

import minijax
import numpy as np
import pytest
from minijax import jaxpr
from minijax.core import ShapedArray, sin_p
from minijax.linearize import partial_eval_jaxpr
from minijax.partial_eval_types import typecheck_partial_eval_jaxpr
from minijax.tracing import JaxprBuilder

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


@pytest.mark.every
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


# The debug flag ----------------------------------------------------------------------------------


@pytest.fixture
def checked(monkeypatch):
    monkeypatch.setattr(jaxpr.checks, "enabled", True)


def test_a_program_that_is_built_wrong_is_found_under_the_debug_flag(checked):
    x, y = (jaxpr.Var(ShapedArray((), np.dtype(float))) for _ in range(2))
    builder = JaxprBuilder()
    builder.eqns.append(jaxpr.JaxprEqn([x], [y], sin_p, {}))
    with pytest.raises(TypeError, match="is used but not bound"):
        builder.build([], [y])
    assert str(builder.build([x], [y])).endswith("in (b,) }")


@pytest.mark.every
@pytest.mark.parametrize("is_known", [(True, False), (False, True), (True, True), (False, False)])
def test_the_types_of_a_split_program_hold_together(checked, is_known):
    closed = minijax.make_jaxpr(lambda x, y: (jnp.sin(x) * y * np.ones((2, 1)), x * 2.0))(
        2.0, np.ones(3)
    )
    first, second, out_known = partial_eval_jaxpr(closed, is_known)
    typecheck_partial_eval_jaxpr(closed, is_known, out_known, first, second)
    wrong = [*out_known[1:], not out_known[0]]
    with pytest.raises((TypeError, ValueError)):
        typecheck_partial_eval_jaxpr(closed, is_known, wrong, first, second)


@pytest.mark.parametrize("kept", [(), ("sin",)])
def test_derivatives_of_functions_with_constants_under_the_debug_flag(checked, kept):
    row = np.arange(1.0, 4.0)
    f = minijax.checkpoint(
        lambda x: jnp.sin(jnp.sin(x * row) * row), policy=lambda p, *_, **params: p.name in kept
    )
    g = minijax.jit(lambda x: jnp.sum(f(x) * row))
    assert minijax.grad(g)(row).shape == (3,)
