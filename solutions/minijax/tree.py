"""Pytrees: nested containers taken apart into a flat list of leaves, and put together again.

Transformations work on flat lists of arrays; users' functions take and return dicts of tuples of
lists. The structure of a tree (`PyTreeDef`) remembers the containers in between.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

__all__ = ["flatten", "leaves", "map", "structure", "unflatten"]


class NodeType(NamedTuple):
    """How to take one kind of container apart, and how to make it again."""

    to_children: Callable[[Any], tuple[Iterable[Any], Any]]  # container -> (children, the rest)
    from_children: Callable[[Any, Sequence[Any]], Any]  # (the rest, children) -> container

    def take_apart(self, container: Any) -> tuple[Iterable[Any], Any]:
        """The children and the rest; `ValueError` if `to_children` returns anything else."""
        parts = self.to_children(container)
        if not isinstance(parts, tuple) or len(parts) != 2 or not hasattr(parts[0], "__iter__"):
            raise ValueError(
                "A pytree node is flattened to a tuple (children, data), where children can be "
                f"iterated over; a {type(container).__name__} was flattened to {parts!r}."
            )
        return parts


@dataclass(frozen=True)
class PyTreeDef:
    """The structure of a tree. Two are equal (`==`) if classes, data and children are.

    A leaf has no `node_class`; a copy of it equals the constant `leaf`. `data` is the rest that
    `to_children` returns with the children: the keys of a dict, the class of a namedtuple, what a
    user's class needs; else None.
    """

    node_class: type | None
    data: Any
    child_treedefs: tuple[PyTreeDef, ...]

    @property
    def num_leaves(self) -> int:
        """How many leaves a tree of this structure has; a leaf is one itself."""
        return 1 if self.node_class is None else sum(c.num_leaves for c in self.child_treedefs)

    @property
    def num_nodes(self) -> int:
        """How many leaves and containers a tree of this structure has."""
        return 1 + sum(child.num_nodes for child in self.child_treedefs)

    def children(self) -> list[PyTreeDef]:
        """The structures of the children; none for a leaf."""
        return list(self.child_treedefs)

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Like `tree_unflatten`."""
        return tree_unflatten(self, leaves)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """Like the function `flatten_up_to`."""
        return flatten_up_to(self, tree)

    def describe(self) -> str:
        """The structure as JAX prints it, with `*` for a leaf."""
        parts = [child.describe() for child in self.child_treedefs]
        listed = f"[{', '.join(parts)}]"
        if self.node_class is None:
            return "*"
        if self.node_class is type(None):
            return "None"
        if self.node_class is dict:
            items = [f"{key!r}: {part}" for key, part in zip(self.data, parts, strict=True)]
            return f"{{{', '.join(items)}}}"
        if self.node_class is tuple:
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        if self.node_class is list:
            return listed
        name, is_namedtuple = self.node_class.__name__, self.data is self.node_class
        kind = f"namedtuple[{name}]" if is_namedtuple else f"{name}[{self.data}]"
        return f"CustomNode({kind}, {listed})"

    def __repr__(self) -> str:
        return f"PyTreeDef({self.describe()})"


leaf = PyTreeDef(None, None, ())


# Kinds of containers ------------------------------------------------------------------------------


def dict_to_children(d: dict[Any, Any]) -> tuple[list[Any], tuple[Any, ...]]:
    """The values of a dict in the order of its sorted keys, as a list, and these keys as a tuple.

    Keys that Python cannot sort raise `ValueError`.

    >>> dict_to_children({"b": 10, "a": 20})
    ([20, 10], ('a', 'b'))
    """
    try:
        keys = sorted(d)
    except TypeError:
        raise ValueError(f"A dict in a pytree needs keys that can be sorted: {[*d]}.") from None
    return [d[key] for key in keys], tuple(keys)


node_types: dict[type, NodeType] = {
    tuple: NodeType(lambda xs: (xs, None), lambda _, xs: tuple(xs)),
    list: NodeType(lambda xs: (xs, None), lambda _, xs: list(xs)),
    dict: NodeType(dict_to_children, lambda keys, xs: dict(zip(keys, xs, strict=True))),
    type(None): NodeType(lambda _: ((), None), lambda _, xs: None),
    OrderedDict: NodeType(  # which has an order of its own
        lambda d: (d.values(), tuple(d)), lambda keys, xs: OrderedDict(zip(keys, xs, strict=True))
    ),
    defaultdict: NodeType(
        lambda d: ([d[key] for key in sorted(d)], (d.default_factory, tuple(sorted(d)))),
        lambda data, xs: defaultdict(data[0], zip(data[1], xs, strict=True)),
    ),
}

namedtuple_type = NodeType(lambda xs: (xs, type(xs)), lambda cls, xs: cls(*xs))


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Sequence[Any]], Any],
) -> None:
    """Make the class `nodetype` a kind of container. Counterpart: JAX's function of this name.

    `flatten_func(x)` returns (children, data), and `unflatten_func(data, children)` makes the
    container again. A class that is registered already raises `ValueError`.

    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> register_pytree_node(
    ...     Interval, lambda i: ((i.low, i.high), None), lambda _, ends: Interval(*ends)
    ... )
    >>> node_types[Interval].to_children(Interval(1.0, 2.0))
    ((1.0, 2.0), None)
    """
    if nodetype in node_types:
        raise ValueError(f"{nodetype.__name__} is registered as a pytree node already.")
    node_types[nodetype] = NodeType(flatten_func, unflatten_func)


def node_type(cls: type) -> NodeType | None:
    """How to take the instances of a class apart; None if they are leaves.

    Only an entry in `node_types` for this very class counts; without one, a namedtuple is of
    `namedtuple_type`.

    >>> node_type(list) is node_types[list]
    True
    >>> class Point(NamedTuple):
    ...     x: float
    ...     y: float
    >>> node_type(Point) is namedtuple_type
    True
    >>> node_type(float) is None
    True
    """
    if cls in node_types:
        return node_types[cls]
    is_namedtuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
    return namedtuple_type if is_namedtuple else None


class Partial(functools.partial):
    """A function with some of its arguments, whose leaves are those of the arguments.

    Under `jit` and the others it can be an argument and a result. Counterpart:
    `jax.tree_util.Partial`.

    >>> tree_leaves(Partial(max, 2.0, key=None)), Partial(max, 2.0)(3.0)
    ([2.0], 3.0)
    """

    def __new__(cls, func: Callable[..., Any], *args: Any, **kw: Any) -> Partial:
        is_partial = isinstance(func, functools.partial)  # its arguments are not leaves
        return super().__new__(cls, Whole(func) if is_partial else func, *args, **kw)


@dataclass(frozen=True, eq=False)
class Whole:
    """A function that is not looked into; it equals that function."""

    func: Callable[..., Any]

    def __eq__(self, other: object) -> bool:
        return self.func == (other.func if isinstance(other, Whole) else other)

    def __hash__(self) -> int:
        return hash(self.func)

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return self.func(*args, **kw)


node_types[Partial] = NodeType(
    lambda f: ((f.args, f.keywords), f.func),
    lambda func, parts: Partial(func, *parts[0], **parts[1]),
)


# Apart, and together again ------------------------------------------------------------------------

IsLeaf = Callable[[Any], bool] | None


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree from left to right, as a list, and its structure.

    A leaf's structure is the constant `leaf`; a container's structure has everything needed to
    build it again. A container for which `is_leaf` is true counts as a leaf, at any depth. Each
    container is taken apart once. If this does not yield children and data, raises `ValueError`;
    other errors raised on the way pass through unchanged. Counterpart: `jax.tree.flatten`.

    >>> tree_flatten({"b": 1.0, "a": (2.0, [3.0])})
    ([2.0, 3.0, 1.0], PyTreeDef({'a': (*, [*]), 'b': *}))
    >>> tree_flatten([None, (), 4.0])
    ([4.0], PyTreeDef([None, (), *]))
    """
    kind = node_type(type(tree))
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], leaf
    children, data = kind.take_apart(tree)
    flat = [tree_flatten(child, is_leaf) for child in children]
    leaves = [x for xs, _ in flat for x in xs]
    return leaves, PyTreeDef(type(tree), data, tuple(treedef for _, treedef in flat))


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of this structure with these leaves, from any iterable.

    Leaves are put in unchanged, even containers; too few or too many raise `ValueError` before
    anything is built. Each container is built from its data and a list of children; an error raised
    on the way passes through unchanged. Counterpart: `jax.tree.unflatten`.

    >>> pair = PyTreeDef(tuple, None, (leaf, leaf))
    >>> tree_unflatten(PyTreeDef(list, None, (leaf, pair)), "abc")
    ['a', ('b', 'c')]
    """
    leaves = list(leaves)
    if len(leaves) != treedef.num_leaves:
        raise ValueError(f"{treedef} has {treedef.num_leaves} leaves, not {len(leaves)}.")
    remaining = iter(leaves)

    def build(part: PyTreeDef, again: Callable[..., Any]) -> Any:
        if part.node_class is None:
            return next(remaining)
        children = [again(child, again) for child in part.child_treedefs]
        kind = cast(NodeType, node_type(part.node_class))
        return kind.from_children(part.data, children)

    return build(treedef, build)  # a function that held itself would stay until it is collected


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Only the leaves. Counterpart: `jax.tree.leaves`."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """Only the structure. Counterpart: `jax.tree.structure`."""
    return tree_flatten(tree, is_leaf)[1]


# Several trees ------------------------------------------------------------------------------------


def flatten_up_to(treedef: PyTreeDef, tree: Any) -> list[Any]:
    """What `tree` has where `treedef` has leaves: leaves, or subtrees.

    The result is a list. If `tree` lacks a container of `treedef`, at the same position, with the
    same class, equal data and the same number of children, raises `ValueError`. Nothing below its
    leaves is examined. Counterpart: JAX's `PyTreeDef.flatten_up_to`.

    >>> flatten_up_to(PyTreeDef(tuple, None, (leaf, leaf)), (1.0, [2.0, 3.0]))
    [1.0, [2.0, 3.0]]
    """
    if treedef.node_class is None:
        return [tree]
    if type(tree) is not treedef.node_class:
        raise ValueError(f"The structure {treedef} does not fit a {type(tree).__name__}.")
    kind = cast(NodeType, node_type(type(tree)))
    children, data = kind.take_apart(tree)
    children = list(children)
    if data != treedef.data or len(children) != len(treedef.child_treedefs):
        raise ValueError(f"{treedef} does not fit: other keys, or another number of children.")
    pairs = zip(treedef.child_treedefs, children, strict=True)
    return [x for child_def, child in pairs for x in flatten_up_to(child_def, child)]


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """The tree of what `f` returns for each leaf of `tree`. Counterpart: `jax.tree.map`.

    `f` is called once per leaf, from left to right, and is also passed what the other trees have
    there, which may be a whole subtree. If one of them lacks a container of `tree`, raises
    `ValueError`, and `f` is not called. Containers for which `is_leaf` is true are leaves of
    `tree`.

    >>> tree_map(lambda x, y: x + y, {"a": 1, "b": 2}, {"a": 10, "b": 20})
    {'a': 11, 'b': 22}
    """
    leaves, treedef = tree_flatten(tree, is_leaf)
    columns = [leaves, *(flatten_up_to(treedef, other) for other in rest)]
    return tree_unflatten(treedef, [f(*xs) for xs in zip(*columns, strict=True)])


# Functions ----------------------------------------------------------------------------------------


def flatten_fun(
    f: Callable[..., Any], in_tree: PyTreeDef
) -> tuple[Callable[..., list[Any]], Callable[[], PyTreeDef]]:
    """`f` for flat leaves, `flat_f`, and a function for its result's structure, `out_tree`.

    `in_tree` is the structure of the tuple (or list) of all arguments of `f`. `flat_f` takes their
    leaves as separate arguments (a wrong number raises `ValueError`), calls `f` once, and returns
    the list of the result's leaves; errors on the way pass through unchanged. `out_tree()` returns
    the structure of the last result, as it was when `flat_f` returned, or raises `RuntimeError` if
    there is none.

    >>> pair = PyTreeDef(tuple, None, (leaf, leaf))
    >>> in_tree = PyTreeDef(tuple, None, (pair,))  # one argument, which is a pair
    >>> flat_f, out_tree = flatten_fun(lambda pair: {"sum": pair[0] + pair[1]}, in_tree)
    >>> flat_f(1, 2)
    [3]
    >>> out_tree()
    PyTreeDef({'sum': *})
    """
    out_trees: list[PyTreeDef] = []  # holds the last one; empty until flat_f has run

    def flat_f(*leaves: Any) -> list[Any]:
        out_leaves, structure = tree_flatten(f(*tree_unflatten(in_tree, leaves)))
        out_trees[:] = [structure]
        return out_leaves

    def out_tree() -> PyTreeDef:
        if not out_trees:
            raise RuntimeError("The structure of a result is known when the function has run.")
        return out_trees[0]

    return flat_f, out_tree


# JAX has these functions as `jax.tree.…`, and under the longer names in `jax.tree_util`.
flatten, unflatten, leaves, structure = tree_flatten, tree_unflatten, tree_leaves, tree_structure


# Further functions of `jax.tree`, by name; a later lesson brings them.
later: dict[str, Callable[..., Any]] = {}


def __getattr__(name: str) -> Any:
    """Returns `jax.tree.map`: a global `map` would hide Python's own from the functions above."""
    if name == "map":
        return tree_map
    if name in later:
        return later[name]
    raise AttributeError(f"minijax.tree has no {name!r}. See what there is by dir(minijax.tree).")


def __dir__() -> list[str]:
    return sorted({*globals(), *later, "map"})
