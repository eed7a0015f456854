"""`jit` of `grad`.

hide = ["convert_element_type"]
look = "All the work of `grad` happens while `jit` traces. Watch where its operations end: none is computed, each is written down."
"""

from minijax import grad, jit
from minijax import numpy as jnp


def f(x):
    return jnp.sin(x) * x


print(jit(grad(f))(3.0))
