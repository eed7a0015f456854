"""One run of a hidden suite on one submission: what tests get as `student`, and what is kept."""

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgpack
import pytest

from autograder.grading import answers, generated, review, suite
from autograder.grading.compare import compare
from autograder.grading.oracle import Oracle, check_reference
from autograder.grading.suite import Disagreement, SuiteError
from autograder.grading.under_pytest import exercise_of, property_of
from autograder.lessons.manifest import Lesson, prefix
from autograder.sandbox.session import ASLEEP, Probe, Reply, Session
from autograder.worker import wire

MOST_SECONDS = 10.0  # that any probe may take
SEARCH_SECONDS = 15.0  # for the smallest programs of all tests of a submission together
MOST_KEPT = 1 << 20  # bytes of a submission's wrong answers, as they are written in messages
VAIN = 3  # exercises of a submission that are asked again in vain: each may take 10 s and more
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
            raise self._told(found)

    def agrees_on_programs(self, law: Probe, **recipe: Any) -> None:
        """Raise Disagreement unless a law gives what it gives on the reference, on random programs.

        See `generated.py`. Right answers to the other exercises are put in place. `recipe` is for
        `random_programs.make`. Such tests come last in a suite: siblings that have passed their
        tests until then do not have to be put in place.
        """
        test = self._run.law_test(self._test, self._exercise, law, recipe)
        found = self._run.law(self._test, self._exercise, test)
        if found is None:
            return
        if self._run.generating.shrink and not self._run.is_stub(found, self._exercise):
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
        # How often what ran out of time may do so once more, with far more of it.
        self.chances: dict[str, int] = defaultdict(lambda: int(generating.shrink))
        self.vain = 0  # how often that was no use
        self.clean_for = ""  # the exercise for which the package was imported afresh
        self.stubbed: set[str] = set()  # exercises whose own stub has answered
        self.targets = {e.id: e.target for e in lesson.exercises}
        self.whole = lesson.whole.id if lesson.whole else None
        self.siblings = answers.siblings(lesson.id)
        self.shown: set[str] = set()  # targets of which the worker has seen right definitions
        self.outcomes: dict[str, Disagreement | None] = {}
        self.broken: list[str] = []
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
        want, seconds = self.oracle.ask(probe, whole)
        check_reference(probe, want, raises)
        for given in self._in_turn(siblings):
            self.keep_apart(exercise, given)
            told = self._filled(args, given)
            got = self._answer(exercise, probe, told, _allowed(seconds))
            found = compare(got, want, self.stubs, *tolerance)
            if self._may_be_disorder(exercise, found):
                self.clean_for = ""
                got = self._answer(exercise, probe, told, _allowed(seconds))
                found = compare(got, want, self.stubs, *tolerance)
            self._note(exercise, found)
            if found is None or self.is_stub(found, exercise):
                break
        self._keep(exercise, Call(test, probe, whole, got, want, *tolerance, found))
        return found

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
        if ran_out and self._has_a_chance(exercise):
            got = self.session.call_again(probe, *args, seconds=seconds)
            self.chances[exercise] -= got.kind == "timed_out"
            self.vain += got.kind == "timed_out"
        if got.kind in ("timed_out", "crashed"):
            self.deaths[exercise].append(got)
        return got if self._may_be_told(got) else replace(got, message="")

    def _has_a_chance(self, exercise: str) -> bool:
        """May what ran out of time in this exercise be asked again?"""
        hopeful = self.chances[exercise] > 0 and self.vain < VAIN
        return hopeful and self.session.again < self.session.budget

    def _may_be_told(self, got: Reply) -> bool:
        """Is an error's text none that tells what the submission has found, or was passed?

        Without a line it is not shown, see `compare.py`.
        """
        if got.message in self.stubs or (got.line is None and not self.shown):
            return True
        texts, names = self.session.texts, self.session.names
        return not self.shown and review.tells_nothing(got.message, texts, names)

    def keep_apart(self, exercise: str, siblings: Collection[str] = ()) -> None:
        """Give an exercise a new worker if this one was shown a right definition of its target.

        Code that sees definitions may remember them. `siblings` are the targets to be shown now.
        """
        if self.targets.get(exercise) in self.shown or (exercise == self.whole and self.shown):
            self.session.close()
            self.shown.clear()
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
        want, seconds = self.oracle.ask(generated.OUTCOMES, asked)
        test.check_reference(want)
        if self._is_untouched(exercise):
            return Disagreement(suite.NOT_IMPLEMENTED, exercise)
        for siblings in self._in_turn(test.siblings):
            self.keep_apart(exercise, siblings)
            arguments = replace(test, siblings=siblings).arguments(test.programs)
            got = self._answer(exercise, generated.OUTCOMES, arguments, _allowed(seconds))
            found = compare(got, want, self.stubs, None, generated.ATOL)
            self._note(exercise, found)
            if found is None:
                break
        call = Call(name, generated.OUTCOMES, asked, got, want, None, generated.ATOL, found)
        self._keep(exercise, call)
        return found

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
        """How the answers to each of some programs differ.

        Nothing where the call itself fails, or the time for searches is up.
        """
        if self.searched > SEARCH_SECONDS:
            return []
        self.keep_apart(exercise, test.siblings)
        arguments = test.arguments(chosen, catch=True)
        want, seconds = self.oracle.ask(generated.OUTCOMES, arguments)
        begin = self.session.seconds
        got = self.session.call(
            generated.OUTCOMES, *arguments, seconds=_allowed(seconds), fresh=True
        )
        self.searched += self.session.seconds - begin
        pairs = zip(generated.replies(got), generated.replies(want), strict=False)
        return [
            compare(x, y, self.stubs, None, generated.ATOL) if y.kind == "value" else None
            for x, y in pairs
        ]

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
        """Keep what came of a test; anything but a Disagreement is the suite's own fault.

        pytest's own report would take time for a traceback that is never shown.
        """
        error = call.excinfo.value if call.excinfo else None
        if call.when == "call" and (error is None or isinstance(error, Disagreement)):
            self.outcomes[item.name] = error
            exercise = exercise_of(item)
            if error and self.enough and self.enough(exercise, self.calls[exercise]):
                item.session.shouldfail = "Enough is known."
        elif error is not None:
            self.broken.append(f"{item.name}: {type(error).__name__}: {error}")
        outcome, when = "passed" if error is None else "failed", call.when
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, when)  # type: ignore[arg-type]


def _allowed(seconds: float) -> float:
    """The time for a probe that takes the reference so many seconds."""
    return min(20 * seconds, MOST_SECONDS)
