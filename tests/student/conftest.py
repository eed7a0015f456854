"""The small course with checks, a workspace in it, and a way to run commands there."""

import pytest
import small_course
from student_course import BYE_CHECKS, HELLO_CHECKS

from autograder import cli
from autograder.upkeep import sync


@pytest.fixture
def course(monkeypatch, tmp_path):
    """The small course with checks and everything generated."""
    checks = {
        "course/lessons/01_hello/checks.py": HELLO_CHECKS,
        "course/lessons/03_bye/checks.py": BYE_CHECKS,
    }
    root = small_course.write(monkeypatch, tmp_path / "copy", checks)
    sync.sync(False)
    monkeypatch.chdir(tmp_path)
    return root


@pytest.fixture
def work(course, tmp_path, monkeypatch):
    """A new workspace, in which the user stands."""
    assert cli.main(["init", "work"]) == 0
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def say(capsys):
    """Run a command line: exit status, standard output, standard error."""

    def run(*arguments):
        capsys.readouterr()
        status = cli.main(arguments)
        return (status, *capsys.readouterr())

    return run
