"""What may be said to a student of an answer: nothing that a submission could choose freely.

A message is made from words that are listed here, and from facts that the grader knows by itself:
the lines of the student's file, and the sizes of what was asked for. Of a worker that was shown a
right definition of another exercise, nothing is said but the kind of the difference.
"""

import functools
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from autograder.grading import suite
from autograder.grading.package_code import PackageCode
from autograder.grading.suite import Disagreement
from autograder.sandbox.session import Reply

UNHANDLED = "What your code returns could not be graded. Show it to your instructor."

# ------------------------------------------------------------------------------------------
# Where right definitions were shown

CHANGED = "Your code changes an argument, which belongs to the caller."
_LEFT = (
    "After your code has returned, or raised an error of any class, even KeyboardInterrupt, "
    "the active interpreters are not those from before."
)
# What is said of a call, whatever a test is about, by what `run_repeated` has seen.
OF_CALLS = {
    **dict.fromkeys([f"operand {i}" for i in range(10)], CHANGED),
    "function: nothing": "Your code raises nothing if a function that it is given raises an error.",
    "function: another": "Your code raises a different error if a function that it is given "
    "raises one.",
    "rule: nothing": "Your code raises nothing if a rule that it applies raises an error.",
    "rule: another": "Your code raises a different error if a rule that it applies raises one.",
    "list": "Your code returns something else where it should return a list.",
    "tuple": "Your code returns something else where it should return a tuple.",
    "interpreter": _LEFT,
    "stack": _LEFT,
    "dynamic_trace": _LEFT,
    "frames": "After your code has returned or raised, the names of axes are not those from "
    "before.",
}
ENDLESS = "Your code does not terminate, or takes far longer than it should."
CRASHED = "The Python process died while your code was running."
OUT_OF_MEMORY = "Your code needs more memory than there is."
KINDS = {
    suite.NOT_IMPLEMENTED: "",  # is said in `told`
    suite.WRONG_VALUE: "Your code returns a wrong value.",
    suite.WRONG_SHAPE: "Your code returns an array of a different shape or dtype than expected.",
    suite.WRONG_TYPE: "Your code returns a different type than expected, or raises an error.",
    suite.ENDLESS: ENDLESS,
    suite.CRASHED: CRASHED,
    suite.OUT_OF_MEMORY: OUT_OF_MEMORY,
}


def by_kind(found: Disagreement, exercise: str) -> Disagreement:
    """The difference without anything that the submission chose, but its kind."""
    own = exercise if found.message == exercise else ""
    return Disagreement(found.kind, KINDS[found.kind] or own)


def told(found: Disagreement, exercise: str, about: str) -> Disagreement:
    """What differs in a test of an exercise, in the words for the student."""
    if found.kind == suite.NOT_IMPLEMENTED:
        other = found.message or "another exercise"
        message = f"This needs {other}, which is not implemented yet."
        if found.message == exercise:
            message = "This is not implemented yet."
        return Disagreement(found.kind, message)
    is_apart = not about or found.message in OF_CALLS.values()
    about = "" if is_apart else f"This does not hold yet: {about} "
    return Disagreement(found.kind, about + found.message, found.expected, found.program)


def again(found: Disagreement) -> Disagreement:
    """What differs when a question that was answered rightly is asked again."""
    return Disagreement(found.kind, f"{AGAIN} {found.message}", found.expected)


def repeated(found: Disagreement) -> Disagreement:
    """What differs when each call of the exercise's function is made again."""
    return Disagreement(found.kind, f"{REPEATED} {found.message}", found.expected)


AGAIN = (
    "It holds the first time, but not when the same is asked again after other questions: "
    "something is left over from one call to the next."
)
REPEATED = (
    "It holds for a first call, but not when the same call is made again, after one with other "
    "values and one with a function that raises."
)

# ------------------------------------------------------------------------------------------
# Errors

MOST_LINES = 2_000  # of a file: a line after these is not named
WIDEST = 100  # characters of a line whose words may be repeated
_CLASSES = (
    *("NoneType", "bool", "int", "float", "complex", "str", "list", "tuple", "dict", "set"),
    *("function", "method", "ndarray"),
)
_OPERATORS = (
    *("+", "-", "*", "/", "//", "%", "@", "**", "** or pow()", "&", "|", "^", "<<", ">>"),
    *("+=", "-=", "*=", "/=", "<", "<=", ">", ">="),
)
# What Python says of common slips. A WORD must be in the line that the error came through.
_SLOTS: dict[str, Sequence[str]] = {
    "CLASS": _CLASSES,
    "OPERATOR": _OPERATORS,
    "SEQUENCE": ["list", "tuple", "string", "list assignment"],
    "DIGIT": "0123456789",
    "DOES": [
        *("is not callable", "is not iterable", "is not subscriptable", "is not an iterator"),
        "does not support item assignment",
    ],
}
_OF_PYTHON = (
    "unsupported operand type(s) for {OPERATOR}: '{CLASS}' and '{CLASS}'",
    "'{OPERATOR}' not supported between instances of '{CLASS}' and '{CLASS}'",
    "bad operand type for unary -: '{CLASS}'",
    "'{CLASS}' object {DOES}",
    "cannot unpack non-iterable {CLASS} object",
    "argument of type '{CLASS}' is not iterable",
    "{SEQUENCE} index out of range",
    "division by zero",
    "float division by zero",
    "too many values to unpack (expected {DIGIT})",
    "not enough values to unpack (expected {DIGIT}, got {DIGIT})",
    "name '{WORD}' is not defined",
    "No module named '{WORD}'",
    "'{CLASS}' object has no attribute '{WORD}'",
    "output array is read-only",  # what NumPy says of operands, which are the caller's
    "assignment destination is read-only",
)


def file_lines(source: bytes) -> list[str]:
    """The lines of a file as Python counts them."""
    return re.split("\r\n|\r|\n", source.decode("utf-8", "replace"))


def reduced(
    got: Reply, lines: Sequence[str], stubs: Collection[str], around: PackageCode | None = None
) -> Reply:
    """The reply without a line that the file does not have, and a text that may not be repeated.

    The line is the last one that is not in given code, if there is one.
    """
    if got.kind != "raised" or got.message in stubs:
        return replace(got, line=None if got.message in stubs else _existing(got.line, lines))
    last, text = _existing(got.line, lines), got.message
    place = "\n".join(lines[last - 1 : last + 1]) if last else ""
    if not may_be_repeated(text, place):
        text = around.said(text, place) if around else ""
    line = around.own(got.lines) if around else None
    return replace(got, line=_existing(line, lines) or last, message=text)


def _existing(line: int | None, lines: Sequence[str]) -> int | None:
    return line if line and 1 <= line <= min(len(lines), MOST_LINES) else None


def may_be_repeated(message: str, place: str) -> bool:
    """Is an error's text Python's own of a common slip, or a string at that place in the file?"""
    place = "\n".join(line.strip()[:WIDEST] for line in place.split("\n"))
    plain = [a or b for a, b in re.findall(r'"([^"\\\n]*)"|\'([^\'\\\n]*)\'', place)]
    if message in plain or message in map(repr, plain):
        return True
    found = next(filter(None, (x.fullmatch(message) for x in _patterns())), None)
    if found is None:
        return False
    word = found.groupdict().get("WORD")
    return word is None or word in re.findall(r"\w+", place)


@functools.cache
def _patterns() -> list[re.Pattern[str]]:
    def part(text: str, is_slot: bool) -> str:
        if text == "WORD":
            return r"(?P<WORD>\w+)"
        return f"(?:{'|'.join(map(re.escape, _SLOTS[text]))})" if is_slot else re.escape(text)

    split = [re.split(r"\{(\w+)\}", text) for text in _OF_PYTHON]
    return [re.compile("".join(part(x, i % 2 == 1) for i, x in enumerate(x))) for x in split]
