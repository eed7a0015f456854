"""The cell of an open task: students write in a file, so in their notebook it stays empty."""

from typing import Any

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import NbGraderPreprocessor


class Unchecked(NbGraderPreprocessor):
    """Lets `nbgrader validate` pass over such a cell, which it would call failed.

    It knows by the checksum that a cell was not filled in. The gradebook keeps that for grading.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, index: int
    ) -> tuple[NotebookNode, Any]:
        """The cell without its checksum, if it is one of an open task."""
        if cell.cell_type == "code" and utils.is_grade(cell) and utils.is_solution(cell):
            cell.metadata.nbgrader.pop("checksum", None)
        return cell, resources
