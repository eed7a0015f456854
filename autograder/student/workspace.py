"""A student's workspace: the skeletons to complete, lessons to read, and what was done so far.

A workspace is a folder that holds `.jaxprentice/workspace.json`. Commands find it from any folder
inside it. Outside they use `course/` of this copy, whose files are generated: good for a
look, not for work.
"""

import contextlib
import json
import os
import stat
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.lessons import assemble, manifest, nothing, places, user_files
from autograder.lessons.browser_names import alike
from autograder.lessons.manifest import BLANK, CONTRACT, GUIDED, Exercise, Lesson
from autograder.lessons.problem import Problem

STATE = ".jaxprentice"
IDENTITY = f"{STATE}/workspace.json"
WAYS = "ways"  # of the record: lessons that have another way than the workspace

LAUNCHER = '''\
#!/usr/bin/env python3
"""Starts the copy of Jaxprentice that belongs to this workspace."""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
IDENTITY = os.path.join(HERE, ".jaxprentice", "workspace.json")

with open(IDENTITY, encoding="utf-8") as file:
    wrapper = os.path.join(HERE, json.load(file)["copy"], "jaxprentice")
if not os.path.exists(wrapper):
    sys.exit("There is no {}. Write its new location into {}.".format(wrapper, IDENTITY))
if not (os.path.realpath(os.getcwd()) + os.sep).startswith(HERE + os.sep):
    os.chdir(HERE)
command = [sys.executable, wrapper] + sys.argv[1:]
if os.name != "nt":
    os.execv(sys.executable, command)
try:
    sys.exit(subprocess.call(command))
except KeyboardInterrupt:
    sys.exit(130)
'''


@dataclass(frozen=True)
class Workspace:
    """The files that a student works on, and the record of what was done."""

    root: Path
    own: bool  # False: course/ of this copy

    @property
    def identity(self) -> dict[str, Any]:
        """Which copy of the course made this workspace, and its version."""
        return read_object(self.root / IDENTITY)

    def way(self, lesson: Lesson) -> str:
        """By which of the three ways a lesson is done: its own one, or that of the workspace."""
        if not self.own:
            return CONTRACT
        usual = self.identity.get("way", GUIDED)  # before there were ways, there was the toolbox
        return str(self.record.get(WAYS, {}).get(lesson.id, usual))

    def page(self, lesson: Lesson) -> nothing.Task | None:
        """The one file that a lesson is a part of in the blank way, if it has no module there."""
        return page_of(lesson, self.way(lesson))

    def file(self, lesson: Lesson) -> Path:
        """The student's module of a lesson."""
        page = self.page(lesson)
        return self.root / (page.file if page else lesson.module)

    def has_module(self, lesson: Lesson) -> bool:
        """Whether the student has a module of a lesson to write, with the name of the course's."""
        return bool(lesson.exercises) and not self.page(lesson) and self.file(lesson).exists()

    def skeleton(self, lesson: Lesson) -> str:
        """The student's module as it is before the student begins."""
        return skeleton(lesson, self.way(lesson))

    def source(self, lesson: Lesson) -> bytes:
        """What the student wrote."""
        try:
            return self.file(lesson).read_bytes()
        except FileNotFoundError:
            return self.renamed(lesson).read_bytes()

    def renamed(self, lesson: Lesson) -> Path:
        """The file whose name a browser has made of the module's, which is not there itself."""
        file = self.file(lesson)
        found = [x / name for x in (file.parent, self.root) for name in alike(x, file.name)]
        if len(found) > 1:
            some = " and ".join(path.name for path in found[:2])
            raise Problem(f"{file} is missing, and {some} could be it. Rename one to {file.name}.")
        if not found:
            raise Problem(
                f"{file} is missing. `./jaxprentice reset {lesson.id}` puts the skeleton there."
            )
        return found[0]

    def need_own(self) -> None:
        """Complain where there is no workspace of a student's own."""
        if not self.own:
            raise Problem(
                "This is not a workspace. Make one with `./jaxprentice init DIR`, and work there."
            )

    def fingerprint(self, lesson: Lesson) -> str:
        """Changes when the student's module or the lesson's checks do."""
        page = self.page(lesson)
        checks = page.checks_file if page else lesson.folder / "checks.py"
        parts = [self.source(lesson), checks.read_bytes() if checks.exists() else b""]
        return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()

    @property
    def folder(self) -> Path:
        """Where the record is kept."""
        return (self.root if self.own else places.ROOT) / STATE

    # The record: {"hints": {exercise: seen}, "checked": {lesson: {"of": ..., "done": [...]}}}

    @cached_property
    def record(self) -> dict[str, Any]:
        """What is remembered; nothing where the file is missing or spoilt."""
        return read_object(self.folder / "state.json")

    def remember(self, part: str, key: str, value: Any) -> None:
        """Write one fact down, all or nothing."""
        self.record.setdefault(part, {})[key] = value
        write(self.folder / "state.json", json.dumps(self.record, indent=1).encode())

    def checked(self, lesson: Lesson) -> tuple[list[str], bool]:
        """The exercises done when the lesson was last checked, and whether that still stands."""
        last = self.record.get("checked", {}).get(lesson.id)
        if not last:
            return [], False
        try:
            return last["done"], last["of"] == self.fingerprint(lesson)
        except Problem:  # the module is gone
            return last["done"], False

    def is_complete(self, lesson: Lesson) -> bool:
        """Whether all exercises of a lesson were done when the file was checked as it is now."""
        done, current = self.checked(lesson)
        return current and len(done) == len(lesson.exercises)

    def forget(self, lesson: Lesson) -> list[str]:
        """Nothing is known of a lesson any more: no exercise of it is done."""
        if lesson.id in self.record.get("checked", {}):
            self.remember("checked", lesson.id, {"of": "", "done": []})
        return []

    def hints_seen(self, exercise: Exercise) -> int:
        """How many hints for an exercise were given."""
        seen = self.record.get("hints", {}).get(exercise.id, 0)
        return int(seen)

    # Changing a module

    def backup(self, file: Path, name: str) -> Path | None:
        """Keep a copy of a file, if it is there, under the next number of a name."""
        if not user_files.is_there(file):
            return None
        content = user_files.content(file)
        first = self.folder / "backups" / name.replace("/", "-")
        first.parent.mkdir(parents=True, exist_ok=True)
        number = 1
        while (copy := first.with_stem(f"{first.stem}-{number}")).exists():
            number += 1
        copy.write_bytes(content)
        return copy

    def replace(self, lesson: Lesson, text: str) -> Path | None:
        """Put a new module in place, and return where the old one is kept."""
        self.need_own()
        copy = self.backup(self.file(lesson), lesson.module)
        write(self.file(lesson), text.encode())
        return copy


def write(file: Path, content: bytes) -> None:
    """Write a user's file: where that fails, on a full disk, the old one is as it was."""
    if file.is_symlink():  # it stays one
        file = Path(os.path.realpath(file, strict=True))
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        new.write_bytes(content)
        new.replace(file)
    except BaseException as error:
        if isinstance(error, OSError):
            error.filename = str(file)  # the name that the user knows
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; an empty one where the file is missing or spoilt."""
    try:
        value = user_files.document(path)
    except Problem:
        value = {}
    return value if isinstance(value, dict) else {}


def hidden_tests() -> dict[str, int]:
    """How many hidden tests grade each exercise, as `sync` has counted them."""
    return read_object(places.COURSE / "hidden_tests.json")


def find(start: Path | None = None) -> Workspace:
    """The workspace around a folder, else `course/` of this copy."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / IDENTITY).is_file():
            return Workspace(folder, own=True)
    return Workspace(places.COURSE, own=False)


def around(name: str | None) -> Workspace:
    """The workspace that holds a file of this name, else the one around the current folder."""
    with contextlib.suppress(OSError, ValueError):  # it may be any text
        if name and Path(name).exists() and (far := find(Path(name).parent)).own:
            return far
    return find()


def page_of(lesson: Lesson, way: str) -> nothing.Task | None:
    """What a lesson is a part of in a way in which it has no module."""
    return nothing.instead_of(lesson) if way == BLANK else None


def skeleton(lesson: Lesson, way: str = CONTRACT) -> str:
    """A lesson's module as it is before the student begins; a handout has it in one way only."""
    if page := page_of(lesson, way):
        return page.begin
    return assemble.skeleton_of(replace(lesson, way=way))


def solution(lesson: Lesson) -> str:
    """The reference's module, if this copy of the course holds it."""
    if not (places.SOLUTIONS / lesson.module).exists():
        raise Problem(f"This copy does not hold the solution of {lesson.id}. Ask your teacher.")
    return assemble.read_solution(lesson.module)


# ------------------------------------------------------------------------------------------
# What makes a folder one


def check_way(way: str) -> None:
    """Complain about a way that there is not."""
    if way not in manifest.WAYS:
        raise Problem(f"There is no {way!r} way. Give one of {', '.join(manifest.WAYS)}.")


def add_launcher(folder: Path, place: str, lesson: str = "", way: str = CONTRACT) -> None:
    """The command of a workspace, and where it finds the copy of the course that it starts.

    A handout notes its lesson.
    """
    launcher = folder / "jaxprentice"
    launcher.write_text(LAUNCHER, encoding="utf-8")
    launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    (folder / STATE).mkdir(exist_ok=True)
    identity = {"copy": place, "version": places.VERSION, "way": way}
    identity |= {"lesson": lesson} if lesson else {}
    (folder / IDENTITY).write_text(json.dumps(identity, indent=1) + "\n", encoding="utf-8")


def scripts(lesson: Lesson) -> dict[str, bytes]:
    """What a lesson has to run, by path, as it lies in the course too."""
    return {path: (places.COURSE / path).read_bytes() for path in lesson.scripts}
