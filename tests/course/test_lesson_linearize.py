"""The lesson linearize: other right answers pass."""

import pytest
from other_answers import lost

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "linearize.process_primitive": """
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
""",
        "linearize.stage_out": """
def stage_out(self, primitive, tracers, params):
    recipe = EqnRecipe(primitive, tuple(tracers), dict(params), [])
    outs = []
    for aval in abstract_eval(primitive, [t.pval.aval for t in tracers], params):
        pval = unknown(aval)
        recipe.outvars.append(Var(pval.aval))
        outs.append(PartialEvalTracer(self, pval, recipe.outvars[-1], recipe))
    return outs
""",
        "linearize.toposort": """
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
""",
        "linearize.tracers_to_jaxpr": """
def tracers_to_jaxpr(tracers_in, tracers_out):
    builder = JaxprBuilder()

    def atoms(tracers):
        return [
            builder.constant(t.pval.const) if t.pval.is_known else t.var for t in tracers
        ]

    outputs = atoms(tracers_out)
    order = toposort([t.recipe for t in tracers_out if t.recipe is not None])
    for r in order:
        builder.eqns += [JaxprEqn(atoms(r.tracers_in), r.outvars, r.primitive, r.params)]
    return builder.build([t.var for t in tracers_in], outputs)
""",
        "linearize.partial_eval_flat": """
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
""",
        "linearize.flat": """
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
""",
        "linearize.split_jaxpr": """
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
""",
        "linearize.jit_rule": """
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
""",
    },
    {
        "linearize.process_primitive": """
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
""",
        "linearize.stage_out": """
def stage_out(self, primitive, tracers, params):
    types = abstract_eval(primitive, [raise_to_shaped(t.aval) for t in tracers], params)
    variables = [Var(raise_to_shaped(aval)) for aval in types]
    recipe = EqnRecipe(primitive, tracers, params, variables)
    return [PartialEvalTracer(self, unknown(v.aval), v, recipe) for v in variables]
""",
        "linearize.toposort": """
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
""",
        "linearize.tracers_to_jaxpr": """
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
""",
        "linearize.partial_eval_flat": """
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
""",
        "linearize.flat": """
def linearize_flat(f, primals, count):
    types = [raise_to_shaped(get_aval(x)) for x in primals]
    values = []

    def both(*moving):
        values[:], tangents = jvp_flat(f, primals, with_float0(moving, types))
        n = count()
        return only_floats(tangents[:n], [get_aval(x) for x in values[:n]])

    program = partial_eval_flat(both, [*map(unknown, only_floats(types, types))], lambda i: 1)[1]
    return values, program
""",
        "linearize.split_jaxpr": """
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
""",
        "linearize.jit_rule": """
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
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES, ids=["first", "second"])
def test_other_right_answers_have_full_points(answers):
    assert lost("linearize", answers) == ([], [])
