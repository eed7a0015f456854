"""Checkpointing: the backward pass computes again what the forward pass did not keep.

Reverse mode keeps every value that a transpose rule will ask for, the *residuals*, from the forward
pass until the backward pass reads them. Their size grows with the length of the program, and for a
deep model it is what fills the memory. But a residual is not a datum: it is the result of a program
whose inputs we have. It may be forgotten, and computed again when it is needed.

`checkpoint(f)` marks a part of a program for that. It is a call primitive like `jit`, and all but
one of its rules say the same as those of `jit`: transform the inner program, and call the new one.
The rule that is different is the one for partial evaluation. There `linearize` splits a program in
two: what is known now, and what has to wait for the tangents. In between stand the residuals.

    known inputs -> [known part] -> known outputs
                         | residuals
                         v
    unknown inputs -> [ rest ] -> unknown outputs

`checkpoint` moves the line: the known part stays where it is and gives its outputs, and a copy of
it joins the rest. What crosses the line is then the known inputs, and nothing else; or, with a
*policy*, the inputs and those results of which the policy says that they are worth keeping.

Source: A. Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse
automatic differentiation", 1992, for the idea. Counterpart: `jax.checkpoint`, also `jax.remat`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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
from minijax.jaxpr import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    Literal,  # noqa: F401 (answers may ask for it)
    Var,
    apply_equation,
    eval_jaxpr,
    kept_beside,
    read,
)
from minijax.jit import (
    CallPrimitive,
    call_batch,
    call_jvp,
    jit_p,
    jit_type,
    lower_body,
    tensor_type,
    without_consts,
)
from minijax.linearize import PartialEvalTrace, PartialEvalTracer, partial_eval_jaxpr
from minijax.lowering import Emitter
from minijax.marks import chosen
from minijax.tracing import split_static, static_places, trace_to_jaxpr, trace_tree, without_static
from minijax.transpose import call_transpose
from minijax.tree import tree_leaves, tree_unflatten

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
    """`fun`, of which reverse mode keeps the inputs only; counterpart: `jax.checkpoint`.

    The values are those of `fun`, and so are the gradients; the backward pass costs one more run of
    `fun`. `policy` says which results inside `fun` are kept all the same. `prevent_cse=False` lets
    XLA merge the second run with the first: of use where it cannot anyway, as inside `scan`.

    >>> import minijax
    >>> f = checkpoint(lambda x: x * x * x)
    >>> print(f(2.0), minijax.grad(f)(2.0))
    8.0 12.0
    """
    numbers, names = static_places(fun, static_argnums, static_argnames)
    params = {"prevent_cse": prevent_cse, "policy": policy, "differentiated": False}

    @functools.wraps(fun)
    def checkpointed(*args: Value, **kwargs: Any) -> Value:
        static, dynamic = split_static(numbers, names, args, kwargs)
        program, out_tree = trace_tree(without_static(fun, static), dynamic)
        return tree_unflatten(out_tree, call_remat(program, tree_leaves(dynamic), **params))

    return checkpointed


def call_remat(program: ClosedJaxpr, args: Values, **params: Any) -> list[Value]:
    """Call a program with `remat_p`: the list of its results for the arguments `args`.

    The program that `remat_p` gets as its parameter `jaxpr` is a `ClosedJaxpr` without constants.
    `without_consts(jaxpr)` makes it of a `Jaxpr`: the constants are further inputs there, in front
    of the others, and so `remat_p` is bound on the constants of `program` and, behind them, `args`.
    A constant may be a tracer, which transformations see only among the operands; and it may be
    large, so that it matters where it is kept. The other parameters, `params`, are passed on.

    >>> import numpy as np
    >>> params = {"prevent_cse": True, "policy": None, "differentiated": False}
    >>> vector = ShapedArray((2,), np.dtype("float64"))
    >>> program = trace_to_jaxpr(lambda x: [x * np.array([2.0, 3.0])], [vector])
    >>> len(program.consts)
    1
    >>> call_remat(program, [np.array([5.0, 7.0])], **params)
    [Array([10., 21.], dtype=float64)]
    """
    # TODO(checkpoint.call): make a program whose constants are inputs, and bind remat_p on
    # constants and arguments.
    raise NotImplementedError("checkpoint.call")


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
    """Call the transposed program, which begins with what it needs of known values."""
    return call_transpose(functools.partial(call_remat, **params), cts, args, jaxpr)


# Partial evaluation: the line between now and later is moved --------------------------------------


class Split(NamedTuple):
    """A program in two parts: one for now, and one for later, which computes residuals again.

    Neither takes inputs that it does not read; the lists of Booleans say which it takes.
    """

    now: ClosedJaxpr  # known inputs -> known outputs, kept values
    now_takes: list[bool]
    later: ClosedJaxpr  # known inputs, kept values, unknown inputs -> unknown outputs
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
    """Call the program for now; leave a call of the program for later.

    `split_and_forget(jaxpr, is_known, policy)` gives a `Split`; `is_known` is a tuple that says for
    each of `tracers` whether it is known. `chosen(items, which)` picks those items whose entry in
    `which` is true.

    Now: `split.now` is called with `call_remat`, with the same `policy` and `params`, on those of
    the known values that `split.now_takes` says. It gives the known outputs, as many as there are
    true entries in `split.out_known`, and behind them the kept values.

    Later: `trace.stage_out(remat_p, operands, later_params)` gives a list with a tracer for each
    unknown output. The operands are, in this order, the known values and the kept values, all boxed
    by `trace.pure`, and the unknown ones of `tracers`; but of all these only what
    `split.later_takes` says. The parameters are `params`, `policy`, the program `split.later` as
    `jaxpr`, and `differentiated=True`, which marks a program that computes something again.

    Returns the outputs of `jaxpr` in their order: plain values where `split.out_known` says that
    they are known, tracers where not.

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
    # TODO(checkpoint.partial_eval): split and forget; call the program for now; stage out the
    # program for later; put the results in order.
    raise NotImplementedError("checkpoint.partial_eval")


@kept_beside
def split_and_forget(
    jaxpr: ClosedJaxpr, is_known: tuple[bool, ...], policy: Policy | None
) -> Split:
    """Split a program by which inputs are known, as `partial_eval_jaxpr`, but without residuals.

    Kept beside the program, as all that is made from it.
    """
    known_part, rest, out_known = partial_eval_jaxpr(jaxpr, is_known)
    if policy is not None:
        known_part = with_calls_inlined(known_part)
    kept = kept_values(known_part.jaxpr, sum(out_known), policy)
    now = program_for_now(known_part, sum(out_known), kept)
    later = program_for_later(known_part, sum(out_known), kept, rest)
    return Split(*without_dead_code(now), *without_dead_code(later), out_known)


def kept_values(jaxpr: Jaxpr, number: int, policy: Policy | None) -> list[Var]:
    """The results inside a program that are kept, in the order in which the program makes them.

    The residuals, which the backward pass will need, are the outputs of `jaxpr` behind the first
    `number`. A result is *needed* if it is a residual, or if the equation that makes a needed
    result has it as an operand. So the equations are visited from the last to the first. If results
    of an equation are needed, the policy is asked, once for the equation:
    `policy(primitive, *types of the operands, **parameters)`. If it says yes, the needed results of
    the equation are kept, and its operands are not needed for them. If it says no, all its operands
    are needed. Without a policy (None) nothing is kept.

    Inputs, constants and literals are never among the kept values: there is nothing to compute.

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
    >>> kept_values(f.jaxpr, 0, sines) == f.jaxpr.eqns[1].outvars
    True
    """
    # TODO(checkpoint.kept_values): walk from the last equation to the first; ask the policy about
    # equations whose results are needed; keep the results, or need the operands.
    raise NotImplementedError("checkpoint.kept_values")


def program_for_now(known_part: ClosedJaxpr, number: int, kept: list[Var]) -> ClosedJaxpr:
    """From the known inputs to the known outputs, which are the first `number`, and `kept`."""
    jaxpr = known_part.jaxpr
    outs: list[Atom] = [*jaxpr.outvars[:number], *kept]
    return ClosedJaxpr(jaxpr.replace(outvars=outs), known_part.consts)


def program_for_later(
    known_part: ClosedJaxpr, number: int, kept: list[Var], rest: ClosedJaxpr
) -> ClosedJaxpr:
    """The program for later: it computes the residuals again, and then the unknown outputs.

    `known_part` goes from the known inputs to the known outputs, which are the first `number`, and
    the residuals behind them. `rest` has no constants; its inputs are the residuals, and behind
    them the unknown inputs. `kept` are variables of `known_part.jaxpr` that equations in it make.

    The inputs of the new program are the known inputs, then a value for each of `kept`, and then
    the unknown inputs. Its outputs are those of `rest`. An equation that makes a variable of
    `kept` does not stand in it; other equations that no output needs may, since
    `without_dead_code` comes afterwards.

    `trace_to_jaxpr(f, avals)` makes a program of a function from arrays of the types `avals` to a
    list; `eval_jaxpr(jaxpr, consts, *args)` runs a program; `jaxpr.replace(invars=..., eqns=...,
    outvars=...)` is a program with some of its lists exchanged.

    >>> import numpy as np
    >>> from minijax.numpy import sin
    >>> f64 = ShapedArray((), np.dtype("float64"))
    >>> first = trace_to_jaxpr(lambda x: [x, sin(sin(x))], [f64])
    >>> rest = trace_to_jaxpr(lambda residual, y: [residual * y], [f64, f64])
    >>> program_for_later(first, 1, [], rest)
    { lambda ; a:f64[] b:f64[]. let
        c:f64[] = sin a
        d:f64[] = sin c
        e:f64[] = mul d b
      in (e,) }
    >>> program_for_later(first, 1, first.jaxpr.eqns[0].outvars, rest)
    { lambda ; a:f64[] b:f64[] c:f64[]. let
        d:f64[] = sin b
        e:f64[] = mul d c
      in (e,) }
    """
    # TODO(checkpoint.later): make a program of the equations that must run again; then trace a
    # function that runs it, and the rest behind it.
    raise NotImplementedError("checkpoint.later")


def without_dead_code(program: ClosedJaxpr) -> tuple[ClosedJaxpr, list[bool]]:
    """The program without what its results do not need, and which of its inputs are left.

    As in lesson staging, from the last equation to the first.
    """
    jaxpr = program.jaxpr
    needed, eqns = set(jaxpr.outvars), []
    for eqn in reversed(jaxpr.eqns):
        if not needed.isdisjoint(eqn.outvars):
            needed.update(eqn.invars)
            eqns.append(eqn)
    takes = [var in needed for var in jaxpr.invars]
    smaller = jaxpr.replace(invars=chosen(jaxpr.invars, takes), eqns=eqns[::-1])
    return ClosedJaxpr(smaller, program.consts), takes


def with_calls_inlined(program: ClosedJaxpr) -> ClosedJaxpr:
    """The same program without `jit` equations, so that a policy sees what is inside them."""
    return trace_to_jaxpr(lambda *args: eval_inlined(program, args), program.in_avals)


def eval_inlined(program: ClosedJaxpr, args: Values) -> list[Value]:
    """Evaluate a program, going into `jit` equations; calls with rules of their own stay calls."""
    jaxpr = program.jaxpr
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    env: dict[Var, Any] = dict(zip(inputs, [*program.consts, *args], strict=True))
    for eqn in jaxpr.eqns:
        operands = [read(env, atom) for atom in eqn.invars]
        if eqn.primitive is jit_p:
            outs = eval_inlined(eqn.params["jaxpr"], operands)
        else:
            outs = apply_equation(eqn, operands)
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(env, atom) for atom in jaxpr.outvars]


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
    """Emit the equations, behind a barrier where they stand for the second time.

    XLA would see that both copies compute the same and merge them, which is what `checkpoint` must
    prevent: the values would be kept in between. It sees no further than an optimisation barrier,
    whose results are its operands. The cotangents go through it too, so that the second run waits
    until they have arrived.

    `emit_barrier(emitter, avals, args)` emits one, for operands of the types `avals` with the names
    `args`, and gives the list of the names of its results. There is one barrier, for all operands,
    if the program is `differentiated` and `prevent_cse` is true; but none if there are no operands.
    Behind it `lower_body(emitter, program, names, consts)` emits the equations of a `Jaxpr` for
    operands with these names and constants with these values; it gives the names of the results,
    which are returned. `jaxpr` is a `ClosedJaxpr`: a `Jaxpr` with the values of its constants.

    >>> import numpy as np
    >>> from minijax.numpy import sin
    >>> f64 = ShapedArray((), np.dtype("float64"))
    >>> program, emitter = trace_to_jaxpr(lambda x: [sin(x)], [f64]), Emitter()
    >>> params = {"prevent_cse": True, "policy": None, "differentiated": True}
    >>> remat_hlo(emitter, [f64], [f64], ["%arg0"], jaxpr=program, **params)
    ['%1']
    >>> for line in emitter.lines:
    ...     print(line)
        %0 = stablehlo.optimization_barrier %arg0 : tensor<f64>
        %1 = stablehlo.sine %0 : tensor<f64>
    """
    # TODO(checkpoint.barrier): send the operands through a barrier if it is wanted; then emit the
    # equations.
    raise NotImplementedError("checkpoint.barrier")


def emit_barrier(emitter: Emitter, avals: Sequence[ShapedArray], args: Sequence[str]) -> list[str]:
    types = ", ".join(map(tensor_type, avals))
    operation = f"stablehlo.optimization_barrier {', '.join(args)} : {types}"
    name = emitter.emit(operation, results=len(args))
    return [f"{name}#{i}" for i in range(len(args))] if len(args) > 1 else [name]


hlo_lowerings[remat_p] = remat_hlo
