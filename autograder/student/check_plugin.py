"""The pytest plugin of the visible checks, with a time limit for each test.

A copy of this file stands as `conftest.py` beside a lesson's `checks.py`: in the folder that
`./jaxprentice check` assembles, and beside the notebook. So it imports nothing but pytest.
`--exercise ID` runs the checks of one exercise, or of several if given again; a lesson's id means
all of them. `--outcomes FILE` writes a JSON line when a test begins and one when it ends, with what
a student needs to know of a failure.
"""

import ast
import builtins
import difflib
import io
import json
import re
import signal
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

# What is beside checks.py.
OURS = (
    *("conftest.py", "example_checks.py", "checking.py", "module_rules.py"),
    *("random_programs.py", "random_steps.py", "random_trees.py"),
)
LONGEST = 20_000  # characters of a text that is passed on; the reader cuts further

compared = pytest.StashKey[tuple[str, str, str]]()
differing = pytest.StashKey[str]()
timed_out = pytest.StashKey[set[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("jaxprentice")
    group.addoption(
        "--exercise", metavar="ID", action="append", help="run only the checks of this exercise"
    )
    group.addoption("--time-limit", type=float, default=10.0, help="seconds of computing a test")
    group.addoption("--outcomes", metavar="FILE", help="write what happened, as JSON lines")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", "exercise(id): the exercise that a check belongs to")
    threads = "threads: starts threads, which Python in a browser does not have"
    config.addinivalue_line("markers", threads)
    config.stash[timed_out] = set()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse modules that a class would not take, where `nbgrader validate` runs their checks."""
    import module_rules  # type: ignore[import-not-found]

    root = session.config.rootpath
    for file in tested(root, session.config.args):
        label, source = file.relative_to(root).as_posix(), file.read_bytes()
        rules = (module_rules.complaint, module_rules.import_complaint)
        if reason := next(filter(None, (rule(source, label) for rule in rules)), ""):
            raise pytest.UsageError(reason)


def tested(root: Path, arguments: list[str]) -> Iterator[Path]:
    """The files beside the checks from which they import."""
    for file in filter(Path.is_file, (root / name for name in arguments)):
        for node in ast.walk(ast.parse(file.read_bytes())):
            module = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
            path = root / f"{str(module).replace('.', '/')}.py"
            if "." in str(module) and path.is_file():
                yield path


# ------------------------------------------------------------------------------------------
# No files


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Run the tests without files for the code under test, as in class."""
    with without_files(session.config.rootpath):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Import the checks, and the modules with them, in the same way."""
    with without_files(session.config.rootpath):
        return (yield)


@contextmanager
def without_files(root: Path) -> Iterator[None]:
    """Refuse to open a file for code in the packages of a folder."""
    before = builtins.open

    def refusing(*arguments: Any, **options: Any) -> Any:
        if opens_itself(sys._getframe(1), root):
            raise PermissionError(NO_FILES)
        return before(*arguments, **options)

    builtins.open = io.open = refusing
    try:
        yield
    finally:
        builtins.open = io.open = before


NO_FILES = "a module that is graded can open no files"


def opens_itself(frame: FrameType | None, root: Path) -> bool:
    """Whether a package's code opens a file, if only by pathlib, and not by an import."""
    while frame and "pathlib" in frame.f_code.co_filename:
        frame = frame.f_back
    file = Path(frame.f_code.co_filename) if frame else root
    return file.is_relative_to(root) and len(file.relative_to(root).parts) > 1


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a check with the exercise of its section in the file (`checking.exercise`)."""
    test, file = getattr(item, "originalname", ""), getattr(item, "module", None)
    above = [name for name, before in getattr(file, "_sections", []) if test not in before]
    if above:
        item.add_marker(pytest.mark.exercise(above[-1]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep only the wanted exercise's checks."""
    wanted = config.getoption("--exercise")
    if not wanted:
        return
    kept = [item for item in items if {exercise_of(item), lesson_of(item)} & {*wanted}]
    if not kept:
        raise pytest.UsageError(f"There are no checks for an exercise {wanted[-1]!r}.")
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def lesson_of(item: pytest.Item) -> str:
    """The id of the lesson that a test belongs to."""
    return exercise_of(item).partition(".")[0]


def exercise_of(item: pytest.Item) -> str:
    """The id of the exercise that a test belongs to."""
    marker = item.get_closest_marker("exercise")
    return str(marker.args[0]) if marker and marker.args else ""


# ------------------------------------------------------------------------------------------
# Running one test


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Tell that a test begins, so that a watcher knows which one does not end."""
    item.config.stash[compared] = ("", "", "")
    evaluate_again()
    tell(item.config, event="begin", **identity(item))
    return (yield)


def evaluate_again() -> None:
    """Forget the interpreters that a failed test has left current, as a new thread would."""
    if context := getattr(sys.modules.get("microjax.interpreters"), "context", None):
        vars(context).clear()
    if state := getattr(sys.modules.get("minijax.core"), "trace_state", None):
        del state.stack[1:]
        state.dynamic_trace = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Stop a test that computes for too long, where the system has timers."""
    if not hasattr(signal, "setitimer"):
        return (yield)
    if exercise_of(item) in item.config.stash[timed_out]:
        pytest.skip("an earlier check of this exercise did not end")

    limit = item.config.getoption("--time-limit")

    def stop(number: int, frame: FrameType | None) -> None:
        item.config.stash[timed_out].add(exercise_of(item))
        pytest.fail(f"does not end within {limit:g} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit, 1.0)  # and again, if the student's code catches it
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def pytest_assertrepr_compare(config: pytest.Config, op: str, left: Any, right: Any) -> None:
    """Remember both sides of a comparison that failed, and where they differ."""
    config.stash[compared] = (op, shown(left), shown(right))
    config.stash[differing] = shown((left, right), lambda sides: differs(*sides))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell how a test ended."""
    report = yield
    if report.when == "call" or not report.passed:
        error = explain(item.config, call.excinfo) if call.excinfo else None
        tell(
            item.config,
            event="end",
            **identity(item),
            passed=report.passed,
            uses=uses_of(item),
            error=error and {**error, "printed": report.capstdout[-LONGEST:]},
        )
    return report


def pytest_exception_interact(
    node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any]
) -> None:
    """Tell why the checks could not even be imported."""
    if isinstance(node, pytest.Collector) and call.excinfo:
        cause = call.excinfo.value.__cause__
        excinfo = pytest.ExceptionInfo.from_exception(cause) if cause else call.excinfo
        tell(node.config, event="broken", error=explain(node.config, excinfo))


# ------------------------------------------------------------------------------------------
# What a failure says


def explain(config: pytest.Config, excinfo: pytest.ExceptionInfo[BaseException]) -> dict[str, Any]:
    """A failure as plain data: type, message, sides of the comparison, frames in this folder."""
    error = excinfo.value
    is_assertion, is_stub = isinstance(error, AssertionError), is_unwritten(error)
    return {
        "type": type(error).__name__,
        "message": shown(error, str).replace(f"{config.rootpath}/", "") + suggestion(excinfo),
        "exercise": shown(error, str) if is_stub else "",
        "timed_out": isinstance(error, pytest.fail.Exception) and "not end within" in str(error),
        "compared": config.stash[compared] if is_assertion and compared in config.stash else None,
        "differs": config.stash.get(differing, "") if is_assertion else "",
        "program": "\n".join(map(str, getattr(error, "__notes__", ())))[:LONGEST],
        # To find lines and their texts takes time, and it is known where a stub is.
        "frames": []
        if is_stub
        else [describe(config, entry) for entry in telling(config, excinfo.traceback)],
    }


def suggestion(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    """The name that was perhaps meant instead of one that there is not, as Python prints it."""
    error: Any = excinfo.value
    try:
        if isinstance(error, NameError):
            frame = excinfo.traceback[-1].frame
            known = [*frame.f_locals, *frame.f_globals, *dir(builtins)]
        elif isinstance(error, AttributeError):
            known = dir(error.obj)
        else:
            return ""
        close = difflib.get_close_matches(error.name, known, 1, 0.75)
    except Exception:  # the object may be of any class
        return ""
    return f". Did you mean {close[0]!r}?" if close else ""


def is_unwritten(error: BaseException) -> bool:
    """Whether an exercise's stub was called, whose text is its id."""
    stub = isinstance(error, NotImplementedError)
    return stub and re.fullmatch(r"[a-z]\w*\.[a-z]\w*", shown(error, str)) is not None


def telling(config: pytest.Config, traceback: Any) -> list[Any]:
    """The entries worth showing, each line once: the first, and up to the one that went wrong.

    An endless recursion has a thousand entries of a few lines, and to find a line's text takes
    time.
    """
    last: Any = None
    own: dict[tuple[str, int], Any] = {}
    for entry in traceback:
        file = entry.frame.code.raw.co_filename
        if Path(file).is_relative_to(config.rootpath) and Path(file).name not in OURS:
            last = own.setdefault((file, entry.lineno), entry)
    entries = list(own.values())
    if entries and last is not entries[0]:
        entries.append(entries.pop(entries.index(last)))
    return entries[:1] + entries[1:][-24:]


def describe(config: pytest.Config, entry: Any) -> dict[str, Any]:
    """One line of a traceback."""
    return {
        "file": Path(str(entry.path)).relative_to(config.rootpath).as_posix(),
        "line": entry.lineno + 1,
        "name": entry.name,
        "code": shown(entry.statement, str),
    }


def identity(item: pytest.Item) -> dict[str, str]:
    """What names a test: its own name, its exercise, its property, and its case if it has some."""
    return {
        "test": item.name,
        "exercise": exercise_of(item),
        "title": title(item),
        "case": case(item),
    }


def uses_of(item: pytest.Item) -> list[str] | None:
    """The other exercises that a docstring's examples called; None for other tests."""
    noted: Any = dict(item.user_properties).get("uses")
    return None if noted is None else sorted(noted)


def title(item: pytest.Item) -> str:
    """The property that a test checks, in words: its docstring's first line."""
    text = getattr(getattr(item, "function", None), "__doc__", None) or item.name
    return str(text).strip().split("\n")[0]


def case(item: pytest.Item) -> str:
    """The parameters of this case of a test that has several."""
    callspec = getattr(item, "callspec", None)
    values = callspec.params if callspec else {}
    return ", ".join(f"{key} = {getattr(x, '__name__', shown(x))}" for key, x in values.items())


def shown(value: Any, how: Any = repr) -> str:
    """A value as a text of bearable length, whatever its own methods do."""
    try:
        return str(how(plain(value)))[:LONGEST]
    except Exception as error:
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"


def plain(value: Any) -> Any:
    """A value with NumPy's numbers as Python's, where that is how they are compared."""
    if type(value) in (list, tuple):
        return type(value)(plain(item) for item in value)
    is_number = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    wide = is_number and str(value.dtype) in ("bool", "int64", "float64")
    return value.item() if wide else value


def differs(got: Any, want: Any, place: str = "") -> str:
    """Where two values that print alike are not equal: "[0].x is of the class list, not tuple"."""
    if type(got) is not type(want):
        return f"{place or 'it'} is of the class {type(got).__name__}, not {type(want).__name__}"
    others = parts(want)
    for name, part in parts(got).items():
        if name in others and not alike(part, others[name]):
            return differs(part, others[name], place + name)
    return f"{place or 'it'} is a different object"


def parts(value: Any) -> dict[str, Any]:
    """What a value is compared by, if that can be told, under the names by which one gets at it."""
    if isinstance(value, list | tuple):
        return {f"[{i}]": part for i, part in enumerate(value)}
    if isinstance(value, dict):
        return {f"[{key!r}]": part for key, part in value.items()}
    is_compared = type(value).__eq__ is not object.__eq__
    return {f".{k}": part for k, part in getattr(value, "__dict__", {}).items() if is_compared}


def alike(one: Any, other: Any) -> bool:
    """Whether two parts are equal and of the same class, as far as their classes tell."""
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # of arrays, for instance
        return one is other


def tell(config: pytest.Config, **what: Any) -> None:
    """Write one line, at once."""
    path = config.getoption("--outcomes")
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps({**what, "time": time.time()}) + "\n")
