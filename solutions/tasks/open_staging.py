"""An optimizer."""

from microjax.interpreters import EvalInterpreter, Op
from microjax.staging import Equation, Jaxpr, dce_jaxpr

ZERO, ONE = 0.0, 1.0


def is_number(atom):
    """Is it a float? Other constants are variables of a program outside, or dual numbers."""
    return isinstance(atom, float)


def value_of(op, args):
    """The atom that the operation amounts to, or None if it has to be done."""
    if all(map(is_number, args)):
        return EvalInterpreter().interpret_op(op, args)
    for number, other in (args, args[::-1]):
        if is_number(number) and (op, number) in ((Op.add, ZERO), (Op.mul, ONE)):
            return other
        if is_number(number) and (op, number) == (Op.mul, ZERO):
            return ZERO
    return None


def same_operation(op, args):
    """A key that is equal for the same operation on the same operands, in either order."""
    return op, frozenset(repr(x) if is_number(x) else id(x) for x in args)


def simplify(jaxpr):
    """The program without the equations whose value is known, or is computed already."""
    known, done, equations = {}, {}, []
    for equation in jaxpr.equations:
        args = tuple(known.get(arg, arg) for arg in equation.args)
        value = value_of(equation.op, args)
        if value is None:
            value = done.setdefault(same_operation(equation.op, args), equation.var)
        if value is equation.var:
            equations.append(Equation(value, equation.op, args))
        else:
            known[equation.var] = value
    result = known.get(jaxpr.return_val, jaxpr.return_val)
    return dce_jaxpr(Jaxpr(jaxpr.parameters, tuple(equations), result))
