"""What a result depends on besides the module: two runs with one fingerprint give one result.

A grade from an older suite must not survive unnoticed, and an edit of the site must not invalidate
the grades of a class. So a fingerprint is a hash of the lesson's tree, manifest, suite and answers,
of the code that grades, and of the versions of Python, numpy, jaxlib and pytest.
"""

import hashlib
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from autograder.lessons import assemble, places
from autograder.lessons.manifest import Lesson

# The command, the site or a report may change, and no grade with them.
ROOMS = ("grading", "sandbox", "worker")


def fingerprint(lesson: Lesson, level: str, seed: int = 0) -> str:
    """A hash of everything besides the module that a result depends on.

    That is the lesson's tree, suite, known mistakes and points, the rooms that grade, and the
    versions of what they stand on. Results with the same fingerprint do not have to be made again.
    """
    hidden = [places.suite(f"{lesson.id}.py"), places.answers(f"{lesson.id}.py")]
    files = [*_graders_files(), lesson.folder / "lesson.toml", *hidden]
    parts: list[tuple[str, Any]] = sorted(assemble.tree(lesson).items())
    parts += [(path.name, path.read_bytes()) for path in files if path.is_file()]
    about = repr((lesson.id, level, seed, versions(), parts))
    return hashlib.sha256(about.encode()).hexdigest()


def _graders_files() -> Iterator[Path]:
    for room in ROOMS:
        yield from sorted((places.PACKAGE / room).glob("*.py"))
    yield places.PACKAGE / "lessons/module_rules.py"  # which packages a worker can import


def versions() -> dict[str, str]:
    """The versions of this project, of Python, and of the packages that results depend on."""
    names = ("numpy", "jaxlib", "pytest")
    own = {"jaxprentice": places.VERSION, "python": platform.python_version()}
    return own | {name: version(name) for name in names}
