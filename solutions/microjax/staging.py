"""Staging: the program as data.

Evaluation and differentiation go through a program from its first operation to its last, and look
at one at a time. Some transformations cannot work like that. Which operations are of no use, for
example, is known only from what comes *after* them. Such a transformation needs the whole program
at once, as a data structure.

An interpreter can make one: it computes nothing, and writes each operation down. What it writes is
called a *jaxpr* (for JAX expression). There are no types in it yet; lesson jaxprs adds them.

This file reads from top to bottom: the data structure, the interpreter that writes it, the way back
from data to a function, and a transformation that goes through the program backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from microjax.interpreters import Interpreter, Op, bind, set_interpreter

# The data structure -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Var:
    """A variable of one program. Two variables of the same name are still two variables."""

    name: str

    def __repr__(self) -> str:
        return self.name


# What stands where a value is needed: a variable of the program, or a constant. A constant is a
# float as a rule. In a program that is written while another interpreter is at work outside, it
# may be a value of that one too: a dual number, or a variable of the program outside.
Atom = Any


@dataclass(frozen=True)
class Equation:
    """One line of a program, such as `v_3 = mul(v_1, v_2)`."""

    var: Var
    op: Op
    args: tuple[Atom, ...]

    def __str__(self) -> str:
        return f"{self.var} = {self.op}({', '.join(map(str, self.args))})"


@dataclass(frozen=True)
class Jaxpr:
    """A program: its parameters, its equations in order, and what it returns."""

    parameters: tuple[Var, ...]
    equations: tuple[Equation, ...]
    return_val: Atom

    def __str__(self) -> str:
        parameters = ", ".join(map(str, self.parameters))
        lines = [f"  {equation}" for equation in self.equations]
        return "\n".join([f"{parameters} ->", *lines, str(self.return_val)])


# From a function to its program -----------------------------------------------------------------


class StagingInterpreter(Interpreter):
    """Writes the operations down, in the order in which they come; its values are variables."""

    def __init__(self) -> None:
        self.equations: list[Equation] = []
        self.name_counter = 0

    def fresh_var(self) -> Var:
        """A new variable, a `Var` of its own at each call; they are called v_1, v_2, and so on.

        `name_counter` says how many there have been. Each interpreter counts for itself.

        >>> interpreter = StagingInterpreter()
        >>> interpreter.fresh_var(), interpreter.fresh_var()
        (v_1, v_2)
        """
        self.name_counter += 1
        return Var(f"v_{self.name_counter}")

    def interpret_op(self, op: Op, args: tuple[Any, ...]) -> Var:
        """Write an equation at the end of `equations`; gives its variable, from `self.fresh_var()`.

        Nothing is computed, and the operands are written down as they are: variables of this
        program, or constants. An operation on two constants is written down like any other.

        >>> interpreter = StagingInterpreter()
        >>> x = interpreter.fresh_var()
        >>> interpreter.interpret_op(Op.add, (x, 3.0))
        v_2
        >>> interpreter.interpret_op(Op.mul, (2.0, 3.0))
        v_3
        >>> for equation in interpreter.equations:
        ...     print(equation)
        v_2 = add(v_1, 3.0)
        v_3 = mul(2.0, 3.0)
        """
        var = self.fresh_var()
        self.equations.append(Equation(var, op, args))
        return var


def build_jaxpr(f: Callable[..., Any], num_args: int) -> Jaxpr:
    """The program of `f`, a function of `num_args` arguments. Counterpart: `jax.make_jaxpr`.

    Runs `f` once, on fresh variables of a new `StagingInterpreter` that is current meanwhile. These
    variables, the first of the interpreter, are the program's parameters, in the order of the
    arguments. What `f` returns is what the program returns: a variable or a constant. Parameters
    and equations become tuples in the `Jaxpr`.

    >>> from microjax.interpreters import add, mul
    >>> print(build_jaxpr(lambda x: mul(x, add(x, 3.0)), 1))
    v_1 ->
      v_2 = add(v_1, 3.0)
      v_3 = mul(v_1, v_2)
    v_3
    >>> print(build_jaxpr(lambda x, y: y, 2))
    v_1, v_2 ->
    v_2
    """
    interpreter = StagingInterpreter()
    parameters = tuple(interpreter.fresh_var() for _ in range(num_args))
    with set_interpreter(interpreter):
        result = f(*parameters)
    return Jaxpr(parameters, tuple(interpreter.equations), result)


# And back: running a program --------------------------------------------------------------------


def eval_jaxpr(jaxpr: Jaxpr, args: Sequence[Any]) -> Any:
    """Run a program on `args`, one value for each parameter; gives the value that it returns.

    The operations are applied in their order by `bind(op, *values)`, hence by the current
    interpreter, whichever that is. So a program can be evaluated, but also differentiated, or
    written down again, like any function.

    An environment, a dict from the variables themselves to values, says what the variables of
    *this* program stand for. An atom that is not in it is a constant and stands for itself: a
    number, a value of another interpreter, or a variable of a program outside, which may well have
    the same name as one of this program. Raises `TypeError` if the number of values is not that of
    the parameters.

    >>> from microjax.duals import jvp
    >>> from microjax.interpreters import add, mul
    >>> jaxpr = build_jaxpr(lambda x: mul(x, add(x, 3.0)), 1)
    >>> eval_jaxpr(jaxpr, (2.0,))
    10.0
    >>> jvp(lambda x: eval_jaxpr(jaxpr, (x,)), 2.0, 1.0)
    (10.0, 7.0)
    """
    if len(args) != len(jaxpr.parameters):
        raise TypeError(f"the program takes {len(jaxpr.parameters)} values, not {len(args)}.")
    env = dict(zip(jaxpr.parameters, args, strict=True))
    for equation in jaxpr.equations:
        values = (env.get(arg, arg) for arg in equation.args)
        env[equation.var] = bind(equation.op, *values)
    return env.get(jaxpr.return_val, jaxpr.return_val)


def staged(f: Callable[..., Any], num_args: int) -> Callable[..., Any]:
    """A function that does what `f` does by running the program of `f`.

    `f` takes `num_args` arguments, and so does the new function. The program is built here and now,
    once; `f` itself does not run when the new function is called. Counterpart: the first half of
    `jax.jit`, which also compiles the program.

    >>> from microjax.interpreters import add
    >>> def loud(x):
    ...     print("loud runs")
    ...     return add(x, 1.0)
    >>> quiet = staged(loud, 1)
    loud runs
    >>> quiet(2.0), quiet(5.0)
    (3.0, 6.0)
    """
    jaxpr = build_jaxpr(f, num_args)
    return lambda *args: eval_jaxpr(jaxpr, args)


# From bottom to top -----------------------------------------------------------------------------


def dce_jaxpr(jaxpr: Jaxpr) -> Jaxpr:
    """The program without the equations that its result does not need: dead-code elimination.

    Goes through the equations from the last to the first, with the set of the atoms that are needed
    further down. At the end of the program that is what it returns. An equation stays if its
    variable is in the set, and then its own operands are needed as well.

    What stays is as it was: the parameters, all of them, the order of the equations, and the
    variables, which are not renamed. The given program does not change.

    A derivative computes the values of the function along with the tangents, and needs few of them.
    Here it does not need the product itself:

    >>> from microjax.duals import derivative
    >>> from microjax.interpreters import mul
    >>> jaxpr = build_jaxpr(lambda x: derivative(lambda y: mul(y, y), x), 1)
    >>> print(jaxpr)
    v_1 ->
      v_2 = mul(v_1, v_1)
      v_3 = mul(v_1, 1.0)
      v_4 = mul(1.0, v_1)
      v_5 = add(v_3, v_4)
    v_5
    >>> print(dce_jaxpr(jaxpr))
    v_1 ->
      v_3 = mul(v_1, 1.0)
      v_4 = mul(1.0, v_1)
      v_5 = add(v_3, v_4)
    v_5
    """
    needed = {jaxpr.return_val}
    kept = []
    for equation in reversed(jaxpr.equations):
        if equation.var in needed:
            needed.update(equation.args)
            kept.append(equation)
    return Jaxpr(jaxpr.parameters, tuple(reversed(kept)), jaxpr.return_val)
