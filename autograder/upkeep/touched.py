"""A plugin of pytest for `reference`: which functions of the solutions each test calls.

With a list of tests it runs these alone, those first that take least time.
"""

import inspect
import json
import os
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

NOTE = "JAXPRENTICE_NOTE"  # the file that says at the end what each test calls
CHOSEN = "JAXPRENTICE_CHOSEN"  # the file that has the seconds that each test takes which is to run
SOLUTIONS = "JAXPRENTICE_SOLUTIONS"  # the folder of the functions


def pytest_configure(config: pytest.Config) -> None:
    """Note what tests call, if that is wanted."""
    if NOTE in os.environ:
        notes = _Notes(Path(os.environ[NOTE]), Path(os.environ[SOLUTIONS]))
        config.pluginmanager.register(notes)
        threading.settrace(notes.note)
        sys.settrace(notes.note)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the tests of the list alone, in the order of the time that they take."""
    if CHOSEN in os.environ:
        seconds = json.loads(Path(os.environ[CHOSEN]).read_text(encoding="utf-8"))
        wanted = [item for item in items if item.nodeid in seconds]
        items[:] = sorted(wanted, key=lambda item: seconds[item.nodeid])


class _Notes:
    def __init__(self, path: Path, solutions: Path) -> None:
        self.path, self.solutions = path, solutions
        self.called: set[CodeType] = set()
        self.since = time.perf_counter()
        self.tests: dict[str, tuple[float, list[str]]] = {}
        self.failed: set[str] = set()

    def note(self, frame: FrameType, event: str, value: object) -> None:
        """Note what begins, and ask for no more of it."""
        self.called.add(frame.f_code)

    def keep(self, name: str) -> None:
        """Keep the functions that were called since the last time under this name."""
        called, self.called = self.called, set()
        found = {x for code in called if (x := self.function(code))}
        self.tests[name] = round(time.perf_counter() - self.since, 3), sorted(found)
        self.since = time.perf_counter()

    def function(self, code: CodeType) -> str:
        """The function of the solutions that runs this, such as "minijax/jvp.py:JVPTrace.pure"."""
        file, name = Path(code.co_filename), code.co_qualname.partition(".<locals>")[0]
        is_function = code.co_flags & inspect.CO_OPTIMIZED  # and no body of a module or class
        if not is_function or self.solutions not in file.parents:
            return ""
        return f"{file.relative_to(self.solutions).as_posix()}:{name}"

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep what the import of a file calls, under the file's name."""
        self.keep(session.config.args[0])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Note what a test calls, its fixtures included."""
        try:
            return (yield)
        finally:
            self.keep(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what does not pass: it says nothing of a slip."""
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the notes."""
        passed = {test: found for test, found in self.tests.items() if test not in self.failed}
        self.path.write_text(json.dumps(passed), encoding="utf-8")
