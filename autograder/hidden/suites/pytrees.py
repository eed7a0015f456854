"""Hidden tests of the `pytrees` lesson: containers taken apart, and put together again.

Every exercise is tested alone: where it calls what a sibling exercise defines, the probe puts a
right one in its place meanwhile, and structures are made by hand. A probe never brings the answer
of the exercise that it asks for. Programs are texts, since trees may hold objects of any class.
"""

import collections
from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import threading
    from unittest.mock import patch

BOTH_WAYS = siblings("pytrees.flatten", "pytrees.unflatten")
NOTHING = siblings()


# What all programs may use ------------------------------------------------------------------------

# An error of any class, raised by a function that gets into a call.
RAISING = """
def stop(*args):
    calls.append(args)
    raise error

result = {{}}
kinds = [TypeError, ValueError, KeyError, IndexError, AttributeError, KeyboardInterrupt]
kinds += [NotImplementedError, RecursionError, {more}]
for kind in kinds:
    error, calls, own = kind("own"), [], False
    try:
        {call}
    except BaseException as caught:
        of_generator = isinstance(caught, RuntimeError) and caught.__cause__ is error
        own = caught is error or of_generator
    result["the " + kind.__name__ + {of!r} + " comes out unchanged"] = own
    result["calls of the function that raises the " + kind.__name__] = len(calls)
"""


def raising(call, more="", of=""):
    """A program that says whether errors come out of a call unchanged, and how often it calls.

    A StopIteration (`more`) is asked for at the root alone: inside `map` it ends what `map` does,
    and out of a generator it is a RuntimeError.
    """
    return RAISING.format(call=call, more=more, of=of)


class Pair:
    def __init__(self, a, b, name):
        self.a, self.b, self.name = a, b, name


class Opaque:
    """A leaf that notices when anything is done with it."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, *other):
        raise AssertionError

    __bool__ = __iter__ = __eq__


def short_names():
    """What programs call structures and classes of containers."""
    from minijax.tree import PyTreeDef

    plain_classes = {"Shape": tuple, "Stack": list, "Settings": dict}
    fields = {"Point": "x y", "Other": "x y", "Empty": ""}
    return {
        "none": PyTreeDef(type(None), None, ()),
        "tup": lambda *parts: PyTreeDef(tuple, None, parts),
        "lst": lambda *parts: PyTreeDef(list, None, parts),
        "dic": lambda **parts: PyTreeDef(dict, tuple(parts), tuple(parts.values())),
        "named": lambda cls, *parts: PyTreeDef(cls, cls, parts),
        **{name: type(name, (base,), {}) for name, base in plain_classes.items()},
        **{name: collections.namedtuple(name, x) for name, x in fields.items()},
    }


def plain(x):
    """Data that can be sent: the order of a dict's keys and the class of each container count."""
    from minijax.tree import PyTreeDef

    if isinstance(x, PyTreeDef):
        return repr([plain(part) for part in (x.node_class, x.data, x.child_treedefs)])
    if isinstance(x, type):
        return "class " + x.__name__
    if isinstance(x, Pair):
        return "Pair", plain(x.a), plain(x.b), plain(x.name)
    if isinstance(x, dict):
        return type(x).__name__, [(plain(k), plain(v)) for k, v in x.items()]
    if isinstance(x, list | tuple):
        items = [plain(y) for y in x]
        is_own = type(x) not in (list, tuple)
        return (type(x).__name__, items) if is_own else type(x)(items)
    return x


def refused(function, *args):
    """What a function gives, or that it has raised ValueError."""
    try:
        return plain(function(*args))
    except ValueError:
        return "ValueError"


def told(result):
    """A result in parts: structures and other containers as texts too, which tell all apart."""
    from minijax.tree import PyTreeDef

    if type(result) is str and result == "ValueError":  # anything else may claim to equal it
        return {"error": "ValueError"}
    match result:
        case (list() as leaves, PyTreeDef()) if isinstance(result, tuple):
            found = {"the leaves": plain(leaves), "the structure": plain(result[1])}
        case PyTreeDef():
            found = {"the structure": plain(result)}
        case dict() if any(type(key) is str and " " in key for key in result):
            found = {key: plain(part) for key, part in result.items()}
            found["all of these, down to the type and the sign of each number"] = repr(found)
        case list() | tuple() | dict():
            found = {"the result": plain(result)}
            found["the result, down to the type and the sign of each number"] = repr(found)
        case _:
            found = {"value": plain(result)}
    return {"error": "nothing", **found}


@probe(uses=[in_place, short_names, told, Opaque, refused])
def run(mj, siblings, program):
    """The `result` of a program in minijax.tree, with right siblings in their places."""
    with in_place("minijax.tree", siblings) as module, patch.dict(module.node_types):
        module.node_types[Pair] = module.NodeType(
            lambda p: (iter((p.a, p.b)), p.name),
            lambda name, xs: Pair(*xs, [name, type(xs).__name__]),
        )
        helpers = {helper.__name__: helper for helper in (Pair, Opaque, refused)}
        scope = {
            "np": np,
            "collections": collections,
            "threading": threading,
            **vars(module),
            **short_names(),
            **helpers,
        }
        exec(program, scope)
        return told(scope["result"])


def programs(student, needs, *texts):
    """Compare the results of programs; an expression is one that is its result."""
    for text in texts:
        student.agrees(run, needs, text if "result = " in text else f"result = {text}")


exercise("pytrees.flatten")


def flat(student, *trees):
    """Compare leaves and structures."""
    programs(student, NOTHING, *(f"tree_flatten({tree})" for tree in trees))


@pytest.mark.keeps("is the constant `leaf`")
def test_single_leaf(student):
    """A leaf is its own only leaf, whatever object it is, and stays untouched."""
    flat(student, "2.5", "'text'", "False")
    program = """
x = Opaque()
leaves, structure = tree_flatten(x)
nested, _ = tree_flatten((x, [x]))
others = [leaf, tup(leaf), dict, Point, NotImplemented, ..., iter("ab"), KeyError("own")]
result = {
    "the leaves are a list": type(leaves) is list,
    "a leaf that is the whole tree is the object itself": leaves[0] is x,
    "the structure of a leaf is the constant `leaf`": structure is leaf,
    "a leaf in a container is the object itself": [y is x for y in nested],
    "leaves of many kinds": [x is y for x, y in zip(tree_flatten(others)[0], others)],
}
"""
    programs(student, NOTHING, program)


# A class of which the children are told by a generator.
OWN = "node_types[Stack] = NodeType(lambda x: (({}), None), None)\nresult = tree_flatten({})"


@pytest.mark.meets("order", "more_than_two", "nested", "twice")
@pytest.mark.keeps("from left to right")
def test_nested_containers(student):
    """Containers in containers, even one in several places, are taken apart from left to right."""
    flat(
        student,
        "[3.0, 1.0, 2.0]",
        "(5,)",
        "[1, (2, [3, (4,)]), 5]",
        "{'z': (1, {'y': 2, 'x': [3]}), 'a': [[4, 5], 6]}",
        "{10: 'x', 9: 'y', -1: 'z'}",
        "((((7,),),), 8, [[9]])",
        "(lambda shared: {'b': shared, 'a': (shared, [shared])})([1, (2, None)])",
    )
    programs(
        student,
        NOTHING,
        "str(tree_flatten([(1,), (True,), (1.0,), (1,)])[0])",
        # children that exist only for a moment, and a call inside a call
        OWN.format("[y] for y in x", "[Stack([1, 2, 3, 4]), 5]"),
        OWN.format("y for y in tree_flatten(list(x))[0]", "[1, Stack([2, [3]]), 4]"),
    )


@pytest.mark.meets("sizes", "zeros")
def test_empty_containers(student):
    """None and empty containers have no leaves, and have their place in the structure."""
    flat(student, "None", "()", "{}", "[None, 1, (), {'a': None, 'b': []}, 2]", "Empty()")


@pytest.mark.meets("keys")
@pytest.mark.keeps("everything needed")
def test_objects_of_other_classes(student):
    """Namedtuples and registered classes are taken apart, and the structure keeps their data."""
    flat(
        student,
        "Point(1, [2, 3])",
        "[Pair((1, 2), {'a': 3}, 'p'), Other(4, None)]",
        "Pair(Pair(1, 2, 'in'), 3, ['out'])",
        "Pair(1, 2, Point('p', []))",
        "[Pair(1, 2, 0), Pair(3, 4, ''), Pair(5, 6, False)]",
        "OrderedDict(b=1, a=2)",
        "defaultdict(int, b=1, a=2)",
    )
    program = """
node_types[Point] = NodeType(lambda p: ([p.x], "kept"), None)
result = {"leaves and structure of a namedtuple that is registered": tree_flatten([Point(1, 2)])}
for children in (np.array([1.5, 2.5]), "ab", {"k": 1}, range(3), ((1, 2),)):
    node_types[Stack] = NodeType(lambda x: (children, None), None)
    result[f"leaves and structure of the children {children}"] = tree_flatten(Stack())
"""
    programs(student, NOTHING, program)


def test_subclasses_are_leaves(student):
    """An instance of a subclass that has no entry is a leaf, and is left whole."""
    flat(student, "[Stack([1, 2]), Settings(a=1), Shape((1, 2))]")
    flat(student, "type('Own', (OrderedDict,), {})(a=1)")


@pytest.mark.meets("some_results")
@pytest.mark.keeps("counts as a leaf", "is the constant `leaf`")
def test_leaves_by_choice(student):
    """A container that is_leaf chooses is not taken apart, at any depth."""
    flat(
        student,
        "[1, (2, 3), [(4, 5), None]], lambda x: isinstance(x, tuple)",
        "[1, [2, 3]], lambda x: type(x) is list and len(x) == 2",
        "[1, [2, [3]]], lambda x: x == [3]",
        "(1, 2), lambda x: False",
        "[{'a': 2}, Point(3, 4), Pair(5, 6, 'p')], lambda x: type(x) in (dict, Point, Pair)",
        "[defaultdict(int, a=2), [3]], lambda x: type(x) is defaultdict",
        "[{'a': 1, 2: 3}, 4], lambda x: type(x) is dict",
    )
    program = """
_, structure = tree_flatten([1, (2, 3)], lambda x: type(x) is tuple)
result = {
    "the structure of a leaf, or of what is_leaf chooses, is the constant `leaf`": [
        child is leaf for child in structure.children()
    ]
}
chosen = [[1], {"a": 2}, (3,), Point(4, 5)]
leaves, _ = tree_flatten(chosen, lambda x: x is not chosen)
own = [x is y for x, y in zip(leaves, chosen)]
result["a container that is_leaf chooses is itself among the leaves"] = own
"""
    programs(student, NOTHING, program)


@pytest.mark.meets("none")
@pytest.mark.keeps("counts as a leaf")
def test_what_is_leaf_gives(student):
    """None and empty containers can be chosen, too, by anything that Python counts as true."""
    flat(
        student,
        "[(1, 2), [3]], lambda x: np.bool_(type(x) is tuple)",
        "[(1, 2), [3]], lambda x: 'yes' if type(x) is tuple else []",
        "[(1, 2), [3]], lambda x: None",
        "[1, None, {'a': None}], is_leaf=lambda x: x is None",
        "{'a': [(), 1], 'b': ()}, lambda x: x == ()",
        "[{}, [], (), Empty(), OrderedDict(), None, 1], lambda x: x in ({}, [], (), None)",
    )


@pytest.mark.meets("keys")
@pytest.mark.keeps("taken apart once")
def test_containers_taken_apart_wrongly(student):
    """A class whose function returns no pair of children and data is rejected with ValueError."""
    program = """
result = {}
for parts in (None, [(1, 2), "data"], (1, 2, 3), (5, "data"), ((1, 2),), "ab"):
    node_types[Shape] = NodeType(lambda x: parts, lambda data, xs: xs)
    came = refused(tree_flatten, [1, Shape()])
    result[f"leaves and structure if its function returns {parts!r}"] = came
"""
    programs(student, NOTHING, program)


@pytest.mark.meets("exception")
@pytest.mark.keeps("pass through unchanged")
def test_errors_when_taken_apart(student):
    """An error in is_leaf, in a container's own function or in its children comes out unchanged."""
    own = "node_types[Shape] = NodeType({}, stop); tree_flatten({})"
    late = "lambda x: ((stop() for _ in 'a'), None)"
    programs(
        student,
        NOTHING,
        raising("tree_flatten([1, 2], is_leaf=stop)", of=" of is_leaf"),
        raising(own.format("stop", "[1, Shape()]"), of=" of a container's function"),
        raising(own.format("stop", "Shape()"), "StopIteration", " of a container's function"),
        raising(own.format(late, "[1, Shape()]"), of=" of a container's children"),
        "refused(tree_flatten, [{'a': 1, 2: 3}])",
    )


@pytest.mark.meets("length")
@pytest.mark.keeps("taken apart once")
def test_each_container_once(student):
    """Each container is taken apart once, however deep it is."""
    program = """
asked = []

def apart(x):
    asked.append(x)
    return list(x), None

node_types[Stack] = NodeType(apart, None)
tree = 7
for _ in range(12):
    tree = Stack([tree])
result = {
    "the leaves of twelve containers, one in the other": tree_flatten(tree)[0],
    "how many containers have been taken apart": len(asked),
    "the leaves with an is_leaf that chooses none": tree_flatten(tree, lambda x: False)[0],
    "how many have been taken apart after both": len(asked),
}
"""
    programs(student, NOTHING, program)


@pytest.mark.keeps("everything needed")
def test_structures_that_are_equal(student):
    """Structures are equal if the containers are the same, whatever the leaves."""
    program = """
def shown(x):
    return f"Pair{x.a, x.b, x.name}" if isinstance(x, Pair) else repr(x)

pairs = [
    ({"a": 1, "b": [2]}, {"b": ["x"], "a": 3.0}), ((1, 2), [1, 2]), ((1, (2, 3)), ((1, 2), 3)),
    ([1, None], [1]), (Point(1, 2), Other(1, 2)), ({"a": 1}, {"b": 1}),
    (Pair(1, 2, "x"), Pair(3, 4, "x")), (Pair(1, 2, "x"), Pair(1, 2, "y")),
]
result = {
    f"the structure of {shown(x)} equals that of {shown(y)}":
    bool(tree_flatten(x)[1] == tree_flatten(y)[1]) for x, y in pairs
}
own = hash(tree_flatten({"a": (1, [2])})[1])
result["structures that are equal have equal hashes"] = own == hash(dic(a=tup(leaf, lst(leaf))))
"""
    programs(student, NOTHING, program)


@pytest.mark.meets("again", "mutation")
def test_argument_is_left_alone(student):
    """The list of leaves is a new one, and the tree stays as it was."""
    program = """
tree = [1, [2, 3]]
leaves, _ = tree_flatten(tree)
leaves.append(4)
again = tree_flatten(tree)[0]
flat = [1, 2]
tree_flatten(flat)[0].append(3)
stack, parts = Stack(), [1, [2]]
node_types[Stack] = NodeType(lambda x: (parts, None), None)
tree_flatten(stack)
result = {
    "a container's own list of children afterwards": parts,
    "the tree afterwards": tree,
    "the leaves, if the list from an earlier call was changed": again,
    "the leaves of another tree": tree_flatten([5])[0],
    "a flat tree, if the list of its leaves was changed": flat,
}
"""
    programs(student, NOTHING, program)


exercise("pytrees.unflatten")


def built(student, *calls):
    """Compare the trees that are built."""
    programs(student, NOTHING, *(f"tree_unflatten({call})" for call in calls))


def test_structure_of_a_leaf(student):
    """What equals the constant `leaf` is the structure of a leaf, even if it is another object."""
    built(student, "tup(PyTreeDef(None, None, ()), leaf), [1, 2]")


def test_tree_of_a_leaf(student):
    """The tree of a single leaf is that leaf itself."""
    built(student, "leaf, [2.5]", "leaf, [None]")
    program = """
x = Opaque()
result = {
    "the tree of the structure `leaf` is the object itself": tree_unflatten(leaf, [x]) is x,
    "a leaf in a list is the object itself": tree_unflatten(lst(leaf, leaf), (x, 1))[0] is x,
}
"""
    programs(student, NOTHING, program)


@pytest.mark.meets("keys")
@pytest.mark.keeps("with these leaves")
def test_classes_of_containers(student):
    """Each container comes back as one of its class: lists, tuples, dicts and None."""
    built(student, "tup(leaf, leaf), [1, 2]", "lst(leaf, leaf), [1, 2]", "lst(leaf), [3]")
    built(student, "dic(a=leaf, b=leaf), [1, 2]", "tup(none, leaf, lst()), [4]")
    built(student, "tup(tup(), none), []", "none, []", "dic(), []")
    program = """
lists = [x for _ in "ab" for x in tree_unflatten(tup(*[lst()] * 2), [])]
result = {"how many different lists the two empty ones of two trees are": len(set(map(id, lists)))}
"""
    programs(student, NOTHING, program)


@pytest.mark.meets("order", "more_than_two", "nested")
@pytest.mark.keeps("with these leaves")
def test_places_of_leaves(student):
    """Every leaf gets its place, even after parts with several leaves or with none."""
    built(
        student,
        "lst(tup(leaf, leaf), leaf, tup(leaf, lst(leaf, leaf))), [1, 2, 3, 4, 5, 6]",
        "dic(a=lst(leaf, leaf), b=tup(none, leaf), c=leaf), [5, 4, 3, 2]",
        "tup(lst(), tup(tup(leaf)), leaf), ['x', 'y']",
        "lst(leaf, tup(leaf, leaf)), [7, 7, 7]",
    )


@pytest.mark.meets("keys")
@pytest.mark.keeps("a list of children")
def test_other_classes_come_back(student):
    """Namedtuples and registered classes come back as they were, with their data."""
    built(
        student,
        "named(Point, leaf, tup(leaf, leaf)), [1, 2, 3]",
        "lst(named(Other, leaf, leaf), named(Empty)), [1, 2]",
        "PyTreeDef(Pair, 'kept', (leaf, named(Point, leaf, leaf))), [1, 2, 3]",
        "PyTreeDef(OrderedDict, ('b', 'a'), (leaf, leaf)), [1, 2]",
        "PyTreeDef(defaultdict, (list, ('a', 'b')), (leaf, leaf)), [1, 2]",
    )
    default = "PyTreeDef(defaultdict, (list, ()), ())"
    programs(student, NOTHING, f"tree_unflatten({default}, [])['a']")
    stack = "node_types[Stack] = NodeType(None, lambda data, xs: {})\nresult = tree_unflatten({})"
    programs(
        student,
        NOTHING,
        stack.format("Stack([data, xs])", "lst(PyTreeDef(Stack, 'kept', ()), leaf), [1]"),
        stack.format("None", "lst(PyTreeDef(Stack, 'kept', (leaf,)), leaf), [1, 2]"),
        stack.format("Stack([data, xs])", "PyTreeDef(Stack, None, (leaf,)), [1]"),
        stack.format(
            "tree_unflatten(lst(leaf), xs)", "tup(PyTreeDef(Stack, 1, (leaf,)), leaf), 'ab'"
        ),
    )
    program = """
x = Opaque()
node_types[Point] = NodeType(None, lambda *args: args)
made = tree_unflatten(tup(PyTreeDef(Point, x, (leaf,)), leaf), [1, 2])
result = {
    "what a namedtuple that is registered is built from": made[0][1:],
    "its data is the object itself": made[0][0] is x,
}
"""
    programs(student, NOTHING, program)


@pytest.mark.meets("zeros")
@pytest.mark.keeps("from any iterable")
def test_sources_of_leaves(student):
    """Leaves may come from any iterable, even from one that can be read only once."""
    built(
        student,
        "lst(leaf, tup(leaf, leaf)), iter([1, 2, 3])",
        "lst(leaf, leaf), (10 * i for i in (1, 2))",
        "tup(leaf, leaf), 'ab'",
        "tup(leaf, leaf), {'k': 1, 'j': 2}",
        "lst(leaf, tup(leaf, leaf)), np.array([1.5, 0.0, 2.5])",
        "lst(leaf), np.array([0.0])",
        "lst(none, tup()), np.zeros(0)",
    )


@pytest.mark.meets("none", "zeros")
@pytest.mark.keeps("put in unchanged")
def test_leaves_of_any_kind(student):
    """Leaves are put in as they are, even containers and None."""
    built(student, "lst(leaf, tup(leaf, leaf)), [[1, 2], None, (3,)]", "dic(a=leaf), [{'z': 1}]")
    built(student, "lst(leaf, leaf), [False, 0]")
    program = """
leaves = [[1], {"k": 2}, Point(3, 4), (5,), Stack([6]), leaf, tup(leaf), dict, len, iter("ab")]
leaves += [NotImplemented, ..., KeyError("own"), Opaque()]
own = [x is y for x, y in zip(tree_unflatten(tup(*[leaf] * 14), leaves), leaves)]
result = {"each leaf, even a container, is the object itself": own}
"""
    programs(student, NOTHING, program)


@pytest.mark.meets("exception")
@pytest.mark.keeps("an error raised on the way")
def test_errors_when_put_together(student):
    """An error in what makes a container, or in what yields the leaves, comes out unchanged."""
    made = "node_types[Shape] = NodeType(stop, stop); shape = PyTreeDef(Shape, None, (leaf, leaf))"
    maker = " of what makes a container"
    inside = raising(f"{made}; tree_unflatten(lst(leaf, shape), [1, 2, 3])", of=maker)
    late = raising("tree_unflatten(lst(leaf), (stop() for _ in 'a'))", of=" of the leaves")
    alone = raising(f"{made}; tree_unflatten(shape, [1, 2])", "StopIteration", maker)
    programs(student, NOTHING, inside, late, alone)


def refusals(student, *calls):
    """Compare what is refused."""
    programs(student, NOTHING, *(f"refused(tree_unflatten, {call})" for call in calls))


@pytest.mark.keeps("too few or too many")
def test_number_of_leaves(student):
    """Fewer leaves than there are, or more, are rejected by ValueError before anything is built."""
    refusals(student, "tup(leaf, lst(leaf)), [1]", "lst(leaf, leaf), iter([])", "leaf, []")
    refusals(student, "tup(leaf, leaf), [1, 2, 3]", "tup(leaf, leaf), iter([1, 2, 3])")
    refusals(student, "dic(a=lst(leaf), b=leaf), [1, 2, 3, 4]")
    program = """
built = []
node_types[Shape] = NodeType(None, lambda data, xs: built.append(xs))
structure = lst(PyTreeDef(Shape, None, (leaf,)), leaf)
result = {
    "what comes of a leaf too few, and of one too many": [
        refused(tree_unflatten, structure, xs) for xs in ([1], [1, 2, 3])
    ],
    "the number of containers that were built before": len(built),
}
"""
    programs(student, NOTHING, program)


@pytest.mark.meets("sizes")
@pytest.mark.keeps("too few or too many")
def test_leaves_for_small_structures(student):
    """A single leaf takes exactly one, and a structure without leaves takes none."""
    refusals(student, "leaf, [1, 2]", "none, [None]", "lst(), iter([1])", "tup(none), [1, 2]")
    built(student, "leaf, iter([1])", "lst(), iter([])")


@pytest.mark.meets("mutation")
@pytest.mark.parametrize("leaves", ["[1, 2, 3]", "[1]", "collections.deque([1])"])
def test_list_of_leaves_stays(student, leaves):
    """The list of leaves that was given is not changed."""
    built = "tree_unflatten(lst(*[leaf] * len(xs)), xs)"
    kept = f"(lambda xs: {{'the tree': {built}, 'the leaves afterwards': [*xs]}})({leaves})"
    programs(student, NOTHING, kept)


exercise("pytrees.flatten_up_to")


def along(student, *calls):
    """Compare what is found along a structure, or that it is refused."""
    programs(student, NOTHING, *(f"refused(flatten_up_to, {call})" for call in calls))


@pytest.mark.meets("order", "sizes")
@pytest.mark.keeps("where `treedef` has leaves", "is a list")
def test_tree_of_the_same_structure(student):
    """Along its own structure, or one that equals it, a tree of any classes yields its leaves."""
    along(
        student,
        "lst(leaf, tup(leaf, leaf), none), [1, (2, 3), None]",
        "dic(a=leaf, b=lst(leaf, leaf)), {'b': [1, 2], 'a': 3}",
        "leaf, 4.0",
        "tup(PyTreeDef(None, None, ()), leaf), (1, [2])",
        "none, None",
        "dic(), {}",
        "PyTreeDef(Pair, 'p', (tup(leaf, leaf), leaf)), Pair((1, [2]), 3, 'p')",
        "named(Point, leaf, named(Empty)), Point([1, 2], Empty())",
        "lst(PyTreeDef(Pair, 'p', (leaf, leaf)), leaf), [Pair(1, 2, 'p'), 3]",
        "PyTreeDef(None, None, ()), 4.0",
        "tup(leaf), (1,)",
        "lst(leaf, tup(leaf, leaf), tup(leaf, leaf)), [7, *[(7, 7)] * 2]",
        "lst(tup(leaf), tup(tup(leaf))), [((5,),)] * 2",
        "node_types.setdefault(Point, NodeType(lambda p: ([p.x], 'kept'), None)) and "
        "PyTreeDef(Point, 'kept', (leaf,)), Point(1, 2)",
    )


@pytest.mark.meets("some_results", "none")
@pytest.mark.keeps("where `treedef` has leaves", "Nothing below its leaves")
def test_subtrees_at_leaves(student):
    """If the structure has a leaf, a whole subtree there is returned unchanged."""
    along(student, "tup(leaf, leaf), ([1, 2], {'a': 3})", "lst(leaf, tup(leaf)), [None, ((4, 5),)]")
    along(student, "leaf, [1, [2]]", "leaf, None")
    along(student, "dic(a=tup(leaf, leaf), b=leaf), {'b': (), 'a': ([1], Point(2, 3))}")
    program = """
node_types[Shape] = NodeType(None, None)  # cannot be taken apart, nor can the dict
x = Opaque()
tree = (x, [1, 2], {"a": x, 2: x}, Shape(), leaf, tup(leaf), dict, iter("ab"))
found = flatten_up_to(tup(*[leaf] * 8), tree)
result = {
    "each subtree is the object itself": [x is y for x, y in zip(found, tree)],
    "how many subtrees are returned": len(found),
}
"""
    programs(student, NOTHING, program)


@pytest.mark.keeps("with the same class")
def test_containers_of_another_class(student):
    """If the structure has a container, one of a different class does not fit."""
    along(
        student,
        "tup(leaf, leaf), [1, 2]",
        "lst(leaf, leaf), (1, 2)",
        "named(Point, leaf, leaf), (1, 2)",
        "named(Point, leaf, leaf), Other(1, 2)",
        "tup(leaf, leaf), Point(1, 2)",
        "lst(leaf, leaf), Stack([1, 2])",
        "dic(a=leaf), Settings(a=1)",
        "named(Point, leaf, leaf), type('Point', (Point,), {})(1, 2)",
        "PyTreeDef(Pair, 'p', (leaf, leaf)), (1, 2)",
        "none, ()",
        "dic(a=leaf), OrderedDict(a=1)",
        "PyTreeDef(OrderedDict, ('a',), (leaf,)), {'a': 1}",
        "lst(leaf), node_types.setdefault(Stack, node_types[list]) and Stack([1])",
        "lst(leaf), type('list', (list,), {'__module__': 'builtins'})([1])",
        "dic(a=leaf), defaultdict(int, a=1)",
    )


@pytest.mark.meets("sizes")
def test_containers_of_another_class_inside(student):
    """Containers are compared at every depth, even empty ones."""
    along(student, "lst(lst(leaf), leaf), [(1,), 2]", "tup(), []", "lst(leaf, lst()), [1, ()]")
    along(student, "dic(a=lst(leaf), b=tup(leaf)), {'b': [1], 'a': [2]}")


@pytest.mark.meets("exception", "none")
def test_leaf_in_place_of_a_container(student):
    """A leaf, or None, does not fit a container, and a container does not fit None."""
    along(student, "tup(leaf), 3.0", "lst(leaf, tup(leaf)), [1, 2]", "tup(leaf), None")
    along(student, "none, 3.0", "lst(none, leaf), [1, 2]", "lst(), None")


@pytest.mark.meets("more_than_two")
@pytest.mark.keeps("the same number of children")
def test_number_of_children(student):
    """A container with more children, or with fewer, does not fit."""
    along(student, "tup(leaf, leaf), (1, 2, 3)", "tup(leaf, leaf), (1,)", "lst(), [1]")
    along(student, "lst(leaf), []", "tup(leaf, lst(leaf)), (1, [2, 3])")
    along(student, "tup(leaf), (1, None)", "lst(leaf, leaf), [1, 2, 0]")
    bag = "node_types.setdefault(Stack, NodeType(lambda x: (iter(x), 'bag'), None)) and "
    bag += "PyTreeDef(Stack, 'bag', (leaf, leaf)), "
    along(student, bag + "Stack([1])", bag + "Stack([1, 2])", bag + "Stack([1, 2, 3])")


@pytest.mark.meets("keys")
def test_keys_of_dicts(student):
    """A dict with different keys does not fit; the order of insertion does not matter."""
    along(student, "dic(a=leaf), {'b': 1}", "dic(a=leaf, b=leaf), {'a': 1, 'c': 2}")
    along(student, "dic(a=leaf, b=leaf), {'a': 1}", "dic(a=leaf, b=leaf), {'b': 1, 'a': 2}")
    along(student, "dic(b=leaf), {'b': 1, 'c': 2}", "dic(), {'a': 1}")
    along(
        student, "dic(a=leaf, b=leaf), {'a': 1, 2: 3}", "PyTreeDef(dict, (1,), (leaf,)), {'1': 2}"
    )


@pytest.mark.meets("keys", "nested")
@pytest.mark.keeps("equal data")
def test_data_at_every_depth(student):
    """What a container keeps besides its children must be equal, even further inside."""
    pair = "PyTreeDef(Pair, {!r}, (leaf, leaf)), Pair(1, 2, {!r})"
    known = [("p", "q"), ("", "q"), ("p", None), (None, "p"), ([1], [1]), (([],), ([],)), (1, True)]
    along(student, "dic(a=dic(c=leaf)), {'a': {'d': 1}}", *(pair.format(*data) for data in known))
    along(
        student,
        "lst(leaf, PyTreeDef(Pair, 'p', (leaf, leaf))), [1, Pair(2, 3, 'P')]",
        "lst(PyTreeDef(defaultdict, (int, ()), ())), [defaultdict(list)]",
        "PyTreeDef(OrderedDict, ('a', 'b'), (leaf, leaf)), OrderedDict(b=1, a=2)",
    )


exercise("pytrees.map")

MAP = siblings(*BOTH_WAYS.exercises, "pytrees.flatten_up_to")


def mapped(student, *calls):
    """Compare trees that tree_map makes, or that it refuses them."""
    programs(student, MAP, *(f"refused(tree_map, {call})" for call in calls))


@pytest.mark.meets("keys", "sizes")
@pytest.mark.keeps("The tree of what `f` returns")
def test_map_of_one_tree(student):
    """The function is applied to each leaf, and the containers stay what they were."""
    mapped(
        student,
        "lambda x: 10 * x, [1, (2, None), {'b': 3, 'a': Point(4, 5)}]",
        "lambda x: x + 1, 2",
        "lambda x: x + 1, None",
        "lambda x: x + 1, ()",
        "lambda x, y: x + y, {'a': [], 'b': Empty()}, {'a': [], 'b': Empty()}",
        "lambda x: -x, Pair(1, [2], 'p')",
    )


@pytest.mark.meets("order", "more_than_two")
def test_map_of_several_trees(student):
    """The function gets the leaves of all trees at one place, in the order of the trees."""
    mapped(
        student,
        "lambda x, y: x - y, [1, (2, 3)], [40, (50, 60)]",
        "lambda x, y, z: [x, y, z], {'b': 1, 'a': 2}, {'a': 3, 'b': 4}, {'b': 5, 'a': 6}",
        "lambda *xs: xs, (1,), (2,), (3,), (4,)",
        "lambda *xs: xs, *[[1, (2, 3)]] * 3",
    )


@pytest.mark.meets("some_results")
@pytest.mark.keeps("may be a whole subtree")
def test_map_with_subtrees(student):
    """The first tree says where the leaves are: what the others have there is passed whole."""
    mapped(
        student,
        "lambda x, y: (x, y), {'a': 1, 'b': [2]}, {'a': [3, 4], 'b': [None]}",
        "lambda x, y: (x, y), 1, (2, 3)",
        "lambda x, y, z: (x, y, z), [1, 2], [(3, 4), 5], [{}, ((6,),)]",
        "lambda x, y: (x, y), [1, 2, 3], [[4], (5,), {'k': 6}]",
    )


@pytest.mark.keeps("lacks a container")
def test_map_of_trees_that_differ(student):
    """Trees that do not fit the first one are rejected with ValueError, whichever it is."""
    misfits = (
        *("[1, 2], [1, 2, 3]", "[1, 2, 3], [1, 2]", "[1, 2], (1, 2)", "{'a': 1}, {'b': 1}"),
        *("[1, 2], 3", "{'a': [1, 2]}, {'a': 3}", "[1, 2], None", "(1,), (2,), None"),
        *("[1, 2], [1, 2], [1, [2], 3]", "[1, [2]], [[1], 2]", "[], [1]", "(None, {}), ((), {})"),
        *(
            "[1], 3",
            "{'a': 1}, {'a': 1, 'b': 2}",
            "(1,), (1, 2)",
            "(1,), [1]",
            "Point(1, 2), (1, 2)",
        ),
    )
    mapped(student, *(f"lambda x, *ys: x, {trees}" for trees in misfits))


@pytest.mark.keeps("are leaves of `tree`")
def test_map_with_chosen_leaves(student):
    """What is_leaf chooses in the first tree is a leaf; it is not asked about the others."""
    programs(
        student,
        MAP,
        "tree_map(len, [(1, 2), [(3,)]], is_leaf=lambda x: isinstance(x, tuple))",
        "tree_map(lambda x, y: (x, y), [1, (2, 3)], [(4, 5), 6], is_leaf=lambda x: x == (2, 3))",
        "tree_map(lambda x, y: (x, y), [1, None], [2, 3], is_leaf=lambda x: x is None)",
        "refused(lambda: tree_map(lambda x, y: y, [(1,)], [(2,)], is_leaf=lambda x: x == (2,)))",
        "(lambda tree: [tree_map(str, tree), tree])({'a': 1})",
        "tree_map(len, (1, 2), is_leaf=lambda x: True)",
        "tree_map(len, [(1, 2)], is_leaf=lambda x: 'yes' if type(x) is tuple else '')",
        "refused(lambda: tree_map(max, [1, 2], (3, 4), is_leaf=lambda x: type(x) is tuple))",
    )


@pytest.mark.meets("order", "moment")
@pytest.mark.keeps("once per leaf", "`f` is not called")
def test_calls_of_the_function(student):
    """The function is called once for each leaf, from left to right, after all trees fit."""
    program = """
calls = []

def f(*xs):
    calls.append(xs)
    return len(calls)

out = tree_map(f, {"b": 1, "a": (2, None)}, {"b": 3, "a": (4, None)})
result = {
    "the tree of two trees": out,
    "the tree of three trees": tree_map(f, [1, 2], [3, 4], [5, 6]),
    "the tree of trees that do not fit": [
        refused(tree_map, f, [1, 2], [1, 2, 3]),
        refused(tree_map, f, [1, [2]], [3, [4, 5]]),
        refused(tree_map, f, [1, {"k": (2, 3)}], [4, {"k": (5, 6)}], [7, {"k": (8,)}]),
    ],
    "calls of f": calls,
}
"""
    programs(student, MAP, program)


@pytest.mark.meets("twice", "again", "caching", "zeros", "extremes")
@pytest.mark.keeps("once per leaf")
def test_calls_for_equal_leaves(student):
    """Leaves that are equal, or the same object, are still separate leaves."""
    program = """
calls = []
x = 2.5
tree_map(calls.append, [1, True, 1.0, x, (x, x), 0.0, -0.0])
result = {
    "calls of f": [(type(x).__name__, x) for x in calls],
    "the tree of the leaves' texts": tree_map(lambda x: str(x), [1, True, 1.0, -0.0]),
}
"""
    programs(student, MAP, program)


@pytest.mark.meets("exception")
def test_errors_in_the_mapped_function(student):
    """An error in the function comes out unchanged."""
    programs(student, MAP, raising("tree_map(stop, [1, 2], [3, (4,)])"))


@pytest.mark.meets("none")
@pytest.mark.keeps("The tree of what `f` returns")
def test_results_that_are_containers(student):
    """What the function returns is put in unchanged, even containers and None."""
    mapped(student, "lambda x: (x, [x]), [1, 2]", "lambda x: None, [1, (2,)]")
    mapped(student, "lambda x: {'x': x}, (1, 2)")
    mapped(student, "lambda x: tree_map(lambda y: (x, y), [x, 2]), (1, {'a': 3})")
    program = """
values = [NotImplemented, ..., iter("ab"), leaf, [1], Opaque()]
own = [x is y for x, y in zip(tree_map(values.__getitem__, [*range(6)]), values)]
result = {"each leaf is the object that f returns": own}
"""
    programs(student, MAP, program)


exercise("pytrees.flatten_fun")

COUNTED = """
calls = []

def f(*args):
    calls.append(args)
    return g(*args)

def g(x, y=None):
    return {"b": x, "a": (y, [len(calls), None])}

def after(f, in_tree, *leaves):
    flat_f, out_tree = flatten_fun(f, in_tree)
    return {
        "the leaves of the result": flat_f(*leaves),
        "the structure of the result": out_tree(),
        "the structure, asked for again": out_tree(),
        "calls of f": calls,
    }

"""


def wrapped(student, *texts):
    """Compare what programs find that wrap functions."""
    started = (text if "result = " in text else f"result = {text}" for text in texts)
    programs(student, BOTH_WAYS, *(COUNTED + text for text in started))


@pytest.mark.meets("order", "keys", "more_than_two")
@pytest.mark.keeps("the tuple (or list)")
def test_what_the_function_gets(student):
    """The function is called with its arguments in their containers."""
    wrapped(
        student,
        "after(f, tup(dic(k=leaf, l=tup(leaf)), lst(leaf, none)), 1, 2, 3)",
        "after(f, tup(named(Point, leaf, leaf)), 1, 2)",
        "after(f, lst(leaf, tup()), 5)",
        "after(f, lst(lst(), leaf), 5)",
        "after(f, tup(leaf, leaf), [1, None], None)",
        "after(f, tup(leaf), (1,))",
        "after(f, tup(leaf, leaf), 7, 7)",
    )


@pytest.mark.meets("sizes", "none")
@pytest.mark.keeps("`f` for flat leaves", "the list of the result's leaves")
def test_flat_results(student):
    """The flat function returns the list of the leaves of the result."""
    wrapped(
        student,
        "flatten_fun(f, tup(leaf, leaf))[0](1, 2)",
        "flatten_fun(lambda x: x, tup(leaf))[0](3.0)",
        "flatten_fun(lambda x: None, tup(leaf))[0](3.0)",
        "flatten_fun(lambda: ((1, 2), [3]), tup())[0]()",
        "flatten_fun(lambda p: (p.y, p), tup(named(Point, leaf, leaf)))[0](4, 5)",
        "flatten_fun(lambda x: [x, {}, [], ()], tup(leaf))[0](3)",
        "flatten_fun(lambda x: x, tup(leaf))[0](np.zeros(2))",
        "flatten_fun(type('F', (Opaque,), {'__call__': lambda _, x: [x]})(), tup(leaf))[0](3)",
        "refused(flatten_fun(lambda x: {1: x, 'a': 2}, tup(leaf))[0], 3)",
        """
values = [np.zeros(2), Opaque(), iter("ab"), NotImplemented, dict, leaf, [4]]
flat_f, _ = flatten_fun(lambda *args: calls.append(args) or args[:-1], tup(*[leaf] * 7))
leaves = flat_f(*values)
result = {
    "the arguments of f are the objects themselves": [x is y for x, y in zip(calls[0], values)],
    "the leaves are the objects that f returns": [x is y for x, y in zip(leaves, values)],
}
""",
    )


@pytest.mark.meets("some_results", "none")
@pytest.mark.keeps("a function for its result's structure")
def test_structure_of_the_result(student):
    """After the call, you can ask for the structure of the result as often as you like."""
    wrapped(student, "after(f, tup(leaf, leaf), 1, 2)", "after(lambda x: x, tup(dic(a=leaf)), 1)")
    for out in ("Point(x, None)", "x", "None", "Pair(x, 2, ['data'])"):
        wrapped(student, f"after(lambda x: {out}, tup(leaf), 1)")


@pytest.mark.meets("again", "caching")
@pytest.mark.keeps("calls `f` once")
def test_runs_of_the_function(student):
    """The function runs once in each call of the flat one, even for equal arguments."""
    wrapped(
        student,
        """
flat_f, out_tree = flatten_fun(f, tup(leaf))
result = {
    "how often f has run before the first call": len(calls),
    "the leaves of the first call": flat_f(1),
    "how often f has run after one call": len(calls),
    "the structure, asked for twice": [out_tree(), out_tree()],
    "how often f has run after the structure was asked for": len(calls),
    "the leaves of calls with 1, True and 1.0": [flat_f(1), flat_f(True), flat_f(1.0)],
    "the classes of the arguments in all calls of f": [type(x) for (x,) in calls],
    "the structure after all calls": out_tree(),
}
""",
        """
flat_f, _ = flatten_fun(lambda: calls.append(1) or len(calls), tup())
result = {"the leaves of each of two calls": [flat_f(), flat_f()], "calls of f": calls}
""",
    )


@pytest.mark.meets("exception")
@pytest.mark.keeps("pass through unchanged")
def test_errors_in_the_function(student):
    """An error in the function comes out unchanged; it is not called again."""
    programs(student, BOTH_WAYS, raising("flatten_fun(stop, tup(leaf, leaf))[0](1, 2)"))
    program = """
flat_f, out_tree = flatten_fun(lambda x: [x][1 - x], tup(leaf))
result = {"the leaves of a first call": flat_f(1)}
try:
    flat_f(-1)
except IndexError:
    result["the leaves of a call after one that raises"] = flat_f(1)
result["the structure after these calls"] = out_tree()
"""
    programs(student, BOTH_WAYS, program)


@pytest.mark.meets("moment", "mutation")
@pytest.mark.keeps("as it was when `flat_f` returned")
def test_structure_of_that_time(student):
    """The structure is that of the result as it was, whatever happens to it afterwards."""
    program = """
history = []
flat_f, out_tree = flatten_fun(lambda x: history.append(x) or history, tup(leaf))
out = flat_f(1)
history += [2, (3, 4)]
out.append(5)
result = {
    "the structure, after the result of f has grown": out_tree(),
    "the result of f, if the list of leaves was changed": history,
}
"""
    wrapped(student, program)


@pytest.mark.meets("nested")
def test_function_that_calls_itself(student):
    """A call inside a call is over before the outer one, whose structure is the last."""
    program = """
flat_f, out_tree = flatten_fun(lambda n: [flat_f(n - 1), n] if n else (n,), tup(leaf))
result = {
    "the leaves of the outer call": flat_f(2),
    "the structure of the outer call": out_tree(),
    "the leaves of a call without one inside": flat_f(0),
    "the structure of a call without one inside": out_tree(),
}
"""
    wrapped(student, program)
    program = """
asked, runs = [], []

def f(n):
    runs.append(n)
    if n and len(runs) < 9:  # else a wrapper that runs f for its structure would not end
        asked.append(out_tree())
        flat_f(0)
        asked.append(out_tree())
    return 1 // (2 - n) if n else (n,)

flat_f, out_tree = flatten_fun(f, tup(leaf))
flat_f(0)
flat_f(1)
try:
    flat_f(2)
except ZeroDivisionError:
    asked.append(out_tree())
result = {"the structures before and after inner calls, and after an outer one that raises": asked}
"""
    wrapped(student, program)


@pytest.mark.meets("again")
def test_functions_that_remember(student):
    """Leaves and structure come from the same run, even if each run returns something else."""
    program = """
flat_f, out_tree = flatten_fun(lambda x: [calls.append(x) or len(calls)] * len(calls), tup(leaf))
result = {
    "the leaves of the first call": flat_f(7),
    "the structure of the first call": out_tree(),
    "the leaves of the second call": flat_f(8),
    "the structure of the second call": out_tree(),
    "calls of f": calls,
}
"""
    wrapped(student, program)


@pytest.mark.meets("moment")
@pytest.mark.keeps("raises `RuntimeError`")
def test_structure_asked_too_early(student):
    """Asking for the structure before the function has run raises RuntimeError."""
    program = """
def early():
    try:
        return out_tree()
    except RuntimeError:
        return "RuntimeError"

flat_f, out_tree = flatten_fun(f, tup(leaf))
before, count = early(), len(calls)
flat_f(1)
between = early()
flat_f, out_tree = flatten_fun({}.pop, tup(leaf))
try:
    flat_f(1)
except KeyError:
    result = {
        "the structure before any call": before,
        "calls of f before any call": count,
        "the structure after a call": between,
        "the structure after a call in which f raises": early(),
    }
"""
    wrapped(student, program)


@pytest.mark.meets("twice", "nested")
def test_wrappers_side_by_side(student):
    """Each wrapper keeps its own structure, of one function too, and if one runs inside another."""
    wrapped(
        student,
        """
flat_f, f_tree = flatten_fun(lambda x: [x], tup(leaf))
flat_g, g_tree = flatten_fun(lambda x: (x, x), tup(leaf))
result = {
    "the leaves from two wrappers": [flat_f(1), flat_g(2)],
    "the structure that the first wrapper keeps": f_tree(),
    "the structure that the second wrapper keeps": g_tree(),
}
""",
        """
flat_g, g_tree = flatten_fun(lambda x: (x, x, x), tup(leaf))
outer = lambda x: {"leaves": flat_g(x), "inner": g_tree().num_leaves}
result = {**after(outer, tup(leaf), 1), "the structure that the inner wrapper keeps": g_tree()}
""",
        """
f = [7].__mul__
in_tree = tup(leaf)
flat_f, f_tree = flatten_fun(f, in_tree)
flat_f(2)
flat_g, g_tree = flatten_fun(f, in_tree)
flat_h, h_tree = flatten_fun(flat_f, in_tree)
early = []
for out_tree in (g_tree, h_tree):
    try:
        early.append(out_tree())
    except RuntimeError:
        early.append("RuntimeError")
flat_g(3)
result = {
    "the structures of wrappers of the same f, and of a wrapper, before their first calls": early,
    "the structures that both keep": [f_tree(), g_tree()],
}
""",
    )


@pytest.mark.meets("again")
@pytest.mark.keeps("of the last result")
def test_several_calls(student):
    """The structure is that of the last call that returned, whatever was raised after it."""
    program = """
flat_f, out_tree = flatten_fun(lambda x: [x] * (6 // x), tup(leaf))
result = {}
for leaves in ([3], [6], [7], [2], [0], [3, 3]):
    try:
        flat_f(*leaves)
        which = f"the structure after a call that returns {6 // leaves[0]} leaves"
    except (ZeroDivisionError, ValueError):
        which = f"the structure after a call with {leaves}, which raises"
    result[which] = out_tree()
"""
    wrapped(student, program)


@pytest.mark.keeps("as separate arguments")
def test_wrong_number_of_flat_arguments(student):
    """A wrong number of leaves is rejected with ValueError, and the function is not called."""
    program = """
flat_f, out_tree = flatten_fun(f, tup(leaf, lst(leaf)))
result = {
    "the leaves of a call with too few arguments": refused(flat_f, 1),
    "the leaves of a call with too many": refused(flat_f, 1, 2, 3),
    "the leaves of a call with one, where f has none": refused(flatten_fun(f, tup())[0], 1),
    "calls of f": calls,
}
"""
    wrapped(student, program)


# Random trees -------------------------------------------------------------------------------------


@probe
def taken_apart(mj, tree):
    """Leaves and structure of a tree.

    >>> mj.tree.flatten(tree)
    """
    leaves, structure = mj.tree.leaves(tree), mj.tree.structure(tree)
    return {"the leaves": leaves, "the structure": str(structure)}


@probe
def put_together(mj, tree, other):
    """A tree with the leaves of a second one.

    >>> mj.tree.unflatten(mj.tree.structure(tree), mj.tree.leaves(other))
    """
    out = mj.tree.unflatten(mj.tree.structure(tree), mj.tree.leaves(other))
    return {"the tree that is put together": repr(out)}


@probe
def mapped_trees(mj, tree, other):
    """A function of the leaves of two trees.

    >>> mj.tree.map(lambda x, y: x - y, other, tree)
    """
    out = mj.tree.map(lambda x, y: x - y, other, tree)
    return {"the tree of the results": repr(out)}


exercise("pytrees.flatten")


def test_random_trees_apart(student):
    """A random tree is taken apart correctly."""
    student.agrees_on_programs(taken_apart)


exercise("pytrees.unflatten")


def test_random_trees_together(student):
    """A random tree is put together correctly, with different leaves."""
    student.agrees_on_programs(put_together)


exercise("pytrees.map")


def test_map_of_random_trees(student):
    """A function of the leaves of two random trees makes the right tree."""
    student.agrees_on_programs(mapped_trees)


exercise("pytrees.whole")


@probe
def laws_of_trees(mj, tree, other):
    """What must hold of every tree: apart and together again, and two trees at a time."""
    leaves, structure = mj.tree.flatten(tree)
    again = mj.tree.unflatten(structure, leaves)
    is_first = mj.tree.structure(again) == structure
    second = mj.tree.map(lambda x, y: y, tree, other)
    apart = mj.tree.leaves((other, [tree])) == [*mj.tree.leaves(other), *leaves]
    return {
        "the tree that is put together": repr(again),
        "the tree that is put together has the structure of the first": is_first,
        "the tree of the results": repr(second),
        "the leaves of a larger tree are those of its parts": apart,
    }


@pytest.mark.meets(order="flatten unflatten", twice="unflatten")
def test_whole_random_trees(student):
    """What is taken apart and put together again is the same tree."""
    student.agrees_on_programs(laws_of_trees)


@pytest.mark.meets(keys="map", nested="map")
def test_whole_classes(student):
    """A registered class is a container at any depth, and keeps its data."""
    program = """
class Layer:
    def __init__(self, weights, name):
        self.weights, self.name = weights, name

def shown(tree):
    return tree_flatten(tree)[0], str(tree_flatten(tree)[1]), tree_flatten(tree)[1].num_leaves

register_pytree_node(
    Layer, lambda layer: ((layer.weights,), layer.name), lambda name, xs: Layer(*xs, name))
tree = {"b": [Layer((1, None), "first"), 2], "a": Point(Layer(3, "second"), Shape((4, 5)))}
other = tree_map(lambda x: (x, 10), tree)
names = [layer.name for layer in (*other["b"][:1], other["a"].x)]
f = lambda *xs: xs
result = [shown(tree), shown(other), names, refused(tree_map, f, tree, other["b"])]
result.append(refused(register_pytree_node, Layer, f, f))
result.append(refused(tree_map, f, Layer(1, "first"), Layer(2, "second")))
"""
    namesakes = """
One, Two = (type("Same", (), {"x": 5}) for _ in range(2))
twins = Point(1, 2), NamedTuple("Point", [("x", int), ("y", int)])(3, 4)
result = {"leaves of classes that are registered later": len(tree_flatten([One(), One()])[0])}
for cls in (One, Two):
    register_pytree_node(cls, lambda same: ((same.x, same.x), None), lambda _, xs: cls())
back = tree_map(lambda x: x, twins)
result["leaves of two classes with the same name"] = tree_flatten([One(), Two()])[0]
result["each namedtuple has its own class again"] = [*map(type, back)] == [*map(type, twins)]
one, two, *same = (tree_flatten(x)[1] for x in (One(), Two(), {1: 2}, {True: 3}))
result["structures of classes with the same name are equal"] = one == two
result["structures with equal data are equal"] = same[0] == same[1]
result["equal structures are one key of a dict"] = len(dict.fromkeys([*same, one])) == 2
"""
    programs(student, NOTHING, program, namesakes)


@pytest.mark.meets(sizes="flatten unflatten map", none="flatten unflatten map")
def test_whole_nothing(student):
    """None and empty containers keep their places, and have no leaves."""
    program = """
tree = [None, (), {}, [[]], Empty(), (None, 1), {"k": None}]
leaves, structure = tree_flatten(tree)
result = [leaves, structure, tree_unflatten(structure, [2]), tree_map(lambda x: None, tree)]
result.append(tree_map(lambda x: "leaf", tree, is_leaf=lambda x: x is None))
for other in ([None], [[], *tree[1:]]):
    result.append(refused(tree_map, lambda *xs: xs, tree, other))
for other in (None, (), {}, [[]], Empty(), 1):
    tree_flatten(other)[0].append("kept")
    result.append(tree_flatten(other)[0])
others = (set(), frozenset(), range(0), "", b"", collections.deque())
result.append([len(tree_flatten(other)[0]) for other in others])
"""
    programs(student, NOTHING, program)


def test_whole_dicts(student):
    """Dicts with the same keys go together, however they were filled."""
    program = """
one = {"b": 1, "a": {"y": 2, "x": 3}, "B": 4}
two = {"B": 40, "a": {"x": 30, "y": 20}, "b": 10}
result = [tree_flatten(one), tree_flatten(two), tree_map(lambda x, y: y - x, one, two)]
result += [tree_flatten(one)[1] == tree_flatten(two)[1], one, two]
result += [refused(tree_flatten, [1, {"a": 1, 2: 3}]), refused(tree_map, len, one, {"b": 1})]
result.append(refused(tree_map, lambda x, y: y, {"a": 1}, OrderedDict(a=2)))
result.append(tree_map(lambda x, y: y, [1, 2], [{"a": 1, 2: 3}, two]))
"""
    programs(student, NOTHING, program)


@pytest.mark.meets(
    order="flatten_fun", more_than_two="flatten_fun", nested="flatten_fun", exception="flatten_fun"
)
def test_whole_functions(student):
    """A function of containers works on flat lists, inside others, after errors and in threads."""
    program = """
def early(out_tree):
    try:
        return out_tree()
    except RuntimeError:
        return True

def apply(f, *args):
    leaves, in_tree = tree_flatten(args)
    flat_f, out_tree = flatten_fun(f, in_tree)
    too_early = early(out_tree) is True
    outs = flat_f(*leaves)
    return too_early, outs, tree_unflatten(out_tree(), outs[::-1])

def model(params, x):
    inner = apply(lambda p: (p,), params)
    return Point({"out": params["w"] * x, "more": [params["b"], None]}, inner)

def broken(params, x):
    apply(model, params, x)
    raise TypeError("own")

result = [apply(model, {"w": 2, "b": 3}, 5)]
try:
    apply(broken, {"w": 2, "b": 3}, 5)
except TypeError as error:
    result += [str(error), apply(lambda x: None, ()), apply(lambda x, y: [y, x], (1, 2), 3)]
"""
    threads = """
class Slow:
    def __init__(self, *parts):
        self.parts = parts

def meet(where):
    if where != meeting:
        return
    if threading.current_thread() is second:
        begun.set()
        ended.wait(2)
    elif not second.ident:
        second.start()
        begun.wait(2)

def apart(slow):
    meet("taken apart")
    return slow.parts, None

def together(_, parts):
    meet("put together")
    return Slow(*parts)

def moved(name, *leaves):
    flat_f, out_tree = flatten_fun(lambda x: tree_map(lambda x: x + 1, x), in_tree)
    result[name + " when containers are " + meeting] = flat_f(*leaves), str(out_tree())

register_pytree_node(Slow, apart, together)
meeting, result = None, {}
in_tree = tree_flatten(((Slow(0, 0), 0, [0]),))[1]
for meeting in ("taken apart", "put together"):
    begun, ended = threading.Event(), threading.Event()
    second = threading.Thread(target=moved, args=("the second thread's leaves", 10, 20, 30, 40))
    moved("the first thread's leaves", 1, 2, 3, 4)
    ended.set()
    second.join()
"""
    programs(student, NOTHING, program, threads)


@pytest.mark.meets(order="flatten_up_to", moment="map", some_results="flatten_up_to")
def test_whole_prefixes(student):
    """The first tree says how far down the others are followed."""
    program = """
params = {"w": (1.0, [2.0]), "b": 3.0}
moments = {"b": (0.5, None), "w": ((10, {}), [{"m": 20}])}
result = [tree_map(lambda p, m: [p, m], params, moments)]
calls = []
for other in ({"b": 1.0, "w": (1, 2)}, {"b": 1.0, "w": [1, [2]]}, {"b": 1.0}, None, 5.0):
    result.append(refused(tree_map, lambda *xs: calls.append(xs), params, moments, other))
result += [calls, flatten_up_to(tree_flatten(params)[1], moments)]
"""
    programs(student, NOTHING, program)


@pytest.mark.meets(length="flatten unflatten flatten_up_to map")
def test_whole_large_trees(student):
    """A tree may have a thousand leaves, and be dozens of containers deep."""
    program = """
wide = {f"k{i}": [i, (i + 1, None)] for i in range(500)}
deep = 7
for i in range(60):
    deep = [deep, i] if i % 2 else {"b": deep, "a": None}
result = [sum(tree_flatten(tree_map(lambda x, y: x * y, wide, wide))[0])]
result.append(tree_map(lambda x, y: x - y, deep, deep) == tree_map(lambda x: 0, deep))
"""
    programs(student, NOTHING, program)
