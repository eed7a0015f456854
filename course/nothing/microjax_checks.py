"""Checks of your microjax, for you to read and run: `./jaxprentice check nothing/microjax.py`.

They use the names that the page lists, and no others.
"""

import random
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from checking import exercise

from nothing.microjax import (
    Interpreter,
    Op,
    add,
    build_jaxpr,
    count_ops,
    current_interpreter,
    dce_jaxpr,
    derivative,
    eval_jaxpr,
    jvp,
    mul,
    nth_order_derivative,
    set_interpreter,
    staged,
)


class Text(Interpreter):
    """Turns each operation into a string, and keeps what it was asked."""

    def __init__(self, name="text"):
        self.name, self.asked = name, []

    def __repr__(self):
        return self.name

    def interpret_op(self, op, args):
        self.asked.append((op, args))
        answer = f"{op.name}({', '.join(map(str, args))})"
        if len(answer) > 1000:  # no check writes so much
            raise RecursionError(f"the interpreter {self} is still in charge after its block")
        return answer


class Watch(Interpreter):
    """Leaves operations to evaluation, and keeps what it was asked."""

    def __init__(self):
        self.asked = []
        self.below = current_interpreter()

    def interpret_op(self, op, args):
        self.asked.append(op)
        return self.below.interpret_op(op, args)


def foo(x):
    return mul(x, add(x, 3.0))


def fails(*args):
    raise ZeroDivisionError


def lines(jaxpr):
    return str(jaxpr).split("\n")


# Random programs. Each is a polynomial of x, whose coefficients a list knows, lowest power first.


def coefficients(x):
    return x if isinstance(x, list) else [x]


def sums(x, y):
    x, y = coefficients(x), coefficients(y)
    return [sum(p[i] for p in (x, y) if i < len(p)) for i in range(max(len(x), len(y)))]


def products(x, y):
    out = [0.0] * (len(coefficients(x)) + len(coefficients(y)) - 1)
    for i, a in enumerate(coefficients(x)):
        for j, b in enumerate(coefficients(y)):
            out[i + j] += a * b
    return out


def program(seed):
    """A function of x that applies eight operations, and the polynomial that it is."""
    choose = random.Random(seed)
    steps, degrees = [], [1, 0, 0]
    for _ in range(8):
        i, j = choose.sample(range(len(degrees)), 2)
        is_mul = choose.random() < 0.6 and degrees[i] + degrees[j] < 7
        steps.append((is_mul, i, j))
        degrees.append(degrees[i] + degrees[j] if is_mul else max(degrees[i], degrees[j]))

    def run(x, how=(add, mul)):
        known = [x, 2.0, -1.0]
        for is_mul, i, j in steps:
            known.append(how[is_mul](known[i], known[j]))
        return known[-1]

    return run, coefficients(run([0.0, 1.0], (sums, products)))


def value(polynomial, x, order=0):
    """The value of a polynomial, or of one of its derivatives."""
    for _ in range(order):
        polynomial = [i * c for i, c in enumerate(polynomial)][1:]
    return sum(c * x**i for i, c in enumerate(polynomial))


PROGRAMS = [program(seed) for seed in range(40)]

exercise("microjax.interpreters")


def test_classes():
    """Op and Interpreter are defined in your file."""
    for kind in (Op, Interpreter):
        if hasattr(kind, "stand_in"):
            raise NameError(f"{kind.__name__} is not there yet")


def test_evaluation():
    """At the beginning operations are evaluated: add is the sum, mul the product, of floats."""
    assert [add(2.5, 4.0), mul(2.5, 4.0), foo(2.0)] == [6.5, 10.0, 10.0]
    for f, polynomial in PROGRAMS:
        assert f(3.0) == value(polynomial, 3.0)


@pytest.mark.parametrize("args", [(2, 3.0), (2.0, 3), ("2.0", "3.0")])
def test_only_floats(args):
    """Evaluation raises TypeError for an operand that is not a float."""
    for op in (add, mul):
        with pytest.raises(TypeError):
            op(*args)


def test_question_and_answer():
    """The current interpreter gets the operation and a tuple, once; its answer is the result."""
    text = Text()
    with set_interpreter(text):
        assert foo("x") == "mul(x, add(x, 3.0))"
    assert text.asked == [(Op.add, ("x", 3.0)), (Op.mul, ("x", "add(x, 3.0)"))]


def test_blocks():
    """A with block has its own interpreter; afterwards the one before it is current again."""
    first, outer, inner = current_interpreter(), Text("outer"), Text("inner")
    with set_interpreter(outer):
        with set_interpreter(inner):
            assert current_interpreter() is inner
        assert current_interpreter() is outer
    assert current_interpreter() is first


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_a_block_that_fails(error):
    """After a block that fails the interpreter before it is current again, too."""
    outer, inner = Text("outer"), Text("inner")
    with set_interpreter(outer):
        with pytest.raises(error), set_interpreter(inner):
            raise error
        assert current_interpreter() is outer


def test_one_interpreter_in_two_blocks():
    """An interpreter may be current in a block inside its own block, and is not the one before."""
    first, text = current_interpreter(), Text()
    with set_interpreter(text):
        with set_interpreter(text):
            pass
        assert current_interpreter() is text
    assert current_interpreter() is first


def test_another_thread():
    """What one thread makes current is not current in another, which begins with evaluation."""
    with set_interpreter(Text()), ThreadPoolExecutor() as threads:
        assert threads.submit(add, 1.0, 2.0).result() == 3.0


def test_counts():
    """count_ops returns the result and the number of operations, of this call alone."""
    assert count_ops(foo, 2.0) == (10.0, 2)
    assert count_ops(add, 2.0, 5.0) == (7.0, 1)
    assert count_ops(lambda: 5.0) == (5.0, 0)
    assert [count_ops(f, 3.0)[1] for f, _ in PROGRAMS] == [8] * len(PROGRAMS)


def test_counting_what_counts():
    """The inner count leaves operations to the outer interpreter, which counts them, too."""

    def outer(x):
        return count_ops(lambda y: mul(y, y), add(x, 1.0))

    assert count_ops(outer, 2.0) == ((9.0, 1), 2)
    with set_interpreter(Text()):
        assert count_ops(foo, "x") == ("mul(x, add(x, 3.0))", 2)


def test_counting_a_function_that_fails():
    """Whatever a function raises, the interpreter that was current is current again."""
    with set_interpreter(Text()):
        before = current_interpreter()
        with pytest.raises(ZeroDivisionError):
            count_ops(fails)
        assert current_interpreter() is before


exercise("microjax.duals")


def test_value_and_tangent():
    """jvp returns the value, and how fast it moves: twice as fast if the input does."""
    assert jvp(foo, 2.0, 1.0) == (10.0, 7.0)
    assert jvp(foo, 2.0, 2.0) == (10.0, 14.0)
    for f, polynomial in PROGRAMS:
        assert jvp(f, 3.0, 2.0) == (value(polynomial, 3.0), 2.0 * value(polynomial, 3.0, order=1))


def test_one_run():
    """jvp runs the function once."""
    runs = []
    jvp(lambda x: runs.append("run") or x, 2.0, 1.0)
    assert runs == ["run"]


def test_the_interpreter_before_does_the_arithmetic():
    """A sum needs two operations of the interpreter before, a product four."""
    for f, expected in [(lambda x: add(x, 1.0), 2), (lambda x: mul(x, 1.0), 4)]:
        watch = Watch()
        with set_interpreter(watch):
            jvp(f, 2.0, 5.0)
            assert current_interpreter() is watch
        assert len(watch.asked) == expected
    assert count_ops(lambda x: derivative(foo, x), 2.0) == (7.0, 6)


def test_between_two_operations():
    """After each operation the interpreter of the derivative is in charge again."""
    counts = []
    derivative(lambda x: counts.append(count_ops(foo, add(x, 1.0))[1]) or x, 2.0)
    assert counts == [2]


def test_results_that_do_not_move():
    """A constant result has tangent 0.0."""
    assert jvp(lambda x: 5.0, 2.0, 1.0) == (5.0, 0.0)
    assert type(jvp(lambda x: 5.0, 2.0, 1.0)[1]) is float


def test_derivatives_inside():
    """Each jvp has dual numbers of its own: an x from outside does not move inside."""

    def f(x):
        return mul(x, derivative(lambda y: add(x, y), 1.0))

    assert derivative(f, 1.0) == 1.0
    assert derivative(lambda x: mul(x, derivative(lambda y: x, 0.0)), 0.0) == 0.0
    assert derivative(lambda x: derivative(lambda y: mul(x, mul(y, y)), x), 3.0) == 12.0
    assert derivative(lambda x: jvp(lambda y: x, 2.0, 1.0)[0], 5.0) == 1.0


def test_counting_between_two_derivatives():
    """They are not confused either if another interpreter is between them."""

    def f(x):
        return mul(x, count_ops(lambda: derivative(lambda y: add(x, y), 1.0))[0])

    assert derivative(f, 1.0) == 1.0


def test_what_is_left_of_a_derivative():
    """A value that escaped from a derivative is a constant of later ones; TypeError refuses it."""
    kept = []
    derivative(lambda x: kept.append(x) or x, 2.0)
    with pytest.raises(TypeError):
        derivative(lambda y: mul(y, kept[0]), 3.0)


def test_orders():
    """The orders from 0 on: value, slope, slope of the slope, each in one run."""
    assert [nth_order_derivative(n, foo, 2.0) for n in range(5)] == [10.0, 7.0, 2.0, 0.0, 0.0]
    for f, polynomial in PROGRAMS:
        assert nth_order_derivative(3, f, 2.0) == value(polynomial, 2.0, order=3)
    runs = []
    nth_order_derivative(3, lambda x: runs.append(x) or mul(x, x), 5.0)
    assert len(runs) == 1


def test_jvp_of_a_function_that_fails():
    """Whatever a function raises, the interpreter that was current is current again."""
    with set_interpreter(Text()):
        before = current_interpreter()
        with pytest.raises(ZeroDivisionError):
            jvp(fails, 2.0, 1.0)
        assert current_interpreter() is before


exercise("microjax.staging")


def test_program_of_a_function():
    """A program prints its parameters, its operations in order, and what it returns."""
    expected = ["v_1 ->", "  v_2 = add(v_1, 3.0)", "  v_3 = mul(v_1, v_2)", "v_3"]
    assert lines(build_jaxpr(foo, 1)) == expected
    assert lines(build_jaxpr(foo, 1)) == expected
    several = build_jaxpr(lambda x, y, z: add(z, x), 3)
    assert lines(several) == ["v_1, v_2, v_3 ->", "  v_4 = add(v_3, v_1)", "v_4"]


def test_nothing_is_computed():
    """Operations on constants are written down too, and the same operation twice is two lines."""
    jaxpr = build_jaxpr(lambda x: add(add(1.0, 2.0), add(1.0, 2.0)), 1)
    assert lines(jaxpr)[1:3] == ["  v_2 = add(1.0, 2.0)", "  v_3 = add(1.0, 2.0)"]
    assert lines(build_jaxpr(lambda x: mul(x, 1.0), 1))[1:] == ["  v_2 = mul(v_1, 1.0)", "v_2"]
    watch = Watch()
    with set_interpreter(watch):
        build_jaxpr(foo, 1)
        assert current_interpreter() is watch
        with pytest.raises(ZeroDivisionError):
            build_jaxpr(fails, 1)
        assert current_interpreter() is watch
    assert watch.asked == []


def test_written_again():
    """The program describes the function as it is now."""
    factor = [3.0]

    def f(x):
        return mul(x, factor[0])

    assert lines(build_jaxpr(f, 1))[1] == "  v_2 = mul(v_1, 3.0)"
    factor[0] = 100.0
    assert lines(build_jaxpr(f, 1))[1] == "  v_2 = mul(v_1, 100.0)"


def test_other_results():
    """A program returns what the function returns, whatever came last."""
    assert lines(build_jaxpr(lambda x: [x, mul(x, x)][0], 1))[-1] == "v_1"
    assert lines(build_jaxpr(lambda x, y: y, 2)) == ["v_1, v_2 ->", "v_2"]
    assert lines(build_jaxpr(lambda x: 5.0, 1)) == ["v_1 ->", "5.0"]


def test_running_a_program():
    """eval_jaxpr runs a program on values, and the current interpreter applies its operations."""
    assert eval_jaxpr(build_jaxpr(foo, 1), (2.0,)) == 10.0
    assert eval_jaxpr(build_jaxpr(lambda x, y: y, 2), (2.0, 7.0)) == 7.0
    with set_interpreter(Text()):
        assert eval_jaxpr(build_jaxpr(foo, 1), ("a",)) == "mul(a, add(a, 3.0))"
    for f, polynomial in PROGRAMS:
        jaxpr = build_jaxpr(f, 1)
        assert eval_jaxpr(jaxpr, (3.0,)) == value(polynomial, 3.0)
        moved = jvp(lambda x: eval_jaxpr(jaxpr, (x,)), 3.0, 1.0)[1]  # noqa: B023
        assert moved == value(polynomial, 3.0, order=1)


def test_every_operation_each_time():
    """A program that runs applies all its operations, dead ones too, and in each run."""

    def wasteful(x):
        add(mul(x, x), 1.0)
        return mul(x, 3.0)

    jaxpr, run = build_jaxpr(wasteful, 1), staged(wasteful, 1)
    assert count_ops(lambda x: eval_jaxpr(jaxpr, (x,)), 2.0) == (6.0, 3)
    assert [count_ops(run, 2.0) for _ in range(2)] == [(6.0, 3)] * 2


def test_constants_of_any_kind():
    """A program's constants may be values of an outer derivative."""

    def outer(x):
        return eval_jaxpr(dce_jaxpr(build_jaxpr(lambda y: mul(x, y), 1)), (2.0,))

    assert derivative(outer, 3.0) == 2.0


def test_long_programs():
    """A program may have thousands of operations."""

    def long(x):
        for _ in range(3000):
            x = add(x, 1.0)
        return x

    jaxpr = build_jaxpr(long, 1)
    assert eval_jaxpr(jaxpr, (0.0,)) == 3000.0
    assert len(lines(dce_jaxpr(jaxpr))) == 3002


@pytest.mark.parametrize("args", [(), (1.0, 2.0)])
def test_wrong_number_of_values(args):
    """Too many or too few values raise TypeError."""
    with pytest.raises(TypeError):
        eval_jaxpr(build_jaxpr(lambda x: x, 1), args)
    with pytest.raises(TypeError):
        staged(lambda x: x, 1)(*args)


def test_variables_of_another_program():
    """A variable of the program outside is a constant inside, even if both have one name."""

    def outer(x):
        inner = build_jaxpr(lambda y: mul(y, x), 1)
        return eval_jaxpr(inner, (5.0,))

    assert lines(build_jaxpr(outer, 1)) == ["v_1 ->", "  v_2 = mul(5.0, v_1)", "v_2"]
    back = []
    build_jaxpr(lambda x: back.append(eval_jaxpr(build_jaxpr(lambda y: x, 1), (5.0,)) is x) or x, 1)
    assert back == [True]


def test_there_and_back():
    """A staged function returns what the function returns, which itself runs once, at the start."""
    runs = []
    f = staged(lambda x, y: runs.append(x) or add(mul(x, x), y), 2)
    assert len(runs) == 1
    assert [f(2.0, 5.0), f(5.0, 2.0)] == [9.0, 27.0]
    assert derivative(lambda x: f(x, 1.0), 3.0) == 6.0
    assert len(runs) == 1


def test_used_by_the_dead():
    """A line that only dead lines use is dead, too; then a program may have no line at all."""
    left = dce_jaxpr(build_jaxpr(lambda x: [add(mul(x, x), 2.0), mul(x, x)][1], 1))
    assert lines(left) == ["v_1 ->", "  v_4 = mul(v_1, v_1)", "v_4"]
    assert lines(dce_jaxpr(build_jaxpr(lambda x: [mul(x, x), 7.0][1], 1))) == ["v_1 ->", "7.0"]


def test_dead_and_alive():
    """What the result needs stays, in its order; the rest goes, and the program given stays."""

    def f(x, y):
        a, _ = add(x, 1.0), mul(y, y)
        return add(mul(a, a), a)

    jaxpr = build_jaxpr(f, 2)
    assert lines(dce_jaxpr(jaxpr)) == [
        "v_1, v_2 ->",
        "  v_3 = add(v_1, 1.0)",
        "  v_5 = mul(v_3, v_3)",
        "  v_6 = add(v_5, v_3)",
        "v_6",
    ]
    assert len(lines(jaxpr)) == 6
    for f, polynomial in PROGRAMS:
        left = dce_jaxpr(build_jaxpr(f, 1))
        assert eval_jaxpr(left, (3.0,)) == value(polynomial, 3.0)
        *operations, result = lines(left)[1:]
        read = re.findall(r"v_\d+", " ".join([*(x.partition("=")[2] for x in operations), result]))
        assert [x.split()[0] for x in operations if x.split()[0] not in read] == []


def test_names_do_not_count():
    """A variable outside does not keep a line alive whose own variable has the same name."""
    found = []

    def outer(x):
        y = add(x, 1.0)

        def inner(z):
            mul(z, z)
            return add(z, y)

        found.append(dce_jaxpr(build_jaxpr(inner, 1)))
        return y

    build_jaxpr(outer, 1)
    assert len(lines(found[0])) == 3
