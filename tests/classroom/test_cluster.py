"""Grading on a Dask cluster: a real scheduler and real workers, processes of their own."""

import csv
import os
import re
import subprocess
import sys
import threading
import time

import graded_course
import pytest

from autograder.classroom import class_run, cluster
from autograder.grading import fingerprint, pool, results
from autograder.lessons import manifest
from autograder.lessons.places import ROOT
from autograder.lessons.problem import Problem
from autograder.sandbox import isolation
from autograder.upkeep import sample_class

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        graded_course.NO_ISOLATION, reason="no isolation: install the Debian package bubblewrap"
    ),
]

LESSON = manifest.get("interpreters")
EVERYONE = [each for each in sample_class.make(LESSON) if each.kind != "endless"]


def start(folder, *arguments):
    """Start one of Dask's own programs, and give the process and the line that it begins with."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__LOGGING": "{}"}
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
    for address in ("tcp://127.0.0.1:1", "somewhere"):
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
