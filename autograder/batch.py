"""Grades a folder of submissions into a folder of results."""

import os
from pathlib import Path

from autograder import engine, intake, isolation, results
from autograder.edition import Problem
from autograder.lessons import Lesson


def grade_folder(
    submissions: Path, lesson: Lesson, out: Path, *, jobs: int | None, level: str | None
) -> None:
    """Grade every student's folder, and write a result each and a table into `out`."""
    taken = list(intake.submissions(submissions, lesson))
    if not taken:
        raise Problem(f"{submissions} holds no folders. It should hold one folder a student.")
    level = isolation.choose(level)
    print(f"Isolation: {level}, {isolation.MEANING[level]}.", flush=True)
    out.mkdir(parents=True, exist_ok=True)
    reasons = {student: reason for student, _, reason in taken}
    work = ((student, source) for student, source, _ in taken)
    workers = jobs or os.cpu_count() or 1
    width = max(len(shown(student)) for student in reasons)
    for result in engine.grade_many(work, lesson, workers=workers, isolation=level):
        student = result["student"]
        if reasons[student]:
            result["remarks"] = [reasons[student], *result["remarks"]]
        results.write(result, out)
        score = f"{result['score']:g} of {result['max_score']:g}"
        print(f"{shown(student):<{width}}  {score}", flush=True)
    table = results.grades_csv(out)
    print(f"{len(taken)} submissions graded. The results are in {out}, the grades in {table}.")


def shown(name: str) -> str:
    """A student's name without characters that would play with the terminal."""
    return "".join(c if c.isprintable() else "?" for c in name)
