"""Where a student is: the file that was saved last, the lesson after it, and what was given."""

from pathlib import Path

from autograder.lessons import manifest, nothing, skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.problem import Problem
from autograder.student import extras, workspace
from autograder.student.names import all_taught
from autograder.student.workspace import Workspace

GIVEN = "given"  # exercises that `give` has put where they were not done
TOLD = "told"  # lessons of which the student has read that they are complete


def saved(place: Workspace) -> Lesson | Exercise | nothing.Task | None:
    """What has the file that was saved last, of those that the student has changed.

    In a handout only its own lesson counts.
    """
    if not place.own:
        return None
    own = place.identity.get("lesson")
    lessons = [x for x in all_taught() if own in (None, x.id)]
    tasks = [task for lesson in lessons for task in extras.of(lesson)]
    files: dict[Path, Lesson | Exercise | nothing.Task] = {
        place.file(x): x for x in lessons if is_begun(place, x)
    }
    files |= {extras.file(place, x): x for x in tasks if extras.is_begun(place, x)}
    pages = (x for x in nothing.all_tasks().values() if is_written(place, x))
    files |= {place.root / x.file: x for x in pages}
    newest = max(files, key=lambda file: file.stat().st_mtime_ns, default=None)
    return files[newest] if newest else None


def is_begun(place: Workspace, lesson: Lesson) -> bool:
    """Whether the student's module is there and is not as it was given."""
    file = place.file(lesson)
    return file.exists() and place.source(lesson) != place.skeleton(lesson).encode()


def is_written(place: Workspace, task: nothing.Task) -> bool:
    """Whether something is on a page that was empty."""
    file = place.root / task.file
    return file.is_file() and file.read_bytes() != task.begin.encode()


def lesson(place: Workspace) -> Lesson:
    """The lesson that the student works on: of the last file, or, if that is complete, the next."""
    last = saved(place)
    if isinstance(last, Exercise):
        last = manifest.get(last.lesson)
    elif isinstance(last, nothing.Task):
        last = manifest.get(last.lessons[0] if last.replaces else last.after)
    return last if last and not place.is_complete(last) else following(place, last)


def following(place: Workspace, last: Lesson | None) -> Lesson:
    """The next lesson that is not known to be complete: after this one, or else from the first on.

    When all are complete, it is the last of all. A handout has only its own.
    """
    own = [x for x in all_taught() if x.id == place.identity.get("lesson")]
    left = [x for x in all_taught() if not place.is_complete(x)]
    later = [x for x in left if last and x.number > last.number]
    return (own or [*later, *left, all_taught()[-1]])[0]


def is_told(place: Workspace, lesson: Lesson) -> bool:
    """Whether the student has read that the lesson is complete."""
    return place.is_complete(lesson) and bool(place.record.get(TOLD, {}).get(lesson.id))


def given(place: Workspace, lesson: Lesson) -> list[str]:
    """The exercises that were taken by `give` and that are still as they were given."""
    noted = place.record.get(GIVEN, {}).get(lesson.id, [])
    if not noted or place.page(lesson) or not place.file(lesson).exists():
        return []
    source = place.source(lesson).decode("utf-8", "replace")
    solution = workspace.solution(lesson)
    return [x.id for x in lesson.exercises if x.id in noted and is_same(source, solution, x)]


def is_same(source: str, solution: str, exercise: Exercise) -> bool:
    """Whether an exercise is in both as the same code."""
    try:
        first, second = (skeleton.bare(text, exercise.target) for text in (source, solution))
    except Problem:
        return False
    return first.split() == second.split()
