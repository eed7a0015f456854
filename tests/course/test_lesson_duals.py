"""The lesson duals: other right answers pass."""

from other_answers import lost

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "duals.add_rule": """
def add_jvp(primals, tangents):
    return add(*primals), add(*tangents)
""",
        "duals.mul_rule": """
def mul_jvp(primals, tangents):
    x, y = primals
    return mul(y, x), add(mul(y, tangents[0]), mul(tangents[1], x))
""",
        "duals.lift": """
def lift(self, x):
    match x:
        case DualNumber(interpreter=owner) if owner is self:
            return x
    return DualNumber(self, x, 0.0)
""",
        "duals.interpret_op": """
def interpret_op(self, op, args):
    pairs = [(d.primal, d.tangent) for d in map(self.lift, args)]
    with set_interpreter(self.prev_interpreter):
        out = jvp_rules[op](*zip(*pairs))
    return DualNumber(self, *out)
""",
        "duals.jvp": """
def jvp(f, primal, tangent):
    mine = JVPInterpreter(current_interpreter())
    with set_interpreter(mine):
        out = mine.lift(f(DualNumber(mine, primal, tangent)))
        return out.primal, out.tangent
""",
        "duals.derivative": """
def derivative(f, x):
    return jvp(f, x, 1.0)[1]
""",
        "duals.nth_order": """
def nth_order_derivative(n, f, x):
    g = f
    for _ in range(n):
        g = lambda y, inner=g: derivative(inner, y)
    return g(x)
""",
    },
    {
        "duals.add_rule": """
def add_jvp(primals, tangents):
    x_dot, y_dot = tangents
    tangent_out = add(y_dot, x_dot)
    return add(primals[1], primals[0]), tangent_out
""",
        "duals.mul_rule": """
def mul_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    shares = mul(x_dot, y), mul(y_dot, x)
    return mul(x, y), add(*shares)
""",
        "duals.lift": """
def lift(self, x):
    if getattr(x, "interpreter", None) is not self:
        x = DualNumber(interpreter=self, primal=x, tangent=0.0)
    return x
""",
        "duals.interpret_op": """
def interpret_op(self, op, args):
    primals, tangents = (), ()
    for arg in args:
        dual = self.lift(arg)
        primals, tangents = (*primals, dual.primal), (*tangents, dual.tangent)
    with set_interpreter(self.prev_interpreter):
        result = jvp_rules[op](primals, tangents)
    return self.lift(DualNumber(self, result[0], result[1]))
""",
        "duals.jvp": """
def jvp(f, primal, tangent):
    mine = JVPInterpreter(current_interpreter())
    with set_interpreter(mine):
        out = f(DualNumber(mine, primal, tangent))
    if isinstance(out, DualNumber) and out.interpreter is mine:
        return out.primal, out.tangent
    return out, 0.0
""",
        "duals.derivative": """
def derivative(f, x):
    interpreter = JVPInterpreter(current_interpreter())
    with set_interpreter(interpreter):
        out = f(DualNumber(interpreter, x, 1.0))
    return interpreter.lift(out).tangent
""",
        "duals.nth_order": """
def nth_order_derivative(n, f, x):
    if n > 0:
        return nth_order_derivative(n - 1, lambda y: derivative(f, y), x)
    return f(x)
""",
    },
]


def test_other_right_answers_have_full_points():
    assert lost("duals", ALTERNATIVES[0]) == ([], [])


def test_more_right_answers_have_full_points():
    assert lost("duals", ALTERNATIVES[1]) == ([], [])
