"""`update`: brings corrected pages, new lessons and new checks of the course into a workspace.

A workspace keeps what it was given (`.jaxprentice/given.zip`). By that, a file that the student has
not touched is known, and replaced. One that both have changed stays as it is: what each of them
changed is shown, until the student says to take the course's.
"""

import difflib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.lessons import manifest, places, skeleton
from autograder.lessons.manifest import BLANK, GUIDED
from autograder.lessons.problem import Problem
from autograder.student import screen, workspace
from autograder.student.workspace import Workspace

LONGEST = 60  # lines of a difference that are shown

Files = dict[str, bytes]


@dataclass(frozen=True)
class Versions:
    """A file as it was given, as the student has it, and as the course has it now."""

    path: str
    given: bytes | None
    mine: bytes | None
    new: bytes


def update(place: Workspace, names: Sequence[str]) -> int:
    """Renew a workspace; take the course's version of the files that are named. Always 0."""
    _check_place(place)
    versions = _versions(place)
    _check_names(names, versions)
    written = [x for x in versions if x.mine != x.new and (x.mine in (x.given, None))]
    for each in written:
        workspace.write(place.root / each.path, each.new)
    for each in [x for x in versions if x.path in names]:
        _take(place, each)
    left = [x for x in versions if x.path not in names and is_both(x)]
    _keep_given(place, {x.path: x.new if x not in left else x.given or b"" for x in versions})
    _tell(written, [x.path for x in versions if x.path in names], left)
    return 0


def is_both(x: Versions) -> bool:
    """Whether the student and the course have changed a file, each in another way."""
    return x.mine is not None and x.mine not in (x.given, x.new) and x.given != x.new


def _check_place(place: Workspace) -> None:
    place.need_own()
    if place.identity.get("lesson") or places.is_handout():
        raise Problem("A handout is not updated. Ask your teacher for a new one.")


def _check_names(names: Sequence[str], versions: Sequence[Versions]) -> None:
    known = [x.path for x in versions]
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known) or ["minijax/jvp.py"]
            raise Problem(f"The course has no file {name}. Name one such as {close[0]}.")


def _versions(place: Workspace) -> list[Versions]:
    from autograder.student import contents

    given, found = _given(place), []
    fresh = contents.files(place.identity.get("way", GUIDED), place.way)
    for path, text in sorted(fresh.items()):
        new = text if isinstance(text, bytes) else text.encode()
        file = place.root / path
        mine = file.read_bytes() if file.is_file() else None
        found.append(Versions(path, given.get(path), mine, new))
    return found


# ------------------------------------------------------------------------------------------
# The files that the student was given, with which later ones are compared

GIVEN = f"{workspace.STATE}/given.zip"


def init(folder: Path, way: str) -> None:
    """Make a workspace, and note everything in it as what was given."""
    from autograder.student import contents  # a handout is without

    folder = contents.init(folder, way).root
    found = (x for x in folder.rglob("*") if x.is_file() and workspace.STATE not in x.parts)
    _pack(folder / GIVEN, {x.relative_to(folder).as_posix(): x.read_bytes() for x in found})


def note_given(place: Workspace, path: str, content: bytes | None) -> None:
    """Note that a file was given anew, or that there is none any more."""
    files = {name: text for name, text in _given(place).items() if name != path}
    _pack(place.root / GIVEN, files if content is None else {**files, path: content})


def _keep_given(place: Workspace, files: Mapping[str, bytes]) -> None:
    _pack(place.root / GIVEN, files)
    identity = {**place.identity, "version": places.VERSION}
    workspace.write(place.root / workspace.IDENTITY, json.dumps(identity, indent=1).encode())


def _pack(archive: Path, files: Mapping[str, bytes]) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, text in files.items():
            packed.writestr(path, text)
    workspace.write(archive, content.getvalue())


def _given(place: Workspace) -> Files:
    """What the workspace was given; nothing is known of one that an old version made."""
    try:
        content = (place.root / GIVEN).read_bytes()
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            return {name: packed.read(name) for name in packed.namelist()}
    except Exception:  # a damaged archive raises more kinds of them than zipfile names
        return {}


# ------------------------------------------------------------------------------------------
# Taking the course's version


def _take(place: Workspace, versions: Versions) -> None:
    """Put the course's version in place, with the student's exercises; the old file is kept."""
    file = place.root / versions.path
    if copy := place.backup(file, versions.path):
        print(f"What you had in {versions.path} is kept in {copy.relative_to(place.root)}.")
    workspace.write(file, carried(versions, place))


def carried(versions: Versions, place: Workspace) -> bytes:
    """The course's version of a lesson's module with the student's exercises; others as they are.

    An exercise counts as the student's if its definition is not the one that was given.
    """
    lesson = next((x for x in manifest.load().values() if x.module == versions.path), None)
    if lesson is None or versions.mine is None:
        return versions.new
    is_blank = place.way(lesson) == BLANK
    new = workspace.skeleton(lesson) if is_blank else versions.new.decode("utf-8", "replace")
    given, mine = ((x or b"").decode("utf-8", "replace") for x in (versions.given, versions.mine))
    left = []
    for exercise in lesson.exercises:
        own = _definition(mine, exercise.target)
        if own and own != _definition(given, exercise.target):
            new = skeleton.replace_function(new, exercise.target, own)
        else:
            left.append(exercise)
    if is_blank:
        new = skeleton.make_skeleton(new, replace(lesson, exercises=tuple(left), way=BLANK))
    return new.encode()


def _definition(source: str, target: str) -> str:
    """A definition's text; "" if it cannot be read, or has another name: the backup has it."""
    try:
        return skeleton.definition(source, target)
    except Problem:
        return ""


# ------------------------------------------------------------------------------------------
# Saying what was done


def _tell(written: Sequence[Versions], taken: Sequence[str], left: Sequence[Versions]) -> None:
    for each in written:
        print(f"{'new' if each.mine is None else 'updated':<8} {each.path}")
    for path in taken:
        print(f"{path} is now the course's, with your exercises.")
    for each in left:
        print(f"\n{each.path} was changed by the course and by you. It stays as it is.")
        _tell_difference("The course changed:", each.given, each.new)
        _tell_difference("You changed:", each.given, each.mine)
        print(f"To take the course's, with your exercises: ./jaxprentice update {each.path}")
    if not written and not taken and not left:
        print("This workspace is up to date.")


def _tell_difference(title: str, old: bytes | None, new: bytes | None) -> None:
    if old is None or b'"nbformat"' in (new or b""):
        return  # there is nothing to compare with, or it cannot be read
    rows = list(difflib.unified_diff(_rows(old), _rows(new or b""), lineterm="", n=1))[2:]
    more = [f"... {len(rows) - LONGEST} more lines"] if len(rows) > LONGEST else []
    screen.print_lines([f"  {title}"])
    screen.print_lines([*rows[:LONGEST], *more], "    ")


def _rows(text: bytes) -> list[str]:
    return text.decode("utf-8", "replace").splitlines()
