"""What a course directory has in `submitted/`: a clean copy of each, which nbgrader then grades.

Of what was handed in only the lessons' modules count, and the notebooks are made anew from the
release with the student's answers in their solution cells. The copies go to `intake/`;
`submitted/` is only read, so that nothing that a student handed in is ever lost or changed.
"""

import glob
import json
import logging
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nbgrader import utils
from nbgrader.coursedir import CourseDirectory

from autograder.classroom.course import notebooks, people
from autograder.classroom.course.settings import Assignment, Course
from autograder.classroom.intake import answers as handed_in
from autograder.classroom.intake import files, own_base, reading
from autograder.classroom.intake.files import INTAKE
from autograder.classroom.nbgrader import shown
from autograder.grading import result_files
from autograder.grading.task import Base
from autograder.lessons import tasks, user_files
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem


@dataclass(frozen=True)
class Submitted:
    """What counts of a submission: modules, answers, and the student's own earlier modules."""

    student: str
    by: str  # who handed it in: the student, or another member of the group
    when: datetime | None  # in UTC
    inside: tuple[str, ...]  # the folder of that, below the course directory
    modules: Mapping[str, bytes | None]  # by lesson
    reasons: Mapping[str, str]  # why there is no module, by lesson; "" where there is one
    remarks: Mapping[str, str]  # on the notebook, by lesson: why there is no answer in it
    answers: Mapping[str, str]  # in solution cells, by the cell's name
    bases: Mapping[str, Base]  # by lesson the student's own modules before it, if these count


def found(
    course: CourseDirectory, settings: Course, assignment: Assignment, log: logging.Logger
) -> Iterator[Submitted]:
    """What counts of every submission that is asked for."""
    known = people.roster(Path(course.root)).students
    for student, by, folder in _sources(course, settings, assignment, log):
        if known and student not in known:
            log.warning("%s is not in the roster, and is graded all the same", student)
        inside = folder.relative_to(course.root).parts
        each = _read(Path(course.root), inside, settings, assignment, student, by)
        if files.VANISHED in each.reasons.values():
            log.warning("Skipped: %s. %s", student, files.VANISHED)
        else:
            if each.when is None and (folder / "timestamp.txt").exists():
                log.warning(
                    "%s: timestamp.txt holds no time such as %s. Correct it", student, _TIME
                )
            yield each


_TIME = "2030-05-20 12:00:00 UTC; without one nothing is late"


def copy(course: CourseDirectory, assignment: Assignment, release: Any, each: Submitted) -> None:
    """Copy what counts of a submission to `intake/`; `release` are the released notebooks."""
    clean = Path(course.format_path(INTAKE, each.student, assignment.name))
    if clean.exists():
        shutil.rmtree(clean)
    for lesson in assignment.lessons:
        notebook = handed_in.rebuild_notebook(release[lesson.id], each.answers)
        points = assignment.cells(lesson)
        for cell in notebook["cells"]:
            about = cell["metadata"].get("nbgrader", {})
            if about.get("grade"):
                about["points"] = points.get(about["grade_id"], about["points"])
        book = json.dumps(shown.for_a_person(notebook), indent=1, ensure_ascii=False)
        _write(clean / f"{lesson.id}.ipynb", book.encode())
        _write(clean / lesson.module, each.modules[lesson.id])
    root, inside = Path(course.root), list(each.inside)
    _write(clean / "timestamp.txt", _timestamp(each.when))
    _write(clean / _SECRET, _secret(root, inside) if each.by == each.student else None)


def _read(
    root: Path,
    parts: tuple[str, ...],
    settings: Course,
    assignment: Assignment,
    student: str,
    by: str,
) -> Submitted:
    inside = list(parts)
    modules: dict[str, bytes | None] = {}
    reasons: dict[str, str] = {}
    remarks: dict[str, str] = {}
    answers: dict[str, str] = {}
    for lesson in assignment.lessons:
        source, reasons[lesson.id] = files.take_module(root, inside, lesson)
        modules[lesson.id] = source
        given = handed_in.take(root, inside, lesson)
        asked = lesson.question and assignment.question
        remarks[lesson.id] = given.remark if asked else ""
        # What takes the answer's place has nbgrader ask a person, who sees it in formgrader.
        instead = given.remark if given.odd and asked else ""
        name = f"{lesson.id}-question"
        answers |= {name: given.texts.get(name, instead)}
        functions = {} if source is None else reading.functions(source.decode(), lesson)
        answers |= {name + notebooks.CODE: text for name, text in functions.items()}
        if lesson.id in assignment.open:
            task = assignment.open_task(lesson, by)
            answers[f"{lesson.id}-open"], beside = _open_task(root, inside, task)
            remarks[lesson.id] = f"{remarks[lesson.id]} {beside}".strip()
    bases = own_base.of_course(root, settings, assignment, by, modules)
    when = submitted_at(root, inside, settings.zone)
    said = {name: text for name, text in answers.items() if text}
    return Submitted(student, by, when, parts, modules, reasons, remarks, said, bases)


def _open_task(root: Path, inside: list[str], lesson: Lesson) -> tuple[str, str]:
    """The text of the open task, or why there is none; "" if nothing was handed in or begun.

    Also what is to be said of its name and of what is beside it.
    """
    given = tasks.open_task(lesson).text if tasks.exist(lesson) else ""
    for name in notebooks.open_files(lesson):
        try:
            source, said = files.take(root, inside, name, files.MODULE_LIMIT)
            text = source.decode()
            return "" if text == given else text, said
        except files.Missing:
            continue
        except files.Refused as refused:
            return f"# {refused}", ""
        except Exception:
            return f"# {name} cannot be read.", ""
    return "", ""


def read_release(folder: Path, assignment: Assignment) -> dict[str, Any]:
    """The released notebooks by lesson, in the folder of the releases."""
    folder = folder / assignment.name
    found = {}
    for lesson in assignment.lessons:
        path = folder / f"{lesson.id}.ipynb"
        if not path.is_file():
            command = f"nbgrader generate_assignment {assignment.name}"
            raise Problem(f"{assignment.name} was not released. Run `{command}` first.")
        found[lesson.id] = user_files.document(path)
    return found


# ------------------------------------------------------------------------------------------
# Whose submissions


def _sources(
    course: CourseDirectory, settings: Course, assignment: Assignment, log: logging.Logger
) -> Iterator[tuple[str, str, Path]]:
    """Each student who is to be graded, who handed in for this one, and the folder of that."""
    folders = dict(_submitted(course, assignment.name, log))
    groups = people.members(Path(course.root), assignment.name)
    for student in sorted({*folders, *groups}):
        asked = fnmatchcase(student, course.student_id)
        group = [x for x in groups.get(student, [student]) if x in folders]
        if not asked or not group or student in course.student_id_exclude.split(","):
            continue
        insides = {x: [*folders[x].relative_to(course.root).parts] for x in group}
        ages = {
            x: submitted_at(Path(course.root), inside, settings.zone) or datetime.min
            for x, inside in insides.items()
        }
        by = _counts(group, ages)
        if len(group) > 1 and student == by:
            why = "is the newest" if _tells(ages, by) else "is named first; times do not tell"
            others = " and ".join(x for x in group if x != by)
            log.warning(
                "Group: the submission of %s counts, which %s. Not graded: %s", by, why, others
            )
        yield student, by, folders[by]


def _tells(ages: Mapping[str, datetime], by: str) -> bool:
    """Do times say that this one is the newest?"""
    return all(ages[by] > age for x, age in ages.items() if x != by)


def _counts(group: list[str], ages: Mapping[str, datetime]) -> str:
    """Whose submission counts for a group: the newest, and of several the first in the group.

    Where some have no time, theirs count as the oldest.
    """
    return max(group, key=lambda x: (ages[x], -group.index(x)))


def _submitted(
    course: CourseDirectory, assignment: str, log: logging.Logger
) -> Iterator[tuple[str, Path]]:
    """The students and folders that nbgrader would grade, but for names that would stop it."""
    step = course.submitted_directory
    pattern = re.compile(course.format_path(step, "(?P<student>.*)", assignment, escape=True))
    for path in sorted(glob.glob(course.format_path(step, "*", assignment))):  # noqa: PTH207
        match = pattern.fullmatch(path)  # nbgrader's own way, absolute
        student = match["student"] if match else ""
        if result_files.is_file_name(student):
            yield student, Path(path)
        else:
            log.warning("Skipped: %a cannot be a student's name. Rename it.", path)


# ------------------------------------------------------------------------------------------
# What nbgrader writes beside a submission


def _timestamp(when: datetime | None) -> bytes | None:
    """The time of submission, if there is one; in our words, not in the student's.

    What nbgrader reads of it is then a date whatever the file held.
    """
    return f"{when:%Y-%m-%d %H:%M:%S.%f} UTC\n".encode() if when else None


def submitted_at(root: Path, inside: list[str], zone: tzinfo) -> datetime | None:
    """The time in the `timestamp.txt` of a folder, in UTC; None if it has none that can be a time.

    One that names no zone is the course's, as a due date is; nbgrader would take it for UTC.
    """
    try:
        text = files.read(root, [*inside, "timestamp.txt"], 200, "timestamp.txt").decode().strip()
        # Of a lone "-0500" nbgrader makes seconds.
        when = utils.parse_utc(_OFFSET.sub(r"\1", text)) if _DATE.match(text) else None
        if when and _BARE.fullmatch(text):
            when = when.replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None)
    except Exception:
        return None
    return when if when and 2000 <= when.year < 2200 else None


_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")  # else today's date would fill the gaps

_OFFSET = re.compile(r" ([+-]\d{4})$")
_BARE = re.compile(r"[\d-]+[ T][\d:.]+")


_SECRET = "submission_secret.txt"


def _secret(root: Path, inside: list[str]) -> bytes | None:
    """What `nbgrader submit` has drawn; the exchange hides the feedback under a hash of it."""
    try:
        text = files.read(root, [*inside, _SECRET], 200, _SECRET)
    except Exception:
        return None
    return text if re.fullmatch(rb"[0-9a-f]+", text) else None


def _write(path: Path, content: bytes | None) -> None:
    if content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
