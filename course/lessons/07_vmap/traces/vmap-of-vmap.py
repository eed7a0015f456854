"""`vmap` of `vmap`.

look = "There is one product in the program. Watch each level open its own boxes, until level 0 multiplies whole arrays at once."
"""

from minijax import numpy as jnp
from minijax import vmap


def times(a, b):
    return a * b


table = vmap(vmap(times, (None, 0)), (0, None))
print(table(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0])).tolist())
