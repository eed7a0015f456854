"""How far a student is: what is done, what was taken by `give`, and what comes next."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

from autograder.lessons import manifest, places
from autograder.lessons.manifest import CONTRACT, Lesson
from autograder.lessons.problem import Problem
from autograder.student import capstone, commands, latest, screen, table, workspace
from autograder.student.checks import DONE, TO_DO
from autograder.student.names import all_taught
from autograder.student.screen import print_lines
from autograder.student.workspace import Workspace

WIDTH = 88  # of a part's lessons


def give(place: Workspace, lesson: Lesson) -> None:
    """Put the solution where the student's module is, and note what was not done before."""
    if page := place.page(lesson):
        raise Problem(
            f"{lesson.id} is a part of {page.file}, which is all your own. To take the course's "
            f"module: `./jaxprentice way {lesson.id} contract`, and give again."
        )
    solution = workspace.solution(lesson)
    own = commands.done_of(place, lesson) if place.own and place.file(lesson).exists() else []
    own = [name for name in own if name not in latest.given(place, lesson)]
    # First: what is taken and not noted would count as one's own.
    place.remember(latest.GIVEN, lesson.id, [x.id for x in lesson.exercises if x.id not in own])
    commands.replace(place, lesson, solution, "the solution")


# ------------------------------------------------------------------------------------------
# Lists


def list_lessons(place: Workspace) -> None:
    """Print the lessons with how much of each is done."""
    rows = [("lesson", "title", "time", "points", "way", "done")]
    for lesson in manifest.load().values():
        if not lesson.has_page:
            continue
        points = f"{lesson.max_points:g}"
        if lesson.exercises:
            count = said(place, lesson)
        else:
            count, points = "yes" if capstone.is_done(place, lesson) else "no", ""
        way = place.way(lesson) if lesson.exercises else ""
        rows.append((lesson.id, lesson.title, f"{lesson.minutes} min", points, way, count))
    print_lines(screen.columns(rows))
    print(f"\n{line(place)}\nNext: ./jaxprentice check")


def said(place: Workspace, lesson: Lesson) -> str:
    """How much of a lesson is done, and how much of that was given: "4 of 9, 3 given"."""
    done = commands.done_of(place, lesson)
    taken = len([name for name in latest.given(place, lesson) if name in done])
    return f"{len(done)} of {len(lesson.exercises)}" + f", {taken} given" * bool(taken)


def by_way(place: Workspace, lesson: Lesson) -> str:
    """The same, with the way if it is not the usual one."""
    way = place.way(lesson)
    return said(place, lesson) + f" ({way})" * (way != CONTRACT)


def show(place: Workspace) -> None:
    """Print the parts with their lessons, the points, and what comes next: a screen's worth."""
    for title, lessons in parts():
        print_lines([title] if title else [])
        rows = [""]
        for told in (f"{lesson.id} {by_way(place, lesson)}" for lesson in lessons):
            rows += [""] if len(f"{rows[-1]}; {told}") > WIDTH else []
            rows[-1] += f"; {told}" if rows[-1] else told
        print_lines(rows, "  ")
    print(f"\n{line(place)}")
    own, taken, total = points(place)
    more = f"; {taken:g} more were given" * bool(taken)
    print(f"{own:g} of {total:g} points, according to the checks{more}.")
    lesson = latest.lesson(place)
    print(f"Next: ./jaxprentice check {commands.next_exercise(place, lesson).id}")
    print(f"Each exercise of a lesson: ./jaxprentice progress {lesson.id}")


def parts() -> Iterator[tuple[str, list[Lesson]]]:
    """The titles of the parts with their lessons that have exercises; a handout has one part."""
    file, left = places.COURSE / "routes.toml", all_taught()
    known = tomllib.loads(file.read_text(encoding="utf-8"))["part"] if file.exists() else []
    for part in known:
        chosen = [lesson for lesson in left if lesson.id in part["lessons"]]
        left = [lesson for lesson in left if lesson not in chosen]
        if chosen:
            yield part["title"], chosen
    if left:
        yield "", left


def points(place: Workspace) -> tuple[float, float, float]:
    """The points for one's own work, for what was given, and all that there are."""
    own = taken = total = 0.0
    for lesson in all_taught():
        done, theirs = commands.done_of(place, lesson), latest.given(place, lesson)
        right = sum(x.points for x in lesson.exercises if x.id in done)
        if lesson.whole and len(done) == len(lesson.exercises):
            right += lesson.whole.points
        if theirs:  # then the whole module is not one's own either
            mine = sum(x.points for x in lesson.exercises if x.id in {*done} - {*theirs})
            own, taken = own + mine, taken + right - mine
        else:
            own += right
        total += lesson.max_points
    return own, taken, total


def show_lesson(place: Workspace, lesson: Lesson) -> None:
    """Print each exercise of a lesson with whether it is done, or was given."""
    done, taken = commands.done_of(place, lesson), latest.given(place, lesson)
    print_lines([lesson.title])
    for exercise in lesson.exercises:
        right = latest.GIVEN if exercise.id in taken else DONE
        status = right if exercise.id in done else TO_DO
        print(f"  {table.styled(f'{status:<7}', status)}{exercise.id}")


def export(place: Workspace, file: Path) -> None:
    """Write which exercises are done, as the course's web site takes and saves it.

    The workspace reads no such file: here an exercise is done if its checks pass on the files that
    are there now, and a file that says otherwise would be a second truth.
    """
    done = {name: True for lesson in all_taught() for name in commands.done_of(place, lesson)}
    workspace.write(file, f"{json.dumps(done, indent=1)}\n".encode())
    print(f'{file} says which exercises are done. The page "Ways through" of the site loads it.')


def line(place: Workspace) -> str:
    """How far the course is, with a bar; it needs no check, and takes what the last ones found."""
    lessons = all_taught()
    count = sum(len(lesson.exercises) for lesson in lessons)
    done = {name for lesson in lessons for name in place.checked(lesson)[0]}
    taken = len(
        [name for lesson in lessons for name in latest.given(place, lesson) if name in done]
    )
    said = f"{len(done)} of {count} exercises" + f", {taken} of them given" * bool(taken)
    return said if screen.is_plain() else f"[{screen.bar(len(done), count)}] {said}"
