"""Answers to the exercises of the lesson grad: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("grad.accumulate")
def accumulate(ct_env, atom, ct):
    if isinstance(atom, Var):
        total = add_tangents(ct_env.get(atom), ct)
        if total is not None:
            ct_env[atom] = total


@right("grad.accumulate")
def accumulate(ct_env, atom, ct):
    match atom:
        case Var() if ct is not None:
            ct_env[atom] = ct_env[atom] + ct if atom in ct_env else ct


@mistake(
    "grad.accumulate",
    name="A later cotangent replaces the one before",
    hints=[
        "A value is used in two places. In one of them it counts 3, in the other 4. How much does it count?",
        "Each use of a variable brings a cotangent, at different times. What is in the table already must not get lost.",
        "Look up the old entry with `ct_env.get(atom)`, which may be None, and put in `add_tangents` of the old and the new.",
    ],
)
def accumulate(ct_env, atom, ct):
    if isinstance(atom, Var) and ct is not None:
        ct_env[atom] = ct


@mistake(
    "grad.accumulate",
    name="The sum is written into the array that came first",
    hints=[
        "Whose array is the first cotangent? Print it before and after a second one was added.",
        "`a += b` changes the NumPy array that `a` is. The same array may be in other places: it may be the user's, or the cotangent of another variable.",
        "Make a new array, `a + b`; `add_tangents` does that, and takes care of None.",
    ],
)
def accumulate(ct_env, atom, ct):
    if isinstance(atom, Var) and ct is not None:
        if atom in ct_env:
            ct_env[atom] += ct
        else:
            ct_env[atom] = ct


@right("grad.unbroadcast")
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


@right("grad.unbroadcast")
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


@mistake(
    "grad.unbroadcast",
    name="Axes of length 1 are gone after the sum",
    hints=[
        "An operand has the shape (2, 1). Of what shape must its cotangent be, and of what shape is yours?",
        "`reduce_sum_p` drops the axes that it sums. An axis of length 1 is an axis all the same.",
        "Give the axes back with `broadcast_in_dim(sums, x.aval.shape, kept)`, where `kept` are the axes that were not summed.",
    ],
)
def unbroadcast(ct, x):
    if not isinstance(x, UndefPrimal):
        return None
    shape, want = get_aval(ct).shape, x.aval.shape
    if shape == want:
        return ct
    axes = tuple(i for i, n in enumerate(shape) if not want or (want[i] == 1 and n != 1))
    return reduce_sum_p.bind(ct, axes=axes)


@mistake(
    "grad.unbroadcast",
    name="The cotangents of the copies are averaged",
    hints=[
        "A number is repeated three times, and each copy counts 1. If the number moves by 1, by how much does everything together move?",
        "Each copy contributes all of its cotangent. That there are many copies makes the number count more, not less.",
        "Add up and do not divide: `reduce_sum_p.bind(ct, axes=axes)`.",
    ],
)
def unbroadcast(ct, x):
    if not isinstance(x, UndefPrimal):
        return None
    shape, want = get_aval(ct).shape, x.aval.shape
    if shape == want:
        return ct
    axes = tuple(i for i, n in enumerate(shape) if not want or (want[i] == 1 and n != 1))
    sums = reduce_sum_p.bind(ct, axes=axes)
    number = np.array(max(np.prod([shape[i] for i in axes]), 1), get_aval(ct).dtype)
    sums = div_p.bind(sums, number)
    kept = [i for i in range(len(want)) if i not in axes]
    return broadcast_in_dim(sums, want, kept) if want else sums


@right("grad.mul_rule")
def mul_transpose(ct, x, y):
    match x, y:
        case UndefPrimal(), _:
            return [unbroadcast(mul_p.bind(y, ct), x), None]
        case _:
            return [None, unbroadcast(mul_p.bind(ct, x), y)]


@right("grad.mul_rule")
def mul_transpose(ct, x, y):
    def times(known, linear):
        return unbroadcast(mul_p.bind(ct, known), linear)

    first = isinstance(x, UndefPrimal)
    return [times(y, x) if first else None, None if first else times(x, y)]


@mistake(
    "grad.mul_rule",
    name="The transpose is taken for the inverse: it divides",
    hints=[
        "Let `z = 10 * x`. If `z` counts 1 for each unit, how much does `x` count: 10, or a tenth?",
        "To run backwards does not mean to undo. The inverse of a matrix takes results back to inputs; the transpose takes cotangents of results to cotangents of inputs. For a single number, the matrix (10) and its transpose are the same.",
        "Multiply with the known operand, as forwards: `mul_p.bind(ct, y)`.",
    ],
)
def mul_transpose(ct, x, y):
    if isinstance(x, UndefPrimal):
        return [unbroadcast(div_p.bind(ct, y), x), None]
    return [None, unbroadcast(div_p.bind(ct, x), y)]


@mistake(
    "grad.mul_rule",
    name="The cotangent goes to the operand that is known",
    hints=[
        "The list that a rule gives has one place for each operand. In which of the two places does the cotangent stand, and which operand did you multiply with?",
        "The operand that you can multiply with is the known one. It is a constant here and has no cotangent.",
        "If `x` is the `UndefPrimal`, the cotangent stands first, and None behind it.",
    ],
)
def mul_transpose(ct, x, y):
    if isinstance(x, UndefPrimal):
        return [None, unbroadcast(mul_p.bind(ct, y), x)]
    return [unbroadcast(mul_p.bind(x, ct), y), None]


@mistake(
    "grad.mul_rule",
    name="The cotangent keeps the shape of the product",
    hints=[
        "A number times a vector is a vector. Of what shape must the cotangent of the number be?",
        "A small operand was stretched, so it has an influence on many entries of the product. What they count must be added up.",
        "Pass the product of `ct` and the known operand through `unbroadcast(..., x)`, with the linear operand.",
    ],
)
def mul_transpose(ct, x, y):
    if isinstance(x, UndefPrimal):
        return [mul_p.bind(ct, y), None]
    return [None, mul_p.bind(x, ct)]


@right("grad.dot_general_rule")
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


@right("grad.dot_general_rule")
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


@mistake(
    "grad.dot_general_rule",
    name="The axes of the first operand are contracted, whichever operand is linear",
    hints=[
        "Take two square matrices that are not symmetric, `z = x @ y`. Which axis of the cotangent belongs to `x`, and which to `y`?",
        "The axes of `ct` are: batch axes, kept axes of the first operand, kept axes of the second. You contract those of the *known* operand. Is it the first one, or the second?",
        "If `comes_last`, the known operand is the first: the axes to contract begin behind the batch axes. Else they begin behind the axes that the linear operand keeps, too.",
    ],
)
def dot_cotangent(ct, aval, other, contract, batch, comes_last):
    other_kept = other_axes(get_aval(other), contract[1], batch[1])
    batch_axes = tuple(range(len(batch[0])))
    ct_axes = tuple(range(len(batch_axes), len(batch_axes) + len(other_kept)))
    numbers = (ct_axes, tuple(other_kept)), (batch_axes, tuple(batch[1]))
    out = dot_general_p.bind(
        ct, other, dimension_numbers=numbers, preferred_element_type=get_aval(ct).dtype
    )
    return as_operand(out, aval, contract, batch)


@right("grad.backward_pass")
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


@right("grad.backward_pass")
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


@mistake(
    "grad.backward_pass",
    name="The equations are visited in the order of the program",
    hints=[
        "When the first equation of the program has its turn, who has given a cotangent to its result?",
        "A cotangent comes from the uses of a value, and these stand behind the equation that makes it. So the last equation must be first.",
        "`for eqn in reversed(linear_eqns):`, or a loop over `linear_eqns[::-1]`.",
    ],
)
def backward_pass(jaxpr, consts, args, cotangents):
    linear_eqns, env = linear_equations(jaxpr, consts, args)
    ct_env = {}
    for atom, ct in zip(jaxpr.outvars, cotangents, strict=True):
        accumulate(ct_env, atom, ct)
    for eqn in linear_eqns:
        cts = [ct_env.pop(var, None) for var in eqn.outvars]
        if all(ct is None for ct in cts):
            continue
        rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
        operands = [read(env, atom) for atom in eqn.invars]
        cts_in = rule(cts if eqn.primitive.multiple_results else cts[0], *operands, **eqn.params)
        for atom, ct in zip(eqn.invars, cts_in, strict=True):
            accumulate(ct_env, atom, ct)
    return [ct_env.get(var) for var in jaxpr.invars if isinstance(env[var], UndefPrimal)]


@mistake(
    "grad.backward_pass",
    name="Of a variable that is several results, the last cotangent counts",
    hints=[
        "A program may give one and the same variable as its first and as its second result. Both have a cotangent.",
        "A dict made of variables and cotangents keeps one entry for each variable: the last. The start needs the same care as every other step.",
        "Go through `jaxpr.outvars` and `cotangents` with `zip`, and `accumulate` one after the other.",
    ],
)
def backward_pass(jaxpr, consts, args, cotangents):
    linear_eqns, env = linear_equations(jaxpr, consts, args)
    ct_env = {}
    for atom, ct in zip(jaxpr.outvars, cotangents, strict=True):
        if isinstance(atom, Var):
            ct_env[atom] = ct
    for eqn in reversed(linear_eqns):
        cts = [ct_env.pop(var, None) for var in eqn.outvars]
        if all(ct is None for ct in cts):
            continue
        rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
        operands = [read(env, atom) for atom in eqn.invars]
        cts_in = rule(cts if eqn.primitive.multiple_results else cts[0], *operands, **eqn.params)
        for atom, ct in zip(eqn.invars, cts_in, strict=True):
            accumulate(ct_env, atom, ct)
    return [ct_env.get(var) for var in jaxpr.invars if isinstance(env[var], UndefPrimal)]


@right("grad.call_rule")
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


@right("grad.call_rule")
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


@mistake(
    "grad.call_rule",
    name="The new program takes the cotangents first",
    hints=[
        "Which values does the caller pass first: the known operands, or the cotangents? Look at `call_transpose`.",
        "If both have one type, an exchange gives wrong numbers and no error.",
        "Known operands come first, in the inputs that your function takes and in the list of types: `[*known_avals, *jaxpr.out_avals]`.",
    ],
)
def transposed_jaxpr(jaxpr, linear):
    number = len(jaxpr.out_avals)

    def backwards(*inputs):
        cts, rest = inputs[:number], iter(inputs[number:])
        operands = [
            UndefPrimal(aval) if lin else next(rest)
            for lin, aval in zip(linear, jaxpr.in_avals, strict=True)
        ]
        cts_in = backward_pass(jaxpr.jaxpr, jaxpr.consts, operands, list(cts))
        linear_avals = [x.aval for x in operands if isinstance(x, UndefPrimal)]
        return [instantiate(ct, aval) for ct, aval in zip(cts_in, linear_avals, strict=True)]

    known_avals = [aval for aval, lin in zip(jaxpr.in_avals, linear, strict=True) if not lin]
    return derived(jaxpr, ("transpose", linear), backwards, [*jaxpr.out_avals, *known_avals])


@right("grad.vjp")
def pull_back(lin, cotangent):
    _, _, program, in_tree, in_avals, out_tree, out_avals = lin
    leaves = only_floats(flat_cotangents(cotangent, out_tree, out_avals), out_avals)
    return tree_unflatten(in_tree, with_float0(transpose_program(program, leaves), in_avals))


@right("grad.vjp")
def pull_back(lin, cotangent):
    cts = [*flat_cotangents(cotangent, lin.out_tree, lin.out_avals)]
    moving = [ct for ct, aval in zip(cts, lin.out_avals) if aval.dtype.kind == "f"]
    back = transpose_program(lin.program, moving)
    return tree_unflatten(lin.in_tree, with_float0([*back], [*lin.in_avals]))


@mistake(
    "grad.vjp",
    name="The cotangents come as a flat list",
    hints=[
        "Pull back through a function of a dict. What do you get, and what did the function take?",
        "Inside, everything is a flat list. Outside, the user expects what the function was given: a tuple of all arguments, with their containers.",
        "End with `tree_unflatten(lin.in_tree, ...)`.",
    ],
)
def pull_back(lin, cotangent):
    cts = flat_cotangents(cotangent, lin.out_tree, lin.out_avals)
    cts_in = transpose_program(lin.program, only_floats(cts, lin.out_avals))
    return with_float0(cts_in, lin.in_avals)


@right("grad.value_and_gradients")
def value_and_gradients(fun, args, has_aux=False):
    out = vjp(fun, *args, has_aux=has_aux)
    value, f_vjp = out[0], out[1]
    check_scalar(value)
    gradients = f_vjp(np.array(1, dtype=get_aval(value).dtype))
    return (value, gradients) + tuple(out[2:])


@right("grad.value_and_gradients")
def value_and_gradients(fun, args, has_aux=False):
    if has_aux:
        value, f_vjp, aux = vjp(fun, *args, has_aux=True)
    else:
        value, f_vjp = vjp(fun, *args)
    check_scalar(value)
    one = np.ones_like(np.zeros((), get_aval(value).dtype))
    return (value, f_vjp(one), aux) if has_aux else (value, f_vjp(one))


@mistake(
    "grad.value_and_gradients",
    name="The cotangent of the result is its value",
    hints=[
        "Compute the gradient of `x * x` at 3. Is yours 6, or 54?",
        "The cotangent of the result says how much the result counts. How large the result is has nothing to do with it.",
        "Start with a one: `np.ones((), dtype)`, with the dtype of the value.",
    ],
)
def value_and_gradients(fun, args, has_aux=False):
    value, f_vjp, *aux = vjp(fun, *args, has_aux=has_aux)
    check_scalar(value)
    return (value, f_vjp(value), *aux)


@right("grad.jacobian_of_output")
def jacobian_of_output(lin, i):
    rank = len(lin.out_avals[i].shape)

    def row(ct):
        cts = [None] * len(lin.out_avals)
        cts[i] = ct
        return transpose_program(lin.program, cts)

    def of_axes(n):
        return vmap(of_axes(n - 1)) if n else row

    return of_axes(rank)(basis(lin.out_avals[i]))


@right("grad.jacobian_of_output")
def jacobian_of_output(lin, i):
    def pull_back(ct):
        before, after = [None] * i, [None] * (len(lin.out_avals) - i - 1)
        return transpose_program(lin.program, [*before, ct, *after])

    unit = basis(lin.out_avals[i])
    return functools.reduce(lambda g, _: vmap(g), lin.out_avals[i].shape, pull_back)(unit)


@mistake(
    "grad.jacobian_of_output",
    name="The axes of the result stand behind those of the input",
    hints=[
        "A function from three numbers to two: has its Jacobian two rows, or three?",
        "In lesson vmap each direction gave a column, and went behind. Here each cotangent gives a row: all that this entry of the result depends on.",
        "The axes that count cotangents belong to the result, and come first: `vmap` with its defaults puts them there.",
    ],
)
def jacobian_of_output(lin, i):
    def pull_back(cotangent):
        cts = [cotangent if j == i else None for j in range(len(lin.out_avals))]
        return transpose_program(lin.program, cts)

    for axis in range(len(lin.out_avals[i].shape)):
        pull_back = vmap(pull_back, in_axes=axis, out_axes=-1)
    return pull_back(basis(lin.out_avals[i]))
