"""`jit` of `grad`.

hide = ["convert_element_type"]
"""

from minijax import grad, jit
from minijax import numpy as jnp


def f(x):
    return jnp.sin(x) * x


print(jit(grad(f))(3.0))
