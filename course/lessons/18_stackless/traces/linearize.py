"""Contexts: `linearize` of a product."""

from microjax.stackless import lax, linearize

y, f_lin = linearize(lambda x: lax.mul(x, x), 3.0)
print(y, f_lin(1.0))
