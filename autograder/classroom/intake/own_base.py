"""Students' own modules of earlier lessons, for courses in which everybody builds one artefact."""

from collections.abc import Mapping
from pathlib import Path

from autograder.classroom.course.settings import Assignment, Course
from autograder.classroom.intake import files as intake
from autograder.classroom.intake.files import INTAKE
from autograder.grading.task import Base
from autograder.lessons import manifest, user_files
from autograder.lessons.manifest import Lesson


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
