"""Without omnistaging: the exponential is computed at once.

look = "The operand of `exp` is a plain array, so nothing leads to level 1. Watch who takes it."
"""

import numpy as np

from minijax import numpy as jnp
from minijax.core import ShapedArray, new_main
from minijax.tracing import JaxprBuilder, JaxprTrace

k = jnp.array([1.0, 2.0])


def faded(x):
    return jnp.sum(jnp.exp(k) * x)


with new_main(JaxprTrace, JaxprBuilder()) as main:
    x = JaxprTrace(main).new_arg(ShapedArray((), np.dtype("float64")))
    faded(x)
print(len(main.global_data.eqns), "equations")
