"""How many bits a submission can choose in what its student is told, by kind of message."""

from collections import Counter

from autograder.grading import answers, telling
from autograder.lessons import manifest


def rows() -> list[tuple[str, float]]:
    """Each kind of message with its bits, in the last lesson, where there is most to choose."""
    lessons = manifest.load().values()
    stubs = sum(len(lesson.exercises) for lesson in lessons)
    known = Counter(m.exercise for lesson in lessons for m in answers.mistakes(lesson.id))
    return telling.bits(stubs, max(known.values(), default=0))


def text() -> str:
    """The table as the audit prints it."""
    lines = [f"{bits:5.1f}  {kind}" for kind, bits in rows()]
    return "\n".join(["Bits that a submission can choose in a message to its student:", *lines])
