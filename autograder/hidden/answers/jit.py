"""Answers to the exercises of the lesson jit: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("jit.program")
def program(self, args, kwargs):
    leaves, structure = self.flatten(args, kwargs)
    types = [raise_to_shaped(get_aval(leaf)) for leaf in leaves]
    key = axis_sizes(), structure, *types
    try:
        return self.programs[key]
    except KeyError:
        found = self.programs[key] = self.traced(args, kwargs)
        return found


@right("jit.program")
def program(self, args, kwargs):
    leaves, structure = self.flatten(args, kwargs)
    avals = map(get_aval, leaves)
    types = tuple((a.shape, a.dtype, a.weak_type) for a in avals)
    found = self.programs.get((types, structure, axis_sizes()))
    if found is None:
        found = self.traced(args, kwargs)
        self.programs[types, structure, axis_sizes()] = found
    return found


@mistake(
    "jit.program",
    name="The function is traced at each call",
    hints=[
        "Put a `print` into a jitted function, and call it three times. How often should it print?",
        "Tracing is the slow part, in Python. A program that was made for such arguments is to be used again.",
        "Look into `self.programs` first. Call `self.traced` only if the key is not there.",
    ],
)
def program(self, args, kwargs):
    leaves, structure = self.flatten(args, kwargs)
    key = (structure, tuple(raise_to_shaped(get_aval(x)) for x in leaves), axis_sizes())
    self.programs[key] = self.traced(args, kwargs)
    return self.programs[key]


@mistake(
    "jit.program",
    name="Programs are kept by the values of the arguments",
    hints=[
        "Train a model for a thousand steps: how many different values do its weights have, and how many programs are needed?",
        "A program has inputs. It computes with any values of the right types, so values do not belong to the key.",
        "The key holds `raise_to_shaped(get_aval(x))` of each leaf: shape, dtype and weak type.",
    ],
)
def program(self, args, kwargs):
    leaves, structure = self.flatten(args, kwargs)
    avals = tuple(raise_to_shaped(get_aval(x)) for x in leaves)
    key = (structure, avals, tuple(map(str, leaves)), axis_sizes())
    if key not in self.programs:
        self.programs[key] = self.traced(args, kwargs)
    return self.programs[key]


@mistake(
    "jit.program",
    name="Only shapes and dtypes are looked at, not weak types",
    hints=[
        "What are the dtypes of `2.0 + x` and of `np.float64(2.0) + x`, where `x` is float32?",
        "The program for a Python number converts it to float32; that for a float64 converts the array. They are two programs.",
        "Take the whole type into the key, not only its shape and its dtype: types can be compared.",
    ],
)
def program(self, args, kwargs):
    leaves, structure = self.flatten(args, kwargs)
    avals = tuple((get_aval(x).shape, get_aval(x).dtype) for x in leaves)
    key = (structure, avals, axis_sizes())
    if key not in self.programs:
        self.programs[key] = self.traced(args, kwargs)
    return self.programs[key]


@mistake(
    "jit.program",
    name="The structure of the arguments is left out",
    hints=[
        "Call a function with a list of two arrays, then with a tuple of them. Is it the same program?",
        "The same leaves may stand in other containers. A function may do something else then, and static values are part of the structure, too.",
        "`leaves, structure = self.flatten(args, kwargs)`: `structure` belongs to the key.",
    ],
)
def program(self, args, kwargs):
    leaves, _ = self.flatten(args, kwargs)
    key = (tuple(raise_to_shaped(get_aval(x)) for x in leaves), axis_sizes())
    if key not in self.programs:
        self.programs[key] = self.traced(args, kwargs)
    return self.programs[key]


@right("jit.bind")
def bind(self, args, kwargs):
    closed, out_tree, _ = self.program(args, kwargs)
    outs = call(closed, self.flatten(args, kwargs)[0], self.name)
    return tree_unflatten(out_tree, outs)


@right("jit.bind")
def bind(self, args, kwargs):
    program = self.program(args, kwargs)
    leaves = self.flatten(args, kwargs)[0]
    return tree_unflatten(program.out_tree, call(program.closed, tuple(leaves), self.name))


@mistake(
    "jit.bind",
    name="The Python function is called, and not its program",
    hints=[
        "Look at `make_jaxpr` of a function that calls a jitted one. How many equations should there be for the call?",
        "Calling `self.fun` gives the right values, operation by operation. Nobody will see a call that could be compiled.",
        "Get `self.program(args, kwargs)`, and `call` its `closed` program on the leaves.",
    ],
)
def bind(self, args, kwargs):
    return self.fun(*args, **kwargs)


@mistake(
    "jit.bind",
    name="The results come back as a flat list",
    hints=[
        "What does the user's function return: a list of all leaves, or the containers that it made?",
        "The program has flat outputs. Which part of the `Program` remembers what they were taken from?",
        "`tree_unflatten(program.out_tree, outs)` is what is returned.",
    ],
)
def bind(self, args, kwargs):
    program, (leaves, _) = self.program(args, kwargs), self.flatten(args, kwargs)
    return call(program.closed, leaves, self.name)


@right("jit.type")
def jit_type(*avals, name, jaxpr):
    match = len(avals) == len(jaxpr.in_avals)
    for aval, wanted in zip(avals, jaxpr.in_avals):
        match = match and aval.shape == wanted.shape and aval.dtype == wanted.dtype
    if not match:
        raise TypeError("wrong operands")
    return list(jaxpr.out_avals)


@right("jit.type")
def jit_type(*avals, name, jaxpr):
    if [aval.str_short() for aval in avals] != [aval.str_short() for aval in jaxpr.in_avals]:
        raise TypeError(f"{name}: the operands do not fit.")
    return [atom.aval for atom in jaxpr.jaxpr.outvars]


@mistake(
    "jit.type",
    name="The types of the inputs are given as those of the results",
    hints=[
        "A program that compares two numbers: what type do its inputs have, and what type its result?",
        "`in_avals` are the types of the inputs. The question is what comes out.",
        "Return `jaxpr.out_avals`.",
    ],
)
def jit_type(*avals, name, jaxpr):
    given, wanted = ([(a.shape, a.dtype) for a in types] for types in (avals, jaxpr.in_avals))
    if given != wanted:
        raise TypeError(f"{name} is called with the wrong operands")
    return jaxpr.in_avals


@mistake(
    "jit.type",
    name="Weak types must agree",
    hints=[
        "May a program that takes f64[] be called with a Python number?",
        "A weak type says how a dtype gives way when types are found. The array itself is an array of its dtype.",
        "Compare `(aval.shape, aval.dtype)`, not the whole type.",
    ],
)
def jit_type(*avals, name, jaxpr):
    if list(avals) != list(jaxpr.in_avals):
        raise TypeError(f"{name} is called with the wrong operands")
    return jaxpr.out_avals


@right("jit.tensor_type")
def tensor_type(aval):
    return "tensor<" + "x".join([*map(str, aval.shape), element_type(aval.dtype)]) + ">"


@right("jit.tensor_type")
def tensor_type(aval):
    text = element_type(aval.dtype)
    for n in reversed(aval.shape):
        text = f"{n}x{text}"
    return f"tensor<{text}>"


@mistake(
    "jit.tensor_type",
    name="Lengths and dtype stand without an x in between",
    hints=[
        "How does StableHLO know where the shape ends and the dtype begins?",
        "Each length has an x behind it, the last one too: `tensor<3xf64>`.",
        'The part for the shape is `"".join(f"{n}x" for n in aval.shape)`.',
    ],
)
def tensor_type(aval):
    return f"tensor<{'x'.join(map(str, aval.shape))}{element_type(aval.dtype)}>"


@mistake(
    "jit.tensor_type",
    name="The dtype has NumPy's name",
    hints=[
        "What does the example call float64?",
        "StableHLO has names of its own for dtypes: f64, i32, ui8, i1.",
        "`element_type(aval.dtype)` gives StableHLO's name.",
    ],
)
def tensor_type(aval):
    return f"tensor<{''.join(f'{n}x' for n in aval.shape)}{aval.dtype.name}>"


@right("jit.reduce_sum_lowering")
def reduce_sum_hlo(emitter, avals, out_avals, args, *, axes):
    start = ShapedArray((), avals[0].dtype)
    zero = emit_literal(emitter, Literal(0, start))
    ins = f"{tensor_type(avals[0])}, {tensor_type(start)}"
    what = f"stablehlo.reduce({args[0]} init: {zero}) applies stablehlo.add"
    where = f"across dimensions = {list(axes)}"
    return (emitter.emit(f"{what} {where} : ({ins}) -> {tensor_type(out_avals[0])}"),)


@right("jit.reduce_sum_lowering")
def reduce_sum_hlo(emitter, avals, out_avals, args, *, axes):
    aval = avals[0]
    one = ShapedArray((), aval.dtype)
    zero = (
        emitter.emit(f"stablehlo.constant dense<0> : {tensor_type(one)}")
        if (aval.dtype.kind in "iu")
        else emit_literal(emitter, Literal(np.zeros((), aval.dtype), one))
    )
    across = ",".join(str(int(axis)) for axis in sorted(axes))
    text = f"stablehlo.reduce({args[0]} init: {zero}) applies stablehlo.add across dimensions ="
    text += f" [{across}] : ({tensor_type(aval)}, {tensor_type(one)})"
    return [emitter.emit(f"{text} -> {tensor_type(out_avals[0])}")]


@mistake(
    "jit.reduce_sum_lowering",
    name="The sum starts at one",
    hints=[
        "What is the sum of no numbers at all?",
        "The start value is added too. It must be the number that changes nothing when it is added.",
        "`np.zeros((), aval.dtype)` is the value of the literal.",
    ],
)
def reduce_sum_hlo(emitter, avals, out_avals, args, *, axes):
    (aval,), (out,), (x,) = avals, out_avals, args
    zero = ShapedArray((), aval.dtype)
    init = emit_literal(emitter, Literal(np.ones((), aval.dtype), zero))
    dims = ", ".join(map(str, axes))
    types = f"({tensor_type(aval)}, {tensor_type(zero)}) -> {tensor_type(out)}"
    text = f"stablehlo.reduce({x} init: {init}) applies stablehlo.add across dimensions = [{dims}]"
    return [emitter.emit(f"{text} : {types}")]


@right("jit.lower_body")
def lower_body(emitter, jaxpr, args, consts=()):
    names = {}
    for var, const in zip(jaxpr.constvars, consts, strict=True):
        names[var] = emitter.capture(const)
    names |= zip(jaxpr.invars, args, strict=True)

    def name_of_atom(atom):
        match atom:
            case Literal():
                return emit_literal(emitter, atom)
        return names[atom]

    for eqn in jaxpr.eqns:
        operands = list(map(name_of_atom, eqn.invars))
        rule = get_rule(hlo_lowerings, eqn.primitive, "StableHLO lowering")
        types = [[atom.aval for atom in atoms] for atoms in (eqn.invars, eqn.outvars)]
        for var, name in zip(eqn.outvars, rule(emitter, *types, operands, **eqn.params)):
            names[var] = name
    return list(map(name_of_atom, jaxpr.outvars))


@right("jit.lower_body")
def lower_body(emitter, jaxpr, args, consts=()):
    env = dict(zip(jaxpr.invars, args))
    env.update((var, emitter.capture(const)) for var, const in zip(jaxpr.constvars, consts))
    known = {}

    def read(atom):
        if not isinstance(atom, Literal):
            return env[atom]
        if id(atom) not in known:
            known[id(atom)] = emit_literal(emitter, atom)
        return known[id(atom)]

    for eqn in jaxpr.eqns:
        rule = get_rule(hlo_lowerings, eqn.primitive, "StableHLO lowering")
        outs = rule(
            emitter,
            [x.aval for x in eqn.invars],
            [x.aval for x in eqn.outvars],
            [read(x) for x in eqn.invars],
            **eqn.params,
        )
        env |= zip(eqn.outvars, outs)
    return [read(x) for x in jaxpr.outvars]


@mistake(
    "jit.lower_body",
    name="Literals are handed over as constants",
    hints=[
        "Look at the text of `x * 2.0`: how many inputs does `main` have?",
        "An array that the function has captured is handed over at each call. A number in the program can stand in the text, where the compiler sees its value.",
        "`emit_literal(emitter, atom)` for a literal, not `emitter.capture(atom.val)`.",
    ],
)
def lower_body(emitter, jaxpr, args, consts=()):
    captured = [emitter.capture(const) for const in consts]
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*captured, *args], strict=True))

    def read(atom):
        if isinstance(atom, Literal):
            return emitter.capture(np.asarray(atom.val, atom.aval.dtype))
        return env[atom]

    for eqn in jaxpr.eqns:
        rule = get_rule(hlo_lowerings, eqn.primitive, "StableHLO lowering")
        avals = [atom.aval for atom in eqn.invars]
        out_avals = [var.aval for var in eqn.outvars]
        outs = rule(emitter, avals, out_avals, [read(x) for x in eqn.invars], **eqn.params)
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


@mistake(
    "jit.lower_body",
    name="The results of the last equation are taken for the outputs",
    hints=[
        "Where does a program say what its outputs are?",
        "An output may be an input, an early result or a literal, and may stand there twice.",
        "`[read(atom) for atom in jaxpr.outvars]`, after the loop.",
    ],
)
def lower_body(emitter, jaxpr, args, consts=()):
    captured = [emitter.capture(const) for const in consts]
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*captured, *args], strict=True))

    def read(atom):
        return emit_literal(emitter, atom) if isinstance(atom, Literal) else env[atom]

    outs = list(args)
    for eqn in jaxpr.eqns:
        rule = get_rule(hlo_lowerings, eqn.primitive, "StableHLO lowering")
        avals = [atom.aval for atom in eqn.invars]
        out_avals = [var.aval for var in eqn.outvars]
        outs = rule(emitter, avals, out_avals, [read(x) for x in eqn.invars], **eqn.params)
        env.update(zip(eqn.outvars, outs, strict=True))
    return outs


@right("jit.impl")
def jit_impl(*args, name, jaxpr):
    executable, buffers, committed = compiled(jaxpr, committed_devices(args))
    buffers = list(buffers)
    for aval, x in zip(jaxpr.in_avals, args):
        buffers.append(to_buffer(aval, x, executable.devices))
    results = []
    for aval, buffer in zip(jaxpr.out_avals, xla.run(executable, buffers)):
        results.append(array_of(aval, buffer, executable.devices, committed))
    return results


@right("jit.impl")
def jit_impl(*args, name, jaxpr):
    program = compiled(jaxpr, committed_devices(args))
    places = [program.executable.devices] * len(args)
    buffers = [*program.captured, *map(to_buffer, jaxpr.in_avals, args, places)]
    outs = xla.run(program.executable, buffers)
    places = [program.executable.devices] * len(outs)
    return list(map(array_of, jaxpr.out_avals, outs, places, [program.committed] * len(outs)))


@mistake(
    "jit.impl",
    name="The program is compiled at each call",
    hints=[
        "How long does the second call of a jitted function take, compared with the first one?",
        "Compiling takes milliseconds or minutes, and the result does not depend on the values. Some function keeps it.",
        "`compiled(jaxpr, committed_devices(args))` gives what was compiled before, if there is something.",
    ],
)
def jit_impl(*args, name, jaxpr):
    text, emitter = lower(jaxpr)
    place = committed_devices(args)
    on = place or xla.alone(xla.current_device())
    executable = xla.compile_text(text, on, jaxpr.out_avals)
    inputs = [to_buffer(aval, x, on) for aval, x in zip(jaxpr.in_avals, args, strict=True)]
    captured = [to_buffer(raise_to_shaped(get_aval(x)), x, on) for x in emitter.captured]
    outs = xla.run(executable, [*captured, *inputs])
    pairs = zip(jaxpr.out_avals, outs, strict=True)
    return [array_of(aval, out, on, place is not None) for aval, out in pairs]


@mistake(
    "jit.impl",
    name="The results are copied to NumPy at once",
    hints=[
        "A result is often the argument of the next call. Where should it be in between?",
        "A copy to NumPy waits until the device has computed, and the next call copies everything back. The user may never look at the values.",
        "Wrap each buffer: `array_of(aval, buffer, devices, committed)`. It is copied when somebody asks for its values.",
    ],
)
def jit_impl(*args, name, jaxpr):
    program = compiled(jaxpr, committed_devices(args))
    on = program.executable.devices
    inputs = [to_buffer(aval, x, on) for aval, x in zip(jaxpr.in_avals, args, strict=True)]
    outs = xla.run(program.executable, [*program.captured, *inputs])
    pairs = zip(jaxpr.out_avals, outs, strict=True)
    return [ArrayImpl(array_of(aval, out, on).value) for aval, out in pairs]


@mistake(
    "jit.impl",
    name="Arguments on the device are sent there again",
    hints=[
        "What is an argument that was the result of another call: an array of NumPy?",
        "Such an array has a buffer on the device already. To make a copy by way of NumPy is slow, and for nothing.",
        "`to_buffer(aval, x, devices)` takes care of both kinds of arguments; `xla.to_device` always copies.",
    ],
)
def jit_impl(*args, name, jaxpr):
    program = compiled(jaxpr, committed_devices(args))
    on = program.executable.devices
    inputs = [xla.to_device(aval, x, on) for aval, x in zip(jaxpr.in_avals, args, strict=True)]
    outs = xla.run(program.executable, [*program.captured, *inputs])
    pairs = zip(jaxpr.out_avals, outs, strict=True)
    return [array_of(aval, out, on, program.committed) for aval, out in pairs]


@right("jit.jvp")
def jvp_jaxpr(jaxpr, moves):
    n = len(moves)

    def f_and_derivative(*args):
        tangents = list(args[n:])
        full = [tangents.pop(0) if move else None for move in moves]
        values, changes = jvp_flat(jaxpr_as_fun(jaxpr), list(args[:n]), full)
        return values + [c for a, c in zip(jaxpr.out_avals, changes) if is_float(a.dtype)]

    moving = [aval for i, aval in enumerate(jaxpr.in_avals) if moves[i]]
    return derived(jaxpr, ("jvp", moves), f_and_derivative, jaxpr.in_avals + moving)


@right("jit.jvp")
def jvp_jaxpr(jaxpr, moves):
    avals = list(jaxpr.in_avals)
    places = [i for i, move in enumerate(moves) if move]

    def f(*args):
        tangents = [None] * len(avals)
        for place, tangent in zip(places, args[len(avals) :], strict=True):
            tangents[place] = tangent
        primals_out, tangents_out = jvp_flat(jaxpr_as_fun(jaxpr), args[: len(avals)], tangents)
        outs = list(primals_out)
        for t in tangents_out:
            if is_float(get_aval(t).dtype):
                outs.append(t)
        return outs

    return derived(jaxpr, ("jvp", moves), f, avals + [avals[i] for i in places])


@mistake(
    "jit.jvp",
    name="Values and tangents alternate",
    hints=[
        "In which order does the docstring list what the new program gives?",
        "Whoever calls the program cuts its results into two parts. All values come first.",
        "`[*primals_out, *tangents]`, without the tangents of integers and booleans.",
    ],
)
def jvp_jaxpr(jaxpr, moves):
    avals, f = jaxpr.in_avals, jaxpr_as_fun(jaxpr)

    def values_and_tangents(*args):
        primals, moving = args[: len(avals)], iter(args[len(avals) :])
        tangents = [next(moving) if move else None for move in moves]
        outs = []
        for value, tangent in zip(*jvp_flat(f, primals, tangents), strict=True):
            outs += [value, tangent] if is_float(get_aval(tangent).dtype) else [value]
        return outs

    tangent_avals = [aval for aval, move in zip(avals, moves, strict=True) if move]
    return derived(jaxpr, ("jvp", moves), values_and_tangents, [*avals, *tangent_avals])


@mistake(
    "jit.jvp",
    name="The program is differentiated anew each time",
    hints=[
        "The gradient of a loss with a jitted function in it is computed a thousand times. How often does that function have to be differentiated?",
        "A new program would also be compiled anew, since what was compiled is kept beside its program.",
        'Let `derived(jaxpr, ("jvp", moves), ...)` trace: it keeps what it makes. `trace_to_jaxpr` does not.',
    ],
)
def jvp_jaxpr(jaxpr, moves):
    avals, f = jaxpr.in_avals, jaxpr_as_fun(jaxpr)

    def values_and_tangents(*args):
        primals, moving = args[: len(avals)], iter(args[len(avals) :])
        tangents = [next(moving) if move else None for move in moves]
        primals_out, tangents_out = jvp_flat(f, primals, tangents)
        return [*primals_out, *(t for t in tangents_out if is_float(get_aval(t).dtype))]

    tangent_avals = [aval for aval, move in zip(avals, moves, strict=True) if move]
    return trace_to_jaxpr(values_and_tangents, [*avals, *tangent_avals])


@mistake(
    "jit.jvp",
    name="What moves is not part of the key",
    hints=[
        "One program is asked for twice, first where only `x` moves, then where `y` moves as well. Are these the same program?",
        "They take different inputs. What is kept under one key must be the same for all who ask with it.",
        'The key for `derived` is `("jvp", moves)`.',
    ],
)
def jvp_jaxpr(jaxpr, moves):
    avals, f = jaxpr.in_avals, jaxpr_as_fun(jaxpr)

    def values_and_tangents(*args):
        primals, moving = args[: len(avals)], iter(args[len(avals) :])
        tangents = [next(moving) if move else None for move in moves]
        primals_out, tangents_out = jvp_flat(f, primals, tangents)
        return [*primals_out, *(t for t in tangents_out if is_float(get_aval(t).dtype))]

    tangent_avals = [aval for aval, move in zip(avals, moves, strict=True) if move]
    return derived(jaxpr, "jvp", values_and_tangents, [*avals, *tangent_avals])


@mistake(
    "jit.jvp",
    name="Every input gets a tangent, moving or not",
    hints=[
        "How many inputs should the program have if one of two inputs moves?",
        "Whoever calls the program gives tangents for what moves only. A tangent that is known to be zero is None, and costs nothing.",
        "Take a tangent from those that are given if `move`, and None if not; the types of the tangents are those of the inputs that move.",
    ],
)
def jvp_jaxpr(jaxpr, moves):
    avals, f = jaxpr.in_avals, jaxpr_as_fun(jaxpr)

    def values_and_tangents(*args):
        primals, given = args[: len(avals)], args[len(avals) :]
        tangents = [t if is_float(a.dtype) else None for t, a in zip(given, avals, strict=True)]
        primals_out, tangents_out = jvp_flat(f, primals, tangents)
        return [*primals_out, *(t for t in tangents_out if is_float(get_aval(t).dtype))]

    return derived(jaxpr, ("jvp", moves), values_and_tangents, [*avals, *avals])


@right("jit.batch")
def batched_jaxpr(jaxpr, axis_size, dims, avals):
    key = batching_key(axis_size, dims)
    found = jaxpr.jaxpr.cache.get(key)
    if found is None:
        axes = []

        def f(*args):
            outs, where = vmap_flat(jaxpr_as_fun(jaxpr), axis_size, dims, args)
            axes.extend(where)
            return outs

        program = trace_to_jaxpr(f, avals)
        found = jaxpr.jaxpr.cache[key] = program, axes
    return found


@right("jit.batch")
def batched_jaxpr(jaxpr, axis_size, dims, avals):
    if batching_key(axis_size, dims) in jaxpr.jaxpr.cache:
        return jaxpr.jaxpr.cache[batching_key(axis_size, dims)]
    seen = {}

    def f(*args):
        outs, seen["dims"] = vmap_flat(jaxpr_as_fun(jaxpr), axis_size, list(dims), list(args))
        return outs

    pair = trace_to_jaxpr(f, avals), seen["dims"]
    jaxpr.jaxpr.cache[batching_key(axis_size, dims)] = pair
    return pair


@mistake(
    "jit.batch",
    name="The program is batched anew each time",
    hints=[
        "`vmap` of a jitted function is called a thousand times. How often does its program have to be batched?",
        "A new program is compiled anew, too, for what was compiled is kept beside its program.",
        "Let `kept(jaxpr, batching_key(axis_size, dims), make)` call your function, and only if there is nothing yet.",
    ],
)
def batched_jaxpr(jaxpr, axis_size, dims, avals):
    out_dims = []

    def batched_f(*args):
        outs, out_dims[:] = vmap_flat(jaxpr_as_fun(jaxpr), axis_size, dims, args)
        return outs

    return trace_to_jaxpr(batched_f, avals), out_dims


@mistake(
    "jit.batch",
    name="The batch axes are not part of the key",
    hints=[
        "One program, three examples: first both inputs are batched, then only one of them is. Is it the same program?",
        "Where the batch axes are decides what the new program computes, and where the batch axes of its results are.",
        "The key is `batching_key(axis_size, dims)`: number of examples, name, and all batch axes.",
    ],
)
def batched_jaxpr(jaxpr, axis_size, dims, avals):
    cache, key = jaxpr.jaxpr.cache, ("vmap", axis_size, name_of(axis_size))
    if key not in cache:
        out_dims = []

        def batched_f(*args):
            outs, out_dims[:] = vmap_flat(jaxpr_as_fun(jaxpr), axis_size, dims, args)
            return outs

        cache[key] = trace_to_jaxpr(batched_f, avals), out_dims
    return cache[key]


@mistake(
    "jit.batch",
    name="All results are said to have their batch axis in front",
    hints=[
        "Take a transpose of a batch whose batch axis is the last one. Where is it afterwards?",
        "Each rule leaves the batch axis where it is convenient, and a result may have none. `vmap_flat` says where they are.",
        "The second thing that `vmap_flat` gives is the list to return beside the program.",
    ],
)
def batched_jaxpr(jaxpr, axis_size, dims, avals):
    cache, key = jaxpr.jaxpr.cache, batching_key(axis_size, dims)
    if key not in cache:

        def batched_f(*args):
            return vmap_flat(jaxpr_as_fun(jaxpr), axis_size, dims, args)[0]

        cache[key] = trace_to_jaxpr(batched_f, avals), [0] * len(jaxpr.out_avals)
    return cache[key]
