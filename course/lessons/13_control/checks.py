"""Checks of the `control` lesson, for you to read and to run: `./jaxprentice check control`.

Each exercise has a few, which need no other exercise: if your function binds an operation whose
evaluation you have not written yet, a small function evaluates it here. So do the exercises in any
order.
"""

from unittest.mock import patch

import numpy as np
import pytest
from checking import exercise, names
from random_programs import SMOOTH, for_programs, numbers, results_of, slope

import minijax
from minijax.control_flow import (
    Scan,
    SplitScan,
    cond_jvp,
    cond_p,
    scan_by_while,
    scan_p,
    select_branches,
    settled,
    transpose_rest,
    where_condition_holds,
)
from minijax.core import impl_rules, not_mapped
from minijax.jaxpr import jaxpr_as_fun
from minijax.lax import log, sin
from minijax.programs import groups, types_of
from minijax.tracing import trace_to_jaxpr

ROW = np.array([1.0, 2.0, 4.0])


def program(f, *examples):
    """A function of arrays like these, traced; `f` returns a list."""
    return trace_to_jaxpr(f, types_of(examples))


def index(number):
    """Which branch to take."""
    return np.array(number, np.int32)


exercise("control.cond_jvp")


def right_cond(index, *operands, branches):
    """A right evaluation of `cond`; it counts as one operation."""
    return jaxpr_as_fun(branches[int(index)])(*operands)


def choice_jvp(branches, number, operands, tangents):
    """What the rule returns for branches that are functions, as Python lists."""
    programs = tuple(program(f, *operands) for f in branches)
    with patch.dict(impl_rules, {cond_p: right_cond}):
        values, changes = cond_jvp([index(number), *operands], [None, *tangents], branches=programs)
    return [np.asarray(x).tolist() for x in values], [
        None if t is None else np.asarray(t).tolist() for t in changes
    ]


def test_values_and_tangents():
    """Values and tangents come from the branch that is taken."""
    branches = (lambda x, y: [x * y], lambda x, y: [x - y])
    assert choice_jvp(branches, 0, [3.0, 5.0], [1.0, 10.0]) == ([15.0], [35.0])
    assert choice_jvp(branches, 1, [3.0, 5.0], [1.0, 10.0]) == ([-2.0], [-9.0])


def test_what_does_not_move():
    """A result that depends only on the other operand, in both branches, has no tangent."""
    branches = (lambda x, y: [y, x * y], lambda x, y: [y * 2.0, x])
    assert choice_jvp(branches, 1, [3.0, 5.0], [10.0, None]) == ([10.0, 3.0], [None, 10.0])


def test_branches_agree():
    """A result that moves in one branch has a tangent in the other one too."""
    branches = (lambda x, y: [x], lambda x, y: [y])
    assert choice_jvp(branches, 0, [3.0, 5.0], [10.0, None]) == ([3.0], [10.0])
    assert choice_jvp(branches, 1, [3.0, 5.0], [10.0, None]) == ([5.0], [0.0])
    assert choice_jvp(branches, 0, [3.0, 5.0], [None, 10.0]) == ([3.0], [0.0])


def test_the_choice_is_an_operation():
    """One `cond` is bound, since the index may be a tracer; it has as many branches as before."""
    double, negative = (program(f, 3.0) for f in (lambda x: [x * x], lambda x: [-x]))
    branches = (double, negative, double)
    traced = program(
        lambda i, x, x_dot: [
            y for ys in cond_jvp([i, x], [None, x_dot], branches=branches) for y in ys
        ],
        index(0),
        3.0,
        10.0,
    )
    assert names(traced) == ["cond"]
    assert len(traced.eqns[0].params["branches"]) == 3


exercise("control.select")


def selected(branches, indices, operands, dims, examples):
    """Results and batch axes, for branches that are functions."""
    programs = tuple(program(f, *examples) for f in branches)
    indices = np.array(indices, np.int32)
    outs, out_dims = select_branches(len(indices), indices, operands, dims, programs)
    return [np.asarray(out).tolist() for out in outs], list(out_dims)


def test_each_example_has_its_branch():
    """Each example has the results of its own branch, one of three, and their batch axis is 0."""
    branches = (lambda x: [x * 2.0, x], lambda x: [x * x, -x], lambda x: [x + 1.0, x - 1.0])
    outs, dims = selected(branches, [1, 0, 2], [np.array([3.0, 4.0, 5.0])], [0], [1.0])
    assert outs == [[9.0, 8.0, 6.0], [-3.0, 4.0, 4.0]]
    assert dims == [0, 0]


def test_results_that_do_not_depend_on_the_example():
    """A branch may return a constant, and still each example has a result."""
    branches = (lambda x: [1.0, x], lambda x: [x, 2.0])
    outs, dims = selected(branches, [1, 0, 1], [np.array([3.0, 4.0, 5.0])], [0], [1.0])
    assert outs == [[3.0, 1.0, 5.0], [2.0, 4.0, 2.0]]
    assert dims == [0, 0]


def test_batch_axes():
    """Operands may have their batch axis at the end, or none."""
    grid = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    branches = (lambda x, k: [x], lambda x, k: [x * k])
    outs, _ = selected(branches, [0, 1, 1], [grid, 2.0], [1, not_mapped], [grid[:, 0], 2.0])
    assert outs == [[[1.0, 10.0], [4.0, 40.0], [6.0, 60.0]]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradients(dtype):
    """The logarithm at 0 is not chosen, and so it leaves values and gradients alone."""
    rows = np.array([[0.0, 0.0], [1.0, 2.0]], dtype)
    programs = (program(lambda x: [x * 3.0], rows[0]), program(lambda x: [log(x)], rows[0]))
    indices = np.array([0, 1], np.int32)

    def chosen(x):
        return select_branches(2, indices, [x], [0], programs)[0][0]

    assert chosen(rows)[:, 0].tolist() == [0.0, 0.0]
    gradient = minijax.grad(lambda x: minijax.numpy.sum(chosen(x)))(rows)
    assert gradient.tolist() == [[3.0, 3.0], [1.0, 0.5]]


def test_gradients_of_a_value_that_all_examples_share():
    """If the quotient is not chosen, it leaves the gradients of both its operands alone, too."""
    branches = (program(lambda w, x: [w * 3.0], 1.0, 1.0), program(lambda w, x: [w / x], 1.0, 1.0))
    indices, dims, xs = np.array([0, 1, 1], np.int32), [not_mapped, 0], np.array([0.0, 2.0, 4.0])

    def total(w, xs):
        return minijax.numpy.sum(select_branches(3, indices, [w, xs], dims, branches)[0][0])

    by_w, by_x = minijax.grad(total, (0, 1))(8.0, xs)
    assert float(by_w) == 3.75
    assert by_x.tolist() == [0.0, -2.0, -0.5]


def test_indices_that_are_traced():
    """The indices may be tracers; each branch is in the program once."""
    programs = (program(lambda x: [sin(x)], 1.0), program(lambda x: [x * 2.0], 1.0))
    traced = program(
        lambda i, x: select_branches(3, i, [x], [0], programs)[0],
        np.array([0, 1, 0], np.int32),
        ROW,
    )
    assert names(traced).count("sin") == 1


exercise("control.settled")


def tried(carry, sources, further=()):
    """What `settled` returns. A value is marked after a step if one of its sources is.

    A constant of the loop that moves is the source None.
    """
    calls = []

    def transform(marks):
        assert marks not in calls, "The step is transformed again for the same marks."
        calls.append(marks)
        out = tuple(any(i is None or marks[i] for i in own) for own in (*sources, *further))
        return f"step for {marks}", out

    return settled(transform, carry)


def test_nothing_to_do():
    """If the carry comes out as it went in, the first step is the right one."""
    step, marks, others = tried((True, False), [(0,), (1,)], [(0,)])
    assert (step, marks, others) == ("step for (True, False)", (True, False), (True,))
    assert tried((True, False), [(0,), (1,)], [(1,)])[2] == (False,)
    assert tried((), [], [(None,)]) == ("step for ()", (), (True,))


def test_marks_spread():
    """Marks spread from the first to the second value, and from there to the third."""
    step, marks, others = tried((True, False, False), [(0,), (0, 1), (1, 2)], [(2,), ()])
    assert step == "step for (True, True, True)"
    assert marks == (True, True, True)
    assert others == (True, False)
    chain = [(0,), *((i, i + 1) for i in range(5))]
    assert tried((False, True, *[False] * 4), chain)[1] == (False, *[True] * 5)


def test_marks_come_from_a_constant():
    """The carry does not move at first; a constant that does moves one value after another."""
    step, marks, _ = tried((False, False), [(0, None), (0, 1)])
    assert (step, marks) == ("step for (True, True)", (True, True))


exercise("control.finished")


def steps(condition, body, consts, carry, number):
    """The carry after so many steps; `consts` are those of the condition, and of the body."""
    asked = program(condition, *consts[0], *carry)
    step = where_condition_holds(program(body, *consts[1], *carry), asked, len(consts[1]))
    for _ in range(number):
        carry = jaxpr_as_fun(step)(*consts[0], *consts[1], *carry)
    return [np.asarray(x).tolist() for x in carry]


def test_finished_examples_stay():
    """An example stays as soon as its condition does not hold: here x < 8, and the body doubles."""
    start = [np.array([1.0, 6.0, 9.0])]
    assert steps(lambda x: [x < 8.0], lambda x: [x * 2.0], ([], []), start, 1) == [[2.0, 12.0, 9.0]]
    assert steps(lambda x: [x < 8.0], lambda x: [x * 2.0], ([], []), start, 9) == [[8.0, 12.0, 9.0]]


def test_finished_examples_stay_whatever_the_body_makes():
    """The first and the last example are done, and the body turns them into NaN."""
    start = [np.array([0.0, 2.0, -1.0])]
    after = steps(lambda x: [x > 0.0], lambda x: [log(x) * 0.0 + 5.0], ([], []), start, 1)
    assert after == [[0.0, 5.0, -1.0]]


def test_each_program_runs_once():
    """In the new program, the condition and the body are once; the carry has two values here."""
    asked, done = (
        program(lambda x, y: [sin(x) < y], ROW, ROW),
        program(lambda x, y: [y, log(x)], ROW, ROW),
    )
    operations = names(where_condition_holds(done, asked, 0))
    assert [operations.count(name) for name in ("sin", "log")] == [1, 1]


def test_finished_examples_keep_their_tangents():
    """The last example is done: it keeps its tangent. The others have the body's."""
    asked, done = program(lambda x: [x < 3.0], ROW), program(lambda x: [x * 5.0], ROW)
    step = jaxpr_as_fun(where_condition_holds(done, asked, 0))
    _, (moves,) = minijax.jvp(step, (ROW,), (np.array([1.0, 2.0, 3.0]),))
    assert moves.tolist() == [5.0, 10.0, 3.0]


def test_constants_of_both():
    """The constants of the condition come first, then those of the body."""
    limit, k = np.array([5.0, 20.0, 3.0]), np.array([2.0, 3.0, 10.0])
    carry = [ROW, np.array([[1, 2], [3, 4], [5, 6]])]
    after = steps(
        lambda limit, x, n: [x < limit], lambda k, x, n: [x * k, n + 1], ([limit], [k]), carry, 3
    )
    assert after == [[8.0, 54.0, 4.0], [[4, 5], [6, 7], [5, 6]]]


exercise("control.scan_steps")


def scanned(body, consts, carry, rows, length, reverse=False):
    """The last carry and the ys of a scan whose body is a function; `args` are a tuple."""
    jaxpr = program(body, *consts, *carry, *(np.ones(x.shape[1:], x.dtype) for x in rows))
    loop = Scan(jaxpr, length, len(carry), len(consts), reverse, 1)
    return [np.asarray(x).tolist() for x in scan_by_while(loop, (*consts, *carry, *rows))]


def test_carry_and_ys():
    """The last carry comes first, then the stacked results."""
    assert scanned(lambda c, x: [c + x, c * x], [], [10.0], [ROW], 3) == [17.0, [10.0, 22.0, 52.0]]


def test_constants_and_rows():
    """Constants are the same in each step; each array of rows provides one row."""
    out = scanned(
        lambda k, a, b, x, y: [b, a + b, x * k - y],
        [2.0],
        [0.0, 1.0],
        [ROW, np.array([0.5, 1.5, 2.5])],
        3,
    )
    assert out == [2.0, 3.0, [1.5, 2.5, 5.5]]


def test_ys_of_other_types():
    """There may be no rows; each y has its own shape and dtype."""
    start = np.array([1, 2])
    ys = scan_by_while(
        Scan(program(lambda c: [c * 2, c, c > 2], start), 3, 1, 0, False, 1), [start]
    )[1:]
    assert [np.asarray(y).tolist() for y in ys] == [
        [[1, 2], [2, 4], [4, 8]],
        [[False, False], [False, True], [True, True]],
    ]
    assert [y.dtype.name for y in ys] == ["int64", "bool"]


def test_reversed():
    """The last row is the first to be read; each y is at the index of its row."""
    out = scanned(lambda c, x: [c + x, c], [], [10.0], [ROW], 3, True)
    assert out == [17.0, [16.0, 14.0, 10.0]]
    assert scanned(lambda c: [c + 1.0, c], [], [0.0], [], 3, True) == [3.0, [2.0, 1.0, 0.0]]


def test_no_steps():
    """Without any step the first carry is the last one, and no row is read; ys have no rows."""
    assert scanned(lambda c, x: [c + x, c], [], [10.0], [np.zeros(0)], 0) == [10.0, []]
    body = program(lambda c, x: [c, x], 10.0, np.ones(2, np.float32))
    _, ys = scan_by_while(Scan(body, 0, 1, 0, False, 1), [10.0, np.ones((0, 2), np.float32)])
    assert (ys.shape, ys.dtype.name) == ((0, 2), "float32")


def test_one_loop():
    """The scan is one `while_loop`, so that the body is in the program once."""
    loop = Scan(program(lambda c, x: [sin(c), x], 1.0, 1.0), 3, 1, 0, False, 1)
    traced = program(lambda c, xs: scan_by_while(loop, [c, xs]), 1.0, ROW)
    assert (names(traced).count("while"), names(traced).count("sin")) == (1, 0)
    assert str(traced).count("sin") == 1


exercise("control.scan_transpose")


def right_scan(*args, jaxpr, length, num_carry, num_consts, reverse, unroll):
    """A right evaluation of `scan`, by a Python loop."""
    consts, carry, rows = groups(args, num_consts, num_carry)
    ys = [np.zeros((length, *aval.shape), aval.dtype) for aval in jaxpr.out_avals[num_carry:]]
    for i in reversed(range(length)) if reverse else range(length):
        outs = jaxpr_as_fun(jaxpr)(*consts, *carry, *(x[i] for x in rows))
        carry, new = groups(outs, num_carry)
        for y, row in zip(ys, new, strict=True):
            y[i] = row
    return [*carry, *ys]


def transposed(rest, sizes, values, cts, reverse=False, known=0):
    """Cotangents of constants, carry and rows, in one list.

    `rest` takes residuals, linear constants, carry, linear rows and residuals in rows, all 0-d;
    `sizes` are the numbers of linear constants, of the carry, and of all inputs. `values` are the
    residuals that are the same in all steps, and the others. Of the carry of the whole scan, so
    many values are `known` and not linear.
    """
    num_consts, num_carry, number = sizes
    same, stacks = values
    jaxpr = program(rest, *[0.0] * number)
    carry = (False,) * known + (True,) * num_carry
    marks = carry, (False,) * known + (True,) * len(jaxpr.out_avals), (True,) * len(stacks)
    split = SplitScan(jaxpr, jaxpr, jaxpr, *marks)
    loop = Scan(jaxpr, 3, len(carry), len(same) + num_consts, reverse, 1)
    consts = jaxpr.in_avals[len(same) : len(same) + num_consts]
    with patch.dict(impl_rules, {scan_p: right_scan}):
        outs = transpose_rest(loop, split, consts, same, stacks, cts)
    return [np.asarray(x).tolist() for x in outs]


def test_last_step_first():
    """The last step comes first. Each multiplies the carry, and its y is the carry before."""
    stack, ct = np.array([2.0, 3.0, 5.0]), np.array([1.0, 10.0, 100.0])
    sizes = (0, 1, 2)
    assert transposed(lambda c, r: [c * r, c], sizes, ([], [stack]), [1.0, ct]) == [651.0]
    assert transposed(lambda c, r: [c * r, c], sizes, ([], [stack]), [1.0, ct], True) == [195.0]


def test_constants_add_up():
    """A constant is used in three steps; a row in one."""
    ct = np.array([1.0, 10.0, 100.0])
    out = transposed(lambda s, w, x: [w * s - x], (1, 0, 3), ([2.0], []), [ct])
    assert out == [222.0, [-1.0, -10.0, -100.0]]


def test_arrays_in_float32():
    """Constants, carry and rows may be float32 arrays, and so may a cotangent that is None."""
    row = np.array([1.0, 2.0], np.float32)
    rest = program(lambda w, c, x: [c + w, x * 2.0], row, row, row)
    split = SplitScan(rest, rest, rest, (True,), (True, True), ())
    loop, cts = Scan(rest, 3, 1, 1, False, 1), [None, np.ones((3, 2), np.float32)]
    with patch.dict(impl_rules, {scan_p: right_scan}):
        outs = transpose_rest(loop, split, rest.in_avals[:1], [], [], cts)
        traced = program(
            lambda ct: transpose_rest(loop, split, rest.in_avals[:1], [], [], [ct, None]), row
        )
    assert [np.asarray(x).tolist() for x in outs] == [[0.0, 0.0], [0.0, 0.0], [[2.0, 2.0]] * 3]
    assert [x.dtype.name for x in outs] == ["float32"] * 3
    assert names(traced).count("scan") == 1


def test_no_cotangent():
    """None is zero, as the cotangent of the ys or of the carry."""
    step, sizes, ct = lambda c, x: [c + x, c], (0, 1, 2), np.array([1.0, 10.0, 100.0])
    assert transposed(step, sizes, ([], []), [1.0, None]) == [1.0, [1.0, 1.0, 1.0]]
    assert transposed(step, sizes, ([], []), [None, ct]) == [111.0, [110.0, 100.0, 0.0]]


def test_a_part_of_the_carry_is_linear():
    """The carry of the new scan has only the linear part, as `cts` and `split.carry` say."""
    step, sizes, ct = lambda c, x: [c + x, c], (0, 1, 2), np.array([1.0, 10.0, 100.0])
    out = transposed(step, sizes, ([], []), [1.0, ct], known=1)
    assert out == [112.0, [111.0, 101.0, 1.0]]


exercise("control.cond_jvp")


@for_programs(seed="control", operations=SMOOTH, dtypes=["float64"])
def test_slopes_of_random_branches(f, xs, ts):
    """The branch that is taken is a random program; the other one returns the opposite."""
    branches = (lambda *xs: [-y for y in results_of(f(*xs))], lambda *xs: results_of(f(*xs)))
    values, changes = choice_jvp(branches, 1, xs, ts)
    moves = [
        np.zeros(np.shape(y)) if t is None else t for y, t in zip(values, changes, strict=True)
    ]
    assert numbers(values + moves) == numbers([*results_of(f(*xs)), *slope(f, xs, ts)])
