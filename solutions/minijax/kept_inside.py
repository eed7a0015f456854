"""What a policy keeps inside calls, choices and loops.

A policy looks at one equation, and a `cond` or a `scan` is one equation with programs inside. So
such a program becomes two. In the first, choices and loops return the values that are kept inside
them as further results; in the second, they take them as further operands. In the second, an
equation of `kept_p` before each stands for the first one's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from minijax.branches import cond_p, share_residuals
from minijax.core import Primitive, Values, abstract_eval_rules
from minijax.dead_code import trimmed
from minijax.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var, apply_equation, read
from minijax.jit import jit_p
from minijax.programs import Split, rearranged, stacked
from minijax.scans import Scan, scan_p
from minijax.tracing import trace_to_jaxpr

Keep = Callable[[Jaxpr], list[Var]]  # the values that are kept of all that the results need
Policy = Callable[..., bool]

kept_p = Primitive("kept", multiple_results=True)
abstract_eval_rules[kept_p] = lambda *_, avals: avals


def with_calls_inlined(program: ClosedJaxpr) -> ClosedJaxpr:
    """The same program without `jit` equations, so that a policy sees what is inside them."""
    return trace_to_jaxpr(lambda *args: eval_inlined(program, args), program.in_avals)


def eval_inlined(program: ClosedJaxpr, args: Values) -> list[Any]:
    """Evaluate a program, going into `jit` equations; calls with rules of their own stay calls."""
    jaxpr = program.jaxpr
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    env: dict[Var, Any] = dict(zip(inputs, [*program.consts, *args], strict=True))
    for eqn in jaxpr.eqns:
        operands = [read(env, atom) for atom in eqn.invars]
        if eqn.primitive is jit_p:
            outs = eval_inlined(eqn.params["jaxpr"], operands)
        else:
            outs = apply_equation(eqn, operands)
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(env, atom) for atom in jaxpr.outvars]


def asked_inside(policy: Policy) -> Policy:
    """The policy, which also keeps what it has kept inside choices and loops."""
    return lambda primitive, *avals, **params: (
        primitive is kept_p or policy(primitive, *avals, **params)
    )


def looked_into(program: ClosedJaxpr, keep: Keep) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """The program twice, with the same variables; see the top of this module."""
    program = with_calls_inlined(program)
    now, again = [], []
    for eqn in program.jaxpr.eqns:
        if eqn.primitive not in rules:
            now.append(eqn)
            again.append(eqn)
            continue
        kept, first, second = rules[eqn.primitive](eqn, keep)
        avals = [var.aval for var in kept]
        now.append(first)
        again += [JaxprEqn(eqn.invars, kept, kept_p, {"avals": avals}), second]
    runs = [program.jaxpr.replace(eqns=eqns) for eqns in (now, again)]
    return ClosedJaxpr(runs[0], program.consts), ClosedJaxpr(runs[1], program.consts)


def split_body(program: ClosedJaxpr, keep: Keep) -> Split:
    """Inputs -> results, kept values; and kept values, inputs -> results."""
    now, again = looked_into(program, keep)
    inner = trimmed(again)[0].jaxpr
    kept = keep(inner)
    given = {*kept}
    eqns = [eqn for eqn in inner.eqns if given.isdisjoint(eqn.outvars)]
    rest = inner.replace(invars=[*kept, *inner.invars], eqns=eqns)
    known = now.jaxpr.replace(outvars=[*now.jaxpr.outvars, *kept])
    return Split(ClosedJaxpr(known, now.consts), ClosedJaxpr(rest, again.consts))


def cond_inside(eqn: JaxprEqn, keep: Keep) -> tuple[list[Var], JaxprEqn, JaxprEqn]:
    """What a choice keeps, with room for any branch; the choice now, and again."""
    index, *operands = eqn.invars
    number = len(eqn.outvars)
    splits = [split_body(branch, keep) for branch in eqn.params["branches"]]
    first, second = share_residuals(splits, number)
    kept = [Var(aval) for aval in first[0].out_avals[number:]]
    now = JaxprEqn(eqn.invars, [*eqn.outvars, *kept], cond_p, {"branches": tuple(first)})
    again = JaxprEqn([index, *kept, *operands], eqn.outvars, cond_p, {"branches": second})
    return kept, now, again


def scan_inside(eqn: JaxprEqn, keep: Keep) -> tuple[list[Var], JaxprEqn, JaxprEqn]:
    """What all steps of a loop keep, as rows; the loop now, and again."""
    loop, results = Scan(**eqn.params), range(len(eqn.outvars))
    first, second = split_body(loop.jaxpr, keep)
    kept = [Var(stacked(aval, loop.length)) for aval in first.out_avals[len(results) :]]
    rows_last = *range(len(kept), len(second.in_avals)), *range(len(kept))
    second = rearranged(second, rows_last, tuple(results))
    now, again = (vars(replace(loop, jaxpr=body)) for body in (first, second))
    return (
        kept,
        JaxprEqn(eqn.invars, [*eqn.outvars, *kept], scan_p, now),
        JaxprEqn([*eqn.invars, *kept], eqn.outvars, scan_p, again),
    )


rules = {cond_p: cond_inside, scan_p: scan_inside}
