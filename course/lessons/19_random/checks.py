"""Checks of the `random` lesson, for you to read and to run: `./jaxprentice check random`.

Each exercise has a few. If your function calls what another exercise asks for, that one is replaced
by a small function here, so do the exercises in any order.
"""

from unittest.mock import patch

import numpy as np
import pytest

import minijax.numpy as jnp
from minijax import jit, random, vmap
from minijax.random import (
    drawn,
    random_bits,
    remainder_of_pair,
    rotate_left,
    shuffled,
    split_words,
    threefry_2x32,
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


def toy_hash(words, x0, x1):
    """A bad hash, but one that you can compute in your head."""
    return x1 + words[0], x1 * np.uint32(10) + words[1]


def toy_split(words, shape):
    """Keys that are easy to follow."""
    return np.stack([np.asarray(words) + np.uint32(i) for i in range(1, 3)])


def toy_bits(words, width, shape):
    """Bits of which the last element has the least."""
    count = int(np.prod(shape, dtype=int))
    bits = np.arange(count, 0, -1, dtype=np.uint32).reshape(shape)
    return bits * np.where(np.asarray(words)[0] % 2 == 0, np.uint32(1), np.uint32(2**32 - 1))


# rotate_left --------------------------------------------------------------------------------------


@pytest.mark.exercise("random.rotate_left")
def test_bits_go_around():
    """A bit that leaves at the top comes in at the bottom."""
    got = rotate_left(np.array([1, 0x80000000, 0x80000001], np.uint32), 4)
    assert hexadecimal(*got) == ["0x10", "0x8", "0x18"]


@pytest.mark.exercise("random.rotate_left")
def test_long_ways_around():
    """The distance may be up to 31, and the result has 32 bits."""
    got = rotate_left(np.uint32(0x12345678), 28)
    assert (hexadecimal(got), got.dtype) == (["0x81234567"], np.uint32)
    assert hexadecimal(jit(lambda x: rotate_left(x, 31))(np.uint32(1))) == ["0x80000000"]


# threefry_2x32 ------------------------------------------------------------------------------------


@pytest.mark.exercise("random.threefry")
def test_answers_of_the_authors():
    """The hashes are those that the authors of threefry published."""
    zero, ones = np.uint32(0), np.uint32(0xFFFFFFFF)
    with patch.object(random, "rotate_left", toy_rotate):
        first = threefry_2x32(np.array([zero, zero]), zero, zero)
        second = threefry_2x32(np.array([ones, ones]), ones, ones)
        third = threefry_2x32(KEY, np.uint32(0x243F6A88), np.uint32(0x85A308D3))
    assert hexadecimal(*first) == ["0x6b200159", "0x99ba4efe"]
    assert hexadecimal(*second) == ["0x1cb996fc", "0xbb002be7"]
    assert hexadecimal(*third) == ["0xc4923a9c", "0x483df7a0"]


@pytest.mark.exercise("random.threefry")
def test_many_counters():
    """Counters in arrays have their hashes in arrays of the same shape."""
    with patch.object(random, "rotate_left", toy_rotate):
        x0, x1 = threefry_2x32(KEY, np.zeros((2, 1), np.uint32), np.array([[0], [1]], np.uint32))
    assert x0.shape == x1.shape == (2, 1)
    assert hexadecimal(x0[0, 0], x1[1, 0]) == ["0x41485429", "0x1a231911"]


# split_words --------------------------------------------------------------------------------------


@pytest.mark.exercise("random.split")
def test_a_key_for_each_counter():
    """Key number n is the hash of n, with its two words side by side."""
    with patch.object(random, "threefry_2x32", toy_hash):
        keys = split_words(np.array([5, 7], np.uint32), (3,))
    assert np.asarray(keys).tolist() == [[5, 7], [6, 17], [7, 27]]


@pytest.mark.exercise("random.split")
def test_shapes_of_keys():
    """There may be an array of keys, or a single one."""
    with patch.object(random, "threefry_2x32", toy_hash):
        grid, one = (split_words(np.array([5, 7], np.uint32), shape) for shape in ((2, 3), ()))
    assert np.asarray(grid)[1].tolist() == [[8, 37], [9, 47], [10, 57]]
    assert np.asarray(one).tolist() == [5, 7]


# random_bits --------------------------------------------------------------------------------------


@pytest.mark.exercise("random.bits")
def test_widths():
    """32 bits and fewer are made of the exclusive or, and 64 of both words, the first above."""
    words = np.array([2**31, 300], np.uint32)
    with patch.object(random, "threefry_2x32", toy_hash):
        bits = {width: random_bits(words, width, (2,)) for width in (8, 16, 32, 64)}
    assert hexadecimal(*bits[32]) == ["0x8000012c", "0x80000137"]
    assert hexadecimal(*bits[8]) == ["0x2c", "0x37"]
    assert hexadecimal(*bits[64]) == ["0x800000000000012c", "0x8000000100000136"]
    assert [x.dtype.name for x in bits.values()] == ["uint8", "uint16", "uint32", "uint64"]


@pytest.mark.exercise("random.bits")
def test_bits_for_many_keys():
    """Under `vmap` each key makes bits of its own."""
    keys = np.array([[5, 7], [6, 7]], np.uint32)
    with patch.object(random, "threefry_2x32", toy_hash):
        bits = vmap(lambda key: random_bits(key, 16, (2,)))(keys)
    assert np.asarray(bits).tolist() == [[2, 23], [1, 22]]


# unit_floats --------------------------------------------------------------------------------------


@pytest.mark.exercise("random.floats")
def test_digits_after_the_point():
    """The upper bits are the digits after the point, in base two."""
    bits = np.array([0, 2**31, 2**30 + 2**29, 2**9, 2**8], np.uint32)
    assert np.asarray(unit_floats(bits, "float32")).tolist() == [0, 0.5, 0.375, 2**-23, 0]
    wide = np.array([2**63, 2**12, 2**11], np.uint64)
    assert np.asarray(unit_floats(wide, "float64")).tolist() == [0.5, 2**-52, 0.0]


@pytest.mark.exercise("random.floats")
def test_never_one():
    """Even the largest number makes a float below 1, in every precision."""
    for dtype, uint in [("float64", "uint64"), ("float32", "uint32"), ("float16", "uint16")]:
        largest = unit_floats(np.array([np.iinfo(uint).max], uint), dtype)
        assert float(largest[0]) == 1 - 2.0 ** -np.finfo(dtype).nmant
        assert largest.dtype == dtype


# remainder_of_pair --------------------------------------------------------------------------------


def remainders(dtype, pairs, span):
    """The remainders of some pairs by one span."""
    upper, lower = np.array(pairs, dtype).T
    return np.asarray(remainder_of_pair(upper, lower, np.full(len(pairs), span, dtype))).tolist()


@pytest.mark.exercise("random.remainder")
def test_remainders_of_64_bits():
    """The two numbers together are one, and its remainder is exact."""
    pairs = [(1, 6), (0, 6), (2**32 - 1, 2**32 - 1), (12345, 678)]
    for span in (1, 10, 1000, 65536):
        want = [(upper * 2**32 + lower) % span for upper, lower in pairs]
        assert remainders("uint32", pairs, span) == want


@pytest.mark.exercise("random.remainder")
def test_remainders_of_128_bits():
    """Remainders are right for numbers with 64 bits, too, for which there is no larger dtype."""
    pairs = [(1, 6), (2**64 - 1, 2**64 - 1), (12345, 678)]
    for span in (7, 10**9, 2**32):
        want = [(upper * 2**64 + lower) % span for upper, lower in pairs]
        assert remainders("uint64", pairs, span) == want


@pytest.mark.exercise("random.remainder")
def test_spans_that_are_large():
    """For a larger span only the lower number counts, and a span of 0 leaves it as it is."""
    pairs = [(1, 6), (3, 2**32 - 1)]
    assert remainders("uint32", pairs, 2**31 + 1) == [6, 2**31 - 2]
    assert remainders("uint32", pairs, 65537) == [6, 0]
    assert remainders("uint32", pairs, 0) == [6, 2**32 - 1]


# shuffled -----------------------------------------------------------------------------------------


def with_toys(x, axis):
    """Shuffle with keys and bits that are easy to follow."""
    with (
        patch.object(random, "split_words", toy_split),
        patch.object(random, "random_bits", toy_bits),
    ):
        return np.asarray(shuffled(np.array([0, 0], np.uint32), x, axis)).tolist()


@pytest.mark.exercise("random.shuffle")
def test_sorted_by_the_bits():
    """The elements come in the order of the bits that the second of the two new keys makes."""
    assert with_toys(np.array([10, 20, 30]), 0) == [30, 20, 10]
    assert with_toys(np.array([[1, 2], [3, 4]]), 1) == [[2, 1], [4, 3]]


@pytest.mark.exercise("random.shuffle")
def test_rounds():
    """2000 elements take two rounds, and one element takes none; the first new key goes on."""
    with patch.object(random, "split_words", toy_split):
        seen = []
        with patch.object(
            random, "random_bits", lambda *args: seen.append(args) or toy_bits(*args)
        ):
            shuffled(np.array([0, 0], np.uint32), np.arange(2000), 0)
            shuffled(np.array([0, 0], np.uint32), np.arange(1), 0)
    assert [(np.asarray(words).tolist(), *rest) for words, *rest in seen] == [
        ([2, 2], 32, (2000,)),
        ([3, 3], 32, (2000,)),
    ]


# drawn --------------------------------------------------------------------------------------------


def toy_noise(words, shape, dtype, mode):
    """Noise that counts up, and then down, along the last axis."""
    assert isinstance(shape, tuple)
    noise = np.zeros(shape, dtype)
    noise[..., 0] = np.arange(noise[..., 0].size).reshape(shape[:-1])
    return jnp.asarray(noise)


@pytest.mark.exercise("random.draw")
def test_the_largest_with_its_noise():
    """Each draw has noise of its own, which may make an unlikely one the largest."""
    logits = np.array([0.0, 2.5, 1.0])
    with patch.object(random, "gumbel_floats", toy_noise):
        found = drawn(KEY, logits, -1, (5, 3), None)
    assert np.asarray(found).tolist() == [1, 1, 1, 0, 0]


@pytest.mark.exercise("random.draw")
def test_draws_along_another_axis():
    """The axis that is drawn from may be the first."""
    logits = np.array([[0.5, 9.0], [1.0, 0.0]], "float32")
    with patch.object(random, "gumbel_floats", toy_noise):
        found = drawn(KEY, logits, -2, (2, 2), None)
    assert (np.asarray(found).tolist(), found.dtype.name) == ([1, 0], "int64")
