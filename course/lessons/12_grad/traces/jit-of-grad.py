"""`jit` of `grad`."""

from minijax import grad, jit
from minijax import numpy as jnp


def f(x):
    return jnp.sin(x) * x


print(jit(grad(f))(3.0))
