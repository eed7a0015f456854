"""The main job from end to end: a course directory, a sample class, and nbgrader's own commands.

The course directory holds all lessons, and the sample class hands in three of them: each takes half
a minute, and all go the same way. That every suite sees its mistakes is what `audit` shows.

It checks its own outcome: each submission of the sample class must get in nbgrader's gradebook, and
in its feedback pages, what such a submission deserves.
"""

import html
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.classroom.nbgrader import directory as nbgrader_course
from autograder.classroom.reports import report
from autograder.grading import results
from autograder.grading.result import Result
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson
from autograder.lessons.places import ROOT
from autograder.lessons.problem import Problem
from autograder.upkeep import sample_class
from autograder.upkeep.sample_class import Submission

FOLDER = ROOT / "build" / "demo"
HEAD = ("lesson", "student", "submission", "points", "lost", "named mistake")
MARKER = ".made-by-jaxprentice-demo"
LESSONS = ("core", "jvp", "grad")  # all lessons are graded alike, and each takes half a minute


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
    progress.step("writing a course directory")
    course = folder / "course"
    nbgrader_course.init(course, seed=0)
    assignments = [manifest.get(name) for name in LESSONS]
    everyone = {lesson.id: sample_class.make(lesson) for lesson in assignments}
    for lesson in assignments:
        _grade(course, lesson, everyone[lesson.id], progress)
    progress.step("exporting the gradebook, writing the report")
    _nbgrader(course, progress, "export", "--to", str(folder / "grades.csv"))
    page = report.write(course / "results")
    graded = list(_collect(course, assignments, everyone))
    progress.end()
    _print(graded, folder, page)
    wrong = [complaint for each in graded for complaint in complaints(each)]
    if wrong:
        raise Problem("The demo's grades are not what they should be: " + " ".join(wrong))
    print(f"\nAll {len(graded)} submissions got what they deserve.")
    return 0


def _fresh(folder: Path) -> Path:
    if folder.exists() and any(folder.iterdir()):
        if not (folder / MARKER).exists():
            raise Problem(f"{folder} holds something that is not a demo. Give another folder.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).touch()
    return folder


def _grade(course: Path, lesson: Lesson, everyone: list[Submission], progress: "Progress") -> None:
    progress.step(f"{lesson.id}: releasing the assignment")
    _nbgrader(course, progress, "generate_assignment", lesson.id)
    for each in everyone:
        hand_in(course, lesson, each.student, each.source)
    progress.step(f"{lesson.id}: grading {len(everyone)} submissions")
    _nbgrader(course, progress, "autograde", lesson.id)
    progress.step(f"{lesson.id}: writing feedback pages")
    _nbgrader(course, progress, "generate_feedback", lesson.id)


def hand_in(course: Path, lesson: Lesson, student: str, source: str) -> Path:
    """Put a student's work where `nbgrader collect` would: the release with the module changed."""
    folder = course / "submitted" / student / lesson.id
    shutil.copytree(course / "release" / lesson.id, folder)
    (folder / lesson.module).write_text(source, encoding="utf-8")
    return folder


# ------------------------------------------------------------------------------------------
# Running nbgrader


def _nbgrader(course: Path, progress: "Progress", *arguments: str) -> None:
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
        lines = list(progress.follow(process.stdout))
    if process.returncode != 0:
        progress.end()
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
    """Says on one line what is being done; keeps what nbgrader writes in a file."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.live = sys.stdout.isatty()
        self.start = time.monotonic()
        self.now = ""

    def step(self, text: str) -> None:
        """Begin a step."""
        self.now = text
        self._show(text, "" if self.live else "\n")

    def follow(self, stream: Any) -> Iterator[str]:
        """Write the lines of a running command to the log, and show how far grading has come."""
        with self.log.open("a", encoding="utf-8") as log:
            for line in stream:
                log.write(line)
                _, found, count = line.partition("Graded ")
                if found and self.live:
                    self._show(f"{self.now}: {count.strip()}", "")
                yield line

    def end(self) -> None:
        """Leave the progress line."""
        self._show(f"done; nbgrader's messages are in {self.log}", "\n")

    def _show(self, text: str, end: str) -> None:
        clear = "\r\033[K" if self.live else ""
        print(f"{clear}[{time.monotonic() - self.start:4.0f} s] {text}", end=end, flush=True)


# ------------------------------------------------------------------------------------------
# The outcome


def _collect(
    course: Path, assignments: list[Lesson], everyone: dict[str, list[Submission]]
) -> Iterator[Graded]:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for lesson in assignments:
            for each in everyone[lesson.id]:
                book = gradebook.find_submission_notebook(lesson.id, lesson.id, each.student)
                scores = {grade.name: grade.score for grade in book.grades}
                page = course / "feedback" / each.student / lesson.id / f"{lesson.id}.html"
                yield Graded(
                    each,
                    lesson,
                    {e.id: scores[e.id.replace(".", "-")] for e in lesson.graded},
                    results.read(course / "results" / lesson.id / f"{each.student}.json"),
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


def _print(graded: list[Graded], folder: Path, page: Path) -> None:
    print()
    rows = [HEAD, *map(_row, graded)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    for i, row in enumerate(rows):
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
        print("  ".join([*cells, row[-1]]).rstrip())
        if i == 0 or (i + 1 < len(rows) and rows[i + 1][0] != row[0]):
            print("-" * (sum(widths) + 2 * len(widths) + 13))
    course = folder / "course"
    print(f"\nFeedback pages:    {course / 'feedback'}/STUDENT/LESSON/LESSON.html")
    print(f"Gradebook export:  {folder / 'grades.csv'}")
    print(f"Class report:      {page}, report.csv and students/ beside it")
    print(f"Course directory:  {course} (run nbgrader's commands there)")
    print(f"Isolation:         {', '.join(sorted({each.result['isolation'] for each in graded}))}")


def _row(graded: Graded) -> tuple[str, str, str, str, str, str]:
    lost = graded.lost()
    if len(lost) == len(graded.points):
        where = "everything" if graded.total == 0 else "all exercises"
    else:
        where = ", ".join(name.partition(".")[2] for name in lost)
    named = [e["misconception"]["name"] for e in graded.result["exercises"] if e["misconception"]]
    points = f"{graded.total:g} / {graded.lesson.max_points:g}"
    each = graded.submission
    return (graded.lesson.id, each.student, each.kind, points, where, "; ".join(named))
