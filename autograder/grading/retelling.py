"""Asks again about what went wrong, in a worker that was shown no right definition.

What such a worker says may be told in full: it cannot be the answer to another exercise. So the
smallest programs are looked for here, too.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.grading import generated, suite, telling
from autograder.grading.agreement import Silenced
from autograder.grading.asking import allowed
from autograder.grading.calls import Call
from autograder.grading.compare import compare
from autograder.grading.generated import OUTCOMES, TELLING, Sample
from autograder.grading.suite import Disagreement
from autograder.grading.suite_run import SuiteRun
from autograder.sandbox.session import Probe, Reply

SEARCH_SECONDS = 15.0  # for the smallest programs of all tests of a submission together


@dataclass(frozen=True)
class _More:
    """What is said of a test by a worker that knows nothing, and of which program."""

    found: Disagreement
    program: Sample | None = None


def say_more(run: SuiteRun, properties: Mapping[str, str]) -> None:
    """Replace some outcomes of a run by fuller messages.

    Nothing of this counts: not for the time that the submission has, nor for known mistakes.
    """
    session = run.agreement.asking.session
    seconds = session.seconds
    try:
        retelling = Retelling(run)
        silenced = run.agreement.silenced
        asked = {test: retelling.asked_again(about) for test, about in silenced.items()}
        for test, more in asked.items():
            if more is not None and retelling.holds(silenced[test], more):
                exercise = silenced[test].exercise
                run.outcomes[test] = telling.told(more.found, exercise, properties[test])
    finally:
        session.seconds = seconds


class Retelling:
    """The questions that are asked again of one submission, and the time that they have taken."""

    def __init__(self, run: SuiteRun) -> None:
        self.agreement = run.agreement
        self.lending = run.lending
        self.session = run.agreement.asking.session
        self.searched = 0.0  # seconds

    def asked_again(self, silenced: Silenced) -> _More | None:
        """What a worker that knows nothing says; None where that is no difference."""
        call, law = silenced.call, silenced.law
        if call.found is None or call.found.kind == suite.ENDLESS:
            return None
        if law is not None:
            return self._smallest(law)
        if call.found.kind not in TELLING or self._is_over():
            return None
        if any(map(self.lending.has_failed, silenced.lent)):  # it could be the doing of one
            return None
        self.lending.know_nothing()
        found = self._compared(call, silenced.exercise)
        return _More(found) if found is not None and found.kind == call.found.kind else None

    def _smallest(self, law: generated.Test) -> _More | None:
        """The smallest program; it is shown if a student who runs it sees the difference."""
        pair = generated.smallest(law, functools.partial(self.differences, law))
        if pair is None:
            return None
        program, found = pair
        if law.shown and any(self.differences(law.printing, [program])):
            found = Disagreement(found.kind, found.message, found.expected, law.listing(program))
        return _More(found, program)

    def holds(self, silenced: Silenced, more: _More) -> bool:
        """Is it this exercise's doing? With right definitions of the others it differs, too.

        No more is taken from a worker that knows them than this one bit.
        """
        law = silenced.law
        if more.program is None or law is None or not law.siblings:
            return True
        self.lending.keep_apart(silenced.exercise, law.siblings)
        (found,) = self.differences(law, [more.program], lent=True) or [None]
        return found is not None and found.kind in TELLING

    def _is_over(self) -> bool:
        return self.searched > SEARCH_SECONDS

    def _compared(self, call: Call, exercise: str) -> Disagreement | None:
        """How the submission's answer to a call differs now."""
        seconds = self.agreement.oracle.ask(call.probe, call.args)[1]
        got = self.agreement.asking.reduced(self._asked(call.probe, call.args, seconds))
        near, hints = (call.rtol, call.atol), self.agreement.hints(exercise)
        return compare(got, call.want, self.agreement.stubs, *near, hints=hints)

    def differences(
        self, test: generated.Test, chosen: Sequence[Sample], lent: bool = False
    ) -> list[Disagreement | None]:
        """How the answers to each of some programs differ.

        Nothing where the call itself fails, or the time for searches is up.
        """
        if self._is_over():
            return []
        if not lent:
            self.lending.know_nothing()
        bare = replace(test, siblings=test.siblings if lent else {})
        want, seconds = self.agreement.oracle.ask(OUTCOMES, test.arguments(chosen, catch=True))
        got = self._asked(OUTCOMES, bare.arguments(chosen, catch=True), seconds)
        pairs = zip(generated.replies(got), generated.replies(want), strict=False)
        return [
            compare(x, y, self.agreement.stubs, None, generated.ATOL) if y.kind == "value" else None
            for x, y in pairs
        ]

    def _asked(self, probe: Probe, args: tuple[Any, ...], seconds: float) -> Reply:
        """The reply in a package that is imported anew; what that takes is counted."""
        begin = self.session.seconds
        got = self.session.call(probe, *args, seconds=allowed(seconds), fresh=True)
        self.searched += self.session.seconds - begin
        return got
