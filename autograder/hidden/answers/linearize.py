"""Answers to the exercises of the lesson linearize: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("linearize.process_primitive")
def process_primitive(self, primitive, tracers, params):
    rule = partial_eval_rules.get(primitive)
    if not any(not t.pval.is_known for t in tracers):
        return primitive.bind(*[t.full_lower() for t in tracers], **params)
    elif rule:
        return rule(self, tracers, **params)
    elif primitive.multiple_results:
        return self.stage_out(primitive, tracers, params)
    (out,) = self.stage_out(primitive, tracers, params)
    return out


@right("linearize.process_primitive")
def process_primitive(self, primitive, tracers, params):
    waiting = sum(t.var is not None for t in tracers)
    match waiting, primitive in partial_eval_rules:
        case 0, _:
            return primitive.bind(*[t.pval.const for t in tracers], **params)
        case _, True:
            return partial_eval_rules[primitive](self, tracers, **params)
    outs = self.stage_out(primitive, tracers, params)
    if not primitive.multiple_results:
        outs = outs[0]
    return outs


@mistake(
    "linearize.process_primitive",
    name="Everything is left for later",
    hints=[
        "What is the use of knowing a value, if no operation on it is ever computed?",
        "An operation whose operands are all known needs no recipe: its result can be known as well.",
        "Begin with `if all(t.pval.is_known for t in tracers):` and bind the primitive on the constants.",
    ],
)
def process_primitive(self, primitive, tracers, params):
    if primitive in partial_eval_rules:
        return partial_eval_rules[primitive](self, tracers, **params)
    outs = self.stage_out(primitive, tracers, params)
    return outs if primitive.multiple_results else outs[0]


@mistake(
    "linearize.process_primitive",
    name="Rules for partial evaluation are not asked",
    hints=[
        "A call of a program with one known and one unknown operand: is all of its work unknown?",
        "For most primitives it is all or nothing. A call has parts of both kinds, so it has a rule of its own, in a table.",
        "Before you stage out, look whether the primitive is in `partial_eval_rules`; if so, the result is `rule(self, tracers, **params)`.",
    ],
)
def process_primitive(self, primitive, tracers, params):
    if all(t.pval.is_known for t in tracers):
        return primitive.bind(*(t.pval.const for t in tracers), **params)
    outs = self.stage_out(primitive, tracers, params)
    return outs if primitive.multiple_results else outs[0]


@right("linearize.stage_out")
def stage_out(self, primitive, tracers, params):
    recipe = EqnRecipe(primitive, tuple(tracers), dict(params), [])
    outs = []
    for aval in abstract_eval(primitive, [t.pval.aval for t in tracers], params):
        pval = unknown(aval)
        recipe.outvars.append(Var(pval.aval))
        outs.append(PartialEvalTracer(self, pval, recipe.outvars[-1], recipe))
    return outs


@right("linearize.stage_out")
def stage_out(self, primitive, tracers, params):
    types = abstract_eval(primitive, [raise_to_shaped(t.aval) for t in tracers], params)
    variables = [Var(raise_to_shaped(aval)) for aval in types]
    recipe = EqnRecipe(primitive, tracers, params, variables)
    return [PartialEvalTracer(self, unknown(v.aval), v, recipe) for v in variables]


@mistake(
    "linearize.stage_out",
    name="Known operands are missing in the recipe",
    hints=[
        "Write down the recipe of `x * 2.0` for an unknown `x`. How many operands has the equation?",
        "The operation will be applied later, to all its operands. A known one will be a constant of the program then.",
        "Give `EqnRecipe` the whole of `tracers`.",
    ],
)
def stage_out(self, primitive, tracers, params):
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    pvals = [unknown(aval) for aval in avals]
    later = [t for t in tracers if not t.pval.is_known]
    recipe = EqnRecipe(primitive, later, params, [Var(pval.aval) for pval in pvals])
    pairs = zip(pvals, recipe.outvars, strict=True)
    return [PartialEvalTracer(self, pval, var, recipe) for pval, var in pairs]


@mistake(
    "linearize.stage_out",
    name="All results have one variable",
    hints=[
        "An operation gives two results. How does a later equation say which of them it uses?",
        "`[Var(aval)] * n` is a list that holds the same object n times.",
        "Make the variables in a comprehension, one for each partial value.",
    ],
)
def stage_out(self, primitive, tracers, params):
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    pvals = [unknown(aval) for aval in avals]
    variables = [Var(pval.aval) for pval in pvals[:1]] * len(pvals)
    recipe = EqnRecipe(primitive, tracers, params, variables)
    pairs = zip(pvals, variables, strict=True)
    return [PartialEvalTracer(self, pval, var, recipe) for pval, var in pairs]


@right("linearize.toposort")
def toposort(outs):
    needed, users, todo = {}, {}, list(outs)
    while todo:
        recipe = todo.pop()
        if id(recipe) in needed:
            continue
        parents = {id(t.recipe): t.recipe for t in recipe.tracers_in if t.recipe is not None}
        needed[id(recipe)] = [recipe, len(parents)]
        for key, parent in parents.items():
            users.setdefault(key, []).append(id(recipe))
            todo.append(parent)
    ready = [key for key, (_, count) in needed.items() if count == 0]
    order = []
    while ready:
        key = ready.pop()
        order.append(needed[key][0])
        for user in users.get(key, ()):
            needed[user][1] -= 1
            if needed[user][1] == 0:
                ready.append(user)
    return order


@right("linearize.toposort")
def toposort(outs):
    order, seen = [], set()
    for out in outs:
        stack = [(out, False)]
        while stack:
            recipe, parents_done = stack.pop()
            if parents_done:
                order.append(recipe)
            elif id(recipe) not in seen:
                seen.add(id(recipe))
                stack.append((recipe, True))
                stack += [(t.recipe, False) for t in recipe.tracers_in if t.recipe]
    return order


@mistake(
    "linearize.toposort",
    name="Recipes come in the order in which they were met, turned around",
    hints=[
        "Let the result need a and b, and let b need a. You meet a first. Where does it stand in your list?",
        "A recipe that is met early, because the result uses it directly, may still be needed by others that are met later. It must stand before all of them.",
        "Do not list a recipe when you meet it. List it when all that it needs is listed; until then it waits.",
    ],
)
def toposort(outs):
    met, order, queue = set(), [], list(outs)
    while queue:
        recipe = queue.pop(0)
        if id(recipe) not in met:
            met.add(id(recipe))
            order.append(recipe)
            queue.extend(t.recipe for t in recipe.tracers_in if t.recipe)
    return order[::-1]


@mistake(
    "linearize.toposort",
    name="The list that was given is used up",
    hints=[
        "Print `outs` before and after a call of your function.",
        "A list is an object, and `stack = outs` is a second name for it, not a second list. What is popped is gone from both.",
        "Begin with a copy: `stack = list(outs)`.",
    ],
)
def toposort(outs):
    done, order, stack = set(), [], outs
    while stack:
        recipe = stack[-1]
        parents = [t.recipe for t in recipe.tracers_in if t.recipe]
        waiting = [parent for parent in parents if id(parent) not in done]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if id(recipe) not in done:
            done.add(id(recipe))
            order.append(recipe)
    return order


@right("linearize.tracers_to_jaxpr")
def tracers_to_jaxpr(tracers_in, tracers_out):
    builder = JaxprBuilder()

    def atoms(tracers):
        return [builder.constant(t.pval.const) if t.pval.is_known else t.var for t in tracers]

    outputs = atoms(tracers_out)
    order = toposort([t.recipe for t in tracers_out if t.recipe is not None])
    for r in order:
        builder.eqns += [JaxprEqn(atoms(r.tracers_in), r.outvars, r.primitive, r.params)]
    return builder.build([t.var for t in tracers_in], outputs)


@right("linearize.tracers_to_jaxpr")
def tracers_to_jaxpr(tracers_in, tracers_out):
    builder = JaxprBuilder()
    constant = builder.constant
    recipes = [t.recipe for t in tracers_out if t.recipe]
    for recipe in toposort(recipes) if recipes else ():
        operands = []
        for t in recipe.tracers_in:
            operands.append(constant(t.pval.const) if t.var is None else t.var)
        eqn = JaxprEqn(operands, recipe.outvars, recipe.primitive, recipe.params)
        builder.eqns.append(eqn)
    outs = [constant(t.pval.const) if t.var is None else t.var for t in tracers_out]
    return builder.build([t.var for t in tracers_in], outs)


@mistake(
    "linearize.tracers_to_jaxpr",
    name="Inputs that nothing needs are missing",
    hints=[
        "How many tangents does the linear program of `lambda x, y: x * 2.0` take?",
        "Whoever calls the program gives a value for each input that was unknown. A result may well not depend on all of them.",
        "The inputs are the variables of all `tracers_in`, in order, whatever the equations use.",
    ],
)
def tracers_to_jaxpr(tracers_in, tracers_out):
    builder = JaxprBuilder()

    def atom(tracer):
        return tracer.var or builder.constant(tracer.pval.const)

    used = {id(t) for t in tracers_out}
    for recipe in toposort([t.recipe for t in tracers_out if t.recipe]):
        used.update(map(id, recipe.tracers_in))
        invars = [atom(t) for t in recipe.tracers_in]
        builder.eqns.append(JaxprEqn(invars, recipe.outvars, recipe.primitive, recipe.params))
    inputs = [t.var for t in tracers_in if id(t) in used]
    return builder.build(inputs, [atom(t) for t in tracers_out])


@mistake(
    "linearize.tracers_to_jaxpr",
    name="Known outputs are missing",
    hints=[
        "May an output of the program be known already? Look at what `partial_eval_flat` does with `instantiate`.",
        "A known output has no variable. The program gives it all the same, as a constant.",
        "Treat outputs as operands: the variable, or what `builder.constant` gives for the value.",
    ],
)
def tracers_to_jaxpr(tracers_in, tracers_out):
    builder = JaxprBuilder()

    def atom(tracer):
        return tracer.var or builder.constant(tracer.pval.const)

    for recipe in toposort([t.recipe for t in tracers_out if t.recipe]):
        invars = [atom(t) for t in recipe.tracers_in]
        builder.eqns.append(JaxprEqn(invars, recipe.outvars, recipe.primitive, recipe.params))
    outputs = [t.var for t in tracers_out if t.var]
    return builder.build([t.var for t in tracers_in], outputs)


@right("linearize.partial_eval_flat")
def partial_eval_flat(f, pvals, instantiate=lambda i: False):
    with new_main(PartialEvalTrace) as main:
        trace = PartialEvalTrace(main)
        ins = list(map(trace.new_arg, pvals))
        outs = [full_raise(trace, out) for out in f(*ins)]
    pvals_out, later = [], []
    for i, out in enumerate(outs):
        if out.pval.is_known and not instantiate(i):
            pvals_out.append(out.pval)
        else:
            pvals_out.append(unknown(out.pval.aval))
            later.append(out)
    return pvals_out, tracers_to_jaxpr([t for t in ins if t.var is not None], later)


@right("linearize.partial_eval_flat")
def partial_eval_flat(f, pvals, instantiate=lambda i: False):
    with new_main(PartialEvalTrace) as main:
        trace = PartialEvalTrace(main)
        boxes = [trace.new_arg(pval) for pval in pvals]
        results = [full_raise(trace, out) for out in f(*boxes)]
        late = {i for i, r in enumerate(results) if instantiate(i) or not r.pval.is_known}
        program = tracers_to_jaxpr(
            [box for box, pval in zip(boxes, pvals) if not pval.is_known],
            [r for i, r in enumerate(results) if i in late],
        )
    return [unknown(r.aval) if i in late else r.pval for i, r in enumerate(results)], program


@mistake(
    "linearize.partial_eval_flat",
    name="The program lacks the results that are to be instantiated",
    hints=[
        "Count: how many results does the caller believe to be unknown, and how many outputs has the program?",
        "`instantiate` makes a known result count as unknown. Then its value must come from the program, as that of every unknown one.",
        "Choose the outputs of the program by the partial values that you return, not by those in the tracers.",
    ],
)
def partial_eval_flat(f, pvals, instantiate=lambda i: False):
    with new_main(PartialEvalTrace) as main:
        trace = PartialEvalTrace(main)
        tracers_in = [trace.new_arg(pval) for pval in pvals]
        outs = [full_raise(trace, out) for out in f(*tracers_in)]
        pvals_out = [unknown(t.aval) if instantiate(i) else t.pval for i, t in enumerate(outs)]
        unknown_in = [t for t in tracers_in if not t.pval.is_known]
        unknown_out = [t for t in outs if not t.pval.is_known]
        return pvals_out, tracers_to_jaxpr(unknown_in, unknown_out)


@right("linearize.flat")
def linearize_flat(f, primals, count):
    moves = [dtypes.is_float(get_aval(x).dtype) for x in primals]
    found = {}

    def linear(*tangents):
        rest = list(tangents)
        all_tangents = [rest.pop(0) if move else None for move in moves]
        found["values"], out = jvp_flat(f, primals, all_tangents)
        return [t for t in out[: count()] if get_aval(t).dtype != dtypes.float0]

    pvals = [unknown(get_aval(x)) for x, move in zip(primals, moves) if move]
    _, program = partial_eval_flat(linear, pvals, lambda _: True)
    return found["values"], program


@right("linearize.flat")
def linearize_flat(f, primals, count):
    types = [raise_to_shaped(get_aval(x)) for x in primals]
    values = []

    def both(*moving):
        values[:], tangents = jvp_flat(f, primals, with_float0(moving, types))
        n = count()
        return only_floats(tangents[:n], [get_aval(x) for x in values[:n]])

    program = partial_eval_flat(both, [*map(unknown, only_floats(types, types))], lambda i: 1)[1]
    return values, program


@mistake(
    "linearize.flat",
    name="The function runs a second time for its values",
    hints=[
        "How often does a `print` in the user's function print?",
        "`jvp_flat` computes the values anyway, beside the tangents. One run is enough, and a function that is slow or random must not be run twice.",
        "Keep what `jvp_flat` gives first, in a list outside the inner function: `values.extend(primals_out)`.",
    ],
)
def linearize_flat(f, primals, count):
    avals = [get_aval(x) for x in primals]

    def tangents_out(*moving):
        _, tangents = jvp_flat(f, primals, with_float0(moving, avals))
        return [t for t in tangents[: count()] if dtypes.is_float(get_aval(t).dtype)]

    unknowns = [unknown(aval) for aval in only_floats(avals, avals)]
    _, program = partial_eval_flat(tangents_out, unknowns, lambda i: True)
    return f(*primals), program


@mistake(
    "linearize.flat",
    name="Tangents that do not depend on the inputs are missing",
    hints=[
        "What is the derivative of `lambda x: (2.0, x)`? How many outputs must its program have?",
        "The tangent of a constant is known: it is zero. So partial evaluation leaves it out of the program, unless it is told not to.",
        "The third argument of `partial_eval_flat` says which results count as unknown in any case: all, `lambda i: True`.",
    ],
)
def linearize_flat(f, primals, count):
    avals = [get_aval(x) for x in primals]
    values = []

    def tangents_out(*moving):
        primals_out, tangents = jvp_flat(f, primals, with_float0(moving, avals))
        values.extend(primals_out)
        return [t for t in tangents[: count()] if dtypes.is_float(get_aval(t).dtype)]

    unknowns = [unknown(aval) for aval in only_floats(avals, avals)]
    _, program = partial_eval_flat(tangents_out, unknowns)
    return values, program


@mistake(
    "linearize.flat",
    name="What is only handed through is differentiated too",
    hints=[
        "With `has_aux=True` a function gives a result and something more. Of which of the two is the derivative wanted?",
        "`count()` says how many of the results count. The others have values, and no place in the program.",
        "Cut the tangents before you return them: `tangents[: count()]`.",
    ],
)
def linearize_flat(f, primals, count):
    avals = [get_aval(x) for x in primals]
    values = []

    def tangents_out(*moving):
        primals_out, tangents = jvp_flat(f, primals, with_float0(moving, avals))
        values.extend(primals_out)
        return [t for t in tangents if dtypes.is_float(get_aval(t).dtype)]

    unknowns = [unknown(aval) for aval in only_floats(avals, avals)]
    _, program = partial_eval_flat(tangents_out, unknowns, lambda i: True)
    return values, program


@right("linearize.split_jaxpr")
def split_jaxpr(jaxpr, is_known, instantiate):
    from minijax.jaxpr import Jaxpr

    known_avals = [aval for aval, k in zip(jaxpr.in_avals, is_known) if k]
    out_known, rest = [], None

    def first_part(*vals):
        nonlocal out_known, rest
        pvals_out, rest = partial_eval_flat(
            lambda *args: eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args),
            partial_values(vals, is_known, jaxpr.in_avals),
            lambda i: i in instantiate,
        )
        out_known = [p.is_known for p in pvals_out]
        return [*(p.const for p in pvals_out if p.is_known), *rest.consts]

    first = trace_to_jaxpr(first_part, known_avals)
    inner = rest.jaxpr
    second = Jaxpr([], [*inner.constvars, *inner.invars], inner.outvars, inner.eqns)
    return first, ClosedJaxpr(second, []), out_known


@right("linearize.split_jaxpr")
def split_jaxpr(jaxpr, is_known, instantiate):
    # Equation by equation: mark what is known, and note what goes from one program to the other.
    from minijax.jaxpr import Jaxpr

    inner = jaxpr.jaxpr
    unknown_vars = {v for v, k in zip(inner.invars, is_known) if not k}
    firsts, seconds = [], []
    for eqn in inner.eqns:
        flags = [not (isinstance(x, Var) and x in unknown_vars) for x in eqn.invars]
        if all(flags):
            firsts.append(eqn)
        elif eqn.primitive is jit_p:
            part, rest, out_flags = split_jaxpr(eqn.params["jaxpr"], tuple(flags), frozenset())
            n = sum(out_flags)
            kept = [Var(atom.aval) for atom in part.jaxpr.outvars[n:]]
            now = [v for v, k in zip(eqn.outvars, out_flags) if k]
            then = [v for v, k in zip(eqn.outvars, out_flags) if not k]
            ins = [x for x, k in zip(eqn.invars, flags) if k]
            late = [x for x, k in zip(eqn.invars, flags) if not k]
            name = eqn.params["name"]
            firsts.append(JaxprEqn(ins, now + kept, jit_p, {"name": name, "jaxpr": part}))
            seconds.append(JaxprEqn(kept + late, then, jit_p, {"name": name, "jaxpr": rest}))
            unknown_vars.update(then)
        else:
            seconds.append(eqn)
            unknown_vars.update(eqn.outvars)
    out_known = [
        x not in unknown_vars and i not in instantiate for i, x in enumerate(inner.outvars)
    ]
    late_outs = [x for x, k in zip(inner.outvars, out_known) if not k]
    made = {v for eqn in seconds for v in eqn.outvars} | unknown_vars
    used = [x for eqn in seconds for x in eqn.invars] + late_outs
    residuals = list(dict.fromkeys(x for x in used if isinstance(x, Var) and x not in made))
    first = Jaxpr(
        inner.constvars,
        [v for v, k in zip(inner.invars, is_known) if k],
        [x for x, k in zip(inner.outvars, out_known) if k] + residuals,
        firsts,
    )
    late_ins = [v for v, k in zip(inner.invars, is_known) if not k]
    second = Jaxpr([], residuals + late_ins, late_outs, seconds)
    return ClosedJaxpr(first, jaxpr.consts), ClosedJaxpr(second, []), out_known


@mistake(
    "linearize.split_jaxpr",
    name="Residuals come before the known outputs",
    hints=[
        "Read the types of the two programs in the docstring once more. What comes first in the results of the first one?",
        "The caller takes as many results as there are known outputs, and hands what is left to the second program.",
        "Return the known constants first and the list of the residuals behind them.",
    ],
)
def split_jaxpr(jaxpr, is_known, instantiate):
    found = []

    def known_part(*vals):
        pvals = partial_values(vals, is_known, jaxpr.in_avals)
        pvals_out, rest = partial_eval_flat(jaxpr_as_fun(jaxpr), pvals, instantiate.__contains__)
        found[:] = rest.jaxpr, [pval.is_known for pval in pvals_out]
        return rest.consts + [pval.const for pval in pvals_out if pval.is_known]

    known_avals = [aval for aval, k in zip(jaxpr.in_avals, is_known, strict=True) if k]
    first = trace_to_jaxpr(known_part, known_avals)
    rest, out_known = found
    return first, ClosedJaxpr(without_consts(rest), []), out_known


@mistake(
    "linearize.split_jaxpr",
    name="No output is instantiated",
    hints=[
        "The function has a third argument. What have you done with it?",
        "Some callers need an output to come from the second program even though it is known: the body of a loop, for instance, whose carry must be of one kind all the time.",
        "Hand `instantiate` on to `partial_eval_flat`, which wants a function from numbers to bools: `instantiate.__contains__`.",
    ],
)
def split_jaxpr(jaxpr, is_known, instantiate):
    found = []

    def known_part(*vals):
        pvals = partial_values(vals, is_known, jaxpr.in_avals)
        pvals_out, rest = partial_eval_flat(jaxpr_as_fun(jaxpr), pvals)
        found[:] = rest.jaxpr, [pval.is_known for pval in pvals_out]
        return [pval.const for pval in pvals_out if pval.is_known] + rest.consts

    known_avals = [aval for aval, k in zip(jaxpr.in_avals, is_known, strict=True) if k]
    first = trace_to_jaxpr(known_part, known_avals)
    rest, out_known = found
    return first, ClosedJaxpr(without_consts(rest), []), out_known


@right("linearize.jit_rule")
def jit_partial_eval(trace, tracers, *, name, jaxpr):
    later = [t for t in tracers if not t.pval.is_known]
    vals = [t.pval.const for t in tracers if t.pval.is_known]
    flags = [t.pval.is_known for t in tracers]
    first, second, out_known = partial_eval_jaxpr(jaxpr, tuple(flags))
    outs = call(first, vals, name)
    n = out_known.count(True)
    operands = [*(trace.pure(r) for r in outs[n:]), *later]
    staged = trace.stage_out(jit_p, operands, dict(jaxpr=second, name=name))
    results = []
    for is_known in out_known:
        results.append(outs.pop(0) if is_known else staged.pop(0))
    return results


@right("linearize.jit_rule")
def jit_partial_eval(trace, tracers, *, name, jaxpr):
    waiting = [t for t in tracers if t.var is not None]
    part, rest, out_known = partial_eval_jaxpr(jaxpr, tuple(t.var is None for t in tracers))
    now = list(call(part, [t.pval.const for t in tracers if t.var is None], name))
    results = [now.pop(0) if k else None for k in out_known]
    params = {"jaxpr": rest, "name": name}
    later = trace.stage_out(jit_p, [trace.pure(r) for r in now] + waiting, params)
    for place, k in enumerate(out_known):
        if not k:
            results[place] = later.pop(0)
    return results


@mistake(
    "linearize.jit_rule",
    name="Known results come first",
    hints=[
        "A function gives (unknown, known). In which order do your results come?",
        "The caller does not know that its program was split. It wants the results where they were.",
        "Walk over the flags in the third thing that `partial_eval_jaxpr` gives, and take the next known or the next unknown result each time.",
    ],
)
def jit_partial_eval(trace, tracers, *, name, jaxpr):
    is_known = tuple(t.pval.is_known for t in tracers)
    known_part, rest, out_known = partial_eval_jaxpr(jaxpr, is_known)
    outs = call(known_part, [t.pval.const for t in tracers if t.pval.is_known], name)
    residuals = outs[sum(out_known) :]
    inputs = [trace.pure(r) for r in residuals] + [t for t in tracers if not t.pval.is_known]
    later = trace.stage_out(jit_p, inputs, {"name": name, "jaxpr": rest})
    return [*outs[: sum(out_known)], *later]


@mistake(
    "linearize.jit_rule",
    name="Residuals stand behind the unknown operands",
    hints=[
        "Look at the type of the second program. Which of its inputs come first?",
        "Two operands of one type that change places give wrong numbers and no error.",
        "The operands are `[trace.pure(r) for r in residuals]`, and behind them the unknown tracers.",
    ],
)
def jit_partial_eval(trace, tracers, *, name, jaxpr):
    is_known = tuple(t.pval.is_known for t in tracers)
    known_part, rest, out_known = partial_eval_jaxpr(jaxpr, is_known)
    outs = call(known_part, [t.pval.const for t in tracers if t.pval.is_known], name)
    residuals = outs[sum(out_known) :]
    inputs = [t for t in tracers if not t.pval.is_known] + [trace.pure(r) for r in residuals]
    later = iter(trace.stage_out(jit_p, inputs, {"name": name, "jaxpr": rest}))
    now = iter(outs)
    return [next(now) if is_out_known else next(later) for is_out_known in out_known]
