"""The backward pass of two sines, without and with a checkpoint."""

from minijax import checkpoint, make_jaxpr, vjp
from minijax import numpy as jnp


def f(x):
    return jnp.sin(jnp.sin(x))


y, plain = vjp(f, 2.0)
_, again = vjp(checkpoint(f), 2.0)
(call,) = make_jaxpr(again)(y).eqns
programs = {
    "keep: two slopes come in": make_jaxpr(plain)(y),
    "checkpoint, inside the call: x comes in": call.params["jaxpr"],
}
