"""Grades a lesson on what the students have built before it, and compares that with base credit.

For courses in which everybody builds one artefact. Both grades are made: the one on the course's
own earlier modules is in the hidden folder `.base-credit`, and the result says what it is.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.classroom import class_run, intake
from autograder.classroom.course import Assignment, Course
from autograder.classroom.intake import INTAKE
from autograder.grading import results
from autograder.grading.result import Result
from autograder.grading.submission import Base
from autograder.lessons import manifest, user_files
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem

FOLDER = ".base-credit"


def grade_folder(submissions: Path, lesson: Lesson, out: Path, **options: Any) -> None:
    """Grade every student's folder on the student's own earlier modules."""
    if options.get("scheduler"):
        raise Problem("A cluster grades on the course's own modules. Leave --scheduler out.")
    print("First on the course's own earlier modules, to compare with:")
    class_run.grade_folder(submissions, lesson, out / FOLDER, **options)
    print("Now on the students' own:")
    seed = user_files.whole_number(out / FOLDER / "seed.txt")
    own = bases(submissions, lesson)
    class_run.grade_folder(submissions, lesson, out, bases=own, **{**options, "seed": seed})
    for path in results.paths(out):
        _compare(path, out / FOLDER / path.name, own.get(path.stem, {}))


def bases(submissions: Path, lesson: Lesson) -> dict[str, Base]:
    """By student the modules of earlier lessons that were handed in; others are the course's."""
    found: dict[str, dict[str, bytes]] = {}
    for part in _before(lesson):
        for student, source, _ in intake.submissions(submissions, part):
            if source is not None:
                found.setdefault(student, {})[part.module] = source
    return dict(found)


def of_course(
    root: Path,
    course: Course,
    assignment: Assignment,
    student: str,
    modules: Mapping[str, bytes | None],
) -> dict[str, Base]:
    """By lesson of an assignment the student's own modules of the lessons before it.

    They are this submission's, else what was last graded, in the order of course.toml. {} for an
    assignment that is graded on the course's own modules.
    """
    if not assignment.own_base:
        return {}
    found: dict[str, bytes] = {}
    for other in course.assignments.values():
        for lesson in other.lessons if other != assignment else ():
            path = root.joinpath(INTAKE, student, other.name, lesson.module)
            if path.is_file():
                found[lesson.module] = user_files.content(path)
    for lesson in assignment.lessons:
        found |= {lesson.module: source} if (source := modules[lesson.id]) is not None else {}
    return {
        lesson.id: {x.module: found[x.module] for x in _before(lesson) if x.module in found}
        for lesson in assignment.lessons
    }


def _before(lesson: Lesson) -> list[Lesson]:
    return [part for part in manifest.prefix(lesson)[:-1] if part.exercises]


def compared(result: Result, credit: Result, base: Base) -> Result:
    """A result that says what it would have been on the course's own modules."""
    files = ", ".join(sorted(base)) or "none of the student's own"
    points = f"On the course's own earlier modules: {credit['score']:g} points."
    before = [note for note in result.get("notes", []) if not note.startswith(_GRADED_ON)]
    return {**result, "notes": [*before, f"{_GRADED_ON}{files}. {points}"]}


_GRADED_ON = "Graded on "


def _compare(path: Path, other: Path, base: Base) -> None:
    """Say in a result what it would have been on the course's own modules."""
    if other.exists():
        result = compared(results.read(path), results.read(other), base)
        results.write(result, path.parent)
