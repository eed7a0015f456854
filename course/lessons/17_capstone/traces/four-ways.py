"""One function, four ways to run it: evaluation, `jvp`, its jaxpr, StableHLO.

hide = ["convert_element_type"]
look = "The function stays the same. Watch what becomes of its sine and its product each time."
"""

from minijax import jit, jvp, make_jaxpr
from minijax import numpy as jnp


def f(x):
    y = jnp.sin(x)
    return y * x


print(f(2.0))
print(*jvp(f, (2.0,), (1.0,)))
print(make_jaxpr(f)(2.0))
print(jit(f).lower(2.0).as_text())
