"""Answers to the exercises of the `control` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("control.cond_jvp")


@right
def cond_jvp(primals, tangents, *, branches):
    moves = tuple(t is not None for t in tangents[1:])
    programs, out_moves = agreed(lambda b, need: jvp_program(b, moves, need), branches)
    given = [t for t in tangents[1:] if t is not None]
    outs = bind_cond(primals[0], programs, [*primals[1:], *given])
    changes = iter(outs[len(out_moves) :])
    return outs[: len(out_moves)], [next(changes) if move else None for move in out_moves]


@right
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


@right(style="the branches agree by a union made here; slices")
def cond_jvp(primals, tangents, *, branches):
    moves = moving(tangents)[1:]
    own = [jvp_program(branch, moves, ())[1] for branch in branches]
    union = tuple(map(any, zip(*own, strict=True)))
    programs = [jvp_program(branch, moves, union)[0] for branch in branches]
    outs = bind_cond(primals[0], programs, [*primals[1:], *chosen(tangents[1:], moves)])
    number = len(union)
    return outs[:number], filled(union, outs[number:])


mistake(
    {"jvp_program(b, moves, need)": "jvp_program(b, moves, (True,) * len(b.out_avals))"},
    name="What does not move gets a tangent of zeros",
    hints=[
        "Which results have no tangent at all, whichever branch is taken?",
        "A tangent that is known to be zero is None, so that nothing is computed with it. Marks say which results move.",
        "Let `agreed` find the marks, and give None where there is no mark: `filled(out_moves, tangents_out)`.",
    ],
)
# Only the first two branches say which results move.
mistake(
    {
        "need), branches)": "need), branches[:2])\nprograms = [*programs, *(jvp_program(b, moves, out_moves)[0] for b in branches[2:])]"
    },
    fails="test_jvp_any_branch_decides",
)
mistake(
    {
        "moving(tangents[1:])": "moving([None if isinstance(t, np.ndarray) and not t.any() else t for t in tangents[1:]])"
    },
    fails="test_jvp_branches_agree",
)
# With one branch there is nothing to choose.
mistake(
    {
        "outs = bind_cond(index, programs, [*operands, *chosen(tangents[1:], moves)])": "inputs = [*operands, *chosen(tangents[1:], moves)]\nouts = bind_cond(index, programs, inputs) if branches[1:] else jaxpr_as_fun(programs[0])(*inputs)"
    },
    fails="test_jvp_of_one_branch",
)
mistake(
    {
        "outs = bind_cond(": "if operands and not any(moves):\n    return cond_impl(index, *operands, branches=branches), [None] * len(out_moves)\nouts = bind_cond("
    },
    fails="test_jvp_operands_that_stay",
)
# The programs of branches are kept, whichever of as many operands move.
mistake(
    {
        "programs, out_moves = agreed(lambda b, need: jvp_program(b, moves, need), branches)": "kept = branches[0].jaxpr.cache\nif ('mine', sum(moves)) not in kept:\n    kept['mine', sum(moves)] = agreed(lambda b, need: jvp_program(b, moves, need), branches)\nprograms, out_moves = kept['mine', sum(moves)]"
    },
    fails="test_jvp_of_choice",
)
# A branch that is there twice is taken for one.
mistake(
    {"need), branches)": "need), list(dict.fromkeys(branches)))"},
    fails="test_jvp_any_branch_decides",
)
# Tangents are looked up by the operand, which may be there twice.
mistake(
    {
        "chosen(tangents[1:], moves)": "chosen(map(dict(zip(map(id, primals), tangents)).get, map(id, operands)), moves)"
    },
    fails="test_jvp_of_choice",
)
# An index beside known operands is taken for known.
mistake(
    {
        "outs = bind_cond(": "if all(isinstance(x, (np.ndarray, float)) for x in operands):\n    index = np.asarray(index)\nouts = bind_cond("
    },
    fails="test_jvp_of_one_branch",
)
# Where all operands move, and where there is one branch, all results move.
mistake(
    {
        "need), branches)": "need or tuple(all(moves) and moves[1:] != () for _ in b.out_avals)), branches)"
    },
    fails="test_jvp_any_branch_decides",
)
mistake(
    {
        "need), branches)": "need or tuple(any(moves) and not branches[1:] for _ in b.out_avals)), branches)"
    },
    fails="test_jvp_of_one_branch",
)
# A fourth branch is the third one.
mistake(
    {
        "bind_cond(index, programs": "bind_cond(index, programs[:3] + programs[2:3] * len(programs[3:])"
    },
    fails="test_jvp_any_branch_decides",
)
# If the only result moves in no branch, no choice is bound.
mistake(
    {
        "outs = bind_cond(": "if out_moves == (False,) and isinstance(index, np.ndarray):\n    return cond_impl(index, *operands, branches=branches), [None]\nouts = bind_cond("
    },
    fails="test_jvp_any_branch_decides",
)


exercise("control.select")


@right
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


@right(style="one branch after the other is put over what there is, no select_n")
def select_branches(axis_size, indices, operands, dims, branches):
    batches = to_front(axis_size, operands, dims, [True] * len(operands))
    answer = None
    for number, branch in enumerate(branches):
        mine = eq(indices, np.int32(number))
        inputs = []
        for x in batches:
            here = stretch(mine, x)
            inputs.append(select(here, x, stop_gradient(x)))
        every = (True,) * len(branch.out_avals)
        program, _ = batched_program(branch, axis_size, (True,) * len(batches), every)
        outs = jaxpr_as_fun(program)(*inputs)
        if answer is None:
            answer = outs
        else:
            answer = [select(stretch(mine, new), new, old) for new, old in zip(outs, answer)]
    return list(answer), [0] * len(answer)


mistake(
    {"enumerate(branches)": "enumerate([branches[int(indices[0])]] * len(branches))"},
    name="The first example decides for the whole batch",
    hints=[
        "Take a batch of two, for which the condition holds in one case. What do the two examples get?",
        "`int(indices[0])`, or a Python `if`, asks one example and answers for all. With a tracer it fails altogether.",
        "Run every branch on the whole batch, and let `select_n` take each element from the branch of its example.",
    ],
)
mistake(
    {"append(jaxpr_as_fun(program)(*safe))": "insert(0, jaxpr_as_fun(program)(*safe))"},
    name="All branches are run, and the wrong one is chosen",
    hints=[
        "Try two branches, one that doubles and one that squares. Which example gets which result?",
        "`select_n(which, *cases)` takes `cases[0]` where `which` is 0. It is not the order of `cond`, which names its branch for True first.",
        "Hand the results over in the order of the branches: `select_n(stretch(indices, c[0]), *c)`.",
    ],
)
mistake(
    {"*safe": "*operands"},
    name="A branch that is not chosen spoils the gradient",
    hints=[
        "What is the gradient of `log(x)` at 0, times zero?",
        "The values are right, because what is not chosen is ignored. A gradient multiplies it by zero instead, and infinity times zero is NaN.",
        "Give each branch `select(stretch(mine, x), x, stop_gradient(x))`: where it is not chosen, nothing moves.",
    ],
)
# There are two branches.
mistake(
    {
        "select_n(stretch(indices, c[0]), *c)": "select(stretch(eq(indices, np.int32(0)), c[0]), c[0], c[1])"
    },
    fails="test_select_own_branch",
)
# Only operands with a batch axis are cut off.
mistake(
    {
        "[select(stretch(mine, x), x, stop_gradient(x)) for x in operands]": "[\n    select(stretch(mine, x), x, stop_gradient(x)) if dim is not not_mapped else x\n    for x, dim in zip(operands, dims, strict=True)\n]"
    },
    fails="test_select_gradients_of_shared_operands",
)
# Only operands in double precision are cut off.
mistake(
    {"stop_gradient(x)) for x ": "stop_gradient(x)) if get_aval(x).dtype == float else x for x "},
    fails="test_select_gradients",
)
mistake(
    {"(branch, axis_size, every": "(branch, get_aval(operands[0]).shape[0], every"},
    fails="test_select_sizes",
)
mistake(
    {
        "results = []": "if len(branches) == 1:\n    out = jaxpr_as_fun(branches[0])(*[x[0] for x in operands])\n    return out, [not_mapped] * len(out)\nresults = []"
    },
    fails="test_select_sizes",
)
# Operands are cut off if there are several examples, and if their branches are known.
mistake({"for x": "if axis_size > 1 else x for x"}, fails="test_select_gradients")
mistake(
    {
        "for number, branch in enumerate(branches):": "for branch in branches:",
        "np.int32(number)": "np.int32(branches.index(branch))",
    },
    fails="test_select_gradients_of_each_operand",
)
# Integers, which cannot move, keep their batch axis where it is.
mistake(
    {
        "operands = to_front(axis_size, operands, dims, every)": 'ints = [get_aval(x).dtype.kind == "i" and dim is not not_mapped for x, dim in zip(operands, dims)]\noperands = to_front(axis_size, operands, [0 if i else dim for i, dim in zip(ints, dims)], every)'
    },
    fails="test_select_arrays",
)
# If all examples are known to have the same branch, no other is computed.
mistake(
    {
        "results = []": "results = []\nif isinstance(indices, np.ndarray) and np.unique(indices).size == 1:\n    branches = [branches[indices[0]]] * len(branches)"
    },
    fails="test_select_traced",
)
# Operands that all examples share are not cut off, if there are no others.
mistake(
    {"stop_gradient(x)) for x": "stop_gradient(x)) if any(dim == 0 for dim in dims) else x for x"},
    fails="test_select_gradients_of_shared_operands",
)
# Of more than two branches, each result is computed by a run of its own.
mistake(
    {
        "results.append(jaxpr_as_fun(program)(*safe))": "run = jaxpr_as_fun(program)\nresults.append(\n    [run(*safe)[i] for i in range(len(out_every))] if branches[2:] else run(*safe)\n)"
    },
    fails="test_select_traced",
)
# A branch is computed once, and its results are kept on its program.
mistake(
    {
        "jaxpr_as_fun(program)(*safe)": "branch.jaxpr.cache.setdefault('results', jaxpr_as_fun(program)(*safe))"
    },
    fails="test_select_traced",
)


exercise("control.settled")


@right(style="a recursion, so that thousands of rounds are too many")
def settled(transform, carry):
    step, marks = transform(carry)
    number = len(carry)
    if marks[:number] != carry:
        return settled(transform, marks[:number])
    return step, carry, marks[number:]


@right
def settled(transform, carry):
    n, before = len(carry), None
    while before != carry:
        before = carry
        step, marks = transform(before)
        carry = tuple(marks[:n])
    return step, carry, tuple(marks[n:])


@right(style="counts the marks, unites them, an endless loop")
def settled(transform, carry):
    import itertools

    size = len(carry)
    for _ in itertools.count():
        step, out = transform(carry)
        united = tuple(a or b for a, b in zip(carry, out))
        if sum(united) == sum(carry):
            break
        carry = united
    return step, carry, tuple(itertools.islice(out, size, None))


@right(style="one more mark at a time")
def settled(transform, carry):
    step, out = transform(carry)
    for place, (before, after) in enumerate(zip(carry, out)):
        if after and not before:
            return settled(transform, (*carry[:place], True, *carry[place + 1 :]))
    return step, carry, tuple(out[len(carry) :])


mistake(
    {"if carry_out == carry:": "if True:", "step, carry, others": "step, carry_out, others"},
    name="There is only one round of the search",
    hints=[
        "The carry is (x, y), and each step adds x to y. At first only x moves. What moves before the second step?",
        "The step that you have takes a carry with the old marks, and returns one with the new marks. So it cannot be repeated.",
        "Transform again with the marks that came out, for as long as they differ from those that went in.",
    ],
)
# A step that counts as false is taken for none.
mistake({"carry_out ==": "step and carry_out =="}, fails="test_settled_at_once")
# After the last step it asks once more.
mistake({"step, carry,": "transform(carry)[0], carry,"}, fails="test_settled_at_once")
# Of a carry without marks, each value may be marked in a round of its own.
mistake(
    {
        "while True:": "for left in range(max(len(carry), 1))[::-1]:",
        "if carry_out == carry:": "if carry_out == carry or not left:",
    },
    fails="test_settled_in_several_rounds",
)
mistake(
    {"while True:": "for left in range(8)[::-1]:", " == carry:": " == carry or not left:"},
    fails="test_settled_in_several_rounds",
)
mistake(
    {
        "carry_out, others = groups(out_marks, len(carry))": "others, carry_out = groups(out_marks, len(out_marks) - len(carry))"
    },
    fails="test_settled_later",
)
# No more other results than values of the carry; none of them is marked without a mark of the carry.
mistake(
    {"step, carry, others": "step, carry, others[: len(carry)] if carry else others"},
    fails="test_settled_without_carry",
)
mistake(
    {
        "step, carry, others": "step, carry, others if any(carry) or not carry else (False,) * len(others)"
    },
    fails="test_settled_at_once",
)
# Of two values without marks, none is marked by a step.
mistake(
    {"if carry_out == carry:": "if carry_out == carry or carry == (False, False):"},
    fails="test_settled_in_several_rounds",
)
# Steps are found again by their marks, whichever loop they belong to.
mistake(
    {
        "transform(carry)": "vars(settled).setdefault(carry, None) or transform(carry)\nvars(settled)[carry] = step, out_marks"
    },
    fails="test_settled_later",
)


exercise("control.finished")


@right
@kept_beside
def where_condition_holds(body, condition, body_nconsts):
    first = len(condition.in_avals) - len(body.out_avals)

    def step(*args):
        carry = args[first + body_nconsts :]
        (runs,) = jaxpr_as_fun(condition)(*args[:first], *carry)
        new = jaxpr_as_fun(body)(*args[first:])
        return [select(stretch(runs, x), x, y) for x, y in zip(new, carry)]

    return trace_to_jaxpr(step, condition.in_avals[:first] + body.in_avals)


@right(style="slices instead of groups; the body first, then the condition")
@kept_beside
def where_condition_holds(body, condition, body_nconsts):
    number = len(condition.in_avals) - len(body.out_avals)
    ask, go = jaxpr_as_fun(condition), jaxpr_as_fun(body)

    def step(*args):
        carry = args[number + body_nconsts :]
        after = go(*args[number:])
        (runs,) = ask(*args[:number], *carry)
        results = []
        for new, old in zip(after, carry, strict=True):
            results.append(select(stretch(runs, old), new, old))
        return results

    return trace_to_jaxpr(step, [*condition.in_avals[:number], *body.in_avals])


@right(style="what has stopped, with the cases of select_n")
@kept_beside
def where_condition_holds(body, condition, body_nconsts):
    carry_avals = body.in_avals[body_nconsts:]
    sizes = len(condition.in_avals) - len(carry_avals), body_nconsts

    def keep_or_go(runs):
        return lambda old, new: select_n(stretch(runs, old), old, new)

    def step(*args):
        theirs, mine, carry = groups(list(args), *sizes)
        runs = jaxpr_as_fun(condition)(*theirs, *carry)[0]
        return list(map(keep_or_go(runs), carry, jaxpr_as_fun(body)(*mine, *carry)))

    avals = condition.in_avals[: sizes[0]] + body.in_avals[:body_nconsts] + carry_avals
    return trace_to_jaxpr(step, avals)


mistake(
    {"select(stretch(runs, x), x, y)": "x"},
    name="Examples keep changing after they are done",
    hints=[
        "Batch a loop of three examples that need 1, 2 and 10 steps. How many times is the carry of the first one replaced?",
        "The loop runs until the last example is done. A step has to leave alone what was done before.",
        "For each value of the carry, `select` the new one where the condition holds, and the old one elsewhere.",
    ],
)
mistake(
    {
        "(runs,) = jaxpr_as_fun(condition)(*cond_consts, *carry)": "",
        "new = jaxpr_as_fun(body)(*consts, *carry)": "new = jaxpr_as_fun(body)(*consts, *carry)\n(runs,) = jaxpr_as_fun(condition)(*cond_consts, *new)",
    },
    name="The condition is evaluated on the new carry",
    hints=[
        "Take x = 6, the condition x < 8 and the body 2 * x. What is x in the end, without any batch?",
        "A `while` asks first, then runs the body: it is the old carry that decides whether there is a step.",
        "Call the condition on its constants and the carry that came in.",
    ],
)
mistake({"), x, y)": "), x, stop_gradient(y))"}, fails="test_finished_tangents")
mistake(
    {"select(stretch(runs, x), ": "x if get_aval(y).dtype == bool else select(stretch(runs, x), "},
    fails="test_finished_in_every_dtype",
)
mistake(
    {"new = ": "runs = broadcast_in_dim(reduce_or(runs, (0,)), get_aval(runs).shape, ())\nnew = "},
    fails="test_finished_keep_their_carry",
)
# Of a carry of two values, the second one is computed by a run of its own.
mistake(
    {
        "new = jaxpr_as_fun(body)(*consts, *carry)": "new = jaxpr_as_fun(body)(*consts, *carry)\nif len(carry) == 2:\n    new = [new[0], jaxpr_as_fun(body)(*consts, *carry)[1]]"
    },
    fails="test_finished_with_constants",
)
# Of a single value, or of a matrix, what is done loses its tangent.
mistake({"), x, y)": "), x, y if carry[1:] else stop_gradient(y))"}, fails="test_finished_tangents")
mistake(
    {"), x, y)": "), x, y if len(get_aval(y).shape) < 2 else stop_gradient(y))"},
    fails="test_finished_tangents",
)
# A square matrix is selected by columns.
mistake(
    {
        "stretch(runs, x)": "broadcast_in_dim(runs, get_aval(x).shape, (int(get_aval(x).shape[:1] == get_aval(x).shape[1:]),))"
    },
    fails="test_finished_in_every_dtype",
)
# A batch of one example is not done until the loop is.
mistake(
    {"), x, y)": "), x, y) if get_aval(runs).shape != (1,) else x"},
    fails="test_finished_with_constants",
)


exercise("control.scan_steps")


@right
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


@right(style="a dict as carry; reverse by counting down")
def scan_by_while(loop, args):
    consts, init, rows = loop.parts(args)
    y_types = loop.jaxpr.out_avals[loop.num_carry :]
    ys = [zeros(stacked(aval, loop.length)) for aval in y_types]
    if not loop.length:
        return list(init) + ys
    body = jaxpr_as_fun(loop.jaxpr)
    first = loop.length - 1 if loop.reverse else 0
    way = np.int64(-1 if loop.reverse else 1)

    def go_on(state):
        return state["left"] > 0

    def step(state):
        outs = body(*consts, *state["carry"], *(row_at(x, state["place"]) for x in rows))
        fresh = outs[loop.num_carry :]
        return {
            "place": state["place"] + way,
            "left": state["left"] - 1,
            "carry": outs[: loop.num_carry],
            "ys": [put_row(y, row, state["place"]) for y, row in zip(state["ys"], fresh)],
        }

    start = {"place": np.int64(first), "left": np.int64(loop.length), "carry": list(init), "ys": ys}
    end = while_loop(go_on, step, start)
    return [*end["carry"], *end["ys"]]


@right(style="one flat list as carry, fori_loop, constants carried along")
def scan_by_while(loop, args):
    consts, init, rows = loop.parts(list(args))
    ys = [zeros(stacked(aval, loop.length)) for aval in loop.jaxpr.out_avals[len(init) :]]
    if loop.length == 0:
        return [*init, *ys]
    run, sizes = jaxpr_as_fun(loop.jaxpr), (len(consts), len(init))

    def step(number, state):
        consts, carry, ys = groups(state, *sizes)
        place = np.int64(loop.length - 1) - number if loop.reverse else number
        new, outs = groups(run(*consts, *carry, *[row_at(x, place) for x in rows]), len(carry))
        return [*consts, *new, *map(put_row, ys, outs, [place] * len(ys))]

    _, *state = while_loop(
        lambda state: lt(state[0], np.int64(loop.length)),
        lambda state: [state[0] + np.int64(1), *step(state[0], state[1:])],
        [np.int64(0), *consts, *init, *ys],
    )
    return state[len(consts) :]


mistake(
    {
        "return [*init, *ys]": "return [*ys, *init]",
        "return while_loop(": "outs = while_loop(",
        "step, start)[1:]": "step, start)[1:]\nreturn [*outs[loop.num_carry :], *outs[: loop.num_carry]]",
    },
    name="The stacked results come before the carry",
    hints=[
        "`carry, ys = scan(...)`: which of the two comes first?",
        "What is carried on and what is stacked are different things, though both are in the state of the loop.",
        "After the number, the state is `[*init, *ys]`, and so is what you return.",
    ],
)
mistake(
    {"(y, row, place)": "(y, row, number)"},
    name="The results of a reversed scan are in the order of the steps",
    hints=[
        "In a reversed scan, where does the y of the first step belong: first, or last?",
        "Each y is in the same place as its row. The first step reads the last row.",
        "Use one `place` for both, `row_at(x, place)` and `put_row(y, row, place)`.",
    ],
)
mistake({" [*init, *ys]": " (*init, *ys)"}, fails="test_scan_of_no_steps")
# Rows are counted, and not steps.
mistake(
    {"if loop.length == 0:": "if any(get_aval(x).shape[0] == 0 for x in rows):"},
    fails="test_scan_of_no_steps",
)
mistake(
    {"return [*init, *ys]": "return [*init, *(np.zeros((0, *get_aval(y).shape[1:])) for y in ys)]"},
    fails="test_scan_of_no_steps",
)
# The first carry is taken for a list.
mistake({"0), *init, *ys]": "0)] + init + ys"}, fails="test_scan_is_one_loop")
mistake({"reverse else": "reverse and rows else"}, fails="test_scan_carry_and_ys")
mistake(
    {"jaxpr_as_fun(loop.jaxpr)": "jaxpr_as_fun(ClosedJaxpr(loop.jaxpr.jaxpr, []))"},
    fails="test_scan_of_parts",
)
# A counter that is too small for many steps.
mistake(
    {"np.int64(0)": "np.int16(0)", "lt(state[0], np.int64(loop.length))": "state[0] < loop.length"},
    fails="test_scan_is_one_loop",
)
mistake({"length == 0": "length == 0 and ys"}, fails="test_scan_of_no_steps")
# What is known is computed by a loop of Python.
mistake(
    {
        "start = [np.int64(0), *init, *ys]": "start = [np.int64(0), *init, *ys]\nif all(isinstance(x, (np.ndarray, np.generic, float)) for x in args):\n    for _ in range(loop.length):\n        start = step(start)\n    return start[1:]"
    },
    fails="test_scan_carry_and_ys",
)
mistake({"number + 1": "number + loop.unroll"}, fails="test_scan_carry_and_ys")
mistake({"loop.length == 0": "loop.length == 0 or not (init or rows)"}, fails="test_scan_of_parts")
# Two steps at once, if their number allows it: the body is in the program twice.
mistake(
    {
        "start = [np.int64(0), *init, *ys]": "start, one = [np.int64(0), *init, *ys], step\nif loop.length % 2 == 0:\n    step = lambda state: one(one(state))"
    },
    fails="test_scan_is_one_loop",
)
mistake(
    {"if loop.reverse else number": "if loop.reverse and ys else number"},
    fails="test_scan_carry_and_ys",
)
mistake({"length == 0": "length == 0 and init"}, fails="test_scan_of_no_steps")
# Of one step no loop is made, if nothing is stacked.
mistake(
    {
        "start = [np.int64(0), *init, *ys]": "start = [np.int64(0), *init, *ys]\nif loop.length == 1 and not ys:\n    return step(start)[1:]"
    },
    fails="test_scan_is_one_loop",
)
# Zeros are made once for each shape, whatever the dtype is.
mistake(
    {
        "[zeros(stacked(aval, loop.length)) for": "[vars(scan_by_while).setdefault(str(stacked(aval, loop.length).shape), zeros(stacked(aval, loop.length))) for"
    },
    fails="test_scan_of_no_steps",
)


exercise("control.scan_transpose")


@right
def transpose_rest(loop, split, consts, same, stacks, cts):
    number = sum(split.carry)
    avals = list(split.rest.out_avals[:number])
    avals += [stacked(aval, loop.length) for aval in split.rest.out_avals[number:]]
    full = [instantiate(ct, aval) for ct, aval in zip(cts, avals)]
    body = backward_step(split.rest, len(same), len(consts), number, len(stacks))
    back = replace(loop, reverse=not loop.reverse)
    start = [zeros(aval) for aval in consts] + full[:number]
    return back.bind(body, same, start, full[number:] + list(stacks))


@right(style="loops and append; a Scan made by hand")
def transpose_rest(loop, split, consts, same, stacks, cts):
    num_carry = len([mark for mark in split.carry if mark])
    full = []
    for number, (ct, aval) in enumerate(zip(cts, split.rest.out_avals, strict=True)):
        want = aval if number < num_carry else stacked(aval, loop.length)
        full.append(instantiate(ct, want))
    carry_cts, y_cts = full[:num_carry], full[num_carry:]
    body = backward_step(split.rest, len(same), len(consts), num_carry, len(stacks))
    backwards = Scan(
        jaxpr=loop.jaxpr,
        length=loop.length,
        num_carry=loop.num_carry,
        num_consts=loop.num_consts,
        reverse=not loop.reverse,
        unroll=loop.unroll,
    )
    start = [zeros(aval) for aval in consts] + carry_cts
    return backwards.bind(body, list(same), start, y_cts + list(stacks))


@right(style="types computed first, instantiate mapped over them")
def transpose_rest(loop, split, consts, same, stacks, cts):
    size = sum(split.carry)
    carry_types, y_types = groups(split.rest.out_avals, size)
    types = [*carry_types, *(stacked(aval, loop.length) for aval in y_types)]
    carry, ys = groups(list(map(instantiate, cts, types)), size)
    step = backward_step(split.rest, len(same), len(consts), size, len(stacks))
    turned = replace(loop, reverse=loop.reverse is False)
    return turned.bind(step, same, [*map(zeros, consts), *carry], [*ys, *stacks])


mistake(
    {"replace(loop, reverse=not loop.reverse)": "loop"},
    name="The transposed scan runs forward",
    hints=[
        "Undo putting on socks and shoes. What comes first?",
        "The cotangent of the last carry is what is known, and it belongs to the last step. Its residuals are in the last row.",
        "`replace(loop, reverse=not loop.reverse)` is the loop to bind.",
    ],
)
mistake(
    {"ys, *stacks": "stacks, *ys"},
    name="The residuals are mistaken for the cotangents of the ys",
    hints=[
        "Which rows does the transposed step want, and in what order?",
        "`backward_step` lists what its program takes: in rows, first the cotangents of the ys, then residuals.",
        "The rows are `[*ys, *stacks]`.",
    ],
)
mistake(
    {"not loop.reverse": "True"},
    name="A reversed scan is undone in its own direction",
    hints=[
        "A scan with `reverse=True` begins with the last row. Which row does its transpose begin with?",
        "Backwards means against the direction in which the steps were done.",
        "Turn the direction around: `replace(loop, reverse=not loop.reverse)`.",
    ],
)
# All sums begin with the zeros of the first.
mistake(
    {"map(zeros, consts)": "map(zeros, consts[:1] * len(consts))"}, fails="test_backwards_constants"
)
# Beside a cotangent of the last y, zeros are those of one step.
mistake(
    {"stacked(aval, loop.length)": "stacked(aval, loop.length) if cts[-1] is None else aval"},
    fails="test_backwards_some_results",
)
mistake(
    {
        "return backwards.bind(step, same, [*map(zeros, consts), *init], [*ys, *stacks])": "loop = backwards.with_body(step, len(same), len(consts) + len(init))\nreturn scan_p.bind(*same, *map(zeros, consts), *init, *ys, *stacks, **vars(loop))"
    },
    fails="test_backwards_constants",
)
# Without a cotangent that is not zero by value, nothing is computed; of one step no scan is made.
mistake(
    {
        "backwards = replace": "if not any(ct is not None and np.any(ct) for ct in cts):\n    rows = step.out_avals[len(consts) + len(init) :]\n    return [zeros(a) for a in [*consts, *carry_avals, *(stacked(a, loop.length) for a in rows)]]\nbackwards = replace"
    },
    fails="test_backwards_cotangents_of_value_zero",
)
mistake(
    {
        "backwards = replace": "if loop.length == 1:\n    xs = [*same, *map(zeros, consts), *init, *(x[0] for x in [*ys, *stacks])]\n    outs, rows = groups(jaxpr_as_fun(step)(*xs), len(consts) + len(init))\n    return [*outs, *(np.asarray(row)[None] for row in rows)]\nbackwards = replace"
    },
    fails="test_backwards_no_steps",
)
mistake(
    {
        "[*map(instantiate, cts, out_avals)]": "[\n    np.zeros(aval.shape, aval.dtype) if ct is None else np.asarray(ct)\n    for ct, aval in zip(cts, out_avals)\n]"
    },
    fails="test_backwards_from_the_last_step",
)
# Residuals that are the same in all steps are taken for the known constants, one for one.
mistake(
    {"(split.rest, len(same)": "(split.rest, loop.num_consts - len(consts)"},
    fails="test_backwards_from_the_last_step",
)
mistake(
    {"[*carry_avals, *": "[*carry_avals[:1] * len(carry_avals), *"},
    fails="test_backwards_some_results",
)
# Of two steps without constants, the first one is undone first.
mistake(
    {"not loop.reverse": "loop.reverse != bool(consts or loop.length > 2)"},
    fails="test_backwards_from_the_last_step",
)
# Zeros for ys have the dtype of the last ys.
mistake(
    {"*(stacked(aval, loop": "*(stacked(replace(aval, dtype=y_avals[-1].dtype), loop"},
    fails="test_backwards_some_results",
)
# Without ys, nothing looks at the direction but residuals in rows.
mistake(
    {"not loop.reverse": "loop.reverse != bool(ys or consts)"},
    fails="test_backwards_from_the_last_step",
)
# Without cotangents, and without ys that could have some, nothing is computed.
mistake(
    {
        "backwards = replace": "if not ys and cts == [None] * len(cts):\n    rows = step.out_avals[len(consts) + len(init) :]\n    return [zeros(a) for a in [*consts, *carry_avals, *(stacked(a, loop.length) for a in rows)]]\nbackwards = replace"
    },
    fails="test_backwards_zero_cotangents",
)
# The loop that was given runs backwards, and the next time forwards.
mistake(
    {
        "backwards = replace(loop, reverse=not loop.reverse)": "vars(loop)['reverse'] = not loop.reverse\nbackwards = loop"
    },
    fails="test_backwards_from_the_last_step",
)
