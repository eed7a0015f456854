"""Grades on a Dask cluster: the work of `pool.grade_many`, sent to whatever machines have joined.

Each worker of the cluster is a grader like any other: it has a checkout of this repository, and
runs each submission in isolation. What was in the hands of a worker that dies is given to another
one by Dask; the results come here, and only here are they written.

What reaches a scheduler without TLS can run programs on it, on its workers and here. So both
sides refuse one, unless it is on this machine and no other user can reach it.
"""

import functools
import ipaddress
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from distributed import Client, KilledWorker, as_completed, get_worker
from distributed.client import FutureCancelledError
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.comm.core import CommClosedError

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
        except (FutureCancelledError, CommClosedError):  # before or while a result is fetched
            raise Problem(
                f"The scheduler at {address} is gone. The results so far are kept: start it and "
                "its workers, then run the same command again to go on."
            ) from None
        finally:
            client.cancel(list(futures), force=True)


def _connect(address: str) -> Client:
    _check_private(address)
    try:
        client = Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise Problem(
            f"No Dask scheduler answers at {address!r} ({type(error).__name__}). Start one by "
            "`dask scheduler`, and give the address that it prints."
        ) from None
    about = client.scheduler_info()
    try:
        _check_private(about["address"])  # it may listen elsewhere, too
    except Problem:
        client.close()
        raise
    if not about["workers"]:
        print(f"The scheduler at {address} has no workers yet. Waiting for the first.", flush=True)
    return client


def _check_private(*addresses: str) -> None:
    """Complain about an address to which others could speak, and send programs."""
    for address in addresses:
        if not is_private(address):
            raise Problem(
                f"{address} is not encrypted, and others can reach it. Set up TLS as the guide "
                'says in "Many machines", or start the scheduler with `--host 127.0.0.1`.'
            )


def is_private(address: str) -> bool:
    """Is an address of Dask encrypted, or one that only this machine can reach?"""
    scheme, rest = parse_address(address)
    try:
        host = parse_host_port(rest, 0)[0]
        here = ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        here = rest.partition(":")[0] == "localhost"
    return here or scheme == "tls"


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
    worker = get_worker()
    _check_private(worker.address, worker.scheduler.address)
    with _one_at_a_time:
        lesson = manifest.get(lesson_id)
        if _fingerprint(lesson, options["level"], options["seed"]) != mark:
            raise Problem(
                f"The worker at {worker.address} has another version of the course, of Python or "
                "of a package than this machine. Bring both to the same one."
            )
        return submission.grade(lesson, student, source, **options)


_fingerprint = functools.cache(fingerprint.fingerprint)
