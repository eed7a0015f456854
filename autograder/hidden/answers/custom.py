"""Answers to the exercises of the `custom` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("custom.eval_equation")
def eval_equation(eqn, args):
    match called_program(eqn):
        case (jaxpr, consts):
            return eval_jaxpr(jaxpr, consts, args)
        case None:
            out = eqn.primitive.bind(*args, **eqn.params)
            return list(out) if eqn.primitive.multiple_results else [out]


@right("custom.eval_equation")
def eval_equation(eqn, args):
    if called_program(eqn) is not None:
        jaxpr, consts = called_program(eqn)
        return eval_jaxpr(jaxpr, list(consts), list(args))
    results = eqn.primitive.bind(*args, **eqn.params)
    if not eqn.primitive.multiple_results:
        results = [results]
    return results


@right("custom.eval_equation", style="match on what called_program gives")
def eval_equation(eqn, args):
    match called_program(eqn):
        case None:
            outs = eqn.primitive.bind(*args, **eqn.params)
            return list(outs) if eqn.primitive.multiple_results else [outs]
        case jaxpr, consts:
            return eval_jaxpr(jaxpr, consts, args)


@right("custom.eval_equation", style="an early return, a tuple for one result")
def eval_equation(eqn, args):
    called = called_program(eqn)
    if called is not None:
        return tuple(eval_jaxpr(called[0], list(called[1]), list(args)))
    bind = functools.partial(eqn.primitive.bind, **dict(eqn.params))
    if not eqn.primitive.multiple_results:
        return (bind(*args),)
    return bind(*args)


@mistake(
    "custom.eval_equation",
    name="Calls are bound, and their programs are not opened",
    hints=[
        "Print `make_jaxpr` of a function that evaluates an equation of `jit`. Is there a `jit` in it?",
        "Binding a call is not wrong as evaluation, but it hands the whole program on in one piece. A new interpreter has to see each operation.",
        "Before you bind anything, ask `called_program(eqn)`; if it gives a program, evaluate that with `eval_jaxpr`.",
    ],
)
def eval_equation(eqn, args):
    outs = eqn.primitive.bind(*args, **eqn.params)
    return outs if eqn.primitive.multiple_results else [outs]


mistake(
    "custom.eval_equation",
    {
        "results = eqn.primitive.bind(*args, **eqn.params)": "return [eqn.primitive.bind(*args, **eqn.params)]",
        "return results if eqn.primitive.multiple_results else [results]": "",
    },
    name="Every result of bind is put into a list",
    hints=[
        "What does `bind` give for a primitive with two results? And what does your function make of it?",
        "Some primitives have several results, and then `bind` gives a list already, even if there is one entry in it, or none.",
        "`eqn.primitive.multiple_results` says which kind it is.",
    ],
)


@mistake("custom.eval_equation", fails="test_eval_other_calls")
def eval_equation(eqn, args):
    if eqn.primitive.name == "jit":
        jaxpr, consts = called_program(eqn)
        return eval_jaxpr(jaxpr, consts, args)
    outs = eqn.primitive.bind(*args, **eqn.params)
    return outs if eqn.primitive.multiple_results else [outs]


@mistake("custom.eval_equation", fails="test_eval_programs_without_equations")
def eval_equation(eqn, args):
    called = called_program(eqn)
    if called and called[0].eqns:
        return eval_jaxpr(*called, args)
    outs = eqn.primitive.bind(*args, **eqn.params)
    return outs if eqn.primitive.multiple_results else [outs]


mistake(
    "custom.eval_equation",
    {
        "called =": 'if "jaxpr" in eqn.params:\n    return eval_jaxpr(*opened(eqn.params["jaxpr"]), args)\ncalled =',
        "results = eqn.primitive.bind(*args, **eqn.params)": "outs = eqn.primitive.bind(*args, **eqn.params)",
        "return results if eqn.primitive.multiple_results else [results]": "return outs if eqn.primitive.multiple_results else [outs]",
    },
    fails="test_eval_what_is_no_call",
)
mistake(
    "custom.eval_equation",
    {
        "results = eqn.primitive.bind(*args, **eqn.params)": "outs = eqn.primitive.bind(*args, **given_params(eqn))",
        "return results if eqn.primitive.multiple_results else [results]": "return outs if eqn.primitive.multiple_results else [outs]",
    },
    fails="test_eval_programs",
)
mistake(
    "custom.eval_equation",
    {
        "results = eqn.primitive.bind(*args, **eqn.params)": "outs = eqn.primitive.bind(*args, **eqn.params)",
        "return results if eqn.primitive.multiple_results else [results]": "return outs if len(eqn.outvars) > 1 else [outs]",
    },
    fails="test_eval_lists",
)


@right("custom.inverse_chain")
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


@right("custom.inverse_chain")
def inverse_chain(f):
    def step(z, numbered):
        number, eqn = numbered
        match eqn.invars:
            case [_]:
                pass
            case _:
                stop(ValueError, eqn, number, "operands")
        if eqn.primitive.name in inverse_rules:
            return inverse_rules[eqn.primitive.name][0](z, **given_params(eqn))
        stop(NotImplementedError, eqn, number, "rule")

    def back(z):
        eqns = list(enumerate(make_jaxpr(f)(z).eqns, 1))
        return functools.reduce(step, eqns[::-1], z)

    return back


@right("custom.inverse_chain", style="all rules are looked up first, then applied")
def inverse_chain(f):
    @functools.wraps(f)
    def back(result):
        steps = []
        for number, eqn in enumerate(make_jaxpr(f)(result).eqns, 1):
            if len(eqn.invars) > 1:
                stop(ValueError, eqn, number, "an equation of a chain has a single operand")
            rules = inverse_rules.get(eqn.primitive.name)
            if rules is None:
                stop(NotImplementedError, eqn, number, "no inverse is known")
            steps.append(functools.partial(rules[0], **given_params(eqn)))
        while steps:
            result = steps.pop()(result)
        return result

    return back


@right("custom.inverse_chain", style="functools.reduce over the reversed equations")
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


@mistake(
    "custom.inverse_chain",
    name="The chain is undone from its first operation on",
    hints=[
        "You put on socks, then shoes. What do you take off first?",
        "The result came out of the last equation. Its operand is the result of the one before.",
        "Walk through `reversed(...)` of the equations.",
    ],
)
def inverse_chain(f):
    def f_inverse(z):
        for number, eqn in enumerate(make_jaxpr(f)(z).jaxpr.eqns, start=1):
            if len(eqn.invars) != 1:
                stop(ValueError, eqn, number, "it has several operands")
            if eqn.primitive.name not in inverse_rules:
                stop(NotImplementedError, eqn, number, "it has no rule")
            (rule,) = inverse_rules[eqn.primitive.name]
            z = rule(z, **given_params(eqn))
        return z

    return f_inverse


@mistake(
    "custom.inverse_chain",
    name="Equations are counted from the end",
    hints=[
        "A program has five equations and the first one stops you. Which number does your message say?",
        "Walking backwards does not change the numbers: the reader counts the lines from the top.",
        "Number the equations before you turn them round: `reversed(list(enumerate(eqns, start=1)))`, not `enumerate(reversed(eqns), start=1)`.",
    ],
)
def inverse_chain(f):
    def f_inverse(z):
        for number, eqn in enumerate(reversed(make_jaxpr(f)(z).jaxpr.eqns), start=1):
            if len(eqn.invars) != 1:
                stop(ValueError, eqn, number, "it has several operands")
            if eqn.primitive.name not in inverse_rules:
                stop(NotImplementedError, eqn, number, "it has no rule")
            (rule,) = inverse_rules[eqn.primitive.name]
            z = rule(z, **given_params(eqn))
        return z

    return f_inverse


@mistake("custom.inverse_chain", fails="test_chain_of_nothing")
def inverse_chain(f):
    def back(y):
        eqns = make_jaxpr(f)(y).eqns
        x, result = None, y
        for number in range(len(eqns), 0, -1):
            eqn = eqns[number - 1]
            if len(eqn.invars) != 1:
                stop(ValueError, eqn, number, f"it has {len(eqn.invars)} operands")
            if eqn.primitive.name not in inverse_rules:
                stop(NotImplementedError, eqn, number, "it has no rule")
            x = result = inverse_rules[eqn.primitive.name][0](result, **given_params(eqn))
        return x

    return back


@mistake("custom.inverse_chain", fails="test_chain_of_each_type")
def inverse_chain(f):
    def back(y):
        eqns = make_jaxpr(f)(1.0).eqns
        for number in range(len(eqns), 0, -1):
            eqn = eqns[number - 1]
            if len(eqn.invars) != 1:
                stop(ValueError, eqn, number, f"it has {len(eqn.invars)} operands")
            if eqn.primitive.name not in inverse_rules:
                stop(NotImplementedError, eqn, number, "it has no rule")
            y = inverse_rules[eqn.primitive.name][0](y, **given_params(eqn))
        return y

    return back


@mistake("custom.inverse_chain", fails="test_chain_of_rules")
def inverse_chain(f):
    def back(y):
        eqns = make_jaxpr(f)(y).eqns
        for number in range(len(eqns), 0, -1):
            eqn = eqns[number - 1]
            if len(eqn.invars) != 1:
                stop(ValueError, eqn, number, f"it has {len(eqn.invars)} operands")
            if eqn.primitive.name not in inverse_rules:
                stop(NotImplementedError, eqn, number, "it has no rule")
            y = inverse_rules[eqn.primitive.name][0](y, **eqn.params)
        return y

    return back


@mistake("custom.inverse_chain", fails="test_chain_of_rules")
def inverse_chain(f):
    def back(y):
        eqns = make_jaxpr(f)(y).eqns
        for number in range(len(eqns), 0, -1):
            eqn = eqns[number - 1]
            if len(eqn.invars) != 1:
                stop(ValueError, eqn, number, f"it has {len(eqn.invars)} operands")
            try:
                y = inverse_rules[eqn.primitive.name][0](y, **given_params(eqn))
            except KeyError:
                stop(NotImplementedError, eqn, number, "it has no rule")
        return y

    return back


@right("custom.invert")
def invert(eqn, number, ins, outs):
    try:
        rules = inverse_rules[eqn.primitive.name]
    except KeyError:
        stop(NotImplementedError, eqn, number, "no rule")
    unknown = [x is None for x in ins]
    if sum(unknown) != 1:
        stop(ValueError, eqn, number, "too many unknowns")
    place = unknown.index(True)
    answer = list(ins)
    others = answer[:place] + answer[place + 1 :]
    answer[place] = rules[place](*outs, *others, **given_params(eqn))
    return answer


@right("custom.invert")
def invert(eqn, number, ins, outs):
    if eqn.primitive.name not in inverse_rules:
        stop(NotImplementedError, eqn, number, "I do not know how")
    place = None
    others = []
    for i, x in enumerate(ins):
        if x is not None:
            others.append(x)
        elif place is None:
            place = i
        else:
            stop(ValueError, eqn, number, "two unknowns")
    found = inverse_rules[eqn.primitive.name][place](*outs, *others, **given_params(eqn))
    return others[:place] + [found] + others[place:]


@right("custom.invert", style="places of None and known operands by enumerate, a slice assignment")
def invert(eqn, number, ins, outs):
    name = eqn.primitive.name
    if name not in inverse_rules:
        stop(NotImplementedError, eqn, number, f"no rule says how {name} is undone")
    places = [i for i, x in enumerate(ins) if x is None]
    if len(places) > 1:
        stop(ValueError, eqn, number, "too many unknowns")
    at = places[0]
    known = list(ins)
    del known[at]
    found = inverse_rules[name][at](*outs, *known, **given_params(eqn))
    return [*known[:at], found, *known[at:]]


@right("custom.invert", style="try and except for the table, unpacking for the one None")
def invert(eqn, number, ins, outs):
    try:
        rules = inverse_rules[eqn.primitive.name]
    except KeyError:
        stop(NotImplementedError, eqn, number, "there is no rule")
    try:
        (place,) = (i for i in range(len(ins)) if ins[i] is None)
    except ValueError:
        stop(ValueError, eqn, number, "one operand can be found, and not several")
    value = rules[place](*outs, *(x for x in ins if x is not None), **given_params(eqn))
    return [value if i == place else x for i, x in enumerate(ins)]


@mistake(
    "custom.invert",
    name="The rule of the first operand is taken, whichever is unknown",
    hints=[
        "Solve `x - y = z` for x, and then for y. Is it the same formula?",
        "`inverse_rules[name]` is a list with one rule for each operand, since each has its own formula. For a sum they are alike, for a difference they are not.",
        "Take the entry at the place of the None: `inverse_rules[name][place]`.",
    ],
)
def invert(eqn, number, ins, outs):
    if eqn.primitive.name not in inverse_rules:
        stop(NotImplementedError, eqn, number, "it has no rule")
    if sum(x is None for x in ins) > 1:
        stop(ValueError, eqn, number, "too little is known")
    known = [x for x in ins if x is not None]
    value = inverse_rules[eqn.primitive.name][0](*outs, *known, **given_params(eqn))
    return [value if x is None else x for x in ins]


@mistake(
    "custom.invert",
    name="Only the operand that was found is returned",
    hints=[
        "How many entries has your list, if the equation has two operands?",
        "The caller writes your list to all operands of the equation, one entry for each, in their order.",
        "Go through `ins` and put the new value where the None is: `[value if x is None else x for x in ins]`.",
    ],
)
def invert(eqn, number, ins, outs):
    if eqn.primitive.name not in inverse_rules:
        stop(NotImplementedError, eqn, number, "it has no rule")
    places = [place for place, x in enumerate(ins) if x is None]
    if len(places) > 1:
        stop(ValueError, eqn, number, "too little is known")
    known = [x for x in ins if x is not None]
    return [inverse_rules[eqn.primitive.name][places[0]](*outs, *known, **given_params(eqn))]


@mistake("custom.invert", fails="test_invert_changes_nothing")
def invert(eqn, number, ins, outs):
    if eqn.primitive.name not in inverse_rules:
        stop(NotImplementedError, eqn, number, "it has no rule")
    missing = [i for i, x in enumerate(ins) if x is None]
    if len(missing) > 1:
        stop(ValueError, eqn, number, f"{len(missing)} operands are not known")
    (i,) = missing
    known = [x for x in ins if x is not None]
    ins[i] = inverse_rules[eqn.primitive.name][i](*outs, *known, **given_params(eqn))
    return ins


@mistake("custom.invert", fails="test_invert_params")
def invert(eqn, number, ins, outs):
    if eqn.primitive.name not in inverse_rules:
        stop(NotImplementedError, eqn, number, "it has no rule")
    missing = [i for i, x in enumerate(ins) if x is None]
    if len(missing) > 1:
        stop(ValueError, eqn, number, f"{len(missing)} operands are not known")
    (i,) = missing
    known = [x for x in ins if x is not None]
    found = inverse_rules[eqn.primitive.name][i](*outs, *known, **eqn.params)
    return [found if x is None else x for x in ins]


@mistake("custom.invert", fails="test_invert_errors_of_rules")
def invert(eqn, number, ins, outs):
    missing = [i for i, x in enumerate(ins) if x is None]
    known = [x for x in ins if x is not None]
    try:
        rules = inverse_rules[eqn.primitive.name]
        if len(missing) > 1:
            stop(ValueError, eqn, number, f"{len(missing)} operands are not known")
        found = rules[missing[0]](*outs, *known, **given_params(eqn))
    except (KeyError, TypeError):
        stop(NotImplementedError, eqn, number, "it has no rule")
    return [found if x is None else x for x in ins]


@mistake("custom.invert", fails="test_invert_stops")
def invert(eqn, number, ins, outs):
    if sum(x is None for x in ins) > 1:
        stop(ValueError, eqn, number, "several operands are not known")
    if eqn.primitive.name not in inverse_rules:
        stop(NotImplementedError, eqn, number, "it has no rule")
    (i,) = [i for i, x in enumerate(ins) if x is None]
    known = [x for x in ins if x is not None]
    found = inverse_rules[eqn.primitive.name][i](*outs, *known, **given_params(eqn))
    return [found if x is None else x for x in ins]


@right("custom.evaluate_if_known")
def evaluate_if_known(env, eqn):
    operands = []
    for atom in eqn.invars:
        value = read(env, atom)
        if value is None:
            return
        operands.append(value)
    if not all(var in env for var in eqn.outvars):
        write(env, eqn.outvars, eval_equation(eqn, operands))


@right("custom.evaluate_if_known")
def evaluate_if_known(env, eqn):
    is_known = lambda atom: read(env, atom) is not None
    if all(map(is_known, eqn.outvars)):
        return None
    if all(map(is_known, eqn.invars)):
        results = eval_equation(eqn, [read(env, atom) for atom in eqn.invars])
        for var, value in zip(eqn.outvars, results):
            env[var] = value


@right("custom.evaluate_if_known", style="guards with early returns, loops")
def evaluate_if_known(env, eqn):
    operands = []
    for atom in eqn.invars:
        value = read(env, atom)
        if value is None:
            return
        operands.append(value)
    for var in eqn.outvars:
        if read(env, var) is None:
            break
    else:
        return
    write(env, eqn.outvars, eval_equation(eqn, operands))


@right("custom.evaluate_if_known", style="counts of None, one condition")
def evaluate_if_known(env, eqn):
    absent = lambda atoms: sum(1 for atom in atoms if read(env, atom) is None)
    if absent(eqn.outvars) and not absent(eqn.invars):
        results = eval_equation(eqn, tuple(read(env, atom) for atom in eqn.invars))
        env.update(
            (var, out)
            for var, out in zip(eqn.outvars, results, strict=True)
            if is_variable(var) and out is not None
        )


mistake(
    "custom.evaluate_if_known",
    {
        "if all(x is not None for x in args) and any(read(env, v) is None for v in eqn.outvars):": "if all(x is not None for x in args):"
    },
    name="Results that are known already are computed again",
    hints=[
        "In `x, exp(x)` both results are given. Does your function compute the exponential all the same?",
        "A result that is known came from outside, and the second sweep starts from it. To compute it once more costs work, and replaces what was given.",
        "Look at the results too: there is something to do only if one of them is None.",
    ],
)
mistake(
    "custom.evaluate_if_known",
    {"any": "all"},
    name="An equation is left alone as soon as one of its results is known",
    hints=[
        "A call has two results, and one of them is known. What becomes of the other one?",
        "There is nothing to do if all results are known. One that is missing is reason enough to compute.",
        "The condition on the results is `any(... is None ...)`.",
    ],
)


@mistake("custom.evaluate_if_known", fails="test_known_no_operands")
def evaluate_if_known(env, eqn):
    ins = [read(env, x) for x in eqn.invars]
    if not ins or any(x is None for x in ins):
        return
    if any(read(env, v) is None for v in eqn.outvars):
        write(env, eqn.outvars, eval_equation(eqn, ins))


@mistake("custom.evaluate_if_known", fails="test_known_errors")
def evaluate_if_known(env, eqn):
    ins = [read(env, x) for x in eqn.invars]
    if any(x is None for x in ins):
        return
    if any(read(env, v) is None for v in eqn.outvars):
        try:
            outs = eval_equation(eqn, ins)
        except (TypeError, NotImplementedError):
            return
        write(env, eqn.outvars, outs)


@mistake("custom.evaluate_if_known", fails="test_known_operands")
def evaluate_if_known(env, eqn):
    ins = [read(env, x) for x in eqn.invars]
    if all(ins) and not all(read(env, v) for v in eqn.outvars):
        write(env, eqn.outvars, eval_equation(eqn, ins))


@mistake("custom.evaluate_if_known", fails="test_known_first_result")
def evaluate_if_known(env, eqn):
    ins = [read(env, x) for x in eqn.invars]
    if all(x is not None for x in ins) and read(env, eqn.outvars[0]) is None:
        write(env, eqn.outvars, eval_equation(eqn, ins))


@right("custom.inverse_jaxpr")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    known = {}
    atoms = [*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars]
    write(known, atoms, [*consts, *ins, *outs])
    numbered = [(i + 1, eqn) for i, eqn in enumerate(jaxpr.eqns)]
    for _, eqn in numbered:
        evaluate_if_known(known, eqn)
    while numbered:
        number, eqn = numbered.pop()
        invert_if_needed(known, eqn, number)
    return [known.get(var) for var in jaxpr.invars]


@right("custom.inverse_jaxpr")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = dict(zip(jaxpr.constvars, consts))
    write(env, jaxpr.invars, ins)
    write(env, jaxpr.outvars, outs)
    count = 0
    for eqn in jaxpr.eqns:
        evaluate_if_known(env, eqn)
        count += 1
    for eqn in reversed(jaxpr.eqns):
        invert_if_needed(env, eqn, count)
        count -= 1
    return [read(env, var) for var in jaxpr.invars]


@right("custom.inverse_jaxpr", style="writes in another order, indices downwards")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = dict()
    for atoms, values in ((jaxpr.outvars, outs), (jaxpr.invars, ins), (jaxpr.constvars, consts)):
        write(env, list(atoms), list(values))
    for eqn in jaxpr.eqns:
        evaluate_if_known(env, eqn)
    for i in range(len(jaxpr.eqns) - 1, -1, -1):
        invert_if_needed(env, jaxpr.eqns[i], i + 1)
    return list(map(functools.partial(read, env), jaxpr.invars))


@right("custom.inverse_jaxpr", style="a stack of numbered equations, filled by the first sweep")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env, seen = {}, []
    atoms = (*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars)
    write(env, atoms, (*consts, *ins, *outs))
    for numbered in enumerate(jaxpr.eqns, start=1):
        seen.append(numbered)
        evaluate_if_known(env, numbered[1])
    while seen:
        number, eqn = seen.pop()
        invert_if_needed(env, eqn, number)
    return [env[v] if v in env else None for v in jaxpr.invars]


mistake(
    "custom.inverse_jaxpr",
    {"env: Env = {}": "env = {}", "write(env, jaxpr.invars, ins)": ""},
    name="Inputs that are known are forgotten",
    hints=[
        "What is `ins` for? Try a program with two inputs, one of which is known.",
        "In a call, some operands may be known from outside. The program that is called can only be undone with their help.",
        "Write `ins` to `jaxpr.invars` before the first sweep. `write` leaves out what is None.",
    ],
)
mistake(
    "custom.inverse_jaxpr",
    {
        "env: Env = {}": "env = {}",
        "for number, eqn in reversed(list(enumerate(jaxpr.eqns, start=1))):": "for number, eqn in enumerate(jaxpr.eqns, start=1):",
    },
    name="The second sweep goes forward as well",
    hints=[
        "What is known of the results of the first equation, before any other one has been undone?",
        "Results are known at the end of the program. From there knowledge comes up, one equation at a time. In the other direction most equations are passed before anything is known of them.",
        "Go through the numbered equations with `reversed`.",
    ],
)


@mistake("custom.inverse_jaxpr", fails="test_sweep_calls")
def inverse_jaxpr(jaxpr, consts, ins, outs, env={}):
    write(env, [*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars], [*consts, *ins, *outs])
    for eqn in jaxpr.eqns:
        evaluate_if_known(env, eqn)
    for number in range(len(jaxpr.eqns), 0, -1):
        invert_if_needed(env, jaxpr.eqns[number - 1], number)
    return [read(env, x) for x in jaxpr.invars]


@mistake("custom.inverse_jaxpr", fails="test_sweep_some_results")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *ins], strict=True))
    env.update(zip(jaxpr.outvars, outs, strict=True))
    for eqn in jaxpr.eqns:
        evaluate_if_known(env, eqn)
    for number in range(len(jaxpr.eqns), 0, -1):
        invert_if_needed(env, jaxpr.eqns[number - 1], number)
    return [read(env, x) for x in jaxpr.invars]


@mistake("custom.inverse_jaxpr", fails="test_sweep_is_transformed")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = {}
    write(env, [*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars], [*consts, *ins, *outs])
    for number in range(len(jaxpr.eqns), 0, -1):
        evaluate_if_known(env, jaxpr.eqns[number - 1])
        invert_if_needed(env, jaxpr.eqns[number - 1], number)
    return [read(env, x) for x in jaxpr.invars]


@mistake("custom.inverse_jaxpr", fails="test_sweep_stops")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = {}
    write(env, [*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars], [*consts, *ins, *outs])
    for eqn in jaxpr.eqns:
        evaluate_if_known(env, eqn)
    for number, eqn in enumerate(reversed(jaxpr.eqns), start=1):
        invert_if_needed(env, eqn, number)
    return [read(env, x) for x in jaxpr.invars]


@mistake("custom.inverse_jaxpr", fails="test_sweep_several_results")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = {}
    write(env, [*jaxpr.constvars, *jaxpr.invars], [*consts, *ins])
    write(env, jaxpr.outvars[:1], outs[:1])
    for eqn in jaxpr.eqns:
        evaluate_if_known(env, eqn)
    for number in range(len(jaxpr.eqns), 0, -1):
        invert_if_needed(env, jaxpr.eqns[number - 1], number)
    return [read(env, x) for x in jaxpr.invars]


@mistake("custom.inverse_jaxpr", fails="test_sweep_as_a_program")
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = {}
    write(env, [*jaxpr.invars, *jaxpr.outvars], [*ins, *outs])
    for eqn in jaxpr.eqns:
        evaluate_if_known(env, eqn)
    for number in range(len(jaxpr.eqns), 0, -1):
        invert_if_needed(env, jaxpr.eqns[number - 1], number)
    return [read(env, x) for x in jaxpr.invars]


@right("custom.inverse_equation")
def inverse_equation(eqn, number, ins, outs):
    program = called_program(eqn)
    if program is None:
        return invert(eqn, number, ins, outs)
    return inverse_jaxpr(program[0], program[1], list(ins), list(outs))


@right("custom.inverse_equation")
def inverse_equation(eqn, number, ins, outs):
    match called_program(eqn):
        case jaxpr, consts:
            return inverse_jaxpr(jaxpr, consts, ins, outs)
        case _:
            return invert(eqn, number, ins, outs)


@right("custom.inverse_equation", style="a conditional expression, star arguments")
def inverse_equation(eqn, number, ins, outs):
    program = called_program(eqn)
    return invert(eqn, number, ins, outs) if program is None else inverse_jaxpr(*program, ins, outs)


@right("custom.inverse_equation", style="match, with copies of the lists")
def inverse_equation(eqn, number, ins, outs):
    match called_program(eqn):
        case (jaxpr, consts):
            found = inverse_jaxpr(jaxpr, list(consts), list(ins), list(outs))
        case _:
            found = invert(eqn, number, list(ins), list(outs))
    return list(found)


mistake(
    "custom.inverse_equation",
    {
        "return inverse_jaxpr(*called, ins, outs) if called else invert(eqn, number, ins, outs)": "if called:\n    return inverse_jaxpr(*called, [None] * len(ins), outs)\nreturn invert(eqn, number, ins, outs)"
    },
    name="In a call nothing is known of the operands",
    hints=[
        "A function that is called multiplies x by y, and y is known. Can the program inside know that?",
        "The operands of a call are the inputs of its program, in the same order. What is known of them outside is known inside.",
        "Hand `ins` on to `inverse_jaxpr`, as it is.",
    ],
)


@mistake("custom.inverse_equation", fails="test_undo_calls")
def inverse_equation(eqn, number, ins, outs):
    if eqn.primitive.name == "jit":
        jaxpr, consts = called_program(eqn)
        return inverse_jaxpr(jaxpr, consts, ins, outs)
    return invert(eqn, number, ins, outs)


@mistake("custom.inverse_equation", fails="test_undo_what_is_no_call")
def inverse_equation(eqn, number, ins, outs):
    called = called_program(eqn)
    if called is None and "jaxpr" in eqn.params:
        called = opened(eqn.params["jaxpr"])
    if called is None:
        return invert(eqn, number, ins, outs)
    return inverse_jaxpr(*called, ins, outs)


@mistake("custom.inverse_equation", fails="test_undo_calls_that_stop")
def inverse_equation(eqn, number, ins, outs):
    called = called_program(eqn)
    if called is not None:
        try:
            return inverse_jaxpr(*called, ins, outs)
        except ValueError:
            pass
    return invert(eqn, number, ins, outs)


@mistake("custom.inverse_equation", fails="test_undo_programs_without_equations")
def inverse_equation(eqn, number, ins, outs):
    called = called_program(eqn)
    if called is not None and called[0].eqns:
        return inverse_jaxpr(*called, ins, outs)
    return invert(eqn, number, ins, outs)


@mistake("custom.inverse_equation", fails="test_undo_constants")
def inverse_equation(eqn, number, ins, outs):
    called = called_program(eqn)
    if called is None:
        return invert(eqn, number, ins, outs)
    return inverse_jaxpr(called[0], [None] * len(called[0].constvars), ins, outs)


@right("custom.dce_jaxpr")
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


@right("custom.dce_jaxpr")
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


@right("custom.dce_jaxpr", style="live variables by id in a dict, equations by insert")
def dce_jaxpr(jaxpr, used_outputs):
    live = {}

    def read_by_someone(atoms):
        for atom in atoms:
            if is_variable(atom):
                live[id(atom)] = atom

    outvars = [atom for i, atom in enumerate(jaxpr.outvars) if used_outputs[i]]
    read_by_someone(outvars)
    eqns = []
    for i in range(len(jaxpr.eqns) - 1, -1, -1):
        old = jaxpr.eqns[i]
        flags = [id(var) in live for var in old.outvars]
        if True in flags or has_effects(old):
            new = thinned(old, flags)
            read_by_someone(new.invars)
            eqns.insert(0, new)
    still_there = [id(var) in live for var in jaxpr.invars]
    invars = [var for var, stays in zip(jaxpr.invars, still_there) if stays]
    return jaxpr.replace(eqns=eqns, invars=invars, outvars=outvars), still_there


@right("custom.dce_jaxpr", style="a generator that yields the equations backwards")
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


@mistake(
    "custom.dce_jaxpr",
    name="Whatever some equation reads is taken as needed",
    hints=[
        "Equation 1 is read by equation 2, and equation 2 by nothing. Does equation 1 stay in your program?",
        "Being read is not enough: the equation that reads must stay. Whether it does is known only if you have looked at it before.",
        "Walk from the last equation to the first, and add the operands of an equation to the live variables only if the equation stays.",
    ],
)
def dce_jaxpr(jaxpr, used_outputs):
    outvars = chosen(jaxpr.outvars, used_outputs)
    live = set(filter(is_variable, outvars))
    for eqn in jaxpr.eqns:
        live.update(filter(is_variable, eqn.invars))
    eqns = []
    for eqn in jaxpr.eqns:
        used = [var in live for var in eqn.outvars]
        if any(used) or has_effects(eqn):
            eqns.append(thinned(eqn, used))
    used_inputs = [var in live for var in jaxpr.invars]
    invars = chosen(jaxpr.invars, used_inputs)
    return jaxpr.replace(invars=invars, outvars=outvars, eqns=eqns), used_inputs


mistake(
    "custom.dce_jaxpr",
    {"eqns[-1]": "eqn"},
    name="The operands of a call count before the call is thinned out",
    hints=[
        "A call has two operands, and the second one is of use to a result that is not needed. Must it be computed?",
        "`thinned` gives an equation with fewer operands. What only the others needed is dead now.",
        "Add the operands of the equation that `thinned` gave, not those of the one that you handed to it.",
    ],
)
mistake(
    "custom.dce_jaxpr",
    {
        "used_inputs = [var in live for var in jaxpr.invars]": "return jaxpr.replace(outvars=outvars, eqns=eqns[::-1]), [True] * len(jaxpr.invars)",
        "invars = chosen(jaxpr.invars, used_inputs)": "",
        "return jaxpr.replace(invars=invars, outvars=outvars, eqns=eqns[::-1]), used_inputs": "",
    },
    name="The inputs all stay",
    hints=[
        "Which inputs does `sin(x)` need, in a program of x and y?",
        "An input that nothing reads any more is of no use either, and does not have to be computed for a call.",
        "`[var in live for var in jaxpr.invars]` after the walk, and `chosen` with that.",
    ],
)


@mistake("custom.dce_jaxpr", fails="test_dce_random_programs")
def dce_jaxpr(jaxpr, used_outputs):
    live = {x for x in chosen(jaxpr.outvars, used_outputs) if is_variable(x)}
    literals = [x for x in chosen(jaxpr.outvars, used_outputs) if not is_variable(x)]
    eqns = []
    for eqn in reversed(jaxpr.eqns):
        used = [v in live for v in eqn.outvars]
        if any(used) or has_effects(eqn):
            eqn = thinned(eqn, used)
            live |= {x for x in eqn.invars if is_variable(x)}
            eqns.append(eqn)
    used_inputs = [v in live for v in jaxpr.invars]
    outvars = [x for x in jaxpr.outvars if x in live or x in literals]
    invars = chosen(jaxpr.invars, used_inputs)
    return jaxpr.replace(invars=invars, outvars=outvars, eqns=eqns[::-1]), used_inputs


@mistake("custom.dce_jaxpr", fails="test_dce_keeps_nothing")
def dce_jaxpr(jaxpr, used_outputs):
    import dataclasses

    outvars = chosen(jaxpr.outvars, used_outputs)
    live, eqns = {x for x in outvars if is_variable(x)}, []
    for eqn in reversed(jaxpr.eqns):
        used = [v in live for v in eqn.outvars]
        if any(used) or has_effects(eqn):
            eqn = thinned(eqn, used)
            live |= {x for x in eqn.invars if is_variable(x)}
            eqns.append(eqn)
    used_inputs = [v in live for v in jaxpr.invars]
    invars = chosen(jaxpr.invars, used_inputs)
    new = dataclasses.replace(jaxpr, invars=invars, outvars=outvars, eqns=eqns[::-1])
    return new, used_inputs


@mistake("custom.dce_jaxpr", fails="test_dce_constants")
def dce_jaxpr(jaxpr, used_outputs):
    outvars = chosen(jaxpr.outvars, used_outputs)
    live, eqns = {x for x in outvars if is_variable(x)}, []
    for eqn in reversed(jaxpr.eqns):
        used = [v in live for v in eqn.outvars]
        if any(used) or has_effects(eqn):
            eqn = thinned(eqn, used)
            live |= {x for x in eqn.invars if is_variable(x)}
            eqns.append(eqn)
    used_inputs = [v in live for v in jaxpr.invars]
    new = jaxpr.replace(
        constvars=[v for v in jaxpr.constvars if v in live],
        invars=chosen(jaxpr.invars, used_inputs),
        outvars=outvars,
        eqns=eqns[::-1],
    )
    return new, used_inputs


@mistake("custom.dce_jaxpr", fails="test_dce_outputs")
def dce_jaxpr(jaxpr, used_outputs):
    outvars = list(dict.fromkeys(chosen(jaxpr.outvars, used_outputs)))
    live, eqns = {x for x in outvars if is_variable(x)}, []
    for eqn in reversed(jaxpr.eqns):
        used = [v in live for v in eqn.outvars]
        if any(used) or has_effects(eqn):
            eqn = thinned(eqn, used)
            live |= {x for x in eqn.invars if is_variable(x)}
            eqns.append(eqn)
    used_inputs = [v in live for v in jaxpr.invars]
    invars = chosen(jaxpr.invars, used_inputs)
    return jaxpr.replace(invars=invars, outvars=outvars, eqns=eqns[::-1]), used_inputs


@mistake("custom.dce_jaxpr", fails="test_dce_effects")
def dce_jaxpr(jaxpr, used_outputs):
    outvars = chosen(jaxpr.outvars, used_outputs)
    live, eqns = {x for x in outvars if is_variable(x)}, []
    for eqn in reversed(jaxpr.eqns):
        used = [v in live for v in eqn.outvars]
        if any(used):
            eqn = thinned(eqn, used)
            live |= {x for x in eqn.invars if is_variable(x)}
            eqns.append(eqn)
        elif has_effects(eqn):
            eqns.append(eqn)
    used_inputs = [v in live for v in jaxpr.invars]
    invars = chosen(jaxpr.invars, used_inputs)
    return jaxpr.replace(invars=invars, outvars=outvars, eqns=eqns[::-1]), used_inputs


@right("custom.dot_general_cost")
def dot_general_cost(eqn):
    x, y = eqn.invars
    (contracted, _), _ = eqn.params["dimension_numbers"]
    (z,) = eqn.outvars
    flops = 2 * size(z)
    for axis in contracted:
        flops *= x.aval.shape[axis]
    return Cost(flops, 0, moved(eqn))


@right("custom.dot_general_cost")
def dot_general_cost(eqn):
    (_, contracted), _ = eqn.params["dimension_numbers"]
    lengths = [eqn.invars[1].aval.shape[axis] for axis in contracted]
    return Cost(size(eqn.outvars[0]) * 2 * math.prod(lengths), bytes=moved(eqn))


@right("custom.dot_general_cost", style="from the operands: all of x times what y keeps")
def dot_general_cost(eqn):
    x, y = eqn.invars
    (_, y_contract), (_, y_batch) = eqn.params["dimension_numbers"]
    kept = 1
    for axis, length in enumerate(y.aval.shape):
        if axis not in y_contract and axis not in y_batch:
            kept *= length
    products = size(x) * kept
    return Cost(flops=products + products, bytes=moved(eqn))


@right("custom.dot_general_cost", style="a sum of costs: Cost's own arithmetic")
def dot_general_cost(eqn):
    (axes, _), _ = eqn.params["dimension_numbers"]
    terms = functools.reduce(lambda n, axis: n * eqn.invars[0].aval.shape[axis], axes, 1)
    term = Cost(flops=1) + Cost(flops=1)
    return term * terms * size(eqn.outvars[0]) + Cost(bytes=moved(eqn))


mistake(
    "custom.dot_general_cost",
    {"2 * size": "size"},
    name="The additions are not counted",
    hints=[
        "How is one element of a product of matrices computed? Name every operation.",
        "Each term is a product that is then added to the sum: two operations.",
        "Twice the number of elements of the result, times the number of terms of each.",
    ],
)
mistake(
    "custom.dot_general_cost",
    {"[0].": "[1]."},
    name="The axes of the first operand are looked up in the second one",
    hints=[
        "In `dimension_numbers` there are two tuples of contracted axes. To which operand does each of them belong?",
        "The first of the two tuples counts axes of the first operand. In a product of matrices these are the columns of the first and the rows of the second.",
        "Take the lengths from `eqn.invars[0].aval.shape`, if you take the first tuple.",
    ],
)


@mistake("custom.dot_general_cost", fails="test_cost_of_programs")
def dot_general_cost(eqn):
    (axes, _), _ = eqn.params["dimension_numbers"]
    terms = math.prod(eqn.invars[0].aval.shape[i] for i in axes)
    arrays = {*filter(is_variable, eqn.invars), *eqn.outvars}
    nbytes = sum(size(x) * x.aval.dtype.itemsize for x in arrays)
    return Cost(flops=2 * size(eqn.outvars[0]) * terms, bytes=nbytes)


@mistake("custom.dot_general_cost", fails="test_cost_without_contracted_axes")
def dot_general_cost(eqn):
    (axes, _), _ = eqn.params["dimension_numbers"]
    out = size(eqn.outvars[0])
    if not axes:
        return Cost(flops=out, bytes=moved(eqn))
    terms = math.prod(eqn.invars[0].aval.shape[i] for i in axes)
    return Cost(flops=2 * out * terms, bytes=moved(eqn))


@mistake("custom.dot_general_cost", fails="test_cost_of_several_contracted_axes")
def dot_general_cost(eqn):
    (axes, _), _ = eqn.params["dimension_numbers"]
    terms = eqn.invars[0].aval.shape[axes[-1]] if axes else 1
    return Cost(flops=2 * terms * size(eqn.outvars[0]), bytes=moved(eqn))


@mistake("custom.dot_general_cost", fails="test_cost_in_bytes")
def dot_general_cost(eqn):
    (axes, _), _ = eqn.params["dimension_numbers"]
    terms = math.prod(eqn.invars[0].aval.shape[i] or 1 for i in axes)
    return Cost(flops=2 * terms * size(eqn.outvars[0]), bytes=moved(eqn))
