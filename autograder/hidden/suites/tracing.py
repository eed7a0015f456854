"""Hidden tests of the `tracing` lesson: how a Python function becomes a program.

Every exercise is tested alone: probes make boxes, builders and interpreters by hand, and put right
siblings in place. Values cannot tell much here, so the tests look at structure: which variables are
the same object, which equations there are, what was evaluated, and how often a function ran.
"""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import builtins
    import threading

    from minijax import core, tracing
    from minijax import numpy as jnp
    from minijax.core import (
        MainTrace,
        Primitive,
        ShapedArray,
        Trace,
        Tracer,
        abstract_eval_rules,
        add_p,
        aval_makers,
        cos_p,
        counted,
        exp_p,
        get_aval,
        gt_p,
        impl_rules,
        mul_p,
        neg_p,
        sin_p,
        sub_p,
        trace_state,
    )
    from minijax.errors import UnexpectedTracerError
    from minijax.jaxpr import eval_jaxpr, typecheck_jaxpr

ROW = np.array([0.5, -2.0, 3.0])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])
SCALAR = ((), "float64", False)
VECTOR = ((3,), "float64", False)
MATRIX = ((2, 3), "float32", False)
WEAK = ((), "bool", True)
WEAK_ROW = ((3,), "float64", True)


# The tests of `trace_with` come last: who keeps what is sent with them has no use for it any more.
CONSTANT = siblings("tracing.constant")


exercise("tracing.constant")


@probe
def constants(mj, values):
    """The atoms for these arrays, and what is noted of them."""
    builder = tracing.JaxprBuilder()
    atoms = [builder.constant(value) for value in values]
    noted = [
        {
            "the class of an entry of consts": type(note).__name__,
            "the key of an entry is the id of its value": key == id(note.value),
            "the array that an entry's value is": [
                i for i, x in enumerate(values) if x is note.value
            ],
            "the variable that an entry's var is": [
                i for i, x in enumerate(atoms) if x is note.var
            ],
            "the class of what is kept": type(note.kept).__name__,
            "the array that is kept": note.kept,
            "its text": str(note.kept),
            "the array itself is kept, as it is read-only": note.kept is note.value,
        }
        for key, note in builder.consts.items()
    ]
    return {
        "the classes of the atoms": [type(atom).__name__ for atom in atoms],
        "the types of the atoms": [atom.aval.str_short() for atom in atoms],
        "the values of literals": [str(atom.val) for atom in atoms if hasattr(atom, "val")],
        "an atom is weakly typed": [atom.aval.weak_type for atom in atoms],
        "the classes of the atoms' types": [type(atom.aval).__name__ for atom in atoms],
        "the number of entries of consts": len(noted),
        "the entries of consts": noted,
        "the number of equations": len(builder.eqns),
    }


@probe
def weak_constants(mj, x):
    """The types of the variables for weakly typed arrays and for tracers of such."""
    builder, array = tracing.JaxprBuilder(), core.neg_p.bind(x)
    row, strong = core.ArrayImpl(np.ones(3), True), core.neg_p.bind(np.array(x))
    outer = tracing.JaxprTrace(MainTrace(1, tracing.JaxprTrace, tracing.JaxprBuilder()))
    values = [array, row, strong, outer.new_arg(array.aval)]
    atoms = [builder.constant(x) for x in values]
    seen = [[type(atom).__name__, atom.aval.weak_type] for atom in atoms]
    types = [type(atom.aval).__name__ for atom in atoms]
    noted = [note.value is x for note, x in zip(builder.consts.values(), values, strict=True)]
    kept = [get_aval(note.kept).weak_type for note in builder.consts.values()]

    def f(y):
        seen.append(["Var", builder.constant(y).aval.weak_type])
        return y

    mj.jvp(f, (core.neg_p.bind(2.0),), (core.neg_p.bind(2.0),))
    return {
        "the atoms of weakly typed arrays and tracers, and whether they are": seen,
        "the classes of the atoms' types": types,
        "an entry's value is the array that was met": noted,
        "what is kept is weakly typed": kept,
    }


@probe
def refused_constants(mj):
    """The errors for what is not an array, and how many constants there are then."""
    builder, errors = tracing.JaxprBuilder(), []

    class Lazy:
        shape, dtype, weak_type = (), np.dtype(float), False
        aval = ShapedArray(shape, dtype)

        def __array__(self, dtype=None, copy=None):
            return np.array(2.0)

        def __float__(self):
            return 2.0

    sequences = [[1.0], (1.0, 2.0), [], {}, range(2), {1.0}, [[1.0]]]
    for value in [*sequences, float, "x", b"ab", None, 2j, Lazy()]:
        try:
            builder.constant(value)
            errors.append("nothing")
        except TypeError:
            errors.append("TypeError")
    return {"the errors": errors, "the number of constants": len(builder.consts)}


@probe
def met_again(mj, values, times, alike=False):
    """Arrays, each met several times, in turns; if asked for, with objects that look like one."""
    builder = tracing.JaxprBuilder()
    if alike:
        (x,) = values
        values = [x, x[:], x.view(), core.ArrayImpl(x, False), core.ArrayImpl(x, False)]
        mj.jvp(lambda *ys: values.extend(ys) or ys[0], (x, x), (x, x))
    atoms = [builder.constant(x) for _ in range(times) for x in values]
    return {
        "which of the variables are one and the same": [atoms.index(atom) for atom in atoms],
        "the number of constants": len(builder.consts),
    }


@probe
def kept_after_a_write(mj, x, number, how=""):
    """What the program keeps of the array `x`, after the user has written into `x`."""

    class Named(np.ndarray):
        pass

    builder = tracing.JaxprBuilder()
    x = {
        "": np.array(x),
        "of a class": np.array(x).view(Named),
        "transposed": np.stack([x, x]).T,
        "part": np.stack([x, x], -1)[..., 0],
    }[how]
    first = builder.constant(x)
    x[...] = number
    again = builder.constant(x)
    (note,) = builder.consts.values()
    return {"what is kept": np.asarray(note.kept), "the variable is the same": first is again}


@probe
def literal_after_a_write(mj, number):
    """The values of an array without axes that its literals have, if the user writes into it."""
    builder, x = tracing.JaxprBuilder(), np.array(2.5)
    first, x[...] = builder.constant(x), number
    return {"the values": [float(atom.val) for atom in (first, builder.constant(x))]}


@probe
def in_two_programs(mj, x):
    """One array, a constant of two programs."""
    builders, x = [tracing.JaxprBuilder() for _ in range(2)], np.array(x)
    first, x[...] = builders[0].constant(x), 2.0 * x
    second = builders[1].constant(x)
    kept = [[note.kept for note in builder.consts.values()] for builder in builders]
    return {"the variable is the same": first is second, "what is kept": kept}


@probe
def short_lived(mj, shape, times):
    """Arrays that are gone as soon as they were used: is each of them a constant of its own?"""
    builder = tracing.JaxprBuilder()
    atoms = [builder.constant(np.zeros(shape)) for _ in range(times)]
    return {
        "each array has a variable of its own": len(set(atoms)) == times,
        "each array is a constant of its own": len(builder.consts) == times,
    }


@probe
def constant_tracers(mj, which, x):
    """A tracer of another interpreter as a constant, met twice."""
    builder, seen = tracing.JaxprBuilder(), []

    def look(x):
        first, again = builder.constant(x), builder.constant(x)
        (note,) = builder.consts.values()
        seen.append(
            {
                "the class of the atom": type(first).__name__,
                "the type of the atom": first.aval.str_short(),
                "the class of the atom's type": type(first.aval).__name__,
                "the second call returns the same variable": first is again,
                "the variable is in the entry of consts": note.var is first,
                "the tracer itself is noted": note.value is x,
                "the tracer itself is kept": note.kept is x,
            }
        )
        return x

    if which == "jvp":
        mj.jvp(look, (x,), (x,))
    elif which == "vmap":
        mj.vmap(look)(np.stack([x, x]))
    else:
        counted(look)(x)
    return seen


@probe
def other_arrays(mj):
    """An array of a class that NumPy does not know, which must not be converted."""

    class Lazy:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("This array was converted.")

    class Box(Tracer):
        aval = ShapedArray((), np.dtype("float64"))

        def full_lower(self):
            return 0.5

    aval_makers[Lazy] = lambda x: ShapedArray((2,), np.dtype("float32"))
    builder, lazy = tracing.JaxprBuilder(), Lazy()
    atom = builder.constant(lazy)
    same, error = builder.constant(lazy) is atom, "nothing"
    try:
        builder.constant("text")
    except TypeError:
        error = "TypeError"
    box = Box()
    builder.constant(box)
    note, last = builder.consts.values()
    return {
        "a tracer whose box adds nothing is noted itself": [last.value is box, last.kept is box],
        "error": error,
        "the type of the atom": atom.aval.str_short(),
        "the second call returns the same variable": same,
        "the array itself is noted": note.value is lazy,
        "the array itself is kept": note.kept is lazy,
    }


@pytest.mark.meets("float32", "order", "sizes")
@pytest.mark.keeps("The atom for a value", "for each object with a variable")
def test_constant_arrays(student):
    """An array is a variable of its type; variable, array and copy are noted, in order."""
    student.agrees(constants, [ROW])
    student.agrees(constants, [GRID.astype("float32"), ROW, np.zeros((0, 2), "int8")])
    student.agrees(constants, [np.array([7]), ROW > 0.0, np.array([[2.5]]), np.array([3], "uint8")])
    student.agrees(constants, [np.array([np.nan, -0.0, np.inf, 0.5], "float16")])
    for x in (2.0, 2, np.float32(2.0)):
        student.agrees(weak_constants, x)


@pytest.mark.keeps("The atom for a value", "for each object with a variable")
def test_constant_numbers(student):
    """What is a literal is none of the constants."""
    student.agrees(constants, [2.0, 3, True, np.float32(0.5), np.array(7)])
    student.agrees(constants, [2.0, ROW, np.array(2.0)])
    student.agrees(constants, [0.0, -0.0, 0, False, np.float32(0), np.array(0.0), np.array(0)])
    student.agrees(constants, [np.bool_(True), np.int64(1), np.float64(1), float("nan"), 2**60 + 1])
    student.agrees(constants, [np.array(True), np.array(2, "uint8"), np.float16(0.5), -0.0])


@pytest.mark.meets("more_than_two", "twice")
@pytest.mark.keeps("whenever this very object is met")
def test_constant_again(student):
    """An array is one and the same variable each time."""
    student.agrees(constants, [ROW, GRID, ROW.astype("float32")])
    student.agrees(met_again, [ROW, GRID], 3)


@pytest.mark.meets("caching")
@pytest.mark.keeps("whenever this very object is met")
def test_constant_equal_arrays(student):
    """Another array is another variable, even if all its entries are the same."""
    for x in (ROW, ROW[:0], np.array([[1, 2]])):
        student.agrees(met_again, [x, x.copy()], 3)
    student.agrees(met_again, [ROW], 2, True)


@pytest.mark.meets("again", "mutation")
@pytest.mark.keeps("value that the object has now")
def test_constant_is_a_copy(student):
    """An array is still known after the user has written into it, and the program keeps the old."""
    student.agrees(kept_after_a_write, ROW, 99.0)
    student.agrees(kept_after_a_write, np.array([[1, 2]], "int32"), 7)
    student.agrees(kept_after_a_write, ROW > 0.0, False)
    student.agrees(kept_after_a_write, np.ones((8, 9, 10)), 7.0)
    for how in ("of a class", "transposed", "part"):
        student.agrees(kept_after_a_write, ROW, 7.0, how)
    student.agrees(literal_after_a_write, 7.0)


@pytest.mark.meets("again", "moment")
@pytest.mark.keeps("value that the object has now")
def test_constant_in_two_programs(student):
    """Each program has variables and copies of its own."""
    student.agrees(in_two_programs, ROW)


@pytest.mark.meets("caching", "length")
@pytest.mark.keeps("whenever this very object is met")
def test_constant_short_lived(student):
    """An array that the user has dropped is not mistaken for a new one."""
    student.agrees(short_lived, (3,), 90)
    student.agrees(short_lived, (2, 2), 40)


@pytest.mark.meets("another_box", "weak_type", "closure")
@pytest.mark.keeps("for each object with a variable")
def test_constant_tracers(student):
    """A tracer of another interpreter is a constant, kept as it is."""
    student.agrees(constant_tracers, "jvp", np.array(3.0))
    student.agrees(constant_tracers, "vmap", ROW)
    student.agrees(constant_tracers, "counted", ROW)


@pytest.mark.meets("exception")
@pytest.mark.keeps("Only numbers, arrays and tracers")
def test_constant_other_arrays(student):
    """Arrays that are not NumPy's are kept as they are, and other objects are rejected."""
    student.agrees(other_arrays)
    student.agrees(refused_constants)


exercise("tracing.trace_with")


@probe(uses=[in_place])
def program(mj, siblings, case, avals):
    """The program of one of these functions, for inputs of these types; and how it was made."""

    class Named(np.ndarray):
        pass

    row, small = np.array([1.0, 2.0, 4.0]), np.ones((1,), np.float32)
    ours = [neg_p.bind(2.0), neg_p.bind(row), core.ArrayImpl(row, True)]
    functions = {
        "one": lambda x: [sin_p.bind(x)],
        "two": lambda x, y: [sub_p.bind(y, mul_p.bind(x, y))],
        "outputs": lambda x, y: [y, cos_p.bind(x), x, y],
        "unused": lambda x, y, z: [sin_p.bind(y)],
        "nothing": lambda x: [],
        "no inputs": lambda: [sin_p.bind(2.0)],
        "plain outputs": lambda x: [2.0, row, x, 3, True, False],
        "numbers": lambda x: [np.float32(0.5), np.array(7), -0.0, 0.0, float("nan")],
        "of numpy": lambda x: [np.float64(0.5), np.int64(3), np.bool_(True), np.array(0.5)],
        "arrays": lambda x: [row, *ours, row, row.view(Named), small, row[:0], row > 2.0],
        "last": lambda *xs: [sub_p.bind(xs[1], xs[-1])],
        "number": lambda x: [mul_p.bind(3.0, x)],
        "array": lambda x: [mul_p.bind(x, row)],
        "on numbers": lambda x: [add_p.bind(x, mul_p.bind(2.0, 5.0))],
        "on arrays": lambda x: [sub_p.bind(x, exp_p.bind(row))],
        "comparison": lambda x: [gt_p.bind(sin_p.bind(1.0), 0.5)],
        "not used": lambda x: [exp_p.bind(1.0)] and [x],
        "nothing used": lambda x: [exp_p.bind(1.0), sin_p.bind(x)][:0],
        "numpy": lambda x: [jnp.ones((3,)) * x, jnp.sum(x)],
    }
    types = [ShapedArray(s, np.dtype(d), weak) for s, d, weak in avals]
    types = [types[types.index(aval)] for aval in types]  # equal ones are one object
    calls, given, before = [], [], [*types]

    def f(*args):
        calls.append([type(arg).__name__ for arg in args])
        outs = functions[case](*args)
        given.append((outs, [*outs]))
        return outs

    with in_place("minijax.tracing", siblings):
        for _ in range(2):
            builder = tracing.JaxprBuilder()
            closed = tracing.trace_with(builder, f, types)
    written = [x is y for x, y in zip(closed.eqns, builder.eqns, strict=True)]
    return {
        "calls of f, which is traced twice": len(calls),
        "the list of types is as it was": types == before,
        "the classes of f's arguments": calls,
        "the list that f returned is as it was": [[*map(id, x)] == [*map(id, y)] for x, y in given],
        "the text of the program": str(closed),
        "the constants of the program": [*map(np.asarray, closed.consts)],
        "the classes of its constants": [type(const).__name__ for const in closed.consts],
        "the program's equations are the builder's": written,
        "an input is weakly typed": [aval.weak_type for aval in closed.in_avals],
        "a result is weakly typed": [aval.weak_type for aval in closed.out_avals],
        "the type of the program": str(typecheck_jaxpr(closed.jaxpr)),
    }


@probe(uses=[in_place])
def evaluations(mj, siblings, x):
    """How often primitives are evaluated while a function is traced, and what f knows of x."""
    runs, known = [], []
    same_p = Primitive("same")
    impl_rules[same_p] = lambda x: runs.append(1) or x
    abstract_eval_rules[same_p] = lambda x: x

    def f(x):
        known.append(type(x.aval).__name__)
        try:
            known.append(bool(x))
        except Exception as error:
            known.append(type(error).__name__)
        return [same_p.bind(x), same_p.bind(2.0)]

    with in_place("minijax.tracing", siblings):
        closed = tracing.trace_with(tracing.JaxprBuilder(), f, (get_aval(x),))
    found = {"calls of impl rules while f is traced": len(runs), "what f knows of its input": known}
    found["the classes of the inputs' types"] = [type(aval).__name__ for aval in closed.in_avals]
    found["the values of the program"] = eval_jaxpr(closed.jaxpr, closed.consts, x)
    return {**found, "calls of impl rules in the end": len(runs)}


@probe(uses=[in_place])
def outer_boxes(mj, siblings, which, x):
    """Functions that use the box of a transformation outside, and give it beside their own."""
    seen = {}

    def f(x):
        builder = tracing.JaxprBuilder()
        used = tracing.trace_with(
            builder, lambda y: [x, mul_p.bind(sin_p.bind(x), y), y, x], [x.aval]
        )
        own = [const is x for const in used.consts if isinstance(const, Tracer)]
        seen["the text of the program"] = str(used)
        seen["the type of the program"] = str(typecheck_jaxpr(used.jaxpr))
        seen["the classes of its constants"] = [type(const).__name__ for const in used.consts]
        seen["the outer box itself is a constant"] = own
        return mul_p.bind(x, eval_jaxpr(used.jaxpr, used.consts, x)[1])

    with in_place("minijax.tracing", siblings):
        if which == "jvp":
            return {"the value and the tangent": mj.jvp(f, (x,), (3.0 * x,)), **seen}
        if which == "vmap":
            return {"the results of the batch": mj.vmap(f)(np.stack([x, 2.0 * x])), **seen}
        return {"the text of the outer program": str(mj.make_jaxpr(f)(x)), **seen}


@probe(uses=[in_place])
def functions_that_fail(mj, siblings, case):
    """Functions with an error of their own, or a wrong kind of result; and how often they ran."""

    class Lazy:
        def __array__(self, dtype=None, copy=None):
            return np.array(2.0)

        def __float__(self):
            return 2.0

    functions = {
        "operands": [lambda x: [x + "text"]],
        "none": [lambda x: [x, None]],
        "text": [lambda x: [x, "text"], lambda x: ["7"], lambda x: [b"ab"]],
        "list": [lambda x: [x, [x]], lambda x: [[]], lambda x: [[1.5], x]],
        "tuple": [lambda x: [x, (2.0, 3.0)], lambda x: [()], lambda x: [{"a": x}], lambda x: [{}]],
        "object": [lambda x: [x, Lazy()], lambda x: [2j], lambda x: [{1.0}], lambda x: [float]],
        "alone": [lambda x: x],
    }
    results = {
        "operands": "a function that adds a string to a number",
        "none": "a function that returns None in its list",
        "text": "a function that returns a string or bytes in its list",
        "list": "a function that returns a list in its list",
        "tuple": "a function that returns a tuple or a dict in its list",
        "object": "a function that returns an object that is not a number in its list",
        "alone": "a function that returns a value that is in no list",
    }
    runs, errors, given, types = [], {}, [], [ShapedArray((), np.dtype(float))]

    def noted(f, x):
        runs.append(1)
        out = f(x)
        given.extend([(out, [*map(id, out)])] if isinstance(out, list) else [])
        return out

    with in_place("minijax.tracing", siblings):
        for i, f in enumerate(functions[case]):
            key = f"{results[case]}, case {i + 1}"
            try:
                tracing.trace_with(tracing.JaxprBuilder(), lambda x, f=f: noted(f, x), types)
                errors[key] = "nothing"
            except TypeError:
                errors[key] = "TypeError"
    return {
        **errors,
        "calls of the functions": len(runs),
        "the list that a function returned is as it was": [[*map(id, x)] == y for x, y in given],
        "the height of the stack in the end": len(trace_state.stack),
        "no interpreter takes all operations in the end": trace_state.dynamic_trace is None,
    }


@probe(uses=[in_place])
def around_jvp(mj, siblings):
    """A function that differentiates and maps inside, traced."""

    def f(x):
        value, slope = mj.jvp(lambda x: mul_p.bind(sin_p.bind(x), x), (x,), (x,))
        return [slope, value, mj.vmap(lambda a: mul_p.bind(a, 2.0))(cos_p.bind(x))]

    with in_place("minijax.tracing", siblings):
        types = [ShapedArray((3,), np.dtype(float))]
        closed = tracing.trace_with(tracing.JaxprBuilder(), f, types)
        return {"the text of the program": str(closed)}


@probe(uses=[in_place])
def nested(mj, siblings, aval):
    """A function that is traced inside another, and uses its argument and its constants."""
    shape, dtype, weak = aval
    aval, seen, texts = ShapedArray(shape, np.dtype(dtype), weak), {}, []

    def itself(x):
        if len(texts) < 4:
            texts.append("")
            texts.append(str(tracing.trace_with(tracing.JaxprBuilder(), itself, [aval])))
        return [exp_p.bind(1.0), x]

    def outer(x):
        def inner(y):
            return [mul_p.bind(y, x), exp_p.bind(1.0)]

        closed = tracing.trace_with(tracing.JaxprBuilder(), inner, [aval])
        seen["the text of the inner program"] = str(closed)
        seen["the outer box is a constant of the inner program"] = [c is x for c in closed.consts]
        return [sin_p.bind(x), exp_p.bind(2.0)]

    with in_place("minijax.tracing", siblings):
        closed = tracing.trace_with(tracing.JaxprBuilder(), outer, [aval])
        itself(2.0)
    seen["the texts of the programs of a function that traces itself"] = texts
    return {**seen, "the text of the outer program": str(closed)}


@probe(uses=[in_place])
def afterwards(mj, siblings, error):
    """The interpreters after a function was traced, or has failed, with others around it."""
    runs, types = [], [ShapedArray((), np.dtype(float))]
    own = getattr(builtins, error)("out") if error else None

    def f(x):
        top = trace_state.stack[-1]
        runs.append(
            {
                "the height of the stack while f runs": len(trace_state.stack),
                "the boxes of f belong to the newest interpreter": x._trace.main is top,
                "that interpreter takes all operations": trace_state.dynamic_trace is top,
            }
        )
        if own:
            raise own
        return [x]

    def interpreters_after(stack, dynamic):
        trace_state.stack[1:], trace_state.dynamic_trace = stack, dynamic
        before, raised = [*trace_state.stack], None
        try:
            tracing.trace_with(tracing.JaxprBuilder(), f, types)
        except BaseException as caught:
            raised = caught
        same = [x is y for x, y in zip(before, trace_state.stack, strict=True)]
        same_in_charge = trace_state.dynamic_trace is dynamic
        trace_state.stack[1:], trace_state.dynamic_trace = (), None
        return {
            "the error": type(raised).__name__,
            "it is the function's own": raised is own,
            "the interpreters on the stack are the same": same,
            "the interpreter that takes all operations is the same": same_in_charge,
        }

    outer = MainTrace(1, tracing.JaxprTrace, tracing.JaxprBuilder()), MainTrace(2, Trace)
    around = [((), None), (outer, None), (outer, outer[0]), (outer, outer[1])]
    with in_place("minijax.tracing", siblings):
        found = [interpreters_after(*each) for each in around]
    return {
        "what f sees": runs,
        "the interpreters afterwards": found,
        "the sine outside": float(sin_p.bind(0.0)),
    }


@probe(uses=[in_place])
def escaped_results(mj, siblings, outside):
    """Whether results that have escaped are rejected, even those that the builder has seen."""
    kept, types = [], [ShapedArray((), np.dtype(float))]

    class Escaped(Tracer):
        aval = types[0]

        def __init__(self, level):
            self._trace = Trace(MainTrace(level, Trace))

        def full_lower(self):
            return 0.5

    def rejected(f):
        try:
            tracing.trace_with(builder, f, types)
        except UnexpectedTracerError:
            return True
        return False

    def f(x):
        kept[:] = [x, sub_p.bind(x, 2.0), x._trace.pure(3.0)]
        return [x]

    with in_place("minijax.tracing", siblings):
        builder = tracing.JaxprBuilder()
        tracing.trace_with(builder, f, types)
        results = [*kept, *map(Escaped, (1, 2, 5))]

        seen = []

        def outer(x):
            seen.extend(rejected(lambda x, y=y: [x, y]) for y in results)
            return [x]

        if outside:
            tracing.trace_with(tracing.JaxprBuilder(), outer, types)
        else:
            outer(0.5)
    return {"a result that has escaped is rejected by UnexpectedTracerError": seen}


@probe(uses=[in_place])
def into_one_builder(mj, siblings, x):
    """What a builder holds that had a constant and an equation before."""
    types = [ShapedArray((), np.dtype(float))]
    with in_place("minijax.tracing", siblings):
        builder = tracing.JaxprBuilder()
        var = builder.constant(x)
        tracing.trace_with(builder, lambda y: [sin_p.bind(y)], types)
        tracing.trace_with(builder, list, [])
        closed = tracing.trace_with(builder, lambda y: [mul_p.bind(x, y), y * 2.0], types)
    return {
        "the primitives of the builder's equations": [eqn.primitive.name for eqn in builder.eqns],
        "a constant has the variable that it had": builder.eqns[1].invars[0] is var,
        "the constants of the program": closed.consts,
    }


@pytest.mark.meets("float32", "order")
@pytest.mark.keeps("recorded into `builder`")
def test_trace_operations(student):
    """The operations on the inputs become the equations of a program, in their order."""
    student.agrees(program, CONSTANT, "one", [VECTOR])
    student.agrees(program, CONSTANT, "one", [((), "float32", True)])
    student.agrees(program, CONSTANT, "two", [SCALAR, VECTOR])
    student.agrees(program, CONSTANT, "two", [SCALAR, SCALAR])
    student.agrees(into_one_builder, CONSTANT, ROW)


@pytest.mark.meets("order", "twice", "sizes")
@pytest.mark.keeps("recorded into `builder`")
def test_trace_outputs(student):
    """Outputs are what the function gives, one by one: results, inputs, or nothing."""
    student.agrees(program, CONSTANT, "outputs", [VECTOR, MATRIX])
    student.agrees(program, CONSTANT, "nothing", [VECTOR])


@pytest.mark.meets("weak_type")
@pytest.mark.keeps("which is not changed")
def test_trace_plain_outputs(student):
    """A number or an array in the list of f is an output, and f's own list is not changed."""
    student.agrees(program, CONSTANT, "plain outputs", [VECTOR])
    student.agrees(program, CONSTANT, "plain outputs", [((), "int64", True)])
    for case in ("numbers", "of numpy", "arrays"):
        student.agrees(program, CONSTANT, case, [VECTOR])


@pytest.mark.meets("more_than_two", "some_results")
@pytest.mark.keeps("an input for each of `avals`")
def test_trace_unused_inputs(student):
    """There is an input for each type, in order, even if the function does not use it."""
    student.agrees(program, CONSTANT, "unused", [VECTOR, MATRIX, SCALAR])
    student.agrees(program, CONSTANT, "unused", [WEAK, WEAK_ROW, ((2, 0), "int8", False)])
    small = [((1,), dtype, False) for dtype in ("uint8", "float16", "int32")]
    student.agrees(program, CONSTANT, "unused", small)
    student.agrees(program, CONSTANT, "last", [SCALAR] * 30)


@pytest.mark.meets("sizes", "some_results")
def test_trace_no_inputs(student):
    """A function may have no inputs, or give what it got."""
    student.agrees(program, CONSTANT, "no inputs", [])
    student.agrees(program, CONSTANT, "not used", [MATRIX])
    student.agrees(program, CONSTANT, "nothing used", [SCALAR])


def test_trace_constants(student):
    """Numbers that are used are in the program, and arrays become its constants."""
    student.agrees(program, CONSTANT, "number", [VECTOR])
    student.agrees(program, CONSTANT, "array", [VECTOR])


@pytest.mark.keeps("every operation in it is recorded")
def test_trace_operations_on_constants(student):
    """Operations that no input takes part in are written down, too, and not computed beforehand."""
    for case in ("on numbers", "on arrays", "numpy"):
        student.agrees(program, CONSTANT, case, [VECTOR])
    student.agrees(program, CONSTANT, "comparison", [SCALAR])


@pytest.mark.keeps("an input for each of `avals`", "every operation in it is recorded")
def test_trace_evaluates_nothing(student):
    """Nothing is evaluated while a function is traced, and the program can be run later."""
    for x in (np.array(3.0), 3.0):
        student.agrees(evaluations, CONSTANT, x)
    student.agrees(evaluations, CONSTANT, ROW)


@pytest.mark.meets("another_box", "twice", "closure")
@pytest.mark.keeps("may trace other functions")
@pytest.mark.parametrize("which", ["jvp", "vmap", "jaxpr"])
def test_trace_outer_boxes(student, which):
    """A box of a transformation outside is a constant of the program, and may be a result."""
    student.agrees(outer_boxes, CONSTANT, which, ROW)
    student.agrees(outer_boxes, CONSTANT, which, np.array(2.0))


@pytest.mark.meets("exception", "none", "keys")
@pytest.mark.keeps("which is not changed")
@pytest.mark.parametrize("case", ["operands", "none", "text", "list", "tuple", "object", "alone"])
def test_trace_errors(student, case):
    """A TypeError of the function comes out, and is raised for a result that is not a number."""
    student.agrees(functions_that_fail, CONSTANT, case)


def test_trace_around_transformations(student):
    """What transformations inside the function compute is written down."""
    student.agrees(around_jvp, CONSTANT)


@pytest.mark.meets("again", "nested")
@pytest.mark.keeps("may trace other functions")
def test_trace_nested(student):
    """A function that is traced inside another has a program of its own."""
    student.agrees(nested, CONSTANT, VECTOR)
    student.agrees(nested, CONSTANT, ((2,), "float64", False))


@pytest.mark.meets("exception", "moment")
@pytest.mark.keeps("After `f` has returned or raised")
def test_trace_afterwards(student):
    """The function runs at the top of the stack, in charge of all, and leaves no trace behind."""
    for error in ("", "TypeError", "AttributeError", "ValueError"):
        student.agrees(afterwards, CONSTANT, error)
    for error in ("StopIteration", "KeyboardInterrupt", "GeneratorExit"):
        student.agrees(afterwards, CONSTANT, error)


@pytest.mark.meets("another_box")
@pytest.mark.keeps("which is not changed")
@pytest.mark.parametrize("outside", [False, True])
def test_trace_escaped(student, outside):
    """A result whose interpreter has ended is rejected, even within a function being traced."""
    student.agrees(escaped_results, CONSTANT, outside)


# Random programs ----------------------------------------------------------------------------------


@probe
def program_and_values(mj, f, xs):
    """The program of a function, its constants, and what it computes.

    >>> mj.make_jaxpr(f)(*xs)
    """
    closed = mj.make_jaxpr(f)(*xs)
    return {
        "the text of the program": str(closed),
        "the constants of the program": closed.consts,
        "the values of the program": eval_jaxpr(closed.jaxpr, closed.consts, *xs),
    }


@probe
def program_of_derivative(mj, f, xs, ts):
    """The same of the function that computes a derivative.

    >>> mj.make_jaxpr(lambda *ys: mj.jvp(f, ys, ts)[1])(*xs)
    """
    closed = mj.make_jaxpr(lambda *ys: mj.jvp(f, ys, ts)[1])(*xs)
    return {
        "the text of the program": str(closed),
        "the values of the program": eval_jaxpr(closed.jaxpr, closed.consts, *xs),
    }


def test_random_programs(student):
    """A random program is written down correctly, and so is the program of its derivative."""
    student.agrees_on_programs(program_and_values)
    student.agrees_on_programs(program_of_derivative)


exercise("tracing.whole")


@probe
def programs_of_programs(mj, f, xs):
    """The program of a function of all that makes one: constants, repeated and weak results."""
    k = np.array([2.0, 0.5, -1.0])

    def g(*ys):
        out = f(*ys)
        return {"out": [out, out], "k": (k, mj.numpy.sin(k), k * 2.0), "first": ys[0], "two": 2}

    closed = mj.make_jaxpr(g)(*xs)
    k[:] = 7.0
    weak = [aval.weak_type for aval in closed.out_avals]
    values = eval_jaxpr(closed.jaxpr, closed.consts, *xs)
    return {
        "the text of the program": str(closed),
        "the type of the program": str(typecheck_jaxpr(closed.jaxpr)),
        "a result is weakly typed": weak,
        "the values of the program": values,
    }


@probe
def program_within(mj, f, xs, ts):
    """Programs of functions that close over what is differentiated or mapped, run in there."""

    def again(*ys):
        closed = mj.make_jaxpr(lambda z: (mj.tree.leaves(f(*ys)), ys[0] * z, ys))(3.0)
        return eval_jaxpr(closed.jaxpr, closed.consts, 3.0)

    batches = [np.stack([x, x]) for x in xs]
    return {
        "the values and tangents": mj.jvp(again, xs, ts),
        "the results of the batch": mj.vmap(again)(*batches),
    }


@probe
def transformed_within(mj, f, xs, ts):
    """The program of a function that differentiates, maps and traces another function inside."""

    def g(*ys):
        inner = mj.make_jaxpr(lambda *zs: (f(*zs), ys[0]))(*ys)
        mapped = mj.vmap(f)(*([mj.numpy.broadcast_to(y, (2, *y.shape)) for y in ys]))
        return mj.jvp(f, ys, ts), mapped, eval_jaxpr(inner.jaxpr, inner.consts, *ys)

    closed = mj.make_jaxpr(g)(*xs)
    return {
        "the values of the program": eval_jaxpr(closed.jaxpr, closed.consts, *xs),
        "the number of equations": len(closed.eqns),
    }


@probe
def three_programs(mj, x):
    """Three functions traced within each other, each giving the boxes of those outside."""
    texts = []

    def note(closed):
        texts.append(
            {
                "the text of a program": str(closed),
                "the type of a program": str(typecheck_jaxpr(closed.jaxpr)),
                "the number of its constants": len(closed.consts),
            }
        )

    def first(a):
        def second(b):
            def third(c):
                return a, c * 2.0, b, mj.numpy.exp(1.0)

            note(mj.make_jaxpr(third)(b))
            return a, b * a

        note(mj.make_jaxpr(second)(a + 1.0))
        return a * mj.numpy.cos(0.5), a

    note(mj.make_jaxpr(first)(x))
    return texts


@probe
def after_errors(mj, x, error):
    """A function that fails within one that is traced, and outside; what is computed afterwards."""

    def broken(y):
        y = y * 2.0
        raise getattr(builtins, error)

    def f(x):
        for _ in range(2):
            try:
                mj.make_jaxpr(broken)(x)
            except BaseException as caught:
                names.append(type(caught).__name__)
        return x * mj.numpy.sin(1.0)

    names = []
    inside = str(mj.make_jaxpr(f)(x))
    outside = f(x)
    return {
        "the text of the program": inside,
        "the value outside": outside,
        "the errors that come out": names,
        "the height of the stack in the end": len(trace_state.stack),
        "no interpreter takes all operations in the end": trace_state.dynamic_trace is None,
    }


@probe
def several_results(mj, x):
    """An operation with three results with the same type, of which two are used; one with none."""
    three_p, none_p = (Primitive(name, multiple_results=True) for name in ("three", "none"))
    abstract_eval_rules[three_p] = lambda x, *, by: [x, x, x]
    abstract_eval_rules[none_p] = lambda x: []
    impl_rules[three_p] = lambda x, *, by: [np.multiply(x, by), np.negative(x), np.add(x, by)]
    impl_rules[none_p] = lambda x: []

    def f(x):
        a, b, c = three_p.bind(x, by=3.0)
        none_p.bind(b)
        return neg_p.bind(c), a, three_p.bind(c, by=2.0)[1]

    closed = mj.make_jaxpr(f)(x)
    typed = str(typecheck_jaxpr(closed.jaxpr))
    return {
        "the text of the program": str(closed),
        "the type of the program": typed,
        "the values of the program": eval_jaxpr(closed.jaxpr, closed.consts, x),
    }


@probe
def programs_again(mj, x):
    """Programs of a function that reads a list which changes, for one array and several powers."""
    read = [1, 1.0, True, -0.0, 0.0, 3]

    def f(x, n):
        read.append(read.pop(0))
        for _ in range(n):
            x = x * read[0]
        return x

    def once(x):
        return f(x, 1)

    texts = [str(mj.make_jaxpr(f, static_argnums=1)(x, n)) for n in (1, 2, 1)]
    texts += [str(mj.make_jaxpr(once)(x)) for _ in range(3)]
    types = [get_aval(x)]
    closed, uses = tracing.trace_with_uses(lambda y: [y * x, x, mj.numpy.sin(2.0) * x], types)
    return {
        "the text of each program, one call after another": texts,
        "the text of a program with its constants": str(closed),
        "the arrays that its constants are copies of are the arrays themselves": [
            use is x for use in uses
        ],
    }


@probe
def programs_in_two_threads(mj, x):
    """Programs of functions in two threads: one ends while a function is traced in the other."""
    begun, ended, texts = threading.Event(), threading.Event(), {}

    def late(x):
        begun.set()
        ended.wait(2)
        return x * mj.numpy.cos(1.5)

    def inner(x):
        thread.start()
        begun.wait(2)
        return x * mj.numpy.sin(0.5)

    def early(x):
        note("the inner function in the first thread", inner)
        return x * mj.numpy.exp(0.5)

    def note(name, f):
        texts[f"the text of the program of {name}"] = str(mj.make_jaxpr(f)(x))

    thread = threading.Thread(target=note, args=["the function in the second thread", late])
    note("the function in the first thread", early)
    ended.set()
    thread.join()
    return texts


@pytest.mark.meets(weak_type="constant")
def test_whole_programs(student):
    """A random program is written down: equations, constants, results and their types."""
    student.agrees_on_programs(programs_of_programs)


def test_whole_inside_transformations(student):
    """What is traced inside a transformation may use its boxes, and gives what it computes."""
    student.agrees_on_programs(program_within, dtypes=["float64"])


def test_whole_around_transformations(student):
    """What transformations do inside a function that is traced becomes a program."""
    student.agrees_on_programs(transformed_within, dtypes=["float64"])


@pytest.mark.meets(another_box="trace_with", nested="constant trace_with")
def test_whole_within_each_other(student):
    """Functions that are traced within each other have programs of their own."""
    student.agrees(three_programs, np.array(2.0))
    student.agrees(three_programs, ROW.astype(np.float32))


@pytest.mark.parametrize("error", ["KeyError", "KeyboardInterrupt"])
def test_whole_after_errors(student, error):
    """After a function that fails, everything is as before, inside and outside."""
    student.agrees(after_errors, 2.0, error)


def test_whole_several_results(student):
    """Operations with several results, of which some are used, or with none."""
    student.agrees(several_results, 2.0)
    student.agrees(several_results, ROW)


@pytest.mark.meets(again="trace_with", caching="constant")
def test_whole_again(student):
    """Each program is made anew, of what its function does in this call and in this thread."""
    student.agrees(programs_again, ROW)
    student.agrees(programs_in_two_threads, ROW)
