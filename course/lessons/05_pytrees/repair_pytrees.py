"""An optimizer that forgets its parameters.

`step(params, velocities, gradient)` changes each velocity by the gradient, and then moves each
parameter by its velocity. It returns two trees, the new parameters and the new velocities, and both
must have the structure of `params`. Each parameter must move as if it were the only one, whatever
containers it is in. For some models it does not. Repair it.
"""

from minijax.tree import tree_map

RATE, FRICTION = 0.5, 0.25


def moved(param, velocity, slope):
    """A parameter and its velocity after one step."""
    velocity = (1.0 - FRICTION) * velocity - RATE * slope
    return param + velocity, velocity


def part(pairs, index):
    """One of the two trees in a tree of pairs."""
    return tree_map(lambda pair: pair[index], pairs, is_leaf=lambda x: isinstance(x, tuple))


def step(params, velocities, gradient):
    """The parameters and their velocities after one step."""
    pairs = tree_map(moved, params, velocities, gradient)
    return part(pairs, 0), part(pairs, 1)
