"""What `nbgrader autograde` says at its end: a line for each submission that it was asked for.

Points and lateness are the gradebook's; why points were lost is in the results.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.classroom.course import people
from autograder.classroom.course.settings import Course
from autograder.classroom.intake import look_again
from autograder.classroom.intake.files import MORE
from autograder.classroom.nbgrader import gradebook
from autograder.grading import feedback
from autograder.grading.result import Result

HEAD = ("student", "points", "late", "why less", "for a person")
WIDTH = 140  # where the output is no terminal

Row = tuple[str, ...]


def rows(
    book: Any, root: Path, course: Course, assignment: str, results: Mapping[str, Sequence[Result]]
) -> Iterator[Row]:
    """The lines of the table; `results` has those of an assignment by student."""
    asked = [x for x in look_again.requests(root, course) if x.within == assignment]
    for student in sorted(results):
        try:
            found = book.find_submission(assignment, student)
        except MissingEntry:  # nbgrader has left it out, and said so
            continue
        late = gradebook.lateness_of(found.student, course)[found]
        score = max(found.score - (found.late_submission_penalty or 0.0), 0.0)
        why = next(filter(None, map(feedback.why_less, results[student])), "")
        points = f"{score:g} of {found.max_score:g}"
        again = [x.exercise for x in asked if x.student == student and not x.answer]
        wanted = [*_for_a_person(found, results[student]), *(f"look again: {x}" for x in again)]
        yield student, points, late.text, why, ", ".join(wanted)


def _for_a_person(submission: Any, results: Sequence[Result]) -> Iterator[str]:
    """What a person should look at in a submission."""
    for grade in sorted(gradebook.grades(submission), key=lambda x: x.name):
        if gradebook.is_unread(grade):
            yield grade.name
        elif grade.needs_manual_grade:
            yield f"{grade.name} once more"
    if any(MORE in remark for result in results for remark in result["remarks"]):
        yield "other files"
    if any(result.get("review") for result in results):
        yield "signs of cheating"


def show(found: Sequence[Row], absent: Sequence[str] = ()) -> None:
    """Print the table, and who has no submission.

    Where the output is no terminal, it is as wide as is usual in files.
    """
    table = Table(*HEAD, box=None, pad_edge=False, header_style="bold")
    for row in found:
        table.add_row(*(Text(cell) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    console.print(table)
    if absent:
        console.print(Text(f"No submission: {', '.join(absent)}"))


def absent(root: Path, assignment: str) -> list[str]:
    """The students of the roster of whom nothing was ever graded in an assignment."""
    known = people.roster(root).students
    return [x for x in known if not (root / "autograded" / x / assignment).is_dir()]
