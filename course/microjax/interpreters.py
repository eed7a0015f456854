"""Interpreters: one program, many meanings.

A function such as

    def foo(x):
        return mul(x, add(x, 3.0))

says which operations to apply, and in which order. What it means to apply one is left open, and
this is the whole idea of JAX: `add` and `mul` compute nothing themselves. They ask the *current
interpreter*. One interpreter computes numbers, another one counts operations; the next lessons add
one that computes derivatives as well, and one that writes the operations down. `foo` stays as it
is.

This file reads from top to bottom: the operations, what an interpreter is, the one that evaluates,
the place where the current one is kept, what users call, and an interpreter that watches another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
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
        """The sum of the two floats in `args` for `Op.add`, their product for `Op.mul`.

        An operand that is not a float is refused: `check_floats(op, args)` raises the `TypeError`.

        >>> EvalInterpreter().interpret_op(Op.add, (2.0, 3.0))
        5.0
        >>> EvalInterpreter().interpret_op(Op.mul, (2.0, 3.0))
        6.0
        """
        # TODO(interpreters.evaluate): check the operands, then give their sum or their product,
        # whichever op asks for.
        raise NotImplementedError("interpreters.evaluate")


def check_floats(op: Op, args: tuple[Any, ...]) -> None:
    """Complain, with `TypeError`, about the first operand that is not a float.

    A value of another interpreter arrives here if that one is not current: nobody made it current,
    or its work is over and somebody kept the value, in a list or a global variable.

    >>> check_floats(Op.add, (2.0, 3))
    Traceback (most recent call last):
    TypeError: add takes floats, and was given 3, of type int. Write numbers as 3.0, not 3.
    """
    for arg in args:
        if not isinstance(arg, float):
            advice = (
                f"Write numbers as {float(arg)}, not {arg}."
                if isinstance(arg, int)
                else "If another interpreter made it, that one is not current: nobody made it so, "
                "or its work is over and the value was kept."
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

    When the block ends, the interpreter that was current before it is current again, also when an
    exception ends the block. Blocks may stand inside each other. The current interpreter of this
    thread is the attribute `context.interpreter`.

    >>> other = EvalInterpreter()
    >>> with set_interpreter(other):
    ...     print(current_interpreter() is other)
    True
    >>> current_interpreter() is other
    False
    """
    # TODO(interpreters.set_interpreter): note the current interpreter, put the new one in its
    # place, let the block run, and put back what was there.
    raise NotImplementedError("interpreters.set_interpreter")


# What users call --------------------------------------------------------------------------------


def bind(op: Op, *args: Any) -> Any:
    """Apply `op` to operands: ask the current interpreter to do it, and give its answer.

    The interpreter's method `interpret_op(op, args)` takes the operands as one tuple. Nothing is
    known here of what the operands are: they and the answer are whatever values the interpreter
    computes with. Counterpart: `Primitive.bind` in JAX.

    >>> class Tell(Interpreter):
    ...     def interpret_op(self, op, args):
    ...         return f"{op} of {args}"
    >>> with set_interpreter(Tell()):
    ...     bind(Op.mul, 2.0, "x")
    "mul of (2.0, 'x')"
    """
    # TODO(interpreters.bind): let the current interpreter apply op to the operands, and return its
    # answer.
    raise NotImplementedError("interpreters.bind")


def add(x: Any, y: Any) -> Any:
    """The sum of `x` and `y`, as the current interpreter sees it.

    >>> add(2.0, 3.0)
    5.0
    """
    return bind(Op.add, x, y)


def mul(x: Any, y: Any) -> Any:
    """The product of `x` and `y`, as the current interpreter sees it.

    >>> def foo(x):
    ...     return mul(x, add(x, 3.0))
    >>> foo(2.0)
    10.0
    """
    return bind(Op.mul, x, y)


# An interpreter that watches another --------------------------------------------------------------


class CountingInterpreter(Interpreter):
    """Counts operations, and leaves the work to the interpreter that was current before it."""

    def __init__(self, prev_interpreter: Interpreter) -> None:
        self.prev_interpreter = prev_interpreter
        self.count = 0

    def interpret_op(self, op: Op, args: tuple[Any, ...]) -> Any:
        """Count one more operation, and give what `self.prev_interpreter` makes of it.

        The values are those of `self.prev_interpreter`: it gets the operands as they are, and its
        result is given back as it is.

        >>> counting = CountingInterpreter(EvalInterpreter())
        >>> counting.interpret_op(Op.add, (2.0, 3.0)), counting.interpret_op(Op.mul, (2.0, 3.0))
        (5.0, 6.0)
        >>> counting.count
        2
        """
        # TODO(interpreters.count_op): add one to the count, and return what the interpreter before
        # this one gives for the operation.
        raise NotImplementedError("interpreters.count_op")


def count_ops(f: Callable[..., Any], *args: Any) -> tuple[Any, int]:
    """The result of `f(*args)`, and the number of operations that were applied to get it.

    Runs `f` once, while a new `CountingInterpreter` is current; the interpreter that was current
    before does the work, and is current again afterwards.

    >>> count_ops(lambda x: mul(x, add(x, 3.0)), 2.0)
    (10.0, 2)
    >>> count_ops(lambda x: count_ops(lambda y: mul(y, y), add(x, 3.0)), 2.0)
    ((25.0, 1), 2)
    """
    # TODO(interpreters.count_ops): make a CountingInterpreter, call f while it is current, and
    # return the result and the count.
    raise NotImplementedError("interpreters.count_ops")
