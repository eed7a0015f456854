"""Checks of what lies beyond the exercises: `./jaxprentice check jit.open` and `jit.repair`."""

import tracemalloc
from unittest.mock import patch

import numpy as np
from checking import exercise, yours
from numpy.testing import assert_allclose
from random_programs import for_programs, numbers, results_of

import minijax.numpy as jnp
from minijax import jvp, xla


def polynomial(x):
    """A chain of forty elementwise operations."""
    y = x
    for factor in range(1, 21):
        y = x * y + 1.0 / factor
    return y


def compilations():
    """A block that counts what is compiled in it."""
    return patch.object(xla, "compile_text", wraps=xla.compile_text)


exercise("jit.open")

fused = yours("open_jit.fused")


@for_programs(seed="jit.open", number=20)
def test_random_programs(f, xs):
    """A random program computes the same, in the same dtypes, and nothing is compiled."""
    with compilations() as compiled:
        out = fused(f)(*xs)
    assert numbers(out) == numbers(f(*xs))
    dtypes = [[np.asarray(x).dtype for x in results_of(y)] for y in (out, f(*xs))]
    assert dtypes[0] == dtypes[1]
    assert compiled.call_count == 0


def test_long_arrays():
    """All blocks are right: with several results, operands that stretch, and an odd length."""

    def f(x, scale, row):
        y = x * scale - 2.0
        z = jnp.sin(y) * row
        return {"z": z, "chain": (y + z) * (y - z), "sum": jnp.sum(z), "less": z < y}

    x, row = np.linspace(-1.0, 1.0, 60_006).reshape(20_002, 3), np.array([[1.0, 2.0, 3.0]])
    got, want = fused(f)(x, 0.5, row), f(x, 0.5, row)
    assert got.keys() == want.keys()
    for name, value in want.items():
        assert_allclose(np.asarray(got[name]), np.asarray(value), rtol=1e-9)


def test_memory():
    """A chain of forty operations needs its result, and hardly more."""
    f, x = fused(polynomial), np.linspace(0.0, 1.0, 2_000_000)
    f(x)
    tracemalloc.start()
    try:
        out = f(x)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert_allclose(np.asarray(out)[-1], polynomial(1.0))
    assert peak < 1.1 * x.nbytes, f"It takes {peak / x.nbytes:.1f} arrays of memory."


def test_traced_once():
    """The function runs once for each type of its arguments."""
    runs = []
    f = fused(lambda x, y: runs.append(1) or x * y)
    out = [f(2.0, 3.0), f(4.0, 5.0), f(np.ones(3), 2.0), f(np.zeros(3), 7.0), f(6.0, 7.0)]
    assert [np.asarray(x).tolist() for x in out] == [6.0, 20.0, [2.0] * 3, [0.0] * 3, 42.0]
    assert len(runs) == 2


exercise("jit.repair")

shared = yours("repair_jit.shared")


@for_programs(seed="jit.repair", number=6)
def test_random_programs_are_shared(f, xs):
    """A random program computes the same, with its arguments and with captured ones."""
    assert numbers(shared(f)(*xs)) == numbers(f(*xs))
    for captured in (xs, [x + x for x in xs]):
        g = shared(lambda y, ys=captured: [y, *results_of(f(*ys))])
        assert numbers(g(1.0)[1:]) == numbers(f(*captured))


def test_functions_that_are_made_anew():
    """Each function computes with its own arrays, and one executable is enough for all."""
    with compilations() as compiled:
        for rate in (1.0, 2.0, 3.0):
            weights = np.array([0.5, 0.25]) * rate
            out = shared(lambda p, w=weights: {"x": p["x"] * w - p["x"]})({"x": np.ones(2)})
            assert np.asarray(out["x"]).tolist() == (weights - 1.0).tolist()
    assert compiled.call_count == 1


def test_different_programs():
    """Programs that differ have executables of their own: by numbers, types and structure."""
    assert float(shared(lambda x: x * 2.0)(3.0)) == 6.0
    assert float(shared(lambda x: x * 3.0)(3.0)) == 9.0
    assert np.asarray(shared(lambda x: x * 3.0)(np.ones(2))).tolist() == [3.0, 3.0]
    assert float(shared(lambda x: [x * 3.0])(1.0)[0]) == 3.0


def test_derivatives():
    """A function may capture a number that moves, again and again."""
    for a in (2.0, 5.0):
        value, slope = jvp(lambda a: shared(lambda x: a * a * x)(3.0), (a,), (1.0,))
        assert (float(value), float(slope)) == (3.0 * a * a, 6.0 * a)
