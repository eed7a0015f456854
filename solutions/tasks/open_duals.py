"""All derivatives in one run."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

from microjax.interpreters import Interpreter, Op, add, current_interpreter, mul, set_interpreter


@dataclass(frozen=True, eq=False)
class Series:
    """The first coefficients of a power series; a dual number has two of them."""

    interpreter: Any
    coefficients: list


def add_series(a, b):
    """The sum, term by term."""
    return [add(x, y) for x, y in zip(a, b, strict=True)]


def mul_series(a, b):
    """The product: all pairs of terms whose orders add up to the same."""
    return [
        reduce(add, [mul(a[i], b[order - i]) for i in range(order + 1)]) for order in range(len(a))
    ]


class TaylorInterpreter(Interpreter):
    """Computes with series of its own; what is inside belongs to the interpreter before it."""

    def __init__(self, prev_interpreter, order):
        self.prev_interpreter = prev_interpreter
        self.order = order

    def lift(self, x):
        """`x` as the coefficients of a series: its own, or those of a constant."""
        if isinstance(x, Series) and x.interpreter is self:
            return x.coefficients
        return [x] + [0.0] * self.order

    def interpret_op(self, op, args):
        rule = {Op.add: add_series, Op.mul: mul_series}[op]
        operands = [self.lift(arg) for arg in args]
        with set_interpreter(self.prev_interpreter):
            return Series(self, rule(*operands))


def taylor(f, x, order):
    """The coefficients of f(x + t) in powers of t, up to t to the `order`."""
    interpreter = TaylorInterpreter(current_interpreter(), order)
    start = ([x, 1.0] + [0.0] * order)[: order + 1]
    with set_interpreter(interpreter):
        result = f(Series(interpreter, start))
    return interpreter.lift(result)
