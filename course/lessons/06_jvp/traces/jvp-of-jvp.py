"""A second derivative: `jvp` of `jvp`."""

from minijax import jvp
from minijax.lax import sin


def deriv(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


print(deriv(deriv(sin))(3.0))
