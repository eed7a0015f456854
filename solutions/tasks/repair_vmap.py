from minijax.core import get_aval
from minijax.vmap import remove_axis


def polyval_batch(axis_size, vals, dims):
    """The polynomials of all examples, and their batch axis."""
    (coefficients, x), (coefficients_dim, x_dim) = vals, dims
    if coefficients_dim is not_mapped:
        return polyval(coefficients, move_batch_axis(axis_size, x_dim, 0, x)), 0
    last = [len(remove_axis(get_aval(v), dim).shape) for v, dim in zip(vals, dims, strict=True)]
    coefficients = move_batch_axis(axis_size, coefficients_dim, last[0], coefficients)
    return polyval(coefficients, move_batch_axis(axis_size, x_dim, last[1], x)), last[1]
