"""Answers to the exercises of the lesson checkpoint: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("checkpoint.call")
def call_remat(program, args, **params):
    inner = ClosedJaxpr(without_consts(program.jaxpr), [])
    operands = list(program.consts)
    operands.extend(args)
    return remat_p.bind(*operands, **dict(params, jaxpr=inner))


@right("checkpoint.call")
def call_remat(program, args, **params):
    params["jaxpr"] = program.replace(jaxpr=without_consts(program.jaxpr), consts=[])
    return remat_p.bind(*[*program.consts, *args], **params)


@mistake(
    "checkpoint.call",
    name="The constants stay in the program",
    hints=[
        "A checkpointed function uses a value of the function around it, which is being differentiated. Where does your call keep that value?",
        "A transformation sees the operands of an operation. A tracer that hides in the constants of a parameter is not found; the call is evaluated at once, as if nobody transformed it.",
        "Bind on the values of `program.consts` and then the arguments, with a program from `without_consts(program.jaxpr)`, in a `ClosedJaxpr` whose list of constants is empty.",
    ],
)
def call_remat(program, args, **params):
    return remat_p.bind(*args, jaxpr=program, **params)


@mistake(
    "checkpoint.call",
    name="The constants come behind the arguments",
    hints=[
        "The program has inputs in an order. Which are its first ones, if it was made by `without_consts`?",
        "The constants are further inputs *in front of* the others. Operands and inputs must be in one order.",
        "Begin the operands with the values of `program.consts`, and let `args` follow.",
    ],
)
def call_remat(program, args, **params):
    jaxpr = ClosedJaxpr(without_consts(program.jaxpr), [])
    return remat_p.bind(*args, *program.consts, jaxpr=jaxpr, **params)


@right("checkpoint.kept_values")
def kept_values(jaxpr, number, policy):
    needed, kept = set(), set()
    if policy is not None:
        needed.update(x for x in jaxpr.outvars[number:] if not isinstance(x, Literal))
    for eqn in jaxpr.eqns[::-1]:
        found = needed.intersection(eqn.outvars)
        if not found:
            continue
        types = [x.aval for x in eqn.invars]
        match bool(policy(eqn.primitive, *types, **eqn.params)):
            case True:
                kept |= found
            case False:
                needed.update(x for x in eqn.invars if not isinstance(x, Literal))
    return [var for eqn in jaxpr.eqns for var in eqn.outvars if var in kept]


@right("checkpoint.kept_values")
def kept_values(jaxpr, number, policy):
    if policy is None:
        return []
    makers = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
    needed, kept = set(jaxpr.outvars[number:]) & set(makers), []
    for i in range(len(jaxpr.eqns) - 1, -1, -1):
        eqn = jaxpr.eqns[i]
        if needed.isdisjoint(eqn.outvars):
            continue
        if policy(eqn.primitive, *(atom.aval for atom in eqn.invars), **eqn.params):
            kept.insert(0, [var for var in eqn.outvars if var in needed])
        else:
            needed |= set(eqn.invars) & set(makers)
    return [var for group in kept for var in group]


@mistake(
    "checkpoint.kept_values",
    name="What a kept value was made from counts as needed",
    hints=[
        "A value is kept. Must the values that it was computed from be there later, too?",
        "A kept value is there: nobody computes it again, so nobody reads its operands for it. The walk upwards ends at it.",
        "Add the operands to the needed ones only where the policy says no.",
    ],
)
def kept_values(jaxpr, number, policy):
    if policy is None:
        return []
    live = {atom for atom in jaxpr.outvars[number:] if isinstance(atom, Var)}
    kept = []
    for eqn in reversed(jaxpr.eqns):
        results = [var for var in eqn.outvars if var in live]
        if results:
            if policy(eqn.primitive, *[atom.aval for atom in eqn.invars], **eqn.params):
                kept = results + kept
            live.update(atom for atom in eqn.invars if isinstance(atom, Var))
    return kept


@mistake(
    "checkpoint.kept_values",
    name="The known outputs count as needed",
    hints=[
        "An output of the function is a sine, and the policy keeps sines. Does the backward pass read that sine?",
        "The outputs of this program are of two kinds. The first ones are results of the function: the program for now gives them to the user. Only those behind them are residuals.",
        "Begin with `jaxpr.outvars[number:]`, not with all outputs.",
    ],
)
def kept_values(jaxpr, number, policy):
    if policy is None:
        return []
    live = {atom for atom in jaxpr.outvars if isinstance(atom, Var)}
    kept = []
    for eqn in reversed(jaxpr.eqns):
        results = [var for var in eqn.outvars if var in live]
        if results:
            if policy(eqn.primitive, *[atom.aval for atom in eqn.invars], **eqn.params):
                kept = results + kept
            else:
                live.update(atom for atom in eqn.invars if isinstance(atom, Var))
    return kept


@mistake(
    "checkpoint.kept_values",
    name="Everything that the policy allows is kept, needed or not",
    hints=[
        "The policy allows sines, and your function has a sine that only its own result needs. What would the backward pass do with it?",
        "To be allowed is one condition, to be needed the other. What is needed is found by walking from the residuals upwards.",
        "Hold a set of needed variables, and ask the policy only about equations of whose results one is in it.",
    ],
)
def kept_values(jaxpr, number, policy):
    if policy is None:
        return []
    kept = []
    for eqn in jaxpr.eqns:
        if policy(eqn.primitive, *[atom.aval for atom in eqn.invars], **eqn.params):
            kept += eqn.outvars
    return kept


@right("checkpoint.later")
def program_for_later(known_part, number, kept, rest):
    jaxpr = known_part.jaxpr
    n, m = len(jaxpr.invars), len(kept)

    def f(*args):
        env = dict(zip(jaxpr.constvars, known_part.consts))
        env.update(zip([*jaxpr.invars, *kept], args))

        def value(atom):
            return atom.val if isinstance(atom, Literal) else env[atom]

        for eqn in jaxpr.eqns:
            if any(var in kept for var in eqn.outvars):
                continue
            out = eqn.primitive.bind(*map(value, eqn.invars), **eqn.params)
            env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
        residuals = [value(atom) for atom in jaxpr.outvars[number:]]
        return eval_jaxpr(rest.jaxpr, [], *residuals, *args[n + m :])

    unknown = rest.in_avals[len(jaxpr.outvars) - number :]
    return trace_to_jaxpr(f, [*known_part.in_avals, *(var.aval for var in kept), *unknown])


@right("checkpoint.later")
def program_for_later(known_part, number, kept, rest):
    jaxpr = known_part.jaxpr
    eqns = []
    for eqn in jaxpr.eqns:
        if not any(var in kept for var in eqn.outvars):
            eqns.append(eqn)
    first = ClosedJaxpr(
        Jaxpr(jaxpr.constvars, [*jaxpr.invars, *kept], jaxpr.outvars[number:], eqns),
        known_part.consts,
    )
    size = len(first.in_avals)

    def both(*args):
        middle = eval_jaxpr(first.jaxpr, first.consts, *args[:size])
        middle += args[size:]
        return eval_jaxpr(rest.jaxpr, rest.consts, *middle)

    return trace_to_jaxpr(both, first.in_avals + rest.in_avals[len(first.out_avals) :])


@mistake(
    "checkpoint.later",
    name="Kept values are computed again all the same",
    hints=[
        "Give a kept value that differs from what its equation would compute. Which of the two does your program use?",
        "If the equation that makes a kept variable is still there, it runs and writes over the value that was kept. Then keeping was for nothing.",
        "Leave out each equation that has a variable of `kept` among its `outvars`.",
    ],
)
def program_for_later(known_part, number, kept, rest):
    jaxpr = known_part.jaxpr
    inputs = [*jaxpr.invars, *kept]
    again = jaxpr.replace(invars=inputs, outvars=jaxpr.outvars[number:])

    def later(*args):
        residuals = eval_jaxpr(again, known_part.consts, *args[: len(inputs)])
        return eval_jaxpr(rest.jaxpr, rest.consts, *residuals, *args[len(inputs) :])

    avals = [*(var.aval for var in inputs), *rest.in_avals[len(again.outvars) :]]
    return trace_to_jaxpr(later, avals)


@right("checkpoint.partial_eval")
def remat_partial_eval(trace, tracers, *, jaxpr, policy, prevent_cse, differentiated):
    flags = tuple(t.pval.is_known for t in tracers)
    now, now_takes, later, later_takes, out_known = split_and_forget(jaxpr, flags, policy)
    known = [t for t in tracers if t.pval.is_known]
    rest = [t for t in tracers if not t.pval.is_known]
    outs = call_remat(
        now,
        chosen([t.pval.const for t in known], now_takes),
        prevent_cse=prevent_cse,
        policy=policy,
        differentiated=differentiated,
    )
    n = out_known.count(True)
    kept = [trace.pure(x) for x in outs[n:]]
    params = {
        "jaxpr": later,
        "policy": policy,
        "prevent_cse": prevent_cse,
        "differentiated": True,
    }
    operands = chosen([*(trace.pure(t.pval.const) for t in known), *kept, *rest], later_takes)
    staged = trace.stage_out(remat_p, operands, params)
    answer, i, j = [], 0, 0
    for flag in out_known:
        if flag:
            answer.append(outs[i])
            i += 1
        else:
            answer.append(staged[j])
            j += 1
    return answer


@right("checkpoint.partial_eval")
def remat_partial_eval(trace, tracers, *, jaxpr, policy, **params):
    known_values, others, is_known = [], [], []
    for t in tracers:
        is_known.append(t.pval.is_known)
        if t.pval.is_known:
            known_values.append(t.pval.const)
        else:
            others.append(t)
    split = split_and_forget(jaxpr, tuple(is_known), policy)
    params["policy"] = policy
    outs = list(call_remat(split.now, chosen(known_values, split.now_takes), **params))
    ready, kept = outs[: sum(split.out_known)], outs[sum(split.out_known) :]
    boxed = list(map(trace.pure, known_values + kept))
    taken = chosen(boxed + others, split.later_takes)
    waiting = trace.stage_out(remat_p, taken, params | dict(jaxpr=split.later, differentiated=True))
    return [(ready if flag else waiting).pop(0) for flag in split.out_known]


@mistake(
    "checkpoint.partial_eval",
    name="The residuals cross the line, as they do for jit",
    hints=[
        "Count what your call for later has as known operands, for three sines in a row. How many are there without `checkpoint`?",
        "`partial_eval_jaxpr` splits a program and keeps all residuals. The split that forgets them is another one, in this file.",
        "Ask `split_and_forget` for the two programs. Its program for later computes the residuals by itself, from the known inputs.",
    ],
)
def remat_partial_eval(trace, tracers, *, jaxpr, policy, **params):
    is_known = tuple(t.pval.is_known for t in tracers)
    known_part, rest, out_known = partial_eval_jaxpr(jaxpr, is_known)
    known_args = [t.pval.const for t in tracers if t.pval.is_known]
    outs = call_remat(known_part, known_args, policy=policy, **params)
    number = sum(out_known)
    boxed = [trace.pure(x) for x in outs[number:]]
    operands = [*boxed, *(t for t in tracers if not t.pval.is_known)]
    params |= {"policy": policy, "jaxpr": rest, "differentiated": True}
    later = iter(trace.stage_out(remat_p, operands, params))
    now = iter(outs[:number])
    return [next(now) if flag else next(later) for flag in out_known]


@mistake(
    "checkpoint.partial_eval",
    name="The call for later is not marked",
    hints=[
        "Compile a gradient and look at its text. Where is the barrier?",
        "Only the rule for partial evaluation knows that the second program computes something again. Who compiles it later sees parameters, and nothing else.",
        "Among the parameters of the operation that is staged out, `differentiated` must be `True`, whatever it was before.",
    ],
)
def remat_partial_eval(trace, tracers, *, jaxpr, policy, **params):
    split = split_and_forget(jaxpr, tuple(t.pval.is_known for t in tracers), policy)
    known_args = [t.pval.const for t in tracers if t.pval.is_known]
    outs = call_remat(split.now, chosen(known_args, split.now_takes), policy=policy, **params)
    number = sum(split.out_known)
    boxed = [trace.pure(x) for x in [*known_args, *outs[number:]]]
    operands = [*boxed, *(t for t in tracers if not t.pval.is_known)]
    params |= {"policy": policy, "jaxpr": split.later}
    later = iter(trace.stage_out(remat_p, chosen(operands, split.later_takes), params))
    now = iter(outs[:number])
    return [next(now) if flag else next(later) for flag in split.out_known]


@right("checkpoint.barrier")
def remat_hlo(emitter, avals, out_avals, args, *, jaxpr, prevent_cse, differentiated, policy):
    if not args or not prevent_cse or not differentiated:
        return lower_body(emitter, jaxpr.jaxpr, args, jaxpr.consts)
    behind = emit_barrier(emitter, avals, args)
    return lower_body(emitter, jaxpr.jaxpr, behind, jaxpr.consts)


@right("checkpoint.barrier")
def remat_hlo(emitter, avals, out_avals, args, *, jaxpr, prevent_cse, differentiated, policy):
    match prevent_cse, differentiated, len(args):
        case True, True, n if n > 0:
            names = emit_barrier(emitter, list(avals), list(args))
        case _:
            names = list(args)
    return lower_body(emitter, jaxpr.jaxpr, names, jaxpr.consts)


@mistake(
    "checkpoint.barrier",
    name="The first run has a barrier, too",
    hints=[
        "Compile a checkpointed function without any derivative. Is there something that could be merged?",
        "A barrier also stands in the way of other work of the compiler. It is wanted for the second run alone.",
        "Ask for `differentiated`, besides `prevent_cse`.",
    ],
)
def remat_hlo(emitter, avals, out_avals, args, *, jaxpr, prevent_cse, differentiated, policy):
    if prevent_cse and args:
        args = emit_barrier(emitter, avals, args)
    return lower_body(emitter, jaxpr.jaxpr, args, jaxpr.consts)


@mistake(
    "checkpoint.barrier",
    name="The barrier is there, and nobody goes through it",
    hints=[
        "Which names do your equations have as operands, and which line makes these names?",
        "A barrier separates only what uses its results. Equations that read the old names are beside it, and can be merged.",
        "`emit_barrier` gives new names. Hand those on to `lower_body`.",
    ],
)
def remat_hlo(emitter, avals, out_avals, args, *, jaxpr, prevent_cse, differentiated, policy):
    if differentiated and prevent_cse and args:
        emit_barrier(emitter, avals, args)
    return lower_body(emitter, jaxpr.jaxpr, args, jaxpr.consts)


@mistake(
    "checkpoint.barrier",
    name="There is a barrier although merging is allowed",
    hints=[
        "What did the user say with `prevent_cse=False`?",
        "In a scan the two runs are two loops and cannot be merged anyway. There a user leaves the barrier away.",
        "Ask for `prevent_cse`, besides `differentiated`.",
    ],
)
def remat_hlo(emitter, avals, out_avals, args, *, jaxpr, prevent_cse, differentiated, policy):
    if differentiated and args:
        args = emit_barrier(emitter, avals, args)
    return lower_body(emitter, jaxpr.jaxpr, args, jaxpr.consts)
