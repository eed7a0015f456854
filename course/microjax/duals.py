"""Dual numbers: a value and its derivative, in one pass through the program.

Move the input x of a program a little, by `t` times a tiny amount eps. An intermediate value p then
moves by some multiple of eps too: it becomes p + t * eps. Two such sums add up and multiply as

    (p + t eps) + (q + u eps) = (p + q) + (t + u) eps
    (p + t eps) * (q + u eps) = (p * q) + (p * u + t * q) eps + (t * u) eps eps

and as eps goes to 0, the last term of the product vanishes beside the others. So it is enough to
know the pair (p, t), the *dual number* of *primal* p and *tangent* t, of every intermediate value.
The first line is the rule for sums, and the second is the product rule of calculus.

An interpreter that computes with such pairs differentiates any program, and it needs no more than
a rule for each operation. Counterpart: `jax.jvp`; the name stands for Jacobian-vector product.

This file reads from top to bottom: the pair, the rules, the interpreter, and what users call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from microjax.interpreters import (
    Interpreter,
    Op,
    add,
    current_interpreter,
    mul,
    set_interpreter,
)

# The pair ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DualNumber:
    """A value, `primal`, and how fast it moves, `tangent`.

    It belongs to one interpreter, one use of differentiation. To differentiate a derivative, two
    interpreters are at work; each has its own eps, and must not take the other's tangents for its
    own. Primal and tangent are floats, or values of the interpreter outside: dual numbers again,
    for a second derivative.
    """

    interpreter: Interpreter
    primal: Any
    tangent: Any

    def __repr__(self) -> str:
        return f"DualNumber(primal={self.primal}, tangent={self.tangent})"


# The rules: from primals and tangents of the operands to primal and tangent of the result ---------
#
# They call `add` and `mul`, not Python's + and *. Who applies these is decided elsewhere: below, by
# the interpreter that calls the rule.


def add_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """The rule of sums: a sum moves by the sum of what its operands move by.

    `primals` holds the two operands, `tangents` how fast each of them moves. Gives their sum, and
    how fast it moves. All sums are made with `add`, for primals and tangents need not be floats.

    >>> add_jvp((3.0, 4.0), (1.0, 10.0))
    (7.0, 11.0)
    """
    # TODO(duals.add_rule): give the sum of the primals, and how fast that sum moves.
    raise NotImplementedError("duals.add_rule")


def mul_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """The product rule: each operand by the tangent of the other, and the sum of both.

    Arguments and result are as in `add_jvp`: a pair of primals and a pair of tangents; the product,
    and how fast it moves. Everything is computed with `add` and `mul`.

    >>> mul_jvp((3.0, 4.0), (1.0, 10.0))
    (12.0, 34.0)
    """
    # TODO(duals.mul_rule): give the product of the primals, and how fast it moves; each operand has
    # a share in that.
    raise NotImplementedError("duals.mul_rule")


jvp_rules = {Op.add: add_jvp, Op.mul: mul_jvp}


# The interpreter --------------------------------------------------------------------------------


class JVPInterpreter(Interpreter):
    """Computes with dual numbers of its own.

    `prev_interpreter` is the one that was current when differentiation began. The rules are applied
    under it: it may evaluate, or differentiate once more.
    """

    def __init__(self, prev_interpreter: Interpreter) -> None:
        self.prev_interpreter = prev_interpreter

    def lift(self, x: Any) -> DualNumber:
        """`x` as a dual number of this interpreter.

        A dual number of this interpreter is one already, and is given back itself. Everything else
        is a constant, as seen from here, and does not move: its tangent is 0.0. That holds for
        floats, and it holds for a dual number of *another* interpreter: as a whole it becomes the
        primal of a new one.

        >>> inner, outer = (JVPInterpreter(current_interpreter()) for _ in range(2))
        >>> inner.lift(3.0)
        DualNumber(primal=3.0, tangent=0.0)
        >>> inner.lift(DualNumber(outer, 3.0, 1.0))
        DualNumber(primal=DualNumber(primal=3.0, tangent=1.0), tangent=0.0)
        """
        # TODO(duals.lift): give back a dual number of this interpreter as it is, and box everything
        # else as a constant.
        raise NotImplementedError("duals.lift")

    def interpret_op(self, op: Op, args: tuple[Any, ...]) -> DualNumber:
        """Lift the operands, apply the rule of `op` to primals and tangents, and pair the results.

        The rule is `jvp_rules[op]`, called once as `rule(primals, tangents)` with two tuples; it
        gives a pair, primal and tangent of the result. It runs with `self.prev_interpreter` as the
        current interpreter: under this one, its `add` and `mul` would come back here for ever. The
        result is a dual number of this interpreter.

        >>> interpreter = JVPInterpreter(current_interpreter())
        >>> x = DualNumber(interpreter, 3.0, 1.0)
        >>> interpreter.interpret_op(Op.mul, (x, 4.0))
        DualNumber(primal=12.0, tangent=4.0)
        """
        # TODO(duals.interpret_op): lift the operands, call the rule under the interpreter before
        # this one, and pair what it gives.
        raise NotImplementedError("duals.interpret_op")


# What users call --------------------------------------------------------------------------------


def jvp(f: Callable[[Any], Any], primal: Any, tangent: Any) -> tuple[Any, Any]:
    """The value of `f` at `primal`, and how fast it moves there when the input moves by `tangent`.

    Runs `f` once, on a dual number of a new `JVPInterpreter` that is current meanwhile and has the
    one that was current before as its `prev_interpreter`. What `f` gives may be a constant, or a
    dual number of another interpreter, so it is lifted before it is taken apart into primal and
    tangent. Counterpart: `jax.jvp`, which takes a tuple of inputs.

    >>> def foo(x):
    ...     return mul(x, add(x, 3.0))
    >>> jvp(foo, 2.0, 1.0)
    (10.0, 7.0)
    >>> jvp(lambda x: 5.0, 2.0, 1.0)
    (5.0, 0.0)
    """
    # TODO(duals.jvp): run f on a dual number of a new JVPInterpreter, and take apart what comes
    # out.
    raise NotImplementedError("duals.jvp")


def derivative(f: Callable[[Any], Any], x: Any) -> Any:
    """The derivative of `f` at `x`: how fast `f` moves when its input moves at speed 1.0.

    It may stand inside a function that is differentiated itself. Here the inner function does not
    use its argument y, so its derivative is 0, and f is 0 everywhere.

    >>> derivative(lambda x: mul(x, add(x, 3.0)), 2.0)
    7.0
    >>> def f(x):
    ...     def g(y):
    ...         return x
    ...     return mul(x, derivative(g, 0.0))
    >>> derivative(f, 0.0)
    0.0
    """
    # TODO(duals.derivative): call jvp with an input that moves at speed 1.0, and return how fast
    # the result moves.
    raise NotImplementedError("duals.derivative")


def nth_order_derivative(n: int, f: Callable[[Any], Any], x: Any) -> Any:
    """The `n`-th derivative of `f` at `x`; for `n` = 0, the value of `f` at `x`.

    The derivative of order n is the derivative of the function that gives the one of order n - 1.
    `n` is a Python int, 0 or more. `f` runs once, whatever `n` is.

    >>> def foo(x):
    ...     return mul(x, add(x, 3.0))
    >>> [nth_order_derivative(n, foo, 2.0) for n in range(4)]
    [10.0, 7.0, 2.0, 0.0]
    """
    # TODO(duals.nth_order): for n = 0 call f; else differentiate the function that gives the
    # derivative of order n - 1.
    raise NotImplementedError("duals.nth_order")
