"""Inlined calls.

`inline(jaxpr)` removes the calls from a program: it replaces each call with the equations of the
program that is called. The result is often right, and sometimes wrong. Like the old program, the
new one must pass `typecheck_jaxpr`, and the two must compute the same results. Repair it.
"""

from minijax.core import Primitive, abstract_eval_rules, impl_rules
from minijax.jaxpr import Literal, Var, eval_jaxpr

call_p = Primitive("call", multiple_results=True)  # runs the program that is its parameter
impl_rules[call_p] = lambda *args, jaxpr: eval_jaxpr(jaxpr, [], *args)
abstract_eval_rules[call_p] = lambda *avals, jaxpr: [x.aval for x in jaxpr.outvars]


def inline(jaxpr):
    """The program without calls. The programs that it calls have no constants."""
    new = {}  # what replaces a variable

    def renamed(atoms):
        return [x if isinstance(x, Literal) else new.get(x, x) for x in atoms]

    def equations(jaxpr):
        for eqn in jaxpr.eqns:
            if eqn.primitive is call_p:
                inner = eqn.params["jaxpr"]
                new.update(zip(inner.invars, renamed(eqn.invars), strict=True))
                yield from equations(inner)
                new.update(zip(eqn.outvars, renamed(inner.outvars), strict=True))
            else:
                yield eqn.replace(invars=renamed(eqn.invars))

    eqns = list(equations(jaxpr))
    return jaxpr.replace(eqns=eqns, outvars=renamed(jaxpr.outvars))
