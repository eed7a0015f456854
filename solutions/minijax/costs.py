"""What a program costs: a walk over its equations that computes no value and counts.

Each primitive has a rule, which takes an equation and looks only at types; a program that is called
costs what its equations cost. Like `custom_interpreters.py`, this file runs on JAX's programs too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minijax import make_jaxpr
from minijax.custom_interpreters import Atom, Equation, Jaxpr, called_program, is_variable, opened


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
    """A function that returns the cost of `f` for its arguments, without running it.

    Counterpart: `jax.jit(f).lower(*args).compile().cost_analysis()`, which looks at the program
    after XLA has optimized it. `NotImplementedError` for a primitive without a rule.

    >>> from minijax import lax
    >>> cost(lambda x: lax.exp(x) * 2.0 + 1.0)(1.0)
    Cost(flops=2, transcendentals=1, bytes=48)
    """
    return lambda *args: jaxpr_cost(make_jaxpr(f)(*args).jaxpr)


def jaxpr_cost(jaxpr: Jaxpr) -> Cost:
    """The cost of a program: of all its equations together."""
    return sum(map(equation_cost, jaxpr.eqns), Cost())


def equation_cost(eqn: Equation) -> Cost:
    """The cost of one equation: by its primitive's rule, or the cost of the program it calls."""
    called = called_program(eqn)
    if called:
        return jaxpr_cost(called[0])
    return cost_rule(eqn.primitive)(eqn)


def cost_rule(primitive: Any) -> Callable[[Equation], Cost]:
    """The rule by a primitive's name; else the rule of the class it was defined with."""
    rule = cost_rules.get(primitive.name) or cost_classes.get(getattr(primitive, "cost", ""))
    if rule is None:
        raise NotImplementedError(
            f"'{primitive.name}' has no rule in cost_rules, so its cost is not known. Add one."
        )
    return rule


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
    """Bringing n elements down to m takes n - m operations."""
    return Cost(flops=size(eqn.invars[0]) - size(eqn.outvars[0]), bytes=moved(eqn))


def dot_general_cost(eqn: Equation) -> Cost:
    """A multiplication and an addition for each term of each sum, the first one too, as in XLA.

    There is one term for each combination of indices of the contracted axes.

    >>> import numpy as np
    >>> cost(lambda x, y: x @ y)(np.ones((2, 3)), np.ones((3, 5)))
    Cost(flops=60, transcendentals=0, bytes=248)
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


def repeated_cost(number: str) -> Callable[[Equation], Cost]:
    """The program of one step, or of one example, as often as the parameter `number` says."""
    return lambda eqn: jaxpr_cost(opened(eqn.params["jaxpr"])[0]) * eqn.params[number]


def cond_cost(eqn: Equation) -> Cost:
    """The branch that costs most: by its operations, or by its bytes if these are equal."""
    costs = [jaxpr_cost(opened(branch)[0]) for branch in eqn.params["branches"]]
    return max(costs, key=lambda c: (c.flops + c.transcendentals, c.bytes))


def while_cost(eqn: Equation) -> Cost:
    """Refused: how many times the loop runs depends on values."""
    raise NotImplementedError(
        "The cost of a while loop is not known before it has run. Use scan, or fori_loop with "
        "numbers that Python knows, or take the cost of the loop's body alone."
    )


# What a primitive's own `cost` may say. JAX's have none, so the names of theirs stand here.
cost_classes: dict[str, Callable[[Equation], Cost]] = {
    "movement": movement_cost,
    "elementwise": elementwise_cost,
    "transcendental": transcendental_cost,
}

MOVEMENTS = """
    all_gather all_to_all axis_index bitcast_convert_type broadcast_in_dim concatenate copy copy_p
    device_put dynamic_slice dynamic_update_slice gather iota name optimization_barrier pad ppermute
    reshape rev scatter slice split squeeze stop_gradient transpose
"""
ELEMENTWISE = """
    abs add and ceil clamp convert_element_type cumsum div eq floor ge gt is_finite le lt max min
    mul ne neg nextafter not or pmax pmin population_count psum reduce_scatter rem round select_n
    shift_left shift_right_arithmetic shift_right_logical sign square sub xor
"""
TRANSCENDENTALS = """
    acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erf_inv erfc exp exp2 expm1 log log1p
    logistic pow rsqrt sin sinh sqrt tan tanh
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
cost_rules |= dict.fromkeys(("sort", "top_k"), sort_cost)
cost_rules["scan"], cost_rules["pmap"] = repeated_cost("length"), repeated_cost("axis_size")
cost_rules["cond"] = cond_cost
cost_rules["while"] = while_cost
