"""The lesson interpreters: other right answers pass."""

from autograder import assemble, checks, engine, lessons, skeleton

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


def lost(answers):
    """The exercises in which these answers do not have full points, or fail a visible check."""
    lesson = lessons.get("interpreters")
    source = assemble.read_solution(lesson.module)
    for exercise in lesson.exercises:
        source = skeleton.replace_function(source, exercise.target, answers[exercise.id])
    result = engine.grade(lesson, "other", source.encode())
    report = checks.run(lesson, {lesson.module: source.encode()})
    points = [e["id"] for e in result["exercises"] if e["points"] != e["max_points"]]
    return points, [e.id for e in lesson.exercises if e.id not in report.done]


def test_other_right_answers_have_full_points():
    assert lost(ALTERNATIVES[0]) == ([], [])


def test_more_right_answers_have_full_points():
    assert lost(ALTERNATIVES[1]) == ([], [])
