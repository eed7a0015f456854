"""A network from scratch learns two spirals, and draws what it thinks of the plane.

There is no library of layers: parameters are a list of pairs, and a training step takes three
lines. The picture shows which of the two spirals the network expects at each point of the plane;
the last line is the share of points that it gets right.
"""

import jax
import jax.numpy as jnp
from jax import random

WIDTHS = (2, 24, 24, 1)


def spirals(key, count):
    """Points on two spirals with some noise, and which of the two each is on."""
    place, noise = random.split(key)
    side = jnp.arange(count) % 2
    angle = 1.0 + 7.0 * jnp.sqrt(random.uniform(place, (count,)))
    turned = angle + jnp.pi * side
    points = jnp.stack([jnp.cos(turned), jnp.sin(turned)], 1) * angle[:, None] / 8.0
    return points + 0.02 * random.normal(noise, points.shape), side


def start():
    """The parameters at the beginning, and the data."""
    data_key, *keys = random.split(random.key(0), len(WIDTHS))
    pairs = zip(keys, WIDTHS[:-1], WIDTHS[1:], strict=True)
    params = [(random.normal(k, (m, n)) * jnp.sqrt(2.0 / m), jnp.zeros(n)) for k, m, n in pairs]
    return (params, jax.tree.map(jnp.zeros_like, params)), spirals(data_key, 200)


def predict(params, x):
    """How much each point belongs to the second spiral, as a logit."""
    for weights, bias in params[:-1]:
        x = jnp.tanh(x @ weights + bias)
    weights, bias = params[-1]
    return (x @ weights + bias)[..., 0]


def loss(params, data):
    """The cross entropy of the predictions."""
    points, side = data
    logits = predict(params, points)
    return jnp.mean(jax.nn.softplus(logits) - side * logits)


def step(state, data):
    """One step of gradient descent with momentum."""
    params, speed = state
    value, slope = jax.value_and_grad(loss)(params, data)
    speed = jax.tree.map(lambda v, g: 0.9 * v - 0.1 * g, speed, slope)
    return (jax.tree.map(jnp.add, params, speed), speed), value


def picture(params):
    """The plane, a character for each point."""
    x, y = jnp.meshgrid(jnp.linspace(-1, 1, 48), jnp.linspace(1, -1, 20))
    logits = predict(params, jnp.stack([x, y], -1))
    return "\n".join("".join("#" if v > 0 else "." for v in row) for row in logits)


def main():
    state, data = start()
    fast = jax.jit(step)
    for i in range(600):
        state, value = fast(state, data)
        if i % 200 == 0:
            print(f"loss {value:.3f}")
    print(picture(state[0]))
    right = jnp.mean((predict(state[0], data[0]) > 0) == data[1])
    print(f"right: {right:.2f}")


if __name__ == "__main__":
    main()
