"""The handout of a lesson: what a class gets, as a folder and as a ZIP archive.

A handout is a workspace that brings the command along. In `tool/` lie the students' part of this
package, and of the course the manifests, checks and reference that the lesson stands on. So it
works where nothing of this repository is, with the students' requirements alone. Before it is put
into place, everything in it is searched for what must not get out (see `leaks`).
"""

import json
import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.classroom.course.settings import Assignment
from autograder.classroom.handouts import leaks
from autograder.classroom.nbgrader import directory
from autograder.lessons import assemble, manifest, notebook, packing, places, stepper, tasks
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.student import contents, workspace

# The part of this package that the students' commands are made of: modules by room.
ROOMS = {
    "": "__init__ __main__",
    "cli": "__init__ command instructors maintainers students",
    "grading": "__init__ random_programs random_steps random_trees words",
    "lessons": (
        "__init__ assemble browser_names drawing layered manifest module_rules nothing places "
        "problem said skeleton stepper tasks user_files"
    ),
    "lessons/stage": "__init__ backward items",
    "recording": " ".join(sorted(x.stem for x in (places.PACKAGE / "recording").glob("*.py"))),
    "student": (
        "__init__ cache capstone check_plugin checking checks commands doctor ending ending_page "
        "example_checks explain extras from_nothing keys latest lending names programs progress "
        "run_program screen table updating watching ways workspace"
    ),
}
MODULES = [Path(room, f"{name}.py") for room, names in ROOMS.items() for name in names.split()]
SHOWING = (*stepper.STYLES, *stepper.SCRIPTS)  # of the site: what `trace --html` needs
HIDDEN_TESTS = "hidden_tests.json"  # how many grade each exercise: what `check` says of them

README = """\
# {title}

Everything that you need for the lesson `{id}` is in this folder. Read `lessons/{folder}/lesson.md`,
or open `{id}.ipynb` in Jupyter, which has the same text with code to run. Write the functions that
it asks for in `{module}`, and check whether they are right:

    ./jaxprentice check              check this lesson
    ./jaxprentice watch              the same, again each time you save a file
    ./jaxprentice hint               a hint for the next exercise, then a better one
    ./jaxprentice trace FILE         see what a program does inside your own interpreters
    ./jaxprentice {reset:18} begin again (your file is kept)

On Windows, write `python jaxprentice ...`. The first call installs Python packages in `tool/.venv`
(0.6 GB); the next handout reuses what it has downloaded.

**Submit the file `{module}`**, and nothing else; only this file is graded.

The other modules in `{package}/` are the course's. You may replace them with your own work from
earlier lessons: `./jaxprentice check --mine` then checks this lesson with it. At the end of the
course, your modules train a transformer and read handwriting: that is the handout `capstone`.

`glossary.md` explains the words that the lessons use.
"""


SCRIPTS = """\
# {title}

There is nothing to write here: you run what you have built. Put your own modules from the lessons
into `{package}/`, over the course's, and train on them:

    ./jaxprentice check {id}    are the losses what they should be?
    ./jaxprentice doctor            which Python runs the commands

Then read `lessons/{folder}/lesson.md`, which says how to run each program by itself, how to compare
it with JAX, and what to do if it goes wrong. `{own}` is a place for a program of your own.
"""


@dataclass(frozen=True)
class Handout:
    """A handout for students: its folder, the archive of that, and what is in it."""

    folder: Path
    archive: Path
    files: int
    publishes: list[str]  # the lessons whose solutions are in it


def release(lesson: Lesson, out: Path) -> Handout:
    """Write `out/<lesson>` and `out/<lesson>.zip`: both whole, or none."""
    folder, archive = out / lesson.id, out / f"{lesson.id}.zip"
    for path in (folder, archive):
        if path.exists():
            raise Problem(f"{path} exists. Remove it, or give another folder as --out.")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{lesson.id}-", dir=out) as name:
        new = Path(name, lesson.id)
        fill(new, lesson)
        _refuse_leaks(new, lesson)
        files = _pack(new, new.with_suffix(".zip"))
        new.with_suffix(".zip").replace(archive)
        new.replace(folder)
    before = manifest.needed(lesson)[:-1]
    return Handout(folder, archive, files, [part.id for part in before if part.exercises])


def archive(lesson: Lesson, folder: Path) -> bytes:
    """The ZIP archive that `release` writes, made in a folder: the site offers it.

    It is not searched here, which takes seconds: a test sees that each lesson can be released.
    """
    fill(folder / lesson.id, lesson)
    packed = folder / f"{lesson.id}.zip"
    _pack(folder / lesson.id, packed)
    return packed.read_bytes()


def _refuse_leaks(folder: Path, lesson: Lesson) -> None:
    found = sorted({f"{what} in {path}" for what, path in leaks.find(folder, lesson)})
    if found:
        more = f" There are {len(found) - 1} more." if len(found) > 1 else ""
        raise Problem(
            f"The handout of {lesson.id} would give away {found[0]}.{more} Nothing was written. "
            "Take it out of the lesson's files, then release again."
        )


def _pack(folder: Path, archive: Path) -> int:
    """Write an archive that unpacks to this folder; how many files it holds."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    files = {path.relative_to(folder.parent).as_posix(): path.read_bytes() for path in found}
    programs = [path for path in files if path.endswith("/jaxprentice")]
    archive.write_bytes(packing.packed(files.items(), programs))
    return len(files)


# ------------------------------------------------------------------------------------------
# What is in it


def fill(folder: Path, lesson: Lesson) -> None:
    """Write everything that a handout holds."""
    if lesson.exercises:  # package, notebook, and the checks that it runs
        books = {f"{lesson.id}.ipynb": notebook.text(lesson)}
        directory.write_source(folder, Assignment(lesson.id, (lesson,)), books)
    else:
        assemble.write_files(folder, assemble.tree(lesson))
    files = {"README.md": _readme(lesson), **contents.page("glossary.md"), **contents.extension()}
    for part in {part.id: part for part in (lesson, *_to_run(lesson))}.values():
        files |= {**contents.reading(part), **workspace.scripts(part)}
    assemble.write_files(folder, {**files, **contents.task_files(lesson)})
    workspace.add_launcher(folder, "tool", lesson.id, lesson.way)
    _add_tool(folder / "tool")
    _add_course(folder / "tool", lesson)
    _mark_given_lessons_done(folder, lesson)


def _readme(lesson: Lesson) -> str:
    facts = {"title": lesson.title, "id": lesson.id, "folder": lesson.folder.name}
    facts["reset"] = f"reset {lesson.id}"
    if lesson.exercises:
        return README.format(**facts, module=lesson.module, package=lesson.package)
    package = manifest.get(lesson.requires[0]).package
    own = next(script for script in lesson.scripts if script.endswith("/own.py"))
    return SCRIPTS.format(**facts, package=package, own=own)


def _to_run(lesson: Lesson) -> list[Lesson]:
    """The lessons of scripts that need no more than the package of this handout."""
    ready = {part.id for part in manifest.needed(lesson)}
    known = manifest.load().values()
    return [part for part in known if part.scripts and ready.issuperset(part.requires)]


def _add_tool(tool: Path) -> None:
    """The wrapper, what it installs, and the students' commands."""
    pins = [f"requirements/{name}.txt" for name in ("student", "lock", "uv", "without")]
    for file in ("jaxprentice", "LICENSE", *pins):
        _copy(places.ROOT / file, tool / file)
    for name in SHOWING:
        _copy(places.SITE / name, tool / "site" / name)
    for module in MODULES:
        _copy(places.PACKAGE / module, tool / "autograder" / module)


def _add_course(tool: Path, lesson: Lesson) -> None:
    """Manifests, checks and reference of what the lesson needs; of its module the skeleton."""
    for part in manifest.needed(lesson):
        lesson_folder = tool / "course" / "lessons" / part.folder.name
        _add_manifest(part if part.id != lesson.id else lesson, lesson_folder)
        for name in _checked_by(part):
            _copy(part.folder / name, lesson_folder / name)
        for file in part.files:
            if file != lesson.module:
                _write(tool / "solutions" / file, assemble.read_solution(file))
    for part in _to_run(lesson):
        assemble.write_files(tool / "course", workspace.scripts(part))
        _copy(
            part.folder / "lesson.toml", tool / "course/lessons" / part.folder.name / "lesson.toml"
        )
    if lesson.exercises:
        _write(tool / "course" / lesson.module, assemble.released(lesson))
    if (places.COURSE / HIDDEN_TESTS).exists():
        _copy(places.COURSE / HIDDEN_TESTS, tool / "course" / HIDDEN_TESTS)


def _add_manifest(lesson: Lesson, folder: Path) -> None:
    """The manifest of a lesson, with the points and hints that a course gives it."""
    source = lesson.folder / "lesson.toml"
    if lesson == manifest.load().get(lesson.id):
        _copy(source, folder / "lesson.toml")
        return
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    own = {exercise.id: exercise for exercise in lesson.exercises}
    for raw in table["exercise"]:
        exercise = own[raw["id"]]
        raw["points"] = exercise.points or raw["points"]  # what is given has no points to show
        raw["hints"] = [*exercise.hints, *[WITHHELD] * (3 - len(exercise.hints))]
    if lesson.whole:
        table["whole"] = lesson.whole.points
    exercises = "".join(f"\n[[exercise]]\n{_toml(raw)}" for raw in table.pop("exercise"))
    _write(folder / "lesson.toml", _toml(table) + exercises)


WITHHELD = "Your instructor keeps this hint back. Ask in class."


def _toml(table: Mapping[str, Any]) -> str:
    """A table of texts, numbers and lists of texts; JSON writes these as TOML does."""
    lines = (f"{key} = {json.dumps(x, ensure_ascii=False)}\n" for key, x in table.items())
    return "".join(lines)


def _checked_by(part: Lesson) -> list[str]:
    """The files by which a lesson's exercises and tasks are checked."""
    names = ["checks.py"] if part.exercises else []
    if tasks.exist(part):
        given = (tasks.open_task(part), tasks.repair(part), tasks.milestone(part))
        names += ["tasks.py", *(task.name for task in given)]
    return names


def _mark_given_lessons_done(folder: Path, lesson: Lesson) -> None:
    """Let `check` begin with this lesson: the ones before it are complete as they are given."""
    place = workspace.Workspace(folder, own=True)
    for part in manifest.needed(lesson)[:-1]:
        if part.exercises:
            done = [exercise.id for exercise in part.exercises]
            place.remember("checked", part.id, {"of": place.fingerprint(part), "done": done})


def _copy(file: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copy(file, to)
    except FileNotFoundError:
        raise Problem(f"{file} is missing. Get a complete copy of the course.") from None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
