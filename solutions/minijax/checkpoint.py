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
    abstract_eval_rules,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    partial_eval_rules,
    transpose_rules,
    vmap_rules,
)
from minijax.jaxpr import Atom, ClosedJaxpr, Jaxpr, Literal, Var, eval_jaxpr
from minijax.jit import (
    CallPrimitive,
    Emitter,
    call_batch,
    call_jvp,
    jit_p,
    jit_type,
    lower_body,
    tensor_type,
    without_consts,
)
from minijax.linearize import PartialEvalTrace, PartialEvalTracer, partial_eval_jaxpr
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
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        static, dynamic = split_static(numbers, names, args, kwargs)
        program, out_tree = trace_tree(without_static(fun, static), dynamic)
        return tree_unflatten(out_tree, call_remat(program, tree_leaves(dynamic), **params))

    return checkpointed


def call_remat(program: ClosedJaxpr, args: Sequence[Any], **params: Any) -> list[Any]:
    """Bind `remat_p`. Constants become arguments: they may be tracers, and are residuals too."""
    jaxpr = ClosedJaxpr(without_consts(program.jaxpr), [])
    return remat_p.bind(*program.consts, *args, jaxpr=jaxpr, **params)


# The rules that say: transform the inner program, and call the new one ----------------------------


def remat_impl(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)


def remat_jvp(primals: Any, tangents: Any, *, jaxpr: ClosedJaxpr, **params: Any) -> Any:
    return call_jvp(functools.partial(call_remat, **params), primals, tangents, jaxpr)


def remat_batch(
    axis_size: int, vals: Any, dims: Any, *, jaxpr: ClosedJaxpr, **params: Any
) -> tuple[list[Any], list[Any]]:
    return call_batch(functools.partial(call_remat, **params), axis_size, vals, dims, jaxpr)


def remat_type(*avals: ShapedArray, jaxpr: ClosedJaxpr, **params: Any) -> list[ShapedArray]:
    return jit_type(*avals, name="checkpoint", jaxpr=jaxpr)


def remat_transpose(cts: Any, *args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    """The backward pass of the inner program first computes again what it needs: see there."""
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
    """Compute the known outputs now; later, compute the residuals again, and then the rest."""
    split = split_and_forget(jaxpr, tuple(t.pval.is_known for t in tracers), policy)
    known_args = [t.pval.const for t in tracers if t.pval.is_known]
    outs = call_remat(split.now, chosen(known_args, split.now_takes), policy=policy, **params)
    number = sum(split.out_known)
    inputs = [
        *map(trace.pure, [*known_args, *outs[number:]]),
        *(t for t in tracers if not t.pval.is_known),
    ]
    params = {**params, "policy": policy, "differentiated": True, "jaxpr": split.later}
    staged = iter(trace.stage_out(remat_p, chosen(inputs, split.later_takes), params))
    known_outs = iter(outs[:number])
    return [next(known_outs) if is_known else next(staged) for is_known in split.out_known]


def split_and_forget(
    jaxpr: ClosedJaxpr, is_known: tuple[bool, ...], policy: Policy | None
) -> Split:
    """Split a program by which inputs are known, as `partial_eval_jaxpr`, but without residuals.

    Kept beside the program, as all that is made from it.
    """
    cache, key = jaxpr.jaxpr.cache, ("checkpoint", is_known, policy)
    if key not in cache:
        known_part, rest, out_known = partial_eval_jaxpr(jaxpr, is_known)
        if policy is not None:
            known_part = with_calls_inlined(known_part)
        kept = kept_values(known_part.jaxpr, sum(out_known), policy)
        now = program_for_now(known_part, sum(out_known), kept)
        later = program_for_later(known_part, sum(out_known), kept, rest)
        cache[key] = Split(*without_dead_code(now), *without_dead_code(later), out_known)
    return cache[key]


def kept_values(jaxpr: Jaxpr, number: int, policy: Policy | None) -> list[Var]:
    """The results that the policy keeps, of those that the residuals are made from.

    The residuals are the outputs of `jaxpr` behind the first `number`.
    """
    if policy is None:
        return []
    live = {atom for atom in jaxpr.outvars[number:] if isinstance(atom, Var)}
    kept: list[Var] = []
    for eqn in reversed(jaxpr.eqns):
        results = [var for var in eqn.outvars if var in live]
        if not results:
            continue
        if policy(eqn.primitive, *[atom.aval for atom in eqn.invars], **eqn.params):
            kept += results
        else:
            live.update(atom for atom in eqn.invars if isinstance(atom, Var))
    return kept[::-1]


def program_for_now(known_part: ClosedJaxpr, number: int, kept: list[Var]) -> ClosedJaxpr:
    """From the known inputs to the known outputs, which are the first `number`, and `kept`."""
    jaxpr = known_part.jaxpr
    outs: list[Atom] = [*jaxpr.outvars[:number], *kept]
    return ClosedJaxpr(jaxpr.replace(outvars=outs), known_part.consts)


def program_for_later(
    known_part: ClosedJaxpr, number: int, kept: list[Var], rest: ClosedJaxpr
) -> ClosedJaxpr:
    """The residuals again, from the known inputs and `kept`, and then the rest."""
    jaxpr = known_part.jaxpr
    inputs = [*jaxpr.invars, *kept]
    given = {*kept}
    eqns = [eqn for eqn in jaxpr.eqns if given.isdisjoint(eqn.outvars)]
    again = jaxpr.replace(invars=inputs, outvars=jaxpr.outvars[number:], eqns=eqns)

    def later(*args: Any) -> list[Any]:
        residuals = eval_jaxpr(again, known_part.consts, *args[: len(inputs)])
        return eval_jaxpr(rest.jaxpr, rest.consts, *residuals, *args[len(inputs) :])

    avals = [*(var.aval for var in inputs), *rest.in_avals[len(again.outvars) :]]
    return trace_to_jaxpr(later, avals)


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


def chosen(items: Sequence[Any], which: Sequence[bool]) -> list[Any]:
    return [item for item, wanted in zip(items, which, strict=True) if wanted]


def with_calls_inlined(program: ClosedJaxpr) -> ClosedJaxpr:
    """The same program without `jit` equations, so that a policy sees what is inside them."""
    return trace_to_jaxpr(lambda *args: eval_inlined(program, args), program.in_avals)


def eval_inlined(program: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Evaluate a program, going into `jit` equations; calls with rules of their own stay calls."""
    jaxpr = program.jaxpr
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    env: dict[Atom, Any] = dict(zip(inputs, [*program.consts, *args], strict=True))

    def read(atom: Atom) -> Any:
        return atom.val if isinstance(atom, Literal) else env[atom]

    for eqn in jaxpr.eqns:
        operands = [read(x) for x in eqn.invars]
        if eqn.primitive is jit_p:
            outs = eval_inlined(eqn.params["jaxpr"], operands)
        else:
            outs = eqn.primitive.bind(*operands, **eqn.params)
            outs = outs if eqn.primitive.multiple_results else [outs]
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


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
    """The equations, behind a barrier where they stand for the second time.

    XLA would see that both copies compute the same and merge them, which is what `checkpoint` must
    prevent: the values would be kept in between. It sees no further than an optimisation barrier,
    whose results are its operands. The cotangents go through it too, so that the second run waits
    until they have arrived. (XLA's compiler for CPUs takes the barriers out before it merges equal
    operations for the last time, so there it helps inside loops only; with JAX it is the same.)
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
