"""More elementwise primitives: each with all its rules, most of them in one row (see `define`)."""

import enum
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.core import (
    Primitive,
    ShapedArray,
    Tangent,
    Value,
    abstract_eval_rules,
    get_aval,
    vmap_rules,
    weak_operands,
)
from minijax.jaxpr import binary_type, comparison_type, unary_type
from minijax.jvp import stretch_like
from minijax.lax.basic import (
    add,
    binary,
    broadcast_shapes,
    check_kind,
    convert_element_type,
    div,
    exp,
    gt,
    log,
    lt,
    mul,
    neg,
    sub,
    unary,
)
from minijax.lax.choosing import select
from minijax.lax.defining import (
    define,
    define_binary,
    full_like,
    hlo_of,
    hlo_operation,
    scalar,
    transcendental,
    zeros_like,
)
from minijax.lowering import Emitter, comparison_hlo, elementwise_hlo, emit_converted
from minijax.tree import tree_flatten, tree_unflatten
from minijax.vmap import align_operand, move_batch_axis

__all__ = [
    "RoundingMethod",
    "abs",
    "abs_p",
    "and_p",
    "atanh",
    "atanh_p",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "ceil",
    "ceil_p",
    "clamp",
    "clamp_p",
    "eq",
    "eq_p",
    "exp2",
    "exp2_p",
    "expm1",
    "expm1_p",
    "floor",
    "floor_p",
    "ge",
    "ge_p",
    "integer_pow",
    "integer_pow_p",
    "is_finite",
    "is_finite_p",
    "le",
    "le_p",
    "log1p",
    "log1p_p",
    "logistic",
    "logistic_p",
    "max",
    "max_p",
    "min",
    "min_p",
    "ne",
    "ne_p",
    "not_p",
    "or_p",
    "pow",
    "pow_p",
    "rem",
    "rem_p",
    "round",
    "round_p",
    "rsqrt",
    "rsqrt_p",
    "sign",
    "sign_p",
    "sqrt",
    "sqrt_p",
    "square",
    "square_p",
    "stop_gradient",
    "tanh",
    "tanh_p",
    "xor_p",
]


# Of one operand -----------------------------------------------------------------------------------


def scaled(factor: float, t: Tangent) -> Value:
    return mul(scalar(factor, t), t)


def with_sign_of(x: Value, t: Tangent) -> Value:
    return select(ge(x, scalar(0, x)), t, neg(t))


def one_minus(x: Value) -> Value:
    return sub(scalar(1, x), x)


def one_plus(x: Value) -> Value:
    return add(scalar(1, x), x)


tanh_p = transcendental(
    "tanh", np.tanh, "tanh", lambda t, z, x: mul(add(t, mul(t, z)), one_minus(z))
)
log1p_p = transcendental(
    "log1p", np.log1p, "log_plus_one", lambda t, z, x: div(t, add(x, scalar(1, x)))
)
expm1_p = transcendental(
    "expm1", np.expm1, "exponential_minus_one", lambda t, z, x: mul(t, add(z, scalar(1, z)))
)
sqrt_p = transcendental("sqrt", np.sqrt, "sqrt", lambda t, z, x: mul(t, div(scalar(0.5, x), z)))
rsqrt_p = transcendental(
    "rsqrt", lambda x: 1 / np.sqrt(x), "rsqrt", lambda t, z, x: mul(t, scaled(-0.5, div(z, x)))
)
logistic_p = transcendental(
    "logistic",
    lambda x: 1 / (1 + np.exp(-x)),
    "logistic",
    lambda t, z, x: mul(t, mul(z, one_minus(z))),
)
exp2_p = transcendental(
    "exp2",
    np.exp2,
    hlo_of(lambda x: exp(scaled(math.log(2), x))),
    lambda t, z, x: scaled(math.log(2), mul(t, z)),
)
square_p = define(
    "square", np.square, hlo_of(lambda x: mul(x, x)), lambda t, z, x: mul(t, scaled(2, x))
)
abs_p = define("abs", np.abs, "abs", lambda t, z, x: with_sign_of(x, t))
sign_p = define(
    "sign",
    lambda x: np.where(np.equal(x, 0), x, np.sign(x)),  # also of -0.0
    lambda emitter, avals, *rest: sign_hlo(avals[0].dtype)(emitter, avals, *rest),
)


def sign_hlo(dtype: np.dtype) -> Callable[..., list[str]]:
    """StableHLO knows no sign of unsigned integers; it is 0 or 1."""
    return hlo_of(lambda x: min(x, scalar(1, x))) if dtype.kind == "u" else elementwise_hlo("sign")


floor_p = define("floor", np.floor, "floor")
ceil_p = define("ceil", np.ceil, "ceil")
not_p = define("not", np.invert, "not")


tanh = unary(tanh_p, "f", "The hyperbolic tangent of each element.")
log1p = unary(log1p_p, "f", "`log(1 + x)`, exact near 0 as well.")
expm1 = unary(expm1_p, "f", "`exp(x) - 1`, exact near 0 as well.")
sqrt = unary(sqrt_p, "f", "The square root of each element.")
rsqrt = unary(rsqrt_p, "f", "`1 / sqrt(x)`.")
exp2 = unary(exp2_p, "f", "2 to the power of each element.")
logistic = unary(logistic_p, "f", "`1 / (1 + exp(-x))`.")
floor = unary(floor_p, "f", "Each element, rounded down.")
ceil = unary(ceil_p, "f", "Each element, rounded up.")
square = unary(square_p, "iuf", "`x * x`.")
sign = unary(sign_p, "iuf", "-1, 0 or 1, for elements that are negative, zero or positive.")
abs = unary(abs_p, "if", "The absolute value of each element.")

atanh_p = transcendental(
    "atanh",
    np.arctanh,
    hlo_of(lambda x: scaled(0.5, sub(log1p(x), log1p(neg(x))))),
    lambda t, z, x: mul(integer_pow(one_plus(x), -1), div(t, one_minus(x))),
)
atanh = unary(atanh_p, "f", "The inverse of `tanh`.")
bitwise_not = unary(not_p, "biu", "`~x`: each bit inverted, or each boolean.", "bitwise_not")


class RoundingMethod(enum.IntEnum):
    """What `round` does with a number halfway between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def round_impl(x: Value, *, rounding_method: int) -> Value:
    """To the nearest integer; NumPy's `rint` prefers the even one at halfway."""
    if rounding_method == RoundingMethod.TO_NEAREST_EVEN:
        return np.rint(x)
    whole = np.trunc(x)
    up = np.where(np.abs(x - whole) >= 0.5, np.sign(x), np.zeros_like(x))
    return np.copysign(whole + up, x)  # -0.3 becomes -0.0


def round_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, rounding_method: int
) -> list[str]:
    kind = "even" if rounding_method == RoundingMethod.TO_NEAREST_EVEN else "afz"
    return elementwise_hlo(f"round_nearest_{kind}")(emitter, avals, out_avals, args)


round_p = define("round", round_impl, round_hlo)
abstract_eval_rules[round_p] = lambda x, **params: unary_type(x)


def round(x: Value, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Value:
    """The nearest integer, as a float."""
    check_kind("round", get_aval(x).dtype, "f")
    return round_p.bind(x, rounding_method=RoundingMethod(rounding_method))


def integer_power(x: Value, *, y: int) -> Value:
    """`x` to the power `y` by squaring: about log2(y) multiplications."""
    result, exponent = full_like(x, 1), -y if y < 0 else y
    while exponent:
        result = mul(result, x) if exponent % 2 else result
        x, exponent = mul(x, x), exponent // 2
    return div(full_like(result, 1), result) if y < 0 else result


def integer_pow_derivative(t: Tangent, z: Value, x: Value, *, y: int) -> Value:
    """y * x ** (y - 1)."""
    if y == 0:
        return zeros_like(t)
    return mul(t, scaled(y, x if y == 2 else integer_pow(x, y - 1)))


integer_pow_p = define(
    "integer_pow",
    lambda x, *, y: 1 / np.power(x, -y) if y < 0 else np.power(x, y),
    hlo_of(integer_power),
    integer_pow_derivative,
)
abstract_eval_rules[integer_pow_p] = lambda x, **params: unary_type(x)


def integer_pow(x: Value, y: int) -> Value:
    """`x` to a power that is known while the program is traced."""
    dtype = get_aval(x).dtype
    if dtype.kind == "b" or not isinstance(y, int | np.integer):
        raise TypeError(f"integer_pow takes a number and an integer, got {dtype.name} and {y!r}.")
    if y < 0 and not dtypes.is_float(dtype):
        raise TypeError(f"Integers cannot be raised to negative powers, got {dtype.name} ** {y}.")
    return integer_pow_p.bind(x, y=operator.index(y))


is_finite_p = define("is_finite", np.isfinite, hlo_operation("is_finite"))
abstract_eval_rules[is_finite_p] = lambda x: ShapedArray(x.shape, np.dtype(bool))
is_finite = unary(is_finite_p, "f", "Whether each element is a number, neither infinite nor NaN.")


# The value itself, which does not move.
stop_gradient_p = define(
    "stop_gradient", np.asarray, lambda emitter, avals, outs, args: args, cost="movement"
)


def stop_gradient(x: Value) -> Value:
    """`x`, whose derivative counts as zero; for whole containers too."""
    leaves, tree = tree_flatten(x)
    stopped = [stop_gradient_p.bind(leaf) if may_move(leaf) else leaf for leaf in leaves]
    return tree_unflatten(tree, stopped)


def may_move(x: Value) -> bool:
    """Whether `x` is an array of floats."""
    return dtypes.is_float(get_aval(x).dtype) and type(x) is not float


# Of two operands ----------------------------------------------------------------------------------


def share(x: Value, z: Value, y: Value) -> Value:
    """How much of max(x, y) = z is x's: all, nothing, or half where both are the same."""
    half = select(eq(y, z), full_like(z, 0.5), full_like(z, 1))
    return select(eq(x, z), half, zeros_like(z))


def rem_impl(x: Value, y: Value) -> Value:
    """The remainder with the sign of `x`; of integers by 0 it is `x`, as XLA has it."""
    y = np.asarray(y)
    if dtypes.is_float(y.dtype):
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, np.ones_like(y), y)))


def rem_derivative(t: Tangent, z: Value, x: Value, y: Value) -> Value:
    """x rem y is x - y * q, where q, the quotient rounded towards zero, does not move."""
    quotient = div(x, y)
    return mul(neg(t), mul(sign(quotient), floor(abs(quotient))))


def pow_impl(x: Value, y: Value) -> Value:
    """NumPy's power; an integer exponent does not change the dtype of a float."""
    x, y = np.asarray(x), np.asarray(y)
    return np.power(x, y if dtypes.is_float(y.dtype) else y.astype(x.dtype))


def pow_derivative_x(t: Tangent, z: Value, x: Value, y: Value) -> Value:
    """y * x ** (y - 1); with an integer 0 for `y` it is 0, whatever `x` is."""
    dtype = get_aval(x).dtype
    x, factor = convert_element_type(x, dtype), convert_element_type(y, dtype)
    if get_aval(y).dtype != dtype:
        y = select(eq(y, scalar(0, y)), full_like(y, 1), y)
    return mul(t, mul(factor, pow(x, sub(y, scalar(1, y)))))


def pow_derivative_y(t: Tangent, z: Value, x: Value, y: Value) -> Value:
    """log(x) * z; where `x` is 0 so is z, and log(1) replaces log(0)."""
    logarithm = log(select(eq(x, scalar(0, x)), full_like(x, 1), x))
    return convert_element_type(mul(t, mul(logarithm, z)), get_aval(y).dtype)


def pow_hlo(emitter: Emitter, avals: Any, out_avals: Any, args: Any) -> list[str]:
    x, y = avals
    if x.dtype != y.dtype:
        as_x = ShapedArray(y.shape, x.dtype)
        args, avals = [args[0], emit_converted(emitter, y, as_x, args[1])], [x, as_x]
    return elementwise_hlo("power")(emitter, avals, out_avals, args)


shares = lambda t, z, x, y: mul(t, share(x, z, y)), lambda t, z, x, y: mul(t, share(y, z, x))
max_p = define_binary("max", np.maximum, "maximum", *shares)
min_p = define_binary("min", np.minimum, "minimum", *shares)
rem_p = define_binary("rem", rem_impl, "remainder", lambda t, z, x, y: t, rem_derivative)
pow_p = transcendental("pow", pow_impl, pow_hlo, pow_derivative_x, pow_derivative_y, operands=2)
abstract_eval_rules[pow_p] = lambda x, y: binary_type(x, ShapedArray(y.shape, x.dtype, y.weak_type))
and_p = define_binary("and", np.bitwise_and, "and")
or_p = define_binary("or", np.bitwise_or, "or")
xor_p = define_binary("xor", np.bitwise_xor, "xor")

max = binary(
    max_p, "biuf", "The greater of `x` and `y`, element by element; NaN if one of them is."
)
min = binary(
    min_p, "biuf", "The smaller of `x` and `y`, element by element; NaN if one of them is."
)
rem = binary(rem_p, "iuf", "The remainder of `x / y`, with the sign of `x`.")
bitwise_and = binary(
    and_p, "biu", "`x & y`, bit by bit; of booleans, whether both are true.", "bitwise_and"
)
bitwise_or = binary(
    or_p, "biu", "`x | y`, bit by bit; of booleans, whether at least one is true.", "bitwise_or"
)
bitwise_xor = binary(
    xor_p, "biu", "`x ^ y`, bit by bit; of booleans, whether exactly one is true.", "bitwise_xor"
)


def pow(x: Value, y: Value) -> Value:
    """A float `x` to the power `y`, an integer or of the same dtype."""
    x_dtype, y_dtype = get_aval(x).dtype, get_aval(y).dtype
    broadcast_shapes("pow", get_aval(x).shape, get_aval(y).shape)
    if not dtypes.is_float(x_dtype) or (y_dtype != x_dtype and y_dtype.kind not in "iu"):
        raise TypeError(
            f"pow takes a float, and the same float or an integer; got {x_dtype.name} "
            f"and {y_dtype.name}."
        )
    return pow_p.bind(x, y)


def define_comparison(name: str, evaluate: Callable[..., Any], direction: str) -> Primitive:
    """A comparison returns booleans, which do not move."""
    primitive = define_binary(name, evaluate, comparison_hlo(direction))
    abstract_eval_rules[primitive] = comparison_type
    return primitive


eq_p = define_comparison("eq", np.equal, "EQ")
ne_p = define_comparison("ne", np.not_equal, "NE")
ge_p = define_comparison("ge", np.greater_equal, "GE")
le_p = define_comparison("le", np.less_equal, "LE")

eq = binary(eq_p, "biuf", "Whether `x == y`, element by element.")
ne = binary(ne_p, "biuf", "Whether `x != y`, element by element.")
ge = binary(ge_p, "biuf", "Whether `x >= y`, element by element.")
le = binary(le_p, "biuf", "Whether `x <= y`, element by element.")


def clamp_derivatives() -> list[Callable[..., Any]]:
    """Of the bounds and the operand, the one that is the result moves it."""

    def where(condition: Callable[..., Any]) -> Callable[..., Any]:
        return lambda t, z, low, x, high: select(
            stretch_like(condition(low, x, high), z), stretch_like(t, z), zeros_like(z)
        )

    return [
        where(lambda low, x, high: bitwise_and(gt(low, x), lt(low, high))),
        where(lambda low, x, high: bitwise_and(gt(x, low), lt(x, high))),
        where(lambda low, x, high: lt(high, x)),
    ]


def clamp_batch(axis_size: int, vals: Sequence[Any], dims: Sequence[Any]) -> tuple[Any, int]:
    """0-d bounds that are the same for all stay; else all operands get the full shape."""
    x = move_batch_axis(axis_size, dims[1], 0, vals[1])
    rank = len(get_aval(x).shape) - 1

    def bound(val: Value, dim: Any) -> Value:
        aligned = align_operand(axis_size, dim, val, rank)
        return aligned if not get_aval(aligned).shape else stretch_like(aligned, x)

    return clamp_p.bind(bound(vals[0], dims[0]), x, bound(vals[2], dims[2])), 0


clamp_p = define(
    "clamp",
    lambda low, x, high: np.minimum(np.maximum(x, low), high),
    hlo_operation("clamp"),
    *clamp_derivatives(),
)
vmap_rules[clamp_p] = clamp_batch
weak_operands[clamp_p] = slice(1, 2)
abstract_eval_rules[clamp_p] = lambda low, x, high: unary_type(x)


def clamp(min: Value, x: Value, max: Value) -> Value:
    """`x`, but not below `min` nor above `max`, which are 0-d or have the shape of `x`."""
    low, middle, high = (get_aval(operand) for operand in (min, x, max))
    if not low.dtype == middle.dtype == high.dtype:
        raise TypeError(f"clamp takes operands with the same dtype, got {low}, {middle}, {high}.")
    if any(bound.shape not in ((), middle.shape) for bound in (low, high)):
        raise TypeError(f"clamp takes bounds that are 0-d or of shape {middle.shape}.")
    return clamp_p.bind(min, x, max)
