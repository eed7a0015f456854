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
                results = [Var(x.aval) for x in eqn.outvars]  # a program may be called again
                yield eqn.replace(invars=renamed(eqn.invars), outvars=results)
                new.update(zip(eqn.outvars, results, strict=True))

    eqns = list(equations(jaxpr))
    return jaxpr.replace(eqns=eqns, outvars=renamed(jaxpr.outvars))
