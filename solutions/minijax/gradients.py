"""What users call: `grad`, `value_and_grad`, Jacobians and second derivatives.

All are made of two functions of `minijax/transpose.py`, `value_and_gradients` and
`jacobian_of_output`. Here are the choice of arguments, the checks and the containers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.arguments import (
    Argnums,
    check_enough_args,
    check_real,
    chosen_args,
    function_of,
    in_place_of,
)
from minijax.core import ShapedArray, Value
from minijax.lax.basic import broadcast_in_dim
from minijax.linearize import Linearized, linearize_tree
from minijax.transpose import jacobian_of_output, value_and_gradients
from minijax.tree import tree_unflatten
from minijax.vmap import check_floats, check_not_empty, jacfwd


def value_and_grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that returns the value and the gradient of `fun`, as a pair; `fun` runs once.

    With `has_aux`, the first part of the pair is itself the pair that `fun` returns. The arguments
    are those of `grad`. Counterpart: `jax.value_and_grad`.

    >>> print(*value_and_grad(lambda x: x * x)(3.0))
    9.0 6.0
    """

    check_real(holomorphic)

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
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that returns the gradient of `fun`, whose value must be a single float.

    The gradient says how much the value moves for each unit of an argument's entries, and has the
    structure of that argument. `argnums` says which argument: a number, or a tuple of them, for a
    tuple of gradients. These arguments are containers of floats; integers raise `TypeError`, unless
    `allow_int`. With `has_aux`, `fun` returns a pair of the value and anything else, and the
    function the pair of the gradient and that. Counterpart: `jax.grad`.

    >>> print(grad(lambda x, y: x * x * y, argnums=0)(3.0, 5.0))
    30.0
    """

    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @in_place_of(fun)
    def grad_f(*args: Value, **kwargs: Any) -> Value:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return grad_f


def jacrev(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `fun`: how each entry of the result moves.

    The axes of the result come first, then those of the input. It is the same as with
    `jacfwd(fun)`, and cheaper if the result has fewer entries than the input: there is one backward
    pass per leaf of the result. `argnums`, `has_aux` and `allow_int` are as in `grad`. Counterpart:
    `jax.jacrev`.

    >>> jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float64)
    """
    check_real(holomorphic)

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


def in_containers(lin: Linearized, jacobians: Sequence[Any], i: int) -> Any:
    """The Jacobians of leaf `i` of the result, in the structure of the arguments.

    An integer input has zeros of its own type here, as in JAX, and not `float0`.
    """
    moving, shape = iter(jacobians), lin.out_avals[i].shape
    leaves = [
        next(moving) if dtypes.is_float(aval.dtype) else zeros(shape + aval.shape, aval)
        for aval in lin.in_avals
    ]
    return tree_unflatten(lin.in_tree, leaves)


def zeros(shape: tuple[int, ...], aval: ShapedArray) -> Any:
    """Zeros of the dtype of `aval` in the shape `shape`."""
    return broadcast_in_dim(0 if aval.weak_type else np.zeros((), aval.dtype), shape, ())


def hessian(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that returns the second derivatives of `fun`, by forward mode over reverse mode.

    The axes are those of the result, then twice those of the input. `argnums` and `has_aux` are as
    in `grad`. Counterpart: `jax.hessian`.

    >>> hessian(lambda x: (x * x * x).sum())(np.array([1.0, 2.0]))
    Array([[ 6.,  0.],
           [ 0., 12.]], dtype=float64)
    """
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux)
