"""Grading on a Dask cluster: a real scheduler and real workers, processes of their own."""

import contextlib
import csv
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import dask
import graded_course
import pytest
from distributed import Client
from distributed.comm.core import CommClosedError

from autograder.classroom import class_run, cluster
from autograder.grading import fingerprint, pool, results
from autograder.lessons import manifest
from autograder.lessons.places import ROOT
from autograder.lessons.problem import Problem
from autograder.sandbox import isolation
from autograder.student import doctor
from autograder.upkeep import sample_class

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        graded_course.NO_ISOLATION, reason="no isolation: install the Debian package bubblewrap"
    ),
]

LESSON = manifest.get("interpreters")
EVERYONE = [each for each in sample_class.make(LESSON) if each.kind != "endless"]


def start(folder, *arguments, **more):
    """Start one of Dask's own programs, and give the process and the line that it begins with."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__LOGGING": "{}", **more}
    log = folder / f"{arguments[0]}-{len(list(folder.iterdir()))}.log"
    with log.open("w") as file:
        command = [sys.executable, "-m", "dask", *arguments]
        return subprocess.Popen(command, env=environment, stdout=file, stderr=file), log


def said(log, pattern, process):
    """What a program's log says, as soon as it does."""
    for _ in range(600):
        if found := re.search(pattern, log.read_text()):
            return found[1]
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(log.read_text())


@pytest.fixture
def process_and_address(tmp_path):
    """A scheduler without workers."""
    place = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    process, log = start(tmp_path, "scheduler", *place)
    try:
        yield process, said(log, r"Scheduler at:\s+(tcp://\S+)", process)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def scheduler(process_and_address):
    """The address of a scheduler without workers."""
    return process_and_address[1]


@pytest.fixture
def workers(scheduler, tmp_path):
    """Two workers of the cluster, as processes."""
    how = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path))
    both = [start(tmp_path, "worker", scheduler, *how) for _ in range(2)]
    try:
        for process, log in both:
            said(log, r"(Registered to)", process)
        yield [process for process, _ in both]
    finally:
        for process, _ in both:
            process.kill()
            process.wait()


@pytest.fixture
def class_of_18(tmp_path):
    """A folder of submissions, and the scores that they get from this machine's own grader."""
    folder = tmp_path / "handed-in"
    wanted = {}
    own = pool.grade_many(((x.kind + x.student, x.source.encode()) for x in EVERYONE), LESSON)
    scores = {result["student"]: result["score"] for result in own}
    for number in range(18):
        each = EVERYONE[number % len(EVERYONE)]
        path = folder / f"student-{number:02}" / LESSON.module
        path.parent.mkdir(parents=True)
        path.write_text(f"{each.source}\n# {number}\n")
        wanted[f"student-{number:02}"] = scores[each.kind + each.student]
    return folder, wanted


def test_a_worker_that_is_killed_loses_and_doubles_no_grade(
    scheduler, workers, class_of_18, tmp_path, capsys
):
    folder, wanted = class_of_18
    out = tmp_path / "out"
    killer = threading.Thread(target=kill_after, args=(workers[0], out, 5), daemon=True)
    killer.start()
    class_run.grade_folder(folder, LESSON, out, scheduler=scheduler)
    killer.join()
    assert workers[0].poll() is not None
    assert len(list(out.glob("*.json"))) == 18
    assert {r["student"]: r["score"] for r in results.read_all(out)} == wanted
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert sorted(x for x in lines if x.startswith("student-")) == sorted(wanted)
    with (out / "grades.csv").open(newline="") as file:
        assert {row["student"]: float(row["score"]) for row in csv.DictReader(file)} == wanted


def kill_after(process, out, count):
    while len(list(out.glob("*.json"))) < count:
        time.sleep(0.02)
    process.kill()


def test_a_worker_of_another_version_refuses(scheduler, workers):
    jobs = [(each.student, each.source.encode()) for each in EVERYONE]
    made = cluster.grade_many(jobs, LESSON, scheduler, level="namespaces", mark="another")
    with pytest.raises(Problem, match="has another version of the course"):
        list(made)


def test_a_scheduler_that_does_not_answer_is_told_in_a_sentence(monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS", 1)
    for address in ("tcp://127.0.0.1:1", "localhost:1"):
        with pytest.raises(Problem, match="No Dask scheduler answers at"):
            list(cluster.grade_many([], LESSON, address, level="namespaces", mark=""))


def test_a_scheduler_that_ends_is_told_in_a_sentence(process_and_address, workers):
    process, address = process_and_address
    jobs = [(f"{n}", EVERYONE[0].source.encode()) for n in range(30)]
    level = isolation.choose()
    mark = fingerprint.fingerprint(LESSON, level)
    made = cluster.grade_many(jobs, LESSON, address, level=level, mark=mark)
    next(made)
    process.kill()
    with pytest.raises(Problem, match="is gone"):
        list(made)


def test_a_scheduler_that_ends_while_a_result_is_fetched_is_told_in_the_same_sentence(
    scheduler, workers, monkeypatch
):
    def closed(*_):
        raise CommClosedError("Connection reset by peer")

    monkeypatch.setattr(cluster, "_result", closed)
    level = isolation.choose()
    mark = fingerprint.fingerprint(LESSON, level)
    jobs = [("ann", EVERYONE[0].source.encode())]
    with pytest.raises(Problem, match="is gone"):
        list(cluster.grade_many(jobs, LESSON, scheduler, level=level, mark=mark))


# ------------------------------------------------------------------------------------------
# Who may speak to whom


@pytest.fixture
def encrypted(tmp_path):
    """The folder of Dask's settings that the commands in the guide write."""
    guide = (ROOT / "course/instructor/grading.md").read_text(encoding="utf-8")
    (commands,) = [x for x in re.findall(r"```sh\n(.*?)```", guide, re.DOTALL) if "openssl" in x]
    if not shutil.which("openssl"):
        pytest.skip("needs openssl")
    home = tmp_path / "home"
    home.mkdir()
    subprocess.run(
        ["sh", "-eu"], input=commands, text=True, check=True, env={**os.environ, "HOME": str(home)}
    )
    return home / ".config" / "dask"


def settings_in(folder):
    """Dask's settings, with those in a folder."""
    return dask.config.merge(dask.config.config, *dask.config.collect_yaml([str(folder)]))


def test_a_cluster_as_the_guide_sets_it_up_is_encrypted(encrypted, tmp_path):
    place = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    settings = {"DASK_CONFIG": str(encrypted)}
    how = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path))
    (tmp_path / "logs").mkdir()
    with contextlib.ExitStack() as stack:
        scheduler, log = start(tmp_path / "logs", "scheduler", *place, **settings)
        stack.callback(end, scheduler)
        address = said(log, r"Scheduler at:\s+(\S+)", scheduler)
        assert address.startswith("tls://")
        plain, log = start(tmp_path / "logs", "worker", address.replace("tls", "tcp"), *how)
        stack.callback(end, plain)
        worker, log = start(tmp_path / "logs", "worker", address, *how, **settings)
        stack.callback(end, worker)
        said(log, "(Registered to)", worker)
        stack.enter_context(dask.config.set(settings_in(encrypted)))
        assert doctor.cluster()[0] == doctor.OK
        job = ("ada", EVERYONE[0].source.encode())
        mark = fingerprint.fingerprint(LESSON, isolation.choose())
        made = cluster.grade_many([job], LESSON, address, level=isolation.choose(), mark=mark)
        assert [result["student"] for result in made] == ["ada"]
        with Client(address) as client:
            assert len(client.scheduler_info()["workers"]) == 1  # not the plain one


def end(process):
    process.kill()
    process.wait()


def test_doctor_says_what_is_wrong_with_the_encryption(encrypted):
    assert doctor.cluster()[0] == doctor.NOTE
    with dask.config.set(settings_in(encrypted)):
        (encrypted / "key.pem").chmod(0o644)
        assert "Others can read the key" in doctor.cluster()[1]
        (encrypted / "key.pem").write_text("no key")
        assert doctor.cluster()[0] == doctor.WRONG
        (encrypted / "cert.pem").unlink()
        assert doctor.cluster()[0] == doctor.WRONG


@pytest.mark.parametrize(
    ("address", "private"),
    [
        *(("tcp://127.0.0.1:8786", True), ("localhost:8786", True), ("tcp://[::1]:1", True)),
        *(("tls://head:8786", True), ("tls://10.0.0.1:1", True), ("tcp://10.0.0.1:8786", False)),
        *(("head:8786", False), ("tcp://head:8786", False), ("ws://head:1", False)),
        *(
            ("tcp://0.0.0.0:8786", False),
            ("tcp://localhost.evil:1", False),
            ("ucx://head:1", False),
        ),
    ],
)
def test_without_encryption_only_this_machine_is_private(address, private):
    assert cluster.is_private(address) == private


def test_a_scheduler_that_others_can_reach_is_refused(tmp_path):
    place = ("--host", "0.0.0.0", "--port", "0", "--no-dashboard")
    process, log = start(tmp_path, "scheduler", *place)
    try:
        address = said(log, r"Scheduler at:\s+(tcp://\S+)", process)
        if cluster.is_private(address):
            pytest.skip("this machine has no network")
        for way in (address, f"tcp://127.0.0.1:{address.rpartition(':')[2]}"):
            with pytest.raises(Problem, match="is not encrypted"):
                list(cluster.grade_many([], LESSON, way, level="process", mark=""))
    finally:
        end(process)


@pytest.mark.parametrize("ours", ["tcp://127.0.0.1:1", "tcp://10.0.0.2:1"])
@pytest.mark.parametrize("theirs", ["tcp://127.0.0.1:1", "tcp://10.0.0.1:8786"])
def test_a_worker_refuses_a_scheduler_that_others_can_reach(monkeypatch, ours, theirs):
    worker = SimpleNamespace(address=ours, scheduler=SimpleNamespace(address=theirs))
    monkeypatch.setattr(cluster, "get_worker", lambda: worker)
    message = "another version" if "10." not in ours + theirs else "is not encrypted"
    with pytest.raises(Problem, match=message):
        cluster._grade_one(LESSON.id, "ada", None, {"level": "process", "seed": 0}, "another")
