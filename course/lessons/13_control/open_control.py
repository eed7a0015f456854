"""The gradient of what a loop converges to.

Write `fixed_point(f, p, x)`: it starts at the float `x`, repeats `x = f(p, x)` in one `while_loop`
until `x` changes by less than 1e-12, and returns the last `x`. `p` is a number or array, or a
container of them. `grad`, `jvp`, `vmap` and `jit` of `fixed_point` must be right with respect to
`p`, and so must the gradient of the gradient. However many steps the loop takes, it must keep none
of them.
"""

import minijax.numpy as jnp
from minijax import jvp, lax
