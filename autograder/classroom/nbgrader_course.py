"""Writes a course directory for nbgrader, in which nbgrader's own commands do the rest.

    source/<lesson>/      notebook, visible checks, and the package with the lesson's skeleton
    nbgrader_config.py    switches safe grading on; the instructor's settings

Nothing hidden is in it: suites and reference stay in the repository.
"""

import json
import secrets
import shutil
import tempfile
from pathlib import Path

from autograder.grading import results
from autograder.lessons import assemble, manifest, notebook
from autograder.lessons.manifest import Lesson
from autograder.lessons.places import ROOT
from autograder.lessons.problem import Problem
from autograder.student import check_plugin, checks

_CONFIG = '''\
"""The settings of this course directory, read by every nbgrader command that runs in it."""

import sys

REPOSITORY = {repository!r}  # where Jaxprentice lies; change it here when you move it

sys.path.insert(0, REPOSITORY)
try:
    from autograder.classroom import nbgrader_grading

    c = get_config()  # noqa: F821
    nbgrader_grading.configure(c)
except Exception as error:
    # Without safe grading nbgrader would run the students' code itself, so nothing may run at all.
    raise SystemExit(
        f"Jaxprentice cannot be used from {{REPOSITORY}} ({{error}}). Set REPOSITORY in "
        "nbgrader_config.py, and use the nbgrader of its .venv."
    ) from None

c.CourseDirectory.course_id = "jaxprentice"

# Generated tests are drawn from this number: with the same one, grades repeat.
c.WriteVerdicts.seed = {seed}

# How many submissions are graded at once; 0 is one for each processor.
c.WriteVerdicts.jobs = 0
'''


def init(folder: Path, seed: int | None = None) -> list[str]:
    """Write a course directory at `folder`, new or empty; the ids of its assignments."""
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Problem(f"{folder} exists and is not empty. Give a new folder for the course.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # All or nothing: written beside the goal, then moved there.
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        assignments = [x for x in manifest.load().values() if x.exercises]
        for lesson, text in zip(assignments, notebook.texts(assignments), strict=True):
            write_source(new / "source" / lesson.id, lesson, text)
        _write_config(new, secrets.randbelow(2**31) if seed is None else seed)
        _move(new, folder)
        folder.chmod(0o700)  # whatever it was: grades and submissions will lie in it
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return [lesson.id for lesson in assignments]


def _move(new: Path, folder: Path) -> None:
    if not folder.exists():
        new.rename(folder)
        return
    # An empty folder stays the one it is: somebody's shell may stand in it.
    for part in sorted(new.iterdir(), reverse=True):
        part.rename(folder / part.name)


def write_source(folder: Path, lesson: Lesson, text: str) -> None:
    """Write the instructor's version of an assignment, which is the student's version too.

    `text` is that of its notebook.
    """
    _check_graded(lesson, text)
    given = assemble.files_of(manifest.needed(lesson), [lesson.module])
    assemble.write_files(folder, {**given, lesson.module: assemble.read_handout(lesson.module)})
    shutil.copy(lesson.folder / "checks.py", folder / "checks.py")
    shutil.copy(check_plugin.__file__, folder / "conftest.py")
    for helper in checks.HELPERS:
        shutil.copy(helper, folder / helper.name)
    (folder / f"{lesson.id}.ipynb").write_text(text, encoding="utf-8")


def _check_graded(lesson: Lesson, text: str) -> None:
    """Complain about an exercise that the page forgets: it would have no grade cell."""
    marks = [cell["metadata"].get("nbgrader", {}) for cell in json.loads(text)["cells"]]
    graded = {mark.get("grade_id") for mark in marks if mark.get("grade")}
    for exercise in lesson.exercises:
        if exercise.id.replace(".", "-") not in graded:
            line = f"{{{{ exercise {exercise.id} }}}}"
            raise Problem(f"{lesson.folder / 'lesson.md'} has no line `{line}`. Add it.")


def _write_config(folder: Path, seed: int) -> None:
    text = _CONFIG.format(repository=str(ROOT), seed=seed)
    results.write_text(folder / "nbgrader_config.py", text)  # the seed is not for students
