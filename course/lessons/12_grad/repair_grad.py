"""A tape that smudges.

`gradient(f, *xs)` needs no linear program: it records each operation of `f` on a tape, with
functions that pull a cotangent back, and reads the tape from its end. `f` may use `+`, `-` and `*`,
and arrays of the same shape. The result must be what `grad` of the sum of `f` returns: often it is,
but not always. Repair it.
"""

import numpy as np


class Node:
    """A value on a tape: `uses` says which values it was made from, and how to go back to them."""

    def __init__(self, tape, value, *uses):
        self.tape, self.value, self.uses = tape, value, uses
        self.ct = None  # none yet
        tape.append(self)

    def __add__(self, other):
        uses = (self, lambda ct: ct), (other, lambda ct: ct)
        return Node(self.tape, self.value + other.value, *uses)

    def __sub__(self, other):
        uses = (self, lambda ct: ct), (other, lambda ct: -ct)
        return Node(self.tape, self.value - other.value, *uses)

    def __mul__(self, other):
        uses = (self, lambda ct: ct * other.value), (other, lambda ct: ct * self.value)
        return Node(self.tape, self.value * other.value, *uses)


def gradient(f, *xs):
    """The gradients of the sum of `f(*xs)` with respect to all of `xs`."""
    tape = []
    starts = [Node(tape, x) for x in xs]
    out = f(*starts)
    out.ct = np.ones(np.shape(out.value))[()]
    for node in reversed(tape):
        if node.ct is not None:
            for operand, pull_back in node.uses:
                ct = pull_back(node.ct)
                if operand.ct is None:
                    operand.ct = ct
                else:
                    operand.ct += ct
    return [np.zeros(np.shape(x.value)) if x.ct is None else x.ct for x in starts]
