"""Sums along axes, averages, and what else there is to say of samples (`jax.numpy`)."""

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import array_methods
from minijax.core import Value, get_aval
from minijax.lax import basic, defining, elementwise, shapes
from minijax.lax.basic import named
from minijax.numpy.basic import (
    divide,
    less,
    mean,
    multiply,
    name_functions,
    positive,
    refuse_out,
    static,
    sum,
)
from minijax.numpy.elementwise import (
    clip,
    equal,
    floor,
    isnan,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    where,
)
from minijax.numpy.elementwise import where as choose
from minijax.numpy.lookups import sort
from minijax.numpy.making import (
    broadcast_to,
    in_dtype,
    ndim,
    normal_axes,
    promote_dtypes,
    promote_float,
    shape,
    size,
)
from minijax.numpy.matrices import full_like
from minijax.numpy.reductions import all, count_nonzero, max, min
from minijax.numpy.shapes import (
    concatenate,
    expand_dims,
    in_line,
    moveaxis,
    one_axis,
    ravel,
    reshape,
    stack,
)

__all__ = [
    "average",
    "cumprod",
    "diff",
    "interp",
    "median",
    "nanmax",
    "nanmean",
    "nanmin",
    "nansum",
    "percentile",
    "ptp",
    "quantile",
    "searchsorted",
]


Axis = int | Sequence[int] | None


# Sums along axes ----------------------------------------------------------------------------------


def cumprod(a: Value, axis: int | None = None, dtype: Any = None, out: None = None) -> Value:
    """The running product along `axis`, or over all elements in order."""
    refuse_out("cumprod", out)
    a, axis = in_line(a, axis)
    a = positive(a)
    wanted = int if a.dtype.kind == "b" else a.dtype
    a = basic.convert_element_type(a, wanted if dtype is None else dtype)
    axis, length = one_axis(axis, ndim(a)), shape(a)[one_axis(axis, ndim(a))]
    step = 1
    while step < length:  # each element becomes the product of twice as many before it
        before = defining.full_like(shapes.slice_in_dim(a, 0, step, axis=axis), 1)
        earlier = shapes.slice_in_dim(a, 0, length - step, axis=axis)
        a, step = multiply(a, concatenate([before, earlier], axis)), 2 * step
    return a


def diff(
    a: Value, n: int = 1, axis: int = -1, prepend: Value = None, append: Value = None
) -> Value:
    """The differences of neighbors along an axis, taken `n` times."""
    a = positive(a)
    times = operator.index(static(n))
    if not times:
        return a
    axis = one_axis(axis, ndim(a))
    ends = [
        x
        if x is None or ndim(x)
        else broadcast_to(x, [1 if i == axis else m for i, m in enumerate(shape(a))])
        for x in (prepend, append)
    ]
    parts = [x for x in (ends[0], a, ends[1]) if x is not None]
    a = concatenate(parts, axis) if len(parts) > 1 else a
    for _ in range(times):
        length = shape(a)[axis]
        after = shapes.slice_in_dim(a, builtins.min(1, length), length, axis=axis)
        before = shapes.slice_in_dim(a, 0, builtins.max(length - 1, 0), axis=axis)
        a = elementwise.ne(after, before) if get_aval(a).dtype.kind == "b" else after - before
    return a


def ptp(a: Value, axis: Axis = None, out: None = None, keepdims: bool = False) -> Value:
    """The difference between the greatest and the least element."""
    return max(a, axis, out, keepdims) - min(a, axis, out, keepdims)


def along_axes(weights: Value, axis: Axis, shape_of_all: Sequence[int]) -> Value:
    """Weights for some axes, in the order of `axis`, as weights for all of them."""
    if axis is None:
        raise ValueError("Axis must be specified when shapes of a and weights differ.")
    axes = [axis] if isinstance(axis, int) else axis
    axes = [one_axis(i, len(shape_of_all)) for i in axes]
    if shape(weights) != tuple(shape_of_all[i] for i in axes):
        raise ValueError(
            f"Weights of shape {shape(weights)} do not fit axes {axes} of shape {shape_of_all}."
        )
    weights = basic.transpose(weights, sorted(range(len(axes)), key=axes.__getitem__))
    sizes = [n if i in axes else 1 for i, n in enumerate(shape_of_all)]
    return broadcast_to(reshape(weights, sizes), shape_of_all)


def average(
    a: Value,
    axis: Axis = None,
    weights: Value = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """The weighted mean of the elements."""
    if weights is None:
        (a,) = promote_float(a)
        found = mean(a, axis, keepdims=keepdims)
        total = full_like(found, size(a) / builtins.max(size(found), 1))
        return (found, total) if returned else found
    a, weights = promote_float(a, weights)
    if shape(weights) != shape(a):
        weights = along_axes(weights, axis, shape(a))
    total = sum(weights, axis, keepdims=keepdims)
    found = divide(sum(multiply(a, weights), axis, keepdims=keepdims), total)
    return (found, total) if returned else found


def without_nan(
    reduce: Callable[..., Any], instead: float, a: Value, axis: Axis, **options: Any
) -> Value:
    """A reduction in which NaN counts as `instead`."""
    a, axis = positive(a), static(axis)
    a = where(isnan(a), instead, a) if dtypes.is_float(a.dtype) else a
    return reduce(a, axis, **options)


def nansum(
    a: Value,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Value = None,
    where: Value = None,
) -> Value:
    """The sum of everything that is not NaN; see `sum`."""
    refuse_out("nansum", out)
    options = {"dtype": dtype, "keepdims": keepdims, "initial": initial, "where": where}
    return without_nan(sum, 0.0, a, axis, **options)


def nanmean(
    a: Value,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Value = None,
) -> Value:
    """The mean of everything that is not NaN, in the mask `where`."""
    refuse_out("nanmean", out)
    (a,) = promote_float(a)
    own = get_aval(a).dtype
    options = {"dtype": own if dtype is None else dtype, "keepdims": keepdims, "where": where}
    found = divide(nansum(a, axis, **options), sum(logical_not(isnan(a)), axis, **options))
    return basic.convert_element_type(found, options["dtype"])


def extreme_but_nan(name: str, reduce: Callable[..., Any], instead: float) -> Callable[..., Any]:
    def function(
        a: Value,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: Value = None,
        where: Value = None,
    ) -> Value:
        refuse_out(name, out)
        options = {"keepdims": keepdims, "initial": initial, "where": where}
        found = without_nan(reduce, instead, a, axis, **options)
        if initial is not None or not dtypes.is_float(get_aval(a).dtype):
            return found
        return choose(all(isnan(a), axis, keepdims=keepdims), math.nan, found)

    return named(function, name, f"`{reduce.__name__}` of everything that is not NaN.")


nanmax = extreme_but_nan("nanmax", max, -math.inf)
nanmin = extreme_but_nan("nanmin", min, math.inf)


def interp(x: Value, xp: Value, fp: Value, left: Value = None, right: Value = None) -> Value:
    """The values at `x` of the line through the points `(xp, fp)`, of which `xp` is in order.

    Outside them it is `left` or `right`: a value, None for that of the nearest point, or
    "extrapolate" for the line that goes on.
    """
    for name, beyond in {"left": left, "right": right}.items():
        if isinstance(beyond, str) and beyond != "extrapolate":
            raise ValueError(f"The only text that {name} may be is 'extrapolate', not {beyond!r}.")
    if shape(xp) != shape(fp) or ndim(xp) != 1:
        raise ValueError("xp and fp must be one-dimensional arrays of equal size")
    (x, xp), (fp,) = promote_float(x, xp), promote_float(fp)
    after = clip(searchsorted(xp, x, "right"), 1, size(xp) - 1)
    x0, x1, f0, f1 = xp[after - 1], xp[after], fp[after - 1], fp[after]
    width = x1 - x0
    flat = equal(width, 0)
    found = where(flat, f0, f0 + (x - x0) / where(flat, 1, width) * (f1 - f0))
    if not isinstance(left, str):
        found = where(less(x, xp[0]), fp[0] if left is None else left, found)
    if not isinstance(right, str):
        found = where(less(xp[-1], x), fp[-1] if right is None else right, found)
    return found


# Numbers about samples ----------------------------------------------------------------------------


def searchsorted(
    a: Value, v: Value, side: str = "left", sorter: Value = None, *, method: str = "scan"
) -> Value:
    """How many elements of `a`, which is in order, come before each element of `v`.

    Elements equal to it come before it with the side "right". All of them are compared. NaN is
    after all numbers, and equal to NaN.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side is 'left' or 'right', not {side!r}.")
    if ndim(a) != 1 or (sorter is not None and ndim(sorter) != 1):
        raise ValueError("a and sorter should be 1-dimensional")
    if method not in ("scan", "scan_unrolled", "sort", "compare_all"):
        raise ValueError(f"invalid argument method={method!r}")
    a = positive(a) if sorter is None else positive(a)[sorter]
    a, v = promote_dtypes(a, positive(v))
    comes_before = (less if side == "left" else less_equal)(a, expand_dims(v, -1))
    if dtypes.is_float(get_aval(v).dtype):
        first = logical_not(isnan(a)) if side == "left" else True
        comes_before = logical_or(comes_before, logical_and(isnan(expand_dims(v, -1)), first))
    return count_nonzero(comes_before, -1).astype(np.int32)


def quantile(
    a: Value,
    q: Value,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Value:
    """The values below which a fraction `q` of the elements is; between two elements, interpolated.

    NaN among the elements makes the result NaN.
    """
    refuse_out("quantile", out)
    if method != "linear" or overwrite_input:
        raise NotImplementedError(
            "quantile supports only the method 'linear', and no overwrite_input."
        )
    if not dtypes.is_float(get_aval(q).dtype):
        raise TypeError(f"quantile takes a fraction q, a float, not {get_aval(q).dtype.name}.")
    (a,) = promote_float(a)
    if ndim(q) > 1:
        raise ValueError(f"q has one axis at most, not the shape {shape(q)}.")
    axes = normal_axes(static(axis), ndim(a))
    kept = [1 if i in axes else n for i, n in enumerate(shape(a))]
    last = moveaxis(a, axes, range(ndim(a) - len(axes), ndim(a)))
    line = reshape(
        last, (*shape(last)[: ndim(a) - len(axes)], math.prod(shape(a)[i] for i in axes))
    )
    line = sort(where(isnan(line).any(-1, keepdims=True), np.nan, line), -1)
    parts = [at_part(line, part) for part in ravel(q)]
    found = in_dtype(stack(parts), get_aval(a).dtype)
    found = reshape(found, (*shape(q), *shape(line)[:-1]))
    return reshape(found, (*shape(q), *kept)) if keepdims else found


def at_part(line: Value, part: Value) -> Value:
    """The value at a place between two elements along the last axis, which is in order."""
    place = multiply(part, np.asarray(shape(line)[-1] - 1, get_aval(part).dtype))
    low = floor(place)
    weight = place - low
    last = shape(line)[-1] - 1
    ends = [clip(x, 0, last).astype(int) for x in (low, elementwise.ceil(place))]
    first, second = (line[..., i] for i in ends)
    return first * (1 - weight) + second * weight


def percentile(
    a: Value,
    q: Value,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Value:
    """Like `quantile`, for `q` in percent."""
    (q,) = promote_float(q)
    return quantile(a, q / 100, axis, out, overwrite_input, method, keepdims)


def median(
    a: Value,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Value:
    """The value in the middle, or the mean of the two in the middle."""
    return quantile(a, 0.5, axis, out, overwrite_input, keepdims=keepdims)


array_methods.update({"cumprod": cumprod, "ptp": ptp})

name_functions(globals())
