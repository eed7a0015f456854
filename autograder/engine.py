"""The grading engine: one submission of one lesson in, one result document out.

A hidden suite is ordinary pytest and runs here, in the trusted process. The student's code runs only in isolated workers
(`session.py`); what comes back is data, which is compared with what the reference answers to the same probe. Verdicts never
cross the border, only values do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from autograder.lessons import Lesson


class SuiteError(Exception):
    """A hidden suite is at fault, not the submission: no grade may be given until it is repaired."""


@dataclass(frozen=True)
class Policy:
    """What feedback may say. The default shows the property that failed and the kind of difference, never expected values."""

    show_expected: bool = False


def grade(
    lesson: Lesson, student: str, source: bytes | None, *, isolation: str | None = None, seed: int = 0, policy: Policy = Policy()
) -> dict[str, Any]:
    """Grade one submission and return its result document (see `schema/result.json`).

    `source` holds the bytes of the lesson's module file, or None where the submission has none. `isolation` names a rung of
    the ladder; None takes the best that this machine has. Raises Problem when that rung is not available, SuiteError when
    the hidden suite itself is broken. Whatever the submission does is a result, never an exception.
    """
    raise NotImplementedError


def grade_many(
    jobs: Iterable[tuple[str, bytes | None]], lesson: Lesson, *, workers: int = 1, isolation: str | None = None, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Grade (student, source) pairs in a pool of `workers` processes; results come as they finish, not in order."""
    raise NotImplementedError
