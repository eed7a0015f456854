"""Hidden tests of the `duals` lesson: dual numbers, the rules, the interpreter, and what it is for.

Every exercise is tested alone. A probe that needs sibling exercises brings right ones along, and
puts them in place for its own time; never the exercise that it asks for.
"""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place, of_all_kinds
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import functools
    import itertools
    from unittest.mock import patch

    from microjax import duals
    from microjax.interpreters import Interpreter, Op, context, set_interpreter

INF = float("inf")
NAN = float("nan")
LIFT = siblings("duals.lift")
FOR_INTERPRET = siblings("duals.mul_rule", "duals.lift")
FOR_JVP = siblings(*FOR_INTERPRET.exercises, "duals.interpret_op")
FOR_MIXED = siblings(*FOR_JVP.exercises, "duals.jvp")


def watch():
    """An interpreter that computes with floats and keeps a list of what it was asked."""

    class Watch(Interpreter):
        def __init__(self):
            self.asked = []

        def interpret_op(self, op, args):
            self.asked.append(op.name)
            x, y = args
            return x + y if op is Op.add else x * y

    return Watch()


def boxes():
    """An interpreter whose values Python's operators refuse, and the class of these values."""

    class Box:
        def __init__(self, value):
            self.value = value

    class Boxes(Interpreter):
        asked = 0

        def interpret_op(self, op, args):
            self.asked += 1
            x, y = [arg.value if isinstance(arg, Box) else arg for arg in args]
            return Box(x + y if op is Op.add else x * y)

    return Boxes(), Box


def unusual():
    """Values that may be passed on; the first cannot be compared, and is neither true nor false."""

    class Closed:
        def __eq__(self, other):
            raise TypeError("There is no reason to look into this.")

        __hash__ = None
        __bool__ = __len__ = __float__ = __call__ = __iter__ = lambda self: self == self

    return [Closed(), dict, len, {1.5}, bytearray(), range(2), 1j, np.zeros(2), (x for x in "ab")]


def same(found, values):
    """Which of these are the very values."""
    return [one is value for one, value in zip(found, values, strict=True)]


def callables():
    """An empty list, a class and others that can be called; each returns its last argument."""

    class Empty(list):
        def __call__(self, *args):
            return args[-1]

    class Made:
        def __new__(cls, *args):
            return args[-1]

    def wrapper(*args):
        return args[-1]

    wrapper.__wrapped__ = len
    return [Empty(), Made, functools.partial(lambda bound, *args: args[-1], 7.5), wrapper]


def failures(call):
    """What comes of a call with each of some errors, which it is to raise."""
    found, before = {}, context.interpreter
    for error in (
        *(KeyError(), TypeError(), OverflowError(), ValueError(), RecursionError(), SystemExit()),
        *(AttributeError(), ZeroDivisionError(), IndexError(), AssertionError()),
        KeyboardInterrupt(),
    ):
        try:
            call(error)
        except BaseException as raised:
            own, is_back = raised is error, context.interpreter is before
        else:
            own = is_back = False
        name = type(error).__name__
        found[f"the {name} itself comes out"] = own
        found[f"the interpreter before is current again after the {name}"] = is_back
    return found


@probe(uses=[watch])
def rule(mj, primals, tangents):
    """What the rule returns for floats, and which operations it applies, the second time too."""
    applied = []
    for _ in range(2):
        context.interpreter = watcher = watch()
        primal, tangent = duals.mul_jvp(tuple(primals), tuple(tangents))
        applied.append(sorted(watcher.asked))
    return {
        "the value": primal,
        "the tangent": tangent,
        "operations": applied[0],
        "the operations of a second call are the same": applied[0] == applied[1],
    }


@probe(uses=[boxes])
def rule_on_the_same(mj, *values):
    """What the rule returns for these values, if any operands and tangents are one object."""
    context.interpreter, box = boxes()
    interpreter, found = context.interpreter, []
    for x, y, *dots in itertools.product([*map(box, values)], repeat=4):
        interpreter.asked = 0
        out, out_dot = duals.mul_jvp((x, y), tuple(dots))
        found.append([out.value, out_dot.value, interpreter.asked])
    each, slopes, operations = zip(*found, strict=True)
    return {"the values": each, "the tangents": slopes, "how many operations it takes": operations}


@probe(uses=[unusual, of_all_kinds])
def rule_on_all_kinds(mj):
    """Which operations it applies to values of many kinds, and how often to a value itself."""

    class Note(Interpreter):
        def interpret_op(self, op, args):
            asked.append(op.name)
            seen.extend(args)
            return op.name

    context.interpreter, found = Note(), []
    rests = mj.DualNumber(context.interpreter, 0.0, 0.0)
    for value in (*of_all_kinds(), *unusual(), rests):
        asked, seen = [], []
        duals.mul_jvp((value, "y"), ("x_dot", value))
        duals.mul_jvp(("x", value), (value, "y_dot"))
        duals.mul_jvp((value, value), (value, value))
        found.append((sorted(asked), sum(x is value for x in seen)))
    return {"operations, and how many operands are the value": found}


@probe(uses=[failures])
def rule_that_fails(mj, op):
    """What comes of an operation that fails."""

    class Fail(Interpreter):
        def interpret_op(self, asked, args):
            if asked.name == op:
                raise self.error
            return 1.5

    def call(error):
        context.interpreter.error = error
        duals.mul_jvp((3.0, 5.5), (0.5, 10.0))

    context.interpreter = Fail()
    return failures(call)


exercise("duals.mul_rule")


@pytest.mark.keeps("The rule of products")
def test_product_of_two_that_move(student):
    """A product of two operands that move moves by what both of them contribute."""
    student.agrees(rule, [3.0, 5.5], [0.5, 10.0])
    student.agrees(rule, [-2.0, -0.25], [7.0, -3.0])


@pytest.mark.meets("order", "zeros")
@pytest.mark.keeps("The rule of products")
def test_product_with_a_second_that_rests(student):
    """If only the first operand of a product moves, its share is all; no operation is left out."""
    student.agrees(rule, [3.0, 5.5], [0.5, 0.0])
    student.agrees(rule, [3.0, 5.5], [0.5, 0])
    student.agrees(rule, [3.0, 5.5], [0.5, False])
    student.agrees(rule, [0.0, -4.0], [2.0, 0.0])


@pytest.mark.meets("order", "zeros")
def test_product_with_a_first_that_rests(student):
    """If only the second operand of a product moves, its share is all; no operation is left out."""
    student.agrees(rule, [3.0, 5.5], [0.0, 10.0])
    student.agrees(rule, [3.0, 5.5], [0, 10.0])
    student.agrees(rule, [3.0, 5.5], [False, 10.0])
    student.agrees(rule, [-4.0, 0.0], [0.0, 2.0])


@pytest.mark.meets("twice")
@pytest.mark.keeps("how fast each of them moves", "exactly four operations")
def test_product_of_equal_operands(student):
    """Two equal operands are multiplied like any others, and may move differently."""
    student.agrees(rule, [3.0, 3.0], [0.5, 10.0])
    student.agrees(rule, [3.0, 3.0], [0.5, 0.5])
    student.agrees(rule, [1.0, 1.0], [1.0, 1.0])
    student.agrees(rule, [3.0, 5.5], [0.0, 0.0])
    student.agrees(rule_on_the_same, 3.0, 0.5, -10.0)
    student.agrees(rule, [0.5, 10.0], [7.0, 7.0])


@pytest.mark.meets("nested")
@pytest.mark.keeps("exactly four operations")
def test_product_under_another_interpreter(student):
    """The rule of products leaves all arithmetic to the current interpreter."""
    student.agrees(rule_on_all_kinds)
    for op in ("add", "mul"):
        student.agrees(rule_that_fails, op)


@pytest.mark.meets("extremes")
@pytest.mark.keeps("exactly four operations")
def test_product_of_huge_values(student):
    """Huge and infinite operands, and tangents, are multiplied like all others."""
    student.agrees(rule, [1e200, -3.0], [1e-200, 1e100])
    student.agrees(rule, [INF, 5.5], [0.5, 10.0])
    student.agrees(rule, [INF, 4.0], [1.0, 0.0])
    student.agrees(rule, [0.0, 4.0], [NAN, 10.0])
    student.agrees(rule, [3.0, 0.0], [INF, 10.0])
    student.agrees(rule, [3.0, 4.0], [0.5, INF])


exercise("duals.lift")


@probe(uses=[same, unusual, of_all_kinds])
def lifted_constants(mj, values):
    """What becomes of values that are not dual numbers: of these, or of many kinds."""
    interpreter = mj.JVPInterpreter(mj.current_interpreter())
    values = values or [*of_all_kinds(), *unusual()]
    lifted = [interpreter.lift(value) for value in values]
    return {
        "the classes of the results": [type(d).__name__ for d in lifted],
        "a result belongs to this interpreter": [d.interpreter is interpreter for d in lifted],
        "the primal is the value itself": same([d.primal for d in lifted], values),
        "the tangents": [repr(d.tangent) for d in lifted],
    }


@probe
def lifted_own(mj, primal, tangent):
    """Whether a dual number of the interpreter itself is returned as it is."""
    interpreter = mj.JVPInterpreter(mj.current_interpreter())
    other = mj.JVPInterpreter(mj.current_interpreter())
    dual = mj.DualNumber(interpreter, primal, tangent)
    whole = mj.DualNumber(interpreter, mj.DualNumber(other, primal, tangent), tangent)
    twice = mj.DualNumber(interpreter, dual, dual)
    numbers, pair = (dual, whole, twice), (dual, twice)
    return {
        "the dual number itself is returned": [interpreter.lift(d) is d for d in numbers],
        "a tuple of two is kept whole, as a primal": interpreter.lift(pair).primal is pair,
    }


@probe
def lifted_foreign(mj, primal, tangent, nested):
    """What becomes of a dual number of a different interpreter: which parts are where."""
    outer = mj.JVPInterpreter(mj.current_interpreter())
    inner = mj.JVPInterpreter(outer if nested else mj.current_interpreter())
    answers = []
    for mine, theirs in ((inner, outer), (outer, inner)):
        x = mj.DualNumber(theirs, primal, tangent)
        out = mine.lift(x)
        tangent_out = out.tangent if isinstance(out.tangent, float) else "no float"
        answers.append(
            {
                "the dual number itself is returned": out is x,
                "the result belongs to this interpreter": out.interpreter is mine,
                "the primal is the other dual number itself": out.primal is x,
                "the tangent": tangent_out,
                "operands afterwards": [(x.primal, x.tangent, x.interpreter is theirs)],
            }
        )
    return answers


@probe
def lifted_twice(mj, value):
    """A constant that is lifted by one interpreter, by an equal one, then by the first again."""

    class Equal(mj.JVPInterpreter):
        __hash__ = None

        def __eq__(self, other):
            return True

    first, second = (Equal(mj.current_interpreter()) for _ in range(2))
    one = first.lift(value)
    two = second.lift(one)
    three = first.lift(two)
    chain = [two.primal is one, three.primal is two, three.interpreter is first]
    return {
        "each primal is the number below, and the last belongs to the first interpreter": chain,
        "the second interpreter returns its own number itself": second.lift(two) is two,
        "the tangents": [d.tangent for d in (one, two, three)],
    }


@pytest.mark.meets("none")
@pytest.mark.keeps("its value, and how fast it moves", "is kept whole")
def test_constants(student):
    """A value that is not a dual number becomes the primal of one that does not move."""
    student.agrees(lifted_constants, [3.0, -0.5, 0.0])
    student.agrees(lifted_constants, ["v_1", None, (1.0, 2.0), [1.5], {}, 2, True])
    student.agrees(lifted_constants, [])


@pytest.mark.meets("zeros")
@pytest.mark.keeps("comes back unchanged")
def test_own_dual_numbers(student):
    """A dual number of this interpreter is returned as it is; a tuple of two is not one of them."""
    for tangent in (1.0, 0.0, -0.0, NAN, 0, None):
        student.agrees(lifted_own, tangent and 3.0, tangent)


@pytest.mark.meets("another_box", "caching", "nested")
@pytest.mark.keeps("is kept whole")
@pytest.mark.parametrize("nested", [False, True])
def test_dual_numbers_of_another_one(student, nested):
    """A dual number of another interpreter is a constant, even if one was made under the other."""
    for primal, tangent in ((3.0, 1.0), (-2.0, 0.25), (3.0, 5.0), (3.0, 0.0)):
        student.agrees(lifted_foreign, primal, tangent, nested)


@pytest.mark.meets("twice")
def test_lifting_what_was_lifted(student):
    """What one interpreter has lifted is a constant for a second, like any value."""
    student.agrees(lifted_twice, 3.0)


exercise("duals.interpret_op")


@probe(uses=[in_place])
def rule_calls(mj, siblings, name, operands):
    """What the rule of an operation is called with; operands are constants or [primal, tangent]."""
    calls, op = [], mj.Op[name]
    interpreter = mj.JVPInterpreter(mj.current_interpreter())

    def toy(primals, tangents):
        calls.append((primals, tangents))
        return 100.0 + len(calls), -7.0

    def wrong(primals, tangents):
        return "the rule", "of another operation"

    rules = {other: toy if other is op else wrong for other in mj.Op}
    args = [mj.DualNumber(interpreter, *x) if isinstance(x, list) else x for x in operands]
    with in_place("microjax.duals", siblings), patch.dict(duals.jvp_rules, rules):
        outs = [interpreter.interpret_op(op, tuple(args)) for _ in range(2)]
    return {
        "calls of the rule": calls,
        "the results are dual numbers of this interpreter": [
            isinstance(out, mj.DualNumber) and out.interpreter is interpreter for out in outs
        ],
        "the values": [out.primal for out in outs],
        "the tangents": [out.tangent for out in outs],
    }


@probe(uses=[same, unusual, in_place, of_all_kinds])
def operands_of_all_kinds(mj, siblings):
    """Whether constants reach the rule as they are, and what it returns is put in as it is."""
    interpreter = mj.JVPInterpreter(mj.current_interpreter())

    def toy(primals, tangents):
        seen.append((primals, tangents))
        return primals[0], primals[0]

    seen, values, rules = [], [*of_all_kinds(), *unusual()], dict.fromkeys(mj.Op, toy)
    pairs = [(x, 0.0) for x in values]
    with in_place("microjax.duals", siblings), patch.dict(duals.jvp_rules, rules):
        outs = [interpreter.interpret_op(mj.Op.mul, pair) for pair in pairs]
    return {
        "the rule gets the operands": [
            same(primals, pair) for (primals, _), pair in zip(seen, pairs, strict=True)
        ],
        "the tangents that the rule gets": [tangents for _, tangents in seen],
        "the value is the rule's value itself": same([out.primal for out in outs], values),
        "the tangent is the rule's tangent itself": same([out.tangent for out in outs], values),
    }


@probe(uses=[in_place])
def foreign_operand(mj, siblings, rests):
    """What the rule gets for a dual number of a different interpreter, and may return.

    If this rests, it is one of the interpreter before.
    """
    outer = mj.JVPInterpreter(mj.current_interpreter())
    inner = mj.JVPInterpreter(outer if rests else mj.current_interpreter())
    x = mj.DualNumber(outer, 3.0, 0.0 if rests else 5.0)
    y = mj.DualNumber(inner, 4.0, 10.0)
    seen, current, tangent = [], [], 0.0 if rests else y

    def toy(primals, tangents):
        now = mj.current_interpreter() is inner.prev_interpreter
        seen.append([primals[0] is x, primals[1], *tangents])
        current.append(now)
        return x, tangent

    rules = dict.fromkeys(mj.Op, toy)
    with in_place("microjax.duals", siblings), patch.dict(duals.jvp_rules, rules):
        out = inner.interpret_op(mj.Op.add, (x, y))
    return {
        "calls of the rule": len(seen),
        "the foreign dual number itself is a primal of the rule": [x[0] for x in seen],
        "the other primal and the tangents that the rule gets": [x[1:] for x in seen],
        "the interpreter before is current while the rule runs": current,
        "the result belongs to this interpreter": out.interpreter is inner,
        "the primal is the rule's value itself": out.primal is x,
        "the tangent is the rule's tangent itself": out.tangent is tangent,
    }


@probe(uses=[in_place, watch])
def who_applies_the_rule(mj, siblings, name):
    """What the interpreter before is asked by the rule while others are current, and who stays."""
    watcher, other = watch(), watch()
    interpreter = mj.JVPInterpreter(watcher)
    args = mj.DualNumber(interpreter, 3.0, 0.5), mj.DualNumber(interpreter, 5.5, 10.0)
    found, stays = [], []
    with in_place("microjax.duals", siblings):
        for now in (other, interpreter, mj.JVPInterpreter(other)):
            context.interpreter = now
            out = interpreter.interpret_op(mj.Op[name], args)
            found.append((out.primal, out.tangent))
            stays.append(mj.current_interpreter() is now)
    return {
        "the values and tangents": found,
        "what the interpreter before is asked": watcher.asked,
        "what the other interpreter is asked": other.asked,
        "the current interpreter stays": stays,
    }


@probe(uses=[in_place, watch, failures])
def failing_rule(mj, siblings):
    """Who is current after a rule that raises, and how often it ran."""
    context.interpreter, runs = mj.JVPInterpreter(watch()), []

    def toy(primals, tangents):
        runs.append(1)
        raise primals[0]

    rules = dict.fromkeys(mj.Op, toy)
    with in_place("microjax.duals", siblings), patch.dict(duals.jvp_rules, rules):
        interpreter = context.interpreter
        told = failures(lambda error: interpreter.interpret_op(mj.Op.add, (error, 2.0)))
    return {**told, "calls of the rule": len(runs)}


@pytest.mark.meets("order")
@pytest.mark.keeps("The result of an operation", "rule runs once")
def test_what_the_rule_gets(student):
    """The rule is called for each operation, even an equal one, with all primals and tangents."""
    student.agrees(rule_calls, LIFT, "add", [[3.0, 0.5], [5.5, 10.0]])
    student.agrees(rule_calls, LIFT, "mul", [[3.0, 0.5], [5.5, 10.0]])


@pytest.mark.meets("order")
@pytest.mark.keeps("constants of any kind")
def test_constants_among_the_operands(student):
    """Operands that are constants reach the rule as well, with the tangent of a constant."""
    student.agrees(rule_calls, LIFT, "mul", [[3.0, 0.5], 5.5])
    student.agrees(rule_calls, LIFT, "add", [5.5, [3.0, 0.5]])
    student.agrees(rule_calls, LIFT, "mul", [2.0, 4.0])
    student.agrees(rule_calls, LIFT, "mul", [1.0, True])
    student.agrees(operands_of_all_kinds, LIFT)


@pytest.mark.meets("another_box")
@pytest.mark.keeps("constants of any kind")
def test_operands_of_another_interpreter(student):
    """A dual number of a different interpreter reaches the rule as a whole, as a constant."""
    student.agrees(foreign_operand, LIFT, False)
    student.agrees(foreign_operand, LIFT, True)


@pytest.mark.meets("nested")
@pytest.mark.keeps("is current as before")
def test_the_rule_of_products_is_applied_before(student):
    """The operations of the rule of products go to the interpreter before this one."""
    student.agrees(who_applies_the_rule, FOR_INTERPRET, "mul")


@pytest.mark.meets("moment")
def test_the_rule_of_sums_is_applied_before(student):
    """The operations of the rule of sums go to the interpreter before this one."""
    student.agrees(who_applies_the_rule, FOR_INTERPRET, "add")


@pytest.mark.meets("exception", "moment")
@pytest.mark.keeps("is current as before")
def test_a_rule_that_fails(student):
    """After a rule that raises, the interpreter that was current before is current again."""
    student.agrees(failing_rule, LIFT)


exercise("duals.jvp")


def lost(mj, x):
    """0, which moves as `x` does: a step of `x` that is not symbolic is lost in the large number.

    So is `x` itself in a step that is not.
    """
    return mj.add(mj.add(x, 2.0**200), -(2.0**200))


@probe(uses=[in_place, lost])
def polynomial(mj, siblings, coefficients, x, x_dot):
    """A polynomial by Horner's rule: value and tangent."""

    def f(x):
        x, out = mj.add(x, lost(mj, x)), coefficients[0]
        for c in coefficients[1:]:
            out = mj.add(mj.mul(out, x), c)
        return out

    with in_place("microjax.duals", siblings):
        value, tangent = mj.jvp(f, x, x_dot)
    return {"the value": value, "the tangent": tangent}


@probe(uses=[in_place, watch])
def what_the_function_gets(mj, siblings, x, x_dot):
    """Calls of the function: its argument, and the interpreter afterwards."""
    context.interpreter = watcher = watch()
    calls = []

    def f(dual):
        calls.append((dual.primal, dual.tangent))
        return dual

    with in_place("microjax.duals", siblings):
        out = mj.jvp(f, x, x_dot)
    return {
        "calls of f": calls,
        "the class of what is returned": type(out).__name__,
        "value and tangent": [*map(repr, out)],
        "the interpreter before is current again": mj.current_interpreter() is watcher,
        "what the interpreter before is asked": watcher.asked,
    }


@probe(uses=[in_place])
def constant_result(mj, siblings, value, x_dot):
    """A function that does not use its argument."""
    with in_place("microjax.duals", siblings):
        out, tangent = mj.jvp(lambda x: value, 2.0, x_dot)
    return {"the function's result itself is the value": out is value, "the tangent": tangent}


@probe(uses=[same, unusual, in_place, of_all_kinds])
def inputs_and_results_of_all_kinds(mj, siblings):
    """Whether the function's input holds the very values, and constants come back as they are."""
    seen, values = [], [*of_all_kinds(), *unusual()]
    with in_place("microjax.duals", siblings):
        for x in values:
            mj.jvp(lambda dual: seen.append(dual) or dual, x, x)
        outs = [mj.jvp(lambda dual, x=x: x, 2.0, 1.0) for x in values]
        pair, rests = mj.jvp(lambda dual: (dual, 1.5), 2.0, 1.0)
    return {
        "the function's input holds the primal itself": same([d.primal for d in seen], values),
        "and the tangent itself": same([d.tangent for d in seen], values),
        "the function's result itself is the value": same([out[0] for out in outs], values),
        "the tangents": [repr(out[1]) for out in outs],
        "what is in a pair, and its tangent": [type(x).__name__ for x in (*pair, rests)],
    }


@probe(uses=[callables, in_place])
def uses_of_callables(mj, siblings):
    """Value and tangent of functions that are not plain ones and return their input."""
    with in_place("microjax.duals", siblings):
        return {"values and tangents": [list(mj.jvp(f, 2.0, 0.5)) for f in callables()]}


@probe(uses=[in_place])
def result_of_another_one(mj, siblings, primal, tangent, x_dot):
    """A function whose result is a dual number of an interpreter outside."""
    outer, same, moves = mj.JVPInterpreter(mj.current_interpreter()), [], []
    outside = mj.DualNumber(outer, primal, tangent)
    with in_place("microjax.duals", siblings):
        for current in (outer, mj.current_interpreter()):
            context.interpreter = current
            out, out_dot = mj.jvp(lambda x: outside, 2.0, x_dot)
            same.append(out is outside)
            moves.append(out_dot if isinstance(out_dot, float) else "no float")
    return {"the value is the outer dual number itself": same, "the tangents": moves}


@probe(uses=[in_place, lost])
def tangent_of_tangent(mj, siblings, x, x_dot):
    """jvp of a function that returns the tangent of jvp: of x * 0 * (x + 2).

    And of one in which a third use, at the outermost input or speed, meets the one between.
    """

    def f(x):
        return mj.mul(mj.mul(x, lost(mj, x)), mj.add(x, 2.0))

    with in_place("microjax.duals", siblings):
        out = mj.jvp(lambda y: mj.jvp(f, y, x_dot)[1], x, x_dot)
        for at, speed in ((True, False), (False, True), (False, False)):

            def g(x, at=at, speed=speed):
                def between(y):
                    z, z_dot = x if at else 3.0, x if speed else 5.0
                    return mj.add(*mj.jvp(lambda z: mj.mul(mj.mul(z, z), mj.mul(y, y)), z, z_dot))

                return mj.jvp(between, 0.5, 1.0)[1]

            out += mj.jvp(g, x, x_dot)
    return {"value and tangent": list(out)}


@probe(uses=[in_place, watch])
def operations(mj, siblings, x, x_dot):
    """Which operations the current interpreter is asked for while jvp runs, in a third one too."""
    watcher, found = watch(), []

    def watched(z):
        with set_interpreter(watcher):
            found.append(mj.jvp(lambda y: mj.mul(y, mj.add(y, 3.0)), x, x_dot))
        return z

    with in_place("microjax.duals", siblings):
        watched(x)
        mj.jvp(watched, x, x_dot)
    return {"values and tangents": found, "operations": sorted(watcher.asked)}


@probe(uses=[in_place, watch, failures])
def failing_function(mj, siblings):
    """Who is current after a function that raises, and how often it ran, on what."""
    context.interpreter, runs = watch(), []

    def broken(x, error):
        runs.append(type(x).__name__)
        raise error

    with in_place("microjax.duals", siblings):
        told = failures(lambda error: mj.jvp(lambda x: broken(x, error), 2.0, 1.0))
    return {
        **told,
        "runs of functions that raise, one for each kind of error": len(runs),
        "the classes of their arguments": runs,
    }


@probe(uses=[in_place])
def uses_in_turn(mj, siblings, x):
    """Several uses of one function whose surroundings change: values, and whose numbers it got."""
    factor, seen, told = [3.0], [], []

    def f(x):
        seen.append(x)
        return mj.mul(mj.mul(x, x), factor[0])

    def one_of_before(x):
        mj.jvp(f, x, 1.0)
        kept = seen[-1]
        value, slope = mj.jvp(lambda x: kept, x, 1.0)
        told.append((value is kept, slope))
        return x

    with in_place("microjax.duals", siblings):
        outs = [list(mj.jvp(f, x, 1.0))]
        factor[0] = -0.5
        outs += [list(mj.jvp(f, x, t)) for t in (1.0, 2.0)]
        one_of_before(x)
        mj.jvp(one_of_before, x, 1.0)
    owners = [dual.interpreter for dual in seen]
    return {
        "the values and tangents, one call after another": outs,
        "the number of interpreters": len({id(owner) for owner in owners}),
        "a use before's dual number itself is the value, and its tangent": told,
    }


@pytest.mark.meets("order")
@pytest.mark.keeps("The value of `f` at")
def test_value_and_tangent(student):
    """The value of a function is returned, and after it how fast it moves."""
    student.agrees(polynomial, FOR_JVP, [1.0, 3.0, 0.0], 2.0, 1.0)
    student.agrees(polynomial, FOR_JVP, [2.0, -1.0, 0.5, 4.0], -1.5, 1.0)


@pytest.mark.keeps("The value of `f` at")
def test_speed_of_the_input(student):
    """The input may move at any speed, even backwards."""
    student.agrees(polynomial, FOR_JVP, [1.0, 3.0, 0.0], 2.0, 0.5)
    student.agrees(polynomial, FOR_JVP, [2.0, -1.0, 0.5, 4.0], -1.5, -10.0)


@pytest.mark.meets("moment")
@pytest.mark.keeps("belongs to this call alone", "does the arithmetic")
def test_one_call_of_the_function(student):
    """The function runs once, on a dual number; the interpreter before does the arithmetic."""
    for x, x_dot in ((2.0, 0.5), (2.0, -0.0), ("v_1", "v_2"), (2, 0)):
        student.agrees(what_the_function_gets, FOR_JVP, x, x_dot)
    student.agrees(operations, FOR_JVP, 2.0, 0.5)
    student.agrees(uses_of_callables, FOR_JVP)


@pytest.mark.keeps("returned unchanged")
def test_constant_results(student):
    """A function whose result is a constant does not move."""
    for value in (5.0, "v_1", -0.0, None, (1.5, 2.0), [1.5], {"x": 1.5}):
        student.agrees(constant_result, FOR_JVP, value, INF)
    student.agrees(inputs_and_results_of_all_kinds, FOR_JVP)


@pytest.mark.meets("another_box", "zeros")
@pytest.mark.keeps("returned unchanged")
@pytest.mark.parametrize(("tangent", "x_dot"), [(5.0, 1.0), (0.0, 2.0)])
def test_a_result_from_outside(student, tangent, x_dot):
    """A dual number of an interpreter outside is a constant result, whatever its own tangent."""
    student.agrees(result_of_another_one, FOR_JVP, 3.0, tangent, x_dot)


@pytest.mark.meets("twice", "nested")
@pytest.mark.keeps("calls may be nested")
def test_jvp_of_jvp(student):
    """A function that uses jvp can be differentiated."""
    student.agrees(tangent_of_tangent, FOR_JVP, 2.0, 1.0)
    student.agrees(tangent_of_tangent, FOR_JVP, -1.5, 3.0)
    student.agrees(tangent_of_tangent, FOR_JVP, 0.0, 3.0)


@pytest.mark.meets("exception", "moment")
@pytest.mark.keeps("is current again afterwards")
def test_a_function_that_fails(student):
    """After a function that raises, the interpreter that was current before is current again."""
    student.agrees(failing_function, FOR_JVP)


@pytest.mark.meets("again", "caching")
@pytest.mark.keeps("belongs to this call alone")
def test_each_use_is_a_new_one(student):
    """Each use runs the function again, with dual numbers that belong to this use alone."""
    student.agrees(uses_in_turn, FOR_JVP, 2.0)


exercise("duals.mixed")


@probe(uses=[in_place, watch])
def mixed(mj, siblings, coefficients, x, y):
    """The four numbers of a x x y + b x y + c y + d, how often that ran, and who computed it."""
    context.interpreter = watcher = watch()
    a, b, c, d = coefficients
    runs = []

    def f(x, y):
        runs.append(type(x) is float or type(y) is float)
        xy = mj.mul(x, y)
        return mj.add(mj.add(mj.mul(a, mj.mul(xy, x)), mj.mul(b, xy)), mj.add(mj.mul(c, y), d))

    with in_place("microjax.duals", siblings):
        value, by_x, by_y, by_both = duals.mixed_derivatives(f, x, y)
    return {
        "the value": value,
        "the derivative by x": by_x,
        "the derivative by y": by_y,
        "the derivative by both": by_both,
        "calls of f": len(runs),
        "f gets plain numbers": runs,
        "the interpreter that was current is asked": bool(watcher.asked),
        "it is current again": mj.current_interpreter() is watcher,
    }


@probe(uses=[in_place])
def mixed_of_simple(mj, siblings, x, y):
    """The four numbers of functions that return an input, a constant, or their sum."""
    functions, runs = (lambda x, y: x, lambda x, y: y, lambda x, y: 7.5, mj.add), []

    def noted(f):
        return lambda x, y: runs.append(f) or f(x, y)

    with in_place("microjax.duals", siblings):
        numbers = [list(duals.mixed_derivatives(noted(f), x, y)) for f in functions]
    return {
        "the four numbers of each function": numbers,
        "calls of each function": [runs.count(f) for f in functions],
    }


@probe(uses=[callables, in_place])
def mixed_of_callables(mj, siblings, x, y):
    """The four numbers of functions that are not plain ones and return y."""
    with in_place("microjax.duals", siblings):
        numbers = [list(duals.mixed_derivatives(f, x, y)) for f in callables()]
    return {"the four numbers of each function": numbers}


@probe(uses=[in_place])
def mixed_inside(mj, siblings, x, y):
    """How the four numbers of x y z + z move with z, which one of the inputs may be, too."""

    def numbers(z, x, y):
        def f(x, y):
            return mj.add(mj.mul(mj.mul(x, mj.mul(x, y)), z), z)

        return duals.mixed_derivatives(f, x, y)

    def again(i):
        def f(x, y):
            four = duals.mixed_derivatives(lambda a, b: mj.mul(mj.mul(a, b), mj.mul(a, x)), x, y)
            return mj.mul(x, four[i])

        return list(duals.mixed_derivatives(f, x, y))

    with in_place("microjax.duals", siblings):
        return {
            "the four numbers of a function that uses such numbers": [*map(again, range(4))],
            "how they move with a constant of f": [
                list(mj.jvp(lambda z, i=i: numbers(z, x, y)[i], 2.0, 1.0)) for i in range(4)
            ],
            "how they move with x": [
                list(mj.jvp(lambda x, i=i: numbers(2.0, x, y)[i], x, 0.5)) for i in range(4)
            ],
            "how they move if x and y are one": [
                list(mj.jvp(lambda x, i=i: numbers(x, x, x)[i], x, 1.0)) for i in range(4)
            ],
        }


@probe(uses=[unusual, in_place])
def mixed_of_an_outer(mj, siblings, x):
    """The four numbers of functions that return another use's dual number, or one of outside."""
    outer = mj.JVPInterpreter(mj.current_interpreter())
    duals_of_others, runs, same, moves = [mj.DualNumber(outer, x, 5.0)], [], [], []
    with in_place("microjax.duals", siblings):
        for context.interpreter in (outer, mj.current_interpreter()):
            duals.mixed_derivatives(lambda *inputs: duals_of_others.extend(inputs) or 1.5, x, x)
            for dual in (*duals_of_others, *unusual()):
                noted = lambda x, y, dual=dual: runs.append(x) or dual  # noqa: E731
                value, *slopes = duals.mixed_derivatives(noted, 2.0, 3.0)
                same.append(value is dual)
                moves.append(slopes)
    return {
        "the value is what the function returned": same,
        "the three derivatives": moves,
        "calls of f": len(runs),
    }


@probe(uses=[in_place, watch, failures])
def mixed_that_fails(mj, siblings):
    """Who is current after a function that raises, and what the next call returns."""
    context.interpreter, runs = watch(), []

    def broken(error):
        runs.append(1)
        raise error

    with in_place("microjax.duals", siblings):
        told = failures(lambda e: duals.mixed_derivatives(lambda *_: broken(e), 2.0, 3.0))
        numbers = list(duals.mixed_derivatives(mj.mul, 2.0, 3.0))
    return {**told, "calls of f": len(runs), "the four numbers of the next call": numbers}


@pytest.mark.meets("order", "moment", "zeros")
@pytest.mark.keeps(
    "The value of `f(x, y)`", "derivative with respect to x of", "does the arithmetic"
)
def test_mixed_of_polynomials(student):
    """Value and derivatives of a polynomial of two variables are right, from one run of it."""
    student.agrees(mixed, FOR_MIXED, [1.0, 0.5, -2.0, 4.0], 3.0, 5.0)
    student.agrees(mixed, FOR_MIXED, [-0.5, 3.0, 1.0, 0.25], -1.5, 2.0)
    student.agrees(mixed, FOR_MIXED, [1, 2, -1, 4], 3, 5)
    student.agrees(mixed, FOR_MIXED, [1.0, 0.5, 0.0, 0.0], 0.0, 5.0)  # zeros that move
    student.agrees(mixed, FOR_MIXED, [1.0, 0.5, -2.0, 0.0], 3.0, 0.0)


@pytest.mark.meets("zeros", "another_box")
@pytest.mark.keeps("`f` runs once")
def test_mixed_of_what_rests(student):
    """A function may ignore one of its inputs, or both."""
    student.agrees(mixed_of_simple, FOR_MIXED, 3.0, 5.0)
    student.agrees(mixed_of_simple, FOR_MIXED, -0.5, 0.0)
    student.agrees(mixed_of_callables, FOR_MIXED, 3.0, 5.0)


@pytest.mark.meets("nested", "twice", "closure", "again", "caching")
@pytest.mark.keeps("calls may be nested")
def test_mixed_inside_a_derivative(student):
    """All four numbers may be differentiated, and the inputs may be one and the same."""
    student.agrees(mixed_inside, FOR_MIXED, 3.0, 5.0)
    student.agrees(mixed_inside, FOR_MIXED, -1.5, 0.25)


@pytest.mark.keeps("calls may be nested")
def test_mixed_of_a_result_from_outside(student):
    """A dual number of outside, or of another use, is a constant result, and is returned whole."""
    student.agrees(mixed_of_an_outer, FOR_MIXED, 3.0)


@pytest.mark.meets("exception")
@pytest.mark.keeps("is current again afterwards")
def test_mixed_of_a_function_that_fails(student):
    """After a function that raises, the interpreter that was current before is current again."""
    student.agrees(mixed_that_fails, FOR_MIXED)


exercise("duals.whole")


@probe(uses=[lost])
def sums(mj, x, x_dot):
    """Value and tangent of a sum in which the input appears twice, and constants on either side."""

    def f(x):
        return mj.add(mj.add(mj.add(2.0, x), mj.add(x, 0.5)), lost(mj, x))

    value, tangent = mj.jvp(f, x, x_dot)
    return {"the value": value, "the tangent": tangent}


@probe(uses=[lost])
def products(mj, x):
    """Value and derivative of 3 * x * x + 2 * (x + 0), and the slope of the derivative."""

    def f(x):
        return mj.add(mj.mul(3.0, mj.mul(x, x)), mj.mul(mj.add(x, lost(mj, x)), 2.0))

    return {
        "the value": f(x),
        "the derivative": mj.derivative(f, x),
        "the second derivative": mj.derivative(lambda y: mj.derivative(f, y), x),
    }


@probe(uses=[lost])
def outer_value(mj, x):
    """x + 0 + 0: the inner function returns the outer input, which does not move there."""

    def f(x):
        return mj.add(mj.add(x, lost(mj, x)), mj.derivative(lambda y: x, 1.0))

    value, tangent = mj.jvp(f, x, 1.0)
    return {"the value": value, "the tangent": tangent}


@probe(uses=[lost])
def outer_operand(mj, x):
    """x + 1 + 0: one inner function adds the outer input to its own, a second returns it."""

    def f(x):
        slope = mj.derivative(lambda y: mj.add(lost(mj, y), x), x)
        return mj.add(mj.add(x, slope), mj.derivative(lambda y: x, x))

    value, tangent = mj.jvp(f, x, 1.0)
    return {"the value": value, "the tangent": tangent}


@probe(uses=[lost])
def after_an_error(mj, x):
    """The inner derivative fails, the outer function goes on with another; who is current."""
    before = mj.current_interpreter()

    def broken(y):
        mj.add(x, y)
        raise KeyError("out")

    def f(x):
        try:
            mj.derivative(broken, x)
        except KeyError:
            slope = mj.derivative(lambda y: mj.add(mj.add(lost(mj, y), x), x), x)
            return mj.add(x, mj.add(slope, mj.derivative(lambda y: x, x)))

    value, tangent = mj.jvp(f, x, 1.0)
    return {
        "the value": value,
        "the tangent": tangent,
        "the interpreter before is current again": mj.current_interpreter() is before,
        "the value of an operation afterwards": mj.add(x, 1.0),
    }


@probe(uses=[lost])
def mixed_products(mj, x):
    """x**3 + 0: x times the derivative of x * y * 0 at y = x, and x times that of x."""

    def f(x):
        slope = mj.derivative(lambda y: mj.mul(mj.mul(x, y), lost(mj, y)), x)
        return mj.add(mj.mul(x, slope), mj.mul(x, mj.derivative(lambda y: x, x)))

    value, tangent = mj.jvp(f, x, 1.0)
    return {"the value": value, "the tangent": tangent}


@probe(uses=[lost])
def three_deep(mj, x):
    """Three derivatives, each inside another, in which each input meets those outside."""

    def first(x):
        def second(y):
            third = mj.derivative(lambda z: mj.mul(mj.add(x, y), mj.mul(z, lost(mj, z))), y)
            return mj.add(mj.mul(x, third), mj.mul(y, mj.derivative(lambda z: y, x)))

        return mj.mul(x, mj.derivative(second, x))

    return {"value": mj.derivative(first, x)}


@probe(uses=[lost])
def order_of_a_mixture(mj, n, x):
    """The derivative of order n of x * x * 0 times the slope of x + y, with constants between."""

    def f(x):
        slope = mj.nth_order_derivative(1, lambda y: mj.add(mj.mul(2.0, y), x), x)
        rest = mj.mul(mj.mul(x, x), mj.nth_order_derivative(1, lambda y: x, x))
        return mj.add(mj.mul(mj.mul(x, mj.mul(x, lost(mj, x))), slope), rest)

    return {
        "value": mj.nth_order_derivative(n, f, x),
        "all derivatives of it times another input": duals.mixed_derivatives(
            lambda x, y: mj.mul(f(x), y), x, 0.5
        ),
    }


@probe(uses=[lost])
def again(mj, x):
    """The same inner functions, asked twice at equal places, when what they read has changed."""
    factors, x_of_outer = [], []

    def inner(y):
        return mj.add(mj.mul(factors[-1], mj.mul(y, mj.add(y, lost(mj, y)))), x_of_outer[-1])

    def f(x):
        x_of_outer.append(x)
        found = mj.derivative(lambda y: x, 2.0)
        for factor in (3.0, x, 5.0):
            factors.append(factor)
            found = mj.add(found, mj.mul(x, mj.derivative(inner, 2.0)))
            found = mj.add(found, mj.nth_order_derivative(2, inner, 2.0))
            found = mj.add(found, mj.jvp(inner, 2.0, 0.5)[1])
        return found

    return {
        "the values and tangents, one call after another": [
            list(mj.jvp(f, at, 1.0)) for at in (x, x, 1.0, -x)
        ]
    }


@probe(uses=[lost])
def long_program(mj, x, length):
    """An inner function of so many steps, with the outer input in each of them."""

    def f(x):
        def inner(y):
            y = mj.add(y, lost(mj, y))
            for i in range(length):
                y = mj.add(mj.mul(y, 0.5), x) if i % 2 else mj.add(x, y)
            return y

        return mj.add(mj.mul(x, mj.derivative(inner, x)), mj.derivative(lambda y: x, x))

    value, tangent = mj.jvp(f, x, 1.0)
    return {"the value": value, "the tangent": tangent}


def test_whole_sums(student):
    """Programs with sums and constants have the right value, and move as they should."""
    student.agrees(sums, 3.0, 0.5)
    student.agrees(sums, -1.5, 10.0)


@pytest.mark.meets(twice="mul_rule interpret_op")
def test_whole_products(student):
    """Programs with products and constants have the right value and both slopes."""
    student.agrees(products, 2.0)
    student.agrees(products, -0.5)


@pytest.mark.meets(another_box="jvp", closure="jvp")
def test_whole_outer_value(student):
    """An inner function that returns the outer input is a constant function."""
    student.agrees(outer_value, 3.0)
    student.agrees(outer_value, -0.5)


@pytest.mark.meets(another_box="lift", closure="lift jvp")
def test_whole_outer_operand(student):
    """An inner function may add the outer input to its own: only its own moves there."""
    student.agrees(outer_operand, 3.0)
    student.agrees(outer_operand, -0.5)


@pytest.mark.meets(exception="jvp")
def test_whole_after_an_error(student):
    """After an inner derivative that fails, the outer one goes on, and all is as before."""
    student.agrees(after_an_error, 3.0)


@pytest.mark.meets(another_box="interpret_op", nested="mul_rule", closure="lift interpret_op")
def test_whole_mixed_products(student):
    """An inner function may multiply the outer input by its own."""
    student.agrees(mixed_products, 2.0)
    student.agrees(mixed_products, -1.5)


@pytest.mark.meets(nested="interpret_op", closure="interpret_op")
def test_whole_three_deep(student):
    """Three derivatives inside each other each see their own input move."""
    student.agrees(three_deep, 2.0)
    student.agrees(three_deep, -0.5)


def test_whole_orders(student):
    """Higher derivatives of a function that differentiates inside are right."""
    student.agrees(order_of_a_mixture, 2, 2.0)
    student.agrees(order_of_a_mixture, 3, -1.5)


@pytest.mark.meets(again="jvp interpret_op", caching="jvp")
def test_whole_again(student):
    """What was differentiated before, at an equal place, does not matter."""
    student.agrees(again, 2.0)


@pytest.mark.meets(length="jvp interpret_op")
def test_whole_long_programs(student):
    """Programs may be long, and meet the outer input in each step."""
    student.agrees(long_program, 2.0, 40)
    student.agrees(long_program, -0.5, 500)
