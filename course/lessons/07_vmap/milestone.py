"""A function of one point, written with plain arithmetic, draws a whole picture."""

import minijax.numpy as jnp
from minijax import vmap


def steps(x, y):
    a = b = n = 0.0
    for _ in range(20):
        a, b, n = a * a - b * b + x, 2.0 * a * b + y, n + (a * a + b * b < 4.0)
    return n


picture = vmap(vmap(steps, (0, None)), (None, 0))
rows = picture(jnp.linspace(-2.1, 0.7, 75), jnp.linspace(-1.2, 1.2, 27)).tolist()
print("\n".join("".join(" .,:;-=+*#@"[int(n) // 2] for n in row) for row in rows))
