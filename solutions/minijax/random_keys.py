"""Keys of `minijax.random` as users have them: plain arrays of two words, and typed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from minijax import numpy as jnp
from minijax.array import Array
from minijax.core import Value, aval_makers, get_aval
from minijax.random_numbers import words_of_seed
from minijax.tree import NodeType, node_types


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
        raise NotImplementedError(f"minijax has only the generator 'threefry2x32', not {impl!r}.")
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
