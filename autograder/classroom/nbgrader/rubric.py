"""Rubrics: remarks with points, which a person gives to answers, kept in `rubrics/` of the course.

Only the gradebook says who has a remark: it is a line of the comment, so that formgrader and
feedback show it, and what is written there by hand counts as well. The points are manual scores.
"""

import contextlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.classroom.course.settings import Assignment
from autograder.classroom.nbgrader import answers
from autograder.classroom.nbgrader.answers import Handed, Part
from autograder.grading import result_files
from autograder.lessons import user_files
from autograder.lessons.problem import Problem

FOLDER = "rubrics"
LONGEST = 500  # characters of a remark
MOST = 1e6  # points


@dataclass(frozen=True)
class Remark:
    """A remark, and the points that it adds or takes away."""

    text: str
    points: float = 0.0

    @property
    def line(self) -> str:
        """The line of a comment that stands for it."""
        return f"- {self.text}" + (f" ({self.points:+g})" if self.points else "")


Rubric = list[Remark]


def made(text: str, points: str) -> Remark:
    """The remark that a person has written."""
    words = " ".join(text.split())
    try:
        worth = float(points.replace(",", ".") or 0)
    except ValueError:
        worth = math.nan
    if not words or len(words) > LONGEST:
        raise Problem(f"A remark has 1 to {LONGEST} characters. Change it, and save it again.")
    if not abs(worth) <= MOST:
        raise Problem(f"{points!r} is not a number of points. Write one, such as -1 or 0.5.")
    return Remark(words, worth)


# ------------------------------------------------------------------------------------------
# The file


def read(root: Path, assignment: str) -> dict[str, Rubric]:
    """The rubrics of an assignment by part."""
    path = _path(root, assignment)
    found = user_files.document(path) if user_files.is_there(path) else {}
    try:
        return {part: [Remark(**remark) for remark in rubric] for part, rubric in found.items()}
    except (AttributeError, TypeError):
        raise Problem(f"{path} does not hold rubrics. Restore it, or remove it.") from None


@contextlib.contextmanager
def changed(root: Path, assignment: str) -> Iterator[dict[str, Rubric]]:
    """The rubrics, to be changed: they are written at the end."""
    with result_files.locked(root / FOLDER):
        found = read(root, assignment)
        yield found
        table = {part: [asdict(remark) for remark in rubric] for part, rubric in found.items()}
        text = json.dumps(table, indent=1, ensure_ascii=False) + "\n"
        result_files.write_text(_path(root, assignment), text)


def _path(root: Path, assignment: str) -> Path:
    return root / FOLDER / f"{assignment}.json"


# ------------------------------------------------------------------------------------------
# What it does in the gradebook


def having(remark: Remark, who: Iterable[Handed]) -> list[Handed]:
    """Those who have a remark."""
    return [each for each in who if remark.line in each.lines]


def put(part: Part, each: Handed, old: Rubric, new: Rubric) -> None:
    """Give a student the remarks `new` where there were `old`; a person's other words stay."""
    had = {remark.line for remark in old}
    rest = [line for line in each.lines if line not in had]
    each.comment.manual_comment = "\n".join([*rest, *(x.line for x in new)]) or None
    score = _score(part, each, new)
    if score is not None:
        each.grade.manual_score = score
        each.grade.needs_manual_grade = False
    elif _score(part, each, old) is not None:  # the points were the remarks'
        each.grade.manual_score = None
        each.grade.needs_manual_grade = part.by_hand


def _score(part: Part, each: Handed, remarks: Rubric) -> float | None:
    """The points that remarks make; None if they make none."""
    score = _sum(part, each, remarks)
    return None if score is None else min(score, each.grade.max_score)


def _sum(part: Part, each: Handed, remarks: Rubric) -> float | None:
    """The same without the maximum, which may have changed since."""
    counted = remarks if part.by_hand else [x for x in remarks if x.points]
    begin = 0.0 if part.by_hand else each.grade.auto_score or 0.0
    score = begin + sum(remark.points for remark in counted)
    return max(round(score, 2), 0.0) if counted else None


def by_hand(part: Part, each: Handed, rubric: Rubric) -> bool:
    """Has a student points that are not the remarks'? The next remark with points replaces them."""
    return each.grade.manual_score not in (None, _score(part, each, _own(each, rubric)))


def whose(book: Any, root: Path, assignment: Assignment) -> list[tuple[str, str]]:
    """Whose points for which part are those of remarks: by the tests' points of now."""
    return [
        (part.id, each.student)
        for part, each, own in _remarked(book, root, assignment)
        if each.grade.manual_score in {_sum(part, each, own), _score(part, each, own)} - {None}
    ]


def score_again(
    book: Any, root: Path, assignment: Assignment, whom: Sequence[tuple[str, str]]
) -> None:
    """Add remarks to what the tests give now, for those whose points were `whose` before."""
    for part, each, own in _remarked(book, root, assignment):
        if (part.id, each.student) in whom:
            each.grade.manual_score = _score(part, each, own)
    book.db.commit()


def _remarked(
    book: Any, root: Path, assignment: Assignment
) -> Iterator[tuple[Part, Handed, list[Remark]]]:
    """Each part that was handed in, with the remarks that it has."""
    known = read(root, assignment.name)
    for part in answers.parts(assignment):
        for each in answers.handed(book, assignment, part):
            yield part, each, _own(each, known.get(part.id, []))


def _own(each: Handed, rubric: Rubric) -> list[Remark]:
    """The remarks of a rubric that a student has."""
    return [remark for remark in rubric if remark.line in each.lines]


def renew(part: Part, who: Iterable[Handed], old: Rubric, new: Sequence[Remark | None]) -> None:
    """Replace each remark of a rubric by another, or by none, for all who have it."""
    for each in who:
        own = [i for i, remark in enumerate(old) if remark.line in each.lines]
        if own and any(new[i] != old[i] for i in own):
            put(part, each, [old[i] for i in own], [x for i in own if (x := new[i])])


def toggle(part: Part, who: list[Handed], rubric: Rubric, index: int) -> None:
    """Give a remark to all of these, or take it from all if all have it."""
    remark = rubric[index]
    takes = len(having(remark, who)) == len(who)
    for each in who:
        own = _own(each, rubric)
        wanted = [x for x in rubric if (x in own if x != remark else not takes)]
        if wanted != own:
            put(part, each, own, wanted)
