"""Two interpreters split a program.

watch = ["minijax.linearize.split_jaxpr"]
look = "Partial evaluation runs above tracing, and `x` counts as known although it has no value. Watch which operations go down to the tracing interpreter, and which one waits."
"""

from minijax import make_jaxpr
from minijax import numpy as jnp
from minijax.linearize import split_jaxpr

whole = make_jaxpr(lambda x, y: jnp.sin(x) * y)(3.0, 1.0)
first, second, _ = split_jaxpr(whole, (True, False), frozenset())
print(len(first.eqns), "equation now,", len(second.eqns), "later")
