"""Two calls: the second one finds the program and its executable.

watch = ["minijax.jit.__call__", "minijax.jit.traced", "minijax.jit.compile_for"]
look = "The first call traces the function and compiles its program. Watch how much of that the second call has to do."
"""

from minijax import jit
from minijax import numpy as jnp


def energy(v):
    return jnp.sum(v * v) * 0.5


fast = jit(energy)
print(fast(jnp.array([3.0, 4.0])))
print(fast(jnp.array([1.0, 2.0])))
