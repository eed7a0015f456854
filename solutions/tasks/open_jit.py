"""A compiler of your own, in NumPy."""

import itertools
import math

import numpy as np

from minijax import core
from minijax.core import get_aval, impl_rules
from minijax.jaxpr import Literal, raise_to_shaped
from minijax.tracing import trace_tree
from minijax.tree import tree_flatten, tree_unflatten

ELEMENTWISE = {
    *(core.neg_p, core.sin_p, core.cos_p, core.exp_p, core.log_p, core.convert_element_type_p),
    *(core.add_p, core.sub_p, core.mul_p, core.div_p, core.gt_p, core.lt_p),
}
BLOCK = 1 << 12  # numbers: dozens of such blocks fit into the processor's cache


def fused(f):
    """`f`, computed by NumPy, its elementwise chains block by block."""
    programs = {}

    def run(*args):
        leaves, tree = tree_flatten(args)
        key = (tree, *(raise_to_shaped(get_aval(x)) for x in leaves))
        if key not in programs:
            closed, out_tree = trace_tree(f, args)
            programs[key] = closed, out_tree, parts(closed.jaxpr)
        closed, out_tree, steps = programs[key]
        return tree_unflatten(out_tree, execute(closed, steps, leaves))

    return run


def parts(jaxpr):
    """The program in parts: the shape of a chain or None, its equations, what is needed later."""
    found, needed = [], set(jaxpr.outvars)
    for shape, part in reversed([(s, [*eqns]) for s, eqns in itertools.groupby(jaxpr.eqns, chain)]):
        results = [var for eqn in part for var in eqn.outvars]
        found.append((shape, part, [var for var in results if var in needed]))
        needed.update(x for eqn in part for x in eqn.invars)
    return found[::-1]


def chain(eqn):
    """The shape of the chain that an equation can be part of, or None."""
    return eqn.outvars[0].aval.shape or None if eqn.primitive in ELEMENTWISE else None


@np.errstate(all="ignore")
def execute(closed, steps, leaves):
    """The outputs of a program, part by part."""
    env = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    env.update(zip(closed.jaxpr.invars, leaves, strict=True))
    env = {var: np.asarray(value, var.aval.dtype) for var, value in env.items()}
    for shape, eqns, needed in steps:
        if shape is None:
            one_by_one(eqns, env)
        else:
            env.update(in_blocks(eqns, env, shape, needed))
    return [value_of(env, atom) for atom in closed.jaxpr.outvars]


def in_blocks(eqns, env, shape, needed):
    """What is needed later of a chain: the only arrays that exist as a whole."""
    outs = {var: np.empty(shape, var.aval.dtype) for var in needed}
    used = {x for eqn in eqns for x in eqn.invars if x in env}
    whole = {var: np.broadcast_to(env[var], shape) for var in used}
    step = max(1, BLOCK // max(1, math.prod(shape[1:])))
    for start in range(0, shape[0], step):
        rows = slice(start, start + step)
        block = {var: x[rows] for var, x in whole.items()}
        one_by_one(eqns, block)
        for var, out in outs.items():
            out[rows] = block[var]
    return outs


def one_by_one(eqns, env):
    """Compute equations by the evaluation rules of their primitives, which are NumPy's."""
    for eqn in eqns:
        operands = [value_of(env, x) for x in eqn.invars]
        outs = impl_rules[eqn.primitive](*operands, **eqn.params)
        env.update(
            zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs], strict=True)
        )


def value_of(env, atom):
    """The value of an atom, of the dtype that the program says."""
    return np.asarray(atom.val, atom.aval.dtype) if isinstance(atom, Literal) else env[atom]
