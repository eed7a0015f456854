"""Known mistakes of the lesson pmap: each function stands in for the target of its exercise.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


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
