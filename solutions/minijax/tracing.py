"""Tracing: from a Python function to a jaxpr, by an interpreter that writes operations down.

The function runs once, on boxes that hold no value but a variable and its type. Each operation
becomes an equation. An interpreter sees only operations on its own boxes, and a program needs the
others too, such as the making of random numbers or masks: so while a function is traced, every
operation is handed to the tracing interpreter, the `dynamic_trace` (omnistaging).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from minijax.arguments import split_static, static_places, without_static
from minijax.core import (
    MainTrace,
    Primitive,
    Rules,
    ShapedArray,
    Trace,
    Tracer,
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


class JaxprTracer(Tracer):
    """A variable of the program that is being written, of which only the type is known."""

    def __init__(self, trace: Trace, atom: Atom) -> None:
        self._trace = trace
        self.atom = atom
        self.aval = atom.aval


class JaxprBuilder:
    """The program so far: its equations, and the constants that it has met."""

    def __init__(self) -> None:
        self.eqns: list[JaxprEqn] = []
        self.consts: dict[int, tuple[Var, Any]] = {}  # by identity of the value

    def constant(self, val: Any) -> Atom:
        """A literal for a 0-d value; one variable for each array or tracer, however often met."""
        aval = raise_to_shaped(get_aval(val))
        if not aval.shape and isinstance(val, (int, float, np.ndarray, np.generic)):
            return Literal(np.asarray(val), aval)
        if id(val) not in self.consts:
            # A copy, so that the program does not change when the user writes to the array later.
            kept = np.array(val, aval.dtype) if isinstance(val, np.ndarray) else val
            self.consts[id(val)] = (Var(aval), (val, kept))
        return self.consts[id(val)][0]

    def build(self, invars: list[Var], outvars: list[Atom]) -> ClosedJaxpr:
        constvars = [var for var, _ in self.consts.values()]
        consts = [kept for _, (_, kept) in self.consts.values()]
        return ClosedJaxpr(Jaxpr(constvars, invars, outvars, self.eqns), consts)


# For primitives with a Python function among their parameters, which an equation cannot keep: the
# operands and parameters to write down instead (see minijax/custom_rules.py).
staging_rules: Rules = {}


class JaxprTrace(Trace):
    """Writes each primitive down as an equation; its `global_data` is the builder."""

    @property
    def builder(self) -> JaxprBuilder:
        return self.main.global_data

    def new_arg(self, aval: ShapedArray) -> JaxprTracer:
        return JaxprTracer(self, Var(raise_to_shaped(aval)))

    def pure(self, val: Any) -> JaxprTracer:
        return JaxprTracer(self, self.builder.constant(val))

    lift = pure

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[JaxprTracer], params: dict[str, Any]
    ) -> Any:
        if primitive in staging_rules:
            tracers, params = staging_rules[primitive](self, tracers, params)
        avals = abstract_eval(primitive, [t.aval for t in tracers], params)
        if primitive in may_need_no_equation:
            atom = without_equation(primitive, tracers[0].atom, avals[0], params)
            if atom is not None:
                return JaxprTracer(self, atom)
        outvars = [Var(aval) for aval in avals]
        eqn = JaxprEqn([t.atom for t in tracers], outvars, primitive, params)
        self.builder.eqns.append(eqn)
        if not primitive.multiple_results:
            return JaxprTracer(self, outvars[0])
        return [JaxprTracer(self, var) for var in outvars]


may_need_no_equation = {broadcast_in_dim_p, convert_element_type_p}


def without_equation(
    primitive: Primitive, atom: Atom, aval: ShapedArray, params: dict[str, Any]
) -> Atom | None:
    """The result of an operation that changes nothing, or converts a literal; None for others."""
    if aval == atom.aval:
        return atom
    if primitive is convert_element_type_p and isinstance(atom, Literal):
        return Literal(get_rule(impl_rules, primitive, "Evaluation rule")(atom.val, **params), aval)
    return None


@contextmanager
def new_dynamic(main: MainTrace) -> Iterator[None]:
    """Hand every operation to `main`, whether or not an operand is its tracer (omnistaging)."""
    previous, trace_state.dynamic_trace = trace_state.dynamic_trace, main
    try:
        yield
    finally:
        trace_state.dynamic_trace = previous


def trace_to_jaxpr(f: Callable[..., list[Any]], avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The program of a flat function for inputs of these types."""
    return trace_with_uses(f, avals)[0]


def trace_with_uses(
    f: Callable[..., list[Any]], avals: Sequence[ShapedArray]
) -> tuple[ClosedJaxpr, list[Any]]:
    """As `trace_to_jaxpr`; and the arrays and tracers themselves of which its constants are copies.

    By these, a constant of one program is known again in another one.
    """
    builder = JaxprBuilder()
    with new_main(JaxprTrace, builder) as main, new_dynamic(main):
        trace = JaxprTrace(main)
        tracers = [trace.new_arg(aval) for aval in avals]
        outs = [full_raise(trace, out) for out in f(*tracers)]
        invars = [t.atom for t in tracers if isinstance(t.atom, Var)]
        used = [val for _, (val, _) in builder.consts.values()]
        return builder.build(invars, [out.atom for out in outs]), used


def trace_tree(f: Callable[..., Any], args: Sequence[Any]) -> tuple[ClosedJaxpr, PyTreeDef]:
    """The program of `f` for arguments like `args`, and the structure of its result."""
    leaves, in_tree = tree_flatten(args)
    flat_f, out_tree = flatten_fun(f, in_tree)
    return trace_to_jaxpr(flat_f, [get_aval(x) for x in leaves]), out_tree()


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

    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        static, dynamic = split_static(numbers, names, args, kwargs)
        closed, out_tree = trace_tree(without_static(fun, static), dynamic)
        return (closed, tree_unflatten(out_tree, closed.out_avals)) if return_shape else closed

    return jaxpr_of
