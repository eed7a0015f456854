"""A long way with a light pack.

Write `long(step, n)`: the function that applies `step` to an array n times, where `step` keeps the
shape. With √n parts and a checkpoint for each, a gradient holds about 2 √n arrays at a time. Yours
holds only one more when n is doubled, and computes each step at most 1 + log2(n) / 2 times, on
average. The values, and the derivatives of any order, are those of the plain loop.
"""

import minijax.numpy as jnp
from minijax import checkpoint
