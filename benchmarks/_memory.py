"""How the memory of the graders' own processes grows while they grade a long class."""

import multiprocessing
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.grading import pool
from autograder.grading.task import Task
from autograder.lessons.manifest import Lesson


@dataclass(frozen=True)
class Growth:
    """The resident memory of all trusted processes together, after each submission."""

    megabytes: tuple[float, ...]

    @property
    def submissions(self) -> int:
        return len(self.megabytes)

    @property
    def ratio(self) -> float:
        """The memory in the last fifth of the class, to that in the second one.

        In the first fifth the answers of the reference and of the known mistakes are collected.
        """
        fifth = max(1, self.submissions // 5)
        late = statistics.median(self.megabytes[-fifth:])
        return late / statistics.median(self.megabytes[fifth : 2 * fifth])


def grown(lesson: Lesson, jobs: Sequence[tuple[str, str]], workers: int = 2) -> Growth:
    """Grade a class, and look at the memory after each submission."""
    found = []
    work = [Task.of(lesson, source.encode()) for _, source in jobs]
    for _ in pool.grade_many(work, workers=workers):
        children = [process.pid for process in multiprocessing.active_children()]
        found.append(sum(resident(number) for number in [os.getpid(), *filter(None, children)]))
    return Growth(tuple(found))


def resident(process: int) -> float:
    """The megabytes of memory that a process holds, 0 where that cannot be seen."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except OSError:
        return 0.0
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6
