"""Now or later: it depends on what is known.

hide = ["convert_element_type"]
look = "Each input is known today, or comes tomorrow. Change that at the last step: operations move between now and later, and so does what has to be kept."

[choices]
x_known = [true, false]
y_known = [true, false]
"""

from minijax import numpy as jnp
from minijax.core import get_aval
from minijax.linearize import known, partial_eval_flat, unknown

x_known = True
y_known = False


def f(x, y):
    return [jnp.sin(x) * jnp.exp(y) + jnp.cos(x)]


x, y = jnp.array(1.0), jnp.array(3.0)
inputs = [
    known(x) if x_known else unknown(get_aval(x)),
    known(y) if y_known else unknown(get_aval(y)),
]
_, program = partial_eval_flat(f, inputs)
print(len(program.consts), "residuals,", sum(c.nbytes for c in program.consts), "bytes")
