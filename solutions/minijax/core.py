"""The core: primitives, the stack of interpreters, and `bind`, which joins the two.

A program such as `sin(x) * 2.0` is a sequence of *primitive* operations. To transform a program
is to give these operations a different meaning: not only "compute the value" but "compute the value
and its derivative", or "write the operation down". Each meaning is an interpreter, a `Trace`.
The active interpreters form a stack, and every operation of the program goes through one function,
`bind`, which hands it to the right interpreter.

This file reads from top to bottom: primitives and their rules, the stack, traces, the abstract
value of anything, `bind`, the interpreter at the bottom of the stack, which evaluates, and last a
small one above it, which counts. Tracers and abstract values are in `minijax.abstract_values`, and
what NumPy computes for each primitive is in `minijax.evaluation`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from minijax.abstract_values import (
    ConcreteArray,  # noqa: F401 (other modules ask for it)
    ShapedArray,
    Tracer,
    array_aval,
    masked_aval,
    numpy_aval,
    scalar_aval,
)
from minijax.array import ArrayImpl, as_numpy
from minijax.errors import UnexpectedTracerError
from minijax.evaluation import (
    as_result,
    broadcast_in_dim_impl,
    convert_element_type_impl,
    div_impl,
    dot_general_impl,
    placed_with,
    reduce_sum_impl,
)

# What operations take and return ----------------------------------------------------------------

Value = Any  # an array, a number or a tracer
Values = Sequence[Value]
Tangent = Any  # a Value, or None: the zero that costs nothing

# Primitives and their rules ---------------------------------------------------------------------


class Primitive:
    """An operation that interpreters know by name, such as `sin`; its rules are in the tables.

    Arrays go to `bind` by position, everything else (an axis, a shape) by keyword. As in JAX,
    `multiple_results` says whether rules return a list; rules for one result then need no list.
    """

    def __init__(self, name: str, multiple_results: bool = False) -> None:
        self.name = name
        self.multiple_results = multiple_results

    def bind(self, *args: Value, **params: Any) -> Value:
        """Apply this primitive, under whichever interpreters are active."""
        return bind(self, *args, **params)

    def __repr__(self) -> str:
        return self.name


Rules = dict[Primitive, Callable[..., Any]]

impl_rules: Rules = {}  # how to evaluate
jvp_rules: Rules = {}  # how to differentiate (the `jvp` lesson)
vmap_rules: Rules = {}  # how to batch (the `vmap` lesson)
abstract_eval_rules: Rules = {}  # what type the result has (the `jaxprs` lesson)
hlo_lowerings: Rules = {}  # how to write it in StableHLO (the `jit` lesson)
partial_eval_rules: Rules = {}  # if only some inputs are known (the `linearize` lesson)
transpose_rules: Rules = {}  # how to run a linear operation backwards (the `grad` lesson)

add_p = Primitive("add")
sub_p = Primitive("sub")
mul_p = Primitive("mul")
div_p = Primitive("div")
neg_p = Primitive("neg")
sin_p = Primitive("sin")
cos_p = Primitive("cos")
exp_p = Primitive("exp")
log_p = Primitive("log")
gt_p = Primitive("gt")
lt_p = Primitive("lt")
reduce_sum_p = Primitive("reduce_sum")
transpose_p = Primitive("transpose")
broadcast_in_dim_p = Primitive("broadcast_in_dim")
convert_element_type_p = Primitive("convert_element_type")
dot_general_p = Primitive("dot_general")


def get_rule(rules: Rules, primitive: Primitive, task: str) -> Callable[..., Any]:
    """The rule of `primitive` in one of the tables above; `task` names the table in the error."""
    if primitive not in rules:
        raise NotImplementedError(f"{task} for '{primitive}' not implemented")
    return rules[primitive]


# The stack of interpreters ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MainTrace:
    """One use of an interpreter: its place on the stack, its type, and data of its own.

    A new `Trace` object may be made for every operation. Its `MainTrace` is made once for each use
    of a transformation.
    """

    level: int
    trace_type: type[Trace]
    global_data: Any = None


class TraceState(threading.local):
    """The active interpreters of this thread: a stack, with evaluation at the bottom.

    `dynamic_trace` is the interpreter, if any, that takes operations even if no operand is its
    tracer; the `tracing` lesson sets it and says why.
    """

    def __init__(self) -> None:
        self.stack: list[MainTrace] = [MainTrace(0, EvalTrace)]
        self.dynamic_trace: MainTrace | None = None


@contextmanager
def new_main(trace_type: type[Trace], global_data: Any = None) -> Iterator[MainTrace]:
    """A `with` block during which an interpreter is on top of this thread's stack.

    Its target (`as`) is a new `MainTrace` with this type and data; its level is its index on the
    stack. However the block ends, the stack is then as before. Exceptions pass through.

    >>> with new_main(EvalTrace) as main:
    ...     print(main.level, trace_state.stack[-1] is main)
    1 True
    >>> len(trace_state.stack)
    1
    """
    main = MainTrace(len(trace_state.stack), trace_type, global_data)
    trace_state.stack.append(main)
    try:
        yield main
    finally:
        trace_state.stack.pop()


@contextmanager
def hidden(mains: Sequence[MainTrace], reason: str) -> Iterator[None]:
    """Take interpreters off the stack for a `with` block; the others keep their levels.

    Their tracers cannot be used in the block: that raises `UnexpectedTracerError` with `reason`.
    """
    stack = trace_state.stack
    for main in mains:
        stack[main.level] = MainTrace(main.level, Trace, (main, reason))
    try:
        yield
    finally:
        for main in mains:
            stack[main.level] = main


def check_not_hidden(main: MainTrace) -> None:
    """`UnexpectedTracerError` with the reason, if `main` is hidden."""
    stack = trace_state.stack
    there = stack[main.level].global_data if main.level < len(stack) else None
    if isinstance(there, tuple) and there[0] is main:
        raise UnexpectedTracerError(there[1])


# Traces -----------------------------------------------------------------------------------------


class Trace:
    """An interpreter: boxes values into its kind of tracer and applies primitives to them."""

    def __init__(self, main: MainTrace) -> None:
        self.main = main

    def pure(self, val: Value) -> Value:
        """Box a constant: a value that no active interpreter has anything to do with."""
        raise NotImplementedError(f"{type(self).__name__} must define pure.")

    def lift(self, val: Value) -> Value:
        """Box a tracer of an interpreter further down, which counts as a constant up here."""
        raise NotImplementedError(f"{type(self).__name__} must define lift.")

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """The boxed results of `primitive` on boxed operands, by this interpreter's rule."""
        raise NotImplementedError(f"{type(self).__name__} must define process_primitive.")


# Abstract values --------------------------------------------------------------------------------


# Which Python types are arrays to us, and how their abstract values are made.
aval_makers: dict[type, Callable[[Any], ShapedArray]] = {
    **dict.fromkeys((bool, int, float), scalar_aval),
    **dict.fromkeys((np.ndarray, np.generic), numpy_aval),
    np.ma.MaskedArray: masked_aval,
    ArrayImpl: array_aval,
}


def get_aval(x: Value) -> ShapedArray:
    """The abstract value of `x`: a tracer's own, or what its entry in `aval_makers` returns.

    This table is read at each call, and the entry of a class is valid for subclasses, too. If
    several classes fit, take the one from which `x` would inherit a method that all of them
    define. If none fits, raises the `TypeError` of the last example. A maker's error passes
    through unchanged.

    >>> print(get_aval(np.zeros((2, 3))), get_aval(np.float64(1.0)), get_aval(1.0))
    float64[2,3] float64[] ~float64[]
    >>> get_aval("one")
    Traceback (most recent call last):
    TypeError: Argument 'one' of type <class 'str'> is not a valid JAX type
    """
    if isinstance(x, Tracer):
        return x.aval
    for cls in type(x).__mro__:  # np.float64 is a float too, but np.generic comes first there
        if cls in aval_makers:
            return aval_makers[cls](x)
    raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")


# bind -------------------------------------------------------------------------------------------


def bind(primitive: Primitive, *args: Value, **params: Any) -> Value:
    """The result of `primitive` on `args`: every operation passes through here.

    The interpreter that takes the operation is asked once, and sees only boxes of its own. A result
    keeps its box only if that adds something. With `primitive.multiple_results`, returns a list.

    >>> bind(mul_p, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    Array([3., 8.], dtype=float64)
    """
    top_trace = find_top_trace(args)
    tracers = [full_raise(top_trace, arg) for arg in args]
    outs = top_trace.process_primitive(primitive, tracers, params)
    return [full_lower(out) for out in outs] if primitive.multiple_results else full_lower(outs)


def main_of(tracer: Tracer) -> MainTrace:
    """The `MainTrace` of `tracer`; `UnexpectedTracerError` if its use has ended."""
    main, stack = tracer._trace.main, trace_state.stack
    if main.level < len(stack) and stack[main.level] is main:
        return main
    check_not_hidden(main)
    raise UnexpectedTracerError(
        f"{tracer} was used outside the function that was being transformed when it was made. "
        "It was kept in a list, a global or an attribute; return it from the function instead."
    )


def default_main() -> MainTrace:
    """The interpreter of operations without a tracer: evaluation, until the `tracing` lesson."""
    return trace_state.dynamic_trace or trace_state.stack[0]


def find_top_trace(args: Values) -> Trace:
    """Any trace of the interpreter that takes an operation on `args`.

    It is the lowest interpreter that can box all of `args` (see `Trace`), but never one below
    `default_main()`. If the interpreter of any tracer in `args` has ended, raises
    `UnexpectedTracerError`.

    >>> type(find_top_trace([1.0, np.zeros(3)])).__name__
    'EvalTrace'
    """
    top = default_main()
    for x in args:
        if isinstance(x, Tracer):
            main = main_of(x)
            top = main if main.level > top.level else top
    return top.trace_type(top)


def full_raise(trace: Trace, val: Value) -> Value:
    """`val` in a box of an active `trace`: unchanged if it is in one already, else boxed.

    One use of an interpreter has many `Trace` objects, and all their boxes belong together. The
    boxes of two uses never do. A tracer of another use has escaped if `trace` cannot box it, or if
    its interpreter has ended: then `UnexpectedTracerError` is raised.

    >>> full_raise(EvalTrace(trace_state.stack[0]), 3.0)
    3.0
    """
    if not isinstance(val, Tracer):
        return trace.pure(val)
    main = val._trace.main
    if main is trace.main:
        return val
    if main_of(val).level < trace.main.level:
        return trace.lift(val)
    raise UnexpectedTracerError(
        f"{val} belongs to level {main.level} and cannot be used at level {trace.main.level}: "
        "it has escaped from the function that was being transformed when it was made."
    )


def full_lower(val: Value) -> Value:
    """`val`, without its box if it is a tracer whose box adds nothing.

    >>> full_lower(3.0)
    3.0
    """
    return val.full_lower() if isinstance(val, Tracer) else val


# The interpreter at the bottom: evaluation ------------------------------------------------------


class EvalTrace(Trace):
    """Evaluates: its values are arrays and numbers, without a box."""

    def pure(self, val: Value) -> Value:
        if type(val) is not ArrayImpl:
            get_aval(val)  # raises TypeError for what is not an array
        return val

    lift = pure

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """The value that the primitive's evaluation rule computes, as an array of our own.

        It is weakly typed if all operands are, or as the parameters say. With `multiple_results`,
        returns a list.

        >>> EvalTrace(trace_state.stack[0]).process_primitive(neg_p, [np.array([2.0])], {})
        Array([-2.], dtype=float64)
        """
        rule = get_rule(impl_rules, primitive, "Evaluation rule")
        outs = computed(rule, primitive, tracers, params)
        weak_type = weak_result(primitive, tracers, params)
        if primitive.multiple_results:
            return [placed_with(tracers, as_result(out, weak_type)) for out in outs]
        return placed_with(tracers, as_result(outs, weak_type))


@np.errstate(all="ignore")
def computed(
    rule: Callable[..., Any], primitive: Primitive, operands: Values, params: dict[str, Any]
) -> Value:
    """What a rule of evaluation returns, without NumPy's warnings: log(-1) is NaN, as in XLA.

    Rules compute with NumPy. Only those with several results, which call programs, take arrays as
    they are: the values may be on a device already.
    """
    if primitive.multiple_results:
        return rule(*operands, **params)
    out = rule(*map(as_numpy, operands), **params)
    for x in operands:  # the user may write to a NumPy array
        if isinstance(x, np.ndarray) and np.may_share_memory(out, x):
            return np.array(out)
    return out


# Which operands say whether a result is weakly typed, if not all of them do.
weak_operands: dict[Primitive, slice] = {}


def weak_result(primitive: Primitive, operands: Values, params: dict[str, Any]) -> bool:
    """Whether the result of an operation is weakly typed: if all operands are.

    >>> weak_result(mul_p, [2.0, 3.0], {}), weak_result(mul_p, [2.0, np.ones(3)], {})
    (True, False)
    """
    if "weak_type" in params:
        return params["weak_type"]
    if primitive in weak_operands:
        operands = operands[weak_operands[primitive]]
    return bool(operands) and all(map(is_weak, operands))


def is_weak(x: Value) -> bool:
    return x.weak_type if type(x) is ArrayImpl else type(x) in (int, float)


trace_state = TraceState()


# How to evaluate each primitive -----------------------------------------------------------------

impl_rules[add_p] = np.add
impl_rules[sub_p] = np.subtract
impl_rules[mul_p] = np.multiply
impl_rules[div_p] = div_impl
impl_rules[neg_p] = np.negative
impl_rules[sin_p] = np.sin
impl_rules[cos_p] = np.cos
impl_rules[exp_p] = np.exp
impl_rules[log_p] = np.log
impl_rules[gt_p] = np.greater
impl_rules[lt_p] = np.less
impl_rules[reduce_sum_p] = reduce_sum_impl
impl_rules[transpose_p] = lambda x, *, permutation: np.transpose(x, permutation)
impl_rules[broadcast_in_dim_p] = broadcast_in_dim_impl
impl_rules[convert_element_type_p] = convert_element_type_impl
impl_rules[dot_general_p] = dot_general_impl


# A first transformation: counting ---------------------------------------------------------------


class CountTracer(Tracer):
    """The box of the interpreter that counts: a value, and nothing else."""

    def __init__(self, trace: Trace, value: Value) -> None:
        self._trace = trace
        self.value = value
        self.aval = get_aval(value)


def counted(f: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, int]]:
    """A function that returns `f(x)` and the number of operations that depended on `x`, as a pair.

    `f` takes one array or number and returns one. The pair begins with its value, out of its box.
    Each call counts the operations that depend on its own `x`. An operation with several results
    counts once. Inside `f`, Python's `if` may look at `x`, and `counted` may be used again, even on
    `f`.

    >>> def f(x):
    ...     return sub_p.bind(mul_p.bind(x, x), cos_p.bind(0.0))
    >>> counted(f)(3.0)
    (Array(8., dtype=float64, weak_type=True), 2)
    """

    class CountTrace(Trace):
        def pure(self, val: Value) -> CountTracer:
            return CountTracer(self, val)

        lift = pure

        def process_primitive(
            self, primitive: Primitive, tracers: Sequence[CountTracer], params: dict[str, Any]
        ) -> Any:
            self.main.global_data.append(primitive)
            outs = primitive.bind(*[tracer.value for tracer in tracers], **params)
            if primitive.multiple_results:
                return [self.pure(out) for out in outs]
            return self.pure(outs)

    def counted_f(x: Value) -> tuple[Any, int]:
        with new_main(CountTrace, []) as main:
            trace = CountTrace(main)
            out = full_raise(trace, f(trace.pure(x)))
        return out.value, len(main.global_data)

    return counted_f


# Markers that later lessons share ---------------------------------------------------------------


class NotMapped:
    """The batch axis of a value that has none (the `vmap` lesson)."""

    def __repr__(self) -> str:
        return "not_mapped"


not_mapped = NotMapped()


@dataclass(eq=False)
class UndefPrimal:
    """A linear input, of which a transpose rule knows only the type (the `grad` lesson)."""

    aval: ShapedArray
