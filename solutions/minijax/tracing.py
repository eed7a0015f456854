"""Tracing: from a Python function to a jaxpr, by an interpreter that records operations.

The function runs once, on boxes that hold a variable and its type instead of a value. Each
operation becomes an equation. Usually an interpreter sees only the operations on its own boxes, but
a program needs the others too, such as those that make masks and tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minijax.arguments import in_place_of, split_static, static_places, without_static
from minijax.core import (
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
from minijax.shape_dtype import structs_of, type_of
from minijax.tree import PyTreeDef, flatten_fun, tree_flatten, tree_unflatten

# The program that is being recorded -------------------------------------------------------------


class Constant(NamedTuple):
    """An array or a tracer that a program uses and that is not among its inputs."""

    var: Var  # what equations refer to
    value: Any  # what was met
    kept: Any  # what `build` returns among the constants


class JaxprBuilder:
    """The program so far: its equations in order, and the constants that it has met."""

    def __init__(self) -> None:
        self.eqns: list[JaxprEqn] = []
        self.consts: dict[int, Constant] = {}  # by the `id` of the value

    def constant(self, val: Value) -> Atom:
        """The atom for a value that is not an input: a literal for a plain number, else a variable.

        The variable is the same whenever this very object is met; any other object, even an equal
        array, gets a new one. `self.consts` has a `Constant` for each object with a variable. The
        program computes with the value that the object has now. Only numbers, arrays and tracers
        have an atom; anything else raises `TypeError`.

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
        """The program that was recorded, closed over its constants.

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
    """A literal for a Python number or boolean, a NumPy scalar, or a NumPy array without axes.

    It has the value's type, weak for a Python number, and does not change with the array. All else
    is None: tracers and minijax's own arrays never become literals, even without axes.

    >>> two = literal_of(2.0)
    >>> two.val, two.aval.weak_type, literal_of(np.array([2.0]))
    (2.0, True, None)
    """
    if isinstance(val, (bool, int, float, np.generic, np.ndarray)) and np.ndim(val) == 0:
        return Literal(np.array(val), raise_to_shaped(get_aval(val)))
    return None


# The interpreter --------------------------------------------------------------------------------


class JaxprTracer(Tracer):
    """A variable or literal of the program that is being recorded: no value, only a type."""

    def __init__(self, trace: Trace, atom: Atom) -> None:
        self._trace = trace
        self.atom = atom
        self.aval = atom.aval


# For primitives with a Python function among their parameters, which an equation cannot keep: the
# operands and parameters to record instead (see minijax/custom_calls.py).
staging_rules: Rules = {}


class JaxprTrace(Trace):
    """Records each primitive as an equation; its `global_data` is the builder."""

    @property
    def builder(self) -> JaxprBuilder:
        return self.main.global_data

    def new_arg(self, aval: ShapedArray) -> JaxprTracer:
        """A tracer for an input of the program, with a new variable: only its type is known.

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
        """Record an operation as the next equation, and return the list of its results as tracers.

        Nothing is computed. Later equations can tell the results apart. An operation that the types
        of its operands do not allow raises its error here, and nothing is recorded.

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
    """Can this operation be left out of the program? Then the atom of its result; else None.

    `primitive` repeats its operand `atom` along axes, or converts it, and the result has the type
    `aval`. If that changes nothing, the operand is the result; a converted literal is a literal
    again. Nothing is recorded, whichever interpreter is in charge.

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


def trace_with(
    builder: JaxprBuilder, f: Callable[..., list[Any]], avals: Sequence[ShapedArray]
) -> ClosedJaxpr:
    """The program of a flat function for inputs of these types, recorded into `builder`.

    `f` takes an input for each of `avals`, even if it does not use it, and only the type of an
    input is known. It returns a list of tracers, arrays and numbers, which is not changed; any
    other element raises `TypeError`, and a tracer whose interpreter has ended
    `UnexpectedTracerError`. `f` runs once, and every operation in it is recorded, even one without
    a tracer. It may trace other functions. After `f` has returned or raised, the interpreters are
    the same as before.

    >>> from minijax.core import mul_p
    >>> vector = ShapedArray((3,), np.dtype(float))
    >>> trace_with(JaxprBuilder(), lambda x: [x * 2.0, 7.0, mul_p.bind(3.0, 4.0)], [vector])
    { lambda ; a:f64[3]. let
        b:f64[3] = mul a 2.0:f64[]
        c:f64[] = mul 3.0:f64[] 4.0:f64[]
      in (b, 7.0:f64[], c) }
    """
    with new_main(JaxprTrace, builder) as main:
        previous, trace_state.dynamic_trace = trace_state.dynamic_trace, main
        try:
            trace = JaxprTrace(main)
            tracers = [trace.new_arg(aval) for aval in avals]
            outs = [full_raise(trace, out) for out in f(*tracers)]
        finally:
            trace_state.dynamic_trace = previous
    invars: list[Any] = [t.atom for t in tracers]
    return builder.build(invars, [out.atom for out in outs])


def trace_to_jaxpr(f: Callable[..., list[Any]], avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The program of a flat function for inputs of these types."""
    return trace_with(JaxprBuilder(), f, avals)


def trace_with_uses(
    f: Callable[..., list[Any]], avals: Sequence[ShapedArray]
) -> tuple[ClosedJaxpr, list[Any]]:
    """Like `trace_to_jaxpr`, together with the arrays and tracers that its constants are copies of.

    They tell which constants of two programs are the same.
    """
    builder = JaxprBuilder()
    closed = trace_with(builder, f, avals)
    return closed, [const.value for const in builder.consts.values()]


def trace_tree(f: Callable[..., Any], args: Values) -> tuple[ClosedJaxpr, PyTreeDef]:
    """The program of `f` for arguments like `args`, and the structure of its result."""
    leaves, in_tree = tree_flatten(args)
    flat_f, out_tree = flatten_fun(f, in_tree)
    return trace_to_jaxpr(flat_f, list(map(type_of, leaves))), out_tree()


def make_jaxpr(
    fun: Callable[..., Any], static_argnums: int | Sequence[int] = (), *, return_shape: bool = False
) -> Callable[..., Any]:
    """A function that returns the program of `fun`. Counterpart: `jax.make_jaxpr`.

    It takes the arguments of `fun`. Only their types matter, except for those that `static_argnums`
    names, whose values `fun` sees. With `return_shape`, it returns a pair: the program, and the
    shapes and dtypes of the results in their structure.

    >>> make_jaxpr(lambda x, n: x * n, static_argnums=1)(3.0, 2.0)
    { lambda ; a:f64[]. let b:f64[] = mul a 2.0:f64[] in (b,) }
    """
    numbers, names = static_places(fun, static_argnums, None)

    @in_place_of(fun, "make_jaxpr({})")
    def jaxpr_of(*args: Value, **kwargs: Any) -> Value:
        static, dynamic = split_static(numbers, names, args, kwargs)
        closed, out_tree = trace_tree(without_static(fun, static), dynamic)
        if return_shape:
            return closed, tree_unflatten(out_tree, structs_of(closed.out_avals))
        return closed

    jaxpr_of.__module__ = "jax"  # as JAX says of its own
    return jaxpr_of
