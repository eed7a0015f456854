"""The laws that tie the transformations together, on random programs, with JAX as the oracle.

They hold for both systems: minijax, and lesson stackless on the primitives that it has.

Short and the same at every run; for more, `pytest tests/test_laws.py --hypothesis-profile=long`.
"""

from types import SimpleNamespace

import jax
import minijax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from microjax import stackless
from minijax.dtypes import float0
from minijax.jaxpr import eval_jaxpr, typecheck_jaxpr
from oracle import prints_as_promised
from random_programs import FIRST_CIRCLE, Program, assume_tame, integer_programs, programs

STEPS = (*FIRST_CIRCLE, "neg", "operator", "with_literal", "literal_with", "constant")

# A module with JAX's names, the programs for it, and how many where minijax has a hundred.
SYSTEMS = {
    "minijax": (SimpleNamespace(**vars(minijax), eval_jaxpr=eval_jaxpr), programs(), 100),
    "stackless": (stackless, programs(names=STEPS), 20),
}


def law(number, *strategies):
    """Make a test of a law: of so many programs, and more where the profile has more than 100."""

    def decorate(check):
        @pytest.mark.parametrize("system", SYSTEMS)
        def test(system):
            lib, some_programs, percent = SYSTEMS[system]

            def holds(drawn):
                check(lib, *drawn)

            holds.__name__ = check.__name__  # the examples depend on the name
            given(st.tuples(some_programs, *strategies))(examples(number * percent // 100)(holds))()

        return test

    return decorate


def examples(number):
    """So many examples, and more where the profile has more than 100."""
    return settings(max_examples=number * settings.default.max_examples // 100)


def agree(program, got, want):
    """Same structure, shapes, dtypes, and values within rounding."""
    got, want = minijax.tree.leaves(got), minijax.tree.leaves(want)
    for x, y in zip(map(np.asarray, got), map(np.asarray, want), strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        if y.dtype != float0:
            scale = max(1.0, float(np.max(np.abs(y), initial=0)))
            tolerance = program.tolerance * scale
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def with_tangents(lib, program: Program):
    """The program's function, arguments for it, and tangents."""
    arguments = program.arguments()
    assume_tame(program, *arguments)
    return program.on(lib), tuple(arguments), tuple(program.arguments(seed=1))


def cotangents(outs):
    """An array for each result, which fits it."""
    avals = [(np.shape(x), np.asarray(x).dtype) for x in outs]
    return [
        np.zeros(shape, float0) if dtype.kind == "b" else np.asarray(np.full(shape, 0.5 + i), dtype)
        for i, (shape, dtype) in enumerate(avals)
    ]


def inner(xs, ys):
    """The inner product of two lists of arrays; what does not move adds nothing."""
    pairs = [(np.asarray(x), np.asarray(y)) for x, y in zip(xs, ys, strict=True)]
    return sum(
        float(np.sum(x * y, dtype=float)) for x, y in pairs if float0 not in (x.dtype, y.dtype)
    )


@prints_as_promised
@law(150)
def test_programs_print_as_in_jax(lib, program):
    arguments = program.arguments()
    got, want = (x.make_jaxpr(program.on(x))(*arguments) for x in (lib, jax))
    assert str(got) == str(want)


@pytest.mark.slow
@law(70)
def test_values_and_derivatives_are_those_of_jax(lib, program):
    f, arguments, tangents = with_tangents(lib, program)
    jf = program.on(jax)
    want = jax.jit(lambda xs, ts: (jf(*xs), jax.jvp(jf, xs, ts)[1]))(arguments, tangents)
    values, out_tangents = lib.jvp(f, arguments, tangents)
    agree(program, values, want[0])
    agree(program, f(*arguments), want[0])
    agree(program, out_tangents, want[1])


@law(60)
def test_gradients_are_those_of_jax(lib, program):
    f, arguments, _ = with_tangents(lib, program)
    jf = program.on(jax)
    cts = cotangents(f(*arguments))
    moving = [ct for ct in cts if ct.dtype != float0]

    def jax_vjp(xs, moving):
        rest = iter(moving)
        return jax.vjp(jf, *xs)[1]([ct if ct.dtype == float0 else next(rest) for ct in cts])

    agree(program, lib.vjp(f, *arguments)[1](cts), jax.jit(jax_vjp)(arguments, moving))


@examples(15)
@given(integer_programs())
def test_programs_of_integers_and_booleans_are_those_of_jax(program):
    """Compiled, batched and by the evaluation rules; an operator of two NumPy arrays is NumPy's."""
    arguments = program.arguments()
    f, jf = program.on(minijax), program.on(jax)
    want = jax.jit(jf)(*arguments)
    agree(program, minijax.jit(f)(*arguments), want)
    stacks = [np.stack([x, x[::-1] if x.ndim else x + x.dtype.type(1)]) for x in arguments]
    agree(program, minijax.vmap(f)(*stacks), jax.jit(jax.vmap(jf))(*stacks))
    closed = minijax.make_jaxpr(f)(*arguments)
    typecheck_jaxpr(closed.jaxpr)
    agree(program, eval_jaxpr(closed.jaxpr, closed.consts, *arguments), want)


@prints_as_promised
@examples(60)
@given(integer_programs())
def test_programs_of_integers_and_booleans_print_as_in_jax(program):
    got, want = (lib.make_jaxpr(program.on(lib))(*program.arguments()) for lib in (minijax, jax))
    assert str(got) == str(want)


@law(60)
def test_jit_changes_nothing(lib, program):
    f, arguments, _ = with_tangents(lib, program)
    agree(program, lib.jit(f)(*arguments), f(*arguments))


@law(150)
def test_evaluating_the_jaxpr_is_calling_the_function(lib, program):
    f, arguments, _ = with_tangents(lib, program)
    closed, outs = lib.make_jaxpr(f)(*arguments), f(*arguments)
    agree(program, lib.eval_jaxpr(closed.jaxpr, closed.consts, *arguments), outs)
    types = [(aval.shape, aval.dtype) for aval in closed.out_avals]
    assert types == [(np.shape(out), np.asarray(out).dtype) for out in outs]


@law(150, st.lists(st.sampled_from([0, -1, None]), min_size=3, max_size=3))
def test_vmap_is_a_loop(lib, program, axes):
    f, arguments, others = with_tangents(lib, program)
    assume_tame(program, *others)
    in_axes = [axis for axis, _ in zip(axes, arguments, strict=False)]
    if all(axis is None for axis in in_axes):
        in_axes[0] = 0
    examples_of = [
        (x, x) if axis is None else (x, y)
        for x, y, axis in zip(arguments, others, in_axes, strict=True)
    ]
    stacks = [
        x if axis is None else np.stack([x, y], axis)
        for (x, y), axis in zip(examples_of, in_axes, strict=True)
    ]
    first, second = (f(*xs) for xs in zip(*examples_of, strict=True))
    assume_tame(program, *(y for _, y in examples_of))
    loop = [np.stack([x, y]) for x, y in zip(first, second, strict=True)]
    agree(program, lib.vmap(f, tuple(in_axes))(*stacks), loop)


@law(120)
def test_linearize_is_jvp(lib, program):
    f, arguments, tangents = with_tangents(lib, program)
    values, out_tangents = lib.jvp(f, arguments, tangents)
    linear_values, f_lin = lib.linearize(f, *arguments)
    agree(program, linear_values, values)
    agree(program, f_lin(*tangents), out_tangents)


@law(150)
def test_vjp_is_the_transpose_of_jvp(lib, program):
    f, arguments, tangents = with_tangents(lib, program)
    values, out_tangents = lib.jvp(f, arguments, tangents)
    cts = cotangents(values)
    _, f_vjp = lib.vjp(f, *arguments)
    left, right = inner(f_vjp(cts), tangents), inner(cts, out_tangents)
    sizes = sum(float(np.sum(np.abs(t))) for t in out_tangents if t.dtype != float0)
    assert abs(left - right) <= 10 * program.tolerance * (1 + sizes)


@law(80)
def test_every_jaxpr_typechecks(lib, program):
    f, arguments, tangents = with_tangents(lib, program)
    cts = cotangents(f(*arguments))
    stacks = [np.stack([x, x]) for x in arguments]
    for transformed, inputs in (
        (f, arguments),
        (lambda *xs: lib.jvp(f, xs, tangents), arguments),
        (lambda *xs: lib.linearize(f, *xs)[1](*tangents), arguments),
        (lambda *xs: lib.vjp(f, *xs)[1](cts), arguments),
        (lib.vmap(f), stacks),
        (lib.vmap(lambda *xs: lib.vjp(f, *xs)[1](cts)), stacks),
        (lambda *ts: lib.jit(lambda *xs: lib.jvp(f, xs, ts))(*arguments), tangents),
    ):
        typecheck_jaxpr(lib.make_jaxpr(transformed)(*inputs).jaxpr)
    f_lin = lib.linearize(f, *arguments)[1]
    typecheck_jaxpr(lib.make_jaxpr(f_lin)(*tangents).jaxpr)
