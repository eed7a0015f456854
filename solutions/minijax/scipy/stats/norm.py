"""The normal distribution (`minijax.scipy.stats.norm`): its density, shares, and their inverses."""

import math

from minijax import numpy as jnp
from minijax.core import Value
from minijax.numpy.making import promote_float
from minijax.scipy import special

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Value, loc: Value = 0, scale: Value = 1) -> Value:
    """The logarithm of `pdf`."""
    x, loc, scale = promote_float(x, loc, scale)
    distance = jnp.square((x - loc) / scale)
    return -0.5 * (distance + jnp.log(2 * math.pi * jnp.square(scale)))


def pdf(x: Value, loc: Value = 0, scale: Value = 1) -> Value:
    """The probability density at `x`."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: Value, loc: Value = 0, scale: Value = 1) -> Value:
    """The cumulative distribution function: the probability of a value below `x`."""
    x, loc, scale = promote_float(x, loc, scale)
    return special.ndtr((x - loc) / scale)


def logcdf(x: Value, loc: Value = 0, scale: Value = 1) -> Value:
    """The logarithm of `cdf`."""
    x, loc, scale = promote_float(x, loc, scale)
    return special.log_ndtr((x - loc) / scale)


def sf(x: Value, loc: Value = 0, scale: Value = 1) -> Value:
    """The survival function: the probability of a value above `x`."""
    x, loc, scale = promote_float(x, loc, scale)
    return cdf(-x, -loc, scale)


def logsf(x: Value, loc: Value = 0, scale: Value = 1) -> Value:
    """The logarithm of `sf`."""
    x, loc, scale = promote_float(x, loc, scale)
    return logcdf(-x, -loc, scale)


def ppf(q: Value, loc: Value = 0, scale: Value = 1) -> Value:
    """The inverse of `cdf`: the value below which the result is with probability `q`."""
    return special.ndtri(q) * scale + loc


def isf(q: Value, loc: Value = 0, scale: Value = 1) -> Value:
    """The inverse of `sf`: the value that is exceeded with probability `q`."""
    (q,) = promote_float(q)
    return ppf(1 - q, loc, scale)
