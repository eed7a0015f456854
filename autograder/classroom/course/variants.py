"""Variants of an assignment: neighbours have other generated tests, and another open task.

Which variant a student has follows from the seed in `course.toml` and the student's id alone, so
it is always the same, regardless of who else is in the class.
"""

import hashlib
from dataclasses import dataclass

from autograder.grading.result import Result
from autograder.lessons.manifest import Lesson


@dataclass(frozen=True)
class Variants:
    """How many variants an assignment has, and what they choose from."""

    seed: str  # which students do not know
    count: int
    open_tasks: tuple[Lesson, ...] = ()  # the lessons whose open tasks are given out

    def of(self, assignment: str, student: str) -> int:
        """The variant of a student, from 1 on."""
        return _drawn(self.seed, assignment, student) % self.count + 1

    def open_task(self, variant: int) -> Lesson:
        """The lesson whose open task belongs to a variant."""
        return self.open_tasks[(variant - 1) % len(self.open_tasks)]


def _drawn(*about: object) -> int:
    """A number from 0 to 2**31 that follows from these and looks random."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, about)).encode()).digest()[:4]) >> 1


def seed_of(seed: int, variant: int) -> int:
    """The seed of the generated tests in a variant; 0 stands for an assignment without variants."""
    return _drawn(seed, variant) if variant else seed


def noted(result: Result, variant: int) -> Result:
    """A result that says which variant it is of, if there are any."""
    if not variant:
        return result
    note = f"Graded as variant {variant}."
    return {**result, "variant": variant, "notes": [*result.get("notes", []), note]}
