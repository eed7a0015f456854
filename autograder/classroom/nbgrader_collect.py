"""How `nbgrader zip_collect` finds out whose a downloaded file is: as `collect` does.

The files of Canvas and Moodle are known by their names; the roster of the course directory says
whose they are. nbgrader's own plugin goes by one pattern for names, and has none to begin with.
"""

from pathlib import Path

from nbgrader.plugins import FileNameCollectorPlugin

from autograder.classroom import collect, people
from autograder.classroom import course as courses
from autograder.classroom.collect import Found
from autograder.grading import results


class Collector(FileNameCollectorPlugin):
    """Takes modules and notebooks under the ids of the roster."""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """The student and the place of a file; None for one that is not wanted."""
        if self.named_regexp:
            return super().collect(submitted_file)
        path, directory = Path(submitted_file), self.parent.coursedir
        root, name = Path(directory.root), directory.assignment_id
        wanted = collect.wanted(courses.read(root).get(name))
        top = next(x for x in path.parents if x.parent.name == name)  # downloaded/NAME/extracted
        found = _newest(top, path)
        if found is None or found.inside.rpartition("/")[2] not in wanted:
            self.log.info("Left out: %s", path.relative_to(top))
            return None
        roster = people.roster(root)
        student = collect.student(found, roster) or ("" if roster.students else found.key)
        if not results.is_file_name(student):
            self.log.warning("Left out: %s is not in %s", path.relative_to(top), people.ROSTER)
            return None
        return {"student_id": student, "file_id": wanted[found.inside.rpartition("/")[2]]}


def _newest(top: Path, path: Path) -> Found | None:
    """What is known of a file by its name; None if it is no submission or an older attempt."""
    inside = path.relative_to(top).as_posix()
    found = collect.named(inside)
    others = [collect.named(x.relative_to(top).as_posix()) for x in path.parent.iterdir()]
    if found is None:
        return None
    same = [x for x in others if x and (x.key, x.inside) == (found.key, found.inside)]
    return found if found.attempt == max((x.attempt for x in same), default=1) else None
