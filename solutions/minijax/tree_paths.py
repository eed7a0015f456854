"""Trees, continued: where a leaf is in its tree, kinds of containers, and trees of trees.

The path to a leaf is a tuple of keys, one for each container: a dict's key, a place in a list, the
name of an attribute. The names here are those of `jax.tree_util`; `jax.tree` has most of them too.
"""

import dataclasses
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from minijax import tree as jax_tree
from minijax.tree import (
    IsLeaf,
    NodeType,
    PyTreeDef,
    flatten_up_to,
    leaf,
    node_type,
    node_types,
    register_pytree_node,
    tree_leaves,
    tree_structure,
    tree_unflatten,
)
from minijax.xla import fields_by_class

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "keystr",
    "register_dataclass",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_flatten_with_path",
    "tree_leaves_with_path",
    "tree_map_with_path",
    "tree_reduce",
    "tree_transpose",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]

# Keys ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SequenceKey:
    """A place in a list or a tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclass(frozen=True)
class DictKey:
    """The key of a value in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclass(frozen=True)
class FlattenedIndexKey:
    """The number of a child, if its container does not say more."""

    key: int

    def __hash__(self) -> int:
        return hash((FlattenedIndexKey, self.key))  # not that of a SequenceKey

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


def keystr(keys: Sequence[Any], *, simple: bool = False, separator: str = "") -> str:
    """A path as a string; with `simple`, only what its keys hold.

    >>> keystr((DictKey("a"), SequenceKey(0))), keystr((DictKey("a"),), simple=True)
    ("['a'][0]", 'a')
    """
    texts = [str(dataclasses.astuple(key)[0]) if simple else str(key) for key in keys]
    return separator.join(texts)


# The keys of the children, for classes that have been registered with them.
keys_by_class: dict[type, Callable[[Any], Iterable[Any]]] = {}


def keys_of_children(container: Any, data: Any, count: int) -> list[Any]:
    """The keys of a container's children, in their order."""
    cls = type(container)
    if cls in keys_by_class:
        return list(keys_by_class[cls](container))
    if cls is dict:
        return [DictKey(key) for key in data]
    if cls is OrderedDict:
        return [DictKey(key) for key in container]
    if cls is defaultdict:
        return [DictKey(key) for key in data[1]]
    if cls in (list, tuple):
        return [SequenceKey(i) for i in range(count)]
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and cls not in node_types:
        return [GetAttrKey(name) for name in cls._fields]
    return [FlattenedIndexKey(i) for i in range(count)]


# Leaves with their paths --------------------------------------------------------------------------


def with_paths(tree: Any, is_leaf: IsLeaf, path: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    """The leaves with their paths, which begin with `path`."""
    kind = node_type(type(tree))
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        return [(path, tree)]
    children, data = kind.take_apart(tree)
    children = list(children)
    keys = keys_of_children(tree, data, len(children))
    pairs = zip(keys, children, strict=True)
    return [found for key, child in pairs for found in with_paths(child, is_leaf, (*path, key))]


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[Any, Any]]:
    """The leaves, each as a pair: its path, and the leaf."""
    return with_paths(tree, is_leaf, ())


def tree_flatten_with_path(
    tree: Any, is_leaf: IsLeaf = None
) -> tuple[list[tuple[Any, Any]], PyTreeDef]:
    """The leaves with their paths, and the structure.

    >>> pairs, structure = tree_flatten_with_path({"b": 1, "a": (2,)})
    >>> [(keystr(path), leaf) for path, leaf in pairs]
    [("['a'][0]", 2), ("['b']", 1)]
    """
    return with_paths(tree, is_leaf, ()), tree_structure(tree, is_leaf)


def tree_map_with_path(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Like `tree_map`; the function gets the path first."""
    pairs, structure = tree_flatten_with_path(tree, is_leaf)
    others = [flatten_up_to(structure, other) for other in rest]
    rows = zip(pairs, *others, strict=True)
    return tree_unflatten(structure, [f(path, x, *more) for (path, x), *more in rows])


# Numbers and truth about leaves -------------------------------------------------------------------

NOTHING = object()


def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = NOTHING,
    is_leaf: IsLeaf = None,
) -> Any:
    """The leaves joined by a function of two, from left to right."""
    leaves = tree_leaves(tree, is_leaf)
    start = () if initializer is NOTHING else (initializer,)
    return functools.reduce(function, leaves, *start)


def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves are true."""
    return all(tree_leaves(tree, is_leaf))


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether all elements of `iterable` are leaves: none is a container."""
    return all(node_type(type(x)) is None or (is_leaf is not None and is_leaf(x)) for x in iterable)


# Trees of trees -----------------------------------------------------------------------------------


def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """A tree of trees inside out: the inner structure outside, with the outer one in its leaves."""
    if inner_treedef is None:
        inner = tree_structure(flatten_up_to(outer_treedef, pytree_to_transpose)[0])
    else:
        inner = inner_treedef
    leaves = tree_leaves(pytree_to_transpose)
    count = inner.num_leaves
    if len(leaves) != outer_treedef.num_leaves * count:
        raise TypeError(
            f"Mismatch: a tree of structure {tree_structure(pytree_to_transpose)} does not have "
            f"{inner} in each leaf of {outer_treedef}."
        )
    columns = [leaves[i::count] for i in range(count)]
    return tree_unflatten(inner, [tree_unflatten(outer_treedef, column) for column in columns])


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children."""
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether this is the structure of a leaf."""
    return treedef.num_nodes == 1 and treedef == leaf


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple whose parts have these structures."""
    return PyTreeDef(tuple, None, tuple(treedefs))


# Kinds of containers ------------------------------------------------------------------------------


def register_pytree_node_class(cls: type) -> type:
    """A decorator for classes with the methods `tree_flatten` and `tree_unflatten`."""
    methods = cast(Any, cls)
    register_pytree_node(cls, lambda x: x.tree_flatten(), methods.tree_unflatten)
    return cls


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Like `register_pytree_node`, for a function that returns pairs of a key and a child."""

    def flatten(x: Any) -> tuple[list[Any], Any]:
        pairs, data = flatten_with_keys(x)
        return [child for _, child in pairs], data

    register_pytree_node(nodetype, flatten_func or flatten, unflatten_func)
    keys_by_class[nodetype] = lambda x: [key for key, _ in flatten_with_keys(x)[0]]


def register_pytree_with_keys_class(cls: type) -> type:
    """A decorator for classes with `tree_flatten_with_keys` and `tree_unflatten`."""
    methods = cast(Any, cls)
    register_pytree_with_keys(cls, lambda x: x.tree_flatten_with_keys(), methods.tree_unflatten)
    return cls


def fields_of(
    nodetype: Any,
    data_fields: Sequence[str] | None,
    meta_fields: Sequence[str] | None,
    drop_fields: Sequence[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the fields that are traced, and of those that are compared."""
    if (data_fields is None) != (meta_fields is None):
        raise TypeError("register_dataclass takes both data_fields and meta_fields, or neither.")
    is_dataclass = dataclasses.is_dataclass(nodetype)
    fields = [f for f in dataclasses.fields(nodetype) if f.init] if is_dataclass else []
    fields = [f for f in fields if f.name not in drop_fields]
    if data_fields is not None and meta_fields is not None:
        known = [f.name for f in fields] if is_dataclass else [*data_fields, *meta_fields]
        check_fields(known, data_fields, meta_fields)
        return tuple(data_fields), tuple(meta_fields)
    if not is_dataclass:
        raise TypeError("register_dataclass takes data_fields and meta_fields, or a dataclass.")
    meta = tuple(f.name for f in fields if f.metadata.get("static", False))
    return tuple(f.name for f in fields if f.name not in meta), meta


def check_fields(known: Sequence[str], data: Sequence[str], meta: Sequence[str]) -> None:
    """`ValueError` unless each of the known fields is in one of the two."""
    both = {*data} & {*meta}
    if both:
        raise ValueError(
            f"data_fields and meta_fields must not overlap. Overlapping fields: {both}."
        )
    less, more = {*known} - {*data, *meta}, {*data, *meta} - {*known}
    if less or more:
        what = f"Missing fields: {less}" if less else f"Unexpected fields: {more}"
        raise ValueError(
            "data_fields and meta_fields must include all dataclass fields with init=True and only "
            f"them, but those in drop_fields. {what}."
        )


def register_dataclass(
    nodetype: Any,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Any:
    """Register a dataclass as a container of its `data_fields`; `meta_fields` are not traced.

    If neither is given, all fields are data but those marked `static=True` in their metadata.
    """
    data, meta = fields_of(nodetype, data_fields, meta_fields, drop_fields)

    def values(x: Any, names: Sequence[str]) -> tuple[Any, ...]:
        return tuple(getattr(x, name) for name in names)

    def unflatten(known: Any, children: Sequence[Any]) -> Any:
        return nodetype(
            **dict(zip(data, children, strict=True)), **dict(zip(meta, known, strict=True))
        )

    register_pytree_node(nodetype, lambda x: (values(x, data), values(x, meta)), unflatten)
    keys_by_class[nodetype] = lambda x: map(GetAttrKey, data)
    fields_by_class[nodetype] = data, meta
    return nodetype


def register_static(cls: type) -> type:
    """Register a class whose objects have no leaves: they are part of the structure."""
    node_types[cls] = NodeType(lambda x: ((), x), lambda x, _: x)
    return cls


jax_tree.later.update(
    {
        "all": tree_all,
        "flatten_with_path": tree_flatten_with_path,
        "leaves_with_path": tree_leaves_with_path,
        "map_with_path": tree_map_with_path,
        "reduce": tree_reduce,
        "transpose": tree_transpose,
    }
)
jax_tree.__all__.extend(jax_tree.later)
