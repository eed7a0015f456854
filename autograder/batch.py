"""Grades a folder of submissions into a folder of results."""

import os
from collections.abc import Sequence
from pathlib import Path

from autograder import engine, intake, isolation, results
from autograder.edition import Problem
from autograder.lessons import Lesson

Taken = tuple[str, bytes | None, str]  # student, module, why there is none


def grade_folder(
    submissions: Path, lesson: Lesson, out: Path, *, jobs: int | None, level: str | None
) -> None:
    """Grade every student's folder, and write a result each and a table into `out`."""
    taken = list(intake.submissions(submissions, lesson))
    if not taken:
        raise Problem(f"{submissions} holds no folders. It should hold one folder a student.")
    odd = [student for student, _, _ in taken if not results.is_file_name(student)]
    if odd:
        raise Problem(f"{shown(odd[0])!r} cannot name a file of results. Rename that folder.")
    level = isolation.choose(level)
    print(f"Isolation: {level}, {isolation.MEANING[level]}.", flush=True)
    out.mkdir(parents=True, exist_ok=True)
    try:
        grade_taken(taken, lesson, out, jobs=jobs or os.cpu_count() or 1, level=level)
    except engine.SuiteError as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise Problem(
            f"The hidden suite of {lesson.id} is at fault, so nothing is graded ({why}). "
            f"Repair it, and run `./jaxprentice audit {lesson.id}`."
        ) from None
    table = results.grades_csv(out)
    _name_the_odd(out, [student for student, _, _ in taken])
    print(f"{len(taken)} submissions graded. The results are in {out}, the grades in {table}.")


def grade_taken(
    taken: Sequence[Taken], lesson: Lesson, out: Path, *, jobs: int, level: str
) -> None:
    """Grade what was taken from the submissions, and say each score."""
    reasons = {student: reason for student, _, reason in taken}
    width = max(len(student) for student in reasons)
    work = ((student, source) for student, source, _ in taken)
    for result in engine.grade_many(work, lesson, workers=jobs, isolation=level):
        student = result["student"]
        if reasons[student]:
            result["remarks"] = [reasons[student], *result["remarks"]]
        results.write(result, out)
        score = f"{result['score']:g} of {result['max_score']:g}"
        print(f"{student:<{width}}  {score}", flush=True)


def _name_the_odd(out: Path, students: Sequence[str]) -> None:
    """Say which submissions need a human eye; why stands in their results."""
    odd = [s for s in students if results.read(out / f"{s}.json").get("review")]
    if odd:
        print(f"{len(odd)} need a human eye (`review` in the result): {', '.join(odd)}.")


def shown(name: str) -> str:
    """A student's name without characters that would play with the terminal."""
    return "".join(c if c.isprintable() else "?" for c in name)
