"""A function with a rule of its own is one operation: what it does under each interpreter.

`jit_p` takes a program as its parameter; the primitives here take Python functions: the function
itself, `call`, and its rule. Evaluation runs `call`. Differentiation never looks into it and runs
the rule. All other interpreters put transformed functions instead of both, so that a later
transformation still finds a rule to differentiate by. The functions here take and return flat lists
of arrays; the decorators are in `minijax/custom_rules.py`.

For reverse mode the rule comes in two parts: `fwd` returns the result and what to keep (residuals),
and `bwd` turns these and a cotangent into cotangents of the inputs. Reverse mode is `jvp` and then
transposition, so the JVP rule has to return some linear function of the tangents. It returns
`custom_lin_p`, an operation that cannot be evaluated, and that has a single purpose: its transpose
rule is `bwd`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minijax import dtypes
from minijax.core import (
    NotMapped,
    Primitive,
    ShapedArray,
    Tangent,
    Trace,
    Tracer,
    UndefPrimal,
    Value,
    Values,
    abstract_eval_rules,
    find_top_trace,
    full_lower,
    full_raise,
    get_aval,
    hidden,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    not_mapped,
    partial_eval_rules,
    trace_state,
    transpose_rules,
    vmap_rules,
)
from minijax.errors import UnexpectedTracerError
from minijax.jaxpr import ClosedJaxpr, eval_jaxpr, printed_params, raise_to_shaped
from minijax.jit import lower_body, without_consts
from minijax.jvp import JVPTrace, JVPTracer, drop_float0, zeros_like_aval
from minijax.lax.basic import reduce_sum
from minijax.linearize import PartialEvalTrace, with_float0
from minijax.lowering import Emitter
from minijax.marks import filled
from minijax.tracing import staging_rules, trace_to_jaxpr
from minijax.transpose import backward_pass
from minijax.tree import tree_leaves
from minijax.vmap import BatchTrace, BatchTracer, move_batch_axis, vmap_flat


class CustomCall(Primitive):
    """A call of a function that has a rule of its own."""

    def __init__(self, name: str) -> None:
        super().__init__(name, multiple_results=True)

    def bind(self, *args: Value, **params: Any) -> list[Value]:
        """Like `core.bind`; and no function or rule uses a value that is being differentiated.

        Such a value did not come as an argument, so the rule does not know how it moves. While the
        call is processed, the derivatives that are being taken here are hidden.
        """
        trace = find_top_trace(args)
        try:
            outs = self.processed(trace, args, watched(trace, params))
        except UsesVmap as inner:  # then the operands are examples as well, all of them the same
            outs = self.processed(inner.trace, [inner.example(arg) for arg in args], params)
        check_results(outs)
        return [full_lower(out) for out in outs]

    def processed(self, trace: Trace, args: Values, params: dict[str, Any]) -> list[Any]:
        """The results under the interpreter `trace`; derivatives taken here are hidden."""
        tracers = [full_raise(trace, arg) for arg in args]
        above = trace_state.stack[trace.main.level :]
        with hidden([main for main in above if main.trace_type is JVPTrace], CLOSED_OVER):
            return trace.process_primitive(self, tracers, params)


class UsesVmap(Exception):
    """A function or rule has used an example of a `vmap` inside the call's own interpreter."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self.trace = trace

    def example(self, x: Value) -> BatchTracer:
        """`x` as an example of a batch in which all are the same."""
        size = self.trace.main.global_data
        return BatchTracer(self.trace, move_batch_axis(size, not_mapped, 0, x), 0)


def check_level(trace: Trace, values: Values) -> None:
    """`UsesVmap` if there is an example of a `vmap` above `trace` among these values."""
    top = find_top_trace(values)
    if isinstance(top, BatchTrace) and top.main.level > trace.main.level:
        raise UsesVmap(top)


def watched(trace: Trace, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters for `trace`, with a rule whose results are checked."""
    (name,) = {"jvp", "fwd"} & {*params}

    def rule(*args: Value) -> Any:
        results = params[name](*args)
        check_level(trace, tree_leaves(results))
        return results

    return {**params, name: rule} if isinstance(trace, JVPTrace) else params


CLOSED_OVER = (
    "A function with a custom rule uses a value that is being differentiated and is not one of its "
    "arguments. Pass it as an argument, so that the rule can say how the result moves with it."
)


def check_results(outs: Values) -> None:
    """No result may be a closed-over value that nothing was computed with."""
    for out in outs:
        for part in (out.primal, out.tangent) if isinstance(out, JVPTracer) else ():
            if isinstance(part, Tracer) and part._trace.main is out._trace.main:
                raise UnexpectedTracerError(CLOSED_OVER)


custom_jvp_p = CustomCall("custom_jvp_call")
custom_vjp_p = CustomCall("custom_vjp_call")
custom_lin_p = Primitive("custom_lin", multiple_results=True)

Flat = Callable[..., list[Any]]  # from arrays to a list of arrays


def halves(xs: Values) -> tuple[Sequence[Any], Sequence[Any]]:
    """Primals and tangents, of which there are as many."""
    return xs[: len(xs) // 2], xs[len(xs) // 2 :]


# The mechanism: what both primitives do under each interpreter ----------------------------------


class Staged:
    """A program that is called like the function that it was made from."""

    def __init__(self, jaxpr: ClosedJaxpr) -> None:
        self.jaxpr = jaxpr

    def __call__(self, *args: Value) -> list[Value]:
        return eval_jaxpr(self.jaxpr.jaxpr, self.jaxpr.consts, *args)

    def __repr__(self) -> str:
        return repr(self.jaxpr)


def staged(trace: Any, tracers: Sequence[Any], params: dict[str, Any]) -> tuple[Any, Any]:
    """Operands and parameters that an equation can hold: `call` becomes a program.

    Values that the function uses besides its arguments become further operands, before the others.
    """
    if isinstance(params["call"], Staged):
        return tracers, params
    closed = trace_to_jaxpr(params["call"], [t.aval for t in tracers])
    check_level(trace, closed.consts)
    consts = [full_raise(trace, const) for const in closed.consts]
    call = Staged(ClosedJaxpr(without_consts(closed.jaxpr), []))
    number = params["num_consts"] + len(consts)
    return [*consts, *tracers], {**params, "call": call, "num_consts": number}


def custom_partial_eval(
    primitive: Primitive, trace: PartialEvalTrace, tracers: Sequence[Any], **params: Any
) -> list[Any]:
    """Call it later, as a whole: the rule is for the whole."""
    inputs, params = staged(trace, tracers, params)
    return trace.stage_out(primitive, inputs, params)


def custom_hlo(
    emitter: Emitter,
    avals: Any,
    out_avals: Any,
    args: Sequence[str],
    *,
    call: Staged,
    **params: Any,
) -> list[str]:
    return lower_body(emitter, call.jaxpr.jaxpr, args)


def custom_transpose(cts: Values, *args: Value, call: Staged, **params: Any) -> list[Value]:
    """If the function is linear itself, its program runs backwards as any other."""
    back = backward_pass(call.jaxpr.jaxpr, [], args, cts)
    return filled((isinstance(x, UndefPrimal) for x in args), back)


def split_consts(num_consts: int, tangents: Sequence[Tangent]) -> Values:
    """The tangents of the arguments; those of what was used besides must be zero."""
    if any(t is not None for t in tangents[:num_consts]):
        raise UnexpectedTracerError(CLOSED_OVER)
    return tangents[num_consts:]


def batched(f: Flat, axis_size: int, dims: Sequence[Any]) -> Flat:
    """`f` for batches; the batch axis of its results is the first."""

    def batched_f(*args: Value) -> list[Value]:
        outs, out_dims = vmap_flat(f, axis_size, dims, args)
        return [move_batch_axis(axis_size, d, 0, x) for x, d in zip(outs, out_dims, strict=True)]

    return batched_f


# custom_jvp: the rules of its own ---------------------------------------------------------------


def custom_jvp_jvp(
    primals: Values, tangents: Sequence[Tangent], *, call: Flat, jvp: Flat, num_consts: int
) -> tuple[Sequence[Any], list[Any]]:
    """The rule, which gets arrays of zeros for what does not move."""
    tangents = split_consts(num_consts, tangents)
    pairs = list(zip(primals[num_consts:], tangents, strict=True))
    full = [zeros_like_aval(get_aval(x)) if t is None else t for x, t in pairs]
    outs, out_tangents = halves(jvp(*(x for x, _ in pairs), *full))
    return outs, [drop_float0(t) for t in out_tangents]


def custom_jvp_batch(
    axis_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    call: Flat,
    jvp: Flat,
    num_consts: int,
) -> tuple[list[Any], list[int]]:
    """Both functions for batches; a tangent has the batch axis of its primal."""
    own_dims = dims[num_consts:]
    outs = custom_jvp_p.bind(
        *vals,
        call=batched(call, axis_size, dims),
        jvp=batched(jvp, axis_size, [*own_dims, *own_dims]),
        num_consts=num_consts,
    )
    return outs, [0] * len(outs)


# custom_vjp: the rules of its own ---------------------------------------------------------------

Forward = Callable[..., tuple[list[Any], list[Any]]]  # from arrays to results and residuals


def custom_vjp_jvp(
    primals: Values,
    tangents: Sequence[Tangent],
    *,
    call: Flat,
    fwd: Forward,
    bwd: Flat,
    num_consts: int,
) -> tuple[list[Any], list[Any]]:
    """`fwd` now; for the tangents `custom_lin_p`, which remembers how to go back."""
    tangents = split_consts(num_consts, tangents)
    outs, res = fwd(*primals[num_consts:])
    out_avals = tuple(raise_to_shaped(get_aval(x)) for x in outs)
    moving = custom_lin_p.bind(
        *res,
        *(t for t in tangents if t is not None),
        bwd=bwd,
        moves=tuple(t is not None for t in tangents),
        num_res=len(res),
        out_avals=out_avals,
    )
    return outs, [drop_float0(t) for t in with_float0(moving, out_avals)]


def custom_vjp_batch(
    axis_size: int,
    vals: Sequence[Any],
    dims: Sequence[Any],
    *,
    call: Flat,
    fwd: Forward,
    bwd: Flat,
    num_consts: int,
) -> tuple[list[Any], list[int]]:
    own_dims = dims[num_consts:]
    outs = custom_vjp_p.bind(
        *vals,
        call=batched(call, axis_size, dims),
        fwd=batched_fwd(fwd, axis_size, own_dims),
        bwd=batched_bwd(bwd, axis_size, own_dims),
        num_consts=num_consts,
    )
    return outs, [0] * len(outs)


def batched_fwd(fwd: Forward, axis_size: int, dims: Sequence[Any]) -> Forward:
    """`fwd` for batches; the batch axis of results and residuals is the first."""

    def batched_f(*args: Value) -> tuple[list[Any], list[Any]]:
        number = 0

        def flat(*xs: Value) -> list[Value]:
            nonlocal number
            outs, res = fwd(*xs)
            number = len(outs)
            return [*outs, *res]

        both = batched(flat, axis_size, dims)(*args)
        return both[:number], both[number:]

    return batched_f


def batched_bwd(bwd: Flat, axis_size: int, in_dims: Sequence[Any]) -> Flat:
    """`bwd` for batches: an input that all examples shared has the sum of their cotangents."""

    def place(ct: Tangent, src: Any, dst: Any) -> Value:
        if not isinstance(dst, NotMapped):
            return move_batch_axis(axis_size, src, dst, ct)
        stack = move_batch_axis(axis_size, src, 0, ct)
        return stack if drop_float0(stack) is None else reduce_sum(stack, (0,))

    def batched_f(*args: Value) -> list[Value]:
        cts, out_dims = vmap_flat(bwd, axis_size, [0] * len(args), args)
        return [place(ct, *dims) for ct, *dims in zip(cts, out_dims, in_dims, strict=True)]

    return batched_f


def custom_lin_transpose(
    cts: Values,
    *operands: Value,
    bwd: Flat,
    moves: Sequence[bool],
    num_res: int,
    out_avals: Sequence[ShapedArray],
) -> list[Value]:
    """Run `bwd` on the residuals and the cotangents of all results."""
    floats = [aval for aval in out_avals if dtypes.is_float(aval.dtype)]
    pairs = zip(cts, floats, strict=True)
    full = [zeros_like_aval(aval) if ct is None else ct for ct, aval in pairs]
    cts_in = bwd(*operands[:num_res], *with_float0(full, out_avals))
    moving = [ct for ct, move in zip(cts_in, moves, strict=True) if move]
    return [None] * num_res + moving


def custom_lin_type(*avals: Any, out_avals: Sequence[ShapedArray], **params: Any) -> list[Any]:
    return [aval for aval in out_avals if dtypes.is_float(aval.dtype)]


def no_forward_mode(*args: Value, **params: Any) -> Value:
    raise TypeError(
        "can't apply forward-mode differentiation (jvp) to a custom_vjp function. Use grad or vjp, "
        "or give the function a rule with custom_jvp."
    )


# The tables -------------------------------------------------------------------------------------

for _p in (custom_jvp_p, custom_vjp_p):
    impl_rules[_p] = lambda *args, call, **params: call(*args)
    abstract_eval_rules[_p] = lambda *avals, call, **params: call.jaxpr.out_avals
    hlo_lowerings[_p] = custom_hlo
    staging_rules[_p] = staged
    printed_params[_p.name] = lambda params: {"call_jaxpr": params["call"].jaxpr}
    partial_eval_rules[_p] = functools.partial(custom_partial_eval, _p)
    transpose_rules[_p] = custom_transpose
jvp_rules[custom_jvp_p] = custom_jvp_jvp
jvp_rules[custom_vjp_p] = custom_vjp_jvp
vmap_rules[custom_jvp_p] = custom_jvp_batch
vmap_rules[custom_vjp_p] = custom_vjp_batch
abstract_eval_rules[custom_lin_p] = custom_lin_type
transpose_rules[custom_lin_p] = custom_lin_transpose
for _rules in (impl_rules, jvp_rules, vmap_rules, hlo_lowerings):
    _rules[custom_lin_p] = no_forward_mode
