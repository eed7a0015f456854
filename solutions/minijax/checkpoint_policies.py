"""Policies for `checkpoint`: which values the forward pass may keep for the backward pass.

A policy is called with the primitive of an equation, the types of its operands, and its parameters.
It says whether the results of that equation may be kept. The names are those of
`jax.checkpoint_policies`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minijax.core import Primitive, dot_general_p


def everything_saveable(primitive: Primitive, *avals: Any, **params: Any) -> bool:
    """Keep all that the backward pass needs, as if `checkpoint` were not there."""
    return True


def nothing_saveable(primitive: Primitive, *avals: Any, **params: Any) -> bool:
    """Keep the inputs only, and compute everything again; the same as no policy (None)."""
    return False


@dataclass(frozen=True)
class DotsSaveable:
    """Keep the results of matrix products, which are expensive to compute and small to keep.

    With `only_if_no_batch_dims`, keep only those without batch axes: the products with the weights
    of a model, in practice, and not those of its activations with each other.
    """

    only_if_no_batch_dims: bool

    def __call__(self, primitive: Primitive, *avals: Any, **params: Any) -> bool:
        if primitive is not dot_general_p:
            return False
        batch = params["dimension_numbers"][1]
        return not (self.only_if_no_batch_dims and any(batch))


dots_saveable = checkpoint_dots = DotsSaveable(only_if_no_batch_dims=False)
dots_with_no_batch_dims_saveable = DotsSaveable(only_if_no_batch_dims=True)
checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable
