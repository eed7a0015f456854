"""Control flow that is traced: `cond`, `switch`, `while_loop`, `fori_loop` and `scan`.

Python's `if` and `for` run while a function is traced: the program holds the one branch that was
taken, and the body of a loop as many times as it ran. Here a choice and a loop are operations.
Their branches and bodies are programs, traced once, and parameters of the equation, as in `jit`.

All rules have one shape: transform the inner programs (`minijax/programs.py` says how), and bind
the same primitive with the new ones. The rules differ in which results get a tangent, or a batch
axis, or count as unknown: branches must agree on it, and the carry of a loop must come out of a
step as it went in.

What a branch or a body captures becomes operands: the constants of an inner program are its first
inputs. The primitives' names and parameters are JAX's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from minijax.branches import Branches, Tracers, ValuesAndAxes, bind_cond, cond_batch, cond_p
from minijax.core import (
    ShapedArray,
    UndefPrimal,
    Value,
    Values,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    not_mapped,
    partial_eval_rules,
    transpose_rules,
    vmap_rules,
)
from minijax.jaxpr import ClosedJaxpr, jaxpr_as_fun, kept_beside, raise_to_shaped
from minijax.jit import lower_body
from minijax.jvp import instantiate
from minijax.lax.basic import broadcast_in_dim, lt
from minijax.lax.choosing import select, select_n
from minijax.lax.elementwise import eq, stop_gradient
from minijax.lax.reductions import reduce_or
from minijax.linearize import PartialEvalTrace
from minijax.loops import While, bind_while, while_loop, while_p
from minijax.lowering import Emitter
from minijax.marks import Marks, chosen, filled, groups, mapped, moving, opposite
from minijax.programs import (
    Types,
    agreed,
    are_unknown,
    as_array,
    batched_program,
    beside,
    check_same,
    front_or_none,
    full_tangents,
    hoisted,
    jvp_program,
    known_values,
    rearranged,
    split_program,
    stacked,
    to_front,
    types_of,
    with_results,
    with_unread,
    zeros,
)
from minijax.scans import Scan, SplitScan, backward_step, put_row, row_at, run_known, scan_p
from minijax.tracing import trace_to_jaxpr
from minijax.vmap import move_batch_axis

ValuesAndTangents = tuple[list[Any], list[Any]]


# cond: evaluation, differentiation, batching ----------------------------------------------------


def cond_impl(index: Value, *operands: Value, branches: Branches) -> list[Value]:
    """The results of the branch that `index` names, a value and not a tracer; no other runs.

    >>> number = [ShapedArray((), np.dtype(float))]
    >>> double, square = (trace_to_jaxpr(f, number) for f in (lambda x: [x * 2], lambda x: [x * x]))
    >>> print(*cond_impl(np.array(1, np.int32), 5.0, branches=(double, square)))
    25.0
    """
    return [as_array(out) for out in jaxpr_as_fun(branches[int(index)])(*operands)]


def cond_jvp(primals: Values, tangents: Values, *, branches: Branches) -> ValuesAndTangents:
    """The results of a choice and their tangents: two lists.

    `primals` are the index, maybe a tracer, and the operands. `tangents` has None for the index and
    for operands that do not move; so does the second list for results that move in no branch. It
    binds one `cond` with as many branches, and nothing else.

    >>> number = [ShapedArray((), np.dtype(float))]
    >>> double, square = (trace_to_jaxpr(f, number) for f in (lambda x: [x * 2], lambda x: [x * x]))
    >>> index = np.array(1, np.int32)
    >>> print(*cond_jvp([index, 5.0], [None, 10.0], branches=(double, square)))
    [Array(25., dtype=float64, weak_type=True)] [Array(100., dtype=float64, weak_type=True)]
    """
    (index, *operands), moves = primals, moving(tangents[1:])
    programs, out_moves = agreed(lambda b, need: jvp_program(b, moves, need), branches)
    outs = bind_cond(index, programs, [*operands, *chosen(tangents[1:], moves)])
    primals_out, tangents_out = groups(outs, len(out_moves))
    return primals_out, filled(out_moves, tangents_out)


def select_branches(
    axis_size: int, indices: Value, operands: Values, dims: Values, branches: Branches
) -> ValuesAndAxes:
    """The results of a batch whose examples have their own branches, and their batch axes, all 0.

    `indices`, maybe a tracer, has shape (axis_size,); `dims` are the operands' batch axes, or
    `not_mapped`. Each branch is computed once. Derivatives are those of each example's own branch,
    even if others are infinite.

    >>> number = [ShapedArray((), np.dtype(float))]
    >>> double, square = (trace_to_jaxpr(f, number) for f in (lambda x: [x * 2], lambda x: [x * x]))
    >>> indices, xs = np.array([1, 0, 1], np.int32), np.array([3.0, 4.0, 5.0])
    >>> select_branches(3, indices, [xs], [0], (double, square))
    ([Array([ 9.,  8., 25.], dtype=float64)], [0])
    """
    every, out_every = ((True,) * n for n in (len(operands), len(branches[0].out_avals)))
    operands = to_front(axis_size, operands, dims, every)
    results = []
    for number, branch in enumerate(branches):
        mine = eq(indices, np.int32(number))
        safe = [select(stretch(mine, x), x, stop_gradient(x)) for x in operands]
        program, _ = batched_program(branch, axis_size, every, out_every)
        results.append(jaxpr_as_fun(program)(*safe))
    columns = zip(*results, strict=True)
    return [select_n(stretch(indices, c[0]), *c) for c in columns], front_or_none(out_every)


def stretch(per_example: Any, batch: Any) -> Any:
    """One number for each example, in the shape of a batch."""
    return broadcast_in_dim(per_example, get_aval(batch).shape, (0,))


impl_rules[cond_p] = cond_impl
jvp_rules[cond_p] = cond_jvp
vmap_rules[cond_p] = partial(cond_batch, select_branches)


# Loops: marks of the carry that are the same after a step ---------------------------------------


def settled(
    transform: Callable[[Marks], tuple[Any, Marks]], carry: Marks
) -> tuple[Any, Marks, Marks]:
    """A step that can be repeated, the marks of its carry, and the marks of its other results.

    `transform(marks)` returns the step of a loop, any object, for a carry with these marks, and the
    marks of the step's results: first the carry's, which include all of `marks`, then the others'.
    The marks that are found include `carry`, and are the fewest with which the step can be
    repeated. `transform` is called at most once for the same marks.

    >>> def step(carry):  # x moves if x did, y if x or y did; what is stacked moves if y did
    ...     x, y = carry
    ...     return f"step for {carry}", (x, x or y, y)
    >>> settled(step, (True, False))
    ('step for (True, True)', (True, True), (True,))
    """
    while True:
        step, out_marks = transform(carry)
        carry_out, others = groups(out_marks, len(carry))
        if carry_out == carry:
            return step, carry, others
        carry = carry_out


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
    """Whether the condition holds for at least one example."""
    f = jaxpr_as_fun(condition)
    return trace_to_jaxpr(lambda *args: [reduce_or(f(*args)[0], (0,))], condition.in_avals)


@kept_beside
def where_condition_holds(
    body: ClosedJaxpr, condition: ClosedJaxpr, body_nconsts: int
) -> ClosedJaxpr:
    """The step of a batch of loops, in which each example takes as many steps as it would alone.

    `condition` returns a boolean for each example. The new program takes the constants of the
    condition, `body_nconsts` constants of the body, and the carry, and runs each of the two
    programs once. After an example's own loop has ended, its carry and its tangents never change,
    whatever the body returns.

    >>> batch, limit = (ShapedArray(shape, np.dtype(float)) for shape in ((3,), ()))
    >>> small = trace_to_jaxpr(lambda limit, x: [x < limit], [limit, batch])
    >>> double = trace_to_jaxpr(lambda x: [x * 2.0], [batch])
    >>> step = where_condition_holds(double, small, 0)
    >>> print(*jaxpr_as_fun(step)(4.0, np.array([1.0, 3.0, 5.0])))
    [2. 6. 5.]
    """
    cond_nconsts = len(condition.in_avals) - len(body.out_avals)

    def step(*args: Value) -> list[Value]:
        cond_consts, consts, carry = groups(args, cond_nconsts, body_nconsts)
        (runs,) = jaxpr_as_fun(condition)(*cond_consts, *carry)
        new = jaxpr_as_fun(body)(*consts, *carry)
        return [select(stretch(runs, x), x, y) for x, y in zip(new, carry, strict=True)]

    return trace_to_jaxpr(step, [*condition.in_avals[:cond_nconsts], *body.in_avals])


# while: partial evaluation, no transposition ----------------------------------------------------


def while_partial_eval(trace: PartialEvalTrace, tracers: Tracers, **params: Any) -> list[Any]:
    """Run the loop for the known part of the carry; later the whole loop again, for the rest.

    There are no residuals, since the number of steps is not known. If the condition is unknown,
    everything is.
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


jvp_rules[while_p] = while_jvp
vmap_rules[while_p] = while_batch
partial_eval_rules[while_p] = while_partial_eval


def scan_jvp(primals: Values, tangents: Values, **params: Any) -> ValuesAndTangents:
    """The tangents of what moves are constants, carry and rows next to those they belong to."""
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

    Whatever does not depend on a linear input is computed first, by a scan of its own.
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
    """One list of cotangents: of linear constants, the first carry's linear part, and linear rows.

    `split.rest` is the linear part of a step, with the residuals `same` and `stacks`, and linear
    constants of types `consts`. `cts` are the cotangents of the linear results, None for zero. One
    scan of `loop.length` steps is bound.

    >>> row = ShapedArray((), np.dtype(float))
    >>> rest = trace_to_jaxpr(lambda k, c, x: [c + k, x * 2.0 + c], [row, row, row])
    >>> split = SplitScan(rest, rest, rest, (True,), (True, True), ())
    >>> loop = Scan(rest, length=2, num_carry=1, num_consts=1, reverse=False, unroll=1)
    >>> cts = [np.array(1.0), np.array([10.0, 20.0])]  # of the last carry, of the ys
    >>> print(*transpose_rest(loop, split, [row], [], [], cts))
    22.0 31.0 [20. 40.]
    """
    carry_avals, y_avals = groups(split.rest.out_avals, sum(split.carry))
    out_avals = [*carry_avals, *(stacked(aval, loop.length) for aval in y_avals)]
    init, ys = groups([*map(instantiate, cts, out_avals)], len(carry_avals))
    step = backward_step(split.rest, len(same), len(consts), len(init), len(stacks))
    backwards = replace(loop, reverse=not loop.reverse)
    return backwards.bind(step, same, [*map(zeros, consts), *init], [*ys, *stacks])


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

    The y of a step goes to the index of the row that the step reads; if `loop.reverse`, the last
    row is read first. The body is in the program once. There may be a million steps. A scan of no
    steps has no loop: it returns the first carry, and ys without rows.

    >>> row = ShapedArray((), np.dtype(float))
    >>> body = trace_to_jaxpr(lambda c, x: [c + x, c * x], [row, row])
    >>> loop = Scan(body, length=3, num_carry=1, num_consts=0, reverse=False, unroll=1)
    >>> print(*scan_by_while(loop, [np.float64(1.0), np.array([2.0, 3.0, 4.0])]))
    10.0 [ 2.  9. 24.]
    """
    consts, init, rows = loop.parts(args)
    ys = [zeros(stacked(aval, loop.length)) for aval in loop.jaxpr.out_avals[loop.num_carry :]]
    if loop.length == 0:  # there is no row that could be taken out
        return [*init, *ys]

    def step(state: Values) -> list[Any]:
        (number,), carry, ys = groups(state, 1, loop.num_carry)
        place = loop.length - 1 - number if loop.reverse else number
        outs = jaxpr_as_fun(loop.jaxpr)(*consts, *carry, *(row_at(x, place) for x in rows))
        carry, new_rows = groups(outs, loop.num_carry)
        pairs = zip(ys, new_rows, strict=True)
        return [number + 1, *carry, *(put_row(y, row, place) for y, row in pairs)]

    start = [np.int64(0), *init, *ys]
    return while_loop(lambda state: lt(state[0], np.int64(loop.length)), step, start)[1:]


jvp_rules[scan_p] = scan_jvp
vmap_rules[scan_p] = scan_batch
partial_eval_rules[scan_p] = scan_partial_eval
transpose_rules[scan_p] = scan_transpose
abstract_eval_rules[scan_p] = scan_type
hlo_lowerings[scan_p] = scan_hlo
