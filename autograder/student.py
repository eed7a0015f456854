"""What the students' commands do: check, watch, list, progress, and changing a module."""

import difflib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from autograder import checks, lessons
from autograder.checks import DONE, TO_DO, Report
from autograder.edition import Problem
from autograder.lessons import Exercise, Lesson
from autograder.workspace import Workspace

# ------------------------------------------------------------------------------------------
# Names on the command line


def all_taught() -> list[Lesson]:
    """The lessons that have exercises, in order."""
    return [lesson for lesson in lessons.load().values() if lesson.exercises]


def taught(name: str) -> Lesson:
    """The lesson of this name, which must have exercises."""
    if "." in name:
        raise Problem(f"{name} is an exercise. Give its lesson, {name.partition('.')[0]}.")
    lesson = lessons.get(name)
    if not lesson.exercises:
        raise Problem(f"The lesson {name} has no exercises. See `./jaxprentice list`.")
    return lesson


def resolve(name: str) -> tuple[Lesson, Exercise | None]:
    """The lesson, and the exercise if it is one, that a name means."""
    exercises = {exercise.id: exercise for lesson in all_taught() for exercise in lesson.exercises}
    if name in exercises:
        return lessons.get(exercises[name].lesson), exercises[name]
    if name in lessons.load():
        return taught(name), None
    known = [*exercises, *(lesson.id for lesson in all_taught())]
    close = [known_id for known_id in exercises if known_id.endswith(f".{name}")]
    close = close or difflib.get_close_matches(name, known)
    meant = f"Did you mean {' or '.join(close)}?" if close else "See `./jaxprentice list`."
    raise Problem(f"There is no lesson or exercise {name!r}. {meant}")


# ------------------------------------------------------------------------------------------
# Checking


def check(place: Workspace, name: str | None, *, mine: bool) -> int:
    """Check what was asked for, say what was found, and return the exit status."""
    wanted = resolve(name) if name else None
    if not place.own:
        print(
            f"This is not a workspace, so {place.root} is checked. Make your own with `init DIR`."
        )
    report = run(place, *wanted) if wanted else first_incomplete(place)
    tell(report, place)
    if mine and not report.broken:
        return check_mine(place, report)
    return 0 if report.complete else 1


def run(place: Workspace, lesson: Lesson, exercise: Exercise | None = None) -> Report:
    """Check the student's module over the reference of the earlier lessons, and remember it."""
    report = checks.run(lesson, {lesson.module: place.source(lesson)}, exercise)
    if not exercise:
        found = {"of": place.fingerprint(lesson), "done": report.done}
        place.remember("checked", lesson.id, found)
    return report


def first_incomplete(place: Workspace) -> Report:
    """The first lesson that is not complete, checked; the last one when all are."""
    for lesson in all_taught():
        done, current = place.checked(lesson)
        if current and len(done) == len(lesson.exercises) and lesson is not all_taught()[-1]:
            continue
        report = run(place, lesson)
        if not report.complete:
            return report
    return report


def check_mine(place: Workspace, base: Report) -> int:
    """Check again with all of the student's modules, and name the earlier lesson that breaks it."""
    lesson, exercise = base.lesson, base.exercises[0] if len(base.exercises) == 1 else None
    earlier = [x for x in lessons.prefix(lesson)[:-1] if x.exercises and place.file(x).exists()]
    own = {x.module: place.source(x) for x in [*earlier, lesson]}
    report = checks.run(lesson, own, exercise)
    lost = lost_against(report, base)
    print()
    if not lost:
        print("With your own earlier modules it is the same.")
        return 0 if base.complete else 1
    for suspect in earlier:
        pair = {x.module: own[x.module] for x in (suspect, lesson)}
        if lost_against(checks.run(lesson, pair, exercise), base):
            print(f"Your own {suspect.module} breaks {', '.join(lost)}.")
            print(f"Next: ./jaxprentice check {suspect.id}, or ./jaxprentice give {suspect.id}")
            return 1
    print(f"Your own earlier modules together break {', '.join(lost)}.")
    return 1


def lost_against(report: Report, base: Report) -> list[str]:
    """The exercises that are done in `base` and not in `report`."""
    return [name for name in base.done if name not in report.done]


def watch(place: Workspace) -> None:
    """Check a lesson each time its module is saved."""
    import watchfiles

    modules = {place.file(lesson): lesson for lesson in all_taught()}
    check_and_wait(place, None)
    for changes in watchfiles.watch(place.root, raise_interrupt=True):
        saved = [modules[Path(path)] for _, path in changes if Path(path) in modules]
        for lesson in saved[:1]:
            print("\n" + "-" * 72)
            check_and_wait(place, lesson)


def check_and_wait(place: Workspace, lesson: Lesson | None) -> None:
    """Check, and say that more will come; a file may be missing while it is being saved."""
    try:
        check(place, lesson.id if lesson else None, mine=False)
    except Problem as problem:
        print(problem)
    print("\nWaiting for you to save a file. Ctrl-C ends this.", flush=True)


# ------------------------------------------------------------------------------------------
# Saying what was found


def tell(report: Report, place: Workspace) -> None:
    """A line for each exercise, then what is wrong with the first that is wrong, then what next."""
    lesson = report.lesson
    if report.broken:
        tell_broken(report)
        return
    if len(report.exercises) > 1:
        print(lesson.title)
    width = max(len(exercise.id) for exercise in report.exercises)
    statuses = [report.status(exercise) for exercise in report.exercises]
    column = max(map(len, statuses))
    for exercise, status in zip(report.exercises, statuses, strict=True):
        print(
            f"  {styled(f'{status:<{column}}', status)}  {exercise.id:<{width}}  {exercise.title}"
        )
    wrong = next((x for x in report.exercises if report.failure(x)), None)
    if wrong and (failure := report.failure(wrong)):
        print(f"\n{wrong.id} is not right yet.")
        print_lines("  ", checks.explain(report, failure))
    print()
    print_lines("", next_step(report, place, wrong))


def tell_broken(report: Report) -> None:
    """Why nothing could be checked."""
    assert report.broken
    error, lesson = report.broken, report.lesson
    print(f"{lesson.id} cannot be checked: {lesson.module} does not work as a whole.")
    what = error.message if error.type == "Died" else f"{error.type}: {error.message}"
    print_lines(
        "  ", [what, *(text for frame in error.frames[-1:] for text in checks.place(frame))]
    )
    print(f"\nNext: mend this, then ./jaxprentice check {lesson.id}")


def next_step(report: Report, place: Workspace, wrong: Exercise | None) -> list[str]:
    """What to do now."""
    lesson = report.lesson
    if report.complete:
        return done_step(report)
    if wrong:
        again = f"./jaxprentice check {wrong.id}"
        return [f"Next: change {shown(place.file(lesson))}, then {again}", stuck(wrong)]
    exercise = next(x for x in report.exercises if report.status(x) != DONE)
    if report.status(exercise) != TO_DO:
        return [f"Next: {exercise.id} {report.status(exercise)}, so do that first."]
    again = f"./jaxprentice check {exercise.id}"
    text = place.source(lesson).decode("utf-8", "replace")
    line = text.partition(exercise.id)[0].count("\n") + 1
    where = f"{shown(place.file(lesson))}, line {line}"
    return [f"Next: {exercise.target} in {where}: {exercise.todo}", f"Then: {again}"]


def done_step(report: Report) -> list[str]:
    """What comes after something that is complete."""
    lesson = report.lesson
    if len(report.exercises) < len(lesson.exercises):
        return [f"Done. Next: ./jaxprentice check {lesson.id}"]
    later = [x for x in all_taught() if x.number > lesson.number]
    goal = f"Next: {later[0].title}" if later else "That was the last lesson"
    return [f"The lesson {lesson.id} is complete. {goal}."]


def shown(path: Path) -> Path:
    """A path from here, where it lies below this folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def stuck(exercise: Exercise) -> str:
    """Where help is."""
    return (
        f"Stuck? ./jaxprentice hint {exercise.id}; or ./jaxprentice give {exercise.lesson} takes "
        "the solution."
    )


def print_lines(indent: str, lines: Iterable[str]) -> None:
    """Print lines, with characters that the terminal does not know replaced."""
    encoding = sys.stdout.encoding or "ascii"
    for line in lines:
        print((indent + line).encode(encoding, "backslashreplace").decode(encoding))


COLOURS = {DONE: "32", TO_DO: "2"}


def styled(text: str, status: str) -> str:
    """The text in the colour of a status, on a terminal that wants colours."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\033[{COLOURS.get(status, '33')}m{text}\033[0m"


# ------------------------------------------------------------------------------------------
# Other commands


def list_lessons(place: Workspace) -> None:
    """Print the lessons with how much of each is done."""
    rows = [("lesson", "title", "time", "points", "done")]
    for lesson in all_taught():
        count = f"{len(place.checked(lesson)[0])} of {len(lesson.exercises)}"
        minutes = f"{lesson.minutes} min"
        rows.append((lesson.id, lesson.title, minutes, f"{lesson.max_points:g}", count))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip())
    print("\nNext: ./jaxprentice check")


def progress(place: Workspace) -> None:
    """Print each exercise with whether it was done when it was last checked."""
    points = total = 0.0
    for lesson in all_taught():
        done, current = place.checked(lesson)
        last = "" if current or not done else " (changed since the last check)"
        print(f"{lesson.title}{last}")
        for exercise in lesson.exercises:
            status = DONE if exercise.id in done else TO_DO
            print(f"  {styled(f'{status:<7}', status)}{exercise.id}")
            points += exercise.points if exercise.id in done else 0
            total += exercise.points
    print(f"\n{points:g} of {total:g} points, as the last checks found.")


def replace(place: Workspace, lesson: Lesson, text: str, what: str) -> None:
    """Put the skeleton or the solution in place of the student's module, which is kept."""
    copy = place.replace(lesson, text)
    print(f"{shown(place.file(lesson))} is now {what} of {lesson.id}.")
    if copy:
        print(f"What you had is kept in {shown(copy)}.")
