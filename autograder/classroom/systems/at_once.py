"""What a system shows as soon as something is handed in, by the course's choice.

`shows` in `course.toml` is "full" for all feedback, "counts" for points and how many hidden tests
passed, and "checks" for the visible checks alone: then the archives hold no hidden suite, no answer
and no solution of the lesson, and what counts is graded at home.
"""

from typing import Any

from autograder.classroom.course.settings import CHECKS, COUNTS
from autograder.grading import feedback
from autograder.grading.result import Result, Verdict
from autograder.lessons import assemble
from autograder.lessons.manifest import Exercise, Lesson
from autograder.student import checks

NOT_A_GRADE = (
    "These are the visible checks, which `./jaxprentice check` runs on your computer too. They are "
    "not your grade: hidden tests give that later."
)


def said(verdict: Verdict, shows: str, hints: int = 1) -> str:
    """What a student reads of an exercise at once."""
    if shows == COUNTS:
        return feedback.lines(verdict, [])[0]
    return feedback.message(verdict, [], hints)


def files(lesson: Lesson) -> dict[str, bytes]:
    """What an archive for the visible checks holds besides tool and earlier lessons, by path.

    The skeleton has the examples in docstrings.
    """
    checked_by = f"course/lessons/{lesson.folder.name}/checks.py"
    skeleton = assemble.skeleton_of(lesson).encode()
    checks_file = lesson.folder / "checks.py"
    return {checked_by: checks_file.read_bytes(), f"course/{lesson.module}": skeleton}


def checked(lesson: Lesson, source: bytes | None, reason: str) -> Result:
    """What the visible checks say of a module, as a result: an exercise has its points or none."""
    if source is None:
        missing = checks.Error("", reason, frames=())
        report = checks.Report(lesson, lesson.exercises, broken=missing)
    else:
        report = checks.run(lesson, {lesson.module: source})
    broken = report.broken.message if report.broken else ""
    remarks = [*dict.fromkeys(filter(None, [reason, broken]))]
    exercises = [_verdict(report, exercise) for exercise in lesson.exercises if exercise.points]
    return {
        "lesson": lesson.id,
        "student": "submission",
        "score": sum(x["points"] for x in exercises),
        "max_score": sum(x["max_points"] for x in exercises),
        "isolation": "none",
        "exercises": exercises,
        "remarks": remarks,
        "submission_sha256": None,
        "versions": {},
        "seed": 0,
        "seconds": 0.0,
    }


def _verdict(report: checks.Report, exercise: Exercise) -> Verdict:
    done = report.status(exercise) == checks.DONE
    message = None if done else _why(report, exercise)
    tests = [(x.test, x.passed) for x in report.of(exercise.id)] or [("checks", False)]
    return {
        "id": exercise.id,
        "points": exercise.points if done else 0.0,
        "max_points": exercise.points,
        "tests": [
            {"id": test, "passed": passed, "class": None, "message": None if passed else message}
            for test, passed in tests
        ],
        "class": None,
        "message": message,
        "misconception": None,
        "counterexample": None,
    }


def _why(report: checks.Report, exercise: Exercise) -> str:
    """Why an exercise is not done, as far as its checks say."""
    failed = report.failure(exercise)
    if failed:
        return f"This should hold: {failed.title}"
    if report.broken:
        return report.broken.message
    status = report.status(exercise)
    said = {checks.TO_DO: "is not begun", checks.NOT_RUN: "was not run"}.get(status)
    said = said or f"needs {', '.join(report.waits_for(exercise))} first"
    return f"This exercise {said}. Run `./jaxprentice check {exercise.id}`."


def marked(document: dict[str, Any], shows: str) -> dict[str, Any]:
    """A document of what was made elsewhere; that of visible checks says that it is not a grade."""
    if shows != CHECKS:
        return document
    return {**document, "output": "\n".join(filter(None, [NOT_A_GRADE, document["output"]]))}
