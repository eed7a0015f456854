"""Asks a hidden suite on the reference alone, before any submission is run.

What goes wrong then is the suite's own fault. Whatever goes wrong later belongs to the submission.
"""

import functools
from pathlib import Path
from typing import Any

from autograder.grading import generated, under_pytest
from autograder.grading.compare import compare
from autograder.grading.laws import Generating
from autograder.grading.oracle import reference
from autograder.grading.questions import Tolerance
from autograder.grading.suite import Disagreement
from autograder.grading.suite_run import SuiteRun
from autograder.lessons.manifest import Lesson
from autograder.sandbox.session import Probe


@functools.cache
def rehearse(
    lesson: Lesson, path: Path, level: str, generating: Generating, only: str | None
) -> None:
    """Raise SuiteError unless the suite in a file goes well on the reference; asked once.

    The reference remembers its answers, which the first submission needs anyway.
    """
    oracle = reference(lesson, level)
    under_pytest.run(path, Rehearsal(lesson, oracle.session, oracle, generating, only))


class Rehearsal(SuiteRun):
    """A run without a submission: the reference is compared with itself."""

    def on_probe(
        self,
        test: str,
        exercise: str,
        probe: Probe,
        args: tuple[Any, ...],
        tolerance: Tolerance,
        raises: bool,
    ) -> Disagreement | None:
        """Ask the reference alone."""
        whole = self.lending.filled(args, self.lending.asked_for(exercise, args))
        want, _ = self.agreement.wanted(probe, whole, raises)
        return compare(want, want, (), *tolerance)

    def on_law(
        self, test: str, exercise: str, law: Probe, recipe: dict[str, Any]
    ) -> Disagreement | None:
        """Ask the reference alone."""
        want, _ = self.laws.wanted(self.laws.test(test, exercise, law, recipe))
        return compare(want, want, (), None, generated.ATOL)

    def fault(self, test: str, error: BaseException) -> None:
        """Note what is wrong with the suite."""
        self.broken.append(f"{test}: {type(error).__name__}: {error}")
