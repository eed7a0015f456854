"""The lesson interpreters: other right answers pass."""

from other_answers import lost

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "interpreters.evaluate": """
def interpret_op(self, op, args):
    check_floats(op, args)
    if op is Op.add:
        return sum(args)
    return args[1] * args[0]
""",
        "interpreters.set_interpreter": """
class set_interpreter:
    def __init__(self, new_interpreter):
        self.new_interpreter = new_interpreter

    def __enter__(self):
        self.before, context.interpreter = context.interpreter, self.new_interpreter

    def __exit__(self, *error):
        context.interpreter = self.before
""",
        "interpreters.bind": """
def bind(op, *args):
    return context.interpreter.interpret_op(op, tuple(args))
""",
        "interpreters.count_op": """
def interpret_op(self, op, args):
    self.count = self.count + 1
    with set_interpreter(self.prev_interpreter):
        return bind(op, *args)
""",
        "interpreters.count_ops": """
def count_ops(f, *args):
    counting = CountingInterpreter(context.interpreter)
    with set_interpreter(counting):
        return f(*args), counting.count
""",
    },
    {
        "interpreters.evaluate": """
def interpret_op(self, op, args):
    check_floats(op, args)
    return {Op.add: float.__add__, Op.mul: float.__mul__}[op](*args)
""",
        "interpreters.set_interpreter": """
@contextmanager
def set_interpreter(new_interpreter):
    outside = current_interpreter()
    try:
        context.interpreter = new_interpreter
        yield new_interpreter
    finally:
        setattr(context, "interpreter", outside)
""",
        "interpreters.bind": """
def bind(op, *args):
    interpreter = current_interpreter()
    return interpreter.interpret_op(op=op, args=args)
""",
        "interpreters.count_op": """
def interpret_op(self, op, args):
    out = self.prev_interpreter.interpret_op(op, args)
    self.count += 1
    return out
""",
        "interpreters.count_ops": """
def count_ops(f, *args):
    outside = current_interpreter()
    inside = CountingInterpreter(outside)
    try:
        context.interpreter = inside
        out = f(*args)
    finally:
        context.interpreter = outside
    return out, inside.count
""",
    },
]


def test_other_right_answers_have_full_points():
    assert lost("interpreters", ALTERNATIVES[0]) == ([], [])


def test_more_right_answers_have_full_points():
    assert lost("interpreters", ALTERNATIVES[1]) == ([], [])
