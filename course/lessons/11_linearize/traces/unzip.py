"""`linearize` computes what is known, and records the rest."""

from minijax import linearize
from minijax import numpy as jnp


def f(x):
    return jnp.sin(x) * x


y, f_lin = linearize(f, 3.0)
print(y, f_lin(1.0))
