"""What families of primitives are defined with: texts of operations, constants, and `define`.

A primitive that treats every element alone needs little: how NumPy computes it, what StableHLO
calls it, and the derivative with respect to each operand. Batching and types are the same for all
of them. So `define` takes these facts and fills all the tables of `minijax.core` at once.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax.array import Array
from minijax.core import (
    Primitive,
    ShapedArray,
    Tangent,
    Value,
    Values,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    vmap_rules,
)
from minijax.jaxpr import binary_type, raise_to_shaped, unary_type
from minijax.jit import lower_body
from minijax.jvp import add_tangents, apply_linear, stretch_like
from minijax.lax.basic import broadcast_in_dim, convert_element_type
from minijax.lowering import Emitter, elementwise_hlo, result_names, tensor_type
from minijax.tracing import trace_to_jaxpr
from minijax.vmap import binary_batch, move_batch_axis, unary_batch

__all__ = ["full", "full_like"]


# Means for all families ---------------------------------------------------------------------------


def hlo_operation(
    name: str, attributes: Callable[..., str] = lambda *avals, **params: ""
) -> Callable[..., list[str]]:
    """The lowering to one operation; `attributes` makes their text from types and parameters."""

    def lowering(
        emitter: Emitter, avals: Any, out_avals: Any, args: Any, **params: Any
    ) -> list[str]:
        return emit_operation(emitter, name, args, avals, out_avals, attributes(*avals, **params))

    return lowering


def i64s(numbers: Sequence[int]) -> str:
    """A list of numbers as an attribute of an operation."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if len(numbers) else "array<i64>"


def emit_operation(
    emitter: Emitter,
    name: str,
    args: Sequence[str],
    avals: Any,
    out_avals: Any,
    attributes: str = "",
    region: str = "",
) -> list[str]:
    """Emit an operation in the form that is the same for all; returns its results' names."""
    inside = f"({region}) " if region else ""
    ins, outs = (", ".join(map(tensor_type, part)) for part in (avals, out_avals))
    head = f'"stablehlo.{name}"({", ".join(args)}) {inside}{{{attributes}}}'
    number = len(out_avals)
    return result_names(emitter.emit(f"{head} : ({ins}) -> ({outs})", number), number)


def hlo_of(f: Callable[..., Any]) -> Callable[..., list[str]]:
    """The lowering of a primitive that other primitives can express: `f` says how."""
    return hlo_of_all(lambda *xs, **params: [f(*xs, **params)])


def hlo_of_all(f: Callable[..., Any]) -> Callable[..., list[str]]:
    """The same for a primitive with several results, of which `f` makes a list."""

    def lowering(
        emitter: Emitter, avals: Any, out_avals: Any, args: Any, **params: Any
    ) -> list[str]:
        types = [raise_to_shaped(aval) for aval in avals]
        closed = trace_to_jaxpr(lambda *xs: f(*xs, **params), types)
        return lower_body(emitter, closed.jaxpr, args, closed.consts)

    return lowering


def emit_region(emitter: Emitter, f: Callable[..., Any], dtypes_in: Sequence[np.dtype]) -> str:
    """A function of 0-d operands as the region of an operation; its names end with it."""
    avals = [ShapedArray((), dtype) for dtype in dtypes_in]
    closed = trace_to_jaxpr(lambda *xs: [f(*xs)], avals)
    names = [f"%x{i}" for i in range(len(avals))]
    inner = Emitter(f"{emitter.stem}r")
    (out,) = lower_body(inner, closed.jaxpr, names)
    args = ", ".join(f"{x}: {tensor_type(aval)}" for x, aval in zip(names, avals, strict=True))
    end = f"stablehlo.return {out} : {tensor_type(closed.out_avals[0])}"
    return "\n".join(["{", f"^bb0({args}):", *inner.lines, end, "}"])


def scalar(value: Value, like: Any) -> Value:
    """A 0-d constant in the dtype of `like`, and as weakly typed."""
    aval = get_aval(like)
    constant = np.asarray(value, aval.dtype)
    return constant.item() if aval.weak_type and aval.dtype.kind != "b" else constant


def full(shape: Sequence[int], fill_value: Value, dtype: Any = None) -> Value:
    """An array of `shape` that holds `fill_value` everywhere."""
    if dtype is not None:
        fill_value = convert_element_type(fill_value, dtype)
    return broadcast_in_dim(fill_value, tuple(shape), ())


def full_like(x: Value, fill_value: Value, dtype: Any = None) -> Value:
    """Like `full`, with shape and dtype of `x`, and as weakly typed where there is no `dtype`."""
    aval = get_aval(x)
    if isinstance(fill_value, Array):
        return full(aval.shape, fill_value, aval.dtype if dtype is None else dtype)
    value = np.asarray(fill_value, aval.dtype if dtype is None else dtype)
    weak = aval.weak_type and dtype is None and aval.dtype.kind != "b"
    return full(aval.shape, value.item() if weak else value)


def zeros_like(x: Value) -> Value:
    return full_like(x, 0)


# Rules for all families ---------------------------------------------------------------------------


def together_jvp(
    primitive: Primitive, places: slice, primals: Values, tangents: Sequence[Tangent], **params: Any
) -> tuple[Any, Any]:
    """The rule for an operation that is linear in its operands at `places` together."""
    y, operands = primitive.bind(*primals, **params), list(primals)
    operands[places] = with_zeros(primals[places], tangents[places])
    return y, primitive.bind(*operands, **params)


def still_jvp(
    primitive: Primitive, primals: Values, tangents: Sequence[Tangent], **params: Any
) -> tuple[Any, Any]:
    """The rule for an operation whose results are integers or booleans, or jump."""
    return primitive.bind(*primals, **params), None


def with_zeros(primals: Values, tangents: Sequence[Tangent]) -> list[Any]:
    """The tangents, with arrays of zeros for what does not move."""
    return [zeros_like(x) if t is None else t for x, t in zip(primals, tangents, strict=True)]


def front_batch(
    primitive: Primitive,
    shifted: Callable[..., dict[str, Any]],
    axis_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    **params: Any,
) -> tuple[Any, Any]:
    """The rule that moves all batch axes to the front.

    `shifted(axis_size, **params)` are the parameters of the operation on batches.
    """
    outs = primitive.bind(*all_in_front(axis_size, vals, dims), **shifted(axis_size, **params))
    return outs, [0] * len(outs) if primitive.multiple_results else 0


def all_in_front(axis_size: int, vals: Sequence[Any], dims: Sequence[Any]) -> list[Any]:
    """The values with their batch axes in front."""
    return [move_batch_axis(axis_size, dim, 0, x) for x, dim in zip(vals, dims, strict=True)]


# How the primitives of this file get their rules --------------------------------------------------


def elementwise_jvp(
    primitive: Primitive,
    derivatives: Sequence[Callable[..., Any]],
    primals: Values,
    tangents: Sequence[Tangent],
    **params: Any,
) -> tuple[Any, Any]:
    """Each tangent goes through the derivative for its operand, `(t, z, *operands)`; then the sum.

    Without `derivatives` the result does not move: it is a step function, or no float.
    """
    z = primitive.bind(*primals, **params)
    if not derivatives:
        return z, None
    parts = [
        apply_linear(lambda t, rule=rule: rule(t, z, *primals, **params), tangent)  # type: ignore
        for rule, tangent in zip(derivatives, tangents, strict=True)
    ]
    return z, apply_linear(lambda t: stretch_like(t, z), functools.reduce(add_tangents, parts))


def define(
    name: str,
    evaluate: Callable[..., Any],
    hlo: str | Callable[..., list[str]],
    *derivatives: Callable[..., Any],
    operands: int = 1,
    cost: str = "elementwise",
) -> Primitive:
    """A primitive of one or two operands and one dtype, with all its rules.

    `cost` is what it costs: "elementwise", an operation for each element, "transcendental", a call
    of a function such as `exp`, or "movement", nothing but bytes (see `costs.py`).
    """
    primitive = Primitive(name)
    primitive.cost = cost  # type: ignore[attr-defined]
    impl_rules[primitive] = evaluate
    jvp_rules[primitive] = functools.partial(elementwise_jvp, primitive, derivatives)
    batch = unary_batch if operands == 1 else binary_batch
    vmap_rules[primitive] = functools.partial(batch, primitive)
    abstract_eval_rules[primitive] = unary_type if operands == 1 else binary_type
    hlo_lowerings[primitive] = elementwise_hlo(hlo) if isinstance(hlo, str) else hlo
    return primitive


transcendental = functools.partial(define, cost="transcendental")
define_binary = functools.partial(define, operands=2)
