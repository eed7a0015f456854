"""nbgrader's gradebook: what is read from it, and what follows from `course.toml` for it.

It is the one truth of grades in a course directory. Automatic points, points and comments that a
person gave, extra credit, extensions and penalties are all in it.
"""

import contextlib
import math
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.dbutil import ALEMBIC_DIR
from nbgrader.utils import compute_checksum
from sqlalchemy import Engine, event
from sqlalchemy.exc import DatabaseError, SAWarning
from traitlets.config import Application

from autograder.classroom.course.settings import Assignment, Course
from autograder.classroom.nbgrader import disk
from autograder.lessons.problem import Problem

FILE = "gradebook.db"
DAY = 86400

Penalties = dict[tuple[str, str], float]


def _without_tags(student: Any, name: str | None, *_: object) -> str | None:
    """A name as it goes into the gradebook: with other brackets instead of those of tags."""
    return name and name.replace("<", "\u2039").replace(">", "\u203a")


# formgrader's pages take a name of the class list for HTML.
for column in (api.Student.first_name, api.Student.last_name):
    event.listen(column, "set", _without_tags, retval=True)


@event.listens_for(Engine, "connect")
def _be_patient(connection: Any, _: object) -> None:
    """Wait a minute for another command that writes; nbgrader's own five seconds are few."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA busy_timeout = 60000")


def make_version_known() -> None:
    """Have the version of a new gradebook's tables looked up here.

    nbgrader starts the command `alembic` for it, which takes a second and may not be on the PATH.
    """

    def version() -> str:
        from alembic.script import ScriptDirectory

        return str(ScriptDirectory(ALEMBIC_DIR).get_current_head())

    api.get_alembic_version = version


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Any]:
    """The gradebook of a course directory."""
    make_version_known()
    try:
        with warnings.catch_warnings(), Gradebook(f"sqlite:///{folder / FILE}") as book:
            if not Application.initialized():  # else they are in nbgrader's log
                warnings.simplefilter("ignore", SAWarning)
            yield book
    except DatabaseError as error:
        raise Problem(
            disk.reason(error)
            or f"{folder / FILE} is not a gradebook that can be read and written ({error.orig}). "
            "Restore it from a backup."
        ) from None


def cells(book: Any, assignment: str) -> dict[str, set[str]]:
    """What is graded or commented on in an assignment's notebooks; none without submissions."""
    return {
        notebook.name: {x.name for x in (*notebook.grade_cells, *notebook.solution_cells)}
        for found in book.assignments
        if found.name == assignment and found.submissions
        for notebook in found.notebooks
    }


def grades(submission: Any) -> list[Any]:
    """The grades of a submission, in all of its notebooks."""
    return [grade for notebook in submission.notebooks for grade in notebook.grades]


def is_unread(grade: Any) -> bool:
    """Does an answer wait for a person, who has not given points for it yet?"""
    no_points = grade.manual_score is None and grade.auto_score is None
    return bool(grade.needs_manual_grade) and no_points


def catch_up(book: Any, assignment: Assignment, times: Mapping[str, datetime | None]) -> None:
    """Set right what `nbgrader autograde` leaves as it was.

    `times` are those of the submissions, by student: nbgrader keeps one that was taken back, and
    does not see one that was corrected to an earlier one.
    """
    for submission in book.assignment_submissions(assignment.name):
        student = submission.student.id
        submission.timestamp = times.get(student, submission.timestamp)
        for grade in grades(submission) if assignment.open else []:
            # An open task that is not begun is a failed test in formgrader if it has 0 automatic
            # points, as nbgrader gives it. Without any it counts 0 as well.
            if grade.name.endswith("-open") and grade.auto_score == 0:
                grade.auto_score = None
    book.db.commit()


# ------------------------------------------------------------------------------------------
# What course.toml says


def follow(book: Any, course: Course) -> list[str]:
    """Take due dates and points over from `course.toml`; what has changed, a sentence each."""
    changes: list[str] = []
    for found in book.assignments:
        if not (assignment := course.assignments.get(found.name)):
            continue
        if assignment.due and found.duedate != assignment.due:
            found.duedate = assignment.due
            changes.append(f"{assignment.name} is due on {course.said(assignment.due)} now.")
        changes += _follow_points(found, assignment)
    book.db.commit()
    return changes


def _follow_points(found: Any, assignment: Assignment) -> Iterator[str]:
    known = {lesson.id: assignment.cells(lesson) for lesson in assignment.lessons}
    for notebook in found.notebooks:
        for cell in notebook.grade_cells:
            points = known.get(notebook.name, {}).get(cell.name, cell.max_score)
            if points != cell.max_score:
                yield f"{assignment.name}: {cell.name} has {points:g} points now."
                cell.max_score = points
                _renew_checksum(notebook, cell.name, points)


def _renew_checksum(notebook: Any, name: str, points: float) -> None:
    """Let the checksum by which nbgrader knows a cell again fit its new points."""
    (source,) = [cell for cell in notebook.source_cells if cell.name == name]
    answer = name in [cell.name for cell in notebook.solution_cells]
    about = {"grade": True, "solution": answer, "grade_id": name, "points": points}
    cell = {"cell_type": source.cell_type, "source": source.source}
    source.checksum = compute_checksum(NotebookNode(cell, metadata=NotebookNode(nbgrader=about)))


# ------------------------------------------------------------------------------------------
# Late work


def penalties(book: Any) -> Penalties:
    """What late submissions cost now, by assignment and student."""
    found = [x for assignment in book.assignments for x in assignment.submissions]
    return {(x.name, x.student.id): x.late_submission_penalty or 0.0 for x in found}


def settle(book: Any, course: Course, before: Penalties | None = None) -> list[str]:
    """Give late submissions the penalties that `course.toml` asks for; what has changed.

    nbgrader forgets penalties when it grades again: `before` is what they were.
    """
    if course.late.percent_per_day == 0:
        return []
    changes, before = [], before or penalties(book)
    for student in book.students:
        for submission, lateness in lateness_of(student, course).items():
            old = before.get((submission.name, student.id), 0.0)
            for notebook in submission.notebooks:
                cost = lateness.share(course) * notebook.max_score
                notebook.late_submission_penalty = min(round(cost, 2), notebook.score) or None
            book.db.commit()
            new = submission.late_submission_penalty or 0.0
            if abs(new - old) > 1e-9:
                about = f"{submission.name}, {student.id}: {lateness.text or 'on time'}"
                changes.append(f"{about}; {new:g} points off instead of {old:g}.")
    return changes


@dataclass(frozen=True)
class Lateness:
    """How late a submission is, in days begun, and how much of that costs nothing."""

    days: int = 0
    free: int = 0
    extension: timedelta | None = None

    def share(self, course: Course) -> float:
        """The part of the points that it costs."""
        percent = (self.days - self.free) * course.late.percent_per_day
        return min(percent, course.late.most_percent) / 100

    @property
    def text(self) -> str:
        """What it says in words; nothing if there is nothing to say."""
        parts = [f"extension of {span_said(self.extension)}"] if self.extension else []
        parts += [f"{_count(self.days)} late"] if self.days else []
        parts += [f"{_count(self.free)} of the late days used"] if self.free else []
        return ", ".join(parts)

    def notes(self, penalty: float) -> Iterator[str]:
        """The same and what it cost, as sentences."""
        if self.text:
            yield f"{self.text[0].upper()}{self.text[1:]}."
        if penalty:
            yield f"{penalty:g} points are taken off because it was late."


def _count(number: float, unit: str = "day") -> str:
    return f"{number:g} {unit}{'s' * (number != 1)}"


def span_said(span: timedelta) -> str:
    """A span in words: in days, or in hours if these are no whole days."""
    hours = round(span.total_seconds() / 3600, 1)
    return _count(hours / 24) if hours % 24 == 0 else _count(hours, "hour")


def lateness_of(student: Any, course: Course) -> dict[Any, Lateness]:
    """By submission how late it is. Late days are used up in the order of the due dates."""
    own = [x for x in student.submissions if x.name in course.assignments]
    left, found = course.late.days, {}
    for submission in sorted(own, key=lambda x: (x.assignment.duedate or datetime.max, x.name)):
        seconds = submission.total_seconds_late - 60 * course.late.grace_minutes
        days = max(math.ceil(seconds / DAY), 0)
        free = min(days, left)
        left -= free
        found[submission] = Lateness(days, free, submission.extension)
    return found


def extend(
    folder: Path, course: Course, assignment: str, students: Sequence[str], span: timedelta
) -> list[str]:
    """Give students more time, none again with no time at all; what that changes."""
    course.get(assignment)
    with opened(folder) as book:
        changes = follow(book, course)
        require(book, assignment)
        known = {student.id for student in book.students}
        for student in students:
            if student not in known:
                raise Problem(
                    f"The gradebook has no student {student!r}. Add the class first, by "
                    "`./jaxprentice nbgrader roster FILE` or `nbgrader db student add`."
                )
            book.update_or_create_submission(assignment, student).extension = span or None
        book.db.commit()
        return [*changes, *settle(book, course)]


def require(book: Any, assignment: str) -> None:
    """Refuse an assignment that the gradebook does not have, as a new gradebook has none."""
    if assignment not in {x.name for x in book.assignments}:
        step = f"Run `nbgrader generate_assignment {assignment}` first."
        raise Problem(f"The gradebook does not have {assignment}. {step}")


# ------------------------------------------------------------------------------------------
# Groups


def share(book: Any, sources: Mapping[tuple[str, str], str]) -> list[str]:
    """Give what a person gave the one who handed in for a group to the others; what has changed.

    `sources` names that one by assignment and member.
    """
    changes = []
    for (assignment, student), source in sources.items():
        try:
            mine = book.find_submission(assignment, student)
            others = book.find_submission(assignment, source)
        except MissingEntry:
            continue
        if sum(_copy(a, b) for a, b in zip(_marks(others), _marks(mine), strict=False)):
            changes.append(f"{assignment}, {student}: the points that {source} got by hand.")
    book.db.commit()
    return changes


def _marks(submission: Any) -> list[Any]:
    """Grades and comments in a fixed order."""
    books = sorted(submission.notebooks, key=lambda x: x.name)
    marks = [sorted(part, key=lambda x: x.name) for x in books for part in (x.grades, x.comments)]
    return [mark for part in marks for mark in part]


def _copy(source: Any, goal: Any) -> bool:
    """Copy what a person wrote, where there is nothing yet."""
    names = ("manual_score", "extra_credit", "manual_comment")
    own = [x for x in names if getattr(goal, x, None) is not None]
    given = {x: value for x in names if (value := getattr(source, x, None)) is not None}
    if own or not given:
        return False
    for name, value in given.items():
        setattr(goal, name, value)
    if "manual_score" in given:
        goal.needs_manual_grade = source.needs_manual_grade
    return True
