"""The core: primitives, the stack of interpreters, and `bind`, which joins the two.

A program such as `sin(x) * 2.0` is a sequence of *primitive* operations. To transform a program
is to give these operations a different meaning: not only "compute the value" but "compute the value
and its derivative", or "write the operation down". Each meaning is an interpreter, a `Trace`.
The active interpreters form a stack, and every operation of the program goes through one function,
`bind`, which hands it to the right interpreter.

This file reads from top to bottom: primitives and their rules, the stack, traces and tracers,
abstract values, `bind`, the interpreter at the bottom of the stack, which evaluates, and last a
small one above it, which counts.
"""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from minijax import dtypes
from minijax.array import Array, ArrayImpl, array_methods, as_numpy
from minijax.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
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


# Traces and tracers -----------------------------------------------------------------------------


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


class Tracer(Array):
    """A box around a value, with whatever else its interpreter needs (a tangent, a name).

    Users' functions compute with tracers as with arrays. What a tracer's value may be is its
    *abstract value*, `aval`; subclasses define it.
    """

    _trace: Trace
    aval: ShapedArray

    def full_lower(self) -> Any:
        """The value inside, if the box adds nothing to it; else the box itself."""
        return self

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    weak_type = property(lambda self: self.aval.weak_type)

    def __bool__(self) -> bool:
        return self.aval.to_bool()

    def __int__(self) -> int:
        return self.aval.to_int()

    def __index__(self) -> int:
        return self.aval.to_index()

    def __float__(self) -> float:
        raise ConcretizationTypeError(
            f"float() was called on a tracer of type {self.aval}. Convert with x.astype(float)."
        )

    __complex__ = __float__

    def item(self, *args: int) -> NoReturn:
        """Arrays have these methods because they hold a value; a tracer does not have one."""
        raise ConcretizationTypeError(
            f"The value of a tracer of type {self.aval} was asked for, but it is not known while "
            "the function is traced. Return the tracer, and ask for the value of the result."
        )

    tolist = devices = is_deleted = __reduce__ = item
    committed = property(item)

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TracerArrayConversionError(
            f"A NumPy function was called on a tracer of type {self.aval}. Use the function of the "
            "same name from minijax.numpy."
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self.aval}>"


# Abstract values --------------------------------------------------------------------------------


# Equal types are the same key; and like all keys, they are never changed.
@dataclass(unsafe_hash=True, repr=False)
class ShapedArray:
    """The set of all arrays with the same shape and dtype: what a type checker knows about one.

    `weak_type` marks Python scalars, whose dtype gives way to an array's (see `minijax.dtypes`).
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool = False

    def str_short(self, short_dtypes: bool = False) -> str:
        """Dtype and shape, `float64[2,3]`; or, as in a jaxpr, `f64[2,3]`."""
        name = dtypes.short_name(self.dtype) if short_dtypes else dtypes.name(self.dtype)
        return f"{name}[{','.join(map(str, self.shape))}]"

    def __str__(self) -> str:
        return ("~" if self.weak_type else "") + self.str_short()

    def __repr__(self) -> str:
        weak_type = ", weak_type=True" if self.weak_type else ""
        return f"{type(self).__name__}({self.str_short()}{weak_type})"

    def to_bool(self) -> bool:
        raise TracerBoolConversionError(
            f"A tracer of type {self} was used as a condition, but its value is not known while "
            "the function is traced. Choose between values with lax.cond or jnp.where instead."
        )

    def to_int(self) -> int:
        raise ConcretizationTypeError(
            f"int() was called on a tracer of type {self}. Convert with x.astype(int)."
        )

    def to_index(self) -> int:
        raise TracerIntegerConversionError(
            f"A tracer of type {self} was used as a Python integer, but its value is not known "
            "while the function is traced. Pass it as a static argument instead."
        )


@dataclass(eq=False, repr=False)
class ConcreteArray(ShapedArray):
    """The set that holds a single array, `val`: not only its type is known, but its value."""

    val: Any = None

    def to_bool(self) -> bool:
        """The truth of the value, for Python's `if`.

        >>> ConcreteArray((), np.dtype("float64"), val=np.array(2.0)).to_bool()
        True
        """
        return bool(self.val)

    def to_int(self) -> int:
        return int(self.val)

    def to_index(self) -> int:
        return operator.index(self.val)


def number_type(x: bool | int | float) -> type:
    """The dtype of a Python number; `OverflowError` for an integer that needs more than 64 bits."""
    if isinstance(x, bool):
        return np.bool_
    if isinstance(x, int):
        np.int64(x)
    return np.int64 if isinstance(x, int) else np.float64


def scalar_aval(x: Value) -> ConcreteArray:
    """The abstract value of a Python scalar, which is weakly typed."""
    return ConcreteArray((), np.dtype(number_type(x)), weak_type=True, val=x)


def numpy_aval(x: Value) -> ConcreteArray:
    """The abstract value of a NumPy array or scalar."""
    return ConcreteArray(x.shape, dtypes.canonical(x.dtype), val=x)


def array_aval(x: ArrayImpl) -> ConcreteArray:
    """The abstract value of an array of our own, which knows whether it is weakly typed."""
    aval = x if x.host is None else x.host
    return ConcreteArray(aval.shape, aval.dtype, x.weak_type, x)


def masked_aval(x: Value) -> NoReturn:
    """NumPy's masked arrays have none: computing on their data would lose the mask."""
    raise ValueError("Masked arrays are not supported; use x.filled(value) for an ordinary one.")


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


array_methods["aval"] = lambda x: ShapedArray(x.shape, x.dtype, x.weak_type)


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


def as_result(out: Value, weak_type: bool = False) -> Value:
    """A result of evaluation: NumPy's arrays and scalars become arrays of our own."""
    if isinstance(out, np.ndarray | np.generic):
        return ArrayImpl(np.asarray(out), weak_type)
    return out


def placed_with(operands: Values, result: Value) -> Value:
    """A result of evaluation, on the devices where the user put operands, if any are (`jit`)."""
    for x in operands:
        if type(x) is ArrayImpl and x.kind is not None and x.kind.committed:
            return array_methods["_placed_with"](operands, result)
    return result


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


# How to evaluate each primitive: NumPy's answer, corrected if XLA's differs ----------------------


def div_impl(x: Value, y: Value) -> Value:
    """The quotients of `x` and `y`, as XLA computes them.

    Integers keep their dtype and round towards zero, exactly. Divided by zero they become -1, or an
    unsigned dtype's largest number.

    >>> [int(div_impl(a, b)) for a, b in [(7, 2), (-7, 2), (7, 0)]]
    [3, -3, -1]
    >>> div_impl(np.array([9, 9], np.uint8), np.array([2, 0], np.uint8))
    array([  4, 255], dtype=uint8)
    """
    x, y = np.asarray(x), np.asarray(y)
    if dtypes.is_float(x.dtype):
        return np.divide(x, y)
    quotient = np.floor_divide(x, np.where(y == 0, np.ones_like(y), y))
    rounded_down = (quotient < 0) & (quotient * y != x)
    minus_one = np.array(-1).astype(quotient.dtype)
    return np.where(y == 0, minus_one, quotient + rounded_down)


def reduce_sum_impl(x: Value, *, axes: tuple[int, ...]) -> Value:
    """Add up along `axes`, which disappear; the dtype stays (NumPy would widen small integers)."""
    x = np.asarray(x)
    return np.sum(x, axis=axes, dtype=x.dtype)


def broadcast_in_dim_impl(
    x: Value, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]
) -> Value:
    """`x` repeated into `shape`; axis `i` of `x` becomes axis `broadcast_dimensions[i]`.

    The other axes are new. An axis of size 1 is repeated to the size that `shape` asks for.

    >>> broadcast_in_dim_impl(np.array([1.0, 2.0]), shape=(2, 3), broadcast_dimensions=(0,))
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    sizes = dict(zip(broadcast_dimensions, np.shape(x), strict=True))
    aligned = np.reshape(x, [sizes.get(axis, 1) for axis in range(len(shape))])
    return np.broadcast_to(aligned, shape)


def convert_element_type_impl(x: Value, *, new_dtype: Any, weak_type: bool) -> Value:
    """Convert to `new_dtype`; as integers, NaN is 0, and too large a number is the largest one."""
    x, new_dtype = np.asarray(x), np.dtype(new_dtype)
    if dtypes.is_float(x.dtype) and new_dtype.kind in "iu":
        limits = np.iinfo(new_dtype)
        inside = np.where(np.isnan(x) | (x <= limits.min) | (x >= limits.max), 0, x)
        ends = np.where(x >= limits.max, limits.max, np.where(x <= limits.min, limits.min, 0))
        return inside.astype(new_dtype) + ends.astype(new_dtype)
    return x.astype(new_dtype)


def dot_general_impl(
    x: Value, y: Value, *, dimension_numbers: Any, preferred_element_type: Any
) -> Value:
    """Multiply and add up along the contracted axes; batch axes come first in the result.

    `dimension_numbers` is ((contracted axes of x, of y), (batch axes of x, of y)). If there is a
    `preferred_element_type`, everything is computed in it.

    >>> numbers = (((1,), (0,)), ((), ()))
    >>> dot_general_impl(np.eye(2), np.array([3.0, 4.0]), dimension_numbers=numbers,
    ...                  preferred_element_type=None)
    array([3., 4.])
    """
    (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
    x, y = (np.asarray(v, preferred_element_type) for v in (x, y))
    x_kept = [i for i in range(x.ndim) if i not in (*x_contract, *x_batch)]
    y_kept = [i for i in range(y.ndim) if i not in (*y_contract, *y_batch)]
    batch, rows, inner = ([x.shape[i] for i in axes] for axes in (x_batch, x_kept, x_contract))
    columns = [y.shape[i] for i in y_kept]
    # As stacks of matrices, which NumPy multiplies: several axes become one, and several again.
    m, k, n = math.prod(rows), math.prod(inner), math.prod(columns)
    x = x.transpose([*x_batch, *x_kept, *x_contract]).reshape([*batch, m, k])
    y = y.transpose([*y_batch, *y_contract, *y_kept]).reshape([*batch, k, n])
    return np.matmul(x, y).reshape([*batch, *rows, *columns])


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
