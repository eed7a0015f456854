"""The lesson tracing: the first version is JAX's on request."""

import jax
import minijax
import numpy as np
from minijax.core import full_raise, get_aval, new_main
from minijax.tracing import JaxprBuilder, JaxprTrace

jax.config.update("jax_enable_x64", True)


def damped(jnp):
    return lambda x: jnp.sum(jnp.exp(jnp.array([0.0, -1.0, -2.0])) * x)


def test_without_omnistaging_the_program_is_that_of_ensure_compile_time_eval():
    """What the page says of JAX's context manager."""
    x = np.ones(3)
    with new_main(JaxprTrace, JaxprBuilder()) as main:
        trace = JaxprTrace(main)
        box = trace.new_arg(get_aval(x))
        out = full_raise(trace, damped(minijax.numpy)(box))
    first = trace.builder.build([box.atom], [out.atom])
    with jax.ensure_compile_time_eval():
        folded = jax.make_jaxpr(damped(jax.numpy))(x)
    assert str(first) == str(folded)
    assert str(minijax.make_jaxpr(damped(minijax.numpy))(x)) == str(
        jax.make_jaxpr(damped(jax.numpy))(x)
    )
