"""The archives of a release: one for students, one for instructors.

They hold files as the repository tracks them, and work without git. Students get what learns and
checks; the hidden suites, the grader's front doors and the tests of this project stay out.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from autograder.lessons import packing, places
from autograder.lessons.problem import Problem

ONLY_HERE = (".", "tests/", "benchmarks/", "docs/")
LEFT_OUT = {
    "instructors": ONLY_HERE,
    "students": (
        *ONLY_HERE,
        *("autograder/classroom/", "autograder/hidden/", "autograder/upkeep/"),
        *("course/instructor/", "site/lighthouse/", "site/runner/", "mkdocs.yml"),
    ),
}


def build(out: Path) -> list[Path]:
    """Write `jaxprentice-VERSION-WHO.zip` for each in the table; each file whole, or not at all."""
    files = [*_tracked()]
    out.mkdir(parents=True, exist_ok=True)
    made = []
    for who, left_out in LEFT_OUT.items():
        name = f"jaxprentice-{places.VERSION}-{who}"
        part = out / f".{name}.part"
        try:
            own = {f"{name}/{x}": places.ROOT / x for x in files if not x.startswith(left_out)}
            programs = [path for path, file in own.items() if os.access(file, os.X_OK)]
            texts = ((path, file.read_bytes()) for path, file in own.items())
            part.write_bytes(packing.packed(texts, programs))
            made.append(part.replace(out / f"{name}.zip"))
        finally:
            part.unlink(missing_ok=True)
    return made


def _tracked() -> Iterator[str]:
    command = ["git", "-C", str(places.ROOT), "ls-files", "-z"]
    try:
        listed = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        raise Problem(
            "An archive holds what git tracks, and git finds no repository here. "
            "Install git, and run this in a clone of the repository."
        ) from None
    for path in filter(None, listed.split("\0")):
        if (places.ROOT / path).is_file():
            yield path
