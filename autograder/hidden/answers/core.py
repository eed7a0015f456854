"""Answers to the exercises of the `core` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


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


@right("core.get_aval", style="match; next over the mro; quotes around str of the value")
def get_aval(x):
    match x:
        case Tracer():
            return x.aval
    found = next((aval_makers[kind] for kind in type(x).__mro__ if kind in aval_makers), None)
    if found is None:
        raise TypeError(f"Argument '{x}' of type {type(x)} is not a valid JAX type")
    return found(x)


@right("core.get_aval", style="recursion down the list of classes; repr of the value in the error")
def get_aval(x):
    def maker(kinds):
        if not kinds:
            raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")
        first, *others = kinds
        return aval_makers[first] if first in aval_makers else maker(others)

    return x.aval if issubclass(type(x), Tracer) else maker(list(type(x).__mro__))(x)


mistake(
    "core.get_aval",
    {
        "for cls": "if isinstance(x, (bool, int, float, np.generic)):\n    return numpy_aval(np.asarray(x))\nfor cls"
    },
    name="Python numbers are treated as arrays with a dtype of their own",
    hints=[
        "What is `get_aval(1.0).weak_type`, and what is `get_aval(np.array(1.0)).weak_type`?",
        "A Python number gives way to the dtype of the array that it meets. Its abstract value must say so, or `x * 2.0` turns a float32 array into float64.",
        "The table `aval_makers` has the right maker for each type: `scalar_aval` for Python's numbers, `numpy_aval` for NumPy's.",
    ],
)
mistake(
    "core.get_aval",
    {
        "for cls in type(x).__mro__:": "for cls, maker in aval_makers.items():",
        "if cls in aval_makers:": "if isinstance(x, cls):",
        "return aval_makers[cls](x)": "return maker(x)",
    },
    name="NumPy's float64 is treated as a Python float",
    hints=[
        "What is `get_aval(np.float64(1.0)).weak_type`? Which classes does `np.float64` inherit from?",
        "Both `float` and `np.generic` are base classes of `np.float64`, and both are in the table. The docstring says which of them decides.",
        "Go through `type(x).__mro__` and take the first class that is in the table, not through the table with `isinstance`.",
    ],
)


# Of a class, `mro` is a method without its argument.
mistake("core.get_aval", {"type(x).__mro__": "type(x).mro()"}, fails="test_no_arrays")


@mistake("core.get_aval", fails="test_equal_values")
def get_aval(x, known={}):
    # remembers abstract values of numbers, by equality
    if isinstance(x, Tracer):
        return x.aval
    if isinstance(x, (int, float)) and x in known:
        return known[x]
    for kind in type(x).__mro__:
        if kind in aval_makers:
            aval = aval_makers[kind](x)
            if isinstance(x, (int, float)):
                known[x] = aval
            return aval
    raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")


@mistake("core.get_aval", fails="test_makers_may_refuse")
def get_aval(x):
    # every error of a maker becomes the TypeError
    if isinstance(x, Tracer):
        return x.aval
    try:
        maker = next(aval_makers[kind] for kind in type(x).__mro__ if kind in aval_makers)
        return maker(x)
    except Exception:
        raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type") from None


@mistake("core.get_aval", fails="test_makers_may_refuse")
def get_aval(x):
    # a generator turns a maker's StopIteration into a RuntimeError
    if isinstance(x, Tracer):
        return x.aval
    avals = (aval_makers[kind](x) for kind in type(x).__mro__ if kind in aval_makers)
    for aval in avals:
        return aval
    raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")


@mistake("core.get_aval", fails="test_tracer_answers_for_itself")
def get_aval(x):
    # of a tracer only shape and type: a known value gets lost
    if isinstance(x, Tracer):
        return ShapedArray(x.shape, x.dtype, x.weak_type)
    for kind in type(x).__mro__:
        if kind in aval_makers:
            return aval_makers[kind](x)
    raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")


@mistake("core.get_aval", fails="test_table_is_asked_each_time")
def get_aval(x, makers={}):
    # notes the maker of each type, and never asks again
    if isinstance(x, Tracer):
        return x.aval
    if type(x) not in makers:
        for kind in type(x).__mro__:
            if kind in aval_makers:
                makers[type(x)] = aval_makers[kind]
                break
        else:
            raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")
    return makers[type(x)](x)


# `object` is never asked for.
mistake(
    "core.get_aval",
    {"type(x).__mro__": "type(x).__mro__[:-1]"},
    fails="test_table_is_asked_each_time",
)
# Of several entries the class with the longest list of base classes counts.
mistake(
    "core.get_aval",
    {
        "for cls in type(x).__mro__:": "for cls in sorted(type(x).__mro__, key=lambda cls: -len(cls.__mro__)):"
    },
    fails="test_registered_classes",
)


# Whatever has an `aval` is taken for a tracer.
mistake(
    "core.get_aval",
    {"isinstance(x, Tracer)": 'hasattr(type(x), "aval")'},
    fails="test_registered_classes",
)


@right("core.find_top_trace")
def find_top_trace(args):
    top = trace_state.stack[0]
    for arg in args:
        if isinstance(arg, Tracer) and main_of(arg).level >= top.level:
            top = arg._trace.main
    if trace_state.dynamic_trace and trace_state.dynamic_trace.level > top.level:
        top = trace_state.dynamic_trace
    return top.trace_type(top)


@right("core.find_top_trace", style="a sorted list of candidates, the last one wins")
def find_top_trace(args):
    mains = [trace_state.stack[0]] + [main_of(x) for x in args if isinstance(x, Tracer)]
    if trace_state.dynamic_trace is not None:
        mains.append(trace_state.dynamic_trace)
    top = sorted(mains, key=lambda main: main.level)[-1]
    return top.trace_type(top)


@right("core.find_top_trace", style="reduce with a helper; stops for tracers by try")
def find_top_trace(args):
    from functools import reduce

    def higher(a, b):
        return b if b.level > a.level else a

    tracers = filter(lambda x: isinstance(x, Tracer), list(args))
    main = reduce(higher, map(main_of, tracers), trace_state.stack[0])
    if (dynamic := trace_state.dynamic_trace) is not None:
        main = higher(main, dynamic)
    make = main.trace_type
    return make(main)


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
    name="The newest interpreter takes every operation, whatever the operands",
    hints=[
        "While two interpreters run, the user's function multiplies two plain numbers. Which interpreter should take that operation?",
        "The operands decide which interpreter takes an operation, not the height of the stack. If no operand is a tracer, evaluation takes it.",
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
    name="default_main() is left out",
    hints=[
        "The docstring names one more interpreter that may take an operation. Which one?",
        "`default_main()` is the bottom of the stack for now, so nothing seems to be missing. A later lesson changes it.",
        "Begin with `default_main()`. Only an operand of a higher level takes the operation away from it.",
    ],
)
def find_top_trace(args):
    mains = [main_of(x) for x in args if isinstance(x, Tracer)]
    top = max(mains, default=trace_state.stack[0], key=lambda main: main.level)
    return top.trace_type(top)


@mistake("core.find_top_trace", fails="test_dynamic_trace_above_tracers")
def find_top_trace(args):
    # the dynamic trace counts only where no operand is a tracer
    mains = [main_of(x) for x in args if isinstance(x, Tracer)]
    bottom = trace_state.dynamic_trace or trace_state.stack[0]
    main = max(mains, key=lambda main: main.level, default=bottom)
    return main.trace_type(main)


@mistake("core.find_top_trace", fails="test_lower_dynamic_trace")
def find_top_trace(args):
    # the dynamic trace always wins
    mains = [main_of(x) for x in args if isinstance(x, Tracer)]
    main = max(mains, key=lambda main: main.level, default=trace_state.stack[0])
    main = trace_state.dynamic_trace or main
    return main.trace_type(main)


@mistake("core.find_top_trace", fails="test_escaped_tracers")
def find_top_trace(args):
    # only the winner is asked whether it is still active
    tracers = [x for x in args if isinstance(x, Tracer)]
    main = trace_state.stack[0]
    if tracers:
        main = main_of(max(tracers, key=lambda x: x._trace.main.level))
    if trace_state.dynamic_trace is not None and trace_state.dynamic_trace.level > main.level:
        main = trace_state.dynamic_trace
    return main.trace_type(main)


# A tracer whose box adds nothing counts as what is in it.
mistake(
    "core.find_top_trace",
    {"for x in args": "for x in map(full_lower, args)"},
    fails="test_escaped_tracers",
)


@mistake("core.find_top_trace", fails="test_highest_level")
def find_top_trace(args):
    # compares the first two tracers only
    mains = [main_of(x) for x in args if isinstance(x, Tracer)]
    main = max(mains[:2], key=lambda main: main.level, default=trace_state.stack[0])
    if trace_state.dynamic_trace is not None and trace_state.dynamic_trace.level > main.level:
        main = trace_state.dynamic_trace
    return main.trace_type(main)


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


@right(
    "core.full_raise", style="match on the kind; the lower tracer's use is asked by main_of, too"
)
def full_raise(trace, val):
    match val:
        case Tracer(_trace=Trace(main=main)):
            if main is trace.main:
                return val
            if main.level >= trace.main.level:
                raise UnexpectedTracerError("a tracer has escaped")
            main_of(val)
            return trace.lift(val)
        case _:
            return trace.pure(val)


@right("core.full_raise", style="a table from the sign of the level's difference")
def full_raise(trace, val):
    def refuse(x):
        raise UnexpectedTracerError(f"{type(x).__name__} is not from below")

    if not isinstance(val, Tracer):
        how = trace.pure
    else:
        mine, its = trace.main, val._trace.main
        above = its.level - mine.level
        sign = (above > 0) - (above < 0) if its in trace_state.stack else 1
        how = {-1: trace.lift, 0: (lambda x: x) if its is mine else refuse, 1: refuse}[sign]
    return how(val)


@mistake(
    "core.full_raise",
    name="Tracers from below are boxed by pure instead of lift",
    hints=[
        "A `Trace` has two methods that box a value. Which kind of value is each of them for?",
        "`pure` is for plain numbers and arrays. A tracer of a different interpreter is not a plain value: it carries that interpreter's data.",
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
        "A tracer that escaped from one `jvp` may meet another `jvp` at the same level. That `jvp` must not treat it as one of its own tracers.",
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


@mistake("core.full_raise", fails="test_own_tracer_is_left_alone")
def full_raise(trace, val):
    # plain slip: compares the Trace objects
    if not isinstance(val, Tracer):
        return trace.pure(val)
    if val._trace is trace:
        return val
    if val._trace.main.level < trace.main.level:
        return trace.lift(val)
    raise UnexpectedTracerError("escaped")


@mistake("core.full_raise", fails="test_tracer_from_above_has_escaped")
def full_raise(trace, val):
    # anything that is not its own is lifted, from above as well
    if not isinstance(val, Tracer):
        return trace.pure(val)
    if val._trace.main is trace.main:
        return val
    if val._trace.main.level == trace.main.level:
        raise UnexpectedTracerError("escaped")
    return trace.lift(val)


# A lower level alone is enough, even if its interpreter has ended.
mistake(
    "core.full_raise",
    {"main_of(val).level": "main.level"},
    fails="test_tracer_from_below_has_escaped",
)


# Evaluation needs no boxes, so nothing is looked at.
mistake(
    "core.full_raise",
    {
        "if not isinstance(val, Tracer):": "if trace.main.level == 0:\n    return val\nif not isinstance(val, Tracer):"
    },
    fails="test_tracer_from_above_has_escaped",
)


@mistake("core.full_raise", fails="test_constants_are_pure")
def full_raise(trace, val):
    # boxes of numbers are kept on the trace and used again, by equality
    if isinstance(val, (int, float)):
        boxes = trace.__dict__.setdefault("boxes", {})
        if val not in boxes:
            boxes[val] = trace.pure(val)
        return boxes[val]
    if not isinstance(val, Tracer):
        return trace.pure(val)
    if val._trace.main is trace.main:
        return val
    if val._trace.main.level < trace.main.level:
        return trace.lift(val)
    raise UnexpectedTracerError("escaped")


# calls the rule itself
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


@right(
    "core.counted", style="the count in the main's global_data, a dict; result asked for its main"
)
def counted(f):
    class CountTrace(Trace):
        def pure(self, val):
            return CountTracer(self, val)

        lift = pure

        def process_primitive(self, primitive, tracers, params):
            self.main.global_data["operations"] += 1
            out = bind(primitive, *[tracer.value for tracer in tracers], **params)
            if not primitive.multiple_results:
                return CountTracer(self, out)
            return [CountTracer(self, o) for o in out]

    def counting(x):
        with new_main(CountTrace, {"operations": 0}) as main:
            out = f(CountTracer(CountTrace(main), x))
            if isinstance(out, Tracer) and out._trace.main is main:
                out = out.value
            return out, main.global_data["operations"]

    return counting


@right("core.counted", style="a class made for each call, a list that grows, full_raise at the end")
def counted(f):
    from functools import wraps

    @wraps(f)
    def run(x):
        log = []

        class Watching(Trace):
            def pure(self, val):
                return CountTracer(self, val)

            def lift(self, val):
                return self.pure(val)

            def process_primitive(self, primitive, tracers, params):
                results = primitive.bind(*(t.value for t in tracers), **params)
                log.append(primitive)
                if primitive.multiple_results:
                    return list(map(self.pure, results))
                return self.pure(results)

        with new_main(Watching) as main:
            trace = Watching(main)
            boxed = full_raise(trace, x)
            value = full_raise(trace, f(boxed)).value
        return value, len(log)

    return run


@mistake(
    "core.counted",
    name="The count is kept in the Trace, and each operation makes a new one",
    hints=[
        "How many `Trace` objects are there while `f` runs, and which of them does your function ask for the count?",
        "`find_top_trace` makes a new trace for each operation. What one of them has counted is lost with it; only their `MainTrace` is the same.",
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
        "Let `g = counted(f)`, and call `g` twice. Is the second count the same as the first?",
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
    name="Each result of an operation is counted",
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


@mistake("core.counted", fails="test_counts_within_counts")
def counted(f):
    # opens the box of any CountTracer that f returns
    def counting(x):
        count = [0]

        class CountTrace(Trace):
            def pure(self, val):
                return CountTracer(self, val)

            lift = pure

            def process_primitive(self, primitive, tracers, params):
                count[0] += 1
                out = bind(primitive, *[t.value for t in tracers], **params)
                if primitive.multiple_results:
                    return [CountTracer(self, o) for o in out]
                return CountTracer(self, out)

        with new_main(CountTrace) as main:
            out = f(CountTracer(CountTrace(main), x))
        return (out.value if isinstance(out, CountTracer) else out), count[0]

    return counting


@mistake("core.counted", fails="test_branches_count_for_themselves")
def counted(f, counts={}):
    # a number for each level, which all threads share
    class CountTrace(Trace):
        def pure(self, val):
            return CountTracer(self, val)

        lift = pure

        def process_primitive(self, primitive, tracers, params):
            counts[self.main.level] += 1
            out = bind(primitive, *[t.value for t in tracers], **params)
            if primitive.multiple_results:
                return [CountTracer(self, o) for o in out]
            return CountTracer(self, out)

    def counting(x):
        with new_main(CountTrace) as main:
            counts[main.level] = 0
            out = full_raise(CountTrace(main), f(CountTracer(CountTrace(main), x)))
            return out.value, counts[main.level]

    return counting


@mistake("core.counted", fails="test_counts_of_itself")
def counted(f):
    # one number for the function, set to 0 when a call begins: a call inside a call resets it
    count = 0

    class CountTrace(Trace):
        def pure(self, val):
            return CountTracer(self, val)

        lift = pure

        def process_primitive(self, primitive, tracers, params):
            nonlocal count
            count += 1
            out = bind(primitive, *[t.value for t in tracers], **params)
            if primitive.multiple_results:
                return [CountTracer(self, o) for o in out]
            return CountTracer(self, out)

    def counting(x):
        nonlocal count
        count = 0
        with new_main(CountTrace) as main:
            out = full_raise(CountTrace(main), f(CountTracer(CountTrace(main), x)))
        return out.value, count

    return counting
