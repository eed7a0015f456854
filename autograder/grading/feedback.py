"""What a student reads about an exercise, wherever it is shown: feedback page, LMS or report."""

import textwrap

from autograder.grading.result import Verdict

REASONS = 8  # that are listed for an exercise
BY_HAND = "by hand"  # takes the place of a test where a person gives the points


def message(verdict: Verdict, remarks: list[str], hints: int = 1) -> str:
    """What the student reads about an exercise: nothing in it comes from the hidden tests' code.

    Of a known mistake there are so many of its `hints`.

    Lines are broken for places that show the text as it is, such as nbgrader's pages.
    """
    text = "\n".join(_wrapped(line) for line in lines(verdict, remarks, hints))
    if verdict["counterexample"]:
        text += f"\nThe smallest program found that shows it:\n\n{verdict['counterexample']}"
    return text


def lines(verdict: Verdict, remarks: list[str], hints: int = 1) -> list[str]:
    """The message without the program, line by line."""
    if verdict["tests"][0]["id"] == BY_HAND:
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


def _wrapped(line: str) -> str:
    return textwrap.fill(line, 88, subsequent_indent="  " if line.startswith("- ") else "")
