"""Each line is the derivative of the line above it, up to eight of your interpreters at once."""

import minijax.numpy as jnp
from minijax import jvp


def deriv(f):
    return lambda x: jvp(f, (x,), (jnp.ones(72),))[1]


f, places = jnp.sin, jnp.linspace(0.0, 12.0, 72)
for order in range(9):
    print("".join(" .:-=+*#%@"[int(5.0 * y + 4.999)] for y in f(places).tolist()), order)
    f = deriv(f)
