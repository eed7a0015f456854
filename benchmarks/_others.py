"""Other graders, set up to make the same checks as the grading engine on the same submissions.

nbgrader as it is executes each notebook in a kernel, in which the hidden checks run beside the
student's code. otter-grader does the same, and takes one submission a call. Both read the module
from the folder of the submission; the notebook only asks for the checks.
"""

import json
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
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
OTTER = ROOT / "build" / "otter"  # an environment of its own: its pins are not ours

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


# otter-grader -------------------------------------------------------------------------------------

_TESTS = """
from otter.test_files import test_case

OK_FORMAT = False
name = {name!r}
points = {points!r}
"""
_TEST = """

@test_case()
def {name}(env):
    assert env["checks"].passes({exercise!r}, {test!r})
"""


def otter() -> Path:
    """otter's command, in an environment that is made when it is first needed."""
    program = OTTER / "bin" / "otter"
    stamp, pins = OTTER / "pins.txt", ROOT / "requirements" / "otter.txt"
    if not stamp.is_file() or stamp.read_text() != pins.read_text():
        print("Installing otter-grader into build/otter.", flush=True)
        run([sys.executable, "-m", "venv", "--clear", str(OTTER)], ROOT)
        run([str(OTTER / "bin" / "pip"), "install", "-q", "-r", str(pins)], ROOT)
        shutil.copy(pins, stamp)
    return program


def otter_folder(folder: Path, lesson: Lesson, jobs: Sequence[Job]) -> None:
    """otter's archive with the tests, and an archive for each submission."""
    write_assignment(folder / "assignment", lesson)
    content = pickle.loads((folder / "assignment" / same_checks.ANSWERS).read_bytes())
    tests = folder / "tests"
    tests.mkdir()
    for exercise in lesson.graded:
        names = list(content["tests"][exercise.id])
        points = [exercise.points / len(names)] * len(names)
        text = _TESTS.format(name=exercise.id, points=points)
        for number, test in enumerate(names):
            text += _TEST.format(name=f"test_{number}", exercise=exercise.id, test=test)
        (tests / f"{exercise.id.replace('.', '-')}.py").write_text(text, encoding="utf-8")
    flags = ["--no-config", "--no-requirements", "--no-environment"]
    run([str(otter()), "generate", "-t", "tests", *flags], folder)
    for student, source in jobs:
        _zip(folder / f"{student}.zip", folder / "assignment", {lesson.module: source})


def _zip(archive: Path, tree: Path, overlay: dict[str, str]) -> None:
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(p for p in tree.rglob("*") if p.is_file()):
            name = path.relative_to(tree).as_posix()
            if name in overlay:
                file.writestr(name, overlay[name])
            else:
                file.write(path, name)


def otter_command(folder: Path, student: str) -> list[str]:
    places = ["-a", "autograder.zip", "-o", f"results/{student}"]
    (folder / "results" / student).mkdir(parents=True)
    return [str(otter()), "run", *places, "--no-logo", f"{student}.zip"]


def otter_scores(folder: Path) -> dict[str, float]:
    """The scores in the results that `otter run` has written."""
    found = {}
    for path in folder.glob("results/*/results.json"):
        tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
        found[path.parent.name] = sum(test.get("score", 0.0) for test in tests)
    return found


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
