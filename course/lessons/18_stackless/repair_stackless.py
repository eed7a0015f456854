"""What a result depends on.

`depends_on(f)(*args)` is the set of positions of the arguments that the result of `f` depends on:
{0, 2} if it is computed from the first and the third. `f` may compute derivatives, and use
`depends_on` itself; each answer is about the arguments of its own function. Repair it.
"""

from microjax.stackless import Box, Interpreter, bind, context, each, running, set_interpreter
from minijax.core import get_aval


class Marked(Box):
    """A value, and the set of the arguments from which it was computed."""

    aval = property(lambda self: get_aval(self.value))


class Dependence(Interpreter):
    """Computes everything outside, and notes from which arguments."""

    def __init__(self):
        self.prev_interpreter = context.interpreter

    def open(self, x):
        return (x.value, x.extra) if isinstance(x, Marked) else (x, set())

    def interpret_op(self, primitive, args, params):
        values, sources = zip(*map(self.open, args), strict=True)
        found = set().union(*sources)
        with set_interpreter(self.prev_interpreter):
            outs = bind(primitive, *values, **params)
        return each(primitive, lambda out: Marked(self, out, found) if found else out, outs)


def depends_on(f):
    """The numbers of the arguments on which the result of `f` depends."""

    def dependence(*args):
        interpreter = Dependence()
        with running(interpreter):
            out = f(*(Marked(interpreter, x, {i}) for i, x in enumerate(args)))
            return interpreter.open(out)[1]

    return dependence
