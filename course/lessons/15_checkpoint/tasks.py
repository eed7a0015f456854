"""Checks of what lies beyond the exercises: `check checkpoint.open` and `checkpoint.repair`."""

import itertools
import math

import numpy as np
import pytest
from checking import exercise, yours
from random_programs import SMOOTH, for_programs, numbers

import minijax.numpy as jnp
from minijax import grad, jvp, make_jaxpr, value_and_grad, vjp, vmap
from minijax.jaxpr import Var, inner_jaxprs
from minijax.linearize import linearize_tree

ROW = np.array([0.5, -1.0, 2.0])


def wave(x):
    """A step with one sine."""
    return 1.5 * jnp.sin(x)


def mixed(x):
    """A step with one sine, and several residuals."""
    return jnp.sin(x) + 0.1 * jnp.exp(-x * x)


def plain(step, n):
    """The loop."""

    def f(x):
        for _ in range(n):
            x = step(x)
        return x

    return f


def backwards(f):
    """The program of the gradient of the sum of `f`."""
    return make_jaxpr(grad(lambda x: jnp.sum(f(x))))(ROW).jaxpr


def arrays_alive(jaxpr):
    """How many values besides its inputs are alive at a time, at most, while a program runs."""
    last = {v: i for i, eqn in enumerate(jaxpr.eqns) for v in eqn.invars if isinstance(v, Var)}
    last |= {v: len(jaxpr.eqns) for v in jaxpr.outvars if isinstance(v, Var)}
    alive, most = set(), 0
    for i, eqn in enumerate(jaxpr.eqns):
        inside = max(map(arrays_alive, inner_jaxprs(eqn.params)), default=0)
        most = max(most, len(alive) + max(inside, len(eqn.outvars)))
        alive = {v for v in alive.union(eqn.outvars) if last.get(v, -1) > i}
    return most


def sines(jaxpr):
    """How many times a program computes a sine."""
    inside = sum(sines(inner) for eqn in jaxpr.eqns for inner in inner_jaxprs(eqn.params))
    return inside + sum(eqn.primitive.name == "sin" for eqn in jaxpr.eqns)


exercise("checkpoint.open")

long = yours("open_checkpoint.long")


@pytest.mark.parametrize("n", [1, 2, 3, 7, 32])
def test_values_and_gradients(n):
    """Values and gradients are those of the loop, for any number of steps."""
    for step in (wave, mixed):
        found, want = vjp(long(step, n), ROW), vjp(plain(step, n), ROW)
        assert numbers(found[0]) == numbers(want[0])
        assert numbers(found[1](ROW)) == numbers(want[1](ROW))


def test_other_derivatives():
    """Second derivatives, tangents and batches are those of the loop, too."""

    def answers(f):
        slope = grad(f)
        moved = [*jvp(slope, (0.5,), (2.0,)), *jvp(f, (0.5,), (2.0,))]
        return [slope(0.5), grad(slope)(0.5), *moved, vmap(slope)(ROW)]

    assert numbers(answers(long(wave, 5))) == numbers(answers(plain(wave, 5)))


@pytest.mark.parametrize("step", [wave, mixed], ids=["one residual", "several"])
def test_memory(step):
    """With twice as many steps, only one more array is alive at a time."""
    found = [arrays_alive(backwards(long(step, n))) for n in (2, 4, 8, 16, 32, 64)]
    assert found[0] <= arrays_alive(backwards(plain(step, 2))) + 2
    for few, more in itertools.pairwise(found):
        assert more <= few + 1, f"{few} arrays are alive, and {more} for twice as many steps."


def test_work():
    """A step is computed 1 + log2(n) / 2 times at most, on average."""
    for n in (2, 4, 16, 64):
        assert n <= sines(backwards(long(wave, n))) <= n * (1 + math.log2(n) / 2)


exercise("checkpoint.repair")

forgetful = yours("repair_checkpoint.forgetful")


@for_programs(seed="checkpoint.repair", operations=SMOOTH, dtypes=["float64"], results=1)
def test_random_programs(f, xs, cts):
    """Values and gradients of random programs are right."""
    found, want = vjp(forgetful(f), *xs), vjp(f, *xs)
    assert numbers(found[0]) == numbers(want[0])
    assert numbers(found[1](cts)) == numbers(want[1](cts))


def test_noise():
    """Of a product of the argument and noise, the gradient is the noise."""
    noise = np.random.default_rng(0)
    f = forgetful(lambda x: x * noise.normal(size=3))
    for _ in range(3):
        value, gradient = value_and_grad(lambda x: jnp.sum(f(x)))(ROW)
        assert numbers(jnp.sum(gradient * ROW)) == numbers(value)


def test_a_setting_that_changes():
    """A cotangent is pulled back through the function that was run."""
    settings = {"scale": 2.0}
    y, pull_back = vjp(forgetful(lambda x: jnp.sin(x) * settings["scale"]), 0.0)
    settings["scale"] = 5.0
    assert (float(y), float(pull_back(1.0)[0])) == (0.0, 2.0)


def test_second_derivatives():
    """The gradient can be differentiated again."""

    def f(x):
        return jnp.sin(jnp.sin(x) * x)

    assert numbers(grad(grad(forgetful(f)))(0.5)) == numbers(grad(grad(f))(0.5))


def test_what_is_kept():
    """Reverse mode keeps the arguments and nothing else."""
    lin = linearize_tree(forgetful(plain(wave, 10)), (ROW,), has_aux=False)
    assert sum(np.asarray(x).nbytes for x in lin.program.consts) <= ROW.nbytes
