"""`scan` as an operation, `fori_loop`, and the parts of their rules that are not exercises.

A scan traces its body and binds `scan_p`. `control_flow.py` has its rules.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from minijax.branches import Function
from minijax.core import (
    ConcreteArray,
    ShapedArray,
    Tracer,
    Value,
    Values,
    add_p,
    convert_element_type_p,
    get_aval,
    impl_rules,
)
from minijax.errors import ConcretizationTypeError
from minijax.jaxpr import ClosedJaxpr, jaxpr_as_fun, kept_beside
from minijax.jit import CallPrimitive
from minijax.lax.basic import (
    add,
    broadcast_in_dim,
    convert_element_type,
    lt,
    mul,
    reduce_sum,
    transpose,
)
from minijax.lax.dynamic import dynamic_slice_p, dynamic_update_slice_p
from minijax.lax.elementwise import max as lax_max
from minijax.lax.elementwise import min as lax_min
from minijax.lax.reductions import reduce_max, reduce_min, reduce_prod
from minijax.lax.shapes import expand_dims, reshape, squeeze
from minijax.loops import trace_step, while_loop
from minijax.marks import Marks, chosen, filled, groups, opposite
from minijax.programs import (
    Part,
    Types,
    evaluate_compiled,
    fixed_to_consts,
    handed_through,
    hoisted,
    kept_for,
    own_array,
    trace_part,
    types_of,
    with_results,
)
from minijax.tracing import trace_to_jaxpr
from minijax.transpose import transposed_jaxpr
from minijax.tree import PyTreeDef, tree_flatten, tree_map, tree_unflatten
from minijax.vmap import vmap

__all__ = ["fori_loop", "reduce", "scan", "scan_p"]


# scan -------------------------------------------------------------------------------------------

scan_p = CallPrimitive("scan", multiple_results=True)


@dataclass(frozen=True)
class Scan:
    """The parameters of `scan_p`. Operands: constants, the carry, and arrays of rows, the xs."""

    jaxpr: ClosedJaxpr  # constants, carry, one row of each array -> carry, ys
    length: int
    num_carry: int
    num_consts: int
    reverse: bool
    unroll: int

    def parts(self, xs: Values) -> list[Any]:
        """The operands, or as many of anything else, in their three groups."""
        return groups(xs, self.num_consts, self.num_carry)

    def with_body(self, body: ClosedJaxpr, num_consts: int, num_carry: int) -> Scan:
        """A loop over as many steps; constants that `body` holds come first, as operands."""
        num_consts += len(body.consts)
        return replace(self, jaxpr=hoisted(body), num_consts=num_consts, num_carry=num_carry)

    def bind(self, body: ClosedJaxpr, consts: Values, init: Values, rows: Values) -> list[Any]:
        """Bind `scan_p` with another body, for as many steps; none are needed for no results."""
        if not body.out_avals:
            return []
        loop = self.with_body(body, len(consts), len(init))
        return scan_p.bind(*body.consts, *consts, *init, *rows, **vars(loop))


def scan(
    f: Function,
    init: Value,
    xs: Value = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """A loop over the rows of arrays: `carry, y = f(carry, x)` for each row `x`.

    Returns the last carry, and all `y` stacked into arrays. `xs` may be a container of arrays with
    the same length; without any, `length` says how many times `f` is applied. With `reverse` the
    last row comes first, and each `y` is at the index of its `x`. Structure and types of the carry
    must stay the same (`TypeError`). The number of steps is known, so reverse mode works: it keeps
    what it needs of every step. `unroll` is noted in the equation and changes nothing else.
    Counterpart: `jax.lax.scan`.

    >>> total, sums = scan(lambda c, x: (c + x, c + x), 0.0, np.array([1.0, 2.0, 3.0]))
    >>> print(total, sums)
    6.0 [1. 3. 6.]
    """
    if not callable(f):
        raise TypeError("lax.scan: f argument should be a callable.")
    leaves, carry_tree = tree_flatten(init)
    rows, rows_tree = tree_flatten(xs)
    length = scan_length(rows, length)
    tree = PyTreeDef(tuple, None, (carry_tree, rows_tree))
    row_avals = [ShapedArray(a.shape[1:], a.dtype, a.weak_type) for a in types_of(rows)]

    def trace_body(avals: Types) -> tuple[Part, PyTreeDef]:
        part = trace_part(f, tree, [*avals, *row_avals])
        if len(part.tree.children()) != 2:  # any container, as in JAX
            raise TypeError(f"scan body output must be a pair, got {part.tree}.")
        return part, part.tree.child_treedefs[0]

    body, leaves = trace_step("scan body", trace_body, carry_tree, leaves)
    loop = Scan(body.program, length, len(leaves), 0, reverse, steps_at_once(unroll, length))
    return tree_unflatten(body.tree, repeat_scan(loop, body.program, [], leaves, rows))


def scan_length(rows: Values, length: int | None) -> int:
    """The number of steps: the length of all `rows`, and the given one."""
    if any(not get_aval(x).shape for x in rows):
        raise ValueError(f"scan got value with no leading axis to scan over: {rows}.")
    sizes = [get_aval(x).shape[0] for x in rows]
    if length is None and len(set(sizes)) > 1:
        raise ValueError(f"scan got values with different leading axis sizes: {sizes}.")
    if length is None and not sizes:
        raise ValueError("scan got no values to scan over and `length` not provided.")
    if length is not None and not is_concrete(length):
        raise ConcretizationTypeError(
            "The `length` argument to `scan` expects a concrete `int` value. For scan-like "
            "iteration with a dynamic length, use `while_loop` or `fori_loop`."
        )
    number = sizes[0] if length is None else int(length)
    if any(size != number for size in sizes):
        raise ValueError(
            f"scan got `length` argument of {length} which disagrees with leading axis sizes "
            f"{sizes}."
        )
    return number


def is_concrete(x: Value) -> bool:
    """Whether Python can know the value of `x`."""
    return not isinstance(x, Tracer) or isinstance(x.aval, ConcreteArray)


def steps_at_once(unroll: int | bool, length: int) -> int:
    """`unroll` as a number of steps, as JAX notes it."""
    if isinstance(unroll, bool):
        return max(length, 1) if unroll else 1
    if operator.index(unroll) < 0:
        raise ValueError("`unroll` must be a `bool` or a non-negative `int`.")
    return unroll


def repeat_scan(
    loop: Scan, body: ClosedJaxpr, consts: Values, init: Values, rows: Values
) -> list[Any]:
    """Bind `scan_p`, except for what the body hands through.

    A carry that never changes becomes a constant; rows that come out unchanged are not copied.
    """
    consts, body = [*body.consts, *consts], hoisted(body)
    carry_sources, y_sources = groups(handed_through(body), len(init))
    fixed = tuple(i == len(consts) + k for k, i in enumerate(carry_sources))
    first_row = len(consts) + len(init)
    as_they_are = tuple(i is not None and i >= first_row for i in y_sources)
    body = fixed_to_consts(body, len(consts), fixed)
    number = fixed.count(False)
    computed = chosen(range(number, len(body.out_avals)), opposite(as_they_are))
    body = with_results(body, [*range(number), *computed])
    same, changing = chosen(init, fixed), chosen(init, opposite(fixed))
    carry, ys = groups(loop.bind(body, [*same, *consts], changing, rows), number)
    stacks = [own_array(rows[i - first_row]) for i in chosen(y_sources, as_they_are)]
    return [*filled(fixed, same, carry), *filled(as_they_are, stacks, ys)]


# fori_loop: a scan, or a while_loop -------------------------------------------------------------


def fori_loop(
    lower: Any, upper: Any, body_fun: Function, init_val: Any, *, unroll: int | bool | None = None
) -> Any:
    """`val = body_fun(i, val)` for `i` from `lower` to below `upper`; the last `val`.

    If both bounds are known while tracing, it is a `scan`, and reverse mode works; else it is a
    `while_loop`. Counterpart: `jax.lax.fori_loop`.

    >>> print(fori_loop(0, 5, lambda i, x: x + i, 100))
    110
    """
    if not callable(body_fun):
        raise TypeError("lax.fori_loop: body_fun argument should be callable.")
    dtype = index_dtype(get_aval(lower), get_aval(upper))
    if is_concrete(lower) and is_concrete(upper):
        start, length = int(lower), max(int(upper) - int(lower), 0)
        step, unroll = counting_step(body_fun), False if unroll is None else unroll
        return scan(step, (start, init_val), None, length, unroll=unroll)[0][1]
    if unroll not in (None, False, 1):
        raise ValueError(
            "Can only use `unroll` in `fori_loop` if the loop bounds are statically known."
        )
    lower, upper = (
        x if get_aval(x).dtype == dtype else convert_element_type(x, dtype) for x in (lower, upper)
    )
    return while_loop(below_upper, counting_body(body_fun), (lower, upper, init_val))[2]


def index_dtype(lower: ShapedArray, upper: ShapedArray) -> np.dtype:
    """The dtype of the index: that of both bounds; a Python integer takes the other one's."""
    if lower.dtype == upper.dtype:
        return lower.dtype
    if {lower.dtype.kind, upper.dtype.kind} != {"i"} or lower.weak_type == upper.weak_type:
        raise TypeError(
            "lower and upper arguments to fori_loop must have equal types, got "
            f"{lower.dtype.name} and {upper.dtype.name}"
        )
    return upper.dtype if lower.weak_type else lower.dtype


@kept_for
def counting_step(body_fun: Callable[[], Any]) -> Function:
    """The body of a `fori_loop` as the body of a `scan`."""

    def step(carry: tuple[Any, Any], _: None) -> tuple[Any, None]:
        i, val = carry
        return (i + 1, body_fun()(i, val)), None

    return step


@kept_for
def counting_body(body_fun: Callable[[], Any]) -> Function:
    """The body of a `fori_loop` as the body of a `while_loop`."""

    def body(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        i, upper, val = carry
        return add(i, np.ones((), get_aval(i).dtype)), upper, body_fun()(i, val)

    return body


def below_upper(carry: tuple[Any, Any, Any]) -> Any:
    i, upper, _ = carry
    return lt(i, upper)


# scan: evaluation -------------------------------------------------------------------------------


def scan_impl(*args: Value, **params: Any) -> Values:
    return evaluate_compiled(scan_p, params["jaxpr"], args, params)


# scan: partial evaluation -----------------------------------------------------------------------
#
# What is known of a step becomes a scan that runs now and returns its residuals as rows; the rest
# is a scan that runs later, over these rows. Residuals that depend on constants alone are the same
# in every step. They are found by splitting the known part once more, into what can be computed
# before the loop and the rest: partial evaluation again, with "constant" instead of "known".


class SplitScan(NamedTuple):
    """The step of a scan in three parts, and what is unknown.

    `before`: known constants -> residuals that are the same in all steps, constants of `step`.
    `step`: these constants, known carry, known rows -> known carry, known ys, other residuals.
    `rest`: residuals that are the same, unknown constants | unknown carry | unknown rows, other
    residuals -> unknown carry, unknown ys.
    """

    before: ClosedJaxpr
    step: ClosedJaxpr
    rest: ClosedJaxpr
    carry: Marks
    out: Marks
    varying: Marks  # which residuals are not the same in all steps


def run_known(
    loop: Scan, split: SplitScan, consts: Values, init: Values, rows: Values
) -> tuple[list[Any], list[Any], list[Any]]:
    """Known results, residuals that are the same in all steps, and stacks of the others."""
    outs = jaxpr_as_fun(split.before)(*consts)
    same, step_consts = groups(outs, split.varying.count(False))
    outs = repeat_scan(loop, split.step, step_consts, init, rows)
    results, stacks = groups(outs, split.out.count(False))
    return results, same, stacks


@kept_beside
def backward_step(
    rest: ClosedJaxpr, num_same: int, num_consts: int, num_carry: int, num_stacks: int
) -> ClosedJaxpr:
    """The step of the transposed scan.

    From residuals | sums of the cotangents of the linear constants, cotangents of the carry |
    cotangents of the ys, residuals in rows; to the new sums, cotangents of the carry | cotangents
    of the linear rows.
    """
    first, last = num_same, len(rest.in_avals) - num_stacks
    linear = tuple(first <= i < last for i in range(len(rest.in_avals)))
    transposed = jaxpr_as_fun(transposed_jaxpr(rest, linear))
    num_ys = len(rest.out_avals) - num_carry

    def step(*args: Value) -> list[Value]:
        same, sums, carry, ys, stacks = groups(args, num_same, num_consts, num_carry, num_ys)
        parts, carry_ct, others = groups(
            transposed(*same, *stacks, *carry, *ys), num_consts, num_carry
        )
        return [*map(add_p.bind, sums, parts), *map(retyped, carry_ct, rest.out_avals), *others]

    same_and_sums, stacks = rest.in_avals[: first + num_consts], rest.in_avals[last:]
    return trace_to_jaxpr(step, [*same_and_sums, *rest.out_avals, *stacks])


def retyped(ct: Value, aval: ShapedArray) -> Value:
    """A carry's cotangent after a step, weakly typed if it was before the step."""
    return convert_element_type_p.bind(ct, new_dtype=aval.dtype, weak_type=aval.weak_type)


def row_at(x: Value, place: Any) -> Value:
    """The row of `x` at `place`, maybe a tracer; `IndexError` if there are none at all."""
    shape = get_aval(x).shape
    if shape[0] == 0:
        raise IndexError(f"An array of shape {shape} has no row that could be read.")
    starts = [place, *[np.int64(0)] * (len(shape) - 1)]
    return squeeze(dynamic_slice_p.bind(x, *starts, slice_sizes=(1, *shape[1:])), (0,))


def put_row(ys: Value, row: Any, place: Any) -> Value:
    starts = [place, *[np.int64(0)] * len(get_aval(row).shape)]
    return dynamic_update_slice_p.bind(ys, expand_dims(row, (0,)), *starts)


impl_rules[scan_p] = scan_impl


# reduce: a scan over the axes that go -----------------------------------------------------------

REDUCTIONS = {add: reduce_sum, mul: reduce_prod, lax_max: reduce_max, lax_min: reduce_min}


def reduce(
    operands: Any, init_values: Any, computation: Function, dimensions: Sequence[int]
) -> Any:
    """`init_values` and all elements along `dimensions`, two at a time, by `computation`.

    Operands and initial values are trees of the same structure; all operands have the same shape.
    The computation takes and returns single elements. Their order is not promised, so it should
    be associative. Counterpart: `jax.lax.reduce`.

    >>> print(reduce(np.array([1.0, 5.0, 2.0]), 0.0, lambda x, y: x + y * y, (0,)))
    30.0
    """
    shape = get_aval(tree_flatten(operands)[0][0]).shape
    if any(not 0 <= axis < len(shape) for axis in dimensions):
        raise ValueError(f"An array of shape {shape} has no axes {tuple(dimensions)} to reduce.")
    init = tree_map(lambda x, i: convert_element_type(i, get_aval(x).dtype), operands, init_values)
    if computation in REDUCTIONS:
        return computation(REDUCTIONS[computation](operands, dimensions), init)
    kept = [axis for axis in range(len(shape)) if axis not in dimensions]
    sizes = [shape[axis] for axis in kept]
    count = math.prod(shape[axis] for axis in dimensions)
    for _ in kept:
        computation = vmap(computation)
    rows = tree_map(
        lambda x: reshape(transpose(x, (*dimensions, *kept)), (count, *sizes)), operands
    )
    start = tree_map(lambda i: broadcast_in_dim(i, sizes, ()), init)
    return scan(lambda carry, row: (computation(carry, row), None), start, rows)[0]
