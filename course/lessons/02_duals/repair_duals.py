"""Sine and cosine for microjax.

`with_slope(f, slope)` turns `f`, a function of floats, into one that can be differentiated. `slope`
computes its derivative, and can be differentiated itself. Values are right, and so are derivatives
of every order. Yet one thing is wrong: wherever `sin(x)` is used, it must not move unless `x` does.
Repair it.
"""

import math

from microjax.duals import DualNumber, JVPInterpreter
from microjax.interpreters import current_interpreter, mul, set_interpreter


def with_slope(f, slope):
    """`f`, for floats and dual numbers."""

    def extended(x):
        interpreter = current_interpreter()
        if not isinstance(interpreter, JVPInterpreter):
            return f(x)
        if not isinstance(x, DualNumber):
            x = interpreter.lift(x)
        with set_interpreter(interpreter.prev_interpreter):
            return DualNumber(interpreter, extended(x.primal), mul(slope(x.primal), x.tangent))

    return extended


def sin_slope(x):
    """The derivative of the sine."""
    return cos(x)


def cos_slope(x):
    """The derivative of the cosine."""
    return mul(-1.0, sin(x))


sin = with_slope(math.sin, sin_slope)
cos = with_slope(math.cos, cos_slope)
