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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

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
from autograder.classroom.course.settings import Assignment, Course
from autograder.classroom.intake.files import INTAKE
from autograder.classroom.nbgrader import gradebook, regrading, rubric, submitted, summary
from autograder.classroom.nbgrader.results import (
    last_level,
    of_notebook,
    read_results,
    results_folder,
)
from autograder.classroom.run.run import Submission, equal, graded, is_known, recall
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
    work = Work(WriteVerdicts(parent=converter), directory, course, assignment, converter.log)
    work.check()
    for each in work.found:
        submitted.copy(directory, assignment, work.release, each)
    for lesson in assignment.lessons:
        work.grade(lesson, anew=converter.force)
    records = work.records()
    for student, record in records.items():
        if why := work.drop_changed(student, record):
            converter.log.warning("Graded again: %s (%s)", student, ", ".join(why))
    usual, directory.submitted_directory = directory.submitted_directory, INTAKE
    try:
        BaseConverter.start(converter)  # nbgrader's own run, on the clean copies
    finally:
        directory.submitted_directory = usual
        with gradebook.opened(folder) as book:
            rubric.score_again(book, folder, assignment, remarked)
    for student, record in records.items():
        if work.is_done(student):
            regrading.write(folder, assignment.name, student, record)
    _finish(converter, work, before, list(records))


def _finish(
    converter: Autograde, work: "Work", before: gradebook.Penalties, students: list[str]
) -> None:
    """Bring times, groups and penalties into the gradebook, and show the table."""
    folder, course, assignment = work.root, work.course, work.assignment
    with gradebook.opened(folder) as book:
        gradebook.catch_up(book, assignment, {x.student: x.when for x in work.found})
        _say(converter, gradebook.share(book, regrading.sources(folder)))
        _say(converter, gradebook.settle(book, course, before))
        results = {student: read_results(folder, assignment, student) for student in students}
        summary.show(
            [*summary.rows(book, folder, course, assignment.name, results)],
            summary.absent(folder, assignment.name),
        )


def due(folder: Path, assignment: Assignment) -> dict[str, list[str]]:
    """The students whom `nbgrader autograde` would grade now, and why again; [] for the first time.

    Raises Problem if the assignment was not released.
    """
    config = PyFileConfigLoader("nbgrader_config.py", str(folder)).load_config()
    directory, course = CourseDirectory(config=config, root=str(folder)), courses.read(folder)
    quiet = logging.getLogger(f"{__name__}.quiet")
    quiet.disabled = True  # who handed in for a group was said by `autograde`
    work = Work(WriteVerdicts(config=config), directory, course, assignment, quiet)
    # Autograde finds the rung out in a worker, which takes longer than all else here.
    work.step.level = work.step.isolation or last_level(folder, assignment)
    found = {}
    for student, record in work.records().items():
        done = work.is_done(student)
        why = regrading.reasons(folder, assignment.name, student, record) if done else []
        if why or not done:
            found[student] = why
    return found


def _say(converter: Autograde, sentences: list[str]) -> None:
    for sentence in sentences:
        converter.log.warning("Changed: %s", sentence)


def _fail(converter: Autograde, message: str) -> NoReturn:
    converter.log.error(message)
    raise NbGraderException(message)


# ------------------------------------------------------------------------------------------
# Submissions


@dataclass
class Work:
    """The submissions of an assignment that nbgrader was asked for."""

    step: "WriteVerdicts"
    directory: CourseDirectory
    course: Course
    assignment: Assignment
    log: logging.Logger

    def __post_init__(self) -> None:
        self.root = Path(self.directory.root)
        releases = self.root / self.directory.release_directory
        self.release = submitted.read_release(releases, self.assignment)
        about = self.directory, self.course, self.assignment, self.log
        self.found = list(submitted.found(*about))

    def check(self) -> None:
        """Complain if there is none."""
        place, student = self.directory.submitted_directory, self.directory.student_id
        if not self.found:
            by = f" by {student}" if student != "*" else ""
            raise Problem(
                f"There is no submission of {self.assignment.name}{by} in {place}/. "
                "Collect some: `jaxprentice collect`, or `nbgrader collect`."
            )

    def grade(self, lesson: Lesson, *, anew: bool) -> None:
        """Grade a lesson, several submissions at once, and write their results.

        What was graded before is graded again only if it should be `anew`.
        """
        work, log = list(self._submissions(lesson)), self.step.log
        store = self.root / VERDICTS / lesson.id
        known = {} if anew else recall(work, store)
        new = [each.student for each in work if not is_known(each, known)]
        log.info(
            "Grading %s of %s submissions of %s%s", len(new), len(work), lesson.id, equal(work)
        )
        folder = results_folder(self.root, self.assignment, lesson)
        with contextlib.closing(graded(work, known, store, self._execute)) as made:
            for done, (_, result) in enumerate(made, start=1 - len(work) + len(new)):
                result_files.write(result, folder)  # those that are known come first
                if done > 0:
                    log.info("Graded %s, %s of %s", result["student"], done, len(new))

    def _execute(self, tasks: Sequence[Task]) -> Verdicts:
        """The verdicts; generated programs stay in the course directory, so that grades repeat."""
        from autograder.grading import pool  # not before: other commands ask what waits only

        programs = self.root / PROGRAMS
        return pool.grade_many(tasks, workers=self.step.jobs or None, programs=programs)

    def records(self) -> dict[str, regrading.Record]:
        """What each submission's grade would be made from now."""
        tasks: dict[str, dict[str, Task]] = {each.student: {} for each in self.found}
        for lesson in self.assignment.lessons:
            for work in self._submissions(lesson):
                tasks[work.student][lesson.id] = work.task
        marks = {x.id: self._edition(x).mark for x in self.assignment.lessons}
        common = regrading.surroundings(marks, self.assignment, self.course.feedback, self.release)
        return {
            x.student: regrading.record(x.by, tasks[x.student], x.answers, common)
            for x in self.found
        }

    def drop_changed(self, student: str, record: regrading.Record) -> list[str]:
        """Remove what was graded before and would be graded otherwise now; why.

        nbgrader looks at times only. What an earlier run was writing when it was killed goes, too.
        """
        folder, done = self._graded(student), self.is_done(student)
        if not folder.exists():
            return []
        why = regrading.reasons(self.root, self.assignment.name, student, record) if done else []
        if why or not done:
            shutil.rmtree(folder)
        return why

    def is_done(self, student: str) -> bool:
        """Has nbgrader come to the end of a submission?

        A notebook gets its outputs when its scores are in the gradebook.
        """
        try:
            for lesson in self.assignment.lessons:
                document = user_files.document(self._graded(student) / f"{lesson.id}.ipynb")
                cells = nbformat.from_dict(document).cells
                if not all(cell.outputs for cell in cells if _is_ours(cell)):
                    return False
        except (Problem, AttributeError):
            return False
        return True

    def _graded(self, student: str) -> Path:
        step = self.directory.autograded_directory
        return Path(self.directory.format_path(step, student, self.assignment.name))

    def _submissions(self, lesson: Lesson) -> Iterator[Submission]:
        """What is to be graded of a lesson that students, or their groups, have handed in."""
        edition = functools.cache(functools.partial(self._edition, lesson))  # reads many files
        for each in self.found:
            variant = self.assignment.variant(each.by)
            own = credit = Task(edition(variant), each.modules[lesson.id])
            beside = None
            if lesson.id in each.bases:
                own, beside = replace(credit, base=each.bases[lesson.id]), credit
            reason, notes = each.reasons[lesson.id], filter(None, [each.remarks[lesson.id]])
            yield Submission(
                each.student, lesson, own, reason, beside, variant, each.by, tuple(notes)
            )

    def _edition(self, lesson: Lesson, variant: int = 0) -> Edition:
        """What the tests of a lesson go by.

        A lesson that is asked for again, in another assignment, has other programs.
        """
        seed = self.step.seed
        if not self.assignment.is_lesson:
            about = hashlib.sha256(f"{seed} {self.assignment.name}".encode()).digest()
            seed = int.from_bytes(about[:4], "big") >> 1
        seed, expected = courses.seed_of(seed, variant), self.course.feedback.expected
        return Edition(manifest.get(lesson.id), self.step.level, seed, expected)


# ------------------------------------------------------------------------------------------
# Verdicts


class WriteVerdicts(NbGraderPreprocessor):
    """Stands in nbgrader's list of autograde steps where `Execute` stood."""

    jobs = Integer(0, help="Submissions at once; 0: one for each processor.").tag(config=True)
    seed = Integer(0, help="Of the generated tests; the same seed, the same grades.").tag(
        config=True
    )
    isolation = Unicode("", help="The level; empty: the best that works here.").tag(config=True)

    @functools.cached_property
    def level(self) -> str:
        """The rung of isolation."""
        return isolation.choose(self.isolation or None)

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
