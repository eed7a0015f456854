"""Functions for neural networks (`minijax.nn`): activations, and what turns numbers into choices.

All of them are made of `minijax.numpy` and `minijax.lax`. Where the derivative at a corner is a
matter of taste, it is the one that JAX has.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax import dtypes, lax
from minijax import numpy as jnp
from minijax.core import Value
from minijax.custom_rules import custom_jvp
from minijax.numpy.basic import static
from minijax.numpy.making import promote_float

__all__ = [
    "celu",
    "dot_product_attention",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
]

# Activations --------------------------------------------------------------------------------------


def identity(x: Value) -> Value:
    """`x` itself."""
    return jnp.positive(x)


@custom_jvp
def relu(x: Value) -> Value:
    """`max(x, 0)`; its derivative at 0 is 0."""
    return jnp.maximum(x, 0)


@relu.defjvp
def relu_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The tangent passes where `x` is positive."""
    (x,), (t,) = primals, tangents
    return relu(x), lax.select(jnp.greater(x, 0), t, lax.full_like(t, 0))


@custom_jvp
def relu6(x: Value) -> Value:
    """`x`, but nothing below 0 or above 6."""
    return jnp.minimum(jnp.maximum(x, 0), 6.0)


@relu6.defjvp
def relu6_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The tangent passes between 0 and 6."""
    (x,), (t,) = primals, tangents
    inside = jnp.logical_and(jnp.greater(x, 0), jnp.less(x, 6))
    return relu6(x), lax.select(inside, t, lax.full_like(t, 0))


def sigmoid(x: Value) -> Value:
    """`1 / (1 + exp(-x))`."""
    return lax.logistic(x)


def softplus(x: Value) -> Value:
    """`log(1 + exp(x))`."""
    return jnp.logaddexp(x, 0)


def sparse_plus(x: Value) -> Value:
    """0 below -1, `x` above 1, and a parabola between them."""
    x = jnp.asarray(x)
    return jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, (x + 1.0) ** 2 / 4))


def sparse_sigmoid(x: Value) -> Value:
    """0 below -1, 1 above 1, and a line between them."""
    return 0.5 * jnp.clip(jnp.asarray(x) + 1.0, 0.0, 2.0)


def soft_sign(x: Value) -> Value:
    """`x / (abs(x) + 1)`."""
    x = jnp.asarray(x)
    return x / (jnp.abs(x) + 1)


def silu(x: Value) -> Value:
    """`x * sigmoid(x)`."""
    return x * sigmoid(x)


swish = silu


def mish(x: Value) -> Value:
    """`x * tanh(softplus(x))`."""
    x = jnp.asarray(x)
    return x * jnp.tanh(softplus(x))


def log_sigmoid(x: Value) -> Value:
    """`log(sigmoid(x))`."""
    x = jnp.asarray(x)
    return -softplus(-x)


def elu(x: Value, alpha: Value = 1.0) -> Value:
    """`x` above 0, and `alpha * (exp(x) - 1)` below."""
    x = jnp.asarray(x)
    return jnp.where(x > 0, x, alpha * jnp.expm1(jnp.where(x > 0, 0.0, x)))


def celu(x: Value, alpha: Value = 1.0) -> Value:
    """`x` above 0, and `alpha * (exp(x / alpha) - 1)` below."""
    return jnp.maximum(x, 0.0) + alpha * jnp.expm1(jnp.minimum(x, 0.0) / alpha)


def selu(x: Value) -> Value:
    """`elu`, scaled so that a deep network keeps mean 0 and variance 1."""
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


def leaky_relu(x: Value, negative_slope: Value = 1e-2) -> Value:
    """`x` above 0, and `negative_slope * x` below."""
    x = jnp.asarray(x)
    return jnp.where(x >= 0, x, negative_slope * x)


def hard_tanh(x: Value) -> Value:
    """`x`, but nothing below -1 or above 1."""
    return jnp.where(jnp.greater(x, 1), 1, jnp.where(jnp.less(x, -1), -1, x))


def hard_sigmoid(x: Value) -> Value:
    """A line with slope 1/6 from 0 to 1."""
    return relu6(jnp.asarray(x) + 3.0) / 6.0


def hard_silu(x: Value) -> Value:
    """`x * hard_sigmoid(x)`."""
    x = jnp.asarray(x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


def squareplus(x: Value, b: Value = 4) -> Value:
    """`(x + sqrt(x**2 + b)) / 2`."""
    x = jnp.asarray(x)
    return (x + jnp.sqrt(jnp.square(x) + b)) / 2


def gelu(x: Value, approximate: bool = True) -> Value:
    """`x` times the probability of a normal number below `x`; `approximate`: by `tanh`."""
    x = jnp.asarray(*promote_float(x))
    if approximate:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        out = x * (0.5 * (1.0 + jnp.tanh(inner)))
    else:
        out = 0.5 * x * lax.erfc(-x / math.sqrt(2))
    return lax.convert_element_type(out, x.dtype)  # never weakly typed


def glu(x: Value, axis: int = -1) -> Value:
    """The first half along an axis, times `sigmoid` of the second."""
    x = jnp.asarray(x)
    if x.shape[axis] % 2:
        raise ValueError(f"glu takes an axis of even length, not {x.shape[axis]}.")
    first, second = jnp.split(x, 2, axis)
    return first * sigmoid(second)


@custom_jvp
def log1mexp(x: Value) -> Value:
    """`log(1 - exp(-x))`, for positive `x`."""
    near = jnp.log(-jnp.expm1(-x))
    return jnp.where(jnp.less(x, math.log(2)), near, jnp.log1p(-jnp.exp(-x)))


@log1mexp.defjvp
def log1mexp_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """`1 / (exp(x) - 1)` times the tangent."""
    return log1mexp(*primals), tangents[0] / jnp.expm1(*primals)


# Along an axis ------------------------------------------------------------------------------------

Axis = int | Sequence[int] | None


def logsumexp(
    a: Value,
    axis: Axis = None,
    b: Value = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Value = None,
) -> Any:
    """`log(sum(b * exp(a)))`, even if the powers are too large for a float.

    With `return_sign`, the logarithm of the sum's size, and its sign.
    """
    a, factor = (*promote_float(a), None) if b is None else promote_float(a, b)
    if b is not None:
        a = jnp.where(jnp.equal(factor, 0), -jnp.inf, a)
    if where is not None:
        a = jnp.where(where, a, -jnp.inf)
    high = lax.stop_gradient(jnp.max(a, axis, keepdims=True, initial=-jnp.inf))
    high = jnp.where(jnp.isfinite(high), high, 0.0)
    powers = jnp.exp(a - high)
    total = jnp.sum(powers if b is None else factor * powers, axis, keepdims=keepdims)
    shift = high if keepdims else jnp.reshape(high, total.shape)
    size, sign = jnp.log(jnp.abs(total)) + shift, jnp.sign(total)
    if return_sign:
        return size, sign
    return size if b is None else jnp.where(jnp.less(sign, 0), jnp.nan, size)


def logmeanexp(x: Value, axis: Axis = None, where: Value = None, keepdims: bool = False) -> Value:
    """`log(mean(exp(x)))`."""
    total = logsumexp(x, static(axis), keepdims=keepdims, where=where)
    if where is None:
        return total - math.log(jnp.size(x, axis))
    counted = jnp.sum(jnp.broadcast_to(where, jnp.shape(x)), axis, keepdims=keepdims)
    return total - jnp.log(counted.astype(total.dtype))


def log_softmax(x: Value, axis: Axis = -1, where: Value = None) -> Value:
    """The logarithm of `softmax`."""
    x = jnp.asarray(x)
    if where is not None:
        x = jnp.where(where, x, -jnp.inf)
    high = jnp.max(x, static(axis), keepdims=True, initial=-jnp.inf)
    shifted = x - lax.stop_gradient(high)
    powers = jnp.exp(shifted)
    out = shifted - jnp.log(jnp.sum(powers, axis, keepdims=True))
    return out if where is None else jnp.where(where, out, -jnp.inf)


def softmax(x: Value, axis: Axis = -1, where: Value = None) -> Value:
    """`exp(x)`, scaled so that the sum along an axis is 1."""
    if where is None:
        if jnp.asarray(x).dtype == bool:
            raise TypeError("softmax takes numbers, not booleans.")
        (x,) = promote_float(x)
        return plain_softmax(x, axis)
    if jnp.asarray(where).dtype != bool:
        raise ValueError(f"softmax takes a mask of booleans, not of {jnp.asarray(where).dtype}.")
    x = jnp.where(where, x, -jnp.inf)
    powers = jnp.exp(x - jnp.max(x, axis, keepdims=True))
    return jnp.where(where, powers / jnp.sum(powers, axis, keepdims=True), 0.0)


def plain_softmax(x: Value, axis: Axis) -> Value:
    """`softmax` of all elements; how it moves can be computed from its result."""

    @custom_jvp
    def function(x: Value) -> Value:
        powers = jnp.exp(x - jnp.max(x, axis, keepdims=True, initial=-jnp.inf))
        return powers / jnp.sum(powers, axis, keepdims=True)

    @function.defjvp
    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        y = function(x)
        return y, y * (t - jnp.sum(y * t, axis, keepdims=True))

    return function(x)


def standardize(
    x: Value,
    axis: Axis = -1,
    mean: Value = None,
    variance: Value = None,
    epsilon: Value = 1e-5,
    where: Value = None,
) -> Value:
    """`x`, moved and scaled to mean 0 and variance 1 along an axis, of the elements in `where`."""
    x, axis = jnp.asarray(x), static(axis)
    if mean is None:
        mean = jnp.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        variance = jnp.mean(jnp.square(x), axis, keepdims=True, where=where) - jnp.square(mean)
        variance = jnp.maximum(variance, 0)
    return (x - mean) * lax.rsqrt(variance + epsilon)


def one_hot(x: Value, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Value:
    """Zeros along a new axis, with a 1 at the index that each element of `x` names."""
    x = jnp.asarray(x)
    if x.dtype.kind not in "iu":
        message = "jax.nn.one_hot input should be integer-typed."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
    places = jnp.arange(num_classes, dtype=x.dtype)
    place = axis % (jnp.ndim(x) + 1)
    sizes = [num_classes if i == place else 1 for i in range(jnp.ndim(x) + 1)]
    same = jnp.equal(jnp.expand_dims(x, place), jnp.reshape(places, sizes))
    return same.astype(dtypes.canonical(float if dtype is None else dtype))


# Attention ----------------------------------------------------------------------------------------


def dot_product_attention(
    query: Value,
    key: Value,
    value: Value,
    bias: Value = None,
    mask: Value = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
) -> Value:
    """Means of the values, weighted by `softmax(scale * query @ key)`.

    The axes are (batch, time, head, feature); a batch axis may be missing. `bias` is added to the
    logits, `mask` says which of them count, and with `is_causal` no time sees a later one.
    """
    query, key, value = map(jnp.asarray, (query, key, value))
    heads, groups = query.shape[-2], key.shape[-2]
    if heads % groups:
        raise ValueError(f"{heads} heads of queries cannot share {groups} heads of keys.")
    key, value = (jnp.repeat(x, heads // groups, -2) for x in (key, value))
    logits = jnp.einsum("...tnh,...snh->...nts", query, key)
    logits = logits * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if bias is not None:
        logits = logits + bias
    if is_causal:
        times, seen = logits.shape[-2:]
        causal = jnp.tri(times, seen, dtype=bool)
        mask = causal if mask is None else jnp.logical_and(mask, causal)
    if mask is not None:
        least = -0.7 * float(np.finfo(np.float32).max)  # finite in the softmax's dtype, too
        logits = jnp.where(mask, logits, least)
    weights = softmax(logits.astype(np.float32)).astype(query.dtype)  # in float32, as in JAX
    return jnp.einsum("...nts,...snh->...tnh", weights, value)
