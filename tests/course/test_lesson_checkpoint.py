"""The lesson checkpoint: other right answers pass."""

import pytest
from other_answers import lost

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "checkpoint.call": """
def call_remat(program, args, **params):
    inner = ClosedJaxpr(without_consts(program.jaxpr), [])
    operands = list(program.consts)
    operands.extend(args)
    return remat_p.bind(*operands, **dict(params, jaxpr=inner))
""",
        "checkpoint.kept_values": """
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
""",
        "checkpoint.later": """
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
""",
        "checkpoint.partial_eval": """
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
""",
        "checkpoint.barrier": """
def remat_hlo(emitter, avals, out_avals, args, *, jaxpr, prevent_cse, differentiated, policy):
    if not args or not prevent_cse or not differentiated:
        return lower_body(emitter, jaxpr.jaxpr, args, jaxpr.consts)
    behind = emit_barrier(emitter, avals, args)
    return lower_body(emitter, jaxpr.jaxpr, behind, jaxpr.consts)
""",
    },
    {
        "checkpoint.call": """
def call_remat(program, args, **params):
    params["jaxpr"] = program.replace(jaxpr=without_consts(program.jaxpr), consts=[])
    return remat_p.bind(*[*program.consts, *args], **params)
""",
        "checkpoint.kept_values": """
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
""",
        "checkpoint.later": """
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
""",
        "checkpoint.partial_eval": """
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
""",
        "checkpoint.barrier": """
def remat_hlo(emitter, avals, out_avals, args, *, jaxpr, prevent_cse, differentiated, policy):
    match prevent_cse, differentiated, len(args):
        case True, True, n if n > 0:
            names = emit_barrier(emitter, list(avals), list(args))
        case _:
            names = list(args)
    return lower_body(emitter, jaxpr.jaxpr, names, jaxpr.consts)
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES, ids=["first", "second"])
def test_other_right_answers_have_full_points(answers):
    assert lost("checkpoint", answers) == ([], [])
