"""What a lesson has beyond its exercises: an open task, a program to repair, and the milestone.

The first two are files in a workspace's folder `tasks`, and their checks the lesson's `tasks.py`;
they count for no points. The milestone runs when all exercises of the lesson are done.
"""

from collections.abc import Sequence
from pathlib import Path

from autograder.lessons import manifest, tasks
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.problem import Problem
from autograder.student import checks
from autograder.student.checks import Report
from autograder.student.workspace import Workspace

FOLDER = "tasks"
PATIENCE = 30  # seconds for a milestone


def of(lesson: Lesson) -> tuple[Exercise, ...]:
    """The lesson's tasks, as exercises without points."""
    if not tasks.exist(lesson):
        return ()
    return tuple(
        manifest.without_points(
            f"{lesson.id}.{kind}", task.title, task.name, lesson.id, todo=task.goal
        )
        for kind, task in zip(
            tasks.KINDS, (tasks.open_task(lesson), tasks.repair(lesson)), strict=True
        )
    )


def named(name: str) -> Exercise | None:
    """The task with this name, such as "jvp.open", if it is one."""
    lesson = manifest.load().get(name.partition(".")[0])
    return next((x for x in of(lesson) if x.id == name), None) if lesson else None


def file(place: Workspace, task: Exercise) -> Path:
    """The student's file of a task."""
    folder = place.root / FOLDER if place.own else manifest.get(task.lesson).folder
    return folder / task.target


def source(place: Workspace, task: Exercise) -> bytes:
    """What the student wrote."""
    try:
        return file(place, task).read_bytes()
    except FileNotFoundError:
        raise Problem(
            f"{FOLDER}/{task.target} is missing. `./jaxprentice update` puts it there."
        ) from None


def is_begun(place: Workspace, task: Exercise) -> bool:
    """Whether the student has changed a task's file."""
    given = manifest.get(task.lesson).folder / task.target
    return file(place, task).exists() and source(place, task) != given.read_bytes()


def check(place: Workspace, lesson: Lesson, wanted: Sequence[Exercise]) -> Report:
    """Run the checks of some tasks on the student's files and on the module of the lesson."""
    own = {task.target: source(place, task) for task in wanted}
    module = {lesson.module: place.source(lesson)}
    for path, text in {**module, **own}.items():
        if error := checks.syntax_error(path, text):
            return Report(lesson, tuple(wanted), broken=error)
    with checks.tree(lesson, {**module, **own}) as folder:
        checks.add_checks(folder, lesson, "tasks.py")
        words = [f"--exercise={task.id}" for task in wanted]
        events, end = checks.watch(folder, [*words, "tasks.py"])
    return checks.make_report(lesson, tuple(wanted), events, end, {})


def milestone(place: Workspace, lesson: Lesson) -> list[str]:
    """What the lesson's milestone prints on the modules that the student has completed."""
    if not tasks.exist(lesson):
        return []
    goal = tasks.milestone(lesson)
    before = [x for x in manifest.prefix(lesson)[:-1] if place.is_complete(x)]
    own = [x for x in before if place.has_module(x)]
    with checks.tree(lesson, {x.module: place.source(x) for x in [*own, lesson]}) as folder:
        printed = run(goal.code, folder)
    return [f"Milestone: {goal.title}.", *("    " + line for line in printed)]


def run(code: str, folder: Path) -> list[str]:
    """The lines that a program prints on the tree in a folder, or why it does not run."""
    printed, reason = checks.ended(["-P", "-c", code], folder, PATIENCE)
    return [f"It does not run yet: {reason}"] if reason else printed
