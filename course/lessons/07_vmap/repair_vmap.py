"""A polynomial with a batch of coefficients.

`polyval(coefficients, x)` is a new primitive: a polynomial, highest power first, at each element of
`x`. The first axis of `coefficients` counts the powers; if there are more axes, they are aligned
with the last axes of `x`, as NumPy aligns them. `vmap(polyval)` must return what a loop over the
examples returns, whatever their shapes and axes, and in `vmap` of `vmap`, too. If `x` is a number,
it does; if `x` is a vector, it may not. Repair it.
"""

import numpy as np

from minijax.core import Primitive, impl_rules, not_mapped, vmap_rules
from minijax.vmap import move_batch_axis

polyval_p = Primitive("polyval")


def polyval(coefficients, x):
    """The values of a polynomial."""
    return polyval_p.bind(coefficients, x)


def polyval_impl(coefficients, x):
    """Horner's rule."""
    out = np.zeros_like(x)
    for coefficient in coefficients:
        out = out * x + coefficient
    return out


def polyval_batch(axis_size, vals, dims):
    """The polynomials of all examples, and their batch axis."""
    (coefficients, x), (coefficients_dim, x_dim) = vals, dims
    if coefficients_dim is not not_mapped:
        coefficients = move_batch_axis(axis_size, coefficients_dim, 1, coefficients)
    return polyval(coefficients, move_batch_axis(axis_size, x_dim, 0, x)), 0


impl_rules[polyval_p] = polyval_impl
vmap_rules[polyval_p] = polyval_batch
