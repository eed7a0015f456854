"""A course of one tiny lesson with a hidden suite and known mistakes, for tests of the grader."""

from pathlib import Path
from typing import Any

from autograder.grading import submission
from autograder.grading.result import Result, Verdict
from autograder.grading.task import Base, Edition, Task
from autograder.lessons import manifest, places
from autograder.sandbox import isolation

MODULE = '''"""The lesson's module."""

import numpy as np

from tiny.errors import TinyError


def double(x):
    """Twice x."""
    return 2.0 * np.asarray(x)


def mean(x):
    """The mean of x, which must not be empty."""
    if not len(x):
        raise TinyError("nothing there")
    return np.sum(x) / len(x)


def spread(x):
    """How far double and mean are from each other."""
    return double(x) - mean(x)
'''

ERRORS = '''"""The package's errors."""


class TinyError(Exception):
    """Something is wrong."""
'''

TOML = """
id = "tiny"
title = "Numbers"
module = "tiny/numbers.py"
minutes = 10
requires = []
exports = ["double", "mean", "spread", "errors from tiny"]
given = ["tiny/errors.py"]

[[exercise]]
id = "tiny.double"
title = "Double"
target = "double"
points = 3
minutes = 5
difficulty = 1
todo = "Double it."
hints = ["One.", "Two.", "Three."]

[[exercise]]
id = "tiny.mean"
title = "Mean"
target = "mean"
points = 2
minutes = 5
difficulty = 1
todo = "Take the mean."
hints = ["One.", "Two.", "Three."]

[[exercise]]
id = "tiny.spread"
title = "Spread"
target = "spread"
points = 1
minutes = 5
difficulty = 1
todo = "Subtract."
hints = ["One.", "Two.", "Three."]
after = ["tiny.double", "tiny.mean"]
"""

SUITE = '''"""The hidden suite."""

import pytest

from autograder.grading.suite import exercise, probe


@probe
def double_of(tiny, x):
    return tiny.double(x)


@probe
def mean_of(tiny, x):
    return tiny.mean(np.array(x))


@probe
def spread_of(tiny, x):
    return tiny.spread(np.array(x))


exercise("tiny.double")


@pytest.mark.parametrize("x", [1.5, -4.0, 1e30])
def test_double(student, x):
    """A number is doubled."""
    student.agrees(double_of, x)


exercise("tiny.mean")


def test_mean(student):
    """The mean of three numbers is right."""
    student.agrees(mean_of, [1.0, 2.0, 6.0])


def test_mean_of_two(student):
    """The mean of two numbers is right."""
    student.agrees(mean_of, [1.0, 2.0])


def test_mean_of_nothing(student):
    """The mean of nothing is an error."""
    student.raises(mean_of, [])


exercise("tiny.spread")


def test_spread(student):
    """The spread is right."""
    student.agrees(spread_of, [1.0, 2.0, 6.0])
'''

MISTAKES = """
exercise("tiny.double")

@mistake(name="It is squared", hints=["One.", "Two.", "Three."])
def double(x):
    return np.asarray(x) ** 2


@mistake(name="It is tripled", hints=["One.", "Two.", "Three."])
def double(x):
    return 3.0 * np.asarray(x)


exercise("tiny.mean")

@mistake(name="Divided by one less", hints=["One.", "Two.", "Three."])
def mean(x):
    if not len(x):
        raise TinyError("nothing there")
    return np.sum(x) / (len(x) - 1)


@mistake(name="The empty case is forgotten", hints=["One.", "Two.", "Three."])
def mean(x):
    return np.sum(x) / len(x)
"""

# Right answers, and a wrong one, to be added to the mistakes.
RIGHTS = """
exercise("tiny.double")

@right
def double(x):
    return np.add(x, x)


exercise("tiny.mean")

@right(style="with Python's sum")
def mean(x):
    if len(x) == 0:
        raise TinyError("empty")
    return sum(x) / float(len(x))


exercise("tiny.double")

@right
def double(x):
    return np.multiply(x, 2.0)


@mistake(fails="test_double")
def double(x):
    return np.add(x, 1.5)
"""

# Added to the suite and the manifest, they make a lesson whose module counts as a whole.
WHOLE_TOML = TOML.replace("requires = []", "requires = []\nwhole = 2")
WHOLE_SUITE = f'''{SUITE}

@probe
def all_of(tiny, x):
    x = np.array(x)
    return tiny.spread(x), tiny.mean(tiny.double(x))


exercise("tiny.whole")


def test_whole_spread(student):
    """The spread of three numbers is right."""
    student.agrees(all_of, [1.0, 2.0, 6.0])


def test_whole_spread_of_one(student):
    """The spread of one number is right."""
    student.agrees(all_of, [4.0])
'''

FILES = {
    "course/lessons/01_tiny/lesson.toml": TOML,
    "solutions/tiny/numbers.py": MODULE,
    "solutions/tiny/errors.py": ERRORS,
    "suites/tiny.py": SUITE,
    "answers/tiny.py": MISTAKES,
}


PARTS = ("course", "solutions", "suites", "answers")


def write(
    monkeypatch, root: Path, changes: dict[str, str] | None = None, lesson: str = "tiny"
) -> manifest.Lesson:
    """Write the course below `root`, make it this process's, and give its lesson."""
    for path, text in {**FILES, **(changes or {})}.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for name in PARTS:
        monkeypatch.setattr(places, name.upper(), root / name)
    return manifest.get(lesson)


def adopt(root: str) -> None:
    """Make the course below `root` the course of this process, one of a pool's."""
    for name in PARTS:
        setattr(places, name.upper(), Path(root, name))


def changed(old: str, new: str) -> bytes:
    """The reference's module with one text in place of another."""
    assert old in MODULE
    return MODULE.replace(old, new).encode()


def exercise(result: Result, name: str) -> Verdict:
    """The verdict on an exercise of the course."""
    (found,) = [e for e in result["exercises"] if e["id"] == f"tiny.{name}"]
    return found


def graded(
    lesson: manifest.Lesson,
    source: bytes | None,
    *,
    level: str | None = None,
    seed: int = 0,
    base: Base | None = None,
    expected: bool = False,
    **options: Any,
) -> Result:
    """The verdict of a module."""
    edition = Edition(lesson, isolation.choose(level), seed, expected)
    return submission.grade(Task(edition, source, base or {}), **options)
