"""Where a NaN is born."""

import numpy as np

from minijax.core import Trace, Tracer, full_raise, get_aval, new_main


class Watched(Tracer):
    """A value whose operations are watched."""

    def __init__(self, trace, value):
        self._trace, self.value, self.aval = trace, value, get_aval(value)


def has_nan(x):
    """Is there a NaN in `x`? It may be a box of another interpreter: its type knows the value."""
    return bool(np.isnan(np.asarray(get_aval(x).val)).any())


class Watch(Trace):
    """Evaluates one level down, and compares what goes in with what comes out."""

    def pure(self, val):
        return Watched(self, val)

    lift = pure

    def process_primitive(self, primitive, tracers, params):
        values = [tracer.value for tracer in tracers]
        out = primitive.bind(*values, **params)
        outs = out if primitive.multiple_results else [out]
        if any(map(has_nan, outs)) and not any(map(has_nan, values)):
            shown = ", ".join(str(get_aval(x).val) for x in values)
            raise FloatingPointError(f"{primitive} makes a NaN of {shown}")
        boxes = [self.pure(x) for x in outs]
        return boxes if primitive.multiple_results else boxes[0]


def find_nans(f):
    """`f`, with an error at the operation that makes a NaN."""

    def watched_f(*args):
        with new_main(Watch) as main:
            trace = Watch(main)
            return full_raise(trace, f(*map(trace.pure, args))).value

    return watched_f
