"""Checks of what lies beyond the exercises: `./jaxprentice check pmap.open` and `pmap.repair`.

There is one device here, so `vmap` with a named axis does what several of them would do.
"""

from unittest.mock import patch

import numpy as np
import pytest
from checking import exercise, yours
from numpy.testing import assert_allclose
from random_programs import for_programs, numbers, results_of

import minijax.numpy as jnp
from minijax import grad, jvp, lax, vmap
from minijax.core import get_aval
from minijax.jaxpr import raise_to_shaped
from minijax.collectives import Collective
from minijax.pmap import inside
from minijax.tracing import trace_to_jaxpr

PERMS = {
    "a ring": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "a pair and two that stay": [(0, 1), (1, 0), (2, 2), (3, 3)],
    "one message": [(3, 1)],
}
ROWS = np.sin(np.arange(24.0)).reshape(4, 2, 3)


def received(x, perm):
    """What each example gets, by NumPy."""
    out = np.zeros_like(x)
    for source, target in perm:
        out[target] = x[source]
    return out


exercise("pmap.open")

ppermute = yours("open_pmap.ppermute")
ring_sum = yours("open_pmap.ring_sum")


@pytest.mark.parametrize("perm", PERMS.values(), ids=PERMS)
def test_messages_arrive(perm):
    """Each example gets what it should get, whatever the batch axes are."""

    def sent(x):
        return ppermute(x, "i", perm)

    assert_allclose(vmap(sent, axis_name="i")(ROWS), received(ROWS, perm))
    assert_allclose(
        vmap(sent, in_axes=1, axis_name="i")(np.swapaxes(ROWS, 0, 1)), received(ROWS, perm)
    )
    inner = vmap(vmap(sent, axis_name="j"), in_axes=0, axis_name="i")
    assert_allclose(inner(ROWS), received(ROWS, perm))
    outer = vmap(vmap(sent, in_axes=0, axis_name="i"), in_axes=1, axis_name="j")
    assert_allclose(np.swapaxes(outer(ROWS), 0, 1), received(ROWS, perm))


@pytest.mark.parametrize("perm", PERMS.values(), ids=PERMS)
def test_messages_are_linear(perm):
    """A tangent is sent as a value is, and a cotangent the other way."""
    sent = vmap(lambda x: ppermute(x, "i", perm), axis_name="i")
    _, moved = jvp(sent, (ROWS,), (ROWS * ROWS,))
    assert_allclose(moved, received(ROWS * ROWS, perm))
    weights = np.cos(np.arange(24.0)).reshape(ROWS.shape)
    back = grad(lambda x: jnp.sum(sent(x) * weights))(ROWS)
    assert_allclose(back, received(weights, [(target, source) for source, target in perm]))


@for_programs(seed="pmap.open", dtypes=["float64"], number=5, steps=4)
def test_sums_of_random_programs(f, xs):
    """The sum round the ring is the sum, for values of random programs of any shape."""
    batch = [np.stack([x, x + 0.125, x - 0.25]) for x in xs]

    def sums(add):
        return vmap(lambda *ys: [add(y, "i") for y in results_of(f(*ys))], axis_name="i")(*batch)

    assert numbers(sums(ring_sum)) == numbers(sums(lax.psum))


@pytest.mark.parametrize("shape", [(), (5,), (4, 3)], ids=["number", "5", "4x3"])
def test_gradients_of_sums(shape):
    """The gradient of the sum is the one that `psum` has, and the dtype stays."""
    x = np.sin(np.arange(4.0 * np.prod(shape, dtype=int))).reshape(4, *shape)

    def total(x, add):
        shares = vmap(lambda x: x * add(x * x, "i"), axis_name="i")(x)
        return jnp.sum(shares * shares)

    assert_allclose(grad(total)(x, ring_sum), grad(total)(x, lax.psum))
    small = vmap(lambda x: ring_sum(x, "i"), axis_name="i")(x.astype("float32"))
    assert small.dtype == np.float32


@pytest.mark.parametrize("shape", [(), (5,), (4, 3)], ids=["number", "5", "4x3"])
def test_small_messages_to_the_next(shape):
    """Each of n examples sends 2 * (n - 1) messages, to the next one, of one part of n each."""
    import open_pmap

    send, messages = open_pmap.ppermute, []

    def noted(x, axis_name, perm):
        messages.append((get_aval(x).shape, sorted(perm)))
        return send(x, axis_name, perm)

    aval = raise_to_shaped(get_aval(np.ones(shape)))
    with patch("open_pmap.ppermute", noted), inside("i", 4):
        program = trace_to_jaxpr(lambda x: [open_pmap.ring_sum(x, "i")], [aval])
    assert len(messages) == 6
    assert all(perm == sorted(PERMS["a ring"]) for _, perm in messages)
    assert max(np.prod(sent, dtype=int) for sent, _ in messages) <= -(-np.prod(shape) // 4)
    collectives = [e.primitive.name for e in program.eqns if isinstance(e.primitive, Collective)]
    assert len(collectives) - collectives.count("axis_index") == 6


exercise("pmap.repair")

standardize = yours("repair_pmap.standardize")


def in_parts(data, counts):
    """The rows of the data that are standardized, cut into parts of so many rows."""
    ends = np.cumsum(counts)
    parts = np.full((len(counts), max(counts), data.shape[1]), 7.0)
    for part, end, count in zip(parts, ends, counts, strict=True):
        part[:count] = data[end - count : end]
    outs = vmap(lambda x, n: standardize(x, n, "i"), axis_name="i")(parts, np.array(counts))
    for out, count in zip(np.asarray(outs), counts, strict=True):
        assert_allclose(out[count:], 0.0)
    return np.concatenate([out[:n] for out, n in zip(np.asarray(outs), counts, strict=True)])


DATA = np.random.default_rng(16).normal(size=(12, 3)) ** 3


@pytest.mark.parametrize("counts", [(12,), (3, 3, 3, 3), (6, 6)], ids=str)
def test_equal_parts(counts):
    """Data in equal parts have the mean 0 and the variance 1."""
    out = in_parts(DATA, counts)
    assert_allclose(out, (DATA - DATA.mean(0)) / DATA.std(0))


@pytest.mark.parametrize("counts", [(1, 11), (5, 3, 4), (2, 0, 9, 1)], ids=str)
def test_any_parts(counts):
    """However the data are cut, a row becomes the same."""
    assert_allclose(in_parts(DATA, counts), (DATA - DATA.mean(0)) / DATA.std(0))


def test_any_number_of_parts():
    """The result is the same wherever the data are cut."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        cuts = np.sort(rng.integers(0, 13, rng.integers(0, 5)))
        counts = np.diff([0, *cuts, 12])
        assert_allclose(in_parts(DATA, tuple(counts)), (DATA - DATA.mean(0)) / DATA.std(0))
