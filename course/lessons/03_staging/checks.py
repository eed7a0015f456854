"""Checks of the `staging` lesson, for you to read and to run: `./jaxprentice check staging`."""

from weakref import WeakSet

import pytest
from checking import exercise

from microjax.duals import jvp
from microjax.interpreters import (
    Interpreter,
    Op,
    add,
    count_ops,
    current_interpreter,
    mul,
    set_interpreter,
)
from microjax.staging import Equation, Jaxpr, Var, build_jaxpr, dce_jaxpr, eval_jaxpr


class Text(Interpreter):
    """Turns each operation into a string."""

    def interpret_op(self, op, args):
        """The string for one operation."""
        assert type(args) is tuple
        return f"{op}({', '.join(map(str, args))})"


def program(parameters, lines, result):
    """A program written by hand; a name stands for the variable that is called so.

    `program("x", ["y = add x 3.0"], "y")` has one parameter and one equation.
    """
    variables = {name: Var(name) for name in parameters.split()}

    def atom(text):
        return variables[text] if text in variables else float(text)

    equations = []
    for line in lines:
        name, _, op, *operands = line.split()
        args = tuple(atom(operand) for operand in operands)
        variables[name] = Var(name)
        equations.append(Equation(variables[name], Op[op], args))
    parameters = tuple(variables[name] for name in parameters.split())
    return Jaxpr(parameters, tuple(equations), atom(result))


exercise("staging.build_jaxpr")


def test_program_of_a_function():
    """The program of a function holds its operations in order."""
    jaxpr = build_jaxpr(lambda x: mul(x, add(x, 3.0)), 1)
    assert str(jaxpr).split("\n") == [
        "v_1 ->",
        "  v_2 = add(v_1, 3.0)",
        "  v_3 = mul(v_1, v_2)",
        "v_3",
    ]


def test_nothing_is_computed():
    """An operation on constants is written down, too, and so is one that came before."""
    jaxpr = build_jaxpr(lambda x: mul(mul(x, 1.0), add(add(1.0, 2.0), add(1.0, 2.0))), 1)
    assert str(jaxpr).split("\n") == [
        "v_1 ->",
        "  v_2 = mul(v_1, 1.0)",
        "  v_3 = add(1.0, 2.0)",
        "  v_4 = add(1.0, 2.0)",
        "  v_5 = add(v_3, v_4)",
        "  v_6 = mul(v_2, v_5)",
        "v_6",
    ]
    assert jaxpr.equations[0].args == (jaxpr.parameters[0], 1.0)


def test_a_program_inside_another():
    """For a program that is built inside another, the outer variables are constants, kept as is."""
    inside = []

    def outside(x):
        z = add(x, 1.0)
        inside.append(build_jaxpr(lambda y: add(z, mul(x, y)), 1))
        assert inside[0].equations[0].args[0] is x
        assert inside[0].equations[1].args[0] is z
        assert inside[0].parameters[0] is not x
        return add(z, 2.0)

    texts = [str(build_jaxpr(outside, 1)), str(inside[0])]
    assert texts == [
        "v_1 ->\n  v_2 = add(v_1, 1.0)\n  v_3 = add(v_2, 2.0)\nv_3",
        "v_1 ->\n  v_2 = mul(v_1, v_1)\n  v_3 = add(v_2, v_2)\nv_3",
    ]


def test_several_parameters():
    """There is a parameter for each argument, used or not; all parts of a Jaxpr are in order."""
    jaxpr = build_jaxpr(lambda x, y, z: add(z, x), 3)
    assert str(jaxpr).split("\n") == ["v_1, v_2, v_3 ->", "  v_4 = add(v_3, v_1)", "v_4"]
    assert type(jaxpr.parameters) is tuple
    assert type(jaxpr.equations) is tuple


def test_variables_are_objects():
    """A variable is one object of the class Var, wherever the program uses it."""
    jaxpr = build_jaxpr(lambda x: add(mul(x, x), 1.0), 1)
    product, last = jaxpr.equations
    assert [type(var) for var in (*jaxpr.parameters, product.var, last.var)] == [Var, Var, Var]
    assert product.args[0] is jaxpr.parameters[0]
    assert last.args[0] is product.var
    assert jaxpr.return_val is last.var


def test_other_results():
    """What the function returns is what the program returns, whatever came last."""

    def early(x):
        y = add(x, 1.0)
        mul(y, y)
        return y

    assert str(build_jaxpr(early, 1).return_val) == "v_2"
    assert str(build_jaxpr(lambda x, y: y, 2)) == "v_1, v_2 ->\nv_2"
    assert str(build_jaxpr(lambda x: 5.0, 1)) == "v_1 ->\n5.0"


def test_the_function_runs_each_time():
    """The program describes the function as it is now, which runs once for each program."""
    factors = iter([3.0, 100.0])

    def f(x):
        return mul(x, next(factors))

    assert str(build_jaxpr(f, 1).equations[0]) == "v_2 = mul(v_1, 3.0)"
    assert str(build_jaxpr(f, 1).equations[0]) == "v_2 = mul(v_1, 100.0)"


def test_current_interpreter_afterwards():
    """The interpreter that was current is current again, even if the function raises."""
    before = Text()
    with set_interpreter(before):
        build_jaxpr(lambda x: x, 1)
        assert current_interpreter() is before
        with pytest.raises(ZeroDivisionError):
            build_jaxpr(lambda x: 1 // 0, 1)
        assert current_interpreter() is before


exercise("staging.eval_jaxpr")


def test_value_of_a_program():
    """A program is run on values, constants and all."""
    jaxpr = program("x", ["y = add x 3.0", "z = mul x y"], "z")
    assert eval_jaxpr(jaxpr, (2.0,)) == 10.0
    assert eval_jaxpr(jaxpr, (0.0,)) == 0.0
    assert eval_jaxpr(program("x", [], "5.0"), (2.0,)) == 5.0
    assert eval_jaxpr(program("", [], "5.0"), ()) == 5.0
    assert eval_jaxpr(program("x y", [], "y"), (2.0, 7.0)) == 7.0


def test_values_that_are_used_twice():
    """An operand may be used twice at once, and the result by an equation that nothing needs."""
    lines = ["y = mul x x", "z = mul y y"]
    assert eval_jaxpr(program("x", lines, "z"), (2.0,)) == 16.0
    assert eval_jaxpr(program("x", lines, "y"), (2.0,)) == 4.0
    assert eval_jaxpr(program("x", lines, "x"), (2.0,)) == 2.0


def test_program_under_another_interpreter():
    """The current interpreter applies the operations, to values and constants as they are."""
    jaxpr = program("x", ["y = add x 3.0", "z = mul x y"], "z")
    with set_interpreter(Text()):
        assert eval_jaxpr(jaxpr, ("a",)) == "mul(a, add(a, 3.0))"
        assert eval_jaxpr(jaxpr, (None,)) == "mul(None, add(None, 3.0))"
        zeros = program("x", ["y = mul x 0.0", "z = add y -0.0"], "z")
        assert eval_jaxpr(zeros, ("a",)) == "add(mul(a, 0.0), -0.0)"
    assert jvp(lambda x: eval_jaxpr(jaxpr, (x,)), 2.0, 1.0) == (10.0, 7.0)


def test_every_operation_is_applied():
    """The current interpreter applies each operation once, and those that nothing needs, too."""
    jaxpr = program("x", ["a = mul x x", "b = add a 1.0", "c = mul x 3.0"], "c")
    assert count_ops(lambda x: eval_jaxpr(jaxpr, (x,)), 2.0) == (6.0, 3)


def test_results_that_are_not_needed_any_more():
    """Of a chain of operations, few results exist at a time, and one that is needed late stays."""

    class Sum:
        def __init__(self, *terms):
            self.text = " + ".join(map(str, terms))

        def __str__(self):
            return self.text

    class Watch(Interpreter):
        def interpret_op(self, op, args):
            exist.add(result := Sum(*args))
            sizes.append(len(exist))
            return result

    exist, sizes = WeakSet(), []
    lines = ["a = add x y", "b = add a x", *["b = add x x"] * 50, *["b = add b x"] * 50]
    with set_interpreter(Watch()):
        result = eval_jaxpr(program("x y", [*lines, "b = add b a"], "b"), ("x", "y"))
    assert str(result) == " + ".join(["x"] * 52 + ["x", "y"])
    most_at_once = max(sizes)
    assert most_at_once < 10


def test_variable_of_another_program():
    """A variable of another program is a constant, even if it has the same name."""
    x, y, foreign = Var("v_1"), Var("v_2"), Var("v_1")
    jaxpr = Jaxpr((x,), (Equation(y, Op.mul, (x, foreign)),), y)
    with set_interpreter(Text()):
        assert eval_jaxpr(jaxpr, ("a",)) == "mul(a, v_1)"
    assert eval_jaxpr(Jaxpr((x,), (), foreign), (2.0,)) is foreign


def test_wrong_number_of_values():
    """Too many or too few values raise TypeError."""
    for args in [(), (1.0, 2.0)]:
        with pytest.raises(TypeError):
            eval_jaxpr(program("x", [], "x"), args)


exercise("staging.dce_jaxpr")


def test_dead_and_alive():
    """What the result needs stays in its order; what it does not need goes."""
    jaxpr = program("x", ["a = add x 1.0", "b = mul x x", "c = mul a a", "d = add c a"], "d")
    left = dce_jaxpr(jaxpr)
    assert [str(equation.var) for equation in left.equations] == ["a", "c", "d"]
    assert left.equations == (jaxpr.equations[0], *jaxpr.equations[2:])
    assert left.return_val is jaxpr.return_val


def test_used_by_the_dead():
    """An equation that only dead equations use is dead, too."""
    jaxpr = program("x", ["a = add x 1.0", "b = mul a a", "c = add b 2.0", "d = mul x x"], "d")
    assert [str(equation.var) for equation in dce_jaxpr(jaxpr).equations] == ["d"]
    for result in ("7.0", "x"):
        assert dce_jaxpr(program("x", ["a = add x 1.0"], result)).equations == ()


def test_unused_parameters():
    """All parameters stay, and the program that was given does not change."""
    jaxpr = program("x y", ["a = add y 1.0", "b = add x 1.0"], "b")
    assert [str(parameter) for parameter in dce_jaxpr(jaxpr).parameters] == ["x", "y"]
    assert len(jaxpr.equations) == 2


def test_long_program():
    """A program may have more than a thousand equations, and many of them may be dead."""
    dead = ["b = mul x x", *["b = mul b b"] * 300]
    jaxpr = program("x", ["a = add x 1.0", *["a = add a a"] * 1500, *dead], "a")
    assert len(dce_jaxpr(jaxpr).equations) == 1501


def test_names_do_not_count():
    """If a variable of another program is used, one with the same name is not needed for that."""
    x, dead, last, foreign = Var("x"), Var("v"), Var("last"), Var("v")
    equations = Equation(dead, Op.mul, (x, x)), Equation(last, Op.add, (x, foreign))
    left = dce_jaxpr(Jaxpr((x,), equations, last))
    assert [str(equation.var) for equation in left.equations] == ["last"]
