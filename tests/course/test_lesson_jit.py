"""The lesson jit: other right answers pass, and the workers that grade it share one XLA client."""

import pytest
from other_answers import lost

from autograder.grading.suite import probe
from autograder.lessons import assemble, manifest
from autograder.sandbox import isolation
from autograder.sandbox.session import Session

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "jit.program": """
def program(self, args, kwargs):
    leaves, structure = self.flatten(args, kwargs)
    types = [raise_to_shaped(get_aval(leaf)) for leaf in leaves]
    key = axis_sizes(), structure, *types
    try:
        return self.programs[key]
    except KeyError:
        found = self.programs[key] = self.traced(args, kwargs)
        return found
""",
        "jit.bind": """
def bind(self, args, kwargs):
    closed, out_tree, _ = self.program(args, kwargs)
    outs = call(closed, self.flatten(args, kwargs)[0], self.name)
    return tree_unflatten(out_tree, outs)
""",
        "jit.type": """
def jit_type(*avals, name, jaxpr):
    match = len(avals) == len(jaxpr.in_avals)
    for aval, wanted in zip(avals, jaxpr.in_avals):
        match = match and aval.shape == wanted.shape and aval.dtype == wanted.dtype
    if not match:
        raise TypeError("wrong operands")
    return list(jaxpr.out_avals)
""",
        "jit.tensor_type": """
def tensor_type(aval):
    return "tensor<" + "x".join([*map(str, aval.shape), element_type(aval.dtype)]) + ">"
""",
        "jit.reduce_sum_lowering": """
def reduce_sum_hlo(emitter, avals, out_avals, args, *, axes):
    start = ShapedArray((), avals[0].dtype)
    zero = emit_literal(emitter, Literal(0, start))
    ins = f"{tensor_type(avals[0])}, {tensor_type(start)}"
    what = f"stablehlo.reduce({args[0]} init: {zero}) applies stablehlo.add"
    where = f"across dimensions = {list(axes)}"
    return (emitter.emit(f"{what} {where} : ({ins}) -> {tensor_type(out_avals[0])}"),)
""",
        "jit.lower_body": """
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
""",
        "jit.impl": """
def jit_impl(*args, name, jaxpr):
    executable, buffers, committed = compiled(jaxpr, committed_devices(args))
    buffers = list(buffers)
    for aval, x in zip(jaxpr.in_avals, args):
        buffers.append(to_buffer(aval, x, executable.devices))
    results = []
    for aval, buffer in zip(jaxpr.out_avals, xla.run(executable, buffers)):
        results.append(Array(aval, buffer, executable.devices, committed))
    return results
""",
        "jit.jvp": """
def jvp_jaxpr(jaxpr, moves):
    n = len(moves)

    def f_and_derivative(*args):
        tangents = list(args[n:])
        full = [tangents.pop(0) if move else None for move in moves]
        values, changes = jvp_flat(jaxpr_as_fun(jaxpr), list(args[:n]), full)
        return values + [c for a, c in zip(jaxpr.out_avals, changes) if is_float(a.dtype)]

    moving = [aval for i, aval in enumerate(jaxpr.in_avals) if moves[i]]
    return derived(jaxpr, ("jvp", moves), f_and_derivative, jaxpr.in_avals + moving)
""",
        "jit.batch": """
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
""",
    },
    {
        "jit.program": """
def program(self, args, kwargs):
    leaves, structure = self.flatten(args, kwargs)
    avals = map(get_aval, leaves)
    types = tuple((a.shape, a.dtype, a.weak_type) for a in avals)
    found = self.programs.get((types, structure, axis_sizes()))
    if found is None:
        found = self.traced(args, kwargs)
        self.programs[types, structure, axis_sizes()] = found
    return found
""",
        "jit.bind": """
def bind(self, args, kwargs):
    program = self.program(args, kwargs)
    leaves = self.flatten(args, kwargs)[0]
    return tree_unflatten(program.out_tree, call(program.closed, tuple(leaves), self.name))
""",
        "jit.type": """
def jit_type(*avals, name, jaxpr):
    if [str(aval) for aval in avals] != [str(aval) for aval in jaxpr.in_avals]:
        raise TypeError(f"{name}: the operands do not fit.")
    return [atom.aval for atom in jaxpr.jaxpr.outvars]
""",
        "jit.tensor_type": """
def tensor_type(aval):
    text = element_type(aval.dtype)
    for n in reversed(aval.shape):
        text = f"{n}x{text}"
    return f"tensor<{text}>"
""",
        "jit.reduce_sum_lowering": """
def reduce_sum_hlo(emitter, avals, out_avals, args, *, axes):
    aval = avals[0]
    one = ShapedArray((), aval.dtype)
    zero = emitter.emit(f"stablehlo.constant dense<0> : {tensor_type(one)}") if (
        aval.dtype.kind in "iu"
    ) else emit_literal(emitter, Literal(np.zeros((), aval.dtype), one))
    across = ",".join(str(int(axis)) for axis in sorted(axes))
    text = f"stablehlo.reduce({args[0]} init: {zero}) applies stablehlo.add across dimensions ="
    text += f" [{across}] : ({tensor_type(aval)}, {tensor_type(one)})"
    return [emitter.emit(f"{text} -> {tensor_type(out_avals[0])}")]
""",
        "jit.lower_body": """
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
""",
        "jit.impl": """
def jit_impl(*args, name, jaxpr):
    program = compiled(jaxpr, committed_devices(args))
    places = [program.executable.devices] * len(args)
    buffers = [*program.captured, *map(to_buffer, jaxpr.in_avals, args, places)]
    outs = xla.run(program.executable, buffers)
    places = [program.executable.devices] * len(outs)
    return list(map(Array, jaxpr.out_avals, outs, places, [program.committed] * len(outs)))
""",
        "jit.jvp": """
def jvp_jaxpr(jaxpr, moves):
    avals = list(jaxpr.in_avals)
    places = [i for i, move in enumerate(moves) if move]

    def f(*args):
        tangents = [None] * len(avals)
        for place, tangent in zip(places, args[len(avals):], strict=True):
            tangents[place] = tangent
        primals_out, tangents_out = jvp_flat(jaxpr_as_fun(jaxpr), args[: len(avals)], tangents)
        outs = list(primals_out)
        for t in tangents_out:
            if is_float(get_aval(t).dtype):
                outs.append(t)
        return outs

    return derived(jaxpr, ("jvp", moves), f, avals + [avals[i] for i in places])
""",
        "jit.batch": """
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
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES, ids=["one", "another"])
def test_other_right_answers_have_full_points(answers):
    assert lost("jit", answers) == ([], [])


@probe
def of_the_client(mj):
    """A result, which client of XLA it came from, and how many threads the process has."""
    from pathlib import Path

    from minijax import xla

    value = float(mj.jit(lambda x: x * 2.0)(4.0))
    return value, id(xla.client()), len([*Path("/proc/self/task").iterdir()])


def test_fresh_imports_share_one_client(tmp_path):
    lesson = manifest.get("jit")
    assemble.write_tree(tmp_path, lesson, {})
    with Session(tmp_path, lesson.module, isolation.choose()) as session:
        assert session.load().kind == "value"
        first, *others = [session.call(of_the_client, fresh=True, seconds=10) for _ in range(4)]
    assert first.kind == "value"
    assert [reply.value for reply in others] == [first.value] * 3
