"""Answers to the exercises of the lesson jvp: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("jvp.add_tangents")
def add_tangents(a, b):
    return b if a is None else a if b is None else a + b


@mistake(
    "jvp.add_tangents",
    name="A symbolic zero swallows the other tangent",
    hints=[
        "What is zero plus five? Compare with what your function gives for `add_tangents(None, 5.0)`.",
        "`None` is the number zero here, not 'unknown': it adds nothing, and it takes nothing away.",
        "Where `a` is `None` return `b`, and where `b` is `None` return `a`. Only where both are `None` is the sum `None`, and the first case covers that.",
    ],
)
def add_tangents(a, b):
    if a is None or b is None:
        return None
    return a + b


@right("jvp.pure")
def pure(self, val):
    return JVPTracer(self, val, None)


@mistake(
    "jvp.pure",
    name="The tangent of a constant is one",
    hints=[
        "By how much does the constant 2 move when the input of the function moves?",
        "One is the derivative of the *input* with respect to itself. A constant does not depend on the input at all.",
        "The tangent of a constant is zero, and the zero of this module that costs nothing is `None`.",
    ],
)
def pure(self, val):
    aval = get_aval(val)
    return JVPTracer(self, val, np.ones(aval.shape, aval.dtype))


@mistake(
    "jvp.pure",
    name="The tangent of another jvp is taken for one's own (perturbation confusion)",
    hints=[
        "With two uses of `jvp`, one inside the other, there are two inputs that move. Which of the two does the tangent inside a box of the lower level belong to?",
        "Take `jvp(lambda x: jvp(lambda y: x, (3.0,), (1.0,))[1], (2.0,), (1.0,))`. The inner function does not depend on `y`, so its derivative is 0. What does yours give?",
        "A tracer of a lower level is a constant for this one. Box it whole, `val` as it is, and do not look at `val.tangent`.",
    ],
)
def pure(self, val):
    tangent = val.tangent if isinstance(val, JVPTracer) else None
    return JVPTracer(self, val, tangent)


@right("jvp.process_primitive")
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


@mistake(
    "jvp.process_primitive",
    name="One constant operand makes the whole result a constant",
    hints=[
        "What is the derivative of `x * 2.0`? One of the two operands is a constant there.",
        "The shortcut without a rule is for operations in which nothing moves. `x * 2.0` moves as long as `x` does.",
        "The condition asks whether *all* tangents are `None`, not whether *any* is. Rules know what to do with a `None` among their tangents.",
    ],
)
def process_primitive(self, primitive, tracers, params):
    primals = [t.primal for t in tracers]
    tangents = [t.tangent for t in tracers]
    if any(tangent is None for tangent in tangents):
        primal_out = primitive.bind(*primals, **params)
        tangent_out = [None] * len(primal_out) if primitive.multiple_results else None
    else:
        rule = get_rule(jvp_rules, primitive, "Differentiation rule")
        primal_out, tangent_out = rule(primals, tangents, **params)
    if not primitive.multiple_results:
        return JVPTracer(self, primal_out, tangent_out)
    return [JVPTracer(self, x, t) for x, t in zip(primal_out, tangent_out)]


@mistake(
    "jvp.process_primitive",
    name="The rule is called although nothing moves",
    hints=[
        "What does `sin_jvp` compute when its one tangent is `None`?",
        "A rule may count on at least one tangent that is not `None`. And a primitive that has no rule must still work on constants.",
        "Before you look for a rule: if all tangents are `None`, the result is `primitive.bind(*primals, **params)` with the tangent `None`.",
    ],
)
def process_primitive(self, primitive, tracers, params):
    primals = [t.primal for t in tracers]
    tangents = [t.tangent for t in tracers]
    rule = get_rule(jvp_rules, primitive, "Differentiation rule")
    primal_out, tangent_out = rule(primals, tangents, **params)
    if not primitive.multiple_results:
        return JVPTracer(self, primal_out, tangent_out)
    return [JVPTracer(self, x, t) for x, t in zip(primal_out, tangent_out)]


@mistake(
    "jvp.process_primitive",
    name="The parameters do not reach the rule",
    hints=[
        "How does the rule of `reduce_sum` know along which axes the tangent is to be added up?",
        "What is no array (axes, shapes, dtypes) comes to this method in the dict `params`. Follow it: where does it go in your code?",
        "Hand it on by keyword, to the rule as well as to `bind`: `rule(primals, tangents, **params)`.",
    ],
)
def process_primitive(self, primitive, tracers, params):
    primals = [t.primal for t in tracers]
    tangents = [t.tangent for t in tracers]
    if all(tangent is None for tangent in tangents):
        primal_out = primitive.bind(*primals, **params)
        tangent_out = [None] * len(primal_out) if primitive.multiple_results else None
    else:
        rule = get_rule(jvp_rules, primitive, "Differentiation rule")
        primal_out, tangent_out = rule(primals, tangents)
    if not primitive.multiple_results:
        return JVPTracer(self, primal_out, tangent_out)
    return [JVPTracer(self, x, t) for x, t in zip(primal_out, tangent_out)]


@right("jvp.cos_rule")
def cos_jvp(xs, ts):
    return cos(xs[0]), -(sin(xs[0]) * ts[0])


@mistake(
    "jvp.cos_rule",
    name="The minus sign of the cosine's derivative is missing",
    hints=[
        "Look at the curve of cos a little to the right of 0. Does it rise or fall there?",
        "For a small positive x, cos falls while sin(x) is positive. Your rule says that it rises.",
        "The derivative of cos is -sin: the tangent is `-sin(x) * x_dot`.",
    ],
)
def cos_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return cos(x), sin(x) * x_dot


@right("jvp.mul_rule")
def mul_jvp(primals, tangents):
    (x, y), (s, t) = primals, tangents
    z = mul_p.bind(x, y)
    return z, y * s if t is None else x * t if s is None else x * t + y * s


@mistake(
    "jvp.mul_rule",
    name="The two tangents are multiplied with each other",
    hints=[
        "Let y be the constant 5. Then x * y moves by 5 for each unit of x. What does your rule give where the second tangent is `None`?",
        "The product of two small changes is very small indeed. It is the one term of (x + dx)(y + dy) that is left out.",
        "Multiply each tangent with the *other value*: `x_dot * y` and `x * y_dot`, each where its tangent is not `None`, and add them.",
    ],
)
def mul_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    z = mul_p.bind(x, y)
    if x_dot is None or y_dot is None:
        return z, None
    return z, x_dot * y_dot


@mistake(
    "jvp.mul_rule",
    name="Each tangent is multiplied with its own operand",
    hints=[
        "Let y be the constant 5, and x = 3. By how much does x * y move for each unit of x: by 5, or by 3?",
        "Write (x + dx)(y + dy) out. Which value stands beside dx in its term?",
        "`x_dot` is multiplied with `y`, and `y_dot` with `x`.",
    ],
)
def mul_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    from_x = apply_linear(lambda t: t * x, x_dot)
    from_y = apply_linear(lambda t: y * t, y_dot)
    return mul_p.bind(x, y), add_tangents(from_x, from_y)


@mistake(
    "jvp.mul_rule",
    name="Only the first operand counts",
    hints=[
        "What does your rule give for the derivative of x * x at 3? It should be 6.",
        "The product moves when its second operand moves, too.",
        "Add the mirror image of your term: `apply_linear(lambda t: x * t, y_dot)`, with `add_tangents`.",
    ],
)
def mul_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    return mul_p.bind(x, y), apply_linear(lambda t: t * y, x_dot)


@right("jvp.div_rule")
def div_jvp(primals, tangents):
    (x, y), (s, t) = primals, tangents
    z = div_p.bind(x, y)
    up = None if s is None else div_p.bind(s, y)
    down = None if t is None else z * div_p.bind(t, y)
    return z, up if down is None else -down if up is None else up - down


@mistake(
    "jvp.div_rule",
    name="The quotient rule has a plus in place of the minus",
    hints=[
        "When the denominator grows, does the quotient grow or shrink? Take 6 / 2 and 6 / 3.",
        "The derivative of 1 / y is -1 / y**2: for positive numbers it is negative.",
        "What `y_dot` contributes is `-z / y * y_dot`, with z = x / y.",
    ],
)
def div_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    z = div_p.bind(x, y)
    from_x = apply_linear(lambda t: div_p.bind(t, y), x_dot)
    from_y = apply_linear(lambda t: z / y * t, y_dot)
    return z, add_tangents(from_x, from_y)


@mistake(
    "jvp.div_rule",
    name="The denominator's part is divided by y only once",
    hints=[
        "Check your rule with numbers: how far does 6 / y move from y = 2 to y = 2.01?",
        "The derivative of x / y with respect to y is -x / y**2. Count the divisions by y in your code.",
        "With z = x / y that is -z / y: take the quotient `z`, not the numerator `x`, and divide it once more.",
    ],
)
def div_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    z = div_p.bind(x, y)
    from_x = apply_linear(lambda t: div_p.bind(t, y), x_dot)
    from_y = apply_linear(lambda t: -z * t, y_dot)
    return z, add_tangents(from_x, from_y)


@right("jvp.linear_rule")
def linear_jvp(primitive, primals, tangents, **params):
    return tuple(primitive.bind(x, **params) for (x,) in (primals, tangents))


@mistake(
    "jvp.linear_rule",
    name="The tangent goes through a linear operation unchanged",
    hints=[
        "The sum of three numbers is one number. How many numbers does its tangent have?",
        "A linear operation does not leave changes as they are: it does to them what it does to values. A sum adds them up, a transpose moves their axes.",
        "Bind the primitive on the tangent, too, with the same params: `primitive.bind(x_dot, **params)`.",
    ],
)
def linear_jvp(primitive, primals, tangents, **params):
    (x,), (x_dot,) = primals, tangents
    return primitive.bind(x, **params), x_dot


@right("jvp.flat")
def jvp_flat(f, primals, tangents):
    with new_main(JVPTrace) as main:
        trace = JVPTrace(main)
        boxes = [JVPTracer(trace, x, drop_float0(t)) for x, t in zip(primals, tangents)]
        outs = [full_raise(trace, out) for out in f(*boxes)]
        return [x.primal for x in outs], [instantiate(x.tangent, get_aval(x.primal)) for x in outs]


@mistake(
    "jvp.flat",
    name="Symbolic zeros come out as None",
    hints=[
        "What does a user get who differentiates `lambda x: [7.0]`, and can the user compute with it?",
        "`None` is a private matter between the interpreter and its rules. Outside, zero is an array of zeros.",
        "`instantiate(t.tangent, get_aval(t.primal))` gives the tangent where there is one, and zeros that fit where there is none.",
    ],
)
def jvp_flat(f, primals, tangents):
    with new_main(JVPTrace) as main:
        trace = JVPTrace(main)
        tracers_in = [JVPTracer(trace, x, drop_float0(t)) for x, t in zip(primals, tangents)]
        tracers_out = [full_raise(trace, out) for out in f(*tracers_in)]
        primals_out = [t.primal for t in tracers_out]
        tangents_out = [t.tangent for t in tracers_out]
    return primals_out, tangents_out


@mistake(
    "jvp.flat",
    name="Any box that comes out is opened, whoever it belongs to",
    hints=[
        "The function may return a tracer that it did not get from you: one of a `jvp` around yours. What does your code do with it?",
        "That a value is a `JVPTracer` does not say that it is *your* `JVPTracer`. Another level's tangent tells how the value moves with another input.",
        "Pass every output through `full_raise(trace, out)`, without asking for its type first. It leaves your own boxes alone, and boxes all others as constants.",
    ],
)
def jvp_flat(f, primals, tangents):
    with new_main(JVPTrace) as main:
        trace = JVPTrace(main)
        tracers_in = [JVPTracer(trace, x, drop_float0(t)) for x, t in zip(primals, tangents)]
        outs = f(*tracers_in)
        tracers_out = [x if isinstance(x, JVPTracer) else full_raise(trace, x) for x in outs]
        primals_out = [t.primal for t in tracers_out]
        tangents_out = [instantiate(t.tangent, get_aval(t.primal)) for t in tracers_out]
    return primals_out, tangents_out


@right("jvp.jvp")
def jvp(fun, primals, tangents):
    if not all(isinstance(given, (list, tuple)) for given in (primals, tangents)):
        raise TypeError("jvp takes tuples")
    (xs, tree), (ts, other_tree) = tree_flatten(primals), tree_flatten(tangents)
    if tree != other_tree:
        raise TypeError("jvp takes arguments and tangents of one structure")
    list(map(check_tangent, xs, ts))
    flat_fun, out_tree = flatten_fun(fun, tree)
    outs = jvp_flat(flat_fun, xs, ts)
    return tuple(tree_unflatten(out_tree(), x) for x in outs)


@mistake(
    "jvp.jvp",
    name="The tangents come back in the containers of the arguments",
    hints=[
        "A function takes a dict and returns a pair. Which of the two should its tangent be?",
        "The second result says how the function's *result* changes, leaf by leaf.",
        "Use `out_tree()` for both results: `tree_unflatten(out_tree(), tangents_out)`.",
    ],
)
def jvp(f, primals, tangents):
    for arguments in (primals, tangents):
        if not isinstance(arguments, (tuple, list)):
            raise TypeError("primals and tangents of jvp must be tuples or lists.")
    primals_flat, in_tree = tree_flatten(primals)
    tangents_flat, tangents_tree = tree_flatten(tangents)
    if in_tree != tangents_tree:
        raise TypeError("primals and tangents of jvp must have the same tree structure.")
    for primal, tangent in zip(primals_flat, tangents_flat):
        check_tangent(primal, tangent)
    flat_f, out_tree = flatten_fun(f, in_tree)
    primals_out, tangents_out = jvp_flat(flat_f, primals_flat, tangents_flat)
    return tree_unflatten(out_tree(), primals_out), tree_unflatten(in_tree, tangents_out)
