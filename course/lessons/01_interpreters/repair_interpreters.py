"""The cheapest program.

`measured(programs, x)` is a generator. Each time you ask it for the next measurement, it runs one
of the programs, and says what that program computes at `x` and how many operations it takes. All
its numbers are right, and yet it disturbs its surroundings: a counter of your own misses
operations. Repair it. Whenever and wherever you ask for the next measurement, the interpreter that
was current before must be current afterwards.
"""

from microjax.interpreters import Interpreter, current_interpreter, set_interpreter


class Counter(Interpreter):
    """Counts operations, and leaves the work to the interpreter before it."""

    def __init__(self, before):
        self.before, self.count = before, 0

    def interpret_op(self, op, args):
        """The result of the operation."""
        self.count += 1
        return self.before.interpret_op(op, args)


def measured(programs, x):
    """The programs in turn, each with its value at `x` and the number of its operations."""
    for program in programs:
        counting = Counter(current_interpreter())
        with set_interpreter(counting):
            value = program(x)
            yield program, value, counting.count


def cheapest(programs, x):
    """The program that takes the fewest operations at `x`; of several, the first."""
    best, fewest = None, None
    for program, _, count in measured(programs, x):
        if fewest is None or count < fewest:
            best, fewest = program, count
    return best


def affordable(programs, x, limit):
    """The first program that takes at most `limit` operations at `x`, or None."""
    for program, _, count in measured(programs, x):
        if count <= limit:
            return program
    return None
