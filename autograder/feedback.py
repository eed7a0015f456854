"""What a student reads about an exercise, wherever it is shown: feedback page, LMS or report."""

import textwrap
from typing import Any

REASONS = 8  # that are listed for an exercise


def message(verdict: dict[str, Any], remarks: list[str]) -> str:
    """What the student reads about an exercise: nothing in it comes from the hidden tests' code."""
    failed = [test for test in verdict["tests"] if not test["passed"]]
    total = len(verdict["tests"])
    reasons = [test.get("message") or verdict["message"] for test in failed]
    reasons = list(dict.fromkeys([*remarks, *filter(None, reasons)]))
    lines = [f"{total - len(failed)} of {total} tests passed."]
    lines += ["", *(f"- {reason}" for reason in reasons[:REASONS])] if reasons else []
    if len(reasons) > REASONS:
        lines.append(f"- and {len(reasons) - REASONS} more.")
    if verdict["misconception"]:
        mistake = verdict["misconception"]
        lines += ["", f"Known mistake: {mistake['name']}.", f"Hint: {mistake['hints'][0]}"]
    text = "\n".join(_wrapped(line) for line in lines)
    if verdict["counterexample"]:
        text += f"\nThe smallest program found that shows it:\n\n{verdict['counterexample']}"
    return text


def _wrapped(line: str) -> str:
    # Feedback pages show the text as it is, without breaking lines.
    return textwrap.fill(line, 88, subsequent_indent="  " if line.startswith("- ") else "")
