"""Hidden tests of the `jvp` lesson: forward-mode differentiation.

Every exercise is tested alone: probes hand its target boxes, primitives and functions of their own,
and where it calls what a sibling exercise defines, they put a right one in its place meanwhile.
"""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place, watching
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import functools
    import gc
    import sys
    import threading
    import weakref

    from minijax import core
    from minijax import numpy as jnp
    from minijax.core import Primitive, impl_rules, jvp_rules, mul_p, new_main, trace_state
    from minijax.errors import UnexpectedTracerError
    from minijax.jvp import JVPTrace, JVPTracer, bilinear_jvp, jvp_flat

F32 = np.float32
FLOAT0 = np.dtype([("float0", np.void, 0)])
INF = np.inf

ROW = np.array([0.5, -2.0, 3.0])
STEP = np.array([10.0, 0.25, -1.0])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])
GRID_STEP = np.array([[0.5, 7.0, -1.0], [2.0, -0.25, 6.0]])
EMPTY = np.zeros((0, 2))
FAR = 2.0**70  # beside it a step of ordinary size is lost: differences are no derivatives there


# Probes that several exercises share --------------------------------------------------------------


def rule_named(name):
    """A rule of the module, by the name of its primitive."""
    module = sys.modules["minijax.jvp"]
    if name in ("add_p", "sub_p"):
        return functools.partial(module.sum_jvp, getattr(core, name))
    if name == "scaled":
        toy = Primitive(name)
        impl_rules[toy] = lambda x, y, *, scale: np.multiply(scale, np.multiply(x, y))
        return functools.partial(module.bilinear_jvp, toy, scale=5.0)
    params = {"dimension_numbers": (((1,), (0,)), ((), ())), "preferred_element_type": None}
    return functools.partial(
        module.bilinear_jvp, getattr(core, name), **(params if name == "dot_general_p" else {})
    )


@probe(uses=[rule_named])
def rule(mj, name, primals, tangents):
    """What a rule gives."""
    primal_out, tangent_out = rule_named(name)(primals, tangents)
    return {"the value": primal_out, "the tangent": tangent_out}


@probe(uses=[rule_named, watching])
def watched(mj, name, arguments, count=True):
    """What a function gives for boxed arguments, and the names of the operations that it binds.

    `count` says whether operations count, or names those that do.
    """

    def boxed(x):
        return [boxed(y) for y in x] if isinstance(x, list) else x if x is None else box(x)

    def unboxed(x):
        return [unboxed(y) for y in x] if isinstance(x, tuple) else getattr(x, "val", x)

    with watching() as (box, log):
        out = rule_named(name)(*boxed(arguments))
        value, tangent = unboxed(out)
        return {
            "the value": value,
            "the tangent": tangent,
            "operations": count and sorted(x for x in log if count is True or x in count),
        }


EXERCISES = ("process_primitive", "mul_rule", "sum_rule", "flat")


def others(exercise):
    """Right answers to all exercises but one."""
    return siblings(*(f"jvp.{other}" for other in EXERCISES if other != exercise))


def beside_single(values):
    """Values times one in single precision, to which a weak type gives way."""
    return [jnp.multiply(value, np.float32(1.0)) for value in values]


@probe(uses=[beside_single, in_place, rule_named])
def rule_itself(mj, siblings, name, primals, tangents, steps):
    """A rule as a function of values and tangents: its derivative, and weak types.

    A single value stands for two operands that are one and the same; so does a single tangent.
    """
    with in_place("minijax.jvp", siblings):
        rule = rule_named(name)

        def f(xs, ts):
            out, out_dot = rule(*([*x, *x] if len(x) == 1 else x for x in (xs, ts)))
            return out, out_dot

        (value, tangent), moves = mj.jvp(f, (primals, tangents), steps)
        return {
            "the value": value,
            "the tangent": tangent,
            "how value and tangent move with the operands and their tangents": moves,
            "value and tangent times a float32": beside_single(f(primals, tangents)),
            "operands afterwards": [primals, tangents],
        }


def as_function(student, exercise, *asked):
    """Compare what a rule gives and how it moves when its inputs do."""
    student.agrees(rule_itself, others(exercise), *asked)


exercise("jvp.process_primitive")


@probe
def rule_call(mj, primals, tangents, params, moves=True):
    """What the rule of a made-up primitive is called with, and what becomes of its answer."""
    toy = Primitive("toy")
    calls, runs = [], []

    def toy_jvp(primals, tangents, *, scale=1.0, shift=0.0):
        calls.append([[*primals], [*tangents], {"scale": scale, "shift": shift}])
        value = scale * (primals[0] - primals[1])
        return value, 100.0 * scale + shift + 0.0 * primals[0] if moves else None

    def evaluate(x, y, *, scale=1.0, shift=0.0):
        runs.append(1)
        return np.multiply(scale, x - y)

    impl_rules[toy] = evaluate
    jvp_rules[toy] = toy_jvp
    with new_main(JVPTrace) as main:
        trace = JVPTrace(main)
        boxes = [JVPTracer(trace, x, t) for x, t in zip(primals, tangents, strict=True)]
        out = trace.process_primitive(toy, boxes, params)
        if not isinstance(out, JVPTracer):
            return {"the result is a box of this trace": False}
        return {
            "the result is a box of this trace": out._trace.main is main,
            "calls of the rule": len(calls),
            "calls of the rule of evaluation": len(runs),
            "the values that the rule gets": [call[0] for call in calls],
            "the tangents that the rule gets": [call[1] for call in calls],
            "the parameters that the rule gets": [call[2] for call in calls],
            "the value": out.primal,
            "the tangent": out.tangent,
            "what the rule gets, the value and the tangent are weakly typed": [
                None if x is None else core.get_aval(x).weak_type
                for x in (
                    *[x for call in calls for x in call[0] + call[1]],
                    out.primal,
                    out.tangent,
                )
            ],
            "operands afterwards": [[box.primal, box.tangent] for box in boxes],
        }


@probe(uses=[watching])
def constant_call(mj, primals, params, boxed=True):
    """A primitive without a rule, on constants; the operation is watched one level down.

    If these are not `boxed`, the interpreter there takes all operations.
    """
    toy = Primitive("toy")
    impl_rules[toy] = lambda x, y, *, scale=1.0: np.multiply(scale, x - y)

    def note(primitive, params):
        return primitive.name, sorted(params)

    with watching(note) as (below, log), new_main(JVPTrace) as main:
        trace = JVPTrace(main)
        boxes = [JVPTracer(trace, below(x) if boxed else x, None) for x in primals]
        trace_state.dynamic_trace = None if boxed else trace_state.stack[main.level - 1]
        try:
            out = trace.process_primitive(toy, boxes, params)
        finally:
            trace_state.dynamic_trace = None
        mine = isinstance(out, JVPTracer) and out._trace.main is main
        return {
            "the result is a box of this trace": mine,
            "the value": getattr(out.primal, "val", out.primal),
            "the tangent": out.tangent,
            "the operations bound one level down, with their parameters": log,
        }


@probe
def several(mj, primals, tangents, params, number=3, still=1):
    """A made-up primitive with up to three results, one of which never moves by its rule.

    The boxes come in a tuple.
    """
    toy, seen = Primitive("toy", multiple_results=True), []

    def evaluate(x, y, *others, scale=1.0):
        return [np.multiply(scale, x), np.subtract(x, y), np.negative(y)][:number]

    def differentiate(primals, tangents, *, scale=1.0):
        seen.append([*tangents])
        slopes = [None if i == still else 50.0 * scale + i for i in range(number)]
        return tuple(evaluate(*primals, scale=scale + 1.0)), slopes

    impl_rules[toy] = evaluate
    jvp_rules[toy] = differentiate
    with new_main(JVPTrace) as main:
        trace = JVPTrace(main)
        boxes = (JVPTracer(trace, x, t) for x, t in zip(primals, tangents, strict=True))
        outs = trace.process_primitive(toy, tuple(boxes), params)
        if not isinstance(outs, list):  # a single box must not be iterated over
            return {"the results come in a list": False}
        mine = [isinstance(out, JVPTracer) and out._trace.main is main for out in outs]
        return {
            "each result is a box of this trace": mine,
            "the tangents that the rule gets": seen,
            "the values": [out.primal for out in outs],
            "the tangents": [out.tangent for out in outs],
        }


@probe
def missing_rule(mj, tangents, several=False):
    """The error where a rule is needed and there is none."""
    toy = Primitive("wobble", multiple_results=several)
    impl_rules[toy] = lambda x, *others: [x] if several else x
    with new_main(JVPTrace) as main:
        trace = JVPTrace(main)
        try:
            boxes = [JVPTracer(trace, 3.0, tangent) for tangent in tangents]
            out = trace.process_primitive(toy, boxes, {})
        except NotImplementedError as error:
            named = "wobble" in str(error)
            return {"error": "NotImplementedError", "the error names the primitive": named}
        return {"error": "nothing", "the results": repr(out)}


@probe
def level_of_the_rule(mj, val, tangent):
    """Whether a rule gets another jvp's box as it is, and what its operations do on it."""
    toy = Primitive("toy")
    seen = []

    def toy_jvp(primals, tangents):
        seen.extend([*primals, *tangents])
        return primals[0], tangents[0]

    jvp_rules[toy] = toy_jvp
    with new_main(JVPTrace) as lower, new_main(JVPTrace) as upper:
        inner = JVPTracer(JVPTrace(lower), val, tangent)
        trace = JVPTrace(upper)
        out = trace.process_primitive(toy, [JVPTracer(trace, inner, inner)], {})
        return {
            "the rule gets the tracers of the lower level themselves": [x is inner for x in seen],
            "value and tangent are what the rule returned": [
                out.primal is inner,
                out.tangent is inner,
            ],
            "the result is a box of this trace": out._trace.main is upper,
        }


@pytest.mark.meets("order", "keys", "float32", "mutation")
@pytest.mark.keeps("The result, in a box", "come from the primitive's rule")
def test_what_the_rule_gets(student):
    """The rule is called once, with all values, all tangents, and the parameters by name."""
    student.agrees(rule_call, [5.0, 2.0], [0.5, 0.25], {})
    student.agrees(rule_call, [5.0, 2.0], [0.5, 0.25], {"scale": 3.0})
    student.agrees(rule_call, [ROW, STEP], [STEP, ROW], {"shift": 4.0, "scale": -2.0})
    student.agrees(rule_call, [ROW.astype(F32), F32(2.0)], [STEP.astype(F32), None], {})
    student.agrees(rule_call, [5.0, 2.0], [0.5, None], {}, False)
    for primals in ([5.0, 2.0], [ROW, STEP]):
        student.agrees(rule_call, primals, primals, {"shift": -100.0})  # the tangent is 0


@pytest.mark.meets("zeros")
def test_some_operands_constant(student):
    """The rule is called even if only some operands move, the others with the symbolic zero."""
    student.agrees(rule_call, [5.0, 2.0], [None, 0.25], {})
    student.agrees(rule_call, [5.0, 2.0], [0.5, None], {})
    student.agrees(rule_call, [5.0, 2.0], [0.0, None], {})
    student.agrees(rule_call, [ROW, STEP], [np.zeros(3), None], {"shift": 4.0})


@pytest.mark.meets("none")
@pytest.mark.keeps("The result, in a box", "at least one operand moves")
def test_nothing_moves(student):
    """If no operand moves, the result is a constant, and the rule is not called."""
    student.agrees(rule_call, [5.0, 2.0], [None, None], {})
    student.agrees(rule_call, [ROW, STEP], [None, None], {"scale": 3.0})


@pytest.mark.keeps("at least one operand moves")
def test_constants_need_no_rule(student):
    """If no operand moves, the primitive is bound one level down, and needs no rule here."""
    for boxed in (True, False):
        student.agrees(constant_call, [5.0, 2.0], {}, boxed)
        student.agrees(constant_call, [ROW, STEP], {"scale": -2.0}, boxed)


@pytest.mark.meets("order", "more_than_two", "sizes", "some_results", "none")
@pytest.mark.keeps("come from the primitive's rule", "returns a list")
def test_several_results(student):
    """A primitive with several results returns a list of boxes, each with its own tangent."""
    student.agrees(several, [5.0, 2.0], [0.5, 0.25], {})
    student.agrees(several, [ROW, STEP], [None, ROW], {"scale": 3.0})
    student.agrees(several, [5.0, 2.0], [None, None], {})
    student.agrees(several, [ROW, STEP], [None, None], {"scale": 3.0})
    # `multiple_results` says whether there is a list, not how many are in it.
    student.agrees(several, [5.0, 2.0], [0.5, 0.25], {}, 1)
    student.agrees(several, [5.0, 2.0], [None, None], {}, 1)
    student.agrees(several, [5.0, 2.0], [0.5, 0.25], {}, 3, 0)
    student.agrees(several, [5.0, 2.0], [0.5, 0.25], {}, 2, 0)
    student.agrees(several, [5.0, 2.0], [0.5, 0.25], {}, 0)
    student.agrees(several, [5.0, 2.0, 7.0], [None, None, 0.25], {})


@pytest.mark.keeps("names the primitive")
def test_missing_rule(student):
    """A rule that is needed but missing raises an error that names the primitive."""
    for tangents in ([1.5], [None, 1.5]):
        for several in (False, True):
            student.agrees(missing_rule, tangents, several)


@pytest.mark.meets("another_box", "nested")
def test_level_of_the_rule(student):
    """Values and tangents that are tracers of a lower level go through the rule as they are."""
    student.agrees(level_of_the_rule, 2.0, 5.0)


def test_level_of_the_rule_for_arrays(student):
    """Tracers of arrays of a lower level go through the rule as they are."""
    student.agrees(level_of_the_rule, ROW, STEP)


exercise("jvp.mul_rule")


@probe
def value_of_a_product(mj, x, y, x_dot, y_dot=None):
    """Value and tangent, and what kind of arrays they are."""
    value, tangent = bilinear_jvp(mul_p, [x, y], [x_dot, y_dot])
    return {
        "the value": value,
        "the tangent": tangent,
        "the classes of value and tangent": [type(value).__name__, type(tangent).__name__],
    }


@pytest.mark.meets("order")
@pytest.mark.keeps("how it moves when they move")
def test_mul_both_move(student):
    """If both operands move, the tangent has a term for each of them."""
    student.agrees(rule, "mul_p", [3.0, 5.0], [0.5, 10.0])
    student.agrees(rule, "mul_p", [-2.0, 0.25], [7.0, -3.0])
    student.agrees(rule, "mul_p", [GRID, GRID + 1.5], [GRID_STEP, 2.0 - GRID])
    student.agrees(rule, "mul_p", [FAR * GRID, FAR * GRID + 1.5], [GRID_STEP, 2.0 - GRID])
    student.agrees(watched, "mul_p", [[GRID, GRID + 1.5], [GRID_STEP, 2.0 - GRID]], False)


@pytest.mark.meets("none")
def test_mul_first_moves(student):
    """If only the first operand moves, its term is the whole tangent."""
    student.agrees(rule, "mul_p", [3.0, 5.0], [0.5, None])
    student.agrees(rule, "mul_p", [ROW, STEP], [ROW + 2.0, None])
    student.agrees(rule, "mul_p", [FAR * ROW, STEP], [ROW + 2.0, None])
    student.agrees(watched, "mul_p", [[ROW, STEP], [ROW + 2.0, None]], False)


@pytest.mark.meets("none")
def test_mul_second_moves(student):
    """If only the second operand moves, its term is the whole tangent."""
    student.agrees(rule, "mul_p", [3.0, 5.0], [None, 0.5])
    student.agrees(rule, "mul_p", [ROW, STEP], [None, ROW + 2.0])
    student.agrees(rule, "mul_p", [ROW, FAR * STEP], [None, ROW + 2.0])
    student.agrees(watched, "mul_p", [[ROW, STEP], [None, ROW + 2.0]], False)


@pytest.mark.meets("extremes")
@pytest.mark.keeps("nothing is computed")
def test_mul_zero_times_infinity(student):
    """A constant operand contributes nothing, even where the other operand is infinite."""
    student.agrees(rule, "mul_p", [INF, 4.0], [0.5, None])
    student.agrees(rule, "mul_p", [3.0, -INF], [None, 0.5])


@pytest.mark.meets("sizes", "zeros")
@pytest.mark.keeps("may be a scalar")
def test_mul_shapes(student):
    """Operands of different shapes stretch, and the tangent has the shape of the product."""
    student.agrees(rule, "mul_p", [GRID, 4.0], [GRID_STEP, 0.5])
    student.agrees(rule, "mul_p", [4.0, GRID], [0.5, None])
    student.agrees(rule, "mul_p", [FAR, GRID], [0.5, None])
    student.agrees(rule, "mul_p", [ROW, np.array(4.0)], [None, np.array(0.5)])
    student.agrees(rule, "mul_p", [GRID, 4.0], [None, 0.0])
    student.agrees(rule, "mul_p", [4.0, GRID], [0.0, None])
    student.agrees(rule, "mul_p", [GRID[:1], GRID[:, :1]], [GRID_STEP[:1], GRID_STEP[:, :1]])
    student.agrees(rule, "mul_p", [EMPTY, 4.0], [None, 0.5])
    student.agrees(watched, "mul_p", [[GRID, 4.0], [GRID_STEP, 0.5]], False)


@pytest.mark.meets("float32")
@pytest.mark.keeps("numbers, arrays or tracers")
def test_mul_keeps_the_dtype(student):
    """Value and tangent have the dtype of the operands."""
    student.agrees(rule, "mul_p", [ROW.astype(F32), STEP.astype(F32)], [STEP.astype(F32), None])
    student.agrees(rule, "mul_p", [F32(FAR), STEP.astype(F32)], [F32(0.5), None])
    student.agrees(rule, "mul_p", [ROW.astype(F32), F32(2.0)], [STEP.astype(F32), F32(3.0)])
    student.agrees(watched, "mul_p", [[ROW.astype(F32), F32(2.0)], [STEP.astype(F32), None]], False)


def test_mul_value_is_read_only(student):
    """Value and tangent are what evaluation returns: arrays that cannot be written to."""
    student.agrees(value_of_a_product, 3.0, 5.0, 0.5)
    student.agrees(value_of_a_product, ROW, STEP, ROW)
    student.agrees(value_of_a_product, ROW, STEP, ROW, STEP)
    student.agrees(value_of_a_product, GRID.astype(F32), F32(2.0), GRID_STEP.astype(F32))


@pytest.mark.meets("nested")
@pytest.mark.keeps("nothing is computed", "numbers, arrays or tracers")
def test_mul_work(student):
    """Operands may be tracers, and for a constant operand no term is computed."""
    student.agrees(watched, "mul_p", [[3.0, 5.0], [0.5, 10.0]])
    student.agrees(watched, "mul_p", [[3.0, 5.0], [0.5, None]])
    student.agrees(watched, "mul_p", [[ROW, STEP], [None, ROW]])
    student.agrees(watched, "dot_general_p", [[GRID, ROW], [None, STEP]])
    student.agrees(watched, "scaled", [[ROW, STEP], [None, ROW]])
    student.agrees(watched, "scaled", [[ROW, STEP], [ROW, None]])


@pytest.mark.keeps("linear in the other")
def test_matrices_both_move(student):
    """In a product of matrices, each term keeps the order of its operands."""
    square, step = GRID @ GRID.T, GRID_STEP @ GRID.T
    student.agrees(rule, "dot_general_p", [square, step], [step, square + 1.0])
    student.agrees(rule, "dot_general_p", [GRID, GRID.T], [GRID_STEP, 2.0 - GRID.T])
    student.agrees(rule, "dot_general_p", [FAR * GRID, ROW], [GRID_STEP, STEP])


@pytest.mark.meets("axes")
def test_one_matrix_moves(student):
    """If only one matrix of a product moves, its term is the whole tangent."""
    square, step = GRID @ GRID.T, GRID_STEP @ GRID.T
    student.agrees(rule, "dot_general_p", [square, step], [None, square + 1.0])
    student.agrees(rule, "dot_general_p", [GRID, ROW], [GRID_STEP, None])
    student.agrees(
        rule, "dot_general_p", [np.array([[INF, 1.0]]), np.eye(2)], [np.ones((1, 2)), None]
    )


@pytest.mark.meets("keys")
@pytest.mark.keeps("linear in the other")
def test_product_with_parameters(student):
    """Each term of any product has all of its parameters."""
    student.agrees(rule, "scaled", [3.0, 5.0], [0.5, 10.0])
    student.agrees(rule, "scaled", [ROW, STEP], [STEP, None])
    student.agrees(rule, "scaled", [ROW, STEP], [None, ROW])


exercise("jvp.sum_rule")


@pytest.mark.meets("order")
@pytest.mark.keeps("how it moves when they move")
def test_sum_both_move(student):
    """If both operands move, the tangents are added or subtracted as the values are."""
    for name in ("add_p", "sub_p"):
        student.agrees(rule, name, [3.0, 5.0], [0.5, 10.0])
        student.agrees(rule, name, [GRID, GRID + 1.5], [GRID_STEP, 2.0 - GRID])
        student.agrees(rule, name, [FAR * GRID, GRID], [GRID_STEP, 2.0 - GRID])


@pytest.mark.meets("none")
def test_sum_first_moves(student):
    """If only the first operand moves, the sum and the difference have its tangent."""
    for name in ("add_p", "sub_p"):
        student.agrees(rule, name, [3.0, 5.0], [0.5, None])
        student.agrees(rule, name, [FAR * ROW, STEP], [ROW + 2.0, None])


@pytest.mark.meets("none")
@pytest.mark.keeps("how it moves when they move", "is `add_p` or `sub_p`")
def test_sum_second_moves(student):
    """If only the second operand moves, a sum moves with it, and a difference against it."""
    for name in ("add_p", "sub_p"):
        student.agrees(rule, name, [3.0, 5.0], [None, 0.5])
        student.agrees(rule, name, [ROW, FAR * STEP], [None, ROW + 2.0])


@pytest.mark.meets("sizes")
@pytest.mark.keeps("the value's shape")
def test_sum_shapes_of_one_that_moves(student):
    """A tangent has the shape of the value, even if only a smaller operand moves."""
    for name in ("add_p", "sub_p"):
        student.agrees(rule, name, [GRID, 4.0], [None, 0.5])
        student.agrees(rule, name, [4.0, GRID], [0.5, None])
        student.agrees(rule, name, [GRID[:1], GRID[:, :1]], [GRID_STEP[:1], None])
        student.agrees(rule, name, [GRID[:1], GRID[:, :1]], [None, GRID_STEP[:, :1]])
        student.agrees(rule, name, [EMPTY, np.array(4.0)], [None, np.array(0.5)])
        student.agrees(rule, name, [GRID[:1, :1], 4.0], [None, 0.5])
        student.agrees(rule, name, [4.0, ROW[:1]], [0.5, None])


@pytest.mark.meets("sizes", "zeros")
def test_sum_shapes_of_two_that_move(student):
    """Operands of different shapes stretch, and so do their tangents."""
    for name in ("add_p", "sub_p"):
        student.agrees(rule, name, [GRID, 4.0], [GRID_STEP, 0.5])
        student.agrees(rule, name, [4.0, ROW], [0.5, np.zeros(3)])
        student.agrees(rule, name, [GRID[:1], GRID[:, :1]], [GRID_STEP[:1], GRID_STEP[:, :1]])


@pytest.mark.meets("float32")
def test_sum_keeps_the_dtype(student):
    """Value and tangent have the dtype of the operands."""
    row, step = ROW.astype(F32), STEP.astype(F32)
    for name in ("add_p", "sub_p"):
        student.agrees(rule, name, [row, step], [step, row])
        student.agrees(rule, name, [row, F32(2.0)], [None, F32(3.0)])


@pytest.mark.meets("extremes")
@pytest.mark.keeps("Nothing is computed")
def test_sum_infinities(student):
    """A constant operand contributes nothing, even if it is infinite."""
    for name in ("add_p", "sub_p"):
        student.agrees(rule, name, [INF, 4.0], [None, 0.5])
        student.agrees(rule, name, [3.0, -INF], [0.5, None])
        student.agrees(rule, name, [3.0, 5.0], [INF, None])


def test_sum_of_tracers(student):
    """Operands and tangents may be tracers."""
    for name in ("add_p", "sub_p"):
        student.agrees(watched, name, [[3.0, 4.0], [0.5, 10.0]], False)
        student.agrees(watched, name, [[ROW, 4.0], [None, 0.5]], False)


@pytest.mark.keeps("Nothing is computed")
def test_sum_work(student):
    """For a constant operand nothing is added to the tangent, or subtracted from it."""
    sums = ["add", "sub"]
    student.agrees(watched, "add_p", [[3.0, 4.0], [0.5, None]], sums)
    student.agrees(watched, "add_p", [[ROW, 4.0], [None, 0.5]], sums)
    student.agrees(watched, "sub_p", [[ROW, STEP], [STEP, None]], sums)


exercise("jvp.flat")


@probe
def passed_through(mj, name, primals, tangents):
    """Values and tangents of a function."""
    functions = {
        "exchange": lambda x, y: [y, x, y],
        "operations": lambda x: [jnp.exp(jnp.sin(x)), -x],
        "nothing": lambda x: [],
    }
    primals_out, tangents_out = jvp_flat(functions[name], primals, tangents)
    return {"the values": primals_out, "the tangents": tangents_out}


@probe
def constant_outputs(mj, constants, primals=(3.0,), tangents=(0.5,)):
    """The inputs and outputs that are not boxed, in a list that f keeps."""
    kept = []

    def f(*xs):
        kept.append(([*xs, *constants], [*xs, *constants]))
        return kept[-1][0]

    primals_out, tangents_out = jvp_flat(f, primals, tangents)
    return {
        "the values": primals_out,
        "the tangents": tangents_out,
        "values and tangents are weakly typed": [
            core.get_aval(x).weak_type for x in (*primals_out, *tangents_out)
        ],
        "calls of f": len(kept),
        "the list that f returned is as it was": [[*map(id, x)] == [*map(id, y)] for x, y in kept],
    }


@probe
def unmoved_outputs(mj, values):
    """Outputs that are boxed, with the symbolic zero as tangent."""

    def f(x):
        return [*[JVPTracer(x._trace, value, None) for value in values], x]

    primals_out, tangents_out = jvp_flat(f, [3.0], [0.5])
    return {"the values": primals_out, "the tangents": tangents_out}


@probe
def outer_outputs(mj, val, tangent):
    """Outputs that are tracers of an outer jvp."""
    with new_main(JVPTrace) as main:
        outer = JVPTracer(JVPTrace(main), val, tangent)
        (primal, _), tangents_out = jvp_flat(lambda y: [outer, y], [3.0], [0.5])
        return {
            "the outer tracer itself is the value": primal is outer,
            "the tangents": tangents_out,
        }


@probe
def boxed_inputs(mj, primals, tangents, own=False):
    """What the function gets, and the stack before, during and after its call.

    With `own`, minijax makes the tangents, which are zeros.
    """
    if own:
        tangents = [mj.numpy.zeros(t.shape, t.dtype) for t in tangents]
    calls = []
    sizes = [len(trace_state.stack)]

    def f(*xs):
        top = trace_state.stack[-1]
        mine = [isinstance(x, JVPTracer) and x._trace.main is top for x in xs]
        calls.append((mine, [(x.primal, x.tangent) for x in xs], top.trace_type is JVPTrace))
        sizes.append(len(trace_state.stack))
        return [xs[0]]

    jvp_flat(f, primals, tangents)
    return {
        "calls of f": len(calls),
        "f gets boxes of the newest interpreter": [mine for mine, *_ in calls],
        "that interpreter is a JVPTrace": [jvp for *_, jvp in calls],
        "the value and the tangent in each box": [pairs for _, pairs, _ in calls],
        "the height of the stack before, during and after the call": [
            *sizes,
            len(trace_state.stack),
        ],
    }


@probe
def failing_function(mj):
    """The stack after functions that raise errors of any class."""

    def stop(error):
        calls.append(error)
        raise error

    seen, calls = [], []
    interrupts = KeyboardInterrupt(), SystemExit(), GeneratorExit()
    for error in (TypeError(), KeyError(), StopIteration(), *interrupts):
        try:
            jvp_flat(lambda x, error=error: stop(error), [3.0], [0.5])
        except BaseException as caught:
            seen.append((caught is error, len(trace_state.stack)))
    return {
        "the error itself comes out": [same for same, _ in seen],
        "the heights of the stack after the errors": [height for _, height in seen],
        "calls of f": len(calls),
    }


@probe(uses=[beside_single, in_place])
def flat_as_a_function(mj, siblings, x, x_dot):
    """Values and tangents of a function, as they move with its input and with its tangent."""
    with in_place("minijax.jvp", siblings) as module:

        def f(x, x_dot):
            primals, tangents = module.jvp_flat(lambda x: [mj.numpy.exp(x), x, 2.5], [x], [x_dot])
            return primals, tangents

        primals, tangents = f(x, x_dot)
        return {
            "values and tangents, and how they move with the input and its tangent": mj.jvp(
                f, (x, x_dot), (x + 1.0, x - 2.0)
            ),
            "values and tangents times a float32": beside_single([*primals, *tangents]),
        }


@probe(uses=[watching])
def escaped_output(mj):
    """An output that is a tracer of a jvp, or of another interpreter, that has ended."""
    kept, found = [], []

    def inner(y):
        kept.append(y)
        return [y]

    def f(*xs):
        jvp_flat(inner, [2.0], [1.0])
        return [kept[-1]]

    with watching() as (box, _):
        other = box(2.0)
    jvp_flat(inner, [2.0], [1.0])
    earlier = kept.pop()
    for g in (lambda *xs: [*xs, earlier], f, lambda *xs: [*xs, other]):
        for primals, tangents in (([3.0], [0.5]), ([], [])):
            try:
                found.append(len(jvp_flat(g, primals, tangents)))
            except UnexpectedTracerError:
                found.append("UnexpectedTracerError")
            except Exception:
                found.append("another error")
    return {
        f"what is raised for a box of {box}, which has ended, {what}": found.pop(0)
        for box in ("an earlier jvp", "an inner jvp", "another interpreter")
        for what in ("beside an input", "without inputs")
    }


@pytest.mark.meets("order", "more_than_two", "twice", "sizes")
@pytest.mark.keeps("Returns two lists")
def test_flat_passes_values_through(student):
    """Outputs come back as a list of values and a list of tangents, in the function's order."""
    student.agrees(passed_through, "exchange", [3.0, 4.0], [0.5, 10.0])
    arrays = [GRID, ROW.astype(F32)], [GRID_STEP, STEP.astype(F32)]
    student.agrees(passed_through, "exchange", *arrays)
    student.agrees(passed_through, "nothing", [3.0], [0.5])


@pytest.mark.keeps("Differentiate a function")
def test_flat_differentiates(student):
    """Operations of the function are differentiated by their rules."""
    student.agrees(passed_through, "operations", [0.7], [3.0])
    student.agrees(passed_through, "operations", [GRID], [GRID_STEP])


@pytest.mark.meets("moment", "some_results")
@pytest.mark.keeps("which is called once")
def test_flat_boxes_inputs(student):
    """The function is called once, on boxes of a new interpreter that is gone afterwards."""
    student.agrees(boxed_inputs, [3.0, ROW], [0.5, STEP])


@pytest.mark.meets("zeros")
@pytest.mark.keeps("has the dtype `float0`")
def test_flat_integer_inputs(student):
    """The tangent of an integer goes into its box as the symbolic zero."""
    student.agrees(boxed_inputs, [3.0, 7], [0.5, np.zeros((), FLOAT0)])
    student.agrees(boxed_inputs, [np.arange(3), ROW], [np.zeros(3, FLOAT0), STEP])
    student.agrees(boxed_inputs, [EMPTY.astype(int), ROW], [EMPTY.astype(FLOAT0), STEP])
    student.agrees(boxed_inputs, [np.arange(3), ROW], [np.zeros(3, FLOAT0), STEP], True)


@pytest.mark.keeps("has the dtype `float0`")
def test_flat_boolean_inputs(student):
    """The tangent of a boolean goes into its box as the symbolic zero."""
    student.agrees(boxed_inputs, [True, ROW], [np.zeros((), FLOAT0), STEP])
    student.agrees(boxed_inputs, [STEP > 0.0, ROW], [np.zeros(3, FLOAT0), STEP])


@pytest.mark.meets("float32", "sizes", "some_results", "mutation")
@pytest.mark.keeps("which is called once", "Returns two lists", "never `None`", "stays as it is")
def test_flat_constant_outputs(student):
    """A constant output comes back with zeros as tangent, and the list of f stays as it was."""
    student.agrees(constant_outputs, [2.5, GRID, np.float64(1.0)])
    student.agrees(constant_outputs, [ROW.astype(F32), 7, EMPTY])
    student.agrees(constant_outputs, [2.5, True], [], [])
    student.agrees(constant_outputs, [], [], [])
    student.agrees(constant_outputs, [2.5], [7], [np.zeros((), FLOAT0)])


@pytest.mark.meets("float32", "zeros")
@pytest.mark.keeps("has the dtype `float0`", "zeros for a result")
def test_flat_instantiates_zeros(student):
    """A symbolic zero comes back as zeros that fit the value in shape and dtype."""
    student.agrees(unmoved_outputs, [2.5, ROW])
    student.agrees(unmoved_outputs, [GRID.astype(F32), np.array([3, 5]), np.array(True)])


@pytest.mark.meets("another_box", "nested")
def test_flat_outer_tracers(student):
    """An output that is a tracer of an outer jvp is a constant here, whatever its own tangent."""
    student.agrees(outer_outputs, 2.0, 5.0)
    student.agrees(outer_outputs, ROW, STEP)


@pytest.mark.meets("exception")
@pytest.mark.keeps("which is called once")
def test_flat_after_an_error(student):
    """A function that raises, or is interrupted, leaves the stack of interpreters as it was."""
    student.agrees(failing_function)


@pytest.mark.meets("moment")
@pytest.mark.keeps("whose interpreter has ended")
def test_flat_escaped_output(student):
    """An output that escaped from a transformation that has ended is rejected."""
    student.agrees(escaped_output)


# Rules as functions -------------------------------------------------------------------------------

# The others have passed their tests by now, and mostly do not have to be put in place.


exercise("jvp.mul_rule")


@pytest.mark.meets("weak_type", "nested", "zeros")
@pytest.mark.keeps("how it moves when they move", "numbers, arrays or tracers")
def test_mul_as_a_function(student):
    """Value and tangent move as they should with each operand and with each tangent."""
    ask = "mul_rule", "mul_p"
    as_function(student, *ask, [3.0, 5.0], [0.5, 10.0], ([2.0, -4.0], [7.0, 0.25]))
    as_function(student, *ask, [0.0, 5.0], [None, 2.0], ([2.0, -4.0], [None, 0.25]))
    as_function(student, *ask, [3.0, 0.0], [1.0, None], ([0.0, 1.0], [0.5, None]))
    as_function(student, *ask, [ROW, STEP], [np.zeros(3), None], ([STEP, ROW], [ROW, None]))


@pytest.mark.meets("twice")
def test_mul_of_one_value_twice(student):
    """Both operands may be the same value, and move in different ways."""
    ask = "mul_rule", "mul_p"
    as_function(student, *ask, [3.0], [0.5, 10.0], ([2.0], [7.0, 0.25]))
    as_function(student, *ask, [ROW], [STEP, None], ([STEP], [ROW, None]))
    square, step = GRID @ GRID.T, GRID_STEP @ GRID.T
    as_function(student, "mul_rule", "dot_general_p", [square], [step], ([step], [square + 1.0]))


exercise("jvp.sum_rule")


@pytest.mark.meets("weak_type", "nested", "zeros", "twice")
@pytest.mark.keeps("how it moves when they move")
def test_sum_as_a_function(student):
    """Value and tangent move as they should with each operand and with each tangent."""
    for name in ("add_p", "sub_p"):
        ask = "sum_rule", name
        as_function(student, *ask, [3.0, 5.0], [0.5, 10.0], ([2.0, -4.0], [7.0, 0.25]))
        as_function(student, *ask, [3.0, 5.0], [0.5, None], ([2.0, -4.0], [7.0, None]))
        as_function(student, *ask, [3.0, 5.0], [None, 10.0], ([2.0, -4.0], [None, 0.25]))
        as_function(student, *ask, [ROW, STEP], [None, STEP], ([STEP, ROW], [None, ROW]))
        as_function(student, *ask, [3.0], [0.5, 10.0], ([2.0], [7.0, 0.25]))
        as_function(student, *ask, [ROW], [STEP], ([STEP], [ROW]))
        as_function(student, *ask, [ROW], [STEP, None], ([STEP], [ROW, None]))


exercise("jvp.flat")


@pytest.mark.meets("weak_type", "zeros")
@pytest.mark.keeps("Differentiate a function")
def test_flat_as_a_function(student):
    """A tangent that happens to be zero moves like any other, and weak types stay weak."""
    student.agrees(flat_as_a_function, others("flat"), 0.7, 3.0)
    student.agrees(flat_as_a_function, others("flat"), 0.7, 0.0)
    student.agrees(flat_as_a_function, others("flat"), ROW, np.zeros(3))


# Random programs ----------------------------------------------------------------------------------


@probe
def program_derivative(mj, f, xs, ts):
    """Values of a program and their tangents."""
    return mj.jvp(f, xs, ts)


exercise("jvp.process_primitive")


def test_boxes_in_programs(student):
    """Each operation of a program hands on values and tangents as it should."""
    student.agrees_on_programs(program_derivative)


exercise("jvp.mul_rule")


def test_products_in_programs(student):
    """Programs with products are differentiated correctly."""
    student.agrees_on_programs(program_derivative, using=["mul", "infix"])


exercise("jvp.sum_rule")


def test_sums_in_programs(student):
    """Programs with sums and differences are differentiated correctly."""
    student.agrees_on_programs(program_derivative, using=["add", "sub", "infix"])


exercise("jvp.whole")


def derivative(mj, f, x, x_dot):
    """Values and tangents of a function, and how often it ran."""
    runs = []

    def noted(x):
        runs.append(1)
        return f(x)

    out, out_dot = mj.jvp(noted, (x,), (x_dot,))
    return {"the values": out, "the tangents": out_dot, "calls of f": len(runs)}


@probe(uses=[derivative])
def outer_value(mj, x, x_dot):
    """An inner function that gives the outer tracer, and what is computed with its slope."""

    def f(x):
        value, slope = mj.jvp(lambda y: x, (2.0,), (1.0,))
        return value + x + slope, slope

    return derivative(mj, f, x, x_dot)


@probe(uses=[derivative])
def outer_operand(mj, x, x_dot):
    """Inner functions in which the outer tracer meets the inner one, and a constant meets both."""

    def f(x):
        value, slope = mj.jvp(lambda y: (x * y + 2.0) * y, (x,), (1.0,))
        _, again = mj.jvp(lambda y: mj.jvp(lambda z: x * y * z, (y,), (x,))[1], (3.0,), (1.0,))
        return value, slope, again

    return derivative(mj, f, x, x_dot)


@probe
def in_two_threads(mj, x, x_dot):
    """Derivatives in two threads, one inside the other in one of them: the first to begin ends."""
    begun, ended, found = threading.Event(), threading.Event(), {}

    def late(x):
        begun.set()
        ended.wait(2)
        return x * mj.jvp(lambda y: x * y * y, (x,), (x_dot,))[1]

    def early(x):
        thread.start()
        begun.wait(2)
        return x * x

    def derive(name, f):
        found[f"value and tangent in {name}"] = mj.jvp(f, (x,), (x_dot,))

    thread = threading.Thread(target=derive, args=["the second thread", late])
    derive("the first thread", early)
    ended.set()
    thread.join()
    return found


@probe(uses=[derivative])
def after_an_error(mj, x, x_dot):
    """An inner function fails after an operation; the outer one goes on with its next operation."""

    def broken(y):
        y = 2.0 + y + x
        raise KeyError("out")

    def f(x):
        try:
            mj.jvp(broken, (x,), (x,))
        except KeyError:
            return 3.0 + x + mj.jvp(lambda y: y + x - 2.0, (x,), (x,))[1]

    bottom = trace_state.dynamic_trace = trace_state.stack[0]
    found = derivative(mj, f, x, x_dot)
    same, trace_state.dynamic_trace = trace_state.dynamic_trace is bottom, None
    found["`trace_state.dynamic_trace` is as it was"] = same
    return {**found, "the height of the stack in the end": len(trace_state.stack)}


@probe
def containers(mj, x, x_dot):
    """Moving and constant results of several dtypes in containers, from an integer and an array."""
    float0 = np.zeros((), [("float0", np.void, 0)])

    def f(d, n):
        moved = mj.numpy.sum(2.0 + d["x"], axis=-1)
        return {"moved": [moved, n], "constant": (1.5, x, None), "bool": moved > 0.0}

    out, out_dot = mj.jvp(f, ({"x": x}, 3), ({"x": x_dot}, float0))
    return {"the values": out, "the tangents": out_dot}


@probe
def root(mj, x, steps):
    """Newton's method for cos(x) * x / (1 + x * x) = 0.2: a loop that uses the derivative."""

    runs = []

    def f(x):
        runs.append(1)
        return mj.numpy.cos(x) * x / (1.0 + x * x) - 0.2

    for _ in range(steps):
        y, slope = mj.jvp(f, (x,), (np.ones_like(x),))
        x = x - y / slope
    return {"the root": x, "calls of f": len(runs)}


@probe(uses=[derivative])
def branches(mj, xs, x_dot):
    """A function with a condition on its input, and one with a condition on its slope."""

    def bend(x):
        return 2.0 * x if x > 0.0 else -x * x

    def f(x):
        slope = mj.jvp(bend, (x,), (1.0,))[1]
        return bend(x), 0.5 * slope if slope else x

    return [derivative(mj, f, x, x_dot) for x in xs]


@probe
def weak_types(mj, x, x_dot):
    """What float32 becomes beside values and tangents of functions of Python's numbers."""
    jnp, runs, beside = mj.numpy, [], np.ones(2, np.float32)
    functions = {
        "constants": lambda x: x * 3.0 + 2.0,
        "twice": lambda x: x + x,
        "cos": jnp.cos,
        "div": lambda x: 3.0 / x,
        "large": lambda x: 1e200 / (x * 1e200),
        "sum": jnp.sum,
        "unmoved": lambda x: 7.0,
        "runs": lambda x: [runs.append(1), x][1],
    }
    outs = {name: mj.jvp(f, (x,), (x_dot,)) for name, f in functions.items()}
    dtypes = {name: [str((y * beside).dtype) for y in pair] for name, pair in outs.items()}
    return {
        **{f"value and tangent of the program {name!r}": [*pair] for name, pair in outs.items()},
        "the dtypes of values and tangents times a float32": dtypes,
        "calls of f": len(runs),
    }


@probe(uses=[derivative])
def repeated(mj, x, x_dot):
    """One input as both operands, and as several results; and where a step would be lost."""
    far = 2.0**100
    return derivative(mj, lambda x: [x + x, x * x, x / x, x - x, x, x, (x + far) - far], x, x_dot)


@probe(uses=[derivative])
def again(mj, x, x_dot):
    """The same functions, asked again at equal places, when what they read has changed."""

    class Equal:
        def __init__(self, number):
            self.number = number

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

        def __call__(self, x):
            return {self.number: x * x}

    read = [1, 1.0, True, np.float32(1.0), 3.0]
    axes = [0, 1, (0, 1)]

    def f(x):
        total = mj.numpy.sum(x)
        return mj.numpy.sum(x, axis=axes[0]), total * read[0], read[0] + 0.0 * total

    found = []
    while read:
        found.append(derivative(mj, f, x, x_dot))
        axes.append(axes.pop(0))
        read.pop(0)
    equal = [mj.jvp(Equal(number), (x,), (x_dot,)) for number in (2, 3)]
    return {
        "the values and tangents, one call after another": found,
        "the values and tangents of functions that are equal": equal,
    }


@probe(uses=[derivative])
def long_program(mj, x, x_dot, length):
    """So many steps with constants; every tenth uses the input again."""

    boxes, kept = [], []

    def f(x):
        y = x
        for i in range(length):
            y = 0.5 * y + x if i % 10 == 0 else y - 0.125
            boxes.append(weakref.ref(y))
        if still_there() > 20:
            gc.collect()
        kept.append(still_there() > 20)
        return y

    def still_there():
        return sum(box() is not None for box in boxes)

    found = derivative(mj, f, x, x_dot)
    return {**found, "boxes of steps that are over are kept": kept}


@probe
def program_with_constants(mj, f, xs, ts):
    """Values of a program of which a constant is part, and their tangents."""
    return mj.jvp(lambda *ys: mj.tree_util.tree_map(lambda y: 2.0 * y, f(*ys)), xs, ts)


@probe
def derivative_of_tangents(mj, f, xs, ts):
    """Tangents of the tangents of a program, and of what is computed with them outside."""
    return mj.jvp(lambda *ys: (mj.jvp(f, ys, ts)[1], 2.0 * ys[0]), xs, ts)


@pytest.mark.meets(another_box="flat", closure="flat")
def test_whole_outer_value(student):
    """An inner function that returns the outer input is a constant function."""
    student.agrees(outer_value, 3.0, 0.5)
    student.agrees(outer_value, ROW.astype(F32), STEP.astype(F32))


@pytest.mark.meets(nested="mul_rule flat", closure="process_primitive mul_rule")
def test_whole_outer_operand(student):
    """In nested derivatives each function sees its own input move, and no other."""
    student.agrees(outer_operand, 3.0, 0.5)
    student.agrees(outer_operand, -1.5, 10.0)
    student.agrees(in_two_threads, 3.0, 0.5)


@pytest.mark.meets(exception="flat")
def test_whole_after_an_error(student):
    """After an inner derivative that fails, the outer one goes on, and all is as before."""
    student.agrees(after_an_error, 3.0, 0.5)


def test_whole_containers(student):
    """Each result has a tangent of its own shape and dtype, whether it moves or not."""
    student.agrees(containers, GRID, GRID_STEP)
    student.agrees(containers, ROW.astype(F32), STEP.astype(F32))


def test_whole_newton(student):
    """A program may use a derivative in each step of a loop, and decide what to do by it."""
    student.agrees(branches, [1.5, 0.0, -1.5], 0.5)
    student.agrees(root, np.array([0.5, 1.5]), 4)


@pytest.mark.meets(weak_type="process_primitive mul_rule sum_rule flat")
def test_whole_weak_types(student):
    """What is made of Python's numbers alone leaves float32 as it is."""
    student.agrees(weak_types, 2.0, 0.5)


@pytest.mark.meets(twice="process_primitive mul_rule sum_rule")
def test_whole_repeated(student):
    """One input may be both operands, and several results."""
    student.agrees(repeated, 3.0, 0.5)
    student.agrees(repeated, ROW.astype(F32), STEP.astype(F32))


@pytest.mark.meets(again="process_primitive flat", caching="process_primitive mul_rule flat")
def test_whole_again(student):
    """What was differentiated before, at an equal place, does not matter."""
    student.agrees(again, GRID, GRID_STEP)


@pytest.mark.meets(length="process_primitive flat")
def test_whole_long_programs(student):
    """Programs may be long, and each box is dropped when it has been used."""
    student.agrees(long_program, ROW, STEP, 400)


def test_whole_programs(student):
    """Random programs have the right values and tangents."""
    student.agrees_on_programs(program_with_constants)


def test_whole_second_derivatives(student):
    """Random programs have the right second derivatives."""
    student.agrees_on_programs(derivative_of_tangents)
