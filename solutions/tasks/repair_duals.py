"""Sine and cosine for microjax.

`with_slope(f, slope)` turns `f`, a function of floats, into one that can be differentiated: `slope`
is its derivative, made of the same kind. Values are right, and so are derivatives of every order.
Yet something is not: wherever it is used, if `x` does not move, `sin(x)` must not either. Repair
it.
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
