"""Answers to the exercises of the lesson pytrees: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("pytrees.register")
def register_pytree_node(nodetype, flatten_func, unflatten_func):
    entry = NodeType(to_children=flatten_func, from_children=unflatten_func)
    if node_types.setdefault(nodetype, entry) is not entry:
        raise ValueError("It is there already.")


@mistake(
    "pytrees.register",
    name="A second registration replaces the first",
    hints=[
        "Register the same class twice, with different functions. Which ones are used afterwards?",
        "Structures that were made before the second registration were made with the first functions. Building a tree from them would mix the two.",
        "Look whether `nodetype in node_types` before you write the entry, and raise `ValueError` if it is.",
    ],
)
def register_pytree_node(nodetype, flatten_func, unflatten_func):
    node_types[nodetype] = NodeType(flatten_func, unflatten_func)


@right("pytrees.dict")
def dict_to_children(d):
    try:
        pairs = sorted(d.items(), key=lambda item: item[0])
    except TypeError as error:
        raise ValueError(str(error)) from error
    return [value for _, value in pairs], tuple(key for key, _ in pairs)


@mistake(
    "pytrees.dict",
    name="A dict's entries come in the order in which it was filled",
    hints=[
        'Compare what you give for `{"a": 1, "b": 2}` and for `{"b": 2, "a": 1}`. These dicts are equal.',
        "The order of filling is an accident of the program. Two dicts with the same keys must give the same order.",
        "Sort the keys first, `keys = sorted(d)`, and make both results from that list.",
    ],
)
def dict_to_children(d):
    keys = tuple(d)
    try:
        sorted(keys)
    except TypeError:
        raise ValueError("keys without an order") from None
    return [d[key] for key in keys], keys


@mistake(
    "pytrees.dict",
    name="The keys are sorted, and their values are not",
    hints=[
        'Take `{"b": 1, "a": 2}`. Which value stands beside which key in your result?',
        "`d.values()` comes in the order in which the dict was filled. After sorting, the first key and the first value need not belong together.",
        "Look up the value of each sorted key: `[d[key] for key in keys]`.",
    ],
)
def dict_to_children(d):
    try:
        keys = sorted(d)
    except TypeError:
        raise ValueError("keys without an order") from None
    return list(d.values()), tuple(keys)


@right("pytrees.node_type")
def node_type(cls):
    match node_types.get(cls):
        case None if tuple in cls.__mro__ and getattr(cls, "_fields", None) is not None:
            return namedtuple_type
        case kind:
            return kind


@mistake(
    "pytrees.node_type",
    name="A namedtuple is taken for a plain tuple",
    hints=[
        "Take a `Point(1.0, 2.0)` apart and build it again. Has the result still an attribute `x`?",
        "The entry of `tuple` makes plain tuples, and the class of the namedtuple is lost. Another `NodeType` of this module keeps it.",
        "Give `namedtuple_type` for a subclass of tuple with an attribute `_fields`, not `node_types[tuple]`.",
    ],
)
def node_type(cls):
    if cls in node_types:
        return node_types[cls]
    is_namedtuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
    return node_types[tuple] if is_namedtuple else None


@mistake(
    "pytrees.node_type",
    name="None is a leaf",
    hints=[
        "What should a function on leaves do with a part of a tree that is not there?",
        "`None` is a container without children. The class `type(None)` has an entry in the table, like the others.",
        "Do not ask for `None` at all: look up `cls` in `node_types`, and the answer is there.",
    ],
)
def node_type(cls):
    if cls is type(None):
        return None
    if cls in node_types:
        return node_types[cls]
    is_namedtuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
    return namedtuple_type if is_namedtuple else None


@mistake(
    "pytrees.node_type",
    name="The entries of base classes count",
    hints=[
        "Make a subclass of `dict` with an attribute of its own, take an instance apart and build it again. What is missing?",
        "In lesson core, `get_aval` looked through the base classes. A container of a subclass may hold more than the base class knows of, and nobody would save it.",
        "Ask for the class itself, `cls in node_types`. Only namedtuples are told by their base class.",
    ],
)
def node_type(cls):
    for base in cls.__mro__:
        if base in node_types and not (base is tuple and hasattr(cls, "_fields")):
            return node_types[base]
    is_namedtuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
    return namedtuple_type if is_namedtuple else None


@right("pytrees.flatten")
def tree_flatten(tree, is_leaf=None):
    if is_leaf and is_leaf(tree):
        return [tree], leaf
    if (kind := node_type(type(tree))) is None:
        return [tree], leaf
    leaves, structures = [], ()
    children, data = kind.to_children(tree)
    for child in children:
        more, structure = tree_flatten(child, is_leaf)
        leaves += more
        structures += (structure,)
    return leaves, PyTreeDef(type(tree), data, structures)


@mistake(
    "pytrees.flatten",
    name="Only the outermost container is taken apart",
    hints=[
        "How many leaves has `[1, (2, 3)]`? Is any of them a container?",
        "A child may be a container itself. Flattening it is the same task over again.",
        "Call `tree_flatten(child, is_leaf)` for each child, and join the lists that come back.",
    ],
)
def tree_flatten(tree, is_leaf=None):
    kind = node_type(type(tree))
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], leaf
    children, data = kind.to_children(tree)
    children = list(children)
    return children, PyTreeDef(type(tree), data, tuple(leaf for _ in children))


@mistake(
    "pytrees.flatten",
    name="An empty container is taken for a leaf",
    hints=[
        "How many leaves has `()`? And `None`, which is a container without children?",
        "A list of leaves may be empty. An empty container has its place in the structure and gives no leaf.",
        "Only two things make a leaf: `node_type` gives `None` for the class, or `is_leaf` says so. The number of children is not among them.",
    ],
)
def tree_flatten(tree, is_leaf=None):
    kind = node_type(type(tree))
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], leaf
    children, data = kind.to_children(tree)
    flat = [tree_flatten(child, is_leaf) for child in children]
    if not flat:
        return [tree], leaf
    leaves = [x for xs, _ in flat for x in xs]
    return leaves, PyTreeDef(type(tree), data, tuple(treedef for _, treedef in flat))


@mistake(
    "pytrees.flatten",
    name="The children do not hear of is_leaf",
    hints=[
        "Choose a container as a leaf that stands inside another one. What becomes of it?",
        "`is_leaf` is asked at every level. Follow it through your recursion.",
        "Hand it on: `tree_flatten(child, is_leaf)`.",
    ],
)
def tree_flatten(tree, is_leaf=None):
    kind = node_type(type(tree))
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], leaf
    children, data = kind.to_children(tree)
    flat = [tree_flatten(child) for child in children]
    leaves = [x for xs, _ in flat for x in xs]
    return leaves, PyTreeDef(type(tree), data, tuple(treedef for _, treedef in flat))


@right("pytrees.unflatten")
def tree_unflatten(treedef, leaves):
    leaves = tuple(leaves)
    if len(leaves) - treedef.num_leaves:
        raise ValueError("wrong number of leaves")
    if treedef.node_class is None:
        return leaves[0]
    children, start = [], 0
    for child in treedef.child_treedefs:
        children.append(tree_unflatten(child, leaves[start : start + child.num_leaves]))
        start += child.num_leaves
    return node_type(treedef.node_class).from_children(treedef.data, children)


@mistake(
    "pytrees.unflatten",
    name="Lists come back as tuples",
    hints=[
        "Take `[1.0, 2.0]` apart and build it again. Is the result equal to what you began with?",
        "The structure knows which class each container has. Only that class's `NodeType` knows how to make one.",
        "Call `node_type(part.node_class).from_children(part.data, children)` for every container, and make none yourself.",
    ],
)
def tree_unflatten(treedef, leaves):
    leaves = list(leaves)
    if len(leaves) != treedef.num_leaves:
        raise ValueError("wrong number of leaves")
    remaining = iter(leaves)

    def build(part):
        if part.node_class is None:
            return next(remaining)
        children = [build(child) for child in part.child_treedefs]
        if part.node_class in (tuple, list):
            return tuple(children)
        return node_type(part.node_class).from_children(part.data, children)

    return build(treedef)


@mistake(
    "pytrees.unflatten",
    name="Leaves that are left over are dropped",
    hints=[
        "Give three leaves to a structure with two. What happens to the third?",
        "More leaves than places is a mistake of the caller, who would lose data without a message.",
        "Compare `len(leaves)` with `treedef.num_leaves` before you build anything, after `leaves = list(leaves)`.",
    ],
)
def tree_unflatten(treedef, leaves):
    leaves = list(leaves)
    if len(leaves) < treedef.num_leaves:
        raise ValueError("too few leaves")
    remaining = iter(leaves)

    def build(part):
        if part.node_class is None:
            return next(remaining)
        children = [build(child) for child in part.child_treedefs]
        return node_type(part.node_class).from_children(part.data, children)

    return build(treedef)


@mistake(
    "pytrees.unflatten",
    name="Every child begins with the first leaf again",
    hints=[
        "Build `((1, 2), (3, 4))` from its leaves. Where do the leaves of the second pair come from?",
        "Each part of the tree has to go on where the one before it stopped.",
        "Make the iterator once, outside of the recursion, and let every leaf take `next` from it.",
    ],
)
def tree_unflatten(treedef, leaves):
    leaves = list(leaves)
    if len(leaves) != treedef.num_leaves:
        raise ValueError("wrong number of leaves")

    def build(part, leaves):
        if part.node_class is None:
            return next(leaves)
        if not part.child_treedefs:
            return node_type(part.node_class).from_children(part.data, [])
        given = list(leaves)
        if all(child.node_class is None for child in part.child_treedefs):
            children = given[: len(part.child_treedefs)]
        else:
            children = [build(child, iter(given)) for child in part.child_treedefs]
        return node_type(part.node_class).from_children(part.data, children)

    return build(treedef, iter(leaves))


@right("pytrees.flatten_up_to")
def flatten_up_to(treedef, tree):
    found = []

    def walk(part, x):
        if part.node_class is None:
            return found.append(x)
        if part.node_class is not type(x):
            raise ValueError("another class")
        children, data = node_type(part.node_class).to_children(x)
        children = tuple(children)
        if len(children) != len(part.child_treedefs) or not data == part.data:
            raise ValueError("another node")
        list(map(walk, part.child_treedefs, children))

    walk(treedef, tree)
    return found


@mistake(
    "pytrees.flatten_up_to",
    name="Lists and tuples are taken for the same",
    hints=[
        "Does `[1, 2]` fit the structure of `(1, 2)`? Compare the two structures with `==`.",
        "With as many children, the containers still differ: in one of the two trees somebody has made a mistake.",
        "Compare the classes: `type(tree)` must be `treedef.node_class` itself.",
    ],
)
def flatten_up_to(treedef, tree):
    if treedef.node_class is None:
        return [tree]
    kind = node_type(type(tree))
    same = {type(tree), treedef.node_class} == {list, tuple} or type(tree) is treedef.node_class
    if kind is None or not same:
        raise ValueError("another container")
    children, data = kind.to_children(tree)
    children = list(children)
    if data != treedef.data or len(children) != len(treedef.child_treedefs):
        raise ValueError("other keys, or another length")
    pairs = zip(treedef.child_treedefs, children)
    return [x for child_def, child in pairs for x in flatten_up_to(child_def, child)]


@mistake(
    "pytrees.flatten_up_to",
    name="The keys of dicts are not compared",
    hints=[
        'Does `{"b": 1}` fit the structure of `{"a": 1}`? Both are dicts with one entry.',
        "What a container keeps besides its children is its data: for a dict, the keys. They belong to the structure.",
        "`to_children` gives the data of the tree; compare them with `treedef.data`.",
    ],
)
def flatten_up_to(treedef, tree):
    if treedef.node_class is None:
        return [tree]
    kind = node_type(type(tree))
    if kind is None or type(tree) is not treedef.node_class:
        raise ValueError("another container")
    children, data = kind.to_children(tree)
    children = list(children)
    if len(children) != len(treedef.child_treedefs):
        raise ValueError("another length")
    pairs = zip(treedef.child_treedefs, children)
    return [x for child_def, child in pairs for x in flatten_up_to(child_def, child)]


@mistake(
    "pytrees.flatten_up_to",
    name="Subtrees below the structure's leaves are taken apart, too",
    hints=[
        "Along the structure of `(1, 2)`, what should `([1, 2], 3)` give: two things, or three?",
        "Where the structure has a leaf, the walk stops, whatever the tree has there.",
        "For a leaf of the structure return `[tree]`, the whole subtree as one entry.",
    ],
)
def flatten_up_to(treedef, tree):
    if treedef.node_class is None:
        kind = node_type(type(tree))
        if kind is None:
            return [tree]
        return [x for child in kind.to_children(tree)[0] for x in flatten_up_to(leaf, child)]
    kind = node_type(type(tree))
    if kind is None or type(tree) is not treedef.node_class:
        raise ValueError("another container")
    children, data = kind.to_children(tree)
    children = list(children)
    if data != treedef.data or len(children) != len(treedef.child_treedefs):
        raise ValueError("other keys, or another length")
    pairs = zip(treedef.child_treedefs, children)
    return [x for child_def, child in pairs for x in flatten_up_to(child_def, child)]


@right("pytrees.map")
def tree_map(f, tree, *rest, is_leaf=None):
    first, treedef = tree_flatten(tree, is_leaf)
    others = [flatten_up_to(treedef, other) for other in rest]
    return tree_unflatten(treedef, list(map(f, first, *others)))


@mistake(
    "pytrees.map",
    name="The other trees are flattened without the first one's structure",
    hints=[
        "Call it with `[1, 2]` and `(1, 2, 3)`. Which pairs does the function get, and what becomes of the last number?",
        "Leaves alone do not say where they come from. The first tree says where leaves are; the others must fit it.",
        "Use `flatten_up_to(treedef, other)` for the others: it gives an entry for each leaf of the first tree, and complains where they do not fit.",
    ],
)
def tree_map(f, tree, *rest, is_leaf=None):
    leaves, treedef = tree_flatten(tree, is_leaf)
    columns = [leaves, *(tree_flatten(other)[0] for other in rest)]
    return tree_unflatten(treedef, [f(*xs) for xs in zip(*columns)])


@mistake(
    "pytrees.map",
    name="The new leaves come back as a list, without their containers",
    hints=[
        'What does `tree_map(f, {"a": 1})` give: a dict, or a list?',
        "Flattening is only the first half. The structure is still there, and the new leaves belong into it.",
        "The last step is `tree_unflatten(treedef, new_leaves)`.",
    ],
)
def tree_map(f, tree, *rest, is_leaf=None):
    leaves, treedef = tree_flatten(tree, is_leaf)
    columns = [leaves, *(flatten_up_to(treedef, other) for other in rest)]
    return [f(*xs) for xs in zip(*columns)]


@right("pytrees.flatten_fun")
def flatten_fun(f, in_tree):
    known = None

    def flat_f(*leaves):
        nonlocal known
        result = f(*tree_unflatten(in_tree, leaves))
        flat, known = tree_flatten(result)
        return flat

    def out_tree():
        if known is None:
            raise RuntimeError("too early")
        return known

    return flat_f, out_tree


@mistake(
    "pytrees.flatten_fun",
    name="The structure is found by running the function again",
    hints=[
        "Let the function print something, and call `flat_f` and `out_tree`, once each. How often is it printed?",
        "A function may be slow, or give something else the second time. The first run has shown all that you need.",
        "Keep the structure when `flat_f` has it, in a variable that `out_tree` can see; `out_tree` only reads it.",
    ],
)
def flatten_fun(f, in_tree):
    last = []

    def flat_f(*leaves):
        out_leaves, _ = tree_flatten(f(*tree_unflatten(in_tree, leaves)))
        last[:] = [leaves]
        return out_leaves

    def out_tree():
        if not last:
            raise RuntimeError("not known yet")
        return tree_flatten(f(*tree_unflatten(in_tree, last[0])))[1]

    return flat_f, out_tree


@mistake(
    "pytrees.flatten_fun",
    name="The structure of the arguments is given for that of the result",
    hints=[
        "Wrap a function that takes two numbers and returns one. Which structure does `out_tree()` give?",
        "There are two structures: `in_tree`, which the caller knows, and that of the result, which nobody knows before the function has run.",
        "`tree_flatten` of the function's result gives leaves and structure. Keep that structure, and let `out_tree` give it.",
    ],
)
def flatten_fun(f, in_tree):
    done = []

    def flat_f(*leaves):
        out_leaves, _ = tree_flatten(f(*tree_unflatten(in_tree, leaves)))
        done[:] = [True]
        return out_leaves

    def out_tree():
        if not done:
            raise RuntimeError("not known yet")
        return in_tree

    return flat_f, out_tree


@mistake(
    "pytrees.flatten_fun",
    name="Only the first result's structure is kept",
    hints=[
        "Call `flat_f` twice, so that the function returns different containers. What does `out_tree()` say after the second call?",
        "The structure belongs to the *last* call. Yours is still that of the first.",
        "Replace what is kept at every call, for instance by `out_trees[:] = [structure]`, and read that one entry.",
    ],
)
def flatten_fun(f, in_tree):
    out_trees = []

    def flat_f(*leaves):
        out_leaves, structure = tree_flatten(f(*tree_unflatten(in_tree, leaves)))
        out_trees.append(structure)
        return out_leaves

    def out_tree():
        if not out_trees:
            raise RuntimeError("not known yet")
        return out_trees[0]

    return flat_f, out_tree
