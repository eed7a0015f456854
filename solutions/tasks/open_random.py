"""A shuffled deck that does not exist.

Write `card(key, bits, i)`: card number `i` of a shuffled deck of `2 ** bits` cards, where `bits` is
even and at most 62; `i` and the result are integers. The deck is never made: a card takes as long
to compute in a deck of 2 ** 60 cards as in one of 16. Each key has a deck of its own, every card is
in it once, and `jit` and `vmap` work.
"""

import minijax.numpy as jnp
from minijax import random


def card(key, bits, i):
    """Eight rounds of Feistel's: each can be undone, whatever the hash is, so no card is lost."""
    half = bits // 2
    mask = 2**half - 1
    i = jnp.asarray(i, "int64")
    left, right = i >> half, i & mask
    for round_key in random.split(key, 8):
        mixed = random.bits(random.fold_in(round_key, right), (), "uint32").astype("int64")
        left, right = right, left ^ (mixed & mask)
    return left << half | right
