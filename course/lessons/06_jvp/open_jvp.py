"""The curvature of a function.

Write `hessian(f, x)`: the square array of all second derivatives of `f` at `x`, where `f` takes a
vector and returns a scalar. `hvp(f, x, v)` returns the product of that array and a vector. The only
transformation that you have is `jvp`. For a vector of n elements, `hessian` may call `f` at most
n * (n + 1) / 2 times, and `hvp` at most n times.
"""

import minijax.numpy as jnp
from minijax import jvp
