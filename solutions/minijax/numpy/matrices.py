"""`minijax.numpy`, continued: grids, diagonals, joining, comparing, and numbers about samples."""

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
from minijax.lax.basic import check_precision, named
from minijax.numpy.basic import (
    asarray,
    broadcast_to,
    convert,
    divide,
    eye,
    filled_like,
    full,
    less,
    mean,
    multiply,
    name_functions,
    ndim,
    normal_axes,
    positive,
    promote_dtypes,
    promote_float,
    refuse_out,
    shape,
    size,
    sizes_of,
    static,
    sum,
    type_like,
    zeros,
)
from minijax.numpy.elementwise import (
    abs,
    clip,
    equal,
    floor,
    isinf,
    isnan,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    power,
    where,
)
from minijax.numpy.indexing import sort
from minijax.numpy.reductions import all, count_nonzero, max, min
from minijax.numpy.shapes import (
    broadcast_arrays,
    concatenate,
    expand_dims,
    flip,
    in_line,
    moveaxis,
    one_axis,
    pad,
    ravel,
    reshape,
    several,
    stack,
    swapaxes,
)

__all__ = [
    "allclose",
    "append",
    "array_equal",
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "average",
    "column_stack",
    "convolve",
    "cross",
    "cumprod",
    "diag",
    "diagonal",
    "diff",
    "dstack",
    "empty",
    "empty_like",
    "fliplr",
    "flipud",
    "full_like",
    "identity",
    "interp",
    "isclose",
    "kron",
    "logspace",
    "median",
    "meshgrid",
    "nanmax",
    "nanmean",
    "nanmin",
    "nansum",
    "percentile",
    "polyval",
    "ptp",
    "quantile",
    "rot90",
    "searchsorted",
    "trace",
    "tri",
    "tril_indices",
    "triu_indices",
    "vander",
]

Axis = int | Sequence[int] | None

# Making arrays ------------------------------------------------------------------------------------


def empty(shape: Any, dtype: Any = None) -> Value:
    """An array of this shape; its values, which count for nothing, are zeros as in JAX."""
    return zeros(shape, dtype)


def empty_like(prototype: Value, dtype: Any = None, shape: Any = None) -> Value:
    """An array like `prototype`, whose values count for nothing."""
    return filled_like(prototype, 0, dtype, shape)


def full_like(a: Value, fill_value: Value, dtype: Any = None, shape: Any = None) -> Value:
    """`fill_value` everywhere, with the shape and the dtype of `a` if no other is given."""
    aval = type_like(a)
    sizes = aval.shape if shape is None else shape
    if dtype is None and aval.weak_type and aval.dtype.kind != "b" and not ndim(fill_value):
        return full(sizes, convert(fill_value, aval.dtype, True))
    return full(sizes, fill_value, aval.dtype if dtype is None else dtype)


def identity(n: int, dtype: Any = None) -> Any:
    """A square matrix with ones on its diagonal."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Value:
    """Ones on diagonal number `k` and below it, zeros above; float32 if no dtype is given."""
    rows, columns = sizes_of((N, N if M is None else M))
    row, column = (shapes.broadcasted_iota(np.int32, (rows, columns), axis) for axis in (0, 1))
    below = elementwise.ge(basic.add(row, np.int32(k)), column)
    return below.astype(dtypes.canonical(np.float32 if dtype is None else dtype))


def meshgrid(
    *xi: Value, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[Any]:
    """The coordinates of a grid, one array per axis; "xy" exchanges the first two axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is 'xy' or 'ij', not {indexing!r}.")
    if not copy:
        raise ValueError("jnp.meshgrid only supports copy=True")
    lines = [ravel(x) for x in xi]
    if any(ndim(x) != 1 for x in xi):
        raise ValueError("meshgrid takes arrays with one axis.")
    rank, order = len(lines), list(range(len(lines)))
    if indexing == "xy" and rank > 1:
        order[:2] = 1, 0
    grids = [
        reshape(line, [-1 if i == axis else 1 for i in range(rank)])
        for axis, line in zip(order, lines, strict=True)
    ]
    return grids if sparse else broadcast_arrays(*grids)


def logspace(
    start: Value,
    stop: Value,
    num: int = 50,
    endpoint: bool = True,
    base: Value = 10.0,
    dtype: Any = None,
) -> Value:
    """Powers of `base` with exponents at equal distances."""
    from minijax.numpy import linspace, power

    out = power(base, linspace(start, stop, num, endpoint))
    (own,) = promote_float(out)
    return basic.convert_element_type(out, get_aval(own).dtype if dtype is None else dtype)


def vander(x: Value, N: int | None = None, increasing: bool = False) -> Value:
    """The powers of the elements of `x`, a row for each; the highest first."""
    x = positive(x)
    if ndim(x) != 1:
        raise ValueError("vander takes an array with one axis.")
    count = size(x) if N is None else operator.index(static(N))
    powers = shapes.broadcasted_iota(x.dtype, (1, count), 1)
    last = np.asarray(count - 1, x.dtype)
    return power(expand_dims(x, 1), powers if increasing else basic.sub(last, powers))


# Diagonals ----------------------------------------------------------------------------------------


def diagonal(a: Value, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Value:
    """The elements on a diagonal of two axes, along a new last axis; `offset` says which one."""
    a = moveaxis(positive(a), (axis1, axis2), (-2, -1))
    rows, columns = shape(a)[-2:]
    offset = operator.index(offset)
    count = builtins.max(
        0, builtins.min(rows + builtins.min(offset, 0), columns - builtins.max(offset, 0))
    )
    if not count:
        return zeros((*shape(a)[:-2], 0), get_aval(a).dtype)
    places = np.arange(count)
    found = a[..., places - builtins.min(offset, 0), places + builtins.max(offset, 0)]
    return basic.convert_element_type(found, get_aval(found).dtype)


def diag(v: Value, k: int = 0) -> Value:
    """A matrix with `v` on diagonal number `k`; or that diagonal, if `v` is a matrix."""
    if ndim(v) == 2:
        return diagonal(v, k)
    if ndim(v) != 1:
        raise ValueError("diag takes an array with one axis or two.")
    v, k = positive(v), operator.index(k)
    rows = pad(v, ((builtins.max(0, k), builtins.max(0, -k)),))
    on = eye(size(rows), k=k, dtype=bool)
    return where(on, rows, defining.full_like(rows, 0))


def trace(
    a: Value, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Value:
    """The sum of a diagonal."""
    refuse_out("trace", out)
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """The rows and the columns of the elements on diagonal number `k` and below it."""
    rows, columns = sizes_of((n, n if m is None else m))
    return tuple(asarray(x) for x in np.tril_indices(rows, operator.index(k), columns))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """The rows and the columns of the elements on diagonal number `k` and above it."""
    rows, columns = sizes_of((n, n if m is None else m))
    return tuple(asarray(x) for x in np.triu_indices(rows, operator.index(k), columns))


# Joining and turning ------------------------------------------------------------------------------


def append(arr: Value, values: Value, axis: int | None = None) -> Value:
    """`arr` followed by `values` along `axis`; without an axis, both are flattened first."""
    if axis is None:
        return concatenate([ravel(arr), ravel(values)])
    return concatenate([arr, values], axis)


def atleast_1d(*arys: Value) -> Any:
    """The arrays, with at least one axis each."""
    found = [x if ndim(x) else ravel(x) for x in map(positive, arys)]
    return found[0] if len(found) == 1 else found


def atleast_2d(*arys: Value) -> Any:
    """The arrays, with at least two axes each."""
    found = [x if ndim(x) > 1 else reshape(x, (1, size(x))) for x in map(positive, arys)]
    return found[0] if len(found) == 1 else found


def column_stack(tup: Any) -> Value:
    """Arrays with one axis as the columns of a matrix."""
    parts = [x if ndim(x) > 1 else reshape(x, (size(x), 1)) for x in several(tup)]
    return concatenate(parts, 1)


def dstack(tup: Any) -> Value:
    """Arrays joined along their third axis."""
    parts = [x if ndim(x) > 2 else expand_dims(atleast_2d(x), 2) for x in several(tup)]
    return concatenate(parts, 2)


def array_split(ary: Value, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """As `split`, for lengths that cannot be divided: the first parts may be longer by one."""
    from minijax.numpy import split

    if not isinstance(indices_or_sections, int):
        return split(ary, indices_or_sections, axis)
    length = shape(ary)[one_axis(axis, ndim(ary))]
    each, longer = divmod(length, indices_or_sections)
    sizes = [each + 1] * longer + [each] * (indices_or_sections - longer)
    return split(ary, np.cumsum(sizes)[:-1].tolist(), axis)


def fliplr(m: Value) -> Value:
    """The columns in the opposite order."""
    return flip(m, 1)


def flipud(m: Value) -> Value:
    """The rows in the opposite order."""
    return flip(m, 0)


def rot90(m: Value, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Value:
    """The array, turned by 90 degrees in the plane of two axes, `k` times."""
    first, second = (one_axis(axis, ndim(m)) for axis in axes)
    if first == second:
        raise ValueError("Axes must be different")
    turns = operator.index(static(k)) % 4
    if turns == 2:
        return flip(m, (first, second))
    if turns == 0:
        return positive(m)
    return (
        swapaxes(flip(m, second), first, second)
        if turns == 1
        else flip(swapaxes(m, first, second), second)
    )


# Comparing ----------------------------------------------------------------------------------------


def isclose(
    a: Value, b: Value, rtol: Value = 1e-05, atol: Value = 1e-08, equal_nan: bool = False
) -> Value:
    """Whether elements differ by no more than `atol + rtol * abs(b)`."""
    a, b = broadcast_arrays(*promote_dtypes(a, b))
    if not dtypes.is_float(get_aval(a).dtype):
        a, b = promote_float(a, b) if get_aval(a).dtype.kind == "b" else (a, b)
        near = less_equal(abs(a - b), atol + rtol * abs(b))
        return basic.convert_element_type(near, bool)  # never weakly typed
    near = less_equal(abs(a - b), atol + rtol * abs(b))
    near = logical_and(near, logical_not(logical_or(isinf(a), isinf(b))))
    near = logical_or(near, logical_and(isinf(a), equal(a, b)))
    return logical_or(near, logical_and(isnan(a), isnan(b))) if equal_nan else near


def allclose(
    a: Value, b: Value, rtol: Value = 1e-05, atol: Value = 1e-08, equal_nan: bool = False
) -> Value:
    """Whether all elements are close, in the sense of `isclose`."""
    return all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Value, a2: Value, equal_nan: bool = False) -> Value:
    """Whether two arrays have the same shape and equal elements."""
    a1, a2 = asarray(a1), asarray(a2)
    if shape(a1) != shape(a2):
        return asarray(False)
    same = equal(a1, a2)
    return all(logical_or(same, logical_and(isnan(a1), isnan(a2))) if equal_nan else same)


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
    reduce: Callable[..., Any], instead: float, only_nan: Any = None
) -> Callable[..., Any]:
    """A reduction in which NaN counts as `instead`; of NaN alone it is `only_nan`, if given."""

    def function(a: Value, axis: Axis, **options: Any) -> Value:
        a, axis = positive(a), static(axis)
        if not dtypes.is_float(a.dtype):
            return reduce(a, axis, **options)
        found = reduce(where(isnan(a), instead, a), axis, **options)
        if only_nan is None:
            return found
        nothing = all(isnan(a), axis, keepdims=options["keepdims"])
        return where(nothing, only_nan, found)

    return function


def nansum(
    a: Value,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Value = None,
    where: Value = None,
) -> Value:
    """The sum of all that is not NaN; see `sum`."""
    refuse_out("nansum", out)
    options = {"dtype": dtype, "keepdims": keepdims, "initial": initial, "where": where}
    return without_nan(sum, 0.0)(a, axis, **options)


def nanmean(
    a: Value,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Value = None,
) -> Value:
    """The mean of all that is not NaN, in the mask `where`."""
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
        only_nan = math.nan if initial is None else None
        options = {"keepdims": keepdims, "initial": initial, "where": where}
        return without_nan(reduce, instead, only_nan)(a, axis, **options)

    return named(function, name, f"`{reduce.__name__}` of all that is not NaN.")


nanmax = extreme_but_nan("nanmax", max, -math.inf)
nanmin = extreme_but_nan("nanmin", min, math.inf)


# Products, polynomials ----------------------------------------------------------------------------


def kron(a: Value, b: Value) -> Value:
    """The Kronecker product: each element of `a` replaced by its product with all of `b`."""
    rank = builtins.max(ndim(a), ndim(b))
    if get_aval(a).dtype == get_aval(b).dtype == bool:
        raise TypeError("kron takes numbers: at most one of its arrays has booleans.")
    a, b = (reshape(x, (*[1] * (rank - ndim(x)), *shape(x))) for x in map(positive, (a, b)))
    outer, inner = [2 * i for i in range(rank)], [2 * i + 1 for i in range(rank)]
    out = multiply(expand_dims(a, inner), expand_dims(b, outer))
    return reshape(out, [n * m for n, m in zip(shape(a), shape(b), strict=True)])


def cross(
    a: Value, b: Value, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Value:
    """The cross product of vectors with three components."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a, b = (moveaxis(positive(x), i, -1) for x, i in ((a, axisa), (b, axisb)))
    if shape(a)[-1] != 3 or shape(b)[-1] != 3:
        raise NotImplementedError("cross takes vectors with three components only.")
    (a0, a1, a2), (b0, b1, b2) = ([x[..., i] for i in range(3)] for x in (a, b))
    product = stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axisc)
    return basic.convert_element_type(product, get_aval(product).dtype)


def convolve(a: Value, v: Value, mode: str = "full", *, precision: Any = None) -> Value:
    """The convolution of two arrays with one axis: sums of products at every shift, as floats.

    `precision` changes nothing on the CPU.
    """
    check_precision(precision)
    if ndim(a) != 1 or ndim(v) != 1:
        raise ValueError("convolve() only support 1-dimensional inputs.")
    if not size(a) or not size(v):
        raise ValueError("convolve: inputs cannot be empty, got shapes ")
    a, v = promote_float(a, v)
    a, v = (v, a) if size(a) < size(v) else (a, v)
    long, short = size(a), size(v)
    before = {"full": short - 1, "same": short // 2, "valid": 0}.get(mode)
    if before is None:
        raise ValueError("mode must be one of ['full', 'same', 'valid']")
    after = {"full": short - 1, "same": (short - 1) - short // 2, "valid": 0}[mode]
    wide = pad(a, ((before, after),))
    count = long + before + after - short + 1
    windows = wide[np.arange(count)[:, None] + np.arange(short)]
    return windows @ flip(v)


def polyval(p: Value, x: Value, *, unroll: int = 16) -> Value:
    """The polynomial with coefficients `p`, the highest first, at `x`, by Horner's rule."""
    p, x = promote_dtypes(*map(positive, (p, x)))
    total = defining.full_like(x, 0)
    for i in range(shape(p)[0]):
        total = total * x + p[i]
    return total


def interp(x: Value, xp: Value, fp: Value, left: Value = None, right: Value = None) -> Value:
    """The values at `x` of the line through the points `(xp, fp)`, of which `xp` is in order."""
    if shape(xp) != shape(fp) or ndim(xp) != 1:
        raise ValueError("xp and fp must be one-dimensional arrays of equal size")
    (x, xp), (fp,) = promote_float(x, xp), promote_float(fp)
    after = clip(searchsorted(xp, x, "right"), 1, size(xp) - 1)
    x0, x1, f0, f1 = xp[after - 1], xp[after], fp[after - 1], fp[after]
    width = x1 - x0
    flat = equal(width, 0)
    found = where(flat, f0, f0 + (x - x0) / where(flat, 1, width) * (f1 - f0))
    found = where(less(x, xp[0]), fp[0] if left is None else left, found)
    return where(less(xp[-1], x), fp[-1] if right is None else right, found)


# Numbers about samples ----------------------------------------------------------------------------


def searchsorted(
    a: Value, v: Value, side: str = "left", sorter: Value = None, *, method: str = "scan"
) -> Value:
    """How many elements of `a`, which is in order, come before each element of `v`.

    Elements equal to it come before it with the side "right". All of them are compared.
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
    unordered = isnan(expand_dims(v, -1)) if dtypes.is_float(get_aval(v).dtype) else False
    before = logical_or(comes_before, logical_and(unordered, logical_not(isnan(a))))
    return count_nonzero(before, -1).astype(np.int32)


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
            "quantile knows the method 'linear' only, and no overwrite_input."
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
    found = as_float(stack(parts), get_aval(a).dtype)
    found = reshape(found, (*shape(q), *shape(line)[:-1]))
    return reshape(found, (*shape(q), *kept)) if keepdims else found


def as_float(x: Value, dtype: np.dtype) -> Value:
    """`x` in this dtype; as weak as it is, if it has it already."""
    return x if get_aval(x).dtype == dtype else basic.convert_element_type(x, dtype)


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
    """As `quantile`, for `q` in percent."""
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


array_methods.update({"diagonal": diagonal, "trace": trace, "cumprod": cumprod, "ptp": ptp})

name_functions(globals())
