"""Policies for `checkpoint`: which values the forward pass may keep for the backward pass.

A policy is called with the primitive of an equation, the types of its operands, and its parameters.
It says whether the results of that equation may be kept. The names are those of
`jax.checkpoint_policies`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minijax.absent import missing
from minijax.core import Primitive, dot_general_p
from minijax.lax.names import name_p

__all__ = [
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "everything_saveable",
    "nothing_saveable",
    "save_any_names_but_these",
    "save_anything_except_these_names",
    "save_from_both_policies",
    "save_only_these_names",
]


def everything_saveable(primitive: Primitive, *avals: Any, **params: Any) -> bool:
    """Keep everything that the backward pass needs, as if `checkpoint` were not there."""
    return True


def nothing_saveable(primitive: Primitive, *avals: Any, **params: Any) -> bool:
    """Keep only the inputs, and compute everything again; the same as no policy (None)."""
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


@dataclass(frozen=True)
class NamesSaveable:
    """Keep values by the names that `checkpoint_name` gave them: `names`, or all other names.

    Values without a name are kept only if `and_nameless`.
    """

    names: frozenset[str]
    others: bool = False
    and_nameless: bool = False

    def __call__(self, primitive: Primitive, *avals: Any, **params: Any) -> bool:
        if primitive is not name_p:
            return self.and_nameless
        return (params["name"] in self.names) != self.others


def save_only_these_names(*names_which_can_be_saved: str) -> NamesSaveable:
    """A policy that keeps the values with these names."""
    return NamesSaveable(frozenset(names_which_can_be_saved))


def save_any_names_but_these(*names_not_to_save: str) -> NamesSaveable:
    """A policy that keeps the values that have a name, but not one of these."""
    return NamesSaveable(frozenset(names_not_to_save), others=True)


def save_anything_except_these_names(*names_not_to_save: str) -> NamesSaveable:
    """A policy that keeps all values but those with these names."""
    return NamesSaveable(frozenset(names_not_to_save), others=True, and_nameless=True)


@dataclass(frozen=True)
class EitherSaveable:
    """Keep what at least one of two policies keeps."""

    first: Callable[..., bool]
    second: Callable[..., bool]

    def __call__(self, primitive: Primitive, *avals: Any, **params: Any) -> bool:
        return any(p(primitive, *avals, **params) for p in (self.first, self.second))


def save_from_both_policies(
    policy_1: Callable[..., bool], policy_2: Callable[..., bool]
) -> EitherSaveable:
    """A policy that keeps what at least one of these keeps."""
    return EitherSaveable(policy_1, policy_2)


def __getattr__(name: str) -> Any:
    """What is not here says why."""
    raise missing("minijax.checkpoint_policies", name)
