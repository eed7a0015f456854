"""Hidden tests of the `control` lesson: choices and loops as operations with programs in them.

Every exercise is tested alone. Programs travel as text, and are traced in the worker. Where a
target binds `cond`, `while` or `scan`, the probe evaluates these by loops of Python meanwhile, so
that most tests compile nothing.
"""

import contextlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.suite import exercise, probe

if TYPE_CHECKING:  # imported by each probe that reads them
    from unittest.mock import patch

    from minijax import control_flow as module
    from minijax.control_flow import select_branches, settled, where_condition_holds
    from minijax.core import impl_rules, not_mapped
    from minijax.jaxpr import jaxpr_as_fun
    from minijax.jit import jit_p
    from minijax.programs import jvp_program, types_of
    from minijax.tracing import trace_to_jaxpr

F32 = np.float32
ROW = np.array([0.5, -2.0, 3.0])
OTHER = np.array([4.0, 1.5, -0.25])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])


THREE = ("lambda x, y: [x - y, x]", "lambda x, y: [y, x * y]", "lambda x, y: [sin(x) * y, y - x]")


def traced(mj, texts, examples):
    """The programs of functions, which travel as texts; a text that is there twice has one."""
    scope, types = {**vars(mj.lax), "np": np}, types_of(examples)
    programs = {text: trace_to_jaxpr(eval(text, scope), types) for text in dict.fromkeys(texts)}
    return tuple(programs[text] for text in texts)


def shown(avals):
    """Types as text."""
    return [aval.str_short() for aval in avals]


def take(index, *args, branches):
    """A choice, evaluated at once."""
    return jaxpr_as_fun(branches[int(index)])(*args)


exercise("control.cond_jvp")


@probe(uses=[traced, shown, take])
def moved(mj, branches, index, operands, tangents, known=None, repeat=False):
    """Values and tangents of a choice; how many operations the rule binds; what moves.

    All are tracers, unless the "index" or the "operands" are `known`. `repeat` takes the first
    operand for all.
    """
    programs = traced(mj, branches, operands)
    moving, kinds = [t for t in tangents if t is not None], []

    def f(index, *args):
        xs, given = args[: len(operands)], iter(args[len(operands) :])
        xs = xs[:1] * len(xs) if repeat else xs
        full = [None if t is None else next(given) for t in tangents]
        values, changes = module.cond_jvp([index, *xs], [None, *full], branches=programs)
        kinds.extend([len(values), [t is not None for t in changes]])
        return [*values, *(t for t in changes if t is not None)]

    args = [np.array(index, np.int32), *operands, *moving]
    hidden = {None: slice(0), "index": slice(1), "operands": slice(1, None)}[known]

    def partly(*xs):
        xs = list(xs)
        xs[hidden] = args[hidden]
        return f(*xs)

    closed = trace_to_jaxpr(partly, types_of(args))
    with patch.dict(impl_rules, {module.cond_p: take}):
        outs = jaxpr_as_fun(closed)(*args)
    names = [(eqn.primitive.name, len(eqn.params["branches"])) for eqn in closed.eqns]
    return {
        "the values and tangents": outs,
        "the types of the results": shown(closed.out_avals),
        "which results move": kinds,
        "the operations that are bound": names,
    }


@probe(uses=[traced, take])
def moved_at_once(mj, branches, index, operands, tangents):
    """Values and tangents of a choice whose index, operands and tangents are all known."""
    programs, bound = traced(mj, branches, operands), []

    def run(index, *args, branches):
        bound.append(len(branches))
        return take(index, *args, branches=branches)

    with patch.dict(impl_rules, {module.cond_p: run}):
        primals, tangents = [np.array(index, np.int32), *operands], [None, *tangents]
        values, changes = module.cond_jvp(primals, tangents, branches=programs)
        alone = [
            [None, *(t if i == k else None for i, t in enumerate(tangents[1:]))] for k in (0, 1)
        ]
        others = [module.cond_jvp(primals, ts, branches=programs)[1] for ts in alone]
    return {
        "values and tangents are two lists": type(values) is type(changes) is list,
        "the values": [np.asarray(x) for x in values],
        "the tangents": [t if t is None else np.asarray(t) for t in changes],
        "the tangents if one operand moves": others,
        "the numbers of branches of the choices that are bound": bound,
    }


SMOOTH = ("lambda x, y: [x * y, y]", "lambda x, y: [sin(x), x - y]", "lambda x, y: [y - x, x]")
PARTLY = ("lambda x, y: [x, y, y * 2.0]", "lambda x, y: [y, y - 1.0, y]")
COUNTS = ("lambda n, x: [n + 1, x * 2.0]", "lambda n, x: [n * 2, x - 5.0]")
CAPTURED = (
    "lambda x: [x * np.array([2.0, 3.0, 5.0]), np.array([1.0, 2.0, 3.0])]",
    "lambda x: [np.array([7.0, 8.0, 9.0]), x - np.array([0.5, 0.25, 4.0])]",
)


@pytest.mark.meets("nested", "again")
@pytest.mark.keeps("results of a choice", "maybe a tracer", "as many branches")
def test_jvp_of_choice(student):
    """Values and tangents are those of the branch that the index names."""
    student.agrees(moved, SMOOTH, 0, [ROW, OTHER], [OTHER, ROW * 3.0])
    student.agrees(moved, SMOOTH, 1, [0.5, 2.0], [1.0, 10.0])
    student.agrees(moved, SMOOTH, 2, [ROW, OTHER], [OTHER, ROW * 3.0])
    student.agrees(moved, SMOOTH, 1, [GRID, GRID * 2.0], [GRID + 1.0, GRID])
    student.agrees(moved_at_once, SMOOTH, 1, [ROW, OTHER], [OTHER, ROW])
    student.agrees(moved, SMOOTH, 1, [ROW, ROW], [OTHER, ROW], None, True)
    student.agrees(moved, SMOOTH, 0, [ROW, ROW], [OTHER, None], None, True)


@pytest.mark.meets("order", "none")
@pytest.mark.keeps("move in no branch")
def test_jvp_operands_that_stay(student):
    """An operand that stays, as integers do, has no tangent; nor has what depends on it alone."""
    student.agrees(moved, PARTLY, 0, [ROW, OTHER], [GRID[0], None])
    student.agrees(moved, SMOOTH, 2, [0.5, 2.0], [None, 1.0])
    student.agrees(moved, SMOOTH, 1, [0.5, 2.0], [None, None])
    student.agrees(moved, COUNTS, 1, [3, 2.0], [None, 1.0])
    student.agrees(moved, COUNTS, 0, [np.array([3, 4]), ROW], [None, OTHER])


@pytest.mark.meets("twice", "zeros")
@pytest.mark.keeps("results of a choice")
def test_jvp_branches_agree(student):
    """A result that moves in one branch has a tangent in all: zeros where it stays."""
    student.agrees(moved, PARTLY, 1, [ROW, OTHER], [GRID[0], None])
    student.agrees(moved, CAPTURED, 0, [ROW], [OTHER])
    student.agrees(moved_at_once, SMOOTH, 0, [ROW, OTHER], [np.zeros(3), None])
    student.agrees(moved_at_once, SMOOTH, 2, [0.5, 2.0], [0.0, -0.0])
    half, empty = np.zeros(2, "float16"), np.zeros((0, 2))
    kinds = "lambda x, y, b: [x, y, b]", "lambda x, y, b: [x * 2.0, y * 3.0, b]"
    student.agrees(moved_at_once, kinds, 1, [half, empty, True], [half, empty, None])
    student.agrees(moved_at_once, kinds, 0, [F32(2), half, 1], [F32(0), half, None])


OF_Y = ("[y, 2.0 * y]", "[y - 2.0, y + 1.0]", "[y * 3.0, y]")
LAST = tuple(f"lambda x, y: {results}" for results in (*OF_Y, "[x, y - 1.0]"))
STILL = ("lambda x: [x > 1.0, 2.0]", "lambda x: [x < 1.0, 3.0]", "lambda x: [x < 2.0, 4.0]")


@pytest.mark.meets("more_than_two", "some_results")
@pytest.mark.keeps("move in no branch", "as many branches")
def test_jvp_any_branch_decides(student):
    """Any of the branches may be the one in which a result moves; perhaps it moves in none."""
    for first in range(4):
        branches = (*LAST[first:], *LAST[:first])
        student.agrees(moved, branches, first, [0.5, 2.0], [10.0, None])
    student.agrees(moved_at_once, LAST[1:], 0, [0.5, 2.0], [10.0, None])
    student.agrees(moved, STILL, 2, [ROW], [OTHER])
    student.agrees(moved, STILL[::-1], 0, [0.5], [1.0])
    student.agrees(moved_at_once, ("lambda x: [2.0]", "lambda x: [3.0]"), 1, [ROW], [OTHER])
    half = "lambda x, y: [x, 2.0]", "lambda x, y: [y, 3.0]"
    student.agrees(moved, half, 1, [0.5, 2.0], [1.0, 10.0])
    student.agrees(moved, SMOOTH[:2] + SMOOTH[:1], 2, [0.5, 2.0], [1.0, None])
    student.agrees(moved_at_once, ("lambda: [2.0, True]", "lambda: [3.0, False]"), 1, [], [])
    student.agrees(moved, ("lambda x: []",) * 2, 1, [ROW], [OTHER])


@pytest.mark.meets("sizes", "again")
@pytest.mark.keeps("as many branches")
def test_jvp_of_one_branch(student):
    """One branch is a choice, too; the index, or all operands, may be known while it is traced."""
    student.agrees(moved, SMOOTH[:1], 0, [ROW, OTHER], [OTHER, ROW])
    student.agrees(moved, ("lambda x: [x * 3.0, 2.0]",), 0, [ROW], [OTHER])
    student.agrees(moved, SMOOTH, 1, [ROW, OTHER], [OTHER, None], "index")
    student.agrees(moved, SMOOTH, 1, [ROW, OTHER], [OTHER, None], "operands")


@pytest.mark.meets("closure")
def test_jvp_of_captured_arrays(student):
    """Arrays that a branch has captured are in the new branches."""
    student.agrees(moved, CAPTURED, 1, [ROW], [OTHER])
    student.agrees(moved, CAPTURED[::-1], 1, [OTHER], [ROW])


exercise("control.select")


@probe(uses=[traced])
def each_its_own(mj, branches, indices, operands, axes, examples):
    """The results for a batch, and their batch axes; None is the axis of what is not mapped."""
    dims = [not_mapped if axis is None else axis for axis in axes]
    programs, indices = traced(mj, branches, examples), np.array(indices, np.int32)
    outs, out_dims = select_branches(len(indices), indices, operands, dims, programs)
    return {
        "results and batch axes are two lists": type(outs) is type(out_dims) is list,
        "the results": [np.asarray(out) for out in outs],
        "the batch axes": [dim if dim == 0 else "other" for dim in out_dims],
    }


@probe(uses=[traced])
def within_a_program(mj, branches, indices, operands, examples):
    """The names of the equations, if all is traced and if the indices are known; the results."""
    programs, indices = traced(mj, branches, examples), np.array(indices, np.int32)

    def f(indices, *args):
        dims = [0] * len(operands)
        return select_branches(len(operands[0]), indices, args, dims, programs)[0]

    closed = trace_to_jaxpr(f, types_of([indices, *operands]))
    known = trace_to_jaxpr(lambda *args: f(indices, *args), types_of(operands))
    chosen_later = trace_to_jaxpr(lambda indices: f(indices, *operands), types_of([indices]))
    bound = [[eqn.primitive.name for eqn in program.eqns] for program in (closed, known)]
    counted = "sin", "exp", "log", "cond", "while", "scan"
    return {
        **{
            f"how often each operation is in the program, if {what}": {
                name: names.count(name) for name in counted
            }
            for what, names in zip(("all is traced", "the indices are known"), bound, strict=True)
        },
        "the results": jaxpr_as_fun(closed)(indices, *operands),
        "the results if the indices alone are traced": jaxpr_as_fun(chosen_later)(indices),
    }


@probe(uses=[traced])
def pulled_back(mj, branches, indices, xs, ct, axes=None):
    """Values of a choice for each example, and the cotangents of the operands.

    `axes` are the operands' batch axes, None for an operand that all examples share.
    """
    dims = [not_mapped if axis is None else axis for axis in axes or [0] * len(xs)]
    examples = [
        x if dim is not_mapped else np.take(x, 0, dim) for x, dim in zip(xs, dims, strict=True)
    ]
    programs, indices = traced(mj, branches, examples), np.array(indices, np.int32)

    def pulled(indices, *xs):
        f = lambda *xs: select_branches(len(ct), indices, xs, dims, programs)[0][-1]  # noqa: E731
        value, back = mj.vjp(f, *xs)
        return [value, *back(ct)]

    program = trace_to_jaxpr(pulled, types_of([indices, *xs]))
    values, *cotangents = pulled(indices, *xs)
    return {
        "the values": values,
        "the cotangents of the operands": cotangents,
        "values and cotangents if the indices are traced": jaxpr_as_fun(program)(indices, *xs),
    }


@pytest.mark.meets("order", "more_than_two")
@pytest.mark.keeps("their own branches")
def test_select_own_branch(student):
    """Each example has the results of its own branch; the first does not speak for the others."""
    for indices in ([2, 0, 1], [1, 2, 2]):
        student.agrees(each_its_own, THREE, indices, [ROW, OTHER], [0, 0], [0.0, 0.0])
    student.agrees(each_its_own, (*THREE[:2], THREE[0]), [2, 1, 0], [ROW, OTHER], [0, 0], [0.0] * 2)
    for indices in ([0, 1, 0], [1, 0, 0]):
        student.agrees(each_its_own, THREE[:2], indices, [ROW, OTHER], [0, 0], [0.0, 0.0])


@pytest.mark.meets("sizes")
@pytest.mark.keeps("has shape (axis_size,)")
def test_select_sizes(student):
    """There may be one branch, one example or none, no operands, or no results."""
    one = ("lambda x, y: [x - y, y, 2.5]",)
    student.agrees(each_its_own, one, [0, 0, 0], [ROW, OTHER], [0, None], [0.0, OTHER])
    student.agrees(each_its_own, THREE, [2], [ROW[:1], OTHER[:1]], [0, 0], [0.0, 0.0])
    numbers = "lambda: [1.0, np.array([2, 3])]", "lambda: [4.0, np.array([5, 6])]"
    student.agrees(each_its_own, numbers, [1, 0, 1], [], [], [])
    student.agrees(each_its_own, ("lambda x: []",) * 2, [1, 0, 1], [ROW], [0], [0.0])
    student.agrees(each_its_own, THREE, [], [ROW[:0], OTHER[:0]], [0, 0], [0.0, 0.0])


@pytest.mark.meets("axes")
@pytest.mark.keeps("axes, or `not_mapped`")
def test_select_axes(student):
    """Operands have their batch axes anywhere, or nowhere; those of the results are leading."""
    two = ("lambda x, y: [x - y, y]", "lambda x, y: [y * x, y + x]")
    student.agrees(each_its_own, two, [1, 0, 1], [GRID, OTHER[:2]], [1, None], [ROW[:2], ROW[:2]])
    student.agrees(each_its_own, two, [0, 1], [2.0, GRID], [None, 0], [2.0, ROW])
    student.agrees(each_its_own, two, [1, 0, 1], [2.0, 5.0], [None, None], [2.0, 5.0])


@pytest.mark.meets("twice", "some_results")
@pytest.mark.keeps("their own branches")
def test_select_results_without_axis(student):
    """A result that is the same for all examples of a branch is selected."""
    two = ("lambda x, y: [y, x, 7.0]", "lambda x, y: [y * 2.0, x + 1.0, 5.0]")
    student.agrees(each_its_own, two, [1, 0, 1], [ROW, 4.0], [0, None], [0.0, 0.0])
    student.agrees(each_its_own, two, [0, 1], [GRID, ROW], [0, None], [ROW, ROW])


def test_select_arrays(student):
    """Examples may be matrices, integers or booleans."""
    two = ("lambda x, n: [x * 2.0, n, x > 1.0]", "lambda x, n: [sin(x), n + 5, x < 0.0]")
    cube, counts = np.arange(12.0).reshape(2, 3, 2) - 4.0, np.array([[3, 4, 5], [6, 7, 8]])
    student.agrees(each_its_own, two, [1, 0], [cube, counts], [0, 0], [cube[0], counts[0]])
    last = np.moveaxis(cube, 0, 2)
    student.agrees(each_its_own, two, [0, 1], [last, counts.T], [2, 1], [cube[0], counts[0]])


@pytest.mark.meets("another_box", "nested")
@pytest.mark.keeps("maybe a tracer", "computed once")
def test_select_traced(student):
    """The branches of the examples may be unknown: every branch is in the program once."""
    two = ("lambda x: [sin(x)]", "lambda x: [exp(x) * 2.0]")
    student.agrees(within_a_program, two, [1, 0, 1], [ROW], [0.0])
    student.agrees(within_a_program, two, [1, 1, 1], [ROW], [0.0])
    student.agrees(within_a_program, two, [0, 0, 1, 1], [np.ones((4, 2))], [ROW[:2]])
    several = (
        "lambda x: [sin(x), x, exp(x)]",
        "lambda x: [x, log(x), x * 2.0]",
        "lambda x: [x, x, exp(x)]",
    )
    student.agrees(within_a_program, several, [1, 0, 2], [OTHER + 1.0], [0.0])
    student.agrees(within_a_program, several[:2], [1, 0], [GRID + 4.0], [ROW])


@pytest.mark.meets("extremes", "float32")
@pytest.mark.keeps("others are infinite")
def test_select_gradients(student):
    """What happens in a branch that is not chosen does not spoil the gradient."""
    two = ("lambda x: [x * 3.0]", "lambda x: [log(x)]")
    x, ct = np.array([0.0, 2.0, 0.0, 4.0]), np.array([1.0, 10.0, 100.0, 1000.0])
    student.agrees(pulled_back, two, [0], [x[:1]], ct[:1])
    for dtype in ("float64", "float32", "float16"):
        student.agrees(pulled_back, two, [0, 1, 0, 0], [x.astype(dtype)], ct.astype(dtype))


@pytest.mark.meets("more_than_two", "extremes")
@pytest.mark.keeps("others are infinite")
def test_select_gradients_of_each_operand(student):
    """No branch that is not chosen spoils the gradient of any operand, be it a row or a number."""
    two = ("lambda x: [div(x, x * x)]", "lambda x: [x * 3.0]")
    student.agrees(pulled_back, two * 2, [1, 2, 3], [np.array([0.0, 2.0, 0.0])], ROW)
    cube = np.array([[[1.0, 2.0]], [[0.0, 4.0]]])
    student.agrees(pulled_back, two, [0, 1], [cube], cube + 1.0)
    student.agrees(pulled_back, two, [1, 0], [np.array([[0.0, 2.0], [0.0, 4.0]])], GRID[:, 1:], [1])
    operands = "lambda x, y, z: "
    three = [operands + x for x in ("[x, x * y * z]", "[y, div(x, y)]", "[z, y * log(z)]")]
    xs = [ROW, np.array([0.0, 2.0, 4.0]), np.array([3.0, 0.0, 5.0])]
    student.agrees(pulled_back, three, [0, 1, 2], xs, OTHER)
    student.agrees(pulled_back, three, [0, 0, 1], xs, OTHER)


@pytest.mark.keeps("others are infinite")
def test_select_gradients_of_shared_operands(student):
    """An operand that all examples share has the gradients of the branches that are chosen."""
    two = ("lambda w, x: [w * 3.0]", "lambda w, x: [div(w, x)]")
    student.agrees(pulled_back, two, [0, 1, 1], [6.0, np.array([0.0, 2.0, 4.0])], ROW, [None, 0])
    alone = ("lambda w: [w * 3.0]", "lambda w: [log(w)]")
    student.agrees(pulled_back, alone, [0, 0], [0.0], ROW[:2], [None])
    row = np.array([[0.0, 4.0], [2.0, 0.5]])
    student.agrees(pulled_back, two, [0, 1], [ROW[:2], row], row + 1.0, [None, 0])


exercise("control.settled")


@probe
def fixed_point(mj, carry, sources, further=()):
    """The three results, and the marks for which the step was transformed.

    A value of the carry is marked after a step if one of its sources is, or always, without any.
    """
    calls = []

    def transform(marks):
        calls.append(list(marks))
        if len(calls) > 30:
            raise RuntimeError("transformed too often")
        out = [own is None or any(marks[i] for i in own) for own in (*sources, *further)]
        return " and ".join(f"value {i} moves" for i, mark in enumerate(marks) if mark), tuple(out)

    step, marks, others = settled(transform, carry)
    return {
        "the step that is returned": step,
        "how many marks there are, of the carry and of other results": [len(marks), len(others)],
        "a value of the carry is marked": marks,
        "another result is marked": others,
        "transform is called twice for the same marks": any(calls.count(x) > 1 for x in calls),
    }


@probe(uses=[traced, shown])
def derivative_of_step(mj, step, types, carry):
    """The same for the derivative of a step: which inputs and results it has in the end."""
    (body,) = traced(mj, [step], types)
    more = (False,) * (len(types) - len(carry))
    program, marks, others = settled(
        lambda marks: jvp_program(body, (*marks, *more), marks), tuple(carry)
    )
    return {
        "a value of the carry is marked": marks,
        "another result is marked": others,
        "the types of the program's inputs": shown(program.in_avals),
        "the types of the program's results": shown(program.out_avals),
    }


CHAIN = ((0,), (0, 1), (1, 2), (2, 3))


@pytest.mark.keeps("any object", "the fewest", "at most once")
def test_settled_at_once(student):
    """Marks that come out as they went in are the answer, after one transformation."""
    student.agrees(fixed_point, (True, False), [(0,), (1,)], [(0,), (1,)])
    student.agrees(fixed_point, (False, False), [(0,), (1,)], [None, (1,)])
    student.agrees(fixed_point, (False, False, False), CHAIN[:3], [(0,)])


@pytest.mark.meets("order", "twice")
@pytest.mark.keeps("first the carry's", "marks of its other")
def test_settled_later(student):
    """A value that is marked after a step is marked before the one that comes back."""
    student.agrees(fixed_point, (True, False), [(0,), (0, 1)])
    student.agrees(fixed_point, (False, True, False), [(0, 1), (1,), (2,)], [(2,), (0,)])
    student.agrees(fixed_point, (False, False, True), [(0, 1), (1, 2), (2,)], [(0,), (2,), (0,)])
    student.agrees(fixed_point, (True, False, False), CHAIN[:3], [(2,), (1,)])


@pytest.mark.meets("more_than_two", "again")
@pytest.mark.keeps("the fewest", "at most once")
def test_settled_in_several_rounds(student):
    """Marks may need several rounds to reach the last value of the carry."""
    student.agrees(fixed_point, (True, False, False, False), CHAIN, [(3,), ()])
    student.agrees(fixed_point, (False, True, False, False), CHAIN, [(0,), (3,)])
    student.agrees(fixed_point, (False,) * 4, [None, *CHAIN[1:]], [(3,), None])
    student.agrees(fixed_point, (False,), [None], [(0,)])
    student.agrees(fixed_point, (False, False), [None, (1,)])
    long = [(0,), *((i, i + 1) for i in range(19)), (20,)]
    student.agrees(fixed_point, (True, *(False,) * 20), long, [(19,), (20,), (19,)])


@pytest.mark.meets("sizes", "some_results")
@pytest.mark.keeps("marks of its other")
def test_settled_without_carry(student):
    """There may be no carry at all, nothing besides, or more than the carry."""
    student.agrees(fixed_point, (), [], [(), ()])
    student.agrees(fixed_point, (True,), [(0,)])
    student.agrees(fixed_point, (True, False), [(0,), (0, 1)], [(), (0,), (1,), (0,)])


@pytest.mark.meets("nested")
@pytest.mark.keeps("first the carry's")
def test_settled_derivatives(student):
    """The derivative of a step takes and returns the tangents of the same values."""
    late = "lambda a, b, c, n: [a, b + a, sin(c) + b, n + 1, c, n]"
    student.agrees(derivative_of_step, late, [1.0, 2.0, 3.0, 4], [True, False, False, False])
    student.agrees(derivative_of_step, late, [ROW, ROW, ROW, 4], [False, True, False, False])


exercise("control.finished")


@probe(uses=[traced, shown])
def after_steps(mj, condition, body, cond_consts, consts, carry, steps=1):
    """The carry after so many steps; types; how often each operation is in the program."""
    (asked,) = traced(mj, [condition], [*cond_consts, *carry])
    (done,) = traced(mj, [body], [*consts, *carry])
    step = where_condition_holds(done, asked, len(consts))
    again = where_condition_holds(done, asked, len(consts)) is step
    for _ in range(steps):
        carry = jaxpr_as_fun(step)(*cond_consts, *consts, *carry)
    names = [eqn.primitive.name for eqn in step.eqns]
    counts = {
        name: names.count(name) for name in ("sin", "exp", "log", "lt", "gt", "while", "cond")
    }
    return {
        "the carry": list(carry),
        "the types of the step's inputs": shown(step.in_avals),
        "how often each operation is in the program": counts,
        "the carry of a second run": again,
    }


@probe(uses=[traced])
def moved_by_step(mj, condition, body, sizes, args, tangents):
    """The derivative of a step in which some examples are done; the numbers of constants."""
    asked_consts, rest, carry = args[: sizes[0]], args[sizes[0] :], args[sum(sizes) :]
    (asked,) = traced(mj, [condition], [*asked_consts, *carry])
    (done,) = traced(mj, [body], rest)
    step = jaxpr_as_fun(where_condition_holds(done, asked, sizes[1]))
    return {"the carry and its tangents": mj.jvp(step, tuple(args), tuple(tangents))}


SMALL = "lambda x: [lt(x, np.array([8.0, 8.0, 8.0]))]"
TWO_OF_EACH = (
    "lambda low, high, x, n: [gt(high - x, low)]",
    "lambda k, m, x, n: [sin(x) * k - m, n + 1]",
    [np.array([1.0, 2.0, 3.0]), np.array([9.0, 8.0, 7.0])],
    [np.array([2.0, 3.0, 4.0]), np.array([0.5, 0.25, 0.125])],
    [np.array([3.0, 7.5, 1.0]), np.array([10, 20, 30])],
)


@pytest.mark.keeps("a boolean for each example", "never change", "as it would alone")
def test_finished_keep_their_carry(student):
    """An example whose carry does not meet the condition before a step keeps it in that step."""
    for body, carry in [
        ("lambda x: [x * 2.0]", [3.0, 9.0, 8.0]),
        ("lambda x: [x - 1.0]", [30.0, 7.0, 9.0]),
        ("lambda x: [x * 10.0]", [1.0, 0.5, 20.0]),
        ("lambda x: [x - 9.0]", [12.0, 7.0, 8.5]),
    ]:
        student.agrees(after_steps, SMALL, body, [], [], [np.array(carry)])


@pytest.mark.meets("again")
@pytest.mark.keeps("as it would alone")
def test_finished_for_good(student):
    """After several steps, each example has the values with which it was done."""
    carry = [np.array([1.0, 3.0, 5.0])]
    student.agrees(after_steps, SMALL, "lambda x: [x * 2.0]", [], [], carry, 5)
    student.agrees(after_steps, SMALL, "lambda x: [x + exp(x)]", [], [], [ROW], 4)


@pytest.mark.meets("order", "keys", "sizes")
@pytest.mark.keeps("of the two programs once")
def test_finished_with_constants(student):
    """Constants of the condition, any number, come first, then the body's, and then the carry."""
    student.agrees(after_steps, *TWO_OF_EACH)
    student.agrees(after_steps, *TWO_OF_EACH, 3)
    limit, k = np.array([4.0, 4.0, 2.0]), np.array([2.0, 3.0, 5.0])
    once, more = "lambda limit, x: [x < limit]", "lambda x: [x + exp(x)]"
    student.agrees(after_steps, once, more, [limit], [], [ROW], 3)
    student.agrees(after_steps, once, more, [2.5], [], [ROW], 2)
    student.agrees(after_steps, SMALL, "lambda k, m, x: [k - m * sin(x)]", [], [k, limit], [ROW], 2)
    student.agrees(after_steps, once, more, [limit[:1]], [], [ROW[:1]], 3)
    student.agrees(after_steps, once, more, [2.5], [], [ROW[:0]])


@pytest.mark.meets("twice")
@pytest.mark.keeps("as it would alone")
def test_finished_given(student):
    """A step may exchange values, repeat them and return arrays; a condition may look at none."""
    body = "lambda a, b, c, d: [b, a, b, np.array([1.0, 2.0, 3.0])]"
    carry = [ROW, OTHER, np.array([np.nan, 7.0, np.nan]), OTHER]
    student.agrees(after_steps, "lambda a, b, c, d: [a < b]", body, [], [], carry, 2)
    mine = [np.array([True, False, True])]
    student.agrees(after_steps, "lambda mine, a, b, c, d: [mine]", body, mine, [], carry)
    student.agrees(after_steps, SMALL, "lambda x: [log(x)]", [], [], [ROW], 2)


@pytest.mark.meets("float32", "more_than_two", "extremes")
@pytest.mark.keeps("a boolean for each example", "never change")
def test_finished_in_every_dtype(student):
    """An example that is done keeps all of its carry: matrices, booleans, integers, infinities."""
    once, body = (
        "lambda x, b, n, y: [x < 8.0]",
        "lambda x, b, n, y: [x * 2.0, x > 7.0, n + 1, log(y)]",
    )
    first = np.array([1.0, 6.0, 9.0])
    square = np.diag(np.array([1.0, 1.0, 2.0], "float16"))
    others = [np.array([True] * 3), np.array([1, 2, 2**53 + 1]), square]
    student.agrees(after_steps, once, body, [], [], [first, *others])
    student.agrees(after_steps, once, body, [], [], [first.astype(F32), *others], 4)
    carry = [np.arange(12.0).reshape(2, 3, 2), np.array([True, True]), np.array([7, 5], np.int8)]
    body = "lambda x, b, n: [x - 1.0, b & (n > 6), n - 1]"
    student.agrees(after_steps, "lambda x, b, n: [b]", body, [], [], carry)
    student.agrees(after_steps, "lambda x, b, n: [b]", body, [], [], carry, 3)


@pytest.mark.meets("extremes")
@pytest.mark.keeps("never change")
def test_finished_tangents(student):
    """An example that is done keeps its tangent, even if the body's derivative is infinite."""
    once, body = "lambda x, y: [x < 3.0]", "lambda k, m, x, y: [x * y * k, log(y) * m]"
    args = [OTHER, ROW, ROW, np.array([2.0, 4.0, 0.0])]
    for dtype in ("float64", "float32", "float16"):
        xs = [x.astype(dtype) for x in args]
        student.agrees(moved_by_step, once, body, (0, 2), xs, [xs[0], xs[1], xs[3], xs[2]])
    student.agrees(
        moved_by_step, "lambda x: [x < 3.0]", "lambda x: [log(3.0 - x)]", (0, 0), [ROW], [OTHER]
    )
    once = "lambda limit, x, y, z: [x < limit]"
    body = "lambda k, x, y, z: [x * z * k, y * div(y, y), z * x]"
    matrix = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])
    args, tangents = [3.0, 2.0, ROW, matrix, OTHER], [1.0, 5.0, OTHER, matrix + 5.0, ROW]
    student.agrees(moved_by_step, once, body, (1, 1), args, tangents)


exercise("control.scan_steps")


def scan_of(mj, body, sizes, args, length, reverse):
    """A scan; `sizes` are the numbers of constants and of the carry."""
    rows = [np.zeros(np.shape(x)[1:], x.dtype) for x in args[sum(sizes) :]]
    (jaxpr,) = traced(mj, [body], [*args[: sum(sizes)], *rows])
    return module.Scan(jaxpr, length, sizes[1], sizes[0], reverse, 2)


@probe(uses=[scan_of])
def scanned(mj, body, sizes, args, length, reverse=False):
    """The last carry and the ys."""
    loop, steps = scan_of(mj, body, sizes, args, length, reverse), []

    def run(*xs, cond_nconsts, cond_jaxpr, body_nconsts, body_jaxpr):
        asked, xs = xs[:cond_nconsts], xs[cond_nconsts:]
        consts, carry = xs[:body_nconsts], xs[body_nconsts:]
        steps.append(length)
        for _ in range(length + 5):
            if not jaxpr_as_fun(cond_jaxpr)(*asked, *carry)[0]:
                break
            carry = jaxpr_as_fun(body_jaxpr)(*consts, *carry)
        return list(carry)

    with patch.dict(impl_rules, {module.while_p: run}):
        outs = module.scan_by_while(loop, args)
        return {
            "the number of values that are returned": len(outs),
            "the last carry": outs[: sizes[1]],
            "the rows of ys": outs[sizes[1] :],
            "the number of loops that are run": len(steps),
        }


@probe(uses=[scan_of, shown])
def loops_in(mj, body, sizes, args, length, reverse=False):
    """How many loops and other operations there are in the program for a scan."""
    loop = scan_of(mj, body, sizes, args, length, reverse)
    closed = trace_to_jaxpr(lambda *xs: module.scan_by_while(loop, xs), types_of(args))
    names = [eqn.primitive.name for eqn in closed.eqns]
    whiles = [eqn for eqn in closed.eqns if eqn.primitive.name == "while"]
    bodies = [eqn.params["body_jaxpr"] for eqn in whiles]
    inner = [eqn.primitive.name for body in bodies for eqn in body.eqns]
    integers = [x.dtype for body in bodies for x in body.out_avals if x.dtype.kind in "iu"]
    counted = {name: [names.count(name), inner.count(name)] for name in ("sin", "while", "scan")}
    return {
        "how many loops and other operations the program has": counted,
        "all integers of the loop can count its steps": all(
            np.iinfo(dtype).max >= length for dtype in integers
        ),
        "the types of the results": shown(closed.out_avals),
    }


SUMS = "lambda c, x: [c + x, c * x]"
FULL = "lambda k, m, a, b, x, y: [a * k + x, b - y * m, a - b, x * y, k * x]"
FULL_ARGS = [2.0, 0.5, 1.0, np.array([3.0, 5.0]), ROW, np.arange(6.0).reshape(3, 2)]


@pytest.mark.meets("again")
@pytest.mark.keeps("in one list", "row that the step reads")
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_carry_and_ys(student, reverse):
    """The last carry comes first, then the ys, each at the place of its row, reversed or not."""
    student.agrees(scanned, SUMS, (0, 1), [1.0, ROW], 3, reverse)
    student.agrees(scanned, SUMS, (0, 1), [GRID, np.arange(12.0).reshape(2, 2, 3)], 2, reverse)
    student.agrees(scanned, "lambda c, x: [c * 2.0 + x]", (0, 1), [1.0, ROW], 3, reverse)
    student.agrees(scanned, "lambda c: [c * 3.0, c]", (0, 1), [2.0], 4, reverse)  # without rows


@pytest.mark.meets("order", "more_than_two")
@pytest.mark.keeps("in one list", "row that the step reads")
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_of_several(student, reverse):
    """Several constants, carries, arrays of rows and ys keep their order."""
    student.agrees(scanned, FULL, (2, 2), FULL_ARGS, 3, reverse)
    student.agrees(scanned, FULL, (2, 2), [3.0, *FULL_ARGS[1:]], 3, reverse)


@pytest.mark.meets("sizes")
@pytest.mark.keeps("has no loop")
def test_scan_of_no_steps(student):
    """Without steps, the carry is the first one, and the ys have no rows."""
    student.agrees(scanned, SUMS, (0, 1), [4.0, np.zeros(0)], 0)
    student.agrees(scanned, SUMS, (0, 1), [np.array([1.0, 2.0]), np.zeros((0, 2))], 0, True)
    student.agrees(loops_in, SUMS, (0, 1), [4.0, np.zeros(0)], 0)
    student.agrees(loops_in, "lambda c: [c * 2.0, c]", (0, 1), [4.0], 0)
    student.agrees(loops_in, "lambda c: [c * 2.0]", (0, 1), [4.0], 0)
    student.agrees(scanned, "lambda c: [c * 2.0]", (0, 1), [4.0], 0)
    student.agrees(loops_in, "lambda x: [x * 2.0]", (0, 0), [ROW[:0]], 0)
    kinds = "lambda k, c, x, n: [c + x, n > k, n + k, c * x, np.array([True, False])]"
    args = [3, F32(2.0), np.zeros(0, F32), np.zeros(0, int)]
    student.agrees(scanned, kinds, (1, 1), args, 0)
    student.agrees(loops_in, kinds, (1, 1), args, 0)


@pytest.mark.meets("float32", "keys", "sizes")
def test_scan_of_parts(student):
    """There may be one step, no carry, no ys, no rows, any dtypes, and arrays in the body."""
    student.agrees(scanned, SUMS, (0, 1), [np.array(3, np.int32), np.array([5], np.int32)], 1)
    kinds = "lambda b, n: [b & (n > 1), n < 3, n * 2]"
    student.agrees(scanned, kinds, (0, 1), [True, np.arange(4)], 4, True)
    student.agrees(scanned, "lambda c: [c * np.array([2.0, 3.0])]", (0, 1), [ROW[:2]], 2)
    student.agrees(scanned, "lambda k, x: [x * k]", (1, 0), [5.0, ROW], 3)
    student.agrees(scanned, "lambda k: [k * 2.0]", (1, 0), [5.0], 3)
    student.agrees(scanned, "lambda a, b: [b, a + b, a]", (0, 2), [0.0, 1.0], 6)


@pytest.mark.meets("twice")
@pytest.mark.keeps("row that the step reads")
def test_scan_given(student):
    """A step may return what it was given, twice, and constants; rows may be empty."""
    same = "lambda c, x: [c, x, x, 2.5, c]"
    student.agrees(scanned, same, (0, 1), [2.0, ROW], 3, True)
    student.agrees(scanned, same, (0, 1), [np.zeros((0, 2)), np.zeros((3, 0))], 3)


@pytest.mark.keeps("computed by one loop", "in the program once", "a million steps")
def test_scan_is_one_loop(student):
    """However many steps there are, the program is one loop, and the body is in it once."""
    student.agrees(loops_in, "lambda c, x: [sin(c) + x, c]", (0, 1), [1.0, ROW], 3)
    student.agrees(loops_in, "lambda k, c, x: [sin(c) + x * k]", (1, 1), [2.0, 1.0, ROW[:2]], 2)
    for length in (1, 5, 100):
        rows = np.arange(float(length))
        student.agrees(loops_in, "lambda c, x: [sin(c) + x, c]", (0, 1), [1.0, rows], length, True)
        student.agrees(loops_in, "lambda c: [sin(c)]", (0, 1), [1.0], length)
        student.agrees(loops_in, "lambda x: [sin(x)]", (0, 0), [rows], length)
    student.agrees(loops_in, "lambda c: [sin(c), c]", (0, 1), [1.0], 1_000_000, True)


exercise("control.scan_transpose")


@probe(uses=[traced, shown])
def backwards(mj, rest, types, sizes, given, reverse=False, length=3, unknown=False):
    """Cotangents of linear constants, carry and rows; how many steps each scan had.

    `sizes`: numbers of residuals that are the same, linear constants, carry, stacks. `given`:
    values of these residuals, of the stacks, and cotangents (None for zero; tracers if `unknown`).
    """
    num_same, num_consts, num_carry, num_stacks = sizes
    avals, steps = types_of(types), []
    (program,) = traced(mj, [rest], types)
    carry = (False, *(True,) * num_carry, False)  # others are carried along that are not linear
    marks = carry, (True,) * len(program.out_avals), (True,) * num_stacks
    split = module.SplitScan(program, program, program, *marks)
    # Residuals may be fewer, or more, than the known constants: of these the loop has seven more.
    loop = module.Scan(program, length, len(carry), num_same + num_consts + 7, reverse, 1)

    def run(*xs, jaxpr, length, num_carry, num_consts, reverse, unroll):
        consts, carry, rows = module.groups(xs, num_consts, num_carry)
        steps.append(length)
        outs = {}
        if any(np.shape(x)[0] != length for x in rows):
            raise TypeError("the arrays must have a row for each step")
        first = [np.zeros(np.shape(x)[1:], np.asarray(x).dtype) for x in rows]
        if shown(types_of([*consts, *carry, *first])) != shown(jaxpr.in_avals):
            raise TypeError("the operands must have the types that the step takes")
        for i in reversed(range(length)) if reverse else range(length):
            found = jaxpr_as_fun(jaxpr)(*consts, *carry, *(np.asarray(x)[i] for x in rows))
            carry, outs[i] = module.groups(found, num_carry)
        ys = [np.zeros((length, *aval.shape), aval.dtype) for aval in jaxpr.out_avals[num_carry:]]
        for i, k in np.ndindex(length, len(ys)):
            ys[k][i] = outs[i][k]
        return [*carry, *ys]

    consts, (*residuals, cts) = avals[num_same : num_same + num_consts], given
    f = lambda *cts: module.transpose_rest(loop, split, consts, *residuals, list(cts))  # noqa: E731
    with patch.dict(impl_rules, {module.scan_p: run}):
        outs = jaxpr_as_fun(trace_to_jaxpr(f, types_of(cts)))(*cts) if unknown else f(*cts)
    return {
        "the cotangents are one list": type(outs) is list,
        "the cotangents": [np.asarray(out) for out in outs],
        "how many steps each scan has": steps,
        "the loop that was given is reversed afterwards": loop.reverse,
    }


# same s, linear constant w | carry c | row x, residual r -> c, y
LINE = "lambda s, w, c, x, r: [c * r + w * s, c - x * r]"
ONE_EACH = (1, 1, 1, 1)
STACK, YS = np.array([2.0, 3.0, 5.0]), np.array([7.0, 11.0, 13.0])


def line(student, cts, *more, same=10.0, stack=STACK):
    """Compare what comes of undoing LINE."""
    types = [np.zeros((), stack.dtype)] * 5
    student.agrees(backwards, LINE, types, ONE_EACH, ([same], [stack], cts), *more)


@pytest.mark.meets("again")
@pytest.mark.keeps("One list of cotangents", "steps is bound")
@pytest.mark.parametrize("reverse", [False, True])
def test_backwards_from_the_last_step(student, reverse):
    """The steps are undone from the last one to the first, which is row 0 or the last one."""
    line(student, [1.0, YS], reverse)
    line(student, [1.0, YS], reverse, 3, True)
    given = ([], [STACK], [1.0, ROW])
    student.agrees(backwards, "lambda c, r: [c * r, c]", [0.0] * 2, (0, 0, 1, 1), given, reverse)
    given = ([10.0], [STACK[:2]], [1.0, ROW[:2]])
    rest = "lambda s, c, r: [c * r * s, c]"
    student.agrees(backwards, rest, [0.0] * 3, (1, 0, 1, 1), given, reverse, 2)
    given = ([], [np.array([2.0, 3.0, 5.0, 7.0, 11.0])], [1.0, 4.0])
    rest = "lambda c, d, r: [c * r + d, d + c]"
    student.agrees(backwards, rest, [0.0] * 3, (0, 0, 2, 1), given, reverse, 5)


@pytest.mark.meets("more_than_two")
@pytest.mark.keeps("linear part of a step")
def test_backwards_constants(student):
    """The cotangents of each constant are added up over all steps, in its own shape and dtype."""
    held = "lambda c: [c * np.arange(3.0)]"  # a constant that the step itself holds
    student.agrees(backwards, held, [ROW], (0, 0, 1, 0), ([], [], [ROW]))
    two = "lambda a, b, c, x: [c + a * 2.0 + x, b - c]"
    cts = [np.array([1.0, 2.0]), np.arange(6.0).reshape(3, 2)]
    student.agrees(backwards, two, [ROW[:2]] * 4, (0, 2, 1, 0), ([], [], cts))
    given = ([], [STACK], [YS])
    student.agrees(backwards, "lambda w, r: [w * r]", [0.0] * 2, (0, 1, 0, 1), given)
    types = [GRID, 0.0, np.float32(1.0), GRID, GRID]
    rest = "lambda a, b, d, c, x: [c + a * 2.0 + x * 1.5 + b, d * np.float32(2.0)]"
    cts = [GRID + 1.0, np.array([1.0, 2.0, 4.0], F32)]
    student.agrees(backwards, rest, types, (0, 3, 1, 0), ([], [], cts))
    student.agrees(backwards, rest, types, (0, 3, 1, 0), ([], [], cts), True)


@pytest.mark.meets("float32")
def test_backwards_single_precision(student):
    """In a float32 program, sums and zeros are float32."""
    single = STACK.astype(F32)
    line(student, [None, YS.astype(F32)], same=F32(10.0), stack=single)
    line(student, [F32(2.0), None], True, same=F32(10.0), stack=single)
    half = STACK.astype("float16")
    line(student, [None, ROW.astype("float16")], same=half[0], stack=half)


@pytest.mark.meets("more_than_two", "some_results")
@pytest.mark.keeps("None for zero")
def test_backwards_some_results(student):
    """Of several carries and ys, some may have no cotangent."""
    rest = "lambda c, d, x: [c + x, d * 2.0 + c, c - d, x * 3.0]"
    types = [ROW[:2], ROW[:2], ROW[:2]]
    ys = np.arange(6.0).reshape(3, 2)
    for cts in ([ROW[:2], None, None, ys], [None, OTHER[:2], ys, None], [None, None, None, ys]):
        student.agrees(backwards, rest, types, (0, 0, 2, 0), ([], [], cts))
        student.agrees(backwards, rest, types, (0, 0, 2, 0), ([], [], cts), True)
    kinds = "lambda c, d, x, y: [c + c, d + y, x + x, y + d]"
    types, square, single = (
        [GRID, F32(1), ROW, F32(1)],
        np.arange(9.0).reshape(3, 3),
        YS.astype(F32),
    )
    for cts in ([GRID, None, square, None], [None, F32(2), None, single]):
        student.agrees(backwards, kinds, types, (0, 0, 2, 0), ([], [], cts))


@pytest.mark.meets("none", "zeros")
@pytest.mark.keeps("None for zero")
def test_backwards_zero_cotangents(student):
    """A cotangent that is None is zero, of the carry or of a whole array of ys."""
    for cts in ([None, YS], [2.0, None], [None, None]):
        line(student, cts)
    student.agrees(backwards, "lambda c: [c * 2.0]", [0.0], (0, 0, 1, 0), ([], [], [None]))


@pytest.mark.meets("extremes", "zeros")
@pytest.mark.keeps("None for zero", "steps is bound")
def test_backwards_cotangents_of_value_zero(student):
    """A cotangent that is zero by value is one: with an infinite residual it becomes nan."""
    infinite = np.array([2.0, np.inf, 5.0])
    for cts in ([0.0, None], [None, np.zeros(3)], [np.zeros(()), np.array([0.0, 1.0, 0.0])]):
        line(student, cts, stack=infinite)


@pytest.mark.meets("order")
@pytest.mark.keeps("One list of cotangents", "linear part of a step")
def test_backwards_several(student):
    """Several of each, of several shapes, keep their order."""
    rest = "lambda s, t, w, c, d, x, r, q: [c * r + w * s, d * q - x, c * q, d * s + x * t]"
    types = [0.0, ROW[:2], 0.0, 0.0, ROW[:2], ROW[:2], 0.0, 0.0]
    cts = [1.0, np.array([2.0, 3.0]), np.array([4.0, 5.0, 6.0]), GRID.T]
    given = ([0.5, np.array([7.0, 8.0])], [STACK, STACK * 0.1], cts)
    student.agrees(backwards, rest, types, (2, 1, 2, 2), given)
    student.agrees(backwards, rest, types, (2, 1, 2, 2), given, True)


@pytest.mark.meets("sizes")
@pytest.mark.keeps("steps is bound")
def test_backwards_no_steps(student):
    """A scan of no steps hands the carry's cotangent on, and adds up nothing."""
    line(student, [4.0, np.zeros(0)], False, 0, stack=np.zeros(0))
    line(student, [3.0, None], True, 0, same=5.0, stack=np.zeros(0))
    line(student, [3.0, ROW[:1]], False, 1, same=5.0, stack=STACK[:1])
    given = ([], [], [3.0])
    student.agrees(backwards, "lambda c: [c * 2.0]", [0.0], (0, 0, 1, 0), given, True, 1)
    for length in (0, 1):
        given, rest = ([], [], [ROW[:length]]), "lambda x: [x * 2.0]"
        student.agrees(backwards, rest, [0.0], (0, 0, 0, 0), given, False, length)


@pytest.mark.meets("sizes")
@pytest.mark.keeps("linear part of a step")
def test_backwards_parts(student):
    """There may be rows alone, empty ones, and residuals that are integers."""
    given = ([], [np.array([2, 3, 5])], [ROW])
    student.agrees(backwards, "lambda x, r: [x * r]", [0.0, 0], (0, 0, 0, 1), given)
    student.agrees(backwards, "lambda x: [x * 2.0]", [0.0], (0, 0, 0, 0), ([], [], [None]))
    given = ([], [STACK], [2.0])
    student.agrees(backwards, "lambda c, r: [c * r]", [0.0] * 2, (0, 0, 1, 1), given)
    empty, rows = np.zeros((0, 2)), np.zeros((3, 0, 2))
    student.agrees(
        backwards, "lambda c, x: [c + x, x]", [empty] * 2, (0, 0, 1, 0), ([], [], [empty, rows])
    )


# Random programs ----------------------------------------------------------------------------------


@probe
def derivative_of_choice(mj, f, xs, ts):
    """Values and tangents; one branch is the program, and one hands on what it has."""
    return mj.jvp(lambda *ys: mj.lax.cond(True, f, lambda *ys: f(*xs), *ys), xs, ts)


@probe
def choice_of_each(mj, f, batch, in_axes):
    """The first example takes the program, the second one its squares."""
    return mj.vmap(
        lambda first, *ys: mj.lax.cond(
            first, f, lambda *ys: mj.tree.map(lambda y: mj.lax.mul(y, y), f(*ys)), *ys
        ),
        (0, *in_axes),
    )(np.array([True, False]), *batch)


@probe
def pulled_through_steps(mj, f, xs, cts):
    """Cotangents of what three steps have captured, of which the last one's results count."""
    return mj.vjp(
        lambda *ys: mj.tree.map(
            lambda y: y[2], mj.lax.scan(lambda i, row: (i + 1, f(*ys)), 0, None, 3)[1]
        ),
        *xs,
    )[1](cts)


exercise("control.cond_jvp")


def test_jvp_of_random_branches(student):
    """Random programs as branches are differentiated correctly."""
    student.agrees_on_programs(derivative_of_choice)


exercise("control.select")


def test_select_among_random_branches(student):
    """Each example has the results of its own branch, if the branches are random programs."""
    student.agrees_on_programs(choice_of_each)


exercise("control.scan_transpose")


def test_backwards_through_random_steps(student):
    """A scan whose step is a random program can be transposed."""
    student.agrees_on_programs(pulled_through_steps, number=4, steps=4)


exercise("control.whole")


@contextlib.contextmanager
def step_by_step():
    """Loops are evaluated step by step, a scan as the loop that the module makes of it."""

    def repeat(*args, **params):
        loop = module.While(**params)
        asked, consts, carry = loop.parts(args)
        while jaxpr_as_fun(loop.cond_jaxpr)(*asked, *carry)[0]:
            carry = jaxpr_as_fun(loop.body_jaxpr)(*consts, *carry)
        return list(carry)

    rules = {
        jit_p: lambda *args, name, jaxpr: jaxpr_as_fun(jaxpr)(*args),
        module.while_p: repeat,
        module.scan_p: lambda *args, **params: module.scan_by_while(module.Scan(**params), args),
    }
    with patch.dict(impl_rules, rules):
        yield


def operations(mj, f, *args):
    """What a function is made of while it is traced: Python's own choices and loops cannot be."""
    return [eqn.primitive.name for eqn in mj.make_jaxpr(f)(*args).eqns]


@probe(uses=[step_by_step, operations])
def choices(mj, x):
    """Values and derivatives of a switch, and of choices within a choice and in a loop."""
    lax = mj.lax
    row = np.array([2.0, 3.0])

    def f(i, x):
        y = lax.switch(i, [lambda x: x * row, lambda x: row, lambda x: lax.sin(x) * row], x)
        z = lax.cond(x > 1.0, lambda y: y * x, lambda y: lax.cond(i > 0, lax.neg, lax.exp, y), y)
        return z, lax.cond(x > 0.0, lambda x: (x > 2.0, 3), lambda x: (x < 2.0, 4), x)

    def twice(x):
        turn = lambda c: (lax.cond(c[0] > 1.0, lax.neg, lax.exp, c[0]), c[1] + 1)  # noqa: E731
        return lax.while_loop(lambda c: c[1] < 2, turn, (x, 0))[0]

    zero = np.zeros((), [("float0", np.void, 0)])
    with step_by_step():
        slopes = [mj.jvp(f, (i, x), (zero, 1.0)) for i in (0, 1, 2, 7)]
        return {
            "the values and tangents": slopes,
            "the values and tangents of a choice in a loop": mj.jvp(twice, (x,), (1.0,)),
            "the class of a number that a branch returns": [
                type(lax.switch(i, [lambda: 2.5, lambda: 3.5])).__name__ for i in (0, 1)
            ],
            "the operations of the program": operations(mj, f, 1, x),
        }


@probe(uses=[step_by_step, operations])
def choices_of_examples(mj, xs, k):
    """A choice for each example: values, and gradients that other branches must not spoil."""
    lax = mj.lax

    def f(x, k):
        return lax.cond(x > 0.0, lambda x, k: lax.log(x) * k, lambda x, k: x - 1.0, x, k)

    def g(x, n):
        return lax.switch(n, [lambda x: (x, 1.0), lambda x: (x / k, 2.0), lambda x: (-x, 3.0)], x)

    with step_by_step():
        total = mj.grad(lambda xs, k: mj.numpy.sum(mj.vmap(f, (0, None))(xs, k)), (0, 1))
        whole = lambda xs: lax.cond(xs[0] > 1.0, lambda x: x, lambda x: 1.0 - x, xs)  # noqa: E731
        one = mj.jvp(whole, (xs,), (2.0 * xs,))
        traced = operations(mj, f, xs[0], k), operations(mj, g, xs[0], 1)
        return {
            "the results": total(xs, k),
            "the gradients of each example": mj.vmap(g)(xs, np.arange(len(xs))),
            "the gradient of one example": one,
            "the operations of the program": traced,
        }


def with_one_in_common(xs):
    """Results of choices and of steps that have one program in common, and differ in the other."""
    one, many = types_of([xs[0]]), types_of([xs])
    double, square, neg = (
        trace_to_jaxpr(f, one) for f in (lambda x: [x * 2], lambda x: [x * x], lambda x: [-x])
    )
    body = trace_to_jaxpr(lambda x: [x * 2], many)
    conditions = [
        trace_to_jaxpr(f, one + many) for f in (lambda k, x: [x < k], lambda k, x: [x > k])
    ]
    second = np.array(1, np.int32)
    return [
        *(
            module.cond_jvp([second, xs[0]], [None, 1.0], branches=(double, f))
            for f in (square, neg)
        ),
        *(jaxpr_as_fun(where_condition_holds(body, f, 0))(2.0, xs) for f in conditions),
    ]


@probe(uses=[step_by_step, with_one_in_common])
def loops_of_examples(mj, xs, limits):
    """Each example stops at its own time; the carry has several dtypes. All run one program."""

    def f(x, limit):
        return mj.lax.while_loop(
            lambda c: c[0] < limit, lambda c: (c[0] * 2.0, c[1] + 1, c[0] > 3.0), (x, 0, True)
        )

    with step_by_step():
        f = jaxpr_as_fun(mj.make_jaxpr(f)(xs[0], limits[0]))
        return {
            "the results for limits of their own": mj.vmap(f)(xs, limits),
            "the results for one limit": mj.vmap(f, (0, None))(xs, 5.0),
            "the results for one start": mj.vmap(f, (None, 0))(1.0, xs),
            "the results of programs with one in common": with_one_in_common(xs),
        }


@probe(uses=[step_by_step, operations])
def slopes_of_loops(mj, x, t):
    """The derivative of loops in which what moves reaches the last value late, or not at all."""

    def late(x):
        return mj.lax.while_loop(
            lambda c: c[3] < 4,
            lambda c: (c[0], c[1] + c[0], c[2] * 0.5 + c[1], c[3] + 1, c[4] * 2.0),
            (x, 1.0, 1.0, 0, 3.0),
        )

    def counted(x):
        return mj.lax.fori_loop(1, 4, lambda i, y: mj.numpy.sin(y) * x + i, x)

    with step_by_step():
        late_values, late_lin = mj.linearize(late, x)
        return {
            "the values, the tangents and the operations of two loops": [
                (mj.jvp(f, (x,), (t,)), operations(mj, f, x)) for f in (late, counted)
            ],
            "the values by linearize, and the tangents": [late_values, late_lin(t)],
        }


@probe(uses=[step_by_step, operations])
def scans(mj, xs):
    """Scans forwards, backwards and differentiated, without rows or steps, over containers."""
    lax = mj.lax

    def step(c, x):
        u = lax.cond(x["u"] > 0.0, lambda u: u, lambda u: 2.0 * u, x["u"])
        return {"a": c["b"], "b": c["a"] + u}, (x["v"] * c["a"], c["b"], None)

    def run(xs, reverse):
        rows = {"u": xs, "v": mj.numpy.stack([xs, 2.0 * xs], 1)}
        return lax.scan(step, {"a": 1.0, "b": 2.0}, rows, reverse=reverse)

    with step_by_step():
        powers = lax.scan(lambda c, _: (c * 2, c > 3), 1, None, length=4)
        traced = operations(mj, lambda xs: run(xs, True), xs)
        slopes = mj.jvp(lambda xs: run(xs, True), (xs,), (2.0 * xs,))
        return {
            "the results forwards": run(xs, False),
            "the results backwards": run(xs, True),
            "the results without rows": run(xs[:0], True),
            "the values and tangents backwards": slopes,
            "the results of a scan without rows to go through": powers,
            "the operations of the program": traced,
        }


@probe(uses=[step_by_step, operations])
def gradients_of_scans(mj, w, xs):
    """Gradients by parameters, the first carry and the rows of a small recurrent network."""
    jnp = mj.numpy

    def loss(p, h, xs, reverse):
        def step(h, x):
            new = jnp.sin(p["w"] @ h + x * p["b"])
            return new, (jnp.sum(new) * p["b"], h[0])

        last, (ys, _) = mj.lax.scan(step, h, xs, reverse=reverse)
        return jnp.sum(last * last) + jnp.sum(ys)

    params, h = {"w": w, "b": w.dtype.type(0.5)}, w[0]
    with step_by_step():
        traced = operations(mj, lambda h: loss(params, h, xs, False), h)
        return {
            "the gradients, forwards and backwards": [
                mj.grad(loss, (0, 1, 2))(params, h, xs, way) for way in (False, True)
            ],
            "the operations of the program": traced,
        }


@probe(uses=[step_by_step, operations])
def one_in_another(mj, xs):
    """A choice in a scan, mapped and differentiated; all functions use an outer value."""
    lax = mj.lax

    def f(x, k):
        def step(c, n):
            return lax.cond(n > 1, lambda c: c * k, lambda c: lax.sin(c) + x, c), c * x

        last, ys = lax.scan(step, x * x, np.arange(3))
        return last + lax.fori_loop(0, 3, lambda i, y: y * x + k, last) + mj.numpy.sum(ys)

    with step_by_step():
        slopes = mj.vmap(lambda x: mj.grad(lambda k: f(x, k))(2.0))(xs)
        traced = operations(mj, f, xs[0], 2.0)
        return {
            "the slopes": slopes,
            "the second derivative": mj.grad(mj.grad(lambda x: f(x, 2.0)))(xs[0]),
            "the operations of the program": traced,
        }


@probe(uses=[step_by_step, operations])
def programs_in_loops(mj, f, xs, ts):
    """Three steps with a random program that has captured its arguments; values and tangents."""

    def last(*ys):
        _, outs = mj.lax.scan(lambda i, row: (i + 1, f(*ys)), 0, None, 3)
        return mj.tree.map(lambda y: y[2], outs)

    with step_by_step():
        return {
            "the values and tangents": mj.jvp(last, xs, ts),
            "the number of scans in the program": operations(mj, last, *xs).count("scan"),
        }


def test_whole_choices(student):
    """A choice has the value and the derivative of the function that is taken."""
    student.agrees(choices, 0.5)
    student.agrees(choices, 2.0)


def test_whole_choices_of_examples(student):
    """In a batch each example has its own choice, and its own gradient."""
    student.agrees(choices_of_examples, np.array([0.0, 2.0, -1.0]), 3.0)


@pytest.mark.meets(nested="finished")
def test_whole_loops_of_examples(student):
    """In a batch each example runs for as long as its own condition holds."""
    student.agrees(loops_of_examples, np.array([1.0, 3.0, 9.0]), np.array([8.0, 2.0, 20.0]))


def test_whole_slopes_of_loops(student):
    """Loops are differentiated, whenever a value of the carry begins to move."""
    student.agrees(slopes_of_loops, 0.5, 2.0)


@pytest.mark.meets(twice="scan_steps", none="scan_steps")
def test_whole_scans(student):
    """Scans return the last carry and the stacked results, even those of no steps."""
    student.agrees(scans, ROW)


@pytest.mark.meets(twice="scan_transpose")
def test_whole_gradients_of_scans(student):
    """The gradients of a scan are right, in both directions and both precisions."""
    student.agrees(gradients_of_scans, GRID[:, :2], np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]]))
    student.agrees(gradients_of_scans, GRID[:, :2].astype(F32), np.ones((3, 2), F32))


@pytest.mark.meets(
    another_box="cond_jvp",
    nested="scan_steps scan_transpose",
    closure="cond_jvp scan_steps scan_transpose",
)
def test_whole_one_in_another(student):
    """Choices and loops work inside each other, and inside other transformations."""
    student.agrees(one_in_another, np.array([0.5, 1.5]))


def test_whole_programs(student):
    """Random programs as the steps of a loop have the right values and tangents."""
    student.agrees_on_programs(programs_in_loops, number=3, steps=4)
