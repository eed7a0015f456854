"""A walk that leans to one side.

`walk(key, log_density, steps)` is Metropolis's algorithm. It proposes a step, and takes it with
such a probability that in the long run, the places it visits are a sample from the density. For the
normal distribution they must have mean 0 and variance 1, and half of them must be negative. One
line is wrong: repair it.
"""

import minijax.numpy as jnp
from minijax import lax, random


def walk(key, log_density, steps):
    """The places of a walk of so many steps, which begins at 0."""

    def step(state, _):
        key, x = state
        key, own = random.split(key)
        proposal = x + 2.0 * random.normal(own)
        accept = jnp.log(random.uniform(own)) < log_density(proposal) - log_density(x)
        x = jnp.where(accept, proposal, x)
        return (key, x), x

    return lax.scan(step, (key, 0.0), None, length=steps)[1]
