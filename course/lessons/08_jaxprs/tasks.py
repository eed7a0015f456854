"""Checks of what lies beyond the exercises: `check jaxprs.open` and `check jaxprs.repair`."""

import itertools

from checking import exercise, typed, variables, yours
from random_programs import LAX, for_programs, numbers

from minijax.core import add_p, mul_p, neg_p, sin_p, sub_p
from minijax.jaxpr import Jaxpr, JaxprEqn, Literal, Var, eval_jaxpr, read, typecheck_jaxpr

TEN = Literal(10.0, typed())


def line(primitive, *atoms, **params):
    """The equation of a primitive with one result, which is the last of the atoms."""
    return JaxprEqn([*atoms[:-1]], [atoms[-1]], primitive, params)


exercise("jaxprs.open")

registers = yours("open_jaxprs.registers")


class Registers:
    """Values by variable, as an environment; but two variables may have the same register."""

    def __init__(self, where):
        self.where = where
        self.values = {}

    def __getitem__(self, var):
        return self.values[self.where[var]]

    def update(self, pairs):
        pairs = list(pairs)
        self.values.update((self.where[var], value) for var, value in pairs)
        assert len({self.where[var] for var, _ in pairs}) == len(pairs), (
            "two values in one register"
        )


def run(jaxpr, where, consts, *args):
    """The results of a program on a machine with registers."""
    registers = Registers(where)
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    registers.update(zip(inputs, [*consts, *args], strict=True))
    for eqn in jaxpr.eqns:
        outs = eqn.primitive.bind(*[read(registers, x) for x in eqn.invars], **eqn.params)
        outs = outs if eqn.primitive.multiple_results else [outs]
        registers.update(zip(eqn.outvars, outs, strict=True))
    return [read(registers, x) for x in jaxpr.outvars]


def most_at_once(jaxpr):
    """The largest number of values that are kept at the same time."""
    written = [[*jaxpr.constvars, *jaxpr.invars], *(eqn.outvars for eqn in jaxpr.eqns)]
    reads = [*(eqn.invars for eqn in jaxpr.eqns), jaxpr.outvars]
    return max(
        len({*written[time], *itertools.chain(*written[:time])} & {*written[time], *later})
        for time in range(len(written))
        for later in [set(itertools.chain(*reads[time:]))]
    )


@for_programs(seed="jaxprs.open", operations=LAX)
def test_random_programs_run_in_registers(jaxpr, xs, want):
    """A random program computes the same, and uses no register too many."""
    where = registers(jaxpr)
    assert numbers(run(jaxpr, where, [], *xs)) == numbers(want)
    assert set(where.values()) == set(range(most_at_once(jaxpr)))


def test_chain():
    """A chain of operations needs one register, however long it is."""
    names = variables(1001)
    eqns = [line(neg_p, a, b) for a, b in itertools.pairwise(names)]
    where = registers(Jaxpr([], names[:1], names[-1:], eqns))
    assert [where[name] for name in names] == [0] * 1001


def test_constants_literals_and_outputs():
    """Constants, inputs that nothing reads, and outputs that are inputs have their registers."""
    k, a, unused, b, c = variables(5)
    eqns = [line(mul_p, k, TEN, b), line(sub_p, b, k, c)]
    jaxpr = Jaxpr([k], [a, unused], [c, a, c, TEN], eqns)
    where = registers(jaxpr)
    assert [float(x) for x in run(jaxpr, where, [2.0], 3.0, 4.0)] == [18.0, 3.0, 18.0, 10.0]
    assert len(set(where.values())) == 3


def test_results_that_nothing_reads():
    """A result that nothing reads is written all the same, and must not destroy another value."""
    a, b, c, d = variables(4)
    jaxpr = Jaxpr([], [a], [d], [line(sin_p, a, b), line(neg_p, a, c), line(add_p, a, a, d)])
    where = registers(jaxpr)
    assert [float(x) for x in run(jaxpr, where, [], 3.0)] == [6.0]
    assert len(set(where.values())) == 2


exercise("jaxprs.repair")

inline = yours("repair_jaxprs.inline")


def of_call(jaxpr, invars):
    """An equation that calls a program."""
    from repair_jaxprs import call_p

    return JaxprEqn(invars, [Var(x.aval) for x in jaxpr.outvars], call_p, {"jaxpr": jaxpr})


def same_without_calls(jaxpr, *args):
    """Whether a program without its calls has the same type and the same values."""
    from repair_jaxprs import call_p

    flat = inline(jaxpr)
    assert all(eqn.primitive is not call_p for eqn in flat.eqns)
    assert str(typecheck_jaxpr(flat)) == str(typecheck_jaxpr(jaxpr))
    assert numbers(eval_jaxpr(flat, [], *args)) == numbers(eval_jaxpr(jaxpr, [], *args))


@for_programs(seed="jaxprs.repair", operations=LAX)
def test_a_call(jaxpr, xs):
    """A program that calls a random program once."""
    ins = [Var(x.aval) for x in jaxpr.invars]
    eqn = of_call(jaxpr, ins)
    same_without_calls(Jaxpr([], ins, eqn.outvars, [eqn]), *xs)


@for_programs(seed="jaxprs.repair", operations=LAX, dtypes=["float64"])
def test_two_calls(jaxpr, xs):
    """A program that calls a random program for some values, and again for their negatives."""
    ins = [Var(x.aval) for x in jaxpr.invars]
    others = [Var(x.aval) for x in jaxpr.invars]
    calls = [of_call(jaxpr, ins), of_call(jaxpr, others)]
    eqns = [*(line(neg_p, x, y) for x, y in zip(ins, others, strict=True)), *calls]
    outs = [*calls[0].outvars, *calls[1].outvars]
    same_without_calls(Jaxpr([], ins, outs, eqns), *xs)


def test_calls_within_calls():
    """A program that calls a program that calls a third one, with literals on the way."""
    a, b, c, d, e, f = variables(6)
    square = Jaxpr([], [a], [b, a, TEN], [line(mul_p, a, a, b)])
    inner = of_call(square, [c])
    middle = Jaxpr([], [c], [d], [inner, line(add_p, inner.outvars[0], inner.outvars[2], d)])
    first, second = of_call(middle, [e]), of_call(middle, [TEN])
    outs = [first.outvars[0], second.outvars[0], f]
    last = line(sub_p, first.outvars[0], second.outvars[0], f)
    same_without_calls(Jaxpr([], [e], outs, [first, second, last]), 3.0)
