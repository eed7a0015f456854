"""Control groups: limits that count all that a worker starts, where groups can be made."""

import subprocess
import sys
import time

import pytest

from autograder.sandbox import cgroup

LIMITS = {"memory": 64 << 20, "pids": 20}
needs = {
    name: pytest.mark.skipif(name not in cgroup.held(), reason=f"no control group for {name}")
    for name in ("memory", "pids")
}


def run(group, code):
    command = [*group.command(), sys.executable, "-I", "-c", code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def group():
    made = cgroup.Group(LIMITS)
    yield made
    made.close()
    assert not any(path.exists() for path in made.paths)


@needs["pids"]
def test_threads_and_processes_are_counted_together(group):
    code = """
import os, time
made = 0
try:
    while os.fork():
        made += 1
    time.sleep(60)
except OSError:
    print(made, flush=True)
    time.sleep(60)
"""
    with run(group, code) as process:
        assert process.stdout.readline() == "19\n"
        group.close()
        assert process.wait(timeout=10) == -9


@needs["memory"]
def test_memory_is_counted_that_is_shared(group):
    code = """
import mmap
print("started", flush=True)
memory = mmap.mmap(-1, 256 << 20)
for page in range(0, len(memory), 4096):
    memory[page] = 1
print("survived")
"""
    with run(group, code) as process:
        assert process.stdout.read() == "started\n"
        assert process.wait(timeout=10) == -9


def test_without_a_place_a_command_runs_as_it_is(monkeypatch):
    monkeypatch.setattr(cgroup, "places", dict)
    group = cgroup.Group(LIMITS)
    assert group.command() == []
    group.close()


@pytest.mark.skipif(not cgroup.places(), reason="no control groups here")
def test_what_a_killed_grader_left_is_removed():
    folder = next(iter(cgroup.places().values()))
    old = folder / f"{cgroup.PREFIX}999999999-0"
    old.mkdir()
    cgroup._sweep(folder)
    assert not old.exists()


# Version 2 with its controllers, which not every machine has: a tree of plain files


@pytest.fixture
def tree(tmp_path, monkeypatch):
    top = tmp_path / "cgroup"
    own = top / "user.slice" / "session"
    own.mkdir(parents=True)
    for folder in (top, own.parent, own):
        (folder / "cgroup.subtree_control").write_text("")
    monkeypatch.setattr(cgroup, "trees", lambda: [(set(), top, "user.slice/session")])
    cgroup.places.cache_clear()
    yield own
    cgroup.places.cache_clear()


def test_the_nearest_folder_is_taken_in_which_controllers_can_be_had(tree, monkeypatch):
    tried = []
    monkeypatch.setattr(cgroup, "_works", lambda f, c: tried.append((f, c)) or f != tree)
    for folder in (tree, tree.parent, tree.parent.parent):
        (folder / "cgroup.subtree_control").write_text("memory pids")
    assert cgroup.places() == {("memory", "pids"): tree.parent}
    assert [folder for folder, _ in tried] == [tree, tree.parent]


def test_the_files_of_version_2_are_written(tmp_path, monkeypatch):
    made = []

    def mkdir(path):
        made.append(path)
        for name in ("memory.max", "memory.swap.max", "pids.max"):
            path.joinpath(name).write_text("max")

    path = tmp_path / "group"
    path.mkdir()
    monkeypatch.setattr(cgroup.Path, "mkdir", mkdir)
    cgroup._make(path, LIMITS)
    assert made == [path]
    names = ("memory.max", "memory.swap.max", "pids.max")
    assert [path.joinpath(n).read_text() for n in names] == [str(64 << 20), "0", "20"]


def test_a_group_that_cannot_be_entered_is_not_used(tmp_path):
    """A folder of plain files takes any text, and holds no process of ours by the kernel's word."""
    begin = time.monotonic()
    assert not cgroup._works(tmp_path / "nothing", ("pids",))
    assert time.monotonic() - begin < 3
