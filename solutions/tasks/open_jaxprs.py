"""Registers for a program."""

import itertools

from minijax.jaxpr import Jaxpr, Literal, Var


def registers(jaxpr: Jaxpr) -> dict[Var, int]:
    """The register of each variable.

    A new one is taken only while all others are in use, so there are no more of them than values
    that are kept at the same time: fewer are not possible.
    """
    last = last_reads(jaxpr)
    where: dict[Var, int] = {}
    free: list[int] = []
    new = itertools.count()

    def take(variables):
        for var in variables:
            where[var] = free.pop() if free else next(new)

    def leave(variables):
        free.extend(where[var] for var in variables)

    inputs = [*jaxpr.constvars, *jaxpr.invars]
    take(inputs)
    leave(var for var in inputs if var not in last)
    for time, eqn in enumerate(jaxpr.eqns):
        leave({x for x in eqn.invars if last.get(x) == time})
        take(eqn.outvars)
        leave(var for var in eqn.outvars if var not in last)
    return where


def last_reads(jaxpr: Jaxpr) -> dict[Var, int]:
    """The number of the last equation that reads a variable; for outputs, the one after the end."""
    reads = [*(eqn.invars for eqn in jaxpr.eqns), jaxpr.outvars]
    return {x: time for time, xs in enumerate(reads) for x in xs if not isinstance(x, Literal)}
