"""What a result document holds, as types; `result.json` is its published schema.

The tests compare the two. A document is a plain dict, because it is read from and written to JSON.
"""

from typing import NotRequired, TypedDict

# `class` is a keyword, so it cannot be a field of a class statement.
_Class = TypedDict("_Class", {"class": str | None})


class Test(_Class):
    """What came of one hidden test; class and message are None where it passed."""

    id: str
    passed: bool
    message: str | None
    property: NotRequired[str]
    random: NotRequired[bool]


class Misconception(TypedDict):
    """A known mistake that the answers to an exercise show."""

    name: str
    hints: list[str]


class Verdict(_Class):
    """The result of one exercise."""

    id: str
    points: float
    max_points: float
    tests: list[Test]
    message: str | None
    misconception: Misconception | None
    counterexample: str | None
    by_tests: NotRequired[float]
    line: NotRequired[int]


class Result(TypedDict):
    """The result of one submission of one lesson."""

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
    layers: NotRequired[list[str]]
    review: NotRequired[list[str]]
    notes: NotRequired[list[str]]
    days_late: NotRequired[int]
    variant: NotRequired[int]
    fingerprint: NotRequired[str]


UNGRADED = "This could not be graded: the grader itself died. Show it to your instructor."


def is_graded(result: Result) -> bool:
    """Does the result say something about the submission? Otherwise grade it again."""
    return UNGRADED not in result["remarks"]


Class = dict[str, list[Result]]  # the results of a class by assignment
