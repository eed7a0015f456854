"""A second derivative: `jvp` of `jvp`.

look = "There is one `sin` in the program. Watch what the rule of level 2 turns it into, and what level 1 turns that into."
"""

from minijax import jvp
from minijax.lax import sin


def deriv(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


print(deriv(deriv(sin))(3.0))
