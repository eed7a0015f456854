"""Making arrays, and what can be asked of one (`jax.numpy`)."""

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import Array, ArrayImpl, as_array
from minijax.core import (
    ShapedArray,
    Tracer,
    Value,
    Values,
    convert_element_type_p,
    get_aval,
    impl_rules,
    placed_with,
    trace_state,
)
from minijax.errors import ConcretizationTypeError
from minijax.lax import basic

__all__ = [
    "arange",
    "array",
    "asarray",
    "broadcast_to",
    "eye",
    "full",
    "linspace",
    "ndim",
    "ones",
    "ones_like",
    "shape",
    "size",
    "zeros",
    "zeros_like",
]


# Promotion and broadcasting ---------------------------------------------------------------------


def convert(x: Value, dtype: np.dtype, weak_type: bool) -> Value:
    """`x` as `dtype`. A Python number is converted at once."""
    if type(x) in (bool, int, float):
        value = np.asarray(x).astype(dtype)  # an int8 takes 300 as 44, as in JAX
        return value.item() if weak_type else value
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak_type)


def in_dtype(x: Value, dtype: np.dtype) -> Value:
    """`x` if it has this dtype, weakly or not; else converted."""
    return x if get_aval(x).dtype == dtype else basic.convert_element_type(x, dtype)


def promote_dtypes(
    *args: Value, common_type: Callable[..., Any] = dtypes.result_type
) -> list[Value]:
    """The operands in their common type."""
    types = [(aval.dtype, aval.weak_type) for aval in map(get_aval, args)]
    common = common_type(*types)
    pairs = zip(args, types, strict=True)
    return [x if own == common else convert(x, *common) for x, own in pairs]


promote_float = functools.partial(promote_dtypes, common_type=dtypes.float_result_type)


def promote_shapes(*args: Value) -> list[Value]:
    """Operands of the same rank, with axes of length 1 put in front; 0-d operands stay 0-d."""
    rank = max(map(ndim, args))
    if any(ndim(x) != rank for x in args):
        broadcast_shape(*map(shape, args))
    return [x if ndim(x) in (0, rank) else expand_rank(x, rank) for x in args]


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape; `ValueError` where there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: {[*shapes]}.") from None


def same_shape(*args: Value) -> list[Value]:
    """All operands in their common shape; those that have it stay as they are."""
    common = np.broadcast_shapes(*map(shape, args))
    return [x if shape(x) == common else broadcast_to(x, common) for x in args]


def expand_rank(x: Value, rank: int) -> Value:
    missing = rank - ndim(x)
    return basic.broadcast_in_dim(x, (1,) * missing + shape(x), range(missing, rank))


def normal_axes(axis: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Axes as a sorted tuple of numbers from 0 to rank - 1."""
    if isinstance(axis, Tracer):
        raise ConcretizationTypeError(
            f"An axis must be known while the function is traced, and {axis} is not known then. "
            "Pass it as a static argument instead."
        )
    axes = range(rank) if axis is None else as_indices(axis)
    if any(not -rank <= i < rank for i in axes):
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")
    found = {i % rank for i in axes}
    if len(found) != len(axes):
        raise ValueError(f"An axis is named twice: {axis}.")
    return tuple(sorted(found))


def as_indices(x: Value) -> Sequence[int]:
    """An integer, or several, as Python's integers; `TypeError` for what are none."""
    several = np.iterable(x) and not isinstance(x, Tracer)
    return tuple(map(operator.index, x if several else [x]))


def broadcast_to(array: Value, shape: Sequence[int]) -> Value:
    """`array` repeated into `shape`, by NumPy's broadcasting rules."""
    own, sizes = get_aval(array).shape, sizes_of(shape)
    missing = len(sizes) - len(own)
    if missing < 0 or any(n not in (1, m) for n, m in zip(own, sizes[missing:], strict=True)):
        raise ValueError(f"Incompatible shapes for broadcasting: {own} and requested {sizes}.")
    return basic.broadcast_in_dim(array, sizes, range(missing, len(sizes)))


# Making and inspecting arrays -------------------------------------------------------------------


def represented(a: Any) -> Any:
    """The array that an object stands for by its method `__jax_array__`; else the object itself."""
    return a.__jax_array__() if hasattr(a, "__jax_array__") else a


def asarray(a: Value, dtype: Any = None) -> Value:
    """`a` as an array; lists of numbers become arrays, tracers stay tracers.

    An object that is not an array may have a method `__jax_array__`, which returns one.
    """
    a = represented(a)
    dtype = None if dtype is None else dtypes.canonical(dtype)
    if a is None:
        raise ValueError("None is not a valid value for jnp.array.")
    if isinstance(a, Array):
        return a if dtype is None else basic.convert_element_type(a, dtype)
    if isinstance(a, list | tuple | range):
        return array_of_lists(a, dtype)
    is_number = isinstance(a, int | float | np.generic | np.ndarray) and not np.ndim(a)
    if is_number and dtype is not None:
        with np.errstate(invalid="ignore"):
            a = np.array(a, dtype)  # refuses Python's numbers that are too large for the dtype
    aval, main = get_aval(a), trace_state.dynamic_trace
    if aval.shape:
        if main is not None and dtype in (None, aval.dtype):
            return main.trace_type(main).pure(a)  # the same constant whenever it is used
        return constant(np.array(a, dtype))
    weak_type = aval.weak_type and aval.dtype.kind != "b" and dtype is None
    return convert_element_type_p.bind(
        a, new_dtype=aval.dtype if dtype is None else dtype, weak_type=weak_type
    )


def constant(x: np.ndarray) -> Any:
    """A fresh array of NumPy as an array; while a program is traced, a tracer.

    A program has it among its constants, or as a literal if it has no axes.
    """
    main, array = trace_state.dynamic_trace, ArrayImpl(x)
    return array if main is None else main.trace_type(main).pure(array if x.shape else x)


def array_of_lists(a: Values, dtype: Any) -> Value:
    leaves = leaves_of(a)
    if any(x is None for x in leaves):
        raise ValueError("None is not a valid value for jnp.array.")
    if any(isinstance(x, Array) for x in leaves):
        types = [(aval.dtype, aval.weak_type) for aval in map(get_aval, leaves)]
        return stacked(a, dtypes.result_type(*types)[0] if dtype is None else dtype)
    if dtype is None and any(isinstance(x, np.ndarray | np.generic) for x in leaves):
        dtype, _ = dtypes.result_type(*((x.dtype, x.weak_type) for x in map(get_aval, leaves)))
    values = np.array(a, dtype)
    get_aval(values)  # refuses strings and other objects
    return constant(values)


def leaves_of(a: Value) -> list[Value]:
    """The elements of lists inside lists, from left to right; objects as their arrays."""
    if isinstance(a, list | tuple):
        return [x for part in a for x in leaves_of(part)]
    return [represented(a)]


def stacked(a: Value, dtype: Any) -> Value:
    """Lists with arrays in them as an array; with tracers, by primitives of a later lesson."""
    if not isinstance(a, list | tuple):
        return asarray(a, dtype)
    if trace_state.dynamic_trace is None and not any(isinstance(x, Tracer) for x in leaves_of(a)):
        parts = [np.asarray(asarray(x, dtype)) for x in a]
        if len({x.shape for x in parts}) > 1:
            raise TypeError("Elements of a list must have the same shape to become an array.")
        return placed_with(leaves_of(a), constant(np.stack(parts)))
    try:
        from minijax.numpy import concatenate, expand_dims
    except ImportError:
        raise NotImplementedError(
            "Lists with tracers in them, or with arrays in a function that is traced, become "
            "arrays from the `control` lesson on. Before that, list numbers only."
        ) from None
    return concatenate([expand_dims(stacked(x, dtype), 0) for x in a])


def array(object: Any, dtype: Any = None) -> Any:
    """An array of a number, or of nested lists of numbers and arrays."""
    return asarray(object, dtype)


def sizes_of(shape: int | Sequence[int]) -> tuple[int, ...]:
    """A shape as a tuple; a number is the length of the only axis."""
    found = integers(shape)
    if any(n < 0 for n in found):
        raise TypeError(f"A shape has no negative sizes, got {found}.")
    return found


def integers(shape: int | Sequence[int]) -> tuple[int, ...]:
    """The numbers of a shape, which are known even while a program is traced."""
    several = isinstance(shape, Sequence) or bool(getattr(shape, "ndim", 0))
    sizes: Any = shape if several else (shape,)
    if any(isinstance(n, Tracer) for n in sizes):
        raise TypeError(f"Shapes must be known while a program is traced, got {shape}.")
    return tuple(operator.index(n) for n in sizes)


def zeros(shape: int | Sequence[int], dtype: Any = None) -> Any:
    """An array of zeros; of float64 if no dtype is given."""
    return full(shape, 0, float if dtype is None else dtype)


def ones(shape: int | Sequence[int], dtype: Any = None) -> Any:
    """An array of ones; of float64 if no dtype is given."""
    return full(shape, 1, float if dtype is None else dtype)


def full(shape: int | Sequence[int], fill_value: Value, dtype: Any = None) -> Value:
    """`fill_value` repeated into `shape`; in a program that is traced, an operation."""
    if dtype is None or not isinstance(fill_value, int):
        get_aval(fill_value)  # refuses lists
    value = fill_value if dtype is None else converted(fill_value, dtypes.canonical(dtype))
    sizes = sizes_of(shape)
    if isinstance(value, Array) or trace_state.dynamic_trace is not None:
        return asarray(broadcast_to(value, sizes))
    array = as_array(value)
    return ArrayImpl(np.broadcast_to(array.value, sizes).copy(), array.weak_type)


def converted(value: Value, dtype: np.dtype) -> Value:
    """A value of this dtype; a number at once, a tracer or an array by an operation."""
    if isinstance(value, Array):
        return basic.convert_element_type(value, dtype)
    number = np.asarray(value)
    if number.dtype.kind == "f" and dtype.kind in "iu":  # with the nearest number for one too large
        return impl_rules[convert_element_type_p](number, new_dtype=dtype, weak_type=False)
    return number.astype(dtype)


# How functions that make arrays compute them by primitives, by name; until there is something (in
# minijax/numpy/shapes.py), NumPy makes the array, and it is a constant of a program that is traced.
staged: dict[str, Callable[..., Any]] = {}


def made(name: str, make: Callable[..., np.ndarray], *args: Value, **kwargs: Any) -> Value:
    """What `staged` has for this name, or what `make` returns, as an array."""
    if name in staged:
        return staged[name](*args, **kwargs)
    return constant(make(*args, **kwargs))


def arange(start: Value, stop: Value = None, step: Any = None, dtype: Any = None) -> Value:
    """The numbers from `start` (0 if there is no `stop`) to below `stop`, in steps."""
    return made("arange", np.arange, start, stop, step, dtype)


def linspace(
    start: Value, stop: Value, num: int = 50, endpoint: bool = True, *, dtype: Any = None
) -> Value:
    """`num` numbers at equal distances from `start` to `stop`, which is one if `endpoint`."""
    return made("linspace", np.linspace, start, stop, num, endpoint, dtype=dtype)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """N rows and M columns (N if there is no M), with ones on the k-th diagonal."""
    dtype = dtypes.canonical(float if dtype is None else dtype)
    return made("eye", np.eye, N, N if M is None else M, k, dtype)


def zeros_like(a: Value, dtype: Any = None, shape: Any = None) -> Value:
    """Zeros, with the shape and dtype of `a` unless others are given."""
    return filled_like(a, 0, dtype, shape)


def ones_like(a: Value, dtype: Any = None, shape: Any = None) -> Value:
    """Ones, with the shape and dtype of `a` unless others are given."""
    return filled_like(a, 1, dtype, shape)


def type_like(a: Any) -> ShapedArray:
    """The type of an array, or of an object that has its shape and its dtype only."""
    try:
        return get_aval(a)
    except TypeError:
        if not (hasattr(a, "shape") and hasattr(a, "dtype")):
            raise
        return ShapedArray(tuple(a.shape), np.dtype(a.dtype))


def filled_like(a: Value, value: int, dtype: Any, shape: Any) -> Value:
    """`value` everywhere, with the shape and the dtype of `a` where nothing else is asked for."""
    aval = type_like(a)
    if dtype is None and aval.weak_type and aval.dtype.kind != "b":
        return full(aval.shape if shape is None else shape, aval.dtype.type(value).item())
    return full(
        aval.shape if shape is None else shape, value, aval.dtype if dtype is None else dtype
    )


def shape(a: Value) -> tuple[int, ...]:
    """The length of each axis; what is not an array has none."""
    known = getattr(a, "shape", None)  # of arrays and tracers
    if known is not None:
        return known
    if isinstance(a, list | tuple) or hasattr(a, "__jax_array__"):
        return asarray(a).shape
    return np.shape(a)


def ndim(a: Value) -> int:
    """The number of axes."""
    return len(shape(a))


def size(a: Value, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements, or of those along `axis`."""
    return math.prod(shape(a)[i] for i in normal_axes(axis, ndim(a)))
