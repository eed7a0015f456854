"""Answers to the exercises of the lesson stackless: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("stackless.box_op")
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


@right("stackless.box_op")
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


@mistake(
    "stackless.box_op",
    name="Rules run under plain evaluation",
    hints=[
        "Which interpreter is the current one while your rule runs, if two transformations are active?",
        "The interpreter before this one is not always the one that computes: it may differentiate, batch or write a program.",
        "Set `self.prev_interpreter`, which was the current one when this interpreter was made.",
    ],
)
def interpret_op(self, primitive, args, params):
    values, extras = self.open(args)
    with set_interpreter(EvalInterpreter()):
        if all(extra is None for extra in extras):
            return bind(primitive, *values, **params)
        outs = get_rule(self.rules, primitive, self.task)(values, extras, **params)
    return each(primitive, self.box, *outs)


@mistake(
    "stackless.box_op",
    name="An operation on constants goes to the rule",
    hints=[
        "What is there to do for this interpreter if no operand is in one of its boxes?",
        "If nothing stands beside any value, no rule is asked: the operation is handed on as it is, and its result is a constant too.",
        "Ask `all(extra is None for extra in extras)` first, and `bind` the primitive on the values in that case.",
    ],
)
def interpret_op(self, primitive, args, params):
    values, extras = self.open(args)
    with set_interpreter(self.prev_interpreter):
        outs = get_rule(self.rules, primitive, self.task)(values, extras, **params)
    return each(primitive, self.box, *outs)


@right("stackless.linear_op")
def interpret_op(self, primitive, args, params):
    for x in args:
        if self.owns(x):
            return StagingInterpreter.interpret_op(self, primitive, args, params)
    with set_interpreter(self.prev_interpreter):
        return context.interpreter.interpret_op(primitive, args, params)


@right("stackless.linear_op")
def interpret_op(self, primitive, args, params):
    mine = [self.owns(x) for x in args]
    if True not in mine:
        with set_interpreter(self.prev_interpreter):
            return bind(primitive, *args, **params)
    return super().interpret_op(primitive, args, params)


@mistake(
    "stackless.linear_op",
    name="Everything is recorded",
    hints=[
        "How many equations should the program of `lambda t: mul(cos(2.0), t)` have?",
        "What does not depend on a variable of this program is computed now; the program keeps its value only.",
        "Ask `self.owns` about each operand, and hand the operation on if the answer is always no.",
    ],
)
def interpret_op(self, primitive, args, params):
    return super().interpret_op(primitive, args, params)


@mistake(
    "stackless.linear_op",
    name="What is known is computed by plain evaluation",
    hints=[
        "Write the program of a function that linearizes another one. Where are the operations on values?",
        "A known value may be a tracer of the interpreter outside. Only that interpreter can compute with it.",
        "`bind` under `self.prev_interpreter`.",
    ],
)
def interpret_op(self, primitive, args, params):
    if any(map(self.owns, args)):
        return super().interpret_op(primitive, args, params)
    with set_interpreter(EvalInterpreter()):
        return bind(primitive, *args, **params)


@right("stackless.linearize_flat")
def linearize_flat(f, primals, in_moves):
    moving = [x for x, moves in zip(primals, in_moves) if moves]

    def g(*variables):
        variables = list(variables)
        tangents = [variables.pop(0) if moves else None for moves in in_moves]
        outs, outs_dot = JVPInterpreter().run(f, primals, tangents)
        pairs = zip(outs, instantiate(outs_dot, types_of(outs)))
        return [t for y, t in pairs if dtypes.is_float(get_aval(y).dtype)], outs

    return LinearInterpreter().run(g, types_of(moving))


@right("stackless.linearize_flat")
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


@mistake(
    "stackless.linearize_flat",
    name="Integer results get tangents, too",
    hints=[
        "Which of the results `n, x * n, x > 0.0` have a derivative?",
        "A result that is no float has no tangent, and the program has no output for it.",
        "Leave them out: `compress(tangents, are_floats(avals))`, with the types of the results.",
    ],
)
def linearize_flat(f, primals, in_moves):
    def tangents_out(*moving):
        outs, tangents = JVPInterpreter().run(f, primals, merge(in_moves, moving))
        return instantiate(tangents, types_of(outs)), outs

    return LinearInterpreter().run(tangents_out, types_of(compress(primals, in_moves)))


@mistake(
    "stackless.linearize_flat",
    name="Results that do not move are left out",
    hints=[
        "Linearize `lambda x, y: [x, y * y]` where only `x` moves. How many outputs should the program have?",
        "Whoever uses the program expects a tangent for each float. That it is zero does not make it disappear.",
        "`instantiate(tangents, types_of(outs))` makes zeros of `None`.",
    ],
)
def linearize_flat(f, primals, in_moves):
    def tangents_out(*moving):
        outs, tangents = JVPInterpreter().run(f, primals, merge(in_moves, moving))
        return [t for t in tangents if t is not None], outs

    return LinearInterpreter().run(tangents_out, types_of(compress(primals, in_moves)))


@right("stackless.backward_pass")
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


@right("stackless.backward_pass")
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


@mistake(
    "stackless.backward_pass",
    name="A later cotangent replaces an earlier one",
    hints=[
        "What is the transpose of `t -> (2 t, 3 t)`, given 1 and 1?",
        "A value that is used in two places matters in both. Its cotangent is the sum.",
        "Where you store a cotangent, store `add_up([found.get(atom), ct])`.",
    ],
)
def backward_pass(program, cotangents):
    jaxpr = program.jaxpr
    known = dict(zip(jaxpr.constvars, program.consts))
    found = {}

    def store(atoms, cts):
        found.update((atom, ct) for atom, ct in zip(atoms, cts) if ct is not None)

    store(jaxpr.outvars, cotangents)
    for eqn in reversed(jaxpr.eqns):
        cts = [found.pop(var, None) for var in eqn.outvars]
        if any(ct is not None for ct in cts):
            rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
            operands = [value_of(x, known) for x in eqn.invars]
            ct_arg = cts if eqn.primitive.multiple_results else cts[0]
            store(eqn.invars, rule(ct_arg, *operands, **eqn.params))
    return instantiate([found.get(var) for var in jaxpr.invars], [v.aval for v in jaxpr.invars])


@mistake(
    "stackless.backward_pass",
    name="Equations are visited from the first to the last",
    hints=[
        "Which equation can be transposed first, if you know the cotangent of the program's result?",
        "The cotangent of a variable is complete when all equations below that use it are done.",
        "Loop over `reversed(jaxpr.eqns)`.",
    ],
)
def backward_pass(program, cotangents):
    jaxpr = program.jaxpr
    known = dict(zip(jaxpr.constvars, program.consts))
    found = {}

    def accumulate(atoms, cts):
        for atom, ct in zip(atoms, cts):
            found[atom] = add_up([found.get(atom), ct])

    accumulate(jaxpr.outvars, cotangents)
    for eqn in jaxpr.eqns:
        cts = [found.pop(var, None) for var in eqn.outvars]
        if any(ct is not None for ct in cts):
            rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
            operands = [value_of(x, known) for x in eqn.invars]
            ct_arg = cts if eqn.primitive.multiple_results else cts[0]
            accumulate(eqn.invars, rule(ct_arg, *operands, **eqn.params))
    return instantiate([found.get(var) for var in jaxpr.invars], [v.aval for v in jaxpr.invars])


@right("stackless.jit_jvp")
def jit_jvp(primals, tangents, *, name, jaxpr):
    moving = [t for t in tangents if t is not None]
    first, second = linearized_program(jaxpr, tuple(t is not None for t in tangents))
    outs = call(first, primals, name)
    residuals = outs[len(jaxpr.out_avals) :]
    del outs[len(jaxpr.out_avals) :]
    found = iter(call(second, residuals + moving, name))
    return outs, [next(found) if is_float else None for is_float in are_floats(jaxpr.out_avals)]


@right("stackless.jit_jvp")
def jit_jvp(primals, tangents, *, name, jaxpr):
    flags = tuple(tangent is not None for tangent in tangents)
    programs = linearized_program(jaxpr, flags)
    values = call(programs[0], list(primals), name)
    outs, residuals = values[: len(jaxpr.out_avals)], values[len(jaxpr.out_avals) :]
    moving = call(programs[1], residuals + list(compress(tangents, flags)), name)
    return outs, merge(are_floats(jaxpr.out_avals), moving)


@mistake(
    "stackless.jit_jvp",
    name="The residuals are given as results",
    hints=[
        "How many results does your rule give, and how many has the program?",
        "The first program gives the results, and then what the second one needs to know.",
        "Cut the list at `len(jaxpr.out_avals)`.",
    ],
)
def jit_jvp(primals, tangents, *, name, jaxpr):
    in_moves = tuple(t is not None for t in tangents)
    values, linear = linearized_program(jaxpr, in_moves)
    outs = call(values, primals, name)
    number = len(jaxpr.out_avals)
    moving = call(linear, [*outs[number:], *compress(tangents, in_moves)], name)
    return outs, merge(are_floats(jaxpr.out_avals), moving)


@mistake(
    "stackless.jit_jvp",
    name="The program is differentiated operation by operation",
    hints=[
        "Print `make_jaxpr` of the `jvp` of a compiled function. How many equations has it?",
        "That gives the right numbers, but nothing is compiled any more: `jit` has disappeared from the derivative.",
        "Make two programs by `linearized_program`, and bind the call primitive for each by `call`.",
    ],
)
def jit_jvp(primals, tangents, *, name, jaxpr):
    outs, moving = JVPInterpreter().run(function(jaxpr), primals, tangents)
    avals = jaxpr.out_avals
    floats = instantiate(moving, avals)
    return outs, [t if flag else None for t, flag in zip(floats, are_floats(avals))]
