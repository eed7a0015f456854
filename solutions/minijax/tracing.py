"""Tracing: from a Python function to a jaxpr, by an interpreter that writes operations down.

The function runs once, on boxes that hold no value but a variable and its type. Each operation
becomes an equation. An interpreter sees only operations on its own boxes, and a program needs the
others too, such as the making of masks and tables: so while a function is traced, every
operation is handed to the tracing interpreter, the `dynamic_trace` (omnistaging).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from minijax import dtypes
from minijax.arguments import in_place_of, split_static, static_places, without_static
from minijax.array import Array
from minijax.core import (
    MainTrace,
    Primitive,
    Rules,
    ShapedArray,
    Trace,
    Tracer,
    Value,
    Values,
    broadcast_in_dim_p,
    convert_element_type_p,
    full_raise,
    get_aval,
    get_rule,
    impl_rules,
    new_main,
    trace_state,
)
from minijax.jaxpr import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    abstract_eval,
    raise_to_shaped,
)
from minijax.tree import PyTreeDef, flatten_fun, tree_flatten, tree_unflatten

# The program that is being written --------------------------------------------------------------


class Constant(NamedTuple):
    """An array or a tracer that a program uses and that is none of its inputs."""

    var: Var  # what stands for it in the program
    value: Any  # the object itself: while it is held, no other object has its `id`
    kept: Any  # what the program computes with


class JaxprBuilder:
    """The program so far: its equations in order, and the constants that it has met."""

    def __init__(self) -> None:
        self.eqns: list[JaxprEqn] = []
        self.consts: dict[int, Constant] = {}  # by the `id` of the value

    def constant(self, val: Value) -> Atom:
        """The atom that stands for a value which is none of the program's inputs.

        It is the literal that `literal_of(val)` gives, if it gives one. Else it is a variable of
        the type `raise_to_shaped(get_aval(val))`: always the same one for the same object (`is`),
        another one for any other object, even if the two are equal arrays. The first time, a
        `Constant` is noted in `self.consts`, under the key `id(val)`: the variable, `val` itself,
        and what the program keeps. That is `val`, or a copy of it if it is a NumPy array, because
        the user may write into the array later.

        >>> builder, x = JaxprBuilder(), np.array([1.0, 2.0])
        >>> first = builder.constant(x)
        >>> print(first.aval, builder.constant(x) is first, builder.constant(x.copy()) is first)
        float64[2] True False
        >>> builder.constant(3.0).val, len(builder.consts)
        (3.0, 2)
        """
        literal = literal_of(val)
        if literal is not None:
            return literal
        if id(val) not in self.consts:
            kept = np.array(val) if isinstance(val, np.ndarray) else val
            self.consts[id(val)] = Constant(Var(raise_to_shaped(get_aval(val))), val, kept)
        return self.consts[id(val)].var

    def build(self, invars: list[Var], outvars: list[Atom]) -> ClosedJaxpr:
        """The program that was written: a `Jaxpr`, closed over what it keeps of its constants.

        `invars` and `outvars` become the `Jaxpr`'s own, and its equations are `self.eqns`. Its
        `constvars` are the variables in `self.consts`, in the order in which they were met; the
        `consts` of the `ClosedJaxpr` are what was `kept` of them, in the same order.

        >>> builder, a = JaxprBuilder(), Var(ShapedArray((), np.dtype(float)))
        >>> k = builder.constant(np.array([5.0]))
        >>> closed = builder.build([a], [a, k])
        >>> closed, closed.consts
        ({ lambda a:f64[1]; b:f64[]. let  in (b, a) }, [array([5.])])
        """
        constants = self.consts.values()
        jaxpr = Jaxpr([const.var for const in constants], invars, outvars, self.eqns)
        return ClosedJaxpr(jaxpr, [const.kept for const in constants])


def literal_of(val: Value) -> Literal | None:
    """A literal with the value of `val` where this is a 0-d value, and None for all else.

    A 0-d value is a Python `bool`, `int` or `float`, a NumPy scalar such as `np.float32(2.0)`, or a
    NumPy array without axes. The literal's value is a new NumPy array without axes, which nobody
    else can write to; its `aval` is `raise_to_shaped(get_aval(val))`, so that a Python number stays
    weakly typed. An array with axes is no 0-d value, even if it has one entry only. Nor is an array
    of our own or a tracer, even if its shape is (): that is a constant.

    >>> two = literal_of(2.0)
    >>> two.val, two.aval.weak_type, literal_of(np.array([2.0]))
    (2.0, True, None)
    """
    if isinstance(val, (bool, int, float, np.generic, np.ndarray)) and np.ndim(val) == 0:
        return Literal(np.array(val), raise_to_shaped(get_aval(val)))
    return None


# The interpreter --------------------------------------------------------------------------------


class JaxprTracer(Tracer):
    """A variable or literal of the program that is being written: no value, only a type."""

    def __init__(self, trace: Trace, atom: Atom) -> None:
        self._trace = trace
        self.atom = atom
        self.aval = atom.aval


# For primitives with a Python function among their parameters, which an equation cannot keep: the
# operands and parameters to write down instead (see minijax/custom_rules.py).
staging_rules: Rules = {}


class JaxprTrace(Trace):
    """Writes each primitive down as an equation; its `global_data` is the builder."""

    @property
    def builder(self) -> JaxprBuilder:
        return self.main.global_data

    def new_arg(self, aval: ShapedArray) -> JaxprTracer:
        """A box for an input of the program: a `JaxprTracer` with a new variable.

        `aval` is the abstract value of an argument, maybe a `ConcreteArray`. The variable has the
        type that `raise_to_shaped` makes of it, which says nothing of the value: the program is for
        all arguments of the type. Each call makes a variable of its own.

        >>> with new_main(JaxprTrace, JaxprBuilder()) as main:
        ...     box = JaxprTrace(main).new_arg(get_aval(3.0))
        >>> type(box.atom).__name__, box.aval
        ('Var', ShapedArray(float64[], weak_type=True))
        """
        return JaxprTracer(self, Var(raise_to_shaped(aval)))

    def pure(self, val: Value) -> JaxprTracer:
        return JaxprTracer(self, self.builder.constant(val))

    lift = pure

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[JaxprTracer], params: dict[str, Any]
    ) -> Any:
        if primitive in staging_rules:
            tracers, params = staging_rules[primitive](self, tracers, params)
        if primitive in may_need_no_equation:
            (aval,) = abstract_eval(primitive, [tracers[0].aval], params)
            atom = without_equation(primitive, tracers[0].atom, aval, params)
            if atom is not None:
                return JaxprTracer(self, atom)
        outs = self.record(primitive, tracers, params)
        return outs if primitive.multiple_results else outs[0]

    def record(
        self, primitive: Primitive, tracers: Sequence[JaxprTracer], params: dict[str, Any]
    ) -> list[JaxprTracer]:
        """Write an operation down as the next equation, and give its results in boxes.

        Nothing is computed. The operands of the equation are the `atom`s of `tracers`, in order. It
        has one result for each type that `abstract_eval(primitive, avals, params)` gives, where
        `avals` are the types of the operands: a new variable of this type. The equation,
        `JaxprEqn(operands, results, primitive, params)`, becomes the last one of
        `self.builder.eqns`; where `abstract_eval` raises an error, nothing is written. What is
        returned is a list, also of a single result: a `JaxprTracer` of this trace for each of the
        variables.

        >>> from minijax.core import lt_p
        >>> with new_main(JaxprTrace, JaxprBuilder()) as main:
        ...     trace = JaxprTrace(main)
        ...     x, y = (trace.new_arg(ShapedArray((3,), np.dtype(float))) for _ in range(2))
        ...     outs = trace.record(lt_p, [x, y], {})
        >>> outs
        [JaxprTracer<bool[3]>]
        >>> trace.builder.eqns
        [a:bool[3] = lt b c]
        """
        avals = abstract_eval(primitive, [t.aval for t in tracers], params)
        outvars = [Var(aval) for aval in avals]
        eqn = JaxprEqn([t.atom for t in tracers], outvars, primitive, params)
        self.builder.eqns.append(eqn)
        return [JaxprTracer(self, var) for var in outvars]


may_need_no_equation = {broadcast_in_dim_p, convert_element_type_p}


def without_equation(
    primitive: Primitive, atom: Atom, aval: ShapedArray, params: dict[str, Any]
) -> Atom | None:
    """The result of an operation that changes nothing, or converts a literal; None for others.

    `primitive`, with `params`, is applied to one operand, `atom`; `aval` is the type of the result.
    The primitive is one of `may_need_no_equation`: it repeats its operand along axes, or converts
    it. If the result has the type of the operand (shape, dtype and weak type: compare with `==`),
    it is the operand: `atom` itself. If a literal is converted to another type, the result is a new
    literal: its value is what the evaluation rule gives for `atom.val` and `params`, and its type
    is `aval`. `get_rule(impl_rules, primitive, "Evaluation rule")` finds the rule. All other cases
    give None, and an equation is written.

    >>> two, f32 = literal_of(2), ShapedArray((), np.dtype("float32"))
    >>> params = {"new_dtype": np.dtype("float32"), "weak_type": False}
    >>> without_equation(convert_element_type_p, two, f32, params).val
    array(2., dtype=float32)
    """
    if aval == atom.aval:
        return atom
    if primitive is convert_element_type_p and isinstance(atom, Literal):
        return Literal(get_rule(impl_rules, primitive, "Evaluation rule")(atom.val, **params), aval)
    return None


# From a function to a program -------------------------------------------------------------------


@contextmanager
def new_dynamic(main: MainTrace) -> Iterator[None]:
    """Hand every operation to `main` for the time of a `with` block (omnistaging).

    In the block `trace_state.dynamic_trace` is `main`, so that `find_top_trace` finds it wherever
    no operand belongs to a higher level, also where no operand is a tracer at all. When the block
    ends, also when it ends by an exception, the attribute is what it was before the block: `None`,
    or the interpreter of a block outside.

    >>> from minijax.core import find_top_trace
    >>> with new_main(JaxprTrace, JaxprBuilder()) as main, new_dynamic(main):
    ...     print(type(find_top_trace([2.0, 3.0])).__name__)
    JaxprTrace
    >>> trace_state.dynamic_trace is None
    True
    """
    previous, trace_state.dynamic_trace = trace_state.dynamic_trace, main
    try:
        yield
    finally:
        trace_state.dynamic_trace = previous


def trace_with(
    builder: JaxprBuilder, f: Callable[..., list[Any]], avals: Sequence[ShapedArray]
) -> ClosedJaxpr:
    """The program of a flat function for inputs of these types, as `builder` has written it.

    `f` takes one argument for each of `avals` and gives a list. It is called once: with boxes that
    `new_arg` makes of `avals`, under a `JaxprTrace` that is the new top of the stack (`new_main`),
    has `builder` for its `global_data`, and takes all operations (`new_dynamic`). The inputs of the
    program are the variables of the boxes. Its outputs are the atoms of what `f` gives, each raised
    to a box first (`full_raise`), since it may be a plain value. `builder.build` puts the program
    together.

    >>> from minijax.core import mul_p
    >>> vector = ShapedArray((3,), np.dtype(float))
    >>> trace_with(JaxprBuilder(), lambda x: [x * 2.0, 7.0, mul_p.bind(3.0, 4.0)], [vector])
    { lambda ; a:f64[3]. let
        b:f64[3] = mul a 2.0:f64[]
        c:f64[] = mul 3.0:f64[] 4.0:f64[]
      in (b, 7.0:f64[], c) }
    """
    with new_main(JaxprTrace, builder) as main, new_dynamic(main):
        trace = JaxprTrace(main)
        tracers = [trace.new_arg(aval) for aval in avals]
        outs = [full_raise(trace, out) for out in f(*tracers)]
        invars: list[Any] = [t.atom for t in tracers]
        return builder.build(invars, [out.atom for out in outs])


def trace_to_jaxpr(f: Callable[..., list[Any]], avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The program of a flat function for inputs of these types."""
    return trace_with(JaxprBuilder(), f, avals)


def trace_with_uses(
    f: Callable[..., list[Any]], avals: Sequence[ShapedArray]
) -> tuple[ClosedJaxpr, list[Any]]:
    """As `trace_to_jaxpr`; and the arrays and tracers themselves of which its constants are copies.

    By these, a constant of one program is known again in another one.
    """
    builder = JaxprBuilder()
    closed = trace_with(builder, f, avals)
    return closed, [const.value for const in builder.consts.values()]


def trace_tree(f: Callable[..., Any], args: Values) -> tuple[ClosedJaxpr, PyTreeDef]:
    """The program of `f` for arguments like `args`, and the structure of its result."""
    leaves, in_tree = tree_flatten(args)
    flat_f, out_tree = flatten_fun(f, in_tree)
    return trace_to_jaxpr(flat_f, list(map(type_of, leaves))), out_tree()


def type_of(x: Any) -> ShapedArray:
    """The type of a value, or of an object that has nothing but a shape and a dtype."""
    if isinstance(x, Array | np.ndarray | np.generic) or not hasattr(x, "shape"):
        return get_aval(x)
    if not hasattr(x, "dtype"):
        raise TypeError(f"Argument {x!r} of type {type(x)} is not a valid JAX type")
    return ShapedArray(tuple(x.shape), dtypes.canonical(x.dtype), getattr(x, "weak_type", False))


def make_jaxpr(
    fun: Callable[..., Any], static_argnums: int | Sequence[int] = (), *, return_shape: bool = False
) -> Callable[..., Any]:
    """A function that gives the program of `fun` for its arguments. Counterpart: `jax.make_jaxpr`.

    Only the types of the arguments matter, except for those that `static_argnums` names: `fun` sees
    their values. With `return_shape`, the function gives a pair: the program, and the types of the
    results in the structure of the results.

    >>> make_jaxpr(lambda x, n: x * n, static_argnums=1)(3.0, 2.0)
    { lambda ; a:f64[]. let b:f64[] = mul a 2.0:f64[] in (b,) }
    """
    numbers, names = static_places(fun, static_argnums, None)

    @in_place_of(fun, "make_jaxpr({})")
    def jaxpr_of(*args: Value, **kwargs: Any) -> Value:
        static, dynamic = split_static(numbers, names, args, kwargs)
        closed, out_tree = trace_tree(without_static(fun, static), dynamic)
        return (closed, tree_unflatten(out_tree, closed.out_avals)) if return_shape else closed

    jaxpr_of.__module__ = "jax"  # as JAX says of its own
    return jaxpr_of
