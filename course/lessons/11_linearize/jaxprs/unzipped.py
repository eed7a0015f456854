"""Two programs for the tangents of one function at a point."""

from minijax import jvp, linearize, make_jaxpr
from minijax import numpy as jnp


def damped(x):
    return jnp.exp(-x) * jnp.sin(x)


x = jnp.array([1.0, 2.0])
_, f_lin = linearize(damped, x)
programs = {
    "recorded: all that jvp does": make_jaxpr(lambda t: jvp(damped, (x,), (t,))[1])(x),
    "linearized: what is left to do": make_jaxpr(f_lin)(x),
}
