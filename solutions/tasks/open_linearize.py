"""One residual is enough."""

import numpy as np

from minijax.core import add_p, div_p, mul_p, neg_p, sub_p
from minijax.jaxpr import apply_equation, read
from minijax.linearize import partial_eval_flat, unknown


class Terms(list):
    """A linear value: the sum of pairs (known factor, tangent). The factor None is one."""


def fewer(program):
    """The program with its factors multiplied beforehand, or itself if that takes less memory.

    The factors are known and the tangents are not: partial evaluation multiplies the former.
    """
    unknowns = [unknown(aval) for aval in program.in_avals]
    _, multiplied = partial_eval_flat(lambda *ts: run(program, ts), unknowns, lambda i: True)
    return min(multiplied, program, key=lambda p: sum(np.asarray(x).nbytes for x in p.consts))


def run(program, tangents):
    """The results of a linear program; products with known factors wait until they are needed."""
    env = dict(zip(program.jaxpr.constvars, program.consts, strict=True))
    env.update(zip(program.jaxpr.invars, map(alone, tangents), strict=True))
    for eqn in program.jaxpr.eqns:
        operands = [read(env, atom) for atom in eqn.invars]
        env.update(zip(eqn.outvars, apply(eqn, operands), strict=True))
    return [value_of(read(env, atom)) for atom in program.jaxpr.outvars]


def apply(eqn, operands):
    """The results of an equation: as terms if its rule knows a way, else as tangents."""
    linear = tuple(isinstance(x, Terms) for x in operands)
    rule = RULES.get((eqn.primitive, linear))
    if rule:
        return [rule(*operands)]
    outs = apply_equation(eqn, map(value_of, operands))
    return map(alone, outs) if any(linear) else outs


def alone(tangent):
    """A tangent as terms."""
    return Terms([(None, tangent)])


def scaled(x, k):
    """The terms `x`, each times `k`."""
    return Terms((k if factor is None else factor * k, t) for factor, t in x)


def joined(x, y):
    """The sum of two lists of terms; factors of the same tangent are added."""
    factors = {id(t): (factor, t) for factor, t in x}
    for factor, t in y:
        if id(t) in factors:
            factor = one_if_none(factors[id(t)][0]) + one_if_none(factor)
        factors[id(t)] = factor, t
    return Terms(factors.values())


def one_if_none(factor):
    return 1.0 if factor is None else factor


RULES = {
    (neg_p, (True,)): lambda x: scaled(x, -1.0),
    (mul_p, (True, False)): scaled,
    (mul_p, (False, True)): lambda k, x: scaled(x, k),
    (div_p, (True, False)): lambda x, k: scaled(x, 1.0 / k),
    (add_p, (True, True)): joined,
    (sub_p, (True, True)): lambda x, y: joined(x, scaled(y, -1.0)),
}


def value_of(x):
    """The sum of terms, as a tangent; what is known stays as it is."""
    if not isinstance(x, Terms):
        return x
    first, *others = [t if factor is None else t * factor for factor, t in x]
    return sum(others, first)
