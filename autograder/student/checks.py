"""The visible checks: runs a lesson's `checks.py` on a student's module, in a process of its own.

The tree under test is the reference of the earlier lessons with the student's files laid over it.
pytest runs there with `check_plugin.py`, which writes down what happens; here it is read, and a
test that never ends is stopped. `explain.py` puts failures into words. This is for the student's
own machine: nothing is hidden, and nothing is isolated (the grading engine does that).
"""

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.grading import words
from autograder.lessons import assemble, manifest, module_rules, places, skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.problem import Problem
from autograder.student import cache

LIMIT = 10.0  # seconds of computing a test: by the clock a busy machine would refuse right answers
WAITING = 4.0  # times as much by the clock, because it may wait, for a processor for instance
PATIENCE = 3.0  # seconds that a test gets beyond that, before its process is ended
PLUGIN = Path(__file__).with_name("check_plugin.py")  # not imported: pytest is slow to start
EXAMPLES = Path(__file__).with_name("example_checks.py")
HELPERS = (
    *(places.PACKAGE / f"grading/random_{name}.py" for name in ("programs", "steps", "trees")),
    Path(module_rules.__file__),
    PLUGIN.with_name("checking.py"),
)

DONE, TO_DO, WRONG, WAITS, NOT_RUN = "done", "to do", "not right yet", "waits", "not run"


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
    differs: str = ""  # where the two sides do, for sides that print alike
    program: str = ""  # the smallest random program on which it fails


@dataclass(frozen=True)
class Outcome:
    """One test."""

    test: str
    exercise: str
    title: str
    case: str
    passed: bool
    error: Error | None
    uses: tuple[str, ...] | None = None  # of a docstring's examples: the other exercises they call


@dataclass(frozen=True)
class Stub:
    """The line `raise NotImplementedError("...")` of an exercise, where it still stands."""

    line: int  # 0: there is no such function at all
    alone: bool  # there is no other code in the function


@dataclass(frozen=True)
class Report:
    """One run of a lesson's checks."""

    lesson: Lesson
    exercises: tuple[Exercise, ...]  # that were asked for; those that they need are run too
    outcomes: tuple[Outcome, ...] = ()
    broken: Error | None = None  # nothing could be checked
    stubs: Mapping[str, Stub] = field(default_factory=dict)
    lent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what was right, for which
    lacking: Mapping[str, frozenset[str]] = field(default_factory=dict)  # see `words.lacking`

    @property
    def files(self) -> set[str]:
        """The files that the student wrote: the module, or those of tasks."""
        return {self.lesson.module, *(x.target for x in self.exercises if x.target.endswith(".py"))}

    def of(self, exercise_id: str) -> list[Outcome]:
        """The tests of an exercise.

        Examples that fail count only if the other exercises that they call are known to be right.
        """
        found = [outcome for outcome in self.outcomes if outcome.exercise == exercise_id]
        lent = self.lent.get(exercise_id, ())
        return [
            x
            for x in found
            if x.passed or all(used in lent or self.is_checked(used) for used in x.uses or ())
        ]

    def is_checked(self, exercise_id: str) -> bool:
        """Whether an exercise has passed its own checks in this run."""
        own = [x for x in self.outcomes if x.exercise == exercise_id and x.uses is None]
        return bool(own) and all(outcome.passed for outcome in own)

    def status(self, exercise: Exercise) -> str:
        """Done, to do, not right yet, waiting for a different one, or not run."""
        outcomes = self.of(exercise.id)
        failed = not all(outcome.passed for outcome in outcomes)
        if outcomes and not failed:
            return DONE
        if failed and exercise.id in self.stubs and self.is_to_do(exercise):
            return TO_DO
        if self.waits_for(exercise):
            return WAITS
        return WRONG if failed else NOT_RUN

    def is_to_do(self, exercise: Exercise) -> bool:
        """Whether nothing of an exercise is written: neither in its stub nor without one."""
        stub = self.stubs[exercise.id]
        called = any(x.error and x.error.exercise == exercise.id for x in self.of(exercise.id))
        return stub.alone and (stub.line > 0 or called)

    def waits_for(self, exercise: Exercise) -> list[str]:
        """The exercises that have to be right before this one can be told to be."""
        met = {outcome.error.exercise for outcome in self.of(exercise.id) if outcome.error}
        if met and not met & {"", exercise.id}:
            return sorted(met)
        wrong = [other.id for other in manifest.needs(exercise) if not self.right(other.id)]
        return [name for name in wrong if name not in self.lent.get(exercise.id, ())]

    def right(self, exercise_id: str) -> bool:
        """Whether no test of an exercise failed."""
        return all(outcome.passed for outcome in self.of(exercise_id))

    def failure(self, exercise: Exercise) -> Outcome | None:
        """The first failed test of an exercise that is not right, which says more than that."""
        if self.status(exercise) != WRONG:
            return None
        failed = [outcome for outcome in self.of(exercise.id) if outcome.error]
        return next((x for x in failed if x.error and x.error.exercise in ("", exercise.id)), None)

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


Event = dict[str, Any]
# Runs pytest in a folder: what its plugin wrote, and why it ended early, if it did.
Watch = Callable[[Path, Sequence[str]], tuple[list[Event], str]]


def run(
    lesson: Lesson,
    overlay: Mapping[str, bytes],
    exercise: Exercise | None = None,
    by: Watch | None = None,
) -> Report:
    """Check a lesson or one exercise, with the files of `overlay` laid over the reference.

    Unless `by` runs it, pytest runs in a process of its own.
    """
    exercises = (exercise,) if exercise else lesson.exercises
    for path, source in overlay.items():
        if error := unfit(path, source):
            return Report(lesson, exercises, broken=error)
    wanted = [*manifest.needs(exercise), exercise] if exercise else []
    events, end = observe(lesson, overlay, wanted, by or watch)
    own = overlay.get(lesson.module, b"")
    report = make_report(lesson, exercises, events, end, stubs(own, lesson))
    return replace(report, lacking=words.lacking(own.decode("utf-8", "replace")))


def observe(
    lesson: Lesson, overlay: Mapping[str, bytes], wanted: Sequence[Exercise], by: Watch
) -> tuple[list[Event], str]:
    """What the checks of some exercises tell, all if none is named; and why they ended early."""
    with tree(lesson, overlay) as folder:
        add_checks(folder, lesson)
        add_examples(folder, lesson)
        words = [f"--exercise={x.id}" for x in wanted]
        events, end = by(folder, [*words, "checks.py", EXAMPLES.name])
    if end in ("status 4", "status 5"):  # pytest found no tests
        raise Problem(f"The checks of {lesson.id} do not run. Get a complete copy of the course.")
    return events, end


@contextmanager
def tree(lesson: Lesson, own: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder with the reference up to a lesson and the student's own files, for a time.

    What is not there in these is "to do", as the others cannot be imported without it.
    """
    with tempfile.TemporaryDirectory(prefix="check-") as name:
        folder = Path(name).resolve()
        given = assemble.tree(lesson, own)
        assemble.write_files(folder, {**given, **assemble.completed(own)})
        cache.add_bytecode(folder, given)
        yield folder


def ready(lesson: Lesson, done: Collection[str]) -> list[Exercise]:
    """The exercises of a lesson that are not done, and that come after none that is not."""
    left = [x for x in lesson.exercises if x.id not in done]
    return [x for x in left if all(other.id in done for other in manifest.needs(x))]


def stubs(source: bytes, lesson: Lesson) -> dict[str, Stub]:
    """The lines that a student has to replace, by exercise; and what is not there."""
    missing = skeleton.missing(source, lesson)
    found = {exercise.id: Stub(0, alone=True) for exercise in missing}
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            code = skeleton.code(function)
            for node in ast.walk(function):
                if isinstance(node, ast.Raise) and (name := raised_name(node)):
                    found.setdefault(name, Stub(node.lineno, alone=len(code) == 1))
    return found


def raised_name(node: ast.Raise) -> str:
    """The text in `raise NotImplementedError("...")`; nothing for another exception."""
    match node:
        case ast.Raise(exc=ast.Call(func=ast.Name("NotImplementedError"), args=[ast.Constant(x)])):
            return str(x)
    return ""


def add_checks(folder: Path, lesson: Lesson, name: str = "checks.py") -> None:
    """Put a lesson's checks and what they run with beside a tree."""
    checks = lesson.folder / name
    if not checks.exists():
        raise Problem(f"The lesson {lesson.id} has no {name}. Get a complete copy of the course.")
    shutil.copyfile(checks, folder / name)
    add_runner(folder)


def add_runner(folder: Path) -> None:
    """What checks run with: pytest's plugin, its settings, and what checks import."""
    shutil.copyfile(PLUGIN, folder / "conftest.py")
    helpers = {helper.name: helper.read_text(encoding="utf-8") for helper in HELPERS}
    assemble.write_files(folder, helpers)
    cache.add_bytecode(folder, helpers)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")


def add_examples(folder: Path, lesson: Lesson) -> None:
    """Put the examples in the exercises' docstrings there, as the course has them."""
    source = assemble.skeleton_of(lesson)
    texts = [skeleton.docstring(source, x.target) or "" for x in lesson.exercises]
    about = [
        {"id": x.id, "target": x.target, "examples": text if ">>>" in text else ""}
        for x, text in zip(lesson.exercises, texts, strict=True)
    ]
    shutil.copyfile(EXAMPLES, folder / EXAMPLES.name)
    (folder / "examples.json").write_text(
        json.dumps({"module": lesson.module_name, "exercises": about}), encoding="utf-8"
    )


REFUSED = "Refused"  # the type of an error in the words of the intake


def unfit(path: str, source: bytes) -> Error | None:
    """Why a file is not taken as a submission in class, or is not Python."""
    if reason := module_rules.complaint(source, path):
        return Error(REFUSED, reason)
    if error := syntax_error(path, source):
        return error
    reason = module_rules.import_complaint(source, path)
    return Error(REFUSED, reason) if reason else None


def syntax_error(path: str, source: bytes) -> Error | None:
    """Where a file is not Python, if it is not. Some errors only the compiler finds."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        place = f"line {error.lineno}, column {error.offset}" if error.lineno else "its beginning"
        rows = source.decode("utf-8", "replace").splitlines()
        row = rows[error.lineno - 1] if error.lineno and error.lineno <= len(rows) else ""
        frame = Frame(path, error.lineno or 1, "", (error.text or row).strip())
        return Error("SyntaxError", f"Python cannot read {place}: {error.msg}", frames=(frame,))
    except ValueError as error:
        return Error("SyntaxError", f"Python cannot read the file: {error}")
    return None


def watch(folder: Path, options: Sequence[str]) -> tuple[list[Event], str]:
    """Run pytest in `folder`; what its plugin wrote, and why the process ended early, if it did."""
    outcomes = folder / "outcomes.jsonl"
    output = folder / "output.txt"
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"]
    command += ["-c", "pytest.ini", "--outcomes", str(outcomes), "--time-limit", str(LIMIT)]
    command += options
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


def ended(words: Sequence[str], folder: Path, patience: float) -> tuple[list[str], str]:
    """The lines that a Python program prints in a folder; and why it did not end well, if so."""
    try:
        done = subprocess.run(
            [sys.executable, *words], cwd=folder, env=environment(folder) | {"PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8",
            errors="replace", timeout=patience, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return [], f"It did not finish within {patience} seconds."
    last = (done.stderr.strip().splitlines() or ["It ended without a message."])[-1]
    return done.stdout.splitlines(), last if done.returncode else ""


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
            if time.monotonic() - since > WAITING * LIMIT + PATIENCE:
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
    lesson: Lesson,
    exercises: tuple[Exercise, ...],
    events: Sequence[Event],
    end: str,
    stubs: Mapping[str, Stub],
) -> Report:
    """What the events say; a test that began and did not end is what ended the process."""
    outcomes = [outcome_of(event) for event in events if event["event"] == "end"]
    broken = next((error_of(e["error"]) for e in events if e["event"] == "broken"), None)
    ended = {outcome.test for outcome in outcomes}
    open_ = [e for e in events if e["event"] == "begin" and e["test"] not in ended]
    if not open_ and end:
        broken = broken or early_end(end)
    outcomes += [outcome_of({**event, "passed": False}, early_end(end)) for event in open_[-1:]]
    return Report(lesson, exercises, tuple(outcomes), broken, stubs)


def early_end(end: str) -> Error:
    """Why the process ended before its last test."""
    if end == "too long":
        return Error("Died", f"does not end within {LIMIT:g} seconds", timed_out=True)
    return Error("Died", f"Python was stopped, by exit() or by a crash ({end or 'no status'})")


def outcome_of(event: Event, error: Error | None = None) -> Outcome:
    """One test's end as the plugin told it, or with the reason why it had none."""
    if raw := event.get("error"):
        error = error_of(raw)
    names = {key: event[key] for key in ("test", "exercise", "title", "case")}
    uses = None if event.get("uses") is None else tuple(event["uses"])
    return Outcome(**names, passed=event["passed"], error=error, uses=uses)


def error_of(raw: dict[str, Any]) -> Error:
    """A failure as the plugin told it; only a stub's text is the id of an exercise."""
    compared = raw["compared"]
    known = {exercise.id for lesson in manifest.load().values() for exercise in lesson.exercises}
    facts = {
        "exercise": raw["exercise"] if raw["exercise"] in known else "",
        "compared": tuple(compared) if compared and compared[0] else None,
        "frames": tuple(Frame(**frame) for frame in raw["frames"]),
    }
    return Error(**{**raw, **facts})
