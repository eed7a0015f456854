"""The grading engine: one submission of one lesson in, one result document out.

A hidden suite is ordinary pytest and runs here, in the trusted process. The student's code runs
only in isolated workers (`session.py`); what comes back is data, which is compared with what the
reference answers to the same probe. Verdicts never cross the border, only values do.
"""

import atexit
import contextlib
import functools
import hashlib
import math
import multiprocessing
import os
import platform
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    as_completed,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import msgpack
import pytest

from autograder.grading import answers, generated, review, suite
from autograder.grading.answers import Mistake
from autograder.grading.compare import compare
from autograder.grading.suite import Disagreement
from autograder.lessons import assemble, places
from autograder.lessons.manifest import Exercise, Lesson, load, prefix
from autograder.sandbox import isolation
from autograder.sandbox.session import Probe, Reply, Session
from autograder.worker import wire

T = TypeVar("T")
R = TypeVar("R")

MOST_SECONDS = 10.0  # that any probe may take
DEATHS = (
    2  # of the worker in one exercise, by time-out or otherwise; its further probes are not run
)


class SuiteError(Exception):
    """A hidden suite is at fault, not the submission: no grade may be given before its repair."""


@dataclass(frozen=True)
class Policy:
    """What feedback may say. By default it names the property and the kind of difference."""

    show_expected: bool = False


HIDDEN = Policy()


# ------------------------------------------------------------------------------------------
# One submission


def grade(
    lesson: Lesson,
    student: str,
    source: bytes | None,
    *,
    isolation: str | None = None,
    seed: int = 0,
    policy: Policy = HIDDEN,
    only: str | None = None,
    kept: Path | None = None,
    shrink: bool = True,
) -> dict[str, Any]:
    """Grade one submission and return its result document (see `schema/result.json`).

    `source` holds the bytes of the lesson's module file, or None where the submission has none.
    `isolation` names a rung of the ladder; None takes the best that this machine has. With `only`,
    the id of an exercise, the tests of the others do not run, and the result is without them.
    `kept` is the folder that holds the assignment's generated programs, or will. Without `shrink`,
    no counterexamples are looked for.
    Raises Problem when that rung is not to be had, SuiteError when the hidden suite itself is
    broken. Whatever the submission does is a result, never an exception.
    """
    level = _choose(isolation)
    begin = time.monotonic()
    expected = _collect(_suite(lesson))
    _check_suite(lesson, expected)
    if source is None:
        examined = _unexaminable(suite.NOT_IMPLEMENTED, f"The module {lesson.module} is missing.")
    else:
        generating = Generating(seed, kept, shrink)
        examined = _examine(lesson, source, level, generating, only)
    wanted = [e for e in lesson.exercises if only in (None, e.id)]
    exercises = [_judge(e, expected[e.id], examined, policy) for e in wanted]
    return {
        "lesson": lesson.id,
        "student": student,
        "score": round(sum(exercise["points"] for exercise in exercises), 2),
        "max_score": lesson.max_points,
        "isolation": level,
        "layers": list(examined.layers),
        "exercises": exercises,
        "remarks": examined.remarks,
        "review": examined.review,
        "submission_sha256": None if source is None else hashlib.sha256(source).hexdigest(),
        "versions": _versions(),
        "seed": seed,
        "seconds": round(time.monotonic() - begin, 3),
    }


def _choose(level: str | None) -> str:
    return isolation.choose(level)


def fingerprint(lesson: Lesson, level: str, seed: int = 0) -> str:
    """A hash of everything besides the module that a result depends on.

    That is the lesson's tree, suite, known mistakes and points, this package, and the versions of
    what it stands on. Results with the same fingerprint need not be made again.
    """
    files = [*Path(__file__).parent.glob("*.py"), lesson.folder / "lesson.toml", _suite(lesson)]
    files.append(places.ANSWERS / f"{lesson.id}.py")
    parts: list[tuple[str, Any]] = sorted(assemble.tree(lesson).items())
    parts += [(path.name, path.read_bytes()) for path in sorted(files) if path.is_file()]
    about = repr((lesson.id, level, seed, _versions(), parts))
    return hashlib.sha256(about.encode()).hexdigest()


def _versions() -> dict[str, str]:
    names = ("numpy", "jaxlib", "pytest")
    own = {"jaxprentice": places.VERSION, "python": platform.python_version()}
    return own | {name: version(name) for name in names}


@dataclass(frozen=True)
class Generating:
    """What generated tests go by: the assignment's seed, and where its programs are kept."""

    seed: int
    kept: Path | None
    shrink: bool  # look for the smallest program that fails


@dataclass
class Call:
    """One probe call: what the submission and the reference answered in a test."""

    test: str
    probe: Probe
    args: tuple[Any, ...]
    got: Reply
    want: Reply
    rtol: float | None
    atol: float | None
    found: Disagreement | None

    @property
    def wrong_value(self) -> bool:
        """Is the reply a value, where the reference has another one?"""
        return self.found is not None and self.got.kind == self.want.kind == "value"


@dataclass
class Examined:
    """What came of running a hidden suite on one submission."""

    outcomes: dict[str, Disagreement | None] = field(default_factory=dict)  # by test id
    labels: dict[str, Mistake] = field(default_factory=dict)  # by exercise id
    remarks: list[str] = field(default_factory=list)
    review: list[str] = field(default_factory=list)  # why a person should look at it
    layers: tuple[str, ...] = ()
    otherwise: Disagreement | None = None  # why tests have no outcome


def _unexaminable(kind: str, remark: str) -> Examined:
    return Examined(remarks=[remark], otherwise=Disagreement(kind, remark))


def _examine(
    lesson: Lesson, source: bytes, level: str, generating: Generating, only: str | None
) -> Examined:
    """Run the hidden suite of a lesson on a module."""
    with tempfile.TemporaryDirectory(prefix="jaxprentice-") as folder:
        assemble.write_files(Path(folder), {**_given(lesson), lesson.module: source})
        with Session(Path(folder), lesson.module, level) as session:
            loaded = session.load()
            unusual = review.unusual(session.names, assemble.read_solution(lesson.module))
            if loaded.kind != "value":
                found = _not_importable(loaded, lesson)
                return replace(found, review=review.notes(unusual, session.signs))
            assert session.worker is not None
            layers = session.worker.layers
            run = _Run(lesson, session, reference(lesson, level), generating, only)
            _run_pytest(_suite(lesson), run)
            if unusual:
                run.ask_again()
    labels = _recognise(lesson, run.calls, level)
    notes = review.notes(unusual, session.signs)
    return Examined(run.outcomes, labels, [], notes, layers)


@functools.cache
def _given(lesson: Lesson) -> dict[str, str | bytes]:
    """What every submission's tree holds besides its module, compiled here, once for all."""
    return assemble.compiled(assemble.tree(lesson, but=[lesson.module]))


def _not_importable(reply: Reply, lesson: Lesson) -> Examined:
    """The remark about a module that cannot be imported; nothing else can be said of it."""
    if reply.kind == "raised" and reply.name == "NotImplementedError":
        return _unexaminable(suite.NOT_IMPLEMENTED, f"{lesson.module} cannot be imported yet.")
    if reply.kind == "timed_out":
        remark = f"The import of {lesson.module} does not come to an end."
        return _unexaminable(suite.ENDLESS, remark)
    if reply.kind == "syntax_error":
        remark = f"{lesson.module}{_place(reply)} is no valid Python: {reply.message or 'error'}."
    elif reply.kind == "import_error":
        name = "an error" if not reply.name or "." in reply.name else reply.name
        remark = f"{lesson.module} cannot be imported: {name}{_place(reply)}."
    else:
        remark = f"The import of {lesson.module} ends the Python process."
    memory = reply.name == "MemoryError"
    return _unexaminable(suite.OUT_OF_MEMORY if memory else suite.CRASHED, remark)


def _place(reply: Reply) -> str:
    column = f", column {reply.column}" if reply.column else ""
    return f", line {reply.line}{column}" if reply.line else ""


def _judge(
    exercise: Exercise, tests: list[str], examined: Examined, policy: Policy
) -> dict[str, Any]:
    """The result of one exercise: what did not run has not passed."""
    missing = examined.otherwise or Disagreement(suite.CRASHED, "The test did not run.")
    found = {test: examined.outcomes.get(test, missing) for test in tests}
    failures = [failure for failure in found.values() if failure is not None]
    share = (len(tests) - len(failures)) / len(tests)
    label = examined.labels.get(exercise.id)
    return {
        "id": exercise.id,
        "points": round(exercise.points * share, 2),
        "max_points": exercise.points,
        "tests": [_test_result(test, failure, policy) for test, failure in found.items()],
        "class": failures[0].kind if failures else None,
        "message": _exercise_message(exercise, failures, policy),
        "misconception": label and {"name": label.name, "hints": list(label.hints)},
        "counterexample": next((x.program for x in failures if x.program), None),
    }


def _test_result(test: str, failure: Disagreement | None, policy: Policy) -> dict[str, Any]:
    return {
        "id": test,
        "passed": failure is None,
        "class": failure and failure.kind,
        "message": failure and _message(failure, policy),
    }


def _message(failure: Disagreement, policy: Policy) -> str:
    shown = policy.show_expected and failure.expected
    return f"{failure.message} {failure.expected}" if shown else failure.message


def _exercise_message(
    exercise: Exercise, failures: list[Disagreement], policy: Policy
) -> str | None:
    """The first failure, and how many more there are."""
    if not failures:
        return None
    more = sum(str(failure) != str(failures[0]) for failure in failures)
    text = _message(failures[0], policy)
    if more:
        text += f" ({more} more test{'s' * (more > 1)} of this exercise fail{'s' * (more == 1)}.)"
    return text


# ------------------------------------------------------------------------------------------
# Oracles: the reference and its mistaken variants, asked each thing once


class Oracle:
    """A trusted tree in a worker of its own; remembers its replies for the whole process."""

    def __init__(self, lesson: Lesson, level: str, overlay: Mapping[str, str]) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="jaxprentice-")
        own = overlay or {lesson.module: assemble.read_solution(lesson.module)}
        assemble.write_files(Path(self.folder.name), {**_given(lesson), **own})
        self.session = Session(Path(self.folder.name), lesson.module, level, budget=math.inf)
        self.replies: dict[tuple[Probe, bytes], tuple[Reply, float]] = {}

    def ask(self, probe: Probe, args: tuple[Any, ...]) -> tuple[Reply, float]:
        """The reply, and the seconds that it took."""
        key = probe, msgpack.packb(wire.encode(list(args)))
        if key not in self.replies:
            self._open()
            begin = time.monotonic()
            reply = self.session.call(probe, *args, seconds=30, fresh=True)
            self.replies[key] = reply, time.monotonic() - begin
        return self.replies[key]

    def _open(self) -> None:
        """Have a worker, and let few other oracles keep theirs."""
        if self in _awake:
            _awake.remove(self)
        _awake.append(self)
        while len(_awake) > MOST_AWAKE:
            _awake.pop(0).session.close()
        if self.session.worker is None:
            self.session.load()


MOST_AWAKE = 3
_awake: list[Oracle] = []  # those that may have a worker, the one asked last at the end


@atexit.register
def _close_oracles() -> None:
    for oracle in _awake:
        oracle.session.close()


@functools.lru_cache(maxsize=100)
def reference(lesson: Lesson, level: str) -> Oracle:
    """The reference's tree of a lesson."""
    return Oracle(lesson, level, {})


@functools.lru_cache(maxsize=1000)
def variant(lesson: Lesson, level: str, mistake: Mistake) -> Oracle:
    """The reference's tree with a known mistake in it."""
    return Oracle(lesson, level, {lesson.module: answers.variant_source(mistake)})


# What a probe raises that asks for something that is not there. If that counted as an answer of the
# reference, a submission would agree with it by being broken in the same way.
BROKEN_PROBE = (
    *("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "AttributeError"),
)


def _check_reference(probe: Probe, reply: Reply) -> None:
    """Complain loudly about a probe that does not even work on the reference."""
    if reply.kind not in ("value", "raised"):
        raise SuiteError(f"The probe {probe.name} ends with {reply.kind!r} on the reference.")
    if reply.name in BROKEN_PROBE:
        raise SuiteError(f"The probe {probe.name} raises {reply.name}: {reply.message}.")
    if suite.has_opaque(reply.value):
        raise SuiteError(f"The probe {probe.name} returns something that is no plain data.")


_NOT_A_MISTAKE = {suite.NOT_IMPLEMENTED, suite.ENDLESS, suite.CRASHED, suite.OUT_OF_MEMORY}


def _recognise(lesson: Lesson, calls: Mapping[str, list[Call]], level: str) -> dict[str, Mistake]:
    """The known mistake behind each exercise's wrong replies, where exactly one fits them."""
    labels: dict[str, Mistake] = {}
    for exercise, made in calls.items():
        kinds = {call.found.kind for call in made if call.found is not None}
        if sum(call.wrong_value for call in made) < 2 or kinds & _NOT_A_MISTAKE:
            continue
        mistakes = [m for m in answers.load(lesson.id) if m.exercise == exercise]
        telling = sorted(made, key=lambda call: not call.wrong_value)  # where most of them differ
        fitting = [m for m in mistakes if _fits(variant(lesson, level, m), telling)]
        if len(fitting) == 1:
            labels[exercise] = fitting[0]
    return labels


def _fits(oracle: Oracle, calls: list[Call]) -> bool:
    try:
        return all(_same(call, oracle.ask(call.probe, call.args)[0]) for call in calls)
    finally:
        oracle.session.close()


def _same(call: Call, reply: Reply) -> bool:
    return compare(call.got, reply, (), call.rtol, call.atol) is None


# ------------------------------------------------------------------------------------------
# The hidden suite, which pytest runs in this process


class Student:
    """What a hidden test gets as `student`: the submission, to be compared with the reference."""

    def __init__(self, run: "_Run", test: str, exercise: str, about: str) -> None:
        self._run = run
        self._test = test
        self._exercise = exercise
        self._about = about

    def agrees(
        self, probe: Probe, *args: Any, rtol: float | None = None, atol: float | None = None
    ) -> None:
        """Raise Disagreement unless the submission answers the probe as the reference does."""
        found = self.compare(probe, *args, rtol=rtol, atol=atol)
        if found is not None:
            raise found

    def compare(
        self, probe: Probe, *args: Any, rtol: float | None = None, atol: float | None = None
    ) -> Disagreement | None:
        """How the submission's answer differs from the reference's; None where it does not."""
        found = self._run.call(self._test, self._exercise, probe, args, (rtol, atol))
        return None if found is None else self._told(found)

    def agrees_on_programs(
        self, law: Probe, siblings: Mapping[str, str] = MappingProxyType({}), **recipe: Any
    ) -> None:
        """Raise Disagreement unless a law gives what it gives on the reference, on random programs.

        See `generated.py`. `siblings` holds definitions for other exercises' targets; one for the
        target of this exercise is left out. `recipe` is for `programs.make`. Such tests stand last
        in a suite: siblings that have passed their tests until then need not be put in place.
        """
        test = self._run.law_test(self._test, self._exercise, law, siblings, recipe)
        found = self._run.law(self._test, self._exercise, test)
        if found is None:
            return
        if self._run.generating.shrink and not _is_stub(found, self._exercise):
            found = self._run.shrunk(self._exercise, test) or found
        raise self._told(found)

    def _told(self, found: Disagreement) -> Disagreement:
        """What differs, in the words for the student."""
        if found.kind == suite.NOT_IMPLEMENTED:
            own = found.message == self._exercise
            message = "This is not implemented yet."
            if not own:
                message = f"This needs {found.message}, which is not implemented yet."
            return Disagreement(found.kind, message)
        about = f"This does not hold yet: {self._about} " if self._about else ""
        return Disagreement(found.kind, about + found.message, found.expected, found.program)


class _Run:
    """One run of a suite: a pytest plugin that gives tests their `student`, and keeps outcomes."""

    def __init__(
        self,
        lesson: Lesson,
        session: Session,
        oracle: Oracle,
        generating: Generating,
        only: str | None,
    ) -> None:
        self.lesson = lesson
        self.only = only  # the exercise whose tests run; None for all
        self.session = session
        self.oracle = oracle
        self.generating = generating
        self.stubs = {e.id for other in prefix(lesson) for e in other.exercises}
        self.calls: dict[str, list[Call]] = defaultdict(list)
        self.deaths: dict[str, list[Reply]] = defaultdict(list)
        self.clean_for = ""  # the exercise for which the package was imported afresh
        self.stubbed: set[str] = set()  # exercises whose own stub has answered
        self.targets = {e.id: e.target for e in lesson.exercises}
        self.shown: set[str] = set()  # targets of which the worker has seen right definitions
        self.outcomes: dict[str, Disagreement | None] = {}
        self.broken: list[str] = []

    def call(
        self,
        test: str,
        exercise: str,
        probe: Probe,
        args: tuple[Any, ...],
        tolerance: tuple[float | None, float | None],
    ) -> Disagreement | None:
        """Ask both sides, remember what they said, and compare."""
        want, seconds = self.oracle.ask(probe, args)
        _check_reference(probe, want)
        self.keep_apart(exercise)
        clean = self.clean_for == exercise
        got = self._answer(exercise, probe, args, _allowed(seconds))
        found = compare(got, want, self.stubs, *tolerance)
        another = found is not None and not _is_stub(found, exercise)
        if another and clean and exercise in self.stubbed:  # the stub may have left disorder
            self.clean_for = ""
            got = self._answer(exercise, probe, args, _allowed(seconds))
            found = compare(got, want, self.stubs, *tolerance)
        self.calls[exercise].append(Call(test, probe, args, got, want, *tolerance, found))
        self._note(exercise, found)
        return found

    def _answer(self, exercise: str, probe: Probe, args: tuple[Any, ...], seconds: float) -> Reply:
        """Ask the submission, unless it has killed too many workers in this exercise."""
        if len(self.deaths[exercise]) >= DEATHS:
            return self.deaths[exercise][-1]
        fresh = self.clean_for != exercise
        got = self.session.call(probe, *args, seconds=seconds, fresh=fresh)
        if got.kind in ("timed_out", "crashed"):
            self.deaths[exercise].append(got)
        return got

    def keep_apart(self, exercise: str, siblings: Collection[str] = ()) -> None:
        """Give an exercise a new worker if this one was shown a right definition of its target.

        Whoever sees definitions may remember them. `siblings` are the targets to be shown now.
        """
        if self.targets[exercise] in self.shown:
            self.session.close()
            self.shown.clear()
        self.shown.update(siblings)

    def _note(self, exercise: str, found: Disagreement | None) -> None:
        """What goes wrong may leave the package in disorder: other tests shall not suffer for it.

        An untouched exercise goes wrong in every test, and is spared an import for each of them.
        """
        if found is not None and _is_stub(found, exercise):
            self.stubbed.add(exercise)
            self.clean_for = exercise
        else:
            self.clean_for = exercise if found is None else ""

    def law_test(
        self, test: str, exercise: str, law: Probe, siblings: Mapping[str, str], recipe: Any
    ) -> generated.Test:
        """A law with the programs of this assignment, and the siblings that may travel with it."""
        own = self.targets[exercise]
        others = {target: text for target, text in siblings.items() if target != own}
        about = test, law, self.generating.seed, recipe
        chosen = generated.stored(self.generating.kept, self.lesson.id, *about)
        module = self.lesson.module.removesuffix(".py").replace("/", ".")
        return generated.Test(law, chosen, others, module)

    def law(self, name: str, exercise: str, test: generated.Test) -> Disagreement | None:
        """How the answers to a law differ from the reference's, with right siblings in place.

        The submission's own will do where they have passed their tests so far, and it holds: then
        the worker sees fewer definitions, and can mostly go on.
        """
        asked = test.arguments(test.programs)
        want, seconds = self.oracle.ask(generated.OUTCOMES, asked)
        test.check_reference(want)
        if self._is_untouched(exercise):
            return Disagreement(suite.NOT_IMPLEMENTED, exercise)
        doubtful = {x: text for x, text in test.siblings.items() if not self._has_passed(x)}
        for siblings in [doubtful, test.siblings] if doubtful != test.siblings else [doubtful]:
            self.keep_apart(exercise, siblings)
            arguments = replace(test, siblings=siblings).arguments(test.programs)
            got = self._answer(exercise, generated.OUTCOMES, arguments, _allowed(seconds))
            found = compare(got, want, self.stubs, None, generated.ATOL)
            self._note(exercise, found)
            if found is None:
                break
        call = Call(name, generated.OUTCOMES, asked, got, want, None, generated.ATOL, found)
        self.calls[exercise].append(call)
        return found

    def _is_untouched(self, exercise: str) -> bool:
        """Has its own stub answered, and was nothing right so far?"""
        right = any(call.found is None for call in self.calls[exercise])
        return exercise in self.stubbed and not right

    def _has_passed(self, target: str) -> bool:
        """Has the exercise of this target answered rightly so far?"""
        calls = [c for e in self.lesson.exercises if e.target == target for c in self.calls[e.id]]
        return bool(calls) and all(call.found is None for call in calls)

    def shrunk(self, exercise: str, test: generated.Test) -> Disagreement | None:
        """The difference on the smallest program found; None where none differs by itself.

        Nothing of this counts: not for the time that the submission has, nor for known mistakes.
        """
        seconds = self.session.seconds
        try:
            return generated.smallest(test, functools.partial(self.differences, exercise, test))
        finally:
            self.session.seconds = seconds

    def differences(
        self, exercise: str, test: generated.Test, chosen: Sequence[generated.Sample]
    ) -> list[Disagreement | None]:
        """How the answers to each of some programs differ; nothing where the call itself fails."""
        self.keep_apart(exercise, test.siblings)
        arguments = test.arguments(chosen, catch=True)
        want, seconds = self.oracle.ask(generated.OUTCOMES, arguments)
        got = self.session.call(
            generated.OUTCOMES, *arguments, seconds=_allowed(seconds), fresh=True
        )
        pairs = zip(generated.replies(got), generated.replies(want), strict=False)
        return [
            compare(x, y, self.stubs, None, generated.ATOL) if y.kind == "value" else None
            for x, y in pairs
        ]

    def ask_again(self) -> None:
        """Ask a new worker what was answered rightly; a test whose answer has changed fails."""
        self.session.close()
        right = [c for calls in self.calls.values() for c in calls if c.found is None]
        for call in reversed(right):
            seconds = self.oracle.ask(call.probe, call.args)[1]
            got = self.session.call(call.probe, *call.args, seconds=_allowed(seconds))
            answered = got.kind in ("value", "raised")
            if answered and compare(got, call.want, self.stubs, call.rtol, call.atol) is not None:
                self.session.signs.add(review.UNSTABLE)
                self.outcomes[call.test] = Disagreement(suite.WRONG_VALUE, _CHANGING)

    @pytest.fixture
    def student(self, request: pytest.FixtureRequest) -> Student:
        """The submission under test."""
        about = (request.node.function.__doc__ or "").strip().partition("\n")[0]
        return Student(self, request.node.name, _exercise_of(request.node), about)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the tests of other exercises than `only`."""
        items[:] = [item for item in items if self.only in (None, _exercise_of(item))]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> pytest.TestReport:
        """Keep what came of a test; anything but a Disagreement is the suite's own fault.

        pytest's own report would take time for a traceback that nobody sees.
        """
        error = call.excinfo.value if call.excinfo else None
        if call.when == "call" and (error is None or isinstance(error, Disagreement)):
            self.outcomes[item.name] = error
        elif error is not None:
            self.broken.append(f"{item.name}: {type(error).__name__}: {error}")
        outcome, when = "passed" if error is None else "failed", call.when
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, when)  # type: ignore[arg-type]


_CHANGING = "Asked the same thing twice, your code gives different answers."


def _allowed(seconds: float) -> float:
    """The time for a probe that takes the reference so many seconds."""
    return min(20 * seconds, MOST_SECONDS)


def _is_stub(found: Disagreement, exercise: str) -> bool:
    """Is it the exercise itself that is not implemented, and not one that it needs?"""
    return found.kind == suite.NOT_IMPLEMENTED and found.message == exercise


def _exercise_of(item: pytest.Item) -> str:
    marks = [mark.args for mark in item.iter_markers("exercise")]
    if len(marks) != 1 or len(marks[0]) != 1:
        raise SuiteError(f"The test {item.name} needs exactly one mark, exercise(ID).")
    return marks[0][0]


_QUIET = [
    *("--disable-plugin-autoload", "--noconftest", "--import-mode=importlib", "--strict-markers"),
    *("-o", "markers=exercise(id): the exercise that a test belongs to", "-c", os.devnull),
    *(f"-pno:{name}" for name in ("cacheprovider", "terminal", "capture", "logging", "warnings")),
    *(f"-pno:{name}" for name in ("faulthandler", "doctest", "unittest", "junitxml", "stepwise")),
    *(f"-pno:{name}" for name in ("unraisableexception", "threadexception")),
]


def _run_pytest(path: Path, plugin: Any, *flags: str) -> None:
    """Run a suite in this process, without a trace on the screen or on the disk."""
    if not path.is_file():
        raise SuiteError(f"The lesson {path.stem!r} has no hidden suite.")
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        status = pytest.main([*_QUIET, *_only_this_file(path), *flags, str(path)], plugins=[plugin])
    finally:
        sys.dont_write_bytecode = before
    if status == pytest.ExitCode.INTERRUPTED and not plugin.broken:
        raise KeyboardInterrupt
    if plugin.broken or status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise SuiteError(f"The hidden suite {path.name} is broken. {'; '.join(plugin.broken[:3])}")


def _only_this_file(path: Path) -> list[str]:
    """Flags without which pytest reads all folders from the top of the disk down to the file's."""
    return ["--rootdir", str(path.parents[2]), "--confcutdir", str(path.parent)]


class _Collector:
    """A pytest plugin that only looks which tests there are."""

    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = defaultdict(list)
        self.broken: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note each test under its exercise."""
        for item in items:
            self.tests[_exercise_of(item)].append(item.name)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what is wrong with the file."""
        if report.failed:
            self.broken.append(str(report.longrepr))


def _suite(lesson: Lesson) -> Path:
    return places.SUITES / f"{lesson.id}.py"


@functools.cache
def _collect(path: Path) -> dict[str, list[str]]:
    """The ids of the tests of every exercise: those that must pass."""
    collector = _Collector()
    _run_pytest(path, collector, "--collect-only")
    return dict(collector.tests)


def _check_suite(lesson: Lesson, tests: Mapping[str, list[str]]) -> None:
    """Complain loudly where suite and manifest do not fit together."""
    wanted = {exercise.id for exercise in lesson.exercises}
    if wanted != set(tests):
        odd = ", ".join(sorted(wanted ^ set(tests)))
        raise SuiteError(f"The suite and the manifest of {lesson.id!r} do not both have: {odd}.")
    names = [test for group in tests.values() for test in group]
    if len(names) != len(set(names)):
        raise SuiteError(f"The suite of {lesson.id!r} has two tests of one name.")


# ------------------------------------------------------------------------------------------
# Many submissions

Job = tuple[str, bytes | None]
Results = Generator[dict[str, Any], None, None]
ALONE = 3  # times that a submission is tried which was in the hands of a process that died


def grade_many(
    submissions: Iterable[Job],
    lesson: Lesson,
    *,
    workers: int | None = None,
    isolation: str | None = None,
    seed: int = 0,
    policy: Policy = HIDDEN,
    kept: Path | None = None,
    shrink: bool = True,
) -> Results:
    """Grade (student, source) pairs in `workers` processes; None means one for each processor.

    Results come as they finish, not in order. What was in the hands of a process that dies is
    graded again, alone; when that has failed ALONE times, the result has no points and says so
    (`is_graded`). Close the generator to stop the processes at once.
    """
    options = {"isolation": _choose(isolation), "seed": seed, "policy": policy}
    options |= {"kept": kept, "shrink": shrink}
    waiting = list(submissions)
    workers = min(workers or os.cpu_count() or 1, len(waiting))
    if workers <= 1:
        for student, source in waiting:
            yield grade(lesson, student, source, **options)  # type: ignore[arg-type]
        return
    suspects: list[Job] = []
    yield from _pooled(waiting, lesson, workers, options, suspects)
    for _ in range(ALONE):
        again: list[Job] = []
        yield from _pooled(suspects, lesson, 1, options, again)
        suspects = again
    for job in suspects:
        yield ungraded(lesson, *job, options)


def _pooled(
    waiting: list[Job], lesson: Lesson, workers: int, options: Mapping[str, Any], lost: list[Job]
) -> Results:
    """Results of a pool; those that were in the hands of a process when it died go to `lost`."""
    waiting = waiting[::-1]
    most = 2 * workers if workers > 1 else 1  # in hand at once
    while waiting:
        running: dict[Future[dict[str, Any]], Job] = {}
        with _pool(workers) as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < most:
                        future = pool.submit(_grade_one, lesson, *waiting[-1], options)
                        running[future] = waiting.pop()  # now: a broken pool takes nothing
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        result = future.result()
                        del running[future]
                        yield result
            except BrokenProcessPool:
                lost += running.values()


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes end with this one, and at once where the work breaks off."""
    # spawn: a process that has threads must not be forked.
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="jaxprentice-", ignore_cleanup_errors=True) as folder:
        options: dict[str, Any] = {"initializer": _join_pool, "initargs": (folder,)}
        with ProcessPoolExecutor(workers, context, **options) as pool:
            try:
                yield pool
            except BaseException:
                for process in multiprocessing.active_children():
                    process.terminate()
                raise


def _join_pool(folder: str) -> None:
    """Prepare a process of a pool: its temporary files lie in the pool's folder.

    Ctrl-C goes to every process at the terminal; the first one decides what is to be done.
    """
    tempfile.tempdir = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()


def _end_with_parent(folder: str) -> None:
    """Leave nothing when the first process was killed; the workers end with their parent."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def in_pool(
    task: Callable[[T], R], items: Sequence[T], workers: int | None = None
) -> Iterator[tuple[T, R]]:
    """Each item with what `task` makes of it, in several processes, in the order of finishing."""
    workers = min(workers or os.cpu_count() or 1, len(items))
    if workers <= 1:
        yield from ((item, task(item)) for item in items)
        return
    with _pool(workers) as pool:
        futures = {pool.submit(task, item): item for item in items}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _grade_one(
    lesson: Lesson, student: str, source: bytes | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    return grade(load().get(lesson.id, lesson), student, source, **options)


def ungraded(
    lesson: Lesson, student: str, source: bytes | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The result of a submission that ended the grader each time: for a person to look at."""
    result = grade(lesson, student, None, **options)
    for exercise in result["exercises"]:
        for part in (exercise, *exercise["tests"]):
            part.update({"class": suite.CRASHED, "message": _UNGRADED})
    hashed = None if source is None else hashlib.sha256(source).hexdigest()
    look = ["The grader died each time when it graded this. Grade it again, or by hand."]
    return result | {"remarks": [_UNGRADED], "review": look, "submission_sha256": hashed}


_UNGRADED = "This could not be graded: the grader itself died. Show it to your instructor."


def is_graded(result: Mapping[str, Any]) -> bool:
    """Does the result say something about the submission? Otherwise grade it again."""
    return _UNGRADED not in result["remarks"]
