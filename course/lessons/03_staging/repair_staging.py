"""All derivatives of a program.

`gradient(f, *inputs)` returns the derivatives of `f` with respect to all its inputs, at the cost of
a few operations per equation, however many inputs there are. On its own it is right, even for a
function that takes gradients itself. But inside a function that you stage or differentiate, it does
not always agree with `derivative`, and it must. Repair it.
"""

from microjax.interpreters import Op, add, bind, mul
from microjax.staging import build_jaxpr


class Table:
    """What is known about the variables of a program."""

    def __init__(self):
        self.entries = {}

    def write(self, atom, value):
        """Keep the value of an atom."""
        self.entries[str(atom)] = value

    def read(self, atom, otherwise):
        """The value of an atom, or a default if it has none."""
        return self.entries.get(str(atom), otherwise)


def gradient(f, *inputs):
    """The derivatives of `f` with respect to each of its inputs."""
    jaxpr = build_jaxpr(f, len(inputs))
    values, slopes = Table(), Table()
    for parameter, value in zip(jaxpr.parameters, inputs, strict=True):
        values.write(parameter, value)
    for step in jaxpr.equations:
        operands = [values.read(arg, arg) for arg in step.args]
        values.write(step.var, bind(step.op, *operands))
    slopes.write(jaxpr.return_val, 1.0)
    for step in reversed(jaxpr.equations):
        slope = slopes.read(step.var, 0.0)
        for arg, other in (step.args, step.args[::-1]):
            share = slope if step.op is Op.add else mul(slope, values.read(other, other))
            slopes.write(arg, add(slopes.read(arg, 0.0), share))
    return [slopes.read(parameter, 0.0) for parameter in jaxpr.parameters]
