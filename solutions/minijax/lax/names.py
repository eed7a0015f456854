"""Names for values: what a policy of `checkpoint` can speak of, see `checkpoint_policies`.

The primitive computes nothing: it marks a place in the program.
"""

import functools
from typing import Any

from minijax.core import (
    Primitive,
    Tangent,
    Value,
    Values,
    abstract_eval_rules,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    vmap_rules,
)
from minijax.jaxpr import unary_type
from minijax.tree import tree_map
from minijax.vmap import unary_batch

name_p = Primitive("name")


def checkpoint_name(x: Value, name: str) -> Value:
    """`x`, which may be a container, under a name. Counterpart: `jax.ad_checkpoint`'s.

    >>> import minijax
    >>> minijax.make_jaxpr(lambda x: checkpoint_name(x, "input") * 2.0)(1.0)
    { lambda ; a:f64[]. let
        b:f64[] = name[name=input] a
        c:f64[] = mul b 2.0:f64[]
      in (c,) }
    """
    return tree_map(lambda leaf: name_p.bind(leaf, name=name), x)


def name_jvp(primals: Values, tangents: tuple[Tangent, ...], *, name: str) -> tuple[Any, Tangent]:
    """The tangent has no name: it is another value."""
    return name_p.bind(primals[0], name=name), tangents[0]


impl_rules[name_p] = lambda x, *, name: x
abstract_eval_rules[name_p] = lambda x, **params: unary_type(x)
jvp_rules[name_p] = name_jvp
vmap_rules[name_p] = functools.partial(unary_batch, name_p)
hlo_lowerings[name_p] = lambda emitter, avals, out_avals, args, *, name: list(args)
