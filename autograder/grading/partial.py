"""What an exercise keeps of its points where a promise is broken: a course chooses among rules."""

from collections.abc import Sequence

from autograder.grading.result import Test, Verdict

TESTS, THIRDS, NONE = RULES = ("tests", "thirds", "none")


def share(tests: Sequence[Test], sure: bool) -> float:
    """The share of the tests that are passed, of those that count.

    Those on random programs count only where it is `sure` that all others are passed, and then they
    are passed or failed together: what a seed happens to find must not change a grade.
    """
    steady = [test["passed"] for test in tests if not test.get("random")]
    by_chance = [test["passed"] for test in tests if test.get("random")]
    together = [all(by_chance)] * len(by_chance)
    counting = steady + together if sure or not steady else steady
    return sum(counting) / len(counting)


def worth(verdict: Verdict, rule: str, maximum: float) -> Verdict:
    """The verdict on an exercise of `maximum` points by one of the RULES.

    `by_tests` holds the points that the share of passed tests would give.
    """
    by_tests = _scaled(verdict.get("by_tests", verdict["points"]), verdict, maximum)
    most = {TESTS: 1.0, THIRDS: max(1 / 3, 1 - broken(verdict) / 3), NONE: 0.0}[rule]
    points = min(by_tests, round(most * maximum, 2)) if broken(verdict) else by_tests
    return {**verdict, "points": points, "by_tests": by_tests, "max_points": maximum}


def _scaled(points: float, verdict: Verdict, maximum: float) -> float:
    return min(max(round(maximum * points / verdict["max_points"], 2), 0.0), maximum)


def broken(verdict: Verdict) -> int:
    """How many promises do not hold: tests that fail, whose cases are one promise.

    So are all tests on random programs, and only where no other one fails.
    """
    failing = [test for test in verdict["tests"] if not test["passed"]]
    steady = {test["id"].partition("[")[0] for test in failing if not test.get("random")}
    return len(steady) or bool(failing)
