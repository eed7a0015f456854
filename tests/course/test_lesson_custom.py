"""The lesson custom: other right answers pass, and its message of a while loop is no stub."""

import pytest
from other_answers import lost

from autograder.lessons import assemble, manifest
from autograder.student.commands import blame

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "custom.eval_equation": """
def eval_equation(eqn, args):
    match called_program(eqn):
        case (jaxpr, consts):
            return eval_jaxpr(jaxpr, consts, args)
        case None:
            out = eqn.primitive.bind(*args, **eqn.params)
            return list(out) if eqn.primitive.multiple_results else [out]
""",
        "custom.inverse_chain": """
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
""",
        "custom.invert": """
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
""",
        "custom.evaluate_if_known": """
def evaluate_if_known(env, eqn):
    operands = []
    for atom in eqn.invars:
        value = read(env, atom)
        if value is None:
            return
        operands.append(value)
    if not all(var in env for var in eqn.outvars):
        write(env, eqn.outvars, eval_equation(eqn, operands))
""",
        "custom.inverse_jaxpr": """
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
""",
        "custom.inverse_equation": """
def inverse_equation(eqn, number, ins, outs):
    program = called_program(eqn)
    if program is None:
        return invert(eqn, number, ins, outs)
    return inverse_jaxpr(program[0], program[1], list(ins), list(outs))
""",
        "custom.dce_jaxpr": """
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
""",
        "custom.dot_general_cost": """
def dot_general_cost(eqn):
    x, y = eqn.invars
    (contracted, _), _ = eqn.params["dimension_numbers"]
    (z,) = eqn.outvars
    flops = 2 * size(z)
    for axis in contracted:
        flops *= x.aval.shape[axis]
    return Cost(flops, 0, moved(eqn))
""",
    },
    {
        "custom.eval_equation": """
def eval_equation(eqn, args):
    if called_program(eqn) is not None:
        jaxpr, consts = called_program(eqn)
        return eval_jaxpr(jaxpr, list(consts), list(args))
    results = eqn.primitive.bind(*args, **eqn.params)
    if not eqn.primitive.multiple_results:
        results = [results]
    return results
""",
        "custom.inverse_chain": """
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
""",
        "custom.invert": """
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
""",
        "custom.evaluate_if_known": """
def evaluate_if_known(env, eqn):
    is_known = lambda atom: read(env, atom) is not None
    if all(map(is_known, eqn.outvars)):
        return None
    if all(map(is_known, eqn.invars)):
        results = eval_equation(eqn, [read(env, atom) for atom in eqn.invars])
        for var, value in zip(eqn.outvars, results):
            env[var] = value
""",
        "custom.inverse_jaxpr": """
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
""",
        "custom.inverse_equation": """
def inverse_equation(eqn, number, ins, outs):
    match called_program(eqn):
        case jaxpr, consts:
            return inverse_jaxpr(jaxpr, consts, ins, outs)
        case _:
            return invert(eqn, number, ins, outs)
""",
        "custom.dce_jaxpr": """
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
""",
        "custom.dot_general_cost": """
def dot_general_cost(eqn):
    (_, contracted), _ = eqn.params["dimension_numbers"]
    lengths = [eqn.invars[1].aval.shape[axis] for axis in contracted]
    return Cost(size(eqn.outvars[0]) * 2 * math.prod(lengths), bytes=moved(eqn))
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES, ids=["first", "second"])
def test_other_right_answers_have_full_points(answers):
    assert lost("custom", answers) == ([], [])


def test_an_error_of_given_code_is_no_exercise_to_do():
    lesson = manifest.get("custom")
    source = assemble.read_solution(lesson.module).encode()
    assert "exercises to do" not in blame(lesson, source, ["checkpoint.first"])
    handout = assemble.read_handout(lesson.module).encode()
    assert "exercises to do" in blame(lesson, handout, ["checkpoint.first"])
