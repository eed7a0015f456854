"""Laws on random programs: what they are asked with, and what comes of it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.grading import generated, suite, telling
from autograder.grading.agreement import Agreement, Silenced
from autograder.grading.asking import allowed
from autograder.grading.calls import Call
from autograder.grading.questions import Given, Question
from autograder.grading.suite import Disagreement
from autograder.lessons.manifest import Lesson
from autograder.sandbox.session import Probe, Reply


@dataclass(frozen=True)
class Generating:
    """What generated tests go by: the assignment's seed, and where its programs are kept."""

    seed: int
    kept: Path | None
    shrink: bool  # look for the smallest program that fails, and ask again what took too long


class Laws:
    """Asks whether a law gives on random programs what it gives on the reference."""

    def __init__(self, lesson: Lesson, generating: Generating, agreement: Agreement) -> None:
        self.lesson = lesson
        self.generating = generating
        self.agreement = agreement

    def test(self, name: str, exercise: str, law: Probe, recipe: dict[str, Any]) -> generated.Test:
        """A law with the programs of this assignment, and the siblings that may travel with it."""
        about = name, law, self.generating.seed, recipe
        chosen = generated.stored(self.generating.kept, self.lesson, *about)
        module = self.lesson.module.removesuffix(".py").replace("/", ".")
        return generated.Test(law, chosen, self.agreement.lending.for_law(exercise), module)

    def wanted(self, test: generated.Test) -> tuple[Reply, float]:
        """What the reference answers to a law, and how long that takes it."""
        oracle = self.agreement.oracle
        want, seconds = oracle.ask(generated.OUTCOMES, test.arguments(test.programs))
        test.check_reference(want)
        return want, seconds

    def on_programs(self, name: str, exercise: str, test: generated.Test) -> Disagreement | None:
        """How the answers to a law differ from the reference's, with right siblings in place."""
        agreement, near = self.agreement, (None, generated.ATOL)
        want, seconds = self.wanted(test)
        if agreement.is_untouched(exercise):
            return Disagreement(suite.NOT_IMPLEMENTED, exercise)

        def fill(given: Given) -> tuple[Any, ...]:
            return replace(test, siblings=given).arguments(test.programs)

        lent = self._worth_lending(exercise, test)
        question = Question(exercise, generated.OUTCOMES, fill, lent, want, allowed(seconds), near)
        got, found, given = agreement.compared(question)
        call = question.call(name, given, got, found)  # a known mistake is asked with the same
        agreement.calls.keep(exercise, call)
        if found is None or agreement.is_stub(found, exercise):
            return found
        agreement.silenced[name] = Silenced(exercise, call, law=test)
        return telling.by_kind(found, exercise) if agreement.lending.shown else found

    def _worth_lending(self, exercise: str, test: generated.Test) -> Given:
        """The right siblings that may decide what a law is worth.

        It counts only where all other tests of its exercise pass (see `partial.py`). Where one has
        failed, siblings that have passed their own tests are not lent as well: what a worker was
        shown costs a new one for the next exercise.
        """
        steady = (call for call in self.agreement.calls.by_exercise[exercise] if _is_steady(call))
        if any(call.found is not None for call in steady):
            return self.agreement.lending.in_turn(test.siblings)[0]
        return test.siblings


def _is_steady(call: Call) -> bool:
    return call.probe != generated.OUTCOMES
