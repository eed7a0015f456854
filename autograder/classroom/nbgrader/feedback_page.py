"""The feedback page of a submission, which `nbgrader generate_feedback` writes.

It begins with the results. Then come the exercises: what failed, the function that was handed in,
and what a person said about it. Points and comments are the gradebook's. The page is a single file
and asks for nothing: formulas are MathML.
"""

import html
import re
from pathlib import Path
from typing import Any

from markupsafe import Markup
from nbconvert.exporters.exporter import Exporter
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.python import PythonLexer

from autograder.classroom.course import notebooks
from autograder.classroom.course import settings as courses
from autograder.classroom.course.settings import Assignment
from autograder.classroom.intake import look_again, written
from autograder.classroom.nbgrader import gradebook, outgoing
from autograder.classroom.nbgrader.results import of_notebook
from autograder.classroom.nbgrader.shown import formulas
from autograder.classroom.run import pages
from autograder.grading import feedback
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson

STYLES = HtmlFormatter(classprefix="py-", nobackground=True)


class FeedbackPage(Exporter):
    """Makes an HTML page of a graded notebook, into which nbgrader has put points and comments."""

    file_extension = ".html"
    output_mimetype = "text/html"

    def from_notebook_node(
        self, nb: NotebookNode, resources: Any = None, **kw: Any
    ) -> tuple[str, Any]:
        """The page, and what nbconvert wants to know about it."""
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        root = Path(self.parent.coursedir.root)
        return render(nb, resources["nbgrader"], root), resources


def render(nb: NotebookNode, about: dict[str, Any], root: Path) -> str:
    """The page of a notebook; `about` is what nbgrader knows of it."""
    course = courses.read(root)
    assignment, lesson, result, changes = of_notebook(course, root, about)
    cells = {x.metadata.nbgrader.grade_id: x for x in nb.cells if "nbgrader" in x.metadata}
    hints = course.feedback.hints
    parts = [_exercise(verdict, cells, changes, hints) for verdict in result["exercises"]]
    notes = list(look_again.of_student(root, course, about["student"], about["assignment"]))
    with gradebook.opened(root) as book:
        submission = book.find_submission(about["assignment"], about["student"])
        unread = {x.name for x in gradebook.grades(submission) if gradebook.is_unread(x)}
        made_from = outgoing.mark(submission, course, root)
        late = gradebook.lateness_of(submission.student, course)[submission]
    notes += late.notes(about["late_penalty"])
    parts += _by_hand(lesson, assignment, cells, unread)
    return pages.template("feedback.html.j2").render(
        title=lesson.title,
        assignment=assignment.name,
        student=about["student"],
        score=about["score"],
        max_score=about["max_score"],
        notes=[*result.get("notes", []), *notes],
        made_from=made_from,
        unread=[part for part in parts if part["unread"]],
        remarks=result["remarks"],
        parts=parts,
        example=f"# Look again: {lesson.exercises[0].id}. Why",
        styles=Markup(STYLES.get_style_defs()),
    )


# ------------------------------------------------------------------------------------------
# The parts of the page


def _exercise(
    verdict: Any, cells: dict[str, Any], changes: dict[str, str], hints: int
) -> dict[str, Any]:
    name = courses.cell_name(verdict["id"])
    shown = cells.get(name + notebooks.CODE)
    titles = {part.id: part.title for x in manifest.load().values() for part in x.graded}
    return _part(cells[name], titles.get(verdict["id"], verdict["id"])) | {
        "said": [_backticks(line) for line in feedback.lines(verdict, [], hints) if line],
        "program": verdict["counterexample"],
        "code": _code(shown) if shown is not None else "",
        "comment": _comment(shown) if shown is not None else "",
        "changes": changes.get(name, ""),
    }


def _part(cell: NotebookNode, title: str) -> dict[str, Any]:
    about = cell.metadata.nbgrader
    facts = {"anchor": about.grade_id, "score": about.score, "max_score": about.points}
    empty = dict.fromkeys(("code", "comment", "changes", "text", "missing"), "")
    return {**empty, **facts, "said": [], "program": None, "unread": False, "title": title}


def _by_hand(
    lesson: Lesson, assignment: Assignment, cells: dict[str, Any], unread: set[str]
) -> list[dict[str, Any]]:
    """The written question and the open task."""
    found = []
    question, task = (cells.get(f"{lesson.id}-{kind}") for kind in ("question", "open"))
    if question is not None and assignment.question:
        part = _part(question, "The written question")
        asked = formulas(written.harmless(lesson.question.strip()))
        answer = "".join(question.source)
        given = formulas(answer) if answer.startswith("<div") else ""  # as the intake writes it
        comment = _comment(question)
        found.append({**part, "text": asked + given, "shows": given, "comment": comment})
    if task is not None:
        part = _part(task, "The open task")
        code = _code(task)
        found.append({**part, "code": code, "shows": code, "comment": _comment(task)})
    for part in found:
        part["unread"] = part["anchor"] in unread
        if not (part["shows"] or part["score"] or part["unread"] or part["comment"]):
            part["missing"] = "There is no answer."
    return found


def _code(cell: NotebookNode) -> str:
    """The function that a cell shows, highlighted; nothing if it was not begun."""
    if cell.metadata.nbgrader.get("comment") == "No response.":
        return ""
    return Markup(highlight("".join(cell.source), PythonLexer(), STYLES))


def _comment(cell: NotebookNode) -> str:
    """What a person said, as HTML; nothing if there is no comment."""
    comment = cell.metadata.nbgrader.get("comment")
    if not comment or comment == "No response.":
        return ""
    return formulas(written.harmless(comment))


def _backticks(text: str) -> str:
    """A line of plain text as HTML, with what is between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False)))
