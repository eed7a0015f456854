"""A sparse Jacobian from few directions.

Write `sparse_jacobian(f, pattern)`, for an `f` from vectors to vectors. It returns a function of
`x` that computes the Jacobian of `f` at `x`. The array `pattern` has the shape of the Jacobian and
is False at entries that are zero for every `x`. `f` runs once, and you push no more directions
through it than necessary, such as a single one if each row of the pattern has a single entry, and
k for a band of k diagonals. The result has the dtype of what `f` returns.
"""

import numpy as np

import minijax.numpy as jnp
from minijax import jvp, vmap
