"""How `nbgrader zip_collect` finds out whose a downloaded file is: as `collect` does.

nbgrader's own extractor unpacks archives within archives into one tree, where the names that an LMS
has made look like those that a student has made. Ours puts what is wanted of each submission into
`extracted/STUDENT/`. If the instructor has set a `named_regexp`, nbgrader's own plugins do both.
"""

import shutil
from pathlib import Path

from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin

from autograder.classroom import systems
from autograder.classroom.course import people
from autograder.classroom.course import settings as courses
from autograder.classroom.intake import downloads
from autograder.classroom.intake.downloads import Download
from autograder.classroom.systems import collect, owners
from autograder.classroom.systems.system import Collects
from autograder.lessons.problem import Problem


class Extractor(ExtractorPlugin):
    """Takes the submissions out of the downloads, under the ids of the roster."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Write what is wanted of each student's submission."""
        if FileNameCollectorPlugin(parent=self.parent).named_regexp:
            super().extract(archive_path, extracted_path)
            return
        root, name = Path(self.parent.coursedir.root), self.parent.coursedir.assignment_id
        try:
            said = extract(Path(archive_path), Path(extracted_path), root, name)
        except Problem as problem:
            self.parent.fail(str(problem))
        self._check_places(Path(extracted_path))
        for sentence in said:
            self.log.warning(sentence)

    def _check_places(self, extracted: Path) -> None:
        """Stop before anything is said to be collected, as nbgrader would stop at the first."""
        course = self.parent.coursedir
        step, name = course.submitted_directory, course.assignment_id
        found = sorted(extracted.iterdir())
        goals = {x.name: Path(course.format_path(step, x.name, name)) for x in found}
        there = [student for student, goal in goals.items() if any(goal.glob("*"))]
        if there and not self.parent.force:
            for folder in found:
                shutil.rmtree(folder)
            self.parent.fail(
                f"Nothing is collected, because {step}/ has submissions already: "
                f"{people.named(there)}. --force replaces them, with their times."
            )


def extract(archive: Path, extracted: Path, root: Path, name: str) -> list[str]:
    """Write `extracted/STUDENT/...` for an assignment of a course; what is to be said."""
    roster, assignment = people.read(root / people.ROSTER), courses.read(root).get(name)
    known = list(systems.collecting().values())
    got, closed = _downloads(archive, known, name)
    found = collect.owned(got, known, roster, assignment)
    for student, own in found.students.items():
        collect.write(extracted / student, own)
    found.unnamed = [name for name in found.unnamed if name not in closed]
    return [
        *collect.told(found, roster),
        *(f"{x!a} was not opened: put it there alone." for x in closed),
    ]


def _downloads(
    archive: Path, readers: list[Collects], name: str
) -> tuple[list[Download], list[str]]:
    """The download that is unpacked in a folder, or else those of its archives; which stay closed.

    Beside unpacked submissions an archive may be a student's.
    """
    whole = downloads.read(archive)
    archives = sorted(archive.glob("*.zip"))
    known = owners.claimed(whole, readers, name)
    if known:
        return [whole], [x.name for x in archives if x.name not in known]
    return [downloads.read(x) for x in archives], []


class Collector(FileNameCollectorPlugin):
    """Takes what the extractor has written."""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """The student and the place of a file."""
        if self.named_regexp or not isinstance(self.parent.extractor_plugin_inst, Extractor):
            return super().collect(submitted_file)
        place = Path(self.parent._format_collect_path(self.parent.extracted_directory))
        student, *inside = Path(submitted_file).relative_to(place).parts
        return {"student_id": student, "file_id": "/".join(inside)}
