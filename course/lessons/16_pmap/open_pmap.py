"""A sum that travels around a ring.

Write `ppermute(x, axis_name, perm)`, a collective of your own, with the rules that `vmap`, `jvp`
and `grad` need: for each pair (source, target) of `perm`, example `target` gets the value of
example `source`, and an example that is not a target gets zeros. With it, write `ring_sum(x,
axis_name)`, which returns what `psum` returns, and binds no collectives but yours and `axis_index`.
Each of the n examples sends only to the next, and the last to the first. Each sends 2n - 2 times,
and never more than one nth of its numbers, rounded up.
"""

from minijax import lax
from minijax import numpy as jnp
from minijax.core import abstract_eval_rules, jvp_rules, transpose_rules, vmap_rules
from minijax.collectives import Collective
