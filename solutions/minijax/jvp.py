"""Forward-mode differentiation: `jvp`, by an interpreter that carries a tangent with each value.

The derivative of a function at a point is a linear map: it turns a small change of the input, a
*tangent*, into the change of the output. `jvp(f, (x,), (x_dot,))` computes the output and its
tangent, the Jacobian of `f` at `x` times the vector `x_dot`, without ever forming the Jacobian.

For that, every value travels in a box together with its tangent, and every primitive has a rule
that says what its output's tangent is. The chain rule needs no code: the boxes flow through the
program.

A tangent that is zero because the value does not depend on the inputs at all is written `None`, the
*symbolic zero*. It costs nothing, and it stays zero where 0 * inf would be NaN.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.arguments import disclosed, enclosing
from minijax.core import (
    Primitive,
    ShapedArray,
    Tangent,
    Trace,
    Tracer,
    Value,
    Values,
    add_p,
    broadcast_in_dim_p,
    convert_element_type_p,
    cos_p,
    div_p,
    dot_general_p,
    exp_p,
    full_lower,
    full_raise,
    get_aval,
    get_rule,
    gt_p,
    jvp_rules,
    log_p,
    lt_p,
    mul_p,
    neg_p,
    new_main,
    reduce_sum_p,
    sin_p,
    sub_p,
    transpose_p,
)
from minijax.lax.basic import add, broadcast_in_dim, cos, div, exp, log, mul, neg, sin, typed
from minijax.tree import flatten_fun, tree_flatten, tree_unflatten

# Tangents ---------------------------------------------------------------------------------------


def zeros_like_aval(aval: ShapedArray) -> Any:
    """A tangent of zeros for a value of type `aval`: its shape, and `float0` unless a float."""
    if not dtypes.is_float(aval.dtype):
        return np.zeros(aval.shape, dtypes.float0)
    zero = 0.0 if aval.weak_type else np.zeros((), aval.dtype)
    return broadcast_in_dim(zero, aval.shape, ())


def instantiate(tangent: Tangent, aval: ShapedArray) -> Value:
    """`tangent` as an array: the symbolic zero becomes zeros, for a value of type `aval`.

    >>> instantiate(None, get_aval(np.ones((2, 3)))).shape
    (2, 3)
    """
    return zeros_like_aval(aval) if tangent is None else tangent


def add_tangents(a: Value, b: Value) -> Value:
    """The sum of two tangents, either of which may be the symbolic zero `None`.

    Zero plus zero is the symbolic zero, and zero plus a tangent is that very tangent: nothing is
    computed.

    >>> print(add_tangents(None, None), add_tangents(None, 2.0), add_tangents(3.0, 2.0))
    None 2.0 5.0
    """
    if a is None or b is None:
        return b if a is None else a
    return add(a, b)


def apply_linear(f: Callable[[Any], Any], tangent: Tangent) -> Value:
    """`f(tangent)` for a linear function `f`, which takes the symbolic zero to itself."""
    return None if tangent is None else f(tangent)


def stretch_like(tangent: Tangent, primal: Value) -> Value:
    """`tangent` repeated to `primal`'s shape: 0-d operands and axes of size 1 stretch."""
    shape, want = typed(tangent).shape, typed(primal).shape
    if shape == want:
        return tangent
    return broadcast_in_dim(tangent, want, range(len(want) - len(shape), len(want)))


# The interpreter --------------------------------------------------------------------------------


class JVPTracer(Tracer):
    """A value, `primal`, and its `tangent`: the same shape, or `None` for zero."""

    def __init__(self, trace: Trace, primal: Value, tangent: Tangent) -> None:
        self._trace = trace
        self.primal = primal
        self.tangent = tangent
        self.aval = get_aval(primal)  # what is known about the primal is known about the tracer

    def full_lower(self) -> Any:
        return full_lower(self.primal) if self.tangent is None else self


class JVPTrace(Trace):
    """Applies each primitive to primals and tangents, by its rule in `jvp_rules`."""

    def pure(self, val: Value) -> JVPTracer:
        """A box for a constant, maybe a tracer of a lower level: it does not move."""
        return JVPTracer(self, val, None)

    lift = pure

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[JVPTracer], params: dict[str, Any]
    ) -> Any:
        """The result, in a box, of an operation on tracers of this trace.

        Value and tangent come from the primitive's rule in `jvp_rules`. A rule may rely on this: at
        least one operand moves. If a rule is needed and there is none, raises a
        `NotImplementedError` that names the primitive. With `multiple_results`, returns a list.

        >>> with new_main(JVPTrace) as main:
        ...     trace = JVPTrace(main)
        ...     out = trace.process_primitive(neg_p, [JVPTracer(trace, 3.0, 1.0)], {})
        ...     print(out.primal, out.tangent)
        -3.0 -1.0
        """
        primals = [t.primal for t in tracers]
        tangents = [t.tangent for t in tracers]
        if all(tangent is None for tangent in tangents):
            primal_out = primitive.bind(*primals, **params)
            tangent_out: Any = [None] * len(primal_out) if primitive.multiple_results else None
        else:
            rule = get_rule(jvp_rules, primitive, "Differentiation rule")
            primal_out, tangent_out = rule(primals, tangents, **params)
        if not primitive.multiple_results:
            return JVPTracer(self, primal_out, tangent_out)
        return [JVPTracer(self, x, t) for x, t in zip(primal_out, tangent_out, strict=True)]


# The rules: (primals, tangents) -> (primal out, tangent out) --------------------------------------
# Primals and tangents may be tracers of lower levels, so a rule computes with the functions of
# `lax`. Of several operands, those that are constant have the tangent None.


def neg_jvp(primals: Values, tangents: Sequence[Tangent]) -> tuple[Any, Any]:
    """-x is linear: the tangent goes through the same operation as the value.

    >>> print(*neg_jvp([2.0], [5.0]))
    -2.0 -5.0
    """
    (x,), (x_dot,) = primals, tangents
    return neg(x), neg(x_dot)


def sin_jvp(primals: Values, tangents: Sequence[Tangent]) -> tuple[Any, Any]:
    """sin moves by cos(x) for each unit by which x moves.

    >>> print(*sin_jvp([0.0], [5.0]))
    0.0 5.0
    """
    (x,), (x_dot,) = primals, tangents
    return sin(x), mul(x_dot, cos(x))


def cos_jvp(primals: Values, tangents: Sequence[Tangent]) -> tuple[Any, Any]:
    """cos moves by -sin(x) for each unit by which x moves.

    >>> print(*cos_jvp([0.0], [5.0]))
    1.0 -0.0
    """
    (x,), (x_dot,) = primals, tangents
    return cos(x), neg(mul(x_dot, sin(x)))


def exp_jvp(primals: Values, tangents: Sequence[Tangent]) -> tuple[Any, Any]:
    """exp is its own derivative, so the output is computed once and used twice.

    >>> print(*exp_jvp([0.0], [5.0]))
    1.0 5.0
    """
    (x,), (x_dot,) = primals, tangents
    y = exp(x)
    return y, mul(x_dot, y)


def log_jvp(primals: Values, tangents: Sequence[Tangent]) -> tuple[Any, Any]:
    """log moves by 1/x for each unit by which x moves.

    It divides with `div`: `/` between two Python numbers raises an error if x is 0.

    >>> print(*log_jvp([1.0], [5.0]))
    0.0 5.0
    """
    (x,), (x_dot,) = primals, tangents
    return log(x), div(x_dot, x)


def sum_jvp(primitive: Primitive, primals: Values, tangents: Sequence[Tangent]) -> tuple[Any, Any]:
    """The sum or difference of `x` and `y`, and how it moves when they move.

    `primitive` is `add_p` or `sub_p`. Nothing is computed for a tangent that is `None`; one or
    both are numbers, arrays or tracers. The tangent has the value's shape, even if only the smaller
    operand moves; zeros may have either sign.

    >>> print(*sum_jvp(add_p, [3.0, 2.0], [1.0, None]))
    5.0 1.0
    >>> print(*sum_jvp(sub_p, [np.ones(3), 2.0], [None, 5.0]))
    [-1. -1. -1.] [-5. -5. -5.]
    """
    (x, y), (x_dot, y_dot) = primals, tangents
    z = primitive.bind(x, y)
    if x_dot is None:
        return z, stretch_like(neg(y_dot) if primitive is sub_p else y_dot, z)
    return z, stretch_like(x_dot if y_dot is None else primitive.bind(x_dot, y_dot), z)


def bilinear_jvp(
    primitive: Primitive, primals: Values, tangents: Sequence[Tangent], **params: Any
) -> tuple[Any, Any]:
    """The value of a primitive of two operands, and how it moves when they move.

    With one operand fixed, the primitive is linear in the other, as `mul_p` and `dot_general_p`
    are. At least one tangent is not `None`, and nothing is computed for a tangent that is `None`.
    Operands and tangents are numbers, arrays or tracers. One operand may be a scalar and the other
    an array.

    >>> print(*bilinear_jvp(mul_p, [3.0, 4.0], [1.0, 10.0]))
    12.0 34.0
    >>> print(*bilinear_jvp(mul_p, [np.inf, 4.0], [1.0, None]))
    inf 4.0
    """
    (x, y), (x_dot, y_dot) = primals, tangents
    z = primitive.bind(x, y, **params)
    from_x = apply_linear(lambda t: primitive.bind(t, y, **params), x_dot)
    from_y = apply_linear(lambda t: primitive.bind(x, t, **params), y_dot)
    return z, add_tangents(from_x, from_y)


def div_jvp(primals: Values, tangents: Sequence[Tangent]) -> tuple[Any, Any]:
    """From x = z * y it follows that z moves by (x_dot - z * y_dot) / y.

    >>> print(*div_jvp([6.0, 2.0], [None, 1.0]))
    3.0 -1.5
    """
    (x, y), (x_dot, y_dot) = primals, tangents
    z = div(x, y)
    from_x = apply_linear(lambda t: div(t, y), x_dot)
    from_y = apply_linear(lambda t: mul(t, div(neg(z), y)), y_dot)
    return z, add_tangents(from_x, from_y)


def comparison_jvp(
    primitive: Primitive, primals: Values, tangents: Sequence[Tangent]
) -> tuple[Any, Any]:
    """A comparison returns booleans, which do not move: no tangent, whatever the operands' are.

    >>> print(*comparison_jvp(gt_p, [3.0, 2.0], [1.0, None]))
    True None
    """
    return primitive.bind(*primals), None


def linear_jvp(
    primitive: Primitive, primals: Values, tangents: Sequence[Tangent], **params: Any
) -> tuple[Any, Any]:
    """A primitive that is linear in its one operand: the tangent goes through it as the value does.

    >>> print(*linear_jvp(reduce_sum_p, [np.ones(3)], [np.arange(3.0)], axes=(0,)))
    3.0 3.0
    """
    (x,), (x_dot,) = primals, tangents
    return primitive.bind(x, **params), primitive.bind(x_dot, **params)


def convert_element_type_jvp(
    primals: Values, tangents: Sequence[Tangent], *, new_dtype: Any, weak_type: bool
) -> tuple[Any, Any]:
    """Converting between floats is linear; what becomes an integer no longer has a tangent."""
    (x,), (x_dot,) = primals, tangents
    y = convert_element_type_p.bind(x, new_dtype=new_dtype, weak_type=weak_type)
    if not dtypes.is_float(np.dtype(new_dtype)):
        return y, None
    return y, convert_element_type_p.bind(x_dot, new_dtype=new_dtype, weak_type=weak_type)


jvp_rules[neg_p] = neg_jvp
jvp_rules[sin_p] = sin_jvp
jvp_rules[cos_p] = cos_jvp
jvp_rules[exp_p] = exp_jvp
jvp_rules[log_p] = log_jvp
jvp_rules[div_p] = div_jvp
jvp_rules[convert_element_type_p] = convert_element_type_jvp
for _p in (add_p, sub_p):
    jvp_rules[_p] = functools.partial(sum_jvp, _p)
for _p in (mul_p, dot_general_p):
    jvp_rules[_p] = functools.partial(bilinear_jvp, _p)
for _p in (gt_p, lt_p):
    jvp_rules[_p] = functools.partial(comparison_jvp, _p)
for _p in (reduce_sum_p, transpose_p, broadcast_in_dim_p):
    jvp_rules[_p] = functools.partial(linear_jvp, _p)


# The transformation -----------------------------------------------------------------------------


def jvp_flat(
    f: Callable[..., list[Any]], primals: Values, tangents: Sequence[Tangent]
) -> tuple[list[Any], list[Any]]:
    """Differentiate a function from arrays to a list of arrays. Returns two lists.

    The first list has the results of `f`, which is called once. The second has their tangents:
    arrays or tracers, never `None`, and zeros for a result that does not move with the inputs. The
    tangent of an integer or a boolean has the dtype `float0`, as in `tangents`. The list that
    `f` returns stays as it is. If a result is a tracer whose interpreter has ended, raises
    `UnexpectedTracerError`.

    >>> primals_out, tangents_out = jvp_flat(lambda x, y: [x * y, 7.0], [3.0, 4.0], [1.0, 10.0])
    >>> print(*primals_out, *tangents_out)
    12.0 7.0 34.0 0.0
    """
    with new_main(JVPTrace) as main:
        trace = JVPTrace(main)
        tracers_in = [
            JVPTracer(trace, x, drop_float0(t)) for x, t in zip(primals, tangents, strict=True)
        ]
        tracers_out = [full_raise(trace, out) for out in f(*tracers_in)]
        primals_out = [t.primal for t in tracers_out]
        tangents_out = [instantiate(t.tangent, get_aval(t.primal)) for t in tracers_out]
    return primals_out, tangents_out


def drop_float0(tangent: Tangent) -> Value:
    """The symbolic zero for a tangent of dtype `float0`, which has no bits to compute with."""
    return None if getattr(tangent, "dtype", None) == dtypes.float0 else tangent


def check_tangent(primal: Value, tangent: Tangent) -> None:
    """`tangent` needs the shape of `primal`, and its dtype, or `float0` if that is not a float."""
    want, got = get_aval(primal), get_aval(tangent)
    dtype = dtypes.tangent_dtype(want.dtype)
    if got.dtype != dtype:
        names = ["float0" if d == dtypes.float0 else d for d in (want.dtype, dtype, got.dtype)]
        hint = " Only floats have derivatives: 3.0, not 3." if dtype == dtypes.float0 else ""
        raise TypeError(
            "primal and tangent arguments to jvp do not match: a primal of dtype "
            f"{names[0]} needs a tangent of dtype {names[1]}, not {names[2]}.{hint}"
        )
    if got.shape != want.shape:
        raise ValueError(
            f"jvp called with different primal and tangent shapes: {want.shape} and {got.shape}."
        )


def takes_aux(jvp_of_two: Callable[..., tuple[Any, Any]]) -> Callable[..., tuple[Any, ...]]:
    """Give `jvp` its last argument, `has_aux`: `fun` returns a pair of a result and extra data.

    The extra data comes as a third result, without a tangent.
    """

    def jvp(
        fun: Callable[..., Any], primals: Values, tangents: Sequence[Tangent], has_aux: bool = False
    ) -> tuple[Value, ...]:
        if not has_aux:
            return jvp_of_two(fun, primals, tangents)
        (out, aux), (out_dot, _) = jvp_of_two(enclosing(fun), primals, tangents)
        return out, out_dot, disclosed(aux)

    jvp.__doc__ = jvp_of_two.__doc__
    return jvp


@takes_aux
def jvp(fun: Callable[..., Any], primals: Values, tangents: Sequence[Tangent]) -> tuple[Any, Any]:
    """The value of `fun` at `primals` and its derivative along `tangents`: two results.

    `primals` and `tangents` are tuples or lists, maybe empty, with the same tree structure (else
    `TypeError`). A tangent has the shape of its primal (else `ValueError`), and its dtype, or
    `float0` for an integer or a boolean (else `TypeError`). Both results have the structure of what
    `fun` returns. Counterpart: `jax.jvp`.

    >>> from minijax import numpy as jnp
    >>> y, y_dot = jvp(lambda d: {"y": d["a"] * 2.0}, ({"a": 3.0},), ({"a": 1.0},))
    >>> print(y["y"], y_dot["y"])
    6.0 2.0
    """
    for arguments in (primals, tangents):
        if not isinstance(arguments, (tuple, list)):
            kind = type(arguments).__name__
            raise TypeError(f"primals and tangents of jvp must be tuples or lists, not {kind}.")
    primals_flat, in_tree = tree_flatten(primals)
    tangents_flat, tangents_tree = tree_flatten(tangents)
    if in_tree != tangents_tree:
        raise TypeError(
            "primals and tangents of jvp must have the same tree structure; primals have "
            f"{in_tree} and tangents {tangents_tree}."
        )
    for primal, tangent in zip(primals_flat, tangents_flat, strict=True):
        check_tangent(primal, tangent)
    flat_f, out_tree = flatten_fun(fun, in_tree)
    primals_out, tangents_out = jvp_flat(flat_f, primals_flat, tangents_flat)
    return tree_unflatten(out_tree(), primals_out), tree_unflatten(out_tree(), tangents_out)
