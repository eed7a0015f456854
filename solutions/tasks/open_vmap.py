"""A sparse Jacobian from few directions."""

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
