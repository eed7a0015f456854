"""The grading inside `nbgrader autograde`: intake, verdicts, and nbgrader's own run.

1. Intake: clean copies of the submissions, in `intake/` (see `submitted.py`).
2. Verdicts. The modules are graded in parallel, and each result is written to
   `results/<assignment>/<student>.json`. Modules that were graded before are not graded again, but
   whatever a grade was made from has changed (see `regrading`) is made again in the gradebook.
3. nbgrader's own run, on the clean copies. Its step `Execute` is replaced by `WriteVerdicts`, which
   starts no kernel: it writes the message and the score of each exercise into its grade cell.
"""

import contextlib
import functools
import hashlib
import logging
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Integer, Unicode
from traitlets.config import PyFileConfigLoader

from autograder.classroom.course import settings as courses
from autograder.classroom.course import variants
from autograder.classroom.course.settings import Assignment, Course
from autograder.classroom.intake.files import INTAKE
from autograder.classroom.nbgrader import gradebook, regrading, rubric, submitted, summary
from autograder.classroom.nbgrader.results import (
    last_level,
    of_notebook,
    read_results,
    results_folder,
)
from autograder.classroom.nbgrader.submitted import Submitted
from autograder.classroom.run.presenting import Submission
from autograder.classroom.run.run import equal, graded, is_known, recall
from autograder.grading import feedback, result_files, suite
from autograder.grading.result import Verdict
from autograder.grading.task import Edition, Task, Verdicts
from autograder.lessons import manifest, user_files
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem, of_system
from autograder.sandbox import isolation

PROGRAMS = "programs"
VERDICTS = Path(".jaxprentice", "verdicts")


def start(converter: Autograde) -> None:
    """Run `nbgrader autograde`: intake and verdicts first, then nbgrader on the clean copies.

    This takes the place of `Autograde.start`. A pre_convert_hook would come too late: nbgrader has
    then looked for notebooks already, and dropped the submissions without one.
    """
    folder = Path(converter.coursedir.root)
    try:
        course = courses.read(folder)
        assignment = course.get(converter.coursedir.assignment_id)
        with result_files.locked(folder / VERDICTS / assignment.name):
            _grade(converter, course, assignment)
    except (Problem, suite.SuiteError) as error:
        _fail(converter, str(error))
    except KeyboardInterrupt:
        _fail(converter, f"Stopped. What is graded is kept. {_GO_ON}")
    except OSError as error:
        _fail(converter, of_system(error))


_GO_ON = "Run the same command again to go on."


def _grade(converter: Autograde, course: Course, assignment: Assignment) -> None:
    directory = converter.coursedir
    folder = Path(directory.root)
    with gradebook.opened(folder) as book:
        gradebook.require(book, assignment.name)
        remarked = rubric.whose(book, folder, assignment)
        _say(converter, gradebook.follow(book, course))
        before = gradebook.penalties(book)
    release = submitted.read_release(folder / directory.release_directory, assignment)
    found = _found(converter, course, assignment)
    for each in found:
        submitted.copy(directory, assignment, release, each)
    step = WriteVerdicts(parent=converter)
    for lesson in assignment.lessons:
        step.grade(course, assignment, lesson, found)
    records = step.records(course, assignment, found, release)
    for student, record in records.items():
        _drop_changed(converter, assignment, student, record)
    try:
        _run_nbgrader(converter)
    finally:
        with gradebook.opened(folder) as book:
            rubric.score_again(book, folder, assignment, remarked)
    _keep_records(directory, assignment, records)
    times = {x.student: x.when for x in found}
    _finish(converter, course, assignment, times, before, list(records))


def _found(converter: Autograde, course: Course, assignment: Assignment) -> list[Submitted]:
    """The submissions that nbgrader was asked for; at least one."""
    directory = converter.coursedir
    found = list(submitted.found(directory, course, assignment, converter.log))
    if not found:
        by = f" by {directory.student_id}" if directory.student_id != "*" else ""
        raise Problem(
            f"There is no submission of {assignment.name}{by} in {directory.submitted_directory}/. "
            "Collect some: `jaxprentice collect`, or `nbgrader collect`."
        )
    return found


def _finish(
    converter: Autograde,
    course: Course,
    assignment: Assignment,
    times: dict[str, datetime | None],
    before: gradebook.Penalties,
    students: Sequence[str],
) -> None:
    """Bring penalties and groups into the gradebook, and show the table."""
    folder = Path(converter.coursedir.root)
    with gradebook.opened(folder) as book:
        gradebook.catch_up(book, assignment, times)
        _say(converter, gradebook.share(book, regrading.sources(folder)))
        _say(converter, gradebook.settle(book, course, before))
        results = {student: read_results(folder, assignment, student) for student in students}
        summary.show(
            [*summary.rows(book, folder, course, assignment.name, results)],
            summary.absent(folder, assignment.name),
        )


def _run_nbgrader(converter: Autograde) -> None:
    """Let nbgrader grade the clean copies."""
    directory = converter.coursedir
    usual, directory.submitted_directory = directory.submitted_directory, INTAKE
    try:
        BaseConverter.start(converter)
    finally:
        directory.submitted_directory = usual


def _keep_records(
    directory: CourseDirectory, assignment: Assignment, records: dict[str, regrading.Record]
) -> None:
    """Keep what grades were made from, where nbgrader has come to the end."""
    for student, record in records.items():
        graded = Path(directory.format_path("autograded", student, assignment.name))
        if _is_done(graded, assignment):
            regrading.write(Path(directory.root), assignment.name, student, record)


def due(folder: Path, assignment: Assignment) -> dict[str, list[str]]:
    """The students whom `nbgrader autograde` would grade now, and why again; [] for the first time.

    Raises Problem if the assignment was not released.
    """
    config = PyFileConfigLoader("nbgrader_config.py", str(folder)).load_config()
    directory, course = CourseDirectory(config=config, root=str(folder)), courses.read(folder)
    release = submitted.read_release(folder / directory.release_directory, assignment)
    quiet = logging.getLogger(f"{__name__}.quiet")
    quiet.disabled = True  # who handed in for a group was said by `autograde`
    handed_in = list(submitted.found(directory, course, assignment, quiet))
    grader = WriteVerdicts(config=config)
    # Autograde finds the rung out in a worker, which takes longer than all else here.
    grader.level = grader.isolation or last_level(folder, assignment)
    records = grader.records(course, assignment, handed_in, release)
    found = {}
    for student, record in records.items():
        graded = Path(directory.format_path("autograded", student, assignment.name))
        done = _is_done(graded, assignment)
        why = regrading.reasons(folder, assignment.name, student, record) if done else []
        if why or not done:
            found[student] = why
    return found


def _say(converter: Autograde, sentences: list[str]) -> None:
    for sentence in sentences:
        converter.log.warning("Changed: %s", sentence)


def _drop_changed(
    converter: Autograde, assignment: Assignment, student: str, record: regrading.Record
) -> None:
    """Remove what was graded before and would be graded otherwise now, and say so.

    nbgrader looks at times only. What an earlier run was writing when it was killed goes, too.
    """
    course = converter.coursedir
    graded = Path(course.format_path(course.autograded_directory, student, assignment.name))
    if not graded.exists():
        return
    if not _is_done(graded, assignment):
        shutil.rmtree(graded)
        return
    why = regrading.reasons(Path(course.root), assignment.name, student, record)
    if why:
        converter.log.warning("Graded again: %s (%s)", student, ", ".join(why))
        shutil.rmtree(graded)


def _is_done(folder: Path, assignment: Assignment) -> bool:
    """Has nbgrader come to the end of a submission?

    A notebook gets its outputs when its scores are in the gradebook.
    """
    try:
        for lesson in assignment.lessons:
            document = user_files.document(folder / f"{lesson.id}.ipynb")
            cells = nbformat.from_dict(document).cells
            if not all(cell.outputs for cell in cells if _is_ours(cell)):
                return False
    except (Problem, AttributeError):
        return False
    return True


def _fail(converter: Autograde, message: str) -> NoReturn:
    converter.log.error(message)
    raise NbGraderException(message)


# ------------------------------------------------------------------------------------------
# Verdicts


class WriteVerdicts(NbGraderPreprocessor):
    """Stands in nbgrader's list of autograde steps where `Execute` stood."""

    jobs = Integer(0, help="Submissions at once; 0: one for each processor.").tag(config=True)
    seed = Integer(0, help="Of the generated tests; the same seed, the same grades.").tag(
        config=True
    )
    isolation = Unicode("", help="The level; empty: the best that works here.").tag(config=True)

    def grade(
        self, course: Course, assignment: Assignment, lesson: Lesson, found: list[Submitted]
    ) -> None:
        """Grade a lesson of submissions, several at once, and write their results.

        `autograde --force` grades everything anew.
        """
        root = Path(self.parent.coursedir.root)
        work = list(self._submissions(course, assignment, lesson, found))
        store = root / VERDICTS / lesson.id
        known = {} if self.parent.force else recall(work, store)
        new = [each.student for each in work if not is_known(each, known)]
        self.log.info(
            "Grading %s of %s submissions of %s%s", len(new), len(work), lesson.id, equal(work)
        )
        folder = results_folder(root, assignment, lesson)
        with contextlib.closing(graded(work, known, store, self._execute)) as made:
            for done, (_, result) in enumerate(made, start=1 - len(work) + len(new)):
                result_files.write(result, folder)  # those that are known come first
                if done > 0:
                    self.log.info("Graded %s, %s of %s", result["student"], done, len(new))

    def records(
        self, course: Course, assignment: Assignment, found: list[Submitted], release: Any
    ) -> dict[str, regrading.Record]:
        """What each submission's grade would be made from now."""
        tasks: dict[str, dict[str, Task]] = {each.student: {} for each in found}
        for lesson in assignment.lessons:
            for work in self._submissions(course, assignment, lesson, found):
                tasks[work.student][lesson.id] = work.task
        marks = {x.id: self.edition(course, assignment, x).mark for x in assignment.lessons}
        common = regrading.surroundings(marks, assignment, course.feedback, release)
        return {
            x.student: regrading.record(x.by, tasks[x.student], x.answers, common) for x in found
        }

    def _submissions(
        self, course: Course, assignment: Assignment, lesson: Lesson, found: list[Submitted]
    ) -> Iterator[Submission]:
        """What is to be graded of a lesson that students, or their groups, have handed in."""
        of_variant = functools.cache(  # whose mark reads all of the grader's files
            lambda variant: self.edition(course, assignment, lesson, variant)
        )
        for each in found:
            variant = assignment.variant(each.by)
            yield self._submission(lesson, each, of_variant(variant), variant)

    def _submission(
        self, lesson: Lesson, each: Submitted, edition: Edition, variant: int
    ) -> Submission:
        credit = Task(edition, each.modules[lesson.id])
        has_base = lesson.id in each.bases
        own = replace(credit, base=each.bases[lesson.id]) if has_base else credit
        reason, beside = each.reasons[lesson.id], credit if has_base else None
        notes = tuple(filter(None, [each.remarks[lesson.id]]))
        return Submission(each.student, lesson, own, reason, beside, variant, each.by, notes)

    def edition(
        self, course: Course, assignment: Assignment, lesson: Lesson, variant: int = 0
    ) -> Edition:
        """What the tests of a lesson go by."""
        seed = self._seed(assignment, variant)
        return Edition(manifest.get(lesson.id), self.level, seed, course.feedback.expected)

    @functools.cached_property
    def level(self) -> str:
        """The rung of isolation."""
        return isolation.choose(self.isolation or None)

    def _seed(self, assignment: Assignment, variant: int) -> int:
        """The seed of an assignment: a lesson that is asked for again has other programs."""
        if assignment.is_lesson:
            return variants.seed_of(self.seed, variant)
        about = hashlib.sha256(f"{self.seed} {assignment.name}".encode()).digest()
        return variants.seed_of(int.from_bytes(about[:4], "big") >> 1, variant)

    def _execute(self, tasks: Sequence[Task]) -> Verdicts:
        """The verdicts; generated programs stay in the course directory, so that grades repeat."""
        from autograder.grading import pool  # not before: other commands ask what waits only

        programs = Path(self.parent.coursedir.root, PROGRAMS)
        return pool.grade_many(tasks, workers=self.jobs or None, programs=programs)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Write message and score of every exercise into its grade cell."""
        about, root = resources["nbgrader"], Path(self.parent.parent.coursedir.root)
        course = courses.read(root)
        assignment, lesson, result, changes = of_notebook(course, root, about)
        verdicts = {courses.cell_name(x["id"]): x for x in result["exercises"]}
        points = assignment.cells(lesson)
        for cell in nb.cells:
            if cell.cell_type != "code":
                continue
            cell.outputs, cell.execution_count = [], None
            if _is_ours(cell):
                name = cell.metadata.nbgrader["grade_id"]
                if name not in verdicts and points.get(name) != 0:
                    # nbgrader gives full points to a cell without output.
                    raise Problem(f"There is no verdict for the grade cell {name!r}.")
                fill(cell, verdicts.get(name), result["remarks"], course.feedback.hints)
                if changes.get(name):
                    text = f"Compared with the skeleton:\n\n{changes[name]}\n"
                    cell.outputs.append(new_output("stream", name="stdout", text=text))
        return nb, resources


# ------------------------------------------------------------------------------------------
# Grade cells


def _is_ours(cell: NotebookNode) -> bool:
    """Is this a cell whose score comes from a verdict? A person grades the others."""
    return cell.cell_type == "code" and utils.is_grade(cell) and not utils.is_solution(cell)


def fill(cell: NotebookNode, verdict: Verdict | None, remarks: list[str], hints: int = 1) -> None:
    """Put a verdict into a grade cell, in the form that nbgrader turns into points.

    nbgrader takes the number from the first execute_result. Output on stderr would give 0. Without
    a verdict the exercise is worth nothing in this course.
    """
    maximum = float(cell.metadata.nbgrader["points"])
    score, text = 0.0, "This exercise is not a part of the assignment."
    if verdict is not None:
        score = points(verdict, maximum)
        said = feedback.message(verdict, remarks, hints)
        text = f"{score:.10g} of {maximum:.10g} points: {said}"
    cell.execution_count = 1
    cell.outputs = [
        new_output("stream", name="stdout", text=text + "\n"),
        new_output("execute_result", data={"text/plain": f"{score:.10g}"}, execution_count=1),
    ]


def points(verdict: Verdict, maximum: float) -> float:
    """The score on a grade cell of `maximum` points, which the instructor may have changed."""
    share = verdict["points"] / verdict["max_points"]
    return min(max(round(maximum * share, 2), 0.0), maximum)
