"""The curvature of a function."""

import numpy as np

import minijax.numpy as jnp
from minijax import jvp


def second(f, x, v, w):
    """The second derivative of `f` at `x`, once along `v` and once along `w`."""
    return jvp(lambda x: jvp(f, (x,), (v,))[1], (x,), (w,))[1]


def axes(x):
    """The directions along the axes."""
    return np.eye(len(x), dtype=x.dtype)


def hvp(f, x, v):
    """The Hessian of `f` at `x` times `v`."""
    return jnp.array(np.array([second(f, x, v, axis) for axis in axes(x)], x.dtype))


def hessian(f, x):
    """The second derivatives of `f` at `x`; each pair of elements is asked for once."""
    square = np.empty((len(x), len(x)), x.dtype)
    for i, v in enumerate(axes(x)):
        for j, w in enumerate(axes(x)[: i + 1]):
            square[i, j] = square[j, i] = second(f, x, v, w)
    return jnp.array(square)
