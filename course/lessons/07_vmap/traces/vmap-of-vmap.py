"""`vmap` of `vmap`."""

from minijax import numpy as jnp
from minijax import vmap


def times(a, b):
    return a * b


table = vmap(vmap(times, (None, 0)), (0, None))
print(table(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0])).tolist())
