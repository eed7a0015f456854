"""What a class of 2,000 costs: time, memory and disk of a term's commands, from a smaller class.

`./jaxprentice bench term` grades 200 submissions that all differ, reports on them and exports them,
on two processors, without nbgrader and in a course directory. It keeps the figures with their date
in `benchmarks/term.json`, and shows each command's CPU beside that of the run before. Submissions
do not depend on each other, so time and disk for 2,000 are ten times as much: that is extrapolated.
`bench grading` grades 2,000 to see that memory does not grow. `python -m benchmarks.term 40` takes
a smaller class; what a command needs before it looks at the first submission weighs more there.
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson
from benchmarks import _cost as cost
from benchmarks import _measure as measure
from benchmarks import _others as others
from benchmarks import grading
from benchmarks.reference import ROOT

REPORT = ROOT / "benchmarks" / "term.json"
LESSON, CLASS, MEASURED = "jvp", 2000, 200


@dataclass(frozen=True)
class Row:
    """What a command took for the class that was measured."""

    command: str
    submissions: int
    seconds: float
    cpu: float | None
    megabytes: float  # that it left on the disk

    def times(self, number: int) -> "Row":
        """The same for a class of this size, extrapolated."""
        by = number / self.submissions
        cpu = None if self.cpu is None else self.cpu * by
        return Row(self.command, number, self.seconds * by, cpu, self.megabytes * by)


Commands = Iterator[tuple[str, list[str]]]
PROGRAM = [sys.executable, "-m", "autograder"]


def on_a_folder(lesson: Lesson) -> Commands:
    """The commands of a term on a folder of submissions, by what they are called."""
    to = ["--lesson", lesson.id, "--out", "results", "--jobs", "2"]
    yield "grade", [*PROGRAM, "grade", "submissions", *to]
    yield "grade again", [*PROGRAM, "grade", "submissions", *to]
    yield "report", [*PROGRAM, "report", "results"]
    yield "export", [*PROGRAM, "export", "results", "--format", "canvas"]


def in_a_course(lesson: Lesson) -> Commands:
    """Those in a course directory, with the gradebook."""
    for title in ("autograde", "autograde again"):
        yield title, [*others.nbgrader(), "autograde", lesson.id]
    yield "generate_feedback", [*others.nbgrader(), "generate_feedback", lesson.id]
    yield "report .", [*PROGRAM, "report", "."]
    yield "export .", [*PROGRAM, "export", ".", "--format", "canvas"]
    yield "similar .", [*PROGRAM, "similar", ".", "--lesson", lesson.id]


def measured(lesson: Lesson, number: int) -> Iterator[Row]:
    """What each command takes for so many students."""
    jobs = grading.make_class(lesson, number)
    for hand_in, commands in ((grading.hand_in, on_a_folder), (others.our_course, in_a_course)):
        with tempfile.TemporaryDirectory(prefix="jaxprentice-bench-") as name:
            folder = Path(name, "work")
            hand_in(folder, lesson, jobs)
            for title, command in commands(lesson):
                before = size(folder)
                taken = cost.of(command, folder, others.environment(), Path(name, "log"))
                yield Row(title, number, taken.seconds, taken.cpu, size(folder) - before)


def size(folder: Path) -> float:
    """The megabytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def line(row: Row, before: Row | None = None) -> str:
    """A row of the table, with the CPU of the run before for as many submissions."""
    last = before.times(row.submissions).cpu if before else None
    cpu, was = ("" if x is None else f"{x / 60:.2f}" for x in (row.cpu, last))
    taken = f"{row.seconds / 60:8.2f}{cpu:>12}{was:>8}{row.megabytes:8.1f}"
    return f"{row.command:18}{row.submissions:11}{taken}"


def main(words: list[str], report: Path = REPORT) -> None:
    """Print the table, measured and extrapolated, and keep the figures."""
    lesson, number = manifest.get(LESSON), int(words[0]) if words else MEASURED
    before = {row["command"]: Row(**row) for row in measure.last_rows(report)}
    print(f"{'':18}{'submissions':>11}{'minutes':>8}{'CPU minutes':>12}{'before':>8}{'MB':>8}")
    rows = measure.printed(measured(lesson, number), lambda row: line(row, before.get(row.command)))
    print("Extrapolated:")
    for row in rows:
        print(line(row.times(CLASS), before.get(row.command)))
    measure.keep(report, [*map(asdict, rows)], grading.PACKAGES)


if __name__ == "__main__":
    cost.take_two_processors()
    main(sys.argv[1:])
