"""The gradient of what a loop converges to."""

import minijax.numpy as jnp
from minijax import jvp, lax


def fixed_point(f, p, x):
    """The `x` with `x == f(p, x)` near the start, and its derivatives with respect to `p`."""
    x = repeated(f, lax.stop_gradient(p), lax.stop_gradient(x))
    for _ in range(2):  # each step makes twice as many derivatives right
        x = newton_step(f, p, x)
    return x


def repeated(f, p, x):
    """What the loop converges to."""
    start = (x, f(p, x))
    return lax.while_loop(goes_on, lambda pair: (pair[1], f(p, pair[1])), start)[1]


def goes_on(pair):
    """Does `x` still change?"""
    old, new = pair
    return jnp.abs(new - old) >= 1e-12


def newton_step(f, p, x):
    """A solution of `x == f(p, x)` if `f` were a straight line."""
    y, slope = jvp(lambda x: f(p, x), (x,), (1.0,))
    return x + (y - x) / (1.0 - slope)
