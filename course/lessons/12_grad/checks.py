"""Checks of the `grad` lesson, for you to read and to run: `./jaxprentice check grad`.

Nothing here is compiled.
"""

from unittest.mock import patch

import numpy as np
import pytest
from checking import exercise, names, operation, run, typed, variables
from random_programs import for_programs, numbers, results_of, slope

import minijax.numpy as jnp
from minijax import transpose
from minijax.core import UndefPrimal, neg_p, sin_p, sub_p, transpose_p
from minijax.dtypes import float0
from minijax.jaxpr import Jaxpr, JaxprEqn
from minijax.jit import jvp_jaxpr
from minijax.linearize import linearize_tree
from minijax.tracing import make_jaxpr
from minijax.transpose import (
    backward_pass,
    broadcast_in_dim_transpose,
    dot_cotangent,
    jacobian_of_output,
    transposed_jaxpr,
    unbroadcast,
    value_and_gradients,
)

ROW = np.array([1.0, 10.0, 100.0])
GRID = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
F32 = np.dtype("float32")


def linear(*shape):
    """A linear operand of this shape."""
    return UndefPrimal(typed(shape))


exercise("grad.unbroadcast")


def test_nothing_to_sum():
    """A known operand has no cotangent; if the shapes are equal, it is the cotangent itself."""
    assert unbroadcast(GRID, np.ones((2, 3))) is None
    assert unbroadcast(GRID, 5.0) is None
    assert unbroadcast(GRID, linear(2, 3)) is GRID


def test_number_was_stretched():
    """A number gets the sum of everything."""
    out = unbroadcast(GRID, linear())
    assert (out.shape, float(out)) == ((), 21.0)


def test_axis_was_stretched():
    """Along axes of size 1 there are sums, and the axes stay."""
    assert unbroadcast(GRID, linear(1, 3)).tolist() == [[5.0, 7.0, 9.0]]
    assert unbroadcast(GRID, linear(2, 1)).tolist() == [[6.0], [15.0]]
    assert unbroadcast(GRID, linear(1, 1)).tolist() == [[21.0]]
    assert unbroadcast(ROW, linear(1)).tolist() == [111.0]
    assert unbroadcast(np.ones((0, 3)), linear(1, 3)).tolist() == [[0.0, 0.0, 0.0]]


def test_cotangents_of_other_kinds():
    """The cotangent may be a Python number, or a tracer: then the sum is in the program."""
    assert unbroadcast(5.0, linear()) == 5.0
    closed = make_jaxpr(lambda ct: (unbroadcast(ct, linear()), unbroadcast(ct, linear(2, 1))))(GRID)
    assert run(closed, GRID) == [21.0, [[6.0], [15.0]]]


exercise("grad.broadcast_rule")


def summed(ct, x, *axes):
    """The cotangent of `x`, whose axes became `axes` of `ct`."""
    (out,) = broadcast_in_dim_transpose(ct, x, shape=ct.shape, broadcast_dimensions=axes)
    return out.tolist()


def test_new_axes():
    """Over new axes there are sums, whether they come first or last."""
    assert summed(GRID, linear(3), 1) == [5.0, 7.0, 9.0]
    assert summed(GRID, linear(2), 0) == [6.0, 15.0]
    assert summed(GRID, linear()) == 21.0


def test_new_and_stretched_axes():
    """An axis that was stretched stays, with a size of 1."""
    assert summed(GRID, linear(1, 3), 0, 1) == [[5.0, 7.0, 9.0]]
    assert summed(np.stack([GRID, 10.0 * GRID]), linear(1, 3), 1, 2) == [[55.0, 77.0, 99.0]]
    assert summed(GRID[None], linear(2, 3), 1, 2) == GRID.tolist()


exercise("grad.dot_general_rule")

MATRICES = ((1,), (0,)), ((), ())
CT = np.array([[1.0, 10.0], [100.0, 1000.0]])


def test_matrices():
    """Of z = x @ y, the cotangent of x is ct @ y.T, and that of y is x.T @ ct."""
    out = dot_cotangent(CT, typed((2, 3)), GRID.T, *MATRICES, comes_last=False)
    assert out.tolist() == [[41.0, 52.0, 63.0], [4100.0, 5200.0, 6300.0]]
    mirrored = [pair[::-1] for pair in MATRICES]
    out = dot_cotangent(CT, typed((3, 2)), GRID, *mirrored, comes_last=True)
    assert out.tolist() == [[401.0, 4010.0], [502.0, 5020.0], [603.0, 6030.0]]


def test_stacks_of_matrices():
    """With a batch axis there is one such product for each index."""
    numbers = ((2,), (1,)), ((0,), (0,))
    cts, others = np.stack([CT, 2.0 * CT]), np.stack([GRID.T, -GRID.T])
    out = dot_cotangent(cts, typed((2, 2, 3)), others, *numbers, comes_last=False)
    assert out[0].tolist() == [[41.0, 52.0, 63.0], [4100.0, 5200.0, 6300.0]]
    assert out[1].tolist() == [[-82.0, -104.0, -126.0], [-8200.0, -10400.0, -12600.0]]


def test_batch_axes_anywhere():
    """The batch axes are the first ones of the cotangent, wherever the operands have them."""
    numbers = ((2,), (0,)), ((1,), (2,))  # of x[i, b, k] and y[k, j, b]
    ct, other = np.arange(8.0).reshape(2, 2, 2), np.arange(12.0).reshape(3, 2, 2)
    out = dot_cotangent(ct, typed((2, 2, 3)), other, *numbers, comes_last=False)
    assert out.tolist() == np.einsum("bij,kjb->ibk", ct, other).tolist()


def test_several_kept_axes():
    """Each operand may keep several axes, or none."""
    numbers = ((1,), (2,)), ((), ())  # of x[i, k, h] and y[j, l, k]
    ct, other = np.arange(16.0).reshape(2, 2, 2, 2), np.arange(12.0).reshape(2, 2, 3)
    out = dot_cotangent(ct, typed((2, 3, 2)), other, *numbers, comes_last=False)
    assert out.tolist() == np.einsum("ihjl,jlk->ikh", ct, other).tolist()
    out = dot_cotangent(ct, typed((2, 3, 2)), other, *numbers, comes_last=True)
    assert out.tolist() == np.einsum("jlih,jlk->ikh", ct, other).tolist()


def test_vectors():
    """In a product of two vectors, each gets the other one times a number."""
    numbers = ((0,), (0,)), ((), ())
    assert dot_cotangent(5.0, typed((3,)), ROW, *numbers, False).tolist() == [5.0, 50.0, 500.0]
    assert dot_cotangent(5.0, typed((3,)), ROW, *numbers, True).tolist() == [5.0, 50.0, 500.0]


def test_single_precision():
    """The cotangent has the dtype of the operand, whatever dtype the product has."""
    aval = typed((2, 3), F32)
    out = dot_cotangent(CT, aval, GRID.T.astype(F32), *MATRICES, comes_last=False)
    assert (out.dtype.name, out[0].tolist()) == ("float32", [41.0, 52.0, 63.0])
    # In a program, too, where a product of two dtypes needs to be told its own.
    program = make_jaxpr(lambda y: dot_cotangent(CT, aval, y, *MATRICES, False))(GRID.T.astype(F32))
    assert [out.dtype.name for out in program.out_avals] == ["float32"]


exercise("grad.backward_pass")


def test_chain():
    """A cotangent goes through the rules from the last equation to the first."""
    (a,) = variables(1, 2, 3)
    b, c = variables(2, 3, 2)
    turn = JaxprEqn([a], [b], transpose_p, {"permutation": (1, 0)})
    jaxpr = Jaxpr([], [a], [c], [turn, JaxprEqn([b], [c], neg_p, {})])
    (out,) = backward_pass(jaxpr, [], [linear(2, 3)], [GRID.T])
    assert out.tolist() == (-GRID).tolist()


def test_used_twice():
    """A variable that an equation uses and that is returned, here twice, gets the sum of all."""
    a, b = variables(2)
    jaxpr = Jaxpr([], [a], [b, a, b], [JaxprEqn([a], [b], neg_p, {})])
    (out,) = backward_pass(jaxpr, [], [linear()], [1.0, 10.0, 100.0])
    assert float(out) == -91.0


def test_rule_is_called_once():
    """However often a result is used, the rule of its equation is called once."""
    seen = []
    twice = operation(
        abstract_eval=lambda x: x, transpose=lambda ct, x: [seen.append(float(ct)) or ct * 2.0]
    )
    a, b, c = variables(3)
    eqns = [JaxprEqn([a], [b], twice, {}), JaxprEqn([b], [c], neg_p, {})]
    (out,) = backward_pass(Jaxpr([], [a], [c, b], eqns), [], [linear()], [3.0, 5.0])
    assert (float(out), seen) == (4.0, [2.0])


def test_missing_rule():
    """An equation that is needed and has no rule raises an error that names its primitive."""
    a, b = variables(2)
    with pytest.raises(NotImplementedError, match="sin"):
        backward_pass(Jaxpr([], [a], [b], [JaxprEqn([a], [b], sin_p, {})]), [], [linear()], [1.0])


def test_zeros():
    """Known inputs are left out of the answer; an input without influence has None."""
    a, b, c, d = variables(4)
    jaxpr = Jaxpr([], [a, b, c], [d], [JaxprEqn([c], [d], neg_p, {})])
    out = backward_pass(jaxpr, [], [linear(), 5.0, linear()], [3.0])
    assert len(out) == 2
    assert (out[0], float(out[1])) == (None, -3.0)


def test_known_results():
    """An equation on known values alone is not transposed, even if its result has a cotangent."""
    a, b, c, d = variables(4)
    known = JaxprEqn([b], [d], sin_p, {})  # sin has no transpose rule
    jaxpr = Jaxpr([], [a, b], [c, d], [JaxprEqn([a], [c], neg_p, {}), known])
    (out,) = backward_pass(jaxpr, [], [linear(), 5.0], [3.0, 100.0])
    assert float(out) == -3.0


def test_a_list_of_one():
    """A primitive with multiple_results has its cotangents in a list, even with one result."""
    toy = operation(
        several=True, abstract_eval=lambda x: [x], transpose=lambda cts, x: [sum(cts) * 10.0]
    )
    a, b = variables(2)
    jaxpr = Jaxpr([], [a], [b], [JaxprEqn([a], [b], toy, {})])
    assert backward_pass(jaxpr, [], [linear()], [np.array(3.0)]) == [30.0]


def test_what_the_rule_gets():
    """A rule for several results gets a list of cotangents; without any, no rule is called."""
    calls = []

    def toy_transpose(cts, x, y, *, k):
        calls.append((cts, type(x).__name__, y, k))
        return [None if cts[1] is None else cts[1] * k, None]

    toy = operation(several=True, abstract_eval=lambda x, y, *, k: [x, x], transpose=toy_transpose)
    a, b, c, d, e, f = variables(6)
    dead = JaxprEqn([a], [f], sin_p, {})  # sin has no transpose rule
    known = JaxprEqn([b], [e], neg_p, {})
    jaxpr = Jaxpr([], [a, b], [d], [dead, known, JaxprEqn([a, e], [c, d], toy, {"k": 10.0})])
    assert backward_pass(jaxpr, [], [linear(), 7.0], [3.0]) == [30.0]
    assert calls == [([None, 3.0], "UndefPrimal", -7.0, 10.0)]


exercise("grad.call_rule")


def test_inputs_and_results():
    """Known inputs come first, then cotangents; linear inputs have results, even if zero."""
    closed = make_jaxpr(lambda x, a, y, z: (a * x, x - z))(1.0, 2.0, ROW, 4.0)
    back = transposed_jaxpr(closed, (True, False, True, True))
    assert [aval.str_short() for aval in back.in_avals] == ["float64[]", "float64[]", "float64[]"]
    assert [aval.str_short() for aval in back.out_avals] == ["float64[]", "float64[3]", "float64[]"]
    assert run(back, 5.0, 1.0, 100.0) == [105.0, [0.0, 0.0, 0.0], -100.0]


def test_integers():
    """Cotangents of integers are integers, but one without influence has `float0`."""
    closed = make_jaxpr(lambda x, y: x + x)(2, np.arange(3))
    back = transposed_jaxpr(closed, (True, True))
    assert [aval.dtype for aval in back.out_avals] == [np.dtype(int), float0]
    assert run(back, 5)[0] == 10


def test_program_is_kept():
    """Asked twice, it returns the same program; for other linear inputs, a different one.

    Nor is it the program of derivatives.
    """
    closed = make_jaxpr(lambda x, y: (-x, y))(1.0, 2.0)
    forward = jvp_jaxpr(closed, (True, True))
    first = transposed_jaxpr(closed, (True, True))
    assert first is not forward
    assert transposed_jaxpr(closed, (True, True)) is first
    assert transposed_jaxpr(closed, (True, False)) is not first


def test_operations():
    """The program has the operations that go backwards."""
    closed = make_jaxpr(lambda a, x: a * (-x))(ROW, ROW)
    back = transposed_jaxpr(closed, (False, True))
    assert names(back) == ["mul", "neg"]


exercise("grad.value_and_gradients")


def test_gradients():
    """The gradients are a tuple, one for each argument."""
    value, gradients = value_and_gradients(lambda x, y: x * x * y, (3.0, 5.0))
    assert (float(value), [float(g) for g in gradients]) == (45.0, [30.0, 9.0])
    value, gradients = value_and_gradients(lambda x: jnp.sum(x * x), [ROW])
    assert (float(value), gradients[0].tolist()) == (10101.0, [2.0, 20.0, 200.0])
    assert isinstance(gradients, tuple)


def test_function_runs_once():
    """The function runs once, for value and gradients together."""
    calls = []
    value_and_gradients(lambda x: calls.append(x) or x * x, (3.0,))
    assert len(calls) == 1


def test_types_of_gradients():
    """The value may be of any float dtype, and weak: then so is its cotangent."""
    value, (gradient,) = value_and_gradients(lambda x: jnp.sum(x * x), [ROW.astype(F32)])
    assert (value.dtype.name, gradient.dtype.name) == ("float32", "float32")
    for x in (3.0, np.array(3.0)):
        value, (gradient,) = value_and_gradients(lambda x: x * x, [x])
        assert gradient.weak_type == value.weak_type


def test_no_gradient():
    """A value that is not a single float is rejected; has_aux passes a second part through."""
    for f in (lambda x: x * ROW, lambda x: (x,), lambda x: 3):
        with pytest.raises(TypeError):
            value_and_gradients(f, [2.0])
    value, gradients, aux = value_and_gradients(lambda x: (x * x, 7.0), [3.0], has_aux=True)
    assert (float(value), float(gradients[0]), aux) == (9.0, 6.0, 7.0)


exercise("grad.jacobian_of_output")


def test_jacobian_of_a_vector():
    """The first axis belongs to the result, the second to the input."""
    lin = linearize_tree(lambda x: sub_p.bind(GRID @ x, np.ones(2)), (ROW,), has_aux=False)
    with patch.object(transpose, "transpose_program", wraps=transpose.transpose_program) as passes:
        (jacobian,) = jacobian_of_output(lin, 0)
    assert jacobian.tolist() == GRID.tolist()
    assert passes.call_count <= 1  # for all rows together, by `vmap`


def test_leaves_and_inputs():
    """Each leaf has a Jacobian for each float input, zeros among them; a number has a row."""
    lin = linearize_tree(lambda x, n, y: (x, x * y), (ROW, 7, 2.0), has_aux=False)
    first, second = jacobian_of_output(lin, 0)
    assert (first.tolist(), second.tolist()) == (np.eye(3).tolist(), [0.0, 0.0, 0.0])
    first, second = jacobian_of_output(lin, 1)
    assert (first.tolist(), second.tolist()) == ((2.0 * np.eye(3)).tolist(), ROW.tolist())
    lin = linearize_tree(lambda x: jnp.sum(x * x), (ROW,), has_aux=False)
    assert jacobian_of_output(lin, 0)[0].tolist() == [2.0, 20.0, 200.0]


def test_jacobian_of_a_matrix():
    """The axes of the result come first, then those of the input, in their order."""
    lin = linearize_tree(lambda x: x.T, (GRID,), has_aux=False)
    (jacobian,) = jacobian_of_output(lin, 0)
    assert jacobian.shape == (3, 2, 2, 3)
    assert (jacobian[2, 1, 1, 2], jacobian[2, 1, 0, 2]) == (1.0, 0.0)


exercise("grad.value_and_gradients")

# What needs no rule of an exercise that this one does not need.
OPERATIONS = (
    *("add", "sub", "mul", "div", "neg", "sin", "cos", "exp", "log"),
    *("infix", "with_literal", "literal_with", "constant", "reduce_sum", "transpose"),
)


@for_programs(seed="grad", operations=OPERATIONS, dtypes=["float64"])
def test_gradients_of_random_programs(f, xs, ts, cts):
    """The gradient times a direction is the slope in that direction."""

    def total(*ys):
        return sum(jnp.sum(out) for out in results_of(f(*ys)))

    _, gradients = value_and_gradients(total, xs)
    along = sum(np.sum(x * y) for x, y in zip(gradients, ts, strict=True))
    assert numbers(along) == numbers(slope(total, xs, ts))
