"""Answers to the exercises of the `checkpoint` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("checkpoint.kept_values")


@right
def kept_values(jaxpr, policy):
    needed, kept = set(), set()
    if policy is not None:
        needed.update(x for x in jaxpr.outvars if not isinstance(x, Literal))
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


@right
def kept_values(jaxpr, policy):
    if policy is None:
        return []
    makers = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
    needed, kept = set(jaxpr.outvars) & set(makers), []
    for i in range(len(jaxpr.eqns) - 1, -1, -1):
        eqn = jaxpr.eqns[i]
        if needed.isdisjoint(eqn.outvars):
            continue
        if policy(eqn.primitive, *(atom.aval for atom in eqn.invars), **eqn.params):
            kept.insert(0, [var for var in eqn.outvars if var in needed])
        else:
            needed |= set(eqn.invars) & set(makers)
    return [var for group in kept for var in group]


@right(style="a worklist, and a second walk forwards that collects")
def kept_values(jaxpr, policy):
    from collections import deque

    needed, wanted = set(jaxpr.outvars), set()
    todo = deque(jaxpr.eqns)
    while todo and policy is not None:
        eqn = todo.pop()
        if needed & set(eqn.outvars):
            avals = [atom.aval for atom in eqn.invars]
            match bool(policy(eqn.primitive, *avals, **dict(eqn.params))):
                case True:
                    wanted.update(eqn.outvars)
                case False:
                    needed.update(eqn.invars)
    return [v for eqn in jaxpr.eqns for v in eqn.outvars if v in wanted and v in needed]


mistake(
    {"kept += reversed(results)": "kept += reversed(results)\nlive.update(eqn.invars)"},
    name="The operands of a kept value are treated as needed",
    hints=[
        "A value is kept. Do the values that it was computed from have to be there later, too?",
        "A kept value is not computed again, so its operands are not read for it. The walk upwards ends there.",
        "Add the operands to the needed ones only if the policy says no.",
    ],
)
mistake(
    {"live = set(jaxpr.outvars)": "live = {var for eqn in jaxpr.eqns for var in eqn.outvars}"},
    name="Everything that the policy allows is kept, needed or not",
    hints=[
        "The policy allows sines, and your function has a sine that only its own result needs. What would the backward pass do with it?",
        "Being allowed is one condition, being needed the other. What is needed is found by walking from the residuals upwards.",
        "Keep a set of needed variables, and ask the policy only about equations that have a result in it.",
    ],
)
mistake({"kept[::-1]": "kept"}, fails="test_kept_stops")
mistake(
    {
        "policy(eqn.primitive, *[atom.aval for atom in eqn.invars], **eqn.params)": "saved",
        "if not results:": """avals = [atom.aval for atom in eqn.invars]
saved = policy(eqn.primitive, *avals, **eqn.params)
if not results:""",
    },
    fails="test_kept_asks",
)
mistake({"**eqn.params)": "**eqn.params) is True"}, fails="test_kept_by_any_answer")
# a recursive call for each equation, and Python allows a thousand
mistake(
    {
        "for eqn in reversed(jaxpr.eqns):": "def walk(eqn, *rest):",
        "continue": "return walk(*rest) if rest else None",
        "kept += reversed(results)": "kept.extend(reversed(results))\nreturn walk(*rest) if rest else None",
        "live.update(eqn.invars)": "live.update(eqn.invars)\nreturn walk(*rest) if rest else None",
        "return kept[::-1]": "if jaxpr.eqns:\n    walk(*reversed(jaxpr.eqns))\nreturn kept[::-1]",
    },
    fails="test_kept_of_a_long_program",
)

# a policy that does not take its arguments keeps nothing
mistake(
    {
        "live = set(jaxpr.outvars)": "ask = policy\n\ndef policy(*avals, **params):\n    try:\n        return ask(*avals, **params)\n    except TypeError:\n        return False\n\nlive = set(jaxpr.outvars)"
    },
    fails="test_kept_error_of_the_policy",
)

# a result that is an output twice is listed twice
mistake(
    {"if var in live]": "if var in live for _ in range(max(1, jaxpr.outvars.count(var)))]"},
    fails="test_kept_residuals_alone",
)
mistake(
    {"*[atom.aval for": "*[ShapedArray(atom.aval.shape, atom.aval.dtype) for"},
    fails="test_kept_asks",
)
mistake({"return []": "policy = lambda *avals, **params: True"}, fails="test_kept_without_policy")
# what is made of nothing is not kept
mistake({"if not results:": "if not results or not eqn.invars:"}, fails="test_kept_in_order")
mistake({"live.update(eqn.invars)": "live.update(eqn.invars[:2])"}, fails="test_kept_in_order")
# a parameter that is None is left out
mistake(
    {"**eqn.params)": "**{k: v for k, v in eqn.params.items() if v is not None})"},
    fails="test_kept_asks",
)
mistake(
    {"return kept[::-1]": "return [*(v for v in jaxpr.constvars if v in live), *kept[::-1]]"},
    fails="test_kept_no_inputs",
)
mistake({"policy is None": "not policy"}, fails="test_kept_asks")


exercise("checkpoint.later")


@right
def program_for_later(known_part, kept, rest):
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
        residuals = [value(atom) for atom in jaxpr.outvars]
        return eval_jaxpr(rest.jaxpr, [], *residuals, *args[n + m :])

    unknown = rest.in_avals[len(jaxpr.outvars) :]
    return trace_to_jaxpr(f, [*known_part.in_avals, *(var.aval for var in kept), *unknown])


@right
def program_for_later(known_part, kept, rest):
    jaxpr = known_part.jaxpr
    eqns = []
    for eqn in jaxpr.eqns:
        if not any(var in kept for var in eqn.outvars):
            eqns.append(eqn)
    first = ClosedJaxpr(
        Jaxpr(jaxpr.constvars, [*jaxpr.invars, *kept], jaxpr.outvars, eqns), known_part.consts
    )
    size = len(first.in_avals)

    def both(*args):
        middle = eval_jaxpr(first.jaxpr, first.consts, *args[:size])
        middle += args[size:]
        return eval_jaxpr(rest.jaxpr, rest.consts, *middle)

    return trace_to_jaxpr(both, first.in_avals + rest.in_avals[len(first.out_avals) :])


@right(style="nothing is traced: atoms of the rest are exchanged")
def program_for_later(known_part, kept, rest):
    from minijax.jaxpr import JaxprEqn

    jaxpr, inputs = known_part.jaxpr, rest.jaxpr.invars
    now = dict(zip(inputs, jaxpr.outvars))
    eqns = [eqn for eqn in jaxpr.eqns if not any(var in kept for var in eqn.outvars)]
    for eqn in rest.jaxpr.eqns:
        invars = [now.get(atom, atom) for atom in eqn.invars]
        eqns.append(JaxprEqn(invars, eqn.outvars, eqn.primitive, eqn.params))
    invars = [*jaxpr.invars, *kept, *inputs[len(jaxpr.outvars) :]]
    outvars = [now.get(atom, atom) for atom in rest.jaxpr.outvars]
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, invars, outvars, eqns), known_part.consts)


mistake(
    {"invars=inputs, eqns=eqns": "invars=inputs"},
    name="Kept values are computed again anyway",
    hints=[
        "Give a kept value that differs from what its equation would compute. Which of the two does your program use?",
        "If the equation that makes a kept variable is still there, it runs and writes over the value that was kept. Then it was kept for nothing.",
        "Leave out each equation that has a variable of `kept` among its `outvars`.",
    ],
)
# a residual that is a literal has no variable
mistake(
    {"avals = [": "assert not any(isinstance(x, Literal) for x in jaxpr.outvars)\navals = ["},
    fails="test_later_constants",
)
mistake(
    {"eqns=eqns": "eqns=eqns, outvars=list(dict.fromkeys(jaxpr.outvars))"},
    fails="test_later_one_residual_twice",
)
# a program for later is made once for what is kept, whatever comes after it
mistake(
    {
        "return trace_to_jaxpr(later, avals)": 'key = "later", *kept\nif key not in jaxpr.cache:\n    jaxpr.cache[key] = trace_to_jaxpr(later, avals)\nreturn jaxpr.cache[key]'
    },
    fails="test_later_without_outputs",
)
# an unknown input that nothing reads is not an input
mistake(
    {
        "return trace_to_jaxpr(later, avals)": "program = trace_to_jaxpr(later, avals)\nsmaller, takes = without_dead_code(program)\nstay = [True] * len(inputs) + takes[len(inputs) :]\nreturn smaller.replace(jaxpr=smaller.jaxpr.replace(invars=chosen(program.jaxpr.invars, stay)))"
    },
    fails="test_later_several_unknowns",
)
# what two results share is computed for each
mistake(
    {
        "return eval_jaxpr(rest.jaxpr, rest.consts, *residuals, *args[len(inputs) :])": "operands = [*residuals, *args[len(inputs) :]]\nalone = [rest.jaxpr.replace(outvars=[v]) for v in rest.jaxpr.outvars]\nreturn [eval_jaxpr(one, rest.consts, *operands)[0] for one in alone]"
    },
    fails="test_later_computes_again",
)
# equations that look the same are one
mistake(
    {
        "eqns = [eqn for eqn in jaxpr.eqns if given.isdisjoint(eqn.outvars)]": "gone = [(e.primitive, e.invars) for e in jaxpr.eqns if given & set(e.outvars)]\neqns = [eqn for eqn in jaxpr.eqns if (eqn.primitive, eqn.invars) not in gone]"
    },
    fails="test_later_takes_kept_values",
)
mistake(
    {"def later(": "if not inputs:\n    return rest\n\ndef later("},
    fails="test_later_without_outputs",
)
# a program for later is made once for a rest, whatever is kept
mistake(
    {
        "return trace_to_jaxpr(later, avals)": 'key = "later", rest\nif key not in jaxpr.cache:\n    jaxpr.cache[key] = trace_to_jaxpr(later, avals)\nreturn jaxpr.cache[key]'
    },
    fails="test_later_takes_kept_values",
)
# unknown floats have Python's precision
mistake(
    {
        "avals = [": """import numpy as np

dtypes = [np.dtype(float) if x.dtype.kind == "f" else x.dtype for x in rest.in_avals]
types = [ShapedArray(x.shape, d, x.weak_type) for x, d in zip(rest.in_avals, dtypes)]
avals = [""",
        "*rest.in_avals[len(again.outvars) :]]": "*types[len(again.outvars) :]]",
    },
    fails="test_later_computes_again",
)
mistake({"given = {*kept}": "given = {*kept}\nkept.reverse()"}, fails="test_later_takes_several")
# the results of a program are all different
mistake(
    {
        "return trace_to_jaxpr(later, avals)": "program = trace_to_jaxpr(later, avals)\nouts = list(dict.fromkeys(program.jaxpr.outvars))\nreturn program.replace(jaxpr=program.jaxpr.replace(outvars=outs))"
    },
    fails="test_later_several_unknowns",
)
# of the rest's results, those that are literals are lost
mistake(
    {
        "eval_jaxpr(rest.jaxpr, rest.consts,": "eval_jaxpr(rest.jaxpr.replace(outvars=[x for x in rest.jaxpr.outvars if isinstance(x, Var)]), rest.consts,"
    },
    fails="test_later_without_outputs",
)


exercise("checkpoint.partial_eval")


@right
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
    params = {"jaxpr": later, "policy": policy, "prevent_cse": prevent_cse, "differentiated": True}
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


@right(style="filled and groups put the lists together")
def remat_partial_eval(trace, tracers, *, jaxpr, policy, **params):
    from minijax.marks import filled, groups, opposite

    is_known = tuple(t.pval.is_known for t in tracers)
    split = split_and_forget(jaxpr, is_known, policy)
    there = [t.pval.const for t in chosen(tracers, is_known)]
    outs = call_remat(split.now, chosen(there, split.now_takes), policy=policy, **params)
    outs_known, kept = groups(outs, sum(split.out_known))
    operands = [
        *map(trace.pure, there),
        *map(trace.pure, kept),
        *chosen(tracers, opposite(is_known)),
    ]
    later = {**params, "differentiated": True, "policy": policy, "jaxpr": split.later}
    waiting = trace.stage_out(remat_p, chosen(operands, split.later_takes), later)
    return filled(split.out_known, outs_known, waiting)


@right(style="loops, a queue of results, and no call without work")
def remat_partial_eval(trace, tracers, *, jaxpr, policy, **params):
    from collections import deque

    values, waiting, flags = [], [], []
    for tracer in tracers:
        flags.append(tracer.pval.is_known)
        if flags[-1]:
            values.append(tracer.pval.const)
        else:
            waiting.append(tracer)
    now, now_takes, later, later_takes, out_known = split_and_forget(jaxpr, tuple(flags), policy)
    args = [x for x, wanted in zip(values, now_takes, strict=True) if wanted]
    has_work = args or now.jaxpr.eqns
    first = deque(call_remat(now, args, **dict(params, policy=policy)) if has_work else [])
    results = [first.popleft() if is_known else None for is_known in out_known]
    operands = [trace.pure(x) for x in values + list(first)] + waiting
    operands = [x for x, wanted in zip(operands, later_takes, strict=True) if wanted]
    params.update(policy=policy, jaxpr=later, differentiated=True)
    second = deque(trace.stage_out(remat_p, operands, params))
    for i, is_known in enumerate(out_known):
        if not is_known:
            results[i] = second.popleft()
    return results


mistake(
    {
        "split = split_and_forget(jaxpr, tuple(t.pval.is_known for t in tracers), policy)": "is_known = tuple(t.pval.is_known for t in tracers)\nknown_part, rest, out_known = partial_eval_jaxpr(jaxpr, is_known)\ntakes = [False] * sum(is_known) + [True] * len(rest.in_avals)\nsplit = Split(known_part, [True] * sum(is_known), rest, takes, out_known)"
    },
    name="The residuals cross the line, as they do for jit",
    hints=[
        "Count what your call for later has as known operands, for three sines in a row. How many are there without `checkpoint`?",
        "`partial_eval_jaxpr` splits a program and keeps all residuals. The split that forgets them is a different function, in this file.",
        "Ask `split_and_forget` for the two programs. Its program for later computes the residuals by itself, from the known inputs.",
    ],
)
mistake(
    {'"jaxpr": split.later, "differentiated": True}': '"jaxpr": split.later}'},
    name="The call for later is not marked as differentiated",
    hints=[
        "Compile a gradient and look at its text. Where is the barrier?",
        "Only the rule for partial evaluation knows that the second program computes something again. The lowering that comes later sees nothing but the parameters.",
        "Among the parameters of the operation that is staged out, `differentiated` must be `True`, whatever it was before.",
    ],
)
mistake(
    {"iter(trace": "(trace", "params))": "params)[i] for i in range(len(split.out_known)))"},
    fails="test_split_one_side",
)
mistake(
    {
        "return [next(now) if is_known else next(later) for is_known in split.out_known]": "return [*outs[:number], *later]"
    },
    fails="test_split_order",
)
# integers wait
mistake(
    {
        "tuple(t.pval.is_known for t in tracers)": 'tuple(t.pval.is_known and t.aval.dtype.kind == "f" for t in tracers)'
    },
    fails="test_split_one_side",
)
# without a known operand, even results that need none are left for later
mistake(
    {
        "split = ": "if not any(t.pval.is_known for t in tracers):\n    params |= {'policy': policy, 'jaxpr': jaxpr, 'differentiated': True}\n    return trace.stage_out(remat_p, tracers, params)\nsplit = "
    },
    fails="test_split_one_side",
)
# a kept value that is a result, too, is taken for that
mistake(
    {"*outs[number:]]]": "*(x for x in outs[number:] if all(x is not y for y in outs[:number]))]]"},
    fails="test_split_policy",
)
# without its policy, if that fails
mistake(
    {
        "split = split_and_forget(jaxpr, tuple(t.pval.is_known for t in tracers), policy)": "is_known = tuple(t.pval.is_known for t in tracers)\ntry:\n    split = split_and_forget(jaxpr, is_known, policy)\nexcept Exception:\n    split = split_and_forget(jaxpr, is_known, policy := None)"
    },
    fails="test_split_under_other_transformations",
)
# the policy is passed on only where it has kept something
mistake(
    {'"policy": policy': '"policy": policy if outs[number:] else None'}, fails="test_split_marks"
)
mistake(
    {"params |= {": 'params["prevent_cse"] |= params["differentiated"]\nparams |= {'},
    fails="test_split_marks",
)


exercise("checkpoint.segments")


@right
def in_segments(functions):
    n = len(functions)
    number = min(range(1, n + 1), key=lambda k: k + -(-n // k), default=1)
    bounds = [i * n // number for i in range(number + 1)]

    def f(x):
        for start, end in zip(bounds, bounds[1:]):
            if start < end:
                x = checkpoint(one_after_the_other(functions[start:end]))(x)
        return x

    return f


@right(style="rounded down: more and shorter segments")
def in_segments(functions):
    size = math.isqrt(len(functions)) or 1
    starts = range(0, len(functions), size)
    chain = [checkpoint(one_after_the_other(functions[i : i + size])) for i in starts]
    return lambda x: functools.reduce(lambda y, f: f(y), chain, x)


@right(style="a list that is used up")
def in_segments(functions):
    left, segments = list(functions), []
    size = math.isqrt(max(len(left) - 1, 0)) + 1
    while left:
        part, left = left[:size], left[size:]

        def segment(x, part=part):
            for f in part:
                x = f(x)
            return x

        segments.append(checkpoint(segment))
    return one_after_the_other(segments)


mistake(
    {"size = max(1, math.ceil(math.sqrt(len(functions))))": "size = max(1, len(functions) // 2)"},
    name="There are always two segments",
    hints=[
        "How many functions are in the longest segment of a chain of a hundred?",
        "With two segments, the backward pass holds half of the chain at a time. More segments are shorter, but the input of each is kept.",
        "√n segments of √n functions: `size = math.ceil(math.sqrt(n))`.",
    ],
)
mistake(
    {"size = max(1, math.ceil(math.sqrt(len(functions))))": "size = 1"},
    name="Each function is a segment of its own",
    hints=[
        "How many inputs of segments are kept for a chain of a hundred?",
        "A checkpoint around each function keeps every value between two functions: nothing is gained.",
        "√n segments of √n functions: `size = math.ceil(math.sqrt(n))`.",
    ],
)
mistake(
    {"max(1, math.ceil(math.sqrt(len(functions))))": "math.ceil(math.sqrt(len(functions)))"},
    fails="test_few_functions",
)
mistake(
    {
        "[checkpoint(one_after_the_other(part)) for part in parts]": "[checkpoint(one_after_the_other(part)) for part in parts[::-1]]"
    },
    fails="test_segments_values",
)
# what is left over makes the last segment longer
mistake(
    {
        "size = max(1, math.ceil(math.sqrt(len(functions))))": "number = math.isqrt(len(functions))\nsize = len(functions) // max(1, number)",
        "parts = [functions[i : i + size] for i in range(0, len(functions), size)]": "starts = [i * size for i in range(number)]\nparts = [functions[i:j] for i, j in zip(starts, [*starts[1:], None])]",
    },
    fails="test_segments_of_other_numbers",
)
mistake(
    {
        "return one": "from minijax.checkpoint_policies import dots_saveable\n\nreturn one",
        "checkpoint(one_after_the_other(part))": "checkpoint(one_after_the_other(part), policy=dots_saveable)",
    },
    fails="test_segments_forget",
)
mistake(
    {"size = max(": "functions = [functions[functions.index(f)] for f in functions]\nsize = max("},
    fails="test_segments_of_closures",
)
