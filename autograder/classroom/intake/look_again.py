"""Requests to look at a grade again, and their answers.

A student writes a comment into a module that is handed in, the same one or that of a later lesson:

    # Look again: jvp.mul_rule. The docstring allows any error there.

The answers are in `look_again.json` of the course directory.
"""

import glob
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from autograder.classroom.course.settings import Course
from autograder.classroom.intake import files, written
from autograder.grading import result_files
from autograder.lessons import user_files
from autograder.lessons.problem import Problem

FILE = "look_again.json"
LONGEST = 500  # characters of a request
MOST = 20  # requests in a module
_BEGIN = re.compile(
    r"[ \t]*#[ \t]*look again[ \t]*[:,.]?[ \t]+([a-z]\w*\.[a-z]\w*)[:,.]?(?:[ \t]+(.*))?", re.I
)
_GOES_ON = re.compile(r"[ \t]*#[ \t]*(\S.*)")


Key = tuple[str, str, str]


@dataclass(frozen=True)
class Request:
    """What a student wrote about the grade for an exercise, and what was answered."""

    student: str
    exercise: str  # "jvp.mul_rule", "jvp.question"
    text: str
    within: str  # the assignment with which it was handed in
    answer: str = ""

    @property
    def lesson(self) -> str:
        """The id of the exercise's lesson."""
        return self.exercise.partition(".")[0]

    @property
    def key(self) -> Key:
        """By what its answer is kept."""
        return self.student, self.exercise, self.text


def requests(root: Path, course: Course, student: str = "*") -> list[Request]:
    """The requests in what was handed in for a course, unanswered ones first."""
    answers, found = _answers(root), dict[Key, Request]()
    for assignment in course.assignments.values():
        modules = (files.copies(root, assignment.name, x, student) for x in assignment.lessons)
        for name, path in itertools.chain.from_iterable(modules):
            for exercise, text in _read(path, path.stat().st_mtime_ns):
                each = Request(name, exercise, text, assignment.name)
                found.setdefault(each.key, replace(each, answer=answers.get(each.key, "")))
    return sorted(found.values(), key=lambda x: (bool(x.answer), x.key))


@cache  # of a course: each page of `nbgrader read` looks through them all
def _read(path: Path, changed: int) -> list[tuple[str, str]]:
    return in_module(user_files.text(path))


def in_module(source: str) -> list[tuple[str, str]]:
    """The requests in a module: which exercise, and the words, which may go on below."""
    lines, found = source.splitlines(), list[tuple[str, str]]()
    for i, line in enumerate(lines):
        if len(found) < MOST and (begin := _BEGIN.fullmatch(line)):
            words = [begin[2] or ""]
            for more in lines[i + 1 :]:
                goes_on = _GOES_ON.fullmatch(more)
                if not goes_on or _BEGIN.fullmatch(more) or sum(map(len, words)) > LONGEST:
                    break
                words.append(goes_on[1])
            text = written.visible(" ".join(" ".join(words).split()))[:LONGEST]
            found.append((begin[1].lower(), written.limited(text)))
    return found


def of_student(root: Path, course: Course, student: str, assignment: str) -> Iterator[str]:
    """What a student reads with the feedback of an assignment: a sentence for each request.

    These are the requests that were handed in with it, and those about its exercises.
    """
    about = {lesson.id for lesson in course.get(assignment).lessons}
    for each in requests(root, course, glob.escape(student)):
        if each.within == assignment or each.lesson in about:
            said = f"The answer: {each.answer}" if each.answer else "There is no answer yet."
            yield f"You asked to look again at {each.exercise}. {said}"


# ------------------------------------------------------------------------------------------
# Answers


def answer(root: Path, key: Key, text: str) -> None:
    """Keep the answer to a request; an empty one takes it back."""
    with result_files.locked(root / ".jaxprentice"):
        answers = {**_answers(root), key: " ".join(text.split())}
        rows = [dict(zip(_KEYS, (*x, said), strict=True)) for x, said in answers.items() if said]
        made = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
        result_files.write_text(root / FILE, made)


_KEYS = ("student", "exercise", "request", "answer")


def _answers(root: Path) -> dict[Key, str]:
    path = root / FILE
    rows = user_files.document(path) if user_files.is_there(path) else []
    try:
        return {(x["student"], x["exercise"], x["request"]): x["answer"] for x in rows}
    except (KeyError, TypeError):
        raise Problem(f"{path} does not hold answers. Restore it, or remove it.") from None
