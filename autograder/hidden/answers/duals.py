"""Answers to the exercises of the `duals` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("duals.mul_rule")


@right
def mul_jvp(primals, tangents):
    x, y = primals
    return mul(y, x), add(mul(y, tangents[0]), mul(tangents[1], x))


@right(style="zip over operands with the tangents reversed")
def mul_jvp(primals, tangents):
    terms = [mul(p, t) for p, t in zip(primals, reversed(tangents), strict=True)]
    return mul(*primals), add(*terms)


@right(style="terms in the other order, product last, a lambda")
def mul_jvp(primals, tangents):
    by = lambda i: mul(tangents[i], primals[1 - i])
    second, first = by(1), by(0)
    tangent = add(second, first)
    return mul(primals[0], primals[1]), tangent


mistake(
    {"add(mul(x, y_dot), mul(x_dot, y))": "mul(x_dot, y_dot)"},
    name="The tangent of a product is the product of the tangents",
    hints=[
        "Test your rule on x * 2, where x moves by 1 and the 2 does not move. Does the product move?",
        "Multiply out (x + x_dot eps) and (y + y_dot eps). The product of the tangents is the factor of eps squared: the one term that is left out.",
        "The factor of eps has two terms, x times `y_dot` and `x_dot` times y. Add them.",
    ],
)
mistake(
    {"(x, y_dot), mul(x_dot, y)": "(x, x_dot), mul(y, y_dot)"},
    name="Each tangent is multiplied by its own operand",
    hints=[
        "Let y be the constant 5, and x = 3. By how much does x * y move for each unit of x: by 5, or by 3?",
        "Multiply out (x + x_dot eps) and (y + y_dot eps). By which value is `x_dot` multiplied?",
        "`x_dot` is multiplied by y, and `y_dot` by x.",
    ],
)
mistake(
    {"return mul(x, y), add(mul(x, y_dot), mul(x_dot, y))": "return x * y, x * y_dot + x_dot * y"},
    name="Products and sums are computed with Python's operators",
    hints=[
        "Take the derivative of a derivative of `mul(x, x)`. What are the operands of your rule then?",
        "Primals and tangents do not have to be floats: in a derivative of a derivative they are dual numbers, for which `*` and `+` mean nothing.",
        "Write `mul(x, y)` for x * y and `add(a, b)` for a + b, everywhere in the rule.",
    ],
)
# a product that is zero does not move
mistake(
    {
        "mul(x, y), add(": "out, add(",
        "return": "out = mul(x, y)\nif out == 0.0:\n    return out, mul(0.0, x_dot)\nreturn",
    },
    fails="test_product_of_huge_values",
)
# a square apart, 2 x x', though the two operands may move differently
mistake(
    {"return mul": "if x is y:\n    return mul(x, x), mul(mul(2.0, x), x_dot)\nreturn mul"},
    fails="test_product_of_equal_operands",
)
# no product with a tangent that is a whole zero
mistake(
    {
        "return mul": "if type(x_dot) is int and x_dot == 0:\n    return mul(x, y), mul(x, y_dot)\nreturn mul"
    },
    fails="test_product_with_a_first_that_rests",
)
# keeps products of floats, and does not ask again
mistake(
    {
        "return mul(x, y),": 'known, key = vars(mul_jvp), f"{primals} {tangents}"\nif key in known:\n    return known[key]\nknown[key] = mul(x, y),',
        "mul(x_dot, y))": "mul(x_dot, y))\nreturn known[key]",
    },
    fails="test_product_of_two_that_move",
)
# what another interpreter may have as a value is taken for no tangent
mistake(
    {"return mul": "x_dot, y_dot = (0.0 if t is None else t for t in tangents)\nreturn mul"},
    fails="test_product_under_another_interpreter",
)


exercise("duals.lift")


@right
def lift(self, x):
    match x:
        case DualNumber(interpreter=owner) if owner is self:
            return x
    return DualNumber(self, x, 0.0)


@right
def lift(self, x):
    if getattr(x, "interpreter", None) is not self:
        x = DualNumber(interpreter=self, primal=x, tangent=0.0)
    return x


@right(style="getattr and type; a helper that boxes")
def lift(self, x):
    def box(constant):
        return DualNumber(self, constant, 0.0)

    mine = type(x) is DualNumber and getattr(x, "interpreter", None) is self
    return [box, lambda x: x][mine](x)


mistake(
    {"if isinstance(x, DualNumber) and x.interpreter is self:": "if isinstance(x, DualNumber):"},
    name="Any dual number is treated as your own (perturbation confusion)",
    hints=[
        "With a derivative inside a derivative there are two inputs that move. Which of the two does the tangent of this dual number belong to?",
        "Not every dual number is *your* dual number. Each one knows which interpreter it belongs to.",
        "Ask for both: that `x` is a `DualNumber`, and that `x.interpreter is self`. Everything else is a constant.",
    ],
)
mistake(
    {
        "if isinstance(x, DualNumber) and x.interpreter is self:": "if isinstance(x, DualNumber):",
        "return x": "return x if x.interpreter is self else DualNumber(self, x.primal, 0.0)",
    },
    name="A dual number of another interpreter is opened",
    hints=[
        "A dual number of another interpreter holds a tangent that the other one will want to see again. Where is it after your `lift`?",
        "Such a value is a constant *here*, but it moves for the outer interpreter. It has to go through this interpreter unharmed.",
        "Put it in as a whole: the primal of the new dual number is `x` itself, not `x.primal`.",
    ],
)
mistake(
    {"return DualNumber(self, x, 0.0)": "return DualNumber(self, x, 1.0)"},
    name="The tangent of a constant is one",
    hints=[
        "By how much does the constant 3 move when the input of the function moves?",
        "One is the derivative of the *input* with respect to itself. A constant does not depend on the input.",
        "The tangent of a constant is 0.0.",
    ],
)
# equal interpreters are taken for one
mistake({"x.interpreter is self": "x.interpreter == self"}, fails="test_lifting_what_was_lifted")
# a list is lifted by elements
mistake(
    {"return Dual": "if isinstance(x, list):\n    return [*map(self.lift, x)]\nreturn Dual"},
    fails="test_constants",
)
# asks whether a constant is true
mistake({"(self, x, 0.0)": "(self, x or x, 0.0)"}, fails="test_constants")
# a constant moves by minus zero
mistake({"(self, x, 0.0)": "(self, x, -0.0)"}, fails="test_constants")
# a number of the interpreter above is opened if it rests there
mistake(
    {
        "return Dual": "if isinstance(x, DualNumber) and x.interpreter.prev_interpreter is self:\n    x = x if x.tangent else x.primal\nreturn Dual"
    },
    fails="test_dual_numbers_of_another_one",
)
# a number whose tangent is None rests
mistake(
    {"return x": "return x if x.tangent is not None else DualNumber(self, x.primal, 0.0)"},
    fails="test_own_dual_numbers",
)
# a tuple of dual numbers becomes a dual number of tuples
mistake(
    {
        "return Dual": "if isinstance(x, tuple) and x and all(isinstance(v, DualNumber) for v in x):\n    return DualNumber(self, tuple(v.primal for v in x), tuple(v.tangent for v in x))\nreturn Dual"
    },
    fails="test_own_dual_numbers",
)
# two values that are equal are lifted once, and a zero is minus zero
mistake(
    {
        "return DualNumber(self, x, 0.0)": "known = vars(self).setdefault('known', {})\nreturn known.setdefault(repr(x), DualNumber(self, x, 0.0))"
    },
    fails="test_constants",
)


exercise("duals.interpret_op")


@right
def interpret_op(self, op, args):
    pairs = [(d.primal, d.tangent) for d in map(self.lift, args)]
    with set_interpreter(self.prev_interpreter):
        out = jvp_rules[op](*zip(*pairs))
    return DualNumber(self, *out)


@right
def interpret_op(self, op, args):
    primals, tangents = (), ()
    for arg in args:
        dual = self.lift(arg)
        primals, tangents = (*primals, dual.primal), (*tangents, dual.tangent)
    with set_interpreter(self.prev_interpreter):
        result = jvp_rules[op](primals, tangents)
    return self.lift(DualNumber(self, result[0], result[1]))


@right(style="an inner function runs the rule; lists grown in a loop")
def interpret_op(self, op, args):
    primals, tangents = [], []
    for arg in args:
        boxed = self.lift(arg)
        tangents.append(boxed.tangent)
        primals.append(boxed.primal)

    def apply(rule):
        with set_interpreter(self.prev_interpreter):
            return rule(tuple(primals), tuple(tangents))

    answer = apply(jvp_rules[op])
    return DualNumber(interpreter=self, tangent=answer[1], primal=answer[0])


mistake(
    {
        "with set": "from microjax.interpreters import EvalInterpreter\n\nwith set",
        "self.prev_interpreter": "EvalInterpreter()",
    },
    name="The rule always runs under evaluation, whichever interpreter was current before",
    hints=[
        "In a derivative of a derivative, what is inside the inner dual numbers: floats?",
        "Evaluation is one of the interpreters that may have been current when differentiation began. It may be a different one.",
        "The one that was there before is `self.prev_interpreter`. Make it current while the rule runs.",
    ],
)
mistake(
    {"DualNumber(self,": "DualNumber(self.prev_interpreter,"},
    name="The result is marked as belonging to the previous interpreter",
    hints=[
        "What does `lift` do with your result, when it is an operand of the next operation?",
        "A dual number belongs to the interpreter that made it. The one before it knows nothing of its tangent.",
        "The first field of the result is `self`, as in `lift`.",
    ],
)
mistake(
    {"jvp_rules[op](primals, tangents)": "(jvp_rules[op](primals, tangents)[i] for i in range(2))"},
    name="The rule is called once for each part of the result",
    hints=[
        "Count the operations of `jvp(lambda y: mul(y, y), x, 1.0)`. There should be four.",
        "A rule returns a pair. Calling it once for each part does all the work twice.",
        "Unpack the pair: `primal, tangent = jvp_rules[op](primals, tangents)`.",
    ],
)
# an operation that was there before does not call its rule again
mistake(
    {
        "duals =": "known, key = vars(self).setdefault('known', {}), (op, *map(id, args))\nduals =",
        "primal_out, tangent_out =": "known[key] = known.get(key) or (args, *",
        "(primals, tangents)": "(primals, tangents))",
        "primal_out, tangent_out)": "*known[key][1:])",
    },
    fails="test_what_the_rule_gets",
)
# what is false is no constant
mistake({"self.lift(arg)": "self.lift(arg or 0.0)"}, fails="test_constants_among_the_operands")
# equal constants are lifted once: 1.0 and True are one
mistake(
    {
        "duals = [self.lift(arg) for arg in args]": "duals = [self.lift(args[0]), self.lift(args[1])]\nif type(args[0]) is float and args[0] == args[1]:\n    duals[1] = duals[0]"
    },
    fails="test_constants_among_the_operands",
)
# a rule that divides by zero has no value
mistake(
    {
        "primal_out, tangent_out =": "try:\n    out = jvp_rules[op](primals, tangents)\nexcept ZeroDivisionError:\n    out = None, None\nprimal_out, tangent_out =",
        "_out = jvp_rules[op](primals, tangents)": "_out = out",
    },
    fails="test_a_rule_that_fails",
)
# what the interpreter before has made is opened
mistake(
    {
        "duals =": "before = self.prev_interpreter\nargs = [\n    x.primal if isinstance(x, DualNumber) and x.interpreter is before else x for x in args\n]\nduals ="
    },
    fails="test_operands_of_another_interpreter",
)
# the interpreter of what is inside applies the rule
mistake(
    {
        "set_interpreter(self.prev_interpreter)": "set_interpreter(getattr(primals[0], 'interpreter', self.prev_interpreter))"
    },
    fails="test_operands_of_another_interpreter",
)
# makes the interpreter current again that was so the first time
mistake(
    {
        "with set": "from microjax.interpreters import context\n\nfirst = vars(self).setdefault('first', current_interpreter())\nwith set",
        "return": "context.interpreter = first\nreturn",
    },
    fails="test_the_rule_of_products_is_applied_before",
)


exercise("duals.jvp")


@right
def jvp(f, primal, tangent):
    mine = JVPInterpreter(current_interpreter())
    with set_interpreter(mine):
        out = mine.lift(f(DualNumber(mine, primal, tangent)))
        return out.primal, out.tangent


@right
def jvp(f, primal, tangent):
    mine = JVPInterpreter(current_interpreter())
    with set_interpreter(mine):
        out = f(DualNumber(mine, primal, tangent))
    if isinstance(out, DualNumber) and out.interpreter is mine:
        return out.primal, out.tangent
    return out, 0.0


@right(style="a new subclass of JVPInterpreter for each use; result kept in a list")
def jvp(f, primal, tangent):
    class ThisUse(JVPInterpreter):
        def start(self):
            return DualNumber(self, primal, tangent)

    use, results = ThisUse(current_interpreter()), []
    with set_interpreter(use):
        results.append(f(use.start()))
    (out,) = map(use.lift, results)
    return out.primal, out.tangent


mistake(
    {"lift(result)": "lift(result) if type(result) is not DualNumber else result"},
    name="A result from outside is opened (perturbation confusion)",
    hints=[
        "The function may return a dual number that it did not get from you. What does your code do with it?",
        "A dual number of an outer interpreter is a constant, as seen from here: for this derivative it does not move.",
        "Do not ask what type the result has. `interpreter.lift(result)` leaves your own dual numbers alone, and turns everything else into constants.",
    ],
)
mistake(
    {"(interpreter, primal, tangent)": "(interpreter, primal, 1.0)"},
    name="The speed of the input is forgotten",
    hints=[
        "Compare `jvp(f, 2.0, 1.0)` with `jvp(f, 2.0, 10.0)`. How should they differ?",
        "When the input moves ten times as fast, so does the result.",
        "The dual number that the function gets holds `primal` and `tangent`, both as they were given.",
    ],
)
mistake(
    {"interpreter.lift(result)": "result"},
    name="The result is not lifted",
    hints=[
        "What does `jvp(lambda x: 5.0, 2.0, 1.0)` do?",
        "A function may return a constant, which has neither a primal nor a tangent.",
        "Call `interpreter.lift` on what `f` returns; take `.primal` and `.tangent` from its answer.",
    ],
)
# evaluates below, whichever interpreter is current
mistake(
    {
        "current_interpreter()": "now if isinstance(now, JVPInterpreter) else EvalInterpreter()",
        "interpreter = JVP": "now = current_interpreter()\ninterpreter = JVP",
        "now = ": "from microjax.interpreters import EvalInterpreter\n\nnow = ",
    },
    fails="test_one_call_of_the_function",
)
# a function that goes too deep runs again, with more room
mistake(
    {
        "result = f(DualNumber(interpreter, primal, tangent))": "import sys\n\ndual = DualNumber(interpreter, primal, tangent)\ntry:\n    result = f(dual)\nexcept RecursionError:\n    sys.setrecursionlimit(100_000)\n    result = f(dual)"
    },
    fails="test_a_function_that_fails",
)
# an input that rests by a whole zero is no dual number
mistake(
    {
        "interpreter = ": "if type(tangent) is int and not tangent:\n    return f(primal), 0.0\ninterpreter = "
    },
    fails="test_one_call_of_the_function",
)
# a pair is opened if the input is in it
mistake(
    {
        "dual = ": "if isinstance(result, tuple) and any(isinstance(x, DualNumber) for x in result):\n    result = result[0]\ndual = "
    },
    fails="test_constant_results",
)
# the interpreter of the input does the arithmetic, whichever is current
mistake(
    {
        "current_interpreter()": "primal.interpreter if isinstance(primal, DualNumber) else current_interpreter()"
    },
    fails="test_jvp_of_jvp",
)
# a result of the interpreter before is opened if it rests there
mistake(
    {
        "dual = ": "if isinstance(result, DualNumber) and result.interpreter is interpreter.prev_interpreter:\n    result = result if result.tangent else result.primal\ndual = "
    },
    fails="test_a_result_from_outside",
)
# the input moves forwards only
mistake(
    {"primal, tangent))": "primal, abs(tangent) if isinstance(tangent, float) else tangent))"},
    fails="test_speed_of_the_input",
)
# what a function wraps is called
mistake(
    {
        "result = f(DualNumber(interpreter, primal, tangent))": "f = getattr(f, '__wrapped__', f)\nresult = f(DualNumber(interpreter, primal, tangent))"
    },
    fails="test_one_call_of_the_function",
)
# one interpreter above each other one: two uses inside a third share it
mistake(
    {
        "interpreter = ": "now = current_interpreter()\ninterpreter = ",
        "with set": "if isinstance(now, JVPInterpreter):\n    interpreter = vars(now).setdefault('above', interpreter)\nwith set",
    },
    fails="test_each_use_is_a_new_one",
)
# the interpreter of a use that has ended is taken again for the next one
mistake(
    {
        "interpreter = JVPInterpreter(current_interpreter())": "free = vars(jvp).setdefault('free', [])\ninterpreter = free.pop() if free else JVPInterpreter(current_interpreter())\ninterpreter.prev_interpreter = current_interpreter()",
        "dual = ": "free.append(interpreter)\ndual = ",
    },
    fails="test_each_use_is_a_new_one",
)
# each use inside another is above the first one, even after one that failed
mistake(
    {
        "interpreter = JVPInterpreter(current_interpreter())": "stack = vars(jvp).setdefault('stack', [current_interpreter()])\ninterpreter = JVPInterpreter(stack[-1])\nstack.append(interpreter)",
        "dual = ": "stack.pop()\ndual = ",
    },
    fails="test_a_function_that_fails",
)


exercise("duals.mixed")


@right
def mixed_derivatives(f, x, y):
    outer = JVPInterpreter(current_interpreter())
    inner = JVPInterpreter(outer)
    with set_interpreter(inner):
        result = inner.lift(f(DualNumber(outer, x, 1.0), DualNumber(inner, y, 1.0)))
    value, by_y = outer.lift(result.primal), outer.lift(result.tangent)
    return value.primal, value.tangent, by_y.primal, by_y.tangent


@right(style="jvp of jvp, which keeps the value and the outer input")
def mixed_derivatives(f, x, y):
    kept = []

    def by_y(x):
        value, slope = jvp(lambda y: f(x, y), y, 1.0)
        kept.append(x.interpreter.lift(value))
        return slope

    slopes = jvp(by_y, x, 1.0)
    return kept[0].primal, kept[0].tangent, *slopes


mistake(
    {"value.tangent, by_y.primal": "by_y.primal, value.tangent"},
    name="The two derivatives are swapped",
    hints=[
        "Take a function that ignores y. Which of your four numbers are 0?",
        "Which of the two inputs belongs to the outer interpreter? Its tangents are what that one's dual numbers hold.",
        "The tangent of the value, as a dual number of the outer interpreter, is the derivative with respect to the input that moves there: x.",
    ],
)
mistake(
    {
        "value, by_y = map(outer.lift, jvp(lambda y: f": "value = outer.lift(f",
        ", y), y, 1.0))": ", DualNumber(outer, y, 1.0)))",
        "by_y.primal, by_y.tangent": "value.tangent, 0.0",
    },
    name="Both inputs move for the same interpreter",
    hints=[
        "What do you return for a function that only adds its inputs?",
        "If both inputs have tangents of the same interpreter, these are added up, and cannot be taken apart again.",
        "Let x be a dual number of one interpreter, and y one of a second interpreter above it.",
    ],
)
# what is zero does not move
mistake(
    {"by_y.primal, by_y.tangent": "by_y.primal, by_y.tangent if by_y.primal else 0.0"},
    fails="test_mixed_of_polynomials",
)
# a function that fails runs again
mistake(
    {
        "value, by_y": "try:\n    halves = jvp(lambda y: f(DualNumber(outer, x, 1.0), y), y, 1.0)\nexcept (ArithmeticError, LookupError):\n    halves = jvp(lambda y: f(DualNumber(outer, x, 1.0), y), y, 1.0)\nvalue, by_y",
        "outer.lift, jvp(lambda y: f(DualNumber(outer, x, 1.0), y), y, 1.0))": "outer.lift, halves)",
    },
    fails="test_mixed_of_a_function_that_fails",
)
# asks whether the value is true
mistake(
    {"return value.primal,": "return value.primal or value.primal,"},
    fails="test_mixed_of_a_result_from_outside",
)
# functions are looked up in a table
mistake({"outer = ": "hash(f)\nouter = "}, fails="test_mixed_of_what_rests")
# a use inside a use takes its place
mistake(
    {
        "outer = ": "kept = mixed_derivatives.__dict__\nkept['outer'] = outer = ",
        "value, by_y": "halves = jvp(lambda y: f(DualNumber(outer, x, 1.0), y), y, 1.0)\nvalue, by_y",
        "outer.lift, jvp(lambda y: f(DualNumber(outer, x, 1.0), y), y, 1.0))": "kept['outer'].lift, halves)",
    },
    fails="test_mixed_inside_a_derivative",
)
