"""Answers to the exercises of the lesson tracing: right ones, and known mistakes.

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
        "Whoever runs the program later knows of the operation what its equation says, and no more.",
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
        "A variable is known by identity. Two `Var`s of one type are two variables, and one of them is bound by no equation.",
        "Make the list of variables once; put it into the equation, and box the variables of this same list.",
    ],
)
def record(self, primitive, tracers, params):
    avals = abstract_eval(primitive, [t.aval for t in tracers], params)
    outvars = [Var(aval) for aval in avals]
    self.builder.eqns.append(JaxprEqn([t.atom for t in tracers], outvars, primitive, params))
    return [JaxprTracer(self, Var(aval)) for aval in avals]


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
        "Differentiate a function that traces another one, which uses the argument. Where does the derivative go?",
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
        "NumPy arrays can be changed by whoever holds them. A program must mean the same tomorrow.",
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
        "What does Python do with the memory of an object that nobody holds any more, and what becomes of its `id`?",
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
    name="After an inner block nobody is in charge",
    hints=[
        "A function that is being traced traces another one. Who takes the operations that come after that?",
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
        "An exception leaves a generator at its `yield`. What stands behind it then runs only if somebody sees to that.",
        "`try: yield`, and the assignment in a `finally:` block.",
    ],
)
@contextmanager
def new_dynamic(main):
    previous, trace_state.dynamic_trace = trace_state.dynamic_trace, main
    yield
    trace_state.dynamic_trace = previous


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
        "Whoever calls the program gives it all the arguments of the function, and does not know which of them are used.",
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
