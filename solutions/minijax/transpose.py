"""Reverse mode: run a linear program backwards. `vjp` is `linearize`, then transposition.

A linear function between lists of numbers is a matrix, and the transpose of the matrix leads back:
from a *cotangent* of the results, which says how much each of them counts, to one of the inputs. No
matrix is formed. Each linear primitive has a rule that takes the cotangent of its result to those
of its linear operands, and the equations are visited from the last to the first. Where a value was
used twice, its cotangents are added.

`vjp`, `grad` and the Jacobians follow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.arguments import Argnums, check_enough_args, chosen_args, function_of
from minijax.core import (
    ShapedArray,
    UndefPrimal,
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
from minijax.jvp import add_tangents, zeros_like_aval
from minijax.lax.basic import broadcast_in_dim, convert_element_type, transpose
from minijax.linearize import Linearized, check_types, linearize_tree, only_floats, with_float0
from minijax.tracing import trace_tree
from minijax.tree import PyTreeDef, tree_flatten, tree_unflatten
from minijax.vmap import (
    basis,
    check_floats,
    check_not_empty,
    jacfwd,
    vmap,
)


def backward_pass(
    jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], cotangents: Sequence[Any]
) -> list[Any]:
    """The cotangents of the `UndefPrimal`s in `args`, from those of the results; None for zero."""
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
    ct_env: dict[Var, Any] = {}

    def accumulate(atom: Atom, ct: Any) -> None:
        if isinstance(atom, Var) and ct is not None:
            ct_env[atom] = add_tangents(ct_env.get(atom), ct)

    linear_eqns = linear_equations(jaxpr, env)
    for atom, ct in zip(jaxpr.outvars, cotangents, strict=True):
        accumulate(atom, ct)
    for eqn in reversed(linear_eqns):
        cts = [ct_env.pop(var, None) for var in eqn.outvars]
        if all(ct is None for ct in cts):
            continue
        rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
        operands = [read(env, x) for x in eqn.invars]
        cts_in = rule(cts if eqn.primitive.multiple_results else cts[0], *operands, **eqn.params)
        for atom, ct in zip(eqn.invars, cts_in, strict=True):
            accumulate(atom, ct)
    return [ct_env.get(var) for var in jaxpr.invars if isinstance(env[var], UndefPrimal)]


def linear_equations(jaxpr: Jaxpr, env: dict[Var, Any]) -> list[JaxprEqn]:
    """The equations that depend on a linear input; the results of the others go into `env`."""
    linear_eqns = []
    for eqn in jaxpr.eqns:
        operands = [read(env, x) for x in eqn.invars]
        if any(isinstance(x, UndefPrimal) for x in operands):
            linear_eqns.append(eqn)
            outs: Any = [UndefPrimal(var.aval) for var in eqn.outvars]
        else:
            outs = apply_equation(eqn, operands)
        env.update(zip(eqn.outvars, outs, strict=True))
    return linear_eqns


aval_makers[UndefPrimal] = lambda x: x.aval


# Transpose rules: (cotangent of the result, *operands) -> cotangents of the operands, None if known


def unbroadcast(ct: Any, x: Any) -> Any:
    """`ct` summed over the axes along which the linear operand `x` was stretched."""
    if not isinstance(x, UndefPrimal):
        return None
    shape, want = get_aval(ct).shape, x.aval.shape
    if shape == want:
        return ct
    extra = len(shape) - len(want)
    axes = [i for i, n in enumerate(shape) if i < extra or (want[i - extra] == 1 and n != 1)]
    summed = reduce_sum_p.bind(ct, axes=tuple(axes))
    kept = [i for i, n in enumerate(want) if i + extra not in axes]
    return summed if len(kept) == len(want) else broadcast_in_dim(summed, want, kept)


def add_transpose(ct: Any, x: Any, y: Any) -> list[Any]:
    return [unbroadcast(ct, x), unbroadcast(ct, y)]


def mul_transpose(ct: Any, x: Any, y: Any) -> list[Any]:
    if isinstance(x, UndefPrimal):
        return [unbroadcast(mul_p.bind(ct, y), x), None]
    return [None, unbroadcast(mul_p.bind(x, ct), y)]


def sub_transpose(ct: Any, x: Any, y: Any) -> list[Any]:
    return [unbroadcast(ct, x), unbroadcast(neg_p.bind(ct), y)]


def div_transpose(ct: Any, x: Any, y: Any) -> list[Any]:
    """Division is linear in the dividend only."""
    return [unbroadcast(div_p.bind(ct, y), x), None]


def neg_transpose(ct: Any, x: Any) -> list[Any]:
    return [neg_p.bind(ct)]


def transpose_transpose(ct: Any, x: Any, *, permutation: tuple[int, ...]) -> list[Any]:
    """The inverse permutation."""
    return [transpose(ct, [permutation.index(i) for i in range(len(permutation))])]


def dot_general_transpose(
    ct: Any, x: Any, y: Any, *, dimension_numbers: Any, preferred_element_type: Any
) -> list[Any]:
    """A product of the cotangent with the known operand, over the axes which that one kept."""
    contract, batch = dimension_numbers
    if isinstance(x, UndefPrimal):
        return [dot_cotangent(ct, x.aval, y, contract, batch, comes_last=False), None]
    mirrored = contract[::-1], batch[::-1]
    return [None, dot_cotangent(ct, y.aval, x, *mirrored, comes_last=True)]


def dot_cotangent(
    ct: Any, aval: ShapedArray, other: Any, contract: Any, batch: Any, comes_last: bool
) -> Any:
    """The cotangent of the operand of type `aval`, whose kept axes come first or last in `ct`."""
    other_kept = other_axes(get_aval(other), contract[1], batch[1])
    kept = other_axes(aval, contract[0], batch[0])
    first = len(batch[0]) + (0 if comes_last else len(kept))
    ct_axes = tuple(range(first, first + len(other_kept)))
    numbers = (ct_axes, tuple(other_kept)), (tuple(range(len(batch[0]))), tuple(batch[1]))
    out = dot_general_p.bind(
        ct, other, dimension_numbers=numbers, preferred_element_type=get_aval(ct).dtype
    )
    out = convert_element_type(out, aval.dtype)
    # The axes of `out`: batch, those kept, and the contracted ones in the order of `other`.
    contracted = [contract[0][contract[1].index(i)] for i in sorted(contract[1])]
    order = [*batch[0], *kept, *contracted]
    return transpose(out, [order.index(i) for i in range(len(order))])


def other_axes(aval: ShapedArray, contract: Sequence[int], batch: Sequence[int]) -> list[int]:
    """The axes that a product keeps of an operand."""
    return [i for i in range(len(aval.shape)) if i not in (*contract, *batch)]


def reduce_sum_transpose(ct: Any, x: Any, *, axes: tuple[int, ...]) -> list[Any]:
    kept = [i for i in range(len(x.aval.shape)) if i not in axes]
    return [broadcast_in_dim(ct, x.aval.shape, kept)]


def broadcast_in_dim_transpose(
    ct: Any, x: Any, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]
) -> list[Any]:
    new = tuple(i for i in range(len(shape)) if i not in broadcast_dimensions)
    return [unbroadcast(reduce_sum_p.bind(ct, axes=new) if new else ct, x)]


def convert_element_type_transpose(
    ct: Any, x: Any, *, new_dtype: Any, weak_type: bool
) -> list[Any]:
    return [convert_element_type_p.bind(ct, new_dtype=x.aval.dtype, weak_type=x.aval.weak_type)]


def jit_transpose(cts: Sequence[Any], *args: Any, name: str, jaxpr: ClosedJaxpr) -> list[Any]:
    return call_transpose(functools.partial(call, name=name), cts, args, jaxpr)


def call_transpose(
    rebind: Rebind, cts: Sequence[Any], args: Sequence[Any], jaxpr: ClosedJaxpr
) -> list[Any]:
    """Call the program that runs backwards: known operands and cotangents in, cotangents out."""
    linear = tuple(isinstance(x, UndefPrimal) for x in args)
    full_cts = [instantiate(ct, aval) for ct, aval in zip(cts, jaxpr.out_avals, strict=True)]
    known_args = [x for x in args if not isinstance(x, UndefPrimal)]
    outs = iter(rebind(transposed_jaxpr(jaxpr, linear), [*known_args, *full_cts]))
    return [next(outs) if lin else None for lin in linear]


def transposed_jaxpr(jaxpr: ClosedJaxpr, linear: tuple[bool, ...]) -> ClosedJaxpr:
    """From the operands that are not linear and all cotangents to those of the linear operands."""

    def backwards(*inputs: Any) -> list[Any]:
        rest = iter(inputs)
        operands = [
            UndefPrimal(aval) if lin else next(rest)
            for lin, aval in zip(linear, jaxpr.in_avals, strict=True)
        ]
        cts_in = backward_pass(jaxpr.jaxpr, jaxpr.consts, operands, list(rest))
        undefs = [x for x in operands if isinstance(x, UndefPrimal)]
        return [instantiate(ct, x.aval) for ct, x in zip(cts_in, undefs, strict=True)]

    known_avals = [aval for aval, lin in zip(jaxpr.in_avals, linear, strict=True) if not lin]
    avals = [*known_avals, *jaxpr.out_avals]
    return derived(jaxpr, ("transpose", linear), backwards, avals)


def instantiate(ct: Any, aval: ShapedArray) -> Any:
    """A cotangent as an array, also where it is zero."""
    return zeros_like_aval(aval) if ct is None else ct


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
transpose_rules[jit_p] = jit_transpose


# vjp, grad and their relatives ------------------------------------------------------------------


def transpose_program(program: ClosedJaxpr, cotangents: Sequence[Any]) -> list[Any]:
    """Cotangents of the inputs of a linear program."""
    undefs = [UndefPrimal(v.aval) for v in program.jaxpr.invars]
    cts = backward_pass(program.jaxpr, program.consts, undefs, cotangents)
    return [instantiate(ct, u.aval) for ct, u in zip(cts, undefs, strict=True)]


def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a linear function: from cotangents of its result to those of its inputs.

    Of `primals` only the types matter. Counterpart: `jax.linear_transpose`.

    >>> print(*linear_transpose(lambda x: x * 2.0 + x, 1.0)(5.0))
    15.0
    """
    in_tree = tree_flatten(primals)[1]
    program, out_tree = trace_tree(fun, primals)

    def f_transposed(cotangent: Any) -> tuple[Any, ...]:
        cts = flat_cotangents(cotangent, out_tree, program.out_avals)
        return tree_unflatten(in_tree, transpose_program(program, cts))

    return f_transposed


def flat_cotangents(cotangent: Any, tree: PyTreeDef, avals: Sequence[ShapedArray]) -> list[Any]:
    """The leaves of a cotangent, which must have the structure and the types of the result."""
    cts, ct_tree = tree_flatten(cotangent)
    if ct_tree != tree:
        raise ValueError(f"The cotangent must have the structure {tree}, not {ct_tree}.")
    check_types("function of cotangents", cts, avals)
    return cts


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of `fun`, and the function from cotangents of the result to those of the inputs.

    With `has_aux`, `fun` gives a pair, of which the second part is handed through as a third
    result. Counterpart: `jax.vjp`.

    >>> y, f_vjp = vjp(lambda x, y: x * y, 3.0, 4.0)
    >>> print(y, *f_vjp(10.0))
    12.0 40.0 30.0
    """
    lin = linearize_tree(fun, primals, has_aux)

    def f_vjp(cotangent: Any) -> Any:
        cts = flat_cotangents(cotangent, lin.out_tree, lin.out_avals)
        cts_in = transpose_program(lin.program, only_floats(cts, lin.out_avals))
        return tree_unflatten(lin.in_tree, with_float0(cts_in, lin.in_avals))

    return (lin.value, f_vjp, lin.aux) if has_aux else (lin.value, f_vjp)


def value_and_grad(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, allow_int: bool = False
) -> Callable[..., Any]:
    """As `grad`, but the function gives the pair (value, gradient). Counterpart: the JAX one.

    >>> print(*value_and_grad(lambda x: x * x)(3.0))
    9.0 6.0
    """

    def value_and_grad_f(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        check_enough_args(argnums, args)
        chosen = chosen_args(argnums, args)
        if not allow_int:
            check_floats("inputs of grad", chosen)
        f_of_chosen = function_of(fun, argnums, args, kwargs)
        value, f_vjp, *aux = vjp(f_of_chosen, *chosen, has_aux=has_aux)
        check_scalar(value)
        gradients = f_vjp(np.ones((), get_aval(value).dtype))
        gradient = gradients[0] if isinstance(argnums, int) else gradients
        return ((value, *aux) if has_aux else value), gradient

    return value_and_grad_f


def grad(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, allow_int: bool = False
) -> Callable[..., Any]:
    """The gradient of a function whose result is one float. Counterpart: `jax.grad`.

    `argnums` says with respect to which argument; with a tuple of them the result is a tuple.
    Those arguments may be containers of floats (`TypeError` for integers unless `allow_int`), and
    the gradient has their structure. With `has_aux`, `fun` gives (value, anything), and the
    function gives (gradient, anything).

    >>> print(grad(lambda x, y: x * x * y, argnums=0)(3.0, 5.0))
    30.0
    """

    def grad_f(*args: Any, **kwargs: Any) -> Any:
        value, gradient = value_and_grad(fun, argnums, has_aux, allow_int=allow_int)(
            *args, **kwargs
        )
        return (gradient, value[1]) if has_aux else gradient

    return grad_f


def jacrev(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, allow_int: bool = False
) -> Callable[..., Any]:
    """The Jacobian by reverse mode: the same as `jacfwd` gives, cheap where the result is small.

    One leaf of the result at a time, and all its entries at once: the backward pass under one
    `vmap` for each of its axes. Counterpart: `jax.jacrev`.

    >>> jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    def jac_f(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_args(argnums, args)
        if not allow_int:
            check_floats("inputs of jacrev", chosen)
        check_not_empty(chosen)
        lin = linearize_tree(function_of(fun, argnums, args, kwargs), chosen, has_aux)
        check_floats("outputs of jacrev", lin.value)
        rows = [jacobian_row(lin, i) for i in range(len(lin.out_avals))]
        jacobian = tree_unflatten(
            lin.out_tree, [row[0] if isinstance(argnums, int) else row for row in rows]
        )
        return (jacobian, lin.aux) if has_aux else jacobian

    return jac_f


def jacobian_row(lin: Linearized, i: int) -> tuple[Any, ...]:
    """How leaf `i` of the result moves with every input: its axes, then those of the input.

    What belongs to an integer input is a zero of its own type here, and not `float0`, as in JAX.
    """

    def pull_back(cotangent: Any) -> Any:
        cts = [cotangent if j == i else None for j in range(len(lin.out_avals))]
        cts_in = transpose_program(lin.program, cts)
        moving = iter(cts_in)
        row = [
            next(moving) if dtypes.is_float(aval.dtype) else np.zeros(aval.shape, aval.dtype)
            for aval in lin.in_avals
        ]
        return tree_unflatten(lin.in_tree, row)

    for _ in lin.out_avals[i].shape:
        pull_back = vmap(pull_back)
    return pull_back(basis(lin.out_avals[i]))


def hessian(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The second derivatives: forward mode over reverse mode. Counterpart: `jax.hessian`.

    >>> hessian(lambda x: (x * x * x).sum())(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    return jacfwd(jacrev(fun, argnums, has_aux), argnums, has_aux)


def check_scalar(value: Any) -> None:
    """A gradient belongs to one float."""
    leaves, tree = tree_flatten(value)
    if tree.node_class is not None:
        raise TypeError(f"Gradient only defined for scalar-output functions. Output was {value}.")
    aval = get_aval(leaves[0])
    if aval.shape:
        raise TypeError(
            f"Gradient only defined for scalar-output functions. Output had shape: {aval.shape}."
        )
    if not dtypes.is_float(aval.dtype):
        raise TypeError(f"grad requires real-valued outputs, but got {aval.dtype.name}.")
