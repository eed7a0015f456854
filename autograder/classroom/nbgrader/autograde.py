"""What runs inside nbgrader: its configuration, and what takes the place of its parts.

`nbgrader_config.py` of a course directory calls `configure`. From then on, however autograding is
started (command, formgrader or Python), it is `verdicts.py` that runs. That is imported only then:
each of nbgrader's commands reads the configuration, and few of them grade.
"""

import os
from datetime import tzinfo
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets.config import Config

from autograder.classroom.course import settings as courses
from autograder.classroom.nbgrader import disk, export, gradebook, log, outgoing, shown
from autograder.classroom.nbgrader.submitted import submitted_at
from autograder.lessons.problem import Problem


class Unchecked(NbGraderPreprocessor):
    """Lets `nbgrader validate` pass over the cell of an open task, which stays empty.

    Students write in a file. nbgrader would call the cell failed: it knows by the checksum that it
    was not filled in. The gradebook keeps that for grading.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, index: int
    ) -> tuple[NotebookNode, Any]:
        """The cell without its checksum, if it is one of an open task."""
        if cell.cell_type == "code" and utils.is_grade(cell) and utils.is_solution(cell):
            cell.metadata.nbgrader.pop("checksum", None)
        return cell, resources


def configure(config: Config, file: str = "nbgrader_config.py") -> None:
    """Set nbgrader up for grading lessons; everything else stays as nbgrader has it.

    `file` is the configuration, in the course directory.
    """
    folder = Path(file).absolute().parent
    try:
        course = courses.read(folder)
    except Problem as problem:
        raise SystemExit(str(problem)) from None
    log.divide(config, folder)
    steps = Autograde.class_traits()["autograde_preprocessors"].default()
    names = {x: _name(x) for x in steps} | {Execute: f"{__package__}.verdicts.WriteVerdicts"}
    config.Autograde.autograde_preprocessors = [names[step] for step in steps]
    # nbgrader puts the files of source/ over the submitted ones, but for those named here.
    config.Autograde.exclude_overwriting = {x.name: x.files for x in course.assignments.values()}
    # The cells that show functions have no gap to be filled in by students.
    config.ClearSolutions.code_stub = {"python": "# The grader shows your code here."}
    steps = GenerateAssignment.class_traits()["preprocessors"].default()
    config.GenerateAssignment.preprocessors = [*map(_name, steps), _name(Unchecked)]
    _configure_feedback(config)
    config.ExportApp.plugin_class = f"{export.__name__}.{export.Table.__name__}"
    config.NbGraderAPI.timezone = str(course.zone)  # formgrader shows times in it
    config.FileNameCollectorPlugin.valid_ext = [".ipynb", ".py"]
    config.ZipCollectApp.extractor_plugin = f"{__package__}.zip_collect.Extractor"
    config.ZipCollectApp.collector_plugin = f"{__package__}.zip_collect.Collector"
    config.ExchangeFactory.collect = f"{__package__}.exchange.Collect"
    os.umask(0o077)  # gradebook, submissions and results are for the instructor's eyes
    _replace_parts(course.zone)


def _replace_parts(zone: tzinfo) -> None:
    """Put ours in the places of parts of nbgrader that cannot be configured."""
    Autograde.start = _start
    BaseConverter.convert_notebooks = disk.convert_notebooks
    # These read what a student handed in, too; nbgrader's own stop at a file that is no time.
    CourseDirectory.get_existing_timestamp = lambda _, place: submitted_at(Path(place), [], zone)
    NbGraderAPI.get_submitted_timestamp = lambda grader, name, student: submitted_at(
        Path(grader.coursedir.format_path(grader.coursedir.submitted_directory, student, name)),
        [],
        zone,
    )
    gradebook.make_version_known()
    shown.load_nothing()


def _name(step: type) -> str:
    return f"{step.__module__}.{step.__name__}"


def _configure_feedback(config: Config) -> None:
    config.HTMLExporter.sanitize_html = True
    config.GenerateFeedback.exporter_class = f"{__package__}.feedback_page.FeedbackPage"
    config.GenerateFeedback.preprocessors = ["nbgrader.preprocessors.GetGrades"]
    config.ExchangeFactory.release_feedback = f"{__package__}.outgoing.Release"
    GenerateFeedback.start = outgoing.start


def _start(converter: Autograde) -> None:
    from autograder.classroom.nbgrader import verdicts

    verdicts.start(converter)
