"""Where two trees differ.

Write `paths(tree)`, which returns a string for each leaf, in the order of the leaves. Put after the
tree's name, it is Python that reaches the leaf, as `['w'][0].x` in `tree['w'][0].x`. Then write
`differences(tree, other)`, which returns the paths of the topmost places, from left to right, at
which the two have neither a leaf each nor the same container, with the same keys or length. The
path of the root is empty. Trees consist of tuples, lists, dicts, namedtuples, None and leaves.
"""

from minijax.tree import tree_flatten, tree_structure
