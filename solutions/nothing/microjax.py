"""microjax in one file: interpreters, derivatives, and programs as data. It imports no other."""

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Op(Enum):
    """The primitive operations."""

    add = "add"
    mul = "mul"


# One program, many meanings -----------------------------------------------------------------------


class Interpreter:
    """What the operations mean. This one evaluates."""

    def interpret_op(self, op, args):
        for x in args:
            if not isinstance(x, float):
                raise TypeError(f"{op.name} takes floats, not {x!r}")
        return args[0] + args[1] if op is Op.add else args[0] * args[1]


class _Current(threading.local):
    interpreter = Interpreter()


_current = _Current()


def current_interpreter():
    return _current.interpreter


@contextmanager
def set_interpreter(interpreter):
    before, _current.interpreter = _current.interpreter, interpreter
    try:
        yield
    finally:
        _current.interpreter = before


def add(x, y):
    return current_interpreter().interpret_op(Op.add, (x, y))


def mul(x, y):
    return current_interpreter().interpret_op(Op.mul, (x, y))


_apply = {Op.add: add, Op.mul: mul}


class _Counting(Interpreter):
    def __init__(self):
        self.below, self.count = current_interpreter(), 0

    def interpret_op(self, op, args):
        self.count += 1
        return self.below.interpret_op(op, args)


def count_ops(f, *args):
    counting = _Counting()
    with set_interpreter(counting):
        return f(*args), counting.count


# Derivatives --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Dual:
    owner: Any
    primal: Any
    tangent: Any


class _Forward(Interpreter):
    def __init__(self):
        self.below = current_interpreter()

    def lift(self, x):
        own = isinstance(x, _Dual) and x.owner is self
        return x if own else _Dual(self, x, 0.0)

    def interpret_op(self, op, args):
        x, y = map(self.lift, args)
        with set_interpreter(self.below):
            value = _apply[op](x.primal, y.primal)
            if op is Op.add:
                return _Dual(self, value, add(x.tangent, y.tangent))
            moved = add(mul(x.tangent, y.primal), mul(x.primal, y.tangent))
            return _Dual(self, value, moved)


def jvp(f, primal, tangent):
    forward = _Forward()
    with set_interpreter(forward):
        out = forward.lift(f(_Dual(forward, primal, tangent)))
    return out.primal, out.tangent


def derivative(f, x):
    return jvp(f, x, 1.0)[1]


def nth_order_derivative(n, f, x):
    return derivative(lambda y: nth_order_derivative(n - 1, f, y), x) if n else f(x)


# Programs as data ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Var:
    name: str

    def __str__(self):
        return self.name


@dataclass(frozen=True)
class _Jaxpr:
    inputs: tuple
    equations: tuple  # of variable, operation, operands
    output: Any

    def __str__(self):
        rows = [f"  {v} = {op.name}({x}, {y})" for v, op, (x, y) in self.equations]
        return "\n".join([f"{', '.join(map(str, self.inputs))} ->", *rows, str(self.output)])


class _Staging(Interpreter):
    def __init__(self):
        self.equations, self.names = [], 0

    def new(self):
        self.names += 1
        return _Var(f"v_{self.names}")

    def interpret_op(self, op, args):
        self.equations.append((self.new(), op, args))
        return self.equations[-1][0]


def build_jaxpr(f, num_args):
    staging = _Staging()
    inputs = tuple(staging.new() for _ in range(num_args))
    with set_interpreter(staging):
        output = f(*inputs)
    return _Jaxpr(inputs, tuple(staging.equations), output)


def eval_jaxpr(jaxpr, args):
    if len(args) != len(jaxpr.inputs):
        raise TypeError(f"the program takes {len(jaxpr.inputs)} values, not {len(args)}")
    values = dict(zip(jaxpr.inputs, args, strict=True))
    for var, op, operands in jaxpr.equations:
        values[var] = _apply[op](*(values.get(x, x) for x in operands))
    return values.get(jaxpr.output, jaxpr.output)


def staged(f, num_args):
    jaxpr = build_jaxpr(f, num_args)
    return lambda *args: eval_jaxpr(jaxpr, args)


def dce_jaxpr(jaxpr):
    needed, kept = {jaxpr.output}, []
    for var, op, operands in reversed(jaxpr.equations):
        if var in needed:
            needed.update(operands)
            kept.insert(0, (var, op, operands))
    return _Jaxpr(jaxpr.inputs, tuple(kept), jaxpr.output)
