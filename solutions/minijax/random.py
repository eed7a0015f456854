"""Random numbers from keys (`minijax.random`), bit for bit those of `jax.random`.

Here are the public functions. They check what they are given, and compile functions of a key's
words, which are in `minijax/random_numbers.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax import numpy as jnp
from minijax.core import Tracer, Value, get_aval
from minijax.errors import ConcretizationTypeError
from minijax.jit import jit
from minijax.lax.basic import convert_element_type, log, mul, neg, sub
from minijax.lax.defining import scalar
from minijax.lax.elementwise import abs, log1p, sign
from minijax.lax.shapes import normal_axis
from minijax.lax.sorting import top_k
from minijax.lax.special import tan
from minijax.numpy.making import sizes_of
from minijax.random_keys import PRNGKey, key, key_data, like, words_of, wrap_key_data
from minijax.random_numbers import (
    drawn,
    drawn_apart,
    fold_in_words,
    gumbel_floats,
    integers,
    normal_floats,
    random_bits,
    shuffled,
    split_words,
    truncated_floats,
    uniform_floats,
)

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
    """A new key for a key and a number, such as a step's. Counterpart: `jax.random.fold_in`.

    >>> key_data(fold_in(key(42), 3))
    Array([3134548294,  894150801], dtype=uint32)
    """
    words = words_of("fold_in", key)
    if get_aval(data).shape:
        raise TypeError(f"fold_in takes a number, not an array of shape {get_aval(data).shape}.")
    return like(key, compiled(fold_in_words)(words, jnp.asarray(data, np.uint32)))


def shape_of(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of numbers that are known; a number is the length of the only axis."""
    return sizes_of((shape,) if isinstance(shape, int) else tuple(shape))


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
    """Like `normal`, but only numbers between `lower` and `upper`."""
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
    axis = normal_axis(axis, rank)
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
    axis = normal_axis(axis, rank) if rank else 0
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
        raise NotImplementedError("minijax has only the modes 'low' and 'high', not 'highest'.")
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
    axis = normal_axis(axis, logits.ndim) - logits.ndim
    others = tuple(n for i, n in enumerate(logits.shape) if i != axis + logits.ndim)
    sizes = others if shape is None else shape_of(shape)
    check_fits("categorical", sizes, jnp.zeros(others), mismatch=ValueError)
    if not replace:
        draws = math.prod(sizes[: len(sizes) - len(others)])
        if draws > logits.shape[axis]:
            raise ValueError(
                f"{draws} of {logits.shape[axis]} cannot be drawn without replacement."
            )
        return compiled(drawn_apart, 2, 3, 4)(words, logits, axis, sizes, known_mode(mode))
    noisy = list(sizes)
    noisy.insert(len(sizes) + 1 + axis, logits.shape[axis])
    return compiled(drawn, 2, 3, 4)(words, logits, axis, tuple(noisy), known_mode(mode))


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
    "cauchy", lambda u: tan(mul(scalar(math.pi, u), sub(u, scalar(0.5, u)))), lambda info: info.eps
)


def rademacher(key: Value, shape: Sequence[int] = (), dtype: Any = None) -> Value:
    """-1 or 1, with equal probability; int64 if no dtype is given."""
    kind = dtypes.canonical(int if dtype is None else dtype)
    return (2 * bernoulli(key, 0.5, shape_of(shape)).astype(kind) - 1).astype(kind)
