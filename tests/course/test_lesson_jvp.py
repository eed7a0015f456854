"""The lesson jvp: the reference's jvp agrees with JAX's."""

import minijax
import minijax.numpy as jnp
import numpy as np
import pytest

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def sixty_four_bits():
    with jax.enable_x64(True):
        yield


def deriv(jvp, f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


# Functions of the library that runs them: its jvp and its numpy.
CASES = {
    "quotient by zero": lambda jvp, np_: jvp(lambda x, y: x / y, (1.0, 0.0), (2.0, 3.0)),
    "zero by zero": lambda jvp, np_: jvp(lambda x: x / 0.0, (0.0,), (2.0,)),
    "log of zero": lambda jvp, np_: jvp(np_.log, (0.0,), (2.0,)),
    "infinity times a constant": lambda jvp, np_: jvp(lambda x: x * 2.0, (np.inf,), (1.0,)),
    "constant result": lambda jvp, np_: jvp(lambda x: (7, 2.5), (3.0,), (1.0,))[1][1],
    "operands of two shapes": lambda jvp, np_: jvp(
        lambda x, y: (x + y, x - y, x * y, x / y),
        (np.array([[1.5, -2.0]]), np.array([[4.0], [0.5]])),
        (np.array([[0.5, 3.0]]), np.array([[-1.0], [2.0]])),
    ),
    "branch at the corner": lambda jvp, np_: jvp(lambda x: x if x > 0.0 else -x, (0.0,), (1.0,)),
    "third derivative": lambda jvp, np_: deriv(
        jvp, deriv(jvp, deriv(jvp, lambda x: np_.sin(x) * np_.exp(x) / x))
    )(0.7),
    "inner derivative of a constant": lambda jvp, np_: jvp(
        lambda x: x * deriv(jvp, lambda y: x)(0.0), (3.0,), (1.0,)
    ),
    "inner derivative of a sum": lambda jvp, np_: jvp(
        lambda x: x * deriv(jvp, lambda y: x + y)(1.0), (3.0,), (1.0,)
    ),
    "tangent that moves with the outer input": lambda jvp, np_: jvp(
        lambda x: jvp(np_.cos, (x,), (x * x,))[1], (0.7,), (2.0,)
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_jax(case):
    got = jax.tree.leaves(CASES[case](minijax.jvp, jnp))
    want = jax.tree.leaves(CASES[case](jax.jvp, jax.numpy))
    assert len(got) == len(want)
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-12)
