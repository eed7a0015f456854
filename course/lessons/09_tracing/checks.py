"""Checks of the `tracing` lesson, for you to read and to run: `./jaxprentice check tracing`.

Each exercise has a few checks. All but those of `trace_with` need no other exercise than their own:
if a function calls another that you write, the check puts a right one there.
"""

import numpy as np
import pytest
from checking import exercise, names, typed

from minijax.core import mul_p, neg_p, new_main, sin_p, trace_state
from minijax.errors import UnexpectedTracerError
from minijax.jaxpr import Literal, Var
from minijax.jvp import jvp
from minijax.tracing import JaxprBuilder, JaxprTrace, JaxprTracer, make_jaxpr, trace_with


@pytest.fixture
def trace():
    """A JaxprTrace on the stack, with a builder, which is not in charge of all operations."""
    with new_main(JaxprTrace, JaxprBuilder()) as main:
        yield JaxprTrace(main)


def box(trace, aval):
    """A box with a new variable, made by hand."""
    return JaxprTracer(trace, Var(aval))


exercise("tracing.constant")


@pytest.fixture
def builder():
    """A builder that has met nothing yet."""
    return JaxprBuilder()


def test_a_literal_is_no_constant(builder):
    """A literal is returned unchanged, and not noted."""
    assert [type(builder.constant(x)) for x in (3.0, np.array(3.0))] == [Literal, Literal]
    assert builder.consts == {}
    own = mul_p.bind(2.0, 3.0)  # an array of minijax is a constant even without axes
    assert (type(builder.constant(own)), len(builder.consts)) == (Var, 1)
    with pytest.raises(TypeError):
        builder.constant([1.0, 2.0])


def test_an_array_is_noted_once(builder):
    """The same object is the same variable, noted under its `id`."""
    x = np.array([1.0, 2.0])
    first = builder.constant(x)
    assert first.aval == typed((2,))
    assert (builder.constant(x) is first) is True
    assert list(builder.consts) == [id(x)]


def test_equal_arrays_are_two_constants(builder):
    """Another object is another variable, even if the two arrays are equal."""
    arrays = [np.array([1.0, 2.0]) for _ in range(2)]
    first, second = map(builder.constant, arrays)
    assert (first is second) is False


def test_arrays_that_their_owner_has_dropped(builder):
    """An array that is met after an earlier array was dropped has a variable of its own."""
    atoms = [builder.constant(np.array([i, 2.0])) for i in range(40)]
    assert len({id(atom) for atom in atoms}) == 40


def test_arrays_that_change(builder):
    """The program means the same when the owner writes into the array."""
    x = np.array([1.0, 2.0])
    atom = builder.constant(x)
    x[0] = 99.0
    (note,) = builder.consts.values()
    assert (note.var is atom) is True
    assert note.kept.tolist() == [1.0, 2.0]


def test_a_tracer_is_kept_itself(builder, trace):
    """A value that is not a NumPy array, such as a tracer, is kept unchanged."""
    x = box(trace, typed((2,)))
    atom = builder.constant(x)
    (note,) = builder.consts.values()
    assert atom.aval == typed((2,))
    assert (note.value is x, note.kept is x) == (True, True)


exercise("tracing.trace_with")


def test_a_program():
    """Outputs may be the result of an operation, an input, or a plain number."""
    closed = trace_with(JaxprBuilder(), lambda x, y: [mul_p.bind(y, x), y, 7.0], [typed(())] * 2)
    want = "{ lambda ; a:f64[] b:f64[]. let c:f64[] = mul b a in (c, b, 7.0:f64[]) }"
    assert str(closed) == want


def test_operations_without_inputs():
    """Operations on plain numbers are written down as well."""
    closed = trace_with(JaxprBuilder(), lambda x: [sin_p.bind(2.0)], [typed(())])
    assert str(closed) == "{ lambda ; a:f64[]. let b:f64[] = sin 2.0:f64[] in (b,) }"


def test_the_builder_is_the_one_that_was_given():
    """The builder that was given has the equations afterwards; the function has run once."""
    builder, calls, k = JaxprBuilder(), [], np.array([1.0, 2.0])
    closed = trace_with(builder, lambda x: calls.append(x) or [mul_p.bind(k, x)], [typed(())])
    assert len(calls) == 1
    assert names(builder) == ["mul"]
    assert [const.tolist() for const in closed.consts] == [[1.0, 2.0]]


def test_a_function_that_traces_another():
    """The operation after the inner function is written down too, in the outer program."""
    inner = []

    def outer(x):
        inner.append(trace_with(JaxprBuilder(), lambda y: [neg_p.bind(y)], [typed(())]))
        return [sin_p.bind(2.0)]

    closed = trace_with(JaxprBuilder(), outer, [typed(())])
    assert str(inner[0]) == "{ lambda ; a:f64[]. let b:f64[] = neg a in (b,) }"
    assert str(closed) == "{ lambda ; a:f64[]. let b:f64[] = sin 2.0:f64[] in (b,) }"


def test_the_box_of_an_outer_function():
    """A box of an outer function is a constant of the program, even as a result."""
    programs = []

    def outer(x):
        programs.append(trace_with(JaxprBuilder(), lambda y: [x, mul_p.bind(x, y)], [typed(())]))
        return [x]

    trace_with(JaxprBuilder(), outer, [typed(())])
    jvp(lambda x: outer(x)[0], (np.float64(3.0),), (np.float64(1.0),))
    want = "{ lambda a:f64[]; b:f64[]. let c:f64[] = mul a b in (a, c) }"
    assert [str(program) for program in programs] == [want, want]


def test_afterwards_all_is_as_before():
    """When the function has ended, even by an exception, no interpreter is left."""
    kept = []

    def fails(x):
        raise ZeroDivisionError

    trace_with(JaxprBuilder(), lambda x: kept.append(x) or [x], [typed(())])
    with pytest.raises(UnexpectedTracerError):  # the box of an interpreter that has ended
        trace_with(JaxprBuilder(), lambda x: kept, [typed(())])
    assert (trace_state.dynamic_trace, len(trace_state.stack)) == (None, 1)
    with pytest.raises(ZeroDivisionError):
        trace_with(JaxprBuilder(), fails, [typed(())])
    assert (trace_state.dynamic_trace, len(trace_state.stack)) == (None, 1)


def test_make_jaxpr_on_containers():
    """`make_jaxpr` takes containers, and uses your function."""
    closed = make_jaxpr(lambda d: [d["x"] * 2.0])({"x": np.float64(3.0)})
    assert str(closed) == "{ lambda ; a:f64[]. let b:f64[] = mul a 2.0:f64[] in (b,) }"
