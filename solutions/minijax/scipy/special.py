"""Special functions under SciPy's names (`minijax.scipy.special`)."""

import functools
import math
from collections.abc import Callable
from typing import Any

from minijax import lax, nn
from minijax import numpy as jnp
from minijax.core import Value
from minijax.custom_rules import custom_jvp
from minijax.lax.basic import named
from minijax.nn.functions import logsumexp
from minijax.numpy.basic import unary_float
from minijax.numpy.functions import constant_like
from minijax.numpy.making import promote_float

__all__ = [
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "expit",
    "kl_div",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "rel_entr",
    "softmax",
    "xlog1py",
    "xlogy",
]


def erf(x: Value) -> Value:
    """The error function."""
    return unary_float(lax.erf)(x)


def erfc(x: Value) -> Value:
    """`1 - erf(x)`, with all digits."""
    return unary_float(lax.erfc)(x)


def erfinv(x: Value) -> Value:
    """The inverse of the error function."""
    return unary_float(lax.erf_inv)(x)


def expit(x: Value) -> Value:
    """`1 / (1 + exp(-x))`."""
    return nn.sigmoid(*promote_float(x))


def logit(x: Value) -> Value:
    """`log(x / (1 - x))`, the inverse of `expit`."""
    (x,) = promote_float(x)
    return jnp.log(x / (1 - x))


def softmax(x: Value, /, *, axis: Any = None) -> Value:
    """`exp(x)`, scaled so that the sum along the axes (all of them for None) is 1."""
    return nn.softmax(x, axis=axis)


def log_softmax(x: Value, /, *, axis: Any = None) -> Value:
    """The logarithm of `softmax`."""
    return nn.log_softmax(x, axis=axis)


def times_log(name: str, log: Callable[..., Any], inner: Callable[..., Any], doc: str) -> Any:
    """`x * log(y)`, the logarithm of `inner(y)`; 0 if `x` is."""

    def function(x: Value, y: Value) -> Value:
        x, y = promote_float(x, y)
        is_zero = jnp.equal(x, 0.0)
        return jnp.where(is_zero, 0.0, x * log(jnp.where(is_zero, 1.0, y)))

    product = custom_jvp(named(function, name, doc))

    @product.defjvp
    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        """As the product's, with derivatives that are finite where they can be."""
        (x, y), (x_dot, y_dot) = promote_float(*primals), tangents
        return product(x, y), x_dot * log(y) + y_dot * (x / inner(y))

    return product


xlogy = times_log("xlogy", jnp.log, lambda y: y, "`x * log(y)`, which is 0 if `x` is.")
xlog1py = times_log(
    "xlog1py", jnp.log1p, lambda y: 1 + y, "`x * log(1 + y)`, which is 0 if `x` is."
)


def entr(x: Value) -> Value:
    """`-x * log(x)`; 0 at 0, and minus infinity below."""
    (x,) = promote_float(x)
    return jnp.where(jnp.less(x, 0), -jnp.inf, -xlogy(x, x))


def rel_entr(p: Value, q: Value) -> Value:
    """`p * log(p / q)`; 0 if `p` is, and infinity if only `q` is, or one of them is negative."""
    p, q = promote_float(p, q)
    both = jnp.logical_and(jnp.greater(p, 0), jnp.greater(q, 0))
    none = jnp.logical_and(jnp.equal(p, 0), jnp.greater_equal(q, 0))
    safe_p, safe_q = jnp.where(both, p, 1.0), jnp.where(both, q, 1.0)
    inside = safe_p * (jnp.log(safe_p) - jnp.log(safe_q))
    return jnp.where(both, inside, jnp.where(none, constant_like(p, 0.0), jnp.inf))


def kl_div(p: Value, q: Value) -> Value:
    """`rel_entr(p, q) - p + q`."""
    p, q = promote_float(p, q)
    return rel_entr(p, q) - p + q


def wide_float(name: str, x: Value) -> Value:
    """`x` as an array; `TypeError` unless it is of float32 or float64, as in JAX."""
    x = jnp.asarray(x)
    if x.dtype not in (jnp.float32, jnp.float64):
        raise TypeError(f"{name} takes float32 and float64, not {x.dtype}.")
    return lax.convert_element_type(x, x.dtype)  # never weakly typed


def ndtr(x: Value) -> Value:
    """The probability that a normal number is below `x`."""
    x = wide_float("ndtr", x)
    half = x / math.sqrt(2)
    size = jnp.abs(half)
    near = 1 + lax.erf(half)
    far = jnp.where(jnp.greater(half, 0), 2 - lax.erfc(size), lax.erfc(size))
    return 0.5 * jnp.where(jnp.less(size, math.sqrt(0.5)), near, far)


def ndtri(p: Value) -> Value:
    """The inverse of `ndtr`."""
    p = wide_float("ndtri", p)
    return math.sqrt(2) * lax.erf_inv(2 * p - 1)


@functools.partial(custom_jvp, nondiff_argnums=(1,))
def log_ndtr(x: Value, series_order: int = 3) -> Value:
    """`log(ndtr(x))`, by a series of so many terms if `x` is far below 0."""
    if not isinstance(series_order, int):
        raise TypeError(f"series_order is a Python integer, not {series_order!r}.")
    x = wide_float("log_ndtr", x)
    lowest, highest = (-20.0, 8.0) if x.dtype.itemsize == 8 else (-10.0, 5.0)
    middle = jnp.log(ndtr(jnp.maximum(x, lowest)))
    far = jnp.minimum(x, lowest)
    series, factor = jnp.ones_like(far), 1
    for i in range(1, series_order + 1):
        factor *= 1 - 2 * i  # 1, -1, 3, -15, ...
        series += factor / far ** (2 * i)
    low = -0.5 * far**2 - jnp.log(-far) - 0.5 * math.log(2 * math.pi) + jnp.log(series)
    return jnp.where(
        jnp.greater(x, highest), -ndtr(-x), jnp.where(jnp.greater(x, lowest), middle, low)
    )


@log_ndtr.defjvp
def log_ndtr_jvp(series_order: int, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The normal density over the share below."""
    (x,), (t,) = promote_float(*primals), tangents
    out = log_ndtr(x, series_order)
    density = -0.5 * jnp.square(x) - 0.5 * math.log(2 * math.pi)
    return out, t * jnp.exp(density - out)
