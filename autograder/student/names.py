"""What names on the command line mean: lessons, exercises, extras, and files of a workspace."""

from pathlib import PureWindowsPath

from autograder.lessons import manifest, nothing
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.problem import Problem
from autograder.student import extras


def all_taught() -> list[Lesson]:
    """The lessons that have exercises, in order."""
    return [lesson for lesson in manifest.load().values() if lesson.exercises]


def taught(name: str) -> Lesson:
    """The lesson of this name, which must have exercises."""
    refuse_pages(name)
    first, point, _ = name.partition(".")
    if point and first in manifest.load():
        raise Problem(f"{name} is an exercise. Give its lesson, {first}.")
    lesson = manifest.get(name)
    if not lesson.exercises:
        raise Problem(f"The lesson {name} has no exercises. See `./jaxprentice list`.")
    return lesson


def refuse_pages(name: str) -> None:
    """Complain if a name means what is written from nothing, where a lesson is asked for."""
    known = nothing.all_tasks()
    if known and PureWindowsPath(name).name.removesuffix(".py") in {nothing.FOLDER, *known}:
        raise Problem(
            f"{name} is written from an empty page: no lesson, no hints, no skeleton. "
            f"`./jaxprentice check {name}` says what comes next."
        )


def with_page(name: str) -> Lesson:
    """The lesson of this name, which must have something to read, and exercises or scripts."""
    lesson = manifest.get(name)
    return lesson if lesson.has_page else taught(name)


def all_exercises() -> dict[str, Exercise]:
    """The exercises of all lessons, by their ids."""
    return {exercise.id: exercise for lesson in all_taught() for exercise in lesson.exercises}


def exercise_called(name: str, lesson: Lesson | None = None) -> Exercise | None:
    """The exercise with this id, or else the only one with this function or end of its id.

    Of several, the one in the present lesson is meant, or the one of the lesson before the point.
    """
    every = all_exercises()
    called = [x for x in every.values() if name in called_by(x)]
    here = [x for x in called if lesson and x.lesson == lesson.id]
    chosen = here if len(here) == 1 else called
    return every.get(name, chosen[0] if len(chosen) == 1 else None)


def called_by(exercise: Exercise) -> tuple[str, ...]:
    """What an exercise is called besides its id: its function, or the end of its id."""
    target = exercise.target
    return target, exercise.id.rpartition(".")[2], f"{exercise.lesson}.{target}"


def resolve(name: str, current: Lesson | None = None) -> tuple[Lesson, Exercise | None]:
    """The lesson, and the exercise if it is one, that a name means while `current` is at hand."""
    if name in manifest.load():
        return taught(name), None
    if exercise := extras.named(name) or exercise_called(name, current):
        return manifest.get(exercise.lesson), exercise
    refuse_pages(name)
    known = [*all_exercises(), *(lesson.id for lesson in all_taught())]
    raise manifest.unknown_name("lesson or exercise", name, known)


def plain(name: str) -> str:
    """The id for a lesson's number, its folder or a file of it, wherever that is, or of a task.

    Any other name is returned as it is.
    """
    parts = PureWindowsPath(name).parts or ("",)  # which takes both kinds of slashes
    for lesson in manifest.load().values():
        files = {file.rpartition("/")[2] for file in (lesson.module, *lesson.scripts) if file}
        if lesson.has_page and (
            name == str(lesson.number) or lesson.folder.name in parts or parts[-1] in files
        ):
            return lesson.id
        for task in extras.of(lesson) if parts[-1].endswith(".py") else ():
            if parts[-1] == task.target:
                return task.id
    return name
