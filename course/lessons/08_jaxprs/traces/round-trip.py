"""One program, evaluated, and then counted.

look = "The program runs twice, and its equations are the same each time. Watch who takes the operations when `counted` is at work."
"""

import numpy as np

from minijax.core import ShapedArray, counted, mul_p, sin_p
from minijax.jaxpr import Jaxpr, JaxprEqn, Var, eval_jaxpr

a, b, c = (Var(ShapedArray((), np.dtype("float64"))) for _ in range(3))
eqns = [JaxprEqn([a], [b], sin_p, {}), JaxprEqn([b, a], [c], mul_p, {})]
program = Jaxpr([], [a], [c], eqns)


def run(x):
    return eval_jaxpr(program, [], x)[0]


print(run(2.0))
print(*counted(run)(2.0))
