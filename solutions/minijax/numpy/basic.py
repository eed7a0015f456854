"""`minijax.numpy`: functions under NumPy's names, which promote and broadcast, then bind.

This part needs the primitives of lessons 4 to 12 only. It also says what operators and methods of
arrays mean, by filling `array_methods`.
"""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import Array, ArrayImpl, array_methods
from minijax.core import Value, get_aval
from minijax.lax import basic
from minijax.numpy.making import (
    asarray,
    broadcast_to,
    convert,
    ndim,
    normal_axes,
    promote_dtypes,
    promote_float,
    promote_shapes,
    shape,
)

__all__ = [
    "add",
    "bool_",
    "cos",
    "divide",
    "dot",
    "exp",
    "float16",
    "float32",
    "float64",
    "greater",
    "int8",
    "int16",
    "int32",
    "int64",
    "less",
    "log",
    "matmul",
    "mean",
    "multiply",
    "ndarray",
    "negative",
    "pi",
    "positive",
    "sin",
    "subtract",
    "sum",
    "transpose",
    "true_divide",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
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


def accumulation(
    name: str, reduce: Callable[..., Any], combine: Callable[..., Any], identity: int, doc: str
) -> Callable[..., Any]:
    """The function that adds up, or multiplies, along axes."""

    def function(
        a: Value,
        axis: int | Sequence[int] | None = None,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Value = None,
        where: Value = None,
        promote_integers: bool = True,
    ) -> Value:
        refuse_out(name, out)
        a = numeric(a)
        aval, axes = get_aval(a), normal_axes(axis, ndim(a))
        widest = widened(aval.dtype) if promote_integers else aval.dtype

        def total(x: Value) -> Value:
            return started(combine, initial, reduce(masked(name, x, where, identity), axes))

        whole = in_wider_float(total, a, dtype, widest)
        return basic.keep_axes(whole, aval.shape, axes if keepdims else ())

    return basic.named(function, name, doc)


sum = accumulation(
    "sum",
    basic.reduce_sum,
    add,
    0,
    """The sum over `axis`, over several axes, or over all of them.

    It starts at `initial`, and takes the elements for which the mask `where` is true. Small
    integers become int64, unless `promote_integers` is false.
    """,
)


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


def static(x: Any) -> Any:
    """`x`; `TypeError` for lists and arrays, which cannot be static arguments in JAX."""
    if isinstance(x, list | np.ndarray | ArrayImpl):
        raise TypeError(f"A number or a tuple of numbers is needed, not a {type(x).__name__}.")
    return x


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


def astype(x: Value, dtype: Any, copy: bool = False) -> Value:
    """The array in another dtype; float64 for None, as in NumPy.

    Arrays never change, so whether this is a copy cannot be seen.
    """
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
