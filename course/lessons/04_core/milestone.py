"""Your first profiler. Python's own `while` runs on your boxes, and your interpreter counts."""

from minijax.core import counted


def root(a):
    x = a
    while x * x > 1.000000001 * a:
        x = (x + a / x) * 0.5
    return x


for a in (2.0, 2e6, 2e12):
    value, operations = counted(root)(a)
    print(f"the root of {a:g} is {value:.8g}, after {operations} operations")
