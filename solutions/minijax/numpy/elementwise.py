"""`minijax.numpy`, continued: elementwise functions, comparisons, and choices.

Joins the tree with the primitives of `minijax.lax.elementwise`.
"""

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import array_methods
from minijax.core import Tracer, Value, get_aval, trace_state
from minijax.jit import jit
from minijax.lax import basic, bits, choosing, defining, elementwise
from minijax.lax.defining import scalar
from minijax.numpy.basic import (
    binary,
    divide,
    multiply,
    name_functions,
    of_booleans,
    positive,
    refuse_out,
    static,
    swapped,
    unary_float,
)
from minijax.numpy.making import (
    asarray,
    convert,
    ndim,
    promote_dtypes,
    promote_float,
    promote_shapes,
    same_shape,
    shape,
)

__all__ = [
    "abs",
    "absolute",
    "arctanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "ceil",
    "clip",
    "equal",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "floor_divide",
    "greater_equal",
    "inf",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "less_equal",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "nan",
    "not_equal",
    "pow",
    "power",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "sqrt",
    "square",
    "tanh",
    "where",
]

inf, nan = math.inf, math.nan


def promote_numeric(*args: Value) -> list[Value]:
    """Like `promote_dtypes`, but booleans become int32."""
    args = tuple(promote_dtypes(*args))
    if get_aval(args[0]).dtype.kind == "b":
        return [convert(x, np.dtype(np.int32), False) for x in args]
    return list(args)


def unless_whole(operation: Callable[[Any], Any], whole: Callable[[Any], Any]) -> Any:
    """`operation` for floats, and `whole` for integers and booleans."""

    def function(x: Value, /) -> Value:
        return asarray((operation if dtypes.is_float(get_aval(x).dtype) else whole)(x))

    function.__doc__ = operation.__doc__
    return function


def unary(operation: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`operation` with its operand by position only, as in NumPy."""

    def function(x: Value, /) -> Value:
        return operation(x)

    function.__doc__ = operation.__doc__
    return function


def everywhere(value: bool) -> Callable[[Any], Any]:
    """The function that is `value` for each element."""
    return lambda x: defining.full_like(x, value, bool)


arctanh = unary_float(elementwise.atanh)
tanh, sqrt = unary_float(elementwise.tanh), unary_float(elementwise.sqrt)
log1p, expm1, exp2 = (
    unary_float(elementwise.log1p),
    unary_float(elementwise.expm1),
    unary_float(elementwise.exp2),
)
fabs, floor, ceil = (
    unary_float(elementwise.abs),
    unless_whole(elementwise.floor, asarray),
    unless_whole(elementwise.ceil, asarray),
)
isfinite = unless_whole(elementwise.is_finite, everywhere(True))
maximum, minimum = binary(elementwise.max), binary(elementwise.min)
bitwise_and, bitwise_or = binary(elementwise.bitwise_and), binary(elementwise.bitwise_or)
bitwise_xor, bitwise_not = binary(elementwise.bitwise_xor), unary(elementwise.bitwise_not)
equal, not_equal = binary(elementwise.eq), binary(elementwise.ne)
greater_equal, less_equal = binary(elementwise.ge), binary(elementwise.le)
sign, invert = unary(elementwise.sign), bitwise_not


def isnan(x: Value, /) -> Value:
    """Whether each element is NaN."""
    return elementwise.ne(x, x)


def is_infinite(x: Value) -> Value:
    """Whether each element is infinite."""
    return elementwise.eq(elementwise.abs(x), np.asarray(inf, get_aval(x).dtype))


isinf = unless_whole(is_infinite, everywhere(False))


def abs(x: Value, /) -> Value:
    """The absolute value of each element."""
    return asarray(x) if get_aval(x).dtype.kind in "bu" else elementwise.abs(x)


absolute = abs


def square(x: Value, /) -> Value:
    """`x * x`."""
    return elementwise.square(*promote_numeric(x))


def reciprocal(x: Value, /) -> Value:
    """1 / `x`."""
    (x,) = promote_float(x)
    return elementwise.integer_pow(x, -1)


def log2(x: Value, /) -> Value:
    """The logarithm to the base 2."""
    logarithm = basic.log(*promote_float(x))
    return basic.div(logarithm, basic.log(np.asarray(2, get_aval(logarithm).dtype)))


def log10(x: Value, /) -> Value:
    """The logarithm to the base 10."""
    logarithm = basic.log(*promote_float(x))
    return basic.mul(logarithm, np.asarray(1 / math.log(10), get_aval(logarithm).dtype))


def round(a: Value, decimals: int = 0, out: None = None) -> Value:
    """Each element, rounded to `decimals` digits; halfway between two, to the even one."""
    refuse_out("round", out)
    decimals = operator.index(static(decimals))
    if not dtypes.is_float(get_aval(a).dtype):
        if decimals < 0:
            raise NotImplementedError("round takes only decimals >= 0 for integers.")
        if get_aval(a).dtype.kind == "b":
            raise ValueError("round takes integers and floats, not booleans.")
        return asarray(a)
    if decimals == 0:
        return to_even(a)
    if decimals > math.log10(np.finfo(get_aval(a).dtype).max):
        return asarray(a)  # it has no digits there
    factor = 10.0**decimals
    if get_aval(a).dtype == np.float16:  # whose largest number is 65504
        return asarray(round(asarray(a, np.float32), decimals), np.float16)
    return divide(to_even(multiply(a, factor)), factor)


def to_even(x: Value) -> Value:
    """Each float, rounded to a whole number; halfway between two, to the even one."""
    return elementwise.round(x, elementwise.RoundingMethod.TO_NEAREST_EVEN)


def clip(arr: Value = None, /, min: Value = None, max: Value = None) -> Value:
    """`arr` with elements below `min` raised to it, and those above `max` lowered to it."""
    if arr is None:
        raise ValueError("No input was provided to the clip function.")
    arr = positive(arr)
    if min is not None:
        arr = maximum(min, arr)
    return arr if max is None else minimum(max, arr)


# Powers and remainders ----------------------------------------------------------------------------
# JAX writes `%`, `//` and the choices in them down as calls, and so do these functions.


def as_call(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """`function`, which becomes a call of its own in a program that is traced."""
    compiled = jit(function, **options)

    def staged(*args: Value) -> Value:
        return (compiled if trace_state.dynamic_trace else function)(*args)

    return functools.update_wrapper(staged, function)


@as_call
def _where(condition: Value, x: Value, y: Value) -> Value:
    return where(condition, x, y)


def power(x1: Value, x2: Value, /) -> Value:
    """`x1` to the power `x2`; a known integer as exponent becomes products."""
    if not isinstance(x2, Tracer) and get_aval(x2).shape == () and not is_float_type(x2):
        return elementwise.integer_pow(promote_numeric(x1)[0], int(x2))
    x1, x2 = promote_shapes(x1, x2)
    base, exponent = promote_numeric(x1, x2)
    if not is_float_type(base):
        return integer_powers(base, exponent)
    return elementwise.pow(base, x2 if get_aval(x2).dtype.kind in "iu" else exponent)


pow = power


def integer_powers(x: Value, y: Value) -> Value:
    """Integers to integer powers by squaring: one step for each of the lower six bits of `y`."""
    zero, one = scalar(0, y), scalar(1, y)
    result = _where(
        elementwise.bitwise_and(elementwise.eq(x, zero), elementwise.ne(y, zero)), zero, one
    )
    for _ in range(6):
        result = _where(elementwise.bitwise_and(y, one), basic.mul(result, x), result)
        x, y = basic.mul(x, x), bits.shift_right_logical(y, one)
    return result


@as_call
def remainder(x1: Value, x2: Value, /) -> Value:
    """The remainder of a division that rounds down: it has the sign of `x2`."""
    x, y = promote_shapes(*promote_numeric(x1, x2))
    if not is_float_type(x):
        no_divisor = elementwise.eq(y, scalar(0, y))
        y = _where(no_divisor, basic.broadcast_in_dim(scalar(1, y), shape(y), ()), y)
    rest = elementwise.rem(x, y)
    zero = scalar(0, rest)
    uneven = elementwise.ne(rest, zero)
    wrong = elementwise.bitwise_and(elementwise.ne(basic.lt(rest, zero), basic.lt(y, zero)), uneven)
    return choosing.select(wrong, basic.add(rest, y), rest)


mod = remainder


@as_call
def floor_divide(x1: Value, x2: Value, /) -> Value:
    """The quotient, rounded down."""
    x, y = promote_shapes(*promote_numeric(x1, x2))
    if is_float_type(x):
        return float_floor_divide(x, y)
    quotient = basic.div(x, y)
    if get_aval(x).dtype.kind == "u":
        return quotient
    signs_differ = elementwise.ne(elementwise.sign(x), elementwise.sign(y))
    uneven = elementwise.ne(elementwise.rem(x, y), scalar(0, x))
    return _where(logical_and(signs_differ, uneven), basic.sub(quotient, scalar(1, x)), quotient)


def float_floor_divide(x: Value, y: Value) -> Value:
    """By the remainder, as JAX does it: floor(x / y) is off by one where x / y is rounded up."""
    rest = elementwise.rem(x, y)
    zero = scalar(0, rest)
    exact = basic.div(_where(elementwise.eq(y, zero), x, basic.sub(x, rest)), y)
    wrong = elementwise.bitwise_and(
        elementwise.ne(rest, zero), elementwise.ne(elementwise.sign(y), elementwise.sign(rest))
    )
    # The remainder, which JAX computes along with the quotient.
    choosing.select(wrong, basic.add(rest, y), rest)
    quotient = choosing.select(wrong, basic.sub(exact, scalar(1, rest)), exact)
    return elementwise.round(quotient)


def is_float_type(x: Value) -> bool:
    return dtypes.is_float(get_aval(x).dtype)


# Choices and logic --------------------------------------------------------------------------------


def truth(x: Value) -> Value:
    """Booleans: what is not zero is true. Those of arrays with axes are never weakly typed."""
    if get_aval(x).dtype == bool:
        return x
    return elementwise.ne(x, np.zeros((), get_aval(x).dtype) if ndim(x) else scalar(0, x))


def where(condition: Value, x: Value = None, y: Value = None, /) -> Value:
    """`x` where the condition holds, and `y` elsewhere; all three broadcast."""
    if x is None or y is None:
        raise NotImplementedError("where needs both x and y: the result's shape must be known.")
    x, y = promote_dtypes(x, y)
    pred = truth(condition)
    x, y, pred = same_shape(x, y, pred) if ndim(pred) else [*same_shape(x, y), pred]
    return choosing.select(pred, x, y)


def logical(operation: Callable[[Any, Any], Any], doc: str) -> Callable[[Any, Any], Any]:
    def function(x: Value, y: Value, /) -> Value:
        return operation(*map(truth, promote_shapes(*promote_dtypes(x, y))))

    function.__doc__ = doc
    return function


logical_and = logical(elementwise.bitwise_and, "Whether both of the two elements differ from zero.")
logical_or = logical(
    elementwise.bitwise_or, "Whether at least one of the two elements differs from zero."
)
logical_xor = logical(
    elementwise.bitwise_xor, "Whether exactly one of the two elements differs from zero."
)


def logical_not(x: Value, /) -> Value:
    """Whether an element is zero."""
    return elementwise.bitwise_not(truth(x))


# Operators and methods ----------------------------------------------------------------------------

for _name, _function in {
    "floordiv": floor_divide,
    "mod": remainder,
    "pow": power,
    "and": bitwise_and,
    "or": bitwise_or,
    "xor": bitwise_xor,
}.items():
    array_methods[f"__{_name}__"] = _function
    array_methods[f"__r{_name}__"] = swapped(_function)

of_booleans.update({basic.add: elementwise.bitwise_or, basic.mul: elementwise.bitwise_and})


def round_method(x: Value, ndigits: int | None = None) -> Value:
    """Python's `round`, which returns integers unless it is asked for digits."""
    rounded = round(x, ndigits or 0)
    return basic.convert_element_type(rounded, np.int64) if ndigits is None else rounded


def divided(x: Value, y: Value) -> tuple[Any, Any]:
    """Python's `divmod`: the quotient, rounded down, and the remainder."""
    return floor_divide(x, y), remainder(x, y)


array_methods.update(
    {
        "__round__": round_method,
        "__divmod__": divided,
        "__rdivmod__": swapped(divided),
        "__abs__": abs,
        "__invert__": invert,
        "__eq__": equal,
        "__ne__": not_equal,
        "__ge__": greater_equal,
        "__le__": less_equal,
        "clip": clip,
        "round": round,
    }
)

name_functions(globals())
