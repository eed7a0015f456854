"""Omnistaging: every operation is recorded.

look = "The operand of `exp` is a plain array, in no box of level 1. Watch who takes it all the same."
"""

from minijax import make_jaxpr
from minijax import numpy as jnp

k = jnp.array([1.0, 2.0])


def damped(x):
    return jnp.sum(jnp.exp(k) * x)


program = make_jaxpr(damped)(3.0)
print(len(program.jaxpr.eqns), "equations")
