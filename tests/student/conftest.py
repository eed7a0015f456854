"""The small course with checks, a workspace in it, and a way to run commands there."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest
import small_course
from student_course import BYE_CHECKS, HELLO_CHECKS

from autograder import cli
from autograder.lessons import places
from autograder.upkeep import sync

ROOT = places.ROOT


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Where all copies of the small course keep what its examples print."""
    return tmp_path_factory.mktemp("build")


@pytest.fixture
def course(monkeypatch, tmp_path, build):
    """The small course with checks and everything generated."""
    checks = {
        "course/lessons/01_hello/checks.py": HELLO_CHECKS,
        "course/lessons/03_bye/checks.py": BYE_CHECKS,
    }
    root = small_course.write(monkeypatch, tmp_path / "copy", checks)
    (root / "build").symlink_to(build)
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


@pytest.fixture
def wrapper():
    """The wrapper as a module."""
    loader = SourceFileLoader("wrapper", str(ROOT / "jaxprentice"))
    module = module_from_spec(spec_from_loader("wrapper", loader))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module
