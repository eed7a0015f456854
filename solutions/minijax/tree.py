"""Pytrees: nested containers taken apart into a flat list of leaves, and put together again.

Transformations work on flat lists of arrays; users' functions take and return dicts of tuples of
lists. A tree definition (`PyTreeDef`) remembers the shape of the containers in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["flatten", "leaves", "map", "structure", "unflatten"]


class NodeType(NamedTuple):
    """How to take one kind of container apart, and how to make it again."""

    to_children: Callable[[Any], tuple[Iterable[Any], Any]]  # container -> (children, the rest)
    from_children: Callable[[Any, Sequence[Any]], Any]  # (the rest, children) -> container


@dataclass(frozen=True)
class PyTreeDef:
    """The shape of a tree. A leaf has no `node_class`; prints as in JAX, with `*` for a leaf."""

    node_class: type | None
    data: Any
    children: tuple[PyTreeDef, ...]

    @property
    def num_leaves(self) -> int:
        return 1 if self.node_class is None else sum(c.num_leaves for c in self.children)

    def describe(self) -> str:
        parts = [child.describe() for child in self.children]
        if self.node_class is None:
            return "*"
        if self.node_class is dict:
            items = [f"{key!r}: {part}" for key, part in zip(self.data, parts, strict=True)]
            return f"{{{', '.join(items)}}}"
        if self.node_class is tuple:
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        if self.node_class is list:
            return f"[{', '.join(parts)}]"
        return "None" if self.node_class is type(None) else f"{self.node_class.__name__}{parts}"

    def __repr__(self) -> str:
        return f"PyTreeDef({self.describe()})"


leaf = PyTreeDef(None, None, ())

node_types: dict[type, NodeType] = {
    tuple: NodeType(lambda xs: (xs, None), lambda _, xs: tuple(xs)),
    list: NodeType(lambda xs: (xs, None), lambda _, xs: list(xs)),
    dict: NodeType(
        lambda d: ([d[k] for k in sorted(d)], tuple(sorted(d))),
        lambda keys, xs: dict(zip(keys, xs, strict=True)),
    ),
    type(None): NodeType(lambda _: ((), None), lambda _, xs: None),
}

namedtuple_type = NodeType(lambda xs: (xs, type(xs)), lambda cls, xs: cls(*xs))


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Sequence[Any]], Any],
) -> None:
    """Make `nodetype` a container; `flatten_func(x)` gives (children, the rest, compared by ==)."""
    if nodetype in node_types:
        raise ValueError(f"{nodetype.__name__} is registered as a pytree node already.")
    node_types[nodetype] = NodeType(flatten_func, unflatten_func)


def node_type(x: Any) -> NodeType | None:
    """How to take `x` apart; None if `x` is a leaf."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return namedtuple_type
    return node_types.get(type(x))


IsLeaf = Callable[[Any], bool] | None


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves from left to right (dicts in the order of their sorted keys), and the definition.

    A container for which `is_leaf` is true is not taken apart.

    >>> tree_flatten({"b": 1.0, "a": (2.0, [3.0])})
    ([2.0, 3.0, 1.0], PyTreeDef({'a': (*, [*]), 'b': *}))
    """
    kind = node_type(tree)
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], leaf
    children, data = kind.to_children(tree)
    flat = [tree_flatten(child, is_leaf) for child in children]
    leaves = [x for xs, _ in flat for x in xs]
    return leaves, PyTreeDef(type(tree), data, tuple(treedef for _, treedef in flat))


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of this definition with these leaves.

    >>> tree_unflatten(tree_structure([0, (0, 0)]), "abc")
    ['a', ('b', 'c')]
    """
    leaves = list(leaves)
    if len(leaves) != treedef.num_leaves:
        raise ValueError(f"{treedef} has {treedef.num_leaves} leaves, not {len(leaves)}.")
    return build(treedef, iter(leaves))


def build(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of this definition; takes from the iterator `leaves` what it needs."""
    if treedef.node_class is None:
        return next(leaves)  # type: ignore[call-overload]
    children = [build(child, leaves) for child in treedef.children]
    is_namedtuple = issubclass(treedef.node_class, tuple) and treedef.node_class is not tuple
    kind = namedtuple_type if is_namedtuple else node_types[treedef.node_class]
    return kind.from_children(treedef.data, children)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    return tree_flatten(tree, is_leaf)[1]


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply `f` to the leaves of one tree, or to the corresponding leaves of several.

    >>> tree_map(lambda x, y: x + y, {"a": 1, "b": 2}, {"a": 10, "b": 20})
    {'a': 11, 'b': 22}
    """
    flat, treedef = tree_flatten(tree, is_leaf)
    flat_rest = [tree_flatten(other, is_leaf) for other in rest]
    for _, other_def in flat_rest:
        if other_def != treedef:
            raise ValueError(f"The trees differ: {treedef} and {other_def}.")
    columns = [flat, *(leaves for leaves, _ in flat_rest)]
    return tree_unflatten(treedef, [f(*xs) for xs in zip(*columns, strict=True)])


def flatten_fun(
    f: Callable[..., Any], in_tree: PyTreeDef
) -> tuple[Callable[..., list[Any]], Callable[[], PyTreeDef]]:
    """`f` as a function from flat leaves to flat leaves, and a thunk for its result's definition.

    The definition of the result is known only when `f` has run, so it comes as a function to be
    called afterwards.

    >>> in_tree = tree_structure(((0, 0),))  # of the arguments: one pair
    >>> flat_f, out_tree = flatten_fun(lambda pair: {"sum": pair[0] + pair[1]}, in_tree)
    >>> flat_f(1, 2), out_tree()
    ([3], PyTreeDef({'sum': *}))
    """
    result: list[PyTreeDef] = []

    def flat_f(*leaves: Any) -> list[Any]:
        out_leaves, out_tree = tree_flatten(f(*tree_unflatten(in_tree, leaves)))
        result[:] = [out_tree]
        return out_leaves

    def out_tree() -> PyTreeDef:
        return result[0]

    return flat_f, out_tree


# JAX gives these functions as `jax.tree.…`, and under the longer names in `jax.tree_util`.
flatten, unflatten, leaves, structure = tree_flatten, tree_unflatten, tree_leaves, tree_structure
map = tree_map
