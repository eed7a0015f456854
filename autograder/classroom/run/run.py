"""From submissions to results: each verdict is made once, and those that are known are not.

All that does not depend on the code is put on the verdicts afterwards: whose it is, what it is
worth in this course, remarks about the hand-in, the lines of the exercises, the variant, and how it
would have been graded on the course's own modules.
"""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.course import settings as courses
from autograder.classroom.intake import reading
from autograder.grading import feedback, result_files
from autograder.grading.result import Result, Test, Verdict, is_graded
from autograder.grading.task import Base, Task, Verdicts
from autograder.lessons import module_rules
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem


@dataclass(frozen=True)
class Submission:
    """One student's module, and the tasks that its result needs."""

    student: str
    lesson: Lesson  # with the points that it has in this course
    task: Task
    reason: str = ""  # why there is no module, or which file was taken for it
    credit: Task | None = None  # the module on the course's own earlier ones, to compare with
    variant: int = 0
    by: str = ""  # who handed it in, if it was another member of the group
    notes: tuple[str, ...] = ()  # on what was handed in besides

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What has to be graded; without earlier modules of one's own both are one."""
        both = (self.task, self.credit) if self.credit else (self.task,)
        return tuple({task.key: task for task in both}.values())


Finished = Generator[tuple[Submission, Result], None, None]
Executor = Callable[[Sequence[Task]], Verdicts]  # gives verdicts as they finish


def recall(work: Sequence[Submission], store: Path) -> dict[str, Result]:
    """The verdicts that these submissions need and the store, a folder, has by key."""
    keys = {task.key for each in work for task in each.tasks}
    return {key: verdict for key in sorted(keys) if (verdict := _kept(store / f"{key}.json"))}


def _kept(path: Path) -> Result | None:
    """A verdict; one that is damaged, or says nothing about its module, is not there."""
    try:
        verdict = result_files.read(path)
    except Problem:  # there is none, or it is of an older form
        return None
    return verdict if is_graded(verdict) else None


def is_known(each: Submission, known: Collection[str]) -> bool:
    """Are all verdicts there that a submission's result is made of?"""
    return all(task.key in known for task in each.tasks)


def equal(work: Sequence[Submission]) -> str:
    """How many modules are equal to one before them, as the end of a sentence."""
    keys = [each.task.key for each in work if each.task.source is not None]
    count = len(keys) - len({*keys})
    return f", {count} of them equal to another" if count else ""


def graded(
    work: Sequence[Submission], known: Mapping[str, Result], store: Path, execute: Executor
) -> Finished:
    """Each submission with its result: first those whose verdicts are known, then as they finish.

    New verdicts are kept in the store before anything is made of them.
    """
    found = dict(known)
    waiting: dict[str, list[Submission]] = defaultdict(list)
    missing: dict[str, Task] = {}
    for each in work:
        for task in each.tasks:
            if task.key not in known:
                waiting[task.key].append(each)
                missing[task.key] = task
        if is_known(each, known):
            yield each, presented(each, found)
    with contextlib.closing(execute(list(missing.values()))) as made:
        for task, verdict in made:
            result_files.write({**verdict, "student": task.key}, store)
            found[task.key] = verdict
            ready = [each for each in waiting[task.key] if is_known(each, found)]
            yield from ((each, presented(each, found)) for each in ready)


# ------------------------------------------------------------------------------------------
# What is put on a verdict


def presented(each: Submission, verdicts: Mapping[str, Result]) -> Result:
    """The result of a submission, of the verdicts by key."""
    found: Result = {**verdicts[each.task.key], "student": each.student}
    found["fingerprint"] = each.task.key
    if each.reason and each.task.source is None:  # it was refused, and is not just missing
        found = _refused_for(each.reason, found)
    elif each.reason:
        found = {**found, "remarks": [each.reason, *found["remarks"]]}
    made = courses.with_points(found, each.lesson)
    made = reading.with_lines(made, each.task.source, each.lesson)
    if each.credit:
        credit = courses.with_points(verdicts[each.credit.key], each.lesson)
        made = _compared(made, credit, each)
    if each.by not in ("", each.student):
        made["remarks"] = [f"Submitted by {each.by} for the group.", *made["remarks"]]
    if each.notes:
        made["notes"] = [*made.get("notes", []), *each.notes]
    if each.variant:
        made["variant"] = each.variant
        made["notes"] = [*made.get("notes", []), f"Graded as variant {each.variant}."]
    return made


def _refused_for(reason: str, result: Result) -> Result:
    exercises: list[Verdict] = []
    for verdict in result["exercises"]:
        tests: list[Test] = [{**test, "message": reason} for test in verdict["tests"]]
        exercises.append({**verdict, "message": reason, "tests": tests})
    return {**result, "remarks": [reason], "exercises": exercises}


def _compared(result: Result, credit: Result, each: Submission) -> Result:
    """A result that says what it would have been on the course's own modules."""
    files = ", ".join(sorted(each.task.base)) or "none of the student's own"
    points = f"On the course's own earlier modules: {credit['score']:g} points."
    if feedback.faults(result) and not feedback.faults(credit):
        result = _refused_for(_blame(each.task.base, each.lesson.module), result)
    return {**result, "notes": [*result.get("notes", []), f"Graded on {files}. {points}"]}


def _blame(base: Base, module: str) -> str:
    """Why a module cannot be imported on these earlier ones, where it can on the course's own."""
    for name, source in sorted(base.items()):
        why = module_rules.unreadable(source, name) or module_rules.import_complaint(source, name)
        if why:
            return f"{why} So {module} cannot be imported."
    own = ", ".join(sorted(base))
    return f"{module} cannot be imported on your own {own}; on the course's own modules it can."
