"""Has pytest run a hidden suite in this process, without a trace on the screen or on the disk."""

import contextlib
import functools
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.grading.suite import SECTIONS, SuiteError
from autograder.lessons import places
from autograder.lessons.manifest import Lesson
from autograder.worker.ahead import imports_in

_QUIET = [
    *("--disable-plugin-autoload", "--noconftest", "--import-mode=importlib", "--strict-markers"),
    *(
        "-o",
        "markers=meets: classes of mistakes (upkeep/classes.py)\nkeeps: promises (promises.py)",
    ),
    *("-c", os.devnull),
    *(f"-pno:{name}" for name in ("cacheprovider", "terminal", "capture", "logging", "warnings")),
    *(f"-pno:{name}" for name in ("faulthandler", "doctest", "unittest", "junitxml", "stepwise")),
    *(f"-pno:{name}" for name in ("unraisableexception", "threadexception")),
]


def run(path: Path, plugin: Any, *flags: str) -> None:
    """Run a suite in this process, without a trace on the screen or on the disk.

    Raises what has `stopped` the plugin, and SuiteError for what it found `broken` in the suite.
    """
    if not path.is_file():
        raise SuiteError(f"The lesson {path.stem!r} has no hidden suite.")
    with _undisturbed():
        status = pytest.main([*_QUIET, *_only_this_file(path), *flags, str(path)], plugins=[plugin])
    if plugin.stopped:
        raise plugin.stopped
    if status == pytest.ExitCode.INTERRUPTED and not plugin.broken:
        raise KeyboardInterrupt
    if plugin.broken or status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise SuiteError(f"The hidden suite {path.name} is broken. {'; '.join(plugin.broken[:3])}")


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """The grader's own settings of pytest change no grade; no cache is written."""
    kept = {name: os.environ.pop(name) for name in _SETTINGS if name in os.environ}
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
        os.environ.update(kept)


_SETTINGS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")


def _only_this_file(path: Path) -> list[str]:
    """Flags without which pytest reads all folders from the top of the disk down to the file's."""
    return ["--rootdir", str(path.parents[2]), "--confcutdir", str(path.parent)]


class _Collector:
    """A pytest plugin that only looks which tests there are."""

    stopped = None

    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = defaultdict(list)
        self.properties: dict[str, str] = {}
        self.random: set[str] = set()
        self.marks: dict[str, tuple[str, pytest.Mark]] = {}
        self.kept: dict[str, tuple[str, list[pytest.Mark]]] = {}
        self.broken: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note each test under its exercise, with its property."""
        try:
            for item in items:
                self.tests[exercise_of(item)].append(item.name)
                self.properties[item.name] = property_of(item)
                if "agrees_on_programs" in item.function.__code__.co_names:  # type: ignore[attr-defined]
                    self.random.add(item.name)
                self._note(item.name.partition("[")[0], exercise_of(item), item)
        except SuiteError as error:
            self.broken.append(str(error))

    def _note(self, test: str, exercise: str, item: pytest.Item) -> None:
        """Note the classes of mistakes that a test meets, and the promises that it keeps."""
        if mark := item.get_closest_marker("meets"):
            self.marks[test] = exercise, mark
        if marks := list(item.iter_markers("keeps")):
            self.kept[test] = exercise, marks

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what is wrong with the file."""
        if report.failed:
            self.broken.append(str(report.longrepr))


def suite_of(lesson: Lesson) -> Path:
    """The file of a lesson's hidden suite."""
    return places.suite(f"{lesson.id}.py")


# Their text travels with probes, or is one.
_HELPERS = [
    Path(__file__).with_name(name) for name in ("in_worker.py", "run_laws.py", "run_again.py")
]


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """The modules that the probes of a suite may import; a worker has no others."""
    texts = [x.read_text(encoding="utf-8") for x in (path, *_HELPERS) if x.is_file()]
    return frozenset().union(*map(imports_in, texts))


@functools.cache
def collected(path: Path) -> _Collector:
    """What a look at a suite has found."""
    collector = _Collector()
    run(path, collector, "--collect-only")
    return collector


def collect(path: Path) -> dict[str, list[str]]:
    """The ids of the tests of every exercise: those that must pass."""
    return dict(collected(path).tests)


def properties(path: Path) -> dict[str, str]:
    """By test what it asks, in words for students; "" for a test that does not say it."""
    return collected(path).properties


def on_random_programs(path: Path) -> frozenset[str]:
    """The tests that ask about random programs."""
    return frozenset(collected(path).random)


def marks(path: Path) -> list[tuple[str, str, pytest.Mark]]:
    """Each test with its exercise and the mark that says which classes of mistakes it meets."""
    return [(test, *found) for test, found in collected(path).marks.items()]


def property_of(item: Any) -> str:
    """What a test asks: the first line of its docstring."""
    return (item.function.__doc__ or "").strip().partition("\n")[0]


def check_suite(lesson: Lesson, tests: Mapping[str, list[str]]) -> None:
    """Complain loudly where suite and manifest do not fit together."""
    wanted = {part.id for part in lesson.graded}
    if wanted != set(tests):
        odd = ", ".join(sorted(wanted ^ set(tests)))
        raise SuiteError(f"The suite and the manifest of {lesson.id!r} do not both have: {odd}.")
    names = [test for group in tests.values() for test in group]
    if len(names) != len(set(names)):
        raise SuiteError(f"The suite of {lesson.id!r} has two tests with the same name.")


def exercise_of(item: pytest.Item) -> str:
    """The id of the exercise that a test belongs to."""
    begin = item.function.__code__.co_firstlineno  # type: ignore[attr-defined]
    sections = getattr(item.module, SECTIONS, [])  # type: ignore[attr-defined]
    above = [name for line, name in sections if line < begin]
    if not above:
        raise SuiteError(f"The test {item.name} is in no section. Write exercise(ID) above it.")
    return above[-1]
