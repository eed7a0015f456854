"""`inverse` goes forwards through the program, then backwards; here, one round is enough.

watch = ["minijax.custom_interpreters.inverse_equation", "minijax.custom_interpreters.evaluate_if_known"]
look = "Going forwards, it computes whatever does not depend on `x`. Then watch it go backwards and undo the rest, the last equation first."
"""

from minijax import numpy as jnp
from minijax.custom_interpreters import inverse


def f(x):
    return jnp.exp(x * jnp.sin(2.0))


print(inverse(f)(3.0))
