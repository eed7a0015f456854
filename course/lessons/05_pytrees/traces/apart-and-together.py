"""A tree is taken apart, and built again from new leaves.

watch = ["minijax.tree.tree_flatten", "minijax.tree.tree_unflatten", "minijax.tree.build"]
look = "Two functions call themselves, once for each part of the tree. Watch the leaves being collected, and put back in the same order."
"""

from minijax.tree import tree_flatten, tree_unflatten

leaves, treedef = tree_flatten((1.0, [2.0, 3.0]))
print(tree_unflatten(treedef, [10 * x for x in leaves]))
