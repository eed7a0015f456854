"""Faults while a class is graded: no grade is lost, invented or doubled; a second run goes on."""

import contextlib
import csv
import errno
import multiprocessing
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import graded_course
import pytest
from graded_course import MODULE, changed, graded

from autograder.classroom.intake import files as intake
from autograder.classroom.run import folder as class_run
from autograder.grading import pool, result_files, submission
from autograder.grading.task import Task
from autograder.lessons.places import ROOT
from autograder.lessons.problem import Problem
from autograder.sandbox import isolation, launch
from autograder.sandbox.worker import Worker

pytestmark = [
    pytest.mark.isolated,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]

RIGHT = MODULE.encode()
KINDS = {
    "right": (RIGHT, 6.0),
    "tripled": (changed("2.0 * np", "3.0 * np"), 2.0),
    "flat": (changed("np.sum(x) / len(x)", "np.sum(x)"), 3.0),
    "broken": (b"def double(x:\n", 0.0),
    "dies": (changed("return np.sum(x)", "__import__('os')._exit(0)\n    return np.sum(x)"), 3.0),
}
SLOW = changed("import numpy as np\n", "import time\n\nimport numpy as np\n\ntime.sleep(0.5)\n")


@pytest.fixture
def lesson(monkeypatch, tmp_path):
    return graded_course.write(monkeypatch, course_of(tmp_path))


def course_of(tmp_path):
    return tmp_path / f"copy-{tmp_path.name}"


def hand_in(folder, student, source):
    path = folder / student / "tiny" / "numbers.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source)


@pytest.fixture
def work(tmp_path):
    """A class with one of each kind, and one more that is right."""
    folder = tmp_path / "handed-in"
    for kind, (source, _) in KINDS.items():
        hand_in(folder, kind, source)
    hand_in(folder, "ada", RIGHT)
    return folder


RIGHT_SCORES = {"ada": 6.0} | {kind: score for kind, (_, score) in KINDS.items()}


def scores(out):
    """The grades as the table has them; each student once, sorted, and as in the results."""
    with (out / "grades.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [row["student"] for row in rows]
    assert names == sorted(set(names))
    found = {row["student"]: float(row["score"]) for row in rows}
    assert found == {r["student"]: r["score"] for r in result_files.read_all(out)}
    assert sorted(p.name for p in out.iterdir() if p.name.startswith(".")) == [".lock", ".verdicts"]
    return found


def kept(said):
    """How many the command took from the run before.

    A verdict is stored before its result is written, and the run may stop between the two: so
    they can be more than the results that it left.
    """
    match = re.search(r"^(\d) of 7 were graded before", said, re.MULTILINE)
    assert match, said
    return int(match[1])


def stamps(out):
    return {path.stem: path.stat().st_mtime_ns for path in out.glob("*.json")}


# ------------------------------------------------------------------------------------------
# A run of the command in processes of its own

RUN = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from autograder.lessons import places
for name in ("course", "solutions", "suites", "answers"):  # in the pool's processes too
    setattr(places, name.upper(), Path({copy!r}, name))
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
        self.process = subprocess.Popen(
            self.line(tmp_path, work, out, *more),
            env={**os.environ, "TMPDIR": str(self.temporary)},
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @staticmethod
    def line(tmp_path, work, out, *more):
        copy = str(course_of(tmp_path))
        script = tmp_path / "run.py"
        script.write_text(RUN.format(root=str(ROOT), copy=copy))
        options = ["--lesson", "tiny", "--out", str(out), "--jobs", "2", *more]
        return [sys.executable, str(script), "grade", str(work), *options]

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
    with contextlib.suppress(OSError):  # it, or one of its threads, has ended meanwhile
        for listing in Path(f"/proc/{number}/task").glob("*/children"):
            for child in map(int, listing.read_text().split()):
                found |= {child} | descendants(child)
    return found


def kill(number):
    """Kill a process and what it has started, the last first: bubblewrap takes a moment for it."""
    for each in sorted({number} | descendants(number), reverse=True):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


# ------------------------------------------------------------------------------------------
# Processes that are killed


def test_a_worker_that_is_killed_costs_no_grade(lesson, work, tmp_path, monkeypatch):
    chance = random.Random(6)
    killed = []
    ask = Worker.ask

    def struck(worker, request, *limits):
        # That the same is struck twice would count. It is asked again among a new worker's first
        # three requests, however late the one before was killed.
        if worker.number >= 3 and chance.random() < 0.4:
            killed.append(request[0])
            threading.Timer(chance.random() / 50, kill, [worker.process.pid]).start()
            time.sleep(chance.choice([0, 0.02]))
        return ask(worker, request, *limits)

    monkeypatch.setattr(Worker, "ask", struck)
    out = tmp_path / "out"
    class_run.grade_folder(work, lesson, out, jobs=1, level=None)
    assert len(killed) > 5
    assert scores(out) == RIGHT_SCORES


def test_a_worker_that_is_killed_while_it_starts_is_started_again(lesson, monkeypatch):
    start = launch.launch
    launched = []

    def struck(*args):
        process = start(*args)
        launched.append(process)
        if len(launched) % 2:
            kill(process.pid)
        return process

    level = isolation.choose()
    isolation.detect.cache_clear()  # the worker that proves the rung is killed as well
    monkeypatch.setattr(launch, "launch", struck)
    assert graded(lesson, RIGHT, level=level)["score"] == 6
    assert len(launched) >= 4


@pytest.mark.slow
def test_a_worker_that_is_killed_again_and_again_has_crashed(lesson, monkeypatch):
    ask = Worker.ask

    def struck(worker, request, *limits):
        if request[0] == "call":
            kill(worker.process.pid)
        return ask(worker, request, *limits)

    graded(lesson, RIGHT)  # the reference's answers are known from here on
    monkeypatch.setattr(Worker, "ask", struck)
    result = graded(lesson, RIGHT)
    assert {exercise["class"] for exercise in result["exercises"]} == {"crashed"}
    assert "was killed" in result["review"][0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.full)])
def test_processes_of_the_pool_that_are_killed_cost_no_grade(lesson, work, tmp_path, seed):
    chance = random.Random(seed)
    command = Command(tmp_path, work, tmp_path / "out")
    command.wait_for_results(1)
    for _ in range(3):
        time.sleep(chance.random())
        children = sorted(descendants(command.process.pid))
        pool = [n for n in children if b"spawn_main" in command_line(n)]
        if pool:
            os.kill(chance.choice(pool), signal.SIGKILL)
    status, _, complaint = command.end()
    assert status == 0, complaint
    assert scores(command.out) == RIGHT_SCORES
    assert not files(command.temporary)


def files(folder):
    return [str(Path(at, name)) for at, _, names in os.walk(folder) for name in names]


def command_line(number):
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def pool_of_the_course(monkeypatch, tmp_path):
    """Pools whose processes, which begin afresh, know the small course."""
    options = {"initializer": graded_course.adopt, "initargs": (str(course_of(tmp_path)),)}
    context = multiprocessing.get_context("spawn")
    monkeypatch.setattr(pool, "_pool", lambda n: ProcessPoolExecutor(n, context, **options))


@pytest.mark.usefixtures("pool_of_the_course")
def test_many_submissions_each_have_one_result(lesson):
    sources = [RIGHT + b"#" * i if i % 2 else None for i in range(6)]
    found = list(pool.grade_many([Task.of(lesson, x) for x in sources], workers=2))
    scores = [(task.source, verdict["score"]) for task, verdict in found]
    assert sorted(scores, key=str) == sorted([(x, 6.0 * bool(x)) for x in sources], key=str)


BO = RIGHT + b"# bo\n"


def _dies_for_bo(task, programs, shrink):
    if task.source == BO:
        os._exit(1)
    return submission.grade(task, programs=programs, shrink=shrink)


@pytest.mark.slow
@pytest.mark.usefixtures("pool_of_the_course")
def test_what_a_pool_dies_of_costs_nobody_else_a_grade_and_the_next_run_grades_it(
    lesson, tmp_path, monkeypatch
):
    work, out = tmp_path / "handed-in", tmp_path / "out"
    for student, source in {"ada": RIGHT, "bo": BO, "zoe": RIGHT + b"# zoe\n"}.items():
        hand_in(work, student, source)
    with monkeypatch.context() as patch:
        patch.setattr(pool, "_grade_one", _dies_for_bo)
        class_run.grade_folder(work, lesson, out, jobs=2, level=None)
    assert scores(out) == {"ada": 6, "bo": 0, "zoe": 6}
    bo = result_files.read(out / "bo.json")
    assert "could not be graded" in bo["remarks"][0]
    assert "The grader died" in bo["review"][0]
    class_run.grade_folder(work, lesson, out, jobs=1, level=None)
    assert scores(out) == {"ada": 6, "bo": 6, "zoe": 6}


@pytest.mark.slow
@pytest.mark.parametrize(
    "level", ["namespaces", pytest.param("landlock", marks=pytest.mark.full), "process"]
)
def test_a_run_that_is_killed_leaves_nothing_and_is_gone_on_with(lesson, work, tmp_path, level):
    if isolation.detect(level):
        pytest.skip(isolation.detect(level))
    out = tmp_path / "out"
    hand_in(work, "slow", SLOW)
    killed = Command(tmp_path, work, out, "--isolation", level)
    killed.wait_for_results(2)
    family = killed.family()
    assert len(family) > 2
    killed.process.kill()
    killed.end()
    killed.wait_until_all_are_gone(family)
    assert not files(killed.temporary)
    (out / ".writing-half").write_text("{")  # as if it had been killed while it wrote
    before = stamps(out)
    again = min(before)
    hand_in(work, again, SLOW)  # handed in once more
    status, said, complaint = Command(tmp_path, work, out, "--isolation", level).end()
    assert status == 0, complaint
    assert kept(said) >= len(before) - 1
    assert {s for s in before if before[s] != stamps(out)[s]} == {again}
    assert scores(out) == {**RIGHT_SCORES, "slow": 6, again: 6}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_a_run_that_is_stopped_says_how_to_go_on(lesson, work, tmp_path, number):
    hand_in(work, "slow", SLOW)
    command = Command(tmp_path, work, tmp_path / "out")
    command.wait_for_results(1)
    family = command.family()
    begin = time.monotonic()
    if number == signal.SIGINT:  # as Ctrl-C: to every process at the terminal
        os.killpg(command.process.pid, number)
    else:
        command.process.send_signal(number)
    status, _, complaint = command.end()
    assert time.monotonic() - begin < 20  # 1 s on a machine that is not busy
    done = len(stamps(command.out))
    assert (status, complaint) == (
        130,
        f"Stopped: {done} of 7 submissions are graded, and kept. "
        "Run the same command again to go on.\n",
    )
    command.wait_until_all_are_gone(family)
    assert not files(command.temporary)
    before = stamps(command.out)
    status, said, _ = Command(tmp_path, work, command.out).end()
    assert status == 0
    assert kept(said) >= done
    assert before.items() <= stamps(command.out).items()
    assert scores(command.out) == {**RIGHT_SCORES, "slow": 6}


# ------------------------------------------------------------------------------------------
# The disk

FILL = """
mount -t tmpfs -o size=40k tmpfs {out} || exit 99
{run}
echo "status $?"
ls -A {out}
mount -o remount,size=8m {out}
{run}
echo "status $?"
cp -r {out}/. {copy}
"""


def test_a_full_disk_is_one_sentence_and_then_it_goes_on(lesson, work, tmp_path):
    out, copy = tmp_path / "out", tmp_path / "copy"
    out.mkdir()
    copy.mkdir()
    line = Command.line(tmp_path, work, out, "--isolation", "process", "--jobs", "1")
    script = FILL.format(out=out, copy=copy, run=shlex.join(line))
    namespaces = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script]
    done = subprocess.run(namespaces, capture_output=True, text=True, check=False)
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("this user cannot mount a small disk")
    _, second = done.stdout.split("status 1\n")
    kept = [name for name in second.split("Isolation")[0].split() if name.endswith(".json")]
    assert 0 < len(kept) < 6
    assert ".writing" not in second
    assert done.stderr == (
        f"Stopped by the system (No space left on device): {len(kept)} of 6 submissions are "
        "graded, and kept. Fix that, then run the same command again to go on.\n"
    )
    assert f"{len(kept)} of 6 were graded before" in second
    assert second.endswith("status 0\n")
    assert scores(copy) == RIGHT_SCORES


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "grades.csv"
    result_files.write_text(path, "old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        result_files.write_text(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["grades.csv"]
    assert path.read_text() == "old"


# ------------------------------------------------------------------------------------------
# Others at work on the same folders


@pytest.mark.slow
def test_a_second_grader_is_refused_and_the_first_goes_on(lesson, work, tmp_path, capsys):
    first = Command(tmp_path, work, tmp_path / "out")
    first.wait_for_results(1)
    with pytest.raises(Problem, match="Another grader is writing to"):
        class_run.grade_folder(work, lesson, first.out, jobs=1, level="process")
    assert first.end()[0] == 0
    assert scores(first.out) == RIGHT_SCORES


def grade(work, lesson, out):
    class_run.grade_folder(work, lesson, out, jobs=1, level=None)
    return scores(out)


@pytest.fixture
def pair(tmp_path):
    work = tmp_path / "handed-in"
    hand_in(work, "ada", RIGHT)
    hand_in(work, "bo", RIGHT)
    return work


def remove_bo_when_it_is_read(monkeypatch, pair):
    """It goes after it was seen in the list of submissions."""
    read = intake.read

    def late(root, inside, *more):
        if inside[0] == "bo":
            shutil.rmtree(pair / "bo", ignore_errors=True)
        return read(root, inside, *more)

    monkeypatch.setattr(intake, "read", late)


def remove_bo_before_its_file_is_opened(monkeypatch, pair):
    """It goes after its file was seen in the list of its folder."""
    listdir = os.listdir

    def late(folder="."):
        found = listdir(folder)
        opened = isinstance(folder, int) and found == ["numbers.py"]
        if opened and pair.joinpath("bo/tiny").samefile(f"/dev/fd/{folder}"):
            shutil.rmtree(pair / "bo")
            monkeypatch.setattr(os, "listdir", listdir)
        return found

    monkeypatch.setattr(os, "listdir", late)


@pytest.mark.parametrize("remove", [remove_bo_when_it_is_read, remove_bo_before_its_file_is_opened])
@pytest.mark.parametrize("graded", [False, True])
def test_a_submission_that_vanishes_touches_nobody_else(
    lesson, pair, tmp_path, monkeypatch, remove, graded
):
    out = tmp_path / "out"
    if graded:
        assert grade(pair, lesson, out) == {"ada": 6, "bo": 6}
    with monkeypatch.context() as patch:
        remove(patch, pair)
        assert grade(pair, lesson, out) == {"ada": 6, "bo": 6 * graded}
    assert not (pair / "bo").exists()
    if not graded:
        assert result_files.read(out / "bo.json")["remarks"][0] == intake.VANISHED
    hand_in(pair, "bo", RIGHT)
    assert grade(pair, lesson, out) == {"ada": 6, "bo": 6}


def test_the_whole_folder_that_vanishes_gives_no_grades(lesson, pair, tmp_path, monkeypatch):
    real = intake.take_module

    def vanish(*args):
        shutil.rmtree(pair, ignore_errors=True)
        return real(*args)

    monkeypatch.setattr(intake, "take_module", vanish)
    with pytest.raises(Problem, match="has vanished"):
        grade(pair, lesson, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------------------------
# What is graded again, and what stays


def test_only_what_changed_is_graded_again(lesson, pair, tmp_path, capsys):
    out = tmp_path / "out"
    grade(pair, lesson, out)
    before = stamps(out)
    hand_in(pair, "bo", KINDS["tripled"][0])
    assert grade(pair, lesson, out) == {"ada": 6, "bo": 2}
    assert stamps(out)["ada"] == before["ada"]
    assert "1 of 2 were graded before" in capsys.readouterr().out


@pytest.mark.parametrize("spoil", ["{", '{"score": 6}', ""])
def test_a_damaged_result_is_made_again(lesson, pair, tmp_path, spoil):
    out = tmp_path / "out"
    grade(pair, lesson, out)
    (out / "bo.json").write_text(spoil)
    assert grade(pair, lesson, out) == {"ada": 6, "bo": 6}


def test_the_result_of_one_who_is_gone_stays_and_is_named(lesson, pair, tmp_path, capsys):
    out = tmp_path / "out"
    grade(pair, lesson, out)
    shutil.rmtree(pair / "bo")
    assert grade(pair, lesson, out) == {"ada": 6, "bo": 6}
    assert "no submission; they stay: bo." in capsys.readouterr().out


def test_results_of_another_lesson_are_not_overwritten(lesson, pair, tmp_path):
    out = tmp_path / "out"
    result_files.write({**graded(lesson, None), "student": "zoe", "lesson": "other"}, out)
    with pytest.raises(Problem, match="results of the lesson 'other'"):
        grade(pair, lesson, out)
    assert [path.stem for path in result_files.paths(out)] == ["zoe"]


@pytest.mark.parametrize(
    "names", [("Ann", "ann"), ("caf\u00e9", "cafe\u0301"), ("a\nb",), ("a:b",)]
)
def test_names_that_cannot_each_be_a_file_are_refused(lesson, tmp_path, names):
    for name in names:
        hand_in(tmp_path / "handed-in", name, RIGHT)
    with pytest.raises(Problem, match="Rename"):
        grade(tmp_path / "handed-in", lesson, tmp_path / "out")
    assert not (tmp_path / "out").exists()
