"""Results in the formats that other systems read; `systems/` has a file for each.

What students may see there is what they see in feedback: no hidden test, no expected value.
"""

from collections.abc import Iterator
from pathlib import Path

from autograder.classroom import systems
from autograder.classroom.course import people, settings
from autograder.classroom.course.people import Roster
from autograder.classroom.reports import grades
from autograder.grading import feedback, result_files
from autograder.grading.result import Class
from autograder.lessons.problem import Problem

FOLDER = "exports"


def export(
    folder: Path, format_name: str, out: Path | None = None, source: str | None = None
) -> Path:
    """Write the grades of a folder in another format, into `out` or `folder/exports/FORMAT`.

    `source` says where they are from (see `grades`).
    """
    known = systems.exporting()
    if format_name not in known:
        raise Problem(f"There is no format {format_name!r}. Give one of: {', '.join(known)}.")
    found = grades.read(folder, source)
    to = out or grades.written_to(folder, source) / FOLDER / format_name
    around = grades.directory(folder) or folder
    roster = people.roster(around)
    with result_files.made_whole(to) as new:
        for path, content in known[format_name].files(found, roster, settings.read(around)):
            (new / path).parent.mkdir(exist_ok=True)
            (new / path).write_bytes(content)
    for sentence in (*grades.waiting(folder, source), *unread(found), *strangers(found, roster)):
        print(sentence)
    return to


def strangers(found: Class, roster: Roster) -> Iterator[str]:
    """Who has grades and is not in the roster, if there is one: in a sentence."""
    students = {result["student"] for results in found.values() for result in results}
    if roster.students and (others := sorted(students - roster.students.keys())):
        yield f"Not in the roster, and written by their ids alone: {people.named(others)}."


def unread(found: Class) -> Iterator[str]:
    """Which answers count as 0 because a person has not read them yet, a sentence each."""
    for name, results in found.items():
        students: dict[str, list[str]] = {}
        for result in results:
            for verdict in filter(feedback.is_unread, result["exercises"]):
                students.setdefault(verdict["id"], []).append(result["student"])
        for exercise, who in students.items():
            named = people.named(who)
            yield f"{name}: {exercise} is not read yet, and counts as 0: {named}."
