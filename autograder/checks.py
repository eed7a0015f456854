"""The visible checks: runs a lesson's `checks.py` on a student's module, in a process of its own.

The tree under test is the reference of the earlier lessons with the student's files laid over it.
pytest runs there with `check_plugin.py`, which writes down what happens; here it is read, and a
test that never ends is stopped. This is for the student's own machine: nothing is hidden from the
student, and nothing is isolated (the grading engine does that).
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder import assemble
from autograder.edition import Problem
from autograder.lessons import Exercise, Lesson

LIMIT = 10.0  # seconds a test
PATIENCE = 3.0  # seconds that a test gets beyond its limit, before its process is ended
PLUGIN = Path(__file__).with_name("check_plugin.py")  # not imported: pytest is slow to start

DONE, TO_DO, WRONG, NOT_RUN = "done", "to do", "not right yet", "not run"


# ------------------------------------------------------------------------------------------
# What the checks found


@dataclass(frozen=True)
class Frame:
    """A line of a traceback, in a file of the tree or in checks.py."""

    file: str
    line: int
    name: str
    code: str


@dataclass(frozen=True)
class Error:
    """Why a test failed, or why the checks did not run."""

    type: str
    message: str
    exercise: str = ""  # the unwritten exercise that was called, by its id
    timed_out: bool = False
    compared: tuple[str, str, str] | None = None  # operator, left side, right side
    frames: tuple[Frame, ...] = ()
    printed: str = ""


@dataclass(frozen=True)
class Outcome:
    """One test."""

    test: str
    exercise: str
    title: str
    passed: bool
    error: Error | None


@dataclass(frozen=True)
class Report:
    """One run of a lesson's checks."""

    lesson: Lesson
    exercises: tuple[Exercise, ...]
    outcomes: tuple[Outcome, ...] = ()
    broken: Error | None = None  # nothing could be checked
    unwritten: frozenset[str] = frozenset()  # exercises whose TODO still stands in the module

    def of(self, exercise: Exercise) -> list[Outcome]:
        """The tests of an exercise."""
        return [outcome for outcome in self.outcomes if outcome.exercise == exercise.id]

    def status(self, exercise: Exercise) -> str:
        """Done, to do, not right yet, or not run."""
        outcomes = self.of(exercise)
        errors = [outcome.error for outcome in outcomes if outcome.error]
        if errors and exercise.id in self.unwritten:
            return TO_DO
        if errors:
            needs = {error.exercise for error in errors}
            return f"needs {min(needs)}" if "" not in needs else WRONG
        return DONE if outcomes and all(outcome.passed for outcome in outcomes) else NOT_RUN

    def failure(self, exercise: Exercise) -> Outcome | None:
        """The first failed test of an exercise that says more than that it is not written."""
        failed = [outcome for outcome in self.of(exercise) if outcome.error]
        return next((x for x in failed if x.error and not x.error.exercise), None)

    @property
    def done(self) -> list[str]:
        """The ids of the exercises that are done."""
        return [x.id for x in self.exercises if self.status(x) == DONE]

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for is done."""
        return not self.broken and len(self.done) == len(self.exercises)


# ------------------------------------------------------------------------------------------
# Running them


def run(lesson: Lesson, overlay: Mapping[str, bytes], exercise: Exercise | None = None) -> Report:
    """Check a lesson or one exercise, with the files of `overlay` laid over the reference."""
    exercises = (exercise,) if exercise else lesson.exercises
    for path, source in overlay.items():
        if error := syntax_error(path, source):
            return Report(lesson, exercises, broken=error)
    with tempfile.TemporaryDirectory(prefix="check-") as name:
        folder = Path(name).resolve()
        assemble.write_tree(folder, lesson, overlay)
        add_checks(folder, lesson)
        events, end = watch(folder, ["--exercise", exercise.id] if exercise else [])
    if end in ("status 4", "status 5"):  # pytest found no tests
        raise Problem(f"The checks of {lesson.id} do not run. Get a complete copy of the course.")
    report = make_report(lesson, exercises, events, end)
    return replace(report, unwritten=unwritten(overlay.get(lesson.module, b"")))


def unwritten(source: bytes) -> frozenset[str]:
    """The exercises whose line `raise NotImplementedError("...")` is still there."""
    found = re.findall(rb"""raise NotImplementedError\(["']([\w.]+)["']\)""", source)
    return frozenset(name.decode() for name in found)


def add_checks(folder: Path, lesson: Lesson) -> None:
    """Put a lesson's checks and what they run with beside a tree."""
    checks = lesson.folder / "checks.py"
    if not checks.exists():
        raise Problem(
            f"The lesson {lesson.id} has no checks.py. Get a complete copy of the course."
        )
    shutil.copyfile(checks, folder / "checks.py")
    shutil.copyfile(PLUGIN, folder / "conftest.py")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")


def syntax_error(path: str, source: bytes) -> Error | None:
    """Where a file is not Python, if it is not."""
    try:
        ast.parse(source, filename=path)
    except SyntaxError as error:
        place = f"line {error.lineno}, column {error.offset}" if error.lineno else "its beginning"
        frame = Frame(path, error.lineno or 1, "", (error.text or "").strip())
        return Error("SyntaxError", f"Python cannot read {place}: {error.msg}", frames=(frame,))
    except ValueError as error:
        return Error("SyntaxError", f"Python cannot read the file: {error}", frames=())
    return None


Event = dict[str, Any]


def watch(folder: Path, options: Sequence[str]) -> tuple[list[Event], str]:
    """Run pytest in `folder`; what its plugin wrote, and why the process ended early, if it did."""
    outcomes = folder / "outcomes.jsonl"
    output = folder / "output.txt"
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"]
    command += ["-c", "pytest.ini", "--outcomes", str(outcomes), "--time-limit", str(LIMIT)]
    command += [*options, "checks.py"]
    with output.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        end = wait(process, outcomes)
    finally:
        process.kill()
        process.wait()
    events = read_events(outcomes)
    if not end and not events:
        end = f"status {process.returncode}"
    return events, end


def environment(folder: Path) -> dict[str, str]:
    """The environment of a run: nothing of the user's may change how pytest or Python works."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHON"))}
    return {
        **kept,
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "COLUMNS": "100",
    }


def wait(process: subprocess.Popen[bytes], outcomes: Path) -> str:
    """Wait until the process ends, or end it when one test takes too long."""
    size, since = -1, time.monotonic()
    while True:
        try:
            status = process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            now = outcomes.stat().st_size if outcomes.exists() else 0
            if now != size:
                size, since = now, time.monotonic()
            if time.monotonic() - since > LIMIT + PATIENCE:
                return "too long"
        else:
            return f"status {status}" if status < 0 or status > 5 else ""


def read_events(outcomes: Path) -> list[Event]:
    """The lines that the plugin wrote; a last one that was cut off is left out."""
    events = []
    for line in outcomes.read_text(encoding="utf-8").splitlines() if outcomes.exists() else []:
        try:
            events.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return events


# ------------------------------------------------------------------------------------------
# From events to a report


def make_report(
    lesson: Lesson, exercises: tuple[Exercise, ...], events: Sequence[Event], end: str
) -> Report:
    """What the events say; a test that began and did not end is what ended the process."""
    outcomes = tuple(outcome_of(event) for event in events if event["event"] == "end")
    broken = next((error_of(e["error"]) for e in events if e["event"] == "broken"), None)
    ended = {outcome.test for outcome in outcomes}
    open_ = [e for e in events if e["event"] == "begin" and e["test"] not in ended]
    if not open_ and end:
        broken = broken or Error("Died", early_end(end))
    for event in open_[-1:]:
        error = Error("Died", early_end(end), timed_out=end == "too long")
        last = Outcome(event["test"], event["exercise"], event["title"], False, error)
        outcomes = (*outcomes, last)
    return Report(lesson, exercises, outcomes, broken)


def early_end(end: str) -> str:
    """Why the process ended before its last test."""
    if end == "too long":
        return f"it does not end within {LIMIT:.0f} seconds"
    return f"Python was ended here, by exit() or by a crash ({end or 'no status'})"


def outcome_of(event: Event) -> Outcome:
    """One test's end as the plugin told it."""
    error = error_of(event["error"]) if event["error"] else None
    return Outcome(event["test"], event["exercise"], event["title"], event["passed"], error)


def error_of(raw: dict[str, Any]) -> Error:
    """A failure as the plugin told it."""
    compared = raw["compared"]
    return Error(
        type=raw["type"],
        message=raw["message"],
        exercise=raw["exercise"],
        timed_out=raw["timed_out"],
        compared=tuple(compared) if compared and compared[0] else None,
        frames=tuple(Frame(**frame) for frame in raw["frames"]),
        printed=raw.get("printed", ""),
    )


# ------------------------------------------------------------------------------------------
# Saying it to the student


def explain(report: Report, outcome: Outcome) -> list[str]:
    """A failed test in a few lines: the property, expected and got, and where."""
    assert outcome.error
    return [
        f"It should hold that: {outcome.title}",
        *("  " + line for line in what_happened(outcome.error)),
        *where(report.lesson, outcome.error),
        *printed(outcome.error),
    ]


def what_happened(error: Error) -> list[str]:
    """Expected and got where the failure tells them, else the failure's own words."""
    if error.timed_out or error.type == "Died":
        return [f"but: {error.message.removeprefix('Failed: ')}."]
    if error.type == "AssertionError":
        return compared(error)
    if error.message.startswith("DID NOT RAISE"):
        missing = error.message.removeprefix("DID NOT RAISE ")
        return [f"expected: the exception {missing}", "got:      no exception"]
    return [f"but it raises {error.type}: {error.message}" if error.message else error.type]


def compared(error: Error) -> list[str]:
    """Both sides of the comparison that failed: checks are written `assert got == expected`."""
    own, _, _ = error.message.partition("assert ")
    if error.compared and error.compared[0] == "==":
        _, got, expected = error.compared
    elif match := re.search(r"ACTUAL: (.*?)\n? DESIRED: (.*)", error.message, re.DOTALL):
        got, expected = match.groups()  # numpy.testing's words
    elif error.compared:
        op, left, right = error.compared
        return [
            *lines(own),
            f"expected: left {op} right",
            f"left:     {left}",
            f"right:    {right}",
        ]
    else:
        return [in_words(line) for line in lines(error.message) if line != "assert False"]
    own = own if error.compared else ""
    return [*lines(own), *labelled("expected: ", expected), *labelled("got:      ", got)]


def in_words(line: str) -> str:
    """pytest's ` + where 2 = f(1)` as a sentence."""
    match = re.fullmatch(r"\s*\+\s+(?:where|and) +(.*?) = (.*)", line)
    return f"{match[2]} is {match[1]}" if match else line


def lines(text: str) -> list[str]:
    """The lines of a text that are not empty; the first ten."""
    return [line.rstrip() for line in text.splitlines() if line.strip()][:10]


def labelled(label: str, text: str) -> list[str]:
    """A text with a label, further lines below its beginning."""
    first, *rest = lines(text) or [""]
    return [label + first, *(" " * len(label) + line for line in rest)]


def where(lesson: Lesson, error: Error) -> list[str]:
    """The line of the check that failed, then the way through the student's file."""
    in_checks = [frame for frame in error.frames if frame.file == "checks.py"][-1:]
    in_module = [frame for frame in error.frames if frame.file == lesson.module][-3:]
    other = [frame for frame in error.frames if frame not in in_checks][-1:]
    return [text for frame in in_checks + (in_module or other) for text in place(frame)]


def place(frame: Frame) -> list[str]:
    """A file, a line, and the code there; of a long import, how it begins."""
    name = f", in {frame.name}" if frame.name.isidentifier() else ""
    code = lines(textwrap.dedent(frame.code))
    code = code[:1] if frame.code.lstrip().startswith(("from ", "import ")) else code
    return [f"{frame.file}, line {frame.line}{name}:", *("    " + x for x in code[:4])]


def printed(error: Error) -> list[str]:
    """What the student's code printed: printing is how people look for mistakes."""
    shown = lines(error.printed)
    return ["Your code printed:", *("    " + line for line in shown)] if shown else []
