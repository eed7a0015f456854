"""From two replies to a verdict: does the submission answer as the reference does?"""

from collections.abc import Collection
from typing import Any

from autograder.grading import records, suite, telling, values, words
from autograder.grading.suite import Disagreement
from autograder.sandbox.session import Reply

_UNSENDABLE = "Your code gives a value that is far too large."
_NO_IMPORT = "Your module could not be imported."


def compare(
    got: Reply,
    want: Reply,
    stubs: Collection[str] = (),
    rtol: float | None = None,
    atol: float | None = None,
    hints: Collection[str] = (),
) -> Disagreement | None:
    """Compare a submission's reply with the reference's: None where they agree.

    `stubs` holds the exercises' ids: a skeleton raises NotImplementedError with its own. `hints`
    are those of `words` that may be given.
    """
    if got.kind == "value":
        return _compare_value(got, want, rtol, atol, hints)
    if got.kind != "raised":
        return _no_answer(got)
    if got.name == "NotImplementedError" and got.message in stubs:
        return Disagreement(suite.NOT_IMPLEMENTED, got.message)
    if want.kind == "raised" and want.name == got.name:
        return None
    return _wrong_error(got, want, hints)


def _compare_value(
    got: Reply, want: Reply, rtol: float | None, atol: float | None, hints: Collection[str]
) -> Disagreement | None:
    if want.kind == "raised":
        message = (
            f"Your code raises nothing, and returns {values.described(got.value)}, "
            f"where {'an error' if '.' in want.name else want.name} is expected."
        )
        return Disagreement(suite.WRONG_TYPE, message, f"Expected: {want.name}.")
    found = values.agree(got.value, want.value, (rtol, atol))
    if found is None:
        return None
    expected = found.expected.removesuffix(".")
    sentence = _sentence(found, got.value, hints)
    return Disagreement(found.kind, sentence, f"{expected[:1].upper()}{expected[1:]}.")


def _sentence(found: Disagreement, got: Any, hints: Collection[str]) -> str:
    """What differs, as a sentence; a part of a record says it in one of its own."""
    if found.message.endswith("."):
        return found.message
    place = records.aside(found)
    if found.message.startswith("raises "):
        return f"Your code {found.message}{place}."
    none = f" {words.NO_RETURN}" if got is None and words.NO_RETURN in hints else ""
    return f"Your code returns {found.message}{place}{none}."


def _no_answer(got: Reply) -> Disagreement:
    kind, message = {
        "timed_out": (suite.ENDLESS, telling.ENDLESS),
        "crashed": (suite.CRASHED, telling.CRASHED),
        "changed": (suite.WRONG_VALUE, telling.CHANGED),
        "unsendable": (suite.WRONG_TYPE, _UNSENDABLE),
    }.get(got.kind, (suite.CRASHED, _NO_IMPORT))
    return Disagreement(kind, message)


def _wrong_error(got: Reply, want: Reply, hints: Collection[str]) -> Disagreement:
    if got.name == "MemoryError":
        return Disagreement(suite.OUT_OF_MEMORY, telling.OUT_OF_MEMORY)
    kind = suite.ENDLESS if got.name == "RecursionError" else suite.WRONG_TYPE
    if want.kind == "raised":
        message = f"{_raised(got, hints)} Another error is expected."
        return Disagreement(kind, message, f"Expected: {want.name}.")
    return Disagreement(kind, _raised(got, hints), "Expected: no error.")


def _raised(got: Reply, hints: Collection[str]) -> str:
    """The error, with its line and its text if it came through the student's file.

    Only built-in names are shown: a submission can choose the others. `telling.reduced` has taken
    away what may not be repeated.
    """
    name = "an error of the package's own" if "." in got.name else got.name
    if got.line is None:
        hint = words.missing(got.message)
        more = f" {hint}" if hint in hints else ""
        text = words.raises(name, _harmless(got.message)).removesuffix(".")
        if got.message.startswith("zip() argument"):
            text = "finds two lists of different lengths, such as values and their types"
        return f"With what your code returns, the code around it {text}{more}."
    text = words.raises(name, _harmless(got.message))
    return f"Line {got.line} of your file {text.removesuffix('.')}."


def _harmless(text: str) -> str:
    """The words of a message that are plain text, in one line, and not many of them."""
    plain = "".join(c if c.isascii() and c.isprintable() and c not in "<>&" else " " for c in text)
    return " ".join(plain.split())[:200]
