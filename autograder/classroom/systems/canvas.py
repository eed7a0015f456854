"""Canvas: files named by the student, all in one folder; and its gradebook's table.

See lib/content_zipper.rb and lib/gradebook_importer.rb in its source. A file's name begins with the
student's name, which the student may choose, "LATE" if it was late, and two numbers, the user's and
the file's. A name can hold such numbers as well: then it can be read in several ways. What was
typed into Canvas, or handed in as an address, has the user's number alone.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.classroom.course.people import Roster
from autograder.classroom.course.settings import Course
from autograder.classroom.intake.downloads import Download, Entry
from autograder.classroom.systems import tables
from autograder.classroom.systems.system import Claim, Collects, Exports, Reader, Readings, System
from autograder.grading import result_files
from autograder.grading.result import Class

# The look-ahead finds numbers that overlap, as in x_1_2_3_core.py.
_NUMBERS = re.compile(r"(?s)(?=_(?P<id>[0-9]+)_[0-9]+_(?P<file>.+))")
_TYPED = re.compile(r"(?s)(?P<who>.+)_(?P<id>[0-9]+)_(?P<file>(?:text|link)\.html)")
_ATTEMPT = re.compile(r"(?P<stem>.+?)-(?P<number>[0-9]+)(?P<end>\.\w+)")


def _reader(download: Download, assignment: str) -> Reader:
    def read(entry: Entry) -> Readings:
        return [[claim] for claim in _claims(entry.name)] if entry.is_file else []

    return read


def _claims(name: str) -> Iterator[Claim]:
    readings = [*_NUMBERS.finditer(name)]
    if not readings and (found := _TYPED.fullmatch(name)):
        called = ((found["id"], ("lms_id", "id")),)
        yield Claim(f"{found['who'].removesuffix('_LATE')}_{found['id']}", called, name, name)
    for found in readings:
        who = name[: found.start()]
        again = _ATTEMPT.fullmatch(found["file"])
        yield Claim(
            account=f"{who.removesuffix('_LATE')}_{found['id']}",
            called=((found["id"], ("lms_id", "id")),),
            name=name,
            file=again["stem"] + again["end"] if again else found["file"],
            attempt=int(again["number"]) + 1 if again else 1,
            late=who.endswith("_LATE"),
        )


def _feedback(name: str, page: Path, several: bool) -> str:
    stem = name.rpartition(".")[0]
    return f"{stem}-{page.stem}.html" if several else f"{stem}.html"


def _table(found: Class, roster: Roster, course: Course) -> Iterator[tuple[str, bytes]]:
    """Canvas knows students by its ID, SIS ID or login; the student's id counts as the login."""
    points = [class_results[0]["max_score"] for class_results in found.values()]
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *tables.titles(found)]
    rows: list[list[Any]] = [head, ["    Points Possible", "", "", "", "", *points]]
    for student, cells in tables.cells(found, roster):
        about = roster.get(student)
        rows.append([about.full_name, about.lms_id, "", student, about.section, *cells])
    yield "canvas.csv", result_files.table(rows).encode()


SYSTEM = System(
    "canvas",
    Collects(
        _reader,
        example="byronada_12345_678_core.py",
        download="*Download Submissions*: the ZIP archive",
        note=(
            "the first number is the user's, which the roster has as `canvas id`; if there are "
            "both `core.py` and `core-1.py`, the second counts; a name that can be read in two "
            "ways is left out"
        ),
        feedback=_feedback,
    ),
    Exports(
        _table,
        holds="`canvas.csv`: the grades, as Canvas imports them",
        use=(
            "Gradebook, *Import*. Students' ids count as their SIS login, and the "
            "[roster](term.md#roster) adds names, sections and Canvas's own ids; Canvas asks which "
            "assignment is meant if it does not know a title"
        ),
    ),
)
