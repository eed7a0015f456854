"""Grades on a Dask cluster: the work of `pool.grade_many`, sent to whatever machines have joined.

Each worker of the cluster is a grader like any other: it has a checkout of this repository, and
runs each submission in isolation. What was in the hands of a worker that dies is given to another
one by Dask; the results come here, and only here are they written.

What reaches a scheduler without TLS can run programs on it, on its workers and here; on loopback
that is every account of the machine. So both sides refuse an address without it, whatever it is.
`make_key` makes the key that lets a scheduler, workers and `grade` speak to each other.
"""

import functools
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
from distributed import Client, KilledWorker, as_completed, get_worker
from distributed.client import FutureCancelledError
from distributed.comm.addressing import parse_address
from distributed.comm.core import CommClosedError
from distributed.security import Security

from autograder.grading import submission
from autograder.grading.result import Result
from autograder.grading.task import Edition, Task, Verdicts
from autograder.lessons import manifest, places
from autograder.lessons.problem import Problem

SECONDS = 10  # for the scheduler to answer


def grade_many(tasks: Iterable[Task], address: str) -> Verdicts:
    """Grade tasks on the cluster whose scheduler is at `address`; verdicts come as they finish.

    A worker with another version of anything that a verdict depends on refuses to work.
    """
    with _connect(address) as client, client.as_current():
        futures = {client.submit(_grade_one, task, pure=False): task for task in tasks}
        try:
            for future in as_completed(list(futures)):
                task = futures.pop(future)
                yield task, _verdict(future, task)
        except (FutureCancelledError, CommClosedError):  # before or while a result is fetched
            raise Problem(
                f"The scheduler at {address} is gone. The results so far are kept: start it and "
                "its workers, then run the same command again to go on."
            ) from None
        finally:
            client.cancel(list(futures), force=True)


def _connect(address: str) -> Client:
    _check_private(address)
    _check_key(address)
    try:
        client = Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise Problem(
            f"No Dask scheduler answers at {address!r} ({type(error).__name__}). Run "
            "`./jaxprentice cluster`, which says how to start one, and give the address it prints."
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
        if parse_address(address)[0] != "tls":
            raise Problem(
                f"{address} is not encrypted, so other accounts could run programs through it. "
                "Run `./jaxprentice cluster`, which says how to start a cluster that is."
            )


def _check_key(address: str) -> None:
    """Complain if Dask has no key: its client would wait for a while, and end in a traceback."""
    try:
        found = Security().get_connection_args("client").get("ssl_context")
    except OSError:  # among them what is no certificate
        found = None
    if not found:
        raise Problem(
            f"Dask has no key with which to speak to {address}. Make one by `./jaxprentice "
            'cluster`, or copy the one of that cluster, as the guide says in "Many machines".'
        )


def _verdict(future: Any, task: Task) -> Result:
    try:
        return future.result()
    except KilledWorker:  # several, one after the other
        return submission.ungraded(task)


# ------------------------------------------------------------------------------------------
# The key of a cluster

_OPENSSL = """
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650
    -subj /CN=jaxprentice -keyout key.pem -out cert.pem
"""


def make_key() -> Path:
    """The private folder with the key of one's own clusters, which is made if it is not there.

    It is in Dask's folder of settings, and these say that whatever Dask starts uses the key.
    """
    settings = Path(dask.config.PATH)
    folder = settings / "jaxprentice"
    settings.mkdir(mode=0o700, parents=True, exist_ok=True)  # settings can name programs to run
    if not folder.exists():
        made = Path(tempfile.mkdtemp(dir=settings))  # only its owner can open it
        try:
            _run_openssl(made)
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    ours = settings / "jaxprentice.yaml"
    ours.touch(mode=0o600)
    ours.write_text(_settings(folder), encoding="utf-8")
    return folder


def _run_openssl(folder: Path) -> None:
    """Write a key, and a certificate that it has signed itself."""
    try:
        subprocess.run(_OPENSSL.split(), cwd=folder, capture_output=True, check=True)
    except FileNotFoundError:
        raise Problem(
            "The key is made by openssl, which is not installed. Install it "
            "(on Debian: sudo apt install openssl), then run the same command again."
        ) from None
    except subprocess.CalledProcessError as error:
        why = error.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise Problem(f"openssl makes no key ({why}). Run it by hand to see more.") from None


def _settings(folder: Path) -> str:
    """What Dask is told: to speak with this key only, and to keep its files beside it.

    Its own choice is a folder in /tmp that all accounts share. It imports from a part of that,
    and the account that has made the folder first can put another part in its place.
    """
    own = {"cert": f"{folder}/cert.pem", "key": f"{folder}/key.pem"}
    tls = {"ca-file": own["cert"], **dict.fromkeys(("scheduler", "worker", "client"), own)}
    comm = {"default-scheme": "tls", "require-encryption": True, "tls": tls}
    told = {"temporary-directory": str(folder), "distributed": {"comm": comm}}
    return json.dumps(told, indent=2)  # which is YAML, too


def how_to_start() -> list[str]:
    """The commands that start a scheduler and its workers, on any machine that has the key."""
    start = f"{shlex.quote(sys.executable)} -m dask"
    course = f"PYTHONPATH={shlex.quote(str(places.ROOT))}"
    return [
        f"{start} scheduler --no-dashboard",
        f"{course} {start} worker tls://HEAD:8786 --nthreads 1 --nworkers=-1 --no-dashboard",
    ]


# ------------------------------------------------------------------------------------------
# On a worker

_one_at_a_time = threading.Lock()  # pytest, and what it captures, belong to the whole process


def _grade_one(task: Task) -> Result:
    worker = get_worker()
    _check_private(worker.address, worker.scheduler.address)
    with _one_at_a_time:
        own = _edition(task.edition.lesson.id, task.edition)
        if own.mark != task.edition.mark:
            raise Problem(
                f"The worker at {worker.address} has another version of the course, of Python or "
                "of a package than this machine. Bring both to the same one."
            )
        return submission.grade(replace(task, edition=own))


@functools.cache
def _edition(lesson: str, asked: Edition) -> Edition:
    """The edition as this machine's checkout has it."""
    return replace(asked, lesson=manifest.get(lesson))
