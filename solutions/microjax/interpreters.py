"""Interpreters: one program, many meanings.

A function such as

    def foo(x):
        return mul(x, add(x, 3.0))

says which operations to apply, and in what order. What it means to apply one is left open, and
this is the whole idea of JAX: `add` and `mul` compute nothing themselves. They ask the *current
interpreter*. One interpreter computes numbers, a second counts operations; the next lessons add one
that computes derivatives as well, and one that writes the operations down. `foo` stays as it is.

This file reads from top to bottom: the operations, what an interpreter is, the one that evaluates,
the place where the current one is kept, what users call, an interpreter with values of its own, one
that watches another, and a transformation.
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
    """Says what the operations mean, and chooses the kind of values that it computes with."""

    def interpret_op(self, op: Op, args: tuple[Any, ...]) -> Any:
        """The result of applying `op` to the operands `args` in this interpreter's way."""
        raise NotImplementedError(f"{type(self).__name__} must define interpret_op.")


class EvalInterpreter(Interpreter):
    """Evaluates: its values are Python's floats, and it computes with them."""

    def interpret_op(self, op: Op, args: tuple[Any, ...]) -> float:
        """The sum of the two floats in `args` for `Op.add`, their product for `Op.mul`.

        >>> EvalInterpreter().interpret_op(Op.add, (2.0, 3.0))
        5.0
        """
        check_floats(op, args)
        x, y = args
        match op:
            case Op.add:
                return x + y
            case Op.mul:
                return x * y


def check_floats(op: Op, args: tuple[Any, ...]) -> None:
    """Raise `TypeError` for the first operand that is not a float.

    A value of another interpreter arrives here if that interpreter is not current: it never was,
    or its work is over and the value was kept, in a list or a global variable.

    >>> check_floats(Op.add, (2.0, 3))
    Traceback (most recent call last):
    TypeError: add takes floats, but was given 3, of type int. Write numbers as 3.0, not 3.
    """
    for arg in args:
        if not isinstance(arg, float):
            advice = (
                f"Write numbers as {float(arg)}, not {arg}."
                if isinstance(arg, int)
                else "If another interpreter made it, that one is not current: it never was, or "
                "its work is over and the value was kept."
            )
            kind = type(arg).__name__
            raise TypeError(f"{op} takes floats, but was given {arg}, of type {kind}. {advice}")


# The current interpreter ------------------------------------------------------------------------


class Context(threading.local):
    """Holds the current interpreter: one for each thread, and evaluation to begin with."""

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
    """A context manager that makes another interpreter current for the duration of a `with` block.

    However the block ends, the interpreter that was current when it began is current again.

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


def bind(op: Op, *args: Any) -> Any:
    """The current interpreter's answer to `op`, applied to these operands.

    Its `interpret_op` is called once, with all operands in one tuple, while it stays current.
    Operands, answers and exceptions of any kind pass through unchanged. Counterpart:
    `Primitive.bind` in JAX.

    >>> class Tell(Interpreter):
    ...     def interpret_op(self, op, args):
    ...         return f"{op} of {args}"
    >>> with set_interpreter(Tell()):
    ...     bind(Op.mul, 2.0, "x")
    "mul of (2.0, 'x')"
    """
    return current_interpreter().interpret_op(op, args)


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


# An interpreter with values of its own ------------------------------------------------------------


class IntervalInterpreter(Interpreter):
    """Computes with intervals: pairs of bounds, between which a number lies."""

    def interpret_op(self, op: Op, args: tuple[Any, ...]) -> tuple[float, float]:
        """The smallest interval that contains the result for every choice of operands.

        An operand is a finite float, which is known exactly, or an interval: the pair `(low, high)`
        of finite floats. The operands are independent, even if both are the same object.

        >>> IntervalInterpreter().interpret_op(Op.add, ((1.0, 2.0), 3.0))
        (4.0, 5.0)
        >>> IntervalInterpreter().interpret_op(Op.mul, ((1.0, 2.0), (-3.0, 5.0)))
        (-6.0, 10.0)
        """
        (low, high), (other_low, other_high) = map(as_interval, args)
        if op is Op.add:
            return low + other_low, high + other_high
        corners = [a * b for a in (low, high) for b in (other_low, other_high)]
        return min(corners), max(corners)


def as_interval(value: Any) -> tuple[float, float]:
    """A float as the interval that holds only this number; an interval unchanged."""
    return (value, value) if isinstance(value, float) else value


# An interpreter that watches another --------------------------------------------------------------


class RememberingInterpreter(Interpreter):
    """Leaves the work to the interpreter before it, and never asks the same question twice."""

    def __init__(self, prev_interpreter: Interpreter) -> None:
        self.prev_interpreter = prev_interpreter
        self.known: dict[Any, Any] = {}  # for whatever you want to keep

    def interpret_op(self, op: Op, args: tuple[Any, ...]) -> Any:
        """The result, computed by the interpreter before this one; any may be current meanwhile.

        If it was already asked for the same operation on the same operands, return that answer.
        Operands, of any kind and number, are the same if they are the same objects in the same
        order. Equal is not enough: `1.0 == True`.

        >>> class Loud(EvalInterpreter):
        ...     def interpret_op(self, op, args):
        ...         print(op, *args)
        ...         return super().interpret_op(op, args)
        >>> remembering, x = RememberingInterpreter(Loud()), 1.5
        >>> [remembering.interpret_op(Op.mul, (x, x)) for _ in range(3)]
        mul 1.5 1.5
        [2.25, 2.25, 2.25]
        """
        key = (op, *map(id, args))
        if key not in self.known:  # operands are kept: nothing else can get their ids
            self.known[key] = args, self.prev_interpreter.interpret_op(op, args)
        _, answer = self.known[key]
        return answer


# A transformation ---------------------------------------------------------------------------------


def count_ops(f: Callable[..., Any], *args: Any) -> tuple[Any, int]:
    """The result of `f(*args)`, and how many operations reach the interpreter that was current.

    That interpreter does the work, whatever its values are; any may be current while it works. `f`
    runs once. Afterwards the interpreter that was current is current again, even if `f` raises.

    >>> count_ops(lambda x: mul(x, add(x, 3.0)), 2.0)
    (10.0, 2)
    >>> count_ops(lambda x: count_ops(lambda y: mul(y, y), add(x, 3.0)), 2.0)
    ((25.0, 1), 2)
    """
    before, count = current_interpreter(), 0

    class Counting(Interpreter):
        def interpret_op(self, op: Op, args: tuple[Any, ...]) -> Any:
            nonlocal count
            count += 1
            return before.interpret_op(op, args)

    with set_interpreter(Counting()):
        result = f(*args)
    return result, count
