"""A loop is unrolled, with omnistaging and without it.

look = "Python's loop runs while the function is traced. Change how often, and switch omnistaging off. Watch the program grow, and who takes `exp`."

[choices]
omnistaging = [true, false]
rounds = [1, 2, 3, 4]
"""

from contextlib import nullcontext

import numpy as np

from minijax import numpy as jnp
from minijax.core import ShapedArray, new_main
from minijax.tracing import JaxprBuilder, JaxprTrace, new_dynamic

omnistaging = True
rounds = 2
k = jnp.array([1.0, 2.0])


def f(x):
    for _ in range(rounds):
        x = x * jnp.exp(k)
    return x


with (
    new_main(JaxprTrace, JaxprBuilder()) as main,
    new_dynamic(main) if omnistaging else nullcontext(),
):
    f(JaxprTrace(main).new_arg(ShapedArray((2,), np.dtype("float64"))))
print(len(main.global_data.eqns), "equations")
