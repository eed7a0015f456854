"""Transformations of one's own: a jaxpr is data, and a loop over its equations can do anything.

Evaluation is such a loop; here it stands once more, as the pattern. Three others follow: one runs a
program backwards to find its input from its result, one drops the equations that nobody needs, and
one counts what a program costs. None of them touches the rest of minijax. What they need of a
program are attributes that JAX's jaxprs have as well, so with `jax` for `minijax` in the imports
below, this file runs on JAX.

Such a loop binds primitives and calls functions of `lax`. So it can be traced itself, and composes
with all other transformations: `jit(vmap(grad(inverse(f))))`.

The file reads from top to bottom: reading programs; evaluation; `inverse`; dead-code elimination;
costs.
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
    """The program that an equation calls, with the values of its constants; else None."""
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
    """The results of an equation, as a list: of the program that it calls, or of `bind`."""
    called = called_program(eqn)
    if called:
        return eval_jaxpr(*called, args)
    outs = eqn.primitive.bind(*args, **eqn.params)
    return outs if eqn.primitive.multiple_results else [outs]


# inverse: from the results to the inputs ----------------------------------------------------------

# How to find an operand from the result, by primitive: one function for each operand. It is called
# with the result, then with the operands on the other places, which are known, and with the
# parameters that are not None by keyword.
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
    "convert_element_type": [lambda z, **_: z],  # of a dtype to itself; others `invert` refuses
}


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

    `ins` holds the inputs that are known already, if any. One sweep from the first equation to the
    last computes what can be computed from known values. Another one, from the last to the first,
    inverts the equations of whose results something is known, and of whose operands not everything.
    Equations of whose results nothing is known are dead code, and left alone.
    """
    env: Env = {}
    write(env, jaxpr.outvars, outs)
    write(env, jaxpr.constvars, consts)
    write(env, jaxpr.invars, ins)
    for eqn in jaxpr.eqns:
        evaluate_if_known(env, eqn)
    for number in range(len(jaxpr.eqns), 0, -1):
        invert_if_needed(env, jaxpr.eqns[number - 1], number)
    return [read(env, x) for x in jaxpr.invars]


def evaluate_if_known(env: Env, eqn: Equation) -> None:
    """Compute the results of an equation, if its operands are known and the results are not."""
    args = [read(env, x) for x in eqn.invars]
    if all(x is not None for x in args) and any(read(env, v) is None for v in eqn.outvars):
        write(env, eqn.outvars, eval_equation(eqn, args))


def invert_if_needed(env: Env, eqn: Equation, number: int) -> None:
    """Find the operands of an equation, if some are not known and something of its results is."""
    ins = [read(env, x) for x in eqn.invars]
    outs = [read(env, v) for v in eqn.outvars]
    if any(x is None for x in ins) and any(z is not None for z in outs):
        write(env, eqn.invars, inverse_equation(eqn, number, ins, outs))


def inverse_equation(
    eqn: Equation, number: int, ins: Sequence[Any], outs: Sequence[Any]
) -> list[Any]:
    """The operands of an equation: by the program that it calls, or by its primitive's rule."""
    if eqn.primitive.name == "pmap":
        return inverse_pmap(eqn, ins, outs)
    called = called_program(eqn)
    return inverse_jaxpr(*called, ins, outs) if called else invert(eqn, number, ins, outs)


def inverse_pmap(eqn: Equation, ins: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
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


def invert(eqn: Equation, number: int, ins: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """The operands `ins`, with a value in place of the None, by the primitive's rule for the place.

    Raises the error that says why it cannot be: there is no rule, several operands are unknown, or
    the rule's value does not have the operand's type (if that one was broadcast, for example).
    """
    name = eqn.primitive.name
    if name not in inverse_rules:
        stop(NotImplementedError, eqn, number, f"'{name}' has no rule in inverse_rules")
    places = [place for place, x in enumerate(ins) if x is None]
    if len(places) > 1:
        stop(ValueError, eqn, number, "more than one of its operands depends on the arguments")
    (place,) = places
    known = [x for x in ins if x is not None]
    params = {key: value for key, value in eqn.params.items() if value is not None}
    value = inverse_rules[name][place](*outs, *known, **params)
    if not has_type(value, eqn.invars[place].aval):
        stop(ValueError, eqn, number, f"its operand was {type_of(eqn.invars[place])}")
    return [value if x is None else x for x in ins]


def has_type(value: Any, aval: Any) -> bool:
    """Whether a value has this shape and dtype; Python's numbers have the dtype that is needed."""
    got = (getattr(value, "shape", ()), getattr(value, "dtype", aval.dtype))
    return got == (aval.shape, aval.dtype)


def stop(error: type[Exception], eqn: Equation, number: int, why: str) -> NoReturn:
    """Raise an error that names the equation; `number` counts from 1, in a call from 1 again."""
    raise error(f"inverse stops at equation {number}, `{' '.join(str(eqn).split())}`: {why}.")


def chosen(items: Sequence[Any], which: Sequence[bool]) -> list[Any]:
    """The items at the places where `which` is true."""
    return [item for item, wanted in zip(items, which, strict=True) if wanted]


# Dead-code elimination --------------------------------------------------------------------------

# How to thin out an equation that holds a program, given which of its results are used.
dce_rules: dict[str, Callable[[Equation, Sequence[bool]], Equation]] = {}


def dce_jaxpr(jaxpr: Jaxpr, used_outputs: Sequence[bool]) -> tuple[Jaxpr, list[bool]]:
    """The program for the results in `used_outputs`, without equations and inputs of no use to it.

    Gives the program and, for each of its inputs, whether it is still there. Constants stay. From
    the last equation to the first: one stays if a result of it is used further down, and then its
    operands are used as well. Counterpart: `jax.interpreters.partial_eval.dce_jaxpr`.

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
            eqn = dce_rules.get(eqn.primitive.name, as_it_is)(eqn, used)
            live.update(filter(is_variable, eqn.invars))
            eqns.append(eqn)
    used_inputs = [var in live for var in jaxpr.invars]
    invars = chosen(jaxpr.invars, used_inputs)
    return jaxpr.replace(invars=invars, outvars=outvars, eqns=eqns[::-1]), used_inputs


def has_effects(eqn: Equation) -> bool:
    """Whether an equation does something besides giving results, such as printing (in JAX)."""
    return bool(getattr(eqn, "effects", ()))


def as_it_is(eqn: Equation, used: Sequence[bool]) -> Equation:
    """For a primitive without a rule."""
    return eqn


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
    """For each element of the result, a product and a sum for each contracted one.

    >>> import numpy as np
    >>> cost(lambda x, y: x @ y)(np.ones((2, 3)), np.ones((3, 5))).flops
    60
    """
    (contracted, _), _ = eqn.params["dimension_numbers"]
    terms = math.prod(eqn.invars[0].aval.shape[axis] for axis in contracted)
    return Cost(flops=2 * size(eqn.outvars[0]) * terms, bytes=moved(eqn))


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
    cos exp exp2 expm1 log log1p logistic pow rsqrt sin sqrt tanh
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
