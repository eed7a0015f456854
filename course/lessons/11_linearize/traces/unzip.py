"""`linearize` computes what is known, and records the rest.

look = "Level 2 differentiates, and level 1 records every operation on a tangent. Watch which operations are computed at once, and which ones wait for a tangent."
"""

from minijax import linearize
from minijax import numpy as jnp


def f(x):
    return jnp.sin(x) * x


y, f_lin = linearize(f, 3.0)
print(y, f_lin(1.0))
