"""`while_loop` as an operation, and the rules that are not exercises.

It traces its body and its condition, and binds `while_p`. `control_flow.py` has the other rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from minijax import dtypes
from minijax.branches import BOOLEAN, Function, emit_end_of_region
from minijax.core import (
    ShapedArray,
    Value,
    Values,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    impl_rules,
    transpose_rules,
)
from minijax.jaxpr import ClosedJaxpr
from minijax.jit import CallPrimitive
from minijax.lax.basic import convert_element_type
from minijax.lowering import Emitter, result_names, tensor_type
from minijax.marks import chosen, filled, groups, opposite
from minijax.programs import (
    Part,
    Types,
    check_carry_tree,
    check_carry_types,
    check_same,
    evaluate_compiled,
    fixed_to_consts,
    handed_through,
    hoisted,
    rearranged,
    trace_part,
    types_of,
)
from minijax.tree import PyTreeDef, tree_flatten, tree_unflatten

__all__ = ["while_loop", "while_p"]


# while_loop -------------------------------------------------------------------------------------

while_p = CallPrimitive("while", multiple_results=True)


@dataclass(frozen=True)
class While:
    """The parameters of `while_p`. Operands: constants of the condition, of the body, the carry."""

    cond_nconsts: int
    cond_jaxpr: ClosedJaxpr  # its constants, carry -> whether the loop goes on
    body_nconsts: int
    body_jaxpr: ClosedJaxpr  # its constants, carry -> carry

    def parts(self, xs: Values) -> list[Any]:
        """The operands, or as many of anything else, in their three groups."""
        return groups(xs, self.cond_nconsts, self.body_nconsts)


def while_loop(cond_fun: Function, body_fun: Function, init_val: Any) -> Any:
    """Replace a value, the *carry*, by `body_fun(carry)` for as long as `cond_fun(carry)` holds.

    Structure and types of the carry must stay the same (`TypeError`). How many times the body runs
    is known only when it has run, so there is no place for what reverse mode would have to keep:
    `jvp` works, `grad` raises `ValueError`. Counterpart: `jax.lax.while_loop`.

    >>> print(while_loop(lambda x: x < 100.0, lambda x: x * 3.0, 1.0))
    243.0
    """
    if not callable(cond_fun) or not callable(body_fun):
        raise TypeError("lax.while_loop: body_fun and cond_fun arguments should be callable.")
    init, carry_tree = tree_flatten(init_val)
    tree = PyTreeDef(tuple, None, (carry_tree,))

    def trace_body(avals: Types) -> tuple[Part, PyTreeDef]:
        part = trace_part(body_fun, tree, avals)
        return part, part.tree

    body, init = trace_step("while_loop body", trace_body, carry_tree, init)
    condition = trace_part(cond_fun, tree, types_of(init))
    check_condition(condition)
    outs = repeat_while(condition.program, body.program, init)
    return tree_unflatten(carry_tree, outs)


def trace_step(
    what: str, trace: Callable[[Types], tuple[Part, PyTreeDef]], tree: PyTreeDef, init: Values
) -> tuple[Part, list[Any]]:
    """The step of a loop as a program, and the initial carry in the types that it keeps.

    `trace` traces the step for a carry of given types, and tells the structure of the carry that
    comes out. An initial value that is weakly typed, a Python number, takes the dtype that it has
    after a step; then the step is traced once more.
    """
    part, out_tree = trace(types_of(init))
    check_carry_tree(what, tree, out_tree)
    promoted = [promote(x, aval) for x, aval in zip(init, part.program.out_avals, strict=False)]
    if types_of(promoted) != types_of(init):
        part, _ = trace(types_of(promoted))
    check_carry_types(what, tree, types_of(promoted), part.program.out_avals[: len(init)])
    return part, promoted


def promote(x: Value, out: ShapedArray) -> Value:
    """The initial value `x` of a carry that is of type `out` after a step."""
    aval = get_aval(x)
    if not aval.weak_type or aval.dtype == out.dtype:
        return x
    dtype, _ = dtypes.result_type((aval.dtype, True), (out.dtype, out.weak_type))
    return convert_element_type(x, dtype)


def check_condition(part: Part) -> None:
    if part.tree.node_class is not None:
        raise TypeError(f"cond_fun must return a boolean scalar, but got pytree {part.tree}.")
    (aval,) = part.program.out_avals
    if aval.shape or aval.dtype != bool:
        raise TypeError(f"cond_fun must return a boolean scalar, but got output type {aval}.")


def repeat_while(condition: ClosedJaxpr, body: ClosedJaxpr, init: Values) -> list[Any]:
    """Bind `while_p`; a carry that never changes becomes a constant of the body.

    That is one which the body hands through and the condition does not read. A constant costs less:
    no rule has to ask what may become of it.
    """
    cond_consts, consts = condition.consts, body.consts
    condition, body = hoisted(condition), hoisted(body)
    read = {atom for eqn in condition.eqns for atom in eqn.invars} | {*condition.jaxpr.outvars}
    cond_carry = condition.jaxpr.invars[len(cond_consts) :]
    sources = zip(handed_through(body), cond_carry, strict=True)
    fixed = tuple(i == len(consts) + k and v not in read for k, (i, v) in enumerate(sources))
    places = range(len(cond_consts), len(condition.in_avals))
    kept = (*range(len(cond_consts)), *chosen(places, opposite(fixed)))
    same = chosen(init, fixed)
    outs = bind_while(
        rearranged(condition, kept, (0,)),
        fixed_to_consts(body, len(consts), fixed),
        cond_consts,
        [*same, *consts],
        chosen(init, opposite(fixed)),
    )
    return filled(fixed, same, outs)


def bind_while(
    condition: ClosedJaxpr, body: ClosedJaxpr, cond_consts: Values, consts: Values, init: Values
) -> list[Any]:
    """Bind `while_p`; constants that the programs hold become the first of their operands."""
    cond_consts, consts = [*condition.consts, *cond_consts], [*body.consts, *consts]
    loop = While(len(cond_consts), hoisted(condition), len(consts), hoisted(body))
    return while_p.bind(*cond_consts, *consts, *init, **vars(loop))


# while: evaluation, transposition, types, lowering -----------------------------------------------


def while_impl(*args: Value, **params: Any) -> Values:
    return evaluate_compiled(while_p, params["body_jaxpr"], args, params)


def while_transpose(*args: Value, **params: Any) -> Value:
    raise ValueError(
        "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with "
        "dynamic start/stop values. Try using lax.scan, or using fori_loop with static start/stop."
    )


def while_type(*avals: ShapedArray, **params: Any) -> Types:
    loop = While(**params)
    cond_consts, consts, init = loop.parts(avals)
    check_same("the operands of the condition", [*cond_consts, *init], loop.cond_jaxpr.in_avals)
    check_same("the result of the condition", loop.cond_jaxpr.out_avals, [BOOLEAN])
    check_same("the operands of the body", [*consts, *init], loop.body_jaxpr.in_avals)
    check_same("the results of the body", loop.body_jaxpr.out_avals, init)
    return loop.body_jaxpr.out_avals


def while_hlo(
    emitter: Emitter, avals: Types, out_avals: Types, args: Sequence[str], **params: Any
) -> list[str]:
    """`stablehlo.while`: two regions with names for the carry; they read constants from outside."""
    if not out_avals:
        return []
    loop = While(**params)
    cond_consts, consts, init = loop.parts(args)
    carry = [f"%carry{len(emitter.lines)}_{i}" for i in range(len(init))]
    start = ", ".join(f"{name} = {x}" for name, x in zip(carry, init, strict=True))
    types = ", ".join(map(tensor_type, out_avals))
    name = emitter.emit(f"stablehlo.while({start}) : {types} cond {{", len(out_avals))
    emit_end_of_region(emitter, loop.cond_jaxpr, [*cond_consts, *carry])
    emitter.lines.append("    } do {")
    emit_end_of_region(emitter, loop.body_jaxpr, [*consts, *carry])
    emitter.lines.append("    }")
    return result_names(name, len(out_avals))


impl_rules[while_p] = while_impl
transpose_rules[while_p] = while_transpose
abstract_eval_rules[while_p] = while_type
hlo_lowerings[while_p] = while_hlo
