"""A sparse Jacobian from few directions.

Write `sparse_jacobian(f, pattern)`, which returns a function of `x` that computes the Jacobian of
`f` there, for an `f` from vectors to vectors. The array `pattern` has the shape of the Jacobian and
is False at entries that are zero for every `x`. `f` runs once, and no more directions are pushed
through it than needed. If each row of the pattern has a single entry, one is enough, and for a band
of k diagonals k are. The result has the dtype of what `f` returns.
"""

import numpy as np

import minijax.numpy as jnp
from minijax import jvp, vmap


def groups_of(pattern):
    """A group for each column, by number, so that no two columns of a group share a row."""
    rows: list[np.ndarray] = []  # which rows each group uses
    groups = []
    for column in pattern.T:
        free = [i for i, used in enumerate(rows) if not (used & column).any()]
        groups.append(free[0] if free else len(rows))
        if free:
            rows[free[0]] = rows[free[0]] | column
        else:
            rows.append(column)
    return groups


def sparse_jacobian(f, pattern):
    """The Jacobian of `f`, all columns of a group by one direction."""
    pattern = np.asarray(pattern, bool)
    groups = groups_of(pattern)
    directions = np.equal.outer(range(max(groups) + 1), groups)

    def jacobian(x):
        def push_forward(direction):
            return jvp(f, (x,), (direction,))[1]

        changes = vmap(push_forward, out_axes=-1)(directions.astype(x.dtype))
        return jnp.array(np.where(pattern, np.asarray(changes)[:, groups], 0).astype(changes.dtype))

    return jacobian
