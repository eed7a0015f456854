"""Checks of what lies beyond the exercises: `./jaxprentice check vmap.open` and `vmap.repair`."""

import functools

import numpy as np
import pytest
from checking import exercise, yours
from numpy.testing import assert_allclose

import minijax.numpy as jnp
from minijax import jacfwd, vmap
from minijax.core import Primitive, impl_rules, jvp_rules, vmap_rules
from minijax.jvp import linear_jvp
from minijax.vmap import unary_batch

# An operation that does nothing but note how many numbers pass through it.
note_p = Primitive("note")
noted: list[int] = []
impl_rules[note_p] = lambda x: noted.append(np.size(x)) or x
jvp_rules[note_p] = functools.partial(linear_jvp, note_p)
vmap_rules[note_p] = functools.partial(unary_batch, note_p)


def band(rows, columns, below, above):
    """The pattern of a band: so many diagonals below the main one, and above it."""
    i, j = np.indices((rows, columns))
    return (j - i >= -below) & (j - i <= above)


def function_of(pattern, seed=0):
    """A function whose Jacobian has this pattern."""
    rng = np.random.default_rng(seed)
    first, second = (
        jnp.array(np.where(pattern, rng.normal(size=pattern.shape), 0.0)) for _ in "ab"
    )
    return lambda x: jnp.sin(first @ x) * (second @ jnp.cos(x)) + first @ (x * x)


def directions(f, pattern):
    """How many directions are pushed through a function, and how many times that runs."""
    calls = []

    def watched(x):
        calls.append(1)
        return f(note_p.bind(x))

    noted.clear()
    sparse_jacobian(watched, pattern)(jnp.linspace(-1.0, 1.0, pattern.shape[1]))
    return sum(noted) / pattern.shape[1] - len(calls), len(calls)


exercise("vmap.open")

sparse_jacobian = yours("open_vmap.sparse_jacobian")


def test_random_patterns():
    """With any pattern, the Jacobian is the one that jacfwd computes."""
    rng = np.random.default_rng(7)
    for seed in range(20):
        rows, columns = rng.integers(1, 8, 2)
        pattern = rng.random((rows, columns)) < rng.random()
        f, x = function_of(pattern, seed), jnp.array(rng.normal(size=columns))
        assert_allclose(sparse_jacobian(f, pattern)(x), jacfwd(f)(x), 1e-9, 1e-9)


def test_pattern_with_more_than_is_needed():
    """The pattern may be True at entries that are zero."""
    x = jnp.array([1.0, 2.0, 3.0])
    for pattern in (np.eye(3, dtype=bool), band(3, 3, 1, 0), np.ones((3, 3), bool)):
        assert_allclose(sparse_jacobian(lambda x: x * x, pattern)(x), np.diag([2.0, 4.0, 6.0]))


def test_directions_of_bands():
    """A band of k diagonals takes at most k directions, and the function runs once."""
    for below, above in [(0, 0), (1, 1), (0, 2), (3, 1)]:
        for columns in (30, 33):
            pattern = band(30, columns, below, above)
            count, calls = directions(function_of(pattern), pattern)
            assert 1 <= count <= below + above + 1, f"It takes {count} directions."
            assert calls == 1


def test_directions_of_single_entries():
    """If each row has a single entry, one direction is enough."""
    pattern = np.zeros((12, 20), bool)
    pattern[np.arange(12), np.random.default_rng(1).integers(0, 20, 12)] = True
    assert directions(function_of(pattern), pattern) == (1.0, 1)


def test_shape_and_dtype():
    """The result is an array with the shape of the pattern, and the dtype of the function's."""
    out = sparse_jacobian(lambda x: x * 3.0, np.eye(2, dtype=bool))(jnp.ones(2, "float32"))
    assert out.dtype == np.float32
    assert out.tolist() == [[3.0, 0.0], [0.0, 3.0]]
    nothing = sparse_jacobian(lambda x: jnp.ones(3), np.zeros((3, 2), bool))(jnp.ones(2))
    assert nothing.tolist() == [[0.0, 0.0]] * 3


exercise("vmap.repair")

polyval = yours("repair_vmap.polyval")


def each(f, in_axes, *args):
    """A loop over the examples."""
    size = next(x.shape[i] for x, i in zip(args, in_axes, strict=True) if i is not None)
    rows = [[x if i is None else np.take(x, n, i) for x, i in zip(args, in_axes, strict=True)]
            for n in range(size)]  # fmt: skip
    return np.stack([f(*row) for row in rows])


def values(*shape):
    """An array of numbers, all different."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape))).reshape(shape)


@pytest.mark.parametrize("shape", [(), (3,), (4,), (2, 3), (3, 3)])
def test_polynomials_of_any_shape(shape):
    """Three polynomials, three arrays, or both: `vmap` returns what a loop returns."""
    for coefficients, first in [(values(2), None), (values(3, 2), 0), (values(2, 3), 1)]:
        for second in [None, *range(len(shape) + 1)]:
            if (first, second) != (None, None):
                x = values(*shape)
                if second is not None:
                    x = np.stack([x, -x, x * x], second)
                axes = (first, second)
                assert_allclose(
                    vmap(polyval, axes)(coefficients, x), each(polyval, axes, coefficients, x)
                )


def test_vmap_of_vmap():
    """All polynomials at all points, in either order."""
    coefficients, x = values(4, 2), values(3, 4)
    table = np.stack([[polyval(c, row) for row in x] for c in coefficients])
    rows = vmap(vmap(polyval, (None, 0)), (0, None))
    columns = vmap(vmap(polyval, (0, None)), (None, 0), 1)
    assert_allclose(rows(coefficients, x), table)
    assert_allclose(columns(coefficients, x), table)
    both = vmap(vmap(polyval, (0, None)), (0, None))
    assert_allclose(both(np.stack([coefficients] * 2), x[0]), np.stack([table[:, 0]] * 2))


def test_single_polynomials():
    """Without `vmap`, and for numbers, everything is right."""
    assert polyval(np.array([2.0, 0.0, 1.0]), 3.0) == 19.0
    assert_allclose(vmap(polyval)(values(3, 2), values(3)), values(3, 2)[:, 0] * values(3)
                    + values(3, 2)[:, 1])  # fmt: skip
