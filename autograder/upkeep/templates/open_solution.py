"""FILL IN: the open task's title.

FILL IN: a goal of at most five sentences, for which students design the functions themselves. Say
what the functions that the checks call are named, such as `doubled(x)`, and what must hold.
"""

from PACKAGE.newlesson import first


def doubled(x):
    """FILL IN: the solution of the open task."""
    return first(x)
