"""Where the results of a course directory are."""

from pathlib import Path

from autograder.classroom.course.settings import Assignment
from autograder.grading import result_files
from autograder.grading.result import Result
from autograder.lessons.manifest import Lesson

RESULTS = "results"


def results_folder(root: Path, assignment: Assignment, lesson: Lesson) -> Path:
    """Where the results of a lesson of an assignment are, in a course directory."""
    folder = root / RESULTS / assignment.name
    return folder if len(assignment.lessons) == 1 else folder / lesson.id


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
