"""What a probe of an exercise asks, to be asked once more if it is answered rightly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from autograder.grading.calls import Call
from autograder.grading.suite import Disagreement
from autograder.grading.values import Tolerance
from autograder.sandbox.session import Probe, Reply

Given = Mapping[str, str]  # right definitions by target


@dataclass(frozen=True)
class Question:
    """One probe of an exercise, with what travels along, and what the reference says."""

    exercise: str
    probe: Probe
    arguments: Callable[[Given], tuple[Any, ...]]  # with these right siblings
    siblings: Given  # all that may be lent
    want: Reply
    seconds: float  # that the submission may take
    tolerance: Tolerance

    def call(self, test: str, given: Given, got: Reply, found: Disagreement | None) -> Call:
        """What is kept of this question in a test, asked with these right siblings."""
        about = self.probe, self.arguments(given), got, self.want, *self.tolerance, found
        return Call(test, *about)


class Right(NamedTuple):
    """A question of a test that was answered rightly, with these right siblings in place."""

    test: str
    question: Question
    given: Given
    seconds: float  # that the submission took
    late: bool = False  # only with all siblings lent, and in a package that was imported afresh
