"""A function of one point draws a whole landscape, and your `jvp` at each point is its light."""

import minijax.numpy as jnp
from minijax import jvp, vmap


def height(x, y):
    return jnp.sin(x * x + y * y) * jnp.exp(-0.1 * (x * x + y * y))


def light(x, y):
    return jvp(height, (x, y), (1.0, 1.0))[1]


picture = vmap(vmap(light, (0, None)), (None, 0))
rows = picture(jnp.linspace(-3.5, 3.5, 75), jnp.linspace(-3.5, 3.5, 29)).tolist()
print("\n".join("".join(" .:-=+*#%@"[max(0, min(9, int(5 + 3 * n)))] for n in row) for row in rows))
