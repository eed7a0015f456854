"""Reverse mode: run a linear program backwards. `vjp` is `linearize`, then transposition.

A linear function between lists of numbers is a matrix, and the transpose of the matrix leads back:
from a *cotangent* of the results, which says how much each of them counts, to one of the inputs. No
matrix is formed. Each linear primitive has a rule that takes the cotangent of its result to those
of its linear operands, and the equations are visited from the last to the first. Where a value was
used twice, its cotangents are added.

This file reads from top to bottom: cotangents, the rules of the primitives, the backward pass over
a program, the rule of the call primitive, and the transformations `vjp`, `grad` and their like.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.arguments import (
    Argnums,
    check_enough_args,
    chosen_args,
    function_of,
    in_place_of,
)
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
from minijax.tracing import trace_tree, type_of
from minijax.tree import Partial, PyTreeDef, tree_flatten, tree_unflatten
from minijax.vmap import (
    basis,
    check_floats,
    check_not_empty,
    jacfwd,
    vmap,
)

# Cotangents, where None stands for zero ---------------------------------------------------------


def accumulate(ct_env: dict[Var, Any], atom: Atom, ct: Tangent) -> None:
    """Add `ct` to the cotangent that `atom` has in `ct_env` so far; gives None.

    `ct_env` holds the cotangents of variables; one that is not in it has none yet. A literal is a
    constant, and needs none: nothing happens. Nor does anything where `ct` is None, zero: a
    variable without a cotangent does not get an entry by that. `add_tangents` adds.

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
    """`ct` summed over the axes along which the linear operand `x` was stretched.

    `x` is an operand of an element-wise operation, and `ct` has the shape of its result. If `x` is
    no `UndefPrimal`, it is known, and the answer is None. Else the answer is an array of the shape
    `x.aval.shape`, for which there are three cases. The shapes are equal: `ct` itself, without any
    operation. `x` is 0-d: the sum over all axes. Or `x` has as many axes as `ct`, some of length 1
    where those of `ct` have another length: the sums over these, which stay as axes of length 1.

    `reduce_sum(ct, axes)` drops the axes (a tuple). `broadcast_in_dim(sums, shape, axes)` puts axes
    of length 1 back: axis `i` of `sums` becomes axis `axes[i]`. `ct` may be a tracer;
    `get_aval(ct).shape` is its shape.

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
    """A product is linear in either operand: the cotangent times the one that is known.

    Exactly one of `x` and `y` is an `UndefPrimal`. Gives a list of two: for the linear operand its
    cotangent, for the known one None. The known operand may be smaller than the product, or larger
    than the linear operand, so `unbroadcast(..., operand)` gives the cotangent its operand's shape.
    Multiply with `mul`: the operands may be tracers.

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
    """A product of the cotangent with the known operand, over the axes which that one kept."""
    contract, batch = dimension_numbers
    if isinstance(x, UndefPrimal):
        return [dot_cotangent(ct, x.aval, y, contract, batch, comes_last=False), None]
    mirrored = contract[::-1], batch[::-1]
    return [None, dot_cotangent(ct, y.aval, x, *mirrored, comes_last=True)]


def dot_cotangent(
    ct: Tangent, aval: ShapedArray, other: Any, contract: Any, batch: Any, comes_last: bool
) -> Value:
    """The cotangent of one operand of a `dot_general`: a product of `ct` and the `other` operand.

    `aval` is the type of the linear operand, `other` the known one. `contract` and `batch` are the
    two parts of `dimension_numbers`, each a pair of tuples: axes of the *linear* operand first,
    those of `other` second. `ct` has the axes of the result: the batch axes, in the order of
    `batch`; then those that the first operand of the `dot_general` keeps; then those that the
    second one keeps. The linear operand is the second one where `comes_last` is true, else the
    first. `other_axes(type, contracted axes, batch axes)` lists what is kept of an operand.

    In the new product, `dot_general(ct, other, dimension_numbers,
    preferred_element_type=get_aval(ct).dtype)`, the batch axes are batch axes again, and contracted
    are the axes that `other` keeps, both in `ct` and in `other` in ascending order. Then
    `as_operand(product, aval, contract, batch)` gives it the axes and the dtype of the operand.

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
    """The product that `dot_cotangent` made, with the axes of the operand in their own order.

    The product has the batch axes first, then those that the operand kept, then its contracted
    axes, in the order in which `other` has them.
    """
    kept = other_axes(aval, contract[0], batch[0])
    contracted = [contract[0][contract[1].index(i)] for i in sorted(contract[1])]
    order = [*batch[0], *kept, *contracted]
    return transpose(convert_element_type(out, aval.dtype), inverse_permutation(order))


def other_axes(aval: ShapedArray, contract: Sequence[int], batch: Sequence[int]) -> list[int]:
    """The axes that a product keeps of an operand."""
    return [i for i in range(len(aval.shape)) if i not in (*contract, *batch)]


def reduce_sum_transpose(ct: Tangent, x: Value, *, axes: tuple[int, ...]) -> list[Value]:
    """Each term of a sum counts as much as the sum: the cotangent is repeated."""
    kept = [i for i in range(len(x.aval.shape)) if i not in axes]
    return [broadcast_in_dim(ct, x.aval.shape, kept)]


def broadcast_in_dim_transpose(
    ct: Tangent, x: Value, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]
) -> list[Value]:
    """What was repeated counts as often as it was: new axes are summed, then those stretched."""
    new = tuple(i for i in range(len(shape)) if i not in broadcast_dimensions)
    return [unbroadcast(reduce_sum(ct, new) if new else ct, x)]


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
    """The equations that depend on a linear input, and the environment; runs all other equations.

    In the environment a variable has a value, or an `UndefPrimal` where it is linear.
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
    """Run a linear program backwards: from cotangents of its results to those of linear inputs.

    `consts` and `args` belong to `jaxpr.constvars` and `jaxpr.invars`; in `args` stands an
    `UndefPrimal` for each linear input, and a value for the others. `cotangents` has one for each
    of `jaxpr.outvars`, None for zero. Gives the list of the cotangents of the `UndefPrimal`s in
    `args`, in their order, each None if nothing was added to it.

    `linear_equations(jaxpr, consts, args)` gives the equations to run backwards, and the
    environment, in which `read(env, atom)` finds operands. `accumulate` collects cotangents: first
    those of the results, then those that the equations give, from the last equation to the first.
    The cotangents of an equation's `outvars` are complete when its turn comes. If all of them are
    None, its rule is not looked up. Else `get_rule(transpose_rules, eqn.primitive, "Transpose
    rule")` is called as `rule(ct, *operands, **eqn.params)`, and gives a list with a cotangent for
    each operand. `ct` is the cotangent of the result, and for a primitive with `multiple_results`
    the list of them, in which some may be None.

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
    full_cts = [instantiate(ct, aval) for ct, aval in zip(cts, jaxpr.out_avals, strict=True)]
    known_args = [x for x in args if not isinstance(x, UndefPrimal)]
    return filled(linear, rebind(transposed_jaxpr(jaxpr, linear), [*known_args, *full_cts]))


def transposed_jaxpr(jaxpr: ClosedJaxpr, linear: tuple[bool, ...]) -> ClosedJaxpr:
    """The program that runs `jaxpr` backwards; made once for each `linear`.

    `linear` says of each input of `jaxpr` whether it is a linear one. The new program takes first
    the inputs that are not linear, in their order, then a cotangent for each result. It gives a
    cotangent for each linear input, in their order, as an array also where it is zero: `None` is no
    value that a program could give, and `instantiate` makes zeros of it.

    To make it, write a Python function from such inputs to the list of these results, which calls
    `backward_pass`. Then `derived(jaxpr, ("transpose", linear), function, avals)` traces it on
    inputs of the types `avals`, and keeps the program beside `jaxpr` under that key: asked again,
    it gives the same one. `jaxpr.in_avals` and `jaxpr.out_avals` are the types of inputs and
    results, `jaxpr.jaxpr` and `jaxpr.consts` the program and its constants.

    >>> from minijax.tracing import make_jaxpr
    >>> closed = make_jaxpr(lambda a, x: a * x)(2.0, 3.0)
    >>> print(transposed_jaxpr(closed, (False, True)))
    { lambda ; a:f64[] b:f64[]. let c:f64[] = mul a b in (c,) }
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
    """The transpose of a linear function: from cotangents of its result to those of its inputs.

    Of `primals` only the types matter. Counterpart: `jax.linear_transpose`.

    >>> print(*linear_transpose(lambda x: x * 2.0 + x, 1.0)(5.0))
    15.0
    """
    leaves, in_tree = tree_flatten(primals)
    program, out_tree = trace_tree(fun, primals)
    avals = [type_of(x) for x in leaves]
    lin = Linearized(None, None, program, in_tree, avals, out_tree, program.out_avals)
    return Partial(transposed, lin)


def transposed(lin: Linearized, cotangent: Tangent) -> tuple[Value, ...]:
    """As `pull_back`, of a function that is linear itself, which may be one of integers."""
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
    """Cotangents of the inputs of a function, for a cotangent of its result: run it backwards.

    `lin` is what `linearize_tree` made of the function: its derivative as a linear `program` and,
    for inputs and results, the structures (`in_tree`, `out_tree`) and the lists of types
    (`in_avals`, `out_avals`). `cotangent` has the structure of the result; `flat_cotangents` takes
    its leaves, and raises `ValueError` if it does not fit. What comes back has the structure
    `in_tree`, that of the tuple of all arguments.

    The program knows floats only. So `only_floats(leaves, out_avals)` drops the cotangents of
    integer results, `transpose_program(program, cotangents)` runs backwards, and
    `with_float0(cts, in_avals)` puts in the cotangents of integer inputs.

    >>> print(*pull_back(linearize_tree(lambda x, y: x * y, (3.0, 4.0), has_aux=False), 10.0))
    40.0 30.0
    """
    cts = flat_cotangents(cotangent, lin.out_tree, lin.out_avals)
    cts_in = transpose_program(lin.program, only_floats(cts, lin.out_avals))
    return tree_unflatten(lin.in_tree, with_float0(cts_in, lin.in_avals))


def vjp(fun: Callable[..., Any], *primals: Value, has_aux: bool = False) -> tuple[Value, ...]:
    """The value of `fun`, and the function from cotangents of the result to those of the inputs.

    Returns `(value, f_vjp)`; with `has_aux`, `fun` returns a pair, the value is the first part of
    it, and the result is `(value, f_vjp, second part)`. `f_vjp` takes one cotangent, of the value's
    structure, and returns a tuple with a cotangent for each of `primals`. It may be called many
    times; `fun` runs once, when `vjp` is called. `f_vjp` is a container too, whose leaves are the
    residuals, so that a function under `jit` can return it. Counterpart: `jax.vjp`.

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
    """The value of `fun`, which must be one float, and its gradients by all of `args`.

    Gives `(value, gradients)`; with `has_aux`, `fun` gives (value, anything), and the result is
    `(value, gradients, anything)`. `gradients` is a tuple, with one for each argument: the
    cotangents that `vjp` gives for the cotangent 1, a NumPy array of shape () and of the dtype of
    the value (`get_aval(value).dtype`). Before that, `check_scalar(value)` raises a `TypeError` for
    a value that has no gradient.

    >>> value, gradients = value_and_gradients(lambda x, y: x * y, (3.0, 4.0))
    >>> print(value, *gradients)
    12.0 4.0 3.0
    """
    value, f_vjp, *aux = vjp(fun, *args, has_aux=has_aux)
    check_scalar(value)
    aval = get_aval(value)
    one = convert_element_type_p.bind(1.0, new_dtype=aval.dtype, weak_type=aval.weak_type)
    return (value, f_vjp(one), *aux)


def value_and_grad(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, allow_int: bool = False
) -> Callable[..., Any]:
    """As `grad`, but the function gives the pair (value, gradient). Counterpart: the JAX one.

    >>> print(*value_and_grad(lambda x: x * x)(3.0))
    9.0 6.0
    """

    @in_place_of(fun)
    def value_and_grad_f(*args: Value, **kwargs: Any) -> tuple[Any, Any]:
        check_enough_args(argnums, args)
        chosen = chosen_args(argnums, args)
        if not allow_int:
            check_floats("inputs of grad", chosen)
        f_of_chosen = function_of(fun, argnums, args, kwargs)
        value, gradients, *aux = value_and_gradients(f_of_chosen, chosen, has_aux)
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

    both = value_and_grad(fun, argnums, has_aux, allow_int=allow_int)

    @in_place_of(fun)
    def grad_f(*args: Value, **kwargs: Any) -> Value:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return grad_f


def jacrev(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, allow_int: bool = False
) -> Callable[..., Any]:
    """The Jacobian by reverse mode: the same as `jacfwd` gives, cheap where the result is small.

    One leaf of the result at a time, and all its entries at once: the backward pass under one
    `vmap` for each of its axes. Counterpart: `jax.jacrev`.

    >>> jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float64)
    """

    @in_place_of(fun)
    def jac_f(*args: Value, **kwargs: Any) -> Value:
        chosen = chosen_args(argnums, args)
        if not allow_int:
            check_floats("inputs of jacrev", chosen)
        check_not_empty(chosen)
        lin = linearize_tree(function_of(fun, argnums, args, kwargs), chosen, has_aux)
        check_floats("outputs of jacrev", lin.value)
        rows = [
            in_containers(lin, jacobian_of_output(lin, i), i) for i in range(len(lin.out_avals))
        ]
        jacobian = tree_unflatten(
            lin.out_tree, [row[0] if isinstance(argnums, int) else row for row in rows]
        )
        return (jacobian, lin.aux) if has_aux else jacobian

    return jac_f


def jacobian_of_output(lin: Linearized, i: int) -> list[Any]:
    """How leaf `i` of the result moves with each of the inputs: one Jacobian for each float input.

    `lin.program` is the derivative of a function, of whose result the leaves have the types
    `lin.out_avals`, all of them floats. `transpose_program(lin.program, cts)` takes a list with a
    cotangent for each leaf, None for zero, and gives a list with one for each float input.
    `basis(lin.out_avals[i])` has a cotangent of leaf `i` for each entry of the leaf, all in one
    array: the axes of the leaf stand there twice, and the first half says which entry. The other
    leaves have None. The backward pass runs once, under one `vmap` for each axis of the leaf. The
    axes of a Jacobian are those of the leaf, then those of the input.

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


def in_containers(lin: Linearized, jacobians: Sequence[Any], i: int) -> Any:
    """The Jacobians of leaf `i` of the result, in the structure of the arguments.

    What belongs to an integer input is a zero of its own type here, and not `float0`, as in JAX.
    """
    moving, shape = iter(jacobians), lin.out_avals[i].shape
    leaves = [
        next(moving) if dtypes.is_float(aval.dtype) else zeros(shape + aval.shape, aval)
        for aval in lin.in_avals
    ]
    return tree_unflatten(lin.in_tree, leaves)


def zeros(shape: tuple[int, ...], aval: ShapedArray) -> Any:
    """Zeros of the dtype of `aval` in another shape."""
    return broadcast_in_dim(0 if aval.weak_type else np.zeros((), aval.dtype), shape, ())


def hessian(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The second derivatives: forward mode over reverse mode. Counterpart: `jax.hessian`.

    >>> hessian(lambda x: (x * x * x).sum())(np.array([1.0, 2.0]))
    Array([[ 6.,  0.],
           [ 0., 12.]], dtype=float64)
    """
    return jacfwd(jacrev(fun, argnums, has_aux), argnums, has_aux)


def check_scalar(value: Value) -> None:
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
