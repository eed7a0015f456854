"""Checks of the `jit` lesson, for you to read and to run: `./jaxprentice check jit`.

A jitted function returns the same values as the function itself, so most checks count: how often
the function runs, what is compiled, which operations there are. Each exercise is checked alone; if
it needs another exercise, a right answer takes its place.
"""

import contextlib
import importlib
import re
from unittest.mock import patch

import minijax.numpy as jnp
import numpy as np
from checking import exercise, names, run, typed
from random_programs import SMOOTH, for_programs, numbers, results_of, slope

from minijax import jit, vmap, xla
from minijax.array import ArrayImpl
from minijax.core import Primitive, get_aval, hlo_lowerings, not_mapped
from minijax.jaxpr import Jaxpr, JaxprEqn, Var, eval_jaxpr, raise_to_shaped
from minijax.jit import batched_jaxpr, jit_impl, jvp_jaxpr, lower_body
from minijax.lax import sin
from minijax.lowering import Emitter
from minijax.placement import array_of
from minijax.tracing import trace_to_jaxpr

module = importlib.import_module("minijax.jit")  # `minijax.jit` is the function


exercise("jit.program")


def counting(**options):
    """A jitted function, and a list that grows with each run of its Python code."""
    runs = []

    def f(x, y=0.0):
        runs.append(1)
        first = x[0] if isinstance(x, (list, tuple)) else x
        return first * 2.0 + y

    return jit(f, **options), runs


def test_traced_once():
    """Arguments of the same types, with other values, share a program."""
    f, runs = counting()
    programs = [f.program((x,), {}) for x in (3.0, 4.0, 5.0)]
    assert len(runs) == 1
    assert programs[2] is programs[0]


def test_traced_for_each_type():
    """Each shape and each dtype has its own program, which is kept, and so has a weak type."""
    f, runs = counting()
    args = [np.ones(3), np.ones(2), np.ones(3, np.float32), 1.0, np.array(1.0), np.zeros(3)]
    counts = []
    for x in args:
        f.program((x,), {})
        counts.append(len(runs))
    assert counts == [1, 2, 3, 4, 5, 5]


def test_traced_for_each_structure():
    """The same leaves in a list, in a tuple, alone, or given by name are four programs."""
    f, runs = counting()
    f.program(([1.0, 2.0],), {})
    f.program(((1.0, 2.0),), {})
    f.program((1.0, 2.0), {})
    f.program((1.0,), {"y": 2.0})
    assert len(runs) == 4


def test_traced_for_each_static_value():
    """Each value of a static argument has its own program, which is kept."""
    f, runs = counting(static_argnums=1)
    texts = [str(f.program((1.0, y), {}).closed) for y in (2, 3, 2)]
    assert len(runs) == 2
    assert "2.0:f64[]" in texts[0]
    assert texts[0] == texts[2] != texts[1]


def test_tracers_and_arrays_share():
    """A tracer and an array with the same type share a program."""
    f, runs = counting()
    f.program((np.ones(3),), {})
    trace_to_jaxpr(lambda x: [x, f.program((x,), {})][:1], [typed((3,))])
    assert len(runs) == 1


def test_traced_for_each_named_axis():
    """Inside `vmap`, a different name or size of an axis needs a different program."""
    f, runs = counting()
    for name, length in [("i", 3), ("i", 2), ("j", 2), ("i", 3)]:
        vmap(lambda x: [f.program((1.0,), {}), x][1], axis_name=name)(np.ones(length))
    assert len(runs) == 3


exercise("jit.lower_body")


def complaint(text, error):
    """What XLA says of a text that it cannot read, and the line that it means."""
    told = re.search(r"-:(\d+):\d+: error: (.*)", error)
    if not told:
        return error
    line = text.splitlines()[int(told[1]) - 1].strip()
    return f"XLA cannot read this line:\n  {line}\nIt says: {told[2]}"


def compiled_and_run(text, out_avals, args):
    """The results of a module in StableHLO."""
    on = xla.alone(xla.current_device())
    try:
        executable = xla.compile_text(text, on, out_avals)
    except Exception as error:
        raise AssertionError(complaint(text, str(error))) from None
    buffers = [xla.to_device(get_aval(x), x, on) for x in args]
    return [xla.to_host(out, on).tolist() for out in xla.run(executable, buffers)]


def lowered(f, *args):
    """The results of a flat function, compiled from what lower_body emits; its operations."""
    closed = trace_to_jaxpr(f, [raise_to_shaped(get_aval(x)) for x in args])
    text, emitter = module.lower(closed)
    outs = compiled_and_run(text, closed.out_avals, [*emitter.captured, *args])
    return outs, re.findall(r"= stablehlo\.(\w+)", text)


def test_a_program():
    """Equations are emitted in order; an output may be an input."""
    outs, operations = lowered(lambda x, y: [x * y - y, x], np.array([2.0, 3.0]), np.array(10.0))
    assert outs == [[10.0, 20.0], [2.0, 3.0]]
    assert operations[-1] == "subtract"


def test_literals():
    """A number of the program is one line of the text, even if it is an output."""
    outs, operations = lowered(lambda x: [2.0 - x, 5.0], 0.5)
    assert outs == [1.5, 5.0]
    assert operations.count("constant") == 2


def test_constants():
    """Captured arrays come before the inputs."""
    k = np.array([10.0, 20.0])
    assert lowered(lambda x, y: [k - x, y], np.array([1.0, 2.0]), np.array([3.0, 4.0]))[0] == [
        [9.0, 18.0],
        [3.0, 4.0],
    ]


def test_what_a_rule_gets():
    """A rule gets the emitter, types, names and parameters, and its names are the results."""
    seen = []

    def rule(emitter, avals, out_avals, names, **params):
        seen.append(([*map(str, avals)], [*map(str, out_avals)], list(names), params))
        return ["%result"]

    made_up_p = Primitive("made_up")
    a, b = Var(typed((2,))), Var(typed((), "int8"))
    jaxpr = Jaxpr([], [a], [b], [JaxprEqn([a], [b], made_up_p, {"axes": (0,)})])
    with patch.dict(hlo_lowerings, {made_up_p: rule}):
        assert list(lower_body(Emitter(), jaxpr, ["%x"])) == ["%result"]
    assert seen == [(["float64[2]"], ["int8[]"], ["%x"], {"axes": (0,)})]


exercise("jit.impl")

TEXT = """module @m {
  func.func public @main(%k: tensor<2xf64>, %x: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
    %0 = stablehlo.subtract %k, %x : tensor<2xf64>
    return %0, %x : tensor<2xf64>, tensor<2xf64>
  }
}"""


@contextlib.contextmanager
def right_text():
    """The text above for the program of [k - x, x]; what is compiled and copied is counted."""

    def lower(jaxpr, donated=()):
        emitter = Emitter()
        emitter.captured = list(jaxpr.consts)
        return TEXT, emitter

    with (
        patch.object(module, "lower", lower),
        patch.object(xla, "compile_text", wraps=xla.compile_text) as compiled,
        patch.object(xla, "to_device", wraps=xla.to_device) as sent,
        patch.object(xla, "to_host", wraps=xla.to_host) as fetched,
    ):
        yield compiled, sent, fetched


def minus():
    """The program of [k - x, x]."""
    k = np.array([10.0, 20.0])
    return trace_to_jaxpr(lambda x: [k - x, x], [typed((2,))])


def test_results():
    """Constants come first; the results are arrays on the device."""
    with right_text():
        outs = jit_impl(np.array([1.0, 2.0]), name="f", jaxpr=minus())
    assert [type(out) for out in outs] == [ArrayImpl, ArrayImpl]
    assert [out.buffer is None for out in outs] == [False, False]
    assert [np.asarray(out).tolist() for out in outs] == [[9.0, 18.0], [1.0, 2.0]]


def test_compiled_once():
    """The second call finds what was compiled, and compiles nothing."""
    jaxpr = minus()
    with right_text() as (compiled, _, _):
        jit_impl(np.array([1.0, 2.0]), name="f", jaxpr=jaxpr)
        out = jit_impl(np.array([3.0, 4.0]), name="f", jaxpr=jaxpr)[0]
    assert compiled.call_count == 1
    assert np.asarray(out).tolist() == [7.0, 16.0]


def test_nothing_is_copied_back_and_forth():
    """A result becomes the next argument unchanged: nothing is copied."""
    jaxpr = minus()
    with right_text() as (_, sent, fetched):
        out, _ = jit_impl(np.array([1.0, 2.0]), name="f", jaxpr=jaxpr)
        before = sent.call_count
        jit_impl(out, name="f", jaxpr=jaxpr)
        assert sent.call_count == before
        assert fetched.call_count == 0


def test_committed_arguments():
    """If an argument is committed to a device, so are the results; if none is, they are not."""
    with right_text():
        (free, _) = jit_impl(np.array([1.0, 2.0]), name="f", jaxpr=minus())
        fixed = array_of(free.aval, free.buffer, free.kind.on, committed=True)
        outs = jit_impl(fixed, name="f", jaxpr=minus())
    assert free.committed is False
    assert [out.committed for out in outs] == [True, True]


exercise("jit.jvp")


def test_values_then_tangents():
    """If both inputs move, values come first and tangents after them, in inputs and outputs."""
    program = trace_to_jaxpr(lambda x, y: [x * y, x], [typed(), typed()])
    out = jvp_jaxpr(program, (True, True))
    assert len(out.in_avals) == 4
    assert run(out, 3.0, 5.0, 1.0, 10.0) == [15.0, 3.0, 35.0, 1.0]


def test_what_does_not_move():
    """An input that does not move has no tangent among the inputs, and costs no work."""
    program = trace_to_jaxpr(lambda x, y: [x * y], [typed(), typed((2,))])
    out = jvp_jaxpr(program, (False, True))
    assert [aval.str_short() for aval in out.in_avals] == ["float64[]", "float64[2]", "float64[2]"]
    assert names(out) == ["mul", "mul"]
    assert run(out, 3.0, jnp.ones(2), jnp.array([1.0, 2.0])) == [[3.0, 3.0], [3.0, 6.0]]


def test_integers_have_no_tangents():
    """Integers and booleans among the outputs have no tangents."""
    program = trace_to_jaxpr(lambda x, n: [n, x < 1.0, -x], [typed(), typed((), "int64")])
    out = jvp_jaxpr(program, (True, False))
    assert [aval.str_short() for aval in out.out_avals] == [
        "int64[]",
        "bool[]",
        "float64[]",
        "float64[]",
    ]


def test_tangent_programs_are_kept():
    """The program is kept, one for each choice of what moves."""
    program = trace_to_jaxpr(lambda x, y: [x * y], [typed(), typed()])
    first = jvp_jaxpr(program, (True, False))
    assert len(jvp_jaxpr(program, (True, True)).in_avals) == 4
    assert jvp_jaxpr(program, (True, False)) is first


exercise("jit.batch")


def test_all_examples_at_once():
    """One equation computes all examples."""
    program = trace_to_jaxpr(lambda x: [sin(x)], [typed()])
    out, dims = batched_jaxpr(program, 3, [0], [typed((3,))])
    assert names(out) == ["sin"]
    assert [aval.str_short() for aval in out.out_avals] == ["float64[3]"]
    assert list(dims) == [0]


def test_batch_axes_of_results():
    """The batch axes of the results are where the rules left them, or there is none."""
    program = trace_to_jaxpr(lambda x, y: [-x, y * 2.0], [typed((2,)), typed()])
    out, dims = batched_jaxpr(program, 3, [1, not_mapped], [typed((2, 3)), typed()])
    assert list(dims) == [1, not_mapped]
    assert [aval.str_short() for aval in out.out_avals] == ["float64[2,3]", "float64[]"]


def test_batched_programs_are_kept():
    """The pair is kept, one for each choice of batch axes and each size."""
    program = trace_to_jaxpr(lambda x, y: [x * y], [typed(), typed()])
    three = [typed((3,)), typed((3,))]
    first, _ = batched_jaxpr(program, 3, [0, 0], three)
    other, _ = batched_jaxpr(program, 3, [0, not_mapped], [three[0], typed()])
    smaller, _ = batched_jaxpr(program, 2, [0, 0], [typed((2,)), typed((2,))])
    assert [x.in_avals[1].str_short() for x in (first, other, smaller)] == [
        "float64[3]",
        "float64[]",
        "float64[2]",
    ]
    again, dims = batched_jaxpr(program, 3, [0, 0], three)
    assert again is first
    assert list(dims) == [0]


exercise("jit.jvp")


@for_programs(seed="jit", operations=SMOOTH, dtypes=["float64"])
def test_slopes_of_random_programs(f, xs, ts):
    """It returns the values of a random program, then its slopes along the tangents."""
    program = trace_to_jaxpr(lambda *xs: results_of(f(*xs)), [typed(x.shape) for x in xs])
    out = jvp_jaxpr(program, (True,) * len(xs))
    values = eval_jaxpr(out.jaxpr, out.consts, *xs, *ts)
    assert numbers(values) == numbers([*results_of(f(*xs)), *slope(f, xs, ts)])
