"""The public names of minijax.tree_util.

Written by `./jaxprentice sync` from the lessons' `exports`: change those, not this file.
"""

import typing as _typing

from minijax.tree import (
    Partial,
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)

__all__ = [
    "Partial",
    "register_pytree_node",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_structure",
    "tree_unflatten",
]

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        missing = f"minijax.tree_util has no {name!r}."
        raise AttributeError(f"{missing} See what there is by dir(minijax.tree_util).")
