"""The speed of grading, beside nbgrader as it is and otter-grader, on the same submissions.

`./jaxprentice bench grading` measures on two processors and writes `build/bench/grading.json`. The
class is a quarter each of right, half done and untouched submissions and of known mistakes; all
differ from each other, and none is endless. The others are slow, so they get a sample of the class,
and what counts is the time for each submission. nbgrader and otter run the same checks beside the
student's code in a notebook's kernel; they isolate nothing and use one process, which is why
processor time is beside the time on the clock. Only lessons whose ids hold a word are measured by
`PYTHONPATH=solutions python -m benchmarks.grading jvp`.
"""

import math
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from autograder.grading import answers, result_files
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.upkeep import sample_class
from benchmarks import _cost as cost
from benchmarks import _measure as measure
from benchmarks import _memory as memory
from benchmarks import _others as others
from benchmarks._cost import Cost
from benchmarks._others import Job
from benchmarks.reference import ROOT

REPORT = ROOT / "build" / "bench" / "grading.json"
PACKAGES = ("numpy", "jaxlib", "pytest", "nbgrader")
LESSONS = ("jvp", "grad")


@dataclass(frozen=True)
class Sizes:
    """How many submissions each grader gets of each lesson; the defaults are what is reported."""

    ours: int = 200
    batch: int = 60
    single: int = 10
    memory: int = 2000


# The class ----------------------------------------------------------------------------------------


def make_class(lesson: Lesson, number: int) -> list[Job]:
    """So many students with their modules, in an order that is mixed and always the same."""
    made = {each.kind: each.source for each in sample_class.make(lesson)}
    mistakes = [answers.variant_source(m) for m in answers.mistakes(lesson.id)]
    kinds = [[made["right"]], [made["half"]], mistakes, [made["untouched"]]]
    jobs = []
    for i in range(number):
        kind = kinds[i % len(kinds)]
        student = f"student-{i:04}"
        jobs.append((student, f"{kind[i // len(kinds) % len(kind)]}\n# {student}\n"))
    random.Random(0).shuffle(jobs)
    return jobs


# The graders --------------------------------------------------------------------------------------

Prepare = Callable[[Path, Lesson, Sequence[Job]], None]
Commands = Callable[[Path, Lesson, Sequence[Job]], Iterator[list[str]]]
Scores = Callable[[Path, Lesson], dict[str, float]]


@dataclass(frozen=True)
class Grader:
    """A way to grade: set up in a folder, run by commands, which leave scores behind."""

    name: str
    size: str  # the field of `Sizes` that says how many submissions it gets
    prepare: Prepare
    commands: Commands
    scores: Scores


def hand_in(folder: Path, lesson: Lesson, jobs: Sequence[Job]) -> None:
    for student, source in jobs:
        path = folder / "submissions" / student / lesson.module
        path.parent.mkdir(parents=True)
        path.write_text(source, encoding="utf-8")


def grade(at_once: int, folder: Path, lesson: Lesson, jobs: Sequence[Job]) -> Iterator[list[str]]:
    where = ["submissions", "--lesson", lesson.id, "--out", "results", "--jobs", str(at_once)]
    yield [sys.executable, "-m", "autograder", "grade", *where]


def our_scores(folder: Path, lesson: Lesson) -> dict[str, float]:
    found = map(result_files.read, result_files.paths(folder / "results"))
    return {result["student"]: result["score"] for result in found}


def autograde(folder: Path, lesson: Lesson, jobs: Sequence[Job]) -> Iterator[list[str]]:
    yield [*others.nbgrader(), "autograde", lesson.id]


def autograde_each(folder: Path, lesson: Lesson, jobs: Sequence[Job]) -> Iterator[list[str]]:
    for student, _ in jobs:
        yield [*others.nbgrader(), "autograde", lesson.id, "--student", student]


def otter_run(folder: Path, lesson: Lesson, jobs: Sequence[Job]) -> Iterator[list[str]]:
    for student, _ in jobs:
        yield others.otter_command(folder, student)


ENGINE, COURSE = "jaxprentice grade", "jaxprentice in nbgrader"
# If a worker that is started ahead of time could win anything, a third process would show it.
THREE = "jaxprentice grade --jobs 3"
BATCH, SINGLE, OTTER = "nbgrader, one batch", "nbgrader, a call each", "otter run, a call each"
STOCK = others.stock_course
GRADERS = (
    Grader(ENGINE, "ours", hand_in, partial(grade, 2), our_scores),
    Grader(THREE, "ours", hand_in, partial(grade, 3), our_scores),
    Grader(COURSE, "ours", others.our_course, autograde, others.gradebook_scores),
    Grader(BATCH, "batch", STOCK, autograde, others.gradebook_scores),
    Grader(SINGLE, "single", STOCK, autograde_each, others.gradebook_scores),
    Grader(OTTER, "single", others.otter_folder, otter_run, lambda f, _: others.otter_scores(f)),
)


@dataclass(frozen=True)
class Row:
    """What a grader took for a lesson."""

    lesson: str
    grader: str
    submissions: int
    seconds: float
    cpu: float | None  # seconds of processor time, all processes together
    scores: dict[str, float] = field(repr=False, default_factory=dict)

    @property
    def each(self) -> float:
        """Seconds on the clock for a submission."""
        return self.seconds / self.submissions

    @property
    def cpu_each(self) -> float | None:
        return None if self.cpu is None else self.cpu / self.submissions


def measured(grader: Grader, lesson: Lesson, jobs: Sequence[Job]) -> Row:
    """Set a grader up in a folder of its own, and take the time of its commands."""
    with tempfile.TemporaryDirectory(prefix="jaxprentice-bench-") as name:
        folder = Path(name, "work")
        folder.mkdir()
        grader.prepare(folder, lesson, jobs)
        log, total = Path(name, "log"), Cost(0.0, 0.0)
        try:
            for command in grader.commands(folder, lesson, jobs):
                total += cost.of(command, folder, others.environment(), log)
        except SystemExit:
            shutil.copy(log, REPORT.with_name("grading.log"))
            raise
        scores = grader.scores(folder, lesson)
    return Row(lesson.id, grader.name, len(jobs), total.seconds, total.cpu, scores)


def check_scores(rows: Sequence[Row], lesson: Lesson) -> None:
    """Complain where graders disagree on who is right: they would not have done the same work.

    What a failed test costs is not the same for all of them.
    """
    right = _right(rows[0], lesson)
    for row in rows:
        wrong = sorted((_right(row, lesson) ^ right) & {*row.scores})
        if len(row.scores) != row.submissions or wrong:
            raise Problem(
                f"{row.grader} has {len(row.scores)} scores for {row.submissions} submissions of "
                f"{lesson.id}, and {rows[0].grader} disagrees on who has all points: {wrong[:3]}."
            )


def _right(row: Row, lesson: Lesson) -> set[str]:
    """The students with all points."""
    return {student for student, x in row.scores.items() if x > lesson.max_points - 0.05}


# The aims -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Aim:
    """A figure, and what it should be at least, or at most."""

    name: str
    value: float | None
    least: float | None = None
    most: float | None = None

    @property
    def is_reached(self) -> bool | None:
        """None where the figure could not be measured."""
        if self.value is None:
            return None
        return (self.least or 0) <= self.value <= (self.most or math.inf)


def aims(rows: Sequence[Row]) -> list[Aim]:
    """What the figures of one lesson are to be."""
    by_name = {row.grader: row for row in rows}
    engine, course = by_name[ENGINE], by_name[COURSE]
    batch, single = by_name[BATCH], by_name[SINGLE]
    return [
        Aim(f"{engine.lesson}: grade, to nbgrader's batch", batch.each / engine.each, least=4),
        Aim(f"{engine.lesson}: grade, to nbgrader's calls", single.each / engine.each, least=10),
        Aim(f"{engine.lesson}: in nbgrader, to its batch", batch.each / course.each, least=1),
        Aim(f"{engine.lesson}: CPU s for a submission", engine.cpu_each, most=1),
    ]


# Reports ------------------------------------------------------------------------------------------

HEAD = f"{'':32} {'submissions':>11} {'seconds':>8} {'a minute':>8} {'CPU s each':>10}"


def table_line(row: Row) -> str:
    cpu = "not known" if row.cpu_each is None else f"{row.cpu_each:.2f}"
    name = f"{row.lesson}: {row.grader}"
    return f"{name:32} {row.submissions:11} {row.seconds:8.1f} {60 / row.each:8.0f} {cpu:>10}"


def aim_line(aim: Aim) -> str:
    bounds = [("at least", aim.least), ("at most", aim.most)]
    bound = "".join(f"{word} {limit:g}" for word, limit in bounds if limit is not None)
    verdict = {True: "reached", False: "not reached", None: ""}[aim.is_reached]
    value = "not known" if aim.value is None else f"{aim.value:.2f}"
    return f"{aim.name:44} {value:>9}  {bound:14} {verdict}".rstrip()


def shown(row: Row) -> dict[str, Any]:
    """A row as the report has it, without the scores."""
    about = {key: value for key, value in asdict(row).items() if key != "scores"}
    return {**about, "per_minute": 60 / row.each, "cpu_each": row.cpu_each}


def chosen(words: Sequence[str]) -> list[Lesson]:
    picked = [name for name in LESSONS if not words or any(word in name for word in words)]
    return [manifest.get(name) for name in picked]


def main(
    words: Sequence[str] = (), report: Path = REPORT, graders: Sequence[Grader] = GRADERS
) -> None:
    """Print the table, line by line, and write the report."""
    sizes, rows, found = Sizes(), [], []
    print(HEAD)
    for lesson in chosen(words):
        everyone = make_class(lesson, sizes.ours)
        runs = (measured(x, lesson, everyone[: getattr(sizes, x.size)]) for x in graders)
        of_lesson = measure.printed(runs, table_line)
        check_scores(of_lesson, lesson)
        rows += of_lesson
        found += aims(of_lesson)
    lesson = chosen(words)[0]
    grown = memory.grown(lesson, make_class(lesson, sizes.memory))
    found.append(Aim(f"memory over {sizes.memory} submissions, growth", grown.ratio, most=1.05))
    print("\n".join(map(aim_line, found)))
    told = [{**asdict(aim), "reached": aim.is_reached} for aim in found]
    memory_of = {"submissions": grown.submissions, "megabytes": grown.megabytes}
    measure.keep(report, [*map(shown, rows)], PACKAGES, aims=told, memory=memory_of)


if __name__ == "__main__":
    cost.take_two_processors()
    main(sys.argv[1:])
