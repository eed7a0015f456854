"""Answers to the exercises of the `jit` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("jit.program")


@right
def program(self, args, kwargs):
    leaves, structure = self.flatten(args, kwargs)
    types = [raise_to_shaped(get_aval(leaf)) for leaf in leaves]
    key = axis_sizes(), structure, *types
    try:
        return self.programs[key]
    except KeyError:
        found = self.programs[key] = self.traced(args, kwargs)
        return found


@right
def program(self, args, kwargs):
    leaves, structure = self.flatten(args, kwargs)
    avals = map(raise_to_shaped, map(get_aval, leaves))
    types = tuple((a.shape, a.dtype, a.weak_type) for a in avals)
    found = self.programs.get((types, structure, axis_sizes()))
    if found is None:
        found = self.traced(args, kwargs)
        self.programs[types, structure, axis_sizes()] = found
    return found


mistake(
    {"key not in self.programs": "True"},
    name="The function is traced at each call",
    hints=[
        "Put a `print` into a jitted function, and call it three times. How many times should it print?",
        "Tracing is the slow part, in Python. A program that was made for such arguments should be reused.",
        "Look into `self.programs` first. Call `self.traced` only if the key is not there.",
    ],
)
mistake(
    {"axis_sizes": "tuple(map(str, leaves)), axis_sizes"},
    name="Programs are cached by the values of the arguments",
    hints=[
        "Train a model for a thousand steps: how many different values do its weights have, and how many programs are needed?",
        "A program has inputs. It computes with any values of the right types, so values do not belong to the key.",
        "The key holds `raise_to_shaped(get_aval(x))` of each leaf: shape, dtype and weak type.",
    ],
)
mistake(
    {"raise_to_shaped(get_aval(x))": "(get_aval(x).shape, get_aval(x).dtype)"},
    name="Only shapes and dtypes are looked at, not weak types",
    hints=[
        "What are the dtypes of `2.0 + x` and of `np.float64(2.0) + x`, where `x` is float32?",
        "The program for a Python number converts the number to float32; the program for a float64 converts the array. They are two programs.",
        "Put the whole type into the key, not only its shape and its dtype: types can be compared.",
    ],
)
mistake(
    {"(structure, avals, axis_sizes())": "(avals, axis_sizes())"},
    name="The structure of the arguments is left out",
    hints=[
        "Call a function with a list of two arrays, then with a tuple of them. Is it the same program?",
        "The same leaves may be in other containers. A function may do something else then, and static values are part of the structure, too.",
        "`leaves, structure = self.flatten(args, kwargs)`: `structure` belongs to the key.",
    ],
)
# Weak by the class; but an array of Python's numbers alone is weakly typed, too.
mistake(
    {
        "raise_to_shaped(get_aval(x))": "(get_aval(x).shape, get_aval(x).dtype, type(x) in (int, float))"
    },
    fails="test_program_for_weak_types",
)
# Axes as a set: of two with one name, it is lost which one is the inner one.
mistake({"axis_sizes()": "frozenset(axis_sizes())"}, fails="test_program_with_named_axes")
# The hash instead of the key: hash(-1) == hash(-2).
mistake(
    {"(structure, avals, axis_sizes())": "hash((structure, avals, axis_sizes()))"},
    fails="test_program_by_name",
)
# The types as a set: their order and number are lost.
mistake(
    {"avals, axis_sizes())": "frozenset(avals), axis_sizes())"},
    fails="test_program_for_types_in_order",
)
# The key as text: what prints alike is taken for the same.
mistake(
    {
        "(structure, avals, axis_sizes())": "str((structure, [(str(a), a.weak_type) for a in avals], axis_sizes()))"
    },
    fails="test_program_for_static_values",
)
# Where names can be used, nothing is kept.
mistake(
    {
        "leaves, structure =": "if axis_sizes():\n    return self.traced(args, kwargs)\nleaves, structure ="
    },
    fails="test_program_with_named_axes",
)
# of nested axes, the innermost one alone
mistake({"axis_sizes())": "axis_sizes()[-1:])"}, fails="test_program_with_named_axes")
# a function that failed is not traced again: what was put there for it stays
mistake(
    {
        "self.programs[key] = self.traced(args, kwargs)": "self.programs[key] = None\nself.programs[key] = self.traced(args, kwargs)"
    },
    fails="test_program_parts",
)
# the value of a number that is true or false, which Python code often asks for
mistake(
    {"axis_sizes())": "axis_sizes(), *(x for x in leaves if type(x) is bool))"},
    fails="test_program_not_for_each_value",
)
# a box of a batch has its own program, for each batch axis
mistake(
    {"axis_sizes())": 'axis_sizes(), *(str(getattr(x, "batch_dim", "")) for x in leaves))'},
    fails="test_program_for_tracers",
)
# integers of one byte are one type
mistake(
    {
        "avals, axis_sizes())": "tuple((a.shape, a.weak_type, 1 if a.dtype.itemsize == 1 else a.dtype) for a in avals), axis_sizes())"
    },
    fails="test_program_for_each_type",
)
# the types of the first three arguments
mistake(
    {"avals, axis_sizes())": "avals[:3], axis_sizes())"}, fails="test_program_for_types_in_order"
)
# names that print alike are one name
mistake(
    {"axis_sizes())": "tuple((str(name), size) for name, size in axis_sizes()))"},
    fails="test_program_with_named_axes",
)
# arguments by name in another order make another program
mistake({"axis_sizes())": "axis_sizes(), tuple(kwargs))"}, fails="test_program_by_name")
# whether any leaf is weakly typed, not which
mistake(
    {
        "avals, axis_sizes())": "tuple((a.shape, a.dtype) for a in avals), any(a.weak_type for a in avals), axis_sizes())"
    },
    fails="test_program_for_types_in_order",
)
# without arguments, there is one program
mistake({"axis_sizes())": "axis_sizes() if leaves else ())"}, fails="test_program_with_named_axes")
# a second jit(f) has programs of its own
mistake({"axis_sizes())": "axis_sizes(), id(self))"}, fails="test_program_is_shared")
# the caller's dict is emptied
mistake(
    {"return self.programs[key]": "kwargs.clear()\nreturn self.programs[key]"},
    fails="test_program_by_name",
)


exercise("jit.lower_body")


@right
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


@right
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


@right(style="a method object, literals by isinstance, everything in loops")
def lower_body(emitter, jaxpr, args, consts=()):
    class Lowering:
        def __init__(self):
            self.names = {}

        def define(self, variables, names):
            for var, name in zip(variables, names, strict=True):
                self.names[var] = name

        def name(self, atom):
            if isinstance(atom, Literal):
                return emit_literal(emitter, atom)
            return self.names[atom]

        def equation(self, eqn):
            rule = get_rule(hlo_lowerings, eqn.primitive, "StableHLO lowering")
            types = [x.aval for x in eqn.invars], [x.aval for x in eqn.outvars]
            self.define(
                eqn.outvars, rule(emitter, *types, [self.name(x) for x in eqn.invars], **eqn.params)
            )

    body = Lowering()
    body.define(jaxpr.invars, args)
    body.define(jaxpr.constvars, [emitter.capture(const) for const in consts])
    for eqn in jaxpr.eqns:
        body.equation(eqn)
    return [body.name(x) for x in jaxpr.outvars]


@right(style="all literals of an equation first, a new dict at each step")
def lower_body(emitter, jaxpr, args, consts=()):
    env = dict(zip(jaxpr.invars, args, strict=True))
    for var, const in zip(jaxpr.constvars, consts, strict=True):
        env = env | {var: emitter.capture(const)}

    def names_of(atoms):
        lines = {id(x): emit_literal(emitter, x) for x in atoms if isinstance(x, Literal)}
        return [lines[id(x)] if id(x) in lines else env[x] for x in atoms]

    todo = list(reversed(jaxpr.eqns))
    while todo:
        eqn = todo.pop()
        names = names_of(eqn.invars)
        rule = get_rule(hlo_lowerings, eqn.primitive, "StableHLO lowering")
        outs = rule(
            emitter,
            [x.aval for x in eqn.invars],
            [x.aval for x in eqn.outvars],
            names,
            **eqn.params,
        )
        env = env | dict(zip(eqn.outvars, outs, strict=True))
    return names_of(jaxpr.outvars)


mistake(
    {"emit_literal(emitter, atom)": "emitter.capture(np.asarray(atom.val, atom.aval.dtype))"},
    name="Literals are passed as constants",
    hints=[
        "Look at the text of `x * 2.0`: how many inputs does `main` have?",
        "An array that the function has captured is handed over at each call. A number in the program can be in the text, where the compiler sees its value.",
        "`emit_literal(emitter, atom)` for a literal, not `emitter.capture(atom.val)`.",
    ],
)
mistake(
    {
        "for eqn in jaxpr.eqns:": "outs = list(args)\nfor eqn in jaxpr.eqns:",
        "[read(atom) for atom in jaxpr.outvars]": "outs",
    },
    name="The results of the last equation are returned as the outputs",
    hints=[
        "Where does a program say what its outputs are?",
        "An output may be an input, an early result or a literal, and may be there twice.",
        "`[read(atom) for atom in jaxpr.outvars]`, after the loop.",
    ],
)
# The constants of each program are numbered from 0, those of a call as well.
mistake(
    {
        "captured = [emitter.capture(const) for const in consts]": 'emitter.captured.extend(consts)\ncaptured = [f"%const{i}" for i in range(len(consts))]'
    },
    fails="test_lower_constants_of_a_call",
)
# One line for literals that compare as equal, as 0.0 and -0.0 do.
mistake(
    {
        "captured =": "lines = {}\ncaptured =",
        "return emit_literal(emitter, atom) if isinstance(atom, Literal) else env[atom]": "if not isinstance(atom, Literal):\n    return env[atom]\nkey = float(atom.val), atom.aval.dtype\nif key not in lines:\n    lines[key] = emit_literal(emitter, atom)\nreturn lines[key]",
    },
    fails="test_lower_numbers",
)
# A recursive call for each equation, and Python allows a thousand.
mistake(
    {
        "for eqn in jaxpr.eqns:": "def walk(eqn, *rest):",
        "env.update(zip(eqn.outvars, outs, strict=True))": "env.update(zip(eqn.outvars, outs, strict=True))\nif rest:\n    walk(*rest)",
        "return [read(atom) for atom in jaxpr.outvars]": "if jaxpr.eqns:\n    walk(*jaxpr.eqns)\nreturn [read(atom) for atom in jaxpr.outvars]",
    },
    fails="test_lower_long_programs",
)

# An equation that was written once is not written again, though the program is called twice.
mistake(
    {
        "env: dict[Atom, str] = dict(": 'env = emitter.__dict__.setdefault("env", {})\nenv.update(',
        "rule = get_rule": """if any(var in env for var in eqn.outvars):
    continue
rule = get_rule""",
    },
    fails="test_lower_a_program_twice",
)
# an array without axes is written into the text, as if it were a literal
mistake(
    {
        "captured = [emitter.capture(const) for const in consts]": """captured = [
    emitter.capture(const) if var.aval.shape else emit_literal(emitter, Literal(np.asarray(const), var.aval))
    for var, const in zip(jaxpr.constvars, consts, strict=True)
]"""
    },
    fails="test_lower_constants",
)
# an output that is there twice is returned once
mistake(
    {
        "return [read(atom) for atom in jaxpr.outvars]": "return list(dict.fromkeys(read(atom) for atom in jaxpr.outvars))"
    },
    fails="test_lower_outputs",
)
# a tuple for a rule, which adds a list to it
mistake(
    {"[read(x) for x in eqn.invars]": "tuple(read(x) for x in eqn.invars)"},
    fails="test_lower_rules",
)
# what an operation without results does is left out
mistake(
    {"for eqn in jaxpr.eqns:": "for eqn in filter(lambda eqn: eqn.outvars, jaxpr.eqns):"},
    fails="test_lower_rules",
)
# a rule's StopIteration ends a generator
mistake(
    {
        "outs = rule(emitter, avals, out_avals, [read(x) for x in eqn.invars], **eqn.params)": "outs = list(name for names in [[read(x) for x in eqn.invars]] for name in rule(emitter, avals, out_avals, names, **eqn.params))"
    },
    fails="test_lower_missing_rule",
)
# The names of literals are kept on the program.
mistake(
    {
        "def read(atom: Atom) -> str:": "names = jaxpr.cache.setdefault('literals', {})\n\n\ndef read(atom: Atom) -> str:",
        "return emit_literal(emitter, atom) if isinstance(atom, Literal) else env[atom]": "if isinstance(atom, Literal) and atom not in names:\n    names[atom] = emit_literal(emitter, atom)\nreturn names[atom] if isinstance(atom, Literal) else env[atom]",
    },
    fails="test_lower_literals",
)


exercise("jit.impl")


@right
def jit_impl(*args, name, jaxpr):
    executable, buffers, committed = compiled(jaxpr, committed_devices(args))
    buffers = list(buffers)
    for aval, x in zip(jaxpr.in_avals, args):
        buffers.append(to_buffer(aval, x, executable.devices))
    results = []
    for aval, buffer in zip(jaxpr.out_avals, xla.run(executable, buffers)):
        results.append(array_of(aval, buffer, executable.devices, committed))
    return results


@right(style="map with partials, the Compiled taken apart")
def jit_impl(*args, name, jaxpr):
    import itertools

    executable, captured, committed = compiled(jaxpr, committed_devices(args))
    devices = executable.devices
    send = functools.partial(to_buffer, devices=devices)
    inputs = itertools.starmap(send, zip(jaxpr.in_avals, args, strict=True))
    outputs = xla.run(executable, list(itertools.chain(captured, inputs)))
    box = functools.partial(array_of, on=devices, committed=committed)
    return list(map(box, jaxpr.out_avals, outputs))


mistake(
    {"compiled(jaxpr, committed_devices(args))": "compile_for(jaxpr, committed_devices(args), ())"},
    name="The program is compiled at each call",
    hints=[
        "How long does the second call of a jitted function take, compared with the first one?",
        "Compiling takes milliseconds or minutes, and the result does not depend on the values. Some function keeps it.",
        "`compiled(jaxpr, committed_devices(args))` returns what was compiled before, if anything was.",
    ],
)
mistake(
    {
        "program = compiled(jaxpr, committed_devices(args))": "from minijax.array import ArrayImpl\nprogram = compiled(jaxpr, committed_devices(args))",
        "return [array_of(aval, out, on, program.committed) for aval, out in pairs]": "return [ArrayImpl(array_of(aval, out, on).value) for aval, out in pairs]",
    },
    name="The results are copied to NumPy at once",
    hints=[
        "A result is often the argument of the next call. Where should it be in between?",
        "A copy to NumPy waits until the device has computed, and the next call copies everything back. The user may never look at the values.",
        "Wrap each buffer: `array_of(aval, buffer, devices, committed)`. It is copied when you ask for its values.",
    ],
)
mistake(
    {"to_buffer": "xla.to_device"},
    name="Arguments on the device are sent there again",
    hints=[
        "An argument was the result of another call. Is it a NumPy array?",
        "Such an array has a buffer on the device already. Copying it by way of NumPy is slow, and gains nothing.",
        "`to_buffer(aval, x, devices)` takes care of both kinds of arguments; `xla.to_device` always copies.",
    ],
)
mistake(
    {
        "array_of(aval, out, on, program.committed)": "array_of(aval, out, xla.alone(xla.current_device()), program.committed)"
    },
    name="Results are labeled as being on the current device",
    hints=[
        "An argument is committed to the second device. On which device does the program run, and where are its results?",
        "The current device is for what has no reason to be elsewhere. An argument that is committed is a reason, and so is a program that asks for devices.",
        "The results are where the program was compiled to run: `program.executable.devices`.",
    ],
)
# Results are never weakly typed.
mistake(
    {"array_of(aval, out": "array_of(ShapedArray(aval.shape, aval.dtype), out"},
    fails="test_impl_weak_types",
)
# Committed if an argument is; but the program itself may ask for devices.
mistake(
    {"program.committed": "committed_devices(args) is not None"},
    fails="test_impl_committed_by_the_program",
)
# an array is on the device, whichever that is
mistake(
    {
        "inputs = [to_buffer(aval, x, on) for": "inputs = [getattr(x, 'buffer', None) or to_buffer(aval, x, on) for"
    },
    fails="test_impl_mixed_arguments",
)
# an array of our own is copied at each call: it does not note where its copy is
mistake(
    {
        "to_buffer(aval, x, on)": "(x.buffer if placed_on(x, on) else xla.to_device(aval, np.asarray(x), on))"
    },
    fails="test_impl_device_arguments",
)
# the first argument alone is asked where it is
mistake({"committed_devices(args)": "committed_devices(args[:1])"}, fails="test_impl_committed")
# a program without inputs is compiled at each call
mistake(
    {
        "compiled(jaxpr, committed_devices(args))": "compiled(jaxpr, committed_devices(args)) if args else compile_for(jaxpr, None, ())"
    },
    fails="test_impl_without_equations",
)
# one number that is there twice is copied once, for the type of the last place
mistake(
    {
        "inputs = [to_buffer(aval, x, on) for aval, x in zip(jaxpr.in_avals, args, strict=True)]": "sent = {id(x): to_buffer(aval, x, on) for aval, x in zip(jaxpr.in_avals, args, strict=True)}\ninputs = [sent[id(x)] for x in args]"
    },
    fails="test_impl_weak_types",
)
# an array of our own without axes is copied at each call
mistake(
    {
        "inputs = [to_buffer": "inputs = [xla.to_device(aval, np.asarray(x), on) if isinstance(x, Array) and not (x.shape or placed_on(x, on)) else to_buffer"
    },
    fails="test_impl_device_arguments",
)
# the values are looked at
mistake(
    {
        "return [": "assert all(array_of(aval, out, on).value is not None for aval, out in zip(jaxpr.out_avals, outs))\nreturn ["
    },
    fails="test_impl_stays_on_the_device",
)
# a program that is called under another name is compiled again
mistake(
    {
        "program = compiled(jaxpr, committed_devices(args))": """asked = committed_devices(args)
program = kept(jaxpr, (name, asked), lambda: compile_for(jaxpr, asked, ()))"""
    },
    fails="test_impl_compiles_once",
)
# the memory of an array is read as if its entries followed each other
mistake(
    {
        "on = program.executable.devices": "on = program.executable.devices\nargs = [np.frombuffer(x.base, x.dtype)[: x.size] if isinstance(x, np.ndarray) and not x.flags.c_contiguous else x for x in args]"
    },
    fails="test_impl_values",
)
# a result without entries is not sent for
mistake(
    {
        "return [array_of(aval, out": "return [np.zeros(aval.shape, aval.dtype) if 0 in aval.shape else array_of(aval, out"
    },
    fails="test_impl_dtypes",
)


exercise("jit.jvp")


@right
def jvp_jaxpr(jaxpr, moves):
    n = len(moves)

    def f_and_derivative(*args):
        tangents = list(args[n:])
        full = [tangents.pop(0) if move else None for move in moves]
        values, changes = jvp_flat(jaxpr_as_fun(jaxpr), list(args[:n]), full)
        return values + [c for a, c in zip(jaxpr.out_avals, changes) if is_float(a.dtype)]

    moving = [aval for i, aval in enumerate(jaxpr.in_avals) if moves[i]]
    return derived(jaxpr, ("jvp", moves), f_and_derivative, jaxpr.in_avals + moving)


@right
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


@right(style="filled and chosen from marks, kept by hand")
def jvp_jaxpr(jaxpr, moves):
    avals = [*jaxpr.in_avals, *chosen(jaxpr.in_avals, moves)]
    floats = [is_float(aval.dtype) for aval in jaxpr.out_avals]

    def both(*args):
        primals, tangents = groups(args, len(moves))
        program = jaxpr_as_fun(jaxpr)
        outs = jvp_flat(lambda *xs: program(*xs), primals, filled(moves, tangents))
        return outs[0] + chosen(outs[1], floats)

    return derived(jaxpr, ("jvp", moves), both, avals)


mistake(
    {
        "return [*primals_out, *(t for t in tangents_out if is_float(get_aval(t).dtype))]": "pairs = zip(primals_out, tangents_out, strict=True)\nreturn [x for y, t in pairs for x in ([y, t] if is_float(get_aval(t).dtype) else [y])]"
    },
    name="Values and tangents alternate",
    hints=[
        "In what order does the docstring list what the new program returns?",
        "The caller of the program cuts its results into two parts. All values come first.",
        "`[*primals_out, *tangents]`, without the tangents of integers and booleans.",
    ],
)
mistake(
    {
        'return derived(jaxpr, ("jvp", moves), values_and_tangents, [*avals, *tangent_avals])': "return trace_to_jaxpr(values_and_tangents, [*avals, *tangent_avals])"
    },
    name="The program is differentiated again each time",
    hints=[
        "The gradient of a loss with a jitted function in it is computed a thousand times. How many times does that function have to be differentiated?",
        "A new program would also be compiled again, since compiled code is cached on its program.",
        'Let `derived(jaxpr, ("jvp", moves), ...)` trace: it keeps what it makes. `trace_to_jaxpr` does not.',
    ],
)
mistake(
    {'("jvp", moves)': '"jvp"'},
    name="What moves is not part of the key",
    hints=[
        "A derivative is asked for twice: first only `x` moves, then `y` moves as well. Are these the same program?",
        "They take different inputs. What is cached under a key must be right for every call with that key.",
        'The key for `derived` is `("jvp", moves)`.',
    ],
)
mistake(
    {
        "next(moving) if move": "t if is_float(a.dtype)",
        "for move in moves]": "for t, a in zip(moving, avals)]",
        "*tangent_avals": "*avals",
    },
    name="Every input gets a tangent, moving or not",
    hints=[
        "How many inputs should the program have if one of two inputs moves?",
        "The caller of the program passes tangents only for what moves. A tangent that is known to be zero is None, and costs nothing.",
        "Take a tangent from those that are given if `move`, and None if not; the types of the tangents are those of the inputs that move.",
    ],
)
# The plain slip: tangents of all outputs, also of integers.
mistake(
    {"*(t for t in tangents_out if is_float(get_aval(t).dtype))": "*tangents_out"},
    fails="test_jvp_integers",
)
# Where nothing moves, the program itself, without any tangents.
mistake(
    {"avals, f =": "if not any(moves):\n    return jaxpr\navals, f ="},
    fails="test_jvp_nothing_moves",
)
# Tangents are not weakly typed where their inputs are.
mistake(
    {"[aval for aval, move": "[ShapedArray(aval.shape, aval.dtype) for aval, move"},
    fails="test_jvp_program",
)
# kept on the program with its constants: closed anew, it is another
mistake(
    {
        'return derived(jaxpr, ("jvp", moves), values_and_tangents, [*avals, *tangent_avals])': """made = vars(jaxpr).setdefault("made", {})
if moves not in made:
    made[moves] = trace_to_jaxpr(values_and_tangents, [*avals, *tangent_avals])
return made[moves]"""
    },
    fails="test_jvp_of_a_program_closed_anew",
)
# tangents of zeros for what does not move, with which something is computed
mistake(
    {
        "if move else None for move in moves]": "if move else np.zeros(aval.shape, aval.dtype) for aval, move in zip(avals, moves, strict=True)]"
    },
    fails="test_jvp_first_still",
)
# two dtypes alone are floats
mistake(
    {"is_float(get_aval(t).dtype)": "get_aval(t).dtype in (np.float32, np.float64)"},
    fails="test_jvp_program",
)
# unsigned integers are taken for floats
mistake(
    {
        "for t in tangents_out if is_float(get_aval(t).dtype)": "for t, a in zip(tangents_out, jaxpr.out_avals, strict=True) if a.dtype.kind not in 'ib'"
    },
    fails="test_jvp_integers",
)
# the first eight inputs decide
mistake({'("jvp", moves)': '("jvp", moves[:8])'}, fails="test_jvp_kept_for_moves")
# an output that is there twice has one tangent
mistake(
    {
        "*(t for t in tangents_out if is_float(get_aval(t).dtype))": "*{id(var): t for var, t in zip(jaxpr.jaxpr.outvars, tangents_out, strict=True) if is_float(get_aval(t).dtype)}.values()"
    },
    fails="test_jvp_second_still",
)
# within an axis that has a name, another program
mistake({'("jvp", moves)': '("jvp", moves, axis_sizes())'}, fails="test_jvp_kept_for_moves")
# after a rule has failed, what was put there for the program stays
mistake(
    {
        'return derived(jaxpr, ("jvp", moves), values_and_tangents, [*avals, *tangent_avals])': """made = jaxpr.jaxpr.cache
if moves not in made:
    made[moves] = None
    made[moves] = trace_to_jaxpr(values_and_tangents, [*avals, *tangent_avals])
return made[moves]"""
    },
    fails="test_jvp_of_a_program_closed_anew",
)


exercise("jit.batch")


@right
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


@right(style="a class that notes the axes while it is traced")
def batched_jaxpr(jaxpr, axis_size, dims, avals):
    class Batched:
        axes = None

        def __call__(self, *args):
            outs, self.axes = vmap_flat(jaxpr_as_fun(jaxpr), axis_size, list(dims), list(args))
            return outs

    def make():
        batched = Batched()
        program = trace_to_jaxpr(batched, list(avals))
        return program, batched.axes

    return kept(jaxpr, batching_key(axis_size, dims), make)


@right(style="the list of axes is a new one at each call")
def batched_jaxpr(jaxpr, axis_size, dims, avals):
    def make():
        noted = []
        run = jaxpr_as_fun(jaxpr)

        def g(*args):
            results = vmap_flat(lambda *xs: run(*xs), axis_size, dims, args)
            noted.extend(results[1])
            return results[0]

        return trace_to_jaxpr(g, avals), noted

    program, axes = kept(jaxpr, batching_key(axis_size, dims), make)
    return program, list(axes)


mistake(
    {"kept(jaxpr, batching_key(axis_size, dims), make)": "make()"},
    name="The program is batched again each time",
    hints=[
        "`vmap` of a jitted function is called a thousand times. How many times does its program have to be batched?",
        "A new program is also compiled again, since compiled code is cached on its program.",
        "Let `kept(jaxpr, batching_key(axis_size, dims), make)` call your function; it does so only if nothing is cached yet.",
    ],
)
mistake(
    {"batching_key(axis_size, dims)": '("vmap", axis_size, name_of(axis_size))'},
    name="The batch axes are not part of the key",
    hints=[
        "One program, three examples: first both inputs are batched, then only one of them is. Is it the same program?",
        "The positions of the batch axes decide what the new program computes, and where the batch axes of its results are.",
        "The key is `batching_key(axis_size, dims)`: number of examples, name, and all batch axes.",
    ],
)
mistake(
    {"avals), out_dims": "avals), [0] * len(jaxpr.out_avals)"},
    name="All results are reported with their batch axis first",
    hints=[
        "Take a transpose of a batch whose batch axis is the last one. Where is it afterwards?",
        "Each rule leaves the batch axis where it is convenient, and a result may have none. `vmap_flat` says where they are.",
        "The second thing that `vmap_flat` returns is the list to return with the program.",
    ],
)
# the types in the key: a weak type makes another program, for the same batch axes
mistake(
    {"batching_key(axis_size, dims), make": "(*batching_key(axis_size, dims), *avals), make"},
    fails="test_batch_kept",
)
# one memory for all programs, which lets none of them go
mistake(
    {
        "return kept(jaxpr, batching_key(axis_size, dims), make)": """made = globals().setdefault("made", {})
key = jaxpr.jaxpr, batching_key(axis_size, dims)
if key not in made:
    made[key] = make()
return made[key]"""
    },
    fails="test_batch_kept_for_other_axes",
)
# a result without a batch axis has None there
mistake(
    {
        "outs, out_dims[:] = vmap_flat(jaxpr_as_fun(jaxpr), axis_size, dims, args)": "outs, axes = vmap_flat(jaxpr_as_fun(jaxpr), axis_size, dims, args)\nout_dims[:] = [None if isinstance(axis, NotMapped) else axis for axis in axes]"
    },
    fails="test_batch_constants",
)
# one example alone: what it returns counts as a batch of one
mistake(
    {
        "return trace_to_jaxpr(batched_f, avals), out_dims": "program = trace_to_jaxpr(batched_f, avals)\nreturn program, [0] * len(out_dims) if axis_size == 1 else out_dims"
    },
    fails="test_batch_single_results",
)
# how many axes, and their sum
mistake(
    {
        "return kept(jaxpr, batching_key(axis_size, dims), make)": "axes = [None if isinstance(d, NotMapped) else d for d in dims]\nkey = axis_size, name_of(axis_size), sum(d or 0 for d in axes), tuple(d is None for d in axes)\nreturn kept(jaxpr, key, make)"
    },
    fails="test_batch_kept_for_other_axes",
)
# the size does not count if no input is batched
mistake(
    {
        "return kept(jaxpr, batching_key(axis_size, dims), make)": "size = 0 if all(isinstance(d, NotMapped) for d in dims) else axis_size\nreturn kept(jaxpr, (int(size), *batching_key(axis_size, dims)[2:]), make)"
    },
    fails="test_batch_unmapped",
)
# a batch is not weakly typed
mistake(
    {
        "batched_f, avals)": "batched_f, [a if isinstance(d, NotMapped) else ShapedArray(a.shape, a.dtype) for a, d in zip(avals, dims, strict=True)])"
    },
    fails="test_batch_program",
)
# the hash instead of the key: hash(-1) == hash(-2), and both are names
mistake(
    {"batching_key(axis_size, dims), make": "hash(batching_key(axis_size, dims)), make"},
    fails="test_batch_kept_for_sizes",
)
# without inputs, the name of the axis does not decide
mistake(
    {
        "batching_key(axis_size, dims)": "batching_key(axis_size, dims) if dims else ('vmap', int(axis_size))"
    },
    fails="test_batch_unmapped",
)
