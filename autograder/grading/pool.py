"""Grades many submissions in several processes; none of them is lost when a process dies."""

import contextlib
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    as_completed,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from autograder.grading.judging import HIDDEN, Policy
from autograder.grading.result import Result
from autograder.grading.submission import Base, grade, ungraded
from autograder.lessons.manifest import Lesson, load
from autograder.sandbox import isolation

T = TypeVar("T")
R = TypeVar("R")


Job = tuple[str, bytes | None]
Results = Generator[Result, None, None]
ALONE = 3  # times that a submission is tried which was in the hands of a process that died


def grade_many(
    submissions: Iterable[Job],
    lesson: Lesson,
    *,
    workers: int | None = None,
    level: str | None = None,
    seed: int = 0,
    policy: Policy = HIDDEN,
    kept: Path | None = None,
    shrink: bool = True,
    bases: Mapping[str, Base] | None = None,
) -> Results:
    """Grade (student, source) pairs in `workers` processes; None means one for each processor.

    Results come as they finish, not in order. What was in the hands of a process that dies is
    graded again, alone; when that has failed ALONE times, the result has no points and says so
    (`is_graded`). Close the generator to stop the processes at once. `bases` holds the modules of
    earlier lessons that some students build on, by student.
    """
    options = {"level": isolation.choose(level), "seed": seed, "policy": policy}
    options |= {"kept": kept, "shrink": shrink}
    own = bases or {}
    waiting = list(submissions)
    workers = min(workers or os.cpu_count() or 1, len(waiting))
    if workers <= 1:
        for student, source in waiting:
            yield grade(lesson, student, source, base=own.get(student), **options)  # type: ignore[arg-type]
        return
    suspects: list[Job] = []
    yield from _pooled(waiting, lesson, workers, options, suspects, own)
    for _ in range(ALONE):
        again: list[Job] = []
        yield from _pooled(suspects, lesson, 1, options, again, own)
        suspects = again
    for job in suspects:
        yield ungraded(lesson, *job, options)


def _pooled(
    waiting: list[Job],
    lesson: Lesson,
    workers: int,
    options: Mapping[str, Any],
    lost: list[Job],
    bases: Mapping[str, Base],
) -> Results:
    """Results of a pool; those that were in the hands of a process when it died go to `lost`."""
    waiting = waiting[::-1]
    most = 2 * workers if workers > 1 else 1  # in hand at once
    while waiting:
        running: dict[Future[Result], Job] = {}
        with _pool(workers) as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < most:
                        more = {**options, "base": bases.get(waiting[-1][0])}
                        future = pool.submit(_grade_one, lesson, *waiting[-1], more)
                        running[future] = waiting.pop()  # now: a broken pool takes nothing
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        result = future.result()
                        del running[future]
                        yield result
            except BrokenProcessPool:
                lost += running.values()


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes end with this one, and at once where the work breaks off."""
    # spawn: a process that has threads must not be forked.
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="jaxprentice-", ignore_cleanup_errors=True) as folder:
        options: dict[str, Any] = {
            "initializer": _join_pool,
            "initargs": ([folder, *isolation.folders()],),
        }
        with ProcessPoolExecutor(workers, context, **options) as pool:
            try:
                yield pool
            except BaseException:
                for process in multiprocessing.active_children():
                    process.terminate()
                raise


def _join_pool(folders: Sequence[str]) -> None:
    """Prepare a process of a pool: its temporary files lie in the first folder, the pool's.

    Ctrl-C goes to every process at the terminal; the first one decides what is to be done.
    """
    tempfile.tempdir = folders[0]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(folders,), daemon=True).start()


def _end_with_parent(folders: Sequence[str]) -> None:
    """Leave nothing when the first process was killed; the workers end with their parent."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


class Crew:
    """Processes that do one round of work after the other, and keep what they know meanwhile."""

    def __init__(self, pool: ProcessPoolExecutor | None = None) -> None:
        self.pool = pool  # None: this process does the work itself

    def each(self, task: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Each item with what `task` makes of it, in the order of finishing."""
        if self.pool is None:
            yield from ((item, task(item)) for item in items)
            return
        futures = {self.pool.submit(task, item): item for item in items}
        for future in as_completed(futures):
            yield futures[future], future.result()


@contextlib.contextmanager
def crew(workers: int | None = None) -> Iterator[Crew]:
    """A crew of so many processes; None means one for each processor."""
    workers = workers or os.cpu_count() or 1
    if workers <= 1:
        yield Crew()
        return
    with _pool(workers) as pool:
        yield Crew(pool)


def _grade_one(
    lesson: Lesson, student: str, source: bytes | None, options: Mapping[str, Any]
) -> Result:
    return grade(load().get(lesson.id, lesson), student, source, **options)
