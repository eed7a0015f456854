"""Checks of the `pmap` lesson, for you to read and to run: `./jaxprentice check pmap`.

There is one device here, so `vmap` with a named axis does what several of them would do.
"""

import contextlib
import importlib
from unittest.mock import patch

import numpy as np
import pytest
from random_programs import for_programs, numbers, results_of, slope

from minijax import vmap
from minijax.axis_env import AxisSize
from minijax.core import (
    NotMapped,
    ShapedArray,
    UndefPrimal,
    get_aval,
    impl_rules,
    not_mapped,
    vmap_rules,
)
from minijax.jaxpr import eval_jaxpr, raise_to_shaped
from minijax.lax import reduce_sum, sin
from minijax.pmap import (
    all_gather_transpose,
    all_gather_type,
    inside,
    mapped_size,
    pmap_jvp,
    pmap_p,
    psum,
    psum_batch,
    psum_p,
    replica_program,
)
from minijax.tracing import trace_to_jaxpr

module = importlib.import_module("minijax.pmap")  # `minijax.pmap` is the function


def typed(shape=(), dtype="float64", weak_type=False):
    """An abstract value."""
    return ShapedArray(shape, np.dtype(dtype), weak_type)


# all_gather_type ----------------------------------------------------------------------------------


def gathered(shape, axis, tiled, dtype="float64"):
    """The type of what three examples have gathered."""
    params = {"all_gather_dimension": axis, "axis_name": "i", "axis_size": 3, "tiled": tiled}
    return str(all_gather_type(typed(shape, dtype), **params))


@pytest.mark.exercise("pmap.gather_type")
def test_stacked():
    """There is a new axis of length 3."""
    assert gathered((2, 5), 0, False) == "float64[3,2,5]"
    assert gathered((2, 5), 2, False) == "float64[2,5,3]"
    assert gathered((), 0, False, "int8") == "int8[3]"


@pytest.mark.exercise("pmap.gather_type")
def test_one_behind_the_other():
    """An axis is three times as long."""
    assert gathered((2, 5), 0, True) == "float64[6,5]"
    assert gathered((2, 5), 1, True, "float32") == "float32[2,15]"


@pytest.mark.exercise("pmap.gather_type")
def test_weak_type():
    """A weak type stays weak, and a shape is a tuple."""
    params = {"all_gather_dimension": 0, "axis_name": "i", "axis_size": 3}
    for tiled, shape in [(False, (3, 2)), (True, (6,))]:
        for weak in (True, False):
            found = all_gather_type(typed((2,), weak_type=weak), tiled=tiled, **params)
            assert found == typed(shape, weak_type=weak)


# psum_batch ---------------------------------------------------------------------------------------

GRID = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])


@pytest.mark.exercise("pmap.psum_batch")
def test_sum_over_the_batch():
    """The batch axis is summed, and is gone."""
    out, dim = psum_batch(AxisSize(2, "i"), [GRID], [0], axes=("i",))
    assert (out.tolist(), dim) == ([11.0, 22.0, 33.0], not_mapped)
    out, dim = psum_batch(AxisSize(3, "i"), [GRID], [1], axes=("i",))
    assert (out.tolist(), dim) == ([6.0, 60.0], not_mapped)


@pytest.mark.exercise("pmap.psum_batch")
def test_sum_of_equals():
    """A value without a batch axis is there in each example."""
    out, dim = psum_batch(AxisSize(4, "i"), [np.float32(2.5)], [not_mapped], axes=("i",))
    assert (float(out), out.dtype, dim) == (10.0, np.float32, not_mapped)


@pytest.mark.exercise("pmap.psum_batch")
def test_sums_over_two_axes():
    """Each vmap takes its own name."""
    both = vmap(vmap(lambda x: psum(x, ("i", "j")), axis_name="j"), axis_name="i")
    assert both(GRID).tolist() == [[66.0] * 3] * 2
    outer = vmap(vmap(lambda x: psum(x, "i"), axis_name="j"), axis_name="i")
    assert outer(GRID).tolist() == [[11.0, 22.0, 33.0]] * 2
    inner = vmap(vmap(lambda x: psum(x, "j"), axis_name="j"), axis_name="i")
    assert inner(GRID).tolist() == [[6.0] * 3, [60.0] * 3]
    columns = vmap(vmap(lambda x: psum(x, "i"), in_axes=1, axis_name="j"), axis_name="i")
    assert columns(np.stack([GRID, GRID])).tolist() == [[[2.0, 20.0], [4.0, 40.0], [6.0, 60.0]]] * 2


@pytest.mark.exercise("pmap.psum_batch")
@for_programs(seed="pmap", dtypes=["float64"])
def test_sums_of_random_programs(f, xs):
    """The sum over three equal examples is three times the value."""
    batch = [np.stack([x] * 3) for x in xs]
    summed = vmap(lambda *xs: psum(results_of(f(*xs)), "i"), axis_name="i", out_axes=None)
    assert numbers(summed(*batch)) == numbers([3.0 * y for y in results_of(f(*xs))])


# all_gather_transpose -----------------------------------------------------------------------------


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


@pytest.mark.exercise("pmap.gather_transpose")
def test_numbers_were_stacked():
    """Example 0 gets the sum of the first column, example 1 that of the second."""
    assert sent_back([[1.0, 2.0], [30.0, 40.0]], ()) == [31.0, 42.0]


@pytest.mark.exercise("pmap.gather_transpose")
def test_vectors_were_stacked():
    """Along axis 1: a column of the sum for each example."""
    cts = [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]]]
    assert sent_back(cts, (3,), axis=1) == [[11.0, 33.0, 55.0], [22.0, 44.0, 66.0]]


@pytest.mark.exercise("pmap.gather_transpose")
def test_vectors_stood_in_a_row():
    """Example 1 has the second half, of a vector or of each row."""
    cts = [[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]]
    assert sent_back(cts, (2,), tiled=True) == [[11.0, 22.0], [33.0, 44.0]]
    rows = [[ct] for ct in cts]
    assert sent_back(rows, (1, 2), axis=1, tiled=True) == [[[11.0, 22.0]], [[33.0, 44.0]]]


# mapped_size --------------------------------------------------------------------------------------


@pytest.mark.exercise("pmap.mapped_size")
def test_one_size():
    """Each operand has its own mapped axis; None has no say."""
    assert mapped_size([typed((5, 3)), typed((3,)), typed((7,))], [1, 0, None], None) == 3
    assert mapped_size([typed((5, 3))], [0], 5) == 5


@pytest.mark.exercise("pmap.mapped_size")
def test_sizes_that_do_not_fit():
    """Two lengths; a length that was not given; none; nothing to do: all are refused."""
    cases = {
        "lengths 5 and 4": ([(5, 3), (4,)], [0, 0], None),
        "length 5, given 4": ([(5,)], [0], 4),
        "nothing mapped, given 5": ([(5,)], [None], 5),
        "length 0": ([(0, 2)], [0], None),
    }
    refused = []
    for name, (shapes, axes, given) in cases.items():
        try:
            mapped_size([typed(shape) for shape in shapes], axes, given)
        except ValueError:
            refused.append(name)
    assert refused == list(cases)


@pytest.mark.exercise("pmap.mapped_size")
def test_axes_that_are_not_there():
    """After the last one, and counted from the end."""
    with pytest.raises(ValueError):
        mapped_size([typed((5,))], [1], None)
    with pytest.raises(ValueError):
        mapped_size([typed((5, 5))], [-1], None)
    assert mapped_size([typed((5, 6))], [1], None) == 6


# replica_program ----------------------------------------------------------------------------------

PARAMS = {"axis_name": "i", "axis_size": 3}
ADDED = np.array([100.0, 200.0, 300.0, 400.0])  # a constant of a program


def per_example(f, *avals):
    """The program of one example."""
    with inside(**PARAMS):
        return trace_to_jaxpr(f, list(avals))


def types(closed):
    """The types of inputs and outputs."""
    return [[aval.str_short() for aval in avals] for avals in (closed.in_avals, closed.out_avals)]


@pytest.mark.exercise("pmap.replica_program")
def test_pieces():
    """The mapped axis is there, with length 1; what is whole has none."""
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


@pytest.mark.exercise("pmap.replica_program")
def test_replicas_meet():
    """All devices together, by means of vmap: each has a piece of length 1."""
    closed = per_example(lambda x: [psum(sin(x), "i"), x * 2.0], typed(()))
    program = replica_program(closed, (0,), (None, 0), **PARAMS)
    with patch.dict(vmap_rules, {psum_p: right_sum}):
        run = vmap(lambda x: eval_jaxpr(program.jaxpr, program.consts, x), axis_name="i")
        total, doubled = run(np.array([[0.0], [0.5], [1.0]]))
    assert [round(x, 6) for x in total.tolist()] == [1.320897] * 3
    assert doubled.tolist() == [[0.0], [1.0], [2.0]]


@pytest.mark.exercise("pmap.replica_program")
@for_programs(seed="pmap", dtypes=["float64"])
def test_random_programs_on_pieces(f, xs, want):
    """A random program returns pieces of what it returns on whole arrays."""
    avals = [raise_to_shaped(get_aval(x)) for x in xs]
    closed = per_example(lambda *xs: results_of(f(*xs)), *avals)
    axes = (0,) * len(xs), (0,) * len(closed.out_avals)
    program = replica_program(closed, *axes, **PARAMS)
    pieces = eval_jaxpr(program.jaxpr, program.consts, *(np.asarray(x)[None] for x in xs))
    assert numbers([np.squeeze(piece, 0) for piece in pieces]) == numbers(want)


# pmap_jvp -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def vmap_for_devices(calls):
    """In place of devices, vmap runs the program; each call is noted."""

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


@pytest.mark.exercise("pmap.jvp")
def test_values_and_tangents():
    """One call computes both; tangents are cut as primals are."""
    x, t = np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 10.0, 100.0]])
    (values, tangents), calls = derivative(
        lambda x: [x * x], [typed((1,))], [x], [t], in_axes=(1,), out_axes=(1,)
    )
    assert calls == [((1, 1), (1, 1))]
    assert values[0].tolist() == [[1.0, 4.0, 9.0]]
    assert tangents[0].tolist() == [[2.0, 40.0, 600.0]]


@pytest.mark.exercise("pmap.jvp")
def test_what_has_no_tangent():
    """An operand that does not move, and a result that is an integer."""
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


@pytest.mark.exercise("pmap.jvp")
def test_a_program_that_uses_the_name():
    """The sum of squares over all devices, and its slope."""
    xs = np.array([1.0, 2.0, 3.0])
    (values, tangents), _ = derivative(
        lambda x: [psum(x * x, "i")], [typed(())], [xs], [np.ones(3)], in_axes=(0,), out_axes=(0,)
    )
    assert (values[0].tolist(), tangents[0].tolist()) == ([14.0] * 3, [12.0] * 3)


@pytest.mark.exercise("pmap.jvp")
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
