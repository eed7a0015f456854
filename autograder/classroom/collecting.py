"""What `collect` and `return` do in a course directory and without one."""

from pathlib import Path

from autograder.classroom import collect as downloads
from autograder.classroom import course as courses
from autograder.classroom import people
from autograder.classroom.course import Assignment
from autograder.grading import results
from autograder.lessons import manifest
from autograder.lessons.problem import Problem


def collect(
    download: Path, system: str, name: str, roster: Path | None, out: Path | None, folder: Path
) -> list[str]:
    """Collect for an assignment of a course, or for a lesson into `out`; what is to be said."""
    course = _is_course(folder)
    if roster is None and not (folder / people.ROSTER).exists():
        raise Problem("It is not known who is in the class. Give --roster, a CSV file.")
    known = people.read(roster or folder / people.ROSTER)
    if out is None and not course:
        raise Problem("This is not a course directory. Say by --out where submissions go.")
    assignment = _assignment(folder, name)
    below = "" if out else assignment.name
    return downloads.collect(
        download, system, known, assignment, out or folder / "submitted", below
    )


def give_back(
    name: str, out: Path, collected: Path | None, reported: Path | None, folder: Path
) -> int:
    """Pack the feedback pages of an assignment for the LMS; how many there are."""

    def pages(student: str) -> list[Path]:
        if reported is not None:
            page = reported / "students" / f"{results.file_name(student)}.html"
            return [page] if page.exists() else []
        return sorted((folder / "feedback" / student / name).glob("*.html"))

    return downloads.give_back(collected or folder / "submitted", name, pages, out)


def _is_course(folder: Path) -> bool:
    return (folder / "nbgrader_config.py").exists() or (folder / courses.FILE).exists()


def _assignment(folder: Path, name: str) -> Assignment:
    if _is_course(folder):
        return courses.read(folder).get(name)
    lesson = manifest.get(name)
    return Assignment(lesson.id, (lesson,))
