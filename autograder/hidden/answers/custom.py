"""Answers to the exercises of the `custom` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("custom.inverse_chain")


@right
def inverse_chain(f):
    def undo(y):
        program = make_jaxpr(f)(y).jaxpr
        value = y
        for i in range(len(program.eqns) - 1, -1, -1):
            eqn = program.eqns[i]
            rules = inverse_rules.get(eqn.primitive.name)
            if len(eqn.invars) > 1:
                stop(ValueError, eqn, i + 1, "more than one operand")
            if rules is None:
                stop(NotImplementedError, eqn, i + 1, "no rule")
            value = rules[0](value, **given_params(eqn))
        return value

    return undo


@right(style="all rules are looked up first, then applied")
def inverse_chain(f):
    @functools.wraps(f)
    def back(result):
        steps, eqns = [], make_jaxpr(f)(result).eqns
        for number, eqn in zip(range(len(eqns), 0, -1), eqns[::-1], strict=True):
            if len(eqn.invars) > 1:
                stop(ValueError, eqn, number, "an equation of a chain has a single operand")
            rules = inverse_rules.get(eqn.primitive.name)
            if rules is None:
                stop(NotImplementedError, eqn, number, "no inverse is known")
            steps.append(functools.partial(rules[0], **given_params(eqn)))
        for step in steps:
            result = step(result)
        return result

    return back


@right(style="functools.reduce over the reversed equations")
def inverse_chain(f):
    def undo(value, item):
        number, eqn = item
        match list(eqn.invars):
            case [_]:
                pass
            case operands:
                stop(ValueError, eqn, number + 1, f"there are {len(operands)} operands")
        try:
            (rule,) = inverse_rules[eqn.primitive.name]
        except KeyError:
            stop(NotImplementedError, eqn, number + 1, "there is no rule for it")
        return rule(value, **given_params(eqn))

    return lambda y: functools.reduce(undo, [*enumerate(make_jaxpr(f)(y).eqns)][::-1], y)


mistake(
    {"reversed(list(enumerate(eqns, start=1)))": "enumerate(eqns, start=1)"},
    name="The chain is undone starting with its first operation",
    hints=[
        "You put on your socks, then your shoes. Which do you take off first?",
        "The result came out of the last equation. Its operand is the result of the one before.",
        "Walk through `reversed(...)` of the equations.",
    ],
)
mistake(
    {"reversed(list(enumerate(eqns, start=1)))": "enumerate(reversed(eqns), start=1)"},
    name="Equations are counted from the end",
    hints=[
        "A program has five equations and the first one stops you. What number is in your message?",
        "Walking backwards does not change the numbers: the reader counts the lines from the top.",
        "Number the equations before you turn them around: `reversed(list(enumerate(eqns, start=1)))`, not `enumerate(reversed(eqns), start=1)`.",
    ],
)
mistake({"return z": "return z if eqns else None"}, fails="test_chain_of_one")
mistake({"(f)(z)": "(f)(1.0)"}, fails="test_chain_of_each_type")
mistake({"given_params(eqn)": "eqn.params"}, fails="test_chain_of_rules")
mistake(
    {
        "if eqn.primitive.name not in inverse_rules:": "try:\n    z = inverse_rules[eqn.primitive.name][0](z, **given_params(eqn))\nexcept KeyError:",
        "(rule,) = inverse_rules[eqn.primitive.name]": "",
        "z = rule(z, **given_params(eqn))": "",
    },
    fails="test_chain_of_rules",
)
# Only operands that are variables are counted.
mistake(
    {"if len(eqn.invars) != 1:": "if sum(map(is_variable, eqn.invars)) != 1:"},
    fails="test_chain_is_no_chain",
)
# An error of a rule is told as an error of its equation.
mistake(
    {
        "z = rule(z, **given_params(eqn))": "try:\n    z = rule(z, **given_params(eqn))\nexcept ValueError as error:\n    stop(ValueError, eqn, number, str(error))"
    },
    fails="test_chain_of_rules",
)
# All equations are looked at before, from the first one on.
mistake(
    {
        "eqns = make_jaxpr(f)(z).jaxpr.eqns": "eqns = make_jaxpr(f)(z).jaxpr.eqns\nfor number, eqn in enumerate(eqns, start=1):\n    if len(eqn.invars) != 1:\n        stop(ValueError, eqn, number, 'it has several operands')\n    if eqn.primitive.name not in inverse_rules:\n        stop(NotImplementedError, eqn, number, 'no rule')"
    },
    fails="test_chain_has_no_rule",
)
mistake(
    {"z = rule(z, **given_params(eqn))": "(z,) = (rule(x, **given_params(eqn)) for x in [z])"},
    fails="test_chain_of_rules",
)
mistake(
    {"return z": "return lax.convert_element_type(z, z.dtype) if hasattr(z, 'dtype') else z"},
    fails="test_chain_of_one",
)
# A call is opened, though it has no rule.
mistake(
    {
        "if len(eqn.invars) != 1:": "if called_program(eqn):\n    (z,) = inverse_jaxpr(*called_program(eqn), [None], [z])\n    continue\nif len(eqn.invars) != 1:"
    },
    fails="test_chain_has_no_rule",
)


exercise("custom.inverse_jaxpr")


@right
def inverse_jaxpr(jaxpr, consts, ins, outs):
    known = {}
    atoms = [*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars]
    write(known, atoms, [*consts, *ins, *outs])
    stuck, before = None, -1
    while len(known) > before:
        before, stuck = len(known), None
        numbered = [(i + 1, eqn) for i, eqn in enumerate(jaxpr.eqns)]
        for _, eqn in numbered:
            evaluate_if_known(known, eqn)
        while numbered:
            number, eqn = numbered.pop()
            try:
                invert_if_needed(known, eqn, number)
            except (ValueError, NotImplementedError) as error:
                stuck = stuck or error
    if stuck:
        raise stuck
    return [known.get(var) for var in jaxpr.invars]


@right(style="one walk back after another, the errors of the last one")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = dict(zip(jaxpr.constvars, consts))
    write(env, jaxpr.invars, ins)
    write(env, jaxpr.outvars, outs)

    def walk_back():
        problems, count = [], len(jaxpr.eqns)
        for eqn in reversed(jaxpr.eqns):
            try:
                invert_if_needed(env, eqn, count)
            except Exception as problem:
                problems.append(problem)
            count -= 1
        return problems

    for _ in range(len(jaxpr.eqns) + 1):
        for eqn in jaxpr.eqns:
            evaluate_if_known(env, eqn)
        problems = walk_back()
        if not problems:
            break
    else:
        if problems:
            raise problems[-1]
    return [read(env, var) for var in jaxpr.invars]


@right(style="a call of itself for each further round")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = dict()
    for atoms, values in ((jaxpr.outvars, outs), (jaxpr.invars, ins), (jaxpr.constvars, consts)):
        write(env, list(atoms), list(values))

    def search():
        size, trouble = len(env), []
        for eqn in jaxpr.eqns:
            evaluate_if_known(env, eqn)
        for i in range(len(jaxpr.eqns) - 1, -1, -1):
            try:
                invert_if_needed(env, jaxpr.eqns[i], i + 1)
            except (ValueError, NotImplementedError) as error:
                trouble.append(error)
        if trouble and len(env) > size:
            search()
        elif trouble:
            raise trouble[0]

    search()
    return list(map(functools.partial(read, env), jaxpr.invars))


@right(style="a stack of the equations that may have something to find")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    import contextlib

    env, users = {}, {}
    write(env, [*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars], [*consts, *ins, *outs])
    equations = list(enumerate(jaxpr.eqns, start=1))
    for number, eqn in equations:
        for atom in filter(is_variable, {*eqn.invars, *eqn.outvars}):
            users.setdefault(atom, []).append((number, eqn))
    stack = list(equations)
    while stack:
        number, eqn = stack.pop()
        missing = {v for v in (*eqn.invars, *eqn.outvars) if is_variable(v) and v not in env}
        evaluate_if_known(env, eqn)
        with contextlib.suppress(ValueError, NotImplementedError):
            invert_if_needed(env, eqn, number)
        stack += [other for v in missing if v in env for other in users[v]]
    for number, eqn in reversed(equations):
        invert_if_needed(env, eqn, number)
    return [read(env, v) for v in jaxpr.invars]


mistake(
    {"write(env, jaxpr.invars, ins)": ""},
    name="Inputs that are known are forgotten",
    hints=[
        "What is `ins` for? Try a program with two inputs, one of which is known.",
        "In a call, some operands may be known from outside. The program that is called can only be undone with their help.",
        "Write `ins` to `jaxpr.invars` before the first round. `write` leaves out what is None.",
    ],
)
mistake(
    {"reversed(list(enumerate(jaxpr.eqns, start=1)))": "enumerate(jaxpr.eqns, start=1)"},
    name="The second walk goes forward as well",
    hints=[
        "What is known about the results of the first equation, before any other one has been undone?",
        "Results are known at the end of the program. From there knowledge comes up, one equation at a time. In the other direction most equations are passed before anything is known about them.",
        "Go through the numbered equations with `reversed`.",
    ],
)
mistake(
    {"errors.append(error)": "raise"},
    name="It gives up at an equation that cannot be undone yet",
    hints=[
        "From `x + 1` and `exp(x) * y` you find x, then y. Which of the two equations does the walk back meet first?",
        "An unknown operand is a reason to give up only when a round finds nothing new.",
        "Put the error into a list and go on. As long as a round has errors and finds something new, make another round.",
    ],
)
# Two rounds, whatever the second one finds.
mistake(
    {"while True:": "for last in (False, True):", "if len(env) == known:": "if last:"},
    fails="test_sweep_again",
)
# An equation without a rule is the end, even if its operand is found later.
mistake({"(ValueError, NotImplementedError)": "ValueError"}, fails="test_sweep_again")
# What has been found by undoing is not computed with.
mistake(
    {
        "evaluate_if_known(env, eqn)": "pass",
        "while True:": "for eqn in jaxpr.eqns:\n    evaluate_if_known(env, eqn)\nwhile True:",
    },
    fails="test_sweep_again",
)
mistake(
    {"env: Env = {}": "pass", "outs: Sequence[Any]": "outs: Sequence[Any], env: Env = {}"},
    fails="test_sweep_calls",
)
mistake(
    {"reversed(list(enumerate(jaxpr.eqns, start=1)))": "enumerate(reversed(jaxpr.eqns), start=1)"},
    fails="test_sweep_stops",
)
mistake({"write(env, jaxpr.constvars, consts)": ""}, fails="test_sweep_as_a_program")
mistake(
    {
        "while True:": "for turn in range(len(jaxpr.invars) + 2):",
        "if len(env) == known:": "if len(env) == known or turn > len(jaxpr.invars):",
    },
    fails="test_sweep_again",
)
# Inputs that cannot be found are left out.
mistake({".invars]": ".invars if x in env]"}, fails="test_sweep_unknown")
# A value that is zero counts as unknown.
mistake(
    {"outvars, outs)": "outvars, [None if isinstance(z, float) and z == 0 else z for z in outs])"},
    fails="test_sweep_zeros",
)
mistake(
    {"while True:": "if not jaxpr.eqns:\n    return [*ins]\nwhile True:"}, fails="test_sweep_zeros"
)
mistake(
    {"while True:": "for left in range(12)[::-1]:", "env) == known:": "env) == known or not left:"},
    fails="test_sweep_again",
)
mistake(
    {
        "write(env, jaxpr.outvars, outs)": "kinds = [getattr(getattr(z, 'dtype', None), 'kind', 'f') for z in outs]\nwrite(env, jaxpr.outvars, [z if kind == 'f' else None for z, kind in zip(outs, kinds)])"
    },
    fails="test_sweep_zeros",
)
# A call that was undone in part is done.
mistake(
    {
        "while True:": "undone = set()\nwhile True:",
        "for number, eqn in reversed(list(enumerate(jaxpr.eqns, start=1))):": "for number, eqn in reversed(list(enumerate(jaxpr.eqns, start=1))):\n    if number in undone or all(read(env, x) is None for x in eqn.outvars):\n        continue",
        "invert_if_needed(env, eqn, number)": "invert_if_needed(env, eqn, number) or undone.add(number)",
    },
    fails="test_sweep_again",
)
# Of a result that is there twice, the last value counts, even if it is None.
mistake(
    {
        "write(env, jaxpr.outvars, outs)": "env.update({v: z for v, z in zip(jaxpr.outvars, outs) if is_variable(v)})"
    },
    fails="test_sweep_some_results",
)
# An equation is computed only if its first result is not known.
mistake(
    {
        "evaluate_if_known(env, eqn)": "if read(env, eqn.outvars[0]) is None:\n    evaluate_if_known(env, eqn)"
    },
    fails="test_sweep_again",
)
# An equation with one operand twice is passed over.
mistake(
    {
        "invert_if_needed(env, eqn, number)": "if len({*eqn.invars}) == len(eqn.invars):\n    invert_if_needed(env, eqn, number)"
    },
    fails="test_sweep_stops",
)
# The values of the first call's constants stay with the program.
mistake(
    {
        "write(env, jaxpr.constvars, consts)": 'write(env, jaxpr.constvars, jaxpr.cache.setdefault("held", consts))'
    },
    fails="test_sweep_constants",
)
# one list for all calls
mistake(
    {
        "return [read(env, x) for x in jaxpr.invars]": "found = vars(inverse_jaxpr).setdefault('found', [])\nfound[:] = [read(env, x) for x in jaxpr.invars]\nreturn found"
    },
    fails="test_sweep_constants",
)


exercise("custom.dce_jaxpr")


@right
def dce_jaxpr(jaxpr, used_outputs):
    outvars = [x for x, used in zip(jaxpr.outvars, used_outputs) if used]
    wanted = {x for x in outvars if is_variable(x)}
    kept = []
    for eqn in jaxpr.eqns[::-1]:
        used = [var in wanted for var in eqn.outvars]
        if not any(used) and not has_effects(eqn):
            continue
        smaller = thinned(eqn, used)
        kept.insert(0, smaller)
        for atom in smaller.invars:
            if is_variable(atom):
                wanted.add(atom)
    still = [var in wanted for var in jaxpr.invars]
    invars = [var for var in jaxpr.invars if var in wanted]
    return jaxpr.replace(eqns=kept, invars=invars, outvars=outvars), still


@right
def dce_jaxpr(jaxpr, used_outputs):
    live = {}
    outvars = [atom for atom, used in zip(jaxpr.outvars, used_outputs) if used]

    def use(atoms):
        for atom in atoms:
            if is_variable(atom):
                live[atom] = True

    use(outvars)
    eqns = list(jaxpr.eqns)
    for i in reversed(range(len(eqns))):
        used = [live.get(var, False) for var in eqns[i].outvars]
        if True in used or has_effects(eqns[i]):
            eqns[i] = thinned(eqns[i], used)
            use(eqns[i].invars)
        else:
            eqns[i] = None
    eqns = [eqn for eqn in eqns if eqn is not None]
    kept = [live.get(var, False) for var in jaxpr.invars]
    return jaxpr.replace(invars=chosen(jaxpr.invars, kept), outvars=outvars, eqns=eqns), kept


@right(style="a generator that yields the equations backwards")
def dce_jaxpr(jaxpr, used_outputs):
    outvars = chosen(jaxpr.outvars, list(used_outputs))
    live = set(filter(is_variable, outvars))

    def kept():
        for eqn in reversed(list(jaxpr.eqns)):
            used = [var in live for var in eqn.outvars]
            if not (any(used) or has_effects(eqn)):
                continue
            eqn = thinned(eqn, used)
            live.difference_update(eqn.outvars)
            live.update(filter(is_variable, eqn.invars))
            yield eqn

    eqns = list(kept())[::-1]
    used_inputs = [var in live for var in jaxpr.invars]
    new = jaxpr.replace(invars=chosen(jaxpr.invars, used_inputs), outvars=outvars, eqns=eqns)
    return new, used_inputs


mistake(
    {
        "eqns = []": "live.update(x for eqn in jaxpr.eqns for x in eqn.invars if is_variable(x))\neqns = []"
    },
    name="Everything that some equation reads is kept",
    hints=[
        "Equation 1 is read by equation 2, and equation 2 by nothing. Does equation 1 stay in your program?",
        "Being read is not enough: the equation that reads must stay. Whether it does is known only if you have looked at it before.",
        "Walk from the last equation to the first, and add the operands of an equation to the live variables only if the equation stays.",
    ],
)
mistake(
    {"eqns[-1]": "eqn"},
    name="The operands of a call count before the call is thinned out",
    hints=[
        "A call has two operands, and only a result that is not needed uses the second one. Does that operand have to be computed?",
        "`thinned` returns an equation with fewer operands. Whatever only the dropped ones needed is now dead.",
        "Add the operands of the equation that `thinned` returned, not those of the one that you passed to it.",
    ],
)
mistake(
    {"[var in live for var in jaxpr.invars]": "[True] * len(jaxpr.invars)"},
    name="All inputs stay",
    hints=[
        "Which inputs does `sin(x)` need, in a program of x and y?",
        "An input that nothing reads any more is of no use either, and does not have to be computed for a call.",
        "`[var in live for var in jaxpr.invars]` after the walk, and `chosen` with that.",
    ],
)
mistake(
    {
        "live = set(filter(is_variable, outvars))": "flags = {x: used for x, used in zip(jaxpr.outvars, used_outputs) if is_variable(x)}\nlive = {x for x, used in flags.items() if used}"
    },
    name="If an output appears twice, only its last flag counts",
    hints=[
        "One variable is both the first and the second output, and only the first is used. Does its equation have to stay?",
        "A dict from variables to flags has one flag for each variable. The second one overwrites the first.",
        "A variable is live if one of its flags is true: `set(filter(is_variable, outvars))`, where `outvars` are the outputs that are used.",
    ],
)
mistake(
    {"eqns.append(thinned(eqn, used))": "eqns.append(eqn if all(used) else thinned(eqn, used))"},
    name="A call whose results are all used keeps its dead code",
    hints=[
        "A call has one result, and it is used. Its program has an equation that nothing reads. Does that equation stay?",
        "That all results are used says nothing about what is inside the call.",
        "Call `thinned(eqn, used)` for every equation that stays.",
    ],
)
# Of an output that is there twice, the first flag counts.
mistake(
    {
        "live = set(filter(is_variable, outvars))": "flags = {x: used for x, used in reversed([*zip(jaxpr.outvars, used_outputs)]) if is_variable(x)}\nlive = {x for x, used in flags.items() if used}"
    },
    fails="test_dce_outputs",
)
mistake({" used))": " used) if any(used) else eqn)"}, fails="test_dce_effects")
mistake({"if any": "if not used or any"}, fails="test_dce_equations")
# Literals among the results stay, whatever was asked for.
mistake(
    {
        "return jaxpr.replace(": "literals = [x for x in outvars if not is_variable(x)]\noutvars = [x for x in jaxpr.outvars if x in live or x in literals]\nreturn jaxpr.replace("
    },
    fails="test_dce_random_programs",
)
mistake({"]), used_inputs": "]), tuple(used_inputs)"}, fails="test_dce_inputs")
mistake(
    {"return jaxpr.replace(": "import dataclasses\nreturn dataclasses.replace(jaxpr, "},
    fails="test_dce_keeps_nothing",
)
mistake(
    {"jaxpr.replace(": "jaxpr.replace(constvars=[v for v in jaxpr.constvars if v in live], "},
    fails="test_dce_constants",
)
mistake(
    {
        "chosen(jaxpr.outvars, used_outputs)": "[*dict.fromkeys(chosen(jaxpr.outvars, used_outputs))]"
    },
    fails="test_dce_outputs",
)
mistake(
    {", used))": ", used) if any(used) else eqn)", "].invars))": "].invars if any(used) else []))"},
    fails="test_dce_effects",
)
mistake({"used))": "used) if called_program(eqn) else eqn)"}, fails="test_dce_calls")
mistake(
    {"or has_effects(eqn)": "or (has_effects(eqn) and any(map(is_variable, eqn.invars)))"},
    fails="test_dce_effects",
)
mistake(
    {"thinned(eqn, used)": "dce_call(eqn, used) if eqn.primitive.name in ('jit', 'pmap') else eqn"},
    fails="test_dce_calls",
)


exercise("custom.dce_call")


@right
def dce_call(eqn, used_outs):
    program = eqn.params["jaxpr"]
    inside, _ = opened(program)
    lean, used_ins = dce_jaxpr(inside, used_outs)
    params = dict(eqn.params)
    params["jaxpr"] = lean if program is inside else program.replace(jaxpr=lean)
    for key in params:
        if key in PER_OPERAND:
            params[key] = tuple(chosen(params[key], used_ins))
        elif key in PER_RESULT:
            params[key] = tuple(chosen(params[key], used_outs))
    invars, outvars = chosen(eqn.invars, used_ins), chosen(eqn.outvars, used_outs)
    return eqn.replace(params=params, invars=invars, outvars=outvars)


@right(style="one dict for everything that is cut")
def dce_call(eqn, used_outs):
    old = eqn.params["jaxpr"]
    new, used_ins = dce_jaxpr(getattr(old, "jaxpr", old), used_outs)
    marks = dict.fromkeys(PER_OPERAND, used_ins) | dict.fromkeys(PER_RESULT, used_outs)
    cut = {
        key: tuple(x for x, is_used in zip(value, marks[key]) if is_used)
        for key, value in eqn.params.items()
        if key in marks
    }
    cut["jaxpr"] = old.replace(jaxpr=new) if hasattr(old, "consts") else new
    return eqn.replace(
        outvars=[x for x, is_used in zip(eqn.outvars, used_outs) if is_used],
        invars=[x for x, is_used in zip(eqn.invars, used_ins) if is_used],
        params=eqn.params | cut,
    )


mistake(
    {"chosen(eqn.invars, used_ins), chosen(eqn.outvars, ": "eqn.invars, chosen(eqn.outvars, "},
    name="The call keeps operands that its program no longer takes",
    hints=[
        "How many inputs does the thinned program have, and how many operands does the call have?",
        "The second result of `dce_jaxpr` says which inputs are still there. The call has an operand for each of them.",
        "The operands are `chosen(eqn.invars, used_ins)`.",
    ],
)
# Which flags belong to a parameter is seen from its length.
mistake(
    {"[key], used)": "[key], used_ins if len(params[key]) == len(used_ins) else used_outs)"},
    fails="test_call_params",
)
# Of an operand that is there twice, the last flag counts.
mistake(
    {
        "invars, outvars =": "needed = dict(zip(eqn.invars, used_ins))\ninvars, outvars =",
        "chosen(eqn.invars, used_ins), chosen(eqn.outvars, used_outs)": "[x for x in eqn.invars if needed[x]], chosen(eqn.outvars, used_outs)",
    },
    fails="test_call_of_twins",
)
mistake({"program =": "if all(used_outs):\n    return eqn\nprogram ="}, fails="test_call_in_part")
mistake(
    {"params |= {key: tuple(chosen(params[key], used)) for key in keys if key in params}": "pass"},
    fails="test_call_params",
)
mistake({") if is_closed else jaxpr": ")"}, fails="test_call_of_an_open_program")
mistake({"{**eqn.params,": "{**given_params(eqn),"}, fails="test_call_params")
mistake(
    {"program.replace(jaxpr=jaxpr) ": "program.replace(jaxpr=jaxpr, consts=program.consts[::-1]) "},
    fails="test_call_constants",
)
# Operands that are numbers are left out.
mistake(
    {
        "chosen(eqn.invars, used_ins), chosen(eqn.outvars, ": "list(filter(is_variable, chosen(eqn.invars, used_ins))), chosen(eqn.outvars, "
    },
    fails="test_call_of_twins",
)
