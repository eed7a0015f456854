"""Compilation: `jit`, a primitive whose parameter is a program.

`jit(f)(x)` traces `f` and binds `jit_p` with the program, so that every interpreter meets the call
as a whole. Evaluation writes the program in StableHLO, has XLA compile it, and runs it on a device;
the other rules transform the program and call the new one. Whatever was traced or compiled is kept.

This file reads from top to bottom: staging out, evaluation, the rules of the call primitive, and
the lowering of a program to StableHLO. What it shares with other primitives that call programs is
in `minijax/call_primitives.py`, and the lowerings of most primitives are in `minijax/lowering.py`;
what is on a device, and how it gets there, is in `minijax/placement.py`.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from minijax import xla
from minijax.arguments import (
    check_callable,
    donated_leaves,
    split_static,
    static_places,
    without_static,
)
from minijax.array import Array
from minijax.axis_env import axis_env, axis_sizes, name_of
from minijax.call_primitives import CallPrimitive, Rebind, derived, jit_type, without_consts
from minijax.core import (
    NotMapped,
    ShapedArray,
    Tangent,
    Tracer,
    Value,
    Values,
    abstract_eval_rules,
    get_aval,
    get_rule,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    trace_state,
    vmap_rules,
)
from minijax.dtypes import is_float
from minijax.jaxpr import Atom, ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun, kept, raise_to_shaped
from minijax.jvp import jvp_flat
from minijax.lowering import Emitter, Lowered, donations, emit_literal, tensor_type
from minijax.marks import chosen, filled, groups, moving
from minijax.placement import (
    ARRAYS,
    CONCRETE,
    array_of,
    buffer_of,
    committed_devices,
    kind_noted,
    kind_of,
    kind_of_value,
    placed_on,
    sender,
    the_one_place,
    to_buffer,
)
from minijax.tracing import trace_to_jaxpr, trace_tree
from minijax.tree import PyTreeDef, tree_map, tree_unflatten
from minijax.vmap import vmap_flat


def stand_in(x: Any) -> Any:
    """An array for anything else that has a shape and a dtype; its values take no space."""
    is_array = isinstance(x, Array | np.ndarray | np.generic)
    if is_array or not (hasattr(x, "shape") and hasattr(x, "dtype")):
        return x
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


jit_p = CallPrimitive("jit", multiple_results=True)


NO_FUNCTION = object()


def jit(
    fun: Any = NO_FUNCTION,
    /,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
) -> Any:
    """`fun`, traced once for each type of its arguments and compiled by XLA.

    The arguments named by `static_argnums` or `static_argnames` are not traced: Python sees their
    values, and each value (which must be hashable) has a program of its own. Those named by
    `donate_argnums` or `donate_argnames` are donated: results may take their memory, and the arrays
    cannot be used any more. (Nothing is donated while a transformation is active.) Without `fun`,
    returns a decorator. Counterpart: `jax.jit`.

    >>> jit(lambda x: x * 2.0)(3.0)
    Array(6., dtype=float64, weak_type=True)
    """
    options: dict[str, Any] = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
    }
    if fun is NO_FUNCTION:
        return functools.partial(jit, **options)
    check_callable(fun)
    static = static_places(fun, static_argnums, static_argnames)
    donated = static_places(fun, donate_argnums, donate_argnames, "donate_argnums")
    if any(set(a) & set(b) for a, b in zip(static, donated, strict=True)):
        raise ValueError(f"static arguments {static} and donated ones {donated} cannot intersect.")
    return Jitted(fun, static, donated)


class Program(NamedTuple):
    """A traced function, the structure of its result, and which of its inputs are donated."""

    closed: ClosedJaxpr
    out_tree: PyTreeDef
    donated: tuple[bool, ...]


Places = tuple[tuple[int, ...], tuple[str, ...]]  # arguments by position, and by name
programs_of: WeakKeyDictionary[Callable[..., Any], dict[Places, dict[Any, Program]]]
programs_of = WeakKeyDictionary()


class Jitted:
    """A function that stages itself out.

    Its programs are cached on `fun` itself, by the types they were made for: two objects `jit(f)`
    share them, and they go when `f` goes.
    """

    def __init__(self, fun: Callable[..., Any], static: Places, donated: Places) -> None:
        functools.update_wrapper(self, fun)
        self.fun, self.name = fun, getattr(fun, "__name__", "f")
        self.static, self.donated = static, donated
        self.has_static = any(static)
        self.launchers: dict[Any, Callable[[Sequence[Any]], Any]] = {}
        try:
            self.programs = programs_of.setdefault(fun, {}).setdefault(donated, {})
        except TypeError:  # `fun` cannot be the key of a dict
            self.programs = {}

    def __call__(self, *args: Value, **kwargs: Any) -> Value:
        """Bind the call primitive; or launch the program at once, if no interpreter is interested.

        Every call takes this way, so it is short. Arguments without containers do not have to be
        taken apart, and what a program is compiled for is compared by identity (see `Kind`).
        """
        leaves: Values = args
        structure, classes = None, {*map(type, args)}
        if kwargs or self.has_static or not classes <= CONCRETE:
            leaves, structure = self.flatten(args, kwargs)
            classes = {*map(type, leaves)}
        if trace_state.dynamic_trace or axis_env.frames or not classes <= CONCRETE:
            return self.bind(args, kwargs)
        kinds = map(kind_noted if classes <= ARRAYS else kind_of_value, leaves)
        launch = self.launchers.get((structure, xla.current_device(), *kinds))
        return (launch or self.launcher_for(leaves, structure, args, kwargs))(leaves)

    def launcher_for(
        self, leaves: Values, structure: Any, args: tuple[Value, ...], kwargs: dict[str, Any]
    ) -> Callable[[Sequence[Any]], Any]:
        """The launcher of arguments for which none was found by the kinds that they had noted."""
        key = (structure, xla.current_device(), *map(kind_of_value, leaves))
        if key not in self.launchers:
            self.launchers[key] = self.launcher(args, kwargs)
        return self.launchers[key]

    def __repr__(self) -> str:
        """The way JAX writes it; a function that cannot be written is left out."""
        try:
            return f"<PjitFunction of {self.fun!r}>"
        except Exception:
            return "<PjitFunction>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a method of a class, called with the instance first."""
        return self if instance is None else types.MethodType(self, instance)

    def lower(self, *args: Value, **kwargs: Any) -> Lowered:
        """The StableHLO module for arguments like these, or of these shapes and dtypes."""
        args, kwargs = tree_map(stand_in, (args, kwargs))
        program = self.program(args, kwargs)
        return Lowered(lower(program.closed, program.donated)[0])

    def bind(self, args: tuple[Value, ...], kwargs: dict[str, Any]) -> Value:
        """The result for these arguments, by one operation: a call of the program kept for them.

        >>> jit(lambda p: {"double": p["x"] * 2.0}).bind(({"x": 3.0},), {})
        {'double': Array(6., dtype=float64, weak_type=True)}
        """
        program, (leaves, _) = self.program(args, kwargs), self.flatten(args, kwargs)
        return tree_unflatten(program.out_tree, call(program.closed, leaves, self.name))

    def flatten(self, args: Value, kwargs: Any) -> tuple[list[Any], Any]:
        """The leaves of the arguments that are not static, and everything else.

        The Python types of the static ones are part of that, because 1 == True.
        """
        if not self.has_static:
            return xla.flatten((args, kwargs))
        static, dynamic = split_static(*self.static, args, kwargs)
        leaves, in_tree = xla.flatten(dynamic)
        return leaves, (in_tree, static, *(type(value) for _, value in static))

    def program(self, args: tuple[Value, ...], kwargs: dict[str, Any]) -> Program:
        """The program for these arguments, traced unless one that fits is in `self.programs`.

        It fits a call if the function, run again, would find the same in its arguments and around
        it. The values of leaves do not matter, nor which of them are tracers. Neither `args` nor
        `kwargs` is changed.

        >>> f = jit(lambda x: x * 2.0)
        >>> f.program((3.0,), {}) is f.program((4.0,), {})
        True
        >>> f.program((3.0,), {}) is f.program((4,), {})
        False
        """
        leaves, structure = self.flatten(args, kwargs)
        avals = tuple(raise_to_shaped(get_aval(x)) for x in leaves)
        key = (structure, avals, axis_sizes())
        if key not in self.programs:
            self.programs[key] = self.traced(args, kwargs)
        return self.programs[key]

    def traced(self, args: tuple[Value, ...], kwargs: dict[str, Any]) -> Program:
        """A new program: `fun` runs, with tracers for all arguments that are not static."""
        static, dynamic = split_static(*self.static, args, kwargs)
        closed, out_tree = trace_tree(without_static(self.fun, static), dynamic)
        return Program(closed, out_tree, donated_leaves(*self.donated, static, args, kwargs))

    def launcher(self, args: Value, kwargs: Any) -> Callable[[Sequence[Any]], Any]:
        """From leaves of the kinds of these to the result, by the compiled program."""
        program, (leaves, _) = self.program(args, kwargs), self.flatten(args, kwargs)
        closed = program.closed
        if any(isinstance(const, Tracer) for const in closed.consts):
            return lambda leaves: tree_unflatten(program.out_tree, call(closed, leaves, self.name))
        unflatten = xla.structure(tree_unflatten(program.out_tree, closed.out_avals)).unflatten
        ready = compiled(closed, committed_devices(leaves), program.donated)
        on = ready.executable.devices
        if all(placed_on(x, on) for x in leaves):
            return ready.runner(closed.out_avals, functools.partial(map, buffer_of), unflatten)
        senders = [sender(aval, x, on) for aval, x in zip(closed.in_avals, leaves, strict=True)]
        buffers_of = functools.partial(map, operator.call, senders)
        return ready.runner(closed.out_avals, buffers_of, unflatten)


def call(closed: ClosedJaxpr, args: Values, name: str) -> list[Value]:
    """Bind `jit_p`. If a constant of the program is a tracer, the constants become arguments."""
    if not any(isinstance(const, Tracer) for const in closed.consts):
        return jit_p.bind(*args, name=name, jaxpr=closed)
    jaxpr = ClosedJaxpr(without_consts(closed.jaxpr), [])
    return jit_p.bind(*closed.consts, *args, name=name, jaxpr=jaxpr)


# Evaluation: compile, and run -------------------------------------------------------------------


def jit_impl(*args: Value, name: str, jaxpr: ClosedJaxpr) -> list[Value]:
    """The results of a program, as arrays on the device, with the types that the program states.

    The program is compiled at the first call. Of `args` (arrays or Python numbers), only those not
    on the device are copied to it; an array of our own is copied only once. Nothing is copied back.
    The results are committed if an argument is, or if the program asks for devices.

    >>> double = trace_to_jaxpr(lambda x: [x * 2.0], [ShapedArray((2,), np.dtype("float64"))])
    >>> jit_impl(np.array([3.0, 4.0]), name="double", jaxpr=double)
    [Array([6., 8.], dtype=float64)]
    """
    program = compiled(jaxpr, committed_devices(args))
    on = program.executable.devices
    inputs = [to_buffer(aval, x, on) for aval, x in zip(jaxpr.in_avals, args, strict=True)]
    outs = xla.run(program.executable, [*program.captured, *inputs])
    pairs = zip(jaxpr.out_avals, outs, strict=True)
    return [array_of(aval, out, on, program.committed) for aval, out in pairs]


class Compiled(NamedTuple):
    """A program on its devices, with its constants, and whether it had to be these devices."""

    executable: xla.Executable
    captured: list[Any]
    committed: bool

    def runner(
        self, out_avals: Sequence[ShapedArray], buffers_of: Callable[..., Any], finish: Any
    ) -> Callable[[Sequence[Any]], Any]:
        """From leaves to what `finish` makes of the results; what all runs share is done before."""
        kinds = [kind_of(aval, self.executable.devices, self.committed) for aval in out_avals]
        makers = [kind.result_maker() for kind in kinds]
        return xla.runner(self.executable, self.captured, buffers_of, makers, finish)


def compiled(
    jaxpr: ClosedJaxpr, asked: xla.Devices | None, donated: tuple[bool, ...] = ()
) -> Compiled:
    """The program for the devices that its arguments ask for; cached on the program."""
    given = any(donated) and donated
    key = "executable", asked, xla.current_device(), given
    return kept(jaxpr, key, lambda: compile_for(jaxpr, asked, donated))


def compile_for(
    jaxpr: ClosedJaxpr, asked: xla.Devices | None, donated: tuple[bool, ...]
) -> Compiled:
    text, emitter = lower(jaxpr, donated)
    place = the_one_place({asked: "an argument"} | emitter.places if asked else emitter.places)
    on = place or xla.alone(xla.current_device())
    buffers = [to_buffer(raise_to_shaped(get_aval(x)), x, on) for x in emitter.captured]
    executable = xla.compile_text(text, on, jaxpr.out_avals)
    return Compiled(executable, buffers, place is not None)


impl_rules[jit_p] = jit_impl


# Differentiation, batching, types: transform the program, and call the new one --------------------


def jit_jvp(
    primals: Values, tangents: Sequence[Tangent], *, name: str, jaxpr: ClosedJaxpr
) -> tuple[list[Any], list[Any]]:
    return call_jvp(functools.partial(call, name=name), primals, tangents, jaxpr)


def call_jvp(
    rebind: Rebind, primals: Values, tangents: Sequence[Tangent], jaxpr: ClosedJaxpr
) -> tuple[list[Any], list[Any]]:
    """Call the program that computes values and tangents; only what moves has a tangent in it."""
    moves = moving(tangents)
    outs = rebind(jvp_jaxpr(jaxpr, moves), [*primals, *chosen(tangents, moves)])
    primals_out, tangents_out = groups(outs, len(jaxpr.out_avals))
    return primals_out, filled((is_float(a.dtype) for a in jaxpr.out_avals), tangents_out)


def jvp_jaxpr(jaxpr: ClosedJaxpr, moves: tuple[bool, ...]) -> ClosedJaxpr:
    """The program that computes values and tangents: the same object each time for `moves`.

    It takes the inputs, then a tangent for each that `moves` marks. It returns the outputs, then a
    tangent for each float among them, even if zero. Nothing is computed for the other inputs. The
    program is freed when `jaxpr` is.

    >>> f64 = ShapedArray((), np.dtype("float64"))
    >>> jvp_jaxpr(trace_to_jaxpr(lambda x, y: [x * y], [f64, f64]), (True, False))
    { lambda ; a:f64[] b:f64[] c:f64[]. let
        d:f64[] = mul a b
        e:f64[] = mul c b
      in (d, e) }
    """
    avals, f = jaxpr.in_avals, jaxpr_as_fun(jaxpr)

    def values_and_tangents(*args: Value) -> list[Value]:
        primals, moving = args[: len(avals)], iter(args[len(avals) :])
        tangents = [next(moving) if move else None for move in moves]
        primals_out, tangents_out = jvp_flat(f, primals, tangents)
        return [*primals_out, *(t for t in tangents_out if is_float(get_aval(t).dtype))]

    tangent_avals = [aval for aval, move in zip(avals, moves, strict=True) if move]
    return derived(jaxpr, ("jvp", moves), values_and_tangents, [*avals, *tangent_avals])


def jit_batch(
    axis_size: int, vals: Sequence[Any], dims: Sequence[Any], *, name: str, jaxpr: ClosedJaxpr
) -> tuple[list[Any], list[Any]]:
    return call_batch(functools.partial(call, name=name), axis_size, vals, dims, jaxpr)


def call_batch(
    rebind: Rebind, axis_size: int, vals: Sequence[Any], dims: Sequence[Any], jaxpr: ClosedJaxpr
) -> tuple[list[Any], list[Any]]:
    """Call the program for batches; results that are the same for all examples stay single."""
    avals = [raise_to_shaped(get_aval(x)) for x in vals]
    program, out_dims = batched_jaxpr(jaxpr, axis_size, dims, avals)
    return rebind(program, vals), out_dims


def batched_jaxpr(
    jaxpr: ClosedJaxpr, axis_size: int, dims: Sequence[Any], avals: Sequence[ShapedArray]
) -> tuple[ClosedJaxpr, list[Any]]:
    """The program for batches of a program's inputs, and the list of batch axes of its results.

    `dims` are the batch axes of the inputs, and `avals` their types with these axes; an input that
    all examples share is `not_mapped`, and that may be every input. Asked again for the same size
    and name of the axis and the same `dims`, it returns the same pair, and traces nothing. The pair
    is freed when `jaxpr` is.

    >>> one, three = (ShapedArray(shape, np.dtype("float64")) for shape in ((), (3,)))
    >>> batched_jaxpr(trace_to_jaxpr(lambda x: [x, 2.0], [one]), 3, [0], [three])
    ({ lambda ; a:f64[3]. let  in (a, 2.0:f64[]) }, [0, not_mapped])
    """

    def make() -> tuple[ClosedJaxpr, list[Any]]:
        out_dims: list[Any] = []

        def batched_f(*args: Value) -> list[Value]:
            outs, out_dims[:] = vmap_flat(jaxpr_as_fun(jaxpr), axis_size, dims, args)
            return outs

        return trace_to_jaxpr(batched_f, avals), out_dims

    return kept(jaxpr, batching_key(axis_size, dims), make)


def batching_key(axis_size: int, dims: Sequence[Any]) -> Hashable:
    """What a batched program depends on, apart from the program that it is made from."""
    axes = tuple(None if isinstance(dim, NotMapped) else dim for dim in dims)
    return "vmap", axis_size, name_of(axis_size), axes


jvp_rules[jit_p] = jit_jvp
vmap_rules[jit_p] = jit_batch
abstract_eval_rules[jit_p] = jit_type


# Lowering to StableHLO --------------------------------------------------------------------------


def lower(jaxpr: ClosedJaxpr, donated: Sequence[bool] = ()) -> tuple[str, Emitter]:
    """The program as a StableHLO module, a string, and what else it needs.

    The arrays that it captures come before its inputs.
    """
    emitter = Emitter()
    args = [f"%arg{i}" for i in range(len(jaxpr.in_avals))]
    outs = lower_body(emitter, jaxpr.jaxpr, args, jaxpr.consts)
    names = [f"%const{i}" for i in range(len(emitter.captured))] + args
    avals = [*map(get_aval, emitter.captured), *jaxpr.in_avals]
    out_types = ", ".join(map(tensor_type, jaxpr.out_avals))
    attributes = [""] * len(emitter.captured) + donations(donated, jaxpr.in_avals, jaxpr.out_avals)
    columns = zip(names, avals, attributes, strict=True)
    params = ", ".join(f"{x}: {tensor_type(aval)}{attribute}" for x, aval, attribute in columns)
    head = f"module @jit {{\n  func.func public @main({params}) -> ({out_types}) {{\n"
    end = f"    return {', '.join(outs)} : {out_types}\n" if outs else "    return\n"
    text = head + "".join(f"{line}\n" for line in emitter.lines) + end + "  }\n}\n"
    return text, emitter


def lower_body(
    emitter: Emitter, jaxpr: Jaxpr, args: Sequence[str], consts: Values = ()
) -> list[str]:
    """Emit the equations of a program in order, once each. Returns the names of its results.

    `args` are the names of its inputs, such as "%arg0". Its constants, `consts`, become arguments
    of the module, and literals become lines. A lowering rule takes the emitter, three lists (types
    of operands, types of results, names of operands) and the parameters by name, and returns the
    names of the results; its own errors pass through. Without a rule, raises a
    `NotImplementedError` that names the primitive.

    >>> f64 = ShapedArray((), np.dtype("float64"))
    >>> program, emitter = trace_to_jaxpr(lambda x: [-x * x], [f64]), Emitter()
    >>> lower_body(emitter, program.jaxpr, ["%arg0"])
    ['%1']
    >>> for line in emitter.lines:
    ...     print(line)
        %0 = stablehlo.negate %arg0 : tensor<f64>
        %1 = stablehlo.multiply %0, %arg0 : tensor<f64>
    """
    captured = [emitter.capture(const) for const in consts]
    env: dict[Atom, str] = dict(
        zip([*jaxpr.constvars, *jaxpr.invars], [*captured, *args], strict=True)
    )

    def read(atom: Atom) -> str:
        return emit_literal(emitter, atom) if isinstance(atom, Literal) else env[atom]

    for eqn in jaxpr.eqns:
        rule = get_rule(hlo_lowerings, eqn.primitive, "StableHLO lowering")
        avals = [atom.aval for atom in eqn.invars]
        out_avals = [var.aval for var in eqn.outvars]
        outs = rule(emitter, avals, out_avals, [read(x) for x in eqn.invars], **eqn.params)
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def jit_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, name: str, jaxpr: ClosedJaxpr
) -> list[str]:
    return lower_body(emitter, jaxpr.jaxpr, args, jaxpr.consts)


hlo_lowerings[jit_p] = jit_hlo
