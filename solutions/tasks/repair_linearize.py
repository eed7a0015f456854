from minijax.jaxpr import Literal


def unzip(closed, is_known):
    """The program for now, the program for later, and which outputs are known."""
    jaxpr = closed.jaxpr
    flags = list(zip(jaxpr.invars, is_known, strict=True))
    known = {*jaxpr.constvars, *(var for var, flag in flags if flag)}
    now, later = [], []
    for eqn in jaxpr.eqns:
        if all(atom in known or isinstance(atom, Literal) for atom in eqn.invars):
            now.append(eqn)
            known.update(eqn.outvars)
        else:
            later.append(eqn)
    out_known = [atom in known or isinstance(atom, Literal) for atom in jaxpr.outvars]
    outs, rest = (
        [atom for atom, flag in zip(jaxpr.outvars, out_known, strict=True) if flag is wanted]
        for wanted in (True, False)
    )
    needed = dict.fromkeys([*(atom for eqn in later for atom in eqn.invars), *rest])
    residuals = [atom for atom in needed if atom in known]
    inputs = [var for var, flag in flags if flag], [var for var, flag in flags if not flag]
    first = Jaxpr(jaxpr.constvars, inputs[0], [*outs, *residuals], now)
    second = Jaxpr([], [*residuals, *inputs[1]], rest, later)
    return ClosedJaxpr(first, closed.consts), ClosedJaxpr(second, []), out_known
