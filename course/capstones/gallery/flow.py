"""A normalizing flow bends a round cloud of points into two moons.

Each layer moves one coordinate by a function of the other, so it can be undone, and the change in
density is known exactly. So training just maximizes the likelihood. The picture shows the density.
"""

import jax
import jax.numpy as jnp
from jax import random

LAYERS, WIDTH = 6, 32


def moons(key, count):
    """Points on two half circles with some noise."""
    place, noise = random.split(key)
    angle = jnp.pi * random.uniform(place, (count, 1))
    x = jnp.concatenate([jnp.cos(angle) - 0.5, jnp.sin(angle) - 0.25], 1)
    x = 1.5 * x * (1 - 2 * (jnp.arange(count) % 2))[:, None]
    return x + 0.1 * random.normal(noise, (count, 2))


def start():
    """The parameters of all layers, Adam's averages, and the points."""
    data, *keys = random.split(random.key(0), 4)
    shapes = {"in": (LAYERS, 1, WIDTH), "bias": (LAYERS, WIDTH), "out": (LAYERS, WIDTH, 2)}
    params = {n: 0.3 * random.normal(k, s) for k, (n, s) in zip(keys, shapes.items(), strict=True)}
    zeros = jax.tree.map(jnp.zeros_like, params)
    return (params, zeros, zeros), moons(data, 400)


def layer(params, x, i):
    """How to scale and move one coordinate, given the value of the other."""
    hidden = jnp.tanh(x[:, i % 2, None] @ params["in"][i] + params["bias"][i])
    scale, shift = (hidden @ params["out"][i]).T
    return jnp.tanh(scale), shift


def log_density(params, x):
    """Back to the round cloud, adding up how much each layer stretches."""
    total = 0.0
    for i in range(LAYERS):
        scale, shift = layer(params, x, i)
        other = 1 - i % 2
        x = x.at[:, other].set((x[:, other] - shift) * jnp.exp(-scale))
        total = total - scale
    return jnp.sum(jax.scipy.stats.norm.logpdf(x), 1) + total


def step(state, points):
    """One step of Adam's method, without its corrections."""
    params, mean, square = state
    value, slope = jax.value_and_grad(lambda p: -jnp.mean(log_density(p, points)))(params)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, slope)
    square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, square, slope)
    moved = jax.tree.map(lambda p, m, s: p - 0.01 * m / (jnp.sqrt(s) + 1e-6), params, mean, square)
    return (moved, mean, square), value


def picture(params):
    """The density: the higher, the darker."""
    x, y = jnp.meshgrid(jnp.linspace(-3, 3, 56), jnp.linspace(2, -2, 20))
    places = jnp.stack([x.ravel(), y.ravel()], 1)
    shades = jnp.exp(jax.jit(log_density)(params, places)).reshape(x.shape)
    levels = jnp.clip(jnp.floor(20 * shades), 0, 4).astype(int)
    return "\n".join("".join(" .:*#"[int(v)] for v in row).rstrip() for row in levels)


def main():
    state, points = start()
    fast = jax.jit(step)
    for i in range(201):
        state, value = fast(state, points)
        if i % 100 == 0:
            print(f"minus log-likelihood {value:.3f}")
    print(picture(state[0]))


if __name__ == "__main__":
    main()
