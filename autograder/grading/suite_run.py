"""One run of a hidden suite on one submission: what tests get as `student`, and what is kept."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgpack
import pytest

from autograder.grading import answers, generated, suite, telling
from autograder.grading.compare import compare
from autograder.grading.oracle import Oracle, check_reference
from autograder.grading.suite import Disagreement, SuiteError
from autograder.grading.under_pytest import exercise_of, property_of
from autograder.lessons.manifest import Lesson, prefix
from autograder.lessons.problem import Problem
from autograder.sandbox.session import ASLEEP, Probe, Reply, Session
from autograder.worker import wire

MOST_SECONDS = 10.0  # that any probe may take
SEARCH_SECONDS = 15.0  # for the smallest programs of all tests of a submission together
MOST_KEPT = 1 << 20  # bytes of a submission's wrong answers, as they are written in messages
DEATHS = 2  # of the worker in one exercise, in whatever way; its further probes are not run


Tolerance = tuple[float | None, float | None]  # relative, absolute
Enough = Callable[[str, Sequence["Call"]], bool]  # of an exercise, and the calls made so far


@dataclass(frozen=True)
class Generating:
    """What generated tests go by: the assignment's seed, and where its programs are kept."""

    seed: int
    kept: Path | None
    shrink: bool  # look for the smallest program that fails, and ask again what took too long


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
        """Is the reply a value, where the reference has a different one?"""
        return self.found is not None and self.got.kind == self.want.kind == "value"


@dataclass(frozen=True)
class Silenced:
    """A failed test of which more might be said: its last call with nothing lent, or its law."""

    exercise: str
    call: Call
    lent: frozenset[str] = frozenset()  # targets of which the call had right definitions
    law: generated.Test | None = None


class Student:
    """What a hidden test gets as `student`: the submission, to be compared with the reference."""

    def __init__(self, run: "SuiteRun", test: str, exercise: str, about: str) -> None:
        self._run = run
        self._test = test
        self._exercise = exercise
        self._about = about

    def agrees(
        self, probe: Probe, *args: Any, rtol: float | None = None, atol: float | None = None
    ) -> None:
        """Raise Disagreement unless the submission answers the probe as the reference does."""
        self._ask(probe, args, (rtol, atol), raises=False)

    def raises(self, probe: Probe, *args: Any) -> None:
        """Raise Disagreement unless the probe raises with the submission what the reference raises.

        Anywhere else, a probe that raises with the reference is a fault of the suite.
        """
        self._ask(probe, args, (None, None), raises=True)

    def _ask(self, probe: Probe, args: tuple[Any, ...], near: Tolerance, raises: bool) -> None:
        found = self._run.call(self._test, self._exercise, probe, args, near, raises)
        if found is not None:
            raise telling.told(found, self._exercise, self._about)

    def agrees_on_programs(self, law: Probe, **recipe: Any) -> None:
        """Raise Disagreement unless a law gives what it gives on the reference, on random programs.

        See `generated.py`. Right answers to the other exercises are put in place. `recipe` is for
        `random_programs.make`. Such tests come last in a suite: siblings that have passed their
        tests until then do not have to be put in place.
        """
        test = self._run.law_test(self._test, self._exercise, law, recipe)
        found = self._run.law(self._test, self._exercise, test)
        if found is not None:
            raise telling.told(found, self._exercise, self._about)


class SuiteRun:
    """One run of a suite: a pytest plugin that gives tests their `student`, and keeps outcomes."""

    def __init__(
        self,
        lesson: Lesson,
        session: Session,
        oracle: Oracle,
        generating: Generating,
        only: str | None,
        enough: Enough | None = None,
        lines: Sequence[str] = (),
    ) -> None:
        self.lesson = lesson
        self.only = only  # the exercise whose tests run; None for all
        self.enough = enough  # asked after a test that fails: are the others left out?
        self.session = session
        self.oracle = oracle
        self.generating = generating
        self.stubs = {e.id for other in prefix(lesson) for e in other.exercises}
        self.calls: dict[str, list[Call]] = defaultdict(list)
        self.deaths: dict[str, list[Reply]] = defaultdict(list)
        self.in_vain = False  # was what ran out of time asked once more, and did so again?
        self.clean_for = ""  # the exercise for which the package was imported afresh
        self.stubbed: set[str] = set()  # exercises whose own stub has answered
        self.targets = {e.id: e.target for e in lesson.exercises}
        self.whole = lesson.whole.id if lesson.whole else None
        self.siblings = answers.siblings(lesson.id)
        self.lines = lines  # of the student's file
        self.shown: set[str] = set()  # targets of which the worker has seen right definitions
        self.outcomes: dict[str, Disagreement | None] = {}
        self.quiet: dict[str, Silenced] = {}  # tests of which more might be said
        self.broken: list[str] = []  # what is wrong with the suite: see `rehearsal.py`
        self.unhandled: list[str] = []  # what went wrong here with the submission's answers
        self.stopped: Exception | None = None  # what the machine could not do
        self.kept = 0  # bytes of wrong answers
        self.searched = 0.0  # seconds spent on smallest programs

    def call(
        self,
        test: str,
        exercise: str,
        probe: Probe,
        args: tuple[Any, ...],
        tolerance: Tolerance,
        raises: bool,
    ) -> Disagreement | None:
        """Ask both sides, remember what they said, and compare."""
        siblings = self._siblings(exercise, args)
        whole = self._filled(args, siblings)
        want, seconds = self.wanted(probe, whole, raises)
        for given in self._in_turn(siblings):
            self.keep_apart(exercise, given)
            told = self._filled(args, given)
            got = self._answer(exercise, probe, told, allowed(seconds))
            found = compare(got, want, self.stubs, *tolerance)
            if self._may_be_disorder(exercise, found):
                self.clean_for = ""
                got = self._answer(exercise, probe, told, allowed(seconds))
                found = compare(got, want, self.stubs, *tolerance)
            self._note(exercise, found)
            if found is None or self.is_stub(found, exercise):
                break
        call = Call(test, probe, whole, got, want, *tolerance, found)
        self._keep(exercise, call)
        if found is None or not self.shown:
            return found
        bare = replace(call, args=self._filled(args, {}))
        self.quiet[test] = Silenced(exercise, bare, frozenset(siblings))
        return telling.by_kind(found, exercise)

    def wanted(self, probe: Probe, args: tuple[Any, ...], raises: bool) -> tuple[Reply, float]:
        """What the reference answers, and how long that takes it."""
        want, seconds = self.oracle.ask(probe, args)
        check_reference(probe, want, raises)
        return want, seconds

    def compared(self, call: Call) -> Disagreement | None:
        """How the submission's answer to a call differs now, in a package that is imported anew."""
        seconds = allowed(self.oracle.ask(call.probe, call.args)[1])
        got = self.session.call(call.probe, *call.args, seconds=seconds, fresh=True)
        got = telling.reduced(got, self.lines, self.stubs)
        return compare(got, call.want, self.stubs, call.rtol, call.atol)

    def _may_be_disorder(self, exercise: str, found: Disagreement | None) -> bool:
        """May a stub that answered in this worker be what made the difference?"""
        another = found is not None and not self.is_stub(found, exercise)
        return another and self.clean_for == exercise and exercise in self.stubbed

    def _keep(self, exercise: str, call: Call) -> None:
        """Remember a call, but of the submission's answers no more than MOST_KEPT.

        A right answer is as good as the reference's. What is too large is no known mistake.
        """
        if call.found is None:
            call.got = call.want
        elif self.kept <= MOST_KEPT:
            # What was read can be written: `wire` holds both to the same limits.
            self.kept += len(msgpack.packb(wire.encode(call.got.value)))
        if self.kept > MOST_KEPT:
            call.got = Reply("unsendable")
        self.calls[exercise].append(call)

    def _siblings(self, exercise: str, args: tuple[Any, ...]) -> dict[str, str]:
        """Right definitions for each `Siblings` among the arguments, by target."""
        names = [name for arg in args if isinstance(arg, suite.Siblings) for name in arg.exercises]
        if names and (exercise in names or exercise == self.whole):
            raise SuiteError(f"A probe of {exercise} brings the answer to it along.")
        targets = [self.targets[name] for name in names]
        return {x: self.siblings[x] for x in targets if x in self.siblings}

    def _filled(self, args: tuple[Any, ...], given: Mapping[str, str]) -> tuple[Any, ...]:
        """The arguments, with the given definitions of what each `Siblings` asks for."""

        def filled(arg: Any) -> Any:
            if not isinstance(arg, suite.Siblings):
                return arg
            targets = [self.targets[name] for name in arg.exercises]
            return {x: given[x] for x in targets if x in given}

        return tuple(map(filled, args))

    def _in_turn(self, siblings: Mapping[str, str]) -> list[Mapping[str, str]]:
        """The right siblings to try an exercise with, one set after the other until it agrees.

        The submission's own will do where they have passed their tests so far: then the worker
        sees fewer definitions, and can mostly go on.
        """
        doubtful = {x: text for x, text in siblings.items() if not self._has_passed(x)}
        return [doubtful, siblings] if doubtful != siblings else [siblings]

    def _answer(self, exercise: str, probe: Probe, args: tuple[Any, ...], seconds: float) -> Reply:
        """Ask the submission, unless it has killed too many workers in this exercise."""
        if len(self.deaths[exercise]) >= DEATHS:
            return self.deaths[exercise][-1]
        fresh = self.clean_for != exercise
        got = self.session.call(probe, *args, seconds=seconds, fresh=fresh)
        ran_out = got.kind == "timed_out" and got.name != ASLEEP
        if ran_out and self._has_a_chance():
            got = self.session.call_again(probe, *args, seconds=seconds)
            self.in_vain = got.kind == "timed_out"
        if got.kind in ("timed_out", "crashed"):
            self.deaths[exercise].append(got)
        return telling.reduced(got, self.lines, self.stubs)

    def _has_a_chance(self) -> bool:
        """May what ran out of time be asked again?"""
        hopeful = self.generating.shrink and not self.in_vain
        return hopeful and self.session.again < self.session.budget

    def know_nothing(self) -> None:
        """Have a worker that was shown no right definition."""
        if self.shown:
            self.session.close()
            self.shown.clear()

    def keep_apart(self, exercise: str, siblings: Collection[str] = ()) -> None:
        """Give an exercise a new worker if this one was shown a right definition of its target.

        Code that sees definitions may remember them. `siblings` are the targets to be shown now.
        """
        if self.targets.get(exercise) in self.shown or exercise == self.whole:
            self.know_nothing()
        self.shown.update(siblings)

    def _note(self, exercise: str, found: Disagreement | None) -> None:
        """What goes wrong may leave the package in disorder: other tests must not suffer for it.

        An untouched exercise goes wrong in every test, and is spared an import for each of them.
        """
        if found is not None and self.is_stub(found, exercise):
            self.stubbed.add(found.message)
            self.clean_for = exercise
        else:
            self.clean_for = exercise if found is None else ""

    def law_test(self, test: str, exercise: str, law: Probe, recipe: Any) -> generated.Test:
        """A law with the programs of this assignment, and the siblings that may travel with it."""
        own = self.targets.get(exercise)
        siblings = self.siblings if own else {}  # the whole module is the student's own
        others = {target: text for target, text in siblings.items() if target != own}
        about = test, law, self.generating.seed, recipe
        chosen = generated.stored(self.generating.kept, self.lesson.id, *about)
        module = self.lesson.module.removesuffix(".py").replace("/", ".")
        return generated.Test(law, chosen, others, module)

    def law(self, name: str, exercise: str, test: generated.Test) -> Disagreement | None:
        """How the answers to a law differ from the reference's, with right siblings in place."""
        asked = test.arguments(test.programs)
        want, seconds = self.wanted_of_law(test)
        if self._is_untouched(exercise):
            return Disagreement(suite.NOT_IMPLEMENTED, exercise)
        for siblings in self._in_turn(test.siblings):
            self.keep_apart(exercise, siblings)
            arguments = replace(test, siblings=siblings).arguments(test.programs)
            got = self._answer(exercise, generated.OUTCOMES, arguments, allowed(seconds))
            found = compare(got, want, self.stubs, None, generated.ATOL)
            self._note(exercise, found)
            if found is None:
                break
        call = Call(name, generated.OUTCOMES, asked, got, want, None, generated.ATOL, found)
        self._keep(exercise, call)
        if found is None or self.is_stub(found, exercise):
            return found
        self.quiet[name] = Silenced(exercise, call, law=test)
        return telling.by_kind(found, exercise) if self.shown else found

    def wanted_of_law(self, test: generated.Test) -> tuple[Reply, float]:
        """What the reference answers to a law, and how long that takes it."""
        want, seconds = self.oracle.ask(generated.OUTCOMES, test.arguments(test.programs))
        test.check_reference(want)
        return want, seconds

    def is_stub(self, found: Disagreement, exercise: str) -> bool:
        """Is it the exercise itself that is not implemented, and not one that it needs?

        The whole module is not implemented while any exercise is not.
        """
        return found.kind == suite.NOT_IMPLEMENTED and exercise in (found.message, self.whole)

    def _is_untouched(self, exercise: str) -> bool:
        """Has its own stub answered, and was nothing right so far?"""
        right = any(call.found is None for call in self.calls[exercise])
        return exercise in self.stubbed and not right

    def _has_passed(self, target: str) -> bool:
        """Has the exercise of this target answered rightly so far?"""
        return bool(self._calls_of(target)) and not self.has_failed(target)

    def has_failed(self, target: str) -> bool:
        """Has the exercise of this target given a wrong answer?"""
        return any(call.found is not None for call in self._calls_of(target))

    def _calls_of(self, target: str) -> list[Call]:
        return [c for e in self.lesson.exercises if e.target == target for c in self.calls[e.id]]

    @pytest.fixture
    def student(self, request: pytest.FixtureRequest) -> Student:
        """The submission under test."""
        return self.student_of(request.node)

    def student_of(self, item: pytest.Function) -> Student:
        """What a test gets as `student`."""
        about = property_of(item)
        return Student(self, item.name, exercise_of(item), about)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the tests of other exercises than `only`, and have the whole module first.

        Then the worker has not been shown any right definition, and does not have to be a new one.
        """
        items[:] = [item for item in items if self.only in (None, exercise_of(item))]
        items.sort(key=lambda item: exercise_of(item) != self.whole)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> pytest.TestReport:
        """Keep what came of a test.

        pytest's own report would take time for a traceback that is never shown.
        """
        error = call.excinfo.value if call.excinfo else None
        if call.when == "call" and (error is None or isinstance(error, Disagreement)):
            self.outcomes[item.name] = error
            exercise = exercise_of(item)
            if error and self.enough and self.enough(exercise, self.calls[exercise]):
                item.session.shouldfail = "Enough is known."
        elif isinstance(error, Problem | OSError):
            self.stopped = error
            item.session.shouldstop = "This is not the submission's doing."
        elif error is not None:
            self.fault(item.name, error)
        outcome, when = "passed" if error is None else "failed", call.when
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, when)  # type: ignore[arg-type]

    def fault(self, test: str, error: BaseException) -> None:
        """Take an error that is no verdict: on the reference alone the suite has had none."""
        self.unhandled.append(f"{type(error).__name__} in {test}")
        self.outcomes[test] = Disagreement(suite.CRASHED, telling.UNHANDLED)


def allowed(seconds: float) -> float:
    """The time for a probe that takes the reference so many seconds."""
    return min(20 * seconds, MOST_SECONDS)
