"""Your library knows floats only. Give `add` and `mul` a third meaning, and it draws a famous set."""

from functools import reduce
from math import prod

from microjax import Interpreter, Op, add, mul, set_interpreter


class Complex(Interpreter):
    def interpret_op(self, op, args):
        return sum(args) if op is Op.add else prod(args)


def orbit(c):
    return reduce(lambda z, _: add(mul(z, z), c), range(30), c)


with set_interpreter(Complex()):
    for y in range(-11, 12):
        print("".join(" *"[abs(orbit(complex(x / 25, y / 10))) < 2] for x in range(-50, 16)))
