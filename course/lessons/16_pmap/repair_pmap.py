"""Data in parts.

`standardize(x, count, axis_name)` is for data in parts, one per example of a named axis. The first
`count` rows of `x` are data, and the others are padding. It shifts and scales the columns of all
data together, so that each has mean 0 and variance 1, and returns this part with zeros as padding.
However the data are split, a row must come out the same. Repair it.
"""

import minijax.numpy as jnp
from minijax import lax


def standardize(x, count, axis_name):
    """This part of the data, standardized by the mean and variance of the columns of all data."""
    is_data = jnp.arange(x.shape[0])[:, None] < count
    centered = x - average(x, is_data, axis_name)
    variance = average(centered * centered, is_data, axis_name)
    return jnp.where(is_data, centered / jnp.sqrt(variance), 0.0)


def average(x, is_data, axis_name):
    """The mean of each column over the data of all parts."""
    total = jnp.sum(jnp.where(is_data, x, 0.0), axis=0)
    return lax.pmean(total / jnp.sum(is_data), axis_name)
