"""Where two trees differ."""

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
