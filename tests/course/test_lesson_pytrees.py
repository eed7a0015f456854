"""The lesson pytrees: the reference agrees with JAX."""

from collections import namedtuple

import minijax
import pytest

jax = pytest.importorskip("jax")

Point = namedtuple("Point", "x y")


class Record:
    def __init__(self, content, name):
        self.content, self.name = content, name

    def __eq__(self, other):
        return (self.content, self.name) == (other.content, other.name)


class Settings(dict):
    pass


for lib in (jax, minijax):
    lib.tree_util.register_pytree_node(
        Record, lambda r: (iter([r.content]), r.name), lambda name, xs: Record(*xs, name)
    )

TREES = {
    "leaf": 3.0,
    "none": None,
    "empty": ([], (), {}),
    "dict filled backwards": {"b": 1, "c": [2], "a": (3, None)},
    "namedtuple": Point(1, (2, [3])),
    "class of the user's": [Record({"b": 1, "a": 2}, "first"), 3],
    "subclass of a dict": [Settings(a=1)],
    "numbers as keys": {10: 1, 9: 2, 2.5: 3},
}


@pytest.mark.parametrize("name", TREES)
def test_leaves_structure_and_way_back_are_jax_s(name):
    (leaves, structure), (wanted, reference) = (
        lib.tree.flatten(TREES[name]) for lib in (minijax, jax)
    )
    assert leaves == wanted
    assert str(structure) == str(reference)
    new = [f"leaf {i}" for i, _ in enumerate(leaves)]
    got, want = minijax.tree.unflatten(structure, new), jax.tree.unflatten(reference, new)
    assert type(got) is type(want)
    assert got == want


def outcome(function, *args, **named):
    try:
        return function(*args, **named)
    except ValueError:
        return "ValueError"


ROWS = {
    "other order of filling": ({"a": 1, "b": 2}, {"b": 3, "a": 4}),
    "subtrees": ([1, (2,)], [(3, 4), ({"a": 5},)]),
    "none below a leaf": (1, None),
    "leaf below none": (None, 1),
    "other length": ([1, 2], [1, 2, 3]),
    "tuple for a list": ([1, 2], (1, 2)),
    "tuple for a namedtuple": (Point(1, 2), (1, 2)),
    "other keys": ({"a": 1}, {"b": 1}),
    "other data": (Record(1, "x"), Record(2, "y")),
    "same data": (Record(1, "x"), Record([2], "x")),
    "other depth": ([1, [2]], [1, 2]),
    "keys without an order": ({"a": 1, 2: 3}, 1),
}


@pytest.mark.parametrize("name", ROWS)
def test_trees_fit_where_they_fit_in_jax(name):
    got, want = (outcome(lib.tree.map, lambda *xs: xs, *ROWS[name]) for lib in (minijax, jax))
    assert got == want


@pytest.mark.parametrize("chosen", [(2, 3), None, [1, (2, 3)]])
def test_leaves_that_is_leaf_chooses_are_jax_s(chosen):
    trees = [1, (2, 3), None], [4, [5, 6], 7]
    got, want = (
        outcome(lib.tree.map, lambda *xs: xs, *trees, is_leaf=lambda x: x == chosen)
        for lib in (minijax, jax)
    )
    assert got == want


@pytest.mark.parametrize("leaves", [[1], [1, 2, 3], []])
def test_a_wrong_number_of_leaves_is_refused_as_in_jax(leaves):
    got, want = (
        outcome(lib.tree.unflatten, lib.tree.structure([0, (0,)]), leaves) for lib in (minijax, jax)
    )
    assert got == want == "ValueError"


@pytest.mark.parametrize("cls", [Record, tuple, type(None)])
def test_a_second_registration_is_refused_as_in_jax(cls):
    for lib in (minijax, jax):
        with pytest.raises(ValueError):
            lib.tree_util.register_pytree_node(cls, lambda x: ((), None), lambda _, xs: cls())
