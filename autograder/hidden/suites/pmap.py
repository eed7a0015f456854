"""Hidden tests of the `pmap` lesson: collectives, pieces, and the rules of a call on many devices.

The worker has one device, since the number of XLA's devices is fixed when its client is made: this
lesson alone would need an environment of its own. What several devices would do is asked of `vmap`
with a named axis: it runs the same program for all examples, and its collectives return the same
values. Every exercise is tested alone: if its target needs a sibling, the probe puts a right one
there meanwhile, in the rule tables too. Functions to be traced travel as text.
"""

import contextlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    from unittest.mock import patch

    from minijax.axis_env import AxisSize, axis_env, axis_sizes, mapped_axis
    from minijax.core import (
        Primitive,
        ShapedArray,
        Trace,
        Tracer,
        UndefPrimal,
        abstract_eval_rules,
        get_aval,
        impl_rules,
        jvp_rules,
        new_main,
        not_mapped,
    )
    from minijax.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var, eval_jaxpr, raise_to_shaped
    from minijax.pieces import inside, pmap_call, pmap_p
    from minijax.pmap import all_gather_batch, mapped_and_batch, psum_batch, replica_program
    from minijax.tracing import trace_to_jaxpr
    from minijax.vmap import remove_axis

F32 = np.float32

ROW = np.array([0.5, -2.0, 3.0])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])
CUBE = np.sin(np.arange(24.0)).reshape(2, 3, 4)
BLOCK = np.cos(np.arange(120.0)).reshape(2, 3, 4, 5)


def traced(mj, text, args, in_axes, params):
    """The program of one example; the function is text."""
    f = eval(text, {"jnp": mj.numpy, "lax": mj.lax, "np": np})
    avals = [raise_to_shaped(get_aval(x)) for x in args]
    pairs = zip(avals, in_axes, strict=True)
    avals = [aval if axis is None else remove_axis(aval, axis) for aval, axis in pairs]
    with inside(**params):
        return trace_to_jaxpr(f, avals)


@contextlib.contextmanager
def among_devices(names, length, collective):
    """An interpreter with axes of these names; it computes a collective by `collective`.

    Any other operation is evaluated. Gives a function that boxes an array, and no number.
    """

    class Box(Tracer):
        def __init__(self, trace, val):
            self._trace, self.val = trace, val

        @property
        def aval(self):
            return get_aval(self.val)

    class Watch(Trace):
        def pure(self, val):
            return Box(self, val)

        def process_primitive(self, primitive, tracers, params):
            among = primitive.name in ("psum", "all_gather")
            operation = collective if among else primitive.bind
            return Box(self, operation(*[t.val for t in tracers], **params))

    with new_main(Watch) as main, contextlib.ExitStack() as frames:
        for name in names:
            frames.enter_context(mapped_axis(AxisSize(length, name), main))
        yield lambda x: Box(Watch(main), x) if isinstance(x, np.ndarray) else x


def run_by_vmap(mj, args, jaxpr, in_axes, out_axes, axis_name):
    """What a call of `pmap_p` returns: instead of the devices, vmap runs the program."""

    def program(*xs):
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *xs)

    return mj.vmap(program, tuple(in_axes), list(out_axes), axis_name)(*args)


exercise("pmap.psum_batch")


@probe(uses=[among_devices])
def summed(mj, x, dim, axes, name, others, length=9):
    """The sum, its batch axis, and which sums are left; a sum over devices is 10 times its operand.

    `others` are the names of axes of other interpreters, all of this length.
    """
    left = []

    def sum_of_devices(val, axes):
        left.append(tuple(axes))
        return val * np.asarray(10, val.dtype)

    size = 4 if dim is None else x.shape[dim]
    dims = [not_mapped if dim is None else dim]
    with among_devices(others, length, sum_of_devices) as box:
        out, where = psum_batch(AxisSize(size, name), [box(x)], dims, axes=tuple(axes))
        return {
            "the names of the sums that are bound": left,
            "value": np.asarray(getattr(out, "val", out)),
            "the batch axis": None if where is not_mapped else where,
            "the type of the batch axis": type(where).__name__,
        }


@pytest.mark.meets("sizes", "axes")
@pytest.mark.keeps("A sum that all share is", "hold the operand and its batch axis")
def test_sum_of_a_batch(student):
    """Over the axis of this vmap, the examples are added, and all share the result."""
    for dim in range(3):
        student.agrees(summed, CUBE, dim, ["i"], "i", [])
    student.agrees(summed, ROW, 0, ["i"], "i", [])
    student.agrees(summed, GRID[:1], 0, ["i"], "i", [])
    student.agrees(summed, np.zeros((0, 2)), 0, ["i"], "i", [])


@pytest.mark.meets("none")
@pytest.mark.keeps("all examples have the same value")
def test_sum_of_equals(student):
    """A value that all examples share is counted once for each of them."""
    student.agrees(summed, GRID, None, ["i"], "i", [])
    for x in (np.array(2.5), 2.5, F32(2.5), np.array(2**53 + 1)):
        student.agrees(summed, x, None, ["i"], "i", [])


@pytest.mark.meets("float32")
@pytest.mark.keeps("The dtype does not change")
def test_sum_keeps_the_dtype(student):
    """The dtype stays, for single precision and for integers."""
    student.agrees(summed, GRID.astype(F32), 1, ["i"], "i", [])
    student.agrees(summed, GRID.astype(F32), None, ["i"], "i", [])
    for dtype in ("int8", "uint8", "int32", "uint32", "float16"):
        for dim in (0, None):
            student.agrees(summed, np.array([3, 5], dtype), dim, ["i"], "i", [])
    student.agrees(summed, np.array([2**53 + 1, 2]), 0, ["i"], "i", [])


@pytest.mark.meets("another_box", "caching", "nested")
@pytest.mark.keeps(
    "hold the operand and its batch axis",
    "keeps its batch axis in place",
    "The sum over named axes",
)
def test_sum_over_another_axis(student):
    """A sum over a different axis is a sum of whole batches; the batch axis stays where it is."""
    for x, dim in ((CUBE, 1), (BLOCK, 3)):
        student.agrees(summed, x, dim, ["j"], "i", ["j"])
    student.agrees(summed, CUBE, 2, ["j", "k"], None, ["j", "k"])
    student.agrees(summed, GRID, None, ["j"], "i", ["j"])
    student.agrees(summed, CUBE, 1, ["j"], "i", ["j"], 3)  # as long as this one's


@pytest.mark.meets("keys")
@pytest.mark.keeps("The sum over named axes")
def test_names_of_sums(student):
    """Part of a name is a different name, and a name does not have to be a string."""
    student.agrees(summed, CUBE, 1, ["rows"], "row", ["rows"])
    student.agrees(summed, CUBE, 1, ["row", "rows"], "rows", ["row"])
    student.agrees(summed, CUBE, 0, [1, ("a", 2)], ("a", 2), [1])
    student.agrees(summed, CUBE, 1, [0, "j"], 0, ["j"])
    student.agrees(summed, CUBE, 1, ["0"], 0, ["0"])


@pytest.mark.meets("order", "keys", "more_than_two", "nested")
@pytest.mark.keeps("is bound, over names in the order")
def test_sum_over_several_axes(student):
    """If there are several names, this vmap removes its own; the others stay, in their order."""
    student.agrees(summed, CUBE, 1, ["j", "i"], "i", ["j"])
    student.agrees(summed, CUBE, 2, ["k", "i", "j"], "i", ["j", "k"])
    student.agrees(summed, GRID, None, ["i", "j"], "i", ["j"])
    for own in ([], ["i"]):  # no axis of this vmap, or a value that all examples share, or both
        student.agrees(summed, GRID, None, ["m", *own, "j", "k"], "i", ["j", "k", "m"])
        student.agrees(summed, GRID, 0, ["m", *own, "j", "k"], "i", ["j", "k", "m"])
    student.agrees(summed, GRID, 0, ["m", "k", "i", "j"], "i", ["j", "k", "m"], 2)


exercise("pmap.gather_batch")


@probe(uses=[among_devices])
def gathered(mj, x, dim, axis, tiled, name, along, length=9):
    """The gathered array, for each example if there are several, and what is left to gather.

    If this is not its axis, another interpreter has an axis `along` of this length; there, examples
    hold multiples of a value.
    """
    left = []

    def gather(val, axis_name, axis_size, all_gather_dimension, tiled):
        left.append((axis_name, axis_size, tiled))
        parts = [np.asarray(val) * np.asarray(k, val.dtype) for k in (1, 10, 100)]
        return (np.concatenate if tiled else np.stack)(parts, all_gather_dimension)

    own, size = along == name, 4 if dim is None else x.shape[dim]
    params = {"axis_name": along, "axis_size": size if own else 3, "tiled": tiled}
    dims = [not_mapped if dim is None else dim]
    with among_devices(["another" if own else along], length, gather) as box:
        out, where = all_gather_batch(
            AxisSize(size, name), [box(x)], dims, all_gather_dimension=axis, **params
        )
        out, shared = np.asarray(getattr(out, "val", out)), where is not_mapped
        if not own:
            out = np.stack([out] * size) if shared else np.moveaxis(out, where, 0)
        return {
            "value": out,
            "the batch axis is not_mapped": shared if own else None,
            "the name, size and `tiled` of each gather that is bound": left,
        }


@probe
def gathered_in_maps(mj, x, along, in_axes, axis, tiled):
    """Values gathered along one of two axes, by maps inside each other."""

    def f(x):
        return mj.lax.all_gather(x, along, axis=axis, tiled=tiled)

    inner = mj.vmap(f, in_axes=in_axes[1], axis_name="j")
    return {"what two maps gather": np.asarray(mj.vmap(inner, in_axes[0], axis_name="i")(x))}


@pytest.mark.meets("order", "sizes", "axes")
@pytest.mark.keeps("are stacked along axis")
def test_gather_stacks(student):
    """Along the axis of this vmap, the examples are stacked, wherever their axis was."""
    for dim in range(3):
        for axis in range(3):
            student.agrees(gathered, CUBE, dim, axis, False, "i", "i")
    student.agrees(gathered, ROW, 0, 0, False, "i", "i")
    student.agrees(gathered, np.zeros((2, 0)), 0, 1, False, "i", "i")
    student.agrees(gathered, np.zeros((0, 2), F32), 0, 1, False, "i", "i")
    student.agrees(gathered, BLOCK, 1, 3, False, "i", "i")


@pytest.mark.meets("order", "sizes", "axes")
@pytest.mark.keeps("or joined along it with")
def test_gather_rows(student):
    """With `tiled`, the examples follow each other along an axis that they have."""
    for dim in range(3):
        for axis in range(2):
            student.agrees(gathered, CUBE, dim, axis, True, "i", "i")
    student.agrees(gathered, GRID[:1], 0, 0, True, "i", "i")
    student.agrees(gathered, GRID[:, :1], 0, 0, True, "i", "i")
    student.agrees(gathered, np.zeros((2, 0, 3)), 0, 1, True, "i", "i")
    student.agrees(gathered, np.zeros((0, 2, 3)), 1, 0, True, "i", "i")
    student.agrees(gathered, np.zeros((0, 2, 3)), 0, 0, True, "i", "i")


@pytest.mark.meets("none", "twice")
@pytest.mark.keeps("The values of all examples as one", "hold the operand and its batch axis")
def test_gather_equals(student):
    """A value that all examples share appears once for each of them."""
    for x in (np.array(2.5), 2.5, F32(2.5)):
        student.agrees(gathered, x, None, 0, False, "i", "i")
    student.agrees(gathered, GRID, None, 2, False, "i", "i")
    student.agrees(gathered, GRID, None, 1, True, "i", "i")


@pytest.mark.meets("float32")
def test_gather_keeps_the_dtype(student):
    """The dtype stays, for single precision, integers and booleans."""
    for tiled in (False, True):
        for dtype in ("float32", "bool", "int8", "float16", "uint8", "uint32"):
            student.agrees(gathered, np.abs(GRID).astype(dtype), 1, 0, tiled, "i", "i")


@pytest.mark.meets("another_box", "keys", "axes")
@pytest.mark.keeps("of whole batches is bound")
def test_gather_along_another_axis(student):
    """Along another axis, whole batches are gathered; the axis is counted in one example."""
    for dim in range(3):
        for axis in range(3):
            student.agrees(gathered, CUBE, dim, axis, False, "i", "j")
        for axis in range(2):
            student.agrees(gathered, CUBE, dim, axis, True, "i", "j")
    student.agrees(gathered, GRID, 1, 0, False, None, "j", 3)
    student.agrees(gathered, GRID, None, 1, False, "i", "j")
    student.agrees(gathered, GRID, None, 0, True, "i", "j")


@pytest.mark.meets("keys")
@pytest.mark.keeps("whose name is `axis_name`")
def test_names_of_gathers(student):
    """Part of a name is a different name, and a name does not have to be a string."""
    for name, along in (("row", "rows"), ("rows", "row"), (0, "0"), (0, 0), (("a", 2), ("a", 2))):
        student.agrees(gathered, CUBE, 1, 0, False, name, along)


@pytest.mark.meets("nested")
@pytest.mark.keeps("The values of all examples as one array")
def test_gather_in_maps(student):
    """If one map is inside another, each gathers along its own name."""
    for along in ("i", "j"):
        for tiled in (False, True):
            student.agrees(gathered_in_maps, BLOCK, along, [0, 2], 1, tiled)
            student.agrees(gathered_in_maps, BLOCK, along, [3, 0], 0, tiled)


exercise("pmap.gather_transpose")


@probe(uses=[in_place])
def sent_back(mj, siblings, cts, shape, axis, tiled, outer=False, name="rows"):
    """Cotangents of the operands, of this shape, of all examples.

    `cts` has a row for each, in its last-but-`outer` axes; with `outer`, one more vmap is around.
    """
    x = UndefPrimal(ShapedArray(shape, cts.dtype))
    size = cts.shape[1 if outer else 0]
    params = {"all_gather_dimension": axis, "axis_name": name, "axis_size": size}

    def back(ct):
        return list(pmap.all_gather_transpose(ct, x, tiled=tiled, **params))

    with in_place("minijax.pmap", siblings) as pmap:
        mapped = mj.vmap(back, axis_name=name)
        outs = mj.vmap(mapped, axis_name="columns")(cts) if outer else mapped(cts)
        return {"the cotangents of all examples": [np.asarray(out) for out in outs]}


@probe(uses=[in_place])
def gradients(mj, siblings, xs, weights, axis, tiled):
    """The gradient of each example, by way of what all have gathered."""

    def f(x, w):
        everything = mj.lax.all_gather(x, "rows", axis=axis, tiled=tiled)
        return (everything * everything * w).sum() * (x * x).sum()

    with in_place("minijax.pmap", siblings):
        slopes = mj.vmap(mj.grad(f), axis_name="rows")(xs, weights)
        return {"the gradient of each example": np.asarray(slopes)}


SUM = siblings("pmap.psum_batch")


def sends_back(student, *args):
    """Compare the cotangents of all examples."""
    student.agrees(sent_back, SUM, *args)


@pytest.mark.meets("more_than_two", "sizes")
@pytest.mark.keeps("how the sum of what all examples return moves")
def test_back_to_a_number(student):
    """Each example gets back what all others hold for it, if its value was a number."""
    sends_back(student, CUBE[0, :, :3], (), 0, False)
    sends_back(student, np.array([[2.5]]), (), 0, False)
    sends_back(student, CUBE[0, :, :3], (), 0, False, False, 0)
    cts = np.array([[1.0, np.inf, -0.0], [2.0, 3.0, -0.0], [4.0, 5.0, -0.0]])
    sends_back(student, cts, (), 0, False)


@pytest.mark.meets("order", "twice", "axes")
@pytest.mark.keeps(
    "The cotangent of the value that one example passed", "cotangent of the gathered array"
)
def test_back_to_a_stack(student):
    """Each example gets back what all others hold for it in arrays stacked along any axis."""
    for axis in range(3):
        sends_back(student, np.moveaxis(BLOCK[:, :2], 1, axis + 1), (4, 5), axis, False)
    sends_back(student, np.moveaxis(np.stack([BLOCK, BLOCK * 2.0]), 1, 4), (3, 4, 5), 3, False)
    sends_back(student, np.sin(np.arange(27.0)).reshape(3, 3, 3), (3,), 1, False)
    rows = BLOCK[:2, :2, :1, :3]  # each example gave one row, and an axis of length 1 is its own
    sends_back(student, rows, (1, 3), 0, False)


@pytest.mark.meets("sizes", "axes")
@pytest.mark.keeps("cotangent of the gathered array")
def test_back_to_a_row(student):
    """Each example gets back its part of arrays that were laid one after the other."""
    sends_back(student, BLOCK[0, :, :, :3], (4, 1), 1, True)
    cts = np.cos(np.arange(60.0)).reshape(2, 6, 5)
    sends_back(student, cts, (3, 5), 0, True)
    sends_back(student, np.swapaxes(cts, 1, 2), (5, 3), 1, True)
    sends_back(student, cts[:, :, :0], (3, 0), 0, True)
    cts = np.sin(np.arange(2100.0)).reshape(3, 700, 1)[:, :600]  # so long that it takes two bytes
    sends_back(student, cts, (200, 1), 0, True)


@pytest.mark.meets("another_box", "nested")
@pytest.mark.keeps("how the sum of what all examples return moves")
def test_back_within_another_vmap(student):
    """Only the examples of the named axis are summed if another vmap is around."""
    sends_back(student, CUBE[:, :, :3], (), 0, False, True)
    sends_back(student, np.sin(np.arange(48.0)).reshape(4, 2, 6), (3,), 0, True, True)


@pytest.mark.meets("float32")
@pytest.mark.keeps("has the type of the value")
def test_back_keeps_the_dtype(student):
    """The cotangent has the dtype of the operand, in single precision and for integers."""
    for dtype in ("int64", "int32", "uint8"):
        sends_back(student, np.arange(9, dtype=dtype).reshape(3, 3), (), 0, False)
    for dtype in (F32, np.float16):
        for shape in ((), (1,)):
            sends_back(student, CUBE[0, :, :3].astype(dtype), shape, 0, bool(shape))


@pytest.mark.meets("nested")
def test_gradients_through_a_gather(student):
    """The gradient of a function that gathers is right in each example."""
    needs = siblings("pmap.psum_batch", "pmap.gather_batch")
    student.agrees(gradients, needs, GRID, CUBE[:, :2, :3], 0, False)
    student.agrees(gradients, needs, GRID, BLOCK[:, 0, 0, :1], 0, True)


exercise("pmap.replica_program")


@probe(uses=[in_place, traced])
def replicas(mj, siblings, text, args, in_axes, out_axes, size, name="i"):
    """Types of the program of a device, how often it meets others, and what all devices return."""

    params = {"axis_name": name, "axis_size": size}
    with in_place("minijax.pmap", siblings) as pmap:
        closed = traced(mj, text, args, in_axes, params)
        program = pmap.replica_program(closed, tuple(in_axes), tuple(out_axes), **params)
        meetings = [eqn.primitive.name for eqn in program.eqns]
        meetings = [name for name in meetings if name in ("psum", "all_gather", "axis_index")]

        def device(place):
            pieces = zip(args, in_axes, strict=True)
            return [x if axis is None else x.take([place], axis) for x, axis in pieces]

        stacks = [np.stack(pieces) for pieces in zip(*map(device, range(size)), strict=True)]
        run = mj.vmap(lambda *xs: eval_jaxpr(program.jaxpr, program.consts, *xs), axis_name=name)
        return {
            "the types of the program's inputs": [*map(str, program.in_avals)],
            "the types of the program's results": [*map(str, program.out_avals)],
            "operations": meetings,
            "what all devices return": [np.asarray(out) for out in run(*stacks)],
        }


@probe(uses=[in_place])
def on_one_device(mj, siblings, text, args, in_axes, out_axes):
    """What pmap returns on a single device."""

    f = eval(text, {"jnp": mj.numpy, "lax": mj.lax, "np": np})
    with in_place("minijax.pmap", siblings):
        mapped = mj.pmap(f, "i", in_axes=tuple(in_axes), out_axes=tuple(out_axes))
        return {"what pmap returns": [np.asarray(out) for out in mapped(*args)]}


@probe(uses=[in_place])
def other_axes(mj, siblings, x, weak=False):
    """The types of a device's programs, made from one program for several axes in turn."""
    closed = trace_to_jaxpr(lambda x: [x, 2.0 * x], [ShapedArray(x.shape, x.dtype, weak)])
    inputs, results = [], []
    with in_place("minijax.pmap", siblings) as pmap:
        ways = (
            ((0,), (0, 1)),
            ((1,), (None, 0)),
            ((None,), (1, 1)),
            ((0,), (1, None)),
            ((0,), (0, 1)),
        )
        for axes in ways:
            program = pmap.replica_program(closed, *axes, axis_name="i", axis_size=3)
            inputs.append([*map(str, program.in_avals)])
            results.append([*map(str, program.out_avals)])
    return {
        "the types of inputs, for other axes each time": inputs,
        "the types of results, for other axes each time": results,
    }


@probe(uses=[in_place])
def names_after_an_error(mj, siblings, of):
    """The axes within which a rule fails, those that are left, and what comes of its error."""
    within = []
    failing, number = Primitive("failing"), ShapedArray((), np.dtype(float))
    a, b = Var(number), Var(number)
    closed = ClosedJaxpr(Jaxpr([], [a], [b], [JaxprEqn([a], [b], failing, {})]), [])
    params = {"axis_name": "rows", "axis_size": 3}

    def fails(*args):
        within.extend(axis_sizes())
        raise KeyError("of the rule")

    with (
        in_place("minijax.pmap", siblings) as pmap,
        patch.dict(abstract_eval_rules, {failing: fails}),
        patch.dict(jvp_rules, {failing: fails}),
        patch.object(axis_env, "frames", ()),
    ):
        try:
            if of == "replica":
                pmap.replica_program(closed, (0,), (0,), **params)
            else:
                xs, axes = [np.ones(3)], {"in_axes": (0,), "out_axes": (0,)}
                pmap.pmap_jvp(xs, xs, jaxpr=closed, devices=("one",), **axes, **params)
            error = "nothing"
        except KeyError as found:
            error = type(found).__name__
        return {
            "error": error,
            "the axes that a rule can use, and their sizes": within,
            "the names of axes afterwards": [*axis_sizes()],
        }


PIECES = siblings("pmap.psum_batch", "pmap.gather_batch")


@pytest.mark.meets("sizes")
@pytest.mark.keeps("is cut along its axis in")
def test_pieces_of_length_one(student):
    """Axes of length 1 of the example itself stay, and Python numbers can be results."""
    args = [CUBE[:, :1], GRID[:1].T]
    student.agrees(replicas, PIECES, "lambda x, y: [x, y * 2.0]", args, [0, 0], [0, 1], 2)
    student.agrees(replicas, PIECES, "lambda x: [2.0, 3, x]", [ROW], [0], [0, None, 0], 3)
    student.agrees(replicas, PIECES, "lambda x: [x, x]", [np.zeros((0, 2, 3))], [1], [0, 2], 2)


@pytest.mark.meets("weak_type")
@pytest.mark.keeps("Weak types stay weak")
def test_pieces_of_weak_types(student):
    """A value that is weakly typed in an example is weakly typed in a piece."""
    student.agrees(replicas, PIECES, "lambda w, x: [w, w * 2.0]", [2.0, ROW], [None, 0], [0, 0], 3)
    student.agrees(replicas, PIECES, "lambda w, x: [w, w * x]", [2, ROW], [None, 0], [0, 0], 3)
    student.agrees(other_axes, PIECES, ROW, True)


@pytest.mark.meets("twice", "again", "caching")
@pytest.mark.keeps("is cut along its axis in")
def test_pieces_of_one_program_in_turn(student):
    """A program may be called again with different axes."""
    student.agrees(other_axes, PIECES, ROW)


@pytest.mark.keeps("from pieces to pieces")
def test_pieces_in_front(student):
    """A program on pieces returns pieces, if the first axis holds the examples."""
    text = "lambda x, y: [jnp.sin(x) * y, y]"
    student.agrees(replicas, PIECES, text, [ROW, np.array([4.0, 5.0, 6.0])], [0, 0], [0, 0], 3)
    student.agrees(replicas, PIECES, text, [GRID, np.array([4.0, 5.0])], [0, 0], [0, 0], 2)


@pytest.mark.meets("order", "axes")
@pytest.mark.keeps("from pieces to pieces", "is cut along its axis in")
def test_pieces_along_other_axes(student):
    """Operands and results may be cut along any axis."""
    text = "lambda x, y: [x * 2.0, x.T * y]"
    args = [CUBE, np.array([[4.0, 5.0, 6.0]])]
    student.agrees(replicas, PIECES, text, args, [1, 1], [2, 1], 3)
    student.agrees(replicas, PIECES, "lambda x: [x, x + 1.0]", [CUBE[:1]], [2], [1, 0], 4)
    student.agrees(replicas, PIECES, "lambda x: [x, x + 1.0]", [BLOCK], [3], [3, 0], 5)


@pytest.mark.meets("more_than_two", "some_results", "none")
@pytest.mark.keeps("each device has the whole array")
def test_whole_arrays(student):
    """A value that is not cut comes and goes as a whole."""
    text = "lambda w, x: [w * x, w + 1.0, lax.psum(w * x, 'i')]"
    student.agrees(replicas, PIECES, text, [np.array(2.0), ROW], [None, 0], [0, None, None], 3)
    text = "lambda w, x: [x, w]"
    student.agrees(replicas, PIECES, text, [GRID, CUBE], [None, 1], [1, None], 3)


@pytest.mark.meets("exception")
@pytest.mark.keeps("work along the axis that `params` describe")
def test_pieces_of_a_program_that_fails(student):
    """A rule may use the axis until it fails; its error comes out, and the name has no use then."""
    student.agrees(names_after_an_error, PIECES, "replica")


@pytest.mark.meets("keys", "moment")
@pytest.mark.keeps("Collectives in `jaxpr` work along")
def test_replicas_meet(student):
    """Collectives inside the program work along its axis, and their number stays."""
    text = "lambda x: [x / lax.psum(x, 'i'), lax.all_gather(x, 'i'), x * lax.axis_index('i')]"
    student.agrees(replicas, PIECES, text, [ROW], [0], [0, 1, 0], 3)
    for name in ("rows", 0, "i"):
        text = f"lambda x: [lax.pmean(x, {name!r})]"
        student.agrees(replicas, PIECES, text, [GRID], [1], [None], 3, name)


@pytest.mark.meets("float32", "closure")
def test_captured_arrays(student):
    """Constants of the program are there on each device."""
    text = "lambda x: [x + np.array([10.0, 20.0, 30.0]), np.array([1.0, 7.0])]"
    student.agrees(replicas, PIECES, text, [GRID], [0], [0, 0], 2)
    text = "lambda x, y: [x * np.array([2.0, 3.0, 4.0]), y]"
    student.agrees(replicas, PIECES, text, [GRID.astype(F32), np.array([3, 4])], [0, 0], [0, 0], 2)


exercise("pmap.jvp")


@probe(uses=[in_place, run_by_vmap, traced])
def rule_of_the_call(mj, siblings, text, primals, tangents, in_axes, out_axes, run):
    """What is called instead of a call; and, with `run`, the values and tangents it returns."""
    calls = []

    def impl(*args, jaxpr, in_axes, out_axes, **params):
        types = [a.str_short() for a in jaxpr.in_avals]
        calls.append((types, tuple(in_axes), tuple(out_axes), params))
        if not run:
            return [np.zeros(aval.shape, aval.dtype) for aval in jaxpr.out_avals]
        return run_by_vmap(mj, args, jaxpr, in_axes, out_axes, params["axis_name"])

    primals, tangents = (  # one array, twice
        xs[:1] * 2 if len(xs) == 2 and np.array_equal(*xs) else xs for xs in (primals, tangents)
    )
    sizes = [x.shape[axis] for x, axis in zip(primals, in_axes, strict=True) if axis is not None]
    params = {"axis_name": "rows", "axis_size": sizes[0], "devices": ("one", "another")}
    axes = {"in_axes": tuple(in_axes), "out_axes": tuple(out_axes)}
    with in_place("minijax.pmap", siblings) as pmap, patch.dict(impl_rules, {pmap.pmap_p: impl}):
        jaxpr = traced(mj, text, primals, in_axes, params)
        values, changes = pmap.pmap_jvp(primals, tangents, jaxpr=jaxpr, **axes, **params)
    if not run:
        return {
            "calls of pmap_p": len(calls),
            "the types of the program's inputs": [call[0] for call in calls],
            "in_axes of the call": [call[1] for call in calls],
            "out_axes of the call": [call[2] for call in calls],
            "the other parameters of the call": [call[3] for call in calls],
            "the number of values": len(values),
            "a tangent is None": [t is None for t in changes],
        }
    return {
        "the values": [np.asarray(x) for x in values],
        "the tangents": [None if t is None else np.asarray(t) for t in changes],
    }


@probe(uses=[in_place, run_by_vmap, traced])
def slopes_in_turn(mj, siblings, text, primals, directions, in_axes, out_axes):
    """The slopes of one call in several directions, and its axes, which are lists, afterwards."""

    programs = []

    def impl(*args, jaxpr, in_axes, out_axes, axis_name, **params):
        programs.append(jaxpr.jaxpr)
        return run_by_vmap(mj, args, jaxpr, in_axes, out_axes, axis_name)

    params = {"axis_name": "rows", "axis_size": len(primals[0]), "devices": ("one", "another")}
    axes = {"in_axes": list(in_axes), "out_axes": list(out_axes)}
    with in_place("minijax.pmap", siblings) as pmap, patch.dict(impl_rules, {pmap.pmap_p: impl}):
        jaxpr = traced(mj, text, primals, in_axes, params)
        outs = [
            pmap.pmap_jvp(primals, tangents, jaxpr=jaxpr, **axes, **params)[1]
            for tangents in directions
        ]
    return {
        "the tangents in each direction": [[np.asarray(t) for t in slopes] for slopes in outs],
        "two directions call one and the same program": [
            [a is b for b in programs] for a in programs
        ],
        "in_axes afterwards": axes["in_axes"],
        "out_axes afterwards": axes["out_axes"],
    }


def called(student, *arguments):
    """Compare what is called, and then what comes out."""
    student.agrees(rule_of_the_call, SUM, *arguments, False)
    student.agrees(rule_of_the_call, SUM, *arguments, True)


PRODUCT = "lambda x, y: [x * jnp.sin(y)]"


@pytest.mark.meets("keys")
@pytest.mark.keeps("with an item for each result", "One call computes both")
def test_slope_in_front(student):
    """All operands move, and are cut along their first axis."""
    called(student, PRODUCT, [ROW, ROW * 2.0], [ROW + 1.0, ROW * ROW], [0, 0], [0])


@pytest.mark.meets("order", "axes")
def test_slope_along_other_axes(student):
    """A tangent is cut as its primal is, along any axis."""
    other = GRID.T * 0.5
    text, axes = "lambda x, y: [x, x * y, x]", [[1, 0], [1, 0, 0]]
    called(student, text, [GRID, other], [GRID * GRID, other], *axes)
    called(student, "lambda x: [x * x]", [CUBE], [CUBE + 1.0], [2], [1])
    called(student, "lambda x: [x * x]", [BLOCK], [BLOCK + 1.0], [3], [2])


@pytest.mark.meets("some_results")
@pytest.mark.keeps("the tangents that are not None")
def test_slope_of_some_operands(student):
    """What does not move has no tangent among the operands; each floating result has one."""
    called(student, PRODUCT, [ROW, GRID], [None, GRID + 1.0], [0, 1], [1])
    called(student, PRODUCT, [GRID, ROW], [GRID * 2.0, None], [1, 0], [0])
    called(student, PRODUCT, [GRID, ROW], [None, None], [1, 0], [0])


@pytest.mark.keeps("the same program is called")
def test_slopes_in_turn(student):
    """One call in several directions: what moves decides which program is called; the axes stay."""
    t = GRID[0]
    directions = [[t, None], [None, t], [t, t + 1.0], [t * 2.0, None]]
    directions += [[None, None]] * 2
    args = [ROW, ROW * 2.0], directions, [0, 0], [0]
    student.agrees(slopes_in_turn, SUM, PRODUCT, *args)


@pytest.mark.meets("exception")
def test_slope_that_is_missing(student):
    """If the rule of a derivative fails, its error comes out, and the axis has no name any more."""
    student.agrees(names_after_an_error, SUM, "slope")


@pytest.mark.meets("moment", "none")
@pytest.mark.keeps("even if nothing moves")
def test_slope_of_what_is_shared(student):
    """An operand or a result that all examples share has a tangent that they share."""
    text = "lambda w, x: [lax.psum(jnp.sin(w * x), 'rows'), w * x]"
    primals, tangents = [np.array(2.0), ROW], [np.array(3.0), ROW + 1.0]
    called(student, text, primals, tangents, [None, 0], [None, 0])
    called(student, text, primals, [np.array(3.0), None], [None, 0], [None, 0])


@pytest.mark.meets("float32")
@pytest.mark.keeps("A floating-point result always has a tangent")
def test_slope_in_single_precision(student):
    """A result in float32 or float16 has a tangent, with its axis; an integer has none."""
    text = "lambda x, n: [x * x, n, x.astype(np.float16)]"
    primals, tangents = [GRID.astype(F32), np.array([3, 4])], [GRID.astype(F32), None]
    called(student, text, primals, tangents, [0, 0], [0, 0, 1])


@pytest.mark.meets("twice", "caching", "zeros")
@pytest.mark.keeps("the tangents that are not None")
def test_slope_zero(student):
    """A tangent of zeros is a tangent; one array may be there twice, cut along two axes."""
    square = GRID[:, :2]
    called(student, PRODUCT, [ROW, ROW * 2.0], [np.zeros(3), ROW], [0, 0], [0])
    called(student, PRODUCT, [square, square], [square, square], [0, 1], [0])
    called(student, PRODUCT, [square, square], [square, None], [1, 0], [0])


@pytest.mark.meets("more_than_two")
@pytest.mark.keeps("with an item for each result", "any other result has None")
def test_slope_of_integers(student):
    """Results that are not floating-point have no tangents."""
    text = "lambda x, n: [n, x * x, x < 1.0, x * 3.0]"
    for dtype in ("int64", "int8", "uint8"):
        primals, tangents = [GRID, np.array([3, 4], dtype)], [GRID + 1.0, None]
        called(student, text, primals, tangents, [0, 0], [0, 1, 1, 0])


exercise("pmap.two_axes")


@probe
def places(mj, pairs):
    """Where the two axes are, for each of these pairs."""
    found = {}
    for axis, dim in pairs:
        mapped, batch = mapped_and_batch(axis, not_mapped if dim is None else dim)
        where = "no batch axis" if dim is None else f"batch axis {dim}"
        asked = f"the pair for mapped axis {axis} and {where}"
        found[asked] = mapped, "not_mapped" if batch is not_mapped else batch
    return found


@probe(uses=[run_by_vmap, traced])
def batch_of_calls(mj, x, in_axis, out_axis, dim):
    """A batch of calls, each cut for its devices along an axis of its own operand."""

    def impl(*args, jaxpr, in_axes, out_axes, axis_name, **params):
        return run_by_vmap(mj, args, jaxpr, in_axes, out_axes, axis_name)

    def f(x):
        axes = {"in_axes": (in_axis,), "out_axes": (out_axis,)}
        return pmap_call(jaxpr, [x], **axes, **params, devices=("one", "another"))[0]

    params = {"axis_name": "i", "axis_size": x.take(0, dim).shape[in_axis]}
    with patch.dict(impl_rules, {pmap_p: impl}):
        jaxpr = traced(mj, "lambda x: [x - x[0]]", [x.take(0, dim)], [in_axis], params)
        return {"what a batch of calls returns": np.asarray(mj.vmap(f, in_axes=dim)(x))}


@pytest.mark.meets("order", "again", "sizes")
@pytest.mark.keeps(
    "is the mapped axis of one array",
    "where a piece of it has its batch axis",
    "without its mapped axis",
)
def test_mapped_axis_first(student):
    """The first axis is mapped, and the batch axis comes before or after it."""
    student.agrees(places, [[0, 0], [0, 1], [0, 2], [0, 3]])
    student.agrees(places, [[0, 1]])


@pytest.mark.meets("more_than_two", "axes", "twice")
@pytest.mark.keeps("is the mapped axis of one array")
def test_mapped_axis_anywhere(student):
    """Any axis is mapped, and the batch axis is anywhere."""
    student.agrees(places, [[axis, dim] for axis in range(1, 30) for dim in range(31)])
    student.agrees(places, [[2, 2]])


@pytest.mark.meets("none")
@pytest.mark.keeps("are returned unchanged")
def test_one_of_two_axes(student):
    """If there is no mapped axis, or no batch axis, the other one stays as it is."""
    student.agrees(places, [[None, 0], [None, 2], [0, None], [3, None], [None, None]])


@pytest.mark.meets("nested")
def test_batches_of_calls(student):
    """A batch of calls returns what each call returns."""
    for dim in range(4):
        student.agrees(batch_of_calls, BLOCK, 0, 1, dim)
        student.agrees(batch_of_calls, BLOCK, 2, 0, dim)


exercise("pmap.replica_program")  # a whole call

# The others have passed their tests by now, and mostly do not have to be put in place.


def test_on_a_device(student):
    """A call of pmap with one example returns the right results."""
    needs = siblings("pmap.psum_batch", "pmap.gather_batch", "pmap.gather_transpose", "pmap.jvp")
    text = "lambda x, y: (jnp.sin(x) + lax.psum(y, 'i'), y)"
    args = [GRID[:1], CUBE[:, :, :1]]
    student.agrees(on_one_device, needs, "lambda x, y: (x, y)", args, [0, 2], [1, 0])
    student.agrees(on_one_device, needs, text, [GRID[:1], ROW], [0, None], [1, None])


# Random programs ----------------------------------------------------------------------------------


@probe
def total(mj, f, in_axes, batch):
    """The sum of a program's results over two examples."""
    return mj.vmap(lambda *xs: mj.lax.psum(f(*xs), "i"), in_axes, axis_name="i")(*batch)


@probe
def on_a_device(mj, f, xs):
    """A program on one device, with one example."""
    return mj.pmap(f)(*[np.asarray(x)[None] for x in xs])


@probe
def slope_on_a_device(mj, f, xs, ts):
    """The derivative of a program on one device."""
    xs, ts = ([np.asarray(x)[None] for x in pair] for pair in (xs, ts))
    return mj.jvp(mj.pmap(f), xs, ts)


exercise("pmap.psum_batch")


def test_sums_of_programs(student):
    """The sum of a random program over all examples is right."""
    student.agrees_on_programs(total)


exercise("pmap.replica_program")


def test_random_programs(student):
    """A random program returns on a device what it returns without one."""
    student.agrees_on_programs(on_a_device, number=5)


exercise("pmap.jvp")


def test_slopes_of_programs(student):
    """The derivative of a random program on a device is right."""
    student.agrees_on_programs(slope_on_a_device, number=3)


exercise("pmap.whole")


@probe
def together(mj, f, in_axes, batch):
    """What the examples of a random program learn of each other, along one axis or two."""

    def each(*xs):
        out = mj.tree.leaves(f(*xs))[0]
        gathered = mj.lax.all_gather(out, "i"), mj.lax.all_gather(out, ("i"), axis=-1)
        return gathered, mj.lax.psum(out, "i"), out - mj.lax.pmean(out, "i")

    def grid(x):
        return mj.lax.psum(x, ("i", "j")), mj.lax.psum(x * 2.0, "i"), mj.lax.psum(2.0, ("j", "i"))

    inner = mj.vmap(mj.vmap(mj.vmap(grid), axis_name="j"), axis_name="i")
    ones = np.ones((1, 3))
    gathered, *sums = mj.vmap(each, in_axes, axis_name="i")(*batch)
    return {
        "what is gathered": gathered,
        "sums and differences from the mean": sums,
        "sums over two named axes": inner(np.arange(12.0).reshape(2, 3, 2)),
        "the derivative of a sum on a device": mj.jvp(
            mj.pmap(lambda x: mj.lax.psum(x, "i"), axis_name="i"), (ones,), (ones,)
        ),
    }


@probe
def gradients_together(mj, xs, tiled, axis):
    """Gradients, and slopes of these, of what each example makes of all others."""

    def f(x):
        everything = mj.lax.all_gather(x, "rows", axis=axis, tiled=tiled)
        share = x / mj.lax.psum(mj.numpy.exp(x), "rows")
        return (everything * everything).sum() * share.sum()

    mapped = mj.vmap(mj.grad(f), axis_name="rows")
    return {
        "the gradients": mapped(xs),
        "the derivatives of the gradients": mj.jvp(mapped, (xs,), (xs * 2.0,))[1],
    }


@probe
def mapped_on_a_device(mj, f, xs, ts):
    """A random program on a device: values, slopes, gradients, within jit and vmap."""
    k = np.array(2.0)

    def each(xs, w):
        out = mj.tree.leaves(f(*xs))[0]
        return {"out": out * w + k, "two": 2.0, "sum": mj.lax.psum(out, "i")}

    call = mj.pmap(each, "i", in_axes=(0, None), out_axes={"out": 0, "two": None, "sum": None})
    whole, steps = ([np.asarray(x)[None] for x in pair] for pair in (xs, ts))
    values, slopes = mj.jvp(lambda *xs: call(xs, 3.0), whole, steps)
    pairs = [np.stack([x, x * 2.0], 1) for x in whole]
    return {
        "the values": values,
        "the tangents": slopes,
        "the values within jit": mj.jit(lambda w: call(whole, w)["out"])(3.0),
        "the values within vmap": mj.vmap(lambda *xs: call(xs, 3.0)["out"], 1)(*pairs),
        "the gradient": mj.grad(lambda w: call(whole, w)["sum"].sum())(3.0),
    }


@probe
def calls_in_turn(mj, x):
    """Calls of one mapped function with other axes, types and lengths; and what is refused."""
    found, errors = [], []
    given = [(x[:1], 0, 0), (x[:, :1], 1, 0), (x[:, :1], 1, 1), (x[:1].astype("float32"), 0, 1)]
    for value, in_axes, out_axes in given:
        f = mj.pmap(lambda y, n: (y * n, n), in_axes=(in_axes, None), out_axes=(out_axes, None))
        found += [f(value, 3), f(value * 2.0, np.float32(2.0))]
        if value.dtype == "float64":
            found += mj.jvp(f, (value, 2.0), (value, 1.0))
        else:
            found += mj.jvp(lambda y, f=f: f(y, 3), (value,), (value,))
    wrong = [((x[:1], x[:0]), 0), ((x[:1], x[:1]), None), ((x[:0],), 0), ((2.0,), 0), ((x,), 5)]
    for args, in_axes in wrong:
        try:
            mj.pmap(lambda *ys: ys[0], in_axes=in_axes)(*args)
        except ValueError:
            errors.append("ValueError")
    open_jaxprs = [mj.make_jaxpr(f)(2.0).jaxpr for f in (lambda y: y * y, lambda y: y)]
    params = {"axis_name": "i", "axis_size": 1}
    parts = [  # each program is gone before the next one is made
        str(replica_program(ClosedJaxpr(jaxpr, []), (0,), (0,), **params))
        for jaxpr in open_jaxprs * 2
    ]
    return {
        "values and tangents of calls in turn": found,
        "the products in the programs for a device": [part.count(" mul ") for part in parts],
        "errors of calls that are wrong": errors,
    }


@probe
def closed_over(mj, x, y):
    """A mapped function that closes over a tracer outside, and fails once; and is mapped itself."""

    def f(x):
        def each(y):
            if fails:
                raise KeyError("mine")
            return x * y - mj.lax.psum(y, "i"), x

        return mj.pmap(each, "i", out_axes=(0, None))(y[None])

    fails = [True]
    try:
        mj.jvp(f, (x,), (x,))
    except KeyError:
        fails.clear()
    return {
        "values and tangents": mj.jvp(f, (x,), (y,)),
        "the values within jit": mj.jit(f)(x),
        "the gradient": mj.grad(lambda x: f(x)[0].sum())(x),
    }


def test_whole_together(student):
    """Examples of a random program learn what the others have, along each axis by its name."""
    student.agrees_on_programs(together, number=3, dtypes=["float64"])


@pytest.mark.parametrize(("tiled", "axis"), [(False, 0), (True, 0), (False, 1), (True, 1)])
def test_whole_gradients(student, tiled, axis):
    """The gradient of each example knows how the others depend on it."""
    student.agrees(gradients_together, CUBE[:, :2, :2], tiled, axis)
    student.agrees(gradients_together, CUBE[:, :2, :3].astype(F32), tiled, axis)


@pytest.mark.meets(nested="replica_program jvp")
def test_whole_programs(student):
    """A random program on a device: values, slopes and gradients are right."""
    student.agrees_on_programs(mapped_on_a_device, number=2, dtypes=["float64"])


@pytest.mark.meets(weak_type="jvp", again="jvp")
def test_whole_calls_in_turn(student):
    """Each call has its own axes, types and number of examples, and `vmap` maps over any axis."""
    student.agrees(calls_in_turn, GRID)
    student.agrees(batch_of_calls, CUBE, 0, 1, 2)


@pytest.mark.meets(
    another_box="replica_program jvp", closure="replica_program jvp", exception="replica_program"
)
def test_whole_closures(student):
    """A mapped function may close over what is outside, and an error leaves nothing behind."""
    student.agrees(closed_over, ROW, ROW * 2.0)
