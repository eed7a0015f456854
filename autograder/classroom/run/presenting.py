"""From verdicts to a student's result: all that does not depend on the code is put on here.

That is whose it is, what it is worth in this course, remarks about the hand-in, the lines of the
exercises, the variant, and how it would have been graded on the course's own modules.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from autograder.classroom.course import settings as courses
from autograder.classroom.course import variants
from autograder.classroom.intake import reading
from autograder.grading import feedback
from autograder.grading.result import Result, Test, Verdict
from autograder.grading.task import Base, Task
from autograder.lessons import module_rules
from autograder.lessons.manifest import Lesson


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


def presented(each: Submission, verdicts: Mapping[str, Result]) -> Result:
    """The result of a submission, of the verdicts by key."""
    found: Result = {**verdicts[each.task.key], "student": each.student}
    found["fingerprint"] = each.task.key
    made = courses.with_points(_with_reason(found, each), each.lesson)
    made = reading.with_lines(made, each.task.source, each.lesson)
    if each.credit:
        credit = courses.with_points(verdicts[each.credit.key], each.lesson)
        made = _compared(made, credit, each)
    if each.by not in ("", each.student):
        made["remarks"] = [f"Submitted by {each.by} for the group.", *made["remarks"]]
    if each.notes:
        made["notes"] = [*made.get("notes", []), *each.notes]
    return variants.noted(made, each.variant)


def _with_reason(result: Result, each: Submission) -> Result:
    """The result with what is to be said of the hand-in: instead of "missing" if it was refused."""
    if not each.reason:
        return result
    if each.task.source is not None:
        return {**result, "remarks": [each.reason, *result["remarks"]]}
    return _refused_for(each.reason, result)


def _refused_for(reason: str, result: Result) -> Result:
    exercises = [_refused(exercise, reason) for exercise in result["exercises"]]
    return {**result, "remarks": [reason], "exercises": exercises}


def _refused(verdict: Verdict, reason: str) -> Verdict:
    tests: list[Test] = [{**test, "message": reason} for test in verdict["tests"]]
    return {**verdict, "message": reason, "tests": tests}


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
