"""One primitive through the whole chain: evaluation, jvp, vmap, jit on XLA, linearize, grad."""

import subprocess
import sys

import jax
import minijax
import numpy as np
import pytest

jax.config.update("jax_enable_x64", True)

X, Y = np.array([1.0, 2.0, 4.0]), np.array([3.0, -5.0, 7.0])


def cubic(x, y):
    return x * x * y * 3.0


def loss(lib):
    return lambda x: lib.jit(lib.vmap(cubic))(x, Y).sum()


PROGRAMS = {
    "vmap": lambda lib: lib.vmap(cubic)(X, Y),
    "jit of vmap": lambda lib: lib.jit(lib.vmap(cubic))(X, Y),
    "grad of jit of vmap": lambda lib: lib.grad(loss(lib))(X),
    "jit of grad of jit of vmap": lambda lib: lib.jit(lib.grad(loss(lib)))(X),
    "jvp of grad": lambda lib: lib.jvp(lib.grad(loss(lib)), (X,), (Y,)),
    "grad of grad": lambda lib: lib.grad(lib.grad(lib.jit(lambda x: x * x * x)))(3.0),
    "vmap of grad of jit": lambda lib: lib.vmap(lib.grad(lib.jit(lambda x: x * x)))(X),
    "linearize": lambda lib: lib.linearize(loss(lib), X)[1](Y),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_minijax_gives_what_jax_gives(program):
    got, want = minijax.tree.leaves(program(minijax)), jax.tree.leaves(program(jax))
    for x, y in zip(got, want, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-12)


def test_jaxprs_of_untransformed_programs_print_as_in_jax():
    assert str(minijax.make_jaxpr(lambda x: x * x * 2.0)(X)) == str(
        jax.make_jaxpr(lambda x: x * x * 2.0)(X)
    )


def test_minijax_never_imports_jax():
    code = (
        "import sys, minijax; minijax.grad(minijax.jit(lambda x: x * x))(3.0);"
        "print([m for m in sys.modules if m == 'jax' or m.startswith('jax.')])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd="solutions", check=True
    )
    assert run.stdout.strip() == "[]"
