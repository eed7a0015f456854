"""A container of arrays as one vector, and back (`minijax.flatten_util`)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minijax import lax
from minijax import numpy as jnp
from minijax.tree import PyTreeDef, tree_flatten, tree_unflatten

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
    common = jnp.result_type(*arrays)
    vector = lax.concatenate([jnp.ravel(lax.convert_element_type(x, common)) for x in arrays], 0)
    dtypes = {x.dtype for x in arrays}
    kinds = tuple(x.dtype for x in arrays) if len(dtypes) > 1 else None
    return vector, Unravel(tree, tuple(x.shape for x in arrays), kinds, vector.dtype)


@dataclass(frozen=True)
class Unravel:
    """The function from a vector back to the container; equal for containers of the same types.

    `dtypes` are those of the arrays; None, if they had one: then the vector's is kept.
    """

    tree: PyTreeDef
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[np.dtype, ...] | None
    dtype: np.dtype

    def __call__(self, vector: Any) -> Any:
        sizes = [math.prod(shape) for shape in self.shapes]
        if jnp.shape(vector) != (sum(sizes),):
            raise ValueError(f"This vector should have {sum(sizes)} elements.")
        vector = jnp.asarray(vector)
        if self.dtypes is not None and vector.dtype != self.dtype:
            raise TypeError(
                f"unravel function given array of dtype {vector.dtype}, but expected dtype "
                f"{self.dtype}"
            )
        parts = jnp.split(vector, np.cumsum(sizes)[:-1].tolist())
        parts = [x.reshape(shape) for x, shape in zip(parts, self.shapes, strict=True)]
        if self.dtypes is not None:
            parts = [x.astype(kind) for x, kind in zip(parts, self.dtypes, strict=True)]
        return tree_unflatten(self.tree, parts)
