"""Two thousand stars in a row wind up into a spiral, and one call computes all their steps."""

from time import perf_counter

import numpy as np

import minijax.numpy as jnp
from minijax import jit


def later(x, y, u, v):
    for _ in range(60):
        pull = 0.05 / (x * x + y * y + 0.05)
        u, v = u - pull * x, v - pull * y
        x, y = x + 0.05 * u, y + 0.05 * v
    return x, y


def seconds(f):
    start = perf_counter()
    f(*stars)[0].block_until_ready()
    return perf_counter() - start


row = np.linspace(-1.0, 1.0, 2000)
stars = [jnp.array(a) for a in (row, 0.0 * row, 0.0 * row, row / np.sqrt(row * row + 0.05))]
fast = jit(later)
sky = np.full((24, 60), " ")
x, y = (np.asarray(places) for places in fast(*stars))
sky[(15.0 * y + 12.0).astype(int), (30.0 * x + 30.0).astype(int)] = "*"
print("\n".join("".join(line) for line in sky))
slow, quick = (min(seconds(f) for _ in range(5)) for f in (later, fast))
print(f"{slow / quick:.0f} times as fast as one operation after another")
