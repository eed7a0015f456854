"""A sample class: for each lesson submissions of every kind, made from reference and manifests.

The students are invented. The demo grades this class and knows what each must get.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from autograder.grading import answers
from autograder.grading.answers import Mistake
from autograder.lessons import assemble, skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.places import SOLUTIONS, SUITES

MISTAKES = 3  # known mistakes in a class


@dataclass(frozen=True)
class Submission:
    """One student's module, and what is known of it."""

    student: str
    kind: str  # right, half, untouched, mistake, endless or cheat
    source: str
    mistake: Mistake | None = None
    exercises: tuple[str, ...] = ()  # those that must lose points; what others get is left open


def make(lesson: Lesson) -> list[Submission]:
    """The sample class of a lesson: eight or more submissions, sorted by student."""
    reference = assemble.read_solution(lesson.module)
    untouched = skeleton.make_skeleton(reference, lesson)
    second = lesson.exercises[1::2]
    last = lesson.exercises[-1]
    everyone = [
        Submission("ada-okafor", "right", reference),
        Submission("bela-novak", "half", _stub(reference, lesson, second), None, _ids(second)),
        Submission("chidi-larsen", "untouched", untouched, None, _ids(lesson.exercises)),
        Submission("hana-costa", "endless", _endless(reference, lesson, last), None, (last.id,)),
        Submission("ivo-tanaka", "cheat", cheat(untouched, lesson), None, _ids(lesson.exercises)),
    ]
    for student, mistake in zip(_NAMES, _different(lesson), strict=False):
        source = answers.variant_source(mistake)
        everyone.append(Submission(student, "mistake", source, mistake, (mistake.exercise,)))
    return sorted(everyone, key=lambda submission: submission.student)


_NAMES = ("dilek-moreau", "emeka-silva", "farah-lindqvist")


def _ids(exercises: Iterable[Exercise]) -> tuple[str, ...]:
    return tuple(exercise.id for exercise in exercises)


def _different(lesson: Lesson) -> list[Mistake]:
    """Known mistakes of this lesson, in as many different exercises as there are."""
    mistakes = answers.mistakes(lesson.id)
    first = {m.exercise: m for m in reversed(mistakes)}
    spread = [m for m in mistakes if first[m.exercise] is m]
    return [*spread, *(m for m in mistakes if m not in spread)][:MISTAKES]


def _stub(source: str, lesson: Lesson, exercises: Sequence[Exercise]) -> str:
    """The module with these exercises not done."""
    return skeleton.make_skeleton(source, replace(lesson, exercises=tuple(exercises)))


def _endless(source: str, lesson: Lesson, exercise: Exercise) -> str:
    """The module with one exercise that never terminates."""
    return _stub(source, lesson, [exercise]).replace(_error(exercise), "while True: pass")


def cheat(untouched: str, lesson: Lesson) -> str:
    """Nothing is solved, everything is tried: read the solution, blunt the comparison, lie."""
    for exercise in lesson.exercises:
        untouched = untouched.replace(_error(exercise), "return _AlwaysRight()")
    secrets = [SOLUTIONS / lesson.module, SUITES / f"{lesson.id}.py"]
    return untouched + _TRICKS.format(secrets=[str(path) for path in secrets])


def _error(exercise: Exercise) -> str:
    return f'raise NotImplementedError("{exercise.id}")'


_TRICKS = '''

class _AlwaysRight(float):
    """Claims to be equal to everything, to have every attribute, and to be callable."""

    __hash__ = float.__hash__

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self


def _try_everything():
    import atexit
    import os
    import sys

    import numpy

    found = []
    for path in {secrets}:
        try:
            with open(path) as file:
                found.append(file.read())
        except OSError:
            pass
    if found:
        exec(found[0], globals())  # the reference instead of the stubs
    for name in ("allclose", "array_equal", "isclose"):
        setattr(numpy, name, lambda *args, **kwargs: True)
    for name in dir(numpy.testing):
        if name.startswith("assert"):
            setattr(numpy.testing, name, lambda *args, **kwargs: None)
    for module in list(sys.modules.values()):
        if hasattr(module, "Disagreement"):
            module.Disagreement = _AlwaysRight
    print("all tests passed")
    atexit.register(os._exit, 0)


_try_everything()
'''
