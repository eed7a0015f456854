"""Checks of what lies beyond the exercises: `./jaxprentice check pytrees.open`, `pytrees.repair`."""

from typing import Any, NamedTuple

from checking import exercise, yours
from random_programs import for_programs
from random_trees import make

from minijax.tree import tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten


class Point(NamedTuple):
    """A namedtuple."""

    x: Any
    y: Any


class Marker:
    """A leaf that is equal to nothing but itself."""


def marked(tree):
    """The tree with leaves that can be told from each other."""
    return tree_map(lambda _: Marker(), tree)


def reached(tree, path):
    """What is at a path of a tree."""
    return eval("tree" + path, {"tree": tree})


exercise("pytrees.open")

paths = yours("open_pytrees.paths")
differences = yours("open_pytrees.differences")


@for_programs(make, seed="pytrees.open")
def test_paths_of_random_trees(tree):
    """Each path is Python that reaches its leaf, the first the first and the last the last."""
    tree = marked(tree)
    found = [reached(tree, path) for path in paths(tree)]
    assert len(found) == len(tree_leaves(tree))
    assert all(x is y for x, y in zip(found, tree_leaves(tree), strict=True))


@for_programs(make, seed="pytrees.open")
def test_a_container_for_a_leaf(tree):
    """If one leaf of a random tree becomes a container, its path is the only difference."""
    leaves, structure = tree_flatten(tree)
    assert differences(tree, marked(tree)) == []
    for i, path in enumerate(paths(tree)):
        other = tree_unflatten(structure, [*leaves[:i], [leaves[i]], *leaves[i + 1 :]])
        assert differences(tree, other) == differences(other, tree) == [path]


@for_programs(make, seed="pytrees.open")
def test_containers_for_all_leaves(tree):
    """If all leaves become empty, every path is a difference; if a tree does, its root is."""
    emptied = tree_map(lambda _: None, tree)
    assert differences(tree, emptied) == paths(tree)
    assert differences([tree], {"a": tree}) == [""]
    assert (differences(tree, emptied) == []) == (tree_structure(tree) == tree_structure(emptied))


def test_keys_fields_and_lengths():
    """Keys of any kind, fields and lengths count; the order of filling does not."""
    tree = {"b": Point(1.0, [2.0]), "a b": {7: 3.0, -1: None}}
    assert sorted(reached(tree, path) for path in paths(tree)) == [1.0, 2.0, 3.0]
    assert any(path.endswith(".x") for path in paths(tree))
    assert differences(tree, {"a b": {-1: None, 7: 0.0}, "b": Point(0.0, [0.0])}) == []
    assert differences(Point(1.0, 2.0), (1.0, 2.0)) == [""]
    found = differences(
        [(1.0, 2.0), {"a": 1.0}, Point(1.0, (2.0,)), None],
        [(1.0, 2.0, 3.0), {"b": 1.0}, Point(1.0, [2.0]), 4.0],
    )
    assert found == ["[0]", "[1]", "[2].y", "[3]"]


def test_small_trees():
    """A leaf is reached by the empty path, and nothing has no path."""
    assert paths(1.0) == [""]
    assert paths([None, (), {}]) == []
    assert differences(1.0, 2.0) == []
    assert differences(1.0, None) == [""]


exercise("pytrees.repair")

moved = yours("repair_pytrees.moved")
step = yours("repair_pytrees.step")


def by_hand(tree, i):
    """A part of what a step makes of parameters that are their own velocities and slopes."""
    return tree_map(lambda x: moved(x, 2.0 * x, 3.0 * x)[i], tree)


def test_a_pair_of_parameters():
    """Two parameters in a tuple move, each by its own velocity."""
    params, velocities = step((1.0, 10.0), (4.0, 0.0), (2.0, 4.0))
    assert params == (3.0, 8.0)
    assert velocities == (2.0, -2.0)


@for_programs(make, seed="pytrees.repair")
def test_steps_of_random_trees(tree):
    """Each parameter of a random tree moves as if it were the only one."""
    velocities, gradient = tree_map(lambda x: 2.0 * x, tree), tree_map(lambda x: 3.0 * x, tree)
    params, changed = step(tree, velocities, gradient)
    assert params == by_hand(tree, 0)
    assert changed == by_hand(tree, 1)


def test_many_steps():
    """A model in a dict of lists comes to rest, and its containers stay what they were."""
    params = {"w": [4.0, Point(-2.0, (1.0,))], "b": 3.0}
    velocities = tree_map(lambda _: 0.0, params)
    for _ in range(60):
        params, velocities = step(params, velocities, params)
    assert tree_structure(params) == tree_structure({"w": [0.0, Point(0.0, (0.0,))], "b": 0.0})
    assert max(map(abs, tree_leaves(params))) < 0.01


def test_other_containers():
    """Dicts, lists, None and a single number are all models."""
    assert step(1.0, 0.0, 2.0) == (0.0, -1.0)
    assert step({"a": [1.0], "b": None}, {"a": [0.0], "b": None}, {"a": [2.0], "b": None}) == (
        {"a": [0.0], "b": None},
        {"a": [-1.0], "b": None},
    )
