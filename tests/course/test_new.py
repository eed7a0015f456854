"""`new` begins a lesson that works at once, and says what is left to write until it is finished."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from command_lines import EXAMPLES

from autograder.lessons import places
from autograder.upkeep import new

FILES = [
    "course/lessons/*_fusion/lesson.toml",
    "solutions/minijax/fusion.py",
    "autograder/hidden/suites/fusion.py",
    "autograder/hidden/suites/fusion.classes.toml",
    "autograder/hidden/answers/fusion.py",
    "course/lessons/*_fusion/checks.py",
    "course/lessons/*_fusion/open_fusion.py",
    "solutions/tasks/open_fusion.py",
    "course/lessons/*_fusion/repair_fusion.py",
    "solutions/tasks/repair_fusion.py",
    "course/lessons/*_fusion/tasks.py",
    "course/lessons/*_fusion/milestone.py",
    "course/lessons/*_fusion/lesson.md",
]


class Repository:
    """A copy of this repository, and its command."""

    def __init__(self, root):
        self.root = root
        skip = shutil.ignore_patterns("__pycache__", "*.ipynb")
        for name in ("autograder", "course", "solutions", "requirements", "tests/attacks"):
            shutil.copytree(places.ROOT / name, root / name, ignore=skip)
        for name in ("README.md", "pyproject.toml", "jaxprentice"):
            shutil.copy(places.ROOT / name, root)

    def run(self, *arguments, status=0, cwd=None):
        """The output of a command, which must end with this status."""
        command = [sys.executable, "-P", "-m", "autograder", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(self.root)}
        where = {"cwd": cwd or self.root, "env": environment}
        run = subprocess.run(command, capture_output=True, text=True, **where)
        assert run.returncode == status, run.stdout + run.stderr
        return run.stdout + run.stderr

    def files(self):
        return [path for pattern in FILES for path in self.root.glob(pattern)]


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A copy in which a lesson is begun, and what the command has said."""
    copy = Repository(tmp_path_factory.mktemp("repository"))
    return copy, copy.run(*shlex.split(EXAMPLES["new"]))


@pytest.fixture(scope="module")
def finished(begun):
    """The same with everything filled in."""
    copy, _ = begun
    for path in copy.files():
        path.write_text(path.read_text().replace(f"{new.MARK}: ", ""))
    copy.run("sync")
    return copy


def test_the_files_are_named_in_the_order_of_the_work(begun):
    copy, said = begun
    files = [path.relative_to(copy.root).as_posix() for path in copy.files()]
    assert re.findall(r"^ {4}(\S+/\S+)$", said.replace("./jaxprentice", ""), re.MULTILINE) == files
    assert len(files) == len(FILES)


@pytest.mark.slow
def test_what_is_left_is_listed_by_file_and_line(begun):
    copy, _ = begun
    copy.run("sync")
    left = copy.run("sync", "--check", status=1)
    assert re.search(r"^solutions/minijax/fusion.py, line 1: FILL IN: what this", left, re.M)
    marks = sum(path.read_text().count(new.MARK) for path in copy.files())
    assert len(re.findall(r"fusion\S*, line \d+: FILL IN: ", left)) == marks
    assert left.endswith("A lesson is not finished. Replace each FILL IN with what it asks for.\n")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("jvp", "There is a lesson 'jvp' already, in course/lessons/06_jvp."),
        ("tree", "solutions/minijax/tree.py is there already."),
        ("class", "A lesson cannot be called 'class'"),
        ("Fusion", "A lesson cannot be called 'Fusion'"),
        ("../fusion", "A lesson cannot be called '../fusion'"),
    ],
)
def test_a_name_that_cannot_be_had_is_refused_and_nothing_is_written(begun, name, message):
    copy, _ = begun
    before = sorted(copy.root.rglob("*.toml"))
    assert copy.run("new", name, status=1).startswith(message)
    assert sorted(copy.root.rglob("*.toml")) == before


@pytest.mark.slow
def test_the_finished_lesson_is_in_step_and_passes_the_audit(finished):
    finished.run("sync", "--check")
    finished.run("audit", "fusion", "--quick")


@pytest.mark.full
@pytest.mark.slow
def test_the_finished_lesson_is_checked_in_a_workspace(finished, tmp_path):
    finished.run("init", tmp_path / "mine")
    workspace = {"cwd": tmp_path / "mine"}
    finished.run("check", "fusion", status=1, **workspace)
    finished.run("give", "fusion", **workspace)
    finished.run("check", "fusion", **workspace)


def test_no_lesson_of_the_course_is_unfinished():
    assert new.unfinished() == []
