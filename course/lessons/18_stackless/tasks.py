"""Checks of what lies beyond the exercises: `./jaxprentice check stackless.open` and `.repair`."""

import math
import random

import numpy as np
import pytest
from checking import exercise, yours
from numpy.testing import assert_allclose

from microjax.stackless import context, grad, jit, jvp, lax, vmap


def log_normal(x, mean, std):
    """The logarithm of the normal density, by Python."""
    return -0.5 * ((x - mean) / std) ** 2 - math.log(std) - 0.5 * math.log(2.0 * math.pi)


class Walk:
    """A random model: each step draws a number around some number before."""

    def __init__(self, seed, steps=5):
        chance = random.Random(seed)
        self.steps = [(chance.randrange(i + 1), chance.uniform(0.3, 2.0)) for i in range(steps)]
        self.numbers = {f"x{i}": chance.gauss(0.0, 1.0) for i in range(steps)}
        self.shuffled = chance.sample(sorted(self.numbers), steps)

    def __call__(self, x):
        """The sum of what was drawn."""
        from open_stackless import sample

        seen = [x]
        for i, (source, std) in enumerate(self.steps):
            seen.append(sample(f"x{i}", lax.sin(seen[source]) * 2.0, std + seen[0] * seen[0]))
        return sum(seen[1:], 0.0 * x)

    def expected(self, x):
        """The sum of the numbers, and how likely they are, by Python."""
        seen, total = [x, *self.numbers.values()], 0.0
        for i, (source, std) in enumerate(self.steps):
            total += log_normal(seen[i + 1], 2.0 * math.sin(seen[source]), std + x * x)
        return sum(seen[1:]), total


WALKS = [Walk(seed) for seed in range(6)]


def slope(f, x, step=1e-5):
    """A difference quotient."""
    return (f(x + step) - f(x - step)) / (2.0 * step)


exercise("stackless.open")

density = yours("open_stackless.density")
sample = yours("open_stackless.sample")


def test_random_walks():
    """The numbers are those that were given, and their density is the product of all steps'."""
    for walk in WALKS:
        assert_allclose(density(walk, walk.numbers)(0.7), walk.expected(0.7))


def test_shared_work():
    """However the numbers are divided, the logarithms add up; the inner density is asked first."""
    for walk in WALKS:
        for cut in range(6):
            inner = {name: walk.numbers[name] for name in walk.shuffled[:cut]}
            outer = {name: walk.numbers[name] for name in walk.shuffled[cut:]}
            (out, first), second = density(density(walk, inner), outer)(0.7)
            assert_allclose((out, first + second), walk.expected(0.7))
    (_, first), second = density(density(WALKS[0], WALKS[0].numbers), WALKS[1].numbers)(0.7)
    assert_allclose((first, second), (WALKS[0].expected(0.7)[1], 0.0))


def test_derivatives():
    """Derivatives by an argument and by a number are slopes."""
    for walk in WALKS:

        def by_number(y, walk=walk):
            return density(walk, {**walk.numbers, "x1": y})(0.7)[1]

        assert_allclose(grad(by_number)(0.3), slope(by_number, 0.3), rtol=1e-5)
        _, (moved, log_moved) = jvp(density(walk, walk.numbers), (0.7,), (1.0,))
        assert_allclose(log_moved, slope(lambda x, w=walk: w.expected(x)[1], 0.7), rtol=1e-5)
        assert_allclose(moved, 0.0)


def test_batches_and_compiled_programs():
    """Many numbers at once have densities of their own, in a compiled program as well."""
    walk, ys = WALKS[0], np.array([-1.0, 0.0, 2.0])

    def by_number(y):
        return density(walk, {**walk.numbers, "x0": y})(0.7)[1]

    each = [float(by_number(y)) for y in ys]
    assert_allclose(vmap(by_number)(ys), each)
    assert_allclose(jit(vmap(by_number))(ys), each)
    slopes = [float(grad(by_number)(y)) for y in ys]
    assert_allclose(jit(vmap(grad(by_number)))(ys), slopes)


def test_the_mean_explains_the_data_best():
    """Uphill along the gradient, the mean of a model comes to the mean of its data."""

    def model(mean):
        for name in data:
            sample(name, mean, 1.0)

    data, mean = {"monday": 1.0, "tuesday": 4.0, "friday": 7.0}, 0.0
    uphill = jit(grad(lambda mean: density(model, data)(mean)[1]))
    for _ in range(30):
        mean = mean + 0.2 * float(uphill(mean))
    assert_allclose(mean, 4.0)


def test_unknown_names():
    """A sample that nothing around it knows raises `ValueError`, and then everything is as it was."""
    before = context.interpreter
    for f in (lambda x: sample("y", x, 1.0), WALKS[0], density(WALKS[0], {"x0": 1.0})):
        with pytest.raises(ValueError):
            f(0.7)
    assert context.interpreter is before


exercise("stackless.repair")

depends_on = yours("repair_stackless.depends_on")


def program(seed, steps=4):
    """A random function of three numbers, and the arguments on which its result depends."""
    chance = random.Random(seed)
    plan = [(chance.randrange(3 + i), chance.randrange(3 + i)) for i in range(steps)]
    sources = [{0}, {1}, {2}]
    for a, b in plan:
        sources.append(sources[a] | sources[b])

    def f(*args):
        seen = list(args)
        for a, b in plan:
            seen.append(lax.sin(seen[a]) * seen[b] + 2.0)
        return seen[-1]

    return f, sources[-1]


PROGRAMS = [program(seed) for seed in range(8)]


def test_random_programs():
    """The result of a random program depends on what it was computed from."""
    for f, sources in PROGRAMS:
        assert depends_on(f)(0.5, 1.0, 1.5) == sources
    assert depends_on(lambda x, y: 7.0)(1.0, 2.0) == set()
    assert depends_on(lambda x, y: y)(1.0, 2.0) == {1}


def test_derivatives_inside_and_outside():
    """A derivative depends on what it is computed from, and dependence can be asked within one."""

    def slope(x, y, z):
        return jvp(lambda x: x * y + z, (x,), (1.0,))[1]

    assert depends_on(slope)(1.0, 2.0, 3.0) == {1}
    answers = []
    jvp(lambda x: answers.append(depends_on(lambda a, b: b * x)(x, 2.0)) or x, (1.0,), (1.0,))
    assert answers == [{1}]


def test_each_answer_is_about_its_own_arguments():
    """A function that is asked inside another may use the outer one's arguments."""

    def outer(x, y, z):
        for f, sources in PROGRAMS:
            answers.append(depends_on(f)(x, 2.0, z) == sources)
            answers.append(depends_on(lambda a, b: a * z)(x, y) == {0})
            answers.append(depends_on(lambda a, f=f: f(x, y, z))(1.0) == set())
        return x * y

    answers = []
    assert depends_on(outer)(1.0, 2.0, 3.0) == {0, 1}
    assert answers == [True] * 24


def test_answers_do_not_disturb():
    """Asking within a function does not change what its result depends on."""

    def f(x, y, z):
        kept = []
        depends_on(lambda a: kept.append(x * z) or a)(y)
        return kept[0]

    assert depends_on(f)(1.0, 2.0, 3.0) == {0, 2}
