"""The table exercise x class of mistakes: which hidden test meets which class in which exercise.

`hidden/classes.toml` lists the classes. `hidden/suites/LESSON.classes.toml` has the cells:

    nowhere = ["weak_type", "axes"]

    [another_box]
    lift = ["test_own_boxes", "test_whole_nested"]
    "does not apply" = ["add_rule", "mul_rule"]

`nowhere` has the classes that apply to no exercise of the lesson, whose name the exercises are
written without. A test must be of that exercise, or of the whole module. `audit` sees that each
fails while the exercise is a stub; that it meets the class is for a reader to judge.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.grading import under_pytest
from autograder.lessons import places
from autograder.lessons.manifest import Lesson

NOWHERE = "nowhere"
NOT_HERE = "does not apply"

Table = Mapping[str, Any]


def classes() -> dict[str, str]:
    """The classes of mistakes, each with what it is."""
    return tomllib.loads(places.CLASSES.read_text(encoding="utf-8"))


def file_of(lesson_id: str) -> Path:
    """The file that holds a lesson's cells."""
    return places.SUITES / f"{lesson_id}.classes.toml"


def faults(lesson: Lesson) -> list[str]:
    """What is wrong with a lesson's table, one sentence each; nothing for a whole one."""
    path = file_of(lesson.id)
    if not path.is_file():
        return [f"{path.name} is missing. Write it, as duals.classes.toml is."]
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        return [f"{path.name} is not valid TOML: {error}."]
    return [f"{path.name}: {text}" for text in _faults(lesson, table)]


def cells(lesson: Lesson) -> dict[str, set[str]]:
    """The tests that a lesson's table names, by the id of the exercise."""
    table = tomllib.loads(file_of(lesson.id).read_text(encoding="utf-8"))
    found: dict[str, set[str]] = {exercise.id: set() for exercise in lesson.exercises}
    for name in classes():
        for exercise, tests in table.get(name, {}).items():
            if exercise != NOT_HERE:
                found[f"{lesson.id}.{exercise}"].update(tests)
    return found


def _faults(lesson: Lesson, table: Table) -> Iterator[str]:
    nowhere = table.get(NOWHERE, [])
    known = classes()
    for name in sorted({*table, *nowhere} - {*known, NOWHERE}):
        yield f"{name} is no class. Those in classes.toml are."
    for name in known:
        if (name in nowhere) == (name in table):
            yield f"{name} should have a table, or be in `{NOWHERE}`."
        elif name in table:
            yield from _faults_of_class(lesson, name, table[name])


def _faults_of_class(lesson: Lesson, name: str, row: Table) -> Iterator[str]:
    exercises = [exercise.id.partition(".")[2] for exercise in lesson.exercises]
    asking = _asking(lesson)
    for exercise in exercises:
        if (exercise in row) == (exercise in row.get(NOT_HERE, [])):
            yield f"{name}: {exercise} should have tests, or be in `{NOT_HERE}`."
    for exercise in sorted({*row, *row.get(NOT_HERE, [])} - {*exercises, NOT_HERE}):
        yield f"{name}: {exercise} is no exercise of the lesson."
    for exercise in exercises:
        if not row.get(exercise, True):
            yield f"{name}: {exercise} has an empty cell."
        for test in row.get(exercise, []):
            if asking.get(test) not in (f"{lesson.id}.{exercise}", f"{lesson.id}.whole"):
                yield f"{name}: {test} is no test of {exercise} or of the whole module."


def _asking(lesson: Lesson) -> dict[str, str]:
    """What each test of the suite asks for; a test of several cases is one."""
    collected = under_pytest.collect(under_pytest.suite_of(lesson))
    return {test.partition("[")[0]: part for part, tests in collected.items() for test in tests}
