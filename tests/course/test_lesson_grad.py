"""The lesson grad: other right answers pass."""

import pytest
from other_answers import lost

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "grad.accumulate": """
def accumulate(ct_env, atom, ct):
    match atom:
        case Var() if ct is not None:
            ct_env[atom] = ct_env[atom] + ct if atom in ct_env else ct
""",
        "grad.unbroadcast": """
def unbroadcast(ct, x):
    if not isinstance(x, UndefPrimal):
        return None
    have, want = get_aval(ct).shape, x.aval.shape
    if have == want:
        return ct
    if not want:
        return reduce_sum_p.bind(ct, axes=tuple(range(len(have))))
    stretched = tuple(i for i in range(len(want)) if have[i] != want[i])
    sums = reduce_sum_p.bind(ct, axes=stretched)
    others = [i for i in range(len(want)) if have[i] == want[i]]
    return broadcast_in_dim_p.bind(sums, shape=want, broadcast_dimensions=tuple(others))
""",
        "grad.mul_rule": """
def mul_transpose(ct, x, y):
    match x, y:
        case UndefPrimal(), _:
            return [unbroadcast(mul_p.bind(y, ct), x), None]
        case _:
            return [None, unbroadcast(mul_p.bind(ct, x), y)]
""",
        "grad.dot_general_rule": """
def dot_cotangent(ct, aval, other, contract, batch, comes_last):
    n = len(batch[0])
    kept = other_axes(get_aval(other), contract[1], batch[1])
    rest = list(range(n, len(get_aval(ct).shape)))
    axes = rest[: len(kept)] if comes_last else rest[len(rest) - len(kept) :]
    product = dot_general_p.bind(
        ct,
        other,
        dimension_numbers=((tuple(axes), tuple(kept)), (tuple(range(n)), batch[1])),
        preferred_element_type=get_aval(ct).dtype,
    )
    return as_operand(product, aval, contract, batch)
""",
        "grad.backward_pass": """
def backward_pass(jaxpr, consts, args, cotangents):
    eqns, env = linear_equations(jaxpr, consts, args)
    table = {}
    for i in range(len(cotangents)):
        accumulate(table, jaxpr.outvars[i], cotangents[i])
    while eqns:
        eqn = eqns.pop()
        cts = [table.get(var) for var in eqn.outvars]
        if not [ct for ct in cts if ct is not None]:
            continue
        if not eqn.primitive.multiple_results:
            (cts,) = cts
        rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
        answers = rule(cts, *(read(env, x) for x in eqn.invars), **eqn.params)
        for atom, answer in zip(eqn.invars, answers):
            accumulate(table, atom, answer)
    wanted = [var for var, arg in zip(jaxpr.invars, args) if isinstance(arg, UndefPrimal)]
    return [table.get(var) for var in wanted]
""",
        "grad.call_rule": """
def transposed_jaxpr(jaxpr, linear):
    places = [i for i, lin in enumerate(linear) if lin]
    others = [i for i, lin in enumerate(linear) if not lin]

    def f(*inputs):
        args = [UndefPrimal(aval) for aval in jaxpr.in_avals]
        for i, x in zip(others, inputs):
            args[i] = x
        cts = inputs[len(others) :]
        outs = backward_pass(jaxpr.jaxpr, jaxpr.consts, args, cts)
        return [instantiate(ct, jaxpr.in_avals[i]) for i, ct in zip(places, outs)]

    avals = [jaxpr.in_avals[i] for i in others] + list(jaxpr.out_avals)
    return derived(jaxpr, ("transpose", linear), f, avals)
""",
        "grad.vjp": """
def pull_back(lin, cotangent):
    _, _, program, in_tree, in_avals, out_tree, out_avals = lin
    leaves = only_floats(flat_cotangents(cotangent, out_tree, out_avals), out_avals)
    return tree_unflatten(in_tree, with_float0(transpose_program(program, leaves), in_avals))
""",
        "grad.value_and_gradients": """
def value_and_gradients(fun, args, has_aux=False):
    out = vjp(fun, *args, has_aux=has_aux)
    value, f_vjp = out[0], out[1]
    check_scalar(value)
    gradients = f_vjp(np.array(1, dtype=get_aval(value).dtype))
    return (value, gradients) + tuple(out[2:])
""",
        "grad.jacobian_of_output": """
def jacobian_of_output(lin, i):
    rank = len(lin.out_avals[i].shape)

    def row(ct):
        cts = [None] * len(lin.out_avals)
        cts[i] = ct
        return transpose_program(lin.program, cts)

    def of_axes(n):
        return vmap(of_axes(n - 1)) if n else row

    return of_axes(rank)(basis(lin.out_avals[i]))
""",
    },
    {
        "grad.accumulate": """
def accumulate(ct_env, atom, ct):
    if isinstance(atom, Var):
        total = add_tangents(ct_env.get(atom), ct)
        if total is not None:
            ct_env[atom] = total
""",
        "grad.unbroadcast": """
def unbroadcast(ct, x):
    if isinstance(x, UndefPrimal):
        shape, want = get_aval(ct).shape, x.aval.shape
        if shape == want:
            return ct
        pairs = enumerate(zip(shape, want if want else [None] * len(shape)))
        axes = [i for i, (have, wanted) in pairs if have != wanted]
        out = reduce_sum_p.bind(ct, axes=tuple(axes))
        kept = [i for i in range(len(want)) if i not in axes]
        return broadcast_in_dim(out, want, kept)
    return None
""",
        "grad.mul_rule": """
def mul_transpose(ct, x, y):
    def times(known, linear):
        return unbroadcast(mul_p.bind(ct, known), linear)

    first = isinstance(x, UndefPrimal)
    return [times(y, x) if first else None, None if first else times(x, y)]
""",
        "grad.dot_general_rule": """
def dot_cotangent(ct, aval, other, contract, batch, comes_last):
    own = len(other_axes(aval, contract[0], batch[0]))
    kept = other_axes(get_aval(other), contract[1], batch[1])
    names = ["batch"] * len(batch[0])
    names += ["other"] * len(kept) + ["own"] * own if comes_last else []
    names += [] if comes_last else ["own"] * own + ["other"] * len(kept)
    places = {name: tuple(i for i, x in enumerate(names) if x == name) for name in set(names)}
    numbers = (
        (places.get("other", ()), tuple(kept)),
        (places.get("batch", ()), tuple(batch[1])),
    )
    dtype = get_aval(ct).dtype
    return as_operand(
        dot_general_p.bind(ct, other, dimension_numbers=numbers, preferred_element_type=dtype),
        aval,
        contract,
        batch,
    )
""",
        "grad.backward_pass": """
def backward_pass(jaxpr, consts, args, cotangents):
    table = {}

    def add_all(atoms, cts):
        for atom, ct in zip(atoms, cts, strict=True):
            accumulate(table, atom, ct)

    def step(eqn):
        cts = [table.pop(var, None) for var in eqn.outvars]
        if any(ct is not None for ct in cts):
            rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
            ct = cts if eqn.primitive.multiple_results else cts[0]
            add_all(eqn.invars, rule(ct, *[read(env, x) for x in eqn.invars], **eqn.params))

    eqns, env = linear_equations(jaxpr, consts, args)
    add_all(jaxpr.outvars, cotangents)
    for i in range(len(eqns) - 1, -1, -1):
        step(eqns[i])
    return [table.get(v) for v in jaxpr.invars if type(env[v]) is UndefPrimal]
""",
        "grad.call_rule": """
def transposed_jaxpr(jaxpr, linear):
    known_avals, linear_avals = [], []
    for aval, lin in zip(jaxpr.in_avals, linear):
        (linear_avals if lin else known_avals).append(aval)

    def run_back(*inputs):
        known, cts = iter(inputs[: len(known_avals)]), inputs[len(known_avals) :]
        operands = []
        for aval, lin in zip(jaxpr.in_avals, linear):
            operands.append(UndefPrimal(aval) if lin else next(known))
        outs = backward_pass(jaxpr.jaxpr, jaxpr.consts, operands, cts)
        return list(map(instantiate, outs, linear_avals))

    return derived(jaxpr, ("transpose", linear), run_back, known_avals + jaxpr.out_avals)
""",
        "grad.vjp": """
def pull_back(lin, cotangent):
    cts = [*flat_cotangents(cotangent, lin.out_tree, lin.out_avals)]
    moving = [ct for ct, aval in zip(cts, lin.out_avals) if aval.dtype.kind == "f"]
    back = iter(transpose_program(lin.program, moving))
    all_cts = [next(back) if a.dtype.kind == "f" else zeros_like_aval(a) for a in lin.in_avals]
    return tree_unflatten(lin.in_tree, all_cts)
""",
        "grad.value_and_gradients": """
def value_and_gradients(fun, args, has_aux=False):
    if has_aux:
        value, f_vjp, aux = vjp(fun, *args, has_aux=True)
    else:
        value, f_vjp = vjp(fun, *args)
    check_scalar(value)
    one = np.ones_like(np.zeros((), get_aval(value).dtype))
    return (value, f_vjp(one), aux) if has_aux else (value, f_vjp(one))
""",
        "grad.jacobian_of_output": """
def jacobian_of_output(lin, i):
    def pull_back(ct):
        before, after = [None] * i, [None] * (len(lin.out_avals) - i - 1)
        return transpose_program(lin.program, [*before, ct, *after])

    unit = basis(lin.out_avals[i])
    return functools.reduce(lambda g, _: vmap(g), lin.out_avals[i].shape, pull_back)(unit)
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES, ids=["first", "second"])
def test_other_right_answers_have_full_points(answers):
    assert lost("grad", answers) == ([], [])
