"""Grading on a Dask cluster: a real scheduler and real workers, processes of their own.

They are started as `./jaxprentice cluster` says, with the key that it makes.
"""

import contextlib
import csv
import io
import os
import re
import shlex
import signal
import stat
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import accounts
import dask
import pytest
from command_lines import EXAMPLES
from distributed import Client
from distributed.comm.core import CommClosedError

from autograder import cli
from autograder.classroom.run import cluster
from autograder.classroom.run import folder as class_run
from autograder.grading import pool, result_files
from autograder.grading.task import Edition, Task
from autograder.lessons import manifest
from autograder.lessons.problem import Problem
from autograder.student import doctor
from autograder.upkeep import sample_class

pytestmark = [pytest.mark.slow, pytest.mark.isolated]

LESSON = manifest.get("interpreters")
EVERYONE = [each for each in sample_class.make(LESSON) if each.kind != "endless"]


@pytest.fixture(scope="module")
def told():
    """What `./jaxprentice cluster` says, once; DASK_CONFIG is where it has made a key."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o755)  # as homes mostly are: what is private is so by its own rights
        settings = Path(home, "dask")
        patch.setenv("DASK_CONFIG", str(settings))
        patch.setattr(dask.config, "PATH", str(settings))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert cli.main(shlex.split(EXAMPLES["cluster"])) == 0
        with dask.config.set(settings_in(settings)):
            yield out.getvalue()


def settings_in(folder):
    """Dask's settings, with those in a folder."""
    return dask.config.merge(dask.config.config, *dask.config.collect_yaml([str(folder)]))


def command(told, program):
    """The command that starts a program of Dask's, as it was told."""
    return next(shlex.split(x) for x in told.splitlines() if f"-m dask {program}" in x)


def start(folder, words, **more):
    """Start a program in a shell's words, and give the process and its log."""
    environment = {**os.environ, "DASK_DISTRIBUTED__LOGGING": "{}", **more}
    log = folder / f"{len(list(folder.iterdir()))}.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            ["env", *words], env=environment, stdout=file, stderr=file, start_new_session=True
        )
    return process, log


def said(log, pattern, process):
    """What a program's log says, as soon as it does."""
    for _ in range(600):
        if found := re.search(pattern, log.read_text()):
            return found[1]
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def end(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # a worker has a process that watches it
    process.wait()


HERE = ("--host", "127.0.0.1", "--port", "0")
PLAIN = {"DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME": "tcp", "DASK_CONFIG": "/nonexistent"}


@pytest.fixture
def process_and_address(told, tmp_path):
    """A scheduler without workers."""
    process, log = start(tmp_path, [*command(told, "scheduler"), *HERE])
    try:
        yield process, said(log, r"Scheduler at:\s+(tls://\S+)", process)
    finally:
        end(process)


@pytest.fixture
def scheduler(process_and_address):
    """The address of a scheduler without workers."""
    return process_and_address[1]


@pytest.fixture
def workers(told, scheduler, tmp_path):
    """Two workers of the cluster, as processes."""
    words = [scheduler if "HEAD" in word else word for word in command(told, "worker")]
    words = [word for word in words if "--nworkers" not in word]
    how = ("--no-nanny", "--local-directory", str(tmp_path))
    both = [start(tmp_path, [*words, *how]) for _ in range(2)]
    try:
        for process, log in both:
            said(log, r"(Registered to)", process)
        yield [process for process, _ in both]
    finally:
        for process, _ in both:
            end(process)


@pytest.fixture
def class_of_18(tmp_path):
    """A folder of submissions, and the scores that they get from this machine's own grader."""
    folder = tmp_path / "handed-in"
    wanted = {}
    own = pool.grade_many(Task.of(LESSON, x.source.encode()) for x in EVERYONE)
    scores = {task.source.decode(): verdict["score"] for task, verdict in own}
    for number in range(18):
        each = EVERYONE[number % len(EVERYONE)]
        path = folder / f"student-{number:02}" / LESSON.module
        path.parent.mkdir(parents=True)
        path.write_text(f"{each.source}\n# {number}\n")
        wanted[f"student-{number:02}"] = scores[each.source]
    return folder, wanted


def test_a_worker_that_is_killed_loses_and_doubles_no_grade(
    scheduler, workers, class_of_18, tmp_path, capsys
):
    private = Path(os.environ["DASK_CONFIG"], "jaxprentice")  # what Dask imports from is in it
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert list(private.glob("dask-scratch-space/scheduler-*"))  # and not in /tmp, where it was
    folder, wanted = class_of_18
    out = tmp_path / "out"
    killer = threading.Thread(target=kill_after, args=(workers[0], out, 5), daemon=True)
    killer.start()
    class_run.grade_folder(folder, LESSON, out, scheduler=scheduler)
    killer.join()
    assert workers[0].poll() is not None
    assert len(list(out.glob("*.json"))) == 18
    assert {r["student"]: r["score"] for r in result_files.read_all(out)} == wanted
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert sorted(x for x in lines if x.startswith("student-")) == sorted(wanted)
    with (out / "grades.csv").open(newline="") as file:
        assert {row["student"]: float(row["score"]) for row in csv.DictReader(file)} == wanted


def kill_after(process, out, count):
    while len(list(out.glob("*.json"))) < count:
        time.sleep(0.02)
    process.kill()


def of_another_version(source):
    """A task of a checkout with other tests."""
    edition = Edition(LESSON, "process")
    vars(edition)["mark"] = "another"
    return Task(edition, source)


def test_a_scheduler_that_does_not_answer_is_told_in_a_sentence(told, monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS", 1)
    with pytest.raises(Problem, match=r"No Dask scheduler answers .*jaxprentice cluster"):
        list(cluster.grade_many([], "tls://127.0.0.1:1"))


@pytest.mark.parametrize("file", [None, "/nonexistent", __file__])
def test_a_missing_or_a_broken_key_is_told_in_a_sentence(told, file):
    with dask.config.set({"distributed.comm.tls.ca-file": file}):
        files = {"distributed.comm.tls.client": {"cert": file, "key": file}}
        with dask.config.set(files), pytest.raises(Problem, match=r"has no key .*jaxprentice"):
            list(cluster.grade_many([], "tls://127.0.0.1:1"))


def test_another_version_and_a_scheduler_that_ends_are_told_in_a_sentence(
    process_and_address, workers, monkeypatch
):
    process, address = process_and_address
    sources = [each.source.encode() for each in EVERYONE]
    with pytest.raises(Problem, match="has another version of the course"):
        list(cluster.grade_many(map(of_another_version, sources), address))

    def closed(*_):
        raise CommClosedError("Connection reset by peer")

    one = [Task.of(LESSON, EVERYONE[0].source.encode())]
    with monkeypatch.context() as patch:
        patch.setattr(cluster, "_verdict", closed)  # while a result is fetched
        with pytest.raises(Problem, match="is gone"):
            list(cluster.grade_many(one, address))
    tasks = [Task.of(LESSON, f"{EVERYONE[0].source}\n# {n}\n".encode()) for n in range(30)]
    made = cluster.grade_many(tasks, address)
    next(made)
    process.kill()
    with pytest.raises(Problem, match="is gone"):
        list(made)


# ------------------------------------------------------------------------------------------
# Who may speak to whom

STRANGER = "61234"  # an account that nobody has
TRY = """
import asyncio, os, sys
from distributed import Client
from distributed.core import rpc
from distributed.security import Security

async def kind(address):
    key = Security().get_connection_args("client")
    async with rpc(address, timeout=5, connection_args=key) as peer:
        return (await peer.identity())["type"]

for address in sys.argv[1:]:
    try:
        print("spoke to a", found := asyncio.run(kind(address)))
        if found == "Scheduler":
            with Client(address, timeout=5) as client:
                print("ran as", client.submit(os.getuid).result(20))
    except Exception as error:
        print("refused:", repr(error))
"""


@pytest.fixture(scope="module")
def plain(told, tmp_path_factory):
    """The address of a scheduler without a key on loopback, with a worker."""
    folder = tmp_path_factory.mktemp("plain")
    process, log = start(folder, [*command(told, "scheduler"), *HERE], **PLAIN)
    address = said(log, r"Scheduler at:\s+(tcp://\S+)", process)
    words = [address if "HEAD" in word else word for word in command(told, "worker")]
    words = [word for word in words if "--nworkers" not in word]
    worker, log = start(folder, [*words, "--local-directory", str(folder)], **PLAIN)
    said(log, "(Registered to)", worker)
    yield address
    end(process)
    end(worker)


@accounts.only_root
def test_another_account_cannot_speak_to_the_cluster_and_could_without_its_key(
    scheduler, workers, plain
):
    def try_it(*addresses, **environment):
        return accounts.run_as(STRANGER, "-c", TRY, *addresses, **environment)

    assert try_it(plain, **PLAIN) == f"spoke to a Scheduler\nran as {os.getuid()}\n"
    with Client(scheduler) as client:  # the owner can
        assert client.submit(os.getuid).result(20) == os.getuid()
        worker = next(iter(client.scheduler_info()["workers"]))
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, int(STRANGER), int(STRANGER))
        own = {"DASK_CONFIG": f"{folder}/dask"}
        accounts.run_as(STRANGER, "-m", "autograder", "cluster", **own)
        addresses = (scheduler, worker, scheduler.replace("tls", "tcp"))
        for way in ({"DASK_CONFIG": os.environ["DASK_CONFIG"]}, own, PLAIN):
            told = try_it(*addresses, **way).splitlines()
            assert [x.partition(":")[0] for x in told] == ["refused"] * len(addresses), (way, told)


def test_an_address_without_encryption_is_refused_on_this_machine_too(plain):
    with pytest.raises(Problem, match=r"is not encrypted.*\./jaxprentice cluster"):
        list(cluster.grade_many([], plain))


@pytest.mark.parametrize("address", ["localhost:1", "head:8786", "ws://head:1", "ucx://head:1"])
def test_only_tls_is_encryption(address):
    with dask.config.set({"distributed.comm.default-scheme": "tcp"}):
        with pytest.raises(Problem, match="is not encrypted"):
            cluster._check_private(address)
        cluster._check_private("tls://head:8786", "tls://127.0.0.1:1")


@pytest.mark.parametrize("ours", ["tls://127.0.0.1:1", "tcp://127.0.0.1:2"])
@pytest.mark.parametrize("theirs", ["tls://127.0.0.1:1", "tcp://127.0.0.1:8786"])
def test_a_worker_refuses_to_work_without_encryption(monkeypatch, ours, theirs):
    worker = SimpleNamespace(address=ours, scheduler=SimpleNamespace(address=theirs))
    monkeypatch.setattr(cluster, "get_worker", lambda: worker)
    message = "another version" if "tcp" not in ours + theirs else "is not encrypted"
    with pytest.raises(Problem, match=message):
        cluster._grade_one(of_another_version(b""))


# ------------------------------------------------------------------------------------------
# The key


@pytest.fixture
def no_key(tmp_path, monkeypatch):
    """The folder of Dask's settings of an account that has no key yet, and a careless umask."""
    monkeypatch.setattr(dask.config, "PATH", str(tmp_path / "dask"))
    before = os.umask(0)
    yield tmp_path / "dask"
    os.umask(before)


def test_the_key_is_private_from_the_beginning_and_stays_the_same(no_key):
    folder = cluster.make_key()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "key.pem").stat().st_mode) == 0o600
    assert stat.S_IMODE(no_key.stat().st_mode) == 0o700
    assert stat.S_IMODE((no_key / "jaxprentice.yaml").stat().st_mode) == 0o600
    key = (folder / "key.pem").read_bytes()
    assert (cluster.make_key() / "key.pem").read_bytes() == key
    assert sorted(path.name for path in no_key.iterdir()) == ["jaxprentice", "jaxprentice.yaml"]


@pytest.mark.parametrize(
    ("program", "message"), [(None, "is not installed"), ("echo So. >&2; exit 1", "no key .So")]
)
def test_a_key_that_cannot_be_made_is_told_and_leaves_nothing(
    no_key, tmp_path, monkeypatch, program, message
):
    monkeypatch.setenv("PATH", str(tmp_path))
    if program:
        (tmp_path / "openssl").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "openssl").chmod(0o755)
    with pytest.raises(Problem, match=message):
        cluster.make_key()
    assert list(no_key.iterdir()) == []


def test_doctor_says_what_is_wrong_with_the_key(no_key):
    with dask.config.set({"distributed.comm.require-encryption": False}):
        assert doctor.cluster()[0] == doctor.NOTE
    key = cluster.make_key() / "key.pem"
    with dask.config.set(settings_in(no_key)):
        assert doctor.cluster()[0] == doctor.OK
        key.chmod(0o644)
        assert "Others can read the key" in doctor.cluster()[1]
        key.write_text("no key")
        assert doctor.cluster()[0] == doctor.WRONG
        key.unlink()
        assert doctor.cluster()[0] == doctor.WRONG
