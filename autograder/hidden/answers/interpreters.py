"""Answers to the exercises of the lesson interpreters: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("interpreters.evaluate")
def interpret_op(self, op, args):
    check_floats(op, args)
    if op is Op.add:
        return sum(args)
    return args[1] * args[0]


@right("interpreters.evaluate")
def interpret_op(self, op, args):
    check_floats(op, args)
    return {Op.add: float.__add__, Op.mul: float.__mul__}[op](*args)


@mistake(
    "interpreters.evaluate",
    name="Numbers are made floats where they should be refused",
    hints=[
        "What does `EvalInterpreter().interpret_op(Op.add, (2, 3.0))` do, and what should it do?",
        "This interpreter computes with floats and with nothing else. That is not for it to mend: who passes an int or a text should be told so.",
        "Call `check_floats(op, args)` before you compute, and take `x, y = args` as they are.",
    ],
)
def interpret_op(self, op, args):
    x, y = map(float, args)
    return x + y if op is Op.add else x * y


@mistake(
    "interpreters.evaluate",
    name="The operands are not checked",
    hints=[
        "Try `EvalInterpreter().interpret_op(Op.add, (2, 3.0))`. The docstring says what should happen.",
        "Python's `+` takes nearly everything, also two texts. Nobody notices a wrong operand unless you look.",
        "The function that looks is given: `check_floats(op, args)`, before the sum or the product.",
    ],
)
def interpret_op(self, op, args):
    x, y = args
    return x + y if op is Op.add else x * y


@right("interpreters.set_interpreter")
class set_interpreter:
    def __init__(self, new_interpreter):
        self.new_interpreter = new_interpreter

    def __enter__(self):
        self.before, context.interpreter = context.interpreter, self.new_interpreter

    def __exit__(self, *error):
        context.interpreter = self.before


@right("interpreters.set_interpreter")
@contextmanager
def set_interpreter(new_interpreter):
    outside = current_interpreter()
    try:
        context.interpreter = new_interpreter
        yield new_interpreter
    finally:
        setattr(context, "interpreter", outside)


@mistake(
    "interpreters.set_interpreter",
    name="After an exception the interpreter stays",
    hints=[
        "What is current after a block that ended with an exception?",
        "An exception in the block comes out of the `yield`. Lines below the `yield` do not run then.",
        "Put the `yield` into a `try`, and the line that puts the old interpreter back into its `finally`.",
    ],
)
@contextmanager
def set_interpreter(new_interpreter):
    previous = context.interpreter
    context.interpreter = new_interpreter
    yield
    context.interpreter = previous


@mistake(
    "interpreters.set_interpreter",
    name="The end of a block goes back to evaluation, whatever was there before",
    hints=[
        "Blocks may stand inside each other. What is current after the inner one has ended?",
        "Evaluation is what a thread *begins* with. When a block begins, another interpreter may be current.",
        "Keep `context.interpreter` in a variable before you change it, and put that one back.",
    ],
)
@contextmanager
def set_interpreter(new_interpreter):
    context.interpreter = new_interpreter
    try:
        yield
    finally:
        context.interpreter = Context.interpreter


@right("interpreters.bind")
def bind(op, *args):
    return context.interpreter.interpret_op(op, tuple(args))


@right("interpreters.bind")
def bind(op, *args):
    interpreter = current_interpreter()
    return interpreter.interpret_op(op=op, args=args)


@mistake(
    "interpreters.bind",
    name="The operation is always evaluated",
    hints=[
        "Let an interpreter be current that gives texts. What does `bind(Op.add, 2.0, 3.0)` give then?",
        "`bind` must not decide who does the work. That is decided elsewhere, by `set_interpreter`.",
        "Do not make an interpreter in `bind`. Ask for the one that is in charge now: `current_interpreter()`.",
    ],
)
def bind(op, *args):
    return Context.interpreter.interpret_op(op, args)


@mistake(
    "interpreters.bind",
    name="The answer is not returned",
    hints=[
        "What does `print(add(2.0, 3.0))` show?",
        "A Python function that ends without `return` gives `None`.",
        "Write `return` before the call of `interpret_op`.",
    ],
)
def bind(op, *args):
    current_interpreter().interpret_op(op, args)


@right("interpreters.count_op")
def interpret_op(self, op, args):
    out = self.prev_interpreter.interpret_op(op, args)
    self.count += 1
    return out


@right("interpreters.count_op")
def interpret_op(self, op, args):
    self.count = self.count + 1
    with set_interpreter(self.prev_interpreter):
        return bind(op, *args)


@mistake(
    "interpreters.count_op",
    name="Only one kind of operation is counted",
    hints=[
        "How many operations has `mul(x, add(x, 3.0))`, and how many does your interpreter count?",
        "A sum is an operation, too.",
        "`self.count += 1` belongs before everything else, under no `if`.",
    ],
)
def interpret_op(self, op, args):
    if op is Op.mul:
        self.count += 1
    return self.prev_interpreter.interpret_op(op, args)


@mistake(
    "interpreters.count_op",
    name="The operation goes to whoever is current, not to the one before",
    hints=[
        "While this method runs, which interpreter is the current one?",
        "It is the counting interpreter itself, as a rule. An operation that is handed to the current interpreter comes back here, for ever.",
        "Hand it to `self.prev_interpreter`, which was current before.",
    ],
)
def interpret_op(self, op, args):
    self.count += 1
    return current_interpreter().interpret_op(op, args)


@right("interpreters.count_ops")
def count_ops(f, *args):
    counting = CountingInterpreter(context.interpreter)
    with set_interpreter(counting):
        return f(*args), counting.count


@right("interpreters.count_ops")
def count_ops(f, *args):
    outside = current_interpreter()
    inside = CountingInterpreter(outside)
    try:
        context.interpreter = inside
        out = f(*args)
    finally:
        context.interpreter = outside
    return out, inside.count


@mistake(
    "interpreters.count_ops",
    name="The interpreter around it is forgotten",
    hints=[
        "What if the function whose operations you count is called by a function whose operations are counted, too?",
        "The interpreter that was current before `count_ops` need not be plain evaluation. It wants to see the operations, and its values may be no floats.",
        "Give the new interpreter the one that is current now: `CountingInterpreter(current_interpreter())`.",
    ],
)
def count_ops(f, *args):
    interpreter = CountingInterpreter(Context.interpreter)
    with set_interpreter(interpreter):
        result = f(*args)
    return result, interpreter.count


@mistake(
    "interpreters.count_ops",
    name="The function runs under the old interpreter",
    hints=[
        "Your count is always 0. Who saw the operations?",
        "Making an interpreter does not make it the current one.",
        "Call `f(*args)` inside `with set_interpreter(interpreter):`, not before or behind it.",
    ],
)
def count_ops(f, *args):
    interpreter = CountingInterpreter(current_interpreter())
    result = f(*args)
    with set_interpreter(interpreter):
        return result, interpreter.count
