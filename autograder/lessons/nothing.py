"""From nothing: the tasks of one file from an empty page, after whole parts of the course.

`course/nothing/tasks.toml` says which there are. Each has its page, `ID.md`, and its checks,
`ID_checks.py`, there; the course's own file is in `solutions/nothing`. Names that are not on the
page are the learner's own. Checks are told by lesson, as exercises "ID.LESSON" without points.
"""

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.lessons import manifest, places
from autograder.lessons.manifest import Exercise, Lesson

FOLDER = "nothing"  # in a workspace, in the course and in its solutions


@dataclass(frozen=True)
class Task:
    """One file from an empty page."""

    id: str  # "microjax", which is the file's name too
    title: str
    lessons: tuple[str, ...]  # whose properties it has, in order
    after: str  # the lesson that it follows, whose part it ends
    replaces: bool  # is it what those lessons are in the blank way?
    milestone: str  # a program on the file, to be run when all is right

    @property
    def file(self) -> str:
        """Where it is, below a workspace's folder."""
        return f"{FOLDER}/{self.id}.py"

    @property
    def page_file(self) -> Path:
        """What it has to do, for the site."""
        return places.COURSE / FOLDER / f"{self.id}.md"

    @property
    def checks_file(self) -> Path:
        """Its checks."""
        return places.COURSE / FOLDER / f"{self.id}_checks.py"

    @property
    def parts(self) -> tuple[Exercise, ...]:
        """What is checked, by lesson."""
        lessons = map(manifest.get, self.lessons)
        return tuple(
            manifest.without_points(f"{self.id}.{x.id}", x.title, self.file, self.after)
            for x in lessons
        )

    @property
    def begin(self) -> str:
        """The file before anything is written: an empty page, but for where to read on."""
        return f'"""{self.title}. What it needs to do is in {self.id}.md."""\n'

    @property
    def solution(self) -> Path:
        """The course's own file, which is not shown before one's own is complete."""
        return places.SOLUTIONS / self.file


def all_tasks() -> dict[str, Task]:
    """The tasks of this copy of the course, by id; a handout has none."""
    return _read(places.COURSE / FOLDER / "tasks.toml")


@functools.cache
def _read(file: Path) -> dict[str, Task]:
    if not file.exists():
        return {}
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["task"]
    return {x["id"]: Task(**{**x, "lessons": tuple(x["lessons"])}) for x in entries}


def instead_of(lesson: Lesson) -> Task | None:
    """The task that a lesson is a part of in the blank way, if its module is not there at all."""
    tasks = all_tasks().values()
    return next((x for x in tasks if x.replaces and lesson.id in x.lessons), None)


def after(lesson: Lesson) -> Task | None:
    """The task that follows a lesson, if one does."""
    return next((x for x in all_tasks().values() if x.after == lesson.id), None)
