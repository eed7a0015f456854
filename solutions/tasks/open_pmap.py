"""A sum that travels around a ring."""

import functools

import numpy as np

from minijax import lax
from minijax import numpy as jnp
from minijax.axis_env import name_of
from minijax.core import abstract_eval_rules, jvp_rules, transpose_rules, vmap_rules
from minijax.jaxpr import raise_to_shaped
from minijax.jvp import linear_jvp
from minijax.collectives import Collective
from minijax.vmap import move_batch_axis

ppermute_p = Collective("ppermute")


def ppermute(x, axis_name, perm):
    """What the example that `perm` names as the source of this one has, or zeros."""
    return ppermute_p.bind(x, axis_name=axis_name, perm=tuple(perm))


def ppermute_batch(batch_size, vals, dims, *, axis_name, perm):
    """Rows in another order; or, along another axis, the whole batch is sent."""
    (x,), (dim,) = vals, dims
    if name_of(batch_size) != axis_name:
        return ppermute_p.bind(x, axis_name=axis_name, perm=perm), dim
    x = move_batch_axis(batch_size, dim, 0, x)
    sources = {target: source for source, target in perm}
    rows = [x[sources[i]] if i in sources else jnp.zeros_like(x[0]) for i in range(batch_size)]
    return jnp.stack(rows), 0


def ppermute_transpose(ct, x, *, axis_name, perm):
    """A cotangent goes back the way that the value came."""
    back = tuple((target, source) for source, target in perm)
    return [ppermute_p.bind(ct, axis_name=axis_name, perm=back)]


abstract_eval_rules[ppermute_p] = lambda x, **params: raise_to_shaped(x)
jvp_rules[ppermute_p] = functools.partial(linear_jvp, ppermute_p)
transpose_rules[ppermute_p] = ppermute_transpose
vmap_rules[ppermute_p] = ppermute_batch


def ring_sum(x, axis_name):
    """The sum over all examples, by messages to neighbours."""
    n, me = lax.psum(1, axis_name), lax.axis_index(axis_name)
    ring = [(i, (i + 1) % n) for i in range(n)]
    shape, size = jnp.shape(x), jnp.size(x)
    parts = jnp.reshape(jnp.concatenate([jnp.ravel(x), jnp.zeros(-size % n, x.dtype)]), (n, -1))

    def at(place):
        return jnp.take(parts, (me - place) % n, 0)

    part = at(0)
    for step in range(1, n):  # a part travels on, and everyone adds its own numbers
        part = ppermute(part, axis_name, ring) + at(step)
    found = [part]
    for _ in range(1, n):  # whole sums travel on: what comes was complete before ours
        found.append(ppermute(found[-1], axis_name, ring))
    # Example i completes part i + 1; what came k messages later is part i + 1 - k.
    places = (me + 1 - np.arange(n)) % n
    parts = jnp.zeros_like(parts).at[places].set(jnp.stack(found))
    return jnp.reshape(jnp.ravel(parts)[:size], shape)
