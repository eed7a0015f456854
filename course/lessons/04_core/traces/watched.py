"""The stack while `watched(f)` runs.

hide = ["convert_element_type"]
look = "Level 1 is asked first. It takes the values out of their boxes and applies the operation again. Watch where it goes then."
"""

from minijax import numpy as jnp
from minijax.core import Trace, Tracer, full_raise, get_aval, new_main


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


def f(x):
    return jnp.sin(x) * 2.0 + x


with new_main(WatchTrace) as main:
    trace = WatchTrace(main)
    out = full_raise(trace, f(WatchTracer(trace, jnp.array(3.0))))
print(out.value)
