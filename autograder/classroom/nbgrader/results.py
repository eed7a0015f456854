"""Where the results of a course directory are."""

from collections.abc import Mapping
from pathlib import Path

from autograder.classroom.course.settings import Assignment, Course
from autograder.classroom.intake import reading
from autograder.classroom.intake.files import INTAKE
from autograder.grading import result_files
from autograder.grading.result import Result
from autograder.lessons import user_files
from autograder.lessons.manifest import Lesson

RESULTS = "results"


def results_folder(root: Path, assignment: Assignment, lesson: Lesson) -> Path:
    """Where the results of a lesson of an assignment are, in a course directory."""
    folder = root / RESULTS / assignment.name
    return folder if len(assignment.lessons) == 1 else folder / lesson.id


def of_notebook(
    course: Course, root: Path, about: Mapping[str, str]
) -> tuple[Assignment, Lesson, Result, dict[str, str]]:
    """Assignment, lesson, result and changes (see `reading`) of what nbgrader tells `about`."""
    assignment, student = course.get(about["assignment"]), about["student"]
    (lesson,) = [x for x in assignment.lessons if x.id == about["notebook"]]
    result = result_files.read(results_folder(root, assignment, lesson) / f"{student}.json")
    module = root / INTAKE / student / assignment.name / lesson.module
    changes = reading.changes(user_files.text(module), lesson) if module.exists() else {}
    return assignment, lesson, result, changes


def read_results(root: Path, assignment: Assignment, student: str) -> list[Result]:
    """The results of a student's submission, one for each lesson."""
    folders = [results_folder(root, assignment, lesson) for lesson in assignment.lessons]
    return [result_files.read(folder / f"{student}.json") for folder in folders]


def last_level(root: Path, assignment: Assignment) -> str:
    """The rung of isolation on which it was graded; the best if it was not graded yet."""
    for lesson in assignment.lessons:
        for file in results_folder(root, assignment, lesson).glob("*.json"):
            return result_files.read(file)["isolation"]
    return "namespaces"
