"""Answers to the exercises of the `tracing` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("tracing.constant")


@right
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


@right(style="setdefault, the copy by a table of classes")
def constant(self, val):
    if literal := literal_of(val):
        return literal
    copies = {True: lambda x: x.copy(), False: lambda x: x}
    if self.consts.get(id(val)) is None:
        keep = copies[isinstance(val, np.ndarray)](val)
        self.consts |= {id(val): Constant(Var(raise_to_shaped(get_aval(val))), val, keep)}
    return self.consts[id(val)].var


@right(style="searches the notes one by one, by `is`")
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


mistake(
    {
        "if id(val) not in self.consts:": "for const in self.consts.values() if isinstance(val, np.ndarray) else ():\n    same = isinstance(const.value, np.ndarray) and val.dtype == const.value.dtype\n    if same and np.array_equal(val, const.value):\n        return const.var\nif id(val) not in self.consts:"
    },
    name="Equal arrays are treated as one",
    hints=[
        "A program uses two arrays which happen to hold the same numbers. How would you find out that they are equal, if each takes a gigabyte? And if they are tracers?",
        "Constants are told apart by identity: the same object is the same constant. That needs no look at a value.",
        "`id(val)` is the key in `self.consts`. Do not compare entries.",
    ],
)
mistake(
    {
        "kept = np.array(val) if isinstance(val, np.ndarray) else val": "self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), val, val)",
        "self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), val, kept)": "",
    },
    name="The program keeps the user's own array",
    hints=[
        "Trace a function that uses an array, write into the array, then run the program. Which numbers should it use?",
        "A NumPy array can be changed by any code that holds it. A program must mean the same tomorrow.",
        "The third field of `Constant` is `np.array(val)`, a copy, if `val` is a NumPy array.",
    ],
)
mistake(
    {"val, kept": "kept, kept"},
    name="The object with that id is not kept alive",
    hints=[
        "What does Python do with the memory of an object that no name refers to any more, and what becomes of its `id`?",
        "An `id` is an address. When the object is gone, the next one may lie there, and is then mistaken for the old one: the program gets the wrong array.",
        "The second field of `Constant` is `val` itself, not the copy. As long as it is kept there, no other object has its `id`.",
    ],
)
# The variable of an array is the same one in all programs.
mistake(
    {
        "val: Value": "val: Value, known={}",
        ", val, kept)": ", val, kept)\nself.consts[id(val)] = known.setdefault(id(val), self.consts[id(val)])",
    },
    fails="test_constant_in_two_programs",
)
# A tracer's type is taken as it is, and may hold a value.
mistake(
    {"Var(raise": "Var(get_aval(val) if isinstance(val, Tracer) else raise"},
    fails="test_constant_tracers",
)
# Exact class: arrays of a subclass are not copied.
mistake({"isinstance(val, np.ndarray)": "type(val) is np.ndarray"}, fails="test_constant_is_a_copy")
# An array without axes keeps its first literal.
mistake(
    {
        "val: Value": "val: Value, known={}",
        "return literal": "return known.setdefault(id(val), (val, literal))[1]",
    },
    fails="test_constant_is_a_copy",
)
# Objects with the same memory are one.
mistake(
    {
        "if id(val) not in self.consts:": "for const in self.consts.values():\n    if isinstance(val, np.ndarray) and isinstance(const.value, np.ndarray) and np.shares_memory(val, const.value):\n        return const.var\nif id(val) not in self.consts:"
    },
    fails="test_constant_equal_arrays",
)
# An array with one element becomes a literal.
mistake(
    {
        "literal_of(val)": "literal_of(val.reshape(()) if isinstance(val, np.ndarray) and val.size == 1 else val)"
    },
    fails="test_constant_arrays",
)
# A complex number loses half of itself.
mistake(
    {"literal_of(val)": "literal_of(val.real if isinstance(val, complex) else val)"},
    fails="test_constant_other_arrays",
)
# A tracer whose box adds nothing counts as what is in it.
mistake(
    {
        "literal = literal_of(val)": "val = val.full_lower() if isinstance(val, Tracer) else val\nliteral = literal_of(val)"
    },
    fails="test_constant_other_arrays",
)
# A copy of an array of our own has no weak type.
mistake(
    {"isinstance(val, np.ndarray)": 'hasattr(val, "nbytes") and not isinstance(val, Tracer)'},
    fails="test_constant_arrays",
)
# A large array is not copied.
mistake(
    {"isinstance(val, np.ndarray)": "isinstance(val, np.ndarray) and val.nbytes < 4096"},
    fails="test_constant_is_a_copy",
)
# The literal of a number is used again for one that is equal.
mistake(
    {
        "val: Value": "val, known={}",
        "literal_of(val)": "known.setdefault(val, literal_of(val)) if isinstance(val, (int, float)) else literal_of(val)",
    },
    fails="test_constant_numbers",
)


exercise("tracing.trace_with")


@right
def trace_with(builder, f, avals):
    with new_main(JaxprTrace, builder) as main:
        trace = main.trace_type(main)
        boxes = list(map(trace.new_arg, avals))
        before = trace_state.dynamic_trace
        trace_state.dynamic_trace = main
        try:
            results = f(*boxes)
        finally:
            trace_state.dynamic_trace = before
    atoms = [full_raise(trace, result).atom for result in results]
    return builder.build([box.atom for box in boxes], atoms)


@right(style="a with block of its own, the program is built inside")
def trace_with(builder, f, avals):
    from contextlib import contextmanager

    @contextmanager
    def in_charge(main):
        previous, trace_state.dynamic_trace = trace_state.dynamic_trace, main
        try:
            yield
        finally:
            trace_state.dynamic_trace = previous

    with new_main(JaxprTrace, builder) as main, in_charge(main):
        trace = JaxprTrace(main)
        tracers = tuple(trace.new_arg(aval) for aval in avals)
        outvars = []
        for out in f(*tracers):
            outvars.append(full_raise(trace, out).atom)
        return builder.build([tracer.atom for tracer in tracers], outvars)


@right(style="an ExitStack puts the hook back")
def trace_with(builder, f, avals):
    from contextlib import ExitStack

    with ExitStack() as stack:
        main = stack.enter_context(new_main(JaxprTrace, global_data=builder))
        stack.callback(setattr, trace_state, "dynamic_trace", trace_state.dynamic_trace)
        trace_state.dynamic_trace = main
        trace = main.trace_type(main)
        boxes = []
        for aval in avals:
            boxes.append(trace.new_arg(aval))
        outs = [full_raise(JaxprTrace(main), out) for out in list(f(*boxes))]
    return trace.builder.build(
        invars=[box.atom for box in boxes], outvars=[out.atom for out in outs]
    )


mistake(
    {
        "previous, trace_state.dynamic_trace = trace_state.dynamic_trace, main": "previous = trace_state.dynamic_trace"
    },
    name="Only operations on the inputs are written down",
    hints=[
        "Trace `lambda x: x + jnp.sin(2.0)`. Is there a `sin` in your program?",
        "No operand of `sin` is a box there, so `bind` finds no reason to ask your interpreter. It evaluates, and the program gets the result as a constant.",
        "While `f` runs, `trace_state.dynamic_trace` is the `MainTrace` of your interpreter.",
    ],
)
mistake(
    {
        "invars: list[Any] = [t.atom for t in tracers]": "read = {id(atom) for eqn in builder.eqns for atom in eqn.invars}\nread |= {id(out.atom) for out in outs}\ninvars = [t.atom for t in tracers if id(t.atom) in read]"
    },
    name="Inputs that the function does not use are dropped",
    hints=[
        "How many arguments does the program of `lambda x, y: y` take?",
        "The caller of a program passes all the arguments of the function, and does not know which of them are used.",
        "The inputs are the variables of all boxes that you made, in order.",
    ],
)
# An exception leaves the interpreter in charge.
mistake({"try:": "if True:", "finally:": "if True:"}, fails="test_trace_afterwards")
# An input keeps the value that its type may have.
mistake(
    {"trace.new_arg(aval)": "JaxprTracer(trace, Var(aval))"}, fails="test_trace_evaluates_nothing"
)
# A result that is not an array is dropped without a word.
mistake({"in f(*tracers)": "in f(*tracers) if out is not None"}, fails="test_trace_errors")
# The program is recorded into another builder.
mistake({"with new": "builder = JaxprBuilder()\nwith new"}, fails="test_trace_operations")
# A result that is a whole number becomes a float.
mistake(
    {"full_raise(trace, out)": "full_raise(trace, float(out) if isinstance(out, int) else out)"},
    fails="test_trace_plain_outputs",
)
# A builder begins anew.
mistake({"with new": "builder.consts.clear()\nwith new"}, fails="test_trace_operations")
# Nothing is recorded for a function without results.
mistake(
    {"invars: list": "if not outs:\n    builder.eqns.clear()\ninvars: list"},
    fails="test_trace_no_inputs",
)
# An array of our own without axes becomes a literal.
mistake(
    {
        "full_raise(trace, out)": "full_raise(trace, np.asarray(out) if hasattr(out, 'weak_type') and not isinstance(out, Tracer) else out)"
    },
    fails="test_trace_plain_outputs",
)
# Whatever NumPy can convert is a result.
mistake(
    {
        "full_raise(trace, out)": "full_raise(trace, getattr(out, '__array__', lambda: out)() if not hasattr(out, 'shape') else out)"
    },
    fails="test_trace_errors",
)
# A box belongs to all programs of its builder.
mistake(
    {
        "full_raise(trace, out)": "out if isinstance(out, JaxprTracer) and out._trace.main.global_data is builder else full_raise(trace, out)"
    },
    fails="test_trace_escaped",
)
# The interpreter in charge before is guessed from the stack.
mistake(
    {
        "trace_state.dynamic_trace = previous": "below = [m for m in trace_state.stack[:-1] if m.trace_type is JaxprTrace]\ntrace_state.dynamic_trace = below[-1] if below else None"
    },
    fails="test_trace_afterwards",
)
# A StopIteration of the function is taken for the end of its results.
mistake(
    {
        "outs = [full_raise(trace, out) for out in f(*tracers)]": "outs = [full_raise(trace, out) for outs in map(f, *([t] for t in tracers)) for out in outs] if tracers else [full_raise(trace, out) for out in f()]"
    },
    fails="test_trace_afterwards",
)
# A float of NumPy counts as a Python number, since its class is one of them.
mistake(
    {"full_raise(trace, out)": "full_raise(trace, float(out) if isinstance(out, float) else out)"},
    fails="test_trace_plain_outputs",
)
# What has no atom is not an array; but the function may have that error, too.
mistake(
    {
        "finally:": "except AttributeError as error:\n    raise TypeError(*error.args) from error\nfinally:"
    },
    fails="test_trace_afterwards",
)
