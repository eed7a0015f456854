"""Transformations of one's own: a jaxpr is data, and a loop over its equations can do anything.

Evaluation is such a loop; here it stands once more, as the pattern. Others follow: one runs a
program backwards to find its input from its result, one drops the equations that nobody needs, and
one counts what a program costs. None of them touches the rest of minijax. What they need of a
program are attributes that JAX's jaxprs have as well, so with `jax` for `minijax` in the imports
below, this file runs on JAX.

Such a loop binds primitives and calls functions of `lax`. So it can be traced itself, and composes
with all other transformations: `jit(vmap(grad(inverse(f))))`.

The file reads from top to bottom: reading programs; evaluation; the inverse of a chain; `inverse`;
dead-code elimination; costs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NoReturn

from minijax import lax, make_jaxpr

Jaxpr = Any  # minijax's or JAX's; so are the three below
Equation = Any
Atom = Any
Env = dict[Any, Any]  # what is known so far: from variables to values

# Reading programs -------------------------------------------------------------------------------


def is_variable(atom: Atom) -> bool:
    """Whether an operand is a variable, and not a literal, which has its value with it."""
    return not hasattr(atom, "val")


def read(env: Env, atom: Atom) -> Any:
    """The value of an operand, or None if it is not known."""
    return env.get(atom) if is_variable(atom) else atom.val


def write(env: Env, atoms: Iterable[Atom], values: Iterable[Any]) -> None:
    """Note what is known of these variables: the values that are not None."""
    for atom, value in zip(atoms, values, strict=True):
        if is_variable(atom) and value is not None:
            env[atom] = value


# Where a *call primitive* keeps the program that it calls. Its operands and results are the ones of
# that program.
called_programs: dict[str, Callable[[dict[str, Any]], Any]] = {
    "jit": itemgetter("jaxpr"),
    "remat2": itemgetter("jaxpr"),
    "closed_call": itemgetter("call_jaxpr"),
    "custom_jvp_call": lambda p: p["call_jaxpr"] if "call_jaxpr" in p else p["call"].jaxpr,
    "custom_vjp_call": lambda p: p["call_jaxpr"] if "call_jaxpr" in p else p["call"].jaxpr,
}


def called_program(eqn: Equation) -> tuple[Jaxpr, Sequence[Any]] | None:
    """The program that an equation calls, and the values of its constants; None if it calls none.

    >>> from minijax import jit
    >>> print(called_program(make_jaxpr(jit(lambda x: -x))(1.0).eqns[0]))
    ({ lambda ; a:f64[]. let b:f64[] = neg a in (b,) }, [])
    >>> print(called_program(make_jaxpr(lambda x: -x)(1.0).eqns[0]))
    None
    """
    name = eqn.primitive.name
    return opened(called_programs[name](eqn.params)) if name in called_programs else None


def opened(program: Any) -> tuple[Jaxpr, Sequence[Any]]:
    """A program and the values of its constants, which a closed jaxpr holds."""
    return (program.jaxpr, program.consts) if hasattr(program, "consts") else (program, ())


# The first loop: evaluation -----------------------------------------------------------------------


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """The results of a program. Every loop over equations is a variation of this one.

    An environment holds the values of the variables. Each equation in turn reads its operands from
    it, and writes its results into it.

    >>> closed = make_jaxpr(lambda x: lax.exp(x) * 2.0)(0.0)
    >>> print(*eval_jaxpr(closed.jaxpr, closed.consts, [0.0]))
    2.0
    """
    env: Env = {}
    write(env, [*jaxpr.constvars, *jaxpr.invars], [*consts, *args])
    for eqn in jaxpr.eqns:
        write(env, eqn.outvars, eval_equation(eqn, [read(env, x) for x in eqn.invars]))
    return [read(env, x) for x in jaxpr.outvars]


def eval_equation(eqn: Equation, args: Sequence[Any]) -> Sequence[Any]:
    """The results of an equation for the operands `args`, as a list, one for each of its `outvars`.

    `called_program(eqn)` gives the program that the equation calls, and the values of its
    constants; or None, if it calls none. A program that is called is evaluated by `eval_jaxpr`, so
    that its equations come one by one, and nothing binds the call primitive. Every other primitive
    is bound, with the operands and `eqn.params`. What `bind` gives is a list already if
    `eqn.primitive.multiple_results`, and else the only result.

    >>> from minijax import jit
    >>> closed = make_jaxpr(jit(lambda x: (x * 2.0, -x)))(0.0)
    >>> print(*eval_equation(closed.eqns[0], [3.0]))
    6.0 -3.0
    >>> make_jaxpr(lambda x: eval_equation(closed.eqns[0], [x]))(0.0)
    { lambda ; a:f64[]. let b:f64[] = mul a 2.0:f64[]; c:f64[] = neg a in (b, c) }
    """
    # TODO(custom.eval_equation): evaluate the program that the equation calls, if it calls one;
    # else bind its primitive.
    raise NotImplementedError("custom.eval_equation")


# The inverse of a chain ---------------------------------------------------------------------------

# How to find an operand from the result, by primitive: one function for each operand. It is called
# with the result, then with the operands at the other places, which are known, and with
# `**given_params(eqn)`.
inverse_rules: dict[str, Sequence[Callable[..., Any]]] = {
    "neg": [lax.neg],
    "exp": [lax.log],
    "log": [lax.exp],
    "exp2": [lambda z: lax.div(lax.log(z), math.log(2.0))],
    "expm1": [lax.log1p],
    "log1p": [lax.expm1],
    "sqrt": [lax.square],
    "rsqrt": [lambda z: lax.div(1.0, lax.square(z))],
    "tanh": [lambda z: lax.mul(0.5, lax.sub(lax.log1p(z), lax.log1p(lax.neg(z))))],
    "logistic": [lambda z: lax.sub(lax.log(z), lax.log1p(lax.neg(z)))],
    "add": [lax.sub, lax.sub],
    "sub": [lax.add, lambda z, x: lax.sub(x, z)],
    "mul": [lax.div, lax.div],
    "div": [lax.mul, lambda z, x: lax.div(x, z)],
    "convert_element_type": [lambda z, **_: z],  # `check_types` refuses those that change a dtype
}


def given_params(eqn: Equation) -> dict[str, Any]:
    """The parameters that say something. (JAX's `exp` has `accuracy=None`.)"""
    return {key: value for key, value in eqn.params.items() if value is not None}


def stop(error: type[Exception], eqn: Equation, number: int, why: str) -> NoReturn:
    """Raise an error that names the equation; `number` counts from 1, in a call from 1 again."""
    raise error(f"inverse stops at equation {number}, `{' '.join(str(eqn).split())}`: {why}.")


def inverse_chain(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function that takes the result of `f` to the argument that it came from.

    `f` takes an array and gives one of the same type, so the result serves as the example argument
    for `make_jaxpr`. Its program must be a chain: each equation has one operand, the result of the
    equation before it. From the last equation to the first, the result becomes the operand. The
    primitive's rule says how: `inverse_rules` has a list with one function under its name, which is
    called with the result and with `**given_params(eqn)`.

    Where this is not possible, `stop(error, eqn, number, why)` raises the error and names the
    equation; the first one has the number 1. An equation with two or more operands is a
    `ValueError`, a primitive that is not in the table a `NotImplementedError`. That equations hang
    together is not checked; `inverse`, below, asks less of a program.

    >>> f = lambda x: lax.exp(lax.tanh(x))
    >>> print(round(float(inverse_chain(f)(f(1.0))), 6))
    1.0
    >>> make_jaxpr(inverse_chain(lambda x: lax.exp(lax.neg(x))))(1.0)
    { lambda ; a:f64[]. let b:f64[] = log a; c:f64[] = neg b in (c,) }
    >>> inverse_chain(lambda x: lax.exp(x + 2.0))(3.0)
    Traceback (most recent call last):
    ValueError: inverse stops at equation 1, `a:f64[] = add b 2.0:f64[]`: it has 2 operands.
    """
    # TODO(custom.inverse_chain): define the function of the result: trace f, walk its equations
    # from the last to the first, apply a rule at each; return that function.
    raise NotImplementedError("custom.inverse_chain")


# inverse: from the results to the inputs ----------------------------------------------------------


def inverse(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function that takes results of `f` to the arguments that they came from.

    `f` takes arrays and gives as many arrays of the same types, in the same order; mostly that is
    one of each. `f` must do with every argument one thing after another: each equation of its
    program may have one operand that is not known. Constants are known, and what is computed from
    them is. `NotImplementedError` says which primitive has no rule in `inverse_rules`, where rules
    can be added; `ValueError` says which equation cannot be undone for another reason. Values that
    `f` never gives have no meaning. Source: "Writing custom Jaxpr interpreters in JAX".

    >>> f = lambda x: lax.exp(lax.tanh(x)) * 2.0
    >>> y = f(1.0)
    >>> print(round(float(inverse(f)(y)), 6))
    1.0
    >>> make_jaxpr(inverse(lambda x: lax.exp(3.0 - x)))(1.0)
    { lambda ; a:f64[]. let b:f64[] = log a; c:f64[] = sub 3.0:f64[] b in (c,) }
    """

    @functools.wraps(f)
    def f_inverse(*outs: Any) -> Any:
        closed = make_jaxpr(f)(*outs)
        check_same_types(closed.jaxpr)
        ins = inverse_jaxpr(closed.jaxpr, closed.consts, [None] * len(outs), outs)
        check_all_found(closed.jaxpr, ins)
        return ins[0] if len(ins) == 1 else tuple(ins)

    return f_inverse


def check_same_types(jaxpr: Jaxpr) -> None:
    """Results must be like the arguments: the program was made for arguments like its results."""
    ins, outs = ([type_of(x) for x in atoms] for atoms in (jaxpr.invars, jaxpr.outvars))
    if ins != outs:
        raise ValueError(
            "inverse needs a function that takes arrays and gives arrays of the same types; this "
            f"one takes ({', '.join(ins)}) to ({', '.join(outs)})."
        )


def check_all_found(jaxpr: Jaxpr, ins: Sequence[Any]) -> None:
    """Every argument must have left a trace in the results."""
    for number, value in enumerate(ins, start=1):
        if value is None:
            raise ValueError(
                f"inverse cannot find argument {number} of {len(jaxpr.invars)}: the results do "
                "not depend on it."
            )


def type_of(atom: Atom) -> str:
    """Dtype and shape, as text: float64[3]."""
    return f"{atom.aval.dtype}[{','.join(map(str, atom.aval.shape))}]"


def inverse_jaxpr(
    jaxpr: Jaxpr, consts: Sequence[Any], ins: Sequence[Any], outs: Sequence[Any]
) -> list[Any]:
    """The values of a program's inputs, from those of its results; None stands for what is unknown.

    `consts` are the values of the constants, `ins` those of the inputs (None where it is not known)
    and `outs` those of the results. They are written into an environment, a dict, which is new in
    each call; `write` and `read` serve for that. Then there are two sweeps. The first one, from the
    first equation to the last, calls `evaluate_if_known(env, eqn)`, which computes what follows
    from the values that are known. The second one, from the last equation to the first, calls
    `invert_if_needed(env, eqn, number)`, which finds operands from results; the first equation has
    the number 1. What the environment holds for the inputs then, None for nothing, is the list that
    is returned.

    >>> jaxpr = make_jaxpr(lambda x, y: (x + 2.0) / lax.exp(y))(1.0, 1.0).jaxpr
    >>> inverse_jaxpr(jaxpr, [], [None, 0.0], [5.0])
    [Array(3., dtype=float64, weak_type=True), 0.0]
    """
    # TODO(custom.inverse_jaxpr): note what is known, sweep forward to compute, sweep backward to
    # invert, and read the inputs.
    raise NotImplementedError("custom.inverse_jaxpr")


def evaluate_if_known(env: Env, eqn: Equation) -> None:
    """Compute the results of an equation and note them, if that is possible and of use; gives None.

    It is possible if every operand has a value: `read(env, atom)` gives it, or None. It is of use
    if not every result has one yet; `env` then gets all of them. `eval_equation` computes, and
    `write` notes values. In the other cases nothing is computed, and `env` stays as it is.

    >>> (eqn,) = make_jaxpr(lambda x: x * 2.0)(0.0).eqns
    >>> env = {}
    >>> evaluate_if_known(env, eqn)
    >>> env
    {}
    >>> write(env, eqn.invars, [3.0, None])
    >>> evaluate_if_known(env, eqn)
    >>> print(read(env, eqn.outvars[0]))
    6.0
    """
    # TODO(custom.evaluate_if_known): if all operands are known and not all results are, compute the
    # results and write them into env.
    raise NotImplementedError("custom.evaluate_if_known")


def invert_if_needed(env: Env, eqn: Equation, number: int) -> None:
    """Find the operands of an equation, if some are not known and something of its results is.

    An equation of whose results nothing is known is dead code, and is left alone.
    """
    ins = [read(env, x) for x in eqn.invars]
    outs = [read(env, v) for v in eqn.outvars]
    if any(x is None for x in ins) and any(z is not None for z in outs):
        inverted = inverse_pmap if eqn.primitive.name == "pmap" else inverse_equation
        found = inverted(eqn, number, ins, outs)
        check_types(eqn, number, found)
        write(env, eqn.invars, found)


def check_types(eqn: Equation, number: int, found: Sequence[Any]) -> None:
    """What was found must have the operands' types; it has not where an operand was stretched."""
    for atom, value in zip(eqn.invars, found, strict=True):
        if value is not None and not has_type(value, atom.aval):
            stop(ValueError, eqn, number, f"its operand was {type_of(atom)}")


def has_type(value: Any, aval: Any) -> bool:
    """Whether a value has this shape and dtype; Python's numbers have the dtype that is needed."""
    got = (getattr(value, "shape", ()), getattr(value, "dtype", aval.dtype))
    return got == (aval.shape, aval.dtype)


def inverse_equation(
    eqn: Equation, number: int, ins: Sequence[Any], outs: Sequence[Any]
) -> list[Any]:
    """The operands of an equation, from its results `outs` and what is known of its operands.

    `ins` has an entry for each operand and `outs` one for each result, None where it is not known.
    `called_program(eqn)` gives the program that the equation calls, and the values of its
    constants; then `inverse_jaxpr` finds the inputs of that program, which are the operands. It
    gives None, if the equation calls no program; then `invert(eqn, number, ins, outs)` finds them,
    by the rule of the primitive. Either of the two gives the list that is returned.

    >>> from minijax import jit
    >>> closed = make_jaxpr(jit(lambda x, y: x * y + 1.0))(0.0, 0.0)
    >>> inverse_equation(closed.eqns[0], 1, [None, 2.0], [7.0])
    [Array(3., dtype=float64, weak_type=True), 2.0]
    """
    # TODO(custom.inverse_equation): invert the program that the equation calls, if it calls one;
    # else use invert.
    raise NotImplementedError("custom.inverse_equation")


def invert(eqn: Equation, number: int, ins: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """The operands of an equation, by its primitive's rule; one of them is not known.

    `ins` holds the operands, with None for the one that is looked for, and `outs` the results. The
    rule is the entry of `inverse_rules[name]` at the place of that operand, where `name` is the
    name of the primitive. It is called with the results, then the operands that are known in their
    order, and with `**given_params(eqn)`. The list that is returned is `ins` with the rule's value
    in place of the None.

    `stop(error, eqn, number, why)` raises an error that names the equation: `NotImplementedError`
    if the primitive is not in the table, which comes first, and `ValueError` if more than one
    operand is not known. `why` is a text of yours.

    >>> (eqn,) = make_jaxpr(lambda x, y: x - y)(0.0, 0.0).eqns
    >>> invert(eqn, 1, [None, 2.0], [5.0])
    [Array(7., dtype=float64, weak_type=True), 2.0]
    >>> invert(eqn, 1, [2.0, None], [5.0])
    [2.0, Array(-3., dtype=float64, weak_type=True)]
    >>> invert(eqn, 7, [None, None], [5.0])
    Traceback (most recent call last):
    ValueError: inverse stops at equation 7, `a:f64[] = sub b c`: 2 operands are not known.
    """
    # TODO(custom.invert): complain if there is no rule or more than one None; else apply the rule
    # for the place of the None.
    raise NotImplementedError("custom.invert")


def inverse_pmap(eqn: Equation, number: int, ins: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """The operands of `pmap`, whose program is for one example: its inverse, mapped in its turn.

    What was a result is an operand now, mapped along the same axis, and the other way round. (JAX's
    own `pmap` has become a `shard_map` within a `jit`, for which there is no rule here.)
    """
    from minijax import pmap  # of a later lesson: before that, no program has it in it

    jaxpr, consts = opened(eqn.params["jaxpr"])
    values, axes = [*ins, *outs], [*eqn.params["in_axes"], *eqn.params["out_axes"]]
    known = [x is not None for x in values]
    missing = [x is None for x in ins]

    def one_example(*given: Any) -> list[Any]:
        rest = iter(given)
        filled = [next(rest) if is_known else None for is_known in known]
        found = inverse_jaxpr(jaxpr, consts, filled[: len(ins)], filled[len(ins) :])
        return chosen(found, missing)

    same: dict[str, Any] = {key: eqn.params[key] for key in ("axis_name", "axis_size", "devices")}
    in_axes, out_axes = tuple(chosen(axes, known)), chosen(axes[: len(ins)], missing)
    mapped = pmap(one_example, in_axes=in_axes, out_axes=out_axes, **same)
    found = iter(mapped(*chosen(values, known)))
    return [next(found) if x is None else x for x in ins]


# Dead-code elimination --------------------------------------------------------------------------


def dce_jaxpr(jaxpr: Jaxpr, used_outputs: Sequence[bool]) -> tuple[Jaxpr, list[bool]]:
    """The program for the results in `used_outputs`, without equations and inputs of no use to it.

    Gives the program, and a list that says of each input whether it is still there. A result stays
    if `used_outputs` says so, in the order of `jaxpr.outvars`; so `chosen(items, which)` picks
    them. A variable is *live* if something that stays reads it. From the last equation to the
    first: an equation stays if one of its results is live, or if `has_effects(eqn)`. It is then
    replaced by `thinned(eqn, used)`, where `used` says of each of its results whether it is live,
    and the operands of *that* equation are live, too. (`is_variable` tells variables from
    literals.) An input stays if it is live in the end. The constants all stay.
    `jaxpr.replace(invars=..., outvars=..., eqns=...)` makes the new program, with its equations in
    the old order; the old one is not changed. Counterpart:
    `jax.interpreters.partial_eval.dce_jaxpr`.

    >>> closed = make_jaxpr(lambda x, y: (lax.sin(x) * 2.0, lax.cos(y)))(1.0, 1.0)
    >>> dce_jaxpr(closed.jaxpr, [False, True])
    ({ lambda ; a:f64[]. let b:f64[] = cos a in (b,) }, [False, True])
    """
    # TODO(custom.dce_jaxpr): from the last equation to the first, keep what is live; then make the
    # program of what was kept.
    raise NotImplementedError("custom.dce_jaxpr")


def chosen(items: Sequence[Any], which: Sequence[bool]) -> list[Any]:
    """The items at the places where `which` is true."""
    return [item for item, wanted in zip(items, which, strict=True) if wanted]


def has_effects(eqn: Equation) -> bool:
    """Whether an equation does something besides giving results, such as printing (in JAX)."""
    return bool(getattr(eqn, "effects", ()))


# How to thin out an equation that holds a program, given which of its results are used.
dce_rules: dict[str, Callable[[Equation, Sequence[bool]], Equation]] = {}


def thinned(eqn: Equation, used: Sequence[bool]) -> Equation:
    """The equation without what is needed for unused results alone; as it is, if it has no rule."""
    rule = dce_rules.get(eqn.primitive.name)
    return rule(eqn, used) if rule else eqn


# Parameters with one entry for each operand, or for each result: of pmap, and of JAX's jit.
PER_OPERAND = ("in_axes", "in_shardings", "in_layouts", "donated_invars")
PER_RESULT = ("out_axes", "out_shardings", "out_layouts")


def dce_call(eqn: Equation, used_outs: Sequence[bool]) -> Equation:
    """A call with only the results that are used, and the operands that its program then needs."""
    program = eqn.params["jaxpr"]
    jaxpr, used_ins = dce_jaxpr(opened(program)[0], used_outs)
    is_closed = hasattr(program, "consts")
    params = {**eqn.params, "jaxpr": program.replace(jaxpr=jaxpr) if is_closed else jaxpr}
    for keys, used in ((PER_OPERAND, used_ins), (PER_RESULT, used_outs)):
        params |= {key: tuple(chosen(params[key], used)) for key in keys if key in params}
    invars, outvars = chosen(eqn.invars, used_ins), chosen(eqn.outvars, used_outs)
    return eqn.replace(invars=invars, outvars=outvars, params=params)


dce_rules |= dict.fromkeys(("jit", "remat2", "pmap"), dce_call)


# Costs ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """What a program does, as XLA counts it.

    `flops`: additions, multiplications, comparisons and the like, one for each element;
    `transcendentals`: exponentials, sines, square roots, one for each element; `bytes`: what all
    equations read and write, if each goes to memory by itself (compiled programs do better).
    """

    flops: int = 0
    transcendentals: int = 0
    bytes: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.bytes + other.bytes,
        )

    def __mul__(self, times: int) -> Cost:
        return Cost(self.flops * times, self.transcendentals * times, self.bytes * times)


cost_rules: dict[str, Callable[[Equation], Cost]] = {}  # the cost of one equation, by primitive


def cost(f: Callable[..., Any]) -> Callable[..., Cost]:
    """A function that gives the cost of `f` for its arguments, without running it.

    Counterpart: `jax.jit(f).lower(*args).compile().cost_analysis()`, which looks at the program
    after XLA has optimised it. `NotImplementedError` for a primitive that is not in `cost_rules`.

    >>> cost(lambda x: lax.exp(x) * 2.0 + 1.0)(1.0)
    Cost(flops=2, transcendentals=1, bytes=48)
    """
    return lambda *args: jaxpr_cost(make_jaxpr(f)(*args).jaxpr)


def jaxpr_cost(jaxpr: Jaxpr) -> Cost:
    """The cost of a program: of all its equations together."""
    return sum(map(equation_cost, jaxpr.eqns), Cost())


def equation_cost(eqn: Equation) -> Cost:
    """The cost of one equation: by its primitive's rule, or that of the program that it calls."""
    called = called_program(eqn)
    if called:
        return jaxpr_cost(called[0])
    if eqn.primitive.name not in cost_rules:
        raise NotImplementedError(
            f"'{eqn.primitive.name}' has no rule in cost_rules, so its cost is not known. Add one."
        )
    return cost_rules[eqn.primitive.name](eqn)


def size(atom: Atom) -> int:
    """The number of elements of an operand or a result."""
    return math.prod(atom.aval.shape)


def moved(eqn: Equation) -> int:
    """The bytes of its operands and results; literals are part of the program."""
    arrays = [*filter(is_variable, eqn.invars), *eqn.outvars]
    return sum(size(x) * x.aval.dtype.itemsize for x in arrays)


def movement_cost(eqn: Equation) -> Cost:
    """Elements are only put elsewhere, or repeated."""
    return Cost(bytes=moved(eqn))


def elementwise_cost(eqn: Equation) -> Cost:
    """One operation for each element of the result."""
    return Cost(flops=size(eqn.outvars[0]), bytes=moved(eqn))


def transcendental_cost(eqn: Equation) -> Cost:
    """One call of a function such as exp for each element of the result."""
    return Cost(transcendentals=size(eqn.outvars[0]), bytes=moved(eqn))


def reduction_cost(eqn: Equation) -> Cost:
    """To bring n elements down to m takes n - m operations."""
    return Cost(flops=size(eqn.invars[0]) - size(eqn.outvars[0]), bytes=moved(eqn))


def dot_general_cost(eqn: Equation) -> Cost:
    """The cost of a product of arrays: a `Cost` with its `flops` and `bytes`.

    Each element of the result is a sum over all indices of the contracted axes, with one
    multiplication and one addition for each of them. (The first addition, to zero, counts as well,
    as XLA counts it.) `eqn.params["dimension_numbers"]` is `((of x, of y), (of x, of y))`: first
    the axes that are contracted, of the two operands, then the batch axes. An atom's shape is
    `atom.aval.shape`, `size(atom)` the number of its elements, and `moved(eqn)` the bytes.

    >>> import numpy as np
    >>> cost(lambda x, y: x @ y)(np.ones((2, 3)), np.ones((3, 5)))
    Cost(flops=60, transcendentals=0, bytes=248)
    """
    # TODO(custom.dot_general_cost): count a product and a sum for each element of the result and
    # each index of the contracted axes.
    raise NotImplementedError("custom.dot_general_cost")


def integer_pow_cost(eqn: Equation) -> Cost:
    """Repeated squaring: one product for each binary digit after the first, and each further 1."""
    exponent = abs(eqn.params["y"])
    products = max(exponent.bit_length() + exponent.bit_count() - 2, 0)
    division = int(eqn.params["y"] < 0)
    return Cost(flops=(products + division) * size(eqn.outvars[0]), bytes=moved(eqn))


def scatter_add_cost(eqn: Equation) -> Cost:
    """One addition for each element of the updates, the third operand."""
    return Cost(flops=size(eqn.invars[2]), bytes=moved(eqn))


def sort_cost(eqn: Equation) -> Cost:
    """Comparisons of a sort by merging: each element takes part in log2(n) of them."""
    length = eqn.invars[0].aval.shape[eqn.params["dimension"]]
    rounds = max(length - 1, 0).bit_length()
    return Cost(flops=size(eqn.invars[0]) * rounds, bytes=moved(eqn))


def scan_cost(eqn: Equation) -> Cost:
    """The program of one step, `length` times."""
    jaxpr, _ = opened(eqn.params["jaxpr"])
    return jaxpr_cost(jaxpr) * eqn.params["length"]


def pmap_cost(eqn: Equation) -> Cost:
    """The program of one example, on each device."""
    jaxpr, _ = opened(eqn.params["jaxpr"])
    return jaxpr_cost(jaxpr) * eqn.params["axis_size"]


def cond_cost(eqn: Equation) -> Cost:
    """The branch that costs most: by its operations, or by its bytes where these are equal."""
    costs = [jaxpr_cost(opened(branch)[0]) for branch in eqn.params["branches"]]
    return max(costs, key=lambda c: (c.flops + c.transcendentals, c.bytes))


def while_cost(eqn: Equation) -> Cost:
    """Refused: how often the loop runs depends on values."""
    raise NotImplementedError(
        "The cost of a while loop is not known before it has run. Use scan, or fori_loop with "
        "numbers that Python knows, or take the cost of the loop's body alone."
    )


# Primitives whose cost is as simple as that, by name.
MOVEMENTS = """
    all_gather axis_index broadcast_in_dim concatenate copy copy_p dynamic_slice
    dynamic_update_slice gather iota name optimization_barrier pad reshape rev scatter slice split
    squeeze stop_gradient transpose
"""
ELEMENTWISE = """
    abs add and ceil clamp convert_element_type cumsum div eq floor ge gt is_finite le lt max min
    mul ne neg not or psum rem round select_n shift_right_logical sign square sub xor
"""
TRANSCENDENTALS = """
    cos exp exp2 expm1 log log1p logistic pow rsqrt sin sqrt tanh atanh
"""
REDUCTIONS = """
    argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum
"""

cost_rules |= dict.fromkeys(MOVEMENTS.split(), movement_cost)
cost_rules |= dict.fromkeys(ELEMENTWISE.split(), elementwise_cost)
cost_rules |= dict.fromkeys(TRANSCENDENTALS.split(), transcendental_cost)
cost_rules |= dict.fromkeys(REDUCTIONS.split(), reduction_cost)
cost_rules["dot_general"] = dot_general_cost
cost_rules["integer_pow"] = integer_pow_cost
cost_rules["scatter-add"] = scatter_add_cost
cost_rules["sort"] = sort_cost
cost_rules["scan"] = scan_cost
cost_rules["pmap"] = pmap_cost
cost_rules["cond"] = cond_cost
cost_rules["while"] = while_cost
