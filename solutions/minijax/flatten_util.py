"""A container of arrays as one vector, and back (`minijax.flatten_util`)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from minijax import lax
from minijax import numpy as jnp
from minijax.tree import tree_flatten, tree_unflatten

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All elements of a container's arrays as one vector, and the function that undoes it.

    >>> vector, unravel = ravel_pytree({"w": np.ones((2, 2)), "b": np.zeros(1)})
    >>> vector.shape, unravel(2 * vector)["w"].shape
    ((5,), (2, 2))
    """
    leaves, tree = tree_flatten(pytree)
    if not leaves:
        return jnp.zeros(0, np.float32), lambda _: tree_unflatten(tree, [])
    arrays = [jnp.asarray(leaf) for leaf in leaves]
    types = [(x.shape, x.dtype) for x in arrays]
    ends = np.cumsum([x.size for x in arrays])[:-1].tolist()
    vector = lax.concatenate([jnp.ravel(x) for x in same_dtype(arrays)], 0)

    def unravel(vector: Any) -> Any:
        if jnp.shape(vector) != (sum(x.size for x in arrays),):
            raise ValueError(f"This vector should have {sum(x.size for x in arrays)} elements.")
        parts = zip(jnp.split(vector, ends), types, strict=True)
        return tree_unflatten(tree, [x.reshape(shape).astype(kind) for x, (shape, kind) in parts])

    return vector, unravel


def same_dtype(arrays: list[Any]) -> list[Any]:
    """The arrays in the dtype that all of them can have."""
    common = jnp.result_type(*arrays)
    return [lax.convert_element_type(x, common) for x in arrays]
