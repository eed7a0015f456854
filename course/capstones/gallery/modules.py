"""A library of modules in forty lines: models are pytrees, and so are their gradients.

As in Equinox, a model is an object whose attributes are its parameters. It passes through every
transformation, and its gradient is a model too. The first lines name three of its leaves.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
from jax import nn, random


def module(cls):
    """A dataclass whose fields are parameters or parts, except those that are marked static."""
    return jax.tree_util.register_dataclass(dataclasses.dataclass(frozen=True)(cls))


static = functools.partial(dataclasses.field, metadata={"static": True})


@module
class Linear:
    weights: object
    bias: object

    def __call__(self, x):
        return x @ self.weights + self.bias


@module
class Residual:
    inner: object
    activation: object = static(default=nn.silu)

    def __call__(self, x):
        return x + self.activation(self.inner(x))


@module
class Chain:
    parts: list

    def __call__(self, x):
        return functools.reduce(lambda x, part: part(x), self.parts, x)


def start():
    """A model, and a wave to learn."""
    keys = random.split(random.key(1), 5)

    def linear(key, inputs, outputs):
        return Linear(nn.initializers.he_normal()(key, (inputs, outputs)), jnp.zeros(outputs))

    blocks = [Residual(linear(key, 16, 16)) for key in keys[2:]]
    model = Chain([linear(keys[0], 1, 16), *blocks, linear(keys[1], 16, 1)])
    x = jnp.linspace(-1.0, 1.0, 64)[:, None]
    return model, (x, jnp.sin(5.0 * x) * jnp.exp(-x * x))


def step(model, data):
    """Model minus gradient: both are models."""
    x, y = data
    value, slope = jax.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
    return jax.tree.map(lambda p, g: p - 0.003 * g, model, slope), value


def main():
    (model, data), fast = start(), jax.jit(step)
    for path, leaf in jax.tree_util.tree_leaves_with_path(model)[:3]:
        print(jax.tree_util.keystr(path), leaf.shape)
    for i in range(601):
        model, value = fast(model, data)
        if i % 200 == 0:
            print(f"loss {value:.4f}")


if __name__ == "__main__":
    main()
