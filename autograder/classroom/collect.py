"""Submissions from where courses live, under the ids of the roster; and feedback on the way back.

    canvas      lastfirst_12345_678_core.py, all in one folder; LATE after the name if it was late
    moodle      "Name_4711_assignsubmission_file/core.py"
    gradescope  submission_678/core.py, and submission_metadata.yml
    github      ps1-login/minijax/core.py, as `gh classroom clone student-repos` makes them

A download is a folder or a ZIP archive, which is never unpacked: what is wanted is read from it.
`collected.csv` beside the submissions says which file of the download each one was.
"""

import contextlib
import csv
import io
import os
import re
import shutil
import subprocess
import zipfile
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.classroom import intake, notebooks
from autograder.classroom.course import Assignment
from autograder.classroom.people import Roster, Student
from autograder.grading import results
from autograder.lessons.problem import Problem

LIST = "collected.csv"
COLUMNS = ("assignment", "student", "system", "name", "attempt", "late", "time")
DEEPEST = 20  # folders within folders: a student's may be too many for Python and for the system


@dataclass(frozen=True)
class Found:
    """A file of a download that is a part of a submission."""

    key: str  # what the system calls the student
    inside: str  # the file's path in the submission
    name: str  # the submission in the download: what a feedback file must be called like
    source: Callable[[int], bytes]  # its content, at most so many bytes
    attempt: int = 1
    late: bool = False
    time: datetime | None = None


# ------------------------------------------------------------------------------------------
# Collecting


def collect(
    download: Path, system: str, roster: Roster, assignment: Assignment, out: Path, below: str = ""
) -> list[str]:
    """Write `out/STUDENT/below/...` for each student of the roster; what is to be said.

    Of several attempts the last counts. A student's earlier collection is replaced.
    """
    if system not in _SYSTEMS:
        raise Problem(f"There is no system {system!r}. Give one of: {', '.join(_SYSTEMS)}.")
    files_of = wanted(assignment)
    mine: dict[str, dict[str, list[Found]]] = {}
    strangers: dict[str, None] = {}
    for found in _SYSTEMS[system].read(download):
        goal = _goal(found.inside, files_of)
        owner = _SYSTEMS[system].student(found.key, roster)
        if goal and owner:
            mine.setdefault(owner, {}).setdefault(goal, []).append(found)
        elif goal:
            strangers[found.key] = None
    if not mine:
        names = ", ".join(sorted(files_of)[:3])
        raise Problem(
            f"{download} holds no file such as {names} of a student in the roster, as {system} "
            "names them. Look whether --from and the roster are right."
        )
    rows = [_write(out / x / below, assignment, system, x, files) for x, files in mine.items()]
    _list(out, assignment, rows)
    return list(_told(mine, strangers, roster))


def wanted(assignment: Assignment) -> dict[str, str]:
    """Where the files of an assignment belong, by their names."""
    files = {}
    for lesson in assignment.lessons:
        files[PurePosixPath(lesson.module).name] = lesson.module
        files[f"{lesson.id}.ipynb"] = f"{lesson.id}.ipynb"
        task = notebooks.open_files(lesson)[-1]
        files[task] = task
    return files


def _goal(inside: str, wanted: dict[str, str]) -> str:
    """Where a file belongs in a submission; "" for one that was not asked for."""
    name = PurePosixPath(inside).name
    if name.endswith(".zip"):
        return "submission.zip"
    return wanted.get(name, "")


def _write(
    folder: Path, assignment: Assignment, system: str, student: str, files: dict[str, list[Found]]
) -> list[Any]:
    """Write one submission; its row in the list."""
    shutil.rmtree(folder, ignore_errors=True)
    last = {goal: max(found, key=_order) for goal, found in files.items()}
    for goal, found in last.items():
        (folder / goal).parent.mkdir(parents=True, exist_ok=True)
        # One byte too many stays too many: the intake says so to the student.
        (folder / goal).write_bytes(found.source(intake.ARCHIVE_LIMIT + 1))
    main = max(last.values(), key=lambda found: (found.inside.endswith(".py"), _order(found)))
    time = max((x.time for x in last.values() if x.time), default=None)
    if time:
        (folder / "timestamp.txt").write_text(f"{time:%Y-%m-%d %H:%M:%S} UTC\n", encoding="utf-8")
    facts = [main.attempt, "late" if main.late else "", str(time or "")]
    name = os.fsencode(main.name).decode("utf-8", "backslashreplace")  # it may be Latin-1
    return [assignment.name, student, system, name, *facts]


def _order(found: Found) -> Any:
    return found.time or datetime.min, found.attempt


def _list(out: Path, assignment: Assignment, rows: list[list[Any]]) -> None:
    path = out / LIST
    new = {row[1] for row in rows}
    old = [[row[c] for c in COLUMNS] for row in _rows(out)] if path.exists() else []
    kept = [row for row in old if row[0] != assignment.name or row[1] not in new]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *kept, *rows])
    results.write_text(path, text.getvalue())


def _rows(out: Path) -> list[dict[str, str]]:
    with (out / LIST).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _told(
    mine: dict[str, dict[str, list[Found]]], strangers: dict[str, None], roster: Roster
) -> Iterator[str]:
    yield f"{len(mine)} submissions are collected."
    for student, files in mine.items():
        found = [x for each in files.values() for x in each]
        several = max(len(each) for each in files.values())
        if several > 1:
            yield f"{student}: {several} attempts; the last one counts."
        if any(x.late for x in found):
            yield f"{student}: late, as the download says."
    missing = [student for student in roster.students if student not in mine]
    if missing:
        yield f"Nothing from {len(missing)} in the roster: {', '.join(missing)}."
    if strangers:
        names = ", ".join(f"{name!a}" for name in strangers)
        yield f"Not in the roster, and left out: {names}. Add them to it, and collect again."


# ------------------------------------------------------------------------------------------
# Reading a download

Entry = tuple[str, Callable[[int], bytes]]  # path, and how to read so many bytes of it


def entries(download: Path) -> Iterator[Entry]:
    """The ordinary files of a folder or an archive."""
    if not download.exists():
        raise Problem(f"There is no {download}. Give the folder or the archive that you got.")
    if download.is_dir():
        for parts in sorted(paths(download, ignored=[".git"])):
            yield "/".join(parts), lambda n, p=parts: read(download, p, n)  # type: ignore[misc]
        return
    try:
        archive = zipfile.ZipFile(download)
        infos = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError):
        raise Problem(f"{download} is neither a folder nor a ZIP archive. Unpack it.") from None
    for info in infos:
        if not info.is_dir():
            yield info.filename, lambda n, i=info: _unpacked(archive, i, n)  # type: ignore[misc]


def paths(folder: Path, ignored: Collection[str]) -> Iterator[list[str]]:
    """The ordinary files of a folder, from the top down, as the names on the way to each."""
    waiting: deque[list[str]] = deque([[]])
    while waiting:
        parts = waiting.popleft()
        with contextlib.suppress(OSError), os.scandir(Path(folder, *parts)) as found:
            for entry in found:
                if any(fnmatchcase(entry.name, pattern) for pattern in ignored):
                    continue
                if entry.is_file(follow_symlinks=False):
                    yield [*parts, entry.name]
                elif len(parts) < DEEPEST and entry.is_dir(follow_symlinks=False):
                    waiting.append([*parts, entry.name])


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """Some of a file in an archive; nothing if it is damaged, as no student's file stops others."""
    try:
        return archive.open(info).read(most)
    except Exception:
        return b""


def read(root: Path, parts: Sequence[str], most: int) -> bytes:
    """At most so many bytes of a file; none if it cannot be read, as it stops no other student."""
    try:
        return intake.beginning(root, list(parts), most, parts[-1])
    except (intake.Refused, OSError):
        return b""


_CANVAS = re.compile(r"(?P<who>[^/]*?)(?P<late>_LATE)?_(?P<id>\d+)_(?P<file>\d+)_(?P<name>[^/]+)")
_ATTEMPT = re.compile(r"(?P<stem>.+?)-(?P<number>\d+)(?P<end>\.\w+)")


def _canvas(download: Path) -> Iterator[Found]:
    for path, source in entries(download):
        if found := _canvas_name(path):
            yield replace(found, source=source)


def _canvas_name(path: str) -> Found | None:
    found = _CANVAS.fullmatch(PurePosixPath(path).name)
    if not found:
        return None
    again = _ATTEMPT.fullmatch(found["name"])
    inside = again["stem"] + again["end"] if again else found["name"]
    attempt = int(again["number"]) + 1 if again else 1
    return Found(found["id"], inside, found[0], _nothing, attempt, bool(found["late"]))


def _nothing(most: int) -> bytes:
    return b""


_MOODLE = re.compile(
    r"(?:.*/)?(?P<name>[^/]+_\d+_assignsubmission_file)_?(?:/(?P<inside>.+)|_?(?P<flat>[^/]+))"
)


def _moodle(download: Path) -> Iterator[Found]:
    for path, source in entries(download):
        if found := _moodle_name(path):
            yield replace(found, source=source)


def _moodle_name(path: str) -> Found | None:
    found = _MOODLE.fullmatch(path)
    if not found:
        return None
    who = found["name"].rsplit("_", 3)[0]
    inside = found["inside"] or found["flat"].lstrip("_")
    folder = found["name"] + ("_" if f"{found['name']}_/" in path else "")
    return Found(who, inside, folder, _nothing)


def named(path: str) -> Found | None:
    """What the path of a file says if it is one of Moodle's or Canvas's; else None."""
    return _moodle_name(path) or _canvas_name(path)


def student(found: Found, roster: Roster) -> str:
    """The id of the student of such a file; "" for a stranger."""
    return _by("lms_id", "id", "full_name")(found.key, roster)


def _gradescope(download: Path) -> Iterator[Found]:
    import yaml

    about: dict[str, Any] = {}
    files: list[tuple[str, str, Callable[[int], bytes]]] = []
    for path, source in entries(download):
        parts = PurePosixPath(path).parts
        folder = next((i for i, x in enumerate(parts) if re.fullmatch(r"submission_\d+", x)), None)
        if parts[-1] == "submission_metadata.yml" and folder is None:
            about = yaml.safe_load(source(intake.ARCHIVE_LIMIT)) or {}
        elif folder is not None:
            files.append((parts[folder], "/".join(parts[folder + 1 :]), source))
    for name, inside, source in files:
        facts = about.get(name, {})
        found = Found("", inside, name, source, time=_utc(facts.get(":created_at")))
        for submitter in facts.get(":submitters", []):
            key = submitter.get(":sid") or submitter.get(":email") or submitter.get(":name") or ""
            yield replace(found, key=str(key))


def _utc(time: Any) -> datetime | None:
    if not isinstance(time, datetime):
        return None
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


def _github(download: Path) -> Iterator[Found]:
    times: dict[str, datetime | None] = {}
    for path, source in entries(download):
        repository, _, inside = path.partition("/")
        if repository not in times:
            times[repository] = _committed(download / repository)
        yield Found(repository, inside, repository, source, time=times[repository])


def _committed(folder: Path) -> datetime | None:
    """When the last commit of a clone was made, if it is one."""
    if not (folder / ".git").is_dir():
        return None
    # Neither of these may start a program that the clone's own settings name.
    command = ["git", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"]
    command += ["-C", str(folder), "log", "-1", "--format=%ct"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    with contextlib.suppress(ValueError, OverflowError, OSError):  # the author chooses the time
        return datetime.fromtimestamp(int(done.stdout), UTC).replace(tzinfo=None)
    return None


# ------------------------------------------------------------------------------------------
# Whose they are


def _by(*names: str) -> Callable[[str, Roster], str]:
    """Find a student by what one of these columns of the roster says, if that is one student."""

    def find(key: str, roster: Roster) -> str:
        for name in names:
            own = [
                x.id for x in roster.students.values() if _plain(getattr(x, name)) == _plain(key)
            ]
            if key and len(own) == 1:
                return own[0]
        return ""

    return find


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _by_repository(key: str, roster: Roster) -> str:
    """Find a student by the end of a repository's name, which is the login."""
    own = [x for x in roster.students.values() if key.casefold().endswith(_end(x))]
    return max(own, key=lambda x: len(_end(x))).id if own else ""


def _end(student: Student) -> str:
    return f"-{(student.github or student.id).casefold()}"


@dataclass(frozen=True)
class _System:
    read: Callable[[Path], Iterator[Found]]
    student: Callable[[str, Roster], str]


_SYSTEMS = {
    "canvas": _System(_canvas, _by("lms_id", "id")),
    "moodle": _System(_moodle, _by("full_name", "lms_id", "id")),
    "gradescope": _System(_gradescope, _by("id", "lms_id", "email", "full_name")),
    "github": _System(_github, _by_repository),
}


# ------------------------------------------------------------------------------------------
# Returning


def give_back(
    collected: Path, assignment: str, pages: Callable[[str], list[Path]], to: Path
) -> int:
    """Write an archive with the pages of each student under the names of the download; how many.

    Canvas finds the student by the file's name, Moodle by the folder's.
    """
    if not (collected / LIST).exists():
        raise Problem(f"{collected} has no {LIST}. Give the folder that `collect` wrote.")
    written = 0
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for row in _rows(collected):
            found = pages(row["student"]) if row["assignment"] == assignment else []
            for page in found:
                archive.write(page, _return_name(row, page, len(found) > 1))
                written += 1
    if not written:
        to.unlink()
        raise Problem(f"There are no pages for {assignment}. Write the feedback or report first.")
    return written


def _return_name(row: dict[str, str], page: Path, several: bool) -> str:
    if row["system"] != "canvas":
        return f"{row['name']}/{page.name}"
    stem = row["name"].rpartition(".")[0]
    return f"{stem}-{page.stem}.html" if several else f"{stem}.html"
