"""Answers to the exercises of the `interpreters` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("interpreters.bind")


@right
def bind(op, *args):
    return context.interpreter.interpret_op(op, tuple(args))


@right
def bind(op, *args):
    interpreter = current_interpreter()
    return interpreter.interpret_op(op=op, args=args)


@right(style="a closure, and the method called through the class")
def bind(op, *args):
    def asking(interpreter):
        return type(interpreter).interpret_op(interpreter, op, args)

    return asking(current_interpreter())


mistake(
    {"current_interpreter()": "Context.interpreter"},
    name="The operation is always evaluated",
    hints=[
        "Suppose the current interpreter makes strings. What does `bind(Op.add, 2.0, 3.0)` return then?",
        "`bind` must not decide who does the work. That is decided elsewhere, by `set_interpreter`.",
        "Do not make an interpreter in `bind`. Ask for the one that is in charge now: `current_interpreter()`.",
    ],
)
mistake(
    {"return current_interpreter": "current_interpreter"},
    name="The answer is not returned",
    hints=[
        "What does `print(add(2.0, 3.0))` show?",
        "A Python function that ends without `return` returns `None`.",
        "Write `return` before the call of `interpret_op`.",
    ],
)
mistake(
    {
        "return current": "plain = all(isinstance(x, float) for x in args)\nreturn current",
        "current_interpreter()": "(EvalInterpreter() if plain else current_interpreter())",
    },
    name="Operations on plain floats are evaluated at once",
    hints=[
        "What does `add(1.0, 2.0)` mean while the current interpreter makes strings?",
        "The operands do not decide who does the work. An operation on two constants belongs to the current interpreter as well.",
        "Remove the special case: `current_interpreter().interpret_op(op, args)` for all operands.",
    ],
)
# looks at operands that are floats of another class
mistake(
    {"(op, args)": "(op, tuple(float(x) if isinstance(x, float) else x for x in args))"},
    fails="test_operands_of_any_kind",
)
# an interpreter that is false, as one of length 0 is, counts as none
mistake(
    {"current_interpreter()": "(current_interpreter() or EvalInterpreter())"},
    fails="test_the_question",
)
# the error says something more when it comes out
mistake(
    {
        "return current_interpreter().interpret_op(op, args)": "try:\n    return current_interpreter().interpret_op(op, args)\nexcept Exception as error:\n    error.add_note(f'in {op}')\n    raise"
    },
    fails="test_answers_of_any_kind",
)
# an AttributeError is taken for that of an interpreter without the method
mistake(
    {
        "return current_interpreter().interpret_op(op, args)": "try:\n    return current_interpreter().interpret_op(op, args)\nexcept AttributeError:\n    raise TypeError('no interpreter') from None"
    },
    fails="test_answers_of_any_kind",
)
# one times anything is that itself
mistake(
    {
        "return current": "if op is Op.mul and type(args[-1]) is float and args[-1] == 1.0:\n    return args[0]\nreturn current"
    },
    fails="test_the_question",
)
# inside an operation, operations are evaluated
mistake(
    {
        "return current_interpreter().interpret_op(op, args)": "now = EvalInterpreter() if vars(bind).get('busy') else current_interpreter()\nbind.busy = True\ntry:\n    return now.interpret_op(op, args)\nfinally:\n    bind.busy = False"
    },
    fails="test_who_is_asked",
)


exercise("interpreters.interval")


@right
def interpret_op(self, op, args):
    pairs = [x if isinstance(x, tuple) else (x, x) for x in args]
    if op is Op.add:
        return tuple(map(sum, zip(*pairs)))
    products = sorted(x * y for x in pairs[0] for y in pairs[1])
    return products[0], products[-1]


@right(style="all corners for both operations")
def interpret_op(self, op, args):
    from itertools import product
    from operator import add, mul

    join = {Op.add: add, Op.mul: mul}[op]
    corners = [join(*corner) for corner in product(*map(as_interval, args))]
    return min(corners), max(corners)


mistake(
    {
        "for a in (low, high) for b": "for a, b",
        "in (other_low, other_high)": "in zip((low, high), (other_low, other_high))",
    },
    name="Only two products are considered: of both lower bounds, and of both upper bounds",
    hints=[
        "`x` is between 1 and 2, and `y` between -3 and 5. Can `x * y` be -6?",
        "If one of the bounds is negative, the smallest product may be that of a lower and an upper bound.",
        "There are four candidates: `[a * c, a * d, b * c, b * d]`.",
    ],
)
mistake(
    {"min(corners), max(corners)": "low * other_low, high * other_high"},
    name="The bounds of a product are not sorted",
    hints=[
        "What does your interpreter return for (-2.0, -1.0) times (3.0, 4.0)? Is the first bound the lower one?",
        "A product of lower bounds is not a lower bound if one of them is negative.",
        "Take `min` and `max` of all four products.",
    ],
)
# one object twice is taken for one number: a square is not negative
mistake(
    {"min(corners)": "max(min(corners), 0.0 if args[0] is args[1] else min(corners))"},
    fails="test_interval_independent",
)
# a constant is a float and nothing more
mistake(
    {"map(as_interval, args)": "((x, x) if type(x) is float else x for x in args)"},
    fails="test_interval_constants",
)
# a sum by the lower bound and the widths, which rounds
mistake(
    {"high + other_high": "(low + other_low) + (high - low) + (other_high - other_low)"},
    fails="test_interval_sums",
)
# whether there is a zero in it, from a product of the bounds, which may be too small for a float
mistake(
    {
        "corners = [a": "if low * high >= 0 and other_low >= 0:\n    return (low * other_low, high * other_high) if low >= 0 else (low * other_high, high * other_low)\ncorners = [a"
    },
    fails="test_interval_products",
)
# rounded
mistake(
    {
        "low + other_low, high + other_high": "round(low + other_low, 9), round(high + other_high, 9)"
    },
    fails="test_interval_sums",
)
# one times anything is that itself, even if it is not an interval
mistake(
    {
        "(low, high), (other_low": "if op is Op.mul and 1.0 in args:\n    return args[args[0] == 1.0]\n(low, high), (other_low"
    },
    fails="test_interval_constants",
)


exercise("interpreters.remember")


@right
def interpret_op(self, op, args):
    for operands, result in self.known.get(op, []):
        if len(operands) == len(args) and all(x is y for x, y in zip(operands, args)):
            return result
    with set_interpreter(self.prev_interpreter):
        result = self.prev_interpreter.interpret_op(op, args)
    self.known.setdefault(op, []).append((args, result))
    return result


@right(style="try, and a second table that keeps the operands")
def interpret_op(self, op, args):
    key = op.name, tuple(id(arg) for arg in args)
    try:
        return self.known[key]
    except KeyError:
        pass
    answer = self.prev_interpreter.interpret_op(op, args)
    self.known["kept", len(self.known)] = args
    self.known[key] = answer
    return answer


mistake(
    {"*map(id, args)": "*(str(arg) if isinstance(arg, list) else arg for arg in args)"},
    name="Equal operands are treated as the same",
    hints=[
        "What does your interpreter return for `add(True, x)` after `add(1.0, x)`?",
        "A dict finds keys that are equal. Two operands are the same only if they are the same object.",
        "Put `id(arg)` of each operand into the key.",
    ],
)
mistake(
    {"= args, self": "= None, self"},
    name="Remembered operands may no longer exist",
    hints=[
        "Ask for sums of two new lists, many times. Is each answer the sum of its own lists?",
        "When an object is gone, Python may put a new one in its place, with the same `id`.",
        "Keep the operands: store the tuple `args` with the answer.",
    ],
)
mistake(
    {"key = (op, *map(id, args))": "key = tuple(map(id, args))"},
    name="The operation is not part of the question",
    hints=[
        "What does your interpreter return for `mul(x, y)` after `add(x, y)`?",
        "The same operands may have a sum and a product.",
        "`key = (op, *map(id, args))`.",
    ],
)
mistake({"map(id, args": "sorted(map(id, args)"}, fails="test_other_questions")
# forgets everything now and then
mistake(
    {"if key not in": "if len(self.known) >= 1000:\n    self.known.clear()\nif key not in"},
    fails="test_the_same_question",
)
# a list that has changed is a different operand
mistake(
    {"*map(id, args)": "*((id(arg), repr(arg)) for arg in args)"},
    fails="test_remembered_answers_of_any_kind",
)
# without operands it asks again
mistake({".known:": ".known or not args:"}, fails="test_other_questions")
# an interpreter that is false counts as none
mistake(
    {"self.prev_interpreter.": "(self.prev_interpreter or EvalInterpreter())."},
    fails="test_other_operations",
)
# forgets all when it is told an error
mistake(
    {
        "self.known[key] = args, self.prev_interpreter.interpret_op(op, args)": "try:\n    self.known[key] = args, self.prev_interpreter.interpret_op(op, args)\nexcept BaseException:\n    self.known.clear()\n    raise"
    },
    fails="test_a_question_without_answer",
)
# asks again if a different interpreter is current
mistake({"= (": "= (context.interpreter, "}, fails="test_several_that_remember")
# keeps two operands, and no more
mistake({"= args, self": "= args[:2], self"}, fails="test_operands_that_pass")
# one table for all interpreters, which tells them apart by ids that are used again
mistake(
    {
        "[Any, ...])": "[Any, ...], known={})",
        "key =": "self.known = known.setdefault(id(self), {})\nkey =",
    },
    fails="test_several_that_remember",
)
# tuples of the same objects are the same
mistake(
    {"*map(id, args)": "*(tuple(map(id, x)) if isinstance(x, tuple) else id(x) for x in args)"},
    fails="test_equal_operands",
)
# keeps no integers
mistake(
    {"= args, self": "= [x for x in args if not isinstance(x, int)], self"},
    fails="test_numbers_that_pass",
)


exercise("interpreters.count_ops")


@right
def count_ops(f, *args):
    class Counter(Interpreter):
        def __init__(self, outside):
            self.outside, self.seen = outside, 0

        def interpret_op(self, op, args):
            self.seen += 1
            return self.outside.interpret_op(op, args)

    counter = Counter(context.interpreter)
    with set_interpreter(counter):
        return f(*args), counter.seen


@right(style="an object whose method is replaced; no with block")
def count_ops(f, *args):
    outside, inside, seen = current_interpreter(), Interpreter(), []

    def note(op, args):
        seen.append(op)
        return outside.interpret_op(op, args)

    inside.interpret_op = note
    try:
        context.interpreter = inside
        out = f(*args)
    finally:
        context.interpreter = outside
    return out, len(seen)


@right(style="passes on by bind, with the interpreter before current")
def count_ops(f, *args):
    class Passing(EvalInterpreter):
        counts = {op: 0 for op in Op}
        before = current_interpreter()

        def interpret_op(self, op, args):
            self.counts[op] += 1
            with set_interpreter(self.before):
                return bind(op, *args)

    passing = Passing()
    with set_interpreter(passing):
        result = f(*args)
    return result, sum(passing.counts.values())


mistake(
    {"current_interpreter(), 0": "EvalInterpreter(), 0"},
    name="The interpreter around it is forgotten",
    hints=[
        "What if the function whose operations you count is called by a function whose operations are counted, too?",
        "Any interpreter may have been current before `count_ops`. It must see the operations, too, and its values may not be floats.",
        "Your interpreter passes operations on to the one that is current when `count_ops` is called: `before = current_interpreter()`.",
    ],
)
mistake(
    {"Counting()": "before"},
    name="The function runs under the old interpreter",
    hints=[
        "Your count is always 0. Who saw the operations?",
        "Making an interpreter does not make it the current one.",
        "Call `f(*args)` inside `with set_interpreter(...)` of your own interpreter, not before or after it.",
    ],
)
mistake(
    {"result = f": "f", "result,": "f(*args),"},
    name="The function runs twice",
    hints=[
        "Let the function print something. How many times do you see it?",
        "One run is enough: it returns the result, and the interpreter counts meanwhile.",
        "Keep what `f(*args)` returns inside the `with` block, and return it together with the count.",
    ],
)
# one number for all counts, which those of other threads change, too
mistake(
    {
        "current_interpreter(), 0": "current_interpreter(), getattr(Interpreter, 'total', 0)",
        "nonlocal count": "if 'Counting' not in str(type(before)):",
        "count += 1": "    Interpreter.total = getattr(Interpreter, 'total', 0) + 1",
        "return result, count": "return result, getattr(Interpreter, 'total', 0) - count",
    },
    fails="test_counting_inside_counting",
)
# operands in a list
mistake({"op, args)": "op, [*args])"}, fails="test_operations_that_fail")
# every subclass of the interpreter that evaluates is taken for it
mistake(
    {"class ": "if isinstance(before, EvalInterpreter):\n    before = EvalInterpreter()\n\nclass "},
    fails="test_result_and_number",
)
# only functions with a name
mistake({"class": "f.__name__\n\nclass"}, fails="test_the_function_runs_once")
# is the current one after each operation, even if a different one was before
mistake(
    {
        "return before.interpret_op(op, args)": "context.interpreter = before\ntry:\n    return before.interpret_op(op, args)\nfinally:\n    context.interpreter = self"
    },
    fails="test_counting_inside_counting",
)
# a result that is a function is called
mistake(
    {"return result,": "return result() if callable(result) else result,"},
    fails="test_the_function_runs_once",
)
# a count inside uses the interpreter around it, which f may replace
mistake(
    {
        "class ": "if hasattr(before, 'seen'):\n    seen = before.seen()\n    return f(*args), before.seen() - seen\n\nclass ",
        "    def interpret_op": "    seen = lambda self: count\n\n    def interpret_op",
    },
    fails="test_after_an_error",
)


@mistake(fails="test_counting_inside_counting")
def count_ops(f, *args):  # one counter for each thread, which knows only the newest interpreter
    class Counting(Interpreter):
        def interpret_op(self, op, args):
            self.count += 1
            return self.below.interpret_op(op, args)

    counter = vars(context).setdefault("counter", Counting())
    before, start = current_interpreter(), vars(counter).setdefault("count", 0)
    if before is not counter:
        counter.below = before
    with set_interpreter(counter):
        result = f(*args)
    return result, counter.count - start
