"""Compares a submission with the reference: each probe goes to both, and right siblings with it."""

import functools
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from autograder.grading import generated, suite, telling, words
from autograder.grading.again import Again
from autograder.grading.asking import Asking, allowed
from autograder.grading.calls import Call, Calls
from autograder.grading.compare import compare
from autograder.grading.lending import Lending
from autograder.grading.oracle import Oracle, check_reference
from autograder.grading.questions import Given, Question, Right, Tolerance
from autograder.grading.suite import Disagreement
from autograder.sandbox.session import Probe, Reply


@dataclass(frozen=True)
class Silenced:
    """A failed test of which more might be said: its last call with nothing lent, or its law."""

    exercise: str
    call: Call
    lent: frozenset[str] = frozenset()  # targets of which the call had right definitions
    law: generated.Test | None = None


class Agreement:
    """Says of each probe how the submission differs from the reference, and keeps what was said."""

    def __init__(
        self, oracle: Oracle, asking: Asking, lending: Lending, calls: Calls, stubs: Collection[str]
    ) -> None:
        self.oracle = oracle
        self.asking = asking
        self.lending = lending
        self.calls = calls
        self.stubs = stubs  # ids of all exercises so far
        self.clean_for = ""  # the exercise for which the package was imported afresh
        self.stubbed: set[str] = set()  # exercises whose own stub has answered
        self.again = Again(oracle, asking, lending, calls, stubs)
        self.silenced: dict[str, Silenced] = {}  # by test

    def on_probe(
        self,
        test: str,
        exercise: str,
        probe: Probe,
        args: tuple[Any, ...],
        tolerance: Tolerance,
        raises: bool,
    ) -> Disagreement | None:
        """Ask both sides, remember what they said, and compare."""
        siblings = self.lending.asked_for(exercise, args)
        fill = functools.partial(self.lending.filled, args)
        want, seconds = self.wanted(probe, fill(siblings), raises)
        question = Question(exercise, probe, fill, siblings, want, allowed(seconds), tolerance)
        begin, first = self.asking.session.seconds, self.lending.in_turn(siblings)[0]
        got, found, given = self.compared(question)
        if found is None:
            taken = self.asking.session.seconds - begin
            self.again.right.append(Right(test, question, given, taken, given != first))
        call = question.call(test, siblings, got, found)
        self.calls.keep(exercise, call)
        if found is None or not self.lending.shown:
            return found
        bare = replace(call, args=fill({}))
        self.silenced[test] = Silenced(exercise, bare, frozenset(siblings))
        return telling.by_kind(found, exercise)

    def wanted(self, probe: Probe, args: tuple[Any, ...], raises: bool) -> tuple[Reply, float]:
        """What the reference answers, and how long that takes it."""
        want, seconds = self.oracle.ask(probe, args)
        check_reference(probe, want, raises)
        return want, seconds

    def compared(self, question: Question) -> tuple[Reply, Disagreement | None, Given]:
        """The submission's reply, how it differs, and the right siblings, as few as it takes."""
        exercise = question.exercise
        for given in self.lending.in_turn(question.siblings):
            self.lending.keep_apart(exercise, given)
            got, found = self._asked(question, given)
            if self._may_be_disorder(exercise, found):
                self.clean_for = ""
                got, found = self._asked(question, given)
            self._note(exercise, found)
            if found is None or self.is_stub(found, exercise):
                break
        return got, found, given

    def asked_again(self, exercise: str) -> Iterator[tuple[str, Disagreement]]:
        """The tests that do not agree any more when they are asked again, and how they differ."""
        self.clean_for = ""
        return self.again.ask(exercise)

    def _asked(self, question: Question, given: Given) -> tuple[Reply, Disagreement | None]:
        exercise, arguments = question.exercise, question.arguments(given)
        fresh = self.clean_for != exercise
        got = self.asking.answer(exercise, question.probe, arguments, question.seconds, fresh)
        near, hints = question.tolerance, self.hints(exercise)
        return got, compare(got, question.want, self.stubs, *near, hints=hints)

    def hints(self, exercise: str) -> frozenset[str]:
        """The hints that fit the exercise's function as it is written."""
        return self._lacking.get(self.lending.targets.get(exercise, ""), frozenset())

    @functools.cached_property
    def _lacking(self) -> dict[str, frozenset[str]]:
        return words.lacking("\n".join(self.asking.around.lines))

    def _may_be_disorder(self, exercise: str, found: Disagreement | None) -> bool:
        """May a stub that answered in this worker be what made the difference?"""
        another = found is not None and not self.is_stub(found, exercise)
        return another and self.clean_for == exercise and exercise in self.stubbed

    def _note(self, exercise: str, found: Disagreement | None) -> None:
        """What goes wrong may leave the package in disorder: other tests must not suffer for it.

        An untouched exercise goes wrong in every test, and is spared an import for each of them.
        """
        if found is not None and self.is_stub(found, exercise):
            self.stubbed.add(found.message)
            self.clean_for = exercise
        else:
            self.clean_for = exercise if found is None else ""

    def is_stub(self, found: Disagreement, exercise: str) -> bool:
        """Is it the exercise itself that is not implemented, and not one that it needs?

        The whole module is not implemented while any exercise is not.
        """
        own = exercise in (found.message, self.lending.whole)
        return found.kind == suite.NOT_IMPLEMENTED and own

    def is_untouched(self, exercise: str) -> bool:
        """Has its own stub answered, and was nothing right so far?"""
        return exercise in self.stubbed and not self.calls.is_any_right(exercise)
