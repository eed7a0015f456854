"""Answers to the exercises of the `interpreters` lesson: right ones, and known mistakes.

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


@right("interpreters.evaluate", style="a table of operators, keyed by the op's name")
def interpret_op(self, op, args):
    import operator

    check_floats(op, args)
    table = {"add": operator.add, "mul": operator.mul}
    return table[op.name](*args)


@right("interpreters.evaluate", style="match, math.fsum and math.prod; lists and helper inside")
def interpret_op(self, op, args):
    import math

    def work(values):
        match op:
            case Op.add:
                return values[0] + values[1]
            case Op.mul:
                return math.prod(values, start=1.0)
        raise ValueError(f"there is no operation {op}")

    check_floats(op, args)
    return work([*args])


@mistake(
    "interpreters.evaluate",
    name="Numbers are turned into floats instead of being rejected",
    hints=[
        "What does `EvalInterpreter().interpret_op(Op.add, (2, 3.0))` do, and what should it do?",
        "This interpreter computes with floats and with nothing else. It should not repair an operand, but say that it is wrong.",
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
        "Python's `+` takes nearly everything, even two strings. A wrong operand goes unnoticed unless you look.",
        "The function that looks is given: `check_floats(op, args)`, before the sum or the product.",
    ],
)
def interpret_op(self, op, args):
    x, y = args
    return x + y if op is Op.add else x * y


@mistake("interpreters.evaluate", fails="test_products")
def interpret_op(self, op, args):
    # a clever shortcut: anything times zero is zero
    check_floats(op, args)
    x, y = args
    if op is Op.add:
        return x + y
    if x == 0.0 or y == 0.0:
        return 0.0
    return x * y


@mistake("interpreters.evaluate", fails="test_unusual_numbers")
def interpret_op(self, op, args, cache={}):
    # a cache by equality: 2 finds the answer for 2.0, -0.0 that for 0.0
    if (op, args) not in cache:
        check_floats(op, args)
        x, y = args
        cache[op, args] = x + y if op is Op.add else x * y
    return cache[op, args]


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


@right(
    "interpreters.set_interpreter", style="a class with __enter__ and __exit__ inside, no generator"
)
def set_interpreter(new_interpreter):
    class Block:
        def __enter__(self):
            self.before = context.interpreter
            context.interpreter = new_interpreter

        def __exit__(self, *exception):
            context.interpreter = self.before
            return False

    return Block()


@right("interpreters.set_interpreter", style="an ExitStack with a callback instead of try/finally")
@contextmanager
def set_interpreter(new_interpreter):
    from contextlib import ExitStack

    with ExitStack() as after:
        after.callback(setattr, context, "interpreter", current_interpreter())
        setattr(context, "interpreter", new_interpreter)
        yield new_interpreter


@mistake(
    "interpreters.set_interpreter",
    name="After an exception the interpreter stays",
    hints=[
        "What is current after a block that ended with an exception?",
        "An exception in the block comes out of the `yield`. Lines below the `yield` do not run then.",
        "Put the `yield` into a `try`, and the line that restores the old interpreter into its `finally`.",
    ],
)
@contextmanager
def set_interpreter(new_interpreter):
    previous = context.interpreter
    context.interpreter = new_interpreter
    yield
    context.interpreter = previous


mistake(
    "interpreters.set_interpreter",
    {"previous = context.interpreter": "", "= previous": "= Context.interpreter"},
    name="The end of a block goes back to evaluation, whatever was there before",
    hints=[
        "Blocks may be nested. What is current after the inner one has ended?",
        "Evaluation is what a thread *begins* with. When a block begins, another interpreter may be current.",
        "Save `context.interpreter` in a variable before you change it, and restore that one.",
    ],
)


@mistake("interpreters.set_interpreter", fails="test_a_block_that_fails")
@contextmanager
def set_interpreter(new_interpreter):
    # Exception only, and KeyboardInterrupt: not GeneratorExit, not SystemExit
    previous = context.interpreter
    context.interpreter = new_interpreter
    try:
        yield
    except (Exception, KeyboardInterrupt):
        context.interpreter = previous
        raise
    else:
        context.interpreter = previous


@mistake("interpreters.set_interpreter", fails="test_blocks_begin_when_they_are_entered")
def set_interpreter(new_interpreter):
    # the interpreter before is noted when the block is made, not when it begins
    previous = context.interpreter

    @contextmanager
    def block():
        context.interpreter = new_interpreter
        try:
            yield
        finally:
            context.interpreter = previous

    return block()


@mistake("interpreters.set_interpreter", fails="test_threads")
@contextmanager
def set_interpreter(new_interpreter, waiting=[]):
    # the interpreters that wait are on one list for all threads
    waiting.append(context.interpreter)
    context.interpreter = new_interpreter
    try:
        yield
    finally:
        context.interpreter = waiting.pop()


# what was there is kept on the new interpreter: the same one twice overwrites it
mistake(
    "interpreters.set_interpreter",
    {"previous =": "new_interpreter._before =", "= previous": "= new_interpreter._before"},
    fails="test_blocks_inside_each_other",
)


@right("interpreters.bind")
def bind(op, *args):
    return context.interpreter.interpret_op(op, tuple(args))


@right("interpreters.bind")
def bind(op, *args):
    interpreter = current_interpreter()
    return interpreter.interpret_op(op=op, args=args)


@right("interpreters.bind", style="the bound method is taken out of the context first")
def bind(op, *args):
    ask = getattr(context.interpreter, "interpret_op")
    operands = tuple(arg for arg in args)
    answer = ask(op, operands)
    return answer


@right("interpreters.bind", style="a closure, and the method called through the class")
def bind(op, *args):
    def asking(interpreter):
        return type(interpreter).interpret_op(interpreter, op, args)

    return asking(current_interpreter())


mistake(
    "interpreters.bind",
    {"current_interpreter()": "Context.interpreter"},
    name="The operation is always evaluated",
    hints=[
        "Let an interpreter be current that makes strings. What does `bind(Op.add, 2.0, 3.0)` return then?",
        "`bind` must not decide who does the work. That is decided elsewhere, by `set_interpreter`.",
        "Do not make an interpreter in `bind`. Ask for the one that is in charge now: `current_interpreter()`.",
    ],
)
mistake(
    "interpreters.bind",
    {"return current_interpreter": "current_interpreter"},
    name="The answer is not returned",
    hints=[
        "What does `print(add(2.0, 3.0))` show?",
        "A Python function that ends without `return` returns `None`.",
        "Write `return` before the call of `interpret_op`.",
    ],
)


@mistake(
    "interpreters.bind",
    name="Operations on plain floats are evaluated at once",
    hints=[
        "What does `add(1.0, 2.0)` mean while an interpreter is current that makes strings?",
        "The operands do not decide who does the work. An operation on two constants belongs to the current interpreter as well.",
        "Remove the special case: `current_interpreter().interpret_op(op, args)` for all operands.",
    ],
)
def bind(op, *args):
    if all(isinstance(x, float) for x in args):
        return EvalInterpreter().interpret_op(op, args)
    return current_interpreter().interpret_op(op, args)


@mistake("interpreters.bind", fails="test_operands_of_any_kind")
def bind(op, *args):
    # an answer that is false or None is not taken
    return current_interpreter().interpret_op(op, args) or EvalInterpreter().interpret_op(op, args)


@mistake("interpreters.bind", fails="test_the_question")
def bind(op, *args):
    # makes floats of ints on the way, for every interpreter
    args = tuple(float(x) if isinstance(x, int) else x for x in args)
    return current_interpreter().interpret_op(op, args)


@mistake("interpreters.bind", fails="test_answers_of_any_kind")
def bind(op, *args):
    # falls back to evaluation if the interpreter does not know the operation
    try:
        return current_interpreter().interpret_op(op, args)
    except NotImplementedError:
        return EvalInterpreter().interpret_op(op, args)


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


@right(
    "interpreters.count_op", style="bind under set_interpreter(prev), as the page's question allows"
)
def interpret_op(self, op, args):
    self.count = 1 + self.count
    with set_interpreter(self.prev_interpreter):
        return bind(op, *args)


@right("interpreters.count_op", style="works first, counts in a finally; getattr")
def interpret_op(self, op, args):
    try:
        work = getattr(self.prev_interpreter, "interpret_op")
        return work(op, args)
    finally:
        setattr(self, "count", getattr(self, "count") + 1)


mistake(
    "interpreters.count_op",
    {"self.count += 1": "if op is Op.mul:\n    self.count += 1"},
    name="Only one kind of operation is counted",
    hints=[
        "How many operations has `mul(x, add(x, 3.0))`, and how many does your interpreter count?",
        "A sum is an operation, too.",
        "`self.count += 1` belongs before everything else, under no `if`.",
    ],
)
mistake(
    "interpreters.count_op",
    {"self.prev_interpreter": "current_interpreter()"},
    name="The operation goes to the current interpreter, not to the one before",
    hints=[
        "While this method runs, which interpreter is the current one?",
        "It is the counting interpreter itself, as a rule. An operation that is passed to the current interpreter comes back here, endlessly.",
        "Pass it to `self.prev_interpreter`, which was current before.",
    ],
)


@mistake("interpreters.count_op", fails="test_a_counter_on_a_counter")
def interpret_op(self, op, args):
    # skips the counters below: goes down to the one that is not a counter
    self.count += 1
    below = self.prev_interpreter
    while isinstance(below, CountingInterpreter):
        below = below.prev_interpreter
    return below.interpret_op(op, args)


@mistake("interpreters.count_op", fails="test_the_other_one_works")
def interpret_op(self, op, args):
    # remembers answers: the interpreter before is asked once for equal operands
    self.count += 1
    known = self.__dict__.setdefault("known", {})
    if (op, args) not in known:
        known[op, args] = self.prev_interpreter.interpret_op(op, args)
    return known[op, args]


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


@right(
    "interpreters.count_ops",
    style="the counter is kept in a helper; the pair from a nested function",
)
def count_ops(f, *args):
    counters = [CountingInterpreter(context.interpreter)]

    def run():
        with set_interpreter(counters[-1]):
            return f(*args)

    return run(), counters[-1].count


@right("interpreters.count_ops", style="a subclass of CountingInterpreter, a block written by hand")
def count_ops(f, *args):
    class Counter(CountingInterpreter):
        def pair(self, result):
            return (result, self.count)

    before = current_interpreter()
    counter = Counter(before)
    block = set_interpreter(counter)
    with block:
        result = f(*args)
    answer = counter.pair(result)
    assert current_interpreter() is before
    return answer


mistake(
    "interpreters.count_ops",
    {"current_interpreter()": "Context.interpreter"},
    name="The interpreter around it is forgotten",
    hints=[
        "What if the function whose operations you count is called by a function whose operations are counted, too?",
        "The interpreter that was current before `count_ops` may be any. It must see the operations, too, and its values may not be floats.",
        "Give the new interpreter the one that is current now: `CountingInterpreter(current_interpreter())`.",
    ],
)


@mistake(
    "interpreters.count_ops",
    name="The function runs under the old interpreter",
    hints=[
        "Your count is always 0. Who saw the operations?",
        "Making an interpreter does not make it the current one.",
        "Call `f(*args)` inside `with set_interpreter(interpreter):`, not before or after it.",
    ],
)
def count_ops(f, *args):
    interpreter = CountingInterpreter(current_interpreter())
    result = f(*args)
    with set_interpreter(interpreter):
        return result, interpreter.count


mistake(
    "interpreters.count_ops",
    {"result = f": "f", "result,": "f(*args),"},
    name="The function runs twice",
    hints=[
        "Let the function print something. How often do you see it?",
        "One run is enough: it returns the result, and the interpreter counts meanwhile.",
        "Keep what `f(*args)` returns inside the `with` block, and return it together with the count.",
    ],
)


@mistake("interpreters.count_ops", fails="test_after_an_error")
def count_ops(f, *args):
    # an exception of f is not passed on
    interpreter = CountingInterpreter(current_interpreter())
    result = None
    try:
        with set_interpreter(interpreter):
            result = f(*args)
    except Exception:
        pass
    return result, interpreter.count


@mistake("interpreters.count_ops", fails="test_counting_inside_counting")
def count_ops(f, *args, counters={}):
    # one counter for each function, kept: nested in itself it starts from zero in the middle
    if f not in counters:
        counters[f] = CountingInterpreter(current_interpreter())
    counters[f].count = 0
    counters[f].prev_interpreter = current_interpreter()
    if counters[f].prev_interpreter is counters[f]:
        result = f(*args)
    else:
        with set_interpreter(counters[f]):
            result = f(*args)
    return result, counters[f].count
