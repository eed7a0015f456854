"""Forty equations, written by a program, close in on the number that is its own cosine."""

import itertools

import numpy as np

from minijax.core import ShapedArray, cos_p
from minijax.jaxpr import Jaxpr, JaxprEqn, Var, eval_jaxpr, typecheck_jaxpr

names = [Var(ShapedArray((), np.dtype("float64"))) for _ in range(41)]
eqns = [JaxprEqn([a], [b], cos_p, {}) for a, b in itertools.pairwise(names)]
program = Jaxpr([], names[:1], names, eqns)  # each of its variables is a result
typecheck_jaxpr(program)
path = eval_jaxpr(program, [], 0.0)
for x in path[:20]:
    print(" " * round(64 * float(x)) + "*")
print(len(eqns), "equations lead to", path[-1], "whose cosine is", np.cos(path[-1]))
