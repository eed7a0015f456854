"""Staging: the program as data.

Evaluation and differentiation go through a program from its first operation to its last, and look
at one at a time. Some transformations cannot work like that. Which operations are of no use, for
example, is known only from what comes *after* them. Such a transformation needs the whole program
at once, as a data structure.

An interpreter can make one: it computes nothing, and writes each operation down. What it writes is
called a *jaxpr* (for JAX expression). There are no types in it yet; the `jaxprs` lesson adds them.

This file reads from top to bottom: the data structure, the way from a function to its program, the
way back, and a transformation that needs the whole program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from microjax.interpreters import Interpreter, Op, bind, set_interpreter

# The data structure -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Var:
    """A variable of one program. Two variables with the same name are still two variables.

    If variables were strings, the `v_1` of an inner program would be mistaken for the `v_1` of the
    outer one: perturbation confusion again.
    """

    name: str

    def __repr__(self) -> str:
        return self.name


# An operand, or a result: a variable of the program, or a constant. A constant can be hashed. It is
# usually a float; in a program that is written while a different interpreter is at work outside, it
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


def build_jaxpr(f: Callable[..., Any], num_args: int) -> Jaxpr:
    """The program of `f`, a function of `num_args` arguments. Counterpart: `jax.make_jaxpr`.

    On any arguments, the program applies the operations that `f` applies, in order, and returns
    what `f` returns. Its variables are `v_1`, `v_2` and so on, the parameters first. `f` runs once,
    here. The interpreter that was current is not asked anything, and is current again afterwards,
    even if `f` raises.

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
    names = (f"v_{number}" for number in count(1))
    parameters = tuple(Var(next(names)) for _ in range(num_args))
    equations: list[Equation] = []

    class StagingInterpreter(Interpreter):
        def interpret_op(self, op: Op, args: tuple[Any, ...]) -> Var:
            var = Var(next(names))
            equations.append(Equation(var, op, args))
            return var

    with set_interpreter(StagingInterpreter()):
        result = f(*parameters)
    return Jaxpr(parameters, tuple(equations), result)


# And back: running a program --------------------------------------------------------------------


def eval_jaxpr(jaxpr: Jaxpr, args: Sequence[Any]) -> Any:
    """The value that a program returns for `args`.

    The current interpreter applies each operation once, in order. A constant is any value that can
    be hashed, even a variable of another program with the same name. Results that nothing needs any
    more are not kept: of a chain of a thousand operations, only a few exist at a time. Raises
    `TypeError` unless there is one value for each parameter.

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
    last_use = {atom: i for i, eqn in enumerate(jaxpr.equations) for atom in {eqn.var, *eqn.args}}
    last_use.pop(jaxpr.return_val, None)
    for i, equation in enumerate(jaxpr.equations):
        env[equation.var] = bind(equation.op, *(env.get(arg, arg) for arg in equation.args))
        for atom in {equation.var, *equation.args}:
            if last_use.get(atom) == i:
                env.pop(atom, None)
    return env.get(jaxpr.return_val, jaxpr.return_val)


def staged(f: Callable[..., Any], num_args: int) -> Callable[..., Any]:
    """A function that does what `f` does, by running the program of `f`.

    `f` runs once, here and now. Each call applies all operations of the program. Counterpart: the
    first half of `jax.jit`, which also compiles the program.

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


# Dead code --------------------------------------------------------------------------------------


def dce_jaxpr(jaxpr: Jaxpr) -> Jaxpr:
    """The program without the equations that its result does not need: dead-code elimination.

    An equation is needed if its variable is what the program returns, or an operand of an equation
    that is needed. These stay as they were, in order, and so do all parameters. The given program,
    which may have thousands of equations and names that repeat, does not change.

    This derivative does not need the product itself:

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
