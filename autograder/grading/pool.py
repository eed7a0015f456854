"""Grades many submissions in several processes; none of them is lost when a process dies."""

import contextlib
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from autograder.grading.result import Result
from autograder.grading.submission import grade, ungraded
from autograder.grading.task import Task, Verdicts
from autograder.sandbox import visible

T = TypeVar("T")
R = TypeVar("R")


ALONE = 3  # times that a submission is tried which was in the hands of a process that died


def grade_many(
    tasks: Iterable[Task],
    *,
    workers: int | None = None,
    programs: Path | None = None,
    shrink: bool = True,
) -> Verdicts:
    """Grade tasks in `workers` processes; None means one for each processor.

    Verdicts come as they finish, not in order. What was in the hands of a process that dies is
    graded again, alone; when that has failed ALONE times, the verdict has no points and says so
    (`is_graded`). Close the generator to stop the processes at once.
    """
    waiting = list(tasks)
    workers = min(workers or os.cpu_count() or 1, len(waiting))
    if workers <= 1:
        yield from ((task, grade(task, programs=programs, shrink=shrink)) for task in waiting)
        return
    suspects: list[Task] = []
    yield from _pooled(waiting, workers, (programs, shrink), suspects)
    for _ in range(ALONE):
        again: list[Task] = []
        yield from _pooled(suspects, 1, (programs, shrink), again)
        suspects = again
    yield from ((task, ungraded(task)) for task in suspects)


def _pooled(
    waiting: list[Task], workers: int, how: tuple[Path | None, bool], lost: list[Task]
) -> Verdicts:
    """Verdicts of a pool; tasks that were in the hands of a process when it died go to `lost`."""
    waiting = waiting[::-1]
    most = 2 * workers if workers > 1 else 1  # in hand at once
    while waiting:
        running: dict[Future[Result], Task] = {}
        with _pool(workers) as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < most:
                        future = pool.submit(_grade_one, waiting[-1], *how)
                        running[future] = waiting.pop()  # now: a broken pool takes nothing
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        verdict = future.result()
                        yield running.pop(future), verdict
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
            "initargs": ([folder, *visible.folders()],),
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
    """Leave nothing when the first process was killed; the workers end with their parent.

    A folder is renamed first: other threads and processes that still write into it by its name can
    put nothing back.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    for folder in folders:
        gone = f"{folder}-gone"
        with contextlib.suppress(OSError):  # a neighbour was first
            Path(folder).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
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


def _grade_one(task: Task, programs: Path | None, shrink: bool) -> Result:
    return grade(task, programs=programs, shrink=shrink)
