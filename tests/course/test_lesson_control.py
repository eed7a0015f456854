"""The lesson control: other right answers pass."""

import pytest
from other_answers import lost

from autograder.hidden.suites.control import SIBLINGS
from autograder.lessons import manifest

TARGETS = {e.target: e.id for e in manifest.get("control").exercises}

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {TARGETS[target]: text for target, text in SIBLINGS.items()},
    {
        "control.cond_eval": """
def cond_impl(index, *operands, branches):
    for number, branch in enumerate(branches):
        if number == index:
            outs = list(jaxpr_as_fun(branch)(*operands))
            return [np.array(x) if isinstance(x, (int, float)) else x for x in outs]
    raise IndexError(index)
""",
        "control.cond_jvp": """
def cond_jvp(primals, tangents, *, branches):
    moves = moving(tangents)[1:]

    def differentiated(branch, at_least):
        return jvp_program(branch, moves, at_least)

    programs, marks = agreed(differentiated, branches)
    operands = list(primals[1:]) + [t for t in tangents if t is not None]
    outs = bind_cond(primals[0], programs, operands)
    results = len(branches[0].out_avals)
    out_tangents = [None] * results
    places = [i for i in range(results) if marks[i]]
    for place, tangent in zip(places, outs[results:], strict=True):
        out_tangents[place] = tangent
    return outs[:results], out_tangents
""",
        "control.select": """
def select_branches(axis_size, indices, operands, dims, branches):
    batches = [move_batch_axis(axis_size, d, 0, x) for x, d in zip(operands, dims, strict=True)]
    marks = [True] * len(batches)
    out_marks = [True] * len(branches[0].out_avals)
    best = None
    for number, branch in enumerate(branches):
        own = eq(indices, np.array(number, np.int32))
        inputs = [select(stretch(own, x), x, stop_gradient(x)) for x in batches]
        f, _ = batched_program(branch, axis_size, tuple(marks), tuple(out_marks))
        outs = jaxpr_as_fun(f)(*inputs)
        if best is None:
            best = outs
        else:
            best = [select(stretch(own, x), x, y) for x, y in zip(outs, best, strict=True)]
    return best, [0 for _ in best]
""",
        "control.settled": """
def settled(transform, carry):
    n, before = len(carry), None
    while before != carry:
        before = carry
        step, marks = transform(before)
        carry = tuple(marks[:n])
    return step, carry, tuple(marks[n:])
""",
        "control.finished": """
@kept_beside
def where_condition_holds(body, condition, body_nconsts):
    n_carry = len(body.out_avals)
    n_cond = len(condition.in_avals) - n_carry

    def f(*args):
        args = list(args)
        old = args[len(args) - n_carry :]
        go_on = jaxpr_as_fun(condition)(*args[:n_cond], *old)[0]
        outs = []
        for x, y in zip(jaxpr_as_fun(body)(*args[n_cond:]), old, strict=True):
            outs.append(select_n(stretch(go_on, y), y, x))
        return outs

    types = list(condition.in_avals[:n_cond]) + list(body.in_avals[:body_nconsts])
    return trace_to_jaxpr(f, types + list(body.out_avals))
""",
        "control.scan_steps": """
def scan_by_while(loop, args):
    first = loop.num_consts + loop.num_carry
    consts, init, rows = args[: loop.num_consts], args[loop.num_consts : first], args[first:]
    empty = tuple(zeros(stacked(a, loop.length)) for a in loop.jaxpr.out_avals[loop.num_carry :])
    if not loop.length:
        return list(init) + list(empty)
    body = jaxpr_as_fun(loop.jaxpr)
    start, change = (loop.length - 1, -1) if loop.reverse else (0, 1)

    def step(state):
        left, place, carry, ys = state
        outs = body(*consts, *carry, *[row_at(x, place) for x in rows])
        new = outs[loop.num_carry :]
        ys = tuple(put_row(y, row, place) for y, row in zip(ys, new, strict=True))
        return left - 1, place + change, tuple(outs[: loop.num_carry]), ys

    state = np.int64(loop.length), np.int64(start), tuple(init), empty
    _, _, carry, ys = while_loop(lambda s: s[0] > 0, step, state)
    return [*carry, *ys]
""",
        "control.scan_transpose": """
def transpose_rest(loop, split, consts, same, stacks, cts):
    n = len([mark for mark in split.carry if mark])
    full = []
    for i, (ct, aval) in enumerate(zip(cts, split.rest.out_avals, strict=True)):
        full.append(instantiate(ct, aval if i < n else stacked(aval, loop.length)))
    reverse = False if loop.reverse else True
    step = backward_step(split.rest, len(same), len(consts), n, len(stacks))
    sums = [zeros(aval) for aval in consts]
    return replace(loop, reverse=reverse).bind(step, same, sums + full[:n], full[n:] + [*stacks])
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES, ids=["one", "another"])
def test_other_right_answers_have_full_points(answers):
    assert lost("control", answers) == ([], [])
