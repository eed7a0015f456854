"""Programs of 8,000 equations: no step from tracing to compiling recurses over their length.

The program that is compiled is a chain of additions and multiplications: for the gradient of a
jitted chain of 1,000 scalar sines, whose residuals are all results, XLA itself takes a minute.
"""

import minijax
import numpy as np
import pytest
from minijax.jaxpr import typecheck_jaxpr

EQUATIONS = 8_000
pytestmark = pytest.mark.usefixtures("default_recursion_limit")


def chain(x):
    for _ in range(EQUATIONS // 2):
        x = x * 1.0 + 0.0001
    return x


def curve(x):
    """As `chain`, with residuals: its derivative depends on x. Near 0 it stays near 0."""
    for _ in range(EQUATIONS // 2):
        x = minijax.numpy.sin(x) * 1.0
    return x


def test_it_is_traced_and_checked():
    program = minijax.make_jaxpr(curve)(0.5)
    assert len(program.eqns) == EQUATIONS
    typecheck_jaxpr(program.jaxpr)


@pytest.mark.slow
@pytest.mark.parametrize("f", [curve, minijax.jit(curve)], ids=["", "of jit"])
def test_it_is_differentiated_and_transposed(f):
    value, tangent = minijax.jvp(curve, (0.001,), (1.0,))
    program = minijax.make_jaxpr(minijax.value_and_grad(f))(0.001)
    if f is curve:
        assert len(program.eqns) >= 2 * EQUATIONS
        assert np.allclose(minijax.value_and_grad(f)(0.001), [value, tangent], rtol=1e-9)
    else:
        assert [eqn.primitive.name for eqn in program.eqns[:2]] == ["jit", "jit"]
        lengths = [len(eqn.params["jaxpr"].eqns) for eqn in program.eqns if eqn.params]
        assert min(lengths) >= EQUATIONS // 2
    assert 0 < float(tangent) < 1


@pytest.mark.slow
def test_it_is_compiled_and_so_is_its_gradient():
    assert np.allclose(minijax.jit(chain)(5.0), 5.0 + EQUATIONS // 2 * 0.0001)
    assert len(minijax.make_jaxpr(minijax.grad(chain))(5.0).eqns) >= EQUATIONS // 2
    assert float(minijax.jit(minijax.grad(chain))(5.0)) == 1.0
