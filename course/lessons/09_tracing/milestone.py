"""Two levels of `jvp` as one program: it knows how a bell bends.

Here is what a second derivative computes, written out. A result that is not used is called `_`.
Turn your head to see the bell: where its curvature is negative it is drawn as `)`, elsewhere as `(`.
"""

import minijax.numpy as jnp
from minijax import jvp, make_jaxpr
from minijax.jaxpr import jaxpr_as_fun


def slope(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


def bell(x):
    return jnp.exp(-x * x)


program = make_jaxpr(slope(slope(bell)))(1.0)
print(program)
for x in range(-10, 11):
    (bend,) = jaxpr_as_fun(program)(x / 5)
    print(" " * round(60 * float(bell(x / 5))) + "()"[int(bend < 0.0)])
