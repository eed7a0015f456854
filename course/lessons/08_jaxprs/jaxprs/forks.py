"""One program, as equations and as a graph."""

import numpy as np
from minijax.core import ShapedArray, add_p, mul_p, reduce_sum_p, sin_p
from minijax.jaxpr import Jaxpr, JaxprEqn, Literal, Var

vector, scalar = (ShapedArray(shape, np.dtype("float64")) for shape in ((3,), ()))
w, x, y, z, s = (Var(aval) for aval in (vector, vector, vector, vector, scalar))
t = Var(scalar)
program = Jaxpr(
    constvars=[w],
    invars=[x],
    outvars=[t, y],
    eqns=[
        JaxprEqn([x], [y], sin_p, {}),
        JaxprEqn([y, w], [z], mul_p, {}),
        JaxprEqn([z], [s], reduce_sum_p, {"axes": (0,)}),
        JaxprEqn([s, Literal(1.0, scalar)], [t], add_p, {}),
    ],
)
programs = {"sum(sin(x) * w) + 1, and sin(x)": program}
