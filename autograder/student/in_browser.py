"""The visible checks on a page of the site: Python runs there in the browser, by Pyodide.

There are no other processes, so pytest runs in this one. A test that does not end is ended with
all of Python, by the page, which then asks the next Python to explain what was told until then.
"""

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from autograder.lessons import manifest
from autograder.student import checks, explain
from autograder.student.checks import Event, Report

QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--tb=no", "--capture=sys")
RENAMED = "Restore the function's name, or start over."


def check(lesson_id: str, source: str, exercise_id: str, tell: Callable[[str], object]) -> str:
    """Check an exercise of a module's text; what was found, as JSON for the page.

    `tell` gets the events so far, as JSON lines, whenever a test begins.
    """

    def watch(folder: Path, options: Sequence[str]) -> tuple[list[Event], str]:
        outcomes = folder / "outcomes.jsonl"
        status = run_pytest(folder, [*options, "--outcomes", str(outcomes)], Teller(outcomes, tell))
        events = checks.read_events(outcomes)
        return events, "" if events else f"status {status}"

    return _found(lesson_id, source, exercise_id, watch)


def explain_end(lesson_id: str, source: str, exercise_id: str, events: str, end: str) -> str:
    """What is to be said, as JSON, after checks that told these events and did not end.

    `end` is "too long" where the page's patience was over, and "" where all of Python broke down.
    """
    told = [json.loads(line) for line in events.splitlines()], end or "the browser ended it"
    return _found(lesson_id, source, exercise_id, lambda folder, options: told)


def _found(lesson_id: str, source: str, exercise_id: str, watch: checks.Watch) -> str:
    lesson, exercise = manifest.get(lesson_id), manifest.find_exercise(exercise_id)
    return json.dumps(
        as_data(checks.run(lesson, {lesson.module: source.encode()}, exercise, watch))
    )


def as_data(report: Report) -> dict[str, object]:
    """What the page shows of a report: a status for the exercise, and lines to read."""
    if report.broken:
        return {"status": checks.WRONG, "lines": explain.broken(report, RENAMED), "done": []}
    exercise, done = report.exercises[0], [*report.done]
    done += [x.id for x in manifest.needs(exercise) if report.right(x.id) and report.of(x.id)]
    failure = report.failure(exercise)
    stub = report.stubs.get(exercise.id)
    is_gone = stub and not stub.line and report.status(exercise) == checks.TO_DO
    gone = [f"There is no {exercise.target} in {report.lesson.module}.", RENAMED] if is_gone else []
    return {
        "status": report.status(exercise),
        "lines": explain.explain(report, failure) if failure else gone,
        "waits": report.waits_for(exercise),
        "done": done,
        "checks": len(report.of(exercise.id)),
    }


# ------------------------------------------------------------------------------------------
# pytest in this process


class Teller:
    """A plugin of pytest that passes on what `check_plugin.py` has written so far."""

    def __init__(self, outcomes: Path, tell: Callable[[str], object]) -> None:
        self.outcomes = outcomes
        self.tell = tell

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what starts threads: Python in a browser has none."""
        items[:] = [item for item in items if not item.get_closest_marker("threads")]

    def pytest_runtest_logstart(self) -> None:
        """The test that begins has been written down already."""
        self.tell(self.outcomes.read_text(encoding="utf-8"))


def run_pytest(folder: Path, options: Sequence[str], plugin: object) -> int:
    """Run pytest on the tree in `folder`, as in a process of its own."""
    with as_if_new(folder), contextlib.redirect_stdout(io.StringIO()):
        limit = ["--time-limit", str(checks.LIMIT)]
        return int(pytest.main([*QUIET, "-c", "pytest.ini", *limit, *options], plugins=[plugin]))


@contextlib.contextmanager
def as_if_new(folder: Path) -> Iterator[None]:
    """Run with `folder` as the place of modules; forget those that were loaded from it."""
    before, path, place = {*sys.modules}, [*sys.path], Path.cwd()
    sys.path.insert(0, str(folder))
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(place)
        sys.path[:] = path
        for name in {*sys.modules} - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]
