"""From submissions to results: each verdict is made once, and those that are known are not."""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from pathlib import Path

from autograder.classroom.run.presenting import Submission, presented
from autograder.grading import result_files
from autograder.grading.result import Result, is_graded
from autograder.grading.task import Task, Verdicts
from autograder.lessons.problem import Problem

Finished = Generator[tuple[Submission, Result], None, None]
Executor = Callable[[Sequence[Task]], Verdicts]  # gives verdicts as they finish


def recall(work: Sequence[Submission], store: Path) -> dict[str, Result]:
    """The verdicts that these submissions need and the store, a folder, has by key."""
    keys = {task.key for each in work for task in each.tasks}
    return {key: verdict for key in sorted(keys) if (verdict := _kept(store / f"{key}.json"))}


def _kept(path: Path) -> Result | None:
    """A verdict; one that is damaged, or says nothing about its module, is not there."""
    try:
        verdict = result_files.read(path)
    except Problem:  # there is none, or it is of an older form
        return None
    return verdict if is_graded(verdict) else None


def is_known(each: Submission, known: Collection[str]) -> bool:
    """Are all verdicts there that a submission's result is made of?"""
    return all(task.key in known for task in each.tasks)


def equal(work: Sequence[Submission]) -> str:
    """How many modules are equal to one before them, as the end of a sentence."""
    keys = [each.task.key for each in work if each.task.source is not None]
    count = len(keys) - len({*keys})
    return f", {count} of them equal to another" if count else ""


def graded(
    work: Sequence[Submission], known: Mapping[str, Result], store: Path, execute: Executor
) -> Finished:
    """Each submission with its result: first those whose verdicts are known, then as they finish.

    New verdicts are kept in the store before anything is made of them.
    """
    found = dict(known)
    waiting: dict[str, list[Submission]] = defaultdict(list)
    missing: dict[str, Task] = {}
    for each in work:
        for task in each.tasks:
            if task.key not in known:
                waiting[task.key].append(each)
                missing[task.key] = task
        if is_known(each, known):
            yield each, presented(each, found)
    with contextlib.closing(execute(list(missing.values()))) as made:
        for task, verdict in made:
            result_files.write({**verdict, "student": task.key}, store)
            found[task.key] = verdict
            ready = [each for each in waiting[task.key] if is_known(each, found)]
            yield from ((each, presented(each, found)) for each in ready)
