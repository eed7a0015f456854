"""Answers to the exercises of the `stackless` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("stackless.box_op")


@right
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


@right(style="boxes by hand in a comprehension; an ExitStack for the block")
def interpret_op(self, primitive, args, params):
    from contextlib import ExitStack

    values, extras = self.open(args)
    with ExitStack() as block:
        block.enter_context(set_interpreter(self.prev_interpreter))
        if set(map(type, extras)) <= {type(None)}:
            return bind(primitive, *values, **params)
        outs, beside = get_rule(self.rules, primitive, self.task)(values, extras, **params)
    if primitive.multiple_results:
        return [self.box(outs[i], beside[i]) for i in range(len(outs))]
    return self.box(outs, beside)


@right(style="two inner functions chosen by a loop; each at the end, opened inside")
def interpret_op(self, primitive, args, params):
    def constant():
        return bind(primitive, *values, **dict(params))

    def boxed():
        rule = get_rule(self.rules, primitive, self.task)
        return each(
            primitive, lambda out, extra: self.box(out, extra), *rule(values, extras, **params)
        )

    with set_interpreter(self.prev_interpreter):
        values, extras = self.open(list(args))
        work = constant
        for extra in extras:
            if extra is not None:
                work = boxed
        return work()


mistake(
    {
        "with set_interpreter(self.prev_interpreter):": "from microjax.contexts import EvalInterpreter\nwith set_interpreter(EvalInterpreter()):"
    },
    name="Rules run under plain evaluation",
    hints=[
        "Which interpreter is the current one while your rule runs, if two transformations are active?",
        "The interpreter before this one is not always the one that computes: it may differentiate, batch or write a program.",
        "Set `self.prev_interpreter`, which was the current one when this interpreter was made.",
    ],
)
mistake(
    {
        "if all(extra is None for extra in extras):": "",
        "return bind(primitive, *values, **params)": "",
    },
    name="An operation on constants goes to the rule",
    hints=[
        "What does this interpreter have to do if no operand is in one of its boxes?",
        "If no value has anything with it, no rule is needed: the operation is passed on unchanged, and its result is a constant too.",
        "Ask `all(extra is None for extra in extras)` first, and `bind` the primitive on the values in that case.",
    ],
)
# Puts the interpreter back by hand: not after an error in a rule.
mistake(
    {
        "with set_interpreter(self.prev_interpreter):": "before, context.interpreter = context.interpreter, self.prev_interpreter\nif True:",
        "return bind(primitive, *values, **params)": "out = bind(primitive, *values, **params)\ncontext.interpreter = before\nreturn out",
        "return each(": "context.interpreter = before\nreturn each(",
    },
    fails="test_box_missing_rule",
)
# Of several results none is boxed if the first has nothing beside it.
mistake(
    {
        "return each(": "if primitive.multiple_results and outs[1][0] is None:\n    return outs[0]\nreturn each("
    },
    fails="test_box_several",
)
# opens the boxes of others
mistake(
    {
        "values, extras = self.open(args)": "values = [x.value if isinstance(x, self.box_type) else x for x in args]\nextras = [x.extra if isinstance(x, self.box_type) else None for x in args]"
    },
    fails="test_box_nested",
)
# a tangent that is the number 0.0 counts as none
mistake(
    {"with ": "extras = [None if isinstance(e, float) and e == 0.0 else e for e in extras]\nwith "},
    fails="test_box_zeros",
)
mistake(
    {
        "return each(primitive, self.box, *outs)": "out = each(primitive, self.box, *outs)\nreturn tuple(out) if primitive.multiple_results else out"
    },
    fails="test_box_several",
)
mistake({"is None for": "is None or extra is False for"}, fails="test_box_rule")
mistake(
    {
        "outs = get_rule": "if primitive not in self.rules and primitive.multiple_results:\n    return bind(primitive, *values, **params)\nouts = get_rule"
    },
    fails="test_box_missing_rule",
)
mistake({"all(extra is": "extras and all(extra is"}, fails="test_box_constants")
# Without extras, a rule's results come out as they are.
mistake(
    {
        "return each(primitive, self.box, *outs)": "if primitive.multiple_results and all(extra is None for extra in outs[1]):\n    return outs[0]\nreturn each(primitive, self.box, *outs)"
    },
    fails="test_box_several",
)
# A box of another interpreter counts as an own one, if it is of the class.
mistake(
    {
        "if all(extra is None for extra in extras)": "if not any(isinstance(x, self.box_type) for x in args)"
    },
    fails="test_box_constants",
)
# Constants are passed on as arrays, which are not weakly typed.
mistake(
    {
        "return bind(primitive, *values, **params)": "return bind(\n    primitive, *(x if isinstance(x, Tracer) else np.asarray(x) for x in values), **params\n)"
    },
    fails="test_box_constants",
)
# A result that is an operand has the operand's box, whatever the rule puts beside it.
mistake(
    {
        "return each(": "for x, value in zip(args, values):\n    if outs[0] is value and self.owns(x):\n        return x\nreturn each("
    },
    fails="test_box_rule",
)


exercise("stackless.linearize_flat")


@right
def linearize_flat(f, primals, in_moves):
    moving = [x for x, moves in zip(primals, in_moves) if moves]

    def g(*variables):
        variables = list(variables)
        tangents = [variables.pop(0) if moves else None for moves in in_moves]
        outs, outs_dot = JVPInterpreter().run(f, primals, tangents)
        pairs = zip(outs, instantiate(outs_dot, types_of(outs)))
        return [t for y, t in pairs if dtypes.is_float(get_aval(y).dtype)], outs

    return LinearInterpreter().run(g, types_of(moving))


@right(style="an iterator for the tangents, results kept in a list outside")
def linearize_flat(f, primals, in_moves):
    results = []

    def tangents_to_tangents(*variables):
        left = iter(variables)
        tangents = [next(left) if moves_ else None for moves_ in in_moves]
        outs, slopes = JVPInterpreter().run(f, list(primals), tangents)
        results.extend(outs)
        types = types_of(outs)
        slopes = instantiate(slopes, types)
        floats = [slope for slope, is_float in zip(slopes, are_floats(types)) if is_float]
        return floats, None

    avals = types_of([x for x, flag in zip(primals, in_moves, strict=True) if flag])
    program, _ = LinearInterpreter().run(tangents_to_tangents, avals)
    return program, results


@right(style="filters before it instantiates; a class with __call__")
def linearize_flat(f, primals, in_moves):
    class Derivative:
        def __call__(self, *moving):
            outs, outs_dot = JVPInterpreter().run(f, primals, merge(in_moves, moving))
            avals = types_of(outs)
            flags = are_floats(avals)
            kept = tuple(compress(zip(outs_dot, avals), flags))
            return instantiate([t for t, _ in kept], [aval for _, aval in kept]), [*outs]

    in_avals = tuple(compress(types_of(primals), in_moves))
    program, outs = LinearInterpreter().run(Derivative(), in_avals)
    return program, outs


mistake(
    {
        "list(compress(instantiate(tangents, avals), are_floats(avals)))": "instantiate(tangents, avals)"
    },
    name="Integer results get tangents, too",
    hints=[
        "Which of the results `n, x * n, x > 0.0` have a derivative?",
        "A result that is not a float has no tangent, and the program has no output for it.",
        "Leave them out: `compress(tangents, are_floats(avals))`, with the types of the results.",
    ],
)
mistake(
    {
        "list(compress(instantiate(tangents, avals), are_floats(avals)))": "[t for t in tangents if t is not None]"
    },
    name="Results that do not move are left out",
    hints=[
        "Linearize `lambda x, y: [x, y * y]` where only `x` moves. How many outputs should the program have?",
        "A caller of the program expects a tangent for each float. A zero tangent does not disappear.",
        "`instantiate(tangents, types_of(outs))` makes zeros of `None`.",
    ],
)
mistake(
    {"def tangents_out(": "f(*primals)\n\ndef tangents_out("},
    name="The function is called twice",
    hints=[
        "Let the function print something. How many times do you see it?",
        "The run under `JVPInterpreter` gives both: the results, and their tangents.",
        "Return the results along with the tangents from the function that you record; `run` returns both.",
    ],
)
# The tangents that there are come first: right if the moving inputs do.
mistake(
    {"merge(in_moves, moving)": "[*moving, *[None] * (len(primals) - len(moving))]"},
    fails="test_linearize_moving_inputs",
)
mistake(
    {
        "instantiate(tangents, avals)": "[t if a.dtype.kind != 'f' or t is not None else lax.sub(y, y) for y, t, a in zip(outs, tangents, avals)]"
    },
    fails="test_linearize_unmoved_results",
)
# A result that is there twice has one tangent.
mistake(
    {
        "are_floats(avals))), outs": "[m and not any(o is p for p in outs[:i]) for i, (m, o) in enumerate(zip(are_floats(avals), outs))])), outs"
    },
    fails="test_linearize_moving_inputs",
)
mistake({")), outs": ")), tuple(outs)"}, fails="test_linearize_program")


exercise("stackless.backward_pass")


@right
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


@right(style="lists of contributions, added up when they are needed")
def backward_pass(program, cotangents):
    from collections import defaultdict

    jaxpr = program.jaxpr
    known = {var: const for var, const in zip(jaxpr.constvars, program.consts)}
    contributions = defaultdict(list)

    def contribute(atom, ct):
        if ct is not None and isinstance(atom, Var):
            contributions[atom].append(ct)

    def total(var):
        return add_up(contributions.pop(var, []))

    for atom, ct in zip(jaxpr.outvars, cotangents, strict=True):
        contribute(atom, ct)
    for eqn in jaxpr.eqns[::-1]:
        cts = list(map(total, eqn.outvars))
        if any(ct is not None for ct in cts):
            rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
            operands = (value_of(atom, known) for atom in eqn.invars)
            ct = cts if eqn.primitive.multiple_results else cts[0]
            for atom, new in zip(eqn.invars, rule(ct, *operands, **eqn.params), strict=True):
                contribute(atom, new)
    return instantiate([total(var) for var in jaxpr.invars], [var.aval for var in jaxpr.invars])


@right(style="a table class keyed by id, recursion over the equations")
def backward_pass(program, cotangents):
    class Table:
        def __init__(self):
            self.of = {}

        def add(self, atoms, cts):
            for atom, ct in zip(atoms, cts):
                self.of[id(atom)] = add_up([self.of.get(id(atom)), ct])

        def read(self, atoms):
            return [self.of.get(id(atom)) for atom in atoms]

    jaxpr, table = program.jaxpr, Table()
    env = dict(zip(jaxpr.constvars, program.consts))
    table.add(jaxpr.outvars, cotangents)
    waiting = [*jaxpr.eqns]
    while waiting:
        eqn = waiting.pop()
        match table.read(eqn.outvars):
            case cts if all(ct is None for ct in cts):
                continue
            case [ct] if not eqn.primitive.multiple_results:
                argument = ct
            case cts:
                argument = cts
        rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
        table.add(eqn.invars, rule(argument, *[value_of(x, env) for x in eqn.invars], **eqn.params))
    return instantiate(table.read(jaxpr.invars), [v.aval for v in jaxpr.invars])


mistake(
    {"add_up([found.get(atom), ct])": "found.get(atom) if ct is None else ct"},
    name="A later cotangent replaces an earlier one",
    hints=[
        "What is the transpose of `t -> (2 t, 3 t)`, given 1 and 1?",
        "A value that is used in two places matters in both. Its cotangent is the sum.",
        "Where you store a cotangent, store `add_up([found.get(atom), ct])`.",
    ],
)
mistake(
    {"reversed(jaxpr.eqns)": "jaxpr.eqns"},
    name="Equations are visited from the first to the last",
    hints=[
        "Which equation can be transposed first, if you know the cotangent of the program's result?",
        "The cotangent of a variable is complete when all equations below that use it are done.",
        "Loop over `reversed(jaxpr.eqns)`.",
    ],
)
# A variable that is two results keeps the last cotangent only.
mistake(
    {
        "accumulate(jaxpr.outvars, cotangents)": "found.update(zip(jaxpr.outvars, cotangents, strict=True))"
    },
    fails="test_backward_given_arrays",
)
# Whether an equation matters is asked of its first result.
mistake({"any(ct is not None for ct in cts)": "cts[0] is not None"}, fails="test_backward_rules")
mistake({" = cts if": " = tuple(cts) if"}, fails="test_backward_rules")
# Zeros are float64.
mistake(
    {"[v.aval for v in jaxpr.": "[ShapedArray(v.aval.shape, np.dtype(float)) for v in jaxpr."},
    fails="test_backward_zeros",
)
# Equations whose cotangents are zeros by value are left out: a tracer is asked for its value.
mistake(
    {"(ct is not None for ct in cts)": "(ct is not None and np.any(np.asarray(ct)) for ct in cts)"},
    fails="test_backward_staged",
)
mistake(
    {"[v.aval for v in jaxpr.": "[ShapedArray(v.aval.shape, v.aval.dtype) for v in jaxpr."},
    fails="test_backward_zeros",
)
# A cotangent that is the number zero, or an empty array, counts as none.
mistake(
    {"ct is not None for ct": "ct is not None and not (isinstance(ct, float) and ct == 0) for ct"},
    fails="test_backward_rules",
)
mistake(
    {" is not None for ct in cts)": " is not None and 0 not in get_aval(ct).shape for ct in cts)"},
    fails="test_backward_rules",
)
# An operand that is there twice keeps the last cotangent only, if there are several results.
mistake(
    {
        "accumulate(eqn.invars, rule(ct_arg, *operands, **eqn.params))": "pairs = list(zip(eqn.invars, rule(ct_arg, *operands, **eqn.params), strict=True))\npairs = list(dict(pairs).items()) if eqn.primitive.multiple_results else pairs\naccumulate([x for x, _ in pairs], [ct for _, ct in pairs])"
    },
    fails="test_backward_lists",
)
mistake(
    {"return instantiate([": "return *instantiate([", " in jaxpr.invars])": " in jaxpr.invars]),"},
    fails="test_backward_chain",
)
# An equation of constants alone is left out, though a cotangent arrived.
mistake(
    {
        "ct_arg = ": "if not any(isinstance(x, UndefPrimal) for x in operands):\n    continue\nct_arg = "
    },
    fails="test_backward_rules",
)
# A program without results has no zeros.
mistake(
    {
        "return instantiate(": "if not found:\n    return [None] * len(jaxpr.invars)\nreturn instantiate("
    },
    fails="test_backward_zeros",
)
# Cotangents are kept on the program, and those of a pass that failed are added to the next one's.
mistake(
    {
        "found: dict[Any, Any] = {}": "found = jaxpr.cache.setdefault('found', {})",
        "return instantiate([found.get(var) for": "return instantiate([found.pop(var, None) for",
    },
    fails="test_backward_given_arrays",
)


exercise("stackless.linearized_program")


@right
@once
def linearized_program(program, in_moves):
    found = []

    def forward(*primals):
        linear, outs = linearize_flat(function(program), list(primals), list(in_moves))
        found.append(linear)
        return outs + list(linear.consts), None

    values, _ = StagingInterpreter().run(forward, program.in_avals)
    return values, ClosedJaxpr(without_consts(found[0].jaxpr), [])


@right(style="the second program is put together by hand")
@once
def linearized_program(program, in_moves):
    def run(*xs):
        derivative, results = linearize_flat(
            lambda *xs: eval_jaxpr(program.jaxpr, program.consts, *xs), xs, in_moves
        )
        inner = derivative.jaxpr
        inputs = [*inner.constvars, *inner.invars]
        return [*results, *derivative.consts], Jaxpr([], inputs, inner.outvars, inner.eqns)

    first, second = StagingInterpreter().run(run, program.in_avals)
    return first, ClosedJaxpr(second, [])


@right(style="the interpreters themselves, without linearize_flat")
@once
def linearized_program(program, in_moves):
    floats = are_floats(program.out_avals)
    moving = list(compress(program.in_avals, in_moves))

    def both(*primals):
        def derivative(*tangents):
            f = function(program)
            outs, dots = JVPInterpreter().run(f, primals, merge(in_moves, tangents))
            return list(compress(instantiate(dots, types_of(outs)), floats)), outs

        linear, outs = LinearInterpreter().run(derivative, moving)
        return [*outs, *linear.consts], linear.jaxpr

    values, jaxpr = StagingInterpreter().run(both, program.in_avals)
    return values, ClosedJaxpr(without_consts(jaxpr), [])


mistake(
    {"return [*outs, *linear.consts]": "return [*linear.consts, *outs]"},
    name="The residuals come before the results",
    hints=[
        "Which of the first program's outputs does `jit_jvp` return as results?",
        "The rule takes as many outputs from the front as the program has results.",
        "Return the results, and after them what the linear program needs.",
    ],
)
mistake(
    {
        "linear, outs = linearize_flat(function(program), primals, in_moves)": "points = [np.ones(aval.shape, aval.dtype) for aval in program.in_avals]\nlinear, _ = linearize_flat(function(program), points, in_moves)\nouts = function(program)(*primals)"
    },
    name="The derivative is taken at one point",
    hints=[
        "Call the compiled function at two points. Which of the two derivatives is wrong?",
        "The programs are made before there are inputs. What are the primals while they are made?",
        "Call `linearize_flat` inside a function that you stage, on the variables that it gets.",
    ],
)


@mistake(fails="test_programs_values")
@once
def linearized_program(program, in_moves):
    # the residuals are the inputs, and the second program computes everything again
    floats = are_floats(program.out_avals)

    def tangents(*args):
        primals, moving = args[: len(in_moves)], args[len(in_moves) :]
        f = function(program)
        outs, dots = JVPInterpreter().run(f, primals, merge(in_moves, moving))
        return list(compress(instantiate(dots, types_of(outs)), floats)), None

    values, _ = StagingInterpreter().run(
        lambda *xs: ([*function(program)(*xs), *xs], None), program.in_avals
    )
    avals = [*program.in_avals, *compress(program.in_avals, in_moves)]
    return values, StagingInterpreter().run(tangents, avals)[0]


mistake(
    {"(program), primals, in_moves)": "(program), primals, are_floats(program.in_avals))"},
    fails="test_programs_unmoved",
)
# The two programs of the first call serve all others.
mistake(
    {
        "StagingInterpreter().run(values_and_residuals, program.in_avals)": "program.jaxpr.cache.setdefault(\n    'two programs', StagingInterpreter().run(values_and_residuals, program.in_avals)\n)"
    },
    fails="test_programs_again",
)
mistake(
    {"[*outs, *linear.consts]": "[*compress(outs, are_floats(program.out_avals)), *linear.consts]"},
    fails="test_programs_kinds",
)
mistake(
    {"program.in_avals)": "types_of(np.zeros(a.shape, a.dtype) for a in program.in_avals))"},
    fails="test_programs_kinds",
)
mistake(
    {
        "return [*outs, *linear.consts]": "outs = [o for i, o in enumerate(outs) if not any(o is p for p in outs[:i])]\nreturn [*outs, *linear.consts]"
    },
    fails="test_programs_given",
)
# Programs are kept by the number of inputs that move, whichever these are.
mistake(
    {
        "def values_and": "key = 'linearized', sum(in_moves)\nif key in program.jaxpr.cache:\n    return program.jaxpr.cache[key]\n\ndef values_and",
        "return values, ClosedJaxpr(linear, [])": "program.jaxpr.cache[key] = values, ClosedJaxpr(linear, [])\nreturn program.jaxpr.cache[key]",
    },
    fails="test_programs_again",
)


exercise("stackless.transposed")


@right
def transposed(program, linear):
    number = len(linear) - sum(linear)

    def forwards(known):
        def f(*ts):
            ts, known_left = list(ts), list(known)
            args = [ts.pop(0) if flag else known_left.pop(0) for flag in linear]
            return eval_jaxpr(program.jaxpr, program.consts, *args), None

        return f

    def backwards(*inputs):
        avals = [aval for aval, flag in zip(program.in_avals, linear) if flag]
        recorded = LinearInterpreter().run(forwards(inputs[:number]), avals)[0]
        return backward_pass(recorded, inputs[number:]), None

    known_avals = [aval for aval, flag in zip(program.in_avals, linear) if not flag]
    new, _ = StagingInterpreter().run(backwards, known_avals + list(program.out_avals))
    return new


mistake(
    {
        "merge(linear, ts, inputs)": "merge(linear, ts, inputs[len(program.out_avals) :])",
        "inputs[len(known_avals) :]": "inputs[: len(program.out_avals)]",
        "[*known_avals, *program.out_avals]": "[*program.out_avals, *known_avals]",
    },
    name="The cotangents come before the known inputs",
    hints=[
        "Which inputs does your program take first, if it is called with known values and then cotangents?",
        "The order is in the contract: the other inputs, and then a cotangent for each result.",
        "`known, cts = inputs[: len(known_avals)], inputs[len(known_avals) :]`, and the types in the same order.",
    ],
)
# The known part is computed at ones, once and for all.
mistake(
    {"(linear, ts, inputs)": "(linear, ts, [np.ones(a.shape, a.dtype) for a in known_avals])"},
    fails="test_transposed_other_values",
)
mistake(
    {"linear_avals = [aval for": "linear_avals = [ShapedArray(aval.shape, aval.dtype) for"},
    fails="test_transposed_zeros",
)
# Of a result that is there twice the last cotangent counts.
mistake(
    {
        "return backward_pass(recorded, inputs[len(known_avals) :]), None": "outs, cts = recorded.jaxpr.outvars, inputs[len(known_avals) :]\nlast = [not any(o is p for p in outs[i + 1 :]) for i, o in enumerate(outs)]\nreturn backward_pass(recorded, [ct if x else None for x, ct in zip(last, cts)]), None"
    },
    fails="test_transposed_given",
)
# Linear inputs come last.
mistake(
    {"merge(linear, ts, inputs)": "[*inputs[: len(known_avals)], *ts]"},
    fails="test_transposed_mixed_inputs",
)
# Operations on known inputs are recorded, too, and transposed like the others.
mistake({"LinearInterpreter().run(": "StagingInterpreter().run("}, fails="test_transposed_values")
# The last inputs are the cotangents, of which a program without results has none.
mistake(
    {
        "merge(linear, ts, inputs)": "merge(linear, ts, inputs[: -len(program.out_avals)])",
        "inputs[len(known_avals) :]": "inputs[-len(program.out_avals) :]",
    },
    fails="test_transposed_given",
)
