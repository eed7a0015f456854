"""Writes a course directory for nbgrader, in which nbgrader's own commands do the rest.

    source/<assignment>/  notebooks, visible checks, and the package with the skeletons
    course.toml           what the course makes of the lessons
    nbgrader_config.py    switches safe grading on; the instructor's settings

Nothing hidden is in it: suites and reference stay in the repository.
"""

import contextlib
import filecmp
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.classroom.course import notebooks, people
from autograder.classroom.course import settings as courses
from autograder.classroom.course.settings import Assignment, Course
from autograder.classroom.intake.files import INTAKE
from autograder.grading import result_files
from autograder.lessons import assemble, examples, manifest, user_files
from autograder.lessons.places import ROOT
from autograder.lessons.problem import Problem
from autograder.student import checks, contents

_CONFIG = '''\
"""The settings of this course directory, read by every nbgrader command that runs in it."""

import sys

REPOSITORY = {repository!r}  # where Jaxprentice lies; change it here when you move it

sys.path.insert(0, REPOSITORY)
try:
    from autograder.classroom.nbgrader import autograde

    c = get_config()  # noqa: F821
    autograde.configure(c, __file__)
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


def init(folder: Path, seed: int | None = None, lessons: Sequence[str] = ()) -> list[str]:
    """Write a course directory at `folder`, new or empty; the names of its assignments.

    It has an assignment for each of these lessons, or for all with exercises if none is named.
    """
    folder = folder.absolute()
    if user_files.is_there(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise Problem(f"{folder} exists and is not empty. Give a new folder for the course.")
    chosen = [manifest.get(name) for name in dict.fromkeys(lessons)]
    for lesson in chosen:
        if not lesson.exercises:
            raise Problem(f"{lesson.id} has no exercises to grade. Leave it out.")
    chosen = chosen or [x for x in manifest.load().values() if x.exercises]
    folder.parent.mkdir(parents=True, exist_ok=True)
    # All or nothing: written beside the goal, then moved there.
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        result_files.write_text(new / courses.FILE, courses.text(chosen))
        examples.prepare(chosen)
        made = list(courses.read(new).assignments.values())
        for assignment in made:
            write_source(new / "source" / assignment.name, assignment)
        _write_config(new, secrets.randbelow(2**31) if seed is None else seed)
        if folder.exists():  # an empty folder stays the one it is: a shell may be open in it
            for part in sorted(new.iterdir(), reverse=True):
                part.rename(folder / part.name)
        else:
            new.rename(folder)
        folder.chmod(0o700)  # whatever it was: grades and submissions will lie in it
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return [assignment.name for assignment in made]


def write_source(
    folder: Path, assignment: Assignment, books: Mapping[str, str] | None = None
) -> None:
    """Write the instructor's version of an assignment, which is the student's version too.

    `books` are the files of its notebooks, if they should not be nbgrader's.
    """
    lessons = assignment.lessons
    needed = {part.id for lesson in lessons for part in manifest.needed(lesson)}
    parts = [part for part in manifest.load().values() if part.id in needed]
    own = {lesson.module: assemble.released(lesson) for lesson in lessons}
    folder.mkdir(parents=True, exist_ok=True)
    assemble.write_files(folder, {**assemble.files_of(parts, own), **own})
    for lesson in lessons:
        shutil.copy(lesson.folder / "checks.py", folder / notebooks.checks_name(lesson, assignment))
        if lesson.id in assignment.open:
            for part in assignment.open_tasks(lesson):
                assemble.write_files(folder, contents.task_files(part))
    shutil.copy(checks.PLUGIN, folder / "conftest.py")
    for helper in checks.HELPERS:
        shutil.copy(helper, folder / helper.name)
    for name, text in (books or notebooks.texts(assignment)).items():
        (folder / name).write_text(text, encoding="utf-8")


def _write_config(folder: Path, seed: int) -> None:
    text = _CONFIG.format(repository=str(ROOT), seed=seed)
    result_files.write_text(folder / "nbgrader_config.py", text)  # the seed is not for students


# ------------------------------------------------------------------------------------------
# Bringing a directory up to date


def course_of(folder: Path) -> Course:
    """The course of a directory, which must be nbgrader's as well."""
    if not (folder / "nbgrader_config.py").exists():
        raise Problem(f"{folder} is not a course directory. Go into one, or name it by --course.")
    return courses.read(folder)


def update(folder: Path, names: Sequence[str] = ()) -> list[str]:
    """Renew what students get of these assignments or lessons, all for none; what was changed.

    Submissions and grades stay. An assignment that was released is released again.
    """
    folder = folder.absolute()
    changed = []
    for assignment in course_of(folder).chosen(names):
        source = folder / "source" / assignment.name
        with tempfile.TemporaryDirectory(prefix=".update-", dir=folder) as name:
            new = Path(name, assignment.name)
            write_source(new, assignment)
            if _same(new, source):
                continue
            released = (folder / "release" / assignment.name).exists()
            if released:
                _check_cells(folder, assignment)
            if source.exists():
                source.rename(Path(name, "old"))
            source.parent.mkdir(exist_ok=True)
            new.rename(source)
        if released:
            run(folder, "generate_assignment", assignment.name, "--force")
        changed.append(assignment.name)
    return changed


def waiting(folder: Path, names: Sequence[str] = ()) -> Iterator[str]:
    """What waits for `nbgrader autograde` in these assignments or lessons, a sentence each."""
    from autograder.classroom.nbgrader import regrading, verdicts

    folder = folder.absolute()
    for assignment in courses.read(folder).chosen(names):
        name = assignment.name
        if not (folder / "release" / name).exists():
            # As after an assignment was taken out and written back.
            if there := sorted(x.parent.name for x in (folder / "submitted").glob(f"*/{name}")):
                yield (
                    f"{name} is not released, and these have submitted: {people.named(there)}. "
                    f"Run `nbgrader generate_assignment {name}`, then `nbgrader autograde {name}`."
                )
            continue
        due = verdicts.due(folder, assignment)
        command = f"`nbgrader autograde {name}`"
        if new := [student for student, why in due.items() if not why]:
            yield f"{command} has not graded yet: {people.named(new)}."
        reasons = sorted({reason for why in due.values() for reason in why})
        if again := [student for student, why in due.items() if why]:
            yield f"{command} will grade again: {people.named(again)} ({', '.join(reasons)})."
        old = regrading.of_other_points(folder, assignment)
        if gone := [student for student, is_there in old.items() if not is_there]:
            yield (
                f"{name}: the grades of {people.named(gone)} are of other points, and "
                "cannot be made again: nothing of theirs is in submitted/."
            )


def taken_out(folder: Path) -> dict[str, str]:
    """The assignments that are here and not in course.toml any more, with a sentence for each."""
    from autograder.classroom.nbgrader import gradebook

    places = [folder / "source", folder / "release"]
    inside = [path for place in places if place.is_dir() for path in place.iterdir()]
    found = {x.name for x in inside if x.is_dir() and not x.name.startswith(".")}
    graded: dict[str, int] = {}
    if user_files.is_there(folder / gradebook.FILE):
        with gradebook.opened(folder) as book:
            graded = {x.name: len(x.submissions) for x in book.assignments}
    gone = sorted((found | graded.keys()) - courses.read(folder).assignments.keys())
    return {name: _about_gone(name, name in found, graded.get(name)) for name in gone}


def _about_gone(name: str, has_files: bool, submissions: int | None) -> str:
    """What is left of an assignment that is not in course.toml any more, and what to do."""
    listed = f"in the gradebook with {submissions} submissions, so `nbgrader export` lists it"
    left = [*(["in source/"] if has_files else []), *([listed] if submissions is not None else [])]
    return (
        f"{name} is no longer in {courses.FILE}, but {' and '.join(left)}. Write it into "
        f"{courses.FILE} again, or let `nbgrader update` remove it, which asks on a terminal."
    )


def remove(folder: Path, name: str) -> str:
    """Remove an assignment, its grades and all that was made from them; what is to be said."""
    from autograder.classroom.nbgrader import gradebook, regrading

    made = [folder / place / name for place in ("source", "release", "results", regrading.FOLDER)]
    for place in ("autograded", INTAKE, "feedback"):
        made += (folder / place).glob(f"*/{name}")
    for path in made:
        shutil.rmtree(path, ignore_errors=True)
    if user_files.is_there(folder / gradebook.FILE):
        with gradebook.opened(folder) as book, contextlib.suppress(gradebook.MissingEntry):
            book.remove_assignment(name)
    return (
        f"{name}, its grades, results and feedback are removed. The submissions are still in "
        "submitted/."
    )


def renew_feedback(folder: Path, name: str) -> Iterator[str]:
    """Make the feedback pages again that are older than the grades; what is to be said."""
    from autograder.classroom.nbgrader import outgoing

    folder = folder.absolute()
    assignment = courses.find(folder, name).name
    if students := outgoing.outdated(folder, assignment, missing=True):
        run(folder, "generate_feedback", assignment)
        yield (
            f"The feedback pages of {people.named(students)} were missing or older than the "
            "grades: they are made now."
        )
    yield from waiting(folder, [assignment])


def _same(one: Path, two: Path) -> bool:
    """Do two folders hold the same files?"""
    files = [{x.relative_to(top) for x in top.rglob("*") if x.is_file()} for top in (one, two)]
    if files[0] != files[1]:
        return False
    return not any(filecmp.cmpfiles(one, two, [str(x) for x in files[0]], shallow=False)[1:])


def _check_cells(folder: Path, assignment: Assignment) -> None:
    """Refuse what the gradebook cannot take: other grade cells while there are submissions."""
    from autograder.classroom.nbgrader import gradebook

    with gradebook.opened(folder) as book:
        known = gradebook.cells(book, assignment.name)
    wanted = {
        lesson.id: {
            *assignment.cells(lesson),
            *(courses.cell_name(e.id) + notebooks.CODE for e in lesson.exercises),
        }
        for lesson in assignment.lessons
    }
    if known and known != wanted:
        pairs = [known.get(x, set()) ^ wanted.get(x, set()) for x in {*known, *wanted}]
        odd = ", ".join(sorted(set().union(*pairs)))
        raise Problem(
            f"{assignment.name} has submissions, so nbgrader cannot add or remove what is graded: "
            f"{odd}. Take the change back, or make it a new assignment in {courses.FILE}."
        )


def run(folder: Path, *arguments: str) -> None:
    """Run one of nbgrader's commands in a course directory."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        end = "".join(done.stderr.splitlines(keepends=True)[-3:]).strip()
        raise Problem(f"`nbgrader {' '.join(arguments)}` failed. It ends with: {end}")
