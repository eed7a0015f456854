"""Forty equations that no person has typed lead to the number that is its own cosine."""

import itertools

import numpy as np

from minijax.core import ShapedArray, cos_p
from minijax.jaxpr import Jaxpr, JaxprEqn, Var, eval_jaxpr, typecheck_jaxpr

names = [Var(ShapedArray((), np.dtype("float64"))) for _ in range(41)]
eqns = [JaxprEqn([a], [b], cos_p, {}) for a, b in itertools.pairwise(names)]
program = Jaxpr([], names[:1], names[-2:], eqns)
print(len(program.eqns), "equations, of the type", typecheck_jaxpr(program))
for start in (1.0, 100.0):
    x, cos_x = eval_jaxpr(program, [], start)
    print(f"from {start}: the cosine of {x:.7f} is {cos_x:.7f}")
