"""Contexts: `linearize` of a product.

look = "Level 2 differentiates, and level 1 records every operation on a tangent. Watch which product goes through both and is computed."
"""

from microjax.stackless import lax, linearize

y, f_lin = linearize(lambda x: lax.mul(x, x), 3.0)
print(y, f_lin(1.0))
