"""Takes the graded file out of a submission without trusting anything in it.

Only what was asked for is taken, by its exact name or what a browser makes of it. Every folder on
the way is opened without following links, the file must be an ordinary one and small, a module
UTF-8. What cannot be taken is refused with a reason for the student; the reason never repeats a
text from the submission. Archives are never unpacked: the one entry that is wanted is read.

Readers of strange files raise more kinds of exceptions than anybody lists. So what takes a module
or answers catches all of them: they refuse that one submission, and no other.
"""

import functools
import io
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from autograder.lessons import browser_names, module_rules
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem

INTAKE = "intake"  # the folder of a course directory with the clean copies
MODULE_LIMIT = module_rules.LIMIT
ARCHIVE_LIMIT = 8 * 1024 * 1024
ARCHIVE_ENTRIES = 2000  # files of a submission, packed or not
_ENTRY = b"PK\1\2"  # with which each entry of an archive's list begins
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


MORE = "Also submitted, and not looked at"
ARCHIVE = "an archive"  # whose own name is the student's
VANISHED = "The submission was removed or changed while it was being read."


class Refused(Exception):
    """A file of a submission was not taken; the text is the reason, one sentence."""


class Missing(Refused):
    """The file is not there."""


def submissions(folder: Path, lesson: Lesson) -> Iterator[tuple[str, bytes | None, str]]:
    """Go through a folder of students' folders: (student, module or None, reason or "").

    An archive STUDENT.zip stands for a folder. The students' names are not looked at here: two may
    be alike, and some may not be fit for a file.
    """
    if not folder.is_dir():
        raise Problem(f"There is no folder {folder}. Give the folder that holds the submissions.")
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        archive = is_archive(entry.name) and not entry.is_dir(follow_symlinks=False)
        wanted = archive or entry.is_symlink() or entry.is_dir()
        if entry.name.startswith(".") or not wanted:
            continue
        # A name that is not UTF-8 could be neither printed nor stored.
        student = os.fsencode(entry.name).decode("utf-8", "backslashreplace")
        student = student[: -len(".zip")] if archive else student
        yield (student, *take_module(folder, [entry.name], lesson))
        if not folder.is_dir():
            raise Problem(f"The folder {folder} has vanished. Bring it back, and begin again.")


def copies(
    root: Path, assignment: str, lesson: Lesson, student: str = "*"
) -> Iterator[tuple[str, Path]]:
    """The clean copies of a lesson's modules in a course directory, with their students."""
    for path in sorted((root / INTAKE).glob(f"{student}/{assignment}/{lesson.module}")):
        yield path.relative_to(root / INTAKE).parts[0], path


def take_module(root: Path, inside: list[str], lesson: Lesson) -> tuple[bytes | None, str]:
    """The module of the submission in the folder or archive root/inside, or None and the reason.

    `root` is the instructor's own folder; links are refused in `inside` and below it. The module is
    looked for at its place in the package (minijax/jvp.py), then beside it (jvp.py), then in the
    folder's archives; then in the same places under names that browsers make (`jvp (1).py`). With
    it comes what is to be said: of such a name, and of files that could have been it as well.
    """
    try:
        source, said = take(root, inside, lesson.module, MODULE_LIMIT)
        if reason := module_rules.complaint(source, lesson.module):
            raise Refused(reason)
        return source, said
    except Missing as missing:
        folder = Path(root, *inside)  # what was submitted instead, if it is a file or two
        names = sorted(x.name for x in folder.iterdir()) if folder.is_dir() else []
        plain = [x for x in names if re.fullmatch(r"[A-Za-z0-9_. ()-]{1,40}", x)]
        more = f" Submitted: {', '.join(plain)}." if plain and len(names) <= 3 else ""
        reason = f"{missing}{more}"
    except Refused as refused:
        reason = str(refused)
    except OSError:  # it changes at this moment
        reason = VANISHED
    except Exception as error:
        reason = f"The submission cannot be read ({type(error).__name__}). Submit the file itself."
    return None, reason if os.path.lexists(Path(root, *inside)) else VANISHED


def take(root: Path, inside: list[str], path: str, limit: int) -> tuple[bytes, str]:
    """A file of a submission, and what is to be said of its name and of what is beside it.

    Raises Missing, or Refused if it cannot be taken.
    """
    try:
        source, said = _find(root, inside, path, limit)[0], ""
    except Missing as missing:
        source, name = _find(root, inside, path, limit, missing)
        said = f"There is no {path}; {name} was taken for it."
    others = _others(root, inside, path, limit)
    if more := list(dict.fromkeys(x for x, content in others if content != source)):
        said = f"{said} {MORE}: {', '.join(more[:3])}.".strip()
    return source, said


def _places(
    root: Path, inside: list[str], path: str, limit: int, renamed: bool
) -> Iterator[list[tuple[str, Callable[[], tuple[bytes, str]]]]]:
    """Where a file may be: at its place, beside it, in archives; for each what takes it, by label.

    `renamed` is under the names that browsers make of its own. With the file comes its name.
    """

    def named(parts: list[str]) -> tuple[bytes, str]:
        return read(root, parts, limit, path), parts[-1]

    archives, (*package, name) = [inside], path.split("/")
    if not _stands_alone(root, inside):
        for place in ([*inside, *package], inside):
            names = browser_names.alike(Path(root, *place), name) if renamed else [name]
            yield [(x, functools.partial(named, [*place, x])) for x in names]
        folder = Path(root, *inside)
        found = sorted(x.name for x in folder.iterdir()) if folder.is_dir() else []
        archives = [[*inside, x] for x in found if is_archive(x)]
    taken = functools.partial(_from_archive, root, path=path, limit=limit, renamed=renamed)
    yield [(ARCHIVE, functools.partial(taken, archive)) for archive in archives]


def _find(
    root: Path, inside: list[str], path: str, limit: int, missing: Missing | None = None
) -> tuple[bytes, str]:
    """The file at the first place that has it, and its name.

    Raises Missing if it is nowhere. After that, when `missing` is given, the one file is looked for
    whose name a browser has made of the wanted one.
    """
    for place in _places(root, inside, path, limit, missing is not None):
        labels = [label for label, _ in place]
        if ARCHIVE not in labels:
            _check_alone(labels, path)
        found = []
        for _, taken in place:
            try:
                found.append(taken())
            except Missing as error:
                missing = error
        if len({content for content, _ in found}) > 1:
            raise Refused(f"Several archives hold {path}. Submit one.")
        if found:
            return found[0]
    assert missing
    raise missing


def _check_alone(found: list[str], path: str) -> None:
    if len(found) > 1:
        raise Refused(
            f"The file {path} is missing, and several could be it: {', '.join(found[:3])}. "
            f"Submit one, as {path.rpartition('/')[2]}."
        )


def _others(
    root: Path, inside: list[str], path: str, limit: int
) -> Iterator[tuple[str, bytes | None]]:
    """What could be the file as well, beside each other, with its content if it can be read."""
    both = (False, True) if not _stands_alone(root, inside) else ()
    places = (place for renamed in both for place in _places(root, inside, path, limit, renamed))
    for label, taken in (each for place in places for each in place):
        try:
            yield label, taken()[0]
        except Missing:
            continue
        except (Refused, OSError):
            yield label, None


def read(root: Path, parts: list[str], limit: int, label: str) -> bytes:
    """The bytes of an ordinary file root/parts of at most `limit` bytes; no link is followed."""
    content = beginning(root, parts, limit + 1, label)
    if len(content) > limit:
        raise Refused(f"{label} is larger than {limit // 1024} KiB.")
    return content


def beginning(root: Path, parts: list[str], most: int, label: str) -> bytes:
    """At most so many bytes of an ordinary file root/parts; no link is followed."""
    with ExitStack() as stack:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, folder)
        for part in parts[:-1]:
            folder = _open(part, folder, os.O_DIRECTORY, label)
            stack.callback(os.close, folder)
        # O_NONBLOCK: opening a FIFO would otherwise wait for a writer that never comes.
        file = _open(parts[-1], folder, os.O_NONBLOCK, label)
        stack.callback(os.close, file)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise Refused(f"{label} is not an ordinary file.")
        return stack.enter_context(open(file, "rb", closefd=False)).read(most)


def _open(name: str, folder: int, extra: int, label: str) -> int:
    # A file system that ignores case would open JVP.py as jvp.py, and others would not.
    if name not in os.listdir(folder):
        raise Missing(
            f"{label} is missing. Only this file is graded, not the notebook. Submit it under "
            "exactly this name."
        )
    if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise Refused(f"{label} is a link or lies behind one; submit the file itself.")
    try:
        return os.open(name, _FLAGS | extra, dir_fd=folder)
    except OSError:
        raise Refused(f"{label} is not an ordinary file that can be read.") from None


# ------------------------------------------------------------------------------------------
# Archives


def is_archive(name: str) -> bool:
    """Whether a file with this name is taken for a ZIP archive."""
    return name.lower().endswith(".zip") and len(name) > len(".zip")


def _stands_alone(root: Path, inside: list[str]) -> bool:
    """Is the submission itself an archive?"""
    return bool(inside) and is_archive(inside[-1]) and not Path(root, *inside).is_dir()


def _from_archive(
    root: Path, parts: list[str], path: str, limit: int, renamed: bool = False
) -> tuple[bytes, str]:
    """A file in a ZIP archive, at its place or beside it, and its name.

    It is at the top or in one folder; or, where a browser's name would do, deeper.
    """
    content = read(root, parts, ARCHIVE_LIMIT, "The archive")
    if content.count(_ENTRY) > ARCHIVE_ENTRIES:  # before a list of all is made
        raise Refused(f"The archive holds more than {ARCHIVE_ENTRIES} files.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entry = _entry(archive.infolist(), path, renamed)
            name = PurePosixPath(entry.filename).name
            deeper = " deeper in the archive" * (renamed and name == PurePosixPath(path).name)
            return _unpacked(archive, entry, path, limit), f"{name}{deeper}"
    except Refused:
        raise
    except Exception:
        raise Refused("The archive is damaged; submit a plain ZIP.") from None


def _entry(entries: list[zipfile.ZipInfo], path: str, renamed: bool) -> zipfile.ZipInfo:
    """The entry of a file, in an archive without tricks."""
    names = [entry.filename for entry in entries]
    split = [name.replace("\\", "/").split("/") for name in names]
    if any(".." in x or x[0] == "" or re.match("[A-Za-z]:", x[0]) for x in split):
        raise Refused("The archive holds a path that leads outside.")
    places = (path, path.rpartition("/")[2])
    near = ([e for e in entries if _is_at(x, e.filename, renamed)] for x in places)
    far = (_deeper(entries, x) for x in places if renamed)
    for found in (*near, *far):
        if renamed:
            _check_alone(list(dict.fromkeys(PurePosixPath(e.filename).name for e in found)), path)
        if len(found) > 1:
            raise Refused(f"The archive holds {path} more than once.")
        if found:
            return found[0]
    another = ", which holds another archive" if any(map(is_archive, names)) else ""
    raise Missing(
        f"{path} is missing from the archive{another}. Only this file is graded, under exactly "
        "this name."
    )


def _deeper(entries: list[zipfile.ZipInfo], place: str) -> list[zipfile.ZipInfo]:
    """Those at this place in folders within folders, as few of them as there are."""
    found = [e for e in entries if e.filename.endswith(f"/{place}")]
    least = min((e.filename.count("/") for e in found), default=0)
    return [e for e in found if e.filename.count("/") == least]


def _is_at(place: str, name: str, renamed: bool) -> bool:
    """Whether an entry is at this place, at the top or in one folder; `renamed` by a browser."""
    ways = (name, name.partition("/")[2])
    if not renamed:
        return place in ways
    folder, _, wanted = place.rpartition("/")
    split = [way.rpartition("/") for way in ways]
    return any(
        at == folder and last != wanted and browser_names.made_of(wanted, last)
        for at, _, last in split
    )


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str, limit: int) -> bytes:
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise Refused(f"{path} is a link; submit the file itself.")
    if entry.flag_bits & 1:
        raise Refused("The archive is encrypted; submit one without a password.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refused("The archive is packed in an unusual way; submit a plain ZIP.")
    with archive.open(entry) as stream:
        content = stream.read(limit + 1)  # whatever size the archive claims
    if len(content) > limit:
        raise Refused(f"{path} is larger than {limit // 1024} KiB.")
    return content
