"""Downloads from a system: a folder, or a ZIP archive, which is read and never unpacked.

A download is the entries of its outermost level, each with the files in it. Only the system makes
the names of these entries; everything below them is a student's.
"""

import contextlib
import os
import re
import zipfile
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from autograder.classroom.intake import files as intake
from autograder.lessons.problem import Problem

DEEPEST = 20  # folders within folders: a student's may be too many for Python and for the system

NOT_STUDENTS = ("submission_metadata.yml", "__MACOSX")  # a system's, or a desktop's

Source = Callable[[int], bytes]  # reads so many bytes of a file


@dataclass(frozen=True)
class Entry:
    """A file or a folder at the outermost level of a download."""

    name: str
    files: dict[str, Source] = field(default_factory=dict)  # by path in it; "" is the file itself

    @property
    def is_file(self) -> bool:
        """Whether it is a file, and no folder."""
        return "" in self.files


@dataclass(frozen=True)
class Download:
    """A download as it lies on the outermost level."""

    name: str  # of the folder or archive, without its ending
    folder: Path | None  # where its entries are, if it is a folder
    entries: dict[str, Entry]

    def within(self, wrappers: Collection[str]) -> "Download":
        """The download in the only folder of this one, if a system has put that around all."""
        own = [entry for entry in self.entries.values() if entry.name not in NOT_STUDENTS]
        for entry in own:
            alone = len(own) == 1 and not entry.is_file
            if alone and any(re.fullmatch(pattern, entry.name) for pattern in wrappers):
                folder = self.folder / entry.name if self.folder else None
                return Download(entry.name, folder, _entries(entry.files.items()))
        return self


def read(path: Path) -> Download:
    """What lies in a folder or an archive."""
    if not path.exists():
        raise Problem(f"There is no {path}. Give the folder or the archive that you got.")
    if path.is_dir():
        return Download(path.absolute().name, path, _entries(_in_folder(path)))
    return Download(path.stem, None, _entries(_in_archive(path)))


def _entries(files: Iterable[tuple[str, Source]]) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for path, source in files:
        top, _, inside = str(PurePosixPath(path)).partition("/")
        found.setdefault(top, Entry(top)).files[inside] = source
    return found


def _in_folder(folder: Path) -> Iterator[tuple[str, Source]]:
    for parts in sorted(paths(folder, ignored=[".git"])):
        yield "/".join(parts), lambda most, p=parts: beginning(folder, p, most)  # type: ignore[misc]


def _in_archive(path: Path) -> Iterator[tuple[str, Source]]:
    try:
        archive = zipfile.ZipFile(path)
        infos = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError):
        cut = path.read_bytes()[:4] == b"PK\3\4"
        what = "a ZIP archive that is damaged" if cut else "neither a folder nor a ZIP archive"
        to_do = (
            "Download it again" if cut else "Give what you downloaded; unpack it if it is packed"
        )
        raise Problem(f"{path} is {what}. {to_do}.") from None
    for info in infos:
        if not info.is_dir():
            yield info.filename, lambda most, i=info: _unpacked(archive, i, most)  # type: ignore[misc]


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


def beginning(root: Path, parts: Sequence[str], most: int) -> bytes:
    """At most so many bytes of a file; none if it cannot be read, as it stops no other student."""
    try:
        return intake.beginning(root, list(parts), most, parts[-1])
    except (intake.Refused, OSError):
        return b""
