"""The grades that are reported and exported: in a course directory the gradebook's, else results.

With nbgrader the gradebook is the one truth of grades: points that a person gave or changed, extra
credit and late penalties are in it only. Results add why the automatic points were lost.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.classroom.course import settings as courses
from autograder.classroom.course.settings import Assignment, Course
from autograder.classroom.intake import look_again
from autograder.grading import feedback, result_files
from autograder.grading.result import Class, Result, Verdict
from autograder.lessons.problem import Problem

GRADEBOOK, RESULTS = "gradebook", "results"


def directory(folder: Path) -> Path | None:
    """The course directory that a folder is, or whose results it holds; None if there is none."""
    for place in (folder.absolute(), folder.absolute().parent) if folder.is_dir() else ():
        if (place / "gradebook.db").exists() and (place / "nbgrader_config.py").exists():
            return place
    return None


def place(folder: Path) -> Path:
    """Where what is made from the grades of a folder goes: in a course directory to `results/`."""
    return folder / RESULTS if (folder / "gradebook.db").exists() else folder


def written_to(folder: Path, source: str | None) -> Path:
    """The same; what is not the gradebook's does not take the place of what is."""
    beside = source == RESULTS and directory(folder) is not None
    return place(folder) / result_files.BESIDE if beside else place(folder)


def read(folder: Path, source: str | None = None) -> Class:
    """The grades of a folder by assignment.

    `source` is "gradebook" or "results"; None takes the gradebook where there is one. Raises
    Problem if its grades are of other points than `course.toml` gives.
    """
    course = directory(folder)
    if source not in (None, GRADEBOOK, RESULTS):
        raise Problem(f"There are no grades from {source!r}. Give {GRADEBOOK} or {RESULTS}.")
    if source == GRADEBOOK and course is None:
        raise Problem(f"There is no gradebook in {folder}. Give a course directory that has one.")
    if course is None or source == RESULTS:
        return result_files.by_lesson(place(folder))
    found = _from_gradebook(course)
    if not found:
        raise Problem(f"The gradebook in {course} has no grades yet. Run `nbgrader autograde`.")
    return found


def waiting(folder: Path, source: str | None = None) -> list[str]:
    """What waits for `nbgrader autograde`, if the grades are the gradebook's: it is not in them."""
    course = None if source == RESULTS else directory(folder)
    if course is None:
        return []
    from autograder.classroom.nbgrader import directory as course_directory

    return list(course_directory.waiting(course))


# ------------------------------------------------------------------------------------------
# From the gradebook


def _from_gradebook(folder: Path) -> Class:
    from autograder.classroom.nbgrader import gradebook, regrading

    course = courses.read(folder)
    with gradebook.opened(folder) as book:
        gradebook.share(book, regrading.sources(folder))
        gradebook.settle(book, course)
        late = {x: y for s in book.students for x, y in gradebook.lateness_of(s, course).items()}
        found: Class = {}
        for assignment in book.assignments:
            # The others are entries of extensions only.
            own = sorted(assignment.submissions, key=lambda x: x.student.id)
            graded = [x for x in own if any(map(_has_points, gradebook.grades(x)))]
            if graded and assignment.name in course.assignments:
                regrading.check_points(folder, course.get(assignment.name))
                found[assignment.name] = [
                    _grade(folder, course, submission, late[submission]) for submission in graded
                ]
    return {name: found[name] for name in course.assignments if name in found}


def _has_points(grade: Any) -> bool:
    return grade.auto_score is not None or grade.manual_score is not None


def _grade(folder: Path, course: Course, submission: Any, lateness: Any) -> Result:
    """A submission's grade in the gradebook, with what its results say of the failures."""
    from autograder.classroom.nbgrader import gradebook
    from autograder.classroom.nbgrader.results import read_results

    assignment, student = course.get(submission.name), submission.student.id
    found = read_results(folder, assignment, student)
    grades = {x.name: x for x in gradebook.grades(submission)}
    verdicts: list[Verdict] = []
    for verdict in (verdict for result in found for verdict in result["exercises"]):
        grade = grades[courses.cell_name(verdict["id"])]
        points = round(grade.score, 2)
        verdicts.append({**verdict, "points": points, "max_points": grade.max_score})
    penalty = submission.late_submission_penalty or 0.0
    asked = look_again.of_student(folder, course, student, assignment.name)
    return {
        **found[0],
        "lesson": assignment.name,
        "score": max(round(submission.score - penalty, 2), 0.0),
        "max_score": submission.max_score,
        "exercises": [*verdicts, *_by_hand(assignment, grades)],
        "remarks": _all(found, "remarks"),
        "review": _all(found, "review"),
        "seconds": round(sum(result["seconds"] for result in found), 3),
        "days_late": lateness.days,
        "notes": [*_all(found, "notes"), *_notes(submission, penalty, lateness), *asked],
    }


def _all(found: list[Result], key: str) -> list[str]:
    lists: list[list[str]] = [{**result}.get(key, []) for result in found]  # type: ignore[misc]
    return list(dict.fromkeys(text for texts in lists for text in texts))


def _by_hand(assignment: Assignment, grades: dict[str, Any]) -> Iterator[Verdict]:
    """What has no tests, and points that a person gives, as verdicts."""
    for lesson in assignment.lessons:
        for kind in ("question", "open"):
            grade = grades.get(f"{lesson.id}-{kind}")
            if grade is not None and grade.max_score:
                yield _given(f"{lesson.id}.{kind}", grade)


def _given(name: str, grade: Any) -> Verdict:
    """The verdict of a person, as the gradebook has it."""
    from autograder.classroom.nbgrader import gradebook

    said = "There is no answer." if grade.manual_score is None else None
    said = feedback.NOT_READ if gradebook.is_unread(grade) else said
    test: Any = {"id": feedback.BY_HAND, "passed": grade.score > 0, "class": None, "message": said}
    return {
        "id": name,
        "points": round(grade.score, 2),
        "max_points": grade.max_score,
        "tests": [test],
        "class": None,
        "message": said,
        "misconception": None,
        "counterexample": None,
    }


def _notes(submission: Any, penalty: float, lateness: Any) -> Iterator[str]:
    """What is to be known about the grade as a whole."""
    from autograder.classroom.nbgrader import gradebook

    yield from lateness.notes(penalty)
    changed = []
    for grade in gradebook.grades(submission):
        usual = grade.name.endswith(("-question", "-open")) or grade.manual_score is None
        if grade.extra_credit or not usual:
            changed.append(grade.name)
    if changed:
        yield f"Points that a person changed: {', '.join(sorted(changed))}."
