"""A network of two neurons learns exclusive or: your gradients, compiled by your jit."""

import minijax.numpy as jnp
from minijax import grad, jit, tree_util

x, xor = jnp.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), jnp.array([0.0, 1, 1, 0])


def guess(p):
    return jnp.sin(x @ p["first"]) @ p["last"]


slope = jit(grad(lambda p: jnp.sum((guess(p) - xor) * (guess(p) - xor))))
p = {"first": jnp.array([[1.0, -0.5], [0.5, 1.0]]), "last": jnp.array([1.0, 1.0])}
for _ in range(1000):
    p = tree_util.tree_map(lambda a, g: a - 0.1 * g, p, slope(p))
print("0 xor 0, 0 xor 1, 1 xor 0, 1 xor 1:", [round(float(y), 4) for y in guess(p)])
