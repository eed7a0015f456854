"""Hidden tests of the `vmap` lesson: batching.

Every exercise is tested alone. Where its target calls what a sibling exercise defines, the probe
puts a right one in its place meanwhile. In data that are sent, None stands for `not_mapped`.
"""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place, watching
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import contextlib

    from minijax import core
    from minijax import numpy as jnp
    from minijax.axis_env import AxisSize, axis_frame
    from minijax.core import not_mapped, trace_state
    from minijax.vmap import BatchTrace, BatchTracer, batching

F32 = np.float32

ROW = np.array([0.5, -2.0, 3.0])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])
CUBE = np.sin(np.arange(24.0)).reshape(2, 3, 4)
BLOCK = np.cos(np.arange(120.0)).reshape(2, 3, 4, 5)
EMPTY = np.zeros((0, 2))

NOTHING = siblings()


def ask(student, name, *arguments, needs=NOTHING, work="", **params):
    """Compare what `answer` gives."""
    student.agrees(answer, needs, name, list(arguments), params, work)


@probe(uses=[in_place, watching])
def answer(mj, siblings, name, arguments, params, work):
    """What a function gives; for "boxed" arrays, or with those and the operations that it binds."""

    def note(primitive, params):
        if primitive.name != "dot_general":
            return primitive.name, sorted(params)
        kind = str(params["preferred_element_type"])
        return primitive.name, {**params, "preferred_element_type": kind}

    def sent(x):
        if isinstance(x, list):
            return [sent(y) for y in x]
        if x is None:
            return not_mapped
        return box(x) if work and isinstance(x, (float, np.ndarray)) else x

    def shown(x):
        if isinstance(x, (list, tuple)):
            return [shown(y) for y in x]
        return None if x is not_mapped else getattr(x, "val", x)

    with in_place("minijax.vmap", siblings) as vmap, watching(note) as (box, log):
        out = getattr(vmap, name)(*sent(arguments), **params)
    outs = out if isinstance(out, tuple) else (out,)
    names = ("the result", "the batch axis") if outs is out else ("value",)
    told = dict(zip(names, shown(outs), strict=False))
    told["the number of parts that come back"] = len(outs)
    if work == "counted":
        told["operations"] = [name for name, _ in log]
        told["the parameters of the operations"] = log
    return told


def beside_small(values):
    """Values times one in small types, to which weak types of either kind give way."""
    return [[jnp.multiply(value, one) for one in (np.float32(1.0), np.int8(1))] for value in values]


@probe(uses=[beside_small, in_place])
def weak(mj, siblings, name, arguments, params=None):
    """Small types beside the array that a function gives; shapes stand for weak arrays."""

    def sent(x):
        if isinstance(x, list):
            return [sent(y) for y in x]
        if isinstance(x, tuple):
            return mj.lax.broadcast_in_dim(2.5, x, ())
        return not_mapped if x is None else x

    with in_place("minijax.vmap", siblings) as vmap:
        out = getattr(vmap, name)(*sent(arguments), **params or {})
        (told,) = beside_small([out[0] if isinstance(out, tuple) else out])
        return {"the result times a float32 and an int8, to which weak types give way": told}


@probe(uses=[in_place])
def overwritten(mj, siblings, name, arguments, x):
    """What a function gave for an array, its last argument, that is overwritten afterwards."""
    with in_place("minijax.vmap", siblings) as vmap:
        arguments, x = [not_mapped if x is None else x for x in arguments], np.array(x)
        out = getattr(vmap, name)(*arguments, x)
        x[...] = 99
        return {"the result, after the array that was given has changed": out}


exercise("vmap.move_batch_axis")


@pytest.mark.meets("more_than_two", "sizes", "axes")
@pytest.mark.keeps("at `dst` instead of `src`", "Axes count from 0")
def test_to_any_place(student):
    """The batch axis goes to any place, and the other axes keep their order."""
    for src in range(4):
        ask(student, "move_batch_axis", BLOCK.shape[src], src, 0, BLOCK)
    for src, dst in [(0, 3), (0, 2), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2), (2, 2)]:
        ask(student, "move_batch_axis", BLOCK.shape[src], src, dst, BLOCK)
    ask(student, "move_batch_axis", 2, 0, 1, GRID)
    ask(student, "move_batch_axis", 0, 0, 1, EMPTY)


@pytest.mark.keeps("is repeated `axis_size` times")
def test_repeats_what_is_not_mapped(student):
    """An array or a number without a batch axis is repeated along a new one, at any place."""
    for dst in range(3):
        ask(student, "move_batch_axis", 4, None, dst, GRID)
    ask(student, "move_batch_axis", 3, None, 0, ROW)
    ask(student, "move_batch_axis", 3, None, 1, ROW)
    ask(student, "move_batch_axis", 0, None, 1, GRID)
    for size in (3, 1, 0):
        ask(student, "move_batch_axis", size, None, 0, 2.5)
    ask(student, "move_batch_axis", 2, None, 0, np.array(4.0, F32))
    ask(student, "move_batch_axis", 2, None, 0, True)


@pytest.mark.meets("float32")
def test_move_keeps_the_dtype(student):
    """The dtype stays, for single precision, for integers and for booleans."""
    ask(student, "move_batch_axis", 3, 1, 0, GRID.astype(F32))
    ask(student, "move_batch_axis", 2, None, 1, np.array([3, -5], np.int8))
    ask(student, "move_batch_axis", 2, 0, 1, np.array([[True, False, True], [False, True, True]]))


@pytest.mark.meets("order", "sizes")
@pytest.mark.keeps("at `dst` instead of `src`")
def test_move_equal_sizes(student):
    """Axes of equal size are told apart by their number, and not by their size."""
    square, cube = GRID[:, :2], np.sin(np.arange(27.0)).reshape(3, 3, 3)
    for dst in range(3):
        ask(student, "move_batch_axis", 3, None, dst, cube[0])
        ask(student, "move_batch_axis", 3, 1, dst, cube)
    ask(student, "move_batch_axis", 2, 0, 1, square)
    for size, dst in (1, 1), (3, 0):
        ask(student, "move_batch_axis", size, None, dst, ROW[:1])
    for src, dst in (0, 2), (2, 0):
        ask(student, "move_batch_axis", 1, src, dst, ROW.reshape(1, 3, 1))


@pytest.mark.meets("weak_type")
@pytest.mark.keeps("A weak type stays")
def test_move_weak_type(student):
    """A weakly typed value that is repeated or moved stays so: it gives way to arrays."""
    for size, src, dst, x in [
        *((3, None, 0, 2.5), (3, None, 0, 2), (3, None, 0, np.array(2.5))),
        *((4, None, 1, (2,)), (4, None, 0, (2,)), (3, 1, 0, (2, 3)), (2, 0, 0, (2, 3))),
    ]:
        student.agrees(weak, NOTHING, "move_batch_axis", [size, src, dst, x])


@pytest.mark.meets("mutation")
def test_move_is_apart(student):
    """The result does not change when the array that was given does."""
    student.agrees(overwritten, NOTHING, "move_batch_axis", [3, 1, 0], GRID)
    student.agrees(overwritten, NOTHING, "move_batch_axis", [4, None, 1], GRID)


@pytest.mark.meets("nested")
@pytest.mark.keeps("`x` may be a tracer", "At most one operation")
def test_work_of_a_move(student):
    """Values may be tracers; one operation moves an axis, and none is bound if it is in place."""
    for size, src, dst, x in [
        *((4, 2, 0, CUBE), (2, 0, 1, CUBE), (2, 0, 1, GRID[:, :2]), (3, 1, 1, CUBE)),
        *((50, None, 1, ROW), (50, None, 0, 2.5), (1, None, 0, 2.5), (0, 0, 0, EMPTY)),
        *((3, 0, 0, ROW), (4, 2, 2, CUBE), (5, 3, 1, BLOCK)),
    ]:
        ask(student, "move_batch_axis", size, src, dst, x, work="counted")


exercise("vmap.align_operand")

MOVES = siblings("vmap.move_batch_axis")


def align(student, axis_size, dim, x, rank, work=""):
    """Compare what `align_operand` gives."""
    ask(student, "align_operand", axis_size, dim, x, rank, needs=MOVES, work=work)


@probe(uses=[in_place])
def combined(mj, siblings, name, axis_size, vals, dims):
    """An elementwise operation of two operands, by the given rule."""
    with in_place("minijax.vmap", siblings) as vmap:
        dims = [core.not_mapped if dim is None else dim for dim in dims]
        out, dim = vmap.binary_batch(getattr(core, name), axis_size, vals, dims)
    return {"the values": out, "the batch axis": dim}


@pytest.mark.meets("float32", "axes", "more_than_two", "sizes")
@pytest.mark.keeps("a leading batch axis", "pairs their examples")
def test_missing_axes(student):
    """An operand has a leading batch axis afterwards, and the axes that it lacks come after it."""
    align(student, 3, 1, GRID, 1)
    align(student, 2, 0, GRID, 1)
    align(student, 4, 2, CUBE, 2)
    align(student, 3, 1, CUBE.astype(F32), 2)
    for rank in (1, 3):
        align(student, 3, 0, ROW, rank)
    align(student, 3, 0, ROW > 0.0, 1)
    align(student, 2, 0, GRID, 2)
    align(student, 3, 1, GRID, 3)
    align(student, 3, 1, CUBE, 4)
    align(student, 0, 0, EMPTY, 2)


@pytest.mark.meets("some_results")
@pytest.mark.keeps("stays unchanged")
def test_operands_that_are_not_mapped(student):
    """A number that is the same for all examples stays a number; an array gets a batch axis."""
    for x, rank in [(2.5, 0), (2.5, 2), (7, 2), (True, 1)]:
        align(student, 3, None, x, rank)
    align(student, 4, None, np.array(7.0, F32), 1)
    for size, x, rank in [(4, ROW, 1), (4, GRID, 2), (4, ROW, 2), (2, GRID, 4)]:
        align(student, size, None, x, rank)
    align(student, 3, None, GRID[:1, :1], 2)


@pytest.mark.meets("order", "axes")
@pytest.mark.keeps("pairs their examples")
def test_two_operands(student):
    """Two operands that were brought into this form go together, example by example."""
    both = siblings("vmap.move_batch_axis")
    student.agrees(combined, both, "sub_p", 3, [GRID, np.exp(GRID.T)], [1, 0])
    student.agrees(combined, both, "mul_p", 3, [ROW, CUBE], [0, 1])
    student.agrees(combined, both, "sub_p", 2, [CUBE, np.array([4.0, -1.0])], [0, 0])
    student.agrees(combined, both, "div_p", 3, [2.5, GRID], [None, 1])
    student.agrees(combined, both, "sub_p", 3, [GRID, ROW], [None, 0])
    student.agrees(combined, both, "gt_p", 2, [GRID, ROW], [0, None])
    student.agrees(combined, both, "lt_p", 3, [np.arange(3), np.array(1)], [0, None])


@pytest.mark.meets("nested")
@pytest.mark.keeps("at most one operation")
def test_work_of_aligning(student):
    """Operands may be tracers; if no axis is missing, nothing more is bound than a move."""
    for size, dim, x, rank in [
        *((3, 1, GRID, 1), (4, 2, CUBE, 2), (2, 0, GRID, 1), (5, 3, BLOCK, 3)),
        *((3, None, 2.5, 3), (3, None, ROW, 1), (3, 0, ROW, 0)),
    ]:
        align(student, size, dim, x, rank, work="counted")
    for size, dim, x in [(2, 0, GRID), (3, 1, GRID), (3, None, ROW)]:
        align(student, size, dim, x, 3, work="boxed")


@pytest.mark.meets("order", "sizes")
def test_aligning_equal_sizes(student):
    """Axes of equal size are told apart by their number, and size 1 is like any other."""
    cube = np.sin(np.arange(27.0)).reshape(3, 3, 3)
    for dim in (0, 1, 2, None):
        align(student, 3, dim, cube, 3)
    align(student, 3, 1, cube[0], 1)
    align(student, 1, 1, GRID[:, :1], 2)
    align(student, 0, 0, EMPTY[:, 0], 1)


@pytest.mark.meets("weak_type")
@pytest.mark.keeps("stays unchanged")
def test_aligning_weak_type(student):
    """A weakly typed operand stays weakly typed: it gives way to arrays."""
    for size, dim, x, rank in [
        *((3, None, 2.5, 1), (3, None, 2.5, 0), (3, None, np.array(2.5), 1), (3, None, 2, 1)),
        *((3, 1, (2, 3), 1), (3, 0, (3,), 2), (3, None, (2,), 2)),
    ]:
        student.agrees(weak, MOVES, "align_operand", [size, dim, x, rank])


exercise("vmap.reduce_sum_rule")


def sums(student, x, dim, axes, work=""):
    """Compare what `reduce_sum_batch` gives."""
    ask(student, "reduce_sum_batch", x.shape[dim], [x], [dim], work=work, axes=axes)


@pytest.mark.meets("more_than_two", "axes")
@pytest.mark.keeps("The sums of all examples", "one operand is mapped")
@pytest.mark.parametrize("dim", range(4))
def test_batch_axis_anywhere(student, dim):
    """Wherever the batch axis is, each example is summed along its own axes."""
    on_both_sides = [(0, 1), (1, 2), (2,), (0, 1, 2)] if dim in (1, 2) else []
    for axes in [(0,), (1,), (0, 2), *on_both_sides]:
        sums(student, BLOCK, dim, axes)


@pytest.mark.meets("axes")
@pytest.mark.keeps("in any order")
def test_axes_in_any_order(student):
    """The order in which the summed axes are listed does not matter."""
    for axes in [(1, 0), (2, 0), (2, 1), (2, 0, 1), (1, 2, 0)]:
        for dim in (1, 2):
            sums(student, BLOCK, dim, axes)


@pytest.mark.meets("order")
def test_axes_of_one_size(student):
    """Axes of equal size are told apart by their number."""
    cube = np.sin(np.arange(81.0)).reshape(3, 3, 3, 3)
    for dim in range(4):
        sums(student, cube, dim, (0,))
        sums(student, cube, dim, (1, 2))
    sums(student, GRID[:, :2], 0, (0,))
    sums(student, GRID[:, :2], 1, (0,))


@pytest.mark.meets("sizes")
def test_all_axes_or_none(student):
    """Examples may be summed along all their axes, or along none."""
    sums(student, CUBE, 1, (0, 1))
    sums(student, CUBE, 1, ())
    sums(student, EMPTY, 0, (0,))
    sums(student, EMPTY, 1, (0,))


@pytest.mark.meets("float32", "extremes")
@pytest.mark.keeps("The dtype stays, and so does a weak type")
def test_sum_keeps_the_dtype(student):
    """The sums have the dtype of the batch, and are weakly typed if it is."""
    sums(student, CUBE.astype(F32), 1, (1,))
    sums(student, np.array([[100, 100, 3], [1, 2, 3]], np.int8), 1, (0,))
    student.agrees(weak, NOTHING, "reduce_sum_batch", [3, [(2, 3)], [1]], {"axes": (0,)})


@pytest.mark.meets("nested")
@pytest.mark.keeps("One sum is bound")
def test_work_of_a_sum(student):
    """The batch may be a tracer, and one sum is bound for all examples together."""
    sums(student, CUBE, 1, (1,), work="counted")
    sums(student, BLOCK, 2, (0, 2), work="counted")
    sums(student, GRID, 1, (0,), work="counted")
    sums(student, np.arange(120).reshape(2, 3, 4, 5), 1, (2, 0, 1), work="counted")


exercise("vmap.dot_general_rule")

MATRICES = (((1,), (0,)), ((), ()))
VECTORS = (((0,), (0,)), ((), ()))
LEFT = np.sin(np.arange(6.0)).reshape(2, 3)
RIGHT_SIDE = np.cos(np.arange(12.0)).reshape(3, 4)


def stack(x, size, axis, seed):
    """A batch of arrays like x, all different, along an axis."""
    weights = np.random.default_rng(seed).normal(size=size)
    return np.stack([x * w + w for w in weights], axis).astype(x.dtype)


def product(student, vals, dims, numbers, dtype=None, work=""):
    """Compare what `dot_general_batch` gives."""
    size = next(x.shape[dim] for x, dim in zip(vals, dims, strict=True) if dim is not None)
    params = {"dimension_numbers": numbers, "preferred_element_type": dtype}
    ask(student, "dot_general_batch", size, list(vals), list(dims), work=work, **params)


def products(student, x, y, dims, numbers, size=3, **more):
    """The same where the first operand is a batch, where the second one is, and where both are."""
    x_dim, y_dim = dims
    x_batch, y_batch = stack(x, size, x_dim, 5), stack(y, size, y_dim, 6)
    product(student, (x_batch, y), (x_dim, None), numbers, **more)
    product(student, (x, y_batch), (None, y_dim), numbers, **more)
    product(student, (x_batch, y_batch), dims, numbers, **more)


@pytest.mark.meets("axes")
@pytest.mark.keeps("The products of all examples", "the result is 0")
def test_both_mapped(student):
    """Two batches are multiplied example by example, wherever their batch axes are."""
    for x_dim in range(3):
        for y_dim in range(3):
            vals = stack(LEFT, 5, x_dim, 1), stack(RIGHT_SIDE, 5, y_dim, 2)
            product(student, vals, (x_dim, y_dim), MATRICES)


@pytest.mark.meets("some_results")
@pytest.mark.keeps("The products of all examples")
@pytest.mark.parametrize("first", [True, False])
def test_one_mapped(student, first):
    """If one operand alone is a batch, each of its examples meets the same other one."""

    def one(x, y, dim, numbers):
        vals = (stack(x, 5, dim, 3), y) if first else (x, stack(y, 5, dim, 4))
        product(student, vals, (dim, None) if first else (None, dim), numbers)

    for dim in range(3):
        one(LEFT, RIGHT_SIDE, dim, MATRICES)
    one(ROW, ROW, 1, VECTORS)
    one(*((ROW, RIGHT_SIDE, 0, VECTORS) if first else (LEFT, ROW, 0, MATRICES)))


@pytest.mark.meets("axes")
@pytest.mark.keeps("all counted in one example", "the result is 0")
def test_products_with_batch_axes(student):
    """Products that have batch axes of their own get one more, or keep those they have."""
    numbers = (((2,), (1,)), ((0,), (0,)))  # stacks of matrices
    for dim in range(4):
        products(student, CUBE, BLOCK[:, 0], (dim, 3 - dim), numbers)


@pytest.mark.meets("more_than_two", "sizes")
@pytest.mark.keeps("all counted in one example")
def test_products_with_several_batch_axes(student):
    """Products may have two batch axes of their own, listed in any order, and no contracted one."""
    x, y = BLOCK[:, :, :2, :3], np.cos(np.arange(30.0)).reshape(3, 5, 2)
    for numbers in [(((), ()), ((0, 1), (2, 0))), (((), ()), ((1, 0), (0, 2)))]:
        for dim in (0, 2):
            products(student, x, y, (dim, 3 - dim), numbers, size=4)


@pytest.mark.meets("order", "twice")
def test_products_of_equal_sizes(student):
    """Axes of equal size are told apart by their number; both operands may be the same value."""
    square = np.sin(np.arange(27.0)).reshape(3, 3, 3)
    for dims in [(0, 1), (1, 0), (2, 0), (1, 1), (1, None), (None, 2)]:
        vals = [square[0] if dim is None else square for dim in dims]
        product(student, vals, dims, MATRICES)


@pytest.mark.meets("more_than_two")
@pytest.mark.keeps("all counted in one example")
def test_several_contracted_axes(student):
    """Several contracted axes, in any order, are counted in one example."""
    numbers = (((2, 0), (0, 1)), ((), ()))
    for dim in range(3):
        products(student, CUBE, np.cos(np.arange(8.0)).reshape(4, 2), (dim, 2 - dim), numbers)


@pytest.mark.meets("float32", "keys")
@pytest.mark.keeps("same `preferred_element_type`")
def test_element_type(student):
    """The result has the dtype of the operands, or the one that is asked for."""
    vals = stack(LEFT.astype(F32), 2, 1, 9), RIGHT_SIDE.astype(F32)
    product(student, vals, (1, None), MATRICES)
    product(student, vals, (1, None), MATRICES, "float64")
    batches = stack(vals[1], 2, 2, 8)
    product(student, (LEFT.astype(F32), batches), (None, 2), MATRICES, "float64")
    product(student, (vals[0], batches), (1, 2), MATRICES, "float64")
    params = {"dimension_numbers": VECTORS, "preferred_element_type": None}
    student.agrees(weak, NOTHING, "dot_general_batch", [2, [(2, 3), (3,)], [0, None]], params)


@pytest.mark.meets("keys", "nested")
@pytest.mark.keeps("same `preferred_element_type`")
def test_work_of_a_product(student):
    """Operands may be tracers, and one product is bound for all examples, nothing else."""
    products(student, LEFT, RIGHT_SIDE, (1, 2), MATRICES, work="counted")
    single = LEFT.astype(F32), RIGHT_SIDE.astype(F32)
    products(student, *single, (1, 2), MATRICES, dtype="float64", work="counted")
    vals = stack(CUBE, 3, 2, 7), stack(np.cos(np.arange(8.0)).reshape(4, 2), 3, 2, 8)
    product(student, vals, (2, 2), (((2, 0), (0, 1)), ((), ())), work="counted")
    vals = stack(BLOCK[..., 0], 3, 1, 5), BLOCK[..., 0]
    stacked = (((2,), (2,)), ((0, 1), (0, 1)))
    product(student, vals, (1, None), stacked, dtype="float32", work="counted")
    singles, numbers = stack(np.array(1.5), 3, 0, 5), (((), ()), ((), ()))
    product(student, (ROW[1:], singles), (None, 0), numbers, work="counted")
    product(student, (singles, ROW), (0, 0), numbers, dtype="float64", work="counted")


exercise("vmap.jacobian")

ALL = siblings("vmap.move_batch_axis", "vmap.align_operand")


@probe(uses=[in_place])
def jacobian(mj, siblings, function, xs, i):
    """Values, Jacobians, and how often the function ran, on what shapes."""
    jnp = mj.numpy
    runs = []
    functions = {
        "square": lambda x: [x * x],
        "turn": lambda x: [x.T * 2.0, jnp.sin(x)],
        "two": lambda x, y: [x * y * y, jnp.sin(y), x],
        "outer": lambda x: [jnp.broadcast_to(x, (*x.shape, *x.shape)).T * x],
        "constants": lambda x: [x, 2.5, np.ones(2), 3],
        "nothing": lambda x: [],
        "times": lambda x, *rest: [x * rest[-1], rest[0]],
    }

    def f(*xs):
        runs.append([np.shape(x) for x in xs])
        return functions[function](*xs)

    with in_place("minijax.vmap", siblings) as vmap:
        values, jacobians = vmap.jacobian_of_input(f, xs, i)
    return {
        "the values": [*values],
        "the Jacobians": [*jacobians],
        "calls of f": len(runs),
        "the shapes that f sees": runs,
    }


@probe(uses=[beside_small, in_place])
def jacobian_of_one_of_two(mj, siblings, x):
    """The Jacobian with respect to one of two inputs that are one and the same, and weak types.

    What the function computes changes from run to run.
    """
    runs, both = [], [x, x]

    def f(x, y):
        runs.append(1)
        return [x * y * y * len(runs), 2.5, y]

    def g(xs, i):
        values, jacobians = vmap.jacobian_of_input(f, xs, i)
        return [*values, *jacobians]

    with in_place("minijax.vmap", siblings) as vmap:
        found = [g(both, i) for i in (0, 1, 1)]
        moved = [mj.jvp(lambda x, i=i: g([x, x], i), (x,), (x,)) for i in (0, 1)]
    return {
        "the values and the Jacobians": found,
        "the same times a float32 and an int8, to which weak types give way": [
            beside_small(x) for x in found
        ],
        "the same, if the input is a tracer of a jvp, and how they move": moved,
    }


@pytest.mark.meets("weak_type", "twice")
@pytest.mark.keeps("by tangents of its type", "may be a tracer")
def test_jacobian_of_one_input_twice(student):
    """Two inputs may be the same value: only the one that was named moves; weak types stay weak."""
    student.agrees(jacobian_of_one_of_two, ALL, ROW)
    student.agrees(jacobian_of_one_of_two, ALL, 1.5)


@pytest.mark.keeps("The results of `f(*xs)`", "runs once", "has shape `r + s`")
def test_jacobian_of_a_vector(student):
    """The last axis runs over a vector's entries; for a number, the shape is the result's."""
    for function in ("square", "outer"):
        student.agrees(jacobian, ALL, function, [ROW], 0)
    student.agrees(jacobian, ALL, "two", [GRID, ROW], 1)
    student.agrees(jacobian, ALL, "square", [3.0], 0)
    student.agrees(jacobian, ALL, "two", [1.5, ROW], 0)
    student.agrees(jacobian, ALL, "two", [GRID, np.array(2.0)], 1)


@pytest.mark.meets("more_than_two", "axes")
@pytest.mark.keeps("with each entry of", "has shape `r + s`")
def test_jacobian_of_a_matrix(student):
    """With respect to an array with several axes, these come last, in their order."""
    for x in (GRID, CUBE[:, :, :2], GRID[:, :2]):
        student.agrees(jacobian, ALL, "turn", [x], 0)
    student.agrees(jacobian, ALL, "two", [GRID, ROW], 0)


@pytest.mark.meets("order", "some_results", "none", "zeros", "extremes")
@pytest.mark.keeps("Only `xs[i]` moves")
def test_jacobian_of_one_input(student):
    """The other inputs do not move, whichever they are: infinite values and integers do no harm."""
    for xs in ([ROW, np.exp(ROW)], [2.5, 4.0]):
        student.agrees(jacobian, ALL, "two", xs, 0)
        student.agrees(jacobian, ALL, "two", xs, 1)
    student.agrees(jacobian, ALL, "times", [np.array([np.inf, 1.0]), 2.0], 0)
    student.agrees(jacobian, ALL, "two", [np.inf, 4.0], 0)
    student.agrees(jacobian, ALL, "times", [2.5, GRID, ROW], 2)
    student.agrees(jacobian, ALL, "two", [4, ROW * 2.0], 1)


@pytest.mark.meets("sizes", "some_results", "zeros")
@pytest.mark.keeps("returns a list of arrays", "has shape `r + s`")
def test_jacobian_of_constants(student):
    """Results that do not move have a Jacobian of zeros, and no value has a batch axis."""
    for x in (ROW, GRID, EMPTY, ROW[:1]):
        student.agrees(jacobian, ALL, "constants", [x], 0)
    student.agrees(jacobian, ALL, "nothing", [ROW], 0)


@pytest.mark.meets("float32")
def test_jacobian_keeps_the_dtype(student):
    """Values and Jacobians have the dtype of the input."""
    student.agrees(jacobian, ALL, "square", [ROW.astype(F32)], 0)
    student.agrees(jacobian, ALL, "turn", [GRID.astype(F32)], 0)
    student.agrees(jacobian, ALL, "two", [ROW.astype(F32), np.array(0.5, F32)], 1)


@pytest.mark.meets("length")
@pytest.mark.keeps("runs once")
def test_jacobian_in_one_run(student):
    """However many entries the input has, the function runs once."""
    student.agrees(jacobian, ALL, "square", [np.linspace(-1.0, 2.0, 20)], 0)
    student.agrees(jacobian, ALL, "turn", [np.linspace(-1.0, 2.0, 20).reshape(4, 5)], 0)


# Random programs ----------------------------------------------------------------------------------


@probe
def batched(mj, f, in_axes, batch):
    """A program on two examples at once."""
    return mj.vmap(f, in_axes)(*batch)


@probe
def forward_jacobian(mj, f, xs):
    """The Jacobian with respect to the first argument."""
    return mj.jacfwd(f)(*xs)


exercise("vmap.align_operand")


@pytest.mark.meets("twice")
def test_operands_in_programs(student):
    """Programs whose operands differ in shape or batch axis return the right batches."""
    using = ["add", "sub", "mul", "div", "infix"]
    student.agrees_on_programs(batched, using=using)


exercise("vmap.reduce_sum_rule")


def test_sums_in_programs(student):
    """Programs with sums along axes return the right batches."""
    student.agrees_on_programs(batched, using=["reduce_sum"])


exercise("vmap.dot_general_rule")


def test_products_in_programs(student):
    """Programs with contractions return the right batches."""
    student.agrees_on_programs(batched, using=["dot_general"])


exercise("vmap.jacobian")


def test_jacobians_of_programs(student):
    """The Jacobian of a random program is right."""
    student.agrees_on_programs(forward_jacobian, number=5)


exercise("vmap.whole")


@probe
def shapes_inside(mj, x, w):
    """What a function sees of one example, and what it computes with that."""
    jnp = mj.numpy
    seen = []

    def f(x, w):
        seen.append((x.shape, x.ndim, x.size, len(x), w.shape))
        mean = jnp.sum(x, axis=0) / x.shape[0]
        return {"mean": mean, "scaled": x * w, "products": jnp.dot(x, w), "all": jnp.sum(x)}

    one, both = mj.vmap(f, (0, None))(x, w), mj.vmap(f, (0, 1))(x, np.stack([w, -w], 1))
    return {
        "what a function sees of one example": seen,
        "the results for one mapped argument": one,
        "the results for two mapped arguments": both,
    }


@probe
def outer_and_inner(mj, x, y):
    """A vmap in a vmap, whose function uses both inputs, one of them, and none."""
    inner_shapes = []

    def inner(x, y):
        inner_shapes.append((x.shape, y.shape))
        return x * y, x, y, 2.5, mj.numpy.sum(x * x) - y

    def f(x):
        return mj.vmap(lambda y: inner(x, y), out_axes=-1)(y), mj.vmap(lambda y: x)(y)

    return {
        "the results of a vmap inside a function": mj.vmap(f)(x),
        "the results of a vmap of a vmap": mj.vmap(mj.vmap(inner, (None, 0)), (1, None))(x, y),
        "the shapes that the inner function sees": inner_shapes,
    }


@probe
def places(mj, x, y):
    """Batch axes in all places, in and out, of containers too."""
    outs = [
        mj.vmap(lambda a, b: a - b, in_axes, out_axes)(x, y)
        for in_axes in [(0, 0), (1, 0), (0, -1), (None, 1), (-1, None)]
        for out_axes in [0, 1, -1]
    ]
    by_name = mj.vmap(lambda a, *, b: a - b * axis_frame("i").size, (1,), axis_name="i")
    d = {"x": x, "y": (y, None)}
    f = mj.vmap(
        lambda d, c: {"s": d["x"] * c, "c": c, "y": d["y"]},
        ({"x": 1, "y": 0}, None),
        {"s": -1, "c": None, "y": (1, None)},
    )
    size = AxisSize(3, "i")
    with batching(size) as main, batching(size) as again, batching(3) as other:
        box = BatchTracer(BatchTrace(main), x, 1)
        lifted = [BatchTrace(trace).lift(box).batch_dim for trace in (again, other)]
    return {
        "the results for each choice of axes": outs,
        "the results in containers": f(d, 3.0),
        "the results for an argument by name, and a name of the axis": by_name(x, b=y),
        "the batch axis of a box, lifted by the same vmap and by another": [*map(str, lifted)],
    }


@probe
def errors_of_axes(mj, x):
    """Which error there is, if the axes do not fit."""
    found = []
    for arguments in [(x, x.T), (x, x[:, :0]), (2.5, x), (x, 2.5)]:
        for in_axes, out_axes in [
            ((0, 0), 0),
            ((0, None), None),
            ((None, 0), 3),
            ((None, None), 0),
        ]:
            try:
                out = mj.vmap(lambda a, b: a + 1.0, in_axes, out_axes)(*arguments)
                found.append(np.shape(out))
            except (TypeError, ValueError) as error:
                found.append(type(error).__name__)
    for size, mapped in [(len(x), True), (0, True), (0, False), (5, False)]:
        try:
            f = mj.vmap(lambda *args: mj.numpy.sin(2.5), axis_size=size)
            found.append(np.shape(f(x) if mapped else f()))
        except ValueError as error:
            found.append(type(error).__name__)
    return {"the shape of the result, or the error, for each choice of axes and sizes": found}


@probe
def with_derivatives(mj, x, x_dot):
    """Batches of derivatives, derivatives of batches, and both in a loop of their own."""
    jnp = mj.numpy

    def f(x):
        return jnp.sin(x) * jnp.sum(x * x)

    batched, batched_dot = mj.vmap(lambda x, t: mj.jvp(f, (x,), (t,)))(x, x_dot)
    out, out_dot = mj.jvp(mj.vmap(f, 1), (x,), (x_dot,))
    mixed = mj.vmap(lambda y: mj.jvp(lambda z: z * y, (3.0,), (1.0,))[1])(x)
    jacobians = mj.vmap(lambda y: mj.jacfwd(lambda z: z * y)(x[0]))(x)
    return {
        "the values of a batch of jvp": batched,
        "the tangents of a batch of jvp": batched_dot,
        "the values of a jvp of vmap": out,
        "the tangents of a jvp of vmap": out_dot,
        "the results of a jvp inside a batch": mixed,
        "the results of a jacfwd inside a batch": jacobians,
    }


@probe
def again_and_again(mj, x):
    """One function with other axes, sizes and containers, after one that fails in the middle."""
    calls = []

    def f(x):
        calls.append(1)
        if len(calls) == 2:
            raise KeyError("out")
        return mj.tree.map(lambda y: 2.0 * y + len(calls), x), 2.5

    found, maps = [], [mj.vmap(f, axis) for axis in (0, 1)]
    for axis, at in [(0, x), (0, x), (1, x), (0, {"a": x, "b": x[:, 0]}), (0, x[:1]), (0, x[:0])]:
        try:
            found.append(maps[axis](at))
        except KeyError:
            found.append(len(trace_state.stack))
    return {
        "the results, one call after another": found,
        "calls of f": len(calls),
        "the result of a function without arguments": mj.vmap(lambda: 2.5, axis_size=3)(),
        "the height of the stack in the end": len(trace_state.stack),
    }


@probe(uses=[beside_small])
def types_of_results(mj, x):
    """Dtypes of batches beside constants, and weak types of results that are Python's numbers."""
    out = mj.vmap(lambda x: (x * 2.0 + 1.0, x > 0.5, mj.numpy.sum(x) * 3, 2.5, 3))(x)
    slope = mj.jacfwd(lambda x: x * x)
    out += tuple(slope(at) for at in (x[0, 0], 1.5, np.array(1.5)))
    return {
        "the results": out,
        "the results times a float32 and an int8, to which weak types give way": beside_small(out),
    }


@probe
def jacobians(mj, x, y):
    """Jacobians of functions of arrays with several axes, in containers, and second derivatives."""
    jnp = mj.numpy

    def f(d, y):
        return {"out": jnp.sin(d["x"]) * y, "sum": jnp.sum(d["x"]), "rest": y}

    def broken(x, y):
        runs.append(1)
        return x * y if len(runs) == 1 else runs[2]

    of_f, runs = mj.jacfwd(f), []
    first = [of_f({"x": at}, y) for at in (x, -x)]
    with contextlib.suppress(IndexError):
        mj.jacfwd(broken, argnums=(0, 1))(y, y)
    both = mj.jacfwd(lambda x, y: x * y, argnums=(0, 1))(y, y)
    second = mj.jacfwd(mj.jacfwd(lambda y: jnp.sum(y * y * y)))(y)
    return {
        "the Jacobians of a function of containers, at one place and another": first,
        "the Jacobians for two argnums": both,
        "the second derivatives": second,
    }


@probe
def program_of_batches(mj, f, in_axes, batch):
    """A program on two examples at once, with a constant behind it, in and out by other axes."""
    return mj.vmap(lambda *xs: mj.tree.map(lambda y: 2.0 * y, f(*xs)), in_axes, -1)(*batch)


def test_whole_one_example(student):
    """To the function inside, a batch looks like one example, and is computed with as one."""
    student.agrees(shapes_inside, CUBE[:, :, :2], GRID[0, :2])


@pytest.mark.meets(nested="move_batch_axis align_operand reduce_sum_rule", closure="align_operand")
def test_whole_nested(student):
    """In a vmap within a vmap, each result has the batch axes that it depends on."""
    student.agrees(outer_and_inner, GRID, ROW)
    student.agrees(outer_and_inner, GRID[:, :2], ROW[:2])


def test_whole_axes(student):
    """Batch axes come from where in_axes says and go where out_axes says."""
    square = np.sin(np.arange(9.0)).reshape(3, 3)
    student.agrees(places, square, np.cos(square))


def test_whole_errors(student):
    """Axes that do not fit are rejected, and no others."""
    student.agrees(errors_of_axes, GRID)


@pytest.mark.meets(closure="jacobian")
def test_whole_derivatives(student):
    """Batches can be differentiated, and derivatives batched."""
    square = np.sin(np.arange(9.0)).reshape(3, 3)
    student.agrees(with_derivatives, square, square.T)


def test_whole_again(student):
    """Each call is independent of what was called before, and of how that ended."""
    student.agrees(again_and_again, GRID)


@pytest.mark.meets(weak_type="align_operand reduce_sum_rule", float32="align_operand")
def test_whole_types(student):
    """Single precision stays, even beside constants, and weak types stay weak."""
    student.agrees(types_of_results, GRID.astype(F32))
    student.agrees(types_of_results, GRID)


@pytest.mark.meets(another_box="jacobian", axes="jacobian", again="jacobian", nested="jacobian")
def test_whole_jacobians(student):
    """Jacobians have the axes of the result first, then the axes of the input."""
    student.agrees(jacobians, GRID, ROW)


def test_whole_programs(student):
    """Random programs return for batches what they return for each example."""
    student.agrees_on_programs(program_of_batches)
