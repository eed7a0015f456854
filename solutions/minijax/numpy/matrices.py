"""`minijax.numpy`, continued: grids, diagonals, joining, comparing and products."""

import operator
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import array_methods
from minijax.core import Tracer, Value, get_aval
from minijax.lax import basic, defining, elementwise, shapes
from minijax.lax.basic import check_precision
from minijax.numpy.basic import multiply, name_functions, positive, refuse_out, static, sum
from minijax.numpy.elementwise import (
    abs,
    equal,
    isinf,
    isnan,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    power,
    where,
)
from minijax.numpy.making import (
    asarray,
    convert,
    eye,
    filled_like,
    full,
    linspace,
    ndim,
    promote_dtypes,
    promote_float,
    shape,
    size,
    sizes_of,
    type_like,
    zeros,
)
from minijax.numpy.reductions import all
from minijax.numpy.shapes import (
    broadcast_arrays,
    concatenate,
    expand_dims,
    flip,
    moveaxis,
    one_axis,
    pad,
    ravel,
    reshape,
    several,
    split,
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
    "column_stack",
    "convolve",
    "cross",
    "diag",
    "diagonal",
    "dstack",
    "empty",
    "empty_like",
    "fliplr",
    "flipud",
    "full_like",
    "identity",
    "isclose",
    "kron",
    "logspace",
    "meshgrid",
    "polyval",
    "rot90",
    "trace",
    "tri",
    "tril_indices",
    "triu_indices",
    "vander",
]


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


def tri(N: int, M: int | None = None, k: Any = 0, dtype: Any = None) -> Value:
    """Ones on diagonal number `k` and below it, zeros above; float32 if no dtype is given."""
    rows, columns = sizes_of((N, N if M is None else M))
    row, column = (shapes.broadcasted_iota(np.int32, (rows, columns), axis) for axis in (0, 1))
    offset = basic.convert_element_type(k, np.int32) if isinstance(k, Tracer) else np.int32(k)
    below = elementwise.ge(basic.add(row, offset), column)
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
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    if not count:
        return zeros((*shape(a)[:-2], 0), get_aval(a).dtype)
    places = np.arange(count)
    found = a[..., places - min(offset, 0), places + max(offset, 0)]
    return basic.convert_element_type(found, get_aval(found).dtype)


def diag(v: Value, k: int = 0) -> Value:
    """A matrix with `v` on diagonal number `k`; or that diagonal, if `v` is a matrix."""
    if ndim(v) == 2:
        return diagonal(v, k)
    if ndim(v) != 1:
        raise ValueError("diag takes an array with one axis or two.")
    v, k = positive(v), operator.index(k)
    rows = pad(v, ((max(0, k), max(0, -k)),))
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
    return concatenate([arr, values], static(axis))


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
    """Like `split`, for lengths that cannot be divided: the first parts may be longer by one."""
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
    kind = get_aval(a).dtype.kind
    a, b = promote_float(a, b) if kind == "b" else (a, b)
    near = less_equal(abs(a - b), atol + rtol * abs(b))
    if kind != "f":
        return basic.convert_element_type(near, bool)  # never weakly typed
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


# Products, polynomials ----------------------------------------------------------------------------


def kron(a: Value, b: Value) -> Value:
    """The Kronecker product: each element of `a` replaced by its product with all of `b`."""
    rank = max(ndim(a), ndim(b))
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
        raise NotImplementedError("cross takes only vectors with three components.")
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
    return basic.convert_element_type(total, total.dtype)  # never weakly typed


array_methods.update({"diagonal": diagonal, "trace": trace})

name_functions(globals())
