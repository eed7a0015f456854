"""The types of a program that was split by what is known: a check of `split_jaxpr`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minijax.jaxpr import ClosedJaxpr, JaxprType, typecheck_jaxpr
from minijax.marks import chosen, opposite


def typecheck_partial_eval_jaxpr(
    jaxpr: ClosedJaxpr,
    is_known: Sequence[bool],
    out_known: Sequence[bool],
    first: ClosedJaxpr,
    second: ClosedJaxpr,
) -> None:
    """Check the types of the two programs into which `split_jaxpr` split one.

    The types of all three must fit: the first goes from the known inputs to the known outputs and
    the residuals, and the residuals are the first inputs of the second. `TypeError` otherwise.

    >>> from numpy import int8
    >>> from minijax.core import ShapedArray
    >>> from minijax.linearize import split_jaxpr
    >>> from minijax.tracing import trace_to_jaxpr
    >>> closed = trace_to_jaxpr(lambda x, y: [x * x * y], [ShapedArray((), int8(1).dtype)] * 2)
    >>> first, second, out_known = split_jaxpr(closed, (True, False), frozenset())
    >>> typecheck_partial_eval_jaxpr(closed, (True, False), out_known, first, second)
    >>> typecheck_partial_eval_jaxpr(closed, (True, False), out_known, second, first)
    Traceback (most recent call last):
    TypeError: The first program is (int8[], int8[]) -> (int8[]) and should be (int8[]) -> (int8[]).
    """
    whole, one = (type_without_consts(x) for x in (jaxpr, first))
    two = typecheck_jaxpr(second.jaxpr)  # which has no constants
    known_ins, known_outs = chosen(whole.in_types, is_known), chosen(whole.out_types, out_known)
    unknown_ins = chosen(whole.in_types, opposite(is_known))
    unknown_outs = chosen(whole.out_types, opposite(out_known))
    residuals = one.out_types[len(known_outs) :]
    for name, got, wanted in (
        ("first", one, JaxprType(known_ins, [*known_outs, *residuals])),
        ("second", two, JaxprType([*residuals, *unknown_ins], unknown_outs)),
    ):
        if shapes_and_dtypes(got) != shapes_and_dtypes(wanted):
            raise TypeError(f"The {name} program is {got} and should be {wanted}.")


def type_without_consts(program: ClosedJaxpr) -> JaxprType:
    ins, outs = typecheck_jaxpr(program.jaxpr)
    return JaxprType(ins[len(program.consts) :], outs)


def shapes_and_dtypes(program: JaxprType) -> list[Any]:
    return [[(t.shape, t.dtype) for t in types] for types in program]
