def part(params, pairs, index):
    """One of the two trees in a tree of pairs, which are where the parameters were."""
    return tree_map(lambda _, pair: pair[index], params, pairs)


def step(params, velocities, gradient):
    """The parameters and their velocities after one step."""
    pairs = tree_map(moved, params, velocities, gradient)
    return part(params, pairs, 0), part(params, pairs, 1)
