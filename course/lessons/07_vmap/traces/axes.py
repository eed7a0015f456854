"""The batch axis, and the axis of a sum.

look = "The function sees one example, without the batch axis. Move that axis, and watch the shapes, and what becomes of `axes=` below."

[choices]
x_axis = [0, 1]
out_axis = [0, 1]
"""

from minijax import numpy as jnp
from minijax import vmap

x_axis = 0
out_axis = 0


def shares(x):
    return x / jnp.sum(x)


xs = jnp.array([[1.0, 3.0, 4.0], [2.0, 2.0, 4.0]])
print(vmap(shares, x_axis, out_axis)(xs).tolist())
