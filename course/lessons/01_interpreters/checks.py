"""Checks of the `interpreters` lesson, for you to read and run: `./jaxprentice check interpreters`.

Each exercise has a few. They need no other exercise than their own and those that the page names
before it, so you can do them in any order that pleases you.
"""

import threading

import pytest

from microjax.interpreters import (
    CountingInterpreter,
    EvalInterpreter,
    Interpreter,
    Op,
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


class Named(EvalInterpreter):
    """Evaluates, and has a name to be told apart by."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<the interpreter {self.name!r}>"


@pytest.fixture
def text():
    """A Text, current for the time of one check, without set_interpreter."""
    before = context.interpreter
    context.interpreter = Text()
    yield context.interpreter
    context.interpreter = before


# EvalInterpreter.interpret_op ---------------------------------------------------------------------


@pytest.mark.exercise("interpreters.evaluate")
def test_sum_and_product():
    """Op.add returns the sum of the two floats, Op.mul their product."""
    assert EvalInterpreter().interpret_op(Op.add, (2.5, 4.0)) == 6.5
    assert EvalInterpreter().interpret_op(Op.mul, (2.5, 4.0)) == 10.0


@pytest.mark.exercise("interpreters.evaluate")
def test_only_floats():
    """An operand that is not a float raises TypeError."""
    for op in Op:
        for args in [(2, 3.0), (2.0, 3), ("2.0", "3.0")]:
            with pytest.raises(TypeError):
                EvalInterpreter().interpret_op(op, args)


# set_interpreter ----------------------------------------------------------------------------------


@pytest.mark.exercise("interpreters.set_interpreter")
def test_inside_and_after_the_block(text):
    """The new interpreter is current inside the block, and the one before it after the block."""
    other = Named("other")
    with set_interpreter(other):
        assert current_interpreter() is other
    assert current_interpreter() is text


@pytest.mark.exercise("interpreters.set_interpreter")
def test_block_inside_a_block():
    """After the inner block, the interpreter of the outer one is current, not evaluation."""
    outer, inner = Named("outer"), Named("inner")
    with set_interpreter(outer):
        with set_interpreter(inner):
            assert current_interpreter() is inner
        assert current_interpreter() is outer


@pytest.mark.exercise("interpreters.set_interpreter")
def test_exception_in_the_block(text):
    """An exception leaves the block, and the interpreter before it is current again."""
    for error in [KeyError, KeyboardInterrupt]:
        with pytest.raises(error), set_interpreter(Named("failing")):
            raise error
        assert current_interpreter() is text


@pytest.mark.exercise("interpreters.set_interpreter")
@pytest.mark.threads
def test_another_thread():
    """What one thread makes current is not current in another thread."""
    seen = []
    with set_interpreter(Named("of this thread")):
        thread = threading.Thread(target=lambda: seen.append(current_interpreter()))
        thread.start()
        thread.join()
    assert type(seen[0]) is EvalInterpreter


# bind ---------------------------------------------------------------------------------------------


@pytest.mark.exercise("interpreters.bind")
def test_question_and_answer(text):
    """The current interpreter gets the operation and a tuple; its answer is the result."""
    assert bind(Op.add, "x", 3.0) == "add(x, 3.0)"
    assert text.asked == [(Op.add, ("x", 3.0))]


@pytest.mark.exercise("interpreters.bind")
def test_programs_of_add_and_mul(text):
    """add and mul bind their operations, so a program means what the interpreter says."""
    assert mul("x", add("x", 3.0)) == "mul(x, add(x, 3.0))"


# CountingInterpreter.interpret_op -----------------------------------------------------------------


@pytest.mark.exercise("interpreters.count_op")
def test_each_operation_counts():
    """Each operation counts once, whichever it is."""
    counting = CountingInterpreter(Text())
    counting.interpret_op(Op.add, ("x", 3.0))
    assert counting.count == 1
    counting.interpret_op(Op.mul, ("x", 3.0))
    assert counting.count == 2


@pytest.mark.exercise("interpreters.count_op")
def test_the_one_before_works():
    """The interpreter before this one gets the operation; its answer is the result."""
    before = Text()
    assert CountingInterpreter(before).interpret_op(Op.mul, ("x", 3.0)) == "mul(x, 3.0)"
    assert before.asked == [(Op.mul, ("x", 3.0))]


@pytest.mark.exercise("interpreters.count_op")
def test_while_it_is_current():
    """The counting interpreter does not ask itself, even if it is the current one."""
    before = context.interpreter
    context.interpreter = CountingInterpreter(Text())
    try:
        assert context.interpreter.interpret_op(Op.mul, ("x", 3.0)) == "mul(x, 3.0)"
        assert context.interpreter.count == 1
    finally:
        context.interpreter = before


# count_ops ----------------------------------------------------------------------------------------


@pytest.mark.exercise("interpreters.count_ops")
def test_result_and_count():
    """Result and number of operations are returned; each call counts from zero."""
    assert count_ops(lambda x: mul(x, add(x, 3.0)), 2.0) == (10.0, 2)
    assert count_ops(add, 2.0, 5.0) == (7.0, 1)
    assert count_ops(lambda: 5.0) == (5.0, 0)


@pytest.mark.exercise("interpreters.count_ops")
def test_counting_in_a_program_that_is_counted():
    """The inner count leaves the operations to the outer interpreter, which counts them, too."""

    def outer(x):
        y, inner_count = count_ops(lambda z: mul(z, z), add(x, 1.0))
        return y, inner_count

    assert count_ops(outer, 2.0) == ((9.0, 1), 2)


@pytest.mark.exercise("interpreters.count_ops")
def test_other_interpreters_are_counted_too(text):
    """The interpreter that is current does the work, and is current again afterwards."""
    assert count_ops(lambda x: mul(x, add(x, 3.0)), "x") == ("mul(x, add(x, 3.0))", 2)
    assert current_interpreter() is text


@pytest.mark.exercise("interpreters.count_ops")
def test_function_that_fails(text):
    """The interpreter that was current is current again, even if the function raises."""
    with pytest.raises(ZeroDivisionError):
        count_ops(lambda: 1 // 0)
    assert current_interpreter() is text
