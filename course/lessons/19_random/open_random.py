"""A shuffled deck that does not exist.

Write `card(key, bits, i)`: card number `i` of a shuffled deck of `2 ** bits` cards, where `bits` is
even and at most 62; `i` and the result are integers. The deck is never made: a card takes as long
to compute in a deck of 2 ** 60 cards as in one of 16. Each key has its own deck with every card in
it once, and `jit` and `vmap` work.
"""

import minijax.numpy as jnp
from minijax import random
