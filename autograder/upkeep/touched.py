"""A plugin of pytest for `reference`: which functions of the solutions each test calls.

With a list of tests it runs these alone, those first that take least time.
"""

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
        notes = _Notes(Path(os.environ[NOTE]), os.environ[SOLUTIONS])
        config.pluginmanager.register(notes)
        notes.begin()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the tests of the list alone, in the order of the time that they take."""
    if CHOSEN in os.environ:
        seconds = json.loads(Path(os.environ[CHOSEN]).read_text(encoding="utf-8"))
        wanted = [item for item in items if item.nodeid in seconds]
        items[:] = sorted(wanted, key=lambda item: seconds[item.nodeid])


class _Notes:
    def __init__(self, path: Path, folder: str) -> None:
        self.path, self.folder = path, folder
        self.tests: dict[str, tuple[float, list[str]]] = {}
        self.failed: set[str] = set()

    def begin(self) -> None:
        """Note what is called from now on."""
        self.codes: set[CodeType] = set()
        self.since = time.perf_counter()
        threading.settrace(self._call)
        sys.settrace(self._call)

    def end(self, name: str) -> None:
        """Keep what was called since the beginning under this name."""
        sys.settrace(None)
        threading.settrace(None)
        called = sorted({self._function(code) for code in self.codes})
        self.tests[name] = round(time.perf_counter() - self.since, 3), called

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep what the import of a file calls, under the file's name."""
        self.end(session.config.args[0])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Note what a test calls, its fixtures included."""
        self.begin()
        try:
            return (yield)
        finally:
            self.end(item.nodeid)

    def _call(self, frame: FrameType, event: str, arg: object) -> None:
        """What Python calls for each frame; None: its lines do not matter."""
        if frame.f_code.co_filename.startswith(self.folder):
            self.codes.add(frame.f_code)

    def _function(self, code: CodeType) -> str:
        """The function or method, such as "minijax/jvp.py:JVPTrace.pure", that has this code."""
        module = Path(code.co_filename).relative_to(self.folder).as_posix()
        return f"{module}:{code.co_qualname.partition('.<locals>')[0]}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what does not pass: it says nothing of a slip."""
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the notes."""
        passed = {test: found for test, found in self.tests.items() if test not in self.failed}
        self.path.write_text(json.dumps(passed), encoding="utf-8")
