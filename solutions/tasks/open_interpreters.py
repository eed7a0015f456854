"""The odds of a game."""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from microjax.interpreters import Interpreter, current_interpreter, set_interpreter


@dataclass(frozen=True)
class Chance:
    """A number that is not known: its value in each outcome of the whole game."""

    values: tuple


class OutcomesInterpreter(Interpreter):
    """Applies an operation in each outcome, by the interpreter that was current before."""

    def __init__(self, prev_interpreter, count):
        self.prev_interpreter = prev_interpreter
        self.count = count

    def lift(self, x):
        """A constant is the same in every outcome."""
        return x if isinstance(x, Chance) else Chance((x,) * self.count)

    def interpret_op(self, op, args):
        rows = zip(*(self.lift(arg).values for arg in args), strict=True)
        return Chance(tuple(self.prev_interpreter.interpret_op(op, row) for row in rows))


def odds(f, *dice):
    """The values that `f` can have, each with its probability."""
    outcomes = list(product(*(die.items() for die in dice)))
    throws = zip(*([value for value, _ in outcome] for outcome in outcomes), strict=True)
    interpreter = OutcomesInterpreter(current_interpreter(), len(outcomes))
    with set_interpreter(interpreter):
        result = interpreter.lift(f(*map(Chance, throws)))
    found = defaultdict(Fraction)
    for value, outcome in zip(result.values, outcomes, strict=True):
        found[value] += prod((chance for _, chance in outcome), start=Fraction(1))
    return dict(found)
