"""Jaxprs: programs as data, with a type for every variable.

The data structure is in `minijax.ir`, with the printer, which writes programs as JAX does. This
file reads from top to bottom: the evaluator, which runs a program, the rules that say what type a
result has, the type checker, and the cache of a program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

import numpy as np

from minijax import dtypes
from minijax.core import (
    Primitive,
    ShapedArray,
    Value,
    Values,
    abstract_eval_rules,
    add_p,
    broadcast_in_dim_p,
    convert_element_type_p,
    cos_p,
    div_p,
    dot_general_p,
    exp_p,
    get_rule,
    gt_p,
    log_p,
    lt_p,
    mul_p,
    neg_p,
    reduce_sum_p,
    sin_p,
    sub_p,
    transpose_p,
)
from minijax.ir import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    JaxprPrinter,
    Literal,
    Var,
    checks,
    inner_jaxprs,
    open_jaxpr,
    printed_params,  # noqa: F401 (other modules ask for it)
)
from minijax.lax.basic import broadcast_shapes
from minijax.layout import layout

# Evaluation -------------------------------------------------------------------------------------


def read(env: Mapping[Var, Any], atom: Atom) -> Any:
    """The value of an atom, given the values of the variables so far."""
    return atom.val if isinstance(atom, Literal) else env[atom]


def apply_equation(eqn: JaxprEqn, operands: Values) -> list[Value]:
    """The results of one equation, always as a list."""
    outs = eqn.primitive.bind(*operands, **eqn.params)
    return outs if eqn.primitive.multiple_results else [outs]


def eval_jaxpr(jaxpr: Jaxpr, consts: Values, *args: Value) -> list[Value]:
    """The list of the outputs of a program, run under whichever interpreters are active.

    `consts` are the values of `jaxpr.constvars` and `args` those of `jaxpr.invars`: one for each
    (else `ValueError`). Each equation is bound once, in order; there may be thousands. If a
    variable has no value, raises `KeyError`. A program may run again while one of its own equations
    is being computed.

    >>> a, b = (Var(ShapedArray((), np.dtype(float))) for _ in range(2))
    >>> ten = Literal(10.0, ShapedArray((), np.dtype(float)))
    >>> eval_jaxpr(Jaxpr([], [a], [b, a], [JaxprEqn([ten, a], [b], sub_p, {})]), [], 3.0)
    [Array(7., dtype=float64, weak_type=True), 3.0]
    """
    env = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    for eqn in jaxpr.eqns:
        outs = apply_equation(eqn, [read(env, atom) for atom in eqn.invars])
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(env, atom) for atom in jaxpr.outvars]


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The program as a Python function: it takes the inputs and returns the list of outputs."""
    return lambda *args: eval_jaxpr(closed.jaxpr, closed.consts, *args)


# Types of results -------------------------------------------------------------------------------


def raise_to_shaped(aval: ShapedArray) -> ShapedArray:
    """The type of an abstract value, without the value.

    A Python boolean is not weakly typed here: all other dtypes are of a later kind than its own, so
    there is none that it could give way to.
    """
    if type(aval) is ShapedArray:
        return aval
    return ShapedArray(aval.shape, aval.dtype, aval.weak_type and aval.dtype.kind != "b")


def abstract_eval(
    primitive: Primitive, avals: Sequence[ShapedArray], params: Mapping[str, Any]
) -> list[ShapedArray]:
    """The types of the results of one operation, always as a list."""
    out = get_rule(abstract_eval_rules, primitive, "Abstract evaluation")(*avals, **params)
    return list(out) if primitive.multiple_results else [out]


def binary_type(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    """The type of an elementwise operation on `x` and `y`, such as a sum.

    They have the same dtype (else `TypeError`). A 0-d operand fits any shape; otherwise both have
    the same number of axes, and a size of 1 fits any other (else `TypeError`). The result is a
    plain `ShapedArray`, weakly typed if both operands are.

    >>> row, column = (ShapedArray(shape, np.dtype("float32")) for shape in [(1, 3), (2, 1)])
    >>> print(binary_type(row, column))
    float32[2,3]
    """
    if x.dtype != y.dtype:
        raise TypeError(f"operands must have one dtype, not {x} and {y}")
    shape = broadcast_shapes("operation", x.shape, y.shape)
    return ShapedArray(shape, x.dtype, x.weak_type and y.weak_type)


def unary_type(x: ShapedArray) -> ShapedArray:
    return raise_to_shaped(x)


def float_type(x: ShapedArray) -> ShapedArray:
    if not dtypes.is_float(x.dtype):
        raise TypeError(f"the operand must be a float, not {x}")
    return unary_type(x)


def comparison_type(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    """The type of an elementwise comparison, such as `lt`: as for a sum, except for the dtype.

    >>> print(comparison_type(ShapedArray((3,), np.dtype(int)), ShapedArray((), np.dtype(int))))
    bool[3]
    """
    out = binary_type(x, y)
    return ShapedArray(out.shape, np.dtype(bool), out.weak_type)


def transpose_type(x: ShapedArray, *, permutation: tuple[int, ...]) -> ShapedArray:
    if sorted(permutation) != list(range(len(x.shape))):
        raise TypeError(f"{permutation} is not a permutation of the axes of {x}")
    return ShapedArray(tuple(x.shape[i] for i in permutation), x.dtype, x.weak_type)


def check_axes(x: ShapedArray, axes: tuple[int, ...]) -> None:
    """Raise `TypeError` unless `axes` are different axes of `x`, counted from 0."""
    if not set(axes) <= set(range(len(x.shape))) or len(set(axes)) < len(axes):
        raise TypeError(f"{x} does not have the axes {axes}, each once")


def dot_general_type(
    x: ShapedArray, y: ShapedArray, *, dimension_numbers: Any, preferred_element_type: Any
) -> ShapedArray:
    """The type of the product that `dot_general_p` computes from operands of these types.

    `dimension_numbers` is ((contracted axes of x, of y), (batch axes of x, of y)). The two lists of
    one operand together name no axis twice. The two contracted lists are equally long, and so are
    the two batch lists; axes at the same position have the same size. The dtypes are the same,
    unless there is a `preferred_element_type`. Anything else raises `TypeError`.

    The result is a plain `ShapedArray`, weakly typed if both operands are. Its dtype is
    `preferred_element_type`, a NumPy dtype, or the operands' if that is None.

    >>> x, y = (ShapedArray(shape, np.dtype("float32")) for shape in [(2, 3, 7), (7, 5, 2)])
    >>> numbers = (((2,), (0,)), ((0,), (2,)))
    >>> print(dot_general_type(x, y, dimension_numbers=numbers, preferred_element_type=None))
    float32[2,3,5]
    """
    (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
    check_axes(x, (*x_contract, *x_batch))
    check_axes(y, (*y_contract, *y_batch))
    if [x.shape[i] for i in x_contract] != [y.shape[i] for i in y_contract]:
        raise TypeError(f"the contracted axes of {x} and {y} differ in size")
    if [x.shape[i] for i in x_batch] != [y.shape[i] for i in y_batch]:
        raise TypeError(f"the batch axes of {x} and {y} differ in size")
    if x.dtype != y.dtype and preferred_element_type is None:
        raise TypeError(f"operands must have one dtype, not {x} and {y}")
    batch = [x.shape[i] for i in x_batch]
    rest = [n for i, n in enumerate(x.shape) if i not in (*x_contract, *x_batch)]
    rest += [n for i, n in enumerate(y.shape) if i not in (*y_contract, *y_batch)]
    weak = x.weak_type and y.weak_type
    return ShapedArray((*batch, *rest), preferred_element_type or x.dtype, weak)


def reduce_sum_type(x: ShapedArray, *, axes: tuple[int, ...]) -> ShapedArray:
    """The type of a sum along `axes`: different numbers in any order, or none.

    Each is an axis of `x`, counted from 0 (else `TypeError`). The other axes, the dtype and the
    weak type stay. The result is a plain `ShapedArray`.

    >>> print(reduce_sum_type(ShapedArray((2, 3, 5), np.dtype("int8")), axes=(2, 0)))
    int8[3]
    """
    check_axes(x, axes)
    shape = tuple(n for axis, n in enumerate(x.shape) if axis not in axes)
    return ShapedArray(shape, x.dtype, x.weak_type)


def broadcast_in_dim_type(
    x: ShapedArray, *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]
) -> ShapedArray:
    wanted = [shape[axis] for axis in broadcast_dimensions]
    if any(n not in (1, want) for n, want in zip(x.shape, wanted, strict=True)):
        raise TypeError(f"{x} cannot be repeated into {shape} along {broadcast_dimensions}")
    return ShapedArray(shape, x.dtype, x.weak_type)


def convert_element_type_type(x: ShapedArray, *, new_dtype: Any, weak_type: bool) -> ShapedArray:
    return ShapedArray(x.shape, np.dtype(new_dtype), weak_type)


for _p in (add_p, sub_p, mul_p, div_p):
    abstract_eval_rules[_p] = binary_type
for _p in (gt_p, lt_p):
    abstract_eval_rules[_p] = comparison_type
for _p in (sin_p, cos_p, exp_p, log_p):
    abstract_eval_rules[_p] = float_type
abstract_eval_rules[neg_p] = unary_type
abstract_eval_rules[transpose_p] = transpose_type
abstract_eval_rules[dot_general_p] = dot_general_type
abstract_eval_rules[reduce_sum_p] = reduce_sum_type
abstract_eval_rules[broadcast_in_dim_p] = broadcast_in_dim_type
abstract_eval_rules[convert_element_type_p] = convert_element_type_type


# Type checking ----------------------------------------------------------------------------------


class JaxprType(NamedTuple):
    """The type of a program: of its inputs, constants first, and of its outputs."""

    in_types: list[ShapedArray]
    out_types: list[ShapedArray]

    def __repr__(self) -> str:
        ins, outs = (", ".join(aval.str_short() for aval in types) for types in self)
        return f"({ins}) -> ({outs})"


def typecheck_jaxpr(jaxpr: Jaxpr) -> JaxprType:
    """The type of a program; if it is not well typed, `TypeError`, in one sentence.

    Every variable must be bound exactly once, and before it is used; literals must be what their
    type says; every equation must have as many results as the rule of its primitive says, with the
    same shapes and dtypes. The same holds for the programs in the parameters of an equation.

    >>> x, y = (Var(ShapedArray((3,), np.dtype(float))) for _ in range(2))
    >>> typecheck_jaxpr(Jaxpr([], [x], [y], [JaxprEqn([x], [y], sin_p, {})]))
    (float64[3]) -> (float64[3])
    >>> typecheck_jaxpr(Jaxpr([], [], [y], [JaxprEqn([x], [y], sin_p, {})]))
    Traceback (most recent call last):
    TypeError: In equation 1, `a:f64[3] = sin b`: b:f64[3] is used but not bound.
    """
    checker = TypeChecker(jaxpr)
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    checker.bind(inputs)
    for eqn in checker.equations():
        checker.check_equation(eqn)
    for atom in jaxpr.outvars:
        checker.check_atom(atom)
    return JaxprType([v.aval for v in inputs], [atom.aval for atom in jaxpr.outvars])


class TypeChecker:
    """Walks through one program, and knows where it is and which variables have a value."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.jaxpr = jaxpr
        self.bound: set[Var] = set()
        self.eqn: JaxprEqn | None = None  # the one that is being checked
        self.number = 0

    def equations(self) -> Iterator[JaxprEqn]:
        """The equations in order; an error about one of them says which it is."""
        for eqn in self.jaxpr.eqns:
            self.eqn, self.number = eqn, self.number + 1
            yield eqn
        self.eqn = None

    def check_atom(self, atom: Atom) -> None:
        """Return None if an atom may be used here, else raise a `TypeError` that says where.

        >>> a = Var(ShapedArray((3,), np.dtype(float)))
        >>> TypeChecker(Jaxpr([], [], [a], [])).check_atom(a)
        Traceback (most recent call last):
        TypeError: a:f64[3] is used but not bound.
        """
        if isinstance(atom, Var):
            if atom not in self.bound:
                self.fail("{} is used but not bound", atom)
            return
        value = np.asarray(atom.val)
        if value.shape or atom.aval.shape or value.dtype != atom.aval.dtype:
            self.fail("the literal {} is {}", atom, str(ShapedArray(value.shape, value.dtype)))

    def bind(self, variables: Sequence[Var]) -> None:
        """Add `variables` to `self.bound`, or raise a `TypeError`: none gets a value twice.

        >>> a = Var(ShapedArray((3,), np.dtype(float)))
        >>> TypeChecker(Jaxpr([], [a, a], [a], [])).bind([a, a])
        Traceback (most recent call last):
        TypeError: a:f64[3] is bound twice.
        """
        for var in variables:
            if var in self.bound:
                self.fail("{} is bound twice", var)
            self.bound.add(var)

    def check_equation(self, eqn: JaxprEqn) -> None:
        """Bind the results of an equation if it is right, else raise a `TypeError` that says where.

        It is right if the rule of its primitive returns the types of its results (whether they are
        weak does not matter), and everything that it uses is right, too: its operands, and the
        programs in its parameters.

        >>> a, b = (Var(ShapedArray(shape, np.dtype(float))) for shape in [(3,), ()])
        >>> typecheck_jaxpr(Jaxpr([], [a], [b], [JaxprEqn([a], [b], sin_p, {})]))
        Traceback (most recent call last):
        TypeError: In equation 1, `b:f64[] = sin a`: the result is float64[3] and not float64[].
        """
        for atom in eqn.invars:
            self.check_atom(atom)
        self.check_inner(eqn)
        avals = self.result_types(eqn)
        if len(avals) != len(eqn.outvars):
            self.fail("{} results where {} are bound", len(avals), len(eqn.outvars))
        for var, aval in zip(eqn.outvars, avals, strict=True):
            if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):
                self.fail("the result is {} and not {}", str(aval), str(var.aval))
        self.bind(eqn.outvars)

    def check_inner(self, eqn: JaxprEqn) -> None:
        """The programs among the parameters, each by itself."""
        for inner in inner_jaxprs(eqn.params):
            try:
                typecheck_jaxpr(inner)
            except TypeError as error:
                self.fail("{}", str(error).removesuffix("."))

    def result_types(self, eqn: JaxprEqn) -> list[ShapedArray]:
        """The types by the rule of the primitive; `TypeError` if it rejects the operands."""
        try:
            return abstract_eval(eqn.primitive, [x.aval for x in eqn.invars], eqn.params)
        except (TypeError, ValueError, IndexError) as error:
            self.fail("{}", str(error).removesuffix("."))

    def fail(self, complaint: str, *about: Any) -> NoReturn:
        """Raise a `TypeError` with place and complaint; variables have the names that are printed.

        Each `{}` in `complaint` becomes the next item of `about`, an atom or a string.
        """
        printer = JaxprPrinter(self.jaxpr)
        printer.program(self.jaxpr)  # names every variable
        words = [printer.typed(x) if isinstance(x, Var | Literal) else x for x in about]
        line = layout(printer.equation(self.eqn)) if self.eqn else ""
        place = f"In equation {self.number}, `{' '.join(line.split())}`: " if line else ""
        raise TypeError(f"{place}{complaint.format(*words)}.")


checks.check = typecheck_jaxpr


# What is kept on a program ----------------------------------------------------------------------

Made = TypeVar("Made")
Make = TypeVar("Make", bound=Callable[..., Any])


def kept(jaxpr: Jaxpr | ClosedJaxpr, key: Hashable, make: Callable[[], Made]) -> Made:
    """The object that is cached on a program under `key`; `make()` makes it if there is none yet.

    It is the same object every time, so what is made from it, such as compiled code, is made only
    once. It goes when the program goes.

    >>> program = Jaxpr([], [], [], [])
    >>> kept(program, "numbers", lambda: [1, 2]) is kept(program, "numbers", lambda: [1, 2])
    True
    """
    cache = open_jaxpr(jaxpr).cache
    if key not in cache:
        cache[key] = make()
    return cache[key]


def kept_beside(make: Make) -> Make:
    """`make`, memoized: each result is cached on the program that is its first argument.

    The other arguments are the key, and must be hashable.
    """

    @functools.wraps(make)
    def find_or_make(jaxpr: Jaxpr | ClosedJaxpr, *args: Value, **params: Any) -> Value:
        key = (make, *args, *params.items())
        return kept(jaxpr, key, lambda: make(jaxpr, *args, **params))

    return cast(Make, find_or_make)
