"""Lets a hidden suite run under plain pytest, for those who write it.

    pytest autograder/hidden/suites/jvp.py                          # the reference: all must pass
    pytest autograder/hidden/suites/jvp.py --submission my/jvp.py   # a module of your own

Grading does not read this file.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading import submission, under_pytest
from autograder.grading.laws import Generating
from autograder.grading.suite_run import Student, SuiteRun
from autograder.lessons import assemble, manifest
from autograder.sandbox import isolation


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the module to be tried."""
    about = "the module to try; the reference if absent"
    parser.addoption("--submission", metavar="FILE", type=Path, help=about)


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> Iterator[SuiteRun]:
    """The run of a suite on the module that was named."""
    lesson = manifest.get(request.path.stem)
    file = request.config.getoption("--submission")
    source = file.read_bytes() if file else assemble.read_solution(lesson.module).encode()
    with submission.opened(lesson, source, isolation.choose()) as session:
        loaded = session.load()
        if loaded.kind != "value":
            pytest.fail(f"{file or lesson.module}: {loaded.kind}: {loaded.name} {loaded.message}")
        generating = Generating(seed=0, kept=None, shrink=True)
        yield submission.suite_run(lesson, session, generating, source=source)


@pytest.fixture
def student(run: SuiteRun, request: pytest.FixtureRequest) -> Student:
    """The submission under test."""
    return run.student_of(request.node)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Complain about a test that belongs to no exercise."""
    for item in items:
        under_pytest.exercise_of(item)
