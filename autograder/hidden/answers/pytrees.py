"""Answers to the exercises of the `pytrees` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("pytrees.flatten")


@right
def tree_flatten(tree, is_leaf=None):
    if is_leaf and is_leaf(tree):
        return [tree], leaf
    if (kind := node_type(type(tree))) is None:
        return [tree], leaf
    leaves, structures = [], ()
    children, data = kind.take_apart(tree)
    for child in children:
        more, structure = tree_flatten(child, is_leaf)
        leaves += more
        structures += (structure,)
    return leaves, PyTreeDef(type(tree), data, structures)


@right(style="an inner walk that appends to one list and returns structures")
def tree_flatten(tree, is_leaf=None):
    found = []

    def walk(x):
        kind = node_type(type(x))
        if kind is None or (is_leaf is not None and is_leaf(x)):
            found.append(x)
            return leaf
        children, data = kind.take_apart(x)
        return PyTreeDef(type(x), data, tuple(map(walk, children)))

    structure = walk(tree)
    return found, structure


@right(style="no recursion: a stack of containers that are half done")
def tree_flatten(tree, is_leaf=None):
    leaves, roots = [], []
    stack = [(iter([tree]), None, None, roots)]
    while stack:
        children, cls, data, done = stack[-1]
        for x in children:
            wanted = is_leaf is not None and is_leaf(x)
            kind = None if wanted else node_type(type(x))
            if kind is None:
                leaves.append(x)
                done.append(leaf)
                continue
            parts, rest = kind.take_apart(x)
            stack.append((iter(parts), type(x), rest, []))
            break
        else:
            stack.pop()
            if stack:
                stack[-1][3].append(PyTreeDef(cls, data, tuple(done)))
    return leaves, roots[0]


mistake(
    {"tree_flatten(child, is_leaf) for child": "([child], leaf) for child"},
    name="Only the outermost container is taken apart",
    hints=[
        "How many leaves does `[1, (2, 3)]` have? Is any of them a container?",
        "A child may be a container itself. Flattening it is the same task over again.",
        "Call `tree_flatten(child, is_leaf)` for each child, and join the lists that come back.",
    ],
)
mistake(
    {"take_apart": "to_children", "leaves =": "if not flat:\n    return [tree], leaf\nleaves ="},
    name="An empty container is treated as a leaf",
    hints=[
        "How many leaves does `()` have? And `None`, which is a container without children?",
        "A list of leaves may be empty. An empty container has its place in the structure but no leaf.",
        "Only two things make a leaf: `node_type` returns `None` for the class, or `is_leaf` says so. The number of children is not among them.",
    ],
)
mistake(
    {"take_apart": "to_children", "(child, is_leaf)": "(child)"},
    name="is_leaf is not passed on to the children",
    hints=[
        "Let `is_leaf` choose a container inside a container. What becomes of it?",
        "`is_leaf` is asked at every level. Follow it through your recursion.",
        "Pass it on: `tree_flatten(child, is_leaf)`.",
    ],
)
mistake(
    {"kind = ": "if tree is None:\n    return [], PyTreeDef(type(None), None, ())\nkind = "},
    fails="test_what_is_leaf_gives",
)
mistake({"take_apart": "to_children"}, fails="test_containers_taken_apart_wrongly")
mistake({"is_leaf(tree)": "is_leaf(tree) is True"}, fails="test_what_is_leaf_gives")


@mistake(fails="test_nested_containers")
def tree_flatten(tree, is_leaf=None):
    met = set()

    def walk(x):
        kind = node_type(type(x))
        if kind is None or (is_leaf is not None and is_leaf(x)):
            return [x], leaf
        if x and id(x) in met:  # a tree that contains itself
            return [x], leaf
        met.add(id(x))
        children, data = kind.take_apart(x)
        pairs = [walk(child) for child in children]
        return [y for ys, _ in pairs for y in ys], PyTreeDef(
            type(x), data, tuple(s for _, s in pairs)
        )

    return walk(tree)


# An error in the children is taken for a wrong answer of the class.
mistake(
    {
        "flat = [tree_flatten(child, is_leaf) for child in children]": "try:\n    children = list(children)\nexcept TypeError:\n    raise ValueError('no children') from None\nflat = [tree_flatten(child, is_leaf) for child in children]"
    },
    fails="test_errors_when_taken_apart",
)
# A leaf by choice has a structure of its own, which is only equal.
mistake(
    {
        "if kind is None or (is_leaf is not None and is_leaf(tree)):": "if is_leaf is not None and is_leaf(tree):\n    return [tree], PyTreeDef(None, None, ())\nif kind is None:"
    },
    fails="test_leaves_by_choice",
)
# from right to left
mistake({"in flat for": "in reversed(flat) for"}, fails="test_nested_containers")
mistake(
    {"children, data = ": "if is_leaf is not None:\n    kind.take_apart(tree)\nchildren, data = "},
    fails="test_each_container_once",
)
# data that cannot be hashed
mistake(
    {
        "children, data = kind.take_apart(tree)": "children, data = kind.take_apart(tree)\ndata = tuple(data) if isinstance(data, list) else data"
    },
    fails="test_objects_of_other_classes",
)
# A tree that is too deep, or a class that is not finished, is a leaf.
mistake(
    {
        "children, data = kind.take_apart(tree)": "try:\n    children, data = kind.take_apart(tree)\nexcept (RecursionError, NotImplementedError):\n    return [tree], leaf"
    },
    fails="test_errors_when_taken_apart",
)
mistake(
    {
        "kind = node_type(type(tree))": "kind = node_type(type(tree))\nif isinstance(tree, OrderedDict):\n    kind = node_types[OrderedDict]"
    },
    fails="test_subclasses_are_leaves",
)
# Without anything in it, a dict is taken apart before `is_leaf` is asked.
mistake(
    {
        "kind = node": "if type(tree) is dict and not tree:\n    return [], PyTreeDef(dict, (), ())\nkind = node"
    },
    fails="test_what_is_leaf_gives",
)
# The keys of a dict, of which some cannot be compared, are sorted as texts.
mistake(
    {
        "children, data = kind.take_apart(tree)": "children, data = kind.take_apart(tree)\nif type(tree) is dict:\n    data = tuple(sorted(tree, key=str))\n    children = [tree[key] for key in data]"
    },
    fails="test_nested_containers",
)
# What is_leaf chooses is taken apart for nothing.
mistake(
    {
        "if kind is None": "if kind:\n    kind.take_apart(tree) if is_leaf and is_leaf(tree) else None\nif kind is None"
    },
    fails="test_leaves_by_choice",
)
# An array of children is asked whether it is true.
mistake(
    {"flat = [tree": "if not children:\n    children = ()\nflat = [tree"},
    fails="test_objects_of_other_classes",
)
# The list of children belongs to the container.
mistake(
    {
        "flat = [tree_flatten(child, is_leaf) for child in children]": "children = children if isinstance(children, list) and children is not tree else list(children)\nflat = []\nwhile children:\n    flat.append(tree_flatten(children.pop(0), is_leaf))"
    },
    fails="test_argument_is_left_alone",
)
# What is known of a container is found by the identity of one that may be gone.
mistake(
    {
        "= None) ->": "= None, known=None) ->",
        "children, data =": "known = {} if known is None else known\nif id(tree) in known:\n    return known[id(tree)]\nchildren, data =",
        "tree_flatten(child, is_leaf)": "tree_flatten(child, is_leaf, known)",
        "return leaves, PyTreeDef(type(tree), data, tuple(treedef for _, treedef in flat))": "known[id(tree)] = leaves, PyTreeDef(type(tree), data, tuple(part for _, part in flat))\nreturn known[id(tree)]",
    },
    fails="test_nested_containers",
)


# A call inside a call loses the leaves of the outer one.
@mistake(fails="test_nested_containers")
def tree_flatten(tree, is_leaf=None):
    found = vars(tree_flatten).setdefault("found", [])

    def walk(x):
        kind = node_type(type(x))
        if kind is None or (is_leaf is not None and is_leaf(x)):
            found.append(x)
            return leaf
        children, data = kind.take_apart(x)
        return PyTreeDef(type(x), data, tuple([walk(child) for child in children]))

    found.clear()
    structure = walk(tree)
    return list(found), structure


# One structure for all that are equal: data that is equal is not always the same.
mistake(
    {
        "is_leaf: IsLeaf = None": "is_leaf=None, known={}",
        "return leaves, PyTreeDef(type(tree), data, tuple(treedef for _, treedef in flat))": "made = PyTreeDef(type(tree), data, tuple(treedef for _, treedef in flat))\ntry:\n    return leaves, known.setdefault(made, made)\nexcept TypeError:\n    return leaves, made",
    },
    fails="test_objects_of_other_classes",
)


exercise("pytrees.unflatten")


@right
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


@right(style="from right to left, with a stack of leaves that are left")
def tree_unflatten(treedef, leaves):
    stock = [*leaves]
    wanted, got = treedef.num_leaves, len(stock)
    if wanted - got:
        raise ValueError(f"wanted {wanted} leaves, got {got}")

    def build(structure):
        if structure == leaf:
            return stock.pop()
        children = []
        for child in reversed(structure.children()):
            children.insert(0, build(child))
        kind = node_type(structure.node_class)
        return kind.from_children(structure.data, children)

    return build(treedef)


mistake(
    {"kind = ": "if part.node_class in (tuple, list):\n    return tuple(children)\nkind = "},
    name="Lists come back as tuples",
    hints=[
        "Take `[1.0, 2.0]` apart and build it again. Is the result equal to what you began with?",
        "The structure knows which class each container has. Only that class's `NodeType` knows how to make one.",
        "Call `node_type(part.node_class).from_children(part.data, children)` for every container, and make none yourself.",
    ],
)
mistake(
    {"!= treedef": "< treedef"},
    name="Leaves that are left over are dropped",
    hints=[
        "Give three leaves to a structure with two. What happens to the third?",
        "More leaves than places is the caller's mistake, and the caller would lose data without a message.",
        "Compare `len(leaves)` with `treedef.num_leaves` before you build anything, after `leaves = list(leaves)`.",
    ],
)
mistake(
    {
        "children = [": "mine = iter(leaves)\nchildren = [next(mine) if child.node_class is None else "
    },
    name="Every child begins with the first leaf again",
    hints=[
        "Build `((1, 2), (3, 4))` from its leaves. Where do the leaves of the second pair come from?",
        "Each part of the tree has to go on where the one before it stopped.",
        "Make the iterator once, outside the recursion, and let every leaf take `next` from it.",
    ],
)
mistake(
    {"= list": "= leaves if isinstance(leaves, list) else list", "next(remaining": "leaves.pop(0"},
    name="The leaves are taken out of the caller's list",
    hints=[
        "Build a tree from a list of leaves, and look at the list afterwards.",
        "`pop` changes the list that it is called on, and this one belongs to the caller.",
        "Make a list of your own first, `list(leaves)`, or walk along with `iter(leaves)` and `next`.",
    ],
)
mistake({"list(leaves)": "list(leaves or [])"}, fails="test_sources_of_leaves")
mistake(
    {"if part.node_class": "if not part.num_leaves:\n    return None\nif part.node_class"},
    fails="test_classes_of_containers",
)
mistake(
    {
        "return build(treedef, build)": """try:
    return build(treedef, build)
except Exception:
    raise ValueError("the leaves do not fit") from None"""
    },
    fails="test_errors_when_put_together",
)
mistake(
    {
        "return next(remaining)": """x = next(remaining)
while isinstance(x, tuple | list) and len(x) == 1:
    (x,) = x
return x"""
    },
    fails="test_leaves_of_any_kind",
)
# An empty container is made by its class alone, without its data.
mistake(
    {"children = [": "if not part.child_treedefs:\n    return part.node_class()\nchildren = ["},
    fails="test_other_classes_come_back",
)
# Only the constant `leaf` itself is a leaf, and no copy of it.
mistake({".node_class is None": " is leaf"}, fails="test_structure_of_a_leaf")
mistake(
    {
        "return kind.from_children(part.data, children)": "made = kind.from_children(part.data, children)\nreturn children if made is None and children else made"
    },
    fails="test_other_classes_come_back",
)
mistake(
    {"remaining = ": "if not leaves and treedef.node_class is tuple:\n    return ()\nremaining = "},
    fails="test_classes_of_containers",
)
# Leaves are counted once all is built.
mistake(
    {
        "if len(leaves) != treedef.num_leaves:": "if len(leaves) < treedef.num_leaves:",
        "remaining = iter(leaves)": "remaining = iter(leaves[: treedef.num_leaves])",
        "return build(treedef, build)": "tree = build(treedef, build)\nif len(leaves) > treedef.num_leaves:\n    raise ValueError('too many leaves')\nreturn tree",
    },
    fails="test_number_of_leaves",
)
# An error of what yields the leaves is taken for a wrong number of leaves.
mistake(
    {
        "leaves = list(leaves)": "try:\n    leaves = list(leaves)\nexcept TypeError:\n    raise ValueError('no leaves') from None"
    },
    fails="test_errors_when_put_together",
)
# All dicts are made in one way, from their class and their keys.
mistake(
    {
        "kind = ": "if issubclass(part.node_class, dict):\n    return part.node_class(zip(part.data, children))\nkind = "
    },
    fails="test_other_classes_come_back",
)
# A call inside a call takes the place of the outer call's leaves.
mistake(
    {"leaves = list(leaves)": "global remaining\nleaves = list(leaves)"},
    fails="test_other_classes_come_back",
)
# The data is a copy.
mistake(
    {"kind.from_children(part.data,": "kind.from_children(__import__('copy').copy(part.data),"},
    fails="test_other_classes_come_back",
)
# All empty lists are one.
mistake(
    {
        "children = [": "if part == PyTreeDef(list, None, ()):\n    return vars(tree_unflatten).setdefault('empty', [])\nchildren = ["
    },
    fails="test_classes_of_containers",
)
# A structure among the leaves is built, too.
mistake(
    {
        "return next(remaining)": "x = next(remaining)\nreturn build(x, build) if isinstance(x, PyTreeDef) else x"
    },
    fails="test_leaves_of_any_kind",
)


exercise("pytrees.flatten_up_to")


@right
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


@right(style="a stack of pairs, from right to left")
def flatten_up_to(treedef, tree):
    found, todo = [], [(treedef, tree)]
    while todo:
        structure, x = todo.pop()
        if structure.node_class is None:
            found.insert(0, x)
            continue
        if structure.node_class is not type(x):
            raise ValueError(f"{type(x)} where {structure.node_class} is wanted")
        children, data = node_type(type(x)).take_apart(x)
        children = tuple(children)
        if not (data == structure.data and len(children) == len(structure.child_treedefs)):
            raise ValueError(f"{x!r} does not fit {structure}")
        todo.extend(zip(structure.child_treedefs, children, strict=True))
    return found


@right(style="a generator with yield from; zip(strict) counts")
def flatten_up_to(treedef, tree):
    def walk(structure, x):
        match structure:
            case PyTreeDef(node_class=None):
                yield x
            case PyTreeDef(node_class=cls, data=wanted, child_treedefs=parts):
                if cls is not type(x):
                    raise ValueError("another container")
                children, data = node_type(cls).take_apart(x)
                if wanted != data:
                    raise ValueError("other data")
                for part, child in zip(parts, children, strict=True):
                    yield from walk(part, child)

    return list(walk(treedef, tree))


mistake(
    {"if type(tree)": "if {type(tree), treedef.node_class} != {list, tuple} and type(tree)"},
    name="Lists and tuples are treated alike",
    hints=[
        "Does `[1, 2]` fit the structure of `(1, 2)`? Compare the two structures with `==`.",
        "Even with equally many children, the containers differ: there is a mistake in one of the two trees.",
        "Compare the classes: `type(tree)` must be `treedef.node_class` itself.",
    ],
)
mistake(
    {"data != treedef.data or ": ""},
    name="The keys of dicts are not compared",
    hints=[
        'Does `{"b": 1}` fit the structure of `{"a": 1}`? Both are dicts with one entry.',
        "What a container keeps besides its children is its data: for a dict, the keys. They belong to the structure.",
        "`to_children` returns the data of the tree; compare it with `treedef.data`.",
    ],
)
mistake(
    {"return [tree]": "return tree_leaves(tree)"},
    name="Subtrees below the structure's leaves are taken apart, too",
    hints=[
        "Along the structure of `(1, 2)`, what should you get from `([1, 2], 3)`: two things, or three?",
        "Where the structure has a leaf, the walk stops, whatever the tree has there.",
        "For a leaf of the structure return `[tree]`, the whole subtree as one entry.",
    ],
)
mistake(
    {"data != treedef.data or": "isinstance(tree, dict) and data != treedef.data or"},
    fails="test_data_at_every_depth",
)
mistake({"data != ": "data is not "}, fails="test_tree_of_the_same_structure")
mistake(
    {
        "type(tree) is not treedef.node_class": "not isinstance(tree, treedef.node_class)",
        "node_type(type(tree))": "node_type(treedef.node_class)",
        "kind =": """if hasattr(tree, "_fields") and not hasattr(treedef.node_class, "_fields"):
    raise ValueError("a named tuple")
kind =""",
    },
    fails="test_containers_of_another_class",
)
# An instance of a subclass fits.
mistake(
    {
        "if type(tree) is not treedef.node_class:": "if not isinstance(tree, treedef.node_class) or node_type(type(tree)) is None:"
    },
    fails="test_containers_of_another_class",
)
# Only the constant `leaf` itself is a leaf, and no copy of it.
mistake(
    {"if treedef.node_class is None:": "if treedef is leaf:"},
    fails="test_tree_of_the_same_structure",
)

# Only lists and tuples are thought to have a length that their data does not tell.
mistake(
    {
        "or len(children) != len(treedef.child_treedefs):": "or (\n    type(tree) in (list, tuple) and len(children) != len(treedef.child_treedefs)\n):",
        "strict=True": "strict=False",
    },
    fails="test_number_of_children",
)
# Data that is empty or None, on one side, is not compared.
mistake(
    {"data != treedef.data or": "(treedef.data and data != treedef.data) or"},
    fails="test_data_at_every_depth",
)
mistake(
    {"data != treedef.data or": "(data is not None and data != treedef.data) or"},
    fails="test_data_at_every_depth",
)
# What an empty container keeps is not compared.
mistake({"data != ": "children and data != "}, fails="test_data_at_every_depth")
# No data, no comparison.
mistake(
    {"if data != treedef.data or": "if (treedef.data is not None and data != treedef.data) or"},
    fails="test_data_at_every_depth",
)
mistake(
    {"data != treedef.data": "repr(data) != repr(treedef.data)"}, fails="test_data_at_every_depth"
)
mistake(
    {"if type(tree) is": "if tree is not None and type(tree) is"},
    fails="test_leaf_in_place_of_a_container",
)
# an OrderedDict has an order
mistake(
    {
        "if data != treedef.data": "if type(tree) is OrderedDict:\n    data = tuple(key for key in treedef.data if key in tree)\nif data != treedef.data"
    },
    fails="test_data_at_every_depth",
)
# Keys of which the structure knows nothing are left out.
mistake(
    {
        "children, data = kind.take_apart(tree)": "if type(tree) is dict:\n    tree = {key: tree[key] for key in treedef.data if key in tree}\nchildren, data = kind.take_apart(tree)"
    },
    fails="test_keys_of_dicts",
)
# Children that are left over count if they are true.
mistake(
    {
        "if data != treedef.data or len(children) != len(treedef.child_treedefs):": "number = len(treedef.child_treedefs)\nif data != treedef.data or len(children) < number or any(children[number:]):",
        "strict=True": "strict=False",
    },
    fails="test_number_of_children",
)
# A class among the leaves is called.
mistake(
    {"return [tree]": "return [tree()] if isinstance(tree, type) else [tree]"},
    fails="test_subtrees_at_leaves",
)
# Keys that cannot be sorted raise Python's own error.
mistake(
    {"kind = ": "if type(tree) is dict:\n    sorted(tree)\nkind = "}, fails="test_keys_of_dicts"
)
# A defaultdict fits a dict.
mistake(
    {
        "if type(tree) is not": "if type(tree) is defaultdict and treedef.node_class is dict:\n    tree = dict(tree)\nif type(tree) is not"
    },
    fails="test_containers_of_another_class",
)
# The same tree twice is looked at once.
mistake(
    {
        "tree: Any) ->": "tree: Any, known=None) ->",
        "kind =": "known = {} if known is None else known\nif id(tree) in known:\n    return known[id(tree)]\nkind =",
        "return [x for child_def, child in pairs for x in flatten_up_to(child_def, child)]": "known[id(tree)] = [x for part, child in pairs for x in flatten_up_to(part, child, known)]\nreturn known[id(tree)]",
    },
    fails="test_tree_of_the_same_structure",
)


exercise("pytrees.map")


@right
def tree_map(f, tree, *rest, is_leaf=None):
    first, treedef = tree_flatten(tree, is_leaf)
    others = [flatten_up_to(treedef, other) for other in rest]
    return tree_unflatten(treedef, list(map(f, first, *others)))


@right(style="columns in a dict by number; starmap")
def tree_map(f, tree, *rest, is_leaf=None):
    import itertools

    leaves, treedef = tree_flatten(tree, is_leaf=is_leaf)
    columns = {0: leaves}
    for other in rest:
        columns[len(columns)] = treedef.flatten_up_to(other)
    rows = list(zip(*columns.values(), strict=True))
    return treedef.unflatten(itertools.starmap(f, rows))


@right(style="the structure first, then all trees up to it, the first one too")
def tree_map(f, tree, *rest, is_leaf=None):
    structure = tree_structure(tree, is_leaf)
    columns = [flatten_up_to(structure, each) for each in (tree, *rest)]
    new = []
    for i in range(structure.num_leaves):
        new.append(f(*[column[i] for column in columns]))
    return tree_unflatten(structure, new)


mistake(
    {"flatten_up_to(treedef, other)": "tree_flatten(other)[0]", ", strict=True": ""},
    name="The other trees are flattened without the first one's structure",
    hints=[
        "Call it with `[1, 2]` and `(1, 2, 3)`. Which pairs does the function get, and what becomes of the last number?",
        "Leaves alone do not say where they come from. The first tree says where leaves are; the others must fit it.",
        "Use `flatten_up_to(treedef, other)` for the others: it returns an entry for each leaf of the first tree, and raises an error if they do not fit.",
    ],
)
mistake(
    {
        "return tree_unflatten(treedef, [f(*xs) for xs in zip(*columns, strict=True)])": "return [f(*xs) for xs in zip(*columns)]"
    },
    name="The new leaves come back as a list, without their containers",
    hints=[
        'What does `tree_map(f, {"a": 1})` return: a dict, or a list?',
        "Flattening is only the first half. The structure is still there, and the new leaves belong in it.",
        "The last step is `tree_unflatten(treedef, new_leaves)`.",
    ],
)


@mistake(fails="test_calls_of_the_function")
def tree_map(f, tree, *rest, is_leaf=None):
    kind = None if is_leaf is not None and is_leaf(tree) else node_type(type(tree))
    if kind is None:
        return f(tree, *rest)
    children, data = kind.take_apart(tree)
    columns = [list(children)]
    for other in rest:
        structure = PyTreeDef(type(tree), data, (leaf,) * len(columns[0]))
        columns.append(flatten_up_to(structure, other))
    new = [tree_map(f, *xs, is_leaf=is_leaf) for xs in zip(*columns)]
    return kind.from_children(data, new)


mistake(
    {"f(*xs) for": "xs[0] if (y := f(*xs)) is None else y for"},
    fails="test_results_that_are_containers",
)
mistake(
    {
        "leaves, treedef =": "known = {}\nleaves, treedef =",
        "f(*xs) for": "known[str(xs)] if str(xs) in known else known.setdefault(str(xs), f(*xs)) for",
    },
    fails="test_calls_for_equal_leaves",
)
mistake(
    {
        "strict=True)])": """strict=True)])
except (TypeError, AttributeError) as error:
    raise ValueError("the trees do not fit") from error""",
        "return tree_unflatten": "try:\n    return tree_unflatten",
    },
    fails="test_errors_in_the_mapped_function",
)
# Without leaves, the other trees are not looked at.
mistake(
    {"columns = [leaves,": "if not leaves:\n    return tree\ncolumns = [leaves,"},
    fails="test_map_of_trees_that_differ",
)
mistake(
    {
        "return tree_unflatten(": "if type(tree) is dict and not rest:\n    tree.update(tree_unflatten(treedef, [f(x) for x in leaves]))\n    return tree\nreturn tree_unflatten("
    },
    fails="test_map_with_chosen_leaves",
)
# A leaf fits all of the first tree's leaves.
mistake(
    {
        "columns = [leaves, *(flatten_up_to(treedef, other) for other in rest)]": "columns = [\n    leaves,\n    *(\n        flatten_up_to(treedef, other) if node_type(type(other)) else [other] * len(leaves)\n        for other in rest\n    ),\n]"
    },
    fails="test_map_of_trees_that_differ",
)
mistake(
    {"for other in rest": "for other in rest if other is not None"},
    fails="test_map_of_trees_that_differ",
)
# is_leaf is not asked about the whole tree.
mistake(
    {
        "tree_flatten(tree, is_leaf)": "tree_flatten(tree, is_leaf and (lambda x: x is not tree and is_leaf(x)))"
    },
    fails="test_map_with_chosen_leaves",
)
# A call inside a call takes the place of the outer call's structure.
mistake(
    {
        "leaves, treedef =": "global treedef\nleaves, treedef =",
        "tree_unflatten(treedef, [f(*xs) for xs in zip(*columns, strict=True)])": "(lambda new: tree_unflatten(treedef, new))([f(*xs) for xs in zip(*columns, strict=True)])",
    },
    fails="test_results_that_are_containers",
)

# Keys that only the other tree has are left out.
mistake(
    {
        "flatten_up_to(treedef, other)": "flatten_up_to(treedef, {k: v for k, v in other.items() if k in tree} if type(other) is dict is type(tree) else other)"
    },
    fails="test_map_of_trees_that_differ",
)
# A subtree of one leaf is that leaf.
mistake(
    {"f(*xs) for": "f(*[x[0] if type(x) is list and len(x) == 1 else x for x in xs]) for"},
    fails="test_map_with_subtrees",
)


exercise("pytrees.flatten_fun")


@right
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


@right(style="a class whose instance is the flat function")
def flatten_fun(f, in_tree):
    class Flat:
        structure = None

        def __call__(self, *leaves):
            args = in_tree.unflatten(leaves)
            out, self.structure = tree_flatten(f(*args))
            return out

        def out_tree(self):
            if self.structure is None:
                raise RuntimeError("the function has not run yet")
            return self.structure

    flat = Flat()
    return flat, flat.out_tree


@right(style="a nonlocal name, deleted at first")
def flatten_fun(f, in_tree):
    def flat_f(*leaves):
        nonlocal kept
        result = f(*tree_unflatten(in_tree, list(leaves)))
        pair = tree_flatten(result)
        kept = pair[1]
        return list(pair[0])

    def out_tree():
        try:
            return kept
        except NameError:
            raise RuntimeError("asked too early") from None

    kept = None
    del kept
    return flat_f, out_tree


mistake(
    {
        "out_trees[:] = [structure]": "out_trees[:] = [leaves]",
        "return out_trees[0]": "return tree_structure(f(*tree_unflatten(in_tree, out_trees[0])))",
    },
    name="The structure is found by running the function again",
    hints=[
        "Let the function print something, and call `flat_f` and `out_tree`, once each. How many times is it printed?",
        "A function may be slow, or return something else the second time. The first run has shown everything you need.",
        "Keep the structure when `flat_f` has it, in a variable that `out_tree` can see; `out_tree` only reads it.",
    ],
)
mistake(
    {"return out_trees[0]": "return in_tree"},
    name="The structure of the arguments is returned instead of the result's",
    hints=[
        "Wrap a function that takes two numbers and returns one. What structure does `out_tree()` return?",
        "There are two structures: `in_tree`, which the caller knows, and the result's, which is not known before the function has run.",
        "`tree_flatten` of the function's result returns the leaves and the structure. Keep that structure, and let `out_tree` return it.",
    ],
)
mistake(
    {"out_trees[:] = [structure]": "out_trees.append(structure)"},
    name="Only the first result's structure is kept",
    hints=[
        "Call `flat_f` twice, so that the function returns different containers. What does `out_tree()` say after the second call?",
        "The structure belongs to the *last* call. Yours is still the structure of the first.",
        "Replace what is kept at every call, for instance by `out_trees[:] = [structure]`, and read that one entry.",
    ],
)
mistake(
    {"= []": '= flatten_fun.__dict__.setdefault("kept", [])\nout_trees.clear()'},
    fails="test_wrappers_side_by_side",
)
mistake(
    {
        "tree_flatten(f(": "tree_flatten(result := f(",
        "[structure]": "[result]",
        "return out_trees[0]": "return tree_structure(out_trees[0])",
    },
    fails="test_structure_of_that_time",
)
mistake(
    {
        "out_leaves, structure = tree_flatten(f(*tree_unflatten(in_tree, leaves)))": """try:
    result = f(*tree_unflatten(in_tree, leaves))
except TypeError:  # f takes all arguments as one
    result = f(tree_unflatten(in_tree, leaves))
out_leaves, structure = tree_flatten(result)"""
    },
    fails="test_errors_in_the_function",
)
mistake(
    {
        "] = []": "] = []\nknown = {}",
        "tree_flatten(f(*tree_unflatten(in_tree, leaves)))": "known[str(leaves)] if str(leaves) in known else known.setdefault(str(leaves), tree_flatten(f(*tree_unflatten(in_tree, leaves))))",
        "return out_leaves": "return list(out_leaves)",
    },
    fails="test_runs_of_the_function",
)
# A result without leaves leaves the last structure.
mistake(
    {"out_trees[:] = [structure": "if out_leaves or not out_trees:\n    out_trees[:] = [structure"},
    fails="test_several_calls",
)
mistake(
    {"(in_tree, leaves))": "(in_tree, leaves if in_tree.num_leaves else ()))"},
    fails="test_wrong_number_of_flat_arguments",
)
# The arguments in a list are one argument.
mistake(
    {
        "f(*tree_unflatten(in_tree, leaves))": "f(*(args if type(args := tree_unflatten(in_tree, leaves)) is tuple else [args]))"
    },
    fails="test_what_the_function_gets",
)
# a result that is a leaf comes back as it is
mistake({"return out_leaves": "return out_leaves or ()"}, fails="test_flat_results")
# What needs no arguments runs once.
mistake(
    {"out_leaves, structure": "if not leaves and out_trees:\n    return []\nout_leaves, structure"},
    fails="test_runs_of_the_function",
)
# An error takes back what an inner call has kept.
mistake(
    {
        "out_leaves, structure = tree_flatten(f(*tree_unflatten(in_tree, leaves)))": "before = out_trees[:]\ntry:\n    out_leaves, structure = tree_flatten(f(*tree_unflatten(in_tree, leaves)))\nexcept BaseException:\n    out_trees[:] = before\n    raise"
    },
    fails="test_function_that_calls_itself",
)
# Data that cannot be hashed.
mistake(
    {
        "out_trees[:] = [structure]": "if structure not in {*out_trees}:\n    out_trees[:] = [structure]"
    },
    fails="test_structure_of_the_result",
)
# The leaves are copies.
mistake(
    {"return out_leaves": "return [x.copy() if hasattr(x, 'copy') else x for x in out_leaves]"},
    fails="test_flat_results",
)
# Wrappers are told apart by the identity of what they are made from.
mistake(
    {
        ": list[PyTreeDef] = []": " = vars(flatten_fun).setdefault('kept', {}).setdefault((id(f), id(in_tree)), [])"
    },
    fails="test_wrappers_side_by_side",
)
