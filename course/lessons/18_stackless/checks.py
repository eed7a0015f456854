"""Checks of the `stackless` lesson, for you to read and to run: `./jaxprentice check stackless`."""

from unittest.mock import patch

import numpy as np
import pytest
from checking import exercise, names

from microjax.contexts import EvalInterpreter
from microjax.stackless import (
    Box,
    BoxInterpreter,
    JVPInterpreter,
    backward_pass,
    context,
    eval_jaxpr,
    jit,
    jvp,
    lax,
    linearize_flat,
    linearized_program,
    make_jaxpr,
    set_interpreter,
    transpose_rules,
    transposed,
    types_of,
    vmap,
)
from minijax import core
from minijax.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var


class Watch(EvalInterpreter):
    """Computes, and keeps the names of the operations that it was given, and of what `jit` calls."""

    def __init__(self):
        self.seen, self.called = [], []

    def interpret_op(self, primitive, args, params):
        """The result of one operation."""
        self.seen.append(primitive.name)
        self.called += [params["name"]] if "name" in params else []
        return EvalInterpreter.interpret_op(self, primitive, args, params)


def numbers(arrays):
    """Arrays as lists of Python numbers."""
    return [np.asarray(x).tolist() for x in arrays]


exercise("stackless.box_op")


def test_values_and_tangents():
    """The derivative of x * x + 3 x at 2 is 7; the constant 3.0 has no box."""
    assert numbers(jvp(lambda x: x * x + 3.0 * x, (2.0,), (1.0,))) == [10.0, 7.0]


def test_several_results():
    """Each of several results gets a box of its own, unless its extra is None."""
    pair_p = core.Primitive("pair", multiple_results=True)

    class Pairs(BoxInterpreter):
        box_type, task = Box, "Rule"
        rules = {pair_p: lambda values, extras, *, k: ([values[0], k], [extras[0] + k, extras[1]])}

    interpreter = Pairs()
    outs = interpreter.interpret_op(pair_p, [interpreter.box(2.0, 5.0), 3.0], {"k": 10.0})
    assert type(outs) is list
    first, second = outs
    assert (first.value, first.extra, second) == (2.0, 15.0, 10.0)


def test_the_previous_interpreter():
    """The previous interpreter gets what the rule for sin binds, and the operation on constants."""
    watch = Watch()
    with set_interpreter(watch):
        interpreter = JVPInterpreter()
    interpreter.interpret_op(core.sin_p, [interpreter.box(0.0, 1.0)], {})
    assert watch.seen == ["sin", "cos", "mul"]
    assert float(interpreter.interpret_op(core.add_p, [2.0, 3.0], {})) == 5.0
    assert watch.seen == ["sin", "cos", "mul", "add"]


def test_a_missing_rule():
    """Without a rule the error names the operation, and the current interpreter is as before."""
    odd_p, interpreter, current = core.Primitive("odd"), JVPInterpreter(), Watch()
    x = interpreter.box(2.0, 1.0)
    with patch.dict(core.abstract_eval_rules, {odd_p: lambda x: x}), set_interpreter(current):
        with pytest.raises(NotImplementedError, match="odd"):
            interpreter.interpret_op(odd_p, [x], {})
        assert context.interpreter is current
        interpreter.interpret_op(core.sin_p, [x], {})
        assert context.interpreter is current


def test_transformations_of_transformations():
    """The second derivative of x * x * x is right at two points."""

    def slope(x):
        return jvp(lambda x: x * x * x, (x,), (1.0,))[1]

    assert numbers(jvp(slope, (2.0,), (1.0,))) == [12.0, 12.0]
    assert vmap(slope)(np.array([1.0, 2.0])).tolist() == [3.0, 12.0]


def test_constants_have_no_box():
    """1.0 + 2.0 is not a batch: it is the same number for both examples."""
    assert vmap(lambda x: lax.add(1.0, 2.0))(np.array([1.0, 2.0])).tolist() == [3.0, 3.0]


def test_boxes_of_others_are_constants():
    """The inner derivative is by y alone: its result 2 x does not take x's tangent for y's."""

    def inner(x):
        return jvp(lambda y: lax.add(lax.mul(x, x), y), (0.0,), (1.0,))[1]

    assert numbers(jvp(lambda x: x * inner(x), (3.0,), (1.0,))) == [3.0, 1.0]


exercise("stackless.linearize_flat")


def test_a_linear_program():
    """A product with one factor that moves leaves one operation, on the tangent."""
    program, outs = linearize_flat(lambda x, y: [x * y], [3.0, 2.0], [True, False])
    assert (names(program), numbers(outs)) == (["mul"], [6.0])
    assert numbers(eval_jaxpr(program.jaxpr, program.consts, 10.0)) == [20.0]


def test_which_results_have_tangents():
    """A float that does not move has the tangent zero; an integer has none."""
    program, outs = linearize_flat(lambda x, n: [n, x, 2.0], [3.0, 4], [True, False])
    assert numbers(outs) == [4, 3.0, 2.0]
    assert numbers(eval_jaxpr(program.jaxpr, program.consts, 10.0)) == [10.0, 0.0]
    program, _ = linearize_flat(lambda x: [np.ones(2, np.float32)], [3.0], [True])
    assert [aval.str_short() for aval in program.out_avals] == ["float32[2]"]


def test_the_function_is_called_once():
    """Anything else that the function does, such as printing, happens once."""
    calls = []

    def f(x):
        calls.append("f")
        return [x]

    _, outs = linearize_flat(f, [3.0], [True])
    assert (calls, numbers(outs)) == (["f"], [3.0])


exercise("stackless.backward_pass")


def test_from_the_end_to_the_beginning():
    """The chain is run backwards: times 5, then negative, then over 2."""
    program = make_jaxpr(lambda t: [lax.mul(lax.neg(lax.div(t, 2.0)), np.array([5.0, 7.0]))])(
        np.zeros(2)
    )
    assert numbers(backward_pass(program, [np.array([10.0, 2.0])])) == [[-25.0, -7.0]]


def test_sums_and_zeros():
    """An input that is used several times gets the sum, and one that is not used gets zeros."""
    program = make_jaxpr(lambda t, u: [lax.add(t, lax.mul(t, 3.0)), t])(1.0, np.ones(2))
    assert numbers(backward_pass(program, [10.0, 1.0])) == [41.0, [0.0, 0.0]]
    assert numbers(backward_pass(program, [None, None])) == [0.0, [0.0, 0.0]]


def test_one_variable_that_is_two_results():
    """The cotangents of a variable that is two results are added, too."""
    program = make_jaxpr(lambda t: [t, lax.neg(t), t])(1.0)
    assert numbers(backward_pass(program, [1.0, 10.0, 100.0])) == [91.0]
    program = make_jaxpr(lambda t: [lax.add(t, t), 0.0])(1.0)  # twice an operand; a zero result
    assert numbers(backward_pass(program, [10.0, 1.0])) == [20.0]


def test_types_of_zeros():
    """What is not used gets zeros of its shape and dtype."""
    program = make_jaxpr(lambda t, u: [t])(1.0, np.ones(2, np.float32))
    assert types_of(backward_pass(program, [1.0]))[1].str_short() == "float32[2]"


def test_a_primitive_with_several_results():
    """The rule of a primitive with several results gets a list, with None where there is no cotangent."""
    pair_p = core.Primitive("pair", multiple_results=True)
    scalar = types_of([1.0])[0]
    t, first, second = Var(scalar), Var(scalar), Var(scalar)
    eqn = JaxprEqn([t], [first, second], pair_p, {"k": 5.0})
    program = ClosedJaxpr(Jaxpr([], [t], [first, second], [eqn]), [])
    eqn = JaxprEqn([t], [first], pair_p, {"k": 2.0})
    with_one = ClosedJaxpr(Jaxpr([], [t], [first], [eqn]), [])
    got = []

    def rule(cts, x, *, k):
        got.append(cts)
        return [cts[-1] * k]

    with patch.dict(transpose_rules, {pair_p: rule}):
        assert numbers(backward_pass(program, [None, 3.0])) == [15.0]
        assert numbers(backward_pass(with_one, [4.0])) == [8.0]
    assert got == [[None, 3.0], [4.0]]


exercise("stackless.linearized_program")


def by_two_programs(f, args, in_moves, primals, tangents):
    """Results and tangents by the two programs of the program of `f`."""
    program = make_jaxpr(f)(*args)
    values, linear = linearized_program(program, in_moves)
    outs = eval_jaxpr(values.jaxpr, values.consts, *primals)
    number = len(program.out_avals)
    moves = eval_jaxpr(linear.jaxpr, linear.consts, *outs[number:], *tangents)
    return numbers(outs[:number]), numbers(moves)


def test_values_and_tangents_of_a_program():
    """Results come before residuals; only floats have tangents, and only what moves takes one."""
    f, args = (lambda x, y: [y, x * y, lax.neg(x)]), (1.0, 2)
    assert by_two_programs(f, args, (True, False), [3.0, 2], [10.0]) == (
        [2, 6.0, -3.0],
        [20.0, -10.0],
    )
    assert by_two_programs(f, args, (True, False), [5.0, 4], [1.0])[1] == [4.0, -1.0]


def test_constants_of_the_program():
    """Constants of the program are among what the derivative needs."""
    k = np.array([2.0, 5.0])
    values, tangents = by_two_programs(lambda x: [x * k * x], (k,), (True,), [k], [np.ones(2)])
    assert (values, tangents) == ([[8.0, 125.0]], [[8.0, 50.0]])


def test_operations_on_tangents():
    """Sine and cosine are in the first program, and only the product is in the second."""
    programs = linearized_program(make_jaxpr(lax.sin)(3.0), (True,))
    assert [names(program) for program in programs] == [["sin", "cos"], ["mul"]]
    assert str(programs[0].in_avals[0]) == "~float64[]"  # a weak type, of Python's number


def test_derivatives_of_compiled_functions():
    """A compiled function has the right derivative, and so has its derivative."""
    slope = lambda x: jvp(jit(lambda x: x * x * x), (x,), (1.0,))[1]  # noqa: E731
    assert numbers(jvp(jit(slope), (2.0,), (1.0,))) == [12.0, 12.0]


exercise("stackless.transposed")


def backwards(f, args, linear, *inputs):
    """What the program of `f`, run backwards, returns for these inputs."""
    program = transposed(make_jaxpr(f)(*args), linear)
    return numbers(eval_jaxpr(program.jaxpr, program.consts, *inputs))


def test_known_inputs_and_cotangents():
    """The known inputs come first, wherever they were, and the linear inputs get cotangents."""
    f = lambda t, x, u: (lax.mul(t, lax.mul(x, x)), lax.add(u, lax.mul(x, t)))  # noqa: E731
    args, linear = (1.0, 1.0, 1.0), [True, False, True]
    assert backwards(f, args, linear, 3.0, 10.0, 1.0) == [93.0, 1.0]
    assert backwards(f, args, linear, 2.0, 10.0, 1.0) == [42.0, 1.0]


def test_constants_of_the_program_that_runs_backwards():
    """The new program computes with the constants of the old one."""
    k, ct = np.array([2.0, 5.0]), np.array([1.0, 10.0])
    assert backwards(lambda x, t: (lax.mul(lax.mul(t, k), x),), (k, k), [False, True], k, ct) == [
        [4.0, 250.0]
    ]


def test_all_inputs_linear_or_one_unused():
    """There may be no known input; an input that is not used gets zeros."""
    assert backwards(lambda t, u: (lax.neg(u),), (1.0, 1.0), [True, True], 5.0) == [0.0, -5.0]


def test_known_operations_are_in_the_program():
    """The program computes what depends only on known inputs, and the transposed operations."""
    program = make_jaxpr(lambda x, t: (lax.mul(lax.sin(x), t),))(1.0, 1.0)
    assert names(transposed(program, [False, True])) == ["sin", "mul"]
