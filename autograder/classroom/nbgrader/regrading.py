"""What a grade in the gradebook was made from, so that it is made again when any of that changes.

A record for each submission is in `.jaxprentice/graded/`. nbgrader itself looks at the time of a
submission only.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.classroom.course import notebooks
from autograder.classroom.course import settings as courses
from autograder.classroom.course.settings import Assignment, Feedback
from autograder.grading import result_files
from autograder.grading.task import Task
from autograder.lessons import user_files
from autograder.lessons.problem import Problem

FOLDER = Path(".jaxprentice", "graded")

Record = dict[str, str]

# What a record holds, with what is said when it is not the same as before.
_REASONS = {
    "module": "another module",
    "answers": "other written answers",
    "tests": "other tests, or another edition of the grader",
    "points": "other points",
    "feedback": "another policy of feedback",
    "base": "other earlier modules",
    "release": "another notebook",
    "student": "another member of the group submitted",
}


def record(
    by: str, tasks: Mapping[str, Task], answers: Mapping[str, str], common: Record
) -> Record:
    """The record of a submission that `by` has handed in: its tasks by lesson, and its answers.

    `common` is what all submissions of the assignment have in common: its `surroundings`.
    """
    # What the other cells show is in the modules.
    said = {name: text for name, text in answers.items() if not name.endswith(notebooks.CODE)}
    made = {
        name: _hash({lesson: task.parts[name] for lesson, task in tasks.items()})
        for name in ("module", "base")
    }
    return {"student": by, **made, "answers": _hash(said), **common}


def surroundings(
    marks: Mapping[str, str], assignment: Assignment, feedback: Feedback, release: Any
) -> Record:
    """What a grade depends on besides the submission.

    `marks` are the editions' by lesson, `release` the notebooks.
    """
    cells = {name: list(_plain(book["cells"])) for name, book in release.items()}
    kinds = assignment.own_base, repr(assignment.variants)
    return {
        "tests": _hash([dict(marks), *kinds]),
        "points": _points(assignment),
        "feedback": _hash(asdict(feedback)),
        "release": _hash(cells),
    }


def _points(assignment: Assignment) -> str:
    return _hash({x.id: [assignment.cells(x), x.partial] for x in assignment.lessons})


def _plain(cells: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """What grades depend on in a released notebook; the points are course.toml's."""
    for cell in cells:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name:
            yield [cell["cell_type"], "".join(cell["source"]), name]


def _hash(value: Any) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest()


def write(folder: Path, assignment: str, student: str, made: Record) -> None:
    """Keep the record of what is in the gradebook now."""
    result_files.write_text(place(folder, assignment, student), json.dumps(made, indent=1) + "\n")


def reasons(folder: Path, assignment: str, student: str, now: Record) -> list[str]:
    """Why a submission that is in the gradebook must be graded again; none if it must not."""
    before = read(place(folder, assignment, student))
    if before is None:
        return ["it is not known what its grade was made from"]
    return [why for name, why in _REASONS.items() if before.get(name) != now.get(name)]


def of_other_points(folder: Path, assignment: Assignment) -> dict[str, bool]:
    """The students whose grades were made with other points than `course.toml` gives now.

    Also whether they can be graded again: whether what counts for them is still in `submitted/`.
    """
    now, found = _points(assignment), {}
    for path in sorted((folder / FOLDER / assignment.name).glob("*.json")):
        made = read(path) or {}
        if made.get("points") != now:
            by = made.get("student", path.stem)
            found[path.stem] = (folder / "submitted" / by / assignment.name).is_dir()
    return found


def check_points(folder: Path, assignment: Assignment) -> None:
    """Raise Problem if grades are of other points: 6 of 12 would be said of what is all right."""
    students = [x for x, is_there in of_other_points(folder, assignment).items() if is_there]
    if students:
        several = "1 submission" if len(students) == 1 else f"{len(students)} submissions"
        raise Problem(
            f"{assignment.name} was graded with other points than {courses.FILE} gives now: "
            f"{several}. Run `nbgrader autograde {assignment.name}` first."
        )


def place(folder: Path, assignment: str, student: str) -> Path:
    """Where the record of a submission is."""
    return folder / FOLDER / assignment / f"{student}.json"


def read(path: Path) -> Record | None:
    """The record in a file; None if there is none that can be read: it is graded again, then."""
    try:
        found = user_files.document(path)
    except Problem:
        return None
    return found if isinstance(found, dict) else None


def sources(folder: Path) -> dict[tuple[str, str], str]:
    """Who handed in what counts for a member of a group, by assignment and member."""
    found = {}
    for path in sorted((folder / FOLDER).glob("*/*.json")):
        made = read(path) or {}
        if made.get("student", path.stem) != path.stem:
            found[path.parent.name, path.stem] = made["student"]
    return found
