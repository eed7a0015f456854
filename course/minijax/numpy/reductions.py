"""`minijax.numpy`, continued: reductions to an extreme, a product, a truth value, a variance."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax.core import array_methods, get_aval
from minijax.lax import basic, elementwise, reductions, shapes
from minijax.numpy.basic import (
    convert,
    divide,
    keep_axes,
    mean,
    ndim,
    normal_axes,
    promote_float,
    shape,
    size,
    subtract,
    sum,
)
from minijax.numpy.elementwise import sqrt, square

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumsum",
    "max",
    "min",
    "prod",
    "std",
    "var",
]

Axis = int | Sequence[int] | None


def extreme(name: str, reduce: Callable[..., Any]) -> Callable[..., Any]:
    def function(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
        axes = normal_axes(axis, ndim(a))
        if 0 in [shape(a)[i] for i in axes]:
            raise ValueError(f"zero-size array to reduction operation {name} has no identity.")
        return keep_axes(reduce(a, axes), shape(a), axes if keepdims else ())

    function.__name__ = function.__qualname__ = name
    return function


max, min = extreme("max", reductions.reduce_max), extreme("min", reductions.reduce_min)
amax, amin = max, min


def prod(a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """The product over `axis`; small integers become int64."""
    axes, aval = normal_axes(axis, ndim(a)), get_aval(a)
    if dtype is not None:
        a = basic.convert_element_type(a, dtype)
    elif aval.dtype.kind in "biu" and aval.dtype.itemsize < 8:
        a = convert(a, np.dtype(np.uint64 if aval.dtype.kind == "u" else np.int64), False)
    return keep_axes(reductions.reduce_prod(a, axes), aval.shape, axes if keepdims else ())


def truth_reduction(reduce: Callable[..., Any]) -> Callable[..., Any]:
    def function(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
        axes = normal_axes(axis, ndim(a))
        reduced = reduce(basic.convert_element_type(a, bool), axes)
        return keep_axes(reduced, shape(a), axes if keepdims else ())

    return function


any, all = truth_reduction(reductions.reduce_or), truth_reduction(reductions.reduce_and)


def count_nonzero(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """How many elements are not zero."""
    return sum(elementwise.ne(a, np.zeros((), get_aval(a).dtype)), axis, keepdims=keepdims)


def index_of(find: Callable[..., Any]) -> Callable[..., Any]:
    def function(a: Any, axis: int | None = None, *, keepdims: bool | None = None) -> Any:
        before = shape(a)
        if axis is None:
            a, axis, axes = shapes.reshape(a, (size(a),)), 0, tuple(range(len(before)))
        else:
            axes = normal_axes(axis, len(before))
        return keep_axes(find(a, axis, np.int64), before, axes if keepdims else ())

    return function


argmax, argmin = index_of(reductions.argmax), index_of(reductions.argmin)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """The running sum along `axis`, or over all elements in order."""
    if axis is None:
        a, axis = shapes.reshape(a, (size(a),)), 0
    if dtype is None and get_aval(a).dtype == bool:
        dtype = np.int64
    a = a if dtype is None else basic.convert_element_type(a, dtype)
    return reductions.cumsum(a, normal_axes(axis, ndim(a))[0])


def var(a: Any, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Any:
    """The mean squared distance from the mean, for `ddof` elements fewer than there are."""
    (a,) = promote_float(a)
    axes = normal_axes(axis, ndim(a))
    distance = subtract(a, mean(a, axes, keepdims=True))
    count = math.prod(shape(a)[i] for i in axes) - ddof
    total = sum(square(distance), axes, keepdims=keepdims)
    return divide(total, count) if count > 0 else elementwise.full_like(total, np.nan)


def std(a: Any, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Any:
    """The square root of `var`."""
    return sqrt(var(a, axis, ddof=ddof, keepdims=keepdims))


array_methods.update(
    {
        "max": max,
        "min": min,
        "prod": prod,
        "any": any,
        "all": all,
        "argmax": argmax,
        "argmin": argmin,
        "cumsum": cumsum,
        "var": var,
        "std": std,
    }
)
