"""Plain tables, after RFC 4180; and what the tables for other systems are made of."""

from collections.abc import Iterator
from typing import Any

from autograder.classroom.course.people import Roster
from autograder.classroom.course.settings import Course
from autograder.classroom.systems.system import Exports, System
from autograder.grading import result_files
from autograder.grading.result import Class
from autograder.lessons import manifest


def _table(found: Class, roster: Roster, course: Course) -> Iterator[tuple[str, bytes]]:
    parts = [f"{name}{part}" for name in found for part in ("", " maximum", " days late")]
    rows: list[list[Any]] = [["student", "name", "section", *parts, "total", "maximum"]]
    points = [results[0]["max_score"] for results in found.values()]
    late = [{r["student"]: r.get("days_late", "") for r in x} for x in found.values()]
    for student, row in cells(found, roster):
        about = roster.get(student)
        each = zip(row, points, [days.get(student, "") for days in late], strict=True)
        total = round(sum(score for score in row if score != ""), 2)
        facts = [x for part in each for x in part]
        rows.append([student, about.full_name, about.section, *facts, total, sum(points)])
    yield "grades.csv", result_files.table(rows).encode()


def cells(found: Class, roster: Roster) -> Iterator[tuple[str, list[Any]]]:
    """Every student with the scores in each lesson; a cell is empty if nothing was submitted.

    The roster's students are there as well if they have handed in nothing.
    """
    by_lesson = [{r["student"]: r["score"] for r in results} for results in found.values()]
    students = sorted({*roster.students, *(name for scores in by_lesson for name in scores)})
    for student in students:
        yield student, [scores.get(student, "") for scores in by_lesson]


def titles(found: Class) -> list[str]:
    """The titles of the assignments; of those that are not lessons, the names."""
    known = manifest.load()
    return [known[name].title if name in known else name for name in found]


SYSTEM = System(
    "csv",
    exports=Exports(
        _table,
        holds=(
            "`grades.csv`: a row for each student, with name and section; for each lesson the "
            "points, the maximum and the days late"
        ),
        use="open it in a spreadsheet",
    ),
)
