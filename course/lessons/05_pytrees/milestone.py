"""An optimizer that knows nothing but a flat list fits a line whose parameters are in containers."""

from minijax.tree import flatten_fun, tree_flatten, tree_map, tree_unflatten


def loss(line, name):
    return sum((line["slope"] * x + line["start"][0] - 3.0 * x - 1.0) ** 2 for x in (0, 1, 2))


leaves, structure = tree_flatten(({"slope": 0.0, "start": [0.0]}, None))
flat_loss, _ = flatten_fun(loss, structure)
for i in [0, 1] * 200:
    ahead = [x + 1e-6 * (i == j) for j, x in enumerate(leaves)]
    leaves[i] -= 0.1 * (flat_loss(*ahead)[0] - flat_loss(*leaves)[0]) / 1e-6
print(tree_map(lambda x: round(x, 3), tree_unflatten(structure, leaves)))
