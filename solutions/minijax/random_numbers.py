"""Numbers from the words of a key: how `minijax.random` mixes bits and turns them into numbers.

Python's and NumPy's generators have a hidden state, which every call reads and changes. A program
that is traced once and run often, copied by `vmap` or run on many devices, cannot have that. So the
state is an argument: a *key*. A function of a key is an ordinary function, which returns the same
numbers for the same key, and `split` makes new keys out of one.

The numbers come from a *counter-based* generator, threefry-2x32 (J. Salmon and others, "Parallel
random numbers: as easy as 1, 2, 3", 2011). It is a function of two times 64 bits, a key and a
counter, whose result looks random: element number `n` of an array of random bits is
`threefry(key, n)`. Nothing has to be computed before it, so all of them are computed at once.

Everything is made of ordinary primitives, so that every transformation works without a rule of its
own. This file reads from top to bottom: the mixing of bits; bits, and numbers made of them; and
distributions. Keys as users have them are in `minijax/random_keys.py`, and the public functions in
`minijax/random.py`.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax import numpy as jnp
from minijax.core import Value, get_aval
from minijax.lax.basic import add, convert_element_type, div, gt, log, mul, neg, sub, transpose
from minijax.lax.bits import bitcast_convert_type, nextafter, shift_left, shift_right_logical
from minijax.lax.elementwise import bitwise_or, bitwise_xor, log1p, max, rem, stop_gradient
from minijax.lax.shapes import expand_dims, iota, reshape
from minijax.lax.sorting import sort, top_k
from minijax.lax.special import erf, erf_inv

# Mixing bits --------------------------------------------------------------------------------------

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)  # so that no key has three words of zeros


def rotate_left(x: Value, distance: int) -> Value:
    """The 32 bits of each element of `x`, a uint32, moved `distance` places to the left, in a ring.

    A bit that leaves at the top comes in at the bottom. `distance` is from 1 to 31.

    >>> print(hex(rotate_left(np.uint32(0x80000001), 4)))
    0x18
    """
    left = shift_left(x, np.uint32(distance))
    return bitwise_or(left, shift_right_logical(x, np.uint32(32 - distance)))


def threefry_2x32(words: Value, x0: Value, x1: Value) -> tuple[Any, Any]:
    """The hash threefry-2x32, as the lesson's page defines it: a pair of words for each counter.

    `words` is the key, a uint32 array of two words. The counters are `x0` and `x1`, their first and
    second words, in uint32 arrays of the same shape. Both results have this shape, and any operand
    may be a tracer.

    >>> zero = np.uint32(0)
    >>> print(*map(hex, threefry_2x32(np.zeros(2, np.uint32), zero, zero)))
    0x6b200159 0x99ba4efe
    """
    k0, k1 = words[0], words[1]
    schedule = [k0, k1, bitwise_xor(bitwise_xor(k0, k1), PARITY)]
    for j in range(6):
        x0 = add(x0, schedule[j % 3])
        x1 = add(x1, add(schedule[(j + 1) % 3], np.uint32(j)))
        for distance in ROTATIONS[j % 2] if j < 5 else ():
            x0 = add(x0, x1)
            x1 = bitwise_xor(rotate_left(x1, distance), x0)
    return x0, x1


def counters(shape: Sequence[int]) -> tuple[Any, Any]:
    """The numbers 0, 1, 2, ... of an array's elements, in two uint32 arrays of this shape.

    The first holds the upper 32 bits of each number, the second the lower ones.

    >>> counters((2, 3))[1]
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=uint32)
    """
    numbers = reshape(iota(np.uint64, math.prod(shape)), shape)
    upper = shift_right_logical(numbers, np.uint64(32))
    return convert_element_type(upper, np.uint32), convert_element_type(numbers, np.uint32)


# Keys as words ------------------------------------------------------------------------------------


def words_of_seed(seed: Value) -> Value:
    """The key of a seed, an integer: its upper 32 bits, and its lower ones.

    >>> words_of_seed(np.int64(5 * 2**32 + 7))
    Array([5, 7], dtype=uint32)
    """
    upper = shift_right_logical(seed, np.asarray(32, get_aval(seed).dtype))
    return jnp.stack([convert_element_type(x, np.uint32) for x in (upper, seed)])


def split_words(words: Value, shape: Sequence[int]) -> Value:
    """New keys, as many as an array of this shape has elements: uint32 of shape `(*shape, 2)`.

    Key number `n`, counted along the last axis first, is the hash of the counter `n`.

    >>> split_words(np.array([0, 42], np.uint32), (2,))
    Array([[1832780943,  270669613],
           [  64467757, 2916123636]], dtype=uint32)
    """
    return jnp.stack(threefry_2x32(words, *counters(shape)), -1)


def fold_in_words(words: Value, data: Value) -> Value:
    """A new key, for a key and an integer of 32 bits: the hash of that number, as a counter."""
    x0, x1 = words_of_seed(data)
    return jnp.stack(threefry_2x32(words, x0, x1))


# Bits, and numbers made of them -------------------------------------------------------------------


def random_bits(words: Value, width: int, shape: Sequence[int]) -> Value:
    """Random bits: an array of unsigned integers with `width` bits each, 8, 16, 32 or 64.

    Element number `n` is made of the two words of the hash of the counter `n`. With 64 bits, the
    first word is the upper half. With 32 bits, it is the exclusive or of the two; with fewer, the
    lowest `width` bits of that.

    >>> random_bits(np.array([0, 42], np.uint32), 32, (2,))
    Array([2098992034, 2919706841], dtype=uint32)
    """
    first, second = threefry_2x32(words, *counters(shape))
    dtype = np.dtype(f"uint{width}")
    if width < 64:
        return convert_element_type(bitwise_xor(first, second), dtype)
    upper, lower = (convert_element_type(x, dtype) for x in (first, second))
    return bitwise_or(shift_left(upper, np.uint64(32)), lower)


def unit_floats(bits: Value, dtype: Any) -> Value:
    """Floats from 0 (included) to 1 (excluded), one for each element of `bits`.

    `bits` are unsigned integers with as many bits as the float type `dtype`. The uppermost of them
    are the binary digits of the result after the point: as many as the fraction of a float holds.
    The others are ignored.

    >>> unit_floats(np.array([0, 2**31, 2**32 - 1], np.uint32), np.float32)
    Array([0.       , 0.5      , 0.9999999], dtype=float32)
    """
    dtype, own = np.dtype(dtype), get_aval(bits).dtype
    unused = np.asarray(8 * own.itemsize - np.finfo(dtype).nmant, own)
    one = np.ones((), dtype)
    from_1_to_2 = bitwise_or(shift_right_logical(bits, unused), one.view(own))
    return sub(bitcast_convert_type(from_1_to_2, dtype), one)


def remainder_of_pair(upper: Value, lower: Value, span: Value) -> Value:
    """The remainder of `upper * 2**n + lower` over `span`: unsigned integers of `n` bits, 32 or 64.

    The operands have the same dtype and shape, and so does the result. If `span` is larger than
    `2**(n // 2)`, the result is the remainder of `lower` alone. A `span` of 0 stands for `2**n`.

    >>> print(remainder_of_pair(np.uint32(1), np.uint32(6), np.uint32(10)))  # 4294967302 % 10
    2
    """
    half = np.asarray(2 ** (4 * get_aval(span).dtype.itemsize), get_aval(span).dtype)
    multiplier = rem(half, span)
    multiplier = rem(mul(multiplier, multiplier), span)
    return rem(add(mul(rem(upper, span), multiplier), rem(lower, span)), span)


# Distributions: functions of a key's words --------------------------------------------------------


def uniform_floats(words: Value, low: Value, high: Value, shape: Any, dtype: Any) -> Value:
    """Floats from `low` (included) to `high` (excluded)."""
    floats = unit_floats(random_bits(words, 8 * dtype.itemsize, shape), dtype)
    low, high = (stretched(convert_element_type(x, dtype), shape) for x in (low, high))
    return max(low, add(mul(floats, sub(high, low)), low))


def stretched(x: Value, shape: Sequence[int]) -> Value:
    """`x` with as many axes as `shape` has; 0-d arrays stay so."""
    missing = len(shape) - jnp.ndim(x)
    return expand_dims(x, range(missing)) if missing and jnp.ndim(x) else x


def normal_floats(words: Value, shape: Any, dtype: Any) -> Value:
    """Normal numbers: those whose error function is uniform between -1 and 1."""
    above_minus_one = np.nextafter(np.array(-1, dtype), np.array(0, dtype))
    u = uniform_floats(words, above_minus_one, np.array(1, dtype), shape, dtype)
    return mul(np.sqrt(2).astype(dtype), erf_inv(u))


def truncated_floats(words: Value, lower: Value, upper: Value, shape: Any, dtype: Any) -> Value:
    """Normal numbers between two bounds: an array of this shape and float type.

    They are made as in `normal_floats`, but from uniform numbers between different bounds, one per
    result. Each result lies strictly between the bounds, even if it is rounded. Both bounds are
    numbers or arrays that broadcast to `shape`; the results can be differentiated with respect to
    them.

    >>> words = np.array([0, 42], np.uint32)
    >>> print(truncated_floats(words, 1.0, 2.0, (3,), np.dtype("float32")).round(4))
    [1.3271 1.5042 1.4402]
    """
    root = np.sqrt(2).astype(dtype)
    lower, upper = (convert_element_type(x, dtype) for x in (lower, upper))
    u = uniform_floats(words, erf(div(lower, root)), erf(div(upper, root)), shape, dtype)
    return jnp.clip(mul(root, erf_inv(u)), *nearest_inside(lower, upper, dtype))


def nearest_inside(lower: Value, upper: Value, dtype: Any) -> tuple[Value, Value]:
    """The least float above `lower`, and the largest below `upper`: constants, which do not move.

    >>> print(*nearest_inside(np.float32(1), np.float32(2), np.float32))
    1.0000001 1.9999999
    """
    above = nextafter(stop_gradient(lower), np.asarray(np.inf, dtype))
    return above, nextafter(stop_gradient(upper), np.asarray(-np.inf, dtype))


def gumbel_floats(words: Value, shape: Any, dtype: Any, mode: str | None) -> Value:
    """`-log(-log(u))` for uniform numbers `u`; for the mode "high", of twice as many bits."""
    if mode != "high":
        return neg(log(neg(log(uniform_floats(words, np.finfo(dtype).tiny, 1.0, shape, dtype)))))
    u = uniform_floats(words, 0.0, 1.0, (2, *shape), dtype)
    fine = u[0] + 2.0 ** -np.finfo(dtype).nmant * u[1] + np.finfo(dtype).tiny
    return neg(log(neg(log1p(neg(jnp.where(u[0] >= 0.5, u[0], fine))))))


def drawn(words: Value, logits: Value, axis: int, shape: Sequence[int], mode: str | None) -> Value:
    """Indices along `axis` of `logits`, drawn by `softmax(logits, axis)`: int64.

    `shape` is what `logits` broadcasts to before the draw, and the result has its axes without
    `axis`, a negative number.

    >>> drawn(np.array([0, 42], np.uint32), np.log(np.array([0.1, 0.9])), -1, (5, 2), None)
    Array([1, 1, 1, 1, 1], dtype=int64)
    """
    noise = gumbel_floats(words, tuple(shape), get_aval(logits).dtype, mode)
    return jnp.argmax(noise + logits, axis)


def drawn_apart(
    words: Value, logits: Value, axis: int, shape: Sequence[int], mode: str | None
) -> Value:
    """Like `drawn`, but in int32, and no index is drawn twice: all draws share one noise a logit.

    `shape` is the shape of the result: first the axes that count the draws, then those of `logits`
    without `axis`, a negative number. The first draw is what `drawn` would draw with this noise;
    each later draw is what it would draw if the earlier indices did not exist.

    >>> logits = np.log(np.array([0.1, 0.5, 0.4]))
    >>> drawn_apart(np.array([0, 42], np.uint32), logits, -1, (3,), None)
    Array([2, 1, 0], dtype=int32)
    """
    batch = len(get_aval(logits).shape) - 1
    count = math.prod(shape[: len(shape) - batch])
    noise = gumbel_floats(words, get_aval(logits).shape, get_aval(logits).dtype, mode)
    indices = top_k(jnp.moveaxis(noise + logits, axis, -1), count)[1]
    return jnp.reshape(transpose(indices, (batch, *range(batch))), shape)


def integers(words: Value, low: Value, high: Value, shape: Any, dtype: Any) -> Value:
    """Integers from `low` (included) to `high` (excluded), of 32 or 64 bits."""
    last = np.iinfo(dtype).max
    high_is_beyond = gt(high, clipped(np.asarray(last), get_aval(high).dtype))
    low, high = (stretched(clipped(x, dtype), shape) for x in (low, high))
    upper, lower = (random_bits(k, 8 * dtype.itemsize, shape) for k in split_words(words, (2,)))
    is_empty = jnp.less_equal(high, low)
    span = jnp.where(is_empty, 1, jnp.subtract(high, low).astype(upper.dtype))
    beyond = jnp.logical_and(stretched(high_is_beyond, shape), jnp.logical_not(is_empty))
    span = jnp.where(beyond, span + 1, span).astype(upper.dtype)
    found = remainder_of_pair(upper, lower, jnp.broadcast_to(span, shape))
    return jnp.add(low, found.astype(dtype))


def clipped(x: Value, dtype: Any) -> Value:
    """Integers in another dtype; those that it does not hold become the nearest that it holds."""
    own, info = np.iinfo(get_aval(x).dtype), np.iinfo(dtype)
    low, high = builtins.max(own.min, info.min), builtins.min(own.max, info.max)
    return jnp.clip(x, low, high).astype(dtype)


def rounds(size: int) -> int:
    """How many times to sort so many elements by 32 random bits, so that ties do not matter."""
    return math.ceil(3 * math.log(builtins.max(1, size)) / math.log(2**32 - 1))


def shuffled(words: Value, x: Value, axis: int) -> Value:
    """The elements of `x` in a random order along `axis`: each line of them in one of its own.

    In each of `rounds(x.size)` rounds the elements are sorted by 32 random bits, new ones for each
    element; those with equal bits keep their order. A round splits its key in two: the first is the
    key of the next round, and the second makes the bits.

    >>> shuffled(np.array([0, 42], np.uint32), np.array([10, 20, 30, 40]), 0)
    Array([30, 40, 10, 20], dtype=int64)
    """
    for _ in range(rounds(jnp.size(x))):
        words, own = split_words(words, (2,))
        _, x = sort((random_bits(own, 32, jnp.shape(x)), x), axis, num_keys=1)
    return x
