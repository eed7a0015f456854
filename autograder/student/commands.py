"""What the students' commands do: check, hint, list, progress, and changing a module."""

import sys
from pathlib import Path
from typing import Any

from autograder.lessons import manifest, nothing, places, tasks
from autograder.lessons.manifest import BLANK, GUIDED, Exercise, Lesson
from autograder.lessons.nothing import Task
from autograder.lessons.problem import Problem
from autograder.student import (
    capstone,
    checks,
    explain,
    extras,
    from_nothing,
    latest,
    lending,
    names,
    table,
    workspace,
)
from autograder.student.checks import DONE, NOT_RUN, TO_DO, WAITS, Report
from autograder.student.screen import print_lines
from autograder.student.workspace import Workspace

# ------------------------------------------------------------------------------------------
# Checking


def check(place: Workspace, name: str | None, *, mine: bool) -> int:
    """Check what was asked for, say what was found, and return the exit status."""
    if page := from_nothing.named(place, name):
        return from_nothing.check(place, page)
    name = names.plain(name) if name else scripts_of_handout(place)
    if name in manifest.load() and manifest.get(name).scripts:
        return capstone.check(place, manifest.get(name), by=run)
    if not place.own:
        print(
            f"This is not a workspace, so {place.root} is checked. Make your own with `init DIR`."
        )
    found = names.resolve(name, latest.lesson(place)) if name else at_hand(place)
    if isinstance(found, Task):
        return from_nothing.check(place, found)
    lesson, exercise = found
    if page := place.page(lesson):
        return from_nothing.check(place, page, lesson)
    if exercise and exercise in extras.of(lesson):
        return check_task(place, exercise)
    report = run(place, lesson, exercise)
    if exercise and report.complete and is_done(place, lesson):
        report = run(place, lesson)  # the last one: now it is about the whole
    tell(report, place)
    if mine and not report.broken:
        return check_mine(place, report)
    if report.complete and len(report.exercises) == len(lesson.exercises):
        tell_end(place, lesson)
    return 0 if report.complete else 1


def at_hand(place: Workspace) -> tuple[Lesson, Exercise | None] | Task:
    """What has the file that was saved last; after a complete lesson the next one."""
    last = latest.saved(place)
    if isinstance(last, Task):
        if not from_nothing.is_done(place, last):
            print(f"{last.file} was saved last.")
            return last
        last = manifest.get(last.after)
    if isinstance(last, Exercise):
        print(f"{shown(extras.file(place, last))} was saved last.")
        return manifest.get(last.lesson), last
    if last and not latest.is_told(place, last):
        print(f"{shown(place.file(last))} was saved last.")
        return last, None
    return following(place, last), None


def scripts_of_handout(place: Workspace) -> str | None:
    """The lesson of a handout, if it has scripts to run instead of exercises."""
    lesson = manifest.load().get(place.identity.get("lesson", ""))
    return lesson.id if lesson and lesson.scripts else None


def is_done(place: Workspace, lesson: Lesson) -> bool:
    """Whether all exercises of a lesson were done when they were last checked, one by one."""
    return len(place.checked(lesson)[0]) == len(lesson.exercises)


def check_task(place: Workspace, task: Exercise) -> int:
    """Check a task that a lesson has beyond its exercises."""
    extras.source(place, task)  # complains if there is no file
    if task.id.endswith(f".{tasks.KINDS[0]}") and not extras.is_begun(place, task):
        print_lines([f"  {TO_DO}  {task.id}  {task.title}", f"\n{task.todo}"])
        print(f"\nNext: write it in {shown(extras.file(place, task))}")
        return 1
    report = extras.check(place, manifest.get(task.lesson), [task])
    if report.broken:
        print(f"{task.id} cannot be checked.")
        print_lines(explain.broken(report), "  ")
        return 1
    table.show(report)
    if failure := report.failure(task):
        print(f"\n{task.id} is not right yet.")
        print_lines(explain.explain(report, failure), "  ")
        print(
            f"\nNext: change {shown(extras.file(place, task))}, then ./jaxprentice check {task.id}"
        )
    return 0 if report.complete else 1


def tell_end(place: Workspace, lesson: Lesson) -> None:
    """What a complete lesson has besides: its milestone, once, and how far the tasks are."""
    told = place.record.get(latest.TOLD, {}).get(lesson.id)
    place.remember(latest.TOLD, lesson.id, True)
    if not told and (lines := extras.milestone(place, lesson)):
        print()
        print_lines(lines)
    if page := nothing.after(lesson):
        left = "" if from_nothing.is_done(place, page) else f" (./jaxprentice check {page.id})"
        print(f"\n{page.title}, one file from an empty page: {page.file}{left}")
    found = extras.of(lesson)
    if not found:
        return
    begun = [task for task in found if extras.is_begun(place, task)]
    report = extras.check(place, lesson, begun) if begun else None
    print("\nExtra, without points:")
    for task in found:
        status = report.status(task) if report and task in begun and not report.broken else TO_DO
        end = "" if status == DONE else f" (./jaxprentice check {task.id})"
        print_lines([f"  {status}  {task.id}  {task.title}: tasks/{task.target}{end}"])


def run(place: Workspace, lesson: Lesson, exercise: Exercise | None = None) -> Report:
    """Check the student's module over the reference of the earlier lessons, and remember it."""
    if not place.file(lesson).exists():
        taken = shown(place.renamed(lesson))
        print(
            f"There is no {lesson.module}, so {taken} is checked. Rename it: "
            f"only {lesson.module} is graded."
        )
    report = lending.run(lesson, {lesson.module: place.source(lesson)}, exercise)
    if not report.broken or not exercise:
        place.remember("checked", lesson.id, found(place, report))
    return report


def found(place: Workspace, report: Report) -> dict[str, Any]:
    """What to remember of a report; of one exercise, beside what was found of the others."""
    lesson, known = report.lesson, {"of": place.fingerprint(report.lesson), "done": report.done}
    if len(report.exercises) == len(lesson.exercises):
        return known
    last = place.record.get("checked", {}).get(lesson.id, {"of": "", "done": []})
    gone = {*(x.id for x in report.exercises), *report.stubs}  # asked for, or not there any more
    done = {*report.done, *(name for name in last["done"] if name not in gone)}
    # Of a file that has changed since, this is not all: when it is as it was, it is checked again.
    of = last["of"] if last["of"] == known["of"] else ""
    return {"of": of, "done": [x.id for x in lesson.exercises if x.id in done]}


def check_mine(place: Workspace, base: Report) -> int:
    """Check again with all of the student's modules, and name the earlier lesson that breaks it."""
    lesson, exercise = base.lesson, base.exercises[0] if len(base.exercises) == 1 else None
    earlier = [x for x in manifest.prefix(lesson)[:-1] if place.has_module(x)]
    own = {x.module: place.source(x) for x in [*earlier, lesson]}
    report = checks.run(lesson, own, exercise)
    lost = lost_against(report, base)
    print()
    if not lost:
        print("The result is the same with your own earlier modules.")
        return 0 if base.complete else 1
    for suspect in earlier:
        pair = {x.module: own[x.module] for x in (suspect, lesson)}
        if lost_against(checks.run(lesson, pair, exercise), base):
            print(blame(suspect, own[suspect.module], lost))
            print(f"Next: ./jaxprentice check {suspect.id}, or ./jaxprentice give {suspect.id}")
            return 1
    print(f"Your own earlier modules together break {', '.join(lost)}.")
    return 1


def blame(lesson: Lesson, source: bytes, lost: list[str]) -> str:
    """Why an earlier lesson is the reason that exercises are not done."""
    exercises = {exercise.id for exercise in lesson.exercises}
    is_python = not checks.syntax_error(lesson.module, source)
    if is_python and exercises & checks.stubs(source, lesson).keys():
        return (
            f"Your own {lesson.module} still has exercises to do, which {', '.join(lost)} may need."
        )
    return f"Your own {lesson.module} breaks {', '.join(lost)}."


def lost_against(report: Report, base: Report) -> list[str]:
    """The exercises that are done in `base` and not in `report`."""
    return [name for name in base.done if name not in report.done]


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
    table.show(report)
    print(f"  {count(report)}")
    wrong = next((x for x in report.exercises if report.failure(x)), None)
    if wrong and (failure := report.failure(wrong)):
        print(f"\n{wrong.id} is not right yet.")
        print_lines(explain.explain(report, failure), "  ")
        print_lines(toolbox(wrong) if place.way(lesson) == GUIDED else [], "  ")
    print()
    print_lines(next_step(report, place, wrong))


def count(report: Report) -> str:
    """How many checks there were, and, in a class, how many hidden tests will grade the same."""
    names = {exercise.id for exercise in report.exercises}
    visible = sum(outcome.exercise in names for outcome in report.outcomes)
    known = workspace.hidden_tests() if places.is_handout() else {}
    whole = len(report.exercises) == len(report.lesson.exercises)
    graded = report.lesson.graded if whole else report.exercises
    hidden = sum(known.get(part.id, 0) for part in graded)
    said = f"{visible} visible check{'s' * (visible != 1)}"
    them = "it" if len(report.exercises) == 1 else "them"
    end = f"; {hidden} hidden test{'s' * (hidden != 1)} will grade {them}" if hidden else ""
    return f"{said}{end}."


def toolbox(exercise: Exercise) -> list[str]:
    """The given code that is useful in an exercise."""
    rows = [f"    {tool}".replace("`", "") for tool in exercise.toolbox]
    return ["Toolbox:", *rows] if rows else []


def tell_broken(report: Report) -> None:
    """Why nothing could be checked."""
    lesson = report.lesson
    refused = report.broken and report.broken.type == checks.REFUSED
    why = "cannot be handed in as it is" if refused else "does not work as a whole"
    print(f"{lesson.id} cannot be checked: {lesson.module} {why}.")
    print_lines(explain.broken(report), "  ")
    print(f"\nNext: correct this, then ./jaxprentice check {lesson.id}")


def next_step(report: Report, place: Workspace, wrong: Exercise | None) -> list[str]:
    """What to do now."""
    lesson = report.lesson
    if report.complete:
        return done_step(report, place)
    if wrong:
        again = f"./jaxprentice check {wrong.id}"
        return [f"Next: change {shown(place.file(lesson))}, then {again}", stuck(wrong, place)]
    left = [x for x in report.exercises if report.status(x) != DONE]
    exercise = next((x for x in left if report.status(x) != WAITS), left[0])
    if waits := report.waits_for(exercise) if report.status(exercise) == WAITS else []:
        return [
            f"{exercise.id} needs {waits[0]}, which is not right yet.",
            f"Next: ./jaxprentice check {waits[0]}",
        ]
    if report.status(exercise) == NOT_RUN:
        return [f"There are no checks for {exercise.id}. Get a complete copy of the course."]
    line = report.stubs[exercise.id].line
    if not line:
        return absent(report, place, exercise)
    return [
        f"Next: {exercise.target} in {shown(place.file(lesson))}: {exercise.todo}",
        f"Replace line {line}, which raises NotImplementedError, with your code.",
        f"Then: ./jaxprentice check {exercise.id}",
    ]


def absent(report: Report, place: Workspace, exercise: Exercise) -> list[str]:
    """What to do about a function that is not in the module at all."""
    lesson, file = report.lesson, shown(place.file(report.lesson))
    owner, _, name = exercise.target.rpartition(".")
    where = f"the class {owner} of {file}" if owner else f"{file}"
    if place.way(lesson) == BLANK:
        return [
            f"Next: {name} is not there yet. Write it in {where}: {exercise.todo}",
            f"Its contract is in lessons/{lesson.folder.name}/lesson.md.",
            f"Then: ./jaxprentice check {exercise.id}",
        ]
    return [
        f"There is no {name} in {where}. Was it renamed or removed?",
        f"Write it again, or: `./jaxprentice reset {lesson.id}` {explain.RESET}",
    ]


def done_step(report: Report, place: Workspace) -> list[str]:
    """What comes after something that is complete."""
    lesson = report.lesson
    if len(report.exercises) < len(lesson.exercises):
        return [after_one(report, place)]
    goal = following(place, lesson)
    if place.is_complete(goal) or places.is_handout():
        end = f"Hand in {lesson.module}." if places.is_handout() else "That was the last lesson."
    else:
        done = f" ({len(place.checked(goal)[0])} of {len(goal.exercises)} done)"
        end = f"Next: ./jaxprentice check {goal.id}{done}: {goal.title}"
    return [f"The lesson {lesson.id} is complete. {end}"]


def following(place: Workspace, last: Lesson | None) -> Lesson:
    """As `latest.following`; a lesson that was complete until its file changed is checked again.

    So is one that was taken by `give`.
    """
    while True:
        goal = latest.following(place, last)
        done, current = place.checked(goal)
        complete = len(done) == len(goal.exercises)
        if current or not (complete or latest.given(place, goal)):
            return goal
        done_of(place, goal)


def after_one(report: Report, place: Workspace) -> str:
    """How far the lesson is after an exercise that is right, and which one comes next."""
    lesson, done = report.lesson, place.checked(report.lesson)[0]
    count = f"Done, {len(done)} of {len(lesson.exercises)}."
    left = checks.ready(lesson, done)
    behind = lesson.exercises.index(report.exercises[-1])
    following = [x for x in left if lesson.exercises.index(x) > behind] or left
    stub = report.stubs.get(following[0].id)
    line = f", line {stub.line}" if stub and stub.line else ""
    return f"{count} Next: {following[0].id} ({shown(place.file(lesson))}{line})."


def shown(path: Path) -> Path:
    """A path from here, where it lies below this folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def stuck(exercise: Exercise, place: Workspace) -> str:
    """Where help is: in the hints while there are some, then in the solution."""
    if place.hints_seen(exercise) < len(helps(exercise, place)):
        return f"Stuck? ./jaxprentice hint {exercise.id}"
    module = manifest.get(exercise.lesson).module
    if not (places.SOLUTIONS / module).exists():
        return "There is no further hint. Ask your teacher."
    return (
        f"There is no further hint. ./jaxprentice give {exercise.lesson} puts the solution of the "
        f"whole lesson into {module} (your file is kept)."
    )


def helps(exercise: Exercise, place: Workspace) -> tuple[str, ...]:
    """The hints for an exercise, in the way of its lesson."""
    return exercise.helps(place.way(manifest.get(exercise.lesson)))


def hint(place: Workspace, exercise: Exercise) -> None:
    """Print the next hint for an exercise; the last one again when there is no other."""
    texts = helps(exercise, place)
    count = len(texts)
    number = min(place.hints_seen(exercise) + 1, count)
    place.remember("hints", exercise.id, number)
    text = f"Hint {number} of {count} for {exercise.id}: {texts[number - 1]}"
    print_lines(row for row in text.splitlines() if row)
    if number == count:
        print(stuck(exercise, place))


def to_hint(place: Workspace, name: str | None) -> Exercise:
    """The exercise that a name means to `hint`: none, a lesson's or a function's name is enough."""
    here = latest.lesson(place)
    if name is None:
        done_of(place, here)  # it may be complete by now
        return next_exercise(place, latest.lesson(place))
    lesson, exercise = names.resolve(names.plain(name), here)
    if exercise and exercise in extras.of(lesson):
        raise Problem(
            f"{name} is an extra, and extras have no hints. Ask for those of an exercise."
        )
    return exercise or next_exercise(place, lesson)


def next_exercise(place: Workspace, lesson: Lesson) -> Exercise:
    """The first exercise of a lesson that is not done; the last one when all are."""
    return [*checks.ready(lesson, done_of(place, lesson)), lesson.exercises[-1]][0]


# ------------------------------------------------------------------------------------------
# Other commands


def done_of(place: Workspace, lesson: Lesson) -> list[str]:
    """The exercises of a lesson that are done, as the file is now: it is checked if it changed."""
    done, current = place.checked(lesson)
    if current:
        return done
    if not place.file(lesson).exists():
        return place.forget(lesson)
    if place.source(lesson) == place.skeleton(lesson).encode():
        place.remember("checked", lesson.id, {"of": place.fingerprint(lesson), "done": []})
        return []
    if sys.stderr.isatty():
        print(f"Checking {lesson.id}, which has changed ...", file=sys.stderr)
    if page := place.page(lesson):
        from_nothing.run(place, page)
        return place.checked(lesson)[0]
    return run(place, lesson).done


def replace(place: Workspace, lesson: Lesson, text: str, what: str) -> None:
    """Put the skeleton or the solution where the student's module is, which is kept."""
    copy = place.replace(lesson, text)
    print(f"{shown(place.file(lesson))} is now {what} of {lesson.id}.")
    if copy:
        print(f"What you had is kept in {shown(copy)}.")
