"""The table exercise x class of mistakes: which hidden test meets which class in which exercise.

`hidden/classes.toml` lists the classes. A test is marked with those that it meets in its exercise,
and a test of the whole module says of each in which exercises:

    @pytest.mark.meets("zeros", "order")
    @pytest.mark.meets(nested="pure flat", twice="flat")

`hidden/suites/LESSON.classes.toml` has the rest, the classes that do not apply:

    nowhere = ["axes"]
    pure = ["order", "twice"]

`audit` sees that each test fails while the exercise is a stub; that it meets the class is for a
reader to judge.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.grading import under_pytest
from autograder.lessons import places
from autograder.lessons.manifest import Lesson

NOWHERE = "nowhere"

Table = Mapping[str, list[str]]


def classes() -> dict[str, str]:
    """The classes of mistakes, each with what it is."""
    return tomllib.loads(places.CLASSES.read_text(encoding="utf-8"))


def file_of(lesson_id: str) -> Path:
    """The file that says which classes do not apply in a lesson."""
    return places.suite(f"{lesson_id}.classes.toml")


def faults(lesson: Lesson) -> list[str]:
    """What is wrong with a lesson's table, one sentence each; nothing for a whole one."""
    path = file_of(lesson.id)
    if not path.is_file():
        return [f"{path.name} is missing. Write it, as duals.classes.toml is."]
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        return [f"{path.name} is not valid TOML: {error}."]
    return [*_faults_of_marks(lesson), *_faults_of_cells(lesson, table)]


def cells(lesson: Lesson) -> dict[str, set[str]]:
    """The tests that meet some class, by the id of the exercise."""
    found: dict[str, set[str]] = {exercise.id: set() for exercise in lesson.exercises}
    for test, _, exercise in _met(lesson):
        found[exercise].add(test)
    return found


def _met(lesson: Lesson) -> Iterator[tuple[str, str, str]]:
    """Each test with each class that it meets, and the exercise that it meets it in."""
    for test, own, mark in under_pytest.marks(under_pytest.suite_of(lesson)):
        yield from ((test, name, own) for name in mark.args)
        for name, exercises in mark.kwargs.items():
            yield from ((test, name, f"{lesson.id}.{other}") for other in exercises.split())


def _faults_of_marks(lesson: Lesson) -> Iterator[str]:
    known, exercises = classes(), {exercise.id for exercise in lesson.exercises}
    asking = {test: own for test, own, _ in under_pytest.marks(under_pytest.suite_of(lesson))}
    for test, name, exercise in _met(lesson):
        if name not in known:
            yield f"{test}: {name} is no class. Those in classes.toml are."
        if exercise not in exercises:
            yield f"{test} meets {name} in no exercise. Write {name}=EXERCISES."
        elif asking[test] not in (exercise, f"{lesson.id}.whole"):
            yield f"{test} is no test of {exercise} or of the whole module."


def _faults_of_cells(lesson: Lesson, table: Table) -> Iterator[str]:
    file, known = file_of(lesson.id).name, classes()
    exercises = [exercise.id.partition(".")[2] for exercise in lesson.exercises]
    for name in sorted({name for names in table.values() for name in names} - known.keys()):
        yield f"{file}: {name} is no class. Those in classes.toml are."
    for exercise in sorted(table.keys() - {*exercises, NOWHERE}):
        yield f"{file}: {exercise} is not an exercise of the lesson."
    met = {(name, exercise) for _, name, exercise in _met(lesson)}
    for exercise in exercises:
        without = [*table.get(NOWHERE, []), *table.get(exercise, [])]
        for name in known:
            if without.count(name) + ((name, f"{lesson.id}.{exercise}") in met) != 1:
                yield f"{exercise}: either a test meets {name}, or {file} says it does not apply."
