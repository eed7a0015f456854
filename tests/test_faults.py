"""Faults while a class is graded: no grade is lost, invented or doubled; a second run goes on."""

import contextlib
import csv
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import graded_course
import pytest
from graded_course import MODULE, changed

from autograder import batch, engine, isolation, results
from autograder.edition import ROOT

pytestmark = [
    pytest.mark.skipif(
        graded_course.NO_ISOLATION, reason="no isolation: install the Debian package bubblewrap"
    ),
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]

RIGHT = MODULE.encode()
KINDS = {
    "right": (RIGHT, 6.0),
    "tripled": (changed("2.0 * np", "3.0 * np"), 2.0),
    "flat": (changed("np.sum(x) / len(x)", "np.sum(x)"), 3.67),
    "broken": (b"def double(x:\n", 0.0),
    "dies": (changed("return np.sum(x)", "__import__('os')._exit(0)\n    return np.sum(x)"), 3.0),
}
SLOW = changed("import numpy as np\n", "import time\n\nimport numpy as np\n\ntime.sleep(1)\n")


@pytest.fixture
def lesson(monkeypatch, tmp_path):
    return graded_course.write(monkeypatch, tmp_path / f"edition-{tmp_path.name}")


def hand_in(folder, student, source):
    path = folder / student / "tiny" / "numbers.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source)


@pytest.fixture
def work(tmp_path):
    """A class of ten, two of each kind."""
    folder = tmp_path / "handed-in"
    for number in range(10):
        kind = list(KINDS)[number % len(KINDS)]
        hand_in(folder, f"{kind}{number}", KINDS[kind][0])
    return folder


def right_scores(work):
    return {path.name: KINDS[path.name.rstrip("0123456789")][1] for path in work.iterdir()}


def scores(out):
    """The grades as the table has them; each student once, sorted, and as in the results."""
    with (out / "grades.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [row["student"] for row in rows]
    assert names == sorted(set(names))
    found = {row["student"]: float(row["score"]) for row in rows}
    assert found == {r["student"]: r["score"] for r in results.read_all(out)}
    assert [p.name for p in out.iterdir() if p.name.startswith(".")] == [".lock"]
    return found


def stamps(out):
    return {path.stem: path.stat().st_mtime_ns for path in out.glob("*.json")}


# ------------------------------------------------------------------------------------------
# A run of the command in processes of its own

RUN = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from autograder import edition
for name in ("course", "solutions", "suites", "misconceptions"):  # in the pool's processes too
    setattr(edition, name.upper(), Path({edition!r}, name))
if __name__ == "__main__":
    from autograder.cli import main
    sys.exit(main(sys.argv[1:]))
"""


class Command:
    """`grade` at work on a class, its temporary files in a folder of its own."""

    def __init__(self, tmp_path, work, out, *more):
        self.temporary = tmp_path / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self.out = out
        edition = str(tmp_path / f"edition-{tmp_path.name}")
        script = tmp_path / "run.py"
        script.write_text(RUN.format(root=str(ROOT), edition=edition))
        line = ["grade", str(work), "--lesson", "tiny", "--out", str(out), "--jobs", "2", *more]
        self.process = subprocess.Popen(
            [sys.executable, str(script), *line],
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for_results(self, count):
        end = time.monotonic() + 60
        while len(list(self.out.glob("*.json"))) < count:
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end
            time.sleep(0.01)

    def end(self):
        said, complaint = self.process.communicate(timeout=120)
        return self.process.returncode, said, complaint

    def family(self):
        """The processes of this run: those that have its folder of temporary files, or below."""
        mark = f"TMPDIR={self.temporary}".encode()
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes():
                    found.add(int(folder.name))
        for number in list(found):
            found |= descendants(number)
        return found

    def wait_until_all_are_gone(self, family):
        end = time.monotonic() + 15
        while any(alive(number) for number in family):
            assert time.monotonic() < end, [n for n in family if alive(n)]
            time.sleep(0.05)


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def descendants(number):
    found = set()
    for listing in Path(f"/proc/{number}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, listing.read_text().split()):
                found |= {child} | descendants(child)
    return found


def kill(number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


# ------------------------------------------------------------------------------------------
# Processes that are killed


def test_a_worker_that_is_killed_costs_no_grade(lesson, work, tmp_path, monkeypatch):
    chance = random.Random(6)
    killed, calm = [], []
    ask = isolation.Worker.ask

    def struck(worker, request, seconds):
        # Never so soon that the same is struck twice: that would count.
        calm.append(request)
        if len(calm) > 4 and chance.random() < 0.4:
            calm.clear()
            killed.append(request[0])
            threading.Timer(chance.random() / 50, kill, [worker.process.pid]).start()
            time.sleep(chance.choice([0, 0.02]))
        return ask(worker, request, seconds)

    monkeypatch.setattr(isolation.Worker, "ask", struck)
    out = tmp_path / "out"
    batch.grade_folder(work, lesson, out, jobs=1, level=None)
    assert len(killed) > 10
    assert scores(out) == right_scores(work)


def test_a_worker_that_is_killed_while_it_starts_is_started_again(lesson, monkeypatch):
    launch = isolation.launch
    launched = []

    def struck(*args):
        process = launch(*args)
        launched.append(process)
        if len(launched) % 2:
            kill(process.pid)
        return process

    isolation.choose()  # the proof of the rung is another matter
    monkeypatch.setattr(isolation, "launch", struck)
    assert engine.grade(lesson, "ada", RIGHT)["score"] == 6
    assert len(launched) >= 2


def test_a_worker_that_is_killed_again_and_again_has_crashed(lesson, monkeypatch):
    ask = isolation.Worker.ask

    def struck(worker, request, seconds):
        if request[0] == "call":
            kill(worker.process.pid)
        return ask(worker, request, seconds)

    engine.grade(lesson, "ada", RIGHT)  # the reference's answers are known from here on
    monkeypatch.setattr(isolation.Worker, "ask", struck)
    result = engine.grade(lesson, "eve", RIGHT)
    assert {exercise["class"] for exercise in result["exercises"]} == {"crashed"}
    assert "was killed" in result["review"][0]


@pytest.mark.parametrize("seed", [1, 2])
def test_processes_of_the_pool_that_are_killed_cost_no_grade(lesson, work, tmp_path, seed):
    chance = random.Random(seed)
    command = Command(tmp_path, work, tmp_path / "out")
    command.wait_for_results(1)
    for _ in range(4):
        time.sleep(chance.random())
        children = sorted(descendants(command.process.pid))
        pool = [n for n in children if b"spawn_main" in command_line(n)]
        if pool:
            kill(chance.choice(pool))
    status, _, complaint = command.end()
    assert status == 0, complaint
    assert scores(command.out) == right_scores(work)
    assert not files(command.temporary)


def files(folder):
    return [name for _, _, names in os.walk(folder) for name in names]


def command_line(number):
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


def _dies(lesson, student, source, options):
    os._exit(1)


def test_what_could_not_be_graded_is_graded_by_the_next_run(lesson, tmp_path, monkeypatch):
    work, out = tmp_path / "handed-in", tmp_path / "out"
    for student in ("ada", "bo"):
        hand_in(work, student, RIGHT)
    monkeypatch.setattr(engine, "_grade_one", _dies)
    batch.grade_folder(work, lesson, out, jobs=2, level=None)
    assert scores(out) == {"ada": 0, "bo": 0}
    assert "The grader died" in results.read(out / "bo.json")["review"][0]
    monkeypatch.undo()
    graded_course.write(monkeypatch, tmp_path / f"edition-{tmp_path.name}")
    batch.grade_folder(work, lesson, out, jobs=1, level=None)
    assert scores(out) == {"ada": 6, "bo": 6}


@pytest.mark.parametrize("level", ["namespaces", "landlock", "process"])
def test_a_run_that_is_killed_leaves_nothing_and_is_gone_on_with(lesson, work, tmp_path, level):
    if isolation.detect(level):
        pytest.skip(isolation.detect(level))
    out = tmp_path / "out"
    hand_in(work, "slow", SLOW)
    killed = Command(tmp_path, work, out, "--isolation", level)
    killed.wait_for_results(3)
    family = killed.family()
    assert len(family) > 2
    killed.process.kill()
    killed.end()
    killed.wait_until_all_are_gone(family)
    assert not files(killed.temporary)
    (out / ".writing-half").write_text("{")  # as if it had been killed while it wrote
    before = stamps(out)
    hand_in(work, "right0", SLOW)  # handed in once more
    status, said, complaint = Command(tmp_path, work, out, "--isolation", level).end()
    assert status == 0, complaint
    kept = set(before) - {"right0"}
    assert f"{len(kept)} of 11 were graded before" in said
    after = stamps(out)
    assert {s for s in before if before[s] != after[s]} == set(before) & {"right0"}
    assert scores(out) == {**right_scores_without(work, "slow"), "slow": 6}


def right_scores_without(work, student):
    names = {path.name for path in work.iterdir()} - {student}
    return {
        name: KINDS[name.rstrip("0123456789")][1] for name in os.listdir(work) if name != student
    }
