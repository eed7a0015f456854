"""A transformation that JAX does not have, and three that know nothing about it."""

import minijax.numpy as jnp
from minijax import grad, jit, make_jaxpr, vmap
from minijax.custom_interpreters import inverse


def f(x):
    return jnp.exp(jnp.tanh(x))


print(make_jaxpr(inverse(f))(f(1.0)))
print(inverse(f)(f(1.0)))
print(jit(vmap(grad(inverse(f))))((jnp.arange(5) + 1.0) / 5.0))
