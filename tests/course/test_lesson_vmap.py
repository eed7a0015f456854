"""The lesson vmap: other right answers pass."""

import pytest
from other_answers import lost

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "vmap.remove_axis": """
def remove_axis(aval, axis):
    match axis:
        case NotMapped():
            return aval
    shape = list(aval.shape)
    del shape[axis]
    return ShapedArray(tuple(shape), aval.dtype, weak_type=aval.weak_type)
""",
        "vmap.move_batch_axis": """
def move_batch_axis(axis_size, src, dst, x):
    shape = list(get_aval(x).shape)
    if src is not_mapped:
        axes = [i + (i >= dst) for i in range(len(shape))]
        shape.insert(dst, axis_size)
        return broadcast_in_dim(x, shape, axes)
    order = np.insert(np.delete(np.arange(len(shape)), src), dst, src)
    return transpose(x, order.tolist())
""",
        "vmap.process_primitive": """
def process_primitive(self, primitive, tracers, params):
    pairs = [(t.val, t.batch_dim) for t in tracers]
    vals, dims = map(list, zip(*pairs))
    rule = get_rule(vmap_rules, primitive, "Batching rule")
    out, dim = rule(self.main.global_data, vals, dims, **params)
    if primitive.multiple_results:
        return [BatchTracer(self, *pair) for pair in zip(out, dim)]
    return BatchTracer(self, out, dim)
""",
        "vmap.align_operand": """
def align_operand(axis_size, dim, x, rank):
    example = [n for i, n in enumerate(get_aval(x).shape) if i != dim]
    if isinstance(dim, NotMapped) and len(example) == 0:
        return x
    x = move_batch_axis(axis_size, dim, 0, x)
    if len(example) == rank:
        return x
    shape = (axis_size, *([1] * (rank - len(example))), *example)
    return broadcast_in_dim(x, shape, (0, *range(len(shape) - len(example), len(shape))))
""",
        "vmap.reduce_sum_rule": """
def reduce_sum_batch(axis_size, vals, dims, *, axes):
    [x], [dim] = vals, dims
    in_front = [axis for axis in axes if axis < dim]
    moved = tuple(axis if axis < dim else axis + 1 for axis in axes)
    return reduce_sum_p.bind(x, axes=moved), dim - len(in_front)
""",
        "vmap.dot_general_rule": """
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
""",
        "vmap.flat": """
def vmap_flat(f, axis_size, in_dims, args):
    with batching(axis_size) as main:
        trace, xs = BatchTrace(main), []
        for x, dim in zip(args, in_dims):
            xs.append(x if isinstance(dim, NotMapped) else BatchTracer(trace, x, dim))
        outs = [full_raise(trace, out) for out in f(*xs)]
    return [out.val for out in outs], [out.batch_dim for out in outs]
""",
        "vmap.place_axis": """
def place_axis(axis_size, dim, axis, out):
    match dim, axis:
        case NotMapped(), None:
            return out
        case _, None:
            raise ValueError("a batch cannot come back single")
    rank = len(get_aval(out).shape) + (1 if dim is not_mapped else 0)
    return move_batch_axis(axis_size, dim, axis + rank if axis < 0 else axis, out)
""",
        "vmap.jacobian": """
def jacobian_of_input(f, xs, i):
    shape = get_aval(xs[i]).shape

    def of_axes(n):
        if n == 0:
            return lambda t: jvp_flat(f, xs, [*[None] * i, t, *[None] * (len(xs) - i - 1)])
        return vmap(of_axes(n - 1), in_axes=n - 1, out_axes=(None, -1))

    return of_axes(len(shape))(basis(get_aval(xs[i])))
""",
    },
    {
        "vmap.remove_axis": """
def remove_axis(aval, axis):
    if axis is not_mapped:
        return aval
    kept = (n for i, n in enumerate(aval.shape) if i != axis)
    return ShapedArray(tuple(kept), aval.dtype, aval.weak_type)
""",
        "vmap.move_batch_axis": """
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
""",
        "vmap.process_primitive": """
def process_primitive(self, primitive, tracers, params):
    rule = get_rule(vmap_rules, primitive, "Batching rule")
    vals = [t.val for t in tracers]
    out, dim = rule(self.main.global_data, vals, [t.batch_dim for t in tracers], **params)
    outs = out if primitive.multiple_results else [out]
    outs_dims = dim if primitive.multiple_results else [dim]
    boxes = [BatchTracer(self, x, d) for x, d in zip(outs, outs_dims)]
    return boxes if primitive.multiple_results else boxes[0]
""",
        "vmap.align_operand": """
def align_operand(axis_size, dim, x, rank):
    shape = get_aval(x).shape
    if dim is not_mapped and shape == ():
        return x
    x = move_batch_axis(axis_size, dim, 0, x)
    first, *rest = get_aval(x).shape
    axes = [0] + [1 + rank - len(rest) + i for i in range(len(rest))]
    new = [first] + [1] * rank
    new[1 + rank - len(rest):] = rest
    return x if len(rest) == rank else broadcast_in_dim(x, new, axes)
""",
        "vmap.reduce_sum_rule": """
def reduce_sum_batch(axis_size, vals, dims, *, axes):
    x, dim = vals[0], dims[0]
    rank = len(get_aval(x).shape)
    others = [i for i in range(rank) if i != dim]
    summed = tuple(others[axis] for axis in axes)
    left = [i for i in range(rank) if i not in summed]
    return reduce_sum_p.bind(x, axes=summed), left.index(dim)
""",
        "vmap.dot_general_rule": """
def dot_general_batch(axis_size, vals, dims, *, dimension_numbers, preferred_element_type):
    contract, batch = ([list(axes_behind(d, a)) for d, a in zip(dims, pair)]
                       for pair in dimension_numbers)
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
""",
        "vmap.flat": """
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
""",
        "vmap.place_axis": """
def place_axis(axis_size, dim, axis, out):
    if axis is None:
        if isinstance(dim, int):
            raise ValueError("mapped")
        return out
    if axis < 0:
        axis += len(get_aval(out).shape) + (0 if isinstance(dim, int) else 1)
    return move_batch_axis(axis_size, dim, axis, out)
""",
        "vmap.jacobian": """
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
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES, ids=["first", "second"])
def test_other_right_answers_have_full_points(answers):
    assert lost("vmap", answers) == ([], [])
