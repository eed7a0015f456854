"""A memory that spoils derivatives.

`remember(f)` computes `f` once for each scalar and keeps the results. Its values are right, and yet
derivatives go wrong: `jvp(remember(f), (x,), (x_dot,))` must equal `jvp(f, (x,), (x_dot,))`, at any
time and however deeply it is nested. Repair it, and still compute plain numbers only once.
"""

from minijax.core import get_aval


def remember(f):
    """`f`, with a memory of what it returned."""
    known = {}

    def remembered(x):
        key = float(get_aval(x).val)
        if key not in known:
            known[key] = f(x)
        return known[key]

    return remembered
