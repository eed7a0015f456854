"""Checks of the `jvp` lesson, for you to read and to run: `./jaxprentice check jvp`."""

import numpy as np
import pytest
from checking import exercise, noted, operation
from numpy.testing import assert_allclose
from random_programs import for_programs, numbers, slope

import minijax.numpy as jnp
from minijax.core import Tracer, add_p, dot_general_p, mul_p, new_main, sin_p, sub_p, trace_state
from minijax.errors import UnexpectedTracerError
from minijax.jvp import JVPTrace, JVPTracer, bilinear_jvp, jvp, jvp_flat, sum_jvp

FLOAT0 = np.dtype([("float0", np.void, 0)])  # the dtype of the tangents of integers


exercise("jvp.process_primitive")


@pytest.fixture
def trace():
    """The interpreter of derivatives, at work."""
    with new_main(JVPTrace) as main:
        yield JVPTrace(main)


def test_primitive_with_a_rule(trace):
    """The rule's value and tangent come back in one box."""
    out = trace.process_primitive(sin_p, [JVPTracer(trace, 0.0, 5.0)], {})
    assert isinstance(out, JVPTracer)
    assert (float(out.primal), float(out.tangent)) == (0.0, 5.0)


def test_tangent_of_zeros(trace):
    """Only None says that nothing moves: for a tangent whose numbers are 0 the rule is called."""
    toy = operation(impl=lambda x: x, jvp=lambda xs, ts: (xs[0], "what the rule gives"))
    for x_dot in (0.0, np.zeros(2)):
        out = trace.process_primitive(toy, [JVPTracer(trace, 3.0, x_dot)], {})
        assert out.tangent == "what the rule gives"


def test_rule_gets_everything(trace):
    """The rule gets values, tangents and params, even if only one of the operands moves."""
    toy = operation(
        impl=lambda x, y, z, *, scale: scale * x,
        jvp=lambda xs, ts, *, scale: (7.5, [*xs, *ts, scale]),
    )
    boxes = [JVPTracer(trace, *pair) for pair in ((3.0, None), (4.0, 10.0), (5.0, None))]
    out = trace.process_primitive(toy, boxes, {"scale": 7})
    assert out.primal == 7.5
    assert out.tangent == [3.0, 4.0, 5.0, None, 10.0, None, 7]


def test_nothing_moves(trace):
    """If no operand moves, no rule is needed, and the result is a constant."""
    toy = operation(impl=lambda x, *, scale: scale * x)
    out = trace.process_primitive(toy, [JVPTracer(trace, 3.0, None)], {"scale": 2})
    assert isinstance(out, JVPTracer)
    assert (out.primal, out.tangent) == (6.0, None)


def test_nothing_moves_below():
    """If no operand moves, interpreters further down take the operation."""
    with noted() as (boxed, names), new_main(JVPTrace) as main:
        trace = JVPTrace(main)
        box = JVPTracer(trace, boxed(3.0), None)
        out = trace.process_primitive(sin_p, [box], {})
        assert names == ["sin"]
        assert isinstance(out.primal, Tracer)


def test_no_rule(trace):
    """If an operand moves and there is no rule, the error names the primitive."""
    toy = operation("toy", impl=lambda x: x)
    with pytest.raises(NotImplementedError, match="toy"):
        trace.process_primitive(toy, [JVPTracer(trace, 3.0, 1.0)], {})


def test_several_results(trace):
    """A primitive with several results returns a list of boxes, moving or not."""
    toy = operation(
        several=True, impl=lambda x: [x, -x], jvp=lambda xs, ts: ([1.0, 2.0], [10.0, None])
    )
    outs = trace.process_primitive(toy, [JVPTracer(trace, 3.0, 5.0)], {})
    assert type(outs).__name__ == "list"
    assert [(out.primal, out.tangent) for out in outs] == [(1.0, 10.0), (2.0, None)]
    outs = trace.process_primitive(toy, [JVPTracer(trace, 3.0, None)], {})
    assert type(outs).__name__ == "list"
    assert [(out.primal, out.tangent) for out in outs] == [(3.0, None), (-3.0, None)]


exercise("jvp.mul_rule")


def test_product_of_two_that_move():
    """If both operands move, the tangent has a term for each of them."""
    assert bilinear_jvp(mul_p, [3.0, 5.0], [0.5, 10.0]) == (15.0, 32.5)


def test_product_with_a_constant():
    """A constant operand contributes nothing, even if 0 times the other operand is NaN."""
    assert bilinear_jvp(mul_p, [3.0, 5.0], [0.5, None]) == (15.0, 2.5)
    assert bilinear_jvp(mul_p, [3.0, 5.0], [None, 0.5]) == (15.0, 1.5)
    assert bilinear_jvp(mul_p, [np.inf, 4.0], [0.5, None]) == (np.inf, 2.0)


def test_product_of_shapes():
    """For an array and a number, the tangent has the array's shape, whichever of them moves."""
    array = np.array([1.0, -2.0])
    assert bilinear_jvp(mul_p, [array, 4.0], [None, 0.5])[1].tolist() == [0.5, -1.0]
    assert bilinear_jvp(mul_p, [4.0, array], [0.5, None])[1].tolist() == [0.5, -1.0]
    assert bilinear_jvp(mul_p, [array, 4.0], [array, None])[1].tolist() == [4.0, -8.0]
    assert bilinear_jvp(mul_p, [4.0, array], [None, array])[1].tolist() == [4.0, -8.0]
    assert np.shape(bilinear_jvp(mul_p, [array, 4.0], [None, 0.0])[1]) == (2,)
    assert np.shape(bilinear_jvp(mul_p, [4.0, array], [0.0, None])[1]) == (2,)


def test_value_of_a_product():
    """The value is what the primitive returns: a minijax array, not a NumPy array."""
    value, _ = bilinear_jvp(mul_p, [np.array([1.0, -2.0]), 4.0], [np.ones(2), None])
    assert value.tolist() == [4.0, -8.0]
    assert type(value) is not np.ndarray


def test_product_of_tracers():
    """Operands may be tracers, and for a constant one no term is computed."""
    with noted() as (boxed, names):
        value, tangent = bilinear_jvp(mul_p, [boxed(3.0), boxed(5.0)], [boxed(0.5), None])
        assert (value.val, tangent.val) == (15.0, 2.5)
        assert names == ["mul", "mul"]


def test_product_of_matrices():
    """The tangent of a product of matrices has two terms, each a product in the order given."""
    x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    numbers = {"dimension_numbers": (((1,), (0,)), ((), ())), "preferred_element_type": None}
    value, tangent = bilinear_jvp(dot_general_p, [x, y], [None, np.diag([1.0, 10.0])], **numbers)
    assert value.tolist() == [[2.0, 1.0], [4.0, 3.0]]
    assert tangent.tolist() == [[1.0, 20.0], [3.0, 40.0]]
    stretch = np.diag([1.0, 10.0])
    _, tangent = bilinear_jvp(dot_general_p, [x, y], [stretch, stretch], **numbers)
    assert tangent.tolist() == [[1.0, 21.0], [13.0, 40.0]]


exercise("jvp.sum_rule")


def test_sum_of_two_that_move():
    """If both operands move, the tangents are added or subtracted as the values are."""
    assert sum_jvp(add_p, [3.0, 4.0], [0.5, 10.0]) == (7.0, 10.5)
    assert sum_jvp(sub_p, [3.0, 4.0], [0.5, 10.0]) == (-1.0, -9.5)


def test_sum_of_one_that_moves():
    """A constant operand contributes nothing, even if it is infinite."""
    assert sum_jvp(sub_p, [3.0, 4.0], [0.5, None]) == (-1.0, 0.5)
    assert sum_jvp(sub_p, [np.inf, 4.0], [None, 0.5]) == (np.inf, -0.5)
    x, y, y_dot = np.float32([3.0, 4.0, 0.5])
    _, tangent = sum_jvp(sub_p, [x, y], [None, y_dot])
    assert (tangent.dtype.name, float(tangent)) == ("float32", -0.5)


def test_sum_shapes():
    """The tangent has the shape of the value, even if only the smaller operand moves."""
    for primitive, sign in ((add_p, 1.0), (sub_p, -1.0)):
        _, tangent = sum_jvp(primitive, [np.ones(3), 2.0], [None, 5.0])
        assert np.asarray(tangent).tolist() == [5.0 * sign] * 3
        _, tangent = sum_jvp(primitive, [np.ones((1, 2)), np.ones((2, 1))], [None, np.ones((2, 1))])
        assert np.asarray(tangent).tolist() == [[sign, sign], [sign, sign]]


def test_sum_of_tracers():
    """Operands and tangents may be tracers, which NumPy's functions would reject."""
    with noted() as (boxed, _):
        x, x_dot, y_dot = map(boxed, (3.0, 0.5, 10.0))
        value, tangent = sum_jvp(sub_p, [x, 4.0], [x_dot, y_dot])
        assert (value.val, tangent.val) == (-1.0, -9.5)


def test_sum_with_a_constant():
    """For a constant operand, nothing is added or subtracted except its value."""
    with noted() as (boxed, names):
        x, t = boxed(3.0), boxed(0.5)
        for primitive, tangents in ((add_p, [t, None]), (add_p, [None, t]), (sub_p, [t, None])):
            names.clear()
            _, tangent = sum_jvp(primitive, [x, 4.0], tangents)
            assert tangent.val == 0.5
            sums = [name for name in names if name in ("add", "sub")]
            assert sums == [primitive.name]


exercise("jvp.flat")


def test_values_and_tangents():
    """Values and tangents come back as two lists, and the interpreter is gone from the stack."""
    values, tangents = jvp_flat(lambda x, y: [y, x], [3.0, 4.0], [0.5, 10.0])
    assert values == [4.0, 3.0]
    assert tangents == [10.0, 0.5]
    assert len(trace_state.stack) == 1


def test_one_call():
    """The function is called once."""
    calls = []
    jvp_flat(lambda x: [calls.append(x) or x], [3.0], [0.5])
    assert len(calls) == 1


def test_operations_are_differentiated():
    """Operations of the function are differentiated by their rules."""
    values, tangents = jvp_flat(lambda x: [jnp.exp(-x)], [np.array([0.0, 1.0])], [np.ones(2)])
    assert_allclose(values[0], [1.0, 0.36787944117144233])
    assert_allclose(tangents[0], [-1.0, -0.36787944117144233])


def test_zeros_are_arrays():
    """The tangent of an integer goes in as None; the symbolic zero comes out as an array."""
    seen = []
    values, tangents = jvp_flat(
        lambda n: [seen.append(n.tangent) or n, np.ones(2)], [7], [np.zeros((), FLOAT0)]
    )
    assert seen[0] is None
    assert values[0] == 7
    assert tangents[0].dtype == FLOAT0
    assert tangents[1].tolist() == [0.0, 0.0]
    _, tangents = jvp_flat(lambda x: [x, np.ones(2, np.float32)], [3.0], [0.5])
    assert (tangents[1].dtype.name, tangents[1].tolist()) == ("float32", [0.0, 0.0])


def test_results_of_another_jvp():
    """A box that belongs to an outer jvp is a constant here: its tangent is not taken."""
    with new_main(JVPTrace) as main:
        outer = JVPTracer(JVPTrace(main), 2.0, 5.0)
        values, tangents = jvp_flat(lambda y: [outer, y], [3.0], [0.5])
        assert values[0] is outer
        assert tangents == [0.0, 0.5]


def test_box_of_an_interpreter_that_has_ended():
    """A result that is the box of an earlier jvp, which has ended, is an error."""
    kept = []
    jvp_flat(lambda x: [kept.append(x) or x], [2.0], [5.0])
    with pytest.raises(UnexpectedTracerError):
        jvp_flat(lambda y: [kept[0]], [3.0], [0.5])


def test_jvp_in_jvp():
    """The inner of two nested jvps does not see the outer one's tangent, nor the other way around."""
    inner = []

    def f(x):
        inner.append(jvp(lambda y: x, (3.0,), (1.0,))[1])
        return x

    value, tangent = jvp(f, (2.0,), (5.0,))
    assert inner[0] == 0.0
    assert (value, tangent) == (2.0, 5.0)


def test_second_derivative():
    """The second derivative of the sine is minus the sine."""

    def deriv(f):
        return lambda x: jvp(f, (x,), (1.0,))[1]

    assert_allclose(deriv(deriv(jnp.sin))(3.0), -0.1411200080598672)


# Those whose rules are given, or are exercises that this one needs.
OPERATIONS = (
    *("add", "sub", "mul", "neg", "sin", "cos", "exp", "log"),
    *("infix", "with_literal", "literal_with", "constant"),
)


@for_programs(seed="jvp", operations=OPERATIONS, dtypes=["float64"])
def test_slopes_of_random_programs(f, xs, ts):
    """The derivative of a random program along its tangents is its slope in that direction."""
    assert numbers(jvp(f, xs, ts)[1]) == numbers(slope(f, xs, ts))
