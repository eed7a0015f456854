"""The context of `microjax.stackless`: interpreters, which of them is the current one, and `bind`.

In Part I this is `interpreters.py`. What is new here: an operation has types, which `bind` checks,
and a tracer knows whose it is and whether that interpreter's function has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np  # noqa: F401 (for the examples)
from minijax import core
from minijax.core import Primitive, get_aval, get_rule
from minijax.errors import UnexpectedTracerError
from minijax.jaxpr import abstract_eval

from microjax.arrays import ArrayLike, Lax

Fun = Callable[..., Any]


class Interpreter:
    """One use of a way to run programs. While it is the current one, it gets every operation."""

    prev_interpreter: Interpreter  # the one that was current before; rules run under it
    ended = False  # whether the function that ran under it has returned or raised

    def interpret_op(self, primitive: Primitive, args: Sequence[Any], params: Any) -> Any:
        """The result of one operation: a list of them if `primitive.multiple_results`."""
        raise NotImplementedError(f"{type(self).__name__} must define interpret_op.")

    def owns(self, x: Any) -> bool:
        """Whether `x` is a tracer of this interpreter. Everything else is a constant to it."""
        if isinstance(x, Tracer) and x.interpreter.ended:
            raise misplaced(x)
        return isinstance(x, Tracer) and x.interpreter is self


def misplaced(x: Tracer) -> UnexpectedTracerError:
    """The error for a tracer where it is of no use; it says why the tracer came there."""
    reason = (
        "was kept after the function that it was made for had ended. Return it from there."
        if x.interpreter.ended
        else "reached evaluation although its interpreter is still at work. Which interpreter was "
        "the current one here?"
    )
    return UnexpectedTracerError(f"{x} {reason}")


class EvalInterpreter(Interpreter):
    """Computes with NumPy. There is nothing below it, and no tracer is its own."""

    def interpret_op(self, primitive: Primitive, args: Sequence[Any], params: Any) -> Any:
        for x in args:
            if isinstance(x, Tracer):
                raise misplaced(x)
        rule = get_rule(core.impl_rules, primitive, "Evaluation rule")
        outs = core.computed(rule, primitive, args, params)
        weak_type = core.weak_result(primitive, args, params)
        return each(primitive, lambda out: core.as_result(out, weak_type), outs)


def each(primitive: Primitive, f: Fun, *outs: Any) -> Any:
    """`f` of a result, or of each result if the primitive has several."""
    if not primitive.multiple_results:
        return f(*outs)
    return [f(*parts) for parts in zip(*outs, strict=True)]


class Context(threading.local):
    """Holds the current interpreter: one in each thread, and evaluation to begin with."""

    interpreter: Interpreter = EvalInterpreter()


context = Context()


@contextmanager
def set_interpreter(interpreter: Interpreter) -> Iterator[None]:
    """Make `interpreter` the current one for a `with` block, however it ends."""
    previous, context.interpreter = context.interpreter, interpreter
    try:
        yield
    finally:
        context.interpreter = previous


@contextmanager
def running(interpreter: Interpreter) -> Iterator[None]:
    """Like `set_interpreter`, for a user's function: its tracers are of no use afterwards."""
    try:
        with set_interpreter(interpreter):
            yield
    finally:
        interpreter.ended = True


def bind(primitive: Primitive, *args: Any, **params: Any) -> Any:
    """Apply a primitive: check the types of its operands, then hand it to the current interpreter.

    >>> bind(core.sin_p, 0.0)
    Array(0., dtype=float64, weak_type=True)
    >>> bind(core.reduce_sum_p, np.ones(3), axes=(1,))
    Traceback (most recent call last):
    TypeError: reduce_sum of float64[3]: float64[3] does not have the axes (1,), each once.
    """
    avals = [get_aval(x) for x in args]
    try:
        abstract_eval(primitive, avals, params)
    except (TypeError, ValueError, IndexError) as error:
        types = " and ".join(map(str, avals))
        raise TypeError(f"{primitive} of {types}: {str(error).removesuffix('.')}.") from None
    return context.interpreter.interpret_op(primitive, args, params)


lax = Lax(bind)  # the operations as functions: lax.sin(x) is bind(core.sin_p, x), and so on


class Tracer(ArrayLike):
    """What an interpreter hands to a user's function instead of an array."""

    interpreter: Interpreter
    lax = lax
