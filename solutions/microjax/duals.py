"""Dual numbers: a value and its derivative, in one pass through the program.

Move the input x of a program a little, by `t` times a tiny amount eps. An intermediate value p then
moves by some multiple of eps too: it becomes p + t * eps. Two such sums add up as

    (p + t eps) + (q + u eps) = (p + q) + (t + u) eps

and a product of two has this form, too, once eps is tiny. So it is enough to know the pair (p, t),
the *dual number* of *primal* p and *tangent* t, of every intermediate value.

An interpreter that computes with such pairs differentiates any program, and it needs no more than
a rule for each operation. Counterpart: `jax.jvp`; the name stands for Jacobian-vector product.

This file reads from top to bottom: the pair, the rules, the interpreter, and what users call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from microjax.interpreters import Interpreter, Op, add, current_interpreter, mul, set_interpreter

# The pair ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DualNumber:
    """A value, `primal`, and how fast it moves, `tangent`.

    It belongs to one interpreter, one use of differentiation. Two interpreters are at work when a
    derivative is differentiated; each has its own eps, and must not take the other's tangents for
    its own. Primal and tangent are floats, or values of the outer interpreter: dual numbers
    again, for a second derivative.
    """

    interpreter: Interpreter
    primal: Any
    tangent: Any

    def __repr__(self) -> str:
        return f"DualNumber(primal={self.primal}, tangent={self.tangent})"


# The rules: from primals and tangents of the operands to primal and tangent of the result ---------
#
# They call `add` and `mul`, not Python's + and *. Which interpreter applies these is decided below,
# by the interpreter that calls the rule.


def add_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """The rule of sums: the sum of two operands, and how fast it moves.

    `primals` holds the operands, `tangents` how fast each of them moves.

    >>> add_jvp((3.0, 4.0), (1.0, 10.0))
    (7.0, 11.0)
    """
    (x, y), (x_dot, y_dot) = primals, tangents
    return add(x, y), add(x_dot, y_dot)


def mul_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """The rule of products: the product of two operands, and how fast it moves.

    `primals` holds the operands, `tangents` how fast each of them moves. All are values of the
    current interpreter, of any kind, and it does all the arithmetic, in exactly four operations: no
    shortcut for a tangent of 0.0.

    >>> mul_jvp((3.0, 4.0), (1.0, 10.0))
    (12.0, 34.0)
    """
    (x, y), (x_dot, y_dot) = primals, tangents
    return mul(x, y), add(mul(x, y_dot), mul(x_dot, y))


jvp_rules = {Op.add: add_jvp, Op.mul: mul_jvp}


# The interpreter --------------------------------------------------------------------------------


class JVPInterpreter(Interpreter):
    """Computes with dual numbers of its own.

    `prev_interpreter` is the one that was current when differentiation began: it may evaluate, or
    differentiate again.
    """

    def __init__(self, prev_interpreter: Interpreter) -> None:
        self.prev_interpreter = prev_interpreter

    def lift(self, x: Any) -> DualNumber:
        """`x` as a dual number of this interpreter: its value, and how fast it moves.

        A dual number of this interpreter comes back unchanged. Any other value is kept whole.

        >>> interpreter = JVPInterpreter(current_interpreter())
        >>> interpreter.lift(3.0)
        DualNumber(primal=3.0, tangent=0.0)
        """
        if isinstance(x, DualNumber) and x.interpreter is self:
            return x
        return DualNumber(self, x, 0.0)

    def interpret_op(self, op: Op, args: tuple[Any, ...]) -> DualNumber:
        """The result of an operation, as a dual number of this interpreter.

        Operands are its own dual numbers, or constants of any kind. The operation's rule runs once.
        Afterwards the same interpreter is current as before, even if the rule raises.

        >>> interpreter = JVPInterpreter(current_interpreter())
        >>> x = DualNumber(interpreter, 3.0, 1.0)
        >>> interpreter.interpret_op(Op.mul, (x, 4.0))
        DualNumber(primal=12.0, tangent=4.0)
        """
        duals = [self.lift(arg) for arg in args]
        primals = tuple(dual.primal for dual in duals)
        tangents = tuple(dual.tangent for dual in duals)
        with set_interpreter(self.prev_interpreter):
            primal_out, tangent_out = jvp_rules[op](primals, tangents)
        return DualNumber(self, primal_out, tangent_out)


# What users call --------------------------------------------------------------------------------


def jvp(f: Callable[[Any], Any], primal: Any, tangent: Any) -> tuple[Any, Any]:
    """The value of `f` at `primal`, and how fast it moves when the input moves at speed `tangent`.

    `f` runs once, on a dual number that belongs to this call alone, and calls may be nested. A
    result that is not a dual number of this call is returned unchanged, and does not move. The
    interpreter that was current does the arithmetic, and is current again afterwards, even if `f`
    raises.

    >>> def foo(x):
    ...     return mul(x, add(x, 3.0))
    >>> jvp(foo, 2.0, 1.0)
    (10.0, 7.0)
    >>> jvp(lambda x: 5.0, 2.0, 1.0)
    (5.0, 0.0)
    """
    interpreter = JVPInterpreter(current_interpreter())
    with set_interpreter(interpreter):
        result = f(DualNumber(interpreter, primal, tangent))
    dual = interpreter.lift(result)
    return dual.primal, dual.tangent


def derivative(f: Callable[[Any], Any], x: Any) -> Any:
    """The derivative of `f` at `x`: how fast `f` moves when its input moves at speed 1.0.

    Derivatives may be nested: here the inner function does not use its argument y, so f is 0
    everywhere.

    >>> derivative(lambda x: mul(x, add(x, 3.0)), 2.0)
    7.0
    >>> def f(x):
    ...     def g(y):
    ...         return x
    ...     return mul(x, derivative(g, 0.0))
    >>> derivative(f, 0.0)
    0.0
    """
    _, tangent = jvp(f, x, 1.0)
    return tangent


def nth_order_derivative(n: int, f: Callable[[Any], Any], x: Any) -> Any:
    """The `n`-th derivative of `f` at `x`; for `n` = 0, the value of `f` at `x` itself.

    `f` runs once, whatever `n` is.

    >>> def foo(x):
    ...     return mul(x, add(x, 3.0))
    >>> [nth_order_derivative(n, foo, 2.0) for n in range(4)]
    [10.0, 7.0, 2.0, 0.0]
    """
    if n == 0:
        return f(x)
    return derivative(lambda y: nth_order_derivative(n - 1, f, y), x)


def mixed_derivatives(f: Callable[[Any, Any], Any], x: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    """The value of `f(x, y)`, its derivatives in x and in y, and the mixed derivative.

    The last one is the derivative with respect to x of the derivative with respect to y. `f` runs
    once, and calls may be nested. The interpreter that was current does the arithmetic, and is
    current again afterwards, even if `f` raises.

    >>> def f(x, y):
    ...     return mul(mul(x, x), y)
    >>> mixed_derivatives(f, 3.0, 5.0)
    (45.0, 30.0, 9.0, 6.0)
    """
    outer = JVPInterpreter(current_interpreter())
    with set_interpreter(outer):
        value, by_y = map(outer.lift, jvp(lambda y: f(DualNumber(outer, x, 1.0), y), y, 1.0))
    return value.primal, value.tangent, by_y.primal, by_y.tangent
