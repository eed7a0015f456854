"""Two interpreters in either order, and an operand of any level.

after = "jvp"
hide = ["convert_element_type"]
look = "`WatchTrace` is below `JVPTrace`, or above it. Change that, and change the level of the operand. Watch which of them takes the sine, and what is left for the others."

[choices]
lower = ["WatchTrace", "JVPTrace"]
level = [0, 1, 2]
"""

from minijax import numpy as jnp
from minijax.core import Trace, Tracer, get_aval, new_main
from minijax.jvp import JVPTrace, JVPTracer


class WatchTracer(Tracer):
    def __init__(self, trace, value):
        self._trace, self.value = trace, value

    @property
    def aval(self):
        return get_aval(self.value)


class WatchTrace(Trace):
    def pure(self, val):
        return WatchTracer(self, val)

    lift = pure

    def process_primitive(self, primitive, tracers, params):
        values = [tracer.value for tracer in tracers]
        return WatchTracer(self, primitive.bind(*values, **params))


def boxed(trace, x):
    moves = isinstance(trace, JVPTrace)
    return JVPTracer(trace, x, jnp.array(1.0)) if moves else WatchTracer(trace, x)


lower = WatchTrace
level = 2

upper = JVPTrace if lower is WatchTrace else WatchTrace
with new_main(lower) as first, new_main(upper) as second:
    x = jnp.array(3.0)
    inside = boxed(lower(first), x)
    operand = [x, inside, boxed(upper(second), inside)][level]
    out = jnp.sin(operand)
print(type(out).__name__)
