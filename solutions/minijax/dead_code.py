"""Programs without what their results do not need, even inside choices and loops.

The walk of the `staging` lesson, from the last equation to the first, takes an equation whole or
not at all. A choice and a loop have many results, and may lose some: `dce_rules` has a rule for
each, which returns the smaller equation.
"""

from __future__ import annotations

from collections.abc import Callable

from minijax.branches import cond_p
from minijax.control_flow import settled
from minijax.core import Primitive
from minijax.jaxpr import ClosedJaxpr, JaxprEqn
from minijax.marks import Marks, chosen, groups
from minijax.scans import Scan, scan_p

# From an equation and marks of its results, some of them true, to an equation for the marked ones.
dce_rules: dict[Primitive, Callable[[JaxprEqn, Marks], JaxprEqn]] = {}


def without_dead_code(program: ClosedJaxpr) -> tuple[ClosedJaxpr, list[bool]]:
    """The program without what its results do not need, and which of its inputs are left."""
    jaxpr = program.jaxpr
    needed, eqns = set(jaxpr.outvars), []
    for eqn in reversed(jaxpr.eqns):
        wanted = tuple(var in needed for var in eqn.outvars)
        if any(wanted):
            eqn = eqn if all(wanted) else dce_rules.get(eqn.primitive, whole)(eqn, wanted)
            needed.update(eqn.invars)
            eqns.append(eqn)
    takes = [var in needed for var in jaxpr.invars]
    smaller = jaxpr.replace(invars=chosen(jaxpr.invars, takes), eqns=eqns[::-1])
    return ClosedJaxpr(smaller, program.consts), takes


def whole(eqn: JaxprEqn, wanted: Marks) -> JaxprEqn:
    return eqn


def trimmed(program: ClosedJaxpr) -> tuple[ClosedJaxpr, Marks]:
    """Like `without_dead_code`, with all of the inputs, read or not."""
    smaller, takes = without_dead_code(program)
    jaxpr = smaller.jaxpr.replace(invars=program.jaxpr.invars)
    return ClosedJaxpr(jaxpr, program.consts), tuple(takes)


def for_results(program: ClosedJaxpr, wanted: Marks) -> tuple[ClosedJaxpr, Marks]:
    """The program for some of its results, with all of its inputs, and which of them it reads."""
    jaxpr = program.jaxpr
    fewer = jaxpr.replace(outvars=chosen(jaxpr.outvars, wanted))
    return trimmed(ClosedJaxpr(fewer, program.consts))


def with_inputs(program: ClosedJaxpr, takes: Marks) -> ClosedJaxpr:
    """The program with these of its inputs, if it does not read the others."""
    jaxpr = program.jaxpr
    return program.replace(jaxpr=jaxpr.replace(invars=chosen(jaxpr.invars, takes)))


def cond_without(eqn: JaxprEqn, wanted: Marks) -> JaxprEqn:
    """A choice of some results, with the operands that at least one of the branches reads."""
    index, *operands = eqn.invars
    pairs = [for_results(branch, wanted) for branch in eqn.params["branches"]]
    takes = tuple(map(any, zip(*(marks for _, marks in pairs), strict=True)))
    branches = tuple(with_inputs(branch, takes) for branch, _ in pairs)
    invars, outvars = [index, *chosen(operands, takes)], chosen(eqn.outvars, wanted)
    return JaxprEqn(invars, outvars, cond_p, {"branches": branches})


def scan_without(eqn: JaxprEqn, wanted: Marks) -> JaxprEqn:
    """A loop for some results: what one step needs of the carry, the step before computes."""
    loop = Scan(**eqn.params)
    carry, ys = groups(wanted, loop.num_carry)

    def smaller_step(carry: Marks) -> tuple[tuple[ClosedJaxpr, Marks], Marks]:
        body, takes = for_results(loop.jaxpr, (*carry, *ys))
        reads = loop.parts(takes)[1]
        needed = tuple(map(max, carry, reads))
        return (body, takes), (*needed, *ys)

    (body, takes), carry, _ = settled(smaller_step, carry)
    consts, _, rows = loop.parts(takes)
    takes = (*consts, *carry, *rows)
    smaller = loop.with_body(with_inputs(body, takes), sum(consts), sum(carry))
    outvars = chosen(eqn.outvars, (*carry, *ys))
    return JaxprEqn(chosen(eqn.invars, takes), outvars, scan_p, vars(smaller))


dce_rules[cond_p] = cond_without
dce_rules[scan_p] = scan_without
