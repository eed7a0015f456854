"""microjax in another style: closures, no dataclass, programs as lists of lists."""

import threading
from types import SimpleNamespace as Record

Op = Record(add=Record(name="add"), mul=Record(name="mul"))


class Interpreter:
    pass


class Floats(Interpreter):
    def interpret_op(self, op, args):
        x, y = args
        if type(x) is not float or type(y) is not float:
            raise TypeError("floats only")
        return x + y if op is Op.add else x * y


state = threading.local()


def stack():
    if not hasattr(state, "stack"):
        state.stack = [Floats()]
    return state.stack


def current_interpreter():
    return stack()[-1]


class set_interpreter:
    def __init__(self, interpreter):
        self.interpreter = interpreter

    def __enter__(self):
        stack().append(self.interpreter)

    def __exit__(self, *error):
        stack().pop()


def operation(op):
    return lambda x, y: current_interpreter().interpret_op(op, (x, y))


add, mul = operation(Op.add), operation(Op.mul)


def with_rule(rule):
    """An interpreter from a function of the operation and its operands."""
    made = Interpreter()
    made.interpret_op = rule
    return made


def count_ops(f, *args):
    below, asked = current_interpreter(), []

    def count(op, operands):
        asked.append(op)
        return below.interpret_op(op, operands)

    with set_interpreter(with_rule(count)):
        out = f(*args)
    return out, len(asked)


def jvp(f, primal, tangent):
    below, mine = current_interpreter(), []

    def dual(x, t):
        mine.append(Record(x=x, t=t))
        return mine[-1]

    def pair(x):
        own = [d for d in mine if d is x]
        return (own[0].x, own[0].t) if own else (x, 0.0)

    def rule(op, operands):
        (x, s), (y, t) = map(pair, operands)
        with set_interpreter(below):
            return (
                dual(add(x, y), add(s, t))
                if op is Op.add
                else (dual(mul(x, y), add(mul(x, t), mul(y, s))))
            )

    with set_interpreter(with_rule(rule)):
        return pair(f(dual(primal, tangent)))


def derivative(f, x):
    return jvp(f, x, 1.0)[1]


def nth_order_derivative(n, f, x):
    for _ in range(n):
        f = (lambda g: lambda y: derivative(g, y))(f)
    return f(x)


class Name:
    def __init__(self, text):
        self.text = text

    __str__ = __repr__ = lambda self: self.text


class Program(list):
    """Rows [name, op, x, y]; the first holds the parameters, the last the result."""

    def __str__(self):
        rows = [f"  {v} = {op.name}({x}, {y})" for v, op, x, y in self[1:-1]]
        return "\n".join([", ".join(map(str, self[0])) + " ->", *rows, str(self[-1][0])])


def build_jaxpr(f, num_args):
    names = [Name(f"v_{i + 1}") for i in range(num_args)]
    program = Program([names])

    def rule(op, operands):
        name = Name(f"v_{num_args + len(program)}")
        program.append([name, op, *operands])
        return name

    with set_interpreter(with_rule(rule)):
        out = f(*names)
    program.append([out])
    return program


def eval_jaxpr(jaxpr, args):
    names, *rows, (out,) = jaxpr
    if len(names) != len(args):
        raise TypeError
    known = {id(name): x for name, x in zip(names, args)}
    for name, op, *operands in rows:
        values = tuple(known.get(id(x), x) for x in operands)
        known[id(name)] = current_interpreter().interpret_op(op, values)
    return known.get(id(out), out)


def staged(f, num_args):
    jaxpr = build_jaxpr(f, num_args)

    def run(*args):
        return eval_jaxpr(jaxpr, args)

    return run


def dce_jaxpr(jaxpr):
    names, *rows, out = jaxpr
    live, kept = {id(out[0])}, []
    while rows:
        row = rows.pop()
        if id(row[0]) in live:
            live |= {id(x) for x in row[2:]}
            kept = [row, *kept]
    return Program([names, *kept, out])
