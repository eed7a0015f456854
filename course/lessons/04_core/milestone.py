"""Your first profiler. Python's own `while` runs on your boxes, and your interpreter counts."""

from minijax.core import counted


def root(a):
    x = a
    while x * x - a > 1e-9:
        x = (x + a / x) * 0.5
    return x


for a in (2.0, 2e6, 2e12):
    print(a, *counted(root)(a))
