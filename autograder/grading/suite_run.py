"""One run of a hidden suite on one submission: what tests get as `student`, and pytest's plugin."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from autograder.grading import suite, telling, under_pytest
from autograder.grading.agreement import Agreement
from autograder.grading.asking import Asking
from autograder.grading.calls import Call, Calls
from autograder.grading.laws import Generating, Laws
from autograder.grading.lending import Lending
from autograder.grading.oracle import Oracle
from autograder.grading.package_code import PackageCode
from autograder.grading.questions import Tolerance
from autograder.grading.suite import Disagreement
from autograder.grading.under_pytest import exercise_of, property_of
from autograder.lessons.manifest import Lesson, prefix
from autograder.lessons.problem import Problem
from autograder.sandbox.session import Probe, Session

Enough = Callable[[str, Sequence[Call]], bool]  # of an exercise, and the calls made so far


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
        found = self._run.on_probe(self._test, self._exercise, probe, args, near, raises)
        if found is not None:
            raise telling.told(found, self._exercise, self._about)

    def agrees_on_programs(self, law: Probe, **recipe: Any) -> None:
        """Raise Disagreement unless a law gives what it gives on the reference, on random programs.

        See `generated.py`. Right answers to the other exercises are put in place. `recipe` is for
        `random_programs.make`. Such tests come last in a suite: siblings that have passed their
        tests until then do not have to be put in place.
        """
        found = self._run.on_law(self._test, self._exercise, law, recipe)
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
        self.only = only  # the exercise whose tests run; None for all
        self.enough = enough  # asked after a test that fails: are the others left out?
        self.calls = Calls()
        self.lending = Lending(lesson, session, self.calls)
        stubs = {e.id for other in prefix(lesson) for e in other.exercises}
        asking = Asking(session, stubs, generating.shrink, PackageCode(lesson, lines))
        self.agreement = Agreement(oracle, asking, self.lending, self.calls, stubs)
        self.laws = Laws(lesson, generating, self.agreement)
        self.outcomes: dict[str, Disagreement | None] = {}  # by test
        self.about: dict[str, str] = {}  # what each test asks
        self.random = under_pytest.on_random_programs(under_pytest.suite_of(lesson))
        self.broken: list[str] = []  # what is wrong with the suite: see `rehearsal.py`
        self.unhandled: list[str] = []  # what went wrong here with the submission's answers
        self.stopped: Exception | None = None  # what the machine could not do

    def on_probe(
        self,
        test: str,
        exercise: str,
        probe: Probe,
        args: tuple[Any, ...],
        tolerance: Tolerance,
        raises: bool,
    ) -> Disagreement | None:
        """How the submission differs from the reference in a probe."""
        return self.agreement.on_probe(test, exercise, probe, args, tolerance, raises)

    def on_law(
        self, test: str, exercise: str, law: Probe, recipe: dict[str, Any]
    ) -> Disagreement | None:
        """How the submission differs from the reference in a law, on random programs."""
        programs = self.laws.test(test, exercise, law, recipe)
        return self.laws.on_programs(test, exercise, programs)

    @pytest.fixture
    def student(self, request: pytest.FixtureRequest) -> Student:
        """The submission under test."""
        return self.student_of(request.node)

    def student_of(self, item: pytest.Function) -> Student:
        """What a test gets as `student`."""
        about = self.about[item.name] = property_of(item)
        return Student(self, item.name, exercise_of(item), about)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the tests of other exercises than `only`, and have the whole module first.

        Then the worker has not been shown any right definition, and does not have to be a new one.
        """
        items[:] = [item for item in items if self.only in (None, exercise_of(item))]
        items.sort(key=lambda item: exercise_of(item) != self.lending.whole)

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
            if error:
                self._stop_if_enough(item)
        elif isinstance(error, Problem | OSError):
            self.stopped = error
            item.session.shouldstop = "This is not the submission's doing."
        elif error is not None:
            self.fault(item.name, error)
        outcome, when = "passed" if error is None else "failed", call.when
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, when)  # type: ignore[arg-type]

    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """At the end of an exercise's tests, ask again what was right."""
        exercise = exercise_of(item)
        if nextitem is not None and exercise_of(nextitem) == exercise:
            return
        for test, found in self.agreement.asked_again(exercise):
            if self.outcomes[test] is None:
                self.outcomes[test] = telling.told(found, exercise, self.about[test])
                self._stop_if_enough(item)
        self._have_failed_ones_last(item)

    def _have_failed_ones_last(self, item: pytest.Item) -> None:
        """Once only laws are left, have those of exercises that have failed after all others.

        Right definitions of these are lent to the others, and a worker that was shown one is not
        asked for it: so one new worker will do for a mistake, and may be told in full.
        """
        items = item.session.items
        left = slice(items.index(item) + 1, None)
        if all(other.name in self.random for other in items[left]):
            items[left] = sorted(items[left], key=lambda x: self.calls.is_any_wrong(exercise_of(x)))

    def _stop_if_enough(self, item: pytest.Item) -> None:
        exercise = exercise_of(item)
        if self.enough and self.enough(exercise, self.calls.by_exercise[exercise]):
            item.session.shouldfail = "Enough is known."

    def fault(self, test: str, error: BaseException) -> None:
        """Take an error that is no verdict: on the reference alone the suite has had none."""
        self.unhandled.append(f"{type(error).__name__} in {test}")
        self.outcomes[test] = Disagreement(suite.CRASHED, telling.UNHANDLED)
