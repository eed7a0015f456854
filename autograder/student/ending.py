"""The end of the course: what one's own package has learned, and who wrote it, in the terminal.

`ending_page.py` makes the same facts a page to send to a friend.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.lessons import skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.problem import Problem
from autograder.student import latest, workspace
from autograder.student.names import all_taught
from autograder.student.workspace import Workspace

WIDTH, HEIGHT = 32, 6  # of a curve in characters


@dataclass(frozen=True)
class Trained:
    """A script's run on the student's package, and the same on JAX, as they were saved."""

    script: str
    own: dict[str, Any]
    jax: dict[str, Any]

    @property
    def name(self) -> str:
        """The script's name, without folder and ending."""
        return Path(self.script).stem

    @property
    def shown(self) -> str:
        """What was learned, in words or drawn with letters."""
        return str(self.own.get("shown", "")).strip("\n")

    @property
    def pace(self) -> float:
        """How many steps a second were taken; 0 if no clock ran."""
        seconds = self.own.get("times", {}).get("step")
        return 1 / seconds if seconds else 0.0

    @property
    def verdict(self) -> str:
        """How the losses are beside JAX's, and the pace, as sentences."""
        pace = f" {self.pace:,.0f} steps a second." if self.pace else ""
        pairs = list(zip(self.own["losses"], self.jax["losses"], strict=True))
        same = sum(a == b for a, b in pairs)
        if same == len(pairs):
            return f"All {same} losses equal JAX's, digit for digit.{pace}"
        far = max(abs(a - b) / max(abs(b), 1e-300) for a, b in pairs)
        return (
            f"All {len(pairs)} losses agree with JAX's, {same} of them digit for digit; "
            f"none differs by more than {far:.0e} of its size.{pace}"
        )


@dataclass(frozen=True)
class Work:
    """What the student has done of a lesson."""

    lesson: Lesson
    own: tuple[Exercise, ...]
    given: tuple[Exercise, ...]
    lines: int  # of the exercises that are the student's own, without docstrings and comments
    way: str  # by which the lesson was done; "" in a handout, which knows none


def lines(trained: Sequence[Trained], works: Sequence[Work]) -> list[str]:
    """What was reached, for the terminal."""
    return ["", *(line for run in trained for line in run_block(run)), *work_block(works)]


def run_block(run: Trained) -> list[str]:
    """A run: both curves, the verdict, and what was learned."""
    shown = [f"  {line}" for line in run.shown.splitlines()]
    return [f"{run.name}: {run.verdict}", *beside(run), *shown, ""]


def beside(run: Trained) -> list[str]:
    """The learning curves, the student's beside JAX's, on one logarithmic scale."""
    if len(run.own["losses"]) < WIDTH:
        return []
    bounds = min(run.jax["losses"]), max(run.jax["losses"])
    rows = zip(*(curve(x["losses"], *bounds) for x in (run.own, run.jax)), strict=True)
    first, last = run.own["losses"][0], run.own["losses"][-1]
    return [
        f"  {'yours':{WIDTH + 4}}JAX's",
        *(f"  {a}    {b}".rstrip() for a, b in rows),
        f"  loss {first:.6g} -> {last:.6g}",
    ]


def curve(losses: Sequence[float], least: float, most: float) -> list[str]:
    """A curve as rows of characters: a column for each part of the run."""
    columns = [losses[i * (len(losses) - 1) // (WIDTH - 1)] for i in range(WIDTH)]
    height = math.log(most / least) or 1.0
    rows = [round((HEIGHT - 1) * math.log(most / max(x, least)) / height) for x in columns]
    return ["".join("*" if at == row else " " for at in rows) for row in range(HEIGHT)]


def work_block(works: Sequence[Work]) -> list[str]:
    """What the student wrote, and what was given."""
    own, rows = sum(len(x.own) for x in works), sum(x.lines for x in works)
    given = ", ".join(f"{len(x.given)} of {x.lesson.id}" for x in works if x.given)
    told = [f"Written by yourself: {own} exercises, {rows} lines{ways(works)}."]
    return [*told, *[f"Exercises taken with `give` are not your own: {given}."] * bool(given)]


def ways(works: Sequence[Work]) -> str:
    """By which ways the lessons were done: ", 3 lessons as contract"; "" if none is noted."""
    counts = Counter(work.way for work in works if work.way and work.own)
    return "".join(f", {n} lesson{'s' * (n != 1)} as {way}" for way, n in counts.items())


# ------------------------------------------------------------------------------------------
# Who wrote it


def done_by(place: Workspace) -> list[Work]:
    """What the student has done, lesson by lesson, as the last checks found."""
    return [work(place, x) for x in all_taught() if place.file(x).exists()]


def work(place: Workspace, lesson: Lesson) -> Work:
    """What the student has done of one lesson.

    Of what was written from an empty page, the lines are those of functions that have the names of
    exercises: the student chose the others.
    """
    done, taken = place.checked(lesson)[0], given(place, lesson)
    own = tuple(x for x in lesson.exercises if x.id in done and x.id not in taken)
    source = place.source(lesson).decode("utf-8", "replace")
    return Work(
        lesson,
        own,
        tuple(x for x in lesson.exercises if x.id in taken),
        sum(lines_of(source, exercise) for exercise in own),
        "" if place.identity.get("lesson") else place.way(lesson),
    )


def given(place: Workspace, lesson: Lesson) -> list[str]:
    """The exercises that are not the student's; in a handout all that read as the course's do."""
    if not place.identity.get("lesson"):
        return latest.given(place, lesson)
    source, solution = place.source(lesson).decode("utf-8", "replace"), workspace.solution(lesson)
    return [x.id for x in lesson.exercises if latest.is_same(source, solution, x)]


def lines_of(source: str, exercise: Exercise) -> int:
    """How many lines of code an exercise has, its signature counted, in a module's text."""
    try:
        return skeleton.lines_of_code(skeleton.bare(source, exercise.target))
    except Problem:  # it has another name, or the file cannot be read
        return 0
