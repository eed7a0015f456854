"""Which rule is wrong?"""

import numpy as np

from minijax.core import UndefPrimal, transpose_rules
from minijax.jaxpr import apply_equation, read
from minijax.linearize import linearize_flat


def guilty(f, *xs):
    """The names of the primitives whose transpose rule is wrong in the derivative of `f`.

    Each equation is a linear map of its own, so it has to fulfill the law of the transpose alone:
    what its results count for, as they are, is what its linear operands count for.
    """
    _, program = linearize_flat(lambda *xs: [f(*xs)], xs, lambda: 1)
    rng = np.random.default_rng(0)
    env = dict(zip(program.jaxpr.constvars, program.consts, strict=True))
    env.update((var, random_like(rng, var.aval)) for var in program.jaxpr.invars)
    linear = set(program.jaxpr.invars)
    names = set()
    for eqn in program.eqns:
        operands = [read(env, atom) for atom in eqn.invars]
        (out,) = apply_equation(eqn, operands)
        env.update(zip(eqn.outvars, [out], strict=True))
        flags = [atom in linear for atom in eqn.invars]
        if any(flags):
            linear.update(eqn.outvars)
            if not lawful(eqn, operands, flags, out, random_like(rng, eqn.outvars[0].aval)):
                names.add(eqn.primitive.name)
    return names


def random_like(rng, aval):
    """Numbers that no coincidence makes equal."""
    return rng.normal(size=aval.shape).astype(aval.dtype)


def lawful(eqn, operands, flags, out, ct):
    """Does the rule of an equation count its linear operands as `ct` counts the result?"""
    undefs = [
        UndefPrimal(atom.aval) if flag else x
        for atom, x, flag in zip(eqn.invars, operands, flags, strict=True)
    ]
    try:
        cts = transpose_rules[eqn.primitive](ct, *undefs, **eqn.params)
        pairs = [(x, c) for x, c, flag in zip(operands, cts, flags, strict=True) if flag]
        counted = sum(inner(x, c) for x, c in pairs if c is not None)
    except Exception:
        return False
    return np.isclose(counted, inner(out, ct), rtol=1e-3)


def inner(x, ct):
    """How much `x` counts in all; `ct` must have its shape."""
    x, ct = np.asarray(x), np.asarray(ct)
    if x.shape != ct.shape:
        raise ValueError(f"{ct.shape} is not the shape {x.shape}")
    return np.sum(x * ct)
