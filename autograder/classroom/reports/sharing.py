"""What `similar` does in a course directory and without one."""

from collections.abc import Iterator
from pathlib import Path

from autograder.classroom.course import settings as courses
from autograder.classroom.reports import grades, similar
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson


def find(folder: Path, name: str, out: Path | None) -> Iterator[str]:
    """Compare the submissions of a lesson or an assignment; what came of it, in sentences."""
    for lesson, sources, place in _classes(folder, name):
        found = similar.compare(sources, lesson)
        yield from similar.told(found)
        yield f"The page is {similar.write(found, out or place)}."


def _classes(folder: Path, name: str) -> Iterator[tuple[Lesson, dict[str, str], Path]]:
    course = grades.directory(folder)
    if course is None:
        lesson = manifest.get(name)
        yield lesson, similar.from_submissions(folder, lesson), folder
        return
    for assignment in courses.read(course).chosen([name]):
        for lesson in assignment.lessons:
            place = course / grades.RESULTS / assignment.name
            yield lesson, similar.from_intake(course, assignment.name, lesson), place
