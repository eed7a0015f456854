"""Answers to the exercises of the lesson pmap: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("pmap.gather_type")
def all_gather_type(x, *, all_gather_dimension, axis_name, axis_size, tiled):
    shape = list(x.shape)
    match tiled:
        case True:
            shape[all_gather_dimension] *= axis_size
        case _:
            shape.insert(all_gather_dimension, axis_size)
    return ShapedArray(tuple(shape), x.dtype, weak_type=x.weak_type)


@right("pmap.gather_type")
def all_gather_type(x, *, all_gather_dimension, axis_name, axis_size, tiled):
    if not tiled:
        return with_axis(x, all_gather_dimension, axis_size)
    shape = tuple(n * axis_size if i == all_gather_dimension else n for i, n in enumerate(x.shape))
    return ShapedArray(shape, x.dtype, x.weak_type)


@mistake(
    "pmap.gather_type",
    name="The new axis always comes in front",
    hints=[
        "Three vectors of length 2 are gathered with `all_gather_dimension=1`. What is the shape of the result, and what is yours?",
        "Stacking in front is the default of `all_gather`, and not the only possibility. A parameter of the primitive says where the new axis is.",
        "Put `axis_size` between `x.shape[:all_gather_dimension]` and the rest of the shape.",
    ],
)
def all_gather_type(x, *, all_gather_dimension, axis_name, axis_size, tiled):
    shape = list(x.shape)
    if tiled:
        shape[all_gather_dimension] *= axis_size
    else:
        shape = [axis_size, *shape]
    return ShapedArray(tuple(shape), x.dtype, x.weak_type)


@right("pmap.psum_batch")
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


@right("pmap.psum_batch")
def psum_batch(batch_size, vals, dims, *, axes):
    x, dim, left = vals[0], dims[0], list(axes)
    if name_of(batch_size) in left:
        left.remove(name_of(batch_size))
        x = reduce_sum(move_batch_axis(batch_size, dim, 0, x), (0,))
        dim = not_mapped
    if left:
        x = psum_p.bind(x, axes=tuple(left))
    return x, dim


@mistake(
    "pmap.psum_batch",
    name="What is the same in all examples is counted once",
    hints=[
        "Four examples share the number 2.5. What is the sum of it over all examples?",
        "An operand without a batch axis stands for as many equal values as there are examples. `psum` adds all of them.",
        "Where the batch axis is `not_mapped` and this `vmap` has the name: `mul_by(x, batch_size)`.",
    ],
)
def psum_batch(batch_size, vals, dims, *, axes):
    (x,), (dim,) = vals, dims
    if name_of(batch_size) in axes:
        axes = tuple(name for name in axes if name != name_of(batch_size))
        x = x if isinstance(dim, NotMapped) else reduce_sum(x, (dim,))
        dim = not_mapped
    return (psum_p.bind(x, axes=axes) if axes else x), dim


@mistake(
    "pmap.psum_batch",
    name="The sum is said to have a batch axis still",
    hints=[
        "A batch of shape (3, 2) is summed over its examples. What is the shape of the sum, and which axis of it counts examples?",
        "The axis along which you have summed is gone, and all examples share what is left. The second half of the result has to say so.",
        "After the sum over this `vmap`'s own axis the batch axis is `not_mapped`.",
    ],
)
def psum_batch(batch_size, vals, dims, *, axes):
    (x,), (dim,) = vals, dims
    if name_of(batch_size) in axes:
        axes = tuple(name for name in axes if name != name_of(batch_size))
        x = mul_by(x, batch_size) if isinstance(dim, NotMapped) else reduce_sum(x, (dim,))
    return (psum_p.bind(x, axes=axes) if axes else x), dim


@right("pmap.gather_transpose")
def all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    place, axis = axis_index(axis_name), all_gather_dimension
    if tiled:
        n = x.aval.shape[axis]
        return [dynamic_slice_in_dim(psum(ct, axis_name), place * np.int32(n), n, axis)]
    return (dynamic_index_in_dim(psum(ct, axis_name), place, axis, False),)


@right("pmap.gather_transpose")
def all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    d = all_gather_dimension
    total = psum_p.bind(ct, axes=(axis_name,))
    if tiled:
        shape = get_aval(total).shape
        total = reshape(total, (*shape[:d], axis_size, shape[d] // axis_size, *shape[d + 1 :]))
    return [dynamic_index_in_dim(total, axis_index(axis_name), d, keepdims=False)]


@mistake(
    "pmap.gather_transpose",
    name="The cotangents that other examples hold are left out",
    hints=[
        "Two examples gather their numbers a and b. Example 0 then uses only b. Has b a cotangent, and where is it?",
        "What an example gave is in the gathered arrays of all the others as well. Each of them holds a cotangent for it, and the examples have to meet to add these.",
        "Sum first, by `psum_p.bind(ct, axes=(axis_name,))`, and take the part out of that sum.",
    ],
)
def all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    place = axis_index(axis_name)
    if not tiled:
        return [dynamic_index_in_dim(ct, place, all_gather_dimension, keepdims=False)]
    length = x.aval.shape[all_gather_dimension]
    return [dynamic_slice_in_dim(ct, mul(place, np.int32(length)), length, all_gather_dimension)]


@mistake(
    "pmap.gather_transpose",
    name="Tiled parts start at the number of the example",
    hints=[
        "Three examples give vectors of length 2, laid one behind the other: six numbers. At which place does the vector of example 2 begin?",
        "With `tiled`, each example takes up as many places as its value is long along that axis.",
        "Begin at `mul(axis_index(axis_name), np.int32(length))`, with `length = x.aval.shape[all_gather_dimension]`.",
    ],
)
def all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    total, place = psum_p.bind(ct, axes=(axis_name,)), axis_index(axis_name)
    if not tiled:
        return [dynamic_index_in_dim(total, place, all_gather_dimension, keepdims=False)]
    length = x.aval.shape[all_gather_dimension]
    return [dynamic_slice_in_dim(total, place, length, all_gather_dimension)]


@right("pmap.mapped_size")
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


@right("pmap.mapped_size")
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


@mistake(
    "pmap.mapped_size",
    name="The length is read off the first axis, whichever is mapped",
    hints=[
        "How many examples are in an operand of shape (5, 3) whose mapped axis is 1?",
        "`in_axes` has a number for each operand. The length along *that* axis counts.",
        "Use `aval.shape[axis]`, with the pairs of `zip(avals, in_axes)`.",
    ],
)
def mapped_size(avals, in_axes, given):
    mapped = [(aval, axis) for aval, axis in zip(avals, in_axes) if axis is not None]
    for aval, axis in mapped:
        check_axis("in_axes", axis, len(aval.shape))
    sizes = {aval.shape[0] for aval, axis in mapped}
    if not mapped or len(sizes | ({given} - {None})) > 1 or 0 in sizes:
        raise ValueError("sizes")
    return sizes.pop()


@mistake(
    "pmap.mapped_size",
    name="The length that the user gives is believed",
    hints=[
        "What does your function give for an operand of shape (5, 3), mapped along axis 0, if the user says `axis_size=3`?",
        "`axis_size` is a second source for one fact. If it disagrees with the operands, one of the two is a mistake, and nobody knows which.",
        "Do all checks whether `given` is None or not, and raise `ValueError` if it is not the length that you found.",
    ],
)
def mapped_size(avals, in_axes, given):
    if given is not None:
        return given
    mapped = [(aval, axis) for aval, axis in zip(avals, in_axes) if axis is not None]
    for aval, axis in mapped:
        check_axis("in_axes", axis, len(aval.shape))
    sizes = {aval.shape[axis] for aval, axis in mapped}
    if len(sizes) != 1 or 0 in sizes:
        raise ValueError("sizes")
    return sizes.pop()


@right("pmap.replica_program")
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


@right("pmap.replica_program")
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


@mistake(
    "pmap.replica_program",
    name="The pieces of the results always have their mapped axis in front",
    hints=[
        "A result of one example has the shape (4,), and `out_axes` is 1. Which shape has the piece of it?",
        "The whole result is the pieces, joined along the axis that `out_axes` names. So each piece needs its axis of length 1 there.",
        "Go through `zip(results, out_axes)`, and use the axis: `expand_dims(x, (axis,))`.",
    ],
)
def replica_program(jaxpr, in_axes, out_axes, **params):
    def replica(*pieces):
        pairs = zip(pieces, in_axes)
        examples = [x if axis is None else squeeze(x, (axis,)) for x, axis in pairs]
        outs = zip(eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *examples), out_axes)
        return [x if axis is None else expand_dims(x, (0,)) for x, axis in outs]

    with inside(**params):
        return trace_to_jaxpr(replica, whole_avals(jaxpr.in_avals, in_axes, 1))


@mistake(
    "pmap.replica_program",
    name="Results that all examples share get a mapped axis, too",
    hints=[
        "With `out_axes=None`, a number comes back as a number. What does your program give for it?",
        "None says that there is no axis to join along: the result is the same on all devices, and one of them is taken.",
        "Leave such a result as it is: `x if axis is None else expand_dims(x, (axis,))`.",
    ],
)
def replica_program(jaxpr, in_axes, out_axes, **params):
    def replica(*pieces):
        pairs = zip(pieces, in_axes)
        examples = [x if axis is None else squeeze(x, (axis,)) for x, axis in pairs]
        outs = zip(eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *examples), out_axes)
        return [expand_dims(x, (axis or 0,)) for x, axis in outs]

    with inside(**params):
        return trace_to_jaxpr(replica, whole_avals(jaxpr.in_avals, in_axes, 1))


@right("pmap.jvp")
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


@right("pmap.jvp")
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


@mistake(
    "pmap.jvp",
    name="Tangents of operands are cut along their first axis",
    hints=[
        "An operand of shape (5, 3) is cut along axis 1, so one example is a vector of length 5. Which shape must the tangent of one example have?",
        "A tangent belongs to its primal, entry by entry. It must be cut as the primal is; and not at all where that is shared.",
        "Behind the old `in_axes`: `[axis for axis, t in zip(in_axes, tangents) if t is not None]`.",
    ],
)
def pmap_jvp(primals, tangents, *, jaxpr, in_axes, out_axes, **params):
    moving = [0 for t in tangents if t is not None]
    floats = [axis for axis, aval in zip(out_axes, jaxpr.out_avals) if is_float(aval.dtype)]
    rebind = functools.partial(
        pmap_call, in_axes=[*in_axes, *moving], out_axes=[*out_axes, *floats], **params
    )
    with inside(**params):
        return call_jvp(rebind, primals, tangents, jaxpr)


@mistake(
    "pmap.jvp",
    name="Tangents of results are joined along their first axis",
    hints=[
        "A result is joined along axis 1. Is its tangent, as your call gives it, of the same shape?",
        "The tangent of a result has the type of the result. So it is joined along the same axis; and if the result is shared, its tangent is shared.",
        "Behind the old `out_axes` come those of the floating-point results: take the axis from `zip(out_axes, jaxpr.out_avals)`.",
    ],
)
def pmap_jvp(primals, tangents, *, jaxpr, in_axes, out_axes, **params):
    moving = [axis for axis, t in zip(in_axes, tangents) if t is not None]
    floats = [0 for aval in jaxpr.out_avals if is_float(aval.dtype)]
    rebind = functools.partial(
        pmap_call, in_axes=[*in_axes, *moving], out_axes=[*out_axes, *floats], **params
    )
    with inside(**params):
        return call_jvp(rebind, primals, tangents, jaxpr)
