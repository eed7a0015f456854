"""Lesson stackless: all primitives under all transformations against JAX, errors, contexts.

Which errors are those of JAX is in `test_refusals`.
"""

import threading

import jax
import minijax
import numpy as np
import oracle
import pytest
from expressions import programs_of
from microjax import stackless
from microjax.stackless import lax
from minijax.errors import UnexpectedTracerError
from minijax.jaxpr import typecheck_jaxpr
from oracle import TRANSFORMATIONS, assert_all_same, assert_same
from test_chain import OF_BOTH_SYSTEMS

X, Y = oracle.X, oracle.Y
MATRIX = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 2.0]])
CUBE = np.arange(24.0).reshape(2, 3, 4) / 10
OUTER, DOT = (((), ()), ((), ())), (((0,), (0,)), ((), ()))

# Functions of an array of shape (3,), of which each uses a primitive or two.
PROGRAMS = programs_of(
    globals(),
    """
    neg: lax.neg(x)
    sin: lax.sin(x)
    cos: lax.cos(x)
    exp: lax.exp(x)
    log: lax.log(x)
    add: lax.add(lax.sin(x), Y) + 1.0
    sub: 1.0 - lax.sub(lax.sub(x, Y), lax.sin(x))
    mul: lax.mul(x, Y) * x * 2.0
    div: lax.div(x, Y) + 1.0 / x + lax.sin(x) / x
    gt: lax.convert_element_type(lax.gt(x, Y), np.float64) * x
    lt: (x < 2.5).astype(np.float64) * x * x
    reduce_sum: lax.reduce_sum(lax.sin(x), (0,)) * x
    sum: x * x.sum() + (x * MATRIX).sum(axis=-1).sum()
    transpose: lax.transpose(x * CUBE.transpose(2, 0, 1), (1, 0, 2)).sum(0).sum(0)
    T: (x * MATRIX).T.sum(1) * x
    broadcast_in_dim: lax.broadcast_in_dim(x * x, (2, 3, 2), (1,)).sum(0).sum(1)
    stretched: lax.add(lax.broadcast_in_dim(x.sum(), (1, 3), ()), x * MATRIX).sum(0)
    operators that broadcast: ((MATRIX * x - x) / (x + 1.0)).sum(0)
    convert_element_type: lax.convert_element_type(x * x, np.float32).astype(float)
    integers: lax.convert_element_type(x, np.int32) * x
    dot_general: lax.dot_general(x, lax.sin(x), DOT) * x
    outer product: lax.dot_general(x * x, x, OUTER).sum(0)
    dot_general of batches: (lax.dot_general(x * CUBE.transpose(0, 2, 1), lax.sin(x) * MATRIX,
        (((2,), (1,)), ((0,), (0,)))).sum() * x)
    dot_general of axes out of order: (lax.dot_general(CUBE.transpose(2, 0, 1) * x, (MATRIX * x).T,
        (((1, 2), (1, 0)), ((), ()))).sum() * x)
    @: MATRIX.T @ (MATRIX @ x) + (MATRIX * x).T @ MATRIX @ x
""",
    "x",
)


@pytest.mark.sampled
@pytest.mark.parametrize("transform", TRANSFORMATIONS.values(), ids=TRANSFORMATIONS)
def test_every_primitive_under_this_transformation(transform):
    def on_jax(program):
        # As JAX's array, so that operators are JAX's.
        return transform(jax, lambda x: program(jax, jax.numpy.asarray(x)))

    # One compilation for all programs: compiling takes nearly all of the time.
    want = jax.jit(lambda: {name: on_jax(program) for name, program in PROGRAMS.items()})()
    for name, program in PROGRAMS.items():
        got = transform(stackless, lambda x, program=program: program(stackless, x))
        assert_same(got, want[name], name)


def test_arguments_and_results_are_as_in_jax():
    assert_all_same(OF_BOTH_SYSTEMS, lib=stackless)


def test_perturbations_are_not_confused():
    assert stackless.grad(lambda x: x * stackless.grad(lambda y: x + 0.0 * y)(0.0))(2.0) == 0.0

    def f(x):
        return x * stackless.jvp(lambda y: x, (0.0,), (1.0,))[1]

    assert stackless.jvp(f, (2.0,), (1.0,)) == (0.0, 0.0)


def test_if_works_where_the_value_is_known():
    def f(x):
        return x * x if x > 0.0 else -x

    assert [stackless.grad(f)(x) for x in (3.0, -3.0)] == [6.0, -1.0]


# Errors and contexts ----------------------------------------------------------------------------


@pytest.mark.every
@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda: lax.add(X, X[:2]), r"add of float64\[3\] and float64\[2\]: .*\(3,\), \(2,\)"),
        (
            lambda: stackless.jit(lambda x: np.sin(x))(X),
            r"NumPy was called on Staged<float64\[3\]>. Use",
        ),
        (lambda: stackless.jit(lambda x: x == 1.0)(X), r"Staged<float64\[3\]> cannot be compared"),
        (lambda: stackless.jit(lambda x: x[0])(X), r"cannot be indexed"),
        (lambda: stackless.jit(lambda x: x**2)(X), r"unsupported operand type"),
        (lambda: stackless.vmap(lambda x: x @ x)(X), r"one or two axes here, not \[0, 0\]"),
    ],
)
def test_errors_say_what_is_wrong(program, message):
    with pytest.raises(TypeError, match=message):
        program()


def test_each_thread_has_its_own_context():
    inside = []

    def f(x):
        thread = threading.Thread(target=lambda: inside.append(stackless.grad(lax.sin)(0.0)))
        thread.start()
        thread.join()
        return x * 2.0

    program = stackless.make_jaxpr(f)(1.0)
    assert inside == [1.0]  # computed, although this thread writes operations down
    assert [eqn.primitive.name for eqn in program.eqns] == ["mul"]


# Programs -----------------------------------------------------------------------------------------


def test_values_are_computed_at_once_and_tangents_recorded():
    program, _ = stackless.linearize_flat(lambda x: [lax.sin(x) * x * 2.0], [X], [True])
    assert [eqn.primitive.name for eqn in program.eqns] == ["mul", "mul", "mul", "add", "mul"]
    assert len(program.consts) == 3  # cos(x), x, sin(x)


def test_jit_compiles_once_for_each_type_and_each_derived_program(monkeypatch):
    texts = []
    compile_text = minijax.xla.compile_text
    monkeypatch.setattr(
        minijax.xla, "compile_text", lambda *args: [texts.append(args[0]), compile_text(*args)][1]
    )
    f = stackless.jit(lambda x: lax.sin(x) * x)
    for _ in range(3):
        f(X), f(1.0), stackless.grad(f)(1.0), stackless.vmap(f)(X)
    assert len(texts) == 5  # for f twice, for its values, its gradient, and a batch
    assert "stablehlo.sine" in texts[0]


def test_a_program_keeps_its_constants():
    array = np.ones(3)
    program = stackless.make_jaxpr(lambda x: x + array)(X)
    array[:] = 9.0
    np.testing.assert_array_equal(program.consts[0], np.ones(3))


def test_a_program_is_the_same_for_both_systems():
    def f(lib, x):
        return lib.jit(lambda y: lib.lax.sin(y) * 2.0 + MATRIX)(x * x)

    programs = [lib.make_jaxpr(lambda x, lib=lib: f(lib, x))(X) for lib in (stackless, minijax)]
    assert str(programs[0]) == str(programs[1])
    values = [minijax.jaxpr.eval_jaxpr(p.jaxpr, p.consts, X)[0] for p in programs]
    np.testing.assert_array_equal(*map(np.asarray, values))


@pytest.mark.slow
@pytest.mark.usefixtures("default_recursion_limit")
def test_programs_of_5000_equations_need_no_deep_recursion():
    def curve(x):
        for _ in range(2_500):
            x = lax.sin(x) * 1.0
        return x

    program = stackless.make_jaxpr(curve)(0.5)
    assert len(program.eqns) == 5_000
    typecheck_jaxpr(program.jaxpr)
    gradient = stackless.grad(curve)(0.001)
    jitted = stackless.make_jaxpr(stackless.grad(stackless.jit(curve)))(0.001)
    assert [eqn.primitive.name for eqn in jitted.eqns] == ["jit", "jit"]
    np.testing.assert_allclose(gradient, stackless.jvp(curve, (0.001,), (1.0,))[1], rtol=1e-9)


# What goes wrong while an interpreter is being written --------------------------------------------


def test_a_tracer_in_evaluation_is_told_apart_from_one_that_was_kept():
    interpreter = stackless.JVPInterpreter()
    x = interpreter.box(2.0, 1.0)
    with pytest.raises(UnexpectedTracerError, match="its interpreter is still at work"):
        lax.sin(x)
    interpreter.ended = True
    with pytest.raises(UnexpectedTracerError, match="after the function that it was made for had"):
        lax.sin(x)


def test_a_box_of_no_kind_says_how_the_right_one_is_made():
    interpreter = stackless.JVPInterpreter()
    with pytest.raises(TypeError, match=r"`interpreter.box\(value, extra\)`"):
        repr(stackless.Box(interpreter, 2.0, 1.0))
