"""`grad` of `scan`.

hide = ["JaxprTrace", "convert_element_type", "broadcast_in_dim", "hlo_lowerings"]
look = "One loop computes the products and keeps what the derivative needs. Watch for a second loop, which runs from the end."
"""

from minijax import grad, lax
from minijax import numpy as jnp


def step(carry, x):
    return carry * x, None


def product(xs):
    return lax.scan(step, xs[0], xs)[0]


print(grad(product)(jnp.array([2.0, 3.0, 4.0])))
