"""The lesson pmap: other right answers pass."""

import pytest
from other_answers import lost

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "pmap.gather_type": """
def all_gather_type(x, *, all_gather_dimension, axis_name, axis_size, tiled):
    shape = list(x.shape)
    match tiled:
        case True:
            shape[all_gather_dimension] *= axis_size
        case _:
            shape.insert(all_gather_dimension, axis_size)
    return ShapedArray(tuple(shape), x.dtype, weak_type=x.weak_type)
""",
        "pmap.psum_batch": """
def psum_batch(batch_size, vals, dims, *, axes):
    [x], [dim] = vals, dims
    others = tuple(name for name in axes if name != name_of(batch_size))
    if others == axes:
        return psum_p.bind(x, axes=axes), dim
    if others:
        x = psum_p.bind(x, axes=others)
    if dim is not_mapped:
        return x * np.asarray(int(batch_size), get_aval(x).dtype), not_mapped
    return reduce_sum(x, [dim]), not_mapped
""",
        "pmap.gather_transpose": """
def all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    place, axis = axis_index(axis_name), all_gather_dimension
    if tiled:
        n = x.aval.shape[axis]
        return [dynamic_slice_in_dim(psum(ct, axis_name), place * np.int32(n), n, axis)]
    return (dynamic_index_in_dim(psum(ct, axis_name), place, axis, False),)
""",
        "pmap.mapped_size": """
def mapped_size(avals, in_axes, given):
    size = None
    for aval, axis in zip(avals, in_axes):
        if axis is None:
            continue
        check_axis("in_axes", axis, len(aval.shape))
        if size not in (None, aval.shape[axis]):
            raise ValueError("two sizes")
        size = aval.shape[axis]
    if not size or given not in (None, size):
        raise ValueError("no size, or another one")
    return size
""",
        "pmap.replica_program": """
def replica_program(jaxpr, in_axes, out_axes, **params):
    def without(x, axis):
        if axis is None:
            return x
        shape = list(get_aval(x).shape)
        del shape[axis]
        return reshape(x, shape)

    def put_in(x, axis):
        return x if axis is None else expand_dims(x, (axis,))

    def on_pieces(*pieces):
        outs = eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *map(without, pieces, in_axes))
        return list(map(put_in, outs, out_axes))

    with inside(**params):
        return trace_to_jaxpr(on_pieces, whole_avals(jaxpr.in_avals, in_axes, 1))
""",
        "pmap.jvp": """
def pmap_jvp(primals, tangents, *, jaxpr, in_axes, out_axes, **params):
    in_axes, out_axes = list(in_axes), list(out_axes)
    for axis, tangent in zip(tuple(in_axes), tangents):
        if tangent is not None:
            in_axes.append(axis)
    for axis, aval in zip(tuple(out_axes), jaxpr.out_avals):
        if is_float(aval.dtype):
            out_axes.append(axis)

    def rebind(program, args):
        return pmap_call(program, args, in_axes=in_axes, out_axes=out_axes, **params)

    with inside(params["axis_name"], params["axis_size"]):
        return call_jvp(rebind, primals, tangents, jaxpr)
""",
    },
    {
        "pmap.gather_type": """
def all_gather_type(x, *, all_gather_dimension, axis_name, axis_size, tiled):
    if not tiled:
        return with_axis(x, all_gather_dimension, axis_size)
    shape = tuple(
        n * axis_size if i == all_gather_dimension else n for i, n in enumerate(x.shape)
    )
    return ShapedArray(shape, x.dtype, x.weak_type)
""",
        "pmap.psum_batch": """
def psum_batch(batch_size, vals, dims, *, axes):
    x, dim, left = vals[0], dims[0], list(axes)
    if name_of(batch_size) in left:
        left.remove(name_of(batch_size))
        x = reduce_sum(move_batch_axis(batch_size, dim, 0, x), (0,))
        dim = not_mapped
    if left:
        x = psum_p.bind(x, axes=tuple(left))
    return x, dim
""",
        "pmap.gather_transpose": """
def all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    d = all_gather_dimension
    total = psum_p.bind(ct, axes=(axis_name,))
    if tiled:
        shape = get_aval(total).shape
        total = reshape(total, (*shape[:d], axis_size, shape[d] // axis_size, *shape[d + 1 :]))
    return [dynamic_index_in_dim(total, axis_index(axis_name), d, keepdims=False)]
""",
        "pmap.mapped_size": """
def mapped_size(avals, in_axes, given):
    pairs = [pair for pair in zip(avals, in_axes) if pair[1] is not None]
    [check_axis("in_axes", axis, len(aval.shape)) for aval, axis in pairs]
    sizes = [aval.shape[axis] for aval, axis in pairs]
    if sizes == []:
        raise ValueError("nothing is mapped")
    wanted = sizes[0] if given is None else given
    if wanted == 0 or any(size != wanted for size in sizes):
        raise ValueError("sizes")
    return wanted
""",
        "pmap.replica_program": """
def replica_program(jaxpr, in_axes, out_axes, **params):
    def replica(*pieces):
        examples = list(pieces)
        for i, axis in enumerate(in_axes):
            if axis is not None:
                examples[i] = dynamic_index_in_dim(examples[i], 0, axis, keepdims=False)
        outs = eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *examples)
        for i, axis in enumerate(out_axes):
            if axis is not None:
                shape = list(get_aval(outs[i]).shape)
                outs[i] = reshape(outs[i], [*shape[:axis], 1, *shape[axis:]])
        return outs

    with mapped_axis(AxisSize(params["axis_size"], params["axis_name"]), None):
        avals = [with_axis(aval, axis, 1) for aval, axis in zip(jaxpr.in_avals, in_axes)]
        return trace_to_jaxpr(replica, avals)
""",
        "pmap.jvp": """
def pmap_jvp(primals, tangents, *, jaxpr, in_axes, out_axes, **params):
    extra = tuple(a for a, t in zip(in_axes, tangents) if t is not None)

    def run(program, args):
        joined = [a for a, x in zip(out_axes, jaxpr.out_avals) if is_float(x.dtype)]
        return pmap_p.bind(
            *args,
            jaxpr=program,
            in_axes=tuple(in_axes) + extra,
            out_axes=(*out_axes, *joined),
            **params,
        )

    with inside(**params):
        values, changes = call_jvp(run, primals, tangents, jaxpr)
    return list(values), list(changes)
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES, ids=["first", "second"])
def test_other_right_answers_have_full_points(answers):
    assert lost("pmap", answers) == ([], [])
