"""The lesson stackless: other right answers pass."""

import pytest
from other_answers import lost

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "stackless.box_op": """
def interpret_op(self, primitive, args, params):
    values, extras = self.open(args)
    with set_interpreter(self.prev_interpreter):
        if {type(extra) for extra in extras} <= {type(None)}:
            return bind(primitive, *values, **params)
        rule = get_rule(self.rules, primitive, self.task)
        result, beside = rule(values, extras, **params)
    if not primitive.multiple_results:
        result, beside = [result], [beside]
    boxes = list(map(self.box, result, beside))
    return boxes if primitive.multiple_results else boxes[0]
""",
        "stackless.linear_op": """
def interpret_op(self, primitive, args, params):
    for x in args:
        if self.owns(x):
            return StagingInterpreter.interpret_op(self, primitive, args, params)
    with set_interpreter(self.prev_interpreter):
        return context.interpreter.interpret_op(primitive, args, params)
""",
        "stackless.linearize_flat": """
def linearize_flat(f, primals, in_moves):
    moving = [x for x, moves in zip(primals, in_moves) if moves]

    def g(*variables):
        variables = list(variables)
        tangents = [variables.pop(0) if moves else None for moves in in_moves]
        outs, outs_dot = JVPInterpreter().run(f, primals, tangents)
        pairs = zip(outs, instantiate(outs_dot, types_of(outs)))
        return [t for y, t in pairs if dtypes.is_float(get_aval(y).dtype)], outs

    return LinearInterpreter().run(g, types_of(moving))
""",
        "stackless.backward_pass": """
def backward_pass(program, cotangents):
    jaxpr, found = program.jaxpr, {}
    known = {var: value for var, value in zip(jaxpr.constvars, program.consts)}
    arrived = list(zip(jaxpr.outvars, cotangents))
    for eqn in [*reversed(jaxpr.eqns), None]:
        for atom, ct in arrived:
            if ct is not None:
                found[atom] = lax.add(found[atom], ct) if atom in found else ct
        arrived = []
        if eqn is not None and any(var in found for var in eqn.outvars):
            cts = [found.get(var) for var in eqn.outvars]
            operands = [value_of(atom, known) for atom in eqn.invars]
            if not eqn.primitive.multiple_results:
                (cts,) = cts
            rule = get_rule(transpose_rules, eqn.primitive, "transpose rule")
            arrived = list(zip(eqn.invars, rule(cts, *operands, **eqn.params)))
    return [instantiate([found.get(var)], [var.aval])[0] for var in jaxpr.invars]
""",
        "stackless.jit_jvp": """
def jit_jvp(primals, tangents, *, name, jaxpr):
    moving = [t for t in tangents if t is not None]
    first, second = linearized_program(jaxpr, tuple(t is not None for t in tangents))
    outs = call(first, primals, name)
    residuals = outs[len(jaxpr.out_avals) :]
    del outs[len(jaxpr.out_avals) :]
    found = iter(call(second, residuals + moving, name))
    return outs, [next(found) if is_float else None for is_float in are_floats(jaxpr.out_avals)]
""",
    },
    {
        "stackless.box_op": """
def interpret_op(self, primitive, args, params):
    values, extras = self.open(args)
    moving = any(extra is not None for extra in extras)

    def below():
        if not moving:
            return bind(primitive, *values, **params), None
        return get_rule(self.rules, primitive, self.task)(list(values), list(extras), **params)

    with set_interpreter(self.prev_interpreter):
        out, extra = below()
    match moving, primitive.multiple_results:
        case False, _:
            return out
        case True, True:
            return [self.box(x, e) for x, e in zip(out, extra)]
        case _:
            return self.box(out, extra)
""",
        "stackless.linear_op": """
def interpret_op(self, primitive, args, params):
    mine = [self.owns(x) for x in args]
    if True not in mine:
        with set_interpreter(self.prev_interpreter):
            return bind(primitive, *args, **params)
    return super().interpret_op(primitive, args, params)
""",
        "stackless.linearize_flat": """
def linearize_flat(f, primals, in_moves):
    outs = []

    def g(*moving):
        values, tangents = JVPInterpreter().run(f, primals, merge(in_moves, moving))
        outs.extend(values)
        floats = []
        for aval, tangent in zip(types_of(values), instantiate(tangents, types_of(values))):
            if are_floats([aval])[0]:
                floats.append(tangent)
        return floats, None

    program, _ = LinearInterpreter().run(g, types_of(compress(primals, in_moves)))
    return program, outs
""",
        "stackless.backward_pass": """
def backward_pass(program, cotangents):
    known = dict(zip(program.jaxpr.constvars, program.consts))
    table = {}

    def give(atom, ct):
        if isinstance(atom, Var) and atom not in known:
            table.setdefault(atom, []).append(ct)

    for atom, ct in zip(program.jaxpr.outvars, cotangents):
        give(atom, ct)
    for eqn in program.jaxpr.eqns[::-1]:
        cts = [add_up(table.get(var, [])) for var in eqn.outvars]
        if all(ct is None for ct in cts):
            continue
        operands = [value_of(atom, known) for atom in eqn.invars]
        rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
        given = cts if eqn.primitive.multiple_results else cts[0]
        for atom, ct in zip(eqn.invars, rule(given, *operands, **eqn.params)):
            give(atom, ct)
    totals = [add_up(table.get(var, [])) for var in program.jaxpr.invars]
    return instantiate(totals, [var.aval for var in program.jaxpr.invars])
""",
        "stackless.jit_jvp": """
def jit_jvp(primals, tangents, *, name, jaxpr):
    flags = tuple(tangent is not None for tangent in tangents)
    programs = linearized_program(jaxpr, flags)
    values = call(programs[0], list(primals), name)
    outs, residuals = values[: len(jaxpr.out_avals)], values[len(jaxpr.out_avals) :]
    moving = call(programs[1], residuals + list(compress(tangents, flags)), name)
    return outs, merge(are_floats(jaxpr.out_avals), moving)
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES)
def test_other_right_answers_have_full_points(answers):
    assert lost("stackless", answers) == ([], [])
