"""Three examples gather, and their cotangents flow back.

hide = ["lt", "add", "select_n", "indices_are_sorted", "unique_indices", "mode"]
look = "Forwards, every example receives the values of all three. Watch what comes back to each: the sum of the cotangents from all three."
"""

from minijax import lax, vjp, vmap
from minijax import numpy as jnp


def back(x, cotangent):
    _, pull_back = vjp(lambda x: lax.all_gather(x, "i"), x)
    return pull_back(cotangent)[0]


cotangents = jnp.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0], [100.0, 200.0, 300.0]])
print(vmap(back, axis_name="i")(jnp.ones(3), cotangents))
