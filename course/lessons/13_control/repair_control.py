"""A tank that runs dry.

`drain(k, height, steps)` lets water out of a tank, following Torricelli's law: in each step, the
flow is `k` times the square root of the height, and nothing flows out of an empty tank. It returns
the height at the end and the water that has left. Together they equal the water at the start. The
values obey that, and so must their derivatives with respect to `k` and `height`. Repair it.
"""

import minijax.numpy as jnp
from minijax import lax


def drain(k, height, steps):
    """The height at the end, and how much water has left the tank."""

    def step(state, _):
        height, left = state
        flow = jnp.where(height > 0.0, outflow(k, height), 0.0)
        return (height - flow, left + flow), flow

    (height, left), _ = lax.scan(step, (height, 0.0), None, length=steps)
    return height, left


def outflow(k, height):
    """The water that leaves a tank in one step, at most all of it."""
    return jnp.minimum(k * jnp.sqrt(height), height)
