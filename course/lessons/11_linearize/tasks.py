"""Checks of what lies beyond the exercises: `check linearize.open` and `linearize.repair`."""

import itertools

import numpy as np
import pytest
from checking import exercise, yours
from random_programs import SMOOTH, for_programs, numbers, results_of

import minijax.numpy as jnp
from minijax import make_jaxpr
from minijax.jaxpr import eval_jaxpr, typecheck_jaxpr
from minijax.linearize import linearize_flat


def derivative(f, *xs):
    """The program of the derivative of `f`."""
    outs = results_of(f(*xs))
    _, program = linearize_flat(lambda *xs: results_of(f(*xs)), list(xs), lambda: len(outs))
    return program


def run(program, *args):
    """The results of a program."""
    return eval_jaxpr(program.jaxpr, program.consts, *args)


def types(avals):
    """Shapes and dtypes."""
    return [(aval.shape, aval.dtype) for aval in avals]


def size(program):
    """How many bytes the constants of a program take."""
    return sum(np.asarray(x).nbytes for x in program.consts)


exercise("linearize.open")

fewer = yours("open_linearize.fewer")


@for_programs(seed="linearize.open", operations=SMOOTH, dtypes=["float64"], number=20)
def test_random_programs(f, xs, ts):
    """The derivative of a random program stays the same, and takes no more memory."""
    program = derivative(f, *xs)
    found = fewer(program)
    typecheck_jaxpr(found.jaxpr)
    assert numbers(run(found, *ts)) == numbers(run(program, *ts))
    assert types([*found.in_avals, *found.out_avals]) == types(
        [*program.in_avals, *program.out_avals]
    )
    assert size(found) <= size(program), "It keeps more numbers than before."


def sines(x):
    """Many sines in a row."""
    for _ in range(300):
        x = jnp.sin(x)
    return x


ELEMENTWISE = {
    "a sine": jnp.sin,
    "300 sines": sines,
    "a product": lambda x: jnp.sin(x) * jnp.exp(-x) * 2.0,
    "a quotient": lambda x: (x * x - 3.0) / (jnp.cos(x) + x) - x,
    "used later": lambda x: jnp.exp(y := jnp.log(x)) * y + y / 5.0 - x,
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    """One constant is left of an elementwise function, and the derivative is the same."""
    for x in (jnp.array([1.0, 2.5]), jnp.array([[0.5, 2.0, 3.0]], "float32")):
        program = derivative(ELEMENTWISE[name], x)
        found = fewer(program)
        assert len(found.consts) == 1
        assert types(found.out_avals) == types([x.aval])
        assert numbers(run(found, x)) == numbers(run(program, x))


def test_between_sums():
    """Elementwise parts before and after another operation are shortened, too."""
    x = jnp.array([1.0, 2.5])
    program = derivative(lambda x: jnp.exp(jnp.sin(jnp.sum(jnp.sin(jnp.cos(x))))), x)
    found = fewer(program)
    assert len(found.consts) < len(program.consts), "It keeps as many constants as before."
    assert numbers(run(found, x)) == numbers(run(program, x))


exercise("linearize.repair")

unzip = yours("repair_linearize.unzip")


def unzipped(f, xs, is_known):
    """A program and what `unzip` makes of it."""
    closed = make_jaxpr(f)(*xs)
    return closed, *unzip(closed, tuple(is_known))


def marked(xs, flags, wanted):
    """The values with this flag."""
    return [x for x, is_known in zip(xs, flags, strict=True) if is_known == wanted]


def waiting(closed, is_known):
    """The variables that depend on an unknown input, and how many equations do."""
    found, number = set(marked(closed.jaxpr.invars, is_known, False)), 0
    for eqn in closed.eqns:
        if not found.isdisjoint(eqn.invars):
            found.update(eqn.outvars)
            number += 1
    return found, number


def choices(xs):
    """All ways in which inputs may be known or not."""
    return itertools.product([True, False], repeat=len(xs))


@for_programs(seed="linearize.repair", operations=SMOOTH, dtypes=["float64"], number=20)
def test_together(f, xs, want):
    """The two programs of a random program compute together what it computes."""
    for is_known in choices(xs):
        _, first, second, out_known = unzipped(f, xs, is_known)
        typecheck_jaxpr(first.jaxpr)
        typecheck_jaxpr(second.jaxpr)
        outs = run(first, *marked(xs, is_known, True))
        now = iter(outs[: sum(out_known)])
        later = iter(run(second, *outs[sum(out_known) :], *marked(xs, is_known, False)))
        found = [next(now) if flag else next(later) for flag in out_known]
        assert numbers(found) == numbers(want)


@for_programs(seed="linearize.repair", operations=SMOOTH, dtypes=["float64"], number=20)
def test_all_that_can_be_done_now(f, xs):
    """The second program of a random program has only the equations that have to wait."""
    for is_known in choices(xs):
        closed, first, second, out_known = unzipped(f, xs, is_known)
        late, number = waiting(closed, is_known)
        assert len(second.eqns) == number
        assert len(first.eqns) == len(closed.eqns) - number
        assert out_known == [atom not in late for atom in closed.jaxpr.outvars]


def test_constant_outputs():
    """An output that does not depend on the inputs is known."""
    _, first, second, out_known = unzipped(lambda x, y: (x, 2.0, y), (5.0, 7.0), (True, False))
    assert out_known == [True, True, False]
    assert numbers(run(first, 5.0)) == numbers([5.0, 2.0])
    assert numbers(run(second, 7.0)) == numbers([7.0])


def test_residuals():
    """A value that the second program needs is handed over once, and nothing else is."""
    _, first, second, _ = unzipped(
        lambda x, y: jnp.sin(x * 2.0) * y + jnp.exp(y * jnp.sin(x * 2.0)), (5.0, 7.0), (True, False)
    )
    assert [len(first.out_avals), len(second.in_avals)] == [2, 3]
    assert second.consts == []
