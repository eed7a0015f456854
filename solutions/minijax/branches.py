"""`cond` and `switch`: a choice as an operation, and the rules that are not exercises.

Both functions trace their branches and bind `cond_p`. `control_flow.py` has the other rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax.core import (
    ShapedArray,
    UndefPrimal,
    Value,
    Values,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    not_mapped,
    partial_eval_rules,
    transpose_rules,
)
from minijax.jaxpr import ClosedJaxpr, jaxpr_as_fun, kept_beside
from minijax.jit import CallPrimitive, lower_body
from minijax.jvp import instantiate
from minijax.lax.basic import convert_element_type
from minijax.lax.elementwise import clamp
from minijax.linearize import PartialEvalTrace, PartialEvalTracer
from minijax.lowering import Emitter, result_names, tensor_type
from minijax.marks import chosen, filled, groups, mapped, opposite
from minijax.programs import (
    Split,
    Types,
    agreed,
    are_unknown,
    batched_program,
    check_branches,
    check_same,
    front_or_none,
    handed_through,
    known_values,
    own_array,
    share_consts,
    split_program,
    spread,
    to_front,
    trace_part,
    types_of,
    with_results,
    zeros,
)
from minijax.tracing import trace_to_jaxpr
from minijax.transpose import transposed_jaxpr
from minijax.tree import tree_flatten, tree_unflatten
from minijax.vmap import move_batch_axis

__all__ = ["cond", "switch"]


Function = Callable[..., Any]
Branches = Sequence[ClosedJaxpr]
Tracers = Sequence[PartialEvalTracer]
ValuesAndAxes = tuple[list[Any], list[Any]]

# cond and switch --------------------------------------------------------------------------------

cond_p = CallPrimitive("cond", multiple_results=True)


def cond(pred: Value, true_fun: Function, false_fun: Function, *operands: Value) -> Value:
    """`true_fun(*operands)` if `pred` holds, otherwise `false_fun(*operands)`.

    Both functions are traced. Their results must have the same structure and types (`TypeError`);
    one of them is computed. `pred` is a 0-d boolean, or a number, of which only 0 counts as false.
    Counterpart: `jax.lax.cond`, whose argument `operand` is not supported.

    >>> print(cond(3.0 > 2.0, lambda x: x + 1.0, lambda x: x - 1.0, 10.0))
    11.0
    """
    if not callable(true_fun) or not callable(false_fun):
        raise TypeError("lax.cond: true_fun and false_fun arguments should be callable.")
    if pred is None:
        raise TypeError("cond predicate is None")
    aval = get_aval(pred)
    if aval.shape:
        raise TypeError(f"Pred must be a scalar, got an array of shape {aval.shape}.")
    leaves, tree = tree_flatten(operands)
    parts = [trace_part(f, tree, types_of(leaves)) for f in (true_fun, false_fun)]
    check_branches("cond", ["true_fun", "false_fun"], parts)
    (true, false), consts = share_consts([part.program for part in parts])
    index = convert_element_type(pred if aval.dtype == bool else pred != 0, np.int32)
    return tree_unflatten(parts[0].tree, choose(index, [false, true], [*consts, *leaves]))


def switch(index: Value, branches: Sequence[Function], *operands: Value) -> Value:
    """`branches[index](*operands)`; an index outside counts as the first or the last one.

    As `cond`, with any number of branches. Counterpart: `jax.lax.switch`, whose argument `operand`
    is not supported.

    >>> print(switch(2, [lambda x: x, lambda x: x * 10.0, lambda x: x * 100.0], 7.0))
    700.0
    """
    if not all(map(callable, branches)):
        raise TypeError("lax.switch: branches argument should be a sequence of callables.")
    aval = get_aval(index)
    if aval.shape:
        raise TypeError(f"Branch index must be scalar, got {index} of shape {aval.shape}.")
    if aval.dtype.kind not in "iu":
        raise TypeError(f"Index type must be an integer, got {index} as {aval.dtype}.")
    if not branches:
        raise ValueError("Empty branch sequence")
    if len(branches) == 1:
        return branches[0](*operands)
    leaves, tree = tree_flatten(operands)
    parts = [trace_part(f, tree, types_of(leaves)) for f in branches]
    check_branches("switch", [f"branch {i}" for i in range(len(parts))], parts)
    programs, consts = share_consts([part.program for part in parts])
    last = np.int32(len(branches) - 1)
    index = clamp(np.int32(0), convert_element_type(index, np.int32), last)
    return tree_unflatten(parts[0].tree, choose(index, programs, [*consts, *leaves]))


def choose(index: Value, programs: Branches, inputs: Values) -> list[Value]:
    """Bind `cond_p`, except for results that all branches hand through from the same input."""
    columns = zip(*map(handed_through, programs), strict=True)
    sources = [column[0] if len(set(column)) == 1 else None for column in columns]
    computed = [i for i, source in enumerate(sources) if source is None]
    branches = tuple(with_results(program, computed) for program in programs)
    outs = iter(cond_p.bind(index, *inputs, branches=branches))
    return [next(outs) if source is None else own_array(inputs[source]) for source in sources]


def bind_cond(index: Value, programs: Branches, operands: Values) -> list[Value]:
    """Bind `cond_p`; the constants of the programs become the first operands."""
    branches, consts = share_consts(programs)
    return cond_p.bind(index, *consts, *operands, branches=tuple(branches))


# cond: batching ---------------------------------------------------------------------------------


def cond_batch(
    select: Callable[..., ValuesAndAxes],
    axis_size: int,
    vals: Values,
    dims: Values,
    *,
    branches: Branches,
) -> ValuesAndAxes:
    """One index for all examples: one branch, for batches. Else every example has its own.

    `select` is the exercise `select_branches`, for examples that each have their own.
    """
    (index, *operands), (index_dim, *dims) = vals, dims
    if index_dim is not not_mapped:
        index = move_batch_axis(axis_size, index_dim, 0, index)
        return select(axis_size, index, operands, dims, branches)
    batched = mapped(dims)
    programs, out_batched = agreed(
        lambda b, need: batched_program(b, axis_size, batched, need), branches
    )
    outs = bind_cond(index, programs, to_front(axis_size, operands, dims, batched))
    return outs, front_or_none(out_batched)


# cond: partial evaluation, transposition --------------------------------------------------------


def cond_partial_eval(
    trace: PartialEvalTrace, tracers: Tracers, *, branches: Branches
) -> list[Any]:
    """Choose among the known parts now, and among the rests, with the same index, later."""
    index, *operands = tracers
    if not index.pval.is_known:
        return trace.stage_out(cond_p, tracers, {"branches": branches})
    marks = are_unknown(operands)
    splits, out_unknown = agreed(lambda b, need: split_program(b, marks, need), branches)
    number = out_unknown.count(False)
    known, rests = share_residuals(splits, number)
    outs, residuals = groups(bind_cond(index.pval.const, known, known_values(operands)), number)
    later = [index, *map(trace.pure, residuals), *chosen(operands, marks)]
    return filled(out_unknown, trace.stage_out(cond_p, later, {"branches": rests}), outs)


def share_residuals(splits: Sequence[Split], number: int) -> tuple[Branches, Branches]:
    """The parts of all branches with one list of residuals; `number` results come before them."""
    slots, places = residual_slots([split.known.out_avals[number:] for split in splits])
    pairs = list(zip(splits, places, strict=True))
    known = [fill_slots(split.known, number, slots, mine) for split, mine in pairs]
    return known, tuple(spread(split.rest, slots, mine) for split, mine in pairs)


def residual_slots(
    types_of_branches: Sequence[Types],
) -> tuple[tuple[ShapedArray, ...], list[tuple[int, ...]]]:
    """One list of types with room for those of any branch; and the places of each branch's in it.

    >>> a, b = (ShapedArray((n,), np.dtype(float)) for n in (1, 2))
    >>> slots, places = residual_slots([[a, b], [b, b]])
    >>> print(*slots, places)
    float64[1] float64[2] float64[2] [(0, 1), (1, 2)]
    """
    slots: list[ShapedArray] = []
    places = []
    for types in types_of_branches:
        free, mine = dict(enumerate(slots)), []
        for aval in types:
            place = next((i for i, slot in free.items() if slot == aval), len(slots))
            if place == len(slots):
                slots.append(aval)
            free.pop(place, None)
            mine.append(place)
        places.append(tuple(mine))
    return tuple(slots), places


@kept_beside
def fill_slots(known: ClosedJaxpr, number: int, slots: Types, places: Sequence[int]) -> ClosedJaxpr:
    """The known part of a branch, with zeros for the residuals of other branches."""

    def with_all_slots(*args: Value) -> list[Value]:
        outs, residuals = groups(jaxpr_as_fun(known)(*args), number)
        mine = dict(zip(places, residuals, strict=True))
        return [*outs, *(mine[i] if i in mine else zeros(aval) for i, aval in enumerate(slots))]

    return trace_to_jaxpr(with_all_slots, known.in_avals)


def cond_transpose(cts: Values, index: Value, *operands: Value, branches: Branches) -> list[Value]:
    """The branch that was taken runs backwards."""
    linear = tuple(isinstance(x, UndefPrimal) for x in operands)
    programs = [transposed_jaxpr(branch, linear) for branch in branches]
    full_cts = map(instantiate, cts, branches[0].out_avals)
    outs = bind_cond(index, programs, [*chosen(operands, opposite(linear)), *full_cts])
    return [None, *filled(linear, outs)]


# cond: types, lowering --------------------------------------------------------------------------

BOOLEAN, INDEX = (ShapedArray((), np.dtype(kind)) for kind in ("bool", "int32"))


def cond_type(index: ShapedArray, *operands: ShapedArray, branches: Branches) -> Types:
    check_same("the index", [index], [INDEX])
    for number, branch in enumerate(branches):
        check_same(f"the operands of branch {number}", operands, branch.in_avals)
        check_same(f"the results of branch {number}", branch.out_avals, branches[0].out_avals)
    return branches[0].out_avals


def cond_hlo(
    emitter: Emitter, avals: Types, out_avals: Types, args: Sequence[str], *, branches: Branches
) -> list[str]:
    """`stablehlo.case`: a region for each branch, which reads the operands from outside."""
    if not out_avals:
        return []
    index, *operands = args
    name = emitter.emit(f'"stablehlo.case"({index}) ({{', len(out_avals))
    for number, branch in enumerate(branches):
        if number:
            emitter.lines.append("    }, {")
        emit_end_of_region(emitter, branch, operands)
    types = ", ".join(map(tensor_type, out_avals))
    emitter.lines.append(f"    }}) : ({tensor_type(avals[0])}) -> ({types})")
    return result_names(name, len(out_avals))


def emit_end_of_region(emitter: Emitter, program: ClosedJaxpr, args: Sequence[str]) -> None:
    """The equations of a program, and its results as the end of a region."""
    outs = lower_body(emitter, program.jaxpr, args, program.consts)
    types = ", ".join(map(tensor_type, program.out_avals))
    emitter.lines.append(f"    stablehlo.return {', '.join(outs)} : {types}")


partial_eval_rules[cond_p] = cond_partial_eval
transpose_rules[cond_p] = cond_transpose
abstract_eval_rules[cond_p] = cond_type
hlo_lowerings[cond_p] = cond_hlo
