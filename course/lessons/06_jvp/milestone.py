"""Each derivative of sine differentiates the one before: four levels of your interpreter at once."""

import minijax.numpy as jnp
from minijax import jvp


def deriv(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


f = jnp.sin
for order in range(1, 5):
    f = deriv(f)
    print("derivative", order, "at 1:", f(1.0))
