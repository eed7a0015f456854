"""A loop is unrolled, with omnistaging and without it.

look = "Python's loop runs while the function is traced. Change how many times, and switch omnistaging off. Watch the program grow, and who takes `exp`."

[choices]
omnistaging = [true, false]
rounds = [1, 2, 3, 4]
"""

import numpy as np

from minijax import numpy as jnp
from minijax.core import ShapedArray, new_main, trace_state
from minijax.tracing import JaxprBuilder, JaxprTrace

omnistaging = True
rounds = 2
k = jnp.array([1.0, 2.0])


def f(x):
    for _ in range(rounds):
        x = x * jnp.exp(k)
    return x


with new_main(JaxprTrace, JaxprBuilder()) as main:
    if omnistaging:
        trace_state.dynamic_trace = main
    f(JaxprTrace(main).new_arg(ShapedArray((2,), np.dtype("float64"))))
    trace_state.dynamic_trace = None
print(len(main.global_data.eqns), "equations")
