"""Checkpointing: the backward pass computes again what the forward pass did not keep.

Reverse mode keeps every value that a transpose rule will ask for, the *residuals*, from the forward
pass until the backward pass reads them. Their size grows with the length of the program, and for a
deep model it is what fills the memory. But a residual is the result of a program whose inputs we
have. It may be forgotten, and computed again when it is needed.

`checkpoint(f)` marks a part of a program for that. It is a call primitive like `jit`, and all but
one of its rules say the same as those of `jit`: transform the inner program, and call the new one.
The rule that is different is the one for partial evaluation. There `linearize` splits a program in
two: what is known now, and what has to wait for the tangents. Between them are the residuals.

    known inputs -> [known part] -> known outputs
                         | residuals
                         v
    unknown inputs -> [ rest ] -> unknown outputs

`checkpoint` moves the line: the known part stays where it is and computes its outputs, and a copy
of it joins the rest. What crosses the line is then the known inputs, and nothing else; or, with a
*policy*, the inputs and those results that the policy says are worth keeping.

Source: A. Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse
automatic differentiation", 1992, for the idea. Counterpart: `jax.checkpoint`, also `jax.remat`.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from minijax.arguments import Static, split_static, static_places, without_static
from minijax.core import (
    ShapedArray,
    Tangent,
    Value,
    Values,
    abstract_eval_rules,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    partial_eval_rules,
    transpose_rules,
    vmap_rules,
)
from minijax.dead_code import trimmed, without_dead_code
from minijax.jaxpr import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    Literal,  # noqa: F401 (answers may ask for it)
    Var,
    eval_jaxpr,
    kept_beside,
)
from minijax.jit import CallPrimitive, call_batch, call_jvp, jit_type, lower_body, without_consts
from minijax.kept_inside import asked_inside, looked_into
from minijax.linearize import PartialEvalTrace, PartialEvalTracer, partial_eval_jaxpr
from minijax.lowering import Emitter, tensor_type
from minijax.marks import chosen
from minijax.programs import kept_for, trace_part, types_of, with_results
from minijax.tracing import trace_to_jaxpr
from minijax.transpose import call_transpose
from minijax.tree import tree_flatten, tree_unflatten

remat_p = CallPrimitive("remat2", multiple_results=True)  # JAX's name for it

Policy = Callable[..., bool]  # see minijax/checkpoint_policies.py


def checkpoint(
    fun: Callable[..., Any],
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Callable[..., Any]:
    """A function like `fun`, from which reverse mode keeps only the inputs.

    Values and derivatives are those of `fun`. What the backward pass needs from inside `fun` is
    computed again then, which costs at most one more run. `policy` says which results inside are
    kept all the same: it is called with an equation's primitive, the types of the operands, and the
    parameters, and its answer is a bool. `minijax.checkpoint_policies` has several.
    `prevent_cse=False` lets XLA merge the two runs, where it could not do so anyway, as inside
    `scan`. `static_argnums` and `static_argnames` say which arguments are not traced: these must be
    hashable. Counterpart: `jax.checkpoint`.

    >>> import minijax
    >>> f = checkpoint(lambda x: x * x * x)
    >>> print(f(2.0), minijax.grad(f)(2.0))
    8.0 12.0
    """
    if not isinstance(prevent_cse, bool):
        raise NotImplementedError("checkpoint takes one prevent_cse for all of its inputs, a bool.")
    numbers, names = static_places(fun, static_argnums, static_argnames)
    params = {"prevent_cse": prevent_cse, "policy": policy, "differentiated": False}

    @functools.wraps(fun)
    def checkpointed(*args: Value, **kwargs: Any) -> Value:
        static, dynamic = split_static(numbers, names, args, kwargs)
        leaves, in_tree = tree_flatten(dynamic)
        part = trace_part(for_static(fun)(static), in_tree, types_of(leaves))
        return tree_unflatten(part.tree, call_remat(part.program, leaves, **params))

    return checkpointed


@kept_for
def for_static(fun: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """Takes static arguments to the function of the others: the same one each time.

    Values that are equal count as the same, 1 and True too, as in JAX.
    """

    @functools.cache
    def function_of_others(static: Static) -> Callable[..., Any]:
        def f(*others: Any) -> Any:  # which must not keep `fun` alive
            return without_static(fun(), static)(*others)

        return f

    return function_of_others


def remat(
    fun: Callable[..., Any],
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
) -> Callable[..., Any]:
    """Another name for `checkpoint`, short for rematerialization. Counterpart: `jax.remat`."""
    return checkpoint(fun, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums)


def call_remat(program: ClosedJaxpr, args: Values, **params: Any) -> list[Value]:
    """The list of the results of `program` for `args`, by one operation `remat_p`.

    Its operands are the values of the program's constants, which may be tracers, and then `args`.
    """
    jaxpr = ClosedJaxpr(without_consts(program.jaxpr), [])
    return remat_p.bind(*program.consts, *args, jaxpr=jaxpr, **params)


# The rules that say: transform the inner program, and call the new one ----------------------------


def remat_impl(*args: Value, jaxpr: ClosedJaxpr, **params: Any) -> list[Value]:
    return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)


def remat_jvp(primals: Value, tangents: Tangent, *, jaxpr: ClosedJaxpr, **params: Any) -> Value:
    return call_jvp(functools.partial(call_remat, **params), primals, tangents, jaxpr)


def remat_batch(
    axis_size: int, vals: Any, dims: Any, *, jaxpr: ClosedJaxpr, **params: Any
) -> tuple[list[Any], list[Any]]:
    return call_batch(functools.partial(call_remat, **params), axis_size, vals, dims, jaxpr)


def remat_type(*avals: ShapedArray, jaxpr: ClosedJaxpr, **params: Any) -> list[ShapedArray]:
    return jit_type(*avals, name="checkpoint", jaxpr=jaxpr)


def remat_transpose(cts: Value, *args: Value, jaxpr: ClosedJaxpr, **params: Any) -> list[Value]:
    """Call the transposed program, which first computes the known values that it needs."""
    return call_transpose(functools.partial(call_remat, **params), cts, args, jaxpr)


# Partial evaluation: the line between now and later is moved --------------------------------------


class Split(NamedTuple):
    """A program in two parts: one for now, and one for later, which computes residuals again.

    Neither takes inputs that it does not read; the lists of bools say which it takes.
    """

    now: ClosedJaxpr
    now_takes: list[bool]
    later: ClosedJaxpr
    later_takes: list[bool]
    out_known: list[bool]


def remat_partial_eval(
    trace: PartialEvalTrace,
    tracers: Sequence[PartialEvalTracer],
    *,
    jaxpr: ClosedJaxpr,
    policy: Policy | None,
    **params: Any,
) -> list[Any]:
    """The results of calling `jaxpr`, in order: plain values if known, else tracers.

    Results that depend on no unknown `tracers` are computed now, by one call, or none if there is
    nothing to compute. The others are left to one `remat_p` operation with `differentiated` true,
    which computes residuals again. Both parts have `policy` and `params`.

    >>> from minijax.core import get_aval, new_main
    >>> from minijax.linearize import unknown
    >>> from minijax.numpy import sin
    >>> f = trace_to_jaxpr(lambda x, y: [sin(x) * y, x], [get_aval(1.0)] * 2)
    >>> params = {"prevent_cse": True, "policy": None, "differentiated": False}
    >>> with new_main(PartialEvalTrace) as main:
    ...     trace = PartialEvalTrace(main)
    ...     x, y = trace.pure(3.0), trace.new_arg(unknown(get_aval(1.0)))
    ...     later, now = remat_partial_eval(trace, [x, y], jaxpr=f, **params)
    >>> print(now, later.aval, [t.pval.is_known for t in later.recipe.tracers_in])
    3.0 ~float64[] [True, False]
    >>> later.recipe.params["jaxpr"]
    { lambda ; a:f64[] b:f64[]. let c:f64[] = sin a; d:f64[] = mul c b in (d,) }
    """
    split = split_and_forget(jaxpr, tuple(t.pval.is_known for t in tracers), policy)
    known_args = [t.pval.const for t in tracers if t.pval.is_known]
    outs = call_remat(split.now, chosen(known_args, split.now_takes), policy=policy, **params)
    number = sum(split.out_known)
    boxed = [trace.pure(x) for x in [*known_args, *outs[number:]]]
    operands = [*boxed, *(t for t in tracers if not t.pval.is_known)]
    params |= {"policy": policy, "jaxpr": split.later, "differentiated": True}
    later = iter(trace.stage_out(remat_p, chosen(operands, split.later_takes), params))
    now = iter(outs)
    return [next(now) if is_known else next(later) for is_known in split.out_known]


@kept_beside
def split_and_forget(
    jaxpr: ClosedJaxpr, is_known: tuple[bool, ...], policy: Policy | None
) -> Split:
    """Split a program by which inputs are known, as `partial_eval_jaxpr`, but without residuals.

    The result is cached on the program, as is everything that is made from it.
    """
    known_part, rest, out_known = partial_eval_jaxpr(jaxpr, is_known)
    first = again = known_part
    if policy is not None:
        policy = asked_inside(policy)
        first, again = looked_into(known_part, lambda inner: kept_values(inner, policy))
    number = sum(out_known)
    makes_residuals, _ = trimmed(with_results(again, range(number, len(again.out_avals))))
    kept = kept_values(makes_residuals.jaxpr, policy)
    now = program_for_now(first, number, kept)
    later = program_for_later(without_feeders(makes_residuals, kept), kept, rest)
    return Split(*without_dead_code(now), *without_dead_code(later), out_known)


def without_feeders(program: ClosedJaxpr, kept: list[Var]) -> ClosedJaxpr:
    """The program without what only served to compute `kept`, but for the equations of `kept`."""
    jaxpr, eqns = program.jaxpr, []
    live, given = set(jaxpr.outvars), set(kept)
    for eqn in reversed(jaxpr.eqns):
        if live.isdisjoint(eqn.outvars):
            continue
        eqns.append(eqn)
        if given.isdisjoint(eqn.outvars):
            live.update(eqn.invars)
    part = copy.copy(program)  # unchecked: an equation of `kept` may read what is left out
    part.jaxpr = jaxpr.replace(eqns=eqns[::-1])
    return part


def kept_values(jaxpr: Jaxpr, policy: Policy | None) -> list[Var]:
    """The results inside a program that are kept, in the order of its equations.

    From the inputs and these results, the outputs can be computed again by equations for which
    `policy(primitive, *types of the operands, **params)` is false. None of those kept could be left
    out. The policy is asked once for each equation with a result that is needed, and for no other;
    its errors pass through unchanged. Nothing is kept if `policy` is None.

    >>> import numpy as np
    >>> from minijax.numpy import sin
    >>> f = trace_to_jaxpr(lambda x: [sin(sin(x)) * x], [ShapedArray((), np.dtype("float64"))])
    >>> f
    { lambda ; a:f64[]. let
        b:f64[] = sin a
        c:f64[] = sin b
        d:f64[] = mul c a
      in (d,) }
    >>> sines = lambda primitive, *avals, **params: primitive.name == "sin"
    >>> kept_values(f.jaxpr, sines) == f.jaxpr.eqns[1].outvars
    True
    """
    if policy is None:
        return []
    live = set(jaxpr.outvars)
    kept: list[Var] = []
    for eqn in reversed(jaxpr.eqns):
        results = [var for var in eqn.outvars if var in live]
        if not results:
            continue
        if policy(eqn.primitive, *[atom.aval for atom in eqn.invars], **eqn.params):
            kept += reversed(results)
        else:
            live.update(eqn.invars)
    return kept[::-1]


def program_for_now(known_part: ClosedJaxpr, number: int, kept: list[Var]) -> ClosedJaxpr:
    """From the known inputs to the known outputs, which are the first `number`, and `kept`."""
    jaxpr = known_part.jaxpr
    outs: list[Atom] = [*jaxpr.outvars[:number], *kept]
    return ClosedJaxpr(jaxpr.replace(outvars=outs), known_part.consts)


def program_for_later(known_part: ClosedJaxpr, kept: list[Var], rest: ClosedJaxpr) -> ClosedJaxpr:
    """The program for later, which computes the residuals again, and then runs `rest`.

    It takes the inputs of `known_part`, a value for each of its variables `kept`, and the unknown
    inputs. `rest`, which has no constants, takes the residuals, which are the outputs of
    `known_part`, and the unknown inputs. An equation that makes one of `kept` is left out; no other
    equation reads its other results.

    >>> import numpy as np
    >>> from minijax.numpy import sin
    >>> f64 = ShapedArray((), np.dtype("float64"))
    >>> first = trace_to_jaxpr(lambda x: [sin(sin(x))], [f64])
    >>> rest = trace_to_jaxpr(lambda residual, y: [residual * y], [f64, f64])
    >>> program_for_later(first, [], rest)
    { lambda ; a:f64[] b:f64[]. let
        c:f64[] = sin a
        d:f64[] = sin c
        e:f64[] = mul d b
      in (e,) }
    >>> program_for_later(first, first.jaxpr.eqns[0].outvars, rest)
    { lambda ; a:f64[] b:f64[] c:f64[]. let
        d:f64[] = sin b
        e:f64[] = mul d c
      in (e,) }
    """
    jaxpr = known_part.jaxpr
    inputs = [*jaxpr.invars, *kept]
    given = {*kept}
    eqns = [eqn for eqn in jaxpr.eqns if given.isdisjoint(eqn.outvars)]
    again = jaxpr.replace(invars=inputs, eqns=eqns)

    def later(*args: Value) -> list[Value]:
        residuals = eval_jaxpr(again, known_part.consts, *args[: len(inputs)])
        return eval_jaxpr(rest.jaxpr, rest.consts, *residuals, *args[len(inputs) :])

    avals = [*(var.aval for var in inputs), *rest.in_avals[len(again.outvars) :]]
    return trace_to_jaxpr(later, avals)


abstract_eval_rules[remat_p] = remat_type
impl_rules[remat_p] = remat_impl
jvp_rules[remat_p] = remat_jvp
vmap_rules[remat_p] = remat_batch
partial_eval_rules[remat_p] = remat_partial_eval
transpose_rules[remat_p] = remat_transpose


# Lowering ---------------------------------------------------------------------------------------


def remat_hlo(
    emitter: Emitter,
    avals: Sequence[ShapedArray],
    out_avals: Any,
    args: Sequence[str],
    *,
    jaxpr: ClosedJaxpr,
    prevent_cse: bool,
    differentiated: bool,
    policy: Policy | None,
) -> list[str]:
    """Emit the equations of `jaxpr`, after a barrier if this is a second run: the results' names.

    If `differentiated` is true, this is one, and a compiler would merge it with the first.
    """
    if differentiated and prevent_cse and args:
        args = emit_barrier(emitter, avals, args)
    return lower_body(emitter, jaxpr.jaxpr, args, jaxpr.consts)


def emit_barrier(emitter: Emitter, avals: Sequence[ShapedArray], args: Sequence[str]) -> list[str]:
    types = ", ".join(map(tensor_type, avals))
    operation = f"stablehlo.optimization_barrier {', '.join(args)} : {types}"
    name = emitter.emit(operation, results=len(args))
    return [f"{name}#{i}" for i in range(len(args))] if len(args) > 1 else [name]


hlo_lowerings[remat_p] = remat_hlo


# Where to put checkpoints -------------------------------------------------------------------------


def in_segments(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """A function that applies all `functions` to an array, one after the other.

    They are in segments, each checkpointed as a whole. A backward pass holds an array for each
    segment, and one for each function of the segment that it is in, so the number of segments plus
    the length of the longest is minimal. Without functions, returns the array itself.

    >>> from minijax import make_jaxpr
    >>> from minijax.numpy import cos, sin
    >>> for eqn in make_jaxpr(in_segments([sin, cos, sin, cos]))(1.0).eqns:
    ...     print(eqn.primitive, len(eqn.params["jaxpr"].eqns))
    remat2 2
    remat2 2
    """
    size = max(1, math.ceil(math.sqrt(len(functions))))
    parts = [functions[i : i + size] for i in range(0, len(functions), size)]
    return one_after_the_other([checkpoint(one_after_the_other(part)) for part in parts])


def one_after_the_other(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """The composition of functions, the first one first."""
    return lambda x: functools.reduce(lambda y, f: f(y), functions, x)
