"""Answers to the exercises of the lesson control: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("control.cond_eval")
def cond_impl(index, *operands, branches):
    taken = jaxpr_as_fun(branches[int(index)])
    return list(map(as_array, taken(*operands)))


@right("control.cond_eval")
def cond_impl(index, *operands, branches):
    for number, branch in enumerate(branches):
        if number == index:
            outs = list(jaxpr_as_fun(branch)(*operands))
            return [np.array(x) if isinstance(x, (int, float)) else x for x in outs]
    raise IndexError(index)


@mistake(
    "control.cond_eval",
    name="All branches are run, and one of them is looked at",
    hints=[
        "If a branch takes an hour, and the other one is chosen: how long should it take?",
        "The index is a value here. Choose first, and run what you have chosen.",
        "`branches[int(index)]` comes before `jaxpr_as_fun`.",
    ],
)
def cond_impl(index, *operands, branches):
    results = [jaxpr_as_fun(branch)(*operands) for branch in branches]
    return [as_array(out) for out in results[int(index)]]


@right("control.cond_jvp")
def cond_jvp(primals, tangents, *, branches):
    moves = tuple(t is not None for t in tangents[1:])
    programs, out_moves = agreed(lambda b, need: jvp_program(b, moves, need), branches)
    given = [t for t in tangents[1:] if t is not None]
    outs = bind_cond(primals[0], programs, [*primals[1:], *given])
    changes = iter(outs[len(out_moves) :])
    return outs[: len(out_moves)], [next(changes) if move else None for move in out_moves]


@right("control.cond_jvp")
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


@mistake(
    "control.cond_jvp",
    name="What does not move gets a tangent of zeros",
    hints=[
        "Which results have no tangent at all, whichever branch is taken?",
        "A tangent that is known to be zero is None, so that nobody computes with it. Marks say which results move.",
        "Let `agreed` find the marks, and give None where there is no mark: `filled(out_moves, tangents_out)`.",
    ],
)
def cond_jvp(primals, tangents, *, branches):
    (index, *operands), moves = primals, moving(tangents[1:])
    number = len(branches[0].out_avals)
    programs = [jvp_program(branch, moves, (True,) * number)[0] for branch in branches]
    outs = bind_cond(index, programs, [*operands, *chosen(tangents[1:], moves)])
    return groups(outs, number)


@right("control.select")
def select_branches(axis_size, indices, operands, dims, branches):
    results = len(branches[0].out_avals)
    xs = to_front(axis_size, operands, dims, (True,) * len(dims))
    outs = []
    for i, branch in enumerate(branches):
        taken = eq(indices, np.array(i, np.int32))
        given = [select(stretch(taken, x), x, stop_gradient(x)) for x in xs]
        marks = (True,) * len(xs), (True,) * results
        outs.append(jaxpr_as_fun(batched_program(branch, axis_size, *marks)[0])(*given))
    columns = [[out[k] for out in outs] for k in range(results)]
    return [select_n(stretch(indices, c[0]), *c) for c in columns], [0] * results


@right("control.select")
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


@mistake(
    "control.select",
    name="The first example decides for the whole batch",
    hints=[
        "Take a batch of two, for which the condition holds in one case. What do the two examples get?",
        "`int(indices[0])`, or a Python `if`, asks one example and answers for all. With a tracer it fails altogether.",
        "Run every branch on the whole batch, and let `select_n` take each element from the branch of its example.",
    ],
)
def select_branches(axis_size, indices, operands, dims, branches):
    every, out_every = ((True,) * n for n in (len(operands), len(branches[0].out_avals)))
    operands = to_front(axis_size, operands, dims, every)
    program, _ = batched_program(branches[int(indices[0])], axis_size, every, out_every)
    return jaxpr_as_fun(program)(*operands), front_or_none(out_every)


@mistake(
    "control.select",
    name="All branches are run, and the wrong one is chosen",
    hints=[
        "Try two branches, one that doubles and one that squares. Who gets what?",
        "`select_n(which, *cases)` takes `cases[0]` where `which` is 0. It is not the order of `cond`, which names its branch for True first.",
        "Hand the results over in the order of the branches: `select_n(stretch(indices, c[0]), *c)`.",
    ],
)
def select_branches(axis_size, indices, operands, dims, branches):
    every, out_every = ((True,) * n for n in (len(operands), len(branches[0].out_avals)))
    operands = to_front(axis_size, operands, dims, every)
    results = []
    for number, branch in enumerate(branches):
        mine = eq(indices, np.int32(number))
        safe = [select(stretch(mine, x), x, stop_gradient(x)) for x in operands]
        program, _ = batched_program(branch, axis_size, every, out_every)
        results.insert(0, jaxpr_as_fun(program)(*safe))
    columns = zip(*results, strict=True)
    return [select_n(stretch(indices, c[0]), *c) for c in columns], front_or_none(out_every)


@mistake(
    "control.select",
    name="A branch that is not chosen spoils the gradient",
    hints=[
        "What is the gradient of `log(x)` at 0, times zero?",
        "The values are right, because nobody looks at what is not chosen. A gradient multiplies it by zero instead, and infinity times zero is NaN.",
        "Give each branch `select(stretch(mine, x), x, stop_gradient(x))`: where it is not chosen, nothing moves.",
    ],
)
def select_branches(axis_size, indices, operands, dims, branches):
    every, out_every = ((True,) * n for n in (len(operands), len(branches[0].out_avals)))
    operands = to_front(axis_size, operands, dims, every)
    results = []
    for branch in branches:
        program, _ = batched_program(branch, axis_size, every, out_every)
        results.append(jaxpr_as_fun(program)(*operands))
    columns = zip(*results, strict=True)
    return [select_n(stretch(indices, c[0]), *c) for c in columns], front_or_none(out_every)


@right("control.settled")
def settled(transform, carry):
    step, marks = transform(carry)
    number = len(carry)
    if marks[:number] != carry:
        return settled(transform, marks[:number])
    return step, carry, marks[number:]


@right("control.settled")
def settled(transform, carry):
    n, before = len(carry), None
    while before != carry:
        before = carry
        step, marks = transform(before)
        carry = tuple(marks[:n])
    return step, carry, tuple(marks[n:])


@mistake(
    "control.settled",
    name="One round is taken for enough",
    hints=[
        "The carry is (x, y), and each step adds x to y. At first only x moves. What moves before the second step?",
        "The step that you have takes a carry with the old marks, and gives one with the new marks. So it cannot be repeated.",
        "Transform again with the marks that came out, for as long as they differ from those that went in.",
    ],
)
def settled(transform, carry):
    step, out_marks = transform(carry)
    carry_out, others = groups(out_marks, len(carry))
    return step, carry_out, others


@right("control.finished")
@kept_beside
def where_condition_holds(body, condition, body_nconsts):
    first = len(condition.in_avals) - len(body.out_avals)

    def step(*args):
        carry = args[first + body_nconsts :]
        (runs,) = jaxpr_as_fun(condition)(*args[:first], *carry)
        new = jaxpr_as_fun(body)(*args[first:])
        return [select(stretch(runs, x), x, y) for x, y in zip(new, carry)]

    return trace_to_jaxpr(step, condition.in_avals[:first] + body.in_avals)


@right("control.finished")
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


@mistake(
    "control.finished",
    name="Examples that are done go on changing",
    hints=[
        "Batch a loop of three examples that need 1, 2 and 10 steps. How often is the carry of the first one replaced?",
        "The loop runs until the last example is done. A step has to leave alone what was done before.",
        "For each value of the carry, `select` the new one where the condition holds, and the old one elsewhere.",
    ],
)
@kept_beside
def where_condition_holds(body, condition, body_nconsts):
    cond_nconsts = len(condition.in_avals) - len(body.out_avals)

    def step(*args):
        return jaxpr_as_fun(body)(*args[cond_nconsts:])

    return trace_to_jaxpr(step, [*condition.in_avals[:cond_nconsts], *body.in_avals])


@mistake(
    "control.finished",
    name="The condition is asked about the new carry",
    hints=[
        "Take x = 6, the condition x < 8 and the body 2 * x. What is x in the end, without any batch?",
        "A `while` asks first, then runs the body: it is the old carry that decides whether there is a step.",
        "Call the condition on its constants and the carry that came in.",
    ],
)
@kept_beside
def where_condition_holds(body, condition, body_nconsts):
    cond_nconsts = len(condition.in_avals) - len(body.out_avals)

    def step(*args):
        cond_consts, consts, carry = groups(args, cond_nconsts, body_nconsts)
        new = jaxpr_as_fun(body)(*consts, *carry)
        (runs,) = jaxpr_as_fun(condition)(*cond_consts, *new)
        return [select(stretch(runs, x), x, y) for x, y in zip(new, carry, strict=True)]

    return trace_to_jaxpr(step, [*condition.in_avals[:cond_nconsts], *body.in_avals])


@right("control.scan_steps")
def scan_by_while(loop, args):
    consts, init, rows = loop.parts(args)
    n, last = loop.num_carry, loop.length - 1
    ys = [zeros(stacked(aval, loop.length)) for aval in loop.jaxpr.out_avals[n:]]

    def step(state):
        i, *values = state
        at = last - i if loop.reverse else i
        outs = jaxpr_as_fun(loop.jaxpr)(*consts, *values[:n], *[row_at(x, at) for x in rows])
        new = [put_row(y, row, at) for y, row in zip(values[n:], outs[n:])]
        return [i + 1, *outs[:n], *new]

    if last < 0:
        return [*init, *ys]
    return while_loop(lambda s: lt(s[0], np.int64(last + 1)), step, [np.int64(0), *init, *ys])[1:]


@right("control.scan_steps")
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


@mistake(
    "control.scan_steps",
    name="The stacked results come before the carry",
    hints=[
        "`carry, ys = scan(...)`: which of the two comes first?",
        "What is carried on and what is stacked are different things, though both are in the state of the loop.",
        "After the number, the state is `[*init, *ys]`, and so is what you return.",
    ],
)
def scan_by_while(loop, args):
    consts, init, rows = loop.parts(args)
    ys = [zeros(stacked(aval, loop.length)) for aval in loop.jaxpr.out_avals[loop.num_carry :]]
    if loop.length == 0:
        return [*ys, *init]

    def step(state):
        (number,), ys_so_far, carry = groups(state, 1, len(ys))
        place = loop.length - 1 - number if loop.reverse else number
        outs = jaxpr_as_fun(loop.jaxpr)(*consts, *carry, *(row_at(x, place) for x in rows))
        carry, new_rows = groups(outs, loop.num_carry)
        pairs = zip(ys_so_far, new_rows, strict=True)
        return [number + 1, *(put_row(y, row, place) for y, row in pairs), *carry]

    start = [np.int64(0), *ys, *init]
    return while_loop(lambda state: lt(state[0], np.int64(loop.length)), step, start)[1:]


@mistake(
    "control.scan_steps",
    name="The results of a reversed scan stand in the order of the steps",
    hints=[
        "In a reversed scan, where does the y of the first step belong: first, or last?",
        "Each y stands where its row stands. The first step reads the last row.",
        "Use one `place` for both, `row_at(x, place)` and `put_row(y, row, place)`.",
    ],
)
def scan_by_while(loop, args):
    consts, init, rows = loop.parts(args)
    ys = [zeros(stacked(aval, loop.length)) for aval in loop.jaxpr.out_avals[loop.num_carry :]]
    if loop.length == 0:
        return [*init, *ys]

    def step(state):
        (number,), carry, ys = groups(state, 1, loop.num_carry)
        place = loop.length - 1 - number if loop.reverse else number
        outs = jaxpr_as_fun(loop.jaxpr)(*consts, *carry, *(row_at(x, place) for x in rows))
        carry, new_rows = groups(outs, loop.num_carry)
        pairs = zip(ys, new_rows, strict=True)
        return [number + 1, *carry, *(put_row(y, row, number) for y, row in pairs)]

    start = [np.int64(0), *init, *ys]
    return while_loop(lambda state: lt(state[0], np.int64(loop.length)), step, start)[1:]


@right("control.scan_transpose")
def transpose_rest(loop, split, consts, same, stacks, cts):
    number = sum(split.carry)
    avals = list(split.rest.out_avals[:number])
    avals += [stacked(aval, loop.length) for aval in split.rest.out_avals[number:]]
    full = [instantiate(ct, aval) for ct, aval in zip(cts, avals)]
    body = backward_step(split.rest, len(same), len(consts), number, len(stacks))
    back = replace(loop, reverse=not loop.reverse)
    start = [zeros(aval) for aval in consts] + full[:number]
    return back.bind(body, same, start, full[number:] + list(stacks))


@right("control.scan_transpose")
def transpose_rest(loop, split, consts, same, stacks, cts):
    n = len([mark for mark in split.carry if mark])
    full = []
    for i, (ct, aval) in enumerate(zip(cts, split.rest.out_avals, strict=True)):
        full.append(instantiate(ct, aval if i < n else stacked(aval, loop.length)))
    reverse = False if loop.reverse else True
    step = backward_step(split.rest, len(same), len(consts), n, len(stacks))
    sums = [zeros(aval) for aval in consts]
    return replace(loop, reverse=reverse).bind(step, same, sums + full[:n], full[n:] + [*stacks])


@mistake(
    "control.scan_transpose",
    name="The transposed scan runs forward",
    hints=[
        "Undo putting on socks and shoes. What comes first?",
        "The cotangent of the last carry is what is known, and it belongs to the last step. Its residuals are in the last row.",
        "`replace(loop, reverse=not loop.reverse)` is the loop to bind.",
    ],
)
def transpose_rest(loop, split, consts, same, stacks, cts):
    carry_avals, y_avals = groups(split.rest.out_avals, sum(split.carry))
    out_avals = [*carry_avals, *(stacked(aval, loop.length) for aval in y_avals)]
    init, ys = groups([*map(instantiate, cts, out_avals)], len(carry_avals))
    step = backward_step(split.rest, len(same), len(consts), len(init), len(stacks))
    return loop.bind(step, same, [*map(zeros, consts), *init], [*ys, *stacks])


@mistake(
    "control.scan_transpose",
    name="The residuals are taken for the cotangents of the ys",
    hints=[
        "Which rows does the transposed step want, and in which order?",
        "`backward_step` lists what its program takes: in rows, first the cotangents of the ys, then residuals.",
        "The rows are `[*ys, *stacks]`.",
    ],
)
def transpose_rest(loop, split, consts, same, stacks, cts):
    carry_avals, y_avals = groups(split.rest.out_avals, sum(split.carry))
    out_avals = [*carry_avals, *(stacked(aval, loop.length) for aval in y_avals)]
    init, ys = groups([*map(instantiate, cts, out_avals)], len(carry_avals))
    step = backward_step(split.rest, len(same), len(consts), len(init), len(stacks))
    backwards = replace(loop, reverse=not loop.reverse)
    return backwards.bind(step, same, [*map(zeros, consts), *init], [*stacks, *ys])
