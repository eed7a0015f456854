"""Right definitions of an exercise's siblings: what is lent, to whom, and in which worker."""

from collections.abc import Collection, Mapping
from typing import Any

from autograder.grading import answers, suite
from autograder.grading.calls import Calls
from autograder.grading.suite import SuiteError
from autograder.lessons.manifest import Lesson
from autograder.sandbox.session import Session


class Lending:
    """Lends right siblings, so that one exercise does not suffer for another.

    Code that sees definitions may remember them: a worker that was shown the answer to an exercise
    is never asked for it.
    """

    def __init__(self, lesson: Lesson, session: Session, calls: Calls) -> None:
        self.session = session
        self.calls = calls
        self.lesson = lesson
        self.module = lesson.module.removesuffix(".py").replace("/", ".")
        self.targets = {exercise.id: exercise.target for exercise in lesson.exercises}
        self.whole = lesson.whole.id if lesson.whole else None
        self.siblings = answers.siblings(lesson.id)
        self.shown: set[str] = set()  # targets of which the worker has seen right definitions

    def asked_for(self, exercise: str, args: tuple[Any, ...]) -> dict[str, str]:
        """Right definitions for each `Siblings` among the arguments, by target."""
        names = [name for arg in args if isinstance(arg, suite.Siblings) for name in arg.exercises]
        if names and (exercise in names or exercise == self.whole):
            raise SuiteError(f"A probe of {exercise} brings the answer to it along.")
        targets = [self.targets[name] for name in names]
        return {x: self.siblings[x] for x in targets if x in self.siblings}

    def for_law(self, exercise: str) -> dict[str, str]:
        """All right definitions but the exercise's own; none for the whole module."""
        own = self.targets.get(exercise)
        return {x: text for x, text in self.siblings.items() if x != own} if own else {}

    def filled(self, args: tuple[Any, ...], given: Mapping[str, str]) -> tuple[Any, ...]:
        """The arguments, with the given definitions of what each `Siblings` asks for."""

        def filled(arg: Any) -> Any:
            if not isinstance(arg, suite.Siblings):
                return arg
            targets = [self.targets[name] for name in arg.exercises]
            return {x: given[x] for x in targets if x in given}

        return tuple(map(filled, args))

    def in_turn(self, siblings: Mapping[str, str]) -> list[Mapping[str, str]]:
        """The right siblings to try an exercise with, one set after the other until it agrees.

        The submission's own will do where they have passed their tests so far: then the worker
        sees fewer definitions, and can mostly go on.
        """
        doubtful = {x: text for x, text in siblings.items() if not self._has_passed(x)}
        return [doubtful, siblings] if doubtful != siblings else [siblings]

    def know_nothing(self) -> None:
        """Have a worker that was shown no right definition."""
        if self.shown:
            self.session.close()
            self.shown.clear()

    def keep_apart(self, exercise: str, siblings: Collection[str] = ()) -> None:
        """Give an exercise a new worker if this one was shown a right definition of its target.

        `siblings` are the targets to be shown now.
        """
        if self.targets.get(exercise) in self.shown or exercise == self.whole:
            self.know_nothing()
        self.shown.update(siblings)

    def has_failed(self, target: str) -> bool:
        """Has the exercise of this target given a wrong answer?"""
        return any(map(self.calls.is_any_wrong, self._exercises(target)))

    def _has_passed(self, target: str) -> bool:
        """Has the exercise of this target answered rightly so far?"""
        right = any(map(self.calls.is_any_right, self._exercises(target)))
        return right and not self.has_failed(target)

    def _exercises(self, target: str) -> list[str]:
        return [exercise for exercise, own in self.targets.items() if own == target]
