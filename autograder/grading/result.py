"""What a result document holds, as types; `result.json` is its published schema.

The tests compare the two. A document is a plain dict, because it is read from and written to JSON.
"""

from typing import TypedDict

# `class` is a keyword, so it cannot be a field of a class statement.
_Class = TypedDict("_Class", {"class": str | None})


class _TestAlways(_Class):
    id: str
    passed: bool
    message: str | None


class Test(_TestAlways, total=False):
    """What came of one hidden test; class and message are None where it passed."""

    property: str


class Misconception(TypedDict):
    """A known mistake that the answers to an exercise show."""

    name: str
    hints: list[str]


class _VerdictAlways(_Class):
    id: str
    points: float
    max_points: float
    tests: list[Test]
    message: str | None
    misconception: Misconception | None
    counterexample: str | None


class Verdict(_VerdictAlways, total=False):
    """The result of one exercise."""

    by_tests: float
    line: int


class _Always(TypedDict):
    lesson: str
    student: str
    score: float
    max_score: float
    isolation: str
    exercises: list[Verdict]
    remarks: list[str]
    submission_sha256: str | None
    versions: dict[str, str]
    seed: int
    seconds: float


class Result(_Always, total=False):
    """The result of one submission of one lesson."""

    layers: list[str]
    review: list[str]
    notes: list[str]
    days_late: int
    variant: int
    fingerprint: str


UNGRADED = "This could not be graded: the grader itself died. Show it to your instructor."


def is_graded(result: Result) -> bool:
    """Does the result say something about the submission? Otherwise grade it again."""
    return UNGRADED not in result["remarks"]


Class = dict[str, list[Result]]  # the results of a class by assignment
