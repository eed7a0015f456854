"""What the first screen shows of a function, by microjax: at the build, and in the page."""

import ast
import json

from microjax import (
    Interpreter,
    add,
    build_jaxpr,
    current_interpreter,
    derivative,
    mul,
    set_interpreter,
)

PLACES = [i / 10 for i in range(-40, 41)]  # of the slider
ALLOWED = "Write x, numbers, +, -, * and powers such as x ** 2."


class Batch(Interpreter):
    """Every operation on whole lists: for each place, what the interpreter below makes of it."""

    def __init__(self):
        self.below = current_interpreter()

    def interpret_op(self, op, args):
        """The list of results."""
        size = max(len(x) for x in args if isinstance(x, list))
        columns = [x if isinstance(x, list) else [x] * size for x in args]
        return [self.below.interpret_op(op, row) for row in zip(*columns, strict=True)]


def batched(f):
    """`f`, for lists of numbers."""

    def on_lists(xs):
        with set_interpreter(Batch()):
            ys = f(xs)
        return ys if isinstance(ys, list) else [ys] * len(xs)

    return on_lists


def function(text):
    """The function of x that an expression is, made of `add` and `mul`; or ValueError."""
    try:
        node = ast.parse(text[:200].strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(ALLOWED) from None
    return read(node)


def read(node):
    """The function of x that a part of an expression is."""
    match node:
        case ast.Name("x"):
            return lambda x: x
        case ast.Constant(int() | float() as number) if not isinstance(number, bool):
            return lambda x: float(number)
        case ast.UnaryOp(ast.USub(), operand):
            inner = read(operand)
            return lambda x: times(-1.0, inner(x))
        case ast.BinOp(left, ast.Pow(), ast.Constant(int() as power)) if 0 < power < 7:
            base = read(left)
            return lambda x: to_the(base(x), power)
        case ast.BinOp(left, ast.Add() | ast.Mult() | ast.Sub() as op, right):
            first, second = read(left), read(right)
            if isinstance(op, ast.Add):
                return lambda x: plus(first(x), second(x))
            if isinstance(op, ast.Mult):
                return lambda x: times(first(x), second(x))
            return lambda x: plus(first(x), times(-1.0, second(x)))
    raise ValueError(ALLOWED)


def to_the(x, power):
    """`x ** power`, by products."""
    return x if power == 1 else times(x, to_the(x, power - 1))


def plus(x, y):
    """`x + y`, by the interpreter unless both are numbers."""
    return x + y if are_numbers(x, y) else add(x, y)


def times(x, y):
    """`x * y`, by the interpreter unless both are numbers."""
    return x * y if are_numbers(x, y) else mul(x, y)


def are_numbers(*xs):
    """Whether no interpreter has to be asked."""
    return all(isinstance(x, float) for x in xs)


def table(text):
    """All that the screen shows of a function, for each place of the slider, as JSON."""
    f = function(text)
    return json.dumps({
        "at": PLACES,
        "value": [rounded(f(x)) for x in PLACES],
        "derivative": [rounded(derivative(f, x)) for x in PLACES],
        "batch": [[rounded(y) for y in batched(f)([x - 1.0, x, x + 1.0])] for x in PLACES],
        "program": str(build_jaxpr(f, 1)),
    })  # fmt: skip


def rounded(x):
    """A number as it is shown, so that the table stays short."""
    return float(f"{x:.5g}")
