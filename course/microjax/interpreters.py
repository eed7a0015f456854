"""Interpreters: one program, many meanings.

A function such as

    def foo(x):
        return mul(x, add(x, 3.0))

says which operations to apply, and in which order. What it means to apply one is left open, and
this is the whole idea of JAX: `add` and `mul` compute nothing themselves. They ask the *current
interpreter*. One interpreter computes numbers; the next lessons add one that computes derivatives
as well, and one that writes the operations down. `foo` stays as it is.

This file reads from top to bottom: the operations, what an interpreter is, the one that evaluates,
the place where the current one is kept, and the two functions that users call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from typing import Any

# The operations ---------------------------------------------------------------------------------


class Op(Enum):
    """The primitive operations. There are no others: every program consists of these two."""

    add = auto()
    mul = auto()

    def __str__(self) -> str:
        return self.name


# Interpreters -----------------------------------------------------------------------------------


class Interpreter:
    """Gives the operations a meaning; what kind of values it computes with is its own affair."""

    def interpret_op(self, op: Op, args: tuple[Any, ...]) -> Any:
        """Apply `op` to `args` in this interpreter's way; gives the result."""
        raise NotImplementedError(f"{type(self).__name__} must define interpret_op.")


class EvalInterpreter(Interpreter):
    """Evaluates: its values are Python's floats, and it computes with them."""

    def interpret_op(self, op: Op, args: tuple[Any, ...]) -> float:
        """The sum of two floats for `Op.add`, their product for `Op.mul`.

        Anything but floats is an error, which `check_floats` raises.

        >>> EvalInterpreter().interpret_op(Op.add, (2.0, 3.0))
        5.0
        >>> EvalInterpreter().interpret_op(Op.mul, (2.0, 3.0))
        6.0
        """
        check_floats(op, args)
        x, y = args
        match op:
            case Op.add:
                return x + y
            case Op.mul:
                return x * y


def check_floats(op: Op, args: tuple[Any, ...]) -> None:
    """Complain, with `TypeError`, about the first operand that is not a float.

    A value of another interpreter arrives here only if somebody kept it after that interpreter's
    work was over, in a list or a global variable.

    >>> check_floats(Op.add, (2.0, 3))
    Traceback (most recent call last):
    TypeError: add takes floats, and was given 3, of type int. Write numbers as 3.0, not 3.
    """
    for arg in args:
        if not isinstance(arg, float):
            number = isinstance(arg, int)
            advice = (
                f"Write numbers as {float(arg)}, not {arg}."
                if number
                else "It was kept after the function that it was made for had ended: return it."
            )
            kind = type(arg).__name__
            raise TypeError(f"{op} takes floats, and was given {arg}, of type {kind}. {advice}")


# The current interpreter ------------------------------------------------------------------------


class Context(threading.local):
    """Holds the current interpreter: one in each thread, and evaluation to begin with."""

    interpreter: Interpreter = EvalInterpreter()


context = Context()


def current_interpreter() -> Interpreter:
    """The interpreter that applies the operations of this thread at this moment.

    >>> type(current_interpreter()).__name__
    'EvalInterpreter'
    """
    return context.interpreter


@contextmanager
def set_interpreter(new_interpreter: Interpreter) -> Iterator[None]:
    """Make another interpreter the current one, for the time of a `with` block.

    The one before it is current again when the block ends, also when an exception ends it. Blocks
    may stand inside each other.

    >>> other = EvalInterpreter()
    >>> with set_interpreter(other):
    ...     print(current_interpreter() is other)
    True
    >>> current_interpreter() is other
    False
    """
    previous = context.interpreter
    context.interpreter = new_interpreter
    try:
        yield
    finally:
        context.interpreter = previous


# What users call --------------------------------------------------------------------------------


def add(x: Any, y: Any) -> Any:
    """The sum of `x` and `y`, as the current interpreter sees it.

    >>> add(2.0, 3.0)
    5.0
    """
    return current_interpreter().interpret_op(Op.add, (x, y))


def mul(x: Any, y: Any) -> Any:
    """The product of `x` and `y`, as the current interpreter sees it.

    >>> def foo(x):
    ...     return mul(x, add(x, 3.0))
    >>> foo(2.0)
    10.0
    """
    return current_interpreter().interpret_op(Op.mul, (x, y))
