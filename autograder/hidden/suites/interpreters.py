"""Hidden tests of the `interpreters` lesson: what operations mean, and who decides it.

Every exercise is tested alone. Probes put interpreters of their own in charge, most of which make
strings, so that it shows who was asked for what, and replace sibling exercises that they need. The
whole module is asked for random programs, in which operands repeat and constants meet.
"""

from typing import TYPE_CHECKING

import pytest

from autograder.grading.in_worker import grown, odd, of_all_kinds
from autograder.grading.suite import exercise, probe

if TYPE_CHECKING:  # imported by each probe that reads them
    import builtins
    import contextlib
    import threading

    from microjax.interpreters import (
        EvalInterpreter,
        Interpreter,
        IntervalInterpreter,
        Op,
        RememberingInterpreter,
        bind,
        context,
        count_ops,
        current_interpreter,
    )

INF = float("inf")


def answering(answer, tricky=False):
    """An interpreter that answers by a function.

    A tricky one is derived from the one that evaluates, and is false until it is asked.
    """

    class Answering(EvalInterpreter if tricky else Interpreter):
        asked = 0

        def __bool__(self):
            return self.asked > 0 or not tricky

        def interpret_op(self, op, args):
            self.asked += 1
            return answer(op, args)

    return Answering()


exercise("interpreters.bind")


@probe(uses=[answering])
def asked(mj, name, operands):
    """What the current interpreter is asked, and whether its answer comes back itself."""
    calls, current, answer = [], [], object()

    def tell(op, args):
        calls.append((interpreter.asked, op is mj.Op[name], args))
        current.append(context.interpreter is interpreter)
        return answer

    context.interpreter = interpreter = answering(tell, tricky=True)
    out = bind(mj.Op[name], *operands)
    return {
        "calls of the current interpreter": calls,
        "its answer itself comes back": out is answer,
        "it is the current one while it is asked": current,
    }


@probe(uses=[answering])
def asked_last(mj, number, name, operands):
    """Interpreters become current one after the other, and each asks those before it as well."""

    def tell(op, args):
        place = interpreters.index(context.interpreter)
        below = ask(place - 1) if place else f"{op} {args}"
        context.interpreter = interpreters[place]
        return f"{place} after {below}"

    def ask(place):
        context.interpreter = interpreters[place]
        return bind(mj.Op[name], *operands)

    interpreters = [answering(tell) for _ in range(number)]
    return {"which interpreter answers, and what": [ask(place) for place in range(number)]}


@probe(uses=[answering])
def answers_of_any_kind(mj, answers):
    """What is returned if the interpreter gives these answers, or raises the errors named."""

    def give(op, args):
        answer = answers[asked.pop()]
        error = getattr(builtins, str(answer), None)
        if isinstance(error, type):
            raised.append(error("of the interpreter"))
            raise raised[-1]
        return answer

    context.interpreter, asked, seen, raised, same = answering(give), [], [], [], []
    for i in range(len(answers)):
        asked.append(i)
        try:
            seen.append(repr(bind(mj.Op.add, 1.5, 2.5)))
        except BaseException as error:
            seen.append(f"{type(error).__name__} {error} {vars(error)}")
            same.append(error is raised[-1] and not error.__suppress_context__)
    return {
        "what comes of each answer or error of the interpreter": seen,
        "the error itself comes out": same,
    }


@probe(uses=[answering, odd, of_all_kinds])
def operands_themselves(mj):
    """Whether operands of many kinds, one of which no code may ask, come back as they are."""

    context.interpreter = answering(lambda op, args: args[op is mj.Op.mul])
    values = [*of_all_kinds(), [], {}, iter(()), ValueError("text"), repr, odd, mj.Op.add, odd()]
    return {
        "the answer to add comes back itself": [bind(mj.Op.add, x, 1.5) is x for x in values],
        "the answer to mul comes back itself": [bind(mj.Op.mul, 1.5, x) is x for x in values],
    }


@probe(uses=[answering])
def formula(mj, x):
    """What a program is if operations make strings, through add and mul."""
    signs = {mj.Op.add: "+", mj.Op.mul: "*"}
    context.interpreter = answering(lambda op, args: f"({args[0]} {signs[op]} {args[1]})")
    return {"the results of the programs": [mj.mul(x, mj.add(x, 3.0)), mj.add(mj.mul(2.0, x), x)]}


@pytest.mark.meets("sizes")
@pytest.mark.keeps("interpreter's answer to `op`", "is called once")
def test_the_question(student):
    """The current interpreter is asked once, for the operation, with all operands in one tuple."""
    student.agrees(asked, "add", [2.5, 4.0])
    student.agrees(asked, "mul", [4.0, "x"])
    student.agrees(asked, "mul", [1.5])
    student.agrees(asked, "add", [2, True])
    student.agrees(asked, "mul", [2, 2])
    student.agrees(asked, "add", [None, None])
    student.agrees(asked, "mul", ["x", 1.0])
    student.agrees(asked, "mul", [0, None, "x"])
    student.agrees(asked, "add", [(2.5, None)])
    student.agrees(asked, "add", [])
    student.agrees(asked, "mul", [1.5, "x"] * 6)


@pytest.mark.meets("again", "caching", "moment", "nested")
@pytest.mark.keeps("interpreter's answer to `op`")
def test_who_is_asked(student):
    """The interpreter that is current at that moment is asked, even by one that is asked."""
    student.agrees(asked_last, 3, "add", [2.5, 4.0])
    student.agrees(asked_last, 2, "mul", ["x", 7.0])


@pytest.mark.meets("another_box", "order")
@pytest.mark.keeps("pass through unchanged")
def test_operands_of_any_kind(student):
    """Operands reach the interpreter as they are, whatever they are."""
    student.agrees(operands_themselves)


@pytest.mark.meets("exception", "none", "zeros")
@pytest.mark.keeps("pass through unchanged")
def test_answers_of_any_kind(student):
    """The interpreter's answer is the result, whatever it is, and so is its error."""
    student.agrees(answers_of_any_kind, [0.0, None, "", False, [], 2, (), ("x",), (1.5, [2])])
    student.agrees(answers_of_any_kind, ["NotImplementedError", "TypeError", "KeyError", 1.5])
    student.agrees(
        answers_of_any_kind,
        ["KeyboardInterrupt", "StopIteration", "ValueError", "OverflowError", 1.5],
    )
    student.agrees(answers_of_any_kind, ["GeneratorExit", "SystemExit", "RecursionError", [2.5]])
    student.agrees(
        answers_of_any_kind, ["AttributeError", "AssertionError", "IndexError", (2.5,), [None]]
    )


def test_add_and_mul(student):
    """With bind, add and mul mean what the current interpreter makes of them."""
    student.agrees(formula, "x")
    student.agrees(formula, 0.5)


exercise("interpreters.interval")


@probe
def intervals(mj, name, pairs):
    """The intervals of results, and their types, while it is current; a zero has no sign here.

    A pair of one is an object that is both operands.
    """
    context.interpreter = current = IntervalInterpreter()
    outs = [current.interpret_op(Op[name], (pair[0], pair[-1])) for pair in pairs]
    return {
        "the intervals": [tuple(bound + 0.0 for bound in out) for out in outs],
        "their classes": [type(out).__name__ for out in outs],
        "their bounds are floats": all(isinstance(bound, float) for out in outs for bound in out),
    }


@probe(uses=[of_all_kinds])
def intervals_of_floats(mj):
    """The intervals of operations with floats of other classes, as NumPy's are."""
    interpreter, floats = IntervalInterpreter(), of_all_kinds()[:2]
    other = floats[1]
    pairs = [(x, y) for x in floats for y in (other, (-1.0, 2.0), (x, other + 1.0))]
    outs = [interpreter.interpret_op(op, pair) for pair in pairs for op in Op]
    return {"the intervals": [tuple(float(bound) for bound in out) for out in outs]}


@probe
def in_the_interval(mj, op_name, first, second, steps=7):
    """Whether the bounds are the least and the greatest result, wherever operands lie."""

    def between(low, high):
        return [low + (high - low) * i / steps for i in range(steps)] + [high]

    low, high = IntervalInterpreter().interpret_op(Op[op_name], (first, second))
    join = (lambda x, y: x + y) if op_name == "add" else (lambda x, y: x * y)
    found = [join(x, y) for x in between(*first) for y in between(*second)]
    return {
        "the least and the greatest result lie in the interval": [
            low <= min(found),
            max(found) <= high,
        ],
        "they are its bounds": [min(found) == low, max(found) == high],
    }


@pytest.mark.meets("order", "nested")
@pytest.mark.keeps("The smallest interval")
def test_interval_sums(student):
    """The interval of a sum."""
    pairs = [[(1.0, 2.5), (-3.0, 4.0)], [(-2.0, -1.0), (5.0, 5.0)], [(0.0, 0.5), (-0.25, 0.0)]]
    student.agrees(intervals, "add", pairs)
    student.agrees(intervals, "add", [[(-1.7e308, 2.5), (-0.5, 1.0)]])
    student.agrees(in_the_interval, "add", (0.1, 0.7), (0.2, 0.3))
    student.agrees(in_the_interval, "add", (-1e16, 1e16), (1.0, 3.0))


@pytest.mark.meets("order", "again")
@pytest.mark.keeps("The smallest interval")
def test_interval_products(student):
    """The interval of a product, whatever the signs of the bounds are."""
    kinds = [(1.0, 2.5), (-2.0, 3.0), (-4.0, -0.5), (0.0, 2.0), (-1.0, 0.0), (-3.0, 0.5)]
    student.agrees(intervals, "mul", [[x, y] for x in kinds for y in kinds])
    student.agrees(intervals, "mul", [[(-1.7e308, 2.5), (0.5, 1.0)], [(2.0, 2.0), (0.5, 0.5)]])
    for x in kinds[:3]:
        for y in kinds[:3]:
            student.agrees(in_the_interval, "mul", x, y)
    student.agrees(in_the_interval, "mul", (0.1, 0.7), (-0.3, 0.6))
    student.agrees(in_the_interval, "mul", (-1e200, 3e200), (1e100, 1e105))
    for x in ((-1e-200, 1e-200), (-1e-310, 3e-200), (-1e-200, -1e-310)):  # squares are 0
        student.agrees(in_the_interval, "mul", x, (1.0, 2.0))
        student.agrees(in_the_interval, "mul", (-0.5, 2.0), x)


@pytest.mark.meets("twice", "sizes")
@pytest.mark.keeps("known exactly")
def test_interval_constants(student):
    """A float, of any class, is known exactly, as either operand or as both."""
    student.agrees(intervals_of_floats)
    for name in ("add", "mul"):
        student.agrees(intervals, name, [[(-1.0, 2.0), 3.0], [3.0, (-1.0, 2.0)], [2.0, 5.0]])
        student.agrees(intervals, name, [[(-1.0, 2.0), -3.0], [-0.5, (-1.0, 2.0)], [-2.0, 5.0]])
        student.agrees(intervals, name, [[x, y] for x in (0.0, 1.0) for y in (2.5, (0.5, 2.0))])
        student.agrees(intervals, name, [[x, y] for x in (2.5, (0.5, 2.0)) for y in (0.0, 1.0)])


@pytest.mark.meets("zeros")
@pytest.mark.keeps("are independent")
def test_interval_independent(student):
    """The operands are independent, even if they are one object."""
    for name in ("add", "mul"):
        itself = [[(-2.0, 3.0)], [(-1.0, 0.5)], [(1.0, 2.0)], [(0.0, 0.0)]]
        student.agrees(intervals, name, itself)


exercise("interpreters.remember")


@probe(uses=[answering])
def remembered(mj, questions):
    """Answers to questions about some objects, whether they are the same ones, and who was asked.

    A question is the name of an operation and the numbers of objects, some of which are equal.
    """

    class Same:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return 0

    objects = [1.0, True, 0.0, -0.0, "x", float("nan"), [1.0], [1.0], None, 2.5, float("2.5")]
    for make in (Same, lambda: tuple(map(float, "12")), lambda: int("1000"), lambda: "".join("xy")):
        objects += make(), make()
    objects += tuple(objects[:1]), tuple(objects[:1])

    def tell(op, args):
        asked.append((op.name, len(args)))
        return [f"answer {len(asked)}"]

    asked, outs = [], []
    context.interpreter = RememberingInterpreter(answering(tell, tricky=True))
    for name, *places in questions:
        args = tuple(objects[place] for place in places)
        outs.append(context.interpreter.interpret_op(Op[name], args))
    same = [[i for i, other in enumerate(outs) if other is out] for out in outs]
    return {
        "the answers": outs,
        "which of the answers are one object": same,
        "what the interpreter before is asked": asked,
    }


@probe(uses=[answering])
def passing(mj, kind, number):
    """Results for operands kept nowhere else, beside two that stay: places may be used again."""
    interpreter = RememberingInterpreter(answering(lambda op, args: [repr(x) for x in args]))
    kinds = {"a list": lambda i: [i], "a float": lambda i: 0.5 + i, "an int": lambda i: 1000 + i}
    made = {**kinds, "a tuple": lambda i: (i,), "a string": lambda i: f"number {i}"}[kind]
    stays = made(number)
    questions = [
        (Op.mul, lambda x: (x, stays, stays)),
        (Op.add, lambda x: (stays, x, stays)),
        (Op.mul, lambda x: (stays, stays, x)),
    ]
    return [
        [interpreter.interpret_op(op, among(made(i))) for i in range(number)]
        for op, among in questions
    ]


@probe(uses=[answering])
def remembered_many(mj, number):
    """Answers to many questions on each operation, to some once more, and how many were asked."""
    before = answering(lambda op, args: before.asked)
    interpreter, operands = RememberingInterpreter(before), [[i] for i in range(number)]
    outs = [
        [interpreter.interpret_op(op, (x, x)) for op in Op for x in asked]
        for asked in (operands, operands[::50])
    ]
    return {
        "the answers to many questions, and to some of them again": outs,
        "how often the one before is asked": before.asked,
    }


@probe(uses=[answering, odd, of_all_kinds])
def remembered_kinds(mj):
    """Whether operands of many kinds reach the interpreter before, and its answers come back."""

    def first(op, args):
        in_tuples.append(type(args) is tuple)
        return args[0]

    before, in_tuples = answering(first), []
    values = [*of_all_kinds(), {}, [], False, 0.0, "", odd()]
    interpreter, second, same = RememberingInterpreter(before), [], []
    for _ in range(2):
        same.append([interpreter.interpret_op(Op.add, (x, second)) is x for x in values])
        second.append("the same list, with something more in it")
    return {
        "the answers themselves are returned, twice each": same,
        "how often the one before is asked": before.asked,
        "the operands reach the one before in a tuple": all(in_tuples),
    }


@probe(uses=[answering])
def two_that_remember(mj):
    """Two interpreters, which know nothing of each other, and one above the other."""
    x, y = object(), object()
    below = answering(lambda op, args: [op], tricky=True)
    first, second = RememberingInterpreter(below), RememberingInterpreter(below)
    upper = RememberingInterpreter(first)
    counts = []
    for interpreter in (first, first, second, first, upper, second, upper):
        interpreter.interpret_op(Op.mul, (x, y))
        upper.interpret_op(Op.mul, (y, y))
        RememberingInterpreter(below).interpret_op(Op.add, (x, x))  # and is gone
        counts.append(below.asked)
    return counts


@probe(uses=[answering])
def remembered_after_errors(mj, errors):
    """An operation that fails at first, and then no longer, between questions that are known."""

    def fail(op, args):
        if op is Op.add and len(raised) < len(errors):
            raised.append(getattr(builtins, errors[len(raised)])("out"))
            raise raised[-1]
        return before.asked

    before, outs, raised, x = answering(fail), [], [], 2.5
    interpreter = RememberingInterpreter(before)
    for _ in [*errors, None, None]:
        outs.append(interpreter.interpret_op(Op.mul, (x, x)))
        try:
            outs.append(interpreter.interpret_op(Op.add, (x, x)))
        except BaseException as error:
            outs.append("the interpreter's" if error is raised[-1] else "another error")
    return {"what is returned or raised, in turn, for an operation that fails at first": outs}


@probe(uses=[answering])
def while_current(mj):
    """The interpreter before is asked, whichever is the current one, which it may ask itself."""

    def tell(op, args):
        asked.append(str(op))
        if op is Op.mul:
            args = [interpreter.interpret_op(Op.add, args)]
        return f"{op} {args}"

    asked, answers, before = [], [], answering(tell)
    interpreter, other = RememberingInterpreter(before), answering(lambda op, args: "other")
    for current, x in ((interpreter, 1.5), (before, 2.5), (other, 3.5)):
        context.interpreter = current
        for op in (Op.mul, Op.add):
            answers += [interpreter.interpret_op(op, pair) for pair in (("x", x), ("x", "y"))]
    return {"what the interpreter before is asked": asked, "the answers": answers}


@pytest.mark.meets("twice", "again")
@pytest.mark.keeps("return that answer")
def test_the_same_question(student):
    """An operation on operands that were there before is asked once; its answer returns."""
    student.agrees(remembered, [["add", 4, 9], ["add", 4, 9], ["add", 4, 9]])
    student.agrees(remembered, [["mul", 6, 6], ["add", 6, 8], ["mul", 6, 6], ["add", 6, 8]])
    student.agrees(remembered_many, 520)


@pytest.mark.meets("none", "zeros")
@pytest.mark.keeps("return that answer", "of any kind and number")
def test_remembered_answers_of_any_kind(student):
    """Operands and answers of any kind are remembered, even None, 0.0 and an empty list."""
    student.agrees(remembered_kinds)


@pytest.mark.keeps("computed by the interpreter before")
def test_other_operations(student):
    """The other operation on the same operands is asked for."""
    student.agrees(remembered, [["add", 4, 9], ["mul", 4, 9], ["add", 4, 9]])


@pytest.mark.meets("order", "sizes")
@pytest.mark.keeps("in the same order")
def test_other_questions(student):
    """Other operands, the same ones in the other order, and more of them, are asked for."""
    student.agrees(remembered, [["mul", 9, 4], ["mul", 9, 9], ["mul", 4, 9], ["mul", 9, 4]])
    student.agrees(remembered, [["add", 9, 4], ["add", 4, 4], ["mul", 4, 9], ["add", 4, 9]])
    student.agrees(remembered, [["mul", 4, *[9] * more] for more in (1, 2, 0, 6, 7, 2, 0, 6, 1)])
    student.agrees(remembered, [["mul"], ["add"], ["mul"], ["add"]])
    student.agrees(remembered, [["mul", 6], ["mul", 7], ["mul", 0], ["mul", 1], ["mul", 6]])
    student.agrees(remembered, [["add", *p] for p in ([4, 8, 9], [8, 4, 9], [4, 9, 8], [4, 8, 9])])
    student.agrees(remembered, [["add", 4, 8, 9, *p] for p in ([6, 0], [7, 0], [6, 1], [6, 0])])


@pytest.mark.meets("caching", "zeros", "extremes")
@pytest.mark.keeps("Equal is not enough", "1.0 == True")
def test_equal_operands(student):
    """Equal numbers that are not the same object are different operands."""
    student.agrees(remembered, [["add", 0, 4], ["add", 1, 4], ["add", 0, 4]])
    student.agrees(remembered, [["mul", 2, 4], ["mul", 3, 4], ["mul", 5, 4], ["mul", 5, 4]])
    student.agrees(remembered, [["add", 9, 4], ["add", 10, 4]])
    student.agrees(remembered, [["mul", place, 4] for place in range(11, 21)])


@pytest.mark.meets("none")
@pytest.mark.keeps("of any kind and number", "Equal is not enough")
def test_equal_lists(student):
    """Operands may be of any kind; of two equal lists, each is an operand of its own."""
    student.agrees(remembered, [["add", 6, 8], ["add", 7, 8], ["add", 6, 8]])
    student.agrees(remembered, [["add", 5, 8], ["add", 8, 5], ["add", 7, 8], ["add", 6, 8]])


@pytest.mark.meets("length", "caching")
def test_operands_that_pass(student):
    """Operands may be gone before the next ones come."""
    student.agrees(passing, "a list", 200)


def test_numbers_that_pass(student):
    """Numbers, tuples and strings may be gone before the next ones come."""
    for kind in ("a float", "an int", "a tuple", "a string"):
        student.agrees(passing, kind, 100)


@pytest.mark.meets("nested", "another_box", "moment")
@pytest.mark.keeps("computed by the interpreter before")
def test_several_that_remember(student):
    """Each interpreter remembers its own questions, and asks the interpreter before it."""
    student.agrees(two_that_remember)
    student.agrees(while_current)


@pytest.mark.meets("exception")
def test_a_question_without_answer(student):
    """An exception comes out, and is not an answer."""
    student.agrees(remembered_after_errors, ["KeyError"])
    student.agrees(remembered_after_errors, ["StopIteration", "KeyboardInterrupt", "TypeError"])


exercise("interpreters.count_ops")


def texts():
    """An interpreter that makes strings."""
    return answering(lambda op, args: f"{op}({args[0]}, {args[1]})", tricky=True)


def ask(name, *args):
    """Apply an operation without `bind`, which is an exercise."""
    return context.interpreter.interpret_op(Op[name], args)


@probe(uses=[ask, texts])
def counts(mj, programs, x):
    """Result and number of operations of functions that apply these operations in turn."""
    context.interpreter = text = texts()

    def run(program):
        def f(value):
            for name in program:
                value = ask(name, value, "x")
            return value

        return count_ops(f, x)

    outs = [run(program) for program in programs]
    return {
        "the results and counts": outs,
        "what the interpreter before is asked": text.asked,
        "the interpreter before is current again": context.interpreter is text,
    }


@probe(uses=[ask, texts])
def arguments(mj, args):
    """What the function is called with, how often, and which interpreter does the work."""
    context.interpreter = text = texts()
    calls = []

    class Empty:
        """A function that has no name, and says that it is empty."""

        __hash__ = None

        def __len__(self):
            return 0

        def __call__(self, *args):
            outs = [(ask("mul", x, four), ask("add", x, four)) for x in (2.5, two, two)]
            calls.append((args, outs))
            return list(args), "kept"

    two, four = 2.0, 4.0
    out, count = count_ops(Empty(), *args)
    return {
        "value": out,
        "the count": count,
        "calls of f": calls,
        "what the interpreter before is asked": text.asked,
        "the interpreter before is current again": context.interpreter is text,
        "the class of the result": type(out).__name__,
    }


@probe(uses=[answering, ask, texts])
def nested_counts(mj, inner, after):
    """A function that counts the operations of a second one, and applies some itself.

    It applies them by an interpreter of its own, which leaves the work to the one before.
    """
    context.interpreter = text = texts()

    def many(number):
        def f(value):
            def passing(op, args):
                passed.append(op.name)
                return before.interpret_op(op, args)

            before, context.interpreter = context.interpreter, answering(passing)
            for _ in range(number):
                value = ask("mul", value, 2.5)
            context.interpreter = before
            return value

        return f

    def outer(x):
        y, count = count_ops(many(inner), ask("add", x, 1.5))
        return many(after)(y), count

    passed = []
    out = count_ops(outer, 4.0)
    return {
        "the results and counts": out,
        "what the interpreter before is asked": text.asked,
        "which operations reach an interpreter that the function makes current for a while": passed,
    }


@probe(uses=[ask, texts])
def counts_of_itself(mj, depth):
    """A function that counts the operations of itself, one level less deep, and applies some."""
    context.interpreter, seen = texts(), []

    def f(n, x):
        if n == 0:
            return ask("mul", x, x)
        y, count = count_ops(f, n - 1, ask("add", x, 1.5))
        seen.append((n, count))
        return ask("mul", y, ask("mul", y, 2.0)) if n % 2 else y

    result, count = count_ops(f, depth, "x")
    innermost, count_of_it = count_ops(count_ops, f, 0, "x")
    return {
        "the result": result,
        "the count": count,
        "the result without a call inside": innermost,
        "the count without a call inside": count_of_it,
        "the counts of the calls inside": seen,
    }


@probe(uses=[ask, texts])
def counts_around(mj, second_is):
    """The count of a function in which a second count fails, or has an interpreter of its own."""
    context.interpreter = texts()

    def second(fails=True):
        ask("mul", 2.0, 2.5)
        count_ops(ask, "add", 2.0, 2.5)
        if fails:
            raise KeyError("out")

    def elsewhere():
        before, context.interpreter = context.interpreter, texts()
        counts_elsewhere.append(count_ops(second, False)[1])
        context.interpreter = before

    def f(x):
        y = ask("add", x, 1.5)
        if second_is == "in a thread":
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
        elif second_is == "elsewhere":
            elsewhere()
        else:
            with contextlib.suppress(KeyError):
                count_ops(second)
        return ask("mul", y, x)

    counts_elsewhere = []
    result, count = count_ops(f, "x")
    return {"the result": result, "the count": count, "the second count": counts_elsewhere}


@probe(uses=[ask, texts, of_all_kinds])
def results_themselves(mj):
    """Whether results of any kind are returned as they are, and the result of many operations."""

    def many():
        for _ in range(2000):
            last[:] = [ask("mul", 2.0, 2.5)]
        return last

    context.interpreter, last = texts(), []
    results = [iter([1.5]), (2.5,), [], {}, repr, *of_all_kinds()]
    return {
        "the result itself is the first of the pair": [
            count_ops(lambda x, y: y, 1.5, result)[0] is result for result in results
        ],
        "the result and the count of many operations": count_ops(many),
    }


@probe(uses=[texts])
def failing(mj, errors):
    """Which interpreter is current after functions that raise, or return, and what comes out."""

    def f(error):
        came.append("runs")
        if type(error) is not KeyError:
            context.interpreter = Interpreter()
        if type(error) is Warning:
            return
        raise error

    def run():
        before = context.interpreter
        for name in errors:
            raised = getattr(builtins, name)("out")
            try:
                count_ops(f, raised)
            except BaseException as error:
                came.append("the function's" if error is raised else "another error")
            came.append(context.interpreter is before)

    context.interpreter, came = texts(), []
    run()
    count_ops(run)
    return {"runs, error, and is the interpreter before current again": came}


@probe(uses=[ask, answering, of_all_kinds])
def counts_with_errors(mj, errors):
    """The count of a function that catches what its operations raise, and goes on with others."""

    def second(op, args):
        in_tuples.append(type(args) is tuple)
        if type(args[0]) is str and hasattr(builtins, args[0]):
            raised.append(getattr(builtins, args[0])("of the interpreter"))
            raise raised[-1]
        return args[1]

    def f(*errors):
        for name in errors:
            try:
                ask("mul", name, 2.5)
            except BaseException as error:
                same.append(error is raised[-1])
        return [ask("add", (), x) is x for x in [*of_all_kinds(), ValueError()]]

    context.interpreter = before = answering(second)
    raised, same, in_tuples = [], [], []
    kept, count = count_ops(f, *errors)
    return {
        "the count": count,
        "what the interpreter before is asked": before.asked,
        "the operands reach the one before in a tuple": all(in_tuples),
        "the error of an operation itself comes out": same,
        "operand and answer are the same object": kept,
        "the interpreter before is current again": context.interpreter is before,
    }


@pytest.mark.meets("order")
@pytest.mark.keeps("how many operations reach")
def test_result_and_number(student):
    """The result of the function and the number of its operations are returned, in this order."""
    student.agrees(counts, [["add"], ["mul", "add", "mul"]], 2.5)
    student.agrees(counts, [["mul", "mul"]], "y")


@pytest.mark.meets("sizes", "again")
@pytest.mark.keeps("how many operations reach")
def test_each_call_begins_at_zero(student):
    """Each call counts from zero, and a function without operations has none."""
    student.agrees(counts, [["add"] * 3, ["mul"], [], ["mul"] * 2], "x")


@pytest.mark.meets("order", "sizes", "moment", "none", "length")
@pytest.mark.keeps("runs once")
def test_the_function_runs_once(student):
    """The function runs once, on the arguments as they are; the interpreter before works."""
    student.agrees(arguments, [2.5])
    student.agrees(arguments, [2.5, "x", (4.0, None)])
    student.agrees(arguments, [])
    student.agrees(arguments, [None, 2.5])
    student.agrees(arguments, [(4.0, None)])
    student.agrees(results_themselves)


@pytest.mark.meets("twice", "caching", "nested")
@pytest.mark.keeps("how many operations reach")
def test_counting_inside_counting(student):
    """A function can be counted that counts a second one, or starts a thread that counts."""
    student.agrees(nested_counts, 3, 2)
    student.agrees(nested_counts, 1, 0)
    student.agrees(counts_of_itself, 3)
    student.agrees(counts_around, "in a thread")
    student.agrees(counts_around, "elsewhere")


@pytest.mark.meets("exception")
@pytest.mark.keeps("is current again")
def test_after_an_error(student):
    """After a function, even one that raises, all is as before, and so is the count around it."""
    student.agrees(
        failing, ["KeyError", "StopIteration", "KeyboardInterrupt", "TypeError", "Warning"]
    )
    student.agrees(counts_around, "failing")


@pytest.mark.meets("exception", "none")
@pytest.mark.keeps("whatever its values are")
def test_operations_that_fail(student):
    """An operation that fails reached the interpreter too, and its error comes out."""
    student.agrees(counts_with_errors, ["KeyError", "TypeError", "KeyboardInterrupt"])
    student.agrees(counts_with_errors, ["ValueError", "NotImplementedError"])


exercise("interpreters.whole")


def telling(name=""):
    """An interpreter whose values are short texts that number the operations."""

    def tell(op, args):
        operands = ", ".join(str(arg).partition(":")[0] for arg in args)
        return f"{name}{teller.asked}:{op}({operands})"

    teller = answering(tell)
    return teller


@probe(uses=[grown])
def programs(mj, seeds, inputs):
    """The values of random programs, and the intervals of short ones; a zero has no sign there."""
    with mj.set_interpreter(IntervalInterpreter()):
        pairs = [grown(mj, seed, [(-1.0, 2.0), (0.5, 3.0)], 4) for seed in seeds]
    return {
        "the values of the programs": [repr(grown(mj, seed, inputs)) for seed in seeds],
        "the intervals of the programs": [tuple(bound + 0.0 for bound in x) for x in pairs],
    }


@probe
def refused_in_programs(mj, values):
    """What `mul` and `add` answer if one operand is this, in the middle of a program."""

    class Own(float):
        pass

    answers = []
    for value in [*values, Own(2.5)]:
        for f in (mj.add, mj.mul):
            for args in ((value, 2.0), (2.0, value)):
                try:
                    answers.append(repr(f(*args)))
                except TypeError:
                    answers.append("TypeError")
    return {
        "what comes of each operation": answers,
        "the value of a program afterwards, and its count": repr(
            count_ops(lambda x: mj.mul(mj.add(x, 2.0), 2.0), 1.5)
        ),
    }


@probe(uses=[grown, telling])
def told(mj, seeds, inputs):
    """Random programs as strings, one after the other, and who was asked; and all once more."""
    tellers = [telling() for _ in seeds]
    outs, again = [], []
    for teller, seed in zip(tellers, seeds, strict=True):
        with mj.set_interpreter(teller):
            outs.append(grown(mj, seed, inputs))
        with mj.set_interpreter(RememberingInterpreter(teller)):
            again += [grown(mj, seed, inputs) for _ in range(2)]
    return {
        "the results of the programs": outs,
        "the results where nothing is asked twice": again,
        "what each interpreter is asked": [teller.asked for teller in tellers],
    }


@probe(uses=[grown, telling])
def told_by_turns(mj, seeds, error):
    """Nested blocks, some of which fail; the program goes on around them, and is counted."""
    first, second = telling("a"), telling("b")
    outs, kinds = [], [type(current_interpreter()).__name__]

    def nest(seeds):
        if not seeds:
            raise getattr(builtins, error)("out")
        with mj.set_interpreter(first if len(seeds) % 2 else second):
            try:
                nest(seeds[1:])
            except BaseException as found:
                outs.append([type(found).__name__, grown(mj, seeds[0], ["x", "y"])])
                if len(seeds) < 3:
                    raise
            outs.append(count_ops(lambda: grown(mj, seeds[0], ["z"], 3)))

    nest(seeds)
    kinds.append(type(current_interpreter()).__name__)
    return {
        "the class of the current interpreter before and after": kinds,
        "the results of the programs": outs,
        "what the first interpreter is asked": first.asked,
        "what the second interpreter is asked": second.asked,
    }


@probe(uses=[grown])
def counted(mj, seeds, inputs, lengths):
    """Results and numbers of operations of random programs."""

    def f(seed, length, *inputs):
        return grown(mj, seed, inputs, length)

    return {
        "the results and counts": [
            repr(count_ops(f, seed, n, *inputs)) for seed, n in zip(seeds, lengths, strict=True)
        ]
    }


@probe(uses=[grown])
def counted_inside(mj, seed, depth):
    """A program that counts the operations of a second one, which does the same, and goes on."""

    def f(depth, x):
        y = grown(mj, seed + depth, [x], 1 + depth)
        if depth:
            z, count = count_ops(f, depth - 1, mj.mul(y, 0.5))
            y = mj.add(mj.mul(z, y), float(count))
        return y

    return {
        "the result and count": repr(count_ops(f, depth, 1.5)),
        "the result without counting": repr(f(depth, 1.5)),
    }


@probe(uses=[grown, telling])
def counted_texts(mj, seed, length):
    """Counting where strings are made: a function that fails, and a second one afterwards."""

    def fails(x):
        mj.mul(grown(mj, seed, [x], length), x)
        raise KeyError("out")

    def within(x):
        y = grown(mj, seed, [x], length)
        with mj.set_interpreter(telling("b")):
            z, count = count_ops(lambda: mj.mul(y, y))
        return mj.add(z, count)

    teller, errors = telling(), []
    with mj.set_interpreter(teller):
        for f in (fails, lambda x: count_ops(fails, mj.add(x, x))):
            try:
                count_ops(f, "x")
            except KeyError as error:
                errors.append(error.args[0])
        out = count_ops(within, "x")
        last = mj.add("x", "y")
    return {
        "the result": out[0],
        "the count": out[1],
        "the result of an operation afterwards": last,
        "the errors that come out": errors,
        "what the interpreter before is asked": teller.asked,
    }


@probe(uses=[grown, telling])
def threads(mj, seed):
    """A function that is counted, and threads in its middle that evaluate, count and tell."""
    begun, ended = threading.Event(), threading.Event()

    def elsewhere():
        outs["a value"] = repr(grown(mj, seed, [0.5], 3))
        outs["a result and its count"] = repr(count_ops(lambda x: grown(mj, seed, [x]), 1.5))
        with mj.set_interpreter(telling()):
            outs["a text"] = grown(mj, seed, ["x"])

    def late():
        with mj.set_interpreter(telling()):
            begun.set()
            ended.wait(2)
            outs["a text that is late"] = mj.add("x", "y")

    def f(x):
        y = grown(mj, seed, [x])
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        with mj.set_interpreter(EvalInterpreter()):
            second.start()
            begun.wait(2)
        return grown(mj, seed, [x, y])

    outs, second = {}, threading.Thread(target=late)
    result = repr(count_ops(f, 1.5))
    ended.set()
    second.join()
    return {"the result and count": result, "what the threads get": outs}


def test_whole_values(student):
    """Programs of sums and products have the values that Python computes."""
    student.agrees(programs, [1, 2, 3, 4, 5, 6], [1.5, -2.0])
    student.agrees(programs, [7, 8, 9], [INF, 1e200, -0.5])


def test_whole_refusals(student):
    """An operand that is not a float raises TypeError, and programs go on after that."""
    student.agrees(refused_in_programs, [2, True, "x", None])


@pytest.mark.meets(twice="bind")
def test_whole_texts(student):
    """If a different interpreter is current, programs mean what that one says."""
    student.agrees(told, [1, 2, 3], ["x", "y"])
    student.agrees(told, [4, 5], [1.5, 2])


@pytest.mark.meets(nested="bind")
def test_whole_blocks(student):
    """After each block, even one that fails, the program goes on under the interpreter before."""
    student.agrees(told_by_turns, [1, 2, 3], "KeyError")
    student.agrees(told_by_turns, [4, 5, 6, 7, 8], "GeneratorExit")


@pytest.mark.meets(again="count_ops", caching="count_ops", length="bind count_ops")
def test_whole_counts(student):
    """A program's result is returned with the number of its operations."""
    student.agrees(counted, [1, 2, 3], [1.5, -2.0], [12, 1, 30])
    student.agrees(counted, [4, 4], [0.25], [7, 7])


@pytest.mark.meets(nested="count_ops", length="count_ops")
def test_whole_counts_inside_counts(student):
    """A program that counts operations inside can be counted, to any depth."""
    student.agrees(counted_inside, 10, 1)
    student.agrees(counted_inside, 20, 4)


@pytest.mark.meets(another_box="count_ops", exception="count_ops")
def test_whole_counts_of_texts(student):
    """Operations of any interpreter can be counted, and a function that fails leaves no trace."""
    student.agrees(counted_texts, 1, 5)
    student.agrees(counted_texts, 2, 12)


@pytest.mark.meets(nested="bind")
def test_whole_threads(student):
    """A thread that a counted function starts has no part in its count, and counts for itself."""
    student.agrees(threads, 3)
