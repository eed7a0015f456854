"""Asks a hidden suite on the reference alone, before any submission is run.

What goes wrong then is the suite's own fault. Whatever goes wrong later belongs to the submission.
"""

import functools
from pathlib import Path
from typing import Any

from autograder.grading import generated, under_pytest
from autograder.grading.compare import compare
from autograder.grading.oracle import reference
from autograder.grading.suite import Disagreement
from autograder.grading.suite_run import Generating, SuiteRun, Tolerance
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

    def call(
        self,
        test: str,
        exercise: str,
        probe: Probe,
        args: tuple[Any, ...],
        tolerance: Tolerance,
        raises: bool,
    ) -> Disagreement | None:
        """Ask the reference alone."""
        whole = self._filled(args, self._siblings(exercise, args))
        want, _ = self.wanted(probe, whole, raises)
        return compare(want, want, (), *tolerance)

    def law(self, name: str, exercise: str, test: generated.Test) -> Disagreement | None:
        """Ask the reference alone."""
        want, _ = self.wanted_of_law(test)
        return compare(want, want, (), None, generated.ATOL)

    def fault(self, test: str, error: BaseException) -> None:
        """Note what is wrong with the suite."""
        self.broken.append(f"{test}: {type(error).__name__}: {error}")
