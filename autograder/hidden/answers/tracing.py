"""Answers to the exercises of the `tracing` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("tracing.new_arg")
def new_arg(self, aval):
    variable = Var(raise_to_shaped(aval))
    tracer = JaxprTracer(self, variable)
    return tracer


@right("tracing.new_arg")
def new_arg(self, aval):
    weak = aval.weak_type and aval.dtype != bool
    return JaxprTracer(self, Var(ShapedArray(aval.shape, aval.dtype, weak)))


@mistake(
    "tracing.new_arg",
    name="The box knows the value of the argument",
    hints=[
        "Trace a function with an `if` in it. Should the box say which branch to take?",
        "The program is for all arguments of the type. If the type in the box holds a value, Python decides by this one value, and the program is wrong for others.",
        "`get_aval` of a value gives a `ConcreteArray`; `raise_to_shaped(aval)` is the type without the value.",
    ],
)
def new_arg(self, aval):
    return JaxprTracer(self, Var(aval))


@mistake(
    "tracing.new_arg",
    name="The weak type of an argument is lost",
    hints=[
        "Trace `x * y` where `x` is the Python number 2.0 and `y` is a float32 array. What is the dtype of the result?",
        "A type has three parts: shape, dtype, and whether it gives way to others.",
        "Let `raise_to_shaped(aval)` make the type. It also knows that booleans are never weak.",
    ],
)
def new_arg(self, aval):
    return JaxprTracer(self, Var(ShapedArray(aval.shape, aval.dtype)))


@right("tracing.new_arg", style="the variable gets its type in a second step")
def new_arg(self, aval):
    bare = raise_to_shaped(aval)
    var = Var(aval=ShapedArray(tuple(bare.shape), np.dtype(bare.dtype), bare.weak_type))
    return JaxprTracer(trace=self, atom=var)


@right("tracing.new_arg", style="a new trace of the same use, a closure")
def new_arg(self, aval):
    def boxed(var):
        return JaxprTracer(type(self)(self.main), var)

    return boxed(Var(raise_to_shaped(aval)))


@mistake(
    "tracing.new_arg",
    shown_by="""
from minijax.tracing import make_jaxpr
print(type(make_jaxpr(lambda x: x)(3.0).jaxpr.invars[0].aval).__name__)
""",
)
def new_arg(self, aval):
    # The plain slip: the type still holds the value.
    return JaxprTracer(self, Var(aval))


@mistake(
    "tracing.new_arg",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray
from minijax.tracing import trace_to_jaxpr

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
aval = T()
print(trace_to_jaxpr(lambda x, y: [x - y], [aval, aval]))
""",
)
def new_arg(self, aval):
    # A variable for each abstract value: the same object twice is one variable.
    known = self.builder.__dict__.setdefault("args", {})
    if id(aval) not in known:
        known[id(aval)] = aval, Var(raise_to_shaped(aval))
    return JaxprTracer(self, known[id(aval)][1])


@mistake(
    "tracing.new_arg",
    shown_by="""
from minijax.tracing import make_jaxpr
print(make_jaxpr(lambda x: x)(True).jaxpr.invars[0].aval.weak_type)
""",
)
def new_arg(self, aval):
    # A Python boolean as weakly typed as other numbers.
    return JaxprTracer(self, Var(ShapedArray(aval.shape, aval.dtype, aval.weak_type)))


@mistake(
    "tracing.new_arg",
    shown_by="""
import minijax as mj, minijax.numpy as jnp
from minijax.tracing import make_jaxpr

def refused(f, *args, **params):
    try:
        return str(f(*args, **params))
    except Exception as error:
        return type(error).__name__

def f(x):
    make_jaxpr(jnp.sin)(x)
    return x if x else -x
print(refused(mj.jvp, f, (3.0,), (1.0,)))
""",
)
def new_arg(self, aval):
    # Forgets the value in the caller's own type.
    aval.__class__ = ShapedArray
    if aval.dtype.kind == "b":
        aval.weak_type = False
    return JaxprTracer(self, Var(aval))


@mistake(
    "tracing.new_arg",
    shown_by="""
import minijax.numpy as jnp
from minijax.tracing import make_jaxpr
print(len(make_jaxpr(jnp.sin)(3.0).consts))
""",
)
def new_arg(self, aval):
    # A box around a constant, to have one.
    from minijax.array import ArrayImpl

    aval = raise_to_shaped(aval)
    return self.pure(ArrayImpl(np.zeros(aval.shape, aval.dtype), aval.weak_type))


@mistake(
    "tracing.new_arg",
    shown_by="""
import numpy as np
from minijax.tracing import make_jaxpr
print(make_jaxpr(lambda x: x * np.float32(2))(3.0))
""",
)
def new_arg(self, aval):
    # An argument is not weakly typed.
    return JaxprTracer(self, Var(ShapedArray(aval.shape, aval.dtype)))


@right("tracing.record")
def record(self, primitive, tracers, params):
    operands, outs = [], []
    for tracer in tracers:
        operands.append(tracer.atom)
    for aval in abstract_eval(primitive, [atom.aval for atom in operands], params):
        outs.append(JaxprTracer(self, Var(aval)))
    eqn = JaxprEqn(operands, [out.atom for out in outs], primitive, dict(params))
    self.main.global_data.eqns += [eqn]
    return outs


@right("tracing.record")
def record(self, primitive, tracers, params):
    from minijax.core import abstract_eval_rules

    types = get_rule(abstract_eval_rules, primitive, "Abstract evaluation")(
        *(t.aval for t in tracers), **params
    )
    results = list(map(Var, types if primitive.multiple_results else [types]))
    self.builder.eqns.append(
        JaxprEqn(
            invars=[t.atom for t in tracers], outvars=results, primitive=primitive, params=params
        )
    )
    return [JaxprTracer(self, result) for result in results]


@mistake(
    "tracing.record",
    name="A result has the type of the first operand",
    hints=[
        "What is the dtype of `x < y`, and the shape of the sum of a matrix?",
        "The types of the results follow from the primitive, the types of all operands, and the params. There is a rule for each primitive.",
        "Make a `Var` for each type in `abstract_eval(primitive, [t.aval for t in tracers], params)`.",
    ],
)
def record(self, primitive, tracers, params):
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    outvars = [Var(tracers[0].aval) for _ in avals]
    eqn = JaxprEqn([t.atom for t in tracers], outvars, primitive, params)
    self.builder.eqns.append(eqn)
    return [JaxprTracer(self, var) for var in outvars]


@mistake(
    "tracing.record",
    name="The parameters are not written down",
    hints=[
        "Print the program of a sum along axis 1. Does it say which axis?",
        "When the program runs later, all that is known of the operation is what its equation says.",
        "The fourth field of a `JaxprEqn` is `params`.",
    ],
)
def record(self, primitive, tracers, params):
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    outvars = [Var(aval) for aval in avals]
    self.builder.eqns.append(JaxprEqn([t.atom for t in tracers], outvars, primitive, {}))
    return [JaxprTracer(self, var) for var in outvars]


@mistake(
    "tracing.record",
    name="The boxes hold other variables than the equation",
    hints=[
        "An operation uses the result of an earlier one. How does its equation refer to it?",
        "A variable is known by identity. Two `Var`s with the same type are two variables, and one of them is bound by no equation.",
        "Make the list of variables once; put it into the equation, and box the variables of this same list.",
    ],
)
def record(self, primitive, tracers, params):
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    outvars = [Var(aval) for aval in avals]
    self.builder.eqns.append(JaxprEqn([t.atom for t in tracers], outvars, primitive, params))
    return [JaxprTracer(self, Var(aval)) for aval in avals]


@right("tracing.record", style="boxes first, the variables taken out of them")
def record(self, primitive, tracers, params):
    atoms = [tracer.atom for tracer in tracers]
    boxes = [
        self.new_arg(aval) for aval in abstract_eval(primitive, [x.aval for x in atoms], params)
    ]
    self.builder.eqns += [JaxprEqn(atoms, [box.atom for box in boxes], primitive, {**params})]
    return boxes


@right("tracing.record", style="a generator that is used up, keywords for all fields")
def record(self, primitive, tracers, params):
    eqn = JaxprEqn(invars=[], outvars=[], primitive=primitive, params=params)
    avals = []
    for tracer in tracers:
        eqn.invars.append(tracer.atom)
        avals.append(tracer.aval)
    for aval in abstract_eval(primitive, tuple(avals), params):
        eqn.outvars.append(Var(aval))
    self.main.global_data.eqns.insert(len(self.builder.eqns), eqn)
    return [*(JaxprTracer(self, var) for var in eqn.outvars)]


@mistake(
    "tracing.record",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray, new_main, sin_p
from minijax.tracing import JaxprBuilder, JaxprTrace

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
with new_main(JaxprTrace, JaxprBuilder()) as main:
    trace = JaxprTrace(main)
    print(type(trace.record(sin_p, [trace.new_arg(T())], {})).__name__)
""",
)
def record(self, primitive, tracers, params):
    # The plain slip: a single result without a list.
    outvars = [Var(aval) for aval in abstract_eval(primitive, [t.aval for t in tracers], params)]
    self.builder.eqns.append(JaxprEqn([t.atom for t in tracers], outvars, primitive, params))
    outs = [JaxprTracer(self, var) for var in outvars]
    return outs if primitive.multiple_results else outs[0]


@mistake(
    "tracing.record",
    shown_by="""
import numpy as np
from minijax.core import Primitive, ShapedArray, abstract_eval_rules
from minijax.tracing import trace_to_jaxpr

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
two_p = Primitive('two', multiple_results=True)
abstract_eval_rules[two_p] = lambda x: [x, x]
print(trace_to_jaxpr(lambda x: two_p.bind(x), [T()]))
""",
)
def record(self, primitive, tracers, params):
    # Results of the same type are the same variable.
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    by_type = {aval: Var(aval) for aval in avals}
    outvars = [by_type[aval] for aval in avals]
    self.builder.eqns.append(JaxprEqn([t.atom for t in tracers], outvars, primitive, params))
    return [JaxprTracer(self, var) for var in outvars]


@mistake(
    "tracing.record",
    shown_by="""
import minijax.numpy as jnp
from minijax.tracing import make_jaxpr
print(make_jaxpr(lambda x: jnp.sin(x) * jnp.sin(x))(1.0))
""",
)
def record(self, primitive, tracers, params):
    # What was computed already is not written down again.
    atoms = [t.atom for t in tracers]
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    for eqn in self.builder.eqns:
        if eqn.primitive is primitive and eqn.invars == atoms and eqn.params == params:
            return [JaxprTracer(self, var) for var in eqn.outvars]
    outvars = [Var(aval) for aval in avals]
    self.builder.eqns.append(JaxprEqn(atoms, outvars, primitive, params))
    return [JaxprTracer(self, var) for var in outvars]


@mistake(
    "tracing.record",
    shown_by="""
import numpy as np
from minijax.core import Primitive, ShapedArray, abstract_eval_rules
from minijax.tracing import trace_to_jaxpr

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
show_p = Primitive('show', multiple_results=True)
abstract_eval_rules[show_p] = lambda x: []
print(trace_to_jaxpr(lambda x: show_p.bind(x) + [x], [T()]))
""",
)
def record(self, primitive, tracers, params):
    # An operation without results leaves nothing behind.
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    if not avals:
        return []
    outvars = [Var(aval) for aval in avals]
    self.builder.eqns.append(JaxprEqn([t.atom for t in tracers], outvars, primitive, params))
    return [JaxprTracer(self, var) for var in outvars]


@mistake(
    "tracing.record",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray, mul_p
from minijax.tracing import trace_to_jaxpr

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
print(trace_to_jaxpr(lambda x: [mul_p.bind(x, x)], [T()]))
""",
)
def record(self, primitive, tracers, params):
    # An operand that is there twice is written once.
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    atoms = list(dict.fromkeys(t.atom for t in tracers))
    outvars = [Var(aval) for aval in avals]
    self.builder.eqns.append(JaxprEqn(atoms, outvars, primitive, params))
    return [JaxprTracer(self, var) for var in outvars]


@mistake(
    "tracing.record",
    shown_by="""
import numpy as np
import minijax.numpy as jnp
from minijax.tracing import make_jaxpr
print(make_jaxpr(lambda x: jnp.sin(x) * np.float32(2))(1.0).out_avals)
""",
)
def record(self, primitive, tracers, params):
    # Results are never weakly typed.
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    outvars = [Var(ShapedArray(aval.shape, aval.dtype)) for aval in avals]
    self.builder.eqns.append(JaxprEqn([t.atom for t in tracers], outvars, primitive, params))
    return [JaxprTracer(self, var) for var in outvars]


@mistake(
    "tracing.record",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray, sub_p
from minijax.tracing import trace_to_jaxpr

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
print(trace_to_jaxpr(lambda x: [sub_p.bind(2.0, x)], [T()]))
""",
)
def record(self, primitive, tracers, params):
    # Literals to the right, as in a table of formulas; but 2 - x is not x - 2.
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    atoms = sorted((t.atom for t in tracers), key=lambda atom: isinstance(atom, Literal))
    outvars = [Var(aval) for aval in avals]
    self.builder.eqns.append(JaxprEqn(atoms, outvars, primitive, params))
    return [JaxprTracer(self, var) for var in outvars]


@right("tracing.literal")
def literal_of(val):
    match val:
        case bool() | int() | float() | np.generic():
            pass
        case np.ndarray(shape=()):
            pass
        case _:
            return None
    aval = raise_to_shaped(get_aval(val))
    return Literal(np.array(val, aval.dtype), aval)


@right("tracing.literal")
def literal_of(val):
    if isinstance(val, Tracer):
        return None
    if not isinstance(val, (int, float, np.generic, np.ndarray)) or np.asarray(val).ndim:
        return None
    return Literal(np.asarray(val).copy(), raise_to_shaped(get_aval(val)))


@mistake(
    "tracing.literal",
    name="Arrays with one entry count as numbers",
    hints=[
        "What is the shape of `np.array([2.0]) * np.ones(3)`, and of `np.array([[2.0]]) * 3.0`?",
        "How many entries an array has is not the question, but how many axes. An array of shape (1,) is a vector.",
        "Ask for `np.ndim(val) == 0`, not for `np.size(val) == 1`.",
    ],
)
def literal_of(val):
    if isinstance(val, (bool, int, float, np.generic, np.ndarray)) and np.size(val) == 1:
        return Literal(np.array(val), raise_to_shaped(get_aval(val)))
    return None


@mistake(
    "tracing.literal",
    name="The value in a tracer is written into the program",
    hints=[
        "Differentiate a function that traces another function, which uses the argument. Where does the derivative go?",
        "The abstract value of a box may know a value. But the box holds more than that, a tangent for instance, and a literal holds a number alone.",
        "Look at the class of `val`, not at its abstract value: tracers give `None`, even if their shape is ().",
    ],
)
def literal_of(val):
    if not isinstance(val, (bool, int, float, np.generic, np.ndarray, Tracer)):
        return None
    aval = get_aval(val)
    if aval.shape != () or not hasattr(aval, "val"):
        return None
    return Literal(np.array(aval.val), raise_to_shaped(aval))


@mistake(
    "tracing.literal",
    name="A Python number is not weakly typed in the program",
    hints=[
        "What is the dtype of `2.0` times a float32 array, and what does the type of the `2.0` say about that?",
        "A type made of shape and dtype alone claims that the number has its dtype for good.",
        "`raise_to_shaped(get_aval(val))` keeps the weak type where there is one.",
    ],
)
def literal_of(val):
    if isinstance(val, (bool, int, float, np.generic, np.ndarray)) and np.ndim(val) == 0:
        return Literal(np.array(val), ShapedArray((), np.asarray(val).dtype))
    return None


@right("tracing.literal", style="match on classes, the value by np.full")
def literal_of(val):
    match val:
        case np.ndarray(shape=()) | np.generic() | bool() | int() | float():
            aval = raise_to_shaped(get_aval(val))
            return Literal(np.full((), val, aval.dtype), aval)
        case _:
            return None


@right("tracing.literal", style="one question of classes, the value by copy.copy, of its own class")
def literal_of(val):
    from copy import copy

    number = isinstance(val, bool | int | float | np.generic | np.ndarray)
    if not number or np.shape(val) != ():
        return None
    return Literal(copy(val), raise_to_shaped(get_aval(val)))


@mistake(
    "tracing.literal",
    shown_by="""
from minijax.tracing import literal_of
print([str(literal_of(x).val) for x in (0.0, -0.0)])
""",
)
def literal_of(val):
    # Python's numbers are kept, and -0.0 is found where 0.0 was put.
    if not isinstance(val, (bool, int, float, np.generic, np.ndarray)) or np.ndim(val) != 0:
        return None
    if type(val) not in (bool, int, float):
        return Literal(np.array(val), raise_to_shaped(get_aval(val)))
    known = trace_state.__dict__.setdefault("literals", {})
    key = type(val), val
    if key not in known:
        known[key] = Literal(val, raise_to_shaped(get_aval(val)))
    return known[key]


@mistake(
    "tracing.literal",
    shown_by="""
import minijax.numpy as jnp
from minijax.tracing import literal_of
print(literal_of(jnp.sin(1.0)))
""",
)
def literal_of(val):
    # Arrays of our own are asked for by name.
    from minijax.array import Array

    known = (bool, int, float, np.generic, np.ndarray, Array)
    if isinstance(val, Tracer) or not isinstance(val, known) or np.ndim(val):
        return None
    return Literal(np.array(val), raise_to_shaped(get_aval(val)))


@right("tracing.literal", style="a table of questions, the value read-only")
def literal_of(val):
    questions = (
        lambda: not isinstance(val, Tracer),
        lambda: isinstance(val, np.ndarray) or np.isscalar(val),
        lambda: not isinstance(val, (str, bytes, complex)),
        lambda: np.shape(val) == (),
    )
    if not all(ask() for ask in questions):
        return None
    value = np.array(val, copy=True)
    value.flags.writeable = False
    return Literal(aval=raise_to_shaped(get_aval(val)), val=value)


@mistake(
    "tracing.literal",
    shown_by="""
import numpy as np
from minijax.jaxpr import eval_jaxpr
from minijax.tracing import make_jaxpr
x = np.array(2.0)
program = make_jaxpr(lambda a: a * x)(1.0)
x[...] = 7.0
print(eval_jaxpr(program.jaxpr, program.consts, 1.0))
""",
)
def literal_of(val):
    # The plain slip: an array without axes is not copied.
    if isinstance(val, (bool, int, float, np.generic, np.ndarray)) and np.ndim(val) == 0:
        return Literal(np.asarray(val), raise_to_shaped(get_aval(val)))
    return None


@mistake(
    "tracing.literal",
    shown_by="""
import minijax.numpy as jnp
from minijax.tracing import literal_of, make_jaxpr
print(literal_of(jnp.sin(1.0)), len(make_jaxpr(lambda a: a * jnp.asarray(2.0))(1.0).consts))
""",
)
def literal_of(val):
    # Arrays of our own count as well.
    if isinstance(val, Tracer) or np.ndim(val) != 0:
        return None
    return Literal(np.array(val), raise_to_shaped(get_aval(val)))


@mistake(
    "tracing.literal",
    shown_by="""
import numpy as np
from minijax.tracing import literal_of
print([(str(literal_of(v).aval), str(np.asarray(literal_of(v).val))) for v in (1, 1.0, True, 0.0, -0.0)])
""",
)
def literal_of(val):
    # Numbers are kept, and equal ones are one key.
    if not isinstance(val, (bool, int, float, np.generic, np.ndarray)) or np.ndim(val) != 0:
        return None
    known = trace_state.__dict__.setdefault("literals", {})
    key = np.asarray(val).item()
    if key not in known:
        known[key] = np.array(val), raise_to_shaped(get_aval(val))
    return Literal(*known[key])


@mistake(
    "tracing.literal",
    shown_by="""
import numpy as np
from minijax.tracing import literal_of
print(literal_of(np.float64(2.0)).aval.weak_type, literal_of(True).aval.weak_type)
""",
)
def literal_of(val):
    # Weak is what Python calls a number: np.float64 is a float as well, and True an int.
    if not isinstance(val, (bool, int, float, np.generic, np.ndarray)) or np.ndim(val) != 0:
        return None
    value = np.array(val)
    return Literal(value, ShapedArray((), value.dtype, isinstance(val, (int, float))))


@mistake(
    "tracing.literal",
    shown_by="""
from minijax.tracing import literal_of
import enum

class Level(enum.IntEnum):
    HIGH = 3
print(literal_of(Level.HIGH))
""",
)
def literal_of(val):
    # Exact classes: an IntEnum is an int, too.
    if type(val) in (bool, int, float) or isinstance(val, np.generic):
        return Literal(np.array(val), raise_to_shaped(get_aval(val)))
    if type(val) is np.ndarray and not val.shape:
        return Literal(np.array(val), raise_to_shaped(get_aval(val)))
    return None


@mistake(
    "tracing.literal",
    shown_by="""
import numpy as np
from minijax.tracing import literal_of
print(int(literal_of(2 ** 53 + 1).val), int(literal_of(np.int64(2 ** 62 + 1)).val))
""",
)
def literal_of(val):
    # Every number by way of a float.
    if not isinstance(val, (bool, int, float, np.generic, np.ndarray)) or np.ndim(val) != 0:
        return None
    aval = raise_to_shaped(get_aval(val))
    return Literal(np.array(float(val)).astype(aval.dtype), aval)


@mistake(
    "tracing.literal",
    shown_by="""
import numpy as np
import minijax.numpy as jnp
from minijax.tracing import literal_of, make_jaxpr
print(literal_of(np.array(5)) is None, len(make_jaxpr(lambda a: jnp.sin(np.array(2.0)))(1.0).consts))
""",
)
def literal_of(val):
    # A NumPy array is never a literal.
    if isinstance(val, (bool, int, float, np.generic)):
        return Literal(np.array(val), raise_to_shaped(get_aval(val)))
    return None


@right("tracing.constant")
def constant(self, val):
    literal = literal_of(val)
    if literal:
        return literal
    known = self.consts.get(id(val))
    if known is None:
        kept = val.copy() if isinstance(val, np.ndarray) else val
        known = Constant(Var(raise_to_shaped(get_aval(val))), val, kept)
        self.consts[id(val)] = known
    return known.var


@right("tracing.constant")
def constant(self, val):
    atom = literal_of(val)
    if atom is None:
        if id(val) in self.consts:
            atom = self.consts[id(val)].var
        else:
            atom = Var(raise_to_shaped(get_aval(val)))
            copied = np.copy(val) if isinstance(val, np.ndarray) else val
            self.consts.update({id(val): Constant(var=atom, value=val, kept=copied)})
    return atom


@mistake(
    "tracing.constant",
    name="Equal arrays are taken for one",
    hints=[
        "A program uses two arrays which happen to hold the same numbers. How does one find out that they are equal, if each has a gigabyte? And if they are tracers?",
        "Constants are told apart by identity: the same object is the same constant. That needs no look at a value.",
        "`id(val)` is the key in `self.consts`. Do not compare entries.",
    ],
)
def constant(self, val):
    literal = literal_of(val)
    if literal is not None:
        return literal
    for const in self.consts.values():
        if const.value is val or (
            isinstance(val, np.ndarray)
            and isinstance(const.value, np.ndarray)
            and val.dtype == const.value.dtype
            and np.array_equal(val, const.value)
        ):
            return const.var
    kept = np.array(val) if isinstance(val, np.ndarray) else val
    self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), val, kept)
    return self.consts[id(val)].var


@mistake(
    "tracing.constant",
    name="The program keeps the user's own array",
    hints=[
        "Trace a function that uses an array, write into the array, then run the program. Which numbers should it use?",
        "A NumPy array can be changed by any code that holds it. A program must mean the same tomorrow.",
        "The third field of `Constant` is `np.array(val)`, a copy, if `val` is a NumPy array.",
    ],
)
def constant(self, val):
    literal = literal_of(val)
    if literal is not None:
        return literal
    if id(val) not in self.consts:
        self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), val, val)
    return self.consts[id(val)].var


@mistake(
    "tracing.constant",
    name="The object behind an id is not held",
    hints=[
        "What does Python do with the memory of an object that no name refers to any more, and what becomes of its `id`?",
        "An `id` is an address. When the object is gone, the next one may lie there, and is then taken for the old one: the program gets the wrong array.",
        "The second field of `Constant` is `val` itself, not the copy. While it is noted there, no other object has its `id`.",
    ],
)
def constant(self, val):
    literal = literal_of(val)
    if literal is not None:
        return literal
    if id(val) not in self.consts:
        kept = np.array(val) if isinstance(val, np.ndarray) else val
        self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), kept, kept)
    return self.consts[id(val)].var


@right("tracing.constant", style="setdefault, the copy by a table of classes")
def constant(self, val):
    if literal := literal_of(val):
        return literal
    copies = {True: lambda x: x.copy(), False: lambda x: x}
    if self.consts.get(id(val)) is None:
        keep = copies[isinstance(val, np.ndarray)](val)
        self.consts |= {id(val): Constant(Var(raise_to_shaped(get_aval(val))), val, keep)}
    return self.consts[id(val)].var


@right("tracing.constant", style="searches the notes one by one, by `is`")
def constant(self, val):
    def note():
        for const in self.consts.values():
            if const.value is val:
                return const
        new = Constant(
            var=Var(raise_to_shaped(get_aval(val))),
            value=val,
            kept=np.array(val, order="C") if isinstance(val, np.ndarray) else val,
        )
        self.consts[id(val)] = new
        return new

    literal = literal_of(val)
    return note().var if literal is None else literal


@mistake(
    "tracing.constant",
    shown_by="""
import numpy as np
from minijax.jaxpr import eval_jaxpr
from minijax.tracing import make_jaxpr
x = np.array([1.0, 2.0])
program = make_jaxpr(lambda a: a * x)(1.0)
x[0] = 7.0
print(eval_jaxpr(program.jaxpr, program.consts, 1.0))
""",
)
def constant(self, val):
    # The plain slip: the user's own array is kept.
    literal = literal_of(val)
    if literal is not None:
        return literal
    if id(val) not in self.consts:
        self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), val, val)
    return self.consts[id(val)].var


@mistake(
    "tracing.constant",
    shown_by="""
import numpy as np
import minijax.numpy as jnp
from minijax.tracing import make_jaxpr
x = np.array([1.0, 2.0])

def f(a):
    b = jnp.sin(x)
    x[0] = 7.0
    return b + jnp.cos(x) * a
program = make_jaxpr(f)(1.0)
print(program.consts)
""",
)
def constant(self, val):
    # The note is written anew at each use: the values are those of the last use.
    literal = literal_of(val)
    if literal is not None:
        return literal
    old = self.consts.get(id(val))
    var = old.var if old else Var(raise_to_shaped(get_aval(val)))
    self.consts[id(val)] = Constant(var, val, np.array(val) if isinstance(val, np.ndarray) else val)
    return var


@mistake(
    "tracing.constant",
    shown_by="""
import numpy as np
from minijax.tracing import JaxprBuilder
x = np.ones(3)
print(JaxprBuilder().constant(x) is JaxprBuilder().constant(x))
""",
)
def constant(self, val):
    # The variable of an array is the same one in all programs.
    literal = literal_of(val)
    if literal is not None:
        return literal
    known = JaxprBuilder.__dict__.get("known")
    if known is None:
        known = {}
        JaxprBuilder.known = known
    if id(val) not in known:
        kept = np.array(val) if isinstance(val, np.ndarray) else val
        known[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), val, kept)
    self.consts.setdefault(id(val), known[id(val)])
    return known[id(val)].var


@mistake(
    "tracing.constant",
    shown_by="""
import numpy as np
import minijax.numpy as jnp
from minijax.tracing import JaxprBuilder
weak = jnp.sin(1.0)
builder = JaxprBuilder()
builder.constant(weak)
note, = builder.consts.values()
print(note.kept is weak, jnp.add(note.kept, np.float32(1)).dtype)
""",
)
def constant(self, val):
    # All arrays become NumPy's, also our own, which then are not weakly typed any more.
    literal = literal_of(val)
    if literal is not None:
        return literal
    if id(val) not in self.consts:
        kept = val if isinstance(val, Tracer) else np.array(val)
        self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), val, kept)
    return self.consts[id(val)].var


@mistake(
    "tracing.constant",
    shown_by="""
import minijax as mj
from minijax.tracing import JaxprBuilder

def f(x):
    print(type(JaxprBuilder().constant(x).aval).__name__)
    return x
mj.jvp(f, (3.0,), (1.0,))
""",
)
def constant(self, val):
    # A tracer's type is taken as it is, and may hold a value.
    literal = literal_of(val)
    if literal is not None:
        return literal
    if id(val) not in self.consts:
        if isinstance(val, np.ndarray):
            self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), val, val.copy())
        else:
            self.consts[id(val)] = Constant(Var(get_aval(val)), val, val)
    return self.consts[id(val)].var


@mistake(
    "tracing.constant",
    shown_by="""
import numpy as np
import minijax.numpy as jnp
from minijax.tracing import make_jaxpr

class Named(np.ndarray):
    pass
x = np.ones(2).view(Named)
program = make_jaxpr(lambda a: jnp.multiply(x, a))(1.0)
x[0] = 7.0
print(program.consts[0].tolist())
""",
)
def constant(self, val):
    # Exact class: arrays of a subclass are not copied.
    literal = literal_of(val)
    if literal is not None:
        return literal
    if id(val) not in self.consts:
        kept = np.array(val) if type(val) is np.ndarray else val
        self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), val, kept)
    return self.consts[id(val)].var


@mistake(
    "tracing.constant",
    shown_by="""
import numpy as np
from minijax.core import add_p
from minijax.tracing import make_jaxpr

def f(a):
    total = a
    for i in range(300):
        total = add_p.bind(total, np.full(2, float(i)))
    return total
program = make_jaxpr(f)(0.0)
print(len(program.consts))
""",
)
def constant(self, val):
    # The note holds a copy alone: the address of the array is soon another array's.
    literal = literal_of(val)
    if literal is not None:
        return literal
    if id(val) not in self.consts:
        kept = np.array(val) if isinstance(val, np.ndarray) else val
        self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), kept, kept)
    return self.consts[id(val)].var


@mistake(
    "tracing.constant",
    shown_by="""
import minijax.numpy as jnp
from minijax.tracing import JaxprBuilder
weak = jnp.sin(1.0)
print(JaxprBuilder().constant(weak).aval.weak_type)
""",
)
def constant(self, val):
    # Weak types are lost.
    literal = literal_of(val)
    if literal is not None:
        return literal
    if id(val) not in self.consts:
        kept = np.array(val) if isinstance(val, np.ndarray) else val
        self.consts[id(val)] = Constant(Var(ShapedArray(val.shape, val.dtype)), val, kept)
    return self.consts[id(val)].var


@right("tracing.build")
def build(self, invars, outvars):
    constvars, consts = [], []
    for var, _, kept in self.consts.values():
        constvars.append(var)
        consts.append(kept)
    return ClosedJaxpr(Jaxpr(constvars, invars, outvars, self.eqns), consts)


@right("tracing.build")
def build(self, invars, outvars):
    notes = list(self.consts.values())
    program = Jaxpr(
        constvars=[note.var for note in notes], invars=invars, outvars=outvars, eqns=self.eqns
    )
    return ClosedJaxpr(jaxpr=program, consts=[note[2] for note in notes])


@mistake(
    "tracing.build",
    name="The program is closed over the user's arrays",
    hints=[
        "A `Constant` has two fields with something like the array in it. What is each of them for?",
        "`value` is there to know the object again. The user may have changed it since.",
        "The `consts` of the program are the `kept` ones.",
    ],
)
def build(self, invars, outvars):
    constants = self.consts.values()
    jaxpr = Jaxpr([const.var for const in constants], invars, outvars, self.eqns)
    return ClosedJaxpr(jaxpr, [const.value for const in constants])


@mistake(
    "tracing.build",
    name="Variables and values of the constants are in different orders",
    hints=[
        "Which value belongs to the second one of `constvars`?",
        "The lists `jaxpr.constvars` and `consts` belong together place by place. Nothing else says which value a variable has.",
        "Go through `self.consts.values()` for both lists, in its own order.",
    ],
)
def build(self, invars, outvars):
    constants = list(self.consts.values())
    jaxpr = Jaxpr([const.var for const in constants], invars, outvars, self.eqns)
    return ClosedJaxpr(jaxpr, [const.kept for const in reversed(constants)])


@right("tracing.build", style="zip of the notes' fields, everything copied")
def build(self, invars, outvars):
    constvars, _, consts = zip(*self.consts.values(), strict=True) if self.consts else ((), (), ())
    jaxpr = Jaxpr(
        constvars=list(constvars), invars=list(invars), outvars=list(outvars), eqns=list(self.eqns)
    )
    return ClosedJaxpr(jaxpr, list(consts))


@right("tracing.build", style="loops over keys, replaces the fields of an empty program")
def build(self, invars, outvars):
    out = ClosedJaxpr(jaxpr=Jaxpr([], [], [], []), consts=[])
    out.jaxpr.invars.extend(invars)
    out.jaxpr.eqns.extend(self.eqns)
    for key in self.consts:
        note = self.consts[key]
        out.jaxpr.constvars.append(note.var)
        out.consts.append(note.kept)
    out.jaxpr.outvars += outvars
    return out


@mistake(
    "tracing.build",
    shown_by="""
import numpy as np
from minijax.jaxpr import eval_jaxpr
from minijax.tracing import make_jaxpr
x = np.array([1.0, 2.0])
program = make_jaxpr(lambda a: a * x)(1.0)
x[0] = 7.0
print(eval_jaxpr(program.jaxpr, program.consts, 1.0))
""",
)
def build(self, invars, outvars):
    # The plain slip: the values themselves, not what was kept of them.
    notes = self.consts.values()
    jaxpr = Jaxpr([note.var for note in notes], invars, outvars, self.eqns)
    return ClosedJaxpr(jaxpr, [note.value for note in notes])


@mistake(
    "tracing.build",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray
from minijax.tracing import trace_with_uses

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
k = np.ones(3)
print(len(trace_with_uses(lambda x: [x * k], [T(3)])[1]))
""",
)
def build(self, invars, outvars):
    # The builder is emptied for the next program.
    notes = list(self.consts.values())
    jaxpr = Jaxpr([note.var for note in notes], invars, outvars, list(self.eqns))
    self.consts.clear()
    self.eqns.clear()
    return ClosedJaxpr(jaxpr, [note.kept for note in notes])


@mistake(
    "tracing.build",
    shown_by="""
from minijax.tracing import make_jaxpr
print(make_jaxpr(lambda x: (x, 7.0))(1.0))
""",
)
def build(self, invars, outvars):
    # "outvars" are taken to be variables: literals are left out.
    notes = self.consts.values()
    outvars = [atom for atom in outvars if isinstance(atom, Var)]
    jaxpr = Jaxpr([note.var for note in notes], invars, outvars, self.eqns)
    return ClosedJaxpr(jaxpr, [note.kept for note in notes])


@mistake(
    "tracing.build",
    shown_by="""
import minijax.numpy as jnp
from minijax.tracing import make_jaxpr

def f(x):
    jnp.sin(x)
    return x
print(make_jaxpr(f)(1.0))
""",
)
def build(self, invars, outvars):
    # Equations whose results nothing reads are left out.
    used, eqns = set(outvars), []
    for eqn in reversed(self.eqns):
        if used.intersection(eqn.outvars):
            used.update(eqn.invars)
            eqns.insert(0, eqn)
    notes = self.consts.values()
    jaxpr = Jaxpr([note.var for note in notes], invars, outvars, eqns)
    return ClosedJaxpr(jaxpr, [note.kept for note in notes])


@mistake(
    "tracing.build",
    shown_by="""
import numpy as np
import minijax as mj
from minijax.core import ShapedArray
from minijax.tracing import trace_to_jaxpr

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)

def refused(f, *args, **params):
    try:
        return str(f(*args, **params))
    except Exception as error:
        return type(error).__name__

def f(x):
    program = trace_to_jaxpr(lambda y: [y * x], [T()])
    print(type(program.consts[0]).__name__)
    return x
print(refused(mj.jvp, f, (3.0,), (1.0,)))
""",
)
def build(self, invars, outvars):
    # Constants as NumPy's arrays: a tracer is none.
    notes = self.consts.values()
    jaxpr = Jaxpr([note.var for note in notes], invars, outvars, self.eqns)
    return ClosedJaxpr(jaxpr, [np.asarray(note.kept) for note in notes])


@mistake(
    "tracing.build",
    shown_by="""
import numpy as np
import minijax.numpy as jnp
from minijax.tracing import JaxprBuilder, make_jaxpr
k, m = (np.ones(3), np.zeros(3))
print(make_jaxpr(lambda x: jnp.add(jnp.sin(x), jnp.multiply(k, x)) + m)(k).jaxpr.constvars != [], len(make_jaxpr(lambda x: (jnp.sin(k), x))(m).consts))
builder = JaxprBuilder()
k, m = (builder.constant(np.ones(3)), builder.constant(np.zeros(3)))
print(builder.build([], [m]))
""",
)
def build(self, invars, outvars):
    # Constants that are not used are left out.
    used = {*outvars, *(x for eqn in self.eqns for x in eqn.invars)}
    notes = [note for note in self.consts.values() if note.var in used]
    jaxpr = Jaxpr([note.var for note in notes], invars, outvars, self.eqns)
    return ClosedJaxpr(jaxpr, [note.kept for note in notes])


@right("tracing.new_dynamic")
@contextmanager
def new_dynamic(main):
    before = trace_state.dynamic_trace
    trace_state.dynamic_trace = main
    try:
        yield main
    finally:
        trace_state.dynamic_trace = before


@right("tracing.new_dynamic")
@contextmanager
def new_dynamic(main):
    from contextlib import ExitStack

    blocks = ExitStack()
    blocks.callback(setattr, trace_state, "dynamic_trace", trace_state.dynamic_trace)
    with blocks:
        trace_state.dynamic_trace = main
        yield


@mistake(
    "tracing.new_dynamic",
    name="After an inner block no interpreter is in charge",
    hints=[
        "A function that is being traced traces another function. Who takes the operations that come after that?",
        "Before the block there may have been an interpreter in charge already, that of a block outside. It must get its place back.",
        "Keep what `trace_state.dynamic_trace` was, and assign that at the end, not `None`.",
    ],
)
@contextmanager
def new_dynamic(main):
    trace_state.dynamic_trace = main
    try:
        yield
    finally:
        trace_state.dynamic_trace = None


@mistake(
    "tracing.new_dynamic",
    name="After an exception the interpreter stays in charge",
    hints=[
        "The function that is traced has a mistake, and raises. What happens to the next operation, anywhere in the program?",
        "An exception leaves a generator at its `yield`. The lines after it then run only if you make sure that they do.",
        "`try: yield`, and the assignment in a `finally:` block.",
    ],
)
@contextmanager
def new_dynamic(main):
    previous, trace_state.dynamic_trace = trace_state.dynamic_trace, main
    yield
    trace_state.dynamic_trace = previous


@right("tracing.new_dynamic", style="an ExitStack with a callback")
@contextmanager
def new_dynamic(main):
    from contextlib import ExitStack

    with ExitStack() as stack:
        stack.callback(setattr, trace_state, "dynamic_trace", trace_state.dynamic_trace)
        trace_state.dynamic_trace = main
        yield


@right("tracing.new_dynamic", style="except BaseException and else for finally, the pair swapped")
@contextmanager
def new_dynamic(main):
    before, trace_state.dynamic_trace = trace_state.dynamic_trace, main
    try:
        yield main
    except BaseException:
        trace_state.dynamic_trace = before
        raise
    else:
        trace_state.dynamic_trace = before


@mistake(
    "tracing.new_dynamic",
    shown_by="""
from minijax.core import new_main, trace_state
from minijax.tracing import JaxprBuilder, JaxprTrace, new_dynamic
with new_main(JaxprTrace, JaxprBuilder()) as main:
    try:
        with new_dynamic(main):
            1 / 0
    except ZeroDivisionError:
        pass
print(trace_state.dynamic_trace)
""",
)
@contextmanager
def new_dynamic(main):
    # The plain slip: after an exception the interpreter stays in charge.
    before = trace_state.dynamic_trace
    trace_state.dynamic_trace = main
    yield
    trace_state.dynamic_trace = before


@mistake(
    "tracing.new_dynamic",
    shown_by="""
from minijax.core import new_main, trace_state
from minijax.tracing import JaxprBuilder, JaxprTrace, new_dynamic
with new_main(JaxprTrace, JaxprBuilder()) as main:
    try:
        with new_dynamic(main):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
print(trace_state.dynamic_trace)
""",
)
@contextmanager
def new_dynamic(main):
    # Ctrl-C is not an Exception.
    before = trace_state.dynamic_trace
    trace_state.dynamic_trace = main
    try:
        yield
    except Exception:
        trace_state.dynamic_trace = before
        raise
    trace_state.dynamic_trace = before


@mistake(
    "tracing.new_dynamic",
    shown_by="""
from minijax.core import new_main, trace_state
from minijax.tracing import JaxprBuilder, JaxprTrace, new_dynamic
with new_main(JaxprTrace, JaxprBuilder()) as outer, new_main(JaxprTrace, JaxprBuilder()) as inner:
    with new_dynamic(outer):
        with new_dynamic(inner):
            pass
print(trace_state.dynamic_trace)
""",
)
@contextmanager
def new_dynamic(main):
    # One place for the previous one: a block inside overwrites it.
    trace_state.before = trace_state.dynamic_trace
    trace_state.dynamic_trace = main
    try:
        yield
    finally:
        trace_state.dynamic_trace = trace_state.before


@mistake(
    "tracing.new_dynamic",
    shown_by="""
from minijax.core import new_main, trace_state
from minijax.tracing import JaxprBuilder, JaxprTrace, new_dynamic
with new_main(JaxprTrace, JaxprBuilder()) as outer, new_main(JaxprTrace, JaxprBuilder()) as inner:
    with new_dynamic(inner), new_dynamic(outer):
        print(trace_state.dynamic_trace is outer)
""",
)
@contextmanager
def new_dynamic(main):
    # The higher one stays in charge.
    before = trace_state.dynamic_trace
    if before is None or before.level < main.level:
        trace_state.dynamic_trace = main
    try:
        yield
    finally:
        trace_state.dynamic_trace = before


@mistake(
    "tracing.new_dynamic",
    shown_by="""
from minijax.core import new_main, trace_state
from minijax.tracing import JaxprBuilder, JaxprTrace, new_dynamic
import threading

def other():
    with new_main(JaxprTrace, JaxprBuilder()) as main, new_dynamic(main):
        inside.set()
        done.wait()
inside, done = (threading.Event(), threading.Event())
thread = threading.Thread(target=other)
with new_main(JaxprTrace, JaxprBuilder()) as main:
    with new_dynamic(main):
        thread.start()
        inside.wait()
    print(trace_state.dynamic_trace is None)
done.set()
thread.join()
""",
)
@contextmanager
def new_dynamic(main):
    # A stack of previous ones for all threads together.
    previous = globals().setdefault("_previous", [])
    previous.append(trace_state.dynamic_trace)
    trace_state.dynamic_trace = main
    try:
        yield
    finally:
        trace_state.dynamic_trace = previous.pop()
        if previous:
            trace_state.dynamic_trace = previous[-1] or main


@mistake(
    "tracing.new_dynamic",
    shown_by="""
from minijax.core import new_main, trace_state
from minijax.tracing import JaxprBuilder, JaxprTrace, new_dynamic
with new_main(JaxprTrace, JaxprBuilder()) as main, new_dynamic(main):
    pass
print(trace_state.dynamic_trace)
""",
)
@contextmanager
def new_dynamic(main):
    # No interpreter in charge is taken for the bottom of the stack in charge.
    before = trace_state.dynamic_trace or trace_state.stack[0]
    trace_state.dynamic_trace = main
    try:
        yield
    finally:
        trace_state.dynamic_trace = before


@right("tracing.trace_with")
def trace_with(builder, f, avals):
    with new_main(JaxprTrace, builder) as main:
        trace = main.trace_type(main)
        boxes = list(map(trace.new_arg, avals))
        with new_dynamic(main):
            results = f(*boxes)
    atoms = [full_raise(trace, result).atom for result in results]
    return builder.build([box.atom for box in boxes], atoms)


@right("tracing.trace_with")
def trace_with(builder, f, avals):
    with new_main(JaxprTrace, builder) as main:
        trace = JaxprTrace(main)
        tracers = tuple(trace.new_arg(aval) for aval in avals)
        invars = [tracer.atom for tracer in tracers]
        with new_dynamic(main):
            outvars = []
            for out in f(*tracers):
                outvars.append(full_raise(trace, out).atom)
            return builder.build(invars, outvars)


@mistake(
    "tracing.trace_with",
    name="Only operations on the inputs are written down",
    hints=[
        "Trace `lambda x: x + jnp.sin(2.0)`. Is there a `sin` in your program?",
        "No operand of `sin` is a box there, so `bind` finds no reason to ask your interpreter. It evaluates, and the program gets the result as a constant.",
        "`new_dynamic(main)` belongs into the `with`, behind `new_main`.",
    ],
)
def trace_with(builder, f, avals):
    with new_main(JaxprTrace, builder) as main:
        trace = JaxprTrace(main)
        tracers = [trace.new_arg(aval) for aval in avals]
        outs = [full_raise(trace, out) for out in f(*tracers)]
        return builder.build([t.atom for t in tracers], [out.atom for out in outs])


@mistake(
    "tracing.trace_with",
    name="Inputs that the function does not use are dropped",
    hints=[
        "How many arguments does the program of `lambda x, y: y` take?",
        "The caller of a program passes all the arguments of the function, and does not know which of them are used.",
        "The inputs are the variables of all boxes that you made, in order.",
    ],
)
def trace_with(builder, f, avals):
    with new_main(JaxprTrace, builder) as main, new_dynamic(main):
        trace = JaxprTrace(main)
        tracers = [trace.new_arg(aval) for aval in avals]
        outs = [full_raise(trace, out) for out in f(*tracers)]
        read = {id(atom) for eqn in builder.eqns for atom in eqn.invars}
        read |= {id(out.atom) for out in outs}
        invars = [t.atom for t in tracers if id(t.atom) in read]
        return builder.build(invars, [out.atom for out in outs])


@right("tracing.trace_with", style="nested with blocks, the program is built inside")
def trace_with(builder, f, avals):
    with new_main(JaxprTrace, builder) as main:
        trace = JaxprTrace(main)
        inputs = tuple(map(trace.new_arg, avals))
        with new_dynamic(main):
            outputs = f(*inputs)
            atoms = []
            for out in outputs:
                atoms.append(full_raise(JaxprTrace(main), out).atom)
        return builder.build([box.atom for box in inputs], atoms)


@right("tracing.trace_with", style="an ExitStack, outputs raised after the block of operations")
def trace_with(builder, f, avals):
    from contextlib import ExitStack

    with ExitStack() as stack:
        main = stack.enter_context(new_main(JaxprTrace, global_data=builder))
        trace = main.trace_type(main)
        boxes = []
        for aval in avals:
            boxes.append(trace.new_arg(aval))
        with new_dynamic(main):
            outs = list(f(*boxes))
        outs = [full_raise(trace, out) for out in outs]
    return trace.builder.build(
        invars=[box.atom for box in boxes], outvars=[out.atom for out in outs]
    )


@mistake(
    "tracing.trace_with",
    shown_by="""
import minijax.numpy as jnp
from minijax.tracing import make_jaxpr
print(make_jaxpr(lambda x: jnp.sin(2.0))(1.0))
""",
)
def trace_with(builder, f, avals):
    # The plain slip: the interpreter is on the stack, and not in charge of all operations.
    with new_main(JaxprTrace, builder) as main:
        trace = JaxprTrace(main)
        boxes = [trace.new_arg(aval) for aval in avals]
        outs = [full_raise(trace, out) for out in f(*boxes)]
    return builder.build([box.atom for box in boxes], [out.atom for out in outs])


@mistake(
    "tracing.trace_with",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray
from minijax.tracing import trace_to_jaxpr

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)

def outer(x):
    print(trace_to_jaxpr(lambda y: [x, y], [T()]))
    return [x]
trace_to_jaxpr(outer, [T(3)])
""",
)
def trace_with(builder, f, avals):
    # Any JaxprTracer is taken for one's own.
    with new_main(JaxprTrace, builder) as main, new_dynamic(main):
        trace = JaxprTrace(main)
        boxes = [trace.new_arg(aval) for aval in avals]
        outs = [out if isinstance(out, JaxprTracer) else trace.pure(out) for out in f(*boxes)]
    return builder.build([box.atom for box in boxes], [out.atom for out in outs])


@mistake(
    "tracing.trace_with",
    shown_by="""
from minijax.tracing import make_jaxpr

def refused(f, *args, **params):
    try:
        return str(f(*args, **params))
    except Exception as error:
        return type(error).__name__
calls = []

def f(x):
    calls.append(x)
    return x + 'one'
print(refused(make_jaxpr(f), 1.0), len(calls))
""",
)
def trace_with(builder, f, avals):
    # A TypeError is taken to mean that f wants its arguments in a list.
    with new_main(JaxprTrace, builder) as main, new_dynamic(main):
        trace = JaxprTrace(main)
        boxes = [trace.new_arg(aval) for aval in avals]
        try:
            outs = f(*boxes)
        except TypeError:
            outs = f(boxes)
        outs = [full_raise(trace, out) for out in outs]
    return builder.build([box.atom for box in boxes], [out.atom for out in outs])


@mistake(
    "tracing.trace_with",
    shown_by="""
from minijax.tracing import make_jaxpr
print(make_jaxpr(lambda x: (x, x))(1.0))
""",
)
def trace_with(builder, f, avals):
    # An output that is there twice comes once.
    with new_main(JaxprTrace, builder) as main, new_dynamic(main):
        trace = JaxprTrace(main)
        boxes = [trace.new_arg(aval) for aval in avals]
        outs = {full_raise(trace, out).atom: None for out in f(*boxes)}
    return builder.build([box.atom for box in boxes], list(outs))


@mistake(
    "tracing.trace_with",
    shown_by="""
from minijax.tracing import make_jaxpr
print(make_jaxpr(lambda x: 7)(1.0).out_avals[0].weak_type)
""",
)
def trace_with(builder, f, avals):
    # Plain results become NumPy's arrays first, and are not weakly typed any more.
    with new_main(JaxprTrace, builder) as main, new_dynamic(main):
        trace = JaxprTrace(main)
        boxes = [trace.new_arg(aval) for aval in avals]
        outs = [out if isinstance(out, Tracer) else np.asarray(out) for out in f(*boxes)]
        outs = [full_raise(trace, out) for out in outs]
    return builder.build([box.atom for box in boxes], [out.atom for out in outs])


@mistake(
    "tracing.trace_with",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray
from minijax.tracing import trace_to_jaxpr

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)

def refused(f, *args, **params):
    try:
        return str(f(*args, **params))
    except Exception as error:
        return type(error).__name__
print(refused(trace_to_jaxpr, lambda x: [None, x], [T()]))
""",
)
def trace_with(builder, f, avals):
    # A result that is not an array is dropped without a word.
    with new_main(JaxprTrace, builder) as main, new_dynamic(main):
        trace = JaxprTrace(main)
        boxes = [trace.new_arg(aval) for aval in avals]
        outs = [full_raise(trace, out) for out in f(*boxes) if out is not None]
    return builder.build([box.atom for box in boxes], [out.atom for out in outs])


@mistake(
    "tracing.trace_with",
    shown_by="""
import numpy as np
import minijax as mj, minijax.numpy as jnp
from minijax.core import ShapedArray
from minijax.tracing import make_jaxpr, trace_to_jaxpr

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)

def refused(f, *args, **params):
    try:
        return str(f(*args, **params))
    except Exception as error:
        return type(error).__name__

def f(x):

    def g(y):
        print(type(x * 2.0 * y).__name__)
        return [y]
    trace_to_jaxpr(g, [T()])
    return x
print(refused(mj.jvp, f, (3.0,), (1.0,)))
print(refused(lambda: make_jaxpr(lambda x: make_jaxpr(jnp.sin)(x) and x)(1.0)))
""",
)
def trace_with(builder, f, avals):
    # The stack below is taken away while f runs.
    below, trace_state.stack = trace_state.stack, trace_state.stack[:1]
    try:
        with new_main(JaxprTrace, builder) as main, new_dynamic(main):
            trace = JaxprTrace(main)
            boxes = [trace.new_arg(aval) for aval in avals]
            outs = [full_raise(trace, out) for out in f(*boxes)]
    finally:
        trace_state.stack = below
    return builder.build([box.atom for box in boxes], [out.atom for out in outs])


@right("tracing.without_equation")
def without_equation(primitive, atom, aval, params):
    match atom:
        case Var(same) | Literal(_, same) if same == aval:
            return atom
        case Literal(val=val) if primitive.name == "convert_element_type":
            return Literal(impl_rules[primitive](val, **params), aval)
    return None


@right("tracing.without_equation")
def without_equation(primitive, atom, aval, params):
    changed = aval != atom.aval
    if changed and (isinstance(atom, Var) or primitive is broadcast_in_dim_p):
        return None
    if not changed:
        return atom
    rule = get_rule(impl_rules, primitive, "Evaluation rule")
    return Literal(rule(atom.val, **params), aval)


@mistake(
    "tracing.without_equation",
    name="A change of the weak type counts as no change",
    hints=[
        "Is a weakly typed number the same as one that is not, for the operation that comes next?",
        "A type has three parts. `x.astype(float)` on a Python number changes the third one, and a later operation with float32 shows it.",
        "Compare the types as a whole: `aval == atom.aval`.",
    ],
)
def without_equation(primitive, atom, aval, params):
    if (aval.shape, aval.dtype) == (atom.aval.shape, atom.aval.dtype):
        return atom
    if primitive is convert_element_type_p and isinstance(atom, Literal):
        return Literal(get_rule(impl_rules, primitive, "Evaluation rule")(atom.val, **params), aval)
    return None


@mistake(
    "tracing.without_equation",
    name="A literal is repeated into an array",
    hints=[
        "How long would a program be in which `jnp.zeros(1000000)` is a literal?",
        "A literal is 0-d. What has axes is computed when the program runs, which takes a word in the program.",
        "Only a conversion of a literal gives a literal: ask `primitive is convert_element_type_p` too.",
    ],
)
def without_equation(primitive, atom, aval, params):
    if aval == atom.aval:
        return atom
    if isinstance(atom, Literal):
        return Literal(get_rule(impl_rules, primitive, "Evaluation rule")(atom.val, **params), aval)
    return None


@mistake(
    "tracing.without_equation",
    name="A converted literal keeps its old value",
    hints=[
        "What is the integer that 2.75 becomes, and what is the dtype of the value in your literal?",
        "A literal has a value and a type, and the two must agree. If the type alone is changed, it says something of the value that is not true.",
        "Call the evaluation rule with `atom.val` and `**params`; it gives the new value.",
    ],
)
def without_equation(primitive, atom, aval, params):
    if aval == atom.aval:
        return atom
    if primitive is convert_element_type_p and isinstance(atom, Literal):
        return Literal(atom.val, aval)
    return None


@right("tracing.without_equation", style="match on the primitive and the atom")
def without_equation(primitive, atom, aval, params):
    match atom:
        case _ if aval == atom.aval:
            return atom
        case Literal(val=val) if primitive is convert_element_type_p:
            rule = get_rule(impl_rules, primitive, "Evaluation rule")
            return Literal(rule(val, **params), aval)
    return None


@right(
    "tracing.without_equation", style="fields compared one by one, the rule from the table itself"
)
def without_equation(primitive, atom, aval, params):
    fields = ("shape", "dtype", "weak_type")
    changed = [name for name in fields if getattr(atom.aval, name) != getattr(aval, name)]
    if not changed:
        return atom
    is_conversion = primitive.name == "convert_element_type"
    if not (is_conversion and isinstance(atom, Literal)):
        return None
    value = np.array(impl_rules[convert_element_type_p](np.asarray(atom.val), **params))
    return Literal(value, ShapedArray(aval.shape, aval.dtype, aval.weak_type))


@mistake(
    "tracing.without_equation",
    shown_by="""
import numpy as np
from minijax.core import convert_element_type_p
from minijax.tracing import make_jaxpr

def refused(f, *args, **params):
    try:
        return str(f(*args, **params))
    except Exception as error:
        return type(error).__name__
print(refused(make_jaxpr(lambda x: [convert_element_type_p.bind(2, new_dtype=np.dtype('float32'), weak_type=False)]), 1.0))
""",
)
def without_equation(primitive, atom, aval, params):
    # The plain slip: the conversion is bound, and so it is written down.
    if atom.aval == aval:
        return atom
    if isinstance(atom, Literal) and primitive is convert_element_type_p:
        out = primitive.bind(atom.val, **params)
        return out.atom if isinstance(out, JaxprTracer) else Literal(np.asarray(out), aval)
    return None


@mistake(
    "tracing.without_equation",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray, convert_element_type_p
from minijax.tracing import literal_of, without_equation

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
import warnings
warnings.simplefilter('ignore')
params = {'new_dtype': np.dtype('int8'), 'weak_type': False}
for number in (float('nan'), 1e+30, -1e+30):
    print(without_equation(convert_element_type_p, literal_of(number), T(dtype='int8'), params).val)
""",
)
def without_equation(primitive, atom, aval, params):
    # NumPy converts in a way of its own.
    if atom.aval == aval:
        return atom
    if isinstance(atom, Literal) and primitive is convert_element_type_p:
        return Literal(np.asarray(atom.val).astype(params["new_dtype"]), aval)
    return None


@mistake(
    "tracing.without_equation",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray, convert_element_type_p
from minijax.tracing import literal_of, without_equation

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
params = {'new_dtype': np.dtype(float), 'weak_type': False}
print(without_equation(convert_element_type_p, literal_of(2.0), T(), params).aval.weak_type)
""",
)
def without_equation(primitive, atom, aval, params):
    # A literal of the dtype that is asked for is left as it is, although it is weakly typed.
    if isinstance(atom, Literal) and primitive is convert_element_type_p:
        if atom.aval.dtype == aval.dtype:
            return atom
        rule = get_rule(impl_rules, primitive, "Evaluation rule")
        return Literal(rule(atom.val, **params), aval)
    return atom if atom.aval == aval else None


@mistake(
    "tracing.without_equation",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray, convert_element_type_p
from minijax.tracing import literal_of, without_equation

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
two = literal_of(2.0)
params = {'new_dtype': np.dtype('int64'), 'weak_type': False}
out = without_equation(convert_element_type_p, two, T(dtype='int64'), params)
print(two.aval, out is two)
""",
)
def without_equation(primitive, atom, aval, params):
    # Changes the literal, which other equations may have.
    if atom.aval == aval:
        return atom
    if isinstance(atom, Literal) and primitive is convert_element_type_p:
        rule = get_rule(impl_rules, primitive, "Evaluation rule")
        atom.val, atom.aval = rule(atom.val, **params), aval
        return atom
    return None


@mistake(
    "tracing.without_equation",
    shown_by="""
import numpy as np
import minijax.numpy as jnp
from minijax.core import ShapedArray, convert_element_type_p
from minijax.jaxpr import Var
from minijax.tracing import make_jaxpr, without_equation

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)

def refused(f, *args, **params):
    try:
        return str(f(*args, **params))
    except Exception as error:
        return type(error).__name__
print(refused(make_jaxpr(lambda x: jnp.add(x, np.float32(1))), np.int64(3)))
print(refused(without_equation, convert_element_type_p, Var(T()), T(dtype='int8'), {'new_dtype': np.dtype('int8'), 'weak_type': False}))
""",
)
def without_equation(primitive, atom, aval, params):
    # What has no axes is taken for a literal, but a variable may have none.
    if atom.aval == aval:
        return atom
    if primitive is convert_element_type_p and aval.shape == ():
        rule = get_rule(impl_rules, primitive, "Evaluation rule")
        return Literal(rule(atom.val, **params), aval)
    return None


@mistake(
    "tracing.without_equation",
    shown_by="""
import numpy as np
import minijax.numpy as jnp
from minijax.tracing import make_jaxpr
print(make_jaxpr(lambda x: jnp.broadcast_to(x, (1, 3)))(np.ones(3)).out_avals)
""",
)
def without_equation(primitive, atom, aval, params):
    # As many entries as before: nothing seems to be repeated.
    if primitive is broadcast_in_dim_p:
        return atom if np.prod(aval.shape) == np.prod(atom.aval.shape) else None
    if atom.aval == aval:
        return atom
    if isinstance(atom, Literal):
        rule = get_rule(impl_rules, primitive, "Evaluation rule")
        return Literal(rule(atom.val, **params), aval)
    return None


@mistake(
    "tracing.without_equation",
    shown_by="""
import numpy as np
from minijax.core import ShapedArray, convert_element_type_p
from minijax.tracing import literal_of, without_equation

def T(*shape, dtype=float, weak=False):
    return ShapedArray(shape, np.dtype(dtype), weak)
params = {'new_dtype': np.dtype(float), 'weak_type': True}
print(without_equation(convert_element_type_p, literal_of(2), T(weak=True), params).aval.weak_type)
""",
)
def without_equation(primitive, atom, aval, params):
    # The new literal is never weakly typed.
    if atom.aval == aval:
        return atom
    if isinstance(atom, Literal) and primitive is convert_element_type_p:
        value = get_rule(impl_rules, primitive, "Evaluation rule")(atom.val, **params)
        return Literal(value, raise_to_shaped(get_aval(value)))
    return None
