"""Checks of the `pmap` lesson, for you to read and to run: `./jaxprentice check pmap`.

There is one device here, so `vmap` with a named axis does what several of them would do.
"""

import contextlib
from unittest.mock import patch

import numpy as np
from checking import exercise, typed
from random_programs import for_programs, numbers, results_of, slope

from minijax import vmap
from minijax.axis_env import AxisSize
from minijax.collectives import all_gather, psum, psum_p
from minijax.core import NotMapped, UndefPrimal, get_aval, impl_rules, not_mapped, vmap_rules
from minijax.jaxpr import eval_jaxpr, raise_to_shaped
from minijax.lax import reduce_sum, sin
from minijax.pieces import inside, pmap_p
from minijax.pmap import (
    all_gather_batch,
    all_gather_transpose,
    mapped_and_batch,
    pmap_jvp,
    psum_batch,
    replica_program,
)
from minijax.tracing import trace_to_jaxpr


exercise("pmap.psum_batch")

GRID = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
CUBE = np.arange(24.0).reshape(2, 3, 4)


def test_sum_over_the_batch():
    """The batch axis is summed, and is gone."""
    out, dim = psum_batch(AxisSize(2, "i"), [GRID], [0], axes=("i",))
    assert (out.tolist(), dim) == ([11.0, 22.0, 33.0], not_mapped)
    out, dim = psum_batch(AxisSize(3, "i"), [GRID], [1], axes=("i",))
    assert (out.tolist(), dim) == ([6.0, 60.0], not_mapped)


def test_sum_of_equals():
    """A value without a batch axis belongs to every example."""
    out, dim = psum_batch(AxisSize(4, "i"), [np.float32(2.5)], [not_mapped], axes=("i",))
    assert (float(out), out.dtype, dim) == (10.0, np.float32, not_mapped)


def test_sums_over_two_axes():
    """Each vmap takes its own name."""
    both = vmap(vmap(lambda x: psum(x, ("i", "j")), axis_name="j"), axis_name="i")
    assert both(GRID).tolist() == [[66.0] * 3] * 2
    outer = vmap(vmap(lambda x: psum(x, "i"), axis_name="j"), axis_name="i")
    assert outer(GRID).tolist() == [[11.0, 22.0, 33.0]] * 2
    inner = vmap(vmap(lambda x: psum(x, "j"), axis_name="j"), axis_name="i")
    assert inner(GRID).tolist() == [[6.0] * 3, [60.0] * 3]
    constant = vmap(vmap(lambda x, k: psum(k, ("i", "j")), (0, None), axis_name="j"), axis_name="i")
    assert constant(GRID, np.array([1.0, 10.0])).tolist() == [[33.0] * 3] * 2
    columns = vmap(vmap(lambda x: psum(x, "i"), in_axes=1, axis_name="j"), axis_name="i")
    assert columns(np.stack([GRID, GRID])).tolist() == [[[2.0, 20.0], [4.0, 40.0], [6.0, 60.0]]] * 2


def test_other_names_in_one_sum():
    """All names that are not this vmap's go to one psum, in their order."""
    bound = []

    def note(size, vals, dims, *, axes):
        bound.append(axes)
        return psum_batch(size, vals, dims, axes=axes)

    over_all = lambda x: psum(x, ("k", "j", "i"))  # noqa: E731
    with patch.dict(vmap_rules, {psum_p: note}):
        inner = vmap(vmap(over_all, axis_name="j"), axis_name="i")
        out = vmap(inner, axis_name="k")(CUBE)
    assert bound == [("k", "j", "i"), ("k", "i"), ("k",)]
    assert out.tolist() == [[[276.0] * 4] * 3] * 2


@for_programs(seed="pmap", dtypes=["float64"])
def test_sums_of_random_programs(f, xs):
    """The sum over three equal examples is three times the value."""
    batch = [np.stack([x] * 3) for x in xs]
    summed = vmap(lambda *xs: psum(results_of(f(*xs)), "i"), axis_name="i", out_axes=None)
    assert numbers(summed(*batch)) == numbers([3.0 * y for y in results_of(f(*xs))])


exercise("pmap.gather_batch")


def gathered(x, dim, axis, tiled=False):
    """What all examples of a batch gather."""
    size = 2 if dim is not_mapped else x.shape[dim]
    params = {"axis_name": "i", "axis_size": size, "all_gather_dimension": axis, "tiled": tiled}
    out, where = all_gather_batch(AxisSize(size, "i"), [x], [dim], **params)
    assert where is not_mapped
    return np.asarray(out)


def test_stacked():
    """The examples are next to each other along a new axis."""
    for dim in range(3):
        examples = [CUBE.take(i, dim) for i in range(CUBE.shape[dim])]
        for axis in range(3):
            assert gathered(CUBE, dim, axis).tolist() == np.stack(examples, axis).tolist()


def test_one_after_the_other():
    """The examples follow each other along an axis that they have."""
    for dim in range(3):
        examples = [CUBE.take(i, dim) for i in range(CUBE.shape[dim])]
        for axis in range(2):
            want = np.concatenate(examples, axis).tolist()
            assert gathered(CUBE, dim, axis, tiled=True).tolist() == want


def test_gathered_equals():
    """A value without a batch axis is there for each example."""
    assert gathered(np.array(2.5), not_mapped, 0).tolist() == [2.5, 2.5]
    assert gathered(GRID[0], not_mapped, 0, tiled=True).tolist() == [1.0, 2.0, 3.0] * 2


def test_gathered_by_another_map():
    """The inner map leaves a name that is not its own to the outer one."""
    inner = vmap(lambda x: all_gather(x, "i", axis=1), in_axes=1, axis_name="j")
    out = vmap(inner, axis_name="i")(CUBE)
    assert out.shape == (2, 4, 3, 2)
    assert np.asarray(out)[1, 3].tolist() == CUBE[:, :, 3].T.tolist()
    row = vmap(lambda x: all_gather(x, "i", tiled=True), in_axes=1, axis_name="j")
    out = vmap(row, axis_name="i")(CUBE)
    assert out.shape == (2, 4, 6)
    assert np.asarray(out)[1, 3].tolist() == CUBE[:, :, 3].reshape(-1).tolist()


exercise("pmap.gather_transpose")


def right_sum(size, vals, dims, *, axes):
    """A right sum over the axis of the innermost vmap."""
    assert not isinstance(dims[0], NotMapped)
    return reduce_sum(vals[0], (dims[0],)), not_mapped


def sent_back(cts, shape, axis=0, tiled=False):
    """The cotangents of what the examples gave, from a row of cotangents for each of them."""
    params = {"all_gather_dimension": axis, "axis_name": "i", "axis_size": len(cts)}

    def back(ct):
        (out,) = all_gather_transpose(ct, UndefPrimal(typed(shape)), tiled=tiled, **params)
        return out

    with patch.dict(vmap_rules, {psum_p: right_sum}):
        return vmap(back, axis_name="i")(np.array(cts)).tolist()


def test_numbers_were_stacked():
    """Example 0 gets the sum of the first column, example 1 the sum of the second."""
    assert sent_back([[1.0, 2.0], [30.0, 40.0]], ()) == [31.0, 42.0]


def test_vectors_were_stacked():
    """Along axis 1, each example gets a column of the sum."""
    cts = [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]]]
    assert sent_back(cts, (3,), axis=1) == [[11.0, 33.0, 55.0], [22.0, 44.0, 66.0]]


def test_vectors_stood_in_a_row():
    """Example 1 has the second half, of a vector or of each row."""
    cts = [[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]]
    assert sent_back(cts, (2,), tiled=True) == [[11.0, 22.0], [33.0, 44.0]]
    rows = [[ct] for ct in cts]
    assert sent_back(rows, (1, 2), axis=1, tiled=True) == [[[11.0, 22.0]], [[33.0, 44.0]]]


exercise("pmap.replica_program")

PARAMS = {"axis_name": "i", "axis_size": 3}
ADDED = np.array([100.0, 200.0, 300.0, 400.0])  # a constant of a program


def per_example(f, *avals):
    """The program of one example."""
    with inside(**PARAMS):
        return trace_to_jaxpr(f, list(avals))


def types(closed):
    """The types of inputs and outputs."""
    return [[aval.str_short() for aval in avals] for avals in (closed.in_avals, closed.out_avals)]


def test_pieces():
    """The mapped axis is there, with size 1; a whole array has none."""
    closed = per_example(lambda w, x: [w * x, w, x + ADDED], typed(()), typed((4,)))
    program = replica_program(closed, (None, 1), (0, None, 1), **PARAMS)
    assert types(program) == [
        ["float64[]", "float64[4,1]"],
        ["float64[1,4]", "float64[]", "float64[4,1]"],
    ]
    column = np.array([[1.0], [2.0], [3.0], [4.0]])
    outs = eval_jaxpr(program.jaxpr, program.consts, np.array(10.0), column)
    more = [[101.0], [202.0], [303.0], [404.0]]
    assert [out.tolist() for out in outs] == [[[10.0, 20.0, 30.0, 40.0]], 10.0, more]


def test_weak_pieces():
    """A value that is weakly typed in an example is weakly typed in a piece."""
    program = replica_program(
        per_example(lambda x: [x], typed(weak_type=True)), (0,), (0,), **PARAMS
    )
    avals = [*program.in_avals, *program.out_avals]
    assert [aval.weak_type for aval in avals] == [True, True]


def test_replicas_meet():
    """All devices together, by means of vmap: each has a piece of size 1."""
    closed = per_example(lambda x: [psum(sin(x), "i"), x * 2.0], typed(()))
    program = replica_program(closed, (0,), (None, 0), **PARAMS)
    with patch.dict(vmap_rules, {psum_p: right_sum}):
        run = vmap(lambda x: eval_jaxpr(program.jaxpr, program.consts, x), axis_name="i")
        total, doubled = run(np.array([[0.0], [0.5], [1.0]]))
    assert [round(x, 6) for x in total.tolist()] == [1.320897] * 3
    assert doubled.tolist() == [[0.0], [1.0], [2.0]]


@for_programs(seed="pmap", dtypes=["float64"])
def test_random_programs_on_pieces(f, xs, want):
    """A random program returns pieces of what it returns on whole arrays."""
    avals = [raise_to_shaped(get_aval(x)) for x in xs]
    closed = per_example(lambda *xs: results_of(f(*xs)), *avals)
    axes = (0,) * len(xs), (0,) * len(closed.out_avals)
    program = replica_program(closed, *axes, **PARAMS)
    pieces = eval_jaxpr(program.jaxpr, program.consts, *(np.asarray(x)[None] for x in xs))
    assert numbers([np.squeeze(piece, 0) for piece in pieces]) == numbers(want)


exercise("pmap.jvp")


@contextlib.contextmanager
def vmap_for_devices(calls):
    """Instead of devices, vmap runs the program; each call is noted."""

    def run(*args, jaxpr, in_axes, out_axes, axis_name, **params):
        calls.append((tuple(in_axes), tuple(out_axes)))
        f = lambda *xs: eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *xs)  # noqa: E731
        return vmap(f, tuple(in_axes), list(out_axes), axis_name)(*args)

    with patch.dict(impl_rules, {pmap_p: run}), patch.dict(vmap_rules, {psum_p: right_sum}):
        yield


def derivative(f, avals, primals, tangents, in_axes, out_axes):
    """What the rule returns, and with which axes it has called the new program."""
    axes, calls = {"in_axes": in_axes, "out_axes": out_axes}, []
    with vmap_for_devices(calls):
        out = pmap_jvp(
            primals, tangents, jaxpr=per_example(f, *avals), **axes, **PARAMS, devices=()
        )
    return out, calls


def test_values_and_tangents():
    """One call computes both; tangents are cut as primals are."""
    x, t = np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 10.0, 100.0]])
    (values, tangents), calls = derivative(
        lambda x: [x * x], [typed((1,))], [x], [t], in_axes=(1,), out_axes=(1,)
    )
    assert calls == [((1, 1), (1, 1))]
    assert values[0].tolist() == [[1.0, 4.0, 9.0]]
    assert tangents[0].tolist() == [[2.0, 40.0, 600.0]]


def test_what_has_no_tangent():
    """An operand that does not move has no tangent, and neither has a result that is an integer."""
    xs = np.array([1.0, 2.0, 3.0])
    (values, tangents), calls = derivative(
        lambda w, x, n: [n, w * x, w],
        [typed(()), typed(()), typed((), "int64")],
        [np.array(5.0), xs, np.array([7, 8, 9])],
        [np.array(1.0), None, None],
        in_axes=(None, 0, 0),
        out_axes=(0, 0, None),
    )
    assert calls == [((None, 0, 0, None), (0, 0, None, 0, None))]
    assert values[0].tolist() == [7, 8, 9]
    assert tangents[0] is None
    assert (tangents[1].tolist(), float(tangents[2])) == ([1.0, 2.0, 3.0], 1.0)


def test_a_program_that_uses_the_name():
    """The sum of squares over all devices, and its slope."""
    xs = np.array([1.0, 2.0, 3.0])
    (values, tangents), _ = derivative(
        lambda x: [psum(x * x, "i")], [typed(())], [xs], [np.ones(3)], in_axes=(0,), out_axes=(0,)
    )
    assert (values[0].tolist(), tangents[0].tolist()) == ([14.0] * 3, [12.0] * 3)


@for_programs(seed="pmap", dtypes=["float64"])
def test_slopes_of_random_programs(f, xs, ts):
    """For three equal examples, the slope is the same in each."""
    avals = [raise_to_shaped(get_aval(x)) for x in xs]
    outs = results_of(f(*xs))
    primals, tangents = ([np.stack([x] * 3) for x in pair] for pair in (xs, ts))
    (_, changes), _ = derivative(
        lambda *xs: results_of(f(*xs)), avals, primals, tangents, (0,) * len(xs), (0,) * len(outs)
    )
    assert numbers([change[1] for change in changes]) == numbers(slope(f, xs, ts))


exercise("pmap.two_axes")


def test_both_axes():
    """Both axes are found in the whole, if they come first, last, or with others between them."""
    # Arrays of shape (5, 3), mapped along axis 0; four of them are a batch.
    assert mapped_and_batch(0, 0) == (1, 0)  # (4, 5, 3), pieces of (4, 3)
    assert mapped_and_batch(0, 1) == (0, 0)  # (5, 4, 3)
    assert mapped_and_batch(0, 2) == (0, 1)  # (5, 3, 4), pieces of (3, 4)
    # And mapped along axis 1.
    assert [mapped_and_batch(1, dim) for dim in range(3)] == [(2, 0), (2, 1), (1, 1)]


def test_one_axis():
    """An array with only one of the two axes, or none, stays unchanged."""
    assert mapped_and_batch(None, 0) == (None, 0)
    assert mapped_and_batch(0, not_mapped) == (0, not_mapped)
    assert mapped_and_batch(None, not_mapped) == (None, not_mapped)
