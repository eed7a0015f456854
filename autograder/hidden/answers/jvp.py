"""Answers to the exercises of the `jvp` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("jvp.process_primitive")


@right
def process_primitive(self, primitive, tracers, params):
    values, moves = [t.primal for t in tracers], [t.tangent for t in tracers]
    several = primitive.multiple_results
    if any(t is not None for t in moves):
        rule = get_rule(jvp_rules, primitive, "Differentiation rule")
        out, out_dot = rule(values, moves, **params)
        return (
            [JVPTracer(self, *pair) for pair in zip(out, out_dot)]
            if several
            else JVPTracer(self, out, out_dot)
        )
    out = primitive.bind(*values, **params)
    return [JVPTracer(self, x, None) for x in out] if several else JVPTracer(self, out, None)


@right(style="everything as lists of results; one box function")
def process_primitive(self, primitive, tracers, params):
    primals = tuple(t.primal for t in tracers)
    tangents = tuple(t.tangent for t in tracers)
    constant = not any(t is not None for t in tangents)
    if constant:
        ps = primitive.bind(*primals, **params)
        ts = [None] * (len(ps) if primitive.multiple_results else 1)
    else:
        ps, ts = get_rule(jvp_rules, primitive, "Differentiation rule")(primals, tangents, **params)
        if not primitive.multiple_results:
            ts = [ts]
    if not primitive.multiple_results:
        ps = [ps]
    boxes = [JVPTracer(self, p, t) for p, t in zip(ps, ts, strict=True)]
    return boxes if primitive.multiple_results else boxes[0]


@right(style="a rule for constants, made on the spot, and map to box")
def process_primitive(self, primitive, tracers, params):
    def constant_rule(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        return out, [None for _ in out] if primitive.multiple_results else None

    primals, tangents = [], []
    for box in tracers:
        primals += [box.primal]
        tangents += [box.tangent]
    rule = constant_rule
    if set(map(type, tangents)) - {type(None)}:
        rule = get_rule(jvp_rules, primitive, "Differentiation rule")
    primal_out, tangent_out = rule(primals, tangents, **dict(params))
    box = functools.partial(JVPTracer, self)
    return (
        list(map(box, primal_out, tangent_out))
        if primitive.multiple_results
        else box(primal_out, tangent_out)
    )


mistake(
    {"all": "any", ": Any": "", ", strict=True": ""},
    name="One constant operand makes the whole result a constant",
    hints=[
        "What is the derivative of `x * 2.0`? One of the two operands is a constant there.",
        "The shortcut without a rule is for operations in which nothing moves. `x * 2.0` moves as long as `x` does.",
        "The condition asks whether *all* tangents are `None`, not whether *any* is. Rules know what to do with a `None` among their tangents.",
    ],
)
mistake(
    {"all(tangent is None for tangent in tangents)": "False"},
    name="The rule is called although nothing moves",
    hints=[
        "What does `sin_jvp` compute when its one tangent is `None`?",
        "A rule may count on at least one tangent that is not `None`. And a primitive that has no rule must still work on constants.",
        "Before you look for a rule: if all tangents are `None`, the result is `primitive.bind(*primals, **params)` with the tangent `None`.",
    ],
)
mistake(
    {": Any": "", "(primals, tangents, **params)": "(primals, tangents)", ", strict=True": ""},
    name="The parameters do not reach the rule",
    hints=[
        "How does the rule of `reduce_sum` know along which axes to add up the tangent?",
        "What is not an array (axes, shapes, dtypes) comes to this method in the dict `params`. Follow it: where does it go in your code?",
        "Pass it on by keyword, to the rule as well as to `bind`: `rule(primals, tangents, **params)`.",
    ],
)
mistake(
    {
        "tangents = [t": """while any(isinstance(x, JVPTracer) for x in primals):
    primals = [x.primal if isinstance(x, JVPTracer) else x for x in primals]
tangents = [t"""
    },
    name="Boxes of lower levels are opened, too",
    hints=[
        "Take the second derivative of `x * x * x` at 3. What should it be, and what do you get?",
        "The primal in your box may itself be a box: one of an outer `jvp`, which has to see what the rule computes.",
        "Take `tracer.primal` and `tracer.tangent` as they are, and do not look into them.",
    ],
)
# An error inside a rule is taken for a missing rule.
mistake(
    {
        "    primal_out, tangent_out = rule(primals, tangents, **params)": "    try:\n        primal_out, tangent_out = rule(primals, tangents, **params)\n    except KeyError:\n        raise NotImplementedError(f'no rule of {primitive}') from None"
    },
    fails="test_some_operands_constant",
)
# a result that the rule says does not move has no box
mistake(
    {
        "= rule(primals, tangents, **params)": "= rule(primals, tangents, **params)\nif tangent_out is None:\n    return primal_out"
    },
    fails="test_what_the_rule_gets",
)
mistake(
    {"[None] * len(primal_out) if primitive.multiple_results else None": "None"},
    fails="test_several_results",
)
mistake(
    {"if all(tangent": "if primitive not in jvp_rules or all(tangent"}, fails="test_missing_rule"
)
mistake(
    {
        "return [JVPTracer": "boxes = [JVPTracer",
        "strict=True)]": "strict=True)]\nreturn boxes[0] if len(boxes) == 1 else boxes",
    },
    fails="test_several_results",
)
# If the first tangent is None, all are: the primitive gives constants.
mistake(
    {
        "return [JVPTracer": """if tangent_out[0] is None:
    tangent_out = [None] * len(primal_out)
return [JVPTracer"""
    },
    fails="test_several_results",
)
# Where nothing moves, a rule that is there is asked for the value.
mistake(
    {
        "primal_out = primitive.bind(*primals, **params)": "several = primitive.multiple_results\nif primitive in jvp_rules and not several:\n    primal_out, _ = jvp_rules[primitive](primals, tangents, **params)\nelse:\n    primal_out = primitive.bind(*primals, **params)"
    },
    fails="test_nothing_moves",
)
# a tangent that happens to be zero
mistake(
    {
        "= rule(primals, tangents, **params)": "= rule(primals, tangents, **params)\nif isinstance(tangent_out, float) and not tangent_out:\n    tangent_out = None"
    },
    fails="test_what_the_rule_gets",
)
mistake(
    {
        "= rule(primals, tangents, **params)": "= rule(primals, tangents, **params)\nif primitive.multiple_results:\n    primal_out = primitive.bind(*primals, **params)"
    },
    fails="test_several_results",
)
mistake({"in tangents)": "in tangents[:2])"}, fails="test_several_results")
mistake(
    {
        "rule = get_rule(": "if primitive.multiple_results and primitive not in jvp_rules:\n    return [JVPTracer(self, x, None) for x in primitive.bind(*primals, **params)]\nrule = get_rule("
    },
    fails="test_missing_rule",
)
# Among several results, a rule gets zeros for what does not move.
mistake(
    {"tangents,": "[0.0 if t is None and primitive.multiple_results else t for t in tangents],"},
    fails="test_several_results",
)
# Beside a constant, an operation without a rule counts as one that does not move.
mistake(
    {
        "if all(tangent": "if (primitive not in jvp_rules and any(t is None for t in tangents)) or all(tangent"
    },
    fails="test_missing_rule",
)
# Constants that are not tracers are evaluated, even if another interpreter takes them.
mistake(
    {
        "primal_out = primitive.bind(*primals, **params)": "from minijax.core import EvalTrace, trace_state\nbottom = EvalTrace(trace_state.stack[0])\nif any(isinstance(x, Tracer) for x in primals):\n    primal_out = primitive.bind(*primals, **params)\nelse:\n    primal_out = bottom.process_primitive(primitive, primals, params)"
    },
    fails="test_constants_need_no_rule",
)
# A rule is not used while it runs; so not for boxes inside boxes either.
mistake(
    {
        "params: dict[str, Any]": "params, running=set()",
        "primal_out, tangent_out = rule(primals, tangents, **params)": "if primitive in running:\n    return self.pure(primitive.bind(*primals, **params))\nrunning.add(primitive)\nprimal_out, tangent_out = rule(primals, tangents, **params)\nrunning.discard(primitive)",
    },
    fails="test_level_of_the_rule",
)
# An error names the first of the operations that are going on, which one that failed stays.
mistake(
    {
        "params: dict[str, Any]": "params, going_on=[]",
        "rule = get_rule(jvp_rules, primitive,": "going_on.append(primitive)\nrule = jvp_rules.get(primitive) or get_rule({}, going_on[0],",
        "primal_out, tangent_out = rule(primals, tangents, **params)": "primal_out, tangent_out = rule(primals, tangents, **params)\ngoing_on.pop()",
    },
    fails="test_missing_rule",
)


exercise("jvp.mul_rule")


@right
def bilinear_jvp(primitive, primals, tangents, **params):
    (x, y), (s, t) = primals, tangents
    z = primitive.bind(x, y, **params)
    if t is None:
        return z, primitive.bind(s, y, **params)
    last = primitive.bind(x, t, **params)
    return z, last if s is None else primitive.bind(s, y, **params) + last


@right(style="a fold over the terms that are there")
def bilinear_jvp(primitive, primals, tangents, **params):
    terms = []
    for i, t in enumerate(tangents):
        if t is not None:
            terms.append(
                primitive.bind(*(t if j == i else x for j, x in enumerate(primals)), **params)
            )
    return primitive.bind(*primals, **params), functools.reduce(add_tangents, terms, None)


@right(style="match on what moves; other order")
def bilinear_jvp(primitive, primals, tangents, **params):
    x, y = primals
    product = functools.partial(primitive.bind, **params)
    match tuple(tangents):
        case (t, None):
            slope = product(t, y)
        case (None, t):
            slope = product(x, t)
        case (s, t):
            second = product(x, t)
            slope = add_p.bind(second, product(s, y))
    return product(x, y), slope


mistake(
    {
        "from_x = ": "if x_dot is None or y_dot is None:\n    return z, None\nreturn z, primitive.bind(x_dot, y_dot, **params)\nfrom_x = "
    },
    name="The two tangents are multiplied by each other",
    hints=[
        "Let y be the constant 5. Then x * y moves by 5 for each unit of x. What does your rule return when the second tangent is `None`?",
        "The product of two small changes is very small indeed. It is the one term of (x + dx)(y + dy) that is left out.",
        "Multiply each tangent by the *other value*: `x_dot * y` and `x * y_dot`, each only if its tangent is not `None`, and add them.",
    ],
)
mistake(
    {"primitive.bind(x, t, **params)": "primitive.bind(t, x, **params)"},
    name="The operands of the second term are swapped",
    hints=[
        "Numbers can be multiplied in either order. Which products cannot?",
        "Write out (A + dA)(B + dB) for two matrices. On which side of A is dB?",
        "The tangent of the second operand takes the place of the second operand: `primitive.bind(x, t, **params)`.",
    ],
)
mistake(
    {"apply_linear(lambda t: primitive.bind(x, t, **params), y_dot)": "None"},
    name="Only the first operand counts",
    hints=[
        "What does your rule return for the derivative of x * x at 3? It should be 6.",
        "The product moves when its second operand moves, too.",
        "Add the mirror image of your term: `apply_linear(lambda t: primitive.bind(x, t, **params), y_dot)`, with `add_tangents`.",
    ],
)
mistake(
    {
        "z = primitive": """known = [getattr(get_aval(v), "val", 1.0) for v in (x, y)]
x_zero, y_zero = (np.ndim(v) == 0 and float(v) == 0.0 for v in known)
x_dot, y_dot = None if y_zero else x_dot, None if x_zero else y_dot
z = primitive"""
    },
    fails="test_mul_as_a_function",
)
# a square
mistake(
    {
        "z = primitive.bind(x, y, **params)": "z = primitive.bind(x, y, **params)\nif x is y and x_dot is not None:\n    half = primitive.bind(x, x_dot, **params)\n    return z, add(half, half)"
    },
    fails="test_mul_of_one_value_twice",
)
mistake(
    {
        "return z, add_tangents(from_x, from_y)": "if x is y and x_dot is y_dot:\n    return z, add(from_x, from_x)\nreturn z, add_tangents(from_x, from_y)"
    },
    fails="test_mul_of_one_value_twice",
)
mistake(
    {"(x, t, **params)": "(x, t, **(params if primitive is dot_general_p else {}))"},
    fails="test_product_with_parameters",
)
# Primitives that the lesson does not know get zeros.
mistake(
    {
        "return z, add": "if x_dot is None and primitive not in (mul_p, dot_general_p):\n    from_x = primitive.bind(zeros_like_aval(get_aval(x)), y, **params)\nreturn z, add"
    },
    fails="test_mul_work",
)
# A scalar counts as a constant factor of an array.
mistake(
    {
        "z = primitive": "if x_dot is not None and get_aval(x).shape and not get_aval(y).shape:\n    y_dot = None\nz = primitive"
    },
    fails="test_mul_shapes",
)


exercise("jvp.sum_rule")


@right
def sum_jvp(primitive, primals, tangents):
    z, (s, t) = primitive.bind(*primals), tangents
    t = apply_linear(neg, t) if primitive is sub_p else t
    return z, stretch_like(add_tangents(s, t), z)


@right(style="a list of the terms that are there, added up")
def sum_jvp(primitive, primals, tangents):
    out, (x_dot, y_dot) = primitive.bind(*primals), tangents
    terms = [x_dot] if x_dot is not None else []
    if y_dot is not None:
        terms.append(0.0 - y_dot if primitive is sub_p else y_dot)
    return out, stretch_like(functools.reduce(add, terms), out)


@right(style="a table from what moves to the tangent, repeated by hand")
def sum_jvp(primitive, primals, tangents):
    (a, b), out = tangents, primitive.bind(*primals)
    if a is not None and b is not None:
        move = primitive.bind(a, b)
    else:
        move = {(add_p, True): b, (sub_p, True): None if b is None else neg(b)}.get(
            (primitive, a is None), a
        )
    want, have = get_aval(out).shape, get_aval(move).shape
    axes = tuple(range(len(want)))[len(want) - len(have) :]
    return out, move if want == have else broadcast_in_dim(move, want, axes)


mistake(
    {"neg(y_dot) if primitive is sub_p else y_dot": "y_dot"},
    name="A difference moves with its second operand, not against it",
    hints=[
        "`sum_jvp(sub_p, [3.0, 2.0], [None, 1.0])`: y grows. Does x - y grow, too?",
        "If both operands move, the subtraction of the tangents takes care of the sign. If only `y` moves, nothing is subtracted.",
        "If `x_dot` is `None` and the primitive is `sub_p`, the tangent is `neg(y_dot)`.",
    ],
)
mistake(
    {"z = primitive": "stretch_like = lambda t, like: t\nz = primitive"},
    name="The tangent has the shape of the operand that moves",
    hints=[
        "Add a number that moves to a vector that does not. How many elements of the sum move?",
        "A tangent has the shape of its value: the value has three elements, so it takes three numbers to say how they move.",
        "`stretch_like(tangent, z)` repeats the tangent to the shape of the value `z`.",
    ],
)


# Zeros are made for a tangent that is None, and added.
@mistake(fails="test_sum_work")
def sum_jvp(primitive, primals, tangents):
    moves = [instantiate(t, get_aval(x)) for x, t in zip(primals, tangents)]
    return primitive.bind(*primals), primitive.bind(*moves)


# the tangents are always added
mistake({"primitive.bind(x_dot, y_dot)": "add_tangents(x_dot, y_dot)"}, fails="test_sum_both_move")
# x - x does not move
mistake(
    {
        "if x_dot is None": "if x is y and x_dot is y_dot and primitive is sub_p:\n    return z, None\nif x_dot is None"
    },
    fails="test_sum_as_a_function",
)
# Arrays of one element may have different shapes.
mistake(
    {
        "return z, stretch_like(x_dot": "if y_dot is None and np.size(x_dot) == np.size(z):\n    return z, x_dot\nreturn z, stretch_like(x_dot"
    },
    fails="test_sum_shapes_of_one_that_moves",
)
# stretches scalars only
mistake(
    {
        "z = primitive": "from minijax.jvp import stretch_like as stretch\nstretch_like = lambda t, like: t if get_aval(t).shape else stretch(t, like)\nz = primitive"
    },
    fails="test_sum_shapes_of_one_that_moves",
)
mistake(
    {"primitive is sub_p else": "primitive is sub_p and get_aval(y).shape else"},
    fails="test_sum_second_moves",
)
# x - x does not move, even if only one of them does
mistake(
    {
        "z = primitive.bind(x, y)": "z = primitive.bind(x, y)\nif x is y and y_dot is None and primitive is sub_p:\n    return z, zeros_like_aval(get_aval(z))"
    },
    fails="test_sum_as_a_function",
)
# The factor -1 is not weakly typed, as numbers are.
mistake(
    {"neg(y_dot)": "mul(np.asarray(-1.0, get_aval(y_dot).dtype), y_dot)"},
    fails="test_sum_as_a_function",
)


exercise("jvp.flat")


@right(style="an ExitStack; loops; the zeros are made after the block")
def jvp_flat(f, primals, tangents):
    from contextlib import ExitStack

    values, slopes = [], []
    with ExitStack() as stack:
        trace = JVPTrace(stack.enter_context(new_main(JVPTrace, "jvp")))
        boxes = []
        for i in range(len(primals)):
            boxes.append(JVPTracer(trace, primals[i], drop_float0(tangents[i])))
        for out in f(*boxes):
            box = full_raise(trace, out)
            values.append(box.primal)
            slopes.append(box.tangent)
    for i, value in enumerate(values):
        if slopes[i] is None:
            slopes[i] = zeros_like_aval(get_aval(value))
    return values, slopes


@right(style="nested functions, one for the way in and one for the way out")
def jvp_flat(f, primals, tangents):
    def pack(trace, pair):
        return JVPTracer(trace, pair[0], drop_float0(pair[1]))

    def unpack(box):
        return box.primal, instantiate(box.tangent, box.aval)

    with new_main(JVPTrace) as main:
        trace = JVPTrace(main)
        outs = f(*map(functools.partial(pack, trace), zip(primals, tangents, strict=True)))
        pairs = [unpack(full_raise(JVPTrace(main), out)) for out in outs]
    return [value for value, _ in pairs], [slope for _, slope in pairs]


mistake(
    {"instantiate(t.tangent, get_aval(t.primal))": "t.tangent"},
    name="Symbolic zeros come out as None",
    hints=[
        "What does a user get from differentiating `lambda x: [7.0]`? Can they compute with it?",
        "`None` is a private matter between the interpreter and its rules. Outside, zero is an array of zeros.",
        "`instantiate(t.tangent, get_aval(t.primal))` returns the tangent if there is one, and otherwise zeros that fit.",
    ],
)
mistake(
    {"full_raise(trace, out)": "out if isinstance(out, JVPTracer) else full_raise(trace, out)"},
    name="Any box that comes out is opened, no matter which level it belongs to",
    hints=[
        "The function may return a tracer that it did not get from you: one of a `jvp` around yours. What does your code do with it?",
        "Not every `JVPTracer` is *your* `JVPTracer`. Another level's tangent says how the value moves with a different input.",
        "Pass every output through `full_raise(trace, out)`, without asking for its type first. It leaves your own boxes alone, and boxes all others as constants.",
    ],
)
mistake(
    {"[full_raise(trace, out) for out in f(*tracers_in)]": "f(*tracers_in)"},
    name="Results that are constants are expected to have a box",
    hints=[
        "What does `jvp_flat(lambda x: [7.0], [3.0], [1.0])` get back from its function?",
        "A function may return a number that has never met a box. It has no `primal`.",
        "Pass every result through `full_raise(trace, out)` before you take it apart.",
    ],
)
# To NumPy a boolean is no integer, so its tangent stays what it is.
mistake(
    {
        "drop_float0(t)": "None if np.issubdtype(get_aval(x).dtype, np.integer) else t",
        ", strict=True": "",
    },
    fails="test_flat_boolean_inputs",
)
# Constants are boxed without a look at their interpreter, which may have ended.
mistake(
    {"(trace, out) for": "(trace, out) if isinstance(out, JVPTracer) else trace.pure(out) for"},
    fails="test_flat_escaped_output",
)
# The boxes take the places of the results in the list of f.
mistake(
    {
        "tracers_out = [full_raise(trace, out) for out in f(*tracers_in)]": "tracers_out = f(*tracers_in)\ntracers_out[:] = [full_raise(trace, out) for out in tracers_out]"
    },
    fails="test_flat_constant_outputs",
)
mistake(
    {
        "return": """pairs = list(zip(primals_out, tangents_out))
primals_out, tangents_out = map(list, zip(*pairs))
return"""
    },
    fails="test_flat_passes_values_through",
)
# zeros are kept by their type: if they were made while a program was recorded, they are its tracers
mistake(
    {
        "tangents: Sequence[Tangent]": "tangents, kept={}",
        "instantiate(t.tangent, get_aval(t.primal))": "kept.setdefault((t.aval.str_short(), t.weak_type), zeros_like_aval(t.aval)) if t.tangent is None else t.tangent",
    },
    fails="test_flat_instantiates_zeros",
)
mistake({"drop_float0(t)": "drop_float0(t) if np.size(t) else t"}, fails="test_flat_integer_inputs")
mistake(
    {"drop_float0(t)": "drop_float0(t) if isinstance(t, np.ndarray) else t"},
    fails="test_flat_integer_inputs",
)
# A list without a box is used up.
mistake(
    {
        "tracers_out = [full_raise(trace, out) for out in f(*tracers_in)]": "outs = f(*tracers_in)\ntracers_out = [full_raise(trace, out) for out in outs]\nif not any(isinstance(out, Tracer) for out in outs):\n    outs.clear()"
    },
    fails="test_flat_constant_outputs",
)
# An integer becomes an array, which is not weakly typed.
mistake(
    {
        "[t.primal for t in tracers_out]": "[np.asarray(x) if isinstance(x, int) else x for x in (t.primal for t in tracers_out)]"
    },
    fails="test_flat_constant_outputs",
)
# A generator turns a StopIteration of f into a RuntimeError.
mistake(
    {"for out in f(*tracers_in)]": "for out in next(f(*boxes) for boxes in [tracers_in])]"},
    fails="test_flat_after_an_error",
)
# A tangent that is a number becomes an array, which is not weakly typed.
mistake(
    {"drop_float0(t)": "drop_float0(np.asarray(t) if isinstance(t, float) else t)"},
    fails="test_flat_as_a_function",
)
