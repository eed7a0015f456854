"""`vmap` of `grad`.

hide = ["convert_element_type"]
"""

from minijax import grad, vmap
from minijax import numpy as jnp


def f(x):
    return jnp.sin(x) * x


print(vmap(grad(f))(jnp.array([1.0, 2.0])))
