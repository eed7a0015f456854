"""Two levels of `jvp` as a program.

Here is what a second derivative computes, written out. A result that is not used is called `_`.
"""

import minijax.numpy as jnp
from minijax import jvp, make_jaxpr
from minijax.jaxpr import jaxpr_as_fun


def slope(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


program = make_jaxpr(slope(slope(lambda x: jnp.exp(-x * x))))(1.0)
print(program)
for x in (0.0, 0.5, 1.0):
    print("the curvature of the bell curve at", x, "is", jaxpr_as_fun(program)(x)[0])
