"""Hidden tests of the `stackless` lesson: contexts, recorded tangents, reverse mode, one call rule.

An exercise is tested alone: if its target needs what a sibling exercise defines, the probe gets
right definitions and uses them. It never gets the answer that is asked for.
"""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place, one_program
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import builtins
    import random
    from unittest.mock import patch

    from microjax import programs
    from microjax import stackless as st
    from microjax.stackless import Tracer, jvp, lax, make_jaxpr, vmap
    from minijax import core
    from minijax.errors import UnexpectedTracerError

ROW = np.array([0.5, -2.0, 3.0])
STEP = np.array([7.0, -1.0, 0.25])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])

FORWARD = siblings("stackless.box_op")
WITHOUT_CALL = siblings("stackless.box_op", "stackless.linearize_flat")
BACKWARDS = siblings("stackless.backward_pass")
WITHOUT_BACK = siblings(
    "stackless.box_op",
    "stackless.linearize_flat",
    "stackless.backward_pass",
    "stackless.linearized_program",
)


def calls_evaluated():
    """Have the calls of programs evaluated: compiling one takes 10 ms, and is another lesson's."""

    def evaluate(*args, name, jaxpr):
        return programs.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)

    return patch.dict(core.impl_rules, {st.jit_p: evaluate})


exercise("stackless.box_op")


@probe
def derivatives(mj, x, t):
    """Values and tangents of operations with one and two operands, some of them constants."""
    seen = []

    def f(x):
        y = lax.sin(x) * x - 3.0 / x
        seen.extend(isinstance(z, Tracer) for z in (x, y))
        return y, lax.neg(2.0 - y), lax.exp(x) + (x < 1.0).astype(float)

    return {"values and tangents": jvp(f, (x,), (t,)), "the function gets tracers": seen}


@probe
def examples(mj, xs, y):
    """Whole batches, beside what is the same for all examples."""
    seen = []

    def f(x, y):
        seen.extend(isinstance(z, Tracer) for z in (x, x * y))
        return x * y, lax.sin(y), lax.reduce_sum(x, (0,)) - y, x @ y

    return {"the batches": vmap(f, (0, None))(xs, y), "batches are in tracers": seen}


@probe
def made_up(mj, values, extras, several, beside=(5.0, None, 6.0)):
    """What a rule is given, who is current while it runs, and what becomes of its results.

    Where "foreign" is beside a value, that is in a box of another interpreter.
    """
    toy = core.Primitive("toy", multiple_results=several)
    seen, below, weak = [], [], []

    def rule(vals, extras, **params):
        weak.extend(core.get_aval(x).weak_type for x in vals)
        seen.append([[*map(told, vals)], [*extras], params, st.context.interpreter is watch])
        out = vals[0] - 2 * vals[-1] if vals[1:] else vals[0]
        outs = [[out, vals[0], 9.0][i % 3] for i in range(len(beside))]
        return (tuple(outs), tuple(beside)) if several else (out, beside[0])

    class Toys(st.BoxInterpreter):
        box_type, rules, task = st.Box, {toy: rule}, "Toy rule"

    class Watch(st.Interpreter):
        def interpret_op(self, primitive, args, params):
            weak.extend(core.get_aval(x).weak_type for x in args)
            current = st.context.interpreter is self
            below.append([primitive.name, [*map(told, args)], params, current])
            return [1000.0] if several else 1000.0

    def told(x):
        if not isinstance(x, st.Box):
            return x
        return [type(x).__name__, x.interpreter is toys, x.value, x.extra]

    def box(value, extra):
        foreign = type(extra) is str
        return st.DualNumber(other, value, 7.0) if foreign else toys.box(value, extra)

    watch, other = Watch(), st.Interpreter()
    with st.set_interpreter(watch):
        toys = Toys()
    aval = core.get_aval(1.0)
    types = {toy: lambda *avals, **params: [aval] if several else aval}
    boxes = list(map(box, values, extras))
    with patch.dict(core.abstract_eval_rules, types), st.set_interpreter(other):
        out = toys.interpret_op(toy, boxes, {"scale": 3.0, "how": None})
        after = st.context.interpreter is other
    return {
        "the boxes of results": [told(x) for x in out] if several else told(out),
        "several results are in a list": type(out) is list or not several,
        "calls of the rule": len(seen),
        "the values that the rule gets": [call[0] for call in seen],
        "the extras that the rule gets": [call[1] for call in seen],
        "parameters that the rule gets": [call[2] for call in seen],
        "the previous interpreter is current while the rule runs": [call[3] for call in seen],
        "a value that is passed on is weakly typed": weak,
        "operations that the previous interpreter gets, while it is current": below,
        "the interpreter that was current before is current afterwards": after,
    }


@probe
def nested(mj, x, t):
    """Transformations inside each other, and which operations come out at the bottom."""

    def f(x):
        return lax.sin(x) * x

    def slope(x):
        return jvp(f, (x,), (np.ones(3),))[1]

    def constant(x):
        return x * jvp(lambda y: x, (0.0,), (1.0,))[1]

    def mixed(x):
        return x * jvp(lambda y: x * y + x * x, (2.0 * x,), (np.ones(3),))[1]

    def names(g, *args):
        return [eqn.primitive.name for eqn in make_jaxpr(g)(*args).eqns]

    xs = np.stack([x, t])
    return {
        "an inner function that returns the outer tracer": jvp(constant, (x,), (t,)),
        "an inner function that uses the outer tracer": jvp(mixed, (x,), (t,)),
        "the derivative of a derivative": jvp(slope, (x,), (t,)),
        "a batch of derivatives": vmap(slope)(xs),
        "the derivative of a batch of derivatives": jvp(vmap(slope), (xs,), (xs[::-1].copy(),)),
        "the program of a derivative": names(slope, x),
        "the program of a second derivative": names(lambda x: jvp(slope, (x,), (x,)), x),
        "the program of a batch of derivatives": names(vmap(slope), xs),
    }


@probe
def without_rule(mj, extras, several=False, kind="JVPInterpreter"):
    """An operation that has no rule: with an operand that moves, and without."""
    odd = core.Primitive("odd", multiple_results=several)
    interpreter = getattr(st, kind)()
    xs = [interpreter.box(2.0, extra) for extra in extras]
    as_result = (lambda out: [out]) if several else (lambda out: out)
    with (
        patch.dict(core.impl_rules, {odd: lambda *xs: as_result(xs[0] * 3.0)}),
        patch.dict(core.abstract_eval_rules, {odd: lambda *xs: as_result(xs[0])}),
        st.set_interpreter(interpreter),
    ):
        out, error, names_it = None, "nothing", None
        try:
            out = np.asarray(interpreter.interpret_op(odd, xs, {}))
        except NotImplementedError as caught:
            error, names_it = "NotImplementedError", "odd" in str(caught)
        return {
            "error": error,
            "value": out,
            "the message names the primitive": names_it,
            "the interpreter is current again afterwards": st.context.interpreter is interpreter,
        }


@probe
def going_on(mj, x, error_class):
    """A function in which an operation fails, with a moving operand or without, and goes on."""
    odd, caught = core.Primitive("odd"), []
    error_class = getattr(builtins, error_class)

    def fail(*args):
        raise error_class("out")

    def f(x):
        for operand in (x, 2.0):
            try:
                st.bind(odd, operand)
            except error_class as error:
                caught.append(str(error))
        return x * x

    with (
        patch.dict(st.jvp_rules, {odd: fail}),
        patch.dict(core.impl_rules, {odd: fail}),
        patch.dict(core.abstract_eval_rules, {odd: lambda x: x}),
    ):
        found = st.jvp(f, (x,), (x,))
    return {"errors that reach the function": caught, "values and tangents after them": found}


@probe
def tables_of_rules(mj, x):
    """The same operations under interpreters that have different rules, and a rule that changes."""

    def f(x):
        return st.lax.sin(x) * x

    answers = [st.jvp(f, (x,), (x,)), st.vmap(f)(x), st.jvp(f, (x,), (x,))]
    with patch.dict(st.jvp_rules, {core.sin_p: lambda xs, ts: (xs[0], ts[0])}):
        answers.append(st.jvp(f, (x,), (x,)))
    return {"answers under several tables of rules": [*answers, st.jvp(f, (x,), (x,))]}


@probe
def zeros_that_move(mj, x):
    """Tangents that are zero by value: nan and infinite values come through."""
    seen = []

    def f(x):
        seen.append(isinstance(x, Tracer))
        return x * float("inf")

    zeros = [0.0, -0.0, np.zeros(()), np.float32(0)]
    xs = [x, x, np.asarray(x), np.float32(x)]
    return {
        "values and tangents": [jvp(f, (y,), (t,)) for y, t in zip(xs, zeros, strict=True)],
        "the function gets tracers": seen,
    }


@pytest.mark.meets("twice")
@pytest.mark.keeps("in a box unless")
def test_box_values(student):
    """Values and tangents go through operations together."""
    student.agrees(derivatives, 0.7, 3.0)
    student.agrees(derivatives, ROW, STEP)


@pytest.mark.meets("sizes", "axes")
def test_box_batches(student):
    """Batches go through operations, and what is the same for all examples stays so."""
    student.agrees(examples, GRID, ROW)
    student.agrees(examples, GRID[:1], STEP)


@pytest.mark.meets("order", "keys", "more_than_two", "moment")
@pytest.mark.keeps("in a box unless", "those that a rule binds")
def test_box_rule(student):
    """A rule gets values and extras under the previous interpreter; what it returns is boxed."""
    student.agrees(made_up, [2.0, 5.0], [1.0, None], False)
    student.agrees(made_up, [2.0, 5.0, 4.0], [None, 0.0, 8.0], False)
    student.agrees(made_up, [2.0, 5.0, 4.0], [None, 8.0, None], False)
    student.agrees(made_up, [2.0, 5.0, 4.0], [8.0, "foreign", None], False)
    student.agrees(made_up, [np.arange(3), np.array(2)], [0, None], False, [None])
    student.agrees(made_up, [np.arange(3), np.array(2)], [None, False], False, [0.0])
    student.agrees(made_up, [np.zeros((0, 2)), 5.0], [1.0, None], False)
    student.agrees(made_up, [2.0], [1.0], False)  # the operand is the result
    student.agrees(made_up, [ROW], [STEP], False, [None])


@pytest.mark.meets("more_than_two", "sizes", "some_results", "none")
@pytest.mark.keeps("each item in a box")
def test_box_several(student):
    """Of several results each gets a box of its own, or none."""
    student.agrees(made_up, [2.0, 5.0], [1.0, 3.0], True)
    student.agrees(made_up, [ROW], [STEP], True)
    student.agrees(made_up, [2.0, 5.0], [None, 3.0], True, [None, 5.0, None, 0.0])
    student.agrees(made_up, [2.0], [3.0], True, [None])
    student.agrees(made_up, [2.0], [3.0], True, [])


@pytest.mark.meets("none")
@pytest.mark.keeps("on constants alone")
def test_box_constants(student):
    """An operation on constants is left to the previous interpreter, and so is its result."""
    student.agrees(made_up, [2.0, 5.0], [None, None], False)
    student.agrees(made_up, [2.0, 5.0], [None, "foreign"], False)
    student.agrees(made_up, [2.0], [None], True)
    student.agrees(made_up, [], [], False)


@pytest.mark.meets("another_box", "nested", "closure")
def test_box_nested(student):
    """Transformations of transformed functions are right, in any order."""
    student.agrees(nested, ROW, STEP)


@pytest.mark.meets("exception", "moment")
@pytest.mark.keeps("A primitive without a rule")
def test_box_missing_rule(student):
    """A missing rule is an error if something moves, and the context is clean after it."""
    student.agrees(without_rule, [1.0])
    student.agrees(without_rule, [None, True], True, "BatchInterpreter")


@pytest.mark.meets("none")
@pytest.mark.keeps("A primitive without a rule")
def test_box_no_rule_needed(student):
    """An operation without a rule is computed if nothing moves."""
    student.agrees(without_rule, [None])
    student.agrees(without_rule, [None, None], True)


@pytest.mark.meets("exception", "moment")
def test_box_rule_that_raises(student):
    """An error in a rule comes out, and operations after it are computed as before."""
    student.agrees(going_on, 3.0, "KeyError")
    student.agrees(going_on, 3.0, "KeyboardInterrupt")


@pytest.mark.meets("keys", "again", "caching")
def test_box_tables(student):
    """Each interpreter has rules of its own, and its table is asked each time."""
    student.agrees(tables_of_rules, ROW)


@pytest.mark.meets("float32", "zeros", "extremes")
def test_box_zeros(student):
    """A tangent that is the number zero is a tangent."""
    student.agrees(zeros_that_move, 2.0)


exercise("stackless.linearize_flat")


@probe(uses=[in_place])
def linearized(mj, siblings, case, primals, in_moves, moving):
    """The operations of the linear program, types and values, and how often the function ran."""

    cases = {
        "curve": lambda x: [lax.sin(x) * x * 2.0],
        "two": lambda x, y: [x * y, lax.exp(y) - x],
        "three": lambda x, y, z: [x * z, y, z, y, z],
        "unmoved": lambda x, y: [lax.cos(y), x, 5.0, y * y],
        "integers": lambda x, n: [n, x * n, lax.gt(x, 0.0), x.astype("int64"), x],
        "conversion": lambda x, y: [x.astype("float32"), x.sum() * y],
        "nothing": lambda x: [],
        "given": lambda x, y: [y, np.ones(3, "float32"), x, np.float32(2.0), np.float16(0.5)],
    }

    def f(*xs):
        runs.append(len(xs))
        return cases[case](*xs)

    runs = []
    with in_place("microjax.stackless", siblings):
        program, outs = st.linearize_flat(f, primals, in_moves)
        tangents = st.eval_jaxpr(program.jaxpr, program.consts, *moving)
    types = " ".join(
        var.aval.str_short() for var in (*program.jaxpr.invars, *program.jaxpr.outvars)
    )
    return {
        "calls of f": len(runs),
        "the operations in the program of tangents": [x.primitive.name for x in program.eqns],
        "types of the program's inputs and results": types,
        "an input of the program is weakly typed": [aval.weak_type for aval in program.in_avals],
        "a result of the program is weakly typed": [aval.weak_type for aval in program.out_avals],
        "the results are in a list": isinstance(outs, list),
        "the values": list(outs),
        "a value is weakly typed": [core.get_aval(y).weak_type for y in outs],
        "the tangents that the program computes": [np.asarray(t) for t in tangents],
        "the number of inputs of f": runs,
    }


@probe(uses=[in_place])
def linearized_inside(mj, siblings, x):
    """The program and the values of a linearization that is itself transformed."""

    def slope(x):
        program, outs = st.linearize_flat(lambda y: [lax.sin(y) * y * x], [x], [True])
        return outs + st.eval_jaxpr(program.jaxpr, program.consts, np.ones(np.shape(x)))

    with in_place("microjax.stackless", siblings):
        second = st.jvp(slope, (x,), (x,))
        names = [eqn.primitive.name for eqn in st.make_jaxpr(slope)(x).eqns]
        return {
            "the derivative of values and slopes": second,
            "the program of values and slopes": names,
            "a batch of values and slopes": st.vmap(slope)(np.stack([x, 2.0 * x])),
        }


@probe(uses=[in_place])
def kept_by_function(mj, siblings, x):
    """Whether a tracer of the function is rejected once the function has returned, or raised."""
    kept, caught, rejected = [], [], []

    def f(x):
        kept.append(x)
        return [x] if len(kept) == 1 else {}["out"]

    with in_place("microjax.stackless", siblings):
        for _ in range(2):
            try:
                st.linearize_flat(f, [x], [True])
            except KeyError as error:
                caught.append(error.args[0])
        for y in kept:
            try:
                jvp(lambda x, y=y: y, (x,), (x,))
                rejected.append(False)
            except UnexpectedTracerError:
                rejected.append(True)
    return {
        "the error of a function that raises": caught,
        "a tracer that was kept is rejected by UnexpectedTracerError": rejected,
    }


@pytest.mark.meets("twice", "sizes", "moment")
@pytest.mark.keeps("list of results of `f`", "only operations on tangents")
def test_linearize_program(student):
    """The program holds the operations on tangents alone, and the results are computed."""
    student.agrees(linearized, FORWARD, "curve", [ROW], [True], [STEP])
    student.agrees(linearized, FORWARD, "two", [ROW, STEP], [True, True], [STEP, ROW])
    student.agrees(linearized, FORWARD, "nothing", [ROW], [True], [STEP])


@pytest.mark.meets("order", "more_than_two", "some_results")
@pytest.mark.keeps("tangents of the primals")
def test_linearize_moving_inputs(student):
    """Only inputs that move have a variable, and each tangent goes with its own input."""
    student.agrees(linearized, FORWARD, "two", (ROW, STEP), (False, True), [ROW])
    student.agrees(linearized, FORWARD, "three", [ROW, 2.0, STEP], [True, False, True], [STEP, ROW])
    student.agrees(linearized, FORWARD, "curve", [ROW], [False], [])


@pytest.mark.meets("float32", "sizes", "none", "zeros")
@pytest.mark.keeps("zeros of its type for a result")
def test_linearize_unmoved_results(student):
    """The tangent of a float that does not move is zero, and no other result has one."""
    student.agrees(linearized, FORWARD, "integers", [ROW, np.arange(3)], [False, False], [])
    student.agrees(linearized, FORWARD, "unmoved", [ROW, GRID], [True, False], [STEP])
    student.agrees(linearized, FORWARD, "two", [ROW, STEP], [False, False], [])
    single = np.float32(3.0), np.ones((2, 0), "float32")
    student.agrees(linearized, FORWARD, "given", list(single), [True, False], [np.float32(1.0)])
    student.agrees(linearized, FORWARD, "given", list(single), [False, True], [single[1]])
    infinite = [2.0, np.array([np.inf, -np.inf])]
    student.agrees(linearized, FORWARD, "given", infinite, [True, False], [3.0])


@pytest.mark.keeps("tangents of float results")
def test_linearize_integers(student):
    """Results that are not floats are returned as values, and have no tangents."""
    student.agrees(linearized, FORWARD, "integers", [ROW, np.arange(3)], [True, False], [STEP])
    student.agrees(linearized, FORWARD, "conversion", [ROW, 2.0], [True, True], [STEP, 0.5])


@pytest.mark.meets("another_box", "nested", "closure")
def test_linearize_inside(student):
    """A linearization can be differentiated, batched and staged, and its tracers end with it."""
    student.agrees(linearized_inside, FORWARD, np.array(0.7))
    student.agrees(linearized_inside, FORWARD, ROW)
    student.agrees(kept_by_function, FORWARD, 0.7)


exercise("stackless.backward_pass")


@probe(uses=[one_program])
def backwards(mj, case, args, cotangents):
    """Cotangents of the inputs of a linear program that was staged."""
    k = np.array([2.0, -3.0, 5.0])
    m = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
    cases = {
        "chain": lambda t: [lax.neg(lax.mul(k, lax.div(t, 4.0)))],
        "two": lambda t, u: [lax.sub(t, lax.mul(u, k)), lax.mul(t, 3.0)],
        "shared": lambda t: [lax.add(lax.mul(t, k), lax.mul(lax.mul(t, k), 2.0)), t, t],
        "unused": lambda t, u, v: [lax.neg(u), lax.mul(v, np.float32(2.0))],
        "stretched": lambda t, u: [
            lax.mul(t, k),
            lax.add(lax.broadcast_in_dim(u, (2, 3), (1,)), m),
        ],
        "shapes": lambda t: [m @ t, t.sum(), lax.broadcast_in_dim(t, (2, 3), (1,))],
        "types": lambda t, u: [lax.mul(t, 2.0), u.astype("float64")],
        "outputs": lambda t, u: [u, 7.0, t, u, k],
        "nothing": lambda t, u: [],
    }
    program = one_program(st, case, args, lambda: st.make_jaxpr(cases[case])(*args))
    outs = st.backward_pass(program, tuple(cotangents))
    return {
        "the cotangents": outs,
        "a cotangent is weakly typed": [core.get_aval(x).weak_type for x in outs],
    }


@probe
def visited(mj, cotangents, x=(1.0, 1.0)):
    """Which rules are called, with what, for a primitive with two results and one with none."""
    both = core.Primitive("both", multiple_results=True)
    odd = core.Primitive("odd")
    seen = []

    def back(cts, x, y, *, k, how):
        is_linear = isinstance(x, core.UndefPrimal)
        seen.append([cts, is_linear, y, k, how])
        present = [ct for ct in cts if ct is not None]
        return [sum(present) * k if is_linear else None, None]

    types = {both: lambda x, y, **_: [x, x], odd: lambda x: x}
    with patch.dict(core.abstract_eval_rules, types), patch.dict(st.transpose_rules, {both: back}):

        def f(t, u):
            a, b = st.bind(both, t, np.array([2.0, 3.0]), k=10.0, how=None)
            c, d = st.bind(both, a, np.array([4.0, 5.0]), k=100.0, how="so")
            constant, _ = st.bind(both, np.asarray(x), np.array([6.0, 7.0]), k=1.0, how=None)
            return [a, c, d, b, st.bind(odd, u), constant]

        program = st.make_jaxpr(f)(np.asarray(x), np.asarray(x))
        found, error = None, "nothing"
        try:
            found = st.backward_pass(program, [*cotangents, *[None] * (6 - len(cotangents))])
        except NotImplementedError:
            error = "NotImplementedError"
        return {
            "error": error,
            "calls of the rule": len(seen),
            "cotangents that the rule gets": [call[0] for call in seen],
            "an operand is linear in a call of the rule": [call[1] for call in seen],
            "operands and parameters that the rule gets": [call[2:] for call in seen],
            "the cotangents of inputs": found,
        }


@probe
def a_list_of_one(mj, ct):
    """The cotangent through a primitive that returns a list of one result, of one value twice."""
    one = core.Primitive("one", multiple_results=True)

    def back(cts, x, y):
        (only,) = cts
        return [only * 10.0, only]

    with (
        patch.dict(core.abstract_eval_rules, {one: lambda x, y: [x]}),
        patch.dict(st.transpose_rules, {one: back}),
    ):
        program = st.make_jaxpr(lambda t: [st.lax.neg(st.bind(one, t, t)[0])])(ct)
        return st.backward_pass(program, [ct])


@probe
def passes(mj, x):
    """The result of a backward pass, of a second one, and of one after a pass that failed."""

    def fail(ct, x):
        raise KeyError("out")

    def back():
        return st.backward_pass(program, cotangents)

    program = st.make_jaxpr(lambda t, u: [t, lax.neg(lax.mul(t, x)), u, lax.neg(t), u])(x, x)
    cotangents, error = [x + i for i in range(5)], "nothing"
    first, second = back(), back()
    with patch.dict(st.transpose_rules, {core.neg_p: fail}):
        try:
            back()
        except KeyError:
            error = "KeyError"
    return {
        "value": first,
        "the cotangents that were given, afterwards": cotangents,
        "the result of a second pass": second,
        "the error of a rule that fails": error,
        "the result of a pass after it": back(),
    }


@probe
def backwards_staged(mj, x):
    """The program that a backward pass writes, the derivative of one, and its values."""
    linear = st.make_jaxpr(lambda t: [lax.mul(lax.neg(t), x), lax.mul(t, x), lax.mul(t, x)])(x)

    def back(ct):
        return st.backward_pass(linear, [ct, None, ct])

    program = st.make_jaxpr(back)(x)
    return {
        "the cotangents": back(x * 2.0),
        "operations of the staged pass": [e.primitive.name for e in program.eqns],
        "constants of the staged pass": program.consts,
        "the number of the linear program's equations afterwards": len(linear.eqns),
    }


@probe
def backwards_through_many(mj, length):
    """The cotangent through a long program in which each result is used twice."""

    def f(t):
        for _ in range(length):
            t = lax.neg(lax.add(t, t))
        return [t]

    return st.backward_pass(st.make_jaxpr(f)(1.5), [2.0 ** (1 - length)])


@pytest.mark.meets("order")
@pytest.mark.keeps("in a list, from")
def test_backward_chain(student):
    """Cotangents go through a chain of operations from the end to the beginning."""
    student.agrees(backwards, "chain", [ROW], [STEP])
    student.agrees(backwards, "two", [ROW, STEP], [STEP, ROW])


@pytest.mark.meets("more_than_two", "twice", "axes")
@pytest.mark.keeps("in a list, from")
def test_backward_sums(student):
    """A variable that is used in several places gets the sum."""
    student.agrees(backwards, "shared", [ROW], [STEP, ROW, STEP * 2.0])
    student.agrees(backwards, "outputs", [ROW, STEP], [ROW, 3.0, STEP, ROW * 4.0, ROW])
    student.agrees(backwards, "shapes", [ROW], [np.array([2.0, 11.0]), 0.5, GRID])


@pytest.mark.meets("some_results", "none", "zeros")
@pytest.mark.keeps("zeros of its type")
def test_backward_zeros(student):
    """An input without a cotangent gets zeros of its type."""
    student.agrees(backwards, "unused", [GRID.astype("e"), ROW, np.float32(2.0)], [STEP, None])
    student.agrees(backwards, "two", [ROW, STEP], [None, ROW])
    student.agrees(backwards, "outputs", [ROW, STEP], [None, None, None, None, None])
    student.agrees(backwards, "unused", [0.5, 2.0, np.float32(2.0)], [3.0, None])
    student.agrees(backwards, "nothing", [ROW, 0.5], [])


@pytest.mark.meets("float32")
def test_backward_types(student):
    """Each input gets a cotangent of its own shape and dtype."""
    student.agrees(backwards, "stretched", [2.0, ROW], [STEP, GRID])
    student.agrees(backwards, "types", [ROW, STEP.astype("float32")], [STEP, ROW])


@pytest.mark.meets("keys", "more_than_two", "some_results")
@pytest.mark.keeps("and for no other", "the list of all")
def test_backward_rules(student):
    """A rule is called if a cotangent has arrived at a result, even zeros, and never otherwise."""
    one, two = np.array([1.0, 2.0]), np.array([5.0, -3.0])
    student.agrees(visited, [None, one, None, two, None])
    student.agrees(visited, [one, one, two, two, None])
    student.agrees(visited, [one, None, None, None, None])
    student.agrees(visited, [None, None, None, None, two])
    student.agrees(visited, [None, None, one, None, None])
    student.agrees(visited, [None, None, None, two, None])
    student.agrees(visited, [None, None, np.zeros(2), None, None])
    student.agrees(visited, [one, None, None, None, None, two])
    student.agrees(visited, (None, 0.0, None, None, None), 1.0)
    student.agrees(visited, [None, None, None, np.float32(0), None], np.float32(1))
    student.agrees(visited, [None, np.zeros((0, 2)), None, None, None], np.zeros((0, 2)))


@pytest.mark.meets("sizes")
@pytest.mark.keeps("the list of all")
def test_backward_lists(student):
    """A primitive with `multiple_results` has a list of cotangents, even if it has one."""
    student.agrees(a_list_of_one, 3.0)
    student.agrees(a_list_of_one, np.array([1.0, 2.0]))


@pytest.mark.meets("again", "mutation", "exception")
def test_backward_given_arrays(student):
    """The cotangents that are given stay as they are; each pass begins anew."""
    student.agrees(passes, ROW)


@pytest.mark.meets("length")
def test_backward_long(student):
    """Programs may be long, and use each result twice."""
    student.agrees(backwards_through_many, 3)
    student.agrees(backwards_through_many, 550)


@pytest.mark.meets("nested", "moment", "mutation")
def test_backward_staged(student):
    """A backward pass binds its operations, so that it can be staged, and changes no program."""
    student.agrees(backwards_staged, ROW)
    student.agrees(backwards_staged, np.array(0.7))


exercise("stackless.linearized_program")


@probe(uses=[in_place])
def two_programs(mj, siblings, case, args, in_moves, primals, tangents):
    """What the two programs compute at two points, and what they are made of."""

    k = np.array([2.0, -3.0, 5.0])
    cases = {
        "curve": lambda x: (lax.sin(x) * x,),
        "two": lambda x, y: (x * y - lax.exp(y), x),
        "kinds": lambda x, n: (n, x * n, x > 0.0, lax.cos(x)),
        "constant": lambda x, y: (lax.sin(y), x * 2.0),
        "captured": lambda x, y: (x * k * x, y * k, k),
        "no floats": lambda x, n: (lax.gt(x, 0.0), n),
        "nothing": lambda x, n: (),
        "given": lambda *xs: (*xs, 2.5, *xs),
    }
    values, moves = [], []
    with in_place("microjax.stackless", siblings):
        program = st.make_jaxpr(cases[case])(*args)
        first, second = st.linearized_program(program, tuple(in_moves))
        length = len(program.eqns)
    number = len(program.out_avals)
    taken = second.in_avals[len(second.in_avals) - sum(in_moves) :]
    for point in (primals, args):
        outs = st.eval_jaxpr(first.jaxpr, first.consts, *point)
        values.append(outs[:number])
        moves.append(st.eval_jaxpr(second.jaxpr, second.consts, *outs[number:], *tangents))
    return {
        "the results by the first program": values,
        "the tangents by the second program": moves,
        "the types of the results and of the tangents": [
            [aval.str_short() for aval in avals]
            for avals in (first.out_avals[:number], second.out_avals)
        ],
        "an input of the first program is weakly typed": [a.weak_type for a in first.in_avals],
        "a tangent is weakly typed": [a.weak_type for a in (*taken, *second.out_avals)],
        "tangents that the second program takes": len(second.in_avals)
        - len(first.out_avals)
        + number,
        "operations of the first program": sorted(e.primitive.name for e in first.eqns),
        "operations of the second program": sorted(e.primitive.name for e in second.eqns),
        "the number of the given program's equations afterwards": length,
    }


@probe(uses=[in_place, calls_evaluated])
def linearized_again(mj, siblings, x, y):
    """Values and tangents of calls of one program, of which now this input moves, now that one."""

    with in_place("microjax.stackless", siblings), calls_evaluated():
        program = st.make_jaxpr(lambda x, y: (lax.sin(x) * y, y * y))(x, y)
        all_tangents = [x, None], [None, x], [y, x]
        found = [st.jit_jvp([x, y], ts, name="mine", jaxpr=program) for ts in all_tangents]
        return {"values and tangents of calls in turn": found}


@probe(uses=[in_place, calls_evaluated])
def around_jit(mj, siblings, x, t):
    """Programs of derivatives of a compiled function: names of the operations, and values."""

    def curve(x):
        return lax.sin(x) * x * 3.0

    def names(program):
        return [eqn.primitive.name for eqn in program.eqns]

    with in_place("microjax.stackless", siblings), calls_evaluated():
        f = st.jit(curve)
        forward = st.make_jaxpr(lambda x, t: st.jvp(f, (x,), (t,)))(x, t)
        linear, _ = st.linearize_flat(lambda x: [f(x)], [x], [True])
        slope = st.jit(lambda x: st.jvp(f, (x,), (t,))[1])
        return {
            "the derivative of a compiled derivative": st.jvp(slope, (x,), (t,)),
            "calls in the program of a derivative": names(forward),
            "calls in the linear program": names(linear),
        }


@pytest.mark.meets("order", "twice", "sizes")
@pytest.mark.keeps("the second their tangents", "then residuals", "only operations on")
def test_programs_values(student):
    """The first program computes the results, and the second one the tangents, at any point."""
    student.agrees(two_programs, WITHOUT_CALL, "curve", [STEP], [True], [ROW], [STEP])
    args = [STEP, ROW], [True, True], [ROW, STEP], [STEP, GRID[0]]
    student.agrees(two_programs, WITHOUT_CALL, "two", *args)
    student.agrees(two_programs, WITHOUT_CALL, "captured", *args)


@pytest.mark.meets("some_results", "none")
@pytest.mark.keeps("a tangent for each input")
def test_programs_unmoved(student):
    """The second program takes tangents of the inputs that move, and of no others."""
    args, primals = [STEP, ROW], [ROW, STEP]
    student.agrees(two_programs, WITHOUT_CALL, "two", args, [False, True], primals, [GRID[0]])
    student.agrees(two_programs, WITHOUT_CALL, "constant", args, [True, False], primals, [STEP])
    student.agrees(two_programs, WITHOUT_CALL, "two", args, [False, False], primals, [])


@pytest.mark.meets("more_than_two", "some_results", "zeros", "float32")
@pytest.mark.keeps("then residuals", "that is a float")
def test_programs_kinds(student):
    """Results that are not floats have no tangents, wherever they are."""
    args, n = [STEP, np.arange(3)], np.array([5, 7, -2])
    student.agrees(two_programs, WITHOUT_CALL, "kinds", args, [True, False], [ROW, n], [STEP])
    numbers = [0.5, 1], [True, False], [2.0, 3], [0.5]
    for case in ("kinds", "no floats", "nothing"):
        student.agrees(two_programs, WITHOUT_CALL, case, *numbers)
    single = [x.astype("float32") for x in (STEP, ROW)]
    args, primals = [single[0], np.arange(3)], [single[1], n]
    student.agrees(two_programs, WITHOUT_CALL, "kinds", args, [True, False], primals, [single[0]])


@pytest.mark.meets("twice", "some_results", "sizes")
@pytest.mark.keeps("then residuals", "that is a float")
def test_programs_given(student):
    """A result may be there twice, and be an input or a constant."""
    args = [np.zeros((0, 2)), STEP.astype("float16")]
    student.agrees(two_programs, WITHOUT_CALL, "given", args, [False, True], args, args[1:])
    student.agrees(two_programs, WITHOUT_CALL, "given", [], [], [], [])


@pytest.mark.meets("order", "again", "caching")
def test_programs_again(student):
    """One program may be called again with other inputs moving, and with other tangents."""
    student.agrees(linearized_again, WITHOUT_CALL, ROW, STEP)


@pytest.mark.meets("another_box", "nested", "moment")
@pytest.mark.keeps("only operations on")
def test_programs_of_derivatives(student):
    """A derivative calls one program for values and one for tangents, also within another."""
    student.agrees(around_jit, WITHOUT_CALL, ROW, STEP)
    student.agrees(around_jit, WITHOUT_CALL, np.array(0.7), np.array(3.0))


exercise("stackless.transposed")


@probe(uses=[in_place])
def run_backwards(mj, siblings, case, args, linear, known, cotangents):
    """Types and values of a program that runs backwards, and what it does with known values."""
    k = np.array([2.0, -3.0, 5.0])
    cases = {
        "product": lambda x, t: (lax.mul(lax.sin(x), t),),
        "before": lambda t, x: (lax.mul(t, lax.exp(x)), t, lax.neg(t)),
        "two": lambda t, x, u, y: (lax.mul(t, x), lax.add(lax.mul(u, lax.mul(x, y)), t)),
        "linear": lambda t, u: (lax.sub(t, lax.mul(u, 3.0)),),
        "shapes": lambda m, t: (m @ t, t.sum(), lax.broadcast_in_dim(t, (2, 3), (1,))),
        "unused": lambda x, t, u: (lax.mul(lax.cos(x), u),),
        "several": lambda x, t: (lax.mul(lax.mul(t, lax.cos(x)), lax.cos(x)), lax.add(t, t)),
        "constants": lambda x, t: (lax.mul(lax.mul(t, k), lax.mul(x, k)), lax.mul(t, k)),
        "given": lambda *xs: (*xs, 2.5, *xs),
        "nothing": lambda x, t: (lax.neg(x), ())[1],
    }
    with in_place("microjax.stackless", siblings):
        program = st.make_jaxpr(cases[case])(*args)
        back = st.transposed(program, linear)
        outs = st.eval_jaxpr(back.jaxpr, back.consts, *known, *cotangents)
        length = len(program.eqns)
    return {
        "the types of the new program's inputs": [aval.str_short() for aval in back.in_avals],
        "an input of the new program is weakly typed": [aval.weak_type for aval in back.in_avals],
        "a result of the new program is weakly typed": [aval.weak_type for aval in back.out_avals],
        "the types of the new program's results": [aval.str_short() for aval in back.out_avals],
        "the cotangents of linear inputs": [np.asarray(out) for out in outs],
        "operations": sorted(eqn.primitive.name for eqn in back.eqns),
        "the number of the old program's equations afterwards": length,
    }


@probe(uses=[in_place])
def each_backwards(mj, siblings, x, y):
    """Cotangents by programs that run one program backwards, in this input and in that one."""
    with in_place("microjax.stackless", siblings):
        program = st.make_jaxpr(lambda x, y: (lax.mul(x, y.sum()),))(x, y)
        found = []
        for linear, known in (([False, True], x), ([True, False], y)):
            back = st.transposed(program, linear)
            found.append(st.eval_jaxpr(back.jaxpr, back.consts, known, x))
    return {"cotangents of this input and of that one": found}


@probe(uses=[in_place, calls_evaluated])
def called_backwards(mj, siblings, x, t):
    """Gradients through compiled functions, alone and inside others, and through inner calls."""

    def curve(x, y):
        return lax.sin(x * y) * y

    def inner(x, y):
        return st.jit(curve)(x, y) * x

    with in_place("microjax.stackless", siblings):
        f = st.jit(inner)
        g = st.grad(lambda x, y: f(x, y).sum(), (0, 1))
        h = st.grad(lambda x: g(x, t)[0].sum())
        both = st.jit(lambda t: (lax.neg(t), lax.mul(t, 3.0)))
        back = st.transposed(st.make_jaxpr(lambda t: (lax.mul(both(t)[1], 5.0),))(x), [True])
        program = programs.make_jaxpr(h)(x)  # only an interpreter of this package is staged by it
        with calls_evaluated():
            found = {
                "the cotangent from the second result of a call": st.eval_jaxpr(
                    back.jaxpr, back.consts, t
                ),
                "gradients of calls in turn": (g(x, t), g(t, x), g(x, t)),
                "the gradient of a gradient": h(x),
                "a batch of gradients of gradients": st.vmap(h)(np.stack([x, t])),
                "a staged gradient of a gradient": programs.eval_jaxpr(
                    program.jaxpr, program.consts, x
                ),
            }
        return {**found, "a compiled gradient of a gradient": st.jit(h)(x)}


@pytest.mark.meets("order", "again")
@pytest.mark.keeps("runs `program` backwards", "takes the other inputs")
def test_transposed_values(student):
    """Known inputs come first, then cotangents; the cotangents of linear inputs come out."""
    student.agrees(run_backwards, BACKWARDS, "product", [ROW, STEP], [False, True], [ROW], [STEP])
    before = [STEP, ROW], [True, False], [ROW], [STEP, ROW, GRID[0]]
    student.agrees(run_backwards, BACKWARDS, "before", *before)
    student.agrees(run_backwards, BACKWARDS, "product", [1.0, 2.0], [False, True], [3.0], [4.0])


@pytest.mark.meets("more_than_two", "order", "keys")
@pytest.mark.keeps("linear in the inputs", "takes the other inputs")
def test_transposed_mixed_inputs(student):
    """Linear and known inputs may come in any order, and change places."""
    args = [ROW, STEP, GRID[0], GRID[1]]
    known, cts = [STEP, GRID[1]], [ROW, GRID[0]]
    student.agrees(run_backwards, BACKWARDS, "two", args, [True, False, True, False], known, cts)
    student.agrees(run_backwards, BACKWARDS, "linear", [ROW, STEP], [True, True], [], [GRID[0]])
    student.agrees(each_backwards, BACKWARDS, ROW, STEP)


@pytest.mark.meets("some_results", "zeros", "none")
@pytest.mark.keeps("one for each linear input")
def test_transposed_zeros(student):
    """A linear input that has no part in the results gets zeros."""
    args = [ROW, STEP, GRID[0]], [False, True, True], [ROW], [STEP]
    student.agrees(run_backwards, BACKWARDS, "unused", *args)
    args = [0.5, 2.0, 3.0], [False, True, True], [0.5], [4.0]
    student.agrees(run_backwards, BACKWARDS, "unused", *args)


@pytest.mark.meets("axes", "sizes", "float32")
def test_transposed_types(student):
    """Cotangents have the types of the inputs."""
    cts = [np.array([2.0, 11.0]), np.array(0.5), GRID]
    student.agrees(run_backwards, BACKWARDS, "shapes", [GRID, ROW], [False, True], [GRID], cts)
    single = [x.astype("float32") for x in (ROW, STEP)]
    given = single, [False, True], single[:1], single[1:]
    student.agrees(run_backwards, BACKWARDS, "product", *given)
    empty = np.zeros((0, 2))
    given = [empty, empty], [False, True], [empty], [empty]
    student.agrees(run_backwards, BACKWARDS, "product", *given)


@pytest.mark.meets("twice", "some_results", "none")
@pytest.mark.keeps("a cotangent for each result")
def test_transposed_given(student):
    """A result may be there twice, or none at all, and be an input; nothing may be linear."""
    n, x = np.arange(3), STEP.astype("float16")
    cts = [n, x, 2.0, n, 3 * x]
    student.agrees(run_backwards, BACKWARDS, "given", [n, x], [False, True], [n], cts)
    student.agrees(run_backwards, BACKWARDS, "given", [n, x], [False, False], [n, x], cts)
    student.agrees(run_backwards, BACKWARDS, "given", [], [], [], [2.0])
    student.agrees(run_backwards, BACKWARDS, "nothing", [n, x], [False, True], [n], [])


@pytest.mark.meets("moment", "twice", "mutation")
@pytest.mark.keeps("only as their transposes")
def test_transposed_other_values(student):
    """What depends on known inputs is computed for the values given; constants keep theirs."""
    known = [ROW * 2.0], [STEP, ROW]
    student.agrees(run_backwards, BACKWARDS, "several", [ROW, STEP], [False, True], *known)
    known = [STEP], [STEP, ROW]
    student.agrees(run_backwards, BACKWARDS, "several", [ROW, STEP], [False, True], *known)
    student.agrees(run_backwards, BACKWARDS, "constants", [ROW, STEP], [False, True], *known)


@pytest.mark.meets("another_box", "nested", "closure", "caching")
@pytest.mark.keeps("only as their transposes")
def test_transposed_calls(student):
    """Compiled functions have gradients, and these have gradients, batches and programs."""
    student.agrees(called_backwards, WITHOUT_BACK, ROW, STEP)


exercise("stackless.whole")


def curve(lax, seed, xs, length=6):
    """The last value of a random program, in which operands repeat and constants meet."""
    chance, values = random.Random(seed), list(xs)
    for _ in range(length):
        x, y = (chance.choice([*values, values[-1]]) for _ in range(2))
        ways = [x * y, x + y, x - y, lax.sin(x), lax.cos(x * y), -x, x * 0.5, 2.0 - y]
        values.append(chance.choice(ways))
    return values[-1] + values[0] * 0.5


def slope_of(st, seed):
    """A function that returns the derivative of a random program, which meets the outer input."""

    def slope(x):
        value, tangent = st.jvp(lambda y: curve(st.lax, seed, [y, x], 3) * y, (x,), (x,))
        constant, zero = st.jvp(lambda y: x, (x,), (x,))
        return value * 0.5 + tangent + constant * zero

    return slope


@probe(uses=[curve])
def linear_maps(mj, seeds, x, t):
    """Values and derivatives by jvp and by linearize, of programs with two results."""
    answers, seen = [], set()
    for seed in seeds:

        def f(x, y, seed=seed):
            seen.update(isinstance(z, st.Tracer) for z in (x, y))
            return {"a": curve(st.lax, seed, [x, y]), "b": [curve(st.lax, seed + 1, [y]), x]}

        outs, f_lin = st.linearize(f, x, t)
        answers += [outs, f_lin(t, x), f_lin(x, t), st.jvp(f, (x, t), (t, x))]
    return {
        "values, and tangents by linearize and jvp": answers,
        "the functions get tracers": sorted(seen),
    }


@probe(uses=[curve])
def gradients(mj, seeds, x, y):
    """Gradients of random programs, by one input and by two, one of which is not used."""
    answers, seen = [], set()
    for seed in seeds:

        def f(x, y, unused, seed=seed):
            seen.add(isinstance(y, st.Tracer))
            return (curve(st.lax, seed, [x, y]) * y).sum()

        answers.append(st.value_and_grad(f, (0, 1, 2))(x, y, x))
        answers.append(st.grad(f, 1)(x, y, 2))
    return {"values and gradients": answers, "the functions get tracers": sorted(seen)}


@probe(uses=[curve])
def types_of_derivatives(mj, x, number):
    """Derivatives in float32, and of Python numbers, which are weakly typed."""

    def f(x, y):
        return curve(st.lax, 5, [x, y], 3).sum(), np.ones(2, "float32"), 2.5, x

    outs, f_vjp = st.vjp(f, x, x)
    cts = (np.float32(2.0), np.zeros(2, "float32"), 0.0, x)
    single = [outs, f_vjp(cts), st.linearize(f, x, x)[1](x, x)]
    y = st.grad(lambda z: curve(st.lax, 6, [z]))(number)
    z = st.jvp(lambda z: z * 3, (number,), (1.0,))
    mixed = st.grad(lambda z: (x * z).sum())(number)
    return {
        "values and derivatives of float32": single,
        "derivatives of numbers, and whether they are weakly typed": [
            (a, a.weak_type) for a in (y, *z, mixed)
        ],
    }


@probe(uses=[slope_of])
def nested_derivatives(mj, seeds, x):
    """Gradients, tangents and batches of derivatives, inside and around each other."""
    answers, seen = [], set()
    for seed in seeds:
        inner = slope_of(st, seed)

        def slope(x, inner=inner):
            seen.add(isinstance(x, st.Tracer))
            return inner(x)

        answers += [
            st.grad(slope)(x),
            st.jvp(st.grad(slope), (x,), (x,)),
            st.grad(st.grad(slope))(x),
        ]
        answers.append(st.vmap(st.grad(slope))(np.stack([x, -x, x * 0.5])))
        answers.append(st.grad(lambda x, s=slope: st.vmap(s)(np.ones(3) * x).sum())(x))
    of, pairs = st.value_and_grad(slope_of(st, seeds[0])), st.vmap(lambda y: (y * x, 2.5))
    a, b = np.arange(2.0), np.arange(3.0)
    pulls = [st.vjp(lambda y, k=k: y * y * k, x)[1] for k in (2.0, 3.0)]
    return {
        "derivatives of derivatives": answers,
        "the functions get tracers": sorted(seen),
        "a batch of batches": st.vmap(lambda a: st.vmap(lambda b: a * b)(b))(a),
        "the values and gradients at two places": [of(x), of(-x)],
        "batches of two sizes": [pairs(np.ones(n)) for n in (2, 3)],
        "the cotangents by two functions, made before": [pull(x) for pull in pulls],
    }


@probe(uses=[calls_evaluated])
def compiled(mj, x):
    """Derivatives of compiled functions, and compiled derivatives, called more than once.

    Only what is compiled in the end is compiled; all other calls of programs are evaluated.
    """
    seen, rows = [], (np.array([2.0, 3.0]), np.array([5.0, 7.0]))

    def f(x, y):
        seen.append(isinstance(x, st.Tracer))
        return {"n": 2, "z": st.lax.sin(x) * y}

    g, alike = st.jit(f), [st.jit(lambda x, row=row: x * row) for row in rows]
    double = st.jit(lambda c: [c["a"] * 2.0] if isinstance(c, dict) else c[0] * 2.0)
    with calls_evaluated():
        answers = [st.jvp(lambda x: g(x, 3.0), (y,), (x,)) for y in (x, -x)]
        answers += [st.jvp(lambda y: g(x, y), (3.0,), (x,)), st.grad(lambda x: g(x, 3.0)["z"])(x)]
        answers += [st.jvp(h, (x,), (x,)) for h in alike]
        answers.append(st.grad(lambda x: st.jit(lambda y: y * x)(x) * g(x, x)["z"] * x)(x))
        doubled = [double(c) for c in ({"a": x}, (x,), [x], {"a": x}, (np.array(x),))]
    first = g(x, 3.0)
    with patch.dict(core.impl_rules, dict.fromkeys((core.sin_p, core.mul_p))):
        answers += [first, g(x, 3.0)]
    slope = st.jit(st.vmap(st.grad(lambda y: st.jvp(lambda z: y * z * z, (y,), (x,))[1])))
    return {
        "derivatives of compiled functions, and their values": answers,
        "results for containers of several kinds": doubled,
        "a number is weakly typed": [doubled[i].weak_type for i in (1, 4)],
        "compiled derivatives": [slope(np.stack([x, -x])), slope(np.stack([x, x]))],
        "the functions get tracers": sorted({*seen}),
    }


@probe(uses=[curve])
def after_failures(mj, x):
    """An inner derivative fails, in any way; the outer one goes on; nothing is left current."""

    def broken(y):
        y * y
        raise KeyError("out")

    def f(x):
        seen.add(isinstance(x, st.Tracer))
        found = x
        for transform in (st.grad, lambda g: lambda x: st.jvp(g, (x,), (x,)), st.jit):
            try:
                transform(broken)(x)
            except KeyError as error:
                caught.append(error.args[0])
            found = found * curve(st.lax, 3, [x, found], 2)
        return found

    caught, seen = [], set()
    answers = st.grad(f)(x), st.jvp(st.grad(f), (x,), (x,))
    return {
        "derivatives of the function that goes on": answers,
        "errors that reach it": caught,
        "the interpreter that is current afterwards": type(st.context.interpreter).__name__,
        "the functions get tracers": sorted(seen),
    }


@probe
def kept_tracers(mj, x):
    """What becomes of tracers that were kept after their function had ended."""
    kept, answers = [], []

    def f(y):
        kept.append(y)
        return y * y

    for transform in (st.grad, lambda g: lambda x: st.linearize(g, x)[1](x), st.jit):
        answers.append(transform(f)(x))
        for use in (lambda y: y * 2.0, lambda y: st.grad(lambda z: z * y)(x)):
            try:
                answers.append(use(kept[-1]))
            except UnexpectedTracerError:
                answers.append("escaped")
    return {
        "derivatives, and what becomes of tracers that are used later": answers,
        "the functions get tracers": [isinstance(y, st.Tracer) for y in kept],
    }


@probe
def flags_and_numbers(mj, x):
    """Derivatives of functions with integers, conditions and constants among their results."""
    seen = set()

    def f(x, n):
        seen.add(isinstance(x, st.Tracer))
        return n, x * n, st.lax.gt(x, 0.5), 3.0, (x < 1.0).astype(float) * x

    outs, f_lin = st.linearize(f, x, 4)
    zero = np.zeros(np.shape(x), [("float0", np.void, 0)])[()]
    tangents = st.jvp(lambda x: f(x, 4), (x,), (x,))
    grads = st.grad(lambda x: f(x, 4)[1] + f(x, 4)[3])(x)
    moved = [np.asarray(t) for t in f_lin(x, zero) if np.asarray(t).dtype.kind == "f"]
    floats = [np.asarray(t) for t in tangents[1] if np.asarray(t).dtype.kind == "f"]
    return {
        "the values": outs,
        "the kinds of the tangents": [np.asarray(t).dtype.kind for t in f_lin(x, zero)],
        "the tangents by linearize": moved,
        "the tangents by jvp": floats,
        "the gradient": grads,
        "the functions get tracers": sorted(seen),
    }


@pytest.mark.meets(again="linearize_flat")
def test_whole_linear_maps(student):
    """Linearized functions and jvp return the same derivatives of random programs."""
    student.agrees(linear_maps, [1], 0.5, -1.5)
    student.agrees(linear_maps, [5], ROW, STEP)


@pytest.mark.meets(sizes="backward_pass")
def test_whole_gradients(student):
    """Gradients of random programs are right, by every input, used or not."""
    student.agrees(gradients, [1, 2, 3], ROW, STEP)
    student.agrees(gradients, [4], np.zeros((0, 2)), np.zeros((0, 2)))


@pytest.mark.meets(weak_type="linearize_flat backward_pass", float32="linearize_flat backward_pass")
def test_whole_types(student):
    """Derivatives have the types of what they belong to: float32, and weak types."""
    student.agrees(types_of_derivatives, ROW.astype("float32"), 0.5)


@pytest.mark.meets(
    another_box="box_op backward_pass",
    nested="box_op backward_pass",
    closure="box_op backward_pass",
)
def test_whole_nested(student):
    """Derivatives of derivatives are right, if each input meets those outside."""
    student.agrees(nested_derivatives, [1], 0.5)


@pytest.mark.meets(again="linearized_program transposed", closure="linearized_program transposed")
def test_whole_compiled(student):
    """Compiled functions can be differentiated, and derivatives compiled."""
    student.agrees(compiled, 0.5)


@pytest.mark.meets(exception="box_op linearize_flat")
def test_whole_failures(student):
    """A function that fails while it is transformed leaves the one around it as it was."""
    student.agrees(after_failures, 0.5)


def test_whole_kept_tracers(student):
    """Tracers that were kept are refused, whichever transformation they come from."""
    student.agrees(kept_tracers, 0.5)


def test_whole_numbers(student):
    """Integers, conditions and constants have no derivative, or a derivative of zero."""
    student.agrees(flags_and_numbers, 0.7)
