"""Linear algebra (`minijax.numpy.linalg`), as far as primitives express it.

Norms and products are here. Decompositions and solutions (`inv`, `solve`, `cholesky`, `eigh`, `svd`
and their relatives) need LAPACK, which XLA reaches by custom calls; they are refused by name.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minijax.absent import missing
from minijax.core import Value
from minijax.numpy.basic import matmul as numpy_matmul
from minijax.numpy.basic import static
from minijax.numpy.basic import sum as sum_of
from minijax.numpy.contractions import outer as numpy_outer
from minijax.numpy.contractions import tensordot as numpy_tensordot
from minijax.numpy.elementwise import abs as abs_of
from minijax.numpy.elementwise import inf, not_equal, sqrt
from minijax.numpy.making import asarray, broadcast_to, eye, ndim, promote_float
from minijax.numpy.matrices import cross as numpy_cross
from minijax.numpy.matrices import diagonal as numpy_diagonal
from minijax.numpy.matrices import trace as numpy_trace
from minijax.numpy.reductions import max as max_of
from minijax.numpy.reductions import min as min_of
from minijax.numpy.shapes import moveaxis, one_axis, squeeze, swapaxes

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def __getattr__(name: str) -> Any:
    """What is not here says why."""
    raise missing("minijax.numpy.linalg", name)


def norm(x: Value, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Value:
    """The norm of vectors or matrices: along one axis, along two, or of all elements."""
    x, ord = asarray(*promote_float(x)), static(ord)
    if ord is None:
        return root_of_squares(x, axis, keepdims)
    if axis is None:
        if x.ndim not in (1, 2):
            raise ValueError(f"Improper number of axes for norm: {x.ndim=}")
        axis = tuple(range(x.ndim))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=ord)
    if len(axes) == 2:
        return norm_of_matrix(x, axes, keepdims, ord)
    raise ValueError(f"Improper number of axes for norm: {axis=}")


def root_of_squares(x: Value, axis: Any, keepdims: bool) -> Value:
    """The length, as Euclid has it."""
    return sqrt(sum_of(x * x, axis, keepdims=keepdims))


def vector_norm(x: Value, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Value:
    """`sum(abs(x) ** ord) ** (1 / ord)`, along axes or of all elements."""
    x = asarray(x)
    if ord is None or ord == 2:
        return root_of_squares(x, axis, keepdims)
    size = abs_of(x)
    if ord == inf:
        return max_of(size, axis, keepdims=keepdims)
    if ord == -inf:
        return min_of(size, axis, keepdims=keepdims)
    if ord == 0:
        return sum_of(not_equal(x, 0).astype(x.dtype), axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid order {ord!r} for vector norm.")
    total = sum_of(size if ord == 1 else size**ord, axis, keepdims=keepdims)
    return total if ord == 1 else total ** (1.0 / ord)


def matrix_norm(x: Value, /, *, keepdims: bool = False, ord: Any = "fro") -> Value:
    """The norm of the matrices in the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


def norm_of_matrix(x: Value, axes: Sequence[int], keepdims: bool, ord: Any) -> Value:
    """Sums of sizes along one axis, and their extreme along the other; or all squares."""
    row, column = (one_axis(axis, x.ndim) for axis in axes)
    if row == column:
        raise ValueError(f"Duplicate axes given. ndim={x.ndim}, {axes=}")
    if ord in ("f", "fro"):
        return root_of_squares(x, (row, column), keepdims)
    if ord in (2, -2, "nuc"):
        raise NotImplementedError(f"The matrix norm {ord!r} needs singular values, by LAPACK.")
    if ord not in (1, -1, inf, -inf):
        raise ValueError(f"Invalid order {ord!r} for matrix norm.")
    extreme: Callable[..., Any] = max_of if ord > 0 else min_of
    summed, other = (row, column) if abs(ord) == 1 else (column, row)
    sums = sum_of(abs_of(x), summed, keepdims=True)
    out = extreme(sums, other, keepdims=True)
    return out if keepdims else squeeze(out, (row, column))


def matrix_power(a: Value, n: int) -> Value:
    """The product of `n` equal square matrices, by squaring."""
    a = asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise TypeError(f"matrix_power takes square matrices, not shape {a.shape}.")
    if n < 0:
        raise NotImplementedError("A negative power needs the inverse matrix, by LAPACK.")
    if n == 0:
        return broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape)
    result = None
    while n:
        if n % 2:
            result = a if result is None else result @ a
        n //= 2
        a = a @ a if n else a
    return result


def matrix_transpose(x: Value, /) -> Value:
    """The last two axes in each other's place."""
    if ndim(x) < 2:
        raise ValueError(f"x must be at least two-dimensional for matrix_transpose; got {x}")
    return swapaxes(x, -1, -2)


def multi_dot(arrays: Sequence[Value], *, precision: Any = None) -> Value:
    """The product of matrices, from left to right; `precision` changes nothing on the CPU."""
    return functools.reduce(functools.partial(numpy_matmul, precision=precision), arrays)


def outer(x1: Value, x2: Value, /) -> Value:
    """Every element of one vector times every element of the other."""
    if ndim(x1) != 1 or ndim(x2) != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {ndim(x1)=}.")
    return numpy_outer(x1, x2)


def vecdot(
    x1: Value,
    x2: Value,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Value:
    """The sums of products along an axis; the other parameters are as in `jnp.matmul`."""
    x1, x2 = (moveaxis(x, axis, -1) for x in (x1, x2))
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return numpy_matmul(x1[..., None, :], x2[..., :, None], **options)[..., 0, 0]


def diagonal(x: Value, /, *, offset: int = 0) -> Value:
    """A diagonal of the matrices in the last two axes."""
    return numpy_diagonal(x, offset, -2, -1)


def trace(x: Value, /, *, offset: int = 0, dtype: Any = None) -> Value:
    """The sum of a diagonal of the matrices in the last two axes."""
    return numpy_trace(x, offset, -2, -1, dtype)


def cross(x1: Value, x2: Value, /, *, axis: int = -1) -> Value:
    """The vector product."""
    return numpy_cross(x1, x2, axis=axis)


def matmul(
    x1: Value, x2: Value, /, *, precision: Any = None, preferred_element_type: Any = None
) -> Value:
    """The matrix product over the last two axes: `jnp.matmul`."""
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return numpy_matmul(x1, x2, **options)


def tensordot(
    x1: Value,
    x2: Value,
    /,
    *,
    axes: Any = 2,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Value:
    """The sums over pairs of axes: `jnp.tensordot`."""
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return numpy_tensordot(x1, x2, axes, **options)
