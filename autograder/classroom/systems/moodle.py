"""Moodle: a folder for each student, or files named by the student; and its import of grades.

See mod/assign/locallib.php in its source: of a name `_` becomes a blank, so that the first `_` ends
it; a number for each participant and the kind of the submission follow.
"""

import re
from pathlib import Path
from typing import Any

from autograder.classroom.course.people import Roster
from autograder.classroom.intake.downloads import Download, Entry
from autograder.classroom.systems import tables
from autograder.classroom.systems.system import Claim, Collects, Exports, Reader, Readings, System
from autograder.grading import result_files
from autograder.grading.result import Class

_NAME = re.compile(r"(?s)((?P<who>[^_]+)_[0-9]+)_assignsubmission_(?P<kind>[a-z]+)(_(?P<file>.*))?")


def _reader(download: Download, assignment: str) -> Reader:
    def read(entry: Entry) -> Readings:
        found = _NAME.fullmatch(entry.name)
        if not found or bool(found["file"]) != entry.is_file:
            return []
        if found["kind"] != "file":  # such as a text with pictures
            return [[]]
        name = f"{found[1]}_assignsubmission_file" if entry.is_file else entry.name
        return [[Claim(found[1], ((found["who"], ("full_name",)),), name, found["file"] or "")]]

    return read


def _write(found: Class, folder: Path, roster: Roster) -> None:
    """Moodle's import of grades: the instructor chooses there what each column is."""
    rows: list[list[Any]] = [["Username", "ID number", "Email address", *tables.titles(found)]]
    for student, cells in tables.cells(found):
        about = roster.get(student)
        rows.append([student, about.lms_id, about.email, *cells])
    (folder / "moodle.csv").write_text(result_files.table(rows), encoding="utf-8", newline="")


SYSTEM = System(
    "moodle",
    Collects(
        _reader,
        example="Ada Byron_4711_assignsubmission_file/core.py",
        download="*Download all submissions*, in folders or flat",
        note=(
            "students are found by their full names, which they must not be able to change; two "
            "with the same name are left out and named"
        ),
    ),
    Exports(
        _write,
        holds="`moodle.csv`: a column for each assignment, empty where nothing was handed in",
        use=(
            "*Grades*, *Import*, *CSV file*; map the user by `Username`, `ID number` or "
            "`Email address`"
        ),
    ),
)
