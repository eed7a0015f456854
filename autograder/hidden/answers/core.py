"""Answers to the exercises of the `core` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("core.get_aval")


@right
def get_aval(x):
    if isinstance(x, Tracer):
        return x.aval
    makers = [aval_makers[c] for c in type(x).__mro__ if c in aval_makers]
    if not makers:
        raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")
    return makers[0](x)


@right(style="match; next over the mro; quotes around str of the value")
def get_aval(x):
    match x:
        case Tracer():
            return x.aval
    found = next((aval_makers[kind] for kind in type(x).__mro__ if kind in aval_makers), None)
    if found is None:
        raise TypeError(f"Argument '{x}' of type {type(x)} is not a valid JAX type")
    return found(x)


@right(style="recursion down the list of classes; repr of the value in the error")
def get_aval(x):
    def maker(kinds):
        if not kinds:
            raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")
        first, *others = kinds
        return aval_makers[first] if first in aval_makers else maker(others)

    return x.aval if issubclass(type(x), Tracer) else maker(list(type(x).__mro__))(x)


mistake(
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
# Abstract values of numbers are remembered, by equality.
mistake(
    {
        "x: Value": "x: Value, known={}",
        "return aval_makers[cls](x)": "if isinstance(x, (int, float)):\n    return known.setdefault(x, aval_makers[cls](x))\nreturn aval_makers[cls](x)",
    },
    fails="test_equal_values",
)
# A generator turns a maker's StopIteration into a RuntimeError.
mistake(
    {"return aval_makers[cls](x)": "return next(aval_makers[c](x) for c in (cls,))"},
    fails="test_makers_may_refuse",
)
# Of a tracer only shape and type: a known value gets lost.
mistake(
    {"return x.aval": "return ShapedArray(x.shape, x.dtype, x.weak_type)"},
    fails="test_tracer_answers_for_itself",
)
# `object` is never asked for.
mistake({"type(x).__mro__": "type(x).__mro__[:-1]"}, fails="test_table_is_asked_each_time")
# Of several entries the class with the longest list of base classes counts.
mistake(
    {"in type(x).__mro__:": "in sorted(type(x).__mro__, key=lambda cls: -len(cls.__mro__)):"},
    fails="test_registered_classes",
)
# Whatever has an `aval` is taken for a tracer.
mistake({"isinstance(x, Tracer)": 'hasattr(type(x), "aval")'}, fails="test_registered_classes")
# An error that does not say what the value was.
mistake({" of type {type(x)}": ""}, fails="test_no_arrays")
# A class that is only registered has an entry, and the value inherits nothing from it.
mistake(
    {
        "for cls in type(x).__mro__:": "fitting = [cls for cls in aval_makers if isinstance(x, cls)]\nfor cls in sorted(fitting, key=type(x).__mro__.index):"
    },
    fails="test_table_is_asked_each_time",
)


exercise("core.find_top_trace")


@right(style="a sorted list of candidates, the last one wins")
def find_top_trace(args):
    mains = [trace_state.stack[0]] + [main_of(x) for x in args if isinstance(x, Tracer)]
    if trace_state.dynamic_trace is not None:
        mains.append(trace_state.dynamic_trace)
    top = sorted(mains, key=lambda main: main.level)[-1]
    return top.trace_type(top)


@right(style="reduce with a helper; the trace of an operand, if it has one")
def find_top_trace(args):
    from functools import reduce

    def higher(a, b):
        return b if b.level > a.level else a

    tracers = filter(lambda x: isinstance(x, Tracer), list(args))
    main = reduce(higher, map(main_of, tracers), trace_state.stack[0])
    if (dynamic := trace_state.dynamic_trace) is not None:
        main = higher(main, dynamic)
    own = [x._trace for x in args if isinstance(x, Tracer) and x._trace.main is main]
    return own[0] if own else main.trace_type(main)


mistake(
    {
        "top = main if main.level > top.level else top": "top = main if main.level > top.level else top\nbreak"
    },
    name="The first tracer decides, not the highest",
    hints=[
        "Try the operands `(a, b)` and `(b, a)`, with tracers of different levels. Should the answer depend on the order?",
        "An interpreter can box tracers of lower levels, but not of higher ones. So which of several tracers has to decide?",
        "Take the maximum of `main_of(x)` over all tracers among the operands, by level: `max(..., key=lambda main: main.level)`.",
    ],
)
mistake(
    {"default_main()": "trace_state.stack[-1]"},
    name="The newest interpreter takes every operation, whatever the operands",
    hints=[
        "While two interpreters run, the user's function multiplies two plain numbers. Which interpreter should take that operation?",
        "The operands decide which interpreter takes an operation, not the height of the stack. If no operand is a tracer, evaluation takes it.",
        "Start from the tracers among `args`, and use `trace_state.stack[0]` only where there are none. `trace_state.stack[-1]` is not needed.",
    ],
)
mistake(
    {"default_main()": "trace_state.stack[0]"},
    name="default_main() is left out",
    hints=[
        "The docstring names one more interpreter that may take an operation. Which one?",
        "`default_main()` is the bottom of the stack for now, so nothing seems to be missing. A later lesson changes it.",
        "Begin with `default_main()`. Only an operand of a higher level takes the operation away from it.",
    ],
)
# The dynamic trace counts only where no operand is a tracer.
mistake(
    {
        "top = default_main()": "traced = any(isinstance(x, Tracer) for x in args)\ntop = trace_state.stack[0] if traced else default_main()"
    },
    fails="test_dynamic_trace_above_tracers",
)
# The dynamic trace always wins.
mistake(
    {
        "return top.trace_type(top)": "top = trace_state.dynamic_trace or top\nreturn top.trace_type(top)"
    },
    fails="test_lower_dynamic_trace",
)
# A tracer that does not decide is not asked whether it is still active.
mistake(
    {"= main_of(x)": "= main_of(x) if x._trace.main.level > top.level else x._trace.main"},
    fails="test_escaped_tracers",
)
# A tracer whose box adds nothing counts as what is in it.
mistake({"for x in args": "for x in map(full_lower, args)"}, fails="test_escaped_tracers")
# A tracer at the level that decides is not asked whether it is still active.
mistake(
    {"main = main_of": "main = x._trace.main if x._trace.main.level == top.level else main_of"},
    fails="test_escaped_tracers",
)
# A sum of lists, which `bind` does not send.
mistake({"in args:": "in args + []:"}, fails="test_one_tracer_among_constants")
# Arrays count as boxes, too.
mistake(
    {"isinstance(x, Tracer)": "isinstance(x, (Tracer, ArrayImpl))"},
    fails="test_one_tracer_among_constants",
)
# an interpreter that was once found active is not looked for again
mistake(
    {
        "main = main_of(x)": """main = x._trace.main
vars(main).get("seen") or main_of(x)
vars(main)["seen"] = True"""
    },
    fails="test_escaped_tracers",
)


exercise("core.full_raise")


@right
def full_raise(trace, val):
    if not isinstance(val, Tracer):
        return trace.pure(val)
    above = main_of(val).level - trace.main.level
    if above < 0:
        return trace.lift(val)
    if above > 0:
        raise UnexpectedTracerError("escaped")
    return val


@right(style="match on the kind; the lower tracer's use is asked by main_of, too")
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


@right(style="a table from the sign of the level's difference")
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


mistake(
    {"trace.lift(val)": "trace.pure(val)"},
    name="Tracers from below are boxed by pure instead of lift",
    hints=[
        "A `Trace` has two methods that box a value. Which kind of value is each of them for?",
        "`pure` is for plain numbers and arrays. A tracer of a different interpreter is not a plain value: it carries that interpreter's data.",
        "A tracer whose level is lower than `trace.main.level` goes through `trace.lift(val)`.",
    ],
)
mistake(
    {"main is trace.main": "main.level == trace.main.level"},
    name="Levels are compared where the MainTrace matters",
    hints=[
        "Can two interpreters have the same level, if one was taken off the stack before the other was put on it?",
        "A tracer that escaped from one `jvp` may meet another `jvp` at the same level. That `jvp` must not treat it as one of its own tracers.",
        "`val._trace.main is trace.main` asks for the same use of an interpreter. Equal levels are not enough.",
    ],
)
# A lower level alone is enough, even if its interpreter has ended.
mistake({"main_of(val).level": "main.level"}, fails="test_tracer_from_below_has_escaped")
# Evaluation needs no boxes, so nothing is looked at.
mistake(
    {
        "if not isinstance(val, Tracer):": "if trace.main.level == 0:\n    return val\nif not isinstance(val, Tracer):"
    },
    fails="test_tracer_from_above_has_escaped",
)
# Interpreters with the same data count as one.
mistake(
    {"is trace.main": "is trace.main or None is not main.global_data is trace.main.global_data"},
    fails="test_another_use_at_the_same_level",
)
# A box that the trace refuses to make is left out.
mistake(
    {
        "return trace.pure(val)": "try:\n    return trace.pure(val)\nexcept TypeError:\n    return val"
    },
    fails="test_errors_of_the_trace",
)
# A box is remembered by what is in it, whichever trace made it.
mistake(
    {
        "val: Value": "val: Value, known={}",
        "return trace.pure(val)": "return known.setdefault(id(val), (val, trace.pure(val)))[1]",
    },
    fails="test_constants_are_pure",
)
# A tracer's own box is opened if it adds nothing.
mistake(
    {"return val": "return val if val.full_lower() is val else trace.pure(val.full_lower())"},
    fails="test_own_tracer_is_left_alone",
)
# At the bottom, a tracer is left as it is.
mistake(
    {"raise Unexp": "if main.level > 2 and not trace.main.level:\n    return val\nraise Unexp"},
    fails="test_tracer_from_above_has_escaped",
)
# The error of a `lift` is taken for that of a plain value.
mistake(
    {
        "return trace.lift(val)": "try:\n    return trace.lift(val)\nexcept AttributeError:\n    return trace.pure(val)"
    },
    fails="test_errors_of_the_trace",
)


exercise("core.counted")


@right
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


@right(style="the count in the main's global_data, a dict; result asked for its main")
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


@right(style="a class made for each call, a list that grows, full_raise at the end")
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


mistake(
    {
        "lift = pure": "lift = pure\ncount = 0",
        "self.main.global_data.append(primitive)": "self.count += 1",
        "len(main.global_data)": "trace.count",
    },
    name="The count is kept in the Trace, and each operation makes a new one",
    hints=[
        "How many `Trace` objects are there while `f` runs, and which of them does your function ask for the count?",
        "`find_top_trace` may make a new trace for each operation. What one of them has counted is lost with it; only their `MainTrace` is the same.",
        "Give `new_main` a list as `global_data`, append to `self.main.global_data` in `process_primitive`, and return the length of `main.global_data`.",
    ],
)
mistake(
    {
        "class CountTrace(Trace):": "operations = []\n\nclass CountTrace(Trace):",
        "(CountTrace, [])": "(CountTrace, operations)",
    },
    name="All calls share one count",
    hints=[
        "Let `g = counted(f)`, and call `g` twice. Is the second count the same as the first?",
        "What is made in the body of `counted` is made once, when `counted(f)` is called. What is made in the function that it returns is made for each call.",
        "Make the list in the call itself: `with new_main(CountTrace, []) as main:`.",
    ],
)
mistake(
    {
        "if primitive.multiple_results:": "if primitive.multiple_results:\n    self.main.global_data.extend(outs[1:])"
    },
    name="Each result of an operation is counted",
    hints=[
        "A primitive may have several results. How many operations is it?",
        "Count when `process_primitive` is called, not when a result is boxed.",
        "Append to `self.main.global_data` once, before `primitive.bind`; box the results, one or several, without counting.",
    ],
)
# The box of any CountTracer that f returns is opened.
mistake(
    {
        "out = full_raise(trace, f(trace.pure(x)))": "out = f(trace.pure(x))\nout = out if isinstance(out, CountTracer) else trace.pure(out)"
    },
    fails="test_counts_within_counts",
)
# A list for each level, which all threads share.
mistake(
    {
        "f: Callable[[Any], Any]": "f, lists={}",
        "with new_main(CountTrace, []) as main:": "operations = lists.setdefault(len(trace_state.stack), [])\noperations.clear()\nwith new_main(CountTrace, operations) as main:",
    },
    fails="test_branches_count_for_themselves",
)
# The value stays in its box.
mistake({"return out.value,": "return out,"}, fails="test_count")
# A whole number becomes a float.
mistake(
    {"f(trace.pure(x))": "f(trace.pure(float(x) if isinstance(x, int) else x))"},
    fails="test_results_that_need_no_operation",
)
# The argument becomes NumPy's, and loses its weak type.
mistake(
    {"f(trace.pure(x))": "f(trace.pure(np.asarray(x) if type(x) is ArrayImpl else x))"},
    fails="test_results_that_need_no_operation",
)
# A StopIteration of the function is taken for the end of its results.
mistake({"f(trace.pure(x))": "next(map(f, [trace.pure(x)]), x)"}, fails="test_counts_of_itself")
# Operations on plain values are evaluated, even if another interpreter takes them.
mistake(
    {
        "outs = primitive.bind(*[tracer.value for tracer in tracers], **params)": "values = [tracer.value for tracer in tracers]\nbind = EvalTrace(default_main()).process_primitive\nplain = not any(isinstance(x, Tracer) for x in values)\nouts = bind(primitive, values, params) if plain else primitive.bind(*values, **params)"
    },
    fails="test_branches_count_for_themselves",
)
# A list of one result is taken for the result.
mistake(
    {
        "[self.pure(out) for out in outs]": "[self.pure(out) for out in outs] if len(outs) != 1 else self.pure(*outs)"
    },
    fails="test_several_results_count_once",
)
# One list for all calls, each of which takes off what was there when it began.
mistake(
    {
        "f: Callable[[Any], Any]": "f, operations=[]",
        "with new_main(CountTrace, []) as main:": "before = len(operations)\nwith new_main(CountTrace, operations) as main:",
        "len(main.global_data)": "len(operations) - before",
    },
    fails="test_counts_within_counts",
)
# An operation on the same values is not done again, even for another interpreter.
mistake(
    {
        "f: Callable[[Any], Any]": "f, done={}",
        "outs = primitive.bind(*[tracer.value for tracer in tracers], **params)": "values = [tracer.value for tracer in tracers]\nkey = (primitive, *map(id, values), str(params))\n_, outs = done[key] = done.get(key) or (values, primitive.bind(*values, **params))",
    },
    fails="test_branches_count_for_themselves",
)
