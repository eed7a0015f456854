"""The main job from end to end: a course directory, a sample class, and nbgrader's own commands.

The course directory holds three lessons, and the sample class hands in all of them. That every
suite sees its mistakes is what `audit` shows. The lessons are graded at once, each by one process,
which asks the reference once: while a submission that never ends is waited for, the others go on.

It checks its own outcome: each submission of the sample class must get in nbgrader's gradebook, and
in its feedback pages, what such a submission deserves.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from autograder.classroom.course import settings as courses
from autograder.classroom.nbgrader import directory as nbgrader_course
from autograder.classroom.nbgrader import gradebook
from autograder.classroom.reports import report
from autograder.grading import result_files
from autograder.grading.result import Result
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson
from autograder.lessons.places import ROOT
from autograder.lessons.problem import Problem
from autograder.student import screen
from autograder.upkeep import sample_class
from autograder.upkeep.sample_class import Submission

FOLDER = ROOT / "build" / "demo"
HEAD = ("student", "submission", "points", "lost", "named mistake")
MARKER = ".made-by-jaxprentice-demo"
CLEAR = "\r\033[K"
PAUSE = 5.0  # seconds between lines that say how far grading has come
_GRADED = re.compile(r"Graded (.+, \d+ of \d+)")
LESSONS = ("core", "jvp", "grad")  # all lessons are graded alike


@dataclass(frozen=True)
class Graded:
    """A submission with what nbgrader made of it."""

    submission: Submission
    lesson: Lesson
    points: dict[str, float]  # by exercise id, from nbgrader's gradebook
    result: Result
    feedback: str  # the feedback page

    @property
    def total(self) -> float:
        """The points of the exercises and of the whole module together."""
        return sum(self.points.values())

    def lost(self) -> dict[str, float]:
        """The exercises without full points, the whole module too, and how many each lost."""
        missing = {e.id: e.points - self.points[e.id] for e in self.lesson.graded}
        return {name: points for name, points in missing.items() if points > 0}


def run(out: Path | None = None) -> int:
    """Run the demo in `out` (build/demo if not given) and print the grades; the exit status."""
    folder = _fresh((out or FOLDER).absolute())
    progress = Progress(folder / "nbgrader.log")
    try:
        graded = _run(folder / "course", progress)
        page = report.write(folder / "course" / "results")
    finally:
        progress.end()
    wrong = [complaint for each in graded for complaint in complaints(each)]
    if wrong:
        raise Problem("The demo's grades are not what they should be: " + " ".join(wrong))
    print(f"\nAll {len(graded)} submissions got what they deserve. The page to open: {page}")
    return 0


def _run(course: Path, progress: "Progress") -> list[Graded]:
    progress.step("course", "writing it")
    nbgrader_course.init(course, seed=0, lessons=LESSONS)
    progress.end("course")
    _release(course, progress, LESSONS[0])  # before all others: it makes the gradebook
    everyone = [sample_class.make(manifest.get(name)) for name in LESSONS]
    # Its threads parse no code, see `examples.prepare`.
    with ThreadPoolExecutor(len(LESSONS)) as pool:
        graded = list(pool.map(partial(_grade, course, progress), LESSONS, everyone))
    progress.step("course", "exporting the gradebook, writing the report")
    _nbgrader(course, progress, "course", "export", "--to", str(course.parent / "grades.csv"))
    return [each for lesson in graded for each in lesson]


def _fresh(folder: Path) -> Path:
    if folder.exists() and any(folder.iterdir()):
        if not (folder / MARKER).exists():
            raise Problem(f"{folder} holds something that is not a demo. Give another folder.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).touch()
    return folder


def _release(course: Path, progress: "Progress", name: str) -> None:
    progress.step(name, "releasing it")
    _nbgrader(course, progress, name, "generate_assignment", name)


def _grade(
    course: Path, progress: "Progress", name: str, everyone: list[Submission]
) -> list[Graded]:
    """What a lesson's class hands in, graded; the table is printed at once."""
    lesson = manifest.get(name)
    if name != LESSONS[0]:
        _release(course, progress, name)
    for each in everyone:
        hand_in(course, lesson, each.student, each.source)
    progress.step(name, f"grading {len(everyone)} submissions")
    _nbgrader(course, progress, name, "autograde", name, "--WriteVerdicts.jobs=1")
    progress.step(name, "writing feedback pages")
    _nbgrader(course, progress, name, "generate_feedback", name)
    graded = list(_collect(course, lesson, everyone))
    progress.end(name, _table(lesson, graded))
    return graded


def hand_in(course: Path, lesson: Lesson, student: str, source: str) -> Path:
    """Put a student's work where `nbgrader collect` would: the release with the module changed."""
    folder = course / "submitted" / student / lesson.id
    shutil.copytree(course / "release" / lesson.id, folder)
    (folder / lesson.module).write_text(source, encoding="utf-8")
    return folder


# ------------------------------------------------------------------------------------------
# Running nbgrader


def _nbgrader(course: Path, progress: "Progress", about: str, *arguments: str) -> None:
    """Run one of nbgrader's commands in the course directory, as its manual has them."""
    with subprocess.Popen(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        env=environment(course),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        lines = list(progress.follow(about, process.stdout))
    if process.returncode != 0:
        raise Problem(
            f"`nbgrader {' '.join(arguments)}` failed; the whole log is {progress.log}. "
            f"It ends with:\n{''.join(lines[-15:])}"
        )


def environment(course: Path) -> dict[str, str]:
    """The environment for nbgrader, in which the user's own Jupyter settings play no part."""
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    private = {name: str(course.parent / "jupyter") for name in places}
    return {**os.environ, **private, "JUPYTER_NO_CONFIG": "1"}


class Progress:
    """Says what is being done, on a terminal in one line; keeps what nbgrader writes in a file."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.live = sys.stdout.isatty()
        self.start = self.said = time.monotonic()
        self.now: dict[str, str] = {}  # what is being done, by what it is about
        self.lock = threading.Lock()

    def step(self, about: str, text: str, pause: float = 0.0) -> None:
        """Show it: if it takes lines of its own, only when the last is older than the pause."""
        with self.lock:
            self.now[about] = f"{about}: {text}"
            now = time.monotonic()
            if self.live:
                print(self._line(), end="", flush=True)
            elif now >= self.said + pause:
                self.said = now
                print(f"[{now - self.start:4.0f} s] {self.now[about]}", flush=True)

    def end(self, about: str = "", text: str = "") -> None:
        """Show no longer what one is about, or all; the text stays."""
        with self.lock:
            self.now = {x: self.now[x] for x in self.now if about not in ("", x)}
            if self.live:
                print(CLEAR, end="", flush=True)
            if text:
                print(text, flush=True)
            if self.live and self.now:
                print(self._line(), end="", flush=True)

    def _line(self) -> str:
        text = f"[{time.monotonic() - self.start:4.0f} s] {', '.join(self.now.values())}"
        return CLEAR + text[: shutil.get_terminal_size().columns - 1]

    def follow(self, about: str, stream: Any) -> Iterator[str]:
        """Write the lines of a running command to the log, and show how far grading has come."""
        with self.log.open("a", buffering=1, encoding="utf-8") as log:
            for line in stream:
                log.write(line)
                if found := _GRADED.search(line):
                    self.step(about, found[1], PAUSE)
                yield line


# ------------------------------------------------------------------------------------------
# The outcome


def _collect(course: Path, lesson: Lesson, everyone: list[Submission]) -> Iterator[Graded]:
    with gradebook.opened(course) as book:
        for each in everyone:
            found = book.find_submission_notebook(lesson.id, lesson.id, each.student)
            scores = {grade.name: grade.score for grade in found.grades}
            page = course / "feedback" / each.student / lesson.id / f"{lesson.id}.html"
            yield Graded(
                each,
                lesson,
                {e.id: scores[courses.cell_name(e.id)] for e in lesson.graded},
                result_files.read(course / "results" / lesson.id / f"{each.student}.json"),
                page.read_text(encoding="utf-8"),
            )


def complaints(graded: Graded) -> Iterator[str]:
    """What is wrong with a grade, one sentence each; nothing when it is what it should be."""
    each, lost = graded.submission, graded.lost()
    who = f"{graded.lesson.id}, {each.student} ({each.kind}):"
    for name in each.exercises:
        if name not in lost:
            yield f"{who} {name} has full points."
    whole = {graded.lesson.whole.id} if graded.lesson.whole and each.exercises else set()
    if each.kind in ("right", "mistake") and (more := set(lost) - set(each.exercises) - whole):
        yield f"{who} points were lost in {', '.join(more)}."
    if each.kind in ("untouched", "cheat") and graded.total != 0:
        yield f"{who} it has {graded.total:g} points instead of 0."
    if each.kind == "half" and graded.total == 0:
        yield f"{who} it has no points."
    if each.mistake and html.escape(each.mistake.name, quote=False) not in graded.feedback:
        yield f"{who} the feedback does not name the mistake."
    classes = {e["class"] for e in graded.result["exercises"]}
    if each.kind == "endless" and "does_not_terminate" not in classes:
        yield f"{who} it is not said that it does not terminate."


def _table(lesson: Lesson, graded: list[Graded]) -> str:
    """What each submission of a lesson got, below the level of isolation that it ran at."""
    rows = [HEAD, *map(_row, graded)]
    rows.insert(1, tuple("-" * max(map(len, column)) for column in zip(*rows, strict=True)))
    levels = ", ".join(sorted({each.result["isolation"] for each in graded}))
    title = f"{lesson.title} (isolation: {levels})"
    return "\n".join(["", title, *screen.columns(rows), ""])


def _row(graded: Graded) -> tuple[str, ...]:
    lost = graded.lost()
    if len(lost) == len(graded.points):
        where = "everything" if graded.total == 0 else "all exercises"
    else:
        where = ", ".join(name.partition(".")[2] for name in lost)
    named = [e["misconception"]["name"] for e in graded.result["exercises"] if e["misconception"]]
    points = f"{graded.total:g} / {graded.lesson.max_points:g}"
    each = graded.submission
    return (each.student, each.kind, points, where, "; ".join(named))
