"""Answers to the exercises of the lesson custom: right ones, and known mistakes.

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


@mistake(
    "custom.eval_equation",
    name="Calls are bound, and their programs are not opened",
    hints=[
        "Print `make_jaxpr` of a function that evaluates an equation of `jit`. Is there a `jit` in it?",
        "Binding a call is not wrong as evaluation, but it hands the whole program on in one piece. Whoever writes a new interpreter wants to see each operation.",
        "Before you bind anything, ask `called_program(eqn)`; if it gives a program, evaluate that with `eval_jaxpr`.",
    ],
)
def eval_equation(eqn, args):
    outs = eqn.primitive.bind(*args, **eqn.params)
    return outs if eqn.primitive.multiple_results else [outs]


@mistake(
    "custom.eval_equation",
    name="Every result of bind is put into a list",
    hints=[
        "What does `bind` give for a primitive with two results? And what does your function make of it?",
        "Some primitives have several results, and then `bind` gives a list already, even if there is one entry in it, or none.",
        "`eqn.primitive.multiple_results` says which kind it is.",
    ],
)
def eval_equation(eqn, args):
    called = called_program(eqn)
    if called:
        return eval_jaxpr(*called, args)
    return [eqn.primitive.bind(*args, **eqn.params)]


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


@mistake(
    "custom.evaluate_if_known",
    name="Results that are known already are computed again",
    hints=[
        "In `x, exp(x)` both results are given. Does your function compute the exponential all the same?",
        "A result that is known came from outside, and the second sweep starts from it. To compute it once more costs work, and replaces what was given.",
        "Look at the results too: there is something to do only if one of them is None.",
    ],
)
def evaluate_if_known(env, eqn):
    args = [read(env, x) for x in eqn.invars]
    if all(x is not None for x in args):
        write(env, eqn.outvars, eval_equation(eqn, args))


@mistake(
    "custom.evaluate_if_known",
    name="An equation is left alone as soon as one of its results is known",
    hints=[
        "A call has two results, and one of them is known. What becomes of the other one?",
        "There is nothing to do if all results are known. One that is missing is reason enough to compute.",
        "The condition on the results is `any(... is None ...)`.",
    ],
)
def evaluate_if_known(env, eqn):
    args = [read(env, x) for x in eqn.invars]
    if all(x is not None for x in args) and all(read(env, v) is None for v in eqn.outvars):
        write(env, eqn.outvars, eval_equation(eqn, args))


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


@mistake(
    "custom.inverse_jaxpr",
    name="Inputs that are known are forgotten",
    hints=[
        "What is `ins` for? Try a program with two inputs, one of which is known.",
        "In a call, some operands may be known from outside. The program that is called can only be undone with their help.",
        "Write `ins` to `jaxpr.invars` before the first sweep. `write` leaves out what is None.",
    ],
)
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = {}
    write(env, jaxpr.outvars, outs)
    write(env, jaxpr.constvars, consts)
    for eqn in jaxpr.eqns:
        evaluate_if_known(env, eqn)
    for number, eqn in reversed(list(enumerate(jaxpr.eqns, start=1))):
        invert_if_needed(env, eqn, number)
    return [read(env, x) for x in jaxpr.invars]


@mistake(
    "custom.inverse_jaxpr",
    name="The second sweep goes forward as well",
    hints=[
        "What is known of the results of the first equation, before any other one has been undone?",
        "Results are known at the end of the program. From there knowledge comes up, one equation at a time. In the other direction most equations are passed before anything is known of them.",
        "Go through the numbered equations with `reversed`.",
    ],
)
def inverse_jaxpr(jaxpr, consts, ins, outs):
    env = {}
    write(env, jaxpr.outvars, outs)
    write(env, jaxpr.constvars, consts)
    write(env, jaxpr.invars, ins)
    for eqn in jaxpr.eqns:
        evaluate_if_known(env, eqn)
    for number, eqn in enumerate(jaxpr.eqns, start=1):
        invert_if_needed(env, eqn, number)
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


@mistake(
    "custom.inverse_equation",
    name="In a call nothing is known of the operands",
    hints=[
        "A function that is called multiplies x by y, and y is known. Can the program inside know that?",
        "The operands of a call are the inputs of its program, in the same order. What is known of them outside is known inside.",
        "Hand `ins` on to `inverse_jaxpr`, as it is.",
    ],
)
def inverse_equation(eqn, number, ins, outs):
    called = called_program(eqn)
    if called:
        return inverse_jaxpr(*called, [None] * len(ins), outs)
    return invert(eqn, number, ins, outs)


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


@mistake(
    "custom.dce_jaxpr",
    name="Whatever some equation reads is taken as needed",
    hints=[
        "Equation 1 is read by equation 2, and equation 2 by nobody. Does equation 1 stay in your program?",
        "Being read is not enough: whoever reads must stay. Whether it does is known only if you have looked at it before.",
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


@mistake(
    "custom.dce_jaxpr",
    name="The operands of a call count before the call is thinned out",
    hints=[
        "A call has two operands, and the second one is of use to a result that nobody needs. Must it be computed?",
        "`thinned` gives an equation with fewer operands. What only the others needed is dead now.",
        "Add the operands of the equation that `thinned` gave, not those of the one that you handed to it.",
    ],
)
def dce_jaxpr(jaxpr, used_outputs):
    outvars = chosen(jaxpr.outvars, used_outputs)
    live = set(filter(is_variable, outvars))
    eqns = []
    for eqn in reversed(jaxpr.eqns):
        used = [var in live for var in eqn.outvars]
        if any(used) or has_effects(eqn):
            eqns.append(thinned(eqn, used))
            live.update(filter(is_variable, eqn.invars))
    used_inputs = [var in live for var in jaxpr.invars]
    invars = chosen(jaxpr.invars, used_inputs)
    return jaxpr.replace(invars=invars, outvars=outvars, eqns=eqns[::-1]), used_inputs


@mistake(
    "custom.dce_jaxpr",
    name="The inputs all stay",
    hints=[
        "Which inputs does `sin(x)` need, in a program of x and y?",
        "An input that nothing reads any more is of no use either, and whoever calls the program need not compute it.",
        "`[var in live for var in jaxpr.invars]` after the walk, and `chosen` with that.",
    ],
)
def dce_jaxpr(jaxpr, used_outputs):
    outvars = chosen(jaxpr.outvars, used_outputs)
    live = set(filter(is_variable, outvars))
    eqns = []
    for eqn in reversed(jaxpr.eqns):
        used = [var in live for var in eqn.outvars]
        if any(used) or has_effects(eqn):
            eqns.append(thinned(eqn, used))
            live.update(filter(is_variable, eqns[-1].invars))
    return jaxpr.replace(outvars=outvars, eqns=eqns[::-1]), [True] * len(jaxpr.invars)


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


@mistake(
    "custom.dot_general_cost",
    name="The additions are not counted",
    hints=[
        "How is one element of a product of matrices computed? Name every operation.",
        "Each term is a product that is then added to the sum: two operations.",
        "Twice the number of elements of the result, times the number of terms of each.",
    ],
)
def dot_general_cost(eqn):
    (contracted, _), _ = eqn.params["dimension_numbers"]
    terms = math.prod(eqn.invars[0].aval.shape[axis] for axis in contracted)
    return Cost(flops=size(eqn.outvars[0]) * terms, bytes=moved(eqn))


@mistake(
    "custom.dot_general_cost",
    name="The axes of the first operand are looked up in the second one",
    hints=[
        "In `dimension_numbers` there are two tuples of contracted axes. To which operand does each of them belong?",
        "The first of the two tuples counts axes of the first operand. In a product of matrices these are the columns of the first and the rows of the second.",
        "Take the lengths from `eqn.invars[0].aval.shape`, if you take the first tuple.",
    ],
)
def dot_general_cost(eqn):
    (contracted, _), _ = eqn.params["dimension_numbers"]
    shape = eqn.invars[1].aval.shape
    terms = math.prod(shape[axis] if axis < len(shape) else 1 for axis in contracted)
    return Cost(flops=2 * size(eqn.outvars[0]) * terms, bytes=moved(eqn))
