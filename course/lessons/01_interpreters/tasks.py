"""Checks of what lies beyond the exercises: `./jaxprentice check interpreters.open` and `.repair`."""

import random
from fractions import Fraction
from itertools import product
from math import prod

import pytest
from checking import exercise, random_program, yours

from microjax.interpreters import (
    EvalInterpreter,
    add,
    count_ops,
    current_interpreter,
    mul,
    set_interpreter,
)

DIE = {float(face): Fraction(1, 6) for face in range(1, 7)}
COIN = {-1.0: Fraction(1, 3), 1.0: Fraction(2, 3)}
EVEN = {0.0: Fraction(1, 2), 0.5: Fraction(1, 4), 2.0: Fraction(1, 4)}


def one_by_one(f, *dice):
    """The odds, from a run of `f` for each outcome."""
    found = {}
    for outcome in product(*(die.items() for die in dice)):
        value = f(*(value for value, _ in outcome))
        chance = prod((chance for _, chance in outcome), start=Fraction(1))
        found[value] = found.get(value, 0) + chance
    return found


exercise("interpreters.open")

odds = yours("open_interpreters.odds")


def test_two_dice():
    """Seven is the most likely total of two dice; no product of two is seven."""
    totals = odds(add, DIE, DIE)
    assert max(totals, key=totals.get) == 7.0
    assert totals[7.0] == Fraction(1, 6)
    assert 7.0 not in odds(mul, DIE, DIE)


def test_one_throw_used_twice():
    """A throw that is used twice is still one throw."""
    assert odds(lambda x: add(x, x), DIE) == {2 * x: Fraction(1, 6) for x in DIE}
    assert odds(lambda x: mul(x, x), COIN) == {1.0: 1}
    assert odds(lambda x, y: add(x, mul(-1.0, x)), DIE, DIE) == {0.0: 1}


def test_random_programs():
    """The odds are those that a run for each outcome finds, and add up to 1."""
    for seed in range(60):
        f = random_program(seed, 3, 6)
        dice = random.Random(seed).sample([DIE, COIN, EVEN, COIN], 3)
        assert odds(f, *dice) == one_by_one(f, *dice)
        assert sum(odds(f, *dice).values()) == 1


def test_results_of_other_kinds():
    """A program may return a die itself, or a constant, and need no dice at all."""
    assert odds(lambda x, y: y, DIE, EVEN) == EVEN
    assert odds(lambda x: 5.0, DIE) == {5.0: 1}
    assert odds(lambda: add(2.0, 3.0)) == {5.0: 1}


def test_one_run():
    """The program runs once, and its operations can be counted on the way."""
    runs = []

    def game(x, y):
        result, count = count_ops(lambda z: add(mul(z, x), y), y)
        runs.append(count)
        return result

    assert odds(game, DIE, EVEN) == one_by_one(lambda x, y: add(mul(y, x), y), DIE, EVEN)
    assert runs == [2]


def test_all_is_as_before():
    """Afterwards the interpreter that was current is current again, even if the program fails."""
    mine = EvalInterpreter()
    with set_interpreter(mine):
        odds(add, DIE, COIN)
        assert current_interpreter() is mine
        with pytest.raises(ZeroDivisionError):
            odds(lambda x: 1 // 0, DIE)
        assert current_interpreter() is mine


exercise("interpreters.repair")

affordable = yours("repair_interpreters.affordable")
cheapest = yours("repair_interpreters.cheapest")
measured = yours("repair_interpreters.measured")


def twice(x):
    return add(x, x)


def eight_times(x):
    return twice(twice(twice(x)))


def square(x):
    return mul(x, x)


PROGRAMS = [eight_times, square, twice, lambda x: x]


def test_numbers():
    """Values and counts are right, and so are the programs chosen by them."""
    assert [entry[1:] for entry in measured(PROGRAMS, 3.0)] == [
        (24.0, 3),
        (9.0, 1),
        (6.0, 1),
        (3.0, 0),
    ]
    assert cheapest(PROGRAMS[:3], 3.0) is square
    assert affordable(PROGRAMS, 3.0, 1) is square
    assert affordable([eight_times], 3.0, 2) is None


def test_between_two_measurements():
    """Whenever a measurement arrives, the interpreter that was current before is current."""
    mine = EvalInterpreter()
    with set_interpreter(mine):
        for _ in measured(PROGRAMS, 3.0):
            assert current_interpreter() is mine
        assert current_interpreter() is mine


def test_a_counter_sees_everything():
    """A counter around some of the measurements sees their operations, and those after them."""
    measurements = measured(PROGRAMS, 3.0)
    next(measurements)

    def rest(x):
        _, value, _ = next(measurements)
        return add(x, mul(value, x))

    assert count_ops(rest, 2.0) == (20.0, 3)
    assert next(measurements)[1:] == (6.0, 1)
    assert count_ops(square, 2.0) == (4.0, 1)


def test_two_measurements_by_turns():
    """Two measurements that take turns do not disturb each other."""
    before = current_interpreter()
    for one, other in zip(measured(PROGRAMS, 3.0), measured(PROGRAMS, 3.0), strict=True):
        assert one == other
        assert current_interpreter() is before
    assert current_interpreter() is before


def test_a_program_that_fails():
    """After a program that fails, everything is as it was before."""
    before = current_interpreter()
    with pytest.raises(ZeroDivisionError):
        list(measured([square, lambda x: 1 // 0], 3.0))
    assert current_interpreter() is before
