"""Four keys throw darts at a square, all at once, and each time the same ones hit the circle."""

import minijax.numpy as jnp
from minijax import jit, random, vmap


def pi(key):
    darts = random.uniform(key, (100_000, 2), minval=-1.0)
    return 4.0 * jnp.mean(jnp.sum(darts**2, 1) < 1.0)


print(jit(vmap(pi))(random.split(random.key(2), 4)))
