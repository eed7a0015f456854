"""Answers to the exercises of the lesson duals: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("duals.add_rule")
def add_jvp(primals, tangents):
    return add(*primals), add(*tangents)


@right("duals.add_rule")
def add_jvp(primals, tangents):
    x_dot, y_dot = tangents
    tangent_out = add(y_dot, x_dot)
    return add(primals[1], primals[0]), tangent_out


@mistake(
    "duals.add_rule",
    name="Only the first operand of a sum counts",
    hints=[
        "If x moves by 1 and y moves by 10, by how much does x + y move?",
        "A sum has two operands, and each of them may move. Where is `y_dot` in your rule?",
        "The tangent of the sum is the sum of the tangents: `add(x_dot, y_dot)`.",
    ],
)
def add_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    return add(x, y), x_dot


@right("duals.mul_rule")
def mul_jvp(primals, tangents):
    x, y = primals
    return mul(y, x), add(mul(y, tangents[0]), mul(tangents[1], x))


@right("duals.mul_rule")
def mul_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    shares = mul(x_dot, y), mul(y_dot, x)
    return mul(x, y), add(*shares)


@mistake(
    "duals.mul_rule",
    name="The tangent of a product is the product of the tangents",
    hints=[
        "Test your rule on x * 2, where x moves by 1 and 2 does not move. Does the product rest?",
        "Multiply (x + x_dot eps) and (y + y_dot eps) out. The product of the tangents stands beside eps squared: it is the one term that is left out.",
        "Two terms stand beside eps: x times `y_dot`, and `x_dot` times y. Add them.",
    ],
)
def mul_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    return mul(x, y), mul(x_dot, y_dot)


@mistake(
    "duals.mul_rule",
    name="Each tangent is multiplied with its own operand",
    hints=[
        "Let y be the constant 5, and x = 3. By how much does x * y move for each unit of x: by 5, or by 3?",
        "Multiply (x + x_dot eps) and (y + y_dot eps) out. Which value stands beside `x_dot`?",
        "`x_dot` is multiplied with y, and `y_dot` with x.",
    ],
)
def mul_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    return mul(x, y), add(mul(x, x_dot), mul(y, y_dot))


@right("duals.lift")
def lift(self, x):
    match x:
        case DualNumber(interpreter=owner) if owner is self:
            return x
    return DualNumber(self, x, 0.0)


@right("duals.lift")
def lift(self, x):
    if getattr(x, "interpreter", None) is not self:
        x = DualNumber(interpreter=self, primal=x, tangent=0.0)
    return x


@mistake(
    "duals.lift",
    name="Any dual number is taken for one's own (perturbation confusion)",
    hints=[
        "With a derivative inside a derivative there are two inputs that move. Which of the two does the tangent of this dual number speak of?",
        "That something is a dual number does not say that it is *your* dual number. It knows whose it is.",
        "Ask for both: that `x` is a `DualNumber`, and that `x.interpreter is self`. All else is a constant.",
    ],
)
def lift(self, x):
    if isinstance(x, DualNumber):
        return x
    return DualNumber(self, x, 0.0)


@mistake(
    "duals.lift",
    name="A dual number of another interpreter is opened",
    hints=[
        "A dual number of another interpreter holds a tangent that the other one will want to see again. Where is it after your `lift`?",
        "Such a value is a constant *here*, but it moves for the interpreter outside. It has to go through this interpreter unharmed.",
        "Put it in as a whole: the primal of the new dual number is `x` itself, not `x.primal`.",
    ],
)
def lift(self, x):
    if isinstance(x, DualNumber):
        return x if x.interpreter is self else DualNumber(self, x.primal, 0.0)
    return DualNumber(self, x, 0.0)


@mistake(
    "duals.lift",
    name="The tangent of a constant is one",
    hints=[
        "By how much does the constant 3 move when the input of the function moves?",
        "One is the derivative of the *input* with respect to itself. A constant does not depend on the input.",
        "The tangent of a constant is 0.0.",
    ],
)
def lift(self, x):
    if isinstance(x, DualNumber) and x.interpreter is self:
        return x
    return DualNumber(self, x, 1.0)


@right("duals.interpret_op")
def interpret_op(self, op, args):
    pairs = [(d.primal, d.tangent) for d in map(self.lift, args)]
    with set_interpreter(self.prev_interpreter):
        out = jvp_rules[op](*zip(*pairs))
    return DualNumber(self, *out)


@right("duals.interpret_op")
def interpret_op(self, op, args):
    primals, tangents = (), ()
    for arg in args:
        dual = self.lift(arg)
        primals, tangents = (*primals, dual.primal), (*tangents, dual.tangent)
    with set_interpreter(self.prev_interpreter):
        result = jvp_rules[op](primals, tangents)
    return self.lift(DualNumber(self, result[0], result[1]))


@mistake(
    "duals.interpret_op",
    name="The rule is evaluated, whoever was there before",
    hints=[
        "In a derivative of a derivative, what is inside the inner dual numbers: floats?",
        "Evaluation is one of the interpreters that may have been current when differentiation began. It need not be that one.",
        "The one that was there before is `self.prev_interpreter`. Make it current while the rule runs.",
    ],
)
def interpret_op(self, op, args):
    from microjax.interpreters import EvalInterpreter

    duals = [self.lift(arg) for arg in args]
    with set_interpreter(EvalInterpreter()):
        out = jvp_rules[op](tuple(d.primal for d in duals), tuple(d.tangent for d in duals))
    return DualNumber(self, *out)


@mistake(
    "duals.interpret_op",
    name="The result is said to belong to the interpreter before",
    hints=[
        "What does `lift` do with your result, when it is an operand of the next operation?",
        "A dual number belongs to the interpreter that made it. Whoever was there before knows nothing of its tangent.",
        "The first field of the result is `self`, as in `lift`.",
    ],
)
def interpret_op(self, op, args):
    duals = [self.lift(arg) for arg in args]
    with set_interpreter(self.prev_interpreter):
        out = jvp_rules[op](tuple(d.primal for d in duals), tuple(d.tangent for d in duals))
    return DualNumber(self.prev_interpreter, *out)


@right("duals.jvp")
def jvp(f, primal, tangent):
    mine = JVPInterpreter(current_interpreter())
    with set_interpreter(mine):
        out = mine.lift(f(DualNumber(mine, primal, tangent)))
        return out.primal, out.tangent


@right("duals.jvp")
def jvp(f, primal, tangent):
    mine = JVPInterpreter(current_interpreter())
    with set_interpreter(mine):
        out = f(DualNumber(mine, primal, tangent))
    if isinstance(out, DualNumber) and out.interpreter is mine:
        return out.primal, out.tangent
    return out, 0.0


@mistake(
    "duals.jvp",
    name="A result from outside is opened (perturbation confusion)",
    hints=[
        "The function may give back a dual number that it did not get from you. What does your code do with it?",
        "A dual number of an interpreter outside is a constant, as seen from here: for this derivative it does not move.",
        "Do not ask what type the result has. `interpreter.lift(result)` leaves your own dual numbers alone, and makes constants of all else.",
    ],
)
def jvp(f, primal, tangent):
    interpreter = JVPInterpreter(current_interpreter())
    with set_interpreter(interpreter):
        result = f(DualNumber(interpreter, primal, tangent))
    if isinstance(result, DualNumber):
        return result.primal, result.tangent
    return result, 0.0


@mistake(
    "duals.jvp",
    name="The speed of the input is forgotten",
    hints=[
        "Compare `jvp(f, 2.0, 1.0)` with `jvp(f, 2.0, 10.0)`. How should they differ?",
        "When the input moves ten times as fast, so does the result.",
        "The dual number that the function gets holds `primal` and `tangent`, both as they were given.",
    ],
)
def jvp(f, primal, tangent):
    interpreter = JVPInterpreter(current_interpreter())
    with set_interpreter(interpreter):
        result = f(DualNumber(interpreter, primal, 1.0))
    dual = interpreter.lift(result)
    return dual.primal, dual.tangent


@right("duals.derivative")
def derivative(f, x):
    return jvp(f, x, 1.0)[1]


@right("duals.derivative")
def derivative(f, x):
    interpreter = JVPInterpreter(current_interpreter())
    with set_interpreter(interpreter):
        out = f(DualNumber(interpreter, x, 1.0))
    return interpreter.lift(out).tangent


@mistake(
    "duals.derivative",
    name="The input moves at the speed of its own value",
    hints=[
        "What does your function give for x * 3 at x = 2? Its slope is 3 everywhere.",
        "`jvp` wants two numbers: where the input is, and how fast it moves. For a slope the second is the same at each place.",
        "The derivative is how fast the result moves when the input moves at speed 1.0: `jvp(f, x, 1.0)`.",
    ],
)
def derivative(f, x):
    return jvp(f, x, x)[1]


@right("duals.nth_order")
def nth_order_derivative(n, f, x):
    g = f
    for _ in range(n):
        g = lambda y, inner=g: derivative(inner, y)
    return g(x)


@right("duals.nth_order")
def nth_order_derivative(n, f, x):
    if n > 0:
        return nth_order_derivative(n - 1, lambda y: derivative(f, y), x)
    return f(x)


@mistake(
    "duals.nth_order",
    name="The derivative is taken at a derivative",
    hints=[
        "What is the second derivative: the slope of the slope, or the slope at the place which the slope names?",
        "Only the function becomes another one from order to order. The point `x` stays where it is.",
        "Differentiate the *function* that gives the derivative of order n - 1: `lambda y: nth_order_derivative(n - 1, f, y)`, at `x`.",
    ],
)
def nth_order_derivative(n, f, x):
    if n == 0:
        return f(x)
    return derivative(f, nth_order_derivative(n - 1, f, x) if n > 1 else x)


@mistake(
    "duals.nth_order",
    name="The order is one too low",
    hints=[
        "What should the order 1 give, and what does yours give?",
        "How many derivatives are taken for n = 1? Count how often `derivative` is called.",
        "The recursion ends at 0, where no derivative is taken, and each order above that takes one.",
    ],
)
def nth_order_derivative(n, f, x):
    if n <= 1:
        return f(x)
    return derivative(lambda y: nth_order_derivative(n - 1, f, y), x)
