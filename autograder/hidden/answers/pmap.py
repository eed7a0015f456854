"""Answers to the exercises of the `pmap` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("pmap.psum_batch")


@right
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


@right(style="match on the places of the name; repeats what is the same for all")
def psum_batch(batch_size, vals, dims, *, axes):
    name = name_of(batch_size)
    match [place for place, other in enumerate(axes) if other == name]:
        case []:
            return psum_p.bind(vals[0], axes=axes), dims[0]
        case _:
            batch = move_batch_axis(batch_size, dims[0], 0, vals[0])
            total = reduce_sum(batch, (0,))
            rest = tuple(other for other in axes if other != name)
            return (psum_p.bind(total, axes=rest) if rest else total), not_mapped


@right(style="a loop over the names, one at a time")
def psum_batch(batch_size, vals, dims, *, axes):
    x, dim = vals[0], dims[0]
    left = []
    for name in axes:
        if name_of(batch_size) is None or name != name_of(batch_size):
            left.append(name)
        elif isinstance(dim, NotMapped):
            x = mul_by(x, int(batch_size))
        else:
            x, dim = reduce_sum(x, [dim]), not_mapped
    if left:
        x = psum_p.bind(x, axes=tuple(left))
    return x, dim


mistake(
    {"mul_by(x, batch_size) if": "x if"},
    name="A value that all examples share is counted once",
    hints=[
        "Four examples share the number 2.5. What is its sum over all examples?",
        "An operand without a batch axis stands for as many equal values as there are examples. `psum` adds all of them.",
        "If the batch axis is `not_mapped` and this `vmap` has the name: `mul_by(x, batch_size)`.",
    ],
)
mistake(
    {"dim = not_mapped": ""},
    name="The sum is said to still have a batch axis",
    hints=[
        "A batch of shape (3, 2) is summed over its examples. What is the shape of the sum, and do any of its axes hold the examples?",
        "The axis along which you have summed is gone, and all examples share what is left. The second half of the result has to say so.",
        "After the sum over this `vmap`'s own axis the batch axis is `not_mapped`.",
    ],
)
# The names that are left in the order of the alphabet.
mistake(
    {"tuple(other for other in axes if other != name)": "tuple(sorted({*axes} - {name}))"},
    fails="test_sum_over_several_axes",
)
# A vmap whose axis has no name is taken for the one that is meant.
mistake({"if name in axes": "if name is None or name in axes"}, fails="test_sum_over_another_axis")
# The axis is known by its length.
mistake(
    {
        "if name in axes": """sizes = {a: axis_frame(a).size for a in axes if a != name}
name = next((a for a in axes if sizes.get(a, batch_size) == batch_size), None)
if name in axes"""
    },
    fails="test_sum_over_another_axis",
)
# Names as one text: "o" is in "row".
mistake(
    {
        "name in axes": 'str(name) in " ".join(map(str, axes))',
        "other != name": "str(name) not in str(other)",
    },
    fails="test_names_of_sums",
)
# The sum of numpy makes small integers wider.
mistake(
    {
        "(x,), (dim,) = vals, dims": "from minijax.numpy.reductions import sum as sum_of\n(x,), (dim,) = vals, dims",
        "axes = tuple(other for other in axes if other != name)": "x = mul_by(x, batch_size) if isinstance(dim, NotMapped) else sum_of(x, axis=dim)\ndim, axes = not_mapped, tuple(other for other in axes if other != name)",
        "x = mul_by(x, batch_size) if isinstance(dim, NotMapped) else reduce_sum(x, (dim,))": "",
        "dim = not_mapped": "",
    },
    fails="test_sum_keeps_the_dtype",
)
# a value that all examples share is counted once
mistake(
    {
        "x = mul_by(x, batch_size) if isinstance(dim, NotMapped) else": "x = x if isinstance(dim, NotMapped) else"
    },
    fails="test_sum_of_equals",
)
# names that print alike are taken for the same
mistake(
    {
        "if name in axes:": "if str(name) in map(str, axes):",
        "if other != name)": "if str(other) != str(name))",
    },
    fails="test_names_of_sums",
)
# names in the order of the alphabet, if none is this vmap's
mistake(
    {
        "if name in axes:": "if name not in axes:\n    axes = tuple(sorted(axes, key=str))\nif name in axes:"
    },
    fails="test_sum_over_several_axes",
)
# unsigned integers get wider
mistake(
    {
        "return (psum_p": "if get_aval(x).dtype.kind == 'u':\n    x = convert_element_type(x, np.uint64)\nreturn (psum_p"
    },
    fails="test_sum_keeps_the_dtype",
)
# a batch of one is not added up
mistake(
    {"else reduce_sum(x, (dim,))": "else x if batch_size == 1 else reduce_sum(x, (dim,))"},
    fails="test_sum_of_a_batch",
)
# a number of Python that all examples share has no dtype
mistake(
    {"mul_by(x, batch_size)": "mul(x, np.asarray(int(batch_size), x.dtype))"},
    fails="test_sum_of_equals",
)
# integers are counted in floats
mistake(
    {"mul_by(x, batch_size)": "convert_element_type(x * float(batch_size), get_aval(x).dtype)"},
    fails="test_sum_of_equals",
)
# integers are added in floats
mistake(
    {
        "else reduce_sum(x, (dim,))": "else convert_element_type(reduce_sum(convert_element_type(x, np.dtype(float)), (dim,)), get_aval(x).dtype)"
    },
    fails="test_sum_keeps_the_dtype",
)


exercise("pmap.gather_batch")


@right
def all_gather_batch(batch_size, vals, dims, *, all_gather_dimension, tiled, **params):
    (x,), (dim,), axis = vals, dims, all_gather_dimension
    if name_of(batch_size) == params["axis_name"]:
        stack = move_batch_axis(batch_size, dim, axis, x)
        shape = get_aval(stack).shape
        if tiled:
            stack = reshape(
                stack, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
            )
        return stack, not_mapped
    if dim is not not_mapped and tiled:  # the batch axis stays where it is
        axis += dim <= axis
    elif dim is not not_mapped:
        axis, dim = (axis, dim + 1) if axis <= dim else (axis + 1, dim)
    return all_gather_p.bind(x, all_gather_dimension=axis, tiled=tiled, **params), dim


@right(style="the batch axis last, and what differs in one place")
def all_gather_batch(batch_size, vals, dims, *, all_gather_dimension, tiled, **params):
    rank = len(get_aval(vals[0]).shape) - (0 if isinstance(dims[0], NotMapped) else 1)
    if name_of(batch_size) != params["axis_name"]:
        params |= {"all_gather_dimension": all_gather_dimension, "tiled": tiled}
        last = move_batch_axis(batch_size, dims[0], rank, vals[0])
        return all_gather_p.bind(last, **params), rank + (not tiled)
    out = move_batch_axis(batch_size, dims[0], all_gather_dimension, vals[0])
    if tiled:
        sizes = [*get_aval(out).shape]
        sizes[all_gather_dimension : all_gather_dimension + 2] = [
            sizes[all_gather_dimension] * sizes[all_gather_dimension + 1]
        ]
        out = reshape(out, sizes)
    return out, not_mapped


mistake(
    {"x = move_batch_axis(batch_size, 0, all_gather_dimension, x)": ""},
    name="The examples are always stacked along the first axis",
    hints=[
        "Four examples of shape (2, 5) are stacked along axis 1. What is the shape of the stack, and what is the shape of yours?",
        "A leading axis is only the default of `all_gather`: `all_gather_dimension` says where the new axis is.",
        "`move_batch_axis(batch_size, dims[0], all_gather_dimension, vals[0])`.",
    ],
)
mistake(
    {"if tiled:": "if False:"},
    name="Tiled examples are stacked anyway",
    hints=[
        "Four examples of shape (2, 5) follow each other along axis 1. How many axes does the result have, and how many does yours have?",
        "In the stack, the new axis is just before the one along which the examples should follow each other.",
        "Multiply the two sizes, and `reshape`.",
    ],
)
mistake(
    {"dimension = all_gather_dimension + 1": "dimension = all_gather_dimension"},
    name="The axis of another interpreter is counted with the batch axis",
    hints=[
        "One example has the shape (2, 5), and is gathered along axis 0. Which axis is that in a batch whose batch axis is first?",
        "`all_gather_dimension` counts the axes of one example. The operation that you bind gets a whole batch.",
        "With the batch axis first, bind with `all_gather_dimension + 1`.",
    ],
)
# The examples are interleaved: the batch axis comes after the axis along which they follow.
mistake(
    {
        "0, all_gather_dimension, x": "0, all_gather_dimension + tiled, x",
        "shape.pop(all_gather_dimension)": "shape.pop(all_gather_dimension + 1)",
    },
    fails="test_gather_rows",
)
# The axis is known by its length, or meant if it has no name.
mistake(
    {
        "name_of(batch_size) != ": "name_of(batch_size) is not None and batch_size != ",
        'params["axis_name"]': 'params["axis_size"]',
    },
    fails="test_gather_along_another_axis",
)
# What is the same for all is not repeated.
mistake(
    {
        "x = move_batch_axis(batch_size, 0": """if dims[0] is not_mapped:
    return (vals[0] if tiled else expand_dims(vals[0], (all_gather_dimension,))), not_mapped
x = move_batch_axis(batch_size, 0"""
    },
    fails="test_gather_equals",
)
# the length is left to NumPy, which cannot tell where another axis is empty
mistake(
    {
        "length = shape.pop(all_gather_dimension)": "shape.pop(all_gather_dimension)",
        "shape[all_gather_dimension] *= length": "shape[all_gather_dimension] = -1",
        "x = reshape(x, shape)": "x = x.reshape(*shape)",
    },
    fails="test_gather_rows",
)
# part of a name is the name
mistake(
    {
        'name_of(batch_size) != params["axis_name"]': 'str(name_of(batch_size)) not in str(params["axis_name"])'
    },
    fails="test_names_of_gathers",
)
# the name 0 is none
mistake(
    {
        'name_of(batch_size) != params["axis_name"]': 'not name_of(batch_size) or name_of(batch_size) != params["axis_name"]'
    },
    fails="test_names_of_gathers",
)
# Examples are joined one by one, of which there may be none.
mistake(
    {
        "if tiled:": "if tiled and not get_aval(x).shape[all_gather_dimension]:\n    raise TypeError\nif tiled:"
    },
    fails="test_gather_rows",
)
# a number of Python that all examples share has no shape
mistake({"0, vals[0])": "0, reshape(vals[0], vals[0].shape))"}, fails="test_gather_equals")


exercise("pmap.gather_transpose")


@right
def all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    place, axis = axis_index(axis_name), all_gather_dimension
    if tiled:
        n = x.aval.shape[axis]
        return [dynamic_slice_in_dim(psum(ct, axis_name), place * np.int32(n), n, axis)]
    return [dynamic_index_in_dim(psum(ct, axis_name), place, axis, False)]


@right
def all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    d = all_gather_dimension
    total = psum_p.bind(ct, axes=(axis_name,))
    if tiled:
        shape = get_aval(total).shape
        total = reshape(total, (*shape[:d], axis_size, shape[d] // axis_size, *shape[d + 1 :]))
    return [dynamic_index_in_dim(total, axis_index(axis_name), d, keepdims=False)]


@right(style="one way for both: slices, the length from the cotangent")
def all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    length = get_aval(ct).shape[all_gather_dimension] // axis_size
    start = mul(axis_index_p.bind(axis_name=axis_name), np.asarray(length, np.int32))
    everything = psum_p.bind(ct, axes=(axis_name,))
    part = dynamic_slice_in_dim(everything, start, length, all_gather_dimension)
    if len(get_aval(part).shape) > len(x.aval.shape):
        part = squeeze(part, (all_gather_dimension,))
    return [part]


mistake(
    {"psum_p.bind(ct, axes=(axis_name,))": "ct"},
    name="The cotangents that other examples hold are left out",
    hints=[
        "Two examples gather their numbers a and b. Example 0 then uses only b. Does b have a cotangent, and where is it?",
        "An example's value is in the gathered arrays of all the others as well. Each of them holds a cotangent for it, and the examples have to meet to add these.",
        "Sum first, by `psum_p.bind(ct, axes=(axis_name,))`, and take the part out of that sum.",
    ],
)
mistake(
    {
        "start = mul(place, np.int32(length))": "return [dynamic_slice_in_dim(total, place, length, all_gather_dimension)]",
        "return [dynamic_slice_in_dim(total, start, length, all_gather_dimension)]": "",
    },
    name="Tiled parts start at the number of the example",
    hints=[
        "Three examples contribute vectors of length 2, one after the other: six numbers. Where does the vector of example 2 begin?",
        "With `tiled`, each example takes up as many places as its value is long along that axis.",
        "Begin at `mul(axis_index(axis_name), np.int32(length))`, with `length = x.aval.shape[all_gather_dimension]`.",
    ],
)
# The sum is computed in float64.
mistake(
    {"if not tiled:": "total = convert_element_type(total, np.float64)\nif not tiled:"},
    fails="test_back_keeps_the_dtype",
)
# Parts of length 1 lose their axis, even if they are tiled.
mistake(
    {"not tiled": "not tiled or x.aval.shape[all_gather_dimension] == 1"},
    fails="test_back_keeps_the_dtype",
)
# The new axis is looked for by its length.
mistake(
    {"place, all_gather_dimension": "place, get_aval(total).shape.index(axis_size)"},
    fails="test_back_to_a_stack",
)
# All axes of length 1 go, not the stacked one alone.
mistake(
    {
        "return [dynamic_index": "part = dynamic_index",
        ", keepdims=False)]": """)
return [squeeze(part, [i for i, n in enumerate(get_aval(part).shape) if n == 1])]""",
    },
    fails="test_back_to_a_stack",
)


@mistake(fails="test_back_to_a_number")
def all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled):
    # A product with ones and zeros takes the part: NaN, where another part is infinite.
    d, total = all_gather_dimension, psum_p.bind(ct, axes=(axis_name,))
    if tiled:
        shape = x.aval.shape
        total = reshape(total, (*shape[:d], axis_size, *shape[d:]))
    ones = np.eye(axis_size, dtype=get_aval(ct).dtype)
    marks = dynamic_index_in_dim(ones, axis_index(axis_name), 0, keepdims=False)
    sizes = [axis_size if i == d else 1 for i in range(len(x.aval.shape) + 1)]
    return [reduce_sum(mul(total, reshape(marks, sizes)), (d,))]


# the start is counted in one byte
mistake(
    {"np.int32(length))": "np.int32(length))\nstart = convert_element_type(start, np.int8)"},
    fails="test_back_to_a_row",
)
# a name is a string
mistake({"axis_index(axis_name)": "axis_index(str(axis_name))"}, fails="test_back_to_a_number")


exercise("pmap.replica_program")


@right
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


@right
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


mistake(
    {"expand_dims(x, (axis,))": "expand_dims(x, (0,))"},
    name="The mapped axis always comes first in the pieces of the results",
    hints=[
        "A result of one example has the shape (4,), and `out_axes` is 1. What is the shape of its piece?",
        "The whole result is the pieces, joined along the axis that `out_axes` names. So each piece needs its axis of size 1 there.",
        "Go through `zip(results, out_axes)`, and use the axis: `expand_dims(x, (axis,))`.",
    ],
)
mistake(
    {"x if axis is None else expand_dims(x, (axis,))": "expand_dims(x, (axis or 0,))"},
    name="Results that all examples share get a mapped axis, too",
    hints=[
        "With `out_axes=None`, a number comes back as a number. What does your program return for it?",
        "None says that there is no axis to join along: the result is the same on all devices, and one of them is taken.",
        "Leave such a result as it is: `x if axis is None else expand_dims(x, (axis,))`.",
    ],
)
# The plain slip: traced where the name means nothing.
mistake({"with inside(**params):": "if True:"}, fails="test_replicas_meet")
# All axes of length 1 are taken away, also the example's own.
mistake(
    {"squeeze(x, (axis,))": "squeeze(x, tuple(i for i, n in enumerate(x.shape) if n == 1))"},
    fails="test_pieces_along_other_axes",
)
# A result may be a number of Python, which has no shape.
mistake(
    {"expand_dims(x, (axis,))": "reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))"},
    fails="test_pieces_of_length_one",
)
# Pieces are not weakly typed.
mistake(
    {"jaxpr.in_avals": "[ShapedArray(a.shape, a.dtype) for a in jaxpr.in_avals]"},
    fails="test_pieces_of_weak_types",
)
# the axis has its name by hand, and keeps it after an error
mistake(
    {
        "with inside(**params):": "from minijax.axis_env import AxisFrame, axis_env\n\nframes = axis_env.frames\naxis_env.frames = (*frames, AxisFrame(params['axis_name'], params['axis_size'], None))\nif True:",
        "    return trace_to_jaxpr(replica, whole_avals(jaxpr.in_avals, in_axes, axis_size=1))": "    program = trace_to_jaxpr(replica, whole_avals(jaxpr.in_avals, in_axes, axis_size=1))\n    axis_env.frames = frames\n    return program",
    },
    fails="test_pieces_of_a_program_that_fails",
)
# what is cut is not weakly typed any more
mistake(
    {
        "return trace_to_jaxpr(replica, whole_avals(jaxpr.in_avals, in_axes, axis_size=1))": "avals = whole_avals(jaxpr.in_avals, in_axes, axis_size=1)\npairs = zip(avals, in_axes, strict=True)\nreturn trace_to_jaxpr(replica, [a if axis is None else ShapedArray(a.shape, a.dtype) for a, axis in pairs])"
    },
    fails="test_pieces_of_weak_types",
)
# the axis of length 1 is looked for, and the example has one before it
mistake(
    {"squeeze(x, (axis,))": "squeeze(x, (get_aval(x).shape.index(1),))"},
    fails="test_pieces_along_other_axes",
)
# a piece has length 1, and so has the axis by its name
mistake(
    {"with inside(**params):": 'with inside(params["axis_name"], 1):'},
    fails="test_pieces_of_a_program_that_fails",
)


exercise("pmap.jvp")


@right
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


@right
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


@right(style="partial for rebind, masks for the axes")
def pmap_jvp(primals, tangents, *, jaxpr, in_axes, out_axes, **params):
    moves = [t is not None for t in tangents]
    floats = [aval.dtype.kind == "f" for aval in jaxpr.out_avals]
    rebind = functools.partial(
        pmap_call,
        in_axes=(*in_axes, *chosen(in_axes, moves)),
        out_axes=(*out_axes, *chosen(out_axes, floats)),
        **params,
    )
    with mapped_axis(AxisSize(params["axis_size"], params["axis_name"]), None):
        return call_jvp(rebind, list(primals), list(tangents), jaxpr)


mistake(
    {
        "moving = [axis for axis, t in zip(in_axes, tangents, strict=True) if t is not None]": "moving = [0 for t in tangents if t is not None]\nfloats = [axis for axis, aval in zip(out_axes, jaxpr.out_avals) if is_float(aval.dtype)]",
        "pairs = zip(out_axes, jaxpr.out_avals, strict=True)": "",
        "floats = [axis for axis, aval in pairs if is_float(aval.dtype)]": "",
    },
    name="Tangents of operands are cut along their first axis",
    hints=[
        "An operand of shape (5, 3) is cut along axis 1, so one example is a vector of length 5. What shape must the tangent of one example have?",
        "A tangent belongs to its primal, entry by entry. It must be cut as the primal is, and not at all if the primal is shared.",
        "After the old `in_axes`: `[axis for axis, t in zip(in_axes, tangents) if t is not None]`.",
    ],
)
mistake(
    {
        "moving = [axis for axis, t in zip(in_axes, tangents, strict=True) if t is not None]": "moving = [axis for axis, t in zip(in_axes, tangents) if t is not None]\nfloats = [0 for aval in jaxpr.out_avals if is_float(aval.dtype)]",
        "pairs = zip(out_axes, jaxpr.out_avals, strict=True)": "",
        "floats = [axis for axis, aval in pairs if is_float(aval.dtype)]": "",
    },
    name="Tangents of results are joined along their first axis",
    hints=[
        "A result is joined along axis 1. Does the tangent that your call returns have the same shape?",
        "The tangent of a result has the type of the result. So it is joined along the same axis; and if the result is shared, its tangent is shared.",
        "After the old `out_axes` come those of the floating-point results: take the axis from `zip(out_axes, jaxpr.out_avals)`.",
    ],
)
# The plain slip: as many axes again for the tangents, also of integers.
mistake({"*floats": "*out_axes"}, fails="test_slope_of_integers")
# Only float64 counts as floating-point.
mistake(
    {"is_float(aval.dtype)": "aval.dtype == np.float64"}, fails="test_slope_in_single_precision"
)
# A tangent that is zero everywhere is counted as None.
mistake(
    {"t is not None": "t is not None and (not isinstance(t, np.ndarray) or t.any())"},
    fails="test_slope_zero",
)
# As many axes as tangents, but the first ones.
mistake({"*moving": "*in_axes[: len(moving)]"}, fails="test_slope_of_some_operands")
# The caller's list of axes grows.
mistake(
    {"rebind =": "in_axes += type(in_axes)(moving)\nrebind =", "[*in_axes, *moving]": "in_axes"},
    fails="test_slopes_in_turn",
)
# unsigned integers have tangents
mistake({"is_float(aval.dtype)": "aval.dtype.kind not in 'ib'"}, fails="test_slope_of_integers")
# no more than three axes
mistake({"moving = [axis": "moving = [axis and min(axis, 2)"}, fails="test_slope_along_other_axes")
# the same: the name of the axis with another length
mistake(
    {"with inside(**params):": 'with inside(params["axis_name"], 1):'},
    fails="test_slope_that_is_missing",
)
# a result that is there twice has one axis
mistake(
    {
        "floats = [axis for axis, aval in pairs if is_float(aval.dtype)]": """axes = {id(aval): axis for axis, aval in pairs}
floats = [axes[id(aval)] for aval in jaxpr.out_avals if is_float(aval.dtype)]"""
    },
    fails="test_slope_along_other_axes",
)
# one array is two operands, cut along two axes
mistake(
    {
        "moving = [axis for axis, t in zip(in_axes, tangents, strict=True) if t is not None]": """axes = dict(zip(map(id, primals), in_axes, strict=True))
moving = [axes[id(x)] for x, t in zip(primals, tangents, strict=True) if t is not None]"""
    },
    fails="test_slope_zero",
)


exercise("pmap.two_axes")


@right
def mapped_and_batch(axis, dim):
    if axis is None or dim is not_mapped:
        return axis, dim
    axes = [*range(axis), "mapped"]
    axes += ["other"] * (dim - len(axes))
    axes.insert(dim, "batch")
    mapped = axes.index("mapped")
    axes.remove("mapped")
    return mapped, axes.index("batch")


@right(style="case by case")
def mapped_and_batch(axis, dim):
    match axis, dim:
        case (None, _) | (_, NotMapped()):
            return axis, dim
        case _ if dim <= axis:
            return axis + 1, dim
    return axis, dim - 1


mistake(
    {"axis += dim <= axis": ""},
    name="The mapped axis is counted without the batch axis",
    hints=[
        "Arrays of shape (5, 3), mapped along axis 0, are a batch of shape (4, 5, 3). Which axis of it is the mapped one?",
        "A batch axis that comes before the mapped one, or takes its place, moves it one place back.",
        "`axis += dim <= axis`.",
    ],
)
mistake(
    {"return axis, dim - (axis < dim)": "return axis, dim"},
    name="The batch axis of a piece is counted with the mapped axis",
    hints=[
        "Arrays of shape (5, 3), mapped along axis 0, are a batch of shape (5, 4, 3). What is the shape of a piece, and which of its axes is the batch axis?",
        "A piece has no mapped axis. The axes after it have moved one place to the front.",
        "`dim - (axis < dim)`, with the mapped axis of the batch.",
    ],
)
# Axis 0 is taken for None.
mistake({"axis is None": "not axis"}, fails="test_mapped_axis_first")
# a batch axis that is not there is None
mistake(
    {
        "if axis is None or isinstance(dim, NotMapped):": "if isinstance(dim, NotMapped):\n    dim = None\nif axis is None or dim is None:"
    },
    fails="test_one_of_two_axes",
)
# no more than six axes
mistake({"dim - (axis < dim)": "dim - (axis < dim < 6)"}, fails="test_mapped_axis_anywhere")
