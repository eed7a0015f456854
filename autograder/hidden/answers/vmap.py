"""Answers to the exercises of the lesson vmap: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("vmap.remove_axis")
def remove_axis(aval, axis):
    match axis:
        case NotMapped():
            return aval
    shape = list(aval.shape)
    del shape[axis]
    return ShapedArray(tuple(shape), aval.dtype, weak_type=aval.weak_type)


@right("vmap.remove_axis")
def remove_axis(aval, axis):
    if axis is not_mapped:
        return aval
    kept = (n for i, n in enumerate(aval.shape) if i != axis)
    return ShapedArray(tuple(kept), aval.dtype, aval.weak_type)


@mistake(
    "vmap.remove_axis",
    name="The first axis is removed, wherever the batch axis is",
    hints=[
        "A batch of three vectors of length 5 may have the shape (3, 5), or (5, 3). What is the shape of one vector in each case?",
        "Batches are often stacked along their first axis, but `in_axes` allows any, and rules move it about. `axis` says which one it is here.",
        "Leave out the entry number `axis` of the shape: `(*aval.shape[:axis], *aval.shape[axis + 1 :])`.",
    ],
)
def remove_axis(aval, axis):
    if isinstance(axis, NotMapped):
        return aval
    return ShapedArray(aval.shape[1:], aval.dtype, aval.weak_type)


@right("vmap.move_batch_axis")
def move_batch_axis(axis_size, src, dst, x):
    shape = list(get_aval(x).shape)
    if src is not_mapped:
        axes = [i + (i >= dst) for i in range(len(shape))]
        shape.insert(dst, axis_size)
        return broadcast_in_dim(x, shape, axes)
    order = np.insert(np.delete(np.arange(len(shape)), src), dst, src)
    return transpose(x, order.tolist())


@right("vmap.move_batch_axis")
def move_batch_axis(axis_size, src, dst, x):
    rank = len(get_aval(x).shape)
    if isinstance(src, NotMapped):
        shape = get_aval(x).shape
        axes = [*range(dst), *range(dst + 1, rank + 1)]
        return broadcast_in_dim(x, shape[:dst] + (axis_size,) + shape[dst:], axes)
    if src == dst:
        return x
    order = list(range(rank))
    order.insert(dst, order.pop(src))
    return transpose_p.bind(x, permutation=tuple(order))


@mistake(
    "vmap.move_batch_axis",
    name="Two axes are exchanged where one should be moved",
    hints=[
        "Take a batch of shape (2, 3, 4) with its batch axis last, and bring that to the front. What shape do you get, and what is the shape of one example?",
        "The other axes belong to the examples. They must stand in the same order as before; if two axes swap places, the examples are transposed.",
        "Take all axes but `src`, in their order, and put `src` in at `dst`: `order = [i for i in range(rank) if i != src]`, `order.insert(dst, src)`.",
    ],
)
def move_batch_axis(axis_size, src, dst, x):
    shape = get_aval(x).shape
    if isinstance(src, NotMapped):
        batched = (*shape[:dst], axis_size, *shape[dst:])
        return broadcast_in_dim(x, batched, [i for i in range(len(batched)) if i != dst])
    order = list(range(len(shape)))
    order[src], order[dst] = order[dst], order[src]
    return transpose(x, order)


@mistake(
    "vmap.move_batch_axis",
    name="The new axis of an unmapped value is always put in front",
    hints=[
        "What does your function give for `move_batch_axis(4, not_mapped, 1, np.ones((2, 3)))`? Look at its shape.",
        "The caller relies on finding the batch axis at `dst`, for a value that was mapped and for one that was not.",
        "Put `axis_size` in the shape at `dst`: `(*shape[:dst], axis_size, *shape[dst:])`; the axes of `x` become all axes but `dst`.",
    ],
)
def move_batch_axis(axis_size, src, dst, x):
    shape = get_aval(x).shape
    if isinstance(src, NotMapped):
        return broadcast_in_dim(x, (axis_size, *shape), range(1, 1 + len(shape)))
    order = [i for i in range(len(shape)) if i != src]
    order.insert(dst, src)
    return transpose(x, order)


@right("vmap.process_primitive")
def process_primitive(self, primitive, tracers, params):
    pairs = [(t.val, t.batch_dim) for t in tracers]
    vals, dims = map(list, zip(*pairs))
    rule = get_rule(vmap_rules, primitive, "Batching rule")
    out, dim = rule(self.main.global_data, vals, dims, **params)
    if primitive.multiple_results:
        return [BatchTracer(self, *pair) for pair in zip(out, dim)]
    return BatchTracer(self, out, dim)


@right("vmap.process_primitive")
def process_primitive(self, primitive, tracers, params):
    rule = get_rule(vmap_rules, primitive, "Batching rule")
    vals = [t.val for t in tracers]
    out, dim = rule(self.main.global_data, vals, [t.batch_dim for t in tracers], **params)
    outs = out if primitive.multiple_results else [out]
    outs_dims = dim if primitive.multiple_results else [dim]
    boxes = [BatchTracer(self, x, d) for x, d in zip(outs, outs_dims)]
    return boxes if primitive.multiple_results else boxes[0]


@mistake(
    "vmap.process_primitive",
    name="The result is boxed with the batch axis of the first operand",
    hints=[
        "Sum the examples of a batch of shape (2, 3), whose batch axis is 1. The sums have the shape (3,). Which axis is the batch axis now?",
        "Where the batch axis of the result is depends on the operation: sums and products move it. Who knows?",
        "The rule does. It gives a pair, and its second half is the batch axis of the result: `BatchTracer(self, val_out, dim_out)`.",
    ],
)
def process_primitive(self, primitive, tracers, params):
    vals, dims = [t.val for t in tracers], [t.batch_dim for t in tracers]
    rule = get_rule(vmap_rules, primitive, "Batching rule")
    vals_out, dims_out = rule(self.main.global_data, vals, dims, **params)
    if not primitive.multiple_results:
        return BatchTracer(self, vals_out, dims[0])
    return [BatchTracer(self, x, d) for x, d in zip(vals_out, dims_out)]


@mistake(
    "vmap.process_primitive",
    name="The parameters do not reach the rule",
    hints=[
        "How does the rule of `reduce_sum` know along which axes the examples are to be added up?",
        "What is no array (axes, shapes, dtypes) comes to this method in the dict `params`. Follow it: where does it go in your code?",
        "Hand it on by keyword: `rule(self.main.global_data, vals, dims, **params)`.",
    ],
)
def process_primitive(self, primitive, tracers, params):
    vals, dims = [t.val for t in tracers], [t.batch_dim for t in tracers]
    rule = get_rule(vmap_rules, primitive, "Batching rule")
    vals_out, dims_out = rule(self.main.global_data, vals, dims)
    if not primitive.multiple_results:
        return BatchTracer(self, vals_out, dims_out)
    return [BatchTracer(self, x, d) for x, d in zip(vals_out, dims_out)]


@right("vmap.align_operand")
def align_operand(axis_size, dim, x, rank):
    example = [n for i, n in enumerate(get_aval(x).shape) if i != dim]
    if isinstance(dim, NotMapped) and len(example) == 0:
        return x
    x = move_batch_axis(axis_size, dim, 0, x)
    if len(example) == rank:
        return x
    shape = (axis_size, *([1] * (rank - len(example))), *example)
    return broadcast_in_dim(x, shape, (0, *range(len(shape) - len(example), len(shape))))


@right("vmap.align_operand")
def align_operand(axis_size, dim, x, rank):
    shape = get_aval(x).shape
    if dim is not_mapped and shape == ():
        return x
    x = move_batch_axis(axis_size, dim, 0, x)
    first, *rest = get_aval(x).shape
    axes = [0] + [1 + rank - len(rest) + i for i in range(len(rest))]
    new = [first] + [1] * rank
    new[1 + rank - len(rest) :] = rest
    return x if len(rest) == rank else broadcast_in_dim(x, new, axes)


@mistake(
    "vmap.align_operand",
    name="Missing axes are put at the end",
    hints=[
        "A batch of 3 numbers is to be added to a batch of 3 vectors of length 5. In which shape do the numbers fit the shape (3, 5)? And vectors of length 5, in a batch with matrices of shape (4, 5)?",
        "One example of shape (5,) fits an example of shape (4, 5) at the right end, as in NumPy. The axes of an example stay last.",
        "New axes stand directly behind the batch axis: the shape is `(axis_size, *(1,) * missing, *shape[1:])`, and the axes of `x` become `[0, *range(1 + missing, 1 + rank)]`.",
    ],
)
def align_operand(axis_size, dim, x, rank):
    if dim is not_mapped and not get_aval(x).shape:
        return x
    x = move_batch_axis(axis_size, dim, 0, x)
    shape = get_aval(x).shape
    missing = 1 + rank - len(shape)
    if not missing:
        return x
    return broadcast_in_dim(x, (*shape, *(1,) * missing), range(len(shape)))


@mistake(
    "vmap.align_operand",
    name="The batch axis ends up between the axes of the examples",
    hints=[
        "NumPy puts missing axes in front of all others. What happens to the batch axis when a batch of 3 numbers, of shape (3,), meets a batch of 3 vectors, of shape (3, 5)?",
        "The batch axes of both operands must be the same axis of the result, and both operands have theirs in front. So nothing may be put before it.",
        "New axes stand behind the batch axis: the shape is `(axis_size, *(1,) * missing, *shape[1:])`, and axis 0 of `x` stays axis 0.",
    ],
)
def align_operand(axis_size, dim, x, rank):
    if dim is not_mapped and not get_aval(x).shape:
        return x
    x = move_batch_axis(axis_size, dim, 0, x)
    shape = get_aval(x).shape
    missing = 1 + rank - len(shape)
    if not missing:
        return x
    return broadcast_in_dim(x, (*(1,) * missing, *shape), range(missing, 1 + rank))


@right("vmap.reduce_sum_rule")
def reduce_sum_batch(axis_size, vals, dims, *, axes):
    [x], [dim] = vals, dims
    in_front = [axis for axis in axes if axis < dim]
    moved = tuple(axis if axis < dim else axis + 1 for axis in axes)
    return reduce_sum_p.bind(x, axes=moved), dim - len(in_front)


@right("vmap.reduce_sum_rule")
def reduce_sum_batch(axis_size, vals, dims, *, axes):
    x, dim = vals[0], dims[0]
    rank = len(get_aval(x).shape)
    others = [i for i in range(rank) if i != dim]
    summed = tuple(others[axis] for axis in axes)
    left = [i for i in range(rank) if i not in summed]
    return reduce_sum_p.bind(x, axes=summed), left.index(dim)


@mistake(
    "vmap.reduce_sum_rule",
    name="The axes of one example are taken for axes of the batch",
    hints=[
        "A batch has the shape (2, 3), its batch axis in front. Each example is to be summed along its axis 0. Which axis of the batch is that?",
        "Your sum runs over the batch axis itself: it mixes examples. The function inside does not know of the batch axis and counts without it.",
        "Translate the axes first: `axes_behind(dim, axes)`.",
    ],
)
def reduce_sum_batch(axis_size, vals, dims, *, axes):
    (x,), (dim,) = vals, dims
    return reduce_sum_p.bind(x, axes=axes), dim - sum(axis < dim for axis in axes)


@mistake(
    "vmap.reduce_sum_rule",
    name="The batch axis of the sums is where it was in the batch",
    hints=[
        "A batch has the shape (2, 3), its batch axis behind. The sums have the shape (3,). Which axis of them is the batch axis?",
        "Summed axes disappear. What stood behind them gets a lower number, the batch axis too.",
        "Subtract one for each summed axis in front of it: `dim - sum(axis < dim for axis in axes_out)`.",
    ],
)
def reduce_sum_batch(axis_size, vals, dims, *, axes):
    (x,), (dim,) = vals, dims
    return reduce_sum_p.bind(x, axes=axes_behind(dim, axes)), dim


@right("vmap.dot_general_rule")
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


@right("vmap.dot_general_rule")
def dot_general_batch(axis_size, vals, dims, *, dimension_numbers, preferred_element_type):
    contract, batch = (
        [list(axes_behind(d, a)) for d, a in zip(dims, pair)] for pair in dimension_numbers
    )
    mapped = [side for side in (0, 1) if dims[side] is not not_mapped]
    out_dim = 0
    if len(mapped) == 2:
        for side in mapped:
            batch[side].insert(0, dims[side])
    else:
        (side,) = mapped
        out_dim = axis_in_product(vals, (contract, batch), side, dims[side])
    numbers = (tuple(map(tuple, contract)), tuple(map(tuple, batch)))
    out = dot_general_p.bind(
        *vals, dimension_numbers=numbers, preferred_element_type=preferred_element_type
    )
    return out, out_dim


@mistake(
    "vmap.dot_general_rule",
    name="The batch axis of a product with one batch is said to be in front",
    hints=[
        "One matrix of shape (2, 3) is multiplied with a batch of vectors, of shape (5, 3). Of what shape is the product, and which axis counts the vectors?",
        "If only one operand is mapped, the product has no batch axis of its own: the axis is one of those that stay. They stand in an order: batch axes, then those of x, then those of y.",
        "`axis_in_product(vals, (contract, batch), side, dims[side])`, where `side` is 0 or 1, the operand that is mapped.",
    ],
)
def dot_general_batch(axis_size, vals, dims, *, dimension_numbers, preferred_element_type):
    contract, batch = (
        tuple(axes_behind(dim, axes) for dim, axes in zip(dims, pair)) for pair in dimension_numbers
    )
    if not_mapped not in dims:
        batch = tuple((dim, *axes) for dim, axes in zip(dims, batch))
    out = dot_general_p.bind(
        *vals,
        dimension_numbers=(contract, batch),
        preferred_element_type=preferred_element_type,
    )
    return out, 0


@right("vmap.flat")
def vmap_flat(f, axis_size, in_dims, args):
    with batching(axis_size) as main:
        trace, xs = BatchTrace(main), []
        for x, dim in zip(args, in_dims):
            xs.append(x if isinstance(dim, NotMapped) else BatchTracer(trace, x, dim))
        outs = [full_raise(trace, out) for out in f(*xs)]
    return [out.val for out in outs], [out.batch_dim for out in outs]


@right("vmap.flat")
def vmap_flat(f, axis_size, in_dims, args):
    with batching(axis_size) as main:
        trace = BatchTrace(main)

        def boxed(x, dim):
            return BatchTracer(trace, x, dim) if dim is not not_mapped else x

        results = f(*map(boxed, args, in_dims))
        vals, dims = [], []
        for result in results:
            box = full_raise(trace, result)
            vals.append(box.val)
            dims.append(box.batch_dim)
        return vals, dims


@mistake(
    "vmap.flat",
    name="Arguments that are not mapped count as mapped along their first axis",
    hints=[
        "What does `vmap(lambda x, y: y, in_axes=(0, None))` give the function as `y`: the whole array, or one row of it?",
        "`not_mapped` means that all examples share this argument. It has no batch axis, and so no axis may be taken away from its type.",
        "Leave such an argument alone: `x if dim is not_mapped else BatchTracer(trace, x, dim)`.",
    ],
)
def vmap_flat(f, axis_size, in_dims, args):
    with batching(axis_size) as main:
        trace = BatchTrace(main)
        tracers = [
            BatchTracer(trace, x, 0 if dim is not_mapped and get_aval(x).shape else dim)
            for x, dim in zip(args, in_dims)
        ]
        outs = [full_raise(trace, out) for out in f(*tracers)]
        return [t.val for t in outs], [t.batch_dim for t in outs]


@mistake(
    "vmap.flat",
    name="Any box that comes out is opened, whoever it belongs to",
    hints=[
        "The function may return a tracer that it did not get from you: one of a `vmap` around yours. What does your code do with it?",
        "That a value is a `BatchTracer` does not say that it is *your* `BatchTracer`. Another level's batch axis counts other examples.",
        "Pass every result through `full_raise(trace, out)`, without asking for its type first. It leaves your own boxes alone, and boxes all others as constants.",
    ],
)
def vmap_flat(f, axis_size, in_dims, args):
    with batching(axis_size) as main:
        trace = BatchTrace(main)
        tracers = [
            x if dim is not_mapped else BatchTracer(trace, x, dim) for x, dim in zip(args, in_dims)
        ]
        outs = [x if isinstance(x, BatchTracer) else full_raise(trace, x) for x in f(*tracers)]
        return [t.val for t in outs], [t.batch_dim for t in outs]


@right("vmap.place_axis")
def place_axis(axis_size, dim, axis, out):
    match dim, axis:
        case NotMapped(), None:
            return out
        case _, None:
            raise ValueError("a batch cannot come back single")
    rank = len(get_aval(out).shape) + (1 if dim is not_mapped else 0)
    return move_batch_axis(axis_size, dim, axis + rank if axis < 0 else axis, out)


@right("vmap.place_axis")
def place_axis(axis_size, dim, axis, out):
    if axis is None:
        if isinstance(dim, int):
            raise ValueError("mapped")
        return out
    if axis < 0:
        axis += len(get_aval(out).shape) + (0 if isinstance(dim, int) else 1)
    return move_batch_axis(axis_size, dim, axis, out)


@mistake(
    "vmap.place_axis",
    name="A negative axis of an unmapped result is counted without the new axis",
    hints=[
        "A result of shape (2, 3) is the same for all 4 examples, and `out_axes` is -1. Of what shape should the result be, and of what shape is yours?",
        "-1 is the last axis of the *result*. The result has one axis more than a value that has no batch axis yet.",
        "`rank = len(get_aval(out).shape)`, and one more where `dim` is `not_mapped`; then `axis % rank`.",
    ],
)
def place_axis(axis_size, dim, axis, out):
    if axis is not None:
        rank = max(len(get_aval(out).shape), 1)
        axis = axis if axis >= 0 else axis % rank
        return move_batch_axis(axis_size, dim, axis, out)
    if dim is not not_mapped:
        raise ValueError("vmap has mapped a result whose out_axes is None.")
    return out


@right("vmap.jacobian")
def jacobian_of_input(f, xs, i):
    shape = get_aval(xs[i]).shape

    def of_axes(n):
        if n == 0:
            return lambda t: jvp_flat(f, xs, [*[None] * i, t, *[None] * (len(xs) - i - 1)])
        return vmap(of_axes(n - 1), in_axes=n - 1, out_axes=(None, -1))

    return of_axes(len(shape))(basis(get_aval(xs[i])))


@right("vmap.jacobian")
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


@mistake(
    "vmap.jacobian",
    name="The axes of the input stand in front in the Jacobian",
    hints=[
        "A function from three numbers to two: has its Jacobian two rows, or three?",
        "Rows belong to the result, columns to the input. Each direction of the basis gives one column.",
        "`out_axes=(None, -1)`: the axis that counts the directions comes behind those of the result.",
    ],
)
def jacobian_of_input(f, xs, i):
    def push_forward(tangent):
        tangents = [tangent if j == i else None for j in range(len(xs))]
        return jvp_flat(f, xs, tangents)

    for axis in reversed(range(len(get_aval(xs[i]).shape))):
        push_forward = vmap(push_forward, in_axes=0, out_axes=(None, 0))
    return push_forward(basis(get_aval(xs[i])))
