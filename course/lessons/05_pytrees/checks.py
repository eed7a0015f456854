"""Checks of the `pytrees` lesson, for you to read and to run: `./jaxprentice check pytrees`."""

from typing import Any, NamedTuple

import pytest
from checking import exercise
from random_programs import for_programs
from random_trees import make

from minijax.tree import (
    NodeType,
    PyTreeDef,
    flatten_fun,
    flatten_up_to,
    leaf,
    node_types,
    tree_flatten,
    tree_map,
    tree_unflatten,
)


class Point(NamedTuple):
    """A namedtuple."""

    x: Any
    y: Any


class Pair:
    """A container that the table gets for these checks."""

    def __init__(self, a, b, name):
        self.a, self.b, self.name = a, b, name


def pair_children(pair):
    """The children may be any iterable: here they come one by one."""
    return iter([pair.a, pair.b]), pair.name


node_types[Pair] = NodeType(pair_children, lambda name, xs: Pair(*xs, name))

# Structures, made by hand.
PAIR_OF_LEAVES = PyTreeDef(tuple, None, (leaf, leaf))
NESTED = PyTreeDef(list, None, (leaf, PyTreeDef(type(None), None, ()), PAIR_OF_LEAVES))


exercise("pytrees.flatten")


def test_a_leaf():
    """A leaf is its own only leaf, and its structure is the constant `leaf`."""
    assert tree_flatten(3.0) == ([3.0], leaf)
    assert tree_flatten(3.0)[1] is leaf


def test_fields_of_the_structure():
    """A structure has the data that `to_children` returns, and a tuple of structures."""
    _, structure = tree_flatten({"b": 1.0, "a": 2.0})
    assert structure.data == ("a", "b")
    assert structure.children() == [leaf, leaf]


def test_containers_in_containers():
    """Leaves come from left to right, and the structure has a PyTreeDef for each container."""
    assert tree_flatten([1.0, None, (2.0, 3.0)]) == ([1.0, 2.0, 3.0], NESTED)
    inner = PyTreeDef(dict, ("k",), (leaf,))
    structure = PyTreeDef(dict, ("a", "b"), (inner, PyTreeDef(list, None, ())))
    assert tree_flatten({"b": [], "a": {"k": 5.0}}) == ([5.0], structure)


def test_other_classes():
    """The rest of a container is kept in the structure."""
    pair = PyTreeDef(Pair, "ab", (PAIR_OF_LEAVES, leaf))
    structure = PyTreeDef(Point, Point, (leaf, pair))
    assert tree_flatten(Point(1, Pair((2, 3), 4, "ab"))) == ([1, 2, 3, 4], structure)


def test_containers_taken_as_leaves():
    """A container for which is_leaf is true is a leaf, at the root or further down."""
    assert tree_flatten((2.0, 3.0), is_leaf=lambda x: x == (2.0, 3.0)) == ([(2.0, 3.0)], leaf)
    leaves, structure = tree_flatten([1.0, None, (2.0, 3.0)], is_leaf=lambda x: x == (2.0, 3.0))
    assert leaves == [1.0, (2.0, 3.0)]
    assert structure == PyTreeDef(list, None, (leaf, PyTreeDef(type(None), None, ()), leaf))


def test_containers_are_taken_apart_once():
    """Each container is taken apart once."""
    calls = []

    class Once:
        pass

    node_types[Once] = NodeType(lambda x: (calls.append(x) or (1.0, 2.0), "data"), None)
    assert tree_flatten(Once()) == ([1.0, 2.0], PyTreeDef(Once, "data", (leaf, leaf)))
    assert len(calls) == 1


def test_containers_that_cannot_be_taken_apart():
    """A class must return children and data; everything else is rejected with ValueError."""

    class Wrong:
        pass

    for parts in ([(1.0,), None], ((1.0,), None, "more"), (5.0, None)):
        node_types[Wrong] = NodeType(lambda x, parts=parts: parts, None)
        with pytest.raises(ValueError):
            tree_flatten(Wrong())


exercise("pytrees.unflatten")


def test_leaves_find_their_places():
    """The leaves are put in from left to right, into containers of the right classes."""
    assert tree_unflatten(NESTED, [1.0, 2.0, 3.0]) == [1.0, None, (2.0, 3.0)]
    two = PyTreeDef(dict, ("a", "b"), (PAIR_OF_LEAVES, PAIR_OF_LEAVES))
    assert tree_unflatten(two, [1, 2, 3, 4]) == {"a": (1, 2), "b": (3, 4)}
    point = tree_unflatten(PyTreeDef(Point, Point, (leaf, leaf)), [1.0, 2.0])
    assert type(point).__name__ == "Point"
    assert point.y == 2.0


def test_any_iterable_and_any_leaf():
    """Leaves may come from an iterator, and may be objects of any kind."""
    assert tree_unflatten(PAIR_OF_LEAVES, iter([None, [5.0]])) == (None, [5.0])


def test_children_are_a_list():
    """The function that makes a container gets its children as a list."""

    class Wrapped:
        pass

    node_types[Wrapped] = NodeType(lambda w: ((), None), lambda rest, xs: xs)
    assert tree_unflatten(PyTreeDef(Wrapped, None, (leaf, leaf)), [1.0, 2.0]) == [1.0, 2.0]


def test_wrong_number_of_leaves():
    """Too few leaves or too many are rejected with ValueError."""
    with pytest.raises(ValueError):
        tree_unflatten(NESTED, [1.0, 2.0])
    with pytest.raises(ValueError):
        tree_unflatten(NESTED, [1.0, 2.0, 3.0, 4.0])


exercise("pytrees.flatten_up_to")


def test_leaves_and_subtrees():
    """Where the structure has leaves, the tree may have leaves or whole trees."""
    assert flatten_up_to(NESTED, [1.0, None, ((2.0, 3.0), None)]) == [1.0, (2.0, 3.0), None]
    assert flatten_up_to(leaf, {"a": 1.0}) == [{"a": 1.0}]


def test_other_containers():
    """A container of a different class, or a leaf, is rejected with ValueError."""

    class Subclass(tuple):
        pass

    for tree in ([1.0, 2.0], 3.0, None, Point(1.0, 2.0), Subclass((1.0, 2.0))):
        with pytest.raises(ValueError):
            flatten_up_to(PAIR_OF_LEAVES, tree)


def test_other_keys_or_lengths():
    """A different length, or different keys of a dict, are rejected with ValueError."""
    with pytest.raises(ValueError):
        flatten_up_to(PAIR_OF_LEAVES, (1.0, 2.0, 3.0))
    with pytest.raises(ValueError):
        flatten_up_to(PyTreeDef(dict, ("a",), (leaf,)), {"b": 1.0})


def test_children_from_an_iterator():
    """The children of a container may come from an iterator."""
    structure = PyTreeDef(Pair, "ab", (leaf, leaf))
    assert flatten_up_to(structure, Pair(1.0, [2.0], "ab")) == [1.0, [2.0]]


exercise("pytrees.map")


def test_one_tree():
    """The function is applied to every leaf, and the containers stay."""
    assert tree_map(lambda x: 10 * x, {"a": (1, None), "b": [2]}) == {"a": (10, None), "b": [20]}


def test_several_trees():
    """The function gets what all trees have at the same position."""
    got = tree_map(lambda x, y, z: (x, y, z), [1, (2,)], [3, (4,)], [5, ({"a": 6},)])
    assert got == [(1, 3, 5), ((2, 4, {"a": 6}),)]


def test_trees_that_do_not_fit():
    """A tree that does not fit the first one is rejected with ValueError."""
    with pytest.raises(ValueError):
        tree_map(lambda x, y: x, (1.0, 2.0), (1.0, 2.0, 3.0))


def test_a_pair_as_a_leaf():
    """Containers of the first tree for which is_leaf is true are leaves."""
    got = tree_map(lambda x, y: (x, y), [(1, 2)], ["one"], is_leaf=lambda x: x == (1, 2))
    assert got == [((1, 2), "one")]


@for_programs(make, seed="pytrees")
def test_random_trees(tree, other):
    """With a function that returns its second argument, the result is the second tree."""
    assert tree_map(lambda x, y: y, tree, other) == other


exercise("pytrees.flatten_fun")

TWO_ARGUMENTS = PyTreeDef(tuple, None, (PyTreeDef(dict, ("a", "b"), (leaf, leaf)), leaf))


def test_flat_in_and_flat_out():
    """The function gets its containers, and its result comes out flat."""
    flat_f, out_tree = flatten_fun(lambda d, x: {"sum": d["a"] + x, "b": (d["b"],)}, TWO_ARGUMENTS)
    assert flat_f(1, 2, 30) == [2, 31]
    inner = PyTreeDef(tuple, None, (leaf,))
    assert out_tree() == PyTreeDef(dict, ("b", "sum"), (inner, leaf))


def test_how_often_the_function_runs():
    """The function runs when flat_f is called, and at no other time."""
    calls = []

    def f(d, x):
        calls.append(x)
        return x

    flat_f, out_tree = flatten_fun(f, TWO_ARGUMENTS)
    assert calls == []
    flat_f(1, 2, 30)
    out_tree(), out_tree()
    assert calls == [30]


def test_structure_of_the_last_call():
    """The structure may differ from call to call; out_tree returns the structure of the last call."""
    flat_f, out_tree = flatten_fun(lambda d, x: [7.0] * x, TWO_ARGUMENTS)
    for count in (1, 2):
        assert flat_f(1, 2, count) == [7.0] * count
        assert out_tree() == PyTreeDef(list, None, (leaf,) * count)


def test_error_in_the_function():
    """An error in the function comes out unchanged."""
    flat_f, _ = flatten_fun(lambda d, x: d["not there"], TWO_ARGUMENTS)
    with pytest.raises(KeyError):
        flat_f(1, 2, 30)


def test_asked_too_early():
    """Asking for the structure before there is a result raises RuntimeError."""
    _, out_tree = flatten_fun(lambda d, x: x, TWO_ARGUMENTS)
    with pytest.raises(RuntimeError):
        out_tree()
