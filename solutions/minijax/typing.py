"""Types for annotations, under the names that JAX gives them (`jax.typing`)."""

import numpy as np

from minijax.array import Array

__all__ = ["ArrayLike", "DTypeLike"]

# What functions take for an array.
ArrayLike = Array | np.ndarray | np.bool_ | np.number | bool | int | float

# What functions take for a dtype.
DTypeLike = str | type | np.dtype
