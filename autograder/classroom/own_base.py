"""Grades a lesson on what the students have built before it, and compares that with base credit.

For courses in which everybody builds one artefact. Both grades are made: the one on the course's
own earlier modules is in the hidden folder `.base-credit`, and the result says what it is.
"""

from pathlib import Path
from typing import Any

from autograder.classroom import class_run, intake
from autograder.grading import results
from autograder.grading.submission import Base
from autograder.lessons import manifest
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
    seed = int((out / FOLDER / "seed.txt").read_text(encoding="utf-8"))
    own = bases(submissions, lesson)
    class_run.grade_folder(submissions, lesson, out, bases=own, **{**options, "seed": seed})
    for path in results.paths(out):
        _compare(path, out / FOLDER / path.name, own.get(path.stem, {}))


def bases(submissions: Path, lesson: Lesson) -> dict[str, Base]:
    """By student the modules of earlier lessons that were handed in; others are the course's."""
    earlier = [part for part in manifest.prefix(lesson)[:-1] if part.exercises]
    found: dict[str, dict[str, bytes]] = {}
    for part in earlier:
        for student, source, _ in intake.submissions(submissions, part):
            if source is not None:
                found.setdefault(student, {})[part.module] = source
    return dict(found)


def _compare(path: Path, other: Path, base: Base) -> None:
    """Say in a result what it would have been on the course's own modules."""
    if not other.exists():
        return
    result, credit = results.read(path), results.read(other)
    files = ", ".join(sorted(base)) or "none of the student's own"
    note = f"Graded on {files}. On the course's own earlier modules: {credit['score']:g} points."
    results.write({**result, "notes": [note]}, path.parent)
