"""Call primitives: operations that have programs among their parameters, and what they share.

A call may use axes that have names. Its type rule looks at the program's inputs and outputs, and
other rules make new programs, each cached on the one that it was made from.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from minijax.axis_env import AxisPrimitive, axis_env
from minijax.core import ShapedArray, Value, bind
from minijax.jaxpr import ClosedJaxpr, Jaxpr, inner_jaxprs, kept, kept_beside
from minijax.tracing import trace_to_jaxpr


class CallPrimitive(AxisPrimitive):
    """A primitive with programs among its parameters, which may use axes that have names."""

    def names(self, params: dict[str, Any]) -> frozenset[Hashable]:
        names = frozenset(name for jaxpr in inner_jaxprs(params) for name in names_in(jaxpr))
        return names - {params.get("axis_name")}

    def bind(self, *args: Value, **params: Any) -> Value:
        """An ordinary `bind`, unless there are names that the programs could use."""
        return super().bind(*args, **params) if axis_env.frames else bind(self, *args, **params)


@kept_beside
def names_in(jaxpr: Jaxpr) -> frozenset[Hashable]:
    """The names that a program uses."""
    uses = [eqn for eqn in jaxpr.eqns if isinstance(eqn.primitive, AxisPrimitive)]
    names = (eqn.primitive.names(eqn.params) for eqn in uses)  # type: ignore[attr-defined]
    return frozenset(itertools.chain.from_iterable(names))


def jit_type(*avals: ShapedArray, name: str, jaxpr: ClosedJaxpr) -> list[ShapedArray]:
    """The types of the results of a call: the types of the program's outputs.

    The operands must have the shapes and dtypes of the program's inputs (else `TypeError`).

    >>> import numpy as np
    >>> f64 = ShapedArray((), np.dtype("float64"))
    >>> compare = trace_to_jaxpr(lambda x, y: [x < y, x], [f64, f64])
    >>> [str(aval) for aval in jit_type(f64, f64, name="compare", jaxpr=compare)]
    ['bool[]', 'float64[]']
    >>> jit_type(f64, name="compare", jaxpr=compare)
    Traceback (most recent call last):
    TypeError: compare takes (float64[], float64[]) and is called with (float64[])
    """
    given, wanted = ([(a.shape, a.dtype) for a in types] for types in (avals, jaxpr.in_avals))
    if given != wanted:
        takes, gets = (", ".join(map(str, types)) for types in (jaxpr.in_avals, avals))
        raise TypeError(f"{name} takes ({takes}) and is called with ({gets})")
    return jaxpr.out_avals


# Programs made from others ---------------------------------------------------------------------


# A call primitive with one inner program has rules that make a new program, and call it. For two
# such primitives, these rules differ only in how they call it: `rebind` does that.
Rebind = Callable[[ClosedJaxpr, Sequence[Any]], list[Any]]


@kept_beside
def without_consts(jaxpr: Jaxpr) -> Jaxpr:
    """The program with its constants as inputs, before the others."""
    return Jaxpr([], [*jaxpr.constvars, *jaxpr.invars], jaxpr.outvars, jaxpr.eqns)


def derived(jaxpr: ClosedJaxpr, key: Any, f: Any, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """A program made from another and cached on it, so that it is made (and compiled) once."""
    return kept(jaxpr, key, lambda: trace_to_jaxpr(f, avals))
