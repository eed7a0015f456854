"""The small course with checks, a workspace in it, and a way to run commands there."""

import shutil

import pytest
import small_course
from student_course import BYE_CHECKS, HELLO_CHECKS, load_wrapper, make_course

from autograder import cli
from autograder.lessons import places
from autograder.student import workspace

ROOT = places.ROOT


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The small course with checks and everything generated, and a new workspace, to be copied."""
    checks = {
        "course/lessons/01_hello/checks.py": HELLO_CHECKS,
        "course/lessons/03_bye/checks.py": BYE_CHECKS,
    }
    return make_course(tmp_path_factory.mktemp("made"), checks)


@pytest.fixture
def course(made, monkeypatch, tmp_path):
    """A copy of the small course."""
    shutil.copytree(made / "copy", tmp_path / "copy")
    monkeypatch.chdir(tmp_path)
    return small_course.use(monkeypatch, tmp_path / "copy")


@pytest.fixture
def work(made, course, tmp_path, monkeypatch):
    """A new workspace of the small course, in which the user stands."""
    shutil.copytree(made / "work", tmp_path / "work")
    workspace.add_launcher(tmp_path / "work", str(course))
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


@pytest.fixture
def wrapper():
    """The wrapper as a module."""
    return load_wrapper(ROOT / "jaxprentice")
