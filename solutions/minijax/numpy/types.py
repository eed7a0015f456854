"""`minijax.numpy`, continued: questions about dtypes and about kinds of values."""

from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import Array
from minijax.core import Value, get_aval
from minijax.numpy.basic import int64, uint64
from minijax.numpy.making import represented

__all__ = [
    "complexfloating",
    "dtype",
    "e",
    "euler_gamma",
    "finfo",
    "floating",
    "generic",
    "iinfo",
    "inexact",
    "int_",
    "integer",
    "iscomplexobj",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "newaxis",
    "number",
    "printoptions",
    "promote_types",
    "result_type",
    "set_printoptions",
    "signedinteger",
    "uint",
    "unsignedinteger",
]

newaxis = None
e, euler_gamma = np.e, np.euler_gamma
dtype = np.dtype
int_, uint = int64, uint64
generic, number, inexact, floating = np.generic, np.number, np.inexact, np.floating
complexfloating, integer = np.complexfloating, np.integer
signedinteger, unsignedinteger = np.signedinteger, np.unsignedinteger


def set_printoptions(*args: Any, **kwargs: Any) -> None:
    """NumPy's function of the same name, because NumPy prints the arrays."""
    np.set_printoptions(*args, **kwargs)


def printoptions(*args: Any, **kwargs: Any) -> Any:
    """NumPy's context manager of the same name."""
    return np.printoptions(*args, **kwargs)


def plain(kind: Any) -> Any:
    """A dtype of ours as one of NumPy's; a class of dtypes, such as `floating`, as it is."""
    is_class = isinstance(kind, type) and issubclass(kind, np.generic)
    return kind if is_class else np.dtype(kind)


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is one of a class of dtypes, or the same dtype as another.

    >>> issubdtype(np.float32, floating), issubdtype(np.int32, floating)
    (True, False)
    """
    if type(arg1).__name__ == "KeyType":  # of typed keys (`minijax.random`)
        return False
    return bool(np.issubdtype(plain(arg1), plain(arg2)))


def finfo(dtype: Any) -> Any:
    """The limits of a float type: `eps`, `max`, `tiny`, `bits` and others."""
    return np.finfo(plain(dtype))


def iinfo(int_type: Any) -> Any:
    """The limits of an integer type: `min`, `max` and `bits`."""
    return np.iinfo(plain(int_type))


def promote_types(a: Any, b: Any) -> np.dtype:
    """The dtype of an operation on two arrays of these dtypes."""
    weak = [(np.dtype(kind), is_python(kind)) for kind in (a, b)]
    return dtypes.result_type(*weak)[0]


def result_type(*args: Any) -> np.dtype:
    """The dtype of an operation on these values or dtypes."""
    if not args:
        raise ValueError("result_type takes at least one value or dtype.")
    return dtypes.result_type(*map(type_of, args))[0]


def type_of(x: Any) -> tuple[np.dtype, bool]:
    """The dtype of a value, or of a dtype, and whether it is weak."""
    if isinstance(x, Array | np.ndarray | np.generic | bool | int | float):
        aval = get_aval(x)
        return aval.dtype, aval.weak_type
    return dtypes.canonical(x), is_python(x)


def is_python(kind: Any) -> bool:
    """Whether this is Python's `int` or `float`, the types of weak numbers."""
    return kind is int or kind is float


def iscomplexobj(x: Value) -> bool:
    """Whether `x` is a complex number or an array of them; no array here is."""
    return isinstance(x, complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"


def isrealobj(x: Value) -> bool:
    """Whether `x` is not complex."""
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether `element` is a number, or an array without axes."""
    element = represented(element)
    if isinstance(element, Array):
        return element.ndim == 0
    return bool(np.isscalar(element)) or (isinstance(element, np.ndarray) and element.ndim == 0)
