"""Checks of the `interpreters` lesson, for you to read and run: `./jaxprentice check interpreters`.

Each exercise has a few. They need no other exercise than their own and those that the page names
before it, so you can do them in any order that pleases you. So it is in all lessons, unless their
checks say something else.
"""

import pytest
from checking import exercise

from microjax.interpreters import (
    EvalInterpreter,
    Interpreter,
    IntervalInterpreter,
    Op,
    RememberingInterpreter,
    add,
    bind,
    context,
    count_ops,
    current_interpreter,
    mul,
    set_interpreter,
)


class Text(Interpreter):
    """Turns each operation into a string, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def interpret_op(self, op, args):
        self.asked.append((op, args))
        return f"{op}({', '.join(map(str, args))})"


class Echo(Interpreter):
    """Answers with the first operand, or raises it if it is an error, and keeps what it was asked."""

    def __init__(self):
        self.asked, self.current = [], []

    def interpret_op(self, op, args):
        self.asked.append((op, args))
        self.current.append(current_interpreter() is self)
        if isinstance(args[0], Exception):
            raise args[0]
        return args[0]


@pytest.fixture
def text():
    """A Text, current for the duration of one check, without set_interpreter."""
    before = context.interpreter
    context.interpreter = Text()
    yield context.interpreter
    context.interpreter = before


exercise("interpreters.bind")


def test_question_and_answer(text):
    """The current interpreter gets the operation and a tuple; its answer is the result."""
    assert bind(Op.add, "x", 3.0) == "add(x, 3.0)"
    assert text.asked == [(Op.add, ("x", 3.0))]


def test_programs_of_add_and_mul(text):
    """add and mul bind their operations, so a program means what the interpreter says."""
    assert mul("x", add("x", 3.0)) == "mul(x, add(x, 3.0))"


def test_everything_passes_through():
    """Any number of operands and any answer pass through as they are, and so does an error."""
    with set_interpreter(echo := Echo()):
        assert [bind(Op.add, x) for x in (None, 0.0, "", [2.0])] == [None, 0.0, "", [2.0]]
        for error in (NotImplementedError("later"), KeyError("x")):
            with pytest.raises(type(error)):
                bind(Op.mul, error, 2.0)
        assert bind(Op.mul, "x", "y", "z") == "x"
    assert echo.asked[-1] == (Op.mul, ("x", "y", "z"))


def test_who_is_current_meanwhile():
    """The interpreter that is asked stays the current one until it has answered."""
    with set_interpreter(echo := Echo()):
        bind(Op.add, 2.0, 3.0)
    assert echo.current == [True]


exercise("interpreters.interval")


def test_intervals_of_sums():
    """The bounds of a sum of two intervals, of an interval and a constant, and of two constants."""
    intervals = IntervalInterpreter()
    with set_interpreter(intervals):
        assert intervals.interpret_op(Op.add, ((1.0, 2.0), (-3.0, 4.0))) == (-2.0, 6.0)
    assert intervals.interpret_op(Op.add, (5.0, (1.0, 2.0))) == (6.0, 7.0)
    assert intervals.interpret_op(Op.add, (2.0, 5.0)) == (7.0, 7.0)


def test_intervals_of_products():
    """The bounds of products, with bounds of both signs."""
    intervals = IntervalInterpreter()
    assert intervals.interpret_op(Op.mul, ((1.0, 2.0), (3.0, 4.0))) == (3.0, 8.0)
    assert intervals.interpret_op(Op.mul, ((-2.0, -1.0), (3.0, 4.0))) == (-8.0, -3.0)
    assert intervals.interpret_op(Op.mul, ((-2.0, -1.0), (-4.0, -3.0))) == (3.0, 8.0)
    assert intervals.interpret_op(Op.mul, ((-2.0, 1.0), (-5.0, 4.0))) == (-8.0, 10.0)
    assert intervals.interpret_op(Op.mul, ((1.0, 2.0), -3.0)) == (-6.0, -3.0)
    assert intervals.interpret_op(Op.mul, (2.0, 5.0)) == (10.0, 10.0)


def test_operands_are_independent():
    """What is known of one operand says nothing of the other, even if both are one object."""
    x = (-2.0, 3.0)
    assert IntervalInterpreter().interpret_op(Op.mul, (x, x)) == (-6.0, 9.0)


exercise("interpreters.remember")


def test_the_same_question_is_asked_once():
    """Each question, by operation and order of operands, goes once to the interpreter before."""
    before, x, y = Text(), "x", "y"
    remembering = RememberingInterpreter(before)
    for _ in range(3):
        assert remembering.interpret_op(Op.mul, (x, y)) == "mul(x, y)"
        assert remembering.interpret_op(Op.add, (x, y)) == "add(x, y)"
        assert remembering.interpret_op(Op.add, (y, x)) == "add(y, x)"
    assert before.asked == [(Op.mul, (x, y)), (Op.add, (x, y)), (Op.add, (y, x))]
    assert remembering.interpret_op(Op.mul, (x, y, y)) == "mul(x, y, y)"


def test_two_that_remember():
    """Two interpreters that remember know nothing of each other."""
    first, second = Text(), Text()
    RememberingInterpreter(first).interpret_op(Op.mul, ("x", "y"))
    RememberingInterpreter(second).interpret_op(Op.mul, ("x", "y"))
    assert second.asked == [(Op.mul, ("x", "y"))]


def test_answers_of_any_kind():
    """Any answer is remembered, even None or 0.0; an error is not an answer."""
    before = Echo()
    remembering = RememberingInterpreter(before)
    for x in (None, 0.0, "", None, 0.0, ""):
        assert remembering.interpret_op(Op.add, (x, 2.0)) is x
    assert len(before.asked) == 3
    error = KeyError("x")
    for _ in range(2):
        with pytest.raises(KeyError):
            remembering.interpret_op(Op.add, (error, 2.0))


def test_equal_is_not_the_same():
    """1.0 and True are equal, and so are two lists or floats; they are not the same objects."""
    before = Text()
    remembering = RememberingInterpreter(before)
    assert remembering.interpret_op(Op.add, (1.0, 2.0)) == "add(1.0, 2.0)"
    assert remembering.interpret_op(Op.add, (True, 2.0)) == "add(True, 2.0)"
    assert remembering.interpret_op(Op.add, (0.0, 2.0)) == "add(0.0, 2.0)"
    assert remembering.interpret_op(Op.add, (-0.0, 2.0)) == "add(-0.0, 2.0)"
    for one, other in [(["x"], ["x"]), (float("2.5"), float("2.5"))]:
        for operand in (one, other, one):
            remembering.interpret_op(Op.mul, (operand, operand))
    assert len(before.asked) == 8


def test_operands_that_are_kept_nowhere_else():
    """Many operands, each of which is gone before the next one is made."""
    remembering = RememberingInterpreter(EvalInterpreter())
    sums = [remembering.interpret_op(Op.add, (1.5, i / 2)) for i in range(100)]
    assert sums == [1.5 + i / 2 for i in range(100)]


exercise("interpreters.count_ops")


def test_result_and_count():
    """Result and number of operations are returned; each call counts from zero."""
    assert count_ops(lambda x: mul(x, add(x, 3.0)), 2.0) == (10.0, 2)
    assert count_ops(add, 2.0, 5.0) == (7.0, 1)
    assert count_ops(lambda: 5.0) == (5.0, 0)


def test_counting_in_a_program_that_is_counted():
    """The inner count leaves the operations to the outer interpreter, which counts them, too."""

    def outer(x):
        y, inner_count = count_ops(lambda z: mul(z, z), add(x, 1.0))
        return y, inner_count

    assert count_ops(outer, 2.0) == ((9.0, 1), 2)


def test_what_another_interpreter_does_is_not_counted():
    """Only what reaches the counter is counted: a string of an inner interpreter costs nothing."""

    def f():
        with set_interpreter(Text()):
            add("x", 1.0)
        return mul(2.0, 3.0)

    assert count_ops(f) == (6.0, 1)


def test_other_interpreters_are_counted_too(text):
    """The interpreter that is current does the work, and is current again afterwards."""
    assert count_ops(lambda x: mul(x, add(x, 3.0)), "x") == ("mul(x, add(x, 3.0))", 2)
    assert current_interpreter() is text


def test_function_that_fails(text):
    """The interpreter that was current is current again, even if the function raises."""

    def fail(error):
        raise error

    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            count_ops(fail, error)
        assert current_interpreter() is text


def test_operation_that_fails():
    """An operation that raises has reached the interpreter, and so it counts."""

    def f(x):
        with pytest.raises(TypeError):
            add(x, "y")
        return mul(x, x)

    assert count_ops(f, 2.0) == (4.0, 2)
