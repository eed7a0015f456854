"""Types without values: what tracing needs to know about an argument, and says of a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import Array
from minijax.core import ShapedArray, Value, aval_makers, get_aval, trace_state


def type_of(x: Any) -> ShapedArray:
    """The type of a value, or of any object with a shape and a dtype."""
    if isinstance(x, Array | np.ndarray | np.generic) or not hasattr(x, "shape"):
        return get_aval(x)
    if not hasattr(x, "dtype"):
        raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")
    return ShapedArray(tuple(x.shape), dtypes.canonical(x.dtype), getattr(x, "weak_type", False))


class ShapeDtypeStruct:
    """The shape and the dtype of an array that does not have to exist.

    >>> ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    def __init__(self, shape: Any, dtype: Any, *, weak_type: bool = False) -> None:
        if dtype is None:
            raise ValueError("A ShapeDtypeStruct needs a dtype.")
        self.shape, self.dtype = tuple(shape), dtypes.canonical(dtype)
        self.weak_type = weak_type

    @classmethod
    def like(cls, x: Value) -> ShapeDtypeStruct:
        """The shape and the dtype of an array.

        >>> ShapeDtypeStruct.like(np.ones(3))
        ShapeDtypeStruct(shape=(3,), dtype=float64)
        """
        aval = type_of(x)
        return cls(aval.shape, aval.dtype, weak_type=aval.weak_type)

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """The same with another `shape`, `dtype` or `weak_type`."""
        parts = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type}
        return ShapeDtypeStruct(**{**parts, **changes})

    ndim = property(lambda self: len(self.shape), doc="The number of axes.")
    size = property(lambda self: int(np.prod(self.shape, dtype=int)), doc="How many elements.")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def parts(self) -> tuple[Any, ...]:
        """What two equal ones share."""
        return self.shape, self.dtype, self.weak_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self.parts() == other.parts()

    def __hash__(self) -> int:
        return hash(self.parts())

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"


def structs_of(avals: Sequence[ShapedArray]) -> list[ShapeDtypeStruct]:
    """What users see of these types."""
    return [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]


def aval_of_struct(x: ShapeDtypeStruct) -> ShapedArray:
    """The type, while a program is traced: it may capture an array that does not exist yet."""
    if trace_state.dynamic_trace is None:
        raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")
    return type_of(x)


aval_makers[ShapeDtypeStruct] = aval_of_struct
