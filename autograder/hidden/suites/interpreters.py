"""Hidden tests of the `interpreters` lesson: what operations mean, and who decides it.

Every exercise is tested alone. Probes put interpreters of their own in charge, most of which make
strings, so that it shows who was asked for what, and replace sibling exercises that they need. The
whole module is asked for random programs, in which operands repeat and constants meet.
"""

from typing import TYPE_CHECKING

import pytest

from autograder.grading.in_worker import grown, in_place
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import builtins
    import threading

    from microjax.interpreters import CountingInterpreter, Interpreter, Op, bind, context, count_ops

INF = float("inf")
NAN = float("nan")


exercise("interpreters.evaluate")


@probe
def evaluated(mj, name, pairs):
    """The results of one operation on pairs of numbers, to the last digit, and their types."""
    interpreter = mj.EvalInterpreter()
    results = [interpreter.interpret_op(mj.Op[name], (x, y)) for x, y in pairs]
    return {
        "the results": [repr(result) for result in results],
        "the types of the results": [type(result).__name__ for result in results],
    }


@probe
def refused(mj, name, pairs):
    """The class of what is raised for each of these pairs, or the result if nothing is."""
    interpreter, answers = mj.EvalInterpreter(), []
    for pair in pairs:
        try:
            answers.append(interpreter.interpret_op(mj.Op[name], tuple(pair)))
        except TypeError:
            answers.append("TypeError")
    return {
        "what comes of each pair": answers,
    }


@probe
def evaluated_elsewhere(mj, x, y):
    """Evaluation while another interpreter is the current one, and how often that one was asked."""

    class Other(mj.Interpreter):
        asked = 0

        def interpret_op(self, op, args):
            self.asked += 1
            return 1000.0

    context.interpreter = other = Other()
    interpreter = mj.EvalInterpreter()
    results = [interpreter.interpret_op(op, (x, y)) for op in (mj.Op.add, mj.Op.mul)]
    return {
        "the results": results,
        "calls of the current interpreter": other.asked,
    }


@pytest.mark.meets("extremes")
def test_sums(student):
    """Op.add returns the sum of the two floats."""
    student.agrees(evaluated, "add", [(2.5, 4.0), (-1.5, 0.25), (0.1, 0.2)])
    student.agrees(evaluated, "add", [(INF, -3.0), (INF, -INF), (0.0, -0.5)])


def test_products(student):
    """Op.mul returns the product of the two floats."""
    student.agrees(evaluated, "mul", [(2.5, 4.0), (-1.5, 0.25), (0.1, 0.2)])
    student.agrees(evaluated, "mul", [(INF, -3.0), (INF, 0.0), (0.0, -0.5)])


@pytest.mark.meets("again", "caching", "zeros", "extremes")
def test_unusual_numbers(student):
    """Infinite numbers, nan and zeros of either sign are multiplied as Python does it."""
    student.agrees(evaluated, "mul", [(0.0, 1.0), (-0.0, 1.0), (0.0, -2.5), (-1.5, -0.0)])
    student.agrees(evaluated, "mul", [(0.0, INF), (NAN, 0.0), (1e200, -1e200), (INF, -INF)])


@pytest.mark.meets("order", "again", "caching")
def test_terms_that_are_no_floats(student):
    """A term of a sum that is not a float raises TypeError."""
    student.agrees(refused, "add", [(2, 3.5), (2.5, 3), (True, 2.0), ("2.0", "3.0")])
    student.agrees(refused, "add", [(2.0, 1.0), (2.0, True), (2, 1.0), (2.0, 1.0)])


@pytest.mark.meets("caching")
def test_factors_that_are_no_floats(student):
    """A factor that is not a float raises TypeError."""
    student.agrees(refused, "mul", [(2, 3.5), (2.5, 3), (2.0, False), ("2.0", 3)])
    student.agrees(refused, "mul", [(2.0, 0.0), (2.0, 0), (2.0, False), (2.0, 0.0)])


@pytest.mark.meets("nested")
def test_evaluation_asks_nobody(student):
    """Evaluation computes by itself, whichever interpreter is the current one."""
    student.agrees(evaluated_elsewhere, 2.5, 4.0)
    student.agrees(evaluated_elsewhere, -1.5, 8.0)


exercise("interpreters.set_interpreter")


@probe
def currents(mj, depth):
    """Which interpreter is current before, inside and after nested blocks."""
    made = [mj.current_interpreter(), *(mj.EvalInterpreter() for _ in range(depth))]
    seen = []

    def look():
        seen.append([i for i, x in enumerate(made) if x is mj.current_interpreter()])

    def nest(level):
        look()
        if level <= depth:
            with mj.set_interpreter(made[level]):
                nest(level + 1)
            look()

    nest(1)
    return {
        "the current interpreter at each place": seen,
    }


@probe
def one_after_another(mj, times):
    """Which interpreter is current in blocks that follow each other, and between them."""
    made = [mj.current_interpreter(), *(mj.EvalInterpreter() for _ in range(times))]
    seen = []
    for interpreter in made[1:]:
        with mj.set_interpreter(interpreter):
            seen.append([x is mj.current_interpreter() for x in made])
        seen.append([x is mj.current_interpreter() for x in made])
    return {
        "the current interpreter at each place": seen,
    }


@probe
def same_twice(mj):
    """The same interpreter in two blocks, one inside the other."""
    first, other = mj.current_interpreter(), mj.EvalInterpreter()
    seen = []
    with mj.set_interpreter(other):
        with mj.set_interpreter(other):
            seen.append(mj.current_interpreter() is other)
        seen.append(mj.current_interpreter() is other)
    seen.append(mj.current_interpreter() is first)
    return {
        "the right interpreter is current at each place": seen,
    }


@probe
def after_an_error(mj, depth, error_class="KeyError"):
    """Whether the error of a block comes out, and which interpreter is current then."""
    error_class = getattr(builtins, error_class)
    made = [mj.current_interpreter(), *(mj.EvalInterpreter() for _ in range(depth))]
    seen = []

    def nest(level):
        if level > depth:
            raise error_class("out")
        try:
            with mj.set_interpreter(made[level]):
                nest(level + 1)
        finally:
            seen.append([i for i, x in enumerate(made) if x is mj.current_interpreter()])

    came = "nothing"
    try:
        nest(1)
    except error_class as error:
        came = error_class.__name__ if error.args == ("out",) else "another error"
    return {"error": came, "the interpreter that is current after each block": seen}


@probe
def left_early(mj, how):
    """A block that is left by return, break or continue."""
    first, other = mj.current_interpreter(), mj.EvalInterpreter()

    def leave():
        with mj.set_interpreter(other):
            return mj.current_interpreter() is other

    inside = leave()
    for _ in range(2):
        with mj.set_interpreter(other):
            if how == "break":
                break
            continue
    return {
        "the block's interpreter is current inside": inside,
        "the interpreter before is current afterwards": mj.current_interpreter() is first,
    }


@probe
def made_early(mj):
    """Blocks that are made in one place, and begin under a different interpreter."""
    first, other, third = (mj.EvalInterpreter() for _ in range(3))
    block, seen = mj.set_interpreter(other), []
    with mj.set_interpreter(first):
        again = mj.set_interpreter(other)
        with block:
            seen.append(mj.current_interpreter() is other)
        seen.append(mj.current_interpreter() is first)
        with mj.set_interpreter(third):
            with again:
                seen.append(mj.current_interpreter() is other)
            seen.append(mj.current_interpreter() is third)
        seen.append(mj.current_interpreter() is first)
    return {
        "the right interpreter is current at each place": seen,
    }


@probe
def there_and_back(mj, numbers):
    """Blocks for interpreters of these numbers inside each other, each seen again at its end."""
    made = [mj.EvalInterpreter() for _ in range(1 + max(numbers))]
    before, seen = mj.current_interpreter(), []

    def look():
        seen.append([i for i, x in enumerate([*made, before]) if x is mj.current_interpreter()])

    def nest(numbers):
        look()
        if numbers:
            with mj.set_interpreter(made[numbers[0]]):
                nest(numbers[1:])
            look()

    nest(numbers)
    return {
        "the current interpreter at each place": seen,
    }


@probe
def threads_in_turn(mj):
    """Blocks of two threads that begin and end in turn: each thread gets its own ones back."""
    mine, theirs, seen = mj.EvalInterpreter(), mj.EvalInterpreter(), []

    def work():
        before = mj.current_interpreter()
        with mj.set_interpreter(theirs):
            begun.set()
            go_on.wait(5.0)
        seen.append([mj.current_interpreter() is x for x in (before, mine, theirs)])

    begun, go_on = threading.Event(), threading.Event()
    thread = threading.Thread(target=work)
    with mj.set_interpreter(mine):
        thread.start()
        begun.wait(5.0)
        with mj.set_interpreter(mj.EvalInterpreter()):
            go_on.set()
            thread.join()
        seen.append([mj.current_interpreter() is x for x in (mine, theirs)])
    seen.append(mj.current_interpreter() is mine)
    return {
        "the right interpreter is current at each place": seen,
    }


@probe
def two_threads(mj):
    """What another thread sees while this one is in a block, and the other way round."""
    mine, theirs, seen = mj.EvalInterpreter(), mj.EvalInterpreter(), []

    def work():
        seen.append(mj.current_interpreter() is mine)
        with mj.set_interpreter(theirs):
            seen.append(mj.current_interpreter() is theirs)
            started.set()
            looked.wait(5.0)

    started, looked = threading.Event(), threading.Event()
    thread = threading.Thread(target=work)
    with mj.set_interpreter(mine):
        thread.start()
        started.wait(5.0)
        seen.append(mj.current_interpreter() is mine)
        looked.set()
        thread.join()
        seen.append(mj.current_interpreter() is mine)
    return {
        "the right interpreter is current at each place": seen,
    }


@pytest.mark.meets("again")
def test_inside_the_block(student):
    """Inside the block the new interpreter is the current one, and after it no longer."""
    student.agrees(one_after_another, 1)
    student.agrees(one_after_another, 3)


@pytest.mark.meets("twice", "nested")
def test_blocks_inside_each_other(student):
    """After each block the interpreter of the block around it is current."""
    student.agrees(currents, 2)
    student.agrees(currents, 4)
    student.agrees(same_twice)
    student.agrees(there_and_back, [0, 1, 0])
    student.agrees(there_and_back, [0, 1, 0, 2, 1, 1])


@pytest.mark.meets("moment")
def test_blocks_begin_when_they_are_entered(student):
    """What is current when a block begins is current after it, wherever the block was made."""
    student.agrees(made_early)


@pytest.mark.meets("exception")
def test_a_block_that_fails(student):
    """An exception leaves the block, and the interpreter before it is current again."""
    student.agrees(after_an_error, 1)
    for error in ("KeyboardInterrupt", "SystemExit", "GeneratorExit", "StopIteration"):
        student.agrees(after_an_error, 1, error)


@pytest.mark.meets("exception")
def test_blocks_that_fail(student):
    """An exception in nested blocks ends each of them."""
    student.agrees(after_an_error, 3)


def test_blocks_that_are_left_early(student):
    """After a block that is left by return, break or continue, all is as before it."""
    student.agrees(left_early, "break")
    student.agrees(left_early, "continue")


@pytest.mark.meets("nested", "moment")
def test_threads(student):
    """Each thread has its own current interpreter."""
    student.agrees(two_threads)
    student.agrees(threads_in_turn)


exercise("interpreters.bind")


@probe
def asked(mj, name, operands):
    """What the current interpreter is asked, and whether its answer comes back itself."""
    calls, answer = [], object()

    class Ask(mj.Interpreter):
        def interpret_op(self, op, args):
            calls.append((self is asked, op is mj.Op[name], args))
            return answer

    context.interpreter = asked = Ask()
    out = bind(mj.Op[name], *operands)
    return {
        "calls of the current interpreter": calls,
        "its answer itself comes back": out is answer,
    }


@probe
def asked_last(mj, number, name, operands):
    """Interpreters become current one after the other; the one that is current now is asked."""

    class Tell(mj.Interpreter):
        def __init__(self, number):
            self.number = number

        def interpret_op(self, op, args):
            return f"{self.number}: {op} {args}"

    answers = []
    for i in range(number):
        context.interpreter = Tell(i)
        answers.append(bind(mj.Op[name], *operands))
    return {
        "which interpreter answers, and what": answers,
    }


@probe
def answers_of_any_kind(mj, answers):
    """What is returned if the interpreter gives these answers, or raises the errors named."""

    class Answer(mj.Interpreter):
        def interpret_op(self, op, args):
            answer = answers[asked.pop()]
            error = getattr(builtins, str(answer), None)
            if error is not None and answer is not None:
                raise error("of the interpreter")
            return answer

    context.interpreter, asked, seen = Answer(), [], []
    for i in range(len(answers)):
        asked.append(i)
        try:
            seen.append(repr(bind(mj.Op.add, 1.5, 2.5)))
        except Exception as error:
            seen.append(f"{type(error).__name__} {error}")
    return {"what comes of each answer or error of the interpreter": seen}


@probe
def operand_itself(mj):
    """Operands that are neither copied nor looked at."""

    class Second(mj.Interpreter):
        def interpret_op(self, op, args):
            return args[1]

    class Odd:
        __hash__ = None

        def __eq__(self, other):
            raise AssertionError("compared")

        def __bool__(self):
            raise AssertionError("looked at")

    context.interpreter, x, y = Second(), Odd(), Odd()
    return {
        "the answer to add comes back itself": bind(mj.Op.add, x, y) is y,
        "the answer to mul comes back itself": bind(mj.Op.mul, y, x) is x,
    }


@probe
def formula(mj, x):
    """What a program is if operations make strings, through add and mul."""

    class Text(mj.Interpreter):
        def interpret_op(self, op, args):
            return f"({args[0]} {'+' if op is mj.Op.add else '*'} {args[1]})"

    context.interpreter = Text()
    return {"the results of the programs": [mj.mul(x, mj.add(x, 3.0)), mj.add(mj.mul(2.0, x), x)]}


@pytest.mark.meets("sizes")
def test_the_question(student):
    """The current interpreter is asked once, for the operation, with all operands in one tuple."""
    student.agrees(asked, "add", [2.5, 4.0])
    student.agrees(asked, "mul", [4.0, "x"])
    student.agrees(asked, "mul", [1.5])
    student.agrees(asked, "add", [2, True])
    student.agrees(asked, "mul", [0, None, "x"])


@pytest.mark.meets("again", "caching", "moment")
def test_who_is_asked(student):
    """The interpreter that is current at that moment is asked."""
    student.agrees(asked_last, 3, "add", [2.5, 4.0])
    student.agrees(asked_last, 2, "mul", ["x", 7.0])


@pytest.mark.meets("another_box", "order")
def test_operands_of_any_kind(student):
    """Operands reach the interpreter as they are, whatever they are."""
    student.agrees(operand_itself)


@pytest.mark.meets("exception", "none", "zeros")
def test_answers_of_any_kind(student):
    """The interpreter's answer is the result, whatever it is, and so is its error."""
    student.agrees(answers_of_any_kind, [0.0, None, "", False, [], 2])
    student.agrees(answers_of_any_kind, ["NotImplementedError", "TypeError", "KeyError", 1.5])


def test_add_and_mul(student):
    """With bind, add and mul mean what the current interpreter makes of them."""
    student.agrees(formula, "x")
    student.agrees(formula, 0.5)


exercise("interpreters.count_op")


@probe
def counted_calls(mj, names):
    """The count after each operation, and what the interpreter before was asked."""

    class Tell(mj.Interpreter):
        def __init__(self):
            self.asked = []

        def interpret_op(self, op, args):
            self.asked.append(f"{op} {args}")
            return f"answer {len(self.asked)}"

    before = Tell()
    interpreter, seen = CountingInterpreter(before), []
    for place, name in enumerate(names):
        out = interpreter.interpret_op(mj.Op[name], (float(place // 2), 2))
        seen.append((out, interpreter.count))
    return {
        "the count after each operation": seen,
        "what the interpreter before is asked": before.asked,
    }


@probe
def two_counters(mj, first, second):
    """Two of them, one on top of the other: what each has counted."""

    class Tell(mj.Interpreter):
        def interpret_op(self, op, args):
            return f"{op} {args}"

    lower = CountingInterpreter(Tell())
    upper = CountingInterpreter(lower)
    answers = [upper.interpret_op(mj.Op.add, (float(i), 2.5)) for i in range(first)]
    answers += [lower.interpret_op(mj.Op.mul, (float(i), 2.5)) for i in range(second)]
    return {
        "the answers": answers,
        "the count of the lower interpreter": lower.count,
        "the count of the upper interpreter": upper.count,
    }


@probe
def passed_on(mj):
    """Whether operands and result pass through as they are."""
    x, y, answer, seen = object(), object(), object(), []

    class Look(mj.Interpreter):
        def interpret_op(self, op, args):
            seen.append((type(args).__name__, args[0] is x, args[1] is y, op is mj.Op.mul))
            return answer

    out = CountingInterpreter(Look()).interpret_op(mj.Op.mul, (x, y))
    return {
        "operation and operands are passed on as they are": seen,
        "the answer itself comes back": out is answer,
    }


@probe
def not_the_current_one(mj, current):
    """The interpreter before does the work, whichever one is current; what that one was asked."""

    class Tell(mj.Interpreter):
        def __init__(self, name):
            self.name, self.asked = name, 0

        def interpret_op(self, op, args):
            self.asked += 1
            return f"{self.name}: {op} {args}"

    before, other = Tell("before"), Tell("other")
    interpreter = CountingInterpreter(before)
    context.interpreter = {"itself": interpreter, "other": other}[current]
    out = interpreter.interpret_op(mj.Op.add, ("x", 2.5))
    return {
        "the result": out,
        "the count": interpreter.count,
        "what the interpreter before is asked": before.asked,
        "what the current interpreter is asked": other.asked,
    }


@pytest.mark.meets("again")
def test_every_operation_counts(student):
    """Each operation, be it a sum or a product, counts once."""
    student.agrees(counted_calls, ["add", "mul", "mul"])
    student.agrees(counted_calls, ["mul", "add", "add", "mul", "add"])


@pytest.mark.meets("order", "twice", "again", "caching")
def test_the_other_one_works(student):
    """The result is the answer of the interpreter before this one to the same operands."""
    student.agrees(counted_calls, ["mul"])
    student.agrees(counted_calls, ["mul", "mul", "add", "add"])
    student.agrees(passed_on)


@pytest.mark.meets("nested")
def test_a_counter_on_a_counter(student):
    """If the interpreter before this one counts as well, both count."""
    student.agrees(two_counters, 3, 0)
    student.agrees(two_counters, 2, 3)


@pytest.mark.meets("another_box", "moment")
def test_work_goes_to_the_one_before(student):
    """The interpreter before this one does the work, whichever is current."""
    student.agrees(not_the_current_one, "other")
    student.agrees(not_the_current_one, "itself")


exercise("interpreters.count_ops")

SIBLINGS = siblings("interpreters.set_interpreter", "interpreters.count_op")


def texts():
    """An interpreter that makes strings, and counts how often it was asked."""

    class Text(Interpreter):
        asked = 0

        def interpret_op(self, op, args):
            self.asked += 1
            return f"{op}({args[0]}, {args[1]})"

    return Text()


def ask(name, *args):
    """Apply an operation without `bind`, which is an exercise."""
    return context.interpreter.interpret_op(Op[name], args)


@probe(uses=[ask, in_place, texts])
def counts(mj, siblings, programs, x):
    """Result and number of operations of functions that apply these operations in turn."""
    context.interpreter = text = texts()

    def run(program):
        def f(value):
            for name in program:
                value = ask(name, value, "x")
            return value

        return count_ops(f, x)

    with in_place("microjax.interpreters", siblings):
        outs = [run(program) for program in programs]
    return {
        "the results and counts": outs,
        "what the interpreter before is asked": text.asked,
        "the interpreter before is current again": context.interpreter is text,
    }


@probe(uses=[ask, in_place, texts])
def arguments(mj, siblings, args):
    """What the function is called with, how often, and which interpreter does the work."""
    context.interpreter = text = texts()
    calls = []

    def f(*args):
        calls.append((args, ask("mul", 2.5, 4.0)))
        return list(args), "kept"

    with in_place("microjax.interpreters", siblings):
        out, count = count_ops(f, *args)
    return {
        "value": out,
        "the count": count,
        "calls of f": calls,
        "what the interpreter before is asked": text.asked,
        "the interpreter before is current again": context.interpreter is text,
        "the class of the result": type(out).__name__,
    }


@probe(uses=[ask, in_place, texts])
def nested_counts(mj, siblings, inner, after):
    """A function that counts the operations of a second one, and applies some itself."""
    context.interpreter = text = texts()

    def many(number):
        def f(value):
            for _ in range(number):
                value = ask("mul", value, 2.5)
            return value

        return f

    def outer(x):
        y, count = count_ops(many(inner), ask("add", x, 1.5))
        return many(after)(y), count

    with in_place("microjax.interpreters", siblings):
        out = count_ops(outer, 4.0)
    return {
        "the results and counts": out,
        "what the interpreter before is asked": text.asked,
    }


@probe(uses=[ask, in_place, texts])
def counts_of_itself(mj, siblings, depth):
    """A function that counts the operations of itself, one level less deep, and applies some."""
    context.interpreter, seen = texts(), []

    def f(n, x):
        if n == 0:
            return ask("mul", x, x)
        y, count = count_ops(f, n - 1, ask("add", x, 1.5))
        seen.append((n, count))
        return ask("mul", y, ask("mul", y, 2.0)) if n % 2 else y

    with in_place("microjax.interpreters", siblings):
        return {
            "the result and count": count_ops(f, depth, "x"),
            "the result and count without a call inside": count_ops(f, 0, "x"),
            "the counts of the calls inside": seen,
        }


@probe(uses=[in_place, texts])
def failing(mj, siblings):
    """Which interpreter is current after a function that raises, and what comes out."""
    context.interpreter = text = texts()
    with in_place("microjax.interpreters", siblings):
        try:
            count_ops(lambda x: {}[x], "x")
        except KeyError as error:
            back, came = (
                context.interpreter is text,
                "KeyError" if error.args == ("x",) else "other",
            )
            return {"error": came, "the interpreter before is current again": back}
    return {"error": "nothing"}


@pytest.mark.meets("order")
def test_result_and_number(student):
    """The result of the function and the number of its operations are returned, in this order."""
    student.agrees(counts, SIBLINGS, [["add"], ["mul", "add", "mul"]], 2.5)
    student.agrees(counts, SIBLINGS, [["mul", "mul"]], "y")


@pytest.mark.meets("sizes", "again")
def test_each_call_begins_at_zero(student):
    """Each call counts from zero, and a function without operations has none."""
    student.agrees(counts, SIBLINGS, [["add"] * 3, ["mul"], [], ["mul"] * 2], "x")


@pytest.mark.meets("order", "sizes", "moment", "none")
def test_the_function_runs_once(student):
    """The function runs once, on the arguments as they are; the interpreter before works."""
    student.agrees(arguments, SIBLINGS, [2.5])
    student.agrees(arguments, SIBLINGS, [2.5, "x", (4.0, None)])
    student.agrees(arguments, SIBLINGS, [])


@pytest.mark.meets("twice", "caching", "nested")
def test_counting_inside_counting(student):
    """A function that counts the operations of a second one can be counted itself."""
    student.agrees(nested_counts, SIBLINGS, 3, 2)
    student.agrees(nested_counts, SIBLINGS, 1, 0)
    student.agrees(counts_of_itself, SIBLINGS, 3)


@pytest.mark.meets("exception")
def test_after_an_error(student):
    """After a function that raises, the interpreter that was current before is current again."""
    student.agrees(failing, SIBLINGS)


exercise("interpreters.whole")


def telling(mj, name=""):
    """An interpreter whose values are short texts that number the operations."""

    class Tell(mj.Interpreter):
        asked = 0

        def interpret_op(self, op, args):
            self.asked += 1
            return (
                f"{name}{self.asked}:{op}({', '.join(str(arg).partition(':')[0] for arg in args)})"
            )

    return Tell()


@probe(uses=[grown])
def programs(mj, seeds, inputs):
    """The values of random programs."""
    return {
        "the values of the programs": [repr(grown(mj, seed, inputs)) for seed in seeds],
    }


@probe
def refused_in_programs(mj, values):
    """What `mul` and `add` answer if one operand is this, in the middle of a program."""
    answers = []
    for value in values:
        for f in (mj.add, mj.mul):
            for args in ((value, 2.0), (2.0, value)):
                try:
                    answers.append(repr(f(*args)))
                except TypeError:
                    answers.append("TypeError")
    return {
        "what comes of each operation": answers,
        "the value of a program afterwards": repr(mj.mul(mj.add(1.5, 2.0), 2.0)),
    }


@probe(uses=[grown, telling])
def told(mj, seeds, inputs):
    """Random programs as strings, one after the other, and who was asked."""
    tellers = [telling(mj) for _ in seeds]
    outs = []
    for teller, seed in zip(tellers, seeds, strict=True):
        with mj.set_interpreter(teller):
            outs.append(grown(mj, seed, inputs))
    return {
        "the results of the programs": outs,
        "what each interpreter is asked": [teller.asked for teller in tellers],
    }


@probe(uses=[grown, telling])
def told_by_turns(mj, seeds):
    """Nested blocks, some of which fail; the program goes on around them."""
    first, second = telling(mj, "a"), telling(mj, "b")
    outs = []

    def nest(seeds):
        if not seeds:
            raise KeyError("out")
        with mj.set_interpreter(first if len(seeds) % 2 else second):
            try:
                nest(seeds[1:])
            except KeyError:
                outs.append(grown(mj, seeds[0], ["x", "y"]))
                if len(seeds) > 2:
                    raise
            outs.append(grown(mj, seeds[0], ["z"], 3))

    nest(seeds)
    return {
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
        ],
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

    teller, errors = telling(mj), []
    with mj.set_interpreter(teller):
        for f in (fails, lambda x: count_ops(fails, mj.add(x, x))):
            try:
                count_ops(f, "x")
            except KeyError as error:
                errors.append(error.args[0])
        out = count_ops(lambda x: grown(mj, seed, [x], length), "x")
        last = mj.add("x", "y")
    return {
        "the result and count": out,
        "the result of an operation afterwards": last,
        "the errors that come out": errors,
        "what the interpreter before is asked": teller.asked,
    }


class Turns:
    """Operations of one of two threads, which apply one each by turns."""

    def __init__(self, mj, mine, next_one):
        self.mine, self.next_one = mine, next_one
        self.add, self.mul = self.taken(mj.add), self.taken(mj.mul)

    def taken(self, f):
        """An operation that waits for its turn."""

        def operation(x, y):
            self.mine.acquire(timeout=5.0)
            try:
                return f(x, y)
            finally:
                self.next_one.release()

        return operation


def at_once(jobs):
    """What functions return that run in threads of their own; each gets its `Turns`' semaphores."""
    turns = [threading.Semaphore(1), threading.Semaphore(0)]
    outs, errors = [None, None], []

    def work(me):
        try:
            outs[me] = jobs[me](turns[me], turns[1 - me])
        except BaseException as error:
            errors.append(error)
        finally:
            turns[1 - me].release(100)  # none waits for one that has ended

    workers = [threading.Thread(target=work, args=(me,)) for me in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(5.0)
    for error in errors:
        raise error
    return outs


@probe(uses=[Turns, at_once, grown, telling])
def threads(mj, seed):
    """One thread counts, the other makes strings, by turns; what each of them gets."""

    def count(*turns):
        return repr(count_ops(lambda x: grown(Turns(mj, *turns), seed, [x]), 1.5))

    def tell(*turns):
        with mj.set_interpreter(telling(mj)):
            return grown(Turns(mj, *turns), seed, ["x"])

    return {
        "what each thread gets": at_once([count, tell]),
    }


@pytest.mark.meets(twice="evaluate", extremes="evaluate")
def test_whole_values(student):
    """Programs of sums and products have the values that Python computes."""
    student.agrees(programs, [1, 2, 3, 4, 5, 6], [1.5, -2.0])
    student.agrees(programs, [7, 8, 9], [INF, 1e200, -0.5])


@pytest.mark.meets(exception="evaluate", none="evaluate")
def test_whole_refusals(student):
    """An operand that is not a float raises TypeError, and programs go on after that."""
    student.agrees(refused_in_programs, [2, True, "x", None])


@pytest.mark.meets(twice="bind")
def test_whole_texts(student):
    """If a different interpreter is current, programs mean what that one says."""
    student.agrees(told, [1, 2, 3], ["x", "y"])
    student.agrees(told, [4, 5], [1.5, 2])


@pytest.mark.meets(nested="bind", exception="set_interpreter", length="set_interpreter")
def test_whole_blocks(student):
    """After each block, even one that fails, the program goes on under the interpreter before."""
    student.agrees(told_by_turns, [1, 2, 3])
    student.agrees(told_by_turns, [4, 5, 6, 7, 8])


@pytest.mark.meets(again="count_ops", caching="count_ops", length="bind count_op count_ops")
def test_whole_counts(student):
    """A program's result is returned with the number of its operations."""
    student.agrees(counted, [1, 2, 3], [1.5, -2.0], [12, 1, 30])
    student.agrees(counted, [4, 4], [0.25], [7, 7])


@pytest.mark.meets(nested="count_op count_ops", length="count_ops")
def test_whole_counts_inside_counts(student):
    """A program that counts operations inside can be counted, to any depth."""
    student.agrees(counted_inside, 10, 1)
    student.agrees(counted_inside, 20, 4)


@pytest.mark.meets(another_box="count_ops", exception="count_ops")
def test_whole_counts_of_texts(student):
    """Operations of any interpreter can be counted, and a function that fails leaves no trace."""
    student.agrees(counted_texts, 1, 5)
    student.agrees(counted_texts, 2, 12)


@pytest.mark.meets(nested="set_interpreter bind")
def test_whole_threads(student):
    """Two threads, one of which counts, do not see each other's operations."""
    student.agrees(threads, 3)
