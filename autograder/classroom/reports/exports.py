"""Results in the formats that other systems read; `systems/` has a file for each.

What students may see there is what they see in feedback: no hidden test, no expected value.
"""

from pathlib import Path

from autograder.classroom.course import people
from autograder.classroom.reports import grades
from autograder.classroom.systems import registry
from autograder.grading import result_files
from autograder.lessons.problem import Problem

FOLDER = "exports"


def export(
    folder: Path, format_name: str, out: Path | None = None, source: str | None = None
) -> Path:
    """Write the grades of a folder in another format, into `out` or `folder/exports/FORMAT`.

    `source` says where they are from (see `grades`).
    """
    known = registry.exporting()
    if format_name not in known:
        raise Problem(f"There is no format {format_name!r}. Give one of: {', '.join(known)}.")
    found = grades.read(folder, source)
    to = out or grades.place(folder) / FOLDER / format_name
    with result_files.made_whole(to) as new:
        known[format_name].write(found, new, people.roster(grades.directory(folder) or folder))
    return to
