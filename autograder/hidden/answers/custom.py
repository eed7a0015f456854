"""Known mistakes of the lesson custom: each function stands in for the target of its exercise.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


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
