"""Typed programs in `microjax.stackless`: the interpreter that writes them down, and the way back.

Programs are minijax's data. What is an input or the result of an operation here is a variable,
every other value a constant, and nothing is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from minijax import core
from minijax.core import Primitive, ShapedArray, UndefPrimal, get_aval
from minijax.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, abstract_eval, raise_to_shaped
from minijax.tracing import without_equation
from minijax.tree import PyTreeDef, tree_flatten, tree_unflatten

from microjax.contexts import Fun, Interpreter, Tracer, bind, running
from microjax.flat import types_of


class Staged(Tracer):
    """A variable of the program that is being written; only its type is known."""

    def __init__(self, interpreter: Interpreter, atom: Any) -> None:
        self.interpreter, self.atom, self.aval = interpreter, atom, atom.aval


class StagingInterpreter(Interpreter):
    """Computes nothing, and writes every operation down. It needs no previous interpreter."""

    def __init__(self) -> None:
        self.eqns: list[JaxprEqn] = []
        self.consts: dict[int, tuple[Var, Any, Any]] = {}  # by identity: variable, value, copy

    def atom(self, x: Any) -> Any:
        """What stands for `x` in the program: a variable, or a literal for a known 0-d value."""
        if self.owns(x):
            return x.atom
        aval = raise_to_shaped(get_aval(x))
        if not aval.shape and not isinstance(x, Tracer):
            return Literal(np.asarray(x), aval)
        copy = np.array(x) if isinstance(x, np.ndarray) else x  # the user may change x later
        return self.consts.setdefault(id(x), (Var(aval), x, copy))[0]

    def interpret_op(self, primitive: Primitive, args: Sequence[Any], params: Any) -> Any:
        atoms = [self.atom(x) for x in args]
        avals = abstract_eval(primitive, [atom.aval for atom in atoms], params)
        if primitive in (core.broadcast_in_dim_p, core.convert_element_type_p):
            unchanged = without_equation(primitive, atoms[0], avals[0], params)
            if unchanged is not None:
                return Staged(self, unchanged)
        outvars = [Var(aval) for aval in avals]
        self.eqns.append(JaxprEqn(atoms, outvars, primitive, params))
        outs = [Staged(self, var) for var in outvars]
        return outs if primitive.multiple_results else outs[0]

    def run(self, f: Fun, avals: Sequence[ShapedArray]) -> tuple[ClosedJaxpr, Any]:
        """The program of `f` for inputs of these types, and what `f` returns beside its results."""
        invars = [Var(raise_to_shaped(aval)) for aval in avals]
        with running(self):
            outs, info = f(*(Staged(self, var) for var in invars))
            outvars = [self.atom(out) for out in outs]
        constvars = [var for var, _, _ in self.consts.values()]
        jaxpr = Jaxpr(constvars, invars, outvars, self.eqns)
        return ClosedJaxpr(jaxpr, [copy for _, _, copy in self.consts.values()]), info


def stage_tree(fun: Fun, args: Sequence[Any]) -> tuple[ClosedJaxpr, PyTreeDef]:
    """The program of `fun` for arguments like `args`, and the structure of its result."""
    leaves, in_tree = tree_flatten(tuple(args))
    return StagingInterpreter().run(
        lambda *xs: tree_flatten(fun(*tree_unflatten(in_tree, xs))), types_of(leaves)
    )


def make_jaxpr(fun: Fun) -> Fun:
    """A function that returns the program of `fun`. Counterpart: `jax.make_jaxpr`.

    >>> from microjax.contexts import lax
    >>> make_jaxpr(lambda x: lax.sin(x) * 2.0)(3.0)
    { lambda ; a:f64[]. let b:f64[] = sin a; c:f64[] = mul b 2.0:f64[] in (c,) }
    """
    return lambda *args: stage_tree(fun, args)[0]


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Run a program: every equation goes to the current interpreter."""
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
    for eqn in jaxpr.eqns:
        outs = bind(eqn.primitive, *(value_of(x, env) for x in eqn.invars), **eqn.params)
        outs = outs if eqn.primitive.multiple_results else [outs]
        env.update(zip(eqn.outvars, outs, strict=True))
    return [value_of(x, env) for x in jaxpr.outvars]


def value_of(atom: Any, env: dict[Var, Any]) -> Any:
    """What stands for an atom; a variable that has no value is a linear one."""
    return atom.val if isinstance(atom, Literal) else env.get(atom, UndefPrimal(atom.aval))
