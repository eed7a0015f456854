"""Hidden tests of the `grad` lesson: transposition, and reverse mode.

Every exercise is tested alone. Where its target calls what a sibling exercise defines, the probe
puts a right one in its place meanwhile. In data that are sent, `["linear", shape, dtype]` stands
for an `UndefPrimal`, and programs are lists (see `program`). Nothing here is compiled: calls of
programs are evaluated equation by equation.
"""

import contextlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place, one_program, watching
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import builtins
    import gc
    import itertools
    import weakref
    from unittest.mock import patch

    from minijax import core, jaxpr, tracing
    from minijax.core import ShapedArray, UndefPrimal, get_aval, impl_rules
    from minijax.jaxpr import eval_jaxpr
    from minijax.jit import jit_p
    from minijax.linearize import linearize_tree
    from minijax.transpose import dot_cotangent, transposed_jaxpr, unbroadcast

F32 = np.float32
F64 = "float64"

ROW = np.array([0.5, -2.0, 3.0])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])
CUBE = np.sin(np.arange(24.0)).reshape(2, 3, 4)
EMPTY = np.zeros((0, 2))
INTEGERS = np.array([[2, -3], [5, 7]])  # a linear function may be one of integers
BYTES = INTEGERS.astype(np.int8)  # whose sum is one of bytes, and NumPy's is not


# What several probes use --------------------------------------------------------------------------


@contextlib.contextmanager
def evaluating(siblings):
    """The module with right siblings in place; calls of programs are evaluated, not compiled."""

    def evaluate(*args, name, jaxpr):
        return run(jaxpr, args)

    rules = patch.dict(impl_rules, {jit_p: evaluate})
    with in_place("minijax.transpose", siblings) as module, rules:
        yield module


def run(closed, args):
    """The results of a program."""
    return eval_jaxpr(closed.jaxpr, closed.consts, *args)


def operand(x):
    """An operand of a rule, from the data that were sent."""
    if isinstance(x, list) and x and x[0] == "linear":
        return UndefPrimal(ShapedArray(tuple(x[1]), np.dtype(x[2])))
    return x


def shown(x):
    """Plain data of boxes and lists."""
    if isinstance(x, (list, tuple)):
        return type(x)(shown(y) for y in x)
    return getattr(x, "val", x)


def program(num_consts, types, eqns, outs, extra=None):
    """A jaxpr. Variables are numbered: constants, inputs, then the results of the equations."""
    variables = [jaxpr.Var(ShapedArray(tuple(shape), np.dtype(dtype))) for shape, dtype in types]
    number = len(variables)

    def atom(x):
        scalar = ShapedArray((), np.dtype(float))
        return variables[x] if isinstance(x, int) else jaxpr.Literal(x, scalar)

    lines = []
    for name, operands, params in eqns:
        primitive = (extra or {}).get(name) or getattr(core, name + "_p")
        invars = [atom(x) for x in operands]
        avals = jaxpr.abstract_eval(primitive, [x.aval for x in invars], params)
        outvars = [jaxpr.Var(aval) for aval in avals]
        lines.append(jaxpr.JaxprEqn(invars, outvars, primitive, params))
        variables.extend(outvars)
    constvars, invars = variables[:num_consts], variables[num_consts:number]
    return jaxpr.Jaxpr(constvars, invars, [atom(x) for x in outs], lines)


OF_RULES = ("grad.unbroadcast", "grad.broadcast_rule", "grad.dot_general_rule")
RULES = siblings(*OF_RULES)
PASS = siblings(*OF_RULES, "grad.backward_pass")
# Whole functions are taken backwards by all siblings but the one that is asked for.
ALL = siblings(*OF_RULES, "grad.backward_pass", "grad.call_rule")


def linear(shape, dtype=F64):
    """What is sent instead of a linear operand."""
    return ["linear", list(shape), dtype]


exercise("grad.unbroadcast")


@probe(uses=[operand, shown, watching])
def unstretched(mj, ct, x, traced=False):
    """What `unbroadcast` returns for a cotangent, or for a tracer of it, and whether it is that."""
    with watching() as (box, log):
        ct = box(ct) if traced else ct
        out = unbroadcast(ct, operand(x))
        return {
            "the result": shown(out),
            "the result is the cotangent itself": out is ct,
            "nothing is bound": not log,
        }


@probe(uses=[watching])
def known_of_all_kinds(mj, ct, x):
    """The cotangents of known operands: an array of the library, a tracer, a number of NumPy."""
    with watching() as (box, log):
        kinds = [mj.numpy.array(x), box(x), np.float64(2.0), np.array(x), 2.0, True]
        return {
            "the cotangents of known operands": [unbroadcast(ct, kind) for kind in kinds],
            "operations": log,
        }


@pytest.mark.keeps("Otherwise it is `ct` itself")
def test_nothing_was_stretched(student):
    """If operand and result have the same shape, the cotangent comes back as it is."""
    for ct in (ROW, GRID, CUBE.astype(F32), np.ones((1, 3)), EMPTY, np.array(2.0)):
        student.agrees(unstretched, ct, linear(ct.shape, ct.dtype.name))
    student.agrees(unstretched, 2.5, linear(()))
    student.agrees(unstretched, GRID, linear((2, 3), "float32"))
    student.agrees(unstretched, GRID, linear((2, 3)), True)


@pytest.mark.meets("none")
@pytest.mark.keeps("for a known `x`, None")
def test_known_operands_have_none(student):
    """An operand that is known has no cotangent, whatever its shape."""
    student.agrees(unstretched, GRID, np.ones((1, 3)))
    student.agrees(unstretched, GRID, 2.5)
    student.agrees(unstretched, ROW, np.array(7.0))
    student.agrees(unstretched, GRID, np.ones((2, 3)))
    student.agrees(known_of_all_kinds, GRID, np.ones((2, 3)))


@pytest.mark.meets("float32")
@pytest.mark.keeps("the sum of `ct` over the copies", "`ct`'s dtype")
def test_a_number_was_stretched(student):
    """A number that was stretched to an array gets the sum of all entries."""
    for ct in (ROW, GRID, CUBE, EMPTY, GRID.astype(F32), np.ones((1, 1)), INTEGERS, BYTES):
        student.agrees(unstretched, ct, linear((), ct.dtype.name))
    student.agrees(unstretched, GRID, linear((), "float32"))  # the cotangent's dtype stays


@pytest.mark.meets("sizes")
@pytest.mark.keeps("of an elementwise operation", "with `x`'s shape")
def test_an_axis_was_stretched(student):
    """An axis of length 1 that was stretched is summed, and stays."""
    student.agrees(unstretched, ROW, linear((1,)))
    student.agrees(unstretched, GRID, linear((1, 3)))
    student.agrees(unstretched, GRID, linear((2, 1)))
    student.agrees(unstretched, GRID.astype(F32), linear((2, 1), "float32"))
    student.agrees(unstretched, GRID.astype(F32), linear((2, 1)))
    student.agrees(unstretched, BYTES, linear((2, 1), "int8"))
    student.agrees(unstretched, EMPTY.astype(F32), linear((1, 2)))
    student.agrees(unstretched, np.zeros((0, 3)), linear((0, 1)))


@pytest.mark.meets("order", "more_than_two", "axes")
@pytest.mark.keeps("the sum of `ct` over the copies")
def test_several_axes_were_stretched(student):
    """Several axes may have been stretched; those of length 1 that were not stay as they are."""
    for shape in [(1, 3, 4), (2, 1, 4), (2, 3, 1), (1, 1, 4), (1, 3, 1), (2, 1, 1), (1, 1, 1)]:
        student.agrees(unstretched, CUBE, linear(shape))
    student.agrees(unstretched, CUBE[:1], linear((1, 1, 4)))
    student.agrees(unstretched, np.stack([CUBE, CUBE]), linear((2, 1, 3, 1)))
    student.agrees(unstretched, CUBE[:, :1], linear((1, 1, 4)))


@pytest.mark.meets("nested")
@pytest.mark.keeps("which may be a tracer")
def test_work_of_a_sum(student):
    """The cotangent may be a tracer, whose sum its own interpreter computes."""
    student.agrees(unstretched, CUBE, linear((1, 3, 1)), True)
    student.agrees(unstretched, CUBE, linear(()), True)
    student.agrees(unstretched, GRID, linear((2, 1)), True)


exercise("grad.broadcast_rule")

STRETCH = siblings("grad.unbroadcast")


@probe(uses=[evaluating, operand, shown, watching])
def repeated(mj, siblings, ct, x, axes, traced=False):
    """The cotangents of an operand that was repeated into the shape of `ct`, which may be boxed."""
    with evaluating(siblings) as module, watching() as (box, log):
        outs = module.broadcast_in_dim_transpose(
            box(ct) if traced else ct, operand(x), shape=np.shape(ct), broadcast_dimensions=axes
        )
        return {"the cotangents": shown(list(outs)), "an operation is bound": bool(log)}


def repetition(student, ct, shape, *axes):
    """Compare the cotangent of an operand of this shape, whose axes became `axes`."""
    student.agrees(repeated, STRETCH, ct, linear(shape, ct.dtype.name), axes)


@pytest.mark.meets("order", "axes", "sizes")
@pytest.mark.keeps("All other axes are new", "in a list of one")
def test_new_axes(student):
    """Each new axis is summed, wherever it is in the result, even if all axes are new."""
    repetition(student, GRID, (3,), 1)
    repetition(student, GRID, (2,), 0)
    repetition(student, CUBE, (3,), 1)
    repetition(student, np.exp(GRID @ GRID.T), (2,), 0)
    repetition(student, np.exp(GRID @ GRID.T), (2,), 1)
    for ct in (ROW, GRID, CUBE, EMPTY, np.ones((1, 1)), np.array(2.5)):
        repetition(student, ct, ())


@pytest.mark.meets("more_than_two")
@pytest.mark.keeps("in increasing order")
def test_several_kept_axes(student):
    """Each entry along the other axes has its own sum, and these axes keep their order."""
    repetition(student, CUBE, (2, 3), 0, 1)
    repetition(student, CUBE, (2, 4), 0, 2)
    repetition(student, CUBE, (3, 4), 1, 2)
    repetition(student, CUBE[None], (2, 3, 4), 1, 2, 3)
    repetition(student, np.stack([CUBE, CUBE]), (2, 3), 1, 2)
    repetition(student, GRID, (2, 3), 0, 1)
    repetition(student, ROW, (3,), 0)


@pytest.mark.keeps("maybe stretched from a size of 1")
def test_axes_stretched_in_place(student):
    """An axis of size 1 that was stretched stays, with the sum over its copies."""
    repetition(student, GRID, (1, 3), 0, 1)
    repetition(student, GRID, (2, 1), 0, 1)
    repetition(student, CUBE, (2, 1, 4), 0, 1, 2)


@pytest.mark.keeps("maybe stretched from a size of 1", "All other axes are new")
def test_new_and_stretched_axes(student):
    """Some axes may be new, and others stretched, in one repetition."""
    repetition(student, CUBE, (1, 4), 1, 2)
    repetition(student, CUBE, (2, 1), 0, 1)
    repetition(student, CUBE, (1,), 1)
    repetition(student, CUBE[:, :1], (1, 4), 1, 2)
    repetition(student, CUBE[:, :1], (1,), 1)
    repetition(student, EMPTY, (1,), 0)
    repetition(student, EMPTY, (2,), 1)


@pytest.mark.meets("float32")
@pytest.mark.keeps("the dtype of `ct`")
def test_repetition_in_single_precision(student):
    """The cotangent has the dtype of the result's, single precision or small integers."""
    for ct in (GRID.astype(F32), BYTES):
        repetition(student, ct, ct.shape[1:], 1)
        repetition(student, ct, (1,), 0)
        student.agrees(repeated, STRETCH, ct, linear(ct.shape[1:]), (1,))


@pytest.mark.meets("nested")
@pytest.mark.keeps("which may be a tracer")
def test_repetition_of_a_tracer(student):
    """The cotangent may be a tracer, whose sums its own interpreter computes."""
    student.agrees(repeated, STRETCH, GRID, linear((3,)), (1,), True)
    student.agrees(repeated, STRETCH, CUBE, linear((1, 4)), (1, 2), True)


exercise("grad.dot_general_rule")

MATRICES = (((1,), (0,)), ((), ()))
STACKS = (((2,), (1,)), ((0,), (0,)))


@probe(uses=[shown, watching])
def operand_cotangent(mj, ct, shape, dtype, other, contract, batch, comes_last, traced=False):
    """The cotangent of one operand, and what is bound for it if the values are traced."""
    aval = ShapedArray(tuple(shape), np.dtype(dtype))
    with watching() as (box, log):
        ct, other = (box(ct), box(other)) if traced else (ct, other)
        out = dot_cotangent(ct, aval, other, contract, batch, comes_last)
        return {
            "the cotangent": shown(out),
            "the operations that are bound": sorted(set(log) - {"transpose"}),
            "the number of products": log.count("dot_general"),
        }


@probe
def operand_cotangent_traced(mj, ct, shape, dtype, other, contract, batch, comes_last):
    """The type of the same in a program, where operands of two dtypes need a preferred one."""
    aval = ShapedArray(tuple(shape), np.dtype(dtype))

    def cotangent(ct, other):
        return dot_cotangent(ct, aval, other, contract, batch, comes_last)

    closed = mj.make_jaxpr(cotangent)(ct, other)
    products = [eqn for eqn in closed.eqns if eqn.primitive.name == "dot_general"]
    return {
        "the type of the cotangent": [*map(str, closed.out_avals)],
        "the dtypes of products": [eqn.outvars[0].aval.dtype.name for eqn in products],
    }


def waves(shape, start=0):
    """An array of numbers that are all different."""
    return np.sin(start + np.arange(float(np.prod(shape, dtype=int)))).reshape(shape)


def operands(x_shape, y_shape, numbers):
    """A cotangent for the product of operands of these shapes, and the operands."""
    (x_contract, y_contract), (x_batch, y_batch) = numbers
    x_kept = [n for i, n in enumerate(x_shape) if i not in (*x_contract, *x_batch)]
    y_kept = [n for i, n in enumerate(y_shape) if i not in (*y_contract, *y_batch)]
    shape = (*(x_shape[i] for i in x_batch), *x_kept, *y_kept)
    return waves(shape, 100), waves(x_shape, 200), waves(y_shape, 300)


def of_first(student, x_shape, y_shape, numbers, traced=False):
    """Compare the cotangent of the first operand."""
    ct, _, y = operands(x_shape, y_shape, numbers)
    student.agrees(operand_cotangent, ct, x_shape, F64, y, *numbers, False, traced)


def of_second(student, x_shape, y_shape, numbers, traced=False):
    """Compare the cotangent of the second operand."""
    ct, x, _ = operands(x_shape, y_shape, numbers)
    mirrored = [pair[::-1] for pair in numbers]
    student.agrees(operand_cotangent, ct, y_shape, F64, x, *mirrored, True, traced)


def of_both(student, x_shape, y_shape, numbers, traced=False):
    """Compare both cotangents."""
    of_first(student, x_shape, y_shape, numbers, traced)
    of_second(student, x_shape, y_shape, numbers, traced)


@pytest.mark.keeps("The cotangent of an operand of type")
def test_first_matrix(student):
    """In a product of matrices, the first one gets its cotangent."""
    of_first(student, (3, 3), (3, 3), MATRICES)
    of_first(student, (2, 3), (3, 4), MATRICES)
    of_first(student, (2, 3), (3,), MATRICES)


@pytest.mark.keeps("the linear operand is the second of the two")
def test_second_matrix(student):
    """In a product of matrices, the second one gets its cotangent."""
    of_second(student, (3, 3), (3, 3), MATRICES)
    of_second(student, (2, 3), (3, 4), MATRICES)
    of_second(student, (2, 3), (3,), MATRICES)


@pytest.mark.meets("sizes")
def test_vectors(student):
    """Products of vectors are run backwards correctly, with all axes contracted or none."""
    of_both(student, (3,), (3,), (((0,), (0,)), ((), ())))
    of_both(student, (3,), (4,), (((), ()), ((), ())))
    of_both(student, (3,), (3,), (((), ()), ((0,), (0,))))
    of_both(student, (0, 3), (3, 2), MATRICES)
    of_both(student, (2, 0), (0, 3), MATRICES)
    # A Python number as the cotangent, and one as the other operand.
    student.agrees(operand_cotangent, 5.0, (3,), F64, ROW, ((0,), (0,)), ((), ()), True)
    student.agrees(operand_cotangent, ROW, (3,), F64, 2.5, ((), ()), ((), ()), False)


@pytest.mark.meets("order", "axes")
@pytest.mark.keeps("has the axes of the linear operand, then")
def test_axes_in_any_place(student):
    """Contracted axes may be anywhere in the operands."""
    of_both(student, (3, 3), (3, 3), (((0,), (1,)), ((), ())))
    of_both(student, (3, 2), (4, 3), (((0,), (1,)), ((), ())))
    of_both(student, (2, 3, 4), (5, 3), (((1,), (1,)), ((), ())))
    of_both(student, (3, 2, 4), (5, 3, 6), (((0,), (1,)), ((), ())))


@pytest.mark.keeps("has the axes of the product", "has the axes of the linear operand, then")
def test_stacks_of_matrices(student):
    """Products may have batch axes, one or two, in any place and order."""
    of_both(student, (3, 3, 3), (3, 3, 3), STACKS)
    of_both(student, (2, 3, 4), (2, 4, 5), STACKS)
    of_both(student, (3, 4, 2), (4, 2, 5), (((1,), (0,)), ((2,), (1,))))
    of_both(student, (2, 3, 4), (3, 5, 2), (((1,), (0,)), ((0,), (2,))))
    of_both(student, (6, 3, 2, 7), (2, 5, 3, 6), (((0,), (3,)), ((2, 1), (0, 2))))


@pytest.mark.meets("more_than_two", "axes")
@pytest.mark.keeps("has the axes of the linear operand, then")
def test_several_contracted_axes(student):
    """Several axes may be contracted, in any order."""
    of_both(student, (2, 3, 4), (4, 2, 5), (((2, 0), (0, 1)), ((), ())))
    of_both(student, (2, 3, 4, 5), (5, 3, 2), (((1, 3), (1, 0)), ((0,), (2,))))
    of_both(student, (2, 3), (3, 2), (((0, 1), (1, 0)), ((), ())))


@pytest.mark.meets("float32")
@pytest.mark.keeps(
    "The cotangent of an operand of type", "in the dtype of `ct`", "has the dtype of the operand"
)
def test_dtype_of_an_operand(student):
    """The cotangent has the operand's dtype, even if the product has a different one."""
    ct, _, y = operands((2, 3), (3, 4), MATRICES)
    ct32, y32 = ct.astype(F32), y.astype(F32)
    student.agrees(operand_cotangent, ct32, (2, 3), "float32", y32, *MATRICES, False)
    student.agrees(operand_cotangent, ct, (2, 3), "float32", y32, *MATRICES, False)
    integers = INTEGERS, (2, 2), "int64", INTEGERS + 1, *MATRICES
    for comes_last in (False, True):
        student.agrees(operand_cotangent, *integers, comes_last)
    # Digits that float32 has not: the product must be computed in the cotangent's dtype.
    large = np.array([[1e8 + 1.0, 1e8]])
    ones = np.array([[1.0, -1.0]], F32)
    student.agrees(operand_cotangent, large, (1, 1), "float32", ones, *MATRICES, False)
    student.agrees(operand_cotangent_traced, large, (1, 1), "float32", ones, *MATRICES, False)
    dtypes = [
        ("float32", F64, "float32"),
        ("float32", "float32", F64),
        ["float16"] * 3,
        ["int8"] * 3,
    ]
    for of_ct, dtype, of_other in dtypes:
        given = ct.astype(of_ct), (2, 3), dtype, y.astype(of_other)
        student.agrees(operand_cotangent_traced, *given, *MATRICES, False)


@pytest.mark.meets("nested")
@pytest.mark.keeps("All the work is one product")
def test_work_of_a_cotangent(student):
    """Operands may be tracers, and one product does it."""
    of_both(student, (2, 3), (3, 4), MATRICES, traced=True)
    of_first(student, (2, 3, 4), (2, 4, 5), STACKS, traced=True)
    of_both(student, (3,), (3,), (((), ()), ((0,), (0,))), traced=True)
    of_both(student, (3,), (), (((), ()), ((), ())), traced=True)


exercise("grad.backward_pass")


@probe(uses=[evaluating, operand, program])
def backwards(mj, siblings, spec, calls, times=1):
    """What passes over one program give, each for its own constants, arguments and cotangents.

    Linear inputs with the same type are the same object.
    """
    made = {}
    with evaluating(siblings) as module:
        jaxpr = program(*spec)
        return {
            "the cotangents": [
                module.backward_pass(
                    jaxpr, consts, [made.setdefault(str(x), operand(x)) for x in args], cts
                )
                for consts, args, cts in times * calls
            ]
        }


@probe(uses=[evaluating, operand, program])
def rules_called(mj, siblings, eqns, outs, args, cts):
    """What rules are called with; made-up operations note it, with two, one and a list of one.

    One more operation has three operands, and one has no result and no rule.
    """
    lists = {"split": True, "wrapped": True, "scaled": False, "three": False, "none": True}
    extra = {name: core.Primitive(name, multiple_results=gives) for name, gives in lists.items()}
    split, wrapped, scaled, three, none = extra.values()
    calls = []

    def described(x):
        if isinstance(x, UndefPrimal):
            return ["linear", x.aval.shape, x.aval.dtype.name]
        return x

    def noted(name, rule):
        def called(ct, *operands, **params):
            calls.append((name, [ct, *map(described, operands), *params.values()]))
            return rule(ct, *operands, **params)

        return called

    def weighed(ct, operands, weights):
        pairs = zip(weights, operands, strict=True)
        return [k * ct if isinstance(x, UndefPrimal) else None for k, x in pairs]

    types = {split: lambda x, *, k: [x, x], wrapped: lambda x: [x], scaled: lambda x, y, *, by: x}
    types |= {three: lambda x, y, z: x, none: lambda x: []}
    rules = {
        split: noted("split", lambda cts, x, *, k: [k * sum(ct for ct in cts if ct is not None)]),
        wrapped: noted("wrapped", lambda cts, x: [2.0 * cts[0]]),
        scaled: noted("scaled", lambda ct, *xs, by: weighed(ct, xs, (by, by))),
        three: noted("three", lambda ct, *xs: weighed(ct, xs, (1.0, 10.0, 100.0))),
    }
    impls = {scaled: lambda x, y, *, by: x * by + y}
    with (
        evaluating(siblings) as module,
        patch.dict(core.abstract_eval_rules, types),
        patch.dict(core.transpose_rules, rules),
        patch.dict(core.impl_rules, impls),
    ):
        inputs = [[[], "float64"]] * len(args)
        jaxpr = program(0, inputs, eqns, outs, extra)
        back = module.backward_pass(jaxpr, [], [operand(x) for x in args], cts)
        return {
            "the rules that are called, in turn": [name for name, _ in calls],
            "what the rules are called with": [given for _, given in calls],
            "the cotangents": back,
        }


@probe(uses=[evaluating, operand, program, shown, watching])
def backwards_of_boxes(mj, siblings, spec, args, cts):
    """A pass over tracers, and what was done with them, in order."""
    with evaluating(siblings) as module, watching() as (box, log):
        jaxpr = program(*spec)
        args = [operand(x) for x in args]
        back = module.backward_pass(jaxpr, [], args, [box(ct) for ct in cts])
        return {"the cotangents": shown(list(back)), "operations": log}


@probe(uses=[evaluating, operand, program])
def missing_rule(mj, siblings, used):
    """The error where an operation has no transpose rule, if its result counts at all."""
    with evaluating(siblings) as module:
        jaxpr = program(0, [[[], "float64"]], [("sin", [0], {}), ("neg", [0], {})], [1, 2])
        args = [operand(["linear", [], "float64"])]
        try:
            back = module.backward_pass(jaxpr, [], args, [1.0 if used else None, 5.0])
        except NotImplementedError as error:
            named = "sin" in str(error)
            return {"error": "NotImplementedError", "the error names the primitive": named}
        return {"error": "nothing", "the cotangents": back}


@probe(uses=[evaluating, operand, program])
def failing_rule(mj, siblings, names):
    """The errors that come out if the rule of an operation raises these, and what comes at last."""
    came, now, failing = {}, "", core.Primitive("failing")

    def rule(ct, x):
        if now:
            raise getattr(builtins, now)("of the rule")
        return [3.0 * ct]

    with (
        evaluating(siblings) as module,
        patch.dict(core.abstract_eval_rules, {failing: lambda x: x}),
        patch.dict(core.transpose_rules, {failing: rule}),
    ):
        eqns = [("failing", [0], {})]
        jaxpr = program(0, [[[], "float64"]], eqns, [1], {"failing": failing})
        for now in [*names, ""]:
            key = f"what comes of {now or 'no error'} in a rule"
            try:
                back = module.backward_pass(jaxpr, [], [operand(["linear", [], "float64"])], [1.0])
                came[key] = back
            except Exception as error:
                came[key] = type(error).__name__
                came[f"the {now} of a rule keeps its text"] = error.args == ("of the rule",)
    return came


NUMBER: tuple[list[int], str] = ([], F64)
THREE: tuple[list[int], str] = ([3], F64)


def passes(student, spec, args, cts, consts=()):
    """Compare a backward pass."""
    student.agrees(backwards, RULES, list(spec), [[list(consts), list(args), list(cts)]])


@pytest.mark.keeps("from the `cotangents` of its results")
def test_a_chain(student):
    """Along a chain of operations, each cotangent comes from the one after it."""
    chain = [("mul", [0, 3.0], {}), ("neg", [1], {}), ("mul", [2.0, 2], {}), ("div", [3, 8.0], {})]
    passes(student, (0, [NUMBER], chain, [4]), [linear(())], [5.0])
    passes(student, (0, [THREE], chain, [4]), [linear((3,))], [ROW])
    passes(student, (0, [([0, 2], F64)], chain, [4]), [linear((0, 2))], [EMPTY])
    long = [("neg", [i], {}) for i in range(1100)]
    passes(student, (0, [NUMBER], long, [1100]), [linear(())], [5.0])
    shapes = [
        ("transpose", [0], {"permutation": (1, 0)}),
        ("mul", [1, 2.0], {}),
        ("reduce_sum", [2], {"axes": (1,)}),
        ("neg", [3], {}),
    ]
    passes(student, (0, [([2, 3], F64)], shapes, [4]), [linear((2, 3))], [ROW])


@pytest.mark.meets("twice")
@pytest.mark.keeps("with the complete cotangents")
def test_a_value_used_twice(student):
    """A value that is used several times gets the sum of the cotangents."""
    fork = [("mul", [0, 3.0], {}), ("neg", [1], {}), ("mul", [1, 10.0], {}), ("add", [2, 3], {})]
    passes(student, (0, [NUMBER], fork, [4]), [linear(())], [5.0])
    double = [("add", [0, 0], {}), ("sub", [1, 0], {}), ("add", [1, 2], {}), ("add", [3, 3], {})]
    passes(student, (0, [THREE], double, [4]), [linear((3,))], [ROW])
    spec = (0, [([2, 2], "int8")], double, [4])
    passes(student, spec, [linear((2, 2), "int8")], [BYTES])


@pytest.mark.meets("more_than_two")
def test_several_results(student):
    """Several results, of which one depends on the other, add up their cotangents."""
    eqns = [("mul", [0, 3.0], {}), ("mul", [2, 2.0], {}), ("sub", [3, 1], {})]
    spec = (0, [NUMBER, NUMBER], eqns, [2, 4, 3])
    passes(student, spec, [linear(()), linear(())], [1.0, 10.0, 100.0])
    passes(student, spec, [linear(()), linear(())], [1.0, None, 100.0])
    passes(student, spec, [linear(()), linear(())], [None, 10.0, None])


@pytest.mark.meets("twice")
@pytest.mark.keeps("from the `cotangents` of its results")
def test_a_result_that_stands_twice(student):
    """One variable may be several results, or an input at the same time."""
    eqns = [("mul", [0, 3.0], {})]
    passes(student, (0, [NUMBER], eqns, [1, 1, 0]), [linear(())], [1.0, 10.0, 100.0])
    passes(student, (0, [THREE], [], [0, 0]), [linear((3,))], [ROW, 10.0 * ROW])
    passes(student, (0, [THREE], eqns, [0, 1, 0]), [linear((3,))], [ROW, None, 2.0 * ROW])


def test_results_that_are_constants(student):
    """Results that are literals, or known, do not matter."""
    eqns = [("mul", [0, 3.0], {}), ("neg", [1], {})]
    spec = (0, [NUMBER, NUMBER], eqns, [7.0, 3, 2])
    passes(student, spec, [linear(()), 4.0], [1.0, 10.0, 100.0])
    passes(student, spec, [4.0, linear(())], [1.0, 10.0, 100.0])
    # Equations without a linear operand are not run backwards: a sine could not be.
    known = [("sin", [0], {}), ("mul", [2, 1], {})]
    passes(student, (0, [NUMBER, NUMBER], known, [3, 2]), [4.0, linear(())], [1.0, 10.0])


@pytest.mark.keeps("belong to `jaxpr.constvars`")
def test_known_inputs_and_constants(student):
    """Operations on known values are computed first, and their results are used backwards."""
    eqns = [("sin", [0], {}), ("mul", [3, 1], {}), ("mul", [2, 4], {}), ("mul", [5, 0], {})]
    spec = (1, [THREE, THREE, THREE], eqns, [6, 4])
    passes(student, spec, [np.exp(ROW), linear((3,))], [ROW, None], [GRID[0]])
    # No linear operation at all: nothing flows.
    passes(student, (0, [NUMBER, NUMBER], [("neg", [0], {})], [2]), [3.0, linear(())], [1.0])
    passes(student, (0, [NUMBER], [("neg", [0], {})], [1]), [3.0], [1.0])


@pytest.mark.meets("sizes", "none", "zeros")
@pytest.mark.keeps("None is a cotangent of zero")
def test_inputs_without_influence(student):
    """An input that no result depends on has no cotangent; the rest keep their order."""
    eqns = [("neg", [2], {}), ("mul", [0, 5.0], {}), ("mul", [3, 1], {})]
    spec = (0, [NUMBER, NUMBER, NUMBER, NUMBER], eqns, [4, 5])
    args = [linear(()), 7.0, linear(()), linear(())]
    passes(student, spec, args, [1.0, 10.0])
    passes(student, spec, args, [1.0, None])
    passes(student, spec, args, [None, None])


@pytest.mark.meets("order", "keys")
@pytest.mark.keeps("the transpose rule is called once")
def test_what_a_rule_gets(student):
    """A rule gets the cotangent, linear operands by type, known ones by value, and parameters."""
    eqns = [("scaled", [0, 1], {"by": 3.0}), ("scaled", [1, 2], {"by": 10.0})]
    student.agrees(rules_called, RULES, eqns, [3], [linear(()), 4.0], [5.0])
    student.agrees(rules_called, RULES, eqns, [3], [4.0, linear(())], [5.0])
    for ct in (0.0, -0.0, np.array(0.0), np.nan):
        student.agrees(rules_called, RULES, eqns, [3], [linear(()), 4.0], [ct])
    eqns = [("three", [0, 1, 0], {}), ("three", [1, 2, 0], {})]
    student.agrees(rules_called, RULES, eqns, [3], [linear(()), 4.0], [5.0])
    known = [("scaled", [0, 0], {"by": 2.0}), ("scaled", [2, 1], {"by": 7.0})]
    student.agrees(rules_called, RULES, known, [3], [4.0, linear(())], [5.0])


@pytest.mark.keeps("complete cotangents of its results")
def test_operations_with_several_results(student):
    """A rule of an operation with `multiple_results` gets a list of cotangents, even of one."""
    eqns = [("split", [0], {"k": 10.0}), ("scaled", [1, 3.0], {"by": 2.0})]
    student.agrees(rules_called, RULES, eqns, [1, 2], [linear(())], [5.0, 7.0])
    student.agrees(rules_called, RULES, eqns, [2], [linear(())], [7.0])
    student.agrees(rules_called, RULES, eqns, [3, 1], [linear(())], [5.0, 7.0])
    eqns = [("wrapped", [0], {}), ("scaled", [1, 3.0], {"by": 5.0})]
    student.agrees(rules_called, RULES, eqns, [2], [linear(())], [7.0])


@pytest.mark.meets("some_results")
@pytest.mark.keeps("the equation is skipped and needs no rule")
def test_operations_without_influence(student):
    """The rule of an operation whose results do not count is not called."""
    eqns = [("split", [0], {"k": 10.0}), ("scaled", [0, 3.0], {"by": 2.0})]
    student.agrees(rules_called, RULES, eqns, [3], [linear(())], [5.0])
    student.agrees(rules_called, RULES, eqns, [1, 3], [linear(())], [5.0, None])
    student.agrees(rules_called, RULES, eqns, [1, 2, 3], [linear(())], [None, None, None])
    eqns = [("scaled", [0, 3.0], {"by": 2.0}), ("none", [1], {})]
    student.agrees(rules_called, RULES, eqns, [1], [linear(())], [5.0])
    student.agrees(missing_rule, RULES, False)


@pytest.mark.meets("exception")
@pytest.mark.keeps("names the primitive")
def test_missing_rule(student):
    """A missing rule is an error that names the primitive."""
    student.agrees(missing_rule, RULES, True)


@pytest.mark.keeps("its errors pass through")
def test_errors_of_a_rule(student):
    """An error that a rule raises comes out unchanged, of whatever class it is."""
    student.agrees(
        failing_rule,
        RULES,
        ["KeyError", "TypeError", "ValueError", "NotImplementedError", "IndexError"],
    )


@pytest.mark.meets("nested", "closure")
@pytest.mark.keeps("the transpose rule is called once")
def test_pass_over_tracers(student):
    """Cotangents may be tracers; each operation is done once, from the last to the first."""
    eqns = [("mul", [0, 3.0], {}), ("neg", [1], {}), ("transpose", [2], {"permutation": (1, 0)})]
    spec = [0, [([2, 3], F64)], eqns, [3]]
    student.agrees(backwards_of_boxes, RULES, spec, [linear((2, 3))], [GRID.T])
    fork = [("neg", [0], {}), ("div", [1, 4.0], {}), ("sub", [1, 2], {})]
    spec = [0, [THREE], fork, [3, 2]]
    student.agrees(backwards_of_boxes, RULES, spec, [linear((3,))], [ROW, 10.0 * ROW])


@pytest.mark.meets("again", "mutation")
@pytest.mark.keeps("belong to `jaxpr.constvars`")
def test_pass_after_pass(student):
    """A program may be run backwards again and again, for other known values each time."""
    spec = [0, [THREE], [("mul", [0, 3.0], {}), ("add", [1, 0], {})], [2, 1, 2]]
    call = [[], [linear((3,))], [ROW, 10.0 * ROW, 7.0 * ROW]]
    student.agrees(backwards, RULES, spec, [call], 2)
    spec = [1, [THREE] * 3, [("mul", [0, 1], {}), ("mul", [3, 2], {})], [4]]
    calls = [[[k], [known, linear((3,))], [ROW]] for k, known in ((ROW, ROW), (ROW, GRID[0]))]
    student.agrees(backwards, RULES, spec, [*calls, [[GRID[1]], *calls[0][1:]]])


exercise("grad.call_rule")


@probe(uses=[evaluating, one_program, run])
def program_backwards(mj, siblings, name, args, flags, values):
    """The types of the program that runs a function's program backwards, and what it gives."""
    jnp = mj.numpy
    functions = {
        "product": lambda a, x: a * x,
        "mirrored": lambda x, a: x * a,
        "two": lambda a, x, b, y: (a * x - y * b, jnp.sin(a) * y, x + x),
        "unused": lambda a, x, y: a * x,
        "matrix": lambda m, x: m @ x,
        "constant": lambda x: x * np.array([2.0, 3.0, 5.0]),
        "shapes": lambda x: jnp.sum(x.T * 2.0, 0),
        "nothing": lambda *xs: (),
        "tripled": lambda x: (x + x + x, -x),
    }
    with evaluating(siblings) as module:
        make = tracing.make_jaxpr(functions[name])
        closed = one_program(tracing, name, args, lambda: make(*args))
        back = module.transposed_jaxpr(closed, tuple(flags))
        return {
            "the class of what is returned": type(back).__name__,
            "the types of the program's inputs": [aval.str_short() for aval in back.in_avals],
            "the types of the program's results": [aval.str_short() for aval in back.out_avals],
            "an input is weakly typed": [aval.weak_type for aval in back.in_avals],
            "a result is weakly typed": [aval.weak_type for aval in back.out_avals],
            "the results of the program": run(back, values),
        }


@probe(uses=[evaluating])
def program_kept(mj, siblings):
    """Which programs are the same object, and how often a rule was asked."""
    calls = []

    def neg_rule(ct, x):
        calls.append(1)
        return [core.neg_p.bind(ct)]

    with evaluating(siblings) as module:
        make = tracing.make_jaxpr
        closed = make(lambda x, y: (-x, y))(2.0, 3.0)
        other = make(lambda x, y: (-x, y))(2.0, 3.0)
        with patch.dict(core.transpose_rules, {core.neg_p: neg_rule}):
            first = module.transposed_jaxpr(closed, (True, True))
            again = module.transposed_jaxpr(closed, (True, True))
            mixed = module.transposed_jaxpr(closed, (True, False))
            swapped = module.transposed_jaxpr(closed, (False, True))
            third = module.transposed_jaxpr(closed, (True, True))
            of_other = module.transposed_jaxpr(other, (True, True))
        anew = module.transposed_jaxpr(closed.replace(), (True, True))
        gone = make(lambda x: -x)(2.0)
        alive = weakref.ref(module.transposed_jaxpr(gone, (True,)))
        del gone
        gc.collect()
        sides = make(lambda *xs: xs)(*[1.0] * 8)
        many = [*itertools.islice(itertools.product([True, False], repeat=8), 130)]
        all_made = [module.transposed_jaxpr(sides, flags) for flags in many]
        came_back = module.transposed_jaxpr(sides, many[0]) is all_made[0]
        number = len({*map(id, all_made)})
    return {
        "the same program and flags get the same program again": [first is again, first is third],
        "other flags get the same program": [first is mixed, mixed is swapped],
        "another program gets the same program": first is of_other,
        "a copy of the closed program gets the same transposed program": anew is first,
        "what was made of a program goes when that program goes": alive() is None,
        "the first program comes back after 130 others": came_back,
        "the number of programs for 130 flags": number,
        "calls of the transpose rule": len(calls),
        "the number of the program's inputs": len(mixed.in_avals),
        "the number of the program's results": len(mixed.out_avals),
    }


@probe(uses=[evaluating])
def operations_of(mj, siblings, flags):
    """The operations that the new program consists of."""
    with evaluating(siblings) as module:
        closed = tracing.make_jaxpr(lambda a, x: mj.numpy.sin(a) * (-x))(2.0, 3.0)
        back = module.transposed_jaxpr(closed, tuple(flags))
        return {
            "the operations of the program": sorted(eqn.primitive.name for eqn in back.eqns),
            "the number of constants": len(back.consts),
        }


@probe(uses=[evaluating, operand, shown, watching])
def call_rule(mj, siblings, cts, args):
    """The given rule of the call primitive: cotangents, and what was bound for them."""
    with evaluating(siblings) as module, watching() as (box, log):
        f = tracing.make_jaxpr(lambda a, x, y: (a * x, x - y))(2.0, 3.0, 4.0)
        args = [operand(x) for x in args]
        args = [x if isinstance(x, UndefPrimal) else box(x) for x in args]
        outs = module.jit_transpose(cts, *args, name="f", jaxpr=f)
        return {"the cotangents": shown(list(outs)), "operations": log}


@probe(uses=[evaluating, run])
def call_inside(mj, siblings, x, ct):
    """A call within a call, in a program that runs backwards."""
    inner = mj.jit(lambda a, x: mj.numpy.sin(a) * x)
    outer = mj.jit(lambda a, x: inner(a, inner(a, x)) + x)
    with evaluating(siblings) as module:
        closed = tracing.make_jaxpr(outer)(x, x)
        back = module.transposed_jaxpr(closed, (False, True))
        names = [eqn.primitive.name for eqn in back.eqns]
        return {
            "the operations of the program": names,
            "the results of the program": run(back, [x, ct]),
        }


@pytest.mark.meets("weak_type")
@pytest.mark.keeps("The program that runs `jaxpr` backwards", "has the type of its input")
def test_program_of_a_product(student):
    """The program takes known inputs, then cotangents, and returns cotangents of linear inputs."""
    student.agrees(program_backwards, PASS, "product", [2.0, 3.0], [False, True], [7.0, 5.0])
    student.agrees(program_backwards, PASS, "mirrored", [3.0, 2.0], [True, False], [7.0, 5.0])
    args = [np.array([2.0, 4.0, 6.0]), ROW]
    student.agrees(program_backwards, PASS, "product", args, [False, True], [ROW, np.exp(ROW)])


@pytest.mark.meets("order", "more_than_two")
@pytest.mark.keeps("is linear in the inputs that `linear` marks")
def test_program_of_several(student):
    """Linear and known inputs may come in any order, and there may be several results."""
    values = [3.0, 5.0, 1.0, 10.0, 100.0]
    flags = [False, True, False, True]
    student.agrees(program_backwards, PASS, "two", [2.0] * 4, flags, values)
    student.agrees(program_backwards, PASS, "two", [2.0] * 4, flags, [-7.0, 0.5, 4.0, 2.0, 1.0])
    student.agrees(program_backwards, PASS, "product", [2.0] * 2, [False, False], [7.0, 5.0, 1.0])


@pytest.mark.meets("sizes", "some_results", "zeros")
@pytest.mark.keeps(
    "is linear in the inputs that `linear` marks", "for an integer without influence"
)
def test_program_with_zeros(student):
    """An input without influence gets zeros of its own shape and dtype."""
    args = [ROW, ROW, GRID.astype(F32)]
    student.agrees(program_backwards, PASS, "unused", args, [False, True, True], [ROW, ROW])
    flags = [False, False, True]
    student.agrees(program_backwards, PASS, "unused", args, flags, [ROW, ROW, ROW])
    student.agrees(program_backwards, PASS, "nothing", [ROW], [True], [])
    student.agrees(program_backwards, PASS, "nothing", [2.0, ROW], [False, True], [3.0])
    args = [INTEGERS] * 3
    student.agrees(program_backwards, PASS, "unused", args, [False, True, True], args[:2])
    for args in ([2, 3, 5], [2.0, 3.0, 5.0]):
        student.agrees(program_backwards, PASS, "unused", args, [False, True, True], args[:2])


@pytest.mark.meets("float32")
@pytest.mark.keeps("they may be floats or integers", "has the type of its input")
def test_program_of_unequal_shapes(student):
    """Inputs, results and cotangents may have all shapes and dtypes."""
    args = [GRID, ROW]
    values = [GRID, np.array([3.0, -1.0])]
    student.agrees(program_backwards, PASS, "matrix", args, [False, True], values)
    values = [ROW, np.array([3.0, -1.0])]
    student.agrees(program_backwards, PASS, "matrix", args, [True, False], values)
    args = [GRID.astype(F32), ROW.astype(F32)]
    values = [GRID.astype(F32), np.array([3.0, -1.0], F32)]
    student.agrees(program_backwards, PASS, "matrix", args, [False, True], values)
    student.agrees(program_backwards, PASS, "shapes", [GRID], [True], [np.array([2.0, 7.0])])
    args = [INTEGERS, INTEGERS + 1]
    student.agrees(program_backwards, PASS, "product", args, [False, True], args)
    student.agrees(program_backwards, PASS, "tripled", [2], [True], [5, 7])
    student.agrees(program_backwards, PASS, "tripled", [BYTES], [True], [BYTES, BYTES + 1])


@pytest.mark.meets("closure")
def test_program_with_constants(student):
    """The constants of the program are used in the new one."""
    student.agrees(program_backwards, PASS, "constant", [ROW], [True], [np.exp(ROW)])
    student.agrees(program_backwards, PASS, "constant", [ROW], [True], [10.0 * ROW])


@pytest.mark.meets("keys", "again", "caching")
@pytest.mark.keeps("is returned for the same program")
def test_program_is_kept(student):
    """The program is made once for each choice of linear inputs, and freed with the given one."""
    student.agrees(program_kept, PASS)


def test_operations_of_the_program(student):
    """The program does what is needed to go backwards, and nothing else."""
    student.agrees(operations_of, PASS, [False, True])


@pytest.mark.meets("none")
@pytest.mark.keeps("as `call_transpose` calls it")
def test_rule_of_the_call(student):
    """The call's rule calls the new program; known operands get no cotangent."""
    student.agrees(call_rule, PASS, [5.0, 7.0], [3.0, linear(()), linear(())])
    student.agrees(call_rule, PASS, [5.0, None], [3.0, linear(()), linear(())])
    student.agrees(call_rule, PASS, [None, 7.0], [3.0, 4.0, linear(())])


@pytest.mark.meets("nested")
def test_calls_within_calls(student):
    """A call in the program becomes a call in the new one."""
    student.agrees(call_inside, PASS, 2.0, 5.0)
    student.agrees(call_inside, PASS, ROW, np.exp(ROW))


exercise("grad.value_and_gradients")


@probe(uses=[evaluating])
def gradients_of(mj, siblings, name, args, has_aux):
    """Value, gradients and aux, the kinds of both, and how often the function ran."""
    jnp = mj.numpy
    functions = {
        "product": lambda x, y: x * y,
        "cube": lambda x: x * x * x,
        "squares": lambda x: jnp.sum(x * x * x),
        "three": lambda x, y, z: jnp.sum(x * y) / z,
        "loss": lambda p, x: jnp.sum((p["w"] @ x + p["b"]) * (p["w"] @ x)),
        "constant": lambda *xs: 7.0,
        "second": lambda x, y: y * y,
        "aux": lambda x: (jnp.sum(x * x), {"twice": x * 2.0, "n": 3}),
        "none": lambda x: (x * x, None),
        "zero": lambda x: (x * x, 0),
        "array": lambda x: (x * x, x * 2.0),
        "list": lambda x: (x * x, [x * 2.0, 2]),
        "tuple of one": lambda x: (x * x, (x,)),
        "empty": lambda x: (x * x, ()),
        "infinite": lambda x: x * np.inf,
    }
    runs = []

    def f(*args):
        runs.append(1)
        return functions[name](*args)

    with evaluating(siblings) as module:
        out = module.value_and_gradients(f, args, **({"has_aux": True} if has_aux else {}))
        weak = [get_aval(x).weak_type for x in mj.tree.leaves([out[0], *out[2:]])]
        return {"value": out, "calls of f": len(runs), "a value is weakly typed": weak}


@probe(uses=[evaluating])
def cotangent_used(mj, siblings, factor, x):
    """What cotangent the rule of the outermost function gets, and what comes of it."""
    seen = []

    def bwd(residuals, ct):
        aval = get_aval(ct)
        seen.append([np.asarray(ct), aval.shape, aval.dtype.name, aval.weak_type])
        return (ct,)

    own = mj.custom_vjp(lambda y: y * factor)
    own.defvjp(lambda y: (y * factor, None), bwd)
    with evaluating(siblings) as module:
        total = (lambda x: x * 3.0) if np.ndim(x) == 0 else lambda x: mj.numpy.sum(x * 3.0)
        out, (gradient,) = module.value_and_gradients(lambda x: own(total(x)), [x])
        return {
            "the value": out,
            "the gradient": gradient,
            "the gradient is weakly typed": get_aval(gradient).weak_type,
            "calls of the backward rule": len(seen),
            "the cotangent that the backward rule gets, and its type": seen,
        }


@probe(uses=[evaluating])
def no_gradient(mj, siblings, name, has_aux=False):
    """The kind of error for a function that has no gradient, and whether anything was run back."""
    functions = {
        "vector": lambda x: mj.numpy.ones(3) * x,
        "tuple": lambda x: (x, x),
        "one": lambda x: (x,),
        "list": lambda x: [x],
        "entry": lambda x: mj.numpy.ones(1) * x,
        "integer": lambda x: 3,
        "boolean": lambda x: x < 3.0,
        "None": lambda x: None,
        "dict": lambda x: {"a": x},
        "an error": lambda x: int("x"),
    }
    f = functions[name]
    with evaluating(siblings) as module:
        try:
            fun = (lambda x: (f(x), x)) if has_aux else f
            out = module.value_and_gradients(fun, [2.0], has_aux)
        except (TypeError, ValueError) as error:
            return {"error": type(error).__name__}
        return {"error": "nothing", "the gradients": out}


@probe(uses=[evaluating])
def gradient_of_gradient(mj, siblings, x):
    """A gradient within a gradient, and within jvp."""
    with evaluating(siblings) as module:

        def slope(x):
            return module.value_and_gradients(lambda x: mj.numpy.sin(x) * x, [x])[1][0]

        return {
            "the gradient": slope(x),
            "the value and gradient of the gradient": module.value_and_gradients(slope, [x]),
            "the value and tangent of the gradient": mj.jvp(slope, (x,), (1.0,)),
        }


@pytest.mark.meets("order", "more_than_two")
@pytest.mark.keeps("The value of `fun`, which runs once")
def test_value_and_gradients(student):
    """The value, and how it moves with each argument."""
    student.agrees(gradients_of, ALL, "product", [3.0, 4.0], False)
    student.agrees(gradients_of, ALL, "cube", [3.0], False)
    student.agrees(gradients_of, ALL, "squares", [ROW], False)
    student.agrees(gradients_of, ALL, "infinite", [3.0], False)
    student.agrees(gradients_of, ALL, "three", [ROW, GRID[0], 4.0], False)


@pytest.mark.meets("keys", "sizes")
@pytest.mark.keeps("a tuple with its gradient for each")
def test_gradients_of_containers(student):
    """Gradients have the structure of the arguments; one argument has a tuple of one."""
    params = {"w": GRID, "b": np.array([1.0, 2.0])}
    student.agrees(gradients_of, ALL, "loss", [params, ROW], False)
    student.agrees(gradients_of, ALL, "squares", [GRID], False)
    student.agrees(gradients_of, ALL, "constant", [ROW], False)
    student.agrees(gradients_of, ALL, "constant", [], False)
    for first in (None, 3, np.array([1, 2]), {}):
        student.agrees(gradients_of, ALL, "second", [first, 2.0], False)


@pytest.mark.meets("some_results", "none")
@pytest.mark.keeps("its second part becomes the third result")
def test_gradients_with_aux(student):
    """With has_aux, the second part of the result comes as a third result."""
    student.agrees(gradients_of, ALL, "aux", [ROW], True)
    student.agrees(gradients_of, ALL, "aux", [GRID.astype(F32)], True)
    for name in ("none", "zero", "array", "empty", "list", "tuple of one"):
        student.agrees(gradients_of, ALL, name, [3.0], True)


@pytest.mark.meets("weak_type", "float32", "extremes")
@pytest.mark.keeps("is weak if the value is")
def test_dtype_of_the_cotangent(student):
    """The gradient starts from a one of the type of the value, whatever the value is."""
    for x in (2.0, ROW, ROW.astype(F32), np.array(2.0, np.float16)):
        student.agrees(cotangent_used, ALL, 2.0, x)
    for factor in (np.inf, np.nan, 0.0):
        student.agrees(cotangent_used, ALL, factor, 2.0)


@pytest.mark.meets("exception")
@pytest.mark.keeps("unless the value is a single float")
def test_no_gradient(student):
    """A function whose value is not one float has no gradient, and is rejected."""
    for name in ("vector", "tuple", "one", "list", "entry", "integer", "boolean", "None", "dict"):
        student.agrees(no_gradient, ALL, name)
    for name in ("vector", "one", "an error"):
        student.agrees(no_gradient, ALL, name, True)


@pytest.mark.meets("another_box", "nested")
@pytest.mark.keeps("The value of `fun`, which runs once")
def test_gradients_of_gradients(student):
    """A gradient can be differentiated again, by `grad` and by jvp."""
    student.agrees(gradient_of_gradient, ALL, 2.0)


exercise("grad.jacobian_of_output")


@probe(uses=[evaluating])
def jacobians(mj, siblings, name, primals):
    """The Jacobians of all leaves of the result, and the structure of each answer."""
    jnp = mj.numpy
    functions = {
        "square": lambda x: x * x,
        "turn": lambda x: x.T * 2.0,
        "two": lambda x, y: (x * y, jnp.sum(y), jnp.sin(x)),
        "matrix": lambda m, x: m @ jnp.sin(x),
        "constant": lambda x, y: (x, jnp.ones(2)),
        "integer": lambda n, x: x * n,
        "outer": lambda x: jnp.broadcast_to(x, (2, 3)) * np.array([[1.0], [10.0]]),
    }

    with evaluating(siblings) as module:
        lin = linearize_tree(functions[name], tuple(primals), False)
        outs = [module.jacobian_of_output(lin, i) for i in range(len(lin.out_avals))]
        weak = [[get_aval(x).weak_type for x in out] for out in outs]
        return {
            "the classes of what is returned": [type(out).__name__ for out in outs],
            "the Jacobians": [[*out] for out in outs],
            "a Jacobian is weakly typed": weak,
        }


@probe(uses=[evaluating])
def work_of_a_jacobian(mj, siblings, *shape):
    """How often the backward pass runs, and how often each rule, for a result of many entries."""
    passes, calls = [], []

    def neg_rule(ct, x):
        calls.append(get_aval(ct).shape)
        return [core.neg_p.bind(ct)]

    with evaluating(siblings) as module, patch.dict(core.transpose_rules, {core.neg_p: neg_rule}):
        right_program = module.transpose_program

        def watched(program, cts):
            passes.append(len(cts))
            return right_program(program, cts)

        lin = linearize_tree(lambda x, y: (y, -x), (np.ones(shape), 2.0), False)
        with patch.object(module, "transpose_program", watched):
            out, _ = module.jacobian_of_output(lin, 1)
        return {
            "calls of transpose_program": len(passes),
            "the number of cotangents of each pass": passes,
            "calls of the transpose rule": len(calls),
            "the shapes of the cotangents that the rule gets": calls,
            "the Jacobian": out,
        }


@probe(uses=[evaluating])
def jacobian_inside(mj, siblings, x, x_dot):
    """The derivative of a Jacobian."""
    with evaluating(siblings) as module:

        def jacobian(x):
            lin = linearize_tree(lambda x: mj.numpy.sin(x) * x, (x,), False)
            return module.jacobian_of_output(lin, 0)[0]

        return {"the value and tangent of the Jacobian": mj.jvp(jacobian, (x,), (x_dot,))}


def test_jacobian_of_a_vector(student):
    """Each entry of the result says how it moves with each entry of the input."""
    student.agrees(jacobians, ALL, "square", [ROW])
    student.agrees(jacobians, ALL, "matrix", [GRID, ROW])
    student.agrees(jacobians, ALL, "square", [ROW.astype(F32)])


@pytest.mark.meets("weak_type", "sizes")
@pytest.mark.keeps("the axes of the leaf, then")
def test_jacobian_of_a_number(student):
    """A result that is a number has the Jacobian of the input's shape."""
    student.agrees(jacobians, ALL, "square", [3.0])
    student.agrees(jacobians, ALL, "two", [2.0, ROW])


@pytest.mark.meets("order", "sizes", "axes")
@pytest.mark.keeps("the axes of the leaf, then")
def test_order_of_axes(student):
    """The axes of the result come first, then the axes of the input, each in their order."""
    student.agrees(jacobians, ALL, "turn", [GRID])
    student.agrees(jacobians, ALL, "outer", [ROW])
    student.agrees(jacobians, ALL, "turn", [CUBE])
    student.agrees(jacobians, ALL, "square", [np.zeros((0, 2))])


@pytest.mark.meets("more_than_two", "keys", "extremes")
@pytest.mark.keeps("one for each float input", "whose results are floats")
def test_several_leaves(student):
    """Each leaf of a result has its own Jacobians, one for each float among the inputs."""
    student.agrees(jacobians, ALL, "two", [ROW, GRID[0]])
    student.agrees(jacobians, ALL, "integer", [np.array([1, 2, 3]), ROW])


@pytest.mark.meets("float32", "some_results", "zeros")
@pytest.mark.keeps("for an input without influence it is zero")
def test_results_without_influence(student):
    """If a leaf does not depend on an input, the Jacobian is zero, and has its full shape."""
    student.agrees(jacobians, ALL, "constant", [ROW, GRID])
    student.agrees(jacobians, ALL, "constant", [3.0, ROW.astype(F32)])


@pytest.mark.meets("none")
@pytest.mark.keeps("One backward pass serves all entries")
def test_work_of_a_jacobian(student):
    """One backward pass serves all entries of the leaf."""
    for shape in ((2, 3), (20, 3), (), (3,), (2, 1, 2)):
        student.agrees(work_of_a_jacobian, ALL, *shape)


@pytest.mark.meets("another_box", "nested")
@pytest.mark.keeps("is the linearized function")
def test_jacobian_within_jvp(student):
    """A Jacobian can be differentiated."""
    student.agrees(jacobian_inside, ALL, 2.0, 1.0)
    student.agrees(jacobian_inside, ALL, ROW, GRID[0])


# Random programs ----------------------------------------------------------------------------------

# With these, values are used several times; are stretched along an axis; are matrices.
STRETCHING = ["infix", "broadcast_in_dim", "sin"]
MATRIX = ["broadcast_in_dim", "broadcast_in_dim", "transpose", "dot_general", "sin", "infix"]


@probe
def cotangents_back(mj, f, xs, cts):
    """What cotangents of a program's results are pulled back to."""
    return mj.vjp(f, *xs)[1](cts)


@probe
def program_run_back(mj, f, xs, cts):
    """The program of a derivative, linear in the second half of its inputs, run backwards."""
    n = len(xs)
    program = mj.make_jaxpr(lambda *both: mj.jvp(f, both[:n], both[n:])[1])(*xs, *xs)
    back = transposed_jaxpr(program, (False,) * n + (True,) * n)
    leaves = cts if isinstance(cts, tuple) else (cts,)
    return eval_jaxpr(back.jaxpr, back.consts, *xs, *leaves)


@probe
def gradients_of_sum(mj, f, xs):
    """The sum of a program's result, and how it moves with each argument."""
    return mj.value_and_grad(lambda *ys: mj.numpy.sum(f(*ys)), tuple(range(len(xs))))(*xs)


@probe
def slope_of_gradient(mj, f, xs, ts):
    """The gradient by the first argument, and its derivative in a direction."""
    return mj.jvp(mj.grad(lambda *ys: mj.numpy.sum(f(*ys))), xs, ts)


@probe
def jacobians_back(mj, f, xs):
    """How each result of a program moves with each argument."""
    return mj.jacrev(f, tuple(range(len(xs))))(*xs)


exercise("grad.unbroadcast")


def test_stretched_operands_in_programs(student):
    """Random programs in which something is stretched are run backwards correctly."""
    student.agrees_on_programs(cotangents_back, operations=STRETCHING, using=["infix"])


exercise("grad.broadcast_rule")


def test_repetitions_in_programs(student):
    """Random programs in which something is repeated are run backwards correctly."""
    using = ["broadcast_in_dim"]
    student.agrees_on_programs(cotangents_back, operations=STRETCHING, using=using)


exercise("grad.dot_general_rule")


def test_contractions_in_programs(student):
    """Random programs with contracted axes are run backwards correctly."""
    using = ["dot_general"]
    student.agrees_on_programs(cotangents_back, operations=MATRIX, using=using)


exercise("grad.backward_pass")


def test_programs_run_backwards(student):
    """Random programs with any operations are run backwards correctly."""
    student.agrees_on_programs(cotangents_back)


exercise("grad.call_rule")


def test_programs_of_derivatives(student):
    """The program of a derivative becomes a program that computes cotangents."""
    student.agrees_on_programs(program_run_back)


exercise("grad.value_and_gradients")


def test_gradients_of_programs(student):
    """Value and gradients of the sum of a random program are right, and so are second slopes."""
    student.agrees_on_programs(gradients_of_sum, results=1)
    student.agrees_on_programs(slope_of_gradient, results=1, number=5)


exercise("grad.jacobian_of_output")


def test_jacobians_of_programs(student):
    """How each result of a random program moves with each argument is right."""
    student.agrees_on_programs(jacobians_back)


exercise("grad.whole")


def of_many(mj, f, x):
    """The gradient of `f` at `x` by each of very many inputs that are added to it: some entries.

    There is no memory for a direction of each, and no time to go through them one by one.
    """
    inputs = np.zeros(50_001, np.result_type(x))
    return mj.grad(lambda z: f(x + mj.numpy.sum(z)))(inputs)[::25_000]


@probe(uses=[evaluating, of_many])
def gradients(mj, x):
    """Value and gradient of a chain of products; how often the function ran."""
    runs = []

    def f(x):
        runs.append(1)
        y = mj.numpy.sin(x) * x
        return 0.5 * y * y - 3.0 * x

    with evaluating({}):
        return {
            "the value and the gradient": mj.value_and_grad(f)(x),
            "the gradient by very many inputs": of_many(mj, f, x),
            "calls of f": len(runs),
        }


@probe(uses=[evaluating, of_many])
def sums_of_arrays(mj, x, y):
    """Gradients of a sum in which a number, a row and an axis of length 1 were stretched."""

    def f(x, y, k):
        return mj.numpy.sum((x + k) * (y - x) * k / 2.0)

    with evaluating({}):
        return {
            "the gradients": mj.grad(f, (0, 1, 2))(x, y, 2.0),
            "the gradient by very many inputs": of_many(mj, lambda x: f(x, y, 2.0), x),
        }


@probe(uses=[evaluating, of_many])
def layers(mj, w, x):
    """The gradient of two layers, over containers."""

    def loss(params, x):
        hidden = mj.numpy.exp(params["w"] @ x - params["b"])
        return mj.numpy.sum((hidden @ params["w"]) * x)

    with evaluating({}):
        params = {"w": w, "b": np.ones(len(w), w.dtype)}
        return {
            "the value and the gradient": mj.value_and_grad(loss)(params, x),
            "the gradient by very many inputs": of_many(mj, lambda x: loss(params, x), x),
        }


@probe(uses=[evaluating, of_many])
def gradients_within(mj, x):
    """Gradients of functions that use a gradient: of their own input, and of the outer one."""

    def f(x):
        inner = mj.grad(lambda y: mj.numpy.sin(y) * x * y)(x)
        return x * inner + mj.grad(lambda y: x)(3.0) + mj.jvp(lambda y: x * y * y, (x,), (x,))[1]

    with evaluating({}):
        return {
            "the value and the gradient": mj.value_and_grad(f)(x),
            "the second derivative": mj.grad(mj.grad(f))(x),
            "the gradient by very many inputs": of_many(mj, f, x),
        }


def refused(f, *args):
    """The class of the error of a call; None if there is none."""
    try:
        f(*args)
    except (TypeError, ValueError) as error:
        return type(error).__name__
    return None


def transposes(mj, x):
    """Cotangents of linear functions, which are all made first, and which calls are refused."""
    twice, both = mj.jit(lambda n: (n * 2, n + n)), {"a": x, "b": x}
    of = mj.linear_transpose
    made = [of(lambda d: d["a"] * 2.0 - d["b"], both), of(lambda a, b: (a, a - b), x, x)]
    made.append(of(lambda n: twice(n)[0], 3))
    return [
        *(f(ct) for f, ct in zip(made, (x, (x, 2.0 * x), 5), strict=True)),
        refused(of, lambda a, n: a, x, 3),
        *(refused(made[0], ct) for ct in (np.ones(7), 3, (x,), x)),
    ]


@probe(uses=[evaluating, of_many, refused, transposes])
def several_cotangents(mj, x, n):
    """A vjp over containers, an integer and None, for several cotangents, after some that fail.

    Others are made before it is used. And one that a function of jit returns.
    """
    zero = np.zeros(np.shape(n), [("float0", np.void, 0)])
    with evaluating({}):
        y, f_vjp, aux = mj.vjp(
            lambda p, n: ((p["a"] * 2.0, n, p["a"]), None), {"a": x, "b": x}, n, has_aux=True
        )
        of_jit = mj.jit(lambda y: mj.vjp(lambda z: z * z, y)[1])(x)
        wrong = [(x, zero), (x, zero, np.ones(7)), (np.float32(x), zero, x), (x, n, x)]
        errors = [refused(f_vjp, cts) for cts in wrong]
        with patch.dict(core.transpose_rules, {core.mul_p: None}):
            errors.append(refused(f_vjp, (x, zero, x)))
        cts = [f_vjp((ct, zero, x)) for ct in (x, 0.0 * x)]

        def weighed(x):
            return mj.numpy.sum(mj.vjp(lambda y: (y * 2.0, n, y * y), x)[1]((x, zero, x))[0])

        return {
            "the values": y,
            "the cotangents": cts,
            "the auxiliary output": aux,
            "the errors of cotangents that do not fit, and of a rule that fails": errors,
            "the cotangents by a function that jit has returned": of_jit(x),
            "the cotangents of linear functions, and the errors": transposes(mj, x),
            "the gradient by very many inputs": of_many(mj, weighed, x),
        }


@probe(uses=[evaluating, of_many])
def calls_backwards(mj, x):
    """Gradients through functions of `jit` that look alike, with constants and unused results."""

    def of(row):
        inner = mj.jit(lambda x, y, k: (mj.numpy.sin(x) * y * row, k * 2.0, x - k))
        outer = mj.jit(lambda x, y: inner(x, y, 3.0)[2] * inner(y, x, x)[0] + inner(x, x, y)[0])
        total = lambda x: mj.numpy.sum(outer(x, x * x))  # noqa: E731
        difference = mj.vjp(lambda x: inner(x, x, x)[2], x)[1](1.0)
        return {
            "the gradient": mj.grad(total)(x),
            "the cotangent of a difference": difference,
            "the gradient by very many inputs": of_many(mj, total, x),
        }

    with evaluating({}):
        return [of(row) for row in (np.array([2.0, 3.0]), np.array([5.0, 7.0]))]


@probe(uses=[evaluating, of_many])
def all_jacobians(mj, x, y):
    """Jacobians of several results by two arguments, and second derivatives."""
    jnp = mj.numpy

    def f(x, y):
        return {"a": x * jnp.sum(y), "b": (jnp.sin(y).T, 2.0)}

    with evaluating({}):
        slope = of_many(mj, lambda x: jnp.sum(mj.jacrev(f, 1)(x, y)["a"]), x)
        return {
            "the Jacobians": mj.jacrev(f, (0, 1))(x, y),
            "the second derivatives": mj.hessian(lambda y: jnp.sum(y * y * y * x))(y),
            "the derivative of a Jacobian": slope,
        }


@probe(uses=[evaluating])
def gradients_of_programs(mj, f, xs, ts, cts):
    """Cotangents of a random program, also of very many inputs, and the derivative of these."""
    inputs = np.zeros(50_001, np.float32)

    def g(z, *ys):
        return f(*[y + mj.numpy.sum(z) for y in ys])

    with evaluating({}):
        of_inputs, *_ = mj.vjp(g, inputs, *xs)[1](cts)
        return {
            "the cotangents and their derivatives": mj.jvp(
                lambda *ys: mj.vjp(f, *ys)[1](cts), xs, ts
            ),
            "the cotangents of very many inputs": of_inputs[::25_000],
        }


@pytest.mark.meets(twice="value_and_gradients")
def test_whole_gradients(student):
    """The gradient of a product of values that are used several times is right."""
    student.agrees(gradients, 0.5)
    student.agrees(gradients, F32(-1.5))


def test_whole_sums(student):
    """What was stretched gets the sum of its cotangents."""
    student.agrees(sums_of_arrays, GRID, ROW[None])
    student.agrees(sums_of_arrays, GRID[:, :1], ROW[None])


@pytest.mark.meets(float32="backward_pass")
def test_whole_layers(student):
    """The gradient of a small network is right, in both precisions."""
    student.agrees(layers, GRID, ROW)
    student.agrees(layers, GRID.astype(F32), ROW.astype(F32))


@pytest.mark.meets(
    another_box="backward_pass value_and_gradients",
    again="value_and_gradients",
    closure="value_and_gradients",
)
def test_whole_gradients_within(student):
    """In gradients inside each other, each function sees its own input move, and no other."""
    student.agrees(gradients_within, 0.5)


def test_whole_cotangents(student):
    """Several cotangents are pulled back, over containers with all kinds of leaves."""
    student.agrees(several_cotangents, ROW, 3)
    student.agrees(several_cotangents, 2.0, np.arange(3))


@pytest.mark.meets(twice="call_rule", again="call_rule", caching="call_rule")
def test_whole_calls(student):
    """Functions that call functions of `jit` have the right gradients."""
    student.agrees(calls_backwards, 0.5)


def test_whole_jacobians(student):
    """Jacobians of several results in several arguments have all their axes in order."""
    student.agrees(all_jacobians, 2.0, GRID)


def test_whole_programs(student):
    """The cotangents that a random program pulls back are right, and so is their derivative."""
    student.agrees_on_programs(gradients_of_programs, number=5)
