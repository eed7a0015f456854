"""A derivative within a derivative, without confusion."""

from microjax import add, derivative, mul


def h(x):
    return mul(x, derivative(lambda y: add(x, y), 1.0))


print(derivative(h, 1.0))
