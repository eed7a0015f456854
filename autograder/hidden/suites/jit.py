"""Hidden tests of the `jit` lesson: the call of a program, its cache, its lowering and its rules.

Values cannot tell a compiled program from the function it was made from. So most probes count: how
often the Python function runs, what was compiled or copied, which equations there are. Every
exercise is tested alone: where its target needs a sibling, the probe puts a right one in its place.
"""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import gc
    import importlib
    import itertools
    import re
    import weakref
    from contextlib import ExitStack
    from unittest.mock import Mock, patch

    from minijax import xla
    from minijax.axis_env import AxisPrimitive, AxisSize, axis_sizes, mapped_axis, name_of
    from minijax.core import (
        Primitive,
        ShapedArray,
        abstract_eval_rules,
        broadcast_in_dim_p,
        get_aval,
        hlo_lowerings,
        jvp_rules,
        neg_p,
        not_mapped,
        reduce_sum_p,
        sub_p,
        transpose_p,
        vmap_rules,
    )
    from minijax.jaxpr import (
        ClosedJaxpr,
        Jaxpr,
        JaxprEqn,
        Literal,
        Var,
        eval_jaxpr,
        raise_to_shaped,
    )
    from minijax.jit import Emitter, batched_jaxpr, jvp_jaxpr, lower_body
    from minijax.jvp import jvp_flat
    from minijax.lax import cos, exp, sin
    from minijax.placement import array_of
    from minijax.tracing import trace_to_jaxpr
    from minijax.vmap import remove_axis

ROW = np.array([0.5, -2.0, 3.0])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])
CUBE = np.arange(24.0).reshape(2, 3, 4) - 7.5


exercise("jit.program")


@probe
def requests(mj, calls, static=None):
    """Programs for these arguments in turn: runs of the function so far, and which are the same."""
    runs = []

    def f(x, y=1.0, *, scale=3.0):
        runs.append(1)
        leaves = mj.tree.leaves((x, y))
        return [leaf * scale for leaf in leaves], len(leaves)

    jitted = mj.jit(f, static_argnames=static)
    programs, counts, names = [], [], []
    for args, kwargs in calls:
        programs.append(jitted.program(tuple(args), kwargs))
        counts.append(len(runs))
        names.append([*kwargs])
    same = [[one is other for other in programs] for one in programs]
    return {
        "how often f has run after each request": counts,
        "two requests get one and the same program": same,
        "the texts of the programs": [str(program.closed) for program in programs],
        "what the caller's `kwargs` name afterwards": names,
    }


@probe
def by_weak_type(mj, dtype):
    """The same for a Python number, a number of NumPy, arrays and tracers, weakly typed or not."""
    runs, on = [], xla.alone(xla.current_device())

    def f(x):
        runs.append(1)
        return x + np.ones(2, np.float32)

    jitted, counts = mj.jit(f), []
    number = int if np.dtype(dtype).kind == "i" else float
    kinds = itertools.product([(), (2,)], [True, False])
    avals = [ShapedArray(shape, np.dtype(dtype), weak_type=weak) for shape, weak in kinds]
    hosts = [np.full(aval.shape, number(6)) for aval in avals]
    arrays = [array_of(a, xla.to_device(a, x, on), on) for a, x in zip(avals, hosts, strict=True)]
    programs = []

    def ask(x):
        programs.append(jitted.program((x,), {}))
        counts.append(len(runs))
        return [x]

    for x in [number(2), np.dtype(dtype).type(3), number(4), np.array(5, dtype), *arrays]:
        ask(x)
    for aval in avals:
        trace_to_jaxpr(ask, [aval])
    return {
        "how often f has run after each request": counts,
        "the types of the programs' results": [
            [aval.str_short() for aval in p.closed.out_avals] for p in programs
        ],
    }


@probe
def within_a_trace(mj, x):
    """Requests with an array, with a tracer of its type, and with boxed arrays of its type."""
    runs, programs = [], []

    def f(x):
        runs.append(1)
        return x * 2.0

    jitted = mj.jit(f)

    def ask(x):
        programs.append(jitted.program((x,), {}))
        return [x]

    ask(x)
    trace_to_jaxpr(ask, [programs[0].closed.in_avals[0]])
    jvp_flat(ask, [x], [x])
    for axis in range(x.ndim + 1):
        mj.vmap(ask, axis)(np.stack([x, x], axis))
    mj.vmap(mj.vmap(ask))(np.stack([x] * 6).reshape(2, 3, *x.shape))
    return {
        "calls of f": len(runs),
        "each request gets the first program": [program is programs[0] for program in programs],
    }


@probe
def with_named_axes(mj, around, *args):
    """Requests inside these axes, each a length and a name, the last one innermost."""
    seen = []

    def f(x=2.0):
        seen.append(axis_sizes())
        return x * float(dict(axis_sizes()).get("rows", 0))

    jitted, texts = mj.jit(f), []
    for pairs in around:
        with ExitStack() as axes:
            for pair in pairs:
                axes.enter_context(mapped_axis(AxisSize(*pair), None))
            texts.append(str(jitted.program(args, {}).closed))
    return {"calls of f": len(seen), "the texts of the programs": texts}


@probe
def shared_programs(mj, x):
    """Two times `jit` of one function, and `jit` of a second function."""
    runs = []
    f, g = (lambda x, k=k: [runs.append(k), x * k][1] for k in (2.0, 3.0))
    jitted = [mj.jit(h) for h in (f, f, g)]
    programs = [h.program((x,), {}) for h in jitted]
    return {
        "the factors of the functions that run, in turn": runs,
        "a request gets the first program": [p is programs[0] for p in programs],
        "the text of the second function's program": str(programs[2].closed),
    }


@probe
def after_an_error(mj, x):
    """Requests for one program, while the function fails at the first."""
    runs, came = [], []

    def f(x):
        runs.append(1)
        return x * {2: 2.0, 3: 3.0}[len(runs)]

    jitted = mj.jit(f)
    for _ in range(3):
        try:
            came.append(str(jitted.program((x,), {}).closed))
        except KeyError as error:
            came.append(str(error))
    return {"the texts of the programs, or the error that came out": came}


@probe
def what_a_program_is(mj, x, y):
    """The parts of a program: inputs, structure of the result, which inputs are given away."""

    def f(point, scale):
        return {"scaled": (point["x"] * scale, point["y"]), "first": point["x"]}

    jitted = mj.jit(f, donate_argnums=1)
    program = jitted.program(({"x": x, "y": y}, 2.0), {})
    kept = jitted.programs
    text = str(program.closed)
    return {
        "the text of the program": text,
        "the structure of the result": str(program.out_tree),
        "the inputs that are given away": program.donated,
        "the program itself is kept in `programs`": [p is program for p in kept.values()],
    }


@probe
def static_objects(mj, x, factors):
    """Programs for static arguments that all print alike, one of them asked for twice."""

    class Scale:
        def __init__(self, by):
            self.by = by

        def __repr__(self):
            return "Scale"

    jitted = mj.jit(lambda x, scale: x * scale.by, static_argnums=1)
    scales = [Scale(by) for by in factors]
    programs = [jitted.program((x, scale), {}) for scale in (*scales, scales[0])]
    return {
        "the texts of the programs": [str(program.closed) for program in programs],
        "the same object gets the same program again": programs[0] is programs[-1],
    }


ONE, TWO = np.array(1.5), np.array([1.0, 2.0])


@pytest.mark.meets("again")
@pytest.mark.keeps("unless one that fits is in", "The values of leaves do not matter")
def test_program_not_for_each_value(student):
    """The function runs once for arguments of the same types, whatever their values are."""
    student.agrees(requests, [((2.0,), {}), ((3.0,), {}), ((-4.0,), {})])
    student.agrees(requests, [((ROW,), {}), ((ROW * 2.0,), {}), ((ROW, 2.0), {}), ((ROW, 3.0), {})])
    booleans = True, np.False_, False, np.True_, np.array(True)
    student.agrees(requests, [((x,), {}) for x in booleans])


@pytest.mark.meets("sizes")
def test_program_for_each_type(student):
    """Arguments with a different shape or dtype get their own program, and earlier ones stay."""
    student.agrees(
        requests, [((ROW,), {}), ((TWO,), {}), ((ROW,), {}), ((GRID,), {}), ((TWO,), {})]
    )
    student.agrees(requests, [((ONE,), {}), ((np.array(1, np.int8),), {}), ((ONE * 3.0,), {})])
    # As many entries in other shapes, and other dtypes of the same kind or the same size.
    shapes = [(2, 3), (3, 2), (6,), (1, 6), (6, 1), (1, 1, 1, 2, 3), (1, 1, 1, 3, 2), (6,)]
    student.agrees(requests, [((GRID.reshape(shape),), {}) for shape in shapes])
    dtypes = ["float64", "int64", "uint64", "int32", "float32", "uint32"]
    dtypes += ["float16", "int16", "uint16", "int8", "uint8", "bool", "float64", "int64"]
    student.agrees(requests, [((ONE.astype(dtype),), {}) for dtype in dtypes])
    student.agrees(requests, [((ONE[None][:0].astype(dtype),), {}) for dtype in dtypes[:4]])


@pytest.mark.meets("weak_type")
def test_program_for_weak_types(student):
    """Weakly typed floats and other floats have different types, and so different programs."""
    student.agrees(by_weak_type, "float64")


@pytest.mark.meets("weak_type")
def test_program_for_weak_integers(student):
    """Weakly typed integers and other integers have different types, and so different programs."""
    student.agrees(by_weak_type, "int64")


@pytest.mark.meets("again")
def test_program_for_each_structure(student):
    """Equal leaves in different containers, or passed by name, make a new program."""
    calls = [(([ROW, TWO],), {}), (((ROW, TWO),), {}), ((ROW, TWO), {}), (([ROW, TWO],), {})]
    student.agrees(requests, calls)
    student.agrees(requests, [(({"a": ROW},), {}), (({"b": ROW},), {}), ((ROW,), {})])
    student.agrees(requests, [(((),), {}), (({},), {}), (((),), {})])  # without any leaf


@pytest.mark.meets("keys", "mutation")
@pytest.mark.keeps("Neither `args` nor `kwargs` is changed")
def test_program_by_name(student):
    """An argument that is passed by name is not mistaken for one that is passed by position."""
    student.agrees(requests, [((ROW, ROW), {}), ((ROW,), {"y": ROW}), ((ROW,), {"scale": ROW})])
    student.agrees(requests, [((ROW,), {"y": 2, "scale": 3}), ((ROW,), {"scale": 4, "y": 5})])


@pytest.mark.meets("keys", "caching")
@pytest.mark.keeps("find the same in its arguments")
def test_program_for_static_values(student):
    """Each value of a static argument has its own program, and so does each type of it."""
    calls = [((2.0,), {"scale": 2.0}), ((5.0,), {"scale": 3.0}), ((7.0,), {"scale": 2.0})]
    student.agrees(requests, calls, "scale")
    student.agrees(requests, [((ONE, 2), {}), ((ONE, 2.0), {}), ((ONE, 2), {})], "y")
    student.agrees(requests, [((ONE, -1), {}), ((ONE, -2), {}), ((ONE, True), {})], "y")
    student.agrees(static_objects, 3.0, [2.0, 5.0])


@pytest.mark.meets("order", "more_than_two", "twice")
@pytest.mark.keeps("find the same in its arguments")
def test_program_for_types_in_order(student):
    """Types in a different order, or a different number of times, need a different program."""
    calls = [((ROW, TWO), {}), ((TWO, ROW), {}), ((ROW, ROW), {}), ((TWO, TWO), {})]
    student.agrees(requests, [*calls, calls[0]])
    for other in (2.0, ONE.astype(np.float32)):  # a weak type, another dtype
        student.agrees(requests, [((ONE, other), {}), ((other, ONE), {}), ((ONE, other), {})])
    odd_ones = [[TWO if i == odd else ROW for i in range(6)] for odd in range(6)]
    student.agrees(requests, [((leaves,), {}) for leaves in odd_ones])


@pytest.mark.meets("another_box", "float32", "nested")
@pytest.mark.keeps("which of them are tracers")
def test_program_for_tracers(student):
    """Tracers and arrays with the same type share a program."""
    student.agrees(within_a_trace, ROW)
    student.agrees(within_a_trace, np.array(2.0, np.float32))


@pytest.mark.meets("nested", "moment", "none")
@pytest.mark.keeps("the same in its arguments and around it")
def test_program_with_named_axes(student):
    """A program that was traced inside mapped axes with names is used for these lengths only."""
    one, two, three, four, five = ((length, "rows") for length in range(1, 6))
    student.agrees(with_named_axes, [[], [two], [three], [one], [two], []], ROW)
    student.agrees(with_named_axes, [[four], [five], [four]])  # without any argument
    student.agrees(with_named_axes, [[four], [five], [four]], ONE)
    student.agrees(with_named_axes, [[four], [(4, "columns")], [(4, 0)], [(4, "0")], [four]], ONE)
    # The innermost one of a name counts, however many others are inside it or around it.
    student.agrees(with_named_axes, [[two, three], [three, two], [two, three], [two, four]], ONE)
    for others in ([(7, "columns")], [(7, 0)], [(7, 0), (8, "columns"), (9, "0")]):
        around = [[axis, *others] for axis in (two, three, two)]
        student.agrees(with_named_axes, around, ONE)
        student.agrees(with_named_axes, [axes[::-1] for axes in around], ONE)


@pytest.mark.meets("caching")
@pytest.mark.keeps("unless one that fits is in")
def test_program_is_shared(student):
    """Programs are kept where every `jit` of the same function finds them."""
    student.agrees(shared_programs, ROW)
    student.agrees(shared_programs, 2)


@pytest.mark.keeps("The program for these arguments, traced")
def test_program_parts(student):
    """The program that comes back is complete: equations, structure and donated inputs."""
    student.agrees(what_a_program_is, ROW, ONE)
    student.agrees(after_an_error, ROW)
    student.agrees(what_a_program_is, ONE, GRID)


exercise("jit.lower_body")


def callers(jit_p, trace_to_jaxpr, k):
    """Functions that call a program, both with a constant, and one program three times."""

    def call(x, y):
        inner = trace_to_jaxpr(lambda a, b: [b - a * k, a], [y.aval, x.aval])
        c, d = jit_p.bind(y, x, name="inner", jaxpr=inner)
        return [-c, d, c * (k + 1.0)]

    def call_twice(x, y):
        inner = trace_to_jaxpr(lambda a: [a * a + 2.0, a - 1.0], [x.aval])
        (a, b), (c, d) = (jit_p.bind(z, name="inner", jaxpr=inner) for z in (x, y))
        return [a, b - c, d, *jit_p.bind(x, name="inner", jaxpr=inner)]

    return call, call_twice


@probe(uses=[callers])
def lowered(mj, which, args):
    """The results of a program, compiled from what lower_body emits, and its operations."""
    module = importlib.import_module("minijax.jit")

    k, m = np.array([[10.0, 20.0, 30.0]]), np.array([[0.5], [0.25]])
    number = neg_p.bind(np.array(-5.0))  # an array without axes is a constant, and no literal
    count = neg_p.bind(np.array(-3))
    call, call_twice = callers(module.jit_p, trace_to_jaxpr, k)
    functions = {
        "order": lambda x, y: [x - y, (y - x) / y],
        "literals": lambda x, y: [2.0 - x, x / 4.0 - 2.0, y],
        "outputs": lambda x, y: [y, x - y, y, 7.0, x],
        "nothing": lambda x, y: [y, x, y],
        "constants": lambda x, y: [(x - k) * m, y - m, k, y - number, count, k.T],
        "early": lambda x, y: [x - y, x * y][:1],
        "transpose": lambda x, y: [transpose_p.bind(x, permutation=(1, 0)), y],
        "broadcast": lambda x, y: [
            broadcast_in_dim_p.bind(x, shape=(2, 4, 3), broadcast_dimensions=(0, 2)),
            broadcast_in_dim_p.bind(y, shape=(3, 2), broadcast_dimensions=(1,)),
        ],
        "used again": lambda x, y: [(x * y) * (x * y), x * x],
        "call": call,
        "call twice": call_twice,
        "numbers": lambda x, y: [x * 2.0, y * 2, 2.0, 2, True, 1.0, 1, x < 2.0],
        "integers": lambda x, y: [x * 2, y * 2, 2, x < 2],
        "extremes": lambda x, y: [
            *(x * np.inf, y * -np.inf, x * np.nan, -0.0, 1e300, False),
            *(x / 0.0, y / -0.0, x / -0.0),
        ],
        "no inputs": lambda: [k, 2.0, m],
    }
    rules = {module.jit_p: lambda *avals, name, jaxpr: jaxpr.out_avals}
    with patch.dict(abstract_eval_rules, rules):
        closed = trace_to_jaxpr(functions[which], [raise_to_shaped(get_aval(x)) for x in args])
        text, emitter = module.lower(closed)
        again, _ = module.lower(closed)
    on = xla.alone(xla.current_device())
    executable = xla.compile_text(text, on, closed.out_avals)
    buffers = [xla.to_device(get_aval(x), x, on) for x in [*emitter.captured, *args]]
    outs = [xla.to_host(out, on) for out in xla.run(executable, buffers)]
    kinds = {"constant", "convert", "broadcast_in_dim"} if which == "numbers" else {"constant"}
    operations = [name for name in re.findall(r"= stablehlo\.(\w+)", text) if name not in kinds]
    return {
        "the results": outs,
        "the operations of the text": sorted(operations),
        "the number of captured constants": len(emitter.captured),
        "the text is the same when the program is lowered again": again == text,
    }


@probe
def what_rules_get(mj, number):
    """What a rule is called with, and the names that come out, for so many results."""
    calls = []

    def rule(emitter, avals, out_avals, names, **params):
        classes = [type(x).__name__ for x in (avals, out_avals, names)]
        lines = dict(line.split(" = ") for line in emitter.lines)
        values = [lines.get(f"    {name}", name) for name in names]  # of a literal, its line
        params["jaxpr"] = str(params["jaxpr"])
        calls.append(([*map(str, avals)], [*map(str, out_avals)], values, params, classes))
        return [f"%{params['tag']}_{i}" for i in range(len(out_avals))]

    made_up_p = Primitive("made_up", multiple_results=True)
    hlo_lowerings[made_up_p] = rule
    f32, i8 = np.dtype("float32"), np.dtype("int8")
    a, b = Var(ShapedArray((2,), f32)), Var(ShapedArray((), i8, weak_type=True))
    first = [Var(ShapedArray((i,), f32, weak_type=i == 1)) for i in range(number)]
    last = [Var(ShapedArray((7,), i8))]
    twos = [Literal(2.0, ShapedArray((), np.dtype(name))) for name in ("float16", "float32")]
    inner = ClosedJaxpr(Jaxpr([], [], [], []), [])
    params = {"tag": "first", "sizes": [1, 2], "none": None, "jaxpr": inner}
    eqns = [
        JaxprEqn([b, a, *twos], first, made_up_p, params),
        JaxprEqn([*first, a], last, made_up_p, {"tag": "last", "sizes": (), "jaxpr": inner}),
    ]
    jaxpr = Jaxpr([], [a, b], [*last, *reversed(first), a], eqns)
    names = list(lower_body(Emitter(), jaxpr, ["%left", "%right"]))
    parts = "operands' types", "results' types", "operands", "params", "classes of the lists"
    gets = {f"the {part} that a rule gets": x for part, *x in zip(parts, *calls, strict=True)}
    return {"calls of the rules": len(calls), "the names of the outputs": names, **gets}


@probe
def long_program(mj, number):
    """The text of a program of so many equations."""
    names = [Var(ShapedArray((), np.dtype(float))) for _ in range(number + 1)]
    eqns = [JaxprEqn([a], [b], neg_p, {}) for a, b in itertools.pairwise(names)]
    emitter = Emitter()
    outs = lower_body(emitter, Jaxpr([], names[:1], names[-1:], eqns), ["%arg0"])
    return {
        "the number of lines of the text": len(emitter.lines),
        "the output is the result of the last line": emitter.lines[-1].split()[0] == outs[0],
    }


@probe
def without_a_rule(mj, name):
    """A program with a primitive that has no lowering rule, or one that raises these errors."""
    a, b = (Var(ShapedArray((), np.dtype(float))) for _ in range(2))
    made_up_p = Primitive(name)
    jaxpr = Jaxpr([], [a], [b], [JaxprEqn([a], [b], made_up_p, {})])
    came = []
    kinds = KeyError, NotImplementedError, TypeError, ValueError, AttributeError, IndexError
    for kind in (*kinds, AssertionError, StopIteration, KeyboardInterrupt):
        error = kind("mine")
        rule = Mock(side_effect=error)
        with patch.dict(hlo_lowerings, {made_up_p: rule}):
            try:
                lower_body(Emitter(), jaxpr, ["%arg0"])
            except BaseException as found:
                came.append(found is error and found.args == ("mine",))
    try:
        lower_body(Emitter(), jaxpr, ["%arg0"])
    except NotImplementedError as error:
        named = name in str(error)
        return {
            "error": "NotImplementedError",
            "the error names the primitive": named,
            "an error of a rule comes out": came,
        }
    return {"error": "nothing"}


@pytest.mark.meets("order")
@pytest.mark.keeps("Emit the equations of a program in order")
def test_lower_equations(student):
    """Equations are emitted in order, each on its own operands."""
    student.agrees(lowered, "order", [GRID, GRID + 5.0])


@pytest.mark.keeps("literals become lines")
def test_lower_literals(student):
    """A literal is in the text with its value, as an operand and as an output."""
    student.agrees(lowered, "literals", [ROW, ONE])
    student.agrees(lowered, "outputs", [ROW, ROW * 2.0])


@pytest.mark.meets("order", "closure")
@pytest.mark.keeps("become arguments of the module")
def test_lower_constants(student):
    """Constants are passed as arguments, and are not mistaken for inputs or for each other."""
    student.agrees(lowered, "constants", [GRID, GRID * 3.0])


@pytest.mark.meets("nested")
@pytest.mark.keeps("become arguments of the module")
def test_lower_constants_of_a_call(student):
    """A program in an equation is emitted in its place, with its constants and its own names."""
    student.agrees(lowered, "call", [GRID, GRID - 4.0])


@pytest.mark.meets("again", "nested")
@pytest.mark.keeps("equations of a program in order, once each")
def test_lower_a_program_twice(student):
    """A program that is called twice is emitted twice, each time for its own operands."""
    student.agrees(lowered, "call twice", [ROW, ROW - 4.0])


@pytest.mark.meets("float32", "caching", "extremes")
@pytest.mark.keeps("literals become lines")
def test_lower_numbers(student):
    """Numbers that are equal may differ in type or sign, and each is written with its own."""
    student.agrees(lowered, "numbers", [ROW.astype(np.float32), np.arange(3)])
    whole = [np.arange(3, dtype=np.uint64), np.arange(4, dtype=np.uint8)]
    student.agrees(lowered, "integers", whole)
    student.agrees(lowered, "extremes", [ROW, ONE])


@pytest.mark.meets("keys", "axes")
@pytest.mark.keeps("the parameters by name")
def test_lower_params(student):
    """The parameters of an equation reach its rule."""
    student.agrees(lowered, "transpose", [GRID, ONE])
    student.agrees(lowered, "broadcast", [GRID.astype(np.float32), TWO])


@pytest.mark.meets("twice")
@pytest.mark.keeps("in order, once each")
def test_lower_once(student):
    """Each equation is emitted once, however often its result is used."""
    student.agrees(lowered, "used again", [ROW, ROW + 1.0])


@pytest.mark.meets("twice", "sizes", "some_results")
@pytest.mark.keeps("Returns the names of its results")
def test_lower_outputs(student):
    """Outputs may be early results or inputs, several times, and there may be no equation."""
    student.agrees(lowered, "early", [ROW, ROW + 4.0])
    student.agrees(lowered, "nothing", [ROW, GRID])
    student.agrees(lowered, "no inputs", [])
    student.agrees(lowered, "outputs", [ROW, ROW * 2.0])


@pytest.mark.meets("keys", "more_than_two")
@pytest.mark.keeps("`args` are the names of its inputs", "takes the emitter, three lists")
def test_lower_rules(student):
    """A rule gets the types of operands and results, the operands' names, and the parameters."""
    student.agrees(what_rules_get, 1)
    student.agrees(what_rules_get, 3)
    student.agrees(what_rules_get, 0)


@pytest.mark.meets("length")
def test_lower_long_programs(student):
    """Programs may be long."""
    student.agrees(long_program, 1200)


@pytest.mark.meets("exception")
@pytest.mark.keeps("its own errors pass through", "names the primitive")
def test_lower_missing_rule(student):
    """A primitive without a rule is named in the error; an error of a rule comes out."""
    student.agrees(without_a_rule, "made_up")


exercise("jit.impl")

LOWER = siblings("jit.lower_body")


@probe(uses=[in_place])
def called(mj, siblings, batches, of="float64"):
    """A program called again and again: results, and what was compiled and copied at each call.

    The program is (k * x) - y, x and k, where k is a constant.
    """
    dtype = np.dtype(of)
    k = np.array([10, 20, 30], dtype)
    avals = [ShapedArray((3,), dtype), ShapedArray((), dtype)]
    closed = trace_to_jaxpr(lambda x, y: [k * x - y, x, k], avals)
    results = []
    with (
        in_place("minijax.jit", siblings) as module,
        patch.object(xla, "compile_text", wraps=xla.compile_text) as compiled,
        patch.object(xla, "to_device", wraps=xla.to_device) as sent,
        patch.object(xla, "to_host", wraps=xla.to_host) as fetched,
    ):
        for x, y in batches:
            name = "fg"[len(results) % 2]
            x = np.repeat(np.asarray(x, dtype), 2)[::2]  # which is not contiguous
            outs = module.jit_impl(x, y, name=name, jaxpr=closed)
            counts = [compiled.call_count, sent.call_count, fetched.call_count]
            results.append((outs, [type(out).__name__ for out in outs], counts))
    return [
        {
            "the results of a call": [np.asarray(out) for out in outs],
            "the classes of the results": classes,
            "how many compilations there were so far, for one program": compilations,
            "how many copies to the device have been made": copies,
            "how many copies to the host have been made": fetches,
        }
        for outs, classes, (compilations, copies, fetches) in results
    ]


@probe(uses=[in_place])
def of_device_arrays(mj, siblings, x, y, committed, asked=False):
    """Results for arrays that are on the device: values, types, where they are, and copies made.

    Where an argument or an operation has said which device it is, the current device is another.
    """
    on = xla.alone(xla.current_device())
    current = "another" if committed or asked else xla.current_device()
    avals = [raise_to_shaped(get_aval(value)) for value in (x, y)]
    closed = trace_to_jaxpr(lambda x, y: [y, x < y], avals)
    pairs = zip(avals, (x, y), strict=True)
    args = [array_of(aval, xla.to_device(aval, v, on), on, committed) for aval, v in pairs]
    with in_place("minijax.jit", siblings) as module:
        text, emitter = module.lower(closed)
        if asked:  # by an operation of the program
            emitter.places[on] = "an operation"
        with (
            patch.object(module, "lower", return_value=(text, emitter)),
            patch.object(xla, "to_device", wraps=xla.to_device) as sent,
            patch.object(xla, "current_device", return_value=current),
        ):
            outs = module.jit_impl(*args, name="f", jaxpr=closed)
    if not all(out.kind.on is on for out in outs):  # they cannot be copied from elsewhere
        return {"a result is on the device": [out.kind.on is on for out in outs]}
    return {
        "the results": [np.asarray(out) for out in outs],
        "the types of the results": [out.aval.str_short() for out in outs],
        "a result is weakly typed": [out.aval.weak_type for out in outs],
        "a result is committed to its device": [out.committed for out in outs],
        "a result is on the device": [out.kind.on is on for out in outs],
        "the number of copies to the device": sent.call_count,
    }


@probe(uses=[in_place])
def of_python_numbers(mj, siblings, x, n):
    """Results for Python numbers, whose program takes and gives weakly typed numbers."""
    avals = [ShapedArray((), np.dtype(kind), weak_type=True) for kind in (float, int)]
    shapes = [{"shape": shape, "broadcast_dimensions": ()} for shape in [(2,), (0, 2)]]
    closed = trace_to_jaxpr(
        lambda x, n: [n, -x, *(broadcast_in_dim_p.bind(x, **shape) for shape in shapes)], avals
    )
    with in_place("minijax.jit", siblings) as module:
        outs = module.jit_impl(x, n, name="f", jaxpr=closed)
    if not all(hasattr(out, "aval") for out in outs):
        return {"a result is an array on the device": [hasattr(out, "aval") for out in outs]}
    return {
        "the results": [np.asarray(out) for out in outs],
        "the types of the results": [out.aval.str_short() for out in outs],
        "a result is weakly typed": [out.aval.weak_type for out in outs],
    }


@probe(uses=[in_place])
def of_mixed_arguments(mj, siblings, x, y):
    """x - y and x, where they are on the device, on another or on none; then x is changed."""
    on, aval = xla.alone(xla.current_device()), ShapedArray(np.shape(x), np.dtype(float))
    x = np.array(x) if aval.shape else x  # one that can be written to
    closed = trace_to_jaxpr(lambda x, y: [x - y, x], [aval, aval])

    def sent(value):
        return array_of(aval, xla.to_device(aval, value, on), on)

    def elsewhere(value):
        array = array_of(aval, xla.to_device(aval, np.zeros(aval.shape), on), ("another",))
        array.host = np.asarray(value, float)
        return array

    given = [(x, y), (x, sent(y)), (sent(x), y), (sent(x), sent(y)), (x, x), (sent(y), x)]
    given += [(elsewhere(x), sent(y)), (y, elsewhere(x))]
    with in_place("minijax.jit", siblings) as module:
        outs = [module.jit_impl(*pair, name="f", jaxpr=closed) for pair in given]
        if isinstance(x, np.ndarray):
            x[...] = 7.0
            outs.append(module.jit_impl(x, y, name="f", jaxpr=closed))
    return {"the results, one call after another": [[np.asarray(x) for x in pair] for pair in outs]}


@probe(uses=[in_place])
def of_committed_in_turn(mj, siblings, x, flags):
    """Whether results are committed, if these of two arguments are; and how much is compiled."""
    on, aval = xla.alone(xla.current_device()), ShapedArray(x.shape, x.dtype)
    closed = trace_to_jaxpr(lambda x, y: [y, x], [aval, aval])
    found = []
    with (
        in_place("minijax.jit", siblings) as module,
        patch.object(xla, "compile_text", wraps=xla.compile_text) as compiled,
    ):
        for pair in flags:
            args = [array_of(aval, xla.to_device(aval, x, on), on, flag) for flag in pair]
            outs = module.jit_impl(*args, name="f", jaxpr=closed)
            found.append([*[out.committed for out in outs], compiled.call_count])
    return {"whether results are committed, and the number of compilations so far": found}


@probe(uses=[in_place])
def of_no_equations(mj, siblings, x):
    """The results of a program that returns its input, which is changed then; and of none."""
    same = trace_to_jaxpr(lambda x: [x], [ShapedArray(x.shape, x.dtype)])
    number, nothing = trace_to_jaxpr(lambda: [2.5], []), trace_to_jaxpr(list, [])
    x = np.array(x)
    with in_place("minijax.jit", siblings) as module:
        (out,) = module.jit_impl(x, name="f", jaxpr=same)
        x[...] = 7.0
        alone = module.jit_impl(name="f", jaxpr=number)
        with patch.object(xla, "compile_text", wraps=xla.compile_text) as compiled:
            module.jit_impl(name="f", jaxpr=number)
        none = module.jit_impl(name="f", jaxpr=nothing)
    return {
        "the results of a program without results": none,
        "the result is an array on the device": hasattr(out, "aval"),
        "value": np.array(out),
        "the results of a program without inputs": [np.array(x) for x in alone],
        "compilations of it at its second call": compiled.call_count,
    }


@probe(uses=[in_place])
def of_one_array(mj, siblings, x):
    """Copies of an array of the library, which is not on the device, in four calls.

    The program takes it twice in two of them.
    """
    array, outs, aval = neg_p.bind(x), [], ShapedArray(x.shape, x.dtype)
    with (
        in_place("minijax.jit", siblings) as module,
        patch.object(xla, "to_device", wraps=xla.to_device) as sent,
    ):
        for args in ([array, array], [array]):
            closed = trace_to_jaxpr(lambda *xs: [xs[-1]], [aval for _ in args])
            outs += [module.jit_impl(*args, name="f", jaxpr=closed) for _ in range(2)]
    return {
        "the results, one call after another": [np.asarray(out) for (out,) in outs],
        "the number of copies to the device": sent.call_count,
    }


@pytest.mark.meets("order", "twice", "again", "caching", "mutation")
@pytest.mark.keeps("only those not on the device are copied")
def test_impl_mixed_arguments(student):
    """Each argument gets its own place, wherever it is, and the values that it has now."""
    student.agrees(of_mixed_arguments, LOWER, ROW, ROW[::-1].copy())
    for x, y in ((3, 2.5), (True, np.float64(2.5))):  # of another type than the inputs
        student.agrees(of_mixed_arguments, LOWER, x, y)


@pytest.mark.meets("caching")
@pytest.mark.keeps("compiled at the first call")
def test_impl_without_equations(student):
    """A program without equations, inputs or results is compiled once, and called as others are."""
    student.agrees(of_no_equations, LOWER, ROW)


@pytest.mark.keeps("if the program asks for devices")
def test_impl_committed_by_the_program(student):
    """Results are committed, too, if the program itself asks for devices."""
    student.agrees(of_device_arrays, LOWER, TWO, TWO + 1.0, False, True)


@pytest.mark.meets("float32", "more_than_two")
@pytest.mark.keeps("The results of a program, as arrays")
def test_impl_values(student):
    """Results are those of the program, in its order, on the device, at each of several calls."""
    student.agrees(called, LOWER, [(ROW, 2.0)])
    student.agrees(called, LOWER, [(ROW, np.array(0.25)), (ROW * 2.0, 1.0)], "float32")


@pytest.mark.keeps("with the types that the program states")
def test_impl_dtypes(student):
    """Results have the dtypes and weak types that the program states."""
    student.agrees(called, LOWER, [([1, 2, 3], np.array(4, np.int32))], "int32")
    student.agrees(of_python_numbers, LOWER, 2.5, 7)


@pytest.mark.meets("again", "moment")
@pytest.mark.keeps("compiled at the first call")
def test_impl_compiles_once(student):
    """The program is compiled at the first call, and not again."""
    student.agrees(called, LOWER, [(ROW, 2.0), (ROW * 3.0, -1.0), (ROW, 2.0)])


@pytest.mark.keeps("Nothing is copied back")
def test_impl_stays_on_the_device(student):
    """Results are arrays on the device: nothing is copied to NumPy before you ask for values."""
    student.agrees(called, LOWER, [(ROW - 1.0, 7.0)])
    student.agrees(of_device_arrays, LOWER, TWO, TWO + 1.0, False)


@pytest.mark.keeps("an array of our own is copied only once")
def test_impl_device_arguments(student):
    """Arguments that are on the device are used as they are."""
    student.agrees(of_device_arrays, LOWER, TWO, TWO[::-1].copy(), False)
    for x in (ROW, ONE):
        student.agrees(of_one_array, LOWER, x)


@pytest.mark.keeps("are committed if an argument is")
def test_impl_committed(student):
    """Results are committed to a device if an argument is, and are on that device."""
    student.agrees(of_device_arrays, LOWER, TWO, TWO + 1.0, True)
    yes, no = True, False
    flags = [[no, no], [yes, no], [no, yes], [yes, yes], [no, no], [yes, no]]
    student.agrees(of_committed_in_turn, LOWER, ROW, flags)
    student.agrees(of_committed_in_turn, LOWER, ONE, flags)


@pytest.mark.meets("weak_type")
@pytest.mark.keeps("with the types that the program states")
def test_impl_weak_types(student):
    """Results are weakly typed if the program says so."""
    student.agrees(of_python_numbers, LOWER, -4.0, 2**53 + 1)
    student.agrees(of_python_numbers, LOWER, 3, 3)


exercise("jit.jvp")


@probe
def tangent_program(mj, which, moves, values, tangents, weak=False):
    """The program of values and tangents: its types, its operations, and what it computes.

    If `weak`, all inputs are weakly typed.
    """
    k = np.array([[2.0], [-3.0]])
    functions = {
        "one": lambda x: [sin(x) * x],
        "two": lambda x, y: [x * y - y, exp(y), reduce_sum_p.bind(x, axes=(0,))],
        "integers": lambda n, x: [n + 1, x * 2.0, x < 1.0, n, cos(x)],
        "still": lambda x, y: [y, sin(x), y * 3.0, 5.0],
        "three": lambda x, y, z: [x * y - z, z * y, x, x],
        "half": lambda x: [x.astype(np.float16), x],
        "constants": lambda x, y: [x * k, k, y / k],
        "no inputs": lambda: [k, 2.0, 3],
    }
    avals = [raise_to_shaped(get_aval(value)) for value in values]
    avals = [ShapedArray(a.shape, a.dtype, weak or a.weak_type) for a in avals]
    out = jvp_jaxpr(trace_to_jaxpr(functions[which], avals), tuple(moves))
    found = {
        "the types of the program's inputs": [aval.str_short() for aval in out.in_avals],
        "the types of the program's results": [aval.str_short() for aval in out.out_avals],
        "an input is weakly typed": [aval.weak_type for aval in out.in_avals],
        "the operations of the program": sorted(eqn.primitive.name for eqn in out.jaxpr.eqns),
    }
    try:
        outs = eval_jaxpr(out.jaxpr, out.consts, *values, *tangents)
    except ValueError:
        return found
    return {**found, "the values and tangents": outs}


@probe
def kept_tangent_programs(mj, all_moves):
    """Which of these programs are the same, made from one program, and from another like it."""
    derived = []
    same_p = Primitive("same")
    abstract_eval_rules[same_p] = lambda x: x

    def rule(primals, tangents):
        derived.append(1)
        return same_p.bind(*primals), neg_p.bind(*tangents)

    jvp_rules[same_p] = rule
    aval = ShapedArray((2,), np.dtype(float))
    programs = [trace_to_jaxpr(lambda x, y: [same_p.bind(x), y], [aval, aval]) for _ in range(2)]
    made = [jvp_jaxpr(program, tuple(moves)) for moves in all_moves for program in programs]
    return {
        "two requests get one and the same program": [
            [one is other for other in made] for one in made
        ],
        "calls of the jvp rule": len(derived),
    }


@pytest.mark.meets("weak_type", "float32")
@pytest.mark.keeps("The program that computes values and tangents", "then a tangent for each that")
def test_jvp_program(student):
    """The program returns values and tangents, by the rules of its operations."""
    student.agrees(tangent_program, "one", [True], [ROW], [ROW * 2.0])
    student.agrees(tangent_program, "one", [True], [np.array(0.5, np.float32)], [np.float32(3.0)])
    student.agrees(tangent_program, "one", [True], [0.5], [3.0])
    student.agrees(tangent_program, "one", [True], [ROW[:0]], [ROW[:0]], True)
    student.agrees(tangent_program, "half", [True], [ROW], [ROW * 2.0])


@pytest.mark.meets("zeros")
@pytest.mark.keeps("a tangent for each float among them, even if zero")
def test_jvp_nothing_moves(student):
    """If no input moves, the tangents of all floating-point results are zeros."""
    student.agrees(tangent_program, "two", [False, False], [ROW, ROW + 1.0], [])
    student.agrees(tangent_program, "integers", [False, False], [np.arange(3), ROW], [])
    student.agrees(tangent_program, "no inputs", [], [], [])


@pytest.mark.meets("order", "more_than_two")
def test_jvp_order(student):
    """Values come first, then tangents, and each tangent belongs to its own value and input."""
    student.agrees(tangent_program, "two", [True, True], [ROW, ROW + 1.0], [ROW * 3.0, ROW - 4.0])
    student.agrees(tangent_program, "two", [True, True], [GRID, GRID * 2.0], [GRID + 1.0, GRID])


@pytest.mark.meets("some_results")
@pytest.mark.keeps("then a tangent for each that", "Nothing is computed for the other inputs")
def test_jvp_first_still(student):
    """An input that does not move has no tangent among the inputs, here the first one."""
    student.agrees(tangent_program, "two", [False, True], [ROW, ROW + 1.0], [ROW * 3.0])
    student.agrees(tangent_program, "still", [False, True], [ROW, ROW - 1.0], [ROW])


@pytest.mark.meets("some_results")
@pytest.mark.keeps("then a tangent for each that", "Nothing is computed for the other inputs")
def test_jvp_second_still(student):
    """If the second input does not move, it has no tangent among the inputs."""
    student.agrees(tangent_program, "two", [True, False], [ROW, ROW + 1.0], [ROW * 3.0])
    student.agrees(tangent_program, "still", [True, False], [GRID, ROW], [GRID * 2.0])
    still = [True, False, True], [ROW, ROW + 1.0, ROW - 4.0], [ROW * 3.0, ROW + 2.0]
    student.agrees(tangent_program, "three", *still)  # it is between two that move


@pytest.mark.keeps("a tangent for each float among them")
def test_jvp_integers(student):
    """Results that are integers or booleans have no tangent."""
    for dtype in ("int64", "int8", "uint8", "uint32"):
        n = np.arange(3, dtype=dtype)
        student.agrees(tangent_program, "integers", [False, True], [n, ROW], [ROW * 2.0])


def test_jvp_numbers(student):
    """A number among several results has no tangent if it is an integer or a boolean."""
    student.agrees(tangent_program, "integers", [False, True], [4, ONE], [ONE])


@pytest.mark.meets("some_results", "zeros")
@pytest.mark.keeps("even if zero")
def test_jvp_zeros(student):
    """A floating-point result that does not move has a tangent, which is zero."""
    student.agrees(tangent_program, "still", [True, False], [ROW, TWO], [ROW + 2.0])


@pytest.mark.meets("closure")
def test_jvp_constants(student):
    """The constants of the program are there, and do not move."""
    student.agrees(tangent_program, "constants", [True, True], [ROW, GRID], [ROW * 2.0, GRID - 1.0])


MOVES = [True, True], [True, False], [False, True]


@pytest.mark.meets("caching")
@pytest.mark.parametrize("order", [(0, 0), (2, 1, 2)])
def test_jvp_kept(student, order):
    """The second time, the same program comes back, and nothing is differentiated again."""
    student.agrees(kept_tangent_programs, [MOVES[i] for i in order])


@pytest.mark.meets("again")
@pytest.mark.keeps("the same object each time", "is freed when")
def test_jvp_kept_for_moves(student):
    """What moves decides which program comes back; it goes with the one that it was made from."""
    student.agrees(kept_tangent_programs, [MOVES[i] for i in (1, 0, 1)])
    student.agrees(kept_among_many, 9)
    student.agrees(kept_and_freed, "tangents")


@probe
def kept_among_many(mj, inputs):
    """Whether the first of many programs comes back, in each of which others move."""
    program = trace_to_jaxpr(
        lambda *xs: [neg_p.bind(xs[0])], [ShapedArray((), np.dtype(float))] * inputs
    )
    chosen = [x for n in range(4) for x in itertools.combinations(range(inputs), n)]
    many = [tuple(place in some for place in range(inputs)) for some in chosen]
    made = [jvp_jaxpr(program, moves) for moves in many]
    return {
        "the first program comes back after 129 others": jvp_jaxpr(program, many[0]) is made[0],
        "the number of programs": len({*map(id, made)}),
    }


@probe
def kept_and_freed(mj, of):
    """Which programs come back, of one input or none, also within a trace or an axis; and go.

    They are `of` tangents, for each choice of what moves, or of batches, of all inputs or none.
    """
    scalar, k = ShapedArray((), np.dtype(float)), np.array([2.0, 3.0])
    functions = (lambda: [k, 2.0]), (lambda x: [neg_p.bind(x)]), (lambda x: [x * k, x])

    def tangents(program, size):
        for moves in itertools.product([True, False], repeat=size):
            yield lambda moves=moves: jvp_jaxpr(program, moves)

    def batches(program, size):
        for dim, shape in ((0, (3,)), (not_mapped, ())):
            avals = [ShapedArray(shape, np.dtype(float))] * size
            yield lambda dims=[dim] * size, avals=avals: batched_jaxpr(program, 3, dims, avals)[0]

    alive, back, within = [], [], []
    for f, size in zip(functions, (0, 1, 1), strict=True):
        program = trace_to_jaxpr(f, [scalar] * size)
        for ask in {"tangents": tangents, "batches": batches}[of](program, size):
            made = ask()
            trace_to_jaxpr(lambda x, ask=ask: [within.append(ask()) or x], [scalar])
            with mapped_axis(AxisSize(4, "columns"), None):
                back.append([ask() is made, within.pop() is made])
            alive.append(weakref.ref(made))
    del program, made, ask
    gc.collect()
    return {
        "the same program comes back, within an axis and within a trace": back,
        "what was made of a program goes when that program goes": [ref() is None for ref in alive],
    }


@probe
def kept_for_a_program_in_turn(mj, all_moves):
    """The inputs of the programs for each of these moves, of a program that is closed anew."""
    scalar = ShapedArray((), np.dtype(float))
    jaxpr = trace_to_jaxpr(lambda x, y: [sub_p.bind(x, y)], [scalar, scalar]).jaxpr
    first, again = (
        [jvp_jaxpr(ClosedJaxpr(jaxpr, []), tuple(moves)) for moves in all_moves] for _ in range(2)
    )
    return {
        "the texts of the programs": [*map(str, first)],
        "the same programs come back, if it is closed anew": [
            one is other for one, other in zip(first, again, strict=True)
        ],
    }


@pytest.mark.keeps("the same object each time")
def test_jvp_of_a_program_closed_anew(student):
    """What moves decides, not whether the program is closed anew or others have its equations."""
    student.agrees(kept_for_a_program_in_turn, [[True, False], [True, True], [False, True]])
    student.agrees(after_a_rule_has_failed, "tangents")


@probe
def after_a_rule_has_failed(mj, of):
    """The programs of tangents or of batches, asked for again after an operation's rule failed."""
    vector, scalar = (ShapedArray(shape, np.dtype(float)) for shape in ((3,), ()))
    program, made = trace_to_jaxpr(lambda x: [sin(x)], [scalar]), []
    asks = {
        "tangents": lambda: [jvp_jaxpr(program, (True,))],
        "batches": lambda: batched_jaxpr(program, 3, [0], [vector]),
    }
    failing = Mock(side_effect=KeyError("of the rule"))
    for rule in (failing, None, None):
        rules = {} if rule is None else {program.eqns[0].primitive: rule}
        with patch.dict(jvp_rules, rules), patch.dict(vmap_rules, rules):
            try:
                made.append(asks[of]())
            except KeyError as error:
                made.append([type(error).__name__])
    return {
        "what comes out, or an error": [*map(str, made)],
        "the same program comes back": made[1][0] is made[2][0],
    }


exercise("jit.batch")


@probe
def batch_program(mj, which, size, dims, values, weak=False):
    """The program for batches: its types, operations and results, and where the batch axes are.

    If `weak`, all inputs are weakly typed.
    """
    k = np.array([2.0, -3.0])
    functions = {
        "one": lambda x: [sin(x) * x],
        "two": lambda x, y: [x - y, reduce_sum_p.bind(y, axes=(0,)), x * 2.0],
        "single": lambda x, y: [y * 2.0, sin(x), 5.0, y],
        "axes": lambda x: [transpose_p.bind(x, permutation=(1, 0)), x],
        "constants": lambda x, y: [x * k, k, y],
        "no inputs": lambda: [k, 2.0],
    }
    dims = [not_mapped if dim is None else dim for dim in dims]
    avals = [raise_to_shaped(get_aval(value)) for value in values]
    avals = [ShapedArray(a.shape, a.dtype, weak or a.weak_type) for a in avals]
    examples = [remove_axis(aval, dim) for aval, dim in zip(avals, dims, strict=True)]
    jaxpr = trace_to_jaxpr(functions[which], examples)
    out, out_dims = batched_jaxpr(jaxpr, size, dims, avals)
    return {
        "the types of the program's inputs": [aval.str_short() for aval in out.in_avals],
        "the types of the program's results": [aval.str_short() for aval in out.out_avals],
        "an input is weakly typed": [aval.weak_type for aval in out.in_avals],
        "a result is weakly typed": [aval.weak_type for aval in out.out_avals],
        "the operations of the program": sorted(eqn.primitive.name for eqn in out.jaxpr.eqns),
        "the batch axes of the results": ["none" if d is not_mapped else d for d in out_dims],
        "the results": eval_jaxpr(out.jaxpr, out.consts, *values),
    }


@probe
def batch_of_places(mj, axes):
    """Programs whose one operation gives each example its place, though no input is batched.

    They are asked for each of these axes in turn, a size and a name, and then for all of them
    again. One has an input, and the other has none.
    """

    class Places(AxisPrimitive):
        def names(self, params):
            return ["rows"]

    place_p, number = Places("place"), ShapedArray((), np.dtype(int))
    abstract_eval_rules[place_p] = lambda: number
    vmap_rules[place_p] = lambda axis_size, vals, dims: (np.arange(int(axis_size)), 0)
    with mapped_axis(AxisSize(7, "rows"), None):
        jaxprs = [trace_to_jaxpr(lambda *xs: [place_p.bind(), *xs], [number] * n) for n in (1, 0)]
        made = [
            batched_jaxpr(jaxpr, AxisSize(*x), [not_mapped] * n, [number] * n)
            for x in axes * 2
            for n, jaxpr in zip((1, 0), jaxprs, strict=True)
        ]
    return {
        "the types of the results, where an operation makes a batch itself, as `axis_index` does": [
            [aval.str_short() for aval in out.out_avals] for out, _ in made
        ],
        "the batch axes of the results": [
            [None if dim is not_mapped else dim for dim in dims] for _, dims in made
        ],
        "the same program comes back": [
            one is other
            for (one, _), (other, _) in zip(
                made[: 2 * len(axes)], made[2 * len(axes) :], strict=True
            )
        ],
    }


@probe
def kept_batch_programs(mj, cases, other):
    """Which of the programs for these sizes, names and batch axes are the same; rules called.

    If `other`, a second program like the first one is asked, too.
    """
    calls = []
    same_p = Primitive("same")
    abstract_eval_rules[same_p] = lambda x: x

    def rule(axis_size, vals, dims):
        calls.append((int(axis_size), name_of(axis_size), axis_sizes()))
        return same_p.bind(*vals), dims[0]

    vmap_rules[same_p] = rule
    one = ShapedArray((), np.dtype(float))
    jaxprs = [trace_to_jaxpr(lambda x, y: [same_p.bind(x), same_p.bind(y)], [one, one])]
    if other:
        jaxprs.append(trace_to_jaxpr(lambda x, y: [y, x], [one, one]))
    made = []
    for number, (size, name, mapped) in enumerate(cases):
        dims = [0 if flag else not_mapped for flag in mapped]
        shapes = [(size,) if flag else () for flag in mapped]
        is_weak = number % 2 == 1  # which does not count
        avals = [ShapedArray(shape, np.dtype(float), is_weak) for shape in shapes]
        made += [batched_jaxpr(jaxpr, AxisSize(size, name), dims, avals) for jaxpr in jaxprs]
    programs = [program for program, _ in made]
    axes = [[None if dim is not_mapped else dim for dim in dims] for _, dims in made]
    return {
        "two requests get one and the same program": [[a is b for b in programs] for a in programs],
        "the batch axes of the results": axes,
        "calls of the batching rule": len(calls),
        "the size and the axis names that a rule sees": calls,
    }


@probe
def kept_for_squares(mj, all_dims):
    """Which programs are the same where the inputs have one type, whatever their batch axes are."""
    example, batch = (ShapedArray((2,) * rank, np.dtype(float)) for rank in (2, 3))
    inputs = len(all_dims[0])
    jaxpr = trace_to_jaxpr(lambda *xs: [sub_p.bind(*xs[:2]), *xs[1:]], [example] * inputs)
    made = [
        batched_jaxpr(jaxpr, AxisSize(2, name), dims, [batch] * inputs)
        for name in (None, "rows")
        for dims in all_dims
    ]
    anew = batched_jaxpr(jaxpr.replace(), 2, all_dims[0], [batch] * inputs)
    many = [ShapedArray((size, 2, 2), np.dtype(float)) for size in range(3, 133)]
    for aval in many:
        batched_jaxpr(jaxpr, aval.shape[0], [0] * inputs, [aval] * inputs)
    again = batched_jaxpr(jaxpr, 2, all_dims[0], [batch] * inputs)
    return {
        "the same program comes back, if it is closed anew": anew[0] is made[0][0],
        "the first program comes back after 130 others": again[0] is made[0][0],
        "two requests get one and the same program": [[a is b for b, _ in made] for a, _ in made],
        "the batch axes of the results": [[*dims] for _, dims in made],
    }


@pytest.mark.meets("float32", "sizes")
def test_batch_program(student):
    """The program computes all examples at once, wherever their axis is."""
    student.agrees(batch_program, "one", 3, [0], [ROW])
    student.agrees(batch_program, "one", 3, [1], [GRID])
    student.agrees(batch_program, "one", 2, [0], [GRID.astype(np.float32)])
    student.agrees(batch_program, "two", 2, [0, None], [GRID, ROW], True)


@pytest.mark.meets("axes")
@pytest.mark.keeps("the list of batch axes of its results")
def test_batch_axes(student):
    """The rule says where the batch axis of each result is."""
    student.agrees(batch_program, "axes", 4, [2], [CUBE])
    student.agrees(batch_program, "axes", 3, [1], [CUBE])
    student.agrees(batch_program, "axes", 2, [0], [CUBE])


@pytest.mark.meets("order", "more_than_two")
@pytest.mark.keeps("are the batch axes of the inputs")
def test_batch_several(student):
    """Several inputs may be batched along different axes."""
    student.agrees(batch_program, "two", 2, [0, 1], [GRID, GRID.T.copy()])
    student.agrees(batch_program, "two", 3, [1, 0], [GRID, GRID.T.copy()])


@pytest.mark.meets("some_results")
@pytest.mark.keeps("an input that all examples share is")
def test_batch_unmapped(student):
    """An input that is the same for all examples stays as it is."""
    student.agrees(batch_program, "two", 2, [0, None], [GRID, ROW])
    student.agrees(batch_program, "two", 2, [None, 0], [ROW, GRID])
    student.agrees(batch_program, "two", 2, [None, None], [ROW, ROW])
    student.agrees(batch_of_places, [(3, "rows"), (5, "rows"), (3, "columns")])


@pytest.mark.meets("weak_type", "some_results")
def test_batch_single_results(student):
    """Results that are the same for all examples have no batch axis."""
    student.agrees(batch_program, "single", 3, [0, None], [ROW, GRID])
    student.agrees(batch_program, "single", 3, [0, None], [ROW.astype(np.float32), 2.0])
    for size in (1, 0):
        student.agrees(batch_program, "single", size, [0, None], [GRID[:size], ROW])


@pytest.mark.meets("closure")
@pytest.mark.keeps("the list of batch axes of its results")
def test_batch_constants(student):
    """Results that are constants of the program have no batch axis."""
    student.agrees(batch_program, "constants", 3, [1, None], [GRID, ONE])
    student.agrees(batch_program, "single", 2, [1, None], [GRID.T.copy(), TWO])
    student.agrees(batch_program, "no inputs", 3, [], [])


BOTH, FIRST = [True, True], [True, False]


@pytest.mark.meets("moment")
@pytest.mark.keeps("returns the same pair, and traces nothing")
def test_batch_kept(student):
    """The second time, the same program comes back with its batch axes, and no rule is called."""
    student.agrees(kept_batch_programs, [(3, None, BOTH), (3, None, BOTH)], False)
    student.agrees(kept_batch_programs, [(2, None, FIRST), (2, None, FIRST)], True)


@pytest.mark.meets("again")
def test_batch_kept_for_axes(student):
    """Which inputs are batched decides which program comes back."""
    cases = [(3, None, FIRST), (3, None, BOTH), (3, None, FIRST), (3, None, [False, True])]
    student.agrees(kept_batch_programs, cases, False)


@pytest.mark.meets("twice")
@pytest.mark.keeps("and the same `dims`", "The pair is freed")
def test_batch_kept_for_other_axes(student):
    """If the other input is batched, there is a different program; it goes with the first one."""
    student.agrees(kept_batch_programs, [(2, None, [False, True]), (2, None, FIRST)], False)
    one = [[int(i == place) for i in range(4)] for place in range(4)]  # the first, then the next
    student.agrees(kept_for_squares, [[0] * 4, [2, 0, 0, 0], *one, [1] * 4, [0] * 4])
    student.agrees(kept_and_freed, "batches")
    student.agrees(after_a_rule_has_failed, "batches")


@pytest.mark.meets("again", "caching")
@pytest.mark.keeps("the same size and name of the axis")
def test_batch_kept_for_sizes(student):
    """A different number of examples, or name of their axis, means a different program."""
    cases = [(3, None, BOTH), (2, None, BOTH), (3, "rows", BOTH), (3, "columns", BOTH)]
    cases += [(2, "rows", BOTH), (3, "0", BOTH), (3, 0, BOTH)]
    cases += [(3, -1, BOTH), (3, -2, BOTH)]  # of the same hash
    student.agrees(kept_batch_programs, [*cases, (3, None, BOTH)], False)
    student.agrees(kept_batch_programs, [(2, None, FIRST), (4, None, FIRST)], True)


# Random programs ----------------------------------------------------------------------------------


@probe
def compiled_program(mj, f, xs):
    """A program, compiled."""
    return mj.jit(f)(*xs)


@probe
def derivative_of_compiled(mj, f, xs, ts):
    """The derivative of a compiled program."""
    return mj.jvp(mj.jit(f), xs, ts)


@probe
def batch_of_compiled(mj, f, in_axes, batch):
    """A compiled program on two examples at once."""
    return mj.vmap(mj.jit(f), in_axes)(*batch)


exercise("jit.lower_body")


def test_random_programs(student):
    """A random program returns the same compiled and not compiled."""
    student.agrees_on_programs(compiled_program, number=3)


exercise("jit.jvp")


def test_derivatives_of_programs(student):
    """The derivative of a compiled random program is right."""
    student.agrees_on_programs(derivative_of_compiled, number=3)


exercise("jit.batch")


def test_batches_of_programs(student):
    """A compiled random program returns for a batch what it returns for each example."""
    student.agrees_on_programs(batch_of_compiled, number=3)


exercise("jit.whole")


@probe
def compiled_in_containers(mj, f, xs, ts):
    """A compiled program in containers, called twice with other values; how often it was traced."""
    runs = []

    @mj.jit
    def g(point, scale=2.0):
        runs.append(1)
        return {"out": [f(*point["xs"]), scale], "scaled": (point["xs"][0] * scale, 2)}

    first = g({"xs": xs})
    return {
        "the results of the first call": first,
        "the results for other values": g({"xs": ts}),
        "the results for another constant": g({"xs": xs}, scale=3.0),
        "calls of f": len(runs),
    }


@probe
def transformed_calls(mj, f, xs, ts):
    """Derivatives of compiled programs, compiled again, nested and of one input alone."""
    runs = []
    compiled = mj.jit(lambda *ys: [runs.append(1), f(*ys)][1])

    def slopes(*ys):
        return mj.jvp(compiled, ys, ts)[1], ys[0] * 2.0

    first = mj.jit(lambda y: mj.jvp(lambda z: compiled(z, *xs[1:]), (y,), ts[:1])[1])
    return {
        "the values and tangents": mj.jvp(mj.jit(slopes), xs, ts),
        "the derivative of one input": first(xs[0]),
        "the same derivative again": first(xs[0]),
        "calls of f": len(runs),
    }


@probe
def batched_calls(mj, f, in_axes, batch):
    """Compiled programs on batches: mapped, compiled again, and differentiated."""
    runs = []
    mapped = mj.vmap(mj.jit(lambda *xs: [runs.append(1), (f(*xs), 2.0)][1]), in_axes)
    slopes = mj.jvp(mj.jit(mapped), batch, batch)
    return {
        "the results of the batch": mapped(*batch),
        "the results of the second call": mapped(*batch),
        "the values and tangents": slopes,
        "calls of f": len(runs),
    }


@probe
def calls_within(mj, x, y):
    """A compiled function called twice in another function, closing over what is outside."""
    k, runs = np.array([1.0, 2.0, 4.0]), []

    def outer(x, y):
        runs.append(1)
        inner = mj.jit(lambda a: (a * x - k, a * 2.0, x))
        (first, second, _), (third, _, fourth) = inner(y), inner(x)
        return first - third, second, mj.jit(lambda b: b + fourth)(3.0)

    def total(x):
        return mj.jit(outer)(x, y)

    batch, compiled = np.stack([x, 2.0 * x]), mj.jit(outer)
    once = compiled(x, y), compiled(y, x)
    return {
        "the results of two calls": once,
        "calls of f": len(runs),
        "the values and tangents": mj.jvp(total, (x,), (y,)),
        "the results of a batch": mj.vmap(total)(batch),
    }


@probe
def calls_in_turn(mj, x):
    """Calls with other types, structures and static values in turn; and how often it was traced."""
    runs = []

    def f(x, n=2, *, power=1):
        runs.append((power, str(mj.tree.structure(x))))
        leaves = mj.tree.leaves(x)
        out = sum(leaves[1:], leaves[0]) * n
        return out if power == 1 else out * leaves[0]

    jitted = mj.jit(f, static_argnames="power")
    given = [x, [x, x], (x, x), 2.0, 3, np.float32(3.0), x.astype("float32"), x + 1.0, {"a": x}]
    outs = [jitted(value) for value in [*given, *given]]
    with_static = [jitted(x, power=p) for p in (1, 2, 1, 2)]
    return {
        "the results, one call after another": outs,
        "the results for static arguments": with_static,
        "calls of f": len(runs),
        "what f is traced with": runs,
    }


@probe
def after_errors(mj, x):
    """Functions that fail while they are traced, and what the same ones give afterwards."""
    found, fails = [], [True]

    @mj.jit
    def f(x):
        y = x * 2.0
        if fails:
            raise KeyError("mine")
        return y

    def decides(x):
        return x if x[0] > 0 else -x

    def batched(x):
        return mj.vmap(f, 1)(x[:, None])  # of the type that f has, and of one example

    for g in (f, mj.jit(decides), batched, lambda x: mj.jvp(f, (x,), (x,))):
        try:
            g(x)
        except Exception as error:
            found.append([cls.__name__ for cls in type(error).__mro__])
    fails.clear()
    return {
        "the errors that come out": found,
        "the result afterwards": f(x),
        "the value and the tangent afterwards": mj.jvp(f, (x,), (x,)),
        "the result of a batch afterwards": batched(x),
    }


def test_whole_programs(student):
    """A compiled random program in containers gives the right values, and is traced once."""
    student.agrees_on_programs(compiled_in_containers, number=1)


@pytest.mark.meets(another_box="jvp", twice="jvp", nested="jvp")
def test_whole_derivatives(student):
    """Compiled programs are differentiated, and derivatives are compiled, within each other."""
    student.agrees_on_programs(transformed_calls, number=1, dtypes=["float64"])


@pytest.mark.meets(another_box="batch", nested="batch")
def test_whole_batches(student):
    """Compiled programs are mapped, and what is mapped is compiled and differentiated."""
    student.agrees_on_programs(batched_calls, number=1, dtypes=["float64"])


@pytest.mark.meets(another_box="jvp batch", nested="impl", closure="jvp batch")
def test_whole_calls_within_calls(student):
    """A compiled function may be called twice inside another, and close over what is outside."""
    student.agrees(calls_within, ROW, ROW[::-1].copy())


def test_whole_calls_in_turn(student):
    """Arguments with different types, structures and static values get the right results."""
    student.agrees(calls_in_turn, ROW)


@pytest.mark.meets(exception="program")
def test_whole_after_errors(student):
    """An error comes out, and afterwards the function works, by itself and transformed."""
    student.agrees(after_errors, ROW)
