"""Answers to the exercises of the `linearize` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("linearize.stage_out")


@right
def stage_out(self, primitive, tracers, params):
    recipe = EqnRecipe(primitive, tuple(tracers), dict(params), [])
    outs = []
    for aval in abstract_eval(primitive, [t.pval.aval for t in tracers], params):
        pval = unknown(aval)
        recipe.outvars.append(Var(pval.aval))
        outs.append(PartialEvalTracer(self, pval, recipe.outvars[-1], recipe))
    return outs


@right(style="new_arg boxes, the recipe is put into them afterwards")
def stage_out(self, primitive, tracers, params):
    types = abstract_eval(primitive, [t.aval for t in tracers], params)
    boxes = [self.new_arg(unknown(aval)) for aval in types]
    recipe = EqnRecipe(
        outvars=[box.var for box in boxes],
        params=dict(params),
        tracers_in=list(tracers),
        primitive=primitive,
    )
    for box in boxes:
        box.recipe = recipe
    return boxes


mistake(
    {
        "recipe = EqnRecipe(primitive, tracers, params, [Var(pval.aval) for pval in pvals])": "later = [t for t in tracers if not t.pval.is_known]\nrecipe = EqnRecipe(primitive, later, params, [Var(pval.aval) for pval in pvals])"
    },
    name="Known operands are missing from the recipe",
    hints=[
        "Write down the recipe of `x * 2.0` for an unknown `x`. How many operands does the equation have?",
        "The operation will be applied later, to all its operands. A known operand is then a constant of the program.",
        "Give `EqnRecipe` the whole of `tracers`.",
    ],
)
mistake(
    {"for pval in pvals])": "for pval in pvals[:1]] * len(pvals))"},
    name="All results share one variable",
    hints=[
        "An operation has two results. How does a later equation say which of them it uses?",
        "`[Var(aval)] * n` is a list that holds the same object n times.",
        "Make the variables in a comprehension, one for each partial value.",
    ],
)
# All results have the type of the first.
mistake({"Var(pval.aval)": "Var(pvals[0].aval)"}, fails="test_staged_several")
# An operation without operands is computed at once.
mistake(
    {
        "avals = ": "if not tracers:\n    out = primitive.bind(**params)\n    return [*map(self.pure, out if primitive.multiple_results else [out])]\navals = "
    },
    fails="test_staged_recipe",
)
# A known operand gets a variable.
mistake(
    {
        "pairs = zip": "for t in tracers:\n    t.var = t.var or Var(raise_to_shaped(t.aval))\npairs = zip"
    },
    fails="test_staged_known_operands",
)
# What is known already is computed at once.
mistake(
    {
        "pvals = [": "if all(t.pval.is_known for t in tracers):\n    return [self.pure(primitive.bind(*[t.pval.const for t in tracers], **params))]\npvals = ["
    },
    fails="test_staging_computes_nothing",
)
# All recipes are listed, and so they stay.
mistake(
    {
        "pairs = zip": "self.__class__.recipes = [*getattr(self.__class__, 'recipes', []), recipe]\npairs = zip"
    },
    fails="test_staged_anew",
)
# Results of integers are never weakly typed.
mistake(
    {
        "[unknown(aval) for": "[\n    unknown(aval if dtypes.is_float(aval.dtype) else ShapedArray(aval.shape, aval.dtype)) for"
    },
    fails="test_staged_box",
)
# A parameter that is empty gets lost.
mistake(
    {"tracers, params, [": "tracers, {k: v for k, v in params.items() if v != ()}, ["},
    fails="test_staged_with_other_params",
)
# Unknown arrays are strongly typed for the rule that tells the types of results.
mistake(
    {
        "[t.aval for t in tracers]": "[ShapedArray(t.shape, t.dtype) if t.shape and t.var else t.aval for t in tracers]"
    },
    fails="test_staged_with_other_params",
)


exercise("linearize.toposort")


@right
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


@right
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


@right(style="the stack holds iterators over what is needed")
def toposort(outs):
    order, entered = [], set()
    stack = [(None, iter(outs))]
    while stack:
        recipe, needs = stack[-1]
        need = next((x for x in needs if x is not None and id(x) not in entered), None)
        if need is not None:
            entered.add(id(need))
            stack.append((need, iter([t.recipe for t in need.tracers_in])))
        else:
            order.append(recipe)
            stack.pop()
    return order[:-1]


@mistake(
    name="Recipes come in the reverse of the order in which they were met",
    hints=[
        "Let the result need a and b, and let b need a. You meet a first. Where is it in your list?",
        "A recipe that is met early, because the result uses it directly, may still be needed by others that are met later. It must come before all of them.",
        "Do not list a recipe when you meet it. List it once everything it needs is listed.",
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


mistake(
    {"list(outs)[::-1]": "outs"},
    name="The argument `outs` is used up",
    hints=[
        "Print `outs` before and after a call to your function.",
        "A list is an object, and `stack = outs` is a second name for it, not a second list. What is popped is gone from both.",
        "Begin with a copy: `stack = list(outs)`.",
    ],
)
# Each recipe itself is marked, for good.
mistake(
    {
        "id(parent) not in done": 'not hasattr(parent, "done")',
        "if id(recipe) not in done": 'if not hasattr(recipe, "done")',
        "done.add(id(recipe))": "recipe.done = True",
    },
    fails="test_order_of_a_chain",
)
# Recipes that say the same are taken for one.
mistake(
    {
        "done: set[int] = set()": "def id(recipe):\n    return recipe.primitive, str(recipe.params), *[t.var for t in recipe.tracers_in]\n\ndone = set()"
    },
    fails="test_order_of_branches",
)

# Only the last of `outs` is looked at.
mistake({"list(outs)[::-1]": "list(outs[-1:])"}, fails="test_order_leaves_out_what_is_not_needed")


@mistake(fails="test_order_of_long_programs")
def toposort(outs):
    order, done = [], set()

    def visit(recipe):
        if recipe is None or id(recipe) in done:
            return
        done.add(id(recipe))
        for t in recipe.tracers_in:
            visit(t.recipe)
        order.append(recipe)

    for recipe in outs:
        visit(recipe)
    return order


# The list that was returned last is filled anew.
mistake(
    {"return order": 'kept = vars(toposort).setdefault("kept", [])\nkept[:] = order\nreturn kept'},
    fails="test_order_with_shortcuts",
)


# An operand that is there twice counts once, but a recipe that two others use is walked through twice.
@mistake(fails="test_work_of_sorting")
def toposort(outs):
    order = []
    stack = [(recipe, False) for recipe in outs]
    while stack:
        recipe, is_ready = stack.pop()
        if is_ready:
            order.append(recipe)
            continue
        needs = {id(t.recipe): t.recipe for t in recipe.tracers_in if t.recipe}
        stack += [(recipe, True), *((need, False) for need in needs.values())]
    return list({id(recipe): recipe for recipe in order}.values())


# A recipe without operands is left out.
mistake(
    {"if id(recipe) not in done:": "if id(recipe) not in done and recipe.tracers_in:"},
    fails="test_order_of_branches",
)


exercise("linearize.tracers_to_jaxpr")


@right
def tracers_to_jaxpr(tracers_in, tracers_out):
    builder = JaxprBuilder()

    def atoms(tracers):
        return [builder.constant(t.pval.const) if t.pval.is_known else t.var for t in tracers]

    outputs = atoms(tracers_out)
    order = toposort([t.recipe for t in tracers_out if t.recipe is not None])
    for r in order:
        builder.eqns += [JaxprEqn(atoms(r.tracers_in), r.outvars, r.primitive, r.params)]
    return builder.build([t.var for t in tracers_in], outputs)


@right(style="an environment from id of tracer to atom; eqns assigned")
def tracers_to_jaxpr(tracers_in, tracers_out):
    builder, atoms = JaxprBuilder(), {id(t): t.var for t in tracers_in}

    def look(t):
        if id(t) not in atoms:
            atoms[id(t)] = builder.constant(t.pval.const) if t.pval.is_known else t.var
        return atoms[id(t)]

    recipes = toposort([t.recipe for t in tracers_out if not t.pval.is_known and t.recipe])
    builder.eqns = [
        JaxprEqn(
            [look(t) for t in recipe.tracers_in], recipe.outvars, recipe.primitive, recipe.params
        )
        for recipe in recipes
    ]
    return builder.build(list(map(look, tracers_in)), list(map(look, tracers_out)))


mistake(
    {
        "return builder": "used = {id(x) for eqn in builder.eqns for x in eqn.invars} | {id(t.var) for t in tracers_out}\nreturn builder",
        "in tracers_in if t.var": "in tracers_in if id(t.var) in used",
    },
    name="Inputs that nothing needs are missing",
    hints=[
        "How many tangents does the linear program of `lambda x, y: x * 2.0` take?",
        "The program is called with a value for each input that was unknown. A result may well not depend on all of them.",
        "The inputs are the variables of all `tracers_in`, in order, whatever the equations use.",
    ],
)
mistake(
    {
        "def atom(tracer: PartialEvalTracer) -> Atom:": "def atom(tracer):",
        "return builder.build([t.var for t in tracers_in if t.var], [atom(t) for t in tracers_out])": "outputs = [t.var for t in tracers_out if t.var]\nreturn builder.build([t.var for t in tracers_in], outputs)",
    },
    name="Known outputs are missing",
    hints=[
        "May an output of the program be known already? Look at what `partial_eval_flat` does with `instantiate`.",
        "A known output has no variable. The program still returns it, as a constant.",
        "Treat outputs as operands: the variable, or what `builder.constant` returns for the value.",
    ],
)
# Constants are told apart by their boxes, and each operation puts an array into a new one.
mistake(
    {
        "builder = JaxprBuilder()": "builder, atoms = JaxprBuilder(), {}",
        "return tracer.var or builder.constant(tracer.pval.const)": "if tracer.var:\n    return tracer.var\nif id(tracer) not in atoms:\n    own = JaxprBuilder()\n    atoms[id(tracer)] = own.constant(tracer.pval.const)\n    builder.consts.update({id(tracer): note for note in own.consts.values()})\nreturn atoms[id(tracer)]",
    },
    fails="test_program_keeps_a_residual_once",
)
# A result without axes becomes a literal, too.
mistake(
    {
        "return tracer.var or builder.constant(tracer.pval.const)": "const = tracer.pval.const\nif tracer.var is None and tracer.shape == () and not isinstance(const, Tracer):\n    from minijax.array import as_numpy\n    from minijax.tracing import literal_of\n    return literal_of(const) or literal_of(as_numpy(const))\nreturn tracer.var or builder.constant(const)"
    },
    fails="test_types_of_residuals",
)
# An equation has the results only that are outputs.
mistake(
    {
        "(invars, recipe.outvars,": "(invars, [t.var for t in tracers_out if t.recipe is recipe][-1:] or recipe.outvars,"
    },
    fails="test_program_with_several_results",
)
# An input of integers that nothing needs is left out.
mistake(
    {"tracers_in if t.var]": 'tracers_in if t.var and t.dtype.kind == "f"]'},
    fails="test_program_inputs",
)
# An equation takes the recipe's parameters, and the next program has none.
mistake(
    {"recipe.params))": "dict(recipe.params)))\nrecipe.params.clear()"},
    fails="test_program_as_printed",
)
# An array with one element becomes a literal.
mistake(
    {
        "return tracer.var or builder.constant(tracer.pval.const)": "from minijax.jaxpr import Literal\n\nconst = tracer.pval.const\nif not isinstance(const, Tracer) and tracer.shape == (1,):\n    return Literal(const, raise_to_shaped(get_aval(const)))\nreturn tracer.var or builder.constant(const)"
    },
    fails="test_types_of_residuals",
)
# Arrays are never weakly typed.
mistake(
    {
        "return tracer.var or builder.constant(tracer.pval.const)": "const = tracer.pval.const\nif not isinstance(const, Tracer) and tracer.shape and tracer.weak_type:\n    const = const.astype(const.dtype)\nreturn tracer.var or builder.constant(const)"
    },
    fails="test_types_of_residuals",
)
# A scalar of NumPy's default type becomes a plain number.
mistake(
    {
        "return tracer.var or builder.constant(tracer.pval.const)": "import numpy as np\n\nconst = tracer.pval.const\nreturn tracer.var or builder.constant(const.item() if isinstance(const, np.int64) else const)"
    },
    fails="test_types_of_residuals",
)


exercise("linearize.partial_eval_flat")


@right
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


@right(style="marks for later results, chosen and map")
def partial_eval_flat(f, pvals, instantiate=lambda i: False):
    from itertools import compress

    with new_main(PartialEvalTrace) as main:
        trace = PartialEvalTrace(main)
        boxes = tuple(map(trace.new_arg, pvals))
        results = tuple(full_raise(trace, out) for out in f(*boxes))
        forced = [bool(instantiate(i)) for i, _ in enumerate(results)]
        later = [force or not t.pval.is_known for force, t in zip(forced, results, strict=True)]
        program = tracers_to_jaxpr(
            list(compress(boxes, [not pval.is_known for pval in pvals])),
            list(compress(results, later)),
        )
    return [unknown(t.aval) if wait else t.pval for t, wait in zip(results, later)], program


mistake(
    {", p in zip(outs, pvals_out, strict=True) if not p": " in outs if not t.pval"},
    name="The program lacks the results that are to be instantiated",
    hints=[
        "Count them: how many results does the caller take to be unknown, and how many outputs does the program have?",
        "`instantiate` makes a known result count as unknown. Then its value must come from the program, like that of every unknown result.",
        "Choose the outputs of the program by the partial values that you return, not by those in the tracers.",
    ],
)
mistake(
    {"outs = [full": "f(*tracers_in)\nouts = [full"},
    name="The function runs twice",
    hints=[
        "How many times does a `print` in the user's function print?",
        "One run finds everything: the known values, and the recipes of the others.",
        "Call `f` once, keep the raised results in a list, and make both the partial values and the program from it.",
    ],
)
# The list that f returns, which may be the user's, is filled with boxes.
mistake(
    {
        "outs = [full_raise(trace, out) for out in f(*tracers_in)]": "outs = f(*tracers_in)\nfor i, out in enumerate(outs):\n    outs[i] = full_raise(trace, out)"
    },
    fails="test_partial_constants",
)
# `instantiate` is asked with the number among the known results.
mistake(
    {"instantiate(i)": "instantiate(sum(t.pval.is_known for t in outs[:i]))"},
    fails="test_partial_results_often",
)
# A result that is instantiated is not weakly typed any more.
mistake(
    {"unknown(t.aval)": "unknown(ShapedArray(t.shape, t.dtype))"}, fails="test_partial_instantiate"
)
# A tracer from below is never instantiated.
mistake(
    {"if instantiate(i)": "if instantiate(i) and not isinstance(t.pval.const, Tracer)"},
    fails="test_partial_below",
)
# Known results are made NumPy's.
mistake(
    {
        "pvals_out = [": "import numpy as np\n\npvals_out = [",
        "else t.pval for": "else known(np.asarray(t.pval.const)) if t.pval.is_known and not isinstance(t.pval.const, Tracer) else t.pval for",
    },
    fails="test_partial_values_of_results",
)


@right(style="f runs inside a generator, which also yields the inputs")
def partial_eval_flat(f, pvals, instantiate=lambda i: False):
    def run():
        with new_main(PartialEvalTrace) as main:
            trace = PartialEvalTrace(main)
            boxes = [trace.new_arg(pval) for pval in pvals]
            yield [t for t in boxes if not t.pval.is_known]
            yield [full_raise(trace, out) for out in f(*boxes)]

    ins, outs = run()
    later = [i for i, t in enumerate(outs) if not t.pval.is_known or instantiate(i)]
    found = [unknown(t.aval) if i in later else t.pval for i, t in enumerate(outs)]
    return found, tracers_to_jaxpr(ins, [outs[i] for i in later])


# A known zero counts as unknown.
mistake(
    {
        "trace.new_arg(pval) for": "trace.new_arg(unknown(pval.aval) if type(pval.const) in (bool, float) and not pval.const else pval) for"
    },
    fails="test_partial_known_alone",
)
# An input of booleans that is unknown is left out.
mistake(
    {"if not t.pval.is_known]": 'if not t.pval.is_known and t.dtype.kind != "b"]'},
    fails="test_partial_program",
)
# A box of a use inside f is opened.
mistake(
    {
        "full_raise(trace, out) for": "trace.pure(getattr(out, 'primal', 2.0))\n    if isinstance(out, Tracer) and out._trace.main.level > main.level\n    else full_raise(trace, out)\n    for"
    },
    fails="test_partial_fails",
)
# A result without elements is never instantiated.
mistake(
    {"if instantiate(i)": "if instantiate(i) and 0 not in t.shape"},
    fails="test_partial_instantiate_some",
)
# Unknown arrays are never weakly typed.
mistake(
    {
        "trace.new_arg(pval) for": "trace.new_arg(\n    unknown(ShapedArray(pval.aval.shape, pval.aval.dtype)) if pval.aval.shape and not pval.is_known else pval\n) for"
    },
    fails="test_partial_program",
)


exercise("linearize.flat")


@right
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


@right(style="values and tangents both come out of the partial evaluation")
def linearize_flat(f, primals, count):
    avals = [get_aval(x) for x in primals]
    size = []

    def both(*moving):
        primals_out, tangents_out = jvp_flat(f, list(primals), with_float0(moving, avals))
        size.append(len(primals_out))
        pairs = zip(primals_out[: count()], tangents_out)
        return primals_out + [t for y, t in pairs if dtypes.is_float(get_aval(y).dtype)]

    free = [unknown(aval) for aval in avals if dtypes.is_float(aval.dtype)]
    pvals, program = partial_eval_flat(both, free, lambda i: i >= size[0])
    return [pval.const for pval in pvals[: size[0]]], program


@right(style="primals are known inputs of the partial evaluation, tangents others")
def linearize_flat(f, primals, count):
    avals = [get_aval(x) for x in primals]
    number, results = len(avals), []

    def both(*args):
        values, slopes = jvp_flat(f, args[:number], with_float0(args[number:], avals))
        results.extend(values)
        return values + only_floats(slopes[: count()], list(map(get_aval, values[: count()])))

    pvals = [*map(known, primals), *map(unknown, only_floats(avals, avals))]
    pvals_out, program = partial_eval_flat(both, pvals, lambda i: i >= len(results))
    return [pval.const for pval in pvals_out[: len(results)]], program


mistake(
    {"return values, program": "return f(*primals), program"},
    name="The function runs a second time for its values",
    hints=[
        "How many times does a `print` in the user's function print?",
        "`jvp_flat` computes the values anyway, along with the tangents. One run is enough, and a function that is slow or random must not be run twice.",
        "Keep what `jvp_flat` returns first, in a list outside the inner function: `values.extend(primals_out)`.",
    ],
)
mistake(
    {": list[Any]": "", "(*moving: Any) -> list[Any]": "(*moving)", ", lambda i: True": ""},
    name="Tangents that do not depend on the inputs are missing",
    hints=[
        "What is the derivative of `lambda x: (2.0, x)`? How many outputs must its program have?",
        "The tangent of a constant is known: it is zero. So partial evaluation leaves it out of the program, unless it is told not to.",
        "The third argument of `partial_eval_flat` says which results always count as unknown: all, `lambda i: True`.",
    ],
)
mistake(
    {": list[Any]": "", "(*moving: Any) -> list[Any]": "(*moving)", "[: count()]": ""},
    name="Auxiliary results are differentiated too",
    hints=[
        "With `has_aux=True` a function returns a result and something more. Which of the two should be differentiated?",
        "`count()` says how many of the results count. The others have values, and no place in the program.",
        "Cut the tangents before you return them: `tangents[: count()]`.",
    ],
)
# A tangent has the primal's value in its type.
mistake({"unknown(aval) for": "PartialVal(aval) for"}, fails="test_linear_values")
# The results that are floats are counted.
mistake(
    {"tangents[: count()] if": "tangents if", ".dtype)]": ".dtype)][: count()]"},
    fails="test_linear_count",
)
# Primals are made NumPy's, which tracers refuse.
mistake(
    {
        "avals = [get_aval": "import numpy as np\nprimals = [x if isinstance(x, (int, float)) else np.asarray(x) for x in primals]\navals = [get_aval"
    },
    fails="test_linear_nested",
)
# All tangents are float64.
mistake(
    {"unknown(aval)": "unknown(ShapedArray(aval.shape, get_aval(1.0).dtype, aval.weak_type))"},
    fails="test_linear_several_inputs",
)
# A boolean counts as a float.
mistake(
    {"only_floats(avals, avals)": '[a for a in avals if a.dtype.kind not in "iu"]'},
    fails="test_linear_integers",
)
# A tangent without elements is missing.
mistake(
    {"get_aval(t).dtype)": "get_aval(t).dtype) and 0 not in get_aval(t).shape"},
    fails="test_linear_several_inputs",
)
# Half precision does not count as a float.
mistake(
    {"only_floats(avals, avals)": '[a for a in avals if a.dtype in ("float32", "float64")]'},
    fails="test_linear_several_inputs",
)
# Only the first three tangents are instantiated.
mistake({"lambda i: True": "lambda i: i < 3"}, fails="test_linear_constants")
# There must be an input.
mistake(
    {
        "avals = [get_aval(x) for x in primals]": "avals, _ = zip(*[(get_aval(x), x) for x in primals])"
    },
    fails="test_linear_constants",
)
# Inputs for the tangents of arrays are never weakly typed.
mistake(
    {
        "only_floats(avals, avals)]": "only_floats(avals, avals)]\nunknowns = [\n    p if type(x) is float else unknown(ShapedArray(p.aval.shape, p.aval.dtype))\n    for p, x in zip(unknowns, only_floats(primals, avals), strict=True)\n]"
    },
    fails="test_linear_runs_once",
)


exercise("linearize.split_jaxpr")


@right
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


@right
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


mistake(
    {
        "found: list[Any] = []": "found = []",
        "def known_part(*vals: Any) -> list[Any]:": "def known_part(*vals):",
        "return [pval.const for pval in pvals_out if pval.is_known] + rest.consts": "return rest.consts + [pval.const for pval in pvals_out if pval.is_known]",
    },
    name="Residuals come before the known outputs",
    hints=[
        "Read the types of the two programs in the docstring again. What comes first in the results of the first program?",
        "The caller takes as many results as there are known outputs, and passes the rest to the second program.",
        "Return the known constants first and then the list of the residuals.",
    ],
)
mistake(
    {": list[Any]": "", "(*vals: Any) -> list[Any]": "(*vals)", ", instantiate.__contains__": ""},
    name="No output is instantiated",
    hints=[
        "The function has a third argument. What have you done with it?",
        "Some callers need an output to come from the second program even though it is known: the body of a loop, for instance, whose carry must always be of the same kind.",
        "Pass `instantiate` on to `partial_eval_flat`, which wants a function from numbers to bools: `instantiate.__contains__`.",
    ],
)
# Weak types are lost.
mistake(
    {"[aval for aval, k": "[ShapedArray(aval.shape, aval.dtype) for aval, k"},
    fails="test_unzip_instantiate_all",
)
# A known result that is there twice is returned once.
mistake(
    {
        "[pval.const for pval in pvals_out if pval.is_known] + rest.consts": "[*{id(p.const): p.const for p in pvals_out if p.is_known}.values(), *rest.consts]"
    },
    fails="test_unzip_one_side",
)
# Splits are kept by how the program is printed, without its constants.
mistake(
    {
        "found: list[Any] = []": 'table, key, found = vars(split_jaxpr), f"{jaxpr} {is_known} {sorted(instantiate)}", []\nif key in table:\n    return table[key]',
        "return first, ClosedJaxpr(without_consts(rest), []), out_known": "return table.setdefault(key, (first, ClosedJaxpr(without_consts(rest), []), out_known))",
    },
    fails="test_unzip_other_constants",
)
# The second program keeps what is not a tracer as constants of its own.
mistake(
    {
        "found[:] = rest.jaxpr,": "own = not any(isinstance(x, Tracer) for x in rest.consts)\nfound[:] = rest if own else ClosedJaxpr(without_consts(rest.jaxpr), []),",
        "+ rest.consts": "+ rest.consts * (not own)",
        "ClosedJaxpr(without_consts(rest), [])": "rest",
    },
    fails="test_unzip_constants",
)
# A constant among the outputs is unknown.
mistake(
    {
        "instantiate.__contains__": "lambda i: i in instantiate or jaxpr.jaxpr.outvars[i] in jaxpr.jaxpr.constvars"
    },
    fails="test_unzip_constants",
)
# The program that was split is emptied.
mistake(
    {"return first,": "if all(is_known):\n    jaxpr.eqns.clear()\nreturn first,"},
    fails="test_unzip_one_side",
)
# Unknown inputs of integers that nothing needs are left out.
mistake(
    {
        "rest, out_known = found": 'rest, out_known = found\nused = {id(x) for eqn in rest.eqns for x in eqn.invars} | set(map(id, rest.outvars))\nrest = rest.replace(\n    invars=[x for x in rest.invars if x.aval.dtype.kind == "f" or id(x) in used]\n)'
    },
    fails="test_unzip_one_side",
)
# Known outputs come in the reverse order.
mistake(
    {"[pval.const for pval in pvals_out": "[pval.const for pval in pvals_out[::-1]"},
    fails="test_unzip_types",
)
# If no input is known, nothing is instantiated.
mistake(
    {"instantiate.__contains__": "lambda i: i in instantiate and any(is_known)"},
    fails="test_unzip_instantiate",
)
# What has several outputs to be instantiated is handed over for each of them.
mistake(
    {
        "found: list[Any] = []": "def own(x):\n    x = x.full_lower() if isinstance(x, Tracer) else x\n    return type(x)(x._trace, x.atom) if hasattr(x, 'atom') else x\n\nfound = []",
        "jaxpr_as_fun(jaxpr)": "lambda *args: [own(x) if i in instantiate else x for i, x in enumerate(jaxpr_as_fun(jaxpr)(*args))]",
    },
    fails="test_unzip_residuals",
)

# Unknown inputs are never weakly typed.
mistake(
    {
        "is_known, jaxpr.in_avals)": "is_known, [ShapedArray(a.shape, a.dtype) for a in jaxpr.in_avals])"
    },
    fails="test_unzip_values",
)
# An output of booleans is never instantiated.
mistake(
    {"instantiate.__contains__": "lambda i: i in instantiate and jaxpr.out_avals[i].dtype != bool"},
    fails="test_unzip_instantiate_all",
)


exercise("linearize.jit_rule")


@right
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


@right
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


mistake(
    {
        'later = iter(trace.stage_out(jit_p, inputs, {"name": name, "jaxpr": rest}))': 'later = trace.stage_out(jit_p, inputs, {"name": name, "jaxpr": rest})\nreturn [*outs[: sum(out_known)], *later]',
        "now = iter(outs)": "",
        "return [next(now) if is_out_known else next(later) for is_out_known in out_known]": "",
    },
    name="Known results come first",
    hints=[
        "A function returns (unknown, known). In what order do your results come?",
        "The caller does not know that its program was split. It wants the results where they were.",
        "Walk over the flags, the third result of `partial_eval_jaxpr`, and take the next known or the next unknown result each time.",
    ],
)
mistake(
    {
        "inputs = [trace.pure(r) for r in residuals] + [t for t in tracers if not t.pval.is_known]": "inputs = [t for t in tracers if not t.pval.is_known] + [trace.pure(r) for r in residuals]"
    },
    name="Residuals come after the unknown operands",
    hints=[
        "Look at the type of the second program. Which of its inputs come first?",
        "If two operands with the same type are swapped, the numbers are wrong, and there is no error.",
        "The operands are `[trace.pure(r) for r in residuals]`, and then the unknown tracers.",
    ],
)
# An operand that is there twice is passed once.
mistake(
    {
        "[t for t in tracers if not t.pval.is_known]": "list({id(t): t for t in tracers if not t.pval.is_known}.values())"
    },
    fails="test_call_of_twins",
)
# A program is split once, whatever is known.
mistake(
    {
        "partial_eval_jaxpr(jaxpr, is_known)": "jaxpr.jaxpr.cache.get(None) or jaxpr.jaxpr.cache.setdefault(\n    None, partial_eval_jaxpr(jaxpr, is_known)\n)"
    },
    fails="test_call_splits_once",
)
# Known results are made NumPy's.
mistake(
    {
        "now = iter(outs)": "import numpy as np\n\nnow = iter([x if isinstance(x, Tracer) else np.asarray(x) for x in outs])"
    },
    fails="test_call_keeps_the_order",
)
# After an error, the known part is called again.
mistake(
    {
        "outs = call(known_part, [t.pval.const for t in tracers if t.pval.is_known], name)": "args = known_part, [t.pval.const for t in tracers if t.pval.is_known], name\ntry:\n    outs = call(*args)\nexcept Exception:\n    outs = call(*args)"
    },
    fails="test_call_of_two_parts",
)
# Operands that are results come after those that are inputs.
mistake(
    {
        "[t for t in tracers if not t.pval.is_known]": "sorted([t for t in tracers if not t.pval.is_known], key=lambda t: t.recipe is not None)"
    },
    fails="test_call_of_twins",
)
# Known integers become floats.
mistake(
    {
        "[t.pval.const for t in tracers if t.pval.is_known]": "[float(t.pval.const) if type(t.pval.const) is int else t.pval.const for t in tracers if t.pval.is_known]"
    },
    fails="test_call_hands_through",
)
# A known operand without elements counts as unknown.
mistake(
    {"t.pval.is_known for t in tracers)": "t.pval.is_known and 0 not in t.shape for t in tracers)"},
    fails="test_call_hands_through",
)
# A program of which nothing is known is split anew in each call.
mistake(
    {
        "partial_eval_jaxpr(jaxpr, is_known)": "(partial_eval_jaxpr if any(is_known) else split_jaxpr)(\n    jaxpr, is_known, frozenset()\n)"
    },
    fails="test_call_splits_once",
)
# A known operand that is there twice is passed once.
mistake(
    {
        "[t.pval.const for t in tracers if t.pval.is_known]": "list({id(t): t.pval.const for t in tracers if t.pval.is_known}.values())"
    },
    fails="test_call_of_twins",
)
# Residuals are never weakly typed.
mistake(
    {
        "[trace.pure(r) for r in residuals]": "[\n    trace.pure(r if isinstance(r, Tracer) or not hasattr(r, 'astype') else r.astype(r.dtype))\n    for r in residuals\n]"
    },
    fails="test_call_of_two_parts",
)
# Constants among the results are left for later.
mistake(
    {
        "partial_eval_jaxpr(jaxpr, is_known)": "partial_eval_jaxpr(\n    jaxpr, is_known, frozenset(i for i, x in enumerate(jaxpr.jaxpr.outvars) if x in jaxpr.jaxpr.constvars)\n)"
    },
    fails="test_call_on_one_side",
)
# If a known operand is a tracer, the known part is no call.
mistake(
    {
        "outs = call(known_part, [t.pval.const for t in tracers if t.pval.is_known], name)": "vals = [t.pval.const for t in tracers if t.pval.is_known]\nif any(isinstance(x, Tracer) for x in vals):\n    outs = eval_jaxpr(known_part.jaxpr, known_part.consts, *vals)\nelse:\n    outs = call(known_part, vals, name)"
    },
    fails="test_call_of_twins",
)
# A call is not expected while the known part of another is computed.
mistake(
    {
        "outs = call(known_part, [t.pval.const for t in tracers if t.pval.is_known], name)": "here = vars(jit_partial_eval)\nassert not here.get('busy')\nhere['busy'] = True\ntry:\n    outs = call(known_part, [t.pval.const for t in tracers if t.pval.is_known], name)\nfinally:\n    here['busy'] = False"
    },
    fails="test_call_linearized",
)
# a call without a name gets one
mistake(
    {"if t.pval.is_known], name)": "if t.pval.is_known], name or 'f')"},
    fails="test_call_of_two_parts",
)
