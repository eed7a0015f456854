"""Where two trees differ.

Write `paths(tree)`, which returns a string for each leaf, in the order of the leaves. Put after the
tree's name, it is Python that reaches the leaf, as `['w'][0].x` in `tree['w'][0].x`. Then write
`differences(tree, other)`, which returns the paths of the topmost places, from left to right, at
which the two have neither a leaf each nor the same container, with the same keys or length. The
path of the root is empty. Trees consist of tuples, lists, dicts, namedtuples, None and leaves.
"""

from minijax.tree import tree_structure


def steps(structure):
    """How Python gets from a container of this structure to each of its children."""
    if hasattr(structure.node_class, "_fields"):
        return [f".{name}" for name in structure.node_class._fields]
    keys = structure.data if structure.node_class is dict else range(len(structure.children()))
    return [f"[{key!r}]" for key in keys]


def places(structure):
    """The path of each leaf of a structure."""
    if structure.node_class is None:
        return [""]
    pairs = zip(steps(structure), structure.children(), strict=True)
    return [step + path for step, child in pairs for path in places(child)]


def comparison(one, two):
    """The paths of the places at which two structures part."""
    here = [(x.node_class, x.data, len(x.children())) for x in (one, two)]
    if here[0] != here[1]:
        return [""]
    rows = zip(steps(one), one.children(), two.children(), strict=True)
    return [step + path for step, x, y in rows for path in comparison(x, y)]


def paths(tree):
    """Where each leaf is, as Python writes it."""
    return places(tree_structure(tree))


def differences(tree, other):
    """Where two trees have different containers, as Python writes it."""
    return comparison(tree_structure(tree), tree_structure(other))
