"""`minijax.numpy`, continued: reductions to an extreme, a product, a truth value, a variance."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax.array import array_methods
from minijax.core import Value, get_aval
from minijax.lax import basic, defining, elementwise, reductions, shapes
from minijax.numpy.basic import (
    accumulation,
    divide,
    in_wider_float,
    masked,
    multiply,
    name_functions,
    number_of,
    refuse_out,
    started,
    static,
    sum,
)
from minijax.numpy.basic import mean as mean_of
from minijax.numpy.elementwise import sqrt, square
from minijax.numpy.elementwise import where as choose
from minijax.numpy.making import ndim, normal_axes, promote_float, shape, size
from minijax.numpy.shapes import in_line, one_axis

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


def extreme(
    name: str,
    reduce: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    identity: Callable[[np.dtype], Any],
    doc: str,
) -> Callable[..., Any]:
    def function(
        a: Value,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: Value = None,
        where: Value = None,
    ) -> Value:
        refuse_out(name, out)
        axes, dtype = normal_axes(axis, ndim(a)), get_aval(a).dtype
        if initial is None and (where is not None or 0 in [shape(a)[i] for i in axes]):
            raise ValueError(f"{name} of no elements, or with a mask, is what `initial` says.")
        strong = masked(name, basic.convert_element_type(a, dtype), where, identity(dtype))
        reduced = started(combine, initial, reduce(strong, axes))
        return basic.keep_axes(reduced, shape(a), axes if keepdims else ())

    return basic.named(function, name, doc)


max = extreme(
    "max",
    reductions.reduce_max,
    elementwise.max,
    reductions.lowest,
    "The greatest element along `axis`, or of all: of those in `where`, and of `initial`.",
)
min = extreme(
    "min",
    reductions.reduce_min,
    elementwise.min,
    reductions.highest,
    "The least element along `axis`, or of all: of those in `where`, and of `initial`.",
)
amax, amin = max, min


prod = accumulation(
    "prod",
    reductions.reduce_prod,
    multiply,
    1,
    "The product over `axis`, or of all; the other parameters are as in `sum`.",
)


def truth_reduction(name: str, reduce: Callable[..., Any], identity: bool) -> Callable[..., Any]:
    def function(
        a: Value,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: Value = None,
    ) -> Value:
        refuse_out(name, out)
        axes = normal_axes(axis, ndim(a))
        truths = masked(name, basic.convert_element_type(a, bool), where, identity)
        return basic.keep_axes(reduce(truths, axes), shape(a), axes if keepdims else ())

    function.__doc__ = (
        f"Whether {name} of the elements along `axis` are true; `where` says which ones count."
    )
    return function


any = truth_reduction("any", reductions.reduce_or, False)
all = truth_reduction("all", reductions.reduce_and, True)


def count_nonzero(a: Value, axis: Axis = None, keepdims: bool = False) -> Value:
    """How many elements are not zero."""
    zero = np.zeros((), get_aval(a).dtype)
    return sum(elementwise.ne(a, zero), static(axis), keepdims=keepdims)


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
        return basic.keep_axes(find(a, axis, np.int64), before, axes if keepdims else ())

    extreme = {"argmax": "greatest", "argmin": "least"}[find.__name__]
    function.__doc__ = (
        f"The first index of the {extreme} element along `axis`, or of all elements in one line."
    )
    return function


argmax, argmin = index_of(reductions.argmax), index_of(reductions.argmin)


def cumsum(a: Value, axis: int | None = None, dtype: Any = None, out: None = None) -> Value:
    """The running sum along `axis`, or over all elements in order."""
    refuse_out("cumsum", out)
    a, axis = in_line(a, axis)
    own = get_aval(a).dtype
    wanted = np.dtype((np.int64 if own.kind == "b" else own) if dtype is None else dtype)
    a = basic.convert_element_type(a, wanted)
    if wanted.kind == "b":
        a = basic.convert_element_type(a, np.int64)
    out = reductions.cumsum(a, one_axis(axis, ndim(a)))
    return basic.convert_element_type(out, wanted)


def var(
    a: Value,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Value = None,
    mean: Value = None,
    correction: float | None = None,
) -> Value:
    """The mean squared distance from the mean; `ddof` is subtracted from the divisor.

    Only elements in the mask `where` count. `mean` may be given, and `correction` is another name
    for `ddof`.
    """
    refuse_out("var", out)
    if correction is not None and ddof != 0:
        raise ValueError("ddof and correction are the same parameter: give one of them.")
    (a,) = promote_float(a)
    axes = normal_axes(axis, ndim(a))
    count = number_of(a, axes, keepdims, where) - (ddof if correction is None else correction)

    def variance(a: Value) -> Value:
        center = mean_of(a, axes, keepdims=True, where=where) if mean is None else mean
        distance = basic.sub(a, basic.convert_element_type(center, get_aval(a).dtype))
        total = sum(square(distance), axes, keepdims=keepdims, where=where)
        nan = defining.full_like(total, np.nan)
        if where is None:
            return divide(total, count) if count > 0 else nan
        return choose(count > 0, divide(total, count), nan)

    return in_wider_float(variance, a, dtype, get_aval(a).dtype)


def std(
    a: Value,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Value = None,
    mean: Value = None,
    correction: float | None = None,
) -> Value:
    """The square root of `var`."""
    refuse_out("std", out)
    options = {"where": where, "mean": mean, "correction": correction}
    return sqrt(var(a, axis, dtype, ddof=ddof, keepdims=keepdims, **options))


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

name_functions(globals())
