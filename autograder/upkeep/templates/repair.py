"""FILL IN: the repair's title.

FILL IN: what the program does, which law it must keep, and that it does not. `tripled(x)` must be
three times `x`. Do not say where the slip is.
"""

from PACKAGE.newlesson import first


def tripled(x):
    """Three times `x`."""
    return first(x) + first(x)  # FILL IN: a short program on something new, with one slip
