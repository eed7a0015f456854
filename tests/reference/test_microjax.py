"""microjax, the first three lessons: its figures, its laws, and that mistakes are noticed."""

import ast
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from microjax import (
    DualNumber,
    Equation,
    EvalInterpreter,
    Interpreter,
    Jaxpr,
    JVPInterpreter,
    Op,
    Var,
    add,
    build_jaxpr,
    current_interpreter,
    dce_jaxpr,
    derivative,
    eval_jaxpr,
    jvp,
    mul,
    nth_order_derivative,
    set_interpreter,
)

from autograder.lessons import assemble, manifest


def foo(x):
    return mul(x, add(x, 3.0))


def staged(f):
    """`f` by way of its program."""
    return lambda x: eval_jaxpr(build_jaxpr(f, 1), (x,))


def cleaned(f):
    """`f` by way of its program without dead code."""
    return lambda x: eval_jaxpr(dce_jaxpr(build_jaxpr(f, 1)), (x,))


# Polynomials: what a program with `add` and `mul` computes, worked out on coefficients ------------
# A program is a list of (operation, operand, operand); an operand is a place among the values so
# far, of which the first is x, or a constant. With small whole numbers, floats are exact.

CONSTANTS = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 3.0])


@st.composite
def programs(draw, max_size=6):
    size = draw(st.integers(1, max_size))
    lines = []
    for place in range(size):
        operand = st.integers(0, place) | CONSTANTS
        lines.append((draw(st.sampled_from([add, mul])), draw(operand), draw(operand)))
    return lines


def function(program):
    """The program as a function of x; it returns its last value."""

    def f(x):
        values = [x]
        for operation, *operands in program:
            values.append(operation(*(values[a] if isinstance(a, int) else a for a in operands)))
        return values[-1]

    return f


def polynomial(program):
    """The coefficients of what the program computes, lowest power first."""
    values = [[0, 1]]
    for operation, *operands in program:
        p, q = (values[a] if isinstance(a, int) else [int(a)] for a in operands)
        values.append(sum_of(p, q) if operation is add else product_of(p, q))
    return values[-1]


def sum_of(p, q):
    size = max(len(p), len(q))
    return [sum(r[i] for r in (p, q) if i < len(r)) for i in range(size)]


def product_of(p, q):
    out = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            out[i + j] += a * b
    return out


def differentiated(p, n):
    for _ in range(n):
        p = [i * c for i, c in enumerate(p)][1:] or [0]
    return p


def value_at(p, x):
    return sum(c * x**i for i, c in enumerate(p))


# ------------------------------------------------------------------------------------------------
# Figures


def test_the_figures_of_the_first_example():
    assert foo(2.0) == 10.0
    assert jvp(foo, 2.0, 1.0) == (10.0, 7.0)
    assert [nth_order_derivative(n, foo, 2.0) for n in range(5)] == [10.0, 7.0, 2.0, 0.0, 0.0]
    assert eval_jaxpr(build_jaxpr(foo, 1), (2.0,)) == 10.0
    assert jvp(staged(foo), 2.0, 1.0) == (10.0, 7.0)
    assert str(build_jaxpr(foo, 1)) == "v_1 ->\n  v_2 = add(v_1, 3.0)\n  v_3 = mul(v_1, v_2)\nv_3"


def test_perturbations_are_not_confused():
    def f(x):
        return mul(x, derivative(lambda y: x, 0.0))

    assert derivative(f, 0.0) == 0.0
    # d/dx (x * d/dy (x + y)) at y = 1, which is d/dx (x * 1).
    assert derivative(lambda x: mul(x, derivative(lambda y: add(x, y), 1.0)), 1.0) == 1.0


def imported_packages(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


@pytest.mark.parametrize("lesson", ["interpreters", "duals", "staging"])
def test_lessons_one_to_three_need_the_standard_library_only(lesson):
    found = set(imported_packages(assemble.read_solution(manifest.get(lesson).module)))
    assert found <= {"microjax", *sys.stdlib_module_names}


# ------------------------------------------------------------------------------------------------
# Laws


@given(programs(), st.integers(-2, 2), st.integers(-2, 2))
def test_jvp_gives_the_value_and_is_linear_in_the_tangent(program, x, t):
    slope = value_at(differentiated(polynomial(program), 1), x)
    wanted = (value_at(polynomial(program), x), slope * t)
    assert jvp(function(program), float(x), float(t)) == wanted


# By name the order of the derivative, and a function in place of `f`.
WRAPPERS = {
    "derivative": (1, lambda f: lambda x: derivative(f, x)),
    "second derivative": (2, lambda f: lambda x: nth_order_derivative(2, f, x)),
    "staged": (0, staged),
    "cleaned": (0, cleaned),
}


@given(programs(4), st.integers(-2, 2), st.lists(st.sampled_from(list(WRAPPERS)), max_size=5))
def test_derivatives_and_staging_nest_in_any_order_and_agree_with_the_polynomial(program, x, names):
    f, total = function(program), 0
    for name in names:
        order, wrap = WRAPPERS[name]
        f, total = wrap(f), total + order
    assert f(float(x)) == value_at(differentiated(polynomial(program), total), x)


@given(programs())
def test_staging_a_staged_program_writes_it_down_again(program):
    f = function(program)
    assert str(build_jaxpr(staged(f), 1)) == str(build_jaxpr(f, 1))


@given(programs())
def test_dead_code_elimination_drops_exactly_what_the_result_does_not_need(program):
    jaxpr = build_jaxpr(function(program), 1)
    definitions = {equation.var: equation for equation in jaxpr.equations}
    needed, todo = set(), [jaxpr.return_val]
    while todo:  # from the result to its operands, and theirs: no order of equations in it
        equation = definitions.get(todo.pop())
        if equation:
            needed.add(equation)
            todo.extend(equation.args)
    cleaned_jaxpr = dce_jaxpr(jaxpr)
    assert cleaned_jaxpr.equations == tuple(eqn for eqn in jaxpr.equations if eqn in needed)
    assert str(dce_jaxpr(cleaned_jaxpr)) == str(cleaned_jaxpr)


def test_dead_code_elimination_keeps_unused_parameters():
    jaxpr = dce_jaxpr(build_jaxpr(lambda x, y: add(x, 1.0), 2))
    assert eval_jaxpr(jaxpr, (2.0, 5.0)) == 3.0


# ------------------------------------------------------------------------------------------------
# Programs within programs


def test_a_variable_of_the_program_outside_is_a_constant_inside():
    def outside(x):
        inside = build_jaxpr(lambda y: add(mul(x, y), y), 1)
        return eval_jaxpr(inside, (5.0,))

    assert eval_jaxpr(build_jaxpr(outside, 1), (3.0,)) == 20.0
    assert derivative(outside, 3.0) == 5.0


def test_constant_results_are_possible_everywhere():
    assert jvp(lambda x: 5.0, 2.0, 1.0) == (5.0, 0.0)
    assert staged(lambda x: 5.0)(2.0) == 5.0
    assert str(build_jaxpr(lambda x: 5.0, 1)) == "v_1 ->\n5.0"


def test_a_program_can_be_written_by_hand():
    x, y = Var("x"), Var("y")
    jaxpr = Jaxpr((x,), (Equation(y, Op.mul, (x, 2.0)),), y)
    assert eval_jaxpr(jaxpr, (4.0,)) == 8.0


def test_long_programs_are_no_problem():
    def long(x):
        y = x
        for _ in range(20_000):
            y = add(y, x)
        return y

    assert cleaned(long)(1.0) == 20_001.0
    assert derivative(cleaned(long), 1.0) == 20_001.0


def test_an_interpreter_of_ones_own_works_beside_the_others():
    class Counter(Interpreter):
        def __init__(self, prev):
            self.prev, self.count = prev, 0

        def interpret_op(self, op, args):
            self.count += 1
            return self.prev.interpret_op(op, args)

    counter = Counter(current_interpreter())
    with set_interpreter(counter):
        assert derivative(foo, 2.0) == 7.0
    assert counter.count == 6  # add: 1 + 1; mul: 1 + 3


# ------------------------------------------------------------------------------------------------
# The current interpreter, and mistakes


def broken(_):
    raise KeyError("broken")


@pytest.mark.parametrize(
    "transform",
    [
        lambda: derivative(broken, 1.0),
        lambda: build_jaxpr(broken, 1),
        lambda: build_jaxpr(lambda x: derivative(broken, x), 1),
        lambda: derivative(lambda x: add(x, "three"), 1.0),
    ],
)
def test_an_exception_leaves_the_current_interpreter_as_it_was(transform):
    before = current_interpreter()
    with pytest.raises((KeyError, TypeError)):
        transform()
    assert current_interpreter() is before
    assert foo(2.0) == 10.0


def test_blocks_within_blocks_restore_one_after_the_other():
    start, first, second = current_interpreter(), EvalInterpreter(), Interpreter()
    with set_interpreter(first):
        with set_interpreter(second):
            assert current_interpreter() is second
        assert current_interpreter() is first
    assert current_interpreter() is start


def test_each_thread_has_its_own_current_interpreter():
    seen = []
    with set_interpreter(JVPInterpreter(current_interpreter())):
        thread = threading.Thread(target=lambda: seen.append(foo(2.0)))
        thread.start()
        thread.join()
    assert seen == [10.0]


def test_integers_are_refused_with_the_number_to_write():
    with pytest.raises(TypeError, match=r"mul takes floats, but was given 3, .*Write .* 3\.0"):
        derivative(lambda x: mul(x, 3), 2.0)


def test_an_escaped_value_is_noticed():
    kept = []
    derivative(lambda x: kept.append(x) or x, 1.0)
    build_jaxpr(lambda x: kept.append(x) or x, 1)
    for escaped in kept:
        with pytest.raises(TypeError, match=r"not current.* its work is over and .* kept"):
            add(escaped, 1.0)
        with pytest.raises(TypeError, match=r"not current.* its work is over and .* kept"):
            derivative(lambda x: mul(x, escaped), 1.0)  # noqa: B023
    assert isinstance(kept[0], DualNumber)


def test_a_program_must_be_given_a_value_for_each_parameter():
    with pytest.raises(TypeError, match="takes 1 values, not 2"):
        eval_jaxpr(build_jaxpr(foo, 1), (1.0, 2.0))


def test_an_interpreter_without_rules_says_what_to_define():
    with (
        pytest.raises(NotImplementedError, match="must define interpret_op"),
        set_interpreter(Interpreter()),
    ):
        foo(2.0)
