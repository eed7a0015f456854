"""Submissions from where courses live, under the ids of the roster; and feedback on the way back.

`systems/` knows how each system names submissions, `owners` whose they are. `collected.csv` beside
the submissions says which file of the download each one was.
"""

import hashlib
import io
import os
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.classroom import systems
from autograder.classroom.course import notebooks, people
from autograder.classroom.course import settings as courses
from autograder.classroom.course.people import Roster
from autograder.classroom.course.settings import Assignment
from autograder.classroom.intake import downloads
from autograder.classroom.intake import files as intake
from autograder.classroom.intake.downloads import Download, Entry, Source
from autograder.classroom.systems import owners
from autograder.classroom.systems.owners import Owned, Owners
from autograder.classroom.systems.system import Claim, Collects
from autograder.grading import result_files
from autograder.grading.result_files import BESIDE
from autograder.lessons import browser_names, manifest, user_files
from autograder.lessons.problem import Problem
from autograder.student import checks, workspace

LIST, ARCHIVE, STAMP = "collected.csv", "submission.zip", "timestamp.txt"
COLUMNS = ("assignment", "student", "system", "name", "attempt", "late", "time", "content")


# ------------------------------------------------------------------------------------------
# In a course directory and without one


def collect(
    download: Path, system: str, name: str, roster: Path | None, out: Path | None, folder: Path
) -> list[str]:
    """Collect for an assignment of a course, or for a lesson into `out`; what is to be said."""
    course = _is_course(folder)
    if roster is None and not (folder / people.ROSTER).exists():
        raise Problem("There is no class list yet. Give one as --roster, a CSV file.")
    known = people.read(roster or folder / people.ROSTER)
    if out is None and not course:
        raise Problem("This is not a course directory. Say with --out where submissions go.")
    assignment = _assignment(folder, name)
    below = "" if out else assignment.name
    return take_over(download, system, known, assignment, out or folder / "submitted", below)


def give_back(
    name: str, out: Path, collected: Path | None, reported: Path | None, folder: Path
) -> list[str]:
    """Pack the feedback pages of an assignment for the LMS; what is to be said."""

    def pages(student: str) -> list[Path]:
        if reported is not None:
            page = reported / "students" / f"{result_files.file_name(student)}.html"
            return [page] if page.is_file() else []
        return sorted((folder / "feedback" / student / name).glob("*.html"))

    assignment = _assignment(folder, name)
    name, place = assignment.name, collected or folder / "submitted"
    has_pages = sorted(x.parent.name for x in (folder / "feedback").glob(f"*/{name}"))
    graded = has_pages
    if reported:
        own = {name, *(lesson.id for lesson in assignment.lessons)}
        results = result_files.by_lesson(reported.parent if reported.name == BESIDE else reported)
        graded = sorted({x["student"] for key in own & results.keys() for x in results[key]})
    others = [x for x in graded if x not in names(place, name) and pages(x)]
    where = reported / "students" if reported else f"feedback/STUDENT/{name}"
    packed = _pack(place, name, pages, out)
    many = "1 page" if packed == 1 else f"{packed} pages"
    said = [f"{out} holds {many}, named as the submissions were."]
    return [*said, *([by_hand(others, where)] if others else [])]


def by_hand(students: Sequence[str], where: Path | str) -> str:
    """What to do with the feedback of those of whom no download had a submission."""
    return (
        f"No download had a submission of {', '.join(students)}, so an LMS cannot take their "
        f"feedback. Send it yourself: it is in {where}."
    )


def _is_course(folder: Path) -> bool:
    return (folder / "nbgrader_config.py").exists() or (folder / courses.FILE).exists()


def _assignment(folder: Path, name: str) -> Assignment:
    if _is_course(folder):
        return courses.read(folder).get(name)
    lesson = manifest.get(name)
    return Assignment(lesson.id, (lesson,))


# ------------------------------------------------------------------------------------------
# Collecting


def take_over(
    download: Path, system: str, roster: Roster, assignment: Assignment, out: Path, below: str = ""
) -> list[str]:
    """Write `out/STUDENT/below/...` for each student of the roster; what is to be said.

    Of several attempts the last counts. A student's earlier collection is replaced; what `collect`
    did not write stays.
    """
    known = systems.collecting()
    if system not in known:
        raise Problem(f"There is no system {system!r}. Give one of: {', '.join(known)}.")
    found = owned([downloads.read(download)], [known[system]], roster, assignment)
    if not found.students:
        raise Problem(_none_found(download, system, known[system], assignment, found))
    kept, said = _write_all(found, system, assignment, out, below)
    counted, *more = told(found, roster, known[system], kept)
    return [counted, *said, *more]


def _write_all(
    found: Owners, system: str, assignment: Assignment, out: Path, below: str
) -> tuple[int, list[str]]:
    """Write what was found, and leave what `collect` did not write; how often, and what is said."""
    before = {row["student"]: row for row in _rows(out) if row["assignment"] == assignment.name}
    rows = []
    kept, stamps, replaced = list[str](), list[str](), list[str]()  # students
    for student, own in found.students.items():
        main, files = _chosen(own)
        folder, old = out / student / below, before.get(student, dict.fromkeys(COLUMNS, ""))
        there = _there(folder)
        lies, new = _hash(there), _hash(files)
        differs = bool(there.keys() - {STAMP}) and lies != new
        if differs and lies != old["content"]:  # neither the download's nor written by `collect`
            kept.append(student)
            facts = [old[x] for x in ("attempt", "late", "time", "content")]
        else:
            replaced += [student] * differs
            if there.get(STAMP) not in (None, _stamp(old["time"]), files.get(STAMP)):
                stamps.append(student)
                files[STAMP] = there[STAMP]
            _put(folder, files)
            facts = [str(main.attempt), "late" * main.late, str(main.time or ""), new]
        name = os.fsencode(main.name).decode("utf-8", "backslashreplace")  # it may be Latin-1
        rows.append([assignment.name, student, system, name, *facts])
    _list(out, assignment, rows)
    return len(kept), [*_about_what_was_there(kept, stamps, replaced, out / "STUDENT" / below)]


def owned(
    got: Sequence[Download], systems: Sequence[Collects], roster: Roster, assignment: Assignment
) -> Owners:
    """Whose the submissions to an assignment are."""
    files, given = wanted(assignment), _given(assignment)

    def sort(claim: Claim, entry: Entry) -> tuple[list[_File], list[str]]:
        taken = list(_taken(claim, entry, files))
        left = sorted({path or claim.file for path in entry.files} - {x.inside for x in taken})
        left = [x for x in left if not (taken and _is_given(x, given))]
        return taken, list(map(_said, left))

    found = owners.find(got, systems, assignment.name, roster, sort)
    for student, own in found.students.items():
        taken = [file for _, each in own for file in each]
        kept = [*_last(taken).values()]
        if twice := [_said(file.inside) for file in _newest(taken) if file not in kept]:
            found.unasked.setdefault(student, []).extend(twice)
    return found


def _said(name: str) -> str:
    return f"{name!a}".strip("'")


def _is_given(path: str, given: Collection[str]) -> bool:
    """Has everybody got this file, or have programs made it?"""
    *folders, name = PurePosixPath(path).parts
    return name in given or any(x in _MADE or x.startswith(".") for x in (*folders, name))


_MADE = ("__pycache__", "__MACOSX", "tool")  # the last is a handout's


def _given(assignment: Assignment) -> set[str]:
    """The names of the files that everybody has got with an assignment."""
    parts = [part for lesson in assignment.lessons for part in manifest.needed(lesson)]
    names = {PurePosixPath(file).name for part in parts for file in part.files}
    for lesson in assignment.lessons:
        names |= {notebooks.checks_name(lesson, assignment), f"setup_{lesson.id}.py"}
        names |= {path.name for path in lesson.folder.iterdir()}
    helpers = {path.name for path in (*checks.HELPERS, checks.EXAMPLES)}
    more = {"__init__.py", "conftest.py", "README.md", "glossary.md", STAMP}
    return names | helpers | more | {"jaxprentice"}


def wanted(assignment: Assignment) -> dict[str, str]:
    """Where the files of an assignment belong, by their names."""
    files = {}
    for lesson in assignment.lessons:
        files[PurePosixPath(lesson.module).name] = lesson.module
        files[f"{lesson.id}.ipynb"] = f"{lesson.id}.ipynb"
        task = notebooks.open_files(lesson)[-1]
        files[task] = task
    return files


@dataclass(frozen=True)
class _File:
    """A file of a submission that was asked for."""

    place: str  # where a file with the right name belongs
    goal: str  # where it goes: one that a browser has named stays so, and the intake says it
    inside: str  # where it was
    source: Source
    claim: Claim

    def order(self) -> Any:
        """Of one attempt the file at its place is the greatest, then the outermost."""
        return self.inside == self.goal, -self.inside.count("/")

    def newest(self) -> Any:
        """The last attempt is the greatest."""
        return self.claim.time or datetime.min, self.claim.attempt


def _taken(claim: Claim, entry: Entry, wanted: dict[str, str]) -> Iterator[_File]:
    """The files of an entry that were asked for."""
    for path, source in entry.files.items():
        inside = path or claim.file
        name = PurePosixPath(inside).name
        place = ARCHIVE if intake.is_archive(name) else _place(name, wanted)
        if place:
            asked = place == ARCHIVE or name in wanted
            goal = place if asked else str(PurePosixPath(place).with_name(name))
            yield _File(place, goal, inside, source, claim)


def _place(name: str, wanted: dict[str, str]) -> str | None:
    """Where a file belongs that was asked for, under its name or one that a browser has made."""
    made = (x for x in wanted if browser_names.made_of(x, name))
    return wanted.get(name) or wanted.get(next(made, ""))


def write(folder: Path, own: Sequence[Owned]) -> None:
    """Write one submission."""
    _put(folder, _chosen(own)[1])


def _chosen(own: Sequence[Owned]) -> tuple[Claim, dict[str, bytes]]:
    """What the system says of the main file of a submission, and the files that it is to have."""
    last = _last([file for _, taken in own for file in taken])
    # One byte too many stays too many: the intake says so to the student.
    found = {goal: file.source(intake.ARCHIVE_LIMIT + 1) for goal, file in last.items()}
    main = max(
        last.values(), key=lambda file: (file.inside.endswith(".py"), file.newest(), file.order())
    ).claim
    if main.time:
        found[STAMP] = _stamp(str(main.time))
    return main, found


def _stamp(time: str) -> bytes:
    return f"{time[: len('2030-05-20 12:00:00')]} UTC\n".encode()


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for goal, content in files.items():
        (folder / goal).parent.mkdir(parents=True, exist_ok=True)
        (folder / goal).write_bytes(content)


def _last(taken: Sequence[_File]) -> dict[str, _File]:
    """The files of the last attempt at each place, by where they go; of archives there is no one.

    The intake looks into all of them.
    """
    newest = _newest(taken)
    last: dict[str, _File] = {}
    for file in newest:
        if file.place == ARCHIVE:
            number = sum(x.place == ARCHIVE for x in last.values()) + 1
            last[f"submission-{number}.zip" if number > 1 else ARCHIVE] = file
        else:
            last[file.goal] = max(last.get(file.goal, file), file, key=_File.order)
    return last


def _newest(taken: Sequence[_File]) -> list[_File]:
    """The files of the last attempt at each place."""
    newest: dict[str, Any] = {}
    for file in taken:
        newest[file.place] = max(newest.get(file.place, file.newest()), file.newest())
    return [file for file in taken if file.newest() == newest[file.place]]


# ------------------------------------------------------------------------------------------
# What lies there already


def _about_what_was_there(
    kept: list[str], stamps: list[str], replaced: list[str], where: Path
) -> Iterator[str]:
    """Whose files `collect` did not write and left, or replaced by others."""
    if replaced:
        yield f"Replaced by another submission: {', '.join(replaced)}."
    if kept:
        yield (
            f"Kept, because it is not as `collect` left it: {', '.join(kept)}. "
            f"To take what the download has, remove {where} and collect again."
        )
    if stamps:
        yield (
            f"Kept, because `collect` did not write it: the {STAMP} of "
            f"{', '.join(stamps)}. Is it the time of this submission?"
        )


def _there(folder: Path) -> dict[str, bytes]:
    """The files in a student's folder, but for those that programs make."""
    ignored = [".*", *_MADE]
    found = {"/".join(x): x for x in downloads.paths(folder, ignored)}
    limit = intake.ARCHIVE_LIMIT + 1
    return {path: downloads.beginning(folder, parts, limit) for path, parts in found.items()}


def _hash(files: Mapping[str, bytes]) -> str:
    """Of a submission's files; its time is not one of them."""
    return hashlib.sha256(
        repr(sorted((x, files[x]) for x in files if x != STAMP)).encode()
    ).hexdigest()


def _list(out: Path, assignment: Assignment, rows: list[list[Any]]) -> None:
    path = out / LIST
    new = {row[1] for row in rows}
    old = [[row[c] for c in COLUMNS] for row in _rows(out)]
    kept = [row for row in old if row[0] != assignment.name or row[1] not in new]
    result_files.write_text(path, result_files.table([[*COLUMNS], *kept, *rows]))


def names(out: Path, assignment: str) -> dict[str, str]:
    """What the systems call the submissions to an assignment that were collected, by student."""
    return {x["student"]: x["name"] for x in _rows(out) if x["assignment"] == assignment}


def _rows(out: Path) -> list[dict[str, str]]:
    """The rows of the list in a folder, by the names of its columns; none if there is no list."""
    if not user_files.is_there(out / LIST):
        return []
    head, *rows = user_files.rows(out / LIST) or [[]]
    if tuple(head) == COLUMNS[:-1]:  # as it was before there was `content`
        head, rows = [*COLUMNS], [[*row, ""] for row in rows]
    if tuple(head) != COLUMNS or any(len(row) != len(COLUMNS) for row in rows):
        raise Problem(f"{out / LIST} is not what `collect` wrote. Remove it, and collect again.")
    return [dict(zip(COLUMNS, map(result_files.as_written, row), strict=True)) for row in rows]


# ------------------------------------------------------------------------------------------
# What is said


def told(
    found: Owners, roster: Roster, system: Collects | None = None, kept: int = 0
) -> Iterator[str]:
    """What is to be said of a download of this system, if it is of one.

    So many as `kept` were not collected, because there is something else.
    """
    taken = len(found.students) - kept
    yield f"{taken} {'submission is' if taken == 1 else 'submissions are'} collected."
    for student, own in found.students.items():
        attempts = {(claim.file, claim.attempt) for claim, _ in own}
        several = max(Counter(file for file, _ in attempts).values())
        if several > 1:
            yield f"{student}: {several} attempts; the last one counts."
        if any(claim.late for claim, _ in own):
            yield f"{student}: late, as the download says."
    timed = [x for x, own in found.students.items() if any(claim.time for claim, _ in own)]
    if system and system.caution and timed:
        yield system.caution
    if system and system.times and (others := [x for x in found.students if x not in timed]):
        yield (
            f"No time is known of {', '.join(others)}, so nothing of theirs is late. Write it into "
            f"their {STAMP}."
        )
    missing = [x for x in roster.students if x not in found.students and x not in found.unasked]
    if missing:
        yield f"In the roster, but nothing came from them ({len(missing)}): {', '.join(missing)}."
    yield from found.said()


def _none_found(
    download: Path, system: str, about: Collects, assignment: Assignment, found: Owners
) -> str:
    names = ", ".join(sorted(wanted(assignment))[:3])
    return " ".join(
        [
            f"{download} holds no file such as {names} of a student in the roster, on top and "
            f"named as {system} does ({about.example}). Look whether --from and the roster are "
            "right.",
            *found.said(),
        ]
    )


# ------------------------------------------------------------------------------------------
# Returning


def _pack(collected: Path, assignment: str, pages: Callable[[str], list[Path]], to: Path) -> int:
    """Write an archive with the pages of each student under the names of the download; how many.

    Canvas finds the student by the file's name, Moodle by the folder's.
    """
    if not user_files.is_there(collected / LIST):
        raise Problem(f"{collected} has no {LIST}. Give the folder that `collect` wrote.")
    rows = [row for row in _rows(collected) if row["assignment"] == assignment]
    written, content, known = 0, io.BytesIO(), systems.collecting()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for row in rows:
            found = pages(row["student"])
            for page in found:
                if row["system"] not in known:
                    said = f"{LIST} names no system in {row['system']!r}. Collect again."
                    raise Problem(said)
                feedback = known[row["system"]].feedback
                archive.write(page, feedback(row["name"], page, len(found) > 1))
                written += 1
    if not rows:
        raise Problem(
            f"{collected / LIST} has nothing of {assignment}: it did not come by `collect`, so it "
            "is not known what an LMS calls the submissions."
        )
    if not written:
        raise Problem(f"There are no pages for {assignment}. Write the feedback or report first.")
    workspace.write(to, content.getvalue())
    return written
