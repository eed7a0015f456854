"""Verdicts on the disk, by the keys of their tasks."""

from pathlib import Path

from autograder.grading import result_files
from autograder.grading.result import Result, is_graded
from autograder.lessons.problem import Problem


class Store:
    """A folder of verdicts; one that is damaged, or says nothing about its module, is not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Result | None:
        """The verdict with this key."""
        try:
            verdict = result_files.read(self.folder / f"{key}.json")
        except Problem:  # there is none, or it is of an older form
            return None
        return verdict if is_graded(verdict) else None

    def put(self, key: str, verdict: Result) -> None:
        """Keep a verdict: whole, or not at all."""
        result_files.write({**verdict, "student": key}, self.folder)
