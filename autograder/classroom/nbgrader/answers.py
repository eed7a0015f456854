"""The answers of a class by question: all that was handed in for an exercise, equal ones together.

They are the intake's, in the cells that formgrader shows; points and comments are the gradebook's.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry, SubmittedNotebook
from sqlalchemy.orm import joinedload, selectinload

from autograder.classroom.course import notebooks
from autograder.classroom.course.settings import Assignment, cell_name
from autograder.classroom.intake import answers as handed_in
from autograder.classroom.intake.files import INTAKE
from autograder.classroom.nbgrader.results import results_folder
from autograder.grading import feedback, result_files
from autograder.grading.result import Verdict
from autograder.lessons import user_files
from autograder.lessons.manifest import Lesson


@dataclass(frozen=True)
class Part:
    """What is read as one: an exercise, a written question or an open task of an assignment."""

    id: str  # "jvp.mul_rule", "jvp.question"
    title: str
    lesson: Lesson
    by_hand: bool  # does a person alone give the points?

    @property
    def cell(self) -> str:
        """The name of its grade cell."""
        return cell_name(self.id)

    @property
    def shown(self) -> str:
        """The name of the cell that shows the answer, and that comments belong to."""
        return self.cell if self.by_hand else self.cell + notebooks.CODE


def parts(assignment: Assignment) -> list[Part]:
    """What there is to read in an assignment, in the order of its notebooks."""
    found = []
    for lesson in assignment.lessons:
        found += [Part(e.id, e.title, lesson, False) for e in lesson.exercises if e.points]
        if lesson.question and assignment.question:
            found.append(Part(f"{lesson.id}.question", "The written question", lesson, True))
        if lesson.id in assignment.open:
            found.append(Part(f"{lesson.id}.open", "The open task", lesson, True))
    return found


@dataclass
class Handed:
    """One student's answer in the gradebook."""

    student: str
    grade: Any
    comment: Any

    @property
    def lines(self) -> list[str]:
        """The lines of what a person has said about it."""
        return (self.comment.manual_comment or "").splitlines()

    @property
    def is_read(self) -> bool:
        """Has a person given points or a comment?"""
        return self.grade.manual_score is not None or bool(self.lines)


@dataclass
class Answer:
    """Equal answers: the text, who gave it, and what the hidden tests say of it."""

    key: str
    text: str
    who: list[Handed] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def is_read(self) -> bool:
        """Has a person read all of them?"""
        return all(each.is_read for each in self.who)


def is_graded(root: Path, assignment: Assignment) -> bool:
    """Has anything of an assignment been graded?"""
    return any((root / "autograded").glob(f"*/{assignment.name}"))


def of_class(
    everyone: Iterable[Handed], root: Path, assignment: Assignment, part: Part
) -> list[Answer]:
    """The different answers that these have given to a part, the most frequent first."""
    found: dict[str, Answer] = {}
    released = _cells(root / "release" / assignment.name / f"{part.lesson.id}.ipynb")
    for each in everyone:
        place = root / INTAKE / each.student / assignment.name / f"{part.lesson.id}.ipynb"
        text = _cells(place).get(part.shown, "")
        if text in ("", released.get(part.shown)):
            continue
        key = _key(text)
        answer = found.setdefault(key, Answer(key, text))
        answer.who.append(each)
        answer.said += _said(root, assignment, part, each.student, answer.said)
    return sorted(found.values(), key=lambda x: (-len(x.who), x.who[0].student))


def handed(book: Any, assignment: Assignment, part: Part) -> Iterator[Handed]:
    """Every student's grade and comment for a part, by student."""
    place = part.lesson.id, assignment.name
    try:
        cell = book.find_grade_cell(part.cell, *place).id
        shown = book.find_solution_cell(part.shown, *place).id
    except MissingEntry:
        return
    for student, notebook in _notebooks(book, *place):
        grades = [x for x in notebook.grades if x.cell_id == cell]
        comments = [x for x in notebook.comments if x.cell_id == shown]
        if grades and comments:
            yield Handed(student, grades[0], comments[0])


def grade(book: Any, assignment: Assignment, part: Part, student: str) -> Any:
    """A student's grade for a part; None if the gradebook has none."""
    try:
        return book.find_grade(part.cell, part.lesson.id, assignment.name, student)
    except MissingEntry:
        return None


@lru_cache(maxsize=1)  # the list of questions has the parts of a lesson one after the other
def _notebooks(book: Any, lesson: str, assignment: str) -> list[tuple[str, Any]]:
    """Every student with the notebook of a part's lesson: in four queries, whatever the class."""
    found = book.db.query(SubmittedNotebook).options(
        selectinload(SubmittedNotebook.grades),
        selectinload(SubmittedNotebook.comments),
        joinedload(SubmittedNotebook.assignment),
    )
    number = book.find_notebook(lesson, assignment).id
    own = found.filter(SubmittedNotebook.notebook_id == number).all()
    return sorted(((x.assignment.student_id, x) for x in own), key=lambda pair: pair[0])


def _key(text: str) -> str:
    """The same for texts that differ in blank lines and lines of comments only."""
    lines = [line.rstrip() for line in text.splitlines()]
    plain = [x for x in lines if x and not x.lstrip().startswith("#")]
    return hashlib.sha256("\n".join(plain).encode()).hexdigest()[:16]


def _cells(path: Path) -> dict[str, str]:
    """The sources of a notebook's cells by their names; none if there is no notebook."""
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else {}


@lru_cache(maxsize=5000)  # of a class: each page reads them all
def _read(path: Path, changed: int) -> dict[str, str]:
    return handed_in.texts(user_files.document(path))


def verdict(root: Path, assignment: Assignment, part: Part, student: str) -> Verdict | None:
    """What the hidden tests say of a student's answer; None where there are none."""
    path = results_folder(root, assignment, part.lesson) / f"{student}.json"
    if part.by_hand or not path.is_file():
        return None
    return _verdicts(path, path.stat().st_mtime_ns).get(part.id)


@lru_cache(maxsize=5000)
def _verdicts(path: Path, changed: int) -> dict[str, Verdict]:
    return {verdict["id"]: verdict for verdict in result_files.read(path)["exercises"]}


def _said(
    root: Path, assignment: Assignment, part: Part, student: str, known: list[str]
) -> Iterator[str]:
    """What the tests say, if it was not said of an equal answer before."""
    found = verdict(root, assignment, part, student)
    text = "\n".join(filter(None, feedback.lines(found, []))) if found else ""
    if text and text not in known:
        yield text
