"""What a grader knows of the code that a submission is given: its sentences, and its lines.

An error of the package's own code says what went wrong in words that are not the submission's. They
are repeated with gaps where they vary; known words, such as a class or a digit, fill some of these.
"""

import ast
import builtins
import functools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from autograder.grading import words
from autograder.lessons import assemble, skeleton
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.worker import wire

MOST = 4_000  # sentences of a package, and of Python's
GAP = "..."
FILLED = 2  # gaps of a sentence that are filled
FILLS = frozenset(
    {*"0123456789", *wire.DTYPES, "NoneType", "function", "numpy.ndarray"}
    | {x for x in ("None", "True", "False", *dir(builtins)) if not x.startswith("_")}
)
LEAST = 3  # words of a sentence that is recognized
# What Python and NumPy say of common slips.
_OF_PYTHON = (
    *("{} takes {} positional argument but {} were given", "{} got an unexpected keyword {}"),
    *("{} takes {} positional arguments but {} was given", "'{}' object has no attribute '{}'"),
    *("{} takes {} positional arguments but {} were given", "'{}' object is not callable"),
    *("{} missing {} required positional argument: {}", "'{}' object is not iterable"),
    *("{} missing {} required positional arguments: {}", "'{}' object is not subscriptable"),
    *("zip() argument {} is shorter than argument {}", "zip() argument {} is longer than {}"),
    *("operands could not be broadcast together with shapes {}", "unhashable type: '{}'"),
    *("cannot reshape array of size {} into shape {}", "axes don't match array"),
    *("unsupported operand type(s) for {}: '{}' and '{}'", "too many values to unpack {}"),
    *("not enough values to unpack {}", "dictionary changed size during iteration"),
)

Sentence = tuple[str, ...]  # what stands between its gaps


class PackageCode:
    """The given code around a submission of a lesson."""

    def __init__(self, lesson: Lesson, lines: Sequence[str]) -> None:
        self.lesson = lesson
        self.lines = lines  # of the submission

    def said(self, message: str, place: str = "") -> str:
        """The sentence of the package's or Python's that an error's text is; "" for another.

        Its gaps are filled with words of the place that it came through, which is the whole file
        for an error of its caller.
        """
        message = words.tidy(message)
        fills = FILLS.union(re.findall(r"\w+", place or "\n".join(self.lines)))
        for sentence in _sentences(self.lesson):
            if (came := _between(sentence, message)) is not None:
                return _filled(sentence, came, fills)
        return ""

    def own(self, lines: Sequence[int]) -> int | None:
        """The last of these lines that is not in code that was given."""
        return next((n for n in reversed(lines) if n not in self._given), None)

    @functools.cached_property
    def _given(self) -> frozenset[int]:
        """The lines of functions that are in the handout, but for those of exercises."""
        try:
            defined = skeleton.defined_once("\n".join(self.lines))
        except (Problem, ValueError, RecursionError, MemoryError):
            return frozenset()
        targets = [exercise.target for exercise in self.lesson.exercises]
        known = skeleton.defined_once(assemble.read_solution(self.lesson.module))
        given = {
            name
            for name in defined.keys() & known.keys()
            if not any(name == x or name.startswith(f"{x}.") for x in targets)
        }
        nodes = [defined[x] for x in given if not isinstance(defined[x], ast.ClassDef)]
        return frozenset(n for x in nodes for n in range(x.lineno, (x.end_lineno or 0) + 1))


def _between(sentence: Sentence, message: str) -> list[str] | None:
    """What fills a sentence's gaps in this message; None if the message is a different sentence.

    The parts are looked for from left to right: a hostile text could keep a pattern busy for hours.
    """
    if not sentence[-1].endswith("."):
        message = message.removesuffix(".")  # which is put behind a sentence in another place
    if len(sentence) == 1:
        return [] if message == sentence[0] else None
    first, *parts, last = sentence
    came, at, end = [], len(first), len(message) - len(last)
    if not (message.startswith(first) and message.endswith(last) and at <= end):
        return None
    for part in parts:
        found = message.find(part, at, end)
        if found < 0:
            return None
        came.append(message[at:found])
        at = found + len(part)
    return [*came, message[at:end]]


def _filled(sentence: Sentence, came: Iterable[str], fills: Collection[str]) -> str:
    """The sentence with what came in its gaps, if that is known, and not in too many."""
    told = [x if x in fills else GAP for x in came]
    known = [i for i, x in enumerate(told) if x != GAP][FILLED:]
    told = [GAP if i in known else x for i, x in enumerate(told)]
    text = "".join(part for pair in zip(sentence, [*told, ""], strict=True) for part in pair)
    return text.replace("....", GAP)


@functools.cache
def _sentences(lesson: Lesson) -> list[Sentence]:
    """All sentences of a lesson's tree, those that say most before others."""
    texts = [text for path, text in assemble.tree(lesson).items() if path.endswith(".py")]
    found = {sentence for text in texts for sentence in _in(text)}
    found |= {tuple(text.split("{}")) for text in _OF_PYTHON}
    return sorted(found, key=lambda parts: (-sum(map(len, parts)), parts))[:MOST]


def _in(source: str) -> Iterator[Sentence]:
    """The sentences in a file: its texts of one line, of some words."""
    for node in ast.walk(ast.parse(source)):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        texts = [x.value if isinstance(x, ast.Constant) else "{}" for x in parts]
        if not isinstance(node, ast.JoinedStr | ast.Constant):
            continue
        sentence = "".join(x for x in texts if isinstance(x, str))
        if "\n" not in sentence and len(re.findall(r"\w{2,}", sentence)) >= LEAST:
            yield tuple(sentence.split("{}"))
