"""The derivative of a function, and its transpose."""

from minijax import linearize, make_jaxpr, vjp
from minijax import numpy as jnp


def f(x, y):
    return jnp.sin(x) * y


x, y = jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])
value, f_lin = linearize(f, x, y)
value, f_vjp = vjp(f, x, y)
programs = {"derivative": make_jaxpr(f_lin)(x, y), "transposed": make_jaxpr(f_vjp)(value)}
