"""What is graded: a task, whose key is a hash of everything that its verdict depends on.

Whose it is, what it is worth and when it came are not a part of it: the same file has the same
verdict. So going on after a break, a file that is handed in twice, and what has to be graded again
after a change are all one question: is there a verdict with this key?
"""

import functools
import hashlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field

from autograder.grading.fingerprint import fingerprint
from autograder.grading.result import Result
from autograder.lessons.manifest import Lesson
from autograder.sandbox import isolation

Base = Mapping[str, bytes]  # modules of a student's own, by path


@dataclass(frozen=True)
class Edition:
    """What submissions of a lesson are asked: one edition for all, or one for each variant."""

    lesson: Lesson  # with its own points: what a course gives for them is put on afterwards
    level: str  # the rung of isolation
    seed: int = 0  # of the generated tests
    expected: bool = False  # do messages say what hidden tests expect?

    @functools.cached_property
    def mark(self) -> str:
        """A hash of all that a verdict depends on besides the submission."""
        return _hash(fingerprint(self.lesson, self.level, self.seed), self.expected)


@dataclass(frozen=True)
class Task:
    """One module to be graded."""

    edition: Edition
    source: bytes | None  # None: none was handed in
    base: Base = field(default_factory=dict, hash=False)  # own earlier modules, if these count

    @classmethod
    def of(
        cls, lesson: Lesson, source: bytes | None, level: str | None = None, seed: int = 0
    ) -> "Task":
        """A task at a rung of the ladder; None takes the best that this machine has."""
        return cls(Edition(lesson, isolation.choose(level), seed), source)

    @functools.cached_property
    def key(self) -> str:
        """A hash of all that the verdict depends on."""
        return _hash(*self.parts.values())

    @functools.cached_property
    def parts(self) -> dict[str, str]:
        """What the key is made of, each a hash: two tasks differ by these."""
        return {
            "tests": self.edition.mark,
            "module": _hash(self.source),
            "base": _hash(sorted(self.base.items())),
        }


Verdicts = Generator[tuple[Task, Result], None, None]  # as they finish


def _hash(*about: object) -> str:
    return hashlib.sha256(repr(about).encode()).hexdigest()
