"""Checks of the `vmap` lesson, for you to read and to run: `./jaxprentice check vmap`."""

from unittest.mock import patch

import numpy as np
import pytest
from checking import exercise, noted
from random_programs import for_programs, numbers, results_of, slope

from minijax import lax
from minijax.core import dot_general_p, impl_rules, not_mapped
from minijax.vmap import (
    align_operand,
    dot_general_batch,
    jacobian_of_input,
    move_batch_axis,
    reduce_sum_batch,
)

GRID = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
CUBE = np.arange(24.0).reshape(2, 3, 4)


exercise("vmap.move_batch_axis")


def test_batch_axis_moves():
    """The batch axis moves, and the other axes keep their order."""
    assert move_batch_axis(4, 2, 0, CUBE).shape == (4, 2, 3)
    assert move_batch_axis(2, 0, 2, CUBE).shape == (3, 4, 2)
    assert move_batch_axis(3, 1, 0, GRID).tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]


def test_value_is_repeated():
    """A value without a batch axis is repeated, along an axis at the position asked for."""
    row = np.array([7.0, 8.0])
    assert move_batch_axis(3, not_mapped, 0, row).tolist() == [[7.0, 8.0]] * 3
    assert move_batch_axis(3, not_mapped, 1, row).tolist() == [[7.0] * 3, [8.0] * 3]
    fives = move_batch_axis(3, not_mapped, 0, 5.0)
    assert (fives.tolist(), fives.weak_type) == ([5.0, 5.0, 5.0], True)


def test_tracer_is_moved():
    """The value may be a tracer, and one operation does it."""
    with noted() as (boxed, names):
        box = boxed(GRID)
        assert move_batch_axis(3, 1, 0, box).shape == (3, 2)
        assert move_batch_axis(9, not_mapped, 0, box).shape == (9, 2, 3)
        assert names == ["transpose", "broadcast_in_dim"]


def test_nothing_moves():
    """Nothing is bound if the batch axis is in its place already."""
    with noted() as (boxed, names):
        assert move_batch_axis(3, 1, 1, boxed(GRID)).shape == (2, 3)
        assert names == []


exercise("vmap.align_operand")


def test_axes_that_are_missing():
    """The batch axis comes first, then axes of size 1, then those of one example."""
    assert align_operand(3, 0, np.ones(3), 2).shape == (3, 1, 1)
    assert align_operand(3, 1, GRID, 2).shape == (3, 1, 2)
    assert align_operand(3, 1, GRID, 1).tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]


def test_operands_that_are_not_mapped():
    """A number stays a number; an array is repeated for all examples."""
    assert np.shape(align_operand(3, not_mapped, np.array(2.5), 2)) == ()
    assert align_operand(3, not_mapped, 2.5, 2) == 2.5
    assert align_operand(4, not_mapped, np.array([7.0, 8.0]), 1).tolist() == [[7.0, 8.0]] * 4
    assert align_operand(4, not_mapped, np.array([7.0, 8.0]), 2).tolist() == [[[7.0, 8.0]]] * 4


def test_numbers_times_vectors():
    """Three numbers times three vectors: each number meets its own vector."""
    numbers = align_operand(3, 0, np.array([1.0, 10.0, 100.0]), 1)
    vectors = align_operand(3, 1, GRID, 1)
    assert (numbers * vectors).tolist() == [[1.0, 4.0], [20.0, 50.0], [300.0, 600.0]]


def test_nothing_is_missing():
    """An operand that is in this form already costs no operation."""
    with noted() as (boxed, names):
        assert align_operand(2, 0, boxed(GRID), 1).shape == (2, 3)
        assert names == []


exercise("vmap.reduce_sum_rule")


@pytest.mark.parametrize(
    ("axes", "dim", "examples", "want"),
    [
        ((0,), 0, GRID, ([6.0, 15.0], 0)),
        ((0,), 1, GRID, ([5.0, 7.0, 9.0], 0)),
        ((1,), 1, CUBE, ([[6.0, 22.0, 38.0], [54.0, 70.0, 86.0]], 1)),
        ((0, 1), 1, CUBE, ([60.0, 92.0, 124.0], 0)),
        ((0, 1), 2, CUBE, ([60.0, 66.0, 72.0, 78.0], 0)),
    ],
)
def test_sums_of_examples(axes, dim, examples, want):
    """Each example is summed along its own axes; the batch axis may be before, between or after them."""
    out, out_dim = reduce_sum_batch(examples.shape[dim], [examples], [dim], axes=axes)
    assert (out.tolist(), out_dim) == want


def test_one_sum():
    """One sum is bound, for all examples together."""
    with noted() as (boxed, names):
        reduce_sum_batch(3, [boxed(CUBE)], [1], axes=(1, 0))
        assert names == ["reduce_sum"]


exercise("vmap.dot_general_rule")

MATRIX_TIMES_VECTOR = (((1,), (0,)), ((), ()))
DOT = {"dimension_numbers": MATRIX_TIMES_VECTOR, "preferred_element_type": None}


def test_batch_of_vectors():
    """One matrix times two vectors: the vectors are counted by the last axis of the result."""
    vectors = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    out, dim = dot_general_batch(2, [GRID, vectors], [not_mapped, 0], **DOT)
    assert (out.tolist(), dim) == ([[1.0, 5.0], [4.0, 11.0]], 1)


def test_batch_of_matrices():
    """Three matrices of shape (2, 4), along the middle axis, times one vector."""
    vector = np.array([1.0, 0.0, 0.0, 1.0])
    out, dim = dot_general_batch(3, [CUBE, vector], [1, not_mapped], **DOT)
    assert (out.tolist(), dim) == ([[3.0, 11.0, 19.0], [27.0, 35.0, 43.0]], 1)


def test_two_batches():
    """Three matrices times three vectors, each with its own; the batch axis comes first."""
    vectors = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    out, dim = dot_general_batch(3, [CUBE, vectors], [1, 1], **DOT)
    assert (out.tolist(), dim) == ([[0.0, 12.0], [5.0, 17.0], [8.0, 20.0]], 0)


def test_examples_with_batch_axes():
    """Each example is a product with a batch axis of its own, which has its number in one example.

    Two examples of three vectors, times ones: the result is the sum of each vector.
    """
    rows = {"dimension_numbers": (((1,), (1,)), ((0,), (0,))), "preferred_element_type": None}
    out, dim = dot_general_batch(2, [CUBE, np.ones((2, 3, 4))], [0, 0], **rows)
    assert (out.tolist(), dim) == ([[6.0, 22.0, 38.0], [54.0, 70.0, 86.0]], 0)
    out, dim = dot_general_batch(2, [CUBE, np.ones((3, 4))], [0, not_mapped], **rows)
    assert (out.tolist(), dim) == ([[6.0, 54.0], [22.0, 70.0], [38.0, 86.0]], 1)


def test_dtype_of_a_product():
    """The product has the dtype that was asked for."""
    wanted = {**DOT, "preferred_element_type": np.dtype("float32")}
    out, _ = dot_general_batch(2, [GRID, np.ones((2, 3))], [not_mapped, 0], **wanted)
    assert out.dtype.name == "float32"


def test_nested_as_they_came_in():
    """The new dimension_numbers are tuples of tuples, as the old ones."""
    asked = []
    with patch.dict(impl_rules, {dot_general_p: lambda *xs, **params: asked.append(params) or 0.0}):
        dot_general_batch(3, [np.ones((3, 2, 4)), np.ones((3, 4))], [0, 0], **DOT)
    assert [params["dimension_numbers"] for params in asked] == [(((2,), (1,)), ((0,), (0,)))]


def test_one_product():
    """One product is bound, on the operands unchanged."""
    with noted() as (boxed, names):
        boxes = [boxed(CUBE), boxed(np.ones((3, 4)))]
        dot_general_batch(3, boxes, [1, 0], **DOT)
        dot_general_batch(3, [boxes[0], np.ones(4)], [1, not_mapped], **DOT)
        assert names == ["dot_general", "dot_general"]


exercise("vmap.jacobian")


def test_jacobian_of_a_vector():
    """Each entry of the result moves with its own entry of the input; the function runs once."""
    runs = []
    values, jacobians = jacobian_of_input(
        lambda x: [runs.append(1) or x * x], [np.array([1.0, 2.0, 3.0])], 0
    )
    assert values[0].tolist() == [1.0, 4.0, 9.0]
    assert jacobians[0].tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    assert len(runs) == 1


def test_jacobian_of_a_matrix():
    """The axes of the result come first, then those of the input, in their order."""
    _, jacobians = jacobian_of_input(lambda x: [x.T], [GRID], 0)
    assert jacobians[0].shape == (3, 2, 2, 3)
    assert (jacobians[0][2, 1, 1, 2], jacobians[0][2, 1, 0, 2]) == (1.0, 0.0)


def test_jacobian_of_one_input():
    """The other inputs do not move."""
    values, jacobians = jacobian_of_input(lambda x, y: [x * y], [3.0, np.array([1.0, 2.0])], 1)
    assert values[0].tolist() == [3.0, 6.0]
    assert jacobians[0].tolist() == [[3.0, 0.0], [0.0, 3.0]]
    _, jacobians = jacobian_of_input(lambda x, y: [x * y], [3.0, np.array([1.0, 2.0])], 0)
    assert jacobians[0].tolist() == [1.0, 2.0]
    # The slope of log is infinite at 0: times 0.0 it would be NaN.
    with np.errstate(divide="ignore"):
        _, jacobians = jacobian_of_input(lambda x, y: [x * lax.log(y)], [1.0, 0.0], 0)
    assert float(jacobians[0]) == -np.inf


# What needs no other rule than those that are given.
OPERATIONS = (
    *("add", "sub", "mul", "div", "neg", "sin", "cos", "exp", "log"),
    *("infix", "with_literal", "literal_with", "constant", "broadcast_in_dim", "transpose"),
)


@for_programs(seed="vmap", operations=OPERATIONS, dtypes=["float64"])
def test_jacobians_of_random_programs(f, xs, ts):
    """The Jacobian of a random program times a tangent is the slope in that direction."""
    _, jacobians = jacobian_of_input(lambda *xs: results_of(f(*xs)), xs, 0)
    got = [np.tensordot(jacobian, ts[0], np.ndim(ts[0])) for jacobian in jacobians]
    assert numbers(got) == numbers(slope(lambda x: f(x, *xs[1:]), xs[:1], ts[:1]))
