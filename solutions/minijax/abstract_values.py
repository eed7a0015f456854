"""Abstract values, and tracers: what Python sees of a value in a function that is transformed.

An abstract value is what is known of a value: its type, and sometimes the value itself. A tracer
takes the place of a value, and its abstract value answers for it: it has a shape and a dtype, and
can be a condition or an index only if the value is known.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from minijax import dtypes
from minijax.array import Array, ArrayImpl, array_methods
from minijax.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)


# Equal types are the same key; and like all keys, they are never changed.
@dataclass(unsafe_hash=True, repr=False)
class ShapedArray:
    """The set of all arrays with the same shape and dtype: what a type checker knows about one.

    `weak_type` marks Python scalars, whose dtype gives way to an array's (see `minijax.dtypes`).
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool = False

    def str_short(self, short_dtypes: bool = False) -> str:
        """Dtype and shape, `float64[2,3]`; or, as in a jaxpr, `f64[2,3]`."""
        name = dtypes.short_name(self.dtype) if short_dtypes else dtypes.name(self.dtype)
        return f"{name}[{','.join(map(str, self.shape))}]"

    def __str__(self) -> str:
        return ("~" if self.weak_type else "") + self.str_short()

    def __repr__(self) -> str:
        weak_type = ", weak_type=True" if self.weak_type else ""
        return f"{type(self).__name__}({self.str_short()}{weak_type})"

    def to_bool(self) -> bool:
        raise TracerBoolConversionError(
            f"A tracer of type {self} was used as a condition, but its value is not known while "
            "the function is traced. Choose between values with lax.cond or jnp.where instead."
        )

    def to_int(self) -> int:
        raise ConcretizationTypeError(
            f"int() was called on a tracer of type {self}. Convert with x.astype(int)."
        )

    def to_index(self) -> int:
        raise TracerIntegerConversionError(
            f"A tracer of type {self} was used as a Python integer, but its value is not known "
            "while the function is traced. Pass it as a static argument instead."
        )


@dataclass(eq=False, repr=False)
class ConcreteArray(ShapedArray):
    """The set that holds a single array, `val`: not only its type is known, but its value."""

    val: Any = None

    def to_bool(self) -> bool:
        """The truth of the value, for Python's `if`.

        >>> ConcreteArray((), np.dtype("float64"), val=np.array(2.0)).to_bool()
        True
        """
        return bool(self.val)

    def to_int(self) -> int:
        return int(self.val)

    def to_index(self) -> int:
        return operator.index(self.val)


def number_type(x: bool | int | float) -> type:
    """The dtype of a Python number; `OverflowError` for an integer that needs more than 64 bits."""
    if isinstance(x, bool):
        return np.bool_
    if isinstance(x, int):
        np.int64(x)
    return np.int64 if isinstance(x, int) else np.float64


def scalar_aval(x: bool | int | float) -> ConcreteArray:
    """The abstract value of a Python scalar, which is weakly typed."""
    return ConcreteArray((), np.dtype(number_type(x)), weak_type=True, val=x)


def numpy_aval(x: np.ndarray | np.generic) -> ConcreteArray:
    """The abstract value of a NumPy array or scalar."""
    return ConcreteArray(x.shape, dtypes.canonical(x.dtype), val=x)


def array_aval(x: ArrayImpl) -> ConcreteArray:
    """The abstract value of an array of our own, which knows whether it is weakly typed."""
    aval = x if x.host is None else x.host
    return ConcreteArray(aval.shape, aval.dtype, x.weak_type, x)


def masked_aval(x: np.ma.MaskedArray) -> NoReturn:
    """NumPy's masked arrays have none: computing on their data would lose the mask."""
    raise ValueError("Masked arrays are not supported; use x.filled(value) for an ordinary one.")


array_methods["aval"] = lambda x: ShapedArray(x.shape, x.dtype, x.weak_type)


class Tracer(Array):
    """A box around a value, with whatever else its interpreter needs (a tangent, a name).

    Users' functions compute with tracers as with arrays. What a tracer's value may be is its
    *abstract value*, `aval`; subclasses define it.
    """

    _trace: Any  # the `Trace` that boxed the value
    aval: ShapedArray

    def full_lower(self) -> Any:
        """The value inside, if the box adds nothing to it; else the box itself."""
        return self

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    weak_type = property(lambda self: self.aval.weak_type)

    def __bool__(self) -> bool:
        return self.aval.to_bool()

    def __int__(self) -> int:
        return self.aval.to_int()

    def __index__(self) -> int:
        return self.aval.to_index()

    def __float__(self) -> float:
        raise ConcretizationTypeError(
            f"float() was called on a tracer of type {self.aval}. Convert with x.astype(float)."
        )

    __complex__ = __float__

    def item(self, *args: int) -> NoReturn:
        """Arrays have these methods because they hold a value; a tracer does not have one."""
        raise ConcretizationTypeError(
            f"The value of a tracer of type {self.aval} was asked for, but it is not known while "
            "the function is traced. Return the tracer, and ask for the value of the result."
        )

    tolist = devices = is_deleted = __reduce__ = item
    committed = property(item)

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TracerArrayConversionError(
            f"A NumPy function was called on a tracer of type {self.aval}. Use the function of the "
            "same name from minijax.numpy."
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self.aval}>"
