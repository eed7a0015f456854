"""A shuffled deck that does not exist."""

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
