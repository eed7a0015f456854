"""What a system says of itself: whose submissions are, and in which format it takes grades."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.classroom.course.people import Roster
from autograder.classroom.course.settings import Course, excerpt
from autograder.classroom.intake.downloads import Download, Entry
from autograder.grading import result_files
from autograder.grading.result import Class, Result, Verdict
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem

# What a person is called: texts and, for each, the columns of the roster where it is looked up. The
# first of these that the roster has at all decides; the first text that is there counts.
Called = Sequence[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True)
class Claim:
    """Whom an entry of a download belongs to, as the name of the entry says."""

    account: str  # the person in that system: one student has one
    called: Called
    name: str  # the submission in the download: what a feedback file must be called like
    file: str = ""  # what an entry that is a file was called by the student
    attempt: int = 1
    late: bool = False
    time: datetime | None = None
    participant: str = ""  # the system's number, which tells two people with the same name apart


# The people of an entry: more than one hand in as a group. An entry that is not the system's has
# no reading, and one whose name can be read in several ways has them all.
Readings = Sequence[Sequence[Claim]]
Reader = Callable[[Entry], Readings]


@dataclass(frozen=True)
class Collects:
    """How a system packs submissions. The texts are for the guide's table."""

    reader: Callable[[Download, str], Reader]  # given the assignment's name
    example: str  # how it names core.py of the student in the guide's example
    download: str
    note: str
    wrapper: str = ""  # a pattern for the folder that it puts around all, if it does
    caution: str = ""  # what `collect` says of the times in it, if they are the students' words
    times: bool = False  # does it tell the time of each submission?
    unknown: str = ""  # what it says besides of students who are not in the roster
    feedback: Callable[[str, Path, bool], str] = lambda name, page, several: f"{name}/{page.name}"


@dataclass(frozen=True)
class Exports:
    """How a system takes grades. The texts are for the guide's table."""

    files: Callable[[Class, Roster, Course], Iterator[tuple[str, bytes]]]  # by path
    holds: str
    use: str


@dataclass(frozen=True)
class System:
    """A system, under the name that the command takes."""

    name: str
    collects: Collects | None = None
    exports: Exports | None = None


# ------------------------------------------------------------------------------------------
# What several write


def of_each(
    found: Class, suffix: str, make: Callable[[Result], bytes]
) -> Iterator[tuple[str, bytes]]:
    """The file of each submission: `<lesson>/<student>.<suffix>`."""
    for result in (result for class_results in found.values() for result in class_results):
        names = (result_files.file_name(x) for x in (result["lesson"], result["student"]))
        yield f"{'/'.join(names)}.{suffix}", make(result)


def as_json(document: Any) -> bytes:
    """A document for people as well as for programs."""
    return f"{json.dumps(document, indent=1, ensure_ascii=False)}\n".encode()


def graders(found: Class, course: Course) -> Iterator[tuple[str, Lesson, str, int]]:
    """The graders that go elsewhere: name, lesson, `course.toml` and seed of each.

    Raises Problem if one would give other points than these grades have.
    """
    for name, results in found.items():
        assignment = course.assignments.get(name) or course.chosen([name])[0]
        held = {exercise["id"].partition(".")[0] for exercise in results[0]["exercises"]}
        for lesson in (lesson for lesson in assignment.lessons if lesson.id in held):
            _check_points(name, lesson, results[0])
            whose = lesson.id if assignment.is_lesson else f"{assignment.name}-{lesson.id}"
            yield whose, lesson, excerpt(course, assignment, lesson), results[0]["seed"]


def _check_points(name: str, lesson: Lesson, result: Result) -> None:
    asked = {part.id: part.points for part in lesson.graded if part.points}
    given = {x["id"]: x["max_points"] for x in result["exercises"]}
    if {key: given.get(key) for key in asked} != asked:
        raise Problem(
            f"{name} was graded with other points than course.toml gives. In a course directory "
            f"run `nbgrader autograde {name}`; without one put the course.toml beside the results."
        )


def title_of(exercise: Verdict) -> str:
    """The title of an exercise; "" if the course does not have it any more."""
    graded = (part for lesson in manifest.load().values() for part in lesson.graded)
    return next((part.title for part in graded if part.id == exercise["id"]), "")


def place_of(exercise: Verdict) -> dict[str, str]:
    """The file and line of an exercise that was handed in; {} if it has no place."""
    lesson = manifest.load().get(exercise["id"].partition(".")[0])
    if lesson is None or "line" not in exercise:
        return {}
    return {"file": lesson.module, "line": str(exercise["line"])}
