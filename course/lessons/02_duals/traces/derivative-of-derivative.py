"""A derivative within a derivative, without confusion.

look = "Two derivatives, and an interpreter for each. Watch what level 2 does with `x`, which is a pair of level 1."
"""

from microjax import add, derivative, mul


def h(x):
    return mul(x, derivative(lambda y: add(x, y), 1.0))


print(derivative(h, 1.0))
