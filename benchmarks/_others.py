"""nbgrader as it is, set up to make the same checks as the grading engine on the same submissions.

It executes each notebook in a kernel, in which the hidden checks run beside the student's code. The
module is read from the folder of the submission; the notebook only asks for the checks.
"""

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat

from autograder.classroom.nbgrader import directory as nbgrader_course
from autograder.grading import submission
from autograder.grading.calls import Call
from autograder.grading.task import Task
from autograder.lessons import assemble, skeleton
from autograder.lessons.manifest import Lesson
from autograder.lessons.places import ROOT
from autograder.lessons.problem import Problem
from autograder.worker import wire
from benchmarks import _same_checks as same_checks

HERE = Path(__file__).parent

Job = tuple[str, str]  # student, module


# The same checks ----------------------------------------------------------------------------------


def recorded(lesson: Lesson) -> dict[str, Any]:
    """All probe calls of a hidden suite with the reference's answers, by exercise and test."""
    runs = []
    judged = submission.recognize

    def keep(lesson: Lesson, calls: Any, level: str) -> Any:
        runs.append(calls)
        return judged(lesson, calls, level)

    with patch.object(submission, "recognize", keep):
        reference = assemble.read_solution(lesson.module).encode()
        result = submission.grade(Task.of(lesson, reference))
    tests: dict[str, Any] = {
        x["id"]: {test["id"]: [] for test in x["tests"]} for x in result["exercises"]
    }
    for exercise, calls in runs[0].items():
        for call in calls:
            tests[exercise][call.test].append(_plain(call))
    return {"package": lesson.package, "tests": tests}


def _plain(call: Call) -> dict[str, Any]:
    return {
        "source": call.probe.source,
        "name": call.probe.name,
        "args": wire.encode(list(call.args)),
        "value": call.want.value,
        "raises": call.want.name.rpartition(".")[2],
        "rtol": call.rtol,
        "atol": call.atol,
    }


def write_assignment(folder: Path, lesson: Lesson) -> None:
    """Write the package with the skeleton, the checks, and a notebook that asks for them."""
    stubs = skeleton.make_skeleton(assemble.read_solution(lesson.module), lesson)
    folder.mkdir(parents=True)
    assemble.write_tree(folder, lesson, {lesson.module: stubs})
    shutil.copy(HERE / "_same_checks.py", folder / "same_checks.py")
    (folder / same_checks.ANSWERS).write_bytes(pickle.dumps(recorded(lesson)))
    cells = [nbformat.v4.new_code_cell("import same_checks\n\nchecks = same_checks.load()")]
    for exercise in lesson.graded:
        cell = nbformat.v4.new_code_cell(f"{exercise.points} * checks.share({exercise.id!r})")
        marks = {"grade": True, "solution": False, "locked": True, "task": False}
        name = {"grade_id": exercise.id.replace(".", "-"), "points": exercise.points}
        cell.metadata["nbgrader"] = {**marks, **name, "schema_version": 3}
        cells.append(cell)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
    nbformat.write(notebook, folder / f"{lesson.id}.ipynb")


# nbgrader -----------------------------------------------------------------------------------------

# Nothing of ours: only that the student's module is not put back to the skeleton.
_PLAIN = """
c = get_config()
c.CourseDirectory.course_id = "plain"
c.Autograde.exclude_overwriting = {{{lesson!r}: [{module!r}]}}
c.ExecutePreprocessor.timeout = 600
c.ExecutePreprocessor.startup_timeout = 600
"""


def stock_course(folder: Path, lesson: Lesson, jobs: Sequence[Job]) -> None:
    """A course directory of nbgrader's own, with submissions."""
    write_assignment(folder / "source" / lesson.id, lesson)
    config = _PLAIN.format(lesson=lesson.id, module=lesson.module)
    (folder / "nbgrader_config.py").write_text(config, encoding="utf-8")
    _hand_in(folder, lesson, jobs)


def our_course(folder: Path, lesson: Lesson, jobs: Sequence[Job]) -> None:
    """A course directory as `./jaxprentice nbgrader init` writes it, with submissions."""
    nbgrader_course.init(folder, seed=0, lessons=[lesson.id])
    _hand_in(folder, lesson, jobs)


def _hand_in(course: Path, lesson: Lesson, jobs: Sequence[Job]) -> None:
    run([*nbgrader(), "generate_assignment", lesson.id], course)
    release = course / "release" / lesson.id
    for student, source in jobs:
        place = course / "submitted" / student / lesson.id
        (place / lesson.module).parent.mkdir(parents=True)
        (place / lesson.module).write_text(source, encoding="utf-8")
        shutil.copy(release / f"{lesson.id}.ipynb", place)


def nbgrader() -> list[str]:
    return [sys.executable, "-m", "nbgrader"]


def gradebook_scores(course: Path, lesson: Lesson) -> dict[str, float]:
    """The scores in nbgrader's gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        return {x.student.id: x.score for x in book.assignment_submissions(lesson.id)}


# Running them -------------------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """Variables for all graders: the package under test is the submission's, not the reference."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PYTHONPATH": str(ROOT), "PATH": programs}


def run(command: list[str], folder: Path) -> None:
    """Run a command that is not measured."""
    done = subprocess.run(command, cwd=folder, env=environment(), check=False, capture_output=True)
    if done.returncode != 0:
        last = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()[-8:]
        raise Problem(f"`{' '.join(command)}` failed: {' '.join(last)}")
