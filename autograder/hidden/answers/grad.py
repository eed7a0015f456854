"""Answers to the exercises of the `grad` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("grad.unbroadcast")


@right
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


@right(style="one axis at a time, from the last")
def unbroadcast(ct, x):
    if not isinstance(x, UndefPrimal):
        return None
    have, want = tuple(get_aval(ct).shape), tuple(x.aval.shape)
    out = ct
    if not want:
        for axis in reversed(range(len(have))):
            out = reduce_sum_p.bind(out, axes=(axis,))
        return out
    for axis, (a, b) in enumerate(zip(have, want, strict=True)):
        if a != b:
            smaller = reduce_sum_p.bind(out, axes=(axis,))
            shape = list(get_aval(out).shape)
            shape[axis] = 1
            out = broadcast_in_dim(smaller, shape, [i for i in range(len(shape)) if i != axis])
    return out


@right(style="match on the operand; all axes of length 1 are summed, in any order")
def unbroadcast(ct, x):
    match x:
        case UndefPrimal(aval=aval):
            shape = get_aval(ct).shape
            if aval.shape == shape:
                return ct
            summed = [i for i in range(len(shape))][::-1]
            if len(aval.shape) == len(shape):
                summed = [i for i in summed if aval.shape[i] == 1]
            total = reduce_sum_p.bind(ct, axes=tuple(summed))
            rest = tuple(i for i in range(len(shape)) if i not in summed)
            return broadcast_in_dim(total, aval.shape, rest) if aval.shape else total
        case _:
            return None


mistake(
    {
        "sums = reduce_sum(ct, axes)": "return reduce_sum_p.bind(ct, axes=axes)",
        "kept = [i for i in range(len(want)) if i not in axes]": "",
        "return broadcast_in_dim(sums, want, kept) if want else sums": "",
    },
    name="Axes of size 1 are gone after the sum",
    hints=[
        "An operand has the shape (2, 1). What shape must its cotangent have, and what shape does yours have?",
        "`reduce_sum_p` drops the axes that it sums. An axis of size 1 is an axis all the same.",
        "Restore the axes with `broadcast_in_dim(sums, x.aval.shape, kept)`, where `kept` are the axes that were not summed.",
    ],
)
mistake(
    {
        "kept = [": """size = max(np.prod([shape[i] for i in axes]), 1)
sums = div_p.bind(sums, np.array(size, get_aval(ct).dtype))
kept = ["""
    },
    name="The cotangents of the copies are averaged",
    hints=[
        "A number is repeated three times, and each copy has the cotangent 1. If the number moves by 1, by how much does the result move?",
        "Each copy contributes all of its cotangent. The more copies there are, the more the number matters, not less.",
        "Add up and do not divide: `reduce_sum_p.bind(ct, axes=axes)`.",
    ],
)
mistake(
    {
        "kept = [i for i in range(len(want)) if i not in axes]": """n = len(want) - len(axes)
kept = [1 - axes[0]] if n == 1 else [*range(n)]"""
    },
    fails="test_several_axes_were_stretched",
)
mistake({"n != 1": "n > 1"}, fails="test_an_axis_was_stretched")
mistake({"shape == want": "False"}, fails="test_nothing_was_stretched")
mistake({"isinstance(x, UndefPrimal)": 'hasattr(x, "aval")'}, fails="test_known_operands_have_none")
mistake(
    {"if want else sums": "if want else convert_element_type(sums, np.float64)"},
    fails="test_a_number_was_stretched",
)
# summed by NumPy, which makes larger integers of small ones
mistake(
    {"sums = reduce_sum": "sums = np.sum(ct, axes) if isinstance(ct, np.ndarray) else reduce_sum"},
    fails="test_a_number_was_stretched",
)
# in the operand's dtype, which in a product of two dtypes is not the result's
mistake(
    {"= reduce_sum(ct, axes)": "= convert_element_type(reduce_sum(ct, axes), x.aval.dtype)"},
    fails="test_a_number_was_stretched",
)


exercise("grad.broadcast_rule")


@right(style="all sums at once, without unbroadcast")
def broadcast_in_dim_transpose(ct, x, *, shape, broadcast_dimensions):
    want = x.aval.shape
    same = {axis for axis, n in zip(broadcast_dimensions, want) if shape[axis] == n}
    sums = reduce_sum_p.bind(ct, axes=tuple(i for i in range(len(shape)) if i not in same))
    kept = tuple(i for i, axis in enumerate(broadcast_dimensions) if axis in same)
    return [broadcast_in_dim_p.bind(sums, shape=want, broadcast_dimensions=kept)]


@right(style="one axis at a time, from the last")
def broadcast_in_dim_transpose(ct, x, *, shape, broadcast_dimensions):
    axis = len(shape)
    while axis:
        axis -= 1
        if axis not in broadcast_dimensions:
            ct = reduce_sum(ct, (axis,))
    return [unbroadcast(ct, x)]


mistake(
    {"if i not in broadcast_dimensions": "if i in broadcast_dimensions"},
    name="The sum is over the axes of the operand",
    hints=[
        "A row of 3 is repeated into 2 rows. How many numbers are in its cotangent?",
        "`broadcast_dimensions` says where the axes of the operand went. Along which axes are its copies?",
        "The copies are along the axes that are not in `broadcast_dimensions`: sum over those.",
    ],
)
mistake(
    {"unbroadcast(reduce_sum(ct, new), x)": "reduce_sum(ct, new)"},
    name="An axis that was stretched keeps its new size",
    hints=[
        "What does `broadcast_in_dim` do with an axis of size 1 that it keeps?",
        "A cotangent has the shape of the operand. Compare the two when the operand is (1, 3) and the result (2, 3).",
        "After the sum over the new axes, call `unbroadcast` on what is left.",
    ],
)
# As for elementwise operations in NumPy: new axes come first.
mistake(
    {"if i not in broadcast_dimensions": "if i < len(shape) - len(broadcast_dimensions)"},
    fails="test_new_axes",
)
# where an axis is new, a stretched one disappears with it
mistake(
    {
        "new = ": "new = ()\nif len(shape) > len(broadcast_dimensions):\n    pairs = zip(broadcast_dimensions, x.aval.shape)\n    same = [axis for axis, n in pairs if shape[axis] == n]\n    return [reduce_sum(ct, tuple(i for i in range(len(shape)) if i not in same))]\nnew = "
    },
    fails="test_new_and_stretched_axes",
)
# summed by NumPy, which makes larger integers of small ones
mistake(
    {"reduce_sum": "np.sum(ct, new) if isinstance(ct, np.ndarray) else reduce_sum"},
    fails="test_repetition_in_single_precision",
)


exercise("grad.dot_general_rule")


@right
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


@right(style="the axes of ct as labels, looked up by index")
def dot_cotangent(ct, aval, other, contract, batch, comes_last):
    other_type = get_aval(other)
    kept = other_axes(other_type, contract[1], batch[1])
    mine = [("linear", i) for i in other_axes(aval, contract[0], batch[0])]
    theirs = [("other", i) for i in kept]
    labels = [("batch", i) for i in range(len(batch[0]))]
    labels += theirs + mine if comes_last else mine + theirs
    in_ct = tuple(labels.index(label) for label in theirs)
    batch_in_ct = tuple(n for n, (kind, _) in enumerate(labels) if kind == "batch")
    product = dot_general_p.bind(
        ct,
        other,
        preferred_element_type=get_aval(ct).dtype,
        dimension_numbers=((in_ct, tuple(kept)), (batch_in_ct, tuple(batch[1]))),
    )
    return as_operand(product, aval, contract, batch)


mistake(
    {"num_batch if comes_last else num_batch + len(kept)": "num_batch"},
    name="The axes of the first operand are contracted, whichever operand is linear",
    hints=[
        "Take two square matrices that are not symmetric, `z = x @ y`. Which axis of the cotangent belongs to `x`, and which to `y`?",
        "The axes of `ct` are: batch axes, kept axes of the first operand, kept axes of the second. You contract those of the *known* operand. Is it the first one, or the second?",
        "If `comes_last`, the known operand is the first: the axes to contract come right after the batch axes. Otherwise they come after the axes that the linear operand keeps, too.",
    ],
)
mistake({"len(kept)": "len(other_kept)"}, fails="test_axes_in_any_place")
mistake(
    {"(range(num_batch), batch[1])": "(range(num_batch), sorted(batch[1]))"},
    fails="test_stacks_of_matrices",
)
mistake({"get_aval(ct).dtype": "aval.dtype"}, fails="test_dtype_of_an_operand")
mistake(
    {"numbers = (": "ct_axes, other_kept = ct_axes[-1:], other_kept[-1:]\nnumbers = ("},
    fails="test_axes_in_any_place",
)
mistake(
    {"kept = other_axes(aval": "other = np.asarray(other)\nkept = other_axes(aval"},
    fails="test_work_of_a_cotangent",
)
# the first of the two operands keeps its axes first, whichever is linear
mistake(
    {"first = num_batch if comes_last else": "first = num_batch if not comes_last else"},
    fails="test_second_matrix",
)
# in the wider of two dtypes
mistake(
    {"get_aval(ct).dtype": "np.promote_types(get_aval(ct).dtype, aval.dtype)"},
    fails="test_dtype_of_an_operand",
)
# products of numbers need no product of matrices
mistake(
    {
        "out = dot_general(": "if num_batch and len(get_aval(other).shape) == num_batch:\n    return as_operand(mul(ct, other), aval, contract, batch)\nout = dot_general("
    },
    fails="test_work_of_a_cotangent",
)


exercise("grad.backward_pass")


@right
def backward_pass(jaxpr, consts, args, cotangents):
    eqns, env = linear_equations(jaxpr, consts, args)
    table = {}
    for atom, ct in zip(jaxpr.outvars, cotangents, strict=True):
        accumulate(table, atom, ct)
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


@right(style="helper functions, map, a table of answers by place")
def backward_pass(jaxpr, consts, args, cotangents):
    equations, env = linear_equations(jaxpr, consts, args)
    table = {}

    def spread(atoms, cts):
        for atom, ct in zip(atoms, cts, strict=True):
            if isinstance(atom, Var) and isinstance(env.get(atom), UndefPrimal):
                accumulate(table, atom, ct)

    def step(eqn):
        cts = [table.get(var) for var in eqn.outvars]
        if any(ct is not None for ct in cts):
            if not eqn.primitive.multiple_results:
                (cts,) = cts
            operands = map(functools.partial(read, env), eqn.invars)
            rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
            spread(eqn.invars, rule(cts, *operands, **eqn.params))

    spread(jaxpr.outvars, cotangents)
    for eqn in equations[::-1]:
        step(eqn)
    linear = [isinstance(arg, UndefPrimal) for arg in args]
    return [table.get(var) for var, flag in zip(jaxpr.invars, linear, strict=True) if flag]


mistake(
    {"ct_env: dict[Var, Any] = {}": "ct_env = {}", "reversed(linear_eqns)": "linear_eqns"},
    name="The equations are visited in the order of the program",
    hints=[
        "When the first equation of the program has its turn, where could the cotangent of its result come from?",
        "A cotangent comes from the uses of a value, and these come after the equation that makes it. So the last equation must be first.",
        "`for eqn in reversed(linear_eqns):`, or a loop over `linear_eqns[::-1]`.",
    ],
)
mistake(
    {
        "zip(jaxpr.outvars": "dict(zip(jaxpr.outvars",
        "cotangents, strict=True)": "cotangents, strict=True)).items()",
    },
    name="If a variable is returned several times, only its last cotangent counts",
    hints=[
        "A program may return the same variable as its first and as its second result. Both have a cotangent.",
        "A dict made of variables and cotangents keeps one entry for each variable: the last. The start needs the same care as every other step.",
        "Go through `jaxpr.outvars` and `cotangents` with `zip`, and `accumulate` one after the other.",
    ],
)
mistake(
    {"zip(eqn.invars, cts_in, strict=True)": "dict(zip(eqn.invars, cts_in)).items()"},
    fails="test_a_value_used_twice",
)
mistake({"return [ct_env": "cotangents.clear()\nreturn [ct_env"}, fails="test_pass_after_pass")
mistake(
    {"get_rule(transpose_rules, ": "transpose_rules[", ', "Transpose rule")': "]"},
    fails="test_missing_rule",
)
mistake(
    {"all(ct is None for ct in cts)": "cts[0] is None"},
    fails="test_operations_with_several_results",
)
mistake(
    {
        "ct_env:": """cotangents = map(instantiate, cotangents, [v.aval for v in jaxpr.outvars])
ct_env:"""
    },
    fails="test_inputs_without_influence",
)
mistake(
    {"(ct is None for ct in cts)": "(ct is None or (type(ct) is float and not ct) for ct in cts)"},
    fails="test_what_a_rule_gets",
)
# the equations are kept with the values that they were given first
mistake(
    {
        "linear_equations(jaxpr, consts, args)": 'jaxpr.cache.setdefault("linear", linear_equations(jaxpr, consts, args))'
    },
    fails="test_pass_after_pass",
)
# of a variable that is several results, the first cotangent counts
mistake(
    {
        "zip(jaxpr.outvars, cotangents, strict=True)": "dict(zip(jaxpr.outvars[::-1], cotangents[::-1], strict=True)).items()"
    },
    fails="test_a_result_that_stands_twice",
)
# an operation has two operands
mistake(
    {"zip(eqn.invars, cts_in, strict=True)": "zip(eqn.invars[:2], cts_in)"},
    fails="test_what_a_rule_gets",
)
# errors of a rule are another error
mistake(
    {
        "cts_in = rule(cts if eqn.primitive.multiple_results else cts[0], *operands, **eqn.params)": "try:\n    cts_in = rule(cts if eqn.primitive.multiple_results else cts[0], *operands, **eqn.params)\nexcept ValueError as error:\n    raise TypeError(*error.args) from error"
    },
    fails="test_errors_of_a_rule",
)
# visited by a function that calls itself for the next equation
mistake(
    {
        "for eqn in reversed(linear_eqns):": "def visit(n):\n    if n:\n        step(linear_eqns[n - 1])\n        visit(n - 1)\n\ndef step(eqn):",
        "        continue": "        return",
        "return [ct_env": "visit(len(linear_eqns))\nreturn [ct_env",
    },
    fails="test_a_chain",
)

# an operation without results has a rule, too
mistake(
    {"if all(ct is None for ct in cts):": "if cts and all(ct is None for ct in cts):"},
    fails="test_operations_without_influence",
)
# nothing flows to integers
mistake(
    {
        "(ct is None for ct in cts)": "(ct is None or not dtypes.is_float(get_aval(ct).dtype) for ct in cts)"
    },
    fails="test_a_value_used_twice",
)
# linear inputs are told apart by their markers, and two may have one
mistake(
    {
        "for var in jaxpr.invars if isinstance(env[var], UndefPrimal)]": "for var in {id(env[v]): v for v in jaxpr.invars if isinstance(env[v], UndefPrimal)}.values()]"
    },
    fails="test_several_results",
)


exercise("grad.call_rule")


@right
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


@right(style="slices and pops; the marks from filled and chosen")
def transposed_jaxpr(jaxpr, linear):
    from minijax.marks import chosen, opposite

    undefs = [UndefPrimal(aval) for aval in chosen(jaxpr.in_avals, linear)]
    types = chosen(jaxpr.in_avals, opposite(linear))

    def backwards(*inputs):
        inputs = list(inputs)
        values, cts = inputs[: len(types)], inputs[len(types) :]
        operands = filled(linear, undefs, values)
        found = backward_pass(jaxpr.jaxpr, jaxpr.consts, operands, cts)
        return list(map(instantiate, found, [undef.aval for undef in undefs]))

    return derived(jaxpr, ("transpose", linear), backwards, types + list(jaxpr.out_avals))


mistake(
    {
        "rest = iter(inputs)": "number = len(jaxpr.out_avals)\nrest = iter(inputs[number:])",
        "list(rest)": "list(inputs[:number])",
        "[*known_avals, *jaxpr.out_avals]": "[*jaxpr.out_avals, *known_avals]",
    },
    name="The new program takes the cotangents first",
    hints=[
        "Which values does the caller pass first: the known operands, or the cotangents? Look at `call_transpose`.",
        "If both have the same type, swapping them gives wrong numbers and no error.",
        "Known operands come first, in the inputs that your function takes and in the list of types: `[*known_avals, *jaxpr.out_avals]`.",
    ],
)
mistake({"jaxpr.consts": "[]"}, fails="test_program_with_constants")
mistake(
    {
        "rest = iter(inputs)": """rest = iter(inputs)
last = [a for a, lin in zip(jaxpr.in_avals, linear) if lin][-1]""",
        "UndefPrimal(aval) if": "UndefPrimal(last) if",
    },
    fails="test_program_with_zeros",
)
mistake(
    {"return derived": "avals = [ShapedArray(a.shape, a.dtype) for a in avals]\nreturn derived"},
    fails="test_program_of_a_product",
)
# the zeros of an integer are integers, too
mistake(
    {"[instantiate(ct, aval) for": "[full_cotangent(ct, aval) for"}, fails="test_program_with_zeros"
)
# kept for the first linear inputs alone
mistake({'("transpose", linear)': '("transpose", linear[:3])'}, fails="test_program_is_kept")
# zeros have no weak type
mistake(
    {
        "[instantiate(ct, aval) for": "[np.zeros(aval.shape, aval.dtype) if ct is None and dtypes.is_float(aval.dtype) else instantiate(ct, aval) for"
    },
    fails="test_program_with_zeros",
)
# the last of the inputs are the cotangents, and all are, if there is no result
mistake({"list(rest)": "list(inputs)[-len(jaxpr.out_avals) :]"}, fails="test_program_with_zeros")
# programs that look alike are taken for one, whatever their constants are
mistake(
    {
        'return derived(jaxpr, ("transpose", linear), backwards, avals)': 'return vars(transposed_jaxpr).setdefault((str(jaxpr), linear), derived(jaxpr, ("transpose", linear), backwards, avals))'
    },
    fails="test_program_is_kept",
)


exercise("grad.value_and_gradients")


@right
def value_and_gradients(fun, args, has_aux=False):
    if has_aux:
        value, f_vjp, aux = vjp(fun, *args, has_aux=True)
    else:
        value, f_vjp = vjp(fun, *args)
    check_scalar(value)
    aval = get_aval(value)
    one = 1.0 if aval.weak_type else np.ones_like(np.zeros((), aval.dtype))
    return (value, f_vjp(one), aux) if has_aux else (value, f_vjp(one))


@right(style="linearize_tree and pull_back themselves, no vjp")
def value_and_gradients(fun, args, has_aux=False):
    lin = linearize_tree(fun, tuple(args), has_aux)
    check_scalar(lin.value)
    aval = get_aval(lin.value)
    seed = convert_element_type_p.bind(1, new_dtype=aval.dtype, weak_type=aval.weak_type)
    result = [lin.value, pull_back(lin, seed)]
    if has_aux:
        result.append(lin.aux)
    return tuple(result)


@right(style="match on what vjp gives")
def value_and_gradients(fun, args, has_aux=False):
    def gradients(value, back):
        check_scalar(value)
        return back(instantiate(None, get_aval(value)) + 1.0)

    match vjp(fun, *args, has_aux=has_aux):
        case value, back, aux:
            return value, gradients(value, back), aux
        case value, back:
            return value, gradients(value, back)


mistake(
    {"f_vjp(one)": "f_vjp(value)"},
    name="The cotangent of the result is its value",
    hints=[
        "Compute the gradient of `x * x` at 3. Is yours 6, or 54?",
        "The cotangent of a value says how much the result moves when the value moves by 1. How large the result is has nothing to do with it.",
        "Start with a one of the type of the value.",
    ],
)
mistake(
    {"value, f_vjp, *aux": "fun(*args)\nvalue, f_vjp, *aux"},
    name="The function runs twice",
    hints=[
        "How many times does a `print` in the user's function print?",
        "`vjp` returns the value too, so there is no need for a second run.",
        "Call `vjp` first, and check the value that it returns.",
    ],
)
# The one is never weak.
mistake({"weak_type=aval.weak_type": "weak_type=False"}, fails="test_dtype_of_the_cotangent")
mistake({"f_vjp(one)": "f_vjp(1.0)"}, fails="test_dtype_of_the_cotangent")
# what comes with a second part is not looked at
mistake(
    {"check_scalar(value)": "if not has_aux:\n    check_scalar(value)"}, fails="test_no_gradient"
)
# a second part that is nothing is left out
mistake(
    {"(value, f_vjp(one), *aux)": "(value, f_vjp(one), *filter(None, aux))"},
    fails="test_gradients_with_aux",
)
# the function runs once more for the check
mistake(
    {"check_scalar(value)": "check_scalar(fun(*args)[0] if has_aux else fun(*args))"},
    fails="test_value_and_gradients",
)
# an empty argument has no gradient
mistake(
    {"f_vjp(one), *aux)": "tuple(x for x in f_vjp(one) if x is not None), *aux)"},
    fails="test_gradients_of_containers",
)
# what fails in the function has no gradient
mistake(
    {
        "value, f_vjp, *aux = vjp(fun, *args, has_aux=has_aux)": "try:\n    value, f_vjp, *aux = vjp(fun, *args, has_aux=has_aux)\nexcept ValueError as error:\n    raise TypeError(*error.args) from error"
    },
    fails="test_no_gradient",
)
# the 1 is made once for each dtype: inside a transformation, it is a tracer
mistake(
    {
        "one = convert": "one = vars(value_and_gradients).setdefault(aval.dtype.name, convert",
        "weak_type=aval.weak_type)": "weak_type=aval.weak_type))",
    },
    fails="test_gradients_of_gradients",
)


exercise("grad.jacobian_of_output")


@right
def jacobian_of_output(lin, i):
    rank = len(lin.out_avals[i].shape)

    def row(ct):
        cts = [None] * len(lin.out_avals)
        cts[i] = ct
        return transpose_program(lin.program, cts)

    def of_axes(n):
        return vmap(of_axes(n - 1)) if n else row

    return of_axes(rank)(basis(lin.out_avals[i]))


@right
def jacobian_of_output(lin, i):
    def pull_back(ct):
        before, after = [None] * i, [None] * (len(lin.out_avals) - i - 1)
        return transpose_program(lin.program, [*before, ct, *after])

    unit = basis(lin.out_avals[i])
    return functools.reduce(lambda g, _: vmap(g), lin.out_avals[i].shape, pull_back)(unit)


mistake(
    {
        "def pull_back(cotangent: Tangent) -> list[Value]:": "def pull_back(cotangent):",
        "for _ in lin.out_avals[i].shape:": "for axis in range(len(lin.out_avals[i].shape)):",
        "pull_back = vmap(pull_back)": "pull_back = vmap(pull_back, in_axes=axis, out_axes=-1)",
    },
    name="The axes of the result come after those of the input",
    hints=[
        "A function goes from three numbers to two. Does its Jacobian have two rows, or three?",
        "In the `vmap` lesson each direction made a column, and its axis came last. Here each cotangent makes a row: all that this entry of the result depends on.",
        "The axes that index the cotangents belong to the result, and come first: `vmap` with its defaults puts them there.",
    ],
)
mistake(
    {
        "for _ in lin.out_avals[i]": "for _ in lin.out_avals[0]",
        "basis(lin.out_avals[i])": "basis(lin.out_avals[0])",
    },
    fails="test_several_leaves",
)
# through NumPy, which takes nothing out of a box
mistake(
    {
        "return pull_back(basis(lin.out_avals[i]))": "return [convert_element_type(np.asarray(x), x.dtype) for x in pull_back(basis(lin.out_avals[i]))]"
    },
    fails="test_jacobian_within_jvp",
)
mistake(
    {
        "for _ in lin.out_avals[i].shape:": "for axis, _ in enumerate(lin.out_avals[i].shape):",
        "vmap(pull_back)": "vmap(pull_back, in_axes=axis)",
    },
    fails="test_work_of_a_jacobian",
)
# a pass for the type of what comes, and one for the entries
mistake(
    {
        "for _ in lin.out_avals[i].shape:": "pull_back(np.ones(lin.out_avals[i].shape))\nfor _ in lin.out_avals[i].shape:"
    },
    fails="test_work_of_a_jacobian",
)
# directions are made once for each shape, whether weak or not
mistake(
    {
        "pull_back(basis(lin.out_avals[i]))": "pull_back(vars(jacobian_of_output).setdefault(str(lin.out_avals[i].shape), basis(lin.out_avals[i])))"
    },
    fails="test_jacobian_of_a_number",
)
