"""Programs as parameters: what the operations with inner programs have in common.

`cond`, `while` and `scan` hold programs (`branches.py`, `loops.py`, `scans.py`), traced from users'
functions. Every rule of theirs transforms the inner programs, and binds the same primitive with the
new ones. Here is how programs are made from functions, how inputs and results are rearranged, and
how a program becomes a different one: `jvp_program`, `batched_program` and `split_program`.

Each of these three is told of which inputs something holds (that they move, that they have a batch
axis, that they are unknown), and then says of which results it holds: lists of `Marks`. It is also
told of which results it must always hold, since the branches of a choice have to agree on that
(`agreed`), and the carry of a loop must have the same marks before and after a step (`settled`, in
`minijax/control_flow.py`).
"""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from minijax.array import Array
from minijax.axis_env import axis_sizes, name_of
from minijax.core import (
    Primitive,
    ShapedArray,
    Tracer,
    Value,
    Values,
    convert_element_type_p,
    full_raise,
    get_aval,
    new_main,
    not_mapped,
)
from minijax.jaxpr import ClosedJaxpr, Jaxpr, Var, jaxpr_as_fun, kept_beside, raise_to_shaped
from minijax.jit import derived, jit_impl, without_consts
from minijax.jvp import JVPTrace, JVPTracer, instantiate
from minijax.lax.defining import full
from minijax.linearize import PartialEvalTracer, partial_eval_jaxpr
from minijax.marks import Marks, chosen, either, filled, groups, mapped, moving, opposite
from minijax.tracing import trace_to_jaxpr, trace_with_uses
from minijax.tree import PyTreeDef, flatten_fun
from minijax.vmap import move_batch_axis, vmap_flat

Types = Sequence[ShapedArray]


# What is known, and types -----------------------------------------------------------------------


def are_unknown(tracers: Iterable[PartialEvalTracer]) -> Marks:
    return tuple(not t.pval.is_known for t in tracers)


def known_values(tracers: Iterable[PartialEvalTracer]) -> list[Any]:
    return [t.pval.const for t in tracers if t.pval.is_known]


def types_of(xs: Iterable[Any]) -> list[ShapedArray]:
    return [raise_to_shaped(get_aval(x)) for x in xs]


# From functions to programs ---------------------------------------------------------------------


class Part(NamedTuple):
    """A traced function: its program, with what it has captured as constants; its result's tree."""

    program: ClosedJaxpr
    tree: PyTreeDef


parts_of: weakref.WeakKeyDictionary[Callable[..., Any], dict[Any, Part]]
parts_of = weakref.WeakKeyDictionary()


def trace_part(f: Callable[..., Any], tree: PyTreeDef, avals: Types) -> Part:
    """`f` as a program for arguments of this structure and these types.

    It is kept with `f`, as in `jit`, unless `f` has captured tracers: those are of this one call.
    """
    key = (tree, tuple(avals), axis_sizes())
    try:
        parts = parts_of.setdefault(f, {})
    except TypeError:  # `f` cannot be the key of a dict
        parts = {}
    if key in parts:
        return parts[key]
    flat_f, out_tree = flatten_fun(f, tree)
    traced, captured = trace_with_uses(flat_f, avals)
    part = Part(ClosedJaxpr(traced.jaxpr, captured), out_tree())
    if not any(isinstance(x, Tracer) for x in captured):
        parts[key] = part
    return part


def kept_for(make: Callable[[Any], Callable[..., Any]]) -> Callable[..., Callable[..., Any]]:
    """`make(f)`, the same every time as long as `f` is there, so that its program is found again.

    What is made must not keep `f` itself alive: it gets a function that finds `f`.
    """
    made: weakref.WeakKeyDictionary[Callable[..., Any], Callable[..., Any]]
    made = weakref.WeakKeyDictionary()

    def find_or_make(f: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return made.setdefault(f, make(weakref.ref(f)))
        except TypeError:  # `f` cannot be the key of a dict
            return make(lambda: f)

    return find_or_make


def evaluate_compiled(primitive: Primitive, body: ClosedJaxpr, args: Values, params: Any) -> Values:
    """Compile a loop and run it. The compiled program is kept with `body`.

    Python needs microseconds for each operation of each step; compiling takes as long as some
    thousand operations, once.
    """
    avals = tuple(types_of(args))
    values = [v.jaxpr if isinstance(v, ClosedJaxpr) else v for v in params.values()]
    key = (primitive, avals, *values)
    whole = derived(body, key, lambda *xs: primitive.bind(*xs, **params), avals)
    return jit_impl(*args, name=primitive.name, jaxpr=whole)


# Inputs and results, rearranged -------------------------------------------------------------------


def hoisted(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with its constants as its first inputs."""
    return ClosedJaxpr(without_consts(program.jaxpr), [])


@kept_beside
def rearranged(program: ClosedJaxpr, inputs: Sequence[int], results: Sequence[int]) -> ClosedJaxpr:
    """The program with these of its inputs and results, in this order."""
    inner = program.jaxpr
    invars, outvars = [inner.invars[i] for i in inputs], [inner.outvars[i] for i in results]
    return ClosedJaxpr(Jaxpr(inner.constvars, invars, outvars, inner.eqns), program.consts)


def with_results(program: ClosedJaxpr, results: Iterable[int]) -> ClosedJaxpr:
    """The program with only these of its results."""
    return rearranged(program, tuple(range(len(program.in_avals))), tuple(results))


@kept_beside
def spread(program: ClosedJaxpr, types: Types, places: Sequence[int]) -> ClosedJaxpr:
    """The program with further inputs: its own first ones are at `places` in a list of `types`.

    Several programs come to share a list of inputs in this way; each reads those that are its own.
    """
    inner, own = program.jaxpr, len(places)
    inputs = [Var(aval) for aval in types]
    for place, var in zip(places, inner.invars[:own], strict=True):
        inputs[place] = var
    return ClosedJaxpr(Jaxpr([], [*inputs, *inner.invars[own:]], inner.outvars, inner.eqns), [])


def share_consts(programs: Sequence[ClosedJaxpr]) -> tuple[list[ClosedJaxpr], list[Any]]:
    """The programs with the constants of all of them as first inputs; and these constants."""
    consts = {id(x): x for program in programs for x in program.consts}
    order = {identity: number for number, identity in enumerate(consts)}
    types = tuple(types_of(consts.values()))
    places = [tuple(order[id(x)] for x in program.consts) for program in programs]
    pairs = zip(programs, places, strict=True)
    return [spread(hoisted(program), types, own) for program, own in pairs], list(consts.values())


@kept_beside
def with_unread(program: ClosedJaxpr, types: Types) -> ClosedJaxpr:
    """The program with further inputs at the end, of these types, that it does not read."""
    inner = program.jaxpr
    inputs = [*inner.invars, *(Var(aval) for aval in types)]
    return ClosedJaxpr(Jaxpr(inner.constvars, inputs, inner.outvars, inner.eqns), program.consts)


def handed_through(program: ClosedJaxpr) -> list[int | None]:
    """For each result the number of the input that it is; None for one that is computed."""
    numbers: dict[Any, int] = {var: i for i, var in enumerate(program.jaxpr.invars)}
    return [numbers.get(atom) for atom in program.jaxpr.outvars]


@kept_beside
def fixed_to_consts(body: ClosedJaxpr, num_consts: int, fixed: Marks) -> ClosedJaxpr:
    """The body of a loop with the carries that it hands through as its first constants."""
    consts, carry, rows = groups(range(len(body.in_avals)), num_consts, len(fixed))
    changing = opposite(fixed)
    inputs = (*chosen(carry, fixed), *consts, *chosen(carry, changing), *rows)
    results = (*chosen(range(len(fixed)), changing), *range(len(fixed), len(body.out_avals)))
    return rearranged(body, inputs, results)


def as_array(x: Value) -> Value:
    """`x`; a Python number, which was handed through without any operation, as an array."""
    return own_array(x) if isinstance(x, bool | int | float) else x


def own_array(x: Value) -> Value:
    """`x`, which was handed through without any operation, as an array of our own."""
    if isinstance(x, Array):
        return x
    weak_type = type(x) in (int, float)
    return convert_element_type_p.bind(x, new_dtype=get_aval(x).dtype, weak_type=weak_type)


# From programs to programs ------------------------------------------------------------------------


@kept_beside
def jvp_program(program: ClosedJaxpr, moves: Marks, at_least: Marks) -> tuple[ClosedJaxpr, Marks]:
    """From inputs and the tangents of those that move to results and the tangents of those that do.

    Results that `at_least` marks always get a tangent, of zeros if they do not move.
    """
    out_moves: Marks = ()

    def values_and_tangents(*args: Value) -> list[Value]:
        nonlocal out_moves
        primals, tangents = groups(args, len(moves))
        with new_main(JVPTrace) as main:
            trace = JVPTrace(main)
            tracers = [
                JVPTracer(trace, x, t)
                for x, t in zip(primals, filled(moves, tangents), strict=True)
            ]
            outs = [full_raise(trace, out) for out in jaxpr_as_fun(program)(*tracers)]
        out_moves = either(moving(t.tangent for t in outs), at_least)
        out_tangents = [instantiate(t.tangent, get_aval(t.primal)) for t in chosen(outs, out_moves)]
        return [*(t.primal for t in outs), *out_tangents]

    avals = [*program.in_avals, *chosen(program.in_avals, moves)]
    return trace_to_jaxpr(values_and_tangents, avals), out_moves


def batched_program(
    program: ClosedJaxpr, axis_size: int, batched: Marks, at_least: Marks
) -> tuple[ClosedJaxpr, Marks]:
    """For inputs of which some have a batch axis in front; marks the results that have one then.

    Results that `at_least` marks always get one.
    """
    return batched_by_name(program, axis_size, name_of(axis_size), batched, at_least)


@kept_beside
def batched_by_name(
    program: ClosedJaxpr, axis_size: int, name: Hashable, batched: Marks, at_least: Marks
) -> tuple[ClosedJaxpr, Marks]:
    """Like `batched_program`. A size is an int without the name that it has: hence `name`."""
    out_batched: Marks = ()

    def of_batches(*args: Value) -> list[Value]:
        nonlocal out_batched
        outs, out_dims = vmap_flat(jaxpr_as_fun(program), axis_size, front_or_none(batched), args)
        out_batched = either(mapped(out_dims), at_least)
        return to_front(axis_size, outs, out_dims, out_batched)

    pairs = zip(program.in_avals, batched, strict=True)
    avals = [stacked(aval, axis_size) if mark else aval for aval, mark in pairs]
    return trace_to_jaxpr(of_batches, avals), out_batched


def stacked(aval: ShapedArray, size: int) -> ShapedArray:
    """The type of a stack of `size` arrays of type `aval`."""
    return ShapedArray((size, *aval.shape), aval.dtype, aval.weak_type)


def to_front(axis_size: int, xs: Values, dims: Values, marks: Marks) -> list[Any]:
    """`xs`, of which those that are marked have their batch axes in front."""
    return [
        move_batch_axis(axis_size, dim, 0, x) if mark else x
        for x, dim, mark in zip(xs, dims, marks, strict=True)
    ]


def front_or_none(marks: Marks) -> list[Any]:
    return [0 if mark else not_mapped for mark in marks]


class Split(NamedTuple):
    """A program in two parts, with residuals that the first returns and the second takes."""

    known: ClosedJaxpr  # known inputs -> known results, residuals
    rest: ClosedJaxpr  # residuals, unknown inputs -> unknown results


def split_program(program: ClosedJaxpr, unknown: Marks, at_least: Marks) -> tuple[Split, Marks]:
    """Split by what is known; `at_least` marks results that always count as unknown."""
    instantiated = frozenset(i for i, mark in enumerate(at_least) if mark)
    known, rest, out_known = partial_eval_jaxpr(program, opposite(unknown), instantiated)
    return Split(without_empty_calls(known), rest), opposite(tuple(out_known))


@kept_beside
def without_empty_calls(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program without calls that return nothing: `checkpoint` of what is unknown makes one."""
    eqns = [eqn for eqn in program.eqns if eqn.outvars]
    return program.replace(jaxpr=program.jaxpr.replace(eqns=eqns))


def agreed(
    transform: Callable[[ClosedJaxpr, Marks], tuple[Any, Marks]], branches: Sequence[ClosedJaxpr]
) -> tuple[list[Any], Marks]:
    """All branches transformed; a mark of one branch's result is a mark of every branch's."""
    alone = [transform(branch, ()) for branch in branches]
    marks: Marks = functools.reduce(either, (own for _, own in alone))
    programs = [
        program if own == marks else transform(branch, marks)[0]
        for branch, (program, own) in zip(branches, alone, strict=True)
    ]
    return programs, marks


def beside(sizes: Sequence[int], moves: Sequence[Marks]) -> tuple[int, ...]:
    """An order for values in parts of these sizes, followed by the tangents of those that move.

    In this order, the tangents of each part come right after that part.

    >>> beside((2, 1), [(True, False), (True,)])  # 0 1 | 2, and their tangents 3 | 4
    (0, 1, 3, 2, 4)
    """
    number, numbers = sum(sizes), [sum(marks) for marks in moves]
    values = groups(range(number), *sizes)
    tangents = groups(range(number, number + sum(numbers)), *numbers)
    return tuple(i for pair in zip(values, tangents, strict=True) for part in pair for i in part)


def full_tangents(primals: Values, tangents: Values, moves: Marks) -> list[Any]:
    """The tangents of those that move, as arrays even if they start as zero."""
    pairs = chosen(zip(primals, tangents, strict=True), moves)
    return [instantiate(tangent, get_aval(primal)) for primal, tangent in pairs]


def zeros(aval: ShapedArray) -> Any:
    """Zeros of a type, as an operation and not as a constant."""
    return full(aval.shape, np.zeros((), aval.dtype))


# Types ------------------------------------------------------------------------------------------


def check_same(what: str, got: Types, want: Types) -> None:
    """For the type checker: types must be equal, apart from being weak."""
    if [(a.shape, a.dtype) for a in got] != [(a.shape, a.dtype) for a in want]:
        given, wanted = (f"({', '.join(map(str, types))})" for types in (got, want))
        raise TypeError(f"{what} must be {wanted}, not {given}")


def check_branches(what: str, names: Sequence[str], parts: Sequence[Part]) -> None:
    """All branches must return results like the first one's, else `TypeError` says where."""
    first = parts[0]
    for name, part in zip(names[1:], parts[1:], strict=True):
        if part.tree != first.tree:
            raise TypeError(
                f"{what} branch outputs must have the same pytree structure, but they differ: the "
                f"output of {names[0]} is {first.tree} and that of {name} is {part.tree}."
            )
        found = "; ".join(
            f"the output of {names[0]}{path and f' at path {path}'} has type {a} but the "
            f"corresponding output of {name} has type {b}"
            for path, a, b in differences(
                first.tree, first.program.out_avals, part.program.out_avals
            )
        )
        if found:
            raise TypeError(
                f"{what} branches must have equal output types but they differ: {found}."
            )


def check_carry_tree(what: str, tree: PyTreeDef, out_tree: PyTreeDef) -> None:
    if tree != out_tree:
        raise TypeError(
            f"{what} function carry input and carry output must have the same pytree structure, "
            f"but they differ: the input is {tree} and the output is {out_tree}."
        )


def check_carry_types(what: str, tree: PyTreeDef, avals: Types, out_avals: Types) -> None:
    """What comes out of a step must fit what goes in: `TypeError` that names the difference."""
    found = "; ".join(
        f"the input carry{path and f' component {path}'} has type {a} but the corresponding output "
        f"carry component has type {b}"
        for path, a, b in differences(tree, avals, out_avals)
    )
    if found:
        raise TypeError(
            f"{what} function carry input and carry output must have equal types, but they differ: "
            f"{found}."
        )


def differences(
    tree: PyTreeDef, xs: Types, ys: Types
) -> Iterator[tuple[str, ShapedArray, ShapedArray]]:
    """Where the types of two trees of the same structure differ: the path, and both types."""
    for path, x, y in zip(leaf_paths(tree), xs, ys, strict=True):
        if (x.shape, x.dtype) != (y.shape, y.dtype):
            yield path, x, y


def leaf_paths(tree: PyTreeDef) -> Iterator[str]:
    """How each leaf is reached from the whole, in Python.

    >>> from minijax.tree import tree_structure
    >>> list(leaf_paths(tree_structure({"a": 1.0, "b": (2.0, 3.0)})))
    ["['a']", "['b'][0]", "['b'][1]"]
    """
    if tree.node_class is None:
        yield ""
        return
    keys = keys_of(tree)
    for key, child in zip(keys, tree.child_treedefs, strict=True):
        yield from (f"[{key!r}]{path}" for path in leaf_paths(child))


def keys_of(tree: PyTreeDef) -> Iterable[Any]:
    """How the children of a container are reached from it."""
    if tree.node_class is defaultdict:
        return tree.data[1]
    return tree.data if tree.node_class in (dict, OrderedDict) else range(len(tree.children()))
