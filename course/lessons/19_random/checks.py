"""Checks of the `random` lesson, for you to read and to run: `./jaxprentice check random`.

Each exercise has a few. If your function calls what another exercise asks for, that one is replaced
by a small function here, so do the exercises in any order.
"""

from unittest.mock import patch

import numpy as np
from checking import exercise

import minijax.numpy as jnp
from minijax import random_numbers as numbers
from minijax.random_numbers import (
    drawn_apart,
    remainder_of_pair,
    threefry_2x32,
    truncated_floats,
    unit_floats,
)

KEY = np.array([0x13198A2E, 0x03707344], np.uint32)


def hexadecimal(*numbers):
    """Numbers as Python writes them in base 16."""
    return [hex(int(n)) for n in numbers]


def toy_rotate(x, distance):
    """What `rotate_left` should be, for one number and without our arrays."""
    x = np.asarray(x, np.uint64)
    return ((x << np.uint64(distance) | x >> np.uint64(32 - distance)) % 2**32).astype(np.uint32)


exercise("random.threefry")


def test_answers_of_the_authors():
    """The hashes are those that the authors of threefry published."""
    zero, ones = np.uint32(0), np.uint32(0xFFFFFFFF)
    with patch.object(numbers, "rotate_left", toy_rotate):
        first = threefry_2x32(np.array([zero, zero]), zero, zero)
        second = threefry_2x32(np.array([ones, ones]), ones, ones)
        third = threefry_2x32(KEY, np.uint32(0x243F6A88), np.uint32(0x85A308D3))
    assert hexadecimal(*first) == ["0x6b200159", "0x99ba4efe"]
    assert hexadecimal(*second) == ["0x1cb996fc", "0xbb002be7"]
    assert hexadecimal(*third) == ["0xc4923a9c", "0x483df7a0"]


def test_many_counters():
    """Counters in arrays have their hashes in arrays of the same shape."""
    with patch.object(numbers, "rotate_left", toy_rotate):
        x0, x1 = threefry_2x32(KEY, np.zeros((2, 1), np.uint32), np.array([[0], [1]], np.uint32))
    assert x0.shape == x1.shape == (2, 1)
    assert hexadecimal(x0[0, 0], x1[1, 0]) == ["0x41485429", "0x1a231911"]


exercise("random.floats")


def test_digits_after_the_point():
    """The upper bits are the digits after the point, in base two."""
    bits = np.array([0, 2**31, 2**30 + 2**29, 2**9, 2**8], np.uint32)
    assert np.asarray(unit_floats(bits, np.float32)).tolist() == [0, 0.5, 0.375, 2**-23, 0]
    wide = np.array([2**63, 2**12, 2**11], np.uint64)
    assert np.asarray(unit_floats(wide, np.float64)).tolist() == [0.5, 2**-52, 0.0]


def test_never_one():
    """Even the largest number makes a float below 1, in every precision."""
    kinds = (np.float64, np.uint64), (np.float32, np.uint32), (np.float16, np.uint16)
    for dtype, uint in kinds:
        largest = unit_floats(np.array([np.iinfo(uint).max], uint), dtype)
        assert float(largest[0]) == 1 - 2.0 ** -np.finfo(dtype).nmant
        assert largest.dtype == dtype


exercise("random.remainder")


def remainders(dtype, pairs, span):
    """The remainders of some pairs by one span."""
    upper, lower = np.array(pairs, dtype).T
    return np.asarray(remainder_of_pair(upper, lower, np.full(len(pairs), span, dtype))).tolist()


def test_remainders_of_64_bits():
    """The two numbers together are one, and its remainder is exact."""
    pairs = [(1, 6), (0, 6), (2**32 - 1, 2**32 - 1), (12345, 678)]
    for span in (1, 10, 1000, 65536):
        want = [(upper * 2**32 + lower) % span for upper, lower in pairs]
        assert remainders("uint32", pairs, span) == want


def test_remainders_of_128_bits():
    """Remainders are right for numbers with 64 bits, too, for which there is no larger dtype."""
    pairs = [(1, 6), (2**64 - 1, 2**64 - 1), (12345, 678)]
    for span in (7, 10**9, 2**32):
        want = [(upper * 2**64 + lower) % span for upper, lower in pairs]
        assert remainders("uint64", pairs, span) == want


def test_spans_that_are_large():
    """For a larger span only the lower number counts, and a span of 0 leaves it unchanged."""
    pairs = [(1, 6), (3, 2**32 - 1)]
    assert remainders("uint32", pairs, 2**31 + 1) == [6, 2**31 - 2]
    assert remainders("uint32", pairs, 65537) == [6, 0]
    assert remainders("uint32", pairs, 0) == [6, 2**32 - 1]


exercise("random.truncated")


def between(lower, upper, dtype="float64"):
    """Two thousand numbers between bounds."""
    return np.asarray(truncated_floats(KEY, lower, upper, (2000,), np.dtype(dtype)))


def test_numbers_between_bounds():
    """All numbers are between the bounds, even if there is little room."""
    for lower, upper in [(-1.0, 2.0), (1.0, 1.0000004), (30.0, 31.0)]:
        found = between(np.float32(lower), np.float32(upper), "float32")
        assert found.dtype == np.float32
        assert (np.float32(lower) < found).all()
        assert (found < np.float32(upper)).all()


def test_numbers_are_normal():
    """They have the mean of normal numbers between these bounds."""
    assert abs(between(-9.0, 9.0).mean()) < 0.1
    assert abs(between(0.0, 9.0).mean() - 0.798) < 0.05
    assert abs(between(1.0, 2.0).mean() - 1.383) < 0.03


exercise("random.apart")


def toy_noise(words, shape, dtype, mode):
    """Noise that is zero for the first, and less for each one after it."""
    assert isinstance(shape, tuple)
    return jnp.asarray(-np.arange(np.prod(shape, dtype=int)).reshape(shape), dtype)


def apart(logits, axis, shape):
    """The draws with that noise."""
    with patch.object(numbers, "gumbel_floats", toy_noise):
        return np.asarray(drawn_apart(KEY, np.array(logits), axis, shape, None)).tolist()


def test_the_largest_one_after_the_other():
    """The first draw has the largest sum of logit and noise, and the second the next largest."""
    assert apart([0.0, 3.5, 1.5], -1, (3,)) == [1, 0, 2]
    assert apart([0.0, 3.5, 1.5], -1, (2,)) == [1, 0]
    assert apart([0.0, 3.5, 1.5], -1, ()) == 1


def test_draws_for_each_row():
    """The draws come first, and then the axes of the logits that are not drawn from."""
    logits = [[0.0, 3.5, 1.5], [0.0, 0.5, 3.0]]
    assert apart(logits, -1, (2, 2)) == [[1, 2], [0, 0]]
    assert apart(logits, -2, (2, 3)) == [[0, 0, 0], [1, 1, 1]]
    assert apart(logits, -1, (3, 1, 2)) == [[[1, 2]], [[0, 0]], [[2, 1]]]
