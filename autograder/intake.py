"""Takes the graded file out of a submission without trusting anything in it.

Only the lesson's module is taken, by its exact name. Every folder on the way is opened without
following links, the file must be an ordinary one, small, and UTF-8. What cannot be taken is refused
with a reason for the student; the reason never repeats a name or text from the submission.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from autograder.edition import Problem
from autograder.lessons import Lesson

MODULE_LIMIT = 256 * 1024  # bytes; the longest module of the course has a tenth of it
NOTEBOOK_LIMIT = 8 * 1024 * 1024
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Refused(Exception):
    """A file of a submission was not taken; the text is the reason, one sentence."""


class Missing(Refused):
    """The file is not there."""


def submissions(folder: Path, lesson: Lesson) -> Iterator[tuple[str, bytes | None, str]]:
    """Go through a folder of students' folders: (student, module or None, reason or "")."""
    if not folder.is_dir():
        raise Problem(f"There is no folder {folder}. Give the folder that holds the submissions.")
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        if entry.name.startswith(".") or not (entry.is_symlink() or entry.is_dir()):
            continue
        # A name that is not UTF-8 could be neither printed nor stored.
        student = os.fsencode(entry.name).decode("utf-8", "backslashreplace")
        yield (student, *take_module(folder, [entry.name], lesson))


def take_module(root: Path, inside: list[str], lesson: Lesson) -> tuple[bytes | None, str]:
    """The module of the submission in the folder root/inside, or None and the reason.

    `root` is the instructor's own folder; links are refused in `inside` and below it. The module is
    looked for at its place in the package (minijax/jvp.py), then beside it (jvp.py).
    """
    package, _, name = lesson.module.rpartition("/")
    try:
        try:
            return _text(root, [*inside, *package.split("/"), name], lesson), ""
        except Missing:
            return _text(root, [*inside, name], lesson), ""
    except Refused as refused:
        return None, str(refused)


def _text(root: Path, parts: list[str], lesson: Lesson) -> bytes:
    source = read(root, parts, MODULE_LIMIT, lesson.module)
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        reason = f"{lesson.module} is not a UTF-8 text: line {line} holds a byte that is none."
        raise Refused(reason) from None
    return source


def read(root: Path, parts: list[str], limit: int, label: str) -> bytes:
    """The bytes of an ordinary file root/parts of at most `limit` bytes; no link is followed."""
    with ExitStack() as stack:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, folder)
        for part in parts[:-1]:
            folder = _open(part, folder, os.O_DIRECTORY, label)
            stack.callback(os.close, folder)
        # O_NONBLOCK: opening a FIFO would otherwise wait for a writer that never comes.
        file = _open(parts[-1], folder, os.O_NONBLOCK, label)
        stack.callback(os.close, file)
        return _content(file, limit, label)


def _open(name: str, folder: int, extra: int, label: str) -> int:
    # A file system that ignores case would open JVP.py as jvp.py, another one would not.
    if name not in os.listdir(folder):
        raise Missing(
            f"The file {label} is missing; it is what is graded, a notebook alone is not."
        )
    if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise Refused(f"{label} is a link or lies behind one; hand in the file itself.")
    try:
        return os.open(name, _FLAGS | extra, dir_fd=folder)
    except OSError:
        raise Refused(f"{label} is not an ordinary file that can be read.") from None


def _content(file: int, limit: int, label: str) -> bytes:
    if not stat.S_ISREG(os.fstat(file).st_mode):
        raise Refused(f"{label} is not an ordinary file.")
    with open(file, "rb", closefd=False) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise Refused(f"{label} is larger than {limit // 1024} KiB.")
    return content


# ------------------------------------------------------------------------------------------
# Notebooks


def take_answers(root: Path, parts: list[str]) -> dict[str, str]:
    """The texts of the nbgrader cells of a submitted notebook by grade_id; {} when it has none.

    A broken notebook counts as one without answers: the graded file is the module. Of cells with
    the same grade_id the last counts, as in nbgrader.
    """
    try:
        notebook = json.loads(read(root, parts, NOTEBOOK_LIMIT, "The notebook"))
        return dict(filter(None, map(_answer, notebook["cells"])))
    except (Refused, ValueError, RecursionError, TypeError, KeyError):
        return {}


def _answer(cell: Any) -> tuple[str, str] | None:
    try:
        name, source = cell["metadata"]["nbgrader"]["grade_id"], cell["source"]
        text = source if isinstance(source, str) else "".join(source)
    except (KeyError, TypeError):
        return None
    if not isinstance(name, str):
        return None
    return name, text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be written


def rebuild_notebook(release: Mapping[str, Any], answers: Mapping[str, str]) -> dict[str, Any]:
    """The released notebook with a student's answers in its solution cells, and nothing else."""
    notebook = json.loads(json.dumps(release))
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("solution") and about.get("grade_id") in answers:
            cell["source"] = answers[about["grade_id"]]
    return notebook
