"""A pocket JAX: interpreters of scalar programs, from `bind` to `grad`, in one file."""

import math
import operator
from contextlib import contextmanager

# Operations. Each belongs to the highest interpreter among its operands, or is evaluated. ---------

_evaluate = {
    "add": operator.add,
    "mul": operator.mul,
    "neg": operator.neg,
    "inv": lambda x: 1.0 / x,
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "log": math.log,
}


def _bind(op, *args):
    boxes = [x for x in args if isinstance(x, _Box)]
    if not boxes:
        return _evaluate[op](*map(float, args))
    trace = max((x.trace for x in boxes), key=lambda trace: trace.level)
    if trace not in _active:
        raise ValueError(f"{op} got a value that was kept from a function whose work is over")
    own = (x if isinstance(x, _Box) and x.trace is trace else trace.lift(x) for x in args)
    return trace.process(op, *own)


def _primitive(op):
    return lambda *args: _bind(op, *args)


_functions = {op: _primitive(op) for op in _evaluate}
add, mul, neg, _inv, sin, cos, exp, log = _functions.values()


def sub(x, y):
    return add(x, neg(y))


def div(x, y):
    return mul(x, _inv(y))


class _Box:
    """A value of one use of an interpreter, with what else that needs to know."""

    def __init__(self, trace):
        self.trace = trace

    __add__ = __radd__ = add
    __mul__ = __rmul__ = mul
    __sub__, __truediv__, __neg__ = sub, div, neg

    def __rsub__(self, x):
        return sub(x, self)

    def __rtruediv__(self, x):
        return div(x, self)

    def __lt__(self, y):
        return self.known() < y

    def __gt__(self, y):
        return self.known() > y

    def known(self):
        raise TypeError("the value is not known while the program is written down")


_active = []  # the interpreters at work, the lowest first


@contextmanager
def _using(trace):
    trace.level = len(_active)
    _active.append(trace)
    try:
        yield trace
    finally:
        _active.pop()


# Derivatives forwards -----------------------------------------------------------------------------


class _Dual(_Box):
    def __init__(self, trace, primal, tangent):
        super().__init__(trace)
        self.primal, self.tangent = primal, tangent

    def known(self):
        return self.primal


class _JVP:
    def lift(self, x):
        return _Dual(self, x, None)  # None: it does not move

    def process(self, op, *args):
        primals = [x.primal for x in args]
        out, slopes = _rules[op](*primals)
        moved = [
            mul(t.tangent, slope())
            for t, slope in zip(args, slopes, strict=True)
            if t.tangent is not None
        ]
        tangent = None
        for part in moved:
            tangent = part if tangent is None else add(tangent, part)
        return _Dual(self, out, tangent)


def _exp_rule(x):
    out = exp(x)
    return out, [lambda: out]


def _inv_rule(x):
    out = _inv(x)
    return out, [lambda: neg(mul(out, out))]


# The value, and how much it moves with each operand, which is computed only if that one moves.
_rules = {
    "add": lambda x, y: (add(x, y), [lambda: 1.0, lambda: 1.0]),
    "mul": lambda x, y: (mul(x, y), [lambda: y, lambda: x]),
    "neg": lambda x: (neg(x), [lambda: -1.0]),
    "inv": _inv_rule,
    "sin": lambda x: (sin(x), [lambda: cos(x)]),
    "cos": lambda x: (cos(x), [lambda: neg(sin(x))]),
    "exp": _exp_rule,
    "log": lambda x: (log(x), [lambda: _inv(x)]),
}


def jvp(f, primals, tangents):
    with _using(_JVP()) as trace:
        out = f(*(_Dual(trace, x, t) for x, t in zip(primals, tangents, strict=True)))
    own = isinstance(out, _Dual) and out.trace is trace
    primal, tangent = (out.primal, out.tangent) if own else (out, None)
    return primal, 0.0 if tangent is None else tangent


# Programs as data ---------------------------------------------------------------------------------


class _Var(_Box):
    """A variable of a program that is being written."""


class _Jaxpr:
    def __init__(self, inputs, eqns, output):
        self.inputs, self.eqns, self.output = inputs, eqns, output

    def __str__(self):
        names = {}

        def name(x):
            return names.setdefault(x, f"v{len(names)}") if isinstance(x, _Var) else str(x)

        head = " ".join(map(name, self.inputs))
        rows = [f"{op} {' '.join(map(name, args))}" for _, op, args in self.eqns]
        rows = [f"  {name(var)} = {row}" for row, (var, _, _) in zip(rows, self.eqns, strict=True)]
        return "\n".join([f"{head} ->", *rows, name(self.output)])


class _Staging:
    def __init__(self):
        self.eqns = []

    def lift(self, x):
        return x  # a constant stands for itself

    def process(self, op, *args):
        var = _Var(self)
        self.eqns.append((var, op, args))
        return var


def make_jaxpr(f):
    def traced(*args):
        with _using(_Staging()) as trace:
            inputs = [_Var(trace) for _ in args]
            output = f(*inputs)
        return _Jaxpr(inputs, trace.eqns, output)

    return traced


def eval_jaxpr(jaxpr, args):
    values = dict(zip(jaxpr.inputs, args, strict=True))

    def of(x):
        return values.get(x, x) if isinstance(x, _Var) else x

    for var, op, operands in jaxpr.eqns:
        values[var] = _functions[op](*map(of, operands))
    return of(jaxpr.output)


# Derivatives backwards ----------------------------------------------------------------------------


def _linear_program(f, primals):
    """The value, and the program of the tangent: only what the tangents take part in is in it."""
    with _using(_Staging()) as trace:
        inputs = [_Var(trace) for _ in primals]
        out, tangent = jvp(f, primals, inputs)
    return out, _Jaxpr(inputs, trace.eqns, tangent)


def linearize(f, *primals):
    out, program = _linear_program(f, primals)
    return out, lambda *tangents: eval_jaxpr(program, tangents)


def vjp(f, *primals):
    out, program = _linear_program(f, primals)
    return out, lambda cotangent: _backwards(program, cotangent)


def _backwards(program, cotangent):
    counts = {program.output: cotangent}

    def send(x, amount):
        counts[x] = add(counts[x], amount) if x in counts else amount

    def is_own(x):
        return isinstance(x, _Var) and x in own

    own = {*program.inputs, *(var for var, _, _ in program.eqns)}
    for var, op, operands in reversed(program.eqns):
        if var not in counts:
            continue
        count = counts.pop(var)
        if op == "mul":  # a tangent by a slope, see `process`
            x, slope = operands
            send(x, mul(count, slope))
        else:  # a sum
            for x in filter(is_own, operands):
                send(x, count)
    return tuple(counts.get(x, 0.0) for x in program.inputs)


def grad(f):
    def gradient(x, *others):
        return vjp(lambda x: f(x, *others), x)[1](1.0)[0]

    return gradient
