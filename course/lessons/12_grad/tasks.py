"""Checks of what lies beyond the exercises: `./jaxprentice check grad.open` and `grad.repair`."""

import random
from unittest.mock import patch

import numpy as np
import pytest
from checking import exercise, yours
from random_programs import SMOOTH, for_programs, numbers

import minijax.numpy as jnp
from minijax import core, grad
from minijax.core import UndefPrimal, mul_p, transpose_rules
from minijax.jaxpr import apply_equation, read
from minijax.linearize import linearize_flat

ROW = np.array([1.0, 10.0, 100.0])


exercise("grad.open")

guilty = yours("open_grad.guilty")


def each(change):
    """A way to be wrong that changes every cotangent."""
    return lambda cts: [x if x is None else change(x) for x in cts]


negative = each(lambda ct: -ct)
upside_down = each(lambda ct: np.flip(np.asarray(ct)) * 2.0 if np.ndim(ct) else ct)
# What wrong rules make of the right list of cotangents.
WAYS = {
    "the wrong sign": negative,
    "the wrong shape": each(lambda ct: np.asarray(ct)[None]),
    "an exception": lambda cts: cts[len(cts)],
    "one cotangent too many": lambda cts: [*cts, None],
    "no cotangent at all": lambda cts: [None] * len(cts),
}


def wrong(way, names):
    """The rules of these primitives, made wrong in this way."""

    def made_wrong(rule):
        return lambda *args, **params: way(rule(*args, **params))

    primitives = [getattr(core, f"{name}_p") for name in names]
    return {primitive: made_wrong(transpose_rules[primitive]) for primitive in primitives}


def linear_operations(f, xs):
    """The names of the operations in the derivative of `f` whose results are not all zero."""
    _, program = linearize_flat(lambda *xs: [f(*xs)], list(xs), lambda: 1)
    inputs = [np.linspace(0.3, 0.9, np.size(x)).reshape(np.shape(x)) for x in xs]
    env = dict(zip(program.jaxpr.constvars, program.consts, strict=True))
    env.update(zip(program.jaxpr.invars, inputs, strict=True))
    names = set()
    for eqn in program.eqns:
        (out,) = apply_equation(eqn, [read(env, atom) for atom in eqn.invars])
        env[eqn.outvars[0]] = out
        names |= {eqn.primitive.name} if np.any(np.abs(np.asarray(out)) > 1e-6) else set()
    return names


@for_programs(seed="grad.open", operations=SMOOTH, dtypes=["float64"], results=1)
def test_no_rule_is_guilty(f, xs):
    """Right rules are not found guilty."""
    assert guilty(f, *xs) == set()


@for_programs(seed="grad.guilty", operations=SMOOTH, dtypes=["float64"], results=1, number=12)
def test_one_rule_is_guilty(f, xs):
    """One wrong rule is found in a random program, whatever is wrong with it."""
    for name in linear_operations(f, xs):
        for way, make in WAYS.items():
            with patch.dict(transpose_rules, wrong(make, [name])):
                assert guilty(f, *xs) == {name}, f"The rule of {name} is wrong: {way}."


@for_programs(seed="grad.guilty", operations=SMOOTH, dtypes=["float64"], results=1, number=12)
def test_several_rules_are_guilty(f, xs):
    """All wrong rules of a random program are found."""
    names = linear_operations(f, xs)
    with patch.dict(transpose_rules, wrong(negative, names)):
        assert guilty(f, *xs) == names


def test_guilty_in_one_program():
    """A rule that forgets what was stretched is wrong only if something was."""

    def rule(ct, x, y):
        return [jnp.array(ct) * y, None] if isinstance(x, UndefPrimal) else [None, ct * x]

    with patch.dict(transpose_rules, {mul_p: rule}):
        assert guilty(lambda x: jnp.sum(x * ROW), jnp.array(2.0)) == {"mul"}
        assert guilty(lambda x: jnp.sum(x * ROW), ROW) == set()


def test_missing_and_misplaced():
    """A missing rule is guilty, and so is one whose numbers are in the wrong order."""
    with patch.dict(transpose_rules):
        del transpose_rules[mul_p]
        assert guilty(lambda x: -x * 3.0, ROW) == {"mul"}
    with patch.dict(transpose_rules, wrong(upside_down, ["transpose"])):
        assert guilty(lambda x: -x.T, np.outer(ROW, ROW)) == {"transpose"}


exercise("grad.repair")

gradient = yours("repair_grad.gradient")


def polynomial(seed):
    """A function of three arrays: some sums, differences and products, and their text."""
    rng = random.Random(seed)
    steps = [
        (
            chr(ord("d") + i),
            rng.choice("+-*"),
            *(chr(ord("a") + rng.randrange(i + 3)) for _ in "lr"),
        )
        for i in range(6)
    ]
    lines = [f"    {name} = {left} {symbol} {right}" for name, symbol, left, right in steps]
    space = {}
    exec("\n".join(["def f(a, b, c):", *lines, f"    return {steps[-1][0]}"]), space)
    return space["f"], "\n".join(lines)


def gradients(f, xs):
    """What `grad` finds."""
    return list(grad(lambda *xs: jnp.sum(f(*xs)), tuple(range(len(xs))))(*xs))


@pytest.mark.parametrize("shape", [(), (2,)], ids=["numbers", "vectors"])
def test_polynomials(shape):
    """The gradients of some polynomials are those of `grad`."""
    xs = [
        np.full(shape, x) + np.arange(int(np.prod(shape))).reshape(shape) for x in (0.5, -1.5, 2.0)
    ]
    for seed in range(30):
        f, text = polynomial(seed)
        assert numbers(gradient(f, *xs)) == numbers(gradients(f, xs)), text


def test_numbers_of_python():
    """Plain numbers have gradients, too."""
    assert numbers(gradient(lambda x, y: x * y + x - x * x, 3.0, 5.0)) == numbers([0.0, 3.0])


def test_once_each():
    """Each operation is written on the tape once, and pulled back once."""

    def doubled(x):
        for _ in range(60):
            x = x + x
        return x

    assert numbers(gradient(doubled, ROW)) == numbers([np.full(3, 2.0**60)])
