"""Private learning: no single example may pull the model beyond a limit.

Differential privacy needs the gradient of each example alone, clipped to a length, with noise
added to the sum. With `vmap` of `grad` that is one line; without it, a loop over the batch. Here
three of 64 labels are lies. Their gradients stay long, but they are clipped, so the weights come
close to the true ones: 1, -2, 0.5 and 0.
"""

import jax
import jax.numpy as jnp
from jax import random

LIMIT, NOISE = 0.5, 0.3


def start():
    """A linear model, and data in which three examples are lies."""
    points, labels = random.split(random.key(5))
    x = random.normal(points, (64, 4))
    y = x @ jnp.array([1.0, -2.0, 0.5, 0.0]) + 0.1 * random.normal(labels, (64,))
    y = y.at[:3].set(100.0)
    return (jnp.zeros(4), random.key(6)), (x, y)


def loss(weights, x, y):
    """The squared error of one example."""
    return 0.5 * (x @ weights - y) ** 2


def clipped(slope):
    """A gradient, shortened to the limit if it is longer."""
    return slope / jnp.maximum(1.0, jnp.linalg.norm(slope) / LIMIT)


def step(state, data):
    """One step with clipped gradients and noise."""
    weights, key = state
    key, own = random.split(key)
    slopes = jax.vmap(jax.grad(loss), (None, 0, 0))(weights, *data)
    total = jnp.sum(jax.vmap(clipped)(slopes), 0)
    noise = NOISE * LIMIT * random.normal(own, weights.shape)
    lengths = jax.vmap(jnp.linalg.norm)(slopes)
    return (weights - 0.02 * (total + noise), key), lengths


def main():
    state, data = start()
    fast = jax.jit(step)
    for _ in range(200):
        state, lengths = fast(state, data)
    print("weights:", jnp.round(state[0], 2))
    print("lengths of the lies:", jnp.round(lengths[:3], 1))
    print(f"longest of the others: {jnp.max(lengths[3:]):.1f}")
    exact = jnp.linalg.norm(state[0] - jnp.array([1.0, -2.0, 0.5, 0.0]))
    print(f"distance from the truth: {exact:.2f}")


if __name__ == "__main__":
    main()
