"""Moodle: a folder for each student, or files named by the student; and its import of grades.

See mod/assign/locallib.php in its source: of a name `_` becomes a blank, so that the first `_` ends
it; a number for each participant and the kind of the submission follow. Whether first or last names
come first is a setting. With blind marking everyone's name is "Participant", in Moodle's language.
If students hand in as teams, the team's name and "-" are before it ("Default group" if none).
"""

import re
from collections.abc import Iterator
from typing import Any

from autograder.classroom.course import people
from autograder.classroom.course.people import Roster
from autograder.classroom.course.settings import Course
from autograder.classroom.intake.downloads import Download, Entry
from autograder.classroom.systems import tables
from autograder.classroom.systems.system import Claim, Collects, Exports, Reader, Readings, System
from autograder.grading import result_files
from autograder.grading.result import Class

_NAME = re.compile(
    r"(?s)(?P<person>(?P<who>[^_]+)_(?P<number>[0-9]+))"
    r"_assignsubmission_(?P<kind>[a-z]+)(_(?P<file>.*))?"
)


def _reader(download: Download, assignment: str) -> Reader:
    def read(entry: Entry) -> Readings:
        found = _NAME.fullmatch(entry.name)
        if not found or bool(found["file"]) != entry.is_file:
            return []
        person, who, number = found["person"], found["who"], found["number"]
        as_it_is = found["kind"] == "file" and not entry.is_file
        name = entry.name if as_it_is else f"{person}_assignsubmission_file"
        called = (*_names(who), (number, ("participant",)))
        return [[Claim(person, called, name, found["file"] or "", participant=number)]]

    return read


def _names(who: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names that a person may have: all of it, or what follows the name of a team."""
    parts = who.split("-")
    for first in range(len(parts)):
        name = "-".join(parts[first:])
        yield name, ("full_name",)
        yield people.in_any_order(name), ("words",)


def _table(found: Class, roster: Roster, course: Course) -> Iterator[tuple[str, bytes]]:
    """Moodle's import of grades: the instructor chooses there what each column is."""
    rows: list[list[Any]] = [["Username", "ID number", "Email address", *tables.titles(found)]]
    for student, cells in tables.cells(found, roster):
        about = roster.get(student)
        rows.append([student, about.lms_id, about.email, *cells])
    yield "moodle.csv", result_files.table(rows).encode()


SYSTEM = System(
    "moodle",
    Collects(
        _reader,
        example="Ada Byron_4711_assignsubmission_file/core.py",
        download="*Download all submissions*, in folders or flat",
        note=(
            "students are found by their full names, in either order, which they must not be able "
            "to change; the name of a team and a hyphen may come before the name. The number is "
            "the participant's in this assignment: if the roster has it as `participant`, it is "
            "enough. Without it, two people with the same name are left out, and named; "
            "[with blind marking](#blind) it is all that there is"
        ),
        unknown=(
            "If Moodle hides the names (blind marking), give the grading worksheet as --roster: it "
            "has the same numbers."
        ),
    ),
    Exports(
        _table,
        holds="`moodle.csv`: a column for each assignment, empty where nothing was submitted",
        use=(
            "*Grades*, *Import*, *CSV file*; map the user by `Username`, `ID number` or "
            "`Email address`"
        ),
    ),
)
