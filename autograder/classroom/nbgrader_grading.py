"""What runs inside nbgrader: the intake before `autograde`, and the grading in place of `Execute`.

`nbgrader_config.py` of a course directory calls `configure`. From then on, however autograding is
started (command, formgrader or Python), this happens:

1. Intake. Of every submission only the lesson's module is taken, and the notebook is rebuilt from
   the release with the student's answers in its solution cells. The clean copies go to `intake/`;
   `submitted/` is only read, so that nothing that a student handed in is ever lost or changed.
2. Verdicts. The modules are graded in parallel, and each result is written to
   `results/<lesson>/<student>.json`. Modules that were graded before are not graded again.
3. nbgrader's own run, on the clean copies. Its step `Execute` is replaced by `WriteVerdicts`, which
   starts no kernel: it writes the message and the score of each exercise into its grade cell.
"""

import contextlib
import glob
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import api, utils
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from sqlalchemy import event
from traitlets import Integer, Unicode
from traitlets.config import Config

from autograder.classroom import intake, nbgrader_export
from autograder.grading import feedback, fingerprint, pool, results, submission, suite
from autograder.grading.result import Result, Test, Verdict
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.sandbox import isolation

INTAKE = "intake"
RESULTS = "results"
PROGRAMS = "programs"


def configure(config: Config) -> None:
    """Set nbgrader up for grading lessons; everything else stays as nbgrader has it."""
    steps = Autograde.class_traits()["autograde_preprocessors"].default()
    steps = [WriteVerdicts if step is Execute else step for step in steps]
    config.Autograde.autograde_preprocessors = [f"{s.__module__}.{s.__name__}" for s in steps]
    # nbgrader puts the files of source/ over the submitted ones, but for those named here.
    config.Autograde.exclude_overwriting = {x.id: [x.module] for x in manifest.load().values()}
    config.HTMLExporter.sanitize_html = True
    config.ExportApp.plugin_class = f"{nbgrader_export.__name__}.{nbgrader_export.Table.__name__}"
    os.umask(0o077)  # gradebook, submissions and results are for the instructor's eyes
    Autograde.start = _start
    # These read what a student handed in, too; nbgrader's own stop at a file that is no time.
    CourseDirectory.get_existing_timestamp = lambda self, folder: submitted_at(Path(folder), [])
    NbGraderAPI.get_submitted_timestamp = _submitted_at
    # formgrader's pages take a name of the class list for HTML.
    for column in (api.Student.first_name, api.Student.last_name):
        if not event.contains(column, "set", _without_tags):
            event.listen(column, "set", _without_tags, retval=True)
    # nbgrader calls alembic by its name to make a gradebook; the .venv need not be activated.
    commands = str(Path(sys.executable).parent)
    if commands not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = commands + os.pathsep + os.environ["PATH"]


def _without_tags(student: api.Student, name: str | None, *_: object) -> str | None:
    """A name as it goes into the gradebook: with other brackets instead of those of tags."""
    return name and name.replace("<", "\u2039").replace(">", "\u203a")


def _submitted_at(grader: NbGraderAPI, assignment: str, student: str) -> datetime | None:
    course = grader.coursedir
    return submitted_at(
        Path(course.format_path(course.submitted_directory, student, assignment)), []
    )


# ------------------------------------------------------------------------------------------
# Before nbgrader's own run


def _start(converter: Autograde) -> None:
    """Run `nbgrader autograde`: intake and verdicts first, then nbgrader on the clean copies.

    This takes the place of `Autograde.start`. A pre_convert_hook would come too late: nbgrader has
    then looked for notebooks already, and dropped the submissions without one.
    """
    course = converter.coursedir
    lesson = manifest.load().get(course.assignment_id)
    if lesson is None or not lesson.exercises:
        names = ", ".join(x.id for x in manifest.load().values() if x.exercises)
        _fail(converter, f"{course.assignment_id!r} is no lesson. Give one of: {names}.")
    try:
        with results.locked(_cache(course, lesson)):
            _grade(converter, lesson)
    except (Problem, suite.SuiteError) as error:
        _fail(converter, str(error))
    except KeyboardInterrupt:
        _fail(converter, f"Stopped. What is graded is kept. {_GO_ON}")
    except OSError as error:
        _fail(converter, f"Stopped by the system ({error}). Set that right. {_GO_ON}")


_GO_ON = "Run the same command again to go on."


def _grade(converter: Autograde, lesson: Lesson) -> None:
    course = converter.coursedir
    taken = list(_take_in(converter, lesson))
    WriteVerdicts(parent=converter).grade(lesson, taken)
    for student, source, _ in taken:
        folder = Path(course.format_path(course.autograded_directory, student, lesson.id))
        _drop_half_done(folder)
        _drop_changed(folder, lesson, source)
        _drop_answered_anew(folder, Path(course.format_path(INTAKE, student, lesson.id)))
    submitted, course.submitted_directory = course.submitted_directory, INTAKE
    try:
        BaseConverter.start(converter)
    finally:
        course.submitted_directory = submitted


def _drop_half_done(folder: Path) -> None:
    """Remove what an earlier run was writing when it was killed: nbgrader would take it as done.

    A notebook gets its outputs when its scores are in the gradebook.
    """
    if not folder.exists():
        return
    try:
        notebook = nbformat.from_dict(json.loads((folder / f"{folder.name}.ipynb").read_bytes()))
        done = all(cell.outputs for cell in notebook.cells if _is_ours(cell))
    except (OSError, ValueError, AttributeError):
        done = False
    if not done:
        shutil.rmtree(folder)


def _drop_changed(folder: Path, lesson: Lesson, source: bytes | None) -> None:
    """Remove what was graded of another module: without two timestamps nbgrader would keep it."""
    module = folder / lesson.module
    graded = module.read_bytes() if module.is_file() else None
    if folder.exists() and graded != source:
        shutil.rmtree(folder)


def _drop_answered_anew(folder: Path, clean: Path) -> None:
    """Remove what has other written answers than the clean copy, such as one of an older intake."""
    name = f"{folder.name}.ipynb"
    if folder.exists() and _written(folder / name) != _written(clean / name):
        shutil.rmtree(folder)


def _written(notebook: Path) -> list[str]:
    cells = nbformat.from_dict(json.loads(notebook.read_bytes())).cells
    return ["".join(cell.source) for cell in cells if utils.is_solution(cell)]


def _fail(converter: Autograde, message: str) -> NoReturn:
    converter.log.error(message)
    raise NbGraderException(message)


Taken = tuple[str, bytes | None, str]  # student, module, reason why there is no module


def _take_in(converter: Autograde, lesson: Lesson) -> Iterator[Taken]:
    """Copy what is wanted of every submission that was asked for to `intake/`."""
    course = converter.coursedir
    release = _read_release(course, lesson)
    for student, folder in _submitted(converter, lesson):
        root = Path(course.root)
        inside = list(folder.relative_to(root).parts)
        source, reason = intake.take_module(root, inside, lesson)
        if reason == intake.VANISHED:
            converter.log.warning("Skipped: %s. %s", student, reason)
            continue
        answers = intake.take_answers(root, [*inside, f"{lesson.id}.ipynb"])
        clean = Path(course.format_path(INTAKE, student, lesson.id))
        if clean.exists():
            shutil.rmtree(clean)
        _write(clean / f"{lesson.id}.ipynb", _dump(intake.rebuild_notebook(release, answers)))
        _write(clean / lesson.module, source)
        _write(clean / "timestamp.txt", _timestamp(root, inside))
        _write(clean / _SECRET, _secret(root, inside))
        yield student, source, reason


def _read_release(course: CourseDirectory, lesson: Lesson) -> dict[str, Any]:
    path = Path(course.format_path(course.release_directory, ".", lesson.id)) / f"{lesson.id}.ipynb"
    if not path.is_file():
        raise Problem(
            f"{lesson.id} was not released. Run `nbgrader generate_assignment {lesson.id}` first."
        )
    return json.loads(path.read_text(encoding="utf-8"))


def _submitted(converter: Autograde, lesson: Lesson) -> Iterator[tuple[str, Path]]:
    """The students and folders that nbgrader would grade, but for names that would stop it."""
    course = converter.coursedir
    step = course.submitted_directory
    pattern = re.compile(course.format_path(step, "(?P<student>.*)", lesson.id, escape=True))
    wanted = course.format_path(step, course.student_id, lesson.id)
    for path in sorted(glob.glob(wanted)):  # noqa: PTH207 (nbgrader's own way, absolute)
        match = pattern.fullmatch(path)
        student = match["student"] if match else ""
        if not results.is_file_name(student):
            converter.log.warning("Skipped: %a cannot be a student's name. Rename it.", path)
        elif student not in course.student_id_exclude.split(","):
            yield student, Path(path)


def _timestamp(root: Path, inside: list[str]) -> bytes | None:
    """The time of submission, if the student's folder has one; in our words, not in the student's.

    What nbgrader reads of it is then a date whatever the file held.
    """
    when = submitted_at(root, inside)
    return f"{when:%Y-%m-%d %H:%M:%S.%f} UTC\n".encode() if when else None


def submitted_at(root: Path, inside: list[str]) -> datetime | None:
    """The time in the `timestamp.txt` of a folder; None if it has none that can be a time."""
    try:
        text = intake.read(root, [*inside, "timestamp.txt"], 200, "timestamp.txt").decode().strip()
        when = utils.parse_utc(text) if _DATE.match(text) else None
    except Exception:
        return None
    return when if when and 2000 <= when.year < 2200 else None


_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")  # else today's date would fill the gaps


_SECRET = "submission_secret.txt"


def _secret(root: Path, inside: list[str]) -> bytes | None:
    """What `nbgrader submit` has drawn; the exchange hides the feedback under a hash of it."""
    try:
        text = intake.read(root, [*inside, _SECRET], 200, _SECRET)
    except Exception:
        return None
    return text if re.fullmatch(rb"[0-9a-f]+", text) else None


def _write(path: Path, content: bytes | None) -> None:
    if content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _dump(document: Any) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


# ------------------------------------------------------------------------------------------
# Verdicts


class WriteVerdicts(NbGraderPreprocessor):
    """Stands in nbgrader's list of autograde steps where `Execute` stood."""

    jobs = Integer(0, help="Submissions graded at once; 0: one for each processor.").tag(
        config=True
    )
    seed = Integer(0, help="Seed of the generated tests; the same seed, the same grades.").tag(
        config=True
    )
    isolation = Unicode("", help="The isolation to use; empty: the best that works here.").tag(
        config=True
    )

    def grade(self, lesson: Lesson, taken: list[Taken]) -> None:
        """Grade submissions, several at once, and write their results to the course directory."""
        course = self.parent.coursedir
        level = isolation.choose(self.isolation or None)
        mark = fingerprint.fingerprint(lesson, level, self.seed)
        keys = {student: _key(mark, source) for student, source, _ in taken}
        verdicts = self._recall(_cache(course, lesson), set(keys.values()))
        new = {keys[student]: source for student, source, _ in taken}
        todo = [(key, source) for key, source in new.items() if key not in verdicts]
        self.log.info("Grading %s of %s submissions of %s", len(todo), len(taken), lesson.id)
        with contextlib.closing(self._graded(course, lesson, todo)) as made:
            for done, verdict in enumerate(made, start=1):
                verdicts[verdict["student"]] = verdict
                results.write(verdict, _cache(course, lesson))
                self.log.info("Graded %s of %s", done, len(todo))
        for student, _, reason in taken:
            own: Result = {**verdicts[keys[student]], "student": student}
            results.write(_with_reason(own, reason), _results(course, lesson.id))

    def _graded(
        self, course: CourseDirectory, lesson: Lesson, todo: list[pool.Job]
    ) -> pool.Results:
        """The results; in place of a student they name the key of the module.

        Generated programs stay in the course directory, so that grades repeat.
        """
        jobs, level = self.jobs or os.cpu_count() or 1, self.isolation or None
        options: dict[str, Any] = {"seed": self.seed, "kept": Path(course.root) / PROGRAMS}
        return pool.grade_many(todo, lesson, workers=jobs, level=level, **options)

    def _recall(self, cache: Path, keys: set[str]) -> dict[str, Result]:
        """The verdicts of earlier runs; `autograde --force` grades everything anew."""
        if self.parent.force:
            return {}
        return {key: verdict for key in keys if (verdict := _remembered(cache, key))}

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Write message and score of every exercise into its grade cell."""
        about = resources["nbgrader"]
        course = self.parent.parent.coursedir
        result = results.read(_results(course, about["assignment"]) / f"{about['student']}.json")
        verdicts = {x["id"].replace(".", "-"): x for x in result["exercises"]}
        for cell in nb.cells:
            if cell.cell_type != "code":
                continue
            cell.outputs, cell.execution_count = [], None
            if _is_ours(cell):
                name = cell.metadata.nbgrader["grade_id"]
                if name not in verdicts:
                    # nbgrader gives full points to a cell without output.
                    raise Problem(f"There is no verdict for the grade cell {name!r}.")
                fill(cell, verdicts[name], result["remarks"])
        return nb, resources


def _key(mark: str, source: bytes | None) -> str:
    content = b"missing" if source is None else b"present" + source
    return hashlib.sha256(mark.encode() + b"\0" + content).hexdigest()


def _cache(course: CourseDirectory, lesson: Lesson) -> Path:
    return Path(course.root) / ".jaxprentice" / "verdicts" / lesson.id


def _remembered(cache: Path, key: str) -> Result | None:
    try:
        verdict = results.read(cache / f"{key}.json")
    except Problem:  # there is none, or it is of an older form
        return None
    return verdict if submission.is_graded(verdict) else None


def _with_reason(result: Result, reason: str) -> Result:
    """The result of a module that was refused, with the reason in place of "missing"."""
    if not reason:
        return result
    exercises = [_refused(exercise, reason) for exercise in result["exercises"]]
    return {**result, "remarks": [reason], "exercises": exercises}


def _refused(verdict: Verdict, reason: str) -> Verdict:
    tests: list[Test] = [{**test, "message": reason} for test in verdict["tests"]]
    return {**verdict, "message": reason, "tests": tests}


def _results(course: CourseDirectory, lesson: str) -> Path:
    return Path(course.root) / RESULTS / lesson


# ------------------------------------------------------------------------------------------
# Grade cells


def _is_ours(cell: NotebookNode) -> bool:
    """Is this a cell whose score comes from a verdict? A person grades the others."""
    return cell.cell_type == "code" and utils.is_grade(cell) and not utils.is_solution(cell)


def fill(cell: NotebookNode, verdict: Verdict, remarks: list[str]) -> None:
    """Put a verdict into a grade cell, in the form that nbgrader turns into points.

    nbgrader takes the number from the first execute_result. Output on stderr would give 0.
    """
    maximum = float(cell.metadata.nbgrader["points"])
    score = points(verdict, maximum)
    text = f"{score:.10g} of {maximum:.10g} points: {feedback.message(verdict, remarks)}"
    cell.execution_count = 1
    cell.outputs = [
        new_output("stream", name="stdout", text=text + "\n"),
        new_output("execute_result", data={"text/plain": f"{score:.10g}"}, execution_count=1),
    ]


def points(verdict: Verdict, maximum: float) -> float:
    """The score on a grade cell of `maximum` points, which the instructor may have changed."""
    share = verdict["points"] / verdict["max_points"]
    return min(max(round(maximum * share, 2), 0.0), maximum)
