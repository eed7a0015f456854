"""What may be said to a student of an answer: nothing that a submission could choose freely.

A message is made from words that are listed here, and from facts that the grader knows by itself:
the lines of the student's file, and the sizes of what was asked for. `bits` counts how much a
submission could write in each kind of message. Of a worker that was shown a right definition of
another exercise, nothing is said but the kind of the difference.
"""

import builtins
import functools
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from autograder.grading import package_code, random_programs, records, suite, values
from autograder.grading.package_code import PackageCode
from autograder.grading.suite import Disagreement
from autograder.sandbox.session import Reply
from autograder.worker import wire

UNHANDLED = "What your code returns could not be graded. Show it to your instructor."

# ------------------------------------------------------------------------------------------
# Where right definitions were shown

CHANGED = "Your code changes an argument, which belongs to the caller."
SWALLOWED = "Your code raises nothing if a function that it is given raises an error."
REPLACED = "Your code raises a different error if a function that it is given raises one."
SWALLOWED_OF_RULE = "Your code raises nothing if a rule that it applies raises an error."
REPLACED_OF_RULE = "Your code raises a different error if a rule that it applies raises one."
NO_LIST = "Your code returns something else where it should return a list."
NO_TUPLE = "Your code returns something else where it should return a tuple."
LEFT = (
    "After your code has returned, or raised an error of any class, even KeyboardInterrupt, "
    "the active interpreters are not those from before."
)
LEFT_NAMES = "After your code has returned or raised, the names of axes are not those from before."
OF_CALLS = (
    CHANGED,
    SWALLOWED,
    REPLACED,
    SWALLOWED_OF_RULE,
    REPLACED_OF_RULE,
    NO_LIST,
    NO_TUPLE,
    LEFT,
    LEFT_NAMES,
)  # whatever a test is about
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
    is_apart = not about or found.message in OF_CALLS
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

MOST_PARTS = 25  # of a probe's record, and operations in one of them
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


# ------------------------------------------------------------------------------------------
# How much a submission can choose

_WORDS = WIDEST  # in two lines, a word and a space each


def bits(stubs: int, mistakes: int) -> list[tuple[str, float]]:
    """By kind of message: the bits that a submission can choose in one.

    `stubs` is the number of exercises so far, `mistakes` that of an exercise's known mistakes.
    """
    sizes = values.SMALL + values.MOST_AXES  # small ones, and those of the shape that is expected
    shapes = sum(sizes**axes for axes in range(values.MOST_AXES + 1)) + 2
    types = sum(isinstance(x, type) for x in vars(builtins).values()) + len(values.NOUNS)
    operations, times = len(records.FAMILIAR) + MOST_PARTS, records.SMALL + 1
    count = {
        "kind of the difference, after right definitions were shown": len(KINDS) + 1,
        "shape": shapes,
        "dtype": len(wire.DTYPES),
        "length of a list, tuple or dict": values.SMALL + 2,
        "kind of value": types,
        "part of what was seen": MOST_PARTS,
        "operation that is bound too often or too seldom": (operations + 1) * (times + 1),
        "number of calls, or another number": times + 1,
        "error as a part of an answer": errors(),
        "exercise that is not implemented": stubs,
        "error without a line": errors() * (3 + _sentences(MOST_LINES * _WORDS)),
        "error with its line and text": errors() * MOST_LINES * (1 + _texts() + _sentences(_WORDS)),
        "place in a list or dict": (len(records.ORDINALS) + 2 + MOST_PARTS) ** 2 * 2,
        "line in which a text differs": MOST_LINES,
        "how numbers differ, or a small one": 5 + 4 * values.SMALL,
        "known mistake": mistakes + 1,
        "whether a right answer is right again, and if not, which sentence says so": 3
        + len(OF_CALLS),
        "smallest program": (random_programs.CANDIDATES + 1) ** random_programs.ROUNDS,
    }
    return [(kind, math.log2(number)) for kind, number in count.items()]


def _sentences(places: int) -> int:
    """How many sentences there are, with what may fill their gaps."""
    fills = len(package_code.FILLS) + places + 1
    return package_code.MOST * fills**package_code.FILLED


def errors() -> int:
    """How many names of errors may be shown."""
    known = [x for x in vars(builtins).values() if isinstance(x, type)]
    return 1 + sum(issubclass(x, BaseException) for x in known)


def _texts() -> int:
    """How many texts of errors there are beside one line, at most."""
    sizes = {name: len(values) for name, values in _SLOTS.items()} | {"WORD": _WORDS}
    slots = [re.findall(r"\{(\w+)\}", text) for text in _OF_PYTHON]
    return _WORDS + sum(math.prod(sizes[name] for name in names) for names in slots)
