"""Judges exercises that wait for others: with those others right, as the course has them.

One wrong function would otherwise hide whether all that need it are right. The solution is taken
for it, and the student's own code for the rest. Lines are told as the student's file has them.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import count

from autograder.lessons import manifest, skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.problem import Problem
from autograder.student import checks, workspace
from autograder.student.checks import Error, Frame, Outcome, Report


def run(lesson: Lesson, overlay: Mapping[str, bytes], exercise: Exercise | None = None) -> Report:
    """Check a lesson or one exercise; of what waits, judge all that can be judged."""
    report = checks.run(lesson, overlay, exercise)
    lent: set[str] = set()
    while new := blockers(report) - lent:
        lent |= new
        if not (again := judged(report, overlay, lent)):
            break
        report = again
    return report


def blockers(report: Report) -> set[str]:
    """The exercises that others wait for, that do not wait themselves, and that are there."""
    waits = waiting(report)
    absent = {name for name, stub in report.stubs.items() if not stub.line}
    return {name for x in waits for name in report.waits_for(x)} - {x.id for x in waits} - absent


def waiting(report: Report) -> list[Exercise]:
    """The exercises that wait, of those that were asked for and those that they need."""
    asked = {*report.exercises, *(x for one in report.exercises for x in manifest.needs(one))}
    return [x for x in report.lesson.exercises if x in asked and report.status(x) == checks.WAITS]


def judged(report: Report, overlay: Mapping[str, bytes], lent: Collection[str]) -> Report | None:
    """The report with those that wait run again, some right ones lent; None if that cannot be."""
    lesson, wanted = report.lesson, waiting(report)
    targets = [x.target for x in lesson.exercises if x.id in lent]
    own = overlay[lesson.module].decode()
    try:
        source = with_right(lesson, own, targets)
    except Problem:  # a function has gone from the student's file, or there is no solution here
        return None
    both = {**overlay, lesson.module: source.encode()}
    again = checks.make_report(
        lesson, tuple(wanted), *checks.observe(lesson, both, wanted, checks.watch), report.stubs
    )
    names = {x.id for x in wanted}
    if again.broken or names - {outcome.exercise for outcome in again.outcomes}:
        return None
    lines = own_lines(own, source, targets)
    kept = [x for x in report.outcomes if x.exercise not in names]
    found = [relocated(x, lesson, lines) for x in again.outcomes]
    reasons = {x.id: {*report.waits_for(x), *report.lent.get(x.id, ())} & {*lent} for x in wanted}
    told = {name: tuple(sorted(reason)) for name, reason in reasons.items()}
    return replace(report, outcomes=(*kept, *found), lent={**report.lent, **told})


def with_right(lesson: Lesson, source: str, targets: Collection[str]) -> str:
    """The student's module with some functions as the solution has them."""
    solution = workspace.solution(lesson)
    for target in targets:
        right = skeleton.definition(solution, target)
        source = skeleton.replace_function(source, target, right)
    return source


def own_lines(own: str, lent: str, targets: Collection[str]) -> dict[int, int]:
    """The line in the student's file for each line outside the functions that were lent."""
    lines: dict[int, int] = {}
    row = mine = 1
    for (target, text), (_, other) in zip(
        skeleton.pieces(own, [*targets]), skeleton.pieces(lent, [*targets]), strict=True
    ):
        rows = other.count("\n")
        lines |= {} if target else dict(zip(range(row, row + rows), count(mine), strict=False))
        row, mine = row + rows, mine + text.count("\n")
    return lines


def relocated(outcome: Outcome, lesson: Lesson, lines: Mapping[int, int]) -> Outcome:
    """An outcome whose lines are those of the student's file; what was lent is the course's."""

    def moved(frame: Frame) -> Frame:
        if frame.file != lesson.module:
            return frame
        if frame.line in lines:
            return replace(frame, line=lines[frame.line])
        return replace(frame, file=f"solutions/{frame.file}")

    error: Error | None = outcome.error
    frames = tuple(map(moved, error.frames)) if error else ()
    return replace(outcome, error=error and replace(error, frames=frames))
