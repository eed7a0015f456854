"""Hidden tests of the `jaxprs` lesson: programs as data, their types, and how to run them.

Programs are made by hand, of variables, literals and equations. Every exercise is tested alone:
where its target calls what a sibling exercise defines, the probe puts a right one in its place.
"""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import watching
from autograder.grading.suite import exercise, probe

if TYPE_CHECKING:  # imported by each probe that reads them
    import builtins
    import contextlib
    import itertools

    from minijax.core import (
        Primitive,
        ShapedArray,
        abstract_eval_rules,
        counted,
        div_p,
        dot_general_p,
        exp_p,
        get_aval,
        impl_rules,
        lt_p,
        mul_p,
        neg_p,
        reduce_sum_p,
        sin_p,
        sub_p,
        trace_state,
        transpose_p,
    )
    from minijax.jaxpr import (
        ClosedJaxpr,
        Jaxpr,
        JaxprEqn,
        Literal,
        TypeChecker,
        Var,
        abstract_eval,
        dot_general_type,
        eval_jaxpr,
        jaxpr_as_fun,
        kept,
        kept_beside,
        typecheck_jaxpr,
    )

ROW = np.array([0.5, -2.0, 3.0])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])
EMPTY = np.zeros((0, 2))
VECTOR = ((2,), "float64", False)


exercise("jaxprs.eval_jaxpr")


@probe
def difference(mj, x, y):
    """Three equations: the order of operands matters, and one operand is there twice."""
    a, b, c, d, e = (Var(ShapedArray(np.shape(x), get_aval(x).dtype)) for _ in range(5))
    eqns = [JaxprEqn([a, b], [c], sub_p, {}), JaxprEqn([c], [d], exp_p, {})]
    eqns.append(JaxprEqn([d, d], [e], mul_p, {}))
    return eval_jaxpr(Jaxpr([], [a, b], [e], eqns), [], x, y)


@probe
def with_literals(mj, x):
    """Literals as operands, on both sides, and as an output; and whether that is the very value."""
    scalar = ShapedArray((), np.dtype(float))
    a, b, c = (Var(get_aval(x)) for _ in range(3))
    two = Literal(2.0, ShapedArray((), np.dtype(float), weak_type=True))
    ten = Literal(10.0, two.aval) if isinstance(x, float) else Literal(np.array(10.0), scalar)
    eqns = [JaxprEqn([ten, a], [b], sub_p, {}), JaxprEqn([b, two], [c], div_p, {})]
    outs, integer = [c, two, b], np.dtype(int)  # and integers, of which one equals another literal
    for value, weak in (2, True), (np.array(3), False):
        aval = ShapedArray((), integer, weak)
        outs.append(Var(aval))
        eqns.append(JaxprEqn([Literal(value, aval)], outs[-1:], neg_p, {}))
    out = eval_jaxpr(Jaxpr([], [a], outs, eqns), [], x)
    return {
        "the outputs": out,
        "the literal's own value is an output": out[1] is two.val,
        "an output is weakly typed": [get_aval(value).weak_type for value in out],
    }


@probe
def with_constants(mj, consts, args):
    """Two constants and two inputs, all different; every one of them is an output too."""
    k, m, a, b, c, d = (Var(get_aval(args[0])) for _ in range(6))
    eqns = [JaxprEqn([k, a], [c], sub_p, {}), JaxprEqn([c, b], [d], mul_p, {})]
    out = eval_jaxpr(Jaxpr([k, m], [a, b], [d, m, k, b, a], eqns), consts, *args)
    return {"the outputs": out, "an output is weakly typed": [get_aval(x).weak_type for x in out]}


@probe
def outputs(mj, x, y):
    """Outputs that are inputs, an early result, and one that is there twice; or none at all."""
    a, b, c, d = (Var(get_aval(x)) for _ in range(4))
    eqns = [JaxprEqn([a], [c], neg_p, {}), JaxprEqn([b], [d], sin_p, {})]
    out = eval_jaxpr(Jaxpr([], [a, b], [c, b, c, a], eqns), [], x, y)
    none = eval_jaxpr(Jaxpr([], [a, b], [], eqns), [], x, y)
    copy = eval_jaxpr(Jaxpr([], [a], [a], []), [], x)
    return {
        "the outputs": out,
        "the second output is the input itself": out[1] is y,
        "the fourth output is the input itself": out[3] is x,
        "the outputs of a program without outputs": none,
        "the outputs of a program without equations": copy,
    }


@probe
def with_params(mj, x):
    """Equations whose params say what they do."""
    a, b, c = (Var(get_aval(x)) for _ in range(3))
    eqns = [
        JaxprEqn([a], [b], transpose_p, {"permutation": (1, 0)}),
        JaxprEqn([b], [c], reduce_sum_p, {"axes": (1,)}),
    ]
    return eval_jaxpr(Jaxpr([], [a], [b, c], eqns), [], x)


@probe
def several_results(mj, x, y):
    """A primitive with two results, one with a list of one, and one with none."""
    swap_p, one_p, none_p = (Primitive(name, multiple_results=True) for name in ("s", "o", "n"))
    impl_rules[swap_p] = lambda x, y: [np.multiply(y, 3.0), np.negative(x)]
    impl_rules[one_p] = lambda x: [np.multiply(x, 7.0)]
    impl_rules[none_p] = lambda x: []
    a, b, c, d, e, f = (Var(get_aval(x)) for _ in range(6))
    eqns = [
        JaxprEqn([a, b], [c, d], swap_p, {}),
        JaxprEqn([c], [e], one_p, {}),
        JaxprEqn([c], [], none_p, {}),
        JaxprEqn([e, d], [f], sub_p, {}),
    ]
    return eval_jaxpr(Jaxpr([], [a, b], [f, d, c], eqns), [], x, y)


@probe
def calls_itself(mj, n, x, until_error=False):
    """A program with an equation that runs the program again, n times: n * (n - 1) * ... * x.

    It ends at 1, or with a run more that raises an error, which the equation around it catches.
    """

    def again(n, x):
        if n > 1.0:
            return eval_jaxpr(jaxpr, [], n - 1.0, x)[0]
        if n < 1.0:
            raise ValueError
        if until_error:
            with contextlib.suppress(ValueError):
                eval_jaxpr(jaxpr, [], 0.0, x)
        return x

    again_p = Primitive("again")
    a, b, c, d = (Var(ShapedArray((), np.dtype(float))) for _ in range(4))
    eqns = [JaxprEqn([a, b], [c], again_p, {}), JaxprEqn([a, c], [d], mul_p, {})]
    jaxpr = Jaxpr([], [a, b], [d], eqns)
    impl_rules[again_p] = again
    return eval_jaxpr(jaxpr, [], n, x)


@probe
def two_programs(mj, x, equation, output):
    """A program, run; then a second one that uses a variable of the first and does not bind it.

    That is in an equation or not, or in one before the equation that binds it; and the
    output is that variable, the equation's, or none.
    """
    a, b, c = (Var(get_aval(x)) for _ in range(3))
    whole = Jaxpr([], [a], [b], [JaxprEqn([a], [b], neg_p, {})])
    first = eval_jaxpr(whole, [], x)
    eqns = [JaxprEqn([b], [c], neg_p, {})] if equation else []
    if equation == "too early":
        eqns.append(JaxprEqn([Literal(2.0, ShapedArray((), np.dtype(float)))], [b], neg_p, {}))
    outvars = {"its own": [b], "the equation's": [c], "none": []}[output]
    try:
        second = eval_jaxpr(Jaxpr([], [], outvars, eqns), [])
    except KeyError:
        second = "KeyError"
    return {
        "the outputs of the first program": first,
        "the outputs of the second program, or its error": second,
    }


@probe
def what_ran(mj, x):
    """The operations that an interpreter above sees, and how often each of them was evaluated."""
    runs = []

    def evaluate(x, *, name):
        runs.append(name)
        return x

    same_p, next_p = Primitive("same"), Primitive("next")
    show_p = Primitive("show", multiple_results=True)
    impl_rules[same_p] = evaluate
    impl_rules[next_p] = lambda: runs.append("next") or np.array(float(len(runs)))
    impl_rules[show_p] = lambda x: runs.append(float(np.sum(x))) or []
    a, b, c, unused, same = (Var(get_aval(x)) for _ in range(5))
    d, e = (Var(ShapedArray((), np.dtype(float))) for _ in range(2))
    eqns = [
        JaxprEqn([a], [b], same_p, {"name": "first"}),
        JaxprEqn([a], [unused], same_p, {"name": "second"}),
        JaxprEqn([a], [same], same_p, {"name": "second"}),
        JaxprEqn([], [d], next_p, {}),
        JaxprEqn([], [e], next_p, {}),
        JaxprEqn([b], [], show_p, {}),
        JaxprEqn([b], [c], same_p, {"name": "third"}),
    ]
    jaxpr = Jaxpr([], [a], [c], eqns)
    out, count = counted(lambda x: eval_jaxpr(jaxpr, [], x)[0])(x)
    return {
        "the output": out,
        "the number of operations that an interpreter sees": count,
        "the operations that are evaluated": runs,
    }


@probe(uses=[watching])
def seen_in_charge(mj, x):
    """What an interpreter sees that is in charge of all operations.

    One of them has a literal alone, and one has no operands.
    """
    one, one_p = Literal(1.0, ShapedArray((), np.dtype(float))), Primitive("one")
    impl_rules[one_p] = lambda: np.array(1.0)
    a, b, c, d = (Var(get_aval(x)), Var(get_aval(x)), Var(one.aval), Var(one.aval))
    eqns = [JaxprEqn([a], [b], sin_p, {}), JaxprEqn([one], [c], neg_p, {})]
    jaxpr = Jaxpr([], [a], [b, c, d], [*eqns, JaxprEqn([], [d], one_p, {})])
    with watching() as (_, seen):
        trace_state.dynamic_trace = trace_state.stack[-1]
        try:
            out = eval_jaxpr(jaxpr, [], x)
        finally:
            trace_state.dynamic_trace = None
    return {
        "the operations that the interpreter sees": seen,
        "the classes of the outputs": [type(value).__name__ for value in out],
    }


@probe
def wrong_number(mj, consts, args, empty=False):
    """A program with one constant and two inputs, or with none of them, given these values."""
    k, a, b, c = (Var(ShapedArray((), np.dtype(float))) for _ in range(4))
    whole = Jaxpr([k], [a, b], [k, b, c], [JaxprEqn([k, b], [c], sub_p, {})])
    jaxpr = Jaxpr([], [], [], []) if empty else whole
    try:
        return eval_jaxpr(jaxpr, consts, *args)
    except ValueError:
        return "ValueError"


@probe
def equal_values(mj, values):
    """One program, run on values that are equal in pairs, and on the same one twice."""
    a, b = (Var(ShapedArray((), np.dtype(float))) for _ in range(2))
    jaxpr = Jaxpr([], [a], [b, a], [JaxprEqn([a], [b], neg_p, {})])
    return [eval_jaxpr(jaxpr, [], value) for value in values]


@probe
def long_program(mj, x, length):
    """So many equations, each on the result of the one before."""
    names = [Var(get_aval(x)) for _ in range(length + 1)]
    eqns = [JaxprEqn([a], [b], neg_p, {}) for a, b in itertools.pairwise(names)]
    return eval_jaxpr(Jaxpr([], names[:1], names[-1:], eqns), [], x)


@probe
def failing_equation(mj, error_class):
    """What comes out if the rule of an equation raises this error, even if no output needs it."""
    fail_p, error_class = Primitive("fail"), getattr(builtins, error_class)
    error, scalar = error_class("out"), ShapedArray((), np.dtype(float))

    def fail(x):
        raise error

    impl_rules[fail_p], found = fail, []
    for needed in (True, False):
        a, b = Var(scalar), Var(scalar)
        jaxpr = Jaxpr([], [a], [b if needed else a], [JaxprEqn([a], [b], fail_p, {})])
        try:
            found.append(str(eval_jaxpr(jaxpr, [], 2.0)))
        except BaseException as came:
            found.append("itself" if came is error else type(came).__name__)
    return {"what comes of an equation whose rule raises an error": found}


@pytest.mark.meets("order")
@pytest.mark.keeps("The list of the outputs")
def test_eval_equations(student):
    """Equations run in order, each on the values of its own operands."""
    student.agrees(difference, 1.5, 4.0)
    student.agrees(difference, GRID, GRID[::-1].copy())
    student.agrees(difference, EMPTY, EMPTY)


@pytest.mark.meets("weak_type")
def test_eval_literals(student):
    """A literal stands for its own value, as an operand and as an output."""
    student.agrees(with_literals, 4.0)
    student.agrees(with_literals, ROW)


@pytest.mark.meets("order")
@pytest.mark.keeps("the values of `jaxpr.constvars`")
def test_eval_constants(student):
    """Constants get their values from consts, and inputs theirs from the arguments."""
    student.agrees(with_constants, [2.0, 3.0], [5.0, 7.0])
    student.agrees(with_constants, (ROW, ROW * 2.0), [ROW + 1.0, ROW - 5.0])


@pytest.mark.meets("twice", "sizes", "some_results")
@pytest.mark.keeps("The list of the outputs")
def test_eval_outputs(student):
    """Outputs are looked up one by one: inputs, early results, the same one twice, or none."""
    student.agrees(outputs, np.array(2.0), np.array(0.5))
    student.agrees(outputs, ROW, ROW[::-1].copy())


@pytest.mark.meets("keys")
def test_eval_params(student):
    """The params of an equation reach its primitive."""
    student.agrees(with_params, GRID)
    student.agrees(with_params, EMPTY)


@pytest.mark.meets("more_than_two", "sizes")
def test_eval_several_results(student):
    """An equation may have several results, one, or none."""
    student.agrees(several_results, 2.0, 5.0)
    student.agrees(several_results, ROW, GRID[0])


@pytest.mark.meets("nested", "moment")
@pytest.mark.keeps("run again")
def test_eval_within_itself(student):
    """Two runs of one program at the same time do not disturb each other."""
    student.agrees(calls_itself, 4.0, 2.0)
    student.agrees(calls_itself, 3.0, ROW)


@pytest.mark.meets("exception")
@pytest.mark.parametrize("n", [1.0, 4.0])
@pytest.mark.keeps("run again")
def test_eval_within_itself_after_an_error(student, n):
    """A run goes on with its own values after a run inside it has ended with an error."""
    student.agrees(calls_itself, n, ROW, True)


@pytest.mark.meets("exception")
def test_eval_of_an_equation_that_fails(student):
    """An error of an equation comes out unchanged, even if no output needs the equation."""
    for error in ("KeyError", "TypeError", "ValueError", "NotImplementedError"):
        student.agrees(failing_equation, error)


@pytest.mark.meets("again", "exception")
@pytest.mark.keeps("raises `KeyError`")
def test_eval_forgets(student):
    """What one program has computed is not known to the next one."""
    student.agrees(two_programs, 2.0, False, "its own")
    student.agrees(two_programs, ROW, True, "the equation's")
    student.agrees(two_programs, ROW, True, "none")
    student.agrees(two_programs, 2.0, "too early", "the equation's")


@pytest.mark.meets("some_results")
@pytest.mark.keeps("whichever interpreters are active", "is bound once")
def test_eval_binds(student):
    """Every equation is bound once, in order, so that interpreters above see it."""
    student.agrees(what_ran, 3.0)
    student.agrees(what_ran, ROW)
    student.agrees(seen_in_charge, 3.0)


@pytest.mark.meets("exception")
@pytest.mark.keeps("one for each")
def test_eval_counts_values(student):
    """More or fewer values than variables are rejected."""
    student.agrees(wrong_number, [1.0], [2.0, 3.0])
    student.agrees(wrong_number, [1.0], [2.0])
    student.agrees(wrong_number, [1.0], [2.0, 3.0, 4.0])
    student.agrees(wrong_number, [], [2.0, 3.0])


@pytest.mark.keeps("one for each")
def test_eval_counts_consts_and_args_apart(student):
    """An extra constant does not make up for a missing argument."""
    student.agrees(wrong_number, [1.0, 2.0], [3.0])
    student.agrees(wrong_number, [1.0, 2.0], [3.0, 4.0])
    student.agrees(wrong_number, [], [1.0, 2.0, 3.0])
    for consts, args in ([], []), ([1.0], []), ([], [1.0]):
        student.agrees(wrong_number, consts, args, True)


@pytest.mark.meets("again", "caching", "extremes")
def test_eval_equal_values(student):
    """Each run computes with its own values, even if they equal those of another run."""
    student.agrees(equal_values, [1, 1.0, np.float32(1.0), 0.0, -0.0, 2.0, 2.0])


@pytest.mark.meets("length")
@pytest.mark.keeps("thousands")
def test_eval_long_programs(student):
    """A program may be long."""
    student.agrees(long_program, 2.0, 3001)


# Types of results ---------------------------------------------------------------------------------


@probe
def type_of_product(mj, x, y, numbers, preferred=None):
    """The type of a product of two arrays: known, or of a shape and a dtype, maybe weakly typed."""
    types = [
        ShapedArray(z[0], np.dtype(z[1]), *z[2:]) if isinstance(z, tuple) else get_aval(z)
        for z in (x, y)
    ]
    preferred = preferred and np.dtype(preferred)
    try:
        out = dot_general_type(*types, dimension_numbers=numbers, preferred_element_type=preferred)
    except TypeError:
        return "TypeError"
    return {
        "the result's shape": out.shape,
        "the result's dtype is a NumPy dtype": isinstance(out.dtype, np.dtype),
        "the result's dtype": str(out.dtype),
        "the result is weakly typed": out.weak_type,
        "the result is a plain ShapedArray": type(out) is ShapedArray,
        "the types of the operands, which stay": [str(aval) for aval in types],
    }


exercise("jaxprs.dot_general_type")

MATRICES = (((1,), (0,)), ((), ()))
VECTORS = (((0,), (0,)), ((), ()))
STACKS = (((1,), (1,)), ((0,), (0,)))


@pytest.mark.keeps("The type of the product", "a plain `ShapedArray`")
def test_product_of_matrices(student):
    """Matrices and vectors multiply: the contracted axes disappear, rows come before columns."""
    student.agrees(type_of_product, GRID, np.ones((3, 2)), MATRICES)
    student.agrees(type_of_product, ROW, ROW, VECTORS)
    student.agrees(type_of_product, ((2, 3), "float64"), ((3, 5), "float64"), MATRICES)
    student.agrees(type_of_product, ((3,), "float32"), ((3,), "float32"), VECTORS)
    student.agrees(type_of_product, ((0, 3), "float64"), ((3, 0), "float64"), MATRICES)
    student.agrees(type_of_product, ((2, 3), "bool"), ((3, 5), "bool"), MATRICES)
    million = 10**6  # a type is cheap, whatever the array would be
    student.agrees(type_of_product, ((million, 3), "int8"), ((3, million), "int8"), MATRICES)
    student.agrees(
        type_of_product, ((3, 2), "float64"), ((5, 3), "float64"), (((0,), (1,)), ((), ()))
    )


@pytest.mark.meets("weak_type")
@pytest.mark.keeps("weakly typed if both operands are")
def test_product_weak_type(student):
    """The weak type of a product follows from both operands'."""
    for weak in ((True, True), (True, False), (False, True)):
        x, y = ((2, 3), "float64", weak[0]), ((3, 5), "float64", weak[1])
        student.agrees(type_of_product, x, y, MATRICES)
        for preferred in "float32", "float64":
            student.agrees(type_of_product, x, y, MATRICES, preferred)
        student.agrees(type_of_product, x, y, (((), ()), ((), ())))
        x, y = ((3, 5), "int32", weak[0]), ((3, 5), "int32", weak[1])
        student.agrees(type_of_product, x, y, STACKS)
        student.agrees(type_of_product, x, y, (((0, 1), (0, 1)), ((), ())))
    student.agrees(type_of_product, 2.0, 3.0, (((), ()), ((), ())))


@pytest.mark.meets("sizes")
@pytest.mark.keeps("The type of the product")
def test_product_without_contraction(student):
    """There may be no contracted axis, or several."""
    for shape in (2, 3), ():
        x, y = (shape, "float64"), ((5,), "float64")
        student.agrees(type_of_product, x, y, (((), ()), ((), ())))
        student.agrees(type_of_product, y, x, (((), ()), ((), ())))
    x = (2, 3, 7), "float64"
    every = (2, 0, 1), (2, 0, 1)
    student.agrees(type_of_product, x, x, (every, ((), ())))
    student.agrees(type_of_product, x, x, (((), ()), every))
    student.agrees(
        type_of_product, ((2, 3, 7), "int32"), ((7, 5, 2), "int32"), (((0, 2), (2, 0)), ((), ()))
    )


@pytest.mark.meets("axes")
@pytest.mark.keeps("(batch axes of x, of y)")
def test_product_batch_axes(student):
    """Batch axes come first in the result, as the call lists them, wherever they are in x and y."""
    batch = (((1,), (0,)), ((2,), (1,)))
    student.agrees(type_of_product, ((2, 3, 7), "float64"), ((3, 7, 5), "float64"), batch)
    many, ones = ((1, 2, 1, 1, 1, 1, 1, 1, 3), "float64"), ((1,) * 7, "float64")
    student.agrees(type_of_product, many, ones, (((0, *range(2, 8)), tuple(range(7))), ((), ())))
    same = (2, 3, 2), "float64"  # in two places of a product, with different axes
    for pair in ((0,), (2,)), ((2,), (0,)):
        student.agrees(type_of_product, same, same, (pair, ((), ())))


@pytest.mark.meets("order", "axes")
@pytest.mark.keeps("The type of the product", "(batch axes of x, of y)")
def test_product_of_stacks(student):
    """Several batch axes come in the order in which the call lists them."""
    x, y = ((2, 11, 3, 7), "float64"), ((7, 5, 11, 13), "float64")
    for batch in ((3, 1), (0, 2)), ((1, 3), (2, 0)):
        student.agrees(type_of_product, x, y, (((), ()), batch))


@pytest.mark.meets("sizes", "exception")
@pytest.mark.keeps("have the same size", "Anything else")
def test_product_refuses_lengths(student):
    """Axes that go together must have the same size, contracted axes and batch axes alike."""
    for n in (2, 0):
        x = (n, 3), "float64"
        student.agrees(type_of_product, x, ((4, 5), "float64"), MATRICES)
        student.agrees(type_of_product, x, ((4, 3), "float64"), STACKS)
        student.agrees(type_of_product, x, ((1, 3), "float64"), STACKS)
    for numbers in MATRICES, STACKS:  # a size of 1 fits no other
        student.agrees(type_of_product, ((1, 1), "float64"), ((4, 1), "float64"), numbers)
    for axes in ((0, 1), (0,)), ((0,), (0, 1)):  # as many axes as in the other operand, but apart
        numbers = axes, tuple((0, 1)[len(some) :] for some in axes)
        student.agrees(type_of_product, ((2, 3), "float64"), ((2, 3), "float64"), numbers)
    pairs = (((0, 1), (0, 1)), ((), ()))  # the same lengths, in another order
    student.agrees(type_of_product, ((2, 3), "float64"), ((3, 2), "float64"), pairs)
    for alone in (((1,), ()), ((), (1,)), ((0, 1), (1,))):  # an axis that has no partner
        student.agrees(type_of_product, ((2, 3), "float64"), ((2, 3), "float64"), (alone, ((), ())))
        student.agrees(type_of_product, ((2, 3), "float64"), ((2, 3), "float64"), (((), ()), alone))


@pytest.mark.meets("order", "more_than_two")
@pytest.mark.parametrize("preferred", [None, "float32"])
@pytest.mark.keeps("have the same size")
def test_product_refuses_lengths_of_any_pair(student, preferred):
    """The second pair counts as the first does, order too, whatever is computed in."""
    for shape in ((2, 3, 5), (2, 5, 3), (3, 2, 5), (2, 3, 1)):
        x, y = ((2, 3, 5), "float64"), (shape, "float64")
        for pair, rest in (((0, 1), (2,)), ((2, 0), (1,)), ((1, 2), ())):
            student.agrees(type_of_product, x, y, ((pair, pair), ((), ())), preferred)
            student.agrees(type_of_product, x, y, ((rest, rest), (pair, pair)), preferred)


@pytest.mark.keeps("name no axis twice", "Anything else")
def test_product_refuses_axes(student):
    """An axis that does not exist, or that is listed twice, is rejected."""
    x = (2, 3, 3), "float64"
    for axes in ((3,), (-1,), (1, 1), (0, 7), (0, -2)):
        for numbers in (((axes, axes), ((), ())), (((), ()), (axes, axes))):
            student.agrees(type_of_product, x, x, numbers)
            student.agrees(type_of_product, x, x, numbers, "float32")
    for batch in ((1,), (1,)), ((2,), (1,)), ((1,), (2,)):  # contracted and batched, in x or in y
        student.agrees(type_of_product, x, x, (((1,), (1,)), batch))
    one_wrong = [((3,), (1,)), ((1,), (3,)), ((-1,), (1,)), ((1,), (-1,)), ((1, 1), (1, 2))]
    for pair in (*one_wrong, ((1, 2), (1, 1)), ((1, 2), (2, 1))):  # or none
        student.agrees(type_of_product, x, x, (pair, ((), ())))
        student.agrees(type_of_product, x, x, (((), ()), pair))


@pytest.mark.meets("float32")
@pytest.mark.keeps("The dtypes are the same", "Its dtype is")
def test_product_dtype(student):
    """The operands share a dtype, which is the result's, or the call says in which one to work."""
    student.agrees(type_of_product, ((2, 3), "int8"), ((3, 5), "int8"), MATRICES)
    student.agrees(type_of_product, ((2, 3), "float32"), ((3, 5), "float64"), MATRICES)
    student.agrees(type_of_product, ((2, 3), "float32"), ((3, 5), "float64"), MATRICES, "float64")
    student.agrees(type_of_product, ((2, 3), "int8"), ((3, 5), "int8"), MATRICES, "int32")
    student.agrees(type_of_product, ((2, 3), "int8"), ((3, 5), "int32"), MATRICES)
    student.agrees(type_of_product, ((2, 3), "int8"), ((3, 5), "float64"), MATRICES, "float32")
    for one, other in (("int64", "float64"), ("bool", "int8"), ("uint8", "int8")):
        student.agrees(type_of_product, ((2, 3), one), ((3, 5), other), MATRICES)
        student.agrees(type_of_product, ((2, 3), other), ((3, 5), one), MATRICES)
    number, row = ((), "float64", True), ((3,), "float32")
    for x, y in (number, row), (row, number):
        student.agrees(type_of_product, x, y, (((), ()), ((), ())))
        student.agrees(type_of_product, x, y, (((), ()), ((), ())), "float64")
    for weak in ((True, False), (False, True), (True, True)):  # which does not help
        x, y = ((2, 3), "float64", weak[0]), ((3, 5), "float32", weak[1])
        student.agrees(type_of_product, x, y, MATRICES)
        student.agrees(type_of_product, x, y, MATRICES, "int32")


exercise("jaxprs.check_equation")


def checked(eqn, variables, bound, number=1, after=False):
    """What a checker that has come to this equation says, and which variables are bound then.

    With `after`, it is asked what is bound after an error too; and the equation is checked again.
    """
    checker = TypeChecker(Jaxpr([], [], [], [eqn]))
    checker.bound, checker.eqn, checker.number = set(bound), eqn, number
    parts = [*eqn.invars], [*eqn.outvars], {**eqn.params}
    out, error, named = None, ["nothing"], True
    try:
        out = checker.check_equation(eqn)
    except TypeError as caught:
        error, named = ["TypeError"], str(caught).startswith(f"In equation {number}, `")
    in_bound = [var in checker.bound for var in variables]
    if after:
        try:
            checker.check_equation(eqn)
        except TypeError:
            error.append("TypeError")
    return {
        "error": error,
        "the error names the equation": named,
        "the equation stays as it is": (eqn.invars, eqn.outvars, eqn.params) == parts,
        "value": out,
        "a variable is bound afterwards": in_bound if after or error == ["nothing"] else None,
        "the types of the variables, which stay": [
            (var.aval.shape, str(var.aval.dtype), var.aval.weak_type) for var in variables
        ],
    }


@probe(uses=[checked])
def equation(mj, operands, results, types, bound=(), inner="", number=1, after=False):
    """Whether an equation holds, and what is bound then.

    `operands` and `results` are numbers of variables, all of type f64[2], or a literal's value and
    type; `types` are what the rule says, as shape, dtype and weak type, or its error. `inner` is
    about the programs among the parameters.
    """

    def type_of(shape, dtype, weak):
        return ShapedArray(shape, np.dtype(dtype), weak)

    def rule(*avals, **params):
        if isinstance(types, str):
            raise getattr(builtins, types)("These operands {0} do not fit.")
        return [type_of(*each) for each in types]

    variables = [Var(ShapedArray((2,), np.dtype(float))) for _ in range(5)]
    made_up_p = Primitive("made_up", multiple_results=True)
    abstract_eval_rules[made_up_p] = rule
    a, b = variables[:2]
    k = Var(a.aval)  # the program's own constant; its input is a variable outside, too
    good = Jaxpr([k], [a], [k, a], [])
    held = good.replace(outvars=[k, b]) if "wrong" in inner else good
    if "deep" in inner:
        held = good.replace(eqns=[JaxprEqn([a], [], made_up_p, {"jaxpr": held})])
    if "open" not in inner:
        good, held = ClosedJaxpr(good, [np.ones(2)]), ClosedJaxpr(held, [np.ones(2)])
    params = {"jaxpr": held}
    if "three" in inner:
        params = {"n": 3, "branches": (good, held, good), "more": good}
    ins = [variables[i] if isinstance(i, int) else Literal(i[0], type_of(*i[1])) for i in operands]
    eqn = JaxprEqn(ins, [variables[i] for i in results], made_up_p, params if inner else {})
    return checked(eqn, variables, [variables[i] for i in bound], number, after)


@probe(uses=[checked])
def sine(mj, x, *ys):
    """Whether `y = sin x` holds for variables of these shapes and dtypes, maybe weakly typed."""
    a, *bs = (Var(ShapedArray(shape, np.dtype(dtype), *weak)) for shape, dtype, *weak in (x, *ys))
    return checked(JaxprEqn([a], bs, sin_p, {}), [a, *bs], [a])


@pytest.mark.meets("weak_type", "sizes", "mutation")
@pytest.mark.keeps("Bind the results", "whether they are weak")
def test_equation_that_holds(student):
    """An equation that is right binds its results, be they several, one or none."""
    student.agrees(equation, [0], [1], [VECTOR], [0])
    student.agrees(equation, [0, 2], [1, 3], [VECTOR, VECTOR], [0, 2])
    student.agrees(equation, [0], [], [], [0])
    student.agrees(equation, [], [4], [((2,), "float64", True)])
    student.agrees(equation, [], [4], [VECTOR], [], "right")
    student.agrees(sine, ((3,), "float32"), ((3,), "float32"))
    student.agrees(sine, ((3,), "float32"), ((3,), "float32", True))


@pytest.mark.meets("more_than_two")
@pytest.mark.keeps("its operands")
def test_equation_operands(student):
    """Each operand must be one that may be used, the first and the last."""
    student.agrees(equation, [1, 0], [3], [VECTOR], [0])
    student.agrees(equation, [0, 1], [3], [VECTOR], [0])
    student.agrees(equation, [0, 1], [], [], [0])
    student.agrees(equation, [0, 2, 1], [3], [VECTOR], [0, 2], "", 1, True)
    student.agrees(equation, [1], [3], [VECTOR], [0], "right")
    student.agrees(equation, [1], [3], "KeyError", [0])


@pytest.mark.meets("weak_type", "float32")
@pytest.mark.keeps("its operands")
def test_equation_literals(student):
    """A literal must be what its type says."""
    number, weak, array = ((), "float64", False), ((), "float64", True), VECTOR
    for value in 2.0, 2, np.array(2.0), np.float32(2.0), np.array([2.0, 3.0]):
        student.agrees(equation, [0, (value, number)], [3], [VECTOR], [0])
    for literal in (2.0, weak), (2, weak), (2.0, array):
        student.agrees(equation, [literal], [3], [VECTOR])


@pytest.mark.meets("moment")
def test_equation_uses_its_result(student):
    """An equation cannot use its own results."""
    student.agrees(equation, [1], [1], [VECTOR], [0])


def test_equation_uses_one_of_its_results(student):
    """An equation with several results cannot use one of them."""
    student.agrees(equation, [0, 3], [2, 3], [VECTOR, VECTOR], [0])


@pytest.mark.meets("order", "more_than_two")
@pytest.mark.keeps("returns the types of its results")
def test_equation_shapes(student):
    """A result with a different shape than its variable is rejected, whether first or last."""
    student.agrees(equation, [0], [1], [((3,), "float64", False)], [0])
    student.agrees(equation, [0], [1], [((), "float64", False)], [0])
    student.agrees(equation, [], [1], [((3,), "float64", False)])
    student.agrees(equation, [0], [1], [((3,), "float64", False)], [0], "three right")
    student.agrees(equation, [0], [1, 2], [VECTOR, ((2, 1), "float64", False)], [0])
    student.agrees(equation, [0], [1, 2], [((1, 2), "float64", False), VECTOR], [0])
    student.agrees(sine, ((3,), "float64"), ((2,), "float64"))
    student.agrees(sine, ((3,), "float64"), ((), "float64"))
    student.agrees(sine, ((1, 3), "float64"), ((2, 3), "float64"))
    student.agrees(sine, ((2, 3), "float64"), ((1, 3), "float64"))


@pytest.mark.parametrize("wrong", [1, 2])
@pytest.mark.keeps("Bind the results")
def test_equation_binds_all_or_nothing(student, wrong):
    """The results of an equation are bound if it is right, and none of them if it is wrong."""
    types = [VECTOR, VECTOR, VECTOR]
    student.agrees(equation, [0], [1, 2, 3], types, [0])
    types = [((3,), "float64", False) if i == wrong else VECTOR for i in range(3)]
    student.agrees(equation, [0], [1, 2, 3], types, [0], "", 1, True)
    student.agrees(equation, [0], [1, 2, 3], [VECTOR] * (1 + wrong), [0], "", 1, True)
    student.agrees(equation, [0], [wrong], [VECTOR], [0], "wrong", 1, True)
    student.agrees(equation, [0], [wrong], "TypeError", [0], "", 1, True)


def test_equation_dtypes(student):
    """A result with a different dtype is rejected, even if it could be converted."""
    student.agrees(equation, [0], [1], [((2,), "float32", False)], [0])


@pytest.mark.meets("float32")
def test_equation_dtypes_everywhere(student):
    """A wrong dtype is rejected in one result among several, and for a rule of this module."""
    student.agrees(equation, [0], [1, 2], [VECTOR, ((2,), "int64", True)], [0])
    student.agrees(sine, ((3,), "float32"), ((3,), "float64"))
    student.agrees(sine, ((3,), "float64"), ((3,), "float32"))
    student.agrees(sine, ((3,), "float32", True), ((3,), "float64", True))


def test_equation_number_of_results(student):
    """More variables than results are rejected."""
    student.agrees(equation, [0], [1, 2], [VECTOR], [0])
    student.agrees(equation, [0], [1], [], [0])
    student.agrees(sine, ((3,), "float64"), ((3,), "float64"), ((3,), "float64"))


def test_equation_results_left_over(student):
    """Fewer variables than results are rejected."""
    student.agrees(equation, [0], [1], [VECTOR, VECTOR], [0])
    student.agrees(equation, [0], [], [VECTOR], [0])
    student.agrees(equation, [0], [1, 2, 3], [VECTOR] * 4, [0])
    student.agrees(sine, ((3,), "float64"))


@pytest.mark.meets("twice")
@pytest.mark.keeps("Bind the results")
def test_equation_binds_once(student):
    """A result cannot go to a variable that has a value already, or to one variable twice."""
    student.agrees(equation, [0], [0], [VECTOR], [0])
    student.agrees(equation, [0], [1, 1], [VECTOR, VECTOR], [0])
    student.agrees(equation, [0], [1, 2, 1], [VECTOR, VECTOR, VECTOR], [0])


@pytest.mark.meets("keys", "nested")
@pytest.mark.keeps("programs in its parameters")
def test_equation_inside(student):
    """Programs among an equation's parameters are checked like the program itself."""
    student.agrees(equation, [0], [1], [VECTOR], [0], "right")
    student.agrees(equation, [0], [1], [VECTOR], [0], "wrong")
    student.agrees(equation, [0], [2], [VECTOR], [0, 1], "wrong")
    student.agrees(equation, [0], [1], [VECTOR], [0], "three right")
    student.agrees(equation, [0], [1], [VECTOR], [0], "three wrong")
    student.agrees(equation, [0], [1], [VECTOR], [0], "open wrong")
    student.agrees(equation, [0], [1], [VECTOR], [0], "three open wrong")
    student.agrees(equation, [0], [1], [VECTOR], [0], "deep wrong")
    student.agrees(equation, [], [1], [VECTOR], [], "wrong")
    student.agrees(equation, [0], [], [], [0], "wrong")
    student.agrees(equation, [0], [1], "KeyError", [0], "wrong")


@pytest.mark.meets("exception")
@pytest.mark.keeps("says where")
def test_equation_complaint(student):
    """The complaint about results says where, even if there is a program among the parameters."""
    student.agrees(equation, [0], [2], [((3,), "float64", False)], [0, 1], "", 2)
    for types in ([], [VECTOR, VECTOR], [((3,), "float64", False)], [((2,), "int64", False)]):
        student.agrees(equation, [0], [1], types, [0], "right")


@pytest.mark.meets("exception")
@pytest.mark.keeps("says where")
def test_equation_refused_by_its_rule(student):
    """Whatever error the rule raises, the message says that the program is wrong, and where."""
    for error in ("TypeError", "ValueError", "IndexError"):
        student.agrees(equation, [0], [1], error, [0])
    student.agrees(sine, ((3,), "int64"), ((3,), "int64"))


@pytest.mark.meets("order", "sizes", "axes")
def test_equation_sizes(student):
    """Shapes with equally many entries and axes may still differ."""
    student.agrees(sine, ((2, 3), "float64"), ((3, 2), "float64"))
    student.agrees(sine, ((1, 6), "float64"), ((2, 3), "float64"))
    student.agrees(sine, ((0, 2), "float64"), ((3, 0), "float64"))


# Random programs ----------------------------------------------------------------------------------

LAX = [
    *("neg", "sin", "cos", "exp", "log", "add", "sub", "mul", "div", "gt", "lt"),
    *("reduce_sum", "transpose", "broadcast_in_dim", "convert_element_type", "dot_general"),
]


@probe
def program_run(mj, jaxpr, xs):
    """The results of a program.

    >>> mj.jaxpr.eval_jaxpr(jaxpr, [], *xs)
    """
    return eval_jaxpr(jaxpr, [], *xs)


@probe
def program_type(mj, jaxpr):
    """The type of a program; and whether it has one without its first equation.

    >>> mj.jaxpr.typecheck_jaxpr(jaxpr)
    """
    try:
        less = str(typecheck_jaxpr(jaxpr.replace(eqns=jaxpr.eqns[1:])))
    except TypeError:
        less = "TypeError"
    return {
        "the type of the program": str(typecheck_jaxpr(jaxpr)),
        "the type of the program without its first equation": less,
    }


@probe
def types_in_program(mj, jaxpr):
    """The types of the results of each operation, by the rules.

    >>> mj.jaxpr.typecheck_jaxpr(jaxpr)
    """
    found = [abstract_eval(e.primitive, [x.aval for x in e.invars], e.params) for e in jaxpr.eqns]
    return {
        "the shapes of the results": [[aval.shape for aval in avals] for avals in found],
        "the dtypes of the results": [[str(aval.dtype) for aval in avals] for avals in found],
    }


exercise("jaxprs.eval_jaxpr")


@pytest.mark.meets("float32")
def test_random_programs_run(student):
    """A random program is run correctly."""
    student.agrees_on_programs(program_run, operations=LAX)


exercise("jaxprs.dot_general_type")


def test_contractions_in_programs(student):
    """In random programs the results of contractions have the right types."""
    student.agrees_on_programs(types_in_program, operations=LAX, using=["dot_general"])


exercise("jaxprs.check_equation")


def test_random_programs_are_well_typed(student):
    """A random program that holds together has a type."""
    student.agrees_on_programs(program_type, operations=LAX)


exercise("jaxprs.whole")


@probe
def run_and_transformed(mj, jaxpr, xs, ts):
    """A typed program as a function: results, tangents, and those of two examples at once."""
    f = jaxpr_as_fun(ClosedJaxpr(jaxpr, []))
    return {
        "the type of the program": str(typecheck_jaxpr(jaxpr)),
        "the results": f(*xs),
        "the values and tangents": mj.jvp(f, xs, ts),
        "the results for two examples at once": mj.vmap(f)(*([np.stack([x, x]) for x in xs])),
    }


@probe
def types_and_values(mj, jaxpr, xs):
    """The type of a program, beside the types of what it gives.

    >>> mj.jaxpr.eval_jaxpr(jaxpr, [], *xs)
    """
    outs = [get_aval(out) for out in eval_jaxpr(jaxpr, [], *xs)]
    claimed = typecheck_jaxpr(jaxpr)
    return {
        "the type of the program": str(claimed),
        "the shapes of the results": [aval.shape for aval in outs],
        "the dtypes of the results": [str(aval.dtype) for aval in outs],
    }


@probe
def broken_in_each_place(mj, jaxpr):
    """What the checker says of a program that was spoilt, in many ways, equation by equation."""

    def says(eqns, invars=jaxpr.invars):
        try:
            return str(typecheck_jaxpr(jaxpr.replace(eqns=eqns, invars=invars)))
        except TypeError as error:
            place = str(error).split(",")[0]
            return place if place.startswith("In equation") else "no equation is named"

    def another(var, shape=None, dtype=None):
        aval = var.aval
        return Var(ShapedArray(shape or aval.shape, np.dtype(dtype or aval.dtype)))

    found, eqns = [says([*jaxpr.eqns], [*jaxpr.invars, *jaxpr.invars[:1]])], jaxpr.eqns
    for i, eqn in enumerate(eqns):
        before, behind = eqns[:i], eqns[i + 1 :]
        wrong = Literal(True, ShapedArray((), np.dtype("int64")))
        spoilt = [
            eqn.replace(outvars=[another(v, dtype="int8") for v in eqn.outvars]),
            eqn.replace(outvars=[another(v, (*v.aval.shape, 7)) for v in eqn.outvars]),
            eqn.replace(outvars=[*eqn.outvars, *map(another, eqn.outvars)]),
            eqn.replace(outvars=eqn.invars[:1]),
            eqn.replace(outvars=[]),
            eqn.replace(invars=eqn.outvars),
            *(eqn.replace(invars=[*eqn.invars[:k], wrong]) for k in range(len(eqn.invars))),
        ]
        found += [says([*before, other, *behind]) for other in spoilt]
        found += [says([*before, *behind]), says([*before, eqn, *behind, eqn])]
        found += [says([*before, *behind[:1], eqn, *behind[1:]])]
    return {"a spoilt program is refused, with the right equation named": found}


@probe
def programs_inside(mj, jaxpr):
    """A program of which one equation has programs among its parameters, maybe a wrong one."""
    call_p = Primitive("call", multiple_results=True)
    abstract_eval_rules[call_p] = lambda *avals, **params: [x.aval for x in jaxpr.outvars]
    good, bad = ClosedJaxpr(jaxpr, []), ClosedJaxpr(jaxpr.replace(eqns=jaxpr.eqns[1:]), [])
    ins, outs = ([Var(x.aval) for x in atoms] for atoms in (jaxpr.invars, jaxpr.outvars))
    found = []
    for held in (good, (good,) * 3, bad, (good, good, bad), (bad,)):
        params = {"n": 3, "branches": held}
        try:
            outer = Jaxpr([], ins, outs, [JaxprEqn(ins, outs, call_p, params)])
            found.append(str(typecheck_jaxpr(outer)))
        except TypeError as error:
            found.append(str(error).startswith("In equation 1, `"))
    return {
        "the type of a program with a right program in a parameter": found[0],
        "the type of a program with three right programs in a parameter": found[1],
        "a wrong program in a parameter is refused, with the equation named": found[2:],
    }


@probe
def power(mj, x, n):
    """A program whose equation runs the same program with the next lower number: x ** n, typed."""
    again_p = Primitive("again")
    number, aval = ShapedArray((), np.dtype(float)), get_aval(x)
    one = Literal(np.array(1.0), number)
    k, less = Var(number), Var(number)
    a, b, c = (Var(aval) for _ in range(3))
    eqns = [
        JaxprEqn([k, one], [less], sub_p, {}),
        JaxprEqn([less, a], [b], again_p, {}),
        JaxprEqn([a, b], [c], mul_p, {}),
    ]
    jaxpr = Jaxpr([k], [a], [c], eqns)
    abstract_eval_rules[again_p] = lambda k, x: x
    impl_rules[again_p] = lambda k, x: eval_jaxpr(jaxpr, [k], x)[0] if k > 0.5 else np.ones_like(x)
    return {
        "the outputs": eval_jaxpr(jaxpr, [np.array(n)], x),
        "the type of the program": str(typecheck_jaxpr(jaxpr)),
    }


@probe
def typed_product(mj, x, y):
    """A program that multiplies two matrices and negates the product: its type, and its value."""
    a, b = Var(get_aval(x)), Var(get_aval(y))
    params = {"dimension_numbers": (((1,), (0,)), ((), ())), "preferred_element_type": None}
    (aval,) = abstract_eval(dot_general_p, [a.aval, b.aval], params)
    c, d = Var(aval), Var(aval)
    eqns = [JaxprEqn([a, b], [c], dot_general_p, params), JaxprEqn([c], [d], neg_p, {})]
    jaxpr = Jaxpr([], [a, b], [d], eqns)
    return {
        "the type of the program": str(typecheck_jaxpr(jaxpr)),
        "the outputs": eval_jaxpr(jaxpr, [], x, y),
    }


@probe
def programs_apart(mj, x):
    """Programs of the same variables, in turn, after one that fails; what is kept of each.

    And the types, weak or not, by the rules of operations without an exercise.
    """

    def says(f, *args, **params):
        try:
            return [str(out) for out in f(*args, **params)]
        except (KeyError, TypeError) as error:
            return type(error).__name__

    def typed(primitive, *avals, **params):
        return says(abstract_eval, primitive, avals, params)

    strong, weak = (ShapedArray((), np.dtype(float), flag) for flag in (False, True))
    fail_p, (a, b, c) = Primitive("fail"), (Var(strong) for _ in range(3))
    abstract_eval_rules[fail_p] = lambda x: x
    impl_rules[fail_p] = lambda x: {}[x]
    of_b = {p: JaxprEqn([b], [c], p, {}) for p in (sin_p, exp_p, fail_p)}
    first = JaxprEqn([a], [b], neg_p, {})
    programs = [Jaxpr([], [a], [c], [first, eqn]) for eqn in of_b.values()]
    programs += [programs[0].replace(eqns=[of_b[sin_p]]), programs[0].replace()]
    functions = [jaxpr_as_fun(ClosedJaxpr(program, [])) for program in programs]
    in_turn, made = [0, 1, 2, 3, 0, 4, 0], []
    told = {
        "the outputs, or the error, of each program": [says(functions[i], x) for i in in_turn],
        "the types, or the error": [says(typecheck_jaxpr, programs[i]) for i in in_turn],
        "the programs as text": [str(programs[i]) for i in (0, 0, 1)],
        "what is kept of each program": [
            kept(programs[i], "n", lambda n=n: made.append(n) or n) for n, i in enumerate(in_turn)
        ],
        "what is kept of programs that have gone": [
            kept(Jaxpr([], [], [], []), "n", lambda n=n: made.append(n) or n) for n in range(3)
        ],
        "what was made to be kept": made,
        "what two functions keep beside a program": [
            kept_beside(lambda jaxpr, n=n: n)(programs[0]) for n in range(2)
        ],
        "the value of a weakly typed literal": repr(Literal(np.array(2.5), weak).val),
    }
    told["the types of operations"] = [
        *(typed(p, x, y) for p in (sub_p, lt_p) for x in (weak, strong) for y in (weak, strong)),
        *(typed(reduce_sum_p, x, axes=()) for x in (weak, strong)),
        *(typed(p, ShapedArray((), np.dtype(int))) for p in (neg_p, exp_p)),
    ]
    return told


def test_whole_products(student):
    """A program with a product has the type of what it computes."""
    student.agrees(typed_product, np.ones((2, 3)), np.ones((3, 4)))


def test_whole_apart(student):
    """Each program is run, checked and printed as if there were no other, even after one fails."""
    student.agrees(programs_apart, 0.5)


@pytest.mark.meets(nested="eval_jaxpr")
def test_whole_transformations(student):
    """A random program is a function like any other: it runs, is differentiated and is mapped."""
    student.agrees_on_programs(run_and_transformed, operations=LAX, dtypes=["float64"])


def test_whole_types(student):
    """The type of a random program is the type of what it computes."""
    student.agrees_on_programs(types_and_values, operations=LAX)


@pytest.mark.meets(moment="check_equation")
def test_whole_broken_programs(student):
    """A program that is wrong in one place is rejected there, and only then."""
    student.agrees_on_programs(broken_in_each_place, operations=LAX)


@pytest.mark.meets(keys="check_equation", nested="check_equation")
def test_whole_programs_inside(student):
    """Programs inside a program are checked, whatever the parameter is called."""
    student.agrees_on_programs(programs_inside, operations=LAX)


def test_whole_within_itself(student):
    """A typed program that runs itself computes a power."""
    student.agrees(power, np.array(1.5), 4.0)
    student.agrees(power, ROW, 3.0)
