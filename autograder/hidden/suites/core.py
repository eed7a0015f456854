"""Hidden tests of the `core` lesson.

No test needs another exercise of the lesson than its own and those that the manifest names after
it: probes put interpreters on the stack by hand, and bring toy interpreters that only note what is
done to them. A probe clears the stack first, so that nothing an earlier one left there matters.
Tracers' interpreters are on the stack unless they are meant to have escaped, so that an answer may
ask whether they are active.
"""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import builtins
    import numbers
    import threading
    from unittest.mock import patch

    from minijax.array import ArrayImpl
    from minijax.core import (
        MainTrace,
        Primitive,
        ShapedArray,
        Trace,
        Tracer,
        add_p,
        aval_makers,
        counted,
        div_p,
        exp_p,
        find_top_trace,
        full_raise,
        get_aval,
        gt_p,
        hidden,
        impl_rules,
        lt_p,
        mul_p,
        neg_p,
        sin_p,
        sub_p,
        trace_state,
        transpose_p,
    )
    from minijax.errors import UnexpectedTracerError


# What several probes use --------------------------------------------------------------------------


def box(main, adds=False):
    """A tracer of this interpreter, whose class is a subclass of a subclass of Tracer.

    Unless it `adds` something to the value inside, this can be taken out.
    """

    class Middle(Tracer):
        aval = ShapedArray((), np.dtype("float64"))

        def full_lower(self):
            return self if adds else 0.5

    class Box(Middle):
        _trace = main.trace_type(main)

    return Box()


def rejected(f, *args):
    """Does this call raise UnexpectedTracerError?"""
    try:
        f(*args)
    except UnexpectedTracerError:
        return True
    return False


@probe(uses=[box, rejected])
def hidden_tracer(mj, function):
    """Whether a function rejects a tracer whose interpreter is hidden."""

    class Toy(Trace):
        def lift(self, val):
            return val

    trace_state.stack[1:] = [MainTrace(i, Toy) for i in range(1, 5)]
    main, _, third, _ = trace_state.stack[1:]
    calls = {
        "find_top_trace": lambda x: find_top_trace([1.0, x]),
        "full_raise": lambda x: full_raise(Toy(third), x),
    }
    with hidden([main], "It was put aside."):
        found = rejected(calls[function], box(main))
    return {"the tracer is rejected by UnexpectedTracerError": found}


exercise("core.get_aval")


@probe
def aval_of(mj, value, made=""):
    """The abstract value, in parts, of a value or of an array of another class made of it."""

    class Matrix(np.ndarray):
        pass

    if made:
        ours = {"our own": False, "weak": True}
        value = ArrayImpl(value, ours[made]) if made in ours else value.view(Matrix)
    aval = get_aval(value)
    val = getattr(aval, "val", "no value")
    return {
        "the class of the abstract value": type(aval).__name__,
        "its shape": aval.shape,
        "its dtype": str(aval.dtype),
        "it is weakly typed": aval.weak_type,
        "it holds the value itself": val is value,
        "the value that it holds": np.asarray(val) if made else val,
    }


@probe
def aval_of_tracer(mj, shape, dtype, weak_type):
    """Whether a tracer's own abstract value is returned, even if its class is in the table."""
    own = ShapedArray(shape, np.dtype(dtype), weak_type)

    class Middle(Tracer):
        aval = own

    class Box(Middle):
        pass

    found = [get_aval(Middle()) is own, get_aval(Box()) is own]
    for cls in (Box, Tracer, object):
        with patch.dict(aval_makers, {cls: lambda x: ShapedArray((7,), np.dtype("int8"))}):
            found.append(get_aval(Box()) is own)
    return {"the tracer's own abstract value is returned": found}


@probe
def avals_of_heirs(mj):
    """The abstract values of registered classes and of those that inherit from them."""
    Celsius = type("Celsius", (), {"aval": None})  # only of a tracer it is the abstract value
    Weather, Fever = (type(name, (Celsius,), {}) for name in ("Weather", "Fever"))
    Station, Matrix = type("Station", (), {}), type("Matrix", (np.ndarray,), {})
    classes = {
        "a registered class": Weather,
        "a class that inherits from two": type("Report", (Station, Weather), {}),
        "a class that inherits from two in the other order": type("Cast", (Weather, Station), {}),
        # What Weather defines comes before what Celsius defines.
        "a class whose second base class is registered": type("Both", (Fever, Weather), {}),
        "a subclass of a registered class": Fever,
        "a registered class of arrays": Matrix,
        "a subclass of this": type("Diagonal", (Matrix,), {}),
    }
    entries, found = [(Weather, 1), (Station, 2), (Celsius, 3), (Matrix, 4)], []
    for order in (entries, entries[::-1]):
        makers = {cls: lambda x, n=n: ShapedArray((n,), np.dtype("int8")) for cls, n in order}
        with patch.dict(aval_makers, makers):
            made = [np.zeros(2).view(x) if issubclass(x, Matrix) else x() for x in classes.values()]
            found.append([str(get_aval(x)) for x in made])
    names = (f"the abstract value of {name}, for two orders of the entries" for name in classes)
    return dict(zip(names, map(list, zip(*found, strict=True)), strict=True))


@probe
def aval_of_changing_class(mj):
    """The abstract values of a number and three objects while the table changes."""
    Celsius = type("Celsius", (), {})
    Fever = type("Fever", (Celsius,), {})
    values, found = (2.5, Fever(), Celsius(), type("High", (Fever,), {})()), {}
    steps = {
        "of a class that is in the table": (Celsius, 2),
        "after the table's entry was replaced": (Celsius, 3),
        "after the subclass got an entry": (Fever, 4),
        "after this entry was removed": (Fever, None),
        "after the other entry was removed": (Celsius, None),
        "if only `object` fits": (object, 7),
    }
    with patch.dict(aval_makers):
        for when, (cls, size) in steps.items():
            aval_makers[cls] = lambda x, n=size: ShapedArray((n,), np.dtype("float32"))
            if size is None:
                del aval_makers[cls]
            try:
                found[f"the abstract values {when}"] = [str(get_aval(x)) for x in values]
            except TypeError:
                found[f"the abstract values {when}"] = "TypeError"
    return found


@probe
def errors_of_makers(mj, names):
    """Whether the error is the maker's own, for a class whose base class has another maker."""

    class Own(float):
        pass

    def refuse(x):
        raise errors[-1]

    errors, found = [], []
    with patch.dict(aval_makers, {Own: refuse}):
        for name in names:
            errors.append(getattr(builtins, name)("own"))
            try:
                found.append(str(get_aval(Own(2.0))))
            except BaseException as error:
                found.append("the maker's own" if error is errors[-1] else "a different one")
    for value in (2**70, np.ma.masked_array([1.0, 2.0], [True, False])):
        try:
            found.append(str(get_aval(value)))
        except Exception as error:
            found.append([type(error).__name__, *error.args])
    return {"the errors": found}


@probe
def replaced_entries(mj):
    """What is made of values if the entries of their own classes are replaced, and taken away."""

    class Whole(int):
        pass

    class Own(ShapedArray):
        def __bool__(self):
            return False

    kinds, given = [float, int, bool, np.generic, np.ndarray, ArrayImpl], []
    avals = [Own((i,), np.dtype("int8")) for i in range(len(kinds))]
    entries = {
        cls: lambda x, aval=aval: given.append(x) or aval
        for cls, aval in zip(kinds, avals, strict=True)
    }
    values = [2.5, 3, True, Whole(4), np.float64(2.5), np.ones(2), ArrayImpl(np.ones(2), False)]
    usual = "the abstract values of numbers and arrays, with the usual entries"
    found, without = {usual: [str(get_aval(value)) for value in values]}, []
    with patch.dict(aval_makers, entries):
        made = [get_aval(value) for value in values]
    found["which of the new entries made them, when all are replaced"] = [
        [i for i, own in enumerate(avals) if aval is own] for aval in made
    ]
    same = [*dict.fromkeys(map(id, given))] == [*map(id, values)]
    found["the new entries are called with the values themselves"] = same
    with patch.dict(aval_makers, {numbers.Number: str}):  # from which no number inherits
        again = [str(get_aval(value)) for value in values]
        found["their abstract values, with an entry for a class that is not theirs"] = again
    with patch.dict(aval_makers):
        for cls in entries:
            del aval_makers[cls]
        for value in values:
            try:
                without.append(str(get_aval(value)))
            except TypeError:
                without.append("TypeError")
    return {**found, "numbers and arrays without an entry in the table": without}


@probe
def avals_in_turn(mj, values):
    """The abstract values of values that are equal, one after the other."""
    avals = [get_aval(value) for value in values]
    return {
        "the shapes and dtypes": [str(a) for a in avals],
        "they are weakly typed": [a.weak_type for a in avals],
        "the values that they hold": [float(a.val) for a in avals],
        "the value that is held is negative": [bool(np.signbit(float(a.val))) for a in avals],
    }


@probe
def aval_refused(mj, value):
    """The errors for a value that is not an array, for its class, and for a primitive."""
    errors, shown = [], []
    for refused in (value, type(value), Primitive("sinus")):
        try:
            get_aval(refused)
            errors.append("nothing")
        except TypeError as error:
            errors.append("TypeError")
            text = str(error)
            shown.append([repr(refused) in text, str(type(refused)) in text])
            shown[-1].append("is not a valid JAX type" in text)
    return {
        "the errors for a value, for its class and for a primitive": errors,
        "an error shows what was refused, its type, and the words of the example": shown,
    }


@pytest.mark.meets("weak_type")
@pytest.mark.parametrize("value", [2.5, -3, True])
def test_python_numbers(student, value):
    """Python's numbers and booleans are weakly typed arrays without axes."""
    student.agrees(aval_of, value)


@pytest.mark.meets("float32", "sizes")
@pytest.mark.keeps("a tracer's own, or what its entry")
def test_arrays(student):
    """An array's abstract value has its shape and dtype, is not weakly typed, and holds it."""
    for dtype in ("float32", "float64", "int32", "bool", "uint8"):
        student.agrees(aval_of, np.array([[1, 0, 2], [3, 0, 5]], dtype))
    for made in ("our own", "weak"):
        student.agrees(aval_of, np.array(2.5), made)
    student.agrees(aval_of, np.array(2.5, np.float32))
    student.agrees(aval_of, np.zeros((0, 3), np.int32))


@pytest.mark.meets("weak_type")
def test_numpy_scalars(student):
    """NumPy's scalars are not weakly typed, whatever Python class they inherit from."""
    for value in (np.float64(2.5), np.float64(-0.5), np.float32(1.5), np.int64(7), np.bool_(True)):
        student.agrees(aval_of, value)


@pytest.mark.meets("another_box")
@pytest.mark.keeps("a tracer's own, or what its entry")
def test_tracer_answers_for_itself(student):
    """A tracer's abstract value is the tracer's own, the very object."""
    student.agrees(aval_of_tracer, (2, 3), "float32", False)
    student.agrees(aval_of_tracer, (), "int32", True)


@pytest.mark.keeps("This table is read at each call")
def test_array_subclass(student):
    """An instance of a subclass of NumPy's array class is an array."""
    student.agrees(aval_of, np.array([[1, 2, 3]], np.int32), "subclass")


@pytest.mark.keeps("This table is read at each call", "If several classes fit")
def test_registered_classes(student):
    """A class that is put into the table later is known, and a subclass counts as its nearest."""
    student.agrees(avals_of_heirs)


@pytest.mark.meets("again", "caching")
@pytest.mark.keeps("This table is read at each call", "If none fits")
def test_table_is_asked_each_time(student):
    """The table says what is an array, and may change at any time."""
    student.agrees(aval_of_changing_class)
    student.agrees(replaced_entries)


@pytest.mark.meets("caching", "zeros", "extremes")
@pytest.mark.keeps("a tracer's own, or what its entry")
def test_equal_values(student):
    """Values that are equal still have abstract values of their own."""
    student.agrees(avals_in_turn, [1, 1.0, True, np.float32(1), 0, False, 0.0, -0.0, 1])


@pytest.mark.meets("exception", "extremes")
@pytest.mark.keeps("A maker's error")
def test_makers_may_refuse(student):
    """If the maker of a value's type raises an error, it is this error that comes out."""
    names = ["KeyError", "TypeError", "StopIteration", "AttributeError", "KeyboardInterrupt"]
    student.agrees(errors_of_makers, [*names, "IndexError", "NotImplementedError"])


@pytest.mark.meets("none")
@pytest.mark.keeps("If none fits")
def test_no_arrays(student):
    """A value that is neither a number nor an array is rejected by a TypeError that shows it."""
    for value in ("one", None, [1.0, 2.0] * 20, (3, 4), {"a": 1.0}, 2.5, 2j):
        student.agrees(aval_refused, value)


exercise("core.find_top_trace")


@probe(uses=[box])
def top_of(mj, levels, height, dynamic):
    """The type and level of the top trace for operands on a stack of `height` interpreters.

    An operand is given as the level of a tracer, or as None for a constant; `dynamic` is the level
    of the dynamic trace, or None. The interpreters are those of one use, and then of another.
    """

    class Odd(Trace):
        def __init__(self, main):
            super().__init__(main)
            self.rules = main.level

    class Even(Odd):
        pass

    class Named(np.ndarray):
        _trace = None

    def found(operands, mains):
        trace_state.dynamic_trace = None if dynamic is None else mains[dynamic]
        try:
            trace = find_top_trace(operands)
        finally:
            trace_state.dynamic_trace = None
        level = trace.main.level
        return {
            "the level of the trace that is returned": level,
            "its class": type(trace).__name__,
            "it has what its class gives it": getattr(trace, "rules", 0) == level,
            "its `main` is the one on the stack": trace.main is mains[level],
        }

    seen, constants = [], [np.ones(3).view(Named), 2.5]
    constants += [ArrayImpl(np.ones(2), False), ArrayImpl(np.array(0.5), True)]
    for sequence in (list, tuple):
        upper = [MainTrace(level, Odd if level % 2 else Even) for level in range(1, height)]
        trace_state.stack[1:] = upper
        mains = list(trace_state.stack)
        operands = [
            constants[i % 4] if level is None else box(mains[level], True)
            for i, level in enumerate(levels)
        ]
        seen.append(found(sequence(operands), mains))
        alone = [find_top_trace([box(main, True)]).main is main for main in mains]
        seen[-1]["a tracer alone is taken by its own interpreter"] = alone
    return {"what was found for a list and for a tuple": seen}


@probe(uses=[box, rejected])
def top_of_escaped(mj, height, escaped_level, other_level, dynamic=None):
    """The error for a tracer whose interpreter has left the stack, alone or beside an active one.

    `dynamic` is the level of the dynamic trace, or None.
    """
    data = {}
    trace_state.stack[1:] = [MainTrace(level, Trace, data) for level in range(1, 1 + escaped_level)]
    escaped = box(trace_state.stack[escaped_level])
    find_top_trace([escaped])  # its interpreter has not ended yet
    trace_state.stack[1:] = [MainTrace(level, Trace, data) for level in range(1, height)]
    active = box(trace_state.stack[other_level])
    trace_state.dynamic_trace = None if dynamic is None else trace_state.stack[dynamic]
    try:
        together = {
            "before an active one": [escaped, active],
            "after an active one": [active, escaped],
            "alone": [escaped],
            "among several active ones": [*[active] * 5, escaped, active],
        }
        where = "" if dynamic is None else ", below default_main()"
        by = f"is rejected by UnexpectedTracerError{where}"
        answers = {
            f"the tracer, {x}, {by}": rejected(find_top_trace, together[x]) for x in together
        }
    finally:
        trace_state.dynamic_trace = None
    return answers


@probe
def bottoms_of_threads(mj):
    """Whether an operation on a number goes to the bottom of the stack of its own thread."""
    own = []

    def look():
        own.append(find_top_trace([2.5]).main is trace_state.stack[0])

    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return {"the interpreter is that of this thread, and of another": own}


@pytest.mark.meets("sizes")
def test_constants_go_to_the_bottom(student):
    """If no operand is a tracer, evaluation takes the operation, however high the stack is."""
    student.agrees(bottoms_of_threads)
    for levels in ([], [None], [None, None, None]):
        student.agrees(top_of, levels, 1, None)
        student.agrees(top_of, levels, 4, None)


@pytest.mark.keeps("Any trace of the interpreter")
def test_one_tracer_among_constants(student):
    """One tracer among constants decides, in any place."""
    for levels in ([1, None, None], [None, 1, None], [None, None, 1], [None] * 1500 + [1]):
        student.agrees(top_of, levels, 2, None)


def test_operands_decide(student):
    """An interpreter without a tracer among the operands stays out, even if it is the newest."""
    student.agrees(top_of, [1], 4, None)
    student.agrees(top_of, [2, None, 1], 5, None)


@pytest.mark.meets("order", "more_than_two", "twice", "closure", "nested", "length")
@pytest.mark.keeps("Any trace of the interpreter", "It is the lowest interpreter")
def test_highest_level(student):
    """Of several tracers the one with the highest level decides, in any place and on any level."""
    for levels in ([3, 1, 2], [1, 3, 2], [2, 1, 3], [1, None, 3, 3, 2]):
        student.agrees(top_of, levels, 5, None)
    student.agrees(top_of, [9, 11, 10], 13, None)


@pytest.mark.meets("again")
def test_dynamic_trace_above_constants(student):
    """The interpreter that default_main() returns takes operations on constants."""
    student.agrees(top_of, [], 2, 1)
    student.agrees(top_of, [None, None], 5, 3)


@pytest.mark.meets("moment")
@pytest.mark.keeps("It is the lowest interpreter")
def test_dynamic_trace_above_tracers(student):
    """The interpreter that default_main() returns takes operations on tracers of lower levels."""
    student.agrees(top_of, [1], 5, 3)
    student.agrees(top_of, [None, 1, 2], 5, 3)


@pytest.mark.keeps("It is the lowest interpreter")
def test_lower_dynamic_trace(student):
    """Operands above the interpreter that default_main() returns decide."""
    for levels in ([4, None], [1, 3], [2]):
        student.agrees(top_of, levels, 5, 2)


@pytest.mark.meets("another_box", "exception")
@pytest.mark.keeps("of any tracer in `args` has ended")
def test_escaped_tracers(student):
    """A tracer whose interpreter has ended or is hidden is rejected, beside any other operand."""
    for height, escaped, other in [(1, 1, 0), (2, 2, 1), (4, 1, 3), (4, 3, 1), (4, 2, 2)]:
        student.agrees(top_of_escaped, height, escaped, other)
    student.agrees(top_of_escaped, 4, 1, 2, 3)
    student.agrees(hidden_tracer, "find_top_trace")


exercise("core.full_raise")


@probe(uses=[box])
def constant_boxed(mj, values):
    """How constants and a tracer from below are boxed by two traces: how, whose, what is inside."""
    calls = []

    class Boxed(tuple):
        def __bool__(self):
            return False

    class Toy(Trace):
        def pure(self, val):
            calls.append("pure")
            return Boxed(("pure", self, val))

        def lift(self, val):
            calls.append("lift")
            return Boxed(("lift", self, val))

    class Named(np.ndarray):
        _trace = None

    trace_state.stack[1:] = [MainTrace(1, Trace), MainTrace(2, Toy), MainTrace(3, Toy)]
    traces = [Toy(main) for main in trace_state.stack[2:]]
    ours = ArrayImpl(np.ones(2), False), ArrayImpl(np.array(2.5), True)
    values = [*values, np.ones(2).view(Named), *ours, box(trace_state.stack[1])]
    answers = []
    for trace in traces:
        for value in values:
            how, owner, inside = full_raise(trace, value)
            answers.append([how, owner is trace, inside is value])
    return {
        "how each value is boxed, that it is by this trace, and is in the box itself": answers,
        "calls of pure": calls.count("pure"),
        "calls of lift": calls.count("lift"),
    }


@probe(uses=[box])
def refused_by_trace(mj, error):
    """Whether the error that a trace has for a constant, or a tracer, is what comes out."""

    class Toy(Trace):
        def pure(self, val):
            if isinstance(val, Tracer):
                return val
            raise own

        def lift(self, val):
            raise own

    own, found = getattr(builtins, error)("own"), {}
    trace_state.stack[1:] = [MainTrace(1, Trace), MainTrace(2, Toy)]
    values = {"a number in pure": 2.5, "a tracer from below in lift": box(trace_state.stack[1])}
    for case, value in values.items():
        key = f"the error that the trace raises for {case} comes out unchanged"
        try:
            found[key] = full_raise(Toy(trace_state.stack[2]), value) is None
        except Exception as caught:
            found[key] = caught is own
    return found


@probe(uses=[box])
def tracer_boxed(mj, level, own_level, same_type, ended=False):
    """How a tracer of `level` is boxed for another interpreter at `own_level`, which is active.

    All interpreters have the same data, and box no tracer that has escaped.
    """

    class Toy(Trace):
        def pure(self, val):
            return "pure", val

        def lift(self, val):
            if ended or level >= own_level:
                raise TypeError("cannot box it")
            return "lift", val

    class Other(Toy):
        pass

    data = {}
    trace_state.stack[1:] = [MainTrace(i, Toy, data) for i in range(1, 8)]
    main, theirs = trace_state.stack[own_level], MainTrace(level, Toy if same_type else Other, data)
    if not ended and level != own_level:
        trace_state.stack[level] = theirs
    tracer = box(theirs)
    try:
        out = full_raise(main.trace_type(main), tracer)
        rejected = False
    except UnexpectedTracerError:
        rejected, out = True, (None, None)
    return {
        "the tracer is rejected by UnexpectedTracerError": rejected,
        "the tracer is returned as it is": out is tracer,
        "the tracer is boxed by lift": out is not tracer and out[0] == "lift",
        "the tracer itself is in the new box": out is not tracer and out[1] is tracer,
    }


@probe(uses=[box])
def own_tracer_boxed(mj, level, data):
    """Whether tracers of the same use of an interpreter, from two traces, are left as they are."""
    main = MainTrace(level, Trace, data)
    trace_state.stack[1:] = [*(MainTrace(i, Trace) for i in range(1, level)), main]
    tracers = [box(main), box(main)]
    traces = [tracer._trace for tracer in tracers]
    own, other = [full_raise(traces[0], tracer) is tracer for tracer in tracers]
    same = [tracer._trace is trace for tracer, trace in zip(tracers, traces, strict=True)]
    return {
        "a tracer of this trace is returned itself": own,
        "a tracer of a second Trace of the same use is returned itself": other,
        "the tracers have the traces that they had": same,
    }


@pytest.mark.meets("sizes", "caching", "zeros")
@pytest.mark.keeps("unchanged if it is in one")
def test_constants_are_pure(student):
    """A number or an array is boxed by pure, once, whatever its value is."""
    student.agrees(constant_boxed, [2.5, 7, True, 1, 1.0, np.float64(1), -0.0, 0.0, None])
    student.agrees(constant_boxed, [0.0, 0, False, np.zeros(3), np.ones((0, 2)), np.float32(0)])


@pytest.mark.keeps("unchanged if it is in one")
def test_errors_of_the_trace(student):
    """An error that pure or lift of the trace raises comes out, and the value is not returned."""
    for error in ("TypeError", "KeyError", "AttributeError", "NotImplementedError"):
        student.agrees(refused_by_trace, error)


@pytest.mark.meets("twice")
@pytest.mark.keeps("unchanged if it is in one", "has many `Trace` objects")
def test_own_tracer_is_left_alone(student):
    """A tracer of the same use of the interpreter is returned itself, even if its Trace is not."""
    student.agrees(own_tracer_boxed, 1, None)
    student.agrees(own_tracer_boxed, 3, {"log": []})


@pytest.mark.meets("nested", "closure")
@pytest.mark.keeps("unchanged if it is in one")
@pytest.mark.parametrize("same_type", [True, False])
def test_tracer_from_below_is_lifted(student, same_type):
    """A tracer of a lower level is boxed by lift, box and all."""
    student.agrees(tracer_boxed, 1, 2, same_type)
    student.agrees(tracer_boxed, 1, 7, same_type)


@pytest.mark.meets("another_box", "exception")
@pytest.mark.keeps("of another use has escaped")
def test_tracer_from_below_has_escaped(student):
    """A tracer of a lower level is rejected if its interpreter has ended."""
    for level, own_level, same_type in [(1, 2, True), (2, 5, True), (1, 4, False)]:
        student.agrees(tracer_boxed, level, own_level, same_type, True)
    student.agrees(hidden_tracer, "full_raise")


@pytest.mark.meets("another_box", "exception")
@pytest.mark.keeps("of another use has escaped")
def test_tracer_from_above_has_escaped(student):
    """A tracer of a higher level is rejected."""
    for level, same_type in [(3, True), (3, False), (6, True), (6, False)]:
        student.agrees(tracer_boxed, level, 2, same_type)
    student.agrees(tracer_boxed, 1, 0, True)
    student.agrees(tracer_boxed, 3, 0, True)


@pytest.mark.meets("another_box")
@pytest.mark.keeps("The boxes of two uses never do")
@pytest.mark.parametrize("same_type", [True, False])
def test_another_use_at_the_same_level(student, same_type):
    """A tracer of a different use of an interpreter is rejected, even if the levels are equal."""
    for level in (1, 2, 5):
        student.agrees(tracer_boxed, level, level, same_type)


exercise("core.counted")


OPERATING = siblings("core.get_aval", "core.find_top_trace", "core.full_raise")


@probe(uses=[in_place])
def count_of(mj, siblings, program, x):
    """The value of a counted program, its count, the count of a second call, and inner counts."""

    def toy(rule, multiple_results=False):
        primitive = Primitive(rule.__name__, multiple_results)
        impl_rules[primitive] = rule
        return primitive.bind

    sin, cos, sub, mul = toy(np.sin), toy(np.cos), toy(np.subtract), toy(np.multiply)
    parts = toy(lambda x, *, size: [x * (i + 1) for i in range(size)], multiple_results=True)
    total = toy(lambda x, *, axes: np.sum(x, axis=axes))
    inner_counts = []

    def inner(f, y):
        value, count = counted(f)(y)
        inner_counts.append(count)
        return value

    def repeated(x):
        for _ in range(5):
            x = cos(x)
        return x

    def two_levels(x):
        y = inner(lambda y: sin(sub(cos(y), 1.5)), sin(x))
        return mul(inner(lambda y: sub(y, sin(x)), y), 2.0)

    programs = {
        "chain": lambda x: sin(sin(cos(x))),
        "constant operand": lambda x: sub(mul(x, 3.0), 1.5),
        "params": lambda x: total(mul(x, 0.5), axes=(0,)),
        "repeated": repeated,
        "not used": lambda x: [sin(x), x][1],
        "constant operation": lambda x: mul(x, cos(sin(0.5))),
        "input": lambda x: x,
        "constant": lambda x: 2.5,
        "constant result": lambda x: cos(0.5),
        "all of several": lambda x: [sin(part) for part in parts(x, size=5)][4],
        "none of several": lambda x: [parts(x, size=0), sin(x)][1],
        "one of several": lambda x: sub(parts(x, size=1)[0], 1.5),
        "last of several": lambda x: parts(parts(x, size=2)[1], size=3)[2],
        "two levels": two_levels,
        "inner constant": lambda x: mul(x, inner(lambda y: sub(sin(y), 0.5), 2.5)),
        "inner input": lambda x: inner(lambda y: x, 2.5),
        "inner own": lambda x: inner(cos, x),
        "inner twice": lambda x: mul(inner(lambda y: x, 2.5), inner(lambda y: sin(x), x)),
    }
    del trace_state.stack[1:]
    with in_place("minijax.core", siblings):
        f = counted(programs[program])
        value, count = f(x)
        again = f(x)[1]
    boxed = isinstance(value, Tracer)
    return {
        "the value is still in a box": boxed,
        "the function's value": None if boxed else np.asarray(value),
        "the class of the value": type(value).__name__,
        "the count is an integer": isinstance(count, (int, np.integer)),
        "the value is weakly typed": getattr(value, "weak_type", False),
        "the counts of inner functions": inner_counts,
        "the count": count,
        "the count of a second call": again,
    }


@probe(uses=[in_place])
def counts_of_kinds(mj, siblings):
    """Counts and values for arguments of every kind: the argument itself, and an operation's."""
    arrays = [np.ones(2, np.float16), np.float32(0.5), np.float64(0.5), np.array(2.5), np.array(7)]
    arrays += [ArrayImpl(np.ones(2), False), ArrayImpl(np.array(2.5), True), np.zeros((0, 2))]
    found = []
    del trace_state.stack[1:]
    with in_place("minijax.core", siblings):
        for x in [*arrays, True, -0.0, 2**60 + 1]:
            results = [
                counted(lambda x: x)(x),
                counted(lambda _, x=x: x)(2.5),
                counted(lambda x: mul_p.bind(x, x))(x),
            ]
            found += [
                {
                    "the class of the value": type(value).__name__,
                    "the value": str(np.asarray(value)),
                    "its dtype": str(np.asarray(value).dtype),
                    "it is weakly typed": getattr(value, "weak_type", False),
                    "the count": count,
                }
                for value, count in results
            ]
    return found


@probe(uses=[in_place])
def counts_of_branches(mj, siblings, values):
    """Counts where Python's `if` looks at the input, in one call after another."""
    twice = Primitive("twice")
    impl_rules[twice] = lambda x: np.multiply(x, 2.0)

    def f(x):
        return twice.bind(twice.bind(x)) if x else twice.bind(x)

    del trace_state.stack[1:]
    with in_place("minijax.core", siblings):
        counted_f = counted(f)
        pairs = [counted_f(value) for value in values]
    return {
        "the values": [float(value) for value, _ in pairs],
        "the counts of the calls, one after another": [count for _, count in pairs],
    }


@probe(uses=[in_place])
def count_around_thread(mj, siblings, x):
    """The counts of a call and of one that another thread makes meanwhile, and ends."""
    counts, started = {}, []

    def count(where):
        counts[f"the count of {where}"] = g(x)[1]

    def f(y):
        y = neg_p.bind(mul_p.bind(y, y))
        if not started:
            thread = threading.Thread(target=count, args=["a call in another thread"])
            started.append(thread)
            thread.start()
            thread.join()
        return sub_p.bind(y, 1.5)

    del trace_state.stack[1:]
    with in_place("minijax.core", siblings):
        g = counted(f)
        count("the call around one in another thread")
    return counts


@probe(uses=[box, in_place])
def operations_that_another_takes(mj, siblings):
    """What an interpreter that takes all operations sees of a counted function, which fits it."""
    seen = []

    class Sees(Trace):
        def pure(self, val):
            return box(self.main)

        lift = pure

        def process_primitive(self, primitive, tracers, params):
            seen.append(str(primitive))
            return box(self.main)

    trace_state.stack[1:] = [MainTrace(1, Sees)]
    trace_state.dynamic_trace = trace_state.stack[1]
    with in_place("minijax.core", siblings):
        value, count = counted(lambda x: sin_p.bind(mul_p.bind(x, x)))(2.5)
    trace_state.dynamic_trace = None
    is_its = isinstance(value, Tracer) and value._trace.main is trace_state.stack[1]
    return {
        "operations that the interpreter below sees": seen,
        "the value is a tracer of the interpreter below": is_its,
        "the count": count,
    }


def error_of(f, *args):
    """The error that a call raises."""
    try:
        f(*args)
    except BaseException as error:
        return error
    return None


@probe(uses=[error_of, in_place, rejected])
def counts_of_itself(mj, siblings, depth):
    """A function that counts its own operations, one level less deep; one that fails in between."""
    counts, left, kept, own, errors = [], [depth], [], [], []

    def f(x):
        if left[0] == 0:
            return x
        left[0] -= 1
        try:
            value, count = g(sub_p.bind(x, 1.0))
        finally:
            left[0] += 1
        counts.append(count)
        return mul_p.bind(value, mul_p.bind(value, 0.5))

    def broken(x):
        kept.append(mul_p.bind(x, x))
        if errors:
            raise errors[-1]
        return kept[-1]

    del trace_state.stack[1:]
    with in_place("minijax.core", siblings):
        g, fails = counted(f), counted(broken)
        value, count = g(5.5)
        for kind in (
            *(KeyError, StopIteration, KeyboardInterrupt, RecursionError),
            *(AttributeError, TypeError),
        ):
            errors.append(kind("out"))
            own.append(error_of(fails, 2.0) is errors[-1])
        own.append(isinstance(error_of(counted(Primitive("new").bind), 2.0), NotImplementedError))
        escaped = rejected(sub_p.bind, kept[0], 1.0)
        errors.clear()
        calm = fails(2.0)[1]
    return {
        "the function's value": float(value),
        "the count": count,
        "the counts of the calls inside": counts[-depth:],
        "the errors of functions that fail are their own": own,
        "the count when the function does not fail any more": calm,
        "calls of this function": len(kept),
        "a tracer that was kept is rejected by UnexpectedTracerError": escaped,
        "the height of the stack in the end": len(trace_state.stack),
    }


@pytest.mark.meets("weak_type", "float32", "order", "keys", "again", "some_results")
@pytest.mark.keeps(
    "as a pair", "takes one array or number and returns one", "begins with its value"
)
@pytest.mark.parametrize("program", ["chain", "constant operand", "params", "repeated", "not used"])
def test_count(student, program):
    """The value is the function's own, and every operation on what depends on the input counts."""
    student.agrees(count_of, OPERATING, program, np.array([0.5, 2.5, -1.5]))
    student.agrees(count_of, OPERATING, program, np.array([[0.5, 2.5]], np.float32))


@pytest.mark.keeps("as a pair")
def test_constants_do_not_count(student):
    """Operations on constants alone do not count."""
    student.agrees(count_of, OPERATING, "constant operation", 2.5)
    student.agrees(count_of, OPERATING, "constant operation", np.array([2.5, 3.5]))


@pytest.mark.keeps("takes one array or number and returns one", "begins with its value")
def test_results_that_need_no_operation(student):
    """A function may return its input, or a constant."""
    for program in ("input", "constant", "constant result"):
        student.agrees(count_of, OPERATING, program, np.array([0.5, 2.5]))
    for x in (3, True):
        student.agrees(count_of, OPERATING, "input", x)
    student.agrees(counts_of_kinds, OPERATING)


@pytest.mark.meets("another_box", "nested", "closure")
@pytest.mark.keeps("depend on its own `x`")
def test_counts_within_counts(student):
    """Each of several interpreters counts what depends on its own input, and on no other."""
    for program in ("two levels", "inner constant", "inner input", "inner own", "inner twice"):
        student.agrees(count_of, OPERATING, program, 0.5)
        student.agrees(count_of, OPERATING, program, np.array([0.5, 1.5]))


@pytest.mark.meets("more_than_two", "sizes", "some_results")
@pytest.mark.keeps("several results counts once")
@pytest.mark.parametrize(
    "program", ["all of several", "one of several", "last of several", "none of several"]
)
def test_several_results_count_once(student, program):
    """An operation with several results counts once, and each of them can be used further."""
    student.agrees(count_of, OPERATING, program, 2.5)


@pytest.mark.meets("again", "moment", "nested")
@pytest.mark.keeps("depend on its own `x`", "Python's `if` may look")
def test_branches_count_for_themselves(student):
    """Python's `if` may look at the input, and every call counts only what it did itself."""
    student.agrees(counts_of_branches, OPERATING, [2.5, 0.0, 3.5])
    student.agrees(count_around_thread, OPERATING, 2.5)
    student.agrees(operations_that_another_takes, OPERATING)


@pytest.mark.meets("caching", "nested", "exception", "length")
@pytest.mark.keeps("Python's `if` may look")
def test_counts_of_itself(student):
    """A function may count itself, less deep; one that fails leaves nothing behind."""
    student.agrees(counts_of_itself, OPERATING, 3)


# Random programs ----------------------------------------------------------------------------------


@probe
def program_value(mj, f, xs):
    """The results of a program."""
    return f(*xs)


@probe
def counted_program(mj, f, xs):
    """The result of a program, and how many of its operations depend on the first argument.

    >>> mj.core.counted(lambda a: f(a, *xs[1:]))(xs[0])
    """
    value, count = counted(lambda x: f(x, *xs[1:]))(xs[0])
    return {"the function's value": value, "the count": count}


exercise("core.counted")


def test_counted_programs(student):
    """The operations of a random program that depend on its first argument are counted."""
    student.agrees_on_programs(counted_program, results=1)


exercise("core.whole")


@probe
def counted_within(mj, f, xs):
    """Counts where the inner function uses both inputs and returns what depends on the outer."""
    counts = []

    def inner(x, y):
        f(y, *xs[1:])
        return f(x, *xs[1:])

    def outer(x):
        value, count = counted(lambda y: inner(x, y))(xs[0])
        counts.append(count)
        return transpose_p.bind(value, permutation=tuple(range(len(get_aval(value).shape))))

    value, count = counted(outer)(xs[0])
    return {"the function's value": value, "the outer count": count, "the inner count": counts[0]}


@probe
def counted_branches(mj, values):
    """Values, weak types and counts of a function with a condition, one inside another."""

    def f(x):
        y = mul_p.bind(x, 0.5)
        return mul_p.bind(y, y) if gt_p.bind(y, 1.0) else neg_p.bind(sub_p.bind(y, 2.0))

    answers = []
    for value in values:
        out, count = counted(lambda x: counted(f)(counted(f)(x)[0])[0])(value)
        found = {"the value": float(out), "the dtype of the value": str(out.dtype)}
        answers.append({**found, "it is weakly typed": out.weak_type, "the count": count})
    return answers


@probe
def counts_in_two_threads(mj, value):
    """Counts of a function with a condition in two threads: the first to begin ends first."""
    begun, ended, found = threading.Event(), threading.Event(), {}

    def late(x):
        begun.set()
        ended.wait(2)
        y, count = counted(lambda y: mul_p.bind(neg_p.bind(x) if x else y, y))(x)
        return mul_p.bind(y, float(count))

    def count(name, f):
        out, number = counted(f)(value)
        found[f"the value and the count in {name}"] = float(out), number

    def early(x):
        thread.start()
        begun.wait(2)
        return mul_p.bind(x, x) if x else x

    thread = threading.Thread(target=count, args=["the second thread", late])
    count("the first thread", early)
    ended.set()
    thread.join()
    return found


@probe(uses=[rejected])
def kept_tracers(mj, values):
    """What becomes of tracers that were kept after their function had ended, or had failed."""
    kept, answers = [], []
    bottom = trace_state.dynamic_trace = trace_state.stack[0]

    def f(x):
        kept.append(x)
        y = mul_p.bind(x, 2.0)
        return y if len(kept) % 2 else {}["out"]

    for value in values:
        try:
            answers.append(float(counted(f)(value)[0]))
        except KeyError as error:
            answers.append(error.args[0])
    height = len(trace_state.stack)
    same, trace_state.dynamic_trace = trace_state.dynamic_trace is bottom, None
    uses = [lambda x: mul_p.bind(1.5, x), counted(lambda x: mul_p.bind(x, kept[0]))]
    escaped = [rejected(use, kept[-1]) for use in uses]
    return {
        "the value or the error of each call": answers,
        "a tracer that was kept is rejected by UnexpectedTracerError": escaped,
        "the heights of the stack": [height, len(trace_state.stack)],
        "`trace_state.dynamic_trace` is as it was": same,
    }


@probe
def operations_refused(mj, values):
    """What binding says of operands that are not arrays and of a missing rule; what follows."""
    answers, named = [], False
    for value in values:
        for operands in ((value, 2.0), (2.0, value)):
            try:
                answers.append(float(mul_p.bind(*operands)))
            except (TypeError, OverflowError) as error:
                answers.append(type(error).__name__)
    try:
        Primitive("erf").bind(0.5)
    except NotImplementedError as error:
        named = "'erf'" in str(error)
    return {
        "the result or the error for each operand": answers,
        "a missing rule is an error that names the primitive": named,
        "the value of a program afterwards": float(add_p.bind(mul_p.bind(2.0, 3.0), 0.5)),
    }


@probe
def boxes_of_results(mj):
    """Whether results are in boxes, where full_lower opens those of numbers below 1."""
    pair = Primitive("pair", multiple_results=True)

    class Sized(Tracer):
        def __init__(self, trace, val):
            self._trace, self.val, self.aval = trace, val, get_aval(val)

        def full_lower(self):
            return self if self.val >= 1.0 else self.val

    class Sizes(Trace):
        def pure(self, val):
            return Sized(self, val)

        def process_primitive(self, primitive, tracers, params):
            seen.append([type(x).__name__ for x in tracers])
            outs = [Sized(self, x.val) for x in tracers]
            return outs if primitive.multiple_results else outs[0]

    seen, trace_state.stack[1:] = [], [MainTrace(1, Sizes)]
    small, large = (Sized(Sizes(trace_state.stack[1]), x) for x in (0.5, 2.5))
    outs = [*pair.bind(small, large), *(mul_p.bind(x, large) for x in (0.5, large))]
    outs.append(neg_p.bind(small))
    del trace_state.stack[1:]
    return {
        "the results are in boxes": [isinstance(x, Tracer) for x in outs],
        "what the interpreter is given": seen,
    }


@probe
def kinds_of_results(mj):
    """Values, dtypes and weak types of operations on numbers and arrays of any kind."""
    halves = np.array([0.5, -0.0], np.float32)
    outs = [add_p.bind(2, 3), mul_p.bind(0.5, 3.0), neg_p.bind(halves), mul_p.bind(halves, halves)]
    outs += [exp_p.bind(neg_p.bind(1e9)), lt_p.bind(2.0, 3.0), neg_p.bind(0.0)]
    outs += [div_p.bind(-7, 2), div_p.bind(np.array([-128, 5], np.int8), np.array([2, 0], np.int8))]
    outs += [add_p.bind(neg_p.bind(2.5), neg_p.bind(np.zeros((0, 2))))]
    return {
        "the results": [np.asarray(x) for x in outs],
        "a result is negative": [np.signbit(np.asarray(x, float)).tolist() for x in outs],
        "a result is weakly typed": [x.weak_type for x in outs],
    }


def test_whole_programs(student):
    """Random programs are evaluated correctly, operation by operation."""
    student.agrees_on_programs(program_value)


def test_whole_quotients_and_repetitions(student):
    """Programs with quotients and with repeated arrays are evaluated correctly."""
    student.agrees_on_programs(program_value, using=["div", "broadcast_in_dim"])


@pytest.mark.meets(weak_type="get_aval")
def test_whole_kinds_of_results(student):
    """Results have their operands' dtype and weak type, and no box that adds nothing."""
    student.agrees(kinds_of_results)
    student.agrees(boxes_of_results)


def test_whole_refusals(student):
    """A value that is not an array, or a missing rule, is an error, and programs go on."""
    student.agrees(operations_refused, ["x", None, [1.0], 2**70, 2.5])


def test_whole_counts(student):
    """The operations of random programs that depend on one argument are counted."""
    student.agrees_on_programs(counted_program, results=1)


@pytest.mark.meets(another_box="counted", twice="counted", nested="counted", closure="counted")
def test_whole_counts_within_counts(student):
    """Of two interpreters each counts what depends on its own input, in random programs."""
    student.agrees_on_programs(counted_within, results=1)


def test_whole_conditions(student):
    """Conditions on a counted input are decided, even one inside another, and in two threads."""
    student.agrees(counted_branches, [5.0, 1.0, -3.0])
    student.agrees(counts_in_two_threads, 2.5)


@pytest.mark.meets(exception="counted")
def test_whole_kept_tracers(student):
    """A tracer that was kept is rejected, and a function that failed leaves nothing behind."""
    student.agrees(kept_tracers, [2.5, 3.5, 4.5])
