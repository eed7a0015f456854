"""Control flow that is traced: `cond`, `switch`, `while_loop`, `fori_loop` and `scan`.

Python's `if` and `for` run while a function is traced: the program holds the one branch that was
taken, and the body of a loop as often as it ran. Here a choice and a loop are operations. Their
branches and bodies are programs, traced once, and parameters of the equation, as in `jit`.

All rules have one shape: transform the inner programs (`minijax/programs.py` says how), and bind
the same primitive with the new ones. The rules differ in which results get a tangent, or a batch
axis, or count as unknown: branches must agree on it, and the carry of a loop must come out of a
step as it went in.

What a branch or a body captures becomes operands: the constants of an inner program are its first
inputs. The primitives' names and parameters are JAX's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from minijax import dtypes
from minijax.core import (
    ConcreteArray,
    ShapedArray,
    Tracer,
    UndefPrimal,
    Value,
    Values,
    abstract_eval_rules,
    add_p,
    convert_element_type_p,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    not_mapped,
    partial_eval_rules,
    transpose_rules,
    vmap_rules,
)
from minijax.errors import ConcretizationTypeError
from minijax.jaxpr import ClosedJaxpr, jaxpr_as_fun, kept_beside, raise_to_shaped
from minijax.jit import CallPrimitive, lower_body, tensor_type
from minijax.jvp import instantiate
from minijax.lax.basic import add, broadcast_in_dim, convert_element_type, lt
from minijax.lax.dynamic import dynamic_slice_p, dynamic_update_slice_p
from minijax.lax.elementwise import clamp, eq, select, select_n, stop_gradient
from minijax.lax.reductions import reduce_or
from minijax.lax.shapes import expand_dims, squeeze
from minijax.linearize import PartialEvalTrace, PartialEvalTracer
from minijax.lowering import Emitter
from minijax.marks import Marks, chosen, filled, groups, mapped, moving, opposite
from minijax.programs import (
    Part,
    Split,
    Types,
    agreed,
    are_unknown,
    as_array,
    batched_program,
    beside,
    check_branches,
    check_carry_tree,
    check_carry_types,
    check_same,
    evaluate_compiled,
    fixed_to_consts,
    front_or_none,
    full_tangents,
    handed_through,
    hoisted,
    jvp_program,
    kept_for,
    known_values,
    own_array,
    rearranged,
    share_consts,
    split_program,
    spread,
    stacked,
    to_front,
    trace_part,
    types_of,
    with_results,
    with_unread,
    zeros,
)
from minijax.tracing import trace_to_jaxpr
from minijax.transpose import transposed_jaxpr
from minijax.tree import PyTreeDef, tree_flatten, tree_unflatten
from minijax.vmap import move_batch_axis

__all__ = ["cond", "cond_p", "fori_loop", "scan", "scan_p", "switch", "while_loop", "while_p"]

Function = Callable[..., Any]
Branches = Sequence[ClosedJaxpr]
Tracers = Sequence[PartialEvalTracer]
ValuesAndTangents = tuple[list[Any], list[Any]]
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


# cond: evaluation, differentiation, batching ----------------------------------------------------


def cond_impl(index: Value, *operands: Value, branches: Branches) -> list[Value]:
    """The results of the branch that `index` names. No other branch runs.

    `index` is a 0-d int32 array, not a tracer. Every branch takes all `operands`. A Python number
    that a branch hands through becomes an array, weakly typed as the number is.

    >>> number = [ShapedArray((), np.dtype(float))]
    >>> double, square = (trace_to_jaxpr(f, number) for f in (lambda x: [x * 2], lambda x: [x * x]))
    >>> print(*cond_impl(np.array(1, np.int32), 5.0, branches=(double, square)))
    25.0
    """
    # Toolbox:
    # - jaxpr_as_fun(program): the program as a function, from its operands to the list of its
    #   results
    # - as_array(x): a Python number as a weakly typed array; all else as it is
    # TODO(control.cond_eval): return the results of one branch, as arrays.
    raise NotImplementedError("control.cond_eval")


def cond_jvp(primals: Values, tangents: Values, *, branches: Branches) -> ValuesAndTangents:
    """The results of a choice and their tangents: two lists.

    `primals` are the index, maybe a tracer, and the operands. None is the tangent of what does not
    move: the index, and a result that moves in no branch. One operation is bound: a `cond` with as
    many branches.

    >>> number = [ShapedArray((), np.dtype(float))]
    >>> double, square = (trace_to_jaxpr(f, number) for f in (lambda x: [x * 2], lambda x: [x * x]))
    >>> index = np.array(1, np.int32)
    >>> print(*cond_jvp([index, 5.0], [None, 10.0], branches=(double, square)))
    [Array(25., dtype=float64, weak_type=True)] [Array(100., dtype=float64, weak_type=True)]
    """
    # Toolbox:
    # - moving(tangents): marks of the tangents that are not None; chosen(xs, marks): the marked
    #   ones of a list
    # - jvp_program(branch, moves, need): operands, tangents of those that move -> results, tangents
    #   of those that move or must; and their marks
    # - agreed(transform, branches): all transform(branch, need), with marks need that fit every
    #   branch; and these marks
    # - bind_cond(index, programs, operands): the results of the choice, a list
    # - groups(xs, n): the first n of a list, and the rest; filled(marks, xs): xs in the marked
    #   places, None elsewhere
    # TODO(control.cond_jvp): return the values and the tangents of a choice.
    raise NotImplementedError("control.cond_jvp")


def cond_batch(axis_size: int, vals: Values, dims: Values, *, branches: Branches) -> ValuesAndAxes:
    """One index for all examples: one branch, for batches. Else every example has its own."""
    (index, *operands), (index_dim, *dims) = vals, dims
    if index_dim is not not_mapped:
        index = move_batch_axis(axis_size, index_dim, 0, index)
        return select_branches(axis_size, index, operands, dims, branches)
    batched = mapped(dims)
    programs, out_batched = agreed(
        lambda b, need: batched_program(b, axis_size, batched, need), branches
    )
    outs = bind_cond(index, programs, to_front(axis_size, operands, dims, batched))
    return outs, front_or_none(out_batched)


def select_branches(
    axis_size: int, indices: Value, operands: Values, dims: Values, branches: Branches
) -> ValuesAndAxes:
    """The results of a batch whose examples each have their own branch; their batch axes, all 0.

    `indices`, maybe a tracer, has shape (axis_size,). `dims` are the operands' batch axes, or
    `not_mapped`. Each branch is computed once. Derivatives are those of the chosen branches, even
    if others are infinite.

    >>> number = [ShapedArray((), np.dtype(float))]
    >>> double, square = (trace_to_jaxpr(f, number) for f in (lambda x: [x * 2], lambda x: [x * x]))
    >>> indices, xs = np.array([1, 0, 1], np.int32), np.array([3.0, 4.0, 5.0])
    >>> select_branches(3, indices, [xs], [0], (double, square))
    ([Array([ 9.,  8., 25.], dtype=float64)], [0])
    """
    # Toolbox:
    # - to_front(axis_size, xs, dims, marks): the marked xs with a leading batch axis, repeated if
    #   they had none
    # - batched_program(branch, axis_size, marks, out_marks): a program for batches; marked inputs
    #   and results have a leading batch axis (and their marks)
    # - stretch(per_example, batch): one value per example, in the shape of a batch
    # - select_n(which, *cases): each element from cases[which]; select(pred, x, y): x where pred
    #   holds; eq(x, y): where they are equal
    # - stop_gradient(x): x, which does not move; jaxpr_as_fun(program): the program as a function
    # TODO(control.select): return each example's own results, and their batch axes.
    raise NotImplementedError("control.select")


def stretch(per_example: Any, batch: Any) -> Any:
    """One number for each example, in the shape of a batch."""
    return broadcast_in_dim(per_example, get_aval(batch).shape, (0,))


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


def result_names(name: str, number: int) -> list[str]:
    return [name] if number == 1 else [f"{name}#{i}" for i in range(number)]


impl_rules[cond_p] = cond_impl
jvp_rules[cond_p] = cond_jvp
vmap_rules[cond_p] = cond_batch
partial_eval_rules[cond_p] = cond_partial_eval
transpose_rules[cond_p] = cond_transpose
abstract_eval_rules[cond_p] = cond_type
hlo_lowerings[cond_p] = cond_hlo


# Loops: marks of the carry that are the same after a step ---------------------------------------


def settled(
    transform: Callable[[Marks], tuple[Any, Marks]], carry: Marks
) -> tuple[Any, Marks, Marks]:
    """The step of a loop, transformed for marks of the carry that are the same after the step.

    `transform(marks)` returns a step for these marks, and the marks of its results, the carry
    first; a mark that goes in comes out. Returns the step, the carry's marks (`carry`, and no more
    than necessary) and the other marks. `transform` is called as rarely as possible, first with
    `carry`.

    >>> def step(carry):  # x moves if x did, y if x or y did; what is stacked moves if y did
    ...     x, y = carry
    ...     return f"step for {carry}", (x, x or y, y)
    >>> settled(step, (True, False))
    ('step for (True, True)', (True, True), (True,))
    """
    # Toolbox:
    # - groups(xs, n): the first n of a list or a tuple, and the rest
    # TODO(control.settled): return the step, the marks of its carry, and the other marks.
    raise NotImplementedError("control.settled")


# while_loop -------------------------------------------------------------------------------------

while_p = CallPrimitive("while", multiple_results=True)


@dataclass(frozen=True)
class While:
    """The parameters of `while_p`. Operands: constants of the condition, of the body, the carry."""

    cond_nconsts: int
    cond_jaxpr: ClosedJaxpr  # its constants, carry -> whether the loop goes on
    body_nconsts: int
    body_jaxpr: ClosedJaxpr  # its constants, carry -> carry

    def parts(self, xs: Values) -> list[Any]:
        """The operands, or as many of anything else, in their three groups."""
        return groups(xs, self.cond_nconsts, self.body_nconsts)


def while_loop(cond_fun: Function, body_fun: Function, init_val: Any) -> Any:
    """Replace a value, the *carry*, by `body_fun(carry)` for as long as `cond_fun(carry)` holds.

    Structure and types of the carry must stay the same (`TypeError`). How often the body runs is
    known only when it has run, so there is no place for what reverse mode would have to keep: `jvp`
    works, `grad` raises `ValueError`. Counterpart: `jax.lax.while_loop`.

    >>> print(while_loop(lambda x: x < 100.0, lambda x: x * 3.0, 1.0))
    243.0
    """
    if not callable(cond_fun) or not callable(body_fun):
        raise TypeError("lax.while_loop: body_fun and cond_fun arguments should be callable.")
    init, carry_tree = tree_flatten(init_val)
    tree = PyTreeDef(tuple, None, (carry_tree,))

    def trace_body(avals: Types) -> tuple[Part, PyTreeDef]:
        part = trace_part(body_fun, tree, avals)
        return part, part.tree

    body, init = trace_step("while_loop body", trace_body, carry_tree, init)
    condition = trace_part(cond_fun, tree, types_of(init))
    check_condition(condition)
    outs = repeat_while(condition.program, body.program, init)
    return tree_unflatten(carry_tree, outs)


def trace_step(
    what: str, trace: Callable[[Types], tuple[Part, PyTreeDef]], tree: PyTreeDef, init: Values
) -> tuple[Part, list[Any]]:
    """The step of a loop as a program, and the initial carry in the types that it keeps.

    `trace` traces the step for a carry of given types, and tells the structure of the carry that
    comes out. An initial value that is weakly typed, a Python number, takes the dtype that it has
    after a step; then the step is traced once more.
    """
    part, out_tree = trace(types_of(init))
    check_carry_tree(what, tree, out_tree)
    promoted = [promote(x, aval) for x, aval in zip(init, part.program.out_avals, strict=False)]
    if types_of(promoted) != types_of(init):
        part, _ = trace(types_of(promoted))
    check_carry_types(what, tree, types_of(promoted), part.program.out_avals[: len(init)])
    return part, promoted


def promote(x: Value, out: ShapedArray) -> Value:
    """The initial value `x` of a carry that is of type `out` after a step."""
    aval = get_aval(x)
    if not aval.weak_type or aval.dtype == out.dtype:
        return x
    dtype, _ = dtypes.result_type((aval.dtype, True), (out.dtype, out.weak_type))
    return convert_element_type(x, dtype)


def check_condition(part: Part) -> None:
    if part.tree.node_class is not None:
        raise TypeError(f"cond_fun must return a boolean scalar, but got pytree {part.tree}.")
    (aval,) = part.program.out_avals
    if aval.shape or aval.dtype != bool:
        raise TypeError(f"cond_fun must return a boolean scalar, but got output type {aval}.")


def repeat_while(condition: ClosedJaxpr, body: ClosedJaxpr, init: Values) -> list[Any]:
    """Bind `while_p`; a carry that never changes becomes a constant of the body.

    That is one which the body hands through and the condition does not read. A constant costs less:
    no rule has to ask what may become of it.
    """
    cond_consts, consts = condition.consts, body.consts
    condition, body = hoisted(condition), hoisted(body)
    read = {atom for eqn in condition.eqns for atom in eqn.invars} | {*condition.jaxpr.outvars}
    cond_carry = condition.jaxpr.invars[len(cond_consts) :]
    sources = zip(handed_through(body), cond_carry, strict=True)
    fixed = tuple(i == len(consts) + k and v not in read for k, (i, v) in enumerate(sources))
    places = range(len(cond_consts), len(condition.in_avals))
    kept = (*range(len(cond_consts)), *chosen(places, opposite(fixed)))
    same = chosen(init, fixed)
    outs = bind_while(
        rearranged(condition, kept, (0,)),
        fixed_to_consts(body, len(consts), fixed),
        cond_consts,
        [*same, *consts],
        chosen(init, opposite(fixed)),
    )
    return filled(fixed, same, outs)


def bind_while(
    condition: ClosedJaxpr, body: ClosedJaxpr, cond_consts: Values, consts: Values, init: Values
) -> list[Any]:
    """Bind `while_p`; constants that the programs hold become the first of their operands."""
    cond_consts, consts = [*condition.consts, *cond_consts], [*body.consts, *consts]
    loop = While(len(cond_consts), hoisted(condition), len(consts), hoisted(body))
    return while_p.bind(*cond_consts, *consts, *init, **vars(loop))


# while: evaluation, differentiation, batching ---------------------------------------------------


def while_impl(*args: Value, **params: Any) -> Values:
    return evaluate_compiled(while_p, params["body_jaxpr"], args, params)


def while_jvp(primals: Values, tangents: Values, **params: Any) -> ValuesAndTangents:
    """The tangents of what moves are carried along; the condition does not look at them."""
    loop = While(**params)
    cond_consts, consts, init = loop.parts(primals)
    _, consts_dot, init_dot = loop.parts(tangents)
    consts_move = moving(consts_dot)
    body, carry_moves, _ = settled(
        lambda carry: jvp_program(loop.body_jaxpr, (*consts_move, *carry), carry), moving(init_dot)
    )
    inputs = beside((len(consts), len(init)), (consts_move, carry_moves))
    body = rearranged(body, inputs, tuple(range(len(body.out_avals))))
    init_dot = full_tangents(init, init_dot, carry_moves)
    condition = with_unread(loop.cond_jaxpr, tuple(types_of(init_dot)))
    consts = [*consts, *chosen(consts_dot, consts_move)]
    outs = bind_while(condition, body, cond_consts, consts, [*init, *init_dot])
    primals_out, tangents_out = groups(outs, len(init))
    return primals_out, filled(carry_moves, tangents_out)


def while_batch(axis_size: int, vals: Values, dims: Values, **params: Any) -> ValuesAndAxes:
    """The loop for batches. If each example has its own condition, it runs until all are done.

    Then all of the carry has a batch axis, because each example stops at its own time.
    """
    loop = While(**params)
    cond_consts_batched, consts_batched, start = loop.parts(mapped(dims))

    def step(carry: Marks) -> tuple[tuple[ClosedJaxpr, ClosedJaxpr, bool], Marks]:
        condition, (own,) = batched_program(
            loop.cond_jaxpr, axis_size, (*cond_consts_batched, *carry), ()
        )
        need = (True,) * len(carry) if own else carry
        body, out = batched_program(loop.body_jaxpr, axis_size, (*consts_batched, *carry), need)
        return (condition, body, own), out

    (condition, body, own), carry, _ = settled(step, start)
    marks = (*cond_consts_batched, *consts_batched, *carry)
    cond_consts, consts, init = loop.parts(to_front(axis_size, vals, dims, marks))
    if own:
        cond_consts, condition = [*condition.consts, *cond_consts], hoisted(condition)
        body, consts = where_condition_holds(body, condition, len(consts)), [*cond_consts, *consts]
        condition = any_holds(condition)
    return bind_while(condition, body, cond_consts, consts, init), front_or_none(carry)


@kept_beside
def any_holds(condition: ClosedJaxpr) -> ClosedJaxpr:
    """Whether the condition holds for one example at least."""
    f = jaxpr_as_fun(condition)
    return trace_to_jaxpr(lambda *args: [reduce_or(f(*args)[0], (0,))], condition.in_avals)


@kept_beside
def where_condition_holds(
    body: ClosedJaxpr, condition: ClosedJaxpr, body_nconsts: int
) -> ClosedJaxpr:
    """The step of a batch of loops: examples that are done keep the carry that they have.

    `condition` returns a boolean per example, `body` a carry with leading batch axes. The new
    program takes the constants of the condition, `body_nconsts` of the body, and the carry. An
    example is done if the condition fails for the carry that comes in; it keeps all of it, even if
    the body returns NaN. Both programs are computed once.

    >>> batch, limit = (ShapedArray(shape, np.dtype(float)) for shape in ((3,), ()))
    >>> small = trace_to_jaxpr(lambda limit, x: [x < limit], [limit, batch])
    >>> double = trace_to_jaxpr(lambda x: [x * 2.0], [batch])
    >>> step = where_condition_holds(double, small, 0)
    >>> print(*jaxpr_as_fun(step)(4.0, np.array([1.0, 3.0, 5.0])))
    [2. 6. 5.]
    """
    # Toolbox:
    # - trace_to_jaxpr(f, avals): the program of a function of arrays of these types that returns a
    #   list
    # - jaxpr_as_fun(program): the way back; program.in_avals, program.out_avals: its types. Here no
    #   program holds constants
    # - groups(xs, 1, 3): a list cut into its first item, the next three, and the rest
    # - select(pred, x, y): x where pred holds, otherwise y; stretch(runs, x): one value per example
    #   in the shape of the batch x
    # TODO(control.finished): return the program of a step after which examples that are done are as
    # before.
    raise NotImplementedError("control.finished")


# while: partial evaluation, no transposition ----------------------------------------------------


def while_partial_eval(trace: PartialEvalTrace, tracers: Tracers, **params: Any) -> list[Any]:
    """Run the loop for what is known of the carry; later the whole loop again, for the rest.

    There are no residuals, since the number of steps is not known. If the condition is unknown,
    all is.
    """
    loop = While(**params)
    cond_consts, consts, init = loop.parts(tracers)
    marks = are_unknown(consts)
    body, carry, _ = settled(
        lambda carry: split_program(loop.body_jaxpr, (*marks, *carry), carry), are_unknown(init)
    )
    cond_marks = (*are_unknown(cond_consts), *carry)
    condition, (never_known,) = split_program(loop.cond_jaxpr, cond_marks, ())
    later = trace.stage_out(while_p, tracers, params)
    if never_known:
        return later
    values = known_values(chosen(init, opposite(carry)))
    outs = bind_while(
        with_results(condition.known, [0]),
        with_results(body.known, range(len(values))),
        known_values(cond_consts),
        known_values(consts),
        values,
    )
    return filled(carry, chosen(later, carry), outs)


def while_transpose(*args: Value, **params: Any) -> Value:
    raise ValueError(
        "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with "
        "dynamic start/stop values. Try using lax.scan, or using fori_loop with static start/stop."
    )


# while: types, lowering -------------------------------------------------------------------------


def while_type(*avals: ShapedArray, **params: Any) -> Types:
    loop = While(**params)
    cond_consts, consts, init = loop.parts(avals)
    check_same("the operands of the condition", [*cond_consts, *init], loop.cond_jaxpr.in_avals)
    check_same("the result of the condition", loop.cond_jaxpr.out_avals, [BOOLEAN])
    check_same("the operands of the body", [*consts, *init], loop.body_jaxpr.in_avals)
    check_same("the results of the body", loop.body_jaxpr.out_avals, init)
    return loop.body_jaxpr.out_avals


def while_hlo(
    emitter: Emitter, avals: Types, out_avals: Types, args: Sequence[str], **params: Any
) -> list[str]:
    """`stablehlo.while`: two regions with names for the carry; they read constants from outside."""
    if not out_avals:
        return []
    loop = While(**params)
    cond_consts, consts, init = loop.parts(args)
    carry = [f"%carry{len(emitter.lines)}_{i}" for i in range(len(init))]
    start = ", ".join(f"{name} = {x}" for name, x in zip(carry, init, strict=True))
    types = ", ".join(map(tensor_type, out_avals))
    name = emitter.emit(f"stablehlo.while({start}) : {types} cond {{", len(out_avals))
    emit_end_of_region(emitter, loop.cond_jaxpr, [*cond_consts, *carry])
    emitter.lines.append("    } do {")
    emit_end_of_region(emitter, loop.body_jaxpr, [*consts, *carry])
    emitter.lines.append("    }")
    return result_names(name, len(out_avals))


impl_rules[while_p] = while_impl
jvp_rules[while_p] = while_jvp
vmap_rules[while_p] = while_batch
partial_eval_rules[while_p] = while_partial_eval
transpose_rules[while_p] = while_transpose
abstract_eval_rules[while_p] = while_type
hlo_lowerings[while_p] = while_hlo


# scan -------------------------------------------------------------------------------------------

scan_p = CallPrimitive("scan", multiple_results=True)


@dataclass(frozen=True)
class Scan:
    """The parameters of `scan_p`. Operands: constants, the carry, and arrays of rows, the xs."""

    jaxpr: ClosedJaxpr  # constants, carry, one row of each array -> carry, ys
    length: int
    num_carry: int
    num_consts: int
    reverse: bool
    unroll: int

    def parts(self, xs: Values) -> list[Any]:
        """The operands, or as many of anything else, in their three groups."""
        return groups(xs, self.num_consts, self.num_carry)

    def with_body(self, body: ClosedJaxpr, num_consts: int, num_carry: int) -> Scan:
        """A loop over as many steps; constants that `body` holds come first, as operands."""
        num_consts += len(body.consts)
        return replace(self, jaxpr=hoisted(body), num_consts=num_consts, num_carry=num_carry)

    def bind(self, body: ClosedJaxpr, consts: Values, init: Values, rows: Values) -> list[Any]:
        """Bind `scan_p` with another body, for as many steps; none are needed for no results."""
        if not body.out_avals:
            return []
        loop = self.with_body(body, len(consts), len(init))
        return scan_p.bind(*body.consts, *consts, *init, *rows, **vars(loop))


def scan(
    f: Function,
    init: Value,
    xs: Value = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """A loop over the rows of arrays: `carry, y = f(carry, x)` for each row `x`.

    Returns the last carry, and all `y` stacked into arrays. `xs` may be a container of arrays with
    the same length; without any, `length` says how often `f` is applied. With `reverse` the last
    row comes first, and each `y` is at the place of its `x`. Structure and types of the carry must
    stay the same (`TypeError`). The number of steps is known, so reverse mode works: it keeps what
    it needs of every step. `unroll` is noted in the equation and changes nothing else.
    Counterpart: `jax.lax.scan`.

    >>> total, sums = scan(lambda c, x: (c + x, c + x), 0.0, np.array([1.0, 2.0, 3.0]))
    >>> print(total, sums)
    6.0 [1. 3. 6.]
    """
    if not callable(f):
        raise TypeError("lax.scan: f argument should be a callable.")
    leaves, carry_tree = tree_flatten(init)
    rows, rows_tree = tree_flatten(xs)
    length = scan_length(rows, length)
    tree = PyTreeDef(tuple, None, (carry_tree, rows_tree))
    row_avals = [ShapedArray(a.shape[1:], a.dtype, a.weak_type) for a in types_of(rows)]

    def trace_body(avals: Types) -> tuple[Part, PyTreeDef]:
        part = trace_part(f, tree, [*avals, *row_avals])
        if len(part.tree.children()) != 2:  # any container, as in JAX
            raise TypeError(f"scan body output must be a pair, got {part.tree}.")
        return part, part.tree.child_treedefs[0]

    body, leaves = trace_step("scan body", trace_body, carry_tree, leaves)
    loop = Scan(body.program, length, len(leaves), 0, reverse, steps_at_once(unroll, length))
    return tree_unflatten(body.tree, repeat_scan(loop, body.program, [], leaves, rows))


def scan_length(rows: Values, length: int | None) -> int:
    """The number of steps: the length of all `rows`, and the given one."""
    if any(not get_aval(x).shape for x in rows):
        raise ValueError(f"scan got value with no leading axis to scan over: {rows}.")
    sizes = [get_aval(x).shape[0] for x in rows]
    if length is None and len(set(sizes)) > 1:
        raise ValueError(f"scan got values with different leading axis sizes: {sizes}.")
    if length is None and not sizes:
        raise ValueError("scan got no values to scan over and `length` not provided.")
    if length is not None and not is_concrete(length):
        raise ConcretizationTypeError(
            "The `length` argument to `scan` expects a concrete `int` value. For scan-like "
            "iteration with a dynamic length, use `while_loop` or `fori_loop`."
        )
    number = sizes[0] if length is None else int(length)
    if any(size != number for size in sizes):
        raise ValueError(
            f"scan got `length` argument of {length} which disagrees with leading axis sizes "
            f"{sizes}."
        )
    return number


def is_concrete(x: Value) -> bool:
    """Whether Python can know the value of `x`."""
    return not isinstance(x, Tracer) or isinstance(x.aval, ConcreteArray)


def steps_at_once(unroll: int | bool, length: int) -> int:
    """`unroll` as a number of steps, as JAX notes it."""
    if isinstance(unroll, bool):
        return max(length, 1) if unroll else 1
    if operator.index(unroll) < 0:
        raise ValueError("`unroll` must be a `bool` or a non-negative `int`.")
    return unroll


def repeat_scan(
    loop: Scan, body: ClosedJaxpr, consts: Values, init: Values, rows: Values
) -> list[Any]:
    """Bind `scan_p`, except for what the body hands through.

    A carry that never changes becomes a constant; rows that come out as they are, are not copied.
    """
    consts, body = [*body.consts, *consts], hoisted(body)
    carry_sources, y_sources = groups(handed_through(body), len(init))
    fixed = tuple(i == len(consts) + k for k, i in enumerate(carry_sources))
    first_row = len(consts) + len(init)
    as_they_are = tuple(i is not None and i >= first_row for i in y_sources)
    body = fixed_to_consts(body, len(consts), fixed)
    number = fixed.count(False)
    computed = chosen(range(number, len(body.out_avals)), opposite(as_they_are))
    body = with_results(body, [*range(number), *computed])
    same, changing = chosen(init, fixed), chosen(init, opposite(fixed))
    carry, ys = groups(loop.bind(body, [*same, *consts], changing, rows), number)
    stacks = [own_array(rows[i - first_row]) for i in chosen(y_sources, as_they_are)]
    return [*filled(fixed, same, carry), *filled(as_they_are, stacks, ys)]


# fori_loop: a scan, or a while_loop -------------------------------------------------------------


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Function,
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """`val = body_fun(i, val)` for `i` from `lower` up to and without `upper`; the last `val`.

    If both bounds are known while tracing, it is a `scan`, and reverse mode works; else it is a
    `while_loop`. Counterpart: `jax.lax.fori_loop`.

    >>> print(fori_loop(0, 5, lambda i, x: x + i, 100))
    110
    """
    if not callable(body_fun):
        raise TypeError("lax.fori_loop: body_fun argument should be callable.")
    dtype = index_dtype(get_aval(lower), get_aval(upper))
    if is_concrete(lower) and is_concrete(upper):
        start, length = int(lower), max(int(upper) - int(lower), 0)
        step, unroll = counting_step(body_fun), False if unroll is None else unroll
        return scan(step, (start, init_val), None, length, unroll=unroll)[0][1]
    if unroll not in (None, False, 1):
        raise ValueError(
            "Can only use `unroll` in `fori_loop` if the loop bounds are statically known."
        )
    lower, upper = (
        x if get_aval(x).dtype == dtype else convert_element_type(x, dtype) for x in (lower, upper)
    )
    return while_loop(below_upper, counting_body(body_fun), (lower, upper, init_val))[2]


def index_dtype(lower: ShapedArray, upper: ShapedArray) -> np.dtype:
    """The dtype of the index: that of both bounds; a Python integer takes the other one's."""
    if lower.dtype == upper.dtype:
        return lower.dtype
    if {lower.dtype.kind, upper.dtype.kind} != {"i"} or lower.weak_type == upper.weak_type:
        raise TypeError(
            "lower and upper arguments to fori_loop must have equal types, got "
            f"{lower.dtype.name} and {upper.dtype.name}"
        )
    return upper.dtype if lower.weak_type else lower.dtype


@kept_for
def counting_step(body_fun: Callable[[], Any]) -> Function:
    """The body of a `fori_loop` as that of a `scan`."""

    def step(carry: tuple[Any, Any], _: None) -> tuple[Any, None]:
        i, val = carry
        return (i + 1, body_fun()(i, val)), None

    return step


@kept_for
def counting_body(body_fun: Callable[[], Any]) -> Function:
    """The body of a `fori_loop` as that of a `while_loop`."""

    def body(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        i, upper, val = carry
        return add(i, np.ones((), get_aval(i).dtype)), upper, body_fun()(i, val)

    return body


def below_upper(carry: tuple[Any, Any, Any]) -> Any:
    i, upper, _ = carry
    return lt(i, upper)


# scan: evaluation, differentiation, batching ----------------------------------------------------


def scan_impl(*args: Value, **params: Any) -> Values:
    return evaluate_compiled(scan_p, params["jaxpr"], args, params)


def scan_jvp(primals: Values, tangents: Values, **params: Any) -> ValuesAndTangents:
    """The tangents of what moves are constants, carry and rows beside those that they belong to."""
    loop = Scan(**params)
    consts_move, start, rows_move = loop.parts(moving(tangents))
    body, carry_moves, ys_move = settled(
        lambda carry: jvp_program(loop.jaxpr, (*consts_move, *carry, *rows_move), carry), start
    )
    moves, number = (consts_move, carry_moves, rows_move), loop.num_carry
    inputs = beside([len(marks) for marks in moves], moves)
    results = beside((number, len(ys_move)), (carry_moves, ys_move))
    operands = [*primals, *full_tangents(primals, tangents, sum(moves, ()))]
    consts, init, rows = groups(
        [operands[i] for i in inputs], loop.num_consts + sum(consts_move), number + sum(carry_moves)
    )
    outs = loop.bind(rearranged(body, inputs, results), consts, init, rows)
    carry, carry_dot, ys, ys_dot = groups(outs, number, sum(carry_moves), len(ys_move))
    return [*carry, *ys], [*filled(carry_moves, carry_dot), *filled(ys_move, ys_dot)]


def scan_batch(axis_size: int, vals: Values, dims: Values, **params: Any) -> ValuesAndAxes:
    """As many steps for all examples: a step for batches. In rows, the batch axis is axis 1."""
    loop = Scan(**params)
    consts_batched, start, rows_batched = loop.parts(mapped(dims))
    body, carry, ys_batched = settled(
        lambda carry: batched_program(
            loop.jaxpr, axis_size, (*consts_batched, *carry, *rows_batched), carry
        ),
        start,
    )
    (consts, init, rows), (consts_dims, init_dims, rows_dims) = map(loop.parts, (vals, dims))
    consts = to_front(axis_size, consts, consts_dims, consts_batched)
    init = to_front(axis_size, init, init_dims, carry)
    rows = [
        move_batch_axis(axis_size, dim, 1, x) if mark else x
        for x, dim, mark in zip(rows, rows_dims, rows_batched, strict=True)
    ]
    ys_dims = [1 if mark else not_mapped for mark in ys_batched]
    return loop.bind(body, consts, init, rows), [*front_or_none(carry), *ys_dims]


# scan: partial evaluation -----------------------------------------------------------------------
#
# What is known of a step becomes a scan that runs now and returns its residuals as rows; the rest
# is a scan that runs later, over these rows. Residuals that depend on constants alone are the same
# in every step. They are found by splitting the known part once more, into what can be computed
# before the loop and the rest: partial evaluation again, with "constant" instead of "known".


class SplitScan(NamedTuple):
    """The step of a scan in three parts, and what is unknown.

    `before`: known constants -> residuals that are the same in all steps, constants of `step`.
    `step`: these constants, known carry, known rows -> known carry, known ys, other residuals.
    `rest`: residuals that are the same, unknown constants | unknown carry | unknown rows, other
    residuals -> unknown carry, unknown ys.
    """

    before: ClosedJaxpr
    step: ClosedJaxpr
    rest: ClosedJaxpr
    carry: Marks
    out: Marks
    varying: Marks  # which residuals are not the same in all steps


def split_scan(loop: Scan, unknown: Marks) -> SplitScan:
    consts, start, rows = loop.parts(unknown)
    (known, rest), carry, ys = settled(
        lambda carry: split_program(loop.jaxpr, (*consts, *carry, *rows), carry), start
    )
    results, known_consts = (*carry, *ys).count(False), consts.count(False)
    varies = tuple(i >= known_consts for i in range(len(known.in_avals)))
    (before, step), marks = split_program(known, varies, (True,) * results)
    varying = marks[results:]
    residuals, others = groups(range(len(rest.in_avals)), len(varying))
    inputs = (*chosen(residuals, opposite(varying)), *others, *chosen(residuals, varying))
    rest = rearranged(rest, inputs, tuple(range(len(rest.out_avals))))
    return SplitScan(before, step, rest, carry, (*carry, *ys), varying)


def run_known(
    loop: Scan, split: SplitScan, consts: Values, init: Values, rows: Values
) -> tuple[list[Any], list[Any], list[Any]]:
    """Known results, residuals that are the same in all steps, and stacks of the others."""
    outs = jaxpr_as_fun(split.before)(*consts)
    same, step_consts = groups(outs, split.varying.count(False))
    outs = repeat_scan(loop, split.step, step_consts, init, rows)
    results, stacks = groups(outs, split.out.count(False))
    return results, same, stacks


def scan_partial_eval(trace: PartialEvalTrace, tracers: Tracers, **params: Any) -> list[Any]:
    """Scan with the known part of the step now, and with the rest later."""
    loop = Scan(**params)
    split = split_scan(loop, are_unknown(tracers))
    consts, init, rows = loop.parts(tracers)
    known_init = known_values(chosen(init, opposite(split.carry)))
    known_outs, same, stacks = run_known(
        loop, split, known_values(consts), known_init, known_values(rows)
    )
    later_consts = [*map(trace.pure, same), *chosen(consts, are_unknown(consts))]
    later_init = chosen(init, split.carry)
    later_rows = [*chosen(rows, are_unknown(rows)), *map(trace.pure, stacks)]
    later = loop.with_body(split.rest, len(later_consts), len(later_init))
    outs = trace.stage_out(scan_p, [*later_consts, *later_init, *later_rows], vars(later))
    return filled(split.out, outs, known_outs)


# scan: transposition ----------------------------------------------------------------------------


def scan_transpose(cts: Values, *args: Value, **params: Any) -> list[Value]:
    """A scan from the last step to the first, whose step is the transposed one.

    What does not depend on a linear input is computed before, by a scan of its own.
    """
    loop = Scan(**params)
    linear = tuple(isinstance(x, UndefPrimal) for x in args)
    split = split_scan(loop, linear)
    (consts, init, rows), marks = loop.parts(args), loop.parts(linear)
    known = [chosen(consts, opposite(marks[0])), chosen(rows, opposite(marks[2]))]
    known_init = chosen(init, opposite(split.carry))
    _, same, stacks = run_known(loop, split, known[0], known_init, known[1])
    linear_consts = [x.aval for x in chosen(consts, marks[0])]
    back = transpose_rest(loop, split, linear_consts, same, stacks, chosen(cts, split.out))
    consts_ct, init_ct, rows_ct = groups(back, len(linear_consts), sum(split.carry))
    # A carry that starts as a known zero is linear too; no cotangent of its start is wanted.
    pairs = zip(filled(split.carry, init_ct), marks[1], strict=True)
    init_ct = [ct if is_linear else None for ct, is_linear in pairs]
    return [*filled(marks[0], consts_ct), *init_ct, *filled(marks[2], rows_ct)]


def transpose_rest(
    loop: Scan, split: SplitScan, consts: Types, same: Values, stacks: Values, cts: Values
) -> list[Any]:
    """The cotangents of a scan's linear constants, first linear carry and linear rows: a list.

    `split.rest` is the linear part of a step, with the residuals `same` and `stacks`; `consts` are
    its constants' types. `cts` are those of the scan's linear results, None for zero. One scan of
    `loop.length` steps is bound.

    >>> row = ShapedArray((), np.dtype(float))
    >>> rest = trace_to_jaxpr(lambda k, c, x: [c + k, x * 2.0 + c], [row, row, row])
    >>> split = SplitScan(rest, rest, rest, (True,), (True, True), ())
    >>> loop = Scan(rest, length=2, num_carry=1, num_consts=1, reverse=False, unroll=1)
    >>> cts = [np.array(1.0), np.array([10.0, 20.0])]  # of the last carry, of the ys
    >>> print(*transpose_rest(loop, split, [row], [], [], cts))
    22.0 31.0 [20. 40.]
    """
    # Toolbox:
    # - backward_step(rest, num_same, num_consts, num_carry, num_stacks): the transposed step; its
    #   docstring says what it takes and returns
    # - loop.bind(body, consts, init, rows): a scan like loop with another body; replace(loop,
    #   length=2): loop with another parameter
    # - instantiate(ct, aval): a cotangent as an array, even if it is None; zeros(aval): zeros of a
    #   type
    # - stacked(aval, n): the type of n rows of type aval; split.rest.out_avals: the types of a
    #   step's carry and ys; split.carry: which carry is linear
    # TODO(control.scan_transpose): return the cotangents of linear constants, first carry and rows.
    raise NotImplementedError("control.scan_transpose")


@kept_beside
def backward_step(
    rest: ClosedJaxpr, num_same: int, num_consts: int, num_carry: int, num_stacks: int
) -> ClosedJaxpr:
    """The step of the transposed scan.

    From residuals | sums of the cotangents of the linear constants, cotangents of the carry |
    cotangents of the ys, residuals in rows; to the new sums, cotangents of the carry | cotangents
    of the linear rows.
    """
    first, last = num_same, len(rest.in_avals) - num_stacks
    linear = tuple(first <= i < last for i in range(len(rest.in_avals)))
    transposed = jaxpr_as_fun(transposed_jaxpr(rest, linear))
    num_ys = len(rest.out_avals) - num_carry

    def step(*args: Value) -> list[Value]:
        same, sums, carry, ys, stacks = groups(args, num_same, num_consts, num_carry, num_ys)
        parts, carry_ct, others = groups(
            transposed(*same, *stacks, *carry, *ys), num_consts, num_carry
        )
        return [*map(add_p.bind, sums, parts), *map(retyped, carry_ct, rest.out_avals), *others]

    same_and_sums, stacks = rest.in_avals[: first + num_consts], rest.in_avals[last:]
    return trace_to_jaxpr(step, [*same_and_sums, *rest.out_avals, *stacks])


def retyped(ct: Value, aval: ShapedArray) -> Value:
    """A carry's cotangent after a step, weakly typed if it was before the step."""
    return convert_element_type_p.bind(ct, new_dtype=aval.dtype, weak_type=aval.weak_type)


# scan: types, lowering --------------------------------------------------------------------------


def scan_type(*avals: ShapedArray, **params: Any) -> Types:
    loop = Scan(**params)
    consts, init, rows = loop.parts(avals)
    if any(row.shape[:1] != (loop.length,) for row in rows):
        raise TypeError(f"the rows must have a first axis of {loop.length}")
    row_avals = [ShapedArray(row.shape[1:], row.dtype) for row in rows]
    carry, ys = groups(loop.jaxpr.out_avals, loop.num_carry)
    check_same("the operands of the body", [*consts, *init, *row_avals], loop.jaxpr.in_avals)
    check_same("the carry that the body returns", carry, init)
    return [*carry, *(stacked(aval, loop.length) for aval in ys)]


def scan_hlo(
    emitter: Emitter, avals: Types, out_avals: Types, args: Sequence[str], **params: Any
) -> list[str]:
    """A scan is a `while` over the number of the step."""
    types = [raise_to_shaped(aval) for aval in avals]
    program = trace_to_jaxpr(lambda *xs: scan_by_while(Scan(**params), xs), types)
    return lower_body(emitter, program.jaxpr, args, program.consts)


def scan_by_while(loop: Scan, args: Values) -> list[Any]:
    """The last carry and the ys of a scan, in one list, computed by one loop.

    `args` are its operands. A y is where the row was that its step read; if `loop.reverse`,
    the last row is read first. The body is in the program once. A scan of no steps has no loop: it
    returns the first carry, and ys without rows.

    >>> row = ShapedArray((), np.dtype(float))
    >>> body = trace_to_jaxpr(lambda c, x: [c + x, c * x], [row, row])
    >>> loop = Scan(body, length=3, num_carry=1, num_consts=0, reverse=False, unroll=1)
    >>> print(*scan_by_while(loop, [np.float64(1.0), np.array([2.0, 3.0, 4.0])]))
    10.0 [ 2.  9. 24.]
    """
    # Toolbox:
    # - while_loop(cond_fun, body_fun, init): a loop, whose carry may be any container
    # - loop.jaxpr: constants, carry, a row of each -> carry, a row of each y; loop.parts(args):
    #   constants, carry, rows; loop.num_carry: how many
    # - row_at(x, place): one row; put_row(ys, row, place): ys with this row in this place
    # - zeros(aval): zeros of a type; stacked(aval, n): the type of n rows of type aval
    # - jaxpr_as_fun(program): the program as a function; groups(xs, 1, 3): a list cut into one,
    #   three, and the rest
    # TODO(control.scan_steps): return the last carry and the ys of a scan.
    raise NotImplementedError("control.scan_steps")


def row_at(x: Value, place: Any) -> Value:
    shape = get_aval(x).shape
    starts = [place, *[np.int64(0)] * (len(shape) - 1)]
    return squeeze(dynamic_slice_p.bind(x, *starts, slice_sizes=(1, *shape[1:])), (0,))


def put_row(ys: Value, row: Any, place: Any) -> Value:
    starts = [place, *[np.int64(0)] * len(get_aval(row).shape)]
    return dynamic_update_slice_p.bind(ys, expand_dims(row, (0,)), *starts)


impl_rules[scan_p] = scan_impl
jvp_rules[scan_p] = scan_jvp
vmap_rules[scan_p] = scan_batch
partial_eval_rules[scan_p] = scan_partial_eval
transpose_rules[scan_p] = scan_transpose
abstract_eval_rules[scan_p] = scan_type
hlo_lowerings[scan_p] = scan_hlo
