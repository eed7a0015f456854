"""The rules of single operations in `microjax.stackless`: how results move, batches, cotangents.

They bind their operations, and the current interpreter gets these: the one before the interpreter
that asks for the rule.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import compress
from typing import Any

from minijax import core, dtypes
from minijax.core import Primitive, Rules, UndefPrimal, get_aval

from microjax.arrays import inverse_permutation, others, shifted
from microjax.contexts import Fun, bind, lax
from microjax.flat import merge

# How a result moves -------------------------------------------------------------------------------

jvp_rules: Rules = {}


def moves(primitive: Primitive, *slopes: Fun) -> None:
    """Say how a result moves: by the sum of `slope(t, result, *operands)` over the operands.

    There is one slope for each operand: a *linear* function of its tangent `t`.
    """

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = bind(primitive, *primals, **params)
        moving = [(slope, t) for slope, t in zip(slopes, tangents, strict=True) if t is not None]
        return out, add_up([slope(t, out, *primals, **params) for slope, t in moving])

    jvp_rules[primitive] = rule


def add_up(terms: Sequence[Any]) -> Any:
    """The sum of tangents, or of cotangents; `None` is zero."""
    present = [term for term in terms if term is not None]
    return functools.reduce(lax.add, present) if present else None


moves(core.neg_p, lambda t, y, x: lax.neg(t))
moves(core.sin_p, lambda t, y, x: lax.mul(t, lax.cos(x)))
moves(core.cos_p, lambda t, y, x: lax.mul(t, lax.neg(lax.sin(x))))
moves(core.exp_p, lambda t, y, x: lax.mul(t, y))
moves(core.log_p, lambda t, y, x: lax.div(t, x))
moves(core.add_p, lax.stretch, lax.stretch)
moves(core.sub_p, lax.stretch, lambda t, z, x, y: lax.neg(lax.stretch(t, z)))
moves(core.mul_p, lambda t, z, x, y: lax.mul(t, y), lambda t, z, x, y: lax.mul(x, t))
moves(
    core.div_p,
    lambda t, z, x, y: lax.div(t, y),
    lambda t, z, x, y: lax.mul(t, lax.neg(lax.div(z, y))),
)
moves(
    core.dot_general_p,
    lambda t, z, x, y, **numbers: lax.dot_general(t, y, **numbers),
    lambda t, z, x, y, **numbers: lax.dot_general(x, t, **numbers),
)
for _p in (core.gt_p, core.lt_p):  # booleans do not move
    moves(_p, lambda t, z, x, y: None, lambda t, z, x, y: None)
for _p in (core.reduce_sum_p, core.transpose_p, core.broadcast_in_dim_p):  # linear themselves
    moves(_p, lambda t, y, x, _p=_p, **params: bind(_p, t, **params))
moves(  # linear between floats; what becomes an integer does not move any more
    core.convert_element_type_p,
    lambda t, y, x, *, new_dtype, weak_type: (
        lax.convert(t, new_dtype, weak_type) if dtypes.is_float(new_dtype) else None
    ),
)


# Batches ------------------------------------------------------------------------------------------

vmap_rules: Rules = {}


def batches(primitive: Primitive, rule: Fun) -> None:
    """Say what an operation with one operand does to a batch: `rule(x, **params)`."""
    vmap_rules[primitive] = lambda vals, mapped, **params: (rule(*vals, **params), True)


def elementwise_batch(primitive: Primitive, vals: Any, mapped: Any) -> Any:
    """The batch axes fit as they are, once all examples have one rank."""
    return bind(primitive, *lax.aligned(vals, mapped)), True


def dot_general_batch(vals: Any, mapped: Any, *, dimension_numbers: Any, **params: Any) -> Any:
    """One batch axis more, which `dot_general` puts first in its result."""
    size = next(get_aval(x).shape[0] for x in compress(vals, mapped))
    x, y = (x if m else lax.repeat(x, size) for x, m in zip(vals, mapped, strict=True))
    contract, batch = ([shifted(axes) for axes in pair] for pair in dimension_numbers)
    return lax.dot_general(x, y, (contract, [[0, *axes] for axes in batch]), **params), True


vmap_rules[core.dot_general_p] = dot_general_batch
for _p in (core.add_p, core.sub_p, core.mul_p, core.div_p, core.gt_p, core.lt_p):
    vmap_rules[_p] = functools.partial(elementwise_batch, _p)
for _p in (core.neg_p, core.sin_p, core.cos_p, core.exp_p, core.log_p, core.convert_element_type_p):
    batches(_p, functools.partial(bind, _p))
batches(core.reduce_sum_p, lambda x, *, axes: lax.reduce_sum(x, shifted(axes)))
batches(core.transpose_p, lambda x, *, permutation: lax.transpose(x, [0, *shifted(permutation)]))
batches(
    core.broadcast_in_dim_p,
    lambda x, *, shape, broadcast_dimensions: lax.broadcast_in_dim(
        x, get_aval(x).shape[:1] + shape, [0, *shifted(broadcast_dimensions)]
    ),
)


# Cotangents ---------------------------------------------------------------------------------------

transpose_rules: Rules = {}


def flows_back(primitive: Primitive, *backs: Fun) -> None:
    """Say what cotangent a linear operand, an `UndefPrimal`, gets: `back(ct, *operands)`.

    One that was stretched gets the sum of the cotangents of its copies.
    """

    def rule(ct: Any, *operands: Any, **params: Any) -> list[Any]:
        linear = [isinstance(x, UndefPrimal) for x in operands]
        cts = [back(ct, *operands, **params) for back in compress(backs, linear)]
        return merge(linear, map(lax.unstretch, cts, compress(operands, linear)))

    transpose_rules[primitive] = rule


flows_back(core.neg_p, lambda ct, x: lax.neg(ct))
flows_back(core.add_p, lambda ct, x, y: ct, lambda ct, x, y: ct)
flows_back(core.sub_p, lambda ct, x, y: ct, lambda ct, x, y: lax.neg(ct))
flows_back(core.mul_p, lambda ct, x, y: lax.mul(ct, y), lambda ct, x, y: lax.mul(x, ct))
flows_back(core.div_p, lambda ct, x, y: lax.div(ct, y), lambda ct, x, y: None)
flows_back(core.dot_general_p, lax.dot_general_lhs, lax.dot_general_rhs)
flows_back(
    core.transpose_p,
    lambda ct, x, *, permutation: lax.transpose(ct, inverse_permutation(permutation)),
)
flows_back(
    core.reduce_sum_p,
    lambda ct, x, *, axes: lax.broadcast_in_dim(ct, x.aval.shape, others(x.aval.shape, axes)),
)
flows_back(
    core.broadcast_in_dim_p,
    lambda ct, x, *, shape, broadcast_dimensions: lax.reduce_sum(
        ct, others(shape, broadcast_dimensions)
    ),
)
flows_back(core.convert_element_type_p, lambda ct, x, **_: lax.convert(ct, x.aval.dtype, False))
