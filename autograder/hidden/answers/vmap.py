"""Answers to the exercises of the `vmap` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("vmap.move_batch_axis")


@right
def move_batch_axis(axis_size, src, dst, x):
    shape = list(get_aval(x).shape)
    if src is not_mapped:
        axes = [i + (i >= dst) for i in range(len(shape))]
        shape.insert(dst, axis_size)
        return broadcast_in_dim(x, shape, axes)
    order = np.insert(np.delete(np.arange(len(shape)), src), dst, src)
    return transpose(x, order.tolist())


@right(style="slices around the place")
def move_batch_axis(axis_size, src, dst, x):
    shape = get_aval(x).shape
    if src is not_mapped:
        wanted = (*shape[:dst], axis_size, *shape[dst:])
        return broadcast_in_dim(x, wanted, [*range(dst), *range(dst + 1, len(wanted))])
    others = [*range(src), *range(src + 1, len(shape))]
    return transpose(x, (*others[:dst], src, *others[dst:]))


@right(style="an iterator of the other axes fills the places")
def move_batch_axis(axis_size, src, dst, x):
    rank = len(get_aval(x).shape)
    if isinstance(src, int):
        others = iter(sorted(set(range(rank)) - {src}))
        return transpose(x, tuple(src if i == dst else next(others) for i in range(rank)))
    sizes = iter(get_aval(x).shape)
    shape = [axis_size if i == dst else next(sizes) for i in range(rank + 1)]
    return broadcast_in_dim(x, shape, [i for i in range(rank + 1) if i != dst])


mistake(
    {
        "order = [i for i in range(len(shape)) if i != src]": "order = list(range(len(shape)))",
        "order.insert(dst, src)": "order[src], order[dst] = order[dst], order[src]",
    },
    name="Two axes are swapped instead of moving one",
    hints=[
        "Take a batch of shape (2, 3, 4) with its batch axis last, and bring that to the front. What shape do you get, and what is the shape of one example?",
        "The other axes belong to the examples. They must be in the same order as before; if two axes swap places, the examples are transposed.",
        "Take all axes but `src`, in their order, and put `src` in at `dst`: `order = [i for i in range(rank) if i != src]`, `order.insert(dst, src)`.",
    ],
)
mistake(
    {
        "batched = (*shape[:dst], axis_size, *shape[dst:])": "return broadcast_in_dim(x, (axis_size, *shape), range(1, 1 + len(shape)))",
        "return broadcast_in_dim(x, batched, [i for i in range(len(batched)) if i != dst])": "",
    },
    name="The new axis of an unmapped value always comes first",
    hints=[
        "What does your function return for `move_batch_axis(4, not_mapped, 1, np.ones((2, 3)))`? Look at its shape.",
        "The caller relies on finding the batch axis at `dst`, for a value that was mapped and for one that was not.",
        "Put `axis_size` in the shape at `dst`: `(*shape[:dst], axis_size, *shape[dst:])`; the axes of `x` become all axes but `dst`.",
    ],
)
mistake({" != dst": " != (dst and len(shape))"}, fails="test_move_is_apart")
mistake(
    {
        "batched = (": """if shape[dst : dst + 1] == (axis_size,):  # it is there already
    return x
batched = ("""
    },
    fails="test_repeats_what_is_not_mapped",
)
mistake(
    {"shape = get": "x = x if isinstance(x, Tracer) else np.asarray(x)\nshape = get"},
    fails="test_move_weak_type",
)
mistake(
    {"order = [": "if type(x) is np.ndarray:\n    return np.moveaxis(x, src, dst)\norder = ["},
    fails="test_move_is_apart",
)
mistake({"dst, src": "dst and len(shape), src"}, fails="test_to_any_place")
# A value is repeated along a leading axis, which moves afterwards.
mistake(
    {
        "batched = (*shape[:dst], axis_size, *shape[dst:])": "batched = (axis_size, *shape)",
        "return broadcast_in_dim(x, batched, [i for i in range(len(batched)) if i != dst])": "return move_batch_axis(axis_size, 0, dst, broadcast_in_dim(x, batched, range(1, len(batched))))",
    },
    fails="test_work_of_a_move",
)
# Weak arrays, unlike numbers, lose their weak type.
mistake(
    {
        "shape = get_aval(x).shape": "aval = get_aval(x)\nshape = aval.shape\nif aval.weak_type and shape:\n    x = convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=False)"
    },
    fails="test_move_weak_type",
)
mistake(
    {"(x, order)": "(x, order) if dst else transpose_p.bind(x, permutation=tuple(order))"},
    fails="test_work_of_a_move",
)
mistake(
    {
        "shape = get_aval(x).shape": "shape = get_aval(x).shape\nif axis_size == 1 and src is not_mapped and not shape:\n    return np.array([x])"
    },
    fails="test_work_of_a_move",
)
# An array of one entry stretches along the axis that it has.
mistake(
    {
        "if isinstance(src, NotMapped):": "if isinstance(src, NotMapped) and shape == (1,) and dst == 0:\n    return broadcast_in_dim(x, (axis_size,), (0,))\nif isinstance(src, NotMapped):"
    },
    fails="test_move_equal_sizes",
)
# An array of one number becomes a Python number, which gives way to others.
mistake(
    {
        "shape = get_aval(x).shape": "if isinstance(x, np.ndarray) and not x.shape:\n    x = x.item()\nshape = get_aval(x).shape"
    },
    fails="test_move_weak_type",
)
# Python's whole numbers do not give way any longer.
mistake(
    {"shape = get": "x = np.asarray(x) if type(x) is int else x\nshape = get"},
    fails="test_move_weak_type",
)
# Axes of one entry are taken for each other, whatever is between them.
mistake(
    {"order = [": "if shape[src] == shape[dst] == 1:\n    return x\norder = ["},
    fails="test_move_equal_sizes",
)


exercise("vmap.align_operand")


@right
def align_operand(axis_size, dim, x, rank):
    example = [n for i, n in enumerate(get_aval(x).shape) if i != dim]
    if isinstance(dim, NotMapped) and len(example) == 0:
        return x
    x = move_batch_axis(axis_size, dim, 0, x)
    if len(example) == rank:
        return x
    shape = (axis_size, *([1] * (rank - len(example))), *example)
    return broadcast_in_dim(x, shape, (0, *range(len(shape) - len(example), len(shape))))


@right(style="the new axes first, where they are, and then the move")
def align_operand(axis_size, dim, x, rank):
    shape = get_aval(x).shape
    if dim is not_mapped and shape == ():
        return x
    missing = rank - len(remove_axis(get_aval(x), dim).shape)
    if missing:
        axes = [i + missing for i in range(len(shape))]
        x = broadcast_in_dim(x, (1,) * missing + shape, axes)
        dim = dim if dim is not_mapped else dim + missing
    return move_batch_axis(axis_size, dim, 0, x)


@right(style="shape and places computed from the end")
def align_operand(axis_size, dim, x, rank):
    if not isinstance(dim, int) and not get_aval(x).shape:
        return x
    x = move_batch_axis(axis_size, dim, 0, x)
    size, *rest = get_aval(x).shape
    if len(rest) == rank:
        return x
    shape = [size] + [1] * (rank - len(rest)) + rest
    return broadcast_in_dim(x, shape, [0, *sorted(rank - i for i in range(len(rest)))])


mistake(
    {
        "axes = [0, *range(1 + missing, 1 + rank)]": "return broadcast_in_dim(x, (*shape, *(1,) * missing), range(len(shape)))",
        "return broadcast_in_dim(x, (axis_size, *(1,) * missing, *shape[1:]), axes)": "",
    },
    name="Missing axes are put at the end",
    hints=[
        "You add a batch of 3 numbers to a batch of 3 vectors of length 5. What shape must the numbers have to fit the shape (3, 5)? And a batch of vectors of length 5, to fit a batch of matrices of shape (4, 5)?",
        "One example of shape (5,) fits an example of shape (4, 5) at the right end, as in NumPy. The axes of an example stay last.",
        "New axes come directly after the batch axis: the shape is `(axis_size, *(1,) * missing, *shape[1:])`, and the axes of `x` become `[0, *range(1 + missing, 1 + rank)]`.",
    ],
)
mistake(
    {
        "axes = [0, *range(1 + missing, 1 + rank)]": "return broadcast_in_dim(x, (*(1,) * missing, *shape), range(missing, 1 + rank))",
        "return broadcast_in_dim(x, (axis_size, *(1,) * missing, *shape[1:]), axes)": "",
    },
    name="The batch axis ends up between the axes of the examples",
    hints=[
        "NumPy puts missing axes before all others. What happens to the batch axis when a batch of 3 numbers, of shape (3,), meets a batch of 3 vectors, of shape (3, 5)?",
        "The batch axes of both operands must be the same axis of the result, and both operands have theirs first. So nothing may be put before it.",
        "New axes come after the batch axis: the shape is `(axis_size, *(1,) * missing, *shape[1:])`, and axis 0 of `x` stays axis 0.",
    ],
)
mistake(
    {
        "x = move": """if dim is not_mapped:
    return move_batch_axis(axis_size, dim, 0, x)
x = move"""
    },
    fails="test_operands_that_are_not_mapped",
)
mistake(
    {
        "if dim is": """if not (get_aval(x).shape or isinstance(x, Tracer)):
    x = np.asarray(x)
if dim is"""
    },
    fails="test_aligning_weak_type",
)
mistake(
    {"x = move": "if dim is not_mapped or get_aval(x).shape[0] != axis_size:\n    x = move"},
    fails="test_aligning_equal_sizes",
)
# An array of one entry is taken for a number.
mistake(
    {"not_mapped and not get_aval(x).shape:": "not_mapped and math.prod(get_aval(x).shape) == 1:"},
    fails="test_operands_that_are_not_mapped",
)
mistake(
    {" get_aval(x).shape:": " get_aval(x).shape:\n    x = float(x) if isinstance(x, int) else x"},
    fails="test_operands_that_are_not_mapped",
)
# One axis at most is put in.
mistake(
    {"missing = 1 + rank - len(shape)": "missing = min(1, 1 + rank - len(shape))"},
    fails="test_missing_axes",
)
mistake(
    {
        "if not missing:": "if not rank:\n    return broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=(0,))\nif not missing:"
    },
    fails="test_work_of_aligning",
)
# one axis after another
mistake(
    {
        "x = move_batch_axis(axis_size, dim, 0, x)": "while dim is not not_mapped and dim > 1:\n    x, dim = move_batch_axis(axis_size, dim, dim - 1, x), dim - 1\nx = move_batch_axis(axis_size, dim, 0, x)"
    },
    fails="test_work_of_aligning",
)
mistake(
    {
        " get_aval(x).shape:": " get_aval(x).shape:\n    x = x.item() if isinstance(x, np.ndarray) else x"
    },
    fails="test_aligning_weak_type",
)
# An operand that gets axes loses its weak type.
mistake(
    {"axes = [0": "x = x if isinstance(x, Tracer) else np.asarray(x)\naxes = [0"},
    fails="test_aligning_weak_type",
)


exercise("vmap.reduce_sum_rule")


@right
def reduce_sum_batch(axis_size, vals, dims, *, axes):
    [x], [dim] = vals, dims
    in_front = [axis for axis in axes if axis < dim]
    moved = tuple(axis if axis < dim else axis + 1 for axis in axes)
    return reduce_sum_p.bind(x, axes=moved), dim - len(in_front)


@right
def reduce_sum_batch(axis_size, vals, dims, *, axes):
    x, dim = vals[0], dims[0]
    rank = len(get_aval(x).shape)
    others = [i for i in range(rank) if i != dim]
    summed = tuple(others[axis] for axis in axes)
    left = [i for i in range(rank) if i not in summed]
    return reduce_sum_p.bind(x, axes=summed), left.index(dim)


@right(style="a loop that translates and counts at once")
def reduce_sum_batch(axis_size, vals, dims, *, axes):
    dim = new_dim = dims[0]
    moved = []
    for axis in axes:
        if axis < dim:
            new_dim -= 1
            moved.append(axis)
        else:
            moved.append(axis + 1)
    total = reduce_sum_p.bind(vals[0], axes=tuple(moved))
    return total, new_dim


mistake(
    {"axes_behind(dim, axes)": "axes"},
    name="The axes of one example are treated as axes of the batch",
    hints=[
        "A batch has the shape (2, 3), and its batch axis is the first one. You sum each example along its axis 0. Which axis of the batch is that?",
        "Your sum runs over the batch axis itself: it mixes examples. The function inside does not know about the batch axis and counts without it.",
        "Translate the axes first: `axes_behind(dim, axes)`.",
    ],
)
mistake(
    {" - sum(axis < dim for axis in axes_out)": ""},
    name="The batch axis of the sums is where it was in the batch",
    hints=[
        "A batch has the shape (2, 3), and its batch axis is the last one. The sums have the shape (3,). Which axis of them is the batch axis?",
        "Summed axes disappear. All later axes get a lower number, and so does the batch axis.",
        "Subtract one for each summed axis before it: `dim - sum(axis < dim for axis in axes_out)`.",
    ],
)
mistake({" axes)": " axes or range(x.ndim - 1))"}, fails="test_all_axes_or_none")
mistake({"reduce_sum(x, ": "x.sum("}, fails="test_sum_keeps_the_dtype")
mistake(
    {
        "return reduce": "under = [axis < dim for axis in axes_out]\nreturn reduce",
        "sum(axis < dim for axis in axes_out)": "(sum(under) if all(under) else any(under))",
    },
    fails="test_batch_axis_anywhere",
)
mistake(
    {
        "return reduce_sum(x, axes_out)": "return (out := reduce_sum(x, axes_out))",
        "dim - sum(axis < dim for axis in axes_out)": "get_aval(out).shape.index(axis_size)",
    },
    fails="test_axes_of_one_size",
)
# one sum after another
mistake(
    {
        "return reduce_sum(x, axes_out),": "for axis in sorted(axes_out[2:], reverse=True):\n    x = reduce_sum(x, (axis,))\n    axes_out = tuple(i - (i > axis) for i in axes_out if i != axis)\n    dim -= axis < dim\nreturn reduce_sum(x, axes_out),"
    },
    fails="test_work_of_a_sum",
)
mistake(
    {
        "return reduce_sum(x, axes_out),": "x = convert_element_type_p.bind(x, new_dtype=get_aval(x).dtype, weak_type=False)\nreturn reduce_sum(x, axes_out),"
    },
    fails="test_sum_keeps_the_dtype",
)


exercise("vmap.dot_general_rule")


@right
def dot_general_batch(axis_size, vals, dims, *, dimension_numbers, preferred_element_type):
    x_dim, y_dim = dims
    (xc, yc), (xb, yb) = dimension_numbers
    xc, xb = axes_behind(x_dim, xc), axes_behind(x_dim, xb)
    yc, yb = axes_behind(y_dim, yc), axes_behind(y_dim, yb)
    if x_dim is not not_mapped and y_dim is not not_mapped:
        numbers = ((xc, yc), ((x_dim, *xb), (y_dim, *yb)))
        out_dim = 0
    else:
        numbers = ((xc, yc), (xb, yb))
        side = int(x_dim is not_mapped)
        out_dim = axis_in_product(vals, numbers, side, dims[side])
    x, y = vals
    return dot_general_p.bind(
        x, y, dimension_numbers=numbers, preferred_element_type=preferred_element_type
    ), out_dim


@right(style="one operand after the other; the place counted by hand")
def dot_general_batch(axis_size, vals, dims, *, dimension_numbers, preferred_element_type):
    contract, batch = dimension_numbers
    contract = tuple(axes_behind(dims[i], contract[i]) for i in (0, 1))
    batch = tuple(axes_behind(dims[i], batch[i]) for i in (0, 1))
    mapped = [i for i in (0, 1) if dims[i] is not not_mapped]
    if len(mapped) == 2:
        batch = ((dims[0], *batch[0]), (dims[1], *batch[1]))
        place = 0
    else:
        place = len(batch[0])
        for i in range(mapped[0] + 1):
            for axis in range(len(get_aval(vals[i]).shape)):
                if (i, axis) == (mapped[0], dims[i]):
                    break
                place += axis not in contract[i] and axis not in batch[i]
    product = dot_general_p.bind(
        *vals, dimension_numbers=(contract, batch), preferred_element_type=preferred_element_type
    )
    return product, place


@right(style="match on the two batch axes; a partial bind")
def dot_general_batch(axis_size, vals, dims, *, dimension_numbers, preferred_element_type):
    def inside(pair):
        return tuple(map(axes_behind, dims, pair))

    numbers = inside(dimension_numbers[0]), inside(dimension_numbers[1])
    match dims[0], dims[1]:
        case int(x_dim), int(y_dim):
            x_batch, y_batch = numbers[1]
            numbers, place = (numbers[0], ((x_dim,) + x_batch, (y_dim,) + y_batch)), 0
        case int(x_dim), _:
            place = axis_in_product(vals, numbers, 0, x_dim)
        case _, y_dim:
            place = axis_in_product(vals, numbers, 1, y_dim)
    kind = {"preferred_element_type": preferred_element_type}
    return dot_general_p.bind(vals[0], vals[1], dimension_numbers=numbers, **kind), place


mistake(
    {"axis_in_product(vals, (contract, batch), side, dims[side])": "0"},
    name="The batch axis of a product with one batch is said to come first",
    hints=[
        "One matrix of shape (2, 3) is multiplied by a batch of vectors, of shape (5, 3). What is the shape of the product, and which of its axes runs over the vectors?",
        "If only one operand is mapped, the product has no batch axis of its own: the axis is one of those that stay. Their order is: batch axes, then those of x, then those of y.",
        "`axis_in_product(vals, (contract, batch), side, dims[side])`, where `side` is 0 or 1, the operand that is mapped.",
    ],
)
mistake(
    {"side, dims[side])": "side, dims[side]) - side * len(batch[0])"},
    fails="test_products_with_batch_axes",
)
mistake({"*axes)": "*axes[:1])"}, fails="test_products_with_several_batch_axes")
mistake(
    {"if not_mapped": "contract = tuple(axes[:1] for axes in contract)\nif not_mapped"},
    fails="test_several_contracted_axes",
)
mistake(
    {
        "= vals, (contract, batch)": "= vals, [[*map(list, pair)] for pair in (contract, batch)]",
        "dot_general(x, y, numbers": "dot_general_p.bind(x, y, dimension_numbers=numbers",
    },
    fails="test_work_of_a_product",
)
# If both are mapped, the dtype that is asked for is lost.
mistake({"out_dim = 0": "out_dim, preferred_element_type = 0, None"}, fails="test_element_type")
# The product is computed in the dtype of the operands, and converted.
mistake(
    {
        "return dot_general(x, y": "if preferred_element_type is not None:\n    out = dot_general(x, y, numbers, preferred_element_type=None)\n    dtype = np.dtype(preferred_element_type)\n    return convert_element_type_p.bind(out, new_dtype=dtype, weak_type=False), out_dim\nreturn dot_general(x, y"
    },
    fails="test_work_of_a_product",
)
mistake(
    {
        "return dot_general(x, y, numbers,": "numbers = (contract, tuple(map(list, batch))) if len(batch[0]) > 1 else numbers\nreturn dot_general_p.bind(x, y, dimension_numbers=numbers,"
    },
    fails="test_work_of_a_product",
)
# The batch axis is said to be where it was in the operand.
mistake(
    {"axis_in_product(vals, (contract, batch), side, dims[side])": "dims[side]"},
    fails="test_one_mapped",
)
mistake(
    {"= vals, (": "= (x if isinstance(x, Tracer) else np.asarray(x) for x in vals), ("},
    fails="test_element_type",
)
# The dtype of the operands is not asked for.
mistake(
    {
        "return dot_general(x": "if preferred_element_type == get_aval(x).dtype:\n    preferred_element_type = None\nreturn dot_general(x"
    },
    fails="test_work_of_a_product",
)
# Both halves of a pair are sorted, and do not fit each other any longer.
mistake(
    {"tuple(axes_behind(dim, axes) for": "tuple(tuple(sorted(axes_behind(dim, axes))) for"},
    fails="test_several_contracted_axes",
)


exercise("vmap.jacobian")


@right
def jacobian_of_input(f, xs, i):
    shape = get_aval(xs[i]).shape

    def of_axes(n):
        if n == 0:
            return lambda t: jvp_flat(f, xs, [*[None] * i, t, *[None] * (len(xs) - i - 1)])
        return vmap(of_axes(n - 1), in_axes=n - 1, out_axes=(None, -1))

    return of_axes(len(shape))(basis(get_aval(xs[i])))


@right
def jacobian_of_input(f, xs, i):
    def directions(t):
        tangents = [None] * len(xs)
        tangents[i] = t
        return jvp_flat(f, xs, tangents)

    g = directions
    rank = len(get_aval(xs[i]).shape)
    for _ in range(rank):
        g = vmap(g, 0, (None, -1))
    eye = basis(get_aval(xs[i]))
    return g(transpose(eye, [*reversed(range(rank)), *range(rank, 2 * rank)]))


@right(style="all input axes in front first, then one transpose for each result")
def jacobian_of_input(f, xs, i):
    rank = len(get_aval(xs[i]).shape)

    def along(direction):
        return jvp_flat(f, xs, [direction if j == i else None for j in range(len(xs))])

    for _ in range(rank):
        along = vmap(along, 0, (None, 0))
    values, columns = along(basis(get_aval(xs[i])))
    jacobians = []
    for column in columns:
        axes = list(range(len(get_aval(column).shape)))
        jacobians.append(transpose(column, axes[rank:] + axes[:rank]))
    return values, jacobians


mistake(
    {
        "def push_forward(tangent: Tangent) -> tuple[list[Any], list[Any]]:": "def push_forward(tangent):",
        "for axis in range(len(get_aval(xs[i]).shape)):": "for axis in reversed(range(len(get_aval(xs[i]).shape))):",
        "push_forward = vmap(push_forward, in_axes=axis, out_axes=(None, -1))": "push_forward = vmap(push_forward, in_axes=0, out_axes=(None, 0))",
    },
    name="The axes of the input come first in the Jacobian",
    hints=[
        "A function goes from three numbers to two. Does its Jacobian have two rows, or three?",
        "Rows belong to the result, columns to the input. Each direction of the basis gives one column.",
        "`out_axes=(None, -1)`: the axis of the directions comes after those of the result.",
    ],
)
mistake({"=axis": "=min(axis, 1)"}, fails="test_jacobian_of_a_matrix")
mistake(
    {"(get_aval(xs[i]))": "(ShapedArray(get_aval(xs[i]).shape, get_aval(xs[i]).dtype))"},
    fails="test_jacobian_of_one_input_twice",
)
# A number moves by a Python float, whatever its dtype.
mistake(
    {"for axis in ": "if not get_aval(xs[i]).shape:\n    return push_forward(1.0)\nfor axis in "},
    fails="test_jacobian_keeps_the_dtype",
)
# The axes of a square are taken for each other.
mistake(
    {", in_axes=axis,": ", in_axes=axis if len(set(get_aval(xs[i]).shape)) > 1 else 0,"},
    fails="test_jacobian_of_a_matrix",
)
mistake(
    {
        "return push_forward(basis": "if not get_aval(xs[i]).shape:\n    return f(*xs), push_forward(basis(get_aval(xs[i])))[1]\nreturn push_forward(basis"
    },
    fails="test_jacobian_of_a_vector",
)
mistake(
    {
        "return push_forward(basis": "known = vars(f)\nif 'known' not in known:\n    f.known = push_forward(basis(get_aval(xs[i])))\nif known:\n    return f.known\nreturn push_forward(basis"
    },
    fails="test_jacobian_of_one_input_twice",
)
# integers have no row
mistake(
    {
        "return push_forward(basis(get_aval(xs[i])))": "values, jacobians = push_forward(basis(get_aval(xs[i])))\nreturn values, [j for j in jacobians if dtypes.is_float(get_aval(j).dtype)]"
    },
    fails="test_jacobian_of_constants",
)
# what moves outside is lost
mistake(
    {"return push_forward(": "xs = [getattr(x, 'primal', x) for x in xs]\nreturn push_forward("},
    fails="test_jacobian_of_one_input_twice",
)
# Whole numbers among the inputs become floats.
mistake(
    {
        "return push_forward(": "xs = [x * 1.0 if type(x) is int else x for x in xs]\nreturn push_forward("
    },
    fails="test_jacobian_of_one_input",
)
# A number moves by a one that is computed from it.
mistake(
    {
        "return push_forward(": "if not get_aval(xs[i]).shape:\n    return push_forward(xs[i] * 0 + 1)\nreturn push_forward("
    },
    fails="test_jacobian_of_one_input",
)
# The inputs are taken to be two.
mistake({"if j == i else": "if j == min(i, 1) else"}, fails="test_jacobian_of_one_input")
# Directions are made once for each shape, whatever the dtype is.
mistake(
    {
        "push_forward(basis(get_aval(xs[i])))": "push_forward(\n    vars(jacobian_of_input).setdefault(str(get_aval(xs[i]).shape), basis(get_aval(xs[i])))\n)"
    },
    fails="test_jacobian_keeps_the_dtype",
)
