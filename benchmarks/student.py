"""How long a student waits: from `check` to its answer.

In a workspace on a warm disk, each lesson is checked as its skeleton is, and as the reference is.
Time on the clock is what a student feels; processor time (of all processes) tells how much of it
was ours on a machine that is busy. The aim: an answer within 1 s for lessons without XLA, 2 s with
it.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from autograder.lessons import assemble, manifest, places
from autograder.lessons.manifest import Lesson
from autograder.student import workspace
from benchmarks._cost import HEAD, Row
from benchmarks._measure import keep, printed

ROUNDS = 5
REPORT = places.ROOT / "build" / "bench" / "student.json"
FIRST_WITH_XLA = 10  # the number of the `jit` lesson


def measured(name: str, command: Sequence[str], folder: Path, aim: float, rounds: int) -> Row:
    """Run a command several times; the first run, which warms the disk, does not count."""
    found = [seconds(command, folder) for _ in range(rounds + 1)][1:]
    clock, cpu = map(statistics.median, zip(*found, strict=True))
    return Row(name, clock, cpu, aim)


def seconds(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """Wall and processor time of a command with all that it starts."""
    before, start = os.times(), time.perf_counter()
    kept = {name: x for name, x in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**kept, "PYTHONPATH": str(places.ROOT)}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    after = os.times()
    used = after.children_user + after.children_system
    return time.perf_counter() - start, used - before.children_user - before.children_system


def make_workspace(folder: Path) -> None:
    """A workspace of skeletons, without its pages."""
    packages = {x.package for x in manifest.load().values() if x.exercises}
    assemble.write_files(folder, assemble.handout(packages))
    workspace.add_launcher(folder, str(places.ROOT))


def rows_of(lesson: Lesson, folder: Path, rounds: int) -> list[Row]:
    """A lesson, untouched and solved."""
    check = [sys.executable, "-P", "-m", "autograder", "check", lesson.id]
    aim = 2.0 if lesson.number >= FIRST_WITH_XLA else 1.0
    untouched = measured(f"check {lesson.id}, untouched", check, folder, aim, rounds)
    (folder / lesson.module).write_bytes((places.SOLUTIONS / lesson.module).read_bytes())
    return [untouched, measured(f"check {lesson.id}, solved", check, folder, aim, rounds)]


def main(lessons: Sequence[str] = (), rounds: int = ROUNDS, report: Path = REPORT) -> None:
    """Measure the lessons, all if none is named; print a table and write it as JSON."""
    known = [x for x in manifest.load().values() if x.exercises and x.id in (lessons or [x.id])]
    print(HEAD)
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        make_workspace(folder)
        of_lessons = (row for x in known for row in rows_of(x, folder, rounds))
        rows = printed(of_lessons, lambda row: row.line)
    keep(report, [*map(asdict, rows)], ("numpy", "jaxlib"))


if __name__ == "__main__":
    main(sys.argv[1:])
