"""Random numbers from keys (`minijax.random`), bit for bit those of `jax.random`.

Python's and NumPy's generators have a hidden state, which every call reads and changes. A program
that is traced once and run often, copied by `vmap` or run on many devices, cannot have that. So the
state is an argument: a *key*. A function of a key is an ordinary function, which returns the same
numbers for the same key, and `split` makes new keys out of one.

The numbers come from a *counter-based* generator, threefry-2x32 (J. Salmon and others, "Parallel
random numbers: as easy as 1, 2, 3", 2011). It is a function of two times 64 bits, a key and a
counter, whose result looks random: element number `n` of an array of random bits is
`threefry(key, n)`. Nothing has to be computed before it, so all of them are computed at once.

All that stands here is made of ordinary primitives, so that every transformation works without a
rule of its own. This file reads from top to bottom: the mixing of bits; keys; bits, and numbers
made of them; distributions; and the public functions, which take keys of both kinds.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from minijax import dtypes
from minijax import numpy as jnp
from minijax.array import Array
from minijax.core import Tracer, Value, aval_makers, get_aval
from minijax.errors import ConcretizationTypeError
from minijax.jit import jit
from minijax.lax.basic import (
    add,
    convert_element_type,
    div,
    gt,
    log,
    mul,
    neg,
    sub,
    transpose,
)
from minijax.lax.bits import bitcast_convert_type, nextafter, shift_left, shift_right_logical
from minijax.lax.defining import scalar
from minijax.lax.elementwise import (
    abs,
    bitwise_or,
    bitwise_xor,
    log1p,
    max,
    rem,
    sign,
    stop_gradient,
)
from minijax.lax.shapes import expand_dims, iota, reshape
from minijax.lax.sorting import sort, top_k
from minijax.lax.special import erf, erf_inv, tan
from minijax.tree import NodeType, node_types

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "cauchy",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "key_data",
    "laplace",
    "logistic",
    "normal",
    "permutation",
    "rademacher",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
    "wrap_key_data",
]

# Mixing bits --------------------------------------------------------------------------------------

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)  # so that no key has three words of zeros


def rotate_left(x: Value, distance: int) -> Value:
    """The 32 bits of each element of `x`, a uint32, moved `distance` places to the left, in a ring.

    A bit that leaves at the top comes in at the bottom. `distance` is from 1 to 31.

    >>> print(hex(rotate_left(np.uint32(0x80000001), 4)))
    0x18
    """
    raise NotImplementedError("random.rotate_left")


def threefry_2x32(words: Value, x0: Value, x1: Value) -> tuple[Any, Any]:
    """The hash threefry-2x32: two words of random bits for each counter, a pair of words.

    `words` is the key, a uint32 array of two. `x0` and `x1`, the two words of the counters, are
    uint32 arrays of the same shape, which both results have. The definition, with sums modulo
    2**32, twenty rounds and six additions of the key, is on the lesson's page. Operands may be
    tracers.

    >>> zero = np.uint32(0)
    >>> print(*map(hex, threefry_2x32(np.zeros(2, np.uint32), zero, zero)))
    0x6b200159 0x99ba4efe
    """
    raise NotImplementedError("random.threefry")


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
    raise NotImplementedError("random.split")


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
    raise NotImplementedError("random.bits")


def unit_floats(bits: Value, dtype: Any) -> Value:
    """Floats from 0 (included) to 1 (excluded), one for each element of `bits`.

    `dtype` is a float type, and `bits` are unsigned integers with as many bits. The uppermost of
    them, as many as the fraction of a float holds, are the result's binary digits after the point.
    All results are multiples of the same power of two.

    >>> unit_floats(np.array([0, 2**31, 2**32 - 1], np.uint32), np.float32)
    Array([0.       , 0.5      , 0.9999999], dtype=float32)
    """
    raise NotImplementedError("random.floats")


def remainder_of_pair(upper: Value, lower: Value, span: Value) -> Value:
    """The remainder of `upper * 2**n + lower` by `span`: unsigned integers of `n` bits, 32 or 64.

    If `span` is larger than `2**(n // 2)`, or 0, which stands for `2**n`, `upper` does not count:
    the result is the remainder of `lower` alone. The operands have the same dtype and shape, and so
    does the result.

    >>> print(remainder_of_pair(np.uint32(1), np.uint32(6), np.uint32(10)))  # 4294967302 % 10
    2
    """
    raise NotImplementedError("random.remainder")


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
    """Normal numbers between two bounds, which are not among them."""
    root = np.sqrt(2).astype(dtype)
    lower, upper = (convert_element_type(x, dtype) for x in (lower, upper))
    u = uniform_floats(words, erf(div(lower, root)), erf(div(upper, root)), shape, dtype)
    inside = [
        nextafter(stop_gradient(bound), np.asarray(direction, dtype))
        for bound, direction in ((lower, np.inf), (upper, -np.inf))
    ]
    return jnp.clip(mul(root, erf_inv(u)), *inside)


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
    `axis`, a negative number. To each logit of that shape Gumbel's noise, with the logits' dtype
    and this `mode`, is added; the index of the largest sum is the result.

    >>> drawn(np.array([0, 42], np.uint32), np.log(np.array([0.1, 0.9])), -1, (5, 2), None)
    Array([1, 1, 1, 1, 1], dtype=int64)
    """
    raise NotImplementedError("random.draw")


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
    """How often to sort so many elements by 32 random bits each, so that ties do not matter."""
    return math.ceil(3 * math.log(builtins.max(1, size)) / math.log(2**32 - 1))


def shuffled(words: Value, x: Value, axis: int) -> Value:
    """The elements of `x` in a random order along `axis`: each line of them in one of its own.

    In each round two keys are made, the first for the rounds that follow. The other one's random
    bits, 32 for each element of `x`, are sorted along `axis`, and the elements of `x` go with them.
    Elements with equal bits keep their order. How many rounds there are depends on `x.size`.

    >>> shuffled(np.array([0, 42], np.uint32), np.array([10, 20, 30, 40]), 0)
    Array([30, 40, 10, 20], dtype=int64)
    """
    raise NotImplementedError("random.shuffle")


# Keys as users have them --------------------------------------------------------------------------


class KeyType:
    """The dtype of typed keys."""

    name = "key<fry>"
    itemsize = 8

    def __repr__(self) -> str:
        return self.name


class PRNGKeyArray(Array):
    """An array of typed keys, which no arithmetic takes for numbers.

    It is a container of one leaf, the keys' words: a uint32 array with one axis more. So every
    transformation takes it apart and puts it together again, and needs no rule for it, where a
    dtype of its own would be a case in each rule that moves elements. In return,
    `jax.tree.leaves(key)` is the words, jaxprs have no `random_bits`, and functions of `lax` and
    `jax.numpy` take no keys.
    """

    dtype = KeyType()  # type: ignore[assignment]

    def __init__(self, words: Any) -> None:
        self.words = words

    shape = property(lambda self: self.words.shape[:-1])

    def __getitem__(self, index: Any) -> PRNGKeyArray:
        parts = index if isinstance(index, tuple) else (index,)
        whole = (slice(None),) if any(part is Ellipsis for part in parts) else ()
        return PRNGKeyArray(self.words[(*parts, *whole)])

    def __iter__(self) -> Any:
        return map(PRNGKeyArray, self.words)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, PRNGKeyArray):
            return NotImplemented
        return jnp.all(jnp.equal(self.words, other.words), -1)

    __hash__ = None

    def reshape(self, *shape: Any) -> PRNGKeyArray:
        """The same keys in another shape."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return PRNGKeyArray(self.words.reshape((*sizes, 2)))

    def ravel(self) -> PRNGKeyArray:
        """All keys along one axis."""
        return self.reshape(-1)

    flatten = ravel

    def block_until_ready(self) -> PRNGKeyArray:
        """The keys, once they have been computed."""
        return PRNGKeyArray(self.words.block_until_ready())

    def __repr__(self) -> str:
        return f"Array({self.shape}, dtype={self.dtype}) overlaying:\n{self.words}"


def key_or_leaf(_: Any, children: Sequence[Any]) -> Any:
    """The container of words; what a function on trees has put in their place stays as it is."""
    (words,) = children
    are_words = getattr(words, "dtype", None) == np.uint32 and words.shape[-1:] == (2,)
    return PRNGKeyArray(words) if are_words else words


def refuse_arithmetic(keys: PRNGKeyArray) -> NoReturn:
    """A key has no value to compute with."""
    raise TypeError(f"A {keys.dtype} is not a number. Make numbers of it: random.normal(key).")


aval_makers[PRNGKeyArray] = refuse_arithmetic
node_types[PRNGKeyArray] = NodeType(lambda keys: ((keys.words,), None), key_or_leaf)


def words_of(name: str, key: Value, batched: bool = False) -> Any:
    """The words of a key of either kind; `TypeError` for what is not a key."""
    words = key.words if isinstance(key, PRNGKeyArray) else key
    if not isinstance(words, Array | np.ndarray):
        raise TypeError(f"{name} takes a key, made by jax.random.key(seed), not {key!r}.")
    if words.dtype != np.uint32 or words.shape[-1:] != (2,):
        raise TypeError(
            f"{name} takes a key, a uint32 array whose last axis has length 2, not "
            f"{words.dtype}{list(words.shape)}."
        )
    if len(words.shape) > 1 and not batched:
        raise ValueError(
            f"{name} takes a single key, not keys of shape {words.shape[:-1]}. Use vmap for many."
        )
    return words


def like(key: Value, words: Value) -> Any:
    """New words as a key of the kind that `key` is."""
    return PRNGKeyArray(words) if isinstance(key, PRNGKeyArray) else words


def check_implementation(impl: Any) -> None:
    """Only the default generator is here."""
    if impl in ("rbg", "unsafe_rbg"):
        raise NotImplementedError(f"minijax has the generator 'threefry2x32' only, not {impl!r}.")
    if impl not in (None, "threefry2x32") and not isinstance(impl, KeyType):
        raise ValueError(f"There is no generator {impl!r}. Use 'threefry2x32', or say nothing.")


def key(seed: Value, *, impl: Any = None) -> Any:
    """A typed key for a seed, an integer. Counterpart: `jax.random.key`.

    >>> key(7)
    Array((), dtype=key<fry>) overlaying:
    [0 7]
    """
    return PRNGKeyArray(PRNGKey(seed, impl=impl))


def PRNGKey(seed: Value, *, impl: Any = None) -> Any:
    """A key for a seed as a plain array: uint32, of shape (2,). Counterpart: `jax.random.PRNGKey`.

    >>> PRNGKey(7)
    Array([0, 7], dtype=uint32)
    """
    check_implementation(impl)
    aval = get_aval(seed)
    if aval.shape:
        raise TypeError(f"A seed is a number, not an array of shape {aval.shape}. Use vmap.")
    if aval.dtype.kind not in "iu":
        raise TypeError(f"A seed is an integer, not {aval.dtype.name}.")
    return words_of_seed(seed)


def wrap_key_data(key_bits_array: Value, *, impl: Any = None) -> Any:
    """Typed keys that have these words. Counterpart: `jax.random.wrap_key_data`."""
    check_implementation(impl)
    return PRNGKeyArray(words_of("wrap_key_data", key_bits_array, batched=True))


def key_data(keys: Value) -> Any:
    """The words of the keys: uint32, with a last axis of length 2."""
    return words_of("key_data", keys, batched=True)


# The public functions ----------------------------------------------------------------------------


@functools.cache
def compiled(function: Callable[..., Any], *static: int) -> Callable[..., Any]:
    """`function`, computed by XLA even outside `jit`.

    XLA may fuse a product with a sum, which changes the last bit of a float. JAX leaves the numbers
    to it, too, so both have the same bits.
    """
    return jit(function, static_argnums=static)


def split(key: Value, num: int | tuple[int, ...] = 2) -> Any:
    """New keys, `num` of them, or an array of this shape. Counterpart: `jax.random.split`.

    The results are independent of each other, and of what else is made of `key`; so do not use
    `key` for anything else.

    >>> key_data(split(key(42)))
    Array([[1832780943,  270669613],
           [  64467757, 2916123636]], dtype=uint32)
    """
    sizes = tuple(num) if isinstance(num, Sequence) else (num,)
    return like(key, compiled(split_words, 1)(words_of("split", key), shape_of(sizes)))


def fold_in(key: Value, data: Value) -> Any:
    """A new key for a key and a number, such as that of a step. Counterpart: `jax.random.fold_in`.

    >>> key_data(fold_in(key(42), 3))
    Array([3134548294,  894150801], dtype=uint32)
    """
    words = words_of("fold_in", key)
    if get_aval(data).shape:
        raise TypeError(f"fold_in takes a number, not an array of shape {get_aval(data).shape}.")
    return like(key, compiled(fold_in_words)(words, jnp.asarray(data, np.uint32)))


def shape_of(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of numbers that are known; a number is the length of the only axis."""
    shape = (shape,) if isinstance(shape, int) else shape
    if any(isinstance(n, Tracer) for n in shape):
        raise TypeError(f"Shapes must be known while a program is traced, got {shape}.")
    sizes = tuple(operator.index(n) for n in shape)
    if any(n < 0 for n in sizes):
        raise TypeError(f"A shape has no negative sizes, got {shape}.")
    return sizes


def float_dtype(name: str, dtype: Any) -> np.dtype:
    """The dtype of floats to be made: float64 if nothing is said."""
    found = dtypes.canonical(float if dtype is None else dtype)
    if not dtypes.is_float(found):
        raise ValueError(f"{name} makes floats, not {found.name}.")
    return found


def check_fits(
    name: str, shape: tuple[int, ...], *parameters: Value, mismatch: type[Exception] = TypeError
) -> None:
    """The parameters must broadcast to the shape of the result; JAX's errors differ by function."""
    shapes = [jnp.shape(x) for x in parameters]
    try:
        fits = np.broadcast_shapes(shape, *shapes) == shape
    except ValueError:
        raise mismatch(f"{name}: the shapes {shapes} and {shape} do not fit together.") from None
    if not fits:
        raise ValueError(f"{name}: parameters of shapes {shapes} do not broadcast to {shape}.")


def bits(key: Value, shape: Sequence[int] = (), dtype: Any = None) -> Value:
    """Random bits as unsigned integers; uint64 if no dtype is given.

    >>> bits(key(42), (2,), "uint8")
    Array([162, 217], dtype=uint8)
    """
    words, kind = words_of("bits", key), dtypes.canonical(np.uint64 if dtype is None else dtype)
    if kind.kind != "u":
        raise ValueError(f"bits makes unsigned integers, not {kind.name}.")
    return compiled(random_bits, 1, 2)(words, 8 * kind.itemsize, shape_of(shape))


def uniform(
    key: Value,
    shape: Sequence[int] = (),
    dtype: Any = None,
    minval: Value = 0.0,
    maxval: Value = 1.0,
) -> Value:
    """Floats between `minval` (included) and `maxval` (excluded)."""
    words, kind = words_of("uniform", key), float_dtype("uniform", dtype)
    sizes = shape_of(shape)
    check_fits("uniform", sizes, minval, maxval)
    return compiled(uniform_floats, 3, 4)(words, minval, maxval, sizes, kind)


def normal(key: Value, shape: Sequence[int] = (), dtype: Any = None) -> Value:
    """Numbers of the normal distribution with mean 0 and variance 1."""
    words, kind = words_of("normal", key), float_dtype("normal", dtype)
    return compiled(normal_floats, 1, 2)(words, shape_of(shape), kind)


def truncated_normal(
    key: Value, lower: Value, upper: Value, shape: Any = None, dtype: Any = None
) -> Value:
    """As `normal`, but only numbers between `lower` and `upper`."""
    words, kind = words_of("truncated_normal", key), float_dtype("truncated_normal", dtype)
    own = np.broadcast_shapes(jnp.shape(lower), jnp.shape(upper))
    sizes = own if shape is None else shape_of(shape)
    check_fits("truncated_normal", sizes, lower, upper)
    return compiled(truncated_floats, 3, 4)(words, lower, upper, sizes, kind)


def bernoulli(key: Value, p: Value = 0.5, shape: Any = None, mode: str = "low") -> Value:
    """Booleans, each true with probability `p`; of `p`'s shape if no shape is given."""
    words, aval = words_of("bernoulli", key), get_aval(p)
    if mode not in ("low", "high"):
        raise ValueError(f"mode is 'low' or 'high', not {mode!r}.")
    if not dtypes.is_float(aval.dtype):
        raise TypeError(f"A probability is a float, not {aval.dtype.name}.")
    sizes = aval.shape if shape is None else shape_of(shape)
    check_fits("bernoulli", sizes, p)
    return compiled(coins, 2, 3)(words, convert_element_type(p, aval.dtype), sizes, mode)


def coins(words: Value, p: Value, shape: Any, mode: str) -> Value:
    """Whether uniform numbers are below `p`; for the mode "high", numbers of twice as many bits."""
    dtype = get_aval(p).dtype
    if mode == "low":
        return jnp.less(uniform_floats(words, 0.0, 1.0, shape, dtype), p)
    u = uniform_floats(words, 0.0, 1.0, (2, *shape), dtype)
    return jnp.less(u[1] * 2.0 ** -np.finfo(dtype).nmant, p - u[0])


def randint(
    key: Value, shape: Sequence[int], minval: Value, maxval: Value, dtype: Any = None
) -> Value:
    """Integers from `minval` (included) to `maxval` (excluded)."""
    words, kind = words_of("randint", key), dtypes.canonical(int if dtype is None else dtype)
    if kind.kind not in "iu":
        raise TypeError(f"randint makes integers, not {kind.name}.")
    sizes, info = shape_of(shape), np.iinfo(kind)
    low, high = (jnp.asarray(x) for x in (minval, maxval))
    check_fits("randint", sizes, low, high)
    if info.bits < 32:  # a remainder of few bits would prefer small numbers
        low, high = (
            x.astype(np.int32).clip(info.min, info.max + i) for i, x in ((0, low), (1, high))
        )
    low, high = (x if x.dtype.kind in "iu" else x.astype(int) for x in (low, high))
    wide = np.dtype(np.int32) if info.bits < 32 else kind
    return compiled(integers, 3, 4)(words, low, high, sizes, wide).astype(kind)


def permutation(key: Value, x: Value, axis: int = 0, independent: bool = False) -> Value:
    """`x` in a random order along `axis`; a number stands for `arange` of it.

    With `independent`, each line along the axis has an order of its own.
    """
    words, rank = words_of("permutation", key), jnp.ndim(x)
    if not rank:
        return compiled(shuffled, 2)(words, jnp.arange(whole_number("permutation", x)), 0)
    axis = jnp_axis(axis, rank)
    if independent or rank == 1:
        return compiled(shuffled, 2)(words, x, axis)
    order = compiled(shuffled, 2)(words, jnp.arange(jnp.shape(x)[axis]), 0)
    return jnp.take(x, order, axis)


def whole_number(name: str, x: Value) -> int:
    """A number of Python's; it must be an integer, and known."""
    if isinstance(x, Tracer):
        raise ConcretizationTypeError(f"{name} takes a number that is known, not {x}.")
    if get_aval(x).dtype.kind not in "iu":
        raise TypeError(f"{name} takes an integer or an array with axes, not {x}.")
    return int(x)


def jnp_axis(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


def choice(
    key: Value,
    a: Value,
    shape: Sequence[int] = (),
    replace: bool = True,
    p: Value = None,
    axis: int = 0,
    mode: str | None = None,
) -> Value:
    """Elements of `a` along an axis, or numbers below `a`, chosen at random.

    `p` are their probabilities, which are equal if it is not given. Without `replace`, none is
    chosen twice.
    """
    words_of("choice", key)
    a, sizes = jnp.asarray(a), shape_of(tuple(shape))
    rank, draws = jnp.ndim(a), math.prod(sizes)
    axis = jnp_axis(axis, rank) if rank else 0
    count = jnp.shape(a)[axis] if rank else whole_number("choice", a)
    if not draws:
        return jnp.zeros(sizes, a.dtype)
    if count <= 0 or (not replace and draws > count):
        raise ValueError(f"choice cannot take {draws} of {count}, with replace={replace}.")
    if p is None and not replace:
        line = permutation(key, a if rank else count, axis)[(slice(None),) * axis + (slice(draws),)]
    else:
        indices = (
            randint(key, sizes, 0, count)
            if p is None
            else by_weight(key, p, count, sizes, replace, mode)
        )
        line = jnp.take(a, indices, axis) if rank else indices
    own = jnp.shape(a)
    return jnp.reshape(line, (*own[:axis], *sizes, *own[axis + 1 :]) if rank else sizes)


def by_weight(key: Value, p: Value, count: int, shape: Any, replace: bool, mode: Any) -> Value:
    """Indices with the probabilities `p`: where a uniform number falls in their running sum."""
    p = jnp.asarray(p)
    p = p if dtypes.is_float(p.dtype) else p.astype(float)
    if p.shape != (count,):
        raise ValueError(f"choice takes {count} probabilities, not an array of shape {p.shape}.")
    if replace:
        ends = jnp.cumsum(p)
        return jnp.searchsorted(ends, ends[-1] * (1 - uniform(key, shape, ends.dtype))).astype(int)
    noisy = gumbel(key, (count,), p.dtype, mode) + jnp.log(p)
    return top_k(noisy, math.prod(shape))[1].astype(int)


def gumbel(
    key: Value, shape: Sequence[int] = (), dtype: Any = None, mode: str | None = None
) -> Value:
    """Numbers of the Gumbel distribution: the largest of many of them has the same distribution."""
    words, kind = words_of("gumbel", key), float_dtype("gumbel", dtype)
    return compiled(gumbel_floats, 1, 2, 3)(words, shape_of(shape), kind, known_mode(mode))


def known_mode(mode: str | None) -> str | None:
    """How many random bits `gumbel` takes for a number."""
    if mode == "highest":
        raise NotImplementedError("minijax has the modes 'low' and 'high' only, not 'highest'.")
    if mode not in (None, "low", "high"):
        raise ValueError(f"mode is 'low' or 'high', not {mode!r}.")
    return mode


def categorical(
    key: Value,
    logits: Value,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: str | None = None,
) -> Value:
    """Indices along `axis`, each drawn with the probabilities `softmax(logits, axis)`.

    `shape` is that of the result: the logits' other axes, which it may stretch, and in front of
    them as many draws as you like. Without `replace`, these are all different.
    """
    words, logits = words_of("categorical", key), jnp.asarray(logits)
    axis = jnp_axis(axis, logits.ndim) - logits.ndim
    others = tuple(n for i, n in enumerate(logits.shape) if i != axis + logits.ndim)
    sizes = others if shape is None else shape_of(shape)
    check_fits("categorical", sizes, jnp.zeros(others), mismatch=ValueError)
    if not replace:
        return without_replacement(key, logits, axis, sizes, mode)
    noisy = list(sizes)
    noisy.insert(len(sizes) + 1 + axis, logits.shape[axis])
    return compiled(drawn, 2, 3, 4)(words, logits, axis, tuple(noisy), known_mode(mode))


def without_replacement(key: Value, logits: Value, axis: int, shape: Any, mode: Any) -> Value:
    """The indices of the largest logits with noise: as many as there are draws."""
    batch = logits.ndim - 1
    count = math.prod(shape[: len(shape) - batch])
    if count > logits.shape[axis]:
        raise ValueError(f"{count} of {logits.shape[axis]} cannot be drawn without replacement.")
    noisy = logits + gumbel(key, logits.shape, logits.dtype, mode)
    indices = top_k(jnp.moveaxis(noisy, axis, -1), count)[1]
    return jnp.reshape(transpose(indices, (batch, *range(batch))), shape)


proper = {"cauchy": "Cauchy", "laplace": "Laplace"}  # named after people


def by_inverse(
    name: str, inverse: Callable[[Any], Any], low: Callable[[Any], Any] = lambda info: 0.0
) -> Callable[..., Any]:
    """The sampler of a distribution: a function of uniform numbers between `low` and 1."""

    def floats(words: Value, shape: Any, dtype: Any) -> Value:
        return inverse(uniform_floats(words, low(np.finfo(dtype)), 1.0, shape, dtype))

    def sampler(key: Value, shape: Sequence[int] = (), dtype: Any = None) -> Value:
        kind = float_dtype(name, dtype)
        return compiled(floats, 1, 2)(words_of(name, key), shape_of(shape), kind)

    sampler.__name__ = sampler.__qualname__ = floats.__name__ = name
    sampler.__doc__ = f"Numbers of the {proper.get(name, name)} distribution."
    return sampler


exponential = by_inverse("exponential", lambda u: neg(log1p(neg(u))))
laplace = by_inverse(
    "laplace", lambda u: mul(sign(u), log1p(neg(abs(u)))), lambda info: -1.0 + info.epsneg
)
logistic = by_inverse("logistic", lambda u: sub(log(u), log1p(neg(u))), lambda info: info.tiny)
cauchy = by_inverse(
    "cauchy",
    lambda u: tan(mul(scalar(math.pi, u), sub(u, scalar(0.5, u)))),
    lambda info: info.eps,
)


def rademacher(key: Value, shape: Sequence[int] = (), dtype: Any = None) -> Value:
    """-1 or 1, with equal probability; int64 if no dtype is given."""
    kind = dtypes.canonical(int if dtype is None else dtype)
    return (2 * bernoulli(key, 0.5, shape_of(shape)).astype(kind) - 1).astype(kind)
