"""Part I grown up: a whole JAX whose interpreters are in a context, and not on a stack.

In Part I there is one *current interpreter*, and every operation goes to it. A transformation makes
a new one, which remembers the one before it (`prev_interpreter`), and runs the user's function
under it. A rule runs under the previous one: what is one operation up here is several down there.
That is the whole dispatch. This file keeps it, and adds what Part I leaves open: arrays with types,
errors, `vmap`, typed programs, compilation, reverse mode, and a primitive that holds a program.

What the stack of `minijax` is for, and what takes its place here:

- A *level* says which of several tracers is the innermost, so that `bind` can look for the top
  interpreter among the operands. Here the current one gets every operation, whatever the operands
  are. Nothing is looked for, and staging sees operations on constants too, without a special hook.
- *Lifting* puts every operand into a box of the top level (`pure`, `lift`, `full_raise`), and
  `full_lower` takes useless boxes off again. Here an interpreter asks one thing of an operand: is
  it mine? If not, it is a constant, and neither it nor its results get a box.
- The stack knows who is active. Here each interpreter is told when its function has ended.

The price: an operation passes through all interpreters down to the one that it concerns, and every
rule has to run under the right one. To forget that is an endless recursion. JAX works like this
since version 0.4.36 ("stackless"). Its words: `Trace`, with its `parent_trace`, is an interpreter;
`set_current_trace` is `set_interpreter`; a trace that has ended is `invalidate`d.

What a primitive *is* does not depend on interpretation: its value in NumPy, its type, its StableHLO
text. These facts, programs as data and pytrees come from minijax; operators from `arrays`.

The call primitive has one rule for forward and reverse mode, which calls a program for values and
residuals and then a linear one. So no program is partially evaluated; in return, forward mode runs
two programs where minijax runs one.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from typing import Any

import numpy as np
from minijax import core, dtypes
from minijax.core import Primitive, Rules, ShapedArray, UndefPrimal, get_aval, get_rule
from minijax.errors import UnexpectedTracerError
from minijax.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, abstract_eval, raise_to_shaped
from minijax.jit import jit_hlo, jit_type, without_consts
from minijax.jit import jit_impl as compile_and_run
from minijax.linearize import check_types, with_float0
from minijax.tracing import without_equation
from minijax.transpose import check_scalar, flat_cotangents
from minijax.tree import PyTreeDef, flatten_fun, tree_flatten, tree_unflatten
from minijax.vmap import check_floats, chosen_args, common_size, flat_axes, function_of, normal_axis

from microjax.arrays import ArrayLike, Lax, inverse_permutation, others, shifted
from microjax.flat import are_floats, flat_tangents, instantiate, merge, once, types_of

Fun = Callable[..., Any]

# The context ------------------------------------------------------------------------------------


class Interpreter:
    """One use of a way to run programs. While it is the current one, it gets every operation."""

    prev_interpreter: Interpreter  # the one that was current before; rules run under it
    ended = False  # whether the function that ran under it has returned or raised

    def interpret_op(self, primitive: Primitive, args: Sequence[Any], params: Any) -> Any:
        """The result of one operation: a list of them if `primitive.multiple_results`."""
        raise NotImplementedError(f"{type(self).__name__} must define interpret_op.")

    def owns(self, x: Any) -> bool:
        """Whether `x` is a tracer of this interpreter. Everything else is a constant to it."""
        if isinstance(x, Tracer) and x.interpreter.ended:
            raise misplaced(x)
        return isinstance(x, Tracer) and x.interpreter is self


def misplaced(x: Tracer) -> UnexpectedTracerError:
    """The error for a tracer where it is of no use; it says why the tracer came there."""
    reason = (
        "was kept after the function that it was made for had ended. Return it from there."
        if x.interpreter.ended
        else "reached evaluation although its interpreter is still at work. Which interpreter was "
        "the current one here?"
    )
    return UnexpectedTracerError(f"{x} {reason}")


class EvalInterpreter(Interpreter):
    """Computes with NumPy. There is nothing below it, and no tracer is its own."""

    def interpret_op(self, primitive: Primitive, args: Sequence[Any], params: Any) -> Any:
        for x in args:
            if isinstance(x, Tracer):
                raise misplaced(x)
        rule = get_rule(core.impl_rules, primitive, "Evaluation rule")
        outs = core.computed(rule, primitive, args, params)
        weak_type = core.weak_result(primitive, args, params)
        return each(primitive, lambda out: core.as_result(out, weak_type), outs)


def each(primitive: Primitive, f: Fun, *outs: Any) -> Any:
    """`f` of a result, or of each result if the primitive has several."""
    if not primitive.multiple_results:
        return f(*outs)
    return [f(*parts) for parts in zip(*outs, strict=True)]


class Context(threading.local):
    """Holds the current interpreter: one in each thread, and evaluation to begin with."""

    interpreter: Interpreter = EvalInterpreter()


context = Context()


@contextmanager
def set_interpreter(interpreter: Interpreter) -> Iterator[None]:
    """Make `interpreter` the current one for the time of a `with` block, however it ends."""
    previous, context.interpreter = context.interpreter, interpreter
    try:
        yield
    finally:
        context.interpreter = previous


@contextmanager
def running(interpreter: Interpreter) -> Iterator[None]:
    """As `set_interpreter`, for a user's function: its tracers are of no use afterwards."""
    try:
        with set_interpreter(interpreter):
            yield
    finally:
        interpreter.ended = True


def bind(primitive: Primitive, *args: Any, **params: Any) -> Any:
    """Apply a primitive: check the types of its operands, then hand it to the current interpreter.

    >>> bind(core.sin_p, 0.0)
    Array(0., dtype=float64, weak_type=True)
    >>> bind(core.reduce_sum_p, np.ones(3), axes=(1,))
    Traceback (most recent call last):
    TypeError: reduce_sum of float64[3]: float64[3] does not have the axes (1,).
    """
    avals = [get_aval(x) for x in args]
    try:
        abstract_eval(primitive, avals, params)
    except (TypeError, ValueError, IndexError) as error:
        types = " and ".join(map(str, avals))
        raise TypeError(f"{primitive} of {types}: {str(error).removesuffix('.')}.") from None
    return context.interpreter.interpret_op(primitive, args, params)


lax = Lax(bind)  # the operations as functions: lax.sin(x) is bind(core.sin_p, x), and so on


class Tracer(ArrayLike):
    """What an interpreter hands to a user's function instead of an array."""

    interpreter: Interpreter
    lax = lax


# Interpreters whose values are pairs --------------------------------------------------------------

Pairs = tuple[list[Any], list[Any]]  # values, and what is beside each of them


class Box(Tracer):
    """A value of the interpreter outside, and what this one keeps beside it."""

    def __init__(self, interpreter: Interpreter, value: Any, extra: Any) -> None:
        self.interpreter, self.value, self.extra = interpreter, value, extra

    @property
    def aval(self) -> ShapedArray:
        raise TypeError("A plain Box has no type. Make boxes by `interpreter.box(value, extra)`.")


class BoxInterpreter(Interpreter):
    """Opens boxes, applies a rule under the previous interpreter, and boxes the results.

    A constant has no box, and `None` beside it. An operation on constants alone is handed on. A
    rule gets the values, and what is beside them, as two lists, and returns the two for its result.
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
        """The result of one operation, in a box if an operand came in one.

        If this interpreter owns an operand, the primitive's rule finds what is in the box;
        otherwise the operation is handed on. The previous interpreter gets all that is bound. With
        `multiple_results` it is a list, and each result has its own box, or none.

        >>> interpreter = JVPInterpreter()
        >>> x = interpreter.box(np.array(3.0), np.array(1.0))
        >>> y = interpreter.interpret_op(core.mul_p, [x, x], {})
        >>> y.value, y.extra
        (Array(9., dtype=float64), Array(6., dtype=float64))
        >>> interpreter.interpret_op(core.add_p, [2.0, 3.0], {})
        Array(5., dtype=float64, weak_type=True)
        """
        raise NotImplementedError("stackless.box_op")

    def run(self, f: Fun, values: Any, extras: Any) -> Pairs:
        """Call `f` on boxes, and open its results."""
        with running(self):
            return self.open(f(*map(self.box, values, extras)))


# Differentiation: a value, and its tangent beside it ----------------------------------------------

jvp_rules: Rules = {}


class DualNumber(Box):
    aval = property(lambda self: get_aval(self.value))


class JVPInterpreter(BoxInterpreter):
    """Carries tangents along; what does not move has none: `None` is the symbolic zero."""

    box_type, rules, task = DualNumber, jvp_rules, "Differentiation rule"


def moves(primitive: Primitive, *slopes: Fun) -> None:
    """Say how a result moves: by the sum of `slope(t, result, *operands)` over the operands.

    There is one slope for each operand: a *linear* function of its tangent `t`.
    """

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = bind(primitive, *primals, **params)
        moving = [(slope, t) for slope, t in zip(slopes, tangents, strict=True) if t is not None]
        return out, add_up([slope(t, out, *primals, **params) for slope, t in moving])

    jvp_rules[primitive] = rule


def add_up(terms: Sequence[Any]) -> Any:
    """The sum of tangents, or of cotangents; `None` is zero."""
    present = [term for term in terms if term is not None]
    return functools.reduce(lax.add, present) if present else None


moves(core.neg_p, lambda t, y, x: lax.neg(t))
moves(core.sin_p, lambda t, y, x: lax.mul(t, lax.cos(x)))
moves(core.cos_p, lambda t, y, x: lax.mul(t, lax.neg(lax.sin(x))))
moves(core.exp_p, lambda t, y, x: lax.mul(t, y))
moves(core.log_p, lambda t, y, x: lax.div(t, x))
moves(core.add_p, lax.stretch, lax.stretch)
moves(core.sub_p, lax.stretch, lambda t, z, x, y: lax.neg(lax.stretch(t, z)))
moves(core.mul_p, lambda t, z, x, y: lax.mul(t, y), lambda t, z, x, y: lax.mul(x, t))
moves(
    core.div_p,
    lambda t, z, x, y: lax.div(t, y),
    lambda t, z, x, y: lax.mul(t, lax.neg(lax.div(z, y))),
)
moves(
    core.dot_general_p,
    lambda t, z, x, y, **numbers: lax.dot_general(t, y, **numbers),
    lambda t, z, x, y, **numbers: lax.dot_general(x, t, **numbers),
)
for _p in (core.gt_p, core.lt_p):  # booleans do not move
    moves(_p, lambda t, z, x, y: None, lambda t, z, x, y: None)
for _p in (core.reduce_sum_p, core.transpose_p, core.broadcast_in_dim_p):  # linear themselves
    moves(_p, lambda t, y, x, _p=_p, **params: bind(_p, t, **params))
moves(  # linear between floats; what becomes an integer does not move any more
    core.convert_element_type_p,
    lambda t, y, x, *, new_dtype, weak_type: (
        lax.convert(t, new_dtype, weak_type) if dtypes.is_float(new_dtype) else None
    ),
)


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


# Vectorisation: a batch, and a mark beside it -----------------------------------------------------

vmap_rules: Rules = {}


class Batched(Box):
    """Values stacked along axis 0, marked by `True`; users see one of them."""

    @property
    def aval(self) -> ShapedArray:
        aval = get_aval(self.value)
        return ShapedArray(aval.shape[1:], aval.dtype, aval.weak_type)


class BatchInterpreter(BoxInterpreter):
    """Applies every operation to whole batches."""

    box_type, rules, task = Batched, vmap_rules, "Batching rule"


def batches(primitive: Primitive, rule: Fun) -> None:
    """Say what an operation with one operand does to a batch: `rule(x, **params)`."""
    vmap_rules[primitive] = lambda vals, mapped, **params: (rule(*vals, **params), True)


def elementwise_batch(primitive: Primitive, vals: Any, mapped: Any) -> Any:
    """The batch axes fit as they are, once all examples have one rank."""
    return bind(primitive, *lax.aligned(vals, mapped)), True


def dot_general_batch(vals: Any, mapped: Any, *, dimension_numbers: Any, **params: Any) -> Any:
    """One batch axis more, which `dot_general` puts first in its result."""
    size = next(get_aval(x).shape[0] for x in compress(vals, mapped))
    x, y = (x if m else lax.repeat(x, size) for x, m in zip(vals, mapped, strict=True))
    contract, batch = ([shifted(axes) for axes in pair] for pair in dimension_numbers)
    return lax.dot_general(x, y, (contract, [[0, *axes] for axes in batch]), **params), True


vmap_rules[core.dot_general_p] = dot_general_batch
for _p in (core.add_p, core.sub_p, core.mul_p, core.div_p, core.gt_p, core.lt_p):
    vmap_rules[_p] = functools.partial(elementwise_batch, _p)
for _p in (core.neg_p, core.sin_p, core.cos_p, core.exp_p, core.log_p, core.convert_element_type_p):
    batches(_p, functools.partial(bind, _p))
batches(core.reduce_sum_p, lambda x, *, axes: lax.reduce_sum(x, shifted(axes)))
batches(core.transpose_p, lambda x, *, permutation: lax.transpose(x, [0, *shifted(permutation)]))
batches(
    core.broadcast_in_dim_p,
    lambda x, *, shape, broadcast_dimensions: lax.broadcast_in_dim(
        x, get_aval(x).shape[:1] + shape, [0, *shifted(broadcast_dimensions)]
    ),
)


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


# Staging: a typed program -------------------------------------------------------------------------


class Staged(Tracer):
    """A variable of the program that is being written; only its type is known."""

    def __init__(self, interpreter: Interpreter, atom: Any) -> None:
        self.interpreter, self.atom, self.aval = interpreter, atom, atom.aval


class StagingInterpreter(Interpreter):
    """Computes nothing, and writes every operation down. It needs no previous interpreter."""

    def __init__(self) -> None:
        self.eqns: list[JaxprEqn] = []
        self.consts: dict[int, tuple[Var, Any, Any]] = {}  # by identity: variable, value, copy

    def atom(self, x: Any) -> Any:
        """What stands for `x` in the program: a variable, or a literal for a known 0-d value."""
        if self.owns(x):
            return x.atom
        aval = raise_to_shaped(get_aval(x))
        if not aval.shape and not isinstance(x, Tracer):
            return Literal(np.asarray(x), aval)
        copy = np.array(x) if isinstance(x, np.ndarray) else x  # the user may change x later
        return self.consts.setdefault(id(x), (Var(aval), x, copy))[0]

    def interpret_op(self, primitive: Primitive, args: Sequence[Any], params: Any) -> Any:
        atoms = [self.atom(x) for x in args]
        avals = abstract_eval(primitive, [atom.aval for atom in atoms], params)
        if primitive in (core.broadcast_in_dim_p, core.convert_element_type_p):
            unchanged = without_equation(primitive, atoms[0], avals[0], params)
            if unchanged is not None:
                return Staged(self, unchanged)
        outvars = [Var(aval) for aval in avals]
        self.eqns.append(JaxprEqn(atoms, outvars, primitive, params))
        outs = [Staged(self, var) for var in outvars]
        return outs if primitive.multiple_results else outs[0]

    def run(self, f: Fun, avals: Sequence[ShapedArray]) -> tuple[ClosedJaxpr, Any]:
        """The program of `f` for inputs of these types, and what `f` returns beside its results."""
        invars = [Var(raise_to_shaped(aval)) for aval in avals]
        with running(self):
            outs, info = f(*(Staged(self, var) for var in invars))
            outvars = [self.atom(out) for out in outs]
        constvars = [var for var, _, _ in self.consts.values()]
        jaxpr = Jaxpr(constvars, invars, outvars, self.eqns)
        return ClosedJaxpr(jaxpr, [copy for _, _, copy in self.consts.values()]), info


def stage_tree(fun: Fun, args: Sequence[Any]) -> tuple[ClosedJaxpr, PyTreeDef]:
    """The program of `fun` for arguments like `args`, and the structure of its result."""
    leaves, in_tree = tree_flatten(tuple(args))
    return StagingInterpreter().run(
        lambda *xs: tree_flatten(fun(*tree_unflatten(in_tree, xs))), types_of(leaves)
    )


def make_jaxpr(fun: Fun) -> Fun:
    """A function that returns the program of `fun`. Counterpart: `jax.make_jaxpr`.

    >>> make_jaxpr(lambda x: lax.sin(x) * 2.0)(3.0)
    { lambda ; a:f64[]. let b:f64[] = sin a; c:f64[] = mul b 2.0:f64[] in (c,) }
    """
    return lambda *args: stage_tree(fun, args)[0]


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Run a program: every equation goes to the current interpreter."""
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
    for eqn in jaxpr.eqns:
        outs = bind(eqn.primitive, *(value_of(x, env) for x in eqn.invars), **eqn.params)
        outs = outs if eqn.primitive.multiple_results else [outs]
        env.update(zip(eqn.outvars, outs, strict=True))
    return [value_of(x, env) for x in jaxpr.outvars]


def value_of(atom: Any, env: dict[Var, Any]) -> Any:
    """What stands for an atom; a variable that has no value is a linear one."""
    return atom.val if isinstance(atom, Literal) else env.get(atom, UndefPrimal(atom.aval))


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
        """The result of one operation: recorded, if it depends on a variable of this program.

        It depends on one if any operand does. Every other operation is left to the previous
        interpreter, and so is its result.

        >>> f = lambda t: ([lax.mul(lax.cos(0.0), t)], None)
        >>> LinearInterpreter().run(f, types_of([2.0]))[0]
        { lambda ; a:f64[]. let b:f64[] = mul 1.0:f64[] a in (b,) }
        """
        raise NotImplementedError("stackless.linear_op")


def linearize_flat(f: Fun, primals: Any, in_moves: Any) -> tuple[ClosedJaxpr, list[Any]]:
    """The derivative of `f` at `primals` as a program, and the list of results of `f`.

    The program has an input for each primal that `in_moves` marks, and an output for each result
    that is a float: tangents, or zeros. Only operations on tangents are in it. `f` is called once.

    >>> program, values = linearize_flat(lambda x, y: [x * y], [3.0, 2.0], [True, False])
    >>> print(program, *values)
    { lambda ; a:f64[]. let b:f64[] = mul a 2.0:f64[] in (b,) } 6.0
    """
    raise NotImplementedError("stackless.linearize_flat")


# Transposition: a linear program, run backwards ---------------------------------------------------

transpose_rules: Rules = {}


def backward_pass(program: ClosedJaxpr, cotangents: Sequence[Any]) -> list[Any]:
    """A linear program's cotangents of inputs, from those of its outputs: a list of arrays.

    `None` is zero; an input without a cotangent gets zeros of its type. A rule is called once per
    equation, and never if its results have no cotangent; with `multiple_results` it gets a list.

    >>> program = make_jaxpr(lambda t, u: lax.mul(t, 3.0) + t)(1.0, 1.0)
    >>> backward_pass(program, [2.0])
    [Array(8., dtype=float64, weak_type=True), Array(0., dtype=float64, weak_type=True)]
    """
    raise NotImplementedError("stackless.backward_pass")


def flows_back(primitive: Primitive, *backs: Fun) -> None:
    """Say what cotangent a linear operand, an `UndefPrimal`, gets: `back(ct, *operands)`.

    One that was stretched gets the sum of the cotangents of its copies.
    """

    def rule(ct: Any, *operands: Any, **params: Any) -> list[Any]:
        linear = [isinstance(x, UndefPrimal) for x in operands]
        cts = [back(ct, *operands, **params) for back in compress(backs, linear)]
        return merge(linear, map(lax.unstretch, cts, compress(operands, linear)))

    transpose_rules[primitive] = rule


flows_back(core.neg_p, lambda ct, x: lax.neg(ct))
flows_back(core.add_p, lambda ct, x, y: ct, lambda ct, x, y: ct)
flows_back(core.sub_p, lambda ct, x, y: ct, lambda ct, x, y: lax.neg(ct))
flows_back(core.mul_p, lambda ct, x, y: lax.mul(ct, y), lambda ct, x, y: lax.mul(x, ct))
flows_back(core.div_p, lambda ct, x, y: lax.div(ct, y), lambda ct, x, y: None)
flows_back(core.dot_general_p, lax.dot_general_lhs, lax.dot_general_rhs)
flows_back(
    core.transpose_p,
    lambda ct, x, *, permutation: lax.transpose(ct, inverse_permutation(permutation)),
)
flows_back(
    core.reduce_sum_p,
    lambda ct, x, *, axes: lax.broadcast_in_dim(ct, x.aval.shape, others(x.aval.shape, axes)),
)
flows_back(
    core.broadcast_in_dim_p,
    lambda ct, x, *, shape, broadcast_dimensions: lax.reduce_sum(
        ct, others(shape, broadcast_dimensions)
    ),
)
flows_back(core.convert_element_type_p, lambda ct, x, **_: lax.convert(ct, x.aval.dtype, False))

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
    """The results of the program `jaxpr`, and their tangents: two lists.

    `None` is the tangent of what does not move, and of a result that is not a float. Two calls of
    this `name` are bound: one computes the results, the other tangents from tangents, without those
    that are `None`.

    >>> program = make_jaxpr(lambda x: x * x)(3.0)
    >>> jit_jvp([3.0], [1.0], name="f", jaxpr=program)
    ([Array(9., dtype=float64, weak_type=True)], [Array(6., dtype=float64, weak_type=True)])
    """
    raise NotImplementedError("stackless.jit_jvp")


@once
def linearized_program(program: ClosedJaxpr, in_moves: tuple[bool, ...]) -> tuple[Any, Any]:
    """A program for values and residuals, and one from residuals and tangents to tangents."""

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
    f, avals = function(program), program.in_avals
    known_avals = [aval for aval, is_linear in zip(avals, linear, strict=True) if not is_linear]

    def backwards(*inputs: Any) -> tuple[list[Any], None]:
        known, cts = inputs[: len(known_avals)], inputs[len(known_avals) :]
        recorded, _ = LinearInterpreter().run(
            lambda *ts: (f(*merge(linear, ts, known)), None), list(compress(avals, linear))
        )
        return backward_pass(recorded, cts), None

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
            raise TypeError(f"The linearized function takes {in_tree}, and was given {tree}.")
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
