"""The table that `nbgrader export` writes: nbgrader's columns, in cells that are only read.

nbgrader's own puts texts between commas as they are. A name with a comma shifts the row, and a
spreadsheet computes one that begins like a formula.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from autograder.classroom.course import settings as courses
from autograder.classroom.nbgrader import directory, regrading
from autograder.classroom.nbgrader.gradebook import grades, is_unread
from autograder.grading import result_files
from autograder.lessons.problem import Problem, of_system

COLUMNS = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)


class Table(ExportPlugin):
    """A row for each student in each assignment; students without a submission have 0."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the table to the file that `--to` names, else to `grades.csv`."""
        path, folder = Path(self.to or "grades.csv"), Path(self.parent.coursedir.root)
        self._check_points(gradebook, folder)
        for sentence in _unfinished(gradebook, folder):
            self.log.warning(sentence)
        self.log.info("Exporting grades to %s", path)
        students = _wanted(gradebook.students, "id", self.student)
        found = [
            _row(gradebook, assignment, student)
            for assignment in _wanted(gradebook.assignments, "name", self.assignment)
            for student in students
        ]
        rows = [[row[column] for column in COLUMNS] for row in found]
        try:
            result_files.write_text(path, result_files.table([list(COLUMNS), *rows]))
        except OSError as error:
            self.parent.fail(of_system(error))

    def _check_points(self, gradebook: Gradebook, folder: Path) -> None:
        """End without a table if grades are of other points than `course.toml` gives now."""
        asked = {each.name for each in _wanted(gradebook.assignments, "name", self.assignment)}
        try:
            for name, assignment in courses.read(folder).assignments.items():
                if name in asked:
                    regrading.check_points(folder, assignment)
        except Problem as problem:
            self.parent.fail(str(problem))


def _unfinished(book: Gradebook, folder: Path) -> Iterator[str]:
    """What the grades of a course directory do not have yet."""
    yield from directory.waiting(folder)
    for assignment in book.assignments:
        marks = [grade for x in assignment.submissions for grade in grades(x)]
        if unread := sum(map(is_unread, marks)):
            yield f"{assignment.name}: answers not read yet, counted as 0: {unread}."


def _wanted(found: list[Any], key: str, names: list[str]) -> list[Any]:
    """Those of the names, all if there are none."""
    chosen = {str(name) for name in names}
    return [each for each in found if not chosen or getattr(each, key) in chosen]


def _row(gradebook: Gradebook, assignment: Any, student: Any) -> dict[str, Any]:
    try:
        submission = gradebook.find_submission(assignment.name, student.id)
        when, score = submission.timestamp, submission.score
        penalty = submission.late_submission_penalty or 0.0
    except MissingEntry:
        when, score, penalty = None, 0.0, 0.0
    return {
        **{name: getattr(student, name) or "" for name in ("last_name", "first_name", "email")},
        "assignment": assignment.name,
        "duedate": str(assignment.duedate or ""),
        "timestamp": str(when or ""),
        "student_id": student.id,
        "raw_score": score,
        "late_submission_penalty": penalty,
        "score": max(0.0, score - penalty),
        "max_score": assignment.max_score,
    }
