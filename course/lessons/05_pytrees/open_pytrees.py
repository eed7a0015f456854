"""Where two trees differ.

Write `paths(tree)`, which returns a path for each leaf, in the order of the leaves. A path is a
string of Python code that reaches the leaf if you put it after the tree's name, as `['w'][0].x` in
`tree['w'][0].x`; the path of the root is empty. Then write `differences(tree, other)`, which
returns the paths of the topmost places at which the trees differ, from left to right. Two trees
agree at a place if both have a leaf there, or the same container with the same keys or length.
Trees consist of tuples, lists, dicts, namedtuples, None and leaves.
"""

from minijax.tree import tree_flatten, tree_structure
