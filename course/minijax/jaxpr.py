"""Jaxprs: programs as data, with a type for every variable.

A first cut: the data structure, its type checker, its evaluator, and a printer.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.core import (
    Primitive,
    ShapedArray,
    abstract_eval_rules,
    add_p,
    broadcast_in_dim_p,
    convert_element_type_p,
    cos_p,
    div_p,
    dot_general_p,
    exp_p,
    get_rule,
    gt_p,
    log_p,
    lt_p,
    mul_p,
    neg_p,
    reduce_sum_p,
    sin_p,
    sub_p,
    transpose_p,
)
from minijax.lax.basic import broadcast_shapes


@dataclass(eq=False)
class Var:
    """A variable: a place in a program, known by identity, with a type."""

    aval: ShapedArray


@dataclass(eq=False)
class Literal:
    """A 0-d constant that stands in the program itself."""

    val: Any
    aval: ShapedArray


Atom = Var | Literal


@dataclass(eq=False)
class JaxprEqn:
    """One line of a program: `outvars = primitive[params] invars`."""

    invars: list[Atom]
    outvars: list[Var]
    primitive: Primitive
    params: dict[str, Any]


@dataclass(eq=False)
class Jaxpr:
    """A program: constants and inputs, equations in order, and outputs."""

    constvars: list[Var]
    invars: list[Var]
    outvars: list[Atom]
    eqns: list[JaxprEqn]
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)  # what was derived from it

    def __str__(self) -> str:
        return print_jaxpr(self)


@dataclass(eq=False)
class ClosedJaxpr:
    """A program together with the values of its constants."""

    jaxpr: Jaxpr
    consts: list[Any]

    in_avals = property(lambda self: [v.aval for v in self.jaxpr.invars])
    out_avals = property(lambda self: [v.aval for v in self.jaxpr.outvars])
    eqns = property(lambda self: self.jaxpr.eqns)

    def __repr__(self) -> str:
        return str(self.jaxpr)

    __str__ = __repr__


def raise_to_shaped(aval: ShapedArray) -> ShapedArray:
    """The type of an abstract value: what it says besides a value."""
    return ShapedArray(aval.shape, aval.dtype, aval.weak_type)


def abstract_eval(
    primitive: Primitive, avals: Sequence[ShapedArray], params: Mapping[str, Any]
) -> list[ShapedArray]:
    """The types of the results of one operation, as a list in every case."""
    out = get_rule(abstract_eval_rules, primitive, "Abstract evaluation")(*avals, **params)
    return list(out) if primitive.multiple_results else [out]


# Type checking and evaluation -------------------------------------------------------------------


def typecheck_jaxpr(jaxpr: Jaxpr) -> None:
    """Raises `TypeError` where a variable is unbound or bound twice, or a type does not fit."""
    bound = set(jaxpr.constvars) | set(jaxpr.invars)

    def check(atom: Atom) -> ShapedArray:
        if isinstance(atom, Var) and atom not in bound:
            raise TypeError(f"Unbound variable of type {atom.aval} in a jaxpr.")
        return atom.aval

    for eqn in jaxpr.eqns:
        avals = abstract_eval(eqn.primitive, [check(x) for x in eqn.invars], eqn.params)
        for var, aval in zip(eqn.outvars, avals, strict=True):
            if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype) or var in bound:
                raise TypeError(f"{eqn.primitive} gives {aval}, but is bound to {var.aval}.")
            bound.add(var)
    for atom in jaxpr.outvars:
        check(atom)


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Run a program by binding its primitives, under whichever interpreters are active."""
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))

    def read(atom: Atom) -> Any:
        return atom.val if isinstance(atom, Literal) else env[atom]

    for eqn in jaxpr.eqns:
        outs = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
        env.update(
            zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs], strict=True)
        )
    return [read(atom) for atom in jaxpr.outvars]


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    return lambda *args: eval_jaxpr(closed.jaxpr, closed.consts, *args)


# Types of results -------------------------------------------------------------------------------


def binary_type(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    shape = broadcast_shapes("operation", x.shape, y.shape)
    return ShapedArray(shape, x.dtype, x.weak_type and y.weak_type)


def unary_type(x: ShapedArray) -> ShapedArray:
    return raise_to_shaped(x)


def comparison_type(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    return ShapedArray(binary_type(x, y).shape, np.dtype(bool))


def transpose_type(x: ShapedArray, *, permutation: tuple[int, ...]) -> ShapedArray:
    return ShapedArray(tuple(x.shape[i] for i in permutation), x.dtype, x.weak_type)


def dot_general_type(
    x: ShapedArray, y: ShapedArray, *, dimension_numbers: Any, preferred_element_type: Any
) -> ShapedArray:
    """Batch axes first, then what is left of `x`, then what is left of `y`."""
    (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
    if [x.shape[i] for i in x_contract] != [y.shape[i] for i in y_contract]:
        raise TypeError(f"dot_general contracts axes of different sizes, of {x} and {y}.")
    batch = [x.shape[i] for i in x_batch]
    rest = [n for i, n in enumerate(x.shape) if i not in (*x_contract, *x_batch)]
    rest += [n for i, n in enumerate(y.shape) if i not in (*y_contract, *y_batch)]
    return ShapedArray((*batch, *rest), np.dtype(preferred_element_type or x.dtype))


def reduce_sum_type(x: ShapedArray, *, axes: tuple[int, ...]) -> ShapedArray:
    shape = tuple(n for axis, n in enumerate(x.shape) if axis not in axes)
    return ShapedArray(shape, x.dtype, x.weak_type)


def broadcast_in_dim_type(
    x: ShapedArray, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]
) -> ShapedArray:
    return ShapedArray(shape, x.dtype, x.weak_type)


def convert_element_type_type(x: ShapedArray, *, new_dtype: Any, weak_type: bool) -> ShapedArray:
    return ShapedArray(x.shape, np.dtype(new_dtype), weak_type)


for _p in (add_p, sub_p, mul_p, div_p):
    abstract_eval_rules[_p] = binary_type
for _p in (gt_p, lt_p):
    abstract_eval_rules[_p] = comparison_type
for _p in (neg_p, sin_p, cos_p, exp_p, log_p):
    abstract_eval_rules[_p] = unary_type
abstract_eval_rules[transpose_p] = transpose_type
abstract_eval_rules[dot_general_p] = dot_general_type
abstract_eval_rules[reduce_sum_p] = reduce_sum_type
abstract_eval_rules[broadcast_in_dim_p] = broadcast_in_dim_type
abstract_eval_rules[convert_element_type_p] = convert_element_type_type


# Printing ---------------------------------------------------------------------------------------


def variable_names() -> Iterator[str]:
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            yield "".join(letters)


def print_jaxpr(jaxpr: Jaxpr) -> str:
    """The program as text, in JAX's syntax."""
    fresh, names = variable_names(), dict[Var, str]()

    def typed(var: Var) -> str:
        names[var] = next(fresh)
        return f"{names[var]}:{var.aval}"

    def atom(x: Atom) -> str:
        return names[x] if isinstance(x, Var) else f"{x.val}:{x.aval}"

    def equation(eqn: JaxprEqn) -> str:
        operands = " ".join(atom(x) for x in eqn.invars)
        params = " ".join(f"{k}={show_param(v)}" for k, v in sorted(eqn.params.items()))
        outs = " ".join(typed(v) for v in eqn.outvars)
        return f"{outs} = {eqn.primitive}{f'[{params}]' if params else ''} {operands}"

    consts, inputs = (" ".join(map(typed, vs)) for vs in (jaxpr.constvars, jaxpr.invars))
    lines = [equation(eqn) for eqn in jaxpr.eqns]
    outs = f"({', '.join(map(atom, jaxpr.outvars))}{',' * (len(jaxpr.outvars) == 1)})"
    body = f" {lines[0]} " if len(lines) == 1 else "".join(f"\n    {x}" for x in lines) + "\n  "
    return f"{{ lambda {consts}; {inputs}. let{body if lines else ' '}in {outs} }}"


def show_param(value: Any) -> str:
    return dtypes.canonical(value).name if isinstance(value, (np.dtype, type)) else str(value)
