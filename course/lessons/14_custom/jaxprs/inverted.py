"""A program, and the program of its inverse."""

from minijax import make_jaxpr
from minijax import numpy as jnp
from minijax.custom_interpreters import inverse


def f(x):
    return jnp.exp(jnp.tanh(x) * 2.0)


programs = {"f": make_jaxpr(f)(1.0), "inverse of f": make_jaxpr(inverse(f))(f(1.0))}
