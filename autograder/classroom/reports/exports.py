"""Results in the forms that other systems read; `systems/` has a file for each.

What students may see there is what they see in feedback: no hidden test, no expected value.
"""

from pathlib import Path

from autograder.classroom.course import people
from autograder.classroom.reports import grades
from autograder.classroom.systems import registry
from autograder.grading import result_files
from autograder.lessons.problem import Problem

FOLDER = "exports"


def export(folder: Path, form: str, out: Path | None = None, source: str | None = None) -> Path:
    """Write the grades of a folder in another form, into `out` or `folder/exports/<form>`.

    `source` says where they are from (see `grades`).
    """
    known = registry.exporting()
    if form not in known:
        raise Problem(f"There is no format {form!r}. Give one of: {', '.join(known)}.")
    found = grades.read(folder, source)
    to = out or grades.place(folder) / FOLDER / form
    with result_files.made_whole(to) as new:
        known[form].write(found, new, people.roster(grades.directory(folder) or folder))
    return to
