"""Transformations of your own: a jaxpr is data, and a loop over its equations can do anything.

Evaluation is such a loop; here it is again, as the pattern. Others follow: one runs a program
backwards to find its input from its result, and one drops the equations that are not needed. (One
that counts what a program costs is in `minijax/costs.py`.) None of them touches the rest of
minijax. They use only attributes of a program that JAX's jaxprs have as well, so with `jax`
for `minijax` in the imports below, this file runs on JAX.

Such a loop binds primitives and calls functions of `lax`. So it can be traced itself, and composes
with all other transformations: `jit(vmap(grad(inverse(f))))`.

The file reads from top to bottom: reading programs; evaluation; the inverse of a chain; `inverse`;
dead-code elimination.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, NoReturn

from minijax import lax, make_jaxpr

Jaxpr = Any  # minijax's or JAX's; so are the three below
Equation = Any
Atom = Any
Env = dict[Any, Any]  # what is known so far: from variables to values

# Reading programs -------------------------------------------------------------------------------


def is_variable(atom: Atom) -> bool:
    """Whether an operand is a variable, and not a literal, which carries its value."""
    return not hasattr(atom, "val")


def read(env: Env, atom: Atom) -> Any:
    """The value of an operand, or None if it is not known."""
    return env.get(atom) if is_variable(atom) else atom.val


def write(env: Env, atoms: Iterable[Atom], values: Iterable[Any]) -> None:
    """Note what is known about these variables: the values that are not None."""
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
    """The results of an equation for the operands `args`, in a list.

    If it calls a program, that is evaluated equation by equation, and so are the calls in it: a
    trace of this shows operations and no call. Any other equation is one operation, even a loop.

    >>> from minijax import jit
    >>> closed = make_jaxpr(jit(lambda x: (x * 2.0, -x)))(0.0)
    >>> print(*eval_equation(closed.eqns[0], [3.0]))
    6.0 -3.0
    >>> make_jaxpr(lambda x: eval_equation(closed.eqns[0], [x]))(0.0)
    { lambda ; a:f64[]. let b:f64[] = mul a 2.0:f64[]; c:f64[] = neg a in (b, c) }
    """
    called = called_program(eqn)
    if called:
        return eval_jaxpr(*called, args)
    results = eqn.primitive.bind(*args, **eqn.params)
    return results if eqn.primitive.multiple_results else [results]


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
    """The inverse of a function that does one thing after another to one array.

    `f` returns the type that it takes; each call to the inverse traces `f` once. Going backwards,
    the first equation with several operands (`ValueError`) or no rule (`NotImplementedError`) stops
    it, with a message that says `stops at equation N`. Errors of rules pass through.

    >>> f = lambda x: lax.exp(lax.tanh(x))
    >>> print(round(float(inverse_chain(f)(f(1.0))), 6))
    1.0
    >>> make_jaxpr(inverse_chain(lambda x: lax.exp(lax.neg(x))))(1.0)
    { lambda ; a:f64[]. let b:f64[] = log a; c:f64[] = neg b in (c,) }
    >>> inverse_chain(lambda x: lax.exp(x + 2.0))(3.0)
    Traceback (most recent call last):
    ValueError: inverse stops at equation 1, `a:f64[] = add b 2.0:f64[]`: it has 2 operands.
    """

    @functools.wraps(f)
    def f_inverse(z: Any) -> Any:
        eqns = make_jaxpr(f)(z).jaxpr.eqns
        for number, eqn in reversed(list(enumerate(eqns, start=1))):
            if len(eqn.invars) != 1:
                stop(ValueError, eqn, number, f"it has {len(eqn.invars)} operands")
            if eqn.primitive.name not in inverse_rules:
                stop(NotImplementedError, eqn, number, "its primitive has no rule in inverse_rules")
            (rule,) = inverse_rules[eqn.primitive.name]
            z = rule(z, **given_params(eqn))
        return z

    return f_inverse


# inverse: from the results to the inputs ----------------------------------------------------------


def inverse(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function that takes results of `f` to the arguments that they came from.

    `f` takes arrays and returns as many arrays of the same types, in the same order; mostly that is
    one of each. Each equation of its program must have at most one operand that is not known when
    it is undone. Constants are known, and so is what has been found, and what is computed from
    these. `NotImplementedError` says which primitive has no rule in `inverse_rules`, to which rules
    can be added; `ValueError` says which equation cannot be undone for another reason. The inverse
    of a value that `f` never returns has no meaning.
    Source: "Writing custom Jaxpr interpreters in JAX".

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
            "inverse needs a function that takes arrays and returns arrays of the same types; this "
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
    """The values of a program's inputs; None for one that cannot be found.

    `consts`, `ins` and `outs` are the values of constants, inputs and results; None is unknown. It
    finds everything that can be computed or undone from what is known, one equation after another.
    If equations that have a known result cannot be undone even then, `inverse_jaxpr` raises the
    error of one of them, with its number, counted from 1.

    >>> jaxpr = make_jaxpr(lambda x, y: (x + 1.0, lax.exp(x) * y))(1.0, 1.0).jaxpr
    >>> print(*inverse_jaxpr(jaxpr, [], [None, None], [1.0, 4.0]))
    0.0 4.0
    """
    env: Env = {}
    write(env, jaxpr.outvars, outs)
    write(env, jaxpr.constvars, consts)
    write(env, jaxpr.invars, ins)
    while True:
        known, errors = len(env), []
        for eqn in jaxpr.eqns:
            evaluate_if_known(env, eqn)
        for number, eqn in reversed(list(enumerate(jaxpr.eqns, start=1))):
            try:
                invert_if_needed(env, eqn, number)
            except (ValueError, NotImplementedError) as error:
                errors.append(error)
        if not errors:
            return [read(env, x) for x in jaxpr.invars]
        if len(env) == known:
            raise errors[0]


def evaluate_if_known(env: Env, eqn: Equation) -> None:
    """Note an equation's results in `env`, if all operands are known and not all results.

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
    args = [read(env, x) for x in eqn.invars]
    if all(x is not None for x in args) and any(read(env, v) is None for v in eqn.outvars):
        write(env, eqn.outvars, eval_equation(eqn, args))


def invert_if_needed(env: Env, eqn: Equation, number: int) -> None:
    """Find the operands of an equation, if some are not known and something of its results is.

    An equation that cannot be undone, or cannot be undone yet, raises `ValueError`, or
    `NotImplementedError` if it has no rule. If nothing is known about its results, it is left
    alone.
    """
    ins = [read(env, x) for x in eqn.invars]
    outs = [read(env, v) for v in eqn.outvars]
    if any(x is None for x in ins) and any(z is not None for z in outs):
        inverted = inverse_pmap if eqn.primitive.name == "pmap" else inverse_equation
        found = inverted(eqn, number, ins, outs)
        check_types(eqn, number, found)
        write(env, eqn.invars, found)


def check_types(eqn: Equation, number: int, found: Sequence[Any]) -> None:
    """What was found must have the operands' types; it does not if an operand was stretched."""
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
    """The operands of an equation, from what is known about them (`ins`) and its results (`outs`).

    None is unknown. What is known about a call is known about the inputs and results of its
    program.

    >>> from minijax import jit
    >>> closed = make_jaxpr(jit(lambda x, y: x * y + 1.0))(0.0, 0.0)
    >>> inverse_equation(closed.eqns[0], 1, [None, 2.0], [7.0])
    [Array(3., dtype=float64, weak_type=True), 2.0]
    """
    called = called_program(eqn)
    return inverse_jaxpr(*called, ins, outs) if called else invert(eqn, number, ins, outs)


def invert(eqn: Equation, number: int, ins: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """The operands of an equation, of which one is unknown, by its primitive's rule.

    `ins` has None for the unknown one, and `outs` are the results.

    >>> (eqn,) = make_jaxpr(lambda x, y: x - y)(0.0, 0.0).eqns
    >>> invert(eqn, 1, [None, 2.0], [5.0])
    [Array(7., dtype=float64, weak_type=True), 2.0]
    >>> invert(eqn, 1, [2.0, None], [5.0])
    [2.0, Array(-3., dtype=float64, weak_type=True)]
    >>> invert(eqn, 7, [None, None], [5.0])
    Traceback (most recent call last):
    ValueError: inverse stops at equation 7, `a:f64[] = sub b c`: 2 operands are not known.
    """
    name = eqn.primitive.name
    if name not in inverse_rules:
        stop(NotImplementedError, eqn, number, f"'{name}' has no rule in inverse_rules")
    places = [place for place, x in enumerate(ins) if x is None]
    if len(places) > 1:
        stop(ValueError, eqn, number, f"{len(places)} operands are not known")
    (place,) = places
    known = [x for x in ins if x is not None]
    value = inverse_rules[name][place](*outs, *known, **given_params(eqn))
    return [value if x is None else x for x in ins]


def inverse_pmap(eqn: Equation, number: int, ins: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """The operands of `pmap`, whose program is for one example: its inverse, mapped in turn.

    What was a result is an operand now, mapped along the same axis, and the other way around.
    (JAX's own `pmap` has become a `shard_map` within a `jit`, for which there is no rule here.)
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
    """The program for some of its results, without the equations and inputs of no use to them.

    `used_outputs` marks the results that stay, and the returned list marks the inputs that stay.
    Constants stay, and so do equations with effects; a call loses what is of no use. The old
    program does not change, and the new one has none of its caches.

    Counterpart: `jax.interpreters.partial_eval.dce_jaxpr`.

    >>> closed = make_jaxpr(lambda x, y: (lax.sin(x) * 2.0, lax.cos(y)))(1.0, 1.0)
    >>> dce_jaxpr(closed.jaxpr, [False, True])
    ({ lambda ; a:f64[]. let b:f64[] = cos a in (b,) }, [False, True])
    """
    outvars = chosen(jaxpr.outvars, used_outputs)
    live = set(filter(is_variable, outvars))
    eqns = []
    for eqn in reversed(jaxpr.eqns):
        used = [var in live for var in eqn.outvars]
        if any(used) or has_effects(eqn):
            eqns.append(thinned(eqn, used))
            live.update(filter(is_variable, eqns[-1].invars))
    used_inputs = [var in live for var in jaxpr.invars]
    invars = chosen(jaxpr.invars, used_inputs)
    return jaxpr.replace(invars=invars, outvars=outvars, eqns=eqns[::-1]), used_inputs


def chosen(items: Sequence[Any], which: Sequence[bool]) -> list[Any]:
    """The items at the places where `which` is true."""
    return [item for item, wanted in zip(items, which, strict=True) if wanted]


def has_effects(eqn: Equation) -> bool:
    """Whether an equation does something besides returning results, such as printing (in JAX)."""
    return bool(getattr(eqn, "effects", ()))


# How to thin out an equation that holds a program, given which of its results are used.
dce_rules: dict[str, Callable[[Equation, Sequence[bool]], Equation]] = {}


def thinned(eqn: Equation, used: Sequence[bool]) -> Equation:
    """The equation without what only unused results need; unchanged, if it has no rule."""
    rule = dce_rules.get(eqn.primitive.name)
    return rule(eqn, used) if rule else eqn


# Parameters with one entry for each operand, or for each result: of pmap, and of JAX's jit.
PER_OPERAND = ("in_axes", "in_shardings", "in_layouts", "donated_invars")
PER_RESULT = ("out_axes", "out_shardings", "out_layouts")


def dce_call(eqn: Equation, used_outs: Sequence[bool]) -> Equation:
    """The call for the results that are used, without what only its other results need.

    It is as sound as the given call: it can be run, and thinned out again. Parameters about
    neither operands nor results stay unchanged; a closed program stays closed, and a tuple a tuple.
    The given equation does not change.

    >>> from minijax import jit
    >>> (eqn,) = make_jaxpr(jit(lambda x, y: (lax.sin(x), lax.cos(y))))(1.0, 1.0).eqns
    >>> print(dce_call(eqn, [False, True]))
    b:f64[] = jit[
      name=<lambda>
      jaxpr={ lambda ; a:f64[]. let b:f64[] = cos a in (b,) }
    ] a
    """
    program = eqn.params["jaxpr"]
    jaxpr, used_ins = dce_jaxpr(opened(program)[0], used_outs)
    is_closed = hasattr(program, "consts")
    params = {**eqn.params, "jaxpr": program.replace(jaxpr=jaxpr) if is_closed else jaxpr}
    for keys, used in ((PER_OPERAND, used_ins), (PER_RESULT, used_outs)):
        params |= {key: tuple(chosen(params[key], used)) for key in keys if key in params}
    invars, outvars = chosen(eqn.invars, used_ins), chosen(eqn.outvars, used_outs)
    return eqn.replace(invars=invars, outvars=outvars, params=params)


dce_rules |= dict.fromkeys(("jit", "remat2", "pmap"), dce_call)
