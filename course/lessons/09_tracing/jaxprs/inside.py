"""A function, and the same function after `jvp`."""

from minijax import jvp, make_jaxpr
from minijax import numpy as jnp


def f(x):
    return jnp.sin(x) * x


programs = {
    "f": make_jaxpr(f)(3.0),
    "jvp of f": make_jaxpr(lambda x, t: jvp(f, (x,), (t,)))(3.0, 1.0),
}
