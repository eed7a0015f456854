"""Answers to the exercises of the lesson core: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("core.new_main")
@contextmanager
def new_main(trace_type, global_data=None):
    before = list(trace_state.stack)
    main = MainTrace(before[-1].level + 1, trace_type, global_data)
    trace_state.stack = [*before, main]
    try:
        yield main
    finally:
        trace_state.stack = before


@mistake(
    "core.new_main",
    name="The interpreter stays on the stack when the block fails",
    hints=[
        "What is left on the stack when the user's function raises an error? Try it: a `with` block that raises, and a look at `trace_state.stack` afterwards.",
        "An error in the block comes out of the generator at its `yield`. The lines below the `yield` do not run then.",
        "Put the `yield` in a `try:` and the pop in its `finally:`, which runs in every case.",
    ],
)
@contextmanager
def new_main(trace_type, global_data=None):
    main = MainTrace(len(trace_state.stack), trace_type, global_data)
    trace_state.stack.append(main)
    yield main
    trace_state.stack.pop()


@mistake(
    "core.new_main",
    name="The level is one too high",
    hints=[
        "Which level does the bottom of the stack have, and which one the first interpreter above it?",
        "A level is an index: in the block, `trace_state.stack[main.level] is main` must hold.",
        "The level is the length of the stack *before* the push; after the push the length is one more.",
    ],
)
@contextmanager
def new_main(trace_type, global_data=None):
    main = MainTrace(len(trace_state.stack) + 1, trace_type, global_data)
    trace_state.stack.append(main)
    try:
        yield main
    finally:
        trace_state.stack.pop()


@right("core.get_aval")
def get_aval(x):
    match x:
        case Tracer():
            return x.aval
        case np.generic():
            return ConcreteArray(np.shape(x), np.dtype(type(x)), False, np.asarray(x))
    maker = next((aval_makers[c] for c in type(x).__mro__ if c in aval_makers), None)
    if maker is None:
        raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")
    return maker(x)


@mistake(
    "core.get_aval",
    name="Python numbers are treated as arrays with a dtype of their own",
    hints=[
        "What is `get_aval(1.0).weak_type`, and what is `get_aval(np.array(1.0)).weak_type`?",
        "A Python number gives way to the dtype of the array that it meets. Its abstract value must say so, or `x * 2.0` turns a float32 array into float64.",
        "The table `aval_makers` has the right maker for each type: `scalar_aval` for Python's numbers, `numpy_aval` for NumPy's.",
    ],
)
def get_aval(x):
    if isinstance(x, Tracer):
        return x.aval
    if isinstance(x, (bool, int, float, np.generic)):
        return numpy_aval(np.asarray(x))
    for cls in type(x).__mro__:
        if cls in aval_makers:
            return aval_makers[cls](x)
    raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")


@mistake(
    "core.get_aval",
    name="NumPy's float64 is taken for a Python float",
    hints=[
        "What is `get_aval(np.float64(1.0)).weak_type`? Which classes does `np.float64` inherit from?",
        "Both `float` and `np.generic` are base classes of `np.float64`, and both are in the table. The docstring says which of them decides.",
        "Go through `type(x).__mro__` and take the first class that is in the table, not through the table with `isinstance`.",
    ],
)
def get_aval(x):
    if isinstance(x, Tracer):
        return x.aval
    for cls, maker in aval_makers.items():
        if isinstance(x, cls):
            return maker(x)
    raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")


@right("core.find_top_trace")
def find_top_trace(args):
    top = trace_state.stack[0]
    for arg in args:
        if isinstance(arg, Tracer) and main_of(arg).level >= top.level:
            top = arg._trace.main
    if trace_state.dynamic_trace and trace_state.dynamic_trace.level > top.level:
        top = trace_state.dynamic_trace
    return top.trace_type(top)


@mistake(
    "core.find_top_trace",
    name="The first tracer decides, not the highest",
    hints=[
        "Try the operands `(a, b)` and `(b, a)`, with tracers of different levels. Should the answer depend on the order?",
        "An interpreter can box tracers of lower levels, but not of higher ones. So which of several tracers has to decide?",
        "Take the maximum of `main_of(x)` over all tracers among the operands, by level: `max(..., key=lambda main: main.level)`.",
    ],
)
def find_top_trace(args):
    mains = [main_of(x) for x in args if isinstance(x, Tracer)]
    top = mains[0] if mains else trace_state.stack[0]
    dynamic = trace_state.dynamic_trace
    if dynamic is not None and dynamic.level > top.level:
        top = dynamic
    return top.trace_type(top)


@mistake(
    "core.find_top_trace",
    name="The newest interpreter takes every operation, whether concerned or not",
    hints=[
        "While two interpreters run, the user's function multiplies two plain numbers. Which of the two is concerned?",
        "The operands say which interpreter an operation concerns, not the height of the stack. Where no operand is a tracer, evaluation takes it.",
        "Start from the tracers among `args`, and use `trace_state.stack[0]` only where there are none. `trace_state.stack[-1]` is not needed.",
    ],
)
def find_top_trace(args):
    for x in args:
        if isinstance(x, Tracer):
            main_of(x)
    top = trace_state.stack[-1]
    dynamic = trace_state.dynamic_trace
    if dynamic is not None and dynamic.level > top.level:
        top = dynamic
    return top.trace_type(top)


@mistake(
    "core.find_top_trace",
    name="The dynamic trace is left out",
    hints=[
        "The docstring names one more interpreter that may take an operation. Which one?",
        "`trace_state.dynamic_trace` is `None` for now, so nothing seems to be missing. A later lesson sets it to a `MainTrace`.",
        "After the maximum: where `trace_state.dynamic_trace` is not `None` and its level is greater than that of the highest tracer, it takes the operation.",
    ],
)
def find_top_trace(args):
    mains = [main_of(x) for x in args if isinstance(x, Tracer)]
    top = max(mains, default=trace_state.stack[0], key=lambda main: main.level)
    return top.trace_type(top)


@right("core.full_raise")
def full_raise(trace, val):
    if not isinstance(val, Tracer):
        return trace.pure(val)
    above = main_of(val).level - trace.main.level
    if above < 0:
        return trace.lift(val)
    if above > 0:
        raise UnexpectedTracerError("escaped")
    return val


@mistake(
    "core.full_raise",
    name="Tracers from below are boxed by pure instead of lift",
    hints=[
        "A `Trace` has two methods that box a value. Which kind of value is each of them for?",
        "`pure` is for plain numbers and arrays. A tracer of another interpreter is no plain value: it carries that interpreter's data.",
        "A tracer whose level is lower than `trace.main.level` goes through `trace.lift(val)`.",
    ],
)
def full_raise(trace, val):
    if not isinstance(val, Tracer):
        return trace.pure(val)
    main = val._trace.main
    if main is trace.main:
        return val
    if main.level < trace.main.level:
        return trace.pure(val)
    raise UnexpectedTracerError(f"{val} has escaped.")


@mistake(
    "core.full_raise",
    name="Levels are compared where the MainTrace matters",
    hints=[
        "Can two interpreters have the same level, if one was taken off the stack before the other was put on it?",
        "A tracer that escaped from one `jvp` may meet another `jvp` at the same level. It must not be taken for one of its tracers.",
        "`val._trace.main is trace.main` asks for the same use of an interpreter. Equal levels are not enough.",
    ],
)
def full_raise(trace, val):
    if not isinstance(val, Tracer):
        return trace.pure(val)
    level = val._trace.main.level
    if level == trace.main.level:
        return val
    if level < trace.main.level:
        return trace.lift(val)
    raise UnexpectedTracerError(f"{val} has escaped.")


@right("core.bind")
def bind(primitive, *args, **params):
    trace = find_top_trace(args)
    outs = trace.process_primitive(primitive, tuple(full_raise(trace, x) for x in args), params)
    if primitive.multiple_results:
        return list(map(full_lower, outs))
    return full_lower(outs)


@mistake(
    "core.bind",
    name="Results are never unboxed",
    hints=[
        "Look at the docstring again: what happens to the results before they go back to the user's function?",
        "Some boxes add nothing to the value inside. Such a box would drag all later operations through an interpreter that has nothing to do.",
        "Return `full_lower(out)`, and `[full_lower(out) for out in outs]` where there are several results.",
    ],
)
def bind(primitive, *args, **params):
    top_trace = find_top_trace(args)
    tracers = [full_raise(top_trace, arg) for arg in args]
    return top_trace.process_primitive(primitive, tracers, params)


@mistake(
    "core.bind",
    name="A list of results is unboxed as if it were one result",
    hints=[
        "What does `full_lower` do with a list?",
        "`full_lower` takes one value. A list is no tracer, so it comes back as it is, and its items keep their boxes.",
        "Where `primitive.multiple_results` is true, apply `full_lower` to each item: `[full_lower(out) for out in outs]`.",
    ],
)
def bind(primitive, *args, **params):
    top_trace = find_top_trace(args)
    tracers = [full_raise(top_trace, arg) for arg in args]
    return full_lower(top_trace.process_primitive(primitive, tracers, params))


@right("core.evaluate")
def process_primitive(self, primitive, tracers, params):
    rule = get_rule(impl_rules, primitive, "Evaluation rule")
    weak = weak_result(primitive, tracers, params)
    if primitive.multiple_results:
        return [as_result(x, weak) for x in computed(rule, primitive, tracers, params)]
    with np.errstate(all="ignore"):
        return as_result(np.copy(rule(*map(as_numpy, tracers), **params)), weak)


@mistake(
    "core.evaluate",
    name="Results do not pass through as_result",
    hints=[
        "What is `type(np.add(1.0, 2.0))`? Is it an array?",
        "NumPy gives scalars where a result has no axes, and arrays that anybody may write to. Results of evaluation are arrays of our own.",
        "Call `as_result` on what the rule gives: on the one result, or on each item where `primitive.multiple_results` is true.",
    ],
)
def process_primitive(self, primitive, tracers, params):
    rule = get_rule(impl_rules, primitive, "Evaluation rule")
    outs = computed(rule, primitive, tracers, params)
    return list(outs) if primitive.multiple_results else outs


@mistake(
    "core.evaluate",
    name="No result is weakly typed",
    hints=[
        "What is `jnp.add(2.0, 3.0) * np.float32(1.0)`, a float32 or a float64?",
        "A result of Python's numbers gives way to an array's dtype, as these do. Who knows whether it does?",
        "Hand what `weak_result(primitive, tracers, params)` says to `as_result`.",
    ],
)
def process_primitive(self, primitive, tracers, params):
    rule = get_rule(impl_rules, primitive, "Evaluation rule")
    outs = computed(rule, primitive, tracers, params)
    return [as_result(out) for out in outs] if primitive.multiple_results else as_result(outs)


@right("core.div_impl")
def div_impl(x, y):
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind == "f":
        return x / y
    divisor = np.where(y == 0, np.array(1, y.dtype), y)
    quotient = (x - np.fmod(x, divisor)) // divisor
    return np.where(y == 0, ~np.zeros_like(quotient), quotient)


@mistake(
    "core.div_impl",
    name="Integer division rounds down instead of towards zero",
    hints=[
        "Try -7 divided by 2. Which two integers lie next to -3.5, and which one lies nearer to zero?",
        "`np.floor_divide` (Python's `//`) rounds down, to -4. Rounding towards zero gives -3.",
        "Where the quotient is negative and `quotient * y != x`, it was rounded down: add 1 there.",
    ],
)
def div_impl(x, y):
    x, y = np.asarray(x), np.asarray(y)
    if dtypes.is_float(x.dtype):
        return np.divide(x, y)
    quotient = np.floor_divide(x, np.where(y == 0, np.ones_like(y), y))
    return np.where(y == 0, np.array(-1).astype(quotient.dtype), quotient)


@mistake(
    "core.div_impl",
    name="An integer divided by zero gives 0",
    hints=[
        "What does the docstring say about a division by zero?",
        "NumPy's integer division gives 0 where the divisor is 0. XLA gives -1.",
        "Choose at the end with `np.where(y == 0, ..., ...)`, and keep the dtype: `np.array(-1).astype(quotient.dtype)`.",
    ],
)
def div_impl(x, y):
    x, y = np.asarray(x), np.asarray(y)
    if dtypes.is_float(x.dtype):
        return np.divide(x, y)
    quotient = np.floor_divide(x, y)
    return quotient + ((quotient < 0) & (quotient * y != x))


@right("core.broadcast_impl")
def broadcast_in_dim_impl(x, *, shape, broadcast_dimensions):
    x = np.asarray(x)
    for axis in range(len(shape)):
        if axis not in broadcast_dimensions:
            x = np.expand_dims(x, axis)
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


@mistake(
    "core.broadcast_impl",
    name="Axes are lined up from the right, as NumPy does it",
    hints=[
        "Repeat an array of shape (2,) into shape (2, 2), with `broadcast_dimensions=(0,)` and with `(1,)`. Do the two results differ?",
        "`np.broadcast_to` puts missing axes in front. Here `broadcast_dimensions` says where each axis of `x` goes.",
        "Reshape `x` first, to `len(shape)` axes: the lengths of `x` at the places that `broadcast_dimensions` names, 1 everywhere else. Then repeat.",
    ],
)
def broadcast_in_dim_impl(x, *, shape, broadcast_dimensions):
    return np.broadcast_to(x, shape)


@right("core.counted")
def counted(f):
    def counted_f(x):
        count = 0

        class CountTrace(Trace):
            pure = lift = lambda self, val: CountTracer(self, val)

            def process_primitive(self, primitive, tracers, params):
                nonlocal count
                count += 1
                out = primitive.bind(*(tracer.value for tracer in tracers), **params)
                return [self.pure(x) for x in out] if type(out) is list else self.pure(out)

        with new_main(CountTrace) as main:
            out = f(CountTracer(CountTrace(main), x))
            mine = isinstance(out, Tracer) and out._trace.main is main
        return out.value if mine else out, count

    return counted_f


@mistake(
    "core.counted",
    name="The count is kept in the Trace, which is made again for each operation",
    hints=[
        "How many `Trace` objects are there while `f` runs, and which of them does your function ask for the count?",
        "`find_top_trace` makes a trace anew for each operation. What one of them has counted is lost with it; only their `MainTrace` is the same.",
        "Give `new_main` a list as `global_data`, append to `self.main.global_data` in `process_primitive`, and return the length of `main.global_data`.",
    ],
)
def counted(f):
    class CountTrace(Trace):
        def __init__(self, main):
            super().__init__(main)
            self.count = 0

        def pure(self, val):
            return CountTracer(self, val)

        lift = pure

        def process_primitive(self, primitive, tracers, params):
            self.count += 1
            outs = primitive.bind(*[tracer.value for tracer in tracers], **params)
            if primitive.multiple_results:
                return [CountTracer(self, out) for out in outs]
            return CountTracer(self, outs)

    def counted_f(x):
        with new_main(CountTrace) as main:
            trace = CountTrace(main)
            out = full_raise(trace, f(CountTracer(trace, x)))
        return out.value, trace.count

    return counted_f


@mistake(
    "core.counted",
    name="All calls share one count",
    hints=[
        "Call the function that `counted(f)` gives twice. Is the second count the same as the first?",
        "What is made in the body of `counted` is made once, when `counted(f)` is called. What is made in the function that it returns is made for each call.",
        "Make the list in the call itself: `with new_main(CountTrace, []) as main:`.",
    ],
)
def counted(f):
    operations = []

    class CountTrace(Trace):
        def pure(self, val):
            return CountTracer(self, val)

        lift = pure

        def process_primitive(self, primitive, tracers, params):
            operations.append(primitive)
            outs = primitive.bind(*[tracer.value for tracer in tracers], **params)
            if primitive.multiple_results:
                return [CountTracer(self, out) for out in outs]
            return CountTracer(self, outs)

    def counted_f(x):
        with new_main(CountTrace) as main:
            trace = CountTrace(main)
            out = full_raise(trace, f(CountTracer(trace, x)))
        return out.value, len(operations)

    return counted_f


@mistake(
    "core.counted",
    name="Each result of an operation counts",
    hints=[
        "A primitive may have several results. How many operations is it?",
        "Count when `process_primitive` is called, not when a result is boxed.",
        "Append to `self.main.global_data` once, before `primitive.bind`; box the results, one or several, without counting.",
    ],
)
def counted(f):
    class CountTrace(Trace):
        def pure(self, val):
            return CountTracer(self, val)

        lift = pure

        def process_primitive(self, primitive, tracers, params):
            outs = primitive.bind(*[tracer.value for tracer in tracers], **params)
            results = outs if primitive.multiple_results else [outs]
            boxes = [CountTracer(self, out) for out in results]
            self.main.global_data.extend(boxes)
            return boxes if primitive.multiple_results else boxes[0]

    def counted_f(x):
        with new_main(CountTrace, []) as main:
            trace = CountTrace(main)
            out = full_raise(trace, f(CountTracer(trace, x)))
        return out.value, len(main.global_data)

    return counted_f
