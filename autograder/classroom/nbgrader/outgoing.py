"""What leaves the house is as the gradebook is: feedback pages of older points are made again.

nbgrader makes a page again only where a submission is newer, and hands out whatever is there. So
each page holds a mark of all that it was made from, which is compared before it leaves.
"""

import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.exchange.default import ExchangeReleaseFeedback

from autograder.classroom.course import people
from autograder.classroom.course import settings as courses
from autograder.classroom.course.settings import Course
from autograder.classroom.intake import look_again
from autograder.classroom.nbgrader import gradebook, regrading
from autograder.classroom.nbgrader.results import read_results
from autograder.classroom.systems import collect
from autograder.lessons.problem import Problem, of_system

_MARK = re.compile(r'<meta name="made-from" content="([0-9a-f]*)">')


def mark(submission: Any, course: Course, root: Path) -> str:
    """A hash of all that a submission's pages are made from."""
    grades = gradebook.grades(submission)
    comments = [comment for notebook in submission.notebooks for comment in notebook.comments]
    late = gradebook.lateness_of(submission.student, course)[submission].text
    assignment, student = course.get(submission.name), submission.student.id
    results = read_results(root, assignment, student)
    record = regrading.read(regrading.place(root, assignment.name, student))
    about = (
        sorted((x.name, x.score, x.max_score, gradebook.is_unread(x)) for x in grades),
        sorted((x.name, x.comment or "") for x in comments),
        (late, submission.late_submission_penalty or 0.0, repr(course.feedback)),
        json.dumps([results, record], sort_keys=True),
        list(look_again.of_student(root, course, student, assignment.name)),
    )
    return hashlib.sha256(repr(about).encode()).hexdigest()


def outdated(root: Path, assignment: str, *, missing: bool = False) -> list[str]:
    """The students whose pages are not as the gradebook is; those without a page if `missing`.

    Raises Problem if the gradebook itself is not as `course.toml` is.
    """
    course, found = courses.read(root), []
    regrading.check_points(root, course.get(assignment))
    names = [f"{lesson.id}.html" for lesson in course.get(assignment).lessons]
    with gradebook.opened(root) as book:
        gradebook.share(book, regrading.sources(root))
        gradebook.settle(book, course)
        known = [x for x in book.assignments if x.name == assignment]  # or nothing was released yet
        for submission in (submission for x in known for submission in x.submissions):
            student = submission.student.id
            pages = [root / "feedback" / student / assignment / name for name in names]
            there = [page for page in pages if page.is_file()]
            graded = (root / "autograded" / student / assignment).is_dir()
            if graded and (there or missing):
                now = mark(submission, course, root)
                if len(there) < len(pages) or any(_mark_of(page) != now for page in there):
                    found.append(student)
    return sorted(found)


def _mark_of(page: Path) -> str:
    found = _MARK.search(page.read_text(encoding="utf-8", errors="replace")[:2000])
    return found[1] if found else ""


def start(converter: GenerateFeedback) -> None:
    """Run `nbgrader generate_feedback`, after removing pages that are not as the gradebook is."""
    try:
        _remake(converter)
    except (Problem, OSError) as error:
        said = of_system(error) if isinstance(error, OSError) else str(error)
        converter.log.error(said)
        raise NbGraderException(said) from None


def _remake(converter: GenerateFeedback) -> None:
    course = converter.coursedir
    students = outdated(Path(course.root), course.assignment_id)
    excluded = course.student_id_exclude.split(",")
    asked = [x for x in students if fnmatchcase(x, course.student_id) and x not in excluded]
    for student in asked:
        pages = Path(course.format_path("feedback", student, course.assignment_id))
        converter.log.warning("Made again: the feedback of %s is older than the grades", student)
        shutil.rmtree(pages)
    BaseConverter.start(converter)
    converter.log.info("The pages in feedback/ are as the gradebook is")


class Release(ExchangeReleaseFeedback):
    """How `nbgrader release_feedback` hands pages out: none that is older than the grades."""

    def ensure_root(self) -> None:
        """Say what to do where there is no exchange; nbgrader's own sends to the instructor."""
        if not os.access(self.root, os.W_OK | os.X_OK):
            self.fail(
                f"The exchange {self.root} is not a folder that you can write to. Set "
                "c.Exchange.root in nbgrader_config.py, or send the feedback yourself, with "
                "`jaxprentice return`."
            )

    def copy_files(self) -> None:
        """Copy the pages of those who handed in by the exchange, unless some are out of date."""
        name = self.coursedir.assignment_id
        try:
            students = outdated(Path(self.coursedir.root), name)
        except Problem as problem:
            self.fail(str(problem))
        if students:
            self.fail(
                f"The feedback of {people.named(students)} is older than the grades. Run "
                f"`nbgrader generate_feedback {name}`, then this command again."
            )
        self._leave_out_others()
        super().copy_files()

    def _leave_out_others(self) -> None:
        """Leave those out whom nbgrader cannot reach, where it would stop at the first."""
        folders = {Path(page).parent for page in glob.glob(f"{self.src_path}/*.html")}  # noqa: PTH207
        needed = ("timestamp.txt", "submission_secret.txt")
        others = [x for x in folders if not all((x / file).is_file() for file in needed)]
        students = sorted(x.parent.name for x in others)
        if students:
            self.coursedir.student_id_exclude = ",".join(
                [*filter(None, [self.coursedir.student_id_exclude]), *students]
            )
            root, name = Path(self.coursedir.root), self.coursedir.assignment_id
            for sentence in elsewhere(root, name, students):
                self.log.warning(sentence)


def elsewhere(root: Path, assignment: str, students: Sequence[str]) -> Iterator[str]:
    """How those get their feedback of whom the exchange has no submission."""
    yield f"Left out, because the exchange has no submission of theirs: {', '.join(students)}."
    known = collect.names(root / "submitted", assignment)
    if lms := [x for x in students if x in known]:
        yield f"`jaxprentice return` packs the feedback of {', '.join(lms)} for an LMS."
    if others := [x for x in students if x not in known]:
        yield collect.by_hand(others, f"feedback/STUDENT/{assignment}")
