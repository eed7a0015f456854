"""Memory of a backward pass: everything is kept, then nothing.

memory = true
level = 0
hide = ["sin", "cos", "neg", "mul", "add", "convert_element_type", "prevent_cse"]
look = "The same gradient is computed twice. Watch the curve: it climbs with each layer the first time, and much less the second time. The dashed line shows the most that is held during a step."
"""

from minijax import checkpoint, checkpoint_policies, grad
from minijax import numpy as jnp


def part(x):
    return jnp.sin(x) * jnp.cos(x)


def network(policy):
    layer = checkpoint(part, policy=policy)
    return lambda x: jnp.sum(layer(layer(layer(layer(layer(layer(x)))))))


x = jnp.ones(125_000)
print(grad(network(checkpoint_policies.everything_saveable))(x).shape)
print(grad(network(checkpoint_policies.nothing_saveable))(x).shape)
