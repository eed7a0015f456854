"""What a student reads about an exercise, wherever it is shown: feedback page, LMS or report."""

import re
import textwrap

from autograder.grading import suite
from autograder.grading.result import Result, Verdict

REASONS = 8  # that are listed for an exercise
BY_HAND = "by hand"  # takes the place of a test where a person gives the points
NOT_READ = "It is not read yet."  # an answer for which a person has not given points
LIMITS = {
    suite.ENDLESS: "it does not terminate, or calls itself too deeply",
    suite.CRASHED: "the process ended",
    suite.OUT_OF_MEMORY: "it takes too much memory",
}


def message(verdict: Verdict, remarks: list[str], hints: int = 1) -> str:
    """What the student reads about an exercise: nothing in it comes from the hidden tests' code.

    Of a known mistake there are so many of its `hints`.

    Lines are broken for places that show the text as it is, such as nbgrader's pages.
    """
    text = "\n".join(_wrapped(line) for line in lines(verdict, remarks, hints))
    if verdict["counterexample"]:
        text += f"\nThe smallest program found that fails:\n\n{verdict['counterexample']}"
    return text


def lines(verdict: Verdict, remarks: list[str], hints: int = 1) -> list[str]:
    """The message without the program, line by line."""
    if is_by_hand(verdict):
        return [verdict["message"] or "A person gave these points."]
    failed = [test for test in verdict["tests"] if not test["passed"]]
    total = len(verdict["tests"])
    reasons = [test.get("message") or verdict["message"] for test in failed]
    reasons = list(dict.fromkeys([*remarks, *filter(None, reasons)]))
    found = [f"{total - len(failed)} of {total} tests passed."]
    found += ["", *(f"- {reason}" for reason in reasons[:REASONS])] if reasons else []
    if len(reasons) > REASONS:
        found.append(f"- and {len(reasons) - REASONS} more.")
    if verdict["misconception"]:
        mistake = verdict["misconception"]
        found += ["", f"Known mistake: {mistake['name']}."]
        found += [f"Hint: {hint}" for hint in mistake["hints"][:hints]]
    return found


def is_by_hand(verdict: Verdict) -> bool:
    """Does a person give the points, and no test?"""
    return verdict["tests"][0]["id"] == BY_HAND


def is_unread(verdict: Verdict) -> bool:
    """Does an answer wait for a person, so that its points are none yet?"""
    return is_by_hand(verdict) and verdict["message"] == NOT_READ


def faults(result: Result) -> list[str]:
    """The remarks on the whole module for which points are lost; others only tell something."""
    reasons = {exercise["message"] for exercise in result["exercises"]}
    return [remark for remark in result["remarks"] if remark in reasons]


def why_less(result: Result) -> str:
    """The first sentence of why tests took points off; "" if they took none."""
    lost = [x for x in result["exercises"] if x["points"] < x["max_points"]]
    lost = [x for x in lost if not is_by_hand(x)]
    if not lost:
        return ""
    if reasons := faults(result):
        return _first_sentence(reasons[0])
    if all(x["class"] == "not_implemented" for x in lost) and not result["score"]:
        return "Nothing is written yet."
    return _worst(lost)


def _worst(lost: list[Verdict]) -> str:
    """What is to be said of the exercise at which to look first, and how many more there are."""
    limit = [x for x in lost if x["class"] in LIMITS]
    wrong = [x for x in lost if x["class"] != "not_implemented"]
    exercises = [x for x in wrong if not x["id"].endswith(".whole")]
    worst = (limit or exercises or wrong or lost)[0]
    why = LIMITS.get(worst["class"] or "") or _first_sentence(worst["message"] or "")
    more = f" And {len(lost) - 1} more." if len(lost) > 1 else ""
    return f"{worst['id'].partition('.')[2]}: {why.rstrip('.')}.{more}"


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]


def _wrapped(line: str) -> str:
    return textwrap.fill(line, 88, subsequent_indent="  " if line.startswith("- ") else "")
