"""Part I grown up: a whole JAX whose interpreters are in a context, and not on a stack.

In Part I there is one *current interpreter*, and every operation goes to it. A transformation makes
a new one, which remembers the one before it (`prev_interpreter`), and runs the user's function
under it. A rule runs under the previous one: what is one operation up here is several down there.
That is the whole dispatch. It is kept here, and what Part I leaves open is added: arrays with
types, errors, `vmap`, typed programs, compilation, reverse mode, and a primitive with a program.

What the stack of `minijax` is for, and what takes its place here:

- A *level* says which of several tracers is the innermost, so that `bind` can look for the top
  interpreter among the operands. Here the current one gets every operation, whatever the operands
  are. Nothing is looked for, and staging sees operations on constants too, without a special hook.
- *Lifting* puts every operand into a box of the top level (`pure`, `lift`, `full_raise`), and
  `full_lower` takes useless boxes off again. Here an interpreter asks one thing of an operand: is
  it mine? If not, it is a constant, and neither it nor its results get a box.
- The stack knows who is active. Here each interpreter is told when its function has ended.

The price: an operation passes through all interpreters down to the one that it concerns, and every
rule has to run under the right one. Forgetting that causes infinite recursion. JAX has worked like
this since version 0.4.36 ("stackless"). Its words: `Trace`, with its `parent_trace`, is an
interpreter; `set_current_trace` is `set_interpreter`; a trace that has ended is `invalidate`d.

What a primitive *is* does not depend on interpretation: its value in NumPy, its type, its StableHLO
text. These facts, programs as data and pytrees come from minijax; operators from `arrays`. The
current interpreter is kept in `contexts`, staging is in `programs`, and the rules of single
operations are in `rules`.

The call primitive has one rule for forward and reverse mode, which calls a program for values and
residuals and then a linear one. So no program is partially evaluated; in return, forward mode runs
two programs where minijax runs one.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
from minijax import core, dtypes  # noqa: F401 (answers may ask for it)
from minijax.arguments import chosen_args, function_of
from minijax.core import Primitive, Rules, ShapedArray, UndefPrimal, get_aval, get_rule
from minijax.jaxpr import ClosedJaxpr, Jaxpr, Var  # noqa: F401 (answers may ask for it)
from minijax.jit import jit_hlo, jit_type, without_consts
from minijax.jit import jit_impl as compile_and_run
from minijax.linearize import check_types, with_float0
from minijax.transpose import check_scalar, flat_cotangents
from minijax.tree import PyTreeDef, flatten_fun, tree_flatten, tree_unflatten
from minijax.vmap import check_floats, common_size, flat_axes, normal_axis

from microjax.contexts import (
    Fun,
    Interpreter,
    Tracer,
    bind,
    context,
    each,
    lax,
    running,
    set_interpreter,
)
from microjax.flat import are_floats, flat_tangents, instantiate, merge, once, types_of
from microjax.programs import (
    StagingInterpreter,
    eval_jaxpr,
    make_jaxpr,  # noqa: F401 (for users)
    stage_tree,
    value_of,
)
from microjax.rules import add_up, jvp_rules, transpose_rules, vmap_rules

# Interpreters whose values are pairs --------------------------------------------------------------

Pairs = tuple[list[Any], list[Any]]  # values, and what is beside each of them


class Box(Tracer):
    """A value of the outer interpreter, and what this one keeps with it."""

    def __init__(self, interpreter: Interpreter, value: Any, extra: Any) -> None:
        self.interpreter, self.value, self.extra = interpreter, value, extra

    @property
    def aval(self) -> ShapedArray:
        raise TypeError("A plain Box has no type. Make boxes by `interpreter.box(value, extra)`.")


class BoxInterpreter(Interpreter):
    """Keeps something beside each value, in a box; a constant has no box, and `None` beside it.

    A rule gets the values, and what is beside them, as two lists, and returns the two for its
    result: two lists again, if the primitive has several results.
    """

    box_type: type[Box]
    rules: Rules
    task: str  # what the rules are for, in the error for a missing one

    def __init__(self) -> None:
        self.prev_interpreter = context.interpreter

    def box(self, value: Any, extra: Any) -> Any:
        return value if extra is None else self.box_type(self, value, extra)

    def open(self, boxes: Sequence[Any]) -> Pairs:
        """What is in the boxes. To open another's box would be perturbation confusion."""
        pairs = [(x.value, x.extra) if self.owns(x) else (x, None) for x in boxes]
        return [value for value, _ in pairs], [extra for _, extra in pairs]

    def interpret_op(self, primitive: Primitive, args: Sequence[Any], params: Any) -> Any:
        """The result of one operation, in a box unless the rule's extra for it is None.

        Operations on constants alone, and those that a rule binds, go to the previous interpreter.
        A primitive without a rule raises `NotImplementedError`. With `multiple_results`, the result
        is a list, each item in a box of its own or in none.

        >>> interpreter = JVPInterpreter()
        >>> x = interpreter.box(np.array(3.0), np.array(1.0))
        >>> y = interpreter.interpret_op(core.mul_p, [x, x], {})
        >>> y.value, y.extra
        (Array(9., dtype=float64), Array(6., dtype=float64))
        >>> interpreter.interpret_op(core.add_p, [2.0, 3.0], {})
        Array(5., dtype=float64, weak_type=True)
        """
        values, extras = self.open(args)
        with set_interpreter(self.prev_interpreter):
            if all(extra is None for extra in extras):
                return bind(primitive, *values, **params)
            outs = get_rule(self.rules, primitive, self.task)(values, extras, **params)
        return each(primitive, self.box, *outs)

    def run(self, f: Fun, values: Any, extras: Any) -> Pairs:
        """Call `f` on boxes, and open its results."""
        with running(self):
            return self.open(f(*map(self.box, values, extras)))


# Differentiation: a value, and its tangent beside it ----------------------------------------------


class DualNumber(Box):
    aval = property(lambda self: get_aval(self.value))


class JVPInterpreter(BoxInterpreter):
    """Carries tangents along; what does not move has none: `None` is the symbolic zero."""

    box_type, rules, task = DualNumber, jvp_rules, "Differentiation rule"


def jvp(fun: Fun, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """`fun(*primals)`, and its change along `tangents`. Counterpart: `jax.jvp`.

    >>> y, y_dot = jvp(lambda x: {"y": x * x}, (3.0,), (1.0,))
    >>> print(y["y"], y_dot["y"])
    9.0 6.0
    """
    xs, ts, in_tree = flat_tangents(primals, tangents)
    flat_f, out_tree = flatten_fun(fun, in_tree)
    outs, outs_dot = JVPInterpreter().run(flat_f, xs, ts)
    outs_dot = instantiate(outs_dot, types_of(outs))
    return tree_unflatten(out_tree(), outs), tree_unflatten(out_tree(), outs_dot)


# Vectorization: a batch, and a mark beside it -----------------------------------------------------


class Batched(Box):
    """Values stacked along axis 0, marked by `True`; users see one of them."""

    @property
    def aval(self) -> ShapedArray:
        aval = get_aval(self.value)
        return ShapedArray(aval.shape[1:], aval.dtype, aval.weak_type)


class BatchInterpreter(BoxInterpreter):
    """Applies every operation to whole batches."""

    box_type, rules, task = Batched, vmap_rules, "Batching rule"


def vmap(fun: Fun, in_axes: Any = 0, out_axes: Any = 0, *, axis_size: int | None = None) -> Fun:
    """`fun` for a whole batch at once, along the axes `in_axes`. Counterpart: `jax.vmap`.

    >>> vmap(lambda x, y: lax.mul(x, y), in_axes=(0, None))(np.arange(3.0), 2.0)
    Array([0., 2., 4.], dtype=float64)
    """

    def batched_f(*args: Any) -> Any:
        leaves, in_tree = tree_flatten(args)
        axes = flat_axes("in_axes", in_axes, args)
        dims: Any = list(map(normal_axis, axes, leaves))
        size = common_size(leaves, dims, axis_size)
        mapped = [None if axis is None else True for axis in axes]
        batches = zip(leaves, dims, mapped, strict=True)
        vals = [lax.move_axis(x, dim, 0) if m else x for x, dim, m in batches]
        flat_f, out_tree = flatten_fun(fun, in_tree)
        outs, mapped_out = BatchInterpreter().run(flat_f, vals, mapped)
        axes = flat_axes("out_axes", out_axes, tree_unflatten(out_tree(), outs))
        results = [lax.place(size, *out) for out in zip(outs, mapped_out, axes, strict=True)]
        return tree_unflatten(out_tree(), results)

    return batched_f


# Linear programs: recorded while the rest is computed ---------------------------------------------


class LinearInterpreter(StagingInterpreter):
    """Writes down what depends on its variables, and leaves the rest to the previous interpreter.

    So values are computed at once, and the operations on tangents become a program, in the order in
    which they come. Nothing is put off, so nothing has to be found again and sorted later.
    """

    def __init__(self) -> None:
        super().__init__()
        self.prev_interpreter = context.interpreter

    def interpret_op(self, primitive: Primitive, args: Sequence[Any], params: Any) -> Any:
        """The result of one operation: recorded, if an operand is a variable of this program.

        >>> f = lambda t: ([lax.mul(lax.cos(0.0), t)], None)
        >>> LinearInterpreter().run(f, types_of([2.0]))[0]
        { lambda ; a:f64[]. let b:f64[] = mul 1.0:f64[] a in (b,) }
        """
        if any(map(self.owns, args)):
            return super().interpret_op(primitive, args, params)
        with set_interpreter(self.prev_interpreter):
            return bind(primitive, *args, **params)


def linearize_flat(f: Fun, primals: Any, in_moves: Any) -> tuple[ClosedJaxpr, list[Any]]:
    """The derivative of `f` at `primals` as a program, and the list of results of `f`.

    The program's inputs are tangents of the primals that `in_moves` marks. Its outputs are tangents
    of float results: zeros of its type for a result that does not move. It has only operations on
    tangents, and `f` is called once.

    >>> program, values = linearize_flat(lambda x, y: [x * y], [3.0, 2.0], [True, False])
    >>> print(program, *values)
    { lambda ; a:f64[]. let b:f64[] = mul a 2.0:f64[] in (b,) } 6.0
    """

    def tangents_out(*moving: Any) -> Pairs:
        outs, tangents = JVPInterpreter().run(f, primals, merge(in_moves, moving))
        avals = types_of(outs)
        return list(compress(instantiate(tangents, avals), are_floats(avals))), outs

    return LinearInterpreter().run(tangents_out, types_of(compress(primals, in_moves)))


# Transposition: a linear program, run backwards ---------------------------------------------------


def backward_pass(program: ClosedJaxpr, cotangents: Sequence[Any]) -> list[Any]:
    """The cotangents of a linear program's inputs, in a list, from its outputs' cotangents.

    `None` is a zero cotangent; an input without one gets zeros of its type. A rule is called once
    for each equation with a result that has a cotangent, and for no other. It gets that cotangent,
    or with `multiple_results` the list of all.

    >>> program = make_jaxpr(lambda t, u: lax.mul(t, 3.0) + t)(1.0, 1.0)
    >>> backward_pass(program, [2.0])
    [Array(8., dtype=float64, weak_type=True), Array(0., dtype=float64, weak_type=True)]
    """
    jaxpr = program.jaxpr
    known = dict(zip(jaxpr.constvars, program.consts, strict=True))
    found: dict[Any, Any] = {}

    def accumulate(atoms: Sequence[Any], cts: Sequence[Any]) -> None:
        for atom, ct in zip(atoms, cts, strict=True):
            found[atom] = add_up([found.get(atom), ct])

    accumulate(jaxpr.outvars, cotangents)
    for eqn in reversed(jaxpr.eqns):
        cts = [found.pop(var, None) for var in eqn.outvars]
        if any(ct is not None for ct in cts):
            rule = get_rule(transpose_rules, eqn.primitive, "Transpose rule")
            operands = [value_of(x, known) for x in eqn.invars]
            ct_arg = cts if eqn.primitive.multiple_results else cts[0]
            accumulate(eqn.invars, rule(ct_arg, *operands, **eqn.params))
    return instantiate([found.get(var) for var in jaxpr.invars], [v.aval for v in jaxpr.invars])


# A higher-order primitive: its parameter is a program ---------------------------------------------

jit_p = Primitive("jit", multiple_results=True)


def jit(fun: Fun) -> Fun:
    """`fun`, staged once for each type of its arguments and compiled. Counterpart: `jax.jit`.

    >>> jit(lambda x: x * 2.0)(3.0)
    Array(6., dtype=float64, weak_type=True)
    """
    programs: dict[Any, tuple[ClosedJaxpr, PyTreeDef]] = {}

    @functools.wraps(fun)
    def jitted(*args: Any) -> Any:
        leaves, in_tree = tree_flatten(args)
        key = (in_tree, types_of(leaves))
        if key not in programs:
            programs[key] = stage_tree(fun, args)
        program, out_tree = programs[key]
        return tree_unflatten(out_tree, call(program, leaves, getattr(fun, "__name__", "f")))

    return jitted


def call(program: ClosedJaxpr, args: Sequence[Any], name: str) -> list[Any]:
    """Bind `jit_p`. Constants that belong to an interpreter become operands, for it to see them."""
    if any(isinstance(const, Tracer) for const in program.consts):
        args, program = [*program.consts, *args], ClosedJaxpr(without_consts(program.jaxpr), [])
    return bind(jit_p, *args, name=name, jaxpr=program)


def jit_impl(*args: Any, name: str, jaxpr: ClosedJaxpr) -> list[Any]:
    """The results of the program as NumPy arrays; it is compiled if that was not done before."""
    return [np.asarray(x) for x in compile_and_run(*args, name=name, jaxpr=jaxpr)]


def jit_jvp(primals: Any, tangents: Any, *, name: str, jaxpr: ClosedJaxpr) -> Any:
    """Results and tangents, by two calls: the first returns residuals, too, for the second."""
    in_moves = tuple(t is not None for t in tangents)
    values, linear = linearized_program(jaxpr, in_moves)
    outs = call(values, primals, name)
    number = len(jaxpr.out_avals)
    moving = call(linear, [*outs[number:], *compress(tangents, in_moves)], name)
    return outs[:number], merge(are_floats(jaxpr.out_avals), moving)


@once
def linearized_program(program: ClosedJaxpr, in_moves: tuple[bool, ...]) -> tuple[Any, Any]:
    """Two programs: the first computes the results of `program`, the second their tangents.

    The first has the inputs of `program`, and returns its results, then residuals. The second takes
    the residuals, then a tangent for each input that `in_moves` marks, and returns one for each
    result that is a float. It has only operations on tangents.

    >>> values, tangents = linearized_program(make_jaxpr(lambda x: lax.sin(x))(0.0), (True,))
    >>> values
    { lambda ; a:f64[]. let b:f64[] = sin a; c:f64[] = cos a in (b, c) }
    >>> tangents
    { lambda ; a:f64[] b:f64[]. let c:f64[] = mul b a in (c,) }
    """

    def values_and_residuals(*primals: Any) -> tuple[list[Any], Jaxpr]:
        linear, outs = linearize_flat(function(program), primals, in_moves)
        return [*outs, *linear.consts], without_consts(linear.jaxpr)

    values, linear = StagingInterpreter().run(values_and_residuals, program.in_avals)
    return values, ClosedJaxpr(linear, [])


def function(program: ClosedJaxpr) -> Fun:
    return functools.partial(eval_jaxpr, program.jaxpr, program.consts)


def jit_batch(vals: Any, mapped: Any, *, name: str, jaxpr: ClosedJaxpr) -> Any:
    """Call the program for batches, which knows which of its results are batches."""
    program, mapped_out = batched_program(jaxpr, types_of(vals), tuple(mapped))
    return call(program, vals, name), mapped_out


@once
def batched_program(program: ClosedJaxpr, avals: Any, mapped: Any) -> tuple[ClosedJaxpr, list[Any]]:
    f = function(program)
    return StagingInterpreter().run(lambda *vals: BatchInterpreter().run(f, vals, mapped), avals)


def jit_transpose(cts: Any, *args: Any, name: str, jaxpr: ClosedJaxpr) -> list[Any]:
    """Call the program that runs backwards: known operands and cotangents in, cotangents out."""
    linear = tuple(isinstance(x, UndefPrimal) for x in args)
    known = [x for x in args if not isinstance(x, UndefPrimal)]
    inputs = [*known, *instantiate(cts, jaxpr.out_avals)]
    return merge(linear, call(transposed_program(jaxpr, linear), inputs, name))


@once
def transposed_program(program: ClosedJaxpr, linear: tuple[bool, ...]) -> ClosedJaxpr:
    return transposed(program, linear)


def transposed(program: ClosedJaxpr, linear: Sequence[bool]) -> ClosedJaxpr:
    """A program that runs `program` backwards: from cotangents of results to those of inputs.

    `program` is linear in the inputs that `linear` marks. The new program takes the other inputs,
    then a cotangent for each result, and returns one for each linear input. Operations on linear
    inputs are in it only as their transposes.

    >>> program = make_jaxpr(lambda x, t: lax.mul(lax.sin(x), t))(2.0, 1.0)
    >>> transposed(program, [False, True])
    { lambda ; a:f64[] b:f64[]. let c:f64[] = sin a; d:f64[] = mul c b in (d,) }
    """
    pairs = list(zip(program.in_avals, linear, strict=True))
    known_avals = [aval for aval, is_linear in pairs if not is_linear]
    linear_avals = [aval for aval, is_linear in pairs if is_linear]

    def backwards(*inputs: Any) -> tuple[list[Any], None]:
        recorded, _ = LinearInterpreter().run(
            lambda *ts: (function(program)(*merge(linear, ts, inputs)), None), linear_avals
        )
        return backward_pass(recorded, inputs[len(known_avals) :]), None

    return StagingInterpreter().run(backwards, [*known_avals, *program.out_avals])[0]


core.impl_rules[jit_p] = jit_impl
core.abstract_eval_rules[jit_p] = jit_type
core.hlo_lowerings[jit_p] = jit_hlo
jvp_rules[jit_p] = jit_jvp
vmap_rules[jit_p] = jit_batch
transpose_rules[jit_p] = jit_transpose

# Linear maps for users ----------------------------------------------------------------------------


def linear_maps(fun: Fun, primals: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """The value of `fun`, its derivative, and the transpose of its derivative."""
    leaves, in_tree = tree_flatten(primals)
    flat_f, out_tree = flatten_fun(fun, in_tree)
    in_avals = types_of(leaves)
    program, outs = linearize_flat(flat_f, leaves, are_floats(in_avals))
    out_avals = types_of(outs)

    def f_lin(*tangents: Any) -> Any:
        ts, tree = tree_flatten(tangents)
        if tree != in_tree:
            raise TypeError(f"The linearized function takes {in_tree}, but was given {tree}.")
        check_types("linearized function", ts, in_avals)
        moving = function(program)(*compress(ts, are_floats(in_avals)))
        return tree_unflatten(out_tree(), with_float0(moving, out_avals))

    def f_vjp(cotangent: Any) -> Any:
        cts = flat_cotangents(cotangent, out_tree(), list(out_avals))
        moving = backward_pass(program, list(compress(cts, are_floats(out_avals))))
        return tree_unflatten(in_tree, with_float0(moving, in_avals))

    return tree_unflatten(out_tree(), outs), f_lin, f_vjp


def linearize(fun: Fun, *primals: Any) -> tuple[Any, Fun]:
    """The value of `fun`, and its derivative there as a function. Counterpart: `jax.linearize`.

    >>> y, f_lin = linearize(lambda x: x * x * x, 2.0)
    >>> print(y, f_lin(1.0), f_lin(0.5))
    8.0 12.0 6.0
    """
    return linear_maps(fun, primals)[:2]


def vjp(fun: Fun, *primals: Any) -> tuple[Any, Fun]:
    """The value of `fun`, and the transpose of its derivative. Counterpart: `jax.vjp`."""
    return linear_maps(fun, primals)[::2]


def value_and_grad(fun: Fun, argnums: Any = 0) -> Fun:
    """The value and the gradient of a function whose result is one float."""

    def value_and_grad_f(*args: Any) -> tuple[Any, Any]:
        chosen = chosen_args(argnums, args)
        check_floats("inputs of grad", chosen)
        value, f_vjp = vjp(function_of(fun, argnums, args, {}), *chosen)
        check_scalar(value)
        gradients = f_vjp(np.ones((), get_aval(value).dtype))
        return value, gradients[0] if isinstance(argnums, int) else gradients

    return value_and_grad_f


def grad(fun: Fun, argnums: Any = 0) -> Fun:
    """The gradient of a function whose result is one float. Counterpart: `jax.grad`.

    >>> print(grad(lambda x, y: x * x * y)(3.0, 5.0))
    30.0
    """
    return lambda *args: value_and_grad(fun, argnums)(*args)[1]
