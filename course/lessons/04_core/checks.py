"""Checks of the `core` lesson, for you to read and to run: `./jaxprentice check core`.

Each exercise has a few, and they need none of the other exercises (but `counted` needs all of them,
because operations must work). Interpreters are put on the stack by hand
here, and they are toys that only note what is done.
"""

from unittest.mock import Mock, patch

import numpy as np
import pytest
from checking import exercise, operation
from random_programs import for_programs, numbers

from minijax.array import ArrayImpl
from minijax.core import (
    ConcreteArray,
    EvalTrace,
    MainTrace,
    ShapedArray,
    Trace,
    Tracer,
    aval_makers,
    cos_p,
    counted,
    find_top_trace,
    full_raise,
    get_aval,
    mul_p,
    reduce_sum_p,
    sin_p,
    sub_p,
    trace_state,
)
from minijax.errors import UnexpectedTracerError


class Toy(Trace):
    """Boxes values and says in the box how it came to be."""

    def pure(self, val):
        return Box(self, val, "pure")

    def lift(self, val):
        return Box(self, val, "lift")

    def process_primitive(self, primitive, tracers, params):
        """One box that says what was asked of this interpreter."""
        return Box(self, [primitive.name, [(t.how, t.val) for t in tracers], params], "result")


class Box(Tracer):
    """What a `Toy` boxes values in."""

    aval = ShapedArray((), np.dtype("float64"))

    def __init__(self, trace, val, how="made by the check"):
        self._trace = trace
        self.val = val
        self.how = how


def push(*trace_types):
    """Put interpreters on the stack by hand, and return the whole stack."""
    for trace_type in trace_types:
        trace_state.stack.append(MainTrace(len(trace_state.stack), trace_type))
    return list(trace_state.stack)


def tracer_of(main, val=2.5):
    """A tracer of an interpreter."""
    return Box(main.trace_type(main), val)


exercise("core.get_aval")


def test_get_aval_of_python_numbers():
    """Python's numbers are weakly typed arrays without axes, and their value is known."""
    avals = [get_aval(x) for x in (2.5, 7, True)]
    assert [aval.str_short() for aval in avals] == ["float64[]", "int64[]", "bool[]"]
    assert [aval.weak_type for aval in avals] == [True, True, True]
    assert [aval.val for aval in avals] == [2.5, 7, True]


def test_get_aval_of_numpy_values():
    """NumPy's arrays and scalars keep their dtype and are not weakly typed."""

    class Matrix(np.ndarray):
        pass

    matrix = np.ones((2, 2), np.int32).view(Matrix)
    values = [np.zeros((2, 3), np.float32), matrix, np.float64(2.5), np.int32(7)]
    avals = [get_aval(x) for x in values]
    assert [aval.str_short() for aval in avals] == [
        "float32[2,3]",
        "int32[2,2]",
        "float64[]",
        "int32[]",
    ]
    assert [aval.weak_type for aval in avals] == [False, False, False, False]
    assert [type(aval) for aval in avals] == [ConcreteArray] * 4


def test_get_aval_of_our_arrays():
    """The value of one of our own arrays is known, too."""
    aval = get_aval(ArrayImpl(np.array([1.0, 2.0]), True))
    assert [aval.str_short(), aval.weak_type, type(aval)] == ["float64[2]", True, ConcreteArray]


def test_get_aval_asks_the_table():
    """A class that is put into the table later is known, and so are its subclasses."""

    class Celsius:
        pass

    class Fever(Celsius):
        pass

    aval_makers[Celsius] = lambda x: ShapedArray((4, 1), np.dtype("float32"))
    try:
        assert [get_aval(x).str_short() for x in (Celsius(), Fever())] == [
            "float32[4,1]",
            "float32[4,1]",
        ]
    finally:
        del aval_makers[Celsius]


def test_get_aval_of_a_class_with_several_entries():
    """If two base classes have entries, the first base class decides, not the first entry."""
    one, two = (type(name, (), {}) for name in ("One", "Two"))
    both, turned = type("Both", (one, two), {}), type("Turned", (two, one), {})
    entries = {cls: lambda x, cls=cls: cls.__name__ for cls in (one, two, object)}
    with patch.dict(aval_makers, entries):
        assert [get_aval(cls()) for cls in (both, turned, one)] == ["One", "Two", "One"]
        assert get_aval(2.5).weak_type is True


def test_get_aval_of_a_tracer():
    """A tracer's abstract value is its own, even if the table has an entry for all objects."""
    tracer = tracer_of(MainTrace(1, Toy))
    assert get_aval(tracer) is Box.aval
    with patch.dict(aval_makers, {object: lambda x: "an object"}):
        assert get_aval(tracer) is Box.aval


def test_get_aval_refuses():
    """Anything but a number or an array raises TypeError; makers raise their own errors."""
    for value in ("one", None, [1.0, 2.0]):
        with pytest.raises(TypeError, match="not a valid JAX type"):
            get_aval(value)
    with pytest.raises(TypeError, match="^Argument 'one' of type <class 'str'> is not"):
        get_aval("one")
    for error in (KeyError, TypeError):
        maker = Mock(side_effect=error("no such degree"))
        with patch.dict(aval_makers, {str: maker}), pytest.raises(error, match="no such degree"):
            get_aval("one")
    with pytest.raises(ValueError, match="Masked arrays"):  # it has a maker, which refuses
        get_aval(np.ma.masked_array([1.0], [True]))


exercise("core.find_top_trace")


def test_find_top_trace_of_constants():
    """If no operand is a tracer, the trace is made from the bottom of the stack."""
    bottom, *_ = push(Toy, Toy)
    for operands in ([], [1.0, np.zeros(3)]):
        trace = find_top_trace(operands)
        assert type(trace) is EvalTrace
        assert trace.main is bottom


def test_find_top_trace_takes_the_highest():
    """Among several tracers the one with the highest level decides, not the height of the stack."""
    _, *mains = push(Toy, Toy, Toy, Toy)
    one, two, three, _ = (tracer_of(main) for main in mains)
    operands = {"1": [one], "1, a number, 3, 2": [one, 4.0, three, two], "2, 1": [two, one]}
    level = {of: find_top_trace(x).main.level for of, x in operands.items()}
    assert level == {"1": 1, "1, a number, 3, 2": 3, "2, 1": 2}
    assert type(find_top_trace([one])) is Toy


def test_find_top_trace_and_the_dynamic_trace():
    """The default_main() takes the operation if its level is above all operands."""
    _, *mains = push(Toy, Toy, Toy)
    one, two, three = (tracer_of(main) for main in mains)
    trace_state.dynamic_trace = mains[1]
    operands = {"none": [], "a number": [1.0], "1": [one], "2, 1": [two, one], "1, 3": [one, three]}
    level = {of: find_top_trace(x).main.level for of, x in operands.items()}
    assert level == {"none": 2, "a number": 2, "1": 2, "2, 1": 2, "1, 3": 3}


def test_find_top_trace_refuses_escaped_tracers():
    """A tracer whose interpreter has left the stack is rejected."""
    _, low, high = push(Toy, Toy)
    above, below = tracer_of(MainTrace(3, Toy)), tracer_of(MainTrace(1, Toy))
    higher = tracer_of(high)
    for operands in ([above], [tracer_of(low), above], [below, higher], [higher, below]):
        with pytest.raises(UnexpectedTracerError):
            find_top_trace(operands)


exercise("core.full_raise")


def test_full_raise_of_constants():
    """A value that is not a tracer is boxed by pure, whatever it is."""
    _, main = push(Toy)
    for value in (2.5, 0, np.zeros(3)):
        box = full_raise(Toy(main), value)
        assert box.how == "pure"
        assert box.val is value


def test_full_raise_of_own_tracers():
    """A tracer of the same MainTrace is returned itself, even if its Trace is another object."""
    _, main = push(Toy)
    tracer = tracer_of(main)
    assert full_raise(Toy(main), tracer) is tracer


def test_full_raise_of_tracers_from_below():
    """A tracer of a lower level is boxed by lift, box and all."""
    _, low, _, high = push(Toy, Toy, Toy)
    tracer = tracer_of(low)
    box = full_raise(Toy(high), tracer)
    assert box.how == "lift"
    assert box.val is tracer


def test_full_raise_refuses():
    """A tracer from above, or of a different MainTrace at the same level, is rejected."""
    _, _, main, above = push(Toy, Toy, Toy)
    for other in (above, MainTrace(2, Toy)):
        with pytest.raises(UnexpectedTracerError):
            full_raise(Toy(main), tracer_of(other))


def test_full_raise_refuses_what_has_escaped_from_below():
    """A tracer of a lower level is rejected if its interpreter has left the stack."""
    _, _, main = push(Toy, Toy)
    with pytest.raises(UnexpectedTracerError):
        full_raise(Toy(main), tracer_of(MainTrace(1, Toy)))


exercise("core.counted")


def sine_squared_less_one(x):
    """A function of three operations on `x`."""
    sine = sin_p.bind(x)
    return sub_p.bind(mul_p.bind(sine, sine), 1.0)


def test_counted_counts():
    """The function's value comes out of its box, with the number of operations."""
    value, count = counted(sine_squared_less_one)(np.array([0.0, 0.5]))
    assert type(value) is ArrayImpl
    assert np.round(value, 6).tolist() == [-1.0, -0.770151]
    assert count == 3


def test_counted_leaves_constants_alone():
    """An operation on constants alone does not count, and the function may return a constant."""
    product, count = counted(lambda x: mul_p.bind(x, cos_p.bind(0.0)))(7.0)
    constant, none = counted(lambda x: 2.5)(7.0)
    assert [type(x).__name__ for x in (product, constant)] == ["ArrayImpl", "float"]
    assert product.weak_type is True
    assert (product, count, constant, none) == (7.0, 1, 2.5, 0)


def test_counted_hands_parameters_on():
    """Parameters reach the interpreter below."""
    value, count = counted(lambda x: reduce_sum_p.bind(x, axes=(0,)))(
        np.array([[1.0, 2.0], [3.0, 5.0]])
    )
    assert value.tolist() == [4.0, 7.0]
    assert count == 1


def test_counted_begins_again():
    """Each call counts from 0, and counts an operation as often as it is done."""
    again = counted(sine_squared_less_one)
    assert [again(0.5)[1], again(2.5)[1]] == [3, 3]
    assert counted(lambda x: mul_p.bind(mul_p.bind(x, x), x))(2.0) == (8.0, 2)


def test_counted_after_an_error():
    """If the function fails, its caller gets the error, and the stack is as before."""
    with pytest.raises(ZeroDivisionError):
        counted(lambda x: 1 / 0)(2.0)
    assert len(trace_state.stack) == 1


def test_counted_within_counted():
    """Each of two interpreters counts what depends on its own argument."""
    counts = []

    def outer(x):
        value, count = counted(lambda y: mul_p.bind(sub_p.bind(y, 1.0), cos_p.bind(x)))(4.0)
        counts.append(count)
        return sin_p.bind(value)

    counts.append(counted(outer)(0.5)[1])
    assert counts == [2, 3]
    sine = counted(lambda x: counted(sin_p.bind)(x)[0])
    assert sine(0.0) == (0.0, 1)


def test_counted_leaves_the_boxes_of_others():
    """An inner function may return the outer argument, whose operations still count."""
    sine = counted(lambda x: sin_p.bind(counted(lambda y: x)(4.0)[0]))
    assert sine(0.0) == (0.0, 1)


def test_counted_several_results():
    """An operation with several results counts once, and each of them can be used further."""
    halves = operation("halves", several=True, impl=lambda x: [np.floor(x / 2), np.ceil(x / 2)])

    def product(x):
        low, high = halves.bind(x)
        return mul_p.bind(low, high)

    assert counted(product)(7.0) == (12.0, 2)


# Of the functions of lax, those that need no other exercise.
OPERATIONS = (
    *("add", "sub", "mul", "neg", "sin", "cos", "exp", "log", "gt", "lt"),
    *("reduce_sum", "transpose", "convert_element_type", "dot_general"),
)


@for_programs(seed="core", operations=OPERATIONS, results=1)
def test_values_of_random_programs(f, xs, want):
    """A random program has the value that NumPy computes, counted or not."""
    value, _ = counted(lambda x: f(x, *xs[1:]))(xs[0])
    assert numbers(f(*xs)) == numbers(want)
    assert numbers(value) == numbers(want)
