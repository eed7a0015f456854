"""Checks of the `duals` lesson, for you to read and to run: `./jaxprentice check duals`."""

import pytest
from checking import exercise

from microjax.duals import (
    DualNumber,
    JVPInterpreter,
    derivative,
    jvp,
    jvp_rules,
    mixed_derivatives,
    mul_jvp,
)
from microjax.interpreters import (
    EvalInterpreter,
    Interpreter,
    Op,
    add,
    current_interpreter,
    mul,
    set_interpreter,
)


class Named(JVPInterpreter):
    """An interpreter of dual numbers that says which one it is."""

    def __init__(self, name):
        super().__init__(current_interpreter())
        self.name = name

    def __repr__(self):
        return f"the {self.name}"


class Watch(Interpreter):
    """Evaluates, and keeps a list of what it was asked."""

    def __init__(self):
        self.asked = []

    def interpret_op(self, op, args):
        self.asked.append(op)
        return EvalInterpreter().interpret_op(op, args)


def foo(x):
    return mul(x, add(x, 3.0))


exercise("duals.mul_rule")


def test_rule_of_products():
    """A product moves by what its two operands contribute."""
    assert mul_jvp((3.0, 4.0), (1.0, 10.0)) == (12.0, 34.0)
    assert mul_jvp((3.0, 4.0), (0.0, 10.0)) == (12.0, 30.0)
    assert mul_jvp((3.0, 4.0), (1.0, 0.0)) == (12.0, 4.0)


def test_rule_of_products_asks_the_interpreter():
    """The current interpreter does all the arithmetic of the rule, in four operations."""
    watch = Watch()
    with set_interpreter(watch):
        mul_jvp((3.0, 4.0), (1.0, 10.0))
    assert sorted(map(str, watch.asked)) == ["add", "mul", "mul", "mul"]


exercise("duals.lift")


def test_constant():
    """A float becomes the primal of a dual number of this interpreter that does not move."""
    interpreter = JVPInterpreter(current_interpreter())
    dual = interpreter.lift(3.0)
    assert (dual.primal, dual.tangent) == (3.0, 0.0)
    assert type(dual.tangent) is float
    assert dual.interpreter is interpreter


def test_own_dual_number():
    """A dual number of this interpreter is returned unchanged."""
    interpreter = JVPInterpreter(current_interpreter())
    dual = DualNumber(interpreter, 3.0, 1.0)
    assert interpreter.lift(dual) is dual


def test_dual_number_of_another_interpreter():
    """A dual number of another interpreter is kept whole, and does not move here."""
    interpreter = Named("interpreter that lifts")
    foreign = DualNumber(Named("other interpreter"), 3.0, 1.0)
    dual = interpreter.lift(foreign)
    assert dual.interpreter is interpreter
    assert dual.primal is foreign
    assert dual.tangent == 0.0


exercise("duals.interpret_op")


def noting(calls):
    """A rule that notes what it is called with."""

    def toy(primals, tangents):
        calls.append((primals, tangents))
        return 5.0, 7.0

    return toy


def test_what_the_rule_gets_and_gives(monkeypatch):
    """The rule gets two tuples, primals and tangents, and returns a pair, which becomes one value."""
    calls = []
    monkeypatch.setitem(jvp_rules, Op.mul, noting(calls))
    interpreter = JVPInterpreter(current_interpreter())
    out = interpreter.interpret_op(Op.mul, (DualNumber(interpreter, 3.0, 1.0), 4.0))
    assert calls == [((3.0, 4.0), (1.0, 0.0))]
    assert (out.primal, out.tangent) == (5.0, 7.0)
    assert out.interpreter is interpreter


def test_operand_of_another_interpreter(monkeypatch):
    """A dual number of another interpreter is a constant operand: it does not move here."""
    calls = []
    monkeypatch.setitem(jvp_rules, Op.mul, noting(calls))
    interpreter = JVPInterpreter(current_interpreter())
    foreign = DualNumber(JVPInterpreter(current_interpreter()), 4.0, 10.0)
    interpreter.interpret_op(Op.mul, (DualNumber(interpreter, 3.0, 1.0), foreign))
    assert calls == [((3.0, foreign), (1.0, 0.0))]


def test_who_applies_the_rule(monkeypatch):
    """The rule runs under the interpreter before this one, which does not have to be evaluation."""
    before, seen = Watch(), []

    def toy(primals, tangents):
        seen.append(current_interpreter())
        return 5.0, 7.0

    monkeypatch.setitem(jvp_rules, Op.add, toy)
    interpreter = JVPInterpreter(before)
    for current in (interpreter, Watch()):
        with set_interpreter(current):
            interpreter.interpret_op(Op.add, (3.0, 4.0))
    assert seen == [before, before]


def test_who_is_current_after_the_rule(monkeypatch):
    """The interpreter that was current is current again, even if the rule raises."""
    around = Watch()
    with set_interpreter(around):
        JVPInterpreter(Watch()).interpret_op(Op.add, (3.0, 4.0))
        assert current_interpreter() is around
        monkeypatch.setitem(jvp_rules, Op.add, lambda primals, tangents: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            JVPInterpreter(Watch()).interpret_op(Op.add, (3.0, 4.0))
        assert current_interpreter() is around


exercise("duals.jvp")


def test_value_and_tangent():
    """The result is the value, and how fast it moves: twice as fast if the input does."""
    assert jvp(foo, 2.0, 1.0) == (10.0, 7.0)
    assert jvp(foo, 2.0, 2.0) == (10.0, 14.0)


def test_what_the_function_gets():
    """The function runs once, on a dual number; the interpreter before does the arithmetic."""
    before, seen = Watch(), []

    def f(x):
        seen.append((x.primal, x.tangent))
        return mul(x, 1.0)

    with set_interpreter(before):
        assert jvp(f, 2.0, 5.0) == (2.0, 5.0)
        assert seen == [(2.0, 5.0)]
        assert len(before.asked) == 4
        assert current_interpreter() is before


def test_jvp_inside_a_function():
    """Each use of jvp has dual numbers of its own, so an x from outside does not move inside."""

    def f(x):
        value, tangent = jvp(lambda y: add(x, y), 1.0, 1.0)
        return mul(x, tangent)

    assert jvp(f, 1.0, 1.0) == (1.0, 1.0)


def test_function_that_fails():
    """The interpreter that was current is current again, even if the function raises."""
    before = Watch()
    with set_interpreter(before):
        with pytest.raises(ZeroDivisionError):
            jvp(lambda x: 1 // 0, 2.0, 1.0)
        assert current_interpreter() is before


def test_constant_result():
    """A function whose result is a constant does not move."""
    assert jvp(lambda x: 5.0, 2.0, 1.0) == (5.0, 0.0)


def test_result_from_outside():
    """A dual number of an outer interpreter, or of an earlier call, is a constant result."""
    others = [DualNumber(JVPInterpreter(current_interpreter()), 3.0, 1.0)]
    jvp(others.append, 3.0, 1.0)
    for foreign in others:
        value, tangent = jvp(lambda x, foreign=foreign: foreign, 2.0, 1.0)
        assert value is foreign
        assert tangent == 0.0


exercise("duals.mixed")


def test_four_numbers():
    """One run finds the value, the derivatives in x and in y, and the mixed derivative."""
    runs = []

    def f(x, y):
        runs.append(x)
        return add(mul(mul(x, x), y), x)

    assert mixed_derivatives(f, 3.0, 5.0) == (48.0, 31.0, 9.0, 6.0)
    assert len(runs) == 1


def test_inputs_that_do_not_count():
    """A function may ignore one of its inputs, or both; a value of 0.0 may move."""
    assert mixed_derivatives(lambda x, y: x, 3.0, 5.0) == (3.0, 1.0, 0.0, 0.0)
    assert mixed_derivatives(lambda x, y: y, 3.0, 5.0) == (5.0, 0.0, 1.0, 0.0)
    assert mixed_derivatives(lambda x, y: 7.0, 3.0, 5.0) == (7.0, 0.0, 0.0, 0.0)
    assert mixed_derivatives(mul, 0.0, 5.0) == (0.0, 5.0, 0.0, 1.0)


def test_how_the_four_numbers_move():
    """Inside a derivative, what comes from outside moves there and not here."""

    def number(i, f):
        return lambda z: mixed_derivatives(lambda x, y: f(z, x, y), z, 1.0)[i]

    assert derivative(number(3, lambda z, x, y: mul(z, mul(x, y))), 4.0) == 1.0
    assert derivative(number(0, lambda z, x, y: z), 4.0) == 1.0
    assert derivative(number(1, lambda z, x, y: z), 4.0) == 0.0


def test_mixed_derivatives_of_a_function_that_fails():
    """The interpreter that was current is current again, even if the function raises."""
    before = Watch()
    with set_interpreter(before):
        with pytest.raises(ZeroDivisionError):
            mixed_derivatives(lambda x, y: 1 // 0, 3.0, 5.0)
        assert current_interpreter() is before
