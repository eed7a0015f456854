"""Reverse mode: run a linear program backwards. `vjp` is `linearize`, then transposition.

A linear function between lists of numbers is a matrix, and the transpose of the matrix leads back:
from a *cotangent* of the results, which has a weight for each of them, to one of the inputs. No
matrix is formed. Each linear primitive has a rule that takes the cotangent of its result to those
of its linear operands, and the equations are visited from the last to the first. Where a value was
used twice, its cotangents are added.

This file reads from top to bottom: cotangents, the rules of the primitives, the backward pass over
a program, the rule of the call primitive, and what `vjp`, `grad` and Jacobians are made of.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.arguments import check_one_kind, check_scalar
from minijax.core import (
    ShapedArray,
    Tangent,
    UndefPrimal,
    Value,
    Values,
    add_p,
    aval_makers,
    broadcast_in_dim_p,
    convert_element_type_p,
    div_p,
    dot_general_p,
    get_aval,
    get_rule,
    mul_p,
    neg_p,
    reduce_sum_p,
    sub_p,
    transpose_p,
    transpose_rules,
)
from minijax.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Var, apply_equation, read
from minijax.jit import Rebind, call, derived, jit_p
from minijax.jvp import add_tangents, instantiate
from minijax.lax.basic import (
    broadcast_in_dim,
    convert_element_type,
    div,
    dot_general,
    mul,
    neg,
    reduce_sum,
    transpose,
)
from minijax.linearize import Linearized, check_types, linearize_tree, only_floats, with_float0
from minijax.marks import filled
from minijax.shape_dtype import type_of
from minijax.tracing import trace_tree
from minijax.tree import Partial, PyTreeDef, tree_flatten, tree_unflatten
from minijax.vmap import basis, vmap

# Cotangents, where None stands for zero ---------------------------------------------------------


def accumulate(ct_env: dict[Var, Any], atom: Atom, ct: Tangent) -> None:
    """Add `ct` to the cotangent that `atom` has in `ct_env` so far; a literal has none.

    >>> a = Var(ShapedArray((), np.dtype(float)))
    >>> ct_env = {}
    >>> for ct in (3.0, None, 4.0):
    ...     accumulate(ct_env, a, ct)
    >>> print(*ct_env.values())
    7.0
    """
    if isinstance(atom, Var) and ct is not None:
        ct_env[atom] = add_tangents(ct_env.get(atom), ct)


# Transpose rules: (cotangent of the result, *operands) -> cotangents of the operands --------------
# A linear operand is an `UndefPrimal`: its type is known and its value is not. The others have
# values, and the cotangent None.

aval_makers[UndefPrimal] = lambda x: x.aval


def unbroadcast(ct: Tangent, x: Value) -> Value:
    """The cotangent of operand `x` of an elementwise operation; `ct` is that of its result.

    If `x` was stretched, the cotangent is the sum of `ct` over the copies of each entry, with
    `x`'s shape and `ct`'s dtype, weak or not. Otherwise it is `ct` itself, which may be a tracer;
    for a known `x`, None.

    >>> unbroadcast(np.ones((2, 3)), UndefPrimal(ShapedArray((2, 1), np.dtype(float))))
    Array([[3.],
           [3.]], dtype=float64)
    >>> print(unbroadcast(np.ones((2, 3)), 5.0))
    None
    """
    if not isinstance(x, UndefPrimal):
        return None
    shape, want = get_aval(ct).shape, x.aval.shape
    if shape == want:
        return ct
    axes = tuple(i for i, n in enumerate(shape) if not want or (want[i] == 1 and n != 1))
    sums = reduce_sum(ct, axes)
    kept = [i for i in range(len(want)) if i not in axes]
    return broadcast_in_dim(sums, want, kept) if want else sums


def add_transpose(ct: Tangent, x: Value, y: Value) -> list[Value]:
    return [unbroadcast(ct, x), unbroadcast(ct, y)]


def mul_transpose(ct: Tangent, x: Value, y: Value) -> list[Value]:
    """The linear operand gets the cotangent times the other, which is known.

    >>> mul_transpose(np.array([1.0, 10.0]), 3.0, UndefPrimal(ShapedArray((2,), np.dtype(float))))
    [None, Array([ 3., 30.], dtype=float64)]
    """
    if isinstance(x, UndefPrimal):
        return [unbroadcast(mul(ct, y), x), None]
    return [None, unbroadcast(mul(x, ct), y)]


def sub_transpose(ct: Tangent, x: Value, y: Value) -> list[Value]:
    return [unbroadcast(ct, x), unbroadcast(neg(ct), y)]


def div_transpose(ct: Tangent, x: Value, y: Value) -> list[Value]:
    """Division is linear in the dividend only."""
    return [unbroadcast(div(ct, y), x), None]


def neg_transpose(ct: Tangent, x: Value) -> list[Value]:
    return [neg(ct)]


def transpose_transpose(ct: Tangent, x: Value, *, permutation: tuple[int, ...]) -> list[Value]:
    return [transpose(ct, inverse_permutation(permutation))]


def inverse_permutation(permutation: Sequence[int]) -> list[int]:
    """The permutation that leads back: it says where each axis went.

    >>> inverse_permutation([2, 0, 1])
    [1, 2, 0]
    """
    return [permutation.index(i) for i in range(len(permutation))]


def dot_general_transpose(
    ct: Tangent, x: Value, y: Value, *, dimension_numbers: Any, preferred_element_type: Any
) -> list[Value]:
    """A product of the cotangent with the known operand, over the axes that the known one kept."""
    contract, batch = dimension_numbers
    if isinstance(x, UndefPrimal):
        return [dot_cotangent(ct, x.aval, y, contract, batch, comes_last=False), None]
    mirrored = contract[::-1], batch[::-1]
    return [None, dot_cotangent(ct, y.aval, x, *mirrored, comes_last=True)]


def dot_cotangent(
    ct: Tangent, aval: ShapedArray, other: Any, contract: Any, batch: Any, comes_last: bool
) -> Value:
    """The cotangent of an operand of type `aval` in a product (`lax.dot_general`).

    `other` is the known operand; with `comes_last`, the linear operand is the second of the two.
    Each of the pairs `contract` and `batch` has the axes of the linear operand, then those of
    `other`. `ct` has the axes of the product: batch axes, those kept from the first operand, then
    from the second. All the work is one product of `ct` and `other`, which may be tracers, in the
    dtype of `ct`. The cotangent has the dtype of the operand.

    >>> x = ShapedArray((2, 3), np.dtype(float))  # a product x @ y of shape (2, 5), y as below
    >>> y, numbers = np.ones((3, 5)), (((1,), (0,)), ((), ()))
    >>> dot_cotangent(np.ones((2, 5)), x, y, *numbers, comes_last=False)
    Array([[5., 5., 5.],
           [5., 5., 5.]], dtype=float64)
    """
    kept = other_axes(aval, contract[0], batch[0])
    other_kept = other_axes(get_aval(other), contract[1], batch[1])
    num_batch = len(batch[0])
    first = num_batch if comes_last else num_batch + len(kept)
    ct_axes = range(first, first + len(other_kept))
    numbers = (ct_axes, other_kept), (range(num_batch), batch[1])
    out = dot_general(ct, other, numbers, preferred_element_type=get_aval(ct).dtype)
    return as_operand(out, aval, contract, batch)


def as_operand(out: Value, aval: ShapedArray, contract: Any, batch: Any) -> Value:
    """The product that `dot_cotangent` computed, with the axes of the operand in their own order.

    The product has the batch axes first, then those that the operand kept, then its contracted
    axes, in the order in which `other` has them.
    """
    kept = other_axes(aval, contract[0], batch[0])
    contracted = [contract[0][contract[1].index(i)] for i in sorted(contract[1])]
    order = [*batch[0], *kept, *contracted]
    return transpose(convert_element_type(out, aval.dtype), inverse_permutation(order))


def other_axes(aval: ShapedArray, contract: Sequence[int], batch: Sequence[int]) -> list[int]:
    """The axes of an operand that a product keeps."""
    return [i for i in range(len(aval.shape)) if i not in (*contract, *batch)]


def reduce_sum_transpose(ct: Tangent, x: Value, *, axes: tuple[int, ...]) -> list[Value]:
    """Each term of a sum has the cotangent of the sum, which is repeated."""
    kept = [i for i in range(len(x.aval.shape)) if i not in axes]
    return [broadcast_in_dim(ct, x.aval.shape, kept)]


def broadcast_in_dim_transpose(
    ct: Tangent, x: Value, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]
) -> list[Value]:
    """The cotangent of an operand `x` that was repeated into `shape`, in a list of one.

    Axis `i` of `x` became axis `broadcast_dimensions[i]`, in increasing order, maybe stretched from
    a size of 1. All other axes are new. The cotangent has the shape of `x` and the dtype of `ct`,
    which may be a tracer.

    >>> row = UndefPrimal(ShapedArray((2,), np.dtype(float)))
    >>> ct = np.array([[1.0, 2.0], [30.0, 40.0], [500.0, 600.0]])
    >>> broadcast_in_dim_transpose(ct, row, shape=(3, 2), broadcast_dimensions=(1,))
    [Array([531., 642.], dtype=float64)]
    """
    new = tuple(i for i in range(len(shape)) if i not in broadcast_dimensions)
    return [unbroadcast(reduce_sum(ct, new), x)]


def convert_element_type_transpose(
    ct: Tangent, x: Value, *, new_dtype: Any, weak_type: bool
) -> list[Value]:
    return [convert_element_type_p.bind(ct, new_dtype=x.aval.dtype, weak_type=x.aval.weak_type)]


transpose_rules[add_p] = add_transpose
transpose_rules[sub_p] = sub_transpose
transpose_rules[mul_p] = mul_transpose
transpose_rules[div_p] = div_transpose
transpose_rules[transpose_p] = transpose_transpose
transpose_rules[dot_general_p] = dot_general_transpose
transpose_rules[neg_p] = neg_transpose
transpose_rules[reduce_sum_p] = reduce_sum_transpose
transpose_rules[broadcast_in_dim_p] = broadcast_in_dim_transpose
transpose_rules[convert_element_type_p] = convert_element_type_transpose


# The backward pass ------------------------------------------------------------------------------


def linear_equations(
    jaxpr: Jaxpr, consts: Values, args: Values
) -> tuple[list[JaxprEqn], dict[Var, Any]]:
    """The equations that depend on a linear input, and the environment; all others are run.

    In the environment, a variable has a value, or an `UndefPrimal` if it is linear.
    """
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
    linear_eqns = []
    for eqn in jaxpr.eqns:
        operands = [read(env, x) for x in eqn.invars]
        if any(isinstance(x, UndefPrimal) for x in operands):
            linear_eqns.append(eqn)
            outs: Any = [UndefPrimal(var.aval) for var in eqn.outvars]
        else:
            outs = apply_equation(eqn, operands)
        env.update(zip(eqn.outvars, outs, strict=True))
    return linear_eqns, env


def backward_pass(jaxpr: Jaxpr, consts: Values, args: Values, cotangents: Values) -> list[Value]:
    """The cotangents of a program's linear inputs, as a list, from the `cotangents` of its results.

    `consts` and `args` belong to `jaxpr.constvars` and `jaxpr.invars`, with an `UndefPrimal` for
    each linear input; None is a cotangent of zero, here and in the list. For an equation with a
    linear operand, the transpose rule is called once, with the complete cotangents of its results;
    its errors pass through. If these are all None, the equation is skipped and needs no rule. If a
    rule is needed and there is none, raises a `NotImplementedError` that names the primitive.

    >>> a, b, c = (Var(ShapedArray((), np.dtype(float))) for _ in range(3))
    >>> jaxpr = Jaxpr([], [a], [c], [JaxprEqn([a], [b], neg_p, {}), JaxprEqn([b], [c], neg_p, {})])
    >>> backward_pass(jaxpr, [], [UndefPrimal(a.aval)], [5.0])
    [Array(5., dtype=float64, weak_type=True)]
    """
    linear_eqns, env = linear_equations(jaxpr, consts, args)
    ct_env: dict[Var, Any] = {}
    for atom, ct in zip(jaxpr.outvars, cotangents, strict=True):
        accumulate(ct_env, atom, ct)
    for eqn in reversed(linear_eqns):
        cts = [ct_env.pop(var, None) for var in eqn.outvars]
        if all(ct is None for ct in cts):
            continue
        rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
        operands = [read(env, atom) for atom in eqn.invars]
        cts_in = rule(cts if eqn.primitive.multiple_results else cts[0], *operands, **eqn.params)
        for atom, ct in zip(eqn.invars, cts_in, strict=True):
            accumulate(ct_env, atom, ct)
    return [ct_env.get(var) for var in jaxpr.invars if isinstance(env[var], UndefPrimal)]


def transpose_program(program: ClosedJaxpr, cotangents: Values) -> list[Value]:
    """Cotangents of all inputs of a linear program, as arrays."""
    undefs = [UndefPrimal(v.aval) for v in program.jaxpr.invars]
    cts = backward_pass(program.jaxpr, program.consts, undefs, cotangents)
    return [instantiate(ct, u.aval) for ct, u in zip(cts, undefs, strict=True)]


# The call primitive -----------------------------------------------------------------------------


def jit_transpose(cts: Values, *args: Value, name: str, jaxpr: ClosedJaxpr) -> list[Value]:
    return call_transpose(functools.partial(call, name=name), cts, args, jaxpr)


def call_transpose(rebind: Rebind, cts: Values, args: Values, jaxpr: ClosedJaxpr) -> list[Value]:
    """Call the program that runs backwards: known operands and cotangents in, cotangents out."""
    linear = tuple(isinstance(x, UndefPrimal) for x in args)
    full_cts = [full_cotangent(*pair) for pair in zip(cts, jaxpr.out_avals, strict=True)]
    known_args = [x for x in args if not isinstance(x, UndefPrimal)]
    return filled(linear, rebind(transposed_jaxpr(jaxpr, linear), [*known_args, *full_cts]))


def full_cotangent(ct: Value | None, aval: ShapedArray) -> Value:
    """`ct`, or zeros of the type that a result has: an integer's are integers here."""
    if ct is None and not dtypes.is_float(aval.dtype):
        return np.zeros(aval.shape, aval.dtype)
    return instantiate(ct, aval)


def transposed_jaxpr(jaxpr: ClosedJaxpr, linear: tuple[bool, ...]) -> ClosedJaxpr:
    """The program that runs `jaxpr` backwards, as `call_transpose` calls it.

    `jaxpr` is linear in the inputs that `linear` marks; they may be floats or integers. Each result
    has the type of its input, or `float0` for an integer without influence. The same object is
    returned for the same program and `linear`, and freed with the program.

    >>> from minijax.jaxpr import eval_jaxpr
    >>> from minijax.tracing import make_jaxpr
    >>> closed = make_jaxpr(lambda a, x: a * x)(2.0, 3.0)
    >>> back = transposed_jaxpr(closed, (False, True))
    >>> print(*eval_jaxpr(back.jaxpr, back.consts, 2.0, 5.0))
    10.0
    """

    def backwards(*inputs: Any) -> list[Any]:
        rest = iter(inputs)
        operands = [
            UndefPrimal(aval) if lin else next(rest)
            for lin, aval in zip(linear, jaxpr.in_avals, strict=True)
        ]
        cts_in = backward_pass(jaxpr.jaxpr, jaxpr.consts, operands, list(rest))
        linear_avals = [x.aval for x in operands if isinstance(x, UndefPrimal)]
        return [instantiate(ct, aval) for ct, aval in zip(cts_in, linear_avals, strict=True)]

    known_avals = [aval for aval, lin in zip(jaxpr.in_avals, linear, strict=True) if not lin]
    avals = [*known_avals, *jaxpr.out_avals]
    return derived(jaxpr, ("transpose", linear), backwards, avals)


transpose_rules[jit_p] = jit_transpose


# vjp, grad and their relatives ------------------------------------------------------------------


def linear_transpose(fun: Callable[..., Any], *primals: Value) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a linear function: it takes cotangents of the result to those of the inputs.

    `fun` takes one or more arrays, or containers of them, and must be linear in all of them
    together: from floats to floats, or from integers to integers (`TypeError` otherwise). Only
    the types of `primals` matter. The function that is returned takes a cotangent
    with the structure and the types of the result (`TypeError` otherwise) and returns a tuple, with
    a cotangent for each of `primals`. Counterpart: `jax.linear_transpose`.

    >>> print(*linear_transpose(lambda x: x * 2.0 + x, 1.0)(5.0))
    15.0
    """
    leaves, in_tree = tree_flatten(primals)
    program, out_tree = trace_tree(fun, primals)
    avals = [type_of(x) for x in leaves]
    check_one_kind([*avals, *program.out_avals])
    lin = Linearized(None, None, program, in_tree, avals, out_tree, program.out_avals)
    return Partial(transposed, lin)


def transposed(lin: Linearized, cotangent: Tangent) -> tuple[Value, ...]:
    """Like `pull_back`, for a function that is linear itself, and may be one of integers."""
    cts, tree = tree_flatten(cotangent)
    got, want = (
        [(aval.shape, aval.dtype) for aval in avals]
        for avals in (map(get_aval, cts), lin.out_avals)
    )
    if (tree, got) != (lin.out_tree, want):
        raise TypeError(f"The cotangent must be like the result, {want}, not {got}.")
    return tree_unflatten(lin.in_tree, transpose_program(lin.program, cts))


def flat_cotangents(
    cotangent: Tangent, tree: PyTreeDef, avals: Sequence[ShapedArray]
) -> list[Value]:
    """The leaves of a cotangent, which must have the structure and the types of the result."""
    cts, ct_tree = tree_flatten(cotangent)
    if ct_tree != tree:
        raise ValueError(f"The cotangent must have the structure {tree}, not {ct_tree}.")
    check_types("function of cotangents", cts, avals)
    return cts


def pull_back(lin: Linearized, cotangent: Tangent) -> tuple[Value, ...]:
    """The cotangents of a function's arguments, for a `cotangent` of its result.

    Containers are taken apart and put together here, and integers, which are not in the linear
    program, get `float0`.

    >>> print(*pull_back(linearize_tree(lambda x, y: x * y, (3.0, 4.0), has_aux=False), 10.0))
    40.0 30.0
    """
    cts = flat_cotangents(cotangent, lin.out_tree, lin.out_avals)
    cts_in = transpose_program(lin.program, only_floats(cts, lin.out_avals))
    return tree_unflatten(lin.in_tree, with_float0(cts_in, lin.in_avals))


def vjp(fun: Callable[..., Any], *primals: Value, has_aux: bool = False) -> tuple[Value, ...]:
    """The value of `fun` at `primals`, and the function that pulls cotangents back to them.

    `primals` are the arguments of `fun`: numbers, arrays, or containers of these. `fun` runs once.

    Returns `(value, f_vjp)`. A cotangent of the value has a weight for each of its entries. `f_vjp`
    takes one and returns a tuple with a cotangent for each of `primals`, which is the cotangent
    times the Jacobian: how fast the weighted sum moves with each entry. You can call `f_vjp` as
    often as you like. Cotangents have the structure, the shapes and the dtypes of what they belong
    to, and `float0` for integers; `f_vjp` raises `ValueError` for one that does not fit.

    With `has_aux`, `fun` returns a pair of the value and anything else, and `vjp` returns `(value,
    f_vjp, anything else)`. `f_vjp` is a container whose leaves are the residuals, so that a
    function under `jit` can return it. Counterpart: `jax.vjp`.

    >>> y, f_vjp = vjp(lambda x, y: x * y, 3.0, 4.0)
    >>> print(y, *f_vjp(10.0))
    12.0 40.0 30.0
    """
    lin = linearize_tree(fun, primals, has_aux)
    f_vjp = Partial(pull_back, lin)
    return (lin.value, f_vjp, lin.aux) if has_aux else (lin.value, f_vjp)


def value_and_gradients(
    fun: Callable[..., Any], args: Values, has_aux: bool = False
) -> tuple[Value, ...]:
    """The value of `fun`, which runs once, and a tuple with its gradient for each of `args`.

    Raises `TypeError` unless the value is a single float. The cotangent of the value has its dtype,
    and is weak if the value is. With `has_aux`, `fun` returns a pair; its second part becomes the
    third result.

    >>> value, gradients = value_and_gradients(lambda x, y: x * y, (3.0, 4.0))
    >>> print(value, *gradients)
    12.0 4.0 3.0
    """
    value, f_vjp, *aux = vjp(fun, *args, has_aux=has_aux)
    check_scalar(value)
    aval = get_aval(value)
    one = convert_element_type_p.bind(1.0, new_dtype=aval.dtype, weak_type=aval.weak_type)
    return (value, f_vjp(one), *aux)


def jacobian_of_output(lin: Linearized, i: int) -> list[Any]:
    """The Jacobians of leaf `i` of a function's result, one for each float input.

    `lin` is the linearized function, whose results are floats. A Jacobian has the axes of the leaf,
    then those of the input; for an input without influence it is zero. One backward pass serves all
    entries.

    >>> lin = linearize_tree(lambda x, y: x * y, (3.0, np.array([1.0, 2.0])), has_aux=False)
    >>> jacobian_of_output(lin, 0)
    [Array([1., 2.], dtype=float64, weak_type=True), Array([[3., 0.],
           [0., 3.]], dtype=float64)]
    """

    def pull_back(cotangent: Tangent) -> list[Value]:
        cts = [cotangent if j == i else None for j in range(len(lin.out_avals))]
        return transpose_program(lin.program, cts)

    for _ in lin.out_avals[i].shape:
        pull_back = vmap(pull_back)
    return pull_back(basis(lin.out_avals[i]))
