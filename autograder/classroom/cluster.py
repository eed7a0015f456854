"""Grades on a Dask cluster: the work of `pool.grade_many`, sent to whatever machines have joined.

Each worker of the cluster is a grader like any other: it has a checkout of this repository, and
runs each submission in isolation. What was in the hands of a worker that dies is given to another
one by Dask; the results come here, and only here are they written.
"""

import functools
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from distributed import Client, KilledWorker, as_completed
from distributed.client import FutureCancelledError

from autograder.grading import fingerprint, submission
from autograder.grading.pool import Job, Results
from autograder.grading.result import Result
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem

SECONDS = 10  # for the scheduler to answer


def grade_many(
    submissions: Iterable[Job],
    lesson: Lesson,
    address: str,
    *,
    mark: str,
    level: str,
    seed: int = 0,
) -> Results:
    """Grade (student, source) pairs on the cluster whose scheduler is at `address`.

    Results come as they finish. `mark` is the fingerprint that every worker must have: one with
    another version of anything that a grade depends on refuses to work.
    """
    options = {"level": level, "seed": seed}
    with _connect(address) as client, client.as_current():
        futures = {
            client.submit(_grade_one, lesson.id, *job, options, mark, pure=False): job
            for job in submissions
        }
        try:
            for future in as_completed(list(futures)):
                yield _result(future, lesson, futures.pop(future), options)
        except FutureCancelledError:
            raise Problem(
                f"The scheduler at {address} is gone. The results so far are kept: start it and "
                "its workers, then run the same command again to go on."
            ) from None
        finally:
            client.cancel(list(futures), force=True)


def _connect(address: str) -> Client:
    try:
        client = Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise Problem(
            f"No Dask scheduler answers at {address!r} ({type(error).__name__}). Start one by "
            "`dask scheduler`, and give the address that it prints."
        ) from None
    if not client.scheduler_info()["workers"]:
        print(f"The scheduler at {address} has no workers yet. Waiting for the first.", flush=True)
    return client


def _result(future: Any, lesson: Lesson, job: Job, options: Mapping[str, Any]) -> Result:
    try:
        return future.result()
    except KilledWorker:  # several, one after the other
        return submission.ungraded(lesson, *job, options)


# ------------------------------------------------------------------------------------------
# On a worker

_one_at_a_time = threading.Lock()  # pytest, and what it captures, belong to the whole process


def _grade_one(
    lesson_id: str, student: str, source: bytes | None, options: Mapping[str, Any], mark: str
) -> Result:
    with _one_at_a_time:
        lesson = manifest.get(lesson_id)
        if _fingerprint(lesson, options["level"], options["seed"]) != mark:
            raise Problem(
                f"The worker at {_own_address()} has another version of the course, of Python or "
                "of a package than this machine. Bring both to the same one."
            )
        return submission.grade(lesson, student, source, **options)


_fingerprint = functools.cache(fingerprint.fingerprint)


def _own_address() -> str:
    from distributed import get_worker

    return str(get_worker().address)
