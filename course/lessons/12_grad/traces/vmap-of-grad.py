"""`vmap` of `grad`.

hide = ["convert_element_type"]
look = "`grad` works as if `x` were one number. Watch its operations arrive at level 1, which applies each one to the whole batch."
"""

from minijax import grad, vmap
from minijax import numpy as jnp


def f(x):
    return jnp.sin(x) * x


print(vmap(grad(f))(jnp.array([1.0, 2.0])))
