"""`minijax.numpy`: functions under NumPy's names, which promote and broadcast, then bind.

This part needs the primitives of lessons 4 to 12 only. It also says what operators and methods of
arrays mean, by filling `array_methods`.
"""

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import Array, ArrayImpl, array_methods, as_array
from minijax.core import (
    ShapedArray,
    Tracer,
    Value,
    Values,
    convert_element_type_p,
    get_aval,
    impl_rules,
    trace_state,
)
from minijax.errors import ConcretizationTypeError
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
    "ndarray",
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
ndarray = Array


class ScalarType:
    """A dtype that can be called: `jnp.float32(2)` is an array of that dtype."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.__name__ = self.dtype.name

    def __call__(self, x: Value) -> Value:
        return asarray(x, self.dtype)

    def __eq__(self, other: Any) -> bool:
        return self is other or self.dtype == other

    def __hash__(self) -> int:
        return hash(self.dtype.type)

    def __repr__(self) -> str:
        return f"<class 'jax.numpy.{self.__name__}'>"


bool_, float16, float32, float64 = map(ScalarType, ("bool", "float16", "float32", "float64"))
int8, int16, int32, int64 = map(ScalarType, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(ScalarType, ("uint8", "uint16", "uint32", "uint64"))


# Promotion and broadcasting ---------------------------------------------------------------------


def convert(x: Value, dtype: np.dtype, weak_type: bool) -> Value:
    """`x` as `dtype`. A Python number is converted at once."""
    if type(x) in (bool, int, float):
        value = np.asarray(x).astype(dtype)  # an int8 takes 300 as 44, as in JAX
        return value.item() if weak_type else value
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak_type)


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


def expand_rank(x: Value, rank: int) -> Value:
    missing = rank - ndim(x)
    return basic.broadcast_in_dim(x, (1,) * missing + shape(x), range(missing, rank))


# Elementwise functions -------------------------------------------------------------------------


def name_functions(module: dict[str, Any]) -> None:
    """Public functions of a module that were made by other functions get their public names."""
    for name in module["__all__"]:
        if "<locals>" in getattr(module[name], "__qualname__", ""):
            module[name].__name__ = module[name].__qualname__ = name


# What an operation is for booleans, if that differs: `minijax/numpy/elementwise.py` says it.
of_booleans: dict[Callable[..., Any], Callable[..., Any]] = {}


def binary(
    operation: Callable[..., Any], promote: Callable[..., Any] = promote_dtypes
) -> Callable[[Any, Any], Any]:
    def function(x: Value, y: Value, /) -> Value:
        x, y = promote(x, y)
        if shape(x) != shape(y):
            x, y = promote_shapes(x, y)
        if operation in of_booleans and get_aval(x).dtype.kind == "b":
            return of_booleans[operation](x, y)
        return operation(x, y)

    function.__doc__ = operation.__doc__
    return function


def unary_float(operation: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def function(x: Value, /) -> Value:
        return operation(x if dtypes.is_float(get_aval(x).dtype) else promote_float(x)[0])

    function.__doc__ = operation.__doc__
    return function


add = binary(basic.add)
subtract = binary(basic.sub)
multiply = binary(basic.mul)
divide = true_divide = binary(basic.div, promote_float)
divide.__doc__ = "`x / y`, element by element; of integers, too, a float."
greater = binary(basic.gt)
less = binary(basic.lt)
sin = unary_float(basic.sin)
cos = unary_float(basic.cos)
exp = unary_float(basic.exp)
log = unary_float(basic.log)


def negative(x: Value, /) -> Value:
    """Each element with its sign changed."""
    return basic.neg(x)


def positive(x: Value, /) -> Value:
    """`x` itself, as an array."""
    get_aval(x)  # refuses lists
    return asarray(x)


# Reductions, shapes, contractions ---------------------------------------------------------------


def sum(
    a: Value,
    axis: int | Sequence[int] | None = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Value = None,
    where: Value = None,
    promote_integers: bool = True,
) -> Value:
    """The sum over `axis`, over several axes, or over all of them.

    It starts at `initial`, and takes the elements for which the mask `where` is true. Small
    integers become int64, unless `promote_integers` is false.
    """
    refuse_out("sum", out)
    a = numeric(a)
    aval, axes = get_aval(a), normal_axes(axis, ndim(a))
    widest = widened(aval.dtype) if promote_integers else aval.dtype

    def total(x: Value) -> Value:
        return started(add, initial, basic.reduce_sum(masked("sum", x, where, 0), axes))

    return keep_axes(in_wider_float(total, a, dtype, widest), aval.shape, axes if keepdims else ())


def widened(dtype: np.dtype) -> np.dtype:
    """The dtype in which small integers are added up or multiplied."""
    return np.dtype({"u": np.uint64, "i": np.int64}.get(dtype.kind, dtype))


def masked(name: str, a: Value, where: Value, identity: Any) -> Value:
    """`a` where a mask is true, and elsewhere `identity`, which a reduction does not notice."""
    if where is None:
        return a
    if get_aval(where).dtype.kind != "b":
        raise ValueError(f"jnp.{name}: where must be None or a boolean array.")
    try:
        from minijax.numpy import where as choose
    except ImportError:
        raise NotImplementedError(
            f"jnp.{name} takes a mask from the `control` lesson on. Before that, multiply by it."
        ) from None
    return choose(where, a, np.asarray(identity, get_aval(a).dtype))


def started(combine: Callable[[Any, Any], Any], initial: Value, reduced: Value) -> Value:
    """A reduction that starts at the scalar `initial`; without one, the reduction itself."""
    if initial is None:
        return reduced
    start = basic.convert_element_type(initial, get_aval(reduced).dtype)
    if shape(start):
        raise ValueError(f"A reduction starts at a scalar, not at an array of {shape(start)}.")
    return combine(start, reduced)


def refuse_out(name: str, out: Value) -> None:
    """NumPy's functions hand `out=None` on to the methods of arrays; there is nothing else."""
    if out is not None:
        raise NotImplementedError(f"The 'out' argument to jnp.{name} is not supported.")


def in_wider_float(reduce: Callable[[Any], Any], a: Value, asked: Any, dtype: Any) -> Value:
    """A reduction in the dtype that was asked for, or in `dtype`.

    In float16, which soon overflows, it is computed only if it was asked for, else in float32.
    """
    if asked is not None or dtype != np.float16:
        return reduce(basic.convert_element_type(a, dtype if asked is None else asked))
    wide = reduce(basic.convert_element_type(a, np.float32))
    return basic.convert_element_type(wide, np.float16)


def keep_axes(reduced: Any, shape: Sequence[int], axes: Sequence[int]) -> Any:
    """What was reduced over `axes`, with these axes back, of length 1."""
    if not axes:
        return reduced
    kept = [i for i in range(len(shape)) if i not in axes]
    return basic.broadcast_in_dim(
        reduced, [1 if i in axes else n for i, n in enumerate(shape)], kept
    )


def mean(
    a: Value,
    axis: int | Sequence[int] | None = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Value = None,
) -> Value:
    """The sum over `axis` of the elements in the mask `where`, divided by their number."""
    refuse_out("mean", out)
    count = number_of(a, axis, keepdims, where)
    a = numeric(a)
    aval = get_aval(a)
    wanted, _ = dtypes.float_result_type((aval.dtype, aval.weak_type))

    def average(x: Value) -> Value:
        own = get_aval(x).dtype
        if own.kind == "b":
            raise TypeError("A mean is computed in numbers, not in bool.")
        total = sum(x, axis, own, keepdims=keepdims, where=where)
        return basic.convert_element_type(divide(total, count), own)

    return in_wider_float(average, a, dtype, wanted)


def number_of(a: Value, axis: int | Sequence[int] | None, keepdims: bool, where: Value) -> Value:
    """How many elements there are along `axis`: a number, or with a mask an array."""
    if where is None:
        return math.prod(shape(a)[i] for i in normal_axes(axis, ndim(a)))
    return sum(broadcast_to(where, shape(a)), axis, keepdims=keepdims)


def numeric(a: Value) -> Value:
    """`a`, with booleans as numbers 0 and 1, so that they can be added up."""
    return convert(a, np.dtype(np.int32), False) if get_aval(a).dtype.kind == "b" else a


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


def static(x: Any) -> Any:
    """`x`; `TypeError` for lists and arrays, which cannot be static arguments in JAX."""
    if isinstance(x, list | np.ndarray | ArrayImpl):
        raise TypeError(f"A number or a tuple of numbers is needed, not a {type(x).__name__}.")
    return x


def as_indices(x: Value) -> Sequence[int]:
    """An integer, or several, as Python's integers; `TypeError` for what are none."""
    several = np.iterable(x) and not isinstance(x, Tracer)
    return tuple(map(operator.index, x if several else [x]))


def transpose(a: Value, axes: Sequence[int] | None = None) -> Value:
    """The array with its axes in the order `axes`, or in reverse order."""
    order: Sequence[int] = range(ndim(a))[::-1]
    if axes is not None:
        order = [normal_axes(operator.index(i), ndim(a))[0] for i in axes]
    return basic.transpose(positive(a), order)


def matmul(
    a: Value, b: Value, *, precision: Any = None, preferred_element_type: Any = None
) -> Value:
    """The matrix product over the last two axes; the axes in front of them broadcast.

    An operand with one axis is a row on the left side and a column on the right, without that axis
    in the result. It is computed in `preferred_element_type`, or in the operands' common dtype.
    `precision` changes nothing on the CPU.
    """
    if not ndim(a) or not ndim(b):
        raise ValueError("matmul needs operands with at least one axis; use multiply for scalars.")
    if shape(a)[:-2] != shape(b)[:-2]:
        common = np.broadcast_shapes(shape(a)[:-2], shape(b)[:-2])
        a, b = stretch_batch(a, common), stretch_batch(b, common)
    a_rank, b_rank = max(ndim(a) - 2, 0), max(ndim(b) - 2, 0)
    shared = min(a_rank, b_rank)
    batch = tuple(range(a_rank - shared, a_rank)), tuple(range(b_rank - shared, b_rank))
    numbers = (((ndim(a) - 1,), (max(ndim(b) - 2, 0),)), batch)
    out = product(a, b, numbers, precision, preferred_element_type)
    if a_rank == b_rank:
        return out
    # `out` has the shared axes first, then what only `a` has, then what only `b` has.
    a_only, rows = a_rank - shared, int(ndim(a) > 1)
    extra = [*range(shared, shared + a_only)]
    extra += [*range(shared + a_only + rows, shared + a_only + rows + b_rank - shared)]
    order = [*extra, *range(shared)]
    return basic.transpose(out, order + [i for i in range(ndim(out)) if i not in order])


def product(
    a: Value, b: Value, dimension_numbers: Any, precision: Any = None, preferred: Any = None
) -> Value:
    """`dot_general` in the preferred dtype, or in the operands' common one."""
    dtype, weak_type = product_type(preferred, a, b)
    out = basic.dot_general(a, b, dimension_numbers, precision, dtype)
    return as_product(out, dtype, weak_type)


def product_type(preferred: Any, *operands: Value) -> tuple[np.dtype, bool]:
    """The dtype in which products are added up, and whether it is weak.

    That is the preferred one, or the operands' common one.
    """
    if preferred is not None:
        return dtypes.canonical(preferred), False
    return dtypes.result_type(*((x.dtype, x.weak_type) for x in map(get_aval, operands)))


def as_product(x: Value, dtype: np.dtype, weak_type: bool) -> Value:
    """`x` as this type, if it is of another."""
    own = get_aval(x)
    same = own.dtype == dtype and own.weak_type == weak_type
    return x if same else convert(x, dtype, weak_type)


def stretch_batch(x: Value, common: Sequence[int]) -> Value:
    """`x` with its batch axes of length 1 repeated to what the other operand has."""
    own = ndim(x) - 2
    wanted = (*common[len(common) - own :], *shape(x)[-2:]) if own > 0 else shape(x)
    return x if shape(x) == wanted else basic.broadcast_in_dim(x, wanted, range(ndim(x)))


def dot(a: Value, b: Value, *, precision: Any = None, preferred_element_type: Any = None) -> Value:
    """The sum over the last axis of `a` and the last but one of `b`; a 0-d operand multiplies.

    It is computed in `preferred_element_type`, or in the operands' common dtype. `precision`
    changes nothing on the CPU.
    """
    if (not ndim(a) or not ndim(b)) and preferred_element_type is None:
        return multiply(a, b)
    axes = ((ndim(a) - 1,), (max(ndim(b) - 2, 0),)) if ndim(a) and ndim(b) else ((), ())
    return product(a, b, (axes, ((), ())), precision, preferred_element_type)


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
    get_aval(values)  # refuses texts and other objects
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
        return constant(np.stack(parts))
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
    """What `staged` has for this name, or what `make` gives, as an array."""
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


def astype(x: Value, dtype: Any) -> Value:
    """The array in another dtype; float64 for None, as in NumPy."""
    return basic.convert_element_type(x, float if dtype is None else dtype)


array_methods.update(
    {
        "__neg__": negative,
        "__pos__": positive,
        "__gt__": greater,
        "__lt__": less,
        "sum": sum,
        "mean": mean,
        "transpose": transpose,
        "copy": positive,
        "astype": astype,
    }
)

name_functions(globals())
