"""A plugin of pytest for `reference`: which functions of the solutions each test calls.

With a list of tests it runs these alone, those first that take least time.
"""

import ast
import builtins
import json
import os
import sys
import time
from collections.abc import Generator, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

NOTE = "JAXPRENTICE_NOTE"  # the file that says at the end what each test calls
CHOSEN = "JAXPRENTICE_CHOSEN"  # the file that has the seconds that each test takes which is to run
SOLUTIONS = "JAXPRENTICE_SOLUTIONS"  # the folder of the functions
NOTED = "__noted__"  # what each function calls first, with its name, while notes are taken


def pytest_configure(config: pytest.Config) -> None:
    """Note what tests call, if that is wanted."""
    if NOTE in os.environ:
        notes = _Notes(Path(os.environ[NOTE]))
        config.pluginmanager.register(notes)
        setattr(builtins, NOTED, notes.called.add)
        sys.meta_path.insert(0, _Finder(Path(os.environ[SOLUTIONS])))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the tests of the list alone, in the order of the time that they take."""
    if CHOSEN in os.environ:
        seconds = json.loads(Path(os.environ[CHOSEN]).read_text(encoding="utf-8"))
        wanted = [item for item in items if item.nodeid in seconds]
        items[:] = sorted(wanted, key=lambda item: seconds[item.nodeid])


class _Notes:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.called: set[str] = set()
        self.since = time.perf_counter()
        self.tests: dict[str, tuple[float, list[str]]] = {}
        self.failed: set[str] = set()

    def keep(self, name: str) -> None:
        """Keep what was called since the last time under this name."""
        self.tests[name] = round(time.perf_counter() - self.since, 3), sorted(self.called)
        self.called.clear()
        self.since = time.perf_counter()

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


class _Finder:
    """Finds modules below a folder, and has them loaded with functions that note their names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's place and loader; None if it is elsewhere."""
        spec = PathFinder.find_spec(name, path, target)
        origin = Path(str(spec.origin)) if spec and spec.has_location else Path()
        if spec is None or self.folder not in origin.parents:
            return None
        spec.loader = _Loader(name, str(spec.origin), self.folder)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, folder: Path) -> None:
        super().__init__(name, path)
        self.module = Path(path).relative_to(folder).as_posix()

    def path_stats(self, path: str) -> Any:
        """Nothing: bytecode is neither read nor written."""
        raise OSError

    def source_to_code(  # type: ignore[override]
        self, data: Any, path: Any, *args: Any, **kwargs: Any
    ) -> CodeType:
        """The module's code, in which each function first notes its name."""
        tree = ast.parse(data)
        _mark(tree, f"{self.module}:")
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def _mark(tree: ast.AST, prefix: str) -> None:
    """Let functions and methods, and those that they make, note names with this prefix."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            _mark_one(node, f"{prefix}{node.name}")
        else:
            _mark(node, f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix)


def _mark_one(function: ast.FunctionDef, name: str) -> None:
    """Let a function, such as "minijax/jvp.py:JVPTrace.pure", and all in it note this name."""
    for node in [*ast.walk(function)]:
        call = ast.Call(ast.Name(NOTED, ast.Load()), [ast.Constant(name)], [])
        if isinstance(node, ast.FunctionDef):
            node.body.insert(ast.get_docstring(node, clean=False) is not None, ast.Expr(call))
        elif isinstance(node, ast.Lambda):
            node.body = ast.BoolOp(ast.Or(), [call, node.body])
