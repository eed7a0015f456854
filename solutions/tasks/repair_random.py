"""A walk that leans to one side.

`walk(key, log_density, steps)` is Metropolis's algorithm: from where it is, it proposes a step, and
takes it with the probability that makes its places, in the long run, a sample of the density. For
the normal distribution they must have mean 0 and variance 1, and the numbers below 0 are as many as
those above. Repair it: one line is wrong.
"""

import minijax.numpy as jnp
from minijax import lax, random


def walk(key, log_density, steps):
    """The places of a walk of so many steps, which begins at 0."""

    def step(state, _):
        key, x = state
        key, own, coin = random.split(key, 3)
        proposal = x + 2.0 * random.normal(own)
        accept = jnp.log(random.uniform(coin)) < log_density(proposal) - log_density(x)
        x = jnp.where(accept, proposal, x)
        return (key, x), x

    return lax.scan(step, (key, 0.0), None, length=steps)[1]
