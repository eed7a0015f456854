"""Known mistakes of the lesson linearize: each function stands in for the target of its exercise.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


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
