"""Four devices share a string, a quarter each, and a wave runs through all of them."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"  # before XLA starts

import minijax.numpy as jnp
from minijax import lax, pmap

RIGHT, LEFT = ([(i, (i + way) % 4) for i in range(4)] for way in (1, -1))


def later(now, before):
    """The next moment of a quarter: `now` with an end of each neighbour, then the wave equation."""
    before_it = lax.ppermute(now[-1:], "i", RIGHT)
    after_it = lax.ppermute(now[:1], "i", LEFT)
    row = jnp.concatenate([before_it, now, after_it])
    return row[:-2] + row[2:] - before, now


step = pmap(later, "i")
far = (jnp.arange(72.0) - 12.0) / 3.0  # from where the string was plucked
now = before = jnp.exp(-far * far).reshape(4, 18)
for _ in range(24):
    quarters = ("".join(" .:-=+*#%@"[int(9.99 * y)] for y in part) for part in now.tolist())
    print("|".join(quarters))
    for _ in range(3):
        now, before = step(now, before)
