"""Where the parts of this copy of the course lie, and its version.

A course directory may have lessons of its own, in `own/`, which join those of this copy.
"""

import os
from pathlib import Path

VERSION = "0.2.0"

PACKAGE = Path(__file__).resolve().parents[1]
WORKER = PACKAGE / "worker"
SUITES = PACKAGE / "hidden" / "suites"
ANSWERS = PACKAGE / "hidden" / "answers"
CLASSES = PACKAGE / "hidden" / "classes.toml"

ROOT = PACKAGE.parent
COURSE = ROOT / "course"
SOLUTIONS = ROOT / "solutions"
SITE = ROOT / "site"


# ------------------------------------------------------------------------------------------
# Lessons of a course directory

OWN = "own"  # the folder for them: lessons/, solutions/, suites/ and answers/
_VARIABLE = "JAXPRENTICE_OWN"  # so that all processes of a command know them


def adopt(course: Path) -> Path | None:
    """Let a course directory's own lessons join, if it has some; their folder."""
    found = course.absolute() / OWN
    if (found / "lessons").is_dir():
        os.environ[_VARIABLE] = str(found)
        return found
    os.environ.pop(_VARIABLE, None)
    return None


def lessons() -> tuple[Path, ...]:
    """The folders in which lessons are."""
    return (COURSE / "lessons", *(folder / "lessons" for folder in _own()))


def solution(path: str) -> Path:
    """A file of the reference, such as minijax/jvp.py."""
    return _found(SOLUTIONS, "solutions", path)


def suite(name: str) -> Path:
    """A file beside the hidden suites, such as jvp.py."""
    return _found(SUITES, "suites", name)


def answers(name: str) -> Path:
    """A file of known answers, such as jvp.py."""
    return _found(ANSWERS, "answers", name)


def shown(path: Path) -> str:
    """A path as people are told of it: below this copy, if it is there."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _own() -> list[Path]:
    found = os.environ.get(_VARIABLE)
    return [Path(found)] if found else []


def _found(folder: Path, part: str, path: str) -> Path:
    """A file of this copy, or of the course directory's own if this copy has none."""
    own = [place / part / path for place in _own()]
    return next((x for x in own if x.exists() and not (folder / path).exists()), folder / path)


def is_complete() -> bool:
    """Is this the whole repository? Archives for students and handouts have a part of it."""
    return SUITES.is_dir()


def is_handout() -> bool:
    """Is this what a handout brings along, for one lesson and those that it stands on?"""
    return not (COURSE / "routes.toml").is_file()
