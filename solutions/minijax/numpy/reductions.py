"""`minijax.numpy`, continued: reductions to an extreme, a product, a truth value, a variance."""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax.array import array_methods
from minijax.core import Value, get_aval
from minijax.lax import basic, elementwise, reductions, shapes
from minijax.numpy.basic import (
    divide,
    in_wider_float,
    keep_axes,
    mean,
    ndim,
    normal_axes,
    promote_float,
    refuse_out,
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


def extreme(name: str, reduce: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def function(a: Value, axis: Axis = None, out: None = None, keepdims: bool = False) -> Value:
        refuse_out(name, out)
        axes = normal_axes(axis, ndim(a))
        if 0 in [shape(a)[i] for i in axes]:
            raise ValueError(f"zero-size array to reduction operation {name} has no identity.")
        strong = basic.convert_element_type(a, get_aval(a).dtype)
        return keep_axes(reduce(strong, axes), shape(a), axes if keepdims else ())

    return basic.named(function, name, doc)


max = extreme("max", reductions.reduce_max, "The greatest element along `axis`, or of all.")
min = extreme("min", reductions.reduce_min, "The least element along `axis`, or of all.")
amax, amin = max, min


def prod(
    a: Value, axis: Axis = None, dtype: Any = None, out: None = None, keepdims: bool = False
) -> Value:
    """The product over `axis`; small integers become int64."""
    refuse_out("prod", out)
    axes, aval = normal_axes(axis, ndim(a)), get_aval(a)
    widest = {"u": np.uint64, "i": np.int64, "b": np.int64}.get(aval.dtype.kind, aval.dtype)
    product = in_wider_float(lambda x: reductions.reduce_prod(x, axes), a, dtype, widest)
    return keep_axes(product, aval.shape, axes if keepdims else ())


def truth_reduction(name: str, reduce: Callable[..., Any]) -> Callable[..., Any]:
    def function(a: Value, axis: Axis = None, out: None = None, keepdims: bool = False) -> Value:
        refuse_out(name, out)
        axes = normal_axes(axis, ndim(a))
        reduced = reduce(basic.convert_element_type(a, bool), axes)
        return keep_axes(reduced, shape(a), axes if keepdims else ())

    function.__doc__ = f"Whether {name} of the elements along `axis` are true."
    return function


any = truth_reduction("any", reductions.reduce_or)
all = truth_reduction("all", reductions.reduce_and)


def count_nonzero(a: Value, axis: Axis = None, keepdims: bool = False) -> Value:
    """How many elements are not zero."""
    return sum(elementwise.ne(a, np.zeros((), get_aval(a).dtype)), axis, keepdims=keepdims)


def index_of(find: Callable[..., Any]) -> Callable[..., Any]:
    def function(
        a: Value, axis: int | None = None, out: None = None, keepdims: bool | None = None
    ) -> Value:
        refuse_out(find.__name__, out)
        before = shape(a)
        if axis is None:
            a, axis, axes = shapes.reshape(a, (size(a),)), 0, tuple(range(len(before)))
        else:
            axes = normal_axes(axis, len(before))
        return keep_axes(find(a, axis, np.int64), before, axes if keepdims else ())

    extreme = {"argmax": "greatest", "argmin": "least"}[find.__name__]
    function.__doc__ = (
        f"The first index of the {extreme} element along `axis`, or of all elements in one line."
    )
    return function


argmax, argmin = index_of(reductions.argmax), index_of(reductions.argmin)


def cumsum(a: Value, axis: int | None = None, dtype: Any = None, out: None = None) -> Value:
    """The running sum along `axis`, or over all elements in order."""
    refuse_out("cumsum", out)
    if axis is None or not ndim(a):
        a, axis = shapes.reshape(a, (size(a),)), 0
    own = get_aval(a).dtype
    wanted = np.dtype(dtype or (np.int64 if own.kind == "b" else own))
    a = basic.convert_element_type(a, wanted)
    if wanted.kind == "b":
        a = basic.convert_element_type(a, np.int64)
    out = reductions.cumsum(a, normal_axes(operator.index(axis), ndim(a))[0])
    return basic.convert_element_type(out, wanted)


def var(
    a: Value,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
) -> Value:
    """The mean squared distance from the mean, for `ddof` elements fewer than there are."""
    refuse_out("var", out)
    (a,) = promote_float(a)
    axes = normal_axes(axis, ndim(a))
    count = math.prod(shape(a)[i] for i in axes) - ddof

    def variance(a: Value) -> Value:
        distance = subtract(a, mean(a, axes, keepdims=True))
        total = sum(square(distance), axes, keepdims=keepdims)
        return divide(total, count) if count > 0 else elementwise.full_like(total, np.nan)

    return in_wider_float(variance, a, dtype, get_aval(a).dtype)


def std(
    a: Value,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
) -> Value:
    """The square root of `var`."""
    refuse_out("std", out)
    return sqrt(var(a, axis, dtype, ddof=ddof, keepdims=keepdims))


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
