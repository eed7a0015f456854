"""`minijax.numpy`: functions under NumPy's names, which promote and broadcast, then bind.

This part needs the primitives of lessons 4 to 12 only. It also says what operators and methods of
tracers mean, by filling `core.array_methods`.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.core import (
    Tracer,
    array_methods,
    as_result,
    convert_element_type_p,
    get_aval,
)
from minijax.lax import basic

__all__ = [
    "add",
    "arange",
    "array",
    "asarray",
    "bool_",
    "broadcast_to",
    "cos",
    "divide",
    "dot",
    "exp",
    "eye",
    "float16",
    "float32",
    "float64",
    "full",
    "greater",
    "int8",
    "int16",
    "int32",
    "int64",
    "less",
    "linspace",
    "log",
    "matmul",
    "mean",
    "multiply",
    "ndim",
    "negative",
    "ones",
    "ones_like",
    "pi",
    "positive",
    "shape",
    "sin",
    "size",
    "subtract",
    "sum",
    "transpose",
    "true_divide",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "zeros",
    "zeros_like",
]

pi = math.pi
bool_, float16, float32, float64 = np.bool_, np.float16, np.float32, np.float64
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64


# Promotion and broadcasting ---------------------------------------------------------------------


def convert(x: Any, dtype: np.dtype, weak_type: bool) -> Any:
    """`x` as `dtype`. A Python number is converted at once."""
    if type(x) in (bool, int, float):
        return dtype.type(x).item() if weak_type else np.asarray(x, dtype)
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak_type)


def promote_dtypes(*args: Any, common_type: Callable[..., Any] = dtypes.result_type) -> list[Any]:
    """The operands in their common type."""
    types = [(aval.dtype, aval.weak_type) for aval in map(get_aval, args)]
    common = common_type(*types)
    pairs = zip(args, types, strict=True)
    return [x if own == common else convert(x, *common) for x, own in pairs]


promote_float = functools.partial(promote_dtypes, common_type=dtypes.float_result_type)


def promote_shapes(*args: Any) -> list[Any]:
    """Operands of the same rank, with axes of length 1 put in front; 0-d operands stay 0-d."""
    rank = max(map(ndim, args))
    return [x if ndim(x) in (0, rank) else expand_rank(x, rank) for x in args]


def expand_rank(x: Any, rank: int) -> Any:
    missing = rank - ndim(x)
    return basic.broadcast_in_dim(x, (1,) * missing + shape(x), range(missing, rank))


# Element-wise functions -------------------------------------------------------------------------


# What an operation is for booleans, if it is another one: `minijax/numpy/elementwise.py` says it.
of_booleans: dict[Callable[..., Any], Callable[..., Any]] = {}


def binary(
    operation: Callable[..., Any], promote: Callable[..., Any] = promote_dtypes
) -> Callable[[Any, Any], Any]:
    def function(x: Any, y: Any, /) -> Any:
        x, y = promote(x, y)
        if shape(x) != shape(y):
            x, y = promote_shapes(x, y)
        if operation in of_booleans and get_aval(x).dtype.kind == "b":
            return of_booleans[operation](x, y)
        return operation(x, y)

    return function


def unary_float(operation: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def function(x: Any, /) -> Any:
        return operation(x if dtypes.is_float(get_aval(x).dtype) else promote_float(x)[0])

    return function


add = binary(basic.add)
subtract = binary(basic.sub)
multiply = binary(basic.mul)
divide = true_divide = binary(basic.div, promote_float)
greater = binary(basic.gt)
less = binary(basic.lt)
sin = unary_float(basic.sin)
cos = unary_float(basic.cos)
exp = unary_float(basic.exp)
log = unary_float(basic.log)


def negative(x: Any, /) -> Any:
    return basic.neg(x)


def positive(x: Any, /) -> Any:
    """`x` itself, as an array."""
    return asarray(x)


# Reductions, shapes, contractions ---------------------------------------------------------------


def sum(
    a: Any, axis: int | Sequence[int] | None = None, dtype: Any = None, *, keepdims: bool = False
) -> Any:
    """The sum over `axis`, over several axes, or over all of them; small integers become int64."""
    a = numeric(a)
    aval, axes = get_aval(a), normal_axes(axis, ndim(a))
    widest = {"u": np.uint64, "i": np.int64}.get(aval.dtype.kind, aval.dtype)
    a = basic.convert_element_type(a, dtype or widest)
    return keep_axes(basic.reduce_sum(a, axes), aval.shape, axes if keepdims else ())


def keep_axes(reduced: Any, shape: Sequence[int], axes: Sequence[int]) -> Any:
    """What was reduced over `axes`, with these axes back, of length 1."""
    if not axes:
        return reduced
    kept = [i for i in range(len(shape)) if i not in axes]
    return basic.broadcast_in_dim(
        reduced, [1 if i in axes else n for i, n in enumerate(shape)], kept
    )


def mean(
    a: Any, axis: int | Sequence[int] | None = None, dtype: Any = None, *, keepdims: bool = False
) -> Any:
    """The sum over `axis`, divided by the number of its elements."""
    count = math.prod(shape(a)[i] for i in normal_axes(axis, ndim(a)))
    a = numeric(a)
    a = promote_float(a)[0] if dtype is None else basic.convert_element_type(a, dtype)
    return divide(sum(a, axis, keepdims=keepdims), count)


def numeric(a: Any) -> Any:
    """`a`, with booleans as numbers 0 and 1, so that they can be added up."""
    return convert(a, np.dtype(np.int32), False) if get_aval(a).dtype.kind == "b" else a


def normal_axes(axis: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Axes as a sorted tuple of numbers from 0 to rank - 1."""
    axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
    if any(not -rank <= i < rank for i in axes):
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")
    return tuple(sorted(i % rank for i in axes))


def transpose(a: Any, axes: Sequence[int] | None = None) -> Any:
    """The axes in the order `axes`, or reversed."""
    return basic.transpose(a, range(ndim(a))[::-1] if axes is None else [i % ndim(a) for i in axes])


def matmul(a: Any, b: Any) -> Any:
    """The matrix product over the last two axes; the axes in front of them broadcast.

    An operand with one axis is a row on the left side and a column on the right, without that axis
    in the result.
    """
    if not ndim(a) or not ndim(b):
        raise ValueError("matmul needs operands with at least one axis; use multiply for scalars.")
    dtype, _ = dtypes.result_type(*((x.dtype, x.weak_type) for x in map(get_aval, (a, b))))
    if shape(a)[:-2] != shape(b)[:-2]:
        common = np.broadcast_shapes(shape(a)[:-2], shape(b)[:-2])
        a, b = stretch_batch(a, common), stretch_batch(b, common)
    a_rank, b_rank = max(ndim(a) - 2, 0), max(ndim(b) - 2, 0)
    shared = min(a_rank, b_rank)
    batch = tuple(range(a_rank - shared, a_rank)), tuple(range(b_rank - shared, b_rank))
    numbers = (((ndim(a) - 1,), (max(ndim(b) - 2, 0),)), batch)
    out = basic.dot_general(a, b, numbers, preferred_element_type=dtype)
    if a_rank == b_rank:
        return out
    # `out` has the shared axes first, then what only `a` has, then what only `b` has.
    a_only, rows = a_rank - shared, int(ndim(a) > 1)
    extra = [*range(shared, shared + a_only)]
    extra += [*range(shared + a_only + rows, shared + a_only + rows + b_rank - shared)]
    order = [*extra, *range(shared)]
    return basic.transpose(out, order + [i for i in range(ndim(out)) if i not in order])


def stretch_batch(x: Any, common: Sequence[int]) -> Any:
    """`x` with its batch axes of length 1 repeated to what the other operand has."""
    own = ndim(x) - 2
    wanted = (*common[len(common) - own :], *shape(x)[-2:]) if own > 0 else shape(x)
    return x if shape(x) == wanted else basic.broadcast_in_dim(x, wanted, range(ndim(x)))


def dot(a: Any, b: Any) -> Any:
    """`matmul`, and `multiply` where an operand is 0-d."""
    return matmul(a, b) if ndim(a) and ndim(b) else multiply(a, b)


def broadcast_to(array: Any, shape: Sequence[int]) -> Any:
    """`array` repeated into `shape`, by NumPy's broadcasting rules."""
    missing = len(shape) - ndim(array)
    return basic.broadcast_in_dim(array, tuple(shape), range(missing, len(shape)))


# Making and inspecting arrays -------------------------------------------------------------------


def asarray(a: Any, dtype: Any = None) -> Any:
    """`a` as an array; lists of numbers become arrays, tracers stay tracers."""
    if isinstance(a, Tracer) or type(a).__module__.startswith("minijax"):
        return a if dtype is None else basic.convert_element_type(a, dtype)
    leaves = leaves_of(a)
    if any(isinstance(x, Tracer) for x in leaves):
        types = [(aval.dtype, aval.weak_type) for aval in map(get_aval, leaves)]
        return stacked(a, dtype or dtypes.result_type(*types)[0])
    return as_result(np.array(a, dtype))


def leaves_of(a: Any) -> list[Any]:
    """What stands in lists inside of lists, from left to right."""
    return [x for part in a for x in leaves_of(part)] if isinstance(a, list | tuple) else [a]


def stacked(a: Any, dtype: Any) -> Any:
    """Lists with tracers in them as an array; NumPy cannot make it, so `stack` does."""
    from minijax.numpy import stack  # a later lesson gives it

    return (
        stack([stacked(x, dtype) for x in a]) if isinstance(a, list | tuple) else asarray(a, dtype)
    )


def array(object: Any, dtype: Any = None) -> Any:
    return asarray(object, dtype)


def zeros(shape: int | Sequence[int], dtype: Any = None) -> np.ndarray:
    return as_result(np.zeros(shape, dtype))


def ones(shape: int | Sequence[int], dtype: Any = None) -> np.ndarray:
    return as_result(np.ones(shape, dtype))


def full(shape: int | Sequence[int], fill_value: Any, dtype: Any = None) -> Any:
    if isinstance(fill_value, Tracer):
        fill_value = asarray(fill_value, dtype)
        return broadcast_to(fill_value, (shape,) if isinstance(shape, int) else shape)
    return as_result(np.full(shape, fill_value, dtype))


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> np.ndarray:
    """The numbers from `start` (0 if there is no `stop`) to below `stop`, in steps."""
    start, stop = (0, start) if stop is None else (start, stop)
    return as_result(np.arange(start, stop, 1 if step is None else step, dtype=dtype))


def linspace(
    start: float, stop: float, num: int = 50, endpoint: bool = True, *, dtype: Any = None
) -> np.ndarray:
    return as_result(np.linspace(start, stop, num, endpoint, dtype=dtype))


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> np.ndarray:
    """N rows and M columns (N if there is no M), with ones on the k-th diagonal."""
    return as_result(np.eye(N, M, k, dtype or float))


def zeros_like(a: Any, dtype: Any = None, shape: Any = None) -> np.ndarray:
    aval = get_aval(a)
    return zeros(aval.shape if shape is None else shape, dtype or aval.dtype)


def ones_like(a: Any, dtype: Any = None, shape: Any = None) -> np.ndarray:
    aval = get_aval(a)
    return ones(aval.shape if shape is None else shape, dtype or aval.dtype)


def shape(a: Any) -> tuple[int, ...]:
    known = getattr(a, "shape", None)  # of arrays and tracers
    return get_aval(a).shape if known is None else known


def ndim(a: Any) -> int:
    return len(shape(a))


def size(a: Any, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements, or of those along `axis`."""
    return math.prod(shape(a)[i] for i in normal_axes(axis, ndim(a)))


# Operators and methods --------------------------------------------------------------------------


def swapped(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: f(y, x)


for _name, _function in {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": divide,
    "matmul": matmul,
}.items():
    array_methods[f"__{_name}__"] = _function
    array_methods[f"__r{_name}__"] = swapped(_function)

array_methods.update(
    {
        "__neg__": negative,
        "__pos__": positive,
        "__gt__": greater,
        "__lt__": less,
        "sum": sum,
        "mean": mean,
        "transpose": transpose,
        "astype": basic.convert_element_type,
    }
)
