"""Omnistaging: every operation is recorded."""

from minijax import make_jaxpr
from minijax import numpy as jnp

k = jnp.array([1.0, 2.0])


def damped(x):
    return jnp.sum(jnp.exp(k) * x)


program = make_jaxpr(damped)(3.0)
print(len(program.jaxpr.eqns), "equations")
