"""`select_n`: for each element one of several cases, with all its rules."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax.core import (
    Primitive,
    ShapedArray,
    Tangent,
    UndefPrimal,
    Value,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    not_mapped,
    transpose_rules,
    vmap_rules,
    weak_operands,
)
from minijax.jaxpr import Literal
from minijax.jvp import stretch_like
from minijax.lax.defining import all_in_front, emit_operation, together_jvp, zeros_like
from minijax.lowering import Emitter, comparison_hlo, emit_literal
from minijax.vmap import align_operand

__all__ = ["select", "select_n", "select_n_p"]


# Choosing: select_n and clamp ---------------------------------------------------------------------

select_n_p = Primitive("select_n")


def select_n(which: Any, *cases: Any) -> Any:
    """For each element the case that `which` names: by False or True, or by its number.

    `which` is 0-d, or has the shape of the cases, which share shape and dtype. A number that is too
    small names the first case, one that is too large the last.
    """
    avals, choice = [get_aval(x) for x in cases], get_aval(which)
    if not cases:
        raise ValueError("select_n() must have at least one case.")
    if len({(aval.shape, aval.dtype) for aval in avals}) != 1:
        raise TypeError(f"select cases must have one shape and dtype, got {[*map(str, avals)]}.")
    if choice.dtype.name not in ("bool", "int32", "int64"):
        raise TypeError(f"select `which` must be boolean or int32, not {choice.dtype.name}.")
    if choice.dtype.kind == "b" and len(cases) > 2:
        raise TypeError("select with boolean `which` takes two cases.")
    if choice.shape not in ((), avals[0].shape):
        raise TypeError(f"select `which` must be 0-d or have shape {avals[0].shape}.")
    return select_n_p.bind(which, *cases)


def select(pred: Value, on_true: Value, on_false: Value) -> Value:
    """`on_true` where `pred` holds, and `on_false` elsewhere."""
    return select_n(pred, on_false, on_true)


def select_n_impl(which: Any, *cases: Any) -> Any:
    which = np.clip(np.asarray(which, np.intp), 0, len(cases) - 1)
    which = np.broadcast_to(which, np.shape(cases[0]))
    stacked = np.stack([np.asarray(case) for case in cases])
    return np.take_along_axis(stacked, which[None], 0)[0]


def select_n_batch(axis_size: int, vals: Sequence[Any], dims: Sequence[Any]) -> tuple[Any, int]:
    """Batched cases under one 0-d `which` need no more; else `which` gets the cases' full shape."""
    (which, *cases), (which_dim, *case_dims) = vals, dims
    moved = all_in_front(axis_size, cases, case_dims)
    if which_dim is not_mapped and not get_aval(which).shape:
        return select_n(which, *moved), 0
    shape = get_aval(moved[0]).shape
    which = align_operand(axis_size, which_dim, which, len(shape) - 1)
    return select_n(stretch_like(which, moved[0]), *moved), 0


def select_n_type(which: ShapedArray, *cases: ShapedArray) -> ShapedArray:
    weak = all(case.weak_type for case in cases)
    return ShapedArray(cases[0].shape, cases[0].dtype, weak)


def select_n_transpose(ct: Tangent, which: Any, *cases: Any) -> list[Value]:
    """Each case gets the cotangent where it was chosen, and zero elsewhere."""
    zero = zeros_like(ct)

    def part(number: int) -> Any:
        return select_n(which, *(ct if i == number else zero for i in range(len(cases))))

    linear = [isinstance(case, UndefPrimal) for case in cases]
    return [None, *(part(i) if is_linear else None for i, is_linear in enumerate(linear))]


def select_n_hlo(emitter: Emitter, avals: Any, out_avals: Any, args: Any) -> list[str]:
    """StableHLO has a choice between two; an integer goes through several of them."""
    which, out, *others = args
    for number, case in enumerate(others, 1):
        chosen, choice = which, avals[0]
        if avals[0].dtype.kind != "b":
            bound = emit_literal(emitter, Literal(number, ShapedArray((), avals[0].dtype)))
            choice = ShapedArray(avals[0].shape, np.dtype(bool))
            operands = [avals[0], ShapedArray((), avals[0].dtype)]
            (chosen,) = comparison_hlo("GE")(emitter, operands, [choice], [which, bound])
        types = [choice, avals[1], avals[1]]
        (out,) = emit_operation(emitter, "select", [chosen, case, out], types, out_avals)
    return [out]


impl_rules[select_n_p] = select_n_impl
weak_operands[select_n_p] = slice(1, None)
jvp_rules[select_n_p] = functools.partial(together_jvp, select_n_p, slice(1, None))
vmap_rules[select_n_p] = select_n_batch
abstract_eval_rules[select_n_p] = select_n_type
transpose_rules[select_n_p] = select_n_transpose
hlo_lowerings[select_n_p] = select_n_hlo
